/* Example poses in a world, for every kind of body: weights of independent halves, the same bits
   with other threads and vector widths and after a snapshot, no memory in a step and none lost
   without it, bodies without examples as before, and what is refused. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "base/hash.h"
#include "math/simd.h"
#include "support/world_kit.h"

#include "world/world.h"

enum { RINGS, TETS, GRAPH, ROD, KINDS };

static const char *const names[KINDS] = {"rings", "tets", "graph", "rod"};

/* A block of so many points, 0.3 × 0.3 × 0.7 along z; or a rod along x. */
static pl_model *sized_model_of(int kind, int across, int along, int rod)
{
    pl_model *model = kind == ROD
                          ? world_sized_model(PL_SHAPE_CHAIN, rod, 0, 0, 1, 0.02, 0.02, false)
                          : world_sized_model(kind == TETS ? PL_SHAPE_BLOCK : PL_SHAPE_BOX, across,
                                              across, along, 0.3, 0.3, 0.7, true);
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

static pl_model *model_of(int kind)
{
    return sized_model_of(kind, 4, 8, 40);
}

typedef struct scene {
    pl_world *world;
    pl_model *model;
    pl_body body;
    bool plastic;
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
    pl_plasticity_def plasticity = pl_default_plasticity_def();
    if (s->plastic)
        clustered.yield = tets.yield = plasticity.yield = 0.02;
    pl_body_def def = body_of(s, kind, &clustered, &tets);
    def.plasticity = s->plastic && kind >= GRAPH ? &plasticity : NULL;
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

/* ---- Weights --------------------------------------------------------------------------------- */

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
    CHECK_ONE_THREAD();
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

/* ---- The same bits --------------------------------------------------------------------------- */

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
    CHECK_ONE_THREAD();
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

static double elastic_of(const pl_world *world, pl_body body)
{
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    return energy.elastic;
}

static void snapshots_go_on(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
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
            double elastic = elastic_of(s.world, s.body);
            world_step(s.world, 8);
            uint64_t whole = pl_world_hash(s.world);
            pl_world_def def = world_of(0);
            pl_world *other;
            assert_int_equal(pl_world_create(&def, &other, NULL), PL_OK);
            if (pl_world_restore(other, bytes, size, &s.model, 1, &error) != PL_OK)
                fail_msg("%s: %s %s", names[kind], error.where, error.text);
            assert_true(pl_world_hash(other) == half);
            if (elastic_of(other, s.body) != elastic)
                fail_msg("%s: another energy, %g, not %g", names[kind], elastic_of(other, s.body),
                         elastic);
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
    CHECK_ONE_THREAD();
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

/* ---- Memory ---------------------------------------------------------------------------------- */

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
    CHECK_ONE_THREAD();
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
        int tried = check_is_slow_build() ? kind % 3 : 0;
        for (;; tried += check_is_slow_build() ? 3 : 1) {
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

/* ---- Forged snapshots ------------------------------------------------------------------------ */

typedef struct attack {
    scene s;
    unsigned char *good, *bytes;
    size_t size;
    uint64_t before;
    int refused, accepted;
} attack;

static void attack_begin(attack *a, int kind, bool examples, bool plastic)
{
    *a = (attack){.s.plastic = plastic};
    pl_world_def def = world_of(0);
    def.substeps = 1;
    assert_int_equal(pl_world_create(&def, &a->s.world, NULL), PL_OK);
    a->s.model = sized_model_of(kind, 2, 3, 6);
    draw_poses(&a->s, kind);
    assert_int_equal(put_body(&a->s, kind, examples ? &a->s.examples : NULL, NULL), PL_OK);
    world_step(a->s.world, 2);
    a->good = world_snapshot(a->s.world, &a->size);
    a->bytes = malloc(a->size + 4096);
    a->before = pl_world_hash(a->s.world);
}

static void attack_end(attack *a)
{
    free(a->good);
    free(a->bytes);
    end(&a->s);
}

/* Refused, saying why, with the world as it was; or, where the change happens to make sense,
   accepted, and the world runs. */
static void try_bytes(attack *a, size_t size)
{
    pl_error error = {0};
    pl_world *world = a->s.world;
    uint64_t hash = pl_hash_of(a->bytes, size - sizeof hash, 0);
    memcpy(a->bytes + size - sizeof hash, &hash, sizeof hash);
    pl_status status = pl_world_restore(world, a->bytes, size, &a->s.model, 1, &error);
    if (status == PL_OK) {
        assert_int_equal(pl_world_set_iterations(world, 2, 1), PL_OK);
        if (pl_world_set_step(world, 1.0 / 60, 1) == PL_OK)
            world_step(world, 2);
        if (pl_body_is_valid(world, a->s.body))
            assert_true(world_is_finite(world, a->s.body));
        assert_int_equal(pl_world_restore(world, a->good, a->size, &a->s.model, 1, NULL), PL_OK);
        a->accepted++;
    } else {
        assert_int_equal(status, PL_ERROR_FORMAT);
        assert_int_equal(error.status, status);
        assert_true(error.text[0] != 0);
        a->refused++;
    }
    assert_true(pl_world_hash(world) == a->before);
}

static void forge_at(attack *a, size_t i)
{
    static const uint32_t words[] = {0,          1,          0x7FFFFFFF, 0xFFFFFFFF, 0x80000000,
                                     0x7F800000, 0x7FC00000, 0x7F7FFFFF, 500000,     30000000};
    for (int change = 0; change < 21; change++) {
        memcpy(a->bytes, a->good, a->size);
        if (change < 8)
            a->bytes[i] ^= (unsigned char)(1 << change);
        else if (change < 11)
            a->bytes[i] = change == 8 ? 0 : change == 9 ? 0x7F : 0xFF;
        else if (i + 4 <= a->size)
            memcpy(a->bytes + i, &words[change - 11], 4);
        try_bytes(a, a->size);
    }
}

/* Where the counts of the examples are: elements, 6, poses, groups. */
static size_t counts_of(const attack *a)
{
    const pl_record_examples *e = pl_world_record(a->s.world, a->s.body)->examples;
    int32_t wanted[4] = {e->element_count, e->width, e->pose_count, e->group_count};
    for (size_t i = a->size - sizeof wanted; i > 0; i--)
        if (!memcmp(a->good + i, wanted, sizeof wanted))
            return i;
    fail_msg("there are no counts");
    return 0;
}

/* All bytes of the counts, and some of all others. */
static void forged_snapshots_do_no_harm(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    size_t tries = world_is_slow_build() ? 10 : check_is_thorough() ? 4000 : 40;
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < 4; way++) {
            attack a;
            attack_begin(&a, kind, way % 2, way / 2);
            size_t at = way % 2 ? counts_of(&a) : 0;
            for (size_t i = at ? at - 1 : 0; at && i < at + 34; i += world_is_slow_build() ? 5 : 1)
                forge_at(&a, i);
            for (size_t i = 0; i < a.size - sizeof(uint64_t); i += 1 + a.size / tries)
                forge_at(&a, i);
            printf("%s%s%s, %zu bytes: %d forgeries refused, %d accepted\n", names[kind],
                   way % 2 ? " with examples" : "", way / 2 ? ", plastic" : "", a.size, a.refused,
                   a.accepted);
            assert_true(a.refused > (world_is_slow_build() ? 10 : 100));
            attack_end(&a);
        }
}

/* Examples of another number of elements, complete with their arrays, and such for a body that can
   have none. */
static void forged_counts_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        attack a;
        attack_begin(&a, kind, true, false);
        pl_record_examples e = *pl_world_record(a.s.world, a.s.body)->examples;
        size_t at = counts_of(&a), first = at + 30; /* counts, local, beta, rule, weighed */
        size_t each = sizeof(float) * (2 * 6 + 1 + (e.weight ? 1 : 21));
        size_t old = each * (size_t)e.element_count, rest = first + old;
        for (int more = -4; more <= 16; more += 4) {
            int32_t count = e.element_count + more;
            size_t length = each * (size_t)count, size = a.size - old + length;
            a.bytes = realloc(a.bytes, size);
            memcpy(a.bytes, a.good, first);
            memcpy(a.bytes + at, &count, sizeof count);
            memset(a.bytes + first, 0, length);
            memcpy(a.bytes + first + length, a.good + rest, a.size - rest);
            try_bytes(&a, size);
        }
        assert_int_equal(a.accepted, 1); /* the right number, of poses that are rest */
        attack_end(&a);
    }
}

/* The last byte of a body says whether it has examples, and what follows is of the world. */
static void none_where_none_can_be(void **state)
{
    (void)state;
    attack with, a;
    attack_begin(&with, GRAPH, true, false);
    attack_begin(&a, GRAPH, false, false);
    size_t at = counts_of(&with) - 1, length = with.size - at, tail = 9;
    int tried = 0;
    while (tail < 64 && !memcmp(a.good + a.size - tail, with.good + with.size - tail, tail - 8))
        tail++;
    a.bytes = realloc(a.bytes, a.size + length);
    for (size_t back = 9; back < tail + 8; back++) { /* wherever it is */
        size_t flag = a.size - back;
        if (a.good[flag] != 0)
            continue;
        memcpy(a.bytes, a.good, flag);
        memcpy(a.bytes + flag, with.good + at, length);
        try_bytes(&a, flag + length);
        tried++;
    }
    assert_true(tried > 0);
    assert_int_equal(a.accepted, 0);
    attack_end(&a);
    attack_end(&with);
}

/* ---- Nothing and bad input ------------------------------------------------------------------- */

/* A body that hangs from its first particle, without examples. */
static uint64_t hash_of_plain(int kind)
{
    pl_model *model = kind == ROD
                          ? world_sized_model(PL_SHAPE_CHAIN, 12, 0, 0, 1, 0.05, 0.05, false)
                          : world_sized_model(PL_SHAPE_BOX, 3, 4, 6, 0.3, 0.4, 0.7, true);
    pl_clusters_def clusters = pl_default_clusters_def();
    pl_clustered_def clustered = pl_default_clustered_def();
    clusters.count = 6;
    pl_model *made = NULL;
    if (kind == RINGS) {
        assert_int_equal(pl_model_cluster(model, &clusters, &made, NULL), PL_OK);
        pl_model_release(model);
        model = made;
    }
    pl_world_def world_def = pl_default_world_def();
    pl_world *world;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    pl_body_def def = pl_default_body_def(model);
    const int32_t fixed[] = {0};
    def.fixed = fixed, def.fixed_count = 1;
    def.material.young = 1e5;
    def.clustered = kind == RINGS ? &clustered : NULL;
    pl_body body;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    world_step(world, 30);
    uint64_t hash = pl_world_hash(world);
    double x[3 * 3 * 4 * 6];
    if (kind == RINGS) { /* its state has grown since: where its particles are is the same */
        world_read(world, body, PL_POSITIONS, x);
        hash = pl_hash_of(x, sizeof x, 0);
    }
    pl_world_destroy(world);
    pl_model_release(model);
    return hash;
}

/* Examples that a body does not have change no bit of it: these are the numbers from before there
   were any (renewed when the world got another setting, when stiff bodies were moved as a whole and
   when moments of edges became constants; of clusters, those of the same kernels with strain
   limiting, sums and the order of rows as they are now). */
static void plain_bodies_are_as_they_were(void **state)
{
    (void)state;
    static const uint64_t golden[KINDS] = {[RINGS] = UINT64_C(0xbb9366dc945fbc9a),
                                           [GRAPH] = UINT64_C(0xec3c58280c7514ce),
                                           [ROD] = UINT64_C(0xb5b0597cff383f8d)};
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t hash = kind == TETS ? 0 : hash_of_plain(kind);
        if (kind != TETS && hash != golden[kind])
            fail_msg("%s: %016llx", names[kind], (unsigned long long)hash);
    }
}

