#include "world/stream.h"

#include <math.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "streams are little-endian; this machine needs byte swapping"
#endif

/* Nothing here is ever as large, and the square of it is still finite. */
#define LARGEST 1e100

void pl_stream_expect(pl_stream *s, bool condition)
{
    if (s->in && !condition)
        s->bad = true;
}

void pl_stream_bytes(pl_stream *s, void *data, size_t size)
{
    if (size > s->size - s->at)
        s->bad = true;
    if (pl_stream_stopped(s) || size == 0)
        return;
    if (s->in)
        memcpy(data, s->in + s->at, size);
    else if (s->out)
        memcpy(s->out + s->at, data, size);
    else if (s->hash)
        pl_hash_update(s->hash, data, size);
    s->at += size;
}

/* `count` elements; false when they were not read. */
static bool array(pl_stream *s, void *values, size_t count, size_t size)
{
    if (count > (s->size - s->at) / size)
        s->bad = true;
    else
        pl_stream_bytes(s, values, count * size);
    return s->in && !pl_stream_stopped(s);
}

void pl_stream_u32(pl_stream *s, uint32_t *values, size_t count)
{
    array(s, values, count, sizeof *values);
}

void pl_stream_u64(pl_stream *s, uint64_t *value)
{
    array(s, value, 1, sizeof *value);
}

void pl_stream_int(pl_stream *s, int *value)
{
    int32_t word = *value;
    if (array(s, &word, 1, sizeof word))
        *value = word;
}

void pl_stream_bool(pl_stream *s, bool *value)
{
    uint8_t byte = *value;
    if (array(s, &byte, 1, 1)) {
        s->bad = byte > 1;
        *value = byte == 1;
    }
}

void pl_stream_floats(pl_stream *s, float *values, size_t count)
{
    bool finite = true;
    if (!array(s, values, count, sizeof *values))
        return;
    for (size_t i = 0; i < count; i++)
        finite = finite && isfinite(values[i]);
    s->bad = !finite;
}

void pl_stream_doubles(pl_stream *s, double *values, size_t count)
{
    bool finite = true;
    if (!array(s, values, count, sizeof *values))
        return;
    for (size_t i = 0; i < count; i++)
        finite = finite && fabs(values[i]) <= LARGEST;
    s->bad = !finite;
}

bool pl_stream_count(pl_stream *s, int *count, size_t least_bytes)
{
    pl_stream_int(s, count);
    pl_stream_expect(s, *count >= 0 && (size_t)*count <= (s->size - s->at) / least_bytes);
    return !pl_stream_stopped(s);
}

bool pl_stream_array(pl_stream *s, pl_memory *memory, void *array_pointer, size_t count,
                     size_t size)
{
    if (s->in && !pl_stream_stopped(s)) {
        void *made = pl_memory_alloc(memory, count, size);
        s->starved = !made;
        memcpy(array_pointer, &made, sizeof made);
    }
    return !pl_stream_stopped(s);
}
