/* What the files of the supernodal factor share: the analysis, the blocks, the kernels' table. */
#ifndef PL_SPARSE_SUPERNODAL_PARTS_H
#define PL_SPARSE_SUPERNODAL_PARTS_H

#include "sparse/supernodal.h"

enum {
    PL_BLOCK_COLUMNS = 128, /* columns of a block, at most */
    PL_STRIP = 64,          /* largest strip, see below */
    PL_SIDE = 16,           /* instances solved side by side */
    PL_TILE_ROWS = 24,      /* most rows of a tile of the dense kernels, of any width */
    PL_TILE_COLUMNS = 8     /* most columns */
};

/* A nested dissection of the graph: order[k] is eliminated k-th. Neighbours as in order.h. `points`
   may be NULL. False when there is no memory. */
bool pl_order_dissection(pl_memory *memory, int n, const int *start, const int *neighbour,
                         const double (*points)[3], int *order);

/* ---- Strips ---- */

/* A block's numbers lie in strips of 64, and at the end 32, 16, 8 and 4, of its rows (forward) or
   columns (backward). */
typedef struct pl_strip {
    int begin, size; /* size 0: there is none */
} pl_strip;

static inline int pl_round4(int count)
{
    return (count + 3) & ~3;
}

/* The strip that begins at a place where one begins. */
static inline pl_strip pl_strip_at(int begin, int count)
{
    int left = pl_round4(count) - begin, size = PL_STRIP;
    if (left <= 0)
        return (pl_strip){begin, 0};
    while (size > left)
        size >>= 1;
    return (pl_strip){begin, size};
}

/* How many columns the forward strip holds: above the diagonal there is nothing. */
static inline int pl_strip_columns(pl_strip s, int width)
{
    return s.begin + s.size < width ? s.begin + s.size : width;
}

/* How many floats a block of so many rows and columns has in either direction, up to a strip. */
static inline int64_t pl_forward_floats(int rows, int width, int end)
{
    int64_t floats = 0;
    for (pl_strip s = pl_strip_at(0, rows); s.size && s.begin < end;
         s = pl_strip_at(s.begin + s.size, rows))
        floats += (int64_t)s.size * pl_strip_columns(s, width);
    return floats;
}

static inline int64_t pl_backward_floats(int rows, int width, int end)
{
    int64_t floats = 0;
    for (pl_strip s = pl_strip_at(0, width); s.size && s.begin < end;
         s = pl_strip_at(s.begin + s.size, width))
        floats += (int64_t)s.size * (rows - s.begin);
    return floats;
}

/* ---- Analysis ---- */

/* Columns with nearly equal patterns. Pivots are numbered in the final order. */
typedef struct pl_front {
    int first, width;
    int below;          /* rows below */
    int64_t rows;       /* where they are in the list of rows, as pivots, ascending */
    int parent;         /* −1 at a root */
    int child, sibling; /* linked lists of children, −1 at the end */
    int block;          /* the first of its blocks */
    int64_t update;     /* where what it gives to its parent is kept, in doubles */
    bool is_kept;       /* that is not on the stack, but outlives its part */
} pl_front;

/* What is solved as one task, or the top, which is the last. */
typedef struct pl_part {
    int front_begin, front_end;
    int block_begin, block_end;
    int first, count; /* pivots */
    int border,
        border_count;    /* pivots of the top it touches: in the list of borders, as rows of the
                                 top */
    int64_t vectors;     /* where its vectors begin, in rows */
    int64_t temps;       /* where its two spare blocks of rows begin, in rows */
    int largest;         /* rows of either */
    int64_t stack, area; /* doubles of the largest stack and front while factoring */
} pl_part;

typedef struct pl_block {
    int first; /* row of the part's vectors of its first column */
    int width, below;
    int64_t rows;              /* rows of the part's vectors below, in block_rows */
    int64_t forward, backward; /* where its numbers are */
} pl_block;

typedef struct pl_supernodal_table pl_supernodal_table;

struct pl_supernodal {
    pl_supernodal_sizes sizes;
    int n, front_count, part_count, block_count; /* part_count with the top, which may be empty */
    int32_t *perm, *inverse;                     /* [n] pivot -> node, node -> pivot */
    pl_front *fronts;
    int32_t *rows; /* of fronts, pivots */
    int64_t row_count;
    pl_part *parts;
    int32_t *borders;
    int64_t border_count, vector_rows; /* rows of all parts' vectors and spares */
    int largest;                       /* most rows of a block, all counted */
    pl_block *blocks;
    int32_t *block_rows;
    float *values;
    int64_t value_count, kept; /* kept: doubles of what parts give to the top */
    int *start, *neighbour;    /* the matrix, for residuals */
    double *diagonal, *value;
    const pl_supernodal_table *table;
};

/* Everything up to the numbers. */
pl_status pl_supernodal_analyse(pl_memory *memory, pl_supernodal *f, const int *start,
                                const int *neighbour, const double (*points)[3]);

/* The numbers. */
pl_status pl_supernodal_factor(pl_memory *memory, pl_supernodal *f, const int *start,
                               const int *neighbour, const double *diagonal, const double *value,
                               pl_tasks *tasks, int *bad_node);

/* ---- Kernels ---- */

/* A front while one of its blocks is factored. All matrices by columns. */
typedef struct pl_dense {
    double *f; /* the front, from the block's first row and column on */
    int64_t stride;
    int rows, width;            /* of the block; rows counts the triangle's too */
    double *l, *x;              /* [width][128] the triangle and its inverse */
    double *x_rows, *x_columns; /* the inverse for products from the right: with its transpose, and
                                   with itself */
    double *panel;              /* the rows below, tiled: [tile][width][tile_rows] */
    double *spare;              /* per worker: a tile of rows, twice */
    float *forward, *backward;
} pl_dense;

struct pl_supernodal_table {
    int width, tile_rows, tile_columns;
    /* Factors and inverts the triangle. `least` is what the pivots must exceed. Returns the column
       that failed, or −1. */
    int (*triangle)(const pl_dense *d, const double *least);
    /* Tiles [begin, end) of the rows below: panel and numbers. */
    void (*rows)(const pl_dense *d, int begin, int end, int worker);
    /* Subtracts the panel times its transpose from columns of tiles [begin, end) of the rest. */
    void (*rest)(const pl_dense *d, int begin, int end);
    /* Vectors have `lanes` numbers a row: 4 for one instance, or a multiple of 16. A part's blocks
       one after the other; `spare` has room for twice `largest` rows. */
    void (*forward_part)(const pl_supernodal *f, const pl_part *part, float *y, float *spare,
                         int lanes);
    void (*backward_part)(const pl_supernodal *f, const pl_part *part, float *y, float *spare,
                          int lanes);
    /* One block, one instance, in pieces: out = block · in for the rows of strips that begin in
       [begin, end), and out = blockᵀ · in for columns. */
    void (*forward)(const float *values, int rows, int width, int begin, int end, const float *in,
                    float *out);
    void (*backward)(const float *values, int rows, int width, int begin, int end, const float *in,
                     float *out);
};

/* NULL when this build or machine has none of that width. */
const pl_supernodal_table *pl_supernodal_table_of(int width);

#endif
