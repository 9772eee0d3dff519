/* From a graph to fronts, parts and blocks: an order, its elimination tree (Liu), the lengths of
   the columns of L, columns of equal pattern joined, and joined further where the zeros that this
   stores cost less time than a front more. */
#include "sparse/supernodal_parts.h"

#include <limits.h>
#include <string.h>

#include "base/sort.h"
#include "sparse/order.h"

enum { NONE = -1 };

/* What a solve for three right-hand sides costs, in cycles or so: a block, a row of it, a number.
   Only ratios matter. */
#define BLOCK_COST 250.0
#define ROW_COST 6.0
#define NUMBER_COST 1.0

/* Parts have at most this share of all cost; a factor cheaper than SINGLE is one part. */
#define PART_SHARE (1.0 / 16.0)
#define SINGLE_COST 4e5

typedef struct graph {
    int n;
    const int *start, *neighbour;
} graph;

typedef struct tree {
    int n;
    int32_t *perm, *inverse, *parent;
    int32_t *count; /* entries of a column of L below its diagonal */
    int64_t entries;
    double flops;
} tree;

/* ---- Checking ---- */

/* Lists of the transposed graph, which come out sorted. */
static void transpose(int n, const int *start, const int *neighbour, int *other_start, int *other)
{
    memset(other_start, 0, ((size_t)n + 2) * sizeof *other_start);
    for (int p = 0; p < start[n]; p++)
        other_start[neighbour[p] + 2]++;
    for (int i = 0; i < n; i++)
        other_start[i + 2] += other_start[i + 1];
    for (int i = 0; i < n; i++)
        for (int p = start[i]; p < start[i + 1]; p++)
            other[other_start[neighbour[p] + 1]++] = i;
}

static bool starts_are_good(const graph *g)
{
    if (g->start[0] != 0)
        return false;
    for (int i = 0; i < g->n; i++) {
        if (g->start[i + 1] < g->start[i])
            return false;
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            if (g->neighbour[p] < 0 || g->neighbour[p] >= g->n || g->neighbour[p] == i)
                return false;
    }
    return true;
}

/* Every edge in both lists, once: transposed twice, the lists are themselves, sorted. */
static pl_status check_graph(pl_memory *memory, const graph *g)
{
    if (!starts_are_good(g))
        return PL_ERROR_ARGUMENT;
    size_t n = (size_t)g->n, entries = (size_t)g->start[g->n];
    int *block = PL_NEW(memory, int, 2 * (n + 2) + 2 * entries);
    if (!block)
        return PL_ERROR_MEMORY;
    int *start = block, *twice_start = start + n + 2, *lists = twice_start + n + 2,
        *twice = lists + entries;
    transpose(g->n, g->start, g->neighbour, start, lists);
    transpose(g->n, start, lists, twice_start, twice);
    bool good = !memcmp(start, twice_start, (n + 1) * sizeof *start) &&
                !memcmp(lists, twice, entries * sizeof *lists);
    for (int i = 0; good && i < g->n; i++)
        for (int p = start[i]; p + 1 < start[i + 1]; p++)
            good = good && lists[p] != lists[p + 1];
    pl_memory_free(memory, block);
    return good ? PL_OK : PL_ERROR_ARGUMENT;
}

/* ---- Elimination tree ---- */

static void invert(tree *t)
{
    for (int k = 0; k < t->n; k++)
        t->inverse[t->perm[k]] = k;
}

/* parent[c] = the first row below the diagonal of column c. */
static void find_parents(const graph *g, tree *t, int32_t *ancestor)
{
    for (int k = 0; k < g->n; k++) {
        int node = t->perm[k];
        t->parent[k] = ancestor[k] = NONE;
        for (int p = g->start[node]; p < g->start[node + 1]; p++) {
            int c = t->inverse[g->neighbour[p]];
            while (c < k && ancestor[c] != k) {
                int up = ancestor[c];
                ancestor[c] = k;
                if (up == NONE) {
                    t->parent[c] = k;
                    break;
                }
                c = up;
            }
        }
    }
}

/* The nodes of a forest so that each subtree is contiguous, into `post`. parent[k] > k or NONE;
   head and next have n entries. Walks without a stack: up again by the parents. */
