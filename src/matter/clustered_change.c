/* What happens to clustered matter after the velocities of a sub-step are known, in the order of
   METHODS §2: commit Fᵖ → fracture → add clusters → mark and fade → recentre offsets. A change for
   which there is no memory does not happen, and is counted. */
#include "matter/clustered_change.h"

#include <string.h>

#include "math/elementary.h"
#include "matter/plastic.h"

pl_cluster_fit pl_clustered_refit(const pl_clustered *c, int index, const float *x)
{
    const pl_cluster *cluster = c->clusters + index;
    double first[3] = {0}, sum[9] = {0}, offset[3] = {0}, mass = 0;
    const float *base = x + 3 * (size_t)c->particle[cluster->first];
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        double w = (double)c->weight[m] * (double)c->mass[i];
        double p[3] = {(double)c->p[0][m], (double)c->p[1][m], (double)c->p[2][m]};
        mass += w;
        for (int j = 0; j < 3; j++) {
            double d = w * ((double)x[3 * (size_t)i + j] - (double)base[j]);
            first[j] += d;
            offset[j] += w * p[j];
            for (int k = 0; k < 3; k++)
                sum[3 * j + k] += d * p[k];
        }
    }
    pl_cluster_fit fit = {pl_v3_from_floats(cluster->centre), pl_m3_from_floats(cluster->gradient)};
    if (!(mass > 0))
        return fit;
    double mean[3];
    for (int j = 0; j < 3; j++)
        mean[j] = first[j] / mass;
    fit.centre =
        pl_v3((double)base[0] + mean[0], (double)base[1] + mean[1], (double)base[2] + mean[2]);
    if (cluster->rank < 3)
        return fit;
    const float *a = cluster->inverse;
    const float inverse[9] = {a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5]};
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            sum[3 * j + k] -= mean[j] * offset[k];
    pl_mat3 moment = {
        {{sum[0], sum[1], sum[2]}, {sum[3], sum[4], sum[5]}, {sum[6], sum[7], sum[8]}}};
    fit.gradient = pl_m3_mul(moment, pl_m3_from_floats(inverse));
    return fit;
}

/* ---- Plastic flow and toughness -------------------------------------------------------------- */

/* Σ w m ‖x − c − R P p‖² with the best R, but for what does not depend on the shape P; `moved` is
   A_xp, `rest` A_pp. */
static double left_by(pl_mat3 shape, pl_mat3 moved, pl_mat3 rest)
{
    pl_mat3 turned = pl_m3_mul(moved, pl_m3_transpose(shape)), by = pl_m3_mul(shape, rest);
    double u[9], s[3], v[9], sum = 0;
    pl_svd3_double(1, &turned.m[0][0], u, s, v);
    for (int k = 0; k < 9; k++)
        sum += by.m[k / 3][k % 3] * shape.m[k / 3][k % 3];
    return sum - 2 * (s[0] + s[1] + s[2]);
}

/* Flow keeps the volume: what is given up in one direction is taken on in others. Where that costs
   more than it yields, as it may in what cracks leave, thin in the one direction or drawn out, it
   would be a source of energy, and does not happen. Bodies that cannot break have no such clusters,
   and are not asked. */
static bool dissipates(const pl_clustered *c, int index, const float *x)
{
    const pl_cluster *cluster = c->clusters + index;
    const float *a = cluster->inverse;
    const float inverse[9] = {a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5]};
    pl_mat3 rest;
    if (!pl_m3_inverse(pl_m3_from_floats(inverse), &rest))
        return false;
    pl_mat3 moved = pl_m3_mul(pl_clustered_refit(c, index, x).gradient, rest);
    return left_by(pl_m3_from_floats(cluster->flow), moved, rest) <
           left_by(pl_m3_from_floats(cluster->plastic), moved, rest);
}

static void commit_cluster(pl_clustered *c, int index, const float *x, double h, double decay)
{
    const pl_clustered_def *def = &c->def;
    pl_cluster *cluster = c->clusters + index;
    if (cluster->flows && (!(def->toughness < (double)INFINITY) || dissipates(c, index, x)))
        memcpy(cluster->plastic, cluster->flow, sizeof cluster->plastic);
    cluster->flows = false;
    cluster->calm = cluster->calm > (float)h ? cluster->calm - (float)h : 0;
    if (def->toughness < (double)INFINITY)
        cluster->toughness =
            (float)(def->toughness + decay * ((double)cluster->toughness - def->toughness));
}

