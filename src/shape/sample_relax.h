/* Samples moved towards the centres of the parts of the body nearest to them (Lloyd), without
   giving up what was promised of them: their least distance, and that no part of the body is far
   from one. */
#ifndef PL_SHAPE_SAMPLE_RELAX_H
#define PL_SHAPE_SAMPLE_RELAX_H

#include "shape/sample_cells.h"

typedef struct pl_relax_def {
    const pl_cells *cells;
    const pl_inside *inside;
    int count;
    double distance; /* no two points come nearer */
    double
        widest; /* no cell ends further from its nearest point than this many times their least distance, unless it
                        was before */
    int rounds;
} pl_relax_def;

/* *least is the least distance in the end (INFINITY for one point), *gap how far the furthest cell
   is. */
pl_status pl_relax(pl_memory *memory, const pl_relax_def *def, double *points, double *least,
                   double *gap, pl_error *error);

#endif