static void postorder(int n, const int32_t *parent, int32_t *post, int32_t *head, int32_t *next)
{
    int root = NONE, at = 0;
    for (int k = 0; k < n; k++)
        head[k] = NONE;
    for (int k = n - 1; k >= 0; k--) {
        int32_t *list = parent[k] == NONE ? &root : &head[parent[k]];
        next[k] = *list;
        *list = k;
    }
    for (int k = root; k != NONE;) {
        while (head[k] != NONE) {
            int child = head[k];
            head[k] = next[child];
            k = child;
        }
        post[at++] = k;
        k = parent[k] == NONE ? next[k] : parent[k];
    }
}

/* Lengths of the columns: row k of L is the part of the tree reached from k's earlier neighbours.
   Gives up when there are more than `limit` entries. */
static bool count_columns(const graph *g, tree *t, int32_t *mark, int64_t limit)
{
    t->entries = g->n;
    for (int k = 0; k < g->n; k++) {
        t->count[k] = 0;
        mark[k] = NONE;
    }
    for (int k = 0; k < g->n && t->entries <= limit; k++) {
        int node = t->perm[k];
        mark[k] = k;
        for (int p = g->start[node]; p < g->start[node + 1]; p++) {
            for (int c = t->inverse[g->neighbour[p]]; c < k && mark[c] != k; c = t->parent[c]) {
                mark[c] = k;
                t->count[c]++;
                t->entries++;
            }
        }
    }
    t->flops = 0.0;
    for (int k = 0; k < g->n; k++)
        t->flops += (t->count[k] + 1.0) * (t->count[k] + 1.0);
    return t->entries <= limit;
}

/* Makes the order in t->perm a postorder of its tree and counts. `room` has 3 n entries. */
static bool build_tree(const graph *g, tree *t, int32_t *room, int64_t limit)
{
    int n = g->n;
    invert(t);
    find_parents(g, t, room);
    postorder(n, t->parent, room, room + n, room + 2 * (size_t)n);
    for (int k = 0; k < n; k++)
        t->count[k] = t->perm[room[k]];
    memcpy(t->perm, t->count, (size_t)n * sizeof *t->perm);
    invert(t);
    find_parents(g, t, room);
    return count_columns(g, t, room, limit);
}

static bool tree_alloc(pl_memory *memory, int n, tree *t)
{
    t->n = n;
    t->perm = PL_NEW(memory, int32_t, 4 * (size_t)n);
    if (!t->perm)
        return false;
    t->inverse = t->perm + n;
    t->parent = t->inverse + n;
    t->count = t->parent + n;
    return true;
}

/* The better of minimum degree and dissection. */
static bool choose_order(pl_memory *memory, const graph *g, const double (*points)[3], tree *t,
                         int32_t *room, bool *dissected)
{
    tree other;
    if (!tree_alloc(memory, g->n, &other))
        return false;
    bool ok = pl_order_dissection(memory, g->n, g->start, g->neighbour, points, t->perm) &&
              pl_order_minimum_degree(memory, g->n, g->start, g->neighbour, other.perm);
    if (ok) {
        build_tree(g, t, room, INT64_MAX);
        *dissected = !build_tree(g, &other, room, t->entries - 1);
        if (!*dissected) {
            memcpy(t->perm, other.perm, 4 * (size_t)g->n * sizeof *t->perm);
            t->entries = other.entries;
            t->flops = other.flops;
        }
    }
    pl_memory_free(memory, other.perm);
    return ok;
}

/* ---- Joining columns ---- */

/* Columns joined so far, named by the last of their runs of equal pattern. */
typedef struct joining {
    int run_count;
    int32_t *first;  /* [n + 1] first pivot of a run, in the order of the tree */
    int32_t *run_of; /* [n] */
    int32_t *parent; /* [runs] */
    int32_t *into;   /* [runs] the run this one was joined to, or itself */
    int32_t *width, *below, *head, *next, *post; /* [runs] */
    int32_t *part;                               /* [runs] */
    double *cost;                                /* [runs] of a subtree */
    pl_sort_item *items;                         /* [2 n] */
} joining;

/* Numbers of a front: strips hold the triangle's upper half as well, up to their own size. */
static double numbers(double width, double below)
{
    double square = width <= PL_STRIP ? width * width : 0.5 * width * (width + PL_STRIP);
    return width * below + square;
}

static double cost_of(double width, double below)
{
    double blocks = 1.0 + (int)((width - 1.0) / PL_BLOCK_COLUMNS);
    return BLOCK_COST * blocks + ROW_COST * (width + below * blocks) +
           NUMBER_COST * numbers(width, below);
}

