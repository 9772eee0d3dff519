/* The deterministic elementary functions against the C library in long double, their special
   values, and the quaternion logarithm, exponential and spin of the lanes against the same in
   double. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/elementary.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "reference_svd.h"

enum { SAMPLES = 100000 };

/* The distance in units in the last place of the exact value. */
static double ulps(double value, long double exact)
{
    double rounded = (double)exact;
    if (value == rounded || (value != value && rounded != rounded))
        return 0;
    int e;
    frexpl(exact, &e);
    long double unit = ldexpl(1, e - 53);
    if (unit < 0x1p-1074L)
        unit = 0x1p-1074L;
    double error = (double)(fabsl((long double)value - exact) / unit);
    return error == error ? error : INFINITY;
}

static double span(double low, double high)
{
    return low + (high - low) * 0.5 * (1 + pl_test_uniform());
}

/* Either sign, all magnitudes from 10^low to 10^high alike. */
static double wide(double low, double high)
{
    return copysign(pow(10, span(low, high)), pl_test_uniform());
}

static void report(const char *name, double worst, double allowed)
{
    print_message("%-24s worst error %.3f units in the last place\n", name, worst);
    assert_true(worst <= allowed);
}

static void test_sin_cos(void **unused)
{
    (void)unused;
    double sine = 0, cosine = 0, sine_huge = 0, cosine_huge = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = i % 2 ? wide(-12, 6) : span(-20, 20);
        if (i % 10 == 0)
            x = round(span(-1e6, 1e6)) * 1.5707963267948966; /* next to the zeros */
        sine = fmax(sine, ulps(pl_sin(x), sinl(x)));
        cosine = fmax(cosine, ulps(pl_cos(x), cosl(x)));
        /* long double has its own limits for huge arguments; the library's double functions are
           good to 0.6 units. */
        x = wide(6, 308);
        sine_huge = fmax(sine_huge, ulps(pl_sin(x), (long double)sin(x)));
        cosine_huge = fmax(cosine_huge, ulps(pl_cos(x), (long double)cos(x)));
    }
    report("sin", sine, 0.9);
    report("cos", cosine, 0.9);
    report("sin of huge", sine_huge, 1.0);
    report("cos of huge", cosine_huge, 1.0);
    assert_true(pl_sin(0.0) == 0 && !signbit(pl_sin(0.0)) && signbit(pl_sin(-0.0)));
    assert_true(pl_cos(0.0) == 1);
    assert_true(isnan(pl_sin(INFINITY)) && isnan(pl_cos(-INFINITY)) && isnan(pl_sin(NAN)) &&
                isnan(pl_cos(NAN)));
    assert_true(pl_sin(DBL_MIN / 4) == DBL_MIN / 4);
    /* The hardest double for the reduction: 2^849 · 6381956970095103 is within 2^−60 of a multiple
       of π/2. */
    double hard = ldexp(6381956970095103.0, 797);
    assert_true(ulps(pl_cos(hard), -4.68716592425462761112e-19L) <= 1);
    assert_true(pl_sin(hard) == sin(hard));
}

static void test_exp_log_pow(void **unused)
{
    (void)unused;
    double e = 0, l = 0, near_one = 0, p = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = i % 2 ? span(-745, 709.7) : wide(-17, 0);
        e = fmax(e, ulps(pl_exp(x), expl(x)));
        x = fabs(wide(-307, 307));
        l = fmax(l, ulps(pl_log(x), logl(x)));
        x = 1 + wide(-15, -0.5);
        near_one = fmax(near_one, ulps(pl_log(x), logl(x)));
        double base = i % 2 ? fabs(wide(-300, 300)) : fabs(wide(-1, 1));
        double y = span(-700, 700) / log(base);
        p = fmax(p, ulps(pl_pow(base, y), powl(base, y)));
    }
    report("exp", e, 1.0);
    report("log", l, 0.6);
    report("log near 1", near_one, 0.6);
    report("pow", p, 1.0);
    assert_true(pl_exp(0) == 1 && pl_exp(-INFINITY) == 0 && pl_exp(INFINITY) == INFINITY &&
                isnan(pl_exp(NAN)));
    assert_true(pl_exp(709.78) < INFINITY && pl_exp(709.79) == INFINITY);
    assert_true(pl_exp(-745.1) == 0x1p-1074 && pl_exp(-745.2) == 0);
    assert_true(pl_log(1) == 0 && pl_log(0) == -INFINITY && pl_log(-0.0) == -INFINITY &&
                isnan(pl_log(-1)));
    assert_true(pl_log(INFINITY) == INFINITY && isnan(pl_log(NAN)));
    assert_true(ulps(pl_log(0x1p-1074), logl(0x1p-1074L)) < 1);
}

