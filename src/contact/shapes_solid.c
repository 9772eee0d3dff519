/* Ellipsoids against boxes, spheres and capsules. Boxes by the faces that are seen; spheres by the
   distance of closest approach (Perram & Wertheim 1985), in double and to convergence; a capsule is
   the one of its spheres that is approached nearest. */
#include <math.h>
#include <string.h>

#include "contact/shapes.h"
#include "contact/three.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Where a way first enters the box |p_k| <= half_k: the part of the way and the face (axis, sign),
   or 2. */
static double enter_box(const double from[3], const double at[3], const double half[3], int *axis,
                        double *sign)
{
    double first = -INFINITY, last = INFINITY;
    for (int k = 0; k < 3; k++) {
        double way = at[k] - from[k];
        if (way == 0) {
            if (fabs(from[k]) > half[k])
                return 2;
            continue;
        }
        double face = way > 0 ? -half[k] : half[k], in = (face - from[k]) / way,
               out = (-face - from[k]) / way;
        if (in > first) {
            first = in;
            *axis = k;
            *sign = way > 0 ? -1 : 1;
        }
        last = fmin(last, out);
    }
    return first <= last && first >= 0 && first <= 1 ? first : 2;
}

static bool face_barrier(const pl_ball *ball, const double half[3], int axis, double sign,
                         pl_barrier *barrier)
{
    double normal[3] = {0, 0, 0}, point[3] = {0, 0, 0};
    normal[axis] = sign;
    point[axis] = sign * half[axis];
    return pl_set_barrier(ball, normal, point, barrier);
}

bool pl_is_in_box(const double p[3], const double half[3])
{
    return fabs(p[0]) <= half[0] && fabs(p[1]) <= half[1] && fabs(p[2]) <= half[2];
}

/* Out through the face that is nearest. */
static bool leave_box(const pl_ball *ball, const double half[3], pl_barrier *barrier)
{
    double least = INFINITY;
    for (int k = 0; k < 3; k++)
        for (int s = -1; s <= 1; s += 2) {
            pl_barrier other;
            face_barrier(ball, half, k, s, &other);
            if (other.overlap < least) {
                least = other.overlap;
                *barrier = other;
            }
        }
    return barrier->overlap > 0;
}

/* The face with this axis and sign as two triangles; of large faces only what is within reach of
   the centre along each axis. */
static void face_triangle(const pl_ball *ball, const double half[3], double reach, int axis,
                          double sign, int which, double out[3][3])
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    static const int ends[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = fmax(-half[k], fmin(half[k], ball->at[k] - reach));
        high[k] = fmax(-half[k], fmin(half[k], ball->at[k] + reach));
    }
    for (int i = 0; i < 3; i++) {
        out[i][axis] = sign * half[axis];
        out[i][u] = ends[which][i][0] ? high[u] : low[u];
        out[i][v] = ends[which][i][1] ? high[v] : low[v];
    }
}

/* The plane at the point of the box that is nearest in the ellipsoid's measure, if that is below
   `most`. Where that may be: no farther from the centre than the ellipsoid is wide, that many
   times. Centres inside have none. */
static bool nearest_of_box(const pl_ball *ball, const double half[3], double most,
                           pl_barrier *barrier)
{
    double point[3], near[3], nearest = most, reach = sqrt(most) * ball->radius;
    for (int k = 0; k < 3; k++) {
        if (fabs(ball->at[k]) <= half[k])
            continue;
        for (int which = 0; which < 2; which++) {
            double corners[3][3];
            face_triangle(ball, half, reach, k, ball->at[k] > 0 ? 1 : -1, which, corners);
            double measure = pl_nearest_on_triangle(ball, corners, point, near);
            if (measure >= nearest)
                continue;
            pl_set_barrier(ball, near, point, barrier);
            nearest = measure;
        }
    }
    return nearest < most;
}

/* ---- Spheres and capsules -------------------------------------------------------------------- */

/* The distance of closest approach along n to a sphere: METHODS §1 with B₂ = r² I, in double and to
   convergence. */
