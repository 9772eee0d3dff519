/* Balls of one particle roll: they start by themselves on every kind of collider, slide and spin up
   by the law where friction is not enough, end at 5/7 of their speed where they were thrown, go on
   without jitter, hand each other angular momentum, and never gain energy. */
#include <stdio.h>
#include <stdlib.h>

#include "contact_cases.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.81

/* ---- Things ---------------------------------------------------------------------------------- */

/* Large ones, so that they are nearly flat where a ball rolls. */
#define LARGE 2000.0
/* Half of the sheet, and how many squares of it a side has. */
#define SHEET 80.0
enum { SQUARES = 57, SURFACES = 5 };

static const pl_collider_kind kinds[SURFACES] = {
    PL_COLLIDER_PLANE, PL_COLLIDER_BOX, PL_COLLIDER_SPHERE, PL_COLLIDER_CAPSULE, PL_COLLIDER_MESH};
static const char *const names[SURFACES] = {"plane", "box", "sphere", "capsule", "mesh"};

static pl_world *make_world(int substeps, double gravity)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.substeps = substeps;
    def.sleeping = false;
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

/* Its surface goes through the origin, falling towards +x by `slope`. */
static void add_ground(pl_world *world, int surface, double slope, double friction)
{
    static const double axis[3] = {0, 0, 1};
    pl_collider_def def = pl_default_collider_def(kinds[surface]);
    collider_sheet sheet = {.positions = NULL};
    double deep = surface == 1 ? 1 : surface == 2 || surface == 3 ? LARGE : 0;
    for (int k = 0; k < 3; k++)
        def.size[k] = surface == 1 ? k == 1 ? deep : SHEET : LARGE;
    collider_turn(def.rotation, axis, -slope);
    if (surface == 3) { /* along z */
        static const double across[3] = {1, 0, 0};
        collider_turn(def.rotation, across, PI / 2);
    }
    def.position[0] = -sin(slope) * deep;
    def.position[1] = -cos(slope) * deep;
    def.friction = friction;
    if (kinds[surface] == PL_COLLIDER_MESH) {
        sheet = collider_make_sheet(SQUARES, SHEET);
        def.mesh = &sheet.mesh;
    }
    collider_add(world, &def);
    if (sheet.positions)
        collider_free_sheet(&sheet);
}

static pl_body add_ellipsoid(pl_world *world, const double radii[3], double x, double y, double z,
                             double friction, double restitution)
{
    float middle[3] = {0, 0, 0}, half[3];
    pl_model_def model_def = pl_default_model_def();
    pl_model *model;
    model_def.particle_count = 1;
    model_def.positions = pl_floats(middle, 0);
    for (int k = 0; k < 3; k++)
        half[k] = (float)radii[k];
    model_def.radii = pl_floats(half, 0);
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    pl_body_def def = collider_body_def(model, 1e6, x, y, z);
    def.material.friction = friction;
    def.material.restitution = restitution;
    pl_body body = collider_add_body(world, &def);
    pl_model_release(model);
    return body;
}

static pl_body add_ball(pl_world *world, double radius, double x, double y, double z,
                        double friction, double restitution)
{
    const double radii[3] = {radius, radius, radius};
    return add_ellipsoid(world, radii, x, y, z, friction, restitution);
}

typedef struct motion {
    double along, up, spin; /* of the centre along a slope and across it; times the radius */
    double energy;
} motion;

static motion look(const pl_world *world, pl_body ball, double slope, double radius)
{
    pl_body_state s;
    pl_energy e;
    double w[3];
    pl_body_get_state(world, ball, &s);
    pl_body_get_energy(world, ball, &e);
    world_read(world, ball, PL_SPINS, w);
    return (motion){.along = s.velocity[0] * cos(slope) - s.velocity[1] * sin(slope),
                    .up = s.velocity[0] * sin(slope) + s.velocity[1] * cos(slope),
                    .spin = -w[2] * radius,
                    .energy = e.kinetic + e.potential};
}

typedef struct situation {
    int surface, substeps;
    double radius, friction;
} situation;

static situation random_situation(pl_rng *rng, int round)
{
    return (situation){.surface = round % SURFACES,
                       .substeps = 1 << contact_below(rng, 4),
                       .radius = contact_decades(rng, -2, 0)};
}

