/* Gathering the numbers of a run for its plot; output_svg.c draws it. */
#include "io/output_plot.h"

#include <math.h>

static void clear_bucket(pl_plot_bucket *bucket)
{
    *bucket = (pl_plot_bucket){0};
    for (int s = 0; s < PL_PLOT_SERIES; s++) {
        bucket->low[s] = INFINITY;
        bucket->high[s] = -INFINITY;
    }
}

static void merge(pl_plot_bucket *to, const pl_plot_bucket *from)
{
    to->frames += from->frames;
    to->timed += from->timed;
    for (int s = 0; s < PL_PLOT_SERIES; s++) {
        to->low[s] = from->low[s] < to->low[s] ? from->low[s] : to->low[s];
        to->high[s] = from->high[s] > to->high[s] ? from->high[s] : to->high[s];
        to->sum[s] += from->sum[s];
    }
}

/* Two become one, from the first on. */
static void halve(pl_plot *plot)
{
    for (int i = 0; i < PL_PLOT_BUCKETS / 2; i++) {
        plot->buckets[i] = plot->buckets[2 * i];
        merge(&plot->buckets[i], &plot->buckets[2 * i + 1]);
    }
    plot->used = PL_PLOT_BUCKETS / 2;
    plot->stride *= 2;
}

static void list_values(const pl_frame_numbers *n, double values[PL_PLOT_SERIES])
{
    values[PL_PLOT_TIME] = n->time;
    values[PL_PLOT_KINETIC] = n->energy.kinetic;
    values[PL_PLOT_POTENTIAL] = n->energy.potential;
    values[PL_PLOT_ELASTIC] = n->energy.elastic;
    values[PL_PLOT_PINS] = n->energy.pins;
    values[PL_PLOT_MECHANICAL] = pl_mechanical_energy(&n->energy);
    for (int k = 0; k < PL_STAGES; k++)
        values[PL_PLOT_STAGE + k] = n->timed ? n->ms[k] : NAN;
    values[PL_PLOT_TOTAL] = n->timed ? n->ms_total : NAN;
    values[PL_PLOT_CONTACTS] = n->contacts;
    values[PL_PLOT_AWAKE] = n->awake;
}

void pl_plot_add(pl_plot *plot, const pl_frame_numbers *numbers)
{
    double values[PL_PLOT_SERIES];
    list_values(numbers, values);
    plot->stride = plot->stride ? plot->stride : 1;
    bool full = !plot->used || plot->buckets[plot->used - 1].frames == plot->stride;
    if (full && plot->used == PL_PLOT_BUCKETS)
        halve(plot);
    if (full)
        clear_bucket(&plot->buckets[plot->used++]);
    pl_plot_bucket one;
    clear_bucket(&one);
    one.frames = 1;
    one.timed = numbers->timed;
    for (int s = 0; s < PL_PLOT_SERIES; s++)
        if (isfinite(values[s]))
            one.low[s] = one.high[s] = one.sum[s] = values[s];
    merge(&plot->buckets[plot->used - 1], &one);
    plot->frames++;
    plot->last_frame = numbers->frame;
    if (numbers->timed && numbers->ms_total > plot->slowest_ms) {
        plot->slowest_ms = numbers->ms_total;
        plot->slowest_frame = numbers->frame;
    }
}
