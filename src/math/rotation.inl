/* The rotation R nearest to a 3 × 3 matrix C: the maximum of tr(Rᵀ C) with det R = +1, warm-started
   from a quaternion, one matrix per lane. Template for float and double lanes: include with
   PL_REAL_IS_DOUBLE defined as 0 or 1.

   Warm: Newton on the rotation (Kugelstadt et al. 2018). With B = Rᵀ C and R exp([w]×),
       tr = tr B + w·g − ½ wᵀ H w,   g = (B21 − B12, B02 − B20, B10 − B01),   H = tr(B) I − sym(B),   w = H⁻¹ g,
   and the update q ← q (1, w/2) / |…|, the Cayley map. All critical points but the maximum have an
   indefinite H (their B differs from the best one by the signs of two eigenvalues), so a small step
   with H positive definite proves the global maximum: the fast path cannot return anything else
   unnoticed.

   Cold, for lanes that are not done: tr(Rᵀ C) = qᵀ K q with Davenport's symmetric 4 × 4 matrix K,
   whose eigenvalues are s1 + s2 + s3, s1 − s2 − s3, −s1 + s2 − s3, −s1 − s2 + s3 (singular values,
   s3 with the sign of det C). K is shifted to be semidefinite and squared again and again; the
   start projected with the outcome is the eigenvector. Where s2 + s3 is hardly above rounding (C of
   rank one, or near to a reflection), the eigenvectors of H tell which directions C determines;
   what it does not determine keeps the start's value. */
#if !PL_REAL_IS_DOUBLE &&                                                                          \
    !defined(PL_MATH_ROTATION_INL_D) /* rare cases of floats are left to doubles */
#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 1
#include "math/rotation.inl"
#undef PL_REAL_IS_DOUBLE
#define PL_REAL_IS_DOUBLE 0
#endif
#include "math/eigen.inl"

#if PL_REAL_IS_DOUBLE ? !defined(PL_MATH_ROTATION_INL_D) : !defined(PL_MATH_ROTATION_INL_F)
#if PL_REAL_IS_DOUBLE
#define PL_MATH_ROTATION_INL_D
#else
#define PL_MATH_ROTATION_INL_F
#endif

#ifndef PL_ROTATION_CONSTANTS
#define PL_ROTATION_CONSTANTS
/* A lane is done when its last step w was shorter than this: what remains is below |w|³, because
   the cubic term of the trace is |w|² w·g / 6, and w·g is itself of second order. */
#define PL_ROTATION_STEP PL_R_PICK(4e-3f, 1e-5)
#define PL_ROTATION_WARM_STEPS PL_R_PICK(3, 5)
/* H counts as definite when det H > this · (tr H)³, far above rounding: if s2, s3 << s1, when s2 +
   s3 > 8 this s1. */
#define PL_ROTATION_DEFINITE PL_R_PICK(1e-6f, 1e-12)
/* Pairs of squarings: 2^24 and 2^54 tell eigenvalues apart that differ by more than rounding. */
#define PL_ROTATION_SQUARINGS PL_R_PICK(12, 27)
#define PL_ROTATION_POLISH 2
/* So many sets of lanes are fitted at the same time. */
#define PL_ROTATION_SETS 2
/* An eigenvalue of H below this · s1 is rounding of C: it determines nothing. */
#define PL_ROTATION_VOID PL_R_PICK(2.5e-7, 2e-15)
#endif

/* Row by row, from a unit quaternion (x, y, z, w). The homogeneous form of the diagonal is nearer
   to orthogonal, by a third, than 1 − 2 (y² + z²). */
PL_LANES_INLINE void PL_R(pl_rotation_matrix)(const VR q[4], VR r[9])
{
    VR x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    VR xy = q[0] * y2, xz = q[0] * z2, yz = q[1] * z2;
    VR xw = q[3] * x2, yw = q[3] * y2, zw = q[3] * z2;
    VR xx = q[0] * q[0], yy = q[1] * q[1], zz = q[2] * q[2], ww = q[3] * q[3];
    VR a = ww - zz, b = xx - yy;
    r[0] = a + b, r[1] = xy - zw, r[2] = xz + yw;
    r[3] = xy + zw, r[4] = a - b, r[5] = yz - xw;
    r[6] = xz - yw, r[7] = yz + xw, r[8] = (ww + zz) - (xx + yy);
}