/* ---- Slopes ---------------------------------------------------------------------------------- */

/* From the first frames, in which it settles, on. */
enum { SETTLED = 6, RUN = 40 };

/* How fast it and its surface become faster, and how fast it hops at the most. */
static void run_down(const situation *s, double slope, double rate[2], double *hop)
{
    pl_world *world = make_world(s->substeps, GRAVITY);
    add_ground(world, s->surface, slope, s->friction);
    pl_body ball = add_ball(world, s->radius, sin(slope) * s->radius, cos(slope) * s->radius, 0,
                            s->friction, 0);
    world_step(world, SETTLED);
    motion from = look(world, ball, slope, s->radius), to = from;
    for (int f = 0; f < RUN; f++) {
        world_step(world, 1);
        to = look(world, ball, slope, s->radius);
        *hop = fmax(*hop, fabs(to.up) / (1e-9 + fabs(to.along)));
    }
    rate[0] = (to.along - from.along) * 60 / RUN;
    rate[1] = (to.spin - from.spin) * 60 / RUN;
    pl_world_destroy(world);
}

static void balls_roll_and_slide_down_slopes_by_the_law(void **state)
{
    int rounds = check_rounds(2000, 200);
    double worst[2] = {0, 0}, worst_spin[2] = {0, 0}, hop = 0;
    pl_rng rng = pl_rng_make(71);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        situation s = random_situation(&rng, round);
        double slope = contact_between(&rng, 4, 40) * PI / 180, enough = 2 * tan(slope) / 7;
        bool rolls = contact_below(&rng, 2);
        s.friction =
            enough * (rolls ? contact_between(&rng, 1.1, 5) : contact_between(&rng, 0.1, 0.9));
        double law =
            rolls ? 5 * GRAVITY * sin(slope) / 7 : GRAVITY * (sin(slope) - s.friction * cos(slope));
        double spin = rolls ? law : 2.5 * s.friction * GRAVITY * cos(slope), rate[2];
        run_down(&s, slope, rate, &hop);
        double off = fabs(rate[0] / law - 1), off_spin = fabs(rate[1] / spin - 1);
        if (off > 0.05 || off_spin > 0.05)
            printf("%s, %d sub-steps, radius %.3f, slope %.1f, friction %.3f: %.4f m/s², law %.4f; "
                   "surface %.4f, law %.4f\n",
                   names[s.surface], s.substeps, s.radius, slope * 180 / PI, s.friction, rate[0],
                   law, rate[1], spin);
        worst[rolls] = fmax(worst[rolls], off);
        worst_spin[rolls] = fmax(worst_spin[rolls], off_spin);
    }
    printf("%d balls: off the law by %.3f %% rolling and %.3f %% sliding, their spins by %.3f and "
           "%.3f %%; "
           "hops %.1e of the speed\n",
           rounds, 100 * worst[1], 100 * worst[0], 100 * worst_spin[1], 100 * worst_spin[0], hop);
    assert_true(worst[0] < 0.05 && worst[1] < 0.05);
    assert_true(worst_spin[0] < 0.05 && worst_spin[1] < 0.05);
    assert_true(hop < 0.02);
}

/* ---- Floors ---------------------------------------------------------------------------------- */

/* Thrown without spin along a floor, then rolling for two seconds. What counts as flat: not the
   large round ones. */
