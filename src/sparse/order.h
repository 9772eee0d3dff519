/* A fill-reducing elimination order of a symmetric sparse pattern: approximate minimum degree on
   the quotient graph (Amestoy, Davis and Duff 1996), from adjacency alone. The order depends on
   nothing but its input. */
#ifndef PL_SPARSE_ORDER_H
#define PL_SPARSE_ORDER_H

#include "base/memory.h"

/* Writes to order[0 … n−1] the nodes in the order in which they should be eliminated. The
   neighbours of node i are neighbour[start[i]] … neighbour[start[i + 1] − 1]: every edge appears in
   both of its nodes, no node is its own neighbour, none is listed twice. Nodes with very many
   neighbours (more than 10 √n) come last. False when there is no memory. */
bool pl_order_minimum_degree(pl_memory *memory, int n, const int *start, const int *neighbour,
                             int *order);

#endif
