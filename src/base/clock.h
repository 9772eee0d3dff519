/* Time for measuring, never for simulating: results must not depend on it. */
#ifndef PL_BASE_CLOCK_H
#define PL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

/* Nanoseconds from an arbitrary start; never goes back. */
static inline uint64_t pl_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Cheaper (some 10 ns), in a unit of its own: the processor's time-stamp counter where there is
   one, else nanoseconds. To get seconds, compare with pl_clock_ns over a longer interval. */
static inline uint64_t pl_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#else
    return pl_clock_ns();
#endif
}

#endif
