/* Blue noise on a surface. Candidates are the corners of a finer surface and a random point in each
   of its triangles; the distance is measured straight, not along the surface. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "shape/sample_parts.h"
#include "shape/sample_refine.h"
#include "shape/sample_spread.h"

/* Edges of the finer surface per distance; triangles of it at least. */
#define EDGES_PER_DISTANCE 3.0
#define ENOUGH_TRIANGLES 10000.0

typedef struct surface_sampling {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_sample_def *def;
    double area;
    pl_array points;    /* double[3] */
    pl_array triangles; /* int32_t, the surface's */
    pl_array firsts;    /* int32_t, candidates */
    pl_spread spread;
} surface_sampling;

static bool add_candidate(surface_sampling *s, const double point[3], int triangle)
{
    double *place = pl_array_add(&s->points, 1);
    int32_t *where = pl_array_add(&s->triangles, 1);
    if (!place || !where)
        return false;
    memcpy(place, point, 3 * sizeof(double));
    *where = triangle;
    return true;
}

/* Uniform in a triangle: (1 − √u) a + √u (1 − v) b + √u v c. */
static bool add_inner(surface_sampling *s, const pl_fine *fine, int t)
{
    const int32_t *corner = fine->triangles + 3 * (size_t)t;
    double u = (double)(pl_random_at(s->def->seed, 2 * (uint64_t)t) >> 11) * 0x1p-53;
    double v = (double)(pl_random_at(s->def->seed, 2 * (uint64_t)t + 1) >> 11) * 0x1p-53;
    double root = sqrt(u), weight[3] = {1 - root, root * (1 - v), root * v}, point[3];
    for (int k = 0; k < 3; k++)
        point[k] = weight[0] * fine->points[3 * (size_t)corner[0] + k] +
                   weight[1] * fine->points[3 * (size_t)corner[1] + k] +
                   weight[2] * fine->points[3 * (size_t)corner[2] + k];
    return add_candidate(s, point, fine->source[t]);
}

static pl_status gather(surface_sampling *s, const pl_fine *fine, pl_error *error)
{
    bool *seen = PL_NEW(s->memory, bool, fine->point_count);
    bool enough = seen != NULL;
    s->points.count = s->triangles.count = 0;
    for (int t = 0; t < fine->triangle_count && enough; t++) {
        enough = add_inner(s, fine, t);
        for (int k = 0; k < 3 && enough; k++) {
            int p = fine->triangles[3 * (size_t)t + k];
            if (seen[p])
                continue;
            seen[p] = true;
            enough = add_candidate(s, fine->points + 3 * (size_t)p, fine->source[t]);
        }
    }
    pl_memory_free(s->memory, seen);
    PL_CHECK(enough && s->points.count < INT32_MAX / 8, PL_ERROR_MEMORY, error, NULL,
             "no memory for samples");
    return PL_OK;
}

/* A candidate of each component, those with the most candidates first. */
static pl_status find_firsts(surface_sampling *s, pl_error *error)
{
    size_t n = (size_t)s->surface->component_count;
    pl_sort_item *items = PL_NEW(s->memory, pl_sort_item, 2 * n);
    int32_t *first = PL_NEW(s->memory, int32_t, n);
    bool enough = items && first && pl_array_reserve(&s->firsts, n);
    s->firsts.count = 0;
    for (size_t k = 0; enough && k < n; k++)
        items[k] = (pl_sort_item){UINT64_MAX, (uint32_t)k};
    for (size_t c = 0; enough && c < s->points.count; c++) {
        int k = s->surface->triangle_component[((int32_t *)s->triangles.data)[c]];
        if (items[k].key-- == UINT64_MAX)
            first[k] = (int32_t)c;
    }
    if (enough)
        pl_sort(items, items + n, n);
    for (size_t k = 0; enough && n > 1 && k < n; k++)
        if (items[k].key != UINT64_MAX)
            *(int32_t *)pl_array_add(&s->firsts, 1) = first[items[k].index];
    pl_memory_free(s->memory, items);
    pl_memory_free(s->memory, first);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    return PL_OK;
}

