/* Random sequences of calls, good and bad: each gives the status it should, a call that fails
   changes nothing, handles are valid exactly as long as they should be, and every number stays
   finite. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/world_kit.h"

enum { MODELS = 5, BODIES = 12, PINS = 40, GONE = 8 };

typedef struct live_body {
    pl_body handle;
    int model, fixed_count;
    int32_t fixed[4];
} live_body;

typedef struct live_pin {
    pl_pin handle;
    pl_body body;
} live_pin;

typedef struct fuzz {
    pl_rng rng;
    pl_model *models[MODELS];
    int particles[MODELS], edges[MODELS], vertices[MODELS];
    pl_world *world;
    live_body bodies[BODIES];
    int body_count;
    live_pin pins[PINS];
    int pin_count;
    pl_body gone[GONE]; /* handles that were good once */
    int gone_count;
    void *snapshot; /* with what was alive then */
    size_t snapshot_size;
    live_body kept_bodies[BODIES];
    live_pin kept_pins[PINS];
    int kept_body_count, kept_pin_count;
    uint64_t good, bad;
} fuzz;

/* ---- Random things --------------------------------------------------------------------------- */

static int below(fuzz *f, int bound)
{
    return (int)pl_random_below(&f->rng, (uint32_t)bound);
}

static bool chance(fuzz *f, int one_in)
{
    return below(f, one_in) == 0;
}

/* Mostly ordinary, sometimes zero, tiny or large; `wild` ones are what no call takes. */
static double number(fuzz *f)
{
    double x = 2 * pl_random_double(&f->rng) - 1;
    switch (below(f, 12)) {
    case 0:
        return 0;
    case 1:
        return x * 1e-310;
    case 2:
        return x * 1e6;
    case 3:
        return x * 1e3;
    default:
        return x;
    }
}

static double wild(fuzz *f)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, DBL_MAX, -1e290};
    return values[below(f, 5)];
}

/* Returns whether it is one that may be taken. */
static bool vector(fuzz *f, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = number(f);
    if (!chance(f, 20))
        return true;
    v[below(f, 3)] = wild(f);
    return false;
}

static bool rotation(fuzz *f, double q[4])
{
    for (int k = 0; k < 4; k++)
        q[k] = 2 * pl_random_double(&f->rng) - 1;
    if (chance(f, 20)) {
        if (chance(f, 2))
            q[below(f, 4)] = wild(f);
        else
            memset(q, 0, sizeof(double) * 4);
        return false;
    }
    return true;
}

/* A live body, or NULL with a handle that is not. */
static live_body *pick(fuzz *f, pl_body *handle)
{
    if (f->body_count && !chance(f, 15)) {
        live_body *body = f->bodies + below(f, f->body_count);
        *handle = body->handle;
        return body;
    }
    *handle = (pl_body){0, 0};
    if (f->gone_count && chance(f, 2))
        *handle = f->gone[below(f, f->gone_count)];
    else if (chance(f, 2))
        *handle = (pl_body){pl_random_u32(&f->rng), pl_random_u32(&f->rng)};
    /* By chance it may be alive after all. */
    for (int i = 0; i < f->body_count; i++)
        if (memcmp(&f->bodies[i].handle, handle, sizeof *handle) == 0)
            return f->bodies + i;
    return NULL;
}

