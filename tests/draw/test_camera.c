/* A camera that sees everything: whatever points are gathered, they all lie in the picture, within
   the margin, and some of them touch it. */
#include "support/check.h"

#include <string.h>

#include "base/rng.h"
#include "draw/camera.h"
#include "math/elementary.h"

static pl_vec3 vector(const double p[3])
{
    return pl_v3(p[0], p[1], p[2]);
}

/* Where a point is seen: −1 to 1 from left to right and from bottom to top. */
static void look(const pl_camera *camera, double aspect, const double p[3], double seen[2])
{
    pl_vec3 back = pl_v3_normalise(pl_v3_sub(vector(camera->eye), vector(camera->target)));
    pl_vec3 right = pl_v3_normalise(pl_v3_cross(vector(camera->up), back));
    pl_vec3 up = pl_v3_cross(back, right);
    pl_vec3 to = pl_v3_sub(vector(p), vector(camera->eye));
    double depth = -pl_v3_dot(back, to);
    double tangent = pl_sin(camera->angle / 2) / pl_cos(camera->angle / 2);
    assert_true(depth > 0);
    seen[0] = pl_v3_dot(right, to) / (depth * tangent * aspect);
    seen[1] = pl_v3_dot(up, to) / (depth * tangent);
}

static void everything_is_in_the_picture(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(1);
    for (int round = 0; round < 3000; round++) {
        enum { POINTS = 12 };
        double points[POINTS][3], aspect = (double)pl_random_between(&rng, 0.3f, 4);
        double size = pl_pow(10, (double)pl_random_between(&rng, -9, 9));
        double away = round % 3 ? 0 : 100 * size;
        pl_camera_view view = (pl_camera_view)(round % PL_VIEW_COUNT);
        pl_framing framing = pl_framing_begin(view, aspect);
        int count = 1 + (int)pl_random_below(&rng, POINTS);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                points[i][k] = away + size * (double)pl_random_between(&rng, -1, 1);
            pl_framing_add(&framing, points[i], 0);
        }
        pl_camera camera;
        assert_int_equal(pl_framing_camera(&framing, &camera, NULL), PL_OK);
        double most = 0;
        for (int i = 0; i < count; i++) {
            double seen[2];
            look(&camera, aspect, points[i], seen);
            most = fmax(most, fmax(fabs(seen[0]), fabs(seen[1])));
        }
        assert_true(most < 0.83);
        if (count > 2)
            assert_true(most >
                        0.3); /* a tight fit; 0.82 unless a near point keeps the camera away */
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < count; i++)
                assert_true(points[i][k] >= framing.lower[k] && points[i][k] <= framing.upper[k]);
    }
}

static void balls_fit_too(void **state)
{
    (void)state;
    const double centre[3] = {3, 4, 5};
    pl_framing framing = pl_framing_begin(PL_VIEW_CORNER, 1);
    pl_camera camera;
    pl_framing_add(&framing, centre, 2);
    assert_int_equal(pl_framing_camera(&framing, &camera, NULL), PL_OK);
    pl_rng rng = pl_rng_make(2);
    for (int i = 0; i < 1000; i++) {
        double p[3], length = 0, seen[2];
        for (int k = 0; k < 3; k++) {
            p[k] = (double)pl_random_between(&rng, -1, 1);
            length += p[k] * p[k];
        }
        for (int k = 0; k < 3; k++)
            p[k] = centre[k] + 2 * p[k] / sqrt(length);
        look(&camera, 1, p, seen);
        assert_true(fabs(seen[0]) < 0.83 && fabs(seen[1]) < 0.83);
    }
}

