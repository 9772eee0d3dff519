/* Which elements of a tetrahedral mesh stand for the others: farthest-point sampling of the
   centroids. */
#ifndef PL_SHAPE_TET_SAMPLE_H
#define PL_SHAPE_TET_SAMPLE_H

#include "base/memory.h"

/* Writes `count` different elements, in the order in which they were chosen, to `sample`: first the
   lowest element of every piece (`piece[e]`, counted from 0 in the order in which pieces appear;
   all 0 for one), then always the one farthest from all chosen of its piece, the lowest of equals.
   At least as many as there are pieces, at most as there are elements. False without memory. */
bool pl_tet_sample(pl_memory *memory, int tet_count, const double *centroid, const int32_t *piece,
                   int count, int32_t *sample);

#endif