/* The gradient g and 2 H (00, −01, −02, 11, −12, 22) at q. */
PL_LANES_INLINE void PL_R(pl_rotation_slope)(const VR c[9], const VR q[4], VR g[3], VR h[6])
{
    VR r[9], b[9];
    PL_R(pl_rotation_matrix)(q, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[3 * i + j] = r[i] * c[j] + r[3 + i] * c[3 + j] + r[6 + i] * c[6 + j];
    g[0] = b[7] - b[5], g[1] = b[2] - b[6], g[2] = b[3] - b[1];
    h[0] = b[4] + b[8], h[3] = b[0] + b[8], h[5] = b[0] + b[4];
    h[0] += h[0], h[3] += h[3], h[5] += h[5];
    h[1] = b[1] + b[3], h[2] = b[2] + b[6], h[4] = b[5] + b[7];
}

/* p = w/2 = (2 H)⁻¹ g by cofactors. Returns where H is clearly positive definite: its three
   invariants are positive, the determinant by a margin; p is meaningless elsewhere. */
PL_LANES_INLINE VM PL_R(pl_rotation_step)(const VR g[3], const VR h[6], VR p[3])
{
    VR k00 = h[3] * h[5] - h[4] * h[4], k01 = h[2] * h[4] + h[1] * h[5],
       k02 = h[1] * h[4] + h[2] * h[3];
    VR k11 = h[0] * h[5] - h[2] * h[2], k12 = h[1] * h[2] + h[0] * h[4],
       k22 = h[0] * h[3] - h[1] * h[1];
    VR det = h[0] * k00 - h[1] * k01 - h[2] * k02;
    VR trace = h[0] + h[3] + h[5];
    VR minors = k00 + k11 + k22;
    VR inverse = vr_splat(1) / det;
    p[0] = (k00 * g[0] + k01 * g[1] + k02 * g[2]) * inverse;
    p[1] = (k01 * g[0] + k11 * g[1] + k12 * g[2]) * inverse;
    p[2] = (k02 * g[0] + k12 * g[1] + k22 * g[2]) * inverse;
    return (trace > vr_splat(0)) & (minors > vr_splat(0)) &
           (det > vr_splat(PL_ROTATION_DEFINITE) * (trace * trace * trace));
}

PL_LANES_INLINE void PL_R(pl_rotation_normalise)(VR q[4])
{
    VR scale = vr_splat(1) / vr_sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int i = 0; i < 4; i++)
        q[i] *= scale;
}

/* q ← q (1 + (1 − |q|²) / 2) for q of nearly unit length, so that only the rounding of q itself
   remains. Each component is cut into a part on a grid so coarse that the sum of the squares is
   exact, and a small rest. */
PL_LANES_INLINE void PL_R(pl_rotation_unit)(VR q[4], VM where)
{
    VR grid = vr_splat(PL_R_PICK(0x1.8p12f, 0x1.8p26)), coarse = vr_splat(1), fine = vr_splat(0);
    for (int i = 0; i < 4; i++) {
        VR high = (q[i] + grid) - grid;
        coarse -= high * high;
        fine += (q[i] - high) * (q[i] + high);
    }
    VR half = vr_splat(0.5) * (coarse - fine);
    for (int i = 0; i < 4; i++)
        q[i] = vr_select(where, q[i] + q[i] * half, q[i]);
}

/* q ← q (1, p) / |…| in the lanes of the mask. */
PL_LANES_INLINE void PL_R(pl_rotation_turn)(VR q[4], const VR p[3], VM where)
{
    VR n[4];
    n[0] = q[0] + (q[3] * p[0] + (q[1] * p[2] - q[2] * p[1]));
    n[1] = q[1] + (q[3] * p[1] + (q[2] * p[0] - q[0] * p[2]));
    n[2] = q[2] + (q[3] * p[2] + (q[0] * p[1] - q[1] * p[0]));
    n[3] = q[3] - (q[0] * p[0] + q[1] * p[1] + q[2] * p[2]);
    PL_R(pl_rotation_normalise)(n);
    for (int i = 0; i < 4; i++)
        q[i] = vr_select(where, n[i], q[i]);
}