static void find_runs(const tree *t, joining *j)
{
    for (int k = 0; k < t->n; k++) {
        if (k == 0 || t->parent[k - 1] != k || t->count[k - 1] != t->count[k] + 1)
            j->first[j->run_count++] = k;
        j->run_of[k] = j->run_count - 1;
    }
    j->first[j->run_count] = t->n;
    for (int r = 0; r < j->run_count; r++) {
        int last = j->first[r + 1] - 1;
        j->parent[r] = t->parent[last] == NONE ? NONE : j->run_of[t->parent[last]];
        j->into[r] = r;
        j->width[r] = last + 1 - j->first[r];
        j->below[r] = t->count[last];
        j->head[r] = NONE;
    }
}

/* Joins children to r while that pays. */
static void join_children(joining *j, int r)
{
    int32_t *link = &j->head[r];
    while (*link != NONE) {
        int c = *link;
        double apart = cost_of(j->width[c], j->below[c]) + cost_of(j->width[r], j->below[r]);
        double joined = cost_of((double)j->width[c] + j->width[r], j->below[r]);
        if (joined >= apart) {
            link = &j->next[c];
            continue;
        }
        j->into[c] = r;
        j->width[r] += j->width[c];
        /* Its children come in its place: they are tried next. */
        int32_t *end = &j->head[c];
        while (*end != NONE)
            end = &j->next[*end];
        *end = j->next[c];
        *link = j->head[c];
    }
}

static int representative(const joining *j, int r)
{
    while (j->into[r] != r)
        r = j->into[r];
    return r;
}

static void join_runs(joining *j)
{
    /* Children precede parents; a run is offered to its parent when all its own have been tried. */
    for (int r = 0; r < j->run_count; r++) {
        join_children(j, r);
        if (j->parent[r] != NONE) {
            j->next[r] = j->head[j->parent[r]];
            j->head[j->parent[r]] = r;
        }
    }
    for (int r = 0; r < j->run_count; r++)
        if (j->parent[r] != NONE)
            j->parent[r] = representative(j, j->parent[r]);
}

/* ---- Parts ---- */

/* Subtrees that are cheap enough become parts, several together where they are small; what is left
   is the top. part[r]: for every run that stands for a front. Returns how many parts, without the
   top. */
static int find_parts(joining *j, int32_t *head, int32_t *next)
{
    double total = 0.0, limit;
    for (int r = 0; r < j->run_count; r++)
        j->cost[r] = j->into[r] == r ? cost_of(j->width[r], j->below[r]) : 0.0;
    for (int r = 0; r < j->run_count; r++) {
        if (j->into[r] != r)
            continue;
        if (j->parent[r] == NONE)
            total += j->cost[r];
        else
            j->cost[j->parent[r]] += j->cost[r];
    }
    limit = total < SINGLE_COST ? total + 1.0 : total * PART_SHARE;
    /* Joined runs have lost their children: as loose roots they do not disturb. */
    for (int r = 0; r < j->run_count; r++)
        if (j->into[r] != r)
            j->parent[r] = NONE;
    postorder(j->run_count, j->parent, j->post, head, next);
    int parts = 0;
    double filled = limit + 1.0;
    for (int r = 0; r < j->run_count; r++)
        j->part[r] = NONE;
    /* Roots of parts in postorder; their descendants follow afterwards, from above. */
    for (int k = 0; k < j->run_count; k++) {
        int r = j->post[k];
        bool is_root = j->into[r] == r && j->cost[r] <= limit &&
                       (j->parent[r] == NONE || j->cost[j->parent[r]] > limit);
        if (!is_root)
            continue;
        if (filled + j->cost[r] > limit) {
            parts++;
            filled = 0.0;
        }
        filled += j->cost[r];
        j->part[r] = parts - 1;
    }
    for (int r = j->run_count - 1; r >= 0; r--)
        if (j->into[r] == r && j->part[r] == NONE)
            j->part[r] = j->cost[r] <= limit ? j->part[j->parent[r]] : parts;
    return parts;
}

/* ---- Fronts ---- */

