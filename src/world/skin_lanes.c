/* Skinning after Eq. 2, v = Σ_j w_j (R_j (v̄ − x̄_j) + x_j), as v = (Σ_j w_j [R_j | x_j − R_j
   x̄_j]) (v̄, 1): the matrices of a vertex are blended first, a whole one per vector where vectors
   are wide enough, and the blend then moves the vertex and turns its normal and tangent (Σ_j w_j
   R_j n̄, made unit). Four vertices at a time are multiplied out, so that the sums along the rows
   become sums of whole vectors after a transposition.

   Quarters are groups of four lanes. Three quarters, in one to three vectors ("rows"), hold x, y
   and z of the four vertices; a fourth, where there is one, holds nothing of use. */
#include "world/skin_lanes.h"

#include "math/lanes.h"
#include "shape/buffer.h"

typedef float quarter __attribute__((vector_size(16)));
typedef int32_t quarter_mask __attribute__((vector_size(16)));

enum { BATCH = 4, VECTORS = PL_W == 4 ? 3 : PL_POSE / PL_W, MOST = 8 };

typedef struct rows {
    vf v[VECTORS];
} rows;

/* ---- Across lanes ---------------------------------------------------------------------------- */

/* In every quarter: three floats times the row there, and behind them the row's fourth, or 0. Reads
   four floats at p. */
PL_LANES_INLINE vf times_row(vf row, const float *p, bool with_fourth)
{
#if PL_LANES_NATIVE && PL_W == 16
    __m512 point = _mm512_broadcast_f32x4(_mm_loadu_ps(p));
    if (with_fourth)
        return (vf)_mm512_mask_mul_ps((__m512)row, 0x7777, (__m512)row, point);
    return (vf)_mm512_maskz_mul_ps(0x7777, (__m512)row, point);
#elif PL_LANES_NATIVE && PL_W == 8
    __m256 product =
        _mm256_mul_ps((__m256)row, _mm256_broadcast_ps((const __m128 *)(const void *)p));
    return (vf)_mm256_blend_ps(product, with_fourth ? (__m256)row : _mm256_setzero_ps(), 0x88);
#else
    vf point = {0}, none = {0};
    vi first_three = {0};
    for (int i = 0; i < PL_W; i++) {
        point[i] = i % 4 == 3 ? 0 : p[i % 4];
        first_three[i] = i % 4 == 3 ? 0 : -1;
    }
    return pl_select_f(first_three, row * point, with_fourth ? row : none);
#endif
}

PL_LANES_INLINE vf spread_quarter(quarter q)
{
#if PL_LANES_NATIVE && PL_W == 16
    return (vf)_mm512_broadcast_f32x4((__m128)q);
#elif PL_LANES_NATIVE && PL_W == 8
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)q), (__m128)q, 1);
#else
    vf v = {0};
    for (int i = 0; i < PL_W; i++)
        v[i] = q[i % 4];
    return v;
#endif
}

/* x (0), y (1) or z (2) of the four vertices. */
PL_LANES_INLINE quarter quarter_of(const rows *r, int row)
{
#if PL_LANES_NATIVE && PL_W == 16
    __m512 v = (__m512)r->v[0];
    return (quarter)(row == 0   ? _mm512_castps512_ps128(v)
                     : row == 1 ? _mm512_extractf32x4_ps(v, 1)
                                : _mm512_extractf32x4_ps(v, 2));
#elif PL_LANES_NATIVE && PL_W == 8
    __m256 v = (__m256)r->v[row / 2];
    return (quarter)(row % 2 ? _mm256_extractf128_ps(v, 1) : _mm256_castps256_ps128(v));
#else
    quarter q = {0};
    for (int i = 0; i < 4; i++)
        q[i] = r->v[row * 4 / PL_W][row * 4 % PL_W + i];
    return q;
#endif
}

/* Each quarter of the result holds the sums over that quarter of the four vectors: of each, (a + c)
   + (b + d). */
