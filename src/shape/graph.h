/* The graph of a model: which particles are neighbours, whether all hang together, and in which
   order Gauss–Seidel may visit them. Linear in particles and edges. */
#ifndef PL_SHAPE_GRAPH_H
#define PL_SHAPE_GRAPH_H

#include "shape/model.h"

/* Fills start, neighbour and edge_of from `edges` (already within range). PL_ERROR_ARGUMENT for
   loops, duplicates and a graph in several pieces. */
pl_status pl_graph_connect(pl_model *model, pl_error *error);

/* Fills order, colour_start and colour_count from the adjacency. */
pl_status pl_graph_colour(pl_model *model, pl_error *error);

#endif
