/* A 64-bit streaming hash for states and contents. Not cryptographic. The value depends on the
   sequence of bytes alone, not on how it was cut into updates, and is the same on every machine:
   numbers are hashed as little-endian bytes, floating-point numbers by their bits (so 0 and −0
   differ, and so do two NaNs). */
#ifndef PL_BASE_HASH_H
#define PL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct pl_hash {
    uint64_t state;
    uint64_t length; /* bytes so far */
    uint64_t tail;   /* the last length % 8 of them, the first in the lowest byte */
} pl_hash;

void pl_hash_init(pl_hash *hash, uint64_t seed);
void pl_hash_update(pl_hash *hash, const void *bytes, size_t size);

/* The hash of everything so far; more may follow. */
uint64_t pl_hash_final(const pl_hash *hash);

/* All three at once. */
uint64_t pl_hash_of(const void *bytes, size_t size, uint64_t seed);

void pl_hash_u32(pl_hash *hash, uint32_t value);
void pl_hash_u64(pl_hash *hash, uint64_t value);

/* Arrays of numbers; the same as hashing them one by one. */
void pl_hash_u32_array(pl_hash *hash, const uint32_t *values, size_t count);
void pl_hash_f32_array(pl_hash *hash, const float *values, size_t count);
void pl_hash_f64_array(pl_hash *hash, const double *values, size_t count);

static inline void pl_hash_f32(pl_hash *hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    pl_hash_u32(hash, bits);
}

static inline void pl_hash_f64(pl_hash *hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pl_hash_u64(hash, bits);
}

/* The length goes in too, so that "ab", "c" and "a", "bc" differ. */
static inline void pl_hash_string(pl_hash *hash, const char *text)
{
    size_t length = strlen(text);
    pl_hash_u64(hash, length);
    pl_hash_update(hash, text, length);
}

#endif
