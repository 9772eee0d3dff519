/* The matrix of tetrahedral matter, A = M + 2h² Σ V (μ + W) G Gᵀ, and its factor. */
#include "base/error.h"
#include "matter/tetrahedral_build.h"

static bool touch_elements(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    d->touch_start = PL_TET_TAKE(s->memory, int32_t, s->n + 2, fine);
    d->touch = PL_TET_TAKE(s->memory, int32_t, 4 * (size_t)s->tet_count, fine);
    if (!fine)
        return false;
    int32_t *cursor = d->touch_start + 1;
    for (ptrdiff_t k = 0; k < 4 * (ptrdiff_t)s->tet_count; k++)
        cursor[s->tets[k] + 1]++;
    for (int i = 0; i < s->n; i++)
        cursor[i + 1] += cursor[i];
    for (ptrdiff_t k = 0; k < 4 * (ptrdiff_t)s->tet_count; k++)
        d->touch[cursor[s->tets[k]]++] = (int32_t)k;
    return true;
}

/* The matrix by rows of unknowns; neighbours may be fixed. */
typedef struct matrix {
    int *start; /* [unknowns + 1] */
    int32_t *row;
    double *value, *diagonal;
    int32_t *slot; /* [rows] */
} matrix;

static int count_neighbours(const pl_tet_draft *d, matrix *m, int row, int filled, bool fill)
{
    const pl_tet_system *s = d->s;
    int node = s->node_of[row], first = filled;
    double diagonal = (double)s->mass[row];
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++) {
        int e = d->touch[p] / 4, a = d->touch[p] % 4;
        double weight = pl_tet_weight_of(s, e, s->mu[e] + s->bulk[e]);
        diagonal += weight * pl_tet_product_of(s, e, a, a);
        for (int b = 0; b < 4; b++) {
            int32_t other = s->row_of[s->tets[4 * (ptrdiff_t)e + b]];
            if (b == a)
                continue;
            if (m->slot[other] < first) {
                m->slot[other] = filled;
                if (fill)
                    m->row[filled] = other;
                filled++;
            }
            if (fill)
                m->value[m->slot[other]] += weight * pl_tet_product_of(s, e, a, b);
        }
    }
    m->diagonal[row] = diagonal;
    return filled;
}

static bool fill_matrix(const pl_tet_draft *d, matrix *m)
{
    const pl_tet_system *s = d->s;
    bool fine = true;
    m->start = PL_TET_TAKE(s->memory, int, s->unknowns + 1, fine);
    m->diagonal = PL_TET_TAKE(s->memory, double, s->unknowns, fine);
    m->slot = PL_TET_TAKE(s->memory, int32_t, s->rows, fine);
    for (int pass = 0; fine && pass < 2; pass++) {
        int filled = 0;
        for (int row = 0; row < s->rows; row++)
            m->slot[row] = -1;
        for (int row = 0; row < s->unknowns; row++)
            m->start[row + 1] = filled = count_neighbours(d, m, row, filled, pass == 1);
        if (pass == 0) {
            m->row = PL_TET_TAKE(s->memory, int32_t, filled, fine);
            m->value = PL_TET_TAKE(s->memory, double, filled, fine);
        }
    }
    return fine;
}

static void matrix_free(pl_memory *memory, matrix *m)
{
    pl_memory_free(memory, m->start);
    pl_memory_free(memory, m->row);
    pl_memory_free(memory, m->value);
    pl_memory_free(memory, m->diagonal);
    pl_memory_free(memory, m->slot);
}

