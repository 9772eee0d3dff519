/* Fracture (Jones et al. 2016, METHODS §2): where the largest stretch of a cluster exceeds 1 by
   more than its toughness a crack begins, in the plane through its centre normal to that stretch;
   worst first, each looked at again with the positions as they are. The crack runs on in its plane
   through all clusters that are strained in the same direction, if only by half as much: the strain
   at its tip is far above the mean of a cluster. So a bar breaks in one place before it tears in
   another, and with even faces. All of these clusters are split by the one plane. Where other
   clusters reach across the plane, their members there leave them; only those that the plane goes
   through are divided, so that no thin layers of halves are left to come off later. In one sub-step
   only one crack begins in what hangs together: whatever else is still too much tears in the next
   one, after the forces have changed. A crack relieves what is around it of its load, which is
   therefore tougher for a while. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "matter/fracture.h"
#include "matter/plastic.h"

/* In radii of a cluster: particles nearer to the plane of a cut are divided by it. */
#define NEAR 0.1

/* Of the mass of a particle of the model: no part of it is smaller. Without that bound cracks and
   new clusters can go on dividing the same particles, whose number and whose ratios of mass then
   grow without end. */
#define SMALLEST 0.125

/* A crack runs through a cluster that is stretched beyond 1 by this part of its toughness, in a
   direction within 45° of the normal, if the plane passes the middle in so many radii. */
#define TIP 0.5
#define STRAIGHT 0.7
#define THROUGH 0.5

/* A crack takes the load off everything that is not farther away than so many times its length. */
#define RELIEF 4.0

/* ---- Who ------------------------------------------------------------------------------------- */

static bool may_split(const pl_cluster *cluster)
{
    return cluster->rank >= 2 && cluster->count >= 2 && !(cluster->calm > 0) &&
           cluster->stretch > 1 + cluster->toughness;
}

/* What cannot be split, being too small or too flat, is drawn out without end where pieces part;
   from so many times its toughness on it lets go altogether. */
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

static bool is_untouched(const pl_tear *t, int index)
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

/* Looked at again: by what part of its toughness a cluster is stretched with the positions as they
   are, and where. */
static double strain_of(const pl_tear *t, int index, pl_crack_plane *cut)
{
    const pl_cluster *cluster = t->c->clusters + index;
    pl_cluster_fit fit = pl_clustered_refit(t->c, index, t->change->x);
    pl_mat3 inverse;
    *cut = (pl_crack_plane){.centre = fit.centre, .radius = (double)cluster->radius};
    if (!pl_m3_inverse(pl_m3_from_floats(cluster->plastic), &inverse))
        return 0;
    double strain = pl_largest_stretch(pl_m3_mul(fit.gradient, inverse), &cut->normal) - 1;
    return strain / fmax((double)cluster->toughness, 1e-30);
}

/* ---- Sides ----------------------------------------------------------------------------------- */

static int side_of(const pl_crack_plane *cut, pl_vec3 x)
{
    return pl_v3_dot(cut->normal, pl_v3_sub(x, cut->centre)) >= 0 ? 1 : -1;
}

static int side_of_particle(const pl_tear *t, int i)
{
    return side_of(t->disc, pl_v3_from_floats(t->change->x + 3 * (size_t)i));
}

static int count_side(const pl_tear *t, int index)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    int count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        count += side_of_particle(t, c->particle[m]) > 0;
    return count;
}

static void join_front(pl_tear *t, int index, pl_crack_plane disc)
{
    t->side[index] = PL_SIDE_SPLIT;
    t->disc[t->front_count] = disc;
    t->front[t->front_count++] = index;
}

/* Whether the crack runs on through a cluster; `disc` is where. */
static bool runs_through(const pl_tear *t, int index, pl_crack_plane *disc)
{
    const pl_cluster *cluster = t->c->clusters + index;
    const pl_crack_plane *cut = t->disc;
    if (cluster->rank < 3 || cluster->calm > 0 || !is_untouched(t, index) ||
        strain_of(t, index, disc) < TIP || fabs(pl_v3_dot(disc->normal, cut->normal)) < STRAIGHT)
        return false;
    double away = pl_v3_dot(cut->normal, pl_v3_sub(disc->centre, cut->centre));
    disc->centre = pl_v3_add_scaled(disc->centre, -away, cut->normal);
    disc->normal = cut->normal;
    int positive = count_side(t, index), negative = cluster->count - positive;
    return fabs(away) < THROUGH * disc->radius && positive >= t->least && negative >= t->least;
}

