/* Numeric LDLᵀ by runs of columns with equal patterns (supernodes), left-looking: each run first
   collects what earlier runs subtract from it, then is factored as a small dense trapezoid. All
   inner loops run over consecutive entries of the column form, and every entry receives its terms
   in one fixed order, so the bits do not depend on the compiler. */
#include "sparse/factor.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NONE = -1, CHUNK = 4, BLOCK = 3 };

/* A pivot this small against its diagonal entry is rounding error. */
#define PIVOT_TOLERANCE (64.0 * DBL_EPSILON)

/* ---- Runs of columns ---- */

/* Rows of a run are counted locally: 0 … width−1 are its own pivots, then come the rows below in
   ascending order. */
typedef struct run {
    int first, end, width;
    int below;           /* rows below the run */
    const int32_t *rows; /* [below] their pivots */
} run;

typedef struct workspace {
    double *d;      /* [n] pivots, begun as the diagonal of the matrix */
    double *sum;    /* [n] what one run adds to one column */
    int32_t *local; /* [n] pivot -> local row of the run being factored */
    int32_t
        *target;   /* [n] row of the run being subtracted -> local row of the run being factored */
    int32_t *head; /* [super_count] runs to be subtracted from this one, linked by `next` */
    int32_t *next; /* [super_count] */
    int32_t *done; /* [super_count] how many of its rows a run has been subtracted from */
} workspace;

static run get_run(const pl_symbolic *s, int index)
{
    int first = s->super_start[index], end = s->super_start[index + 1];
    int64_t from = s->col_start[end - 1], to = s->col_start[end];
    return (run){first, end, end - first, (int)(to - from), s->col_index + from};
}

/* Where local row 0 of column c of a run would stand in the column form; rows after c itself are
   really there. */
static inline int64_t column_base(const pl_symbolic *s, int first, int c)
{
    return s->col_start[c] - (c - first) - 1;
}

/* ---- Dense kernels ---- */

/* out[i] −= a[i] f */
static void subtract_1(double *restrict out, const double *restrict a, double f, int count)
{
    for (int i = 0; i < count; i++)
        out[i] -= a[i] * f;
}

/* out[i] −= Σ_{k<4} a_k[i] f[k] */
static void subtract_4(double *restrict out, const double *const a[4], const double f[4], int count)
{
    const double *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
    double f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];
    for (int i = 0; i < count; i++)
        out[i] -= (a0[i] * f0 + a1[i] * f1) + (a2[i] * f2 + a3[i] * f3);
}

/* out[i] −= Σ_{first ≤ c < end} L[from + i, c] D_c L[row, c], with local rows of the run that
   begins at `first`. */
static void subtract_columns(double *out, const pl_factor *f, const double *d, int first, int end,
                             int row, int from, int count)
{
    const double *values = f->col_values;
    int c = first;
    for (; c + 4 <= end; c += 4) {
        const double *a[4];
        double by[4];
        for (int k = 0; k < 4; k++) {
            int64_t base = column_base(f->symbolic, first, c + k);
            a[k] = values + (base + from);
            by[k] = values[base + row] * d[c + k];
        }
        subtract_4(out, a, by, count);
    }
    for (; c < end; c++) {
        int64_t base = column_base(f->symbolic, first, c);
        subtract_1(out, values + (base + from), values[base + row] * d[c], count);
    }
}

/* ---- Numeric factorisation ---- */

/* Queues a run at the one that holds its next row. */
static void enqueue(const pl_symbolic *s, workspace *w, int index, const run *r)
{
    if (w->done[index] >= r->below)
        return;
    int holder = s->super_of[r->rows[w->done[index]]];
    w->next[index] = w->head[holder];
    w->head[holder] = index;
}

