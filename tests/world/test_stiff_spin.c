/* Stiff bodies that turn in empty space, with a few iterations of the fast and the plain solver
   (oriented_lead.c): the springs take no energy that is not there, and the body goes on turning
   about its momentum as a rigid one does. */
#include <stdio.h>
#include <stdlib.h>

#include "contact_cases.h"

enum { FRAMES = 60 };

typedef struct run {
    double young, spin[3];
    int substeps, iterations, model;
    bool torn; /* the particles move, but none of them turns */
} run;

/* Turning at `slow` to `fast` rad/s. */
static run draw_run(uint64_t seed, double slow, double fast)
{
    pl_rng rng = pl_rng_make(seed);
    static const int solids[] = {1, 2, 3, 7, 8};
    run r = {.young = contact_decades(&rng, 6, 9),
             .substeps = 1 + contact_below(&rng, 4),
             .iterations = 2 + contact_below(&rng, 3),
             .model = solids[contact_below(&rng, 5)]};
    double length = contact_between(&rng, slow, fast), size = 0;
    r.torn = seed % 4 == 3;
    for (int k = 0; k < 3; k++) {
        r.spin[k] = contact_between(&rng, -1, 1);
        size += r.spin[k] * r.spin[k];
    }
    for (int k = 0; k < 3; k++)
        r.spin[k] *= length / sqrt(size);
    return r;
}

/* The most energy it had and the most of it in springs, as parts of that at the start. */
static void turn(const contact_models *models, const run *r, double *most, double *elastic)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    pl_body body;
    pl_energy e;
    def.step = 1.0 / 30;
    def.substeps = r->substeps;
    def.iterations = r->iterations;
    memset(def.gravity, 0, sizeof def.gravity);
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_body_def thing = pl_default_body_def(models->model[r->model]);
    thing.material.young = r->young;
    thing.material.damping = 0;
    memcpy(thing.spin, r->spin, sizeof thing.spin);
    assert_int_equal(pl_body_create(world, &thing, &body, NULL), PL_OK);
    if (r->torn) {
        int n = pl_model_get_info(thing.model).particle_count;
        double *still = calloc(3 * (size_t)n, sizeof *still);
        assert_non_null(still);
        assert_int_equal(pl_body_write(world, body, PL_SPINS, 0, n, pl_doubles(still, 0)), PL_OK);
        free(still);
    }
    pl_body_get_energy(world, body, &e);
    double start = e.kinetic;
    for (int f = 0; f < FRAMES; f++) {
        world_step(world, 1);
        pl_body_get_energy(world, body, &e);
        *most = fmax(*most, (e.kinetic + e.elastic) / start);
        *elastic = fmax(*elastic, e.elastic / start);
    }
    pl_world_destroy(world);
}

static void strain_nothing(const contact_models *models, double slow, double fast)
{
    double worst = 0, strained = 0;
    int runs = check_rounds(1000, 100), worst_run = -1;
    for (int i = 0; i < runs; i++) {
        run r = draw_run((uint64_t)i, slow, fast);
        double most = 0, elastic = 0;
        turn(models, &r, &most, &elastic);
        if (most > 1.01)
            printf("run %d, young %.1e, %d × %d, model %d, spin %.1f rad/s: %.3f\n", i, r.young,
                   r.substeps, r.iterations, r.model,
                   sqrt(r.spin[0] * r.spin[0] + r.spin[1] * r.spin[1] + r.spin[2] * r.spin[2]),
                   most);
        worst_run = most > worst ? i : worst_run;
        worst = fmax(worst, most);
        strained = fmax(strained, elastic);
    }
    printf("%d bodies that turn at %g to %g rad/s: at most %.4f of the energy at the start (run "
           "%d), %.4f of it in "
           "springs\n",
           runs, slow, fast, worst, worst_run, strained);
    assert_true(worst < 1.01);
}

static void turning_strains_nothing(void **state)
{
    strain_nothing(*state, 0.5, 8);
}

/* As a light body does that a blow has set spinning: by up to seven radians in a sub-step. */
static void spinning_strains_nothing(void **state)
{
    strain_nothing(*state, 8, 200);
}

/* Thrown at a wall that throws it back and sets it spinning. The most energy it had, as a part of
   that at the start, and the fastest it turned, radians in a sub-step. */
static double bounce(const contact_models *models, uint64_t seed, double *fastest)
{
    pl_rng rng = pl_rng_make(seed);
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    pl_body body;
    pl_energy e;
    double most = 0, way[3], reach;
    int which = 1 + contact_below(&rng, CONTACT_MODELS - 1);
    def.step = 1.0 / 30;
    def.substeps = 1 + contact_below(&rng, 4);
    def.iterations = 2 + contact_below(&rng, 3);
    memset(def.gravity, 0, sizeof def.gravity);
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_body_def thing = pl_default_body_def(models->model[which]);
    reach = models->reach[which];
    thing.material.young = contact_decades(&rng, 6, 9);
    thing.material.damping = 0;
    thing.material.friction = contact_below(&rng, 2) ? contact_between(&rng, 0, 1) : 0;
    thing.material.restitution = contact_between(&rng, 0.5, 1);
    contact_rotation(&rng, thing.rotation);
    contact_direction(&rng, way);
    double speed = contact_decades(&rng, 0, 1.6);
    thing.position[1] = 1.05 * reach;
    for (int k = 0; k < 3; k++)
        thing.velocity[k] = speed * (k == 1 ? -fabs(way[1]) - 0.5 : way[k]);
    pl_collider_def wall = pl_default_collider_def(PL_COLLIDER_PLANE);
    wall.friction = thing.material.friction;
    assert_int_equal(pl_body_create(world, &thing, &body, NULL), PL_OK);
    collider_add(world, &wall);
    pl_body_get_energy(world, body, &e);
    double start = e.kinetic, spins[3];
    for (int f = 0; f < FRAMES; f++) {
        world_step(world, 1);
        pl_body_get_energy(world, body, &e);
        most = fmax(most, (e.kinetic + e.elastic) / start);
        pl_body_read(world, body, PL_SPINS, 0, 1, 1, pl_doubles(spins, 0));
        *fastest = fmax(*fastest, contact_length(spins) * def.step / def.substeps);
    }
    pl_world_destroy(world);
    return most;
}

static void blows_that_set_spinning_strain_nothing(void **state)
{
    double worst = 0, fastest = 0;
    int runs = check_rounds(2000, 100), gain = 0;
    for (int i = 0; i < runs; i++) {
        double most = bounce(*state, (uint64_t)i, &fastest);
        gain += most > 1.01;
        if (most > 1.01)
            printf("bounce %d: %.3f\n", i, most);
        worst = fmax(worst, most);
    }
    printf("%d bodies thrown at a wall: %d gain, at most %.4f of the energy at the start; they "
           "turn by up to %.1f radians in a "
           "sub-step\n",
           runs, gain, worst, fastest);
    assert_true(fastest > (runs < 100 ? 0.5 : 1)); /* slow builds throw a few */
    assert_true(worst < 1.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_strains_nothing),
        cmocka_unit_test(spinning_strains_nothing),
        cmocka_unit_test(blows_that_set_spinning_strain_nothing),
    };
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