static double approach_sphere(const pl_ball *ball, double radius, const double n[3],
                              double normal[3])
{
    const double *b = ball->shape;
    double s = 0.5, best = INFINITY, r2 = fmax(radius * radius, 1e-12 * (b[0] + b[3] + b[5]));
    for (int i = 0; i < 12; i++) {
        double t = 1 - s, xx = t * b[0] + s * r2, yy = t * b[3] + s * r2, zz = t * b[5] + s * r2;
        double xy = t * b[1], xz = t * b[2], yz = t * b[4];
        double axx = yy * zz - yz * yz, axy = xz * yz - xy * zz, axz = xy * yz - xz * yy;
        double ayy = xx * zz - xz * xz, ayz = xy * xz - xx * yz, azz = xx * yy - xy * xy;
        double det = xx * axx + xy * axy + xz * axz;
        double y[3] = {axx * n[0] + axy * n[1] + axz * n[2], axy * n[0] + ayy * n[1] + ayz * n[2],
                       axz * n[0] + ayz * n[1] + azz * n[2]};
        double square = det / (s * t * pl_dot3(n, y));
        double ball_form = b[0] * y[0] * y[0] + b[3] * y[1] * y[1] + b[5] * y[2] * y[2] +
                           2 * (b[1] * y[0] * y[1] + b[2] * y[0] * y[2] + b[4] * y[1] * y[2]);
        double one = sqrt(fmax(ball_form, 0)), two = sqrt(r2 * pl_dot3(y, y));
        if (square < best) {
            best = square;
            memcpy(normal, y, 3 * sizeof *y);
        }
        s = one / (one + two);
        s = s < 1e-9 ? 1e-9 : s > 1 - 1e-9 ? 1 - 1e-9 : s;
    }
    return sqrt(best);
}

/* Where a way first comes within `radius` of a point; 2 = never. */
static double enter_sphere(const double from[3], const double at[3], const double centre[3],
                           double radius)
{
    double start[3], way[3];
    pl_subtract3(from, centre, start);
    pl_subtract3(at, from, way);
    double a = pl_dot3(way, way), b = pl_dot3(start, way),
           c = pl_dot3(start, start) - radius * radius;
    double under = b * b - a * c;
    if (c <= 0 || b >= 0 || under < 0 || !(a > 0))
        return 2;
    double t = (-b - sqrt(under)) / a;
    return t <= 1 ? t : 2;
}

/* Where a way first enters the capsule, a sphere where `half` is 0: its caps, or its side between
   them. *height: of the sphere it enters. */
static double enter_capsule(const pl_ball *ball, double radius, double half, double *height)
{
    double from[3] = {ball->from[0], 0, ball->from[2]}, at[3] = {ball->at[0], 0, ball->at[2]};
    double axis[3] = {0, 0, 0}, first = enter_sphere(from, at, axis, radius);
    *height = ball->from[1] + first * (ball->at[1] - ball->from[1]);
    if (first <= 1 && fabs(*height) <= half)
        return first;
    first = 2;
    for (int side = -1; side <= 1; side += 2) {
        double cap[3] = {0, side * half, 0}, t = enter_sphere(ball->from, ball->at, cap, radius);
        if (t < first) {
            first = t;
            *height = cap[1];
        }
    }
    return first;
}

/* The line of centres at a place of the way, its length, and the distance of closest approach along
   it with the normal of the surfaces there. */
typedef struct approach {
    double distance, closest, normal[3];
} approach;

static approach approach_at(const pl_ball *ball, const double at[3], const double centre[3],
                            double radius)
{
    double n[3];
    approach a;
    pl_subtract3(at, centre, n);
    a.distance = sqrt(pl_dot3(n, n));
    if (!pl_normalise3(n))
        n[1] = 1;
    /* As good as flat: rounding would tell more than curvature. */
    if (radius > 1e5 * ball->radius) {
        memcpy(a.normal, n, sizeof n);
        a.closest = radius + pl_ball_half_width(ball, n);
        return a;
    }
    a.closest = approach_sphere(ball, radius, n, a.normal);
    if (!pl_normalise3(a.normal))
        memcpy(a.normal, n, sizeof n);
    return a;
}

