/* Same inputs, same bits: the hash of a mixed world is the same for any number of threads, for the
   host's job systems, in any floating-point environment of the caller's, for every vector width,
   and for every compiler and optimisation level, for which it is written down here.

   Where the arithmetic was changed on purpose, or what a snapshot holds, these hashes change, too:
   PLIANT_PRINT_HASH=1 compares nothing and prints the lines to put here. */
#include "support/check.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "math/simd.h"
#include "support/world_kit.h"

/* Slow builds stop at the early one; those without optimisation do not when compilers are compared.
 */
enum { EARLY = 40, LATE = 300 };

static const uint64_t golden_early = UINT64_C(0x72c8edc2654cbb32);
static const uint64_t golden_late = UINT64_C(0x48a69985cc651bf1);

static int last_frame(void)
{
    return world_is_slow_build() ? EARLY : LATE;
}

static uint64_t golden(int frames)
{
    return frames == EARLY ? golden_early : golden_late;
}

static bool is_printing(void)
{
    return getenv("PLIANT_PRINT_HASH") != NULL;
}

static uint64_t hash_after(const pl_world_def *def, int frames)
{
    world_mix mix;
    world_mix_create(&mix, def);
    world_mix_run(&mix, 0, frames);
    uint64_t hash = pl_world_hash(mix.world);
    for (int i = 0; i < mix.body_count; i++)
        assert_true(world_is_finite(mix.world, mix.bodies[i]));
    world_mix_destroy(&mix);
    return hash;
}

static void expect_golden(const char *what, const pl_world_def *def, int frames)
{
    uint64_t hash = hash_after(def, frames);
    if (hash != golden(frames) && !is_printing())
        fail_msg("%s: %016llx after %d frames", what, (unsigned long long)hash, frames);
}

/* ---- Compilers ------------------------------------------------------------------------------- */

static void compilers_and_optimisation_levels_agree(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    pl_world_def def = world_mix_def();
    world_mix mix;
    world_mix_create(&mix, &def);
    world_mix_run(&mix, 0, EARLY);
    uint64_t early = pl_world_hash(mix.world), late = golden_late;
    if (!world_is_sanitized()) {
        world_mix_run(&mix, EARLY, LATE);
        late = pl_world_hash(mix.world);
    }
    world_mix_destroy(&mix);
    printf("static const uint64_t golden_early = UINT64_C(0x%016llx);\n",
           (unsigned long long)early);
    if (!world_is_sanitized())
        printf("static const uint64_t golden_late = UINT64_C(0x%016llx);\n",
               (unsigned long long)late);
    if (is_printing())
        return;
    assert_true(early == golden_early);
    assert_true(late == golden_late);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void numbers_of_threads_agree(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 7; threads += 5) {
        pl_world_def def = world_mix_def();
        def.threads = threads;
        expect_golden(threads == 2 ? "2 threads" : "7 threads", &def, last_frame());
    }
}

static void job_systems_of_the_host_agree(void **state)
{
    (void)state;
    pl_task_system reverse = world_reverse_tasks(), threads = world_thread_tasks();
    pl_world_def def = world_mix_def();
    def.tasks = &reverse;
    expect_golden("backwards", &def, EARLY);
    def.tasks = &threads;
    expect_golden("threads of the host's", &def, EARLY);
}

/* ---- The caller's floating-point environment ------------------------------------------------- */

static void set_hostile_environment(void)
{
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); /* flush and ignore subnormals */
#endif
}

