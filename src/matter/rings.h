/* Elastic bodies of many small clusters (rings: a region around every particle, Koyama et al. 2012,
   METHODS §4), which neither flow nor break nor have their strain limited: shape matching with one
   region per lane in all passes.

   Such bodies have rest positions q after all, with p = q − c̄ for the members of a region with
   rest centre c̄. So what a region wants of a member is affine in q and x,

       w ((α/h) (T p + t − y) + ω × y + v)  =  w ((α/h) (T q − x) + ω × x + e),    y = x − c₀,
       e = (α/h) (t + c₀ − T c̄) + v − ω × c₀,

   and particles add up T, ω, e and 1 of their regions, a row of sixteen floats each, before they
   multiply by anything (as Rivers & James 2007 do for lattices). */
#ifndef PL_MATTER_RINGS_H
#define PL_MATTER_RINGS_H

#include "matter/clustered_lanes.h"

/* Columns of a group of sixteen regions that stay, and those from one pass to the next. */
enum {
    PL_RING_INVERSE = 0,   /* [6] A_pp⁺ */
    PL_RING_LEAN = 6,      /* [3] */
    PL_RING_MASS = 9,      /* Σ w m */
    PL_RING_SHARE = 10,    /* 1 / Σ w m */
    PL_RING_THIN = 11,     /* tr(A_pp⁺) m width², above PL_CLUSTER_SLIVER for slivers */
    PL_RING_HOME = 12,     /* [3] c̄ */
    PL_RING_FIXED = 15,    /* so many */
    PL_RING_CENTRE = 0,    /* [3] as a cluster has them, from `centre` to `rotation` */
    PL_RING_GRADIENT = 3,  /* [9] */
    PL_RING_TURN = 12,     /* [4] */
    PL_RING_ROTATION = 16, /* [9] */
    PL_RING_STATE = 25,
    PL_RING_SHIFT = 0,  /* [3] of the centre */
    PL_RING_MOMENT = 3, /* [9] A_xp */
    PL_RING_SPIN = 12,  /* [6] d ω, d (ū − ω × shift) */
    PL_RING_KEPT = 18,
    PL_RING_ROW = 16 /* T, ω, e, 1 */
};

/* Whether a body with this definition may be of this kind: others have no room for rings. */
bool pl_rings_are_possible(const pl_clustered_def *def);

/* Whether a body is of this kind: its regions agree on where particles are at rest. For
   pl_clustered_index, which has start, place and owner by then. */
bool pl_rings_suit(pl_clustered *clustered);

/* Derive what the kernels want: from the members' places, and from weights and rest. */
void pl_rings_lay_out(pl_clustered *clustered);
void pl_rings_fill(pl_clustered *clustered);

/* A sub-step, but for what is held. What was fitted is brought to the clusters if anybody is to see
   it. */
void pl_rings_solve(pl_clustered_step *step, pl_tasks *tasks);

void pl_rings_frames(pl_clustered *clustered, pl_tasks *tasks);

#define PL_RINGS_KERNELS(width)                                                                    \
    void pl_rings_measure_w##width(const pl_clustered_step *step, int begin, int end);             \
    void pl_rings_fit_w##width(const pl_clustered_step *step, int begin, int end);                 \
    void pl_rings_move_w##width(const pl_clustered_step *step, int begin, int end);                \
    void pl_rings_show_w##width(const pl_clustered *clustered, int begin, int end);                \
    void pl_rings_average_w##width(const pl_clustered *clustered, int begin, int end);

PL_RINGS_KERNELS(4)
PL_RINGS_KERNELS(8)
PL_RINGS_KERNELS(16)

#endif
