/* Tetrahedral matter at one vector width: local steps with elements in the lanes, right-hand sides,
   and the vector passes of the quasi-Newton method.

   A block of elements first copies the rows of its nodes together, so that sixteen loads and a
   transposition bring a corner of a group into lanes from the nearest cache, and adds its forces up
   in rows of its own; rows of nodes then add up the blocks. Whatever is added to one row is added
   in one order: corner by corner, lanes 0 4 8 12, 1 5 9 13, … of a group. */
#include "matter/tetrahedral_lanes.h"

#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"
#include "math/svd.inl"

typedef float v4 __attribute__((vector_size(16)));

#define ALIGNED __attribute__((aligned(64)))

PL_LANES_INLINE v4 load4(const float *p)
{
    v4 v;
    memcpy(&v, __builtin_assume_aligned(p, 16), sizeof v);
    return v;
}

PL_LANES_INLINE void store4(float *p, v4 v)
{
    memcpy(__builtin_assume_aligned(p, 16), &v, sizeof v);
}

/* ---- Rows to lanes and back ------------------------------------------------------------------ */

/* Rows at offsets of 16 or 32 bits: one text for both. */
#define LOAD_ROWS(name, offset)                                                                    \
    PL_LANES_INLINE void name(const float *rows, const offset *at, vf out[4])                      \
    {                                                                                              \
        for (int j = 0; j < 4; j++) {                                                              \
            float quarters[PL_W] ALIGNED;                                                          \
            for (int k = 0; k < PL_W / 4; k++)                                                     \
                store4(quarters + 4 * k, load4(rows + at[j + 4 * k]));                             \
            out[j] = pl_load_f(quarters);                                                          \
        }                                                                                          \
        transpose(out);                                                                            \
    }

PL_LANES_INLINE void transpose(vf a[4])
{
#if PL_LANES_NATIVE
    pl_lanes_transpose4(&a[0], &a[1], &a[2], &a[3]);
#else
    vf b[4] = {a[0], a[1], a[2], a[3]};
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < 4; k++)
            a[k][lane] = b[lane % 4][lane / 4 * 4 + k];
#endif
}

#if PL_LANES_NATIVE && PL_W == 16
#undef LOAD_ROWS
#define LOAD_ROWS(name, offset)                                                                    \
    PL_LANES_INLINE void name(const float *rows, const offset *at, vf out[4])                      \
    {                                                                                              \
        for (int j = 0; j < 4; j++) {                                                              \
            __m512 v = _mm512_castps128_ps512(_mm_load_ps(rows + at[j]));                          \
            v = _mm512_insertf32x4(v, _mm_load_ps(rows + at[j + 4]), 1);                           \
            v = _mm512_insertf32x4(v, _mm_load_ps(rows + at[j + 8]), 2);                           \
            out[j] = (vf)_mm512_insertf32x4(v, _mm_load_ps(rows + at[j + 12]), 3);                 \
        }                                                                                          \
        transpose(out);                                                                            \
    }
#elif PL_LANES_NATIVE && PL_W == 8
#undef LOAD_ROWS
#define LOAD_ROWS(name, offset)                                                                    \
    PL_LANES_INLINE void name(const float *rows, const offset *at, vf out[4])                      \
    {                                                                                              \
        for (int j = 0; j < 4; j++)                                                                \
            out[j] = (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + at[j])),   \
                                              _mm_load_ps(rows + at[j + 4]), 1);                   \
        transpose(out);                                                                            \
    }
#endif

LOAD_ROWS(load_rows, uint16_t)
LOAD_ROWS(load_far_rows, int32_t)

/* Forces of a group of sixteen, [corner][component][lane], to the rows of their nodes. */
PL_LANES_INLINE void add_group(float *rows, const uint16_t *corner, const float *force)
{
    for (int a = 0; a < 4; a++) {
        const float *f = force + 3 * PL_TET_LANES * a;
        const uint16_t *at = corner + PL_TET_LANES * a;
        v4 out[PL_TET_LANES];
        for (int first = 0; first < PL_TET_LANES; first += PL_W) {
            vf c[4] = {pl_load_f(f + first), pl_load_f(f + PL_TET_LANES + first),
                       pl_load_f(f + 2 * PL_TET_LANES + first), pl_splat_f(0)};
            transpose(c);
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < PL_W / 4; k++)
                    memcpy(&out[first + 4 * k + j], (const char *)&c[j] + 16 * k, 16);
        }
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                float *row = rows + at[4 * k + j];
                store4(row, load4(row) + out[4 * k + j]);
            }
    }
}

/* Sixteen columns to one number, in one order. */
PL_LANES_INLINE double sum16(const float column[PL_TET_LANES])
{
    double sum = 0;
    for (int k = 0; k < PL_TET_LANES; k++)
        sum += (double)column[k];
    return sum;
}

/* ---- One element ----------------------------------------------------------------------------- */

/* H = F − I from the corners' displacements: zero, bit by bit, where all are equal. */
PL_LANES_INLINE void displacement_gradient(vf x[4][4], const vf g[9], vf h[9])
{
    for (int i = 0; i < 3; i++) {
        vf e0 = x[0][i] - x[3][i], e1 = x[1][i] - x[3][i], e2 = x[2][i] - x[3][i];
        for (int j = 0; j < 3; j++)
            h[3 * i + j] = e0 * g[j] + e1 * g[3 + j] + e2 * g[6 + j];
    }
}