static void fill_fronts(pl_supernodal *f, const tree *t, joining *j, int32_t *front_of,
                        int32_t *next)
{
    int at = 0, pivot = 0;
    for (int part = 0; part < f->part_count; part++) {
        f->parts[part].front_begin = at;
        f->parts[part].first = pivot;
        for (int k = 0; k < j->run_count; k++) {
            int r = j->post[k];
            if (j->into[r] != r || j->part[r] != part)
                continue;
            f->fronts[at] = (pl_front){.first = pivot, .width = j->width[r], .below = j->below[r]};
            pivot += j->width[r];
            front_of[r] = at++;
        }
        f->parts[part].front_end = at;
        f->parts[part].count = pivot - f->parts[part].first;
    }
    /* A front's columns in the order of the tree, that is of their runs. */
    for (int k = 0; k < f->front_count; k++)
        next[k] = f->fronts[k].first;
    for (int r = 0; r < j->run_count; r++) {
        int front = front_of[representative(j, r)];
        for (int k = j->first[r]; k < j->first[r + 1]; k++)
            f->perm[next[front]++] = t->perm[k];
    }
    for (int k = 0; k < t->n; k++)
        f->inverse[f->perm[k]] = k;
    for (int r = 0; r < j->run_count; r++)
        if (j->into[r] == r)
            f->fronts[front_of[r]].parent = j->parent[r] == NONE ? NONE : front_of[j->parent[r]];
    for (int k = 0; k < f->front_count; k++)
        f->fronts[k].child = f->fronts[k].sibling = NONE;
    for (int k = f->front_count - 1; k >= 0; k--) {
        int up = f->fronts[k].parent;
        if (up != NONE) {
            f->fronts[k].sibling = f->fronts[up].child;
            f->fronts[up].child = k;
        }
    }
}

/* The rows of all fronts: what the columns and the children have beyond the front itself. */
static void find_rows(pl_supernodal *f, const graph *g, int32_t *mark, pl_sort_item *items)
{
    int64_t at = 0;
    for (int k = 0; k < f->n; k++)
        mark[k] = NONE;
    for (int k = 0; k < f->front_count; k++) {
        pl_front *front = &f->fronts[k];
        int end = front->first + front->width, count = 0;
        for (int c = front->first; c < end; c++) {
            int node = f->perm[c];
            for (int p = g->start[node]; p < g->start[node + 1]; p++) {
                int row = f->inverse[g->neighbour[p]];
                if (row >= end && mark[row] != k) {
                    mark[row] = k;
                    items[count++] = (pl_sort_item){(uint64_t)row, 0};
                }
            }
        }
        for (int c = front->child; c != NONE; c = f->fronts[c].sibling) {
            const int32_t *rows = f->rows + f->fronts[c].rows;
            for (int i = 0; i < f->fronts[c].below; i++) {
                if (rows[i] >= end && mark[rows[i]] != k) {
                    mark[rows[i]] = k;
                    items[count++] = (pl_sort_item){(uint64_t)rows[i], 0};
                }
            }
        }
        pl_sort(items, items + count, (size_t)count);
        front->rows = at;
        front->below = count;
        for (int i = 0; i < count; i++)
            f->rows[at++] = (int32_t)items[i].key;
    }
}

/* ---- Memory while factoring ---- */

static int64_t stride_of(int64_t rows)
{
    return (rows + PL_TILE_ROWS - 1) / PL_TILE_ROWS * PL_TILE_ROWS + PL_TILE_ROWS;
}

/* Where the fronts' updates lie: on the stack of their part, or among what is kept for the top. */
static void place_updates(pl_supernodal *f)
{
    for (int p = 0; p < f->part_count; p++) {
        pl_part *part = &f->parts[p];
        int64_t top = 0;
        for (int k = part->front_begin; k < part->front_end; k++) {
            pl_front *front = &f->fronts[k];
            int64_t size = (int64_t)front->below * front->below;
            int64_t rows = stride_of((int64_t)front->width + front->below);
            part->area = rows * rows > part->area ? rows * rows : part->area;
            for (int c = front->child; c != NONE; c = f->fronts[c].sibling)
                if (!f->fronts[c].is_kept && f->fronts[c].update < top)
                    top = f->fronts[c].update;
            front->is_kept = p < f->part_count - 1 && front->parent >= part->front_end;
            front->update = front->is_kept ? f->kept : top;
            if (front->is_kept)
                f->kept += size;
            else
                top += size;
            part->stack = top > part->stack ? top : part->stack;
        }
    }
}

