/* Oriented particles, half as many side by side as there are lanes: eight bodies with AVX-512. A
   block of sixteen costs the same however many bodies it holds; with eight in vectors of half the
   length, a processor that has three units for these and two for whole ones is done sooner, and the
   block takes half the room in the cache. Only rotations are fitted at the whole length, two
   particles side by side. */
#if PL_W == 16
#include "math/rotation_lanes.h"
#include "matter/oriented_lanes.h"

#undef PL_W
#define PL_W 8
#define PL_WIDE_FIT pl_rotation_fit_columns_w16
#define PL_REAL_IS_DOUBLE 0
#define LONE 0
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"

void pl_oriented_solve_half_w16(const pl_block *block, double h, int iterations, pl_work *work)
{
    minimise_f(block, h, iterations, work);
    PL_LANES_LEAVE();
}
#endif
