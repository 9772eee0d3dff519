/* Pictures of known scenes: what is lit is bright, shadows are dark, edges are smooth, the
   background is where nothing is; the same for every size, scale and place; bad input is refused.
   Skipped where there is no OpenGL. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"

enum { WIDTH = 320, HEIGHT = 240, SKIPPED = 77 };

static pl_memory memory;
static pl_draw *draw;
static uint8_t pixels[4 * WIDTH * HEIGHT], others[4 * WIDTH * HEIGHT];

/* A ball of radius 0.5 on the ground, light from the upper left and the front. */
static pl_draw_view ball_view(double scale, double away)
{
    pl_draw_view view = {.camera = {.up = {0, 1, 0}, .angle = 0.6},
                         .ground = true,
                         .ground_height = away,
                         .light_count = 1,
                         .lights = {{{-1, 1.2, 0.6}, {1, 1, 1}, true}}};
    const double eye[3] = {0, 1.4, 4}, target[3] = {0, 0.4, 0};
    for (int k = 0; k < 3; k++) {
        view.camera.eye[k] = eye[k] * scale + away;
        view.camera.target[k] = target[k] * scale + away;
        view.lower[k] = (k == 1 ? 0 : -0.5) * scale + away;
        view.upper[k] = (k == 1 ? 1 : 0.5) * scale + away;
    }
    return view;
}

static void add_ball(pl_draw *to, double scale, double away, float opacity)
{
    const double centre[3] = {away, 0.5 * scale + away, away}, turn[4] = {0, 0, 0, 1};
    const double radii[3] = {0.5 * scale, 0.5 * scale, 0.5 * scale};
    pl_paint paint = pl_paint_from_srgb(0xC04040, 0.5f);
    paint.colour[3] = opacity;
    assert_int_equal(pl_draw_ellipsoids(to, 1, centre, turn, radii, NULL, &paint), PL_OK);
}

static void draw_ball(pl_draw *to, const pl_draw_view *view, double scale, double away,
                      uint8_t *rgba)
{
    assert_int_equal(pl_draw_begin(to, view, NULL), PL_OK);
    add_ball(to, scale, away, 1);
    assert_int_equal(pl_draw_finish(to, rgba, NULL), PL_OK);
}

static int brightness(const uint8_t *rgba, int x, int y)
{
    const uint8_t *p = rgba + 4 * ((size_t)y * WIDTH + (size_t)x);
    return (2 * p[0] + 5 * p[1] + p[2]) / 8;
}

static bool is_red(const uint8_t *rgba, int x, int y)
{
    const uint8_t *p = rgba + 4 * ((size_t)y * WIDTH + (size_t)x);
    return p[0] > p[1] + 30;
}

/* ---- What is seen ---------------------------------------------------------------------------- */

static void light_and_shadow(void **state)
{
    (void)state;
    pl_draw_view view = ball_view(1, 0);
    draw_ball(draw, &view, 1, 0, pixels);
    /* The ball is in the middle, red, brighter towards the light. */
    assert_true(is_red(pixels, WIDTH / 2, HEIGHT / 2));
    assert_true(is_red(pixels, 138, 100) && is_red(pixels, 182, 140));
    assert_true(brightness(pixels, 138, 95) > brightness(pixels, 182, 140) + 25);
    /* Its shadow falls to the right; to the left the ground is bright. */
    assert_false(is_red(pixels, 215, 145));
    assert_true(brightness(pixels, 215, 145) < brightness(pixels, 60, 145) - 20);
    assert_true(brightness(pixels, 60, 145) > 190);
    /* Above there is nothing but a bright background. */
    for (int x = 0; x < WIDTH; x += 7)
        assert_true(brightness(pixels, x, 0) > 225);
    for (size_t i = 3; i < sizeof pixels; i += 4)
        assert_int_equal(pixels[i], 255);
}

