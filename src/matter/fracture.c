/* Fracture (Jones et al. 2016, METHODS §2): a cluster whose largest stretch exceeds 1 by more than its toughness is split by
   the plane through its centre normal to that stretch; worst first, each looked at again with the positions as they are.
   Where neighbours reach across the plane, their members there leave them; only those that the plane goes through are
   divided, so that the surfaces of the crack are even, and no thin layers of halves are left to come off later.
   In one sub-step no two clusters are split that have to do with each other: whatever else is still too much tears in the
   next one, after the forces have changed. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "matter/clustered_change.h"
#include "matter/plastic.h"

typedef struct tear {
    pl_clustered *c;
    pl_clustered_change *change;
    bool *touched_cluster;  /* [clusters before] split, or a neighbour of one that was */
    bool *touched_particle; /* [particles there is room for] */
    float *smallest;        /* [particles of the model] the least mass a part of each may have */
    int8_t *side;           /* [clusters before] of the present plane: 1, −1; 0 = not known */
    int32_t *beside;        /* [clusters before] those whose side is known */
    int beside_count;
    int before; /* clusters */
    int piece;  /* particles of the smallest one: members that clusters have in the mean */
    int least; /* members of the smallest half: a quarter of that, if not more are asked for. A few particles beside a crack
                   make no cluster by which one can tell strain from noise */
} tear;

/* In radii of a cluster: particles nearer to the plane of a cut are divided by it; from so far out none joins. */
#define NEAR 0.1
#define FARTHEST 2.5

/* Of the mass of a particle of the model: no part of it is smaller. Without that bound cracks and new clusters can go on
   dividing the same particles, whose number and whose ratios of mass then grow without end. */
#define SMALLEST 0.125

/* The plane of a split, in the world. */
typedef struct plane {
    pl_vec3 centre, normal;
    double radius;
} plane;

/* ---- Who ------------------------------------------------------------------------------------------------------------ */

static bool may_split(const pl_cluster *cluster)
{
    return cluster->rank >= 2 && cluster->count >= 2 && !(cluster->calm > 0) &&
           cluster->stretch > 1 + cluster->toughness;
}

/* What cannot be split, being too small or too flat, is drawn out without end where pieces part; from so many times its toughness
   on it lets go altogether. */
#define LETS_GO 3.0f

static bool lets_go(const pl_cluster *cluster)
{
    return cluster->stretch - 1 > LETS_GO * cluster->toughness;
}

static int list_candidates(const pl_clustered *c, pl_sort_item *items)
{
    int count = 0;
    for (int i = 0; i < c->count; i++)
        if (may_split(c->clusters + i)) {
            float excess = c->clusters[i].stretch - 1 - c->clusters[i].toughness;
            items[count++] = (pl_sort_item){~(uint64_t)pl_sort_float_key(excess), (uint32_t)i};
        }
    pl_sort(items, items + c->count, (size_t)count);
    return count;
}

static bool is_untouched(const tear *t, int index)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    if (t->touched_cluster[index])
        return false;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (t->touched_particle[c->particle[m]])
            return false;
    return true;
}

/* Looked at again: the stretch with the positions as they are, and its direction. */
static bool still_torn(const tear *t, int index, pl_cluster_fit *fit, plane *cut)
{
    const pl_cluster *cluster = t->c->clusters + index;
    pl_mat3 inverse;
    *fit = pl_clustered_refit(t->c, index, t->change->x);
    if (!pl_m3_inverse(pl_m3_from_floats(cluster->plastic), &inverse))
        return false;
    double stretch = pl_largest_stretch(pl_m3_mul(fit->gradient, inverse), &cut->normal);
    cut->centre = fit->centre;
    cut->radius = (double)cluster->radius;
    return stretch - 1 > (double)cluster->toughness;
}

/* ---- Sides ---------------------------------------------------------------------------------------------------------- */

