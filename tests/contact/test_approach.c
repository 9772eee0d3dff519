/* The distance of closest approach of two ellipsoids, as the narrow phase finds it, against brute
   force: d = min over unit m of (√(mᵀB₁m) + √(mᵀB₂m)) / (n · m), the separating plane that allows
   the nearest approach. Label: slow. */
#include "contact/contact.h"
#include "contact/share.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

typedef struct kit {
    pl_memory memory;
    pl_clumps *clumps;
    pl_contact *contact;
} kit;

static const int32_t no_edges[2] = {0, 0};

static void make_kit(kit *k)
{
    const float rest[3] = {0, 0, 0}, turn[4] = {0, 0, 0, 1}, radii[3] = {1, 1, 1};
    pl_memory_init(&k->memory, NULL, 0);
    k->clumps = pl_clumps_create(&k->memory, 1, rest, turn, radii, no_edges, NULL);
    k->contact = pl_contact_create(&k->memory, 1);
    assert_non_null(k->clumps);
    assert_int_equal(pl_contact_reserve(k->contact, 2, 2), PL_OK);
    k->contact->h = 1.0 / 15;
}

static void free_kit(kit *k)
{
    pl_contact_destroy(k->contact);
    pl_clumps_destroy(&k->memory, k->clumps);
    assert_int_equal(k->memory.used, 0);
}

typedef struct ellipsoid {
    double b[3][3], least, most;
} ellipsoid;

