/* The readers of mesh files: each adds what a file's bytes hold to a mesh that is being built.
   Errors name the line ("dragon.obj:12") or byte ("dragon.glb:byte 1044") in `where`. */
#ifndef PL_IO_MESH_READERS_H
#define PL_IO_MESH_READERS_H

#include "io/mesh_build.h"

typedef struct pl_mesh_source {
    const uint8_t *bytes;
    size_t size;
    const char *name; /* path or name, for messages and to find other files beside it */
    bool may_open;    /* whether other files beside it may be read */
} pl_mesh_source;

pl_status pl_read_obj(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_ply(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_stl(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_off(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_gltf(pl_mesh_build *build, const pl_mesh_source *source,
                       pl_error *error); /* and GLB */
pl_status pl_read_tetgen(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_gmsh(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_medit(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);
pl_status pl_read_vtk(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);

/* Reads a regular file named by a mesh, relative to the mesh's own directory; absolute names are
   not followed. What the build may allocate grows with it. PL_ERROR_IO when it may not be opened,
   is not there or cannot be read. On success other->bytes and other->name are freed by
   pl_mesh_beside_close. */
pl_status pl_mesh_beside(pl_mesh_build *build, const pl_mesh_source *source, const char *name,
                         size_t length, pl_mesh_source *other, pl_error *error);
void pl_mesh_beside_close(pl_mesh_build *build, pl_mesh_source *other);

/* Whether the name ends with this extension (".obj"), in any case of letters. */
bool pl_mesh_has_extension(const char *name, const char *extension);

#endif
