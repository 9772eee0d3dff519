/* What follows the solve, over whole arrays of a body: sums of momentum, shifts, velocities. */
#include "matter/oriented_lanes.h"

#include "math/lanes.h"
#define PL_REAL_IS_DOUBLE 0
#include "math/elementary.inl"

/* ---- Sums and shifts ------------------------------------------------------------------------- */

/* Arrays of three components are gone through in pieces of so many numbers, whatever the width: the
   order of a sum is always the same. */
enum { PIECE = 24 };

static void fold(const double sums[PIECE], double out[3])
{
    double x = 0, y = 0, z = 0;
    for (int j = 0; j < PIECE; j += 3)
        x += sums[j], y += sums[j + 1], z += sums[j + 2];
    out[0] = x, out[1] = y, out[2] = z;
}

void PL_LANES(pl_oriented_sum)(int count, const double *weights, const float *a, double out[3])
{
    double sums[PIECE] = {0};
    int i = 0;
    for (; i + PIECE <= 3 * count; i += PIECE)
        for (int j = 0; j < PIECE; j++)
            sums[j] += weights[i + j] * (double)a[i + j];
    for (int j = 0; i + j < 3 * count; j++)
        sums[j] += weights[i + j] * (double)a[i + j];
    fold(sums, out);
}

void PL_LANES(pl_oriented_sum_of_differences)(int count, const double *weights, const float *a,
                                              const float *b, double out[3])
{
    double sums[PIECE] = {0};
    int i = 0;
    for (; i + PIECE <= 3 * count; i += PIECE)
        for (int j = 0; j < PIECE; j++)
            sums[j] += weights[i + j] * ((double)a[i + j] - (double)b[i + j]);
    for (int j = 0; i + j < 3 * count; j++)
        sums[j] += weights[i + j] * ((double)a[i + j] - (double)b[i + j]);
    fold(sums, out);
}

void PL_LANES(pl_oriented_shift)(int count, float *x, const float by[3])
{
    float pattern[PIECE];
    int i = 0;
    for (int j = 0; j < PIECE; j++)
        pattern[j] = by[j % 3];
    for (; i + PIECE <= 3 * count; i += PIECE)
        for (int j = 0; j < PIECE; j++)
            x[i + j] -= pattern[j];
    for (int j = 0; i + j < 3 * count; j++)
        x[i + j] -= pattern[j];
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* by · q of whole vectors of unit quaternions, and as long as 1 again; `by` as the four columns of
   its matrix. Returns how many that were. */
int PL_LANES(pl_oriented_turn_all)(int count, const float by[4][4], float *q)
{
    int i = 0;
    for (; i + PL_W <= count; i += PL_W, q += 4 * PL_W) {
        vf from[4], to[4];
        pl_lanes_load_fours(q, from);
        for (int k = 0; k < 4; k++)
            to[k] =
                by[0][k] * from[0] + by[1][k] * from[1] + by[2][k] * from[2] + by[3][k] * from[3];
        vf square = (to[0] * to[0] + to[1] * to[1]) + (to[2] * to[2] + to[3] * to[3]);
        vf scale = 1.0f / pl_sqrt_f(square);
        for (int k = 0; k < 4; k++)
            to[k] *= scale;
        pl_lanes_store_fours(q, to);
    }
    PL_LANES_LEAVE();
    return i;
}

/* ---- Velocities ------------------------------------------------------------------------------ */

/* Decaying numbers end at zero instead of in the slow subnormals; 10⁻¹² units per second move
   nothing. */
PL_LANES_INLINE vf settled(vf v)
{
    return pl_select_f(pl_abs_f(v) < pl_splat_f(1e-12f), pl_splat_f(0), v);
}

/* a conj(b) of unit quaternions. */
PL_LANES_INLINE void turn_between(const vf a[4], const vf b[4], vf d[4])
{
    d[0] = a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]);
    d[1] = a[1] * b[3] - a[3] * b[1] - (a[2] * b[0] - a[0] * b[2]);
    d[2] = a[2] * b[3] - a[3] * b[2] - (a[0] * b[1] - a[1] * b[0]);
    d[3] = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
}

/* So many vectors of turns go through the roots and divisions of the logarithm side by side, which
   wait for each other. */
enum { ABREAST = 4 };

/* Where the n-th vector of `count` >= PL_W particles begins: the last takes some of the one before
   again. */
static inline size_t beginning(int n, int count)
{
    return (size_t)((n + 1) * PL_W <= count ? n * PL_W : count - PL_W);
}

/* w = log(q q_oldᵀ) rate, from the given vector on. What is not zero times zero is added to the
   check. */
PL_LANES_INLINE vf spins(int from, int vectors, int count, const float *q, const float *old,
                         float *w, vf scale, vf check)
{
    vf turn[ABREAST][4], ratio[ABREAST], zero = pl_splat_f(0);
    for (int n = 0; n < vectors; n++) {
        size_t first = beginning(from + n, count);
        vf now[4], before[4];
        pl_lanes_load_fours(q + 4 * first, now);
        pl_lanes_load_fours(old + 4 * first, before);
        check += ((now[0] + now[1]) + (now[2] + now[3])) * zero;
        turn_between(now, before, turn[n]);
    }
    for (int n = 0; n < vectors; n++)
        ratio[n] = pl_quat_log_ratio_f(turn[n]);
    for (int n = 0; n < vectors; n++) {
        vf v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = settled(turn[n][k] * ratio[n] * scale);
            check += v[k] * zero;
        }
        pl_lanes_store_threes(w + 3 * beginning(from + n, count), v);
    }
    return check;
}

/* The same for less than a vector; the last is repeated. */
static vf few_spins(int count, const float *q, const float *old, float *w, vf scale, vf check)
{
    float now[4 * PL_W], before[4 * PL_W], out[3 * PL_W];
    for (int l = 0; l < PL_W; l++) {
        size_t from = 4 * (size_t)(l < count ? l : count - 1);
        memcpy(now + 4 * l, q + from, 16);
        memcpy(before + 4 * l, old + from, 16);
    }
    check = spins(0, 1, PL_W, now, before, out, scale, check);
    memcpy(w, out, 12 * (size_t)count);
    return check;
}

/* u = (x − x_old) rate and w. Whole vectors are read and written: pl_memory rounds blocks up to
   their size. False when a number is not finite. */
bool PL_LANES(pl_oriented_velocities)(int count, const pl_state *now, const pl_state *old,
                                      float rate)
{
    vf check = pl_splat_f(0), scale = pl_splat_f(rate), zero = pl_splat_f(0);
    for (int i = 0; i < 3 * count; i += PL_W) {
        vf x = pl_load_f(now->x + i), u = settled((x - pl_load_f(old->x + i)) * scale);
        pl_store_f(now->u + i, u);
        check += (x + u) * zero;
    }
    int vectors = (count + PL_W - 1) / PL_W;
    if (count < PL_W)
        check = few_spins(count, now->q, old->q, now->w, scale, check);
    else
        for (int n = 0; n < vectors; n += ABREAST)
            check = spins(n, vectors - n < ABREAST ? vectors - n : ABREAST, count, now->q, old->q,
                          now->w, scale, check);
    bool good = pl_all_f(check == zero);
    PL_LANES_LEAVE();
    return good;
}
