/* A body cut into small cubes: for each that is at least partly inside, a point inside it and the
   part of it that is. Found by an octree that stops where no surface is near, so that the inside
   test is asked once for large blocks. Parts thinner than a cube have cubes too: their points are
   moved inward from the surface by half the thickness. */
#ifndef PL_SHAPE_SAMPLE_CELLS_H
#define PL_SHAPE_SAMPLE_CELLS_H

#include "shape/inside.h"

/* 4 × 4 × 4 cubes; bit x + 4 y + 16 z. */
typedef struct pl_brick {
    int32_t place[3]; /* in bricks from the origin */
    int32_t start;    /* of its cells */
    uint64_t filled;  /* has a cell */
    uint64_t deep;    /* wholly inside */
    uint64_t border;  /* the surface is near */
} pl_brick;

typedef struct pl_cells {
    double origin[3], pitch;
    int brick_count;
    pl_brick *bricks;
    uint32_t mask;
    int32_t *slots; /* [mask + 1] brick or -1 */
    int count;
    double *points;     /* [count][3], inside, ordered by brick and bit */
    float *parts;       /* [count] of the cube that is inside, 0 to 1 */
    int32_t *triangles; /* [count] the nearest, where it is near; else -1 */
} pl_cells;

/* On failure nothing is left to free. A surface without an inside has no cells. */
pl_status pl_cells_make(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                        double pitch, pl_cells *cells, pl_error *error);
void pl_cells_free(pl_memory *memory, pl_cells *cells);

/* The brick at a place, or NULL. */
const pl_brick *pl_cells_brick(const pl_cells *cells, const int32_t place[3]);

/* The cell whose cube a point lies in, or -1. */
int pl_cells_at(const pl_cells *cells, const double point[3]);

/* As pl_inside_test, asked of the cubes where they know. */
bool pl_cells_inside(const pl_cells *cells, const pl_inside *inside, const double point[3]);

static inline int pl_brick_cell(const pl_brick *brick, int bit)
{
    uint64_t below = brick->filled & ((UINT64_C(1) << bit) - 1);
    return brick->start + __builtin_popcountll(below);
}

#endif
