/* Which clusters the fit finds the strain of, and that of the others. */
#include <math.h>

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