/* The same for q of unit length and |p|² = square: the length is √(1 + |p|²), and for short steps a
   few terms of the series take the place of a root and a division. */
PL_LANES_INLINE void PL_R(pl_rotation_nudge)(VR q[4], const VR p[3], VR square, VM where)
{
    VR n[4], scale;
    n[0] = q[0] + (q[3] * p[0] + (q[1] * p[2] - q[2] * p[1]));
    n[1] = q[1] + (q[3] * p[1] + (q[2] * p[0] - q[0] * p[2]));
    n[2] = q[2] + (q[3] * p[2] + (q[0] * p[1] - q[1] * p[0]));
    n[3] = q[3] - (q[0] * p[0] + q[1] * p[1] + q[2] * p[2]);
    scale = vr_splat(1) +
            square * (vr_splat(-0.5) + square * (vr_splat(0.375) + square * vr_splat(-0.3125)));
    VM is_short = square < vr_splat(PL_R_PICK(0x1p-7f, 0x1p-13));
    if (!vm_all(is_short | ~where))
        scale = vr_select(is_short, scale, vr_splat(1) / vr_sqrt(vr_splat(1) + square));
    for (int i = 0; i < 4; i++)
        q[i] = vr_select(where, n[i] * scale, q[i]);
}

/* n = m², symmetric 4 × 4 matrices stored as 00 01 02 03 11 12 13 22 23 33. */
PL_LANES_INLINE void PL_R(pl_rotation_square)(const VR m[10], VR n[10])
{
    n[0] = (m[0] * m[0] + m[1] * m[1]) + (m[2] * m[2] + m[3] * m[3]);
    n[1] = (m[0] * m[1] + m[1] * m[4]) + (m[2] * m[5] + m[3] * m[6]);
    n[2] = (m[0] * m[2] + m[1] * m[5]) + (m[2] * m[7] + m[3] * m[8]);
    n[3] = (m[0] * m[3] + m[1] * m[6]) + (m[2] * m[8] + m[3] * m[9]);
    n[4] = (m[1] * m[1] + m[4] * m[4]) + (m[5] * m[5] + m[6] * m[6]);
    n[5] = (m[1] * m[2] + m[4] * m[5]) + (m[5] * m[7] + m[6] * m[8]);
    n[6] = (m[1] * m[3] + m[4] * m[6]) + (m[5] * m[8] + m[6] * m[9]);
    n[7] = (m[2] * m[2] + m[5] * m[5]) + (m[7] * m[7] + m[8] * m[8]);
    n[8] = (m[2] * m[3] + m[5] * m[6]) + (m[7] * m[8] + m[8] * m[9]);
    n[9] = (m[3] * m[3] + m[6] * m[6]) + (m[8] * m[8] + m[9] * m[9]);
}

/* 2^−e for 2^e <= a < 2^(e+1), exact; kept at the smallest normal number for the largest a. */
PL_LANES_INLINE VR PL_R(pl_rotation_scale)(VR a)
{
#if PL_REAL_IS_DOUBLE
    vl bits = INT64_C(0x7fe0000000000000) - ((vl)a & INT64_C(0x7ff0000000000000));
    return vr_max((vd)bits, vr_splat(0x1p-1022));
#else
    vi bits = 0x7f000000 - ((vi)a & 0x7f800000);
    return vr_max((vf)bits, vr_splat(0x1p-126f));
#endif
}

/* K + c I, semidefinite because K has no trace: no eigenvalue is below −√(3/4) |K| = −√3 |C|. */
PL_LANES_INLINE void PL_R(pl_rotation_davenport)(const VR c[9], VR m[10])
{
    VR norm = ((c[0] * c[0] + c[1] * c[1]) + (c[2] * c[2] + c[3] * c[3])) +
              (((c[4] * c[4] + c[5] * c[5]) + (c[6] * c[6] + c[7] * c[7])) + c[8] * c[8]);
    VR shift = vr_sqrt(norm * vr_splat(3));
    m[0] = c[0] - c[4] - c[8] + shift, m[1] = c[1] + c[3], m[2] = c[2] + c[6], m[3] = c[7] - c[5];
    m[4] = c[4] - c[0] - c[8] + shift, m[5] = c[5] + c[7], m[6] = c[2] - c[6];
    m[7] = c[8] - c[0] - c[4] + shift, m[8] = c[3] - c[1];
    m[9] = c[0] + c[4] + c[8] + shift;
}

