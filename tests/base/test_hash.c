#include "base/hash.h"

#include <math.h>

#include "base/rng.h"
#include "support/check.h"

static void fill(unsigned char *bytes, size_t size)
{
    pl_rng rng = pl_rng_make(5);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)pl_random_u32(&rng);
}

/* Stored in files and compared between machines: these values must never change. */
static void known_answers(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    fill(bytes, sizeof bytes);
    assert_int_equal(pl_hash_of("", 0, 0), UINT64_C(0x8095AA2A28800D7A));
    assert_int_equal(pl_hash_of("", 0, 1), UINT64_C(0x271133714E3A2783));
    assert_int_equal(pl_hash_of("a", 1, 0), UINT64_C(0x24529541024974CA));
    assert_int_equal(pl_hash_of("pliant", 6, 0), UINT64_C(0x7ABBCDC71B84EA11));
    assert_int_equal(pl_hash_of("deformable things", 17, 42), UINT64_C(0x600ECCA9EEACCFDC));
    assert_int_equal(pl_hash_of(bytes, sizeof bytes, 7), UINT64_C(0x3BE79FA79DB318DB));
}

static void cuts_do_not_matter(void **state)
{
    (void)state;
    unsigned char bytes[257];
    fill(bytes, sizeof bytes);
    pl_rng rng = pl_rng_make(11);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint64_t whole = pl_hash_of(bytes, size, 3);
        for (int trial = 0; trial < 20; trial++) {
            pl_hash hash;
            pl_hash_init(&hash, 3);
            for (size_t at = 0; at < size;) {
                size_t piece = pl_random_below(&rng, 24);
                piece = piece < size - at ? piece : size - at;
                pl_hash_update(&hash, bytes + at, piece);
                at += piece;
                (void)pl_hash_final(&hash);
            }
            assert_int_equal(pl_hash_final(&hash), whole);
        }
    }
}

static void numbers_are_little_endian_bytes(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0xFF, 4,    3,    2,    1,    0,    0,    0x80, 0x3F,
                                   0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0,
                                   0,    0,    0,    0,    0,    0,    0xC0};
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_update(&hash, bytes, 1);
    pl_hash_u32(&hash, 0x01020304);
    pl_hash_f32(&hash, 1.0f);
    pl_hash_u64(&hash, UINT64_C(0x1112131415161718));
    pl_hash_f64(&hash, -2.0);
    assert_int_equal(pl_hash_final(&hash), pl_hash_of(bytes, sizeof bytes, 0));
}

static void arrays_are_their_elements(void **state)
{
    (void)state;
    const float floats[] = {0, -0.0f, 1, INFINITY, NAN};
    const double doubles[] = {0, -0.0, 1e-310, INFINITY};
    const uint32_t words[] = {1, 2, 0xFFFFFFFF};
    pl_hash array, single;
    pl_hash_init(&array, 0);
    pl_hash_init(&single, 0);
    pl_hash_f32_array(&array, floats, 5);
    pl_hash_f64_array(&array, doubles, 4);
    pl_hash_u32_array(&array, words, 3);
    for (int i = 0; i < 5; i++)
        pl_hash_f32(&single, floats[i]);
    for (int i = 0; i < 4; i++)
        pl_hash_f64(&single, doubles[i]);
    for (int i = 0; i < 3; i++)
        pl_hash_u32(&single, words[i]);
    assert_int_equal(pl_hash_final(&array), pl_hash_final(&single));
}

static uint64_t hash_of_float(float value)
{
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_f32(&hash, value);
    return pl_hash_final(&hash);
}

static void small_differences_show(void **state)
{
    (void)state;
    assert_int_not_equal(hash_of_float(0.0f), hash_of_float(-0.0f));
    const unsigned char zeros[64] = {0};
    for (size_t size = 0; size < 64; size++)
        assert_int_not_equal(pl_hash_of(zeros, size, 0), pl_hash_of(zeros, size + 1, 0));
    pl_hash one, two;
    pl_hash_init(&one, 0);
    pl_hash_init(&two, 0);
    pl_hash_string(&one, "ab");
    pl_hash_string(&one, "c");
    pl_hash_string(&two, "a");
    pl_hash_string(&two, "bc");
    assert_int_not_equal(pl_hash_final(&one), pl_hash_final(&two));
}

/* Every input bit flips about half of the output bits. */
static void bits_spread(void **state)
{
    (void)state;
    unsigned char bytes[24];
    fill(bytes, sizeof bytes);
    uint64_t base = pl_hash_of(bytes, sizeof bytes, 0);
    int total = 0;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int flips = __builtin_popcountll(base ^ pl_hash_of(bytes, sizeof bytes, 0));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_in_range(flips, 12, 52);
        total += flips;
    }
    assert_in_range(total, 192 * 30, 192 * 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(numbers_are_little_endian_bytes),
        cmocka_unit_test(arrays_are_their_elements),
        cmocka_unit_test(small_differences_show),
        cmocka_unit_test(bits_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
