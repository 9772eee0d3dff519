/* Attachments: they hold, they exchange momentum with what they hold to, they break at their force,
   sleep and wake as one, and come back from snapshots to the last bit. Label: serial. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/world_kit.h"

static pl_world *world_with(int substeps, double gravity, bool sleeping, int threads)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = substeps;
    def.gravity[1] = -gravity;
    def.sleeping = sleeping;
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body body_at(pl_world *world, pl_model *model, double x, double y, double z,
                       double damping)
{
    pl_body body;
    pl_body_def def = pl_default_body_def(model);
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    def.material.damping = damping;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    return body;
}

/* A vertex or a particle of a body, to where it is now. */
static pl_attachment attach(pl_world *world, pl_body body, int vertex, int particle,
                            double break_force)
{
    pl_attachment attachment;
    pl_attachment_def def = pl_default_attachment_def(PL_ATTACH_TO_PLACE);
    def.body = body;
    def.break_force = break_force;
    if (vertex >= 0)
        assert_int_equal(pl_pin_at_vertex(world, body, vertex, &def.point), PL_OK);
    else
        assert_int_equal(pl_pin_at_particle(world, body, particle, &def.point), PL_OK);
    assert_int_equal(pl_attachment_aim(world, &def), PL_OK);
    assert_int_equal(pl_attachment_create(world, &def, &attachment, NULL), PL_OK);
    return attachment;
}

static pl_attachment join(pl_world *world, pl_body a, int i, pl_body b, int j)
{
    pl_attachment attachment;
    pl_attachment_def def = pl_default_attachment_def(PL_ATTACH_TO_BODY);
    def.body = a, def.other = b;
    assert_int_equal(pl_pin_at_particle(world, a, i, &def.point), PL_OK);
    assert_int_equal(pl_pin_at_particle(world, b, j, &def.other_point), PL_OK);
    assert_int_equal(pl_attachment_create(world, &def, &attachment, NULL), PL_OK);
    return attachment;
}

static double gap_of(const pl_world *world, pl_attachment attachment)
{
    pl_attachment_state s;
    assert_int_equal(pl_attachment_get_state(world, attachment, &s), PL_OK);
    return sqrt(s.gap[0] * s.gap[0] + s.gap[1] * s.gap[1] + s.gap[2] * s.gap[2]);
}

static double mass_of(const pl_world *world, pl_body body)
{
    pl_body_state s;
    assert_int_equal(pl_body_get_state(world, body, &s), PL_OK);
    return s.mass;
}

/* ---- To a place ------------------------------------------------------------------------------ */

/* What hangs weighs what it weighs, hangs where it was hung, at any step. */
static void a_hanging_body_pulls_with_its_weight(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 4, 3, 3);
    for (int substeps = 1; substeps <= (check_is_slow_build() ? 2 : 8); substeps *= 2)
        for (int vertex = 0; vertex < 2; vertex++) {
            pl_world *world = world_with(substeps, 9.81, false, 1);
            pl_body body = body_at(world, model, 0, 0, 0, 4);
            pl_attachment a = attach(world, body, vertex ? 0 : -1, 0, 0);
            double most = 0, sum[3] = {0, 0, 0};
            for (int i = 0; i < 240; i++) {
                pl_attachment_state s;
                world_step(world, 1);
                most = fmax(most, gap_of(world, a));
                pl_attachment_get_state(world, a, &s);
                assert_false(s.broken);
                for (int k = 0; k < 3 && i >= 180; k++)
                    sum[k] += s.force[k] / 60;
            }
            double weight = 9.81 * mass_of(world, body);
            assert_true(world_is_finite(world, body));
            assert_true(most < 0.01);
            assert_true(fabs(sum[1] - weight) < 0.05 * weight);
            assert_true(fabs(sum[0]) < 0.1 * weight && fabs(sum[2]) < 0.1 * weight);
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

static void a_target_is_followed(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    pl_world *world = world_with(4, 9.81, true, 1);
    pl_body body = body_at(world, model, 0, 0, 0, 1);
    pl_attachment a = attach(world, body, 10, -1, 0);
    pl_pin_def point = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_vertex(world, body, 10, &point), PL_OK);
    double target[3];
    for (int i = 0; i < 120; i++) {
        for (int k = 0; k < 3; k++)
            target[k] = point.target[k] + (k == 0 ? 0.5 * sin(0.1 * i) : k == 1 ? 0.02 * i : 0);
        assert_int_equal(pl_attachment_set_target(world, a, target), PL_OK);
        world_step(world, 1);
        assert_true(gap_of(world, a) < 0.02);
        pl_pin_def now = pl_default_pin_def(PL_PIN_POSITION);
        pl_pin_at_vertex(world, body, 10, &now);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(now.target[k] - target[k]) < 0.02);
    }
    assert_true(world_is_finite(world, body));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Points far apart come together, and nothing is thrown about. */
