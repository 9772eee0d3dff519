/* What nobody should do, but somebody will: bodies made deep inside each other or inside colliders,
   a thousand at one place, colliders of no size and of a planet's, meshes with triangles that are
   none. Everything stays finite, slow, and comes apart. */
#include <stdio.h>
#include <stdlib.h>

#include "contact_cases.h"

/* What overlaps is parted at 15 per second of its depth (contact/share.h), and gains no speed by
   it; what it does to the shape of a body springs back. So nobody has reason to be faster than some
   ten times its own size per second (seen: 36). */
#define SIZES_PER_SECOND 50.0

static pl_world *random_world(pl_rng *rng, double gravity)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.step = 1.0 / 60;
    def.substeps = 1 + contact_below(rng, 6);
    def.iterations = 2 + contact_below(rng, 4);
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body_def random_body(pl_rng *rng, const contact_models *models, double *reach)
{
    int which = contact_below(rng, CONTACT_MODELS);
    pl_body_def def = pl_default_body_def(models->model[which]);
    def.material.young = contact_decades(rng, 4, 7);
    def.material.density = contact_decades(rng, 2, 3.5);
    def.material.damping = 0;
    if (contact_below(rng, 2))
        contact_rotation(rng, def.rotation);
    *reach = models->reach[which];
    return def;
}

/* The fastest particle of a body in the next step: by what it says, and by how far it gets. */
static double fastest_in_step(pl_world *world, const pl_body *bodies, int count)
{
    static double before[3 * 4096], after[3 * CONTACT_MOST_PARTICLES];
    double most = 0, *at = before, time = pl_world_time(world);
    for (int i = 0; i < count; i++) {
        world_read(world, bodies[i], PL_POSITIONS, at);
        at += 3 * pl_model_get_info(pl_body_model(world, bodies[i])).particle_count;
        assert_true(at <= before + 3 * 4096);
    }
    world_step(world, 1);
    at = before;
    for (int i = 0; i < count; i++) {
        int n = pl_model_get_info(pl_body_model(world, bodies[i])).particle_count;
        world_read(world, bodies[i], PL_POSITIONS, after);
        for (int k = 0; k < n; k++) {
            double d[3] = {after[3 * k] - at[3 * k], after[3 * k + 1] - at[3 * k + 1],
                           after[3 * k + 2] - at[3 * k + 2]};
            most = fmax(most, contact_length(d) / (pl_world_time(world) - time));
        }
        most = fmax(most, contact_fastest(world, bodies[i]));
        at += 3 * n;
    }
    return most;
}

/* ---- In each other --------------------------------------------------------------------------- */

/* How many particles of a have their centres in particles of b, taken as spheres of their smallest
   radius. */
static int centres_inside(const pl_world *world, pl_body a, pl_body b)
{
    double x[3 * CONTACT_MOST_PARTICLES], y[3 * CONTACT_MOST_PARTICLES],
        r[3 * CONTACT_MOST_PARTICLES];
    pl_model *model = pl_body_model(world, b);
    int n = pl_model_get_info(pl_body_model(world, a)).particle_count,
        m = pl_model_get_info(model).particle_count, count = 0;
    world_read(world, a, PL_POSITIONS, x);
    world_read(world, b, PL_POSITIONS, y);
    pl_model_read(model, PL_REST_RADII, 0, m, pl_doubles(r, 0));
    for (int i = 0; i < n; i++) {
        bool inside = false;
        for (int j = 0; j < m; j++) {
            double d[3] = {x[3 * i] - y[3 * j], x[3 * i + 1] - y[3 * j + 1],
                           x[3 * i + 2] - y[3 * j + 2]};
            inside |= contact_length(d) < fmin(r[3 * j], fmin(r[3 * j + 1], r[3 * j + 2]));
        }
        count += inside;
    }
    return count;
}

