/* Vectors of three doubles in arrays, as shapes and colliders have them. */
#ifndef PL_CONTACT_THREE_H
#define PL_CONTACT_THREE_H

#include <math.h>
#include <stdbool.h>

static inline double pl_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void pl_subtract3(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static inline void pl_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* False, and nothing changed, where it has no length; of any size. */
static inline bool pl_normalise3(double v[3])
{
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0) || !isfinite(largest))
        return false;
    for (int k = 0; k < 3; k++)
        v[k] /= largest;
    double length = sqrt(pl_dot3(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return true;
}

/* Rᵀ v: into a frame. */
static inline void pl_into3(const double r[3][3], const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = r[0][k] * v[0] + r[1][k] * v[1] + r[2][k] * v[2];
}

/* R v: out of it. */
static inline void pl_out_of3(const double r[3][3], const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = r[k][0] * v[0] + r[k][1] * v[1] + r[k][2] * v[2];
}

/* fmax and fmin are calls. What is no number gives the second. */
static inline double pl_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double pl_smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
