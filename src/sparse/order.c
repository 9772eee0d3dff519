/* Approximate minimum degree after Amestoy, Davis and Duff (1996). The eliminated part of the graph
   is kept as elements (cliques, one per pivot) beside the remaining variables, in one array of
   lists. A variable's degree is bounded by the sum of what its elements see outside the current
   pivot's clique, so one pivot costs no more than reading the lists it touches. */
#include "sparse/order.h"

#include <math.h>
#include <string.h>

enum { NONE = -1 };

/* What a node has become. Members belong to another variable or pivot, in `owner`, and share its
   place in the order. */
typedef enum kind { VARIABLE, ELEMENT, MEMBER, ABSORBED, DENSE } kind;

/* A list of variable i: `elements[i]` elements first, then variables. A list of an element: its
   variables. */
typedef struct quotient {
    int n, left;       /* nodes, and how many are not eliminated yet */
    int64_t room, end; /* size and used part of `list` */
    int32_t *list;
    int64_t *begin;
    int32_t *length, *elements;
    int32_t *
        weight; /* nodes a variable stands for; negated while it is in the current pivot's clique */
    int32_t *degree; /* variables: bound of the external degree; elements: weight of the clique */
    uint8_t *kind;
    int32_t *owner;
    int32_t *head, *next,
        *last; /* variables by degree, doubly linked; `next` also chains equal hashes */
    int32_t *hash_head, *hash;
    int64_t *stamp; /* of elements: stamp − tick = weight outside the current clique; of all: marks
                       for comparisons */
    int64_t tick;
    int lowest; /* no variable has a smaller degree */
    int32_t *pivots;
    int pivot_count;
} quotient;

