/* The graph of a shell: the same as of a solid, with the corners of a finer surface in place of
   cells. A particle's part of the surface gives it a flat ellipsoid: an ellipse with the part's
   area and second moments (of an ellipse of semi-axes a, b they are a²/4, b²/4), as thick as the
   shell. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/connect_heap.h"
#include "shape/connect_parts.h"
#include "shape/sample_buckets.h"
#include "shape/sample_parts.h"
#include "shape/sample_refine.h"

#define PI 3.14159265358979323846
#define EDGES_PER_DISTANCE 4.0
#define MOST_ASPECT 1e5

typedef struct flat {
    double area, first[3], second[6], normal[3];
} flat;

typedef struct shell {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_samples *samples;
    pl_fine fine;
    pl_buckets middles;         /* of the finer triangles */
    int32_t *start, *neighbour; /* of each corner */
    int32_t *owner;             /* of each corner */
    pl_array heap, touches, pairs;
    flat *flats;
    double *shapes;
    const double *query; /* looking for the triangle of a sample */
    int wanted, found;
    double best;
} shell;

static pl_status refine(shell *s, pl_error *error)
{
    PL_TRY(pl_refine(s->memory, s->surface, s->samples->distance / EDGES_PER_DISTANCE, &s->fine,
                     error));
    size_t n = (size_t)s->fine.point_count, m = (size_t)s->fine.triangle_count;
    s->start = PL_NEW(s->memory, int32_t, n + 2);
    s->neighbour = PL_NEW(s->memory, int32_t, 6 * m);
    s->owner = PL_NEW(s->memory, int32_t, n);
    s->flats = PL_NEW(s->memory, flat, s->samples->count);
    s->shapes = PL_NEW(s->memory, double, 6 * (size_t)s->samples->count);
    PL_CHECK(s->start && s->neighbour && s->owner && s->flats && s->shapes && m < INT32_MAX / 6,
             PL_ERROR_MEMORY, error, NULL, "no memory for a shell");
    for (size_t i = 0; i < 3 * m; i++)
        s->start[s->fine.triangles[i] + 2] += 2;
    for (size_t i = 2; i < n + 2; i++)
        s->start[i] += s->start[i - 1];
    for (size_t t = 0; t < m; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *corner = s->fine.triangles + 3 * t;
            int p = corner[k];
            s->neighbour[s->start[p + 1]++] = corner[(k + 1) % 3];
            s->neighbour[s->start[p + 1]++] = corner[(k + 2) % 3];
        }
    for (size_t i = 0; i < n; i++)
        s->owner[i] = -1;
    return PL_OK;
}

static pl_status sort_middles(shell *s, pl_error *error)
{
    size_t m = (size_t)s->fine.triangle_count;
    double *middle = PL_NEW(s->memory, double, 3 * m);
    PL_CHECK(middle, PL_ERROR_MEMORY, error, NULL, "no memory for a shell");
    for (size_t t = 0; t < m; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *c = s->fine.triangles + 3 * t;
            middle[3 * t + (size_t)k] =
                (s->fine.points[3 * (size_t)c[0] + k] + s->fine.points[3 * (size_t)c[1] + k] +
                 s->fine.points[3 * (size_t)c[2] + k]) /
                3;
        }
    pl_status status =
        pl_buckets_make(s->memory, (int)m, middle, s->samples->distance / 2, &s->middles, error);
    pl_memory_free(s->memory, middle);
    return status;
}

static bool look_for_triangle(void *user, int first, int end)
{
    shell *s = user;
    for (int i = first; i < end; i++) {
        int t = s->middles.index[i];
        double distance2 = pl_distance2(s->middles.points + 3 * (size_t)i, s->query);
        if ((s->wanted >= 0 && s->fine.source[t] != s->wanted) || distance2 > s->best ||
            (distance2 == s->best && s->found >= 0 && t > s->found))
            continue;
        s->best = distance2;
        s->found = t;
    }
    return true;
}

