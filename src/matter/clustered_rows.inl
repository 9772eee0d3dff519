/* Rows of four floats, as the kernels of clustered matter keep particles, to lanes and back, at one
   vector width. */
#include "matter/clustered.h"

typedef float v4 __attribute__((vector_size(16)));

#define ALIGNED __attribute__((aligned(64)))

/* Compilers that see that the numbers of rows are wanted again keep all sixteen, where there is no
   room for them. */
#define PL_FORGET(pointer) __asm__("" : "+r"(pointer))

#if PL_LANES_NATIVE
/* Rows at[0], at[4], at[8], at[12]: as many as the width has. */
PL_LANES_INLINE vf load_quarters(const float *rows, const int32_t *at)
{
#if PL_W == 16
    __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + at[0])),
                                      _mm_load_ps(rows + at[4]), 1);
    __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + at[8])),
                                       _mm_load_ps(rows + at[12]), 1);
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
#elif PL_W == 8
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + at[0])),
                                    _mm_load_ps(rows + at[4]), 1);
#else
    return (vf)_mm_load_ps(rows + at[0]);
#endif
}

PL_LANES_INLINE void store_quarters(float *rows, const int32_t *at, vf v)
{
#if PL_W == 16
    _mm_store_ps(rows + at[0], _mm512_castps512_ps128((__m512)v));
    _mm_store_ps(rows + at[4], _mm512_extractf32x4_ps((__m512)v, 1));
    _mm_store_ps(rows + at[8], _mm512_extractf32x4_ps((__m512)v, 2));
    _mm_store_ps(rows + at[12], _mm512_extractf32x4_ps((__m512)v, 3));
#elif PL_W == 8
    _mm_store_ps(rows + at[0], _mm256_castps256_ps128((__m256)v));
    _mm_store_ps(rows + at[4], _mm256_extractf128_ps((__m256)v, 1));
#else
    _mm_store_ps(rows + at[0], (__m128)v);
#endif
}
#endif

/* out[k] = component k of PL_W rows, which start at rows + at[lane]. */
PL_LANES_INLINE void load_rows(const float *rows, const int32_t *at, vf out[4])
{
#if PL_LANES_NATIVE
    for (int j = 0; j < 4; j++)
        out[j] = load_quarters(rows, at + j);
    pl_lanes_transpose4(&out[0], &out[1], &out[2], &out[3]);
#else
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < PL_W; lane++)
            out[k][lane] = rows[at[lane] + k];
#endif
}

/* Columns of three numbers or of four to rows: what is fourth in a row of three is nobody's. */
PL_LANES_INLINE void to_rows(int count, vf v[4])
{
#if PL_LANES_NATIVE
    if (count == 4) {
        pl_lanes_transpose4(&v[0], &v[1], &v[2], &v[3]);
        return;
    }
    PL_MM_F x = (PL_MM_F)v[0], y = (PL_MM_F)v[1], z = (PL_MM_F)v[2];
    PL_MM_F low = PL_MM(unpacklo_ps)(x, y), high = PL_MM(unpackhi_ps)(x, y);
    v[0] = (vf)PL_MM(shuffle_ps)(low, z, 0x04);
    v[1] = (vf)PL_MM(shuffle_ps)(low, z, 0x5E);
    v[2] = (vf)PL_MM(shuffle_ps)(high, z, 0xA4);
    v[3] = (vf)PL_MM(shuffle_ps)(high, z, 0xFE);
#else
    (void)count, (void)v;
#endif
}

/* Adds `count` columns, three or four, to them, lane after lane: rows that come several times get
   all of it, and in the same order at every width. */
PL_LANES_INLINE void add_rows(float *restrict rows, const int32_t *restrict at, int count,
                              const vf *columns)
{
    vf v[4] = {columns[0], columns[1], columns[2], columns[count - 1]};
#if PL_LANES_NATIVE
    float own[4][PL_W] ALIGNED;
    PL_FORGET(at);
    to_rows(count, v);
    for (int j = 0; j < 4; j++)
        pl_store_f(own[j], v[j]);
    for (int lane = 0; lane < PL_W; lane++) {
        float *row = rows + at[lane];
        _mm_store_ps(row, _mm_add_ps(_mm_load_ps(row), _mm_load_ps(own[lane % 4] + lane / 4 * 4)));
    }
#else
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < count; k++)
            rows[at[lane] + k] += v[k][lane];
#endif
}

/* The same where no row comes twice: they are added up as vectors. */
PL_LANES_INLINE void add_different_rows(float *restrict rows, const int32_t *restrict at, int count,
                                        const vf *columns)
{
#if PL_LANES_NATIVE
    vf v[4] = {columns[0], columns[1], columns[2], columns[count - 1]}, sum[4];
    PL_FORGET(at);
    to_rows(count, v);
    for (int j = 0; j < 4; j++)
        sum[j] = load_quarters(rows, at + j) + v[j];
    for (int j = 0; j < 4; j++)
        store_quarters(rows, at + j, sum[j]);
#else
    add_rows(rows, at, count, columns);
#endif
}

/* Sixteen columns to four. */
PL_LANES_INLINE void fold(const float column[PL_COLUMNS], float out[4])
{
    v4 a[4];
    memcpy(a, column, sizeof a);
    a[0] = (a[0] + a[2]) + (a[1] + a[3]);
    memcpy(out, a, sizeof a[0]);
}
