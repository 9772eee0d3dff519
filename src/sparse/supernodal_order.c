/* Nested dissection. A part of the graph is cut along whichever coordinate (or distance in the
   graph, from a node at its rim) crosses the fewest nodes; the nodes at the cut are thinned out by
   moving them to either side and taking back what did not pay (Fiduccia and Mattheyses, for nodes).
   The two sides come first in the order, each dissected in turn, the separator last. Small parts,
   and those that no cut divides, are ordered by minimum degree. Nothing depends on chance. */
#include "sparse/supernodal_parts.h"

#include <string.h>

#include "base/sort.h"
#include "sparse/order.h"

enum {
    LEAF = 120,    /* parts up to this size are ordered by minimum degree */
    PASSES = 5,    /* of thinning out, at most */
    PATIENCE = 60, /* moves without success before a pass ends */
    SIDES = 2,
    SEPARATOR = 2,
    AXES = 4 /* three coordinates, and the distance in the graph */
};

/* A side may have this share of the nodes before a move to it is refused. */
#define LARGEST_SHARE 0.56

typedef struct part {
    int begin, end; /* in the order */
} part;

typedef struct move {
    int32_t node;
    int32_t from;
} move;

typedef struct dissection {
    pl_memory *memory;
    int n;
    const int *start, *neighbour;
    const double (*points)[3];
    int32_t *order;      /* [n] */
    int32_t *tag;        /* [n] the part a node is in */
    int32_t *side;       /* [n] 0, 1 or SEPARATOR */
    int32_t *near;       /* [n][2] neighbours of a node of the separator on either side */
    int32_t *place;      /* [n] in the separator's list, or in the sorted part */
    int32_t *separator;  /* [n] */
    int32_t *locked;     /* [n] the pass in which a node was moved last */
    int32_t *queue;      /* [n] */
    int32_t *cross;      /* [n + 1][2] nodes at a cut, on either side of it */
    int32_t *induced;    /* [n + 1] starts of a leaf's own graph */
    int32_t *local;      /* [n] */
    pl_sort_item *items; /* [2 n] */
    pl_sort_item *best;  /* [n] */
    move *moves;         /* [16 n] as many as fit are made */
    part *parts;         /* [n + 1] still to be dissected */
    int part_count, tags, pass;
    int separator_count, side_count[SIDES];
} dissection;

enum { MOVES_PER_NODE = 16 };

/* ---- Leaves ---- */

static bool order_leaf(dissection *d, part p)
{
    int count = p.end - p.begin;
    int32_t *list = d->order + p.begin;
    if (count < 3)
        return true;
    int id = ++d->tags;
    for (int k = 0; k < count; k++) {
        d->tag[list[k]] = id;
        d->local[list[k]] = k;
        d->queue[k] = list[k];
    }
    int64_t entries = 0;
    for (int k = 0; k < count; k++)
        entries += d->start[list[k] + 1] - d->start[list[k]];
    int *lists = PL_NEW(d->memory, int, entries + 1);
    if (!lists)
        return false;
    int at = 0;
    for (int k = 0; k < count; k++) {
        d->induced[k] = at;
        for (int q = d->start[list[k]]; q < d->start[list[k] + 1]; q++)
            if (d->tag[d->neighbour[q]] == id)
                lists[at++] = d->local[d->neighbour[q]];
    }
    d->induced[count] = at;
    bool ok = pl_order_minimum_degree(d->memory, count, d->induced, lists, list);
    for (int k = 0; ok && k < count; k++)
        list[k] = d->queue[list[k]];
    pl_memory_free(d->memory, lists);
    return ok;
}

/* ---- Pieces ---- */

/* Nodes of the part reached from `from`, in order of distance, into the queue from `at` on; tags
   them. Returns the end of the queue. */
static int spread(dissection *d, int from, int at, int old, int id)
{
    int end = at;
    d->queue[end++] = from;
    d->tag[from] = id;
    for (; at < end; at++) {
        int node = d->queue[at];
        for (int p = d->start[node]; p < d->start[node + 1]; p++) {
            int other = d->neighbour[p];
            if (d->tag[other] == old) {
                d->tag[other] = id;
                d->queue[end++] = other;
            }
        }
    }
    return end;
}

