/* Triangles sorted along a Morton curve, four to a leaf, under a binary tree of boxes; and what an
   ellipsoid meets of them on its way through a sub-step. Inside a one-sided mesh the way out is
   through the nearest triangle. */
#include "contact/mesh.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

enum { LEAF = 4, DEEPEST = 32 };

/* ---- Making ---------------------------------------------------------------------------------- */

static uint64_t spread(uint32_t value)
{
    uint64_t x = value & 0x1fffff;
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    x = (x | x << 2) & UINT64_C(0x1249249249249249);
    return x;
}

static void empty_box(double box[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
}

static void add_point(double box[6], const double p[3])
{
    for (int k = 0; k < 3; k++) {
        box[k] = fmin(box[k], p[k]);
        box[3 + k] = fmax(box[3 + k], p[k]);
    }
}

static uint64_t key_of(const double corners[3][3], const double box[6])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double middle = (corners[0][k] + corners[1][k] + corners[2][k]) / 3;
        double part = box[3 + k] > box[k] ? (middle - box[k]) / (box[3 + k] - box[k]) : 0;
        part = part > 0 ? part < 1 ? part : 1 : 0;
        key |= spread((uint32_t)(part * 0x1fffff)) << k;
    }
    return key;
}

static bool sort_triangles(pl_memory *memory, pl_solid *solid, int count,
                           const double (*corners)[3][3])
{
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * (size_t)count);
    double all[6], normal[3];
    if (!items)
        return false;
    empty_box(all);
    for (int i = 0; i < count; i++)
        if (pl_triangle_normal(corners[i], normal)) {
            items[solid->count++].index = (uint32_t)i;
            for (int k = 0; k < 3; k++)
                add_point(all, corners[i][k]);
        }
    for (int i = 0; i < solid->count; i++)
        items[i].key = key_of(corners[items[i].index], all);
    if (solid->count)
        pl_sort(items, items + solid->count, (size_t)solid->count);
    for (int i = 0; i < solid->count; i++)
        memcpy(solid->corners[i], corners[items[i].index], sizeof solid->corners[i]);
    pl_memory_free(memory, items);
    return true;
}

static int count_nodes(pl_solid *solid)
{
    int total = 0, level = (solid->count + LEAF - 1) / LEAF;
    solid->depth = 0;
    while (level > 0) {
        solid->level_start[solid->depth++] = total;
        total += level;
        if (level == 1)
            break;
        level = (level + 1) / 2;
    }
    return total;
}

static void fill_boxes(pl_solid *solid)
{
    for (int i = 0; i < solid->node_count; i++)
        empty_box(solid->boxes[i]);
    for (int i = 0; i < 3 * solid->count; i++)
        add_point(solid->boxes[i / 3 / LEAF], solid->corners[i / 3][i % 3]);
    for (int level = 1; level < solid->depth; level++)
        for (int i = solid->level_start[level - 1]; i < solid->level_start[level]; i++) {
            double *box =
                solid->boxes[solid->level_start[level] + (i - solid->level_start[level - 1]) / 2];
            add_point(box, solid->boxes[i]);
            add_point(box, solid->boxes[i] + 3);
        }
}

pl_solid *pl_solid_create(pl_memory *memory, int count, const double (*corners)[3][3])
{
    pl_solid *solid = PL_NEW(memory, pl_solid, 1);
    if (!solid)
        return NULL;
    solid->corners = pl_memory_alloc(memory, (size_t)count, sizeof *solid->corners);
    if (solid->corners && sort_triangles(memory, solid, count, corners)) {
        solid->node_count = count_nodes(solid);
        solid->boxes = pl_memory_alloc(memory, (size_t)solid->node_count, sizeof *solid->boxes);
        if (solid->boxes) {
            fill_boxes(solid);
            return solid;
        }
    }
    pl_solid_destroy(memory, solid);
    return NULL;
}

