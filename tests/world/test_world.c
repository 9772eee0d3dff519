/* The contract of worlds: definitions, what is refused (with nothing changed), handles, settings,
   advancing, reports, callbacks. */
#include "support/check.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/collider_kit.h"
#include "support/world_kit.h"

/* ---- Definitions ----------------------------------------------------------------------------- */

static void defaults_are_as_documented(void **state)
{
    (void)state;
    pl_world_def def = pl_default_world_def();
    assert_true(def.step == 1.0 / 60 && def.substeps == 1 && def.iterations == 10);
    assert_true(def.stiff_iterations == 1 && def.max_steps == 8 && def.threads == 0);
    assert_true(def.gravity[0] == 0 && def.gravity[1] == -9.81 && def.gravity[2] == 0);
    assert_true(!def.tasks && !def.allocator && !def.memory_limit && !def.field && !def.log);
    pl_model *model = world_model(PL_SHAPE_BAR, 3, 0, 0);
    pl_body_def body = pl_default_body_def(model);
    assert_true(body.model == model && body.gravity_scale == 1 && body.rotation[3] == 1);
    assert_true(body.solver == PL_SOLVER_FAST && !body.fixed_count && !body.user);
    pl_material rubber;
    assert_true(pl_find_material("rubber", &rubber));
    assert_memory_equal(&body.material, &rubber, sizeof rubber);
    pl_pin_def pin = pl_default_pin_def(PL_PIN_DIRECTION);
    assert_true(pin.kind == PL_PIN_DIRECTION && pin.strength == 100);
    assert_int_equal(pl_abi_version(), PL_ABI_VERSION);
    assert_int_equal(strspn(pl_version(), "0123456789."), strlen(pl_version()));
    int width = pl_simd_width();
    assert_true(width == 4 || width == 8 || width == 16);
    pl_model_release(model);
}

static void definitions_made_by_hand_are_refused(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 3, 0, 0);
    pl_world *world = world_empty(), *none;
    pl_body body;
    pl_pin pin;
    pl_error error = {0};
    pl_world_def world_def = pl_default_world_def();
    world_def.cookie = 0;
    assert_int_equal(pl_world_create(&world_def, &none, &error), PL_ERROR_ARGUMENT);
    assert_null(none);
    assert_non_null(strstr(error.text, "pl_default_world_def"));
    pl_body_def body_def = pl_default_body_def(model);
    body_def.cookie ^= 1;
    assert_int_equal(pl_body_create(world, &body_def, &body, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "pl_default_body_def"));
    assert_int_equal(body.generation, 0);
    body = world_body(world, model);
    pl_pin_def pin_def = {0};
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "pl_default_pin_def"));
    assert_int_equal(pl_pin_at_particle(world, body, 0, &pin_def), PL_ERROR_ARGUMENT);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Bad fields ------------------------------------------------------------------------------ */

static void expect_bad_world(const pl_world_def *def, const char *where)
{
    pl_world *world = (pl_world *)1;
    pl_error error = {0};
    pl_status status = pl_world_create(def, &world, &error);
    if (status != PL_ERROR_ARGUMENT || world || strcmp(error.where, where) || !error.text[0])
        fail_msg("%s: status %d, where \"%s\", \"%s\"", where, (int)status, error.where,
                 error.text);
}

