/* Portable SIMD: vectors of PL_W floats (vf), PL_W/2 doubles (vd), and integers of the same shapes
   (vi, vl), by the compilers' vector extensions. A file that includes this is named *_lanes.c and
   is compiled once per width: 4 (SSE2, NEON, WASM), 8 (AVX2), 16 (AVX-512). A vector is never wider
   than the machine's registers.

   Nothing here crosses lanes: what a lane computes depends on that lane alone, so every width gives
   the same bits. A mask is an integer vector whose lanes are 0 or -1, as the comparisons of the
   language give it. Functions end in _f for floats and _d for doubles; lanes_real.inl lets one text
   serve both. */
#ifndef PL_MATH_LANES_H
#define PL_MATH_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#ifndef PL_W
#error "lanes.h belongs into files named *_lanes.c, which are compiled with PL_W = 4, 8 or 16"
#endif

#define PL_WD (PL_W / 2)

/* Functions of such a file carry the width in their name: PL_LANES(pl_fit) is pl_fit_w16 at PL_W =
   16. */
#define PL_LANES_JOIN2(name, width) name##_w##width
#define PL_LANES_JOIN(name, width) PL_LANES_JOIN2(name, width)
#define PL_LANES(name) PL_LANES_JOIN(name, PL_W)

typedef float vf __attribute__((vector_size(PL_W * 4)));
typedef int32_t vi __attribute__((vector_size(PL_W * 4)));
typedef double vd __attribute__((vector_size(PL_WD * 8)));
typedef int64_t vl __attribute__((vector_size(PL_WD * 8)));

/* At the end of whatever is called from outside: code for SSE stumbles over registers whose upper
   halves are not clean (some 200 cycles), and compilers forget to clean up after functions that are
   given vectors. */
#if defined(__AVX__)
#define PL_LANES_LEAVE() __builtin_ia32_vzeroupper()
#else
#define PL_LANES_LEAVE() ((void)0)
#endif

/* Sanitized builds leave it to the compiler what is inlined: with checks around everything,
   everything inlined takes a minute to compile. */
#ifdef PL_LANES_SANITIZED
#define PL_LANES_INLINE static inline __attribute__((unused))
#else
#define PL_LANES_INLINE static inline __attribute__((always_inline))
#endif

/* The intrinsics of one width; the generic text below, which PL_LANES_PORTABLE chooses, defines
   what they return. */
#if defined(PL_LANES_PORTABLE)
#define PL_LANES_NATIVE 0
#elif PL_W == 16 && defined(__AVX512F__) && defined(__AVX512DQ__)
#define PL_LANES_NATIVE 1
#define PL_MM_F __m512
#define PL_MM_D __m512d
#define PL_MM(name) _mm512_##name
#define PL_MOVEMASK_F(m) ((unsigned)_mm512_movepi32_mask((__m512i)(m)))
#define PL_MOVEMASK_D(m) ((unsigned)_mm512_movepi64_mask((__m512i)(m)))
#elif PL_W == 8 && defined(__AVX__)
#define PL_LANES_NATIVE 1
#define PL_MM_F __m256
#define PL_MM_D __m256d
#define PL_MM(name) _mm256_##name
#define PL_MOVEMASK_F(m) ((unsigned)_mm256_movemask_ps((__m256)(m)))
#define PL_MOVEMASK_D(m) ((unsigned)_mm256_movemask_pd((__m256d)(m)))
#elif PL_W == 4 && defined(__SSE2__)
#define PL_LANES_NATIVE 1
#define PL_MM_F __m128
#define PL_MM_D __m128d
#define PL_MM(name) _mm_##name
#define PL_MOVEMASK_F(m) ((unsigned)_mm_movemask_ps((__m128)(m)))
#define PL_MOVEMASK_D(m) ((unsigned)_mm_movemask_pd((__m128d)(m)))
#else
#define PL_LANES_NATIVE 0
#endif

/* ---- One value in all lanes ------------------------------------------------------------------ */