static bool sphere_barrier(const pl_ball *ball, const double centre[3], double radius,
                           const double normal[3], pl_barrier *barrier)
{
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = centre[k] + radius * normal[k];
    return pl_set_barrier(ball, normal, point, barrier);
}

static void place_on_way(const pl_ball *ball, double t, double at[3])
{
    for (int k = 0; k < 3; k++)
        at[k] = ball->from[k] + t * (ball->at[k] - ball->from[k]);
}

/* What went in at the part t of its way stays outside of the plane it went in through. */
static bool entry_barrier(const pl_ball *ball, const double centre[3], double radius, double t,
                          pl_barrier *barrier)
{
    double n[3], at[3];
    place_on_way(ball, t, at);
    pl_subtract3(at, centre, n);
    bool in = pl_normalise3(n) && sphere_barrier(ball, centre, radius, n, barrier);
    barrier->met = true;
    return in;
}

/* n · way of the centre. */
static double way_along(const pl_ball *ball, const double n[3])
{
    double way[3];
    pl_subtract3(ball->at, ball->from, way);
    return pl_dot3(n, way);
}

/* ---- Capsules -------------------------------------------------------------------------------- */

bool pl_is_in_capsule(const double p[3], double radius, double half)
{
    double over = fmax(fabs(p[1]) - half, 0);
    return p[0] * p[0] + p[2] * p[2] + over * over < radius * radius;
}

/* Of the spheres along the axis the one that is approached nearest: there the normal is at right
   angles to the axis, or it is a cap. The measure is convex along the axis, so its slope, whose
   sign is that of the normal's y, has one zero: regula falsi (Illinois). */
static approach nearest_of_capsule(const pl_ball *ball, double radius, double half, double *height)
{
    double low = -half, high = half;
    approach a = approach_at(ball, ball->at, (double[3]){0, low, 0}, radius);
    double slope_low = a.normal[1], slope_high;
    *height = low;
    if (half == 0 || slope_low <= 0)
        return a;
    a = approach_at(ball, ball->at, (double[3]){0, high, 0}, radius);
    slope_high = a.normal[1];
    *height = high;
    if (slope_high >= 0)
        return a;
    for (int i = 0, side = 0; i < 24; i++) {
        *height = (low * slope_high - high * slope_low) / (slope_high - slope_low);
        a = approach_at(ball, ball->at, (double[3]){0, *height, 0}, radius);
        if (fabs(a.normal[1]) < 1e-6)
            break;
        if (a.normal[1] > 0) {
            low = *height;
            slope_low = a.normal[1];
            slope_high *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            high = *height;
            slope_high = a.normal[1];
            slope_low *= side == -1 ? 0.5 : 1;
            side = -1;
        }
    }
    return a;
}

/* ---- On the way ------------------------------------------------------------------------------ */

/* Further than half of its half width along its way. */
static bool is_fast(const pl_ball *ball)
{
    double way[3];
    pl_subtract3(ball->at, ball->from, way);
    double square = pl_dot3(way, way);
    if (!(square > 0) || !pl_normalise3(way))
        return false;
    double half = pl_ball_half_width(ball, way);
    return square > 0.25 * half * half;
}

/* A box, or with a radius a capsule of that half height. */
typedef struct solid {
    const double *box;
    double radius, height;
} solid;

/* The part of its way at which the sphere around the ellipsoid may first touch; 2 = never. */
static double come_near(const pl_ball *ball, const solid *s)
{
    double grown[3], reach = s->radius + ball->radius, sign, height;
    int axis;
    for (int k = 0; k < 3 && s->box; k++)
        grown[k] = s->box[k] + ball->radius;
    if (s->box)
        return pl_is_in_box(ball->from, grown)
                   ? 0
                   : enter_box(ball->from, ball->at, grown, &axis, &sign);
    return pl_is_in_capsule(ball->from, reach, s->height)
               ? 0
               : enter_capsule(ball, reach, s->height, &height);
}

