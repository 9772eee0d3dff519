#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static void blocks_are_zeroed_and_aligned(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (size_t size = 0; size < 300; size += 7) {
        unsigned char *block = pl_memory_alloc(&memory, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % PL_ALIGNMENT, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xAB, size);
        pl_memory_free(&memory, block);
    }
    assert_int_equal(memory.used, 0);
    assert_true(memory.peak > 0);
}

static void the_limit_holds(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 4096);
    void *first = PL_NEW(&memory, char, 2000);
    assert_non_null(first);
    assert_null(PL_NEW(&memory, char, 2100));
    assert_true(memory.used <= 4096);
    pl_memory_free(&memory, first);
    assert_int_equal(memory.used, 0);
    void *second = PL_NEW(&memory, char, 4096 - PL_ALIGNMENT);
    assert_non_null(second);
    assert_null(PL_NEW(&memory, char, 0));
    pl_memory_free(&memory, second);
    assert_int_equal(memory.peak, 4096);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    assert_null(pl_memory_alloc(&memory, SIZE_MAX, 2));
    assert_null(pl_memory_alloc(&memory, SIZE_MAX / 2 + 2, 1));
    assert_null(pl_memory_alloc(&memory, SIZE_MAX / 4, 8));
    assert_int_equal(memory.allocations, 0);
}

static void failures_are_injected(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    memory.fail_at = 2;
    void *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = PL_NEW(&memory, int, 5);
    assert_non_null(blocks[0]);
    assert_non_null(blocks[1]);
    assert_null(blocks[2]);
    assert_null(blocks[3]);
    assert_int_equal(memory.allocations, 2);
    for (int i = 0; i < 4; i++)
        pl_memory_free(&memory, blocks[i]);
    assert_int_equal(memory.used, 0);
}

/* A host that counts bytes and gives out blocks full of garbage. */
static void *counting_alloc(void *user, size_t size, size_t alignment)
{
    assert_int_equal(size % alignment, 0);
    void *block = aligned_alloc(alignment, size);
    memset(block, 0xCD, size);
    *(size_t *)user += size;
    return block;
}

static void counting_free(void *user, void *pointer, size_t size)
{
    *(size_t *)user -= size;
    free(pointer);
}

static void the_host_gets_the_size_back(void **state)
{
    (void)state;
    size_t bytes = 0;
    pl_allocator host = {counting_alloc, counting_free, &bytes};
    pl_memory memory;
    pl_memory_init(&memory, &host, 0);
    int *numbers = PL_NEW(&memory, int, 1000);
    assert_int_equal(bytes, memory.used);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    pl_memory_free(&memory, numbers);
    pl_memory_free(&memory, NULL);
    assert_int_equal(bytes, 0);
}

static void *empty_alloc(void *user, size_t size, size_t alignment)
{
    (void)user, (void)size, (void)alignment;
    return NULL;
}

static void a_host_without_memory_is_survived(void **state)
{
    (void)state;
    pl_allocator host = {empty_alloc, counting_free, NULL};
    pl_memory memory;
    pl_memory_init(&memory, &host, 0);
    assert_null(PL_NEW(&memory, int, 1));
    assert_int_equal(memory.used, 0);
    assert_int_equal(memory.allocations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_and_aligned),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(failures_are_injected),
        cmocka_unit_test(the_host_gets_the_size_back),
        cmocka_unit_test(a_host_without_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