static pl_status expected(bool handle, bool arguments)
{
    return !handle ? PL_ERROR_HANDLE : !arguments ? PL_ERROR_ARGUMENT : PL_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void forget_pins_of(fuzz *f, pl_body body)
{
    for (int i = f->pin_count - 1; i >= 0; i--)
        if (memcmp(&f->pins[i].body, &body, sizeof body) == 0)
            f->pins[i] = f->pins[--f->pin_count];
}

static pl_status create_body(fuzz *f, pl_status *want)
{
    int model = below(f, MODELS);
    int32_t fixed[4];
    float map[400];
    pl_body_def def = pl_default_body_def(f->models[model]);
    bool place = vector(f, def.position), way = vector(f, def.velocity), spin = vector(f, def.spin);
    bool good = rotation(f, def.rotation) && place && way && spin;
    def.solver = (pl_solver)below(f, 3);
    def.material.young = pow(10, 3 + 7 * pl_random_double(&f->rng));
    def.gravity_scale = 1 + number(f) * 1e-3;
    def.fixed = fixed;
    def.fixed_count = below(f, 3);
    for (int i = 0; i < 4; i++)
        fixed[i] = below(f, f->particles[model]);
    for (int i = 0; i < 400; i++)
        map[i] = 0.5f + pl_random_float(&f->rng);
    def.edge_stiffness = chance(f, 4) ? map : NULL;
    def.particle_density = chance(f, 4) ? map : NULL;
    if (chance(f, 20)) {
        good = false;
        switch (below(f, 5)) {
        case 0:
            def.material.density = wild(f);
            break;
        case 1:
            def.solver = (pl_solver)17;
            break;
        case 2:
            def.fixed_count = 3;
            fixed[2] = f->particles[model];
            break;
        case 3:
            def.cookie++;
            break;
        default:
            def.particle_density = map;
            map[0] = -1;
        }
    }
    *want = expected(true, good);
    pl_body body;
    pl_status status = pl_body_create(f->world, &def, &body, NULL);
    if (status == PL_OK) {
        live_body *entry = f->bodies + f->body_count++;
        *entry = (live_body){.handle = body, .model = model};
        for (int i = 0; i < def.fixed_count; i++)
            entry->fixed[entry->fixed_count++] = fixed[i];
    }
    return status;
}

static pl_status destroy_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    *want = expected(body, true);
    pl_status status = pl_body_destroy(f->world, handle);
    if (status == PL_OK) {
        forget_pins_of(f, handle);
        f->gone[f->gone_count < GONE ? f->gone_count++ : below(f, GONE)] = handle;
        *body = f->bodies[--f->body_count];
    }
    return status;
}

static pl_status create_pin(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    pl_pin_def def = pl_default_pin_def((pl_pin_kind)below(f, 2));
    if (!body || f->pin_count == PINS) {
        pl_pin none;
        *want = expected(body, false);
        return pl_pin_create(f->world, handle, &def, &none, NULL);
    }
    double point[3] = {number(f), number(f), number(f)};
    int n = f->particles[body->model], v = f->vertices[body->model];
    pl_status status = chance(f, 3)        ? pl_pin_at_particle(f->world, handle, below(f, n), &def)
                       : chance(f, 2) && v ? pl_pin_at_vertex(f->world, handle, below(f, v), &def)
                                           : pl_pin_at_point(f->world, handle, point, &def);
    assert_int_equal(status, PL_OK);
    def.strength = pow(10, 6 * pl_random_double(&f->rng) - 2);
    bool good = true;
    if (chance(f, 3) && def.kind == PL_PIN_POSITION)
        good = vector(f, def.target);
    if (chance(f, 20)) {
        good = false;
        if (chance(f, 2))
            def.weights[0] = -1;
        else
            def.strength = wild(f);
    }
    pl_pin pin;
    *want = expected(true, good);
    status = pl_pin_create(f->world, handle, &def, &pin, NULL);
    if (status == PL_OK)
        f->pins[f->pin_count++] = (live_pin){pin, handle};
    return status;
}

static pl_status use_pin(fuzz *f, pl_status *want)
{
    double target[3];
    bool good = vector(f, target);
    if (!f->pin_count || chance(f, 15)) {
        pl_pin none = {pl_random_u32(&f->rng) % 50, 0};
        *want = PL_ERROR_HANDLE;
        return chance(f, 2) ? pl_pin_destroy(f->world, none)
                            : pl_pin_set_target(f->world, none, target);
    }
    int i = below(f, f->pin_count);
    pl_pin pin = f->pins[i].handle;
    if (chance(f, 2)) {
        if (fabs(target[0]) < 1e-3)
            target[0] = 1; /* a direction has a length */
        *want = expected(true, good);
        return pl_pin_set_target(f->world, pin, target);
    }
    *want = PL_OK;
    pl_status status = pl_pin_destroy(f->world, pin);
    f->pins[i] = f->pins[--f->pin_count];
    return status;
}