PL_LANES_INLINE vf sum_quarters(const vf v[BATCH])
{
#if PL_LANES_NATIVE
    PL_MM_F u0 = PL_MM(unpacklo_ps)((PL_MM_F)v[0], (PL_MM_F)v[1]);
    PL_MM_F u1 = PL_MM(unpackhi_ps)((PL_MM_F)v[0], (PL_MM_F)v[1]);
    PL_MM_F w0 = PL_MM(unpacklo_ps)((PL_MM_F)v[2], (PL_MM_F)v[3]);
    PL_MM_F w1 = PL_MM(unpackhi_ps)((PL_MM_F)v[2], (PL_MM_F)v[3]);
    PL_MM_F u = PL_MM(add_ps)(u0, u1), w = PL_MM(add_ps)(w0, w1);
    return (vf)PL_MM(add_ps)(PL_MM(shuffle_ps)(u, w, 0x44), PL_MM(shuffle_ps)(u, w, 0xEE));
#else
    vf sum = {0};
    for (int i = 0; i < PL_W; i++) {
        const vf *of = v + i % 4;
        int first = i / 4 * 4;
        sum[i] = ((*of)[first] + (*of)[first + 2]) + ((*of)[first + 1] + (*of)[first + 3]);
    }
    return sum;
#endif
}

PL_LANES_INLINE void widen(vf v, vd *low, vd *high)
{
#if PL_LANES_NATIVE && PL_W == 16
    *low = (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v));
    *high = (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)v, 1));
#elif PL_LANES_NATIVE && PL_W == 8
    *low = (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)v));
    *high = (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)v, 1));
#elif PL_LANES_NATIVE
    *low = (vd)_mm_cvtps_pd((__m128)v);
    *high = (vd)_mm_cvtps_pd(_mm_movehl_ps((__m128)v, (__m128)v));
#else
    for (int i = 0; i < PL_WD; i++)
        (*low)[i] = (double)v[i], (*high)[i] = (double)v[PL_WD + i];
#endif
}

PL_LANES_INLINE vf narrow(vd low, vd high)
{
#if PL_LANES_NATIVE && PL_W == 16
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low)),
                                  _mm512_cvtpd_ps((__m512d)high), 1);
#elif PL_LANES_NATIVE && PL_W == 8
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)low)),
                                    _mm256_cvtpd_ps((__m256d)high), 1);
#elif PL_LANES_NATIVE
    return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)low), _mm_cvtpd_ps((__m128d)high));
#else
    vf v = {0};
    for (int i = 0; i < PL_WD; i++)
        v[i] = (float)low[i], v[PL_WD + i] = (float)high[i];
    return v;
#endif
}

/* ---- Writing --------------------------------------------------------------------------------- */

PL_LANES_INLINE bool is_packed_float(pl_buffer out, int scalars)
{
    return out.type == PL_F32 && (!out.stride || out.stride == (size_t)scalars * sizeof(float));
}

/* A batch of vectors of three, and a fourth where asked for, one behind the other. */
PL_LANES_INLINE void write_packed(float *to, const rows *r, quarter fourth, int scalars)
{
#if PL_LANES_NATIVE && PL_W == 16
    const __m512i three = _mm512_setr_epi32(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 0, 0, 0, 0);
    const __m512i four = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512 v = (__m512)r->v[0];
    if (scalars == 3)
        _mm512_mask_storeu_ps(to, 0x0FFF, _mm512_permutexvar_ps(three, v));
    else
        _mm512_storeu_ps(to, _mm512_permutexvar_ps(four, _mm512_insertf32x4(v, (__m128)fourth, 3)));
#else
    quarter x = quarter_of(r, 0), y = quarter_of(r, 1), z = quarter_of(r, 2);
#if PL_LANES_NATIVE
    __m128 a = (__m128)x, b = (__m128)y, c = (__m128)z, d = (__m128)fourth;
    _MM_TRANSPOSE4_PS(a, b, c, d);
    /* Each store overwrites what the one before wrote too much; the last writes nothing too
       much. */
    _mm_storeu_ps(to, a), _mm_storeu_ps(to + scalars, b), _mm_storeu_ps(to + 2 * scalars, c);
    if (scalars == 4) {
        _mm_storeu_ps(to + 12, d);
    } else {
        _mm_storel_pi((__m64 *)(void *)(to + 9), d);
        float last = _mm_cvtss_f32(_mm_movehl_ps(d, d)); /* through bytes: it need not be aligned */
        memcpy(to + 11, &last, sizeof last);
    }
#else
    for (int i = 0; i < BATCH; i++) {
        float element[4] = {x[i], y[i], z[i], fourth[i]};
        memcpy(to + scalars * i, element, (size_t)scalars * sizeof *element);
    }
#endif
#endif
}

