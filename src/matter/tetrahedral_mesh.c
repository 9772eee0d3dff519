/* The mesh of tetrahedral matter put right: elements turned, flat and doubled ones dropped; masses,
   pieces, and nodes as rows. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "matter/tetrahedral_build.h"
#include "shape/tet_flat.h"

/* ---- Elements -------------------------------------------------------------------------------- */

/* Gradients of corners 0 to 2 (rows of D̄⁻¹) and the signed volume; false for a flat one. */
static bool shape_of(const pl_tet_draft *d, const int32_t tet[4], double g[9], double *volume)
{
    double e[3][3], longest = 0, c[9];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double x =
                    (double)pl_tet_rest_of(d, tet[a])[k] - (double)pl_tet_rest_of(d, tet[b])[k];
                square += x * x;
            }
            longest = fmax(longest, square);
        }
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            e[a][k] = (double)pl_tet_rest_of(d, tet[a])[k] - (double)pl_tet_rest_of(d, tet[3])[k];
    for (int a = 0; a < 3; a++) {
        const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
        for (int k = 0; k < 3; k++)
            c[3 * a + k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
    }
    double det = e[0][0] * c[0] + e[0][1] * c[1] + e[0][2] * c[2];
    *volume = det / 6;
    if (pl_tet_is_flat(det, longest, 0))
        return false;
    for (int k = 0; k < 9; k++)
        g[k] = c[k] / det;
    return true;
}

/* marked[e] = 1 for every element that has the corners of one before it. */
static bool find_duplicates(const pl_tet_draft *d, uint8_t *marked)
{
    pl_memory *memory = d->s->memory;
    int count = d->source->tet_count;
    bool fine = true;
    pl_sort_item *items = PL_TET_TAKE(memory, pl_sort_item, count, fine);
    pl_sort_item *spare = PL_TET_TAKE(memory, pl_sort_item, count, fine);
    int32_t *sorted = PL_TET_TAKE(memory, int32_t, 4 * (size_t)count, fine);
    if (fine) {
        for (int e = 0; e < count; e++) {
            int32_t *t = sorted + 4 * (ptrdiff_t)e;
            memcpy(t, d->source->tets + 4 * (ptrdiff_t)e, 4 * sizeof *t);
            for (int a = 1; a < 4; a++)
                for (int b = a; b > 0 && t[b] < t[b - 1]; b--) {
                    int32_t swap = t[b];
                    t[b] = t[b - 1];
                    t[b - 1] = swap;
                }
            items[e].index = (uint32_t)e;
        }
        for (int half = 1; half >= 0; half--) {
            for (int k = 0; k < count; k++) {
                const int32_t *t = sorted + 4 * (ptrdiff_t)items[k].index + 2 * half;
                items[k].key = (uint64_t)(uint32_t)t[0] << 32 | (uint32_t)t[1];
            }
            pl_sort(items, spare, (size_t)count);
        }
        for (int k = 1; k < count; k++)
            marked[items[k].index] =
                !memcmp(sorted + 4 * (ptrdiff_t)items[k].index,
                        sorted + 4 * (ptrdiff_t)items[k - 1].index, 4 * sizeof *sorted);
    }
    pl_memory_free(memory, items);
    pl_memory_free(memory, spare);
    pl_memory_free(memory, sorted);
    return fine;
}

/* E and ν to the weights of shape and volume. */
static void stiffness_of(pl_tet_system *s, double young, int e)
{
    double nu = s->def.poisson, lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
    s->mu[e] = young / (2 * (1 + nu));
    s->bulk[e] = 1.5 * lambda;
}

static void keep_elements(pl_tet_draft *d, const uint8_t *duplicate)
{
    pl_tet_system *s = d->s;
    for (int e = 0; e < d->source->tet_count; e++) {
        int32_t *tet = s->tets + 4 * (ptrdiff_t)s->tet_count;
        double *g = s->gradient + 9 * (ptrdiff_t)s->tet_count, volume;
        memcpy(tet, d->source->tets + 4 * (ptrdiff_t)e, 4 * sizeof *tet);
        if (!shape_of(d, tet, g, &volume)) {
            s->counts.flat++;
            continue;
        }
        if (duplicate[e]) {
            s->counts.duplicate++;
            continue;
        }
        if (volume < 0) {
            int32_t swap = tet[0];
            tet[0] = tet[1];
            tet[1] = swap;
            shape_of(d, tet, g, &volume);
            s->counts.turned++;
        }
        double factor = d->source->stiffness ? (double)d->source->stiffness[e] : 1;
        s->volume[s->tet_count] = volume;
        s->source_of[s->tet_count] = e;
        s->counts.volume += volume;
        stiffness_of(s, factor * d->source->young, s->tet_count);
        s->tet_count++;
    }
    s->counts.tets = s->tet_count;
}