/* m to a high power, up to a factor. Each round scales the trace to [1, 2), squares twice, and
   leaves a lane alone from the round on in which its second eigenvalue had fallen below about 10⁻³
   of the first before the last squaring. Entries below rounding are set to zero first, so that they
   do not decay through the slow subnormal numbers. */
PL_LANES_INLINE void PL_R(pl_rotation_power)(VR m[10])
{
    VM frozen = vm_splat(0);
    for (int round = 0; round < PL_ROTATION_SQUARINGS; round++) {
        VR scale = PL_R(pl_rotation_scale)((m[0] + m[4]) + (m[7] + m[9]));
        VR s[10], a[10], b[10];
        for (int i = 0; i < 10; i++) {
            VR e = m[i] * scale;
            s[i] = vr_select(vr_abs(e) < vr_splat(PL_R_PICK(1e-9f, 1e-18)), vr_splat(0), e);
        }
        PL_R(pl_rotation_square)(s, a);
        PL_R(pl_rotation_square)(a, b);
        VR first = (a[0] + a[4]) + (a[7] + a[9]);
        VR second = (b[0] + b[4]) + (b[7] + b[9]);
        for (int i = 0; i < 10; i++)
            m[i] = vr_select(frozen, m[i], b[i]);
        frozen |= first * first - second <= vr_splat(2e-3) * (first * first);
        if (vm_all(frozen))
            break;
    }
}

/* The start projected with the power m, at unit length; or, where little of the start is left (or
   it was not a number), the column of m with the largest diagonal, in the half-space of the
   start. */
PL_LANES_INLINE void PL_R(pl_rotation_project)(const VR m[10], const VR q[4], VR out[4])
{
    static const int at[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};
    VR off =
        (m[1] * m[1] + m[2] * m[2]) + (m[3] * m[3] + m[5] * m[5]) + (m[6] * m[6] + m[8] * m[8]);
    VR squares = (m[0] * m[0] + m[4] * m[4]) + (m[7] * m[7] + m[9] * m[9]) + (off + off);
    VR largest = squares / ((m[0] + m[4]) + (m[7] + m[9])); /* eigenvalue, within 20 % */
    VR column[4], p[4], diagonal = m[0];
    for (int i = 0; i < 4; i++) {
        p[i] =
            (m[at[i][0]] * q[0] + m[at[i][1]] * q[1]) + (m[at[i][2]] * q[2] + m[at[i][3]] * q[3]);
        column[i] = m[at[i][0]];
    }
    for (int j = 1; j < 4; j++) {
        VM larger = m[at[j][j]] > diagonal;
        diagonal = vr_select(larger, m[at[j][j]], diagonal);
        for (int i = 0; i < 4; i++)
            column[i] = vr_select(larger, m[at[i][j]], column[i]);
    }
    VR length2 = (p[0] * p[0] + p[1] * p[1]) + (p[2] * p[2] + p[3] * p[3]);
    VR side = (column[0] * q[0] + column[1] * q[1]) + (column[2] * q[2] + column[3] * q[3]);
    VM keep = length2 > vr_splat(0.06) * (largest * largest);
    for (int i = 0; i < 4; i++)
        out[i] = vr_select(keep, p[i], vr_select(side < vr_splat(0), -column[i], column[i]));
    PL_R(pl_rotation_normalise)(out);
}

#if PL_REAL_IS_DOUBLE
/* n, near the maximum of a C that leaves H nearly singular, is brought there by steps in the
   eigenvectors of H. Turning by φ about one of them changes the trace by h cos φ + g sin φ exactly
   (h its eigenvalue, g the gradient along it), so that tan(φ/2) = g / (h + √(h² + g²)) also leaves
   saddles. Directions with an amplitude √(h² + g²) not above `nothing` times s1 are left out, and
   get the start's value at the end: of n⁻¹ q, as a quaternion, remain the real part and those
   directions; they span the eigenvectors of K that share its largest eigenvalue. */
