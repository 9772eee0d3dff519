/* Room for clustered matter, and what is derived from its clusters: tables, the order of the
   kernels, weights, rest. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/sort.h"
#include "math/rotation_lanes.h"
#include "matter/clustered_lanes.h"
#include "matter/rings.h"

/* Fewer memberships than this are not worth a run of their own. */
enum { RUN_LEAST = 8192 };

/* More members of a group than this keep nothing between the passes: they would not fit the
   caches. */
enum { COLUMNS_MOST = 16384 };

/* Bodies with a cluster per lane have at least so many of them, and none with more members. */
enum { LANES_LEAST = 32, LANE_MOST = 512 };
_Static_assert((int)PL_RING_MOST <= (int)LANE_MOST, "rings are evened out as lanes are");
_Static_assert(LANE_MOST *PL_COLUMNS <= COLUMNS_MOST,
               "a group of lanes is kept between the passes");

static int round_up(int count, int unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Rows in whole blocks, and sixteen of them that are nobody's: what only fills up lanes goes there.
   Were it to share a row, one lane would have to wait for the other. */
static int rows_for(int particles)
{
    return round_up(particles + PL_COLUMNS, PL_ROW_BLOCK);
}

static int most_runs(int members)
{
    int runs = members / RUN_LEAST;
    return runs < 1 ? 1 : runs > PL_MOST_RUNS ? PL_MOST_RUNS : runs;
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* An array to be: where its pointer is, how many elements it is to have, and how many of them are
   there. */
typedef struct plan {
    void *pointer;
    size_t size, count, kept;
} plan;

enum { MOST_PLANS = 64 };

typedef struct plans {
    plan list[MOST_PLANS];
    int count;
} plans;

static void want(plans *p, void *pointer, size_t size, size_t count, size_t kept)
{
    p->list[p->count++] = (plan){pointer, size, count, kept};
}

/* Arrays of rings, where there may be any: that must not depend on capacities. */
static void plan_rings(pl_clustered *c, size_t clusters, size_t members, size_t rows, plans *p)
{
    pl_rings *rings = &c->rings;
    size_t groups = clusters / PL_COLUMNS + 1, column = PL_COLUMNS * sizeof(float);
    bool any = pl_rings_are_possible(&c->def);
    size_t slots = any ? groups * PL_RING_MOST : 0;
    groups = any ? groups : 0, members = any ? members : 0, rows = any ? rows : 0;
    want(p, &rings->start, sizeof(int32_t), groups + 1, 0);
    want(p, &rings->row, column, slots, 0);
    want(p, &rings->rest, 4 * column, slots, 0);
    want(p, &rings->fixed, PL_RING_FIXED * column, groups, 0);
    want(p, &rings->state, PL_RING_STATE * column, groups, 0);
    want(p, &rings->kept, PL_RING_KEPT * column, groups, 0);
    want(p, &rings->flat, 1, groups, 0);
    want(p, &rings->rows, PL_RING_ROW * column, groups, 0);
    want(p, &rings->of_start, sizeof(int32_t), rows + 1, 0);
    want(p, &rings->of, sizeof(int32_t), members, 0);
    want(p, &rings->share, sizeof(float), members, 0);
    want(p, &rings->x, 8 * sizeof(float), rows, 0);
    want(p, &rings->home, 4 * sizeof(float), rows, 0);
}

/* Places in slots for so many members in blocks of sixteen: is_narrow lets no more of them be left
   empty. It must not depend on capacities what kernels a body has. */
static size_t places_for(size_t members)
{
    return members + members / 8;
}

static void plan_arrays(pl_clustered *c, size_t clusters, size_t members, size_t particles,
                        plans *p)
{
    pl_clustered_rows *r = &c->rows;
    size_t n = (size_t)c->n, count = (size_t)c->count, m = (size_t)c->member_count;
    size_t rows = (size_t)rows_for((int)particles);
    size_t blocks = rows / PL_ROW_BLOCK, runs = (size_t)most_runs((int)members);
    size_t places = places_for(members), columns = places < COLUMNS_MOST ? places : COLUMNS_MOST;
    size_t items = particles > clusters ? particles : clusters;
    want(p, &c->mass, sizeof(float), particles, n);
    want(p, &c->radius, sizeof(float), particles, n);
    want(p, &c->origin, sizeof(int32_t), particles, n);
    want(p, &c->start, sizeof(int32_t), particles + 1, c->start ? n + 1 : 0);
    want(p, &c->frame, 9 * sizeof(float), particles, n);
    want(p, &r->mass, sizeof(float), particles, n);
    want(p, &r->lightness, sizeof(float), particles, n);
    want(p, &r->order, sizeof(int32_t), particles, n);
    want(p, &r->rank, sizeof(int32_t), particles, n);
    want(p, &c->clusters, sizeof(pl_cluster), clusters, count);
    want(p, &r->sequence, sizeof(int32_t), clusters, count);
    want(p, &r->touch_start, sizeof(int32_t), clusters + 1, r->touch_start ? count + 1 : 0);
    want(p, &c->particle, sizeof(int32_t), members, m);
    for (int k = 0; k < 3; k++)
        want(p, &c->p[k], sizeof(float), members, m);
    want(p, &c->raw, sizeof(float), members, m);
    want(p, &c->weight, sizeof(float), members, m);
    want(p, &c->place, sizeof(int32_t), members, m);
    want(p, &c->owner, sizeof(int32_t), members, m);
    want(p, &r->row, sizeof(int32_t), members, m);
    want(p, &r->touch, sizeof(int32_t), members, m);
    want(p, &r->reach_start, sizeof(int32_t), clusters / PL_COLUMNS + 2, 0);
    want(p, &r->reach, sizeof(int32_t), members, 0);
    want(p, &r->alone, 1, blocks, 0);
    want(p, &r->last_start, sizeof(int32_t), clusters / PL_COLUMNS + 2, 0);
    want(p, &r->last, sizeof(int32_t), blocks, 0);
    want(p, &r->first_start, sizeof(int32_t), clusters / PL_COLUMNS + 2, 0);
    want(p, &r->first, sizeof(int32_t), runs * blocks, 0);
    want(p, &r->x, 4 * sizeof(float), rows, 0);
    want(p, &r->old, 4 * sizeof(float), rows, 0);
    want(p, &r->u, 4 * sizeof(float), rows, 0);
    want(p, &r->push, 4 * sizeof(float), rows, 0);
    want(p, &r->sum, 4 * sizeof(float), runs * rows, 0);
    want(p, &r->added, 1, runs * blocks, 0);
    want(p, &r->moved, 1, blocks, 0);
    want(p, &r->group, PL_GROUP_FIELDS * PL_COLUMNS * sizeof(float), clusters / PL_COLUMNS + 1, 0);
    want(p, &r->kept, PL_KEPT * PL_COLUMNS * sizeof(float), clusters / PL_COLUMNS + 1, 0);
    want(p, &r->spoken, PL_COLUMNS * sizeof(int32_t), clusters / PL_COLUMNS + 1, 0);
    want(p, &r->heard, PL_COLUMNS * sizeof(int32_t), clusters / PL_COLUMNS + 1, 0);
    want(p, &r->columns, 3 * sizeof(float), runs * columns, 0);
    want(p, &r->lane_start, sizeof(int32_t), clusters / PL_COLUMNS + 2, 0);
    want(p, &r->lane_fixed, PL_FIXED * PL_COLUMNS * sizeof(float), clusters / PL_COLUMNS + 1, 0);
    want(p, &r->lane_row, sizeof(int32_t), clusters >= LANES_LEAST ? places : 0, 0);
    want(p, &r->rest, 4 * sizeof(float), places, 0);
    plan_rings(c, clusters, members, rows, p);
    want(p, &r->sort, 2 * sizeof(pl_sort_item), items, 0);
    want(p, &r->spare, sizeof(int32_t), members, 0);
}

/* All or nothing. */
static bool carry_out(pl_memory *memory, const plans *p)
{
    void *made[MOST_PLANS];
    for (int i = 0; i < p->count; i++) {
        made[i] = pl_memory_alloc(memory, p->list[i].count, p->list[i].size);
        if (!made[i]) {
            while (i-- > 0)
                pl_memory_free(memory, made[i]);
            return false;
        }
    }
    for (int i = 0; i < p->count; i++) {
        void *old;
        memcpy(&old, p->list[i].pointer, sizeof old);
        if (p->list[i].kept)
            memcpy(made[i], old, p->list[i].kept * p->list[i].size);
        pl_memory_free(memory, old);
        memcpy(p->list[i].pointer, &made[i], sizeof old);
    }
    return true;
}

/* At once exactly what is asked for, later half as much again. */
static int grown(int wanted, int capacity, int unit)
{
    int64_t more = capacity + (int64_t)capacity / 2;
    if (wanted <= capacity && capacity > 0)
        return capacity;
    more = more > INT32_MAX / 2 || more < wanted ? wanted : more;
    return round_up((int)more, unit);
}

bool pl_clustered_reserve(pl_clustered *c, int clusters, int members, int particles)
{
    pl_clustered_rows *r = &c->rows;
    if (clusters <= c->capacity && members <= c->member_capacity && particles <= c->n_capacity &&
        r->x)
        return true;
    if (clusters > INT32_MAX / 4 || members > INT32_MAX / 8 || particles > INT32_MAX / 8)
        return false;
    clusters = grown(clusters, c->capacity, 1);
    members = grown(members, c->member_capacity, PL_COLUMNS);
    particles = grown(particles, c->n_capacity, 1);
    plans p = {.count = 0};
    plan_arrays(c, (size_t)clusters, (size_t)members, (size_t)particles, &p);
    if (!carry_out(c->memory, &p))
        return false;
    c->capacity = clusters;
    c->member_capacity = members;
    c->n_capacity = particles;
    r->row_capacity = rows_for(particles);
    int places = (int)places_for((size_t)members);
    r->column_room = (places < COLUMNS_MOST ? places : COLUMNS_MOST) / PL_COLUMNS * PL_COLUMNS;
    return true;
}

void pl_clustered_destroy(pl_clustered *c)
{
    if (!c)
        return;
    plans p = {.count = 0};
    plan_arrays(c, 0, 0, 0, &p);
    for (int i = 0; i < p.count; i++) {
        void *old;
        memcpy(&old, p.list[i].pointer, sizeof old);
        pl_memory_free(c->memory, old);
    }
    pl_clustered_proxies_free(c);
    pl_clustered_free_examples(c);
    pl_memory_free(c->memory, c->key);
    pl_memory_free(c->memory, c);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The rows of particles: by where they were. */
static void order_rows(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    pl_sort_item *items = r->sort;
    for (int i = 0; i < c->n; i++)
        items[i] = (pl_sort_item){c->key[c->origin[i]], (uint32_t)i};
    pl_sort(items, items + c->n, (size_t)c->n);
    for (int i = 0; i < c->n; i++) {
        r->order[i] = (int32_t)items[i].index;
        r->rank[items[i].index] = i;
    }
    r->block_count = rows_for(c->n) / PL_ROW_BLOCK;
}

/* The row of the member with the most weight, which is in the middle of its cluster; of several the
   first. */
static uint64_t middle_row(const pl_clustered *c, const pl_cluster *cluster)
{
    float most = -1;
    int32_t middle = 0;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        int32_t row = c->rows.rank[c->particle[m]];
        if (c->raw[m] > most || (c->raw[m] == most && row < middle))
            most = c->raw[m], middle = row;
    }
    return (uint64_t)middle;
}

/* The sequence of clusters: that of the rows in their middle. */
static void order_clusters(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    pl_sort_item *items = r->sort;
    for (int i = 0; i < c->count; i++)
        items[i] = (pl_sort_item){middle_row(c, c->clusters + i), (uint32_t)i};
    pl_sort(items, items + c->count, (size_t)c->count);
    for (int i = 0; i < c->count; i++)
        r->sequence[i] = (int32_t)items[i].index;
}

/* ---- A cluster per lane ---------------------------------------------------------------------- */

/* Not far from each other in the sequence, clusters with as many members come together: a group
   takes as long as its largest. The nearer they stay, the more of their particles the clusters of a
   group have in common. */
enum { NEAR_LANES = 32, NEAR_RINGS = 256 };

static void even_out(pl_clustered *c, int near)
{
    pl_clustered_rows *r = &c->rows;
    pl_sort_item *items = r->sort;
    for (int i = 0; i < c->count; i++) {
        uint64_t missing = (uint64_t)(LANE_MOST - c->clusters[r->sequence[i]].count);
        items[i] = (pl_sort_item){(uint64_t)(i / near) << 32 | missing, (uint32_t)r->sequence[i]};
    }
    pl_sort(items, items + c->count, (size_t)c->count);
    for (int i = 0; i < c->count; i++)
        r->sequence[i] = (int32_t)items[i].index;
}

/* Where the slots of each group start. */
static void count_slots(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int32_t slots = 0;
    for (int first = 0; first < c->count; first += PL_COLUMNS) {
        int most = 0;
        for (int i = first; i < first + PL_COLUMNS && i < c->count; i++)
            most =
                c->clusters[r->sequence[i]].count > most ? c->clusters[r->sequence[i]].count : most;
        r->lane_start[first / PL_COLUMNS] = slots;
        slots += most;
        r->lane_start[first / PL_COLUMNS + 1] = slots;
    }
}

/* Whether a cluster per lane is the better layout: where lanes that have come to their end do not
   wait long for the others. The sequence is as that layout wants it then. */
static bool is_narrow(pl_clustered *c)
{
    size_t members = 0;
    if (c->count < LANES_LEAST)
        return false;
    for (int i = 0; i < c->count; i++) {
        if (c->clusters[i].count > LANE_MOST)
            return false;
        members += (size_t)round_up(c->clusters[i].count, PL_COLUMNS);
    }
    even_out(c, NEAR_LANES);
    count_slots(c);
    int groups = (c->count + PL_COLUMNS - 1) / PL_COLUMNS;
    if ((size_t)c->rows.lane_start[groups] * PL_COLUMNS <= places_for(members))
        return true;
    order_clusters(c);
    return false;
}

static void lay_out_lanes(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    for (int i = 0; i < round_up(c->count, PL_COLUMNS); i++) {
        const pl_cluster *cluster = i < c->count ? c->clusters + r->sequence[i] : NULL;
        int slot = r->lane_start[i / PL_COLUMNS], end = r->lane_start[i / PL_COLUMNS + 1];
        int count = cluster ? cluster->count : 0, lane = i % PL_COLUMNS;
        int32_t *out = r->lane_row + (size_t)slot * PL_COLUMNS + lane;
        for (int k = 0; k < end - slot; k++)
            out[(size_t)k * PL_COLUMNS] =
                k < count ? r->row[cluster->first + k] : 4 * (c->n + lane);
    }
}

/* Rest as the kernels want it, in rows that a flow would change: of bodies that flow they look at
   the clusters themselves. */
static void fill_fixed(pl_clustered *c)
{
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + c->rows.sequence[i];
        float row[PL_FIXED];
        memcpy(row, (const char *)cluster + offsetof(pl_cluster, inverse), sizeof row);
        for (int k = 0; k < PL_FIXED; k++)
            c->rows.lane_fixed[(i / PL_COLUMNS * PL_FIXED + k) * PL_COLUMNS + i % PL_COLUMNS] =
                row[k];
    }
}

/* Cluster number i of the sequence in its lane. */
static void fill_lane(const pl_clustered *c, int i, const pl_cluster *cluster)
{
    int slot = c->rows.lane_start[i / PL_COLUMNS], end = c->rows.lane_start[i / PL_COLUMNS + 1];
    float *out = c->rows.rest + (size_t)slot * 4 * PL_COLUMNS + i % PL_COLUMNS;
    int m = cluster ? cluster->first : 0, last = cluster ? m + cluster->count : 0;
    for (; slot < end; slot++, m++, out += (ptrdiff_t)4 * PL_COLUMNS) {
        for (int k = 0; k < 3; k++)
            out[k * PL_COLUMNS] = m < last ? c->p[k][m] : 0;
        out[3 * PL_COLUMNS] = m < last ? c->weight[m] * c->mass[c->particle[m]] : 0;
    }
}

static void fill_rest(pl_clustered *c)
{
    float *rest = c->rows.rest;
    if (!c->rows.narrow) {
        for (int m = 0; m < c->member_count; m++) {
            float *out = rest + m / PL_COLUMNS * 4 * PL_COLUMNS + m % PL_COLUMNS;
            for (int k = 0; k < 3; k++)
                out[k * PL_COLUMNS] = c->p[k][m];
            out[3 * PL_COLUMNS] = c->weight[m] * c->mass[c->particle[m]];
        }
        return;
    }
    for (int i = 0; i < round_up(c->count, PL_COLUMNS); i++)
        fill_lane(c, i, i < c->count ? c->clusters + c->rows.sequence[i] : NULL);
    if (isinf(c->def.yield))
        fill_fixed(c);
}

/* Weights and rest, for the kernels the body has. */
static void fill_kernels(pl_clustered *c)
{
    if (c->rings.used)
        pl_rings_fill(c);
    else
        fill_rest(c);
}

/* ---- Tables, once more ----------------------------------------------------------------------- */

/* Owners, and the particles' side. */
static void index_particles(pl_clustered *c)
{
    memset(c->start, 0, ((size_t)c->n + 1) * sizeof *c->start);
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        for (int m = cluster->first; m < cluster->first + cluster->room; m++)
            c->owner[m] = i;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            c->start[c->particle[m] + 1]++;
    }
    for (int i = 0; i < c->n; i++)
        c->start[i + 1] += c->start[i];
    int32_t *next = c->rows.sort;
    memcpy(next, c->start, (size_t)c->n * sizeof *next);
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            c->place[next[c->particle[m]]++] = m;
    }
}

