/* Halving the edges of a surface until all are short. */
#include "shape/sample_refine.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"

typedef struct refining {
    pl_memory *memory;
    double longest2;
    pl_array points, triangles, source;
    uint32_t mask, used; /* middles of edges: a hash table that doubles */
    uint64_t *keys;      /* edge + 1; 0 = free */
    int32_t *middles;
    int32_t from;
    bool failed;
} refining;

void pl_twice_area(const double *points, const int32_t *triangle, double vector[3])
{
    const double *p = points + 3 * (size_t)triangle[0], *q = points + 3 * (size_t)triangle[1],
                 *r = points + 3 * (size_t)triangle[2];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        vector[k] = (q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]);
    }
}

static bool make_table(refining *r, uint32_t mask)
{
    uint64_t *keys = PL_NEW(r->memory, uint64_t, (size_t)mask + 1);
    int32_t *middles = PL_NEW(r->memory, int32_t, (size_t)mask + 1);
    bool enough = keys && middles;
    for (size_t old = 0; enough && r->keys && old <= r->mask; old++) {
        if (!r->keys[old])
            continue;
        uint32_t slot = (uint32_t)pl_mix64(r->keys[old]) & mask;
        while (keys[slot])
            slot = (slot + 1) & mask;
        keys[slot] = r->keys[old];
        middles[slot] = r->middles[old];
    }
    if (!enough) {
        pl_memory_free(r->memory, keys);
        pl_memory_free(r->memory, middles);
        return false;
    }
    pl_memory_free(r->memory, r->keys);
    pl_memory_free(r->memory, r->middles);
    r->keys = keys, r->middles = middles, r->mask = mask;
    return true;
}

/* The point in the middle of an edge, the same for whoever asks; -1 without memory. */
static int middle_of(refining *r, int a, int b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    uint64_t key = (low << 32 | high) + 1;
    if (2 * r->used >= r->mask && !make_table(r, 2 * r->mask + 1))
        return -1;
    uint32_t slot = (uint32_t)pl_mix64(key) & r->mask;
    for (; r->keys[slot]; slot = (slot + 1) & r->mask)
        if (r->keys[slot] == key)
            return r->middles[slot];
    double *point = r->points.count < INT32_MAX / 4 ? pl_array_add(&r->points, 1) : NULL;
    if (!point)
        return -1;
    const double *points = r->points.data;
    for (int k = 0; k < 3; k++)
        point[k] = 0.5 * points[3 * low + (size_t)k] + 0.5 * points[3 * high + (size_t)k];
    r->keys[slot] = key;
    r->used++;
    return r->middles[slot] = (int32_t)r->points.count - 1;
}

static double edge2(const refining *r, int a, int b)
{
    const double *points = r->points.data, *p = points + 3 * (size_t)a, *q = points + 3 * (size_t)b;
    double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    return x * x + y * y + z * z;
}

static void split(refining *r, int a, int b, int c, int depth)
{
    double ab = edge2(r, a, b), bc = edge2(r, b, c), ca = edge2(r, c, a);
    double most = fmax(ab, fmax(bc, ca));
    if (r->failed)
        return;
    if (!(most > r->longest2) || depth > 100) {
        int32_t *triangle = pl_array_add(&r->triangles, 1), *source = pl_array_add(&r->source, 1);
        if (!triangle || !source || r->source.count > INT32_MAX / 4) {
            r->failed = true;
            return;
        }
        triangle[0] = a, triangle[1] = b, triangle[2] = c;
        *source = r->from;
        return;
    }
    if (bc == most) {
        int first = a;
        a = b, b = c, c = first;
    } else if (ab != most) {
        int last = c;
        c = b, b = a, a = last;
    }
    int middle = middle_of(r, a, b);
    if (middle < 0) {
        r->failed = true;
        return;
    }
    split(r, a, middle, c, depth + 1);
    split(r, middle, b, c, depth + 1);
}

pl_status pl_refine(pl_memory *memory, const pl_surface *surface, double longest, pl_fine *fine,
                    pl_error *error)
{
    refining r = {.memory = memory, .longest2 = longest * longest};
    r.points = pl_array_make(memory, 3 * sizeof(double));
    r.triangles = pl_array_make(memory, 3 * sizeof(int32_t));
    r.source = pl_array_make(memory, sizeof(int32_t));
    double *points = pl_array_add(&r.points, (size_t)surface->point_count + 1);
    r.failed = !points || !make_table(&r, 1023);
    if (points) {
        memcpy(points, surface->points, 3 * (size_t)surface->point_count * sizeof(double));
        r.points.count--;
    }
    for (int t = 0; t < surface->triangle_count && !r.failed; t++) {
        const int32_t *corner = surface->triangles + 3 * (size_t)t;
        r.from = t;
        split(&r, corner[0], corner[1], corner[2], 0);
    }
    pl_memory_free(memory, r.keys);
    pl_memory_free(memory, r.middles);
    *fine = (pl_fine){(int)r.points.count, (int)r.source.count, r.points.data, r.triangles.data,
                      r.source.data};
    if (r.failed) {
        pl_fine_free(memory, fine);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for a finer surface");
    }
    return PL_OK;
}

void pl_fine_free(pl_memory *memory, pl_fine *fine)
{
    pl_memory_free(memory, fine->points);
    pl_memory_free(memory, fine->triangles);
    pl_memory_free(memory, fine->source);
    *fine = (pl_fine){0};
}