static __attribute__((noinline, unused)) void pl_rotation_weak(const vd c[9], const vd q[4],
                                                               double nothing, vd n[4])
{
    vd g[3], h[6], p[3], s[3], v[9], along[3], size[3], limit, first = vr_splat(0), last;
    pl_rotation_normalise_d(n); /* for a float it was of unit length, not for a double */
    vd before[4] = {n[0], n[1], n[2], n[3]};
    for (int step = 0;; step++) {
        pl_rotation_slope_d(c, n, g, h);
        h[1] = -h[1], h[2] = -h[2], h[4] = -h[4];
        pl_eigen3_d(h, s,
                    v); /* h is 2 H: the sum of its eigenvalues is four times the trace, and 4 s1 */
        last = s[0] + s[1] + s[2];
        first = step ? first : last;
        limit = vr_splat(0.25 * nothing) * last;
        for (int j = 0; j < 3; j++) {
            vd curve = vr_splat(0.5) * s[j],
               slope = v[j] * g[0] + v[3 + j] * g[1] + v[6 + j] * g[2];
            size[j] = vr_sqrt(curve * curve + slope * slope);
            vd least = vr_splat(0.02) * size[j];
            slope = vr_select((curve < vr_splat(0)) & (vr_abs(slope) < least),
                              vr_copysign(least, slope), slope);
            along[j] =
                vr_select(size[j] > limit, slope / vr_max(curve + size[j], least), vr_splat(0));
        }
        if (step == PL_ROTATION_POLISH) /* the directions are needed at the last n */
            break;
        for (int i = 0; i < 3; i++)
            p[i] = v[3 * i] * along[0] + v[3 * i + 1] * along[1] + v[3 * i + 2] * along[2];
        pl_rotation_turn_d(n, p, vm_splat(-1));
    }
    vl better = last - first > -(limit + vr_splat(1e-14) * last); /* a guard: no case is known */
    for (int i = 0; i < 4; i++)
        n[i] = vr_select(better, n[i], before[i]);
    vd d[3], real = n[3] * q[3] + (n[0] * q[0] + n[1] * q[1] + n[2] * q[2]);
    d[0] = n[3] * q[0] - n[0] * q[3] - (n[1] * q[2] - n[2] * q[1]);
    d[1] = n[3] * q[1] - n[1] * q[3] - (n[2] * q[0] - n[0] * q[2]);
    d[2] = n[3] * q[2] - n[2] * q[3] - (n[0] * q[1] - n[1] * q[0]);
    for (int j = 0; j < 3; j++)
        along[j] = vr_select(size[j] > limit, vr_splat(0),
                             v[j] * d[0] + v[3 + j] * d[1] + v[6 + j] * d[2]);
    for (int i = 0; i < 3; i++)
        p[i] = v[3 * i] * along[0] + v[3 * i + 1] * along[1] + v[3 * i + 2] * along[2];
    /* With next to nothing of the start left, any choice is as good: n stays. */
    vl some = better & (real * real + (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) > vr_splat(1e-4));
    real = vr_select(some, real, vr_splat(1));
    for (int i = 0; i < 3; i++)
        d[i] = vr_select(some, p[i], vr_splat(0));
    p[0] = n[0] * real + n[3] * d[0] + (n[1] * d[2] - n[2] * d[1]);
    p[1] = n[1] * real + n[3] * d[1] + (n[2] * d[0] - n[0] * d[2]);
    p[2] = n[2] * real + n[3] * d[2] + (n[0] * d[1] - n[1] * d[0]);
    n[3] = n[3] * real - (n[0] * d[0] + n[1] * d[1] + n[2] * d[2]);
    n[0] = p[0], n[1] = p[1], n[2] = p[2];
    pl_rotation_normalise_d(n);
}
#else
/* Lanes first … first + PL_WD − 1 as doubles, and back. */
static inline vd pl_rotation_widen(vf a, int first)
{
    vd wide = pl_splat_d(0);
    for (int lane = 0; lane < PL_WD; lane++)
        wide[lane] = (double)a[first + lane];
    return wide;
}

