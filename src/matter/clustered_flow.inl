/* Strain and plastic flow of clusters at one vector width (METHODS §2), a part of
   clustered_lanes.c: the rule of plastic.h with a cluster per lane, in doubles, because det Fᵖ = 1
   must last. */
#include "matter/plastic.h"

typedef float half_lanes __attribute__((vector_size(PL_WD * 4)));

PL_LANES_INLINE vd polynomial(const double *a, int count, vd x)
{
    vd p = pl_splat_d(a[0]);
    for (int i = 1; i < count; i++)
        p = p * x + a[i];
    return p;
}

/* log of positive normal numbers, to a few units in the last place: of x = 2^k m with √½ <= m < √2,
   by log m = 2 atanh s, s = (m − 1) / (m + 1). The sum with 1.5 · 2^52, as bits, makes a double of
   an integer. */
PL_LANES_INLINE vd log_lanes(vd x)
{
    static const double a[] = {0x1.e03a7acf07f85p-5, 0x1.df7ba1f4809c3p-5, 0x1.1118cd67251c5p-4,
                               0x1.3b1395b82701ep-4, 0x1.745d177ad436ap-4, 0x1.c71c71c6ea5acp-4,
                               0x1.2492492492522p-3, 0x1.999999999999ap-3};
    vl bits = (vl)x, mantissa = bits & ((INT64_C(1) << 52) - 1);
    vl above = mantissa >= pl_splat_bits_d(0x6a09e667f3bcd); /* m of √2 or more is halved */
    vl k = (bits >> 52) - 1023 - above;
    vd m = (vd)(mantissa | (above + 1023) << 52);
    vd power = (vd)((vl)pl_splat_d(0x1.8p52) + k) - 0x1.8p52;
    vd s = (m - 1) / (m + 1), u = s * s;
    vd rest = s * u * (2 * (u * polynomial(a, 8, u)) + 0x1.5555555555555p-1);
    return power * 0x1.62e42fefa39efp-1 + (2 * s + rest);
}

/* exp of numbers far from the ends of what there is: 2^k (1 + r + r² p(r)), r = x − k ln 2. */
PL_LANES_INLINE vd exp_lanes(vd x)
{
    static const double a[] = {0x1.61c0041f196cep-33, 0x1.1f7f7bd858cc6p-29, 0x1.ae642c522f57ep-26,
                               0x1.27e4d3ebbbbb4p-22, 0x1.71de3a5ab0d80p-19, 0x1.a01a01a9faa85p-16,
                               0x1.a01a01a019696p-13, 0x1.6c16c16c15a3fp-10, 0x1.1111111111111p-7,
                               0x1.5555555555557p-5,  0x1.5555555555555p-3,  0x1.0p-1};
    vd shifted = x * 0x1.71547652b82fep0 + 0x1.8p52, k = shifted - 0x1.8p52;
    vd r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    vd value = 1 + (r + r * r * polynomial(a, 12, r));
    return (vd)((vl)value + ((vl)shifted << 52));
}

/* pl_inverse_cube_root; a third of the bits as a sum of shifted ones. */
PL_LANES_INLINE vd inverse_cube_root(vd a)
{
    vl third = ((vl)a >> 2) + ((vl)a >> 4);
    third += third >> 4;
    third += third >> 8;
    third += third >> 16;
    third += third >> 32;
    vd y = (vd)(0x553ef0ff289dd796 - third);
    for (int i = 0; i < 2; i++) {
        vd r = 1 - a * y * y * y;
        y += y * r * (1.0 / 3 + r * (2.0 / 9 + r * (14.0 / 81)));
    }
    return y;
}

