/* Rotations as quaternions (x, y, z, w), rotation vectors (axis times angle) and spins, one per
   lane: logarithm, exponential, and the rotation nearest to I + [a]×. Only + − · / and square
   roots, so that every machine gives the same bits. Template for float and double lanes: include
   with PL_REAL_IS_DOUBLE defined as 0 or 1. */
#include "math/lanes_real.inl"

#if PL_REAL_IS_DOUBLE ? !defined(PL_MATH_ELEMENTARY_INL_D) : !defined(PL_MATH_ELEMENTARY_INL_F)
#if PL_REAL_IS_DOUBLE
#define PL_MATH_ELEMENTARY_INL_D
#else
#define PL_MATH_ELEMENTARY_INL_F
#endif

/* atan(t) / t as a polynomial in t², for t <= tan(π/8). Minimax, relative error 3e-9 (float) and
   2e-19. */
PL_LANES_INLINE VR PL_R(pl_atan_ratio)(VR u)
{
#if PL_REAL_IS_DOUBLE
    static const double a[] = {0x1.0acd9e91a5a35p-6,  -0x1.1b311bb48c215p-5, 0x1.74dccfb93fff0p-5,
                               -0x1.ac7a5a79b3f26p-5, 0x1.e19a0bfa3eef9p-5,  -0x1.110e87b4357d2p-4,
                               0x1.3b1392d519db1p-4,  -0x1.745d165dc9713p-4, 0x1.c71c71c303dbbp-4,
                               -0x1.249249248d7dcp-3, 0x1.9999999999953p-3,  -0x1.5555555555555p-2};
#else
    static const float a[] = {-0.0645171887f, 0.107436683f, -0.142639498f, 0.199995403f,
                              -0.333333318f};
#endif
    VR p = vr_splat(a[0]);
    for (int i = 1; i < (int)(sizeof a / sizeof a[0]); i++)
        p = p * u + vr_splat(a[i]);
    return vr_splat(1) + u * p;
}

/* sin(h) / h and cos(h) as polynomials in u = h², for |h| <= π/4. */
PL_LANES_INLINE VR PL_R(pl_sin_ratio)(VR u)
{
#if PL_REAL_IS_DOUBLE
    static const double a[] = {-0x1.ab16f5caa198ap-41, 0x1.61217d9252c03p-33,
                               -0x1.ae645410e937bp-26, 0x1.71de3a545f836p-19,
                               -0x1.a01a01a01992fp-13, 0x1.1111111111110p-7,
                               -0x1.5555555555555p-3};
#else
    static const float a[] = {-0.000195876391f, 0.00833274710f, -0.166666647f};
#endif
    VR p = vr_splat(a[0]);
    for (int i = 1; i < (int)(sizeof a / sizeof a[0]); i++)
        p = p * u + vr_splat(a[i]);
    return vr_splat(1) + u * p;
}

PL_LANES_INLINE VR PL_R(pl_cos_small)(VR u)
{
#if PL_REAL_IS_DOUBLE
    static const double a[] = {-0x1.907cd8ff5ede7p-37, 0x1.1eeb67d026ec6p-29,
                               -0x1.27e4fa16cc2d1p-22, 0x1.a01a019f4ddfdp-16,
                               -0x1.6c16c16c16963p-10, 0x1.5555555555555p-5};
#else
    static const float a[] = {2.45476898e-5f, -0.00138883019f, 0.0416666647f};
#endif
    VR p = vr_splat(a[0]);
    for (int i = 1; i < (int)(sizeof a / sizeof a[0]); i++)
        p = p * u + vr_splat(a[i]);
    return vr_splat(1) - (vr_splat(0.5) * u - (u * u) * p);
}

/* The rotation vector v of a unit quaternion, by the shorter way round: |v| <= π. Halving the angle
   of the triangle (|w|, |xyz|) twice, a = |q| + |w| and d = a + √(a² + |xyz|²) give tan(|v|/8) =
   |xyz| / d <= tan(π/8), so that
       v = xyz · 8 atan(t) / (t d),   t = |xyz| / d:
   nothing is divided by a small number, and tiny angles keep their relative accuracy. */
PL_LANES_INLINE VR PL_R(pl_quat_log_ratio)(const VR q[4])
{
    VR s2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    VR a = vr_sqrt(s2 + q[3] * q[3]) + vr_abs(q[3]);
    VR d = a + vr_sqrt(a * a + s2);
    VR ratio = vr_splat(8) * PL_R(pl_atan_ratio)(s2 / (d * d)) / d;
    return vr_select(q[3] < vr_splat(0), -ratio, ratio);
}

PL_LANES_INLINE void PL_R(pl_quat_log)(const VR q[4], VR v[3])
{
    VR ratio = PL_R(pl_quat_log_ratio)(q);
    for (int i = 0; i < 3; i++)
        v[i] = q[i] * ratio;
}

/* The unit quaternion that turns by the angle |v| about v. Angles beyond 16000 are taken as 16000:
   a float has no fraction of a turn left to speak of; |v|² must be finite. */
PL_LANES_INLINE void PL_R(pl_quat_exp)(const VR v[3], VR q[4])
{
    VR angle2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    VR angle = vr_sqrt(angle2);
    VR half = vr_min(vr_splat(0.5) * angle, vr_splat(8000));
    /* h = half − k π/2 with π/2 in pieces short enough for exact products; the sum with 1.5 ·
       2^(mantissa bits) rounds to the nearest integer and leaves k mod 4 in the lowest bits. */
    VR magic = vr_splat(PL_R_PICK(0x1.8p23f, 0x1.8p52));
    VR shifted = half * vr_splat(0.63661977236758134308) + magic;
    VR k = shifted - magic;
#if PL_REAL_IS_DOUBLE
    VR h = (half - k * vr_splat(0x1.921fb544p0)) - k * vr_splat(0x1.0b4611a626331p-34);
#else
    VR h = ((half - k * vr_splat(1.5703125f)) - k * vr_splat(4.83751297e-4f)) -
           k * vr_splat(7.54978995e-8f);
#endif
    VM quadrant = (VM)shifted & 3;
    VR u = h * h;
    VR ratio = PL_R(pl_sin_ratio)(u), c = PL_R(pl_cos_small)(u), s = h * ratio;
    VM odd = (quadrant & 1) != 0;
    VR sine = vr_select(odd, c, s), cosine = vr_select(odd, s, c);
    sine = vr_select((quadrant & 2) != 0, -sine, sine);
    cosine = vr_select(((quadrant + 1) & 2) != 0, -cosine, cosine);
    /* In the first piece sin(|v|/2) / |v| needs no division, nor a |v| that did not underflow. */
    VR factor = vr_select(k == vr_splat(0), vr_splat(0.5) * ratio, sine / angle);
    for (int i = 0; i < 3; i++)
        q[i] = v[i] * factor;
    q[3] = cosine;
}

/* The rotation nearest to I + [a]×: about a, by the angle atan |a|. With n = √(1 + |a|²) its
   quaternion is (a, 1 + n) / √(2 n (1 + n)). Exact to first order in a, never more than a right
   angle; |a|² must be finite. */
PL_LANES_INLINE void PL_R(pl_quat_of_spin)(const VR a[3], VR q[4])
{
    VR n = vr_sqrt(vr_splat(1) + (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
    VR w = vr_splat(1) + n;
    VR scale = vr_splat(1) / vr_sqrt((n + n) * w);
    for (int i = 0; i < 3; i++)
        q[i] = a[i] * scale;
    q[3] = w * scale;
}

#endif
