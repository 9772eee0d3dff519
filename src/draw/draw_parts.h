/* What the files of the renderer know of each other. */
#ifndef PL_DRAW_DRAW_PARTS_H
#define PL_DRAW_DRAW_PARTS_H

#include <epoxy/gl.h>

#include "base/array.h"
#include "draw/corners.h"
#include "draw/draw.h"
#include "draw/headless.h"
#include "draw/shaders.h"

/* ---- Where it is drawn ----------------------------------------------------------------------- */

/* Large pictures are drawn in tiles, so that their samples take a bounded amount of memory. */
typedef struct pl_draw_targets {
    GLuint framebuffers[5], maps[PL_UNIT_COUNT], picture;
    int width, height; /* of a tile */
    int side;          /* of the square of samples in a pixel */
} pl_draw_targets;

enum { PL_TARGET_SAMPLES, PL_TARGET_PICTURE, PL_TARGET_SHADOW, PL_TARGET_BELOW, PL_TARGET_OPEN };
enum { PL_SHADOW_MAP = 1280, PL_BELOW_MAP = 256, PL_OPEN_MAP = 128 }; /* texels */

pl_status pl_draw_targets_create(pl_draw_targets *targets, int width, int height, int samples,
                                 pl_error *error);
void pl_draw_targets_destroy(pl_draw_targets *targets);

/* ---- What is drawn --------------------------------------------------------------------------- */

/* A unit ball or stick, drawn many times. */
typedef struct pl_draw_shape {
    GLuint buffers[2]; /* vertices, indices */
    int index_count;
} pl_draw_shape;

enum { PL_SHAPE_FINENESSES = 4 };

pl_status pl_draw_ball_create(pl_draw_shape *shape, int fineness, pl_memory *memory);
pl_status pl_draw_stick_create(pl_draw_shape *shape, int sides, pl_memory *memory);
void pl_draw_shape_destroy(pl_draw_shape *shape);

/* A surface has its triangles in several finenesses, one behind the other in the buffer of indices:
   all of them, and for maps without detail fewer and larger ones between the same vertices. */
enum { PL_DRAW_LEVELS = 3 };

typedef struct pl_draw_level {
    int first, count; /* indices */
    double cell;      /* about the size of its triangles, metres; 0 = all of them */
} pl_draw_level;

struct pl_draw_surface {
    pl_draw *draw;
    int vertex_count, triangle_count; /* of the mesh */
    int32_t *triangles;
    pl_corners corners;
    float *places;            /* 3 per vertex of the mesh, in the scene's measure */
    float *normals;           /* 3 per group */
    float *upload;            /* position and normal per drawn vertex */
    GLuint array, buffers[3]; /* positions and normals; colours and finish; indices */
    int level_count;
    pl_draw_level levels[PL_DRAW_LEVELS];
};

/* Buffers of instances, used again from picture to picture. */
typedef struct pl_draw_stream {
    GLuint array, buffer;
} pl_draw_stream;

typedef struct pl_draw_item {
    const pl_draw_surface *surface; /* or else instances of a shape */
    const pl_draw_shape *shape;
    GLuint array;
    int index_count, count; /* of instances */
    bool closed;            /* backs are never seen */
    float opacity, roughness, metal;
} pl_draw_item;

struct pl_draw {
    pl_memory *memory;
    pl_headless headless;
    pl_shaders shaders;
    pl_draw_targets targets;
    pl_draw_shape balls[PL_SHAPE_FINENESSES], stick;
    GLuint numbers_buffer, no_vertices;
    int width, height;
    uint8_t *tile; /* pixels of one tile */
    pl_array items, streams;
    size_t streams_used;

    pl_draw_view view;
    double centre[3], scale; /* scene = (world - centre) * scale */
    pl_scene_numbers numbers;
    double projection[16], unprojection[16]; /* of the whole picture, and back */
    bool begun;
};

/* Shapes are drawn with the surface's own measure: (world - centre) * scale. */
void pl_draw_place_surface(const pl_draw *draw, pl_draw_surface *surface, const double *positions);

/* Fills in the camera, the light's and the ground's matrices. */
pl_status pl_draw_set_view(pl_draw *draw, const pl_draw_view *view, pl_error *error);

/* What is the same for all tiles, and the passes of one. */
void pl_draw_maps(pl_draw *draw);
void pl_draw_tile(pl_draw *draw, int x, int y, int width, int height);

#endif