static void thrown_balls_end_at_five_sevenths(void **state)
{
    static const int flat[3] = {0, 1, 4};
    int rounds = check_rounds(600, 60);
    double worst = 0, slip = 0, hop = 0, drift = 0, gain = 0;
    pl_rng rng = pl_rng_make(72);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        situation s = random_situation(&rng, flat[round % 3]);
        double speed = contact_between(&rng, 0.3, 8), zero[3] = {0, 0, 0};
        double v[3] = {speed, 0, 0};
        s.friction = contact_between(&rng, 0.1, 1);
        pl_world *world = make_world(s.substeps, GRAVITY);
        add_ground(world, s.surface, 0, s.friction);
        pl_body ball = add_ball(world, s.radius, -30, s.radius, 0.3, s.friction, 0);
        assert_int_equal(pl_body_set_velocity(world, ball, v, zero), PL_OK);
        int sliding = (int)ceil(60 * 2 * speed / (7 * s.friction * GRAVITY));
        motion m = look(world, ball, 0, s.radius);
        double before = m.energy, whole = fabs(before), first = 0;
        for (int f = 0; f < sliding + 3 + 120; f++) {
            world_step(world, 1);
            m = look(world, ball, 0, s.radius);
            gain = fmax(gain, (m.energy - before) / whole);
            before = m.energy;
            if (f > 3)
                hop = fmax(hop, fabs(m.up) / speed);
            if (f == sliding + 2) {
                first = m.along;
                worst = fmax(worst, fabs(first / speed * 7 / 5 - 1));
            } else if (f > sliding + 2) {
                slip = fmax(slip, fabs(m.along - m.spin) / speed);
                drift = fmax(drift, fabs(m.along - first) / speed);
            }
        }
        pl_world_destroy(world);
    }
    printf("%d balls end at 5/7 of their speed within %.1e of it; then slip %.1e, drift %.1e in 2 "
           "s, hops %.1e; energy "
           "gained in a frame: %.1e\n",
           rounds, worst, slip, drift, hop, gain);
    assert_true(worst < 0.02 && slip < 1e-3 && drift < 1e-3 && hop < 1e-3 && gain < 1e-4);
}

/* ---- Each other ------------------------------------------------------------------------------ */

typedef struct sums {
    double momentum[3], angular[3], energy;
} sums;

/* About the common centre. */
static sums sum_of(const pl_world *world, const pl_body balls[2])
{
    pl_body_state s[2];
    sums sum = {.energy = 0};
    double mass = 0, centre[3] = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        pl_energy e;
        pl_body_get_state(world, balls[i], s + i);
        pl_body_get_energy(world, balls[i], &e);
        sum.energy += e.kinetic;
        mass += s[i].mass;
        for (int k = 0; k < 3; k++) {
            centre[k] += s[i].mass * s[i].centre[k];
            sum.momentum[k] += s[i].momentum[k];
            sum.angular[k] += s[i].angular_momentum[k];
        }
    }
    for (int i = 0; i < 2; i++) {
        double arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = s[i].centre[k] - centre[k] / mass;
        contact_add_cross(arm, s[i].momentum, sum.angular);
    }
    return sum;
}

/* As long as they move by less than a fiftieth of a radius in a sub-step: where two touch is known
   that well. */
static void balls_that_meet_keep_their_momenta(void **state)
{
    int rounds = check_rounds(1000, 200), met = 0;
    double linear = 0, angular = 0, gain = 0;
    pl_rng rng = pl_rng_make(73);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        int substeps = 1 << contact_below(&rng, 4);
        double r[2], mass[2], friction = contact_between(&rng, 0.1, 1.5);
        double restitution = contact_below(&rng, 2) * contact_between(&rng, 0, 1);
        pl_world *world = make_world(substeps, 0);
        pl_body balls[2];
        r[0] = contact_decades(&rng, -2, 0);
        r[1] = r[0] * contact_between(&rng, 0.5, 2);
        double both = r[0] + r[1], least = fmin(r[0], r[1]), off = contact_between(&rng, 0.2, 0.9);
        double speed = contact_between(&rng, 0.2, 1) * 0.02 * least * 60 * substeps;
        balls[0] = add_ball(world, r[0], 0, 0, 0, friction, restitution);
        balls[1] = add_ball(world, r[1], 1.1 * both, off * both, 0, friction, restitution);
        for (int i = 0; i < 2; i++) {
            pl_body_state s;
            pl_body_get_state(world, balls[i], &s);
            mass[i] = s.mass;
        }
        for (int i = 0; i < 2; i++) {
            double v[3] = {(i ? -1 : 1) * speed * mass[1 - i] / (mass[0] + mass[1]), 0, 0}, w[3];
            contact_direction(&rng, w);
            for (int k = 0; k < 3; k++)
                w[k] *= contact_between(&rng, 0, 1) * speed / r[i];
            assert_int_equal(pl_body_set_velocity(world, balls[i], v, w), PL_OK);
        }
        sums from = sum_of(world, balls), to = from;
        double reduced = mass[0] * mass[1] / (mass[0] + mass[1]), before = from.energy;
        for (int f = 0; f < 120; f++) {
            world_step(world, 1);
            to = sum_of(world, balls);
            gain = fmax(gain, (to.energy - before) / from.energy);
            before = to.energy;
        }
        met += fabs(to.energy - from.energy) > 1e-3 * from.energy;
        for (int k = 0; k < 3; k++) {
            linear = fmax(linear, fabs(to.momentum[k] - from.momentum[k]) / (reduced * speed));
            angular =
                fmax(angular, fabs(to.angular[k] - from.angular[k]) / (reduced * speed * both));
        }
        pl_world_destroy(world);
    }
    printf("%d pairs, %d met: linear momentum off by %.1e, angular by %.1e of what they had, "
           "energy gained %.1e\n",
           rounds, met, linear, angular, gain);
    assert_true(met > rounds / 2);
    assert_true(linear < 1e-5 && angular < 0.03 && gain < 1e-3);
}

