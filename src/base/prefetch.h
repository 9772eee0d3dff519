/* Asks for memory before it is used. Where a loop goes from one small object to the next, each in
   a place of its own, the processor cannot guess what comes after, and would wait for every one. */
#ifndef PL_BASE_PREFETCH_H
#define PL_BASE_PREFETCH_H

#include <stddef.h>

enum { PL_CACHE_LINE = 64 };

static inline void pl_prefetch(const void *from, size_t size)
{
    const char *at = from, *end = at + size;
    __asm__ volatile(""); /* else GCC finds that nothing is done here, and does nothing */
    for (; at < end; at += PL_CACHE_LINE)
        __builtin_prefetch(at);
    __builtin_prefetch(end - 1);
}

#endif