static void test_pow_special(void **unused)
{
    (void)unused;
    static const double values[] = {0.0,        -0.0,
                                    1,          -1,
                                    0.5,        -0.5,
                                    2,          -2,
                                    3,          -3,
                                    1e300,      -1e300,
                                    5e-324,     1e-300,
                                    INFINITY,   -INFINITY,
                                    NAN,        0x1p53,
                                    0x1p53 + 2, -0x1p52 - 1,
                                    0.1,        1 + DBL_EPSILON,
                                    DBL_MAX};
    int count = (int)(sizeof values / sizeof values[0]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            double mine = pl_pow(values[i], values[j]), theirs = pow(values[i], values[j]);
            if (isnan(theirs)) {
                assert_true(isnan(mine));
            } else {
                assert_true(ulps(mine, (long double)theirs) <= 1);
                assert_int_equal(!!signbit(mine), !!signbit(theirs));
            }
        }
}

static void test_arc(void **unused)
{
    (void)unused;
    double a = 0, c = 0, ends = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double y = wide(-20, 20), x = i % 3 ? y * span(-4, 4) : wide(-20, 20);
        a = fmax(a, ulps(pl_atan2(y, x), atan2l(y, x)));
        x = pl_test_uniform();
        c = fmax(c, ulps(pl_acos(x), acosl(x)));
        x = copysign(1 - fabs(wide(-16, -1)), x);
        ends = fmax(ends, ulps(pl_acos(x), acosl(x)));
    }
    report("atan2", a, 1.0);
    report("acos", c, 2.5);
    report("acos near +-1", ends, 2.5);
    assert_true(isnan(pl_acos(1 + DBL_EPSILON)) && isnan(pl_acos(NAN)) && pl_acos(1) == 0 &&
                pl_acos(-1) == acos(-1));
    static const double values[] = {0.0,     -0.0,     1, -1,     INFINITY, -INFINITY, NAN,
                                    DBL_MAX, -DBL_MAX, 3, 1e-300, -5e-324,  5e-324,    -0.25};
    int count = (int)(sizeof values / sizeof values[0]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            double mine = pl_atan2(values[i], values[j]), theirs = atan2(values[i], values[j]);
            if (isnan(theirs)) {
                assert_true(isnan(mine));
            } else {
                assert_true(ulps(mine, (long double)theirs) <= 1);
                assert_int_equal(!!signbit(mine), !!signbit(theirs));
            }
        }
}

/* The matrix of a random rotation, its quaternion, and back; all four branches come up. */
static void test_quaternions(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        double a[4], b[4];
        pl_test_quat(a);
        pl_test_quat(b);
        pl_quat p = {a[0], a[1], a[2], a[3]}, q = {b[0], b[1], b[2], b[3]};
        pl_mat3 r = pl_quat_to_m3(p), product = pl_m3_mul(r, pl_quat_to_m3(q));
        pl_mat3 difference = pl_m3_sub(product, pl_quat_to_m3(pl_quat_mul(p, q)));
        pl_mat3 inverse = pl_m3_zero();
        assert_true(fabs(fabs(pl_quat_dot(p, pl_quat_from_m3(r))) - 1) < 1e-14);
        assert_true(pl_m3_inverse(r, &inverse));
        difference = pl_m3_add(difference, pl_m3_sub(inverse, pl_m3_transpose(r)));
        for (int k = 0; k < 9; k++)
            assert_true(fabs(difference.m[k / 3][k % 3]) < 1e-14);
        assert_true(fabs(pl_m3_det(r) - 1) < 1e-14);
        pl_vec3 axis = pl_v3(a[0], a[1], a[2]);
        pl_quat turn = pl_quat_axis_angle(axis, 2 * pl_acos(a[3]));
        assert_true(pl_quat_dot(turn, p) > 1 - 1e-14);
    }
    pl_mat3 untouched = pl_m3_identity();
    assert_false(pl_m3_inverse(pl_m3_diagonal(1, 0, 1), &untouched));
    assert_true(untouched.m[1][1] == 1);
}

/* Relative error of the rotation vector, from the smallest angles to π, both signs of the
   quaternion. */
static void log_error_of(const pl_rotation_table *table, double *worst, double *worst_double)
{
    enum { COUNT = 5000 };
    static float q[4 * COUNT], v[3 * COUNT];
    static double qd[4 * COUNT], vd[3 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        double half = i % 2 ? pow(10, span(-18, 0)) : span(0, 1.5707), axis[4];
        pl_test_quat(axis);
        double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]),
               sign = i % 3 ? 1 : -1;
        for (int k = 0; k < 3; k++)
            qd[4 * i + k] = sign * axis[k] / n * sin(half);
        qd[4 * i + 3] = sign * cos(half);
        for (int k = 0; k < 4; k++)
            q[4 * i + k] = (float)qd[4 * i + k];
    }
    table->log(COUNT, q, v);
    table->log_double(COUNT, qd, vd);
    for (int i = 0; i < COUNT; i++)
        for (int twice = 0; twice < 2; twice++) {
            long double p[4], error = 0, size = 0;
            for (int k = 0; k < 4; k++)
                p[k] = twice ? (long double)qd[4 * i + k] : (long double)q[4 * i + k];
            long double n = sqrtl(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]),
                        sign = p[3] < 0 ? -1 : 1;
            long double angle = 2 * atan2l(n, fabsl(p[3]));
            for (int k = 0; k < 3; k++) {
                long double exact = sign * p[k] / n * angle;
                long double mine = twice ? (long double)vd[3 * i + k] : (long double)v[3 * i + k];
                error += (mine - exact) * (mine - exact), size += exact * exact;
            }
            double *w = twice ? worst_double : worst;
            *w = fmax(*w, (double)sqrtl(error / size));
        }
}

