/* Contact of a clustered body with itself (Jones et al. 2015, METHODS §2): proxies in the rest
   space of clusters, a ball cut by half-spaces. A particle that is inside the proxy of a cluster,
   and in no cluster that shares a particle with that one, is mapped to the rest space by F⁻¹, moved
   to the nearest boundary, and mapped back. What moves it is taken from the members of the cluster
   by weight, so that the linear momentum stays. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "math/rotation_lanes.h"
#include "math/simd.h"
#include "matter/clustered_change.h"
#include "matter/proxy_lanes.h"

enum { CELLS_PER_CLUSTER = 8 };
#define SHALLOWEST 1e-4 /* radii: rounding, no contact */
#define DEEPEST 0.25    /* radii that a particle is moved at most in a sub-step */
/* Of the depth that was there before the sub-step, the part that is undone in it: all of it at once
   would be a speed out of nothing. */
#define RECOVERED 0.1
#define MOST_STRETCH 8 /* of a cluster whose proxy means anything */

/* ---- The shape of proxies -------------------------------------------------------------------- */

void pl_cluster_shift_proxy(pl_cluster *cluster, const double shift[3])
{
    for (int k = 0; k < 3; k++)
        cluster->middle[k] = (float)((double)cluster->middle[k] - shift[k]);
    for (int i = 0; i < cluster->cut_count; i++) {
        pl_cut *cut = cluster->cuts + i;
        double along = 0;
        for (int k = 0; k < 3; k++) {
            along += (double)cut->normal[k] * shift[k];
            cut->middle[k] = (float)((double)cut->middle[k] - shift[k]);
        }
        cut->offset = (float)((double)cut->offset - along);
    }
}

void pl_cluster_cut(pl_cluster *cluster, const pl_cut *cut)
{
    int at = cluster->cut_count;
    if (at == PL_MOST_PLANES) {
        at = 0;
        for (int i = 1; i < PL_MOST_PLANES; i++)
            if (cluster->cuts[i].offset > cluster->cuts[at].offset)
                at = i;
        if (cut->offset > cluster->cuts[at].offset)
            return;
    } else {
        cluster->cut_count++;
    }
    cluster->cuts[at] = *cut;
}

void pl_clustered_thin_planes(pl_clustered *c, int index)
{
    pl_cluster *cluster = c->clusters + index;
    double a[9] = {0}, u[9], s[3], v[9], thickest = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        double w = (double)c->weight[m] * (double)c->mass[c->particle[m]];
        for (int k = 0; k < 9; k++)
            a[k] += w * (double)c->p[k / 3][m] * (double)c->p[k % 3][m];
        thickest = fmax(thickest, (double)c->radius[c->particle[m]]);
    }
    pl_svd3_double(1, a, u, s, v);
    for (int k = 0; k < 6; k++) {
        double sign = k % 2 ? -1 : 1, most = 0;
        pl_vec3 n = pl_v3_scale(pl_v3(v[k / 2], v[3 + k / 2], v[6 + k / 2]), sign);
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            most = fmax(most, pl_v3_dot(n, pl_clustered_offset(c, m)));
        if (!(most < 0.5 * (double)cluster->radius))
            continue;
        pl_cut cut = {.offset = (float)fmin(most + thickest, 0.5 * (double)cluster->radius)};
        pl_v3_to_floats(n, cut.normal);
        pl_cluster_cut(cluster, &cut);
    }
}

/* How deep a rest position is inside the proxy (negative = outside), and the nearest point of the
   boundary. */
static double depth_in(const pl_cluster *cluster, pl_vec3 p, pl_vec3 *boundary)
{
    pl_vec3 middle = pl_v3_from_floats(cluster->middle), from = pl_v3_sub(p, middle);
    double length = pl_v3_length(from), depth = (double)cluster->radius - length;
    if (depth <= 0)
        return depth;
    *boundary =
        length > 0 ? pl_v3_add_scaled(p, depth / length, from) : pl_v3_add(p, pl_v3(depth, 0, 0));
    for (int i = 0; i < cluster->cut_count && depth > 0; i++) {
        pl_vec3 n = pl_v3_from_floats(cluster->cuts[i].normal);
        double inside = (double)cluster->cuts[i].offset - pl_v3_dot(n, p);
        if (inside >= depth)
            continue;
        depth = inside;
        *boundary = pl_v3_add_scaled(p, inside, n);
    }
    return depth;
}

/* ---- Who is near whom ------------------------------------------------------------------------ */

