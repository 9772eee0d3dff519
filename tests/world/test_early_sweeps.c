/* The first sweep over the touches of soft bodies, which is begun while touches are still looked
   for (contact/batch.c), gives the bits of touches resolved one after the other: on any number of
   threads, when batches run out half-way, when touches have to be moved because there is no room
   for all of them, and where worker 0, who does it, gets little to do or nothing. Threads. */
#include "support/check.h"

#include "base/rng.h"
#include "support/world_kit.h"
#include "world/world.h"

enum { SIDE = 5, LAYERS = 3, BODIES = SIDE * SIDE * LAYERS };

/* Of batches and, for each worker, of touches; -1 = as many as there are. */
typedef struct room {
    int batches, touches;
} room;

static void fill(pl_world *world)
{
    pl_model *model = world_sized_model(PL_SHAPE_BOX, 3, 3, 3, 1, 1, 1, false);
    pl_rng rng = pl_rng_make(5);
    for (int i = 0; i < BODIES; i++) {
        pl_body_def def = pl_default_body_def(model);
        pl_body body;
        def.material.young = 1e3;
        def.material.friction = 0.5;
        def.position[0] = 1.01 * (i % SIDE) + 0.02 * pl_random_double(&rng);
        def.position[1] = 0.52 + 1.01 * (i / SIDE % LAYERS);
        def.position[2] = 1.01 * (i / SIDE / LAYERS) + 0.02 * pl_random_double(&rng);
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    }
    pl_model_release(model);
}

static uint64_t hash_of(int threads, const pl_task_system *host, room r)
{
    pl_world_def def = pl_default_world_def();
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider collider;
    pl_world *world;
    uint64_t most = 0;
    int early = 0;
    def.substeps = 4;
    def.threads = threads;
    def.tasks = host;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    assert_int_equal(pl_collider_create(world, &floor, &collider, NULL), PL_OK);
    /* One that gives way, among them. */
    pl_collider_def ball = pl_default_collider_def(PL_COLLIDER_SPHERE);
    ball.mass = 5;
    ball.size[0] = 0.6;
    ball.position[0] = 2, ball.position[1] = 1.8, ball.position[2] = 2;
    assert_int_equal(pl_collider_create(world, &ball, &collider, NULL), PL_OK);
    fill(world);
    pl_contact *contact = world->contact;
    for (int f = 0; f < 14; f++) {
        uint64_t before = contact->touches;
        if (r.batches >= 0)
            contact->batch_capacity = r.batches;
        for (int w = 0; w < contact->worker_count && r.touches >= 0; w++)
            contact->buffers[w].touch_capacity = r.touches;
        world_step(world, 1);
        early = contact->plan.swept > early ? contact->plan.swept : early;
        most = contact->touches - before > most ? contact->touches - before : most;
    }
    assert_false(pl_contact_some_are_firm(contact));
    assert_true(early > 0 || r.batches == 0);
    assert_true(most > 4 * 150);
    uint64_t hash = pl_world_hash(world);
    pl_world_destroy(world);
    return hash;
}

static void early_sweeps_do_not_show(void **state)
{
    static const room rooms[] = {{-1, -1}, {7, -1}, {-1, 40}, {7, 40}};
    (void)state;
    uint64_t expected = hash_of(1, NULL, (room){0, -1});
    int slow = world_is_slow_build();
    for (int threads = slow ? 2 : 1; threads <= 3 - slow; threads++)
        for (int i = 0; i < 4; i++)
            assert_true(hash_of(threads, NULL, rooms[i]) == expected);
}

/* A host that gives its pieces to workers 1 and 2; to worker 0 the one with the number in `user`,
   where there is one. */
static void *enqueue_to_others(pl_task *task, void *context, int count, int grain, void *user)
{
    const int *first = user;
    int pieces = (count + grain - 1) / grain;
    for (int p = 0; p < pieces; p++) {
        int end = (p + 1) * grain < count ? (p + 1) * grain : count;
        task(context, p * grain, end, p == *first ? 0 : 1 + p % 2);
    }
    return NULL;
}

static void finish_nothing(void *handle, void *user)
{
    (void)handle, (void)user;
}

static void hosts_need_no_worker_zero(void **state)
{
    static const room rooms[] = {{-1, -1}, {7, 40}};
    (void)state;
    uint64_t expected = hash_of(1, NULL, (room){0, -1});
    for (int first = -1; first < 3; first++) {
        pl_task_system others = {3, enqueue_to_others, finish_nothing, &first};
        for (int i = 0; i < 2; i++)
            assert_true(hash_of(1, &others, rooms[i]) == expected);
    }
    pl_task_system threads = world_thread_tasks();
    assert_true(hash_of(1, &threads, rooms[0]) == expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(early_sweeps_do_not_show),
                                       cmocka_unit_test(hosts_need_no_worker_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
