/* The same mesh with fewer triangles, for maps too small to show all of them. */
#ifndef PL_DRAW_COARSE_H
#define PL_DRAW_COARSE_H

#include "base/error.h"
#include "base/memory.h"

/* Vertices in one cell of a grid become one of them, the one nearest to their middle (Rossignac &
   Borrel, 1993), so that the coarse mesh moves with the fine one's vertices. `kept` gets for every
   vertex the one that stands for it. */
pl_status pl_coarse_vertices(pl_memory *memory, int vertex_count, const double *positions,
                             double cell, int32_t *kept);

/* The mean length of the edges of all triangles. */
double pl_mean_edge(int triangle_count, const int32_t *triangles, const double *positions);

#endif
