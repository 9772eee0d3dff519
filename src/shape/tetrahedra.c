/* About as many tetrahedra as wanted: the lattice's cell is searched for, from an estimate by the
   volume on. */
#include "shape/tetrahedra.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/elementary.h"
#include "shape/tetrahedra_parts.h"

enum { MOST_ROUNDS = 10, PHASES = 4, MANY = 20000, MOST_TETS = 20000000 };

#define CLOSE_ENOUGH 0.04 /* logarithm of the ratio of counts */
#define LOSS_ALLOWED 0.3  /* of the volume, before it matters */
#define LOSS_COUNTS 0.4   /* as much as missing the count by this logarithm */
#define SURFACE_SHARE 6.0
#define LATTICE_FAR 1e90 /* the cube of sizes beyond is no number, or nothing */

/* Shifts of the lattice, in cells. The first keeps symmetries of the body. */
static const double phases[PHASES][3] = {
    {0, 0, 0}, {0.25, 0.25, 0.25}, {0.13, 0.29, 0.41}, {0.37, 0.07, 0.19}};

typedef struct tets_search {
    pl_lattice lattice;
    int wanted;
    long tests_left; /* a mesh with little inside for its extent would keep searching for minutes */
    double unit;     /* a power of two near the body's size: cells, volume and area are in it */
    double volume, area;
    pl_array points, tets; /* of the cell tried last */
    double cell, fine,
        coarse; /* the next one to try; those known to give too many and too few, or 0 */
    double best_cell, best_miss; /* so far; best_cell 0 = none gave any */
    int phase, best_phase;
} tets_search;

static void find_bounds(pl_lattice *lattice)
{
    const pl_surface *surface = lattice->surface;
    for (int i = 0; i < 3 * surface->triangle_count; i++) {
        const double *p = &surface->points[3 * (size_t)surface->triangles[i]];
        for (int k = 0; k < 3; k++) {
            lattice->lower[k] = i == 0 ? p[k] : fmin(lattice->lower[k], p[k]);
            lattice->upper[k] = i == 0 ? p[k] : fmax(lattice->upper[k], p[k]);
        }
    }
    lattice->closed = surface->report.orientable;
    for (int c = 0; c < surface->component_count; c++)
        lattice->closed = lattice->closed && surface->component_closed[c];
}

/* The number of tetrahedra of a cell; -1 without memory, INT_MAX when there are far too many. */
static int try_cell(tets_search *search, double cell, int phase)
{
    pl_lattice *lattice = &search->lattice;
    pl_lattice_lay(lattice, cell * search->unit, phases[phase]);
    lattice->tests_left = 100000 + 30 * (long)search->wanted;
    long tests = lattice->tests_left;
    /* A point has six tetrahedra to itself. */
    lattice->most_points = 100 + (size_t)search->wanted / 2;
    search->points.count = search->tets.count = 0;
    if (!pl_lattice_fill(lattice))
        return -1;
    search->tests_left -= tests - lattice->tests_left;
    if (lattice->overflow)
        return INT_MAX;
    if (!pl_lattice_stuff(lattice, &search->points, &search->tets))
        return -1;
    return search->tets.count < INT_MAX ? (int)search->tets.count : INT_MAX;
}

/* Between what is known to be too fine and too coarse, or on towards where it must lie. */
static double next_cell(const tets_search *search, int count)
{
    double ratio = fmin(fmax((double)count / search->wanted, 0.3), 4);
    double cell = search->cell * pl_pow(ratio, 1 / 2.7);
    bool between = search->fine > 0 && search->coarse > 0;
    double low = search->fine * 1.0001, high = search->coarse * 0.9999;
    if (between && !(cell > low && cell < high))
        cell = sqrt(search->fine) * sqrt(search->coarse);
    return cell;
}

