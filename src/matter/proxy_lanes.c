/* Where the members of clusters are, for their contact with each other (proxy.c), at one vector
   width: sixteen columns, as all sums over members, so that every width gives the same bits. */
#include "matter/proxy_lanes.h"

#include <math.h>

#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"
#include "matter/clustered_rows.inl"

enum { LOW = 0, HIGH = 3, SUM = 6, MASS = 9, FARTHEST = 10, KINDS = 11 };

/* Those that are nobody's have no weight; they stay out of the box, and in no proxy. */
PL_LANES_INLINE void locate_some(const pl_clustered *c, const pl_cluster *cluster, int m, vi there,
                                 float *const at[3], vf *sum)
{
    vf x[4], square = pl_splat_f(0), nowhere = pl_splat_f(INFINITY);
    load_rows(c->rows.x, c->rows.row + m, x);
    vf weight = pl_load_f(c->weight + m) * x[3];
    sum[MASS] += weight;
    for (int k = 0; k < 3; k++) {
        vf place = pl_select_f(there, x[k], nowhere), d = x[k] - cluster->centre[k];
        sum[LOW + k] = pl_min_f(place, sum[LOW + k]);
        sum[HIGH + k] = pl_max_f(pl_select_f(there, x[k], -nowhere), sum[HIGH + k]);
        sum[SUM + k] += weight * d;
        square += d * d;
        pl_store_f(at[k] + m, place);
    }
    sum[FARTHEST] = pl_max_f(pl_select_f(there, square, pl_splat_f(0)), sum[FARTHEST]);
}

static float largest(const float column[PL_COLUMNS])
{
    float most = column[0];
    for (int k = 1; k < PL_COLUMNS; k++)
        most = column[k] > most ? column[k] : most;
    return most;
}

static float total(const float column[PL_COLUMNS])
{
    float four[4];
    fold(column, four);
    return (four[0] + four[1]) + (four[2] + four[3]);
}

static float least(const float column[PL_COLUMNS])
{
    float low = column[0];
    for (int k = 1; k < PL_COLUMNS; k++)
        low = column[k] < low ? column[k] : low;
    return low;
}

pl_located PL_LANES(pl_cluster_locate)(const pl_clustered *c, const pl_cluster *cluster,
                                       float *const at[3])
{
    float column[KINDS][PL_COLUMNS] ALIGNED;
    int32_t number[PL_COLUMNS] ALIGNED;
    for (int k = 0; k < PL_COLUMNS; k++)
        number[k] = k;
    for (int part = 0; part < PL_COLUMNS; part += PL_W) {
        vf sum[KINDS];
        vi own;
        memcpy(&own, number + part, sizeof own);
        for (int k = 0; k < KINDS; k++)
            sum[k] = pl_splat_f(k < HIGH ? INFINITY : k < SUM ? -INFINITY : 0.0f);
        for (int m = 0; m < cluster->room; m += PL_COLUMNS)
            locate_some(c, cluster, cluster->first + m + part, own < cluster->count - m, at, sum);
        for (int k = 0; k < KINDS; k++)
            pl_store_f(column[k] + part, sum[k]);
    }
    float mass = total(column[MASS]), share = mass > 0 ? 1 / mass : 0;
    pl_located out = {.farthest = sqrtf(largest(column[FARTHEST]))};
    for (int k = 0; k < 3; k++) {
        out.low[k] = least(column[LOW + k]);
        out.high[k] = largest(column[HIGH + k]);
        out.mean[k] = cluster->centre[k] + share * total(column[SUM + k]);
    }
    PL_LANES_LEAVE();
    return out;
}
