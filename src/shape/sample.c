/* Samples in a volume: small cubes of it are the candidates for blue noise. The distance is
   estimated first, from volume and area, to know how small the cubes must be. Afterwards samples
   move towards the centres of their surroundings, as far as distance and fill allow, so that
   ellipsoids sit well. */
#include "shape/sample.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "math/elementary.h"
#include "shape/sample_parts.h"
#include "shape/sample_relax.h"
#include "shape/sample_spread.h"

/* Share of space that spheres thrown at random and grown to contact in Bridson's way take. */
#define PACKING 0.40
#define PI 3.14159265358979323846

/* Cubes per distance at least; how many cubes small counts are given; rounds of moving samples. */
#define CUBES_PER_DISTANCE 3.0
#define ENOUGH_CUBES 20000.0
enum { FEW_SAMPLES = 20000, ROUNDS = 8, ROUNDS_OF_MANY = 3 };

/* How much nearer samples may come when they move; and how far from them any part of the body may
   be then, in their least distance: together with the size of the cubes below 2. */
#define ROOM 0.8
#define WIDEST 1.5

static double cube_root(double x)
{
    return x > 0 ? pl_pow(x, 1.0 / 3) : 0;
}

pl_status pl_sample_def_check(const pl_sample_def *def, pl_error *error)
{
    PL_CHECK(def->count >= 0 && def->count <= PL_MOST_SAMPLES, PL_ERROR_ARGUMENT, error, "count",
             "from 0 to %d, not %d", PL_MOST_SAMPLES, def->count);
    PL_CHECK(def->count > 0 || (def->distance > 0 && def->distance < INFINITY), PL_ERROR_ARGUMENT,
             error, "distance", "positive where no count is given, not %g", def->distance);
    return PL_OK;
}

pl_status pl_samples_allocate(pl_memory *memory, int count, pl_samples *samples, pl_error *error)
{
    *samples = (pl_samples){.count = count};
    samples->points = PL_NEW(memory, double, 3 * (size_t)count);
    samples->component = PL_NEW(memory, int32_t, count);
    samples->triangle = PL_NEW(memory, int32_t, count);
    if (!samples->points || !samples->component || !samples->triangle) {
        pl_samples_free(memory, samples);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d samples", count);
    }
    for (int i = 0; i < count; i++)
        samples->triangle[i] = -1;
    return PL_OK;
}

void pl_samples_free(pl_memory *memory, pl_samples *samples)
{
    pl_memory_free(memory, samples->points);
    pl_memory_free(memory, samples->component);
    pl_memory_free(memory, samples->triangle);
    *samples = (pl_samples){0};
}

/* Steiner: a body of volume V, area A and, if slender, length L, grown by r = d/2 all around, has
   about V + A r + π L r² + 4/3 π r³. */
double pl_sample_expected(double volume, double area, double length, double distance)
{
    double v = volume / distance / distance / distance, a = area / distance / distance;
    double grown = v + 0.5 * a + PI / 4 * (length / distance) + PI / 6;
    return PACKING * grown / (PI / 6);
}

