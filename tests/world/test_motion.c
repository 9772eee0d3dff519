/* Motion from outside, checked against mechanics: forces, impulses, velocities, gravity, damping,
   teleport, driven particles, pins. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/quat.h"
#include "support/world_kit.h"

enum { MOST = 128 };

static pl_body_state sums_of(const pl_world *world, pl_body body)
{
    pl_body_state sums;
    assert_int_equal(pl_body_get_state(world, body, &sums), PL_OK);
    return sums;
}

static void expect_vector(const char *what, const double got[3], const double want[3], double error)
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(got[k] - want[k]) <= error))
            fail_msg("%s[%d] is %.15g instead of %.15g", what, k, got[k], want[k]);
}

static pl_vec3 vec(const double v[3])
{
    return (pl_vec3){v[0], v[1], v[2]};
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static void forces_give_momentum_for_one_step(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_PLAIN; solver++)
        for (int particle = -1; particle < 50; particle += 50) {
            pl_world *world = world_empty();
            assert_int_equal(pl_world_set_step(world, 0.02, 4), PL_OK);
            pl_body body = world_body_at(world, model, 5, 6, 7);
            assert_int_equal(pl_body_set_solver(world, body, (pl_solver)solver), PL_OK);
            const double force[3] = {300, -200, 100};
            assert_int_equal(pl_body_apply_force(world, body, particle, force), PL_OK);
            world_step(world, 1);
            const double want[3] = {6, -4, 2};
            double error = 1e-7 * sums_of(world, body).mass;
            expect_vector("momentum", sums_of(world, body).momentum, want, error);
            world_step(world, 3); /* it is spent */
            expect_vector("momentum", sums_of(world, body).momentum, want, error);
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* Spread by mass, a force does not deform. */
static void forces_on_the_whole_body_move_it_as_one(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model);
    const double force[3] = {0, 1e4, 0};
    double before[3 * MOST], after[3 * MOST];
    world_read(world, body, PL_POSITIONS, before);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(pl_body_apply_force(world, body, -1, force), PL_OK);
        world_step(world, 1);
    }
    world_read(world, body, PL_POSITIONS, after);
    double moved = after[1] - before[1];
    assert_true(moved > 1);
    for (int i = 0; i < 20; i++)
        assert_true(fabs(after[3 * i + 1] - before[3 * i + 1] - moved) < 1e-5);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A million small pushes on top of a large one are not lost. */
static void forces_add_up_exactly(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 2, 0, 0);
    pl_world *world = world_empty();
    assert_int_equal(pl_world_set_step(world, 1, 1), PL_OK);
    pl_body body = world_body(world, model);
    const double large[3] = {1e6, 0, 0}, back[3] = {-1e6, 0, 0}, small[3] = {1e-3, 0, 0};
    assert_int_equal(pl_body_apply_force(world, body, 0, large), PL_OK);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(pl_body_apply_force(world, body, 0, small), PL_OK);
    assert_int_equal(pl_body_apply_force(world, body, 0, back), PL_OK);
    world_step(world, 1);
    const double want[3] = {100, 0, 0};
    expect_vector("momentum", sums_of(world, body).momentum, want, 1e-4);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Impulses and velocities ----------------------------------------------------------------- */

