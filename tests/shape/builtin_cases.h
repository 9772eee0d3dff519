/* Ways to judge a surface: welded by exact position, is it closed, of one piece, of which genus,
   free of self-intersections? Written without any of the code under test. */
#ifndef PLIANT_TESTS_BUILTIN_CASES_H
#define PLIANT_TESTS_BUILTIN_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "pliant/cook.h"

typedef struct welded {
    int point_count, triangle_count;
    pl_vec3 *points;
    int32_t *triangles;
} welded;

static const double *compared; /* positions, for the sort below */

static inline int compare_vertices(const void *a, const void *b)
{
    return memcmp(compared + 3 * *(const int32_t *)a, compared + 3 * *(const int32_t *)b,
                  3 * sizeof(double));
}

static inline welded weld(const pl_mesh *mesh)
{
    welded w = {0};
    int n = mesh->vertex_count;
    int32_t *order = malloc((size_t)n * sizeof *order), *point = malloc((size_t)n * sizeof *point);
    w.points = malloc((size_t)n * sizeof *w.points);
    w.triangles = malloc(3 * (size_t)mesh->triangle_count * sizeof *w.triangles);
    w.triangle_count = mesh->triangle_count;
    for (int32_t i = 0; i < n; i++)
        order[i] = i;
    compared = mesh->positions;
    qsort(order, (size_t)n, sizeof *order, compare_vertices);
    for (int i = 0; i < n; i++) {
        const double *p = mesh->positions + 3 * order[i];
        if (i == 0 || compare_vertices(&order[i - 1], &order[i]))
            w.points[w.point_count++] = pl_v3(p[0], p[1], p[2]);
        point[order[i]] = w.point_count - 1;
    }
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        w.triangles[i] = point[mesh->triangles[i]];
    free(order);
    free(point);
    return w;
}

static inline void free_welded(welded *w)
{
    free(w->points);
    free(w->triangles);
}

static inline int compare_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Directed edges that have no opposite one, or are there twice: 0 for a closed, consistently
   oriented surface. */
static inline int bad_edges(const welded *w, int *edge_count)
{
    size_t n = 3 * (size_t)w->triangle_count;
    uint64_t *edges = malloc(n * sizeof *edges);
    for (size_t h = 0; h < n; h++) {
        uint64_t a = (uint32_t)w->triangles[h];
        uint64_t b = (uint32_t)w->triangles[h % 3 == 2 ? h - 2 : h + 1];
        edges[h] = a << 32 | b;
    }
    qsort(edges, n, sizeof *edges, compare_edges);
    int bad = 0;
    for (size_t h = 0; h < n; h++) {
        uint64_t back = edges[h] << 32 | edges[h] >> 32;
        bad += h > 0 && edges[h] == edges[h - 1];
        bad += bsearch(&back, edges, n, sizeof *edges, compare_edges) == NULL;
    }
    free(edges);
    *edge_count = (int)(n / 2);
    return bad;
}

static inline int find_root(int32_t *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline int component_count(const welded *w)
{
    int32_t *parent = malloc((size_t)w->point_count * sizeof *parent);
    int count = w->point_count;
    for (int32_t i = 0; i < w->point_count; i++)
        parent[i] = i;
    for (int h = 0; h < 3 * w->triangle_count; h++) {
        int a = find_root(parent, w->triangles[h]);
        int b = find_root(parent, w->triangles[h % 3 == 2 ? h - 2 : h + 1]);
        count -= a != b;
        parent[a] = b;
    }
    free(parent);
    return count;
}

static inline double signed_volume(const welded *w)
{
    double volume = 0;
    for (int t = 0; t < w->triangle_count; t++) {
        const int32_t *c = w->triangles + 3 * t;
        volume += pl_v3_dot(w->points[c[0]], pl_v3_cross(w->points[c[1]], w->points[c[2]])) / 6;
    }
    return volume;
}

static inline double orient(pl_vec3 a, pl_vec3 b, pl_vec3 c, pl_vec3 d)
{
    return pl_v3_dot(pl_v3_cross(pl_v3_sub(b, a), pl_v3_sub(c, a)), pl_v3_sub(d, a));
}

static inline bool segment_meets(pl_vec3 p, pl_vec3 q, pl_vec3 a, pl_vec3 b, pl_vec3 c)
{
    /* Triangles of one plane, as on flat faces, lie next to each other by rounding only. */
    const double rounding = 1e-13;
    double from = orient(a, b, c, p), to = orient(a, b, c, q);
    if (from * to >= 0 || fabs(from) < rounding || fabs(to) < rounding)
        return false;
    bool u = orient(p, q, a, b) > 0, v = orient(p, q, b, c) > 0, s = orient(p, q, c, a) > 0;
    return u == v && v == s;
}

static inline bool triangles_meet(const welded *w, int s, int t)
{
    const int32_t *a = w->triangles + 3 * s, *b = w->triangles + 3 * t;
    pl_vec3 p[3], q[3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j])
                return false; /* neighbours meet where they should */
        p[i] = w->points[a[i]];
        q[i] = w->points[b[i]];
    }
    for (int i = 0; i < 3; i++)
        if (segment_meets(p[i], p[(i + 1) % 3], q[0], q[1], q[2]) ||
            segment_meets(q[i], q[(i + 1) % 3], p[0], p[1], p[2]))
            return true;
    return false;
}