/* Where a cluster and its proxy are: boxes and balls around its particles and around the proxy as F
   deforms it; the way of a place x in the world to the ball of the proxy at rest, inverse (x −
   origin), which is inside within `radius`. */
typedef struct whereabouts {
    float low[3], high[3];
    float proxy_low[3], proxy_high[3];
    float centre[3], spread, reach;
    float origin[3], inverse[9], radius;
} whereabouts;

typedef struct contact {
    int32_t cluster, particle;
    double move[3]; /* of the particle against the cluster */
} contact;

/* What one thread works with: a proxy at a time. */
typedef struct finder {
    int32_t mark;            /* of the proxy it looks at, in the stamps */
    int32_t *stamp_cluster;  /* [clusters] */
    int32_t *stamp_particle; /* [n] */
    pl_array contacts;       /* room from the start: tasks do not allocate */
    size_t wanted;           /* contacts there were, room or not */
    /* Of the proxy looked at, once something is near. */
    bool fitted, usable;
    pl_cluster_fit fit;
    pl_mat3 inverse;
} finder;

/* Where the contacts of a proxy are: threads take proxies as they come, and they are read in the
   order of these. */
typedef struct found {
    int32_t finder, count;
    size_t first;
} found;

/* What is kept from sub-step to sub-step: room, and who shares particles with whom. */
struct pl_clustered_proxies {
    uint64_t topology; /* for which the neighbours were listed */
    bool listed;
    int capacity, n_capacity;
    int32_t *near_start; /* [clusters + 1] */
    pl_array near;       /* of int32_t: clusters that share a particle with each */
    whereabouts *where;  /* [clusters] */
    int member_capacity; /* of the places: */
    float *at[3];        /* [members] where they are, in blocks of four */
    int32_t *cell;       /* [clusters] */
    int32_t *cell_start; /* [cells + 1] */
    int32_t *in_cell;    /* [clusters], by cells and in ascending order in each, and */
    float (*round)[4];   /* the balls around their particles: middle and radius */
    int32_t *loose_cell, *loose_start, *loose; /* [n], [cells + 1], [n] the same of debris */
    int loose_count;
    int32_t *stamp; /* [clusters] for listing */
    found *found;   /* [clusters] */
    int finder_count;
    finder *finders;
    int32_t *count; /* [n] contacts of each particle */
    double *push;   /* [n][3] */
    double *give;   /* [clusters][3] what its members are pushed by, per weight */
    double *load;   /* [clusters] the mass of the particles that press on it */
};

/* Cells as large as the largest cluster with its proxy: those that touch are in the same or in
   neighbouring ones. */
typedef struct grid {
    float low[3], scale[3]; /* cells per unit */
    int size[3];
} grid;

typedef struct search {
    pl_clustered *c;
    pl_clustered_proxies *own;
    float *x;
    const float *from;
    double friction;
    pl_locate *locate;
    grid grid;
} search;

void pl_clustered_proxies_free(pl_clustered *c)
{
    pl_clustered_proxies *own = c->proxies;
    if (!own)
        return;
    pl_memory_free(c->memory, own->near_start);
    pl_memory_free(c->memory, own->where);
    pl_memory_free(c->memory, own->cell);
    pl_memory_free(c->memory, own->cell_start);
    pl_memory_free(c->memory, own->in_cell);
    pl_memory_free(c->memory, own->round);
    pl_memory_free(c->memory, own->loose_cell);
    pl_memory_free(c->memory, own->loose_start);
    pl_memory_free(c->memory, own->loose);
    pl_memory_free(c->memory, own->give);
    pl_memory_free(c->memory, own->load);
    for (int k = 0; k < 3; k++)
        pl_memory_free(c->memory, own->at[k]);
    for (int k = 0; own->finders && k < own->finder_count; k++) {
        pl_memory_free(c->memory, own->finders[k].stamp_cluster);
        pl_memory_free(c->memory, own->finders[k].stamp_particle);
        pl_array_free(&own->finders[k].contacts);
    }
    pl_memory_free(c->memory, own->finders);
    pl_memory_free(c->memory, own->stamp);
    pl_memory_free(c->memory, own->found);
    pl_memory_free(c->memory, own->count);
    pl_memory_free(c->memory, own->push);
    pl_array_free(&own->near);
    pl_memory_free(c->memory, own);
    c->proxies = NULL;
}