static pl_status move_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    double a[3], b[3], q[4];
    bool good_a = vector(f, a), good_b = vector(f, b), good_q = rotation(f, q);
    int n = body ? f->particles[body->model] : 5;
    int particle = chance(f, 10) ? n + below(f, 3) : below(f, n + 1) - 1;
    switch (below(f, 5)) {
    case 0:
        *want = expected(body, good_a && particle < n);
        return pl_body_apply_force(f->world, handle, particle, a);
    case 1:
        *want = expected(body, good_a && particle < n);
        return pl_body_apply_impulse(f->world, handle, particle, a);
    case 2:
        *want = expected(body, good_a && good_b);
        return pl_body_set_velocity(f->world, handle, a, b);
    case 3:
        *want = expected(body, good_a && good_q);
        return pl_body_teleport(f->world, handle, a, q);
    default: {
        bool fixed = false;
        for (int i = 0; body && i < body->fixed_count; i++)
            fixed = fixed || body->fixed[i] == particle;
        if (body && body->fixed_count && chance(f, 2)) {
            particle = body->fixed[0];
            fixed = true;
        }
        bool turned = chance(f, 2);
        *want = expected(body, good_a && fixed && (!turned || good_q));
        return pl_body_drive(f->world, handle, particle, a, turned ? q : NULL);
    }
    }
}

static pl_status change_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    int n = body ? f->particles[body->model] : 5;
    if (chance(f, 3)) {
        int solver = below(f, 4);
        *want = expected(body, solver < 3);
        return pl_body_set_solver(f->world, handle, (pl_solver)solver);
    }
    if (chance(f, 2)) {
        pl_material material = pl_default_material();
        material.young = pow(10, 2 + 8 * pl_random_double(&f->rng));
        bool good = !chance(f, 10);
        if (!good)
            material.damping = wild(f);
        *want = expected(body, good || material.damping == 0);
        return pl_body_set_material(f->world, handle, &material, NULL, NULL, NULL);
    }
    int32_t fixed[4];
    int count = below(f, 5);
    for (int i = 0; i < 4; i++)
        fixed[i] = below(f, n);
    bool good = !count || !chance(f, 10);
    if (!good)
        fixed[count - 1] = -1;
    *want = expected(body, good);
    pl_status status = pl_body_set_fixed(f->world, handle, fixed, count, NULL);
    if (status == PL_OK) {
        body->fixed_count = count;
        memcpy(body->fixed, fixed, sizeof fixed);
    }
    return status;
}

/* Whom it touches, and whether it sleeps. */
static pl_status calm_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    pl_status status;
    *want = expected(body, true);
    switch (below(f, 6)) {
    case 0:
        status = pl_body_wake(f->world, handle);
        assert_false(pl_body_is_asleep(f->world, handle));
        return status;
    case 1:
        return pl_body_set_filter(f->world, handle, pl_random_u32(&f->rng) & 3,
                                  pl_random_u32(&f->rng) & 3);
    case 2:
        return pl_body_set_self_contact(f->world, handle, below(f, 2));
    default:
        status = pl_body_sleep(f->world, handle);
        assert_int_equal(pl_body_is_asleep(f->world, handle), body != NULL);
        return status;
    }
}

static pl_status write_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    int n = body ? f->particles[body->model] : 5;
    int field = below(f, 7), first = below(f, n), count = below(f, n + 3);
    double values[4 * 400];
    bool good = field <= PL_SPINS && first + count <= n;
    for (int i = 0; i < 4 * count; i++)
        values[i] = field == PL_ROTATIONS ? 2 * pl_random_double(&f->rng) - 1 : number(f);
    if (count && chance(f, 10)) {
        values[below(f, 3 * count)] = wild(f);
        good = false;
    }
    *want = expected(body, good);
    return pl_body_write(f->world, handle, (pl_body_field)field, first, count,
                         pl_doubles(values, 0));
}