/* ---- What gives way -------------------------------------------------------------------------- */

/* A ball thrown onto a board that slides freely and is held up by its host: in the end nothing
   slips, v − p/m − p/M = 5/2 p/m for an impulse p. */
static void balls_roll_on_boards_that_give_way(void **state)
{
    double worst = 0, slip = 0, linear = 0, gain = 0;
    pl_rng rng = pl_rng_make(77);
    (void)state;
    for (int round = 0; round < check_rounds(200, 30); round++) {
        int substeps = 1 << contact_below(&rng, 4);
        double radius = contact_decades(&rng, -2, 0), friction = contact_between(&rng, 0.2, 1);
        double speed = contact_between(&rng, 0.3, 2), v[3] = {speed, 0, 0}, zero[3] = {0, 0, 0};
        pl_world *world = make_world(substeps, GRAVITY);
        pl_body ball = add_ball(world, radius, -3, radius, 0, friction, 0);
        pl_body_state s;
        pl_body_get_state(world, ball, &s);
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
        double mass = s.mass * contact_decades(&rng, -0.5, 1);
        def.size[0] = 10, def.size[1] = 1, def.size[2] = 10;
        def.position[1] = -1;
        def.friction = friction;
        def.mass = mass;
        for (int k = 0; k < 3; k++)
            def.inertia[k] = 1e9 * mass; /* it does not tilt */
        pl_collider board = collider_add(world, &def);
        assert_int_equal(pl_body_set_velocity(world, ball, v, zero), PL_OK);
        double u[3] = {0, 0, 0}, spin[3] = {0, 0, 0}, before = 0.5 * s.mass * speed * speed;
        double first = before;
        double most = 2 * speed / (7 * friction * GRAVITY);
        motion m = {0, 0, 0, 0};
        for (int f = 0; f < (int)(60 * most) + 20; f++) {
            pl_collider_state c;
            assert_int_equal(pl_collider_set_velocity(world, board, u, spin), PL_OK);
            world_step(world, 1);
            pl_collider_get_state(world, board, &c);
            u[0] += c.impulse[0] / mass; /* up and down it is held */
            m = look(world, ball, 0, radius);
            double now = 0.5 * s.mass * (m.along * m.along + 0.4 * m.spin * m.spin) +
                         0.5 * mass * u[0] * u[0];
            gain = fmax(gain, (now - before) / first);
            before = now;
        }
        double impulse = speed / (3.5 / s.mass + 1 / mass);
        worst = fmax(worst, fabs(m.along - (speed - impulse / s.mass)) / speed);
        slip = fmax(slip, fabs(m.along - u[0] - m.spin) / speed);
        linear = fmax(linear, fabs(s.mass * (m.along - speed) + mass * u[0]) / (s.mass * speed));
        pl_world_destroy(world);
    }
    printf("boards that give way: speed off by %.1e, slip %.1e, momentum off by %.1e, energy "
           "gained in a frame %.1e\n",
           worst, slip, linear, gain);
    assert_true(worst < 0.02 && slip < 0.01 && linear < 1e-4 && gain < 1e-3);
}

/* ---- Rooms ----------------------------------------------------------------------------------- */

enum { CROWD = 12 };

