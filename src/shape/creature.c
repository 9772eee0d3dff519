/* A four-legged animal with a long neck and tail: each part is a bent, tapered tube filled with a
   small lattice of particles. Edges join neighbours in the lattice, each part to the one it grows
   from, and then the diagonals, until there are 2.61 per particle: 100 particles and 261 edges by
   default, as the dinosaur of Choi & Lee. */
#include "shape/builder.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "shape/turn.h"

/* LEAST_JOINTS: edges that hold a part to the one it grows from. */
enum { PARTS = 9, SIDES = 12, LEAST_JOINTS = 4 };

/* How far apart two particles may be to get an edge: in one part, squared, in cells; in two parts,
   in sums of their mean radii. */
enum { FARTHEST_CELLS2 = 9 };
#define FARTHEST_RADII 4.0

typedef struct body_part {
    int parent;                   /* a part further up, or itself */
    double from[3], by[3], to[3]; /* a quadratic Bézier curve */
    double side[3];               /* direction of the first half axis of the cross-section */
    double half[2][2];            /* cross-section at the beginning and at the end */
    double bulge;                 /* how much thicker in the middle, as a fraction */
    int lattice[3]; /* particles along the curve, along side, across both: 100 in all */
} body_part;

#define LEG(x, z)                                                                                  \
    {                                                                                              \
        0, {x, 0.56, z}, {x, 0.30, z * 1.15}, {x, 0.07, z * 1.15}, {1, 0, 0},                      \
            {{0.095, 0.075}, {0.065, 0.06}}, 0,                                                    \
        {                                                                                          \
            4, 2, 1                                                                                \
        }                                                                                          \
    }

static const body_part parts[PARTS] = {{0,
                                        {-0.36, 0.62, 0},
                                        {0, 0.70, 0},
                                        {0.36, 0.62, 0},
                                        {0, 0, 1},
                                        {{0.13, 0.14}, {0.12, 0.13}},
                                        0.4,
                                        {7, 2, 2}},
                                       {0,
                                        {0.42, 0.68, 0},
                                        {0.68, 0.74, 0},
                                        {0.76, 1.08, 0},
                                        {0, 0, 1},
                                        {{0.085, 0.10}, {0.05, 0.055}},
                                        0,
                                        {6, 2, 1}},
                                       {1,
                                        {0.74, 1.14, 0},
                                        {0.86, 1.17, 0},
                                        {0.98, 1.08, 0},
                                        {0, 0, 1},
                                        {{0.07, 0.07}, {0.045, 0.04}},
                                        0.2,
                                        {2, 2, 2}},
                                       {0,
                                        {-0.42, 0.62, 0},
                                        {-0.62, 0.60, 0},
                                        {-0.82, 0.48, 0},
                                        {0, 0, 1},
                                        {{0.10, 0.11}, {0.045, 0.05}},
                                        0,
                                        {7, 2, 1}},
                                       {3,
                                        {-0.85, 0.46, 0},
                                        {-1.05, 0.34, 0},
                                        {-1.32, 0.36, 0},
                                        {0, 0, 1},
                                        {{0.04, 0.04}, {0.014, 0.014}},
                                        0,
                                        {6, 1, 1}},
                                       LEG(0.27, 0.11),
                                       LEG(0.27, -0.11),
                                       LEG(-0.27, 0.11),
                                       LEG(-0.27, -0.11)};

/* ---- Parts --------------------------------------------------------------------------------- */

typedef struct section {
    double point[3], frame[3][3], half[2];
} section;

static void section_at(const body_part *part, double t, section *out)
{
    double tangent[3], thick = 1 + part->bulge * 4 * t * (1 - t);
    for (int k = 0; k < 3; k++) {
        double a = part->by[k] - part->from[k], b = part->to[k] - part->by[k];
        out->point[k] = part->from[k] + t * (2 * a + t * (b - a));
        tangent[k] = a + t * (b - a);
    }
    pl_frame_from(tangent, part->side, out->frame);
    for (int k = 0; k < 2; k++)
        out->half[k] = thick * (part->half[0][k] + t * (part->half[1][k] - part->half[0][k]));
}

static double part_length(const body_part *part)
{
    enum { STEPS = 64 };
    double length = 0;
    section last, next;
    section_at(part, 0, &last);
    for (int s = 1; s <= STEPS; s++) {
        section_at(part, (double)s / STEPS, &next);
        double d[3] = {next.point[0] - last.point[0], next.point[1] - last.point[1],
                       next.point[2] - last.point[2]};
        length += sqrt(pl_dot3(d, d));
        last = next;
    }
    return length;
}

