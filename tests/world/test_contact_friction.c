/* Friction over long times: what should stick stays for a minute, what should slide slides by the
   law, what rolls does not jitter, what is stacked stays put; for several shapes, materials and
   sub-steps, without sleep to help. Label: slow. */
#include <stdio.h>

#include "contact_cases.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.81
#define SLOPE (20 * PI / 180)

/* A body that stands on its own on a slope. `lift`: how high its origin is above what it stands
   on. */
typedef struct thing {
    const char *name;
    pl_model *model;
    double lift, size;
} thing;

enum { THINGS = 5 };

/* Half the height of an ellipsoid. */
static double half_height(const double radii[3], const double q[4])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2}, turned[3];
        contact_turn_vector(q, axis, turned);
        sum += radii[k] * radii[k] * turned[1] * turned[1];
    }
    return sqrt(sum);
}

static thing make_thing(const char *name, pl_model *model)
{
    double x[3 * CONTACT_MOST_PARTICLES], r[3 * CONTACT_MOST_PARTICLES],
        q[4 * CONTACT_MOST_PARTICLES];
    pl_model_info info = pl_model_get_info(model);
    thing t = {name, model, -INFINITY, 0};
    pl_model_read(model, PL_REST_POSITIONS, 0, info.particle_count, pl_doubles(x, 0));
    pl_model_read(model, PL_REST_RADII, 0, info.particle_count, pl_doubles(r, 0));
    pl_model_read(model, PL_REST_ORIENTATIONS, 0, info.particle_count, pl_doubles(q, 0));
    for (int i = 0; i < info.particle_count; i++)
        t.lift = fmax(t.lift, half_height(r + 3 * i, q + 4 * i) - x[3 * i + 1]);
    for (int k = 0; k < 3; k++)
        t.size = fmax(t.size, info.upper[k] - info.lower[k]);
    return t;
}

static void make_things(thing things[THINGS])
{
    things[0] = make_thing("lattice", collider_lattice(4, 3, 3, 0.25));
    things[1] = make_thing("flat lattice", collider_lattice(6, 2, 4, 0.1));
    things[2] = make_thing("cuboid", contact_cook("cuboid", 60, 1));
    things[3] = make_thing("box", world_sized_model(PL_SHAPE_BOX, 4, 3, 4, 1, 0.6, 1, true));
    things[4] = make_thing("torus", contact_cook("torus", 80, 1));
}

static void free_things(thing things[THINGS])
{
    for (int i = 0; i < THINGS; i++)
        pl_model_release(things[i].model);
}

typedef struct setting {
    double young, damping;
    int substeps;
} setting;

static pl_world *slope(const thing *t, const setting *s, double friction, pl_body *body)
{
    static const double axis[3] = {0, 0, 1};
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    double q[4];
    def.substeps = s->substeps;
    def.iterations = 3;
    def.sleeping = false;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    collider_turn(q, axis, -SLOPE);
    pl_collider_def ground = pl_default_collider_def(PL_COLLIDER_PLANE);
    memcpy(ground.rotation, q, sizeof q);
    ground.friction = friction;
    collider_add(world, &ground);
    pl_body_def stand =
        collider_body_def(t->model, s->young, sin(SLOPE) * t->lift, cos(SLOPE) * t->lift, 0);
    memcpy(stand.rotation, q, sizeof q);
    stand.material.friction = friction;
    stand.material.damping = s->damping;
    *body = collider_add_body(world, &stand);
    return world;
}

static const setting settings[] = {
    {1e5, 0.5, 1}, {1e5, 0, 3}, {1e6, 0, 2}, {3e4, 1, 4}, {1e7, 0.1, 6}};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* ---- Slopes ---------------------------------------------------------------------------------- */

