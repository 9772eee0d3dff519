/* Pictures of what is simulated: the options that say how, and a painter that draws the bodies of a
   run, or a model or a mesh at rest. Functions return -1 to go on, else the exit status after a
   message. In a build without the drawing library they say what is missing. */
#ifndef PL_APP_PAINTER_H
#define PL_APP_PAINTER_H

#include "app.h"
#include "bytes.h"
#include "pliant/mesh.h"

/* As given on the command line; NULL = not given. */
typedef struct app_look {
    const char *size, *view, *camera, *show, *stress_scale;
} app_look;

/* Their rows in a command's table of options. */
/* clang-format off */
#define APP_LOOK_OPTIONS(look)                                                                     \
    {"size", 0, APP_TEXT, &(look).size, 0, 0, "WxH", "pixels of pictures (default 1280x720)"},     \
    {"view", 0, APP_TEXT, &(look).view, 0, 0, "NAME",                                              \
     "from the corner, front, back, left, right or top"},                                          \
    {"camera", 0, APP_TEXT, &(look).camera, 0, 0, "NAME",                                          \
     "the scene's camera of this name, auto, or X,Y,Z,X,Y,Z: its place and what it looks at"},     \
    {"show", 0, APP_TEXT, &(look).show, 0, 0, "LIST",                                              \
     "some of surface,particles,graph,tets,clusters,contacts,stress (default surface)"},           \
    {"stress-scale", 0, APP_TEXT, &(look).stress_scale, 0, 0, "PA",                                \
     "the stress of the brightest colour (default: what fits the run)"}
/* clang-format on */

/* Whether they are good; what names a camera is found out when there is a scene. */
int app_check_look(const char *command, const app_look *look);

typedef struct app_painter app_painter;

/* Checks the options and gets hold of OpenGL. `command` is named in messages about the options. */
int app_painter_open(pl_memory *memory, const char *command, const app_look *look,
                     app_painter **painter);
void app_painter_close(app_painter *painter); /* NULL is allowed */

/* What will be drawn: all bodies and colliders of a run, or one thing at rest, which must outlive
   the painter. */
int app_painter_take_play(app_painter *painter, const pl_play *play);
int app_painter_take_model(app_painter *painter, const struct pl_model *model);
int app_painter_take_mesh(app_painter *painter, const pl_mesh *mesh);

/* Makes sure that all of it will be in the picture as it is now (`play` NULL = at rest); painting
   before the first call looks at what is painted. */
int app_painter_see(app_painter *painter, const pl_play *play);
int app_painter_paint(app_painter *painter, const pl_play *play);

/* What was seen, for a run that goes on in another process and must keep its camera. */
void app_painter_save(const app_painter *painter, app_bytes *bytes);
void app_painter_restore(app_painter *painter, app_bytes *bytes);

/* What was painted last: 4 bytes per pixel. */
const uint8_t *app_painter_pixels(const app_painter *painter, int *width, int *height);

/* The same as a file. */
int app_painter_write_png(app_painter *painter, const char *path);

#endif
