/* Fewer vertices: each is stood for by one of its own cell, which stands for itself; a lack of
   memory is survived. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "draw/coarse.h"

enum { COUNT = 2000 };

static double points[3 * COUNT];
static int32_t kept[COUNT];

static void near_ones_stand_for_each_other(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(11);
    for (int i = 0; i < 3 * COUNT; i++)
        points[i] = (double)pl_random_between(&rng, -1, 1);
    int last = COUNT + 1;
    for (double cell = 0.01; cell < 5; cell *= 2) {
        int own = 0;
        assert_int_equal(pl_coarse_vertices(&memory, COUNT, points, cell, kept), PL_OK);
        for (int i = 0; i < COUNT; i++) {
            assert_in_range(kept[i], 0, COUNT - 1);
            assert_int_equal(kept[kept[i]], kept[i]);
            own += kept[i] == i;
            for (int k = 0; k < 3; k++)
                assert_true(fabs(points[3 * i + k] - points[3 * kept[i] + k]) <= cell);
        }
        assert_true(own <= last);
        last = own;
    }
    assert_int_equal(last, 1);
    /* Far out, no numbers, none at all. */
    points[3] = 1e300, points[7] = NAN, points[11] = -INFINITY;
    assert_int_equal(pl_coarse_vertices(&memory, COUNT, points, 0.1, kept), PL_OK);
    for (int i = 0; i < COUNT; i++)
        assert_in_range(kept[i], 0, COUNT - 1);
    assert_int_equal(pl_coarse_vertices(&memory, 0, points, 0.1, kept), PL_OK);
    memory.fail_at = (int64_t)memory.allocations;
    assert_int_equal(pl_coarse_vertices(&memory, COUNT, points, 0.1, kept), PL_ERROR_MEMORY);
    assert_int_equal(memory.used, 0);
}

static void edges_have_a_mean(void **state)
{
    (void)state;
    const double p[] = {0, 0, 0, 3, 0, 0, 0, 4, 0};
    const int32_t triangle[3] = {0, 1, 2};
    assert_true(fabs(pl_mean_edge(1, triangle, p) - 4) < 1e-12);
    assert_true(pl_mean_edge(0, triangle, p) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_ones_stand_for_each_other),
        cmocka_unit_test(edges_have_a_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
