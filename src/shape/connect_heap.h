/* Places waiting for an owner, the nearest to theirs first; ties by number. */
#ifndef PL_SHAPE_CONNECT_HEAP_H
#define PL_SHAPE_CONNECT_HEAP_H

#include "base/array.h"

typedef struct pl_waiting {
    double distance2;
    int32_t place, owner;
} pl_waiting;

static inline bool pl_waiting_before(const pl_waiting *a, const pl_waiting *b)
{
    if (a->distance2 != b->distance2)
        return a->distance2 < b->distance2;
    return a->place < b->place || (a->place == b->place && a->owner < b->owner);
}

static inline bool pl_heap_push(pl_array *array, pl_waiting item)
{
    if (!pl_array_add(array, 1))
        return false;
    pl_waiting *heap = array->data;
    size_t k = array->count - 1;
    for (; k > 0 && pl_waiting_before(&item, &heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = item;
    return true;
}

/* The heap must not be empty. */
static inline pl_waiting pl_heap_pop(pl_array *array)
{
    pl_waiting *heap = array->data, top = heap[0], item = heap[--array->count];
    size_t k = 0, n = array->count;
    for (size_t child = 1; child < n; child = 2 * k + 1) {
        if (child + 1 < n && pl_waiting_before(&heap[child + 1], &heap[child]))
            child++;
        if (!pl_waiting_before(&heap[child], &item))
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = item;
    return top;
}

#endif