static void edges_are_smooth(void **state)
{
    (void)state;
    pl_draw_view view = ball_view(1, 0);
    view.ground = false;
    draw_ball(draw, &view, 1, 0, pixels);
    /* Over the upper part of the ball's outline: between background and ball lie pixels of
       neither. */
    int between = 0, columns = 0;
    for (int x = WIDTH / 2 - 30; x < WIDTH / 2 + 30; x++) {
        int y = 0;
        while (y < HEIGHT && brightness(pixels, x, y) > 215)
            y++;
        assert_in_range(y, 10, HEIGHT / 2);
        int edge = brightness(pixels, x, y), inside = brightness(pixels, x, y + 2);
        between += edge > inside + 12;
        columns++;
    }
    assert_true(between > columns / 3);
}

static void meshes_have_sides(void **state)
{
    (void)state;
    /* A box, its corners shared: each side has one colour, and they differ. */
    double p[24];
    static const int32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            p[3 * i + k] = (i >> k & 1) - (k == 1 ? 0 : 0.5);
    pl_draw_surface_def def = {8, 12, p, triangles, pl_palette(1), NULL};
    pl_draw_surface *surface;
    assert_int_equal(pl_draw_surface_create(draw, &def, &surface, NULL), PL_OK);
    pl_draw_view view = ball_view(1, 0);
    view.camera.eye[1] = 2.2;
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    assert_int_equal(pl_draw_mesh(draw, surface, p, 1), PL_OK);
    assert_int_equal(pl_draw_finish(draw, pixels, NULL), PL_OK);
    int front = brightness(pixels, WIDTH / 2, 140), top = brightness(pixels, WIDTH / 2, 78);
    assert_true(top > front + 15);
    assert_in_range(abs(brightness(pixels, WIDTH / 2 + 30, 140) - front), 0, 6);
    assert_in_range(abs(brightness(pixels, WIDTH / 2 - 30, 150) - front), 0, 6);
    pl_draw_surface_destroy(surface);

    /* Out of range: refused. */
    int32_t bad[3] = {0, 1, 8};
    def.triangles = bad, def.triangle_count = 1;
    pl_error error = {0};
    assert_int_equal(pl_draw_surface_create(draw, &def, &surface, &error), PL_ERROR_ARGUMENT);
    assert_null(surface);
    assert_string_equal(error.where, "triangles[0]");
    /* Nothing at all, and places that are none: drawn as well as can be. */
    def.triangle_count = 0;
    assert_int_equal(pl_draw_surface_create(draw, &def, &surface, NULL), PL_OK);
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    assert_int_equal(pl_draw_mesh(draw, surface, p, 1), PL_OK);
    assert_int_equal(pl_draw_finish(draw, pixels, NULL), PL_OK);
    pl_draw_surface_destroy(surface);
    def = (pl_draw_surface_def){8, 12, p, triangles, pl_palette(1), NULL};
    assert_int_equal(pl_draw_surface_create(draw, &def, &surface, NULL), PL_OK);
    for (int i = 0; i < 24; i += 5)
        p[i] = i % 2 ? NAN : 1e300;
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    assert_int_equal(pl_draw_mesh(draw, surface, p, 1), PL_OK);
    assert_int_equal(pl_draw_finish(draw, pixels, NULL), PL_OK);
    pl_draw_surface_destroy(surface);
}

static void segments_join_their_ends(void **state)
{
    (void)state;
    const double ends[12] = {-0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0.1, 0, 0, 0.1, 0};
    pl_paint paint = pl_paint_from_srgb(0xC04040, 0.5f);
    pl_draw_view view = ball_view(1, 0);
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    assert_int_equal(pl_draw_segments(draw, 2, ends, 0.05, NULL, &paint), PL_OK);
    assert_int_equal(pl_draw_finish(draw, pixels, NULL), PL_OK);
    int red = 0, y = 0;
    while (y < HEIGHT && !is_red(pixels, WIDTH / 2, y))
        y++;
    assert_true(y < HEIGHT);
    for (int x = 0; x < WIDTH; x++)
        red += is_red(pixels, x, y + 2);
    assert_in_range(red, 70, 110); /* a metre, seen from four with 240 pixels for 0.6 radians */
}