PL_LANES_INLINE vf pl_splat_f(float value)
{
#if PL_LANES_NATIVE
    return (vf)PL_MM(set1_ps)(value);
#else
    vf v = {0};
    for (int i = 0; i < PL_W; i++)
        v[i] = value;
    return v;
#endif
}

PL_LANES_INLINE vd pl_splat_d(double value)
{
#if PL_LANES_NATIVE
    return (vd)PL_MM(set1_pd)(value);
#else
    vd v = {0};
    for (int i = 0; i < PL_WD; i++)
        v[i] = value;
    return v;
#endif
}

PL_LANES_INLINE vi pl_splat_bits_f(int32_t value)
{
    return value - (vi){0};
}

PL_LANES_INLINE vl pl_splat_bits_d(int64_t value)
{
    return value - (vl){0};
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

/* Aligned to the size of a vector, as every block of pl_memory_alloc is. */
PL_LANES_INLINE vf pl_load_f(const float *p)
{
    vf v;
    memcpy(&v, __builtin_assume_aligned(p, sizeof v), sizeof v);
    return v;
}

PL_LANES_INLINE vd pl_load_d(const double *p)
{
    vd v;
    memcpy(&v, __builtin_assume_aligned(p, sizeof v), sizeof v);
    return v;
}

PL_LANES_INLINE void pl_store_f(float *p, vf v)
{
    memcpy(__builtin_assume_aligned(p, sizeof v), &v, sizeof v);
}

PL_LANES_INLINE void pl_store_d(double *p, vd v)
{
    memcpy(__builtin_assume_aligned(p, sizeof v), &v, sizeof v);
}

/* Without alignment. */
PL_LANES_INLINE vf pl_loadu_f(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

PL_LANES_INLINE vd pl_loadu_d(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

PL_LANES_INLINE void pl_storeu_f(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

PL_LANES_INLINE void pl_storeu_d(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

/* ---- Selection, absolute value, order -------------------------------------------------------- */

/* a where the mask is set, else b. The explicit three-input operation saves an instruction or two
   per select. */
PL_LANES_INLINE vf pl_select_f(vi mask, vf a, vf b)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return (vf)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xCA);
#elif PL_W == 8 && PL_LANES_NATIVE
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
#endif
}

PL_LANES_INLINE vd pl_select_d(vl mask, vd a, vd b)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return (vd)_mm512_ternarylogic_epi64((__m512i)mask, (__m512i)a, (__m512i)b, 0xCA);
#elif PL_W == 8 && PL_LANES_NATIVE
    return (vd)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
#else
    return (vd)((mask & (vl)a) | (~mask & (vl)b));
#endif
}

PL_LANES_INLINE vf pl_abs_f(vf a)
{
    return (vf)((vi)a & 0x7fffffff);
}

PL_LANES_INLINE vd pl_abs_d(vd a)
{
    return (vd)((vl)a & INT64_C(0x7fffffffffffffff));
}

/* The magnitude of a with the sign of b. */
PL_LANES_INLINE vf pl_copysign_f(vf a, vf b)
{
    return (vf)(((vi)a & 0x7fffffff) | ((vi)b & INT32_MIN));
}

PL_LANES_INLINE vd pl_copysign_d(vd a, vd b)
{
    return (vd)(((vl)a & INT64_C(0x7fffffffffffffff)) | ((vl)b & INT64_MIN));
}

/* a < b ? a : b and a > b ? a : b: the second argument where they are equal or one is not a
   number. */
PL_LANES_INLINE vf pl_min_f(vf a, vf b)
{
#if PL_LANES_NATIVE
    return (vf)PL_MM(min_ps)((PL_MM_F)a, (PL_MM_F)b);
#else
    return pl_select_f(a < b, a, b);
#endif
}

PL_LANES_INLINE vd pl_min_d(vd a, vd b)
{
#if PL_LANES_NATIVE
    return (vd)PL_MM(min_pd)((PL_MM_D)a, (PL_MM_D)b);
#else
    return pl_select_d(a < b, a, b);
#endif
}

PL_LANES_INLINE vf pl_max_f(vf a, vf b)
{
#if PL_LANES_NATIVE
    return (vf)PL_MM(max_ps)((PL_MM_F)a, (PL_MM_F)b);
#else
    return pl_select_f(a > b, a, b);
#endif
}

PL_LANES_INLINE vd pl_max_d(vd a, vd b)
{
#if PL_LANES_NATIVE
    return (vd)PL_MM(max_pd)((PL_MM_D)a, (PL_MM_D)b);
#else
    return pl_select_d(a > b, a, b);
#endif
}

PL_LANES_INLINE vf pl_sqrt_f(vf a)
{
#if PL_LANES_NATIVE
    return (vf)PL_MM(sqrt_ps)((PL_MM_F)a);
#else
    for (int i = 0; i < PL_W; i++)
        a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}

PL_LANES_INLINE vd pl_sqrt_d(vd a)
{
#if PL_LANES_NATIVE
    return (vd)PL_MM(sqrt_pd)((PL_MM_D)a);
#else
    for (int i = 0; i < PL_WD; i++)
        a[i] = __builtin_sqrt(a[i]);
    return a;
#endif
}

/* ---- Floats as doubles ----------------------------------------------------------------------- */

/* The lower and the upper half of the lanes. In a word of the machine each: compilers make several
   of the general text. */
PL_LANES_INLINE void pl_widen_f(vf a, vd out[2])
{
#if PL_LANES_NATIVE && PL_W == 16
    out[0] = (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)a));
    out[1] = (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)a, 1));
