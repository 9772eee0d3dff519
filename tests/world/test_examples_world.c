/* Example poses in a world, for every kind of body: weights of independent halves, the same bits with other threads and vector
   widths and after a snapshot, no memory in a step and none lost without it, bodies without examples as before, and what is
   refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "math/simd.h"
#include "support/world_kit.h"

#include "world/world.h"

enum { RINGS, TETS, GRAPH, ROD, KINDS };

static const char *const names[KINDS] = {"rings", "tets", "graph", "rod"};

/* A block of 4 × 4 × 8 points, 0.3 × 0.3 × 0.7 along z; or a rod of forty along x. */
static pl_model *model_of(int kind)
{
    pl_model *model = kind == ROD
                          ? world_sized_model(PL_SHAPE_CHAIN, 40, 0, 0, 1, 0.02, 0.02, false)
                          : world_sized_model(kind == TETS ? PL_SHAPE_BLOCK : PL_SHAPE_BOX, 4, 4, 8,
                                              0.3, 0.3, 0.7, true);
    pl_model *made = NULL;
    pl_clusters_def rings = pl_default_clusters_def();
    rings.rings = true;
    pl_status status = kind == RINGS  ? pl_model_cluster(model, &rings, &made, NULL)
                       : kind == TETS ? pl_model_tetrahedral(model, &made, NULL)
                                      : PL_OK;
    assert_int_equal(status, PL_OK);
    if (!made)
        return model;
    pl_model_release(model);
    return made;
}

typedef struct scene {
    pl_world *world;
    pl_model *model;
    pl_body body;
    pl_pose poses[2];
    pl_examples_def examples;
} scene;

static void draw_poses(scene *s, int kind)
{
    pl_warp twist = pl_default_warp(kind == ROD ? PL_WARP_BEND : PL_WARP_TWIST);
    pl_warp other = pl_default_warp(kind == ROD ? PL_WARP_COIL : PL_WARP_S);
    other.amount = kind == ROD ? 12 : 0.8;
    assert_int_equal(pl_pose_warp(s->model, &twist, 1, &s->poses[0], NULL), PL_OK);
    assert_int_equal(pl_pose_warp(s->model, &other, 1, &s->poses[1], NULL), PL_OK);
    s->examples = pl_default_examples_def();
    s->examples.poses = s->poses;
    s->examples.pose_count = 2;
}

static pl_body_def body_of(const scene *s, int kind, const pl_clustered_def *clustered,
                           const pl_tetrahedral_def *tets)
{
    pl_body_def def = pl_default_body_def(s->model);
    def.material.young = kind == ROD ? 1e6 : 2e4;
    def.material.damping = 3;
    def.position[1] = 0.6;
    def.self_contact = false;
    def.clustered = kind == RINGS ? clustered : NULL;
    def.tetrahedral = kind == TETS ? tets : NULL;
    return def;
}

static pl_status put_body(scene *s, int kind, const pl_examples_def *examples, pl_error *error)
{
    pl_clustered_def clustered = pl_default_clustered_def();
    pl_tetrahedral_def tets = pl_default_tetrahedral_def();
    clustered.self_contact = false;
    clustered.strain_limit = 0;
    clustered.frequency = 40;
    clustered.damping = 60;
    pl_body_def def = body_of(s, kind, &clustered, &tets);
    def.examples = examples;
    return pl_body_create(s->world, &def, &s->body, error);
}

static pl_world_def world_of(int threads)
{
    pl_world_def def = pl_default_world_def();
    def.substeps = 4;
    def.sleeping = false;
    def.threads = threads;
    return def;
}

/* In place: the definition points into the scene. */
static void make(scene *s, int kind, pl_example_scope scope, int threads)
{
    pl_world_def def = world_of(threads);
    pl_error error = {0};
    *s = (scene){0};
    assert_int_equal(pl_world_create(&def, &s->world, NULL), PL_OK);
    pl_collider_def floor = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider plane;
    assert_int_equal(pl_collider_create(s->world, &floor, &plane, NULL), PL_OK);
    s->model = model_of(kind);
    draw_poses(s, kind);
    s->examples.scope = scope;
    if (put_body(s, kind, &s->examples, &error) != PL_OK)
        fail_msg("%s: %s %s", names[kind], error.where, error.text);
}

static void end(scene *s)
{
    pl_pose_free(&s->poses[0]);
    pl_pose_free(&s->poses[1]);
    pl_world_destroy(s->world);
    pl_model_release(s->model);
}

static pl_body_info info_of(const scene *s)
{
    pl_body_info info;
    assert_int_equal(pl_body_get_info(s->world, s->body, &info), PL_OK);
    return info;
}

