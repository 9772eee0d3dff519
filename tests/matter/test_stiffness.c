/* Stiffness means the same whatever the iteration count and the step: the promises of METHODS §1 on
   a bar of 20 particles with one end fixed. Label: slow. */
#include <math.h>

#include "matter/shape_matching.h"
#include "pliant/pliant.h"
#include "support/check.h"

#define SLOW check_is_slow_build()

enum { TIP = 19 };

static pl_model *bar;

static int make_bar(void **state)
{
    (void)state;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BAR);
    pl_shape *shape;
    assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    assert_int_equal(pl_model_create(&model_def, &bar, NULL), PL_OK);
    pl_shape_destroy(shape);
    return 0;
}

static int drop_bar(void **state)
{
    (void)state;
    pl_model_release(bar);
    return 0;
}

typedef struct setting {
    double h;
    int iterations;
    pl_solver solver;
    double k; /* stiffness over density, 1/s² */
    double damping, gravity;
} setting;

static pl_world *make_world(setting s, pl_body *body)
{
    pl_world_def def = pl_default_world_def();
    def.step = s.h;
    def.iterations = def.stiff_iterations = s.iterations;
    def.gravity[1] = -s.gravity;
    pl_world *world;
    int32_t fixed = 0;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_body_def body_def = pl_default_body_def(bar);
    body_def.material =
        (pl_material){.stiffness = s.k * 1000, .density = 1000, .damping = s.damping};
    body_def.solver = s.solver;
    body_def.fixed = &fixed;
    body_def.fixed_count = 1;
    assert_int_equal(pl_body_create(world, &body_def, body, NULL), PL_OK);
    return world;
}

static double tip_height(const pl_world *world, pl_body body)
{
    double at[3];
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, TIP, 1, 1, pl_doubles(at, 0)), PL_OK);
    return at[1];
}

static double fastest(const pl_world *world, pl_body body)
{
    double v[20][3], largest = 0;
    assert_int_equal(pl_body_read(world, body, PL_VELOCITIES, 0, 20, 1, pl_doubles(v[0], 0)),
                     PL_OK);
    for (int i = 0; i < 20; i++)
        largest = fmax(largest, sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]));
    return largest;
}

/* Settled: all speeds below 1e-4 sizes (2 m) per second throughout one simulated second. */
static double settle(setting s)
{
    pl_body body;
    pl_world *world = make_world(s, &body);
    double start = tip_height(world, body), calm = 0;
    for (double time = 0; time < 60 && calm < 1; time += s.h) {
        pl_world_step(world, NULL);
        calm = fastest(world, body) < 2e-4 ? calm + s.h : 0;
    }
    assert_true(calm >= 1);
    double deflection = start - tip_height(world, body);
    pl_world_destroy(world);
    return deflection;
}

static void test_settled(void **state)
{
    (void)state;
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 240};
    double reference = settle((setting){1.0 / 30, 20, PL_SOLVER_STIFF, 333 * 900, 8, 9.81});
    print_message("settled deflection, stiff: %.6f m\n", reference);
    assert_true(reference > 0.4 && reference < 0.7);
    for (int s = 0; s < 3; s++)
        for (int solver = 0; solver < 3; solver++)
            for (int iterations = 1; iterations <= (SLOW ? 10 : 1000); iterations *= 10) {
                int most = s == 0 || check_is_thorough() ? 1000 : 100;
                if (iterations > (solver == PL_SOLVER_STIFF ? 10 : most))
                    continue;
                double tip =
                    settle((setting){steps[s], iterations, (pl_solver)solver, 333 * 900, 8, 9.81});
                if (fabs(tip / reference - 1) > 0.005)
                    print_message("solver %d, h %g, %d iterations: %.6f m\n", solver, steps[s],
                                  iterations, tip);
                assert_true(fabs(tip / reference - 1) <= 0.005);
            }
}