#elif PL_LANES_NATIVE && PL_W == 8
    out[0] = (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)a));
    out[1] = (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)a, 1));
#elif PL_LANES_NATIVE
    out[0] = (vd)_mm_cvtps_pd((__m128)a);
    out[1] = (vd)_mm_cvtps_pd(_mm_movehl_ps((__m128)a, (__m128)a));
#else
    for (int i = 0; i < PL_WD; i++) {
        out[0][i] = (double)a[i];
        out[1][i] = (double)a[PL_WD + i];
    }
#endif
}

/* ---- Questions about all lanes --------------------------------------------------------------- */

/* Bit k: lane k of a mask. */
PL_LANES_INLINE uint32_t pl_bits_f(vi mask)
{
#if PL_LANES_NATIVE
    return PL_MOVEMASK_F(mask);
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_W; i++)
        bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

/* Only for leaving early: a lane's result may never depend on the answer. */
PL_LANES_INLINE bool pl_any_f(vi mask)
{
#if PL_LANES_NATIVE
    return PL_MOVEMASK_F(mask) != 0;
#else
    int32_t bits = 0;
    for (int i = 0; i < PL_W; i++)
        bits |= mask[i];
    return bits != 0;
#endif
}

PL_LANES_INLINE bool pl_any_d(vl mask)
{
#if PL_LANES_NATIVE
    return PL_MOVEMASK_D(mask) != 0;
#else
    int64_t bits = 0;
    for (int i = 0; i < PL_WD; i++)
        bits |= mask[i];
    return bits != 0;
#endif
}

PL_LANES_INLINE bool pl_all_f(vi mask)
{
    return !pl_any_f(~mask);
}

PL_LANES_INLINE bool pl_all_d(vl mask)
{
    return !pl_any_d(~mask);
}

/* The greatest lane, halves against each other: a is kept where a > b, else b, as by pl_max_f. A
   loop over memory would do the same, but compilers leave it as it is. */
PL_LANES_INLINE float pl_greatest_f(vf v)
{
#if PL_LANES_NATIVE
#if PL_W == 16
    __m256 eight =
        _mm256_max_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
#elif PL_W == 8
    __m256 eight = (__m256)v;
#endif
#if PL_W >= 8
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
#else
    __m128 four = (__m128)v;
#endif
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ps(two, _mm_shuffle_ps(two, two, 1)));
#else
    for (int half = PL_W / 2; half; half /= 2)
        for (int lane = 0; lane < half; lane++)
            v[lane] = v[lane] > v[lane + half] ? v[lane] : v[lane + half];
    return v[0];