/* Through bytes: nothing need be aligned. */
static void write_strided(pl_buffer out, size_t first, const double *value, int scalars)
{
    for (size_t i = 0; i < BATCH; i++) {
        double element[4] = {value[i], value[4 + i], value[8 + i], value[12 + i]};
        pl_buffer_set(out, first + i, scalars, element);
    }
}

PL_LANES_INLINE void write_floats(pl_buffer out, size_t first, const rows *r, quarter fourth,
                                  int scalars)
{
    if (is_packed_float(out, scalars)) {
        write_packed((float *)out.data + (size_t)scalars * first, r, fourth, scalars);
        return;
    }
    double value[16];
    for (int i = 0; i < 12; i++)
        value[i] = (double)quarter_of(r, i / 4)[i % 4];
    for (int i = 0; i < 4; i++)
        value[12 + i] = (double)fourth[i];
    write_strided(out, first, value, scalars);
}

/* The sum with the origin is rounded once, in double. */
PL_LANES_INLINE void write_positions(const pl_skin_span *s, size_t first, const double *origin,
                                     rows r)
{
    double value[16] __attribute__((aligned(64)));
    bool floats = is_packed_float(s->positions_out, 3);
    for (int p = 0; p < VECTORS; p++) {
        vd low = {0}, high = {0};
        widen(r.v[p], &low, &high);
        low += pl_load_d(origin + p * PL_W);
        high += pl_load_d(origin + p * PL_W + PL_WD);
        if (floats) {
            r.v[p] = narrow(low, high);
        } else {
            pl_store_d(value + p * PL_W, low);
            pl_store_d(value + p * PL_W + PL_WD, high);
        }
    }
    if (floats)
        write_packed((float *)s->positions_out.data + 3 * first, &r, (quarter){0}, 3);
    else
        write_strided(s->positions_out, first, value, 3);
}

/* ---- Computing ------------------------------------------------------------------------------- */

PL_LANES_INLINE rows scaled_pose(const pl_skin_span *s, int32_t particle, float weight)
{
    const float *pose = s->poses + (ptrdiff_t)particle * PL_POSE;
    rows out;
    for (int p = 0; p < VECTORS; p++)
        out.v[p] = pl_splat_f(weight) * pl_load_f(pose + p * PL_W);
    return out;
}

PL_LANES_INLINE rows blend(const pl_skin_span *s, size_t vertex, int k)
{
    const int32_t *influence = s->influences + vertex * (size_t)k;
    const float *weight = s->weights + vertex * (size_t)k;
    rows sum = scaled_pose(s, influence[0], weight[0]);
    for (int j = 1; j < k; j++) {
        rows next = scaled_pose(s, influence[j], weight[j]);
        for (int p = 0; p < VECTORS; p++)
            sum.v[p] += next.v[p];
    }
    return sum;
}

/* Each blend times (its vector, 1) or, for directions, (its vector, 0). */
PL_LANES_INLINE rows multiply(const rows blends[BATCH], const float *vectors, int stride,
                              bool is_point)
{
    rows out;
    for (int p = 0; p < VECTORS; p++) {
        vf product[BATCH];
        for (int i = 0; i < BATCH; i++)
            product[i] = times_row(blends[i].v[p], vectors + stride * i, is_point);
        out.v[p] = sum_quarters(product);
    }
    return out;
}

PL_LANES_INLINE quarter root(quarter a)
{
#if PL_LANES_NATIVE
    return (quarter)_mm_sqrt_ps((__m128)a);
#else
    for (int i = 0; i < 4; i++)
        a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}

/* Where rotations cancel each other there is no direction left, and one of the axes has to do. */
PL_LANES_INLINE rows make_unit(rows r, int axis)
{
    quarter x = quarter_of(&r, 0), y = quarter_of(&r, 1), z = quarter_of(&r, 2);
    quarter length2 = (x * x + y * y) + z * z;
    quarter_mask usable = (length2 > 1e-30f) & (length2 < 1e30f);
    vf inverse = spread_quarter(1.0f / root(length2)), is_usable = spread_quarter((quarter)usable);
    for (int p = 0; p < VECTORS; p++) {
        vf instead = {0};
        for (int i = 0; i < PL_W; i++)
            instead[i] = (p * PL_W + i) / 4 == axis ? 1 : 0;
        r.v[p] = pl_select_f((vi)is_usable, r.v[p] * inverse, instead);
    }
    return r;
}

