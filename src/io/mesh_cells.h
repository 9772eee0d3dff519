/* Cells of volume meshes, as Gmsh, Medit and VTK have them, made into what a pl_mesh can hold:
   quadrilaterals into triangles; pyramids, prisms and hexahedra into tetrahedra. */
#ifndef PL_IO_MESH_CELLS_H
#define PL_IO_MESH_CELLS_H

#include "io/mesh_build.h"

typedef enum pl_cell_kind {
    PL_CELL_NONE, /* left out */
    PL_CELL_LINE,
    PL_CELL_TRIANGLE,
    PL_CELL_QUAD,
    PL_CELL_TET,
    PL_CELL_PYRAMID, /* base 0 1 2 3, apex 4 */
    PL_CELL_PRISM,   /* 0 1 2, and 3 4 5 above them */
    PL_CELL_HEX,     /* 0 1 2 3, and 4 5 6 7 above them */
    PL_CELL_KINDS
} pl_cell_kind;

enum { PL_CELL_MOST_CORNERS = 8 };

int pl_cell_corners(pl_cell_kind kind);

/* Adds a cell; its vertices must be there already. False without memory. */
bool pl_cell_add(pl_mesh_build *build, pl_cell_kind kind, const int32_t *vertices);

/* Volume meshes list the feature lines of their surfaces too: those are dropped, lines are kept
   only where there is nothing else. */
void pl_cells_finish(pl_mesh_build *build);

#endif
