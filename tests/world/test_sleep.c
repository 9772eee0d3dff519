/* Sleep as the host sees it: asked for, ended, and brought about by hand; who wakes whom; what is
   told of sleepers; the same bits on any number of threads and after a snapshot; nothing is
   allocated. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/collider_kit.h"

static pl_collider add_floor(pl_world *world)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    return collider_add(world, &def);
}

/* Stands on what is at `bottom`; a box of half a metre. */
static pl_body add_box(pl_world *world, pl_model *model, double x, double bottom)
{
    pl_body_def def = collider_body_def(model, 1e5, x, bottom + 0.375, 0);
    def.material.damping = 3;
    return collider_add_body(world, &def);
}

static void centre_of(const pl_world *world, pl_body body, double out[3])
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    memcpy(out, state.centre, sizeof state.centre);
}

static double height_of(const pl_world *world, pl_body body)
{
    double centre[3];
    centre_of(world, body, centre);
    return centre[1];
}

static int awake_in_step(pl_world *world)
{
    pl_report report;
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    return report.awake;
}

static void throw_at(pl_world *world, pl_body body, double x, double y, double z)
{
    double velocity[3] = {x, y, z}, spin[3] = {0, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, body, velocity, spin), PL_OK);
}

/* ---- Asked for and ended --------------------------------------------------------------------- */

static void sleep_is_told_counted_and_ended(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    add_floor(world);
    pl_body body = add_box(world, model, 0, 0.02);
    assert_false(pl_body_is_asleep(world, body));
    assert_int_equal(awake_in_step(world), 1);
    world_step(world, 120);
    assert_true(pl_body_is_asleep(world, body));
    assert_int_equal(awake_in_step(world), 0);
    double before[3], after[3];
    centre_of(world, body, before);
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    assert_false(pl_body_is_asleep(world, body));
    for (int i = 0; i < 14; i++) /* less than half a second */
        assert_int_equal(awake_in_step(world), 1);
    world_step(world, 30);
    assert_true(pl_body_is_asleep(world, body));
    centre_of(world, body, after);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(after[k] - before[k]) < 1e-3);
    pl_world_destroy(world);
    pl_model_release(model);
}

typedef struct inner {
    pl_world *world;
    pl_body body;
    int refused;
} inner;

static void call_inside(void *user, const pl_field_query *query)
{
    inner *in = user;
    (void)query;
    in->refused += pl_body_wake(in->world, in->body) == PL_ERROR_STATE;
    in->refused += pl_body_sleep(in->world, in->body) == PL_ERROR_STATE;
}