/* On which side of the plane every cluster lies that shares a particle with the one that is split. */
static void find_sides(tear *t, int index, const plane *cut)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    t->beside_count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        for (int at = c->start[i]; at < c->start[i + 1]; at++) {
            int other = c->owner[c->place[at]];
            if (other == index || t->side[other])
                continue;
            pl_vec3 centre = pl_clustered_refit(c, other, t->change->x).centre;
            double along = pl_v3_dot(cut->normal, pl_v3_sub(centre, cut->centre));
            t->side[other] = along >= 0 ? 1 : -1;
            t->beside[t->beside_count++] = other;
        }
    }
}

static void forget_sides(tear *t)
{
    for (int k = 0; k < t->beside_count; k++)
        t->side[t->beside[k]] = 0;
}

static int side_of_member(const pl_clustered *c, int place, pl_vec3 rest_normal)
{
    return pl_v3_dot(rest_normal, pl_clustered_offset(c, place)) >= 0 ? 1 : -1;
}

/* What a particle has on the other side. */
typedef struct reach {
    bool any;
    double
        part; /* of its weight: with clusters that stay. Marked ones are not worth dividing it for */
} reach;

static reach reach_beyond(const tear *t, int index, int i, int side)
{
    const pl_clustered *c = t->c;
    double all = 0, beyond = 0;
    reach r = {.any = false};
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int place = c->place[at], other = c->owner[place];
        all += (double)c->weight[place];
        if (other == index || t->side[other] == side)
            continue;
        r.any = true;
        if (c->clusters[other].phase != PL_PHASE_GOING)
            beyond += (double)c->weight[place];
    }
    r.part = all > 0 ? beyond / all : 0;
    return r;
}

/* ---- Members ----------------------------------------------------------------------------------------------------------- */

static void copy_member(pl_clustered *c, int to, int from)
{
    c->particle[to] = c->particle[from];
    for (int k = 0; k < 3; k++)
        c->p[k][to] = c->p[k][from];
    c->raw[to] = c->raw[from];
    c->weight[to] = c->weight[from];
}

/* ---- Dividing particles --------------------------------------------------------------------------------------------- */

/* What the part beyond gets of a mass, neither part less than `least`, such that both are floats and their sum is exactly
   the mass. */
static float part_of_mass(float mass, double part, float least)
{
    double small = (double)mass * (part < 0.5 ? part : 1 - part);
    float sum = (float)((double)mass + fmax(small, (double)least)), less = sum - mass;
    return part < 0.5 ? less : mass - less;
}

/* Whether particle i is large enough for two parts; with a little more than that, for rounding. */
static bool may_divide(const tear *t, int i)
{
    return t->c->mass[i] > 2.01f * t->smallest[t->c->origin[i]];
}

/* Particle i keeps its place with the clusters on its side; a new one takes it with those on the other. */
static void divide(tear *t, int index, int i, int side, double part)
{
    pl_clustered *c = t->c;
    pl_clustered_change *change = t->change;
    float beyond = part_of_mass(c->mass[i], part, t->smallest[c->origin[i]]);
    int new = c->n++;
    c->mass[new] = beyond;
    c->mass[i] -= beyond;
    c->radius[new] = c->radius[i];
    c->origin[new] = c->origin[i];
    memcpy(change->x + 3 * (size_t) new, change->x + 3 * (size_t)i, 3 * sizeof(float));
    memcpy(change->u + 3 * (size_t) new, change->u + 3 * (size_t)i, 3 * sizeof(float));
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int place = c->place[at], other = c->owner[place];
        if (other == index || t->side[other] == side)
            continue;
        if (c->clusters[other].phase == PL_PHASE_GOING)
            c->raw[place] = -fabsf(c->raw[place]);
        else
            c->particle[place] = new;
    }
    c->divided++;
}

/* Members of a cluster but for those that leave it. */
static int count_staying(const pl_clustered *c, const pl_cluster *cluster)
{
    int count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        count += c->raw[m] > 0;
    return count;
}

