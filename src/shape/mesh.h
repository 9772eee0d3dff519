/* Meshes that own their arrays: whoever makes a pl_mesh (a reader, a built-in creature) takes its
   arrays from one owner, and pl_mesh_free gives all of them back.

       pl_mesh_owner *owner = pl_mesh_owner_create(allocator, 0);
       double *positions = pl_mesh_owner_alloc(owner, 3 * count, sizeof *positions);
       …
       *mesh = (pl_mesh){.vertex_count = count, .positions = positions, .owner = owner}; */
#ifndef PL_SHAPE_MESH_H
#define PL_SHAPE_MESH_H

#include "base/memory.h"
#include "pliant/mesh.h"

typedef struct pl_mesh_owner pl_mesh_owner;

/* `host` NULL takes malloc and free; `limit` in bytes, 0 = none. NULL without memory. */
pl_mesh_owner *pl_mesh_owner_create(const pl_allocator *host, size_t limit);

/* Everything kept and allocated goes too. NULL is allowed. Not for an owner that is in a mesh:
   pl_mesh_free. */
void pl_mesh_owner_destroy(pl_mesh_owner *owner);

/* Where its blocks come from: for scratch and growing arrays, which their user frees or has
   kept. */
pl_memory *pl_mesh_owner_memory(pl_mesh_owner *owner);

/* A zeroed block that lives as long as the mesh; NULL without memory. */
void *pl_mesh_owner_alloc(pl_mesh_owner *owner, size_t count, size_t size);

/* Takes over a block of pl_mesh_owner_memory. False without memory: then it is still the caller's.
   NULL is allowed. */
bool pl_mesh_owner_keep(pl_mesh_owner *owner, void *block);

#endif