static void impulses_change_momentum_at_once(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    for (int held = 0; held < 2; held++) {
        pl_world *world = world_empty();
        pl_body body = world_body_at(world, model, 100, 0, 0);
        const int32_t fixed = 3;
        assert_int_equal(pl_body_set_fixed(world, body, &fixed, held, NULL), PL_OK);
        double x[3 * MOST];
        world_read(world, body, PL_POSITIONS, x);
        const double impulse[3] = {1, 2, -3}, twice[3] = {2, 4, -6};
        assert_int_equal(pl_body_apply_impulse(world, body, 40, impulse), PL_OK);
        pl_body_state one = sums_of(world, body);
        expect_vector("momentum", one.momentum, impulse, 1e-6);
        pl_vec3 arm = pl_v3_sub(vec(x + 3 * 40), vec(one.centre));
        pl_vec3 turn = pl_v3_cross(arm, vec(impulse));
        const double want[3] = {turn.x, turn.y, turn.z};
        expect_vector("angular momentum", one.angular_momentum, want, 1e-5);
        assert_int_equal(pl_body_apply_impulse(world, body, -1, impulse), PL_OK);
        pl_body_state two = sums_of(world, body);
        expect_vector("momentum", two.momentum, twice, 1e-5);
        expect_vector("angular momentum", two.angular_momentum, one.angular_momentum, 1e-5);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* L = Σ m (r² ω − r (r·ω)) + the ellipsoids' own m/5 (b² + c²) ω. */
static void velocities_and_spins_are_those_of_a_rigid_body(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    int n = pl_model_get_info(model).particle_count;
    double x[3 * MOST], v[3 * MOST], m[MOST], radii[3 * MOST], orientation[4 * MOST];
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, n, pl_doubles(radii, 0)), PL_OK);
    assert_int_equal(pl_model_read(model, PL_REST_ORIENTATIONS, 0, n, pl_doubles(orientation, 0)),
                     PL_OK);
    for (int held = 0; held < 2; held++) {
        pl_world *world = world_empty();
        pl_body body = world_body_at(world, model, -4, 3, 2);
        const int32_t fixed = 50;
        assert_int_equal(pl_body_set_fixed(world, body, &fixed, held, NULL), PL_OK);
        const double velocity[3] = {3, -1, 2}, spin[3] = {0.5, -2, 1};
        assert_int_equal(pl_body_set_velocity(world, body, velocity, spin), PL_OK);
        world_read(world, body, PL_POSITIONS, x);
        world_read(world, body, PL_VELOCITIES, v);
        world_read(world, body, PL_MASSES, m);
        pl_body_state sums = sums_of(world, body);
        expect_vector("velocity", sums.velocity, velocity, 1e-6);
        pl_vec3 w = vec(spin), turning = {0, 0, 0};
        double mass = 0;
        for (int i = 0; i < n; i++) {
            pl_vec3 r = pl_v3_sub(vec(x + 3 * i), vec(sums.centre));
            pl_vec3 u = pl_v3_add(vec(velocity), pl_v3_cross(w, r));
            const double want[3] = {u.x, u.y, u.z}, *a = radii + 3 * i, *q = orientation + 4 * i;
            expect_vector("velocity of a particle", v + 3 * i, want, 1e-5);
            turning = pl_v3_add_scaled(turning, m[i], pl_v3_cross(r, pl_v3_cross(w, r)));
            pl_quat e = {q[0], q[1], q[2], q[3]};
            pl_vec3 own = pl_quat_rotate(pl_quat_conjugate(e), w);
            own.x *= a[1] * a[1] + a[2] * a[2];
            own.y *= a[0] * a[0] + a[2] * a[2];
            own.z *= a[0] * a[0] + a[1] * a[1];
            turning = pl_v3_add_scaled(turning, m[i] / 5, pl_quat_rotate(e, own));
            mass += m[i];
        }
        const double want[3] = {turning.x, turning.y, turning.z};
        expect_vector("angular momentum", sums.angular_momentum, want, 1e-4 * mass);
        assert_true(fabs(sums.mass - mass) < 1e-9 * mass);
        pl_energy energy;
        assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
        double kinetic = 0.5 * (mass * pl_v3_length2(vec(velocity)) + pl_v3_dot(turning, w));
        assert_true(fabs(energy.kinetic - kinetic) < 1e-5 * kinetic);
        assert_true(energy.elastic < 1e-6 * kinetic);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Gravity, damping ------------------------------------------------------------------------ */

/* Implicit Euler's: g h² n (n + 1) / 2 after n steps. */
static void free_fall_is_exact(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    static const double scales[] = {1, 0, 0.5, -2};
    for (int i = 0; i < 8; i++) {
        pl_world_def def = pl_default_world_def();
        pl_world *world;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_body_def body_def = pl_default_body_def(model);
        body_def.gravity_scale = scales[i % 4];
        body_def.material.damping = 0;
        body_def.position[0] = i < 4 ? 0 : 1000;
        pl_body body;
        assert_int_equal(pl_body_create(world, &body_def, &body, NULL), PL_OK);
        double start = sums_of(world, body).centre[1];
        world_step(world, 100);
        double fall = scales[i % 4] * -9.81 / 3600 * 100 * 101 / 2;
        assert_true(fabs(sums_of(world, body).centre[1] - start - fall) <= 1e-6);
        pl_energy energy;
        assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
        double potential =
            sums_of(world, body).mass * scales[i % 4] * 9.81 * sums_of(world, body).centre[1];
        assert_true(fabs(energy.potential - potential) <= 1e-6 * (1 + fabs(potential)));
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

static void damping_is_a_rate_per_second(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    for (int substeps = 1; substeps <= 4; substeps *= 2) {
        pl_world *world = world_empty();
        assert_int_equal(pl_world_set_step(world, 0.01, substeps), PL_OK);
        pl_body_def def = pl_default_body_def(model);
        def.material.damping = 0.7;
        def.velocity[2] = 10;
        pl_body body;
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
        world_step(world, 200);
        assert_true(fabs(sums_of(world, body).velocity[2] - 10 * exp(-1.4)) < 1e-9);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Teleport and writing -------------------------------------------------------------------- */

static void teleports_keep_shape_and_turn_motion(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    int n = pl_model_get_info(model).particle_count;
    pl_world *world = world_empty();
    pl_body body = world_body_at(world, model, 10, 20, 30);
    const double velocity[3] = {1, 2, 3}, spin[3] = {4, 0, -2}, kick[3] = {3, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, body, velocity, spin), PL_OK);
    assert_int_equal(pl_body_apply_impulse(world, body, 9, kick), PL_OK);
    world_step(world, 10);
    double x[3 * MOST], q[4 * MOST], y[3 * MOST], p[4 * MOST], shown[3 * MOST];
    world_read(world, body, PL_POSITIONS, x);
    world_read(world, body, PL_ROTATIONS, q);
    pl_body_state before = sums_of(world, body);
    const double to[3] = {-7, 1e4, 3}, turn[4] = {2, -1, 0.5, 3}; /* not of length one */
    assert_int_equal(pl_body_teleport(world, body, to, turn), PL_OK);
    world_read(world, body, PL_POSITIONS, y);
    world_read(world, body, PL_ROTATIONS, p);
    pl_body_state after = sums_of(world, body);
    expect_vector("centre", after.centre, to, 1e-6);
    pl_quat t = pl_quat_normalise((pl_quat){turn[0], turn[1], turn[2], turn[3]});
    for (int i = 0; i < n; i++) {
        pl_vec3 arm = pl_v3_sub(vec(x + 3 * i), vec(before.centre));
        pl_vec3 at = pl_v3_add(vec(to), pl_quat_rotate(t, arm));
        const double want[3] = {at.x, at.y, at.z};
        expect_vector("position", y + 3 * i, want, 1e-6);
        const double *a = q + 4 * i, *b = p + 4 * i;
        pl_quat turned = pl_quat_mul(t, (pl_quat){a[0], a[1], a[2], a[3]});
        assert_true(fabs(fabs(pl_quat_dot(turned, (pl_quat){b[0], b[1], b[2], b[3]})) - 1) < 1e-6);
    }
    pl_vec3 v = pl_quat_rotate(t, vec(before.velocity));
    pl_vec3 l = pl_quat_rotate(t, vec(before.angular_momentum));
    const double want_v[3] = {v.x, v.y, v.z}, want_l[3] = {l.x, l.y, l.z};
    expect_vector("velocity", after.velocity, want_v, 1e-5);
    expect_vector("angular momentum", after.angular_momentum, want_l, 1e-3);
    /* Nothing is smeared between there and here. */
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 0, n, 0.3, pl_doubles(shown, 0)),
                     PL_OK);
    for (int i = 0; i < 3 * n; i++)
        assert_true(fabs(shown[i] - y[i]) < 1e-9);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void fixed_particles_go_along_and_pins_pull_back(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body held = world_body(world, model), pinned = world_body(world, model);
    const int32_t fixed[2] = {0, 19};
    pl_pin pin;
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_body_set_fixed(world, held, fixed, 2, NULL), PL_OK);
    assert_int_equal(pl_pin_at_particle(world, pinned, 0, &def), PL_OK);
    assert_int_equal(pl_pin_create(world, pinned, &def, &pin, NULL), PL_OK);
    world_step(world, 5);
    const double to[3] = {3, 4, 5}, turn[4] = {0, 0, 1, 1};
    double there[3 * MOST], later[3 * MOST];
    assert_int_equal(pl_body_teleport(world, held, to, turn), PL_OK);
    assert_int_equal(pl_body_teleport(world, pinned, to, turn), PL_OK);
    world_read(world, held, PL_POSITIONS, there);
    world_step(world, 60);
    world_read(world, held, PL_POSITIONS, later);
    for (int i = 0; i < 60; i++) /* at rest here as there */
        assert_true(fabs(there[i] - later[i]) < 1e-5);
    world_step(world, 300);
    world_read(world, pinned, PL_POSITIONS, later);
    expect_vector("pinned particle", later, def.target, 0.02);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void written_positions_stay_where_they_are_fixed(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model);
    const int32_t fixed[2] = {0, 1};
    assert_int_equal(pl_body_set_fixed(world, body, fixed, 2, NULL), PL_OK);
    double x[3 * MOST], later[3 * MOST];
    world_read(world, body, PL_POSITIONS, x);
    for (int i = 0; i < 20; i++)
        x[3 * i] += 1000, x[3 * i + 1] += 0.5;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, 20, pl_doubles(x, 0)), PL_OK);
    world_step(world, 30);
    world_read(world, body, PL_POSITIONS, later);
    for (int i = 0; i < 60; i++)
        assert_true(fabs(later[i] - x[i]) < 1e-4);
    /* One alone is moved; the other fixed one stays, the rest follows. */
    x[1] += 0.05;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, 1, pl_doubles(x, 0)), PL_OK);
    world_step(world, 1);
    world_read(world, body, PL_POSITIONS, later);
    expect_vector("moved", later, x, 1e-5);
    expect_vector("left", later + 3, x + 3, 1e-5);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Ten million metres away, written as a whole or piece by piece, a body is as sharp as here. */
