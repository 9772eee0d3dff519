/* Singular values of 3 × 3 matrices, one per lane: C = U diag(s) Vᵀ with rotations U and V, s1 >=
   s2 >= |s3|, and s3 with the sign of det C. R is the rotation nearest to C; Rᵀ C is then symmetric
   with eigenvalues s and eigenvectors V (eigen.inl), and U = R V. Template: include with
   PL_REAL_IS_DOUBLE defined as 0 or 1. */
#include "math/rotation.inl"

#if PL_REAL_IS_DOUBLE ? !defined(PL_MATH_SVD_INL_D) : !defined(PL_MATH_SVD_INL_F)
#if PL_REAL_IS_DOUBLE
#define PL_MATH_SVD_INL_D
#else
#define PL_MATH_SVD_INL_F
#endif

/* u, v: row by row. q (unit) is on entry the start of the rotation and on return the rotation U Vᵀ.
   A lane whose matrix is zero gives s = 0, one that is not finite s = 0 too; u = R and v = I
   there. */
PL_LANES_INLINE void PL_R(pl_svd3)(const VR matrix[9], VR q[4], VR u[9], VR s[3], VR v[9])
{
    VR largest = vr_splat(0), sum = vr_splat(0);
    for (int i = 0; i < 9; i++) {
        largest = vr_max(largest, vr_abs(matrix[i]));
        sum += matrix[i] * vr_splat(0);
    }
    VM usable = (largest >= vr_splat(PL_R_PICK(0x1p-126f, 0x1p-1022))) & (sum == vr_splat(0));
    VR scale = PL_R(pl_rotation_scale)(largest), c[9], r[9], a[6];
    for (int i = 0; i < 9; i++)
        c[i] = vr_select(usable, matrix[i] * scale, vr_splat(0));
    PL_R(pl_rotation_fit)(c, q);
    PL_R(pl_rotation_matrix)(q, r);

    VR b[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[3 * i + j] = r[i] * c[j] + r[3 + i] * c[3 + j] + r[6 + i] * c[6 + j];
    a[0] = b[0], a[3] = b[4], a[5] = b[8];
    a[1] = vr_splat(0.5) * (b[1] + b[3]), a[2] = vr_splat(0.5) * (b[2] + b[6]),
    a[4] = vr_splat(0.5) * (b[5] + b[7]);
    PL_R(pl_eigen3)(a, s, v);

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            u[3 * i + j] = r[3 * i] * v[j] + r[3 * i + 1] * v[3 + j] + r[3 * i + 2] * v[6 + j];
    /* What the order promises holds in exact arithmetic; rounding is put right. */
    s[1] = vr_max(s[1], vr_splat(0));
    s[2] = vr_min(vr_max(s[2], -s[1]), s[1]);
    for (int i = 0; i < 3; i++)
        s[i] = vr_select(usable, s[i] / scale, vr_splat(0));
}

#endif
