/* Contact of a clustered body with itself (Jones et al. 2015, METHODS §2): proxies in the rest space of clusters, a ball cut
   by half-spaces. A particle that is inside the proxy of a cluster, and in no cluster that shares a particle with that one,
   is mapped to the rest space by F⁻¹, moved to the nearest boundary, and mapped back. What moves it is taken from the
   members of the cluster by weight, so that the linear momentum stays. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "math/rotation_lanes.h"
#include "matter/clustered_change.h"

enum { USUAL_PAIRS = 32 }; /* of a cluster: room from the start, so that no sub-step allocates */
#define SHALLOWEST 1e-4    /* radii: rounding, no contact */
#define DEEPEST 0.25       /* radii that a particle is moved at most in a sub-step */

/* ---- The shape of proxies ------------------------------------------------------------------------------------------- */

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

/* How deep a rest position is inside the proxy (negative = outside), and the nearest point of the boundary. */
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

/* ---- Who is near whom ----------------------------------------------------------------------------------------------- */

/* Where a cluster and its proxy are, in balls. */
typedef struct whereabouts {
    double centre[3], spread; /* of its particles */
    double middle[3], reach;  /* of the proxy: of the ball as F may deform it */
} whereabouts;

typedef struct contact {
    int32_t cluster, particle;
    double move[3]; /* of the particle against the cluster */
} contact;

/* What is kept from sub-step to sub-step: room, and who shares particles with whom. */
struct pl_clustered_proxies {
    uint64_t topology; /* for which the neighbours were listed */
    bool listed;
    int capacity, n_capacity;
    int32_t *near_start;     /* [clusters + 1] */
    pl_array near;           /* of int32_t: clusters that share a particle, in ascending order */
    whereabouts *where;      /* [clusters] */
    pl_sort_item *order;     /* [clusters][2] along an axis */
    int32_t *stamp_cluster;  /* [clusters] */
    int32_t *stamp_particle; /* [n] */
    int32_t *count;          /* [n] contacts of each particle */
    double *push;            /* [n][3] */
    pl_array pairs;          /* of pl_sort_item: ball << 32 | cluster of the particles */
    pl_array contacts;
};

typedef struct search {
    pl_clustered *c;
    pl_clustered_proxies *own;
    float *x;
    const float *from;
    double friction;
    /* Of the proxy looked at, once something is near. */
    int stamped, fitted; /* which: number + 1 */
    pl_cluster_fit fit;
    pl_mat3 inverse;
    bool usable;
} search;

void pl_clustered_proxies_free(pl_clustered *c)
{
    pl_clustered_proxies *own = c->proxies;
    if (!own)
        return;
    pl_memory_free(c->memory, own->near_start);
    pl_memory_free(c->memory, own->where);
    pl_memory_free(c->memory, own->order);
    pl_memory_free(c->memory, own->stamp_cluster);
    pl_memory_free(c->memory, own->stamp_particle);
    pl_memory_free(c->memory, own->count);
    pl_memory_free(c->memory, own->push);
    pl_array_free(&own->near);
    pl_array_free(&own->pairs);
    pl_array_free(&own->contacts);
    pl_memory_free(c->memory, own);
    c->proxies = NULL;
}

/* Room for the clusters and particles there may be before the body itself needs more room. */
static bool make_room(pl_clustered *c)
{
    pl_clustered_proxies *own = c->proxies;
    if (own && own->capacity >= c->count && own->n_capacity >= c->n)
        return true;
    pl_clustered_proxies_free(c);
    own = c->proxies = PL_NEW(c->memory, pl_clustered_proxies, 1);
    if (!own)
        return false;
    size_t k = (size_t)c->capacity, n = (size_t)c->n_capacity;
    own->near_start = PL_NEW(c->memory, int32_t, k + 1);
    own->where = PL_NEW(c->memory, whereabouts, k);
    own->order = PL_NEW(c->memory, pl_sort_item, 2 * k);
    own->stamp_cluster = PL_NEW(c->memory, int32_t, k);
    own->stamp_particle = PL_NEW(c->memory, int32_t, n);
    own->count = PL_NEW(c->memory, int32_t, n);
    own->push = PL_NEW(c->memory, double, 3 * n);
    own->near = pl_array_make(c->memory, sizeof(int32_t));
    own->pairs = pl_array_make(c->memory, sizeof(pl_sort_item));
    own->contacts = pl_array_make(c->memory, sizeof(contact));
    if (!own->near_start || !own->where || !own->order || !own->stamp_cluster ||
        !own->stamp_particle || !own->count || !own->push ||
        !pl_array_reserve(&own->pairs, USUAL_PAIRS * k) || !pl_array_reserve(&own->contacts, n)) {
        pl_clustered_proxies_free(c);
        return false;
    }
    own->capacity = c->capacity;
    own->n_capacity = c->n_capacity;
    return true;
}

