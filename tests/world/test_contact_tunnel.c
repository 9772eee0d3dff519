/* Nothing passes through anything: bodies of all shapes thrown at 500 and up to 5000 m/s at plates
   of a millimetre, meshes on both sides and other bodies, up to 50 km/s at those, and colliders
   that move a metre in a frame. In every case no particle's centre ends behind the surface. */
#include <stdio.h>

#include "contact_cases.h"

enum { MOST_PRINTED = 5 };

typedef struct tally {
    int cases, passed, printed;
} tally;

static void report(tally *t, const char *what, int seed, int frame, double depth, double speed)
{
    t->passed++;
    if (t->printed++ < MOST_PRINTED)
        printf("%s, case %d, frame %d, %.0f m/s: a centre %g m behind\n", what, seed, frame, speed,
               depth);
}

static pl_world *random_world(pl_rng *rng)
{
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 120};
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.step = steps[contact_below(rng, 3)];
    def.substeps = 1 + contact_below(rng, 6);
    def.iterations = 2 + contact_below(rng, 3);
    def.gravity[1] = 0;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

/* The farthest that any centre is below the plane through the origin with this normal; those
   farther than `within` from the origin, who may have come around the edge, do not count. */
static double depth_of(const pl_world *world, pl_body body, const double normal[3], double within)
{
    double x[3 * CONTACT_MOST_PARTICLES], deepest = -INFINITY;
    int n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    world_read(world, body, PL_POSITIONS, x);
    for (int i = 0; i < n; i++) {
        const double *p = x + 3 * i;
        double below = -(p[0] * normal[0] + p[1] * normal[1] + p[2] * normal[2]);
        double beside = sqrt(fmax(0, contact_length(p) * contact_length(p) - below * below));
        if (!(beside > within))
            deepest = fmax(deepest, isnan(below) ? INFINITY : below);
    }
    return deepest;
}

/* ---- Plates and meshes ----------------------------------------------------------------------- */

/* In the frame of the target: from above, down at a random slant. */
static pl_body_def projectile(pl_rng *rng, const contact_models *models, const double turn[4],
                              double speed)
{
    int which = contact_below(rng, CONTACT_MODELS);
    pl_body_def def = pl_default_body_def(models->model[which]);
    double from[3], to[3], way[3];
    for (int k = 0; k < 3; k++) {
        to[k] = k == 1 ? 0 : contact_between(rng, -3, 3);
        from[k] = to[k] + contact_between(rng, -6, 6);
    }
    from[1] = models->reach[which] + contact_decades(rng, -2, 1.3);
    for (int k = 0; k < 3; k++)
        way[k] = to[k] - from[k];
    double length = contact_length(way);
    for (int k = 0; k < 3; k++)
        way[k] *= speed / length;
    contact_turn_vector(turn, from, def.position);
    contact_turn_vector(turn, way, def.velocity);
    contact_rotation(rng, def.rotation);
    def.material.young = contact_decades(rng, 4, 7);
    def.material.density = contact_decades(rng, 2, 4);
    def.material.damping = 0;
    def.material.restitution = contact_below(rng, 3) ? 0 : 0.5;
    for (int k = 0; k < 3; k++)
        def.spin[k] = contact_between(rng, -5, 5);
    return def;
}

/* What is thrown at a mesh meets its front, or its back where the triangles are turned over. */
typedef enum surface { PLATE, FRONT, BACK } surface;

static void turn_over(collider_sheet *sheet)
{
    for (int i = 0; i < sheet->mesh.triangle_count; i++) {
        int32_t first = sheet->triangles[3 * i];
        sheet->triangles[3 * i] = sheet->triangles[3 * i + 2];
        sheet->triangles[3 * i + 2] = first;
    }
}

/* So wide that nobody gets around it in the frames looked at. */
static void add_target(pl_rng *rng, pl_world *world, const collider_sheet *sheet,
                       const double turn[4], surface what)
{
    bool mesh = what != PLATE;
    pl_collider_def def = pl_default_collider_def(mesh ? PL_COLLIDER_MESH : PL_COLLIDER_BOX);
    double down[3] = {0, mesh ? 0 : -0.0005, 0};
    contact_turn_vector(turn, down, def.position);
    memcpy(def.rotation, turn, sizeof def.rotation);
    def.size[0] = def.size[2] = 2000;
    def.size[1] = 0.0005;
    def.mesh = &sheet->mesh;
    def.two_sided = contact_below(rng, 2) || what == BACK;
    collider_add(world, &def);
}

