/* Touches resolved in batches against the same touches resolved one after the other: every bit is
   the same, whoever shares a particle with whom, and whether there is room for all batches, for
   some or for none. And who is gone through again and again: those who are thrown at somebody, with
   all their touches. */
#include "contact/contact.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { BODIES = 60, MOST_TOUCHES = 1500 };

typedef struct kit {
    pl_memory memory;
    pl_clumps *clumps;
    pl_contact *contact;
} kit;

static void make_kit(kit *k)
{
    static const int32_t no_edges[2] = {0, 0};
    const float rest[3] = {0, 0, 0}, turn[4] = {0, 0, 0, 1}, radii[3] = {1, 1, 1};
    const double mass = 1;
    const uint8_t is_fixed = 0;
    pl_memory_init(&k->memory, NULL, 0);
    k->clumps = pl_clumps_create(&k->memory, 1, rest, turn, radii, no_edges, NULL);
    k->contact = pl_contact_create(&k->memory, 1);
    assert_non_null(k->clumps);
    assert_int_equal(pl_contact_reserve(k->contact, BODIES, BODIES), PL_OK);
    for (int i = 0; i < BODIES; i++) {
        pl_contact_body body = {.clumps = k->clumps, .unit = 1};
        pl_contact_enter(k->contact, &body, radii, &mass, 1, &is_fixed);
    }
    k->contact->h = 1.0 / 360;
    k->contact->block_count = 1;
}

static void drop_kit(kit *k)
{
    pl_contact_destroy(k->contact);
    pl_clumps_destroy(&k->memory, k->clumps);
}

static float between(pl_rng *rng, double low, double high)
{
    return (float)(low + (high - low) * pl_random_double(rng));
}

static void random_unit(pl_rng *rng, float v[3])
{
    float square = 0;
    while (!(square > 0.01f)) {
        square = 0;
        for (int k = 0; k < 3; k++) {
            v[k] = between(rng, -1, 1);
            square += v[k] * v[k];
        }
    }
    for (int k = 0; k < 3; k++)
        v[k] /= sqrtf(square);
}

/* Of `popular` particles, so that chains are long or short; some are swept, some do not rub, some
   were deep in each other. */
static pl_touch random_touch(pl_rng *rng, int popular, bool swift)
{
    int a = (int)pl_random_below(rng, (uint32_t)popular);
    int b = (a + 1 + (int)pl_random_below(rng, (uint32_t)popular - 1)) % popular;
    pl_touch t = {.a = a * PL_CLUMP, .b = b * PL_CLUMP};
    random_unit(rng, t.n);
    random_unit(rng, t.normal);
    for (int k = 0; k < 3; k++)
        t.slide[k] = between(rng, -0.01, 0.01);
    t.depth = between(rng, -0.002, 0.01);
    t.friction = pl_random_below(rng, 4) ? between(rng, 0, 1) : 0;
    t.recover = pl_random_below(rng, 2) ? between(rng, 0, 0.2) : 0;
    t.give_a = between(rng, 0, 1);
    t.give_b = 1 - t.give_a;
    t.mass = 1;
    t.swept = swift && !pl_random_below(rng, 8);
    return t;
}

/* Metres per sub-step; half axes are 1, so that about half of those who meet are thrown. */
static void random_speeds(kit *k, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    for (int i = 0; i < BODIES * PL_CLUMP; i++)
        for (int m = 0; m < 3; m++)
            k->contact->came[i][m] = between(&rng, -3, 3);
}

static void resolve(kit *k, const pl_touch *touches, int count, int batches)
{
    pl_contact *contact = k->contact;
    size_t places = (size_t)contact->clump_count * PL_CLUMP;
    memset(contact->change, 0, places * sizeof *contact->change);
    memset(contact->shift, 0, places * sizeof *contact->shift);
    memset(contact->touched, 0, sizeof *contact->touched * (size_t)contact->clump_count);
    memcpy(contact->buffers->touches, touches, (size_t)count * sizeof *touches);
    contact->touch_segments[0] = (pl_segment){.count = count};
    for (int i = 0; i < count; i++)
        contact->touch_segments->swept |= touches[i].swept != 0;
    contact->batch_capacity = batches;
    pl_contact_resolve(contact, NULL);
}

