/* What stiffness means: tables for docs/stiffness.md as CSV on standard output. A bar of 20 particles, one end fixed,
   under gravity.
     settled   tip deflection at rest against iterations and step, for the solvers and for the original shape matching
     inverse   tip deflection at rest under a small load against stiffness
     swing     lowest point and time of the first swing against iterations, for each solver and stiffness
     trace     height of the tip against time in that swing */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matter/shape_matching.h"
#include "pliant/pliant.h"

enum { TIP = 19 };

static const char *solver_names[] = {"fast", "stiff", "plain"};

static pl_model *make_bar(void)
{
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BAR);
    pl_shape *shape;
    pl_model *model;
    if (pl_shape_create(&def, &shape, NULL) != PL_OK)
        exit(1);
    pl_model_def model_def = pl_shape_model_def(shape);
    if (pl_model_create(&model_def, &model, NULL) != PL_OK)
        exit(1);
    pl_shape_destroy(shape);
    return model;
}

/* `k` is the raw stiffness over density, 1/s²: kh²/ρ = 333 at h = 1/30 s is k = 333 · 900. */
static pl_world *make_world(pl_model *model, double h, int iterations, pl_solver solver, double k, double damping,
                            double gravity, pl_body *body)
{
    pl_world_def def = pl_default_world_def();
    def.step = h;
    def.iterations = def.stiff_iterations = iterations;
    def.gravity[1] = -gravity;
    pl_world *world;
    int32_t fixed = 0;
    if (pl_world_create(&def, &world, NULL) != PL_OK)
        exit(1);
    pl_body_def body_def = pl_default_body_def(model);
    body_def.material = (pl_material){.stiffness = k * 1000, .density = 1000, .damping = damping};
    body_def.solver = solver;
    body_def.fixed = &fixed;
    body_def.fixed_count = 1;
    if (pl_body_create(world, &body_def, body, NULL) != PL_OK)
        exit(1);
    return world;
}

static double tip_height(const pl_world *world, pl_body body)
{
    double at[3];
    pl_body_read(world, body, PL_POSITIONS, TIP, 1, 1, pl_doubles(at, 0));
    return at[1];
}

static double fastest(const pl_world *world, pl_body body)
{
    double v[20][3], largest = 0;
    pl_body_read(world, body, PL_VELOCITIES, 0, 20, 1, pl_doubles(v[0], 0));
    for (int i = 0; i < 20; i++)
        largest = fmax(largest, sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]));
    return largest;
}

/* Deflection once all speeds have stayed below 1e-4 sizes (of 2 m) per second for one second; NaN if not in a minute. */
static double settle(pl_model *model, double h, int iterations, pl_solver solver, double k, double gravity)
{
    pl_body body;
    pl_world *world = make_world(model, h, iterations, solver, k, 8, gravity, &body);
    double start = tip_height(world, body), calm = 0;
    for (double time = 0; time < 60 && calm < 1; time += h) {
        pl_world_step(world, NULL);
        calm = fastest(world, body) < 2e-4 ? calm + h : 0;
    }
    double deflection = start - tip_height(world, body);
    pl_world_destroy(world);
    return calm >= 1 ? deflection : NAN;
}

static double settle_matching(pl_model *model, double h, int iterations)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    int32_t fixed = 0;
    pl_matching *matching = pl_matching_create(&memory, model, &fixed, 1);
    double gravity[3] = {0, -9.81, 0}, start[3], end[3], calm = 0;
    pl_matching_position(matching, TIP, start);
    for (double time = 0; time < 20 && calm < 1; time += h) {
        pl_matching_step(matching, h, gravity, 8, iterations);
        calm = pl_matching_speed(matching) < 2e-4 ? calm + h : 0;
    }
    pl_matching_position(matching, TIP, end);
    pl_matching_destroy(matching);
    return start[1] - end[1];
}

static void print_settled(pl_model *model)
{
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 240};
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < 3; k++)
            for (int iterations = 1; iterations <= 1000; iterations *= 10)
                if (k != PL_SOLVER_STIFF || iterations <= 10)
                    printf("settled,%s,%g,%d,%.6f\n", solver_names[k], steps[s], iterations,
                           settle(model, steps[s], iterations, (pl_solver)k, 333 * 900, 9.81));
    for (int s = 0; s < 2; s++)
        for (int iterations = 100; iterations <= 10000; iterations *= 10)
            printf("settled,matching,%g,%d,%.6f\n", steps[s], iterations, settle_matching(model, steps[s], iterations));
}

static void print_inverse(pl_model *model)
{
    for (double k = 333 * 900; k < 40 * 333 * 900; k *= 2)
        printf("inverse,fast,%g,10,%.8f\n", k, settle(model, 1.0 / 30, 10, PL_SOLVER_FAST, k, 0.05));
}

static void print_swing(pl_model *model, pl_solver solver, double kappa, int iterations)
{
    pl_body body;
    pl_world *world = make_world(model, 1.0 / 30, iterations, solver, kappa * 900, 0, 9.81, &body);
    double start = tip_height(world, body), lowest = 0;
    int when = 0;
    for (int frame = 1; frame <= 60; frame++) {
        pl_world_step(world, NULL);
        double height = tip_height(world, body) - start;
        printf("trace,%s,%g,%d,%d,%.6f\n", solver_names[solver], kappa, iterations, frame, height);
        if (height < lowest) {
            lowest = height;
            when = frame;
        }
    }
    printf("swing,%s,%g,%d,%.6f,%d\n", solver_names[solver], kappa, iterations, lowest, when);
    pl_world_destroy(world);
}

static void print_swings(pl_model *model)
{
    static const double kappas[] = {10, 100, 333, 3333, 33333, 1e6};
    static const int counts[] = {1, 2, 5, 10, 20, 50, 100};
    for (int k = 0; k < 6; k++) {
        for (int c = 0; c < 7; c++) {
            print_swing(model, PL_SOLVER_FAST, kappas[k], counts[c]);
            print_swing(model, PL_SOLVER_PLAIN, kappas[k], counts[c]);
        }
        print_swing(model, PL_SOLVER_STIFF, kappas[k], 1);
        print_swing(model, PL_SOLVER_STIFF, kappas[k], 2);
        print_swing(model, PL_SOLVER_STIFF, kappas[k], 20);
    }
}

int main(void)
{
    pl_model *model = make_bar();
    print_settled(model);
    fflush(stdout);
    print_inverse(model);
    fflush(stdout);
    print_swings(model);
    pl_model_release(model);
    return 0;
}
