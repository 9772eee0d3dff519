/* A run as a picture: energies, time per stage and contacts over time, as SVG. However long the
   run, memory and file stay small: frames are gathered in buckets that keep the lowest, the highest
   and the sum of each number, and when all buckets are full, two become one. */
#ifndef PL_IO_OUTPUT_PLOT_H
#define PL_IO_OUTPUT_PLOT_H

#include "io/file.h"
#include "io/frame_numbers.h"

enum { PL_PLOT_BUCKETS = 1024 };

typedef enum pl_plot_series {
    PL_PLOT_TIME,
    PL_PLOT_KINETIC,
    PL_PLOT_POTENTIAL,
    PL_PLOT_ELASTIC,
    PL_PLOT_PINS,
    PL_PLOT_MECHANICAL,
    PL_PLOT_STAGE, /* the first of PL_STAGES */
    PL_PLOT_TOTAL = PL_PLOT_STAGE + PL_STAGES,
    PL_PLOT_CONTACTS,
    PL_PLOT_AWAKE,
    PL_PLOT_SERIES
} pl_plot_series;

typedef struct pl_plot_bucket {
    uint64_t frames, timed; /* how many; how many of them have times */
    double low[PL_PLOT_SERIES], high[PL_PLOT_SERIES], sum[PL_PLOT_SERIES]; /* low > high: nothing */
} pl_plot_bucket;

/* Plain values, no pointers: a copy of the bytes is a copy of the plot. All zero is an empty
   one. */
typedef struct pl_plot {
    uint64_t stride; /* frames per bucket */
    uint64_t frames, last_frame, slowest_frame;
    double slowest_ms;
    int used;
    pl_plot_bucket buckets[PL_PLOT_BUCKETS];
} pl_plot;

void pl_plot_add(pl_plot *plot, const pl_frame_numbers *numbers);

/* `title` and `about` (one line below it) are plain text in UTF-8: what XML cannot hold is
   replaced. */
void pl_plot_write(const pl_plot *plot, pl_output *output, const char *title, const char *about);

#endif
