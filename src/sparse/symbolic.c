/* Symbolic LDLᵀ: from a graph and an elimination order to the elimination tree (Liu), a postorder,
   and the pattern of L. Row k of L is the part of the tree below k that is reached from the earlier
   neighbours of pivot k; walking these subtrees costs as much as L has entries, and yields both
   forms sorted. */
#include "sparse/symbolic.h"

#include "sparse/order.h"

#include <limits.h>
#include <string.h>

enum { NONE = -1 };

typedef struct graph {
    int n;
    const int *start, *neighbour;
} graph;

/* ---- Checking ---- */

/* Every neighbour is in range, no loop, no edge twice. `mark` is left with the last node that saw
   each node. */
static bool lists_are_simple(const graph *g, int32_t *mark)
{
    if (g->start[0] != 0)
        return false;
    for (int i = 0; i < g->n; i++)
        mark[i] = NONE;
    for (int i = 0; i < g->n; i++) {
        if (g->start[i + 1] < g->start[i])
            return false;
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            int j = g->neighbour[p];
            if (j < 0 || j >= g->n || j == i || mark[j] == i)
                return false;
            mark[j] = i;
        }
    }
    return true;
}

/* Every edge is there in both directions: the edges i -> j with i < j, sorted by j, must be the
   part of j's list below j. `reverse` has room for half the entries, `next` for n. Needs simple
   lists. */
static bool lists_are_symmetric(const graph *g, int32_t *reverse, int32_t *next, int32_t *mark)
{
    int up = 0;
    for (int i = 0, at = 0; i < g->n; i++) {
        next[i] = at;
        mark[i] = NONE;
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            at += g->neighbour[p] < i;
            up += g->neighbour[p] > i;
        }
    }
    if (up != g->start[g->n] - up)
        return false;
    /* Fills each node's share of `reverse` from its lower neighbours; shares that overflow show as
       a mismatch. */
    for (int i = 0; i < g->n; i++)
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            if (g->neighbour[p] > i && next[g->neighbour[p]] < up)
                reverse[next[g->neighbour[p]]++] = i;
    for (int i = 0, at = 0; i < g->n; i++) {
        int begin = at;
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            at += g->neighbour[p] < i;
        if (next[i] != at)
            return false;
        for (int k = begin; k < at; k++)
            mark[reverse[k]] = i;
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            if (g->neighbour[p] < i && mark[g->neighbour[p]] != i)
                return false;
    }
    return true;
}

static pl_status check_graph(pl_memory *memory, const graph *g)
{
    int32_t *mark = PL_NEW(memory, int32_t, g->n), *next = PL_NEW(memory, int32_t, g->n);
    pl_status status = !mark || !next               ? PL_ERROR_MEMORY
                       : !lists_are_simple(g, mark) ? PL_ERROR_ARGUMENT
                                                    : PL_OK;
    if (status == PL_OK) {
        int32_t *reverse = PL_NEW(memory, int32_t, g->start[g->n] / 2 + 1);
        status = !reverse                                       ? PL_ERROR_MEMORY
                 : !lists_are_symmetric(g, reverse, next, mark) ? PL_ERROR_ARGUMENT
                                                                : PL_OK;
        pl_memory_free(memory, reverse);
    }
    pl_memory_free(memory, next);
    pl_memory_free(memory, mark);
    return status;
}

/* inverse[order[k]] = k; false when `order` is no permutation. */
static bool invert(int n, const int32_t *order, int32_t *inverse)
{
    for (int i = 0; i < n; i++)
        inverse[i] = NONE;
    for (int k = 0; k < n; k++) {
        if (order[k] < 0 || order[k] >= n || inverse[order[k]] != NONE)
            return false;
        inverse[order[k]] = k;
    }
    return true;
}

/* ---- Elimination tree and postorder ---- */

/* parent[c] = the first row below the diagonal of column c of L. `ancestor` shortens the walks to
   the root. */
static void elimination_tree(const graph *g, const pl_symbolic *s, int32_t *parent,
                             int32_t *ancestor)
{
    for (int k = 0; k < g->n; k++) {
        int node = s->perm[k];
        parent[k] = ancestor[k] = NONE;
        for (int p = g->start[node]; p < g->start[node + 1]; p++) {
            int c = s->inverse[g->neighbour[p]];
            while (c < k && ancestor[c] != k) {
                int up = ancestor[c];
                ancestor[c] = k;
                if (up == NONE) {
                    parent[c] = k;
                    break;
                }
                c = up;
            }
        }
    }
}

