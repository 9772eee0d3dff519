/* Which pairs become edges. Quality is contact area over length, as in a discrete Laplacian; a
   spanning forest of the best pairs keeps everything connected that touches, further pairs are
   added from the best down. Pairs whose segment runs through air for more than a small part of the
   sampling distance serve only where nothing better holds a body together, and for more than all of
   it only within one component. */
#include "shape/connect_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

/* Without a wanted count: pairs whose contact is at least this part of what their particles'
   largest contacts are, and bounds on the edges per particle. */
#define FAIR_CONTACT 0.4
#define LEAST_EDGES 2.6
#define MOST_EDGES 4.5

/* How much of an edge may run outside, in sampling distances, if nothing depends on it. */
#define CLEAR 0.25

/* Rings of neighbours of neighbours that may serve when more edges are wanted than there are
   contacts. */
enum { MOST_RINGS = 6 };

/* Graphs in which all pairs between two pieces may be looked at. */
enum { FEW_PARTICLES = 3000 };

typedef struct choosing {
    pl_memory *memory;
    const pl_edge_def *def;
    pl_array pairs;  /* pl_pair: all there are */
    pl_array chosen; /* uint64_t keys */
    bool *taken;     /* [pair] */
    pl_sets sets;
    double air; /* the most that a chosen edge runs outside */
} choosing;

static uint64_t pair_key(int a, int b)
{
    return pl_touch_make(a, b, 0).key;
}

static double distance_of(const double *points, int a, int b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = points[3 * (size_t)a + k] - points[3 * (size_t)b + k];
        sum += d * d;
    }
    return sqrt(sum);
}

/* Positive doubles are ordered as their bits. */
static uint64_t rising(double value)
{
    uint64_t bits;
    value = value > 0 ? value : 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

pl_status pl_pairs_make(pl_memory *memory, const pl_array *touches, const double *points,
                        pl_array *pairs, pl_error *error)
{
    const pl_touch *touch = touches->data;
    size_t n = touches->count;
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * n);
    PL_CHECK(items, PL_ERROR_MEMORY, error, NULL, "no memory for contacts");
    for (size_t i = 0; i < n; i++)
        items[i] = (pl_sort_item){touch[i].key, (uint32_t)i};
    pl_sort(items, items + n, n);
    pl_status status = PL_OK;
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        if (i == 0 || items[i].key != items[i - 1].key) {
            pl_pair *pair = pl_array_add(pairs, 1);
            if (!pair) {
                status = pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for contacts");
                break;
            }
            *pair =
                (pl_pair){(int32_t)(items[i].key >> 32), (int32_t)(uint32_t)items[i].key, 0, 0, 0};
            pair->length = distance_of(points, pair->a, pair->b);
        }
        ((pl_pair *)pairs->data)[pairs->count - 1].contact += touch[items[i].index].contact;
    }
    pl_memory_free(memory, items);
    return status;
}

static bool choose(choosing *c, int a, int b, double outside)
{
    uint64_t *key = pl_array_add(&c->chosen, 1);
    c->air = fmax(c->air, outside);
    if (key)
        *key = pair_key(a, b);
    return key != NULL;
}

/* Good enough without need. */
static bool allowed(const choosing *c, const pl_pair *pair)
{
    return pair->outside <= CLEAR * c->def->distance;
}

/* Pairs by quality: those that cross too much air last, by how much. */
static pl_sort_item *order_pairs(choosing *c)
{
    const pl_pair *pair = c->pairs.data;
    size_t n = c->pairs.count;
    pl_sort_item *items = PL_NEW(c->memory, pl_sort_item, 2 * n);
    for (size_t i = 0; items && i < n; i++) {
        bool crosses = !allowed(c, &pair[i]);
        double clear = 1 - fmin(1, pair[i].outside / fmax(pair[i].length, 1e-300));
        double quality = pair[i].contact / fmax(pair[i].length, 1e-300) * clear;
        uint64_t key =
            crosses ? UINT64_C(1) << 63 | rising(pair[i].outside) : ~rising(quality) >> 1;
        items[i] = (pl_sort_item){key, (uint32_t)i};
    }
    if (items)
        pl_sort(items, items + n, n);
    return items;
}