#endif
}

PL_LANES_INLINE float pl_least_f(vf v)
{
    return -pl_greatest_f(-v);
}

/* ---- Rows of bodies to lanes and back -------------------------------------------------------- */

/* Four vectors whose 128-bit quarters each hold a 4 × 4 matrix by rows, transposed quarter by
   quarter. With rows j, j + 4, j + 8, j + 12 in vector j, the results are four columns in lane
   order, and the other way round. */
#if PL_LANES_NATIVE
PL_LANES_INLINE void pl_lanes_transpose4(vf *a, vf *b, vf *c, vf *d)
{
    PL_MM_F ab0 = PL_MM(unpacklo_ps)((PL_MM_F)*a, (PL_MM_F)*b),
            ab1 = PL_MM(unpackhi_ps)((PL_MM_F)*a, (PL_MM_F)*b);
    PL_MM_F cd0 = PL_MM(unpacklo_ps)((PL_MM_F)*c, (PL_MM_F)*d),
            cd1 = PL_MM(unpackhi_ps)((PL_MM_F)*c, (PL_MM_F)*d);
    *a = (vf)PL_MM(shuffle_ps)(ab0, cd0, 0x44);
    *b = (vf)PL_MM(shuffle_ps)(ab0, cd0, 0xEE);
    *c = (vf)PL_MM(shuffle_ps)(ab1, cd1, 0x44);
    *d = (vf)PL_MM(shuffle_ps)(ab1, cd1, 0xEE);
}

/* Four floats each of rows 0, 4, 8, 12 (as many as the width has), from element k on. */
PL_LANES_INLINE vf pl_lanes_load_quarters(const float *const *rows, int k)
{
#if PL_W == 16
    __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + k)),
                                      _mm_loadu_ps(rows[4] + k), 1);
    __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[8] + k)),
                                       _mm_loadu_ps(rows[12] + k), 1);
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
#elif PL_W == 8
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + k)),
                                    _mm_loadu_ps(rows[4] + k), 1);
#else
    return (vf)_mm_loadu_ps(rows[0] + k);
#endif
}

PL_LANES_INLINE void pl_lanes_store_quarters(float *const *rows, int k, vf v)
{
#if PL_W == 16
    __m256 high = _mm512_extractf32x8_ps((__m512)v, 1);
    _mm_storeu_ps(rows[0] + k, _mm512_castps512_ps128((__m512)v));
    _mm_storeu_ps(rows[4] + k, _mm256_extractf128_ps(_mm512_castps512_ps256((__m512)v), 1));
    _mm_storeu_ps(rows[8] + k, _mm256_castps256_ps128(high));
    _mm_storeu_ps(rows[12] + k, _mm256_extractf128_ps(high, 1));
#elif PL_W == 8
    _mm_storeu_ps(rows[0] + k, _mm256_castps256_ps128((__m256)v));
    _mm_storeu_ps(rows[4] + k, _mm256_extractf128_ps((__m256)v, 1));
#else
    _mm_storeu_ps(rows[0] + k, (__m128)v);
#endif
}
#endif

/* out[k * PL_W + lane] = rows[lane][k] for 0 <= k < count. Reads nothing outside the rows; the last
   block of four overlaps the one before it when count is not a multiple of 4. */
static inline void pl_lanes_gather(const float *const rows[PL_W], int count, float *out)
{
    int k = 0;
#if PL_LANES_NATIVE
#pragma GCC unroll 4
    for (int next = 0; count >= 4 && next < count; next += 4) {
        k = next + 4 <= count ? next : count - 4;
        vf a = pl_lanes_load_quarters(rows, k), b = pl_lanes_load_quarters(rows + 1, k);
        vf c = pl_lanes_load_quarters(rows + 2, k), d = pl_lanes_load_quarters(rows + 3, k);
        pl_lanes_transpose4(&a, &b, &c, &d);
        pl_storeu_f(out + k * PL_W, a);
        pl_storeu_f(out + (k + 1) * PL_W, b);
        pl_storeu_f(out + (k + 2) * PL_W, c);
        pl_storeu_f(out + (k + 3) * PL_W, d);
    }
    if (count >= 4)
        k = count;
#endif
    for (; k < count; k++)
        for (int lane = 0; lane < PL_W; lane++)
            out[k * PL_W + lane] = rows[lane][k];
}

