/* Sweeps through the touches of stiff bodies that follow each other at a distance
   (contact/firm_turns.c) give the bits of sweeps one after the other, on any number of threads: in
   a crowd whose neighbours were made one after the other, and in one whose order of creation says
   nothing of places; with some soft bodies and without. Threads. */
#include "support/check.h"

#include "base/rng.h"
#include "support/world_kit.h"
#include "world/world.h"

enum { SIDE = 9, LAYERS = 4, BODIES = SIDE * SIDE * LAYERS };

typedef struct crowd {
    bool shuffled; /* in the order of creation */
    int soft;      /* every so many is; 0 = none */
} crowd;

static void shuffle(int order[BODIES], pl_rng *rng)
{
    for (int i = BODIES - 1; i > 0; i--) {
        int k = (int)(pl_random_double(rng) * (i + 1)), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

static void fill(pl_world *world, const crowd *c)
{
    pl_model *model = world_sized_model(PL_SHAPE_BOX, 3, 3, 3, 1, 1, 1, false);
    pl_rng rng = pl_rng_make(3);
    int order[BODIES];
    for (int i = 0; i < BODIES; i++)
        order[i] = i;
    if (c->shuffled)
        shuffle(order, &rng);
    for (int i = 0; i < BODIES; i++) {
        int at = order[i];
        pl_body_def def = pl_default_body_def(model);
        pl_body body;
        def.material.young = c->soft && i % c->soft == 0 ? 2e3 : 1e6;
        def.material.friction = 0.5;
        def.position[0] = 1.02 * (at / LAYERS % SIDE) + 0.02 * pl_random_double(&rng);
        def.position[1] = 0.55 + 1.01 * (at % LAYERS);
        def.position[2] = 1.02 * (at / LAYERS / SIDE) + 0.02 * pl_random_double(&rng);
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    }
    pl_model_release(model);
}

static uint64_t hash_of(const crowd *c, int threads, bool one_by_one)
{
    pl_world_def def = pl_default_world_def();
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider collider;
    pl_world *world;
    int most = 0;
    def.substeps = 2;
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    assert_int_equal(pl_collider_create(world, &floor, &collider, NULL), PL_OK);
    fill(world, c);
    world->contact->firm.one_by_one = one_by_one;
    int frames = world_is_slow_build() ? 8 : 12; /* they touch from the sixth on */
    for (int f = 0; f < frames; f++) {
        world_step(world, 1);
        most = world->contact->firm.touch_count > most ? world->contact->firm.touch_count : most;
    }
    assert_true(most > 1500);
    uint64_t hash = pl_world_hash(world);
    pl_world_destroy(world);
    return hash;
}

static void turns_do_not_show(void **state)
{
    static const crowd crowds[] = {{false, 0}, {false, 7}, {true, 0}, {true, 7}};
    (void)state;
    for (int i = 0; i < 4; i += world_is_slow_build() ? 3 : 1) {
        uint64_t expected = hash_of(crowds + i, 1, true);
        int most = world_is_slow_build() ? 2 : 4;
        for (int threads = world_is_slow_build() ? 2 : 1; threads <= most; threads++)
            assert_true(hash_of(crowds + i, threads, false) == expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns_do_not_show)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