static bool make_finders(pl_clustered *c, int count, size_t k, size_t n)
{
    pl_clustered_proxies *own = c->proxies;
    own->finders = PL_NEW(c->memory, finder, (size_t)count);
    own->finder_count = count;
    for (int i = 0; own->finders && i < count; i++) {
        finder *f = own->finders + i;
        f->stamp_cluster = PL_NEW(c->memory, int32_t, k);
        f->stamp_particle = PL_NEW(c->memory, int32_t, n);
        f->contacts = pl_array_make(c->memory, sizeof(contact));
        if (!f->stamp_cluster || !f->stamp_particle || !pl_array_reserve(&f->contacts, n))
            return false;
    }
    return own->finders;
}

/* Room for the clusters and particles there may be before the body itself needs more room, so that
   no sub-step allocates. */
static bool make_room(pl_clustered *c, int workers)
{
    pl_clustered_proxies *own = c->proxies;
    if (own && own->capacity >= c->count && own->n_capacity >= c->n &&
        own->member_capacity >= c->member_count && own->finder_count >= workers)
        return true;
    pl_clustered_proxies_free(c);
    own = c->proxies = PL_NEW(c->memory, pl_clustered_proxies, 1);
    if (!own)
        return false;
    size_t k = (size_t)c->capacity, n = (size_t)c->n_capacity, m = (size_t)c->member_capacity;
    own->near_start = PL_NEW(c->memory, int32_t, k + 1);
    own->near = pl_array_make(c->memory, sizeof(int32_t));
    own->where = PL_NEW(c->memory, whereabouts, k);
    own->cell = PL_NEW(c->memory, int32_t, k);
    own->cell_start = PL_NEW(c->memory, int32_t, CELLS_PER_CLUSTER * k + 1);
    own->in_cell = PL_NEW(c->memory, int32_t, k);
    own->round = pl_memory_alloc(c->memory, k, sizeof *own->round);
    own->loose_cell = PL_NEW(c->memory, int32_t, n);
    own->loose_start = PL_NEW(c->memory, int32_t, CELLS_PER_CLUSTER * k + 1);
    own->loose = PL_NEW(c->memory, int32_t, n);
    own->give = PL_NEW(c->memory, double, 3 * k);
    own->load = PL_NEW(c->memory, double, k);
    own->stamp = PL_NEW(c->memory, int32_t, k);
    own->found = PL_NEW(c->memory, found, k);
    own->count = PL_NEW(c->memory, int32_t, n);
    own->push = PL_NEW(c->memory, double, 3 * n);
    for (int j = 0; j < 3; j++)
        own->at[j] = PL_NEW(c->memory, float, m);
    bool made = own->near_start && own->where && own->cell && own->cell_start && own->in_cell &&
                own->round && own->loose_cell && own->loose_start && own->loose && own->give &&
                own->load && own->stamp && own->found && own->count && own->push && own->at[0] &&
                own->at[1] && own->at[2] && make_finders(c, workers, k, n);
    if (!made) {
        pl_clustered_proxies_free(c);
        return false;
    }
    own->capacity = c->capacity;
    own->n_capacity = c->n_capacity;
    own->member_capacity = c->member_capacity;
    return true;
}

static bool list_neighbours_of(pl_clustered *c, int index)
{
    pl_clustered_proxies *own = c->proxies;
    const pl_cluster *cluster = c->clusters + index;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        for (int at = c->start[i]; at < c->start[i + 1]; at++) {
            int other = c->owner[c->place[at]];
            if (own->stamp[other] == index + 1)
                continue;
            own->stamp[other] = index + 1;
            int32_t *new = pl_array_add(&own->near, 1);
            if (!new)
                return false;
            *new = other;
        }
    }
    return true;
}

/* Who shares particles with whom; only after a change of topology. */
static bool list_neighbours(pl_clustered *c, int workers)
{
    if (!make_room(c, workers))
        return false;
    pl_clustered_proxies *own = c->proxies;
    if (own->listed && own->topology == c->topology)
        return true;
    own->listed = false;
    own->near.count = 0;
    memset(own->stamp, 0, (size_t)c->count * sizeof(int32_t));
    for (int i = 0; i < c->count; i++) {
        own->near_start[i] = (int32_t)own->near.count;
        if (!list_neighbours_of(c, i))
            return false;
    }
    own->near_start[c->count] = (int32_t)own->near.count;
    own->topology = c->topology;
    own->listed = true;
    return true;
}

/* Whether particles in a ball, and those in a box, may be in the proxy of a. */
static bool may_reach(const whereabouts *a, const float round[4])
{
    float x = a->origin[0] - round[0], y = a->origin[1] - round[1], z = a->origin[2] - round[2];
    float reach = a->reach + round[3];
    return x * x + y * y + z * z <= reach * reach;
}