PL_LANES_INLINE void with_identity(const vf h[9], vf f[9])
{
    for (int k = 0; k < 9; k++)
        f[k] = k % 4 == 0 ? h[k] + pl_splat_f(1) : h[k];
}

/* R − I of a unit quaternion: small rotations keep their digits. */
PL_LANES_INLINE void turned(const vf q[4], vf r[9])
{
    vf x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    vf xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2;
    vf xy = q[0] * y2, xz = q[0] * z2, yz = q[1] * z2;
    vf xw = q[3] * x2, yw = q[3] * y2, zw = q[3] * z2;
    r[0] = -(yy + zz), r[1] = xy - zw, r[2] = xz + yw;
    r[3] = xy + zw, r[4] = -(xx + zz), r[5] = yz - xw;
    r[6] = xz - yw, r[7] = yz + xw, r[8] = -(xx + yy);
}

/* a = b c, or b cᵀ. */
PL_LANES_INLINE void multiply(const vf b[9], const vf c[9], vf a[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[3 * i + j] = b[3 * i] * c[j] + b[3 * i + 1] * c[3 + j] + b[3 * i + 2] * c[6 + j];
}

PL_LANES_INLINE void multiply_transposed(const vf b[9], const vf c[9], vf a[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[3 * i + j] =
                b[3 * i] * c[3 * j] + b[3 * i + 1] * c[3 * j + 1] + b[3 * i + 2] * c[3 * j + 2];
}

/* a^(−1/3) for 10⁻³ < a < 1: a third of the exponent, then Newton. */
PL_LANES_INLINE vf inverse_cube_root(vf a)
{
    vi bits = (vi)a;
    vi third = pl_splat_bits_f(0);
    for (int k = 0; k < PL_W; k++)
        third[k] = 0x54a21d2a - bits[k] / 3;
    vf t = (vf)third;
    for (int k = 0; k < 4; k++)
        t = t * (pl_splat_f(4.0f / 3) - pl_splat_f(1.0f / 3) * a * (t * t * t));
    return t;
}

/* p near the singular values s with p1 p2 p3 = 1, so that ‖p − s‖ is stationary. First a few
   projections on the tangent plane of the constraint (Bouaziz et al. 2014), from where the plane is
   of use: s kept between 0.2 and 4, blown up to determinant one where it is smaller; no step takes
   more than three quarters of a value. Then Newton in the logarithms of p, where the constraint is
   a plane and the Hessian a diagonal: g = p (p − s), h = p (2p − s), kept positive. */
PL_LANES_INLINE void unit_determinant(const vf s[3], vf p[3])
{
    vf one = pl_splat_f(1), product = one;
    for (int k = 0; k < 3; k++) {
        p[k] = pl_min_f(pl_max_f(s[k], pl_splat_f(0.2f)), pl_splat_f(4));
        product *= p[k];
    }
    vf scale = inverse_cube_root(pl_min_f(product, one));
    scale = pl_select_f(product < one, scale, one);
    for (int k = 0; k < 3; k++)
        p[k] *= scale;
    for (int round = 0; round < 3; round++) {
        vf g[3] = {p[1] * p[2], p[0] * p[2], p[0] * p[1]};
        vf along = g[0] * (p[0] - s[0]) + g[1] * (p[1] - s[1]) + g[2] * (p[2] - s[2]);
        vf miss = p[0] * g[0] - one;
        vf by = (along - miss) / (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int k = 0; k < 3; k++)
            p[k] = pl_max_f(s[k] + by * g[k], pl_splat_f(0.25f) * p[k]);
    }
    for (int round = 0; round < 5; round++) {
        vf slope[3], soft[3], sum = pl_splat_f(0), softness = pl_splat_f(0);
        vf miss = p[0] * p[1] * p[2] - one;
        for (int k = 0; k < 3; k++) {
            slope[k] = p[k] * (p[k] - s[k]);
            soft[k] = one / pl_max_f(p[k] * (p[k] + p[k] - s[k]), pl_splat_f(0.5f) * p[k] * p[k]);
            sum += slope[k] * soft[k];
            softness += soft[k];
        }
        vf level = (sum - miss / (one + pl_splat_f(0.5f) * miss)) / softness;
        for (int k = 0; k < 3; k++) {
            vf half = pl_splat_f(0.5f) * (level - slope[k]) * soft[k];
            half = pl_min_f(pl_max_f(half, pl_splat_f(-0.5f)), pl_splat_f(0.5f));
            p[k] *= (one + half) / (one - half);
        }
    }
}

/* F − P of the nearest matrix P with determinant one, and the rotation of F in q. */
PL_LANES_INLINE void off_volume(const vf f[9], vf q[4], vf out[9])
{
    vf u[9], s[3], v[9], p[3];
    pl_svd3_f(f, q, u, s, v);
    unit_determinant(s, p);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            u[3 * i + k] *= s[k] - p[k];
    multiply_transposed(u, v, out);
}

PL_LANES_INLINE vf square9(const vf a[9])
{
    vf sum = a[0] * a[0];
    for (int k = 1; k < 9; k++)
        sum += a[k] * a[k];
    return sum;
}

enum { ROTATION_FIT, ROTATION_BLEND };
enum { VOLUME_NONE, VOLUME_TRACE, VOLUME_DETERMINANT, VOLUME_MODIFIED };

typedef struct element {
    vf h[9], g[9];
    vf shape, volume; /* weights */
    vf q[4];
    vf plastic[9]; /* Fᵖ, or S̃ Fᵖ */
} element;

PL_LANES_INLINE vf determinant(const vf a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

/* F − P of the nearest matrix P with the determinant of S̃ Fᵖ. */
PL_LANES_INLINE void off_modified(const vf f[9], const vf modified[9], vf q[4], vf out[9])
{
    vf det = pl_max_f(determinant(modified), pl_splat_f(1e-3f));
    vf by = inverse_cube_root(det), scaled[9];
    for (int k = 0; k < 9; k++)
        scaled[k] = by * f[k];
    off_volume(scaled, q, out);
    for (int k = 0; k < 9; k++)
        out[k] /= by;
}

/* Rotation (if it is fitted), stress times weight, energy. With S = R Fᵖ the linear volume term
   draws F along S until ⟨S, F⟩ = ‖S‖². */
PL_LANES_INLINE vf stress_of(element *e, int rotation, int volume, bool plastic, vf stress[9])
{
    vf f[9], r[9], off[9], energy;
    with_identity(e->h, f);
    if (rotation == ROTATION_FIT && plastic) {
        vf c[9];
        multiply_transposed(f, e->plastic, c);
        pl_rotation_fit_f(c, e->q);
    } else if (rotation == ROTATION_FIT && volume != VOLUME_DETERMINANT) {
        pl_rotation_fit_f(f, e->q);
    }
    if (volume == VOLUME_MODIFIED) {
        vf own[4] = {e->q[0], e->q[1], e->q[2], e->q[3]};
        off_modified(f, e->plastic, own, off);
    } else if (volume == VOLUME_DETERMINANT) {
        vf own[4] = {e->q[0], e->q[1], e->q[2], e->q[3]};
        off_volume(f, own, off);
        for (int k = 0; k < 4 && rotation == ROTATION_FIT && !plastic; k++)
            e->q[k] = own[k];
    }
    turned(e->q, r);
    vf target[9]; /* R Fᵖ − I */
    for (int k = 0; k < 9; k++)
        target[k] = r[k];
    if (plastic) {
        with_identity(r, r);
        multiply(r, e->plastic, target);
        for (int k = 0; k < 9; k += 4)
            target[k] -= pl_splat_f(1);
    }
    for (int k = 0; k < 9; k++)
        stress[k] = e->h[k] - target[k];
    energy = e->shape * square9(stress);
    vf pull = pl_splat_f(0);
    if (volume == VOLUME_TRACE) {
        vf along = pl_splat_f(0);
        with_identity(target, off);
        for (int k = 0; k < 9; k++)
            along += off[k] * stress[k];
        vf size = plastic ? square9(off) : pl_splat_f(3);
        pull = along / size;
        energy += e->volume * (pull * along);
    } else if (volume == VOLUME_DETERMINANT || volume == VOLUME_MODIFIED) {
        pull = pl_splat_f(1);
        energy += e->volume * square9(off);
    }
    for (int k = 0; k < 9; k++) {
        stress[k] = e->shape * stress[k];
        if (volume != VOLUME_NONE)
            stress[k] += e->volume * (pull * off[k]);
    }
    return energy;
}

/* ---- The local step -------------------------------------------------------------------------- */

/* The normalised sum of the samples' quaternions, each on the side of the heaviest. */
PL_LANES_INLINE void blend(const pl_tetrahedral *b, int group, int first, vf q[4])
{
    const pl_tet_system *s = b->system;
    ptrdiff_t base = (ptrdiff_t)group * s->slots * PL_TET_LANES + first;
    vf heavy[4], next[4];
    load_far_rows(b->room.sample_row, s->blend_sample + base, heavy);
    vf weight = pl_load_f(s->blend_weight + base);
    for (int i = 0; i < 4; i++)
        q[i] = weight * heavy[i];
    if (s->blend_count[group] == 1)
        return;
    for (int k = 1; k < s->blend_count[group]; k++) {
        load_far_rows(b->room.sample_row, s->blend_sample + base + k * PL_TET_LANES, next);
        vf side =
            (next[0] * heavy[0] + next[1] * heavy[1]) + (next[2] * heavy[2] + next[3] * heavy[3]);
        weight = pl_load_f(s->blend_weight + base + k * PL_TET_LANES);
        weight = (vf)((vi)weight ^ ((vi)side & INT32_MIN));
        for (int i = 0; i < 4; i++)
            q[i] += weight * next[i];
    }
    pl_rotation_normalise_f(q);
}

PL_LANES_INLINE void local_group(pl_tetrahedral *b, int group, const float *x, float *force,
                                 float energy[PL_TET_LANES], int rotation, int volume, bool plastic)
{
    const pl_tet_system *s = b->system;
    const uint16_t *corner = s->corner + (ptrdiff_t)group * 4 * PL_TET_LANES;
    const float *lanes = s->lanes + (ptrdiff_t)group * PL_TET_REST_FIELDS * PL_TET_LANES;
    float *turn = b->turn + (ptrdiff_t)group * 4 * PL_TET_LANES;
    const float *change = b->examples ? b->modified : b->plastic;
    float out[12 * PL_TET_LANES] ALIGNED;
    for (int first = 0; first < PL_TET_LANES; first += PL_W) {
        element e;
        vf rows[4][4], stress[9];
        for (int a = 0; a < 4; a++)
            load_rows(x, corner + a * PL_TET_LANES + first, rows[a]);
        for (int k = 0; k < 9; k++)
            e.g[k] = pl_load_f(lanes + k * PL_TET_LANES + first);
        e.shape = pl_load_f(lanes + 9 * PL_TET_LANES + first);
        e.volume = volume ? pl_load_f(lanes + 10 * PL_TET_LANES + first) : pl_splat_f(0);
        for (int k = 0; k < 9 && plastic; k++)
            e.plastic[k] = pl_load_f(change + ((ptrdiff_t)group * 9 + k) * PL_TET_LANES + first);
        displacement_gradient(rows, e.g, e.h);
        if (rotation == ROTATION_FIT)
            for (int k = 0; k < 4; k++)
                e.q[k] = pl_load_f(turn + k * PL_TET_LANES + first);
        else
            blend(b, group, first, e.q);
        vf sum = pl_loadu_f(energy + first) + stress_of(&e, rotation, volume, plastic, stress);
        pl_storeu_f(energy + first, sum);
        if (rotation == ROTATION_FIT)
            for (int k = 0; k < 4; k++)
                pl_store_f(turn + k * PL_TET_LANES + first, e.q[k]);
        for (int i = 0; i < 3; i++) {
            vf f[3];
            for (int a = 0; a < 3; a++) {
                f[a] = stress[3 * i] * e.g[3 * a] + stress[3 * i + 1] * e.g[3 * a + 1] +
                       stress[3 * i + 2] * e.g[3 * a + 2];
                pl_store_f(out + (3 * a + i) * PL_TET_LANES + first, f[a]);
            }
            pl_store_f(out + (9 + i) * PL_TET_LANES + first, -((f[0] + f[1]) + f[2]));
        }
    }
    add_group(force, corner, out);
}

PL_LANES_INLINE void local_blocks(pl_tetrahedral *b, int begin, int end, int rotation, int volume,
                                  bool plastic)
{
    const pl_tet_system *s = b->system;
    float x[4 * PL_TET_BLOCK_NODES] ALIGNED;
    for (int k = begin; k < end; k++) {
        const pl_tet_block *block = s->blocks + k;
        const int32_t *row = s->place_row + block->place;
        float *force = b->room.partial + 4 * (ptrdiff_t)block->place;
        float energy[PL_TET_LANES] ALIGNED = {0};
        for (int i = 0; i < block->place_count; i++) {
            store4(x + 4 * i, load4(b->room.d + row[i]));
            store4(force + 4 * i, (v4){0});
        }
        for (int g = 0; g < block->group_count; g++)
            local_group(b, block->group + g, x, force, energy, rotation, volume, plastic);
        b->room.block_energy[k] = 0.5 * sum16(energy);
    }
}

/* One function for each kind of material, so that none pays for what another needs. */
#define LOCAL(name, rotation, volume, plastic)                                                     \
    static __attribute__((noinline)) void name(pl_tetrahedral *b, int begin, int end)              \
    {                                                                                              \
        local_blocks(b, begin, end, rotation, volume, plastic);                                    \
    }

LOCAL(local_fit, ROTATION_FIT, VOLUME_NONE, false)
LOCAL(local_fit_trace, ROTATION_FIT, VOLUME_TRACE, false)
LOCAL(local_fit_determinant, ROTATION_FIT, VOLUME_DETERMINANT, false)
LOCAL(local_plastic, ROTATION_FIT, VOLUME_NONE, true)
LOCAL(local_plastic_trace, ROTATION_FIT, VOLUME_TRACE, true)
LOCAL(local_plastic_determinant, ROTATION_FIT, VOLUME_DETERMINANT, true)
LOCAL(local_modified_determinant, ROTATION_FIT, VOLUME_MODIFIED, true)
LOCAL(local_blend, ROTATION_BLEND, VOLUME_NONE, false)
LOCAL(local_blend_trace, ROTATION_BLEND, VOLUME_TRACE, false)
LOCAL(local_blend_determinant, ROTATION_BLEND, VOLUME_DETERMINANT, false)

static void local(pl_tetrahedral *b, int begin, int end)
{
    const pl_tetrahedral_def *def = &b->system->def;
    int volume = def->poisson == 0 ? 0 : def->volume == PL_TET_TRACE ? 1 : 2;
    static void (*const fit[3])(pl_tetrahedral *, int, int) = {local_fit, local_fit_trace,
                                                               local_fit_determinant};
    static void (*const flowing[3])(pl_tetrahedral *, int, int) = {
        local_plastic, local_plastic_trace, local_plastic_determinant};
    static void (*const blended[3])(pl_tetrahedral *, int, int) = {local_blend, local_blend_trace,
                                                                   local_blend_determinant};
    if (def->rotations == PL_TET_QUATERNION)
        blended[volume](b, begin, end);
    else if (b->examples && volume == 2)
        local_modified_determinant(b, begin, end);
    else if (b->examples || b->plastic)
        flowing[volume](b, begin, end);
    else
        fit[volume](b, begin, end);
    PL_LANES_LEAVE();
}

/* ---- Examples -------------------------------------------------------------------------------- */

#define ROOT_HALF 0.70710678118654752f

/* a = b⁻¹; of a singular one something finite. */
PL_LANES_INLINE void invert(const vf b[9], vf a[9])
{
    vf det = determinant(b), least = pl_splat_f(1e-12f);
    vf by = pl_splat_f(1) / pl_select_f(det * det < least * least, least, det);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            a[3 * i + j] = by * (b[3 * r + c] * b[3 * s + d] - b[3 * r + d] * b[3 * s + c]);
        }
}

/* The symmetric part of Rᵀ F Fᵖ⁻¹ − I with the rotation that fits S̃ Fᵖ so far: for that rotation
   the examples are to come as near to it as they can. With S̃ = I it is the stretch of F Fᵖ⁻¹. */
PL_LANES_INLINE void stretch_of(pl_tetrahedral *b, int group, int first, const float *x,
                                vf out[PL_TET_DESCRIPTOR])
{
    const pl_tet_system *s = b->system;
    const uint16_t *corner = s->corner + (ptrdiff_t)group * 4 * PL_TET_LANES + first;
    const float *lanes = s->lanes + (ptrdiff_t)group * PL_TET_REST_FIELDS * PL_TET_LANES + first;
    const float *turn = b->turn + (ptrdiff_t)group * 4 * PL_TET_LANES + first;
    const float *changed = b->modified + (ptrdiff_t)group * 9 * PL_TET_LANES + first;
    vf rows[4][4], g[9], h[9], f[9], c[9], q[4], r[9];
    for (int a = 0; a < 4; a++)
        load_rows(x, corner + a * PL_TET_LANES, rows[a]);
    for (int k = 0; k < 9; k++) {
        g[k] = pl_load_f(lanes + k * PL_TET_LANES);
        r[k] = pl_load_f(changed + k * PL_TET_LANES);
    }
    for (int k = 0; k < 4; k++)
        q[k] = pl_load_f(turn + k * PL_TET_LANES);
    displacement_gradient(rows, g, h);
    with_identity(h, f);
    multiply_transposed(f, r, c);
    pl_rotation_fit_f(c, q);
    turned(q, r);
    if (b->plastic) {
        const float *plastic = b->plastic + (ptrdiff_t)group * 9 * PL_TET_LANES + first;
        for (int k = 0; k < 9; k++)
            g[k] = pl_load_f(plastic + k * PL_TET_LANES);
        invert(g, c);
        multiply(f, c, h);
        for (int k = 0; k < 9; k += 4)
            h[k] -= pl_splat_f(1);
    }
    for (int i = 0; i < 3; i++) /* (I + T)ᵀ (I + H) − I: zero, bit by bit, at rest */
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = (r[3 * j + i] + h[3 * i + j]) +
                           (r[i] * h[j] + r[3 + i] * h[3 + j] + r[6 + i] * h[6 + j]);
    out[0] = c[0], out[1] = c[4], out[2] = c[8];
    out[3] = pl_splat_f(ROOT_HALF) * (c[5] + c[7]);
    out[4] = pl_splat_f(ROOT_HALF) * (c[2] + c[6]);
    out[5] = pl_splat_f(ROOT_HALF) * (c[1] + c[3]);
}

static void describe(pl_tetrahedral *b, int begin, int end)
{
    const pl_tet_system *s = b->system;
    float x[4 * PL_TET_BLOCK_NODES] ALIGNED;
    for (int k = begin; k < end; k++) {
        const pl_tet_block *block = s->blocks + k;
        const int32_t *row = s->place_row + block->place;
        for (int i = 0; i < block->place_count; i++)
            store4(x + 4 * i, load4(b->room.d + row[i]));
        for (int g = block->group; g < block->group + block->group_count; g++)
            for (int first = 0; first < PL_TET_LANES; first += PL_W) {
                const int32_t *at = s->example_at + (ptrdiff_t)g * PL_TET_LANES + first;
                vf stretch[PL_TET_DESCRIPTOR];
                stretch_of(b, g, first, x, stretch);
                for (int lane = 0; lane < PL_W; lane++)
                    for (int c = 0; c < PL_TET_DESCRIPTOR && at[lane] >= 0; c++)
                        b->descriptor[at[lane] + c * PL_TET_LANES] = stretch[c][lane];
            }
    }
    PL_LANES_LEAVE();
}

/* S̃ Fᵖ of some elements; returns ‖S̃ − I‖². */
PL_LANES_INLINE vf modify_lanes(pl_tetrahedral *b, int group, int first)
{
    const int32_t *at = b->system->example_at + (ptrdiff_t)group * PL_TET_LANES + first;
    ptrdiff_t base = (ptrdiff_t)group * 9 * PL_TET_LANES + first;
    vf d[PL_TET_DESCRIPTOR], p[9], one = pl_splat_f(1), square = pl_splat_f(0);
    for (int c = 0; c < PL_TET_DESCRIPTOR; c++) {
        float lanes[PL_W] ALIGNED;
        for (int lane = 0; lane < PL_W; lane++)
            lanes[lane] = at[lane] >= 0 ? b->blend[at[lane] + c * PL_TET_LANES] : 0;
        d[c] = pl_load_f(lanes);
        square += d[c] * d[c];
        if (c >= 3)
            d[c] *= pl_splat_f(ROOT_HALF);
    }
    p[0] = one + d[0], p[4] = one + d[1], p[8] = one + d[2];
    p[5] = p[7] = d[3], p[2] = p[6] = d[4], p[1] = p[3] = d[5];
    if (b->plastic) {
        vf stretch[9], plastic[9];
        for (int k = 0; k < 9; k++) {
            stretch[k] = p[k];
            plastic[k] = pl_load_f(b->plastic + base + k * PL_TET_LANES);
        }
        multiply(stretch, plastic, p);
    }
    for (int k = 0; k < 9; k++)
        pl_store_f(b->modified + base + k * PL_TET_LANES, p[k]);
    return square;
}

static void modify(pl_tetrahedral *b, int begin, int end)
{
    const pl_tet_system *s = b->system;
    for (int k = begin; k < end; k++) {
        const pl_tet_block *block = s->blocks + k;
        float energy[PL_TET_LANES] ALIGNED = {0};
        for (int g = block->group; g < block->group + block->group_count; g++)
            for (int first = 0; first < PL_TET_LANES; first += PL_W) {
                const float *shape =
                    s->lanes + ((ptrdiff_t)g * PL_TET_REST_FIELDS + 9) * PL_TET_LANES + first;
                vf square = modify_lanes(b, g, first);
                pl_store_f(energy + first, pl_load_f(energy + first) + pl_load_f(shape) * square);
            }
        b->example_energy[k] = 0.5 * sum16(energy);
    }
    PL_LANES_LEAVE();
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* A sample's row for the folded product: R − I by columns, four floats each. For the blend its
   quaternion. */
static void store_samples(const pl_tetrahedral *b, int group, int first, const vf q[4])
{
    const pl_tet_system *s = b->system;
    bool folded = s->def.rotations == PL_TET_FOLDED;
    vf r[9];
    if (folded)
        turned(q, r);
    for (int lane = 0; lane < PL_W; lane++) {
        int j = group * PL_TET_LANES + first + lane;
        if (j >= s->sample_count)
            break;
        float *row = b->room.sample_row + (ptrdiff_t)j * (folded ? 16 : 4);
        for (int k = 0; k < 9 && folded; k++)
            row[4 * (k % 3) + k / 3] = r[k][lane];
        for (int k = 0; k < 4 && !folded; k++)
            row[k] = q[k][lane];
    }
}

/* As displacement_gradient, of the nodes of a patch, against the first one. */
PL_LANES_INLINE void patch_gradient(const float *x, const int32_t *corner, const float *gradient,
                                    vf h[9])
{
    vf base[4], row[4];
    for (int k = 0; k < 9; k++)
        h[k] = pl_splat_f(0);
    load_far_rows(x, corner, base);
    for (int a = 1; a < PL_TET_PATCH; a++) {
        load_far_rows(x, corner + a * PL_TET_LANES, row);
        for (int j = 0; j < 3; j++) {
            vf g = pl_load_f(gradient + (3 * a + j) * PL_TET_LANES);
            for (int i = 0; i < 3; i++)
                h[3 * i + j] += (row[i] - base[i]) * g;
        }
    }
}

static void sample(pl_tetrahedral *b, int begin, int end)
{
    const pl_tet_system *s = b->system;
    for (int group = begin; group < end; group++)
        for (int first = 0; first < PL_TET_LANES; first += PL_W) {
            const int32_t *corner =
                s->sample_corner + (ptrdiff_t)group * PL_TET_PATCH * PL_TET_LANES + first;
            const float *gradient =
                s->sample_gradient + (ptrdiff_t)group * 3 * PL_TET_PATCH * PL_TET_LANES + first;
            float *turn = b->sample_turn + (ptrdiff_t)group * 4 * PL_TET_LANES + first;
            vf h[9], f[9], q[4];
            for (int k = 0; k < 4; k++)
                q[k] = pl_load_f(turn + k * PL_TET_LANES);
            patch_gradient(b->room.d, corner, gradient, h);
            with_identity(h, f);
            pl_rotation_fit_f(f, q);
            for (int k = 0; k < 4; k++)
                pl_store_f(turn + k * PL_TET_LANES, q[k]);
            store_samples(b, group, first, q);
        }
    PL_LANES_LEAVE();
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct range {
    ptrdiff_t begin, end; /* floats; multiples of sixteen */
} range;

static range floats_of(const pl_tetrahedral *b, int block)
{
    ptrdiff_t end = (ptrdiff_t)(block + 1) * PL_TET_ROW_BLOCK;
    return (range){4 * (ptrdiff_t)block * PL_TET_ROW_BLOCK,
                   4 * (end < b->system->padded ? end : b->system->padded)};
}

PL_LANES_INLINE double dot(const float *a, const float *b, range at)
{
    vf sum[PL_TET_LANES / PL_W];
    float column[PL_TET_LANES] ALIGNED;
    for (int j = 0; j < PL_TET_LANES / PL_W; j++)
        sum[j] = pl_splat_f(0);
    for (ptrdiff_t k = at.begin; k < at.end; k += PL_TET_LANES)
        for (int j = 0; j < PL_TET_LANES / PL_W; j++)
            sum[j] += pl_load_f(a + k + j * PL_W) * pl_load_f(b + k + j * PL_W);
    for (int j = 0; j < PL_TET_LANES / PL_W; j++)
        pl_store_f(column + j * PL_W, sum[j]);
    return sum16(column);
}

/* Σ_j (R_j − I) c_j for the four rows of a quad: the three columns of a sample in quarters of a
   vector; even and odd ones apart, so that an addition need not wait for the one before. */
PL_LANES_INLINE void folded_sums(const pl_tetrahedral *b, ptrdiff_t quad, v4 out[4])
{
    const pl_tet_system *s = b->system;
    const float *turn = b->room.sample_row;
    const pl_tet_fold *fold = s->fold + 4 * (ptrdiff_t)s->fold_start[quad];
    int32_t p = 0, count = s->fold_start[quad + 1] - s->fold_start[quad];
#if PL_W == 16 && PL_LANES_NATIVE
    /* The last quarter of a sample is zero, and must not meet the bits of an integer. */
    const __m512i spread = _mm512_set_epi32(0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    __m512 even[4], odd[4];
    for (int k = 0; k < 4; k++)
        even[k] = odd[k] = _mm512_setzero_ps();
#define TERM(f)                                                                                    \
    _mm512_mul_ps(_mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_load_ps((f).factor)), spread),   \
                  _mm512_load_ps(turn + (f).sample))
    for (; p + 1 < count; p += 2)
        for (int k = 0; k < 4; k++) {
            even[k] = _mm512_add_ps(even[k], TERM(fold[4 * p + k]));
            odd[k] = _mm512_add_ps(odd[k], TERM(fold[4 * p + 4 + k]));
        }
    for (int k = 0; k < 4 && p < count; k++)
        even[k] = _mm512_add_ps(even[k], TERM(fold[4 * p + k]));
#undef TERM
    for (int k = 0; k < 4; k++) {
        __m512 sum = _mm512_add_ps(even[k], odd[k]);
        out[k] = (v4)_mm512_castps512_ps128(sum) + (v4)_mm512_extractf32x4_ps(sum, 1) +
                 (v4)_mm512_extractf32x4_ps(sum, 2);
    }
#else
    for (int k = 0; k < 4; k++) {
        v4 even[3] = {{0}}, odd[3] = {{0}};
        for (p = 0; p < count; p++) {
            const pl_tet_fold *f = fold + 4 * p + k;
            for (int c = 0; c < 3; c++) {
                v4 term = f->factor[c] * load4(turn + f->sample + 4 * c);
                if (p % 2)
                    odd[c] += term;
                else
                    even[c] += term;
            }
        }
        out[k] = (even[0] + odd[0]) + (even[1] + odd[1]) + (even[2] + odd[2]);
    }
#endif
}

/* Rows side by side in the quarters of a vector. */
PL_LANES_INLINE vf load_quarters(const float *rows, const int32_t *at)
{
#if PL_LANES_NATIVE && PL_W == 16
    __m512 v = _mm512_castps128_ps512(_mm_load_ps(rows + at[0]));
    v = _mm512_insertf32x4(v, _mm_load_ps(rows + at[1]), 1);
    v = _mm512_insertf32x4(v, _mm_load_ps(rows + at[2]), 2);
    return (vf)_mm512_insertf32x4(v, _mm_load_ps(rows + at[3]), 3);
#elif PL_LANES_NATIVE && PL_W == 8
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows + at[0])),
                                    _mm_load_ps(rows + at[1]), 1);
#else
    float quarters[PL_W] ALIGNED;
    for (int k = 0; k < PL_W / 4; k++)
        store4(quarters + 4 * k, load4(rows + at[k]));
    return pl_load_f(quarters);
#endif
}