pl_status pl_tet_make_elements(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    size_t count = (size_t)d->source->tet_count;
    bool fine = true;
    s->tets = PL_TET_TAKE(s->memory, int32_t, 4 * count, fine);
    s->gradient = PL_TET_TAKE(s->memory, double, 9 * count, fine);
    s->volume = PL_TET_TAKE(s->memory, double, count, fine);
    s->mu = PL_TET_TAKE(s->memory, double, count, fine);
    s->bulk = PL_TET_TAKE(s->memory, double, count, fine);
    s->source_of = PL_TET_TAKE(s->memory, int32_t, count, fine);
    uint8_t *duplicate = PL_TET_TAKE(s->memory, uint8_t, count, fine);
    fine = fine && find_duplicates(d, duplicate);
    if (fine)
        keep_elements(d, duplicate);
    pl_memory_free(s->memory, duplicate);
    if (!fine)
        return pl_tet_no_memory(d->error);
    PL_CHECK(s->tet_count > 0, PL_ERROR_ARGUMENT, d->error, "tets",
             "all %d are flat: there is no volume", d->source->tet_count);
    return PL_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Bits of the coordinates interleaved: what is near has like numbers. */
uint64_t pl_tet_morton(const double at[3], const double low[3], double size)
{
    uint64_t key = 0;
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        double x = (at[k] - low[k]) / size * 65535;
        cell[k] = x > 0 ? (uint32_t)(x < 65535 ? x : 65535) : 0;
    }
    for (int bit = 15; bit >= 0; bit--)
        for (int k = 0; k < 3; k++)
            key = key << 1 | (cell[k] >> bit & 1);
    return key;
}

void pl_tet_bounds(const pl_tet_draft *d, double low[3], double *size)
{
    double high[3];
    for (int k = 0; k < 3; k++)
        low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < d->s->n; i++)
        for (int k = 0; k < 3 && d->is_used[i]; k++) {
            low[k] = fmin(low[k], (double)pl_tet_rest_of(d, i)[k]);
            high[k] = fmax(high[k], (double)pl_tet_rest_of(d, i)[k]);
        }
    *size = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Pieces of elements that share nodes; those without a fixed node are numbered for the nodes. */
bool pl_tet_find_pieces(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int32_t *parent = PL_TET_TAKE(s->memory, int32_t, s->n, fine);
    int32_t *number = PL_TET_TAKE(s->memory, int32_t, s->n, fine);
    uint8_t *held = PL_TET_TAKE(s->memory, uint8_t, s->n, fine);
    d->tet_piece = PL_TET_TAKE(s->memory, int32_t, s->tet_count, fine);
    s->piece = PL_TET_TAKE(s->memory, int32_t, s->padded, fine);
    s->piece_mass = PL_TET_TAKE(s->memory, double, s->n, fine);
    if (fine) {
        for (int i = 0; i < s->n; i++)
            parent[i] = i, number[i] = -1;
        for (int e = 0; e < s->tet_count; e++)
            for (int a = 1; a < 4; a++) {
                int32_t p = root_of(parent, s->tets[4 * (ptrdiff_t)e]);
                int32_t q = root_of(parent, s->tets[4 * (ptrdiff_t)e + a]);
                parent[p > q ? p : q] = p > q ? q : p;
            }
        for (int e = 0; e < s->tet_count; e++) {
            int32_t root = root_of(parent, s->tets[4 * (ptrdiff_t)e]);
            if (number[root] < 0)
                number[root] = s->counts.pieces++;
            d->tet_piece[e] = number[root];
        }
        for (int i = 0; i < s->n; i++)
            if (d->is_fixed[i])
                held[root_of(parent, i)] = 1;
        for (int i = 0; i < s->n; i++)
            number[i] = -1;
        for (int row = 0; row < s->padded; row++) {
            s->piece[row] = -1;
            int32_t root = row < s->unknowns ? root_of(parent, s->node_of[row]) : -1;
            if (root < 0 || held[root])
                continue;
            if (number[root] < 0)
                number[root] = s->free_count++;
            s->piece[row] = number[root];
            s->piece_mass[number[root]] += (double)s->mass[row];
        }
    }
    pl_memory_free(s->memory, parent);
    pl_memory_free(s->memory, number);
    pl_memory_free(s->memory, held);
    return fine;
}