static void what_should_stick_stays_for_a_minute(void **state)
{
    (void)state;
    thing things[THINGS];
    int frames = world_is_slow_build() ? 300 : 3600;
    double worst = 0;
    make_things(things);
    for (int i = 0; i < THINGS; i++)
        for (int k = 0; k < SETTINGS; k++) {
            if (!check_is_thorough() && (i + k) % SETTINGS > 1)
                continue; /* two settings for each, all of them among the things */
            pl_body body;
            pl_world *world = slope(things + i, settings + k, 0.5, &body);
            pl_body_state start, end;
            double moved[3], most = 0;
            world_step(world, 120);
            pl_body_get_state(world, body, &start);
            for (int f = 0; f < frames; f += 60) {
                world_step(world, 60);
                pl_body_get_state(world, body, &end);
                for (int j = 0; j < 3; j++)
                    moved[j] = end.centre[j] - start.centre[j];
                most = fmax(most, contact_length(moved) / things[i].size);
            }
            printf("%-12s young %.0e, damping %.1f, %d sub-steps: moved %.5f of its size in 60 s\n",
                   things[i].name, settings[k].young, settings[k].damping, settings[k].substeps,
                   most);
            worst = fmax(worst, most);
            pl_world_destroy(world);
        }
    assert_true(worst < 0.01);
    free_things(things);
}

static double speed_along(const pl_world *world, pl_body body)
{
    pl_body_state s;
    pl_body_get_state(world, body, &s);
    return s.velocity[0] * cos(SLOPE) - s.velocity[1] * sin(SLOPE);
}

static void what_should_slide_slides_by_the_law(void **state)
{
    (void)state;
    thing things[THINGS];
    double worst = 0;
    make_things(things);
    for (int i = 0; i < THINGS; i++)
        for (int k = 0; k < SETTINGS; k++) {
            double friction = 0.2, law = GRAVITY * (sin(SLOPE) - friction * cos(SLOPE));
            setting s = settings[k];
            pl_body body;
            s.damping = 0;
            pl_world *world = slope(things + i, &s, friction, &body);
            world_step(world, 30);
            double before = speed_along(world, body);
            world_step(world, 120);
            double rate = (speed_along(world, body) - before) / 2;
            printf("%-12s young %.0e, %d sub-steps: %.4f m/s², law %.4f\n", things[i].name, s.young,
                   s.substeps, rate, law);
            worst = fmax(worst, fabs(rate / law - 1));
            pl_world_destroy(world);
        }
    printf("worst: %.2f %% off the law\n", 100 * worst);
    assert_true(worst < 0.05);
    free_things(things);
}

/* ---- Rolling --------------------------------------------------------------------------------- */

enum { BALL = 150 };

/* Particles all over a sphere (a spiral), each joined to its near ones and to the middle. */
static pl_model *make_ball(double radius, double grain)
{
    static double x[BALL + 1][3], r[BALL + 1][3];
    static int32_t edges[BALL * BALL][2];
    int edge_count = 0;
    for (int i = 0; i <= BALL; i++) {
        double y = 1 - 2 * (i + 0.5) / BALL, ring = sqrt(fmax(0, 1 - y * y)),
               angle = 2.39996323 * i;
        double at[3] = {ring * cos(angle), y, ring * sin(angle)};
        for (int k = 0; k < 3; k++) {
            x[i][k] = i < BALL ? at[k] * (radius - grain) : 0;
            r[i][k] = grain;
        }
    }
    for (int i = 0; i < BALL; i++)
        for (int j = i + 1; j <= BALL; j++) {
            double d[3] = {x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]};
            if (j == BALL || contact_length(d) < 0.45 * radius) {
                edges[edge_count][0] = i;
                edges[edge_count++][1] = j;
            }
        }
    pl_model_def def = pl_default_model_def();
    pl_model *model;
    def.particle_count = BALL + 1;
    def.positions = pl_doubles(x[0], 0);
    def.radii = pl_doubles(r[0], 0);
    def.edge_count = edge_count;
    def.edges = edges[0];
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    return model;
}

