/* pliant bench frames: Table 1 of Choi & Lee, its scenes played without sleep. The work of a frame
   is the same in every repetition, so that the least time of each frame is what nothing else
   disturbed; the table gives the mean of these over all frames. */
#include <stdio.h>

#include "base/clock.h"
#include "bench.h"

enum { LOCAL, GLOBAL, CONTACT, OTHER, TOTAL, SKIN, TIMES };

static const char *const time_names[TIMES] = {"local", "global", "contact",
                                              "other", "total",  "skin"};

/* Counts, and times in ms per frame; below 0 = there is none. */
typedef struct figures {
    int bodies, particles, edges, vertices, substeps, iterations;
    double ms[TIMES];
} figures;

typedef struct row {
    const char *scene;
    const char *figure; /* of the paper */
    int cores;          /* of the paper's machine in this row */
    int alike; /* so many alike of what the paper's row is one of: ours are divided by it */
    figures paper;
} row;

static const row rows[] = {
    {"bar-manipulation", "1", 1, 1, {1, 20, 19, 674, 1, 10, {0.27, 0.07, -1, -1, 0.34, -1}}},
    {"bar-stiffness", "2", 1, 3, {1, 20, 19, 674, 1, 10, {0.27, 0.07, -1, -1, 0.34, -1}}},
    {"dinosaur-collapse", "4", 1, 1, {1, 100, 261, 4334, 1, 10, {0.70, 0.24, -1, -1, 0.94, -1}}},
    {"dinosaur-fall", "5", 1, 1, {1, 100, 261, 4334, 3, 3, {0.74, 0.24, 0.16, -1, 1.15, -1}}},
    {"sheet-on-turning-rod",
     "6",
     1,
     1,
     {1, 256, 480, 400, 1, 10, {1.63, 0.58, 0.09, -1, 2.32, -1}}},
    {"rabbit-on-sheet", "6", 1, 1, {2, 496, 1647, 3251, 6, 2, {5.60, 2.15, 4.71, -1, 12.48, -1}}},
    {"crowd-52", "7", 4, 1, {52, 4120, 18574, 175000, 6, 2, {7.86, 2.91, 15.46, -1, 26.24, -1}}},
    {"crowd-180", "7", 4, 1, {180, 4404, 18640, 704000, 6, 2, {8.87, 3.28, 14.97, -1, 27.14, -1}}},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct measurement {
    pl_memory *memory;
    pl_play *play;
    int frames, repetitions;
    double (*least)[TIMES]; /* [frames] */
    pl_skin_request *requests;
    int request_count, vertices;
    void *start; /* the state before the first frame */
    size_t start_size;
} measurement;

/* Buffers for every surface. They hang on the requests. */
static pl_status make_requests(measurement *m)
{
    const pl_play *play = m->play;
    m->requests = PL_NEW(m->memory, pl_skin_request, play->body_count);
    if (!m->requests)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < play->body_count; i++) {
        int count = play->bodies[i].info.vertex_count;
        if (count == 0)
            continue;
        float *both = PL_NEW(m->memory, float, 6 * (size_t)count);
        if (!both)
            return PL_ERROR_MEMORY;
        m->requests[m->request_count++] =
            (pl_skin_request){.body = play->bodies[i].handle,
                              .fraction = 1,
                              .positions = pl_floats(both, 0),
                              .normals = pl_floats(both + 3 * (size_t)count, 0)};
        m->vertices += count;
    }
    return PL_OK;
}

static pl_status keep_start(measurement *m)
{
    PL_TRY(pl_world_save(m->play->world, NULL, 0, &m->start_size));
    m->start = pl_memory_alloc(m->memory, m->start_size, 1);
    return m->start ? pl_world_save(m->play->world, m->start, m->start_size, &m->start_size)
                    : PL_ERROR_MEMORY;
}

static void take_least(double *least, double ms)
{
    *least = *least < 0 || ms < *least ? ms : *least;
}