/* Put exactly into one of its poses. */
static void assume(scene *s, const pl_pose *pose)
{
    int n = pose->particle_count;
    pl_buffer x = {(void *)(uintptr_t)pose->positions, 0, PL_F64};
    pl_buffer q = {(void *)(uintptr_t)pose->rotations, 0, PL_F64};
    assert_int_equal(pl_body_write(s->world, s->body, PL_POSITIONS, 0, n, x), PL_OK);
    assert_int_equal(pl_body_write(s->world, s->body, PL_ROTATIONS, 0, n, q), PL_OK);
}

/* ---- Weights ---------------------------------------------------------------------------------- */

/* A body that was put into a pose has it, and loses it when it goes back to rest. */
static void a_pose_has_its_weight(void **state)
{
    (void)state;
    const double none[3] = {0, 0, 0};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 2; k++) {
            scene s;
            make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
            float w[2];
            assert_int_equal(pl_world_set_gravity(s.world, none), PL_OK);
            assert_int_equal(pl_world_set_step(s.world, 1.0 / 240, 1), PL_OK);
            assume(&s, &s.poses[k]);
            world_step(s.world, 1);
            assert_int_equal(info_of(&s).example_pose_count, 2);
            assert_int_equal(info_of(&s).example_group_count, 1);
            assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, w), PL_OK);
            if (!(w[k] > 0.98f && w[1 - k] < 0.01f))
                fail_msg("%s in pose %d: %g %g", names[kind], k, (double)w[0], (double)w[1]);
            end(&s);
        }
}

/* Let go of in a pose, without load, a body finds back to rest; β draws it there. */
static void returns_to_rest(void **state)
{
    (void)state;
    const double none[3] = {0, 0, 0};
    for (int kind = 0; kind < KINDS && !world_is_slow_build(); kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        int n = s.poses[0].particle_count;
        double *x = malloc(sizeof(double) * 3 * (size_t)n),
               *r = malloc(sizeof(double) * 3 * (size_t)n);
        pl_examples_def examples = s.examples;
        examples.beta = 0.9;
        assert_int_equal(pl_body_destroy(s.world, s.body), PL_OK);
        assert_int_equal(put_body(&s, kind, &examples, NULL), PL_OK);
        assert_int_equal(pl_world_set_gravity(s.world, none), PL_OK);
        assume(&s, &s.poses[0]);
        world_step(s.world, 240);
        world_read(s.world, s.body, PL_POSITIONS, x);
        assert_int_equal(pl_model_read(s.model, PL_REST_POSITIONS, 0, n, pl_doubles(r, 0)), PL_OK);
        double worst = 0, size = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j += 7) {
                double now = 0, was = 0;
                for (int k = 0; k < 3; k++) {
                    now += (x[3 * i + k] - x[3 * j + k]) * (x[3 * i + k] - x[3 * j + k]);
                    was += (r[3 * i + k] - r[3 * j + k]) * (r[3 * i + k] - r[3 * j + k]);
                }
                worst = fmax(worst, fabs(sqrt(now) - sqrt(was)));
                size = fmax(size, sqrt(was));
            }
        float w[2];
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, w), PL_OK);
        printf("%s: after 4 s distances are off by %.4f of its size, weights %.4f %.4f\n",
               names[kind], worst / size, (double)w[0], (double)w[1]);
        assert_true(worst < 0.01 * size && w[0] < 0.05f && w[1] < 0.05f);
        free(x);
        free(r);
        end(&s);
    }
}

/* Bias draws a body at rest, without any load, to a pose. */
static void bias_draws(void **state)
{
    (void)state;
    const double none[3] = {0, 0, 0};
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        const float bias[2] = {0.5f, 0};
        float w[2];
        assert_int_equal(pl_world_set_gravity(s.world, none), PL_OK);
        world_step(s.world, 5);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, w), PL_OK);
        assert_true(w[0] < 0.01f && w[1] < 0.01f);
        assert_int_equal(pl_body_set_example_bias(s.world, s.body, -1, bias, NULL), PL_OK);
        world_step(s.world, 20);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, w), PL_OK);
        if (!(w[0] > 0.45f))
            fail_msg("%s: %g %g", names[kind], (double)w[0], (double)w[1]);
        end(&s);
    }
}

