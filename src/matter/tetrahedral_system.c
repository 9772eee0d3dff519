/* Everything about tetrahedral matter that does not move: the mesh put right, masses, elements in lanes and blocks, the
   matrix A = M + 2h² Σ V (μ + W) G Gᵀ and its factor, samples and what follows them. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/sort.h"
#include "matter/tetrahedral_lanes.h"
#include "shape/tet_sample.h"
#include "shape/tet_weights.h"

/* An element is flat when its volume is below this part of the cube of its longest edge: its gradients would be noise. */
#define FLATTEST 1e-6

#define LANES PL_TET_LANES

/* While it is made. */
typedef struct draft {
    pl_tet_system *s;
    const pl_tet_source *source;
    pl_error *error;
    uint8_t *is_fixed, *is_used;  /* [n] */
    int32_t *order;               /* [tets] element in each place of the sequence */
    int32_t *tet_piece;           /* [tets] */
    int32_t *touch_start, *touch; /* elements around nodes */
    int32_t *sample;              /* elements */
    pl_tet_weights weights;
} draft;

static void *take_bytes(pl_memory *memory, size_t count, size_t size, bool *fine)
{
    void *block = *fine ? pl_memory_alloc(memory, count, size) : NULL;
    *fine = *fine && block;
    return block;
}

#define TAKE(memory, type, count, fine)                                                            \
    ((type *)take_bytes((memory), (size_t)(count), sizeof(type), &(fine)))

static pl_status no_memory(pl_error *error)
{
    return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
}

/* ---- Checks -------------------------------------------------------------------------------------- */

#define CHECK(condition, field, ...)                                                               \
    PL_CHECK(condition, PL_ERROR_ARGUMENT, error, field, __VA_ARGS__)

static bool is_positive(double value)
{
    return value > 0 && value < (double)INFINITY;
}

static pl_status check_mesh(const pl_tet_source *source, pl_error *error)
{
    CHECK(source->n >= 1 && source->rest, "nodes", "there are %d; at least four are needed",
          source->n);
    CHECK(source->tet_count >= 1 && source->tets, "tets", "there are %d; at least one is needed",
          source->tet_count);
    CHECK(source->tet_count <= 100000000, "tets", "there are %d; at most 100000000 will do",
          source->tet_count);
    for (int i = 0; i < 3 * source->n; i++)
        CHECK(fabsf(source->rest[i]) <= 1e9f, PL_WHERE("nodes[%d]", i / 3),
              "is not a place; use finite numbers");
    for (int e = 0; e < source->tet_count; e++)
        for (int a = 0; a < 4; a++) {
            int32_t i = source->tets[4 * (ptrdiff_t)e + a];
            CHECK(i >= 0 && i < source->n, PL_WHERE("tets[%d][%d]", e, a),
                  "is node %d; there are nodes 0 to %d", i, source->n - 1);
        }
    return PL_OK;
}

static pl_status check_source(const pl_tet_source *source, pl_error *error)
{
    CHECK(is_positive(source->young), "young", "is %g; use a positive modulus (pascals)",
          source->young);
    CHECK(is_positive(source->density), "density", "is %g; use a positive density",
          source->density);
    CHECK(is_positive(source->h), "h", "is %g; use a positive step", source->h);
    PL_TRY(check_mesh(source, error));
    for (int e = 0; source->stiffness && e < source->tet_count; e++)
        CHECK(is_positive((double)source->stiffness[e]), PL_WHERE("stiffness[%d]", e),
              "is %g; use a positive factor", (double)source->stiffness[e]);
    for (int i = 0; source->node_density && i < source->n; i++)
        CHECK(is_positive((double)source->node_density[i]), PL_WHERE("node_density[%d]", i),
              "is %g; use a positive factor", (double)source->node_density[i]);
    for (int k = 0; k < source->fixed_count; k++)
        CHECK(source->fixed[k] >= 0 && source->fixed[k] < source->n, PL_WHERE("fixed[%d]", k),
              "is node %d; there are nodes 0 to %d", source->fixed[k], source->n - 1);
    return PL_OK;
}

/* ---- Elements ------------------------------------------------------------------------------------ */

static const float *rest_of(const draft *d, int node)
{
    return d->source->rest + 3 * (ptrdiff_t)node;
}

