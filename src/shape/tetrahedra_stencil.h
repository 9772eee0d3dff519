/* What is left of a lattice tetrahedron inside the surface. */
#ifndef PL_SHAPE_TETRAHEDRA_STENCIL_H
#define PL_SHAPE_TETRAHEDRA_STENCIL_H

#include "shape/tetrahedra_parts.h"

/* A cut nearer to an end of its edge than this part of the edge's length takes the end along. With
   these values no placing of cuts and ends, whatever the surface, gives a dihedral angle below
   10.7° (found by search; the stencils differ from the paper's in the choice of diagonals, and so
   do the values). */
#define PL_ALPHA_LONG 0.285
#define PL_ALPHA_SHORT 0.398

/* A tetrahedron with one corner inside at least. Corners 0 and 1 are the ends of one long edge, 2
   and 3 of the other. */
typedef struct pl_stencil {
    double corner[4][3];
    int32_t place[4][3]; /* where on the lattice the corner began: decides ties */
    int8_t side[4];      /* 1 inside, 0 on the surface, -1 outside */
    double cut[4][4][3]; /* [i][j] = [j][i] where i is inside and j outside */
} pl_stencil;

/* Corners of the pieces: 0 to 3 = the corner, 4 + 4 i + j = the cut next to the inner corner i. */
typedef struct pl_pieces {
    int count;
    int8_t corner[3][4]; /* positive volumes */
} pl_pieces;

void pl_stencil_apply(const pl_stencil *stencil, pl_pieces *pieces);

#endif