static inline void pl_rotation_narrow(vd wide, int first, vf *a)
{
    for (int lane = 0; lane < PL_WD; lane++)
        (*a)[first + lane] = (float)wide[lane];
}
#endif

/* The lanes of n where H is nearly singular: always in doubles, as in floats H would be as wrong as
   it is small. */
static __attribute__((noinline, unused)) void PL_R(pl_rotation_undecided)(const VR c[9],
                                                                          const VR q[4], VM where,
                                                                          VR n[4])
{
    VR m[4] = {n[0], n[1], n[2], n[3]};
#if PL_REAL_IS_DOUBLE
    pl_rotation_weak(c, q, PL_ROTATION_VOID, m);
#else
    for (int first = 0; first < PL_W; first += PL_WD) {
        vd wide_c[9], wide_q[4], wide_m[4];
        vf marks = pl_select_f(where, pl_splat_f(1), pl_splat_f(0));
        if (!pl_any_d(pl_rotation_widen(marks, first) > pl_splat_d(0)))
            continue;
        for (int i = 0; i < 9; i++)
            wide_c[i] = pl_rotation_widen(c[i], first);
        for (int i = 0; i < 4; i++)
            wide_q[i] = pl_rotation_widen(q[i], first), wide_m[i] = pl_rotation_widen(m[i], first);
        pl_rotation_weak(wide_c, wide_q, PL_ROTATION_VOID, wide_m);
        for (int i = 0; i < 4; i++)
            pl_rotation_narrow(wide_m[i], first, &m[i]);
    }
#endif
    for (int i = 0; i < 4; i++)
        n[i] = vr_select(where, m[i], n[i]);
}

/* Sets q in the lanes that are not done, and returns where c is finite; elsewhere q stays. c is
   scaled to a largest entry near 1. The Newton steps at the end take away what rounding the
   squarings left. */
static __attribute__((noinline, unused)) VM PL_R(pl_rotation_cold)(const VR c[9], VM done, VR q[4])
{
    VR m[10], n[4];
    PL_R(pl_rotation_davenport)(c, m);
    PL_R(pl_rotation_power)(m);
    PL_R(pl_rotation_project)(m, q, n);
    VM definite = done;
    for (int step = 0; step < PL_ROTATION_POLISH; step++) {
        VR g[3], h[6], p[3];
        PL_R(pl_rotation_slope)(c, n, g, h);
        definite = PL_R(pl_rotation_step)(g, h, p);
        VM shorter = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < vr_splat(0.01);
        PL_R(pl_rotation_turn)(n, p, definite & shorter);
    }
    VR sum = vr_splat(0);
    for (int i = 0; i < 9; i++)
        sum += c[i] * vr_splat(0);
    VM finite = sum == vr_splat(0);
    VM weak = finite & ~(definite | done);
    if (vm_any(weak))
        PL_R(pl_rotation_undecided)(c, q, weak, n);
    for (int i = 0; i < 4; i++)
        q[i] = vr_select(finite & ~done, n[i], q[i]);
    return finite;
}

/* One Newton step from q; adds the lanes that are done to the mask. */
PL_LANES_INLINE VM PL_R(pl_rotation_warm)(const VR c[9], VM done, VR q[4])
{
    VR g[3], h[6], p[3];
    PL_R(pl_rotation_slope)(c, q, g, h);
    VM definite = PL_R(pl_rotation_step)(g, h, p) & ~done;
    VR length2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    PL_R(pl_rotation_nudge)(q, p, length2, definite);
    return done | (definite & (length2 < vr_splat(0.25 * PL_ROTATION_STEP * PL_ROTATION_STEP)));
}

/* `sets` matrices per lane, step by step together: a step is a chain of operations that wait for
   each other, and the processor fills the gaps of one with the next as long as no branch stands
   between them. */
