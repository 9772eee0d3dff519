/* Mesh files as bytes: reads in either byte order that never pass the end. After a read beyond it
   everything gives 0 and `short_of` is set: check once per record. */
#ifndef PL_IO_MESH_BYTES_H
#define PL_IO_MESH_BYTES_H

#include <string.h>

#include "base/error.h"

typedef struct pl_bytes {
    const uint8_t *data;
    size_t size, at;
    bool big_endian;
    bool short_of; /* something was asked for that is not there */
} pl_bytes;

static inline pl_bytes pl_bytes_make(const void *data, size_t size, bool big_endian)
{
    pl_bytes bytes = {data, size, 0, big_endian, false};
    return bytes;
}

static inline size_t pl_bytes_left(const pl_bytes *bytes)
{
    return bytes->size - bytes->at;
}

/* The next `count` bytes, which are then behind; NULL when there are not so many. */
static inline const uint8_t *pl_bytes_take(pl_bytes *bytes, size_t count)
{
    if (count > bytes->size - bytes->at) {
        bytes->short_of = true;
        bytes->at = bytes->size;
        return NULL;
    }
    const uint8_t *first = bytes->data + bytes->at;
    bytes->at += count;
    return first;
}

static inline uint16_t pl_bytes_at_u16(const uint8_t *p, bool big_endian)
{
    return big_endian ? (uint16_t)(p[0] << 8 | p[1]) : (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t pl_bytes_at_u32(const uint8_t *p, bool big_endian)
{
    return big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t pl_bytes_at_u64(const uint8_t *p, bool big_endian)
{
    uint64_t first = pl_bytes_at_u32(p, big_endian), second = pl_bytes_at_u32(p + 4, big_endian);
    return big_endian ? first << 32 | second : second << 32 | first;
}

static inline float pl_bytes_at_f32(const uint8_t *p, bool big_endian)
{
    uint32_t bits = pl_bytes_at_u32(p, big_endian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double pl_bytes_at_f64(const uint8_t *p, bool big_endian)
{
    uint64_t bits = pl_bytes_at_u64(p, big_endian);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint8_t pl_bytes_u8(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 1);
    return p ? *p : 0;
}

static inline uint16_t pl_bytes_u16(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 2);
    return p ? pl_bytes_at_u16(p, bytes->big_endian) : 0;
}

static inline uint32_t pl_bytes_u32(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 4);
    return p ? pl_bytes_at_u32(p, bytes->big_endian) : 0;
}

static inline uint64_t pl_bytes_u64(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 8);
    return p ? pl_bytes_at_u64(p, bytes->big_endian) : 0;
}

static inline float pl_bytes_f32(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 4);
    return p ? pl_bytes_at_f32(p, bytes->big_endian) : 0;
}

static inline double pl_bytes_f64(pl_bytes *bytes)
{
    const uint8_t *p = pl_bytes_take(bytes, 8);
    return p ? pl_bytes_at_f64(p, bytes->big_endian) : 0;
}

#endif
