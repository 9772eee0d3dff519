#include "base/arena.h"

#include <stdint.h>
#include <string.h>

size_t pl_arena_bytes(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size)
        return SIZE_MAX;
    size_t units = (count * size + PL_ALIGNMENT - 1) / PL_ALIGNMENT;
    return (units ? units : 1) * PL_ALIGNMENT;
}

pl_status pl_arena_init(pl_arena *arena, pl_memory *memory, size_t bytes)
{
    *arena = (pl_arena){.memory = memory};
    return pl_arena_reserve(arena, bytes);
}

void pl_arena_free(pl_arena *arena)
{
    if (arena->memory)
        pl_memory_free(arena->memory, arena->base);
    *arena = (pl_arena){.memory = arena->memory};
}

pl_status pl_arena_reserve(pl_arena *arena, size_t bytes)
{
    if (bytes <= arena->size)
        return PL_OK;
    if (arena->used)
        return PL_ERROR_STATE;
    bytes = pl_arena_bytes(1, bytes);
    char *base = pl_memory_alloc(arena->memory, 1, bytes);
    if (!base)
        return PL_ERROR_MEMORY;
    pl_memory_free(arena->memory, arena->base);
    arena->base = base;
    arena->size = bytes;
    return PL_OK;
}

void *pl_arena_alloc(pl_arena *arena, size_t count, size_t size)
{
    size_t bytes = pl_arena_bytes(count, size);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (arena->used + bytes > arena->wanted)
        arena->wanted = arena->used + bytes;
    if (bytes > arena->size - arena->used)
        return NULL;
    void *block = arena->base + arena->used;
    arena->used += bytes;
    return block;
}

void *pl_arena_alloc_zero(pl_arena *arena, size_t count, size_t size)
{
    void *block = pl_arena_alloc(arena, count, size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void pl_arena_reset(pl_arena *arena, pl_arena_mark mark)
{
    if (mark < arena->used)
        arena->used = mark;
}