/* Writes to `post` the pivots so that each subtree is contiguous, children in ascending order. */
static void postorder(int n, const int32_t *parent, int32_t *post, int32_t *child, int32_t *sibling)
{
    int root = NONE;
    for (int k = 0; k < n; k++)
        child[k] = NONE;
    for (int k = n - 1; k >= 0; k--) {
        int32_t *list = parent[k] == NONE ? &root : &child[parent[k]];
        sibling[k] = *list;
        *list = k;
    }
    int at = 0;
    for (int k = root; k != NONE;) {
        while (child[k] != NONE) {
            int down = child[k];
            child[k] = NONE; /* on the way back k is complete */
            k = down;
        }
        post[at++] = k;
        k = sibling[k] != NONE ? sibling[k] : parent[k];
    }
}

/* Renumbers the pivots of s along the postorder. */
static pl_status fold_postorder(pl_memory *memory, const graph *g, pl_symbolic *s)
{
    size_t n = (size_t)g->n;
    int32_t *block = PL_NEW(memory, int32_t, 4 * n);
    if (!block)
        return PL_ERROR_MEMORY;
    int32_t *parent = block, *post = block + n, *child = block + 2 * n, *sibling = block + 3 * n;
    elimination_tree(g, s, parent, child);
    postorder(g->n, parent, post, child, sibling);
    int32_t *new_of = child, *perm = sibling;
    for (int k = 0; k < g->n; k++) {
        new_of[post[k]] = k;
        perm[k] = s->perm[post[k]];
    }
    for (int k = 0; k < g->n; k++) {
        s->perm[k] = perm[k];
        s->inverse[perm[k]] = k;
        s->parent[new_of[k]] = parent[k] == NONE ? NONE : new_of[parent[k]];
    }
    pl_memory_free(memory, block);
    return PL_OK;
}

/* ---- The pattern of L ---- */

/* Walks row k of L, unsorted: calls for every earlier pivot either count (columns NULL) or append
   to the columns. */
static int64_t walk_row(const graph *g, const pl_symbolic *s, int k, int32_t *mark, int64_t *count,
                        int32_t *columns)
{
    int64_t length = 0;
    int node = s->perm[k];
    mark[k] = k;
    for (int p = g->start[node]; p < g->start[node + 1]; p++) {
        for (int c = s->inverse[g->neighbour[p]]; c < k && mark[c] != k; c = s->parent[c]) {
            mark[c] = k;
            if (columns)
                columns[count[c]] = k;
            count[c]++;
            length++;
        }
    }
    return length;
}

/* Row and column starts. `mark` and `count` have n entries; count is zero on entry. */
static void count_entries(const graph *g, pl_symbolic *s, int32_t *mark, int64_t *count)
{
    for (int k = 0; k < s->n; k++)
        mark[k] = NONE;
    for (int k = 0; k < s->n; k++)
        s->row_start[k + 1] = s->row_start[k] + walk_row(g, s, k, mark, count, NULL);
    for (int k = 0; k < s->n; k++) {
        s->col_start[k + 1] = s->col_start[k] + count[k];
        s->flops += (double)count[k] * ((double)count[k] + 2.0);
    }
    s->nnz = s->row_start[s->n];
}

/* Appending rows in ascending order sorts the columns; reading these in ascending order sorts the
   rows. */
static void fill_entries(const graph *g, pl_symbolic *s, int32_t *mark, int64_t *next)
{
    for (int k = 0; k < s->n; k++) {
        mark[k] = NONE;
        next[k] = s->col_start[k];
    }
    for (int k = 0; k < s->n; k++)
        walk_row(g, s, k, mark, next, s->col_index);
    for (int k = 0; k < s->n; k++)
        next[k] = s->row_start[k];
    for (int c = 0; c < s->n; c++) {
        for (int64_t p = s->col_start[c]; p < s->col_start[c + 1]; p++) {
            int64_t q = next[s->col_index[p]]++;
            s->row_index[q] = c;
            s->row_to_col[q] = p;
        }
    }
}

