/* Lloyd's relaxation with constraints. A sample goes to the centroid of its cells, or part of the
   way, where it stays inside and no other sample is too near. */
#include "shape/sample_relax.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/sample_assign.h"
#include "shape/sample_buckets.h"

/* How far a sample may go in all, in distances: not out of the thin part it was put into. */
#define STRAY 0.6

typedef struct relaxing {
    pl_memory *memory;
    const pl_relax_def *def;
    double *points, *best; /* [count][3] */
    double *origin;        /* [count][3] where they were */
    double *sums;          /* [count][4] Σ w x, Σ w */
    int32_t *owner;        /* [cell] */
    double *distance2;     /* [cell] */
    double gap, best_least, best_gap;
} relaxing;

static pl_status assign(relaxing *r, pl_error *error)
{
    const pl_relax_def *def = r->def;
    double gap2 = 0;
    PL_TRY(pl_cells_assign(r->memory, def->cells, def->count, r->points, def->distance,
                           2 * def->widest * def->distance, r->owner, r->distance2, error));
    for (int i = 0; i < def->cells->count; i++)
        gap2 = r->distance2[i] > gap2 ? r->distance2[i] : gap2;
    r->gap = sqrt(gap2);
    return PL_OK;
}

static double least_distance(const relaxing *r, const pl_buckets *buckets)
{
    double least = INFINITY;
    for (int i = 0; i < r->def->count; i++) {
        double distance2;
        if (pl_buckets_nearest(buckets, r->points + 3 * (size_t)i,
                               fmin(4 * r->def->distance, least), i, NULL, 0, &distance2) >= 0)
            least = fmin(least, sqrt(distance2));
    }
    return r->def->count > 1 ? fmin(least, 4 * r->def->distance) : INFINITY;
}

/* Sums are taken from the sample itself, which keeps them exact far from the origin. */
static void add_up(relaxing *r)
{
    const pl_cells *cells = r->def->cells;
    memset(r->sums, 0, 4 * (size_t)r->def->count * sizeof(double));
    for (int i = 0; i < cells->count; i++) {
        if (r->owner[i] < 0)
            continue;
        double *sum = r->sums + 4 * (size_t)r->owner[i], part = (double)cells->parts[i];
        for (int k = 0; k < 3; k++)
            sum[k] +=
                part * (cells->points[3 * (size_t)i + k] - r->points[3 * (size_t)r->owner[i] + k]);
        sum[3] += part;
    }
}

static void move(relaxing *r, const pl_buckets *buckets, int i)
{
    const pl_relax_def *def = r->def;
    const double *sum = r->sums + 4 * (size_t)i;
    double *point = r->points + 3 * (size_t)i, length2 = 0;
    if (!(sum[3] > 0))
        return;
    for (int k = 0; k < 3; k++)
        length2 += sum[k] / sum[3] * (sum[k] / sum[3]);
    double most = 0.5 * def->distance, length = sqrt(length2), far = STRAY * def->distance;
    double step = length > most ? most / length : 1;
    for (int tries = 0; tries < 4; tries++, step *= 0.5) {
        double to[3];
        for (int k = 0; k < 3; k++)
            to[k] = point[k] + step * sum[k] / sum[3];
        if (pl_distance2(to, r->origin + 3 * (size_t)i) <= far * far &&
            pl_buckets_nearest(buckets, to, def->distance, i, r->points, most, NULL) < 0 &&
            pl_cells_inside(def->cells, def->inside, to)) {
            memcpy(point, to, sizeof to);
            return;
        }
    }
}

/* The state of a round: is it one to end with? */
static pl_status judge(relaxing *r, const pl_buckets *buckets, bool *good, pl_error *error)
{
    PL_TRY(assign(r, error));
    double least = least_distance(r, buckets);
    *good = r->gap <= fmax(r->def->widest * least, *good ? INFINITY : 0);
    if (*good) {
        memcpy(r->best, r->points, 3 * (size_t)r->def->count * sizeof(double));
        r->best_least = least, r->best_gap = r->gap;
    }
    return PL_OK;
}

/* Rounds may pass through states with wide gaps; the last without is taken. */
static pl_status relax_rounds(relaxing *r, pl_error *error)
{
    const pl_relax_def *def = r->def;
    pl_status status = PL_OK;
    for (int round = 0; round <= def->rounds && status == PL_OK; round++) {
        pl_buckets buckets;
        bool good = round == 0; /* the beginning is good enough in any case */
        PL_TRY(pl_buckets_make(r->memory, def->count, r->points, def->distance, &buckets, error));
        status = judge(r, &buckets, &good, error);
        if (status == PL_OK && round < def->rounds) {
            add_up(r);
            for (int i = 0; i < def->count; i++)
                move(r, &buckets, i);
        }
        pl_buckets_free(r->memory, &buckets);
    }
    if (status == PL_OK)
        memcpy(r->points, r->best, 3 * (size_t)def->count * sizeof(double));
    return status;
}

pl_status pl_relax(pl_memory *memory, const pl_relax_def *def, double *points, double *least,
                   double *gap, pl_error *error)
{
    relaxing r = {.memory = memory, .def = def, .points = points};
    r.origin = PL_NEW(memory, double, 3 * (size_t)def->count);
    r.best = PL_NEW(memory, double, 3 * (size_t)def->count);
    r.sums = PL_NEW(memory, double, 4 * (size_t)def->count);
    r.owner = PL_NEW(memory, int32_t, def->cells->count);
    r.distance2 = PL_NEW(memory, double, def->cells->count);
    pl_status status = PL_ERROR_MEMORY;
    if (r.origin && r.best && r.sums && r.owner && r.distance2) {
        memcpy(r.origin, points, 3 * (size_t)def->count * sizeof(double));
        status = relax_rounds(&r, error);
    } else {
        pl_fail(error, status, NULL, "no memory to spread %d samples", def->count);
    }
    *least = r.best_least, *gap = r.best_gap;
    pl_memory_free(memory, r.origin);
    pl_memory_free(memory, r.best);
    pl_memory_free(memory, r.sums);
    pl_memory_free(memory, r.owner);
    pl_memory_free(memory, r.distance2);
    return status;
}
