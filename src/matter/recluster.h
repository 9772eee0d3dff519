/* Local embedding (METHODS §2, Eq. 3.5 – 3.7): the clusters around a particle and their particles,
   laid out in space such that all these clusters are as little deformed elastically as can be.
   Nobody remembers where everybody was at rest; this is the next best thing. */
#ifndef PL_MATTER_RECLUSTER_H
#define PL_MATTER_RECLUSTER_H

#include "math/vec3.h"
#include "matter/clustered.h"

typedef float pl_row4 __attribute__((vector_size(16)));

typedef struct pl_patch {
    const pl_clustered *clustered;
    int32_t *local; /* [n] number of a particle in the patch, or −1 */
    int32_t *slot;  /* [clusters] of a cluster in the patch, or −1 */
    int cluster_count, particle_count;
    int32_t *cluster;  /* [cluster_count] */
    int32_t *particle; /* [particle_count] */
    int32_t *first;    /* [cluster_count + 1] members of each: */
    int32_t *at;       /* particle, numbered in the patch */
    pl_row4 *offset;   /* w q and w, with q = Fᵖ p from its weighted mean */
    pl_row4 *shift;    /* [cluster_count] that mean; the sum of the weights */
    pl_row4 *e;    /* [particle_count] embedded positions, from `origin`; the sum of the weights */
    pl_row4 *last; /* [particle_count] after the last round */
    pl_row4 *sum;  /* [particle_count] */
    pl_row4 *mean; /* [cluster_count] of the members' positions */
    float *turn;   /* [cluster_count][4] */
    float *moment; /* [cluster_count][9] */
    float origin[3];
    void *block;
} pl_patch;

enum { PL_PATCH_ROUNDS = 20 };

/* Room for any patch of the body. False without memory. */
bool pl_patch_open(pl_patch *patch, const pl_clustered *clustered);
void pl_patch_close(pl_patch *patch);

/* The clusters of a particle, those that share a particle with them (3.6), and all their particles
   (3.7), where they are in the world. */
void pl_patch_gather(pl_patch *patch, int seed, const float *x);

/* Rounds of fit-and-average until the squared change of a round is 10⁻⁸ of the first one's; how
   many it took. */
int pl_patch_embed(pl_patch *patch, int most_rounds);

/* Eq. 3.5 with the rotations that fit the positions best. */
double pl_patch_residual(pl_patch *patch);

#endif
