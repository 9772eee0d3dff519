/* A bump arena: one block reserved beforehand, handed out in 64-byte aligned pieces, given back all
   at once. For what lives as long as a step or a call. It never grows by itself: when it is full it
   says so, remembers how much would have been enough, and the owner reserves that outside of the
   step. Not thread-safe: each worker has its own. */
#ifndef PL_BASE_ARENA_H
#define PL_BASE_ARENA_H

#include "base/memory.h"

typedef struct pl_arena {
    pl_memory *memory;
    char *base;
    size_t size, used; /* bytes */
    size_t wanted;     /* the largest `used` there ever was, or would have been with enough room */
} pl_arena;

/* A place to go back to. */
typedef size_t pl_arena_mark;

/* An arena of 0 bytes is valid and always full. On failure the arena is empty, and safe to free. */
pl_status pl_arena_init(pl_arena *arena, pl_memory *memory, size_t bytes);
void pl_arena_free(pl_arena *arena);

/* Makes room for at least `bytes` in all. Only while nothing is handed out (else PL_ERROR_STATE);
   on failure the arena keeps the room it has. */
pl_status pl_arena_reserve(pl_arena *arena, size_t bytes);

/* NULL when full or when count * size overflows. The contents are whatever was there before. A
   count of 0 gives a valid pointer as long as the arena has room for one alignment unit. */
void *pl_arena_alloc(pl_arena *arena, size_t count, size_t size);

/* The same, zeroed. */
void *pl_arena_alloc_zero(pl_arena *arena, size_t count, size_t size);

static inline pl_arena_mark pl_arena_now(const pl_arena *arena)
{
    return arena->used;
}

/* Gives back everything handed out since the mark; the mark 0 gives back everything. */
void pl_arena_reset(pl_arena *arena, pl_arena_mark mark);

/* Bytes an allocation takes out of an arena; sum these to know what to reserve. SIZE_MAX when it
   overflows. */
size_t pl_arena_bytes(size_t count, size_t size);

#define PL_ARENA_NEW(arena, type, count)                                                           \
    ((type *)pl_arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
