/* Arrays of matrices and quaternions through the lanes, for rotation_lanes.c: template for floats
   and doubles. The last group is filled up with zero matrices and identity quaternions. */
#include "math/lanes_real.inl"

/* lanes[k * width + lane] = rows[lane * size + k], for `count` rows; absent rows are given as
   `rest`. */
static void PL_R(load_rows)(const REAL *rows, size_t count, int size, const REAL *rest, REAL *lanes)
{
#if !PL_REAL_IS_DOUBLE
    const float *pointers[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        pointers[lane] = (size_t)lane < count ? rows + lane * size : rest;
    pl_lanes_gather(pointers, size, lanes);
#else
    for (int lane = 0; lane < PL_WR; lane++)
        for (int k = 0; k < size; k++)
            lanes[k * PL_WR + lane] = (size_t)lane < count ? rows[lane * size + k] : rest[k];
#endif
}

static void PL_R(store_rows)(const REAL *lanes, size_t count, int size, REAL *rows)
{
#if !PL_REAL_IS_DOUBLE
    float spare[PL_W][9], *pointers[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        pointers[lane] = (size_t)lane < count ? rows + lane * size : spare[lane];
    pl_lanes_scatter(lanes, size, pointers);
#else
    for (int lane = 0; lane < PL_WR && (size_t)lane < count; lane++)
        for (int k = 0; k < size; k++)
            rows[lane * size + k] = lanes[k * PL_WR + lane];
#endif
}

static const REAL PL_R(no_matrix)[9] = {0};
static const REAL PL_R(no_rotation)[4] = {0, 0, 0, 1};

static void PL_R(fit)(size_t count, const REAL *c, REAL *q)
{
    VR matrix[9], rotation[4];
    for (size_t i = 0; i < count; i += PL_WR) {
        PL_R(load_rows)(c + 9 * i, count - i, 9, PL_R(no_matrix), (REAL *)matrix);
        PL_R(load_rows)(q + 4 * i, count - i, 4, PL_R(no_rotation), (REAL *)rotation);
        PL_R(pl_rotation_fit)(matrix, rotation);
        PL_R(store_rows)((const REAL *)rotation, count - i, 4, q + 4 * i);
    }
}

static void PL_R(svd)(size_t count, const REAL *c, REAL *u, REAL *s, REAL *v)
{
    VR matrix[9], left[9], values[3], right[9];
    for (size_t i = 0; i < count; i += PL_WR) {
        VR q[4] = {vr_splat(0), vr_splat(0), vr_splat(0), vr_splat(1)};
        PL_R(load_rows)(c + 9 * i, count - i, 9, PL_R(no_matrix), (REAL *)matrix);
        PL_R(pl_svd3)(matrix, q, left, values, right);
        PL_R(store_rows)((const REAL *)left, count - i, 9, u + 9 * i);
        PL_R(store_rows)((const REAL *)values, count - i, 3, s + 3 * i);
        PL_R(store_rows)((const REAL *)right, count - i, 9, v + 9 * i);
    }
}

static void PL_R(log)(size_t count, const REAL *q, REAL *v)
{
    VR rotation[4], vector[3];
    for (size_t i = 0; i < count; i += PL_WR) {
        PL_R(load_rows)(q + 4 * i, count - i, 4, PL_R(no_rotation), (REAL *)rotation);
        PL_R(pl_quat_log)(rotation, vector);
        PL_R(store_rows)((const REAL *)vector, count - i, 3, v + 3 * i);
    }
}

static void PL_R(exp)(size_t count, const REAL *v, REAL *q)
{
    VR rotation[4], vector[3];
    for (size_t i = 0; i < count; i += PL_WR) {
        PL_R(load_rows)(v + 3 * i, count - i, 3, PL_R(no_matrix), (REAL *)vector);
        PL_R(pl_quat_exp)(vector, rotation);
        PL_R(store_rows)((const REAL *)rotation, count - i, 4, q + 4 * i);
    }
}

static void PL_R(spin)(size_t count, const REAL *v, REAL *q)
{
    VR rotation[4], vector[3];
    for (size_t i = 0; i < count; i += PL_WR) {
        PL_R(load_rows)(v + 3 * i, count - i, 3, PL_R(no_matrix), (REAL *)vector);
        PL_R(pl_quat_of_spin)(vector, rotation);
        PL_R(store_rows)((const REAL *)rotation, count - i, 4, q + 4 * i);
    }
}