/* spare[new place] = old place: members in the sequence of the clusters, and within a cluster in
   the order of rows, so that memory is gone through from front to back. -1 where a place only fills
   up sixteen. */
static void plan_places(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int32_t *next = r->sort, at = 0;
    for (int i = 0; i < c->count; i++) {
        int cluster = r->sequence[i], count = c->clusters[cluster].count;
        next[cluster] = at;
        for (at += count; at % PL_COLUMNS; at++)
            r->spare[at] = -1;
    }
    for (int row = 0; row < c->n; row++) {
        int i = r->order[row];
        for (int k = c->start[i]; k < c->start[i + 1]; k++)
            r->spare[next[c->owner[c->place[k]]]++] = c->place[k];
    }
    c->member_count = at;
}

/* One array of members, four bytes each. */
static void move_members(const pl_clustered *c, void *array)
{
    const int32_t *from = array, *source = c->rows.spare;
    int32_t *to = c->rows.touch;
    for (int m = 0; m < c->member_count; m++)
        to[m] = source[m] < 0 ? 0 : from[source[m]];
    memcpy(array, to, (size_t)c->member_count * sizeof *to);
}

static void lay_out_members(pl_clustered *c)
{
    int at = 0;
    plan_places(c);
    move_members(c, c->particle);
    for (int k = 0; k < 3; k++)
        move_members(c, c->p[k]);
    move_members(c, c->raw);
    move_members(c, c->weight);
    for (int i = 0; i < c->count; i++) {
        pl_cluster *cluster = c->clusters + c->rows.sequence[i];
        cluster->first = at;
        cluster->room = round_up(cluster->count, PL_COLUMNS);
        at += cluster->room;
        for (int m = cluster->first + cluster->count; m < at; m++)
            c->particle[m] = c->particle[cluster->first];
    }
    for (int m = 0; m < at; m++)
        c->rows.row[m] =
            4 * (c->rows.spare[m] < 0 ? c->n + m % PL_COLUMNS : c->rows.rank[c->particle[m]]);
}