static void glass_lets_through(void **state)
{
    (void)state;
    pl_draw_view view = ball_view(1, 0);
    draw_ball(draw, &view, 1, 0, pixels);
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    assert_int_equal(pl_draw_finish(draw, others, NULL), PL_OK);
    int solid = brightness(pixels, WIDTH / 2, HEIGHT / 2);
    int empty = brightness(others, WIDTH / 2, HEIGHT / 2);
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
    add_ball(draw, 1, 0, 0.3f);
    assert_int_equal(pl_draw_finish(draw, others, NULL), PL_OK);
    int glass = brightness(others, WIDTH / 2, HEIGHT / 2);
    assert_true(glass > solid + 20 && glass < empty - 10);
}

/* Lights: their colour, their side, their shadow. */
static void lights_are_as_given(void **state)
{
    (void)state;
    pl_draw_view view = ball_view(1, 0);
    draw_ball(draw, &view, 1, 0, pixels);
    int lit = brightness(pixels, 138, 95), dark = brightness(pixels, 182, 140);
    int shadow = brightness(pixels, 215, 145);
    /* A second one from the right. */
    view.light_count = 2;
    view.lights[1] = (pl_draw_light){{1, 0.3, 0.6}, {0.8f, 0.8f, 0.8f}, true};
    draw_ball(draw, &view, 1, 0, others);
    assert_true(brightness(others, 182, 140) > dark + 25);
    assert_in_range(abs(brightness(others, 138, 95) - lit), 0, 12);
    /* No shadow: the ground is as bright as elsewhere, but for the sky that the ball hides. */
    view.light_count = 1;
    view.lights[0].shadows = false;
    draw_ball(draw, &view, 1, 0, others);
    assert_true(brightness(others, 215, 145) > shadow + 15);
    /* A blue light makes the ground blue. */
    view.lights[0] = (pl_draw_light){{-1, 1.2, 0.6}, {0, 0.1f, 1}, true};
    draw_ball(draw, &view, 1, 0, others);
    const uint8_t *ground = others + 4 * (145 * WIDTH + 60);
    assert_true(ground[2] > ground[0] + 20);
    /* None at all is the usual one. */
    view.light_count = 0;
    draw_ball(draw, &view, 1, 0, others);
    assert_true(brightness(others, 138, 95) > brightness(others, 182, 140) + 15);
    view.light_count = PL_DRAW_LIGHTS + 1;
    assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_ERROR_ARGUMENT);
}

enum { ROWS = 60, AROUND = 80 };

/* The ball once more as a mesh of thousands of triangles, whose shadow is thrown by fewer of them:
   the same picture. Then in another colour. */
static void a_mesh_is_what_it_shows(void **state)
{
    (void)state;
    static double p[3 * ROWS * AROUND];
    static float green[4 * ROWS * AROUND];
    static int32_t triangles[6 * ROWS * AROUND];
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < AROUND; k++) {
            double up = 3.141592653589793 * i / (ROWS - 1), turn = 6.283185307179586 * k / AROUND;
            double *to = p + 3 * (i * AROUND + k);
            to[0] = 0.5 * sin(up) * cos(turn), to[1] = 0.5 + 0.5 * cos(up);
            to[2] = 0.5 * sin(up) * sin(turn);
            green[4 * (i * AROUND + k) + 1] = 0.4f, green[4 * (i * AROUND + k) + 3] = 1;
            int a = i * AROUND + k, b = i * AROUND + (k + 1) % AROUND;
            const int32_t two[6] = {a, b, a + AROUND, b, b + AROUND, a + AROUND};
            if (i + 1 < ROWS)
                memcpy(triangles + 6 * count++, two, sizeof two);
        }
    pl_draw_view view = ball_view(1, 0);
    draw_ball(draw, &view, 1, 0, pixels);
    pl_draw_surface_def def = {
        ROWS * AROUND, 2 * count, p, triangles, pl_paint_from_srgb(0xC04040, 0.5f), NULL};
    pl_draw_surface *surface;
    assert_int_equal(pl_draw_surface_create(draw, &def, &surface, NULL), PL_OK);
    for (int coloured = 0; coloured < 2; coloured++) {
        int different = 0, greens = 0;
        if (coloured)
            assert_int_equal(pl_draw_surface_colours(surface, green, 0.5f), PL_OK);
        assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
        assert_int_equal(pl_draw_mesh(draw, surface, p, 1), PL_OK);
        assert_int_equal(pl_draw_finish(draw, others, NULL), PL_OK);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const uint8_t *q = others + 4 * (y * WIDTH + x);
                different += abs(brightness(pixels, x, y) - brightness(others, x, y)) > 24;
                greens += q[1] > q[0] + 30;
                assert_false(coloured && is_red(others, x, y));
            }
        assert_true(coloured ? greens > 2000 : different < WIDTH * HEIGHT / 200 && !greens);
    }
    pl_draw_surface_destroy(surface);
}