static void bad_calls_change_nothing(void **state)
{
    (void)state;
    world_hush();
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    pl_world *world = collider_world(1, 3, 0);
    pl_body body = add_box(world, model, 0, 0), gone = add_box(world, model, 9, 0), none = {0, 0};
    assert_int_equal(pl_body_destroy(world, gone), PL_OK);
    uint64_t hash = pl_world_hash(world);
    pl_body stale[] = {gone, none, {77, 1}, {UINT32_MAX, UINT32_MAX}};
    for (int i = 0; i < 4; i++) {
        assert_false(pl_body_is_asleep(world, stale[i]));
        assert_int_equal(pl_body_wake(world, stale[i]), PL_ERROR_HANDLE);
        assert_int_equal(pl_body_sleep(world, stale[i]), PL_ERROR_HANDLE);
    }
    assert_false(pl_body_is_asleep(NULL, body));
    assert_int_equal(pl_body_wake(NULL, body), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_body_sleep(NULL, body), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_hash(world), hash);
    inner in = {world, body, 0};
    assert_int_equal(pl_world_set_field(world, call_inside, &in), PL_OK);
    world_step(world, 1);
    assert_int_equal(in.refused, 2);
    /* Asleep already; awake already. */
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    hash = pl_world_hash(world);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    assert_int_equal(pl_world_hash(world), hash);
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    assert_false(pl_body_is_asleep(world, body));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- By hand --------------------------------------------------------------------------------- */

/* It stays in the air to the last bit, until something hits it; then it falls. */
static void what_sleeps_in_the_air_stays_there(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_body body = add_box(world, model, 0, 5);
    double push[3] = {1000, 0, 0}, before[3], after[3];
    throw_at(world, body, 3, 0, 0);
    world_step(world, 3);
    assert_int_equal(pl_body_apply_force(world, body, -1, push), PL_OK);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    centre_of(world, body, before);
    for (int i = 0; i < 60; i++)
        assert_int_equal(awake_in_step(world), 0);
    centre_of(world, body, after);
    assert_memory_equal(before, after, sizeof before);
    pl_body ball = add_box(world, model, before[0] - 3, before[1] - 0.375);
    throw_at(world, ball, 20, 0, 0);
    int frame = 0;
    while (pl_body_is_asleep(world, body) && frame++ < 20)
        world_step(world, 1);
    assert_in_range(frame, 2, 10);
    world_step(world, 20);
    centre_of(world, body, after);
    assert_true(after[0] > before[0] + 0.5 && after[1] < before[1] - 0.5);
    /* Woken by hand it starts from rest: neither velocity nor force has waited for it. */
    assert_int_equal(pl_body_apply_force(world, body, 3, push), PL_OK);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    centre_of(world, body, before);
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    world_step(world, 10);
    centre_of(world, body, after);
    assert_true(after[1] < before[1] - 0.3 && fabs(after[0] - before[0]) < 1e-3);
    pl_world_destroy(world);
    pl_model_release(model);
}

enum { PILE = 5 };

/* Two piles put to sleep before any step, one from below and one from above: each wakes as one. */
static void piles_sleep_from_the_beginning(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    for (int what = 0; what < 5; what++) {
        pl_world *world = collider_world(4, 3, 9.81);
        pl_body pile[2][PILE];
        add_floor(world);
        for (int i = 0; i < 2 * PILE; i++)
            pile[i / PILE][i % PILE] = add_box(world, model, i / PILE * 10, 0.75 * (i % PILE));
        for (int i = 0; i < PILE; i++) {
            assert_int_equal(pl_body_sleep(world, pile[0][i]), PL_OK);
            assert_int_equal(pl_body_sleep(world, pile[1][PILE - 1 - i]), PL_OK);
        }
        uint64_t allocations = 0;
        for (int i = 0; i < 30; i++) {
            assert_int_equal(awake_in_step(world), 0);
            if (i == 0)
                allocations = pl_world_allocations(world);
        }
        assert_int_equal(pl_world_allocations(world), allocations);
        double high[3] = {30, 3, 0}, straight[4] = {0, 0, 0, 1};
        pl_body lowest = pile[what % 2][0];
        switch (what / 2) {
        case 0:
            assert_int_equal(pl_body_wake(world, lowest), PL_OK);
            break;
        case 1:
            assert_int_equal(pl_body_teleport(world, lowest, high, straight), PL_OK);
            break;
        default:
            assert_int_equal(pl_body_destroy(world, lowest), PL_OK);
        }
        for (int i = 1; i < PILE; i++) {
            assert_false(pl_body_is_asleep(world, pile[what % 2][i]));
            assert_true(pl_body_is_asleep(world, pile[1 - what % 2][i]));
        }
        world_step(world, 30);
        double top = height_of(world, pile[what % 2][PILE - 1]);
        if (what / 2 == 0)
            assert_true(fabs(top - 0.75 * PILE) < 0.5);
        else
            assert_true(top < 0.75 * PILE - 0.8);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* The last of a row joins two that slept apart. */
static void gaps_between_sleepers_are_closed(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_body row[5];
    add_floor(world);
    for (int i = 0; i < 5; i++)
        row[i] = add_box(world, model, 0.75 * i, 0);
    static const int order[] = {4, 0, 2, 1, 3};
    for (int i = 0; i < 5; i++)
        assert_int_equal(pl_body_sleep(world, row[order[i]]), PL_OK);
    assert_int_equal(pl_body_wake(world, row[0]), PL_OK);
    for (int i = 0; i < 5; i++)
        assert_false(pl_body_is_asleep(world, row[i]));
    /* Who would not touch does not belong together. */
    assert_int_equal(pl_body_set_filter(world, row[1], 2, 2), PL_OK);
    assert_int_equal(pl_body_sleep(world, row[0]), PL_OK);
    assert_int_equal(pl_body_sleep(world, row[1]), PL_OK);
    assert_int_equal(pl_body_wake(world, row[0]), PL_OK);
    assert_true(pl_body_is_asleep(world, row[1]));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* One that others lie on is pressed awake; those do not fall asleep with it. */
static void weight_wakes(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    add_floor(world);
    pl_body lower = add_box(world, model, 0, 0), upper = add_box(world, model, 0, 0.75);
    world_step(world, 5);
    assert_int_equal(pl_body_sleep(world, lower), PL_OK);
    assert_false(pl_body_is_asleep(world, upper));
    int frame = 0;
    while (pl_body_is_asleep(world, lower) && frame++ < 20)
        world_step(world, 1);
    assert_in_range(frame, 1, 5);
    assert_true(height_of(world, upper) > 1);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Driven particles stand where they are, and are driven on by the next call. */
static void driven_ones_stop(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 0);
    pl_body body = add_box(world, model, 0, 0);
    int32_t fixed[1] = {13};
    double to[3] = {2, 0.375, 0}, before[3], after[3];
    assert_int_equal(pl_body_set_fixed(world, body, fixed, 1, NULL), PL_OK);
    assert_int_equal(pl_body_drive(world, body, 13, to, NULL), PL_OK);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    centre_of(world, body, before);
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    world_step(world, 5);
    centre_of(world, body, after);
    assert_true(fabs(after[0] - before[0]) < 1e-6);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    assert_int_equal(pl_body_drive(world, body, 13, to, NULL), PL_OK);
    assert_false(pl_body_is_asleep(world, body));
    world_step(world, 60);
    centre_of(world, body, after);
    assert_true(fabs(after[0] - 2) < 0.05);
    pl_world_destroy(world);
    pl_model_release(model);
}

static pl_attachment attach(pl_world *world, pl_body body, const pl_body *other)
{
    pl_attachment attachment;
    pl_attachment_def def =
        pl_default_attachment_def(other ? PL_ATTACH_TO_BODY : PL_ATTACH_TO_PLACE);
    def.body = body;
    assert_int_equal(pl_pin_at_particle(world, body, 16, &def.point), PL_OK);
    if (other) {
        def.other = *other;
        assert_int_equal(pl_pin_at_particle(world, *other, 10, &def.other_point), PL_OK);
    } else {
        assert_int_equal(pl_attachment_aim(world, &def), PL_OK);
    }
    assert_int_equal(pl_attachment_create(world, &def, &attachment, NULL), PL_OK);
    return attachment;
}

static void what_is_attached_wakes_together(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_body upper = add_box(world, model, 0, 5), lower = add_box(world, model, 0, 4.2);
    pl_attachment top = attach(world, upper, NULL);
    attach(world, lower, &upper);
    world_step(world, 30);
    pl_attachment_state before, after;
    assert_int_equal(pl_attachment_get_state(world, top, &before), PL_OK);
    assert_true(before.force[1] > 0);
    /* One alone is drawn awake again. */
    assert_int_equal(pl_body_sleep(world, upper), PL_OK);
    world_step(world, 1);
    assert_false(pl_body_is_asleep(world, upper));
    assert_int_equal(pl_attachment_get_state(world, top, &before), PL_OK);
    assert_int_equal(pl_body_sleep(world, upper), PL_OK);
    assert_int_equal(pl_body_sleep(world, lower), PL_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(awake_in_step(world), 0);
    assert_int_equal(pl_attachment_get_state(world, top, &after), PL_OK);
    assert_memory_equal(before.force, after.force, sizeof before.force);
    assert_int_equal(pl_body_wake(world, lower), PL_OK);
    assert_false(pl_body_is_asleep(world, upper));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* `sleeping` says who falls asleep alone; the field does not reach those who sleep. */
static void count_calls(void *user, const pl_field_query *query)
{
    *(int *)user += 1;
    for (int i = 0; i < query->count; i++)
        query->forces[3 * i] = 100;
}

static void sleep_by_hand_needs_no_leave(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world_def def = pl_default_world_def();
    int calls = 0;
    def.sleeping = false;
    def.field = count_calls;
    def.field_user = &calls;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    add_floor(world);
    pl_body body = add_box(world, model, 0, 0);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    world_step(world, 20);
    assert_int_equal(calls, 0);
    assert_true(pl_body_is_asleep(world, body));
    assert_int_equal(pl_body_wake(world, body), PL_OK);
    world_step(world, 5);
    assert_int_equal(calls, 5);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- What is told of sleepers ---------------------------------------------------------------- */

static void sleepers_go_on_without_impulses(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_collider ground = add_floor(world);
    pl_body lower = add_box(world, model, 0, 0), upper = add_box(world, model, 0, 0.75);
    pl_collider_state s;
    int count;
    world_step(world, 10);
    assert_int_equal(pl_collider_get_state(world, ground, &s), PL_OK);
    assert_true(s.touches > 0 && s.impulse[1] < 0);
    pl_world_contacts(world, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pl_body_sleep(world, lower), PL_OK);
    assert_int_equal(pl_body_sleep(world, upper), PL_OK);
    for (int frame = 0; frame < 3; frame++) {
        world_step(world, 1);
        const pl_contact_event *events = pl_world_contacts(world, &count);
        assert_int_equal(count, 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(events[i].phase, PL_CONTACT_GOES_ON);
            assert_true(events[i].impulse == 0 && events[i].friction_impulse == 0);
            assert_true(events[i].touches > 0);
        }
        assert_int_equal(pl_collider_get_state(world, ground, &s), PL_OK);
        assert_true(s.touches == 0 && s.impulse[1] == 0);
    }
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A host has to be told the weight on it: what lies on it does not sleep by itself. */
static void nobody_falls_asleep_on_a_host(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    static const double still[3] = {0, 0, 0}, straight[4] = {0, 0, 0, 1};
    def.mass = 1e6;
    def.size[0] = def.size[2] = 5;
    def.position[1] = -0.5;
    pl_collider box = collider_add(world, &def);
    pl_body body = add_box(world, model, 0, 0);
    for (int i = 0; i < 120; i++) {
        assert_int_equal(pl_collider_place(world, box, def.position, straight), PL_OK);
        assert_int_equal(pl_collider_set_velocity(world, box, still, still), PL_OK);
        assert_int_equal(awake_in_step(world), 1);
    }
    assert_true(height_of(world, body) > 0.3);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Every frame the same place, and a host that stands still: nobody is woken. */
static void calls_that_change_nothing_do_not_wake(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    static const double axis[3] = {0, 1, 0}, still[3] = {0, 0, 0};
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.size[0] = def.size[2] = 5;
    def.position[1] = -0.5;
    collider_turn(def.rotation, axis, 0.7);
    for (int k = 0; k < 4; k++)
        def.rotation[k] *= 1.7; /* of any length */
    pl_collider ground = collider_add(world, &def);
    pl_collider_def wall = pl_default_collider_def(PL_COLLIDER_BOX);
    wall.mass = 50;
    wall.position[0] = 0.376 + wall.size[0];
    wall.position[1] = 0.5;
    pl_collider host = collider_add(world, &wall);
    pl_body body = add_box(world, model, 0, 0);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    for (int i = 0; i < 40; i++) {
        pl_collider_state s;
        assert_int_equal(pl_collider_place(world, ground, def.position, def.rotation), PL_OK);
        assert_int_equal(pl_collider_get_state(world, ground, &s), PL_OK);
        assert_int_equal(pl_collider_place(world, ground, s.position, s.rotation), PL_OK);
        assert_int_equal(pl_collider_place(world, host, wall.position, wall.rotation), PL_OK);
        assert_int_equal(pl_collider_set_velocity(world, host, still, still), PL_OK);
        assert_int_equal(pl_collider_move(world, ground, s.position, s.rotation), PL_OK);
        assert_int_equal(awake_in_step(world), 0);
    }
    /* What was to move and is put where it is does not move. */
    double away[3] = {0, -3, 0};
    assert_int_equal(pl_collider_move(world, ground, away, def.rotation), PL_OK);
    assert_int_equal(pl_collider_place(world, ground, def.position, def.rotation), PL_OK);
    assert_int_equal(awake_in_step(world), 0);
    assert_int_equal(pl_collider_place(world, ground, away, def.rotation), PL_OK);
    assert_int_equal(awake_in_step(world), 1);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- The same bits --------------------------------------------------------------------------- */

enum { CROWD = 16 };

typedef struct crowd {
    pl_world *world;
    pl_model *model;
    pl_body bodies[CROWD];
} crowd;

static void open_crowd(crowd *c, int threads)
{
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &c->world, NULL), PL_OK);
    c->model = collider_lattice(3, 3, 3, 0.25);
    add_floor(c->world);
    for (int i = 0; i < CROWD; i++)
        c->bodies[i] = add_box(c->world, c->model, 0.8 * (i % 4) + 0.1 * (double)(i / 4),
                               0.8 * (double)(i / 4));
    attach(c->world, c->bodies[14], c->bodies + 15);
}

/* What happens depends on the frame alone. */
static void play(crowd *c, int first, int end)
{
    for (int f = first; f < end; f++) {
        pl_body body = c->bodies[f * 7 % CROWD];
        if (f % 3 == 0)
            assert_int_equal(pl_body_sleep(c->world, body), PL_OK);
        if (f % 20 == 5)
            for (int i = 0; i < CROWD; i++)
                assert_int_equal(pl_body_sleep(c->world, c->bodies[i]), PL_OK);
        if (f % 20 == 9)
            assert_int_equal(pl_body_wake(c->world, body), PL_OK);
        if (f % 20 == 12)
            throw_at(c->world, body, 3, 2, -1);
        world_step(c->world, 1);
    }
}

static void close_crowd(crowd *c)
{
    pl_world_destroy(c->world);
    pl_model_release(c->model);
}

static void threads_and_snapshots_agree(void **state)
{
    (void)state;
    int frames = world_is_slow_build() ? 30 : 100;
    crowd one, other;
    open_crowd(&one, 1);
    play(&one, 0, frames);
    uint64_t hash = pl_world_hash(one.world);
    for (int threads = 2; threads <= 4; threads++) {
        open_crowd(&other, threads);
        play(&other, 0, frames);
        assert_int_equal(pl_world_hash(other.world), hash);
        close_crowd(&other);
    }
    close_crowd(&one);
    for (int cut = 5; cut < 12; cut++) { /* with all asleep, some, and none */
        size_t size;
        open_crowd(&one, 2);
        open_crowd(&other, 1);
        play(&one, 0, cut);
        if (cut == 8)
            assert_int_equal(pl_body_sleep(one.world, one.bodies[3]), PL_OK);
        void *bytes = world_snapshot(one.world, &size);
        assert_int_equal(pl_world_restore(other.world, bytes, size, &other.model, 1, NULL), PL_OK);
        free(bytes);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(other.world));
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(pl_body_is_asleep(one.world, one.bodies[i]),
                             pl_body_is_asleep(other.world, one.bodies[i]));
        play(&one, cut, cut + 20);
        memcpy(other.bodies, one.bodies, sizeof one.bodies);
        play(&other, cut, cut + 20);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(other.world));
        close_crowd(&one);
        close_crowd(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_is_told_counted_and_ended),
        cmocka_unit_test(bad_calls_change_nothing),
        cmocka_unit_test(what_sleeps_in_the_air_stays_there),
        cmocka_unit_test(piles_sleep_from_the_beginning),
        cmocka_unit_test(gaps_between_sleepers_are_closed),
        cmocka_unit_test(weight_wakes),
        cmocka_unit_test(driven_ones_stop),
        cmocka_unit_test(what_is_attached_wakes_together),
        cmocka_unit_test(sleep_by_hand_needs_no_leave),
        cmocka_unit_test(sleepers_go_on_without_impulses),
        cmocka_unit_test(nobody_falls_asleep_on_a_host),
        cmocka_unit_test(calls_that_change_nothing_do_not_wake),
        cmocka_unit_test(threads_and_snapshots_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
