/* The lane helpers: rows of bodies to lanes and back for every count and alignment, nothing read or
   written outside, the choice of the width, and equal bits of the quaternion functions at every
   width. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation_lanes.h"
#include "math/simd.h"
#include "reference_svd.h"

enum { LONGEST = 40 };

/* Rows of exactly `count` floats in blocks of their own, so that a sanitizer sees a step
   outside. */
static void check_rows(const pl_rotation_table *table, int count)
{
    float *rows[16], *back[16];
    float *lanes = malloc((size_t)(count * table->width + 1) * sizeof(float));
    double *wide = malloc((size_t)(count * table->width + 1) * sizeof(double));
    int width = table->width, half = width / 2;
    for (int lane = 0; lane < width; lane++) {
        rows[lane] = malloc((size_t)count * sizeof(float) + 4);
        back[lane] = malloc((size_t)count * sizeof(float) + 4);
        for (int k = 0; k <= count; k++)
            rows[lane][k] = (float)(100 * lane + k), back[lane][k] = -1;
    }
    lanes[count * width] = -2;
    table->gather((const float *const *)rows, count, lanes);
    assert_true(lanes[count * width] == -2);
    for (int i = 0; i < count * width; i++)
        assert_true(lanes[i] == (float)(100 * (i % width) + i / width));
    table->scatter(lanes, count, back);
    for (int lane = 0; lane < width; lane++) {
        assert_memory_equal(rows[lane], back[lane], (size_t)count * sizeof(float));
        assert_true(back[lane][count] == -1);
        memset(back[lane], 0, (size_t)count * sizeof(float));
    }
    table->gather_double((const float *const *)rows, count, wide);
    for (int i = 0; i < count * half; i++)
        assert_true(wide[i] == (double)(100 * (i % half) + i / half));
    table->scatter_double(wide, count, back);
    for (int lane = 0; lane < width; lane++) {
        if (lane < half)
            assert_memory_equal(rows[lane], back[lane], (size_t)count * sizeof(float));
        free(rows[lane]);
        free(back[lane]);
    }
    free(lanes);
    free(wide);
}

static void test_rows(void **unused)
{
    (void)unused;
    for (int width = 4; width <= 16; width *= 2) {
        const pl_rotation_table *table = pl_rotation_table_of(width);
        if (!table) {
            print_message("width %d: not on this machine\n", width);
            continue;
        }
        assert_int_equal(table->width, width);
        for (int count = 0; count <= LONGEST; count++)
            check_rows(table, count);
    }
}

static void test_width(void **unused)
{
    (void)unused;
    int width = pl_simd_width();
    print_message("width %d\n", width);
    assert_true(width == 4 || width == 8 || width == 16);
    assert_true(pl_simd_supports(4) && pl_simd_supports(width));
    assert_false(pl_simd_supports(5) || pl_simd_supports(32) || pl_simd_supports(0));
    assert_non_null(pl_rotation_table_of(width));
    assert_null(pl_rotation_table_of(7));
    const char *wish = getenv("PLIANT_SIMD");
    if (wish && !strcmp(wish, "4"))
        assert_int_equal(width, 4);
}

static void test_widths_agree(void **unused)
{
    (void)unused;
    enum { COUNT = 1003 };
    static float q[4 * COUNT], v[3 * COUNT], out[2][3][4 * COUNT];
    static double qd[4 * COUNT], vd[3 * COUNT], outd[2][3][4 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        pl_test_quat(qd + 4 * i);
        for (int k = 0; k < 3; k++)
            vd[3 * i + k] = 10 * pl_test_uniform() * pl_test_uniform() * pl_test_uniform();
    }
    for (int i = 0; i < 4 * COUNT; i++)
        q[i] = (float)qd[i];
    for (int i = 0; i < 3 * COUNT; i++)
        v[i] = (float)vd[i];
    for (int width = 4; width <= 16; width *= 2) {
        const pl_rotation_table *table = pl_rotation_table_of(width);
        int w = width > 4;
        if (!table)
            continue;
        table->log(COUNT, q, out[w][0]), table->exp(COUNT, v, out[w][1]),
            table->spin(COUNT, v, out[w][2]);
        table->log_double(COUNT, qd, outd[w][0]), table->exp_double(COUNT, vd, outd[w][1]);
        table->spin_double(COUNT, vd, outd[w][2]);
        if (w) {
            assert_memory_equal(out[0], out[1], sizeof out[0]);
            assert_memory_equal(outd[0], outd[1], sizeof outd[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_widths_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