static double outside_of(const choosing *c, int a, int b, double length)
{
    if (!c->def->inside)
        return 0;
    return length * pl_inside_segment_outside(c->def->inside, c->def->points + 3 * (size_t)a,
                                              c->def->points + 3 * (size_t)b);
}

/* A pair that crosses much air joins two pieces: is there another that crosses less, among
   particles whose parts do not touch? */
static pl_pair find_clearer(const choosing *c, const pl_pair *pair)
{
    int n = c->def->particle_count, first = pl_sets_find(c->sets, pair->a),
        second = pl_sets_find(c->sets, pair->b);
    pl_pair best = *pair;
    for (int a = 0; a < n && n <= FEW_PARTICLES; a++) {
        if (pl_sets_find(c->sets, a) != first)
            continue;
        for (int b = 0; b < n; b++) {
            double length = distance_of(c->def->points, a, b);
            if (pl_sets_find(c->sets, b) != second || length > 1.5 * pair->length)
                continue;
            double outside = outside_of(c, a, b, length);
            if (outside < best.outside)
                best = (pl_pair){a < b ? a : b, a < b ? b : a, 0, length, outside};
        }
    }
    return best;
}

static bool span(choosing *c, const pl_sort_item *order)
{
    const pl_pair *pair = c->pairs.data;
    for (size_t i = 0; i < c->pairs.count; i++) {
        const pl_pair *p = &pair[order[i].index];
        bool same = !c->def->component || c->def->component[p->a] == c->def->component[p->b];
        if ((p->outside > c->def->distance && !same) ||
            pl_sets_find(c->sets, p->a) == pl_sets_find(c->sets, p->b))
            continue;
        pl_pair around = *p;
        if (p->outside > CLEAR * c->def->distance)
            around = find_clearer(c, p);
        pl_sets_join(c->sets, p->a, p->b);
        if (around.a != p->a || around.b != p->b) {
            if (!choose(c, around.a, around.b, around.outside))
                return false;
            continue;
        }
        c->taken[order[i].index] = true;
        if (!choose(c, p->a, p->b, p->outside))
            return false;
    }
    return true;
}

/* How many edges the contacts suggest. */
static size_t suggested(const choosing *c, double *largest)
{
    const pl_pair *pair = c->pairs.data;
    size_t count = 0, n = (size_t)c->def->particle_count;
    for (size_t i = 0; i < c->pairs.count; i++) {
        largest[pair[i].a] = fmax(largest[pair[i].a], pair[i].contact);
        largest[pair[i].b] = fmax(largest[pair[i].b], pair[i].contact);
    }
    for (size_t i = 0; i < c->pairs.count; i++)
        count += allowed(c, &pair[i]) &&
                 pair[i].contact >= FAIR_CONTACT * 0.5 * (largest[pair[i].a] + largest[pair[i].b]);
    size_t least = (size_t)(LEAST_EDGES * (double)n), most = (size_t)(MOST_EDGES * (double)n);
    return count < least ? least : count > most ? most : count;
}

static bool add_best(choosing *c, const pl_sort_item *order, size_t wanted)
{
    const pl_pair *pair = c->pairs.data;
    for (size_t i = 0; i < c->pairs.count && c->chosen.count < wanted; i++) {
        const pl_pair *p = &pair[order[i].index];
        if (c->taken[order[i].index] || !allowed(c, p))
            continue;
        c->taken[order[i].index] = true;
        if (!choose(c, p->a, p->b, p->outside))
            return false;
    }
    return true;
}

/* The nearest pair between the piece of particle i and the rest of its component, the smaller of
   the two in the outer loop. */
