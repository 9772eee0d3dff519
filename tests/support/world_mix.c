/* The mixed scene. Nothing in it may depend on the compiler or the C library: only + − × ÷ and the
   project's own sine. */
#include "math/elementary.h"
#include "support/check.h"
#include "support/world_kit.h"

enum { BAR, SHEET, ROPE, CREATURE, KNOT };

static void wind(void *user, const pl_field_query *query)
{
    (void)user;
    double gust = pl_sin(3 * query->time);
    for (int i = 0; i < query->count; i++) {
        const double *x = query->positions + 3 * i;
        float drag = 0.3f * query->masses[i];
        float lift = (float)(gust * pl_sin(2 * x[0] + query->time)) * query->masses[i];
        query->forces[3 * i] = drag * (1.5f - query->velocities[3 * i]);
        query->forces[3 * i + 1] = lift;
        query->forces[3 * i + 2] = -drag * query->velocities[3 * i + 2];
    }
}

pl_world_def world_mix_def(void)
{
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 60;
    def.substeps = 2;
    def.iterations = 6;
    def.field = wind;
    return def;
}

void world_mix_models(world_mix *mix)
{
    mix->models[BAR] = world_model(PL_SHAPE_BAR, 0, 0, 0);
    mix->models[SHEET] = world_model(PL_SHAPE_SHEET, 9, 0, 9);
    mix->models[ROPE] = world_model(PL_SHAPE_CHAIN, 30, 0, 0);
    mix->models[CREATURE] = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    mix->models[KNOT] = world_model(PL_SHAPE_KNOT, 48, 0, 0);
}

