/* pliant bench frames: Table 1 of Choi & Lee per frame, its scenes played without sleep and without
   skinning. The work of a frame is the same in every repetition, so that the least time of each
   frame is what nothing else disturbed; the table gives the mean of these over all frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/error.h"
#include "bench.h"

enum { STAGES = 5 };

static const char *const stage_names[STAGES] = {"local", "global", "contact", "other", "total"};

typedef struct row {
    const char *scene;
    int cores;            /* of the paper's machine in this row */
    double paper[STAGES]; /* ms per frame; 0 = it has none */
} row;

static const row rows[] = {
    {"bar-manipulation", 1, {0.27, 0.07, 0, 0, 0.34}},
    {"dinosaur-collapse", 1, {0.70, 0.24, 0, 0, 0.94}},
    {"dinosaur-fall", 1, {0.74, 0.24, 0.16, 0, 1.15}},
    {"sheet-on-turning-rod", 1, {1.63, 0.58, 0.09, 0, 2.32}},
    {"rabbit-on-sheet", 1, {5.60, 2.15, 4.71, 0, 12.48}},
    {"crowd-52", 4, {7.86, 2.91, 15.46, 0, 26.24}},
    {"crowd-180", 4, {8.87, 3.28, 14.97, 0, 27.14}},
};

typedef struct outcome {
    double ms[STAGES]; /* per frame; stages are the work of all threads, the total is time */
    int bodies, particles, edges, substeps, iterations, frames;
} outcome;

/* ---- Measuring ------------------------------------------------------------------------------- */

static pl_status play_frames(pl_play *play, double *total, double sums[STAGES], outcome *out)
{
    for (int frame = 0; frame < out->frames && !app_signal(); frame++) {
        pl_report r = {0};
        PL_TRY(pl_play_step(play, &r));
        const double ms[] = {r.ms_local, r.ms_global, r.ms_contact,
                             r.ms_predict + r.ms_accelerate + r.ms_stiff + r.ms_finish};
        for (int k = 0; k < STAGES - 1; k++)
            sums[k] += ms[k];
        total[frame] = total[frame] == 0 || r.ms_total < total[frame] ? r.ms_total : total[frame];
        out->bodies = r.bodies;
        out->particles = r.particles;
        out->edges = r.edges;
    }
    return PL_OK;
}

static pl_status repeat(const bench *b, const pl_scene *scene, double *total, outcome *out)
{
    pl_play_options options = pl_default_play_options();
    pl_play *play;
    pl_trouble trouble;
    double sums[STAGES] = {0};
    options.threads = b->threads;
    PL_TRY(pl_play_create(scene, 0, &options, &play, &trouble));
    out->frames = b->quick && play->settings.frames > 60 ? 60 : play->settings.frames;
    out->substeps = play->settings.substeps;
    out->iterations = play->settings.iterations;
    pl_status status = play_frames(play, total, sums, out);
    for (int k = 0; k < STAGES - 1; k++) {
        double mean = sums[k] / out->frames;
        out->ms[k] = out->ms[k] == 0 || mean < out->ms[k] ? mean : out->ms[k];
    }
    pl_play_destroy(play);
    return status;
}

static pl_status measure(const bench *b, pl_scene *scene, outcome *out)
{
    double *total = calloc((size_t)scene->world.frames + 1, sizeof *total);
    pl_status status = total ? PL_OK : PL_ERROR_MEMORY;
    *out = (outcome){0};
    scene->world.sleeping = false;
    for (int i = 0; i < (b->quick ? 2 : 5) && status == PL_OK && !app_signal(); i++)
        status = repeat(b, scene, total, out);
    for (int i = 0; i < out->frames && status == PL_OK; i++)
        out->ms[STAGES - 1] += total[i] / out->frames;
    free(total);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(bench *b, const row *r, const outcome *o)
{
    for (int k = 0; k < STAGES; k++) {
        printf("%s{\"table\":\"frames\",\"row\":\"%s\",\"stage\":\"%s\",\"per\":\"frame\","
               "\"threads\":%d,"
               "\"simd\":%d,\"bodies\":%d,\"particles\":%d,\"edges\":%d,\"frames\":%d,\"ours_ms\":%"
               ".9g,"
               "\"paper_cores\":%d,\"paper_ms\":",
               b->rows ? ",\n " : "[", r->scene, stage_names[k], b->threads, pl_simd_width(),
               o->bodies, o->particles, o->edges, o->frames, o->ms[k], r->cores);
        if (r->paper[k] > 0)
            printf("%.9g}", r->paper[k]);
        else
            printf("null}");
        b->rows++;
    }
}

static void print_text(bench *b, const row *r, const outcome *o)
{
    if (b->rows_of_table++ == 0)
        printf("milliseconds per frame, %d thread%s (stages: work of all threads), vectors of %d "
               "floats\n\n%-21s %6s %9s %6s %5s  %7s %7s %7s %7s %7s  %8s\n",
               b->threads, b->threads == 1 ? "" : "s", pl_simd_width(), "scene", "bodies",
               "particles", "edges", "steps", "local", "global", "contact", "other", "total",
               "ratio");
    printf("%-21s %6d %9d %6d %2d×%-2d ", r->scene, o->bodies, o->particles, o->edges, o->substeps,
           o->iterations);
    for (int k = 0; k < STAGES; k++)
        printf(" %7.3f", o->ms[k]);
    printf("  %7.1fx\n%-21s %6s %9s %6s %5s ", r->paper[STAGES - 1] / o->ms[STAGES - 1],
           r->cores == 1 ? "  paper" : "  paper, 4 cores", "", "", "", "");
    for (int k = 0; k < STAGES; k++)
        printf(r->paper[k] > 0 ? " %7.2f" : "       .", r->paper[k]);
    printf("\n");
    fflush(stdout);
    b->rows++;
}

pl_status app_table_frames(bench *b)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !app_signal(); i++) {
        pl_memory memory;
        pl_scene *scene;
        outcome out;
        pl_memory_init(&memory, NULL, 0);
        if (app_load_scene(&memory, rows[i].scene, &scene) >= 0)
            return PL_ERROR_IO;
        pl_status status = measure(b, scene, &out);
        pl_scene_free(scene);
        PL_TRY(status);
        if (!app_signal())
            (b->json ? print_json : print_text)(b, rows + i, &out);
    }
    return PL_OK;
}
