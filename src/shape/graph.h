/* The graph of a model: which particles are neighbours, whether all hang together, and in which
   order Gauss–Seidel may visit them. Linear in particles and edges. */
#ifndef PL_SHAPE_GRAPH_H
#define PL_SHAPE_GRAPH_H

#include "shape/model.h"

/* Fills start, neighbour, edge_of and piece_count from `edges` (already within range).
   PL_ERROR_ARGUMENT for loops and duplicates, and for a graph in several pieces unless these are
   welcome. */
pl_status pl_graph_connect(pl_model *model, bool several_pieces, pl_error *error);

/* Fills order, colour_start and colour_count from the adjacency. */
pl_status pl_graph_colour(pl_model *model, pl_error *error);

/* Whether order and colour_start, which came from outside, are what pl_graph_colour might have
   made: every particle once, ascending within its colour, no two neighbours of one colour. */
pl_status pl_graph_check_colours(pl_model *model, pl_error *error);

#endif