static pl_status spread(surface_sampling *s, double distance, double longest, pl_error *error)
{
    pl_fine fine;
    const pl_sample_def *def = s->def;
    PL_TRY(pl_refine(s->memory, s->surface, longest, &fine, error));
    pl_status status = gather(s, &fine, error);
    pl_fine_free(s->memory, &fine);
    PL_TRY(status);
    PL_TRY(find_firsts(s, error));
    pl_spread_def spread_def = {
        (int)s->points.count, s->points.data, (int)s->firsts.count, s->firsts.data,    distance,
        def->count,           def->seed,      def->progress,        def->progress_user};
    return pl_spread_make(s->memory, &spread_def, &s->spread, error);
}

static double choose_longest(const surface_sampling *s, double distance)
{
    return fmin(distance / EDGES_PER_DISTANCE,
                fmax(sqrt(s->area / ENOUGH_TRIANGLES), distance / 8));
}

static pl_status sample(surface_sampling *s, pl_samples *samples, pl_error *error)
{
    const pl_sample_def *def = s->def;
    double distance = def->count
                          ? pl_sample_distance_for(0, 2 * s->area, s->surface->size, def->count)
                          : def->distance * (1 + 1e-12);
    double longest = choose_longest(s, distance);
    for (int trial = 0; trial < 4; trial++) {
        pl_spread_free(s->memory, &s->spread);
        PL_TRY(spread(s, distance, longest, error));
        if (!def->count || def->count == 1 || longest <= s->spread.distance / 2)
            break;
        distance = s->spread.distance;
        longest = fmin(0.6 * longest, choose_longest(s, distance));
    }
    PL_TRY(pl_samples_allocate(s->memory, s->spread.count, samples, error));
    samples->distance = !def->count           ? def->distance
                        : samples->count == 1 ? fmax(s->spread.gap, sqrt(s->area))
                                              : s->spread.distance;
    for (int i = 0; i < samples->count; i++) {
        int c = s->spread.chosen[i];
        memcpy(samples->points + 3 * (size_t)i, (double *)s->points.data + 3 * (size_t)c,
               3 * sizeof(double));
        samples->triangle[i] = ((int32_t *)s->triangles.data)[c];
        samples->component[i] = s->surface->triangle_component[samples->triangle[i]];
    }
    pl_status status = pl_samples_order(s->memory, samples, error);
    if (status != PL_OK)
        pl_samples_free(s->memory, samples);
    return status;
}

pl_status pl_sample_surface(pl_memory *memory, const pl_surface *surface, const pl_sample_def *def,
                            pl_samples *samples, pl_error *error)
{
    *samples = (pl_samples){0};
    PL_TRY(pl_sample_def_check(def, error));
    surface_sampling s = {.memory = memory, .surface = surface, .def = def};
    s.area = pl_surface_area(surface);
    PL_CHECK(s.area > 0, PL_ERROR_ARGUMENT, error, NULL, "there is no surface to put samples on");
    double expected =
        def->count ? def->count : pl_sample_expected(0, 2 * s.area, surface->size, def->distance);
    PL_CHECK(expected < PL_MOST_SAMPLES, PL_ERROR_ARGUMENT, error, "distance",
             "%g would need some %.0f samples; at most %d", def->distance, expected,
             PL_MOST_SAMPLES);
    s.points = pl_array_make(memory, 3 * sizeof(double));
    s.triangles = pl_array_make(memory, sizeof(int32_t));
    s.firsts = pl_array_make(memory, sizeof(int32_t));
    pl_status status = sample(&s, samples, error);
    pl_array_free(&s.points);
    pl_array_free(&s.triangles);
    pl_array_free(&s.firsts);
    pl_spread_free(memory, &s.spread);
    return status;
}
