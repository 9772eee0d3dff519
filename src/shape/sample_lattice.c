/* Samples on a cubic lattice, clipped to the body: one for each cube of the lattice that is inside
   by a fair part, and for those less inside that no neighbour stands for (thin parts). Measured by
   counting smaller cubes. The sample is the centre of its cube, or a point inside near it. */
#include "shape/sample_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "math/elementary.h"

/* Small cubes per cube of the lattice, along an axis: wanted, and least. The part of a cube that is
   a fair one. */
#define FINE 4.0
#define LEAST_FINE 2.5
#define FAIR 0.3
enum { TRIALS = 12, LATTICE_HALF = 1 << 20 };

typedef struct lattice_cube {
    uint64_t key;
    double part;
    int32_t cell; /* the one nearest to the centre */
    bool kept;
} lattice_cube;

typedef struct lattice {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_inside *inside;
    pl_cells cells;
    double middle[3], extent[3];
    double pitch, shift[3];
    pl_sort_item *items; /* [2 cells] */
    lattice_cube *cubes; /* [cells] */
    int cube_count, kept;
} lattice;

static void measure(lattice *l)
{
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int i = 0; i < 3 * l->surface->triangle_count; i++) {
            double x = l->surface->points[3 * (size_t)l->surface->triangles[i] + k];
            lower = fmin(lower, x);
            upper = fmax(upper, x);
        }
        l->middle[k] = 0.5 * lower + 0.5 * upper;
        l->extent[k] = upper - lower;
    }
}

/* The lattice lies symmetrically in the bounds: a cube or a face between two on their middle,
   whichever lets whole cubes fit better; the other way round along the axes in `swap`. */
static void lay(lattice *l, double pitch, int swap)
{
    l->pitch = pitch;
    for (int k = 0; k < 3; k++) {
        double cubes = fmax(1, floor(l->extent[k] / pitch + 0.5));
        bool odd = (cubes - 2 * floor(0.5 * cubes) == 1) != (swap >> k & 1);
        l->shift[k] = l->middle[k] - (odd ? 0.5 * pitch : 0);
    }
}

static uint64_t key_of_point(const lattice *l, const double point[3])
{
    uint64_t key = 0;
    for (int k = 2; k >= 0; k--) {
        double at = floor((point[k] - l->shift[k]) / l->pitch) + LATTICE_HALF;
        at = fmin(fmax(at, 1), 2 * LATTICE_HALF - 2);
        key = key << 21 | (uint64_t)at;
    }
    return key;
}

static void centre_of_key(const lattice *l, uint64_t key, double centre[3])
{
    for (int k = 0; k < 3; k++, key >>= 21)
        centre[k] = l->shift[k] + ((double)(key & 2097151) - LATTICE_HALF + 0.5) * l->pitch;
}

static double off_centre(const lattice *l, uint64_t key, int cell)
{
    double centre[3], sum = 0;
    centre_of_key(l, key, centre);
    for (int k = 0; k < 3; k++) {
        double d = l->cells.points[3 * (size_t)cell + k] - centre[k];
        sum += d * d;
    }
    return sum;
}

static void gather_cubes(lattice *l)
{
    double share = l->cells.pitch / l->pitch, best = 0;
    share = share * share * share;
    for (int i = 0; i < l->cells.count; i++)
        l->items[i] = (pl_sort_item){key_of_point(l, l->cells.points + 3 * (size_t)i), (uint32_t)i};
    pl_sort(l->items, l->items + l->cells.count, (size_t)l->cells.count);
    l->cube_count = 0;
    for (int i = 0; i < l->cells.count; i++) {
        uint64_t key = l->items[i].key;
        int cell = (int)l->items[i].index;
        double off = off_centre(l, key, cell);
        if (i == 0 || key != l->items[i - 1].key)
            l->cubes[l->cube_count++] = (lattice_cube){key, 0, cell, false}, best = off;
        lattice_cube *cube = &l->cubes[l->cube_count - 1];
        cube->part += share * (double)l->cells.parts[cell];
        if (off < best)
            best = off, cube->cell = cell;
    }
}