static bool list_neighbours_of(pl_clustered *c, int index)
{
    pl_clustered_proxies *own = c->proxies;
    const pl_cluster *cluster = c->clusters + index;
    size_t first = own->near.count;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int i = c->particle[m];
        for (int at = c->start[i]; at < c->start[i + 1]; at++) {
            int other = c->owner[c->place[at]];
            if (own->stamp_cluster[other] == index + 1)
                continue;
            own->stamp_cluster[other] = index + 1;
            int32_t *new = pl_array_add(&own->near, 1);
            if (!new)
                return false;
            *new = other;
        }
    }
    int32_t *list = (int32_t *)own->near.data + first; /* short lists, nearly in order */
    for (size_t i = 1; i < own->near.count - first; i++)
        for (size_t j = i; j > 0 && list[j] < list[j - 1]; j--) {
            int32_t other = list[j];
            list[j] = list[j - 1], list[j - 1] = other;
        }
    return true;
}

/* Who shares particles with whom; only after a change of topology. */
static bool list_neighbours(pl_clustered *c)
{
    if (!make_room(c))
        return false;
    pl_clustered_proxies *own = c->proxies;
    if (own->listed && own->topology == c->topology)
        return true;
    own->listed = false;
    own->near.count = 0;
    memset(own->stamp_cluster, 0, (size_t)c->count * sizeof(int32_t));
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

static bool are_neighbours(const pl_clustered_proxies *own, int a, int b)
{
    const int32_t *list = own->near.data;
    int low = own->near_start[a], high = own->near_start[a + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] == b)
            return true;
        *(list[middle] < b ? &low : &high) = list[middle] < b ? middle + 1 : middle;
    }
    return a == b;
}