/* rows[lane][k] = in[k * PL_W + lane] for 0 <= k < count. Rows may not overlap: let absent lanes
   point to a spare row each. */
static inline void pl_lanes_scatter(const float *in, int count, float *const rows[PL_W])
{
    int k = 0;
#if PL_LANES_NATIVE
#pragma GCC unroll 4
    for (int next = 0; count >= 4 && next < count; next += 4) {
        k = next + 4 <= count ? next : count - 4;
        vf a = pl_loadu_f(in + k * PL_W), b = pl_loadu_f(in + (k + 1) * PL_W);
        vf c = pl_loadu_f(in + (k + 2) * PL_W), d = pl_loadu_f(in + (k + 3) * PL_W);
        pl_lanes_transpose4(&a, &b, &c, &d);
        pl_lanes_store_quarters(rows, k, a);
        pl_lanes_store_quarters(rows + 1, k, b);
        pl_lanes_store_quarters(rows + 2, k, c);
        pl_lanes_store_quarters(rows + 3, k, d);
    }
    if (count >= 4)
        k = count;
#endif
    for (; k < count; k++)
        for (int lane = 0; lane < PL_W; lane++)
            rows[lane][k] = in[k * PL_W + lane];
}

/* PL_W rows of four numbers that stand one after the other as four columns. Which row is in which
   lane only pl_lanes_store_threes and pl_lanes_store_fours know: it costs less than an order
   would. */
PL_LANES_INLINE void pl_lanes_load_fours(const float *rows, vf columns[4])
{
#if PL_LANES_NATIVE
    for (int k = 0; k < 4; k++)
        columns[k] = pl_loadu_f(rows + k * PL_W);
    pl_lanes_transpose4(columns, columns + 1, columns + 2, columns + 3);
#else
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < 4; k++)
            columns[k][lane] = rows[4 * lane + k];
#endif
}

/* And back: what transposes them undoes it. */
PL_LANES_INLINE void pl_lanes_store_fours(float *rows, const vf columns[4])
{
#if PL_LANES_NATIVE
    vf row[4] = {columns[0], columns[1], columns[2], columns[3]};
    pl_lanes_transpose4(row, row + 1, row + 2, row + 3);
    for (int k = 0; k < 4; k++)
        pl_storeu_f(rows + k * PL_W, row[k]);
#else
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < 4; k++)
            rows[4 * lane + k] = columns[k][lane];
#endif
}

#if PL_LANES_NATIVE
PL_LANES_INLINE __m128 pl_lanes_quarter(vf v, int which)
{
#if PL_W == 16
    return which == 0   ? _mm512_castps512_ps128((__m512)v)
           : which == 1 ? _mm512_extractf32x4_ps((__m512)v, 1)
           : which == 2 ? _mm512_extractf32x4_ps((__m512)v, 2)
                        : _mm512_extractf32x4_ps((__m512)v, 3);
#elif PL_W == 8
    return which ? _mm256_extractf128_ps((__m256)v, 1) : _mm256_castps256_ps128((__m256)v);
#else
    (void)which;
    return (__m128)v;
#endif
}
#endif

/* The first three columns of them as rows of three. */
PL_LANES_INLINE void pl_lanes_store_threes(float *rows, const vf columns[3])
{
#if PL_LANES_NATIVE
    vf row[4] = {columns[0], columns[1], columns[2], columns[2]};
    pl_lanes_transpose4(row, row + 1, row + 2, row + 3);
#pragma GCC unroll 16
    for (int lane = 0; lane < PL_W; lane++) {
        __m128 one = pl_lanes_quarter(row[lane / (PL_W / 4)], lane % (PL_W / 4));
        if (lane < PL_W - 1) /* with a fourth, which the next one overwrites */
            _mm_storeu_ps(rows + 3 * lane, one);
        else
            memcpy(rows + 3 * lane, &one, 12);
    }
#else
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < 3; k++)
            rows[3 * lane + k] = columns[k][lane];
