/* Quaternions (x, y, z, w) in double precision, for set-up and reference code. A unit quaternion is
   the rotation v ↦ q v q⁻¹; products apply the right factor first. */
#ifndef PL_MATH_QUAT_H
#define PL_MATH_QUAT_H

#include "math/elementary.h"
#include "math/mat3.h"

typedef struct pl_quat {
    double x, y, z, w;
} pl_quat;

static inline pl_quat pl_quat_identity(void)
{
    return (pl_quat){0, 0, 0, 1};
}

static inline pl_quat pl_quat_mul(pl_quat a, pl_quat b)
{
    return (pl_quat){a.w * b.x + b.w * a.x + (a.y * b.z - a.z * b.y),
                     a.w * b.y + b.w * a.y + (a.z * b.x - a.x * b.z),
                     a.w * b.z + b.w * a.z + (a.x * b.y - a.y * b.x),
                     a.w * b.w - (a.x * b.x + a.y * b.y + a.z * b.z)};
}

static inline pl_quat pl_quat_conjugate(pl_quat a)
{
    return (pl_quat){-a.x, -a.y, -a.z, a.w};
}

static inline double pl_quat_dot(pl_quat a, pl_quat b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/* The identity when a is zero. */
static inline pl_quat pl_quat_normalise(pl_quat a)
{
    double length = sqrt(pl_quat_dot(a, a));
    if (!(length > 0))
        return pl_quat_identity();
    return (pl_quat){a.x / length, a.y / length, a.z / length, a.w / length};
}

static inline pl_mat3 pl_quat_to_m3(pl_quat q)
{
    double x = q.x, y = q.y, z = q.z, w = q.w;
    return (pl_mat3){{{w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z}}};
}

static inline pl_vec3 pl_quat_rotate(pl_quat q, pl_vec3 v)
{
    return pl_m3_mul_v3(pl_quat_to_m3(q), v);
}

/* From a rotation matrix, by the largest of the four squares, so that nothing small is divided
   by. */
static inline pl_quat pl_quat_from_m3(pl_mat3 r)
{
    double a = r.m[0][0], b = r.m[1][1], c = r.m[2][2], x, y, z, w;
    if (a + b + c > 0) {
        w = 1 + a + b + c, x = r.m[2][1] - r.m[1][2], y = r.m[0][2] - r.m[2][0],
        z = r.m[1][0] - r.m[0][1];
    } else if (a >= b && a >= c) {
        x = 1 + a - b - c, w = r.m[2][1] - r.m[1][2], y = r.m[0][1] + r.m[1][0],
        z = r.m[0][2] + r.m[2][0];
    } else if (b >= c) {
        y = 1 - a + b - c, w = r.m[0][2] - r.m[2][0], x = r.m[0][1] + r.m[1][0],
        z = r.m[1][2] + r.m[2][1];
    } else {
        z = 1 - a - b + c, w = r.m[1][0] - r.m[0][1], x = r.m[0][2] + r.m[2][0],
        y = r.m[1][2] + r.m[2][1];
    }
    return pl_quat_normalise((pl_quat){x, y, z, w});
}

/* By an angle in radians about an axis of any length; the identity when the axis is zero. */
static inline pl_quat pl_quat_axis_angle(pl_vec3 axis, double angle)
{
    pl_vec3 unit = pl_v3_normalise(axis);
    double s = pl_sin(0.5 * angle);
    if (pl_v3_length2(unit) == 0)
        return pl_quat_identity();
    return (pl_quat){unit.x * s, unit.y * s, unit.z * s, pl_cos(0.5 * angle)};
}

#endif