static double distance2(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* Whether particles of b may be in the ball of a. */
static bool may_touch(const whereabouts *a, const whereabouts *b)
{
    double reach = a->reach + b->spread;
    return distance2(a->middle, b->centre) <= reach * reach;
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

/* F is that of the start of the sub-step: a little allowance; more would only let a touch be felt earlier. */
#define ALLOWANCE 1.02

/* The ball around the particles has its middle where the cluster was before: any place near will do. */
static whereabouts find_one(const search *s, const pl_cluster *cluster)
{
    const pl_clustered *c = s->c;
    const float *f = cluster->gradient, *p = cluster->middle, *near = cluster->centre;
    whereabouts w = {.reach = ALLOWANCE * (double)cluster->radius * most_stretch(f)};
    double sum[3] = {0}, mass = 0;
    float most = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        const float *at = s->x + 3 * (size_t)c->particle[m];
        float x = at[0] - near[0], y = at[1] - near[1], z = at[2] - near[2];
        float d2 = x * x + y * y + z * z, wm = c->weight[m] * c->mass[c->particle[m]];
        mass += (double)wm;
        sum[0] += (double)(wm * x), sum[1] += (double)(wm * y), sum[2] += (double)(wm * z);
        most = d2 > most ? d2 : most;
    }
    for (int k = 0; k < 3; k++) {
        w.centre[k] = (double)near[k];
        w.middle[k] = w.centre[k] + (mass > 0 ? sum[k] / mass : 0) +
                      (double)(f[3 * k] * p[0] + f[3 * k + 1] * p[1] + f[3 * k + 2] * p[2]);
    }
    w.spread = 1.00001 * sqrt((double)most);
    return w;
}

static void find_places(void *context, int begin, int end, int worker)
{
    search *s = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        s->own->where[i] = find_one(s, s->c->clusters + i);
}

/* ---- Contacts ------------------------------------------------------------------------------------------------------- */

static void stamp_neighbours(search *s, int index)
{
    const pl_clustered_proxies *own = s->own;
    const int32_t *list = own->near.data;
    s->stamped = index + 1;
    own->stamp_cluster[index] = index + 1;
    for (int at = own->near_start[index]; at < own->near_start[index + 1]; at++)
        own->stamp_cluster[list[at]] = index + 1;
}

/* Neither a member of a neighbour, nor seen before. */
static bool is_stranger(search *s, int cluster, int i)
{
    const pl_clustered *c = s->c;
    if (s->own->stamp_particle[i] == cluster + 1)
        return false;
    if (s->stamped != cluster + 1)
        stamp_neighbours(s, cluster);
    s->own->stamp_particle[i] = cluster + 1;
    for (int at = c->start[i]; at < c->start[i + 1]; at++)
        if (s->own->stamp_cluster[c->owner[c->place[at]]] == cluster + 1)
            return false;
    return true;
}

/* What friction takes of the way along the surface, at most `most`: the way of the particle in this sub-step against that
   of the point of the cluster it touches. */
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

/* The other part of a divided particle is a member: it is where this one is, whatever side of the crack that is. */
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

static bool look_at(search *s, int index, int i)
{
    const pl_cluster *cluster = s->c->clusters + index;
    const pl_cluster_fit *fit = &s->fit;
    if (s->fitted != index + 1) {
        s->fitted = index + 1;
        s->fit = pl_clustered_refit(s->c, index, s->x);
        s->usable = pl_m3_inverse(fit->gradient, &s->inverse);
    }
    if (!s->usable)
        return true;
    pl_vec3 x = pl_v3_from_floats(s->x + 3 * (size_t)i), boundary = {0};
    pl_vec3 p = pl_m3_mul_v3(s->inverse, pl_v3_sub(x, fit->centre));
    if (!(depth_in(cluster, p, &boundary) > SHALLOWEST * (double)cluster->radius) ||
        has_twin(s, index, i))
        return true;
    pl_vec3 move = pl_m3_mul_v3(fit->gradient, pl_v3_sub(boundary, p));
    double length = pl_v3_length(move), most = DEEPEST * (double)cluster->radius;
    if (!(length > 0) || !(length < (double)INFINITY))
        return true;
    pl_vec3 normal = pl_v3_scale(move, 1 / length);
    double part = length > most ? most : length;
    move = pl_v3_add(pl_v3_scale(normal, part), rub(s, index, i, p, normal, s->friction * part));
    contact *new = pl_array_add(&s->own->contacts, 1);
    if (!new)
        return false;
    *new = (contact){index, i, {move.x, move.y, move.z}};
    return true;
}

/* Particles of cluster `other` in the proxy of `index`. */
static bool look_for(search *s, int index, int other)
{
    const pl_clustered *c = s->c;
    const pl_cluster *cluster = c->clusters + other;
    const whereabouts *w = s->own->where + index;
    float middle[3], reach2 = (float)(w->reach * w->reach);
    for (int k = 0; k < 3; k++)
        middle[k] = (float)w->middle[k];
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        const float *at = s->x + 3 * (size_t)c->particle[m];
        float x = at[0] - middle[0], y = at[1] - middle[1], z = at[2] - middle[2];
        if (x * x + y * y + z * z <= reach2 && is_stranger(s, index, c->particle[m]) &&
            !look_at(s, index, c->particle[m]))
            return false;
    }
    return true;
}

/* ---- Pairs ---------------------------------------------------------------------------------------------------------- */

static bool add_pair(search *s, int ball, int other)
{
    if (!may_touch(s->own->where + ball, s->own->where + other))
        return true;
    pl_sort_item *pair = pl_array_add(&s->own->pairs, 1);
    if (pair)
        *pair = (pl_sort_item){(uint64_t)ball << 32 | (uint32_t)other, 0};
    return pair;
}

/* The axis along which the clusters are spread most. */
static int longest_axis(const search *s)
{
    double size[3];
    for (int k = 0; k < 3; k++) {
        double low = (double)INFINITY, high = -(double)INFINITY;
        for (int i = 0; i < s->c->count; i++) {
            low = fmin(low, s->own->where[i].centre[k]);
            high = fmax(high, s->own->where[i].centre[k]);
        }
        size[k] = high - low;
    }
    return size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
}

static float end_of(const whereabouts *w, int axis, int sign)
{
    double ball = w->middle[axis] + sign * w->reach, all = w->centre[axis] + sign * w->spread;
    return (float)(sign > 0 ? fmax(ball, all) : fmin(ball, all));
}

