/* Reclustering (Falkenstein 2017, METHODS §2): where marked clusters will leave a particle with too
   few, a new one is made around it in a local embedding (patch.c), and its centre optimised as in
   clustering, all others fixed, with the weights as they will be. It must not take a body apart:
   whoever shares a marked cluster stays connected through some chain of those that stay (a cluster
   that a crack has parted is two); and no new cluster spans a crack. */
#include "matter/recluster.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "math/rotation_lanes.h"
#include "matter/clustered_change.h"
#include "shape/cluster.h"

enum { CENTRE_ROUNDS = 30, RADIUS_ROUNDS = 4 };
#define STILL 1e-3  /* radii: a centre that moves less has come to rest */
#define WITHIN 0.98 /* radii: how near the seed must stay to the centre */

/* A crack, in the embedded space of the patch. */
typedef struct disc {
    pl_vec3 middle, normal; /* outward: the cluster it belongs to is on the negative side */
    double reach;
    int slot;
} disc;

typedef struct growth {
    pl_clustered *c;
    const float *x;
    double h;
    int added;
    pl_patch patch;
    double *held;    /* [n] sum of the raw weights of clusters that stay, as they will be */
    int32_t *stays;  /* [n] how many of those */
    int32_t *parent; /* [n] in the forest of what is connected by those */
    /* Of the cluster in the making. */
    pl_vec3 *view;   /* [n] places in the patch, each on its clusters' side of their cracks */
    int32_t *member; /* [n] numbers in the patch */
    float *raw;      /* [n] */
    bool *
        kin; /* [n] of the patch: shares a cluster with the seed, so that no crack parts them yet */
    double *part; /* [n] share of a particle of the patch it will have; 0 = no member */
    int count;
    pl_array discs;
} growth;

/* ---- What stays ------------------------------------------------------------------------------ */

/* The lower number is the root: the same forest whatever the order. */
static void connect(int32_t *parent, int a, int b)
{
    a = pl_root_of(parent, a), b = pl_root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void count_staying(growth *g)
{
    const pl_clustered *c = g->c;
    for (int i = 0; i < c->n; i++)
        g->parent[i] = i;
    for (int k = 0; k < c->count; k++) {
        const pl_cluster *cluster = c->clusters + k;
        if (cluster->phase == PL_PHASE_GOING || cluster->count == 0)
            continue;
        int root = pl_root_of(g->parent, c->particle[cluster->first]);
        for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
            int i = c->particle[m];
            g->held[i] += (double)c->raw[m];
            g->stays[i]++;
            if (g->parent[i] != root) {
                connect(g->parent, i, root);
                root = pl_root_of(g->parent, root);
            }
        }
    }
}

/* ---- Cracks ---------------------------------------------------------------------------------- */

static pl_vec3 place_of(const pl_patch *patch, int local)
{
    pl_row4 e = patch->e[local];
    return pl_v3((double)e[0], (double)e[1], (double)e[2]);
}

