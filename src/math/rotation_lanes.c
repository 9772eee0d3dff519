/* Rotations, singular values and the lane helpers over whole arrays, compiled once per width. */
#include "math/rotation_lanes.h"

#define PL_REAL_IS_DOUBLE 0
#include "math/elementary.inl"
#include "math/rotation.inl"
#include "math/svd.inl"
#include "math/rotation_bulk.inl"
#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 1
#include "math/elementary.inl"
#include "math/rotation.inl"
#include "math/svd.inl"
#include "math/rotation_bulk.inl"
#undef PL_REAL_IS_DOUBLE

#if PL_W == 16
void pl_rotation_fit_columns_w16(int count, const float *c, float *q)
{
    pl_rotation_fit_columns_f(count, c, q);
}
#endif

static void gather(const float *const *rows, int count, float *out)
{
    pl_lanes_gather(rows, count, out);
}

static void scatter(const float *in, int count, float *const *rows)
{
    pl_lanes_scatter(in, count, rows);
}

static void gather_double(const float *const *rows, int count, double *out)
{
    pl_lanes_gather_d(rows, count, out);
}

static void scatter_double(const double *in, int count, float *const *rows)
{
    pl_lanes_scatter_d(in, count, rows);
}

extern const pl_rotation_table PL_LANES(pl_rotation_table);
const pl_rotation_table PL_LANES(pl_rotation_table) = {
    .width = PL_W,
    .fit = fit_f,
    .fit_double = fit_d,
    .svd = svd_f,
    .svd_double = svd_d,
    .log = log_f,
    .exp = exp_f,
    .spin = spin_f,
    .log_double = log_d,
    .exp_double = exp_d,
    .spin_double = spin_d,
    .gather = gather,
    .scatter = scatter,
    .gather_double = gather_double,
    .scatter_double = scatter_double,
};
