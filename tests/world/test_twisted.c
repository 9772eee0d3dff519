/* A beam whose ends are turned against each other by half a turn and let go: of something that
   flows, in many clusters that are replaced early, it stays twisted; an elastic one unwinds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pliant/pliant.h"
#include "support/check.h"

enum { X = 26, YZ = 9, SLICE = YZ * YZ, N = X * SLICE };
#define SPACING 0.1
#define PI 3.14159265358979323846

static pl_model *beam_model(void)
{
    static double x[3 * N], radii[3 * N];
    pl_model_def def = pl_default_model_def();
    for (int i = 0; i < N; i++) {
        const double at[3] = {i / SLICE, i / YZ % YZ - (YZ - 1) / 2.0, i % YZ - (YZ - 1) / 2.0};
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = SPACING * at[k];
            radii[3 * i + k] = SPACING / 2;
        }
    }
    def.particle_count = N;
    def.positions = pl_doubles(x, 0);
    def.radii = pl_doubles(radii, 0);
    def.several_pieces = true;
    pl_model *model, *clustered;
    pl_clusters_def clusters = pl_default_clusters_def();
    clusters.count = 400;
    clusters.overlap = 5;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    assert_int_equal(pl_model_cluster(model, &clusters, &clustered, NULL), PL_OK);
    pl_model_release(model);
    return clustered;
}

/* By how much the slices are turned against each other, from end to end, radians. */
static double twist_of(const double *rest, const double *x)
{
    double before = 0, sum = 0;
    for (int slice = 0; slice < X; slice++) {
        double along = 0, across = 0, middle[2] = {0};
        for (int i = slice * SLICE; i < (slice + 1) * SLICE; i++)
            for (int k = 0; k < 2; k++)
                middle[k] += x[3 * i + 1 + k] / SLICE;
        for (int i = slice * SLICE; i < (slice + 1) * SLICE; i++) {
            const double *r = rest + 3 * i + 1, y = x[3 * i + 1] - middle[0],
                         z = x[3 * i + 2] - middle[1];
            along += r[0] * y + r[1] * z;
            across += r[0] * z - r[1] * y;
        }
        double angle = atan2(across, along);
        if (slice)
            sum += remainder(angle - before, 2 * PI);
        before = angle;
    }
    return sum;
}

typedef struct beam {
    pl_world *world;
    pl_body body;
    int32_t held[2 * SLICE];
    double rest[3 * N], x[3 * N];
} beam;

static void turn_ends(beam *b, double angle)
{
    for (int f = 0; f < 2 * SLICE; f++) {
        const double *r = b->rest + 3 * b->held[f];
        double a = f < SLICE ? -angle / 2 : angle / 2;
        const double to[3] = {r[0], cos(a) * r[1] - sin(a) * r[2], sin(a) * r[1] + cos(a) * r[2]};
        assert_int_equal(pl_body_drive(b->world, b->body, b->held[f], to, NULL), PL_OK);
    }
}

static void look(beam *b)
{
    assert_int_equal(pl_body_read(b->world, b->body, PL_POSITIONS, 0, N, 1, pl_doubles(b->x, 0)),
                     PL_OK);
}

/* The least twist in the second after it was let go. */
static double twist_left(const pl_clustered_def *def)
{
    static beam b;
    pl_model *model = beam_model();
    pl_world_def world = pl_default_world_def();
    pl_body_def body = pl_default_body_def(model);
    double least = INFINITY;
    memset(&b, 0, sizeof b);
    world.gravity[1] = 0;
    assert_int_equal(pl_world_create(&world, &b.world, NULL), PL_OK);
    for (int f = 0; f < 2 * SLICE; f++)
        b.held[f] = f < SLICE ? f : N - 2 * SLICE + f;
    body.clustered = def;
    body.fixed = b.held;
    body.fixed_count = 2 * SLICE;
    assert_int_equal(pl_body_create(b.world, &body, &b.body, NULL), PL_OK);
    look(&b);
    memcpy(b.rest, b.x, sizeof b.rest);
    for (int frame = 1; frame <= 100; frame++) {
        turn_ends(&b, PI * fmin(1, frame / 80.0));
        assert_int_equal(pl_world_step(b.world, NULL), PL_OK);
    }
    look(&b);
    assert_true(fabs(twist_of(b.rest, b.x) - PI) < 0.05);
    assert_int_equal(pl_body_set_fixed(b.world, b.body, NULL, 0, NULL), PL_OK);
    for (int frame = 0; frame < 60; frame++) {
        assert_int_equal(pl_world_step(b.world, NULL), PL_OK);
        look(&b);
        least = fmin(least, twist_of(b.rest, b.x));
    }
    pl_world_destroy(b.world);
    pl_model_release(model);
    return least / PI;
}

static void test_twisted(void **state)
{
    (void)state;
    pl_clustered_def def = pl_default_clustered_def();
    def.frequency = 30;
    def.damping = 40;
    double elastic = twist_left(&def);
    def.yield = 0.02;
    def.flow = 60;
    def.condition = 1.1;
    double plastic = twist_left(&def);
    print_message("of half a turn of twist %.2f are left, of an elastic one %.2f\n", plastic,
                  elastic);
    assert_true(plastic > 0.8);
    assert_true(elastic < 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twisted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