/* One half is deformed: the other half's weights stay nothing. */
static void halves_are_independent(void **state)
{
    (void)state;
    const double none[3] = {0, 0, 0};
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        int n = s.poses[0].particle_count, axis = kind == ROD ? 0 : 2;
        pl_model_info info = pl_model_get_info(s.model);
        double *rest = malloc(sizeof(double) * 3 * (size_t)n);
        int32_t *groups = malloc(sizeof(int32_t) * (size_t)n);
        double middle = 0.5 * (info.lower[axis] + info.upper[axis]);
        assert_int_equal(pl_model_read(s.model, PL_REST_POSITIONS, 0, n, pl_doubles(rest, 0)),
                         PL_OK);
        for (int i = 0; i < n; i++)
            groups[i] = rest[3 * i + axis] > middle;
        pl_examples_def examples = s.examples;
        examples.scope = PL_EXAMPLES_GROUPS;
        examples.group_count = 2;
        examples.groups = groups;
        assert_int_equal(pl_body_destroy(s.world, s.body), PL_OK);
        pl_error error = {0};
        if (put_body(&s, kind, &examples, &error) != PL_OK)
            fail_msg("%s: %s %s", names[kind], error.where, error.text);
        assert_int_equal(info_of(&s).example_group_count, 2);
        assert_int_equal(pl_world_set_gravity(s.world, none), PL_OK);
        pl_warp half = pl_default_warp(kind == ROD ? PL_WARP_BEND : PL_WARP_TWIST);
        half.amount *= 0.4;
        half.from = 0.6; /* no region of the other half reaches there */
        pl_pose bent;
        assert_int_equal(pl_pose_warp(s.model, &half, 1, &bent, NULL), PL_OK);
        assume(&s, &bent);
        assert_int_equal(pl_world_set_step(s.world, 1.0 / 240, 1), PL_OK);
        world_step(s.world, 1);
        float w[4];
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 2, w), PL_OK);
        printf("%s: half at rest %.4f %.4f, half deformed %.4f %.4f\n", names[kind], (double)w[0],
               (double)w[1], (double)w[2], (double)w[3]);
        assert_true(w[2] > 0.5f);
        assert_true(w[0] < 0.01f && w[1] < 0.01f);
        pl_pose_free(&bent);
        free(rest);
        free(groups);
        end(&s);
    }
}

/* ---- The same bits ---------------------------------------------------------------------------- */

static uint64_t run_to(int kind, pl_example_scope scope, int threads, int steps)
{
    scene s;
    make(&s, kind, scope, threads);
    assume(&s, &s.poses[1]);
    world_step(s.world, steps);
    assert_true(world_is_finite(s.world, s.body));
    uint64_t hash = pl_world_hash(s.world);
    end(&s);
    return hash;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int scope = PL_EXAMPLES_GLOBAL; scope <= PL_EXAMPLES_LOCAL; scope += 2) {
            uint64_t one = run_to(kind, (pl_example_scope)scope, 1, world_scaled(12));
            assert_true(one == run_to(kind, (pl_example_scope)scope, 4, world_scaled(12)));
            printf("%s, %s: %016llx\n", names[kind], scope ? "local" : "global",
                   (unsigned long long)one);
        }
}

/* Of all kinds, global and local, in one number. */
static uint64_t hash_of_all(void)
{
    uint64_t all = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int scope = PL_EXAMPLES_GLOBAL; scope <= PL_EXAMPLES_LOCAL; scope += 2)
            all = all * 31 + run_to(kind, (pl_example_scope)scope, 1, world_scaled(6));
    return all;
}

static const char *self;

/* The width is chosen once, at the start of a program: each has its own. */
static void widths_change_nothing(void **state)
{
    (void)state;
    uint64_t here = hash_of_all();
    for (int width = 4; width <= 16; width *= 2) {
        char command[4096], text[64] = {0};
        if (!pl_simd_supports(width))
            continue;
        snprintf(command, sizeof command, "PLIANT_SIMD=%d '%s' --hash", width, self);
        FILE *child = popen(command, "r");
        assert_non_null(child);
        assert_non_null(fgets(text, sizeof text, child));
        assert_int_equal(pclose(child), 0);
        int used;
        unsigned long long hash;
        assert_int_equal(sscanf(text, "%d %llx", &used, &hash), 2);
        assert_int_equal(used, width);
        if (hash != here)
            fail_msg("width %d: %016llx", width, hash);
    }
}

