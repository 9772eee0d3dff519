/* Colliders: what they stop, carry and give back. Slopes and belts against the laws of friction,
   plates and meshes against fast bodies, momentum against the impulses that are read back. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/collider_kit.h"

#define PI 3.14159265358979323846

/* The same flat floor by every kind of collider: its upper surface is the plane through the origin
   with the frame's y as its normal. */
static pl_collider_def floor_def(pl_collider_kind kind, const collider_sheet *mesh,
                                 const double q[4])
{
    pl_collider_def def = pl_default_collider_def(kind);
    double down = 0;
    memcpy(def.rotation, q, sizeof def.rotation);
    if (kind == PL_COLLIDER_BOX) {
        def.size[0] = def.size[2] = 200;
        def.size[1] = down = 1;
    }
    if (kind == PL_COLLIDER_SPHERE)
        def.size[0] = down = 1e6;
    if (kind == PL_COLLIDER_MESH)
        def.mesh = &mesh->mesh;
    /* −down times the frame's y. */
    def.position[0] = -down * 2 * (q[0] * q[1] - q[2] * q[3]);
    def.position[1] = -down * (1 - 2 * (q[0] * q[0] + q[2] * q[2]));
    def.position[2] = -down * 2 * (q[1] * q[2] + q[0] * q[3]);
    return def;
}

static const pl_collider_kind floors[] = {PL_COLLIDER_PLANE, PL_COLLIDER_BOX, PL_COLLIDER_MESH,
                                          PL_COLLIDER_SPHERE};
enum { FLOORS = 4 };

/* ---- Slopes ---------------------------------------------------------------------------------- */

static double speed_of(const pl_world *world, pl_body body)
{
    pl_body_state s;
    pl_body_get_state(world, body, &s);
    return sqrt(s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] +
                s.velocity[2] * s.velocity[2]);
}

static pl_world *slope(pl_collider_kind kind, double friction, double damping, pl_model *model,
                       const collider_sheet *mesh, pl_body *body)
{
    static const double axis[3] = {0, 0, 1};
    double theta = 20 * PI / 180, q[4], height = 0.5 * 0.75 + 0.125;
    pl_world *world = collider_world(3, 3, 9.81);
    collider_turn(q, axis, -theta);
    pl_collider_def ground = floor_def(kind, mesh, q);
    ground.friction = friction;
    collider_add(world, &ground);
    pl_body_def def = collider_body_def(model, 1e5, sin(theta) * height, cos(theta) * height, 0);
    memcpy(def.rotation, q, sizeof q);
    def.material.friction = friction;
    def.material.damping = damping;
    *body = collider_add_body(world, &def);
    return world;
}