static void fill_part(pl_shape *shape, const body_part *part, const int lattice[3])
{
    double length = part_length(part);
    for (int i = 0; i < lattice[0]; i++) {
        section at;
        section_at(part, (i + 0.5) / lattice[0], &at);
        double radii[3] = {length / (2 * lattice[0]), at.half[0] / lattice[1],
                           at.half[1] / lattice[2]};
        for (int j = 0; j < lattice[1]; j++) {
            for (int k = 0; k < lattice[2]; k++) {
                double u = radii[1] * (2 * j + 1 - lattice[1]),
                       w = radii[2] * (2 * k + 1 - lattice[2]);
                double point[3];
                for (int c = 0; c < 3; c++)
                    point[c] = at.point[c] + (u * at.frame[1][c] + w * at.frame[2][c]);
                pl_shape_add_particle(shape, point, at.frame, radii);
            }
        }
    }
}

/* A ring of a rounded end: `lift` turns up the dome, which is half as high as the tube is thick. */
static int add_dome_ring(pl_shape *shape, const section *at, double lift, bool ahead,
                         double pole[3])
{
    double c, s;
    pl_turn(lift, &c, &s);
    double height = (ahead ? 0.5 : -0.5) * (at->half[0] + at->half[1]) / 2;
    double half[2] = {at->half[0] * c, at->half[1] * c}, centre[3];
    for (int k = 0; k < 3; k++) {
        centre[k] = at->point[k] + height * s * at->frame[0][k];
        pole[k] = at->point[k] + height * at->frame[0][k];
    }
    return pl_shape_add_ring(shape, centre, at->frame, half, SIDES);
}

static void skin_part(pl_shape *shape, const body_part *part, int stations)
{
    static const double lifts[2] = {1.0 / 6, 1.0 / 12};
    int rings = 2 * stations, last;
    double pole[3];
    section at;
    section_at(part, 0, &at);
    last = add_dome_ring(shape, &at, lifts[0], false, pole);
    pl_shape_close_ring(shape, last, SIDES, pole, false);
    for (int r = -1; r <= rings + 2; r++) {
        int next;
        if (r >= 0 && r <= rings)
            section_at(part, (double)r / rings, &at);
        if (r < 0)
            next = add_dome_ring(shape, &at, lifts[1], false, pole);
        else if (r > rings)
            next = add_dome_ring(shape, &at, lifts[rings + 2 - r], true, pole);
        else
            next = pl_shape_add_ring(shape, at.point, at.frame, at.half, SIDES);
        pl_shape_join_rings(shape, last, next, SIDES, 0);
        last = next;
    }
    pl_shape_close_ring(shape, last, SIDES, pole, true);
}

/* ---- Edges --------------------------------------------------------------------------------- */

typedef struct edge_weaver {
    pl_shape *shape;
    int n;
    int lattice[PARTS][3], first[PARTS];
    int32_t *part_of;   /* [n] */
    int32_t *joints;    /* [n] edges to the parent part */
    int32_t *group;     /* [n] connected pieces: a particle of the same piece, itself at the root */
    pl_sort_item *item; /* candidates, best first */
    pl_sort_item *scratch;
    int32_t (*pair)[2];
    bool *taken;
    size_t count;
    int edges, wanted;
} edge_weaver;

static double distance(const pl_shape *shape, int i, int j)
{
    const double *a = (const double *)shape->positions.data + 3 * (size_t)i;
    const double *b = (const double *)shape->positions.data + 3 * (size_t)j;
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(pl_dot3(d, d));
}

static double mean_radius(const pl_shape *shape, int i)
{
    const double *r = (const double *)shape->radii.data + 3 * (size_t)i;
    return (r[0] + r[1] + r[2]) / 3;
}

/* Squared, in cells of the part's lattice. */
static int lattice_distance2(const edge_weaver *weaver, int part, int i, int j)
{
    const int *n = weaver->lattice[part];
    int a = i - weaver->first[part], b = j - weaver->first[part];
    int x = a / (n[1] * n[2]) - b / (n[1] * n[2]), y = a / n[2] % n[1] - b / n[2] % n[1];
    int z = a % n[2] - b % n[2];
    return x * x + y * y + z * z;
}

/* Candidates are taken in ascending order of this; infinite = none. Within a part cells count, with
   a little of the length, so that of equal diagonals the slender parts get theirs first. */
static double rate(const edge_weaver *weaver, int i, int j)
{
    int a = weaver->part_of[i], b = weaver->part_of[j];
    double apart = distance(weaver->shape, i, j);
    if (a == b) {
        int cells2 = lattice_distance2(weaver, a, i, j);
        return cells2 <= FARTHEST_CELLS2 ? sqrt(cells2) + 0.1 * apart : INFINITY;
    }
    if (parts[a].parent != b && parts[b].parent != a)
        return INFINITY;
    double radii = apart / (mean_radius(weaver->shape, i) + mean_radius(weaver->shape, j));
    return radii <= FARTHEST_RADII ? radii : INFINITY;
}