/* ---- Whatever the circumstances -------------------------------------------------------------- */

static int largest_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    int most = 0;
    for (size_t i = 0; i < size; i++)
        most = abs(a[i] - b[i]) > most ? abs(a[i] - b[i]) : most;
    return most;
}

static void the_same_at_any_scale_and_place(void **state)
{
    (void)state;
    pl_draw_view view = ball_view(1, 0);
    view.ground = false; /* whose grid has lines at metres */
    draw_ball(draw, &view, 1, 0, pixels);
    draw_ball(draw, &view, 1, 0, others);
    assert_memory_equal(pixels, others, sizeof pixels);
    static const double scales[] = {1e-12, 0.001, 1000, 1e12};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (int far = 0; far < 2; far++) {
            double away = far ? 1e6 * scales[i] : 0;
            view = ball_view(scales[i], away);
            view.ground = false;
            draw_ball(draw, &view, scales[i], away, others);
            assert_in_range(largest_difference(pixels, others, sizeof pixels), 0, 8);
            view.ground = true;
            draw_ball(draw, &view, scales[i], away, others);
        }
}

static void all_sizes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 50}, {3000, 2}, {2, 2050}, {4096, 4096}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int width = sizes[i][0], height = sizes[i][1];
        pl_draw *large;
        uint8_t *rgba = calloc((size_t)width * (size_t)height, 4);
        assert_non_null(rgba);
        assert_int_equal(pl_draw_create(&memory, width, height, 4, &large, NULL), PL_OK);
        pl_draw_view view = ball_view(1, 0);
        draw_ball(large, &view, 1, 0, rgba);
        for (size_t k = 3; k < 4 * (size_t)width * (size_t)height; k += 4)
            assert_int_equal(rgba[k], 255);
        pl_draw_destroy(large);
        /* Tiles meet without a seam. */
        for (int y = 0; width == 4096 && y < height; y++) {
            const uint8_t *p = rgba + 4 * ((size_t)y * (size_t)width + 2047);
            for (int k = 0; k < 3; k++)
                assert_in_range(abs(p[k] - p[4 + k]), 0, 60);
        }
        for (int x = 0; width == 4096 && x < width; x++)
            for (int k = 0; k < 3; k++) {
                const uint8_t *p = rgba + 4 * ((size_t)2047 * (size_t)width + (size_t)x);
                assert_in_range(abs(p[k] - p[4 * width + k]), 0, 60);
            }
        free(rgba);
    }
}

