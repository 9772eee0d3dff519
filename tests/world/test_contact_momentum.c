/* Contact makes no momentum and no energy: random bodies of all shapes, masses and speeds thrown at
   each other keep the sum of their momenta to float precision, and in a closed room never have more
   energy than they began with. Label: slow. */
#include <stdio.h>
#include <stdlib.h>

#include "contact_cases.h"

enum { MOST_BODIES = 6 };

typedef struct system_of_bodies {
    pl_world *world;
    pl_body bodies[MOST_BODIES];
    int count;
    double reach; /* of the largest */
} system_of_bodies;

static pl_world *random_world(pl_rng *rng, double gravity, bool whole, double *h)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.step = contact_below(rng, 2) ? 1.0 / 30 : 1.0 / 60;
    def.substeps = 1 + contact_below(rng, 6);
    def.iterations = 2 + contact_below(rng, 5);
    def.gravity[1] = -gravity;
    def.sleeping = false;
    def.stiff_contact = whole;
    *h = def.step / def.substeps;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body_def random_body_def(pl_rng *rng, const contact_models *models, double *reach)
{
    int which = contact_below(rng, CONTACT_MODELS);
    pl_body_def def = pl_default_body_def(models->model[which]);
    def.material.young = contact_decades(rng, 3.5, 7);
    def.material.density = contact_decades(rng, 1.5, 4);
    def.material.damping = 0;
    def.solver = contact_below(rng, 4) ? PL_SOLVER_FAST : PL_SOLVER_STIFF;
    contact_rotation(rng, def.rotation);
    *reach = models->reach[which];
    return def;
}

/* ---- Momentum -------------------------------------------------------------------------------- */

typedef struct sums {
    double momentum[3], angular[3]; /* angular: about the common centre of mass */
    double size,
        angular_size; /* what they are measured by: the bodies' own, all in one direction */
} sums;

static sums sum_up(const system_of_bodies *s)
{
    sums sum = {.size = 0};
    pl_body_state state[MOST_BODIES];
    double centre[3] = {0, 0, 0}, mass = 0;
    for (int i = 0; i < s->count; i++) {
        pl_body_get_state(s->world, s->bodies[i], state + i);
        mass += state[i].mass;
        for (int k = 0; k < 3; k++)
            centre[k] += state[i].mass * state[i].centre[k];
    }
    for (int i = 0; i < s->count; i++) {
        double arm[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = state[i].centre[k] - centre[k] / mass;
            sum.momentum[k] += state[i].momentum[k];
            sum.angular[k] += state[i].angular_momentum[k];
        }
        contact_add_cross(arm, state[i].momentum, sum.angular);
        sum.size += contact_length(state[i].momentum);
        sum.angular_size += contact_length(state[i].momentum) * s->reach;
    }
    return sum;
}

/* Bodies on a ring, all thrown at the middle. */
static system_of_bodies throw_together(pl_rng *rng, const contact_models *models, int count,
                                       double friction, double restitution)
{
    double h;
    system_of_bodies s = {.world = random_world(rng, 0, count % 2, &h), .count = count};
    pl_body_def defs[MOST_BODIES];
    double speed = contact_decades(rng, 0.3, 2.3), turn[4];
    for (int i = 0; i < count; i++) {
        double reach;
        defs[i] = random_body_def(rng, models, &reach);
        s.reach = fmax(s.reach, reach);
    }
    contact_rotation(rng, turn);
    for (int i = 0; i < count; i++) {
        double angle = 2 * 3.14159265 * i / count, at[3] = {cos(angle), sin(angle), 0}, out[3];
        double ring = 1.02 * s.reach / (count > 1 ? sin(3.14159265 / count) : 1);
        contact_turn_vector(turn, at, out);
        for (int k = 0; k < 3; k++) {
            defs[i].position[k] = out[k] * ring;
            defs[i].velocity[k] = -speed * out[k] * contact_between(rng, 0.3, 1) +
                                  0.1 * speed * contact_between(rng, -1, 1);
            defs[i].spin[k] = contact_between(rng, -1, 1) * fmin(speed, 20) / s.reach;
        }
        defs[i].material.friction = friction;
        defs[i].material.restitution = restitution;
        s.bodies[i] = collider_add_body(s.world, defs + i);
    }
    return s;
}

typedef struct worst_case {
    double error;
    int seed;
} worst_case;

static void note(worst_case *worst, double error, int seed)
{
    if (error > worst->error)
        *worst = (worst_case){error, seed};
}

/* Friction acts where surfaces meet and moves centres, and the solver lets spin decay: angular
   momentum is not kept to the last digit, but never grows by much. */