/* Where the values of the graph's edges start in the column form. `place` has n entries. */
static void map_edges(const graph *g, pl_symbolic *s, int64_t *place)
{
    for (int k = 0; k < s->n; k++) {
        for (int64_t p = s->row_start[k]; p < s->row_start[k + 1]; p++)
            place[s->row_index[p]] = s->row_to_col[p];
        int node = s->perm[k];
        for (int p = g->start[node]; p < g->start[node + 1]; p++) {
            int c = s->inverse[g->neighbour[p]];
            s->entry[p] = c < k ? place[c] : NONE;
        }
    }
}

/* Column k + 1 joins the run of column k when it has the same rows but its own. */
static void find_runs(pl_symbolic *s)
{
    for (int k = 0; k < s->n; k++) {
        bool joins =
            k > 0 && s->parent[k - 1] == k &&
            s->col_start[k] - s->col_start[k - 1] == s->col_start[k + 1] - s->col_start[k] + 1;
        if (!joins)
            s->super_start[s->super_count++] = k;
        s->super_of[k] = s->super_count - 1;
    }
    s->super_start[s->super_count] = s->n;
}

static pl_status find_pattern(pl_memory *memory, const graph *g, pl_symbolic *s)
{
    int32_t *mark = PL_NEW(memory, int32_t, s->n);
    int64_t *count = PL_NEW(memory, int64_t, s->n);
    bool ok = mark && count;
    if (ok) {
        count_entries(g, s, mark, count);
        s->row_index = PL_NEW(memory, int32_t, s->nnz);
        s->col_index = PL_NEW(memory, int32_t, s->nnz);
        s->row_to_col = PL_NEW(memory, int64_t, s->nnz);
        ok = s->row_index && s->col_index && s->row_to_col;
    }
    if (ok) {
        fill_entries(g, s, mark, count);
        map_edges(g, s, count);
        find_runs(s);
    }
    pl_memory_free(memory, count);
    pl_memory_free(memory, mark);
    return ok ? PL_OK : PL_ERROR_MEMORY;
}

/* ---- Putting it together ---- */

static bool allocate_by_node(pl_memory *memory, pl_symbolic *s, int entries)
{
    int n = s->n;
    s->perm = PL_NEW(memory, int32_t, n);
    s->inverse = PL_NEW(memory, int32_t, n);
    s->parent = PL_NEW(memory, int32_t, n);
    s->row_start = PL_NEW(memory, int64_t, n + 1);
    s->col_start = PL_NEW(memory, int64_t, n + 1);
    s->super_start = PL_NEW(memory, int32_t, n + 1);
    s->super_of = PL_NEW(memory, int32_t, n);
    s->entry = PL_NEW(memory, int64_t, entries);
    return s->perm && s->inverse && s->parent && s->row_start && s->col_start && s->super_start &&
           s->super_of && s->entry;
}

static pl_status analyse(pl_memory *memory, const graph *g, const int *order, pl_symbolic *s)
{
    if (!allocate_by_node(memory, s, g->start[g->n]))
        return PL_ERROR_MEMORY;
    if (order)
        memcpy(s->perm, order, (size_t)g->n * sizeof *order);
    else if (!pl_order_minimum_degree(memory, g->n, g->start, g->neighbour, s->perm))
        return PL_ERROR_MEMORY;
    if (!invert(g->n, s->perm, s->inverse))
        return PL_ERROR_ARGUMENT;
    pl_status status = fold_postorder(memory, g, s);
    return status == PL_OK ? find_pattern(memory, g, s) : status;
}

pl_status pl_symbolic_create(pl_memory *memory, int n, const int *start, const int *neighbour,
                             const int *order, pl_symbolic **symbolic)
{
    *symbolic = NULL;
    if (n < 0 || n == INT_MAX)
        return PL_ERROR_ARGUMENT;
    graph g = {n, start, neighbour};
    pl_status status = check_graph(memory, &g);
    if (status != PL_OK)
        return status;
    pl_symbolic *s = PL_NEW(memory, pl_symbolic, 1);
    if (!s)
        return PL_ERROR_MEMORY;
    s->n = n;
    s->edge_count = start[n] / 2;
    status = analyse(memory, &g, order, s);
    if (status == PL_OK)
        *symbolic = s;
    else
        pl_symbolic_destroy(memory, s);
    return status;
}

void pl_symbolic_destroy(pl_memory *memory, pl_symbolic *s)
{
    if (!s)
        return;
    void *blocks[] = {s->perm,      s->inverse,     s->parent,    s->row_start,
                      s->row_index, s->col_start,   s->col_index, s->row_to_col,
                      s->entry,     s->super_start, s->super_of,  s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}
