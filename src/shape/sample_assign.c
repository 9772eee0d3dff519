/* Cells to nearest points, brick by brick and eight cells at a time: with c the middle of some
   cells, r how far they reach from it and D the distance of the point nearest to c, only points
   within D + 2 r of c can be nearest to one of them. */
#include "shape/sample_assign.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "shape/sample_buckets.h"

typedef struct near_point {
    double point[3];
    int32_t number;
} near_point;

typedef struct assigning {
    const pl_cells *cells;
    pl_buckets buckets;
    pl_array near, nearer; /* near_point: of a brick, of a few cells */
    double centre[3], radius;
    bool failed;
    double reach;
    int32_t *owner;
    double *distance2;
} assigning;

static bool collect(void *user, int first, int end)
{
    assigning *a = user;
    for (int i = first; i < end; i++) {
        const double *p = a->buckets.points + 3 * (size_t)i;
        if (pl_distance2(p, a->centre) > a->radius * a->radius)
            continue;
        near_point *near = pl_array_add(&a->near, 1);
        a->failed = a->failed || !near;
        if (!near)
            return false;
        *near = (near_point){{p[0], p[1], p[2]}, a->buckets.index[i]};
    }
    return true;
}

/* A ball around the points of some cells. */
static double enclose(const pl_cells *cells, const int *list, int count, double centre[3])
{
    double radius2 = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; i++) {
            low = fmin(low, cells->points[3 * (size_t)list[i] + k]);
            high = fmax(high, cells->points[3 * (size_t)list[i] + k]);
        }
        centre[k] = 0.5 * low + 0.5 * high;
    }
    for (int i = 0; i < count; i++)
        radius2 = fmax(radius2, pl_distance2(centre, cells->points + 3 * (size_t)list[i]));
    return sqrt(radius2);
}

static void assign_cell(assigning *a, int cell)
{
    const near_point *near = a->nearer.data;
    const double *p = a->cells->points + 3 * (size_t)cell;
    double best = a->reach * a->reach;
    int owner = -1;
    for (size_t i = 0; i < a->nearer.count; i++) {
        double d2 = pl_distance2(near[i].point, p);
        if (d2 < best || (d2 == best && (owner < 0 || near[i].number < owner))) {
            best = d2;
            owner = near[i].number;
        }
    }
    a->owner[cell] = owner;
    a->distance2[cell] = owner < 0 ? INFINITY : best;
}

static void assign_few(assigning *a, const int *list, int count)
{
    double centre[3], least = INFINITY, radius = enclose(a->cells, list, count, centre);
    const near_point *near = a->near.data;
    for (size_t i = 0; i < a->near.count; i++)
        least = fmin(least, pl_distance2(near[i].point, centre));
    double reach = (sqrt(least) + 2 * radius) * (1 + 1e-9);
    a->nearer.count = 0;
    for (size_t i = 0; i < a->near.count; i++)
        if (pl_distance2(near[i].point, centre) <= reach * reach)
            ((near_point *)a->nearer.data)[a->nearer.count++] = near[i];
    for (int i = 0; i < count; i++)
        assign_cell(a, list[i]);
}

static void assign_brick(assigning *a, const pl_brick *brick)
{
    int list[64], count = 0;
    for (int i = 0; i < __builtin_popcountll(brick->filled); i++)
        list[count++] = brick->start + i;
    if (!count)
        return;
    a->radius = enclose(a->cells, list, count, a->centre) + a->reach;
    a->near.count = 0;
    pl_buckets_visit(&a->buckets, a->centre, a->radius, collect, a);
    a->failed = a->failed || !pl_array_reserve(&a->nearer, a->near.count);
    for (int octant = 0; octant < 8 && !a->failed; octant++) {
        count = 0;
        for (int k = 0; k < 8; k++) {
            int x = 2 * (octant & 1) + (k & 1), y = 2 * (octant >> 1 & 1) + (k >> 1 & 1),
                z = 2 * (octant >> 2) + (k >> 2), bit = x + 4 * y + 16 * z;
            if (brick->filled >> bit & 1)
                list[count++] = pl_brick_cell(brick, bit);
        }
        if (count) {
            a->nearer.count = 0;
            assign_few(a, list, count);
        }
    }
}

pl_status pl_cells_assign(pl_memory *memory, const pl_cells *cells, int count, const double *points,
                          double spacing, double reach, int32_t *owner, double *distance2,
                          pl_error *error)
{
    assigning a = {.cells = cells, .reach = reach, .owner = owner, .distance2 = distance2};
    PL_TRY(pl_buckets_make(memory, count, points, spacing, &a.buckets, error));
    a.near = pl_array_make(memory, sizeof(near_point));
    a.nearer = pl_array_make(memory, sizeof(near_point));
    for (int b = 0; b < cells->brick_count && !a.failed; b++)
        assign_brick(&a, &cells->bricks[b]);
    pl_array_free(&a.near);
    pl_array_free(&a.nearer);
    pl_buckets_free(memory, &a.buckets);
    PL_CHECK(!a.failed, PL_ERROR_MEMORY, error, NULL, "no memory for %d samples", count);
    return PL_OK;
}
