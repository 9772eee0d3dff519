/* Worlds as bytes and back: a run continued from a snapshot gives the same bits, in the same world
   and in a fresh one; whatever else the bytes are is refused with the world unchanged. */
#include "support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "support/world_kit.h"

/* ---- Continuing ------------------------------------------------------------------------------ */

static pl_status restore(world_mix *mix, const void *bytes, size_t size, pl_error *error)
{
    return pl_world_restore(mix->world, bytes, size, mix->models, WORLD_MIX_MODELS, error);
}

static void runs_continued_from_a_snapshot_give_the_same_bits(void **state)
{
    (void)state;
    int middle = world_scaled(150), end = world_scaled(300);
    pl_world_def def = world_mix_def();
    world_mix mix;
    world_mix_create(&mix, &def);
    world_mix_run(&mix, 0, middle);
    size_t size;
    void *bytes = world_snapshot(mix.world, &size);
    uint64_t then = pl_world_hash(mix.world);
    world_mix kept = mix;
    world_mix_run(&mix, middle, end);
    uint64_t uninterrupted = pl_world_hash(mix.world);
    assert_true(then != uninterrupted);

    /* Into the same world, which has gone on; the handles of then are good again. */
    mix = kept;
    assert_int_equal(restore(&mix, bytes, size, NULL), PL_OK);
    assert_true(pl_world_hash(mix.world) == then);
    for (int i = 0; i < mix.body_count; i++)
        assert_true(pl_body_is_valid(mix.world, mix.bodies[i]));
    for (int i = 0; i < mix.pin_count; i++)
        assert_true(pl_pin_is_valid(mix.world, mix.pins[i]));
    world_mix_run(&mix, middle, end);
    assert_true(pl_world_hash(mix.world) == uninterrupted);
    pl_world_destroy(mix.world);

    /* Into a fresh one with other settings and threads. */
    mix = kept;
    def.threads = 3;
    def.iterations = 77;
    def.step = 0.5;
    def.gravity[0] = 5;
    assert_int_equal(pl_world_create(&def, &mix.world, NULL), PL_OK);
    assert_int_equal(restore(&mix, bytes, size, NULL), PL_OK);
    assert_true(pl_world_hash(mix.world) == then);
    world_mix_run(&mix, middle, end);
    assert_true(pl_world_hash(mix.world) == uninterrupted);
    free(bytes);
    world_mix_destroy(&mix);
}

/* ---- A small world that has everything ------------------------------------------------------- */

typedef struct small {
    pl_model *model;
    pl_world *world;
    pl_body held, free;
    pl_pin place, direction;
    int tag;
} small;

static void small_create(small *s)
{
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    *s = (small){.model = world_model(PL_SHAPE_CHAIN, 3, 0, 0)};
    assert_int_equal(pl_world_create(&def, &s->world, NULL), PL_OK);
    const int32_t fixed = 0;
    const float painted[2] = {1, 2}, heavy[3] = {1, 3, 1};
    pl_body_def body = pl_default_body_def(s->model);
    body.fixed = &fixed;
    body.fixed_count = 1;
    body.edge_stiffness = painted;
    body.particle_density = heavy;
    body.user = &s->tag;
    pl_body gone;
    assert_int_equal(pl_body_create(s->world, &body, &gone, NULL), PL_OK);
    assert_int_equal(pl_body_create(s->world, &body, &s->held, NULL), PL_OK);
    body = pl_default_body_def(s->model);
    body.solver = PL_SOLVER_STIFF;
    body.spin[1] = 2;
    assert_int_equal(pl_body_create(s->world, &body, &s->free, NULL), PL_OK);
    pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_vertex(s->world, s->free, 10, &pin), PL_OK);
    assert_int_equal(pl_pin_create(s->world, s->free, &pin, &s->place, NULL), PL_OK);
    pin = pl_default_pin_def(PL_PIN_DIRECTION);
    assert_int_equal(pl_pin_at_particle(s->world, s->held, 2, &pin), PL_OK);
    assert_int_equal(pl_pin_create(s->world, s->held, &pin, &s->direction, NULL), PL_OK);
    assert_int_equal(pl_body_destroy(s->world, gone), PL_OK); /* a free slot in the middle */
    world_step(s->world, 5);
    /* Things that wait for the next step. */
    const double at[3] = {-1, 0.5, 0}, force[3] = {1, 2, 3};
    assert_int_equal(pl_body_drive(s->world, s->held, 0, at, NULL), PL_OK);
    assert_int_equal(pl_body_apply_force(s->world, s->free, 1, force), PL_OK);
    assert_int_equal(pl_pin_set_target(s->world, s->place, at), PL_OK);
    assert_int_equal(pl_world_advance(s->world, 0.01, NULL, NULL), PL_OK);
}

