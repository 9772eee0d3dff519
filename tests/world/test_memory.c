/* Memory: a step takes none; every allocation made to fail in turn gives a clean error with nothing
   changed and nothing lost; a limit holds. Label: serial. */
#include "support/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/world_kit.h"

/* ---- Every allocation of the process --------------------------------------------------------- */

/* The C library's functions stand behind these names, too. Sanitizers bring their own. */
static atomic_long heap_calls;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define INTERPOSED 1
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&                     \
    !__has_feature(memory_sanitizer)
#define INTERPOSED 1
#endif
#endif

#ifdef INTERPOSED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_memalign(alignment, size);
}
#endif

/* ---- Steps ----------------------------------------------------------------------------------- */

/* What a host does every frame: none of it allocates either. */
static void drive(world_mix *mix, int frame)
{
    const double at[3] = {-0.95, 0.01 * (frame % 20), 0}, up[3] = {0.1 * (frame % 7), 1, 0};
    const double force[3] = {0, 5, 0};
    float positions[3 * 30];
    double fraction;
    assert_int_equal(pl_body_drive(mix->world, mix->bodies[0], 0, at, NULL), PL_OK);
    assert_int_equal(pl_pin_set_target(mix->world, mix->pins[1], up), PL_OK);
    assert_int_equal(pl_body_apply_force(mix->world, mix->bodies[9], -1, force), PL_OK);
    assert_int_equal(pl_body_apply_impulse(mix->world, mix->bodies[10], 5, force), PL_OK);
    assert_int_equal(pl_world_advance(mix->world, 1.0 / 60, &fraction, NULL), PL_OK);
    assert_int_equal(pl_body_read(mix->world, mix->bodies[7], PL_POSITIONS, 0, 30, fraction,
                                  pl_floats(positions, 0)),
                     PL_OK);
    pl_world_hash(mix->world);
}

static void check_steady_steps(const pl_world_def *original)
{
    world_heap heap;
    world_heap_init(&heap);
    pl_world_def def = *original;
    def.allocator = &heap.allocator;
    world_mix mix;
    world_mix_create(&mix, &def);
    world_mix_run(&mix, 0, 12); /* bodies come and go */
    uint64_t counted = pl_world_allocations(mix.world);
    int64_t calls = heap.calls, blocks = heap.blocks;
    long process = atomic_load(&heap_calls);
    for (int frame = 0; frame < world_scaled(100); frame++)
        drive(&mix, frame);
    assert_int_equal(pl_world_allocations(mix.world), counted);
    assert_int_equal(heap.calls, calls);
    assert_int_equal(heap.blocks, blocks);
    assert_int_equal(atomic_load(&heap_calls), process);
    world_mix_destroy(&mix);
    assert_int_equal(heap.blocks, 0);
    assert_int_equal(heap.bytes, 0);
}

static void steady_steps_allocate_nothing(void **state)
{
    (void)state;
    pl_world_def def = world_mix_def();
    check_steady_steps(&def);
    def.threads = 3;
    check_steady_steps(&def);
#ifdef INTERPOSED
    assert_true(atomic_load(&heap_calls) > 1000); /* the counter does count */
#else
    printf("the process's own allocations are not counted in this build\n");
#endif
}

/* Changes may allocate, the step after them does not, however the bodies are grouped. */
static void steps_after_a_change_allocate_nothing(void **state)
{
    (void)state;
    pl_world_def def = world_mix_def();
    world_mix mix;
    world_mix_create(&mix, &def);
    for (int i = 0; i < mix.body_count; i++) {
        if (i % 3 == 0)
            assert_int_equal(pl_body_destroy(mix.world, mix.bodies[i]), PL_OK);
        else
            assert_int_equal(pl_body_set_solver(mix.world, mix.bodies[i], (pl_solver)(i % 3)),
                             PL_OK);
        uint64_t before = pl_world_allocations(mix.world);
        world_step(mix.world, 1);
        assert_int_equal(pl_world_allocations(mix.world), before);
    }
    world_mix_destroy(&mix);
}

/* Bodies that share a system come one by one, on every solver: there is always enough to solve them
   side by side. Whether that is true, the address sanitizer sees. */
