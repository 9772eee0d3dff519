/* Stiff bodies that turn in empty space, with a few iterations of the fast and the plain solver (oriented_lead.c): the springs take no energy that is not there, and the body goes on
   turning about its momentum as a rigid one does. */
#include <stdio.h>

#include "contact_cases.h"

enum { FRAMES = 60 };

typedef struct run {
    double young, spin[3];
    int substeps, iterations, model;
} run;

static run draw_run(uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    static const int solids[] = {1, 2, 3, 7, 8};
    run r = {.young = contact_decades(&rng, 6, 9),
             .substeps = 1 + contact_below(&rng, 4),
             .iterations = 2 + contact_below(&rng, 3),
             .model = solids[contact_below(&rng, 5)]};
    double length = contact_between(&rng, 0.5, 8), size = 0;
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

static void turning_strains_nothing(void **state)
{
    double worst = 0, strained = 0;
    int runs = check_rounds(1000, 100), worst_run = -1;
    for (int i = 0; i < runs; i++) {
        run r = draw_run((uint64_t)i);
        double most = 0, elastic = 0;
        turn(*state, &r, &most, &elastic);
        if (most > 1.01)
            printf("run %d, young %.1e, %d × %d, model %d, spin %.1f rad/s: %.3f\n", i, r.young,
                   r.substeps, r.iterations, r.model,
                   sqrt(r.spin[0] * r.spin[0] + r.spin[1] * r.spin[1] + r.spin[2] * r.spin[2]),
                   most);
        worst_run = most > worst ? i : worst_run;
        worst = fmax(worst, most);
        strained = fmax(strained, elastic);
    }
    printf("%d bodies: at most %.4f of the energy at the start (run %d), %.4f of it in springs\n",
           runs, worst, worst_run, strained);
    assert_true(worst < 1.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_strains_nothing),
    };
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
