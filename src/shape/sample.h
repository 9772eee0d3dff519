/* Where the particles of a body go: blue noise (Bridson 2007) or a lattice in a volume, on a
   surface, along curves. A wanted count is reached within 10 % by adjusting the distance.
   Deterministic from the seed. */
#ifndef PL_SHAPE_SAMPLE_H
#define PL_SHAPE_SAMPLE_H

#include "shape/inside.h"

typedef struct pl_sample_def {
    pl_cook_sampling sampling;
    int count;       /* wanted; 0 = as `distance` says */
    double distance; /* mesh units */
    uint64_t seed;
    bool (*progress)(void *user, double part); /* false = stop (PL_ERROR_STATE); may be NULL */
    void *progress_user;
} pl_sample_def;

typedef struct pl_samples {
    int count;
    double *points; /* [count][3] */
    int32_t *
        component; /* [count] of the surface; the one it lies in or nearest to; curves: which curve */
    int32_t *triangle; /* [count] it lies on (surfaces), segment (curves), −1 (volumes) */
    double distance;   /* between neighbours: the least (blue noise) or the pitch (lattice) */
} pl_samples;

pl_status pl_sample_volume(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                           const pl_sample_def *def, pl_samples *samples, pl_error *error);
pl_status pl_sample_surface(pl_memory *memory, const pl_surface *surface, const pl_sample_def *def,
                            pl_samples *samples, pl_error *error);
pl_status pl_sample_curves(pl_memory *memory, const pl_surface *surface, const pl_sample_def *def,
                           pl_samples *samples, pl_error *error);
void pl_samples_free(pl_memory *memory, pl_samples *samples);

#endif