static void gaps_close_without_speed(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(2, 0, false, 1);
    pl_body a = body_at(world, model, 0, 0, 0, 2), b = body_at(world, model, 3, 1, 0, 2);
    pl_attachment held = join(world, a, 13, b, 13);
    double fastest = 0;
    for (int i = 0; i < 600; i++) {
        double u[3 * 27];
        world_step(world, 1);
        world_read(world, a, PL_VELOCITIES, u);
        for (int k = 0; k < 3 * 27; k++)
            fastest = fmax(fastest, fabs(u[k]));
    }
    assert_true(fastest < 60);
    assert_true(gap_of(world, held) < 1); /* the two bodies stand in each other's way */
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- To a body ------------------------------------------------------------------------------- */

static void momentum_of(const pl_world *world, const pl_body *bodies, int count, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < count; i++) {
        pl_body_state s;
        pl_body_get_state(world, bodies[i], &s);
        for (int k = 0; k < 3; k++)
            out[k] += s.momentum[k];
    }
}

static void momentum_is_exchanged_never_made(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CHAIN, 8, 0, 0);
    pl_model_info info = pl_model_get_info(model);
    double pitch = info.upper[0] - info.lower[0] + 0.01;
    for (int substeps = 1; substeps <= 6; substeps += 5) {
        enum { LINKS = 5 };
        pl_world *world = world_with(substeps, 0, false, 1);
        pl_body links[LINKS];
        pl_attachment joints[LINKS - 1];
        double start[3], now[3], push[3] = {0, 3, 1}, none[3] = {0, 0, 0}, scale;
        for (int i = 0; i < LINKS; i++)
            links[i] = body_at(world, model, pitch * i, 0, 0, 0);
        for (int i = 0; i + 1 < LINKS; i++)
            joints[i] = join(world, links[i], 7, links[i + 1], 0);
        assert_int_equal(pl_body_set_velocity(world, links[0], push, none), PL_OK);
        momentum_of(world, links, LINKS, start);
        scale = sqrt(start[0] * start[0] + start[1] * start[1] + start[2] * start[2]);
        for (int i = 0; i < 200; i++) {
            world_step(world, 1);
            momentum_of(world, links, LINKS, now);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(now[k] - start[k]) < 2e-5 * scale);
        }
        double speed = 0;
        pl_body_state last;
        pl_body_get_state(world, links[LINKS - 1], &last);
        for (int k = 0; k < 3; k++)
            speed += last.velocity[k] * last.velocity[k];
        assert_true(speed > 0.01); /* the last one was pulled along */
        for (int i = 0; i + 1 < LINKS; i++)
            assert_true(gap_of(world, joints[i]) < 0.02);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- To a collider --------------------------------------------------------------------------- */

static pl_collider collider_at(pl_world *world, double mass, double x, double y)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_SPHERE);
    def.size[0] = 0.1;
    def.position[0] = x, def.position[1] = y;
    def.mass = mass;
    def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.4 * mass * 0.01;
    def.mask = 0; /* touches nothing: only holds */
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
    return collider;
}

static pl_attachment attach_to_collider(pl_world *world, pl_body body, int particle,
                                        pl_collider collider)
{
    pl_attachment attachment;
    pl_attachment_def def = pl_default_attachment_def(PL_ATTACH_TO_COLLIDER);
    def.body = body, def.collider = collider;
    assert_int_equal(pl_pin_at_particle(world, body, particle, &def.point), PL_OK);
    assert_int_equal(pl_attachment_aim(world, &def), PL_OK);
    assert_int_equal(pl_attachment_create(world, &def, &attachment, NULL), PL_OK);
    return attachment;
}