#define BAD_WORLD(field, value)                                                                    \
    do {                                                                                           \
        pl_world_def def = pl_default_world_def();                                                 \
        def.field = (value);                                                                       \
        expect_bad_world(&def, name_of(#field));                                                   \
    } while (0)

/* "gravity[1]" is reported as "gravity". */
static const char *name_of(const char *field)
{
    static char name[64];
    snprintf(name, sizeof name, "%s", field);
    char *bracket = strchr(name, '[');
    if (bracket && strncmp(name, "fixed", 5) && strncmp(name, "particles", 9))
        *bracket = 0;
    return name;
}

static void *fake_alloc(void *user, size_t size, size_t alignment)
{
    (void)user, (void)size, (void)alignment;
    return NULL;
}

static void bad_worlds_are_refused(void **state)
{
    (void)state;
    static const double bad_steps[] = {0, -1, NAN, INFINITY, 1e-30, 1e30};
    for (int i = 0; i < 6; i++)
        BAD_WORLD(step, bad_steps[i]);
    BAD_WORLD(substeps, 0);
    BAD_WORLD(substeps, INT_MAX);
    BAD_WORLD(iterations, 0);
    BAD_WORLD(iterations, -5);
    BAD_WORLD(stiff_iterations, 0);
    BAD_WORLD(stiff_iterations, INT_MAX);
    BAD_WORLD(gravity[0], NAN);
    BAD_WORLD(gravity[1], -INFINITY);
    BAD_WORLD(gravity[2], 1e300);
    BAD_WORLD(max_steps, 0);
    BAD_WORLD(threads, -1);
    BAD_WORLD(threads, INT_MAX);
    pl_allocator half = {fake_alloc, NULL, NULL};
    BAD_WORLD(allocator, &half);
    pl_task_system tasks = world_reverse_tasks();
    tasks.worker_count = 0;
    pl_world_def def = pl_default_world_def();
    def.tasks = &tasks;
    expect_bad_world(&def, "tasks.worker_count");
    tasks.worker_count = INT_MAX;
    expect_bad_world(&def, "tasks.worker_count");
    tasks = (pl_task_system){1, NULL, NULL, NULL};
    expect_bad_world(&def, "tasks");
    assert_int_equal(pl_world_create(NULL, (pl_world *[1]){NULL}, NULL), PL_ERROR_ARGUMENT);
    def = pl_default_world_def();
    assert_int_equal(pl_world_create(&def, NULL, NULL), PL_ERROR_ARGUMENT);
    pl_world_destroy(NULL);
}

/* A world with a free and a held body and a pin, and the hash it must keep. */
typedef struct fixture {
    pl_world *world, *other;
    pl_model *model;
    pl_body body, held, stale, foreign;
    pl_pin pin, direction, stale_pin;
    uint64_t hash;
} fixture;

static void fixture_create(fixture *f)
{
    *f = (fixture){.model = world_model(PL_SHAPE_BAR, 4, 0, 0)};
    f->world = world_empty();
    f->other = world_empty();
    world_body(f->other, f->model);
    world_body(f->other, f->model);
    f->foreign = world_body(f->other, f->model);
    f->body = world_body(f->world, f->model);
    f->held = world_body(f->world, f->model);
    f->stale = world_body(f->world, f->model);
    const int32_t fixed = 1;
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_body_set_fixed(f->world, f->held, &fixed, 1, NULL), PL_OK);
    assert_int_equal(pl_pin_at_vertex(f->world, f->body, 3, &def), PL_OK);
    assert_int_equal(pl_pin_create(f->world, f->body, &def, &f->pin, NULL), PL_OK);
    assert_int_equal(pl_pin_create(f->world, f->stale, &def, &f->stale_pin, NULL), PL_OK);
    def = pl_default_pin_def(PL_PIN_DIRECTION);
    assert_int_equal(pl_pin_at_particle(f->world, f->body, 3, &def), PL_OK);
    assert_int_equal(pl_pin_create(f->world, f->body, &def, &f->direction, NULL), PL_OK);
    assert_int_equal(pl_body_destroy(f->world, f->stale), PL_OK);
    world_step(f->world, 3);
    f->hash = pl_world_hash(f->world);
}

static void fixture_destroy(fixture *f)
{
    pl_world_destroy(f->world);
    pl_world_destroy(f->other);
    pl_model_release(f->model);
}

static void check_refused(const fixture *f, pl_status expected, pl_status status, const char *call)
{
    if (status != expected)
        fail_msg("status %d instead of %d: %s", (int)status, (int)expected, call);
    if (pl_world_hash(f->world) != f->hash)
        fail_msg("the world was changed by %s", call);
}

#define REFUSED(expected, call) check_refused(&f, PL_ERROR_##expected, (call), #call)

static void expect_bad_body(fixture *f, const pl_body_def *def, const char *where)
{
    pl_body body = {7, 7};
    pl_error error = {0};
    check_refused(f, PL_ERROR_ARGUMENT, pl_body_create(f->world, def, &body, &error), where);
    if (strcmp(error.where, where) || !error.text[0] || body.generation || body.index)
        fail_msg("%s: where \"%s\", \"%s\"", where, error.where, error.text);
}

#define BAD_BODY(field, value)                                                                     \
    do {                                                                                           \
        pl_body_def def = pl_default_body_def(f.model);                                            \
        def.field = (value);                                                                       \
        expect_bad_body(&f, &def, name_of(#field));                                                \
    } while (0)

static void bad_bodies_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    static const double bad[] = {0, -1, NAN, INFINITY, 1e300};
    for (int i = 0; i < 5; i++) {
        BAD_BODY(material.young, bad[i]);
        BAD_BODY(material.density, bad[i]);
        if (i > 0)
            BAD_BODY(material.stiffness, bad[i]);
        if (i > 0)
            BAD_BODY(material.damping, bad[i]);
        if (i > 1) {
            BAD_BODY(gravity_scale, bad[i]);
            BAD_BODY(position[i % 3], bad[i]);
            BAD_BODY(velocity[i % 3], bad[i]);
            BAD_BODY(spin[i % 3], bad[i]);
            BAD_BODY(rotation[i % 3], bad[i]);
        }
    }
    BAD_BODY(rotation[3], 0);
    BAD_BODY(model, NULL);
    BAD_BODY(solver, (pl_solver)3);
    BAD_BODY(solver, (pl_solver)-1);
    const int32_t outside[2] = {0, 4}, negative[1] = {-1};
    pl_body_def def = pl_default_body_def(f.model);
    def.fixed_count = 1;
    expect_bad_body(&f, &def, "fixed");
    def.fixed = negative, def.fixed_count = -1;
    expect_bad_body(&f, &def, "fixed");
    def.fixed = outside, def.fixed_count = 2;
    expect_bad_body(&f, &def, "fixed[1]");
    def.fixed = negative, def.fixed_count = 1;
    expect_bad_body(&f, &def, "fixed[0]");
    float map[4] = {1, 1, 0, 1};
    def = pl_default_body_def(f.model);
    def.edge_stiffness = map;
    expect_bad_body(&f, &def, "edge_stiffness[2]");
    map[2] = NAN;
    def.edge_stiffness = NULL, def.particle_density = map;
    expect_bad_body(&f, &def, "particle_density[2]");
    /* Each number is fine, together they are not. */
    def = pl_default_body_def(f.model);
    def.material.young = 1e30, def.material.density = 1e-20;
    expect_bad_body(&f, &def, "material");
    pl_body body;
    def = pl_default_body_def(f.model);
    REFUSED(ARGUMENT, pl_body_create(f.world, &def, NULL, NULL));
    REFUSED(ARGUMENT, pl_body_create(f.world, NULL, &body, NULL));
    REFUSED(ARGUMENT, pl_body_create(NULL, &def, &body, NULL));
    fixture_destroy(&f);
}

static void expect_bad_pin(fixture *f, const pl_pin_def *def, const char *where)
{
    pl_pin pin = {7, 7};
    pl_error error = {0};
    check_refused(f, PL_ERROR_ARGUMENT, pl_pin_create(f->world, f->body, def, &pin, &error), where);
    if (strcmp(error.where, where) || !error.text[0] || pin.generation || pin.index)
        fail_msg("%s: where \"%s\", \"%s\"", where, error.where, error.text);
}

#define BAD_PIN(base, field, value, where)                                                         \
    do {                                                                                           \
        pl_pin_def def = (base);                                                                   \
        def.field = (value);                                                                       \
        expect_bad_pin(&f, &def, where);                                                           \
    } while (0)

static void bad_pins_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    pl_pin_def position = pl_default_pin_def(PL_PIN_POSITION);
    pl_pin_def direction = pl_default_pin_def(PL_PIN_DIRECTION);
    expect_bad_pin(&f, &position, "count"); /* nothing says yet where it is */
    assert_int_equal(pl_pin_at_vertex(f.world, f.body, 7, &position), PL_OK);
    assert_int_equal(pl_pin_at_particle(f.world, f.body, 2, &direction), PL_OK);
    assert_true(position.count > 1);
    BAD_PIN(position, kind, (pl_pin_kind)2, "kind");
    BAD_PIN(position, count, 0, "count");
    BAD_PIN(position, count, 9, "count");
    BAD_PIN(position, particles[0], -1, "particles[0]");
    BAD_PIN(position, particles[1], 4, "particles[1]");
    BAD_PIN(position, particles[1], position.particles[0], "particles[1]");
    BAD_PIN(position, weights[0], 0, "weights[0]");
    BAD_PIN(position, weights[1], -1, "weights[1]");
    BAD_PIN(position, weights[1], NAN, "weights[1]");
    BAD_PIN(position, weights[1], INFINITY, "weights[1]");
    static const double bad[] = {NAN, INFINITY, -1e300};
    for (int i = 0; i < 3; i++) {
        BAD_PIN(position, rest[i], bad[i], "rest");
        BAD_PIN(position, target[i], bad[i], "target");
        BAD_PIN(direction, rest[i], bad[i], "rest");
        BAD_PIN(direction, target[i], bad[i], "target");
        BAD_PIN(position, strength, bad[i], "strength");
    }
    BAD_PIN(position, strength, 0, "strength");
    BAD_PIN(direction, rest[1], 0, "rest");
    memset(direction.target, 0, sizeof direction.target);
    expect_bad_pin(&f, &direction, "target");
    fixture_destroy(&f);
}

/* ---- Bad arguments --------------------------------------------------------------------------- */

static void bad_arguments_of_bodies_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    const double good[3] = {1, 2, 3}, nan[3] = {0, NAN, 0}, far[3] = {0, 0, 1e300};
    const double turn[4] = {0, 0, 0, 1}, none[4] = {0, 0, 0, 0}, bad_turn[4] = {0, 0, INFINITY, 1};
    REFUSED(ARGUMENT, pl_body_apply_force(f.world, f.body, 4, good));
    REFUSED(ARGUMENT, pl_body_apply_force(f.world, f.body, -2, good));
    REFUSED(ARGUMENT, pl_body_apply_force(f.world, f.body, 0, nan));
    REFUSED(ARGUMENT, pl_body_apply_force(f.world, f.body, -1, far));
    REFUSED(ARGUMENT, pl_body_apply_force(f.world, f.body, 0, NULL));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.body, INT_MAX, good));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.body, INT_MIN, good));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.body, -1, nan));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.body, 2, far));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.held, -1, far));
    REFUSED(ARGUMENT, pl_body_apply_impulse(f.world, f.body, 0, NULL));
    REFUSED(ARGUMENT, pl_body_set_velocity(f.world, f.body, nan, good));
    REFUSED(ARGUMENT, pl_body_set_velocity(f.world, f.body, good, far));
    REFUSED(ARGUMENT, pl_body_set_velocity(f.world, f.body, NULL, good));
    REFUSED(ARGUMENT, pl_body_set_velocity(f.world, f.body, good, NULL));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, nan, turn));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, far, turn));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, good, none));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, good, bad_turn));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, NULL, turn));
    REFUSED(ARGUMENT, pl_body_teleport(f.world, f.body, good, NULL));
    REFUSED(ARGUMENT, pl_body_set_solver(f.world, f.body, (pl_solver)3));
    REFUSED(ARGUMENT, pl_body_set_solver(f.world, f.body, (pl_solver)-1));
    REFUSED(ARGUMENT, pl_body_set_material(f.world, f.body, NULL, NULL, NULL, NULL));
    pl_material material = pl_default_material();
    material.young = -1;
    REFUSED(ARGUMENT, pl_body_set_material(f.world, f.body, &material, NULL, NULL, NULL));
    material = pl_default_material();
    const float map[4] = {1, 1, -1, 1};
    REFUSED(ARGUMENT, pl_body_set_material(f.world, f.body, &material, map, NULL, NULL));
    REFUSED(ARGUMENT, pl_body_set_material(f.world, f.body, &material, NULL, map, NULL));
    material.young = 1e30, material.density = 1e-20;
    REFUSED(ARGUMENT, pl_body_set_material(f.world, f.body, &material, NULL, NULL, NULL));
    const int32_t outside[3] = {0, 1, 4};
    REFUSED(ARGUMENT, pl_body_set_fixed(f.world, f.body, outside, 3, NULL));
    REFUSED(ARGUMENT, pl_body_set_fixed(f.world, f.body, NULL, 3, NULL));
    REFUSED(ARGUMENT, pl_body_set_fixed(f.world, f.body, outside, -1, NULL));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, 0, good, turn)); /* not fixed */
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, -1, good, turn));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.body, 1, good, turn));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, 1, nan, turn));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, 1, far, turn));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, 1, NULL, turn));
    REFUSED(ARGUMENT, pl_body_drive(f.world, f.held, 1, good, none));
    REFUSED(ARGUMENT, pl_body_get_state(f.world, f.body, NULL));
    REFUSED(ARGUMENT, pl_body_get_energy(f.world, f.body, NULL));
    fixture_destroy(&f);
}