/* A ball that lies still, then gets the speed at which it rolls and nothing slides. */
static pl_world *roll(pl_model *model, double young, int substeps, pl_body *body)
{
    static const double velocity[3] = {2, 0, 0}, spin[3] = {0, 0, -4};
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.substeps = substeps;
    def.iterations = 4;
    def.sleeping = false;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_collider_def ground = pl_default_collider_def(PL_COLLIDER_PLANE);
    collider_add(world, &ground);
    pl_body_def lie = collider_body_def(model, young, 0, 0.5, 0);
    lie.material.damping = 10;
    *body = collider_add_body(world, &lie);
    world_step(world, 120);
    lie.material.damping = 0;
    assert_int_equal(pl_body_set_material(world, *body, &lie.material, NULL, NULL, NULL), PL_OK);
    assert_int_equal(pl_body_set_velocity(world, *body, velocity, spin), PL_OK);
    return world;
}

/* The centre neither hops nor shakes: its ways up and down are those of going from grain to grain,
   a hundredth of the radius. A stiff ball swings over each grain as if on a leg, and its centre
   goes up and down by sin(θ/2) of the speed, θ = 0.3 to 0.5 being the angle from one to the next.
   The speed falls, if at all, slowly, and does not rise. */
static void balls_roll_without_jitter(void **state)
{
    (void)state;
    pl_model *model = make_ball(0.5, 0.1);
    for (int substeps = 1; substeps <= 4; substeps += 3)
        for (double young = 1e5; young < 5e6; young *= 10) {
            pl_body body;
            pl_world *world = roll(model, young, substeps, &body);
            double low = 1, high = 0, hop = 0, first = 2, last = 2, gain = 0, jerk = 0;
            for (int f = 0; f < 240; f++) {
                pl_body_state s;
                world_step(world, 1);
                pl_body_get_state(world, body, &s);
                low = fmin(low, s.centre[1]);
                high = fmax(high, s.centre[1]);
                hop = fmax(hop, fabs(s.velocity[1]));
                gain = fmax(gain, s.velocity[0] - first);
                jerk = fmax(jerk, fabs(s.velocity[0] - last));
                last = s.velocity[0];
            }
            printf("%d sub-steps, young %.0e: centre %.4f to %.4f m, hops %.4f m/s, speed %.3f to "
                   "%.3f m/s, largest change in a frame %.4f m/s\n",
                   substeps, young, low, high, hop, first, last, jerk);
            assert_true(high - low < 0.02);
            assert_true(hop < 0.2 * first);
            assert_true(gain < 0.02 * first && jerk < 0.05 * first);
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

enum { STACK = 5 };

static void stacks_stay_put(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    for (int k = 0; k < 4; k++) {
        pl_world *world;
        pl_world_def def = pl_default_world_def();
        pl_body bodies[STACK];
        pl_body_state start[STACK], end;
        def.substeps = k % 2 ? 4 : 2;
        def.iterations = 3;
        def.sleeping = k >= 2;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_collider_def ground = pl_default_collider_def(PL_COLLIDER_PLANE);
        collider_add(world, &ground);
        for (int i = 0; i < STACK; i++) {
            pl_body_def box = collider_body_def(model, 5e5, 0, 0.375 + 0.75 * i, 0);
            box.material.damping = 0.5;
            bodies[i] = collider_add_body(world, &box);
        }
        world_step(world, 120);
        for (int i = 0; i < STACK; i++)
            pl_body_get_state(world, bodies[i], start + i);
        world_step(world, world_is_slow_build() ? 120 : 1200);
        double worst = 0, sideways = 0;
        for (int i = 0; i < STACK; i++) {
            pl_body_get_state(world, bodies[i], &end);
            double moved[3];
            for (int j = 0; j < 3; j++)
                moved[j] = end.centre[j] - start[i].centre[j];
            worst = fmax(worst, contact_length(moved) / 0.75);
            sideways = fmax(sideways, hypot(end.centre[0], end.centre[2]) / 0.75);
        }
        printf("%d sub-steps, sleep %d: moved %.5f of a box in 20 s, %.5f to the side since the "
               "start\n",
               def.substeps, def.sleeping, worst, sideways);
        assert_true(worst < 0.02 && sideways < 0.05);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_should_stick_stays_for_a_minute),
        cmocka_unit_test(what_should_slide_slides_by_the_law),
        cmocka_unit_test(balls_roll_without_jitter),
        cmocka_unit_test(stacks_stay_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
