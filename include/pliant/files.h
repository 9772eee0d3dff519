/* Pliant: files (library pliant_io). Meshes in the formats other tools write, and cooked models in
   our own. */
#ifndef PLIANT_FILES_H
#define PLIANT_FILES_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pl_model;

/* Reads a mesh; the format is told by the file's content where that is possible, else by its name:
   OBJ (with its .mtl), PLY, STL, OFF, glTF and GLB; TetGen (.node or .ele, the other one beside
   it), Gmsh (.msh), Medit (.mesh), legacy VTK (.vtk). Texture files named by a mesh are not read.
   Memory is bounded by the size of the file. An error's `where` is the name with the line or byte:
   "dragon.obj:12", "dragon.glb:byte 1044". Freed by pl_mesh_free. */
PL_API pl_status pl_mesh_load(const char *path, const pl_allocator *allocator, pl_mesh *mesh,
                              pl_error *error);

/* The same from memory. `name` tells the format where the content does not, and stands in messages;
   other files the mesh names are not looked for. */
PL_API pl_status pl_mesh_parse(const void *bytes, size_t size, const char *name,
                               const pl_allocator *allocator, pl_mesh *mesh, pl_error *error);

/* Model files (.pliant): the bytes of pl_model_pack, written whole or not at all; loaded in
   milliseconds into one block of memory, checked from end to end, the same on every machine. An
   error's `where` is the name with the place in it. */
PL_API pl_status pl_model_save(const struct pl_model *model, const char *path, pl_error *error);
PL_API pl_status pl_model_load(const char *path, const pl_allocator *allocator,
                               struct pl_model **model, pl_error *error);

#ifdef __cplusplus
}
#endif

#endif