static void throw_at_surfaces(const contact_models *models, const char *what, surface side,
                              double least, double most, int cases)
{
    collider_sheet sheets[2] = {collider_make_sheet(1, 2000), collider_make_sheet(101, 2000)};
    tally t = {.cases = cases};
    double up[3] = {0, 1, 0};
    for (int i = 0; i < 2 && side == BACK; i++)
        turn_over(sheets + i);
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        double turn[4] = {0, 0, 0, 1}, normal[3];
        double speed = least * pow(most / least, pl_random_double(&rng));
        if (seed % 2)
            contact_rotation(&rng, turn);
        contact_turn_vector(turn, up, normal);
        add_target(&rng, world, sheets + seed / 2 % 2, turn, side);
        pl_body_def def = projectile(&rng, models, turn, speed);
        pl_body body = collider_add_body(world, &def);
        for (int f = 0; f < 12; f++) {
            world_step(world, 1);
            double depth = depth_of(world, body, normal, INFINITY);
            if (!(depth < 0)) {
                report(&t, what, seed, f, depth, speed);
                break;
            }
        }
        pl_world_destroy(world);
    }
    printf("%s: %d of %d passed\n", what, t.passed, t.cases);
    collider_free_sheet(sheets);
    collider_free_sheet(sheets + 1);
    assert_int_equal(t.passed, 0);
}

static void plates_stop_500(void **state)
{
    throw_at_surfaces(*state, "plate at 500 m/s", PLATE, 500, 500, check_rounds(3000, 120));
}

static void meshes_stop_500(void **state)
{
    throw_at_surfaces(*state, "mesh at 500 m/s", FRONT, 500, 500, check_rounds(3000, 120));
}

static void plates_stop_anything(void **state)
{
    throw_at_surfaces(*state, "plate at 1 to 5000 m/s", PLATE, 1, 5000, check_rounds(3000, 100));
}

static void meshes_stop_anything(void **state)
{
    throw_at_surfaces(*state, "mesh at 1 to 5000 m/s", FRONT, 1, 5000, check_rounds(3000, 100));
}

static void backs_of_meshes_stop_anything(void **state)
{
    throw_at_surfaces(*state, "back of a mesh at 500 m/s", BACK, 500, 500, check_rounds(1000, 50));
    throw_at_surfaces(*state, "back of a mesh at 1 to 5000 m/s", BACK, 1, 5000,
                      check_rounds(2000, 70));
}

/* ---- Other bodies ---------------------------------------------------------------------------- */

enum { WALL = 20 };

/* A wall of touching particles, one layer thick, that does not give way; what is thrown has
   particles that do not fit between them. */
static void walls_of_particles_stop_anything(void **state)
{
    (void)state;
    static const double up[3] = {0, 1, 0};
    pl_model *wall = collider_lattice(WALL, 1, WALL, 0.25);
    pl_model *models[3] = {collider_lattice(3, 3, 3, 0.25), collider_lattice(1, 1, 1, 0.25),
                           collider_lattice(2, 1, 2, 0.4)};
    int32_t all[WALL * WALL];
    tally t = {.cases = check_rounds(2000, 150)};
    for (int i = 0; i < WALL * WALL; i++)
        all[i] = i;
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        pl_body_def stand = collider_body_def(wall, 1e6, 0, 0, 0);
        stand.fixed = all;
        stand.fixed_count = WALL * WALL;
        collider_add_body(world, &stand);
        pl_body_def fast = collider_body_def(
            models[seed % 3], contact_decades(&rng, 4, 7), contact_between(&rng, -0.3, 0.3),
            contact_between(&rng, 1, 9), contact_between(&rng, -0.3, 0.3));
        double speed = seed % 4 ? 500 : contact_decades(&rng, 1, 3.7);
        contact_rotation(&rng, fast.rotation);
        fast.velocity[1] = -speed;
        pl_body body = collider_add_body(world, &fast);
        for (int f = 0; f < 12; f++) {
            world_step(world, 1);
            double depth = depth_of(world, body, up, 0.125 * WALL);
            if (!(depth < 0)) {
                report(&t, "wall of particles", seed, f, depth, speed);
                break;
            }
        }
        pl_world_destroy(world);
    }
    printf("wall of particles: %d of %d passed\n", t.passed, t.cases);
    for (int i = 0; i < 3; i++)
        pl_model_release(models[i]);
    pl_model_release(wall);
    assert_int_equal(t.passed, 0);
}