static bool may_touch(const whereabouts *a, const whereabouts *b)
{
    bool touch = true;
    for (int k = 0; k < 3; k++)
        touch = touch && a->proxy_low[k] <= b->high[k] && b->low[k] <= a->proxy_high[k];
    return touch;
}

/* No less than the largest singular value; for a rotation it is 1. */
static double most_stretch(const float f[9])
{
    double most = 0;
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += fabs((double)(f[i] * f[j] + f[3 + i] * f[3 + j] + f[6 + i] * f[6 + j]));
        most = fmax(most, sum);
    }
    return sqrt(most);
}

/* F is that of the start of the sub-step: a little allowance; more would only let a touch be felt
   earlier. */
#define ALLOWANCE 1.02

/* Box and ball around the particles, their places one after the other, and the weighted mean. The
   ball has its middle where the cluster was before: any place near will do. */
static pl_vec3 find_members(const search *s, const pl_cluster *cluster, whereabouts *w)
{
    pl_located seen = s->locate(s->c, cluster, s->own->at);
    memcpy(w->low, seen.low, sizeof w->low);
    memcpy(w->high, seen.high, sizeof w->high);
    memcpy(w->centre, cluster->centre, sizeof w->centre);
    w->spread = 1.00001f * seen.farthest;
    return pl_v3_from_floats(seen.mean);
}

static whereabouts find_one(const search *s, const pl_cluster *cluster)
{
    whereabouts w = {.radius = 0};
    pl_mat3 gradient = pl_m3_from_floats(cluster->gradient), inverse;
    pl_vec3 middle = pl_v3_add(find_members(s, cluster, &w),
                               pl_m3_mul_v3(gradient, pl_v3_from_floats(cluster->middle)));
    double reach = ALLOWANCE * (double)cluster->radius;
    pl_v3_to_floats(middle, w.origin);
    w.reach = (float)(reach * most_stretch(cluster->gradient));
    for (int k = 0; k < 3; k++) {
        const double *row = gradient.m[k];
        double half = reach * sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        w.proxy_low[k] = (float)((double)w.origin[k] - half);
        w.proxy_high[k] = (float)((double)w.origin[k] + half);
    }
    if (!pl_m3_inverse(gradient, &inverse))
        return w; /* flat: nobody is inside */
    pl_m3_to_floats(inverse, w.inverse);
    w.radius = (float)reach;
    return w;
}

/* Places in the order of the kernels: members of a cluster lie near each other there. */
static void order_places(void *context, int begin, int end, int worker)
{
    const search *s = context;
    const pl_clustered_rows *r = &s->c->rows;
    (void)worker;
    for (int row = begin; row < end; row++) {
        float *to = r->x + 4 * (size_t)row;
        memcpy(to, s->x + 3 * (size_t)r->order[row], 3 * sizeof *to);
        to[3] = r->mass[row];
    }
}

static void find_places(void *context, int begin, int end, int worker)
{
    search *s = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        s->own->where[i] = find_one(s, s->c->clusters + i);
}

/* ---- Contacts -------------------------------------------------------------------------------- */

static void stamp_neighbours(const search *s, finder *f, int index)
{
    const int32_t *list = s->own->near.data;
    f->stamp_cluster[index] = f->mark;
    for (int at = s->own->near_start[index]; at < s->own->near_start[index + 1]; at++)
        f->stamp_cluster[list[at]] = f->mark;
}

/* Neither a member of a neighbour, nor seen before. */
static bool is_stranger(const search *s, finder *f, int i)
{
    const pl_clustered *c = s->c;
    if (f->stamp_particle[i] == f->mark)
        return false;
    f->stamp_particle[i] = f->mark;
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (f->stamp_cluster[c->owner[c->place[at]]] == f->mark)
            return false;
    return true;
}

/* What friction takes of the way along the surface, at most `most`: the way of the particle in this
   sub-step against that of the point of the cluster it touches. */
static pl_vec3 rub(const search *s, int index, int i, pl_vec3 p, pl_vec3 normal, double most)
{
    const pl_cluster *cluster = s->c->clusters + index;
    pl_vec3 before = pl_v3_add(pl_v3_from_floats(cluster->centre),
                               pl_m3_mul_v3(pl_m3_from_floats(cluster->gradient), p));
    pl_vec3 way =
        pl_v3_sub(before, pl_v3_from_floats(s->from + 3 * (size_t)i)); /* both are there now */
    way = pl_v3_add_scaled(way, -pl_v3_dot(way, normal), normal);
    double length = pl_v3_length(way);
    return length > 0 ? pl_v3_scale(way, -fmin(1, most / length)) : way;
}