static void bodies_in_each_other_part_slowly(void **state)
{
    const contact_models *models = *state;
    int cases = check_rounds(1000, 50), stuck = 0, fast = 0;
    double worst = 0;
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng, 0);
        double reach[2], size, fastest = 0;
        pl_body bodies[2];
        for (int i = 0; i < 2; i++) {
            pl_body_def def = random_body(&rng, models, reach + i);
            for (int k = 0; i && seed % 3 && k < 3; k++)
                def.position[k] = contact_between(&rng, -0.3, 0.3) * reach[0];
            bodies[i] = collider_add_body(world, &def);
        }
        size = 2 * fmax(reach[0], reach[1]);
        for (int f = 0; f < 300; f++) {
            fastest = fmax(fastest, fastest_in_step(world, bodies, 2) / size);
        }
        bool inside = centres_inside(world, bodies[0], bodies[1]) > 0 ||
                      centres_inside(world, bodies[1], bodies[0]) > 0;
        if (inside || fastest > SIZES_PER_SECOND)
            printf("case %d: %d and %d inside, fastest %.2f sizes per second\n", seed,
                   centres_inside(world, bodies[0], bodies[1]),
                   centres_inside(world, bodies[1], bodies[0]), fastest);
        stuck += inside;
        fast += fastest > SIZES_PER_SECOND;
        worst = fmax(worst, fastest);
        assert_true(world_is_finite(world, bodies[0]) && world_is_finite(world, bodies[1]));
        pl_world_destroy(world);
    }
    printf("%d of %d still in each other after 5 s; fastest %.2f sizes per second\n", stuck, cases,
           worst);
    assert_int_equal(fast, 0);
    assert_true(stuck <= 1 + cases / 25); /* some are hooked into each other for good */
}

/* ---- In colliders ---------------------------------------------------------------------------- */

/* A closed cube of twelve triangles, its outside out. */
static pl_mesh cube_mesh(double half)
{
    static double corners[24];
    static const int32_t faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            corners[3 * i + k] = i >> k & 1 ? half : -half;
    return (pl_mesh){
        .vertex_count = 8, .positions = corners, .triangle_count = 12, .triangles = faces};
}

/* How deep the deepest centre is in a shape about the origin: half a metre in every direction, a
   capsule more. */
static double depth_in(const pl_world *world, pl_body body, pl_collider_kind kind)
{
    double x[3 * CONTACT_MOST_PARTICLES], deepest = -INFINITY;
    int n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    world_read(world, body, PL_POSITIONS, x);
    for (int i = 0; i < n; i++) {
        double *p = x + 3 * i, depth;
        double box = fmin(0.5 - fabs(p[0]), fmin(0.5 - fabs(p[1]), 0.5 - fabs(p[2])));
        double round[3] = {p[0], p[1], p[2]};
        if (kind == PL_COLLIDER_CAPSULE)
            round[1] = fmax(0, fabs(p[1]) - 0.5);
        depth = kind == PL_COLLIDER_PLANE                             ? -p[1]
                : kind == PL_COLLIDER_BOX || kind == PL_COLLIDER_MESH ? box
                                                                      : 0.5 - contact_length(round);
        deepest = fmax(deepest, depth);
    }
    return deepest;
}

static void bodies_in_colliders_come_out_slowly(void **state)
{
    const contact_models *models = *state;
    pl_mesh cube = cube_mesh(0.5);
    int cases = check_rounds(1000, 60), stuck = 0, fast = 0;
    double worst = 0;
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng, 0);
        pl_collider_kind kind = (pl_collider_kind)(seed % 5);
        pl_collider_def def = pl_default_collider_def(kind);
        double reach, fastest = 0;
        def.size[0] = def.size[1] = def.size[2] = 0.5;
        def.mesh = &cube;
        def.two_sided = false;
        collider_add(world, &def);
        pl_body_def in = random_body(&rng, models, &reach);
        for (int k = 0; k < 3; k++)
            in.position[k] = contact_between(&rng, -0.4, 0.4);
        pl_body body = collider_add_body(world, &in);
        double size = 2 * reach;
        for (int f = 0; f < 240; f++) {
            fastest = fmax(fastest, fastest_in_step(world, &body, 1) / size);
        }
        double depth = depth_in(world, body, kind);
        if (depth > 0 || fastest > SIZES_PER_SECOND)
            printf("case %d, kind %d: a centre %.3f m inside after 4 s, fastest %.2f sizes per "
                   "second\n",
                   seed, (int)kind, depth, fastest);
        stuck += depth > 0;
        fast += fastest > SIZES_PER_SECOND;
        worst = fmax(worst, fastest);
        assert_true(world_is_finite(world, body));
        pl_world_destroy(world);
    }
    printf("%d of %d still inside after 4 s; fastest %.2f sizes per second\n", stuck, cases, worst);
    assert_int_equal(fast, 0);
    assert_int_equal(stuck, 0);
}