static void snapshots_go_on(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int scope = PL_EXAMPLES_GLOBAL; scope <= PL_EXAMPLES_LOCAL; scope += 2) {
            scene s;
            make(&s, kind, (pl_example_scope)scope, 0);
            const float bias[2] = {0.1f, -0.2f};
            pl_error error = {0};
            size_t size;
            assume(&s, &s.poses[0]);
            assert_int_equal(pl_body_set_example_bias(s.world, s.body, 0, bias, NULL), PL_OK);
            world_step(s.world, 8);
            void *bytes = world_snapshot(s.world, &size);
            uint64_t half = pl_world_hash(s.world);
            world_step(s.world, 8);
            uint64_t whole = pl_world_hash(s.world);
            pl_world_def def = world_of(0);
            pl_world *other;
            assert_int_equal(pl_world_create(&def, &other, NULL), PL_OK);
            if (pl_world_restore(other, bytes, size, &s.model, 1, &error) != PL_OK)
                fail_msg("%s: %s %s", names[kind], error.where, error.text);
            assert_true(pl_world_hash(other) == half);
            world_step(other, 8);
            if (pl_world_hash(other) != whole)
                fail_msg("%s: goes on with other bits", names[kind]);
            for (size_t cut = size / 2; cut < size;
                 cut += size / 7 + 1) /* what is cut off is no snapshot */
                assert_int_equal(pl_world_restore(other, bytes, cut, &s.model, 1, NULL),
                                 PL_ERROR_FORMAT);
            pl_world_destroy(other);
            free(bytes);
            end(&s);
        }
}

/* A change of material makes a new system: the examples stay. */
static void changes_keep_them(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        const float bias[2] = {0, 0.3f};
        pl_material material = pl_default_material();
        float before[2], after[2];
        assert_int_equal(pl_body_set_example_bias(s.world, s.body, -1, bias, NULL), PL_OK);
        world_step(s.world, 10);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, before), PL_OK);
        material.young = 3e4;
        assert_int_equal(pl_body_set_material(s.world, s.body, &material, NULL, NULL, NULL), PL_OK);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, after), PL_OK);
        assert_memory_equal(before, after, sizeof before);
        world_step(s.world, 10);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, after), PL_OK);
        assert_true(after[1] > 0.2f);
        const int32_t fixed[] = {0, 1};
        assert_int_equal(pl_body_set_fixed(s.world, s.body, fixed, 2, NULL), PL_OK);
        world_step(s.world, 2);
        assert_int_equal(info_of(&s).example_pose_count, 2);
        end(&s);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static void steps_allocate_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_LOCAL, 2);
        world_step(s.world, 2);
        uint64_t before = pl_world_allocations(s.world);
        assume(&s, &s.poses[0]);
        world_step(s.world, 20);
        assert_true(pl_world_allocations(s.world) == before);
        end(&s);
    }
}

/* Every allocation of the creation fails in turn: nothing changes, nothing is lost. */
static void memory_fails_in_turn(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        world_heap heap;
        world_heap_init(&heap);
        scene s = {0};
        s.model = model_of(kind);
        draw_poses(&s, kind);
        pl_world_def def = world_of(0);
        def.allocator = &heap.allocator;
        assert_int_equal(pl_world_create(&def, &s.world, NULL), PL_OK);
        int64_t first = heap.calls, blocks = heap.blocks;
        int tried = 0;
        for (;; tried++) {
            heap.fail_from = heap.calls + tried;
            pl_error error = {0};
            pl_status status = put_body(&s, kind, &s.examples, &error);
            heap.fail_from = -1;
            if (status == PL_OK)
                break;
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_int_equal(heap.blocks >= blocks, 1);
        }
        assert_true(tried > 10 && heap.calls > first);
        world_step(s.world, 2);
        end(&s);
        assert_int_equal(heap.blocks, 0);
    }
}

/* ---- Nothing and bad input --------------------------------------------------------------------- */

/* The hash of a world knows nothing of examples where there are none, and the bias of none is refused. */
static void without_examples(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        const float bias[2] = {0, 0};
        assert_int_equal(pl_body_destroy(s.world, s.body), PL_OK);
        assert_int_equal(put_body(&s, kind, NULL, NULL), PL_OK);
        assert_int_equal(info_of(&s).example_pose_count, 0);
        assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 0, NULL), PL_OK);
        assert_int_equal(pl_body_set_example_bias(s.world, s.body, -1, bias, NULL),
                         PL_ERROR_ARGUMENT);
        end(&s);
    }
}

static void refuse(scene *s, int kind, const pl_examples_def *def, const char *where,
                   const char *says)
{
    pl_error error = {0};
    uint64_t hash = pl_world_hash(s->world);
    assert_int_equal(put_body(s, kind, def, &error), PL_ERROR_ARGUMENT);
    if (strcmp(error.where, where) || !strstr(error.text, says))
        fail_msg("%s: %s (and not %s: %s)", error.where, error.text, where, says);
    assert_true(hash == pl_world_hash(s->world));
}