/* A number for each quarter. */
PL_LANES_INLINE vf spread_quarters(const float *values)
{
#if PL_LANES_NATIVE && PL_W == 16
    const __m512i each = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return (vf)_mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_load_ps(values)), each);
#else
    float lanes[PL_W] ALIGNED;
    for (int k = 0; k < PL_W; k++)
        lanes[k] = values[k / 4];
    return pl_load_f(lanes);
#endif
}

/* r = Σ_j −A_ij (d_j − d_i) of the four rows of a quad, in the same way. */
PL_LANES_INLINE void near_sum(pl_tetrahedral *b, ptrdiff_t quad)
{
    enum { ROWS = PL_W / 4 };
    const pl_tet_system *s = b->system;
    const pl_tet_near *near = s->near;
    int32_t begin = s->near_start[quad], end = s->near_start[quad + 1];
    for (int first = 0; first < 4; first += ROWS) {
        int32_t row[4], p = begin;
        for (int k = 0; k < ROWS; k++)
            row[k] = 4 * s->near_order[4 * quad + first + k];
        vf d = load_quarters(b->room.d, row), even = pl_splat_f(0), odd = pl_splat_f(0);
#define TERM(n)                                                                                    \
    (spread_quarters((n).value + first) * (load_quarters(b->room.d, (n).row + first) - d))
        for (; p + 1 < end; p += 2) {
            even += TERM(near[p]);
            odd += TERM(near[p + 1]);
        }
        if (p < end)
            even += TERM(near[p]);
#undef TERM
        even += odd;
        for (int k = 0; k < ROWS; k++)
            memcpy(b->room.r + row[k], (const char *)&even + 16 * k, 16);
    }
}

