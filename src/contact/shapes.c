#include "contact/shapes.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static bool normalise(double v[3])
{
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0) || !isfinite(largest))
        return false;
    for (int k = 0; k < 3; k++)
        v[k] /= largest;
    double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return true;
}

/* ---- Ellipsoids -------------------------------------------------------------------------------- */

/* Cholesky of B, and the inverse of its triangle. */
bool pl_ball_make(pl_ball *ball, const double from[3], const double at[3], const double shape[6])
{
    memcpy(ball->from, from, sizeof ball->from);
    memcpy(ball->at, at, sizeof ball->at);
    memcpy(ball->shape, shape, sizeof ball->shape);
    double a = shape[0];
    if (!(a > 0))
        return false;
    double l00 = sqrt(a), l10 = shape[1] / l00, l20 = shape[2] / l00;
    double d = shape[3] - l10 * l10;
    if (!(d > 0))
        return false;
    double l11 = sqrt(d), l21 = (shape[4] - l20 * l10) / l11;
    double e = shape[5] - l20 * l20 - l21 * l21;
    if (!(e > 0) || !isfinite(e))
        return false;
    double l22 = sqrt(e);
    ball->map[0] = 1 / l00;
    ball->map[2] = 1 / l11;
    ball->map[5] = 1 / l22;
    ball->map[1] = -l10 * ball->map[0] * ball->map[2];
    ball->map[4] = -l21 * ball->map[2] * ball->map[5];
    ball->map[3] = -(l20 * ball->map[0] + l21 * ball->map[1]) * ball->map[5];
    ball->radius = sqrt(shape[0] + shape[3] + shape[5]);
    return true;
}

/* y = L⁻¹ (p − x). */
static void map_point(const pl_ball *ball, const double p[3], double y[3])
{
    double d[3];
    subtract(p, ball->at, d);
    const double *m = ball->map;
    y[0] = m[0] * d[0];
    y[1] = m[1] * d[0] + m[2] * d[1];
    y[2] = m[3] * d[0] + m[4] * d[1] + m[5] * d[2];
}

/* The normal of a plane there, mapped back: L⁻ᵀ y. */
static void map_normal_back(const pl_ball *ball, const double y[3], double n[3])
{
    const double *m = ball->map;
    n[0] = m[0] * y[0] + m[1] * y[1] + m[3] * y[2];
    n[1] = m[2] * y[1] + m[4] * y[2];
    n[2] = m[5] * y[2];
}

double pl_ball_half_width(const pl_ball *ball, const double n[3])
{
    const double *b = ball->shape;
    double x = b[0] * n[0] + b[1] * n[1] + b[2] * n[2];
    double y = b[1] * n[0] + b[3] * n[1] + b[4] * n[2];
    double z = b[2] * n[0] + b[4] * n[1] + b[5] * n[2];
    return sqrt(fmax(x * n[0] + y * n[1] + z * n[2], 0));
}

/* The half-space with this boundary point and normal. */
static bool set_barrier(const pl_ball *ball, const double normal[3], const double point[3],
                        pl_barrier *barrier)
{
    double away[3];
    memcpy(barrier->normal, normal, sizeof barrier->normal);
    memcpy(barrier->point, point, sizeof barrier->point);
    subtract(ball->at, point, away);
    barrier->overlap = pl_ball_half_width(ball, normal) - dot(normal, away);
    return barrier->overlap > 0;
}

/* ---- Triangles --------------------------------------------------------------------------------- */

/* The point of a triangle nearest to the origin (Ericson, Real-Time Collision Detection, 5.1.5), as weights of its corners. */
static void nearest_weights(const double y[3][3], double w[3])
{
    double ab[3], ac[3];
    const double *a = y[0], *b = y[1], *c = y[2];
    subtract(b, a, ab);
    subtract(c, a, ac);
    double d1 = -dot(ab, a), d2 = -dot(ac, a), d3 = -dot(ab, b), d4 = -dot(ac, b);
    double d5 = -dot(ab, c), d6 = -dot(ac, c);
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0) {
        w[0] = 1;
    } else if (d3 >= 0 && d4 <= d3) {
        w[1] = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w[2] = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        w[1] = d1 / (d1 - d3);
        w[0] = 1 - w[1];
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w[2] = d2 / (d2 - d6);
        w[0] = 1 - w[2];
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        w[1] = 1 - w[2];
    } else {
        double sum = va + vb + vc;
        w[1] = sum > 0 ? vb / sum : 0;
        w[2] = sum > 0 ? vc / sum : 0;
        w[0] = 1 - w[1] - w[2];
    }
}

