/* Bodies of oriented particles with examples or plasticity in a world: solved beside others, saved
   and restored, the same on any number of threads, without an allocation in a step; new materials,
   steps, pins and fixed particles on the way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/world_kit.h"

enum { BODIES = 5 };

typedef struct stage {
    pl_world *world;
    pl_model *models[3];
    pl_body bodies[BODIES];
    pl_pin pin;
} stage;

/* A pose of a model: bent about z, so that its ends rise. */
static double *bent(const pl_model *model, double curvature)
{
    int n = pl_model_get_info(model).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < n; i++) {
        double s = x[3 * i] * curvature, r = 1 / curvature - x[3 * i + 1];
        x[3 * i] = r * sin(s);
        x[3 * i + 1] = 1 / curvature - r * cos(s);
    }
    return x;
}

static pl_body add(stage *s, int model, double z, pl_solver solver, bool plastic, bool examples)
{
    pl_body_def def = pl_default_body_def(s->models[model]);
    pl_plasticity_def plasticity = pl_default_plasticity_def();
    plasticity.yield = 0.02;
    pl_examples_def manifold = pl_default_examples_def();
    double *x = bent(s->models[model], 1.5);
    pl_pose pose = {.particle_count = pl_model_get_info(s->models[model]).particle_count,
                    .positions = x};
    manifold.pose_count = 1;
    manifold.poses = &pose;
    manifold.scope = model == 1 ? PL_EXAMPLES_LOCAL : PL_EXAMPLES_GLOBAL;
    def.position[1] = 0.5;
    def.position[2] = z;
    def.solver = solver;
    def.material.young = 2e5;
    def.plasticity = plastic ? &plasticity : NULL;
    def.examples = examples ? &manifold : NULL;
    pl_body body;
    pl_error error = {0};
    if (pl_body_create(s->world, &def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    free(x);
    return body;
}

static stage make_stage(int threads, const pl_allocator *allocator)
{
    stage s = {0};
    pl_world_def def = pl_default_world_def();
    def.threads = threads;
    def.substeps = 2;
    if (allocator)
        def.allocator = allocator;
    pl_error error = {0};
    if (pl_world_create(&def, &s.world, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    s.models[0] = world_model(PL_SHAPE_CHAIN, 24, 0, 0);
    s.models[1] = world_model(PL_SHAPE_SHEET, 7, 6, 0);
    s.models[2] = world_model(PL_SHAPE_BOX, 6, 3, 3);
    s.bodies[0] = add(&s, 0, 0, PL_SOLVER_FAST, true, false);
    s.bodies[1] = add(&s, 0, 2, PL_SOLVER_STIFF, true, true);
    s.bodies[2] = add(&s, 1, 4, PL_SOLVER_FAST, false, true);
    s.bodies[3] = add(&s, 2, 8, PL_SOLVER_PLAIN, true, true);
    s.bodies[4] = add(&s, 2, 10, PL_SOLVER_FAST, false, false);
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider collider;
    assert_int_equal(pl_collider_create(s.world, &floor, &collider, NULL), PL_OK);
    return s;
}

static void free_stage(stage *s)
{
    pl_world_destroy(s->world);
    for (int i = 0; i < 3; i++)
        pl_model_release(s->models[i]);
}

/* What happens in a frame depends on its number alone. */
static void frame(stage *s, int number)
{
    if (number == 5) {
        int32_t fixed[] = {0};
        assert_int_equal(pl_body_set_fixed(s->world, s->bodies[0], fixed, 1, NULL), PL_OK);
    }
    if (number == 10) {
        pl_material material = pl_default_material();
        material.young = 1e6;
        assert_int_equal(pl_body_set_material(s->world, s->bodies[1], &material, NULL, NULL, NULL),
                         PL_OK);
    }
    if (number == 15) {
        pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
        assert_int_equal(pl_pin_at_particle(s->world, s->bodies[1], 2, &pin), PL_OK);
        pin.target[1] += 0.2;
        assert_int_equal(pl_pin_create(s->world, s->bodies[1], &pin, &s->pin, NULL), PL_OK);
    }
    if (number == 20)
        assert_int_equal(pl_body_set_fixed(s->world, s->bodies[0], NULL, 0, NULL), PL_OK);
    world_step(s->world, 1);
}

static void test_threads_and_snapshots(void **state)
{
    (void)state;
    enum { FRAMES = 40, SAVED = 18 };
    stage a = make_stage(1, NULL), b = make_stage(3, NULL);
    void *bytes = NULL;
    size_t size = 0;
    uint64_t hashes[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        if (i == SAVED)
            bytes = world_snapshot(a.world, &size);
        frame(&a, i);
        frame(&b, i);
        hashes[i] = pl_world_hash(a.world);
        assert_true(hashes[i] == pl_world_hash(b.world));
        for (int k = 0; k < BODIES; k++)
            assert_true(world_is_finite(a.world, a.bodies[k]));
    }
    print_message("hash %016llx\n", (unsigned long long)hashes[FRAMES - 1]);
    pl_error error = {0};
    if (pl_world_restore(b.world, bytes, size, b.models, 3, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    size_t again;
    void *copy = world_snapshot(b.world, &again);
    assert_true(again == size && memcmp(copy, bytes, size) == 0);
    for (int i = SAVED; i < FRAMES; i++) {
        frame(&b, i);
        assert_true(hashes[i] == pl_world_hash(b.world));
    }
    free(copy), free(bytes);
    free_stage(&a);
    free_stage(&b);
}

static void test_no_allocation(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    world_heap heap;
    world_heap_init(&heap);
    stage s = make_stage(1, &heap.allocator);
    world_step(s.world, 3);
    int64_t calls = heap.calls;
    world_step(s.world, 20);
    assert_true(heap.calls == calls);
    free_stage(&s);
    assert_int_equal(heap.blocks, 0);
}

/* Every allocation of making a body fails once: an error, and nothing is lost. */
static void test_no_memory(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int64_t fail = 0;; fail++) {
        world_heap heap;
        world_heap_init(&heap);
        stage s = make_stage(1, &heap.allocator);
        pl_body_def def = pl_default_body_def(s.models[0]);
        pl_plasticity_def plasticity = pl_default_plasticity_def();
        def.plasticity = &plasticity;
        heap.fail_from = heap.calls + fail;
        pl_body body;
        pl_status status = pl_body_create(s.world, &def, &body, NULL);
        heap.fail_from = -1;
        world_step(s.world, 1);
        free_stage(&s);
        assert_int_equal(heap.blocks, 0);
        if (status == PL_OK)
            return;
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_true(fail < 200);
    }
}

static void test_bad_definitions(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    pl_model *model = world_model(PL_SHAPE_CHAIN, 8, 0, 0);
    const double bad[][4] = {{-1, 50, 0, 2},   {NAN, 50, 0, 2},        {0.1, 0, 0, 2},
                             {0.1, NAN, 0, 2}, {0.1, 50, INFINITY, 2}, {0.1, 50, 0, 0},
                             {0.1, 50, 0, NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pl_body_def def = pl_default_body_def(model);
        pl_plasticity_def p = pl_default_plasticity_def();
        p.yield = bad[i][0], p.flow = bad[i][1], p.hardening = bad[i][2], p.limit = bad[i][3];
        def.plasticity = &p;
        pl_body body;
        pl_error error = {0};
        assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.where, "plasticity"));
    }
    pl_model_release(model);
    pl_world_destroy(world);
}

/* A free rod at rest with plasticity does what one without does; far below the yield it springs
   back. */
static void test_elastic_below_yield(void **state)
{
    (void)state;
    stage s = {.world = world_empty(), .models = {world_model(PL_SHAPE_CHAIN, 16, 0, 0)}};
    s.bodies[0] = add(&s, 0, 0, PL_SOLVER_FAST, true, false);
    double x[2][48];
    world_read(s.world, s.bodies[0], PL_POSITIONS, x[0]);
    world_step(s.world, 30);
    world_read(s.world, s.bodies[0], PL_POSITIONS, x[1]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    pl_world_destroy(s.world);
    pl_model_release(s.models[0]);
}

/* The height of the tip of a cantilever that may bend through an example, after a third of a second
   of fall. */
static double fallen(int iterations, bool examples)
{
    enum { N = 25 };
    stage s = {0};
    pl_world_def def = pl_default_world_def();
    def.iterations = iterations;
    def.step = 1.0 / 60;
    assert_int_equal(pl_world_create(&def, &s.world, NULL), PL_OK);
    s.models[0] = world_sized_model(PL_SHAPE_CHAIN, N, 0, 0, 1, 0.1, 0.1, false);
    s.bodies[0] = add(&s, 0, 0, PL_SOLVER_FAST, false, examples);
    int32_t fixed[] = {0};
    assert_int_equal(pl_body_set_fixed(s.world, s.bodies[0], fixed, 1, NULL), PL_OK);
    pl_material material = pl_default_material();
    material.young = 5e6;
    assert_int_equal(pl_body_set_material(s.world, s.bodies[0], &material, NULL, NULL, NULL),
                     PL_OK);
    double x[2][3 * N];
    world_read(s.world, s.bodies[0], PL_POSITIONS, x[0]);
    double up[3] = {0, 9.81, 0}; /* the pose bends upwards */
    assert_int_equal(pl_world_set_gravity(s.world, up), PL_OK);
    world_step(s.world, 20);
    world_read(s.world, s.bodies[0], PL_POSITIONS, x[1]);
    pl_world_destroy(s.world);
    pl_model_release(s.models[0]);
    return x[1][3 * (N - 1) + 1] - x[0][3 * (N - 1) + 1];
}

/* Weights are unknowns of the step: with ten iterations a body moves along its examples as it does
   with two hundred. */
static void test_weights_are_implicit(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    double stiff = fallen(200, false), few = fallen(10, true), many = fallen(200, true);
    print_message("fallen by %.4f without the example, %.4f with it, %.4f at ten iterations\n",
                  stiff, many, few);
    assert_true(many > 1.3 * stiff);
    assert_true(fabs(few - many) < 0.05 * many);
}

/* Elastic energy of a rod at rest that is drawn wholly into a slightly bent pose. */
static double drawn(double beta)
{
    pl_world_def world_def = pl_default_world_def();
    world_def.gravity[1] = 0;
    world_def.step = 1e-6; /* it has no time to follow */
    pl_world *world;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    pl_model *model = world_model(PL_SHAPE_CHAIN, 24, 0, 0);
    double *x = bent(model, 0.2);
    pl_pose pose = {.particle_count = 24, .positions = x};
    pl_examples_def examples = pl_default_examples_def();
    examples.poses = &pose, examples.pose_count = 1, examples.beta = beta;
    pl_body_def def = pl_default_body_def(model);
    def.examples = &examples;
    pl_body body;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    const float bias[] = {1};
    assert_int_equal(pl_body_set_example_bias(world, body, -1, bias, NULL), PL_OK);
    world_step(world, 1);
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
    return energy.elastic;
}

/* With a blend of β D it is 1/2 β² ‖D‖² for what is left to go, and 1/2 (1/β − 1) β² ‖D‖² for the
   blend: 1/2 β ‖D‖² in all. */
static void test_energy_of_examples(void **state)
{
    (void)state;
    double half = drawn(0.5), most = drawn(0.9), little = drawn(0.1);
    print_message("%g %g %g\n", little, half, most);
    assert_true(half > 0);
    assert_true(fabs(most / half - 1.8) < 0.01);
    assert_true(fabs(little / half - 0.2) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_snapshots),
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_elastic_below_yield),
        cmocka_unit_test(test_weights_are_implicit),
        cmocka_unit_test(test_energy_of_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