/* The other part of a divided particle is a member: it is where this one is, whatever side of the
   crack that is. */
static bool has_twin(const search *s, int index, int i)
{
    const pl_clustered *c = s->c;
    const pl_cluster *cluster = c->clusters + index;
    if (c->n == c->model_n)
        return false;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (c->origin[c->particle[m]] == c->origin[i])
            return true;
    return false;
}

/* Without room it is only counted. */
static void add_contact(finder *f, const contact *new)
{
    f->wanted++;
    if (f->contacts.count < f->contacts.capacity)
        ((contact *)f->contacts.data)[f->contacts.count++] = *new;
}

/* How deep the particle was in the proxy before the sub-step: in the rest space, not below 0. */
static double depth_before(const search *s, const pl_cluster *cluster, int i)
{
    pl_mat3 inverse;
    pl_vec3 boundary;
    if (!pl_m3_inverse(pl_m3_from_floats(cluster->gradient), &inverse))
        return 0;
    pl_vec3 x = pl_v3_from_floats(s->from + 3 * (size_t)i);
    pl_vec3 p = pl_m3_mul_v3(inverse, pl_v3_sub(x, pl_v3_from_floats(cluster->centre)));
    return fmax(0, depth_in(cluster, p, &boundary));
}

/* What is drawn out beyond everything has lost its shape, and with it the right to push others. */
static bool is_sane(pl_mat3 gradient)
{
    float f[9];
    pl_m3_to_floats(gradient, f);
    return most_stretch(f) < MOST_STRETCH;
}

static void look_at(const search *s, finder *f, int index, int i)
{
    const pl_cluster *cluster = s->c->clusters + index;
    if (!f->fitted) {
        f->fitted = true;
        f->fit = pl_clustered_refit(s->c, index, s->x);
        f->usable = pl_m3_inverse(f->fit.gradient, &f->inverse) && is_sane(f->fit.gradient);
    }
    if (!f->usable)
        return;
    pl_vec3 x = pl_v3_from_floats(s->x + 3 * (size_t)i), boundary = {0};
    pl_vec3 p = pl_m3_mul_v3(f->inverse, pl_v3_sub(x, f->fit.centre));
    double depth = depth_in(cluster, p, &boundary);
    if (!(depth > SHALLOWEST * (double)cluster->radius) || has_twin(s, index, i))
        return;
    double deeper = 1 - (1 - RECOVERED) * depth_before(s, cluster, i) / depth;
    pl_vec3 move = pl_m3_mul_v3(f->fit.gradient, pl_v3_sub(boundary, p));
    double length = pl_v3_length(move), most = DEEPEST * (double)cluster->radius;
    if (!(length > 0) || !(length < (double)INFINITY) || !(deeper > 0))
        return; /* or it is on its way out */
    pl_vec3 normal = pl_v3_scale(move, 1 / length);
    double part = fmin(length * deeper, most);
    move = pl_v3_add(pl_v3_scale(normal, part), rub(s, index, i, p, normal, s->friction * part));
    add_contact(f, &(contact){index, i, {move.x, move.y, move.z}});
}

typedef float v4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));

/* A proxy in all lanes. */
typedef struct ball {
    v4 origin[3], inverse[9], radius2;
} ball;

static v4 splat(float a)
{
    return (v4){a, a, a, a};
}

static ball ball_of(const whereabouts *w)
{
    ball b = {.radius2 = splat(w->radius * w->radius)};
    for (int k = 0; k < 3; k++)
        b.origin[k] = splat(w->origin[k]);
    for (int k = 0; k < 9; k++)
        b.inverse[k] = splat(w->inverse[k]);
    return b;
}

/* Which of four places are inside, or nearly. */
static i4 inside(const ball *b, float *const *at, int m)
{
    v4 d[3], sum = splat(0);
    for (int k = 0; k < 3; k++) {
        memcpy(d + k, at[k] + m, sizeof d[k]);
        d[k] -= b->origin[k];
    }
    for (int k = 0; k < 3; k++) {
        v4 p =
            b->inverse[3 * k] * d[0] + b->inverse[3 * k + 1] * d[1] + b->inverse[3 * k + 2] * d[2];
        sum += p * p;
    }
    return sum <= b->radius2;
}

static bool any(i4 a)
{
    int64_t half[2];
    memcpy(half, &a, sizeof half);
    return half[0] | half[1];
}