/* Subtracts run `a` from column j of run `to`; row t of a is j. */
static void subtract_from_column(const pl_factor *f, workspace *w, const run *a, const run *to,
                                 int t, int j)
{
    int count = a->below - t;
    double *sum = w->sum;
    memset(sum, 0, (size_t)count * sizeof *sum);
    subtract_columns(sum, f, w->d, a->first, a->end, a->width + t, a->width + t, count);
    w->d[j] += sum[0];
    int64_t base = column_base(f->symbolic, to->first, j);
    for (int i = 1; i < count; i++)
        f->col_values[base + w->target[t + i]] += sum[i];
}

/* The same for a run of a single column, as most are in chains, trees and sparse graphs: nothing to
   add up first. */
static void subtract_single(const pl_factor *f, workspace *w, const run *a, const run *to, int t,
                            int j)
{
    const double *column = f->col_values + f->symbolic->col_start[a->first];
    double by = column[t] * w->d[a->first];
    w->d[j] -= column[t] * by;
    int64_t base = column_base(f->symbolic, to->first, j);
    for (int i = t + 1; i < a->below; i++)
        f->col_values[base + w->target[i]] -= column[i] * by;
}

/* Subtracts from run `to` all earlier runs that reach it. */
static void collect(const pl_factor *f, workspace *w, int index, const run *to)
{
    const pl_symbolic *s = f->symbolic;
    for (int k = 0; k < to->width; k++)
        w->local[to->first + k] = k;
    for (int k = 0; k < to->below; k++)
        w->local[to->rows[k]] = to->width + k;
    for (int from = w->head[index]; from != NONE;) {
        int following = w->next[from];
        run a = get_run(s, from);
        int t = w->done[from];
        for (int i = t; i < a.below; i++)
            w->target[i] = w->local[a.rows[i]];
        for (; t < a.below && a.rows[t] < to->end; t++) {
            if (a.width == 1)
                subtract_single(f, w, &a, to, t, a.rows[t]);
            else
                subtract_from_column(f, w, &a, to, t, a.rows[t]);
        }
        w->done[from] = t;
        enqueue(s, w, from, &a);
        from = following;
    }
}

/* Factors a run that has collected everything from outside. Returns the pivot that failed, or NONE.
 */
static int factor_run(pl_factor *f, workspace *w, const run *r, const double *diagonal)
{
    const pl_symbolic *s = f->symbolic;
    int rows = r->width + r->below;
    for (int j = r->first; j < r->end; j++) {
        int t = j - r->first;
        double *column = f->col_values + s->col_start[j];
        for (int c = r->first; c < j; c++) {
            double value = f->col_values[column_base(s, r->first, c) + t];
            w->d[j] -= value * (value * w->d[c]);
        }
        subtract_columns(column, f, w->d, r->first, j, t, t + 1, rows - t - 1);
        double inverse = 1.0 / w->d[j];
        if (!(w->d[j] > PIVOT_TOLERANCE * diagonal[s->perm[j]]) || !(inverse > 0.0) ||
            !isfinite(inverse))
            return j;
        f->inverse_d[j] = inverse;
        for (int i = 0; i < rows - t - 1; i++)
            column[i] *= inverse;
    }
    return NONE;
}

static int factor_all(pl_factor *f, workspace *w, const double *diagonal)
{
    const pl_symbolic *s = f->symbolic;
    for (int k = 0; k < s->super_count; k++)
        w->head[k] = NONE;
    for (int k = 0; k < s->super_count; k++) {
        run r = get_run(s, k);
        collect(f, w, k, &r);
        int failed = factor_run(f, w, &r, diagonal);
        if (failed != NONE)
            return failed;
        enqueue(s, w, k, &r);
    }
    return NONE;
}

static void load_matrix(pl_factor *f, workspace *w, const double *diagonal, const double *value)
{
    const pl_symbolic *s = f->symbolic;
    for (int k = 0; k < s->n; k++)
        w->d[k] = diagonal[s->perm[k]];
    for (int64_t p = 0; p < 2 * (int64_t)s->edge_count; p++)
        if (s->entry[p] >= 0)
            f->col_values[s->entry[p]] = value[p];
}