static void small_destroy(small *s)
{
    pl_world_destroy(s->world);
    pl_model_release(s->model);
}

static void what_waits_for_the_next_step_is_in_the_snapshot(void **state)
{
    (void)state;
    small s;
    small_create(&s);
    size_t size;
    void *bytes = world_snapshot(s.world, &size);
    uint64_t hash[3];
    pl_body made[3];
    for (int i = 0; i < 3; i++) {
        if (i == 2) {
            pl_world_destroy(s.world);
            pl_world_def def = pl_default_world_def();
            assert_int_equal(pl_world_create(&def, &s.world, NULL), PL_OK);
        }
        if (i)
            assert_int_equal(pl_world_restore(s.world, bytes, size, &s.model, 1, NULL), PL_OK);
        double fraction;
        assert_int_equal(pl_world_advance(s.world, 0.01, &fraction, NULL), PL_OK);
        made[i] = world_body(s.world, s.model); /* takes the same slot */
        world_step(s.world, 3);
        hash[i] = pl_world_hash(s.world);
    }
    assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
    assert_memory_equal(&made[0], &made[1], sizeof made[0]);
    assert_memory_equal(&made[0], &made[2], sizeof made[0]);
    free(bytes);
    small_destroy(&s);
}

static void handles_and_user_pointers_live_on(void **state)
{
    (void)state;
    small s;
    small_create(&s);
    pl_body stale = s.free;
    stale.generation += 5;
    size_t size;
    void *bytes = world_snapshot(s.world, &size);
    pl_body later = world_body(s.world, s.model);
    assert_int_equal(pl_pin_destroy(s.world, s.place), PL_OK);
    assert_int_equal(pl_world_restore(s.world, bytes, size, NULL, 0, NULL), PL_OK);
    assert_true(pl_body_is_valid(s.world, s.held) && pl_body_is_valid(s.world, s.free));
    assert_true(pl_pin_is_valid(s.world, s.place) && pl_pin_is_valid(s.world, s.direction));
    assert_false(pl_body_is_valid(s.world, stale) || pl_body_is_valid(s.world, later));
    assert_ptr_equal(pl_body_user(s.world, s.held), &s.tag);
    assert_ptr_equal(pl_body_model(s.world, s.held), s.model);
    pl_world *fresh = world_empty();
    assert_int_equal(pl_world_restore(fresh, bytes, size, &s.model, 1, NULL), PL_OK);
    assert_true(pl_body_is_valid(fresh, s.held) && pl_pin_is_valid(fresh, s.place));
    assert_null(pl_body_user(fresh, s.held));
    size_t again_size;
    void *again = world_snapshot(fresh, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    pl_world_destroy(fresh);
    free(bytes);
    free(again);
    small_destroy(&s);
}

/* So many that they are part of a matrix of the body's own. */
static void many_pins_are_restored(void **state)
{
    (void)state;
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_STIFF; solver++) {
        pl_world *world = world_empty();
        pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
        pl_body body = world_body(world, model);
        assert_int_equal(pl_body_set_solver(world, body, (pl_solver)solver), PL_OK);
        for (int i = 0; i < 20; i++) {
            pl_pin_def def = pl_default_pin_def(i % 5 ? PL_PIN_POSITION : PL_PIN_DIRECTION);
            pl_pin pin;
            assert_int_equal(pl_pin_at_vertex(world, body, 9 * i, &def), PL_OK);
            def.target[1] += 0.01 * i;
            assert_int_equal(pl_pin_create(world, body, &def, &pin, NULL), PL_OK);
        }
        world_step(world, 5);
        size_t size;
        void *bytes = world_snapshot(world, &size);
        world_step(world, 5);
        uint64_t hash = pl_world_hash(world);
        assert_int_equal(pl_world_restore(world, bytes, size, NULL, 0, NULL), PL_OK);
        world_step(world, 5);
        assert_true(pl_world_hash(world) == hash);
        free(bytes);
        pl_world_destroy(world);
        pl_model_release(model);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void saving_checks_its_arguments(void **state)
{
    (void)state;
    small s;
    small_create(&s);
    size_t size = 0, asked = 0;
    assert_int_equal(pl_world_save(s.world, NULL, 0, &size), PL_OK);
    assert_true(size > 500);
    unsigned char *bytes = malloc(size);
    memset(bytes, 0xA5, size);
    assert_int_equal(pl_world_save(s.world, bytes, size - 1, &asked), PL_ERROR_ARGUMENT);
    assert_int_equal(asked, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], 0xA5);
    assert_int_equal(pl_world_save(s.world, bytes, size, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_save(NULL, bytes, size, &asked), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_save(s.world, bytes, size, &asked), PL_OK);
    assert_int_equal(pl_world_restore(s.world, NULL, size, NULL, 0, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_restore(s.world, bytes, size, NULL, 1, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_restore(s.world, bytes, size, &s.model, -1, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_restore(NULL, bytes, size, &s.model, 1, NULL), PL_ERROR_ARGUMENT);
    free(bytes);
    small_destroy(&s);
}

static void missing_models_are_reported(void **state)
{
    (void)state;
    small s;
    small_create(&s);
    size_t size;
    void *bytes = world_snapshot(s.world, &size);
    pl_model *other = world_model(PL_SHAPE_CHAIN, 4, 0, 0);
    pl_model *wrong[2] = {NULL, other};
    pl_world *fresh = world_empty();
    uint64_t before = pl_world_hash(fresh);
    pl_error error = {0};
    assert_int_equal(pl_world_restore(fresh, bytes, size, wrong, 2, &error), PL_ERROR_FORMAT);
    assert_int_equal(error.status, PL_ERROR_FORMAT);
    assert_string_equal(error.where, "models");
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)pl_model_get_info(s.model).hash);
    assert_non_null(strstr(error.text, hash));
    assert_true(pl_world_hash(fresh) == before);
    pl_world_destroy(fresh);
    pl_model_release(other);
    free(bytes);
    small_destroy(&s);
}

/* Bytes that somebody changed: refused, saying why, with the world as it was; or, where the change
   happens to make sense, accepted, and the world runs. */
typedef struct attack {
    small s;
    unsigned char *good, *bytes;
    size_t size;
    uint64_t before;
    int refused, accepted;
} attack;

static void attack_begin(attack *a)
{
    small_create(&a->s);
    a->good = world_snapshot(a->s.world, &a->size);
    a->bytes = malloc(a->size);
    a->before = pl_world_hash(a->s.world);
    a->refused = a->accepted = 0;
}

static void attack_end(attack *a)
{
    free(a->good);
    free(a->bytes);
    small_destroy(&a->s);
}

static void close_with_hash(unsigned char *bytes, size_t size)
{
    if (size < sizeof(uint64_t))
        return;
    uint64_t hash = pl_hash_of(bytes, size - sizeof hash, 0);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

static void run_accepted(attack *a)
{
    /* However many sub-steps or iterations it asks for. */
    assert_int_equal(pl_world_set_iterations(a->s.world, 2, 1), PL_OK);
    pl_status status = pl_world_set_step(a->s.world, 1.0 / 60, 1);
    assert_true(status == PL_OK || status == PL_ERROR_ARGUMENT);
    if (status == PL_OK)
        world_step(a->s.world, 2);
    const pl_body bodies[2] = {a->s.held, a->s.free};
    for (int i = 0; i < 2; i++)
        if (pl_body_is_valid(a->s.world, bodies[i]))
            assert_true(world_is_finite(a->s.world, bodies[i]));
    assert_int_equal(pl_world_restore(a->s.world, a->good, a->size, &a->s.model, 1, NULL), PL_OK);
    a->accepted++;
}

static void try_bytes(attack *a, size_t size)
{
    pl_error error = {0};
    pl_status status = pl_world_restore(a->s.world, a->bytes, size, &a->s.model, 1, &error);
    if (status == PL_OK) {
        run_accepted(a);
    } else {
        assert_int_equal(status, PL_ERROR_FORMAT);
        assert_int_equal(error.status, status);
        assert_true(error.text[0] != 0);
        a->refused++;
    }
    assert_true(pl_world_hash(a->s.world) == a->before);
}

static void flipped_bits_are_noticed(void **state)
{
    (void)state;
    attack a;
    attack_begin(&a);
    for (size_t i = 0; i < a.size; i += world_is_slow_build() ? 19 : check_is_thorough() ? 1 : 3)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(a.bytes, a.good, a.size);
            a.bytes[i] ^= (unsigned char)(1 << bit);
            try_bytes(&a, a.size);
        }
    assert_int_equal(a.accepted, 0);
    attack_end(&a);
}

static void forged_bytes_do_no_harm(void **state)
{
    (void)state;
    attack a;
    attack_begin(&a);
    for (size_t i = 0; i < a.size - sizeof(uint64_t); i += world_is_slow_build() ? 41
                                                           : check_is_thorough() ? 1
                                                                                 : 3)
        for (int change = 0; change < 11; change++) {
            memcpy(a.bytes, a.good, a.size);
            if (change < 8)
                a.bytes[i] ^= (unsigned char)(1 << change);
            else
                a.bytes[i] = change == 8 ? 0 : change == 9 ? 0x7F : 0xFF;
            close_with_hash(a.bytes, a.size);
            try_bytes(&a, a.size);
        }
    printf("%zu bytes: %d forgeries refused, %d accepted\n", a.size, a.refused, a.accepted);
    assert_true(a.refused > 1000 || world_is_slow_build());
    attack_end(&a);
}

/* Words of four and eight bytes that are likely to hurt. */
static void forged_words_do_no_harm(void **state)
{
    (void)state;
    static const uint64_t words[] = {0,
                                     1,
                                     UINT64_C(0x7FFFFFFF),
                                     UINT64_C(0xFFFFFFFF),
                                     UINT64_C(0x80000000),
                                     UINT64_C(0x7F800000),         /* inf */
                                     UINT64_C(0x7FC00000),         /* NaN */
                                     UINT64_C(0x7F7FFFFF),         /* the largest float */
                                     UINT64_C(0x7FF0000000000000), /* inf */
                                     UINT64_C(0x7FF8000000000000), /* NaN */
                                     UINT64_C(0x7FEFFFFFFFFFFFFF), /* the largest double */
                                     UINT64_C(0x8000000000000001)};
    attack a;
    attack_begin(&a);
    for (size_t i = 0; i + 16 <= a.size; i += world_is_slow_build() ? 41
                                              : check_is_thorough() ? 1
                                                                    : 3)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            memcpy(a.bytes, a.good, a.size);
            memcpy(a.bytes + i, words + w, w < 8 ? 4 : 8);
            close_with_hash(a.bytes, a.size);
            try_bytes(&a, a.size);
        }
    attack_end(&a);
}

static void truncated_bytes_are_refused(void **state)
{
    (void)state;
    attack a;
    attack_begin(&a);
    for (size_t size = 0; size < a.size; size += world_is_slow_build() ? 7 : 1)
        for (int closed = 0; closed < 2; closed++) {
            memcpy(a.bytes, a.good, a.size);
            if (closed)
                close_with_hash(a.bytes, size);
            try_bytes(&a, size);
        }
    /* One byte too many. */
    a.bytes = realloc(a.bytes, a.size + 1);
    memcpy(a.bytes, a.good, a.size);
    a.bytes[a.size - 8] = 0;
    close_with_hash(a.bytes, a.size + 1);
    try_bytes(&a, a.size + 1);
    assert_int_equal(a.accepted, 0);
    attack_end(&a);
}

static void random_bytes_are_refused(void **state)
{
    (void)state;
    attack a;
    attack_begin(&a);
    pl_rng rng = pl_rng_make(7);
    for (int i = 0; i < check_rounds(8000, 3000); i++) {
        memcpy(a.bytes, a.good, a.size);
        int changes = 1 + (int)pl_random_below(&rng, 12);
        for (int k = 0; k < changes; k++) { /* copies of other parts, and noise */
            size_t to = pl_random_below(&rng, (uint32_t)a.size - 16), length;
            size_t from = pl_random_below(&rng, (uint32_t)a.size - 16);
            length = 1 + pl_random_below(&rng, 16);
            if (pl_random_below(&rng, 2))
                memmove(a.bytes + to, a.bytes + from, length);
            else
                a.bytes[to] = (unsigned char)pl_random_u32(&rng);
        }
        close_with_hash(a.bytes, a.size);
        try_bytes(&a, a.size);
    }
    attack_end(&a);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct reader {
    const small *s;
    uint64_t hash;
    bool good;
} reader;

static void *read_everything(void *argument)
{
    reader *r = argument;
    const pl_world *world = r->s->world;
    r->good = true;
    for (int i = 0; i < world_scaled(200); i++) {
        size_t size = 0;
        unsigned char bytes[8192];
        float positions[9];
        pl_body_state sums;
        pl_energy energy;
        pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
        const double at[3] = {0, 0, 0};
        r->good = r->good && pl_world_save(world, bytes, sizeof bytes, &size) == PL_OK &&
                  pl_body_read(world, r->s->free, PL_POSITIONS, 0, 3, 0.5,
                               pl_floats(positions, 0)) == PL_OK &&
                  pl_body_get_state(world, r->s->free, &sums) == PL_OK &&
                  pl_body_get_energy(world, r->s->free, &energy) == PL_OK &&
                  pl_pin_at_point(world, r->s->free, at, &pin) == PL_OK &&
                  pl_body_is_valid(world, r->s->held) && pl_pin_is_valid(world, r->s->place) &&
                  pl_world_time(world) > 0;
        r->hash = pl_world_hash(world);
    }
    return NULL;
}

/* For the thread sanitizer: reading stores nothing. */
static void several_threads_may_read(void **state)
{
    (void)state;
    small s;
    small_create(&s);
    uint64_t hash = pl_world_hash(s.world);
    pthread_t threads[4];
    reader readers[4];
    for (int i = 0; i < 4; i++) {
        readers[i] = (reader){.s = &s};
        assert_int_equal(pthread_create(&threads[i], NULL, read_everything, &readers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(readers[i].good && readers[i].hash == hash);
    }
    small_destroy(&s);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_continued_from_a_snapshot_give_the_same_bits),
        cmocka_unit_test(what_waits_for_the_next_step_is_in_the_snapshot),
        cmocka_unit_test(handles_and_user_pointers_live_on),
        cmocka_unit_test(many_pins_are_restored),
        cmocka_unit_test(saving_checks_its_arguments),
        cmocka_unit_test(missing_models_are_reported),
        cmocka_unit_test(flipped_bits_are_noticed),
        cmocka_unit_test(forged_bytes_do_no_harm),
        cmocka_unit_test(forged_words_do_no_harm),
        cmocka_unit_test(truncated_bytes_are_refused),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(several_threads_may_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
