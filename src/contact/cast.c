#include "contact/cast.h"

#include <math.h>
#include <string.h>

#include "contact/three.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool met_inside(const pl_ray *ray, double *distance, double normal[3])
{
    *distance = 0;
    for (int k = 0; k < 3; k++)
        normal[k] = -ray->direction[k];
    return true;
}

bool pl_ray_meets_box(const pl_ray *ray, const double box[6])
{
    double from = 0, to = ray->length;
    for (int k = 0; k < 3; k++) {
        double d = ray->direction[k], o = ray->origin[k];
        if (d == 0) {
            if (o < box[k] || o > box[3 + k])
                return false;
            continue;
        }
        double a = (box[k] - o) / d, b = (box[3 + k] - o) / d;
        from = pl_larger(from, pl_smaller(a, b));
        to = pl_smaller(to, pl_larger(a, b));
    }
    return from <= to;
}

bool pl_cast_plane(const pl_ray *ray, double *distance, double normal[3])
{
    double height = ray->origin[1], fall = -ray->direction[1];
    if (height <= 0)
        return met_inside(ray, distance, normal);
    if (!(fall > 0) || height > fall * ray->length)
        return false;
    *distance = height / fall;
    normal[0] = normal[2] = 0;
    normal[1] = 1;
    return true;
}

bool pl_cast_box(const pl_ray *ray, const double half[3], double *distance, double normal[3])
{
    double from = -INFINITY, to = ray->length;
    int face = 0;
    for (int k = 0; k < 3; k++) {
        double d = ray->direction[k], o = ray->origin[k];
        if (d == 0) {
            if (fabs(o) > half[k])
                return false;
            continue;
        }
        double near = (-copysign(half[k], d) - o) / d, far = (copysign(half[k], d) - o) / d;
        if (near > from) {
            from = near;
            face = k;
        }
        to = fmin(to, far);
    }
    if (from > to || to < 0)
        return false;
    if (from < 0)
        return met_inside(ray, distance, normal);
    *distance = from;
    normal[0] = normal[1] = normal[2] = 0;
    normal[face] = ray->direction[face] > 0 ? -1 : 1;
    return true;
}

/* Where |o + t d| = radius first, for any d: the nearer root without cancellation. */
static bool enter(const double o[3], const double d[3], double radius, double *t)
{
    double square = dot(d, d), half = dot(o, d), gap = dot(o, o) - radius * radius;
    if (gap <= 0) {
        *t = 0;
        return true;
    }
    if (!(half < 0) || !(square > 0))
        return false;
    /* From the point of the line nearest to the centre: far origins lose no digits there. */
    double miss[3];
    for (int k = 0; k < 3; k++)
        miss[k] = o[k] - half / square * d[k];
    double under = radius * radius - dot(miss, miss);
    if (under < 0)
        return false;
    *t = fmax((-half - sqrt(under * square)) / square, 0);
    return true;
}

bool pl_cast_sphere(const pl_ray *ray, const double centre[3], double radius, double *distance,
                    double normal[3])
{
    double o[3], length = 0;
    for (int k = 0; k < 3; k++)
        o[k] = ray->origin[k] - centre[k];
    if (dot(o, o) <= radius * radius)
        return met_inside(ray, distance, normal);
    if (!enter(o, ray->direction, radius, distance) || *distance > ray->length)
        return false;
    for (int k = 0; k < 3; k++) {
        normal[k] = o[k] + *distance * ray->direction[k];
        length += normal[k] * normal[k];
    }
    if (!(length > 0))
        return met_inside(ray, distance, normal);
    for (int k = 0; k < 3; k++)
        normal[k] /= sqrt(length);
    return true;
}