/* The clusters that the crack splits, from the first one on, and on which sides of it those lie
   that share a particle with any of them. */
static void run_on(pl_tear *t, int index, const pl_crack_plane *cut)
{
    const pl_clustered *c = t->c;
    t->front_count = t->beside_count = 0;
    join_front(t, index, *cut);
    for (int k = 0; k < t->front_count; k++) {
        const pl_cluster *cluster = c->clusters + t->front[k];
        for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
            int i = c->particle[m];
            for (int at = c->start[i]; at < c->start[i + 1]; at++) {
                int other = c->owner[c->place[at]];
                pl_crack_plane disc;
                if (t->side[other])
                    continue;
                if (runs_through(t, other, &disc)) {
                    join_front(t, other, disc);
                    continue;
                }
                t->side[other] =
                    (int8_t)side_of(cut, pl_clustered_refit(c, other, t->change->x).centre);
                t->by[t->beside_count] = k;
                t->beside[t->beside_count++] = other;
            }
        }
    }
}

static void forget_sides(pl_tear *t)
{
    for (int k = 0; k < t->beside_count; k++)
        t->side[t->beside[k]] = 0;
    for (int k = 0; k < t->front_count; k++)
        t->side[t->front[k]] = 0;
}

/* What a particle has on the other side. */
typedef struct reach {
    bool any;
    double
        part; /* of its weight: with clusters that stay. Marked ones are not worth dividing it for */
} reach;

static reach reach_beyond(const pl_tear *t, int i, int side)
{
    const pl_clustered *c = t->c;
    double all = 0, beyond = 0;
    reach r = {.any = false};
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int place = c->place[at], other = c->owner[place];
        all += (double)c->weight[place];
        if (t->side[other] != -side)
            continue;
        r.any = true;
        if (c->clusters[other].phase != PL_PHASE_GOING)
            beyond += (double)c->weight[place];
    }
    r.part = all > 0 ? beyond / all : 0;
    return r;
}

/* ---- Dividing particles ---------------------------------------------------------------------- */

/* What the part beyond gets of a mass, neither part less than `least`, such that both are floats
   and their sum is exactly the mass. */
static float part_of_mass(float mass, double part, float least)
{
    double small = (double)mass * (part < 0.5 ? part : 1 - part);
    float sum = (float)((double)mass + fmax(small, (double)least)), less = sum - mass;
    return part < 0.5 ? less : mass - less;
}

/* Whether particle i is large enough for two parts; with a little more than that, for rounding. */
static bool may_divide(const pl_tear *t, int i)
{
    return t->c->mass[i] > 2.01f * t->smallest[t->c->origin[i]];
}

/* Particle i keeps its place with the clusters on its side; a new one takes it with those on the
   other. */
static void divide(pl_tear *t, int i, int side, double part)
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
        if (t->side[other] != -side)
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
static bool may_leave(const pl_tear *t, int i, int side)
{
    const pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int other = c->owner[c->place[at]];
        if (t->side[other] == -side && c->clusters[other].phase != PL_PHASE_GOING &&
            count_staying(c, c->clusters + other) <= t->least)
            return false;
    }
    return true;
}

/* Particle i keeps its place with the clusters on its side and leaves those on the other: a
   negative raw weight says so, until drop_leaving. */
static void leave(pl_tear *t, int i, int side)
{
    pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int place = c->place[at], other = c->owner[place];
        if (t->side[other] == -side)
            c->raw[place] = -fabsf(c->raw[place]);
    }
}

static bool drop_leaving(pl_clustered *c)
{
    bool any = false;
    for (int i = 0; i < c->count; i++) {
        pl_cluster *cluster = c->clusters + i;
        int kept = cluster->first, end = cluster->first + cluster->count;
        for (int m = cluster->first; m < end; m++)
            if (c->raw[m] > 0)
                pl_clustered_copy_member(c, kept++, m);
        any |= kept < end;
        cluster->count = kept - cluster->first;
    }
    return any;
}