static void a_moving_collider_carries_and_feels(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(4, 9.81, true, 1);
    pl_body body = body_at(world, model, 0, 0, 0, 4);
    pl_collider hand = collider_at(world, 0, 0, 1);
    pl_attachment a = attach_to_collider(world, body, 0, hand);
    double at[3] = {0, 1, 0}, turn[4] = {0, 0, 0, 1}, sum = 0;
    world_step(world, 100);
    int steps = 0;
    for (pl_report report = {.iterations = 1}; report.iterations; steps++) {
        pl_collider_state s;
        assert_int_equal(pl_world_step(world, &report), PL_OK);
        pl_collider_get_state(world, hand, &s);
        sum += s.impulse[1];
    }
    double weight = 9.81 * mass_of(world, body) * (steps - 1) / 60;
    assert_in_range(steps, 10, 2000); /* then it sleeps, and is woken by what comes next */
    assert_true(fabs(sum + weight) < 0.02 * weight);
    for (int i = 0; i < 60; i++) {
        at[0] += 0.02;
        turn[2] = sin(0.01 * (i + 1)), turn[3] = cos(0.01 * (i + 1));
        assert_int_equal(pl_collider_move(world, hand, at, turn), PL_OK);
        world_step(world, 1);
        assert_true(gap_of(world, a) < 0.02);
    }
    assert_int_equal(pl_collider_destroy(world, hand), PL_OK);
    assert_false(pl_attachment_is_valid(world, a));
    world_step(world, 1);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A host's rigid body and a soft one, tied together: what one loses the other receives, exactly. */
static void a_rigid_body_of_the_host_exchanges_momentum(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    for (int substeps = 1; substeps <= 6; substeps += 5) {
        pl_world *world = world_with(substeps, 0, false, 1);
        pl_body body = body_at(world, model, 0, 0, 0, 0);
        double mass = 0.5 * mass_of(world, body), velocity[3] = {0, 0, 0}, spin[3] = {0, 0, 0};
        pl_collider rigid = collider_at(world, mass, 1.5, 0.2);
        pl_attachment a = attach_to_collider(world, body, 26, rigid);
        double push[3] = {-2, 1, 0}, none[3] = {0, 0, 0}, start[3], now[3], scale = 0;
        assert_int_equal(pl_body_set_velocity(world, body, push, none), PL_OK);
        momentum_of(world, &body, 1, start);
        for (int k = 0; k < 3; k++)
            scale += fabs(start[k]);
        for (int i = 0; i < 200; i++) {
            pl_collider_state s;
            world_step(world, 1);
            pl_collider_get_state(world, rigid, &s);
            momentum_of(world, &body, 1, now);
            for (int k = 0; k < 3; k++) {
                velocity[k] += s.impulse[k] / mass;
                spin[k] += s.torque[k] / (0.4 * mass * 0.01);
                assert_true(fabs(now[k] + mass * velocity[k] - start[k]) < 2e-5 * scale);
            }
            assert_int_equal(pl_collider_set_velocity(world, rigid, velocity, spin), PL_OK);
            assert_true(gap_of(world, a) < 0.1);
        }
        assert_true(velocity[0] < -0.1);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Breaking -------------------------------------------------------------------------------- */

static void it_breaks_at_its_force(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    for (int i = 0; i < 2; i++) {
        pl_world *world = world_with(4, 9.81, true, 1);
        pl_body body = body_at(world, model, 0, 0, 0, 4);
        double weight = 9.81 * mass_of(world, body);
        pl_attachment a = attach(world, body, -1, 0, i ? 4 * weight : 0.8 * weight);
        world_step(world, 240);
        pl_attachment_state s;
        pl_body_state b;
        pl_attachment_get_state(world, a, &s);
        pl_body_get_state(world, body, &b);
        assert_int_equal(s.broken, i == 0);
        if (i == 0) {
            assert_true(s.force[1] > 0.8 * weight ||
                        fabs(s.force[0]) + fabs(s.force[2]) > 0.4 * weight);
            assert_true(b.centre[1] < -2);
        } else {
            assert_true(b.centre[1] > -2);
        }
        assert_true(pl_attachment_is_valid(world, a));
        assert_int_equal(pl_attachment_destroy(world, a), PL_OK);
        assert_false(pl_attachment_is_valid(world, a));
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

static void what_hangs_together_sleeps_together(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(2, 9.81, true, 1);
    pl_body upper = body_at(world, model, 0, 0, 0, 2), lower = body_at(world, model, 0, -2, 0, 2);
    pl_attachment top, bond;
    pl_model_info info = pl_model_get_info(model);
    double high[3] = {0, info.upper[1], 0}, low[3] = {0, info.lower[1], 0};
    pl_attachment_def def = pl_default_attachment_def(PL_ATTACH_TO_PLACE);
    def.body = upper;
    assert_int_equal(pl_pin_at_point(world, upper, high, &def.point), PL_OK);
    assert_int_equal(pl_attachment_aim(world, &def), PL_OK);
    assert_int_equal(pl_attachment_create(world, &def, &top, NULL), PL_OK);
    def = pl_default_attachment_def(PL_ATTACH_TO_BODY);
    def.body = lower, def.other = upper;
    high[1] = 2 + low[1]; /* above the lower one, where the upper one ends */
    assert_int_equal(pl_pin_at_point(world, lower, high, &def.point), PL_OK);
    assert_int_equal(pl_pin_at_point(world, upper, low, &def.other_point), PL_OK);
    assert_int_equal(pl_attachment_create(world, &def, &bond, NULL), PL_OK);
    assert_true(gap_of(world, bond) < 1e-5);
    pl_report report = {0};
    int frame = 0;
    for (; frame < 3000; frame++) {
        assert_int_equal(pl_world_step(world, &report), PL_OK);
        if (report.iterations == 0)
            break;
    }
    assert_true(frame < 3000);
    pl_attachment_state s;
    pl_attachment_get_state(world, top, &s);
    assert_true(s.force[1] > 0); /* the load they fell asleep under */
    double target[3] = {0.2, info.upper[1], 0};
    int count;
    pl_world_contacts(world, &count);
    assert_int_equal(count, 0); /* they do not touch: what holds them is the attachment */
    assert_int_equal(pl_attachment_set_target(world, top, target), PL_OK);
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_true(report.iterations > 0);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Snapshots, threads, memory -------------------------------------------------------------- */

typedef struct net {
    pl_world *world;
    pl_body bodies[6];
    pl_attachment attachments[8];
    pl_collider collider;
} net;

static void make_net(net *n, pl_model *model, int threads)
{
    n->world = world_with(2, 9.81, true, threads);
    for (int i = 0; i < 6; i++)
        n->bodies[i] = body_at(n->world, model, 1.2 * (i % 3), -1.2 * (double)(i / 3), 0, 1);
    n->collider = collider_at(n->world, 5, 4, 0);
    n->attachments[0] = attach(n->world, n->bodies[0], -1, 0, 0);
    n->attachments[1] = attach(n->world, n->bodies[2], 3, -1, 800);
    for (int i = 0; i < 5; i++)
        n->attachments[2 + i] = join(n->world, n->bodies[i], 26, n->bodies[i + 1], 0);
    n->attachments[7] = attach_to_collider(n->world, n->bodies[5], 13, n->collider);
}

static void drive_net(net *n, int frame)
{
    double target[3] = {0.3 * sin(0.2 * frame), 0.5, 0};
    assert_int_equal(pl_attachment_set_target(n->world, n->attachments[0], target), PL_OK);
    if (frame == 30)
        assert_int_equal(pl_attachment_destroy(n->world, n->attachments[3]), PL_OK);
    if (frame == 40)
        n->attachments[3] = join(n->world, n->bodies[1], 20, n->bodies[4], 5);
    if (frame == 50)
        assert_int_equal(pl_body_destroy(n->world, n->bodies[3]), PL_OK);
    world_step(n->world, 1);
}

static void runs_are_the_same_to_the_last_bit(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    net one, three, again;
    make_net(&one, model, 1);
    make_net(&three, model, 3);
    make_net(&again, model, 1);
    void *bytes = NULL;
    size_t size = 0;
    for (int frame = 0; frame < 80; frame++) {
        if (frame == 45) {
            bytes = world_snapshot(one.world, &size);
            assert_int_equal(pl_world_restore(again.world, bytes, size, &model, 1, NULL), PL_OK);
            memcpy(again.attachments, one.attachments, sizeof one.attachments);
        }
        drive_net(&one, frame);
        drive_net(&three, frame);
        if (frame >= 45)
            drive_net(&again, frame);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(three.world));
        if (frame >= 45)
            assert_int_equal(pl_world_hash(one.world), pl_world_hash(again.world));
    }
    for (int i = 0; i < 6; i++)
        assert_true(i == 3 || world_is_finite(one.world, one.bodies[i]));
    assert_false(pl_attachment_is_valid(one.world, one.attachments[4]));
    uint64_t before = pl_world_allocations(one.world);
    world_step(one.world, 20);
    assert_int_equal(pl_world_allocations(one.world), before);
    free(bytes);
    pl_world_destroy(one.world);
    pl_world_destroy(three.world);
    pl_world_destroy(again.world);
    pl_model_release(model);
}

static void nothing_changes_without_memory(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    for (int fail = 0; fail < 40; fail++) {
        world_heap heap;
        world_heap_init(&heap);
        pl_world *world;
        pl_world_def def = pl_default_world_def();
        def.allocator = &heap.allocator;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_body body = body_at(world, model, 0, 0, 0, 0);
        int made = 0;
        heap.fail_from = heap.calls + fail;
        for (int i = 0; i < 27; i++) {
            pl_attachment attachment;
            pl_attachment_def a = pl_default_attachment_def(PL_ATTACH_TO_PLACE);
            a.body = body;
            assert_int_equal(pl_pin_at_particle(world, body, i, &a.point), PL_OK);
            uint64_t hash = pl_world_hash(world);
            pl_status status = pl_attachment_create(world, &a, &attachment, NULL);
            made += status == PL_OK;
            assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
            assert_true(status == PL_OK || pl_world_hash(world) == hash);
        }
        heap.fail_from = -1;
        assert_true(made == 27 || fail < 10);
        world_step(world, 2);
        pl_world_destroy(world);
        assert_int_equal(heap.blocks, 0);
    }
    pl_model_release(model);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    world_hush();
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_with(1, 0, true, 1);
    pl_body body = body_at(world, model, 0, 0, 0, 0);
    pl_attachment out;
    pl_attachment_def good = pl_default_attachment_def(PL_ATTACH_TO_PLACE);
    good.body = body;
    assert_int_equal(pl_pin_at_particle(world, body, 0, &good.point), PL_OK);
    for (int i = 0; i < 12; i++) {
        pl_attachment_def def = good;
        pl_error error = {0};
        switch (i) {
        case 0:
            def.cookie = 0;
            break;
        case 1:
            def.kind = (pl_attachment_kind)7;
            break;
        case 2:
            def.body.generation++;
            break;
        case 3:
            def.target[1] = NAN;
            break;
        case 4:
            def.break_force = -1;
            break;
        case 5:
            def.break_force = INFINITY;
            break;
        case 6:
            def.point.count = 9;
            break;
        case 7:
            def.point.particles[0] = 27;
            break;
        case 8:
            def.point.weights[0] = 0;
            break;
        case 9:
            def.kind = PL_ATTACH_TO_BODY;
            break;
        case 10:
            def.kind = PL_ATTACH_TO_COLLIDER;
            break;
        default:
            def.point.rest[0] = INFINITY;
            break;
        }
        uint64_t hash = pl_world_hash(world);
        assert_int_not_equal(pl_attachment_create(world, &def, &out, &error), PL_OK);
        assert_true(error.text[0] != 0);
        assert_int_equal(out.generation, 0);
        assert_int_equal(pl_world_hash(world), hash);
    }
    assert_int_equal(pl_attachment_create(world, &good, &out, NULL), PL_OK);
    double bad[3] = {NAN, 0, 0};
    pl_attachment_state s;
    assert_int_equal(pl_attachment_set_target(world, out, bad), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_attachment_set_target(world, out, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_attachment_get_state(world, (pl_attachment){5, 1}, &s), PL_ERROR_HANDLE);
    assert_int_equal(pl_attachment_destroy(world, (pl_attachment){0, 0}), PL_ERROR_HANDLE);
    assert_int_equal(pl_body_destroy(world, body), PL_OK);
    assert_false(pl_attachment_is_valid(world, out));
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hanging_body_pulls_with_its_weight),
        cmocka_unit_test(a_target_is_followed),
        cmocka_unit_test(gaps_close_without_speed),
        cmocka_unit_test(momentum_is_exchanged_never_made),
        cmocka_unit_test(a_moving_collider_carries_and_feels),
        cmocka_unit_test(a_rigid_body_of_the_host_exchanges_momentum),
        cmocka_unit_test(it_breaks_at_its_force),
        cmocka_unit_test(what_hangs_together_sleeps_together),
        cmocka_unit_test(runs_are_the_same_to_the_last_bit),
        cmocka_unit_test(nothing_changes_without_memory),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