/* ---- In what rests on a floor ---------------------------------------------------------------- */

/* From 10⁵ to 10⁸ Pa, moved as a whole or by particles: what parting strains, stiff springs give
   back. Nobody falls from higher than half a metre, at 3.1 m/s. */
#define METRES_PER_SECOND 6.0

static pl_world *floor_world(pl_rng *rng)
{
    pl_world_def def = pl_default_world_def();
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_world *world;
    def.substeps = 1 << contact_below(rng, 4);
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    floor.friction = 0.6;
    collider_add(world, &floor);
    return world;
}

static pl_body_def block_def(pl_rng *rng, pl_model *model)
{
    pl_body_def def = pl_default_body_def(model);
    def.material.young = contact_decades(rng, 5, 8);
    def.material.density = 500;
    def.material.damping = 0;
    def.material.friction = 0.6;
    return def;
}

static double centre_speed(const pl_world *world, pl_body body)
{
    pl_body_state s;
    pl_body_get_state(world, body, &s);
    return contact_length(s.velocity);
}

/* How many centres of a body are inside an upright collider. */
static int centres_in(const pl_world *world, pl_body body, const pl_collider_def *def)
{
    double x[3 * CONTACT_MOST_PARTICLES];
    int n = pl_model_get_info(pl_body_model(world, body)).particle_count, count = 0;
    world_read(world, body, PL_POSITIONS, x);
    for (int i = 0; i < n; i++) {
        double p[3], depth;
        for (int k = 0; k < 3; k++)
            p[k] = fabs(x[3 * i + k] - def->position[k]);
        if (def->kind == PL_COLLIDER_CAPSULE)
            p[1] = fmax(p[1] - def->size[1], 0);
        depth = def->kind == PL_COLLIDER_BOX
                    ? fmin(def->size[0] - p[0], fmin(def->size[1] - p[1], def->size[2] - p[2]))
                    : def->size[0] - contact_length(p);
        count += depth > 0.005;
    }
    return count;
}

static void colliders_in_what_rests_push_it_out_slowly(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.5 / 3);
    int cases = check_rounds(600, 36), stuck = 0, fast = 0;
    double worst = 0;
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = floor_world(&rng);
        pl_body_def block = block_def(&rng, model);
        block.position[1] = 0.25;
        pl_body body = collider_add_body(world, &block);
        world_step(world, 40);
        pl_collider_def def =
            pl_default_collider_def((pl_collider_kind)(PL_COLLIDER_BOX + seed % 3));
        for (int k = 0; k < 3; k++) {
            def.size[k] = contact_between(&rng, 0.1, 0.25);
            def.position[k] = contact_between(&rng, -0.15, 0.15) + (k == 1 ? 0.25 : 0);
        }
        collider_add(world, &def);
        double fastest = 0;
        for (int f = 0; f < 400; f++) {
            world_step(world, 1);
            fastest = fmax(fastest, centre_speed(world, body));
        }
        int inside = centres_in(world, body, &def);
        if (inside || fastest > METRES_PER_SECOND)
            printf("case %d, kind %d, %.2g Pa: %d centres inside, fastest %.2f m/s\n", seed,
                   (int)def.kind, block.material.young, inside, fastest);
        stuck += inside > 0;
        fast += fastest > METRES_PER_SECOND;
        worst = fmax(worst, fastest);
        assert_true(world_is_finite(world, body));
        pl_world_destroy(world);
    }
    printf("%d of %d still inside; fastest %.2f m/s\n", stuck, cases, worst);
    pl_model_release(model);
    assert_int_equal(fast, 0);
    assert_int_equal(stuck, 0);
}

/* Softer ones may be moved by particles, where there are many sub-steps; those are faster (seen:
   13.1). */
static double most_of(const pl_body_def *block)
{
    return block->material.young > 3e5 ? METRES_PER_SECOND : 15;
}

