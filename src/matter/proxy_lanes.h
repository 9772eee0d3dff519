/* Between proxy.c and its kernel in proxy_lanes.c. */
#ifndef PL_MATTER_PROXY_LANES_H
#define PL_MATTER_PROXY_LANES_H

#include "matter/clustered.h"

/* Where the members of a cluster are. */
typedef struct pl_located {
    float low[3], high[3]; /* a box around them */
    float farthest;        /* from the centre of the last fit */
    float mean[3];         /* weighted */
} pl_located;

/* From the rows of the kernels. The places are written to `at`, one after the other; what only
   fills up sixteen is infinitely far away. */
typedef pl_located pl_locate(const pl_clustered *clustered, const pl_cluster *cluster,
                             float *const at[3]);

pl_locate pl_cluster_locate_w4, pl_cluster_locate_w8, pl_cluster_locate_w16;

#endif