typedef struct room {
    pl_world *world;
    pl_body bodies[CROWD];
    double half, gravity;
} room;

static double energy_of(const room *r)
{
    double sum = 0;
    for (int i = 0; i < CROWD; i++) {
        pl_body_state s;
        pl_energy e;
        pl_body_get_state(r->world, r->bodies[i], &s);
        pl_body_get_energy(r->world, r->bodies[i], &e);
        sum += e.kinetic + s.mass * r->gravity * (s.centre[1] + r->half);
    }
    return sum;
}

static void add_walls(const room *r, double friction, double restitution)
{
    static const double axes[6][3] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1},
                                      {0, 0, 1}, {1, 0, 0}, {1, 0, 0}};
    static const double angles[6] = {0, PI, -PI / 2, PI / 2, PI / 2, -PI / 2};
    static const double at[6][3] = {{0, -1, 0}, {0, 1, 0},  {-1, 0, 0},
                                    {1, 0, 0},  {0, 0, -1}, {0, 0, 1}};
    for (int wall = 0; wall < 6; wall++) {
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
        collider_turn(def.rotation, axes[wall], angles[wall]);
        for (int k = 0; k < 3; k++)
            def.position[k] = r->half * at[wall][k];
        def.friction = friction;
        def.restitution = restitution;
        collider_add(r->world, &def);
    }
}

/* Six walls, and things that spin and fly about in there; half of the rooms without gravity, half
   of them without ellipsoids. */
static room random_room(pl_rng *rng, int number)
{
    double friction = contact_between(rng, 0, 1.5);
    double restitution = contact_below(rng, 2) * contact_between(rng, 0, 1);
    room r = {.half = contact_decades(rng, -1, 0.5), .gravity = number % 2 ? GRAVITY : 0};
    double unit = 0.2 * r.half;
    r.world = make_world(1 << contact_below(rng, 4), r.gravity);
    add_walls(&r, friction, restitution);
    for (int i = 0; i < CROWD; i++) {
        double v[3], w[3], radii[3], radius = unit * contact_between(rng, 0.25, 1);
        for (int k = 0; k < 3; k++)
            radii[k] = number % 4 < 2 ? radius : unit * contact_between(rng, 0.25, 1);
        r.bodies[i] =
            add_ellipsoid(r.world, radii, 3 * unit * (i % 3 - 1), unit * (2 * (i / 6) - 3),
                          3 * unit * (2 * (i / 3 % 2) - 1), friction, restitution);
        contact_direction(rng, v);
        contact_direction(rng, w);
        for (int k = 0; k < 3; k++) {
            v[k] *= contact_between(rng, 0, 3);
            w[k] *= contact_between(rng, 0, 3) / radius;
        }
        assert_int_equal(pl_body_set_velocity(r.world, r.bodies[i], v, w), PL_OK);
    }
    return r;
}

static void rooms_never_gain_energy(void **state)
{
    int rounds = check_rounds(1000, 80), gained = 0;
    double worst = 0;
    pl_rng rng = pl_rng_make(74);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        room r = random_room(&rng, round);
        double first = energy_of(&r), most = 0;
        for (int f = 0; f < 180; f++) {
            world_step(r.world, 1);
            most = fmax(most, energy_of(&r));
        }
        gained += most > 1.01 * first;
        worst = fmax(worst, most / first);
        if (most > 1.01 * first)
            printf("room %d of %.2f m: %.4f\n", round, r.half, most / first);
        pl_world_destroy(r.world);
    }
    printf("%d rooms: %d with more than 1 %% too much energy, the most %.4f of what it was\n",
           rounds, gained, worst);
    assert_true(worst < 1.02);
}

/* ---- Alone ----------------------------------------------------------------------------------- */

