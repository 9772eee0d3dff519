/* The life of colliders: bad definitions and motions, all sizes, snapshots, hashes, want of memory,
   and the same bits for all numbers of threads and all widths. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "math/simd.h"
#include "support/collider_kit.h"

/* ---- Bad input ------------------------------------------------------------------------------- */

static void refuse(pl_world *world, const pl_collider_def *def, const char *where)
{
    pl_collider collider = {7, 7};
    pl_error error = {0};
    assert_int_equal(pl_collider_create(world, def, &collider, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.where, where));
    assert_int_equal(collider.generation, 0);
}

static void bad_definitions_are_refused(void **state)
{
    (void)state;
    world_hush();
    pl_world *world = world_empty();
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    collider_sheet mesh = collider_make_sheet(2, 1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.position[k] = bad[i];
            refuse(world, &def, "position");
            def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.rotation[k] = bad[i];
            refuse(world, &def, "rotation");
            def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.size[k] = bad[i];
            refuse(world, &def, "size");
            def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.inertia[k] = bad[i];
            refuse(world, &def, "inertia");
            def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.velocity[k] = bad[i];
            refuse(world, &def, "velocity");
            def = pl_default_collider_def(PL_COLLIDER_BOX);
            def.surface_velocity[k] = bad[i];
            refuse(world, &def, "surface_velocity");
            def = pl_default_collider_def(PL_COLLIDER_MESH);
            def.mesh = &mesh.mesh;
            double keep = mesh.positions[k];
            mesh.positions[k] = bad[i];
            refuse(world, &def, "mesh");
            mesh.positions[k] = keep;
            def.scale = bad[i];
            refuse(world, &def, "scale");
        }
    pl_collider_def def = pl_default_collider_def((pl_collider_kind)9);
    refuse(world, &def, "kind");
    def = pl_default_collider_def(PL_COLLIDER_MESH);
    refuse(world, &def, "mesh");
    def.mesh = &mesh.mesh;
    mesh.triangles[4] = 9;
    refuse(world, &def, "triangles[1]");
    mesh.triangles[4] = -1;
    refuse(world, &def, "triangles[1]");
    def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.friction = -1;
    refuse(world, &def, "friction");
    def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.restitution = 2;
    refuse(world, &def, "restitution");
    def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.mass = NAN;
    refuse(world, &def, "mass");
    def = pl_default_collider_def(PL_COLLIDER_BOX);
    memset(def.rotation, 0, sizeof def.rotation);
    refuse(world, &def, "rotation");
    def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.cookie = 0;
    refuse(world, &def, "cookie");
    collider_free_sheet(&mesh);
    pl_world_destroy(world);
}

static void refuse_with(pl_world *world, const pl_collider_def *def, const char *where,
                        const char *text)
{
    pl_collider collider;
    pl_error error = {0};
    assert_int_equal(pl_collider_create(world, def, &collider, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.where, where));
    if (!strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
}

/* What is wrong is said, and the limit where there is one; the limit itself is fine. */
static void errors_say_what_is_too_much(void **state)
{
    (void)state;
    world_hush();
    pl_world *world = world_empty();
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_SPHERE);
    static const double large[] = {1.0001e15, 1e16, 1e300, INFINITY};
    for (int i = 0; i < 4; i++) {
        def.size[0] = large[i];
        refuse_with(world, &def, "size", "1e+15 m");
    }
    def.size[0] = -1;
    refuse_with(world, &def, "size", "0 or more");
    def.size[0] = NAN;
    refuse_with(world, &def, "size", "0 or more");
    def.size[0] = 1e15;
    def.position[2] = -1e16;
    refuse_with(world, &def, "position", "1e+15 m");
    def.position[2] = -1e15;
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);

    collider_sheet mesh = collider_make_sheet(2, 1);
    def = pl_default_collider_def(PL_COLLIDER_MESH);
    def.mesh = &mesh.mesh;
    def.scale = 1e13;
    refuse_with(world, &def, "scale", "1e12");
    def.scale = 1e12;
    mesh.positions[0] = 2e3;
    refuse_with(world, &def, "mesh.positions[0]", "1e+15 m");
    collider_free_sheet(&mesh);
    pl_world_destroy(world);
}

