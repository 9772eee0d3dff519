/* What the files that build meshes share among themselves; readers need mesh_build.h only. */
#ifndef PL_IO_MESH_PARTS_H
#define PL_IO_MESH_PARTS_H

#include "io/mesh_build.h"

/* Gives an attribute's table a row for every vertex, the new ones with the default value. */
bool pl_mesh_attribute_widen(pl_mesh_build *build, int attribute);

/* Copies a text, control characters as '?'. */
bool pl_mesh_text_add(pl_mesh_build *build, const char *text, size_t length, pl_mesh_text *made);

/* Gives each combination of position, UV and normal a vertex of its own; then the pools are in the
   attributes. */
bool pl_mesh_split_seams(pl_mesh_build *build);

/* Makes normals and tangents unit vectors, finds those that are missing, and replaces what is not
   finite by the defaults. */
bool pl_mesh_mend_attributes(pl_mesh_build *build);

#endif