static void bad_points_are_refused(void **state)
{
    (void)state;
    pl_camera camera;
    pl_error error;
    pl_framing framing = pl_framing_begin(PL_VIEW_TOP, 1.5);
    assert_int_equal(pl_framing_camera(&framing, &camera, &error), PL_ERROR_ARGUMENT);
    const double bad[][3] = {{INFINITY, 0, 0}, {0, -INFINITY, 0}, {1.7e308, -1.7e308, 0}};
    for (int i = 0; i < 3; i++) {
        const double opposite[3] = {-bad[i][0], -bad[i][1], 0};
        framing = pl_framing_begin(PL_VIEW_TOP, 1.5);
        pl_framing_add(&framing, bad[i], 0);
        pl_framing_add(&framing, opposite, 0);
        assert_int_equal(pl_framing_camera(&framing, &camera, &error), PL_ERROR_ARGUMENT);
    }
}

/* A body that falls, then lies small: every frame's camera still has it in the picture, comes
   nearer in the end, and never jumps. */
static void a_path_follows_without_haste(void **state)
{
    (void)state;
    enum { FRAMES = 200, AROUND = 12 };
    static pl_framing frames[FRAMES], scratch[FRAMES];
    static double points[FRAMES][2][3];
    double first = 0, last = 0, before[3] = {0};
    for (int i = 0; i < FRAMES; i++) {
        double height = i < 40 ? 5 - 0.12 * i : 0.2;
        frames[i] = pl_framing_begin(PL_VIEW_CORNER, 1.6);
        for (int k = 0; k < 2; k++) {
            const double p[3] = {k ? 0.5 : -0.5, k ? height + 0.3 : 0, k ? 0.2 : 0};
            memcpy(points[i][k], p, sizeof p);
            pl_framing_add(&frames[i], p, 0);
        }
    }
    pl_framing_smooth(frames, FRAMES, AROUND, scratch);
    for (int i = 0; i < FRAMES; i++) {
        pl_camera camera;
        assert_int_equal(pl_framing_camera(&frames[i], &camera, NULL), PL_OK);
        for (int k = 0; k < 2; k++) {
            double seen[2];
            look(&camera, 1.6, points[i][k], seen);
            assert_true(fabs(seen[0]) < 0.83 && fabs(seen[1]) < 0.83);
        }
        double moved = pl_v3_distance(vector(camera.eye), vector(before));
        assert_true(i == 0 || moved < 0.7);
        memcpy(before, camera.eye, sizeof before);
        last = pl_framing_distance(&frames[i]);
        first = i == 0 ? last : first;
    }
    assert_true(last < 0.4 * first);
    /* What does not change stays where it is. */
    for (int i = 0; i < FRAMES; i++)
        frames[i] = frames[0];
    const pl_framing same = frames[0];
    pl_framing_smooth(frames, FRAMES, AROUND, scratch);
    for (int i = 0; i < FRAMES; i++)
        for (int k = 0; k < 4; k++)
            assert_true(fabs(frames[i].reach[k] - same.reach[k]) < 1e-12);
    pl_framing_smooth(frames, 0, AROUND, scratch);
    assert_true(pl_framing_distance(&(pl_framing){0}) == 0);
}

static void merged_is_as_added(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(8);
    pl_framing all = pl_framing_begin(PL_VIEW_LEFT, 1.2), merged = all;
    for (int part = 0; part < 3; part++) {
        pl_framing own = pl_framing_begin(PL_VIEW_LEFT, 1.2);
        for (int i = 0; i < 20 * part; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = (double)pl_random_between(&rng, -2, 2);
            pl_framing_add(&own, p, 0.1);
            pl_framing_add(&all, p, 0.1);
        }
        pl_framing_merge(&merged, &own);
    }
    assert_memory_equal(&all, &merged, sizeof all);
}

static void views_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < PL_VIEW_COUNT; i++) {
        pl_camera_view view;
        assert_true(pl_find_camera_view(pl_camera_view_name((pl_camera_view)i), &view));
        assert_int_equal(view, i);
    }
    pl_camera_view view;
    assert_false(pl_find_camera_view("behind", &view));
    assert_null(pl_camera_view_name(PL_VIEW_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_in_the_picture), cmocka_unit_test(balls_fit_too),
        cmocka_unit_test(bad_points_are_refused),       cmocka_unit_test(views_have_names),
        cmocka_unit_test(a_path_follows_without_haste), cmocka_unit_test(merged_is_as_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