enum { SHEET = 21 };

/* Ways of up to 50,000 radii in a sub-step: they meet all the same. Whoever is thrown aside by one
   particle may get past the others. */
static void sheets_are_met_at_50_kilometres_per_second(void **state)
{
    (void)state;
    pl_model *sheet = world_sized_model(PL_SHAPE_SHEET, SHEET, 0, SHEET, 1, 0, 1, false);
    pl_model *ball = collider_lattice(1, 1, 1, 0.06);
    int32_t all[SHEET * SHEET];
    tally t = {.cases = check_rounds(400, 100)};
    for (int i = 0; i < SHEET * SHEET; i++)
        all[i] = i;
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        pl_body_def stand = collider_body_def(sheet, 1e6, 0, 0, 0);
        stand.fixed = all;
        stand.fixed_count = SHEET * SHEET;
        collider_add_body(world, &stand);
        double speed = seed % 2 ? 50000 : 10000;
        pl_body_def fast = collider_body_def(ball, 1e6, contact_between(&rng, -0.3, 0.3),
                                             0.6 + speed * contact_between(&rng, 0.01, 0.04),
                                             contact_between(&rng, -0.3, 0.3));
        fast.velocity[1] = -speed;
        pl_body body = collider_add_body(world, &fast);
        world_step(world, 12);
        pl_body_state now;
        pl_body_get_state(world, body, &now);
        if (!(now.velocity[1] > -0.99 * speed))
            report(&t, "sheet", seed, 11, -now.centre[1], speed);
        pl_world_destroy(world);
    }
    printf("sheet at 10 and 50 km/s: %d of %d passed untouched\n", t.passed, t.cases);
    pl_model_release(sheet);
    pl_model_release(ball);
    assert_int_equal(t.passed, 0);
}

enum { SLAB = 10 };

/* A soft slab, two particles thick; free, or held at its rim. */
static pl_body add_slab(pl_world *world, pl_model *slab, double young, bool held)
{
    double x[3 * 2 * SLAB * SLAB];
    int32_t rim[2 * SLAB * SLAB];
    pl_body_def def = collider_body_def(slab, young, 0, 0, 0);
    pl_model_read(slab, PL_REST_POSITIONS, 0, 2 * SLAB * SLAB, pl_doubles(x, 0));
    for (int i = 0; i < 2 * SLAB * SLAB; i++)
        if (fmax(fabs(x[3 * i]), fabs(x[3 * i + 2])) > 0.25 * (SLAB - 1) / 2 - 0.01)
            rim[def.fixed_count++] = i;
    def.fixed = rim;
    def.fixed_count = held ? def.fixed_count : 0;
    return collider_add_body(world, &def);
}

static double height_of(const pl_world *world, pl_body body)
{
    pl_body_state s;
    pl_body_get_state(world, body, &s);
    return s.centre[1];
}

/* A soft body gives way and springs back; a second later what hit its middle is still on the side
   it came from. */
static void throw_at_slabs(const char *what, bool held, double speed, int cases)
{
    pl_model *slab = collider_lattice(SLAB, 2, SLAB, 0.25), *cube = collider_lattice(3, 3, 3, 0.25);
    tally t = {.cases = cases};
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        double young = contact_decades(&rng, 5, 7);
        pl_body target = add_slab(world, slab, young, held);
        pl_body_def fast =
            collider_body_def(cube, young, contact_between(&rng, -0.2, 0.2),
                              contact_between(&rng, 1.5, 6), contact_between(&rng, -0.2, 0.2));
        contact_rotation(&rng, fast.rotation);
        fast.velocity[1] = -speed;
        pl_body body = collider_add_body(world, &fast);
        while (pl_world_time(world) < 1)
            world_step(world, 1);
        double behind = height_of(world, target) - height_of(world, body);
        if (!(behind < 0))
            report(&t, what, seed, 0, behind, speed);
        pl_world_destroy(world);
    }
    printf("%s at %.0f m/s: %d of %d passed\n", what, speed, t.passed, t.cases);
    pl_model_release(slab);
    pl_model_release(cube);
    assert_int_equal(t.passed, 0);
}