static void test_proportional_to_compliance(void **state)
{
    (void)state;
    double first = 0;
    for (int i = 0; i < 6; i++) {
        double k = 333 * 900 * (double)(1 << i);
        double tip = settle((setting){1.0 / 30, 10, PL_SOLVER_FAST, k, 8, 0.05});
        first = i == 0 ? tip * k : first;
        assert_true(fabs(tip * k / first - 1) <= 0.02);
    }
}

typedef struct swing {
    double lowest, time; /* of the first turning point, between frames by a parabola */
} swing;

static swing first_swing(pl_solver solver, double kappa, int iterations)
{
    pl_body body;
    pl_world *world =
        make_world((setting){1.0 / 30, iterations, solver, kappa * 900, 0, 9.81}, &body);
    double start = tip_height(world, body), height[3] = {0, 0, 0};
    swing result = {0, 0};
    for (int frame = 1; frame <= 100; frame++) {
        pl_world_step(world, NULL);
        height[0] = height[1], height[1] = height[2], height[2] = tip_height(world, body) - start;
        if (frame > 1 && height[1] <= height[0] && height[1] < height[2]) {
            double curvature = height[0] - 2 * height[1] + height[2],
                   slope = (height[2] - height[0]) / 2;
            result =
                (swing){height[1] - slope * slope / (2 * curvature), frame - 1 - slope / curvature};
            break;
        }
    }
    pl_world_destroy(world);
    return result;
}

static void check_swing(pl_solver solver, double kappa, int iterations, double tolerance)
{
    swing exact = first_swing(PL_SOLVER_STIFF, kappa, 30),
          is = first_swing(solver, kappa, iterations);
    swing plain = first_swing(PL_SOLVER_PLAIN, kappa, iterations);
    double amplitude = fabs(is.lowest / exact.lowest - 1), time = fabs(is.time / exact.time - 1);
    print_message("kh²/ρ %-8g %s %3d: %9.6f m at %6.3f frames; converged %9.6f at %6.3f; plain "
                  "%9.6f at %6.3f\n",
                  kappa, solver == PL_SOLVER_FAST ? "fast " : "stiff", iterations, is.lowest,
                  is.time, exact.lowest, exact.time, plain.lowest, plain.time);
    assert_true(amplitude <= tolerance);
    assert_true(time <= tolerance);
}

static void test_moving_fast(void **state)
{
    (void)state;
    check_swing(PL_SOLVER_FAST, 333, 10, 0.03);
    check_swing(PL_SOLVER_FAST, 3333, 20, 0.03);
}

static void test_moving_stiff(void **state)
{
    (void)state;
    static const double kappas[] = {10, 100, 333, 3333, 33333, 1e5, 1e6};
    for (int i = 0; i < 7; i++) {
        check_swing(PL_SOLVER_STIFF, kappas[i], 2, 0.01);
        check_swing(PL_SOLVER_STIFF, kappas[i], 1, 0.01);
    }
}

/* What it is compared with: the deflection changes by factors with the iteration count. */
static void test_matching_depends_on_iterations(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    double gravity[3] = {0, -9.81, 0}, deflection[2];
    for (int i = 0; i < 2; i++) {
        int32_t fixed = 0;
        pl_matching *matching = pl_matching_create(&memory, bar, &fixed, 1);
        double start[3], end[3];
        assert_non_null(matching);
        pl_matching_position(matching, TIP, start);
        for (int frame = 0; frame < (SLOW ? 75 : 120); frame++)
            pl_matching_step(matching, 1.0 / 30, gravity, 8, i ? 1000 : 100);
        pl_matching_position(matching, TIP, end);
        deflection[i] = start[1] - end[1];
        pl_matching_destroy(matching);
    }
    print_message("shape matching: %.3f m with 100 iterations, %.3f m with 1000\n", deflection[0],
                  deflection[1]);
    assert_true(deflection[0] > 1.5 * deflection[1]);
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_proportional_to_compliance),
        cmocka_unit_test(test_moving_fast),
        cmocka_unit_test(test_moving_stiff),
        cmocka_unit_test(test_matching_depends_on_iterations),
    };
    return cmocka_run_group_tests(tests, make_bar, drop_bar);
}
