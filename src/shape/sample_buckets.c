/* Points sorted into cubes: keys by radix sort; then the beginning of each cube, or a hash table of
   those not empty. */
#include "shape/sample_buckets.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"

/* Cubes along an axis: three such numbers make a key. */
#define MOST_CUBES 2097151.0

static int64_t cube_along(const pl_buckets *buckets, double coordinate, int axis)
{
    double cube = floor((coordinate - buckets->lower[axis]) / buckets->side);
    return cube > 0 ? cube < MOST_CUBES ? (int64_t)cube : (int64_t)MOST_CUBES : 0;
}

/* Bounds, and whether to list every cube in them. */
static void find_bounds(pl_buckets *buckets, const double *points)
{
    double extent[3], cubes = 1;
    for (int k = 0; k < 3; k++) {
        double lower = points[k], upper = points[k];
        for (int i = 1; i < buckets->count; i++) {
            double x = points[3 * (size_t)i + k];
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
        }
        buckets->lower[k] = lower;
        extent[k] = upper - lower;
    }
    double largest = fmax(fmax(extent[0], extent[1]), extent[2]);
    buckets->side = fmax(buckets->side, largest / (MOST_CUBES - 1));
    if (!(buckets->side > 0))
        buckets->side = 1;
    for (int k = 0; k < 3; k++) {
        buckets->cubes[k] = (int64_t)floor(extent[k] / buckets->side) + 1;
        cubes *= (double)buckets->cubes[k];
    }
    buckets->dense = cubes <= 16.0 * buckets->count + 4096;
}

static uint64_t key_in(const pl_buckets *buckets, const int64_t cube[3])
{
    if (!buckets->dense)
        return (uint64_t)cube[2] << 42 | (uint64_t)cube[1] << 21 | (uint64_t)cube[0];
    return (uint64_t)((cube[2] * buckets->cubes[1] + cube[1]) * buckets->cubes[0] + cube[0]);
}

static void sort_points(pl_buckets *buckets, const double *points, pl_sort_item *items)
{
    for (int i = 0; i < buckets->count; i++) {
        int64_t cube[3];
        for (int k = 0; k < 3; k++)
            cube[k] = cube_along(buckets, points[3 * (size_t)i + k], k);
        items[i] = (pl_sort_item){key_in(buckets, cube), (uint32_t)i};
    }
    pl_sort(items, items + buckets->count, (size_t)buckets->count);
    for (int i = 0; i < buckets->count; i++) {
        buckets->index[i] = (int32_t)items[i].index;
        memcpy(buckets->points + 3 * (size_t)i, points + 3 * (size_t)items[i].index,
               3 * sizeof(double));
    }
}

static bool list_cubes(pl_memory *memory, pl_buckets *buckets, const pl_sort_item *items)
{
    buckets->bucket_count = (int)(buckets->cubes[0] * buckets->cubes[1] * buckets->cubes[2]);
    buckets->start = PL_NEW(memory, int32_t, (size_t)buckets->bucket_count + 1);
    if (!buckets->start)
        return false;
    int i = 0;
    for (int b = 0; b <= buckets->bucket_count; b++) {
        while (i < buckets->count && items[i].key < (uint64_t)b)
            i++;
        buckets->start[b] = i;
    }
    return true;
}

static void fill_slots(pl_buckets *buckets)
{
    for (uint32_t slot = 0; slot <= buckets->mask; slot++)
        buckets->slots[slot] = -1;
    for (int b = 0; b < buckets->bucket_count; b++) {
        uint32_t slot = (uint32_t)pl_mix64(buckets->keys[b]) & buckets->mask;
        while (buckets->slots[slot] >= 0)
            slot = (slot + 1) & buckets->mask;
        buckets->slots[slot] = b;
    }
}