/* The bias of none is refused. */
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
        refuse(&s, kind, &def, "examples.beta", "is 1; use 0 to 0.999999");
        def = s.examples, def.beta = 0.99999999; /* 1 as a float */
        refuse(&s, kind, &def, "examples.beta", "is 0.99999999; use 0 to 0.999999");
        def = s.examples, def.beta = NAN;
        refuse(&s, kind, &def, "examples.beta", "use 0 to 0.999999");
        def = s.examples, def.scope = PL_EXAMPLES_GROUPS;
        refuse(&s, kind, &def, "examples.groups", "are missing");
        int32_t *groups = calloc((size_t)n, sizeof *groups);
        def.groups = groups, def.group_count = 2;
        groups[7] = 2;
        refuse(&s, kind, &def, "examples.groups[7]", "is 2; use 0 to 1, or -1");
        def.group_count = n + 1;
        snprintf(says, sizeof says, "is %d; there are only %d particles", n + 1, n);
        refuse(&s, kind, &def, "examples.group_count", says);
        def.group_count = INT_MAX;
        refuse(&s, kind, &def, "examples.group_count", "is 2147483647");
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
        memset(x, 0, sizeof(double) * 3 * (size_t)n);
        refuse(&s, kind, &def, "examples.poses[1]", kind == ROD ? "no length" : "no volume");
        memcpy(x, s.poses[1].positions, sizeof(double) * 3 * (size_t)n);
        memcpy(x + 30, x + 27, sizeof(double) * 3);
        if (kind == ROD)
            refuse(&s, kind, &def, "examples.poses[1]", "from particle 9 to 10 no length (0 of");
        free(x);
        end(&s);
    }
}

