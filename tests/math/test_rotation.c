/* The rotation nearest to a matrix, against a one-sided Jacobi SVD in double precision (itself
   checked against LAPACK where present): random, near-rotation, nearly singular, singular and
   reflected matrices over 24 orders of magnitude. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLIANT_HAVE_LAPACK
#include <lapacke.h>
#endif

#include "math/rotation_lanes.h"
#include "math/simd.h"
#include "reference_svd.h"

enum { BATCH = 45000, KINDS = 12 }; /* with warm and cold starts more than a million fits */

static const char *const kind_names[KINDS] = {
    "random",        "near a rotation", "s2 + s3 tiny",      "s2 - s3 tiny", "rank 2",    "rank 1",
    "nearly rank 1", "reflected",       "nearly reflection", "diagonal",     "flat 1e-3", "integer",
};

static double spread(double low, double high)
{
    return pow(10, low + (high - low) * 0.5 * (1 + pl_test_uniform()));
}

/* A matrix of the kind with largest singular value about 1: random rotations around chosen singular
   values. */
static void make_matrix(int kind, double c[9])
{
    double s[3] = {1, fabs(pl_test_uniform()), fabs(pl_test_uniform())};
    switch (kind) {
    case 0:
        for (int i = 0; i < 9; i++)
            c[i] = pl_test_uniform();
        return;
    case 1:
        for (int i = 0; i < 3; i++)
            s[i] = 1 + 0.2 * pl_test_uniform();
        break;
    case 2:
        s[2] = -s[1] * (1 - spread(-9, 0));
        break;
    case 3:
        s[2] = s[1] * (1 - spread(-9, 0));
        break;
    case 4:
        s[2] = 0;
        break;
    case 5:
        s[1] = s[2] = 0;
        break;
    case 6:
        s[1] = spread(-9, -2), s[2] = spread(-9, -2) * (pl_test_uniform() > 0 ? 1 : -1);
        break;
    case 7:
        s[2] = -s[2];
        break;
    case 8:
        s[1] = 1 - spread(-9, -1), s[2] = -1 + spread(-9, -1);
        break;
    case 9:
        memset(c, 0, 9 * sizeof c[0]);
        for (int i = 0; i < 3; i++)
            c[4 * i] = pl_test_uniform() * spread(-4, 0);
        return;
    case 10:
        s[2] = 1e-3 * pl_test_uniform();
        break;
    default:
        for (int i = 0; i < 9; i++)
            c[i] = round(2 * pl_test_uniform());
        return;
    }
    double a[9], b[9];
    pl_test_rotation(a);
    pl_test_rotation(b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[3 * i] * s[0] * b[3 * j] + a[3 * i + 1] * s[1] * b[3 * j + 1] +
                           a[3 * i + 2] * s[2] * b[3 * j + 2];
}

/* As a user computes it, in float. */
static void matrix_of_quat(const float q[4], float r[9])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - z * w), r[2] = 2 * (x * z + y * w);
    r[3] = 2 * (x * y + z * w), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - x * w);
    r[6] = 2 * (x * z - y * w), r[7] = 2 * (y * z + x * w), r[8] = 1 - 2 * (x * x + y * y);
}

typedef struct worst {
    double orthogonality, loss, angle;
} worst;

/* |RᵀR − I|, how much of the trace is missing relative to s1 + s2 + s3, and the angle to the best
   rotation relative to the error that rounding C alone explains. */
static void judge(const double matrix[9], const double r[9], worst *w)
{
    double u[9], s[3], v[9];
    pl_test_svd(matrix, u, s, v);
    double trace = 0, orthogonality = 0, cosine = 0, off = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double rr = 0;
            for (int k = 0; k < 3; k++)
                rr += r[3 * k + i] * r[3 * k + j];
            orthogonality += (rr - (i == j)) * (rr - (i == j));
            double best =
                u[3 * i] * v[3 * j] + u[3 * i + 1] * v[3 * j + 1] + u[3 * i + 2] * v[3 * j + 2];
            trace += r[3 * i + j] * matrix[3 * i + j];
            cosine += r[3 * i + j] * best;
            off += (r[3 * i + j] - best) * (r[3 * i + j] - best);
        }
    double sum = s[0] + s[1] + s[2], gap = s[1] + s[2];
    double chord = sqrt(off) / sqrt(8); /* sin(angle/2) */
    double angle = cosine > 0 ? 2 * asin(fmin(1, chord)) : acos(fmax(-1, (cosine - 1) / 2));
    double allowed = gap > 0 ? fmax(10, s[0] / gap) : INFINITY;
    w->orthogonality = fmax(w->orthogonality, sqrt(orthogonality));
    w->loss = fmax(w->loss, sum > 0 ? 1 - trace / sum : 0);
    w->angle = fmax(w->angle, angle / allowed);
}

