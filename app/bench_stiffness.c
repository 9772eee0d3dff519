/* pliant bench stiffness: Fig. 3 of Choi & Lee and what belongs to it. A bar of 20 particles, one
   end fixed, under gravity: how far its tip hangs down at rest, and how deep and when it first
   swings, against iterations, step and stiffness; beside the original shape matching. */
#include <math.h>
#include <stdio.h>

#include "app.h"
#include "base/error.h"
#include "bench.h"
#include "matter/shape_matching.h"

enum { TIP = 19, SWING_FRAMES = 60 };

static const char *const solver_names[] = {"fast", "stiff", "plain"};

/* `k` is the stiffness over density, 1/s²: kh²/ρ = 333 at h = 1/30 s is k = 333 · 900. */
typedef struct setting {
    pl_solver solver;
    double h;
    int iterations;
    double k, damping, gravity;
} setting;

typedef struct swinging_bar {
    pl_world *world;
    pl_body body;
    double start;
} swinging_bar;

static pl_status make_model(pl_model **model)
{
    pl_shape *shape;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BAR);
    PL_TRY(pl_shape_create(&def, &shape, NULL));
    pl_model_def model_def = pl_shape_model_def(shape);
    pl_status status = pl_model_create(&model_def, model, NULL);
    pl_shape_destroy(shape);
    return status;
}

static double tip_height(const swinging_bar *bar)
{
    double at[3] = {0, 0, 0};
    pl_body_read(bar->world, bar->body, PL_POSITIONS, TIP, 1, 1, pl_doubles(at, 0));
    return at[1];
}

static pl_status make_bar(pl_model *model, const setting *s, swinging_bar *bar)
{
    static const int32_t held = 0;
    pl_world_def def = pl_default_world_def();
    def.step = s->h;
    def.iterations = def.stiff_iterations = s->iterations;
    def.gravity[1] = -s->gravity;
    PL_TRY(pl_world_create(&def, &bar->world, NULL));
    pl_body_def body_def = pl_default_body_def(model);
    body_def.material =
        (pl_material){.stiffness = s->k * 1000, .density = 1000, .damping = s->damping};
    body_def.solver = s->solver;
    body_def.fixed = &held;
    body_def.fixed_count = 1;
    pl_status status = pl_body_create(bar->world, &body_def, &bar->body, NULL);
    if (status != PL_OK)
        pl_world_destroy(bar->world);
    else
        bar->start = tip_height(bar);
    return status;
}

static double fastest(const swinging_bar *bar)
{
    double v[TIP + 1][3] = {{0}}, largest = 0;
    pl_body_read(bar->world, bar->body, PL_VELOCITIES, 0, TIP + 1, 1, pl_doubles(v[0], 0));
    for (int i = 0; i <= TIP; i++)
        largest = fmax(largest, sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]));
    return largest;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void begin_row(bench *b, const char *stage, const char *solver, double h, double kappa,
                      int iterations)
{
    if (b->json) {
        app_bench_json_row(b, "stiffness");
        printf(",\"row\":\"%s, h = 1/%.0f s, kh2/rho %g\",\"stage\":\"%s\",\"solver\":\"%s\","
               "\"step\":%.9g,\"kappa\":%g,\"iterations\":%d,",
               solver, 1 / h, kappa, stage, solver, h, kappa, iterations);
    } else {
        printf("%-8s  %-9s %7.0f %10g %10d  ", stage, solver, 1 / h, kappa, iterations);
    }
}

static void end_row(const bench *b, double tip, int frame, const double *trace, int count)
{
    if (!b->json) {
        printf(frame ? "%10.6f %6d\n" : "%10.6f\n", tip, frame);
        fflush(stdout);
        return;
    }
    printf("\"tip_m\":%.8g,\"frame\":", tip);
    printf(frame ? "%d" : "null", frame);
    for (int i = 0; i < count; i++)
        printf("%s%.6g", i ? "," : ",\"trace\":[", trace[i]);
    printf(count ? "]}" : "}");
}

/* ---- At rest --------------------------------------------------------------------------------- */

/* Settled: all speeds below 1e-4 sizes (of 2 m) per second throughout one second. */
static pl_status settle(bench *b, pl_model *model, setting s, const char *stage)
{
    swinging_bar bar;
    double calm = 0;
    PL_TRY(make_bar(model, &s, &bar));
    for (double time = 0; time < 60 && calm < 1 && !app_signal(); time += s.h) {
        pl_world_step(bar.world, NULL);
        calm = fastest(&bar) < 2e-4 ? calm + s.h : 0;
    }
    if (!app_signal()) {
        begin_row(b, stage, solver_names[s.solver], s.h, s.k / 900, s.iterations);
        end_row(b, tip_height(&bar) - bar.start, 0, NULL, 0);
    }
    pl_world_destroy(bar.world);
    return PL_OK;
}

