/* Oriented particles with targets at one vector width: the text of oriented_solve.inl with the
   edges of posed_solve.inl, for a body alone. */
#include "matter/posed_lanes.h"

#include "math/lanes.h"

#define PL_POSED

#define LONE 1
#define PL_REAL_IS_DOUBLE 0
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"
#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 1
#include "matter/oriented_solve.inl"
#include "matter/oriented_anderson.inl"

size_t PL_LANES(pl_posed_scratch)(const pl_system *system)
{
    context_lone_d context;
    return lay_out_lone_d(&context, system->n, PL_SOLVER_FAST, NULL);
}

void PL_LANES(pl_posed_solve)(const pl_block *block, double h, int iterations, pl_work *work)
{
    bool twice = block->system->twice || iterations >= PL_MANY_ITERATIONS;
    (twice ? minimise_lone_d : minimise_lone_f)(block, h, iterations, work);
    PL_LANES_LEAVE();
}

#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"

/* (d̃, Q̃) = rest + flowed + blend, of sixteen edges in one direction. */
static void retarget_block(const float *rest, float sign, const float *flowed, const float *blend,
                           float *target)
{
    for (int l = 0; l < PL_POSED_LANES; l += PL_W) {
        vf turn[3], q[4];
        for (int k = 0; k < 3; k++) {
            int d = PL_POSED_LANES * k + l, t = PL_POSED_LANES * (3 + k) + l;
            vf shift = vr_load(flowed + d) + vr_load(blend + d);
            vr_store(target + d, vr_splat(sign) * vr_load(rest + d) + shift);
            turn[k] = vr_load(flowed + t) + vr_load(blend + t);
        }
        pl_quat_exp_f(turn, q);
        for (int k = 0; k < 4; k++)
            vr_store(target + PL_POSED_LANES * (3 + k) + l, q[k]);
    }
}

void PL_LANES(pl_posed_retarget)(pl_posed *posed)
{
    for (size_t block = 0; block < 2 * (size_t)posed->blocks; block++) {
        size_t at = block % (size_t)posed->blocks, six = block * PL_POSED_WIDTH * PL_POSED_LANES;
        retarget_block(posed->rest + at * 3 * PL_POSED_LANES,
                       block < (size_t)posed->blocks ? 1.0f : -1.0f, posed->flowed + six,
                       posed->blend + six,
                       posed->target + block * PL_POSED_TARGETS * PL_POSED_LANES);
    }
    posed->stale = true;
    PL_LANES_LEAVE();
}

/* e of posed.h from x [n][3] and q [n][4]; d and u of all edges are left in posed->measured, as
   floats. */
void PL_LANES(pl_posed_strains)(pl_posed *posed, const float *x, const float *q)
{
    float in[11][PL_POSED_LANES] __attribute__((aligned(64)));
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const int32_t *a = posed->ends + 2 * PL_POSED_LANES * block, *b = a + PL_POSED_LANES;
        const float *shape = posed->shape + block * PL_POSED_CONSTANTS * PL_POSED_LANES;
        const float *forward = posed->target + block * PL_POSED_TARGETS * PL_POSED_LANES;
        const float *backward = forward + (size_t)posed->blocks * PL_POSED_TARGETS * PL_POSED_LANES;
        float *measured = (float *)posed->measured + block * PL_POSED_MEASURES * PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES; l++) {
            for (int k = 0; k < 3; k++)
                in[k][l] = x[3 * b[l] + k] - x[3 * a[l] + k];
            for (int k = 0; k < 4; k++)
                in[3 + k][l] = q[4 * a[l] + k], in[7 + k][l] = q[4 * b[l] + k];
        }
        measure_block_lone_f(in, measured);
        for (int l = 0; l < PL_POSED_LANES; l += PL_W) {
            vf sum = pose_terms_lone_f(shape + l, measured + l, forward + l, backward + l);
            vr_store(posed->strain + block * PL_POSED_LANES + l, vr_sqrt(sum));
        }
    }
    PL_LANES_LEAVE();
}