/* The part of the body's volume that is not filled: the lattice may have missed thin parts. */
static double lost_part(const tets_search *search)
{
    const double(*points)[3] = search->points.data;
    const int32_t(*tets)[4] = search->tets.data;
    double sum = 0, half = search->lattice.half / search->unit;
    for (size_t t = 0; t < search->tets.count; t++) {
        double u[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                u[c][k] = points[tets[t][c + 1]][k] - points[tets[t][0]][k];
        sum += u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) +
               u[0][1] * (u[1][2] * u[2][0] - u[1][0] * u[2][2]) +
               u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]);
    }
    return fmax(0, 1 - sum / 6 * half * half * half / search->volume);
}

static void learn(tets_search *search, int count, int phase)
{
    if (count > search->wanted)
        search->fine = fmax(search->fine, search->cell);
    else
        search->coarse = search->coarse > 0 ? fmin(search->coarse, search->cell) : search->cell;
    if (count == 0 || count == INT_MAX)
        return;
    double miss = fabs(pl_log((double)count / search->wanted));
    miss += LOSS_COUNTS * fmax(0, lost_part(search) - LOSS_ALLOWED);
    if (search->best_cell > 0 && miss >= search->best_miss)
        return;
    search->best_cell = search->cell;
    search->best_miss = miss;
    search->best_phase = phase;
}

/* The count is no smooth function of the cell: too fine and too coarse may change places, and then
   all begins anew from there. */
static bool search_phase(tets_search *search, double start, int phase)
{
    search->cell = start;
    search->phase = phase;
    search->fine = search->coarse = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        int count = try_cell(search, search->cell, phase);
        if (count < 0)
            return false;
        learn(search, count, phase);
        if (fabs(pl_log((double)count / search->wanted)) < CLOSE_ENOUGH)
            break;
        if (search->fine >= search->coarse && search->coarse > 0)
            search->fine = search->coarse = 0;
        if (search->fine > 0.998 * search->coarse && search->coarse > 0)
            break; /* a jump */
        /* Where even the volume would have many times more, there is nothing to find. */
        double expected = 12 * search->volume / (search->cell * search->cell * search->cell);
        if ((count == 0 && expected > 4.0 * search->wanted) || search->tests_left < 0)
            break;
        if (round + 1 < MOST_ROUNDS)
            search->cell = next_cell(search, count);
    }
    return true;
}

/* A cell of the lattice has twelve tetrahedra; the surface adds some per area of a cell's face:
   solves count = 12 V / h³ + SURFACE_SHARE A / h². */
static double first_cell(const tets_search *search)
{
    double inner = pl_pow(12 * search->volume / search->wanted, 1.0 / 3), low = inner;
    double high = inner + sqrt(SURFACE_SHARE * search->area / search->wanted);
    for (int i = 0; i < 30; i++) {
        double h = 0.5 * low + 0.5 * high;
        double count = 12 * search->volume / (h * h * h) + SURFACE_SHARE * search->area / (h * h);
        low = count > search->wanted ? h : low;
        high = count > search->wanted ? high : h;
    }
    /* A body thinner than a cell has no such surface. */
    return fmin(low, 1.5 * inner);
}

static bool search_cell(tets_search *search)
{
    double start = first_cell(search);
    for (int phase = 0; phase < PHASES; phase++) {
        if (!search_phase(search, start, phase))
            return false;
        double enough = search->wanted > MANY ? 0.1 : CLOSE_ENOUGH;
        if (search->tests_left < 0 || (search->best_cell > 0 && search->best_miss < enough))
            break;
        start = search->best_cell > 0 ? search->best_cell : start;
    }
    if (search->best_cell == 0 ||
        (search->best_cell == search->cell && search->best_phase == search->phase))
        return true;
    return try_cell(search, search->best_cell, search->best_phase) >= 0;
}