/* Whether the clusters on the other side can do without particle i. */
static bool may_leave(const tear *t, int index, int i, int side)
{
    const pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int other = c->owner[c->place[at]];
        if (other != index && t->side[other] != side &&
            c->clusters[other].phase != PL_PHASE_GOING &&
            count_staying(c, c->clusters + other) <= t->least)
            return false;
    }
    return true;
}

/* Particle i keeps its place with the clusters on its side and leaves those on the other: a negative raw weight says so,
   until drop_leaving. */
static void leave(tear *t, int index, int i, int side)
{
    pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int place = c->place[at], other = c->owner[place];
        if (other != index && t->side[other] != side)
            c->raw[place] = -fabsf(c->raw[place]);
    }
}

static void drop_leaving(pl_clustered *c)
{
    for (int i = 0; i < c->count; i++) {
        pl_cluster *cluster = c->clusters + i;
        int kept = cluster->first, end = cluster->first + cluster->count;
        for (int m = cluster->first; m < end; m++)
            if (c->raw[m] > 0)
                copy_member(c, kept++, m);
        cluster->count = kept - cluster->first;
    }
}

/* Particles that will be divided, at most. */
static int count_divided(const tear *t, int index, pl_vec3 rest_normal)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    int count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        count += reach_beyond(t, index, c->particle[m], side_of_member(c, m, rest_normal)).part > 0;
    return count;
}

/* ---- Splitting clusters --------------------------------------------------------------------------------------------- */

/* Members on the positive side stay; the others go to a new cluster behind all. */
static void split_members(pl_clustered *c, int index, pl_vec3 rest_normal)
{
    pl_cluster *cluster = c->clusters + index, *half = c->clusters + c->count;
    *half = *cluster;
    half->first = c->member_count;
    half->id = c->next_id++;
    int kept = cluster->first, end = cluster->first + cluster->count, gone = half->first;
    for (int m = cluster->first; m < end; m++)
        copy_member(c, side_of_member(c, m, rest_normal) > 0 ? kept++ : gone++, m);
    cluster->count = kept - cluster->first;
    half->count = gone - half->first;
    half->room = pl_clustered_room(half->count);
    c->member_count += half->room;
    c->count++;
}

static void strengthen(pl_cluster *cluster, const pl_clustered_def *def)
{
    cluster->toughness = (float)(def->toughness * (1 + def->toughness_boost));
    cluster->calm = (float)def->calm;
}

/* A half-space of the proxy: what lies on the side of the plane to which `side` points. */
static void cut_proxy(pl_cluster *cluster, pl_mat3 gradient, pl_vec3 centre, const plane *crack,
                      int side)
{
    pl_mat3 inverse;
    if (!pl_m3_inverse(gradient, &inverse))
        return;
    pl_vec3 n = pl_v3_scale(pl_rest_normal(gradient, crack->normal), -side);
    pl_vec3 middle = pl_m3_mul_v3(inverse, pl_v3_sub(crack->centre, centre));
    pl_cut cut = {
        .offset = (float)pl_v3_dot(n, middle), .reach = (float)crack->radius, .crack = true};
    pl_v3_to_floats(n, cut.normal);
    pl_v3_to_floats(middle, cut.middle);
    pl_cluster_cut(cluster, &cut);
}

/* Clusters beside the crack: their proxies must not reach through it. Those away from its plane are relieved of their
   load, and do not tear for a while; those in the plane have to bear more of it. */
static void treat_neighbours(tear *t, const plane *cut)
{
    pl_clustered *c = t->c;
    for (int k = 0; k < t->beside_count; k++) {
        int other = t->beside[k];
        pl_cluster *cluster = c->clusters + other;
        pl_cluster_fit fit = pl_clustered_refit(c, other, t->change->x);
        double away = pl_v3_dot(cut->normal, pl_v3_sub(fit.centre, cut->centre));
        t->touched_cluster[other] = true;
        cut_proxy(cluster, fit.gradient, fit.centre, cut, t->side[other]);
        if (fabs(away) > 0.5 * (double)cluster->radius)
            strengthen(cluster, &c->def);
    }
}

