/* Elements of tetrahedral matter that are fitted when not all are, and how the others follow
   them. */
#include <math.h>
#include <string.h>

#include "matter/tetrahedral_build.h"
#include "shape/tet_sample.h"

#define LANES PL_TET_LANES

/* In the sequence of the lanes, so that neighbours stay together. */
static bool sort_samples(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    uint8_t *chosen = PL_TET_TAKE(s->memory, uint8_t, s->tet_count, fine);
    for (int j = 0; fine && j < s->sample_count; j++)
        chosen[d->sample[j]] = 1;
    for (int k = 0, j = 0; fine && k < s->tet_count; k++)
        if (chosen[d->order[k]])
            d->sample[j++] = d->order[k];
    pl_memory_free(s->memory, chosen);
    return fine;
}

static bool weigh_samples(pl_tet_draft *d, const double *centroid)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    pl_tet_system *s = d->s;
    bool fine = true;
    double *edge = PL_TET_TAKE(s->memory, double, 6 * (size_t)s->tet_count, fine);
    for (int e = 0; fine && e < s->tet_count; e++)
        for (int k = 0; k < 6; k++)
            edge[6 * (ptrdiff_t)e + k] =
                s->volume[e] * pl_tet_product_of(s, e, ends[k][0], ends[k][1]);
    fine = fine &&
           pl_tet_weigh(s->memory, s->n, s->tet_count, s->tets, edge, centroid, s->sample_count,
                        d->sample, s->def.threshold, s->def.weight_cap, &d->weights) == PL_OK;
    pl_memory_free(s->memory, edge);
    return fine;
}

static bool choose_samples(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    double wish = ceil(s->def.sampled * s->tet_count);
    s->sample_count = wish < s->tet_count ? (int)wish : s->tet_count;
    if (s->sample_count < s->counts.pieces)
        s->sample_count = s->counts.pieces;
    s->counts.samples = s->sample_count;
    s->sample_groups = (s->sample_count + LANES - 1) / LANES;
    double *centroid = PL_TET_TAKE(s->memory, double, 3 * (size_t)s->tet_count, fine);
    d->sample = PL_TET_TAKE(s->memory, int32_t, s->sample_count, fine);
    for (int e = 0; fine && e < s->tet_count; e++)
        pl_tet_centroid_of(d, e, centroid + 3 * (ptrdiff_t)e);
    fine = fine &&
           pl_tet_sample(s->memory, s->tet_count, centroid, d->tet_piece, s->sample_count,
                         d->sample) &&
           sort_samples(d) && weigh_samples(d, centroid);
    pl_memory_free(s->memory, centroid);
    return fine;
}

/* A sample is fitted to its element and those beyond its faces together: the mean of their F by
   volume. Single elements of a mesh turn by what their kind of place in it makes them turn (corners
   of a cell one way, its middle another), and samples tend to be of one kind; with the element
   alone, a beam twisted by 400° comes undone. */
typedef struct patch {
    int count;
    int32_t node[PL_TET_PATCH];
    double gradient[PL_TET_PATCH][3], volume;
} patch;

static int place_of(const patch *p, int32_t node)
{
    int k = 0;
    while (k < p->count && p->node[k] != node)
        k++;
    return k;
}

/* False where its nodes find no room. */
static bool add_element(const pl_tet_system *s, int e, patch *p)
{
    const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
    int strange = 0;
    for (int a = 0; a < 4; a++)
        strange += place_of(p, tet[a]) == p->count;
    if (p->count + strange > PL_TET_PATCH)
        return false;
    for (int a = 0; a < 4; a++) {
        double g[3];
        int at = place_of(p, tet[a]);
        p->node[at] = tet[a];
        p->count += at == p->count;
        pl_tet_gradient_of(s, e, a, g);
        for (int k = 0; k < 3; k++)
            p->gradient[at][k] += s->volume[e] * g[k];
    }
    p->volume += s->volume[e];
    return true;
}

static int shared_corners(const pl_tet_system *s, int e, int other)
{
    int count = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            count += s->tets[4 * (ptrdiff_t)e + a] == s->tets[4 * (ptrdiff_t)other + b];
    return count;
}

static bool shares_node(const pl_tet_system *s, int e, int32_t node)
{
    const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
    return tet[0] == node || tet[1] == node || tet[2] == node || tet[3] == node;
}

static patch patch_of(const pl_tet_draft *d, int e)
{
    const pl_tet_system *s = d->s;
    patch p = {0};
    add_element(s, e, &p);
    /* Every face has at least one of the first two corners. */
    for (int a = 0; a < 2; a++) {
        int32_t node = s->tets[4 * (ptrdiff_t)e + a];
        for (int32_t k = d->touch_start[node]; k < d->touch_start[node + 1]; k++) {
            int other = d->touch[k] / 4;
            bool twice = a == 1 && shares_node(s, other, s->tets[4 * (ptrdiff_t)e]);
            if (other != e && !twice && shared_corners(s, e, other) == 3)
                add_element(s, other, &p);
        }
    }
    return p;
}

