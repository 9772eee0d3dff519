/* The oriented-particle solvers at one vector width: every combination of number type and layout
   that is used. */
#include "matter/oriented_lanes.h"

#define PL_REAL_IS_DOUBLE 0
#define LONE 0
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"
#undef LONE
#define LONE 1
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"
#undef LONE
#undef PL_REAL_IS_DOUBLE

#define PL_REAL_IS_DOUBLE 1
#define LONE 0
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"
#include "matter/oriented_stiff.inl"
#undef LONE
#define LONE 1
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"
#include "matter/oriented_stiff.inl"

static bool is_in_double(const pl_system *system, pl_solver solver, int iterations)
{
    return system->twice || solver == PL_SOLVER_STIFF || iterations >= PL_MANY_ITERATIONS;
}

int PL_LANES(pl_oriented_lanes)(const pl_system *system, pl_solver solver, int iterations)
{
    return is_in_double(system, solver, iterations) ? PL_WD : PL_W;
}

/* Side by side, half as many doubles take the same room as floats; alone they take twice as
   much. */
size_t PL_LANES(pl_oriented_scratch)(const pl_system *system, pl_solver solver, bool lone)
{
    stiff_d wide;
    stiff_lone_d alone;
    if (solver == PL_SOLVER_STIFF)
        return lone ? lay_out_stiff_lone_d(&alone, system, NULL)
                    : lay_out_stiff_d(&wide, system, NULL);
    return lone ? lay_out_lone_d(&alone.base, system->n, solver, NULL)
                : lay_out_d(&wide.base, system->n, solver, NULL);
}

static void solve_side_by_side(const pl_block *block, double h, int iterations, pl_work *work)
{
#if PL_W == 16
    if (block->count <= PL_W / 2) {
        pl_oriented_solve_half_w16(block, h, iterations, work);
        return;
    }
#endif
    minimise_f(block, h, iterations, work);
}

void PL_LANES(pl_oriented_solve)(const pl_block *block, double h, int iterations, pl_work *work)
{
    bool stiff = block->solver == PL_SOLVER_STIFF,
         twice = is_in_double(block->system, block->solver, iterations);
    if (block->lone)
        (stiff   ? minimise_stiff_lone_d
         : twice ? minimise_lone_d
                 : minimise_lone_f)(block, h, iterations, work);
    else
        (stiff   ? minimise_stiff_d
         : twice ? minimise_d
                 : solve_side_by_side)(block, h, iterations, work);
    PL_LANES_LEAVE();
}