static void bodies_written_far_away_keep_their_digits(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    for (int pieces = 0; pieces < 2; pieces++) {
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        double x[3 * MOST], later[3 * MOST];
        world_read(world, body, PL_POSITIONS, x);
        for (int i = 0; i < 20; i++)
            x[3 * i + 2] += 1e7;
        int rounds = pieces ? 2 : 1; /* the second time the floats are near the new place */
        for (int round = 0; round < rounds; round++)
            for (int i = 0; i < 20; i += pieces ? 5 : 20)
                assert_int_equal(pl_body_write(world, body, PL_POSITIONS, i, pieces ? 5 : 20,
                                               pl_doubles(x + 3 * i, 0)),
                                 PL_OK);
        world_read(world, body, PL_POSITIONS, later);
        for (int i = 0; i < 60; i++)
            assert_true(fabs(later[i] - x[i]) < 1e-6);
        world_step(world, 10);
        world_read(world, body, PL_POSITIONS, later);
        for (int i = 0; i < 60; i++)
            assert_true(fabs(later[i] - x[i]) < 1e-5);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

static void written_velocities_are_the_momentum(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    for (int held = 0; held < 2; held++) {
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        const int32_t fixed = 7;
        assert_int_equal(pl_body_set_fixed(world, body, &fixed, held, NULL), PL_OK);
        double v[3 * MOST], got[3 * MOST], m[MOST], momentum[3] = {0, 0, 0};
        world_read(world, body, PL_MASSES, m);
        for (int i = 0; i < 60; i++) {
            v[i] = 100 + sin(i);
            momentum[i % 3] += m[i / 3] * v[i];
        }
        assert_int_equal(pl_body_write(world, body, PL_VELOCITIES, 0, 20, pl_doubles(v, 0)), PL_OK);
        world_read(world, body, PL_VELOCITIES, got);
        for (int i = 0; i < 60; i++)
            assert_true(fabs(got[i] - v[i]) < 1e-5);
        expect_vector("momentum", sums_of(world, body).momentum, momentum, 1e-3);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* Freeing a body that was held, and holding one that was free, changes no velocity. */
static void holding_and_freeing_keep_velocities(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model);
    const double velocity[3] = {5, 6, 7}, spin[3] = {1, 0, 2};
    const int32_t fixed = 4;
    assert_int_equal(pl_body_set_velocity(world, body, velocity, spin), PL_OK);
    pl_body_state before = sums_of(world, body);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pl_body_set_fixed(world, body, &fixed, i % 2 == 0, NULL), PL_OK);
        pl_body_state after = sums_of(world, body);
        expect_vector("momentum", after.momentum, before.momentum, 1e-4);
        expect_vector("angular momentum", after.angular_momentum, before.angular_momentum, 1e-4);
    }
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Driven particles and pins --------------------------------------------------------------- */

typedef struct track {
    int count;
    double x[16];
} track;

static void follow(void *user, const pl_field_query *query)
{
    track *t = user;
    if (t->count < 16)
        t->x[t->count++] = query->positions[0];
}

static void driven_particles_move_evenly_and_arrive(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    assert_int_equal(pl_world_set_step(world, 0.02, 4), PL_OK);
    pl_body body = world_body(world, model);
    const int32_t fixed = 0;
    double x[3 * MOST], q[4 * MOST];
    assert_int_equal(pl_body_set_fixed(world, body, &fixed, 1, NULL), PL_OK);
    world_read(world, body, PL_POSITIONS, x);
    const double to[3] = {x[0] + 0.4, x[1], x[2]}, turn[4] = {0, sqrt(0.5), 0, sqrt(0.5)};
    track t = {0};
    assert_int_equal(pl_world_set_field(world, follow, &t), PL_OK);
    assert_int_equal(pl_body_drive(world, body, 0, to, turn), PL_OK);
    world_step(world, 2);
    for (int s = 0; s < 8; s++)
        assert_true(fabs(t.x[s] - (x[0] + (s < 4 ? 0.1 * s : 0.4))) < 1e-6);
    world_read(world, body, PL_ROTATIONS, q);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(q[k] - turn[k]) < 1e-6);
    /* Position alone: the rotation stays as it was. */
    assert_int_equal(pl_body_drive(world, body, 0, x, NULL), PL_OK);
    world_step(world, 1);
    world_read(world, body, PL_ROTATIONS, q);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(q[k] - turn[k]) < 1e-6);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A chain on the floor falls asleep although it is driven and its pin is aimed in every frame, as
   long as neither goes anywhere; a first step wakes it. */
static void what_is_held_in_its_place_sleeps(void **state)
{
    (void)state;
    pl_model *model = world_sized_model(PL_SHAPE_CHAIN, 20, 0, 0, 2, 0, 0, false);
    for (int what = 0; what < 3; what++) { /* driven, driven with its rotation, pinned */
        pl_world *world;
        pl_world_def world_def = pl_default_world_def();
        world_def.substeps = 4;
        assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
        pl_collider floor;
        pl_collider_def plane = pl_default_collider_def(PL_COLLIDER_PLANE);
        assert_int_equal(pl_collider_create(world, &plane, &floor, NULL), PL_OK);
        const int32_t fixed = 0;
        pl_body body;
        pl_pin pin = {0, 0};
        pl_body_def def = pl_default_body_def(model);
        def.position[1] = 0.05;
        def.fixed = &fixed;
        def.fixed_count = what < 2;
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
        double at[3 * MOST], q[4 * MOST];
        world_read(world, body, PL_POSITIONS, at);
        world_read(world, body, PL_ROTATIONS, q);
        pl_pin_def hold = pl_default_pin_def(PL_PIN_POSITION);
        hold.count = 1;
        hold.weights[0] = 1;
        memcpy(hold.target, at, sizeof hold.target);
        pl_model_read(model, PL_REST_POSITIONS, 0, 1, pl_doubles(hold.rest, 0));
        if (what == 2)
            assert_int_equal(pl_pin_create(world, body, &hold, &pin, NULL), PL_OK);
        pl_report report = {.iterations = 1};
        for (int f = 0; f < 400; f++) {
            if (f == 350) { /* the last frames: to somewhere else */
                assert_int_equal(report.iterations, 0);
                at[1] += 0.001;
            }
            pl_status status = what == 2 ? pl_pin_set_target(world, pin, at)
                                         : pl_body_drive(world, body, 0, at, what ? q : NULL);
            assert_int_equal(status, PL_OK);
            assert_int_equal(pl_world_step(world, &report), PL_OK);
            if (f == 350)
                assert_int_not_equal(report.iterations, 0);
        }
        double now[3 * MOST];
        world_read(world, body, PL_POSITIONS, now);
        assert_true(what == 2 || fabs(now[1] - at[1]) < 1e-6);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

static void point_of_pin(const pl_world *world, pl_body body, const pl_pin_def *def, double at[3])
{
    pl_pin_def now = *def;
    if (def->count == 1)
        assert_int_equal(pl_pin_at_particle(world, body, def->particles[0], &now), PL_OK);
    else
        assert_int_equal(pl_pin_at_point(world, body, def->rest, &now), PL_OK);
    memcpy(at, now.target, sizeof now.target);
}

static void pins_hold_points_and_directions(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_PLAIN; solver++) {
        pl_world_def def = pl_default_world_def();
        def.stiff_iterations = 2;
        pl_world *world;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_body_def body_def = pl_default_body_def(model);
        body_def.solver = (pl_solver)solver;
        body_def.material.damping = 3;
        pl_body body;
        assert_int_equal(pl_body_create(world, &body_def, &body, NULL), PL_OK);
        pl_pin_def end = pl_default_pin_def(PL_PIN_POSITION), point = end;
        pl_pin_def way = pl_default_pin_def(PL_PIN_DIRECTION);
        pl_pin pins[3];
        const double off[3] = {0.7, 0.1, 0.05};
        assert_int_equal(pl_pin_at_particle(world, body, 0, &end), PL_OK);
        assert_int_equal(pl_pin_at_point(world, body, off, &point), PL_OK);
        for (int k = 0; k < 3; k++) /* where it is now is where it was at rest */
            assert_true(fabs(point.target[k] - off[k]) < 1e-6);
        way.rest[0] = 1, way.rest[1] = 0;
        assert_int_equal(pl_pin_at_particle(world, body, 10, &way), PL_OK);
        assert_true(fabs(way.target[0] - 1) < 1e-6);
        assert_int_equal(pl_pin_create(world, body, &end, &pins[0], NULL), PL_OK);
        assert_int_equal(pl_pin_create(world, body, &point, &pins[1], NULL), PL_OK);
        assert_int_equal(pl_pin_create(world, body, &way, &pins[2], NULL), PL_OK);
        pl_energy energy;
        assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
        if (energy.pins > 1e-6) /* nothing is pulled yet */
            fail_msg("%g J", energy.pins);
        point.target[1] = 0.3;
        assert_int_equal(pl_pin_set_target(world, pins[1], point.target), PL_OK);
        world_step(world, 400);
        double at[3];
        point_of_pin(world, body, &end, at);
        expect_vector("end", at, end.target, 2e-3);
        point_of_pin(world, body, &point, at);
        expect_vector("point", at, point.target, 2e-3);
        pl_pin_def now = way;
        assert_int_equal(pl_pin_at_particle(world, body, 10, &now), PL_OK);
        assert_true(now.target[0] > 0.98);
        assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
        assert_true(energy.pins > 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(pl_pin_destroy(world, pins[i]), PL_OK);
        double height = sums_of(world, body).centre[1];
        world_step(world, 60); /* let go, it falls */
        assert_true(sums_of(world, body).centre[1] < height - 1);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* More pins than fit beside the matrix hold as well as the few. */
static void many_pins_hold_like_few(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_SHEET, 8, 0, 8);
    double sag[2];
    for (int many = 0; many < 2; many++) {
        pl_world_def def = pl_default_world_def();
        pl_world *world;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_body body = world_body(world, model);
        int count = many ? 17 : 16; /* the seventeenth holds what the first does */
        for (int i = 0; i < count; i++) {
            int k = i % 16;
            pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
            pl_pin pin;
            pin_def.strength = 1e4;
            assert_int_equal(pl_pin_at_particle(world, body, k < 8 ? k : 48 + k, &pin_def), PL_OK);
            assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, NULL), PL_OK);
        }
        world_step(world, 120);
        sag[many] = sums_of(world, body).centre[1];
        pl_world_destroy(world);
    }
    assert_true(sag[0] < -1e-4);
    assert_true(fabs(sag[0] - sag[1]) < 0.02 * fabs(sag[0]));
    pl_model_release(model);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_give_momentum_for_one_step),
        cmocka_unit_test(forces_on_the_whole_body_move_it_as_one),
        cmocka_unit_test(forces_add_up_exactly),
        cmocka_unit_test(impulses_change_momentum_at_once),
        cmocka_unit_test(velocities_and_spins_are_those_of_a_rigid_body),
        cmocka_unit_test(free_fall_is_exact),
        cmocka_unit_test(damping_is_a_rate_per_second),
        cmocka_unit_test(teleports_keep_shape_and_turn_motion),
        cmocka_unit_test(fixed_particles_go_along_and_pins_pull_back),
        cmocka_unit_test(written_positions_stay_where_they_are_fixed),
        cmocka_unit_test(bodies_written_far_away_keep_their_digits),
        cmocka_unit_test(written_velocities_are_the_momentum),
        cmocka_unit_test(holding_and_freeing_keep_velocities),
        cmocka_unit_test(driven_particles_move_evenly_and_arrive),
        cmocka_unit_test(what_is_held_in_its_place_sleeps),
        cmocka_unit_test(pins_hold_points_and_directions),
        cmocka_unit_test(many_pins_hold_like_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
