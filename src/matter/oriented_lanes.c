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

static bool is_in_double(const pl_system *system, pl_solver solver, int iterations)
{
    return system->twice || solver == PL_SOLVER_STIFF || iterations >= PL_MANY_ITERATIONS;
}

int PL_LANES(pl_oriented_lanes)(const pl_system *system, pl_solver solver, int iterations)
{
    return is_in_double(system, solver, iterations) ? PL_WD : PL_W;
}

/* Side by side, half as many doubles take the same room as floats; alone they take twice as much. */
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

void PL_LANES(pl_oriented_solve)(const pl_block *block, double h, int iterations, pl_work *work)
{
    bool stiff = block->solver == PL_SOLVER_STIFF,
         twice = is_in_double(block->system, block->solver, iterations);
    if (block->lone)
        (stiff   ? minimise_stiff_lone_d
         : twice ? minimise_lone_d
                 : minimise_lone_f)(block, h, iterations, work);
    else
        (stiff ? minimise_stiff_d : twice ? minimise_d : minimise_f)(block, h, iterations, work);
}

/* Decaying numbers end at zero instead of in the slow subnormals; 10⁻¹² units per second move nothing. */
PL_LANES_INLINE vf settled(vf v)
{
    return pl_select_f(pl_abs_f(v) < pl_splat_f(1e-12f), pl_splat_f(0), v);
}

/* log(a conj(b)) of unit quaternions. */
PL_LANES_INLINE void spin_between(const vf a[4], const vf b[4], vf v[3])
{
    vf d[4];
    d[0] = a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]);
    d[1] = a[1] * b[3] - a[3] * b[1] - (a[2] * b[0] - a[0] * b[2]);
    d[2] = a[2] * b[3] - a[3] * b[2] - (a[0] * b[1] - a[1] * b[0]);
    d[3] = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
    pl_quat_log_f(d, v);
}

/* Four quaternion components of PL_W particles that stand one after the other; those beyond the last repeat it. */
PL_LANES_INLINE void load_quaternions(const float *q, int first, int count, vf out[4])
{
    const float *rows[PL_W];
    float buffer[4 * PL_W] __attribute__((aligned(64)));
    for (int l = 0; l < PL_W; l++)
        rows[l] = q + 4 * (size_t)(first + l < count ? first + l : count - 1);
    pl_lanes_gather(rows, 4, buffer);
    for (int k = 0; k < 4; k++)
        out[k] = pl_load_f(buffer + k * PL_W);
}

/* u = (x − x_old) rate and w = log(q q_oldᵀ) rate. Whole vectors are read and written: pl_memory rounds blocks up to
   their size. False when a number is not finite. */
bool PL_LANES(pl_oriented_velocities)(int count, const pl_state *now, const pl_state *old,
                                      float rate)
{
    vf check = pl_splat_f(0), scale = pl_splat_f(rate), zero = pl_splat_f(0);
    for (int i = 0; i < 3 * count; i += PL_W) {
        vf x = pl_load_f(now->x + i), u = settled((x - pl_load_f(old->x + i)) * scale);
        pl_store_f(now->u + i, u);
        check += (x + u) * zero;
    }
    for (int first = 0; first < count; first += PL_W) {
        vf q[4], before[4], w[3];
        float out[3][PL_W] __attribute__((aligned(64)));
        load_quaternions(now->q, first, count, q);
        load_quaternions(old->q, first, count, before);
        spin_between(q, before, w);
        check += ((q[0] + q[1]) + (q[2] + q[3])) * zero;
        for (int k = 0; k < 3; k++) {
            w[k] = settled(w[k] * scale);
            check += w[k] * zero;
            pl_store_f(out[k], w[k]);
        }
        int lanes = count - first < PL_W ? count - first : PL_W;
        for (int l = 0; l < lanes; l++)
            for (int k = 0; k < 3; k++)
                now->w[3 * (first + l) + k] = out[k][l];
    }
    return pl_all_f(check == zero);
}
