/* pliant bench: the paper's numbers beside ours, measured through the public interface. A time is
   the smallest of many repetitions: what the code costs when nothing else disturbs it. */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "bench.h"
#include "io/suggest.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct row {
    const char *table, *name, *stage;
    int instances;
    double ours_ms, paper_ms; /* per body and iteration; paper 0 = it has none */
} row;

static void print_row(bench *b, const row *r)
{
    if (b->json) {
        printf("%s{\"table\":\"%s\",\"row\":\"%s\",\"instances\":%d,\"stage\":\"%s\",\"per\":"
               "\"body and iteration\","
               "\"threads\":%d,\"simd\":%d,\"ours_ms\":%.9g,\"paper_ms\":",
               b->rows ? ",\n " : "[", r->table, r->name, r->instances, r->stage, b->threads,
               pl_simd_width(), r->ours_ms);
        if (r->paper_ms > 0)
            printf("%.9g}", r->paper_ms);
        else
            printf("null}");
    } else {
        if (b->rows_of_table == 0)
            printf("microseconds per body and iteration, %d thread%s, vectors of %d floats\n\n"
                   "%-24s %9s  %-11s %10s %10s %8s\n",
                   b->threads, b->threads == 1 ? "" : "s", pl_simd_width(), "graph", "instances",
                   "stage", "ours", "paper", "ratio");
        printf("%-24s %9d  %-11s %10.3f", r->name, r->instances, r->stage, r->ours_ms * 1e3);
        if (r->paper_ms > 0)
            printf(" %10.1f %7.1fx", r->paper_ms * 1e3,
                   r->ours_ms > 0 ? r->paper_ms / r->ours_ms : 0);
        printf("\n");
        fflush(stdout);
    }
    b->rows++;
    b->rows_of_table++;
}

/* ---- Table 1 of Choi & Lee, per iteration ---------------------------------------------------- */

enum { ITERATIONS = 10 };

typedef struct graph {
    pl_shape_kind shape;
    const char *name;
    double paper_local, paper_global; /* ms per iteration */
} graph;

static const graph graphs[] = {
    {PL_SHAPE_BAR, "bar, 20 nodes 19 edges", 0.027, 0.007},
    {PL_SHAPE_CREATURE, "creature, 100/261", 0.070, 0.024},
};

static pl_status make_model(pl_shape_kind kind, pl_model **model)
{
    pl_shape *shape;
    pl_shape_def def = pl_default_shape_def(kind);
    if (kind == PL_SHAPE_BAR)
        def.count[0] = 20;
    PL_TRY(pl_shape_create(&def, &shape, NULL));
    pl_model_def model_def = pl_shape_model_def(shape);
    pl_status status = pl_model_create(&model_def, model, NULL);
    pl_shape_destroy(shape);
    return status;
}

/* Bodies held at one particle, each set spinning a little differently, at kh²/ρ = 333. */
static pl_status fill_world(pl_world *world, pl_model *model, int instances, pl_solver solver)
{
    static const int32_t held[] = {0};
    for (int i = 0; i < instances; i++) {
        pl_body body;
        pl_body_def def = pl_default_body_def(model);
        def.material.density = 1000;
        def.material.stiffness = 333 * def.material.density * 30 * 30;
        def.solver = solver;
        def.fixed = held;
        def.fixed_count = 1;
        def.position[0] = 10 * (i % 8);
        def.position[2] = 10 * (i / 8);
        def.spin[1] = 0.1 * i;
        PL_TRY(pl_body_create(world, &def, &body, NULL));
    }
    return PL_OK;
}

typedef struct times {
    double local, global, accelerate, stiff;
} times;

static double smaller(double best, double ms, double count)
{
    double value = ms / count;
    return best == 0 || value < best ? value : best;
}

static pl_status measure(const bench *b, pl_world *world, int instances, pl_solver solver,
                         times *best)
{
    int repeats = b->quick ? 5 : 40, steps = instances >= 16 ? 4 : 16;
    double count = (double)instances * steps * (solver == PL_SOLVER_STIFF ? 1 : ITERATIONS);
    *best = (times){0};
    for (int i = 0; i < repeats && !app_signal(); i++) {
        times sum = {0};
        for (int k = 0; k < steps; k++) {
            pl_report report = {0};
            PL_TRY(pl_world_step(world, &report));
            sum.local += report.ms_local;
            sum.global += report.ms_global;
            sum.accelerate += report.ms_accelerate;
            sum.stiff += report.ms_stiff;
        }
        best->local = smaller(best->local, sum.local, count);
        best->global = smaller(best->global, sum.global, count);
        best->accelerate = smaller(best->accelerate, sum.accelerate, count);
        best->stiff = smaller(best->stiff, sum.stiff, count);
    }
    return PL_OK;
}