/* What elements do to the rows, in r: from the blocks, or from samples and neighbours. */
PL_LANES_INLINE void pull_rows(pl_tetrahedral *b, range at)
{
    const pl_tet_system *s = b->system;
    for (ptrdiff_t row = at.begin / 4; row < at.end / 4; row++) {
        v4 sum = {0};
        for (int32_t p = s->sum_start[row]; p < s->sum_start[row + 1]; p++)
            sum -= load4(b->room.partial + s->sum_place[p]);
        store4(b->room.r + 4 * row, sum);
    }
}

PL_LANES_INLINE void pull_folded(pl_tetrahedral *b, range at)
{
    const pl_tet_system *s = b->system;
    for (ptrdiff_t quad = at.begin / 16; quad < at.end / 16; quad++)
        near_sum(b, quad);
    for (ptrdiff_t quad = at.begin / 16; quad < at.end / 16; quad++) {
        v4 sum[4];
        folded_sums(b, quad, sum);
        for (int k = 0; k < 4; k++) {
            float *row = b->room.r + 4 * (ptrdiff_t)s->fold_order[4 * quad + k];
            store4(row, load4(row) + sum[k]);
        }
    }
}

/* Adds the inertia to r; returns its energy. */
PL_LANES_INLINE double add_inertia(pl_tetrahedral *b, range at)
{
    const pl_tet_system *s = b->system;
    v4 energy = {0};
    for (ptrdiff_t row = at.begin / 4; row < at.end / 4; row++) {
        v4 d = load4(b->room.d + 4 * row), y = load4(b->room.y + 4 * row), off = y - d;
        v4 start = load4(b->room.start + 4 * row), both = off + (y - start);
        energy += s->mass[row] * ((start - d) * both);
        store4(b->room.r + 4 * row, s->mass[row] * off + load4(b->room.r + 4 * row));
    }
    return 0.5 * (((double)energy[0] + (double)energy[1]) + (double)energy[2]);
}

