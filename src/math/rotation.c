/* Chooses, once per call, the compiled width of the whole-array rotations. */
#include "math/rotation_lanes.h"

#include "math/simd.h"

extern const pl_rotation_table pl_rotation_table_w4, pl_rotation_table_w8, pl_rotation_table_w16;

#define TABLE(width) [PL_SIMD_PLACE(width)] = &pl_rotation_table_w##width,

const pl_rotation_table *pl_rotation_table_of(int width)
{
    static const pl_rotation_table *const tables[] = {PL_SIMD_EACH(TABLE)};
    return pl_simd_supports(width) ? tables[PL_SIMD_PLACE(width)] : NULL;
}

void pl_rotations_fit(size_t count, const float *c, float *q)
{
    pl_rotation_table_of(pl_simd_width())->fit(count, c, q);
}

void pl_rotations_fit_double(size_t count, const double *c, double *q)
{
    pl_rotation_table_of(pl_simd_width())->fit_double(count, c, q);
}

void pl_svd3(size_t count, const float *c, float *u, float *s, float *v)
{
    pl_rotation_table_of(pl_simd_width())->svd(count, c, u, s, v);
}

void pl_svd3_double(size_t count, const double *c, double *u, double *s, double *v)
{
    pl_rotation_table_of(pl_simd_width())->svd_double(count, c, u, s, v);
}
