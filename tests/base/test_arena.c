#include "base/arena.h"

#include <string.h>

#include "support/check.h"

static void pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_arena arena;
    assert_int_equal(pl_arena_init(&arena, &memory, 1 << 16), PL_OK);
    char *previous_end = arena.base;
    for (size_t size = 0; size < 200; size += 3) {
        char *piece = pl_arena_alloc(&arena, 1, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % PL_ALIGNMENT, 0);
        assert_true(piece >= previous_end);
        memset(piece, (int)size, size);
        previous_end = piece + size;
    }
    assert_true(previous_end <= arena.base + arena.size);
    pl_arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

static void a_full_arena_says_so_and_how_much_was_wanted(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_arena arena;
    assert_int_equal(pl_arena_init(&arena, &memory, 256), PL_OK);
    uint64_t allocations = memory.allocations;
    assert_non_null(pl_arena_alloc(&arena, 3, 64));
    assert_null(pl_arena_alloc(&arena, 1, 65));
    assert_int_equal(arena.used, 192);
    assert_int_equal(arena.wanted, 192 + 128);
    assert_non_null(pl_arena_alloc(&arena, 1, 64));
    assert_null(pl_arena_alloc(&arena, 0, 1));
    assert_null(pl_arena_alloc(&arena, SIZE_MAX, 2));
    assert_null(pl_arena_alloc(&arena, SIZE_MAX, 1));
    assert_int_equal(memory.allocations, allocations);

    assert_int_equal(pl_arena_reserve(&arena, arena.wanted), PL_ERROR_STATE);
    pl_arena_reset(&arena, 0);
    assert_int_equal(pl_arena_reserve(&arena, arena.wanted), PL_OK);
    assert_non_null(pl_arena_alloc(&arena, 3, 64));
    assert_non_null(pl_arena_alloc(&arena, 1, 65));
    pl_arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

static void a_mark_gives_back_what_came_after(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_arena arena;
    assert_int_equal(pl_arena_init(&arena, &memory, 1024), PL_OK);
    int *kept = PL_ARENA_NEW(&arena, int, 10);
    pl_arena_mark mark = pl_arena_now(&arena);
    int *lost = PL_ARENA_NEW(&arena, int, 10);
    memset(lost, 0xFF, 40);
    pl_arena_reset(&arena, mark);
    int *again = pl_arena_alloc_zero(&arena, 10, sizeof(int));
    assert_ptr_equal(again, lost);
    assert_ptr_not_equal(again, kept);
    for (int i = 0; i < 10; i++)
        assert_int_equal(again[i], 0);
    pl_arena_reset(&arena, 4096);
    assert_int_equal(arena.used, 128);
    pl_arena_free(&arena);
}

static void growth_without_memory_keeps_the_room(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_arena arena;
    assert_int_equal(pl_arena_init(&arena, &memory, 256), PL_OK);
    memory.fail_at = (int64_t)memory.allocations;
    assert_int_equal(pl_arena_reserve(&arena, 100), PL_OK);
    assert_int_equal(pl_arena_reserve(&arena, 512), PL_ERROR_MEMORY);
    assert_int_equal(arena.size, 256);
    assert_non_null(pl_arena_alloc(&arena, 4, 64));
    pl_arena_free(&arena);
    assert_int_equal(pl_arena_init(&arena, &memory, 64), PL_ERROR_MEMORY);
    assert_null(pl_arena_alloc(&arena, 1, 1));
    pl_arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

static void an_empty_arena_is_valid(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_arena arena;
    assert_int_equal(pl_arena_init(&arena, &memory, 0), PL_OK);
    assert_null(pl_arena_alloc(&arena, 1, 1));
    assert_int_equal(arena.wanted, pl_arena_bytes(1, 1));
    assert_int_equal(pl_arena_bytes(SIZE_MAX, 8), SIZE_MAX);
    pl_arena_free(&arena);
    assert_int_equal(memory.allocations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(a_full_arena_says_so_and_how_much_was_wanted),
        cmocka_unit_test(a_mark_gives_back_what_came_after),
        cmocka_unit_test(growth_without_memory_keeps_the_room),
        cmocka_unit_test(an_empty_arena_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