static void nearest_to_rest(const choosing *c, int i, int *from, int *to)
{
    const pl_edge_def *def = c->def;
    int piece = pl_sets_find(c->sets, i), n = def->particle_count, sizes[2] = {0, 0};
    double best = INFINITY;
    for (int p = 0; p < n; p++)
        if (def->component[p] == def->component[i])
            sizes[pl_sets_find(c->sets, p) == piece]++;
    bool outer = sizes[1] <= sizes[0];
    for (int p = 0; p < n; p++) {
        if (def->component[p] != def->component[i] || (pl_sets_find(c->sets, p) == piece) != outer)
            continue;
        for (int q = 0; q < n; q++) {
            if (def->component[q] != def->component[i] ||
                (pl_sets_find(c->sets, q) == piece) == outer)
                continue;
            double d = distance_of(def->points, p, q);
            if (d < best)
                best = d, *from = p, *to = q;
        }
    }
}

/* Joins each further piece of a component to the rest of it where they are nearest. */
static bool join_components(choosing *c)
{
    const int32_t *component = c->def->component;
    int n = c->def->particle_count, known = 0;
    if (!component)
        return true;
    for (int i = 0; i < n; i++)
        known = component[i] >= known ? component[i] + 1 : known;
    int32_t *home = PL_NEW(c->memory, int32_t, known);
    bool enough = home != NULL;
    for (int k = 0; enough && k < known; k++)
        home[k] = -1;
    for (int i = 0; enough && i < n; i++) {
        int from = i, to = i;
        if (home[component[i]] < 0)
            home[component[i]] = i;
        while (enough && pl_sets_find(c->sets, home[component[i]]) != pl_sets_find(c->sets, i)) {
            nearest_to_rest(c, i, &from, &to);
            pl_sets_join(c->sets, from, to);
            enough =
                choose(c, from, to, outside_of(c, from, to, distance_of(c->def->points, from, to)));
        }
    }
    pl_memory_free(c->memory, home);
    return enough;
}

/* ---- More edges than contacts ---- */

typedef struct star {
    int32_t *start, *neighbour;
} star;

