/* Creases: a box has them, a fine sphere has none, seams do not count; closed and open surfaces are
   told apart; any indices and places will do; every lack of memory is survived. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "draw/corners.h"

static const int32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void make_box(double p[24])
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            p[3 * i + k] = i >> k & 1;
}

static void check(const pl_corners *c, int vertex_count, int triangle_count,
                  const int32_t *triangles)
{
    for (int i = 0; i < 3 * triangle_count; i++) {
        assert_true(c->indices[i] < (uint32_t)c->vertex_count);
        assert_int_equal(c->sources[c->indices[i]], triangles[i]);
        assert_int_equal(c->normals[c->indices[i]], c->groups[i]);
        assert_in_range(c->groups[i], 0, c->group_count - 1);
        assert_in_range(triangles[i], 0, vertex_count - 1);
    }
}

static void boxes_have_creases(void **state)
{
    (void)state;
    pl_memory memory;
    pl_corners corners;
    double p[24];
    pl_memory_init(&memory, NULL, 0);
    make_box(p);
    assert_int_equal(pl_corners_make(&memory, 8, p, 12, box_triangles, NULL, &corners), PL_OK);
    check(&corners, 8, 12, box_triangles);
    assert_int_equal(corners.group_count, 24); /* three at each of eight corners */
    assert_int_equal(corners.vertex_count, 24);
    assert_true(corners.closed);
    pl_corners_free(&memory, &corners);

    /* With a side away it is open, and inside out it is not closed for us either. */
    assert_int_equal(pl_corners_make(&memory, 8, p, 10, box_triangles, NULL, &corners), PL_OK);
    assert_false(corners.closed);
    pl_corners_free(&memory, &corners);
    int32_t turned[36];
    for (int i = 0; i < 36; i++)
        turned[i] = box_triangles[i / 3 * 3 + 2 - i % 3];
    assert_int_equal(pl_corners_make(&memory, 8, p, 12, turned, NULL, &corners), PL_OK);
    assert_false(corners.closed);
    assert_int_equal(corners.group_count, 24);
    pl_corners_free(&memory, &corners);

    /* Two materials part what is flat. */
    int32_t materials[12] = {0, 1};
    assert_int_equal(pl_corners_make(&memory, 8, p, 12, box_triangles, materials, &corners), PL_OK);
    assert_int_equal(corners.group_count, 24);
    assert_int_equal(corners.vertex_count, 26);
    pl_corners_free(&memory, &corners);
    assert_int_equal(memory.used, 0);
}

/* A tube of `sides`, cut open along a seam: first and last column at the same places. */
static int make_tube(int sides, double *p, int32_t *triangles)
{
    int count = 0;
    for (int i = 0; i <= sides; i++)
        for (int k = 0; k < 2; k++) {
            double angle = 2 * 3.14159265358979 * (i % sides) / sides;
            double *q = p + 3 * (2 * i + k);
            q[0] = cos(angle), q[1] = sin(angle), q[2] = k;
        }
    for (int32_t i = 0; i < sides; i++) {
        const int32_t faces[6] = {2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 3};
        memcpy(triangles + count, faces, sizeof faces);
        count += 6;
    }
    return count / 3;
}

static void seams_are_smooth(void **state)
{
    (void)state;
    pl_memory memory;
    pl_corners corners;
    double p[3 * 2 * 33];
    int32_t triangles[6 * 32];
    pl_memory_init(&memory, NULL, 0);
    for (int sides = 3; sides <= 32; sides++) {
        int count = make_tube(sides, p, triangles);
        assert_int_equal(
            pl_corners_make(&memory, 2 * sides + 2, p, count, triangles, NULL, &corners), PL_OK);
        check(&corners, 2 * sides + 2, count, triangles);
        /* 60 degrees and less are round; a prism of three to five sides has edges. */
        assert_int_equal(corners.group_count, sides >= 6 ? 2 * sides : 4 * sides);
        assert_int_equal(corners.vertex_count, sides >= 6 ? 2 * sides + 2 : 4 * sides);
        assert_false(corners.closed);
        pl_corners_free(&memory, &corners);
    }
    assert_int_equal(memory.used, 0);
}

static void anything_will_do(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(3);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int round = 0; round < 2000; round++) {
        enum { VERTICES = 40, TRIANGLES = 300 };
        double p[3 * VERTICES];
        int32_t triangles[3 * TRIANGLES], materials[TRIANGLES];
        int vertices = 1 + (int)pl_random_below(&rng, VERTICES);
        int count = (int)pl_random_below(&rng, TRIANGLES);
        for (int i = 0; i < 3 * vertices; i++) {
            static const double odd[] = {NAN, INFINITY, -0.0, 0, 1e308, 1e-320};
            uint32_t pick = pl_random_below(&rng, 12);
            p[i] = pick < 6 && round % 2 ? odd[pick] : (double)pl_random_below(&rng, 3);
        }
        for (int i = 0; i < 3 * count; i++)
            triangles[i] = (int32_t)pl_random_below(&rng, (uint32_t)vertices);
        for (int i = 0; i < count; i++)
            materials[i] = (int32_t)pl_random_below(&rng, 3) - 1;
        pl_corners corners;
        assert_int_equal(pl_corners_make(&memory, vertices, p, count, triangles,
                                         round % 3 ? materials : NULL, &corners),
                         PL_OK);
        check(&corners, vertices, count, triangles);
        pl_corners_free(&memory, &corners);
    }
    assert_int_equal(memory.used, 0);
}

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    double p[24];
    int32_t materials[12] = {0};
    make_box(p);
    pl_status status = PL_ERROR_MEMORY;
    for (int64_t fail = 0; status != PL_OK; fail++) {
        pl_memory memory;
        pl_corners corners;
        assert_in_range(fail, 0, 30);
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        status = pl_corners_make(&memory, 8, p, 12, box_triangles, materials, &corners);
        assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
        pl_corners_free(&memory, &corners);
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_creases),
        cmocka_unit_test(seams_are_smooth),
        cmocka_unit_test(anything_will_do),
        cmocka_unit_test(every_lack_of_memory_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