/* ---- Borders and blocks ---- */

static void find_borders(pl_supernodal *f, int32_t *mark, pl_sort_item *items)
{
    int top = f->parts[f->part_count - 1].first;
    int64_t at = 0, vectors = 0;
    for (int k = 0; k < f->n; k++)
        mark[k] = NONE;
    for (int p = 0; p < f->part_count; p++) {
        pl_part *part = &f->parts[p];
        int count = 0;
        for (int k = part->front_begin; k < part->front_end; k++) {
            const pl_front *front = &f->fronts[k];
            if (front->parent < part->front_end)
                continue;
            for (int i = 0; i < front->below; i++) {
                int row = f->rows[front->rows + i];
                if (mark[row] != p) {
                    mark[row] = p;
                    items[count++] = (pl_sort_item){(uint64_t)row, 0};
                }
            }
        }
        pl_sort(items, items + count, (size_t)count);
        part->border = (int)at;
        part->border_count = count;
        part->vectors = vectors;
        vectors += part->count + count;
        if (f->borders)
            for (int i = 0; i < count; i++)
                f->borders[at + i] = (int32_t)items[i].key - top;
        at += count;
    }
    f->border_count = at;
    f->vector_rows = vectors;
}

static int blocks_of(int width)
{
    return (width + PL_BLOCK_COLUMNS - 1) / PL_BLOCK_COLUMNS;
}

/* Where block number b of a front begins. */
static int block_begin(int width, int b)
{
    int count = blocks_of(width), size = pl_round4((width + count - 1) / count);
    return b * size < width ? b * size : width;
}

/* Counts blocks, their rows and their numbers. */
static void size_blocks(pl_supernodal *f, int64_t *rows)
{
    *rows = 0;
    f->block_count = 0;
    for (int k = 0; k < f->front_count; k++) {
        const pl_front *front = &f->fronts[k];
        for (int b = 0; b < blocks_of(front->width); b++)
            *rows += front->width - block_begin(front->width, b + 1) + front->below;
        f->block_count += blocks_of(front->width);
    }
}

static int64_t round16(int64_t count)
{
    return (count + 15) & ~(int64_t)15;
}

static void fill_blocks(pl_supernodal *f, int32_t *local)
{
    int at = 0;
    int64_t row_at = 0;
    for (int p = 0; p < f->part_count; p++) {
        pl_part *part = &f->parts[p];
        int top = f->parts[f->part_count - 1].first;
        part->block_begin = at;
        for (int i = 0; i < part->border_count; i++)
            local[f->borders[part->border + i] + top] = part->count + i;
        for (int k = part->front_begin; k < part->front_end; k++) {
            pl_front *front = &f->fronts[k];
            front->block = at;
            for (int b = 0; b < blocks_of(front->width); b++) {
                int begin = block_begin(front->width, b), end = block_begin(front->width, b + 1);
                pl_block *block = &f->blocks[at++];
                *block = (pl_block){.first = front->first - part->first + begin,
                                    .width = end - begin,
                                    .below = front->width - end + front->below,
                                    .rows = row_at};
                int rows = block->width + block->below;
                part->largest = rows > part->largest ? rows : part->largest;
                for (int c = end; c < front->width; c++)
                    f->block_rows[row_at++] = front->first - part->first + c;
                for (int i = 0; i < front->below; i++) {
                    int row = f->rows[front->rows + i];
                    f->block_rows[row_at++] =
                        row < part->first + part->count ? row - part->first : local[row];
                }
            }
        }
        part->block_end = at;
        f->largest = part->largest > f->largest ? part->largest : f->largest;
        /* Strips are whole fours. */
        part->largest = pl_round4(part->largest);
        part->temps = f->vector_rows;
        f->vector_rows += 2 * (int64_t)part->largest;
    }
}

/* Numbers lie in the order in which a solve reads them, so that it goes through memory in one
   direction: all blocks forward; then backward the top, and the parts one after the other. */
static void place_values(pl_supernodal *f)
{
    int64_t at = 0;
    for (int b = 0; b < f->block_count; b++) {
        pl_block *block = &f->blocks[b];
        block->forward = at;
        at += round16(pl_forward_floats(block->width + block->below, block->width, INT_MAX));
    }
    for (int k = 0; k < f->part_count; k++) {
        const pl_part *part = &f->parts[(f->part_count - 1 + k) % f->part_count];
        for (int b = part->block_end - 1; b >= part->block_begin; b--) {
            pl_block *block = &f->blocks[b];
            block->backward = at;
            at += round16(pl_backward_floats(block->width + block->below, block->width, INT_MAX));
        }
    }
    f->value_count = at;
}