/* ---- Marks and fades ------------------------------------------------------------------------- */

/* cond(A) <= ‖A‖ ‖A⁻¹‖ (Frobenius) <= 3 cond(A): most need no singular values. */
static bool is_worn(const pl_cluster *cluster, double limit)
{
    pl_mat3 plastic = pl_m3_from_floats(cluster->plastic), inverse;
    double a = 0, b = 0;
    if (!pl_m3_inverse(plastic, &inverse))
        return true;
    for (int k = 0; k < 9; k++) {
        a += plastic.m[k / 3][k % 3] * plastic.m[k / 3][k % 3];
        b += inverse.m[k / 3][k % 3] * inverse.m[k / 3][k % 3];
    }
    if (a * b <= limit * limit)
        return false;
    return !(pl_condition(plastic) <= limit);
}

/* One sub-step of the life of a cluster; false when it is over. Only a cluster that was marked
   before, so that others had the time to take its place, may go. */
static bool live_on(pl_clustered *c, pl_cluster *cluster, double h, bool may_go, bool *fades)
{
    const pl_clustered_def *def = &c->def;
    bool marked = cluster->phase == PL_PHASE_GOING;
    if (!marked && def->recluster != PL_RECLUSTER_NONE && is_worn(cluster, def->condition)) {
        cluster->phase = PL_PHASE_GOING;
        c->content = false;
    }
    if (cluster->phase == PL_PHASE_WHOLE)
        return true;
    *fades = true;
    if (cluster->phase == PL_PHASE_COMING) {
        double fade = def->fade_in > 0 ? (double)cluster->fade + h / def->fade_in : 1;
        cluster->fade = fade < 1 ? (float)fade : 1;
        if (cluster->fade >= 1)
            cluster->phase = PL_PHASE_WHOLE;
        return true;
    }
    double step = def->fade_out > 0 ? h / def->fade_out : 1;
    double fade = (double)cluster->fade - step;
    if (fade <= 1e-6 && marked && may_go)
        return false;
    /* Its last bit of weight stays until it may go. */
    double least = step < 1 ? 0.5 * step : 0.5;
    if (fade >= least)
        cluster->fade = (float)fade;
    else if ((double)cluster->fade > least)
        cluster->fade = (float)least;
    return true;
}

/* True if weights change; *gone is raised by the number of clusters that went. */
static bool mark_and_fade(pl_clustered *c, double h, int newest, bool may_go, int *gone)
{
    bool fades = newest > 0;
    int kept = 0, old = c->count - newest;
    for (int i = 0; i < c->count; i++) {
        bool stays = i >= old || live_on(c, c->clusters + i, h, may_go, &fades);
        if (stays && kept != i)
            c->clusters[kept] = c->clusters[i];
        kept += stays;
    }
    *gone += c->count - kept;
    c->removed += (uint64_t)(c->count - kept);
    c->count = kept;
    return fades || *gone;
}

void pl_clustered_commit(pl_clustered *c, pl_clustered_change *change, pl_tasks *tasks)
{
    (void)tasks;
    change->changed = false;
    double decay = pl_exp(-c->def.boost_decay * change->h);
    for (int i = 0; i < c->count; i++)
        commit_cluster(c, i, change->x, change->h, decay);

    if (c->def.toughness < (double)INFINITY)
        change->changed = pl_clustered_fracture(c, change);
    if (change->changed)
        c->content = false;

    int added = 0, gone = 0;
    bool may_go = true;
    if (c->def.recluster != PL_RECLUSTER_NONE)
        may_go = pl_clustered_add(c, change->x, change->h, &added);
    bool weights = mark_and_fade(c, change->h, added, may_go, &gone);
    if (added || gone) {
        pl_clustered_index(c);
        change->changed = true;
    }
    if (weights)
        pl_clustered_weigh(c);
    for (int i = c->count - added; i < c->count; i++)
        pl_clustered_thin_planes(c, i);
    change->n = c->n;
    c->settled =
        !(c->def.yield < (double)INFINITY) && !(c->def.toughness < (double)INFINITY) && !weights;
    if (change->changed)
        c->topology++;
}