static size_t count_candidates(const edge_weaver *weaver)
{
    size_t count = 0;
    for (int i = 0; i < weaver->n; i++)
        for (int j = i + 1; j < weaver->n; j++)
            count += rate(weaver, i, j) < INFINITY;
    return count;
}

static void list_candidates(edge_weaver *weaver)
{
    size_t at = 0;
    for (int i = 0; i < weaver->n; i++) {
        for (int j = i + 1; j < weaver->n; j++) {
            double rating = rate(weaver, i, j);
            if (!(rating < INFINITY))
                continue;
            weaver->pair[at][0] = i;
            weaver->pair[at][1] = j;
            memcpy(&weaver->item[at].key, &rating, sizeof rating); /* positive: bits order it */
            weaver->item[at].index = (uint32_t)at;
            at++;
        }
    }
    pl_sort(weaver->item, weaver->scratch, weaver->count);
}

static int group_of(edge_weaver *weaver, int i)
{
    while (weaver->group[i] != i)
        i = weaver->group[i] = weaver->group[weaver->group[i]];
    return i;
}

/* a < b: particles are numbered part by part, so that b lies in the child of the two parts. */
static void take(edge_weaver *weaver, int a, int b)
{
    weaver->group[group_of(weaver, a)] = group_of(weaver, b);
    weaver->joints[b] += weaver->part_of[a] != weaver->part_of[b];
    pl_shape_add_edge(weaver->shape, a, b);
    weaver->edges++;
}

/* Joints are firm: each particle at the end of a part holds on to two of the parent. */
static bool joint_wanted(const edge_weaver *weaver, int b)
{
    int part = weaver->part_of[b], total = 0;
    const int *n = weaver->lattice[part];
    for (int k = 0; k < n[0] * n[1] * n[2]; k++)
        total += weaver->joints[weaver->first[part] + k];
    int most = 2 * n[1] * n[2] > LEAST_JOINTS ? 2 * n[1] * n[2] : LEAST_JOINTS;
    return total < most && weaver->joints[b] < 2;
}

/* Passes over the candidates: to connect everything (Kruskal's tree), for joints, to fill up. */
enum { CONNECT, JOIN, FILL, PASSES };

static bool is_wanted(edge_weaver *weaver, int pass, int a, int b)
{
    bool within = weaver->part_of[a] == weaver->part_of[b];
    if (pass == CONNECT)
        return group_of(weaver, a) != group_of(weaver, b);
    if (weaver->edges >= weaver->wanted)
        return false;
    return pass == FILL ? within : !within && joint_wanted(weaver, b);
}

static void weave(edge_weaver *weaver)
{
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t c = 0; c < weaver->count; c++) {
            uint32_t index = weaver->item[c].index;
            int a = weaver->pair[index][0], b = weaver->pair[index][1];
            if (!weaver->taken[index] && is_wanted(weaver, pass, a, b)) {
                weaver->taken[index] = true;
                take(weaver, a, b);
            }
        }
    }
}

/* What is still apart (possible only at unusual counts) gets its shortest connection. */
static void mend(edge_weaver *weaver)
{
    for (int i = 1; i < weaver->n; i++) {
        if (group_of(weaver, i) == group_of(weaver, 0))
            continue;
        int best = 0;
        for (int j = 1; j < weaver->n; j++)
            if (group_of(weaver, j) == group_of(weaver, 0) &&
                distance(weaver->shape, i, j) < distance(weaver->shape, i, best))
                best = j;
        take(weaver, best < i ? best : i, best < i ? i : best);
    }
}

static bool reserve(edge_weaver *weaver)
{
    pl_memory *memory = &weaver->shape->memory;
    if (!(weaver->part_of = PL_NEW(memory, int32_t, weaver->n)) ||
        !(weaver->joints = PL_NEW(memory, int32_t, weaver->n)) ||
        !(weaver->group = PL_NEW(memory, int32_t, weaver->n)))
        return false;
    for (int p = 0, i = 0; p < PARTS; p++)
        for (int k = 0; k < weaver->lattice[p][0] * weaver->lattice[p][1] * weaver->lattice[p][2];
             k++)
            weaver->part_of[i++] = p;
    for (int i = 0; i < weaver->n; i++)
        weaver->group[i] = i;
    weaver->count = count_candidates(weaver);
    return (weaver->item = PL_NEW(memory, pl_sort_item, weaver->count)) &&
           (weaver->scratch = PL_NEW(memory, pl_sort_item, weaver->count)) &&
           (weaver->pair = pl_memory_alloc(memory, weaver->count, sizeof *weaver->pair)) &&
           (weaver->taken = PL_NEW(memory, bool, weaver->count));
}