static pl_status factor_unknowns(pl_tet_draft *d, const matrix *m, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int total = m->start[s->unknowns], bad = -1;
    int *start = PL_TET_TAKE(s->memory, int, s->unknowns + 1, fine);
    int *neighbour = PL_TET_TAKE(s->memory, int, total, fine);
    double *value = PL_TET_TAKE(s->memory, double, total, fine);
    double(*points)[3] = pl_tet_take(s->memory, (size_t)s->unknowns, sizeof *points, &fine);
    pl_status status = PL_ERROR_MEMORY;
    if (fine) {
        int filled = 0;
        for (int row = 0; row < s->unknowns; row++) {
            for (int p = m->start[row]; p < m->start[row + 1]; p++)
                if (m->row[p] < s->unknowns) {
                    neighbour[filled] = m->row[p];
                    value[filled++] = m->value[p];
                }
            start[row + 1] = filled;
            for (int k = 0; k < 3; k++)
                points[row][k] = (double)s->rest[4 * row + k];
        }
        status = pl_supernodal_create(s->memory, s->unknowns, start, neighbour, m->diagonal, value,
                                      points, tasks, &s->factor, &bad);
    }
    pl_memory_free(s->memory, start);
    pl_memory_free(s->memory, neighbour);
    pl_memory_free(s->memory, value);
    pl_memory_free(s->memory, points);
    if (status == PL_ERROR_ARGUMENT)
        return pl_fail(d->error, status, "young",
                       "is too large for the step, or the elements around particle %d are too "
                       "flat: use a smaller step, or a better mesh",
                       bad >= 0 ? (int)s->node_of[bad] : -1);
    return status == PL_OK ? PL_OK : pl_tet_no_memory(d->error);
}

static void order_by_length(int padded, const int32_t *start, int32_t *order)
{
    for (int first = 0; first < padded; first += PL_TET_ROW_BLOCK) {
        int end = first + PL_TET_ROW_BLOCK < padded ? first + PL_TET_ROW_BLOCK : padded, at = first;
        for (int32_t length = 0; at < end; length++)
            for (int row = first; row < end; row++)
                if (start[row + 1] - start[row] == length)
                    order[at++] = row;
    }
}

void pl_tet_quads(int padded, const int32_t *start, int32_t *order, int32_t *quad_start)
{
    order_by_length(padded, start, order);
    quad_start[0] = 0;
    for (int q = 0; q < padded / 4; q++) {
        int32_t longest = 0;
        for (int k = 0; k < 4; k++) {
            int32_t length = start[order[4 * q + k] + 1] - start[order[4 * q + k]];
            longest = length > longest ? length : longest;
        }
        quad_start[q + 1] = quad_start[q] + longest;
    }
}

/* For the folded product: −A_ij of all neighbours, of four rows at a time. Where one has fewer than
   the others it adds nothing times its own difference from itself. */
static bool keep_matrix(pl_tet_system *s, const matrix *m)
{
    bool fine = true;
    int quads = s->padded / 4;
    int32_t *start = PL_TET_TAKE(s->memory, int32_t, s->padded + 1, fine);
    s->near_start = PL_TET_TAKE(s->memory, int32_t, quads + 1, fine);
    s->near_order = PL_TET_TAKE(s->memory, int32_t, s->padded, fine);
    if (fine) {
        for (int row = 0; row < s->padded; row++)
            start[row + 1] = m->start[row < s->unknowns ? row + 1 : s->unknowns];
        pl_tet_quads(s->padded, start, s->near_order, s->near_start);
    }
    s->near = PL_TET_TAKE(s->memory, pl_tet_near, fine ? s->near_start[quads] : 0, fine);
    for (int place = 0; fine && place < s->padded; place++) {
        int row = s->near_order[place];
        pl_tet_near *near = s->near + s->near_start[place / 4];
        for (int k = 0; k < s->near_start[place / 4 + 1] - s->near_start[place / 4]; k++) {
            int32_t p = start[row] + k;
            bool there = p < start[row + 1];
            near[k].value[place % 4] = there ? (float)-m->value[p] : 0;
            near[k].row[place % 4] = 4 * (there ? m->row[p] : row);
        }
    }
    pl_memory_free(s->memory, start);
    return fine;
}

pl_status pl_tet_make_matrix(pl_tet_draft *d, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    matrix m = {0};
    bool fine = touch_elements(d) && fill_matrix(d, &m);
    if (fine && s->def.rotations == PL_TET_FOLDED)
        fine = keep_matrix(s, &m);
    pl_status status = fine ? PL_OK : pl_tet_no_memory(d->error);
    if (fine && s->unknowns)
        status = factor_unknowns(d, &m, tasks);
    matrix_free(s->memory, &m);
    return status;
}