static pl_status hand_over(tets_search *search, pl_tets *tets, pl_error *error)
{
    pl_memory *memory = search->lattice.memory;
    size_t points = search->points.count, count = search->tets.count;
    tets->points = PL_NEW(memory, double, 3 * points);
    tets->tets = PL_NEW(memory, int32_t, 4 * count);
    PL_CHECK(tets->points && tets->tets, PL_ERROR_MEMORY, error, NULL,
             "no memory for %zu tetrahedra", count);
    const double *places = search->points.data;
    for (size_t p = 0; p < points; p++)
        pl_lattice_position(&search->lattice, &places[3 * p], &tets->points[3 * p]);
    memcpy(tets->tets, search->tets.data, 4 * count * sizeof *tets->tets);
    tets->point_count = (int)points;
    tets->tet_count = (int)count;
    return PL_OK;
}

static pl_status make_tets(tets_search *search, pl_tets *tets, pl_error *error)
{
    PL_CHECK(search_cell(search), PL_ERROR_MEMORY, error, NULL,
             "no memory to fill the volume with %d tetrahedra", search->wanted);
    PL_CHECK(search->best_cell > 0, PL_ERROR_ARGUMENT, error, "tet_count",
             "the body is too thin for %d tetrahedra: ask for more", search->wanted);
    PL_CHECK(pl_lattice_fit(&search->lattice, &search->points, &search->tets), PL_ERROR_MEMORY,
             error, NULL, "no memory to fit %zu tetrahedra", search->tets.count);
    return hand_over(search, tets, error);
}

static double surface_area(const pl_surface *surface, double unit)
{
    double sum = 0;
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
        double u[3], v[3], n2 = 0;
        const double *p[3];
        for (size_t c = 0; c < 3; c++)
            p[c] = &surface->points[3 * (size_t)surface->triangles[3 * t + c]];
        for (int k = 0; k < 3; k++)
            u[k] = (p[1][k] - p[0][k]) / unit, v[k] = (p[2][k] - p[0][k]) / unit;
        for (int k = 0; k < 3; k++) {
            double n = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            n2 += n * n;
        }
        sum += 0.5 * sqrt(n2);
    }
    return sum;
}

static void measure(tets_search *search)
{
    const pl_surface *surface = search->lattice.surface;
    double volume = surface->report.volume;
    int exponent;
    frexp(surface->size, &exponent);
    search->unit = ldexp(1, exponent);
    search->area = surface_area(surface, search->unit);
    volume = volume > 0 ? volume : pl_inside_volume(search->lattice.inside);
    search->volume = volume / search->unit / search->unit / search->unit;
    find_bounds(&search->lattice);
}

pl_status pl_tetrahedralise(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                            int count, pl_tets *tets, pl_error *error)
{
    memset(tets, 0, sizeof *tets);
    PL_CHECK(count > 0 && count <= MOST_TETS, PL_ERROR_ARGUMENT, error, "tet_count",
             "must be from 1 to %d, not %d", MOST_TETS, count);
    PL_CHECK(surface->size > 1 / LATTICE_FAR && surface->size < LATTICE_FAR, PL_ERROR_ARGUMENT,
             error, "scale", "a mesh of size %g is not within reach of tetrahedra", surface->size);
    tets_search search = {
        .lattice = {.memory = memory,
                    .surface = surface,
                    .inside = inside,
                    .points = pl_array_make(memory, sizeof(pl_lattice_point))},
        .wanted = count,
        .tests_left = 1000000 + 100 * (long)count,
        .points = pl_array_make(memory, 3 * sizeof(double)),
        .tets = pl_array_make(memory, 4 * sizeof(int32_t)),
    };
    measure(&search);
    PL_CHECK(search.volume > 0, PL_ERROR_ARGUMENT, error, "tet_count",
             "the mesh encloses no volume that tetrahedra could fill");
    pl_status status = make_tets(&search, tets, error);
    if (status != PL_OK)
        pl_tets_free(memory, tets);
    pl_lattice_free(&search.lattice);
    pl_array_free(&search.points);
    pl_array_free(&search.tets);
    return status;
}

void pl_tets_free(pl_memory *memory, pl_tets *tets)
{
    pl_memory_free(memory, tets->points);
    pl_memory_free(memory, tets->tets);
    memset(tets, 0, sizeof *tets);
}
