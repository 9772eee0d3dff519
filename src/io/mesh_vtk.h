/* The inside of the legacy VTK reader: what a file's sections hold, before cells are made of it. */
#ifndef PL_IO_MESH_VTK_H
#define PL_IO_MESH_VTK_H

#include "io/mesh_bytes.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

/* Lists of point numbers: list i is members[ends[i − 1] … ends[i]). */
typedef struct pl_vtk_lists {
    pl_array ends;    /* size_t */
    pl_array members; /* int32_t, not negative */
} pl_vtk_lists;

typedef struct pl_vtk {
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_error *error;
    pl_text text;
    pl_bytes bytes;
    bool is_binary, is_grid;
    pl_vtk_lists cells, polygons, strips, lines;
    pl_array types; /* int32_t, one for each cell */
} pl_vtk;

/* Makes triangles, lines and tetrahedra of all lists (mesh_vtk_cells.c). */
pl_status pl_vtk_add_cells(pl_vtk *file);

#endif