static void floating_point_environments_agree(void **state)
{
    (void)state;
    /* What the test itself computes must not depend on it: everything is put into the world before,
       by calls whose arguments are exact. */
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    uint64_t hash[2];
    double energy[2];
    for (int hostile = 0; hostile < 2; hostile++) {
        fenv_t host;
        fegetenv(&host);
        if (hostile)
            set_hostile_environment();
        pl_world *world;
        pl_world_def def = pl_default_world_def();
        def.step = 0.0171;
        def.substeps = 3;
        pl_body_def body_def = pl_default_body_def(model);
        body_def.position[0] = 0.1;
        body_def.rotation[1] = 0.3;
        body_def.spin[0] = 1e-320; /* a subnormal */
        body_def.velocity[1] = 0.7;
        pl_body body;
        pl_pin pin;
        pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
        const double push[3] = {0.3, 0.7, -0.9}, at[3] = {0.1, 0.2, 0.3}, turn[4] = {1, 2, 3, 4};
        float positions[3] = {0.1f, 0.2f, 0.3f};
        pl_energy terms = {0};
        int good = pl_world_create(&def, &world, NULL) == PL_OK;
        good += pl_body_create(world, &body_def, &body, NULL) == PL_OK;
        good += pl_pin_at_vertex(world, body, 17, &pin_def) == PL_OK;
        good += pl_pin_create(world, body, &pin_def, &pin, NULL) == PL_OK;
        good += pl_body_apply_force(world, body, -1, push) == PL_OK;
        good += pl_body_apply_impulse(world, body, 3, push) == PL_OK;
        good += pl_body_teleport(world, body, at, turn) == PL_OK;
        good += pl_world_advance(world, 0.0399, NULL, NULL) == PL_OK;
        good += pl_body_write(world, body, PL_POSITIONS, 5, 1, pl_floats(positions, 0)) == PL_OK;
        good += pl_pin_set_target(world, pin, at) == PL_OK;
        good += pl_body_set_velocity(world, body, push, at) == PL_OK;
        good += pl_world_set_step(world, 0.013, 2) == PL_OK;
        good += pl_world_step(world, NULL) == PL_OK;
        good += pl_body_get_energy(world, body, &terms) == PL_OK;
        hash[hostile] = pl_world_hash(world);
        energy[hostile] = terms.elastic;
        pl_world_destroy(world);
        if (hostile) /* and it was put back */
            assert_int_equal(fegetround(), FE_UPWARD);
        fesetenv(&host);
        assert_int_equal(good, 14);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(energy[0] == energy[1]);
    pl_model_release(model);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* A body's bits do not depend on who is solved beside it: alone, and as one of a crowd. It is
   pinned; or stiff, free and turning (oriented_lead.c), beside some that are pinned. */
static void neighbours_in_the_lanes_make_no_difference(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    for (int round = 0; round < 2 * (PL_SOLVER_PLAIN + 1); round++) {
        double alone[300], crowded[300];
        int solver = round / 2;
        bool stiff = round % 2;
        for (int count = 1; count <= 37; count += 36) {
            pl_world_def def = pl_default_world_def();
            pl_world *world;
            assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
            pl_body watched = {0, 0};
            for (int i = 0; i < count; i++) {
                pl_body_def body_def = pl_default_body_def(model);
                body_def.mask = 0; /* they stand in each other */
                pl_body body;
                bool is_watched = i == count / 2;
                body_def.solver = (pl_solver)solver;
                body_def.material.young = stiff ? 1e8 : 1e4;
                body_def.spin[2] = is_watched ? 3 : 0.5 * i;
                body_def.position[1] = is_watched ? 1 : i;
                assert_int_equal(pl_body_create(world, &body_def, &body, NULL), PL_OK);
                pl_pin_def hold = pl_default_pin_def(PL_PIN_POSITION);
                pl_pin pin;
                assert_int_equal(pl_pin_at_vertex(world, body, 11, &hold), PL_OK);
                if (is_watched ? !stiff : i % 3 == 0)
                    assert_int_equal(pl_pin_create(world, body, &hold, &pin, NULL), PL_OK);
                watched = is_watched ? body : watched;
            }
            world_step(world, 20);
            world_read(world, watched, PL_POSITIONS, count == 1 ? alone : crowded);
            pl_world_destroy(world);
        }
        assert_memory_equal(alone, crowded, sizeof alone);
    }
    pl_model_release(model);
}

/* ---- Vector widths --------------------------------------------------------------------------- */

/* Another process, because the width is chosen once. */
static uint64_t hash_of_child(const char *width)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char self[] = "/proc/self/exe", mode[] = "--hash", *arguments[] = {self, mode, NULL};
        setenv("PLIANT_SIMD", width, 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(self, arguments);
        _exit(127);
    }
    close(ends[1]);
    char text[64] = {0};
    size_t length = 0;
    ssize_t got;
    while (length < sizeof text - 1 &&
           (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    int used = 0;
    unsigned long long hash = 0;
    assert_int_equal(sscanf(text, "%d %llx", &used, &hash), 2);
    assert_int_equal(used, atoi(width));
    return hash;
}

static int print_hash(void)
{
    pl_world_def def = world_mix_def();
    int width = pl_simd_width();
    printf("%d %016llx\n", width, (unsigned long long)hash_after(&def, last_frame()));
    return 0;
}

static void vector_widths_agree(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    static const char *const widths[] = {"4", "8", "16"};
    for (int i = 0; i < 3; i++) {
        if (!pl_simd_supports(atoi(widths[i]))) {
            printf("width %s: this machine has none, skipped\n", widths[i]);
            continue;
        }
        uint64_t hash = hash_of_child(widths[i]);
        if (is_printing())
            printf("width %2s: %016llx after %d frames\n", widths[i], (unsigned long long)hash,
                   last_frame());
        else if (hash != golden(last_frame()))
            fail_msg("width %s: %016llx after %d frames", widths[i], (unsigned long long)hash,
                     last_frame());
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--hash") == 0)
        return print_hash();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compilers_and_optimisation_levels_agree),
        cmocka_unit_test(numbers_of_threads_agree),
        cmocka_unit_test(job_systems_of_the_host_agree),
        cmocka_unit_test(floating_point_environments_agree),
        cmocka_unit_test(neighbours_in_the_lanes_make_no_difference),
        cmocka_unit_test(vector_widths_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