static pl_status measure_frame(const measurement *m, bool skinned, double least[TIMES])
{
    pl_report r = {0};
    PL_TRY(pl_play_step(m->play, &r));
    const double ms[SKIN] = {r.ms_local, r.ms_global, r.ms_contact,
                             r.ms_predict + r.ms_accelerate + r.ms_stiff + r.ms_finish, r.ms_total};
    for (int k = 0; k < SKIN; k++)
        take_least(&least[k], ms[k]);
    if (!skinned || !m->request_count)
        return PL_OK;
    uint64_t begin = pl_clock_ns();
    PL_TRY(pl_world_skin(m->play->world, m->requests, m->request_count));
    take_least(&least[SKIN], (double)(pl_clock_ns() - begin) * 1e-6);
    return PL_OK;
}

/* Every other repetition is skinned: vertices push everything else out of the caches, and the
   frames of the paper are without. */
static pl_status play_all(measurement *m, app_progress *progress)
{
    uint64_t done = 0;
    for (int i = 0; i < m->frames; i++)
        for (int k = 0; k < TIMES; k++)
            m->least[i][k] = -1;
    for (int n = 0; n < m->repetitions; n++) {
        PL_TRY(pl_world_restore(m->play->world, m->start, m->start_size, m->play->models,
                                m->play->model_count, NULL));
        m->play->frame = 0;
        for (int i = 0; i < m->frames && !app_signal(); i++) {
            PL_TRY(measure_frame(m, n % 2 == 1, m->least[i]));
            app_progress_frame(progress, ++done);
        }
    }
    return PL_OK;
}

static void sum_up(const measurement *m, int alike, figures *out)
{
    const pl_play *play = m->play;
    *out = (figures){.bodies = play->body_count / alike,
                     .vertices = m->vertices / alike,
                     .substeps = play->settings.substeps,
                     .iterations = play->settings.iterations};
    for (int i = 0; i < play->body_count; i++) {
        out->particles += play->bodies[i].info.particle_count;
        out->edges += play->bodies[i].info.edge_count;
    }
    out->particles /= alike;
    out->edges /= alike;
    for (int i = 0; i < m->frames; i++)
        for (int k = 0; k < TIMES; k++)
            out->ms[k] += m->least[i][k] / m->frames / alike;
    if (!m->vertices)
        out->ms[SKIN] = -1;
}

static void free_measurement(measurement *m)
{
    for (int i = 0; i < m->request_count; i++)
        pl_memory_free(m->memory, m->requests[i].positions.data);
    pl_memory_free(m->memory, m->requests);
    pl_memory_free(m->memory, m->start);
    pl_memory_free(m->memory, m->least);
    pl_play_destroy(m->play);
}

/* Large models take seconds before the first frame. */
static pl_status build(const bench *b, const pl_scene *scene, const char *name, pl_play **play)
{
    pl_play_options options = pl_default_play_options();
    app_progress progress;
    pl_trouble trouble;
    options.threads = b->threads;
    app_progress_begin(&progress, name, 0, 1, true);
    if (progress.terminal)
        fprintf(stderr, "\r%s: building the models", name);
    pl_status status = pl_play_create(scene, 0, &options, play, &trouble);
    if (progress.terminal)
        fputs("\r\033[K", stderr);
    if (status != PL_OK)
        app_fail(&trouble);
    return status;
}