static void bad_ranges_and_buffers_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    double v[64] = {0};
    pl_buffer good = pl_doubles(v, 0), empty = pl_doubles(NULL, 0);
    pl_buffer typeless = {v, 0, (pl_scalar)7};
    static const int ranges[][2] = {{-1, 1},     {0, -1}, {0, 5}, {4, 1}, {INT_MAX, INT_MAX},
                                    {1, INT_MAX}};
    for (int i = 0; i < 6; i++) {
        int first = ranges[i][0], count = ranges[i][1];
        REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, first, count, 1, good));
        REFUSED(ARGUMENT, pl_body_write(f.world, f.body, PL_VELOCITIES, first, count, good));
    }
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, 0, 4, 1, empty));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, 0, 4, 1, typeless));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, (pl_body_field)8, 0, 1, 1, good));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, (pl_body_field)-1, 0, 1, 1, good));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, 0, 4, 1.5, good));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, 0, 4, -0.1, good));
    REFUSED(ARGUMENT, pl_body_read(f.world, f.body, PL_POSITIONS, 0, 4, NAN, good));
    REFUSED(ARGUMENT, pl_body_write(f.world, f.body, PL_MASSES, 0, 4, good));
    REFUSED(ARGUMENT, pl_body_write(f.world, f.body, PL_VERTICES, 0, 4, good));
    REFUSED(ARGUMENT, pl_body_write(f.world, f.body, (pl_body_field)8, 0, 4, good));
    REFUSED(ARGUMENT, pl_body_write(f.world, f.body, PL_POSITIONS, 0, 4, empty));
    REFUSED(ARGUMENT, pl_body_write(f.world, f.body, PL_ROTATIONS, 0, 4, good)); /* all zero */
    static const double bad[] = {NAN, INFINITY, -1e300};
    for (int i = 0; i < 3; i++)
        for (int field = PL_POSITIONS; field <= PL_SPINS; field++) {
            for (int k = 0; k < 16; k++)
                v[k] = 0.5;
            v[10] = bad[i]; /* the last element but one or two */
            REFUSED(ARGUMENT, pl_body_write(f.world, f.body, (pl_body_field)field, 0, 4, good));
        }
    /* Nothing to do is done. */
    assert_int_equal(pl_body_read(f.world, f.body, PL_POSITIONS, 4, 0, 1, empty), PL_OK);
    assert_int_equal(pl_body_write(f.world, f.body, PL_POSITIONS, 0, 0, empty), PL_OK);
    assert_true(pl_world_hash(f.world) == f.hash);
    fixture_destroy(&f);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    const double good[3] = {0, 1, 0}, nan[3] = {NAN, 0, 0}, far[3] = {1e300, 0, 0}, no[3] = {0};
    double fraction = 0.25;
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    REFUSED(ARGUMENT, pl_world_set_gravity(f.world, nan));
    REFUSED(ARGUMENT, pl_world_set_gravity(f.world, NULL));
    REFUSED(ARGUMENT, pl_world_set_step(f.world, 0, 1));
    REFUSED(ARGUMENT, pl_world_set_step(f.world, NAN, 1));
    REFUSED(ARGUMENT, pl_world_set_step(f.world, 0.1, 0));
    REFUSED(ARGUMENT, pl_world_set_iterations(f.world, 0, 1));
    REFUSED(ARGUMENT, pl_world_set_iterations(f.world, 1, -1));
    REFUSED(ARGUMENT, pl_world_advance(f.world, -1e-9, &fraction, NULL));
    REFUSED(ARGUMENT, pl_world_advance(f.world, NAN, &fraction, NULL));
    REFUSED(ARGUMENT, pl_world_advance(f.world, INFINITY, &fraction, NULL));
    assert_true(fraction == 0.25);
    REFUSED(ARGUMENT, pl_pin_set_target(f.world, f.pin, nan));
    REFUSED(ARGUMENT, pl_pin_set_target(f.world, f.pin, far));
    REFUSED(ARGUMENT, pl_pin_set_target(f.world, f.pin, NULL));
    REFUSED(ARGUMENT, pl_pin_set_target(f.world, f.direction, no));
    REFUSED(ARGUMENT, pl_pin_set_target(f.world, f.direction, far));
    REFUSED(ARGUMENT, pl_pin_at_particle(f.world, f.body, 4, &def));
    REFUSED(ARGUMENT, pl_pin_at_particle(f.world, f.body, -1, &def));
    REFUSED(ARGUMENT, pl_pin_at_particle(f.world, f.body, 0, NULL));
    REFUSED(ARGUMENT, pl_pin_at_vertex(f.world, f.body, 100000, &def));
    REFUSED(ARGUMENT, pl_pin_at_vertex(f.world, f.body, -1, &def));
    REFUSED(ARGUMENT, pl_pin_at_point(f.world, f.body, nan, &def));
    REFUSED(ARGUMENT, pl_pin_at_point(f.world, f.body, far, &def));
    REFUSED(ARGUMENT, pl_pin_at_point(f.world, f.body, NULL, &def));
    assert_int_equal(def.count, 0);
    assert_int_equal(pl_pin_at_particle(f.world, f.body, 1, &def), PL_OK);
    REFUSED(ARGUMENT, pl_pin_create(f.world, f.body, &def, NULL, NULL));
    REFUSED(ARGUMENT, pl_world_step(NULL, NULL));
    REFUSED(ARGUMENT, pl_world_advance(NULL, 1, NULL, NULL));
    REFUSED(ARGUMENT, pl_world_set_gravity(NULL, good));
    REFUSED(ARGUMENT, pl_world_set_field(NULL, NULL, NULL));
    REFUSED(ARGUMENT, pl_pin_destroy(NULL, f.pin));
    REFUSED(ARGUMENT, pl_body_destroy(NULL, f.body));
    assert_true(pl_world_time(NULL) == 0 && pl_world_hash(NULL) == 0);
    assert_true(pl_world_allocations(NULL) == 0);
    assert_false(pl_body_is_valid(NULL, f.body) || pl_pin_is_valid(NULL, f.pin));
    assert_null(pl_body_model(NULL, f.body));
    fixture_destroy(&f);
}

