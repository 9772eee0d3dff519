/* Between the parts of a change of topology: clustered_change.c (the order of things), fracture.c,
   recluster.c. */
#ifndef PL_MATTER_CLUSTERED_CHANGE_H
#define PL_MATTER_CLUSTERED_CHANGE_H

#include "math/mat3.h"
#include "matter/clustered.h"

/* A cluster fitted to the positions as they are now, in doubles. */
typedef struct pl_cluster_fit {
    pl_vec3 centre;
    pl_mat3 gradient; /* F; completed for members that span no volume */
} pl_cluster_fit;

pl_cluster_fit pl_clustered_refit(const pl_clustered *clustered, int index, const float *x);

/* Splits what is stretched beyond its toughness. True if anything changed: tables and weights are
   then up to date. */
bool pl_clustered_fracture(pl_clustered *clustered, pl_clustered_change *change);

/* Adds clusters where marked ones will leave too few. False if some are still owed for want of
   memory: then no cluster may go. *added is raised by the number of new ones, which are behind the
   others and not in the tables yet. */
bool pl_clustered_add(pl_clustered *clustered, const float *x, double h, int *added);

/* ---- Small things ---------------------------------------------------------------------------- */

static inline pl_mat3 pl_m3_from_floats(const float *a)
{
    pl_mat3 m;
    for (int k = 0; k < 9; k++)
        m.m[k / 3][k % 3] = (double)a[k];
    return m;
}

static inline void pl_m3_to_floats(pl_mat3 m, float *a)
{
    for (int k = 0; k < 9; k++)
        a[k] = (float)m.m[k / 3][k % 3];
}

static inline pl_vec3 pl_clustered_offset(const pl_clustered *clustered, int place)
{
    return pl_v3((double)clustered->p[0][place], (double)clustered->p[1][place],
                 (double)clustered->p[2][place]);
}

static inline int pl_clustered_room(int count)
{
    return (count + PL_COLUMNS - 1) / PL_COLUMNS * PL_COLUMNS;
}

static inline bool pl_cluster_is_cracked(const pl_cluster *cluster)
{
    for (int k = 0; k < cluster->cut_count; k++)
        if (cluster->cuts[k].crack)
            return true;
    return false;
}

/* In a forest in which roots are their own parents. */
static inline int pl_root_of(int32_t *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* A plane more for the proxy; without room it takes the place of the one farthest from the
   centre. */
void pl_cluster_cut(pl_cluster *cluster, const pl_cut *cut);

#endif