/* Nearest in the ellipsoid's measure: point, normal towards the centre, squared measure (below 1: they overlap). */
static double nearest_on_triangle(const pl_ball *ball, const double corners[3][3], double point[3],
                                  double normal[3])
{
    double y[3][3], w[3], near[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        map_point(ball, corners[i], y[i]);
    nearest_weights(y, w);
    for (int k = 0; k < 3; k++) {
        point[k] = w[0] * corners[0][k] + w[1] * corners[1][k] + w[2] * corners[2][k];
        near[k] = -(w[0] * y[0][k] + w[1] * y[1][k] + w[2] * y[2][k]);
    }
    map_normal_back(ball, near, normal);
    if (!normalise(normal))
        normal[0] = normal[1] = normal[2] = 0;
    return dot(near, near);
}

/* Where the centre's way goes through the triangle's plane inside of the triangle: the part of the way, or 2. */
static double crossing(const pl_ball *ball, const double corners[3][3], const double normal[3])
{
    double a[3], b[3];
    subtract(ball->from, corners[0], a);
    subtract(ball->at, corners[0], b);
    double start = dot(a, normal), end = dot(b, normal);
    if ((start > 0) == (end > 0) || start == end)
        return 2;
    double t = start / (start - end), hit[3];
    for (int k = 0; k < 3; k++)
        hit[k] = ball->from[k] + t * (ball->at[k] - ball->from[k]);
    for (int i = 0; i < 3; i++) {
        double edge[3], to[3], side[3];
        subtract(corners[(i + 1) % 3], corners[i], edge);
        subtract(hit, corners[i], to);
        cross(edge, to, side);
        /* A little beyond the edge counts: ways along it must not slip through between two triangles. */
        if (dot(side, normal) < -1e-9 * dot(edge, edge))
            return 2;
    }
    return t;
}

bool pl_ball_on_triangle(const pl_ball *ball, const double corners[3][3], bool two_sided,
                         double depth, pl_barrier *barrier)
{
    double u[3], v[3], normal[3], away[3], point[3], near[3];
    subtract(corners[1], corners[0], u);
    subtract(corners[2], corners[0], v);
    cross(u, v, normal);
    if (!normalise(normal))
        return false;
    subtract(ball->from, corners[0], away);
    double side = dot(away, normal);
    if (side < 0 && two_sided)
        for (int k = 0; k < 3; k++)
            normal[k] = -normal[k];
    if ((two_sided || side >= 0) && crossing(ball, corners, normal) <= 1)
        return set_barrier(ball, normal, corners[0], barrier);
    double measure = nearest_on_triangle(ball, corners, point, near);
    subtract(ball->at, point, away);
    bool behind = dot(away, normal) < 0;
    if (!two_sided && behind) {
        /* Inside the solid: out through this triangle, if it is the one above. */
        bool above = measure < 1 || fabs(dot(near, normal)) > 0.999;
        return above && -dot(away, normal) < depth && set_barrier(ball, normal, point, barrier);
    }
    if (measure >= 1)
        return false;
    /* The face where it is the face that is touched, an edge or a corner otherwise. */
    if (measure < 1e-18 || dot(near, normal) < 0)
        return set_barrier(ball, normal, point, barrier);
    return set_barrier(ball, near, point, barrier);
}

/* ---- Boxes ------------------------------------------------------------------------------------- */

/* Where a way first enters the box |p_k| <= half_k: the part of the way and the face (axis, sign), or 2. */
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
    return set_barrier(ball, normal, point, barrier);
}

static bool is_inside(const double p[3], const double half[3])
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

/* The face with this axis and sign as two triangles. */
static void face_triangle(const double half[3], int axis, double sign, int which, double out[3][3])
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    static const double corners[2][3][2] = {{{-1, -1}, {1, -1}, {1, 1}}, {{-1, -1}, {1, 1}, {-1, 1}}};
    for (int i = 0; i < 3; i++) {
        out[i][axis] = sign * half[axis];
        out[i][u] = corners[which][i][0] * half[u];
        out[i][v] = corners[which][i][1] * half[v];
    }
}