static float c9[9 * BATCH], q4[4 * BATCH], start4[4 * BATCH];

static void make_batch(int kind)
{
    for (int i = 0; i < BATCH; i++) {
        double c[9], q[4], scale = spread(-12, 12);
        make_matrix(kind, c);
        for (int k = 0; k < 9; k++)
            c9[9 * i + k] = (float)(c[k] * scale);
        pl_test_quat(q);
        for (int k = 0; k < 4; k++)
            start4[4 * i + k] = (float)q[k];
    }
}

static void judge_batch(const char *name, int kind)
{
    worst w = {0, 0, 0};
    for (int i = 0; i < BATCH; i++) {
        float r[9];
        double rd[9], c[9];
        matrix_of_quat(q4 + 4 * i, r);
        for (int k = 0; k < 9; k++)
            rd[k] = r[k], c[k] = c9[9 * i + k];
        judge(c, rd, &w);
    }
    print_message("%-18s %-6s orthogonality %.1e  loss %8.1e  angle %.1e of 1e-6\n",
                  kind_names[kind], name, w.orthogonality, w.loss, w.angle * 1e6);
    assert_true(w.orthogonality <= 1e-6);
    assert_true(w.loss <= 1e-6);
    assert_true(w.angle <= 1e-6);
}

static void test_cold_starts(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        make_batch(kind);
        memcpy(q4, start4, sizeof q4);
        pl_rotations_fit(BATCH, c9, q4);
        judge_batch("cold", kind);
    }
}

static void test_warm_starts(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        make_batch(kind);
        memcpy(q4, start4, sizeof q4);
        pl_rotations_fit(BATCH, c9, q4);
        for (int i = 0; i < BATCH; i++) {
            double n = 0, size = spread(-5, -0.5), q[4];
            for (int k = 0; k < 4; k++) {
                q[k] = q4[4 * i + k] + size * pl_test_uniform();
                n += q[k] * q[k];
            }
            for (int k = 0; k < 4; k++)
                q4[4 * i + k] = (float)(q[k] / sqrt(n));
        }
        pl_rotations_fit(BATCH, c9, q4);
        judge_batch("warm", kind);
    }
}

/* The same bounds in double precision, 10⁻⁹ times as wide. */
static void test_double(void **unused)
{
    (void)unused;
    enum { COUNT = 2000 };
    static double c[9 * COUNT], q[4 * COUNT];
    for (int kind = 0; kind < KINDS; kind++) {
        worst w = {0, 0, 0};
        for (int i = 0; i < COUNT; i++) {
            double scale = spread(-60, 60);
            make_matrix(kind, c + 9 * i);
            pl_test_quat(q + 4 * i);
            for (int k = 0; k < 9; k++)
                c[9 * i + k] *= scale;
        }
        pl_rotations_fit_double(COUNT, c, q);
        for (int i = 0; i < COUNT; i++) {
            double r[9];
            pl_test_matrix(q + 4 * i, r);
            judge(c + 9 * i, r, &w);
        }
        print_message("%-18s double orthogonality %.1e  loss %8.1e  angle %.1e of 1e-15\n",
                      kind_names[kind], w.orthogonality, w.loss, w.angle * 1e15);
        assert_true(w.orthogonality <= 3e-15);
        assert_true(w.loss <= 1e-14);
        assert_true(w.angle <= 1e-15);
    }
}

/* A lane that has nothing to fit keeps its start to the bit, and does not disturb its
   neighbours. */