static void lanes_fill_up_one_by_one(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    for (int order = 0; order < 6; order++) {
        pl_world *world = world_empty();
        pl_body bodies[24];
        for (int i = 0; i < 24; i++) {
            pl_body_def def = pl_default_body_def(model);
            def.solver = (pl_solver)((order + i / 8) % 3);
            assert_int_equal(pl_body_create(world, &def, &bodies[i], NULL), PL_OK);
            world_step(world, 1);
        }
        for (int i = 0; i < 24; i++) {
            pl_solver solver = (pl_solver)((order + 1 + order / 3) % 3);
            assert_int_equal(pl_body_set_solver(world, bodies[i], solver), PL_OK);
            world_step(world, 1);
        }
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* One set-up, call by call. The first call that fails for want of memory must change nothing; then
   there is memory again, and the same call must do what it would have done. */
typedef struct attempt {
    world_heap heap;
    bool once;  /* fails one allocation, not all from there on */
    int failed; /* calls */
    pl_shape *shape;
    pl_model *model, *sheet;
    pl_world *world;
    pl_body bodies[4];
    pl_pin pins[24];
    void *snapshot;
    size_t snapshot_size;
} attempt;

/* Like fail_from, but only one. */
static void *alloc_once(void *user, size_t size, size_t alignment)
{
    attempt *a = user;
    world_heap *heap = &a->heap;
    if (heap->calls++ == heap->fail_from)
        return NULL;
    heap->blocks++;
    heap->bytes += (int64_t)size;
    return aligned_alloc(alignment, size);
}

static void free_once(void *user, void *pointer, size_t size)
{
    attempt *a = user;
    a->heap.blocks--;
    a->heap.bytes -= (int64_t)size;
    free(pointer);
}

typedef pl_status action(attempt *a, int number, pl_error *error);

static void perform(attempt *a, action *act, int number)
{
    uint64_t before = pl_world_hash(a->world);
    pl_error error = {0};
    int64_t calls = a->heap.calls;
    pl_status status = act(a, number, &error);
    bool met = a->heap.fail_from >= calls && a->heap.calls > a->heap.fail_from;
    if (!met) {
        assert_int_equal(status, PL_OK);
        return;
    }
    assert_int_equal(status, PL_ERROR_MEMORY);
    assert_true(error.status == PL_ERROR_MEMORY ? error.text[0] != 0 : error.status == PL_OK);
    assert_true(pl_world_hash(a->world) == before);
    a->failed++;
    a->heap.fail_from = -1;
    if (a->world) { /* and it still runs; elsewhere, so that this world is not changed */
        pl_world *copy;
        size_t size;
        pl_world_def def = pl_default_world_def();
        void *bytes = world_snapshot(a->world, &size);
        pl_model *models[2] = {a->model, a->sheet};
        assert_int_equal(pl_world_create(&def, &copy, NULL), PL_OK);
        assert_int_equal(pl_world_restore(copy, bytes, size, models, 2, NULL), PL_OK);
        world_step(copy, 1);
        uint64_t expected = pl_world_hash(copy);
        world_step(a->world, 1);
        assert_true(pl_world_hash(a->world) == expected);
        assert_int_equal(pl_world_restore(a->world, bytes, size, models, 2, NULL), PL_OK);
        pl_world_destroy(copy);
        free(bytes);
    }
    assert_int_equal(act(a, number, NULL), PL_OK);
}

static pl_status make_shape(attempt *a, int kind, pl_error *error)
{
    pl_shape_def def = pl_default_shape_def((pl_shape_kind)kind);
    def.count[0] = 4;
    def.count[2] = kind == PL_SHAPE_SHEET ? 3 : 0;
    def.allocator = &a->heap.allocator;
    a->shape = NULL;
    return pl_shape_create(&def, &a->shape, error);
}

static pl_status make_model(attempt *a, int number, pl_error *error)
{
    pl_model_def def = pl_shape_model_def(a->shape);
    def.allocator = &a->heap.allocator;
    return pl_model_create(&def, number ? &a->sheet : &a->model, error);
}

static pl_status make_world(attempt *a, int number, pl_error *error)
{
    (void)number;
    pl_world_def def = pl_default_world_def();
    pl_task_system tasks = world_reverse_tasks();
    def.allocator = &a->heap.allocator;
    def.threads = 2;
    def.tasks = a->once ? &tasks : NULL;
    pl_status status = pl_world_create(&def, &a->world, error);
    assert_true((status == PL_OK) == (a->world != NULL));
    return status;
}

static pl_status make_body(attempt *a, int number, pl_error *error)
{
    const int32_t fixed[2] = {1, 0};
    const float painted[17] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2};
    pl_body_def def = pl_default_body_def(number == 2 ? a->sheet : a->model);
    def.solver = (pl_solver)(number % 3);
    def.edge_stiffness = number == 1 ? painted : NULL;
    def.particle_density = number == 1 ? painted : NULL;
    def.fixed = fixed;
    def.fixed_count = number == 2 ? 2 : 0;
    def.velocity[0] = number;
    return pl_body_create(a->world, &def, &a->bodies[number], error);
}

static pl_status make_pin(attempt *a, int number, pl_error *error)
{
    pl_body body = a->bodies[number % 2]; /* fast, and stiff */
    pl_pin_def def = pl_default_pin_def(number % 4 < 2 ? PL_PIN_POSITION : PL_PIN_DIRECTION);
    assert_int_equal(pl_pin_at_vertex(a->world, body, 2 * number, &def), PL_OK);
    return pl_pin_create(a->world, body, &def, &a->pins[number], error);
}

/* So many on one body that they move into a matrix of its own. */
static pl_status make_crowded_pin(attempt *a, int number, pl_error *error)
{
    pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_vertex(a->world, a->bodies[3], number, &def), PL_OK);
    return pl_pin_create(a->world, a->bodies[3], &def, &a->pins[number], error);
}