bool pl_ball_on_box(const pl_ball *ball, const double half[3], pl_barrier *barrier)
{
    int axis = 0;
    double sign = 1, nearest = 1, point[3], near[3];
    if (!is_inside(ball->from, half) && enter_box(ball->from, ball->at, half, &axis, &sign) <= 1)
        return face_barrier(ball, half, axis, sign, barrier);
    if (is_inside(ball->at, half))
        return leave_box(ball, half, barrier);
    bool touches = false;
    for (int k = 0; k < 3; k++) {
        if (fabs(ball->at[k]) <= half[k] || fabs(ball->at[k]) - half[k] > ball->radius)
            continue;
        for (int which = 0; which < 2; which++) {
            double corners[3][3];
            face_triangle(half, k, ball->at[k] > 0 ? 1 : -1, which, corners);
            double measure = nearest_on_triangle(ball, corners, point, near);
            if (measure >= nearest || !set_barrier(ball, near, point, barrier))
                continue;
            nearest = measure;
            touches = true;
        }
    }
    return touches;
}

/* ---- Spheres and capsules ------------------------------------------------------------------------ */

/* The distance of closest approach along n to a sphere: METHODS §1 with B₂ = r² I, in double and to convergence. */
static double approach_sphere(const pl_ball *ball, double radius, const double n[3], double normal[3])
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
        double square = det / (s * t * dot(n, y));
        double ball_form = b[0] * y[0] * y[0] + b[3] * y[1] * y[1] + b[5] * y[2] * y[2] +
                           2 * (b[1] * y[0] * y[1] + b[2] * y[0] * y[2] + b[4] * y[1] * y[2]);
        double one = sqrt(fmax(ball_form, 0)), two = sqrt(r2 * dot(y, y));
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
    subtract(from, centre, start);
    subtract(at, from, way);
    double a = dot(way, way), b = dot(start, way), c = dot(start, start) - radius * radius;
    double under = b * b - a * c;
    if (c <= 0 || b >= 0 || under < 0 || !(a > 0))
        return 2;
    double t = (-b - sqrt(under)) / a;
    return t <= 1 ? t : 2;
}

bool pl_ball_on_sphere(const pl_ball *ball, const double centre[3], double radius,
                       pl_barrier *barrier)
{
    double n[3], normal[3], at[3], point[3];
    double t = enter_sphere(ball->from, ball->at, centre, radius);
    for (int k = 0; k < 3; k++)
        at[k] = t <= 1 ? ball->from[k] + t * (ball->at[k] - ball->from[k]) : ball->at[k];
    subtract(at, centre, n);
    double distance = sqrt(dot(n, n));
    if (!normalise(n))
        n[1] = 1;
    if (t > 1) {
        double closest = approach_sphere(ball, radius, n, normal);
        if (distance >= closest || !normalise(normal))
            return false;
        /* Moved out along n by closest − distance, the plane with this normal touches both. */
        for (int k = 0; k < 3; k++)
            point[k] = centre[k] + radius * normal[k];
        return set_barrier(ball, normal, point, barrier);
    }
    for (int k = 0; k < 3; k++)
        point[k] = centre[k] + radius * n[k];
    return set_barrier(ball, n, point, barrier);
}

bool pl_ball_on_capsule(const pl_ball *ball, double radius, double half, pl_barrier *barrier)
{
    /* The point of the axis nearest in the ellipsoid's measure; on a long way, nearest to the middle of it. */
    double a[3], b[3], d[3], low[3] = {0, -half, 0}, high[3] = {0, half, 0};
    map_point(ball, low, a);
    map_point(ball, high, b);
    subtract(b, a, d);
    double square = dot(d, d), t = square > 0 ? -dot(a, d) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double centre[3] = {0, (2 * t - 1) * half, 0};
    /* Where the way crosses the axis' cylinder the sphere is the one at that height. */
    double way[3], flat_from[3] = {ball->from[0], 0, ball->from[2]}, flat_at[3] = {ball->at[0], 0, ball->at[2]},
                   none[3] = {0, 0, 0};
    double meet = enter_sphere(flat_from, flat_at, none, radius);
    subtract(ball->at, ball->from, way);
    if (meet <= 1) {
        double y = ball->from[1] + meet * way[1];
        centre[1] = y < -half ? -half : y > half ? half : y;
    }
    return pl_ball_on_sphere(ball, centre, radius, barrier);
}
