/* Numbers as little-endian bytes, on any machine. */
#ifndef PL_IO_OUTPUT_BYTES_H
#define PL_IO_OUTPUT_BYTES_H

#include <stdint.h>
#include <string.h>

static inline char *pl_put_u32(char *to, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        to[k] = (char)(value >> 8 * k & 0xFF);
    return to + 4;
}

static inline char *pl_put_f32(char *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return pl_put_u32(to, bits);
}

#endif