static void test_nothing_to_fit(void **unused)
{
    (void)unused;
    enum { COUNT = 64 };
    static const float bad[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f};
    float c[9 * COUNT], clean[9 * COUNT], q[4 * COUNT], expected[4 * COUNT];
    for (int place = 0; place < 10; place++) {
        make_batch(0);
        memcpy(c, c9, sizeof c);
        memcpy(clean, c9, sizeof clean);
        memcpy(expected, start4, sizeof expected);
        memcpy(q, start4, sizeof q);
        pl_rotations_fit(COUNT, clean, expected);
        for (int i = 0; i < COUNT; i += 3) {
            float value = bad[i / 3 % 6];
            for (int k = 0; k < 9; k++)
                if (k == place || place == 9 || fabsf(value) < 1)
                    c[9 * i + k] = value;
        }
        pl_rotations_fit(COUNT, c, q);
        for (int i = 0; i < COUNT; i++)
            assert_memory_equal(q + 4 * i, (i % 3 ? expected : start4) + 4 * i, 4 * sizeof(float));
    }
}

/* A start that is no rotation (zero, not a number) does not matter where C determines
   everything. */
static void test_lost_start(void **unused)
{
    (void)unused;
    make_batch(1);
    for (int i = 0; i < 4 * BATCH; i++)
        q4[i] = i / 4 % 2 ? NAN : 0;
    pl_rotations_fit(BATCH, c9, q4);
    judge_batch("lost", 1);
}

static void test_extreme_scales(void **unused)
{
    (void)unused;
    static const float scales[] = {0x1p-124f, 0x1p-60f, 0x1p60f, 0x1p126f};
    static float plain[4 * BATCH], scaled[9 * BATCH];
    make_batch(0);
    for (int i = 0; i < 9 * BATCH;
         i++) /* entries of a few bits below 1, so that scaling is exact */
        c9[i] = (float)(round(pl_test_uniform() * 8) / 8);
    memcpy(plain, start4, sizeof plain);
    pl_rotations_fit(BATCH, c9, plain);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 9 * BATCH; i++)
            scaled[i] = c9[i] * scales[k];
        memcpy(q4, start4, sizeof q4);
        pl_rotations_fit(BATCH, scaled, q4);
        assert_memory_equal(plain, q4, sizeof plain);
    }
}

/* C = R n nᵀ (rank one) and R (I − 2 n nᵀ) (a reflection) say nothing about some directions: a
   start that is already a maximum stays where it is. */
static void test_undetermined_keeps_start(void **unused)
{
    (void)unused;
    for (int reflection = 0; reflection < 2; reflection++) {
        double drift = 0;
        for (int i = 0; i < BATCH; i++) {
            double a[9], q[4], r[9];
            pl_test_rotation(a);
            pl_test_quat(q);
            pl_test_matrix(q, r);
            for (int k = 0; k < 4; k++)
                start4[4 * i + k] = (float)q[k];
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    double sum = 0;
                    for (int l = 0; l < 3; l++)
                        sum += r[3 * j + l] * (reflection ? (l == k) - 2 * a[3 * l] * a[3 * k]
                                                          : a[3 * l] * a[3 * k]);
                    c9[9 * i + 3 * j + k] = (float)sum;
                }
        }
        memcpy(q4, start4, sizeof q4);
        for (int call = 0; call < 3; call++)
            pl_rotations_fit(BATCH, c9, q4);
        for (int i = 0; i < 4 * BATCH; i++)
            drift = fmax(drift, fabs((double)q4[i] - start4[i]));
        print_message("%s: drift %.1e\n", reflection ? "reflection" : "rank one", drift);
        assert_true(drift <= 1e-6);
    }
}

static void run_table(const pl_rotation_table *table, float *q, double *qd)
{
    static double wide_c[9 * 4096];
    for (int i = 0; i < 9 * 4096; i++)
        wide_c[i] = c9[i];
    for (int i = 0; i < 4 * 4096; i++)
        q[i] = start4[i], qd[i] = start4[i];
    table->fit(4096, c9, q);
    table->fit_double(4096, wide_c, qd);
}

