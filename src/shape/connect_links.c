/* Neighbouring cells, through the bricks they lie in. */
#include "shape/connect_links.h"

#include "base/error.h"

/* A way is closed when more than this part of it is outside. */
#define OUTSIDE 0.05

pl_status pl_links_make(pl_memory *memory, const pl_cells *cells, const pl_inside *inside,
                        pl_links *links, pl_error *error)
{
    *links = (pl_links){.cells = cells, .inside = inside};
    links->next = PL_NEW(memory, int32_t, 6 * (size_t)cells->brick_count);
    links->brick = PL_NEW(memory, int32_t, cells->count);
    links->bit = PL_NEW(memory, uint8_t, cells->count);
    if (!links->next || !links->brick || !links->bit) {
        pl_links_free(memory, links);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d cells", cells->count);
    }
    for (int b = 0; b < cells->brick_count; b++) {
        const pl_brick *brick = &cells->bricks[b];
        for (int side = 0; side < 6; side++) {
            int32_t place[3] = {brick->place[0], brick->place[1], brick->place[2]};
            place[side / 2] += side & 1 ? 1 : -1;
            const pl_brick *next = pl_cells_brick(cells, place);
            links->next[6 * (size_t)b + side] = next ? (int32_t)(next - cells->bricks) : -1;
        }
        int cell = brick->start;
        for (int bit = 0; bit < 64; bit++) {
            if (!(brick->filled >> bit & 1))
                continue;
            links->brick[cell] = b;
            links->bit[cell++] = (uint8_t)bit;
        }
    }
    return PL_OK;
}

void pl_links_free(pl_memory *memory, pl_links *links)
{
    pl_memory_free(memory, links->next);
    pl_memory_free(memory, links->brick);
    pl_memory_free(memory, links->bit);
    *links = (pl_links){0};
}

int pl_links_beside(const pl_links *links, int cell, int side)
{
    static const int step[3] = {1, 4, 16};
    int b = links->brick[cell], bit = links->bit[cell], axis = side / 2;
    int at = bit / step[axis] & 3;
    if (side & 1 ? at < 3 : at > 0) {
        bit += side & 1 ? step[axis] : -step[axis];
    } else {
        b = links->next[6 * (size_t)b + side];
        bit += side & 1 ? -3 * step[axis] : 3 * step[axis];
    }
    if (b < 0 || !(links->cells->bricks[b].filled >> bit & 1))
        return -1;
    return pl_brick_cell(&links->cells->bricks[b], bit);
}

bool pl_links_open(const pl_links *links, int a, int b)
{
    const pl_cells *cells = links->cells;
    const double *p = cells->points + 3 * (size_t)a, *q = cells->points + 3 * (size_t)b;
    if (cells->triangles[a] < 0 || cells->triangles[b] < 0)
        return true;
    if (pl_inside_hit(links->inside, p, q, NULL) > 1)
        return true;
    return pl_inside_segment_outside(links->inside, p, q) <= OUTSIDE;
}
