/* The numeric factor P A Pᵀ = L D Lᵀ of a sparse symmetric positive definite matrix, in double with
   copies rounded to float, and solves with it. The matrix is given by its diagonal and one value
   per adjacency entry of the graph that the symbolic analysis was made from. A factor is immutable
   and shared; no factor is updated in place. */
#ifndef PL_SPARSE_FACTOR_H
#define PL_SPARSE_FACTOR_H

#include "sparse/symbolic.h"

/* Arrays in the two forms described in symbolic.h, in pivot order. To solve A x = b, with b_node in
   y[inverse[node]]:
       forward, k = 0 … n−1:   y_k = y_k − Σ_{p in row k} row_values[p] y[row_index[p]]
       y_k = y_k inverse_d[k]  (may be folded into the backward pass)
       backward, k = n−1 … 0:  y_k = y_k − Σ_{p in column k} col_values[p] y[col_index[p]]
   then x_node = y[inverse[node]]. Both sums are gathers with ascending indices. */
typedef struct pl_factor {
    const pl_symbolic *symbolic;                      /* not owned */
    double *row_values;                               /* [nnz] */
    double *col_values;                               /* [nnz] */
    double *inverse_d;                                /* [n] 1 / D_kk, all positive */
    float *row_values_f, *col_values_f, *inverse_d_f; /* the same, rounded */
} pl_factor;

/* Factors the matrix with A_ii = diagonal[i] and A_ij = value[p] where neighbour[p] = j in the list
   of i. The values of the two directions of an edge must be equal; one of them is read.
   PL_ERROR_ARGUMENT when a pivot is not positive and finite: the matrix is not positive definite,
   or not in double; then *bad_node (may be NULL) is the pivot's node. PL_ERROR_MEMORY leaves −1
   there. *factor is NULL after any failure, and nothing is kept. */
pl_status pl_factor_create(pl_memory *memory, const pl_symbolic *symbolic, const double *diagonal,
                           const double *value, pl_factor **factor, int *bad_node);

/* NULL is allowed. */
void pl_factor_destroy(pl_memory *memory, pl_factor *factor);

/* Solves for `count` right-hand sides in place, in double: number c of node i is x[i * stride + c],
   in and out. `work` has room for n * count doubles. What a right-hand side gives depends on no
   other. */
void pl_factor_solve(const pl_factor *factor, double *x, int count, ptrdiff_t stride, double *work);

/* y = A x with the factored matrix, in node order; x and y may be the same. `work` has room for n
   doubles. */
void pl_factor_multiply(const pl_factor *factor, const double *x, double *y, double *work);

/* A cheap deterministic estimate, from below, of the ratio of the largest to the smallest
   eigenvalue: a few power and inverse iterations from a fixed start. With `without_constant` the
   constant vector is projected out, whose tiny eigenvalue (mass against stiffness) says nothing
   about the accuracy of a solve that carries the mean separately. `work` has room for 2 n doubles.
   1 where there is nothing to compare. */
double pl_factor_condition(const pl_factor *factor, bool without_constant, double *work);

#endif
