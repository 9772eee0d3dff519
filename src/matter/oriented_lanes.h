/* What the files *_lanes.c offer at each width, and the table that names the one in use. */
#ifndef PL_MATTER_ORIENTED_LANES_H
#define PL_MATTER_ORIENTED_LANES_H

#include "matter/oriented.h"

#define PL_ORIENTED_KERNELS(width)                                                                 \
    int pl_oriented_lanes_w##width(const pl_system *system, pl_solver solver, int iterations);     \
    size_t pl_oriented_scratch_w##width(const pl_system *system, pl_solver solver, bool lone);     \
    void pl_oriented_solve_w##width(const pl_block *block, double h, int iterations,               \
                                    pl_work *work);                                                \
    void pl_oriented_sum_w##width(int count, const double *weights, const float *a,                \
                                  double out[3]);                                                  \
    void pl_oriented_sum_of_differences_w##width(int count, const double *weights, const float *a, \
                                                 const float *b, double out[3]);                   \
    void pl_oriented_shift_w##width(int count, float *x, const float by[3]);                       \
    bool pl_oriented_velocities_w##width(int count, const pl_state *now, const pl_state *old,      \
                                         float rate);                                              \
    int pl_oriented_turn_all_w##width(int count, const float by[4][4], float *q);                  \
    void pl_oriented_gather_w##width(const pl_oriented *, const pl_clumps *, const uint8_t *,      \
                                     pl_clump_places *, pl_clump_places *, pl_primitive *,         \
                                     pl_gathered *);                                               \
    void pl_oriented_gather_more_w##width(const pl_oriented *, const pl_clumps *, const uint8_t *, \
                                          uint8_t, pl_primitive *);

PL_ORIENTED_KERNELS(4)
PL_ORIENTED_KERNELS(8)
PL_ORIENTED_KERNELS(16)

/* The same for blocks of no more than eight bodies, in floats, with the instructions of sixteen
   lanes. */
void pl_oriented_solve_half_w16(const pl_block *block, double h, int iterations, pl_work *work);

#endif