static bool watch_collision(system_of_bodies *s, int seed, worst_case *linear, worst_case *angular)
{
    sums before = sum_up(s);
    bool touched = false;
    for (int f = 0; f < 40; f++) {
        int events;
        double off[3];
        world_step(s->world, 1);
        pl_world_contacts(s->world, &events);
        touched |= events > 0;
        sums now = sum_up(s);
        for (int k = 0; k < 3; k++)
            off[k] = now.momentum[k] - before.momentum[k];
        note(linear, contact_length(off) / fmax(before.size, now.size), seed);
        note(angular,
             (contact_length(now.angular) - contact_length(before.angular)) / before.angular_size,
             seed);
    }
    return touched;
}

static void momentum_of_bodies_that_collide(void **state)
{
    const contact_models *models = *state;
    worst_case linear = {0, 0}, angular = {0, 0};
    int touched = 0, cases = check_rounds(3000, 80);
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        int count = seed % 2 ? 2 : 3 + contact_below(&rng, MOST_BODIES - 2);
        double friction = seed % 3 ? contact_between(&rng, 0, 1) : 0;
        double restitution = seed / 2 % 2 ? contact_between(&rng, 0, 1) : 0;
        system_of_bodies s = throw_together(&rng, models, count, friction, restitution);
        touched += watch_collision(&s, seed, &linear, &angular);
        pl_world_destroy(s.world);
    }
    printf("%d of %d collided; momentum to %.1e of its size (case %d), angular momentum grows by "
           "%.1e (case %d)\n",
           touched, cases, linear.error, linear.seed, angular.error, angular.seed);
    assert_true(touched >= 0.8 * cases);
    assert_true(linear.error < 4e-7);
    assert_true(angular.error < 0.5);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

static void add_room(pl_world *world, double half, double friction, double restitution)
{
    const double r = sqrt(0.5);
    const double places[6][3] = {{0, 0, 0},    {0, 2 * half, 0}, {-half, 0, 0},
                                 {half, 0, 0}, {0, 0, -half},    {0, 0, half}};
    const double turns[6][4] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, -r, r},
                                {0, 0, r, r}, {r, 0, 0, r}, {-r, 0, 0, r}};
    for (int i = 0; i < 6; i++) {
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
        memcpy(def.position, places[i], sizeof def.position);
        memcpy(def.rotation, turns[i], sizeof def.rotation);
        def.friction = friction;
        def.restitution = restitution;
        collider_add(world, &def);
    }
}

/* What a room is like. */
typedef struct room {
    double friction, restitution, gravity;
    uint64_t first_seed;
} room;

static const room rooms[] = {{0, 0, 9.81, 1000},
                             {0.5, 0, 9.81, 2000},
                             {0, 1, 9.81, 3000},
                             {0.5, 1, 9.81, 4000},
                             {0.5, 0.5, 0, 5000}};

enum { PLAIN, ROUGH, BOUNCY, ROUGH_AND_BOUNCY, WEIGHTLESS };

/* How contact is done there. */
typedef struct manner {
    double
        sound; /* bodies are so soft that sound gets no further in a sub-step, spacings; 0 = as they come */
    bool whole; /* stiff bodies are moved as a whole */
} manner;

#define SOFT 0.3
#define SOFTER 0.03

static void soften(pl_body_def *def, double sound, double h)
{
    double speed = sound * pl_model_get_info(def->model).spacing / h;
    if (speed > 0) /* a single particle has no springs */
        def->material.young = fmin(def->material.young, def->material.density * speed * speed);
}

/* Two to six bodies in the corners of a room, thrown at random. */
static system_of_bodies fill_room(pl_rng *rng, const contact_models *models, const room *r,
                                  const manner *m)
{
    double h;
    system_of_bodies s = {.world = random_world(rng, r->gravity, m->whole, &h),
                          .count = 2 + contact_below(rng, MOST_BODIES - 1)};
    pl_body_def defs[MOST_BODIES];
    double speed = contact_decades(rng, -1, 1.5);
    for (int i = 0; i < s.count; i++) {
        double reach;
        defs[i] = random_body_def(rng, models, &reach);
        s.reach = fmax(s.reach, reach);
        if (m->sound > 0)
            soften(defs + i, m->sound, h);
    }
    double half = 2.02 * s.reach;
    add_room(s.world, half, r->friction, r->restitution);
    for (int i = 0; i < s.count; i++) {
        double way[3], *p = defs[i].position;
        contact_direction(rng, way);
        p[0] = (i & 1 ? 1 : -1) * half / 2;
        p[1] = (i & 2 ? 3 : 1) * half / 2;
        p[2] = (i & 4 ? 1 : -1) * half / 2;
        for (int k = 0; k < 3; k++)
            defs[i].velocity[k] = way[k] * speed;
        defs[i].material.friction = r->friction;
        defs[i].material.restitution = r->restitution;
        s.bodies[i] = collider_add_body(s.world, defs + i);
    }
    return s;
}