/* Sorts a part into its connected pieces; small ones are put together. Returns how many nodes the
   first holds; all of the part when it is connected. */
static int separate_pieces(dissection *d, part p)
{
    int count = p.end - p.begin, id = ++d->tags, at = 0, begin = 0;
    int32_t *list = d->order + p.begin;
    for (int k = 0; k < count; k++)
        d->tag[list[k]] = id;
    int first = 0;
    for (int k = 0; k < count; k++) {
        if (d->tag[list[k]] != id)
            continue;
        at = spread(d, list[k], at, id, ++d->tags);
        if (at == count && begin == 0)
            return count;
        if (at - begin >= LEAF || at == count) {
            if (first == 0)
                first = at;
            else
                d->parts[d->part_count++] = (part){p.begin + begin, p.begin + at};
            begin = at;
        }
    }
    memcpy(list, d->queue, (size_t)count * sizeof *list);
    return first;
}

/* ---- The cut ---- */

/* Keys for sorting the part along a coordinate, or by distance from a rim. */
static void measure(dissection *d, part p, int axis)
{
    int count = p.end - p.begin;
    const int32_t *list = d->order + p.begin;
    if (axis < 3) {
        for (int k = 0; k < count; k++)
            d->items[k] = (pl_sort_item){pl_sort_float_key((float)d->points[list[k]][axis]),
                                         (uint32_t)list[k]};
        return;
    }
    int from = list[0];
    for (int sweep = 0; sweep < 3; sweep++) {
        int old = d->tag[from];
        spread(d, from, 0, old, ++d->tags);
        from = d->queue[count - 1];
    }
    for (int k = 0; k < count; k++)
        d->items[k] = (pl_sort_item){(uint64_t)k, (uint32_t)d->queue[k]};
}

/* The best place to cut the sorted part: the fewest nodes on one side that touch the other, and a
   little for being uneven. `side` says whose nodes these are. */
static double find_cut(dissection *d, int count, int *cut, int *side)
{
    int32_t(*cross)[2] = (void *)d->cross;
    memset(cross, 0, ((size_t)count + 1) * sizeof *cross);
    int id = d->tag[d->items[0].index];
    for (int k = 0; k < count; k++)
        d->place[d->items[k].index] = k;
    for (int k = 0; k < count; k++) {
        int node = (int)d->items[k].index, low = k, high = k;
        for (int p = d->start[node]; p < d->start[node + 1]; p++) {
            int other = d->neighbour[p];
            if (d->tag[other] != id)
                continue;
            low = d->place[other] < low ? d->place[other] : low;
            high = d->place[other] > high ? d->place[other] : high;
        }
        /* With t nodes before the cut: below it and touching for k < t ≤ high, above for low < t ≤
           k. */
        cross[k + 1 <= count ? k + 1 : count][0]++;
        cross[high + 1 <= count ? high + 1 : count][0]--;
        cross[low + 1 <= count ? low + 1 : count][1]++;
        cross[k + 1 <= count ? k + 1 : count][1]--;
    }
    double least = 1e300;
    int sum[2] = {0, 0};
    for (int t = 1; t < count; t++) {
        sum[0] += cross[t][0];
        sum[1] += cross[t][1];
        double uneven = 2.0 * t / count - 1.0;
        if (uneven < -0.2 || uneven > 0.2)
            continue;
        for (int s = 0; s < 2; s++) {
            double cost = (sum[s] + 1) * (1.0 + 2.0 * uneven * uneven);
            if (cost < least) {
                least = cost;
                *cut = t;
                *side = s;
            }
        }
    }
    return least;
}

/* ---- Thinning out ---- */

static void count_near(dissection *d, int id, int node)
{
    int32_t *near = d->near + 2 * (ptrdiff_t)node;
    near[0] = near[1] = 0;
    for (int p = d->start[node]; p < d->start[node + 1]; p++) {
        int other = d->neighbour[p];
        if (d->tag[other] == id && d->side[other] != SEPARATOR)
            near[d->side[other]]++;
    }
}