static bool hash_cubes(pl_memory *memory, pl_buckets *buckets, const pl_sort_item *items)
{
    int count = 0;
    for (int i = 0; i < buckets->count; i++)
        count += i == 0 || items[i].key != items[i - 1].key;
    buckets->mask = 15;
    while (buckets->mask < 2 * (size_t)count)
        buckets->mask = 2 * buckets->mask + 1;
    buckets->start = PL_NEW(memory, int32_t, (size_t)count + 1);
    buckets->keys = PL_NEW(memory, uint64_t, count);
    buckets->slots = PL_NEW(memory, int32_t, (size_t)buckets->mask + 1);
    if (!buckets->start || !buckets->keys || !buckets->slots)
        return false;
    for (int i = 0; i < buckets->count; i++) {
        if (i > 0 && items[i].key == items[i - 1].key)
            continue;
        buckets->start[buckets->bucket_count] = i;
        buckets->keys[buckets->bucket_count++] = items[i].key;
    }
    buckets->start[buckets->bucket_count] = buckets->count;
    fill_slots(buckets);
    return true;
}

static int find_bucket(const pl_buckets *buckets, uint64_t key)
{
    for (uint32_t slot = (uint32_t)pl_mix64(key) & buckets->mask;;
         slot = (slot + 1) & buckets->mask) {
        int bucket = buckets->slots[slot];
        if (bucket < 0 || buckets->keys[bucket] == key)
            return bucket;
    }
}

pl_status pl_buckets_make(pl_memory *memory, int count, const double *points, double side,
                          pl_buckets *buckets, pl_error *error)
{
    size_t n = (size_t)count;
    *buckets = (pl_buckets){.side = side, .count = count};
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * n);
    buckets->points = PL_NEW(memory, double, 3 * n);
    buckets->index = PL_NEW(memory, int32_t, n);
    bool enough = items && buckets->points && buckets->index;
    if (enough && count) {
        find_bounds(buckets, points);
        sort_points(buckets, points, items);
        enough = buckets->dense ? list_cubes(memory, buckets, items)
                                : hash_cubes(memory, buckets, items);
    }
    pl_memory_free(memory, items);
    if (!enough) {
        pl_buckets_free(memory, buckets);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory to sort %d points", count);
    }
    return PL_OK;
}

void pl_buckets_free(pl_memory *memory, pl_buckets *buckets)
{
    pl_memory_free(memory, buckets->points);
    pl_memory_free(memory, buckets->index);
    pl_memory_free(memory, buckets->start);
    pl_memory_free(memory, buckets->keys);
    pl_memory_free(memory, buckets->slots);
    *buckets = (pl_buckets){0};
}

static double outside_by(double coordinate, double lower, double upper)
{
    return coordinate < lower ? lower - coordinate : coordinate > upper ? coordinate - upper : 0;
}

/* Whether a cube, a little enlarged against rounding, reaches into a ball. */
static bool cube_reaches(const pl_buckets *buckets, const int64_t cube[3], const double centre[3],
                         double radius)
{
    double sum = 0, side = buckets->side;
    for (int k = 0; k < 3; k++) {
        double lower = buckets->lower[k] + ((double)cube[k] - 1e-6) * side;
        double out = outside_by(centre[k], lower, lower + (1 + 2e-6) * side);
        sum += out * out;
    }
    return sum <= radius * radius;
}

/* Few cubes lie in a ball, or it is shorter to walk over all that are not empty. */
static void visit_hashed(const pl_buckets *buckets, const double centre[3], double radius,
                         const int64_t low[3], const int64_t high[3], pl_bucket_visitor *visitor,
                         void *user)
{
    double cubes = (double)(high[0] - low[0] + 1) * (double)(high[1] - low[1] + 1) *
                   (double)(high[2] - low[2] + 1);
    if (cubes > buckets->bucket_count) {
        for (int b = 0; b < buckets->bucket_count; b++) {
            uint64_t key = buckets->keys[b];
            const int64_t cube[3] = {(int64_t)(key & 2097151), (int64_t)(key >> 21 & 2097151),
                                     (int64_t)(key >> 42)};
            if (cube_reaches(buckets, cube, centre, radius) &&
                !visitor(user, buckets->start[b], buckets->start[b + 1]))
                return;
        }
        return;
    }
    int64_t cube[3];
    for (cube[2] = low[2]; cube[2] <= high[2]; cube[2]++)
        for (cube[1] = low[1]; cube[1] <= high[1]; cube[1]++)
            for (cube[0] = low[0]; cube[0] <= high[0]; cube[0]++) {
                if (!cube_reaches(buckets, cube, centre, radius))
                    continue;
                int b = find_bucket(buckets, key_in(buckets, cube));
                if (b >= 0 && !visitor(user, buckets->start[b], buckets->start[b + 1]))
                    return;
            }
}

