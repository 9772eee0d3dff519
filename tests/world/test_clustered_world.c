/* Clustered bodies in a world: they fall as everything falls, meet oriented ones and colliders, flow, break into pieces that
   are bodies of their own in all but name, and all of it gives the same bits with any number of threads and through
   snapshots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pliant/pliant.h"
#include "support/check.h"

/* ---- Things ----------------------------------------------------------------------------------- */

static pl_model *box_model(int x, int y, int z, double spacing)
{
    pl_shape *shape;
    pl_model *model;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BOX);
    def.count[0] = x, def.count[1] = y, def.count[2] = z;
    def.size[0] = x * spacing, def.size[1] = y * spacing, def.size[2] = z * spacing;
    assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    pl_shape_destroy(shape);
    return model;
}

static pl_model *clusters_of(pl_model *model, int count)
{
    pl_model *clustered;
    pl_error error = {0};
    pl_clusters_def def = pl_default_clusters_def();
    def.count = count;
    if (pl_model_cluster(model, &def, &clustered, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_release(model);
    return clustered;
}

static pl_world *world_of(int threads, double gravity)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    def.threads = threads;
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body put(pl_world *world, pl_model *model, const pl_clustered_def *clustered, double x,
                   double y, double z)
{
    pl_body body;
    pl_error error = {0};
    pl_body_def def = pl_default_body_def(model);
    def.clustered = clustered;
    def.material.damping = 0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    if (pl_body_create(world, &def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return body;
}

static pl_body_state state_of(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state;
}

static pl_body_info info_of(const pl_world *world, pl_body body)
{
    pl_body_info info;
    assert_int_equal(pl_body_get_info(world, body, &info), PL_OK);
    return info;
}

static void step(pl_world *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pl_world_step(world, NULL), PL_OK);
}

static void add_floor(pl_world *world)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
}

static void assert_finite(const pl_world *world, pl_body body)
{
    int n = info_of(world, body).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n);
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < 3 * n; i++)
        assert_true(isfinite(x[i]));
    free(x);
}

/* ---- Motion ----------------------------------------------------------------------------------- */

static void test_free_fall(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(6, 4, 5, 0.1), 8);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body body = put(world, model, &def, 0, 100, 0);
    double start = state_of(world, body).centre[1], h = 1.0 / 120;
    step(world, 60);
    double n = 120, fallen = start - state_of(world, body).centre[1];
    assert_true(fabs(fallen - 9.81 * h * h * n * (n + 1) / 2) < 1e-9);
    /* and keeps its shape */
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    assert_true(energy.elastic < 1e-6 * energy.kinetic);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* An oriented and a clustered box meet in empty space: their momenta sum to what they were. */
static void test_momentum_between_kinds(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 0);
    pl_model *solid = box_model(4, 4, 4, 0.1), *model = clusters_of(box_model(5, 4, 4, 0.1), 6);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body a = put(world, solid, NULL, -0.5, 0, 0), b = put(world, model, &def, 0.5, 0.05, 0);
    const double right[3] = {2, 0, 0}, left[3] = {-1, 0, 0}, none[3] = {0, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, a, right, none), PL_OK);
    assert_int_equal(pl_body_set_velocity(world, b, left, none), PL_OK);
    double before = 0, size = 0, mass = state_of(world, b).mass;
    for (int i = 0; i < 2; i++) {
        pl_body_state s = state_of(world, i ? b : a);
        before += s.momentum[0];
        size += fabs(s.momentum[0]);
    }
    step(world, 60);
    double after = state_of(world, a).momentum[0] + state_of(world, b).momentum[0];
    print_message("momentum: %.3g of its size\n", fabs(after - before) / size);
    assert_true(fabs(after - before) < 1e-5 * size);
    assert_true(state_of(world, b).velocity[0] > 0); /* they did meet */
    assert_true(state_of(world, b).mass == mass);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(solid);
}

static void test_rest_on_floor(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(6, 4, 5, 0.1), 8);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body body = put(world, model, &def, 0, 0.5, 0);
    add_floor(world);
    step(world, 240);
    assert_finite(world, body);
    pl_body_state s = state_of(world, body);
    assert_true(s.centre[1] > 0.1 && s.centre[1] < 0.25);
    assert_true(fabs(s.velocity[1]) < 0.05);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Flow and fracture ------------------------------------------------------------------------ */

enum { PULLED_X = 24, PULLED_YZ = 5 };

/* A bar whose ends are led apart. */
typedef struct pulled {
    pl_world *world;
    pl_body body;
    int32_t held[2 * PULLED_YZ * PULLED_YZ];
    int held_count;
    double at[2 * PULLED_YZ * PULLED_YZ][3];
} pulled;