static pl_status read_body(fuzz *f, pl_status *want)
{
    pl_body handle;
    live_body *body = pick(f, &handle);
    int n = body ? f->particles[body->model] : 5;
    int field = below(f, 6), first = below(f, n + 2) - 1, count = below(f, n + 2);
    double values[4 * 400], fraction = chance(f, 10) ? wild(f) : pl_random_double(&f->rng);
    int size = field == PL_VERTICES && body ? f->vertices[body->model] : n;
    bool good = first >= 0 && first + count <= size && fraction >= 0 && fraction <= 1;
    *want = expected(body, good);
    pl_status status = pl_body_read(f->world, handle, (pl_body_field)field, first, count, fraction,
                                    pl_doubles(values, 0));
    int scalars = field == PL_ROTATIONS ? 4 : field == PL_MASSES ? 1 : 3;
    for (int i = 0; status == PL_OK && i < scalars * count; i++)
        assert_true(isfinite(values[i]));
    return status;
}

static pl_status change_world(fuzz *f, pl_status *want)
{
    double v[3];
    bool good = vector(f, v);
    switch (below(f, 4)) {
    case 0:
        *want = expected(true, good);
        return pl_world_set_gravity(f->world, v);
    case 1: {
        double step = chance(f, 5) ? wild(f) : 0.001 + 0.05 * pl_random_double(&f->rng);
        int substeps = below(f, 4);
        *want = expected(true, step >= 1e-9 && step <= 1e3 && substeps > 0);
        return pl_world_set_step(f->world, step, substeps);
    }
    case 2: {
        int iterations = below(f, 6), stiff = below(f, 3);
        *want = expected(true, iterations > 0 && stiff > 0);
        return pl_world_set_iterations(f->world, iterations, stiff);
    }
    default: {
        double seconds = chance(f, 5) ? wild(f) : 0.1 * pl_random_double(&f->rng), fraction = 0;
        *want = expected(true, seconds >= 0 && isfinite(seconds));
        pl_status status = pl_world_advance(f->world, seconds, &fraction, NULL);
        assert_true(fraction >= 0 && fraction < 1);
        return status;
    }
    }
}

static pl_status step_world(fuzz *f, pl_status *want)
{
    pl_report report;
    *want = PL_OK;
    pl_status status = pl_world_step(f->world, &report);
    int awake = 0;
    for (int i = 0; i < f->body_count; i++)
        awake += !pl_body_is_asleep(f->world, f->bodies[i].handle);
    assert_int_equal(report.bodies, f->body_count);
    assert_int_equal(report.awake, awake);
    assert_int_equal(report.pins, f->pin_count);
    return status;
}

