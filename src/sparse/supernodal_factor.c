/* The numbers, front by front (multifrontal): a front is a dense square of its columns and the rows
   below. It begins as the matrix's entries and what its children leave, its columns are factored a
   block at a time, and what is then left of its rows below goes to its parent. Parts are factored
   side by side, then the top front after front, each by all workers. */
#include "sparse/supernodal_parts.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { NONE = -1, SIDE = PL_BLOCK_COLUMNS, SPARE = 2 * PL_TILE_ROWS * SIDE };

/* A pivot this small against its diagonal entry is rounding error: sums have up to n terms. */
static double pivot_tolerance(int n)
{
    return (64.0 + n) * DBL_EPSILON;
}

typedef struct workspace {
    double *memory;
    double *front, *stack;
    double *l, *x, *x_rows, *x_columns, *panel;
    int32_t *local; /* [n] pivot -> row of the front */
} workspace;

typedef struct factoring {
    pl_supernodal *f;
    const int *start, *neighbour;
    const double *diagonal, *value;
    double *kept, *spare;
    workspace *work; /* one per worker */
    int32_t *failed; /* [part_count] the pivot that failed, or NONE */
} factoring;

/* ---- Filling a front ---- */

static int64_t stride_of(const factoring *a, int rows)
{
    int tile = a->f->table->tile_rows;
    return ((int64_t)rows + tile - 1) / tile * tile + tile;
}

static void add_matrix(const factoring *a, const workspace *w, const pl_front *front,
                       int64_t stride)
{
    const pl_supernodal *f = a->f;
    for (int c = 0; c < front->width; c++) {
        int pivot = front->first + c, node = f->perm[pivot];
        double *column = w->front + stride * c;
        column[c] = a->diagonal[node];
        for (int p = a->start[node]; p < a->start[node + 1]; p++) {
            int row = f->inverse[a->neighbour[p]];
            if (row > pivot)
                column[w->local[row]] = a->value[p];
        }
    }
}

static void add_child(const factoring *a, const workspace *w, const pl_front *child, int64_t stride)
{
    const int32_t *rows = a->f->rows + child->rows;
    const double *from = (child->is_kept ? a->kept : w->stack) + child->update;
    for (int c = 0; c < child->below; c++) {
        double *column = w->front + stride * w->local[rows[c]];
        const double *update = from + (int64_t)c * child->below;
        for (int i = c; i < child->below; i++)
            column[w->local[rows[i]]] += update[i];
    }
}

static void fill_front(const factoring *a, const workspace *w, const pl_front *front,
                       int64_t stride)
{
    const pl_supernodal *f = a->f;
    memset(w->front, 0, (size_t)(stride * stride) * sizeof *w->front);
    for (int c = 0; c < front->width; c++)
        w->local[front->first + c] = c;
    for (int i = 0; i < front->below; i++)
        w->local[f->rows[front->rows + i]] = front->width + i;
    add_matrix(a, w, front, stride);
    for (int c = front->child; c != NONE; c = f->fronts[c].sibling)
        add_child(a, w, &f->fronts[c], stride);
}

/* ---- Factoring a front ---- */

typedef struct step {
    const pl_supernodal_table *table;
    const pl_dense *dense;
} step;

static void rows_task(void *context, int begin, int end, int worker)
{
    const step *s = context;
    s->table->rows(s->dense, begin, end, worker);
}

static void rest_task(void *context, int begin, int end, int worker)
{
    const step *s = context;
    (void)worker;
    s->table->rest(s->dense, begin, end);
}

/* The numbers of a block's own triangle: its inverse. */
static bool write_triangle(const pl_dense *d)
{
    bool finite = true;
    for (pl_strip s = pl_strip_at(0, d->rows); s.size && s.begin < d->width;
         s = pl_strip_at(s.begin + s.size, d->rows)) {
        float *out = d->forward + pl_forward_floats(d->rows, d->width, s.begin);
        for (int c = 0; c < pl_strip_columns(s, d->width); c++)
            for (int i = 0; i < s.size && s.begin + i < d->width; i++)
                if (s.begin + i >= c)
                    out[c * s.size + i] = (float)d->x[c * SIDE + s.begin + i];
    }
    for (pl_strip s = pl_strip_at(0, d->width); s.size;
         s = pl_strip_at(s.begin + s.size, d->width)) {
        float *out = d->backward + pl_backward_floats(d->rows, d->width, s.begin);
        for (int i = s.begin; i < d->width; i++)
            for (int c = 0; c < s.size && s.begin + c <= i; c++)
                out[(i - s.begin) * s.size + c] = (float)d->x[(s.begin + c) * SIDE + i];
    }
    for (int c = 0; c < d->width; c++) {
        float inverse = (float)d->x[c * SIDE + c];
        finite = finite && inverse > 0.0f && isfinite(inverse);
    }
    return finite;
}