/* Widths 4, 8, 16, and one matrix at a time: the same bits. */
static void test_widths_agree(void **unused)
{
    (void)unused;
    enum { COUNT = 4096 };
    static float q[2][4 * COUNT];
    static double qd[2][4 * COUNT];
    for (int kind = 0; kind < KINDS; kind++) {
        make_batch(kind);
        run_table(pl_rotation_table_of(4), q[0], qd[0]);
        for (int width = 8; width <= 16; width *= 2) {
            const pl_rotation_table *table = pl_rotation_table_of(width);
            if (!table) {
                print_message("width %d: not on this machine\n", width);
                continue;
            }
            run_table(table, q[1], qd[1]);
            assert_memory_equal(q[0], q[1], sizeof q[0]);
            assert_memory_equal(qd[0], qd[1], sizeof qd[0]);
        }
        for (int i = 0; i < 100; i++) {
            float alone[4];
            memcpy(alone, start4 + 4 * i, sizeof alone);
            pl_rotations_fit(1, c9 + 9 * i, alone);
            assert_memory_equal(alone, q[0] + 4 * i, sizeof alone);
        }
    }
}

/* Inputs made with + − · / √ only, so that they are the same everywhere; the constant was computed
   once and holds for all compilers, optimisation levels and machines. */
static void test_golden_bits(void **unused)
{
    (void)unused;
    enum { COUNT = 8192 };
    static double wide_c[9 * COUNT], wide_q[4 * COUNT];
    uint64_t hash = UINT64_C(14695981039346656037);
    pl_test_state = 12345;
    for (int i = 0; i < COUNT; i++) {
        double a[9], b[9], q[4], t = pl_test_uniform(),
                                 s[3] = {1, t, i % 4 ? pl_test_uniform() : -t};
        pl_test_rotation(a);
        pl_test_rotation(b);
        pl_test_quat(q);
        for (int k = 0; k < 9; k++) {
            int x = k / 3, y = k % 3;
            wide_c[9 * i + k] = a[3 * x] * s[0] * b[3 * y] + a[3 * x + 1] * s[1] * b[3 * y + 1] +
                                a[3 * x + 2] * s[2] * b[3 * y + 2];
            c9[9 * i + k] = (float)wide_c[9 * i + k];
        }
        for (int k = 0; k < 4; k++)
            wide_q[4 * i + k] = q[k], q4[4 * i + k] = (float)q[k];
    }
    pl_rotations_fit(COUNT, c9, q4);
    pl_rotations_fit_double(COUNT, wide_c, wide_q);
    hash = pl_test_hash(hash, q4, sizeof(float) * 4 * COUNT);
    hash = pl_test_hash(hash, wide_q, sizeof wide_q);
    print_message("hash of the results: %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0xf365366b34cc7863));
}

static void test_reference_against_lapack(void **unused)
{
    (void)unused;
#ifdef PLIANT_HAVE_LAPACK
    for (int i = 0; i < 2000; i++) {
        double c[9], a[9], u[9], s[3], v[9], lu[9], ls[3], lv[9], rest[3];
        make_matrix(i % KINDS, c);
        pl_test_svd(c, u, s, v);
        memcpy(a, c, sizeof a);
        assert_int_equal(
            LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', 3, 3, a, 3, ls, lu, 3, lv, 3, rest), 0);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(fabs(s[k]) - ls[k]) <= 1e-14 * (ls[0] + 1e-300));
        for (int k = 0; k < 9; k++) {
            double back = 0;
            for (int l = 0; l < 3; l++)
                back += u[3 * (k / 3) + l] * s[l] * v[3 * (k % 3) + l];
            assert_true(fabs(back - c[k]) <= 1e-14 * (ls[0] + 1e-300));
        }
    }
#else
    print_message("built without LAPACK\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_against_lapack),
        cmocka_unit_test(test_cold_starts),
        cmocka_unit_test(test_warm_starts),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_nothing_to_fit),
        cmocka_unit_test(test_lost_start),
        cmocka_unit_test(test_extreme_scales),
        cmocka_unit_test(test_undetermined_keeps_start),
        cmocka_unit_test(test_widths_agree),
        cmocka_unit_test(test_golden_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
