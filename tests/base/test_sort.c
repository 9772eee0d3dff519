#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "support/check.h"

static void check_sort(size_t count, uint64_t mask)
{
    pl_sort_item *items = calloc(count + 1, sizeof *items);
    pl_sort_item *scratch = calloc(count + 1, sizeof *scratch);
    uint64_t *keys = calloc(count + 1, sizeof *keys);
    pl_rng rng = pl_rng_make(count ^ mask);
    for (size_t i = 0; i < count; i++) {
        keys[i] = pl_random_u64(&rng) & mask;
        items[i] = (pl_sort_item){keys[i], (uint32_t)i};
    }
    pl_sort(items, scratch, count);
    uint64_t index_sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].key, keys[items[i].index]);
        index_sum += items[i].index;
        if (i == 0)
            continue;
        assert_true(items[i - 1].key <= items[i].key);
        assert_true(items[i - 1].key < items[i].key || items[i - 1].index < items[i].index);
    }
    assert_int_equal(index_sum, count ? (uint64_t)count * (count - 1) / 2 : 0);
    free(keys);
    free(scratch);
    free(items);
}

static void sorted_and_stable(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 100, 1000, 70000};
    static const uint64_t masks[] = {
        0, 3, 0xFF, 0xFF00, 0xFFFF, 0xFF000000FF, UINT64_MAX, UINT64_C(0xF) << 60};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            check_sort(counts[c], masks[m]);
}

static void float_keys_order_as_numbers(void **state)
{
    (void)state;
    static const float ascending[] = {-INFINITY, -1e30f, -1, -1e-45f, -0.0f,   0,
                                      1e-45f,    0.5f,   1,  1e30f,   INFINITY};
    for (size_t i = 1; i < sizeof ascending / sizeof *ascending; i++)
        assert_true(pl_sort_float_key(ascending[i - 1]) < pl_sort_float_key(ascending[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_and_stable),
        cmocka_unit_test(float_keys_order_as_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