/* Runs of whole groups with about as many members each. */
static void cut_runs(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int wanted = most_runs(c->member_count), at = 0;
    int64_t sum = 0;
    r->run_count = 0;
    r->run_start[0] = 0;
    for (int first = 0; first < c->count; first = at) {
        int end = first + PL_COLUMNS < c->count ? first + PL_COLUMNS : c->count;
        for (at = first; at < end; at++)
            sum += c->clusters[r->sequence[at]].room;
        int next = r->run_count + 1;
        if (at == c->count || (next < wanted && sum * wanted >= (int64_t)c->member_count * next))
            r->run_start[++r->run_count] = at;
    }
}

static void list_touched(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int32_t *seen = r->sort, at = 0;
    for (int b = 0; b < r->block_count; b++)
        seen[b] = -1;
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + r->sequence[i];
        r->touch_start[i] = at;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
            int block = r->row[m] / (4 * PL_ROW_BLOCK);
            if (seen[block] != i)
                r->touch[at++] = block;
            seen[block] = i;
        }
    }
    r->touch_start[c->count] = at;
}

static void list_reached(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int32_t *seen = r->sort, at = 0;
    for (int b = 0; b < r->block_count; b++)
        seen[b] = -1;
    for (int i = 0; i < c->count; i++) {
        int group = i / PL_COLUMNS;
        if (i % PL_COLUMNS == 0)
            r->reach_start[group] = at;
        for (int k = r->touch_start[i]; k < r->touch_start[i + 1]; k++) {
            if (seen[r->touch[k]] != group)
                r->reach[at++] = r->touch[k];
            seen[r->touch[k]] = group;
        }
    }
    r->reach_start[(c->count + PL_COLUMNS - 1) / PL_COLUMNS] = at;
}