PL_LANES_INLINE void skin_batch(const pl_skin_span *s, size_t first, int k, const double *origin)
{
    rows blends[BATCH];
    for (int i = 0; i < BATCH; i++)
        blends[i] = blend(s, first + (size_t)i, k);
    if (s->positions_out.data)
        write_positions(s, first, origin, multiply(blends, s->vertices + 3 * first, 3, true));
    if (s->normals_out.data) {
        rows normals = make_unit(multiply(blends, s->normals + 3 * first, 3, false), 1);
        write_floats(s->normals_out, first, &normals, (quarter){0}, 3);
    }
    if (s->tangents_out.data) {
        const float *tangents = s->tangents + 4 * first;
        rows turned = make_unit(multiply(blends, tangents, 4, false), 0);
        quarter hands = {tangents[3], tangents[7], tangents[11], tangents[15]};
        write_floats(s->tangents_out, first, &turned, hands, 4);
    }
}

/* ---- Spans ----------------------------------------------------------------------------------- */

/* The last vertices of a span, one to four: repeated to a full batch, with room to read beyond, and
   written aside. */
typedef struct tail {
    int32_t influences[BATCH * MOST];
    float weights[BATCH * MOST];
    float vertices[BATCH * 3 + 1], normals[BATCH * 3 + 1], tangents[BATCH * 4];
    double positions_out[BATCH * 3], normals_out[BATCH * 3], tangents_out[BATCH * 4];
} tail;

static pl_skin_span fill_tail(const pl_skin_span *s, size_t first, tail *t)
{
    size_t k = (size_t)s->influence_count;
    for (size_t i = 0; i < BATCH; i++) {
        size_t v = first + i < (size_t)s->count ? first + i : (size_t)s->count - 1;
        memcpy(t->influences + i * k, s->influences + v * k, k * sizeof *t->influences);
        memcpy(t->weights + i * k, s->weights + v * k, k * sizeof *t->weights);
        memcpy(t->vertices + 3 * i, s->vertices + 3 * v, 3 * sizeof *t->vertices);
        memcpy(t->normals + 3 * i, s->normals + 3 * v, 3 * sizeof *t->normals);
        if (s->tangents_out.data)
            memcpy(t->tangents + 4 * i, s->tangents + 4 * v, 4 * sizeof *t->tangents);
    }
    pl_skin_span own = *s;
    own.influences = t->influences, own.weights = t->weights;
    own.vertices = t->vertices, own.normals = t->normals, own.tangents = t->tangents;
    own.positions_out = (pl_buffer){s->positions_out.data ? t->positions_out : NULL, 0, PL_F64};
    own.normals_out = (pl_buffer){s->normals_out.data ? t->normals_out : NULL, 0, PL_F64};
    own.tangents_out = (pl_buffer){s->tangents_out.data ? t->tangents_out : NULL, 0, PL_F64};
    return own;
}

static void write_tail(const pl_skin_span *s, size_t first, const tail *t)
{
    for (size_t i = 0; first + i < (size_t)s->count; i++) {
        if (s->positions_out.data)
            pl_buffer_set(s->positions_out, first + i, 3, t->positions_out + 3 * i);
        if (s->normals_out.data)
            pl_buffer_set(s->normals_out, first + i, 3, t->normals_out + 3 * i);
        if (s->tangents_out.data)
            pl_buffer_set(s->tangents_out, first + i, 4, t->tangents_out + 4 * i);
    }
}

static void skin_tail(const pl_skin_span *s, size_t first, const double *origin)
{
    tail t = {0};
    pl_skin_span own = fill_tail(s, first, &t);
    skin_batch(&own, 0, s->influence_count, origin);
    write_tail(s, first, &t);
}

PL_LANES_INLINE void skin_vertices(const pl_skin_span *s, int k)
{
    double origin[16] __attribute__((aligned(64))) = {0};
    for (int i = 0; i < 12; i++)
        origin[i] = s->origin[i / 4];
    size_t first = 0;
    for (; first + BATCH < (size_t)s->count; first += BATCH)
        skin_batch(s, first, k, origin);
    if (first < (size_t)s->count)
        skin_tail(s, first, origin);
}

pl_skin_function PL_LANES(pl_skin_vertices);
void PL_LANES(pl_skin_vertices)(const pl_skin_span *span)
{
    if (span->influence_count == 4)
        skin_vertices(span, 4);
    else
        skin_vertices(span, span->influence_count);
    PL_LANES_LEAVE();
}
