/* A stable sort of keys with a payload, for orders that must come out the same everywhere: equal
   keys keep the order they came in, and no comparison function of the C library's choice is
   involved. */
#ifndef PL_BASE_SORT_H
#define PL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct pl_sort_item {
    uint64_t key;
    uint32_t index;
} pl_sort_item;

/* Sorts by ascending key. `scratch` holds as many items as there are; its contents are lost. */
void pl_sort(pl_sort_item *items, pl_sort_item *scratch, size_t count);

/* A key that orders floats as numbers: −∞ … −0, 0 … ∞. NaNs go to the two ends. */
static inline uint32_t pl_sort_float_key(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

#endif