static void test_lanes_log(void **unused)
{
    (void)unused;
    for (int width = 4; width <= 16; width *= 2) {
        const pl_rotation_table *table = pl_rotation_table_of(width);
        double worst = 0, worst_double = 0;
        if (!table) {
            print_message("width %d: not on this machine\n", width);
            continue;
        }
        log_error_of(table, &worst, &worst_double);
        print_message("width %2d: quaternion log, relative error %.1e float, %.1e double\n", width,
                      worst, worst_double);
        assert_true(worst <= 2.5e-7);
        assert_true(worst_double <= 6e-16);
    }
}

static void test_lanes_exp_and_spin(void **unused)
{
    (void)unused;
    enum { COUNT = 5001 };
    static float v[3 * COUNT], q[4 * COUNT], s[4 * COUNT];
    static double vd[3 * COUNT], qd[4 * COUNT], sd[4 * COUNT];
    double worst[4] = {0, 0, 0, 0}, tiny = 0;
    for (int i = 0; i < 3 * COUNT; i++) {
        v[i] = (float)wide(i < COUNT ? -30 : -3, i < COUNT ? 0 : 1.3);
        vd[i] = (double)v[i];
    }
    v[0] = v[1] = v[2] = 0, vd[0] = vd[1] = vd[2] = 0;
    const pl_rotation_table *table = pl_rotation_table_of(4);
    table->exp(COUNT, v, q), table->exp_double(COUNT, vd, qd);
    table->spin(COUNT, v, s), table->spin_double(COUNT, vd, sd);
    for (int i = 0; i < COUNT; i++) {
        long double x = vd[3 * i], y = vd[3 * i + 1], z = vd[3 * i + 2],
                    angle = sqrtl(x * x + y * y + z * z);
        for (int spin = 0; spin < 2; spin++) {
            long double turn = spin ? atanl(angle) : angle,
                        f = angle > 0 ? sinl(turn / 2) / angle : 0.5L;
            long double exact[4] = {x * f, y * f, z * f, cosl(turn / 2)};
            for (int k = 0; k < 4; k++) {
                double e = (double)fabsl((spin ? s : q)[4 * i + k] - exact[k]);
                worst[2 * spin] = fmax(worst[2 * spin], e);
                worst[2 * spin + 1] = fmax(worst[2 * spin + 1],
                                           (double)fabsl((spin ? sd : qd)[4 * i + k] - exact[k]));
                if (k < 3 && fabsl(exact[k]) > 1e-37L && angle < 1)
                    tiny = fmax(tiny, e / (double)fabsl(exact[k]));
            }
        }
    }
    print_message(
        "exp: error %.1e float, %.1e double; spin: %.1e, %.1e; relative, of angles below 1: %.1e\n",
        worst[0], worst[1], worst[2], worst[3], tiny);
    assert_true(worst[0] <= 1e-6 && worst[1] <= 2e-15);
    assert_true(worst[2] <= 2e-7 && worst[3] <= 4e-16);
    assert_true(tiny <= 3e-7);
}

/* The constant holds for all compilers, optimisation levels and machines. */
static void test_golden_bits(void **unused)
{
    (void)unused;
    enum { COUNT = 9999 };
    static float q[4 * COUNT], v[3 * COUNT], f[3][4 * COUNT];
    static double d[7];
    uint64_t hash = UINT64_C(14695981039346656037);
    pl_test_state = 12345;
    for (int i = 0; i < COUNT; i++) {
        double a[4], x = pl_test_uniform(), y = 1 / pl_test_uniform();
        pl_test_quat(a);
        d[0] = pl_sin(y), d[1] = pl_cos(y * y * y), d[2] = pl_exp(100 * x), d[3] = pl_log(fabs(y));
        d[4] = pl_pow(fabs(y), 10 * x), d[5] = pl_atan2(x, a[0]), d[6] = pl_acos(x);
        hash = pl_test_hash(hash, d, sizeof d);
        for (int k = 0; k < 4; k++)
            q[4 * i + k] = (float)a[k];
        for (int k = 0; k < 3; k++)
            v[3 * i + k] = (float)(a[k] * y);
    }
    const pl_rotation_table *table = pl_rotation_table_of(4);
    table->log(COUNT, q, f[0]), table->exp(COUNT, v, f[1]), table->spin(COUNT, v, f[2]);
    hash = pl_test_hash(hash, f, sizeof f);
    print_message("hash of the results: %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x651622cb707f002e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sin_cos),
        cmocka_unit_test(test_exp_log_pow),
        cmocka_unit_test(test_pow_special),
        cmocka_unit_test(test_arc),
        cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_lanes_log),
        cmocka_unit_test(test_lanes_exp_and_spin),
        cmocka_unit_test(test_golden_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
