/* Eight bytes at a time: the word is scrambled by a multiplication, a rotation and another
   multiplication, and then absorbed by exclusive or, rotation and multiplication. Each step is
   one-to-one, so two streams that differ in one word never collide; the finaliser is that of
   SplitMix64. */
#include "base/hash.h"

#include "base/rng.h"

#define MULTIPLIER_WORD UINT64_C(0xD1B54A32D192ED03)
#define MULTIPLIER_STATE UINT64_C(0x9E3779B97F4A7C15)
#define INCREMENT UINT64_C(0x8CB92BA72F3D8DD7)

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t absorb(uint64_t state, uint64_t word)
{
    word = rotate(word * MULTIPLIER_WORD, 31) * MULTIPLIER_STATE;
    return rotate(state ^ word, 27) * MULTIPLIER_STATE + INCREMENT;
}

static inline uint64_t load_word(const unsigned char *bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
#else
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
#endif
}

/* The lowest `size` bytes of a value, size 1 to 8. */
static void update_value(pl_hash *hash, uint64_t value, int size)
{
    int filled = (int)(hash->length % 8);
    hash->length += (uint64_t)size;
    hash->tail |= value << (8 * filled);
    if (filled + size < 8)
        return;
    hash->state = absorb(hash->state, hash->tail);
    int used = 8 - filled;
    hash->tail = used < 8 ? value >> (8 * used) : 0;
}

void pl_hash_init(pl_hash *hash, uint64_t seed)
{
    *hash = (pl_hash){.state = pl_mix64(seed + INCREMENT)};
}

void pl_hash_update(pl_hash *hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    if (!size)
        return; /* there may be no bytes at all */
    while (size && hash->length % 8) {
        update_value(hash, *next++, 1);
        size--;
    }
    uint64_t state = hash->state;
    size_t words = size / 8;
    for (size_t i = 0; i < words; i++)
        state = absorb(state, load_word(next + 8 * i));
    hash->state = state;
    hash->length += 8 * (uint64_t)words;
    next += 8 * words;
    for (size_t i = 0; i < size % 8; i++)
        update_value(hash, next[i], 1);
}

uint64_t pl_hash_final(const pl_hash *hash)
{
    uint64_t state = hash->state;
    if (hash->length % 8)
        state = absorb(state, hash->tail);
    return pl_mix64(state ^ hash->length * MULTIPLIER_WORD);
}

uint64_t pl_hash_of(const void *bytes, size_t size, uint64_t seed)
{
    pl_hash hash;
    pl_hash_init(&hash, seed);
    pl_hash_update(&hash, bytes, size);
    return pl_hash_final(&hash);
}

void pl_hash_u32(pl_hash *hash, uint32_t value)
{
    update_value(hash, value, 4);
}

void pl_hash_u64(pl_hash *hash, uint64_t value)
{
    update_value(hash, value, 8);
}

void pl_hash_u32_array(pl_hash *hash, const uint32_t *values, size_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    pl_hash_update(hash, values, count * sizeof *values);
#else
    for (size_t i = 0; i < count; i++)
        pl_hash_u32(hash, values[i]);
#endif
}

void pl_hash_f32_array(pl_hash *hash, const float *values, size_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    pl_hash_update(hash, values, count * sizeof *values);
#else
    for (size_t i = 0; i < count; i++)
        pl_hash_f32(hash, values[i]);
#endif
}

void pl_hash_f64_array(pl_hash *hash, const double *values, size_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    pl_hash_update(hash, values, count * sizeof *values);
#else
    for (size_t i = 0; i < count; i++)
        pl_hash_f64(hash, values[i]);
#endif
}