static pl_status settle_matching(bench *b, pl_model *model, double h, int iterations)
{
    static const double gravity[3] = {0, -9.81, 0};
    static const int32_t held = 0;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_matching *matching = pl_matching_create(&memory, model, &held, 1);
    if (!matching)
        return PL_ERROR_MEMORY;
    double start[3], end[3], calm = 0;
    pl_matching_position(matching, TIP, start);
    for (double time = 0; time < 20 && calm < 1 && !app_signal(); time += h) {
        pl_matching_step(matching, h, gravity, 8, iterations);
        calm = pl_matching_speed(matching) < 2e-4 ? calm + h : 0;
    }
    pl_matching_position(matching, TIP, end);
    pl_matching_destroy(matching);
    if (app_signal())
        return PL_OK;
    begin_row(b, "settled", "matching", h, 0, iterations);
    end_row(b, end[1] - start[1], 0, NULL, 0);
    return PL_OK;
}

static pl_status rows_at_rest(bench *b, pl_model *model)
{
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 240};
    int most = b->quick ? 100 : 1000;
    for (int s = 0; s < (b->quick ? 2 : 3); s++)
        for (int solver = 0; solver < 3; solver++)
            for (int iterations = 1; iterations <= most; iterations *= 10)
                if (solver != PL_SOLVER_STIFF || iterations <= 10)
                    PL_TRY(settle(
                        b, model,
                        (setting){(pl_solver)solver, steps[s], iterations, 333 * 900, 8, 9.81},
                        "settled"));
    for (int s = 0; s < 2; s++)
        for (int iterations = 100; iterations <= 10 * most; iterations *= 10)
            PL_TRY(settle_matching(b, model, steps[s], iterations));
    for (int i = 0; i < 6; i++)
        PL_TRY(
            settle(b, model,
                   (setting){PL_SOLVER_FAST, 1.0 / 30, 10, 333 * 900 * (double)(1 << i), 8, 0.05},
                   "inverse"));
    return PL_OK;
}

/* ---- In motion ------------------------------------------------------------------------------- */

static pl_status swing(bench *b, pl_model *model, pl_solver solver, double kappa, int iterations)
{
    swinging_bar bar;
    double trace[SWING_FRAMES], lowest = 0;
    int when = 0;
    PL_TRY(make_bar(model, &(setting){solver, 1.0 / 30, iterations, kappa * 900, 0, 9.81}, &bar));
    for (int frame = 0; frame < SWING_FRAMES; frame++) {
        pl_world_step(bar.world, NULL);
        trace[frame] = tip_height(&bar) - bar.start;
        if (trace[frame] < lowest) {
            lowest = trace[frame];
            when = frame + 1;
        }
    }
    pl_world_destroy(bar.world);
    if (app_signal())
        return PL_OK;
    begin_row(b, "swing", solver_names[solver], 1.0 / 30, kappa, iterations);
    end_row(b, lowest, when, trace, SWING_FRAMES);
    return PL_OK;
}

static pl_status rows_in_motion(bench *b, pl_model *model)
{
    static const double kappas[] = {10, 100, 333, 3333, 33333, 1e6};
    static const int counts[] = {1, 2, 5, 10, 20, 50, 100}, stiff_counts[] = {1, 2, 20};
    for (int k = 0; k < 6; k++) {
        for (int c = 0; c < 3; c++)
            PL_TRY(swing(b, model, PL_SOLVER_STIFF, kappas[k], stiff_counts[c]));
        for (int c = 0; c < 7; c++) {
            PL_TRY(swing(b, model, PL_SOLVER_FAST, kappas[k], counts[c]));
            PL_TRY(swing(b, model, PL_SOLVER_PLAIN, kappas[k], counts[c]));
        }
    }
    return PL_OK;
}

static void print_meaning(void)
{
    printf("\n"
           "settled    how far the tip of a bar hangs down at rest; inverse: under a small load\n"
           "swing      the lowest point of its first swing, and the frame it came in\n"
           "solver     fast, stiff, plain: ours; matching: shape matching, whose stiffness is "
           "iterations\n"
           "kh2/rho    stiffness over density at a step of 1/30 s, without unit\n");
}

pl_status app_table_stiffness(bench *b)
{
    pl_model *model;
    if (!b->json)
        printf(
            "Choi & Lee 2017, Fig. 3: height of a bar's tip, metres\n\n%-8s  %-9s %7s %10s %10s  "
            "%10s %6s\n",
            "", "solver", "1/step", "kh2/rho", "iterations", "tip", "frame");
    PL_TRY(make_model(&model));
    pl_status status = rows_at_rest(b, model);
    if (status == PL_OK)
        status = rows_in_motion(b, model);
    pl_model_release(model);
    if (status == PL_OK && !b->json && !app_signal())
        print_meaning();
    return status;
}