/* Blocks that one run has to itself. Not those with rows that are nobody's, which all look at. */
static void list_alone(pl_clustered *c)
{
    enum { NONE = -1, SEVERAL = -2 };
    pl_clustered_rows *r = &c->rows;
    int groups = (c->count + PL_COLUMNS - 1) / PL_COLUMNS, *run_of = r->sort, *group_of;
    group_of = run_of + r->block_count;
    for (int b = 0; b < r->block_count; b++)
        run_of[b] = (b + 1) * PL_ROW_BLOCK <= c->n ? NONE : SEVERAL;
    for (int run = 0; run < r->run_count; run++)
        for (int i = r->run_start[run]; i < r->run_start[run + 1]; i++)
            for (int k = r->touch_start[i]; k < r->touch_start[i + 1]; k++) {
                int b = r->touch[k];
                run_of[b] = run_of[b] == NONE || run_of[b] == run ? run : SEVERAL;
                group_of[b] = i / PL_COLUMNS;
            }
    memset(r->last_start, 0, ((size_t)groups + 1) * sizeof *r->last_start);
    for (int b = 0; b < r->block_count; b++) {
        r->alone[b] = run_of[b] >= 0;
        if (r->alone[b])
            r->last_start[group_of[b]]++;
    }
    for (int g = 0; g < groups; g++)
        r->last_start[g + 1] += r->last_start[g];
    for (int b = r->block_count - 1; b >= 0; b--)
        if (r->alone[b])
            r->last[--r->last_start[group_of[b]]] = b;
}

