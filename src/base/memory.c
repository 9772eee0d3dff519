#define _DEFAULT_SOURCE /* madvise */

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* The size stands in front of each block; a whole alignment unit keeps the block aligned. */
typedef struct header {
    size_t bytes;
} header;

/* Arrays that take a good part of a huge page get whole ones where the system has them: what is
   gathered from all over a large body then misses no tables of pages. */
enum { HUGE_PAGE = 1 << 21 };

static void *host_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= HUGE_PAGE / 2 && alignment <= HUGE_PAGE) {
        size_t pages = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *block = aligned_alloc(HUGE_PAGE, pages);
        if (block)
            madvise(block, pages, MADV_HUGEPAGE); /* a wish: small pages will do */
        return block;
    }
#endif
    return aligned_alloc(alignment, size);
}

static void host_free(void *user, void *pointer, size_t size)
{
    (void)user;
    (void)size;
    free(pointer);
}

void pl_memory_init(pl_memory *memory, const pl_allocator *host, size_t limit)
{
    *memory = (pl_memory){.host = {host_alloc, host_free, NULL}, .limit = limit, .fail_at = -1};
    if (host)
        memory->host = *host;
}

void *pl_memory_alloc(pl_memory *memory, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = (count * size + PL_ALIGNMENT - 1) / PL_ALIGNMENT * PL_ALIGNMENT + PL_ALIGNMENT;
    if (memory->fail_at >= 0 && memory->allocations >= (uint64_t)memory->fail_at)
        return NULL;
    if (memory->limit && (bytes > memory->limit || memory->used > memory->limit - bytes))
        return NULL;
    char *block = memory->host.alloc(memory->host.user, bytes, PL_ALIGNMENT);
    if (!block)
        return NULL;
    memset(block, 0, bytes);
    ((header *)block)->bytes = bytes;
    memory->used += bytes;
    memory->peak = memory->used > memory->peak ? memory->used : memory->peak;
    memory->allocations++;
    return block + PL_ALIGNMENT;
}

void pl_memory_free(pl_memory *memory, void *pointer)
{
    if (!pointer)
        return;
    char *block = (char *)pointer - PL_ALIGNMENT;
    size_t bytes = ((header *)block)->bytes;
    memory->used -= bytes;
    memory->host.free(memory->host.user, block, bytes);
}
