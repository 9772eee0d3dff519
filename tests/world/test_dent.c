/* A dent does not depend on the sub-steps: frequency, damping and flow are per second. A slab of
   clay lies on the floor, a ball presses into it and leaves; what stays is measured when all is
   still. Label: slow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pliant/pliant.h"
#include "support/check.h"

enum { WIDE = 17, HIGH = 6, FRAMES = 240, DOWN = 60, UP = 90 };

#define SPACING 0.1
#define RADIUS 0.35
#define DEPTH 0.2

static pl_model *slab(void)
{
    pl_shape *shape;
    pl_model *plain, *model;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BOX);
    def.count[0] = def.count[2] = WIDE, def.count[1] = HIGH;
    for (int k = 0; k < 3; k++)
        def.size[k] = def.count[k] * SPACING;
    assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    assert_int_equal(pl_model_create(&model_def, &plain, NULL), PL_OK);
    pl_shape_destroy(shape);
    pl_clusters_def clusters = pl_default_clusters_def();
    clusters.count = 80;
    assert_int_equal(pl_model_cluster(plain, &clusters, &model, NULL), PL_OK);
    pl_model_release(plain);
    return model;
}

/* Height of the ball's middle: down into the slab, and away. */
static double ball_at(int frame, double top)
{
    double touching = top + RADIUS, deepest = touching - DEPTH;
    if (frame <= DOWN)
        return touching + 0.1 + (deepest - touching - 0.1) * frame / DOWN;
    if (frame <= UP)
        return deepest;
    return deepest + 0.02 * (frame - UP);
}

static void press(pl_world *world, double top)
{
    pl_collider ball;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_SPHERE);
    def.size[0] = RADIUS;
    def.position[1] = ball_at(0, top);
    assert_int_equal(pl_collider_create(world, &def, &ball, NULL), PL_OK);
    for (int frame = 1; frame <= FRAMES; frame++) {
        const double at[3] = {0, ball_at(frame, top), 0}, turn[4] = {0, 0, 0, 1};
        assert_int_equal(pl_collider_move(world, ball, at, turn), PL_OK);
        assert_int_equal(pl_world_step(world, NULL), PL_OK);
    }
}

/* How much lower the top is in the middle than at the rim: mean over the particles there. */
static double depth_of(const pl_world *world, pl_body body, const double *rest, int n, double top)
{
    double *x = malloc(sizeof(double) * 3 * (size_t)n), sum[2] = {0};
    int count[2] = {0};
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < n; i++) {
        double out = sqrt(rest[3 * i] * rest[3 * i] + rest[3 * i + 2] * rest[3 * i + 2]);
        int where = out < 0.15 ? 0 : 1;
        if (rest[3 * i + 1] < top - 0.6 * SPACING || (where && out < 0.75))
            continue;
        sum[where] += x[3 * i + 1];
        count[where]++;
    }
    free(x);
    return sum[1] / count[1] - sum[0] / count[0];
}

static double dent(pl_model *model, int substeps, double yield, double limit)
{
    pl_world *world;
    pl_world_def world_def = pl_default_world_def();
    world_def.substeps = substeps;
    world_def.gravity[1] = -1;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    pl_collider floor;
    pl_collider_def floor_def = pl_default_collider_def(PL_COLLIDER_PLANE);
    assert_int_equal(pl_collider_create(world, &floor_def, &floor, NULL), PL_OK);
    pl_clustered_def clay = pl_default_clustered_def();
    clay.yield = yield;
    clay.frequency = 20;
    clay.damping = 20;
    clay.strain_limit = limit;
    pl_body body;
    pl_body_def def = pl_default_body_def(model);
    def.clustered = &clay;
    def.position[1] = 0.5 * HIGH * SPACING;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    int n = pl_model_get_info(model).particle_count;
    double *rest = malloc(sizeof(double) * 3 * (size_t)n), top = -1;
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 0, n, 1, pl_doubles(rest, 0)), PL_OK);
    for (int i = 0; i < n; i++)
        top = fmax(top, rest[3 * i + 1]);
    press(world, top + 0.5 * SPACING);
    double depth = depth_of(world, body, rest, n, top);
    free(rest);
    pl_world_destroy(world);
    printf("yield %-4g limit %-4g %2d sub-steps: %.4f m deep\n", yield, limit, substeps, depth);
    return depth;
}

static void test_sub_steps(void **state)
{
    (void)state;
    pl_model *model = slab();
    double elastic = dent(model, 4, (double)INFINITY, 0.2);
    assert_true(fabs(elastic) < 0.1 * DEPTH); /* what does not flow has no dent to keep */
    double coarse = dent(model, 4, 0.1, 0), fine = dent(model, 8, 0.1, 0);
    assert_true(fine > 0.1 * DEPTH && fine < DEPTH);
    assert_true(fabs(fine - coarse) < 0.01 * fine);
    pl_model_release(model);
}

/* Strain limiting acts in every sub-step, but beyond 480 a second it gets no stiffer. */
static void test_with_limit(void **state)
{
    (void)state;
    pl_model *model = slab();
    double before = 0;
    for (int substeps = 4; substeps <= 16; substeps *= 2) {
        double depth = dent(model, substeps, 0.1, 0.2);
        assert_true(depth > 0.1 * DEPTH && depth < DEPTH);
        if (before > 0)
            assert_true(fabs(depth - before) < 0.05 * depth);
        before = depth;
    }
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sub_steps),
        cmocka_unit_test(test_with_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