/* Blocks by the first group of each run that has members in them. */
static void list_first(pl_clustered *c)
{
    pl_clustered_rows *r = &c->rows;
    int32_t *seen = r->sort, at = 0;
    for (int b = 0; b < r->block_count; b++)
        seen[b] = -1;
    for (int run = 0; run < r->run_count; run++)
        for (int i = r->run_start[run]; i < r->run_start[run + 1]; i++) {
            if (i % PL_COLUMNS == 0)
                r->first_start[i / PL_COLUMNS] = at;
            for (int k = r->touch_start[i]; k < r->touch_start[i + 1]; k++) {
                if (seen[r->touch[k]] != run)
                    r->first[at++] = r->touch[k];
                seen[r->touch[k]] = run;
            }
        }
    r->first_start[(c->count + PL_COLUMNS - 1) / PL_COLUMNS] = at;
}

static void copy_masses(pl_clustered *c)
{
    for (int row = 0; row < c->n; row++) {
        c->rows.mass[row] = c->mass[c->rows.order[row]];
        c->rows.lightness[row] = 1 / c->rows.mass[row];
    }
}

void pl_clustered_index(pl_clustered *c)
{
    order_rows(c);
    order_clusters(c);
    index_particles(c);
    c->rings.used = pl_rings_suit(c);
    if (c->rings.used)
        even_out(c, NEAR_RINGS);
    c->rows.narrow = !c->rings.used && is_narrow(c);
    lay_out_members(c);
    index_particles(c);
    cut_runs(c);
    list_touched(c);
    list_reached(c);
    list_alone(c);
    list_first(c);
    copy_masses(c);
    if (c->rings.used)
        pl_rings_lay_out(c);
    else if (c->rows.narrow)
        lay_out_lanes(c);
    fill_kernels(c);
    pl_clustered_choose_speakers(c);
}