static void bad_motions_are_refused(void **state)
{
    (void)state;
    world_hush();
    pl_world *world = world_empty();
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    pl_collider box = collider_add(world, &def);
    double at[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, nan3[3] = {0, NAN, 0}, nan4[4] = {0, 0, NAN, 1};
    double zero4[4] = {0, 0, 0, 0};
    pl_collider_state before, after;
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    uint64_t hash = pl_world_hash(world);
    pl_collider_get_state(world, box, &before);
    assert_int_equal(pl_collider_move(world, box, nan3, q), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_move(world, box, at, nan4), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_place(world, box, nan3, q), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_place(world, box, at, zero4), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_place(world, box, NULL, q), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_set_velocity(world, box, nan3, at), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_set_velocity(world, box, at, at), PL_ERROR_STATE);
    assert_int_equal(pl_collider_get_state(world, box, NULL), PL_ERROR_ARGUMENT);
    pl_collider_get_state(world, box, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(pl_world_hash(world), hash);
    assert_true(pl_collider_is_valid(world, box));
    assert_int_equal(pl_collider_destroy(world, box), PL_OK);
    assert_false(pl_collider_is_valid(world, box));
    assert_int_equal(pl_collider_destroy(world, box), PL_ERROR_HANDLE);
    assert_int_equal(pl_collider_move(world, box, at, q), PL_ERROR_HANDLE);
    assert_int_equal(pl_collider_get_state(world, box, &after), PL_ERROR_HANDLE);
    assert_null(pl_collider_user(world, box));
    pl_collider again = collider_add(world, &def);
    assert_int_equal(again.index, box.index);
    assert_int_not_equal(again.generation, box.generation);
    pl_world_destroy(world);
}

/* Of no size, of a planet's, of none at all: the world steps on. */
static void all_sizes_work(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    static const double sizes[] = {0, 1e-30, 1e-6, 1e6, 1e15};
    for (int kind = PL_COLLIDER_PLANE; kind <= PL_COLLIDER_MESH; kind++)
        for (int i = 0; i < 5; i++)
            for (int heavy = 0; heavy < 2; heavy++) {
                pl_world *world = collider_world(3, 3, 9.81);
                collider_sheet mesh = collider_make_sheet(2, fmax(1, sizes[i]) / 4);
                if (i == 0) /* nothing but triangles without area */
                    for (int k = 0; k < 27; k++)
                        mesh.positions[k] = 0;
                pl_collider_def def = pl_default_collider_def((pl_collider_kind)kind);
                def.mesh = &mesh.mesh;
                def.size[0] = def.size[1] = def.size[2] = sizes[i];
                def.two_sided = i % 2;
                def.position[1] = -0.2;
                def.mass = heavy;
                collider_add(world, &def);
                pl_body_def fall = collider_body_def(model, 1e5, 0.01, 0.5, 0.02);
                pl_body body = collider_add_body(world, &fall);
                pl_report report;
                for (int f = 0; f < 30; f++) {
                    assert_int_equal(pl_world_step(world, &report), PL_OK);
                    if (!heavy && report.rescued)
                        fail_msg("kind %d size %g: rescued", kind, sizes[i]);
                }
                assert_true(world_is_finite(world, body));
                assert_true(pl_collider_is_valid(world, (pl_collider){0, 1}));
                collider_free_sheet(&mesh);
                pl_world_destroy(world);
            }
    pl_model_release(model);
}

/* ---- The same bits --------------------------------------------------------------------------- */

typedef struct playground {
    pl_world *world;
    pl_model *models[2];
    pl_collider colliders[8];
    collider_sheet mesh;
} playground;

/* Twelve bodies in a funnel of all kinds of colliders, some moving, one with a mass. */
static void open_playground(playground *p, int threads, pl_allocator *allocator)
{
    pl_world_def def = pl_default_world_def();
    static const double axis[3] = {0.6, 0, 0.8};
    def.step = 1.0 / 30;
    def.substeps = 4;
    def.iterations = 3;
    def.threads = threads;
    def.allocator = allocator;
    assert_int_equal(pl_world_create(&def, &p->world, NULL), PL_OK);
    p->models[0] = collider_lattice(4, 3, 3, 0.25);
    p->models[1] = collider_lattice(3, 1, 6, 0.2);
    p->mesh = collider_make_sheet(6, 3);
    for (int i = 0; i < 49; i++)
        p->mesh.positions[3 * i + 1] = 0.2 * (i * 7 % 5) / 4.0;
    static const pl_collider_kind kinds[8] = {
        PL_COLLIDER_PLANE, PL_COLLIDER_BOX,  PL_COLLIDER_SPHERE, PL_COLLIDER_CAPSULE,
        PL_COLLIDER_MESH,  PL_COLLIDER_MESH, PL_COLLIDER_BOX,    PL_COLLIDER_PLANE};
    static const double places[8][3] = {{0, -1, 0},  {2.5, 0, 0},  {-2, 0, 1},    {0, 0, -2.5},
                                        {0, 0.3, 0}, {0, -0.5, 2}, {0.3, 3, 0.2}, {-3.5, 0, 0}};
    for (int i = 0; i < 8; i++) {
        pl_collider_def c = pl_default_collider_def(kinds[i]);
        c.mesh = &p->mesh.mesh;
        c.two_sided = i == 4;
        memcpy(c.position, places[i], sizeof c.position);
        collider_turn(c.rotation, axis, i == 7 ? -1.2 : i == 0 ? 0 : 0.2 * i);
        if (i == 6) {
            c.mass = 20;
            c.inertia[0] = c.inertia[1] = c.inertia[2] = 2;
            c.velocity[1] = -1;
        }
        p->colliders[i] = collider_add(p->world, &c);
    }
    for (int i = 0; i < 12; i++) {
        pl_body_def b = collider_body_def(p->models[i % 2], 5e4, 1.1 * (i % 3) - 1,
                                          1.5 + 0.8 * (i / 3), 0.9 * (i % 2) - 0.5);
        collider_turn(b.rotation, axis, 0.5 * i);
        b.material.damping = 0.3;
        b.velocity[1] = i == 5 ? -100 : 0;
        collider_add_body(p->world, &b);
    }
}

static void play(playground *p, int first, int end)
{
    static const double axis[3] = {0, 1, 0};
    for (int f = first; f < end; f++) {
        double q[4], at[3] = {-2 + 0.5 * sin(0.2 * f), 0.1 * cos(0.3 * f), 1};
        collider_turn(q, axis, 0.1 * f);
        assert_int_equal(pl_collider_move(p->world, p->colliders[2], at, q), PL_OK);
        double push[3] = {2.5 - 0.02 * f, 0, 0};
        assert_int_equal(pl_collider_move(p->world, p->colliders[1], push, q), PL_OK);
        if (f == 20)
            assert_int_equal(pl_collider_destroy(p->world, p->colliders[3]), PL_OK);
        world_step(p->world, 1);
    }
}

static void close_playground(playground *p)
{
    pl_world_destroy(p->world);
    for (int i = 0; i < 2; i++)
        pl_model_release(p->models[i]);
    collider_free_sheet(&p->mesh);
}

static uint64_t playground_hash(int threads, int frames)
{
    playground p;
    open_playground(&p, threads, NULL);
    play(&p, 0, frames);
    uint64_t hash = pl_world_hash(p.world);
    close_playground(&p);
    return hash;
}

static void threads_and_widths_agree(void **state)
{
    (void)state;
    int frames = world_is_slow_build() ? 20 : 60;
    uint64_t hash = playground_hash(1, frames);
    for (int threads = 2; threads <= 5; threads++)
        assert_int_equal(playground_hash(threads, frames), hash);
    for (int width = 4; width <= 16; width *= 2) {
        char self[512], command[600];
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        unsigned long long other = 0;
        if (!pl_simd_supports(width))
            continue;
        assert_true(length > 0);
        snprintf(command, sizeof command, "PLIANT_SIMD=%d '%.*s' --hash %d", width, (int)length,
                 self, frames);
        FILE *child = popen(command, "r");
        assert_non_null(child);
        assert_int_equal(fscanf(child, "%llx", &other), 1);
        pclose(child);
        assert_int_equal(other, hash);
    }
}

static void snapshots_hold_colliders(void **state)
{
    (void)state;
    playground a, b;
    size_t size;
    open_playground(&a, 2, NULL);
    play(&a, 0, 25);
    void *bytes = world_snapshot(a.world, &size);
    open_playground(&b, 1, NULL);
    assert_int_equal(pl_world_restore(b.world, bytes, size, b.models, 2, NULL), PL_OK);
    assert_int_equal(pl_world_hash(a.world), pl_world_hash(b.world));
    pl_collider_state one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pl_collider_is_valid(b.world, a.colliders[i]), i != 3);
        if (i == 3)
            continue;
        pl_collider_get_state(a.world, a.colliders[i], &one);
        pl_collider_get_state(b.world, a.colliders[i], &two);
        assert_memory_equal(&one, &two, sizeof one);
    }
    play(&a, 25, 45);
    memcpy(b.colliders, a.colliders, sizeof b.colliders);
    play(&b, 25, 45);
    assert_int_equal(pl_world_hash(a.world), pl_world_hash(b.world));
    /* Damaged ones are refused or harmless, never a crash. */
    pl_rng rng = pl_rng_make(3);
    size_t at = size - 3000; /* colliders stand at the end */
    for (int i = 0; i < world_scaled(300); i++) {
        unsigned char *damaged = malloc(size);
        memcpy(damaged, bytes, size);
        damaged[at + pl_random_below(&rng, 2992)] ^=
            (unsigned char)(1u << pl_random_below(&rng, 8));
        assert_int_equal(pl_world_restore(b.world, damaged, size, b.models, 2, NULL),
                         PL_ERROR_FORMAT);
        free(damaged);
    }
    free(bytes);
    close_playground(&a);
    close_playground(&b);
}