PL_LANES_INLINE void PL_R(pl_rotation_fit_sets)(int sets, const VR (*matrix)[9], VR (*q)[4])
{
    VR c[PL_ROTATION_SETS][9], start[PL_ROTATION_SETS][4];
    VM usable[PL_ROTATION_SETS], done[PL_ROTATION_SETS], all = vm_splat(-1);
#pragma GCC unroll 2
    for (int s = 0; s < sets; s++) {
        VR largest = vr_abs(matrix[s][0]);
        for (int i = 1; i < 9; i++)
            largest = vr_max(largest, vr_abs(matrix[s][i]));
        usable[s] = largest >= vr_splat(PL_R_PICK(0x1p-126f, 0x1p-1022));
        done[s] = ~usable[s];
        VR scale = PL_R(pl_rotation_scale)(largest);
        for (int i = 0; i < 9; i++)
            c[s][i] = matrix[s][i] * scale;
        for (int i = 0; i < 4; i++)
            start[s][i] = q[s][i];
    }
    for (int step = 0; step < PL_ROTATION_WARM_STEPS; step++) {
        all = vm_splat(-1);
#pragma GCC unroll 2
        for (int s = 0; s < sets; s++) {
            done[s] = PL_R(pl_rotation_warm)(c[s], done[s], q[s]);
            all &= done[s];
        }
        if (vm_all(all))
            break;
    }
    for (int s = 0; s < sets && !vm_all(all); s++) {
        VR cold_c[9], cold_q[4]; /* copies, so that the originals need no address */
        if (vm_all(done[s]))
            continue;
        for (int i = 0; i < 9; i++)
            cold_c[i] = c[s][i];
        for (int i = 0; i < 4; i++)
            cold_q[i] = vr_select(done[s], q[s][i], start[s][i]);
        usable[s] &= PL_R(pl_rotation_cold)(cold_c, done[s], cold_q);
        for (int i = 0; i < 4; i++)
            q[s][i] = cold_q[i];
    }
#pragma GCC unroll 2
    for (int s = 0; s < sets; s++)
        PL_R(pl_rotation_unit)(q[s], usable[s]);
}

/* q (x, y, z, w; unit): in the start, out the rotation nearest to c (row by row). A lane whose c is
   zero, smaller than the smallest normal number, infinite or not a number keeps its start; lanes to
   be left out are given c = 0. Scaling c by a power of two changes no bit. */
PL_LANES_INLINE void PL_R(pl_rotation_fit)(const VR matrix[9], VR q[4])
{
    PL_R(pl_rotation_fit_sets)(1, (const VR(*)[9])matrix, (VR(*)[4])q);
}

/* Sets of a matrix and a start per lane, component by component: c[set][9][lane] and
   q[set][4][lane]. */
PL_LANES_INLINE void PL_R(pl_rotation_fit_some)(int sets, const REAL *c, REAL *q)
{
    VR matrix[PL_ROTATION_SETS][9], rotation[PL_ROTATION_SETS][4];
#pragma GCC unroll 2
    for (int s = 0; s < sets; s++) {
        for (int k = 0; k < 9; k++)
            matrix[s][k] = vr_load(c + (9 * s + k) * PL_WR);
        for (int k = 0; k < 4; k++)
            rotation[s][k] = vr_load(q + (4 * s + k) * PL_WR);
    }
    PL_R(pl_rotation_fit_sets)(sets, matrix, rotation);
#pragma GCC unroll 2
    for (int s = 0; s < sets; s++)
        for (int k = 0; k < 4; k++)
            vr_store(q + (4 * s + k) * PL_WR, rotation[s][k]);
}

static inline __attribute__((unused)) void PL_R(pl_rotation_fit_columns)(int count, const REAL *c,
                                                                         REAL *q)
{
    for (; count >= PL_ROTATION_SETS; count -= PL_ROTATION_SETS) {
        PL_R(pl_rotation_fit_some)(PL_ROTATION_SETS, c, q);
        c += 9 * PL_ROTATION_SETS * PL_WR, q += 4 * PL_ROTATION_SETS * PL_WR;
    }
    for (; count > 0; count--, c += 9 * PL_WR, q += 4 * PL_WR)
        PL_R(pl_rotation_fit_some)(1, c, q);
}

#endif
