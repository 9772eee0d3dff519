/* The factor of a large sparse symmetric positive definite matrix, for solving with it thousands of
   times in float: P A Pᵀ = L Lᵀ, computed in double by fronts (multifrontal), kept as dense blocks
   of up to 128 columns in the order in which the lanes read them. A block holds the inverse of its
   triangle and the rows below times that inverse, so that a solve is nothing but products of dense
   blocks with vectors, without waiting for one unknown after the other.

   The order is nested dissection (supernodal_order.c) or minimum degree, whichever leaves fewer
   entries. The tree of the blocks is cut once into parts that can be solved side by side and a top;
   this depends on the pattern only. Every sum is added up in an order that depends on the pattern
   only, so that all numbers of threads, all lane widths, and solving alone or together with others
   give the same bits. A factor is immutable and shared. */
#ifndef PL_SPARSE_SUPERNODAL_H
#define PL_SPARSE_SUPERNODAL_H

#include "base/memory.h"
#include "base/tasks.h"

typedef struct pl_supernodal pl_supernodal;

/* Factors the matrix with A_ii = diagonal[i] and A_ij = value[p] where neighbour[p] = j is in the
   list start[i] … start[i + 1] − 1 of i. Every edge is in the lists of both of its nodes, with
   equal values. `points`, where the nodes are, may be NULL: it makes a better order sooner.
   `tasks` may be NULL.

   PL_ERROR_ARGUMENT when the lists are not so, or for more than 30 million nodes (*bad_node = −1),
   or when a pivot is not positive and finite: the matrix is not positive definite, or not in
   double; then *bad_node (may be NULL) is a node where it showed. PL_ERROR_MEMORY. *factor is NULL
   after any failure, and nothing is kept. */
pl_status pl_supernodal_create(pl_memory *memory, int n, const int *start, const int *neighbour,
                               const double *diagonal, const double *value,
                               const double (*points)[3], pl_tasks *tasks, pl_supernodal **factor,
                               int *bad_node);

/* NULL is allowed. */
void pl_supernodal_destroy(pl_memory *memory, pl_supernodal *factor);

/* Solves A x = b in place for `count` instances of three right-hand sides: number c of instance k
   of node i is x[(i * count + k) * 3 + c]. Side by side, sixteen instances cost about as much as
   ten alone. `work` has room for pl_supernodal_work(factor, count) floats (what is enough for a
   count is enough for smaller ones) and is aligned
   like memory from pl_memory_alloc. What an instance gives depends on no other. `tasks` may be
   NULL. */
void pl_supernodal_solve(const pl_supernodal *factor, float *x, int count, float *work,
                         pl_tasks *tasks);
size_t pl_supernodal_work(const pl_supernodal *factor, int count);

/* The same in double, by solving in float and correcting with the residual until it does not get
   smaller any more: as accurate as a factor in double for condition numbers up to some 10⁵.
   `work` has room for pl_supernodal_work_double doubles. */
void pl_supernodal_solve_double(const pl_supernodal *factor, double *x, int count, double *work,
                                pl_tasks *tasks);
size_t pl_supernodal_work_double(const pl_supernodal *factor, int count);

typedef struct pl_supernodal_sizes {
    int n;
    int block_count, part_count; /* dense blocks; parts solved side by side */
    int64_t entries;             /* of L without relaxation, with the diagonal */
    int64_t stored;              /* numbers kept, in both directions */
    size_t bytes;
    double flops;   /* of the factorisation, without relaxation */
    bool dissected; /* nested dissection was better than minimum degree */
} pl_supernodal_sizes;

pl_supernodal_sizes pl_supernodal_get_sizes(const pl_supernodal *factor);

#endif
