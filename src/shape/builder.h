/* A ready-made shape while it is being built: arrays that grow, and the few pieces of surface that
   skins are put together from. An allocation that fails is remembered in `failed` and everything
   after it is ignored, so that generators need to look only once, at the end. */
#ifndef PL_SHAPE_BUILDER_H
#define PL_SHAPE_BUILDER_H

#include "base/memory.h"
#include "pliant/pliant.h"

typedef struct pl_list {
    void *data;
    size_t count, capacity;
} pl_list;

struct pl_shape {
    pl_memory memory;
    bool failed;
    int dimension;
    double volume;        /* 0 = that of the ellipsoids */
    pl_list positions;    /* double[3] per particle */
    pl_list orientations; /* double[4] */
    pl_list radii;        /* double[3] */
    pl_list edges;        /* int32_t[2] */
    pl_list vertices;     /* double[3] */
    pl_list triangles;    /* int32_t[3] */
    pl_list tets;         /* int32_t[4] particles */
};

/* What the generators get: every number filled in and within its limits. */
typedef struct pl_shape_plan {
    int count[3];
    double size[3];
    bool braced;
} pl_shape_plan;

void pl_build_bar(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_chain(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_sheet(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_box(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_creature(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_knot(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_coil(pl_shape *shape, const pl_shape_plan *plan);
void pl_build_block(pl_shape *shape, const pl_shape_plan *plan);

/* `frame` holds the particle's three axes, row by row, unit and right-handed; NULL = not turned. */
void pl_shape_add_particle(pl_shape *shape, const double position[3], const double frame[3][3],
                           const double radii[3]);
void pl_shape_add_edge(pl_shape *shape, int a, int b);
void pl_shape_add_tet(pl_shape *shape, int a, int b, int c, int d); /* of positive volume */
int pl_shape_particle_count(const pl_shape *shape);

/* Surfaces are closed, and counter-clockwise seen from outside. Each returns its first vertex. */
int pl_shape_add_vertex(pl_shape *shape, const double point[3]);
void pl_shape_add_triangle(pl_shape *shape, int a, int b, int c);

/* The faces of a box about the origin, cut into nx × ny × nz cells. */
void pl_shape_add_box_skin(pl_shape *shape, const double size[3], int nx, int ny, int nz);

/* An ellipse around frame[0], half axes along frame[1] and frame[2]. */
int pl_shape_add_ring(pl_shape *shape, const double centre[3], const double frame[3][3],
                      const double half[2], int sides);
/* The band from one ring to the next along frame[0]; `turn` = by how many sides the second is
   turned back. */
void pl_shape_join_rings(pl_shape *shape, int first, int second, int sides, int turn);
/* A fan that closes a ring: behind it (the beginning of a tube) or ahead of it. */
void pl_shape_close_ring(pl_shape *shape, int ring, int sides, const double point[3], bool ahead);

static inline double pl_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void pl_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Completes a frame: row 0 along `tangent`, row 1 as near to `side` as it can be, row 2 = row
   0 × row 1. */
void pl_frame_from(const double tangent[3], const double side[3], double frame[3][3]);

#endif
