/* Bytes that grow, and are read again in the order in which they were put: what a checkpoint
   consists of. */
#ifndef PL_APP_BYTES_H
#define PL_APP_BYTES_H

#include "base/memory.h"

typedef struct app_bytes {
    pl_memory *memory;
    char *data;
    size_t size, room;
    size_t at;   /* how far it was read */
    bool failed; /* memory ran out while putting, or there was less than was asked for; stays so */
} app_bytes;

void app_bytes_put(app_bytes *bytes, const void *data, size_t size);
void app_bytes_put_u64(app_bytes *bytes, uint64_t value);

/* So many more, to be filled by the caller at once; NULL when memory ran out. */
char *app_bytes_grow(app_bytes *bytes, size_t size);

/* False, and zeros, when there are fewer left. */
bool app_bytes_get(app_bytes *bytes, void *data, size_t size);
uint64_t app_bytes_get_u64(app_bytes *bytes);

/* The next ones where they are; NULL when there are fewer left. */
const char *app_bytes_take(app_bytes *bytes, size_t size);

void app_bytes_free(app_bytes *bytes);

#endif
