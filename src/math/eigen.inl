/* Eigenvalues and eigenvectors of symmetric 3 × 3 matrices, one per lane, by cyclic Jacobi
   rotations with a fixed number of sweeps. Template for float and double lanes: include with
   PL_REAL_IS_DOUBLE defined as 0 or 1. */
#include "math/lanes_real.inl"

#if PL_REAL_IS_DOUBLE ? !defined(PL_MATH_EIGEN_INL_D) : !defined(PL_MATH_EIGEN_INL_F)
#if PL_REAL_IS_DOUBLE
#define PL_MATH_EIGEN_INL_D
#else
#define PL_MATH_EIGEN_INL_F
#endif

/* One Jacobi rotation that makes a_pq zero; r is the third index. t = tan of the angle is the
   smaller root of t² + 2 τ t = 1, τ = (a_qq − a_pp) / (2 a_pq), written without τ so that a_pq = 0
   needs no exception. An a_pq far below rounding counts as 0: its square would be one of the slow
   subnormal numbers. */
PL_LANES_INLINE void PL_R(pl_jacobi_turn)(VR *app, VR *aqq, VR *apq, VR *arp, VR *arq, VR v[9],
                                          int p, int q)
{
    VR d = *aqq - *app;
    VR twice =
        vr_select(vr_abs(*apq) < vr_splat(PL_R_PICK(1e-10f, 1e-19)), vr_splat(0), *apq + *apq);
    VR root = vr_sqrt(d * d + twice * twice);
    VR below = d + vr_copysign(root, d);
    VR t = vr_select(below == vr_splat(0), vr_splat(0), twice / below);
    VR c = vr_splat(1) / vr_sqrt(vr_splat(1) + t * t), s = t * c;
    VR rp = *arp, rq = *arq, change = t * *apq;
    *app -= change, *aqq += change, *apq = vr_splat(0);
    *arp = c * rp - s * rq, *arq = s * rp + c * rq;
    for (int i = 0; i < 3; i++) {
        VR vp = v[3 * i + p], vq = v[3 * i + q];
        v[3 * i + p] = c * vp - s * vq;
        v[3 * i + q] = s * vp + c * vq;
    }
}

/* Exchanges eigenvalues i < j and their columns where s_i < s_j; one column changes its sign, so
   that v stays a rotation. */
PL_LANES_INLINE void PL_R(pl_eigen_order)(VR s[3], VR v[9], int i, int j)
{
    VM wrong = s[i] < s[j];
    VR si = s[i], sj = s[j];
    s[i] = vr_select(wrong, sj, si), s[j] = vr_select(wrong, si, sj);
    for (int k = 0; k < 3; k++) {
        VR vi_ = v[3 * k + i], vj = v[3 * k + j];
        v[3 * k + i] = vr_select(wrong, vj, vi_);
        v[3 * k + j] = vr_select(wrong, -vi_, vj);
    }
}

/* Eigenvalues s in falling order and eigenvectors (the columns of v, a rotation) of the symmetric
   matrix a: 00 01 02 11 12 22. The largest entry of a should be near 1, or anywhere squares neither
   overflow nor vanish. */
PL_LANES_INLINE void PL_R(pl_eigen3)(const VR a[6], VR s[3], VR v[9])
{
    VR a00 = a[0], a01 = a[1], a02 = a[2], a11 = a[3], a12 = a[4], a22 = a[5];
    for (int i = 0; i < 9; i++)
        v[i] = vr_splat(i % 4 == 0 ? 1 : 0);
    for (int sweep = 0; sweep < PL_R_PICK(4, 5); sweep++) {
        PL_R(pl_jacobi_turn)(&a00, &a11, &a01, &a02, &a12, v, 0, 1);
        PL_R(pl_jacobi_turn)(&a00, &a22, &a02, &a01, &a12, v, 0, 2);
        PL_R(pl_jacobi_turn)(&a11, &a22, &a12, &a01, &a02, v, 1, 2);
    }
    s[0] = a00, s[1] = a11, s[2] = a22;
    PL_R(pl_eigen_order)(s, v, 0, 1);
    PL_R(pl_eigen_order)(s, v, 1, 2);
    PL_R(pl_eigen_order)(s, v, 0, 1);
}

#endif