static void enter_separator(dissection *d, int node)
{
    d->place[node] = d->separator_count;
    d->separator[d->separator_count++] = node;
}

static void leave_separator(dissection *d, int node)
{
    int last = d->separator[--d->separator_count];
    d->separator[d->place[node]] = last;
    d->place[last] = d->place[node];
}

/* Puts a node on a side or into the separator, and keeps all counts. */
static void put(dissection *d, int id, int node, int to)
{
    int from = d->side[node];
    if (from == SEPARATOR)
        leave_separator(d, node);
    else
        d->side_count[from]--;
    d->side[node] = to;
    if (to == SEPARATOR) {
        enter_separator(d, node);
        count_near(d, id, node);
    } else {
        d->side_count[to]++;
    }
    for (int p = d->start[node]; p < d->start[node + 1]; p++) {
        int other = d->neighbour[p];
        if (d->tag[other] != id || d->side[other] != SEPARATOR)
            continue;
        if (from != SEPARATOR)
            d->near[2 * (ptrdiff_t)other + from]--;
        if (to != SEPARATOR)
            d->near[2 * (ptrdiff_t)other + to]++;
    }
}

/* The move that leaves the smallest separator; among equals the one to the smaller side. */
static int choose_move(const dissection *d, int count, int *to)
{
    int chosen = -1, best = -1000000, limit = (int)(LARGEST_SHARE * count);
    for (int s = 0; s < SIDES; s++) {
        if (d->side_count[s] >= limit)
            continue;
        int smaller = d->side_count[s] < d->side_count[1 - s];
        for (int k = 0; k < d->separator_count; k++) {
            int node = d->separator[k];
            int gain = 2 * (1 - d->near[2 * (ptrdiff_t)node + (1 - s)]) + smaller;
            if (gain > best && d->locked[node] != d->pass) {
                best = gain;
                chosen = node;
                *to = s;
            }
        }
    }
    return chosen;
}

/* How good a separator is, small numbers being better. */
static double judge(const dissection *d, int count)
{
    double uneven = (double)(d->side_count[0] - d->side_count[1]) / count;
    return (d->separator_count + 1) * (1.0 + 2.0 * uneven * uneven);
}

static bool thin_once(dissection *d, int id, int count)
{
    double start = judge(d, count), best = start;
    int made = 0, keep = 0, idle = 0;
    int room = MOVES_PER_NODE * d->n;
    d->pass++;
    while (idle < PATIENCE) {
        int to, node = choose_move(d, count, &to);
        if (node < 0 || made + 1 + d->start[node + 1] - d->start[node] > room)
            break;
        d->locked[node] = d->pass;
        d->moves[made++] = (move){node, SEPARATOR};
        put(d, id, node, to);
        for (int p = d->start[node]; p < d->start[node + 1]; p++) {
            int other = d->neighbour[p];
            if (d->tag[other] == id && d->side[other] == 1 - to) {
                d->moves[made++] = (move){other, 1 - to};
                put(d, id, other, SEPARATOR);
            }
        }
        double now = judge(d, count);
        idle = now < best ? 0 : idle + 1;
        if (now < best) {
            best = now;
            keep = made;
        }
    }
    while (made > keep) {
        made--;
        put(d, id, d->moves[made].node, d->moves[made].from);
    }
    return best < start;
}

/* ---- One part ---- */