double pl_sample_distance_for(double volume, double area, double length, double count)
{
    double low = 1e-9 * length, high = 4 * length;
    for (int k = 0; k < 100; k++) {
        double middle = sqrt(low) * sqrt(high);
        if (pl_sample_expected(volume, area, length, middle) > count)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double pl_surface_area(const pl_surface *surface)
{
    double area = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        const int32_t *c = surface->triangles + 3 * (size_t)t;
        const double *p = surface->points + 3 * (size_t)c[0],
                     *q = surface->points + 3 * (size_t)c[1],
                     *r = surface->points + 3 * (size_t)c[2];
        double a[3], b[3], sum = 0;
        for (int k = 0; k < 3; k++)
            a[k] = q[k] - p[k], b[k] = r[k] - p[k];
        for (int k = 0; k < 3; k++) {
            double n = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            sum += n * n;
        }
        area += 0.5 * sqrt(sum);
    }
    return area;
}

void pl_sample_components(const pl_surface *surface, const pl_inside *inside, pl_samples *samples)
{
    if (surface->component_count < 2)
        return;
    for (int i = 0; i < samples->count; i++) {
        int triangle = -1;
        pl_inside_closest(inside, samples->points + 3 * (size_t)i, INFINITY, NULL, &triangle);
        samples->component[i] = triangle >= 0 ? surface->triangle_component[triangle] : 0;
    }
}

/* For each component its most inner cell near the surface, so that small ones are not forgotten;
   the components with the most cells first. None for a single component. */
static pl_status first_cells(pl_memory *memory, const pl_surface *surface, const pl_cells *cells,
                             pl_array *firsts, pl_error *error)
{
    int n = surface->component_count;
    if (n < 2)
        return PL_OK;
    int32_t *best = PL_NEW(memory, int32_t, n), *size = PL_NEW(memory, int32_t, n);
    bool enough = best && size;
    for (int k = 0; enough && k < n; k++)
        best[k] = -1;
    for (int i = 0; enough && i < cells->count; i++) {
        if (cells->triangles[i] < 0)
            continue;
        int k = surface->triangle_component[cells->triangles[i]];
        size[k]++;
        if (best[k] < 0 || cells->parts[i] > cells->parts[best[k]])
            best[k] = i;
    }
    for (int rank = 0; enough && rank < n; rank++) {
        int largest = -1;
        for (int k = 0; k < n && rank < 1000; k++)
            if (size[k] > 0 && (largest < 0 || size[k] > size[largest]))
                largest = k;
        if (largest < 0)
            break;
        int32_t *first = pl_array_add(firsts, 1);
        enough = first != NULL;
        if (first)
            *first = best[largest];
        size[largest] = 0;
    }
    pl_memory_free(memory, best);
    pl_memory_free(memory, size);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    return PL_OK;
}

typedef struct volume_sampling {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_inside *inside;
    const pl_sample_def *def;
    double volume, area;
    pl_cells cells;
    pl_spread spread;
} volume_sampling;

static double choose_pitch(const volume_sampling *v, double distance)
{
    double fine = fmax(cube_root(v->volume / ENOUGH_CUBES), sqrt(v->area / (2 * ENOUGH_CUBES)));
    return fmin(distance / CUBES_PER_DISTANCE, fmax(fine, distance / 16));
}

static pl_status spread_cells(volume_sampling *v, double distance, pl_error *error)
{
    const pl_sample_def *def = v->def;
    pl_array firsts = pl_array_make(v->memory, sizeof(int32_t));
    pl_status status = first_cells(v->memory, v->surface, &v->cells, &firsts, error);
    if (status == PL_OK) {
        pl_spread_def spread = {v->cells.count, v->cells.points, (int)firsts.count,
                                firsts.data,    distance,        def->count,
                                def->seed,      def->progress,   def->progress_user};
        status = pl_spread_make(v->memory, &spread, &v->spread, error);
    }
    pl_array_free(&firsts);
    return status;
}

/* Cubes small enough for the distance that comes out. */
static pl_status choose_samples(volume_sampling *v, pl_error *error)
{
    const pl_sample_def *def = v->def;
    double distance = def->count
                          ? pl_sample_distance_for(v->volume, v->area, v->surface->size, def->count)
                          : def->distance / ROOM;
    double pitch = choose_pitch(v, distance);
    for (int trial = 0;; trial++) {
        PL_TRY(pl_cells_make(v->memory, v->surface, v->inside, pitch, &v->cells, error));
        bool too_few = def->count ? v->cells.count / 8 < def->count : v->cells.count == 0;
        if (!too_few || trial == 4) {
            PL_CHECK(v->cells.count || def->count || def->distance < 0.2 * v->surface->size,
                     PL_ERROR_ARGUMENT, error, "distance",
                     "%g is too much for this body: it is %g in size", def->distance,
                     v->surface->size);
            PL_CHECK(v->cells.count, PL_ERROR_ARGUMENT, error, NULL,
                     "the surface encloses nothing: cook it as a shell");
            PL_TRY(spread_cells(v, distance, error));
            double found = v->spread.distance;
            if (trial == 4 || !def->count || def->count == 1 || pitch <= found / 2)
                return PL_OK;
            pl_spread_free(v->memory, &v->spread);
            distance = found;
            pitch = fmin(0.7 * pitch, choose_pitch(v, distance));
        } else {
            pitch *= 0.5;
        }
        pl_cells_free(v->memory, &v->cells);
    }
}

/* With a count the distance is what it turns out to be in the end. */
static pl_status take_samples(volume_sampling *v, pl_samples *samples, pl_error *error)
{
    PL_TRY(pl_samples_allocate(v->memory, v->spread.count, samples, error));
    int n = samples->count;
    for (int i = 0; i < n; i++)
        memcpy(samples->points + 3 * (size_t)i, v->cells.points + 3 * (size_t)v->spread.chosen[i],
               3 * sizeof(double));
    double least, gap, distance = n > 1 ? ROOM * v->spread.distance : v->surface->size;
    if (!v->def->count)
        distance = v->def->distance * (1 + 1e-12);
    pl_relax_def relax = {&v->cells, v->inside, n,
                          distance,  WIDEST,    n > FEW_SAMPLES ? ROUNDS_OF_MANY : ROUNDS};
    PL_TRY(pl_relax(v->memory, &relax, samples->points, &least, &gap, error));
    samples->distance = !v->def->count ? v->def->distance
                        : n == 1       ? fmax(gap, cube_root(v->volume))
                                       : least;
    return PL_OK;
}

static pl_status sample_blue_noise(volume_sampling *v, pl_samples *samples, pl_error *error)
{
    pl_status status = choose_samples(v, error);
    if (status == PL_OK)
        status = take_samples(v, samples, error);
    if (status == PL_OK)
        status = pl_samples_order(v->memory, samples, error);
    if (status != PL_OK)
        pl_samples_free(v->memory, samples);
    pl_spread_free(v->memory, &v->spread);
    pl_cells_free(v->memory, &v->cells);
    return status;
}

pl_status pl_sample_volume(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                           const pl_sample_def *def, pl_samples *samples, pl_error *error)
{
    *samples = (pl_samples){0};
    PL_TRY(pl_sample_def_check(def, error));
    volume_sampling v = {.memory = memory, .surface = surface, .inside = inside, .def = def};
    v.volume = pl_inside_volume(inside);
    v.area = pl_surface_area(surface);
    PL_CHECK(v.volume > 0, PL_ERROR_ARGUMENT, error, NULL,
             "the surface encloses nothing: cook it as a shell");
    double expected = def->count
                          ? def->count
                          : pl_sample_expected(v.volume, v.area, surface->size, def->distance);
    PL_CHECK(expected < PL_MOST_SAMPLES, PL_ERROR_ARGUMENT, error, "distance",
             "%g would need some %.0f samples; at most %d", def->distance, expected,
             PL_MOST_SAMPLES);
    if (def->sampling == PL_COOK_GRID)
        PL_TRY(pl_sample_lattice(memory, surface, inside, def, v.volume, samples, error));
    else
        PL_TRY(sample_blue_noise(&v, samples, error));
    pl_sample_components(surface, inside, samples);
    return PL_OK;
}