static int factor_block(const factoring *a, int worker, const pl_front *front, int begin,
                        const pl_block *block, int64_t stride, pl_tasks *tasks)
{
    const workspace *w = &a->work[worker];
    const pl_supernodal *f = a->f;
    const pl_supernodal_table *table = f->table;
    double least[SIDE];
    for (int c = 0; c < block->width; c++)
        least[c] = pivot_tolerance(f->n) * a->diagonal[f->perm[front->first + begin + c]];
    pl_dense d = {.f = w->front + begin * (stride + 1),
                  .stride = stride,
                  .rows = block->width + block->below,
                  .width = block->width,
                  .l = w->l,
                  .x = w->x,
                  .x_rows = w->x_rows,
                  .x_columns = w->x_columns,
                  .panel = w->panel,
                  /* Alone, the pieces think that they are worker 0. */
                  .spare = a->spare + (tasks ? 0 : worker * SPARE),
                  .forward = f->values + block->forward,
                  .backward = f->values + block->backward};
    int failed = table->triangle(&d, least);
    if (failed == NONE && !write_triangle(&d))
        failed = 0;
    if (failed != NONE)
        return front->first + begin + failed;
    int tiles = (block->below + table->tile_rows - 1) / table->tile_rows;
    step s = {table, &d};
    pl_tasks_run(tasks, rows_task, &s, tiles, 4);
    /* The first columns have the most rows: small pieces, taken from the left. */
    pl_tasks_run(tasks, rest_task, &s, tiles, 1);
    return NONE;
}

static int factor_front(const factoring *a, int worker, int index, pl_tasks *tasks)
{
    const pl_supernodal *f = a->f;
    const workspace *w = &a->work[worker];
    const pl_front *front = &f->fronts[index];
    int64_t stride = stride_of(a, front->width + front->below);
    fill_front(a, w, front, stride);
    for (int begin = 0, b = front->block; begin < front->width; b++) {
        int failed = factor_block(a, worker, front, begin, &f->blocks[b], stride, tasks);
        if (failed != NONE)
            return failed;
        begin += f->blocks[b].width;
    }
    double *to = (front->is_kept ? a->kept : w->stack) + front->update;
    for (int c = 0; c < front->below; c++)
        memcpy(to + (int64_t)c * front->below + c, w->front + (front->width + c) * (stride + 1),
               (size_t)(front->below - c) * sizeof *to);
    return NONE;
}

static int factor_part(const factoring *a, int worker, int index, pl_tasks *tasks)
{
    const pl_part *part = &a->f->parts[index];
    for (int k = part->front_begin; k < part->front_end; k++) {
        int failed = factor_front(a, worker, k, tasks);
        if (failed != NONE)
            return failed;
    }
    return NONE;
}

static void part_task(void *context, int begin, int end, int worker)
{
    const factoring *a = context;
    for (int p = begin; p < end; p++)
        a->failed[p] = factor_part(a, worker, p, NULL);
}

/* ---- Memory ---- */

/* Worker 0 also factors the top. */
static bool workspace_alloc(pl_memory *memory, const pl_supernodal *f, workspace *w, bool with_top)
{
    int64_t area = 0, stack = 0, panel = ((int64_t)f->largest + 2 * PL_TILE_ROWS) * SIDE;
    for (int p = 0; p < f->part_count - !with_top; p++) {
        area = f->parts[p].area > area ? f->parts[p].area : area;
        stack = f->parts[p].stack > stack ? f->parts[p].stack : stack;
    }
    /* Whole cache lines each, so that tiles are aligned. */
    area = (area + 7) & ~(int64_t)7;
    stack = (stack + 7) & ~(int64_t)7;
    w->memory = PL_NEW(memory, double, area + stack + panel + 4 * SIDE * (SIDE + PL_TILE_COLUMNS));
    w->local = PL_NEW(memory, int32_t, f->n);
    if (!w->memory || !w->local)
        return false;
    w->front = w->memory;
    w->stack = w->front + area;
    w->panel = w->stack + stack;
    w->l = w->panel + panel;
    w->x = w->l + SIDE * SIDE;
    w->x_rows = w->x + SIDE * SIDE;
    w->x_columns = w->x_rows + SIDE * (SIDE + PL_TILE_COLUMNS);
    return true;
}

static bool factoring_alloc(pl_memory *memory, factoring *a, int workers)
{
    a->work = PL_NEW(memory, workspace, workers);
    a->failed = PL_NEW(memory, int32_t, a->f->part_count);
    a->kept = PL_NEW(memory, double, a->f->kept);
    a->spare = PL_NEW(memory, double, (size_t)workers *SPARE);
    bool ok = a->work && a->failed && a->kept && a->spare;
    for (int k = 0; ok && k < workers; k++)
        ok = workspace_alloc(memory, a->f, &a->work[k], k == 0);
    return ok;
}

static void factoring_free(pl_memory *memory, factoring *a, int workers)
{
    for (int k = 0; a->work && k < workers; k++) {
        pl_memory_free(memory, a->work[k].memory);
        pl_memory_free(memory, a->work[k].local);
    }
    pl_memory_free(memory, a->work);
    pl_memory_free(memory, a->failed);
    pl_memory_free(memory, a->kept);
    pl_memory_free(memory, a->spare);
}

pl_status pl_supernodal_factor(pl_memory *memory, pl_supernodal *f, const int *start,
                               const int *neighbour, const double *diagonal, const double *value,
                               pl_tasks *tasks, int *bad_node)
{
    int workers = pl_tasks_worker_count(tasks), failed = NONE;
    factoring a = {
        .f = f, .start = start, .neighbour = neighbour, .diagonal = diagonal, .value = value};
    pl_status status = PL_ERROR_MEMORY;
    if (factoring_alloc(memory, &a, workers)) {
        int top = f->part_count - 1;
        pl_tasks_run(tasks, part_task, &a, top, 1);
        for (int p = top - 1; p >= 0; p--)
            failed = a.failed[p] != NONE ? a.failed[p] : failed;
        if (failed == NONE)
            failed = factor_part(&a, 0, top, tasks);
        if (failed != NONE && bad_node)
            *bad_node = f->perm[failed];
        status = failed == NONE ? PL_OK : PL_ERROR_ARGUMENT;
    }
    factoring_free(memory, &a, workers);
    return status;
}
