/* What posed_lanes.c offers at each width. */
#ifndef PL_MATTER_POSED_LANES_H
#define PL_MATTER_POSED_LANES_H

#include "matter/posed.h"

#define PL_POSED_KERNELS(width)                                                                    \
    size_t pl_posed_scratch_w##width(const pl_system *system);                                     \
    void pl_posed_solve_w##width(const pl_block *block, double h, int iterations, pl_work *work);  \
    void pl_posed_retarget_w##width(pl_posed *posed);                                              \
    void pl_posed_strains_w##width(pl_posed *posed, const float *x, const float *q);

PL_POSED_KERNELS(4)
PL_POSED_KERNELS(8)
PL_POSED_KERNELS(16)

#endif
