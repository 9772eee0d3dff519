/* The supernodal factor's life, and solving with it: every part forward on its own, with what it
   gives to the top in a border of its own; the top forward and backward, after adding the borders
   in order; every part backward again. */
#include "sparse/supernodal_parts.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "math/simd.h"

enum {
    FEW = 9,             /* right-hand sides; more are worth a row of lanes of their own */
    ALONE = 4,           /* numbers per row of one instance's vectors */
    LANES = 16,          /* right-hand sides of a wide group come in such portions */
    PIECE = 16384,       /* numbers of a block that a worker takes at a time */
    CORRECTIONS = 10,    /* at most */
    LARGEST_N = 30000000 /* so that indices of some multiples of n are ints */
};

extern const pl_supernodal_table pl_supernodal_table_w4, pl_supernodal_table_w8,
    pl_supernodal_table_w16;

#define TABLE(width) [PL_SIMD_PLACE(width)] = &pl_supernodal_table_w##width,

const pl_supernodal_table *pl_supernodal_table_of(int width)
{
    static const pl_supernodal_table *const tables[] = {PL_SIMD_EACH(TABLE)};
    return pl_simd_supports(width) ? tables[PL_SIMD_PLACE(width)] : NULL;
}

/* ---- Life ---- */

void pl_supernodal_destroy(pl_memory *memory, pl_supernodal *f)
{
    if (!f)
        return;
    void *blocks[] = {f->perm,      f->inverse,  f->fronts,     f->rows,   f->parts,
                      f->borders,   f->blocks,   f->block_rows, f->values, f->start,
                      f->neighbour, f->diagonal, f->value,      f};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

static bool copy_matrix(pl_memory *memory, pl_supernodal *f, const int *start, const int *neighbour,
                        const double *diagonal, const double *value)
{
    size_t n = (size_t)f->n, entries = (size_t)start[n];
    f->start = PL_NEW(memory, int, n + 1);
    f->neighbour = PL_NEW(memory, int, entries);
    f->diagonal = PL_NEW(memory, double, n);
    f->value = PL_NEW(memory, double, entries);
    if (!f->start || !f->neighbour || !f->diagonal || !f->value)
        return false;
    memcpy(f->start, start, (n + 1) * sizeof *start);
    if (entries) {
        memcpy(f->neighbour, neighbour, entries * sizeof *neighbour);
        memcpy(f->value, value, entries * sizeof *value);
    }
    if (n)
        memcpy(f->diagonal, diagonal, n * sizeof *diagonal);
    f->sizes.bytes += (n + 1) * sizeof *start + n * sizeof *diagonal +
                      entries * (sizeof *neighbour + sizeof *value);
    return true;
}

pl_status pl_supernodal_create(pl_memory *memory, int n, const int *start, const int *neighbour,
                               const double *diagonal, const double *value,
                               const double (*points)[3], pl_tasks *tasks, pl_supernodal **factor,
                               int *bad_node)
{
    *factor = NULL;
    if (bad_node)
        *bad_node = -1;
    if (n < 0 || n > LARGEST_N)
        return PL_ERROR_ARGUMENT;
    pl_supernodal *f = PL_NEW(memory, pl_supernodal, 1);
    if (!f)
        return PL_ERROR_MEMORY;
    f->n = n;
    f->table = pl_supernodal_table_of(pl_simd_width());
    pl_status status = pl_supernodal_analyse(memory, f, start, neighbour, points);
    if (status == PL_OK)
        status =
            pl_supernodal_factor(memory, f, start, neighbour, diagonal, value, tasks, bad_node);
    if (status == PL_OK && !copy_matrix(memory, f, start, neighbour, diagonal, value))
        status = PL_ERROR_MEMORY;
    if (status == PL_OK)
        *factor = f;
    else
        pl_supernodal_destroy(memory, f);
    return status;
}

pl_supernodal_sizes pl_supernodal_get_sizes(const pl_supernodal *f)
{
    return f->sizes;
}

/* ---- One group of instances ---- */

typedef struct group {
    const pl_supernodal *f;
    float *x; /* of the first right-hand side */
    ptrdiff_t stride;
    int numbers, lanes; /* right-hand sides; room for them in a row of the vectors */
    float *work;
} group;

static float *vectors_of(const group *g, const pl_part *part)
{
    return g->work + part->vectors * g->lanes;
}

static float *spare_of(const group *g, const pl_part *part)
{
    return g->work + part->temps * g->lanes;
}

static void load(const group *g, const pl_part *part, float *y)
{
    const int32_t *perm = g->f->perm + part->first;
    for (int k = 0; k < part->count; k++, y += g->lanes) {
        const float *from = g->x + perm[k] * g->stride;
        if (g->numbers == 3) {
            float row[ALONE] = {from[0], from[1], from[2], 0.0f};
            memcpy(y, row, sizeof row);
        } else {
            memcpy(y, from, (size_t)g->numbers * sizeof *y);
            memset(y + g->numbers, 0, (size_t)(g->lanes - g->numbers) * sizeof *y);
        }
    }
}

static void store(const group *g, const pl_part *part, const float *y)
{
    const int32_t *perm = g->f->perm + part->first;
    for (int k = 0; k < part->count; k++, y += g->lanes) {
        float *to = g->x + perm[k] * g->stride;
        if (g->numbers == 3)
            memcpy(to, y, 3 * sizeof *y);
        else
            memcpy(to, y, (size_t)g->numbers * sizeof *y);
    }
}

static void part_forward(const group *g, const pl_part *part)
{
    float *y = vectors_of(g, part);
    load(g, part, y);
    memset(y + (ptrdiff_t)part->count * g->lanes, 0,
           (size_t)part->border_count * (size_t)g->lanes * sizeof *y);
    g->f->table->forward_part(g->f, part, y, spare_of(g, part), g->lanes);
}

static void part_backward(const group *g, const pl_part *part)
{
    const pl_supernodal *f = g->f;
    const float *top = vectors_of(g, &f->parts[f->part_count - 1]);
    const int32_t *border = f->borders + part->border;
    size_t row = (size_t)g->lanes;
    float *y = vectors_of(g, part), *to = y + (ptrdiff_t)part->count * g->lanes;
    for (int i = 0; i < part->border_count; i++)
        memcpy(to + (size_t)i * row, top + (size_t)border[i] * row, row * sizeof *to);
    f->table->backward_part(f, part, y, spare_of(g, part), g->lanes);
    store(g, part, y);
}

static void add_borders(const group *g, float *top)
{
    const pl_supernodal *f = g->f;
    for (int p = 0; p < f->part_count - 1; p++) {
        const pl_part *part = &f->parts[p];
        const int32_t *border = f->borders + part->border;
        const float *from = vectors_of(g, part) + (ptrdiff_t)part->count * g->lanes;
        for (int i = 0; i < part->border_count; i++, from += g->lanes) {
            float *to = top + (ptrdiff_t)border[i] * g->lanes;
            for (int c = 0; c < g->lanes; c++)
                to[c] += from[c];
        }
    }
}

/* ---- The top, one instance, by all workers ---- */

typedef struct product {
    const pl_supernodal *f;
    const pl_block *block;
    const float *in;
    float *out;
    int per_piece; /* rows or columns, whole strips */
} product;

static void forward_task(void *context, int begin, int end, int worker)
{
    const product *p = context;
    (void)worker;
    p->f->table->forward(p->f->values + p->block->forward, p->block->width + p->block->below,
                         p->block->width, begin * p->per_piece, end * p->per_piece, p->in, p->out);
}

static void backward_task(void *context, int begin, int end, int worker)
{
    const product *p = context;
    (void)worker;
    p->f->table->backward(p->f->values + p->block->backward, p->block->width + p->block->below,
                          p->block->width, begin * p->per_piece, end * p->per_piece, p->in, p->out);
}

/* Strips of a block's rows or columns, `other` numbers to each. */
static void run_product(product *p, pl_task *task, int count, int other, pl_tasks *tasks)
{
    int strips = PIECE / PL_STRIP / (other > 0 ? other : 1);
    p->per_piece = PL_STRIP * (strips > 1 ? strips : 1);
    pl_tasks_run(tasks, task, p, (count + p->per_piece - 1) / p->per_piece, 1);
}

static void top_forward(const group *g, const pl_part *top, float *y, pl_tasks *tasks)
{
    const pl_supernodal *f = g->f;
    float *spare = spare_of(g, top);
    for (int b = top->block_begin; b < top->block_end; b++) {
        const pl_block *block = &f->blocks[b];
        const int32_t *below = f->block_rows + block->rows;
        float *own = y + (ptrdiff_t)block->first * ALONE;
        product p = {.f = f, .block = block, .in = own, .out = spare};
        run_product(&p, forward_task, block->width + block->below, block->width, tasks);
        memcpy(own, spare, (size_t)block->width * ALONE * sizeof *own);
        const float *from = spare + (ptrdiff_t)block->width * ALONE;
        for (int i = 0; i < block->below; i++)
            for (int c = 0; c < ALONE; c++)
                y[(ptrdiff_t)below[i] * ALONE + c] += from[(ptrdiff_t)i * ALONE + c];
    }
}

static void top_backward(const group *g, const pl_part *top, float *y, pl_tasks *tasks)
{
    const pl_supernodal *f = g->f;
    float *spare = spare_of(g, top), *out = spare + (ptrdiff_t)top->largest * ALONE;
    for (int b = top->block_end - 1; b >= top->block_begin; b--) {
        const pl_block *block = &f->blocks[b];
        const int32_t *below = f->block_rows + block->rows;
        float *own = y + (ptrdiff_t)block->first * ALONE;
        memcpy(spare, own, (size_t)block->width * ALONE * sizeof *own);
        for (int i = 0; i < block->below; i++)
            memcpy(spare + (ptrdiff_t)(block->width + i) * ALONE, y + (ptrdiff_t)below[i] * ALONE,
                   ALONE * sizeof *y);
        product p = {.f = f, .block = block, .in = spare, .out = out};
        run_product(&p, backward_task, block->width, block->width + block->below, tasks);
        memcpy(own, out, (size_t)block->width * ALONE * sizeof *own);
    }
}

static void solve_top(const group *g, pl_tasks *tasks)
{
    const pl_part *top = &g->f->parts[g->f->part_count - 1];
    float *y = vectors_of(g, top);
    load(g, top, y);
    add_borders(g, y);
    if (g->lanes == ALONE && pl_tasks_worker_count(tasks) > 1) {
        top_forward(g, top, y, tasks);
        top_backward(g, top, y, tasks);
    } else {
        g->f->table->forward_part(g->f, top, y, spare_of(g, top), g->lanes);
        g->f->table->backward_part(g->f, top, y, spare_of(g, top), g->lanes);
    }
    store(g, top, y);
}

/* ---- All groups ---- */

static void forward_parts_task(void *context, int begin, int end, int worker)
{
    const group *g = context;
    (void)worker;
    for (int p = begin; p < end; p++)
        part_forward(g, &g->f->parts[p]);
}

static void backward_parts_task(void *context, int begin, int end, int worker)
{
    const group *g = context;
    (void)worker;
    for (int p = begin; p < end; p++)
        part_backward(g, &g->f->parts[p]);
}

static void solve_group(group *g, pl_tasks *tasks)
{
    pl_tasks_run(tasks, forward_parts_task, g, g->f->part_count - 1, 1);
    solve_top(g, tasks);
    pl_tasks_run(tasks, backward_parts_task, g, g->f->part_count - 1, 1);
}

/* Right-hand sides do not know of each other, so they may be cut into groups anywhere: wide ones of
   48 while there are so many, or of 16 where there would be fewer groups than workers; the last
   few, which would leave most lanes empty, by threes. */
typedef struct solving {
    const pl_supernodal *f;
    float *x, *work;
    int count, unit; /* instances; right-hand sides of a wide group */
    int wide;        /* right-hand sides in wide groups */
} solving;

/* How many of the right-hand sides are solved by threes. */
static int few_of(int numbers)
{
    int rest = numbers % LANES;
    return rest > FEW ? 0 : rest;
}

static int round_lanes(int numbers)
{
    return (numbers + LANES - 1) / LANES * LANES;
}

static int wide_groups(const solving *s)
{
    return (s->wide + s->unit - 1) / s->unit;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static group get_group(const solving *s, int index)
{
    int wide = wide_groups(s), alone = index - wide;
    int first = index < wide ? index * s->unit : s->wide + 3 * alone;
    int numbers = index < wide ? least(s->unit, s->wide - first) : least(3, 3 * s->count - first);
    int64_t before = index < wide ? first : round_lanes(s->wide) + (int64_t)alone * ALONE;
    return (group){.f = s->f,
                   .x = s->x + first,
                   .stride = 3 * (ptrdiff_t)s->count,
                   .numbers = numbers,
                   .lanes = index < wide ? round_lanes(numbers) : ALONE,
                   .work = s->work + s->f->vector_rows * before};
}

static void groups_task(void *context, int begin, int end, int worker)
{
    const solving *s = context;
    (void)worker;
    for (int k = begin; k < end; k++) {
        group g = get_group(s, k);
        solve_group(&g, NULL);
    }
}

size_t pl_supernodal_work(const pl_supernodal *f, int count)
{
    int few = few_of(3 * count);
    size_t lanes = (size_t)round_lanes(3 * count - few) + (size_t)((few + 2) / 3 * ALONE);
    return (size_t)f->vector_rows * lanes;
}

void pl_supernodal_solve(const pl_supernodal *f, float *x, int count, float *work, pl_tasks *tasks)
{
    if (count <= 0)
        return;
    int workers = pl_tasks_worker_count(tasks), few = few_of(3 * count), alone = (few + 2) / 3;
    solving s = {f, x, work, count, 3 * PL_SIDE, 3 * count - few};
    /* A factor of several parts keeps the workers busy by itself. */
    if (wide_groups(&s) + alone < workers && f->part_count - 1 < workers)
        s.unit = LANES;
    int groups = wide_groups(&s) + alone;
    if (groups >= 2 && (groups >= workers || f->part_count - 1 < workers)) {
        pl_tasks_run(tasks, groups_task, &s, groups, 1);
        return;
    }
    for (int k = 0; k < groups; k++) {
        group g = get_group(&s, k);
        solve_group(&g, tasks);
    }
}

/* ---- In double ---- */

/* r = b − A x for one instance; returns the largest number of r. */
static double find_residual(const pl_supernodal *f, const double *b, const double *x, double *r)
{
    double largest = 0.0;
    for (int i = 0; i < f->n; i++) {
        double sum[3];
        for (int c = 0; c < 3; c++)
            sum[c] = b[3 * (ptrdiff_t)i + c] - f->diagonal[i] * x[3 * (ptrdiff_t)i + c];
        for (int p = f->start[i]; p < f->start[i + 1]; p++)
            for (int c = 0; c < 3; c++)
                sum[c] -= f->value[p] * x[3 * (ptrdiff_t)f->neighbour[p] + c];
        for (int c = 0; c < 3; c++) {
            r[3 * (ptrdiff_t)i + c] = sum[c];
            largest = fabs(sum[c]) > largest ? fabs(sum[c]) : largest;
        }
    }
    return largest;
}

static void correct(const pl_supernodal *f, const double *b, double *x, double *r, float *d,
                    float *work, pl_tasks *tasks)
{
    ptrdiff_t numbers = 3 * (ptrdiff_t)f->n;
    double before = INFINITY, largest = find_residual(f, b, x, r);
    for (int k = 0; k < CORRECTIONS && largest > 0.0 && largest < 0.5 * before; k++) {
        /* Scaled to ones: floats neither overflow nor vanish. */
        double scale = largest;
        for (ptrdiff_t i = 0; i < numbers; i++)
            d[i] = (float)(r[i] / scale);
        pl_supernodal_solve(f, d, 1, work, tasks);
        for (ptrdiff_t i = 0; i < numbers; i++)
            x[i] += scale * (double)d[i];
        before = largest;
        largest = find_residual(f, b, x, r);
    }
}

size_t pl_supernodal_work_double(const pl_supernodal *f, int count)
{
    (void)count;
    size_t numbers = 3 * (size_t)f->n, floats = pl_supernodal_work(f, 1) + 16 + numbers;
    return 3 * numbers + floats / 2 + 16;
}

void pl_supernodal_solve_double(const pl_supernodal *f, double *x, int count, double *work,
                                pl_tasks *tasks)
{
    ptrdiff_t numbers = 3 * (ptrdiff_t)f->n;
    size_t solve = (pl_supernodal_work(f, 1) + 15) / 16 * 16;
    float *floats = (float *)work, *d = floats + solve;
    double *b = work + (solve + (size_t)numbers + 1) / 2, *y = b + numbers, *r = y + numbers;
    for (int k = 0; k < count; k++) {
        for (ptrdiff_t i = 0; i < numbers; i++) {
            b[i] = x[(i / 3 * count + k) * 3 + i % 3];
            y[i] = 0.0;
        }
        correct(f, b, y, r, d, floats, tasks);
        for (ptrdiff_t i = 0; i < numbers; i++)
            x[(i / 3 * count + k) * 3 + i % 3] = y[i];
    }
}