static void test_batches_equal_the_order(void **state)
{
    (void)state;
    static pl_touch touches[MOST_TOUCHES];
    kit one, two;
    pl_rng rng = pl_rng_make(11);
    make_kit(&one);
    make_kit(&two);
    int room = two.contact->batch_capacity;
    size_t places = (size_t)BODIES * PL_CLUMP;
    for (int round = 0; round < check_rounds(200, 40); round++) {
        int count = (int)pl_random_below(&rng, MOST_TOUCHES),
            popular = 2 + (int)pl_random_below(&rng, BODIES - 1);
        for (int i = 0; i < count; i++)
            touches[i] = random_touch(&rng, popular, round % 2);
        /* Bodies come and go. */
        one.contact->clump_count = two.contact->clump_count = popular;
        random_speeds(&one, (uint64_t)round);
        random_speeds(&two, (uint64_t)round);
        resolve(&one, touches, count, 0);
        resolve(&two, touches, count, round % 5 ? room : 3);
        assert_memory_equal(one.contact->change, two.contact->change,
                            places * sizeof *one.contact->change);
        assert_memory_equal(one.contact->shift, two.contact->shift,
                            places * sizeof *one.contact->shift);
        assert_memory_equal(one.contact->touched, two.contact->touched,
                            BODIES * sizeof *one.contact->touched);
        assert_memory_equal(one.contact->buffers->touches, two.contact->buffers->touches,
                            (size_t)count * sizeof *touches);
        if (round % 20 == 19) /* stamps run out now and then */
            two.contact->stamp = INT32_MAX - two.contact->batch_count - two.contact->batch_capacity;
    }
    drop_kit(&one);
    drop_kit(&two);
}

/* A row of balls, each deep in the next. The first comes head-on: by its speed, or because the
   solver has moved it there from rest. */
static void thrown_ones_go_through_again(void **state)
{
    (void)state;
    enum { ROW = 8 };
    for (int round = 0; round < 8; round++) {
        bool thrown = round & 1, fits = round & 2, turned = round & 4;
        kit k;
        pl_touch touches[ROW] = {0};
        make_kit(&k);
        for (int i = 0; i < ROW; i++) {
            int a = i * PL_CLUMP, b = a + PL_CLUMP;
            touches[i] = (pl_touch){.a = turned ? b : a,
                                    .b = turned ? a : b,
                                    .n = {turned ? -1 : 1},
                                    .normal = {turned ? -1 : 1},
                                    .depth = i ? 0.01f : 1.5f,
                                    .give_a = 0.5f,
                                    .give_b = 0.5f,
                                    .mass = 1,
                                    .swept = i == 0 ? PL_SWEPT : 0};
        }
        k.contact->came[0][0] = thrown ? 1.01f : 0.99f; /* of half of 1 + 1 */
        k.contact->came[5 * PL_CLUMP][0] = 3;           /* was not looked at along its way */
        resolve(&k, touches, ROW, fits ? k.contact->batch_capacity : 0);
        const pl_touch *after = k.contact->buffers->touches;
        assert_int_equal(after[0].swept, thrown ? PL_SWEPT | PL_AGAIN : 0);
        assert_int_equal(after[1].swept, thrown ? PL_AGAIN : 0);
        for (int i = 2; i < ROW; i++)
            assert_int_equal(after[i].swept, 0);
        /* Two sweeps from one end of the row to the other leave much; many sweeps leave little. */
        float left =
            after[0].depth - fabsf(k.contact->change[PL_CLUMP][0] - k.contact->change[0][0]);
        if (thrown)
            assert_true(left < 0.03f);
        else
            assert_true(left > 0.1f);
        drop_kit(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches_equal_the_order),
                                       cmocka_unit_test(thrown_ones_go_through_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
