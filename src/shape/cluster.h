/* Overlapping clusters of particles (Jones et al. 2015; METHODS §2): k-means seeds, then fuzzy
   c-means with a radius. The members of a cluster are all particles within its radius; their raw
   weights fall with the distance; its centre is the weighted centre of mass. Nothing depends on the
   unit of length, and the result only on the arguments. */
#ifndef PL_SHAPE_CLUSTER_H
#define PL_SHAPE_CLUSTER_H

#include "base/memory.h"
#include "pliant/clustered.h"

typedef struct pl_clustering_def {
    int count;     /* clusters wanted, 1 … number of particles */
    double radius; /* of a cluster; 0 = as `overlap` wants it */
    double
        overlap; /* memberships per particle in the mean, >= 1; only where radius is 0. 4 is usual */
    pl_cluster_kernel kernel;
    uint64_t seed;
} pl_clustering_def;

typedef struct pl_clustering {
    int count;       /* of clusters; more than wanted where some particles were out of reach */
    int32_t *start;  /* [count + 1] of the members of each */
    int32_t *member; /* particles in ascending order */
    float *raw;      /* weight of each before normalising */
    float *radius;   /* [count] */
    double *centre;  /* [count][3] */
    int rounds;      /* of the last try */
    int tries; /* every further one with number and radius a quarter larger, for want of reach */
    bool
        settled; /* memberships and centres came to rest (else they were left as they were after the last round) */
} pl_clustering;

/* Masses NULL: all alike. On failure nothing is left to free. */
pl_status pl_cluster_particles(pl_memory *memory, int n, const double *points, const float *masses,
                               const pl_clustering_def *def, pl_clustering *clustering,
                               pl_error *error);

/* One cluster for every particle: itself and its neighbours, neighbour[start[i]] … (each once), all
   with the weight 1. A particle without neighbours is alone. No radii and centres. */
pl_status pl_cluster_rings(pl_memory *memory, int n, const int32_t *start, const int32_t *neighbour,
                           pl_clustering *clustering, pl_error *error);

void pl_clustering_free(pl_memory *memory, pl_clustering *clustering);

/* Raw weight at a squared distance in radii². */
static inline double pl_cluster_kernel_at(pl_cluster_kernel kernel, double part2)
{
    switch (kernel) {
    case PL_KERNEL_INVERSE:
        return 1 / (part2 + 0.0625);
    case PL_KERNEL_CONSTANT:
        return 1;
    default: /* a particle in the very middle has no infinite weight */
        return 1 / (part2 > 0x1p-12 ? part2 : 0x1p-12);
    }
}

#endif