/* ---- Putting it together ---- */

static bool joining_alloc(pl_memory *memory, int n, joining *j)
{
    size_t m = (size_t)n;
    int32_t *block = PL_NEW(memory, int32_t, 10 * m + 1);
    j->cost = PL_NEW(memory, double, m);
    j->items = PL_NEW(memory, pl_sort_item, 2 * m);
    j->first = block;
    if (!block)
        return false;
    j->run_of = j->first + m + 1;
    j->parent = j->run_of + m;
    j->into = j->parent + m;
    j->width = j->into + m;
    j->below = j->width + m;
    j->head = j->below + m;
    j->next = j->head + m;
    j->post = j->next + m;
    j->part = j->post + m;
    return j->cost && j->items;
}

static bool build_fronts(pl_memory *memory, pl_supernodal *f, const graph *g, const tree *t,
                         joining *j, int32_t *room)
{
    int n = g->n;
    find_runs(t, j);
    join_runs(j);
    f->part_count = find_parts(j, room, room + n) + 1;
    for (int r = 0; r < j->run_count; r++)
        f->front_count += j->into[r] == r;
    f->parts = PL_NEW(memory, pl_part, f->part_count);
    f->fronts = PL_NEW(memory, pl_front, f->front_count);
    if (!f->parts || !f->fronts)
        return false;
    fill_fronts(f, t, j, room, room + n);
    for (int k = 0; k < f->front_count; k++)
        f->row_count += f->fronts[k].below;
    f->rows = PL_NEW(memory, int32_t, f->row_count);
    if (!f->rows)
        return false;
    find_rows(f, g, room, j->items);
    place_updates(f);
    return true;
}

static bool build_blocks(pl_memory *memory, pl_supernodal *f, joining *j, int32_t *room)
{
    int64_t rows;
    find_borders(f, room, j->items);
    size_blocks(f, &rows);
    f->borders = PL_NEW(memory, int32_t, f->border_count);
    f->blocks = PL_NEW(memory, pl_block, f->block_count);
    f->block_rows = PL_NEW(memory, int32_t, rows);
    if (!f->borders || !f->blocks || !f->block_rows)
        return false;
    find_borders(f, room, j->items);
    fill_blocks(f, room);
    place_values(f);
    /* Lanes may read beyond the last strip. */
    f->values = PL_NEW(memory, float, f->value_count + PL_STRIP);
    f->sizes.bytes = (size_t)f->value_count * sizeof(float) + (size_t)rows * sizeof(int32_t) +
                     (size_t)f->block_count * sizeof(pl_block);
    return f->values != NULL;
}

pl_status pl_supernodal_analyse(pl_memory *memory, pl_supernodal *f, const int *start,
                                const int *neighbour, const double (*points)[3])
{
    graph g = {f->n, start, neighbour};
    pl_status status = check_graph(memory, &g);
    if (status != PL_OK)
        return status;
    tree t = {0};
    joining j = {0};
    int32_t *room = PL_NEW(memory, int32_t, 3 * (size_t)f->n);
    f->perm = PL_NEW(memory, int32_t, f->n);
    f->inverse = PL_NEW(memory, int32_t, f->n);
    bool ok = room && f->perm && f->inverse && tree_alloc(memory, f->n, &t) &&
              joining_alloc(memory, f->n, &j) &&
              choose_order(memory, &g, points, &t, room, &f->sizes.dissected) &&
              build_fronts(memory, f, &g, &t, &j, room) && build_blocks(memory, f, &j, room);
    if (ok) {
        f->sizes.n = f->n;
        f->sizes.block_count = f->block_count;
        f->sizes.part_count = f->part_count - 1;
        f->sizes.entries = t.entries;
        f->sizes.flops = t.flops;
        f->sizes.stored = f->value_count;
    }
    pl_memory_free(memory, j.items);
    pl_memory_free(memory, j.cost);
    pl_memory_free(memory, j.first);
    pl_memory_free(memory, t.perm);
    pl_memory_free(memory, room);
    return ok ? PL_OK : PL_ERROR_MEMORY;
}