static void bad_views_are_refused(void **state)
{
    (void)state;
    pl_error error;
    pl_draw_view view;
    for (int i = 0; i < 8; i++) {
        view = ball_view(1, 0);
        double *numbers[] = {&view.lower[0],         &view.upper[1],     &view.camera.eye[2],
                             &view.camera.target[0], &view.camera.angle, &view.lower[2]};
        if (i < 6)
            *numbers[i] = i == 4 ? 4 : i == 5 ? 10 : NAN;
        else
            memcpy(view.camera.eye, view.camera.target, sizeof view.camera.eye);
        if (i == 7)
            view.camera.eye[0] += 1e30;
        assert_int_equal(pl_draw_begin(draw, &view, &error), PL_ERROR_ARGUMENT);
        assert_int_equal(pl_draw_finish(draw, pixels, &error), PL_ERROR_STATE);
    }
    pl_draw *none;
    assert_int_equal(pl_draw_create(&memory, 0, 10, 4, &none, &error), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_draw_create(&memory, 10, 20000, 4, &none, &error), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_draw_create(&memory, 10, 10, 0, &none, &error), PL_ERROR_ARGUMENT);
    assert_null(none);
    /* A box without extent, and light from straight above: fine. */
    view = ball_view(1, 0);
    memcpy(view.lower, view.upper, sizeof view.lower);
    view.lights[0].direction[0] = view.lights[0].direction[2] = 0;
    assert_int_equal(pl_draw_begin(draw, &view, &error), PL_OK);
    assert_int_equal(pl_draw_finish(draw, pixels, &error), PL_OK);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    pl_status status = PL_ERROR_MEMORY;
    for (int64_t fail = 0; status != PL_OK; fail++) {
        pl_memory own;
        pl_draw *made;
        assert_in_range(fail, 0, 40);
        pl_memory_init(&own, NULL, 0);
        own.fail_at = fail;
        status = pl_draw_create(&own, 32, 32, 1, &made, NULL);
        assert_true(status == PL_OK || (status == PL_ERROR_MEMORY && !made));
        pl_draw_destroy(made);
        assert_int_equal(own.used, 0);
    }
    double p[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int32_t triangle[3] = {0, 1, 2};
    pl_draw_surface_def def = {3, 1, p, triangle, pl_palette(0), NULL};
    pl_draw_view view = ball_view(1, 0);
    pl_paint paint = pl_palette(2);
    const double turn[4] = {0, 0, 0, 1};
    size_t before = memory.used;
    bool good = false;
    for (int64_t fail = 0; !good; fail++) {
        pl_draw_surface *surface;
        assert_in_range(fail, 0, 60);
        memory.fail_at = (int64_t)memory.allocations + fail;
        good = pl_draw_surface_create(draw, &def, &surface, NULL) == PL_OK;
        if (good) {
            assert_int_equal(pl_draw_begin(draw, &view, NULL), PL_OK);
            good = pl_draw_mesh(draw, surface, p, 1) == PL_OK;
            good &= pl_draw_segments(draw, 1, p, 0.1, NULL, &paint) == PL_OK;
            good &= pl_draw_ellipsoids(draw, 1, p, turn, p, NULL, &paint) == PL_OK;
            assert_int_equal(pl_draw_finish(draw, pixels, NULL), PL_OK);
        }
        memory.fail_at = -1;
        pl_draw_surface_destroy(surface);
    }
    assert_true(memory.used < before + 65536); /* lists keep their room */
}

static int open_draw(void **state)
{
    (void)state;
    return pl_draw_create(&memory, WIDTH, HEIGHT, 4, &draw, NULL) != PL_OK;
}

static int close_draw(void **state)
{
    (void)state;
    pl_draw_destroy(draw);
    return memory.used != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_and_shadow),
        cmocka_unit_test(edges_are_smooth),
        cmocka_unit_test(meshes_have_sides),
        cmocka_unit_test(segments_join_their_ends),
        cmocka_unit_test(glass_lets_through),
        cmocka_unit_test(lights_are_as_given),
        cmocka_unit_test(a_mesh_is_what_it_shows),
        cmocka_unit_test(the_same_at_any_scale_and_place),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(bad_views_are_refused),
        cmocka_unit_test(every_lack_of_memory_is_clean),
    };
    pl_error error = {0};
    pl_memory_init(&memory, NULL, 0);
    if (pl_draw_create(&memory, 8, 8, 1, &draw, &error) == PL_ERROR_STATE) {
        printf("skipped: %s\n", error.text);
        return SKIPPED;
    }
    pl_draw_destroy(draw);
    return cmocka_run_group_tests(tests, open_draw, close_draw);
}
