#include "draw/coarse.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

static double distance2(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* 21 bits for each axis; what lies further out shares the last cell. */
static uint64_t cell_of(const double *p, const double lower[3], double cell)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double at = (p[k] - lower[k]) / cell;
        uint64_t step = at > 0 ? (at < 2097151.0 ? (uint64_t)at : 2097151) : 0;
        key = key << 21 | step;
    }
    return key;
}

/* The vertices items[0 … count) share a cell. */
static void choose(const pl_sort_item *items, size_t count, const double *positions, int32_t *kept)
{
    double middle[3] = {0, 0, 0}, least = INFINITY;
    uint32_t best = items[0].index;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            middle[k] += positions[3 * (size_t)items[i].index + (size_t)k] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double away = distance2(positions + 3 * (size_t)items[i].index, middle);
        if (away < least)
            least = away, best = items[i].index;
    }
    for (size_t i = 0; i < count; i++)
        kept[items[i].index] = (int32_t)best;
}

pl_status pl_coarse_vertices(pl_memory *memory, int vertex_count, const double *positions,
                             double cell, int32_t *kept)
{
    size_t n = (size_t)vertex_count;
    double lower[3] = {INFINITY, INFINITY, INFINITY};
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * n);
    if (!items)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * n; i++)
        lower[i % 3] = fmin(lower[i % 3], positions[i]);
    for (size_t i = 0; i < n; i++)
        items[i] = (pl_sort_item){cell_of(positions + 3 * i, lower, cell), (uint32_t)i};
    pl_sort(items, items + n, n);
    for (size_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && items[next].key == items[first].key;)
            next++;
        choose(items + first, next - first, positions, kept);
    }
    pl_memory_free(memory, items);
    return PL_OK;
}

double pl_mean_edge(int triangle_count, const int32_t *triangles, const double *positions)
{
    double sum = 0;
    for (size_t t = 0; t < (size_t)triangle_count; t++)
        for (size_t k = 0; k < 3; k++) {
            const double *a = positions + 3 * (size_t)triangles[3 * t + k];
            const double *b = positions + 3 * (size_t)triangles[3 * t + (k + 1) % 3];
            sum += sqrt(distance2(a, b));
        }
    return triangle_count ? sum / (3.0 * triangle_count) : 0;
}