/* Joules above a room whose bodies all lie on the floor, which is where gravity's potential is
   0. */
static double energy_of(const system_of_bodies *s, double *without_elastic)
{
    double sum = 0;
    *without_elastic = 0;
    for (int i = 0; i < s->count; i++) {
        pl_energy e;
        pl_body_get_energy(s->world, s->bodies[i], &e);
        *without_elastic += e.kinetic + e.potential;
        sum += e.kinetic + e.potential + e.elastic;
    }
    return sum;
}

/* What rooms had at the most of the energy at the start, with and without that of springs; and how
   many had more than 1 % too much. */
typedef struct balance {
    worst_case total, moving;
    int rooms, bad, bad_moving;
} balance;

static balance watch_rooms(const contact_models *models, const room *r, const manner *m)
{
    balance all = {.rooms = check_rounds(200, m->whole ? 20 : 6)};
    for (int seed = 0; seed < all.rooms; seed++) {
        pl_rng rng = pl_rng_make(r->first_seed + (uint64_t)seed);
        system_of_bodies s = fill_room(&rng, models, r, m);
        double without, before = energy_of(&s, &without), most = 0, most_moving = 0;
        for (int f = 0; f < 200; f++) {
            world_step(s.world, 1);
            most = fmax(most, energy_of(&s, &without) / before);
            most_moving = fmax(most_moving, without / before);
        }
        note(&all.total, most, seed);
        note(&all.moving, most_moving, seed);
        if (m->whole && most > 1.01)
            printf("room %d: %.4g, %.4g without the elastic part\n", seed, most, most_moving);
        all.bad += most > 1.01;
        all.bad_moving += most_moving > 1.01;
        pl_world_destroy(s.world);
    }
    printf(
        "friction %.1f, restitution %.1f, %s: at most %.5g of the energy at the start (case %d), "
        "%.5g without the elastic part (case %d); %d and %d of %d rooms gain\n",
        r->friction, r->restitution,
        m->whole       ? "as a whole"
        : m->sound > 0 ? "soft"
                       : "by particles",
        all.total.error, all.total.seed, all.moving.error, all.moving.seed, all.bad, all.bad_moving,
        all.rooms);
    return all;
}

/* Rooms without and with friction, without and with bouncing, on their own. Particle by particle
   what moves and what was lifted gains no energy (docs/decisions/0013-energy-in-contact.md). The
   springs of stiff bodies do, for the moment between being pushed back by a contact and the next
   solve: the law for the sum is held to where sound gets no further than `sound` spacings in a
   sub-step. Moved as a whole, stiff bodies keep it as well; rules were chosen by looking at rooms
   that did not, so others are tried, too, of which few were looked at. */
static void keep_the_law(const contact_models *models, int kind, double sound)
{
    const room *r = rooms + kind;
    room fresh_room = *r;
    fresh_room.first_seed += 1100000;
    balance free = watch_rooms(models, r, &(manner){0, false});
    balance soft = watch_rooms(models, r, &(manner){sound, false});
    balance whole = watch_rooms(models, r, &(manner){0, true});
    balance fresh = watch_rooms(models, &fresh_room, &(manner){0, true});
    assert_true(free.moving.error < 1.01 && soft.moving.error < 1.01);
    assert_true(soft.total.error < 1.01);
    assert_true(whole.total.error < 1.01);
    assert_true(fresh.total.error < 1.01);
}

static void no_energy_without_friction(void **state)
{
    keep_the_law(*state, PLAIN, SOFT);
}

static void no_energy_with_friction(void **state)
{
    keep_the_law(*state, ROUGH, SOFT);
}

static void no_energy_in_bounces(void **state)
{
    keep_the_law(*state, BOUNCY, SOFT);
}

static void no_energy_in_bounces_with_friction(void **state)
{
    keep_the_law(*state, ROUGH_AND_BOUNCY, SOFT);
}

static void no_energy_without_gravity(void **state)
{
    keep_the_law(*state, WEIGHTLESS, SOFTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_of_bodies_that_collide),
        cmocka_unit_test(no_energy_without_friction),
        cmocka_unit_test(no_energy_with_friction),
        cmocka_unit_test(no_energy_in_bounces),
        cmocka_unit_test(no_energy_in_bounces_with_friction),
        cmocka_unit_test(no_energy_without_gravity),
    };
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