static pl_body add(world_mix *mix, const pl_body_def *def)
{
    pl_body body;
    pl_error error = {0};
    if (pl_body_create(mix->world, def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    assert_true(mix->body_count < WORLD_MIX_BODIES);
    mix->bodies[mix->body_count++] = body;
    return body;
}

static void pin(world_mix *mix, pl_body body, const pl_pin_def *def)
{
    pl_error error = {0};
    assert_true(mix->pin_count < WORLD_MIX_PINS);
    if (pl_pin_create(mix->world, body, def, &mix->pins[mix->pin_count], &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    mix->pin_count++;
}

/* One bar for each solver: driven at one end, pinned and turned at the other. */
static void add_bars(world_mix *mix)
{
    const int32_t first = 0;
    for (int i = 0; i < 6; i++) {
        pl_body_def def = pl_default_body_def(mix->models[BAR]);
        def.solver = (pl_solver)(i % 3);
        def.position[2] = i;
        def.fixed = &first;
        def.fixed_count = i < 3;
        def.material.young = 2e5;
        pl_body body = add(mix, &def);
        pl_pin_def hold = pl_default_pin_def(PL_PIN_POSITION);
        assert_int_equal(pl_pin_at_vertex(mix->world, body, 40 + i, &hold), PL_OK);
        pin(mix, body, &hold);
        pl_pin_def turn = pl_default_pin_def(PL_PIN_DIRECTION);
        assert_int_equal(pl_pin_at_particle(mix->world, body, 19, &turn), PL_OK);
        pin(mix, body, &turn);
    }
}

static void add_sheet_rope_knot(world_mix *mix)
{
    int32_t edge[9];
    for (int i = 0; i < 9; i++)
        edge[i] = i;
    pl_body_def def = pl_default_body_def(mix->models[SHEET]);
    assert_true(pl_find_material("cloth", &def.material));
    def.position[1] = 3;
    def.fixed = edge;
    def.fixed_count = 9;
    add(mix, &def);

    def = pl_default_body_def(mix->models[ROPE]);
    assert_true(pl_find_material("rope", &def.material));
    def.solver = PL_SOLVER_STIFF;
    def.position[1] = 5;
    pl_body rope = add(mix, &def);
    for (int i = 0; i < 2; i++) {
        pl_pin_def hold = pl_default_pin_def(PL_PIN_POSITION);
        const double at[3] = {i ? 2.4 : -2.4, 0.02, 0};
        assert_int_equal(pl_pin_at_point(mix->world, rope, at, &hold), PL_OK);
        pin(mix, rope, &hold);
    }

    def = pl_default_body_def(mix->models[KNOT]);
    def.position[1] = 8;
    def.spin[2] = 3;
    def.gravity_scale = 0.1;
    add(mix, &def);
}

static void add_creature(world_mix *mix, int i)
{
    static float painted[261];
    pl_body_def def = pl_default_body_def(mix->models[CREATURE]);
    assert_true(pl_find_material("jelly", &def.material));
    def.solver = i % 10 == 9 ? PL_SOLVER_PLAIN : i % 10 == 8 ? PL_SOLVER_STIFF : PL_SOLVER_FAST;
    def.position[0] = 3 * i;
    def.position[1] = 1 + 0.25 * (i % 4);
    def.rotation[2] = 0.125 * (i % 5);
    def.spin[0] = 0.5 * (i % 3);
    def.velocity[1] = 2;
    for (int e = 0; e < 261; e++)
        painted[e] = 1 + 0.25f * (float)(e % 4);
    def.edge_stiffness = i % 7 == 6 ? painted : NULL;
    add(mix, &def);
}

void world_mix_create(world_mix *mix, const pl_world_def *def)
{
    *mix = (world_mix){0};
    world_mix_models(mix);
    assert_int_equal(pl_world_create(def, &mix->world, NULL), PL_OK);
    add_bars(mix);
    add_sheet_rope_knot(mix);
    for (int i = 0; i < 20; i++)
        add_creature(mix, i);
}

/* ---- What happens ---------------------------------------------------------------------------- */

static void move_held(world_mix *mix, int frame)
{
    double t = frame / 60.0;
    for (int i = 0; i < 3; i++) {
        double half = 0.5 * pl_sin(t);
        const double at[3] = {-0.95 + 0.1 * pl_sin(2 * t), 0.3 * pl_sin(3 * t), i};
        const double turn[4] = {pl_sin(half), 0, 0, pl_cos(half)};
        assert_int_equal(pl_body_drive(mix->world, mix->bodies[i], 0, at, i == 1 ? NULL : turn),
                         PL_OK);
    }
    for (int p = 0; p < mix->pin_count; p++) {
        bool direction = p < 12 && p % 2;
        const double to[3] = {pl_sin(t + p), 1, pl_cos(t + p)};
        if (direction)
            assert_int_equal(pl_pin_set_target(mix->world, mix->pins[p], to), PL_OK);
    }
}

static void push(world_mix *mix, int frame)
{
    int n = mix->body_count;
    const double force[3] = {0, 3, -1}, impulse[3] = {0.1, 0, 0.2};
    pl_body forced = mix->bodies[frame % n], struck = mix->bodies[frame * 7 % n];
    if (frame % 3 == 0)
        assert_int_equal(pl_body_apply_force(mix->world, forced, frame % 2 ? -1 : 5, force), PL_OK);
    if (frame % 11 == 0)
        assert_int_equal(pl_body_apply_impulse(mix->world, struck, frame % 20, impulse), PL_OK);
}

static void come_and_go(world_mix *mix, int frame)
{
    if (frame % 25 == 10) { /* one of the creatures leaves, another comes */
        int leaving = 9 + frame % 13;
        assert_int_equal(pl_body_destroy(mix->world, mix->bodies[leaving]), PL_OK);
        mix->bodies[leaving] = mix->bodies[--mix->body_count];
        add_creature(mix, frame);
    }
    if (frame % 40 == 20) {
        add_creature(mix, frame + 1);
        const double at[3] = {0, 4, 0}, turn[4] = {0, 1, 0, 1};
        assert_int_equal(pl_body_teleport(mix->world, mix->bodies[12], at, turn), PL_OK);
    }
}

static void change(world_mix *mix, int frame)
{
    if (frame % 60 == 30) {
        pl_material soft = pl_default_material();
        soft.young = 1e5 * (1 + frame % 7);
        assert_int_equal(pl_body_set_material(mix->world, mix->bodies[3], &soft, NULL, NULL, NULL),
                         PL_OK);
        const int32_t fixed[2] = {0, frame % 9};
        assert_int_equal(pl_body_set_fixed(mix->world, mix->bodies[6], fixed, 2, NULL), PL_OK);
    }
    if (frame % 60 == 45) {
        pl_solver solver = frame % 2 ? PL_SOLVER_STIFF : PL_SOLVER_FAST;
        assert_int_equal(pl_body_set_solver(mix->world, mix->bodies[8], solver), PL_OK);
        pl_pin_def hold = pl_default_pin_def(PL_PIN_POSITION);
        assert_int_equal(pl_pin_at_vertex(mix->world, mix->bodies[13], 60, &hold), PL_OK);
        pl_pin passing;
        assert_int_equal(pl_pin_create(mix->world, mix->bodies[13], &hold, &passing, NULL), PL_OK);
        if (frame % 120 == 45)
            assert_int_equal(pl_pin_destroy(mix->world, passing), PL_OK);
    }
}

void world_mix_frame(world_mix *mix, int frame)
{
    move_held(mix, frame);
    push(mix, frame);
    come_and_go(mix, frame);
    change(mix, frame);
    assert_int_equal(pl_world_step(mix->world, NULL), PL_OK);
}

void world_mix_run(world_mix *mix, int first, int end)
{
    for (int frame = first; frame < end; frame++)
        world_mix_frame(mix, frame);
}

void world_mix_destroy(world_mix *mix)
{
    pl_world_destroy(mix->world);
    for (int i = 0; i < WORLD_MIX_MODELS; i++)
        pl_model_release(mix->models[i]);
}
