/* Samples along curves, in steps of equal length on each chain between two joints; joints are
   samples themselves. Order: the joints, then the inner samples of each chain from its
   beginning. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/sample_chains.h"
#include "shape/sample_parts.h"

/* A loop needs three, with a joint on it or not. */
static int least_steps(const pl_chains *chains, int c)
{
    return chains->points[chains->start[c]] == chains->points[chains->start[c + 1] - 1] ? 3 : 1;
}

static double steps_for(const pl_chains *chains, int c, double distance)
{
    return fmax(floor(chains->length[c] / distance + 0.5), least_steps(chains, c));
}

static double count_for(const pl_chains *chains, double distance)
{
    double count = chains->joint_count;
    for (int c = 0; c < chains->count; c++)
        count += steps_for(chains, c, distance) - !chains->closed[c];
    return count;
}

/* The distance with at most so many samples, as nearly as may be. */
static double distance_for(const pl_chains *chains, double total, double count)
{
    double low = total / (2 * count + 10), high = 2 * total;
    for (int k = 0; k < 200; k++) {
        double middle = sqrt(low) * sqrt(high);
        if (count_for(chains, middle) > count)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Steps of each chain; the longest steps are divided further until the count is reached. */
static int choose_steps(const pl_chains *chains, double distance, int wanted, int32_t *steps)
{
    int count = chains->joint_count;
    for (int c = 0; c < chains->count; c++) {
        steps[c] = (int32_t)steps_for(chains, c, distance);
        count += steps[c] - !chains->closed[c];
    }
    for (int more = 0; count < wanted && more < 2 * chains->count + 2; more++, count++) {
        int longest = 0;
        for (int c = 1; c < chains->count; c++)
            if (chains->length[c] / steps[c] > chains->length[longest] / steps[longest])
                longest = c;
        steps[longest]++;
    }
    return count;
}

static void put(pl_samples *samples, int *n, const double point[3], int chain, int line)
{
    memcpy(samples->points + 3 * (size_t)*n, point, 3 * sizeof(double));
    samples->component[*n] = chain;
    samples->triangle[(*n)++] = line;
}

static void put_joints(const pl_surface *surface, const pl_chains *chains, pl_samples *samples)
{
    for (int c = chains->count - 1; c >= 0; c--) /* the first chain at a joint has the last word */
        for (int side = 1; side >= 0; side--) {
            int at = side ? chains->start[c + 1] - 1 : chains->start[c];
            int p = chains->points[at], joint = chains->joint[p];
            if (joint >= 0)
                put(samples, &joint, surface->points + 3 * (size_t)p, c,
                    chains->lines[side ? at - 1 : at]);
        }
}

static void put_chain(const pl_surface *surface, const pl_chains *chains, int c, int steps,
                      pl_samples *samples, int *n)
{
    double step = chains->length[c] / steps, walked = 0;
    int k = chains->closed[c] ? 0 : 1, end = steps - 1;
    for (int i = chains->start[c]; i + 1 < chains->start[c + 1]; i++) {
        const double *p = surface->points + 3 * (size_t)chains->points[i],
                     *q = surface->points + 3 * (size_t)chains->points[i + 1];
        bool last = i + 2 == chains->start[c + 1];
        double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
        double length = sqrt(x * x + y * y + z * z);
        for (; k <= end && (k * step <= walked + length || last); k++) {
            double t = length > 0 ? fmin(fmax((k * step - walked) / length, 0), 1) : 0;
            const double point[3] = {p[0] + t * x, p[1] + t * y, p[2] + t * z};
            put(samples, n, point, c, chains->lines[i]);
        }
        walked += length;
    }
}

static pl_status sample_chains(pl_memory *memory, const pl_surface *surface,
                               const pl_chains *chains, const pl_sample_def *def,
                               pl_samples *samples, pl_error *error)
{
    double total = 0, steps_total = 0;
    for (int c = 0; c < chains->count; c++)
        total += chains->length[c];
    PL_CHECK(total > 0, PL_ERROR_ARGUMENT, error, NULL, "the lines have no length");
    double distance = def->count ? distance_for(chains, total, def->count) : def->distance;
    double expected = count_for(chains, distance);
    PL_CHECK(expected < PL_MOST_SAMPLES, PL_ERROR_ARGUMENT, error, "distance",
             "would need some %.0f samples; at most %d", expected, PL_MOST_SAMPLES);
    int32_t *steps = PL_NEW(memory, int32_t, chains->count);
    PL_CHECK(steps, PL_ERROR_MEMORY, error, NULL, "no memory for %d curves", chains->count);
    int count = choose_steps(chains, distance, def->count, steps), n = chains->joint_count;
    pl_status status = pl_samples_allocate(memory, count, samples, error);
    if (status == PL_OK) {
        put_joints(surface, chains, samples);
        for (int c = 0; c < chains->count; c++) {
            put_chain(surface, chains, c, steps[c], samples, &n);
            steps_total += steps[c];
        }
        samples->distance = total / steps_total;
    }
    pl_memory_free(memory, steps);
    return status;
}

/* A surface without curves. */
static pl_status sample_centreline(pl_memory *memory, const pl_surface *surface,
                                   const pl_sample_def *def, pl_samples *samples, pl_error *error)
{
    double count = def->count ? def->count : fmax(1, floor(surface->size / def->distance + 0.5));
    PL_CHECK(surface->triangle_count, PL_ERROR_ARGUMENT, error, NULL,
             "there are no lines to put samples on");
    PL_CHECK(count < PL_MOST_SAMPLES, PL_ERROR_ARGUMENT, error, "distance",
             "would need some %.0f samples; at most %d", count, PL_MOST_SAMPLES);
    PL_TRY(pl_samples_allocate(memory, (int)count, samples, error));
    double *radii = PL_NEW(memory, double, samples->count);
    if (!radii) {
        pl_samples_free(memory, samples);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %.0f samples", count);
    }
    double length = pl_centreline(surface, samples->count, samples->points, radii);
    samples->distance = length / samples->count;
    pl_memory_free(memory, radii);
    return PL_OK;
}

pl_status pl_sample_curves(pl_memory *memory, const pl_surface *surface, const pl_sample_def *def,
                           pl_samples *samples, pl_error *error)
{
    *samples = (pl_samples){0};
    PL_TRY(pl_sample_def_check(def, error));
    if (!surface->line_count)
        return sample_centreline(memory, surface, def, samples, error);
    pl_chains chains;
    PL_TRY(pl_chains_make(memory, surface, &chains, error));
    pl_status status = sample_chains(memory, surface, &chains, def, samples, error);
    pl_chains_free(memory, &chains);
    return status;
}
