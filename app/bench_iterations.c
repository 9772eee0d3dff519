/* pliant bench iterations: what one iteration of one body costs, stage by stage, for one body and
   for instances of it side by side in the lanes. The paper's are those of its Table 1, divided by
   its ten iterations. */
#include <stdio.h>

#include "bench.h"

enum { ITERATIONS = 10 };

enum { LOCAL, GLOBAL, ACCELERATE, STIFF, PREDICT, FINISH, TIMES };

static const char *const time_names[TIMES] = {"local", "global",  "accel",
                                              "stiff", "predict", "finish"};

typedef struct graph {
    pl_shape_kind shape;
    const char *name;
    double paper[TIMES]; /* ms per iteration; below 0 = there is none */
} graph;

static const graph graphs[] = {
    {PL_SHAPE_BAR, "bar, 20 particles, 19 edges", {0.027, 0.007, -1, -1, -1, -1}},
    {PL_SHAPE_CREATURE, "creature, 100, 261", {0.070, 0.024, -1, -1, -1, -1}},
};

enum { GRAPHS = sizeof graphs / sizeof *graphs };

/* ---- Measuring ------------------------------------------------------------------------------- */

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

/* Several steps together: one alone is too short for the clock. Prediction and velocities are per
   step, the others per iteration; stages that the solver has not stay below 0. */
static pl_status measure(const bench *b, pl_world *world, int instances, pl_solver solver,
                         double best[TIMES])
{
    int repeats = b->quick ? 5 : 40, steps = instances >= 16 ? 4 : 16;
    double bodies = (double)instances * steps;
    double count = bodies * (solver == PL_SOLVER_STIFF ? 1 : ITERATIONS);
    for (int k = 0; k < TIMES; k++)
        best[k] = -1;
    for (int i = 0; i < repeats && !app_signal(); i++) {
        double sums[TIMES] = {0};
        for (int s = 0; s < steps; s++) {
            pl_report r = {0};
            PL_TRY(pl_world_step(world, &r));
            const double ms[TIMES] = {r.ms_local, r.ms_global,  r.ms_accelerate,
                                      r.ms_stiff, r.ms_predict, r.ms_finish};
            for (int k = 0; k < TIMES; k++)
                sums[k] += ms[k] / (k < PREDICT ? count : bodies);
        }
        for (int k = 0; k < TIMES; k++)
            if (sums[k] > 0 && (best[k] < 0 || sums[k] < best[k]))
                best[k] = sums[k];
    }
    return PL_OK;
}

static pl_status measure_instances(const bench *b, pl_model *model, int instances, pl_solver solver,
                                   double best[TIMES])
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 30;
    def.iterations = ITERATIONS;
    def.stiff_iterations = 1;
    def.threads = b->threads;
    PL_TRY(pl_world_create(&def, &world, NULL));
    pl_status status = fill_world(world, model, instances, solver);
    if (status == PL_OK)
        status = measure(b, world, instances, solver, best);
    pl_world_destroy(world);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_microseconds(const double ms[TIMES], int decimals)
{
    double us[TIMES];
    for (int k = 0; k < TIMES; k++)
        us[k] = ms[k] < 0 ? -1 : ms[k] * 1e3;
    app_bench_cells(us, TIMES, decimals);
}

static void print_row(bench *b, const graph *g, const char *solver, int instances,
                      const double ms[TIMES])
{
    if (b->json) {
        app_bench_json_row(b, "iterations");
        printf(",\"row\":\"%s\",\"solver\":\"%s\",\"instances\":%d,"
               "\"per\":\"body and iteration; predict and finish: body and step\"",
               g->name, solver, instances);
        app_bench_json_times("ours_ms", time_names, ms, TIMES);
        app_bench_json_times("paper_ms", time_names, g->paper, TIMES);
        printf("}");
        return;
    }
    printf("%-28s %-6s %9d", g->name, solver, instances);
    print_microseconds(ms, 3);
    printf("\n");
    fflush(stdout);
}

static void print_paper(const graph *g)
{
    printf("%-28s %-6s %9d", "  paper", "", 1);
    print_microseconds(g->paper, 1);
    printf("\n");
}

static void print_heading(void)
{
    printf("Choi & Lee 2017, Table 1, per iteration: microseconds per body\n\n%-28s %-6s %9s",
           "graph", "solver", "instances");
    app_bench_names(time_names, TIMES);
    printf("\n");
}

static void print_meaning(void)
{
    printf(
        "\n"
        "instances  bodies of one model in a world: they share the lanes of the vectors\n"
        "local      rotations are fitted; global: positions are solved for; accel: acceleration\n"
        "stiff      an iteration of the stiff solver, which has no such stages\n"
        "predict    before the first iteration, finish: after the last one; per step\n");
}

static pl_status print_graph(bench *b, const graph *g, pl_model *model)
{
    static const int instances[] = {1, 2, 8, 16, 64};
    static const struct {
        pl_solver solver;
        const char *name;
    } solvers[] = {{PL_SOLVER_FAST, "fast"}, {PL_SOLVER_STIFF, "stiff"}};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < sizeof instances / sizeof *instances && !app_signal(); i++) {
            double best[TIMES];
            PL_TRY(measure_instances(b, model, instances[i], solvers[s].solver, best));
            if (!app_signal())
                print_row(b, g, solvers[s].name, instances[i], best);
        }
    if (!b->json && !app_signal())
        print_paper(g);
    return PL_OK;
}

pl_status app_table_iterations(bench *b)
{
    if (!b->json)
        print_heading();
    for (int i = 0; i < GRAPHS && !app_signal(); i++) {
        pl_model *model;
        PL_TRY(make_model(graphs[i].shape, &model));
        pl_status status = print_graph(b, &graphs[i], model);
        pl_model_release(model);
        PL_TRY(status);
    }
    if (!b->json && !app_signal())
        print_meaning();
    return PL_OK;
}