/* Sorted along an axis, each is compared with those that begin before it ends. */
static bool list_pairs(search *s)
{
    pl_clustered_proxies *own = s->own;
    int axis = longest_axis(s), count = s->c->count;
    for (int i = 0; i < count; i++)
        own->order[i] =
            (pl_sort_item){pl_sort_float_key(end_of(own->where + i, axis, -1)), (uint32_t)i};
    pl_sort(own->order, own->order + count, (size_t)count);
    for (int at = 0; at < count; at++) {
        int i = (int)own->order[at].index;
        const whereabouts *a = own->where + i;
        uint32_t end = pl_sort_float_key(end_of(a, axis, 1));
        for (int next = at + 1; next < count && own->order[next].key <= end; next++) {
            int j = (int)own->order[next].index;
            const whereabouts *b = own->where + j;
            if ((may_touch(a, b) || may_touch(b, a)) && !are_neighbours(own, i, j) &&
                (!add_pair(s, i, j) || !add_pair(s, j, i)))
                return false;
        }
    }
    return true;
}

static bool find_pairs(search *s)
{
    pl_clustered_proxies *own = s->own;
    own->pairs.count = own->contacts.count = 0;
    if (!list_pairs(s))
        return false;
    size_t pairs = own->pairs.count;
    if (pairs && !pl_array_reserve(&own->pairs, pairs))
        return false;
    if (pairs)
        pl_sort(own->pairs.data, (pl_sort_item *)own->pairs.data + pairs, pairs);
    return true;
}

static bool find_contacts(search *s)
{
    const pl_sort_item *pairs = s->own->pairs.data;
    if (!s->own->pairs.count)
        return true;
    memset(s->own->stamp_cluster, 0, (size_t)s->c->count * sizeof(int32_t));
    memset(s->own->stamp_particle, 0, (size_t)s->c->n * sizeof(int32_t));
    for (size_t at = 0; at < s->own->pairs.count; at++) {
        int ball = (int)(pairs[at].key >> 32), other = (int)(uint32_t)pairs[at].key;
        if (!look_for(s, ball, other))
            return false;
    }
    return true;
}

/* ---- Response ------------------------------------------------------------------------------------------------------- */

/* A particle in several proxies is moved by the mean; the members of a cluster with mass M = Σ w m give way by
   w m_i / (m_i + M). */
static void push_apart(search *s)
{
    const pl_clustered *c = s->c;
    pl_clustered_proxies *own = s->own;
    const contact *contacts = own->contacts.data;
    memset(own->count, 0, (size_t)c->n * sizeof(int32_t));
    memset(own->push, 0, 3 * (size_t)c->n * sizeof(double));
    for (size_t k = 0; k < own->contacts.count; k++)
        own->count[contacts[k].particle]++;
    for (size_t k = 0; k < own->contacts.count; k++) {
        int i = contacts[k].particle;
        const pl_cluster *cluster = c->clusters + contacts[k].cluster;
        double m = (double)c->mass[i], mass = (double)cluster->mass, part = 1.0 / own->count[i];
        if (!(mass > 0))
            continue;
        for (int j = 0; j < 3; j++) {
            double move = part * contacts[k].move[j] / (m + mass);
            own->push[3 * (size_t)i + j] += mass * move;
            for (int at = cluster->first; at < cluster->first + cluster->count; at++)
                own->push[3 * (size_t)c->particle[at] + j] -= (double)c->weight[at] * m * move;
        }
    }
    for (size_t j = 0; j < 3 * (size_t)c->n; j++)
        if (own->push[j] != 0)
            s->x[j] = (float)((double)s->x[j] + own->push[j]);
}

void pl_clustered_collide(pl_clustered *c, float *x, const float *from, double h, double friction,
                          pl_tasks *tasks)
{
    (void)h;
    if (c->count < 2)
        return;
    if (!list_neighbours(c)) {
        c->unchanged++;
        return;
    }
    search s = {.c = c, .own = c->proxies, .x = x, .from = from, .friction = friction};
    pl_tasks_run(tasks, find_places, &s, c->count, 16);
    if (!find_pairs(&s) || !find_contacts(&s))
        c->unchanged++; /* without memory: contacts found so far must do */
    if (s.own->contacts.count)
        push_apart(&s);
}