/* Particles of cluster `other` in the proxy of `index`. */
static void look_for(const search *s, finder *f, int index, int other, const ball *b)
{
    const pl_clustered *c = s->c;
    int first = c->clusters[other].first, end = first + c->clusters[other].count;
    for (int m = first; m < end; m += 8) {
        i4 in[2] = {inside(b, s->own->at, m), inside(b, s->own->at, m + 4)};
        for (int k = 0; any(in[0] | in[1]) && k < 8; k++)
            if (in[k / 4][k % 4] && is_stranger(s, f, c->particle[m + k]))
                look_at(s, f, index, c->particle[m + k]);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static float middle_of(const whereabouts *w, int k, float *width)
{
    float low = fminf(w->low[k], w->proxy_low[k]), high = fmaxf(w->high[k], w->proxy_high[k]);
    *width = high - low;
    return 0.5f * (low + high);
}

static grid lay_grid(const search *s)
{
    grid g = {.size = {1, 1, 1}};
    double cells[3] = {1, 1, 1}, most = CELLS_PER_CLUSTER * (double)s->c->count;
    float range[3];
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY, widest = 0, width;
        for (int i = 0; i < s->c->count; i++) {
            float middle = middle_of(s->own->where + i, k, &width);
            low = fminf(low, middle), high = fmaxf(high, middle);
            widest = fmaxf(widest, width);
        }
        g.low[k] = low;
        range[k] = high - low;
        if (range[k] < 1e30f && widest > 0)
            cells[k] = fmax(1, fmin(floor((double)range[k] / (1.001 * (double)widest)), most));
    }
    for (int k = 0; k < 3; k++) /* too many: along the axis that has most of them */
        while (cells[0] * cells[1] * cells[2] > most) {
            int longest = cells[0] >= cells[1] && cells[0] >= cells[2] ? 0
                          : cells[1] >= cells[2]                       ? 1
                                                                       : 2;
            cells[longest] = floor(cells[longest] / 2);
        }
    for (int k = 0; k < 3; k++) {
        g.size[k] = (int)cells[k];
        g.scale[k] = g.size[k] > 1 ? (float)g.size[k] / range[k] : 0;
    }
    return g;
}

static int cell_along(const grid *g, float place, int k)
{
    float at = (place - g->low[k]) * g->scale[k];
    return !(at > 0) ? 0 : at < (float)g->size[k] ? (int)at : g->size[k] - 1;
}

static int cell_of(const grid *g, const float x[3])
{
    return (cell_along(g, x[2], 2) * g->size[1] + cell_along(g, x[1], 1)) * g->size[0] +
           cell_along(g, x[0], 0);
}

/* By cells, in ascending order in each. */
static void fill_grid(search *s)
{
    const grid *g = &s->grid;
    pl_clustered_proxies *own = s->own;
    int count = s->c->count, cells = g->size[0] * g->size[1] * g->size[2];
    memset(own->cell_start, 0, ((size_t)cells + 1) * sizeof(int32_t));
    for (int i = 0; i < count; i++) {
        float middle[3], width;
        for (int k = 0; k < 3; k++)
            middle[k] = middle_of(own->where + i, k, &width);
        own->cell[i] = cell_of(g, middle);
        own->cell_start[own->cell[i] + 1]++;
    }
    for (int k = 0; k < cells; k++)
        own->cell_start[k + 1] += own->cell_start[k];
    for (int i = count - 1; i >= 0; i--) /* from behind: each start is where the next one goes */
        own->in_cell[--own->cell_start[own->cell[i] + 1]] = i;
    for (int k = 0; k < cells; k++)
        own->cell_start[k] = own->cell_start[k + 1];
    own->cell_start[cells] = count;
    for (int at = 0; at < count; at++) {
        const whereabouts *w = own->where + own->in_cell[at];
        memcpy(own->round[at], w->centre, sizeof w->centre);
        own->round[at][3] = w->spread;
    }
}

/* Particles that no cluster holds, by cells: those within the box of a proxy are at most a cell
   away from its middle. */
static void fill_loose(search *s)
{
    const pl_clustered *c = s->c;
    const grid *g = &s->grid;
    pl_clustered_proxies *own = s->own;
    int cells = g->size[0] * g->size[1] * g->size[2];
    own->loose_count = 0;
    for (int i = 0; i < c->n; i++)
        own->loose_count += c->start[i] == c->start[i + 1];
    if (!own->loose_count)
        return;
    memset(own->loose_start, 0, ((size_t)cells + 1) * sizeof(int32_t));
    for (int i = 0; i < c->n; i++) {
        if (c->start[i] != c->start[i + 1])
            continue;
        own->loose_cell[i] = cell_of(g, s->x + 3 * (size_t)i);
        own->loose_start[own->loose_cell[i] + 1]++;
    }
    for (int k = 0; k < cells; k++)
        own->loose_start[k + 1] += own->loose_start[k];
    for (int i = c->n - 1; i >= 0; i--) /* from behind, as above */
        if (c->start[i] == c->start[i + 1])
            own->loose[--own->loose_start[own->loose_cell[i] + 1]] = i;
    for (int k = 0; k < cells; k++)
        own->loose_start[k] = own->loose_start[k + 1];
    own->loose_start[cells] = own->loose_count;
}

static bool in_box(const whereabouts *a, const float *x)
{
    bool in = true;
    for (int k = 0; k < 3; k++)
        in = in && a->proxy_low[k] <= x[k] && x[k] <= a->proxy_high[k];
    return in;
}

static void look_for_loose(const search *s, finder *f, int index, int first, int last)
{
    const pl_clustered_proxies *own = s->own;
    for (int at = own->loose_start[first]; at < own->loose_start[last + 1]; at++)
        if (in_box(own->where + index, s->x + 3 * (size_t)own->loose[at]))
            look_at(s, f, index, own->loose[at]);
}

static void look_in_cells(const search *s, finder *f, int index, const ball *b, int first, int last)
{
    const pl_clustered_proxies *own = s->own;
    const whereabouts *a = own->where + index;
    for (int at = own->cell_start[first]; at < own->cell_start[last + 1]; at++) {
        int other = own->in_cell[at];
        if (may_reach(a, own->round[at]) && f->stamp_cluster[other] != f->mark &&
            may_touch(a, own->where + other))
            look_for(s, f, index, other, b);
    }
}

static void look_around(const search *s, finder *f, int index)
{
    const int *size = s->grid.size;
    ball b = ball_of(s->own->where + index);
    int cell = s->own->cell[index], x = cell % size[0], y = cell / size[0] % size[1],
        z = cell / size[0] / size[1];
    int left = x > 0 ? x - 1 : 0, right = x + 1 < size[0] ? x + 1 : x;
    if (f->mark == INT32_MAX) {
        memset(f->stamp_cluster, 0, (size_t)s->own->capacity * sizeof(int32_t));
        memset(f->stamp_particle, 0, (size_t)s->own->n_capacity * sizeof(int32_t));
        f->mark = 0;
    }
    f->mark++;
    f->fitted = false;
    stamp_neighbours(s, f, index);
    for (int dz = z > 0 ? -1 : 0; dz <= 1 && z + dz < size[2]; dz++)
        for (int dy = y > 0 ? -1 : 0; dy <= 1 && y + dy < size[1]; dy++) {
            int row = ((z + dz) * size[1] + y + dy) * size[0];
            look_in_cells(s, f, index, &b, row + left, row + right);
            if (s->own->loose_count)
                look_for_loose(s, f, index, row + left, row + right);
        }
}

static void find_some(void *context, int begin, int end, int worker)
{
    const search *s = context;
    finder *f = s->own->finders + worker;
    for (int i = begin; i < end; i++) {
        size_t first = f->contacts.count;
        look_around(s, f, i);
        s->own->found[i] = (found){worker, (int32_t)(f->contacts.count - first), first};
    }
}

/* False if there was no room for all; there is the next time, if there is memory. */
static bool find_once(search *s, pl_tasks *tasks)
{
    bool all = true;
    for (int k = 0; k < s->own->finder_count; k++)
        s->own->finders[k].contacts.count = s->own->finders[k].wanted = 0;
    pl_tasks_run(tasks, find_some, s, s->c->count, 16);
    for (int k = 0; k < s->own->finder_count; k++) {
        finder *f = s->own->finders + k;
        all = all && f->wanted == f->contacts.count;
    }
    return all;
}

/* Without memory those for which there is room must do. */
static bool find_contacts(search *s, pl_tasks *tasks)
{
    size_t wanted = 0;
    if (find_once(s, tasks))
        return true;
    for (int k = 0; k < s->own->finder_count; k++)
        wanted += s->own->finders[k].wanted; /* next time one may have them all */
    for (int k = 0; k < s->own->finder_count; k++) {
        s->own->finders[k].contacts.count = 0;
        (void)pl_array_reserve(&s->own->finders[k].contacts, wanted);
    }
    return find_once(s, tasks);
}

/* ---- Response -------------------------------------------------------------------------------- */

static const contact *contacts_of(const pl_clustered_proxies *own, int index)
{
    const found *f = own->found + index;
    return (const contact *)own->finders[f->finder].contacts.data + f->first;
}

/* Whether a particle that touches is also a member of what is touched: then it is moved from both
   sides. */
static bool is_struck(const pl_clustered *c, const pl_clustered_proxies *own, int i)
{
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (own->found[c->owner[c->place[at]]].count)
            return true;
    return false;
}

static bool strikes(const pl_clustered *c, const pl_clustered_proxies *own, int index)
{
    const pl_cluster *cluster = c->clusters + index;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++)
        if (own->count[c->particle[m]])
            return true;
    return false;
}