/* The plane between the ellipsoid where it is and the solid; overlap below 0: how far it is from
   there. False where the two touch. */
static bool plane_between(const pl_ball *ball, const solid *s, pl_barrier *barrier)
{
    double height;
    if (s->box) {
        double corner[3][3], unused[3], point[3];
        for (int k = 0; k < 3; k++)
            corner[0][k] = corner[1][k] = corner[2][k] =
                fmax(-s->box[k], fmin(s->box[k], ball->at[k]));
        double most = pl_nearest_on_triangle(ball, corner, point, unused);
        return nearest_of_box(ball, s->box, 1.001 * most, barrier) && !(barrier->overlap > 0);
    }
    approach a = nearest_of_capsule(ball, s->radius, s->height, &height);
    sphere_barrier(ball, (double[3]){0, height, 0}, s->radius, a.normal, barrier);
    return a.distance > a.closest;
}

/* Where the ellipsoid first touches on its way: from where its sphere comes near it goes on to the
   plane that is between the two, again and again. It cannot touch before it is there. False where
   it touches to begin with, or never. */
static bool meet_on_the_way(const pl_ball *ball, const solid *s, pl_barrier *barrier)
{
    enum { ROUNDS = 12 };
    const double enough = 1e-3;
    double t = come_near(ball, s);
    pl_barrier next, last;
    pl_ball there = *ball;
    for (int round = 0; round < ROUNDS && t <= 1; round++) {
        place_on_way(ball, t, there.at);
        if (!plane_between(&there, s, &next)) {
            if (round == 0)
                return false;
            break;
        }
        last = next;
        double speed = -way_along(ball, next.normal);
        if (!(speed > 0))
            return false;
        t -= next.overlap / speed;
        if (-next.overlap < enough * pl_ball_half_width(ball, next.normal))
            break;
    }
    if (!(t <= 1) || !pl_set_barrier(ball, last.normal, last.point, barrier))
        return false;
    barrier->met = true;
    return true;
}

bool pl_ball_on_box(const pl_ball *ball, const double half[3], pl_barrier *barrier)
{
    int axis = 0;
    double sign = 1;
    if (is_fast(ball) && meet_on_the_way(ball, &(solid){.box = half}, barrier))
        return true;
    if (!pl_is_in_box(ball->from, half) &&
        enter_box(ball->from, ball->at, half, &axis, &sign) <= 1) {
        bool below = face_barrier(ball, half, axis, sign, barrier);
        barrier->met = true;
        return below;
    }
    if (pl_is_in_box(ball->at, half))
        return leave_box(ball, half, barrier);
    for (int k = 0; k < 3; k++)
        if (fabs(ball->at[k]) - half[k] > ball->radius)
            return false;
    return nearest_of_box(ball, half, 1, barrier) && barrier->overlap > 0;
}

bool pl_ball_on_sphere(const pl_ball *ball, double radius, pl_barrier *barrier)
{
    const double centre[3] = {0, 0, 0};
    if (is_fast(ball) && meet_on_the_way(ball, &(solid){.radius = radius}, barrier))
        return true;
    double t = enter_sphere(ball->from, ball->at, centre, radius);
    if (t <= 1)
        return entry_barrier(ball, centre, radius, t, barrier);
    approach a = approach_at(ball, ball->at, centre, radius);
    return a.distance < a.closest && sphere_barrier(ball, centre, radius, a.normal, barrier);
}

bool pl_ball_on_capsule(const pl_ball *ball, double radius, double half, pl_barrier *barrier)
{
    double height, t = 2;
    if (is_fast(ball) && meet_on_the_way(ball, &(solid){.radius = radius, .height = half}, barrier))
        return true;
    if (!pl_is_in_capsule(ball->from, radius, half))
        t = enter_capsule(ball, radius, half, &height);
    if (t <= 1)
        return entry_barrier(ball, (double[3]){0, height, 0}, radius, t, barrier);
    approach a = nearest_of_capsule(ball, radius, half, &height);
    return a.distance < a.closest &&
           sphere_barrier(ball, (double[3]){0, height, 0}, radius, a.normal, barrier);
}
