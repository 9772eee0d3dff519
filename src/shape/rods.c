/* Things with one row of particles: bar, chain, knot and coil. A curve is walked in steps of equal
   arc length; every second station is a particle, the others lie between two, and the skin has a
   ring at each. Frames are carried along without twist: each is the last one, turned no more than
   the tangent makes it. */
#include "shape/builder.h"

#include <math.h>
#include <string.h>

#include "shape/turn.h"

#define PI 3.14159265358979323846

/* Steps from one station to the next in which arc length is measured; samples for the bounds. */
enum { FINE_STEPS = 16, BOUND_SAMPLES = 4096, COIL_TURNS = 5 };

/* Rods longer than this get a coarser skin, to keep vertices within what a model can have. */
enum { LONG_ROD = 200000 };

/* A point of the curve, in any scale, t from 0 to 1. */
typedef void curve_function(double t, double point[3]);

typedef struct rod_plan {
    curve_function *curve; /* NULL = straight along x */
    double scale[3], shift[3];
    int count;
    bool closed;
    double half[2]; /* of the cross-section */
    int sides;
} rod_plan;

typedef struct rod_walker {
    const rod_plan *rod;
    int64_t step;    /* fine steps taken */
    double arc;      /* length of these */
    double last[3];  /* the point they lead to */
    double point[3]; /* of the station */
    double frame[3][3];
} rod_walker;

static void point_at(const rod_plan *rod, double t, double point[3])
{
    if (!rod->curve) {
        for (int k = 0; k < 3; k++)
            point[k] = k == 0 ? rod->scale[0] * (t - 0.5) : 0;
        return;
    }
    rod->curve(t, point);
    for (int k = 0; k < 3; k++)
        point[k] = point[k] * rod->scale[k] + rod->shift[k];
}

static double distance(const double a[3], const double b[3])
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(pl_dot3(d, d));
}

static int64_t fine_count(const rod_plan *rod)
{
    return (int64_t)rod->count * 2 * FINE_STEPS;
}

static double fine_step(const rod_plan *rod)
{
    return 1.0 / (double)fine_count(rod);
}

static double measure_length(const rod_plan *rod)
{
    if (!rod->curve)
        return rod->scale[0];
    double length = 0, last[3], next[3];
    point_at(rod, 0, last);
    for (int64_t step = 1; step <= fine_count(rod); step++) {
        point_at(rod, (double)step * fine_step(rod), next);
        length += distance(last, next);
        memcpy(last, next, sizeof last);
    }
    return length;
}