static void drop_empty(pl_clustered *c)
{
    int kept = 0;
    for (int i = 0; i < c->count; i++)
        if (c->clusters[i].count > 0)
            c->clusters[kept++] = c->clusters[i];
    c->count = kept;
}

/* ---- Outliers -------------------------------------------------------------------------------- */

/* A member that is farther from where the deformation of its cluster puts it than the cluster is
   wide has been torn off, though the cluster, which has many others, hardly feels it. */
static void mark_outliers(pl_clustered *c, int index, const float *x)
{
    const pl_cluster *cluster = c->clusters + index;
    pl_cluster_fit fit = pl_clustered_refit(c, index, x);
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        pl_vec3 place = pl_v3_sub(pl_v3_from_floats(x + 3 * (size_t)c->particle[m]), fit.centre);
        pl_vec3 off = pl_v3_sub(place, pl_m3_mul_v3(fit.gradient, pl_clustered_offset(c, m)));
        if (pl_v3_length2(off) > (double)cluster->width * (double)cluster->width)
            c->raw[m] = -fabsf(c->raw[m]);
    }
}

static bool drop_outliers(pl_clustered *c, const float *x)
{
    for (int k = 0; k < c->count; k++) {
        const pl_cluster *cluster = c->clusters + k;
        if (cluster->rank == 3 && cluster->stretch - 1 > 0.25f * cluster->toughness &&
            pl_cluster_is_cracked(cluster))
            mark_outliers(c, k, x);
    }
    if (!drop_leaving(c))
        return false;
    drop_empty(c);
    pl_clustered_index(c);
    pl_clustered_weigh(c);
    return true;
}

/* Particles that will be divided, at most. */
static int count_divided(const pl_tear *t, int index)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    int count = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        count += reach_beyond(t, c->particle[m], side_of_particle(t, c->particle[m])).part > 0;
    return count;
}

/* ---- Splitting clusters ---------------------------------------------------------------------- */

/* Members on the positive side stay; the others go to a new cluster behind all. */
static void split_members(pl_tear *t, int index)
{
    pl_clustered *c = t->c;
    pl_cluster *cluster = c->clusters + index, *half = c->clusters + c->count;
    *half = *cluster;
    half->first = c->member_count;
    half->id = c->next_id++;
    int kept = cluster->first, end = cluster->first + cluster->count, gone = half->first;
    for (int m = cluster->first; m < end; m++)
        pl_clustered_copy_member(c, side_of_particle(t, c->particle[m]) > 0 ? kept++ : gone++, m);
    cluster->count = kept - cluster->first;
    half->count = gone - half->first;
    half->room = pl_clustered_room(half->count);
    c->member_count += half->room;
    c->count++;
}

static void strengthen(pl_cluster *cluster, const pl_clustered_def *def)
{
    cluster->toughness = (float)(def->toughness * (1 + def->toughness_boost));
}

static void calm_down(pl_cluster *cluster, const pl_clustered_def *def)
{
    strengthen(cluster, def);
    cluster->calm = (float)def->calm;
}

/* A half-space of the proxy: what lies on the side of the plane to which `side` points. */
static void cut_proxy(pl_cluster *cluster, pl_mat3 gradient, pl_vec3 centre,
                      const pl_crack_plane *crack, int side)
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

/* Clusters beside the crack: their proxies must not reach through it. Those away from its plane are
   relieved of their load, and do not tear for a while; those in the plane have to bear more of
   it. */
static void treat_neighbours(pl_tear *t)
{
    pl_clustered *c = t->c;
    for (int k = 0; k < t->beside_count; k++) {
        int other = t->beside[k];
        const pl_crack_plane *cut = t->disc + t->by[k];
        pl_cluster *cluster = c->clusters + other;
        pl_cluster_fit fit = pl_clustered_refit(c, other, t->change->x);
        double away = pl_v3_dot(cut->normal, pl_v3_sub(fit.centre, cut->centre));
        t->touched_cluster[other] = true;
        cut_proxy(cluster, fit.gradient, fit.centre, cut, t->side[other]);
        if (fabs(away) > THROUGH * (double)cluster->radius)
            calm_down(cluster, &c->def);
    }
}