static void slabs_stop_50(void **state)
{
    (void)state;
    throw_at_slabs("a free slab", false, 50, check_rounds(500, 20));
    throw_at_slabs("a slab held at its rim", true, 50, check_rounds(500, 20));
}

enum { CUBE = 27, BLOCK = 125 };

/* Pairs whose order along y has changed although they stand one above the other before and after:
   one went through the other. What is torn apart by the blow may well go around. */
static int swapped(const double (*a)[3], const double (*b)[3], const double (*was_a)[3],
                   const double (*was_b)[3])
{
    int count = 0;
    for (int i = 0; i < CUBE; i++)
        for (int j = 0; j < BLOCK; j++) {
            double before = hypot(was_a[i][0] - was_b[j][0], was_a[i][2] - was_b[j][2]);
            double now = hypot(a[i][0] - b[j][0], a[i][2] - b[j][2]);
            count +=
                fmax(before, now) < 0.2 * 0.25 && was_a[i][1] > was_b[j][1] && a[i][1] < b[j][1];
        }
    return count;
}

static void bodies_stop_500(void **state)
{
    (void)state;
    pl_model *block = collider_lattice(5, 5, 5, 0.25), *cube = collider_lattice(3, 3, 3, 0.25);
    tally t = {.cases = check_rounds(500, 30)};
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        double young = contact_decades(&rng, 5, 7), a[2][CUBE][3], b[2][BLOCK][3];
        pl_body_def slow = collider_body_def(block, young, 0, 0, 0),
                    fast = collider_body_def(cube, young, contact_between(&rng, -0.2, 0.2),
                                             contact_between(&rng, 1.5, 6),
                                             contact_between(&rng, -0.2, 0.2));
        contact_rotation(&rng, fast.rotation);
        fast.velocity[1] = -500;
        pl_body target = collider_add_body(world, &slow), body = collider_add_body(world, &fast);
        int passed = 0;
        for (int f = 0; f <= 12; f++) {
            pl_body_read(world, body, PL_POSITIONS, 0, CUBE, 1, pl_doubles(a[f % 2][0], 0));
            pl_body_read(world, target, PL_POSITIONS, 0, BLOCK, 1, pl_doubles(b[f % 2][0], 0));
            if (f > 0)
                passed += swapped(a[f % 2], b[f % 2], a[1 - f % 2], b[1 - f % 2]);
            world_step(world, 1);
        }
        if (passed)
            report(&t, "a body", seed, 0, passed, 500);
        pl_world_destroy(world);
    }
    printf("a body at 500 m/s: something passed in %d of %d\n", t.passed, t.cases);
    pl_model_release(block);
    pl_model_release(cube);
    assert_int_equal(t.passed, 0);
}

/* ---- Colliders that move a metre in a frame -------------------------------------------------- */