static bool mark_nodes(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    d->is_fixed = PL_TET_TAKE(s->memory, uint8_t, s->n, fine);
    d->is_used = PL_TET_TAKE(s->memory, uint8_t, s->n, fine);
    s->node_mass = PL_TET_TAKE(s->memory, double, s->n, fine);
    s->node_volume = PL_TET_TAKE(s->memory, double, s->n, fine);
    if (!fine)
        return false;
    for (int k = 0; k < s->fixed_count; k++)
        d->is_fixed[d->source->fixed[k]] = 1;
    for (int e = 0; e < s->tet_count; e++)
        for (int a = 0; a < 4; a++) {
            int i = s->tets[4 * (ptrdiff_t)e + a];
            d->is_used[i] = 1;
            s->node_volume[i] += s->volume[e] / 4;
            s->node_mass[i] += d->source->density * s->volume[e] / 4;
        }
    int used = 0;
    for (int i = 0; i < s->n; i++) {
        if (d->source->node_density)
            s->node_mass[i] *= (double)d->source->node_density[i];
        used += d->is_used[i];
        s->counts.fixed += d->is_fixed[i];
        s->unknowns += d->is_used[i] && !d->is_fixed[i];
        s->counts.mass += s->node_mass[i];
    }
    s->unit_mass = s->counts.mass / used;
    s->counts.nodes = s->n;
    s->counts.unused = s->n - used;
    s->counts.unknowns = s->unknowns;
    s->padded = (s->unknowns + 3) / 4 * 4;
    s->rows = s->n + s->padded - s->unknowns;
    return true;
}

static void number_rows(pl_tet_draft *d, pl_sort_item *items, pl_sort_item *spare)
{
    pl_tet_system *s = d->s;
    double low[3], size;
    int count = 0, row = 0;
    pl_tet_bounds(d, low, &size);
    for (int i = 0; i < s->n; i++)
        if (d->is_used[i] && !d->is_fixed[i]) {
            double at[3] = {(double)pl_tet_rest_of(d, i)[0], (double)pl_tet_rest_of(d, i)[1],
                            (double)pl_tet_rest_of(d, i)[2]};
            items[count++] = (pl_sort_item){pl_tet_morton(at, low, size), (uint32_t)i};
        }
    pl_sort(items, spare, (size_t)count);
    for (int k = 0; k < s->rows; k++)
        s->node_of[k] = -1;
    for (; row < count; row++)
        s->node_of[row] = (int32_t)items[row].index;
    row = s->padded;
    for (int i = 0; i < s->n; i++)
        if (!d->is_used[i] || d->is_fixed[i])
            s->node_of[row++] = i;
    for (int k = 0; k < s->rows; k++)
        if (s->node_of[k] >= 0)
            s->row_of[s->node_of[k]] = k;
}

bool pl_tet_make_rows(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = mark_nodes(d);
    s->row_of = PL_TET_TAKE(s->memory, int32_t, s->n, fine);
    s->node_of = PL_TET_TAKE(s->memory, int32_t, s->rows, fine);
    s->fixed = PL_TET_TAKE(s->memory, int32_t, s->fixed_count, fine);
    s->rest = PL_TET_TAKE(s->memory, float, 4 * (size_t)s->rows, fine);
    s->mass = PL_TET_TAKE(s->memory, float, s->rows, fine);
    pl_sort_item *items = PL_TET_TAKE(s->memory, pl_sort_item, s->n, fine);
    pl_sort_item *spare = PL_TET_TAKE(s->memory, pl_sort_item, s->n, fine);
    if (fine) {
        number_rows(d, items, spare);
        for (int k = 0; k < s->fixed_count; k++)
            s->fixed[k] = s->row_of[d->source->fixed[k]];
        for (int row = 0; row < s->rows; row++) {
            int i = s->node_of[row];
            for (int k = 0; k < 3 && i >= 0; k++)
                s->rest[4 * row + k] = pl_tet_rest_of(d, i)[k];
            if (row < s->unknowns)
                s->mass[row] = (float)(s->node_mass[i] / s->unit_mass);
        }
    }
    pl_memory_free(s->memory, items);
    pl_memory_free(s->memory, spare);
    return fine;
}