static void copy_rows_and_round(pl_factor *f)
{
    const pl_symbolic *s = f->symbolic;
    for (int64_t p = 0; p < s->nnz; p++)
        f->row_values[p] = f->col_values[s->row_to_col[p]];
    for (int64_t p = 0; p < s->nnz; p++)
        f->row_values_f[p] = (float)f->row_values[p];
    for (int64_t p = 0; p < s->nnz; p++)
        f->col_values_f[p] = (float)f->col_values[p];
    for (int k = 0; k < s->n; k++)
        f->inverse_d_f[k] = (float)f->inverse_d[k];
}

/* ---- Memory ---- */

/* One block for all of it, doubles first: small bodies feel every allocation. */
static bool workspace_alloc(pl_memory *memory, const pl_symbolic *s, workspace *w)
{
    size_t n = (size_t)s->n, runs = (size_t)s->super_count;
    size_t doubles = 2 * n, integers = 2 * n + 3 * runs;
    w->d = PL_NEW(memory, double, doubles + integers / 2 + 1);
    if (!w->d)
        return false;
    w->sum = w->d + n;
    w->local = (int32_t *)(w->d + doubles);
    w->target = w->local + n;
    w->head = w->target + n;
    w->next = w->head + runs;
    w->done = w->next + runs;
    return true;
}

static bool factor_alloc(pl_memory *memory, pl_factor *f)
{
    int n = f->symbolic->n;
    int64_t nnz = f->symbolic->nnz;
    f->row_values = PL_NEW(memory, double, nnz);
    f->col_values = PL_NEW(memory, double, nnz);
    f->inverse_d = PL_NEW(memory, double, n);
    f->row_values_f = PL_NEW(memory, float, nnz);
    f->col_values_f = PL_NEW(memory, float, nnz);
    f->inverse_d_f = PL_NEW(memory, float, n);
    return f->row_values && f->col_values && f->inverse_d && f->row_values_f && f->col_values_f &&
           f->inverse_d_f;
}

