/* Harmonic weights. Vertices of samples have their values; the Laplace equation for all others is
   factored once and solved for a few samples at a time, and of each solution only what is not next
   to nothing is kept. */
#include "shape/tet_weights.h"

#include <string.h>

#include "math/mat3.h"
#include "sparse/factor.h"

enum { AT_ONCE = 4 };

/* Values at vertices below this add nothing to an element. */
#define NOTHING 1e-4

static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

typedef struct entry {
    int32_t vertex, sample;
    float value;
} entry;

typedef struct laplace {
    pl_memory *memory;
    int n, tet_count, sample_count;
    const int32_t *tets, *sample;
    const double *edge, *centroid;

    int32_t *shared;  /* [n] samples a vertex belongs to */
    int32_t *unknown; /* [n] number among the unknowns, −1 */
    int32_t *used;    /* [n] by any element */
    int unknowns;
    int *start, *neighbour; /* graph of the unknowns */
    double *diagonal, *value;
    pl_symbolic *symbolic;
    pl_factor *factor;

    int32_t *touch_start; /* [n + 1], elements around each vertex */
    int32_t *touch;

    entry *entries;
    size_t entry_count, entry_room;
    int32_t *entry_start; /* [n + 1] */
    entry *sorted;
} laplace;

/* ---- The system ------------------------------------------------------------------------------ */

static bool number_vertices(laplace *l)
{
    l->shared = PL_NEW(l->memory, int32_t, l->n);
    l->unknown = PL_NEW(l->memory, int32_t, l->n);
    l->used = PL_NEW(l->memory, int32_t, l->n);
    l->touch_start = PL_NEW(l->memory, int32_t, l->n + 1);
    l->touch = PL_NEW(l->memory, int32_t, 4 * (size_t)l->tet_count);
    if (!l->shared || !l->unknown || !l->used || !l->touch_start || !l->touch)
        return false;
    for (int j = 0; j < l->sample_count; j++)
        for (int a = 0; a < 4; a++)
            l->shared[l->tets[4 * (size_t)l->sample[j] + a]]++;
    for (size_t k = 0; k < 4 * (size_t)l->tet_count; k++)
        l->used[l->tets[k]]++;
    for (int i = 0; i < l->n; i++) {
        l->unknown[i] = l->used[i] && !l->shared[i] ? l->unknowns++ : -1;
        l->touch_start[i + 1] = l->touch_start[i] + l->used[i];
    }
    for (int e = l->tet_count - 1; e >= 0; e--)
        for (int a = 0; a < 4; a++) {
            int i = l->tets[4 * (size_t)e + a];
            l->touch[l->touch_start[i] + --l->used[i]] = e;
        }
    return true;
}

/* Which of its six edges joins corners a and b. */
static int edge_between(int a, int b)
{
    for (int k = 0; k < 6; k++)
        if ((ends[k][0] == a && ends[k][1] == b) || (ends[k][0] == b && ends[k][1] == a))
            return k;
    return 0;
}

static int corner_of(const laplace *l, int e, int vertex)
{
    for (int a = 0; a < 3; a++)
        if (l->tets[4 * (size_t)e + a] == vertex)
            return a;
    return 3;
}

/* Row i of the Laplacian, vertex by vertex of the elements around it: with `slot` [n] all −1 on
   entry and on return. Gives the number of neighbours. */
static int laplacian_row(const laplace *l, int i, int32_t *slot, int32_t *list, double *sum,
                         double *diagonal)
{
    int count = 0;
    *diagonal = 0;
    for (int32_t p = l->touch_start[i]; p < l->touch_start[i + 1]; p++) {
        int e = l->touch[p], a = corner_of(l, e, i);
        for (int b = 0; b < 4; b++) {
            int j = l->tets[4 * (size_t)e + b];
            if (b == a)
                continue;
            if (slot[j] < 0) {
                slot[j] = count;
                list[count] = j;
                sum[count++] = 0;
            }
            double v = l->edge[6 * (size_t)e + edge_between(a, b)];
            sum[slot[j]] += v;
            *diagonal -= v;
        }
    }
    for (int k = 0; k < count; k++)
        slot[list[k]] = -1;
    return count;
}

static int widest(const laplace *l)
{
    int most = 0;
    for (int i = 0; i < l->n; i++) {
        int elements = l->touch_start[i + 1] - l->touch_start[i];
        most = elements > most ? elements : most;
    }
    return 3 * most + 1;
}