static bool place_samples(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    size_t cells = PL_TET_PATCH * LANES * (size_t)s->sample_groups;
    s->sample_corner = PL_TET_TAKE(s->memory, int32_t, cells, fine);
    s->sample_gradient = PL_TET_TAKE(s->memory, float, 3 * cells, fine);
    for (int j = 0; fine && j < s->sample_count; j++) {
        ptrdiff_t group = j / LANES, lane = j % LANES;
        patch p = patch_of(d, d->sample[j]);
        for (int a = 0; a < PL_TET_PATCH; a++) {
            ptrdiff_t at = group * PL_TET_PATCH + a;
            s->sample_corner[at * LANES + lane] = 4 * s->row_of[p.node[a < p.count ? a : 0]];
            for (int k = 0; k < 3; k++)
                s->sample_gradient[(3 * at + k) * LANES + lane] =
                    (float)(p.gradient[a][k] / p.volume);
        }
    }
    return fine;
}

static bool place_blend(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    const pl_tet_weights *w = &d->weights;
    bool fine = true;
    for (int e = 0; e < s->tet_count; e++)
        s->slots = w->count[e] > s->slots ? w->count[e] : s->slots;
    size_t cells = (size_t)s->group_count * (size_t)s->slots * LANES;
    s->blend_count = PL_TET_TAKE(s->memory, uint8_t, s->group_count, fine);
    s->blend_sample = PL_TET_TAKE(s->memory, int32_t, cells, fine);
    s->blend_weight = PL_TET_TAKE(s->memory, float, cells, fine);
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
static int fold_row(const pl_tet_draft *d, int row, int filled, int32_t *slot, pl_tet_fold *flat,
                    double *sum)
{
    const pl_tet_system *s = d->s;
    const pl_tet_weights *w = &d->weights;
    int node = s->node_of[row], first = filled;
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++) {
        int e = d->touch[p] / 4;
        double g[3], weight = pl_tet_weight_of(s, e, s->mu[e]);
        pl_tet_gradient_of(s, e, d->touch[p] % 4, g);
        for (int k = 0; k < w->count[e]; k++) {
            size_t at = (size_t)e * (size_t)w->cap + (size_t)k;
            int32_t j = w->sample[at];
            if (slot[j] < first) {
                slot[j] = filled;
                if (flat)
                    flat[filled].sample = 16 * j;
                filled++;
            }
            for (int c = 0; c < 3 && sum; c++)
                sum[3 * (ptrdiff_t)slot[j] + c] += weight * (double)w->weight[at] * g[c];
        }
    }
    return filled;
}

/* The lists of all rows, one after the other. */
static pl_tet_fold *fold_rows(const pl_tet_draft *d, int32_t *start)
{
    const pl_tet_system *s = d->s;
    bool fine = true;
    int32_t *slot = PL_TET_TAKE(s->memory, int32_t, s->sample_count, fine);
    pl_tet_fold *flat = NULL;
    double *sum = NULL;
    for (int pass = 0; fine && pass < 2; pass++) {
        int filled = 0;
        for (int j = 0; j < s->sample_count; j++)
            slot[j] = -1;
        for (int row = 0; row < s->padded; row++) {
            if (row < s->unknowns)
                filled = fold_row(d, row, filled, slot, flat, sum);
            start[row + 1] = filled;
        }
        if (pass == 0) {
            flat = PL_TET_TAKE(s->memory, pl_tet_fold, filled, fine);
            sum = PL_TET_TAKE(s->memory, double, 3 * (size_t)filled, fine);
        }
    }
    for (ptrdiff_t k = 0; fine && k < 3 * (ptrdiff_t)start[s->padded]; k++)
        flat[k / 3].factor[k % 3] = (float)sum[k];
    pl_memory_free(s->memory, slot);
    pl_memory_free(s->memory, sum);
    if (fine)
        return flat;
    pl_memory_free(s->memory, flat);
    return NULL;
}

/* Where one of four rows has fewer than the others, it gets nothing of the first sample. */
static bool place_fold(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int quads = s->padded / 4;
    int32_t *start = PL_TET_TAKE(s->memory, int32_t, s->padded + 1, fine);
    s->fold_start = PL_TET_TAKE(s->memory, int32_t, quads + 1, fine);
    s->fold_order = PL_TET_TAKE(s->memory, int32_t, s->padded, fine);
    pl_tet_fold *flat = fine ? fold_rows(d, start) : NULL;
    fine = flat != NULL;
    if (fine)
        pl_tet_quads(s->padded, start, s->fold_order, s->fold_start);
    s->fold =
        PL_TET_TAKE(s->memory, pl_tet_fold, fine ? 4 * (size_t)s->fold_start[quads] : 0, fine);
    for (int place = 0; fine && place < s->padded; place++) {
        int row = s->fold_order[place];
        for (int32_t k = 0; k < start[row + 1] - start[row]; k++)
            s->fold[4 * (s->fold_start[place / 4] + k) + place % 4] = flat[start[row] + k];
    }
    pl_memory_free(s->memory, start);
    pl_memory_free(s->memory, flat);
    return fine;
}

bool pl_tet_make_samples(pl_tet_draft *d)
{
    if (d->s->def.rotations == PL_TET_EXACT)
        return true;
    if (!choose_samples(d) || !place_samples(d))
        return false;
    return d->s->def.rotations == PL_TET_FOLDED ? place_fold(d) : place_blend(d);
}