/* Blocks about one place, every tenth time exactly there; every third time without floor and
   gravity. */
static void blocks_in_each_other_part_slowly(void **state)
{
    (void)state;
    enum { MOST = 8 };
    pl_model *model = collider_lattice(4, 4, 4, 0.125);
    int cases = check_rounds(300, 20), fast = 0;
    double worst = 0;
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = floor_world(&rng);
        pl_body_def block = block_def(&rng, model);
        pl_body bodies[MOST];
        const double none[3] = {0, 0, 0};
        int count = 2 + contact_below(&rng, MOST - 1);
        double fastest = 0, wide = seed % 10 ? contact_between(&rng, 0.02, 0.15) : 0;
        if (seed % 3 == 0)
            pl_world_set_gravity(world, none);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                block.position[k] = contact_between(&rng, -wide, wide) + (k == 1 ? 0.4 : 0);
            if (wide > 0 && seed % 2)
                contact_rotation(&rng, block.rotation);
            bodies[i] = collider_add_body(world, &block);
        }
        for (int f = 0; f < 300; f++) {
            world_step(world, 1);
            for (int i = 0; i < count; i++)
                fastest = fmax(fastest, centre_speed(world, bodies[i]));
        }
        bool over = fastest > most_of(&block);
        if (over)
            printf("case %d, %d blocks of %.2g Pa: fastest %.2f m/s\n", seed, count,
                   block.material.young, fastest);
        fast += over;
        worst = fmax(worst, fastest);
        for (int i = 0; i < count; i++)
            assert_true(world_is_finite(world, bodies[i]));
        pl_world_destroy(world);
    }
    printf("blocks in each other, %d cases: fastest %.2f m/s\n", cases, worst);
    pl_model_release(model);
    assert_int_equal(fast, 0);
}

/* ---- A thousand at one place ----------------------------------------------------------------- */

/* What overlapped before is parted without velocity, and so each goes half of the way, whatever it
   weighs: else a light particle between the floor and a heavy one would stay wedged. One that is
   fixed goes nowhere. */
static void old_overlap_is_parted_in_equal_parts(void **state)
{
    const contact_models *models = *state;
    const int32_t first = 0;
    for (int seed = 0; seed < check_rounds(1000, 100); seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world *world = random_world(&rng, 0);
        double before[2][3], after[2][3], apart = 0.5 * contact_between(&rng, 0.5, 0.95);
        pl_body bodies[2];
        for (int b = 0; b < 2; b++) {
            pl_body_def def = pl_default_body_def(models->model[0]);
            def.material.density = contact_decades(&rng, 1, 4);
            def.position[0] = b * apart;
            def.fixed = &first;
            def.fixed_count = seed % 3 == 0 && b == 0;
            bodies[b] = collider_add_body(world, &def);
            world_read(world, bodies[b], PL_POSITIONS, before[b]);
        }
        world_step(world, 1);
        for (int b = 0; b < 2; b++) {
            world_read(world, bodies[b], PL_POSITIONS, after[b]);
            assert_true(contact_fastest(world, bodies[b]) < 1e-4);
        }
        double back = before[0][0] - after[0][0], on = after[1][0] - before[1][0];
        assert_true(on > 0);
        assert_true(fabs(back - (seed % 3 == 0 ? 0 : on)) < 1e-5 * on + 1e-7);
        pl_world_destroy(world);
    }
}

