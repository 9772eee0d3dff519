/* The oriented-particle solvers at one vector width: every combination of number type and layout that is used. */
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

#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 0
#include "math/elementary.inl"

int PL_LANES(pl_oriented_lanes)(const pl_system *system, pl_solver solver)
{
    return system->twice || solver == PL_SOLVER_STIFF ? PL_WD : PL_W;
}

size_t PL_LANES(pl_oriented_scratch)(const pl_system *system, pl_solver solver, bool lone)
{
    if (solver == PL_SOLVER_STIFF) {
        stiff_d wide;
        stiff_lone_d alone;
        return lone ? lay_out_stiff_lone_d(&alone, system, NULL) : lay_out_stiff_d(&wide, system, NULL);
    }
    if (system->twice) {
        context_d wide;
        context_lone_d alone;
        return lone ? lay_out_lone_d(&alone, system->n, solver, NULL) : lay_out_d(&wide, system->n, solver, NULL);
    }
    context_f wide;
    context_lone_f alone;
    return lone ? lay_out_lone_f(&alone, system->n, solver, NULL) : lay_out_f(&wide, system->n, solver, NULL);
}

void PL_LANES(pl_oriented_solve)(const pl_block *block, double h, int iterations, pl_work *work)
{
    bool stiff = block->solver == PL_SOLVER_STIFF;
    if (block->lone)
        (stiff ? minimise_stiff_lone_d : block->system->twice ? minimise_lone_d : minimise_lone_f)(block, h, iterations,
                                                                                                 work);
    else
        (stiff ? minimise_stiff_d : block->system->twice ? minimise_d : minimise_f)(block, h, iterations, work);
}

/* w = log(q q_oldᵀ) / h for `count` particles that stand one after the other. */
void PL_LANES(pl_oriented_spins)(int count, const float *q, const float *old, float scale, float *w)
{
    for (int first = 0; first < count; first += PL_W) {
        int lanes = count - first < PL_W ? count - first : PL_W;
        float in[8][PL_W] __attribute__((aligned(64)));
        for (int l = 0; l < PL_W; l++)
            for (int k = 0; k < 4; k++) {
                int i = first + (l < lanes ? l : 0);
                in[k][l] = q[4 * i + k];
                in[4 + k][l] = old[4 * i + k];
            }
        vf a[4], b[4], d[4], v[3];
        for (int k = 0; k < 4; k++) {
            a[k] = pl_load_f(in[k]);
            b[k] = pl_load_f(in[4 + k]);
        }
        /* q conj(old) */
        d[0] = a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]);
        d[1] = a[1] * b[3] - a[3] * b[1] - (a[2] * b[0] - a[0] * b[2]);
        d[2] = a[2] * b[3] - a[3] * b[2] - (a[0] * b[1] - a[1] * b[0]);
        d[3] = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
        pl_quat_log_f(d, v);
        for (int k = 0; k < 3; k++)
            pl_store_f(in[k], v[k] * pl_splat_f(scale));
        for (int l = 0; l < lanes; l++)
            for (int k = 0; k < 3; k++)
                w[3 * (first + l) + k] = in[k][l];
    }
}