/* ---- Handles --------------------------------------------------------------------------------- */

static void expect_stale(const fixture *original, pl_body body)
{
    fixture f = *original;
    const double v[3] = {0, 1, 0}, turn[4] = {0, 0, 0, 1};
    double out[12] = {0};
    pl_buffer buffer = pl_doubles(out, 0);
    pl_material material = pl_default_material();
    pl_body_state sums;
    pl_energy energy;
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    pl_pin pin;
    assert_false(pl_body_is_valid(f.world, body));
    assert_null(pl_body_model(f.world, body));
    assert_null(pl_body_user(f.world, body));
    REFUSED(HANDLE, pl_body_destroy(f.world, body));
    REFUSED(HANDLE, pl_body_read(f.world, body, PL_POSITIONS, 0, 4, 1, buffer));
    REFUSED(HANDLE, pl_body_write(f.world, body, PL_POSITIONS, 0, 4, buffer));
    REFUSED(HANDLE, pl_body_apply_force(f.world, body, -1, v));
    REFUSED(HANDLE, pl_body_apply_impulse(f.world, body, -1, v));
    REFUSED(HANDLE, pl_body_set_velocity(f.world, body, v, v));
    REFUSED(HANDLE, pl_body_teleport(f.world, body, v, turn));
    REFUSED(HANDLE, pl_body_set_material(f.world, body, &material, NULL, NULL, NULL));
    REFUSED(HANDLE, pl_body_set_solver(f.world, body, PL_SOLVER_FAST));
    REFUSED(HANDLE, pl_body_get_state(f.world, body, &sums));
    REFUSED(HANDLE, pl_body_get_energy(f.world, body, &energy));
    REFUSED(HANDLE, pl_body_set_fixed(f.world, body, NULL, 0, NULL));
    REFUSED(HANDLE, pl_body_drive(f.world, body, 0, v, NULL));
    REFUSED(HANDLE, pl_pin_at_particle(f.world, body, 0, &def));
    REFUSED(HANDLE, pl_pin_at_vertex(f.world, body, 0, &def));
    REFUSED(HANDLE, pl_pin_at_point(f.world, body, v, &def));
    REFUSED(HANDLE, pl_pin_create(f.world, body, &def, &pin, NULL));
}

