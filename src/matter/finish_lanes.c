/* What follows the solve, over whole arrays of a body: sums of momentum, shifts, velocities. */
#include "matter/oriented_lanes.h"

#include "math/lanes.h"
#define PL_REAL_IS_DOUBLE 0
#include "math/elementary.inl"

/* ---- Sums and shifts ------------------------------------------------------------------------- */

/* Arrays of three components are gone through in pieces of so many numbers, whatever the width: the order of a sum is
   always the same. */
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

/* ---- Velocities ------------------------------------------------------------------------------ */

/* Decaying numbers end at zero instead of in the slow subnormals; 10⁻¹² units per second move nothing. */
PL_LANES_INLINE vf settled(vf v)
{
    return pl_select_f(pl_abs_f(v) < pl_splat_f(1e-12f), pl_splat_f(0), v);
}

/* log(a conj(b)) of unit quaternions. */
PL_LANES_INLINE void spin_between(const vf a[4], const vf b[4], vf v[3])
{
    vf d[4];
    d[0] = a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]);
    d[1] = a[1] * b[3] - a[3] * b[1] - (a[2] * b[0] - a[0] * b[2]);
    d[2] = a[2] * b[3] - a[3] * b[2] - (a[0] * b[1] - a[1] * b[0]);
    d[3] = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
    pl_quat_log_f(d, v);
}

/* Four quaternion components of PL_W particles that stand one after the other; those beyond the last repeat it. */
PL_LANES_INLINE void load_quaternions(const float *q, int first, int count, vf out[4])
{
    const float *rows[PL_W];
    float buffer[4 * PL_W] __attribute__((aligned(64)));
    for (int l = 0; l < PL_W; l++)
        rows[l] = q + 4 * (size_t)(first + l < count ? first + l : count - 1);
    pl_lanes_gather(rows, 4, buffer);
    for (int k = 0; k < 4; k++)
        out[k] = pl_load_f(buffer + k * PL_W);
}

/* Three components of PL_W particles that stand one after the other. */
PL_LANES_INLINE void store_spins(const float *columns, float *w, int first, int count)
{
    int lanes = count - first < PL_W ? count - first : PL_W;
    for (int l = 0; l < lanes; l++)
        for (int k = 0; k < 3; k++)
            w[3 * (first + l) + k] = columns[k * PL_W + l];
}

/* u = (x − x_old) rate and w = log(q q_oldᵀ) rate. Whole vectors are read and written: pl_memory rounds blocks up to
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
    for (int first = 0; first < count; first += PL_W) {
        vf q[4], before[4], w[3];
        float out[3 * PL_W] __attribute__((aligned(64)));
        load_quaternions(now->q, first, count, q);
        load_quaternions(old->q, first, count, before);
        spin_between(q, before, w);
        check += ((q[0] + q[1]) + (q[2] + q[3])) * zero;
        for (int k = 0; k < 3; k++) {
            w[k] = settled(w[k] * scale);
            check += w[k] * zero;
            pl_store_f(out + k * PL_W, w[k]);
        }
        store_spins(out, now->w, first, count);
    }
    bool good = pl_all_f(check == zero);
    PL_LANES_LEAVE();
    return good;
}
