/* The owner of a mesh's arrays: the memory they come from and the list of their blocks. */
#include "shape/mesh.h"

#include "base/array.h"
#include "base/error.h"

struct pl_mesh_owner {
    pl_memory memory;
    pl_array blocks; /* void * */
};

pl_mesh_owner *pl_mesh_owner_create(const pl_allocator *host, size_t limit)
{
    pl_memory memory;
    pl_memory_init(&memory, host, limit);
    pl_mesh_owner *owner = PL_NEW(&memory, pl_mesh_owner, 1);
    if (!owner)
        return NULL;
    owner->memory = memory;
    owner->blocks = pl_array_make(&owner->memory, sizeof(void *));
    return owner;
}

void pl_mesh_owner_destroy(pl_mesh_owner *owner)
{
    if (!owner)
        return;
    void **blocks = owner->blocks.data;
    for (size_t i = 0; i < owner->blocks.count; i++)
        pl_memory_free(&owner->memory, blocks[i]);
    pl_array_free(&owner->blocks);
    /* The owner lies in the memory it holds. */
    pl_memory memory = owner->memory;
    pl_memory_free(&memory, owner);
    PL_ASSERT(memory.used == 0);
}

pl_memory *pl_mesh_owner_memory(pl_mesh_owner *owner)
{
    return &owner->memory;
}

bool pl_mesh_owner_keep(pl_mesh_owner *owner, void *block)
{
    if (!block)
        return true;
    void **slot = pl_array_add(&owner->blocks, 1);
    if (!slot)
        return false;
    *slot = block;
    return true;
}

void *pl_mesh_owner_alloc(pl_mesh_owner *owner, size_t count, size_t size)
{
    void *block = pl_memory_alloc(&owner->memory, count, size);
    if (!block || pl_mesh_owner_keep(owner, block))
        return block;
    pl_memory_free(&owner->memory, block);
    return NULL;
}

void pl_mesh_free(pl_mesh *mesh)
{
    if (!mesh)
        return;
    pl_mesh_owner_destroy(mesh->owner);
    *mesh = (pl_mesh){0};
}