/* The finer triangle of a sample: of the triangle it says it lies on, if that is so. */
static int triangle_at(shell *s, int sample)
{
    s->query = s->samples->points + 3 * (size_t)sample;
    s->wanted = s->samples->triangle[sample];
    s->found = -1;
    s->best = INFINITY;
    pl_buckets_visit(&s->middles, s->query, s->samples->distance / 2, look_for_triangle, s);
    s->wanted = -1;
    for (double reach = 1; s->found < 0 && reach < 1e6; reach *= 4)
        pl_buckets_visit(&s->middles, s->query, reach * s->samples->distance, look_for_triangle, s);
    return s->found;
}

static bool push(shell *s, int corner, int owner)
{
    double distance2 =
        pl_distance2(s->fine.points + 3 * (size_t)corner, s->samples->points + 3 * (size_t)owner);
    return s->owner[corner] >= 0 || pl_heap_push(&s->heap, (pl_waiting){distance2, corner, owner});
}

/* From the samples over the surface, the nearest first. */
static bool flood(shell *s)
{
    for (int i = 0; i < s->samples->count; i++) {
        int t = triangle_at(s, i);
        for (int k = 0; k < 3 && t >= 0; k++)
            if (!push(s, s->fine.triangles[3 * (size_t)t + k], i))
                return false;
    }
    while (s->heap.count) {
        pl_waiting item = pl_heap_pop(&s->heap);
        if (s->owner[item.place] >= 0)
            continue;
        s->owner[item.place] = item.owner;
        for (int k = s->start[item.place]; k < s->start[item.place + 1]; k++)
            if (!push(s, s->neighbour[k], item.owner))
                return false;
    }
    return true;
}

static bool touch(shell *s, int a, int b, double contact)
{
    if (a < 0 || b < 0 || a == b)
        return true;
    pl_touch *place = pl_array_add(&s->touches, 1);
    if (place)
        *place = pl_touch_make(a, b, contact);
    return place != NULL;
}

/* A third of each triangle goes to each of its corners' particles. */
static void add_corner(shell *s, int corner, const double vector[3])
{
    int owner = s->owner[corner];
    if (owner < 0)
        return;
    flat *f = &s->flats[owner];
    double unit = s->samples->distance, w = 0, x[3];
    for (int k = 0; k < 3; k++) {
        f->normal[k] += vector[k] / unit / unit;
        w += vector[k] / unit / unit * (vector[k] / unit / unit);
        x[k] =
            (s->fine.points[3 * (size_t)corner + k] - s->samples->points[3 * (size_t)owner + k]) /
            unit;
    }
    w = sqrt(w) / 6;
    f->area += w;
    for (int i = 0, n = 0; i < 3; i++) {
        f->first[i] += w * x[i];
        for (int j = i; j < 3; j++)
            f->second[n++] += w * x[i] * x[j];
    }
}

static bool read_triangles(shell *s)
{
    for (int t = 0; t < s->fine.triangle_count; t++) {
        const int32_t *corner = s->fine.triangles + 3 * (size_t)t;
        double vector[3];
        pl_twice_area(s->fine.points, corner, vector);
        for (int k = 0; k < 3; k++) {
            int a = corner[k], b = corner[(k + 1) % 3];
            add_corner(s, a, vector);
            double length =
                sqrt(pl_distance2(s->fine.points + 3 * (size_t)a, s->fine.points + 3 * (size_t)b));
            if (!touch(s, s->owner[a], s->owner[b], length))
                return false;
        }
    }
    for (int i = 0; i < s->samples->count; i++) { /* those that got nothing hold to who did */
        int t = s->flats[i].area > 0 ? -1 : triangle_at(s, i);
        if (t >= 0 &&
            !touch(s, i, s->owner[s->fine.triangles[3 * (size_t)t]], 1e-3 * s->samples->distance))
            return false;
    }
    return true;
}