/* Whatever the step, and by more than a turn in it. */
static void balls_keep_their_spin(void **state)
{
    pl_rng rng = pl_rng_make(75);
    double worst = 0;
    (void)state;
    for (int round = 0; round < check_rounds(200, 40); round++) {
        double w[3], zero[3] = {0, 0, 0}, now[3], speed = contact_decades(&rng, 0, 3);
        pl_world *world = make_world(1 << contact_below(&rng, 4), 0);
        pl_body ball = add_ball(world, contact_decades(&rng, -2, 0), 0, 0, 0, 0, 0);
        contact_direction(&rng, w);
        for (int k = 0; k < 3; k++)
            w[k] *= speed;
        assert_int_equal(pl_body_set_velocity(world, ball, zero, w), PL_OK);
        world_step(world, 60);
        world_read(world, ball, PL_SPINS, now);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(now[k] - w[k]) / contact_length(w));
        pl_world_destroy(world);
    }
    printf("spins of 1 to 1,000 rad/s change by %.1e in a second\n", worst);
    assert_true(worst < 1e-5);
}

/* Ellipsoids tumble: energy and the length of the angular momentum stay to rounding, its direction
   as well as the sub-steps are short. */
static void ellipsoids_tumble(void **state)
{
    pl_rng rng = pl_rng_make(76);
    double energy = 0, length = 0, direction = 0;
    (void)state;
    for (int round = 0; round < check_rounds(200, 40); round++) {
        double w[3], zero[3] = {0, 0, 0}, r[3], size = contact_decades(&rng, -2, 0);
        for (int k = 0; k < 3; k++)
            r[k] = size * contact_between(&rng, 0.3, 1);
        pl_world *world = make_world(8, 0);
        pl_body body = add_ellipsoid(world, r, 0, 0, 0, 0, 0);
        contact_direction(&rng, w);
        for (int k = 0; k < 3; k++)
            w[k] *= contact_between(&rng, 1, 20);
        assert_int_equal(pl_body_set_velocity(world, body, zero, w), PL_OK);
        pl_body_state from, to;
        pl_energy before, after;
        pl_body_get_state(world, body, &from);
        pl_body_get_energy(world, body, &before);
        for (int f = 0; f < 120; f++) {
            double dot = 0;
            world_step(world, 1);
            pl_body_get_state(world, body, &to);
            pl_body_get_energy(world, body, &after);
            double had = contact_length(from.angular_momentum),
                   has = contact_length(to.angular_momentum);
            for (int k = 0; k < 3; k++)
                dot += from.angular_momentum[k] * to.angular_momentum[k] / had / has;
            energy = fmax(energy, fabs(after.kinetic / before.kinetic - 1));
            length = fmax(length, fabs(has / had - 1));
            direction = fmax(direction, acos(fmin(dot, 1)));
        }
        pl_world_destroy(world);
    }
    printf("ellipsoids: energy off by %.1e, angular momentum by %.1e and %.1e radians in 2 s\n",
           energy, length, direction);
    assert_true(energy < 1e-4 && length < 1e-4 && direction < 0.1);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static void same_bits_from_snapshots(void **state)
{
    pl_rng rng[2] = {pl_rng_make(78), pl_rng_make(78)};
    room one = random_room(rng, 3), other = random_room(rng + 1, 3);
    pl_model *models[CROWD];
    size_t size;
    (void)state;
    for (int i = 0; i < CROWD; i++)
        models[i] = pl_body_model(one.world, one.bodies[i]);
    for (int f = 0; f < 100; f++) {
        if (f == 50) {
            assert_int_equal(pl_world_save(one.world, NULL, 0, &size), PL_OK);
            void *bytes = malloc(size);
            assert_non_null(bytes);
            assert_int_equal(pl_world_save(one.world, bytes, size, &size), PL_OK);
            assert_int_equal(pl_world_restore(other.world, bytes, size, models, CROWD, NULL),
                             PL_OK);
            free(bytes);
        }
        world_step(one.world, 1);
        world_step(other.world, 1);
        assert_true(pl_world_hash(one.world) == pl_world_hash(other.world));
    }
    pl_world_destroy(one.world);
    pl_world_destroy(other.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_roll_and_slide_down_slopes_by_the_law),
        cmocka_unit_test(thrown_balls_end_at_five_sevenths),
        cmocka_unit_test(balls_that_meet_keep_their_momenta),
        cmocka_unit_test(balls_roll_on_boards_that_give_way),
        cmocka_unit_test(rooms_never_gain_energy),
        cmocka_unit_test(balls_keep_their_spin),
        cmocka_unit_test(ellipsoids_tumble),
        cmocka_unit_test(same_bits_from_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