static pl_mat3 turn_of(const float q[4])
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    return (pl_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

/* p of a cluster is at mean + R (Fᵖ p − shift) in the embedded space. */
static bool add_disc(growth *g, int slot, const pl_cut *cut)
{
    const pl_patch *patch = &g->patch;
    const pl_cluster *cluster = g->c->clusters + patch->cluster[slot];
    pl_mat3 turn = turn_of(patch->turn + 4 * (size_t)slot), inverse;
    pl_mat3 map = pl_m3_mul(turn, pl_m3_from_floats(cluster->plastic));
    if (!pl_m3_inverse(map, &inverse))
        return true;
    pl_row4 mean = patch->mean[slot], shift = patch->shift[slot];
    pl_vec3 centre =
        pl_v3_sub(pl_v3((double)mean[0], (double)mean[1], (double)mean[2]),
                  pl_m3_mul_v3(turn, pl_v3((double)shift[0], (double)shift[1], (double)shift[2])));
    disc *new = pl_array_add(&g->discs, 1);
    if (!new)
        return false;
    new->middle = pl_v3_add(centre, pl_m3_mul_v3(map, pl_v3_from_floats(cut->middle)));
    new->normal =
        pl_v3_normalise(pl_m3_mul_v3(pl_m3_transpose(inverse), pl_v3_from_floats(cut->normal)));
    new->reach = (double)cut->reach;
    new->slot = slot;
    return true;
}

/* Members of the disc's cluster are on its side, wherever the cut left them: halves of a divided
   particle are in the same place. */
static void keep_inside(growth *g, const disc *d)
{
    const pl_patch *patch = &g->patch;
    for (int at = patch->first[d->slot]; at < patch->first[d->slot + 1]; at++) {
        pl_vec3 *view = g->view + patch->at[at];
        double beyond = pl_v3_dot(d->normal, pl_v3_sub(*view, d->middle)) + 0.02 * d->reach;
        if (beyond > 0 && pl_v3_distance(*view, d->middle) < 1.1 * d->reach)
            *view = pl_v3_add_scaled(*view, -beyond, d->normal);
    }
}

/* Cracks of the patch; false without memory. */
static bool find_discs(growth *g)
{
    const pl_patch *patch = &g->patch;
    g->discs.count = 0;
    for (int slot = 0; slot < patch->cluster_count; slot++) {
        const pl_cluster *cluster = g->c->clusters + patch->cluster[slot];
        for (int k = 0; k < cluster->cut_count; k++)
            if (cluster->cuts[k].crack && !add_disc(g, slot, cluster->cuts + k))
                return false;
    }
    for (int i = 0; i < patch->particle_count; i++)
        g->view[i] = place_of(patch, i);
    for (size_t k = 0; k < g->discs.count; k++)
        keep_inside(g, (disc *)g->discs.data + k);
    return true;
}

static bool crack_between(const growth *g, pl_vec3 a, pl_vec3 b)
{
    const disc *discs = g->discs.data;
    for (size_t k = 0; k < g->discs.count; k++) {
        const disc *d = discs + k;
        double from = pl_v3_dot(d->normal, pl_v3_sub(a, d->middle));
        double to = pl_v3_dot(d->normal, pl_v3_sub(b, d->middle));
        if ((from > 0) == (to > 0))
            continue;
        pl_vec3 hit = pl_v3_add_scaled(a, from / (from - to), pl_v3_sub(b, a));
        if (pl_v3_distance(hit, d->middle) <= d->reach)
            return true;
    }
    return false;
}

/* ---- Centre and members ---------------------------------------------------------------------- */

static bool lay_out(growth *g, int seed)
{
    pl_patch_gather(&g->patch, seed, g->x);
    if (g->c->def.recluster == PL_RECLUSTER_EMBEDDED)
        pl_patch_embed(&g->patch, PL_PATCH_ROUNDS);
    return find_discs(g);
}

/* All particles within the radius that are not behind a crack; their weighted centre of mass, with
   weights as they will be. */
static pl_vec3 list_members(growth *g, pl_vec3 eye, pl_vec3 centre, double radius)
{
    const pl_patch *patch = &g->patch;
    pl_vec3 sum = {0};
    double total = 0;
    pl_row4 middle = {(float)centre.x, (float)centre.y, (float)centre.z, 0};
    float reach2 = (float)(radius * radius);
    g->count = 0;
    for (int i = 0; i < patch->particle_count; i++) {
        pl_row4 d = patch->e[i] - middle;
        float d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (d2 > reach2 || (g->discs.count && !g->kin[i] && crack_between(g, eye, g->view[i])))
            continue;
        int particle = patch->particle[i];
        double raw = pl_cluster_kernel_at(g->c->def.kernel, (double)d2 / (double)reach2);
        double share = raw / (raw + g->held[particle]);
        double mass = share * (double)g->c->mass[particle];
        sum = pl_v3_add_scaled(sum, mass, place_of(patch, i));
        total += mass;
        g->raw[g->count] = (float)raw;
        g->member[g->count++] = i;
    }
    return total > 0 ? pl_v3_scale(sum, 1 / total) : centre;
}

/* The clustering iteration for this one centre. It stops where it would leave one of the two
   behind. */
static pl_vec3 settle_centre(growth *g, int a, int b, pl_vec3 centre, double radius)
{
    const pl_patch *patch = &g->patch;
    int before = -1;
    for (int round = 0;; round++) {
        pl_vec3 wanted = list_members(g, g->view[a], centre, radius);
        bool still = pl_v3_distance(wanted, centre) < STILL * radius && g->count == before;
        bool leaves = pl_v3_distance(wanted, place_of(patch, a)) > WITHIN * radius ||
                      pl_v3_distance(wanted, place_of(patch, b)) > WITHIN * radius;
        if (still || leaves || round == CENTRE_ROUNDS)
            return centre;
        before = g->count;
        centre = wanted;
    }
}

/* ---- A new cluster --------------------------------------------------------------------------- */

/* Shares of the members' masses; the new cluster's offsets p, and F p + c = x fitted by them. */
static pl_mat3 fit_new(growth *g, const pl_cluster *new)
{
    const pl_clustered *c = g->c;
    pl_vec3 mean_x = {0}, mean_p = {0};
    double total = 0;
    for (int k = 0; k < g->count; k++) {
        int i = g->patch.particle[g->member[k]];
        double raw = (double)g->raw[k], wm = raw / (raw + g->held[i]) * (double)c->mass[i];
        total += wm;
        mean_x = pl_v3_add_scaled(mean_x, wm, pl_v3_from_floats(g->x + 3 * (size_t)i));
        mean_p = pl_v3_add_scaled(mean_p, wm, pl_clustered_offset(c, new->first + k));
    }
    mean_x = pl_v3_scale(mean_x, 1 / total), mean_p = pl_v3_scale(mean_p, 1 / total);
    pl_mat3 xp = pl_m3_zero(), pp = pl_m3_zero(), inverse;
    for (int k = 0; k < g->count; k++) {
        int i = g->patch.particle[g->member[k]];
        double raw = (double)g->raw[k], wm = raw / (raw + g->held[i]) * (double)c->mass[i];
        pl_vec3 p = pl_v3_sub(pl_clustered_offset(c, new->first + k), mean_p);
        pl_vec3 x = pl_v3_sub(pl_v3_from_floats(g->x + 3 * (size_t)i), mean_x);
        xp = pl_m3_add_scaled(xp, wm, pl_m3_outer(x, p));
        pp = pl_m3_add_scaled(pp, wm, pl_m3_outer(p, p));
    }
    double trace = pl_m3_trace(pp);
    if (pl_m3_det(pp) > 1e-6 * trace * trace * trace && pl_m3_inverse(pp, &inverse))
        return pl_m3_mul(xp, inverse);
    double moment[9], q[4] = {0, 0, 0, 1}; /* flat: as if it were rigid */
    memcpy(moment, xp.m, sizeof moment);
    pl_rotations_fit_double(1, moment, q);
    const float turn[4] = {(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
    return turn_of(turn);
}

/* Σ w F carried of the members so far: what the surface around them is deformed by. */
static pl_mat3 frame_around(growth *g)
{
    const pl_clustered *c = g->c;
    const pl_patch *patch = &g->patch;
    pl_mat3 sum = pl_m3_zero();
    double total = 0;
    for (int k = 0; k < g->count; k++) {
        int i = patch->particle[g->member[k]];
        double raw = (double)g->raw[k];
        g->part[g->member[k]] = raw / (raw + g->held[i]) * (double)c->mass[i];
    }
    for (int slot = 0; slot < patch->cluster_count; slot++) {
        int index = patch->cluster[slot];
        double weight = 0;
        for (int at = patch->first[slot]; at < patch->first[slot + 1]; at++)
            weight += g->part[patch->at[at]] * (double)patch->offset[at][3];
        if (!(weight > 0))
            continue;
        pl_mat3 map = pl_m3_mul(pl_clustered_refit(c, index, g->x).gradient,
                                pl_m3_from_floats(c->clusters[index].carried));
        sum = pl_m3_add_scaled(sum, weight, map);
        total += weight;
    }
    for (int k = 0; k < g->count; k++)
        g->part[g->member[k]] = 0;
    return total > 0 ? pl_m3_scale(sum, 1 / total) : pl_m3_identity();
}

/* What a new cluster takes over from those of its seed: hardening, and what keeps cuts from
   cascading. */
static void inherit(const growth *g, pl_cluster *new, int seed)
{
    const pl_clustered *c = g->c;
    double worked = 0, total = 0;
    for (int at = c->start[seed]; at < c->start[seed + 1]; at++) {
        const pl_cluster *old = c->clusters + c->owner[c->place[at]];
        double w = (double)c->weight[c->place[at]];
        worked += w * (double)old->worked;
        total += w;
        new->toughness = old->toughness > new->toughness ? old->toughness : new->toughness;
        new->calm = old->calm > new->calm ? old->calm : new->calm;
    }
    new->worked = total > 0 ? (float)(worked / total) : 0;
}

/* The cracks it borders on cut its proxy too. */
static void inherit_cuts(const growth *g, pl_cluster *new, pl_vec3 centre, double radius)
{
    const disc *discs = g->discs.data;
    for (size_t k = 0; k < g->discs.count; k++) {
        const disc *d = discs + k;
        pl_vec3 middle = pl_v3_sub(d->middle, centre);
        double offset = pl_v3_dot(d->normal, middle);
        bool known = !(offset > 0) || offset > radius || pl_v3_length(middle) > radius + d->reach;
        for (int j = 0; j < new->cut_count && !known; j++)
            known = pl_v3_dot(pl_v3_from_floats(new->cuts[j].normal), d->normal) > 0.95 &&
                    fabs((double)new->cuts[j].offset - offset) < 0.2 * radius;
        if (known)
            continue;
        pl_cut cut = {.offset = (float)offset, .reach = (float)d->reach, .crack = true};
        pl_v3_to_floats(d->normal, cut.normal);
        pl_v3_to_floats(middle, cut.middle);
        pl_cluster_cut(new, &cut);
    }
}

/* Not of members so badly placed that F says nothing. */
static bool is_sane(pl_mat3 a)
{
    for (int k = 0; k < 9; k++)
        if (!(fabs(a.m[k / 3][k % 3]) < 1e3))
            return false;
    return pl_m3_det(a) > 1e-6;
}

/* Its deformation as it is now; `carried` such that the surface stays where it is. */
static void place_new(growth *g, pl_cluster *new, pl_vec3 centre)
{
    pl_mat3 gradient = fit_new(g, new), inverse;
    pl_mat3 frame = frame_around(g);
    float q[4] = {0, 0, 0, 1};
    pl_vec3 middle = pl_v3_add(centre, pl_v3_from_floats(g->patch.origin));
    if (pl_m3_inverse(gradient, &inverse) && is_sane(pl_m3_mul(inverse, frame)))
        pl_m3_to_floats(pl_m3_mul(inverse, frame), new->carried);
    pl_m3_to_floats(gradient, new->gradient);
    pl_rotations_fit(1, new->gradient, q);
    memcpy(new->turn, q, sizeof q);
    pl_m3_to_floats(turn_of(q), new->rotation);
    pl_v3_to_floats(middle, new->centre);
}

/* The listed members become a cluster. False without memory. */
static bool add_cluster(growth *g, int seed, pl_vec3 centre, double radius)
{
    pl_clustered *c = g->c;
    int room = pl_clustered_room(g->count);
    if (!pl_clustered_reserve(c, c->count + 1, c->member_count + room, c->n))
        return false;
    pl_cluster *new = c->clusters + c->count;
    *new = pl_cluster_blank(&c->def);
    new->first = c->member_count;
    new->count = g->count;
    new->room = room;
    new->radius = (float)radius;
    new->id = c->next_id++;
    new->phase = PL_PHASE_COMING;
    new->fade = (float)(c->def.fade_in > g->h ? g->h / c->def.fade_in : 1);
    for (int k = 0; k < g->count; k++) {
        pl_vec3 p = pl_v3_sub(place_of(&g->patch, g->member[k]), centre);
        int at = new->first + k;
        c->particle[at] = g->patch.particle[g->member[k]];
        c->p[0][at] = (float)p.x, c->p[1][at] = (float)p.y, c->p[2][at] = (float)p.z;
        c->raw[at] = g->raw[k];
        c->weight[at] = 0;
    }
    inherit(g, new, seed);
    inherit_cuts(g, new, centre, radius);
    place_new(g, new, centre);
    for (int k = 0; k < g->count; k++) {
        int i = c->particle[new->first + k];
        g->held[i] += (double)g->raw[k];
        g->stays[i]++;
        connect(g->parent, i, c->particle[new->first]);
    }
    c->member_count += room;
    c->count++;
    c->added++;
    g->added++;
    return true;
}

/* The mean radius of a particle's clusters. */
static double radius_around(const pl_clustered *c, int seed)
{
    double sum = 0;
    for (int at = c->start[seed]; at < c->start[seed + 1]; at++)
        sum += (double)c->clusters[c->owner[c->place[at]]].radius;
    return sum / (c->start[seed + 1] - c->start[seed]);
}

static void mark_kin(growth *g, int seed, bool mark)
{
    const pl_clustered *c = g->c;
    const pl_patch *patch = &g->patch;
    for (int at = c->start[seed]; at < c->start[seed + 1]; at++) {
        int slot = patch->slot[c->owner[c->place[at]]];
        for (int k = patch->first[slot]; k < patch->first[slot + 1]; k++)
            g->kin[patch->at[k]] = mark;
    }
}

/* A cluster that holds both a and b (numbers in the patch; they may be the same), with enough
   members if there are. */
static bool make_cluster(growth *g, int a, int b)
{
    const pl_patch *patch = &g->patch;
    int seed = patch->particle[a];
    pl_vec3 middle = pl_v3_scale(pl_v3_add(place_of(patch, a), place_of(patch, b)), 0.5), centre;
    double apart = pl_v3_distance(place_of(patch, a), place_of(patch, b));
    double radius = fmax(radius_around(g->c, seed), 0.6 * apart);
    mark_kin(g, seed, true);
    for (int round = 0;; round++, radius *= 1.25) {
        centre = settle_centre(g, a, b, middle, radius);
        if (g->count >= g->c->def.least_members || g->count == patch->particle_count ||
            round == RADIUS_ROUNDS)
            break;
    }
    mark_kin(g, seed, false);
    return add_cluster(g, seed, centre, radius);
}

/* ---- Where ----------------------------------------------------------------------------------- */

static bool has_marked(const pl_clustered *c, int i)
{
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (c->clusters[c->owner[c->place[at]]].phase == PL_PHASE_GOING)
            return true;
    return false;
}

/* Clusters that stay which a particle should have: beside a crack just one, as the others may be
   gone because of it. */
static int wanted_by(const pl_clustered *c, int i)
{
    if (c->def.wanted <= 1)
        return 1;
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (pl_cluster_is_cracked(c->clusters + c->owner[c->place[at]]))
            return 1;
    return c->def.wanted;
}

/* A particle with too few clusters that stay seeds one; not one that has lost them to a crack. */
static bool add_for_particles(growth *g)
{
    const pl_clustered *c = g->c;
    for (int i = 0; i < c->n; i++) {
        if ((g->stays[i] > 0 && g->stays[i] >= wanted_by(c, i)) || !has_marked(c, i))
            continue;
        if (!lay_out(g, i) || !make_cluster(g, g->patch.local[i], g->patch.local[i]))
            return false;
    }
    return true;
}

/* The nearest two members of a cluster, one connected with `first` and one not. */
static void nearest_pair(growth *g, const pl_cluster *cluster, int first, int *a, int *b)
{
    const pl_patch *patch = &g->patch;
    const int32_t *member = g->c->particle + cluster->first;
    int root = pl_root_of(g->parent, first);
    double least = (double)INFINITY;
    for (int j = 0; j < cluster->count; j++) {
        if (pl_root_of(g->parent, member[j]) != root)
            continue;
        int from = patch->local[member[j]];
        for (int k = 0; k < cluster->count; k++) {
            int to = patch->local[member[k]];
            double d = pl_v3_distance(place_of(patch, from), place_of(patch, to));
            if (d < least && pl_root_of(g->parent, member[k]) != root) {
                least = d;
                *a = from, *b = to;
            }
        }
    }
}

/* Connects the members of a marked cluster with each other where those that stay do not. */
static bool bridge(growth *g, int index)
{
    for (bool laid_out = false;; laid_out = true) {
        const pl_cluster *cluster = g->c->clusters + index; /* may have moved */
        const int32_t *member = g->c->particle + cluster->first;
        int root = pl_root_of(g->parent, member[0]), a = 0, b = 0;
        bool whole = true;
        for (int k = 1; k < cluster->count && whole; k++)
            whole = pl_root_of(g->parent, member[k]) == root;
        if (whole)
            return true;
        if (!laid_out && !lay_out(g, member[0]))
            return false;
        nearest_pair(g, cluster, member[0], &a, &b);
        if (!make_cluster(g, a, b))
            return false;
    }
}

static bool grow(growth *g)
{
    count_staying(g);
    if (!add_for_particles(g))
        return false;
    for (int k = 0, old = g->c->count - g->added; k < old; k++)
        if (g->c->clusters[k].phase == PL_PHASE_GOING && !bridge(g, k))
            return false;
    return true;
}

bool pl_clustered_add(pl_clustered *c, const float *x, double h, int *added)
{
    bool any = false;
    for (int i = 0; i < c->count && !any; i++)
        any = c->clusters[i].phase == PL_PHASE_GOING;
    if (!any || c->content)
        return true;
    growth g = {.c = c, .x = x, .h = h, .discs = pl_array_make(c->memory, sizeof(disc))};
    size_t n = (size_t)c->n;
    bool done = pl_patch_open(&g.patch, c);
    g.held = PL_NEW(c->memory, double, n);
    g.stays = PL_NEW(c->memory, int32_t, n);
    g.parent = PL_NEW(c->memory, int32_t, n);
    g.view = PL_NEW(c->memory, pl_vec3, n);
    g.member = PL_NEW(c->memory, int32_t, n);
    g.raw = PL_NEW(c->memory, float, n);
    g.part = PL_NEW(c->memory, double, n);
    g.kin = PL_NEW(c->memory, bool, n);
    done = done && g.held && g.stays && g.parent && g.view && g.member && g.raw && g.part &&
           g.kin && grow(&g);
    if (!done)
        c->unchanged++;
    pl_patch_close(&g.patch);
    pl_memory_free(c->memory, g.held);
    pl_memory_free(c->memory, g.stays);
    pl_memory_free(c->memory, g.parent);
    pl_memory_free(c->memory, g.view);
    pl_memory_free(c->memory, g.member);
    pl_memory_free(c->memory, g.raw);
    pl_memory_free(c->memory, g.part);
    pl_memory_free(c->memory, g.kin);
    pl_array_free(&g.discs);
    c->content = done && g.added == 0;
    *added += g.added;
    return done;
}
