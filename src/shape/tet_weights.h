/* Harmonic weights by which elements of a tetrahedral mesh follow a few sampled ones (METHODS §3):
   per sample the Laplace equation with 1 on its vertices and 0 on those of the others, averaged
   over the vertices of each element. One factorisation serves all samples.

   Such weights are flat around the samples and can only mix what these have: of a rotation that
   grows steadily they make steps, and beyond the last sample nothing more. So those that are kept
   are changed as little as will do to give back fields that vary linearly over space. That halves
   the energy error of a bent and twisted beam, and four samples for an element do as well as eight
   did (docs/tetrahedral.md). */
#ifndef PL_SHAPE_TET_WEIGHTS_H
#define PL_SHAPE_TET_WEIGHTS_H

#include "base/memory.h"

enum { PL_TET_MOST_WEIGHTS = 16 };

typedef struct pl_tet_weights {
    int cap;        /* 1 … PL_TET_MOST_WEIGHTS */
    int32_t *count; /* [tets] 1 … cap samples each */
    int32_t
        *sample; /* [tets][cap] numbers of samples, the heaviest first; repeats it behind `count` */
    float *weight; /* [tets][cap] sum 1, none below −½; 0 behind `count` */
} pl_tet_weights;

/* `edge` are the six entries −V g_a·g_b of the Laplacian of each element in the order 01 02 03 12
   13 23, `sample` are elements, at least one in every piece of the mesh, `centroid` [tets][3] where
   elements are. A sampled element follows itself alone. Weights below `threshold` are dropped, the
   `cap` heaviest kept, and what is left made to sum to one. PL_ERROR_MEMORY; PL_ERROR_ARGUMENT
   where a piece has no sample. */
pl_status pl_tet_weigh(pl_memory *memory, int n, int tet_count, const int32_t *tets,
                       const double *edge, const double *centroid, int sample_count,
                       const int32_t *sample, double threshold, int cap, pl_tet_weights *weights);
void pl_tet_weights_free(pl_memory *memory, pl_tet_weights *weights);

#endif
