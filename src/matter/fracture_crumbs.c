/* What a crack leaves that is too small: halves of clusters with few members, and pieces with few
   particles, join the clusters beside them, each particle where it is, so that this makes no
   energy. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "matter/fracture.h"

/* In radii of a cluster: from so far out none joins. */
#define FARTHEST 2.5

/* ---- Pieces ---------------------------------------------------------------------------------- */

void pl_tear_find_pieces(pl_tear *t)
{
    const pl_clustered *c = t->c;
    int32_t *parent = t->parent, *size = t->size;
    for (int i = 0; i < c->n; i++)
        parent[i] = i;
    for (int k = 0; k < c->count; k++) {
        const pl_cluster *cluster = c->clusters + k;
        for (int m = cluster->first + 1; m < cluster->first + cluster->count; m++) {
            int a = pl_root_of(parent, c->particle[m]),
                b = pl_root_of(parent, c->particle[cluster->first]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    memset(size, 0, (size_t)c->n * sizeof *size);
    for (int i = 0; i < c->n; i++)
        size[pl_root_of(parent, i)]++;
}

int pl_tear_piece_of(const pl_tear *t, int index)
{
    return pl_root_of(t->parent, t->c->particle[t->c->clusters[index].first]);
}

/* ---- Crumbs ---------------------------------------------------------------------------------- */

/* The nearest of the clusters on this side of the crack; −1 = none. */
static int nearest_beside(const pl_tear *t, int side, pl_vec3 x)
{
    int best = -1;
    double least = (double)INFINITY;
    for (int k = 0; k < t->beside_count; k++) {
        int other = t->beside[k];
        double d = pl_v3_distance(x, pl_clustered_refit(t->c, other, t->change->x).centre);
        if (t->side[other] == side && d < least)
            best = other, least = d;
    }
    return best;
}

/* Goals R Fᵖ (p − mean) + centre of a cluster as it stands in the middle of all this: neither its
   weights nor A_pp nor the middle of its offsets have followed its members yet. */
typedef struct goals {
    pl_vec3 centre, mean;
    pl_mat3 shape; /* R Fᵖ */
} goals;

static goals goals_of(const pl_tear *t, const pl_cluster *cluster)
{
    const pl_clustered *c = t->c;
    goals g = {.shape = pl_m3_from_floats(cluster->plastic)};
    pl_mat3 moment = pl_m3_zero();
    double total = 0, q[4];
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        double wm = c->raw[m] > 0 ? (double)c->weight[m] * (double)c->mass[i] : 0;
        total += wm;
        g.centre = pl_v3_add_scaled(g.centre, wm, pl_v3_from_floats(t->change->x + 3 * (size_t)i));
        g.mean = pl_v3_add_scaled(g.mean, wm, pl_clustered_offset(c, m));
    }
    if (total > 0)
        g.centre = pl_v3_scale(g.centre, 1 / total), g.mean = pl_v3_scale(g.mean, 1 / total);
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        double wm = c->raw[m] > 0 ? (double)c->weight[m] * (double)c->mass[i] : 0;
        pl_vec3 x = pl_v3_sub(pl_v3_from_floats(t->change->x + 3 * (size_t)i), g.centre);
        pl_vec3 p = pl_m3_mul_v3(g.shape, pl_v3_sub(pl_clustered_offset(c, m), g.mean));
        moment = pl_m3_add_scaled(moment, wm, pl_m3_outer(x, p));
    }
    for (int k = 0; k < 4; k++)
        q[k] = (double)cluster->turn[k];
    pl_rotations_fit_double(1, &moment.m[0][0], q);
    g.shape = pl_m3_mul(pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]}), g.shape);
    return g;
}

/* The rest offset for which particle i is where its goal in a cluster is: so joining it makes no
   energy. False where it is too far out to be a member: in a cluster that is flat or far away,
   whose rotation it would decide alone. */
static bool offset_in(const pl_tear *t, int index, int i, pl_vec3 *p)
{
    const pl_cluster *cluster = t->c->clusters + index;
    goals g = goals_of(t, cluster);
    pl_mat3 inverse;
    if (!pl_m3_inverse(g.shape, &inverse))
        return false;
    pl_vec3 x = pl_v3_from_floats(t->change->x + 3 * (size_t)i);
    pl_vec3 away = pl_m3_mul_v3(inverse, pl_v3_sub(x, g.centre));
    *p = pl_v3_add(g.mean, away);
    return pl_v3_length(away) < FARTHEST * (double)cluster->radius;
}

