/* Pictures without a window: meshes, ellipsoids and segments on a pale ground, anti-aliased.

       pl_draw_create(&memory, 1280, 720, 4, &draw, &error);
       pl_draw_surface_create(draw, &surface_def, &surface, &error);
       pl_draw_begin(draw, &view);
       pl_draw_mesh(draw, surface, positions, 1);
       pl_draw_finish(draw, pixels, &error);

   A picture is a list of things, gathered between begin and finish and drawn by finish as often as
   its passes need them; whatever is to be shown (tetrahedra, contacts, clusters one day) is made of
   these three. The calls for one pl_draw belong to one thread. Nothing here opens files. */
#ifndef PL_DRAW_DRAW_H
#define PL_DRAW_DRAW_H

#include "base/memory.h"
#include "draw/camera.h"
#include "pliant/mesh.h"

typedef struct pl_draw pl_draw;
typedef struct pl_draw_surface pl_draw_surface;

enum { PL_DRAW_LARGEST = 16384 }; /* pixels, of either side */

/* `samples` per pixel: 1, 4, 9 or 16. PL_ERROR_STATE where there is no OpenGL. */
pl_status pl_draw_create(pl_memory *memory, int width, int height, int samples, pl_draw **draw,
                         pl_error *error);
void pl_draw_destroy(pl_draw *draw); /* NULL is allowed; its surfaces go first */

/* ---- Surfaces -------------------------------------------------------------------------------- */

typedef struct pl_paint {
    float colour[4]; /* linear red, green, blue, opacity */
    float roughness, metal;
} pl_paint;

/* Colours that go well together, by number; any number will do. */
pl_paint pl_palette(int index);

/* Linear colour of 0xRRGGBB as seen on a screen. */
pl_paint pl_paint_from_srgb(uint32_t rgb, float roughness);

/* What does not change while a surface moves. `rest` shows where it has creases: corners that meet
   at less than a wide angle are shaded as one, across seams too. */
typedef struct pl_draw_surface_def {
    int vertex_count, triangle_count;
    const double *rest; /* 3 per vertex */
    const int32_t *triangles;
    pl_paint paint;      /* where the look says nothing */
    const pl_look *look; /* its colours and materials, without textures; NULL = none */
} pl_draw_surface_def;

/* A triangle with a vertex out of range is an error. */
pl_status pl_draw_surface_create(pl_draw *draw, const pl_draw_surface_def *def,
                                 pl_draw_surface **surface, pl_error *error);
void pl_draw_surface_destroy(pl_draw_surface *surface); /* NULL is allowed */

/* Other colours from now on (4 per vertex, linear) instead of those of the look. */
pl_status pl_draw_surface_colours(pl_draw_surface *surface, const float *colours, float roughness);

/* ---- A picture ------------------------------------------------------------------------------- */

enum { PL_DRAW_LIGHTS = 4 };

typedef struct pl_draw_light {
    double direction[3]; /* towards it; zero = over the camera's left shoulder */
    float colour[3];     /* linear; 1 = as bright as the light there is without any */
    bool shadows;        /* only the first light throws any */
} pl_draw_light;

typedef struct pl_draw_view {
    pl_camera camera;
    double lower[3], upper[3]; /* around everything that casts a shadow */
    bool ground;
    double ground_height;
    double measure;  /* metres: how large a scene the lines on the ground are for; 0 = as the box */
    int light_count; /* 0 = one white light over the camera's left shoulder */
    pl_draw_light lights[PL_DRAW_LIGHTS];
} pl_draw_view;

/* The camera and the box of a framing, the ground under it. */
pl_status pl_draw_view_of(const pl_framing *framing, pl_draw_view *view, pl_error *error);

/* Forgets the last picture's list. PL_ERROR_ARGUMENT for a camera or a box that is none. */
pl_status pl_draw_begin(pl_draw *draw, const pl_draw_view *view, pl_error *error);

/* A surface with its vertices at `positions` (3 each), once per picture; below 1 it can be seen
   through. */
pl_status pl_draw_mesh(pl_draw *draw, pl_draw_surface *surface, const double *positions,
                       float opacity);

/* Ellipsoids by centre (3), rotation (4: x, y, z, w) and radii (3). `colours` (4 each, linear) may
   be NULL. */
pl_status pl_draw_ellipsoids(pl_draw *draw, int count, const double *centres,
                             const double *rotations, const double *radii, const float *colours,
                             const pl_paint *paint);

/* Round sticks between two points (3 + 3) each. */
pl_status pl_draw_segments(pl_draw *draw, int count, const double *ends, double radius,
                           const float *colours, const pl_paint *paint);

/* Draws; `rgba` gets 4 bytes per pixel, rows from the top. The list stays until the next
   pl_draw_begin. */
pl_status pl_draw_finish(pl_draw *draw, uint8_t *rgba, pl_error *error);

#endif