typedef struct row_room {
    int32_t *slot, *list;
    double *sum;
} row_room;

static bool row_room_make(const laplace *l, row_room *r)
{
    r->slot = PL_NEW(l->memory, int32_t, l->n);
    r->list = PL_NEW(l->memory, int32_t, widest(l));
    r->sum = PL_NEW(l->memory, double, widest(l));
    if (r->slot)
        memset(r->slot, -1, (size_t)l->n * sizeof *r->slot);
    return r->slot && r->list && r->sum;
}

static void row_room_free(const laplace *l, row_room *r)
{
    pl_memory_free(l->memory, r->slot);
    pl_memory_free(l->memory, r->list);
    pl_memory_free(l->memory, r->sum);
}

static bool graph_of_unknowns(laplace *l, row_room *r)
{
    l->start = PL_NEW(l->memory, int, l->unknowns + 1);
    l->diagonal = PL_NEW(l->memory, double, l->unknowns);
    for (int pass = 0; pass < 2; pass++) {
        int filled = 0;
        if (!l->start || !l->diagonal)
            return false;
        for (int i = 0; i < l->n; i++) {
            double diagonal;
            if (l->unknown[i] < 0)
                continue;
            int count = laplacian_row(l, i, r->slot, r->list, r->sum, &diagonal);
            l->diagonal[l->unknown[i]] = diagonal;
            for (int k = 0; k < count; k++) {
                int j = l->unknown[r->list[k]];
                if (j < 0)
                    continue;
                if (pass) {
                    l->neighbour[filled] = j;
                    l->value[filled] = r->sum[k];
                }
                filled++;
            }
            l->start[l->unknown[i] + 1] = filled;
        }
        if (!pass) {
            l->neighbour = PL_NEW(l->memory, int, filled);
            l->value = PL_NEW(l->memory, double, filled);
            if (!l->neighbour || !l->value)
                return false;
        }
    }
    return true;
}

/* ---- Solving --------------------------------------------------------------------------------- */

static bool keep(laplace *l, int vertex, int sample, double value)
{
    if (!(value > NOTHING))
        return true;
    if (l->entry_count == l->entry_room) {
        size_t room = 2 * l->entry_room + 1024;
        entry *more = PL_NEW(l->memory, entry, room);
        if (!more)
            return false;
        if (l->entry_count)
            memcpy(more, l->entries, l->entry_count * sizeof *more);
        pl_memory_free(l->memory, l->entries);
        l->entries = more;
        l->entry_room = room;
    }
    l->entries[l->entry_count++] = (entry){vertex, sample, (float)value};
    return true;
}

/* Right-hand side of one sample: what its vertices lend to unknown neighbours. */
static void lend(const laplace *l, int j, double *x, int at, row_room *r)
{
    for (int a = 0; a < 4; a++) {
        int i = l->tets[4 * (size_t)l->sample[j] + a];
        double diagonal;
        int count = laplacian_row(l, i, r->slot, r->list, r->sum, &diagonal);
        for (int k = 0; k < count; k++) {
            int u = l->unknown[r->list[k]];
            if (u >= 0)
                x[u * AT_ONCE + at] -= r->sum[k] / l->shared[i];
        }
    }
}

static bool keep_solutions(laplace *l, int first, int count, const double *x)
{
    for (int at = 0; at < count; at++) {
        for (int a = 0; a < 4; a++) {
            int i = l->tets[4 * (size_t)l->sample[first + at] + a];
            if (!keep(l, i, first + at, 1.0 / l->shared[i]))
                return false;
        }
        for (int i = 0; i < l->n; i++)
            if (l->unknown[i] >= 0 && !keep(l, i, first + at, x[l->unknown[i] * AT_ONCE + at]))
                return false;
    }
    return true;
}

static bool solve_all(laplace *l, row_room *r)
{
    size_t size = (size_t)l->unknowns * AT_ONCE;
    double *x = PL_NEW(l->memory, double, 2 * size + 1);
    bool fine = x != NULL;
    for (int first = 0; fine && first < l->sample_count; first += AT_ONCE) {
        int count = l->sample_count - first < AT_ONCE ? l->sample_count - first : AT_ONCE;
        memset(x, 0, size * sizeof *x);
        for (int at = 0; at < count; at++)
            lend(l, first + at, x, at, r);
        if (l->unknowns)
            pl_factor_solve(l->factor, x, AT_ONCE, AT_ONCE, x + size);
        fine = keep_solutions(l, first, count, x);
    }
    pl_memory_free(l->memory, x);
    return fine;
}