/* One more member, in its present place; the members move behind all others. There is room. */
static void join(pl_tear *t, int index, int i)
{
    pl_clustered *c = t->c;
    pl_cluster *cluster = c->clusters + index;
    pl_vec3 p;
    if (!offset_in(t, index, i, &p))
        return;
    int first = c->member_count, place = first + cluster->count;
    float least = fabsf(c->raw[cluster->first]);
    for (int k = 0; k < cluster->count; k++) {
        pl_clustered_copy_member(c, first + k, cluster->first + k);
        least = fminf(fabsf(c->raw[first + k]), least);
        t->touched_particle[c->particle[first + k]] = true;
    }
    c->particle[place] = i;
    c->p[0][place] = (float)p.x, c->p[1][place] = (float)p.y, c->p[2][place] = (float)p.z;
    c->raw[place] = least;
    c->weight[place] = 0;
    cluster->first = first;
    cluster->count++;
    cluster->room = pl_clustered_room(cluster->count);
    c->member_count += cluster->room;
}

static bool is_member(const pl_clustered *c, int index, int i)
{
    const pl_cluster *cluster = c->clusters + index;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (c->particle[m] == i)
            return true;
    return false;
}

/* Whether a cluster on this side holds a particle, but for the halves of this one. */
static bool held_beside(const pl_tear *t, int index, int i, int side)
{
    const pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int other = c->owner[c->place[at]];
        if (other != index && (t->side[other] == side || t->side[other] == PL_SIDE_SPLIT))
            return true;
    }
    return false;
}

/* The cluster on this side that takes a member of a half that goes; −1 = none. */
static int taker_of(const pl_tear *t, int i, int side)
{
    pl_vec3 p;
    int other = nearest_beside(t, side, pl_v3_from_floats(t->change->x + 3 * (size_t)i));
    return other >= 0 && offset_in(t, other, i, &p) ? other : -1;
}

void pl_tear_dissolve(pl_tear *t, int index, int half, int side)
{
    pl_clustered *c = t->c;
    int first = c->clusters[half].first, end = first + c->clusters[half].count;
    for (int m = first; m < end; m++)
        if (!held_beside(t, index, c->particle[m], side) && taker_of(t, c->particle[m], side) < 0)
            return;
    for (int m = first; m < end; m++) {
        int i = c->particle[m], other = -1;
        if (!held_beside(t, index, i, side))
            other = taker_of(t, i, side);
        if (other >= 0)
            join(t, other, i);
    }
    c->clusters[half].count = 0; /* taken away with the others at the end */
}

/* ---- Splinters ------------------------------------------------------------------------------- */

/* The cluster of a larger piece whose middle is nearest, in reach of two radii; −1 = none. */
static int nearest_outside(const pl_tear *t, int index)
{
    const pl_clustered *c = t->c;
    pl_vec3 centre = pl_clustered_refit(c, index, t->change->x).centre;
    double least = 2 * (double)c->clusters[index].radius;
    int best = -1;
    for (int k = 0; k < c->count; k++) {
        if (c->clusters[k].count == 0 || t->size[pl_tear_piece_of(t, k)] < t->piece)
            continue;
        double d = pl_v3_distance(centre, pl_clustered_refit(c, k, t->change->x).centre);
        if (d < least)
            best = k, least = d;
    }
    return best;
}

static bool all_fit(const pl_tear *t, int index, int other)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    pl_vec3 p;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (!is_member(c, other, c->particle[m]) && !offset_in(t, other, c->particle[m], &p))
            return false;
    return true;
}

void pl_tear_absorb_splinters(pl_tear *t)
{
    pl_clustered *c = t->c;
    for (int k = 0; k < c->count; k++) {
        pl_cluster *cluster = c->clusters + k;
        if (cluster->count == 0 || (k < t->before && !t->touched_cluster[k]) ||
            t->size[pl_tear_piece_of(t, k)] >= t->piece)
            continue;
        int other = nearest_outside(t, k);
        if (other < 0 || !all_fit(t, k, other))
            continue;
        int64_t room =
            (int64_t)cluster->count * (c->clusters[other].count + cluster->count + PL_COLUMNS);
        if (room > INT32_MAX / 8 - c->member_count ||
            !pl_clustered_reserve(c, c->count, c->member_count + (int)room, c->n)) {
            c->unchanged++;
            continue;
        }
        cluster = c->clusters + k; /* may have moved */
        for (int m = cluster->first, end = m + cluster->count; m < end; m++)
            if (!is_member(c, other, c->particle[m]))
                join(t, other, c->particle[m]);
        cluster->count = 0;
    }
}