/* pl_plastic_deform: V diag(e) Vᵀ Fᵖ at determinant one. */
PL_LANES_INLINE void deform(const vd v[9], const vd e[3], vd plastic[9])
{
    vd a[9], b[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[3 * i + j] = v[3 * i] * e[0] * v[3 * j] + v[3 * i + 1] * e[1] * v[3 * j + 1] +
                           v[3 * i + 2] * e[2] * v[3 * j + 2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[3 * i + j] = a[3 * i] * plastic[j] + a[3 * i + 1] * plastic[3 + j] +
                           a[3 * i + 2] * plastic[6 + j];
    vd det = b[0] * (b[4] * b[8] - b[7] * b[5]) + b[3] * (b[7] * b[2] - b[1] * b[8]) +
             b[6] * (b[1] * b[5] - b[4] * b[2]);
    vl usable = (det > pl_splat_d(1e-6)) & (det < pl_splat_d(1e6));
    vd one = pl_splat_d(1);
    vd scale = pl_select_d(usable, inverse_cube_root(pl_select_d(usable, det, one)), one);
    for (int k = 0; k < 9; k++)
        plastic[k] = b[k] * scale;
}

/* pl_plastic_flow: Fᵖ after the sub-step; returns who flows. What is wrong with the others is
   selected away. */
PL_LANES_INLINE vl flow_some(const vd s[3], const vd v[9], double rate, vd limit, vd plastic[9])
{
    vd one = pl_splat_d(1), star[3], e[3], measure = pl_splat_d(0), deformed[9];
    vl flows =
        (s[2] > PL_FLATTEST * s[0]) & ((s[0] - s[2]) * 1.7321 > s[2] * limit) & (s[0] < 1e30);
    if (!pl_any_d(flows))
        return flows;
    vd unit = 1 / pl_select_d(flows, s[0], one);
    for (int k = 0; k < 3; k++)
        star[k] = pl_select_d(flows, s[k] * unit, one);
    vd scale = inverse_cube_root(star[1] * star[2]);
    for (int k = 0; k < 3; k++) {
        star[k] *= scale;
        measure += (star[k] - 1) * (star[k] - 1);
    }
    measure = pl_sqrt_d(measure);
    flows &= measure > limit;
    vd gamma = pl_select_d(flows, rate * (measure - limit) / measure, pl_splat_d(0));
    for (int k = 0; k < 2; k++)
        e[k] = exp_lanes(pl_min_d(gamma, one) * log_lanes(star[k]));
    e[2] = 1 / (e[0] * e[1]);
    for (int k = 0; k < 9; k++)
        deformed[k] = plastic[k];
    deform(v, e, deformed);
    for (int k = 0; k < 9; k++)
        plastic[k] = pl_select_d(flows, deformed[k], plastic[k]);
    return flows;
}

/* Where clusters start to flow: nowhere without rank 3. */
static void find_yields(const pl_clustered_step *step, const group *g, int first,
                        double limit[PL_W])
{
    const pl_clustered_def *def = &step->clustered->def;
    for (int lane = 0; lane < PL_W; lane++) {
        const pl_cluster *cluster = first + lane < g->count ? g->cluster[first + lane] : NULL;
        limit[lane] = (double)INFINITY;
        if (cluster && cluster->rank == 3 && def->yield < (double)INFINITY) {
            double yield = def->yield + def->hardening * cluster->worked;
            limit[lane] = yield > 0 ? yield : 0;
        }
    }
}

/* What becomes of Fᵖ of PL_W clusters, with the singular values s and the right vectors v (row by
   row) of Fᵉ; sets `flows`, and counts the work done. */
static void flow_lanes(const pl_clustered_step *step, group *g, int first, const vf s[3],
                       const vf v[9], const vf plastic[9], float flow[9 * PL_W])
{
    double limit[PL_W] ALIGNED, strain[PL_W] ALIGNED;
    int64_t flows[PL_W] ALIGNED;
    vd values[3][2], right[9][2], shape[9][2];
    find_yields(step, g, first, limit);
    for (int k = 0; k < 3; k++)
        pl_widen_f(s[k], values[k]);
    for (int k = 0; k < 9; k++) {
        pl_widen_f(v[k], right[k]);
        pl_widen_f(plastic[k], shape[k]);
    }
    for (int half = 0; half < 2; half++) {
        vd own[3], vectors[9], p[9], sum = pl_splat_d(0);
        for (int k = 0; k < 3; k++) {
            own[k] = values[k][half];
            sum += (own[k] - 1) * (own[k] - 1);
        }
        for (int k = 0; k < 9; k++)
            vectors[k] = right[k][half], p[k] = shape[k][half];
        vl who = flow_some(own, vectors, step->flow, pl_load_d(limit + half * PL_WD), p);
        memcpy(flows + half * PL_WD, &who, sizeof who);
        pl_store_d(strain + half * PL_WD, pl_sqrt_d(sum));
        for (int k = 0; k < 9; k++) {
            half_lanes out = __builtin_convertvector(p[k], half_lanes);
            memcpy(flow + k * PL_W + half * PL_WD, &out, sizeof out);
        }
    }
    for (int lane = 0; lane < PL_W && first + lane < g->count; lane++) {
        pl_cluster *cluster = g->cluster[first + lane];
        double worked = (double)cluster->worked + step->motion->h * strain[lane];
        cluster->worked = worked < 1e30 ? (float)worked : 1e30f;
        cluster->flows = flows[lane] != 0;
    }
}