static void a_thousand_at_one_place(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    static pl_body bodies[MOST];
    int count = world_is_slow_build() ? 60 : MOST, frames = check_rounds(60, 6);
    pl_model *model = collider_lattice(1, 1, 1, 0.25);
    pl_world *world;
    pl_world_def world_def = pl_default_world_def();
    world_def.gravity[1] = 0;
    world_def.memory_limit = (size_t)1 << 30;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    pl_body_def def = collider_body_def(model, 1e5, 1, 2, 3);
    double fastest = 0, spread = 0;
    for (int i = 0; i < count; i++)
        bodies[i] = collider_add_body(world, &def);
    for (int f = 0; f < frames; f++)
        fastest = fmax(fastest, fastest_in_step(world, bodies, count));
    for (int i = 0; i < count; i++) {
        pl_body_state s;
        pl_body_get_state(world, bodies[i], &s);
        double d[3] = {s.centre[0] - 1, s.centre[1] - 2, s.centre[2] - 3};
        assert_true(world_is_finite(world, bodies[i]));
        spread = fmax(spread, contact_length(d));
    }
    printf("%d at one place: fastest %.2f m/s, %.2f m from there after %d frames\n", count, fastest,
           spread, frames);
    /* They part; a ball of so many, touching, has ten times the size of one. */
    assert_true(spread > 0.05);
    assert_true(fastest < SIZES_PER_SECOND * 0.25 * 10);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Points and planets ---------------------------------------------------------------------- */

/* A ball that falls on a point lands on it, or beside it: it is never deeper in than a tenth of its
   radius once it has touched. */
static void points_hold_balls(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(1, 1, 1, 0.25);
    for (int kind = PL_COLLIDER_BOX; kind <= PL_COLLIDER_CAPSULE; kind++)
        for (int i = 0; i < 6; i++) {
            pl_rng rng = pl_rng_make((uint64_t)i);
            pl_world *world = random_world(&rng, 9.81);
            pl_collider_def def = pl_default_collider_def((pl_collider_kind)kind);
            def.size[0] = def.size[1] = def.size[2] = i % 2 ? 0 : 1e-9;
            collider_add(world, &def);
            pl_body_def fall = collider_body_def(model, 1e5, 0.02 * (i / 2), 1, 0);
            pl_body body = collider_add_body(world, &fall);
            double nearest = 1;
            for (int f = 0; f < 60; f++) {
                pl_body_state s;
                world_step(world, 1);
                pl_body_get_state(world, body, &s);
                nearest = fmin(nearest, contact_length(s.centre));
            }
            if (!(nearest > 0.9 * 0.125 && nearest < 0.126))
                fail_msg("kind %d, case %d: %.4f m from the point", kind, i, nearest);
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* On a planet, wherever it is: a body rests on its surface. */
static void planets_hold_bodies(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    static const double sizes[] = {1e3, 6.4e6, 1e9};
    for (int kind = PL_COLLIDER_BOX; kind <= PL_COLLIDER_CAPSULE; kind++)
        for (int i = 0; i < 3; i++) {
            pl_rng rng = pl_rng_make((uint64_t)i + 1);
            pl_world *world = random_world(&rng, 9.81);
            pl_collider_def def = pl_default_collider_def((pl_collider_kind)kind);
            def.size[0] = def.size[1] = def.size[2] = sizes[i];
            def.position[1] = -sizes[i] * (kind == PL_COLLIDER_CAPSULE ? 2 : 1);
            collider_add(world, &def);
            pl_body_def fall = collider_body_def(model, 1e6, 0, 1, 0);
            fall.material.damping = 2;
            pl_body body = collider_add_body(world, &fall);
            pl_body_state s;
            world_step(world, 180);
            pl_body_get_state(world, body, &s);
            if (!(fabs(s.centre[1] - 0.375) < 0.05))
                fail_msg("kind %d of %g m: the body is at %.4f m", kind, sizes[i], s.centre[1]);
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* ---- Across the surface of a mesh ------------------------------------------------------------ */

/* A quad, and a box. */
static const double mesh_points[12][3] = {{-4, 0, -4},       {4, 0, -4},         {4, 0, 4},
                                          {-4, 0, 4},        {-0.5, -0.7, -0.6}, {0.5, -0.7, -0.6},
                                          {-0.5, 0.7, -0.6}, {0.5, 0.7, -0.6},   {-0.5, -0.7, 0.6},
                                          {0.5, -0.7, 0.6},  {-0.5, 0.7, 0.6},   {0.5, 0.7, 0.6}};
static const int32_t quad_triangles[2][3] = {{0, 2, 1}, {0, 3, 2}};
static const int32_t box_triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                             {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                             {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static pl_collider_def surface_def(int kind)
{
    static pl_mesh meshes[2];
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
    meshes[0] = (pl_mesh){.vertex_count = 4,
                          .positions = (double *)mesh_points,
                          .triangle_count = 2,
                          .triangles = (int32_t *)quad_triangles};
    meshes[1] = (pl_mesh){.vertex_count = 8,
                          .positions = (double *)mesh_points[4],
                          .triangle_count = 12,
                          .triangles = (int32_t *)box_triangles};
    def.mesh = meshes + (kind > 0);
    def.two_sided = kind < 2;
    return def;
}

/* Plates, blocks and rods across a quad and a box of two sides, and a solid box: all of a stiff one
   cannot go both ways. What is deep in a solid one leaves it (seen: 7.4). */
static void stiff_bodies_across_meshes_part_slowly(void **state)
{
    (void)state;
    pl_model *models[3] = {collider_lattice(8, 1, 8, 0.1), collider_lattice(4, 4, 4, 0.125),
                           collider_lattice(12, 1, 1, 0.1)};
    int cases = check_rounds(900, 45);
    double worst[3] = {0, 0, 0};
    for (int seed = 0; seed < cases; seed++) {
        pl_rng rng = pl_rng_make((uint64_t)seed);
        pl_world_def world_def = pl_default_world_def();
        pl_collider_def surface = surface_def(seed % 3);
        pl_body_def def = pl_default_body_def(models[seed / 3 % 3]);
        pl_world *world;
        world_def.substeps = 1 << contact_below(&rng, 4);
        world_def.gravity[1] = 0;
        assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
        contact_rotation(&rng, surface.rotation);
        collider_add(world, &surface);
        for (int k = 0; k < 3; k++)
            def.position[k] = contact_between(&rng, -0.4, 0.4);
        contact_rotation(&rng, def.rotation);
        def.material.young = contact_decades(&rng, 6, 8);
        pl_body body = collider_add_body(world, &def);
        for (int f = 0; f < 180; f++) {
            world_step(world, 1);
            worst[seed % 3] = fmax(worst[seed % 3], centre_speed(world, body));
        }
        assert_true(world_is_finite(world, body));
        pl_world_destroy(world);
    }
    printf("across meshes: quad %.2f, box of two sides %.2f, solid box %.2f m/s\n", worst[0],
           worst[1], worst[2]);
    for (int k = 0; k < 3; k++) {
        assert_true(worst[k] < (k < 2 ? METRES_PER_SECOND : 15));
        pl_model_release(models[k]);
    }
}

/* ---- Triangles that are none ----------------------------------------------------------------- */

/* A floor with as many bad triangles in it as good ones: points, lines, the same again, slivers. */
static pl_mesh spoil(const collider_sheet *sheet, int n, double *positions, int32_t *triangles)
{
    int good = sheet->mesh.triangle_count, points = sheet->mesh.vertex_count, count = 0;
    memcpy(positions, sheet->positions, sizeof(double) * 3 * (size_t)points);
    for (int i = 0; i < good; i++) {
        const int32_t *t = sheet->triangles + 3 * i;
        int32_t bad[4][3] = {
            {t[0], t[0], t[0]},
            {t[0], t[1], t[1]},
            {t[0], t[1], t[2]},
            {t[0] % (n + 1), t[0] % (n + 1) + (n + 1), t[0] % (n + 1) + 2 * (n + 1)}};
        memcpy(triangles + 3 * count++, bad[i % 4], sizeof bad[0]);
        memcpy(triangles + 3 * count++, t, 3 * sizeof *t);
    }
    /* A needle across everything, a millionth of a millimetre wide. */
    double needle[9] = {-5, 0, 0, 5, 0, 0, 0, 0, 1e-9};
    memcpy(positions + 3 * points, needle, sizeof needle);
    for (int k = 0; k < 3; k++)
        triangles[3 * count + k] = points + k;
    return (pl_mesh){.vertex_count = points + 3,
                     .positions = positions,
                     .triangle_count = count + 1,
                     .triangles = triangles};
}

static void spoiled_meshes_work(void **state)
{
    (void)state;
    enum { N = 6, POINTS = (N + 1) * (N + 1) + 3, TRIANGLES = 4 * N * N + 1 };
    static double positions[3 * POINTS];
    static int32_t triangles[3 * TRIANGLES];
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    collider_sheet sheet = collider_make_sheet(N, 20);
    pl_mesh spoiled = spoil(&sheet, N, positions, triangles);
    for (int i = 0; i < 8; i++) {
        double height[2], deepest[2];
        for (int bad = 0; bad < 2; bad++) {
            pl_rng rng = pl_rng_make((uint64_t)i);
            pl_world *world = random_world(&rng, 9.81);
            pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
            def.mesh = bad ? &spoiled : &sheet.mesh;
            def.two_sided = i % 2;
            collider_add(world, &def);
            pl_body_def fall = collider_body_def(model, 1e6, 0.1, 2, 0.03);
            fall.velocity[1] = i < 4 ? 0 : -500;
            fall.material.damping = 2;
            pl_body body = collider_add_body(world, &fall);
            deepest[bad] = 1;
            for (int f = 0; f < 180; f++) {
                double x[3 * 27];
                world_step(world, 1);
                world_read(world, body, PL_POSITIONS, x);
                for (int k = 0; k < 27; k++)
                    deepest[bad] = fmin(deepest[bad], x[3 * k + 1]);
            }
            pl_body_state s;
            pl_body_get_state(world, body, &s);
            height[bad] = s.centre[1];
            pl_world_destroy(world);
        }
        if (!(deepest[1] > 0) || (i < 4 && !(fabs(height[1] - height[0]) < 0.01)))
            fail_msg("case %d: at %.4f m, %.4f without bad triangles; lowest centre %.4f", i,
                     height[1], height[0], deepest[1]);
    }
    collider_free_sheet(&sheet);
    pl_model_release(model);
}

/* Meshes of no triangles, or of none that has an area, are there and in nobody's way. */
static void empty_meshes_touch_nothing(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    const double line[9] = {-5, 0, 0, 0, 0, 0, 5, 0, 0};
    const int32_t corners[6] = {0, 1, 2, 1, 1, 1};
    const pl_mesh meshes[3] = {
        {0},
        {.vertex_count = 3, .positions = (double *)(uintptr_t)line},
        {.vertex_count = 3,
         .positions = (double *)(uintptr_t)line,
         .triangle_count = 2,
         .triangles = (int32_t *)(uintptr_t)corners},
    };
    double fallen = 0;
    for (int i = -1; i < 6; i++) { /* first without any */
        pl_rng rng = pl_rng_make(1);
        pl_world *world = random_world(&rng, 9.81);
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
        pl_collider mesh = {0, 0};
        pl_collider_state received;
        double at[3] = {0, 0, 0};
        def.mesh = i < 0 ? NULL : meshes + i % 3;
        def.two_sided = i < 3;
        if (i >= 0)
            mesh = collider_add(world, &def);
        pl_body_def fall = collider_body_def(model, 1e6, 0.1, 0.5, 0.03);
        pl_body body = collider_add_body(world, &fall);
        for (int f = 0; f < 60; f++) {
            at[1] += 0.01;
            if (i >= 0)
                assert_int_equal(pl_collider_move(world, mesh, at, def.rotation), PL_OK);
            world_step(world, 1);
            if (i < 0)
                continue;
            assert_int_equal(pl_collider_get_state(world, mesh, &received), PL_OK);
            assert_true(received.impulse[1] == 0);
        }
        pl_body_state s;
        pl_body_get_state(world, body, &s);
        assert_true(s.centre[1] < -0.5 && (i < 0 || s.centre[1] == fallen));
        fallen = s.centre[1];
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_in_each_other_part_slowly),
        cmocka_unit_test(bodies_in_colliders_come_out_slowly),
        cmocka_unit_test(colliders_in_what_rests_push_it_out_slowly),
        cmocka_unit_test(blocks_in_each_other_part_slowly),
        cmocka_unit_test(old_overlap_is_parted_in_equal_parts),
        cmocka_unit_test(a_thousand_at_one_place),
        cmocka_unit_test(points_hold_balls),
        cmocka_unit_test(planets_hold_bodies),
        cmocka_unit_test(stiff_bodies_across_meshes_part_slowly),
        cmocka_unit_test(spoiled_meshes_work),
        cmocka_unit_test(empty_meshes_touch_nothing),
    };
    return cmocka_run_group_tests(tests, contact_open_models, contact_close_models);
}