void pl_solid_destroy(pl_memory *memory, pl_solid *solid)
{
    if (!solid)
        return;
    pl_memory_free(memory, solid->corners);
    pl_memory_free(memory, solid->boxes);
    pl_memory_free(memory, solid);
}

/* ---- Walking the tree ------------------------------------------------------------------------ */

typedef struct place {
    int level, number; /* of the node in its level */
} place;

static int level_count(const pl_solid *solid, int level)
{
    int end = level + 1 < solid->depth ? solid->level_start[level + 1] : solid->node_count;
    return end - solid->level_start[level];
}

static const double *box_of(const pl_solid *solid, place p)
{
    return solid->boxes[solid->level_start[p.level] + p.number];
}

/* Puts the children on the stack; returns how many. */
static int children(const pl_solid *solid, place p, place *stack)
{
    int made = 0;
    for (int i = 2 * p.number; i <= 2 * p.number + 1; i++)
        if (i < level_count(solid, p.level - 1))
            stack[made++] = (place){p.level - 1, i};
    return made;
}

static bool boxes_meet(const double a[6], const double b[6])
{
    return a[0] <= b[3] && b[0] <= a[3] && a[1] <= b[4] && b[1] <= a[4] && a[2] <= b[5] &&
           b[2] <= a[5];
}

/* ---- The nearest triangle -------------------------------------------------------------------- */

static double square_to_box(const double box[6], const double p[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = fmax(fmax(box[k] - p[k], p[k] - box[3 + k]), 0);
        square += d * d;
    }
    return square;
}

typedef struct nearest {
    double square, slope; /* slope: |cosine| between the way there and the triangle's normal */
    double point[3], normal[3], side;
} nearest;

/* Of triangles that share the nearest point the one that is seen least from the side tells inside
   from outside. */
static void try_nearest(const double corners[3][3], const double p[3], nearest *best)
{
    double point[3], normal[3], away[3], square = 0, side = 0;
    pl_triangle_nearest(corners, p, point);
    pl_triangle_normal(corners, normal);
    for (int k = 0; k < 3; k++) {
        away[k] = p[k] - point[k];
        square += away[k] * away[k];
        side += away[k] * normal[k];
    }
    double slope = square > 0 ? fabs(side) / sqrt(square) : 1;
    bool tied = square <= best->square * (1 + 1e-9);
    if (square < best->square * (1 - 1e-9) || (tied && slope > best->slope)) {
        best->square = fmin(square, best->square);
        best->slope = slope;
        best->side = side;
        memcpy(best->point, point, sizeof point);
        memcpy(best->normal, normal, sizeof normal);
    }
}

static nearest find_nearest(const pl_solid *solid, const double p[3])
{
    nearest best = {.square = INFINITY};
    place stack[2 * DEEPEST];
    int top = 0;
    if (solid->node_count)
        stack[top++] = (place){solid->depth - 1, 0};
    while (top > 0) {
        place at = stack[--top];
        if (square_to_box(box_of(solid, at), p) > best.square * (1 + 1e-9))
            continue;
        if (at.level == 0) {
            int end = (at.number + 1) * LEAF;
            for (int i = at.number * LEAF; i < end && i < solid->count; i++)
                try_nearest(solid->corners[i], p, &best);
            continue;
        }
        int made = children(solid, at, stack + top);
        /* The nearer child is looked at first. */
        if (made == 2 && square_to_box(box_of(solid, stack[top]), p) <
                             square_to_box(box_of(solid, stack[top + 1]), p)) {
            place first = stack[top];
            stack[top] = stack[top + 1];
            stack[top + 1] = first;
        }
        top += made;
    }
    return best;
}

/* ---- Barriers -------------------------------------------------------------------------------- */

typedef struct search {
    const pl_ball *ball;
    const double *still;
    bool two_sided, resting;
    double first;            /* part of the way to the earliest triangle gone through */
    double pressed, deepest; /* of the two below: overlap as a part of the half-width */
    pl_barrier through, pressing, deep;
} search;

