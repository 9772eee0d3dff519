/* What a sparse LDLᵀ factorisation knows before it sees a number: the order of the pivots, the
   elimination tree, and the pattern of L by rows and by columns. It depends on the graph only; it
   is immutable and belongs to a model. */
#ifndef PL_SPARSE_SYMBOLIC_H
#define PL_SPARSE_SYMBOLIC_H

#include "base/memory.h"

/* Pivots are counted 0 … n−1 in the order of elimination; "node" always means the caller's
   numbering. Only entries below the diagonal are stored: L has ones on it. The strict lower
   triangle is there twice, so that a triangular solve can gather in both directions:
       row k, entries row_start[k] … row_start[k+1]−1:
           row_index = the earlier pivots c < k it depends on, ascending;
       column k, entries col_start[k] … col_start[k+1]−1:
           col_index = the later pivots r > k that depend on it, ascending.
   Entry p of the row form and entry row_to_col[p] of the column form are the same entry of L. */
typedef struct pl_symbolic {
    int n;
    int edge_count;   /* pairs of neighbours in the graph */
    int64_t nnz;      /* entries below the diagonal of L: row_start[n] = col_start[n] */
    double flops;     /* multiplications and additions of one numeric factorisation */
    int32_t *perm;    /* [n] pivot -> node */
    int32_t *inverse; /* [n] node -> pivot */
    int32_t *parent; /* [n] elimination tree over pivots, −1 at a root; children always come before
                        parents */
    int64_t *row_start;  /* [n + 1] */
    int32_t *row_index;  /* [nnz] */
    int64_t *col_start;  /* [n + 1] */
    int32_t *col_index;  /* [nnz] */
    int64_t *row_to_col; /* [nnz] */
    int64_t *entry;  /* [start[n]] for each position in `neighbour`, of node i with neighbour j: the
                        entry of the column form that begins as A_ij if i is the later pivot of the
                        two, −1 otherwise */
    int super_count; /* runs of consecutive pivots whose columns have the same rows below the run */
    int32_t *super_start; /* [super_count + 1] first pivot of each run */
    int32_t *super_of;    /* [n] pivot -> run */
} pl_symbolic;

/* Analyses the graph given as in order.h. `order` is an elimination order of the nodes, or NULL to
   have one made by pl_order_minimum_degree; in either case it is rearranged into a postorder of the
   elimination tree, which changes no fill. PL_ERROR_ARGUMENT when the graph or the order is not
   what it should be (an index out of range, a loop, an edge listed twice or in one direction only),
   PL_ERROR_MEMORY; then *symbolic is NULL and nothing is kept. */
pl_status pl_symbolic_create(pl_memory *memory, int n, const int *start, const int *neighbour,
                             const int *order, pl_symbolic **symbolic);

/* NULL is allowed. */
void pl_symbolic_destroy(pl_memory *memory, pl_symbolic *symbolic);

#endif
