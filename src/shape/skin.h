/* How a surface hangs on the particles: weights for its vertices and for any other point of the
 * rest state, and the directions it faces where nobody gave them. */
#ifndef PL_SHAPE_SKIN_H
#define PL_SHAPE_SKIN_H

#include "shape/model.h"

/* Particles per vertex where the definition gives no weights. */
enum { PL_SKIN_INFLUENCES = 4 };

/* Fills influences and weights of all vertices of a model made without (arrays allocated; graph,
   edge offsets and triangles filled in). A vertex hangs on one piece of the graph only; vertices at
   the same place get the same weights. */
pl_status pl_skin_compute(pl_model *model, pl_error *error);

/* What carries a point of the rest state: up to `max` (1 to PL_MAX_INFLUENCES) particles near it
   along the graph and weights > 0 that sum to one, the largest first. The point is finite, in the
   model's unit, from its centre. Returns how many there are, at least 1. Looks at every
   particle once; allocates nothing. */
int pl_skin_point(const pl_model *model, const double point_units[3], int max, int32_t *particles,
                  float *weights);

/* Unit normals (3 per vertex) of a surface: the sum of the triangles' normals by their areas.
   Vertices at exactly the same position share one; a vertex of no area gets 0, 1, 0. Scratch comes
   from `memory` and is given back. Positions are finite, triangles in range. */
pl_status pl_skin_normals(pl_memory *memory, int vertex_count, const float *positions,
                          int triangle_count, const int32_t *triangles, float *normals,
                          pl_error *error);

/* point_of[v] becomes the first vertex at exactly the same position as v. False without memory. */
bool pl_skin_weld(pl_memory *memory, int vertex_count, const float *positions, int32_t *point_of);

#endif
