#include "io/motion.h"

#include <math.h>
#include <string.h>

/* ---- Rotations ------------------------------------------------------------------------------- */

/* Degrees reduce exactly to [−45°, 45°] and a quarter of the circle; there the Taylor series to
   x^17 is exact to the last bit or two. */
static void sine_cosine_degrees(double degrees, double *sine, double *cosine)
{
    double turn = fmod(degrees, 360.0);
    int quarter = (int)floor(turn / 90.0 + 0.5);
    double x = (turn - 90.0 * quarter) * (3.14159265358979323846 / 180.0), y = x * x;
    double s = 1, c = 1;
    for (int n = 16; n >= 2; n -= 2) {
        s = 1 - y / (double)(n * (n + 1)) * s;
        c = 1 - y / (double)(n * (n - 1)) * c;
    }
    s *= x;
    switch (quarter & 3) {
    case 0:
        *sine = s, *cosine = c;
        break;
    case 1:
        *sine = c, *cosine = -s;
        break;
    case 2:
        *sine = -s, *cosine = -c;
        break;
    default:
        *sine = -c, *cosine = s;
        break;
    }
}

void pl_quaternion_from_degrees(const double axis[3], double degrees, double out[4])
{
    double sine;
    sine_cosine_degrees(degrees / 2, &sine, &out[3]);
    for (int i = 0; i < 3; i++)
        out[i] = sine * axis[i];
}

void pl_quaternion_multiply(const double a[4], const double b[4], double out[4])
{
    double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

/* v + 2 w (u × v) + 2 u × (u × v), u the vector part. */
void pl_quaternion_rotate(const double q[4], const double v[3], double out[3])
{
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]),
                   2 * (q[0] * v[1] - q[1] * v[0])};
    double x = v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    double y = v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    double z = v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
    out[0] = x, out[1] = y, out[2] = z;
}

/* ---- Between keys ---------------------------------------------------------------------------- */

static double ease(double t, bool smooth)
{
    return smooth ? t * t * (3 - 2 * t) : t;
}

/* Along the great circle from a to b (unit, n ≤ 4 numbers, not opposite): the arc is halved, 50
   times, towards t. */
static void between_units(const double *a, const double *b, int n, double t, double *out)
{
    double low[4], high[4];
    memcpy(low, a, sizeof(double) * (size_t)n);
    memcpy(high, b, sizeof(double) * (size_t)n);
    for (int step = 0; step < 50; step++) {
        double middle[4], square = 0;
        for (int i = 0; i < n; i++) {
            middle[i] = low[i] + high[i];
            square += middle[i] * middle[i];
        }
        for (int i = 0; i < n; i++)
            middle[i] /= sqrt(square);
        bool upper = t >= 0.5;
        t = upper ? 2 * t - 1 : 2 * t;
        memcpy(upper ? low : high, middle, sizeof(double) * (size_t)n);
    }
    memcpy(out, t >= 0.5 ? high : low, sizeof(double) * (size_t)n);
}

/* The last key not later than `time` and how far it is to the next, 0 before the first and behind
   the last. */
static int find_key(const pl_motion *motion, double time, double *fraction)
{
    int low = 0, high = motion->key_count - 1;
    *fraction = 0;
    if (time <= motion->keys[0].time)
        return 0;
    if (time >= motion->keys[high].time)
        return high;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(motion->keys[middle].time <= time ? &low : &high) = middle;
    }
    double a = motion->keys[low].time, b = motion->keys[high].time;
    *fraction = ease((time - a) / (b - a), motion->smooth);
    return low;
}

static double turn_degrees(const pl_motion_turn *turn, double time)
{
    if (turn->key_count == 0) {
        double end = time < turn->to ? time : turn->to;
        return end > turn->from ? turn->speed * (end - turn->from) : 0;
    }
    int k = 0;
    while (k + 1 < turn->key_count && turn->keys[k + 1][0] <= time)
        k++;
    if (time <= turn->keys[0][0] || k + 1 == turn->key_count)
        return turn->keys[k][1];
    double a = turn->keys[k][0], b = turn->keys[k + 1][0];
    double t = ease((time - a) / (b - a), turn->smooth);
    return turn->keys[k][1] + (turn->keys[k + 1][1] - turn->keys[k][1]) * t;
}

/* ---- The motion ------------------------------------------------------------------------------ */

bool pl_motion_is_still(const pl_motion *motion)
{
    return motion->key_count == 0 && motion->turn_count == 0;
}

void pl_motion_position(const pl_motion *motion, double time, const double start[3], double out[3])
{
    memcpy(out, start, 3 * sizeof(double));
    if (motion->key_count > 0 && motion->has_vectors) {
        double t;
        int k = find_key(motion, time, &t);
        const double *a = motion->keys[k].vector, *b = t > 0 ? motion->keys[k + 1].vector : a;
        for (int i = 0; i < 3; i++)
            out[i] = (motion->relative ? start[i] : 0) + a[i] + (b[i] - a[i]) * t;
    }
    for (int k = 0; k < motion->turn_count; k++) {
        const pl_motion_turn *turn = &motion->turns[k];
        double q[4], arm[3];
        pl_quaternion_from_degrees(turn->axis, turn_degrees(turn, time), q);
        for (int i = 0; i < 3; i++)
            arm[i] = out[i] - turn->centre[i];
        pl_quaternion_rotate(q, arm, arm);
        for (int i = 0; i < 3; i++)
            out[i] = turn->centre[i] + arm[i];
    }
}

void pl_motion_direction(const pl_motion *motion, double time, const double start[3], double out[3])
{
    memcpy(out, start, 3 * sizeof(double));
    if (motion->key_count > 0 && motion->has_vectors) {
        double t;
        int k = find_key(motion, time, &t);
        memcpy(out, motion->keys[k].vector, 3 * sizeof(double));
        if (t > 0)
            between_units(motion->keys[k].vector, motion->keys[k + 1].vector, 3, t, out);
    }
    for (int k = 0; k < motion->turn_count; k++) {
        double q[4];
        pl_quaternion_from_degrees(motion->turns[k].axis, turn_degrees(&motion->turns[k], time), q);
        pl_quaternion_rotate(q, out, out);
    }
}

void pl_motion_rotation(const pl_motion *motion, double time, const double start[4], double out[4])
{
    memcpy(out, start, 4 * sizeof(double));
    if (motion->key_count > 0 && motion->has_rotations) {
        double t, q[4];
        int k = find_key(motion, time, &t);
        memcpy(q, motion->keys[k].rotation, sizeof q);
        if (t > 0) {
            /* q and −q are the same rotation: the one nearer to the first key gives the shorter
               way. */
            double next[4], dot = 0;
            for (int i = 0; i < 4; i++)
                dot += q[i] * motion->keys[k + 1].rotation[i];
            for (int i = 0; i < 4; i++)
                next[i] =
                    dot < 0 ? -motion->keys[k + 1].rotation[i] : motion->keys[k + 1].rotation[i];
            between_units(q, next, 4, t, q);
        }
        if (motion->relative)
            pl_quaternion_multiply(q, start, out);
        else
            memcpy(out, q, sizeof q);
    }
    for (int k = 0; k < motion->turn_count; k++) {
        double q[4];
        pl_quaternion_from_degrees(motion->turns[k].axis, turn_degrees(&motion->turns[k], time), q);
        pl_quaternion_multiply(q, out, out);
    }
}