/* Whether it has moved into the barrier in this sub-step. */
static bool is_pressing(const search *s, const pl_barrier *b)
{
    double way = 0;
    for (int k = 0; k < 3; k++)
        way -= b->normal[k] * (s->ball->at[k] - s->ball->from[k] - s->still[k]);
    return fmin(way, b->overlap) > 1e-6 * s->ball->radius;
}

static void try_triangle(search *s, const double corners[3][3])
{
    pl_barrier barrier;
    double t = pl_ball_through_triangle(s->ball, corners, s->two_sided, &barrier);
    if (t < s->first) {
        s->first = t;
        s->through = barrier;
    }
    if (s->first <= 1 || !pl_ball_on_triangle(s->ball, corners, s->two_sided, &barrier))
        return;
    double part = barrier.overlap / fmax(pl_ball_half_width(s->ball, barrier.normal), 1e-150);
    if (part > s->pressed && is_pressing(s, &barrier)) {
        s->pressed = part;
        s->pressing = barrier;
    }
    if (part > s->deepest) {
        s->deepest = part;
        s->deep = barrier;
    }
}

static void search_box(const pl_ball *ball, double box[6])
{
    empty_box(box);
    add_point(box, ball->from);
    for (int k = 0; k < 3; k++) {
        double half = sqrt(ball->shape[k == 0 ? 0 : k == 1 ? 3 : 5]);
        box[k] = fmin(box[k], ball->at[k] - half);
        box[3 + k] = fmax(box[3 + k], ball->at[k] + half);
    }
}

static void search_tree(search *s, const pl_solid *solid)
{
    place stack[2 * DEEPEST];
    double box[6];
    int top = 0;
    search_box(s->ball, box);
    if (solid->node_count)
        stack[top++] = (place){solid->depth - 1, 0};
    while (top > 0) {
        place at = stack[--top];
        if (!boxes_meet(box_of(solid, at), box))
            continue;
        if (at.level > 0) {
            top += children(solid, at, stack + top);
            continue;
        }
        int end = (at.number + 1) * LEAF;
        for (int i = at.number * LEAF; i < end && i < solid->count; i++)
            try_triangle(s, solid->corners[i]);
    }
}

/* Behind the nearest triangle, seen from well within its front. */
static bool is_inside(const nearest *n)
{
    return isfinite(n->square) && n->side < 0 && n->slope > 0.7;
}

static nearest look_inside(const pl_solid *solid, const double p[3])
{
    nearest none = {.square = INFINITY};
    bool near =
        solid->node_count && square_to_box(box_of(solid, (place){solid->depth - 1, 0}), p) == 0;
    return near ? find_nearest(solid, p) : none;
}

bool pl_way_out_of_solid(const double p[3], const pl_solid *solid, pl_barrier *out)
{
    nearest n = look_inside(solid, p);
    if (!is_inside(&n))
        return false;
    memcpy(out->normal, n.normal, sizeof out->normal);
    memcpy(out->point, n.point, sizeof out->point);
    return true;
}

bool pl_ball_on_solid(const pl_ball *ball, const pl_solid *solid, bool two_sided, bool resting,
                      const double still[3], pl_barrier *barrier, bool *through)
{
    search s = {
        .ball = ball, .still = still, .two_sided = two_sided, .resting = resting, .first = 2};
    search_tree(&s, solid);
    *through = s.first <= 1;
    if (*through) {
        *barrier = s.through;
        return true;
    }
    nearest n = {.square = INFINITY};
    if (!two_sided)
        n = look_inside(solid, ball->at);
    if (is_inside(&n) && pl_set_barrier(ball, n.normal, n.point, &s.deep)) {
        *barrier = s.deep;
        return resting || is_pressing(&s, barrier);
    }
    if (s.pressed > 0) {
        *barrier = s.pressing;
        return true;
    }
    *barrier = s.deep;
    return resting && s.deepest > 0;
}