static void combine(pl_tetrahedral *b, int begin, int end)
{
    int pairs = b->run.measured ? b->run.history + 1 : b->run.history;
    bool folded = b->system->def.rotations == PL_TET_FOLDED;
    for (int block = begin; block < end; block++) {
        range at = floats_of(b, block);
        double *sums = b->room.row_sums + (ptrdiff_t)block * (PL_TET_MOST_WINDOW + 2);
        if (folded)
            pull_folded(b, at);
        else
            pull_rows(b, at);
        sums[PL_TET_MOST_WINDOW + 1] = add_inertia(b, at);
        for (int k = 0; k < pairs; k++)
            sums[k] = dot(b->room.s[b->run.slot[k]], b->room.r, at);
    }
    PL_LANES_LEAVE();
}

/* q = r − Σ α y; the y of the newest pair is made on the way. */
static void direct(pl_tetrahedral *b, int begin, int end)
{
    const pl_tet_run *run = &b->run;
    for (int block = begin; block < end; block++) {
        range at = floats_of(b, block);
        for (ptrdiff_t k = at.begin; k < at.end; k += PL_W) {
            vf r = pl_load_f(b->room.r + k), q = r;
            for (int i = run->history - 1; i >= 0; i--) {
                float *dr = b->room.dr[run->slot[i]] + k;
                vf y = pl_splat_f(0);
                if (i == run->history - 1 && run->measured) {
                    y = pl_load_f(b->room.r_before + k) - r;
                    pl_store_f(dr, y);
                } else {
                    y = pl_load_f(dr);
                }
                q -= pl_splat_f((float)run->alpha[i]) * y;
            }
            pl_store_f(b->room.z + k, q);
        }
    }
    PL_LANES_LEAVE();
}