static bool make_star(choosing *c, star *s)
{
    const uint64_t *key = c->chosen.data;
    size_t n = (size_t)c->def->particle_count, m = c->chosen.count;
    s->start = PL_NEW(c->memory, int32_t, n + 2);
    s->neighbour = PL_NEW(c->memory, int32_t, 2 * m);
    if (!s->start || !s->neighbour)
        return false;
    for (size_t i = 0; i < m; i++) {
        s->start[(key[i] >> 32) + 2]++;
        s->start[(uint32_t)key[i] + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++)
        s->start[i] += s->start[i - 1];
    for (size_t i = 0; i < m; i++) {
        int32_t a = (int32_t)(key[i] >> 32), b = (int32_t)(uint32_t)key[i];
        s->neighbour[s->start[a + 1]++] = b;
        s->neighbour[s->start[b + 1]++] = a;
    }
    return true;
}

static bool is_neighbour(const star *s, int a, int b)
{
    for (int i = s->start[a]; i < s->start[a + 1]; i++)
        if (s->neighbour[i] == b)
            return true;
    return false;
}

/* Neighbours of neighbours, once each. */
static bool second_ring(choosing *c, const star *s, pl_array *touches)
{
    int n = c->def->particle_count;
    for (int a = 0; a < n; a++)
        for (int i = s->start[a]; i < s->start[a + 1]; i++) {
            int middle = s->neighbour[i];
            for (int j = s->start[middle]; j < s->start[middle + 1]; j++) {
                int b = s->neighbour[j];
                if (b <= a || is_neighbour(s, a, b))
                    continue;
                pl_touch *touch = pl_array_add(touches, 1);
                if (!touch)
                    return false;
                *touch = pl_touch_make(a, b, 1);
            }
        }
    return true;
}

static bool take_shortest(choosing *c, pl_array *more, size_t wanted)
{
    pl_pair *pair = more->data;
    pl_sort_item *items = PL_NEW(c->memory, pl_sort_item, 2 * more->count);
    bool enough = items != NULL;
    for (size_t i = 0; items && i < more->count; i++)
        items[i] = (pl_sort_item){rising(pair[i].length), (uint32_t)i};
    if (items)
        pl_sort(items, items + more->count, more->count);
    for (size_t i = 0; enough && i < more->count && c->chosen.count < wanted; i++) {
        const pl_pair *p = &pair[items[i].index];
        double outside = outside_of(c, p->a, p->b, p->length);
        if (outside <= CLEAR * c->def->distance)
            enough = choose(c, p->a, p->b, outside);
    }
    pl_memory_free(c->memory, items);
    return enough;
}

static pl_status add_rings(choosing *c, size_t wanted, pl_error *error)
{
    for (int ring = 0; ring < MOST_RINGS && c->chosen.count < wanted; ring++) {
        star s = {0};
        size_t before = c->chosen.count;
        pl_array touches = pl_array_make(c->memory, sizeof(pl_touch));
        pl_array more = pl_array_make(c->memory, sizeof(pl_pair));
        bool enough = make_star(c, &s) && second_ring(c, &s, &touches);
        pl_status status = PL_OK;
        if (enough)
            status = pl_pairs_make(c->memory, &touches, c->def->points, &more, error);
        if (enough && status == PL_OK)
            enough = take_shortest(c, &more, wanted);
        pl_array_free(&touches);
        pl_array_free(&more);
        pl_memory_free(c->memory, s.start);
        pl_memory_free(c->memory, s.neighbour);
        PL_TRY(status);
        PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for edges");
        if (c->chosen.count == before)
            break;
    }
    return PL_OK;
}

static pl_status hand_over(choosing *c, pl_graph_parts *parts, pl_error *error)
{
    size_t m = c->chosen.count;
    const uint64_t *key = c->chosen.data;
    pl_sort_item *items = PL_NEW(c->memory, pl_sort_item, 2 * m);
    parts->edges = PL_NEW(c->memory, int32_t, 2 * m);
    if (!items || !parts->edges) {
        pl_memory_free(c->memory, items);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for edges");
    }
    for (size_t i = 0; i < m; i++)
        items[i] = (pl_sort_item){key[i], 0};
    pl_sort(items, items + m, m);
    for (size_t i = 0; i < m; i++) {
        parts->edges[2 * i] = (int32_t)(items[i].key >> 32);
        parts->edges[2 * i + 1] = (int32_t)(uint32_t)items[i].key;
    }
    pl_memory_free(c->memory, items);
    parts->edge_count = (int)m;
    parts->air = c->air;
    parts->piece_count = 0;
    for (int i = 0; i < c->def->particle_count; i++)
        parts->piece_count += pl_sets_find(c->sets, i) == i;
    return PL_OK;
}

static pl_status choose_all(choosing *c, pl_graph_parts *parts, pl_error *error)
{
    int n = c->def->particle_count;
    pl_sort_item *order = order_pairs(c);
    double *largest = PL_NEW(c->memory, double, n);
    c->taken = PL_NEW(c->memory, bool, c->pairs.count);
    c->sets.parent = PL_NEW(c->memory, int32_t, n);
    bool enough = order && largest && c->taken && c->sets.parent;
    size_t wanted = 0;
    if (enough) {
        for (int i = 0; i < n; i++)
            c->sets.parent[i] = i;
        wanted = c->def->wanted ? (size_t)c->def->wanted : suggested(c, largest);
        enough = span(c, order) && join_components(c) && add_best(c, order, wanted);
    }
    pl_memory_free(c->memory, order);
    pl_memory_free(c->memory, largest);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for edges");
    if (c->def->wanted)
        PL_TRY(add_rings(c, wanted, error));
    return hand_over(c, parts, error);
}

pl_status pl_choose_edges(pl_memory *memory, const pl_edge_def *def, const pl_array *pairs,
                          pl_graph_parts *parts, pl_error *error)
{
    choosing c = {.memory = memory, .def = def, .pairs = *pairs};
    c.chosen = pl_array_make(memory, sizeof(uint64_t));
    pl_status status = choose_all(&c, parts, error);
    pl_array_free(&c.chosen);
    pl_memory_free(memory, c.taken);
    pl_memory_free(memory, c.sets.parent);
    return status;
}
