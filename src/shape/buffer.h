/* Reading and writing the caller's strided arrays, element by element, in double. Goes through
   bytes: a stride may leave the scalars unaligned. */
#ifndef PL_SHAPE_BUFFER_H
#define PL_SHAPE_BUFFER_H

#include <string.h>

#include "pliant/base.h"

static inline size_t pl_buffer_scalar_size(pl_buffer buffer)
{
    return buffer.type == PL_F64 ? sizeof(double) : sizeof(float);
}

static inline char *pl_buffer_at(pl_buffer buffer, size_t index, int scalars)
{
    size_t packed = (size_t)scalars * pl_buffer_scalar_size(buffer);
    return (char *)buffer.data + index * (buffer.stride ? buffer.stride : packed);
}

static inline void pl_buffer_get(pl_buffer buffer, size_t index, int scalars, double *values)
{
    const char *bytes = pl_buffer_at(buffer, index, scalars);
    if (buffer.type == PL_F64) {
        memcpy(values, bytes, (size_t)scalars * sizeof(double));
        return;
    }
    for (int k = 0; k < scalars; k++) {
        float value;
        memcpy(&value, bytes + (size_t)k * sizeof value, sizeof value);
        values[k] = value;
    }
}

static inline void pl_buffer_set(pl_buffer buffer, size_t index, int scalars, const double *values)
{
    char *bytes = pl_buffer_at(buffer, index, scalars);
    if (buffer.type == PL_F64) {
        memcpy(bytes, values, (size_t)scalars * sizeof(double));
        return;
    }
    for (int k = 0; k < scalars; k++) {
        float value = (float)values[k];
        memcpy(bytes + (size_t)k * sizeof value, &value, sizeof value);
    }
}

#endif
