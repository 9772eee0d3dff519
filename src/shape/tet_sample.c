/* Farthest-point sampling. Each new point can only take over elements nearer to it than to their
   present sample: a lattice of cells bounds where these are, so that a sample costs about what it
   takes over, and a heap of the farthest distances finds the next one. */
#include "shape/tet_sample.h"

#include <math.h>

#include "math/elementary.h"

typedef struct field {
    int count;
    const double *centroid;
    const int32_t *piece;
    double *distance; /* [count] squared, to the nearest sample of the piece; −1 for samples */
    int32_t *heap;    /* [count] elements, the farthest first */
    int32_t *place;   /* [count] element → heap */
    int cells[3];
    double low[3], size;
    int32_t *cell_start; /* [cells + 1] */
    int32_t *cell_item;  /* [count] */
} field;

/* ---- The heap -------------------------------------------------------------------------------- */

static bool before(const field *f, int32_t a, int32_t b)
{
    if (f->distance[a] != f->distance[b])
        return f->distance[a] > f->distance[b];
    return a < b;
}

static void put(field *f, int at, int32_t element)
{
    f->heap[at] = element;
    f->place[element] = at;
}

/* Distances only fall: elements only sink. */
static void sink(field *f, int at)
{
    int32_t element = f->heap[at];
    for (int child; (child = 2 * at + 1) < f->count; at = child) {
        if (child + 1 < f->count && before(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!before(f, f->heap[child], element))
            break;
        put(f, at, f->heap[child]);
    }
    put(f, at, element);
}

/* ---- The lattice ----------------------------------------------------------------------------- */

static int cell_along(const field *f, int axis, double at)
{
    int k = (int)((at - f->low[axis]) / f->size);
    return k < 0 ? 0 : k >= f->cells[axis] ? f->cells[axis] - 1 : k;
}

static int cell_of(const field *f, const double *p)
{
    int k[3];
    for (int axis = 0; axis < 3; axis++)
        k[axis] = cell_along(f, axis, p[axis]);
    return (k[0] * f->cells[1] + k[1]) * f->cells[2] + k[2];
}

/* About four elements to a cell, were they spread evenly. */
static bool make_lattice(pl_memory *memory, field *f)
{
    double high[3], volume = 1;
    for (int axis = 0; axis < 3; axis++) {
        f->low[axis] = high[axis] = f->centroid[axis];
        for (int e = 1; e < f->count; e++) {
            f->low[axis] = fmin(f->low[axis], f->centroid[3 * e + axis]);
            high[axis] = fmax(high[axis], f->centroid[3 * e + axis]);
        }
    }
    double longest = fmax(high[0] - f->low[0], fmax(high[1] - f->low[1], high[2] - f->low[2]));
    for (int axis = 0; axis < 3; axis++)
        volume *= fmax(high[axis] - f->low[axis], 1e-3 * longest);
    f->size = longest > 0 ? pl_pow(4 * volume / f->count, 1.0 / 3) : 1;
    int64_t total = 1;
    for (int axis = 0; axis < 3; axis++) {
        double cells = (high[axis] - f->low[axis]) / f->size + 1;
        f->cells[axis] = cells < 1000 ? (int)cells : 1000;
        total *= f->cells[axis];
    }
    f->cell_start = PL_NEW(memory, int32_t, total + 1);
    f->cell_item = PL_NEW(memory, int32_t, f->count);
    if (!f->cell_start || !f->cell_item)
        return false;
    for (int e = 0; e < f->count; e++)
        f->cell_start[cell_of(f, f->centroid + 3 * e) + 1]++;
    for (int64_t k = 0; k < total; k++)
        f->cell_start[k + 1] += f->cell_start[k];
    for (int e = f->count - 1; e >= 0; e--) {
        /* Filled from the back, with the starts of the next cells as cursors: the starts are put
           right on the way. */
        int c = cell_of(f, f->centroid + 3 * e);
        f->cell_item[--f->cell_start[c + 1]] = e;
    }
    for (int64_t k = 0; k < total; k++)
        f->cell_start[k] = f->cell_start[k + 1];
    f->cell_start[total] = f->count;
    return true;
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static void lower(field *f, int32_t element, double distance)
{
    if (distance < f->distance[element]) {
        f->distance[element] = distance;
        sink(f, f->place[element]);
    }
}

static double squared(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* What lies within `reach` of the new sample. */
static void take_over(field *f, int32_t sample, double reach)
{
    const double *c = f->centroid + 3 * (ptrdiff_t)sample;
    int from[3], to[3];
    for (int axis = 0; axis < 3; axis++) {
        bool bounded = reach < 1e30;
        from[axis] = bounded ? cell_along(f, axis, c[axis] - reach) : 0;
        to[axis] = bounded ? cell_along(f, axis, c[axis] + reach) : f->cells[axis] - 1;
    }
    for (int i = from[0]; i <= to[0]; i++)
        for (int j = from[1]; j <= to[1]; j++)
            for (int k = from[2]; k <= to[2]; k++) {
                int cell = (i * f->cells[1] + j) * f->cells[2] + k;
                for (int32_t p = f->cell_start[cell]; p < f->cell_start[cell + 1]; p++) {
                    int32_t e = f->cell_item[p];
                    if (f->piece[e] == f->piece[sample])
                        lower(f, e, squared(f->centroid + 3 * (ptrdiff_t)e, c));
                }
            }
}

static void choose(field *f, int32_t sample)
{
    double reach = sqrt(f->distance[sample]);
    lower(f, sample, -1);
    take_over(f, sample, reach);
}

static void run(field *f, int count, int32_t *sample)
{
    int chosen = 0;
    for (int e = 0; e < f->count; e++) {
        f->distance[e] = INFINITY;
        put(f, e, e);
    }
    for (int e = 0, next = 0; e < f->count; e++)
        if (f->piece[e] == next) {
            next++;
            sample[chosen++] = e;
            choose(f, e);
        }
    for (; chosen < count; chosen++) {
        sample[chosen] = f->heap[0];
        choose(f, f->heap[0]);
    }
}

bool pl_tet_sample(pl_memory *memory, int tet_count, const double *centroid, const int32_t *piece,
                   int count, int32_t *sample)
{
    field f = {.count = tet_count, .centroid = centroid, .piece = piece};
    f.distance = PL_NEW(memory, double, tet_count);
    f.heap = PL_NEW(memory, int32_t, tet_count);
    f.place = PL_NEW(memory, int32_t, tet_count);
    bool made = f.distance && f.heap && f.place && make_lattice(memory, &f);
    if (made)
        run(&f, count, sample);
    void *blocks[] = {f.distance, f.heap, f.place, f.cell_start, f.cell_item};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    return made;
}