/* Gradients of corners 0 to 2 (rows of D̄⁻¹) and the signed volume; false for a flat one. */
static bool shape_of(const draft *d, const int32_t tet[4], double g[9], double *volume)
{
    double e[3][3], longest = 0, c[9];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double x = (double)rest_of(d, tet[a])[k] - (double)rest_of(d, tet[b])[k];
                square += x * x;
            }
            longest = fmax(longest, square);
        }
    longest = sqrt(longest);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            e[a][k] = (double)rest_of(d, tet[a])[k] - (double)rest_of(d, tet[3])[k];
    for (int a = 0; a < 3; a++) {
        const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
        for (int k = 0; k < 3; k++)
            c[3 * a + k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
    }
    double det = e[0][0] * c[0] + e[0][1] * c[1] + e[0][2] * c[2];
    *volume = det / 6;
    if (!(fabs(*volume) > FLATTEST * longest * longest * longest))
        return false;
    for (int k = 0; k < 9; k++)
        g[k] = c[k] / det;
    return true;
}

/* marked[e] = 1 for every element that has the corners of one before it. */
static bool find_duplicates(const draft *d, uint8_t *marked)
{
    pl_memory *memory = d->s->memory;
    int count = d->source->tet_count;
    bool fine = true;
    pl_sort_item *items = TAKE(memory, pl_sort_item, count, fine);
    pl_sort_item *spare = TAKE(memory, pl_sort_item, count, fine);
    int32_t *sorted = TAKE(memory, int32_t, 4 * (size_t)count, fine);
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

static void keep_elements(draft *d, const uint8_t *duplicate)
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

static pl_status make_elements(draft *d)
{
    pl_tet_system *s = d->s;
    size_t count = (size_t)d->source->tet_count;
    bool fine = true;
    s->tets = TAKE(s->memory, int32_t, 4 * count, fine);
    s->gradient = TAKE(s->memory, double, 9 * count, fine);
    s->volume = TAKE(s->memory, double, count, fine);
    s->mu = TAKE(s->memory, double, count, fine);
    s->bulk = TAKE(s->memory, double, count, fine);
    s->source_of = TAKE(s->memory, int32_t, count, fine);
    uint8_t *duplicate = TAKE(s->memory, uint8_t, count, fine);
    fine = fine && find_duplicates(d, duplicate);
    if (fine)
        keep_elements(d, duplicate);
    pl_memory_free(s->memory, duplicate);
    if (!fine)
        return no_memory(d->error);
    PL_CHECK(s->tet_count > 0, PL_ERROR_ARGUMENT, d->error, "tets",
             "all %d are flat: there is no volume", d->source->tet_count);
    return PL_OK;
}

/* ---- Nodes --------------------------------------------------------------------------------------- */

/* Bits of the coordinates interleaved: what is near has like numbers. */
static uint64_t morton(const double at[3], const double low[3], double size)
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

static void bounds(const draft *d, double low[3], double *size)
{
    double high[3];
    for (int k = 0; k < 3; k++)
        low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < d->s->n; i++)
        for (int k = 0; k < 3 && d->is_used[i]; k++) {
            low[k] = fmin(low[k], (double)rest_of(d, i)[k]);
            high[k] = fmax(high[k], (double)rest_of(d, i)[k]);
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
static bool find_pieces(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int32_t *parent = TAKE(s->memory, int32_t, s->n, fine);
    int32_t *number = TAKE(s->memory, int32_t, s->n, fine);
    uint8_t *held = TAKE(s->memory, uint8_t, s->n, fine);
    d->tet_piece = TAKE(s->memory, int32_t, s->tet_count, fine);
    s->piece = TAKE(s->memory, int32_t, s->padded, fine);
    s->piece_mass = TAKE(s->memory, double, s->n, fine);
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

static bool mark_nodes(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    d->is_fixed = TAKE(s->memory, uint8_t, s->n, fine);
    d->is_used = TAKE(s->memory, uint8_t, s->n, fine);
    s->node_mass = TAKE(s->memory, double, s->n, fine);
    if (!fine)
        return false;
    for (int k = 0; k < s->fixed_count; k++)
        d->is_fixed[d->source->fixed[k]] = 1;
    for (int e = 0; e < s->tet_count; e++)
        for (int a = 0; a < 4; a++) {
            int i = s->tets[4 * (ptrdiff_t)e + a];
            d->is_used[i] = 1;
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

static void number_rows(draft *d, pl_sort_item *items, pl_sort_item *spare)
{
    pl_tet_system *s = d->s;
    double low[3], size;
    int count = 0, row = 0;
    bounds(d, low, &size);
    for (int i = 0; i < s->n; i++)
        if (d->is_used[i] && !d->is_fixed[i]) {
            double at[3] = {(double)rest_of(d, i)[0], (double)rest_of(d, i)[1],
                            (double)rest_of(d, i)[2]};
            items[count++] = (pl_sort_item){morton(at, low, size), (uint32_t)i};
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

static bool make_rows(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = mark_nodes(d);
    s->row_of = TAKE(s->memory, int32_t, s->n, fine);
    s->node_of = TAKE(s->memory, int32_t, s->rows, fine);
    s->fixed = TAKE(s->memory, int32_t, s->fixed_count, fine);
    s->rest = TAKE(s->memory, float, 4 * (size_t)s->rows, fine);
    s->mass = TAKE(s->memory, float, s->rows, fine);
    pl_sort_item *items = TAKE(s->memory, pl_sort_item, s->n, fine);
    pl_sort_item *spare = TAKE(s->memory, pl_sort_item, s->n, fine);
    if (fine) {
        number_rows(d, items, spare);
        for (int k = 0; k < s->fixed_count; k++)
            s->fixed[k] = s->row_of[d->source->fixed[k]];
        for (int row = 0; row < s->rows; row++) {
            int i = s->node_of[row];
            for (int k = 0; k < 3 && i >= 0; k++)
                s->rest[4 * row + k] = rest_of(d, i)[k];
            if (row < s->unknowns)
                s->mass[row] = (float)(s->node_mass[i] / s->unit_mass);
        }
    }
    pl_memory_free(s->memory, items);
    pl_memory_free(s->memory, spare);
    return fine;
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

static void centroid_of(const draft *d, int e, double c[3])
{
    for (int k = 0; k < 3; k++) {
        c[k] = 0;
        for (int a = 0; a < 4; a++)
            c[k] += 0.25 * (double)rest_of(d, d->s->tets[4 * (ptrdiff_t)e + a])[k];
    }
}

static bool order_elements(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    double low[3], size;
    pl_sort_item *items = TAKE(s->memory, pl_sort_item, s->tet_count, fine);
    pl_sort_item *spare = TAKE(s->memory, pl_sort_item, s->tet_count, fine);
    d->order = TAKE(s->memory, int32_t, s->tet_count, fine);
    bounds(d, low, &size);
    for (int e = 0; fine && e < s->tet_count; e++) {
        double c[3];
        centroid_of(d, e, c);
        items[e] = (pl_sort_item){morton(c, low, size), (uint32_t)e};
    }
    if (fine)
        pl_sort(items, spare, (size_t)s->tet_count);
    for (int e = 0; fine && e < s->tet_count; e++)
        d->order[e] = (int32_t)items[e].index;
    pl_memory_free(s->memory, items);
    pl_memory_free(s->memory, spare);
    return fine;
}

/* Weights relative to the unit of mass: A and the forces of the kernels are those of the energy times h² over it. */
static double weight_of(const pl_tet_system *s, int e, double stiffness)
{
    return 2 * s->h * s->h * s->volume[e] * stiffness / s->unit_mass;
}

static void fill_lane(pl_tet_system *s, int e, const int32_t *place)
{
    ptrdiff_t group = s->slot[e] / LANES, lane = s->slot[e] % LANES;
    for (int a = 0; a < 4; a++)
        s->corner[(group * 4 + a) * LANES + lane] =
            (uint16_t)(4 * place[s->row_of[s->tets[4 * (ptrdiff_t)e + a]]]);
    float *out = s->lanes + group * PL_TET_REST_FIELDS * LANES + lane;
    for (int k = 0; k < 9; k++)
        out[k * LANES] = (float)s->gradient[9 * (ptrdiff_t)e + k];
    out[9 * LANES] = (float)weight_of(s, e, s->mu[e]);
    out[10 * LANES] = (float)weight_of(s, e, s->bulk[e]);
    s->example_at[s->slot[e]] =
        s->source_of[e] / LANES * PL_TET_DESCRIPTOR * LANES + s->source_of[e] % LANES;
}

/* Elements [first, end) of the sequence; `place` is −1 for all rows before and after. */
static void fill_block(draft *d, pl_tet_block *block, int first, int end, int32_t *place)
{
    pl_tet_system *s = d->s;
    block->place = s->place_count;
    block->group = first / LANES;
    block->group_count = (end - first + LANES - 1) / LANES;
    for (int k = first; k < end; k++) {
        int e = d->order[k];
        s->slot[e] = k;
        for (int a = 0; a < 4; a++) {
            int32_t row = s->row_of[s->tets[4 * (ptrdiff_t)e + a]];
            if (place[row] < 0) {
                place[row] = s->place_count - block->place;
                s->place_row[s->place_count++] = 4 * row;
            }
        }
        fill_lane(s, e, place);
    }
    block->place_count = s->place_count - block->place;
    for (int p = block->place; p < s->place_count; p++)
        place[s->place_row[p] / 4] = -1;
}

static bool sum_places(pl_tet_system *s)
{
    bool fine = true;
    s->sum_start = TAKE(s->memory, int32_t, s->padded + 2, fine);
    s->sum_place = TAKE(s->memory, int32_t, s->place_count, fine);
    if (!fine)
        return false;
    int32_t *cursor = s->sum_start + 1;
    for (int p = 0; p < s->place_count; p++)
        if (s->place_row[p] / 4 < s->unknowns)
            cursor[s->place_row[p] / 4 + 1]++;
    for (int row = 0; row < s->padded; row++)
        cursor[row + 1] += cursor[row];
    for (int p = 0; p < s->place_count; p++)
        if (s->place_row[p] / 4 < s->unknowns)
            s->sum_place[cursor[s->place_row[p] / 4]++] = 4 * p;
    return true;
}

static bool make_blocks(draft *d)
{
    enum { SIZE = PL_TET_BLOCK_GROUPS * LANES };
    pl_tet_system *s = d->s;
    bool fine = order_elements(d);
    s->group_count = (s->tet_count + LANES - 1) / LANES;
    s->block_count = (s->tet_count + SIZE - 1) / SIZE;
    s->blocks = TAKE(s->memory, pl_tet_block, s->block_count, fine);
    s->corner = TAKE(s->memory, uint16_t, 4 * LANES * (size_t)s->group_count, fine);
    s->lanes = TAKE(s->memory, float, PL_TET_REST_FIELDS *LANES *(size_t)s->group_count, fine);
    s->slot = TAKE(s->memory, int32_t, s->tet_count, fine);
    s->example_at = TAKE(s->memory, int32_t, LANES * (size_t)s->group_count, fine);
    s->place_row = TAKE(s->memory, int32_t, 4 * (size_t)s->tet_count, fine);
    int32_t *place = TAKE(s->memory, int32_t, s->rows, fine);
    for (int row = 0; fine && row < s->rows; row++)
        place[row] = -1;
    for (int k = 0; fine && k < LANES * s->group_count; k++)
        s->example_at[k] = -1;
    for (int k = 0; fine && k < s->block_count; k++) {
        int end = (k + 1) * SIZE;
        fill_block(d, s->blocks + k, k * SIZE, end < s->tet_count ? end : s->tet_count, place);
    }
    pl_memory_free(s->memory, place);
    return fine && sum_places(s);
}

/* ---- The matrix ---------------------------------------------------------------------------------- */

static bool touch_elements(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    d->touch_start = TAKE(s->memory, int32_t, s->n + 2, fine);
    d->touch = TAKE(s->memory, int32_t, 4 * (size_t)s->tet_count, fine);
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

/* Gradient of corner a. */
static void gradient_of(const pl_tet_system *s, int e, int a, double g[3])
{
    const double *all = s->gradient + 9 * (ptrdiff_t)e;
    for (int k = 0; k < 3; k++)
        g[k] = a < 3 ? all[3 * a + k] : -(all[k] + all[3 + k] + all[6 + k]);
}

static double product_of(const pl_tet_system *s, int e, int a, int b)
{
    double p[3], q[3];
    gradient_of(s, e, a, p);
    gradient_of(s, e, b, q);
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

/* The matrix by rows of unknowns; neighbours may be fixed. */
typedef struct matrix {
    int *start; /* [unknowns + 1] */
    int32_t *row;
    double *value, *diagonal;
    int32_t *slot; /* [rows] */
} matrix;

static int count_neighbours(const draft *d, matrix *m, int row, int filled, bool fill)
{
    const pl_tet_system *s = d->s;
    int node = s->node_of[row], first = filled;
    double diagonal = (double)s->mass[row];
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++) {
        int e = d->touch[p] / 4, a = d->touch[p] % 4;
        double weight = weight_of(s, e, s->mu[e] + s->bulk[e]);
        diagonal += weight * product_of(s, e, a, a);
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
                m->value[m->slot[other]] += weight * product_of(s, e, a, b);
        }
    }
    m->diagonal[row] = diagonal;
    return filled;
}

static bool fill_matrix(const draft *d, matrix *m)
{
    const pl_tet_system *s = d->s;
    bool fine = true;
    m->start = TAKE(s->memory, int, s->unknowns + 1, fine);
    m->diagonal = TAKE(s->memory, double, s->unknowns, fine);
    m->slot = TAKE(s->memory, int32_t, s->rows, fine);
    for (int pass = 0; fine && pass < 2; pass++) {
        int filled = 0;
        for (int row = 0; row < s->rows; row++)
            m->slot[row] = -1;
        for (int row = 0; row < s->unknowns; row++)
            m->start[row + 1] = filled = count_neighbours(d, m, row, filled, pass == 1);
        if (pass == 0) {
            m->row = TAKE(s->memory, int32_t, filled, fine);
            m->value = TAKE(s->memory, double, filled, fine);
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

static pl_status factor_unknowns(draft *d, const matrix *m, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int total = m->start[s->unknowns], bad = -1;
    int *start = TAKE(s->memory, int, s->unknowns + 1, fine);
    int *neighbour = TAKE(s->memory, int, total, fine);
    double *value = TAKE(s->memory, double, total, fine);
    double(*points)[3] = take_bytes(s->memory, (size_t)s->unknowns, sizeof *points, &fine);
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
        return pl_fail(d->error, status, PL_WHERE("nodes[%d]", bad >= 0 ? s->node_of[bad] : -1),
                       "the stiffness is too large or the elements around here are too flat for "
                       "the step: use a smaller one, or a better mesh");
    return status == PL_OK ? PL_OK : no_memory(d->error);
}

/* The rows of each block in the order of the lengths of their lists: a loop whose length changes from row to row costs
   more in branches guessed wrongly than in what it adds up. */
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

/* Puts lists of entries of `size` bytes into that order; starts are by places in it then. */
static bool reorder(pl_memory *memory, int padded, int32_t *start, const int32_t *order,
                    void *entries, size_t size)
{
    bool fine = true;
    int32_t *next = TAKE(memory, int32_t, padded + 1, fine);
    char *copy = TAKE(memory, char, (size_t)start[padded] * size, fine);
    for (int k = 0; fine && k < padded; k++) {
        size_t length = (size_t)(start[order[k] + 1] - start[order[k]]);
        memcpy(copy + (size_t)next[k] * size, (char *)entries + (size_t)start[order[k]] * size,
               length * size);
        next[k + 1] = next[k] + (int32_t)length;
    }
    if (fine) {
        memcpy(entries, copy, (size_t)start[padded] * size);
        memcpy(start, next, ((size_t)padded + 1) * sizeof *start);
    }
    pl_memory_free(memory, next);
    pl_memory_free(memory, copy);
    return fine;
}

/* For the folded product: −A_ij of all neighbours. */
static bool keep_matrix(pl_tet_system *s, const matrix *m)
{
    bool fine = true;
    int total = m->start[s->unknowns];
    s->near_start = TAKE(s->memory, int32_t, s->padded + 1, fine);
    s->near_order = TAKE(s->memory, int32_t, s->padded, fine);
    s->near = TAKE(s->memory, pl_tet_near, total, fine);
    if (!fine)
        return false;
    for (int row = 0; row < s->padded; row++)
        s->near_start[row + 1] = m->start[row < s->unknowns ? row + 1 : s->unknowns];
    for (int p = 0; p < total; p++) {
        s->near[p] = (pl_tet_near){(float)-m->value[p], 4 * m->row[p]};
    }
    order_by_length(s->padded, s->near_start, s->near_order);
    return reorder(s->memory, s->padded, s->near_start, s->near_order, s->near, sizeof *s->near);
}

static pl_status make_matrix(draft *d, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    matrix m = {0};
    bool fine = touch_elements(d) && fill_matrix(d, &m);
    if (fine && s->def.rotations == PL_TET_FOLDED)
        fine = keep_matrix(s, &m);
    pl_status status = fine ? PL_OK : no_memory(d->error);
    if (fine && s->unknowns)
        status = factor_unknowns(d, &m, tasks);
    matrix_free(s->memory, &m);
    return status;
}

/* ---- Samples ------------------------------------------------------------------------------------- */

/* In the sequence of the lanes, so that neighbours stay together. */
static bool sort_samples(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    uint8_t *chosen = TAKE(s->memory, uint8_t, s->tet_count, fine);
    for (int j = 0; fine && j < s->sample_count; j++)
        chosen[d->sample[j]] = 1;
    for (int k = 0, j = 0; fine && k < s->tet_count; k++)
        if (chosen[d->order[k]])
            d->sample[j++] = d->order[k];
    pl_memory_free(s->memory, chosen);
    return fine;
}

static bool choose_samples(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    double wish = ceil(s->def.sampled * s->tet_count);
    s->sample_count = wish < s->tet_count ? (int)wish : s->tet_count;
    if (s->sample_count < s->counts.pieces)
        s->sample_count = s->counts.pieces;
    s->counts.samples = s->sample_count;
    s->sample_groups = (s->sample_count + LANES - 1) / LANES;
    double *centroid = TAKE(s->memory, double, 3 * (size_t)s->tet_count, fine);
    d->sample = TAKE(s->memory, int32_t, s->sample_count, fine);
    for (int e = 0; fine && e < s->tet_count; e++)
        centroid_of(d, e, centroid + 3 * (ptrdiff_t)e);
    fine = fine && pl_tet_sample(s->memory, s->tet_count, centroid, d->tet_piece, s->sample_count,
                                 d->sample);
    pl_memory_free(s->memory, centroid);
    return fine && sort_samples(d);
}

static bool weigh_samples(draft *d)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    pl_tet_system *s = d->s;
    bool fine = true;
    double *edge = TAKE(s->memory, double, 6 * (size_t)s->tet_count, fine);
    for (int e = 0; fine && e < s->tet_count; e++)
        for (int k = 0; k < 6; k++)
            edge[6 * (ptrdiff_t)e + k] = s->volume[e] * product_of(s, e, ends[k][0], ends[k][1]);
    fine =
        fine && pl_tet_weigh(s->memory, s->n, s->tet_count, s->tets, edge, s->sample_count,
                             d->sample, s->def.threshold, s->def.weight_cap, &d->weights) == PL_OK;
    pl_memory_free(s->memory, edge);
    return fine;
}

static bool place_samples(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    s->sample_corner = TAKE(s->memory, int32_t, 4 * LANES * (size_t)s->sample_groups, fine);
    s->sample_gradient = TAKE(s->memory, float, 9 * LANES * (size_t)s->sample_groups, fine);
    for (int j = 0; fine && j < s->sample_count; j++) {
        ptrdiff_t group = j / LANES, lane = j % LANES;
        for (int a = 0; a < 4; a++)
            s->sample_corner[(group * 4 + a) * LANES + lane] =
                4 * s->row_of[s->tets[4 * (ptrdiff_t)d->sample[j] + a]];
        for (int k = 0; k < 9; k++)
            s->sample_gradient[(group * 9 + k) * LANES + lane] =
                (float)s->gradient[9 * (ptrdiff_t)d->sample[j] + k];
    }
    return fine;
}

static bool place_blend(draft *d)
{
    pl_tet_system *s = d->s;
    const pl_tet_weights *w = &d->weights;
    bool fine = true;
    for (int e = 0; e < s->tet_count; e++)
        s->slots = w->count[e] > s->slots ? w->count[e] : s->slots;
    size_t cells = (size_t)s->group_count * (size_t)s->slots * LANES;
    s->blend_count = TAKE(s->memory, uint8_t, s->group_count, fine);
    s->blend_sample = TAKE(s->memory, int32_t, cells, fine);
    s->blend_weight = TAKE(s->memory, float, cells, fine);
    for (int group = 0; fine && group < s->group_count; group++) {
        s->blend_count[group] = 1;
        for (int lane = 0; lane < LANES; lane++) /* absent ones follow the first sample */
            s->blend_weight[(size_t)group * (size_t)s->slots * LANES + (size_t)lane] = 1;
    }
    for (int e = 0; fine && e < s->tet_count; e++) {
        size_t group = (size_t)(s->slot[e] / LANES), lane = (size_t)(s->slot[e] % LANES);
        for (int k = 0; k < s->slots; k++) {
            size_t from = (size_t)e * (size_t)w->cap + (size_t)(k < w->cap ? k : 0);
            size_t to = (group * (size_t)s->slots + (size_t)k) * LANES + lane;
            s->blend_sample[to] = 4 * w->sample[from];
            s->blend_weight[to] = w->weight[from];
        }
        if (w->count[e] > s->blend_count[group])
            s->blend_count[group] = (uint8_t)w->count[e];
    }
    return fine;
}

/* c of one row: Σ_e w_e ω_ej g, sample by sample in the order in which they turn up. */
static int fold_row(const draft *d, int row, int filled, int32_t *slot, double *sum)
{
    const pl_tet_system *s = d->s;
    const pl_tet_weights *w = &d->weights;
    int node = s->node_of[row], first = filled;
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++) {
        int e = d->touch[p] / 4;
        double g[3], weight = weight_of(s, e, s->mu[e]);
        gradient_of(s, e, d->touch[p] % 4, g);
        for (int k = 0; k < w->count[e]; k++) {
            size_t at = (size_t)e * (size_t)w->cap + (size_t)k;
            int32_t j = w->sample[at];
            if (slot[j] < first) {
                slot[j] = filled;
                if (s->fold)
                    s->fold[filled].sample = 16 * j;
                filled++;
            }
            for (int c = 0; c < 3 && sum; c++)
                sum[4 * (ptrdiff_t)slot[j] + c] += weight * (double)w->weight[at] * g[c];
        }
    }
    return filled;
}

static bool place_fold(draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int32_t *slot = TAKE(s->memory, int32_t, s->sample_count, fine);
    double *sum = NULL;
    s->fold_start = TAKE(s->memory, int32_t, s->padded + 1, fine);
    s->fold_order = TAKE(s->memory, int32_t, s->padded, fine);
    for (int pass = 0; fine && pass < 2; pass++) {
        int filled = 0;
        for (int j = 0; j < s->sample_count; j++)
            slot[j] = -1;
        for (int row = 0; row < s->padded; row++) {
            if (row < s->unknowns)
                filled = fold_row(d, row, filled, slot, sum);
            s->fold_start[row + 1] = filled;
        }
        if (pass == 0) {
            s->fold = TAKE(s->memory, pl_tet_fold, filled, fine);
            sum = TAKE(s->memory, double, 4 * (size_t)filled, fine);
        }
    }
    for (ptrdiff_t k = 0; fine && k < 4 * (ptrdiff_t)s->fold_start[s->padded]; k++)
        if (k % 4 < 3)
            s->fold[k / 4].factor[k % 4] = (float)sum[k];
    if (fine) {
        order_by_length(s->padded, s->fold_start, s->fold_order);
        fine =
            reorder(s->memory, s->padded, s->fold_start, s->fold_order, s->fold, sizeof *s->fold);
    }
    pl_memory_free(s->memory, slot);
    pl_memory_free(s->memory, sum);
    return fine;
}

static bool make_samples(draft *d)
{
    if (d->s->def.rotations == PL_TET_EXACT)
        return true;
    if (!choose_samples(d) || !weigh_samples(d) || !place_samples(d))
        return false;
    return d->s->def.rotations == PL_TET_FOLDED ? place_fold(d) : place_blend(d);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static bool make_scratch(pl_tet_system *s)
{
    bool fine = true;
    s->scratch = TAKE(s->memory, pl_tet_scratch, s->workers, fine);
    for (int k = 0; fine && k < s->workers && s->factor; k++) {
        s->scratch[k].x = TAKE(s->memory, float, 3 * (size_t)s->unknowns * (size_t)s->side, fine);
        s->scratch[k].work = TAKE(s->memory, float, pl_supernodal_work(s->factor, s->side), fine);
    }
    return fine;
}

/* Of what the state of a body depends on. */
static uint64_t hash_of(const pl_tet_system *s)
{
    pl_hash hash;
    pl_hash_init(&hash, 7);
    pl_hash_u32(&hash, (uint32_t)s->n);
    pl_hash_u32(&hash, (uint32_t)s->tet_count);
    pl_hash_u32_array(&hash, (const uint32_t *)s->tets, 4 * (size_t)s->tet_count);
    pl_hash_f64_array(&hash, s->gradient, 9 * (size_t)s->tet_count);
    pl_hash_u32(&hash, (uint32_t)s->def.rotations);
    pl_hash_u32(&hash, (uint32_t)s->sample_count);
    pl_hash_u32(&hash, s->def.yield < (double)INFINITY);
    return pl_hash_final(&hash);
}

static pl_status make(draft *d, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    PL_TRY(make_elements(d));
    if (!make_rows(d) || !find_pieces(d) || !make_blocks(d))
        return no_memory(d->error);
    PL_TRY(make_matrix(d, tasks));
    if (!make_samples(d) || !make_scratch(s))
        return no_memory(d->error);
    s->hash = hash_of(s);
    return PL_OK;
}

pl_status pl_tet_system_create(pl_memory *memory, const pl_tet_source *source,
                               const pl_tetrahedral_def *def, pl_tasks *tasks,
                               pl_tet_system **system, pl_error *error)
{
    *system = NULL;
    PL_TRY(pl_tetrahedral_check(def, error));
    PL_TRY(check_source(source, error));
    pl_tet_system *s = PL_NEW(memory, pl_tet_system, 1);
    if (!s)
        return no_memory(error);
    s->memory = memory;
    s->references = 1;
    s->def = *def;
    s->h = source->h;
    s->n = source->n;
    s->fixed_count = source->fixed_count;
    s->source_count = source->tet_count;
    s->side = source->side_by_side > 0 && source->side_by_side < PL_TET_MOST_SIDE
                  ? source->side_by_side
                  : PL_TET_MOST_SIDE;
    s->workers = source->workers > 0 ? source->workers : 1;
    draft d = {.s = s, .source = source, .error = error};
    pl_status status = make(&d, tasks);
    void *blocks[] = {d.is_fixed,    d.is_used, d.order, d.tet_piece,
                      d.touch_start, d.touch,   d.sample};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    pl_tet_weights_free(memory, &d.weights);
    if (status == PL_OK)
        *system = s;
    else
        pl_tet_system_drop(s);
    return status;
}

void pl_tet_system_keep(pl_tet_system *system)
{
    system->references++;
}

void pl_tet_system_drop(pl_tet_system *s)
{
    if (!s || --s->references > 0)
        return;
    pl_memory *memory = s->memory;
    for (int k = 0; s->scratch && k < s->workers; k++) {
        pl_memory_free(memory, s->scratch[k].x);
        pl_memory_free(memory, s->scratch[k].work);
    }
    pl_supernodal_destroy(memory, s->factor);
    void *blocks[] = {s->row_of,
                      s->node_of,
                      s->fixed,
                      s->rest,
                      s->mass,
                      s->node_mass,
                      s->piece,
                      s->piece_mass,
                      s->tets,
                      s->gradient,
                      s->volume,
                      s->mu,
                      s->bulk,
                      s->slot,
                      s->source_of,
                      s->example_at,
                      s->blocks,
                      s->corner,
                      s->lanes,
                      s->place_row,
                      s->sum_start,
                      s->sum_place,
                      s->sample_corner,
                      s->sample_gradient,
                      s->blend_count,
                      s->blend_sample,
                      s->blend_weight,
                      s->fold_start,
                      s->fold,
                      s->fold_order,
                      s->near_order,
                      s->near_start,
                      s->near,
                      s->scratch,
                      s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

pl_tet_counts pl_tet_system_counts(const pl_tet_system *system)
{
    return system->counts;
}

double pl_tet_system_mass(const pl_tet_system *system, int node)
{
    return system->node_mass[node];
}
