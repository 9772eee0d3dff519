/* Elements of tetrahedral matter in lanes and blocks. */
#include "base/sort.h"
#include "matter/tetrahedral_build.h"

#define LANES PL_TET_LANES

static bool order_elements(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    double low[3], size;
    pl_sort_item *items = PL_TET_TAKE(s->memory, pl_sort_item, s->tet_count, fine);
    pl_sort_item *spare = PL_TET_TAKE(s->memory, pl_sort_item, s->tet_count, fine);
    d->order = PL_TET_TAKE(s->memory, int32_t, s->tet_count, fine);
    pl_tet_bounds(d, low, &size);
    for (int e = 0; fine && e < s->tet_count; e++) {
        double c[3];
        pl_tet_centroid_of(d, e, c);
        items[e] = (pl_sort_item){pl_tet_morton(c, low, size), (uint32_t)e};
    }
    if (fine)
        pl_sort(items, spare, (size_t)s->tet_count);
    for (int e = 0; fine && e < s->tet_count; e++)
        d->order[e] = (int32_t)items[e].index;
    pl_memory_free(s->memory, items);
    pl_memory_free(s->memory, spare);
    return fine;
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
    out[9 * LANES] = (float)pl_tet_weight_of(s, e, s->mu[e]);
    out[10 * LANES] = (float)pl_tet_weight_of(s, e, s->bulk[e]);
    s->example_at[s->slot[e]] =
        s->source_of[e] / LANES * PL_TET_DESCRIPTOR * LANES + s->source_of[e] % LANES;
}

/* Elements [first, end) of the sequence; `place` is −1 for all rows before and after. */
static void fill_block(pl_tet_draft *d, pl_tet_block *block, int first, int end, int32_t *place)
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
    s->sum_start = PL_TET_TAKE(s->memory, int32_t, s->padded + 2, fine);
    s->sum_place = PL_TET_TAKE(s->memory, int32_t, s->place_count, fine);
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

bool pl_tet_make_blocks(pl_tet_draft *d)
{
    enum { SIZE = PL_TET_BLOCK_GROUPS * LANES };
    pl_tet_system *s = d->s;
    bool fine = order_elements(d);
    s->group_count = (s->tet_count + LANES - 1) / LANES;
    s->block_count = (s->tet_count + SIZE - 1) / SIZE;
    s->blocks = PL_TET_TAKE(s->memory, pl_tet_block, s->block_count, fine);
    s->corner = PL_TET_TAKE(s->memory, uint16_t, 4 * LANES * (size_t)s->group_count, fine);
    s->lanes =
        PL_TET_TAKE(s->memory, float, PL_TET_REST_FIELDS *LANES *(size_t)s->group_count, fine);
    s->slot = PL_TET_TAKE(s->memory, int32_t, s->tet_count, fine);
    s->example_at = PL_TET_TAKE(s->memory, int32_t, LANES * (size_t)s->group_count, fine);
    s->place_row = PL_TET_TAKE(s->memory, int32_t, 4 * (size_t)s->tet_count, fine);
    int32_t *place = PL_TET_TAKE(s->memory, int32_t, s->rows, fine);
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