/* Of fifty poses, of which every third is rest, in every group. */
static void check_all_weights(const scene *s, float least)
{
    int groups = info_of(s).example_group_count;
    float *w = malloc(sizeof(float) * 50 * (size_t)groups), most = 0;
    assert_int_equal(pl_body_get_example_weights(s->world, s->body, 0, groups, w), PL_OK);
    for (int g = 0; g < groups; g++) {
        float sum = 0;
        for (int k = 0; k < 50; k++) {
            float here = w[50 * g + k];
            assert_true(here >= 0);
            assert_true(k % 3 || here == 0);
            sum += here;
        }
        assert_true(sum <= 1.0001f);
        most = fmaxf(most, sum);
    }
    if (!(most >= least))
        fail_msg("%d groups: up to %.4f of the poses", groups, (double)most);
    free(w);
}

/* A model of particles without edges says what to do. */
static void no_edges_is_said(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    pl_model *model = world_model(PL_SHAPE_CHAIN, 1, 0, 0);
    double x[3] = {0}, q[4] = {0, 0, 0, 1};
    pl_pose pose = {.particle_count = 1, .positions = x, .rotations = q};
    pl_examples_def examples = pl_default_examples_def();
    examples.poses = &pose, examples.pose_count = 1;
    pl_body_def def = pl_default_body_def(model);
    def.examples = &examples;
    pl_body body;
    pl_error error = {0};
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "examples");
    assert_non_null(strstr(error.text, "this body has no edges; did you mean clustered?"));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Rest, the same pose twice, and fifty: defined. */
static void odd_poses_are_allowed(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
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
            assert_int_equal(pl_world_set_step(s.world, 1.0 / 240, 1), PL_OK);
            world_step(s.world, 1);
            check_all_weights(&s, 0.9f); /* still in its pose */
            assert_int_equal(pl_world_set_step(s.world, 1.0 / 60, 4), PL_OK);
            world_step(s.world, 5);
            assert_true(world_is_finite(s.world, s.body));
            check_all_weights(&s, 0);
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
                                       cmocka_unit_test(forged_snapshots_do_no_harm),
                                       cmocka_unit_test(forged_counts_are_refused),
                                       cmocka_unit_test(none_where_none_can_be),
                                       cmocka_unit_test(plain_bodies_are_as_they_were),
                                       cmocka_unit_test(without_examples),
                                       cmocka_unit_test(no_edges_is_said),
                                       cmocka_unit_test(bad_definitions),
                                       cmocka_unit_test(odd_poses_are_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