static const lattice_cube *find_cube(const lattice *l, uint64_t key)
{
    int low = 0, high = l->cube_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (l->cubes[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->cube_count && l->cubes[low].key == key ? &l->cubes[low] : NULL;
}

static bool has_kept_neighbour(const lattice *l, uint64_t key)
{
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++) {
            uint64_t step = UINT64_C(1) << (21 * k);
            const lattice_cube *cube = find_cube(l, side ? key + step : key - step);
            if (cube && cube->kept)
                return true;
        }
    return false;
}

static void keep_cubes(lattice *l)
{
    l->kept = 0;
    for (int c = 0; c < l->cube_count; c++) {
        l->cubes[c].kept = l->cubes[c].part >= FAIR;
        l->kept += l->cubes[c].kept;
    }
    for (int c = 0; c < l->cube_count; c++) {
        if (l->cubes[c].kept || has_kept_neighbour(l, l->cubes[c].key))
            continue;
        l->cubes[c].kept = true;
        l->kept++;
    }
}

static bool near_enough(int kept, int count)
{
    return kept > 0 && fabs((double)kept - count) <= fmax(0.09 * count, count < 10 ? 0 : 1);
}

/* Keeps the fullest cubes, `count` of them as nearly as there are. */
static void keep_fullest(lattice *l, int count)
{
    for (int c = 0; c < l->cube_count; c++) {
        double part = fmin(l->cubes[c].part, 2) + (l->cubes[c].kept ? 4 : 0);
        l->items[c] = (pl_sort_item){(uint64_t)((8 - part) * 0x1p40), (uint32_t)c};
    }
    pl_sort(l->items, l->items + l->cells.count, (size_t)l->cube_count);
    l->kept = count < l->cube_count ? count : l->cube_count;
    for (int c = 0; c < l->cube_count; c++)
        l->cubes[l->items[c].index].kept = c < l->kept;
}

static pl_status refine(lattice *l, double pitch, pl_error *error)
{
    pl_memory_free(l->memory, l->items);
    pl_memory_free(l->memory, l->cubes);
    l->items = NULL, l->cubes = NULL;
    pl_cells_free(l->memory, &l->cells);
    PL_TRY(pl_cells_make(l->memory, l->surface, l->inside, pitch, &l->cells, error));
    PL_CHECK(l->cells.count, PL_ERROR_ARGUMENT, error, NULL,
             "the surface encloses nothing: cook it as a shell");
    l->items = PL_NEW(l->memory, pl_sort_item, 2 * (size_t)l->cells.count);
    l->cubes = PL_NEW(l->memory, lattice_cube, l->cells.count);
    PL_CHECK(l->items && l->cubes, PL_ERROR_MEMORY, error, NULL, "no memory for a lattice");
    return PL_OK;
}

static void try_pitch(lattice *l, double pitch, int swap)
{
    lay(l, pitch, swap);
    gather_cubes(l);
    keep_cubes(l);
}

typedef struct lattice_try {
    double pitch, off;
    int swap;
} lattice_try;

/* Whether a pitch, with one of the eight ways to lay the lattice, gives the count. */
static bool suits(lattice *l, double pitch, int count, lattice_try *best, int *natural)
{
    for (int swap = 0; swap < 8; swap++) {
        try_pitch(l, pitch, swap);
        double off = fabs((double)l->kept - count);
        if (swap == 0)
            *natural = l->kept;
        if (off < best->off)
            *best = (lattice_try){pitch, off, swap};
        if (near_enough(l->kept, count))
            return true;
    }
    return false;
}

/* Secant steps on the pitch; the count jumps, so the nearest outcome is remembered. */
static pl_status find_pitch(lattice *l, double pitch, int count, pl_error *error)
{
    lattice_try best = {pitch, INFINITY, 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        int natural = 1;
        if (l->cells.count == 0 || pitch < LEAST_FINE * l->cells.pitch)
            PL_TRY(refine(l, fmin(pitch / FINE, l->cells.count ? 0.6 * l->cells.pitch : INFINITY),
                          error));
        if (suits(l, pitch, count, &best, &natural))
            return PL_OK;
        double ratio = fmin(fmax((double)natural / count, 0.125), 8);
        pitch *= trial < 6 ? pl_pow(ratio, 1.0 / 3) : ratio > 1 ? 1.023 : 1 / 1.021;
    }
    try_pitch(l, best.pitch, best.swap);
    keep_fullest(l, count);
    return PL_OK;
}

static pl_status hand_over(const lattice *l, pl_samples *samples, pl_error *error)
{
    PL_TRY(pl_samples_allocate(l->memory, l->kept, samples, error));
    samples->distance = l->pitch;
    int n = 0;
    for (int c = 0; c < l->cube_count; c++) {
        double *point = samples->points + 3 * (size_t)n;
        if (!l->cubes[c].kept)
            continue;
        centre_of_key(l, l->cubes[c].key, point);
        if (!pl_cells_inside(&l->cells, l->inside, point))
            memcpy(point, l->cells.points + 3 * (size_t)l->cubes[c].cell, 3 * sizeof(double));
        n++;
    }
    return PL_OK;
}

static pl_status sample(lattice *l, const pl_sample_def *def, double volume, pl_samples *samples,
                        pl_error *error)
{
    measure(l);
    if (def->count) {
        double pitch = pl_pow(volume / def->count, 1.0 / 3);
        double least = fmax(fmax(l->extent[0], l->extent[1]), l->extent[2]) / (LATTICE_HALF / 4);
        PL_TRY(find_pitch(l, fmax(pitch, least), def->count, error));
    } else {
        PL_TRY(refine(l, def->distance / FINE, error));
        try_pitch(l, def->distance, 0);
    }
    return hand_over(l, samples, error);
}

pl_status pl_sample_lattice(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                            const pl_sample_def *def, double volume, pl_samples *samples,
                            pl_error *error)
{
    lattice l = {.memory = memory, .surface = surface, .inside = inside};
    pl_status status = sample(&l, def, volume, samples, error);
    pl_memory_free(memory, l.items);
    pl_memory_free(memory, l.cubes);
    pl_cells_free(memory, &l.cells);
    return status;
}