/* How far the crack reaches from where it began. */
static double length_of(const pl_tear *t)
{
    double most = 0;
    for (int k = 0; k < t->front_count; k++)
        most = fmax(most, t->disc[k].radius + pl_v3_distance(t->disc[k].centre, t->disc[0].centre));
    return most;
}

/* What hangs together with the crack and is near, but for what is in its plane, which has to bear
   more. */
static void relieve(pl_tear *t)
{
    pl_clustered *c = t->c;
    int piece = pl_tear_piece_of(t, t->front[0]);
    double farthest = RELIEF * length_of(t);
    for (int k = 0; k < t->before; k++) {
        pl_cluster *cluster = c->clusters + k;
        if (t->side[k] || cluster->count == 0 || pl_tear_piece_of(t, k) != piece)
            continue;
        pl_vec3 from = pl_v3_sub(pl_v3_from_floats(cluster->centre), t->disc->centre);
        if (pl_v3_length(from) < farthest &&
            fabs(pl_v3_dot(t->disc->normal, from)) > THROUGH * (double)cluster->radius)
            strengthen(cluster, &c->def);
    }
}

/* ---- One split ------------------------------------------------------------------------------- */

/* Members of neighbours, which may have to be moved for one more: the room for the crumbs of both
   sides. */
static int64_t room_for_crumbs(const pl_tear *t, int crumbs)
{
    int64_t most = 0;
    for (int k = 0; k < t->beside_count; k++) {
        int64_t count = t->c->clusters[t->beside[k]].count;
        most = count > most ? count : most;
    }
    return crumbs * (most + crumbs + PL_COLUMNS);
}

static bool make_room(pl_tear *t, int positive)
{
    pl_clustered *c = t->c;
    int negative = c->clusters[t->front[0]].count - positive, particles = c->n;
    int crumbs = (positive < t->least ? positive : 0) + (negative < t->least ? negative : 0);
    int64_t members = (int64_t)c->member_count + room_for_crumbs(t, crumbs);
    for (int k = 0; k < t->front_count; k++) {
        members += pl_clustered_room(c->clusters[t->front[k]].count);
        particles += count_divided(t, t->front[k]);
    }
    return particles <= t->change->capacity && members < INT32_MAX / 8 &&
           pl_clustered_reserve(c, c->count + t->front_count, (int)members, particles);
}

/* A half with too few members and nobody on its side to take them: such a cut is not worth it. */
static bool leaves_crumbs(const pl_tear *t, int count, int side)
{
    if (count >= t->least)
        return false;
    for (int k = 0; k < t->beside_count; k++)
        if (t->side[t->beside[k]] == side)
            return false;
    return true;
}

/* Gone, where it is stretched beyond everything; else it is left alone for a while. Who had no
   other cluster is debris. */
static bool let_go(pl_tear *t, int index)
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
static bool is_cut(const pl_tear *t, int i)
{
    pl_vec3 x = pl_v3_from_floats(t->change->x + 3 * (size_t)i);
    const pl_crack_plane *cut = t->disc;
    return fabs(pl_v3_dot(cut->normal, pl_v3_sub(x, cut->centre))) < NEAR * cut->radius;
}

/* The members of a split cluster are divided, or leave the clusters on the other side. */
static void part_members(pl_tear *t, int index)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + index;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m], side = side_of_particle(t, i);
        if (t->touched_particle[i])
            continue;
        t->touched_particle[i] = true;
        reach beyond = reach_beyond(t, i, side);
        if (beyond.part > 0 && may_divide(t, i) && (is_cut(t, i) || !may_leave(t, i, side)))
            divide(t, i, side, beyond.part);
        else if (beyond.any)
            leave(t, i, side);
    }
}

/* Whether a cluster that is not on the other side holds a particle. */
static bool held_here(const pl_tear *t, int i, int side)
{
    const pl_clustered *c = t->c;
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (t->side[c->owner[c->place[at]]] != -side)
            return true;
    return false;
}

/* Members of cluster k beside the crack that lie behind it leave, if no cluster is split that has
   them: one alone would go on holding the pieces together. */
