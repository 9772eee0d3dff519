/* Singular values of 3 × 3 matrices: C = U diag(s) Vᵀ to rounding, U and V rotations, order and
   signs as promised, values equal to those of a one-sided Jacobi SVD in double precision and of
   LAPACK, for regular and degenerate matrices. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#ifdef PLIANT_HAVE_LAPACK
#include <lapacke.h>
#endif

#include "math/rotation_lanes.h"
#include "reference_svd.h"

enum { COUNT = 20000 };

static float cf[9 * COUNT], uf[9 * COUNT], sf[3 * COUNT], vf[9 * COUNT];
static double cd[9 * COUNT], ud[9 * COUNT], sd[3 * COUNT], vd[9 * COUNT];

/* All combinations of random, equal, opposite, tiny and zero singular values, at scales from 10^−12
   to 10^12. */
static void make_matrices(void)
{
    for (int i = 0; i < COUNT; i++) {
        double a[9], b[9], s[3] = {1, 0, 0}, scale = pow(10, 12 * pl_test_uniform());
        pl_test_rotation(a);
        pl_test_rotation(b);
        for (int k = 1; k < 3; k++) {
            int choice = (k == 1 ? i : i / 6) % 6;
            double values[6] = {pl_test_uniform(),
                                s[k - 1],
                                -s[k - 1],
                                0,
                                1e-6 * pl_test_uniform(),
                                s[k - 1] * (1 + 1e-6 * pl_test_uniform())};
            s[k] = values[choice];
        }
        if (i % 7 == 0) /* no rounding in C: rotations by multiples of 90 degrees */
            for (int k = 0; k < 9; k++)
                a[k] = b[k] = k % 4 == 0;
        for (int k = 0; k < 9; k++) {
            int x = 3 * (k / 3), y = 3 * (k % 3);
            double sum =
                a[x] * s[0] * b[y] + a[x + 1] * s[1] * b[y + 1] + a[x + 2] * s[2] * b[y + 2];
            cf[9 * i + k] = (float)(scale * sum);
            cd[9 * i + k] = (double)cf[9 * i + k];
        }
    }
}

static double rotation_error(const double r[9])
{
    double e = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double d = -(double)(i == j);
            for (int k = 0; k < 3; k++)
                d += r[3 * k + i] * r[3 * k + j];
            e = fmax(e, fabs(d));
        }
    double det = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                 r[2] * (r[3] * r[7] - r[4] * r[6]);
    return fmax(e, fabs(det - 1));
}

static double singular_value_error(const double c[9], const double s[3])
{
    double u[9], exact[3], v[9], e = 0;
    pl_test_svd(c, u, exact, v);
#ifdef PLIANT_HAVE_LAPACK
    double copy[9], rest[3];
    memcpy(copy, c, sizeof copy);
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', 3, 3, copy, 3, exact, u, 3, v, 3, rest), 0);
#endif
    for (int k = 0; k < 3; k++)
        e = fmax(e, fabs(fabs(s[k]) - fabs(exact[k])));
    return e / exact[0];
}

/* Largest errors relative to s1: of the product, of the rotations, of the values. */
static void judge(const double *u, const double *s, const double *v, double allowed)
{
    double product = 0, rotations = 0, values = 0;
    for (int i = 0; i < COUNT; i++) {
        const double *c = cd + 9 * i, *ui = u + 9 * i, *si = s + 3 * i, *vi = v + 9 * i;
        assert_true(si[0] >= si[1] && si[1] >= fabs(si[2]));
        for (int k = 0; k < 9; k++) {
            int x = 3 * (k / 3), y = 3 * (k % 3);
            double back = ui[x] * si[0] * vi[y] + ui[x + 1] * si[1] * vi[y + 1] +
                          ui[x + 2] * si[2] * vi[y + 2];
            product = fmax(product, fabs(back - c[k]) / si[0]);
        }
        rotations = fmax(rotations, fmax(rotation_error(ui), rotation_error(vi)));
        values = fmax(values, singular_value_error(c, si));
    }
    print_message("product %.1e, rotations %.1e, values %.1e\n", product, rotations, values);
    assert_true(product <= allowed && rotations <= allowed && values <= allowed);
}