bool pl_cast_capsule(const pl_ray *ray, double radius, double half, double *distance,
                     double normal[3])
{
    double o[3] = {ray->origin[0], 0, ray->origin[2]},
           d[3] = {ray->direction[0], 0, ray->direction[2]};
    double over = fmax(fabs(ray->origin[1]) - half, 0), t, n[3];
    bool met = false;
    if (dot(o, o) + over * over <= radius * radius)
        return met_inside(ray, distance, normal);
    *distance = INFINITY;
    for (int side = -1; side <= 1; side += 2) {
        double cap[3] = {0, side * half, 0};
        if (pl_cast_sphere(ray, cap, radius, &t, n) && t < *distance) {
            met = true;
            *distance = t;
            memcpy(normal, n, sizeof n);
        }
    }
    /* From outside of the cylinder its side is met where it lies between the caps. */
    bool side = dot(o, o) > radius * radius && enter(o, d, radius, &t) && t <= ray->length &&
                fabs(ray->origin[1] + t * ray->direction[1]) <= half && t < *distance;
    if (!side)
        return met;
    *distance = t;
    normal[0] = (o[0] + t * d[0]) / fmax(radius, 1e-300);
    normal[1] = 0;
    normal[2] = (o[2] + t * d[2]) / fmax(radius, 1e-300);
    return radius > 0 ? true : met_inside(ray, &t, normal);
}