/* ---- Crumbs --------------------------------------------------------------------------------------------------------- */

/* The nearest of the clusters on this side of the crack; −1 = none. */
static int nearest_beside(const tear *t, int side, pl_vec3 x)
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

/* Goals R Fᵖ (p − mean) + centre of a cluster as it stands in the middle of all this: neither its weights nor A_pp nor the
   middle of its offsets have followed its members yet. */
typedef struct goals {
    pl_vec3 centre, mean;
    pl_mat3 shape; /* R Fᵖ */
} goals;

static goals goals_of(const tear *t, const pl_cluster *cluster)
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

/* The rest offset for which particle i is where its goal in a cluster is: so joining it makes no energy. False where it is
   too far out to be a member: in a cluster that is flat or far away, whose rotation it would decide alone. */
static bool offset_in(const tear *t, int index, int i, pl_vec3 *p)
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
static void join(tear *t, int index, int i)
{
    pl_clustered *c = t->c;
    pl_cluster *cluster = c->clusters + index;
    pl_vec3 p;
    if (!offset_in(t, index, i, &p))
        return;
    int first = c->member_count, place = first + cluster->count;
    float least = fabsf(c->raw[cluster->first]);
    for (int k = 0; k < cluster->count; k++) {
        copy_member(c, first + k, cluster->first + k);
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

/* Whether a cluster beside the crack holds a particle, but for the halves. */
static bool held_beside(const tear *t, int index, int i, int side)
{
    const pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int other = c->owner[c->place[at]];
        if (other != index && t->side[other] == side)
            return true;
    }
    return false;
}

/* The cluster on this side that takes a member of a half that goes; −1 = none. */
static int taker_of(const tear *t, int i, int side)
{
    pl_vec3 p;
    int other = nearest_beside(t, side, pl_v3_from_floats(t->change->x + 3 * (size_t)i));
    return other >= 0 && offset_in(t, other, i, &p) ? other : -1;
}

/* A half with too few members goes, if all of them that have no other cluster on the same side can join one. */
static void dissolve(tear *t, int index, int half, int side)
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

/* ---- One split ------------------------------------------------------------------------------------------------------ */

static int count_side(const pl_clustered *c, int index, pl_vec3 rest_normal)
{
    const pl_cluster *cluster = c->clusters + index;
    int count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        count += side_of_member(c, m, rest_normal) > 0;
    return count;
}

/* Members of neighbours, which may have to be moved for one more: the room for the crumbs of both sides. */
static int64_t room_for_crumbs(const tear *t, int crumbs)
{
    int64_t most = 0;
    for (int k = 0; k < t->beside_count; k++) {
        int64_t count = t->c->clusters[t->beside[k]].count;
        most = count > most ? count : most;
    }
    return crumbs * (most + crumbs + PL_COLUMNS);
}

static bool make_room(tear *t, int index, int positive, pl_vec3 rest_normal)
{
    pl_clustered *c = t->c;
    int count = c->clusters[index].count, negative = count - positive;
    int least = t->least;
    int64_t crumbs = (positive < least ? positive : 0) + (negative < least ? negative : 0);
    int64_t members =
        (int64_t)c->member_count + pl_clustered_room(negative) + room_for_crumbs(t, (int)crumbs);
    int particles = c->n + count_divided(t, index, rest_normal);
    return particles <= t->change->capacity && members < INT32_MAX / 8 &&
           pl_clustered_reserve(c, c->count + 1, (int)members, particles);
}

/* A half with too few members and nobody on its side to take them: such a cut is not worth it. */
static bool leaves_crumbs(const tear *t, int count, int side)
{
    if (count >= t->least)
        return false;
    for (int k = 0; k < t->beside_count; k++)
        if (t->side[t->beside[k]] == side)
            return false;
    return true;
}

/* Gone, where it is stretched beyond everything; else it is left alone for a while. Who had no other cluster is debris. */
static bool let_go(tear *t, int index)
{
    pl_clustered *c = t->c;
    pl_cluster *cluster = c->clusters + index;
    if (!lets_go(cluster)) {
        cluster->calm = (float)c->def.calm;
        return false;
    }
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        t->touched_particle[c->particle[m]] = true;
    t->touched_cluster[index] = true;
    cluster->count = 0; /* taken away with the others at the end */
    c->split++;
    return true;
}

/* Whether the plane goes through the particle, or near. */
static bool is_cut(const pl_clustered *c, const pl_cluster *cluster, int place, pl_vec3 rest_normal)
{
    double off = fabs(pl_v3_dot(rest_normal, pl_clustered_offset(c, place)));
    return off < NEAR * (double)cluster->radius;
}

static bool split(tear *t, int index, const pl_cluster_fit *fit, const plane *cut)
{
    pl_clustered *c = t->c;
    pl_vec3 normal = pl_rest_normal(fit->gradient, cut->normal);
    int positive = count_side(c, index, normal);
    if (positive == 0 || positive == c->clusters[index].count)
        return let_go(t, index);
    find_sides(t, index, cut);
    if (leaves_crumbs(t, positive, 1) ||
        leaves_crumbs(t, c->clusters[index].count - positive, -1)) {
        forget_sides(t);
        return let_go(t, index);
    }
    if (!make_room(t, index, positive, normal)) {
        c->unchanged++;
        forget_sides(t);
        return false;
    }
    pl_cluster *cluster = c->clusters + index;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m], side = side_of_member(c, m, normal);
        reach beyond = reach_beyond(t, index, i, side);
        t->touched_particle[i] = true;
        if (beyond.part > 0 && may_divide(t, i) &&
            (is_cut(c, cluster, m, normal) || !may_leave(t, index, i, side)))
            divide(t, index, i, side, beyond.part);
        else if (beyond.any)
            leave(t, index, i, side);
    }
    split_members(c, index, normal);
    t->touched_cluster[index] = true;
    for (int k = 0; k < 2; k++) {
        int half = k ? c->count - 1 : index, side = k ? -1 : 1;
        cut_proxy(c->clusters + half, fit->gradient, fit->centre, cut, side);
        strengthen(c->clusters + half, &c->def);
        if (c->clusters[half].count < t->least)
            dissolve(t, index, half, side);
    }
    treat_neighbours(t, cut);
    forget_sides(t);
    c->split++;
    return true;
}

