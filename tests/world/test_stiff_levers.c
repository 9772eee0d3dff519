/* Touches of stiff bodies push and rub both sides at one point (find_common in
   contact/firm_touch.c), so that what turns the one is taken from the other: between a stiff body
   and one that moves by particles, and where pairs deep in each other are parted along a line that
   is not that of their centres. What is parted without velocity, and turns that the solver does not
   keep, leave some error. */
#include <stdio.h>

#include "contact_cases.h"
#include "world/world.h"

typedef struct pair {
    pl_world *world;
    pl_body bodies[2];
} pair;

/* About the common centre of mass; *size: both momenta at half a metre. */
static void sum_up(const pair *p, double angular[3], double *size)
{
    pl_body_state s[2];
    double centre[3] = {0, 0, 0}, mass = 0;
    *size = 0;
    for (int i = 0; i < 2; i++) {
        pl_body_get_state(p->world, p->bodies[i], s + i);
        mass += s[i].mass;
        for (int k = 0; k < 3; k++)
            centre[k] += s[i].mass * s[i].centre[k];
    }
    angular[0] = angular[1] = angular[2] = 0;
    for (int i = 0; i < 2; i++) {
        double arm[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = s[i].centre[k] - centre[k] / mass;
            angular[k] += s[i].angular_momentum[k];
        }
        contact_add_cross(arm, s[i].momentum, angular);
        *size += 0.5 * contact_length(s[i].momentum);
    }
}

typedef struct meeting {
    double young;     /* of the second; the first is stiff */
    double near, far; /* how far their centres are apart to begin with */
    double friction;
} meeting;

static pair make_pair(pl_rng *rng, pl_model *model, const meeting *m)
{
    pl_world_def def = pl_default_world_def();
    pair p;
    def.step = 1.0 / 30;
    def.substeps = 1 + contact_below(rng, 4);
    def.iterations = 6;
    def.gravity[1] = 0;
    def.sleeping = false;
    assert_int_equal(pl_world_create(&def, &p.world, NULL), PL_OK);
    for (int i = 0; i < 2; i++) {
        pl_body_def body = collider_body_def(model, i ? m->young : 1e8, 0, 0, 0);
        contact_rotation(rng, body.rotation);
        body.material.damping = 0;
        body.material.friction = m->friction;
        body.material.density = contact_decades(rng, 2, 3);
        body.position[0] = i * contact_between(rng, m->near, m->far);
        body.position[1] = i * contact_between(rng, -0.4, 0.4);
        body.position[2] = i * contact_between(rng, -0.4, 0.4);
        body.velocity[0] = i ? -2 : 2;
        p.bodies[i] = collider_add_body(p.world, &body);
    }
    return p;
}

/* The mean over many of how far angular momentum is off at the most. */
static double mean_error(const meeting *m, bool mixed)
{
    pl_model *model = collider_lattice(4, 3, 3, 0.25);
    int cases = check_rounds(120, 60);
    double mean = 0, worst = 0;
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pair p = make_pair(&rng, model, m);
        double before[3], now[3], size, any, most = 0;
        sum_up(&p, before, &size);
        for (int f = 0; f < 30; f++) {
            world_step(p.world, 1);
            sum_up(&p, now, &any);
            double off[3] = {now[0] - before[0], now[1] - before[1], now[2] - before[2]};
            most = fmax(most, contact_length(off) / size);
        }
        const pl_contact_body *bodies = p.world->contact->bodies;
        assert_true(bodies[0].whole && !bodies[1].whole == mixed);
        mean += most / cases;
        worst = fmax(worst, most);
        pl_world_destroy(p.world);
    }
    printf("friction %.1f, %s: angular momentum is off by %.4f on average, at most by %.3f\n",
           m->friction, mixed ? "a stiff and a soft one" : "two deep in each other", mean, worst);
    pl_model_release(model);
    return mean;
}

/* With each rubbed at its own surface it was 0.016. */
static void stiff_and_soft_ones_turn_each_other(void **state)
{
    (void)state;
    assert_true(mean_error(&(meeting){500, 1.3, 1.3, 0.8}, true) < 0.011);
}

/* With each pushed at its own particle it was 0.19 and 0.22. */
static void what_is_deep_in_each_other_is_not_turned(void **state)
{
    (void)state;
    assert_true(mean_error(&(meeting){1e8, 0.6, 0.8, 0}, false) < 0.13);
    assert_true(mean_error(&(meeting){1e8, 0.6, 0.8, 0.8}, false) < 0.13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_and_soft_ones_turn_each_other),
        cmocka_unit_test(what_is_deep_in_each_other_is_not_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