static bool sort_entries(laplace *l)
{
    l->entry_start = PL_NEW(l->memory, int32_t, l->n + 2);
    l->sorted = PL_NEW(l->memory, entry, l->entry_count);
    if (!l->entry_start || !l->sorted)
        return false;
    int32_t *cursor = l->entry_start + 1;
    for (size_t k = 0; k < l->entry_count; k++)
        cursor[l->entries[k].vertex + 1]++;
    for (int i = 0; i < l->n; i++)
        cursor[i + 1] += cursor[i];
    for (size_t k = 0; k < l->entry_count; k++)
        l->sorted[cursor[l->entries[k].vertex]++] = l->entries[k];
    return true;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The heaviest of the first `count` in `list`; the lower number of equals. */
static int heaviest(const int32_t *list, int count, const float *sum)
{
    int best = 0;
    for (int k = 1; k < count; k++)
        if (sum[list[k]] > sum[list[best]] ||
            (sum[list[k]] == sum[list[best]] && list[k] < list[best]))
            best = k;
    return best;
}

/* The second moments of the samples get this part of their sum in all directions: where samples lie
   nearly in a plane, little is asked of the direction across it. */
#define STIFFENING 0.02
#define LEAST_WEIGHT (-0.5)

/* w_j (1 + b · (p_j − m)) with p_j from the element to the samples and m = Σ w p: their sum stays
   one, and Σ w' p = 0 for b = −C⁻¹ m, C the covariance of the samples. Less of it where a weight
   would get too low. */
static void linearise(const laplace *l, int e, int count, const int32_t *sample, float *weight)
{
    double m[3] = {0}, b[3], change[PL_TET_MOST_WEIGHTS], part = 1, size = 0;
    double p[PL_TET_MOST_WEIGHTS][3], w[PL_TET_MOST_WEIGHTS], total = 0;
    pl_mat3 c = pl_m3_zero(), inverse;
    for (int k = 0; k < count; k++)
        total += (double)weight[k];
    for (int k = 0; k < count; k++) {
        w[k] = (double)weight[k] / total;
        for (int i = 0; i < 3; i++) {
            p[k][i] = l->centroid[3 * (size_t)l->sample[sample[k]] + (size_t)i] -
                      l->centroid[3 * (size_t)e + (size_t)i];
            m[i] += w[k] * p[k][i];
        }
    }
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 9; i++)
            c.m[i / 3][i % 3] += w[k] * p[k][i / 3] * p[k][i % 3];
    size = c.m[0][0] + c.m[1][1] + c.m[2][2];
    for (int i = 0; i < 9; i++)
        c.m[i / 3][i % 3] += (i % 4 == 0 ? STIFFENING * size : 0) - m[i / 3] * m[i % 3];
    if (!pl_m3_inverse(c, &inverse))
        return;
    for (int i = 0; i < 3; i++)
        b[i] = -(inverse.m[i][0] * m[0] + inverse.m[i][1] * m[1] + inverse.m[i][2] * m[2]);
    for (int k = 0; k < count; k++) {
        change[k] = 0;
        for (int i = 0; i < 3; i++)
            change[k] += w[k] * b[i] * (p[k][i] - m[i]);
        if (w[k] + part * change[k] < LEAST_WEIGHT)
            part = (LEAST_WEIGHT - w[k]) / change[k];
    }
    for (int k = 0; k < count; k++)
        weight[k] = (float)(w[k] + part * change[k]);
}

static void sort_weights(int count, int32_t *sample, float *weight)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && weight[k] > weight[k - 1]; k--) {
            float w = weight[k];
            int32_t j = sample[k];
            weight[k] = weight[k - 1], sample[k] = sample[k - 1];
            weight[k - 1] = w, sample[k - 1] = j;
        }
}

