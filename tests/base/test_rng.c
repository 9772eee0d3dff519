#include "base/rng.h"

#include "support/check.h"

/* The published first outputs of SplitMix64 for the seed 1234567. */
static void golden_values(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)};
    pl_rng rng = pl_rng_make(1234567);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pl_random_u64(&rng), expected[i]);
        assert_int_equal(pl_random_at(1234567, (uint64_t)i), expected[i]);
    }
    rng = pl_rng_make(1234567);
    assert_int_equal(pl_random_u32(&rng), (uint32_t)(expected[0] >> 32));
}

/* Exact by construction, so compared for equality. */
static void numbers_are_exact(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(1234567);
    assert_true(pl_random_float(&rng) ==
                (float)(UINT64_C(6457827717110365317) >> 40) / 16777216.0f);
    assert_true(pl_random_double(&rng) ==
                (double)(UINT64_C(3203168211198807973) >> 11) / 9007199254740992.0);
}

static void numbers_stay_in_range(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(0);
    double sum = 0;
    int counts[10] = {0};
    for (int i = 0; i < 100000; i++) {
        float f = pl_random_float(&rng);
        double d = pl_random_double(&rng);
        float b = pl_random_between(&rng, -2, 3);
        uint32_t n = pl_random_below(&rng, 10);
        assert_true(f >= 0 && f < 1 && d >= 0 && d < 1 && b >= -2 && b <= 3 && n < 10);
        sum += f + d;
        counts[n]++;
    }
    assert_true(sum > 99000 && sum < 101000);
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 9500, 10500);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pl_random_below(&rng, 1), 0);
        assert_true(pl_random_below(&rng, 0xFFFFFFFFu) < 0xFFFFFFFFu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(numbers_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
