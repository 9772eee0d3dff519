/* Vectors in double precision, for set-up and reference code; kernels have lanes. */
#ifndef PL_MATH_VEC3_H
#define PL_MATH_VEC3_H

#include <math.h>

typedef struct pl_vec3 {
    double x, y, z;
} pl_vec3;

static inline pl_vec3 pl_v3(double x, double y, double z)
{
    return (pl_vec3){x, y, z};
}

static inline pl_vec3 pl_v3_add(pl_vec3 a, pl_vec3 b)
{
    return pl_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline pl_vec3 pl_v3_sub(pl_vec3 a, pl_vec3 b)
{
    return pl_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline pl_vec3 pl_v3_neg(pl_vec3 a)
{
    return pl_v3(-a.x, -a.y, -a.z);
}

static inline pl_vec3 pl_v3_scale(pl_vec3 a, double s)
{
    return pl_v3(a.x * s, a.y * s, a.z * s);
}

/* a + s b */
static inline pl_vec3 pl_v3_add_scaled(pl_vec3 a, double s, pl_vec3 b)
{
    return pl_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double pl_v3_dot(pl_vec3 a, pl_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline pl_vec3 pl_v3_cross(pl_vec3 a, pl_vec3 b)
{
    return pl_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double pl_v3_length2(pl_vec3 a)
{
    return pl_v3_dot(a, a);
}

static inline double pl_v3_length(pl_vec3 a)
{
    return sqrt(pl_v3_length2(a));
}

static inline double pl_v3_distance(pl_vec3 a, pl_vec3 b)
{
    return pl_v3_length(pl_v3_sub(a, b));
}

/* Unit length; the zero vector stays. */
static inline pl_vec3 pl_v3_normalise(pl_vec3 a)
{
    double length = pl_v3_length(a);
    return length > 0 ? pl_v3_scale(a, 1 / length) : a;
}

static inline pl_vec3 pl_v3_min(pl_vec3 a, pl_vec3 b)
{
    return pl_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static inline pl_vec3 pl_v3_max(pl_vec3 a, pl_vec3 b)
{
    return pl_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static inline pl_vec3 pl_v3_from_floats(const float *p)
{
    return pl_v3((double)p[0], (double)p[1], (double)p[2]);
}

static inline void pl_v3_to_floats(pl_vec3 a, float *p)
{
    p[0] = (float)a.x, p[1] = (float)a.y, p[2] = (float)a.z;
}

#endif