static void bad_definitions(void **state)
{
    (void)state;
    world_hush();
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        int n = s.poses[0].particle_count;
        char says[64];
        pl_examples_def def = s.examples;
        def.cookie = 0;
        refuse(&s, kind, &def, "examples.cookie", "pl_default_examples_def");
        def = s.examples, def.pose_count = 0;
        refuse(&s, kind, &def, "examples.poses", "there are 0; use 1 to 64");
        def = s.examples, def.pose_count = PL_MAX_POSES + 1;
        refuse(&s, kind, &def, "examples.poses", "use 1 to 64");
        def = s.examples, def.beta = 1;
        refuse(&s, kind, &def, "examples.beta", "is 1; use 0 to less than 1");
        def = s.examples, def.beta = NAN;
        refuse(&s, kind, &def, "examples.beta", "use 0 to less than 1");
        def = s.examples, def.scope = PL_EXAMPLES_GROUPS;
        refuse(&s, kind, &def, "examples.groups", "are missing");
        int32_t *groups = calloc((size_t)n, sizeof *groups);
        def.groups = groups, def.group_count = 2;
        groups[7] = 2;
        refuse(&s, kind, &def, "examples.groups[7]", "is 2; use 0 to 1, or -1");
        free(groups);
        pl_pose poses[2] = {s.poses[0], s.poses[1]};
        def = s.examples, def.poses = poses;
        poses[1].particle_count = n - 1;
        snprintf(says, sizeof says, "has %d particles; the model has %d", n - 1, n);
        refuse(&s, kind, &def, "examples.poses[1]", says);
        poses[1] = s.poses[1];
        double *x = malloc(sizeof(double) * 3 * (size_t)n);
        memcpy(x, s.poses[1].positions, sizeof(double) * 3 * (size_t)n);
        poses[1].positions = x;
        x[3 * (n - 1)] = NAN;
        snprintf(says, sizeof says, "examples.poses[1].positions[%d]", n - 1);
        refuse(&s, kind, &def, says, "must be finite");
        memcpy(x, s.poses[1].positions, sizeof(double) * 3 * (size_t)n);
        for (int i = 0; i < n; i++)
            x[3 * i] = -x[3 * i];
        if (kind != ROD)
            refuse(&s, kind, &def, "examples.poses[1]", "inside out");
        for (int i = 0; i < n; i++)
            x[3 * i] = 0;
        if (kind != ROD)
            refuse(&s, kind, &def, "examples.poses[1]", "no volume");
        free(x);
        end(&s);
    }
}

/* Rest, the same pose twice, and fifty: defined. */
static void odd_poses_are_allowed(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        scene s;
        make(&s, kind, PL_EXAMPLES_GLOBAL, 0);
        int n = s.poses[0].particle_count;
        pl_pose rest, poses[50];
        assert_int_equal(pl_pose_from_body(s.world, s.body, &rest, NULL), PL_OK);
        assert_int_equal(rest.particle_count, n);
        for (int k = 0; k < 50; k++)
            poses[k] = k % 3 == 0 ? rest : s.poses[k % 2];
        pl_examples_def def = s.examples;
        def.poses = poses;
        def.pose_count = 50;
        for (int scope = 0; scope < 3; scope += 2) {
            def.scope = (pl_example_scope)scope;
            assert_int_equal(pl_body_destroy(s.world, s.body), PL_OK);
            assert_int_equal(put_body(&s, kind, &def, NULL), PL_OK);
            assume(&s, &s.poses[1]);
            world_step(s.world, 5);
            assert_true(world_is_finite(s.world, s.body));
            float w[50], sum = 0;
            assert_int_equal(pl_body_get_example_weights(s.world, s.body, 0, 1, w), PL_OK);
            for (int k = 0; k < 50; k++) {
                assert_true(w[k] >= 0);
                sum += w[k];
            }
            assert_true(sum <= 1.0001f);
        }
        pl_pose_free(&rest);
        end(&s);
    }
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "--hash")) {
        printf("%d %016llx\n", pl_simd_width(), (unsigned long long)hash_of_all());
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pose_has_its_weight),
                                       cmocka_unit_test(returns_to_rest),
                                       cmocka_unit_test(bias_draws),
                                       cmocka_unit_test(halves_are_independent),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(widths_change_nothing),
                                       cmocka_unit_test(snapshots_go_on),
                                       cmocka_unit_test(changes_keep_them),
                                       cmocka_unit_test(steps_allocate_nothing),
                                       cmocka_unit_test(memory_fails_in_turn),
                                       cmocka_unit_test(without_examples),
                                       cmocka_unit_test(bad_definitions),
                                       cmocka_unit_test(odd_poses_are_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