/* Cuts a connected part; on return its separator and sides are known. */
static void cut_part(dissection *d, part p)
{
    int count = p.end - p.begin, cut = count / 2, whose = 0;
    double least = 1e300;
    for (int axis = d->points ? 0 : 3; axis < AXES; axis++) {
        int at = count / 2, side = 0;
        measure(d, p, axis);
        if (axis < 3)
            pl_sort(d->items, d->items + count, (size_t)count);
        double cost = find_cut(d, count, &at, &side);
        if (cost < least) {
            least = cost;
            cut = at;
            whose = side;
            memcpy(d->best, d->items, (size_t)count * sizeof *d->best);
        }
    }
    int id = d->tag[d->order[p.begin]];
    for (int k = 0; k < count; k++)
        d->side[d->best[k].index] = k >= cut;
    d->separator_count = 0;
    d->side_count[0] = cut;
    d->side_count[1] = count - cut;
    /* Which nodes touch the other side must be known before the first is taken away. */
    int touching = 0;
    for (int k = whose ? cut : 0; k < (whose ? count : cut); k++) {
        int node = (int)d->best[k].index;
        count_near(d, id, node);
        if (d->near[2 * (ptrdiff_t)node + (1 - whose)] > 0)
            d->queue[touching++] = node;
    }
    for (int k = 0; k < touching; k++)
        put(d, id, d->queue[k], SEPARATOR);
    for (int pass = 0; pass < PASSES; pass++)
        if (!thin_once(d, id, count))
            break;
}

static bool dissect_part(dissection *d, part p)
{
    if (p.end - p.begin <= LEAF)
        return order_leaf(d, p);
    int first = separate_pieces(d, p);
    if (first < p.end - p.begin) {
        d->parts[d->part_count++] = (part){p.begin, p.begin + first};
        return true;
    }
    cut_part(d, p);
    if (!d->side_count[0] || !d->side_count[1] || 2 * d->separator_count > p.end - p.begin)
        return order_leaf(d, p);
    int next[3] = {0, d->side_count[0], d->side_count[0] + d->side_count[1]}, middle = next[1];
    int32_t *list = d->order + p.begin;
    memcpy(d->queue, list, (size_t)(p.end - p.begin) * sizeof *list);
    for (int k = 0; k < p.end - p.begin; k++)
        list[next[d->side[d->queue[k]]]++] = d->queue[k];
    d->parts[d->part_count++] = (part){p.begin, p.begin + middle};
    d->parts[d->part_count++] = (part){p.begin + middle, p.begin + next[1]};
    return true;
}

/* ---- All parts ---- */

static bool dissection_alloc(dissection *d)
{
    pl_memory *m = d->memory;
    int n = d->n;
    d->tag = PL_NEW(m, int32_t, n);
    d->side = PL_NEW(m, int32_t, n);
    d->near = PL_NEW(m, int32_t, 2 * (size_t)n);
    d->place = PL_NEW(m, int32_t, n);
    d->separator = PL_NEW(m, int32_t, n);
    d->locked = PL_NEW(m, int32_t, n);
    d->queue = PL_NEW(m, int32_t, n);
    d->cross = PL_NEW(m, int32_t, 2 * ((size_t)n + 1));
    d->induced = PL_NEW(m, int32_t, (size_t)n + 1);
    d->local = PL_NEW(m, int32_t, n);
    d->items = PL_NEW(m, pl_sort_item, 2 * (size_t)n);
    d->best = PL_NEW(m, pl_sort_item, n);
    d->moves = PL_NEW(m, move, MOVES_PER_NODE * (size_t)n);
    d->parts = PL_NEW(m, part, (size_t)n + 2);
    return d->tag && d->side && d->near && d->place && d->separator && d->locked && d->queue &&
           d->cross && d->induced && d->local && d->items && d->best && d->moves && d->parts;
}

static void dissection_free(dissection *d)
{
    void *blocks[] = {d->tag,   d->side,    d->near,  d->place, d->separator, d->locked, d->queue,
                      d->cross, d->induced, d->local, d->items, d->best,      d->moves,  d->parts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(d->memory, blocks[i]);
}

bool pl_order_dissection(pl_memory *memory, int n, const int *start, const int *neighbour,
                         const double (*points)[3], int *order)
{
    dissection d = {.memory = memory,
                    .n = n,
                    .start = start,
                    .neighbour = neighbour,
                    .points = points,
                    .order = order};
    bool ok = dissection_alloc(&d);
    for (int k = 0; k < n; k++)
        order[k] = k;
    if (ok && n > 0)
        d.parts[d.part_count++] = (part){0, n};
    while (ok && d.part_count > 0)
        ok = dissect_part(&d, d.parts[--d.part_count]);
    dissection_free(&d);
    return ok;
}
