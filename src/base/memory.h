/* Memory of one owner (a world, a model): a host allocator with a byte limit, counters, and failure
   injection. Every block is zeroed and aligned for the widest vectors. Not thread-safe: an owner is
   changed by one thread. */
#ifndef PL_BASE_MEMORY_H
#define PL_BASE_MEMORY_H

#include "pliant/base.h"

#define PL_ALIGNMENT 64

typedef struct pl_memory {
    pl_allocator host;
    size_t used, peak, limit; /* bytes; limit 0 = none */
    uint64_t allocations; /* calls that succeeded, ever: a steady-state step must not change it */
    int64_t fail_at;      /* this allocation (counted from 0) and all later ones fail; -1 = never */
} pl_memory;

/* `host` NULL takes malloc and free. */
void pl_memory_init(pl_memory *memory, const pl_allocator *host, size_t limit);

/* NULL when size * count overflows, passes the limit, or the host has none. A count of 0 gives a
   valid pointer. */
void *pl_memory_alloc(pl_memory *memory, size_t count, size_t size);

void pl_memory_free(pl_memory *memory, void *pointer);

#define PL_NEW(memory, type, count)                                                                \
    ((type *)pl_memory_alloc((memory), (size_t)(count), sizeof(type)))

#endif