static void release(edge_weaver *weaver)
{
    void *arrays[] = {weaver->part_of, weaver->joints, weaver->group, weaver->item,
                      weaver->scratch, weaver->pair,   weaver->taken};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(&weaver->shape->memory, arrays[k]);
}

static void connect_particles(edge_weaver *weaver)
{
    if (reserve(weaver)) {
        list_candidates(weaver);
        weave(weaver);
        mend(weaver);
    } else {
        weaver->shape->failed = true;
    }
    release(weaver);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int scaled_lattice(const body_part *part, double factor, int lattice[3])
{
    for (int k = 0; k < 3; k++) {
        lattice[k] = (int)(part->lattice[k] * factor + 0.5);
        lattice[k] = lattice[k] < 1 ? 1 : lattice[k];
    }
    return lattice[0] * lattice[1] * lattice[2];
}

/* The factor on all lattices that comes nearest to a count of particles. */
static double find_factor(int count)
{
    double best = 1;
    int least = INT32_MAX;
    for (int s = 16; s <= 512; s++) {
        int total = 0, lattice[3];
        for (int p = 0; p < PARTS; p++)
            total += scaled_lattice(&parts[p], s / 64.0, lattice);
        int off = total > count ? total - count : count - total;
        if (off < least)
            least = off, best = s / 64.0;
    }
    return best;
}

static void find_scale(const pl_shape *shape, const double size[3], double scale[3],
                       double shift[3])
{
    const double *vertices = shape->vertices.data;
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < shape->vertices.count; v++) {
            double x = vertices[3 * v + (size_t)k];
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
        }
        scale[k] = size[k] / (upper - lower);
        shift[k] = -scale[k] * (k == 1 ? lower : (lower + upper) / 2);
    }
}

/* Length of a particle's axis after scaling, for one before. */
static double stretch(const double q[4], int axis, const double scale[3])
{
    double v[3] = {q[0], q[1], q[2]}, e[3] = {axis == 0, axis == 1, axis == 2}, c[3], d[3];
    pl_cross3(v, e, c);
    for (int k = 0; k < 3; k++)
        c[k] += q[3] * e[k];
    pl_cross3(v, c, d);
    for (int k = 0; k < 3; k++)
        d[k] = (e[k] + 2 * d[k]) * scale[k];
    return sqrt(pl_dot3(d, d));
}

/* Stretches the finished animal to its outer measures, its feet on y = 0. */
static void fit_into(pl_shape *shape, const double size[3])
{
    double scale[3], shift[3];
    find_scale(shape, size, scale, shift);
    double *lists[2] = {shape->positions.data, shape->vertices.data};
    size_t counts[2] = {shape->positions.count, shape->vertices.count};
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < 3 * counts[list]; i++)
            lists[list][i] = lists[list][i] * scale[i % 3] + shift[i % 3];
    double *radii = shape->radii.data;
    for (size_t i = 0; i < 3 * shape->radii.count; i++)
        radii[i] *=
            stretch((const double *)shape->orientations.data + i / 3 * 4, (int)(i % 3), scale);
}

/* Ellipsoids fill π/6 of their cells, an elliptical tube π/4 of its own: half as much again. */
static double tube_volume(const pl_shape *shape)
{
    const double *r = shape->radii.data;
    double sum = 0;
    for (size_t i = 0; i < shape->radii.count; i++)
        sum += 4.0 / 3 * 3.14159265358979323846 * (r[3 * i] * r[3 * i + 1] * r[3 * i + 2]);
    return 1.5 * sum;
}

void pl_build_creature(pl_shape *shape, const pl_shape_plan *plan)
{
    double factor = find_factor(plan->count[0]);
    edge_weaver weaver = {.shape = shape};
    for (int p = 0; p < PARTS; p++) {
        weaver.first[p] = weaver.n;
        weaver.n += scaled_lattice(&parts[p], factor, weaver.lattice[p]);
        fill_part(shape, &parts[p], weaver.lattice[p]);
        skin_part(shape, &parts[p], weaver.lattice[p][0]);
    }
    if (shape->failed)
        return;
    weaver.wanted = (int)((261 * (int64_t)weaver.n + 50) / 100);
    connect_particles(&weaver);
    fit_into(shape, plan->size);
    shape->volume = tube_volume(shape);
    shape->dimension = 3;
}
