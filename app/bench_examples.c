/* pliant bench examples: Table 1 of Koyama et al. 2012, one body of each kind that prefers the
   poses it was shown, and the whole slope of its first figure; beside them our own rows with five
   poses. The work of a frame is the same in every repetition, so that the fastest of these is what
   nothing else disturbed; the table gives the mean of the fastest, stage by stage, so that stages
   add up. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { MATCHING, PROJECTION, OTHER, TOTAL, TIMES };

static const char *const time_names[TIMES] = {"matching", "project", "other", "total"};

typedef struct row {
    const char *scene, *body; /* only this one; NULL = all */
    const char *name;
    double paper[TIMES]; /* ms per step; below 0 = there is none */
    bool five;           /* four more poses beside the body's own */
} row;

static const row rows[] = {
    {"example-cuboids", "twist", "cuboid, global", {0.21, 0.091, -1, 0.33}, false},
    {"example-cuboids", "twist, local", "cuboid, local", {0.21, 0.17, -1, 0.40}, false},
    {"example-cylinders", "twist", "cylinder", {2.0, 0.86, -1, 3.1}, false},
    {"example-teddy", "teddy", "teddy", {1.3, 0.72, -1, 2.2}, false},
    {"example-cars", "bend", "car", {0.17, 0.078, -1, 0.27}, false},
    {"example-slope", NULL, "slope", {-1, -1, -1, -1}, false},
    {"example-cuboids", "twist", "five, global", {-1, -1, -1, -1}, true},
    {"example-cuboids", "twist, local", "five, local", {-1, -1, -1, -1}, true},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct measurement {
    pl_memory *memory;
    pl_play *play;
    int frames, repetitions;
    double (*least)[TIMES]; /* [frames] of the fastest repetition */
    void *start;            /* the state before the first frame */
    size_t start_size;
} measurement;

typedef struct result {
    int particles, poses, groups;
    double ms[TIMES]; /* per step */
    double steps_per_second;
} result;

static pl_status keep_start(measurement *m)
{
    PL_TRY(pl_world_save(m->play->world, NULL, 0, &m->start_size));
    m->start = pl_memory_alloc(m->memory, m->start_size, 1);
    return m->start ? pl_world_save(m->play->world, m->start, m->start_size, &m->start_size)
                    : PL_ERROR_MEMORY;
}

static pl_status measure_frame(const measurement *m, double least[TIMES], bool first)
{
    pl_report r = {0};
    PL_TRY(pl_play_step(m->play, &r));
    const double ms[TIMES] = {r.ms_local - r.ms_examples, r.ms_examples, r.ms_total - r.ms_local,
                              r.ms_total};
    if (first || ms[TOTAL] < least[TOTAL])
        memcpy(least, ms, sizeof ms);
    return PL_OK;
}

static pl_status play_all(const measurement *m, app_progress *progress)
{
    uint64_t done = 0;
    for (int n = 0; n < m->repetitions; n++) {
        PL_TRY(pl_world_restore(m->play->world, m->start, m->start_size, m->play->models,
                                m->play->model_count, NULL));
        m->play->frame = 0;
        for (int i = 0; i < m->frames && !app_signal(); i++) {
            PL_TRY(measure_frame(m, m->least[i], n == 0));
            app_progress_frame(progress, ++done);
        }
    }
    return PL_OK;
}

/* A step of the paper is a sub-step here. */
static void sum_up(const measurement *m, result *out)
{
    int substeps = m->play->settings.substeps;
    for (int i = 0; i < m->frames; i++)
        for (int k = 0; k < TIMES; k++)
            out->ms[k] += m->least[i][k] / m->frames / substeps;
    out->steps_per_second = 1000 / out->ms[TOTAL];
}

static pl_status count(const measurement *m, result *out)
{
    for (int i = 0; i < m->play->body_count; i++) {
        pl_body_info info;
        PL_TRY(pl_body_get_info(m->play->world, m->play->bodies[i].handle, &info));
        out->particles += info.particle_count;
        out->poses = info.example_pose_count;
        out->groups = info.example_group_count;
    }
    return PL_OK;
}

/* One body of a scene, and what drives it. */
static void keep_body(pl_scene *scene, const char *name)
{
    int kept = -1, drives = 0;
    for (int i = 0; name && i < scene->body_count && kept < 0; i++)
        kept = strcmp(scene->bodies[i].name, name) == 0 ? i : -1;
    if (kept < 0)
        return;
    scene->bodies[0] = scene->bodies[kept];
    scene->body_count = 1;
    for (int i = 0; i < scene->drive_count; i++)
        if (scene->drives[i].body == kept)
            scene->drives[drives++] = scene->drives[i];
    for (int i = 0; i < drives; i++)
        scene->drives[i].body = 0;
    scene->drive_count = drives;
}

enum { MORE = 4 };

/* Poses beside those a body has. */
typedef struct more_poses {
    pl_scene_pose poses[1 + MORE];
    pl_warp warps[MORE];
} more_poses;

static void add_poses(pl_scene_examples *examples, more_poses *more)
{
    static const pl_warp_kind kinds[MORE] = {PL_WARP_TWIST, PL_WARP_BEND, PL_WARP_S,
                                             PL_WARP_SQUASH};
    static const double amounts[MORE] = {-1.5, 0.6, 0.7, 0};
    more->poses[0] = examples->poses[0];
    for (int i = 0; i < MORE; i++) {
        more->warps[i] = pl_default_warp(kinds[i]);
        more->warps[i].amount = amounts[i];
        more->poses[1 + i] = (pl_scene_pose){
            .place = examples->poses[0].place, .warp_count = 1, .warps = &more->warps[i]};
    }
    examples->poses = more->poses;
    examples->pose_count = 1 + MORE;
}

static pl_status measure(const bench *b, pl_memory *memory, pl_scene *scene, const row *r,
                         result *out)
{
    measurement m = {.memory = memory, .repetitions = b->quick ? 3 : 10};
    pl_play_options options = pl_default_play_options();
    app_progress progress;
    pl_trouble trouble;
    more_poses more;
    *out = (result){0};
    options.threads = b->threads;
    scene->world.sleeping = false;
    for (int i = 0; i < scene->run_count; i++)
        scene->runs[i].world.sleeping = false;
    keep_body(scene, r->body);
    if (r->five)
        add_poses(&scene->bodies[0].examples, &more);
    pl_status status = pl_play_create(scene, 0, &options, &m.play, &trouble);
    if (status != PL_OK) {
        app_fail(&trouble);
        return status;
    }
    m.frames = b->quick && m.play->settings.frames > 60 ? 60 : m.play->settings.frames;
    m.least = pl_memory_alloc(memory, (size_t)m.frames, sizeof *m.least);
    status = m.least ? keep_start(&m) : PL_ERROR_MEMORY;
    app_progress_begin(&progress, r->name, 0, (uint64_t)m.frames * (uint64_t)m.repetitions, true);
    if (status == PL_OK)
        status = play_all(&m, &progress);
    app_progress_end(&progress);
    if (status == PL_OK)
        sum_up(&m, out);
    if (status == PL_OK)
        status = count(&m, out);
    pl_memory_free(memory, m.start);
    pl_memory_free(memory, m.least);
    pl_play_destroy(m.play);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static double share_of(const result *r)
{
    return r->ms[PROJECTION] / r->ms[TOTAL];
}

static void print_json(bench *b, const row *r, const result *ours)
{
    app_bench_json_row(b, "examples");
    printf(",\"row\":\"%s\",\"scene\":\"%s\",\"per\":\"step\",\"particles\":%d,\"poses\":%d,"
           "\"groups\":%d,\"projection_share\":%.4g,\"steps_per_second\":%.6g",
           r->name, r->scene, ours->particles, ours->poses, ours->groups, share_of(ours),
           ours->steps_per_second);
    app_bench_json_times("ours_ms", time_names, ours->ms, TIMES);
    app_bench_json_times("paper_ms", time_names, r->paper, TIMES);
    if (r->paper[TOTAL] > 0)
        printf(",\"ratio\":%.4g", r->paper[TOTAL] / ours->ms[TOTAL]);
    printf("}");
}

static void print_text(const row *r, const result *ours)
{
    printf("%-16s %9d %5d %6d %-6s", r->name, ours->particles, ours->poses, ours->groups, "ours");
    app_bench_cells(ours->ms, TIMES, 4);
    printf(" %7.1f %% %8.0f\n", 100 * share_of(ours), ours->steps_per_second);
    if (r->paper[TOTAL] > 0) {
        printf("%-16s %9s %5s %6s %-6s", "", "", "", "", "paper");
        app_bench_cells(r->paper, TIMES, 3);
        printf(" %7.1f %% %8.0f\n%-16s %9s %5s %6s %-6s",
               100 * r->paper[PROJECTION] / r->paper[TOTAL], 1000 / r->paper[TOTAL], "", "", "", "",
               "ratio");
        app_bench_ratios(ours->ms, r->paper, TIMES);
        printf("\n");
    }
    printf("\n");
    fflush(stdout);
}

static void print_heading(void)
{
    printf("Koyama et al. 2012, Table 1: bodies with example poses, milliseconds per step\n\n"
           "%-16s %9s %5s %6s %-6s",
           "body", "particles", "poses", "groups", "");
    app_bench_names(time_names, TIMES);
    printf(" %9s %8s\n", "share", "steps/s");
}

static void print_meaning(const bench *b)
{
    printf("matching   regions are fitted, goals averaged, particles moved\n"
           "project    how near the body is to its examples, and what they want of each region\n"
           "other      prediction, contacts, velocities, rotations for the surface\n"
           "total      wall time of a step (a sub-step of the scene)\n"
           "share      of the projection in the total\n"
           "ratio      paper / ours: how many times faster\n"
           "slope      the paper gives 49 frames per second for its scene, drawn\n"
           "five       the cuboids again with five poses; not in the paper\n"
           "ours       the fastest of %d repetitions of each frame, mean over %s; nobody sleeps\n"
           "paper      Intel Core i7 M620, 2.67 GHz, one core\n",
           b->quick ? 3 : 10, b->quick ? "the first 60 frames" : "all frames");
}

pl_status app_table_examples(bench *b)
{
    if (!b->json)
        print_heading();
    for (int i = 0; i < ROWS && !app_signal(); i++) {
        pl_memory memory;
        pl_scene *scene;
        result ours;
        pl_memory_init(&memory, NULL, 0);
        if (app_load_scene(&memory, rows[i].scene, &scene) >= 0)
            return PL_ERROR_IO;
        pl_status status = measure(b, &memory, scene, &rows[i], &ours);
        pl_scene_free(scene);
        PL_TRY(status);
        if (app_signal())
            break;
        if (b->json)
            print_json(b, &rows[i], &ours);
        else
            print_text(&rows[i], &ours);
    }
    if (!b->json && !app_signal())
        print_meaning(b);
    return PL_OK;
}
