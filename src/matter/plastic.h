/* The rules by which matter flows and tears, for one 3 × 3 gradient, in doubles: shared by all
   kinds of matter that have one (clusters and tetrahedra). Splitting a cluster by what the second
   rule says is the cluster's business. */
#ifndef PL_MATTER_PLASTIC_H
#define PL_MATTER_PLASTIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/elementary.h"
#include "math/mat3.h"
#include "math/rotation_lanes.h"

/* s1 / |s3| of a matrix; infinite for a singular one or one that is not finite. */
static inline double pl_condition(pl_mat3 a)
{
    double u[9], s[3], v[9];
    pl_svd3_double(1, &a.m[0][0], u, s, v);
    double least = fabs(s[2]);
    return least > 0 && s[0] < (double)INFINITY ? s[0] / least : (double)INFINITY;
}

/* Below this part of the largest, a singular value is nearly zero, and nothing flows. */
#define PL_FLATTEST 1e-3

/* a^−⅓ of a positive normal number, to a few units in the last place: a guess at a third of the
   exponent, three hundredths off, and twice the series of y (1 − r)^−⅓ with what is left, r = 1 − a
   y³. */
static inline double pl_inverse_cube_root(double a)
{
    uint64_t bits;
    double y;
    memcpy(&bits, &a, sizeof bits);
    bits = 0x553ef0ff289dd796 - bits / 3;
    memcpy(&y, &bits, sizeof y);
    for (int i = 0; i < 2; i++) {
        double r = 1 - a * y * y * y;
        y += y * r * (1.0 / 3 + r * (2.0 / 9 + r * (14.0 / 81)));
    }
    return y;
}

/* det^−⅓ of what should be 1. */
static inline double pl_plastic_scale(double det)
{
    return det > 1e-6 && det < 1e6 ? pl_inverse_cube_root(det) : 1;
}

/* V diag(e) Vᵀ Fᵖ at determinant one. */
static inline pl_mat3 pl_plastic_deform(const double v[9], const double e[3], pl_mat3 plastic)
{
    pl_mat3 a;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] = v[3 * i] * e[0] * v[3 * j] + v[3 * i + 1] * e[1] * v[3 * j + 1] +
                        v[3 * i + 2] * e[2] * v[3 * j + 2];
    a = pl_m3_mul(a, plastic);
    return pl_m3_scale(a, pl_plastic_scale(pl_m3_det(a)));
}

/* Fᵖ after a sub-step in which the elastic part is Fᵉ = U diag(s) Vᵀ (METHODS §2). False where
   nothing flows.

   F* = Σ / det(Σ)^⅓ has determinant one, and so has F*^γ: two logarithms do. Where s1 / s3 − 1 is
   below limit / √3, ‖F* − I‖ is below the limit: most need no root. */
static inline bool pl_plastic_flow(const double s[3], const double v[9], double rate, double limit,
                                   pl_mat3 *plastic)
{
    double star[3], e[3], measure = 0;
    if (s[2] <= PL_FLATTEST * s[0] || (s[0] - s[2]) * 1.7321 <= s[2] * limit)
        return false;
    double unit = 1 / s[0], scale = pl_inverse_cube_root((s[1] * unit) * (s[2] * unit));
    for (int k = 0; k < 3; k++) {
        star[k] = (s[k] * unit) * scale;
        measure += (star[k] - 1) * (star[k] - 1);
    }
    measure = sqrt(measure);
    if (!(measure > limit && measure < (double)INFINITY))
        return false;
    double gamma = rate * (measure - limit) / measure;
    for (int k = 0; k < 2; k++)
        e[k] = pl_exp((gamma < 1 ? gamma : 1) * pl_log(star[k]));
    e[2] = 1 / (e[0] * e[1]);
    *plastic = pl_plastic_deform(v, e, *plastic);
    return true;
}

/* What is accumulated for hardening: a + h ‖Fᵉ − I‖ on Σ. */
static inline float pl_plastic_worked(float worked, const double s[3], double h)
{
    double strain = 0;
    for (int k = 0; k < 3; k++)
        strain += (s[k] - 1) * (s[k] - 1);
    double sum = (double)worked + h * sqrt(strain);
    return sum < 1e30 ? (float)sum : 1e30f;
}

/* The largest stretch of an elastic gradient, and its direction in the world: the first column of
   U. */
static inline double pl_largest_stretch(pl_mat3 elastic, pl_vec3 *direction)
{
    double u[9], s[3], v[9];
    pl_svd3_double(1, &elastic.m[0][0], u, s, v);
    *direction = pl_v3(u[0], u[3], u[6]);
    return s[0];
}

/* A plane with the normal n in the world has this unit normal in the rest space of the gradient
   F. */
static inline pl_vec3 pl_rest_normal(pl_mat3 gradient, pl_vec3 n)
{
    return pl_v3_normalise(pl_m3_mul_v3(pl_m3_transpose(gradient), n));
}

#endif