static void measure(pl_tetrahedral *b, int begin, int end)
{
    for (int block = begin; block < end; block++) {
        range at = floats_of(b, block);
        double *sums = b->room.row_sums + (ptrdiff_t)block * (PL_TET_MOST_WINDOW + 2);
        for (int k = 0; k < b->run.history; k++)
            sums[k] = dot(b->room.dr[b->run.slot[k]], b->room.z, at);
    }
    PL_LANES_LEAVE();
}

static void advance(pl_tetrahedral *b, int begin, int end)
{
    const pl_tet_run *run = &b->run;
    float *p = b->room.s[run->slot[run->history]];
    for (int block = begin; block < end; block++) {
        range at = floats_of(b, block);
        for (ptrdiff_t k = at.begin; k < at.end; k += PL_W) {
            vf step = pl_load_f(b->room.z + k), d = pl_load_f(b->room.d + k);
            for (int i = 0; i < run->history; i++)
                step += pl_splat_f((float)run->step[i]) * pl_load_f(b->room.s[run->slot[i]] + k);
            pl_store_f(p + k, step);
            pl_store_f(b->room.before + k, d);
            pl_store_f(b->room.d + k, d + step);
        }
        b->room.row_sums[(ptrdiff_t)block * (PL_TET_MOST_WINDOW + 2)] = dot(p, b->room.r, at);
    }
    PL_LANES_LEAVE();
}

const pl_tet_table PL_LANES(pl_tet_table) = {.width = PL_W,
                                             .describe = describe,
                                             .modify = modify,
                                             .local = local,
                                             .sample = sample,
                                             .combine = combine,
                                             .direct = direct,
                                             .measure = measure,
                                             .advance = advance};
