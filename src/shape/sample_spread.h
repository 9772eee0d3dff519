/* Blue noise among given candidates: Bridson's active list (2007) with a distance, then the
   farthest candidate again and again until a count is reached or no gap is as wide as the distance.
   Farthest-point insertion ends with every candidate within the least distance between samples:
   minimum distance and fill come out together, whatever the shape, and the count exactly. */
#ifndef PL_SHAPE_SAMPLE_SPREAD_H
#define PL_SHAPE_SAMPLE_SPREAD_H

#include "shape/sample_buckets.h"

typedef struct pl_spread_def {
    int candidate_count;
    const double *candidates; /* [c][3] */
    int first_count;          /* candidates to take before all others, where no two are too near */
    const int32_t *firsts;
    double distance; /* least, or with a count the first guess of it */
    int count;       /* 0 = as many as fit */
    uint64_t seed;
    bool (*progress)(void *user, double part);
    void *progress_user;
} pl_spread_def;

typedef struct pl_spread {
    int count;
    int32_t *chosen; /* [count] candidates */
    double distance; /* no two are nearer */
    double gap;      /* no candidate is further from its nearest */
} pl_spread;

pl_status pl_spread_make(pl_memory *memory, const pl_spread_def *def, pl_spread *spread,
                         pl_error *error);
void pl_spread_free(pl_memory *memory, pl_spread *spread);

#endif