static pl_status measure(const bench *b, pl_memory *memory, pl_scene *scene, const row *r,
                         figures *out)
{
    measurement m = {.memory = memory, .repetitions = b->quick ? 2 : 5};
    app_progress progress;
    scene->runs[0].world.sleeping = false;
    PL_TRY(build(b, scene, r->scene, &m.play));
    m.frames = b->quick && m.play->settings.frames > 20 ? 20 : m.play->settings.frames;
    m.least = pl_memory_alloc(memory, (size_t)m.frames, sizeof *m.least);
    pl_status status = m.least ? make_requests(&m) : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = keep_start(&m);
    app_progress_begin(&progress, r->scene, 0, (uint64_t)m.frames * (uint64_t)m.repetitions, true);
    if (status == PL_OK)
        status = play_all(&m, &progress);
    app_progress_end(&progress);
    if (status == PL_OK)
        sum_up(&m, r->alike, out);
    free_measurement(&m);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_counts_json(const figures *f)
{
    printf("\"bodies\":%d,\"particles\":%d,\"edges\":%d,\"vertices\":%d,\"substeps\":%d,"
           "\"iterations\":%d",
           f->bodies, f->particles, f->edges, f->vertices, f->substeps, f->iterations);
}

static void print_json(bench *b, const row *r, const figures *f)
{
    app_bench_json_row(b, "frames");
    printf(",\"row\":\"%s\",\"figure\":\"%s\",\"per\":\"frame\",\"divided_by\":%d,", r->scene,
           r->figure, r->alike);
    print_counts_json(f);
    app_bench_json_times("ours_ms", time_names, f->ms, TIMES);
    app_bench_json_times("paper_ms", time_names, r->paper.ms, TIMES);
    printf(",\"paper\":{\"cores\":%d,", r->cores);
    print_counts_json(&r->paper);
    printf("},\"ratio\":%.4g}", r->paper.ms[TOTAL] / f->ms[TOTAL]);
}

static void print_line(const char *name, const char *whose, const figures *f, int decimals)
{
    printf("%-20s %-6s %6d %9d %6d %8d %2d×%-2d", name, whose, f->bodies, f->particles, f->edges,
           f->vertices, f->substeps, f->iterations);
    app_bench_cells(f->ms, TIMES, decimals);
    printf("\n");
}

static void print_text(const row *r, const figures *f)
{
    char figure[64];
    snprintf(figure, sizeof figure, "  Fig. %s%s", r->figure, r->alike > 1 ? ", one of 3" : "");
    print_line(r->scene, "ours", f, 3);
    print_line(figure, "paper", &r->paper, 2);
    printf("%-20s %-6s %38s", "", "ratio", "");
    app_bench_ratios(f->ms, r->paper.ms, TOTAL + 1);
    printf("\n\n");
    fflush(stdout);
}

static void print_heading(void)
{
    printf("Choi & Lee 2017, Table 1: milliseconds per frame\n\n%-20s %-6s %6s %9s %6s %8s %-5s",
           "scene", "", "bodies", "particles", "edges", "vertices", "steps");
    app_bench_names(time_names, TIMES);
    printf("\n");
}

static void print_meaning(const bench *b)
{
    printf(
        "steps      sub-steps per frame × iterations per sub-step\n"
        "local      rotations are fitted; global: positions are solved for; contact: "
        "collisions, friction\n"
        "other      without a column in the paper: prediction, acceleration, velocities\n"
        "total      wall time of a frame; the stages before it are the work of all threads\n"
        "skin       vertices and normals of all surfaces; apart from the total, as in the paper, "
        "whose GPU did it\n"
        "ratio      paper / ours: how many times faster\n"
        "ours       the least of %d repetitions of each frame (every other one is skinned), mean "
        "over %s; "
        "nobody sleeps\n"
        "paper      Intel Core i7, 2.9 GHz, one core; the crowds four cores\n",
        b->quick ? 2 : 5, b->quick ? "the first 20 frames" : "all frames");
}

pl_status app_table_frames(bench *b)
{
    if (!b->json)
        print_heading();
    for (int i = 0; i < ROWS && !app_signal(); i++) {
        pl_memory memory;
        pl_scene *scene;
        figures f;
        pl_memory_init(&memory, NULL, 0);
        if (app_load_scene(&memory, rows[i].scene, &scene) >= 0)
            return PL_ERROR_IO;
        pl_status status = measure(b, &memory, scene, &rows[i], &f);
        pl_scene_free(scene);
        PL_TRY(status);
        if (app_signal())
            break;
        if (b->json)
            print_json(b, &rows[i], &f);
        else
            print_text(&rows[i], &f);
    }
    if (!b->json && !app_signal())
        print_meaning(b);
    return PL_OK;
}