/* A particle in several proxies is moved by the mean. A cluster of mass M = Σ w m, on which
   particles of mass Σ m_i press, gives way to all of them together as one body to another: they
   move by M / (M + Σ m_i) of their ways, and it by the rest. Where each is inside the other, each
   does half: so nobody goes farther than the farthest way of one contact. */
static void push_away(const pl_clustered *c, pl_clustered_proxies *own, const contact *k,
                      bool both_ways)
{
    int i = k->particle, index = k->cluster;
    double m = (double)c->mass[i], mass = (double)c->clusters[index].mass;
    double half = both_ways || is_struck(c, own, i) ? 0.5 : 1;
    double part = mass > 0 ? half / (own->count[i] * (mass + own->load[index])) : 0;
    for (int j = 0; j < 3; j++) {
        double move = part * k->move[j];
        own->push[3 * (size_t)i + (size_t)j] += mass * move;
        own->give[3 * (size_t)index + (size_t)j] += m * move;
    }
}

static void give_way(const pl_clustered *c, pl_clustered_proxies *own, int index)
{
    const pl_cluster *cluster = c->clusters + index;
    const double *give = own->give + 3 * (size_t)index;
    if (give[0] == 0 && give[1] == 0 && give[2] == 0)
        return;
    for (int at = cluster->first; at < cluster->first + cluster->count; at++)
        for (int j = 0; j < 3; j++)
            own->push[3 * (size_t)c->particle[at] + (size_t)j] -= (double)c->weight[at] * give[j];
}

