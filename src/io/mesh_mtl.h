/* Material libraries of OBJ files (.mtl). */
#ifndef PL_IO_MESH_MTL_H
#define PL_IO_MESH_MTL_H

#include "io/mesh_readers.h"

/* Adds all materials of a library to the build: colour (Kd), emission (Ke), opacity (d, Tr),
   metalness and roughness (Pm, Pr), and the names of the textures of colour, emission and normal
   (map_Kd, map_Ke, norm). Statements that cannot be understood are passed over: an appearance is no
   reason to refuse a shape. False without memory. */
bool pl_mtl_read(pl_mesh_build *build, const pl_mesh_source *library);

#endif
