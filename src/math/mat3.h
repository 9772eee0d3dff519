/* 3 × 3 matrices in double precision, m[row][column], for set-up and reference code. */
#ifndef PL_MATH_MAT3_H
#define PL_MATH_MAT3_H

#include <stdbool.h>

#include "math/vec3.h"

typedef struct pl_mat3 {
    double m[3][3];
} pl_mat3;

static inline pl_mat3 pl_m3_zero(void)
{
    return (pl_mat3){{{0}}};
}

static inline pl_mat3 pl_m3_diagonal(double a, double b, double c)
{
    return (pl_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}

static inline pl_mat3 pl_m3_identity(void)
{
    return pl_m3_diagonal(1, 1, 1);
}

static inline pl_mat3 pl_m3_from_columns(pl_vec3 a, pl_vec3 b, pl_vec3 c)
{
    return (pl_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline pl_vec3 pl_m3_column(pl_mat3 a, int j)
{
    return pl_v3(a.m[0][j], a.m[1][j], a.m[2][j]);
}

/* a bᵀ */
static inline pl_mat3 pl_m3_outer(pl_vec3 a, pl_vec3 b)
{
    return (pl_mat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                      {a.y * b.x, a.y * b.y, a.y * b.z},
                      {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

/* [a]×, with [a]× b = a × b */
static inline pl_mat3 pl_m3_cross(pl_vec3 a)
{
    return (pl_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

/* a + s b */
static inline pl_mat3 pl_m3_add_scaled(pl_mat3 a, double s, pl_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] += s * b.m[i][j];
    return a;
}

static inline pl_mat3 pl_m3_add(pl_mat3 a, pl_mat3 b)
{
    return pl_m3_add_scaled(a, 1, b);
}

static inline pl_mat3 pl_m3_sub(pl_mat3 a, pl_mat3 b)
{
    return pl_m3_add_scaled(a, -1, b);
}

static inline pl_mat3 pl_m3_scale(pl_mat3 a, double s)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] *= s;
    return a;
}

static inline pl_mat3 pl_m3_mul(pl_mat3 a, pl_mat3 b)
{
    pl_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

static inline pl_vec3 pl_m3_mul_v3(pl_mat3 a, pl_vec3 b)
{
    return pl_v3(a.m[0][0] * b.x + a.m[0][1] * b.y + a.m[0][2] * b.z,
                 a.m[1][0] * b.x + a.m[1][1] * b.y + a.m[1][2] * b.z,
                 a.m[2][0] * b.x + a.m[2][1] * b.y + a.m[2][2] * b.z);
}

static inline pl_mat3 pl_m3_transpose(pl_mat3 a)
{
    pl_mat3 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.m[i][j] = a.m[j][i];
    return t;
}

static inline double pl_m3_trace(pl_mat3 a)
{
    return a.m[0][0] + a.m[1][1] + a.m[2][2];
}

static inline double pl_m3_det(pl_mat3 a)
{
    return pl_v3_dot(pl_m3_column(a, 0), pl_v3_cross(pl_m3_column(a, 1), pl_m3_column(a, 2)));
}

/* False, with *inverse left alone, when the determinant is zero or not finite. */
static inline bool pl_m3_inverse(pl_mat3 a, pl_mat3 *inverse)
{
    pl_vec3 p = pl_m3_column(a, 0), q = pl_m3_column(a, 1), r = pl_m3_column(a, 2);
    double scale = 1 / pl_m3_det(a);
    if (!(scale - scale == 0) || scale == 0)
        return false;
    pl_mat3 rows = pl_m3_from_columns(pl_v3_cross(q, r), pl_v3_cross(r, p), pl_v3_cross(p, q));
    *inverse = pl_m3_scale(pl_m3_transpose(rows), scale);
    return true;
}

#endif