static void part_beside(pl_tear *t, int k)
{
    const pl_clustered *c = t->c;
    const pl_cluster *cluster = c->clusters + t->beside[k];
    const pl_crack_plane *disc = t->disc + t->by[k];
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m], side = side_of_particle(t, i);
        pl_vec3 away = pl_v3_sub(pl_v3_from_floats(t->change->x + 3 * (size_t)i), disc->centre);
        double along = pl_v3_dot(disc->normal, away);
        if (side == t->side[t->beside[k]] || t->touched_particle[i] ||
            pl_v3_length2(away) - along * along > disc->radius * disc->radius ||
            !held_here(t, i, side))
            continue;
        t->touched_particle[i] = true;
        leave(t, i, side);
    }
}

/* Cluster k of the front in two. */
static void halve(pl_tear *t, int k)
{
    pl_clustered *c = t->c;
    int index = t->front[k];
    pl_cluster_fit fit = pl_clustered_refit(c, index, t->change->x);
    split_members(t, index);
    t->touched_cluster[index] = true;
    for (int side = 1; side >= -1; side -= 2) {
        int half = side > 0 ? index : c->count - 1;
        cut_proxy(c->clusters + half, fit.gradient, fit.centre, t->disc + k, side);
        calm_down(c->clusters + half, &c->def);
        if (c->clusters[half].count < t->least)
            pl_tear_dissolve(t, index, half, side);
    }
}

static bool crack(pl_tear *t, int index, const pl_crack_plane *cut)
{
    pl_clustered *c = t->c;
    run_on(t, index, cut);
    int all = c->clusters[index].count, positive = count_side(t, index);
    if (positive == 0 || positive == all || leaves_crumbs(t, positive, 1) ||
        leaves_crumbs(t, all - positive, -1)) {
        forget_sides(t);
        return let_go(t, index);
    }
    bool room = make_room(t, positive);
    if (room) {
        for (int k = 0; k < t->front_count; k++)
            part_members(t, t->front[k]);
        for (int k = 0; k < t->beside_count; k++)
            part_beside(t, k);
        for (int k = 0; k < t->front_count; k++)
            halve(t, k);
        treat_neighbours(t);
        relieve(t);
        c->split += (uint64_t)t->front_count;
    } else {
        c->unchanged++;
    }
    forget_sides(t);
    return room;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void tidy_up(pl_tear *t)
{
    pl_tear_find_pieces(t);
    pl_tear_absorb_splinters(t);
    drop_empty(t->c);
}

static bool tear_all(pl_tear *t, const pl_sort_item *items, int count)
{
    bool changed = false;
    pl_tear_find_pieces(t);
    for (int k = 0; k < count; k++) {
        int index = (int)items[k].index, piece = pl_tear_piece_of(t, index);
        pl_crack_plane cut;
        if (t->size[piece] > 0 && is_untouched(t, index) && strain_of(t, index, &cut) > 1 &&
            crack(t, index, &cut)) {
            t->size[piece] = 0; /* no other one in it */
            changed = true;
        }
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
    bool any = false, dropped = c->split > 0 && drop_outliers(c, change->x), changed = false;
    for (int i = 0; i < c->count && !any; i++)
        any = may_split(c->clusters + i);
    if (!any)
        return dropped;
    size_t k = (size_t)c->count, n = (size_t)(change->capacity > c->n ? change->capacity : c->n);
    pl_sort_item *items = PL_NEW(c->memory, pl_sort_item, 2 * k);
    pl_tear t = {
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
    t.front = PL_NEW(c->memory, int32_t, k);
    t.disc = PL_NEW(c->memory, pl_crack_plane, k);
    t.beside = PL_NEW(c->memory, int32_t, k);
    t.by = PL_NEW(c->memory, int32_t, k);
    t.parent = PL_NEW(c->memory, int32_t, n);
    t.size = PL_NEW(c->memory, int32_t, n);
    if (items && t.touched_cluster && t.touched_particle && t.smallest && t.side && t.front &&
        t.disc && t.beside && t.by && t.parent && t.size) {
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
    pl_memory_free(c->memory, t.front);
    pl_memory_free(c->memory, t.disc);
    pl_memory_free(c->memory, t.beside);
    pl_memory_free(c->memory, t.by);
    pl_memory_free(c->memory, t.parent);
    pl_memory_free(c->memory, t.size);
    if (changed) {
        pl_clustered_index(c);
        pl_clustered_weigh(c);
    }
    return changed || dropped;
}