/* ---- Weights and rest ------------------------------------------------------------------------ */

static void weigh_members(pl_clustered *c)
{
    double *total = c->rows.sort;
    memset(total, 0, (size_t)c->n * sizeof *total);
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            total[c->particle[m]] += (double)c->raw[m] * cluster->fade;
    }
    for (int i = 0; i < c->n; i++)
        total[i] = total[i] > 0 ? 1 / total[i] : 0;
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            c->weight[m] = (float)((double)c->raw[m] * cluster->fade * total[c->particle[m]]);
    }
}

/* Weighted mean of the offsets; the mass. */
static double mean_offset(const pl_clustered *c, const pl_cluster *cluster, double mean[3])
{
    double mass = 0, sum[3] = {0};
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        double w = (double)c->weight[m] * c->mass[c->particle[m]];
        mass += w;
        for (int k = 0; k < 3; k++)
            sum[k] += w * c->p[k][m];
    }
    for (int k = 0; k < 3; k++)
        mean[k] = mass > 0 ? sum[k] / mass : 0;
    return mass;
}

static double spread(const pl_clustered *c, const pl_cluster *cluster, double a[6])
{
    double width = 0, sum[6] = {0};
    for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
        double x = c->p[0][m], y = c->p[1][m], z = c->p[2][m];
        double w = (double)c->weight[m] * c->mass[c->particle[m]], length = x * x + y * y + z * z;
        sum[0] += w * x * x, sum[1] += w * x * y, sum[2] += w * x * z;
        sum[3] += w * y * y, sum[4] += w * y * z, sum[5] += w * z * z;
        width = length > width ? length : width;
    }
    memcpy(a, sum, sizeof sum);
    return sqrt(width);
}