static pl_status drop_pin(attempt *a, int number, pl_error *error)
{
    (void)error;
    return pl_pin_destroy(a->world, a->pins[number]);
}

static pl_status fix(attempt *a, int number, pl_error *error)
{
    const int32_t fixed[2] = {2, 3};
    return pl_body_set_fixed(a->world, a->bodies[number], fixed, 2, error);
}

static pl_status paint(attempt *a, int number, pl_error *error)
{
    const float painted[17] = {3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2};
    pl_material material = pl_default_material();
    material.young = 3e5;
    return pl_body_set_material(a->world, a->bodies[number], &material, painted, painted, error);
}

static pl_status set_solver(attempt *a, int number, pl_error *error)
{
    (void)error;
    return pl_body_set_solver(a->world, a->bodies[number], PL_SOLVER_STIFF);
}

static pl_status set_step(attempt *a, int number, pl_error *error)
{
    (void)error;
    return pl_world_set_step(a->world, 0.02, number);
}

static pl_status restore(attempt *a, int number, pl_error *error)
{
    (void)number;
    pl_model *models[2] = {a->model, a->sheet};
    return pl_world_restore(a->world, a->snapshot, a->snapshot_size, models, 2, error);
}

static void build(attempt *a)
{
    for (int i = 0; i < 2; i++) {
        perform(a, make_shape, i ? PL_SHAPE_SHEET : PL_SHAPE_BAR);
        perform(a, make_model, i);
        pl_shape_destroy(a->shape);
    }
    perform(a, make_world, 0);
    for (int i = 0; i < 3; i++)
        perform(a, make_body, i);
    world_step(a->world, 2);
    for (int i = 0; i < 6; i++)
        perform(a, make_pin, i);
    world_step(a->world, 1);
}

static void rearrange(attempt *a)
{
    perform(a, fix, 0);
    perform(a, paint, 1);
    perform(a, set_step, 2);
    world_step(a->world, 1);
    perform(a, drop_pin, 1);
    perform(a, set_solver, 0);
    perform(a, set_step, 1);
    a->snapshot = world_snapshot(a->world, &a->snapshot_size);
    world_step(a->world, 2);
    perform(a, restore, 0);
    free(a->snapshot);
    perform(a, make_body, 3);
    for (int i = 6; i < 23; i++) /* the last one crosses the line */
        perform(a, make_crowded_pin, i);
    perform(a, drop_pin, 22);
    perform(a, drop_pin, 10);
    world_step(a->world, 2);
}