static void test_float(void **unused)
{
    (void)unused;
    static double u[9 * COUNT], s[3 * COUNT], v[9 * COUNT];
    make_matrices();
    pl_svd3(COUNT, cf, uf, sf, vf);
    for (int i = 0; i < 9 * COUNT; i++)
        u[i] = (double)uf[i], v[i] = (double)vf[i];
    for (int i = 0; i < 3 * COUNT; i++)
        s[i] = (double)sf[i];
    judge(u, s, v, 2e-6);
}

static void test_double(void **unused)
{
    (void)unused;
    make_matrices();
    pl_svd3_double(COUNT, cd, ud, sd, vd);
    judge(ud, sd, vd, 4e-15);
}

static void test_special(void **unused)
{
    (void)unused;
    static const float bad[] = {0, NAN, INFINITY, -INFINITY};
    float c[9 * 4] = {0}, u[9 * 4], s[3 * 4], v[9 * 4];
    for (int i = 0; i < 4; i++)
        c[9 * i + 4] = bad[i];
    pl_svd3(4, c, u, s, v);
    for (int i = 0; i < 9 * 4; i++) {
        assert_true(u[i] == (i % 9 % 4 == 0));
        assert_true(v[i] == (i % 9 % 4 == 0));
    }
    for (int i = 0; i < 3 * 4; i++)
        assert_true(s[i] == 0);
    float large[9] = {FLT_MAX / 2, 0, 0, 0, FLT_MAX / 4, 0, 0, 0, -FLT_MAX / 8};
    pl_svd3(1, large, u, s, v);
    assert_true(s[0] == FLT_MAX / 2 && s[1] == FLT_MAX / 4 && s[2] == -FLT_MAX / 8);
    float small[9] = {0x1p-120f, 0, 0, 0, 0x1p-121f, 0, 0, 0, 0x1p-122f};
    pl_svd3(1, small, u, s, v);
    assert_true(s[0] == 0x1p-120f && s[1] == 0x1p-121f && s[2] == 0x1p-122f);
}

static void test_widths_agree(void **unused)
{
    (void)unused;
    static float u[9 * COUNT], s[3 * COUNT], v[9 * COUNT];
    static double u2[9 * COUNT], s2[3 * COUNT], v2[9 * COUNT];
    make_matrices();
    pl_rotation_table_of(4)->svd(COUNT, cf, uf, sf, vf);
    pl_rotation_table_of(4)->svd_double(COUNT, cd, ud, sd, vd);
    for (int width = 8; width <= 16; width *= 2) {
        const pl_rotation_table *table = pl_rotation_table_of(width);
        if (!table) {
            print_message("width %d: not on this machine\n", width);
            continue;
        }
        table->svd(COUNT, cf, u, s, v);
        table->svd_double(COUNT, cd, u2, s2, v2);
        assert_memory_equal(u, uf, sizeof u);
        assert_memory_equal(s, sf, sizeof s);
        assert_memory_equal(v, vf, sizeof v);
        assert_memory_equal(u2, ud, sizeof u2);
        assert_memory_equal(s2, sd, sizeof s2);
        assert_memory_equal(v2, vd, sizeof v2);
    }
}

/* Inputs made with + − · / √ only; the constant holds for all compilers, optimisation levels and
   machines. */
static void test_golden_bits(void **unused)
{
    (void)unused;
    uint64_t hash = UINT64_C(14695981039346656037);
    pl_test_state = 12345;
    for (int i = 0; i < COUNT; i++) {
        double a[9];
        pl_test_rotation(a);
        for (int k = 0; k < 9; k++) {
            cd[9 * i + k] = i % 5 ? pl_test_uniform() : a[k] * (k % 3 == i % 3 ? -1 : 1);
            cf[9 * i + k] = (float)cd[9 * i + k];
        }
    }
    pl_svd3(COUNT, cf, uf, sf, vf);
    pl_svd3_double(COUNT, cd, ud, sd, vd);
    hash = pl_test_hash(hash, uf, sizeof uf);
    hash = pl_test_hash(hash, sf, sizeof sf);
    hash = pl_test_hash(hash, vf, sizeof vf);
    hash = pl_test_hash(hash, ud, sizeof ud);
    hash = pl_test_hash(hash, sd, sizeof sd);
    hash = pl_test_hash(hash, vd, sizeof vd);
    print_message("hash of the results: %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x5175b91307a1e9da));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),       cmocka_unit_test(test_double),
        cmocka_unit_test(test_special),     cmocka_unit_test(test_widths_agree),
        cmocka_unit_test(test_golden_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