/* Makes the curve and the rod around it fill a box about the origin. */
static void fit_into(rod_plan *rod, const double size[3])
{
    double lower[3], upper[3], point[3];
    for (int k = 0; k < 3; k++)
        lower[k] = INFINITY, upper[k] = -INFINITY;
    for (int s = 0; s <= BOUND_SAMPLES; s++) {
        rod->curve((double)s / BOUND_SAMPLES, point);
        for (int k = 0; k < 3; k++) {
            lower[k] = point[k] < lower[k] ? point[k] : lower[k];
            upper[k] = point[k] > upper[k] ? point[k] : upper[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        rod->scale[k] = (size[k] - 2 * rod->half[0]) / (upper[k] - lower[k]);
        rod->shift[k] = -rod->scale[k] * (lower[k] + upper[k]) / 2;
    }
}

static void tangent_at(const rod_plan *rod, double t, double tangent[3])
{
    double behind[3], ahead[3], little = fine_step(rod) / 4;
    point_at(rod, t - little, behind);
    point_at(rod, t + little, ahead);
    for (int k = 0; k < 3; k++)
        tangent[k] = ahead[k] - behind[k];
}

static void start_walk(rod_walker *walker, const rod_plan *rod)
{
    double tangent[3], side[3] = {0, 1, 0};
    walker->rod = rod;
    walker->step = 0;
    walker->arc = 0;
    point_at(rod, 0, walker->last);
    memcpy(walker->point, walker->last, sizeof walker->point);
    tangent_at(rod, 0, tangent);
    if (fabs(tangent[1]) > 0.9 * sqrt(pl_dot3(tangent, tangent)))
        side[0] = 1, side[1] = 0;
    pl_frame_from(tangent, side, walker->frame);
}

/* On to the station at this arc length, which is `fraction` of the whole. */
static void walk_to(rod_walker *walker, double arc, double fraction)
{
    const rod_plan *rod = walker->rod;
    if (!rod->curve) {
        point_at(rod, fraction, walker->point);
        return;
    }
    double t = 1, next[3], tangent[3], side[3];
    while (walker->step < fine_count(rod)) {
        point_at(rod, (double)(walker->step + 1) * fine_step(rod), next);
        double step = distance(walker->last, next);
        if (walker->arc + step >= arc) {
            t = ((double)walker->step + (arc - walker->arc) / step) * fine_step(rod);
            break;
        }
        walker->arc += step;
        walker->step++;
        memcpy(walker->last, next, sizeof next);
    }
    t = t < 1 && fraction < 1 ? t : 1;
    point_at(rod, t, walker->point);
    tangent_at(rod, t, tangent);
    memcpy(side, walker->frame[1], sizeof side);
    pl_frame_from(tangent, side, walker->frame);
}

/* By how many sides a frame carried around a closed curve has turned when it comes back. */
static int turned_sides(const double start[3][3], const double end[3][3], int sides)
{
    int best = 0;
    double most = -INFINITY;
    for (int s = 0; s < sides; s++) {
        double c, d, side[3];
        pl_turn((double)s / sides, &c, &d);
        for (int k = 0; k < 3; k++)
            side[k] = c * start[1][k] + d * start[2][k];
        if (pl_dot3(side, end[1]) > most)
            most = pl_dot3(side, end[1]), best = s;
    }
    return best;
}

typedef struct rod_tube {
    int first, last; /* rings; -1 = none yet */
    double start[3], start_frame[3][3];
} rod_tube;

static void extend_tube(pl_shape *shape, rod_tube *tube, const rod_walker *walker)
{
    const rod_plan *rod = walker->rod;
    int ring = pl_shape_add_ring(shape, walker->point, walker->frame, rod->half, rod->sides);
    if (tube->last < 0) {
        tube->first = ring;
        memcpy(tube->start, walker->point, sizeof tube->start);
        memcpy(tube->start_frame, walker->frame, sizeof tube->start_frame);
    } else {
        pl_shape_join_rings(shape, tube->last, ring, rod->sides, 0);
    }
    tube->last = ring;
}

static void finish_tube(pl_shape *shape, const rod_tube *tube, const rod_walker *end)
{
    const rod_plan *rod = end->rod;
    if (rod->closed) {
        int turn = turned_sides(tube->start_frame, end->frame, rod->sides);
        pl_shape_join_rings(shape, tube->last, tube->first, rod->sides, turn);
        return;
    }
    pl_shape_close_ring(shape, tube->first, rod->sides, tube->start, false);
    pl_shape_close_ring(shape, tube->last, rod->sides, end->point, true);
}

static void build_rod(pl_shape *shape, const rod_plan *rod)
{
    int stations = 2 * rod->count;
    double length = measure_length(rod);
    double radii[3] = {length / stations, rod->half[0], rod->half[1]};
    rod_tube tube = {.first = -1, .last = -1};
    rod_walker walker;
    start_walk(&walker, rod);
    for (int s = 0; s <= stations; s++) {
        if (s > 0)
            walk_to(&walker, length * s / stations, (double)s / stations);
        bool is_particle = s % 2 == 1, is_end = s == 0 || s == stations;
        if (is_particle)
            pl_shape_add_particle(shape, walker.point, walker.frame, radii);
        if (rod->sides && !(rod->closed && s == stations) &&
            (is_end || !is_particle || rod->count <= LONG_ROD))
            extend_tube(shape, &tube, &walker);
    }
    if (rod->sides)
        finish_tube(shape, &tube, &walker);
    for (int i = 1; i < rod->count; i++)
        pl_shape_add_edge(shape, i - 1, i);
    if (rod->closed)
        pl_shape_add_edge(shape, rod->count - 1, 0);
    shape->dimension = 1;
    shape->volume = PI * rod->half[0] * rod->half[1] * length;
}

static rod_plan make_rod(curve_function *curve, int count, double half_height, double half_depth)
{
    return (rod_plan){.curve = curve,
                      .count = count,
                      .half = {half_height, half_depth},
                      .sides = count > LONG_ROD ? 4 : 12};
}

/* 20 particles give 40 × 4 × 4 cells: the paper's 674 vertices and 672 quadrilaterals. */
void pl_build_bar(pl_shape *shape, const pl_shape_plan *plan)
{
    rod_plan rod = make_rod(NULL, plan->count[0], plan->size[1] / 2, plan->size[2] / 2);
    rod.scale[0] = plan->size[0];
    rod.sides = 0;
    build_rod(shape, &rod);
    bool fine = plan->count[0] <= LONG_ROD;
    pl_shape_add_box_skin(shape, plan->size, (fine ? 2 : 1) * plan->count[0], fine ? 4 : 1,
                          fine ? 4 : 1);
    shape->volume = plan->size[0] * plan->size[1] * plan->size[2];
}

void pl_build_chain(pl_shape *shape, const pl_shape_plan *plan)
{
    rod_plan rod = make_rod(NULL, plan->count[0], plan->size[1] / 2, plan->size[2] / 2);
    rod.scale[0] = plan->size[0];
    build_rod(shape, &rod);
}

static void trefoil(double t, double point[3])
{
    double c1, s1, c2, s2, c3, s3;
    pl_turn(t, &c1, &s1);
    pl_turn(2 * t, &c2, &s2);
    pl_turn(3 * t, &c3, &s3);
    point[0] = s1 + 2 * s2;
    point[1] = c1 - 2 * c2;
    point[2] = -s3;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

void pl_build_knot(pl_shape *shape, const pl_shape_plan *plan)
{
    double least = smaller(plan->size[0], smaller(plan->size[1], plan->size[2]));
    rod_plan rod = make_rod(trefoil, plan->count[0], 0.07 * least, 0.07 * least);
    rod.closed = true;
    fit_into(&rod, plan->size);
    build_rod(shape, &rod);
}

static void helix(double t, double point[3])
{
    pl_turn(COIL_TURNS * t, &point[0], &point[2]);
    point[1] = t;
}

/* Thin enough that neither neighbouring turns nor opposite sides touch. */
void pl_build_coil(pl_shape *shape, const pl_shape_plan *plan)
{
    double radius =
        smaller(0.15 * plan->size[1] / COIL_TURNS, 0.1 * smaller(plan->size[0], plan->size[2]));
    rod_plan rod = make_rod(helix, plan->count[0], radius, radius);
    fit_into(&rod, plan->size);
    build_rod(shape, &rod);
}
