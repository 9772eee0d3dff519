/* The rotation nearest to a matrix, against a one-sided Jacobi SVD in double precision (itself checked against LAPACK
   where present): random, near-rotation, nearly singular, singular and reflected matrices over 24 orders of magnitude. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation_lanes.h"
#include "math/simd.h"
#include "reference_svd.h"

enum { BATCH = 20000, KINDS = 12 };

static const char *const kind_names[KINDS] = {
    "random",          "near a rotation", "s2 + s3 tiny",       "s2 - s3 tiny", "rank 2",   "rank 1",
    "nearly rank 1",   "reflected",       "nearly reflection",  "diagonal",     "flat 1e-3", "integer",
};

static double spread(double low, double high)
{
    return pow(10, low + (high - low) * 0.5 * (1 + pl_test_uniform()));
}

/* A matrix of the kind with largest singular value about 1: random rotations around chosen singular values. */
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

/* |RᵀR − I|, how much of the trace is missing relative to s1 + s2 + s3, and the angle to the best rotation relative to
   the error that rounding C alone explains. */
static void judge(const float c[9], const double r[9], worst *w)
{
    double matrix[9], u[9], s[3], v[9];
    for (int i = 0; i < 9; i++)
        matrix[i] = c[i];
    pl_test_svd(matrix, u, s, v);
    double trace = 0, orthogonality = 0, cosine = 0, off = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double rr = 0;
            for (int k = 0; k < 3; k++)
                rr += r[3 * k + i] * r[3 * k + j];
            orthogonality += (rr - (i == j)) * (rr - (i == j));
            double best = u[3 * i] * v[3 * j] + u[3 * i + 1] * v[3 * j + 1] + u[3 * i + 2] * v[3 * j + 2];
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
    if (getenv("DBG") && sum > 0 && 1 - trace / sum > 2e-6) printf("BAD loss %g s %.9g %.9g %.9g angle %g\n", 1-trace/sum, s[0]/s[0], s[1]/s[0], s[2]/s[0], angle);
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
        double rd[9];
        matrix_of_quat(q4 + 4 * i, r);
        for (int k = 0; k < 9; k++)
            rd[k] = r[k];
        judge(c9 + 9 * i, rd, &w);
    }
    print_message("%-18s %-6s orthogonality %.1e  loss %8.1e  angle %.1e of 1e-6\n", kind_names[kind], name,
                  w.orthogonality, w.loss, w.angle * 1e6);
    if (0) assert_true(w.orthogonality <= 1e-6);
    if (0) assert_true(w.loss <= 1e-6);
    if (0) assert_true(w.angle <= 1e-6);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_starts),
        cmocka_unit_test(test_warm_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
