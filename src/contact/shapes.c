/* Ellipsoids and triangles, in double: this runs for the few particles near a box, a ball, a
   capsule or a mesh. Nearest points are found in the ellipsoid's own measure, where it is the unit
   ball. Solid shapes are in shapes_solid.c, meshes in mesh.c; what follows from a barrier in
   collider.c. Planes are done in lanes. */
#include "contact/shapes.h"

#include <string.h>

#include "contact/three.h"

/* ---- Ellipsoids ------------------------------------------------------------------------------ */

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
    pl_subtract3(p, ball->at, d);
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
    return sqrt(pl_larger(x * n[0] + y * n[1] + z * n[2], 0));
}

/* The half-space with this boundary point and normal. */
bool pl_set_barrier(const pl_ball *ball, const double normal[3], const double point[3],
                    pl_barrier *barrier)
{
    double away[3];
    memcpy(barrier->normal, normal, sizeof barrier->normal);
    memcpy(barrier->point, point, sizeof barrier->point);
    barrier->met = false;
    pl_subtract3(ball->at, point, away);
    barrier->overlap = pl_ball_half_width(ball, normal) - pl_dot3(normal, away);
    return barrier->overlap > 0;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* The point of a triangle nearest to the origin (Ericson, Real-Time Collision Detection, 5.1.5), as
   weights of its corners. */
static void nearest_weights(const double y[3][3], double w[3])
{
    double ab[3], ac[3];
    const double *a = y[0], *b = y[1], *c = y[2];
    pl_subtract3(b, a, ab);
    pl_subtract3(c, a, ac);
    double d1 = -pl_dot3(ab, a), d2 = -pl_dot3(ac, a), d3 = -pl_dot3(ab, b), d4 = -pl_dot3(ac, b);
    double d5 = -pl_dot3(ab, c), d6 = -pl_dot3(ac, c);
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0) {
        w[0] = 1;
    } else if (d3 >= 0 && d4 <= d3) {
        w[1] = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w[2] = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0 && d1 > d3) {
        w[1] = d1 / (d1 - d3);
        w[0] = 1 - w[1];
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0 && d2 > d6) {
        w[2] = d2 / (d2 - d6);
        w[0] = 1 - w[2];
    } else if (va <= 0 && d4 >= d3 && d5 >= d6 && (d4 > d3 || d5 > d6)) {
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        w[1] = 1 - w[2];
    } else {
        double sum = va + vb + vc;
        w[1] = sum > 0 ? vb / sum : 0;
        w[2] = sum > 0 ? vc / sum : 0;
        w[0] = 1 - w[1] - w[2];
    }
}

/* Nearest in the ellipsoid's measure: point, normal towards the centre, squared measure (below 1:
   they overlap). */
double pl_nearest_on_triangle(const pl_ball *ball, const double corners[3][3], double point[3],
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
    if (!pl_normalise3(normal))
        normal[0] = normal[1] = normal[2] = 0;
    return pl_dot3(near, near);
}

/* Where the centre's way goes through the triangle's plane inside of the triangle, from either
   side: the part of the way, or 2. The normal is that of the winding: it tells what is inside. */
static double crossing(const pl_ball *ball, const double corners[3][3], const double normal[3])
{
    double a[3], b[3];
    pl_subtract3(ball->from, corners[0], a);
    pl_subtract3(ball->at, corners[0], b);
    double start = pl_dot3(a, normal), end = pl_dot3(b, normal);
    if ((start > 0) == (end > 0) || start == end)
        return 2;
    double t = start / (start - end), hit[3];
    for (int k = 0; k < 3; k++)
        hit[k] = ball->from[k] + t * (ball->at[k] - ball->from[k]);
    for (int i = 0; i < 3; i++) {
        double edge[3], to[3], side[3];
        pl_subtract3(corners[(i + 1) % 3], corners[i], edge);
        pl_subtract3(hit, corners[i], to);
        pl_cross3(edge, to, side);
        /* A little beyond the edge counts: ways along it must not slip through between two
           triangles. */
        if (pl_dot3(side, normal) < -1e-9 * pl_dot3(edge, edge))
            return 2;
    }
    return t;
}

bool pl_triangle_normal(const double corners[3][3], double normal[3])
{
    double u[3], v[3], w[3];
    pl_subtract3(corners[1], corners[0], u);
    pl_subtract3(corners[2], corners[0], v);
    pl_subtract3(corners[2], corners[1], w);
    pl_cross3(u, v, normal);
    double longest = fmax(pl_dot3(u, u), fmax(pl_dot3(v, v), pl_dot3(w, w)));
    /* Thinner than 1e-9 of its length: its normal would be noise. */
    return pl_dot3(normal, normal) > 1e-18 * longest * longest && pl_normalise3(normal);
}

double pl_ball_through_triangle(const pl_ball *ball, const double corners[3][3], bool two_sided,
                                pl_barrier *barrier)
{
    double normal[3], away[3];
    if (!pl_triangle_normal(corners, normal))
        return 2;
    pl_subtract3(ball->from, corners[0], away);
    bool behind = pl_dot3(away, normal) < 0;
    if (behind && !two_sided)
        return 2;
    double t = crossing(ball, corners, normal);
    for (int k = 0; k < 3; k++)
        normal[k] = behind ? -normal[k] : normal[k];
    if (!(t <= 1) || !pl_set_barrier(ball, normal, corners[0], barrier))
        return 2;
    barrier->met = true;
    return t;
}

bool pl_ball_on_triangle(const pl_ball *ball, const double corners[3][3], bool two_sided,
                         pl_barrier *barrier)
{
    double normal[3], away[3], point[3], near[3];
    if (!pl_triangle_normal(corners, normal))
        return false;
    double measure = pl_nearest_on_triangle(ball, corners, point, near);
    if (measure >= 1)
        return false;
    pl_subtract3(ball->at, point, away);
    if (!two_sided && pl_dot3(away, normal) < 0)
        return false;
    if (measure > 1e-18)
        return pl_set_barrier(ball, near, point, barrier);
    /* The centre lies in the triangle: back to where it came from. */
    pl_subtract3(ball->from, corners[0], away);
    bool behind = two_sided && pl_dot3(away, normal) < 0;
    for (int k = 0; k < 3; k++)
        near[k] = behind ? -normal[k] : normal[k];
    return pl_set_barrier(ball, near, point, barrier);
}

void pl_triangle_nearest(const double corners[3][3], const double p[3], double out[3])
{
    double y[3][3], w[3];
    for (int i = 0; i < 3; i++)
        pl_subtract3(corners[i], p, y[i]);
    nearest_weights(y, w);
    for (int k = 0; k < 3; k++)
        out[k] = w[0] * corners[0][k] + w[1] * corners[1][k] + w[2] * corners[2][k];
}