static ellipsoid random_ellipsoid(pl_rng *rng, double aspect, double size)
{
    double q[4], norm = 0, r[3], e[3][3];
    for (int k = 0; k < 4; k++) {
        q[k] = pl_random_double(rng) * 2 - 1;
        norm += q[k] * q[k];
    }
    double s = 2 / norm, x = q[0], y = q[1], z = q[2], w = q[3];
    double rows[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                         {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                         {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
    memcpy(e, rows, sizeof e);
    for (int k = 0; k < 3; k++)
        r[k] = size * pow(aspect, pl_random_double(rng));
    ellipsoid out = {.least = fmin(r[0], fmin(r[1], r[2])), .most = fmax(r[0], fmax(r[1], r[2]))};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                out.b[i][j] += e[i][k] * r[k] * r[k] * e[j][k];
    return out;
}

static double half_width(const ellipsoid *p, const double m[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += m[i] * p->b[i][j] * m[j];
    return sqrt(sum);
}

static double ratio(const ellipsoid *a, const ellipsoid *b, const double n[3], const double m[3])
{
    double along = m[0] * n[0] + m[1] * n[1] + m[2] * n[2];
    return along > 1e-9 ? (half_width(a, m) + half_width(b, m)) / along : 1e300;
}

/* Projected onto the plane n · m = 1 the function is convex: a pattern search finds its minimum. */
static double brute_force(const ellipsoid *a, const ellipsoid *b, const double n[3])
{
    double u[3], v[3], best, m[3];
    int axis = fabs(n[0]) < 0.6 ? 0 : 1;
    double side[3] = {axis == 0, axis == 1, 0};
    u[0] = n[1] * side[2] - n[2] * side[1];
    u[1] = n[2] * side[0] - n[0] * side[2];
    u[2] = n[0] * side[1] - n[1] * side[0];
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int k = 0; k < 3; k++)
        u[k] /= length;
    v[0] = n[1] * u[2] - n[2] * u[1];
    v[1] = n[2] * u[0] - n[0] * u[2];
    v[2] = n[0] * u[1] - n[1] * u[0];
    double s = 0, t = 0, step = 1;
    best = ratio(a, b, n, n);
    while (step > 1e-5) {
        static const double ways[8][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
                                          {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
        int found = -1;
        for (int w = 0; w < 8; w++) {
            for (int k = 0; k < 3; k++)
                m[k] = n[k] + (s + step * ways[w][0]) * u[k] + (t + step * ways[w][1]) * v[k];
            double value = ratio(a, b, n, m);
            if (value < best) {
                best = value;
                found = w;
            }
        }
        if (found >= 0) {
            s += step * ways[found][0];
            t += step * ways[found][1];
            step *= 1.5;
        } else {
            step *= 0.4;
        }
    }
    return best;
}

static void set_body(kit *k, int number, const ellipsoid *p, const double at[3])
{
    const float radii[3] = {(float)p->most, (float)p->least, (float)p->least};
    const double mass = 1;
    const uint8_t fixed = 0;
    pl_contact_body body = {.clumps = k->clumps, .unit = 1, .category = 1, .mask = 1};
    for (int i = 0; i < 3; i++)
        body.base[i] = at[i];
    pl_contact_enter(k->contact, &body, radii, &mass, 1, &fixed);
    pl_primitive *primitive = k->contact->primitives + number * PL_CLUMP;
    int index = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            primitive->shape[index++] = (float)p->b[i][j];
    memset(k->contact->places + number, 0, sizeof *k->contact->places);
    memset(primitive->x, 0, sizeof primitive->x);
    memset(primitive->moved, 0, sizeof primitive->moved);
    memset(primitive->turned, 0, sizeof primitive->turned);
}

/* The touch of two ellipsoids a part of their closest approach apart; NULL = none. */
static const pl_touch *touch_of(kit *k, const ellipsoid *a, const ellipsoid *b, const double n[3],
                                double distance)
{
    const double here[3] = {1e5, -2e5, 3e5};
    const double there[3] = {here[0] + distance * n[0], here[1] + distance * n[1],
                             here[2] + distance * n[2]};
    pl_contact_clear(k->contact);
    set_body(k, 0, a, here);
    set_body(k, 1, b, there);
    pl_contact_make_groups(k->contact, 1.0 / 30, NULL);
    pl_contact_find(k->contact, NULL);
    const pl_segment *s = k->contact->touch_segments;
    return s->count ? k->contact->buffers[s->worker].touches + s->first : NULL;
}

static void random_direction(pl_rng *rng, double n[3])
{
    double square;
    do {
        square = 0;
        for (int k = 0; k < 3; k++) {
            n[k] = pl_random_double(rng) * 2 - 1;
            square += n[k] * n[k];
        }
    } while (square > 1 || square < 1e-3);
    for (int k = 0; k < 3; k++)
        n[k] /= sqrt(square);
}

/* What a touch says of the closest approach: everything overlapped before, so it is all in
   `recover`, and at this h all at once, but for the part that is left alone. */
static double approach_of(const kit *k, const pl_touch *t, double distance)
{
    assert_true(PL_RECOVERY_RATE * k->contact->h >= 1);
    return (distance + (double)t->recover) / (1 - PL_SLOP);
}

static void closest_approach_agrees_with_brute_force(void **state)
{
    (void)state;
    kit k;
    pl_rng rng = pl_rng_make(1);
    double worst[3] = {0, 0, 0}, below = 0;
    static const double aspects[3] = {2, 5, 10};
    make_kit(&k);
    for (int i = 0; i < 100000; i++) {
        double n[3], size = pow(2, pl_random_double(&rng) * 4 - 2);
        ellipsoid a = random_ellipsoid(&rng, aspects[i % 3], 0.1);
        ellipsoid b = random_ellipsoid(&rng, aspects[i % 3], 0.1 * size);
        random_direction(&rng, n);
        double exact = brute_force(&a, &b, n);
        const pl_touch *t = touch_of(&k, &a, &b, n, 0.7 * exact);
        assert_non_null(t);
        double error = approach_of(&k, t, 0.7 * exact) / exact - 1;
        worst[i % 3] = fmax(worst[i % 3], error);
        below = fmin(below, error);
        /* Clearly apart: no touch, whatever the iteration does. */
        if (i % 10 == 0)
            assert_null(touch_of(&k, &a, &b, n, 1.0101 * exact));
    }
    print_message("largest error at aspect 2, 5, 10: %.2e %.2e %.2e, smallest %.2e\n", worst[0],
                  worst[1], worst[2], below);
    assert_true(worst[0] < 1e-3 && worst[1] < 1e-2 && worst[2] < 1e-2 && below > -1e-3);
    free_kit(&k);
}

static void the_normal_belongs_to_both_surfaces(void **state)
{
    (void)state;
    kit k;
    pl_rng rng = pl_rng_make(2);
    make_kit(&k);
    for (int i = 0; i < 2000; i++) {
        double n[3], m[3];
        ellipsoid a = random_ellipsoid(&rng, 3, 0.1), b = random_ellipsoid(&rng, 3, 0.2);
        random_direction(&rng, n);
        double exact = brute_force(&a, &b, n);
        const pl_touch *t = touch_of(&k, &a, &b, n, 0.9 * exact);
        assert_non_null(t);
        for (int c = 0; c < 3; c++)
            m[c] = (double)t->normal[c];
        assert_true(fabs(m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - 1) < 1e-5);
        /* The plane with this normal separates them at the closest approach. */
        assert_true(fabs(ratio(&a, &b, n, m) / exact - 1) < 1e-2);
        assert_true(fabs((double)(t->give_a + t->give_b) - 1) < 1e-6);
    }
    free_kit(&k);
}

static void scale_changes_nothing(void **state)
{
    (void)state;
    kit k;
    make_kit(&k);
    for (int power = -40; power <= 40; power += 4) {
        pl_rng rng = pl_rng_make(3);
        double n[3], scale = ldexp(1, power);
        ellipsoid a = random_ellipsoid(&rng, 4, 0.1 * scale), b = random_ellipsoid(&rng, 4, scale);
        random_direction(&rng, n);
        /* Far from the origin of the world only as far as their size allows. */
        double exact = brute_force(&a, &b, n);
        const double here[3] = {0, 0, 0},
                     there[3] = {0.8 * exact * n[0], 0.8 * exact * n[1], 0.8 * exact * n[2]};
        pl_contact_clear(k.contact);
        set_body(&k, 0, &a, here);
        set_body(&k, 1, &b, there);
        pl_contact_make_groups(k.contact, 1.0 / 30, NULL);
        pl_contact_find(k.contact, NULL);
        const pl_segment *s = k.contact->touch_segments;
        assert_int_equal(s->count, 1);
        const pl_touch *t = k.contact->buffers[s->worker].touches + s->first;
        assert_true(fabs(approach_of(&k, t, 0.8 * exact) / exact - 1) < 1e-2);
    }
    free_kit(&k);
}

static void centres_at_one_place_give_a_direction(void **state)
{
    (void)state;
    kit k;
    pl_rng rng = pl_rng_make(4);
    make_kit(&k);
    ellipsoid a = random_ellipsoid(&rng, 2, 1), b = random_ellipsoid(&rng, 2, 1);
    const double n[3] = {1, 0, 0};
    const pl_touch *t = touch_of(&k, &a, &b, n, 0);
    assert_non_null(t);
    float square = t->n[0] * t->n[0] + t->n[1] * t->n[1] + t->n[2] * t->n[2];
    assert_true(fabsf(square - 1) < 1e-5f);
    free_kit(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_approach_agrees_with_brute_force),
        cmocka_unit_test(the_normal_belongs_to_both_surfaces),
        cmocka_unit_test(scale_changes_nothing),
        cmocka_unit_test(centres_at_one_place_give_a_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
