/* Pliant: ready-made rest shapes: graphs of oriented particles with a skin around them. */
#ifndef PLIANT_SHAPE_H
#define PLIANT_SHAPE_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_shape_kind {
    PL_SHAPE_BAR, /* particles in a row, joined serially; a rectangular skin (Choi & Lee, Figs. 1 to 3) */
    PL_SHAPE_CHAIN,    /* a rope: particles in a row, long ellipsoids, a round skin */
    PL_SHAPE_SHEET,    /* a grid of flat ellipsoids */
    PL_SHAPE_BOX,      /* a lattice filling a box */
    PL_SHAPE_CREATURE, /* 100 particles, 261 edges: body, neck, head, tail and four legs */
    PL_SHAPE_KNOT,     /* a rod along a closed or open trefoil */
    PL_SHAPE_COIL,     /* a rod wound into a helix */
    PL_SHAPE_BLOCK /* a box of cells, each cut into five tetrahedra; particles at their corners: for tetrahedral bodies */
} pl_shape_kind;

typedef struct pl_shape_def {
    pl_shape_kind kind;
    int count
        [3]; /* particles along x, y, z; kinds that need fewer use the first; 0 = the kind's default */
    double size[3]; /* outer measures, metres; 0 = the kind's default */
    bool
        braced; /* sheets and boxes: diagonal edges too. Default false for sheets, true for boxes */
    const pl_allocator *allocator; /* NULL = malloc and free */
    uint32_t cookie;               /* set by pl_default_shape_def */
} pl_shape_def;

typedef struct pl_shape pl_shape;
struct pl_model_def;

PL_API pl_shape_def pl_default_shape_def(pl_shape_kind kind);
PL_API pl_status pl_shape_create(const pl_shape_def *def, pl_shape **shape, pl_error *error);
PL_API void pl_shape_destroy(pl_shape *shape); /* NULL is allowed; models made from it live on */

/* "bar", "chain", …: NULL out of range, and the other way round (false for an unknown name). */
PL_API const char *pl_shape_kind_name(pl_shape_kind kind);
PL_API bool pl_find_shape_kind(const char *name, pl_shape_kind *kind);

/* A model definition that points into the shape: create the model before destroying the shape. */
PL_API struct pl_model_def pl_shape_model_def(const pl_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
