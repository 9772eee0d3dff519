/* It does not show when contact looked around: worlds in which it does so in every step, whether it
   has to or not, and worlds in which it goes on with what it knows have the same hash after every
   step. Bodies are thrown, moved by the host, made and destroyed, fall asleep, are put to sleep and
   are woken, change whom they touch, and the length of steps changes. */
#include "contact_cases.h"
#include "world/world.h"

enum { BODIES = 9, STEPS = 200 };

typedef struct pair {
    pl_world *kept, *anew;
    pl_body bodies[2][BODIES];
    pl_collider plate; /* of both */
} pair;

static pl_body_def thrown(pl_rng *rng, const contact_models *models, double speed)
{
    pl_body_def def = pl_default_body_def(models->model[contact_below(rng, CONTACT_MODELS)]);
    for (int k = 0; k < 3; k++) {
        def.position[k] = contact_between(rng, -1.5, 1.5) + (k == 1 ? 2.5 : 0);
        def.velocity[k] = speed * contact_between(rng, -1, 1) - def.position[k];
        def.spin[k] = contact_between(rng, -5, 5);
    }
    contact_rotation(rng, def.rotation);
    def.material.young = contact_decades(rng, 4, 8); /* many move as a whole */
    def.material.restitution = contact_below(rng, 3) ? 0 : 0.5;
    def.self_contact = contact_below(rng, 2);
    return def;
}

static void add_body(pl_rng *rng, const contact_models *models, double speed, pair *p, int at)
{
    pl_body_def def = thrown(rng, models, speed);
    p->bodies[0][at] = collider_add_body(p->kept, &def);
    p->bodies[1][at] = collider_add_body(p->anew, &def);
}

static pair make_pair(pl_rng *rng, const contact_models *models, double speed)
{
    pair p;
    pl_world_def def = pl_default_world_def();
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider_def ball = pl_default_collider_def(PL_COLLIDER_SPHERE);
    pl_collider_def plate = pl_default_collider_def(PL_COLLIDER_BOX);
    ball.size[0] = 0.7;
    plate.size[0] = plate.size[2] = 1, plate.size[1] = 0.005;
    plate.position[0] = 1.2, plate.position[1] = 0.6;
    def.substeps = 1 + contact_below(rng, 3);
    def.step = def.substeps / 180.0;
    def.iterations = 2;
    pl_world **worlds[2] = {&p.kept, &p.anew};
    for (int w = 0; w < 2; w++) {
        assert_int_equal(pl_world_create(&def, worlds[w], NULL), PL_OK);
        collider_add(*worlds[w], &floor);
        collider_add(*worlds[w], &ball);
        p.plate = collider_add(*worlds[w], &plate);
    }
    for (int i = 0; i < BODIES; i++)
        add_body(rng, models, speed, &p, i);
    return p;
}

/* Some fall asleep, or one wakes. */
static void calm(pl_world *world, const pl_body bodies[BODIES], int which, bool asleep)
{
    for (int i = which; i < BODIES && asleep; i += 2)
        assert_int_equal(pl_body_sleep(world, bodies[i]), PL_OK);
    if (!asleep)
        assert_int_equal(pl_body_wake(world, bodies[which]), PL_OK);
}

/* Whom it touches, and how. */
static void change(pl_world *world, pl_body body, pl_collider plate, int which, int what)
{
    double belt[3] = {which % 3, 0, 0};
    uint32_t mask = which % 2 ? UINT32_MAX : 2;
    pl_status status =
        what == 5   ? pl_body_set_filter(world, body, 1 + (uint32_t)which % 3, UINT32_MAX)
        : what == 6 ? pl_body_set_filter(world, body, 1, mask)
        : what == 7 ? pl_body_set_self_contact(world, body, which % 2)
        : what == 8 ? pl_collider_set_filter(world, plate, 1, mask)
                    : pl_collider_set_surface(world, plate, 0.1 * which, 0.1 * which, belt);
    assert_int_equal(status, PL_OK);
}

/* The same in both. */
static void meddle(pl_rng *rng, const contact_models *models, double speed, pair *p)
{
    pl_world *worlds[2] = {p->kept, p->anew};
    int what = contact_below(rng, 100), which = contact_below(rng, BODIES);
    int substeps = 1 + contact_below(rng, 3);
    double to[3], turn[4];
    for (int k = 0; k < 3; k++)
        to[k] = contact_between(rng, -2, 2) + (k == 1 ? 2.5 : 0);
    contact_rotation(rng, turn);
    for (int w = 0; w < 2; w++) {
        pl_body body = p->bodies[w][which];
        if (what == 0)
            assert_int_equal(pl_body_teleport(worlds[w], body, to, turn), PL_OK);
        else if (what == 1)
            assert_int_equal(pl_world_set_step(worlds[w], substeps / 120.0, substeps), PL_OK);
        else if (what == 2)
            pl_body_destroy(worlds[w], body);
        else if (what < 5)
            calm(worlds[w], p->bodies[w], which, what == 3);
        else if (what < 10)
            change(worlds[w], body, p->plate, which, what);
    }
    if (what == 2)
        add_body(rng, models, speed, p, which);
}

static void it_does_not_show_when_contact_looked_around(void **state)
{
    const contact_models *models = *state;
    uint64_t often = 0, seldom = 0;
    int slept = 0;
    for (int round = 0; round < check_rounds(200, 8); round++) {
        pl_rng rng = pl_rng_make((uint64_t)round);
        double speed = contact_decades(&rng, -1, 1.5);
        pair p = make_pair(&rng, models, speed);
        for (int s = 0; s < STEPS; s++) {
            meddle(&rng, models, speed, &p);
            p.anew->contact->stale = true;
            world_step(p.kept, 1);
            world_step(p.anew, 1);
            slept += p.kept->live_count - p.kept->awake_count;
            if (pl_world_hash(p.kept) != pl_world_hash(p.anew))
                fail_msg("round %d differs after step %d", round, s + 1);
        }
        seldom += p.kept->contact->builds;
        often += p.anew->contact->builds;
        pl_world_destroy(p.kept);
        pl_world_destroy(p.anew);
    }
    print_message("looked around %d times instead of %d; %d bodies slept through a step\n",
                  (int)seldom, (int)often, slept);
    assert_true(seldom < often);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_not_show_when_contact_looked_around)};
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