enum { BINS = 48 };

static inline int bin_of(double x)
{
    int i = (int)((x + 0.75) / 1.5 * BINS);
    return i < 0 ? 0 : i >= BINS ? BINS - 1 : i;
}

/* Bounds of a triangle in bins. */
static inline void bins_of(const welded *w, int t, int lower[3], int upper[3])
{
    const int32_t *c = w->triangles + 3 * t;
    pl_vec3 a = pl_v3_min(w->points[c[0]], pl_v3_min(w->points[c[1]], w->points[c[2]]));
    pl_vec3 b = pl_v3_max(w->points[c[0]], pl_v3_max(w->points[c[1]], w->points[c[2]]));
    double l[3] = {a.x, a.y - 0.6, a.z}, u[3] = {b.x, b.y - 0.6, b.z};
    for (int i = 0; i < 3; i++) {
        lower[i] = bin_of(l[i]);
        upper[i] = bin_of(u[i]);
    }
}

/* Pairs of triangles, without a common point, that cut each other. A pair found in several bins is
   counted in each. */
static inline int self_intersections(const welded *w)
{
    size_t bins = (size_t)BINS * BINS * BINS;
    int32_t *start = calloc(bins + 1, sizeof *start), *fill = calloc(bins, sizeof *fill);
    int32_t *list = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < w->triangle_count; t++) {
            int l[3], u[3];
            bins_of(w, t, l, u);
            for (int z = l[2]; z <= u[2]; z++)
                for (int y = l[1]; y <= u[1]; y++)
                    for (int x = l[0]; x <= u[0]; x++) {
                        int bin = (z * BINS + y) * BINS + x;
                        if (pass)
                            list[start[bin] + fill[bin]++] = t;
                        else
                            start[bin + 1]++;
                    }
        }
        if (pass)
            break;
        for (size_t i = 0; i < bins; i++)
            start[i + 1] += start[i];
        list = malloc((size_t)(start[bins] + 1) * sizeof *list);
    }
    int found = 0;
    for (size_t bin = 0; bin < bins; bin++)
        for (int32_t i = start[bin]; i < start[bin + 1]; i++)
            for (int32_t j = i + 1; j < start[bin + 1]; j++)
                found += triangles_meet(w, list[i], list[j]);
    free(start);
    free(fill);
    free(list);
    return found;
}

/* In degrees. */
static inline double least_angle(const welded *w, int t)
{
    const int32_t *c = w->triangles + 3 * t;
    double least = 180;
    for (int i = 0; i < 3; i++) {
        pl_vec3 u = pl_v3_sub(w->points[c[(i + 1) % 3]], w->points[c[i]]);
        pl_vec3 v = pl_v3_sub(w->points[c[(i + 2) % 3]], w->points[c[i]]);
        double cosine = pl_v3_dot(u, v) / (pl_v3_length(u) * pl_v3_length(v));
        least = fmin(least, acos(fmin(fmax(cosine, -1), 1)) * 57.295779513);
    }
    return least;
}

#endif
