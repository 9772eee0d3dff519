/* A heap of tetrahedral and other bodies gives the same bits with any number of threads, at any
   vector width, and through snapshots; its steps allocate nothing, and every allocation before them
   may fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "math/simd.h"
#include "tet_cases.h"

/* ---- Same bits ------------------------------------------------------------------------------- */

/* Instances, a driven one, an interpolated one, a plastic one and an oriented one in a heap. */
typedef struct heap {
    pl_world *world;
    pl_model *models[3];
    pl_body driven;
    pl_pin pin;
} heap;

static void heap_make(heap *h, int threads, const pl_task_system *host)
{
    const int cells[3] = {5, 2, 2};
    int32_t fixed[9];
    h->world = tet_hosted_world(threads, host, 9.81);
    h->models[0] = tet_block(3, 2, 2);
    h->models[1] = tet_block(5, 2, 2);
    h->models[2] = world_sized_model(PL_SHAPE_BOX, 3, 3, 3, 0.3, 0.3, 0.3, true);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    tet_floor(h->world);
    for (int i = 0; i < 7; i++)
        tet_put(h->world, h->models[0], &tetrahedral, 0.02 * i, 0.3 + 0.35 * i, 0.01 * i);
    pl_body_def def = tet_body_def(h->models[2], NULL, 0.05, 3, 0);
    tet_make(h->world, &def);
    def = tet_body_def(h->models[1], &tetrahedral, 0.6, 0.5, 0);
    def.fixed = fixed, def.fixed_count = tet_end(cells, true, fixed);
    h->driven = tet_make(h->world, &def);
    tetrahedral.yield = 0.02;
    tet_put(h->world, h->models[1], &tetrahedral, 0.1, 3.5, 0);
    tetrahedral.yield = INFINITY;
    tetrahedral.rotations = PL_TET_QUATERNION;
    tetrahedral.volume = PL_TET_DETERMINANT;
    pl_body blended = tet_put(h->world, h->models[1], &tetrahedral, 0.1, 4, 0.1);
    pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_particle(h->world, blended, 3, &pin), PL_OK);
    assert_int_equal(pl_pin_create(h->world, blended, &pin, &h->pin, NULL), PL_OK);
}

static void heap_run(heap *h, int first, int end)
{
    for (int frame = first; frame < end; frame++) {
        const double to[3] = {0.85, 0.5 + 0.01 * (frame % 20), 0};
        assert_int_equal(pl_body_drive(h->world, h->driven, 49, to, NULL), PL_OK);
        world_step(h->world, 1);
    }
}

static void heap_free(heap *h)
{
    pl_world_destroy(h->world);
    for (int i = 0; i < 3; i++)
        pl_model_release(h->models[i]);
}

enum { FRAMES = 80, SLOW_FRAMES = 16 };

static int frames(void)
{
    return world_is_slow_build() ? SLOW_FRAMES : FRAMES;
}

static uint64_t hosted_hash(int threads, const pl_task_system *host)
{
    heap h;
    heap_make(&h, threads, host);
    heap_run(&h, 0, frames());
    uint64_t hash = pl_world_hash(h.world);
    heap_free(&h);
    return hash;
}

static uint64_t heap_hash(int threads)
{
    return hosted_hash(threads, NULL);
}

static void test_threads(void **unused)
{
    (void)unused;
    uint64_t expected = heap_hash(1);
    assert_true(heap_hash(2) == expected);
    assert_true(heap_hash(7) == expected);
    const pl_task_system hosts[2] = {world_reverse_tasks(), world_thread_tasks()};
    for (int i = 0; i < 2; i++)
        assert_true(hosted_hash(1, hosts + i) == expected);
}

static const char *self;

static void test_widths(void **unused)
{
    (void)unused;
    uint64_t expected = heap_hash(1);
    for (int width = 4; width <= 16; width *= 2) {
        if (!pl_simd_supports(width))
            continue;
        char command[1200];
        unsigned long long hash = 0;
        snprintf(command, sizeof command, "PLIANT_SIMD=%d '%s' hash", width, self);
        FILE *other = popen(command, "r");
        assert_non_null(other);
        assert_int_equal(fscanf(other, "%llx", &hash), 1);
        pclose(other);
        assert_true(hash == expected);
    }
}