static void push_apart(search *s)
{
    const pl_clustered *c = s->c;
    pl_clustered_proxies *own = s->own;
    memset(own->count, 0, (size_t)c->n * sizeof(int32_t));
    memset(own->push, 0, 3 * (size_t)c->n * sizeof(double));
    memset(own->give, 0, 3 * (size_t)c->count * sizeof(double));
    memset(own->load, 0, (size_t)c->count * sizeof(double));
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < own->found[i].count; k++)
            own->count[contacts_of(own, i)[k].particle]++;
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < own->found[i].count; k++) {
            int particle = contacts_of(own, i)[k].particle;
            own->load[i] += (double)c->mass[particle] / own->count[particle];
        }
    for (int i = 0; i < c->count; i++) {
        bool both_ways = own->found[i].count && strikes(c, own, i);
        for (int k = 0; k < own->found[i].count; k++)
            push_away(c, own, contacts_of(own, i) + k, both_ways);
    }
    for (int i = 0; i < c->count; i++)
        give_way(c, own, i);
    for (size_t j = 0; j < 3 * (size_t)c->n; j++)
        if (own->push[j] != 0)
            s->x[j] = (float)((double)s->x[j] + own->push[j]);
}

#define KERNEL(width) [PL_SIMD_PLACE(width)] = pl_cluster_locate_w##width,

static pl_locate *in_use(void)
{
    static pl_locate *const kernels[] = {PL_SIMD_EACH(KERNEL)};
    return kernels[PL_SIMD_PLACE(pl_simd_width())];
}

void pl_clustered_collide(pl_clustered *c, float *x, const float *from, double h, double friction,
                          pl_tasks *tasks)
{
    int workers = tasks ? pl_tasks_worker_count(tasks) : 1;
    bool any = false;
    (void)h;
    if (c->count < 1)
        return;
    if (!list_neighbours(c, workers)) {
        c->unchanged++;
        return;
    }
    search s = {
        .c = c, .own = c->proxies, .x = x, .from = from, .friction = friction, .locate = in_use()};
    pl_tasks_run(tasks, order_places, &s, c->n, 4096);
    pl_tasks_run(tasks, find_places, &s, c->count, 16);
    s.grid = lay_grid(&s);
    fill_grid(&s);
    fill_loose(&s);
    if (!find_contacts(&s, tasks))
        c->unchanged++;
    for (int k = 0; k < s.own->finder_count; k++)
        any = any || s.own->finders[k].contacts.count;
    if (any)
        push_apart(&s);
}
