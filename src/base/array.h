/* Arrays that grow. A failed allocation changes nothing and gives NULL. */
#ifndef PL_BASE_ARRAY_H
#define PL_BASE_ARRAY_H

#include <string.h>

#include "base/memory.h"

typedef struct pl_array {
    pl_memory *memory;
    void *data;
    size_t count, capacity, size; /* `size` bytes per element */
} pl_array;

static inline pl_array pl_array_make(pl_memory *memory, size_t size)
{
    pl_array array = {memory, NULL, 0, 0, size};
    return array;
}

static inline void pl_array_free(pl_array *array)
{
    pl_memory_free(array->memory, array->data);
    array->data = NULL;
    array->count = array->capacity = 0;
}

/* Room for `more` elements behind those there are. */
static inline bool pl_array_reserve(pl_array *array, size_t more)
{
    if (array->data && more <= array->capacity - array->count)
        return true;
    size_t wanted = array->count + more, grown = array->capacity + array->capacity / 2 + 16;
    size_t capacity = wanted < array->count ? wanted : wanted > grown ? wanted : grown;
    if (wanted < array->count)
        return false;
    void *data = pl_memory_alloc(array->memory, capacity, array->size);
    if (!data)
        return false;
    if (array->count)
        memcpy(data, array->data, array->count * array->size);
    pl_memory_free(array->memory, array->data);
    array->data = data;
    array->capacity = capacity;
    return true;
}

/* The first of `more` new elements, their contents not set; NULL without memory. */
static inline void *pl_array_add(pl_array *array, size_t more)
{
    if (!pl_array_reserve(array, more))
        return NULL;
    void *first = (char *)array->data + array->count * array->size;
    array->count += more;
    return first;
}

#endif