/* ---- Splinters ------------------------------------------------------------------------------------------------------ */

static int root_of(int32_t *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Which particles hang together, and how many they are. */
static void find_pieces(const pl_clustered *c, int32_t *parent, int32_t *size)
{
    for (int i = 0; i < c->n; i++)
        parent[i] = i;
    for (int k = 0; k < c->count; k++) {
        const pl_cluster *cluster = c->clusters + k;
        for (int m = cluster->first + 1; m < cluster->first + cluster->count; m++) {
            int a = root_of(parent, c->particle[m]),
                b = root_of(parent, c->particle[cluster->first]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    memset(size, 0, (size_t)c->n * sizeof *size);
    for (int i = 0; i < c->n; i++)
        size[root_of(parent, i)]++;
}

/* The cluster of a larger piece whose middle is nearest, in reach of two radii; −1 = none. */
static int nearest_outside(const tear *t, int index, int32_t *parent, const int32_t *size)
{
    const pl_clustered *c = t->c;
    pl_vec3 centre = pl_clustered_refit(c, index, t->change->x).centre;
    double least = 2 * (double)c->clusters[index].radius;
    int best = -1;
    for (int k = 0; k < c->count; k++) {
        int count = c->clusters[k].count;
        if (count == 0 || size[root_of(parent, c->particle[c->clusters[k].first])] < t->piece)
            continue;
        double d = pl_v3_distance(centre, pl_clustered_refit(c, k, t->change->x).centre);
        if (d < least)
            best = k, least = d;
    }
    return best;
}

static bool all_fit(const tear *t, int index, int other)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    pl_vec3 p;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (!is_member(c, other, c->particle[m]) && !offset_in(t, other, c->particle[m], &p))
            return false;
    return true;
}

/* A piece that came off with fewer particles than a cluster should have members goes into the nearest cluster there is. */
static void absorb_splinters(tear *t, int32_t *parent, int32_t *size)
{
    pl_clustered *c = t->c;
    find_pieces(c, parent, size);
    for (int k = 0; k < c->count; k++) {
        pl_cluster *cluster = c->clusters + k;
        if (cluster->count == 0 || (k < t->before && !t->touched_cluster[k]) ||
            size[root_of(parent, c->particle[cluster->first])] >= t->piece)
            continue;
        int other = nearest_outside(t, k, parent, size);
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

/* ---- All of them ---------------------------------------------------------------------------------------------------- */

static void drop_empty(pl_clustered *c)
{
    int kept = 0;
    for (int i = 0; i < c->count; i++)
        if (c->clusters[i].count > 0)
            c->clusters[kept++] = c->clusters[i];
    c->count = kept;
}

static void tidy_up(tear *t)
{
    size_t n = (size_t)t->c->n;
    int32_t *parent = PL_NEW(t->c->memory, int32_t, n), *size = PL_NEW(t->c->memory, int32_t, n);
    if (parent && size)
        absorb_splinters(t, parent, size);
    else
        t->c->unchanged++;
    pl_memory_free(t->c->memory, parent);
    pl_memory_free(t->c->memory, size);
    drop_empty(t->c);
}

static bool tear_all(tear *t, const pl_sort_item *items, int count)
{
    bool changed = false;
    for (int k = 0; k < count; k++) {
        int index = (int)items[k].index;
        pl_cluster_fit fit;
        plane cut;
        if (is_untouched(t, index) && still_torn(t, index, &fit, &cut))
            changed |= split(t, index, &fit, &cut);
    }
    return changed;
}

/* All parts of a particle have the mass of that of the model together. */
static void find_smallest(const pl_clustered *c, float *smallest)
{
    for (int i = 0; i < c->n; i++)
        smallest[c->origin[i]] += c->mass[i];
    for (int i = 0; i < c->model_n; i++)
        smallest[i] *= (float)SMALLEST;
}

bool pl_clustered_fracture(pl_clustered *c, pl_clustered_change *change)
{
    bool any = false, changed = false;
    for (int i = 0; i < c->count && !any; i++)
        any = may_split(c->clusters + i);
    if (!any)
        return false;
    size_t k = (size_t)c->count, n = (size_t)(change->capacity > c->n ? change->capacity : c->n);
    pl_sort_item *items = PL_NEW(c->memory, pl_sort_item, 2 * k);
    tear t = {
        .c = c,
        .change = change,
        .before = c->count,
    };
    t.piece = c->start[c->n] / c->count;
    t.least = t.piece / 4 > c->def.least_members ? t.piece / 4 : c->def.least_members;
    t.touched_cluster = PL_NEW(c->memory, bool, k);
    t.touched_particle = PL_NEW(c->memory, bool, n);
    t.smallest = PL_NEW(c->memory, float, (size_t)c->model_n);
    t.side = PL_NEW(c->memory, int8_t, k);
    t.beside = PL_NEW(c->memory, int32_t, k);
    if (items && t.touched_cluster && t.touched_particle && t.smallest && t.side && t.beside) {
        find_smallest(c, t.smallest);
        changed = tear_all(&t, items, list_candidates(c, items));
    } else {
        c->unchanged++;
    }
    if (changed) {
        drop_leaving(c);
        tidy_up(&t);
    }
    pl_memory_free(c->memory, items);
    pl_memory_free(c->memory, t.touched_cluster);
    pl_memory_free(c->memory, t.touched_particle);
    pl_memory_free(c->memory, t.smallest);
    pl_memory_free(c->memory, t.side);
    pl_memory_free(c->memory, t.beside);
    if (changed) {
        pl_clustered_index(c);
        pl_clustered_weigh(c);
    }
    return changed;
}
