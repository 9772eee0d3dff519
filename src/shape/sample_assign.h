/* Which of some points each cell of a body is nearest to: a discrete Voronoi diagram, through air
   as well. */
#ifndef PL_SHAPE_SAMPLE_ASSIGN_H
#define PL_SHAPE_SAMPLE_ASSIGN_H

#include "shape/sample_cells.h"

/* For every cell the nearest of `count` points within `reach` of its own (the first of equals; -1 =
   none), and the square of its distance (INFINITY). `spacing`: about how far the points are
   apart. */
pl_status pl_cells_assign(pl_memory *memory, const pl_cells *cells, int count, const double *points,
                          double spacing, double reach, int32_t *owner, double *distance2,
                          pl_error *error);

#endif