static void stale_handles_are_noticed(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    const pl_body bad[] = {{0, 0},
                           f.stale,
                           f.foreign,
                           {f.body.index, f.body.generation + 1},
                           {f.body.index, 0},
                           {UINT32_MAX, 1},
                           {1000, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_stale(&f, bad[i]);
    const double v[3] = {0, 1, 0};
    const pl_pin pins[] = {{0, 0}, f.stale_pin, {f.pin.index, f.pin.generation + 1}, {77, 1}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
        assert_false(pl_pin_is_valid(f.world, pins[i]));
        REFUSED(HANDLE, pl_pin_set_target(f.world, pins[i], v));
        REFUSED(HANDLE, pl_pin_destroy(f.world, pins[i]));
    }
    fixture_destroy(&f);
}

static void slots_are_used_again_with_another_generation(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    pl_model *model = world_model(PL_SHAPE_BAR, 2, 0, 0);
    pl_body bodies[10];
    for (int i = 0; i < 10; i++) {
        bodies[i] = world_body(world, model);
        assert_int_equal(bodies[i].index, i);
    }
    for (int i = 3; i < 8; i += 2)
        assert_int_equal(pl_body_destroy(world, bodies[i]), PL_OK);
    for (int i = 3; i < 8; i += 2) { /* the lowest free one first */
        pl_body body = world_body(world, model);
        assert_int_equal(body.index, i);
        assert_true(body.generation != bodies[i].generation);
        assert_false(pl_body_is_valid(world, bodies[i]));
        assert_true(pl_body_is_valid(world, body));
    }
    assert_int_equal(world_body(world, model).index, 10);
    /* Pins of a body that goes, go with it. */
    pl_pin pins[2];
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pl_pin_at_particle(world, bodies[i], 0, &def), PL_OK);
        assert_int_equal(pl_pin_create(world, bodies[i], &def, &pins[i], NULL), PL_OK);
    }
    assert_int_equal(pl_body_destroy(world, bodies[0]), PL_OK);
    assert_false(pl_pin_is_valid(world, pins[0]));
    assert_true(pl_pin_is_valid(world, pins[1]));
    pl_pin again;
    assert_int_equal(pl_pin_at_particle(world, bodies[1], 1, &def), PL_OK);
    assert_int_equal(pl_pin_create(world, bodies[1], &def, &again, NULL), PL_OK);
    assert_int_equal(again.index, pins[0].index);
    assert_true(again.generation != pins[0].generation);
    world_step(world, 1);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* The first, a middle and the last of a body's pins: the others keep their handles. */
static void pins_are_removed_in_any_order(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_rng rng = pl_rng_make(3);
    for (int round = 0; round < 6; round++) {
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        pl_pin pins[25];
        int count = round % 2 ? 25 : 8, left = count;
        for (int i = 0; i < count; i++) {
            pl_pin_def def = pl_default_pin_def(i % 4 ? PL_PIN_POSITION : PL_PIN_DIRECTION);
            assert_int_equal(pl_pin_at_vertex(world, body, 8 * i, &def), PL_OK);
            assert_int_equal(pl_pin_create(world, body, &def, &pins[i], NULL), PL_OK);
        }
        while (left > 0) {
            int i = (int)pl_random_below(&rng, (uint32_t)left);
            assert_int_equal(pl_pin_destroy(world, pins[i]), PL_OK);
            assert_false(pl_pin_is_valid(world, pins[i]));
            pins[i] = pins[--left];
            pl_report report;
            assert_int_equal(pl_world_step(world, &report), PL_OK);
            assert_int_equal(report.pins, left);
            for (int k = 0; k < left; k++)
                assert_true(pl_pin_is_valid(world, pins[k]));
        }
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Settings -------------------------------------------------------------------------------- */

static void settings_take_effect(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    pl_model *model = world_model(PL_SHAPE_BAR, 5, 0, 0);
    pl_body body = world_body(world, model);
    const double gravity[3] = {1, 0, 0};
    assert_int_equal(pl_world_set_gravity(world, gravity), PL_OK);
    assert_int_equal(pl_world_set_step(world, 0.125, 2), PL_OK);
    assert_int_equal(pl_world_set_iterations(world, 3, 2), PL_OK);
    pl_report report;
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_true(pl_world_time(world) == 0.125);
    assert_int_equal(report.iterations, 3 * 2);
    pl_body_state sums;
    assert_int_equal(pl_body_get_state(world, body, &sums), PL_OK);
    assert_true(fabs(sums.velocity[0] - 0.125) < 1e-12);
    assert_int_equal(pl_body_set_solver(world, body, PL_SOLVER_STIFF), PL_OK);
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_int_equal(report.iterations, 2 * 2);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void advancing_owes_no_time(void **state)
{
    (void)state;
    pl_world_def def = pl_default_world_def();
    def.step = 0.0625;
    def.max_steps = 4;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_report report;
    double fraction = 7;
    assert_int_equal(pl_world_advance(world, 0.03125, &fraction, &report), PL_OK);
    assert_true(report.steps == 0 && fraction == 0.5 && pl_world_time(world) == 0);
    assert_int_equal(pl_world_advance(world, 0.0625, &fraction, &report), PL_OK);
    assert_true(report.steps == 1 && fraction == 0.5 && pl_world_time(world) == 0.0625);
    assert_int_equal(pl_world_advance(world, 0, &fraction, NULL), PL_OK);
    assert_true(fraction == 0.5);
    assert_int_equal(pl_world_advance(world, 0.625, &fraction, &report), PL_OK);
    assert_true(report.steps == 4 && report.dropped == 6 && fraction == 0.5);
    /* However the time is cut, the steps add up, and the fraction is one. */
    pl_rng rng = pl_rng_make(11);
    for (int round = 0; round < 20; round++) {
        double total = 0.03125, owed;
        uint64_t steps = 0;
        for (int i = 0; i < 500; i++) {
            double seconds = 0.2 * pl_random_double(&rng);
            total += seconds;
            assert_int_equal(pl_world_advance(world, seconds, &fraction, &report), PL_OK);
            assert_true(fraction >= 0 && fraction < 1);
            assert_int_equal(report.dropped, 0);
            steps += report.steps;
        }
        owed = total - (double)steps * def.step;
        assert_true(fabs(owed - fraction * def.step) < 1e-9);
        assert_int_equal(pl_world_advance(world, def.step - owed + 0.03125, NULL, NULL), PL_OK);
    }
    pl_world_destroy(world);
}

static void absurd_amounts_of_time_are_dropped(void **state)
{
    (void)state;
    static const double steps[] = {1e-9, 1.0 / 60, 1e3}, times[] = {1e9, 1e18, 1e300, DBL_MAX};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            pl_world_def def = pl_default_world_def();
            def.step = steps[i];
            pl_world *world;
            pl_report report;
            double fraction;
            assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
            assert_int_equal(pl_world_advance(world, times[k], &fraction, &report), PL_OK);
            assert_int_equal(report.steps, 8);
            assert_true(report.dropped > 0 && fraction >= 0 && fraction < 1);
            assert_int_equal(pl_world_advance(world, 0, &fraction, &report), PL_OK);
            assert_true(report.steps <= 1 && fraction >= 0 && fraction < 1);
            pl_world_destroy(world);
        }
}

/* ---- Reports and callbacks ------------------------------------------------------------------- */

static void reports_count_what_there_is(void **state)
{
    (void)state;
    pl_world_def def = pl_default_world_def();
    def.substeps = 3;
    def.stiff_iterations = 2;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_report report;
    assert_int_equal(pl_world_step(world, &report), PL_OK); /* nobody there */
    assert_true(report.steps == 1 && !report.bodies && !report.iterations);
    pl_model *bar = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_model *creature = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    pl_body bodies[33];
    for (int i = 0; i < 33; i++)
        bodies[i] = world_body(world, i ? creature : bar);
    const int32_t fixed[3] = {5, 2, 5};
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_body_set_fixed(world, bodies[0], fixed, 3, NULL), PL_OK);
    assert_int_equal(pl_pin_at_particle(world, bodies[4], 3, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, bodies[4], &pin_def, &pin, NULL), PL_OK);
    assert_int_equal(pl_body_set_solver(world, bodies[5], PL_SOLVER_STIFF), PL_OK);
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_int_equal(report.bodies, 33);
    assert_int_equal(report.particles, 20 + 32 * 100);
    assert_int_equal(report.edges, 19 + 32 * 261);
    assert_int_equal(report.fixed, 2); /* one was named twice */
    assert_int_equal(report.pins, 1);
    assert_int_equal(report.iterations, 3 * (32 * 10 + 2));
    assert_true(report.lone_blocks >= 2);
    assert_true(report.lane_blocks >= 31 / pl_simd_width());
    assert_true(report.refused <= report.iterations && !report.rescued && !report.dropped);
    double stages = report.ms_predict + report.ms_local + report.ms_global + report.ms_accelerate +
                    report.ms_stiff + report.ms_contact + report.ms_finish;
    assert_true(report.ms_total > 0 && stages > 0 && stages <= 1.05 * report.ms_total);
    assert_true(report.ms_local > 0 && report.ms_global > 0 && report.ms_stiff > 0);
    /* After a body has left, without a step in between. */
    assert_int_equal(pl_body_destroy(world, bodies[0]), PL_OK);
    assert_int_equal(pl_world_advance(world, 0, NULL, &report), PL_OK);
    assert_true(report.steps == 0 && report.bodies == 32 && report.fixed == 0);
    pl_world_destroy(world);
    pl_model_release(bar);
    pl_model_release(creature);
}

typedef struct watch {
    fixture *f;
    int calls, expected_index[2];
    double expected_time;
    bool meddle, good, spoil;
} watch;

#define INSIDE(call) (w->good = w->good && (call) == PL_ERROR_STATE)

static void meddle(watch *w)
{
    fixture *f = w->f;
    pl_body body;
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    const double v[3] = {0, 1, 0}, turn[4] = {0, 0, 0, 1};
    double out[12] = {0};
    pl_material material = pl_default_material();
    pl_body_def def = pl_default_body_def(f->model);
    size_t size;
    INSIDE(pl_world_step(f->world, NULL));
    INSIDE(pl_world_advance(f->world, 1, NULL, NULL));
    INSIDE(pl_world_set_gravity(f->world, v));
    INSIDE(pl_world_set_step(f->world, 0.1, 1));
    INSIDE(pl_world_set_iterations(f->world, 1, 1));
    INSIDE(pl_world_set_field(f->world, NULL, NULL));
    INSIDE(pl_world_save(f->world, NULL, 0, &size));
    INSIDE(pl_world_restore(f->world, out, sizeof out, NULL, 0, NULL));
    INSIDE(pl_body_create(f->world, &def, &body, NULL));
    INSIDE(pl_body_destroy(f->world, f->body));
    INSIDE(pl_body_write(f->world, f->body, PL_POSITIONS, 0, 4, pl_doubles(out, 0)));
    INSIDE(pl_body_apply_force(f->world, f->body, 0, v));
    INSIDE(pl_body_apply_impulse(f->world, f->body, 0, v));
    INSIDE(pl_body_set_velocity(f->world, f->body, v, v));
    INSIDE(pl_body_teleport(f->world, f->body, v, turn));
    INSIDE(pl_body_set_material(f->world, f->body, &material, NULL, NULL, NULL));
    INSIDE(pl_body_set_solver(f->world, f->body, PL_SOLVER_FAST));
    INSIDE(pl_body_set_fixed(f->world, f->body, NULL, 0, NULL));
    INSIDE(pl_body_drive(f->world, f->held, 1, v, NULL));
    INSIDE(pl_pin_create(f->world, f->body, &pin_def, &pin, NULL));
    INSIDE(pl_pin_destroy(f->world, f->pin));
    INSIDE(pl_pin_set_target(f->world, f->pin, v));
    pl_world_destroy(f->world); /* is not listened to */
}

static void watch_field(void *user, const pl_field_query *query)
{
    watch *w = user;
    w->good = w->good && query->body_index == (uint32_t)w->expected_index[w->calls % 2] &&
              query->count == 4 && fabs(query->time - w->expected_time) < 1e-12;
    for (int k = 0; k < 12; k++)
        w->good = w->good && query->forces[k] == 0 && isfinite(query->positions[k]);
    if (w->meddle)
        meddle(w);
    /* Reading is possible, and shows the state at the start of the sub-step. */
    double now[12];
    pl_body self = w->calls % 2 ? w->f->held : w->f->body;
    w->good = w->good &&
              pl_body_read(w->f->world, self, PL_POSITIONS, 0, 4, 1, pl_doubles(now, 0)) == PL_OK;
    w->good = w->good && memcmp(now, query->positions, sizeof now) == 0;
    if (w->spoil) {
        query->forces[0] = NAN;
        query->forces[4] = -INFINITY;
        query->forces[8] = FLT_MAX;
    }
    w->calls++;
    w->expected_time += w->calls % 2 ? 0 : 1.0 / 120;
}

static void fields_are_asked_in_order_and_cannot_meddle(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    watch w = {.f = &f, .good = true, .meddle = true};
    w.expected_index[0] = (int)f.body.index, w.expected_index[1] = (int)f.held.index;
    w.expected_time = pl_world_time(f.world);
    assert_int_equal(pl_world_set_step(f.world, 1.0 / 60, 2), PL_OK);
    assert_int_equal(pl_world_set_field(f.world, watch_field, &w), PL_OK);
    int promises = world_broken_promises();
    world_step(f.world, 3);
    assert_true(w.good);
    assert_int_equal(w.calls, 3 * 2 * 2);
    assert_int_equal(world_broken_promises() - promises, 23 * w.calls);
    assert_true(pl_body_is_valid(f.world, f.body));
    fixture_destroy(&f);
}

enum { ASKED = 5 };

typedef struct asked {
    uint32_t expected[ASKED];
    int count, next;
    bool good;
} asked;

static void note_asked(void *user, const pl_field_query *query)
{
    asked *a = user;
    a->good &= query->body_index == a->expected[a->next];
    a->next = (a->next + 1) % a->count;
}

/* In the order of creation, whatever the order in which workers take bodies: the longest go to the
   ends, and those asleep are left out. */
static void fields_are_asked_in_the_order_of_creation(void **state)
{
    (void)state;
    static const int sides[ASKED] = {2, 4, 1, 3, 2};
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    pl_body bodies[ASKED];
    asked a = {.count = ASKED, .good = true};
    def.threads = 2;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    for (int i = 0; i < ASKED; i++) {
        pl_model *model = collider_lattice(sides[i], sides[i], sides[i], 0.2);
        pl_body_def body = pl_default_body_def(model);
        body.position[0] = 3 * i;
        bodies[i] = collider_add_body(world, &body);
        a.expected[i] = bodies[i].index;
        pl_model_release(model);
    }
    assert_int_equal(pl_world_set_field(world, note_asked, &a), PL_OK);
    world_step(world, 3);
    assert_true(a.good && a.next == 0);
    assert_int_equal(pl_body_sleep(world, bodies[1]), PL_OK);
    for (int i = 1; i + 1 < ASKED; i++)
        a.expected[i] = a.expected[i + 1];
    a.count--;
    world_step(world, 3);
    assert_true(a.good && a.next == 0);
    pl_world_destroy(world);
}

typedef struct log_book {
    int count, warnings;
    char last[256];
} log_book;

static void write_down(void *user, pl_log_level level, const char *message)
{
    log_book *book = user;
    book->count++;
    book->warnings += level == PL_LOG_WARNING;
    snprintf(book->last, sizeof book->last, "%s", message);
}

/* What a field answers that is no number is left out, and said. */
static void fields_that_answer_nonsense_do_no_harm(void **state)
{
    (void)state;
    fixture f;
    fixture_create(&f);
    log_book book = {0};
    pl_world_def def = pl_default_world_def();
    def.log = write_down;
    def.log_user = &book;
    size_t size;
    void *bytes = world_snapshot(f.world, &size);
    pl_world_destroy(f.world);
    assert_int_equal(pl_world_create(&def, &f.world, NULL), PL_OK);
    assert_int_equal(pl_world_restore(f.world, bytes, size, &f.model, 1, NULL), PL_OK);
    free(bytes);
    world_step(f.world, 2);
    assert_int_equal(book.count, 0);
    watch w = {.f = &f, .good = true, .spoil = true};
    assert_int_equal(pl_world_set_field(f.world, watch_field, &w), PL_OK);
    for (int i = 0; i < 5; i++) {
        pl_report report;
        assert_int_equal(pl_world_step(f.world, &report), PL_OK);
        assert_true(world_is_finite(f.world, f.body) && world_is_finite(f.world, f.held));
    }
    assert_true(book.warnings >= 5);
    assert_non_null(strstr(book.last, "left out"));
    assert_true(w.calls == 10);
    fixture_destroy(&f);
}

/* A body thrown beyond what floats carry is put back, at rest, and counted. */
static void bodies_that_overflow_are_rescued(void **state)
{
    (void)state;
    log_book book = {0};
    pl_world_def def = pl_default_world_def();
    def.log = write_down;
    def.log_user = &book;
    def.step = 1000;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_model *model = world_model(PL_SHAPE_BAR, 3, 0, 0);
    uint64_t rescued = 0;
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_PLAIN; solver++) {
        pl_body_def body_def = pl_default_body_def(model);
        body_def.solver = (pl_solver)solver;
        pl_body body;
        assert_int_equal(pl_body_create(world, &body_def, &body, NULL), PL_OK);
        double v[9] = {1e17, 0, 0, -1e17, 1e17, 0, 0, 0, -1e17};
        assert_int_equal(pl_body_write(world, body, PL_VELOCITIES, 0, 3, pl_doubles(v, 0)), PL_OK);
        assert_int_equal(pl_body_write(world, body, PL_SPINS, 0, 3, pl_doubles(v, 0)), PL_OK);
        for (int i = 0; i < 4; i++) {
            pl_report report;
            assert_int_equal(pl_world_step(world, &report), PL_OK);
            rescued += report.rescued;
            assert_true(world_is_finite(world, body));
        }
    }
    assert_true(rescued > 0);
    assert_non_null(strstr(book.last, "put back"));
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(definitions_made_by_hand_are_refused),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(bad_pins_are_refused),
        cmocka_unit_test(bad_arguments_of_bodies_are_refused),
        cmocka_unit_test(bad_ranges_and_buffers_are_refused),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(stale_handles_are_noticed),
        cmocka_unit_test(slots_are_used_again_with_another_generation),
        cmocka_unit_test(pins_are_removed_in_any_order),
        cmocka_unit_test(settings_take_effect),
        cmocka_unit_test(advancing_owes_no_time),
        cmocka_unit_test(absurd_amounts_of_time_are_dropped),
        cmocka_unit_test(reports_count_what_there_is),
        cmocka_unit_test(fields_are_asked_in_order_and_cannot_meddle),
        cmocka_unit_test(fields_are_asked_in_the_order_of_creation),
        cmocka_unit_test(fields_that_answer_nonsense_do_no_harm),
        cmocka_unit_test(bodies_that_overflow_are_rescued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