static void what_should_stick_sticks(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(40, 20);
    for (int i = 0; i < FLOORS; i++) {
        pl_body body;
        pl_world *world = slope(floors[i], 0.45, 0.5, model, &mesh, &body);
        pl_body_state start, end;
        world_step(world, 30);
        pl_body_get_state(world, body, &start);
        world_step(world, world_is_slow_build() ? 300 : 1800);
        pl_body_get_state(world, body, &end);
        double moved = 0;
        for (int k = 0; k < 3; k++)
            moved += (end.centre[k] - start.centre[k]) * (end.centre[k] - start.centre[k]);
        printf("floor %d: moved %.5f of its size in 60 s\n", (int)floors[i], sqrt(moved) / 1.25);
        assert_true(sqrt(moved) < 0.01 * 1.25);
        pl_world_destroy(world);
    }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

static void what_should_slide_slides(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(40, 20);
    double theta = 20 * PI / 180;
    for (int i = 0; i < FLOORS; i++)
        for (int m = 1; m <= 3; m++) {
            double friction = 0.1 * m, expected = 9.81 * (sin(theta) - friction * cos(theta));
            pl_body body;
            pl_world *world = slope(floors[i], friction, 0, model, &mesh, &body);
            world_step(world, 15);
            double before = speed_of(world, body);
            world_step(world, 45);
            double rate = (speed_of(world, body) - before) / 1.5;
            printf("floor %d, friction %.1f: %.4f m/s², law %.4f\n", (int)floors[i], friction, rate,
                   expected);
            assert_true(fabs(rate / expected - 1) < 0.05);
            pl_world_destroy(world);
        }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

/* ---- Nothing passes -------------------------------------------------------------------------- */

static void extent(const pl_world *world, pl_body body, int axis, double *low, double *high)
{
    double x[3 * 80];
    world_read(world, body, PL_POSITIONS, x);
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < 80; i++) {
        *low = fmin(*low, x[3 * i + axis]);
        *high = fmax(*high, x[3 * i + axis]);
    }
}

/* Down at 500 m/s on a plate of a millimetre in all its forms, turned a little, at several heights
   and sub-steps. */
static void nothing_passes_at_500_metres_per_second(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(7, 30);
    static const double none[4] = {0, 0, 0, 1};
    for (int kind = 0; kind < FLOORS; kind++)
        for (int i = 0; i < 12; i++) {
            pl_world *world = collider_world(i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 6, 3, 0);
            pl_collider_def def = floor_def(floors[kind], &mesh, none);
            if (floors[kind] == PL_COLLIDER_BOX) {
                def.size[1] = 0.0005;
                def.position[1] = -0.0005;
            }
            def.two_sided = i % 2;
            collider_add(world, &def);
            pl_body_def fast = collider_body_def(model, 1e6, 0.3 * i, 4 + 0.77 * i, 0.1 * i);
            static const double axis[3] = {0.6, 0, 0.8};
            collider_turn(fast.rotation, axis, 0.1 * i);
            fast.velocity[1] = -500;
            fast.velocity[0] = 40 * (i % 4);
            pl_body body = collider_add_body(world, &fast);
            for (int f = 0; f < 12; f++) {
                double low, high;
                world_step(world, 1);
                extent(world, body, 1, &low, &high);
                if (!(low > 0))
                    fail_msg("kind %d, case %d, frame %d: a centre at %g", (int)floors[kind], i, f,
                             low);
                assert_true(world_is_finite(world, body));
            }
            pl_world_destroy(world);
        }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

/* Spheres and capsules have no far side to end on: nobody ends inside, and nobody who comes head-on
   gets behind. */
/* What is dropped on a mesh with two sides lies on it, whichever side is up. */
static void meshes_bear_on_both_sides(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.1);
    collider_sheet mesh = collider_make_sheet(7, 5);
    static const double axis[3] = {1, 0, 0}, none[4] = {0, 0, 0, 1};
    for (int back = 0; back < 2; back++)
        for (int substeps = 1; substeps <= 4; substeps *= 4)
            for (double height = 0.2; height < 20; height *= 3) {
                pl_world *world = collider_world(substeps, 3, 9.81);
                pl_collider_def def = floor_def(PL_COLLIDER_MESH, &mesh, none);
                collider_turn(def.rotation, axis, back ? 3.14159265358979 : 0);
                collider_add(world, &def);
                pl_body_def thing = collider_body_def(model, 1e5, 0.3, height, 0.7);
                pl_body body = collider_add_body(world, &thing);
                world_step(world, 120);
                double x[3 * 27], low = INFINITY;
                world_read(world, body, PL_POSITIONS, x);
                for (int i = 0; i < 27; i++)
                    low = fmin(low, x[3 * i + 1]);
                if (!(fabs(low - 0.05) < 0.005))
                    fail_msg("back %d, %d sub-steps, from %g m: lies at %g", back, substeps, height,
                             low);
                pl_world_destroy(world);
            }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

static void nothing_enters_spheres_and_capsules(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    for (int i = 0; i < 8; i++) {
        pl_world *world = collider_world(i % 2 ? 1 : 6, 3, 0);
        bool capsule = i / 2 % 2;
        pl_collider_def def =
            pl_default_collider_def(capsule ? PL_COLLIDER_CAPSULE : PL_COLLIDER_SPHERE);
        def.size[0] = 2;
        def.size[1] = 3;
        def.position[1] = -2 - 3 * capsule;
        collider_add(world, &def);
        pl_body_def fast = collider_body_def(model, 1e6, 0, 9 + i, 0);
        fast.velocity[1] = -500;
        pl_body body = collider_add_body(world, &fast);
        for (int f = 0; f < 20; f++) {
            double x[3 * 80];
            world_step(world, 1);
            world_read(world, body, PL_POSITIONS, x);
            for (int k = 0; k < 80; k++) {
                double y = x[3 * k + 1] + 2 + (capsule ? fmin(fmax(-x[3 * k + 1] - 2, 0), 6) : 0);
                double r = sqrt(x[3 * k] * x[3 * k] + y * y + x[3 * k + 2] * x[3 * k + 2]);
                assert_true(r > 2);
            }
        }
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* A wall of each kind comes at 30 to 300 m/s, a metre and more in a frame, and takes the body
   along. */
static void moving_walls_push(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(5, 30);
    static const double axis[3] = {0, 0, 1};
    for (int kind = 0; kind < 3; kind++)
        for (int speed = 1; speed <= 10; speed += 3) {
            pl_world *world = collider_world(6, 3, 0);
            double q[4], at[3] = {-3, 0, 0};
            collider_turn(q, axis, -PI / 2); /* its y looks along x */
            pl_collider_def def = floor_def(floors[kind], &mesh, q);
            if (floors[kind] == PL_COLLIDER_BOX)
                def.size[1] = 0.0005;
            memcpy(def.position, at, sizeof at);
            pl_collider wall = collider_add(world, &def);
            pl_body_def still = collider_body_def(model, 1e6, 0, 0.1, 0.05);
            pl_body body = collider_add_body(world, &still);
            for (int f = 0; f < 20; f++) {
                double low, high;
                at[0] += speed;
                assert_int_equal(pl_collider_move(world, wall, at, q), PL_OK);
                world_step(world, 1);
                extent(world, body, 0, &low, &high);
                if (!(low > at[0] - 0.0005))
                    fail_msg("kind %d, speed %d, frame %d: %g behind the wall at %g",
                             (int)floors[kind], speed, f, low, at[0]);
            }
            assert_true(speed_of(world, body) > 0.8 * 30 * speed);
            pl_world_destroy(world);
        }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

/* A paddle that turns half a turn per frame sweeps what it meets, and lets nothing through. */
static void turning_paddles_sweep(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    static const double axis[3] = {0, 1, 0}, origin[3] = {0, 0, 0};
    pl_world *world = collider_world(12, 3, 0);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.size[0] = 4, def.size[1] = 1, def.size[2] = 0.01;
    pl_collider paddle = collider_add(world, &def);
    pl_body_def still = collider_body_def(model, 1e6, 2, 0, 1);
    pl_body body = collider_add_body(world, &still);
    double q[4];
    for (int f = 1; f <= 10; f++) {
        collider_turn(q, axis, -f * PI / 8);
        assert_int_equal(pl_collider_move(world, paddle, origin, q), PL_OK);
        world_step(world, 1);
        assert_true(world_is_finite(world, body));
    }
    assert_true(speed_of(world, body) > 5);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void belts_carry(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(40, 20);
    static const double none[4] = {0, 0, 0, 1};
    for (int kind = 0; kind < FLOORS; kind++) {
        pl_world *world = collider_world(3, 3, 9.81);
        pl_collider_def def = floor_def(floors[kind], &mesh, none);
        def.surface_velocity[0] = 2;
        collider_add(world, &def);
        pl_body_def still = collider_body_def(model, 1e5, 0, 0.5, 0);
        still.material.friction = 0.8;
        pl_body body = collider_add_body(world, &still);
        pl_body_state s, before;
        world_step(world, 60);
        pl_body_get_state(world, body, &before);
        world_step(world, 60);
        pl_body_get_state(world, body, &s);
        assert_true(fabs(s.centre[0] - before.centre[0] - 4) < 0.05);
        assert_true(fabs(s.centre[2] - before.centre[2]) < 0.01);
        pl_world_destroy(world);
    }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

static void balls_bounce(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(1, 1, 1, 0.25);
    static const double none[4] = {0, 0, 0, 1};
    for (int kind = 0; kind < FLOORS; kind++) {
        collider_sheet mesh = collider_make_sheet(3, 20);
        pl_world *world = collider_world(3, 3, 0);
        pl_collider_def def = floor_def(floors[kind], &mesh, none);
        def.restitution = 0.5;
        collider_add(world, &def);
        pl_body_def fall = collider_body_def(model, 1e5, 0, 1, 0);
        fall.velocity[1] = -4;
        pl_body body = collider_add_body(world, &fall);
        world_step(world, 20);
        pl_body_state s;
        pl_body_get_state(world, body, &s);
        assert_true(fabs(s.velocity[1] - 2) < 1e-4);
        pl_world_destroy(world);
        collider_free_sheet(&mesh);
    }
    pl_model_release(model);
}

/* ---- Deep inside ----------------------------------------------------------------------------- */

static void bodies_made_inside_come_out_slowly(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    for (int kind = PL_COLLIDER_PLANE; kind <= PL_COLLIDER_CAPSULE; kind++) {
        pl_world *world = collider_world(6, 3, 0);
        pl_collider_def def = pl_default_collider_def((pl_collider_kind)kind);
        def.size[0] = def.size[1] = def.size[2] = 2;
        pl_collider collider = collider_add(world, &def);
        pl_body_def in =
            collider_body_def(model, 1e5, 0.2, kind == PL_COLLIDER_PLANE ? -1 : 0.9, 0.1);
        pl_body body = collider_add_body(world, &in);
        double fastest = 0;
        for (int f = 0; f < 120; f++) {
            world_step(world, 1);
            fastest = fmax(fastest, speed_of(world, body));
        }
        pl_collider_state s;
        assert_int_equal(pl_collider_get_state(world, collider, &s), PL_OK);
        printf("kind %d: fastest %.2f m/s on the way out, %d still touch\n", kind, fastest,
               s.touches);
        assert_true(fastest < 5 && world_is_finite(world, body));
        pl_body_state after;
        pl_body_get_state(world, body, &after);
        double r = sqrt(after.centre[0] * after.centre[0] + after.centre[1] * after.centre[1] +
                        after.centre[2] * after.centre[2]);
        assert_true(kind == PL_COLLIDER_PLANE ? after.centre[1] > 0.3 : r > 2.1);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Momentum -------------------------------------------------------------------------------- */

/* What a collider that stands received is what the body lost. */
static void impulses_are_what_bodies_lost(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    collider_sheet mesh = collider_make_sheet(9, 20);
    static const double axis[3] = {0, 0, 1};
    for (int kind = 0; kind < FLOORS; kind++) {
        double q[4], sum[3] = {0, 0, 0};
        pl_world *world = collider_world(6, 3, 0);
        collider_turn(q, axis, 0.3);
        pl_collider_def def = floor_def(floors[kind], &mesh, q);
        pl_collider collider = collider_add(world, &def);
        pl_body_def fall = collider_body_def(model, 1e5, 0, 2, 0);
        fall.velocity[1] = -8;
        fall.velocity[0] = 3;
        fall.spin[2] = 2;
        pl_body body = collider_add_body(world, &fall);
        pl_body_state start, end;
        pl_body_get_state(world, body, &start);
        for (int f = 0; f < 40; f++) {
            pl_collider_state s;
            world_step(world, 1);
            pl_collider_get_state(world, collider, &s);
            for (int k = 0; k < 3; k++)
                sum[k] += s.impulse[k];
        }
        pl_body_get_state(world, body, &end);
        double size = 8 * end.mass;
        for (int k = 0; k < 3; k++)
            if (fabs(start.momentum[k] - end.momentum[k] - sum[k]) > 2e-6 * size)
                fail_msg("kind %d axis %d: lost %g, received %g", (int)floors[kind], k,
                         start.momentum[k] - end.momentum[k], sum[k]);
        assert_true(sqrt(sum[0] * sum[0] + sum[1] * sum[1]) > 0.5 * size);
        pl_world_destroy(world);
    }
    collider_free_sheet(&mesh);
    pl_model_release(model);
}

/* A host's body: only what the library tells it. */
typedef struct host {
    pl_collider collider;
    double mass, inertia, velocity[3], spin[3];
} host;

static host add_host(pl_world *world, pl_collider_kind kind, double mass, double size, double x,
                     double y, double z)
{
    pl_collider_def def = pl_default_collider_def(kind);
    host h = {.mass = mass, .inertia = mass * size * size * 2 / 3};
    for (int k = 0; k < 3; k++) {
        def.size[k] = size;
        def.inertia[k] = h.inertia;
    }
    def.mass = mass;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    h.collider = collider_add(world, &def);
    return h;
}

static void host_step(pl_world *world, host *h, double gravity)
{
    pl_collider_state s;
    h->velocity[1] -= gravity / 30;
    assert_int_equal(pl_collider_set_velocity(world, h->collider, h->velocity, h->spin), PL_OK);
    world_step(world, 1);
    assert_int_equal(pl_collider_get_state(world, h->collider, &s), PL_OK);
    for (int k = 0; k < 3; k++) {
        h->velocity[k] += s.impulse[k] / h->mass;
        h->spin[k] += s.torque[k] / h->inertia;
    }
}

/* Momentum of a free soft body and a host's, thrown at each other: conserved to float precision,
   for masses far apart. */
static void hosts_exchange_momentum(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 4, 0.25);
    static const double masses[] = {0.5, 30, 200, 20000};
    static const pl_collider_kind kinds[] = {PL_COLLIDER_BOX, PL_COLLIDER_SPHERE,
                                             PL_COLLIDER_CAPSULE};
    for (int kind = 0; kind < 3; kind++)
        for (int m = 0; m < 4; m++) {
            pl_world *world = collider_world(6, 3, 0);
            pl_body_def soft = collider_body_def(model, 1e5, 0, 0, 0);
            soft.velocity[1] = 2;
            pl_body body = collider_add_body(world, &soft);
            host h = add_host(world, kinds[kind], masses[m], 0.5, 0.2, 2.2, -0.1);
            h.velocity[1] = -3;
            pl_body_state s;
            pl_body_get_state(world, body, &s);
            double before[3], size = s.mass * 2 + h.mass * 3, worst = 0,
                              energy = 0.5 * s.mass * 4 + 0.5 * h.mass * 9;
            for (int k = 0; k < 3; k++)
                before[k] = s.momentum[k] + h.mass * h.velocity[k];
            for (int f = 0; f < 60; f++) {
                pl_energy e;
                host_step(world, &h, 0);
                pl_body_get_state(world, body, &s);
                pl_body_get_energy(world, body, &e);
                double now = e.kinetic + e.elastic;
                for (int k = 0; k < 3; k++) {
                    worst = fmax(worst, fabs(s.momentum[k] + h.mass * h.velocity[k] - before[k]));
                    now += 0.5 * h.mass * h.velocity[k] * h.velocity[k] +
                           0.5 * h.inertia * h.spin[k] * h.spin[k];
                }
                if (now > 1.01 * energy)
                    fail_msg("kind %d, mass %g, frame %d: energy %g of %g", kind, masses[m], f, now,
                             energy);
            }
            printf("kind %d, mass %g: momentum %.1e of its size, host %.2f m/s\n", kind, masses[m],
                   worst / size, h.velocity[1]);
            assert_true(worst < 1e-6 * size);
            assert_true(h.velocity[1] > s.velocity[1] - 0.2); /* they part */
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* A heavy box dropped on a soft body on the floor comes to rest on it; a soft body stays on a light
   host held by springs. */
static void a_host_rests_on_a_body(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 4, 5, 0.25);
    pl_world *world = collider_world(6, 4, 9.81);
    pl_collider_def ground = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider floor_handle = collider_add(world, &ground);
    pl_body_def soft = collider_body_def(model, 2e5, 0, 0.5, 0);
    soft.material.damping = 2;
    pl_body body = collider_add_body(world, &soft);
    host h = add_host(world, PL_COLLIDER_BOX, 100, 0.4, 0, 2, 0);
    pl_collider_state s, below;
    pl_body_state b;
    double pushed = 0;
    for (int f = 0; f < 240; f++) {
        host_step(world, &h, 9.81);
        pl_collider_get_state(world, floor_handle, &below);
        pushed += f >= 210 ? -below.impulse[1] / 1.0 : 0;
    }
    pl_collider_get_state(world, h.collider, &s);
    pl_body_get_state(world, body, &b);
    printf("the host rests at %.3f m, %.4f m/s; the floor carries %.2f of the weight\n",
           s.position[1], h.velocity[1], pushed / (9.81 * (b.mass + h.mass)));
    assert_true(s.position[1] > 0.9 && s.position[1] < 1.5);
    double y = s.position[1];
    host_step(world, &h, 9.81);
    pl_collider_get_state(world, h.collider, &s);
    assert_true(fabs(s.position[1] - y) < 1e-4 && fabs(h.spin[0]) < 0.05 && fabs(h.spin[2]) < 0.05);
    assert_true(fabs(pushed / (9.81 * (b.mass + h.mass)) - 1) < 0.03);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void moved_hosts_get_the_velocity(void **state)
{
    (void)state;
    pl_world *world = collider_world(6, 4, 0);
    host h = add_host(world, PL_COLLIDER_BOX, 10, 0.4, 0, 2, 0);
    static const double to[3] = {1, 2, 3}, axis[3] = {0, 1, 0};
    double q[4];
    pl_collider_state s;
    collider_turn(q, axis, 1);
    assert_int_equal(pl_collider_move(world, h.collider, to, q), PL_OK);
    world_step(world, 1);
    pl_collider_get_state(world, h.collider, &s);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(s.position[k] - to[k]) < 1e-12);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(s.rotation[k] - q[k]) < 1e-12);
    pl_world_destroy(world);
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

static void sleepers_wake_for_colliders(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    for (int what = 0; what < 5; what++) {
        pl_world *world = collider_world(6, 3, 9.81);
        pl_collider_def ground = pl_default_collider_def(PL_COLLIDER_BOX);
        ground.size[0] = ground.size[2] = 50;
        ground.position[1] = -0.5;
        pl_collider under = collider_add(world, &ground);
        pl_collider_def wall = pl_default_collider_def(PL_COLLIDER_BOX);
        static const double far[3] = {-20, 0.5, 0}, by[3] = {-0.7, 0.5, 0}, none[4] = {0, 0, 0, 1};
        memcpy(wall.position, far, sizeof far);
        pl_collider other = collider_add(world, &wall);
        pl_body_def def = collider_body_def(model, 1e5, 0, 0.4, 0);
        def.material.damping = 3;
        pl_body body = collider_add_body(world, &def);
        world_step(world, 150);
        pl_body_state s;
        pl_body_get_state(world, body, &s);
        double x = s.centre[0], y = s.centre[1], quiet = speed_of(world, body);
        assert_true(quiet == 0);
        switch (what) {
        case 0:
            pl_collider_destroy(world, under);
            break;
        case 1:
            pl_collider_move(world, other, by, none);
            break;
        case 2:
            pl_collider_place(world, other, by, none);
            break;
        case 3:
            memcpy(wall.position, by, sizeof by);
            collider_add(world, &wall);
            break;
        default: { /* too far away: sleeps on */
            static const double near_by[3] = {-15, 0.5, 0};
            pl_collider_move(world, other, near_by, none);
            break;
        }
        }
        world_step(world, 20);
        pl_body_get_state(world, body, &s);
        if (what == 0)
            assert_true(s.centre[1] < y - 0.5);
        else if (what < 4)
            assert_true(s.centre[0] > x + 0.02);
        else
            assert_true(s.centre[0] == x && s.centre[1] == y);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_should_stick_sticks),
        cmocka_unit_test(what_should_slide_slides),
        cmocka_unit_test(nothing_passes_at_500_metres_per_second),
        cmocka_unit_test(meshes_bear_on_both_sides),
        cmocka_unit_test(nothing_enters_spheres_and_capsules),
        cmocka_unit_test(moving_walls_push),
        cmocka_unit_test(turning_paddles_sweep),
        cmocka_unit_test(belts_carry),
        cmocka_unit_test(balls_bounce),
        cmocka_unit_test(bodies_made_inside_come_out_slowly),
        cmocka_unit_test(impulses_are_what_bodies_lost),
        cmocka_unit_test(hosts_exchange_momentum),
        cmocka_unit_test(a_host_rests_on_a_body),
        cmocka_unit_test(moved_hosts_get_the_velocity),
        cmocka_unit_test(sleepers_wake_for_colliders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