/* By cofactors, where the matrix is far from singular. */
static bool invert_well(const double a[6], double trace, double out[6])
{
    double k[6] = {a[3] * a[5] - a[4] * a[4], a[2] * a[4] - a[1] * a[5], a[1] * a[4] - a[2] * a[3],
                   a[0] * a[5] - a[2] * a[2], a[1] * a[2] - a[0] * a[4], a[0] * a[3] - a[1] * a[1]};
    double det = a[0] * k[0] + a[1] * k[1] + a[2] * k[2];
    if (!(det > 1e-5 * trace * trace * trace))
        return false;
    for (int i = 0; i < 6; i++)
        out[i] = k[i] / det;
    return true;
}

/* Directions in which the members are spread less than about 3 % of the most are not there: a
   stretch of so thin a layer, as cracks leave it, is one of its noise. */
#define SMALLEST_SPREAD 1e-3

static int invert_badly(const double a[6], double trace, double out[6], double seen[6])
{
    double full[9] = {a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5]}, u[9], s[3], v[9];
    int rank = 0, at = 0;
    for (int k = 0; k < 9; k++)
        full[k] /= trace;
    pl_svd3_double(1, full, u, s, v);
    while (rank < 3 && s[rank] > SMALLEST_SPREAD * s[0])
        rank++;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++) {
            out[at] = seen[at] = 0;
            for (int k = 0; k < rank; k++) {
                out[at] += v[3 * i + k] * v[3 * j + k] / (s[k] * trace);
                seen[at] += v[3 * i + k] * v[3 * j + k];
            }
        }
    return rank;
}

static void invert_rest(const pl_clustered *c, pl_cluster *cluster, const double a[6], double mass)
{
    double inverse[6] = {0}, seen[6] = {1, 0, 0, 1, 0, 1}, trace = a[0] + a[3] + a[5];
    if (!(trace > mass * c->tiny * c->tiny) || !(trace > 1e-35)) {
        memset(seen, 0, sizeof seen);
        cluster->rank = 0;
    } else if (invert_well(a, trace, inverse)) {
        cluster->rank = 3;
    } else {
        cluster->rank = invert_badly(a, trace, inverse, seen);
    }
    for (int k = 0; k < 6; k++) {
        cluster->inverse[k] = (float)inverse[k];
        cluster->seen[k] = (float)seen[k];
    }
}

static void weigh_cluster(pl_clustered *c, pl_cluster *cluster)
{
    double mean[3], a[6], mass = mean_offset(c, cluster, mean);
    double off = fabs(mean[0]) + fabs(mean[1]) + fabs(mean[2]);
    if (off > 1e-6 * cluster->width) {
        for (int k = 0; k < 3; k++)
            for (int m = cluster->first; m < cluster->first + cluster->count; m++)
                c->p[k][m] = (float)(c->p[k][m] - mean[k]);
        pl_cluster_shift_proxy(cluster, mean);
        mean_offset(c, cluster, mean);
    }
    for (int k = 0; k < 3; k++)
        cluster->lean[k] = (float)mean[k];
    cluster->mass = (float)mass;
    cluster->width = (float)spread(c, cluster, a);
    invert_rest(c, cluster, a, mass);
}

void pl_clustered_weigh(pl_clustered *c)
{
    weigh_members(c);
    copy_masses(c);
    for (int i = 0; i < c->count; i++)
        weigh_cluster(c, c->clusters + i);
    fill_kernels(c);
}