bool pl_cast_ellipsoid(const pl_ray *ray, const double axes[3][3], const double radii[3],
                       double *distance, double normal[3])
{
    double o[3], d[3], n[3] = {0, 0, 0}, length = 0;
    for (int k = 0; k < 3; k++) {
        o[k] = dot(axes[k], ray->origin) / radii[k];
        d[k] = dot(axes[k], ray->direction) / radii[k];
    }
    if (dot(o, o) <= 1)
        return met_inside(ray, distance, normal);
    if (!enter(o, d, 1, distance) || *distance > ray->length)
        return false;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            n[m] += axes[k][m] * (o[k] + *distance * d[k]) / radii[k];
    length = sqrt(dot(n, n));
    if (!(length > 0))
        return met_inside(ray, distance, normal);
    for (int k = 0; k < 3; k++)
        normal[k] = n[k] / length;
    return true;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The corners from a point of the line, and the three volumes that the line spans with the edges:
   all below 0 where it comes through from the front. Two triangles that share an edge compute the
   same number for it up to its sign, so that no line slips between them. */
static void span_edges(const double origin[3], const double direction[3],
                       const double corners[3][3], double p[3][3], double part[3])
{
    double side[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            p[i][k] = corners[i][k] - origin[k];
    for (int i = 0; i < 3; i++) {
        cross(p[(i + 1) % 3], p[(i + 2) % 3], side);
        part[i] = dot(side, direction);
    }
}

static void normal_of(const double p[3][3], double n[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = p[1][k] - p[0][k];
        v[k] = p[2][k] - p[0][k];
    }
    cross(u, v, n);
}

static bool cast_triangle(const pl_ray *ray, const double corners[3][3], bool two_sided,
                          double *distance, double normal[3])
{
    double p[3][3], n[3], part[3];
    span_edges(ray->origin, ray->direction, corners, p, part);
    bool front = part[0] <= 0 && part[1] <= 0 && part[2] <= 0;
    bool back = part[0] >= 0 && part[1] >= 0 && part[2] >= 0;
    if ((!front && !back) || (!two_sided && !front))
        return false;
    normal_of((const double(*)[3])p, n);
    double along = dot(n, ray->direction), t = dot(n, p[0]) / along, length = sqrt(dot(n, n));
    if (!(t >= 0) || !(t <= *distance))
        return false;
    *distance = t;
    for (int k = 0; k < 3; k++)
        normal[k] = (along < 0 ? n[k] : -n[k]) / length;
    return true;
}

enum { LEAF = 4 };

typedef struct place {
    int level, node;
} place;

/* Puts the children of a node on the stack, the first one on top; returns how many. */
static int children(const pl_solid *solid, place at, place *stack)
{
    int made = 0, below = solid->level_start[at.level] - solid->level_start[at.level - 1];
    for (int child = 2 * at.node + 1; child >= 2 * at.node; child--)
        if (child < below)
            stack[made++] = (place){at.level - 1, child};
    return made;
}

/* How often a ray without end leaves the mesh, less how often it comes in. */
typedef struct way_out {
    const double *from;
    double direction[3], inverse[3];
    int times;
    bool unsure; /* it went through an edge or a corner: counted twice, or not at all */
} way_out;

static bool way_meets_box(const way_out *way, const double box[6])
{
    double first = 0, last = INFINITY;
    for (int k = 0; k < 3; k++) {
        double a = (box[k] - way->from[k]) * way->inverse[k];
        double b = (box[3 + k] - way->from[k]) * way->inverse[k];
        first = pl_larger(first, pl_smaller(a, b));
        last = pl_smaller(last, pl_larger(a, b));
    }
    return first <= last;
}

static void count_crossing(way_out *way, const double corners[3][3])
{
    double p[3][3], n[3], part[3];
    span_edges(way->from, way->direction, corners, p, part);
    bool front = part[0] <= 0 && part[1] <= 0 && part[2] <= 0;
    bool back = part[0] >= 0 && part[1] >= 0 && part[2] >= 0;
    if (!front && !back)
        return;
    normal_of((const double(*)[3])p, n);
    double height = dot(n, p[0]); /* of its plane over the beginning */
    if (back ? !(height > 0) : !(height < 0))
        return;
    way->times += back ? 1 : -1;
    way->unsure |= part[0] == 0 || part[1] == 0 || part[2] == 0;
}

static void count_crossings(way_out *way, const pl_solid *solid)
{
    place stack[2 * 32];
    int count = 0;
    stack[count++] = (place){solid->depth - 1, 0};
    while (count) {
        place at = stack[--count];
        if (!way_meets_box(way, solid->boxes[solid->level_start[at.level] + at.node]))
            continue;
        if (at.level > 0) {
            count += children(solid, at, stack + count);
            continue;
        }
        for (int i = LEAF * at.node; i < LEAF * (at.node + 1) && i < solid->count; i++)
            count_crossing(way, (const double(*)[3])solid->corners[i]);
    }
}

/* Along one of some lines: steep, as ground is flat, and along no axis, as boxes are. */
static bool leaves(const pl_solid *solid, const double point[3], double sign)
{
    static const double lines[3][3] = {
        {0.3141, 0.8717, 0.3763}, {-0.4177, 0.8263, 0.3779}, {0.2393, 0.7919, -0.5618}};
    way_out way = {.unsure = true};
    for (int i = 0; i < 3 && way.unsure; i++) {
        way = (way_out){.from = point};
        for (int k = 0; k < 3; k++) {
            way.direction[k] = sign * lines[i][k];
            way.inverse[k] = 1 / way.direction[k];
        }
        count_crossings(&way, solid);
    }
    return way.times > 0;
}

/* From a point inside of a closed mesh every way leaves it once more than it comes in. Asked
   upwards and downwards, as behind a single sheet there is no inside. */
static bool is_enclosed(const pl_solid *solid, const double point[3])
{
    const double *all = solid->boxes[solid->node_count - 1];
    for (int k = 0; k < 3; k++)
        if (!(point[k] >= all[k] && point[k] <= all[3 + k]))
            return false;
    return leaves(solid, point, 1) && leaves(solid, point, -1);
}

bool pl_cast_solid(const pl_ray *ray, const pl_solid *solid, bool two_sided, double *distance,
                   double normal[3])
{
    place stack[2 * 32];
    int count = 0;
    bool met = false;
    pl_ray rest = *ray;
    if (solid->depth == 0)
        return false;
    if (!two_sided && is_enclosed(solid, ray->origin))
        return met_inside(ray, distance, normal);
    stack[count++] = (place){solid->depth - 1, 0};
    while (count) {
        place at = stack[--count];
        if (!pl_ray_meets_box(&rest, solid->boxes[solid->level_start[at.level] + at.node]))
            continue;
        if (at.level > 0) {
            count += children(solid, at, stack + count);
            continue;
        }
        for (int i = LEAF * at.node; i < LEAF * (at.node + 1) && i < solid->count; i++)
            met |= cast_triangle(ray, (const double(*)[3])solid->corners[i], two_sided,
                                 &rest.length, normal);
    }
    *distance = rest.length;
    return met;
}
