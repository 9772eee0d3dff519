/* A sequence of numbers that is read, written, hashed or only counted by the same code, so that the
   directions cannot drift apart. Reading trusts nothing: counts are held against the bytes that are
   left, numbers must be finite. Only reading stores: a world that is written or hashed is not
   touched, and several threads may do so at a time. Little-endian. */
#ifndef PL_WORLD_STREAM_H
#define PL_WORLD_STREAM_H

#include "base/hash.h"
#include "base/memory.h"

typedef struct pl_stream {
    const unsigned char *in; /* at most one of these three */
    unsigned char *out;
    pl_hash *hash;
    size_t at, size; /* bytes done, and that there are */
    bool bad;        /* not what it should be; nothing more is read */
    bool starved;    /* there was no memory for what was read */
} pl_stream;

static inline bool pl_stream_stopped(const pl_stream *s)
{
    return s->bad || s->starved;
}

/* What is read must be so; what is written was judged when it came in. */
void pl_stream_expect(pl_stream *s, bool condition);

void pl_stream_bytes(pl_stream *s, void *data, size_t size);
void pl_stream_u32(pl_stream *s, uint32_t *values, size_t count);
void pl_stream_u64(pl_stream *s, uint64_t *value);
void pl_stream_int(pl_stream *s, int *value);
void pl_stream_bool(pl_stream *s, bool *value);

/* Finite numbers. */
void pl_stream_floats(pl_stream *s, float *values, size_t count);
void pl_stream_doubles(pl_stream *s, double *values, size_t count);

/* A count of elements of at least so many bytes each, which the input must be able to hold. False
   when the stream has stopped. */
bool pl_stream_count(pl_stream *s, int *count, size_t least_bytes);

/* Memory for an array that is about to be read into *array; when not reading, it is there already.
   False when the stream has stopped. */
bool pl_stream_array(pl_stream *s, pl_memory *memory, void *array, size_t count, size_t size);

#endif