#endif
}

/* The same transposition for half the lanes, as doubles come. */
#if PL_LANES_NATIVE && PL_W >= 8
#if PL_W == 16
#define PL_HALF_F __m256
#define PL_HALF(name) _mm256_##name
#else
#define PL_HALF_F __m128
#define PL_HALF(name) _mm_##name
#endif

PL_LANES_INLINE PL_HALF_F pl_lanes_load_half(const float *const *rows, int k)
{
#if PL_W == 16
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + k)),
                                _mm_loadu_ps(rows[4] + k), 1);
#else
    return _mm_loadu_ps(rows[0] + k);
#endif
}

PL_LANES_INLINE void pl_lanes_store_half(float *const *rows, int k, PL_HALF_F v)
{
#if PL_W == 16
    _mm_storeu_ps(rows[0] + k, _mm256_castps256_ps128(v));
    _mm_storeu_ps(rows[4] + k, _mm256_extractf128_ps(v, 1));
#else
    _mm_storeu_ps(rows[0] + k, v);
#endif
}

PL_LANES_INLINE void pl_lanes_transpose_half(PL_HALF_F a[4])
{
    PL_HALF_F ab0 = PL_HALF(unpacklo_ps)(a[0], a[1]), ab1 = PL_HALF(unpackhi_ps)(a[0], a[1]);
    PL_HALF_F cd0 = PL_HALF(unpacklo_ps)(a[2], a[3]), cd1 = PL_HALF(unpackhi_ps)(a[2], a[3]);
    a[0] = PL_HALF(shuffle_ps)(ab0, cd0, 0x44);
    a[1] = PL_HALF(shuffle_ps)(ab0, cd0, 0xEE);
    a[2] = PL_HALF(shuffle_ps)(ab1, cd1, 0x44);
    a[3] = PL_HALF(shuffle_ps)(ab1, cd1, 0xEE);
}
#endif

/* The same between rows of floats and lanes of doubles: out[k * PL_WD + lane] = rows[lane][k]. */
static inline void pl_lanes_gather_d(const float *const rows[PL_WD], int count, double *out)
{
    int k = 0;
#if PL_LANES_NATIVE && PL_W >= 8
    for (int next = 0; count >= 4 && next < count; next += 4) {
        PL_HALF_F a[4];
        k = next + 4 <= count ? next : count - 4;
        for (int i = 0; i < 4; i++)
            a[i] = pl_lanes_load_half(rows + i, k);
        pl_lanes_transpose_half(a);
        for (int i = 0; i < 4; i++)
            pl_storeu_d(out + (k + i) * PL_WD, (vd)PL_MM(cvtps_pd)(a[i]));
    }
    if (count >= 4)
        k = count;
#endif
    for (; k < count; k++)
        for (int lane = 0; lane < PL_WD; lane++)
            out[k * PL_WD + lane] = (double)rows[lane][k];
}

/* rows[lane][k] = in[k * PL_WD + lane], rounded to float. */
static inline void pl_lanes_scatter_d(const double *in, int count, float *const rows[PL_WD])
{
    int k = 0;
#if PL_LANES_NATIVE && PL_W >= 8
    for (int next = 0; count >= 4 && next < count; next += 4) {
        PL_HALF_F a[4];
        k = next + 4 <= count ? next : count - 4;
        for (int i = 0; i < 4; i++)
            a[i] = PL_MM(cvtpd_ps)((PL_MM_D)pl_loadu_d(in + (k + i) * PL_WD));
        pl_lanes_transpose_half(a);
        for (int i = 0; i < 4; i++)
            pl_lanes_store_half(rows + i, k, a[i]);
    }
    if (count >= 4)
        k = count;
#endif
    for (; k < count; k++)
        for (int lane = 0; lane < PL_WD; lane++)
            rows[lane][k] = (float)in[k * PL_WD + lane];
}

#endif
