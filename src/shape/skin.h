/* How a surface hangs on the particles: weights for its vertices and for any other point of the
 * rest state. */
#ifndef PL_SHAPE_SKIN_H
#define PL_SHAPE_SKIN_H

#include "shape/model.h"

/* Particles per vertex where the definition gives no weights. */
enum { PL_SKIN_INFLUENCES = 4 };

/* Fills influences and weights of all vertices of a model made without (arrays allocated, graph
 * connected). */
pl_status pl_skin_compute(pl_model *model, pl_error *error);

/* What carries a point of the rest state: up to `max` (1 to PL_MAX_INFLUENCES) particles near it
   along the graph and weights > 0 that sum to one, the nearest particle first. The point is finite,
   in the model's unit, from its centre. Returns how many there are, at least 1. Looks at every
   particle once; allocates nothing. */
int pl_skin_point(const pl_model *model, const double point_units[3], int max, int32_t *particles,
                  float *weights);

#endif