static void quotient_free(pl_memory *memory, quotient *q)
{
    void *blocks[] = {q->list,   q->begin,     q->length, q->elements, q->weight,
                      q->degree, q->kind,      q->owner,  q->head,     q->next,
                      q->last,   q->hash_head, q->hash,   q->stamp,    q->pivots};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

static bool quotient_alloc(pl_memory *memory, quotient *q, int n, int64_t entries)
{
    size_t m = (size_t)n;
    /* Every clique fits where its members' lists were, up to the pivot at hand; the slack makes
       compaction rare. */
    *q = (quotient){.n = n, .left = n, .room = entries + entries / 5 + n, .tick = 1};
    q->list = PL_NEW(memory, int32_t, q->room);
    q->begin = PL_NEW(memory, int64_t, m);
    q->length = PL_NEW(memory, int32_t, m);
    q->elements = PL_NEW(memory, int32_t, m);
    q->weight = PL_NEW(memory, int32_t, m);
    q->degree = PL_NEW(memory, int32_t, m);
    q->kind = PL_NEW(memory, uint8_t, m);
    q->owner = PL_NEW(memory, int32_t, m);
    q->head = PL_NEW(memory, int32_t, m);
    q->next = PL_NEW(memory, int32_t, m);
    q->last = PL_NEW(memory, int32_t, m);
    q->hash_head = PL_NEW(memory, int32_t, m);
    q->hash = PL_NEW(memory, int32_t, m);
    q->stamp = PL_NEW(memory, int64_t, m);
    q->pivots = PL_NEW(memory, int32_t, m);
    return q->list && q->begin && q->length && q->elements && q->weight && q->degree && q->kind &&
           q->owner && q->head && q->next && q->last && q->hash_head && q->hash && q->stamp &&
           q->pivots;
}

/* ---- Variables by degree ---- */

static void degree_insert(quotient *q, int i)
{
    int d = q->degree[i];
    q->last[i] = NONE;
    q->next[i] = q->head[d];
    if (q->head[d] != NONE)
        q->last[q->head[d]] = i;
    q->head[d] = i;
    if (d < q->lowest)
        q->lowest = d;
}

static void degree_remove(quotient *q, int i)
{
    if (q->next[i] != NONE)
        q->last[q->next[i]] = q->last[i];
    if (q->last[i] != NONE)
        q->next[q->last[i]] = q->next[i];
    else
        q->head[q->degree[i]] = q->next[i];
}

static int degree_take_lowest(quotient *q)
{
    while (q->head[q->lowest] == NONE)
        q->lowest++;
    int pivot = q->head[q->lowest];
    degree_remove(q, pivot);
    return pivot;
}

/* ---- Setting up ---- */

static void quotient_fill(quotient *q, const int *start, const int *neighbour)
{
    int n = q->n;
    double limit = 10.0 * sqrt((double)n);
    limit = limit < 16.0 ? 16.0 : limit;
    for (int i = 0; i < n; i++) {
        q->kind[i] = start[i + 1] - start[i] > limit ? DENSE : VARIABLE;
        q->weight[i] = q->kind[i] == DENSE ? 0 : 1;
        q->owner[i] = q->head[i] = q->next[i] = q->last[i] = q->hash_head[i] = NONE;
        q->left -= q->kind[i] == DENSE;
    }
    for (int i = 0; i < n; i++) {
        q->begin[i] = q->end;
        for (int p = start[i]; p < start[i + 1] && q->kind[i] != DENSE; p++)
            if (q->kind[neighbour[p]] != DENSE)
                q->list[q->end++] = neighbour[p];
        q->length[i] = q->degree[i] = (int32_t)(q->end - q->begin[i]);
    }
    q->lowest = n - 1;
    for (int i = n - 1; i >= 0; i--)
        if (q->kind[i] == VARIABLE)
            degree_insert(q, i);
}

/* ---- Lists ---- */

/* Moves all living lists to the front. The first entry of each list is replaced by a mark with the
   list's owner, so that the scan recognises where lists begin; what lies between them is dead. */
static void compact(quotient *q)
{
    for (int i = 0; i < q->n; i++) {
        if ((q->kind[i] == VARIABLE || q->kind[i] == ELEMENT) && q->length[i] > 0) {
            int32_t first = q->list[q->begin[i]];
            q->list[q->begin[i]] = -2 - i;
            q->begin[i] = first; /* kept here until the list is moved */
        }
    }
    int64_t to = 0;
    for (int64_t from = 0; from < q->end;) {
        int i = -2 - q->list[from];
        if (i < 0) {
            from++;
            continue;
        }
        q->list[to] = (int32_t)q->begin[i];
        q->begin[i] = to;
        memmove(q->list + to + 1, q->list + from + 1, (size_t)(q->length[i] - 1) * sizeof *q->list);
        to += q->length[i];
        from += q->length[i];
    }
    q->end = to;
}

/* Puts the living, not yet collected variables of list[from … from + count) into the clique being
   built at list[to …], and returns where it ends. */
static int64_t collect(quotient *q, int64_t from, int count, int64_t to, int *clique_weight)
{
    for (int64_t p = from; p < from + count; p++) {
        int i = q->list[p];
        int w = q->weight[i];
        if (w <= 0)
            continue;
        degree_remove(q, i);
        q->weight[i] = -w;
        *clique_weight += w;
        q->list[to++] = i;
    }
    return to;
}

/* Turns the pivot into an element: the union of its neighbours and of the cliques it belongs to,
   which it absorbs. */
static void make_element(quotient *q, int pivot)
{
    int count = q->elements[pivot];
    if (count && q->end + q->degree[pivot] > q->room)
        compact(q);
    int64_t own = q->begin[pivot] + count;
    int64_t begin =
        count ? q->end
              : own; /* without elements the clique is the list itself: filter it in place */
    int clique = 0;
    int pivot_weight = q->weight[pivot];
    q->weight[pivot] = 0; /* keeps it out of its own clique */
    int64_t to = collect(q, own, q->length[pivot] - count, begin, &clique);
    for (int k = 0; k < count; k++) {
        int e = q->list[q->begin[pivot] + k];
        to = collect(q, q->begin[e], q->length[e], to, &clique);
        q->kind[e] = ABSORBED;
    }
    if (count)
        q->end = to;
    q->kind[pivot] = ELEMENT;
    q->begin[pivot] = begin;
    q->length[pivot] = (int32_t)(to - begin);
    q->elements[pivot] = 0;
    q->degree[pivot] = clique;
    q->left -= pivot_weight;
    q->pivots[q->pivot_count++] = pivot;
}

/* ---- Degrees ---- */

/* For every element next to the clique, stamp − tick becomes the weight of its variables outside
   the clique. */
static void weigh_outside(quotient *q, int pivot)
{
    for (int64_t p = q->begin[pivot]; p < q->begin[pivot] + q->length[pivot]; p++) {
        int i = q->list[p];
        const int32_t *element = q->list + q->begin[i];
        for (int k = 0; k < q->elements[i]; k++) {
            int e = element[k];
            if (q->kind[e] != ELEMENT)
                continue;
            if (q->stamp[e] < q->tick)
                q->stamp[e] = q->tick + q->degree[e];
            q->stamp[e] += q->weight[i];
        }
    }
}

/* Rewrites the list of variable i of the clique: the pivot replaces the elements it absorbed, and
   variables of the clique go, being reached through the pivot. Elements that lie wholly inside the
   clique are absorbed as well. Returns the bound of the degree outside the clique and sets the hash
   of what the list contains. */
static int64_t rewrite_list(quotient *q, int i, int pivot, uint32_t *hash)
{
    int64_t begin = q->begin[i], to = begin, outside = 0;
    int64_t elements_end = begin + q->elements[i], list_end = begin + q->length[i];
    uint32_t sum = 0;
    for (int64_t p = begin; p < elements_end; p++) {
        int e = q->list[p];
        if (q->kind[e] != ELEMENT)
            continue;
        int64_t rest = q->stamp[e] - q->tick;
        if (rest == 0) {
            q->kind[e] = ABSORBED;
            continue;
        }
        outside += rest;
        sum += (uint32_t)e;
        q->list[to++] = e;
    }
    int64_t split = to;
    for (int64_t p = elements_end; p < list_end; p++) {
        int j = q->list[p];
        if (q->weight[j] <= 0)
            continue;
        outside += q->weight[j];
        sum += (uint32_t)j;
        q->list[to++] = j;
    }
    /* There is room for the pivot: at least one absorbed element, or the pivot itself as a
       variable, has gone. */
    q->list[to] = q->list[split];
    q->list[split] = q->list[begin];
    q->list[begin] = pivot;
    q->elements[i] = (int32_t)(split - begin + 1);
    q->length[i] = (int32_t)(to - begin + 1);
    *hash = sum;
    return outside;
}

static void make_member(quotient *q, int i, int owner)
{
    q->kind[i] = MEMBER;
    q->owner[i] = owner;
    q->weight[i] = 0;
}

/* Bounds the degrees of the clique's variables and chains them by hash. One that sees nothing but
   the clique is eliminated with the pivot at no cost. */
static void update_degrees(quotient *q, int pivot)
{
    for (int64_t p = q->begin[pivot]; p < q->begin[pivot] + q->length[pivot]; p++) {
        int i = q->list[p];
        uint32_t hash;
        int64_t outside = rewrite_list(q, i, pivot, &hash);
        if (outside == 0) {
            q->degree[pivot] += q->weight[i];
            q->left += q->weight[i];
            make_member(q, i, pivot);
            continue;
        }
        q->degree[i] = outside < q->degree[i] ? (int32_t)outside : q->degree[i];
        q->hash[i] = (int32_t)(hash % (uint32_t)q->n);
        q->next[i] = q->hash_head[q->hash[i]];
        q->hash_head[q->hash[i]] = i;
    }
}

/* ---- Indistinguishable variables ---- */

/* Whether j's list has the same length as i's and only entries marked with the present tick. */
static bool same_list(const quotient *q, int i, int j)
{
    if (q->length[i] != q->length[j] || q->elements[i] != q->elements[j])
        return false;
    for (int64_t p = q->begin[j] + 1; p < q->begin[j] + q->length[j]; p++)
        if (q->stamp[q->list[p]] != q->tick)
            return false;
    return true;
}

/* Merges into i all later variables of its hash chain that have the same neighbours. */
static void merge_equal(quotient *q, int i)
{
    q->tick++;
    for (int64_t p = q->begin[i] + 1; p < q->begin[i] + q->length[i]; p++)
        q->stamp[q->list[p]] = q->tick;
    for (int before = i, j = q->next[i]; j != NONE; j = q->next[j]) {
        if (!same_list(q, i, j)) {
            before = j;
            continue;
        }
        q->weight[i] += q->weight[j];
        make_member(q, j, i);
        q->next[before] = q->next[j];
    }
}

static void merge_clique(quotient *q, int pivot)
{
    for (int64_t p = q->begin[pivot]; p < q->begin[pivot] + q->length[pivot]; p++) {
        int first = q->list[p];
        if (q->kind[first] != VARIABLE)
            continue;
        int i = q->hash_head[q->hash[first]];
        q->hash_head[q->hash[first]] = NONE; /* each chain is worked through once */
        for (; i != NONE && q->next[i] != NONE; i = q->next[i])
            merge_equal(q, i);
    }
}

/* ---- One pivot ---- */

/* Gives the clique's remaining variables their weights and places by degree back, and drops the
   others from its list. */
static void finish_clique(quotient *q, int pivot)
{
    int64_t begin = q->begin[pivot], to = begin;
    for (int64_t p = begin; p < begin + q->length[pivot]; p++) {
        int i = q->list[p];
        if (q->kind[i] != VARIABLE)
            continue;
        int w = q->weight[i] = -q->weight[i];
        int64_t degree = (int64_t)q->degree[i] + q->degree[pivot] - w;
        q->degree[i] = (int32_t)(degree < q->left - w ? degree : q->left - w);
        degree_insert(q, i);
        q->list[to++] = i;
    }
    q->length[pivot] = (int32_t)(to - begin);
    if (!q->length[pivot])
        q->kind[pivot] = ABSORBED;
}

static void eliminate(quotient *q, int pivot)
{
    make_element(q, pivot);
    q->tick += q->n + 1; /* beyond any stamp a former pivot left */
    weigh_outside(q, pivot);
    update_degrees(q, pivot);
    q->tick += q->n + 1;
    merge_clique(q, pivot);
    finish_clique(q, pivot);
}

/* ---- The order ---- */

/* The pivot that a node is eliminated with; shortens the chains it walks. */
static int pivot_of(quotient *q, int i)
{
    int root = i;
    while (q->kind[root] == MEMBER)
        root = q->owner[root];
    while (q->kind[i] == MEMBER) {
        int up = q->owner[i];
        q->owner[i] = root;
        i = up;
    }
    return root;
}

/* Pivots as they were chosen, each together with its members in the order of their numbers, dense
   nodes at the end. */
static void write_order(quotient *q, int *order)
{
    int32_t *count = q->length, *place = q->degree;
    memset(count, 0, (size_t)q->n * sizeof *count);
    for (int i = 0; i < q->n; i++)
        if (q->kind[i] != DENSE)
            count[pivot_of(q, i)]++;
    int at = 0;
    for (int k = 0; k < q->pivot_count; k++) {
        place[q->pivots[k]] = at;
        at += count[q->pivots[k]];
    }
    for (int i = 0; i < q->n; i++)
        order[q->kind[i] == DENSE ? at++ : place[pivot_of(q, i)]++] = i;
}

bool pl_order_minimum_degree(pl_memory *memory, int n, const int *start, const int *neighbour,
                             int *order)
{
    if (n == 0)
        return true;
    quotient q;
    bool ok = quotient_alloc(memory, &q, n, start[n]);
    if (ok) {
        quotient_fill(&q, start, neighbour);
        while (q.left > 0)
            eliminate(&q, degree_take_lowest(&q));
        write_order(&q, order);
    }
    quotient_free(memory, &q);
    return ok;
}