static pulled pull_begin(pl_model *model, const pl_clustered_def *def, int threads)
{
    pulled p = {.world = world_of(threads, 0)};
    int n = pl_model_get_info(model).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n), low = 1e9, high = -1e9;
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < n; i++) {
        low = fmin(low, x[3 * i]);
        high = fmax(high, x[3 * i]);
    }
    for (int i = 0; i < n; i++)
        if (x[3 * i] < low + 0.01 || x[3 * i] > high - 0.01) {
            memcpy(p.at[p.held_count], x + 3 * i, sizeof p.at[0]);
            p.held[p.held_count++] = i;
        }
    free(x);
    pl_body_def body_def = pl_default_body_def(model);
    body_def.clustered = def;
    body_def.fixed = p.held;
    body_def.fixed_count = p.held_count;
    pl_error error = {0};
    if (pl_body_create(p.world, &body_def, &p.body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return p;
}

static void pull(pulled *p, double by)
{
    for (int f = 0; f < p->held_count; f++) {
        p->at[f][0] += p->at[f][0] < 0 ? -by : by;
        assert_int_equal(pl_body_drive(p->world, p->body, p->held[f], p->at[f], NULL), PL_OK);
    }
    step(p->world, 1);
}

static pl_clustered_def brittle(void)
{
    pl_clustered_def def = pl_default_clustered_def();
    def.toughness = 0.15;
    def.strain_limit = 0;
    return def;
}

static pl_model *bar_model(void)
{
    return clusters_of(box_model(PULLED_X, PULLED_YZ, PULLED_YZ, 0.1), 24);
}

static void test_pulled_apart(void **unused)
{
    (void)unused;
    pl_model *model = bar_model();
    pl_clustered_def def = brittle();
    pulled p = pull_begin(model, &def, 1);
    double mass = state_of(p.world, p.body).mass;
    for (int i = 0; i < 90; i++)
        pull(&p, 0.01);
    pl_body_info info = info_of(p.world, p.body);
    print_message("%d pieces, %d particles, %d clusters, %d splits, %d divided\n", info.piece_count,
                  info.particle_count, info.cluster_count, (int)info.clusters_split,
                  (int)info.particles_divided);
    assert_int_equal(info.piece_count, 2);
    assert_finite(p.world, p.body);
    assert_true(fabs(state_of(p.world, p.body).mass / mass - 1) < 1e-6);
    pl_world_destroy(p.world);
    pl_model_release(model);
}

/* ---- The same bits ---------------------------------------------------------------------------- */

static uint64_t hash_after(pl_model *model, const pl_clustered_def *def, int threads, int save_at)
{
    pulled p = pull_begin(model, def, threads);
    for (int i = 0; i < 60; i++) {
        if (i == save_at) {
            size_t size;
            assert_int_equal(pl_world_save(p.world, NULL, 0, &size), PL_OK);
            void *bytes = malloc(size);
            assert_int_equal(pl_world_save(p.world, bytes, size, &size), PL_OK);
            pl_world *other = world_of(threads, 1);
            pl_error error = {0};
            if (pl_world_restore(other, bytes, size, &model, 1, &error) != PL_OK)
                fail_msg("%s: %s", error.where, error.text);
            assert_int_equal(pl_world_hash(other), pl_world_hash(p.world));
            pl_world_destroy(p.world);
            p.world = other;
            free(bytes);
        }
        pull(&p, 0.015);
    }
    uint64_t hash = pl_world_hash(p.world);
    pl_world_destroy(p.world);
    return hash;
}

static void test_same_bits(void **unused)
{
    (void)unused;
    pl_model *model = bar_model();
    pl_clustered_def def = brittle();
    def.yield = 0.05;
    uint64_t hash = hash_after(model, &def, 1, -1);
    assert_int_equal(hash_after(model, &def, 2, -1), hash);
    assert_int_equal(hash_after(model, &def, 7, -1), hash);
    for (int at = 0; at < 60; at += 13)
        assert_int_equal(hash_after(model, &def, 1, at), hash);
    pl_model_release(model);
}

/* ---- Memory and mistakes ---------------------------------------------------------------------- */

static void test_no_allocation(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(8, 4, 5, 0.1), 10);
    pl_clustered_def def = pl_default_clustered_def();
    put(world, model, &def, 0, 0.5, 0);
    add_floor(world);
    step(world, 2);
    uint64_t before = pl_world_allocations(world);
    step(world, 30);
    assert_int_equal(pl_world_allocations(world), before);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void test_mistakes(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *solid = box_model(3, 3, 3, 0.1);
    pl_clustered_def clustered = pl_default_clustered_def();
    pl_body_def def = pl_default_body_def(solid);
    pl_body body;
    pl_error error = {0};
    def.clustered = &clustered;
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "clusters"));
    pl_model_retain(solid);
    pl_model *model = clusters_of(solid, 2);
    def.model = model;
    static const double bad[] = {-1, NAN};
    for (int i = 0; i < 2; i++) {
        clustered = pl_default_clustered_def();
        clustered.yield = bad[i];
        assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.where, "yield"));
        clustered = pl_default_clustered_def();
        clustered.toughness = bad[i];
        assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.where, "toughness"));
    }
    clustered = pl_default_clustered_def();
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_OK);
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_DIRECTION);
    assert_int_equal(pl_pin_at_particle(world, body, 0, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, &error), PL_ERROR_ARGUMENT);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(solid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_fall),     cmocka_unit_test(test_momentum_between_kinds),
        cmocka_unit_test(test_rest_on_floor), cmocka_unit_test(test_pulled_apart),
        cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