/* The state at the end; calls that were met by a failure go to *failed, all allocations to
   *calls. */
static uint64_t try_all(int64_t fail_at, bool once, int *failed, int64_t *calls)
{
    attempt a = {.once = once};
    world_heap_init(&a.heap);
    a.heap.fail_from = fail_at;
    if (once)
        a.heap.allocator = (pl_allocator){alloc_once, free_once, &a};
    build(&a);
    rearrange(&a);
    uint64_t hash = pl_world_hash(a.world);
    pl_world_destroy(a.world);
    pl_model_release(a.model);
    pl_model_release(a.sheet);
    assert_int_equal(a.heap.blocks, 0);
    assert_int_equal(a.heap.bytes, 0);
    *failed = a.failed;
    *calls = a.heap.calls;
    return hash;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int failed, missed = 0, tried = 0;
    int64_t all = 0, calls;
    for (int once = 0; once < 2; once++) {
        uint64_t expected = try_all(-1, once, &failed, &all);
        assert_int_equal(failed, 0);
        int step = world_is_slow_build() ? 41 : check_rounds(1, 3) + once;
        for (int64_t k = 0; k < all; k += step, tried++) {
            uint64_t hash = try_all(k, once, &failed, &calls);
            assert_true(hash == expected);
            assert_true(failed <= 1);
            missed += failed == 0; /* it fell outside of the calls that are looked at */
        }
    }
    printf("%lld allocations, %d failures, %d of them outside\n", (long long)all, tried, missed);
    assert_true(missed < tried / 10);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limits_hold(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    world_heap heap;
    world_heap_init(&heap);
    pl_world_def def = pl_default_world_def();
    def.allocator = &heap.allocator;
    def.memory_limit = 4 << 20;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_body bodies[1000];
    pl_error error = {0};
    pl_body_def body_def = pl_default_body_def(model);
    int count = 0;
    pl_status status = PL_OK;
    for (; count < 1000; count++) {
        status = pl_body_create(world, &body_def, &bodies[count], &error);
        assert_true(heap.bytes <= (int64_t)def.memory_limit);
        if (status != PL_OK)
            break;
    }
    assert_int_equal(status, PL_ERROR_MEMORY);
    assert_int_equal(error.status, PL_ERROR_MEMORY);
    assert_true(count > 10 && count < 1000);
    assert_int_equal(bodies[count].generation, 0);
    world_step(world, 1);
    assert_int_equal(pl_body_destroy(world, bodies[count / 2]), PL_OK);
    assert_int_equal(pl_body_create(world, &body_def, &bodies[count / 2], &error), PL_OK);
    world_step(world, 1);
    pl_world_destroy(world);
    assert_int_equal(heap.blocks, 0);

    def.memory_limit = 100;
    assert_int_equal(pl_world_create(&def, &world, &error), PL_ERROR_MEMORY);
    assert_null(world);
    assert_int_equal(heap.blocks, 0);
    pl_model_release(model);
}

/* Models outlive worlds and worlds models; nothing is freed twice. */
static void models_live_as_long_as_they_are_used(void **state)
{
    (void)state;
    world_heap heap;
    world_heap_init(&heap);
    pl_shape_def shape_def = pl_default_shape_def(PL_SHAPE_BAR);
    pl_shape *shape;
    assert_int_equal(pl_shape_create(&shape_def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    model_def.allocator = &heap.allocator;
    pl_model *model;
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    pl_shape_destroy(shape);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model);
    pl_model_release(model);
    assert_true(heap.blocks > 0);
    assert_ptr_equal(pl_body_model(world, body), model);
    world_step(world, 2);
    pl_body other = world_body(world, pl_body_model(world, body));
    assert_int_equal(pl_body_destroy(world, body), PL_OK);
    world_step(world, 1);
    assert_true(heap.blocks > 0);
    assert_int_equal(pl_body_destroy(world, other), PL_OK);
    assert_int_equal(heap.blocks, 0);
    pl_world_destroy(world);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_steps_allocate_nothing),
        cmocka_unit_test(steps_after_a_change_allocate_nothing),
        cmocka_unit_test(lanes_fill_up_one_by_one),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(models_live_as_long_as_they_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