static pl_status travel(fuzz *f, pl_status *want)
{
    *want = PL_OK;
    if (!f->snapshot || chance(f, 2)) {
        free(f->snapshot);
        f->snapshot = world_snapshot(f->world, &f->snapshot_size);
        memcpy(f->kept_bodies, f->bodies, sizeof f->bodies);
        memcpy(f->kept_pins, f->pins, sizeof f->pins);
        f->kept_body_count = f->body_count;
        f->kept_pin_count = f->pin_count;
        return PL_OK;
    }
    memcpy(f->bodies, f->kept_bodies, sizeof f->bodies);
    memcpy(f->pins, f->kept_pins, sizeof f->pins);
    f->body_count = f->kept_body_count;
    f->pin_count = f->kept_pin_count;
    f->gone_count = 0; /* some of them are alive again */
    return pl_world_restore(f->world, f->snapshot, f->snapshot_size, f->models, MODELS, NULL);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

typedef pl_status call(fuzz *f, pl_status *want);

static call *choose(fuzz *f)
{
    static call *const calls[] = {create_body, destroy_body, create_pin,  use_pin,    move_body,
                                  move_body,   change_body,  write_body,  read_body,  change_world,
                                  step_world,  step_world,   create_body, create_pin, step_world,
                                  travel,      calm_body,    calm_body};
    call *chosen = calls[below(f, (int)(sizeof calls / sizeof *calls))];
    if (chosen == create_body && f->body_count == BODIES)
        return destroy_body;
    if (chosen == destroy_body && f->body_count < 3)
        return create_body;
    return chosen;
}

static void check_world(fuzz *f)
{
    for (int i = 0; i < f->body_count; i++) {
        pl_body body = f->bodies[i].handle;
        pl_body_state sums;
        pl_energy energy;
        pl_body found = pl_body_at(f->world, body.index);
        assert_true(pl_body_is_valid(f->world, body));
        assert_memory_equal(&found, &body, sizeof body);
        assert_true(world_is_finite(f->world, body));
        assert_int_equal(pl_body_get_state(f->world, body, &sums), PL_OK);
        assert_int_equal(pl_body_get_energy(f->world, body, &energy), PL_OK);
        assert_true(sums.mass > 0 && isfinite(sums.centre[0]) && isfinite(energy.kinetic));
    }
    for (int i = 0; i < f->pin_count; i++)
        assert_true(pl_pin_is_valid(f->world, f->pins[i].handle));
    for (int i = 0; i < f->gone_count; i++)
        assert_false(pl_body_is_valid(f->world, f->gone[i]));
}

static void run_sequence(fuzz *f, uint64_t seed)
{
    f->rng = pl_rng_make(seed);
    f->body_count = f->pin_count = f->gone_count = 0;
    pl_world_def def = pl_default_world_def();
    def.iterations = 3;
    def.max_steps = 2;
    assert_int_equal(pl_world_create(&def, &f->world, NULL), PL_OK);
    int length = 20 + below(f, 60);
    for (int i = 0; i < length; i++) {
        uint64_t before = pl_world_hash(f->world);
        pl_status want = PL_OK, status = choose(f)(f, &want);
        if (status != want)
            fail_msg("seed %llu, call %d: status %d instead of %d; last refusal: %s",
                     (unsigned long long)seed, i, (int)status, (int)want, world_last_promise());
        if (status != PL_OK && pl_world_hash(f->world) != before)
            fail_msg("seed %llu, call %d: failed and changed the world", (unsigned long long)seed,
                     i);
        f->good += status == PL_OK;
        f->bad += status != PL_OK;
    }
    check_world(f);
    pl_world_destroy(f->world);
    free(f->snapshot);
    f->snapshot = NULL;
}

static void any_sequence_of_calls_is_defined(void **state)
{
    (void)state;
    static const pl_shape_kind kinds[MODELS] = {PL_SHAPE_BAR, PL_SHAPE_BAR, PL_SHAPE_SHEET,
                                                PL_SHAPE_BOX, PL_SHAPE_CREATURE};
    static const int counts[MODELS][3] = {{1, 0, 0}, {6, 0, 0}, {3, 0, 4}, {3, 2, 2}, {30, 0, 0}};
    fuzz f = {0};
    for (int i = 0; i < MODELS; i++) {
        f.models[i] = world_model(kinds[i], counts[i][0], counts[i][1], counts[i][2]);
        pl_model_info info = pl_model_get_info(f.models[i]);
        f.particles[i] = info.particle_count;
        f.edges[i] = info.edge_count;
        f.vertices[i] = info.vertex_count;
        assert_true(info.edge_count <= 400 && info.particle_count <= 100);
    }
    const char *one = getenv("PLIANT_FUZZ_SEED");
    if (one)
        run_sequence(&f, strtoull(one, NULL, 10));
    for (int seed = 0; !one && seed < check_rounds(5000, 2000); seed++)
        run_sequence(&f, (uint64_t)seed);
    printf("%llu calls that do something, %llu that are refused\n", (unsigned long long)f.good,
           (unsigned long long)f.bad);
    for (int i = 0; i < MODELS; i++)
        pl_model_release(f.models[i]);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_of_calls_is_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
