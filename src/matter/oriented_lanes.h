/* What oriented_lanes.c offers at each width, and the table that names the one in use. */
#ifndef PL_MATTER_ORIENTED_LANES_H
#define PL_MATTER_ORIENTED_LANES_H

#include "matter/oriented.h"

#define PL_ORIENTED_KERNELS(width)                                                                            \
    int pl_oriented_lanes_w##width(const pl_system *system, pl_solver solver);                               \
    size_t pl_oriented_scratch_w##width(const pl_system *system, pl_solver solver, bool lone);               \
    void pl_oriented_solve_w##width(const pl_block *block, double h, int iterations, pl_work *work);         \
    void pl_oriented_spins_w##width(int count, const float *q, const float *old, float scale, float *w);

PL_ORIENTED_KERNELS(4)
PL_ORIENTED_KERNELS(8)
PL_ORIENTED_KERNELS(16)

#endif
