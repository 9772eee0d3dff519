/* pliant bench clusters: Table 4.1 of Falkenstein 2017, compressed beams of clay. The work of a
   frame is the same in every repetition, so that the least time of each frame is what nothing else
   disturbed; the table gives the mean of these. */
#include <stdio.h>

#include "bench.h"

enum { DYNAMICS, PLASTICITY, RECLUSTERING, CONTACT, OTHER, TOTAL, TIMES };

static const char *const time_names[TIMES] = {"dynamics", "plastic", "clusters",
                                              "contact",  "other",   "total"};

typedef struct row {
    const char *scene, *name, *paper_name;
    pl_recluster_mode recluster;
    bool self_contact;
    double paper[TIMES]; /* ms per frame; below 0 = there is none */
} row;

static const row rows[] = {
    {"clay-beam-flow",
     "flow, not reclustered",
     "no reclustering",
     PL_RECLUSTER_NONE,
     false,
     {2.07, 0.07, 0, -1, -1, 16.17}},
    {"clay-beam-flow",
     "flow",
     "our algorithm",
     PL_RECLUSTER_EMBEDDED,
     false,
     {2.13, 0.07, 19.12, -1, -1, 38.21}},
    {"clay-beam",
     "clay, in world space",
     "no optimization",
     PL_RECLUSTER_WORLD,
     false,
     {0.65, 0.09, 19.64, -1, -1, 37.61}},
    {"clay-beam",
     "clay",
     "our algorithm",
     PL_RECLUSTER_EMBEDDED,
     false,
     {0.49, 0.04, 3.65, -1, -1, 14.17}},
    {"clay-beam-flow",
     "flow, touching itself",
     NULL,
     PL_RECLUSTER_EMBEDDED,
     true,
     {-1, -1, -1, -1, -1, -1}},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct measurement {
    pl_memory *memory;
    pl_play *play;
    int frames, repetitions;
    double (*least)[TIMES]; /* [frames] */
    void *start;            /* the state before the first frame */
    size_t start_size;
} measurement;

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
    const double ms[TIMES] = {
        r.ms_local, -1, r.ms_change, r.ms_contact, r.ms_predict + r.ms_finish, r.ms_total,
    };
    for (int k = 0; k < TIMES; k++)
        least[k] = first || ms[k] < least[k] ? ms[k] : least[k];
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

static void sum_up(const measurement *m, double out[TIMES])
{
    for (int k = 0; k < TIMES; k++)
        out[k] = 0;
    for (int i = 0; i < m->frames; i++)
        for (int k = 0; k < TIMES; k++)
            out[k] += m->least[i][k] / m->frames;
}

static void free_measurement(measurement *m)
{
    pl_memory_free(m->memory, m->start);
    pl_memory_free(m->memory, m->least);
    pl_play_destroy(m->play);
}

static pl_status measure(const bench *b, pl_memory *memory, pl_scene *scene, const row *r,
                         double out[TIMES])
{
    measurement m = {.memory = memory, .repetitions = b->quick ? 1 : 3};
    pl_play_options options = pl_default_play_options();
    app_progress progress;
    pl_trouble trouble;
    options.threads = b->threads;
    scene->runs[0].world.sleeping = false;
    for (int i = 0; i < scene->body_count; i++) {
        scene->bodies[i].clustered.def.recluster = r->recluster;
        scene->bodies[i].clustered.def.self_contact = r->self_contact;
    }
    pl_status status = pl_play_create(scene, 0, &options, &m.play, &trouble);
    if (status != PL_OK) {
        app_fail(&trouble);
        return status;
    }
    /* All of them, also when it should be quick: at first no cluster is replaced. */
    m.frames = m.play->settings.frames;
    m.least = pl_memory_alloc(memory, (size_t)m.frames, sizeof *m.least);
    status = m.least ? keep_start(&m) : PL_ERROR_MEMORY;
    app_progress_begin(&progress, r->name, 0, (uint64_t)m.frames * (uint64_t)m.repetitions, true);
    if (status == PL_OK)
        status = play_all(&m, &progress);
    app_progress_end(&progress);
    if (status == PL_OK)
        sum_up(&m, out);
    free_measurement(&m);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(bench *b, const row *r, const double ours[TIMES])
{
    app_bench_json_row(b, "clusters");
    printf(",\"row\":\"%s\",\"scene\":\"%s\",\"per\":\"frame\",\"particles\":5317,\"clusters\":200",
           r->name, r->scene);
    app_bench_json_times("ours_ms", time_names, ours, TIMES);
    app_bench_json_times("paper_ms", time_names, r->paper, TIMES);
    if (r->paper_name)
        printf(",\"ratio\":%.4g", r->paper[TOTAL] / ours[TOTAL]);
    printf("}");
}

static void print_line(const char *name, const char *whose, const double ms[TIMES], int decimals)
{
    printf("%-22s %-6s", name, whose);
    app_bench_cells(ms, TIMES, decimals);
    printf("\n");
}

static void print_text(const row *r, const double ours[TIMES])
{
    char name[64];
    print_line(r->name, "ours", ours, 3);
    if (r->paper_name) {
        snprintf(name, sizeof name, "  \"%s\"", r->paper_name);
        print_line(name, "paper", r->paper, 2);
        printf("%-22s %-6s", "", "ratio");
        app_bench_ratios(ours, r->paper, TIMES);
        printf("\n");
    }
    printf("\n");
    fflush(stdout);
}

static void print_heading(void)
{
    printf("Falkenstein 2017, Table 4.1: compressed beams of 5,317 particles in 200 clusters, "
           "milliseconds per frame\n\n%-22s %-6s",
           "beam", "");
    app_bench_names(time_names, TIMES);
    printf("\n");
}

static void print_meaning(const bench *b)
{
    printf(
        "flow       clay-beam-flow, which flows at any strain; clay: clay-beam, from a strain "
        "of 0.1 on\n"
        "dynamics   clusters are fitted, particles moved, strains limited; ours with plastic "
        "flow,\n"
        "           but without contact of the beam with itself, which only the last row has (and "
        "which is\n"
        "           on unless a scene says otherwise)\n"
        "clusters   old ones are removed, new ones found\n"
        "total      wall time of a frame; the paper's has more than its columns\n"
        "ratio      paper / ours: how many times faster\n"
        "ours       %s over all frames; nobody sleeps\n"
        "paper      Intel Core i7, 2.5 GHz\n",
        b->quick ? "mean" : "the least of 3 repetitions of each frame, mean");
}

pl_status app_table_clusters(bench *b)
{
    if (!b->json)
        print_heading();
    for (int i = 0; i < ROWS && !app_signal(); i++) {
        pl_memory memory;
        pl_scene *scene;
        double ours[TIMES];
        pl_memory_init(&memory, NULL, 0);
        if (app_load_scene(&memory, rows[i].scene, &scene) >= 0)
            return PL_ERROR_IO;
        pl_status status = measure(b, &memory, scene, &rows[i], ours);
        pl_scene_free(scene);
        PL_TRY(status);
        if (app_signal())
            break;
        if (b->json)
            print_json(b, &rows[i], ours);
        else
            print_text(&rows[i], ours);
    }
    if (!b->json && !app_signal())
        print_meaning(b);
    return PL_OK;
}
