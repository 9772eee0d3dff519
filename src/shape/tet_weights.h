/* Harmonic weights by which elements of a tetrahedral mesh follow a few sampled ones (METHODS §3): per sample the Laplace
   equation with 1 on its vertices and 0 on those of the others, averaged over the vertices of each element. One
   factorisation serves all samples. */
#ifndef PL_SHAPE_TET_WEIGHTS_H
#define PL_SHAPE_TET_WEIGHTS_H

#include "base/memory.h"

typedef struct pl_tet_weights {
    int cap;
    int32_t *count; /* [tets] 1 … cap samples each */
    int32_t
        *sample; /* [tets][cap] numbers of samples, the heaviest first; repeats it behind `count` */
    float *weight; /* [tets][cap] positive, sum 1; 0 behind `count` */
} pl_tet_weights;

/* `edge` are the six entries −V g_a·g_b of the Laplacian of each element in the order 01 02 03 12 13 23, `sample` are
   elements, at least one in every piece of the mesh. A sampled element follows itself alone. Weights below `threshold`
   are dropped, the `cap` heaviest kept, and what is left made to sum to one. PL_ERROR_MEMORY; PL_ERROR_ARGUMENT where a
   piece has no sample. */
pl_status pl_tet_weigh(pl_memory *memory, int n, int tet_count, const int32_t *tets,
                       const double *edge, int sample_count, const int32_t *sample,
                       double threshold, int cap, pl_tet_weights *weights);
void pl_tet_weights_free(pl_memory *memory, pl_tet_weights *weights);

#endif