static void test_snapshot(void **unused)
{
    (void)unused;
    heap h, other;
    heap_make(&h, 1, NULL);
    heap_make(&other, 2, NULL);
    heap_run(&h, 0, frames() / 2);
    size_t size;
    void *bytes = world_snapshot(h.world, &size);
    pl_error error = {0};
    if (pl_world_restore(other.world, bytes, size, h.models, 3, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    assert_true(pl_world_hash(other.world) == pl_world_hash(h.world));
    heap_run(&h, frames() / 2, frames());
    heap_run(&other, frames() / 2, frames());
    assert_true(pl_world_hash(other.world) == pl_world_hash(h.world));
    /* cut short or with a bit turned it is refused, and nothing changes */
    uint64_t hash = pl_world_hash(other.world);
    for (size_t cut = 7; cut < size; cut += size / 37) {
        assert_int_equal(pl_world_restore(other.world, bytes, cut, h.models, 3, NULL),
                         PL_ERROR_FORMAT);
        ((unsigned char *)bytes)[cut] ^= 16;
        assert_int_equal(pl_world_restore(other.world, bytes, size, h.models, 3, NULL),
                         PL_ERROR_FORMAT);
        ((unsigned char *)bytes)[cut] ^= 16;
    }
    assert_true(pl_world_hash(other.world) == hash);
    free(bytes);
    heap_free(&h);
    heap_free(&other);
}

/* Bytes that were changed with the closing hash put right: whatever is accepted runs. */
static void test_forged_snapshot(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(1, 1, 1);
    pl_world *world = tet_world(1, 9.81), *other = tet_world(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.yield = 0.1;
    tet_put(world, model, &def, 0, 0, 0);
    world_step(world, 2);
    size_t size, end;
    unsigned char *bytes = world_snapshot(world, &size);
    end = size - sizeof(uint64_t);
    int refused = 0, stride = world_is_slow_build() ? 23 : 1;
    for (size_t at = 12; at < end; at += (size_t)stride) {
        unsigned char was = bytes[at];
        bytes[at] ^= (unsigned char)(1 << at % 8);
        uint64_t hash = pl_hash_of(bytes, end, 0);
        memcpy(bytes + end, &hash, sizeof hash);
        if (pl_world_restore(other, bytes, size, &model, 1, NULL) == PL_OK)
            pl_world_step(other, NULL);
        else
            refused++;
        bytes[at] = was;
    }
    assert_true(refused > 100 / stride);
    free(bytes);
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
}

/* Solved beside instances or alone: the same bits. */
static void test_instances(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = tet_block(4, 2, 2);
    double *alone = NULL;
    int n = 0;
    for (int count = 1; count <= 20; count += 19) {
        pl_world *world = tet_world(1, 9.81);
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        tet_floor(world);
        pl_body first = tet_put(world, model, &def, 0, 0.3, 0);
        const double spin[3] = {1, 2, 3}, still[3] = {0, 0, 0};
        assert_int_equal(pl_body_set_velocity(world, first, still, spin), PL_OK);
        for (int i = 1; i < count; i++)
            tet_put(world, model, &def, 3.0 * i, 0.3, 0);
        world_step(world, 40);
        double *x = tet_positions(world, first, &n);
        if (alone)
            assert_memory_equal(alone, x, sizeof(double) * 3 * (size_t)n);
        free(alone);
        alone = x;
        pl_world_destroy(world);
    }
    free(alone);
    pl_model_release(model);
}

/* Another step length and back: as if it had been created with it. */
static void test_set_step(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(4, 2, 2);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &def, 0, 0, 0);
    assert_int_equal(pl_world_set_step(world, 1.0 / 30, 1), PL_OK);
    world_step(world, 30);
    double h = 1.0 / 30, n = 30;
    assert_true(fabs(tet_state(world, body).centre[1] + 9.81 * h * h * n * (n + 1) / 2) < 1e-8);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_no_allocation(void **unused)
{
    (void)unused;
    heap h;
    heap_make(&h, 2, NULL);
    heap_run(&h, 0, 2);
    uint64_t before = pl_world_allocations(h.world);
    heap_run(&h, 2, 12);
    assert_true(pl_world_allocations(h.world) == before);
    heap_free(&h);
}

/* Everything a body needs memory for, once with each allocation failing: PL_ERROR_MEMORY, and
   nothing is lost. */
static pl_status attempt(pl_allocator *allocator, pl_model *model)
{
    pl_world *world = NULL;
    pl_world_def def = pl_default_world_def();
    def.allocator = allocator;
    pl_status status = pl_world_create(&def, &world, NULL);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    tetrahedral.yield = 0.1;
    pl_body_def body_def = tet_body_def(model, &tetrahedral, 0, 0, 0);
    pl_body body = {0, 0};
    const int32_t fixed[2] = {0, 1};
    if (status == PL_OK)
        status = pl_body_create(world, &body_def, &body, NULL);
    if (status == PL_OK)
        status = pl_body_set_fixed(world, body, fixed, 2, NULL);
    if (status == PL_OK)
        status = pl_world_set_step(world, 0.01, 1);
    if (status == PL_OK)
        status = pl_world_step(world, NULL);
    pl_world_destroy(world);
    return status;
}

static void test_memory(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = tet_block(1, 1, 1);
    world_heap memory;
    world_heap_init(&memory);
    assert_int_equal(attempt(&memory.allocator, model), PL_OK);
    int64_t calls = memory.calls;
    assert_true(calls > 50);
    for (int64_t fail = 0; fail < calls; fail++) {
        world_heap_init(&memory);
        memory.fail_from = fail;
        assert_int_equal(attempt(&memory.allocator, model), PL_ERROR_MEMORY);
        assert_int_equal(memory.blocks, 0);
    }
    pl_model_release(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_widths),
        cmocka_unit_test(test_snapshot),      cmocka_unit_test(test_forged_snapshot),
        cmocka_unit_test(test_instances),     cmocka_unit_test(test_set_step),
        cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_memory),
    };
    if (argc == 2 && strcmp(argv[1], "hash") == 0) {
        printf("%llx\n", (unsigned long long)heap_hash(1));
        return 0;
    }
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
