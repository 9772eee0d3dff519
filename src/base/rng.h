/* Random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood 2014), a counter and
   a mixing function. A stream is its seed; pl_random_at gives any element of it directly, for use
   in parallel loops. */
#ifndef PL_BASE_RNG_H
#define PL_BASE_RNG_H

#include <stdint.h>

#define PL_RNG_STEP UINT64_C(0x9E3779B97F4A7C15)

typedef struct pl_rng {
    uint64_t state;
} pl_rng;

/* A one-to-one map in which every input bit changes about half of the output bits. */
static inline uint64_t pl_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline pl_rng pl_rng_make(uint64_t seed)
{
    pl_rng rng = {seed};
    return rng;
}

static inline uint64_t pl_random_u64(pl_rng *rng)
{
    rng->state += PL_RNG_STEP;
    return pl_mix64(rng->state);
}

/* What the call number `index` (from 0) of pl_random_u64 on a fresh stream gives. */
static inline uint64_t pl_random_at(uint64_t seed, uint64_t index)
{
    return pl_mix64(seed + (index + 1) * PL_RNG_STEP);
}

static inline uint32_t pl_random_u32(pl_rng *rng)
{
    return (uint32_t)(pl_random_u64(rng) >> 32);
}

/* Uniform in [0, 1): multiples of 2^-24, and of 2^-53; exact, so alike on every machine. */
static inline float pl_random_float(pl_rng *rng)
{
    return (float)(pl_random_u64(rng) >> 40) * 0x1p-24f;
}

static inline double pl_random_double(pl_rng *rng)
{
    return (double)(pl_random_u64(rng) >> 11) * 0x1p-53;
}

static inline float pl_random_between(pl_rng *rng, float low, float high)
{
    return low + (high - low) * pl_random_float(rng);
}

/* Uniform in [0, bound) without bias; bound > 0. Words below the threshold (2^32 mod bound) are
   drawn again. */
static inline uint32_t pl_random_below(pl_rng *rng, uint32_t bound)
{
    uint32_t threshold = -bound % bound;
    uint64_t product;
    do {
        product = (uint64_t)pl_random_u32(rng) * bound;
    } while ((uint32_t)product < threshold);
    return (uint32_t)(product >> 32);
}

#endif