static double out_of_cube(const pl_buckets *buckets, const double centre[3], int64_t cube, int axis)
{
    double lower = buckets->lower[axis] + ((double)cube - 1e-6) * buckets->side;
    double out = outside_by(centre[axis], lower, lower + (1 + 2e-6) * buckets->side);
    return out * out;
}

/* Row by row along x, each as wide as the ball is there. */
static void visit_listed(const pl_buckets *buckets, const double centre[3], double radius,
                         const int64_t low[3], const int64_t high[3], pl_bucket_visitor *visitor,
                         void *user)
{
    for (int64_t z = low[2]; z <= high[2]; z++) {
        double left = radius * radius - out_of_cube(buckets, centre, z, 2);
        for (int64_t y = low[1]; y <= high[1]; y++) {
            double rest = left - out_of_cube(buckets, centre, y, 1);
            if (rest < 0)
                continue;
            double half = sqrt(rest);
            int64_t row = (z * buckets->cubes[1] + y) * buckets->cubes[0];
            int64_t last = cube_along(buckets, centre[0] + half + 1e-6 * buckets->side, 0);
            int64_t begin = cube_along(buckets, centre[0] - half - 1e-6 * buckets->side, 0);
            if (begin > high[0])
                continue;
            int first = buckets->start[row + begin];
            int end = buckets->start[row + (last < high[0] ? last : high[0]) + 1];
            if (first < end && !visitor(user, first, end))
                return;
        }
    }
}

void pl_buckets_visit(const pl_buckets *buckets, const double centre[3], double radius,
                      pl_bucket_visitor *visitor, void *user)
{
    int64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = cube_along(buckets, centre[k] - radius, k);
        high[k] = cube_along(buckets, centre[k] + radius, k);
        if (buckets->dense && low[k] >= buckets->cubes[k])
            low[k] = buckets->cubes[k] - 1;
        if (buckets->dense && high[k] >= buckets->cubes[k])
            high[k] = buckets->cubes[k] - 1;
    }
    if (buckets->dense)
        visit_listed(buckets, centre, radius, low, high, visitor, user);
    else
        visit_hashed(buckets, centre, radius, low, high, visitor, user);
}

typedef struct nearest_search {
    const pl_buckets *buckets;
    const double *centre, *place;
    double best;
    int except, found;
} nearest_search;

static bool look_nearer(void *user, int first, int end)
{
    nearest_search *search = user;
    for (int i = first; i < end; i++) {
        int index = search->buckets->index[i];
        const double *point = search->place ? search->place + 3 * (size_t)index
                                            : search->buckets->points + 3 * (size_t)i;
        double distance2 = pl_distance2(point, search->centre);
        if (index == search->except || distance2 > search->best)
            continue;
        if (distance2 < search->best || search->found < 0 || index < search->found) {
            search->best = distance2;
            search->found = index;
        }
    }
    return true;
}

int pl_buckets_nearest(const pl_buckets *buckets, const double centre[3], double radius, int except,
                       const double *place, double slack, double *distance2)
{
    nearest_search search = {buckets, centre, place, radius * radius, except, -1};
    if (buckets->count)
        pl_buckets_visit(buckets, centre, radius + slack, look_nearer, &search);
    if (distance2)
        *distance2 = search.best;
    return search.found;
}
