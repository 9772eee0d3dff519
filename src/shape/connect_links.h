/* From cell to neighbouring cell inside the body: a way is open unless it leaves the body between
   two cells near the surface, as from one leg to the other. */
#ifndef PL_SHAPE_CONNECT_LINKS_H
#define PL_SHAPE_CONNECT_LINKS_H

#include "shape/sample_cells.h"

typedef struct pl_links {
    const pl_cells *cells;
    const pl_inside *inside;
    int32_t
        *next; /* [brick][6] bricks to the left, right, below, above, behind, before; -1 = none */
    int32_t *brick; /* [cell] */
    uint8_t *bit;   /* [cell] in its brick */
} pl_links;

pl_status pl_links_make(pl_memory *memory, const pl_cells *cells, const pl_inside *inside,
                        pl_links *links, pl_error *error);
void pl_links_free(pl_memory *memory, pl_links *links);

/* The cell beside a cell (sides as above), or -1. */
int pl_links_beside(const pl_links *links, int cell, int side);

bool pl_links_open(const pl_links *links, int a, int b);

#endif
