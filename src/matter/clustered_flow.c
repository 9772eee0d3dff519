/* Strain and plastic flow of one cluster, in doubles: few clusters flow, and det Fᵖ = 1 must last. */
#include <math.h>
#include <string.h>

#include "matter/clustered_change.h"
#include "matter/clustered_lanes.h"
#include "matter/plastic.h"

bool pl_clustered_measures_strain(const pl_clustered *c)
{
    return 2 * c->count < c->n || c->def.yield < (double)INFINITY ||
           c->def.toughness < (double)INFINITY;
}

float pl_cluster_stretch(const pl_clustered *c, const pl_cluster *cluster)
{
    pl_mat3 unplastic;
    pl_vec3 direction;
    if (pl_clustered_measures_strain(c) ||
        !pl_m3_inverse(pl_m3_from_floats(cluster->plastic), &unplastic))
        return cluster->stretch;
    pl_mat3 elastic = pl_m3_mul(pl_m3_from_floats(cluster->gradient), unplastic);
    return (float)pl_largest_stretch(elastic, &direction);
}

static void flow(pl_cluster *cluster, double rate, double limit, const double s[3],
                 const double v[9])
{
    pl_mat3 plastic;
    for (int k = 0; k < 9; k++)
        plastic.m[k / 3][k % 3] = (double)cluster->plastic[k];
    if (!pl_plastic_flow(s, v, rate, limit, &plastic))
        return;
    for (int k = 0; k < 9; k++)
        cluster->flow[k] = (float)plastic.m[k / 3][k % 3];
    cluster->flows = true;
}

void pl_cluster_flow(pl_cluster *cluster, const pl_clustered_step *step, const float s[3],
                     const float v[9])
{
    const pl_clustered_def *def = &step->clustered->def;
    double values[3], right[9];
    for (int k = 0; k < 3; k++)
        values[k] = (double)s[k];
    for (int k = 0; k < 9; k++)
        right[k] = (double)v[k];
    cluster->flows = false;
    memcpy(cluster->flow, cluster->plastic, sizeof cluster->flow);
    if (def->yield < INFINITY && cluster->rank == 3) {
        double limit = def->yield + def->hardening * cluster->worked;
        flow(cluster, step->flow, limit > 0 ? limit : 0, values, right);
    }
    cluster->worked = pl_plastic_worked(cluster->worked, values, step->motion->h);
}
