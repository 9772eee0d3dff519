/* What the tests of rotations compare with: a one-sided Jacobi SVD in double precision, random
   rotations, a hash. */
#ifndef PL_TEST_REFERENCE_SVD_H
#define PL_TEST_REFERENCE_SVD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t pl_test_state = 88172645463325252u;

/* In (−1, 1). */
static inline double pl_test_uniform(void)
{
    pl_test_state ^= pl_test_state << 13, pl_test_state ^= pl_test_state >> 7,
        pl_test_state ^= pl_test_state << 17;
    return ((double)(pl_test_state >> 11) + 0.5) * 0x1p-52 - 1;
}

/* FNV-1a, continued. */
static inline uint64_t pl_test_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline void pl_test_quat(double q[4])
{
    double n = 0;
    do {
        n = 0;
        for (int k = 0; k < 4; k++) {
            q[k] = pl_test_uniform();
            n += q[k] * q[k];
        }
    } while (n > 1 || n < 1e-4);
    for (int k = 0; k < 4; k++)
        q[k] /= sqrt(n);
}

static inline void pl_test_matrix(const double q[4], double r[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - z * w), r[2] = 2 * (x * z + y * w);
    r[3] = 2 * (x * y + z * w), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - x * w);
    r[6] = 2 * (x * z - y * w), r[7] = 2 * (y * z + x * w), r[8] = 1 - 2 * (x * x + y * y);
}

static inline void pl_test_rotation(double r[9])
{
    double q[4];
    pl_test_quat(q);
    pl_test_matrix(q, r);
}

static inline void pl_test_cross(const double *a, const double *b, double *out, int stride)
{
    double x = a[stride] * b[2 * stride] - a[2 * stride] * b[stride];
    double y = a[2 * stride] * b[0] - a[0] * b[2 * stride];
    double z = a[0] * b[stride] - a[stride] * b[0];
    out[0] = x, out[stride] = y, out[2 * stride] = z;
}

/* Columns of w = C V are made orthogonal by rotations of V until they are; their lengths are the
   singular values. */
static inline void pl_test_jacobi(double w[9], double v[9])
{
    for (int sweep = 0; sweep < 40; sweep++) {
        int turned = 0;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double a = 0, b = 0, g = 0;
                for (int i = 0; i < 3; i++) {
                    a += w[3 * i + p] * w[3 * i + p];
                    b += w[3 * i + q] * w[3 * i + q];
                    g += w[3 * i + p] * w[3 * i + q];
                }
                if (fabs(g) <= 1e-16 * sqrt(a * b))
                    continue;
                turned = 1;
                double tau = (b - a) / (2 * g),
                       t = (tau < 0 ? -1 : 1) / (fabs(tau) + sqrt(1 + tau * tau));
                double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int i = 0; i < 3; i++) {
                    double wp = w[3 * i + p], wq = w[3 * i + q], vp = v[3 * i + p],
                           vq = v[3 * i + q];
                    w[3 * i + p] = c * wp - s * wq, w[3 * i + q] = s * wp + c * wq;
                    v[3 * i + p] = c * vp - s * vq, v[3 * i + q] = s * vp + c * vq;
                }
            }
        if (!turned)
            return;
    }
}

/* C = U diag(s) Vᵀ, rotations U and V, s1 >= s2 >= |s3|, all row by row. */
static inline void pl_test_svd(const double matrix[9], double u[9], double s[3], double v[9])
{
    double w[9], vv[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, length[3];
    int order[3] = {0, 1, 2};
    memcpy(w, matrix, sizeof w);
    pl_test_jacobi(w, vv);
    for (int j = 0; j < 3; j++)
        length[j] = sqrt(w[j] * w[j] + w[3 + j] * w[3 + j] + w[6 + j] * w[6 + j]);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            if (length[order[b]] < length[order[b + 1]]) {
                int t = order[b];
                order[b] = order[b + 1], order[b + 1] = t;
            }
    for (int j = 0; j < 3; j++) {
        s[j] = length[order[j]];
        for (int i = 0; i < 3; i++) {
            v[3 * i + j] = vv[3 * i + order[j]];
            u[3 * i + j] = s[j] > 0 ? w[3 * i + order[j]] / s[j] : 0;
        }
    }
    pl_test_cross(v, v + 1, v + 2, 3);
    if (!(s[0] > 0)) {
        double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        memcpy(u, identity, sizeof identity);
        return;
    }
    if (!(s[1] > 1e-14 * s[0])) { /* any direction perpendicular to the first */
        int k = fabs(u[0]) < fabs(u[3]) ? (fabs(u[0]) < fabs(u[6]) ? 0 : 2)
                                        : (fabs(u[3]) < fabs(u[6]) ? 1 : 2);
        double d = u[3 * k], n = sqrt(1 - d * d);
        for (int i = 0; i < 3; i++)
            u[3 * i + 1] = ((i == k) - d * u[3 * i]) / n;
    }
    pl_test_cross(u, u + 1, u + 2, 3);
    double cv[3], sign = 0;
    for (int i = 0; i < 3; i++) {
        cv[i] = matrix[3 * i] * v[2] + matrix[3 * i + 1] * v[5] + matrix[3 * i + 2] * v[8];
        sign += cv[i] * u[3 * i + 2];
    }
    s[2] = sign < 0 ? -s[2] : s[2];
}

#endif
