/* Contact events: what is told of a step is what the bodies' momenta say happened in it; phases
   follow each other; the same list comes out on any number of threads and after a snapshot; a step
   with as many pairs as before allocates nothing. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/world_kit.h"

/* One sphere. */
static pl_model *ball_model(double radius)
{
    double position[3] = {0, 0, 0}, radii[3] = {radius, radius, radius};
    pl_model *model;
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(position, 0);
    def.radii = pl_doubles(radii, 0);
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    return model;
}

static pl_body ball(pl_world *world, pl_model *model, double x, double y, double z, double vx,
                    double friction)
{
    pl_body body;
    pl_body_def def = pl_default_body_def(model);
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    def.velocity[0] = vx;
    def.material.damping = 0;
    def.material.friction = friction;
    def.material.restitution = 0;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    return body;
}

static pl_world *world_with(int substeps, bool gravity, bool sleeping, int threads)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = substeps;
    def.gravity[1] = gravity ? -9.81 : 0;
    def.sleeping = sleeping;
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_collider floor_of(pl_world *world, double friction)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    def.friction = friction;
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
    return collider;
}

static double momentum_x(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state.momentum[0];
}

/* ---- Two bodies ------------------------------------------------------------------------------ */

static void check_collision(int substeps, double speed, bool later_first)
{
    pl_model *model = ball_model(0.5);
    pl_world *world = world_with(substeps, false, false, 1);
    pl_body left, right;
    if (later_first)
        right = ball(world, model, 0.8, 0, 0, -speed, 0);
    left = ball(world, model, -0.8, 0, 0, speed, 0);
    if (!later_first)
        right = ball(world, model, 0.8, 0, 0, -speed, 0);
    pl_body a = later_first ? right : left, b = later_first ? left : right;
    double side = later_first ? -1 : 1, told = 0;
    double start = momentum_x(world, left);
    bool before = false, ever = false;
    for (int i = 0; i < 60; i++) {
        int count;
        world_step(world, 1);
        const pl_contact_event *events = pl_world_contacts(world, &count);
        assert_in_range(count, 0, 1);
        if (count == 0) {
            assert_false(before);
            continue;
        }
        const pl_contact_event *e = events;
        assert_int_equal(e->body_a, a.index);
        assert_int_equal(e->body_b, b.index);
        assert_int_equal(e->collider, UINT32_MAX);
        assert_int_equal(e->particle_a, 0);
        assert_int_equal(e->particle_b, 0);
        assert_true(fabs((double)e->normal[0] - side) < 1e-5);
        assert_true(fabs(e->position[0]) < 0.02 && fabs(e->position[1]) < 1e-6);
        if (e->phase == PL_CONTACT_ENDED) {
            assert_true(before);
            assert_int_equal(e->touches, 0);
        } else {
            assert_int_equal(e->phase, before ? PL_CONTACT_GOES_ON : PL_CONTACT_BEGAN);
            assert_true(e->touches > 0);
        }
        before = e->phase != PL_CONTACT_ENDED;
        ever = true;
        told += (double)e->impulse;
        /* Let go, once: they part, and it ends. */
        if (i == 40) {
            double apart[3] = {-1, 0, 0}, none[3] = {0, 0, 0};
            assert_int_equal(pl_body_set_velocity(world, left, apart, none), PL_OK);
        }
    }
    assert_true(ever);
    assert_true(fabs(told - start) < 1e-3 * start);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void impulses_are_the_momentum_exchanged(void **state)
{
    (void)state;
    for (int substeps = 1; substeps <= 6; substeps += 5)
        for (double speed = 0.7; speed < 3; speed *= 2) {
            check_collision(substeps, speed, false);
            check_collision(substeps, speed, true);
        }
}

/* ---- The floor ------------------------------------------------------------------------------- */

static const pl_contact_event *only_event(const pl_world *world)
{
    int count;
    const pl_contact_event *event = pl_world_contacts(world, &count);
    assert_int_equal(count, 1);
    return event;
}

static void weight_is_told_and_sleep_keeps_it(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(2, true, true, 1);
    pl_collider ground = floor_of(world, 0.5);
    pl_model_info info = pl_model_get_info(model);
    pl_body_def def = pl_default_body_def(model);
    pl_body body;
    pl_body_state s;
    def.position[1] = 0.05 - info.lower[1];
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        world_step(world, 1);
        int count;
        const pl_contact_event *e = pl_world_contacts(world, &count);
        sum += count && i >= 90 ? (double)e->impulse : 0;
    }
    pl_body_get_state(world, body, &s);
    double weight = s.mass * 9.81 * 10 / 60;
    const pl_contact_event *event = only_event(world);
    assert_int_equal(event->body_a, body.index);
    assert_int_equal(event->body_b, UINT32_MAX);
    assert_int_equal(event->collider, ground.index);
    assert_int_equal(event->particle_b, -1);
    assert_true((double)event->normal[1] < -0.999);
    assert_true(fabs(event->position[1]) < 0.02);
    pl_report report;
    for (int i = 0; i < 300; i++) {
        assert_int_equal(pl_world_step(world, &report), PL_OK);
        assert_int_equal(only_event(world)->phase, PL_CONTACT_GOES_ON);
    }
    assert_int_equal(report.iterations, 0); /* it sleeps */
    assert_true(sum == 0 || fabs(sum - weight) < 0.1 * weight);
    double up[3] = {0, 5, 0}, straight[4] = {0, 0, 0, 1};
    assert_int_equal(pl_body_teleport(world, body, up, straight), PL_OK);
    world_step(world, 1);
    assert_int_equal(only_event(world)->phase, PL_CONTACT_ENDED);
    int count;
    world_step(world, 1);
    assert_null(pl_world_contacts(world, &count));
    assert_int_equal(count, 0);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A ball pressed down that cannot roll along: friction is μ times the pressure. */
static void friction_is_told(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(4, true, false, 1);
    floor_of(world, 0.3);
    pl_body_def def = pl_default_body_def(model);
    pl_body body;
    pl_model_info info = pl_model_get_info(model);
    def.position[1] = 0.01 - info.lower[1];
    def.material.friction = 0.3;
    def.material.damping = 0;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    world_step(world, 40);
    double speed[3] = {4, 0, 0}, none[3] = {0, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, body, speed, none), PL_OK);
    double normal = 0, friction = 0;
    double start = momentum_x(world, body);
    for (int i = 0; i < 10; i++) {
        int count;
        world_step(world, 1);
        const pl_contact_event *e = pl_world_contacts(world, &count);
        normal += count ? (double)e->impulse : 0;
        friction += count ? (double)e->friction_impulse : 0;
    }
    double lost = start - momentum_x(world, body);
    assert_true(normal > 0);
    assert_true(fabs(friction - 0.3 * normal) < 0.02 * normal);
    assert_true(fabs(friction - lost) < 0.05 * lost);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void those_that_leave_are_not_told_of(void **state)
{
    (void)state;
    pl_model *model = ball_model(0.5);
    pl_world *world = world_with(1, true, false, 1);
    pl_collider ground = floor_of(world, 0.5);
    pl_body bodies[3];
    int count;
    for (int i = 0; i < 3; i++)
        bodies[i] = ball(world, model, 0.99 * i, 0.499, 0, 0, 0.5);
    world_step(world, 2);
    pl_world_contacts(world, &count);
    assert_int_equal(count, 5);
    assert_int_equal(pl_body_destroy(world, bodies[1]), PL_OK);
    const pl_contact_event *e = pl_world_contacts(world, &count);
    assert_int_equal(count, 2);
    assert_true(e[0].body_a == bodies[0].index && e[1].body_a == bodies[2].index);
    pl_body late = ball(world, model, 0.99, 5, 0, 0, 0.5); /* in the slot of the one that left */
    assert_int_equal(late.index, bodies[1].index);
    world_step(world, 1);
    e = pl_world_contacts(world, &count);
    assert_int_equal(count, 2);
    assert_true(e[0].phase == PL_CONTACT_GOES_ON && e[1].phase == PL_CONTACT_GOES_ON);
    assert_int_equal(pl_collider_destroy(world, ground), PL_OK);
    pl_world_contacts(world, &count);
    assert_int_equal(count, 0);
    world_step(world, 1);
    assert_null(pl_world_contacts(world, &count));
    assert_null(pl_world_contacts(NULL, &count));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Piles ----------------------------------------------------------------------------------- */

enum { PILE = 60 };

static void fill_pile(pl_world *world, pl_model *model)
{
    floor_of(world, 0.5);
    pl_rng rng = pl_rng_make(7);
    for (int i = 0; i < PILE; i++)
        ball(world, model, 0.7 * (i % 3) + 0.2 * pl_random_double(&rng),
             0.5 + 0.9 * (double)(i / 9), 0.7 * (i / 3 % 3) + 0.2 * pl_random_double(&rng), 0, 0.4);
}

static void equal_events(const pl_world *a, const pl_world *b)
{
    int count, other;
    const pl_contact_event *x = pl_world_contacts(a, &count), *y = pl_world_contacts(b, &other);
    assert_int_equal(count, other);
    for (int i = 0; i < count; i++) {
        assert_int_equal(x[i].phase, y[i].phase);
        assert_int_equal(x[i].body_a, y[i].body_a);
        assert_int_equal(x[i].body_b, y[i].body_b);
        assert_int_equal(x[i].collider, y[i].collider);
        assert_int_equal(x[i].particle_a, y[i].particle_a);
        assert_int_equal(x[i].particle_b, y[i].particle_b);
        assert_memory_equal(x[i].position, y[i].position, sizeof x[i].position);
        assert_memory_equal(x[i].normal, y[i].normal, sizeof x[i].normal);
        assert_memory_equal(&x[i].impulse, &y[i].impulse, sizeof x[i].impulse);
        assert_memory_equal(&x[i].friction_impulse, &y[i].friction_impulse, sizeof x[i].impulse);
        assert_int_equal(x[i].touches, y[i].touches);
    }
}

/* Every pair once, a before b, bodies before colliders; a began or went on as the step before
   says. */
static void check_list(const pl_world *world, const pl_contact_event *last, int last_count)
{
    int count;
    const pl_contact_event *e = pl_world_contacts(world, &count);
    for (int i = 0; i < count; i++) {
        bool was = false;
        for (int j = 0; j < last_count; j++)
            was |= last[j].phase != PL_CONTACT_ENDED && last[j].body_a == e[i].body_a &&
                   last[j].body_b == e[i].body_b && last[j].collider == e[i].collider;
        assert_int_equal(e[i].phase == PL_CONTACT_BEGAN, !was);
        assert_true(e[i].body_a <= e[i].body_b);
        assert_true((e[i].body_b == UINT32_MAX) != (e[i].collider == UINT32_MAX));
        assert_true((double)e[i].impulse >= 0 && isfinite((double)e[i].impulse));
        if (i > 0 && e[i].body_a == e[i - 1].body_a)
            assert_true(e[i].body_b > e[i - 1].body_b);
        else if (i > 0)
            assert_true(e[i].body_a > e[i - 1].body_a);
    }
}

static void lists_are_in_order_and_the_same_everywhere(void **state)
{
    (void)state;
    pl_model *model = ball_model(0.5);
    pl_world *one = world_with(2, true, true, 1), *three = world_with(2, true, true, 3);
    pl_world *restored = world_with(2, true, true, 1);
    pl_contact_event *last = calloc(4096, sizeof *last);
    int last_count = 0, count, frames = world_scaled(240), largest = 0;
    fill_pile(one, model);
    fill_pile(three, model);
    for (int i = 0; i < frames; i++) {
        if (i == frames / 4) {
            size_t size;
            void *bytes = world_snapshot(one, &size);
            assert_int_equal(pl_world_restore(restored, bytes, size, &model, 1, NULL), PL_OK);
            assert_int_equal(pl_world_hash(one), pl_world_hash(restored));
            equal_events(one, restored);
            free(bytes);
        }
        world_step(one, 1);
        world_step(three, 1);
        check_list(one, last, last_count);
        equal_events(one, three);
        if (i >= frames / 4) {
            world_step(restored, 1);
            equal_events(one, restored);
        }
        const pl_contact_event *e = pl_world_contacts(one, &count);
        largest = count > largest ? count : largest;
        assert_in_range(count, 0, 4096);
        last_count = count;
        if (count)
            memcpy(last, e, sizeof *e * (size_t)count);
    }
    assert_true(largest > PILE);
    free(last);
    pl_world_destroy(one);
    pl_world_destroy(three);
    pl_world_destroy(restored);
    pl_model_release(model);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { CROWD = 100 };

/* One body in a hundred colliders at once, on all sides: more pairs than were foreseen. */
static void fill_crowd(pl_world *world, pl_model *model)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_SPHERE);
    pl_collider collider;
    def.size[0] = 0.05; /* it is touched by them, and not in them */
    for (int i = 0; i < CROWD; i++) {
        double y = 2 * (i + 0.5) / CROWD - 1, turn = 2.399963 * i;
        def.position[0] = 0.5 * sqrt(1 - y * y) * cos(turn);
        def.position[1] = 0.5 * y;
        def.position[2] = 0.5 * sqrt(1 - y * y) * sin(turn);
        assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
    }
    ball(world, model, 0, 0, 0, 0, 0.5);
}

static void room_is_made_or_pairs_are_lost(void **state)
{
    (void)state;
    pl_model *model = ball_model(0.5);
    for (int starved = 0; starved < 2; starved++) {
        world_heap heap;
        world_heap_init(&heap);
        pl_world *world;
        pl_world_def def = pl_default_world_def();
        def.allocator = &heap.allocator;
        def.gravity[1] = -9.81;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        fill_crowd(world, model);
        /* Pairs of contact find their room in the first step. */
        heap.fail_from = starved ? heap.calls : -1;
        world_step(world, 1);
        int count;
        pl_world_contacts(world, &count);
        assert_true(starved ? count <= 2 * CROWD : count > 64);
        heap.fail_from = -1;
        world_step(world, 2);
        uint64_t before = pl_world_allocations(world);
        world_step(world, 5);
        assert_int_equal(pl_world_allocations(world), before);
        pl_world_destroy(world);
        assert_int_equal(heap.blocks, 0);
    }
    pl_model_release(model);
}

/* More pairs than there is room for, found on other threads than the host's. */
static void room_is_made_by_the_host_s_thread(void **state)
{
    (void)state;
    enum { BALLS = 40 };
    pl_model *model = ball_model(0.5);
    pl_task_system threads = world_thread_tasks();
    world_heap heap;
    world_heap_init(&heap);
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.allocator = &heap.allocator;
    def.tasks = &threads;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    for (int i = 0; i < BALLS; i++)
        ball(world, model, 0.001 * i, 0, 0, 0, 0.5);
    world_step(world, 1);
    int count;
    pl_world_contacts(world, &count);
    assert_int_equal(count, BALLS * (BALLS - 1) / 2);
    pl_world_destroy(world);
    assert_int_equal(heap.blocks, 0);
    assert_int_equal(heap.astray, 0);
    pl_model_release(model);
}

static void damaged_events_are_refused(void **state)
{
    (void)state;
    pl_model *model = ball_model(0.5);
    pl_world *world = world_with(1, true, true, 1), *other = world_with(1, true, true, 1);
    fill_pile(world, model);
    world_step(world, 20);
    size_t size;
    unsigned char *bytes = world_snapshot(world, &size);
    pl_rng rng = pl_rng_make(7);
    for (int i = 0; i < world_scaled(400); i++) {
        /* The events stand at the end, before the hash: bytes there are damaged, and the hash
           cannot know. */
        size_t at = size - 8 - (size_t)(pl_random_double(&rng) * 4000);
        unsigned char kept = bytes[at];
        bytes[at] ^= (unsigned char)(1 + (int)(pl_random_double(&rng) * 254));
        assert_int_equal(pl_world_restore(other, bytes, size, &model, 1, NULL), PL_ERROR_FORMAT);
        bytes[at] = kept;
    }
    free(bytes);
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulses_are_the_momentum_exchanged),
        cmocka_unit_test(weight_is_told_and_sleep_keeps_it),
        cmocka_unit_test(friction_is_told),
        cmocka_unit_test(those_that_leave_are_not_told_of),
        cmocka_unit_test(lists_are_in_order_and_the_same_everywhere),
        cmocka_unit_test(room_is_made_or_pairs_are_lost),
        cmocka_unit_test(room_is_made_by_the_host_s_thread),
        cmocka_unit_test(damaged_events_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