static pl_status measure_graph(bench *b, const graph *g, pl_model *model, int instances,
                               pl_solver solver)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    times best;
    def.step = 1.0 / 30;
    def.iterations = ITERATIONS;
    def.stiff_iterations = 1;
    def.threads = b->threads;
    PL_TRY(pl_world_create(&def, &world, NULL));
    pl_status status = fill_world(world, model, instances, solver);
    if (status == PL_OK)
        status = measure(b, world, instances, solver, &best);
    pl_world_destroy(world);
    if (status != PL_OK)
        return status;
    row r = {.table = "iterations", .name = g->name, .instances = instances};
    if (solver == PL_SOLVER_STIFF) {
        r.stage = "stiff", r.ours_ms = best.stiff;
        print_row(b, &r);
        return PL_OK;
    }
    r.stage = "local", r.ours_ms = best.local, r.paper_ms = g->paper_local;
    print_row(b, &r);
    r.stage = "global", r.ours_ms = best.global, r.paper_ms = g->paper_global;
    print_row(b, &r);
    r.stage = "accelerate", r.ours_ms = best.accelerate, r.paper_ms = 0;
    print_row(b, &r);
    return PL_OK;
}

static pl_status table_iterations(bench *b)
{
    static const int instances[] = {1, 8, 16, 64};
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        pl_model *model;
        PL_TRY(make_model(graphs[g].shape, &model));
        pl_status status = PL_OK;
        for (int solver = 0; solver < 2 && status == PL_OK; solver++)
            for (size_t i = 0;
                 i < sizeof instances / sizeof *instances && status == PL_OK && !app_signal(); i++)
                status = measure_graph(b, &graphs[g], model, instances[i],
                                       solver ? PL_SOLVER_STIFF : PL_SOLVER_FAST);
        pl_model_release(model);
        PL_TRY(status);
    }
    return PL_OK;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    pl_status (*print)(bench *b);
} tables[] = {{"iterations", table_iterations},
              {"frames", app_table_frames},
              {"stiffness", app_table_stiffness}};

enum { TABLES = sizeof tables / sizeof *tables };

static int find_table(const char *name)
{
    const char *best = NULL;
    for (int i = 0; i < TABLES; i++)
        if (strcmp(tables[i].name, name) == 0)
            return i;
    for (int i = 0; i < TABLES; i++)
        pl_suggest(name, tables[i].name, &best);
    app_usage_error("bench",
                    best ? "there is no table \"%s\"; did you mean \"%s\"?"
                         : "there is no table \"%s\"",
                    name, best);
    return -1;
}

static int bench_command(int argc, char **argv)
{
    bench b = {.threads = 1};
    app_list words = {0};
    const app_option options[] = {
        {"json", 0, APP_FLAG, &b.json, 0, 0, NULL, "print an array of objects"},
        {"quick", 0, APP_FLAG, &b.quick, 0, 0, NULL, "fewer repetitions"},
        {"threads", 't', APP_INTEGER, &b.threads, 1, 1024, "N", "threads"},
        {0},
    };
    int result = app_parse(&app_bench_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    int only = words.count ? find_table(words.items[0]) : 0;
    if (only < 0)
        return APP_BAD_INPUT;
    for (int i = words.count ? only : 0; i < (words.count ? only + 1 : TABLES); i++) {
        b.rows_of_table = 0;
        pl_status status = tables[i].print(&b);
        if (status != PL_OK) {
            fprintf(stderr, "pliant: the table \"%s\" failed: %s\n", tables[i].name,
                    pl_status_text(status));
            return APP_FAILED;
        }
    }
    if (b.json)
        printf("%s]\n", b.rows ? "" : "[");
    return app_finish(app_signal() ? APP_INTERRUPTED : APP_DONE);
}

const app_command app_bench_command = {
    .name = "bench",
    .usage = "[TABLE] [OPTIONS]",
    .summary = "the papers' tables, ours beside theirs",
    .details = "Tables: iterations (Choi & Lee, Table 1: local and global step per iteration),\n"
               "frames (the same per frame, its scenes played from start to end, with contacts),\n"
               "stiffness (Fig. 3: what iterations and step change, beside shape matching).",
    .run = bench_command,
};
