/* Colours whose lightness rises evenly with the number; numbers in words; a bar that stays in its
   corner. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "draw/legend.h"

/* CIE 1976 L* of a linear colour. */
static double lightness(const float c[3])
{
    double y = 0.2126 * (double)c[0] + 0.7152 * (double)c[1] + 0.0722 * (double)c[2];
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static void lightness_rises_evenly(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    double last = 0, first = 0, mean = 0;
    for (int i = 0; i <= STEPS; i++) {
        float colour[3];
        pl_colour_of((double)i / STEPS, colour);
        double l = lightness(colour);
        if (i == 0)
            first = l;
        else
            assert_true(l > last);
        last = l;
    }
    mean = (last - first) / STEPS;
    assert_true(first < 20 && last > 85);
    for (int i = 0; i < STEPS; i++) {
        float a[3], b[3];
        pl_colour_of((double)i / STEPS, a);
        pl_colour_of((double)(i + 1) / STEPS, b);
        double rise = (lightness(b) - lightness(a)) / mean;
        assert_true(rise > 0.6 && rise < 1.4);
    }
    assert_int_equal(pl_colour_of_srgb(-3), pl_colour_of_srgb(0));
    assert_int_equal(pl_colour_of_srgb(NAN), pl_colour_of_srgb(0));
    assert_int_equal(pl_colour_of_srgb(INFINITY), pl_colour_of_srgb(1));
    assert_int_equal(pl_colour_of_srgb(1), 0xFDE725);
}

static void numbers_in_words(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0 Pa"},        {1, "1 Pa"},         {2.5, "2.5 Pa"},   {0.05, "50 mPa"},
                 {12.5, "12.5 Pa"},  {999.9996, "1 kPa"}, {250, "250 Pa"},   {1234567, "1.23 MPa"},
                 {-0.001, "-1 mPa"}, {7.5e9, "7.5 GPa"},  {1e-9, "1 nPa"},   {0.0000035, "3.5 uPa"},
                 {45000, "45 kPa"},  {99.96, "100 Pa"},   {1.05, "1.05 Pa"}, {2e11, "200 GPa"}};
    char text[32];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        pl_number_with_unit(known[i].value, "Pa", text, sizeof text);
        assert_string_equal(text, known[i].text);
    }
    pl_number_with_unit(1.5, "", text, sizeof text);
    assert_string_equal(text, "1.5");
    char little[4];
    pl_number_with_unit(1234567, "Pa", little, sizeof little);
    assert_true(strlen(little) < sizeof little);
    assert_true(fabs(pl_round_up(3.1e3) - 4e3) < 1e-6);
    assert_true(fabs(pl_round_up(0.0801) - 0.1) < 1e-12);
    assert_true(fabs(pl_round_up(1e5) - 1e5) < 1e-6);
    for (double v = 1e-12; v < 1e12; v *= 1.37)
        assert_true(pl_round_up(v) >= v * (1 - 1e-9) && pl_round_up(v) <= 1.51 * v);
    assert_true(pl_round_up(0) == 1 && pl_round_up(NAN) == 1 && pl_round_up(INFINITY) == 1);
}

static void the_bar_stays_in_its_corner(void **state)
{
    (void)state;
    enum { WIDTH = 400, HEIGHT = 300 };
    static uint8_t rgba[4 * WIDTH * HEIGHT], small[4 * 100 * 60];
    memset(rgba, 200, sizeof rgba);
    pl_legend_draw(rgba, WIDTH, HEIGHT, 5e4, "Pa");
    int changed = 0, dark = 0, yellow = 0, violet = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *p = rgba + 4 * (y * WIDTH + x);
            assert_int_equal(p[3], 200);
            if (p[0] == 200 && p[1] == 200 && p[2] == 200)
                continue;
            changed++;
            assert_true(x < WIDTH / 2 && y > HEIGHT * 3 / 4);
            dark += p[0] < 90 && p[1] < 90 && p[2] < 90;
            yellow += p[0] > 230 && p[1] > 210 && p[2] < 70;
            violet += p[0] > 55 && p[1] < 40 && p[2] > 70;
        }
    assert_true(changed > 500 && dark > 60 && yellow > 5 && violet > 5);
    /* Too small for it: left alone. */
    memset(small, 200, sizeof small);
    pl_legend_draw(small, 100, 60, 5e4, "Pa");
    for (size_t i = 0; i < sizeof small; i++)
        assert_int_equal(small[i], 200);
    /* Text that reaches beyond the picture is cut. */
    pl_text_draw(small, 100, 60, -20, 5, 30, "8888888888 kMGTPanu%-.?");
    pl_text_draw(small, 100, 60, 80, 80, 30, "0123456789");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lightness_rises_evenly),
        cmocka_unit_test(numbers_in_words),
        cmocka_unit_test(the_bar_stays_in_its_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