/* One with a mass that is to be very far away at once is faster than any velocity that may be
   given. */
static void snapshots_hold_any_speed(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.mass = 1;
    pl_collider box = collider_add(world, &def);
    static const double far[3] = {1e15, 0, -1e15}, straight[4] = {0, 0, 0, 1};
    assert_int_equal(pl_collider_move(world, box, far, straight), PL_OK);
    for (int i = 0; i < 2; i++) {
        size_t size;
        void *bytes = world_snapshot(world, &size);
        uint64_t hash = pl_world_hash(world);
        assert_int_equal(pl_world_restore(world, bytes, size, NULL, 0, NULL), PL_OK);
        assert_int_equal(pl_world_hash(world), hash);
        free(bytes);
        world_step(world, 1);
    }
    pl_world_destroy(world);
}

/* The hash covers where they are and what they are made of. */
static void hashes_tell_colliders_apart(void **state)
{
    (void)state;
    pl_world *world = world_empty();
    uint64_t hashes[6];
    collider_sheet mesh = collider_make_sheet(2, 1);
    hashes[0] = pl_world_hash(world);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
    def.mesh = &mesh.mesh;
    pl_collider c = collider_add(world, &def);
    hashes[1] = pl_world_hash(world);
    double at[3] = {0, 1e-9, 0}, q[4] = {0, 0, 0, 1};
    pl_collider_place(world, c, at, q);
    hashes[2] = pl_world_hash(world);
    pl_collider_destroy(world, c);
    hashes[3] = pl_world_hash(world);
    mesh.positions[4] = 0.1;
    c = collider_add(world, &def);
    hashes[4] = pl_world_hash(world);
    pl_collider_move(world, c, at, q);
    hashes[5] = pl_world_hash(world);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            assert_true(hashes[i] != hashes[k]);
    collider_free_sheet(&mesh);
    pl_world_destroy(world);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void creation_survives_want_of_memory(void **state)
{
    (void)state;
    world_heap heap;
    world_heap_init(&heap);
    pl_world_def def = pl_default_world_def();
    def.allocator = &heap.allocator;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    collider_sheet mesh = collider_make_sheet(4, 1);
    pl_collider_def c = pl_default_collider_def(PL_COLLIDER_MESH);
    c.mesh = &mesh.mesh;
    int failures = 0;
    for (int made = 0; made < 20; made++) {
        pl_status status;
        int64_t allowed = 0;
        uint64_t hash = pl_world_hash(world);
        do {
            pl_collider collider;
            heap.fail_from = heap.calls + allowed++;
            status = pl_collider_create(world, &c, &collider, NULL);
            if (status != PL_OK) {
                failures++;
                assert_int_equal(status, PL_ERROR_MEMORY);
                assert_int_equal(pl_world_hash(world), hash);
            }
        } while (status != PL_OK);
        heap.fail_from = -1;
    }
    assert_true(failures >= 80);
    pl_world_destroy(world);
    assert_int_equal(heap.blocks, 0);
    collider_free_sheet(&mesh);
}

/* A step without memory for pairs does not crash; with memory again all is as before. */
static void steps_survive_want_of_memory(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int64_t allowed = 0; allowed < 12; allowed++) {
        world_heap heap;
        world_heap_init(&heap);
        playground p;
        open_playground(&p, 1, &heap.allocator);
        heap.fail_from = heap.calls + allowed;
        play(&p, 0, 4);
        heap.fail_from = -1;
        play(&p, 4, 8);
        close_playground(&p);
        assert_int_equal(heap.blocks, 0);
    }
}

static void steady_steps_allocate_nothing(void **state)
{
    (void)state;
    playground p;
    open_playground(&p, 2, NULL);
    play(&p, 0, 60);
    uint64_t before = pl_world_allocations(p.world);
    play(&p, 60, 80);
    assert_int_equal(pl_world_allocations(p.world), before);
    close_playground(&p);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "--hash") == 0) {
        printf("%llx\n", (unsigned long long)playground_hash(2, atoi(arguments[2])));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(errors_say_what_is_too_much),
        cmocka_unit_test(bad_motions_are_refused),
        cmocka_unit_test(all_sizes_work),
        cmocka_unit_test(threads_and_widths_agree),
        cmocka_unit_test(snapshots_hold_colliders),
        cmocka_unit_test(snapshots_hold_any_speed),
        cmocka_unit_test(hashes_tell_colliders_apart),
        cmocka_unit_test(creation_survives_want_of_memory),
        cmocka_unit_test(steps_survive_want_of_memory),
        cmocka_unit_test(steady_steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