/* B = 4 P C P, P = I − n nᵀ, scaled to the area, plus the thickness along n. */
static void fit(const flat *f, double half, double b[6])
{
    double n[3] = {0, 0, 1}, length = 0, c[3][3] = {{0}}, p[3][3], t[3][3] = {{0}}, trace = 0;
    for (int k = 0; k < 3; k++)
        length += f->normal[k] * f->normal[k];
    for (int k = 0; k < 3 && length > 0; k++)
        n[k] = f->normal[k] / sqrt(length);
    for (int i = 0, m = 0; i < 3; i++)
        for (int j = i; j < 3 && f->area > 0; j++, m++)
            c[i][j] = c[j][i] =
                f->second[m] / f->area - f->first[i] / f->area * (f->first[j] / f->area);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            p[i][j] = (i == j) - n[i] * n[j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    t[i][j] += p[i][k] * c[k][l] * p[l][j];
    for (int k = 0; k < 3; k++)
        trace += t[k][k];
    double round = fmax(0.05 * trace, 1e-6), square = 0, sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            t[i][j] += round * p[i][j];
            square += t[i][j] * t[i][j];
            sum += i == j ? t[i][j] : 0;
        }
    double area = f->area > 0 ? f->area : 0.1; /* √(product of the two eigenvalues) = area / π */
    double scale = area / PI / sqrt(fmax(0.5 * (sum * sum - square), 1e-300));
    for (int i = 0, m = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            b[m++] = scale * t[i][j] + half * half * n[i] * n[j];
}

static pl_status connect(shell *s, const pl_connect_def *def, pl_graph_parts *parts,
                         pl_error *error)
{
    const pl_samples *samples = s->samples;
    double thickness = def->thickness > 0 ? def->thickness : samples->distance / 3;
    PL_TRY(refine(s, error));
    PL_TRY(sort_middles(s, error));
    PL_CHECK(flood(s) && read_triangles(s), PL_ERROR_MEMORY, error, NULL, "no memory for a shell");
    PL_TRY(pl_pairs_make(s->memory, &s->touches, samples->points, &s->pairs, error));
    pl_edge_def edges = {samples->count,    samples->points, samples->component,
                         samples->distance, def->edge_count, NULL};
    PL_TRY(pl_choose_edges(s->memory, &edges, &s->pairs, parts, error));
    parts->volume = pl_surface_area(s->surface) * thickness;
    for (int i = 0; i < samples->count; i++)
        fit(&s->flats[i], 0.5 * thickness / samples->distance, s->shapes + 6 * (size_t)i);
    return pl_write_ellipsoids(s->memory, samples->count, s->shapes, samples->distance, MOST_ASPECT,
                               parts, error);
}

pl_status pl_connect_shell(pl_memory *memory, const pl_surface *surface, const pl_samples *samples,
                           const pl_connect_def *def, pl_graph_parts *parts, pl_error *error)
{
    shell s = {.memory = memory, .surface = surface, .samples = samples};
    PL_CHECK(surface->triangle_count > 0, PL_ERROR_ARGUMENT, error, NULL,
             "a shell needs a surface");
    s.heap = pl_array_make(memory, sizeof(pl_waiting));
    s.touches = pl_array_make(memory, sizeof(pl_touch));
    s.pairs = pl_array_make(memory, sizeof(pl_pair));
    pl_status status = connect(&s, def, parts, error);
    pl_array_free(&s.heap);
    pl_array_free(&s.touches);
    pl_array_free(&s.pairs);
    pl_memory_free(memory, s.start);
    pl_memory_free(memory, s.neighbour);
    pl_memory_free(memory, s.owner);
    pl_memory_free(memory, s.flats);
    pl_memory_free(memory, s.shapes);
    pl_buckets_free(memory, &s.middles);
    pl_fine_free(memory, &s.fine);
    return status;
}