static void weigh_element(const laplace *l, int e, float threshold, float *sum, int32_t *list,
                          pl_tet_weights *w)
{
    int count = 0, kept = 0;
    for (int a = 0; a < 4; a++) {
        int i = l->tets[4 * (size_t)e + a];
        for (int32_t p = l->entry_start[i]; p < l->entry_start[i + 1]; p++) {
            const entry *n = l->sorted + p;
            if (sum[n->sample] == 0)
                list[count++] = n->sample;
            sum[n->sample] += 0.25f * n->value;
        }
    }
    int32_t *sample = w->sample + (size_t)e * (size_t)w->cap;
    float *weight = w->weight + (size_t)e * (size_t)w->cap, total = 0;
    for (int left = count; left > 0 && kept < w->cap;) {
        int best = heaviest(list, left, sum);
        int32_t j = list[best];
        if (kept && sum[j] < threshold)
            break;
        sample[kept] = j;
        weight[kept++] = sum[j];
        total += sum[j];
        sum[j] = 0;
        list[best] = list[--left];
        list[left] = j;
    }
    for (int k = 0; k < count; k++)
        sum[list[k]] = 0;
    for (int k = 0; k < kept; k++)
        weight[k] /= total;
    if (kept > 1)
        linearise(l, e, kept, sample, weight);
    sort_weights(kept, sample, weight);
    for (int k = kept; k < w->cap; k++) {
        weight[k] = 0;
        sample[k] = sample[0];
    }
    w->count[e] = kept;
}

static bool weigh_elements(laplace *l, double threshold, pl_tet_weights *w)
{
    size_t cells = (size_t)l->tet_count * (size_t)w->cap;
    w->count = PL_NEW(l->memory, int32_t, l->tet_count);
    w->sample = PL_NEW(l->memory, int32_t, cells);
    w->weight = PL_NEW(l->memory, float, cells);
    float *sum = PL_NEW(l->memory, float, l->sample_count);
    int32_t *list = PL_NEW(l->memory, int32_t, l->sample_count);
    bool fine = w->count && w->sample && w->weight && sum && list;
    for (int e = 0; fine && e < l->tet_count; e++)
        weigh_element(l, e, (float)threshold, sum, list, w);
    for (int j = 0; fine && j < l->sample_count; j++) {
        size_t e = (size_t)l->sample[j];
        for (int k = 0; k < w->cap; k++) {
            w->sample[e * (size_t)w->cap + (size_t)k] = j;
            w->weight[e * (size_t)w->cap + (size_t)k] = k ? 0 : 1;
        }
        w->count[e] = 1;
    }
    pl_memory_free(l->memory, sum);
    pl_memory_free(l->memory, list);
    return fine;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static pl_status weigh(laplace *l, row_room *r, double threshold, pl_tet_weights *w)
{
    if (!number_vertices(l) || !row_room_make(l, r) || !graph_of_unknowns(l, r))
        return PL_ERROR_MEMORY;
    if (l->unknowns) {
        pl_status status =
            pl_symbolic_create(l->memory, l->unknowns, l->start, l->neighbour, NULL, &l->symbolic);
        if (status == PL_OK)
            status =
                pl_factor_create(l->memory, l->symbolic, l->diagonal, l->value, &l->factor, NULL);
        if (status != PL_OK)
            return status;
    }
    if (!solve_all(l, r) || !sort_entries(l) || !weigh_elements(l, threshold, w))
        return PL_ERROR_MEMORY;
    return PL_OK;
}

pl_status pl_tet_weigh(pl_memory *memory, int n, int tet_count, const int32_t *tets,
                       const double *edge, const double *centroid, int sample_count,
                       const int32_t *sample, double threshold, int cap, pl_tet_weights *weights)
{
    laplace l = {.memory = memory,
                 .n = n,
                 .tet_count = tet_count,
                 .sample_count = sample_count,
                 .tets = tets,
                 .sample = sample,
                 .edge = edge,
                 .centroid = centroid};
    row_room r = {0};
    *weights = (pl_tet_weights){.cap = cap};
    pl_status status = weigh(&l, &r, threshold, weights);
    row_room_free(&l, &r);
    pl_factor_destroy(memory, l.factor);
    pl_symbolic_destroy(memory, l.symbolic);
    void *blocks[] = {l.shared, l.unknown,     l.used,  l.start,   l.neighbour,   l.diagonal,
                      l.value,  l.touch_start, l.touch, l.entries, l.entry_start, l.sorted};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    if (status != PL_OK)
        pl_tet_weights_free(memory, weights);
    return status;
}

void pl_tet_weights_free(pl_memory *memory, pl_tet_weights *w)
{
    pl_memory_free(memory, w->count);
    pl_memory_free(memory, w->sample);
    pl_memory_free(memory, w->weight);
    *w = (pl_tet_weights){0};
}