void pl_factor_destroy(pl_memory *memory, pl_factor *f)
{
    if (!f)
        return;
    void *blocks[] = {f->row_values,
                      f->col_values,
                      f->inverse_d,
                      f->row_values_f,
                      f->col_values_f,
                      f->inverse_d_f,
                      f};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

pl_status pl_factor_create(pl_memory *memory, const pl_symbolic *symbolic, const double *diagonal,
                           const double *value, pl_factor **factor, int *bad_node)
{
    *factor = NULL;
    if (bad_node)
        *bad_node = NONE;
    pl_factor *f = PL_NEW(memory, pl_factor, 1);
    if (!f)
        return PL_ERROR_MEMORY;
    f->symbolic = symbolic;
    workspace w = {0};
    pl_status status = PL_ERROR_MEMORY;
    if (factor_alloc(memory, f) && workspace_alloc(memory, symbolic, &w)) {
        load_matrix(f, &w, diagonal, value);
        int failed = factor_all(f, &w, diagonal);
        status = failed == NONE ? PL_OK : PL_ERROR_ARGUMENT;
        if (failed != NONE && bad_node)
            *bad_node = symbolic->perm[failed];
    }
    pl_memory_free(memory, w.d);
    if (status == PL_OK) {
        copy_rows_and_round(f);
        *factor = f;
    } else {
        pl_factor_destroy(memory, f);
    }
    return status;
}

/* ---- Solving ---- */

/* Both passes take up to BLOCK columns of a run at a time, which share their rows below the block:
   an index is read once for all of them. They are inlined with constant sizes. The order of the
   operations on one right-hand side depends on the pattern only, never on how many are solved
   together. */
#define INLINE static inline __attribute__((always_inline))

/* Subtracts columns c … c + block − 1 times their solution from all later rows. */
INLINE void forward_block(const pl_factor *f, double *y, int width, int block, int c)
{
    const pl_symbolic *s = f->symbolic;
    const double *value[BLOCK];
    double x[BLOCK][CHUNK];
    for (int b = 0; b < block; b++) {
        const double *column = f->col_values + s->col_start[c + b];
        value[b] = column + (block - 1 - b);
        for (int w = 0; w < width; w++) {
            x[b][w] = y[(ptrdiff_t)(c + b) * width + w];
            for (int a = 0; a < b; a++)
                x[b][w] -= f->col_values[s->col_start[c + a] + (b - a - 1)] * x[a][w];
            y[(ptrdiff_t)(c + b) * width + w] = x[b][w];
        }
    }
    const int32_t *row = s->col_index + s->col_start[c + block - 1];
    int count = (int)(s->col_start[c + block] - s->col_start[c + block - 1]);
    for (int i = 0; i < count; i++) {
        double *out = y + (ptrdiff_t)row[i] * width;
        for (int w = 0; w < width; w++) {
            double sum = value[0][i] * x[0][w];
            for (int b = 1; b < block; b++)
                sum += value[b][i] * x[b][w];
            out[w] -= sum;
        }
    }
}

/* Finishes columns c … c + block − 1 from all later rows. A lone column adds up in two halves,
   which halves the waiting of one addition for another. */
INLINE void backward_block(const pl_factor *f, double *y, int width, int block, int c)
{
    const pl_symbolic *s = f->symbolic;
    const double *value[BLOCK];
    double sum[BLOCK][CHUNK] = {{0}}, odd[CHUNK] = {0};
    for (int b = 0; b < block; b++)
        value[b] = f->col_values + s->col_start[c + b] + (block - 1 - b);
    const int32_t *row = s->col_index + s->col_start[c + block - 1];
    int count = (int)(s->col_start[c + block] - s->col_start[c + block - 1]), i = 0;
    for (; block == 1 && i + 1 < count; i += 2) {
        for (int w = 0; w < width; w++) {
            sum[0][w] += value[0][i] * y[(ptrdiff_t)row[i] * width + w];
            odd[w] += value[0][i + 1] * y[(ptrdiff_t)row[i + 1] * width + w];
        }
    }
    for (; i < count; i++)
        for (int b = 0; b < block; b++)
            for (int w = 0; w < width; w++)
                sum[b][w] += value[b][i] * y[(ptrdiff_t)row[i] * width + w];
    for (int b = block - 1; b >= 0; b--) {
        for (int w = 0; w < width; w++) {
            double *out = y + (ptrdiff_t)(c + b) * width + w;
            double total = block == 1 ? sum[b][w] + odd[w] : sum[b][w];
            for (int a = b + 1; a < block; a++)
                total += f->col_values[s->col_start[c + b] + (a - b - 1)] *
                         out[(ptrdiff_t)(a - b) * width];
            *out = *out * f->inverse_d[c + b] - total;
        }
    }
}

/* Solves for `width` interleaved right-hand sides in pivot order. */
INLINE void solve_pivots(const pl_factor *f, double *y, int width)
{
    const pl_symbolic *s = f->symbolic;
    for (int k = 0; k < s->super_count; k++) {
        int c = s->super_start[k], end = s->super_start[k + 1];
        for (; c + BLOCK <= end; c += BLOCK)
            forward_block(f, y, width, BLOCK, c);
        if (end - c == 2)
            forward_block(f, y, width, 2, c);
        else if (end - c == 1)
            forward_block(f, y, width, 1, c);
    }
    for (int k = s->super_count - 1; k >= 0; k--) {
        int first = s->super_start[k], c = s->super_start[k + 1];
        for (; c - BLOCK >= first; c -= BLOCK)
            backward_block(f, y, width, BLOCK, c - BLOCK);
        if (c - first == 2)
            backward_block(f, y, width, 2, first);
        else if (c - first == 1)
            backward_block(f, y, width, 1, first);
    }
}

static void solve_chunk(const pl_factor *f, double *x, int width, ptrdiff_t stride, double *y)
{
    const pl_symbolic *s = f->symbolic;
    for (int k = 0; k < s->n; k++)
        for (int c = 0; c < width; c++)
            y[(ptrdiff_t)k * width + c] = x[s->perm[k] * stride + c];
    switch (width) {
    case 1:
        solve_pivots(f, y, 1);
        break;
    case 2:
        solve_pivots(f, y, 2);
        break;
    case 3:
        solve_pivots(f, y, 3);
        break;
    default:
        solve_pivots(f, y, CHUNK);
        break;
    }
    for (int k = 0; k < s->n; k++)
        for (int c = 0; c < width; c++)
            x[s->perm[k] * stride + c] = y[(ptrdiff_t)k * width + c];
}

void pl_factor_solve(const pl_factor *factor, double *x, int count, ptrdiff_t stride, double *work)
{
    for (int c = 0; c < count; c += CHUNK)
        solve_chunk(factor, x + c, count - c < CHUNK ? count - c : CHUNK, stride, work);
}

/* y = Pᵀ L D Lᵀ P x. Ascending, a pivot reads only later ones; descending, only earlier ones: both
   passes are in place. */
void pl_factor_multiply(const pl_factor *factor, const double *x, double *y, double *work)
{
    const pl_symbolic *s = factor->symbolic;
    for (int k = 0; k < s->n; k++)
        work[k] = x[s->perm[k]];
    for (int k = 0; k < s->n; k++) {
        double sum = work[k];
        for (int64_t p = s->col_start[k]; p < s->col_start[k + 1]; p++)
            sum += factor->col_values[p] * work[s->col_index[p]];
        work[k] = sum / factor->inverse_d[k];
    }
    for (int k = s->n - 1; k >= 0; k--) {
        double sum = work[k];
        for (int64_t p = s->row_start[k]; p < s->row_start[k + 1]; p++)
            sum += factor->row_values[p] * work[s->row_index[p]];
        work[k] = sum;
    }
    for (int k = 0; k < s->n; k++)
        y[s->perm[k]] = work[k];
}

/* ---- Condition ---- */

/* Takes out the mean if asked, scales to length one and returns the length before. */
static double normalise(int n, double *v, bool without_constant)
{
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        mean += v[i];
    mean = without_constant ? mean / n : 0.0;
    for (int i = 0; i < n; i++) {
        v[i] -= mean;
        square += v[i] * v[i];
    }
    double length = sqrt(square);
    for (int i = 0; i < n && length > 0.0; i++)
        v[i] /= length;
    return length;
}

/* A start that is smooth in no numbering: a multiplicative sequence of the golden ratio. */
static void start_vector(int n, double *v)
{
    for (int i = 0; i < n; i++)
        v[i] = (double)((uint32_t)(i + 1) * 2654435769u) / 2147483648.0 - 1.0;
}

double pl_factor_condition(const pl_factor *factor, bool without_constant, double *work)
{
    enum { ITERATIONS = 8 };
    int n = factor->symbolic->n;
    double *v = work, *scratch = work + n;
    double largest = 0.0, smallest_inverse = 0.0;
    start_vector(n, v);
    if (!(normalise(n, v, without_constant) > 0.0))
        return 1.0;
    for (int i = 0; i < ITERATIONS; i++) {
        pl_factor_multiply(factor, v, v, scratch);
        largest = normalise(n, v, without_constant);
    }
    start_vector(n, v);
    normalise(n, v, without_constant);
    for (int i = 0; i < ITERATIONS; i++) {
        pl_factor_solve(factor, v, 1, 1, scratch);
        smallest_inverse = normalise(n, v, without_constant);
    }
    double condition = largest * smallest_inverse;
    return condition > 1.0 ? condition : 1.0;
}