static void moving_colliders_take_along(void **state)
{
    const contact_models *models = *state;
    collider_sheet sheet = collider_make_sheet(5, 100), turned = collider_make_sheet(5, 100);
    static const double up[3] = {0, 1, 0};
    static const pl_collider_kind kinds[] = {PL_COLLIDER_BOX, PL_COLLIDER_MESH, PL_COLLIDER_PLANE,
                                             PL_COLLIDER_MESH};
    turn_over(&turned);
    tally t = {.cases = check_rounds(1500, 90)};
    double fastest = 0;
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        double turn[4], normal[3], at[3], stride = contact_between(&rng, 0.5, 1.5);
        pl_collider_def def = pl_default_collider_def(kinds[seed % 4]);
        contact_rotation(&rng, turn);
        contact_turn_vector(turn, up, normal);
        memcpy(def.rotation, turn, sizeof turn);
        def.size[0] = def.size[2] = 100;
        def.size[1] = 0.0005;
        def.mesh = seed % 4 == 3 ? &turned.mesh : &sheet.mesh;
        for (int k = 0; k < 3; k++)
            def.position[k] = at[k] = -4 * normal[k];
        pl_collider wall = collider_add(world, &def);
        pl_body_def still = pl_default_body_def(models->model[contact_below(&rng, CONTACT_MODELS)]);
        still.material.young = contact_decades(&rng, 4, 7);
        still.material.damping = 0;
        contact_rotation(&rng, still.rotation);
        pl_body body = collider_add_body(world, &still);
        double first = pl_world_time(world);
        world_step(world, 1);
        double step = pl_world_time(world) - first;
        for (int f = 0; f < 15; f++) {
            double beyond = 0;
            for (int k = 0; k < 3; k++)
                at[k] += stride * normal[k];
            assert_int_equal(pl_collider_move(world, wall, at, turn), PL_OK);
            world_step(world, 1);
            for (int k = 0; k < 3; k++)
                beyond += at[k] * normal[k];
            double depth = depth_of(world, body, normal, INFINITY) + beyond;
            fastest = fmax(fastest, contact_fastest(world, body) * step / stride);
            if (!(depth < 0.0005)) {
                report(&t, "moving wall", seed, f, depth, stride / step);
                break;
            }
        }
        pl_world_destroy(world);
    }
    printf("moving walls: %d of %d passed; fastest particle %.2f times the wall\n", t.passed,
           t.cases, fastest);
    collider_free_sheet(&sheet);
    collider_free_sheet(&turned);
    assert_int_equal(t.passed, 0);
    assert_true(fastest < 10);
}

/* A ball shot through a body at rest takes it along or pushes it aside: nobody is left inside the
   ball. */
static void moving_balls_push_aside(void **state)
{
    const contact_models *models = *state;
    tally t = {.cases = check_rounds(1500, 90)};
    double fastest = 0;
    for (int seed = 0; seed < t.cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng);
        static const double none[4] = {0, 0, 0, 1};
        double at[3] = {-4, contact_between(&rng, -0.2, 0.2), contact_between(&rng, -0.2, 0.2)};
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_SPHERE);
        def.size[0] = 0.4;
        memcpy(def.position, at, sizeof at);
        pl_collider ball = collider_add(world, &def);
        pl_body_def still = pl_default_body_def(models->model[contact_below(&rng, CONTACT_MODELS)]);
        still.material.young = contact_decades(&rng, 4, 6);
        contact_rotation(&rng, still.rotation);
        pl_body body = collider_add_body(world, &still);
        double first = pl_world_time(world);
        world_step(world, 1);
        double step = pl_world_time(world) - first;
        for (int f = 0; f < 12; f++) {
            double x[3 * CONTACT_MOST_PARTICLES], deepest = -1;
            int n = pl_model_get_info(still.model).particle_count;
            at[0] += 1;
            assert_int_equal(pl_collider_move(world, ball, at, none), PL_OK);
            world_step(world, 1);
            world_read(world, body, PL_POSITIONS, x);
            for (int i = 0; i < n; i++) {
                double d[3] = {x[3 * i] - at[0], x[3 * i + 1] - at[1], x[3 * i + 2] - at[2]};
                deepest = fmax(deepest, 0.4 - contact_length(d));
            }
            fastest = fmax(fastest, contact_fastest(world, body) * step);
            if (!(deepest < 0)) {
                report(&t, "moving ball", seed, f, deepest, 1 / step);
                break;
            }
        }
        assert_true(world_is_finite(world, body));
        pl_world_destroy(world);
    }
    printf("moving balls: inside in %d of %d; fastest particle %.2f times the ball\n", t.passed,
           t.cases, fastest);
    assert_int_equal(t.passed, 0);
    assert_true(fastest < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates_stop_500),
        cmocka_unit_test(meshes_stop_500),
        cmocka_unit_test(plates_stop_anything),
        cmocka_unit_test(meshes_stop_anything),
        cmocka_unit_test(backs_of_meshes_stop_anything),
        cmocka_unit_test(walls_of_particles_stop_anything),
        cmocka_unit_test(sheets_are_met_at_50_kilometres_per_second),
        cmocka_unit_test(slabs_stop_50),
        cmocka_unit_test(bodies_stop_500),
        cmocka_unit_test(moving_colliders_take_along),
        cmocka_unit_test(moving_balls_push_aside),
    };
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
