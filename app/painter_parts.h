/* What the files of the painter know of each other. */
#ifndef PL_APP_PAINTER_PARTS_H
#define PL_APP_PAINTER_PARTS_H

#include "base/array.h"
#include "draw/draw.h"
#include "obstacle.h"
#include "painter.h"
#include "subject.h"

/* What is shown. Clusters will be one more line here, in the table of painter_look.c and in
   painter_overlay.c. */
typedef struct app_show {
    bool surface, particles, graph, tets, contacts, stress, clusters;
} app_show;

/* Where pictures are taken from. */
typedef struct app_viewpoint {
    pl_camera_view view;
    bool has_view, has_camera; /* given on the command line: a direction; a place */
    pl_camera camera;
    const char *name;              /* of a camera of the scene; NULL = not given */
    const pl_scene_camera *chosen; /* NULL = automatic */
    pl_framing framing;            /* of everything seen so far */
    double lower[3], upper[3];     /* around all bodies, as far as they were seen */
    pl_array frames; /* pl_framing of each frame that was looked at ahead, from 0 on */
    bool smoothed;   /* they were made a smooth path, or thrown away */
} app_viewpoint;

/* How often each size of stress was seen: 16 boxes for a power of ten, from 1e-12 Pa on. */
enum { APP_STRESS_BOXES = 16 * 30 };

typedef struct app_stress {
    double scale; /* Pa for the brightest colour; 0 = automatic */
    double boxes[APP_STRESS_BOXES];
} app_stress;

struct app_painter {
    pl_memory *memory;
    const char *command; /* named in messages */
    int width, height;
    app_show show;
    app_viewpoint viewpoint;
    app_stress stress;
    pl_draw *draw;
    uint8_t *pixels;
    app_subject *subjects;
    int subject_count;
    app_obstacle *obstacles;
    int obstacle_count;
};

/* Prints what is wrong; returns the exit status. */
int app_painter_fail(pl_status status, const pl_error *error);

/* ---- Options (painter_look.c) ---- */

int app_painter_read_look(const char *command, const app_look *look, app_painter *painter);

/* ---- What is shown of a thing (painter_overlay.c) ---- */

bool app_shows_surface(const app_painter *painter, const app_subject *subject);
/* A body without a surface shows its particles, whatever was asked for. */
bool app_shows_particles(const app_painter *painter, const app_subject *subject);
bool app_shows_edges(const app_painter *painter, const app_subject *subject);

/* Everything of one thing, into the picture that was begun. */
pl_status app_paint_subject(app_painter *painter, app_subject *subject);

/* Points and directions of what touches. */
pl_status app_paint_contacts(app_painter *painter, const pl_play *play, const pl_draw_view *view);

/* Takes note of the stresses of now, for the automatic scale. */
void app_stress_see(app_painter *painter);
/* What the brightest colour stands for, Pa. */
double app_stress_scale(const app_painter *painter);

/* ---- Looking (painter_view.c) ---- */

void app_viewpoint_begin(app_viewpoint *viewpoint, double aspect);

/* Finds the camera that was asked for by name. */
int app_viewpoint_choose(app_painter *painter, const pl_scene *scene);

/* Makes sure that all of it will be seen as it is now. */
int app_viewpoint_see(app_painter *painter, const pl_play *play);

/* Where the picture of now is taken from, under which light. `play` may be NULL. */
pl_status app_viewpoint_find(app_painter *painter, const pl_play *play, pl_draw_view *view,
                             pl_error *error);

/* A plane that lies level, its outside up, is the ground of the picture. */
bool app_is_floor(const app_obstacle *obstacle);
double app_diagonal(const double lower[3], const double upper[3]);

#endif
