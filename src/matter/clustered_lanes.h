/* Between clustered.c and the kernels in clustered_lanes.c. */
#ifndef PL_MATTER_CLUSTERED_LANES_H
#define PL_MATTER_CLUSTERED_LANES_H

#include "matter/clustered.h"

/* A cluster is a sliver when tr(A_pp⁻¹) m width² is above this (15 for a ball, some 25 / thickness²
   for a plate of radius 1), and drawn out when ‖Fᵉ‖² is above that (3 at rest, 9 + 2 when one axis
   is three times as long). */
#define PL_CLUSTER_SLIVER 200.0f
#define PL_CLUSTER_DRAWN 11.0f

/* What is kept of a group of sixteen clusters from the fit to the last round of strain limiting, a
   column each. */
enum {
    PL_GROUP_SHARE,        /* 1 / Σ w m */
    PL_GROUP_MASS,         /* Σ w m */
    PL_GROUP_LEAN,         /* [3] */
    PL_GROUP_PLASTIC = 5,  /* [9] Fᵖ */
    PL_GROUP_MAP = 14,     /* [9] A_xp times this is what the rotation is taken of */
    PL_GROUP_TURN = 23,    /* [4] the rotation, where the next one starts */
    PL_GROUP_OLD = 27,     /* [3] centre at the start of the sub-step */
    PL_GROUP_INERTIA = 30, /* [6] pseudo-inverse of the inertia then */
    PL_GROUP_LIMIT = 36,   /* ℓ times the width */
    PL_GROUP_PUSH = 37,    /* [6] force and moment of all corrections in this sub-step */
    PL_GROUP_FIELDS = 43
};

typedef struct pl_clustered_step pl_clustered_step;

/* The kernels of one width: over one run of clusters, or over a range of blocks of rows. */
typedef struct pl_clustered_table {
    int width;
    void (*measure)(const pl_clustered_step *step, int run); /* before `fit`, with examples only */
    void (*fit)(const pl_clustered_step *step, int run);
    void (*limit)(pl_clustered_step *step, int run);
    void (*balance)(const pl_clustered_step *step, int run);
    void (*integrate)(const pl_clustered_step *step, int begin, int end);
    void (*settle)(const pl_clustered_step *step, int begin, int end);
} pl_clustered_table;

/* A sub-step, as the kernels see it. */
struct pl_clustered_step {
    pl_clustered *clustered;
    const pl_clustered_table *kernels;
    const pl_clustered_motion *motion;
    float h;
    float pull;    /* α / h */
    float damping; /* d */
    float limit;   /* ℓ */
    float part;    /* θ */
    double flow;   /* ν */
    bool least_squares;
    bool balances; /* in this round of strain limiting, the last, rigid parts are taken away */
    int hits[PL_MOST_RUNS]; /* clusters of each run that corrected something in this round */
};

#define PL_CLUSTERED_KERNELS(width)                                                                \
    void pl_clustered_measure_w##width(const pl_clustered_step *step, int run);                    \
    void pl_clustered_fit_w##width(const pl_clustered_step *step, int run);                        \
    void pl_clustered_limit_w##width(pl_clustered_step *step, int run);                            \
    void pl_clustered_balance_w##width(const pl_clustered_step *step, int run);                    \
    void pl_clustered_integrate_w##width(const pl_clustered_step *step, int begin, int end);       \
    void pl_clustered_settle_w##width(const pl_clustered_step *step, int begin, int end);

PL_CLUSTERED_KERNELS(4)
PL_CLUSTERED_KERNELS(8)
PL_CLUSTERED_KERNELS(16)

/* pl_clustered_solve at a width that this machine has: for tests. */
void pl_clustered_solve_at(pl_clustered *clustered, const pl_clustered_motion *motion,
                           pl_tasks *tasks, int width);

#endif
