/* Open addressing over sorted tuples. Numbers are given in the order of insertion, so nothing
   depends on where a tuple lands. */
#include "shape/surface_tuples.h"

#include <string.h>

#include "base/rng.h"

bool pl_tuples_make(pl_memory *memory, int width, size_t most, pl_tuples *tuples)
{
    *tuples = (pl_tuples){.width = width, .slot_count = 16};
    while (tuples->slot_count < most + most / 2)
        tuples->slot_count *= 2;
    tuples->keys = PL_NEW(memory, int32_t, most * (size_t)width);
    tuples->slots = PL_NEW(memory, int32_t, tuples->slot_count);
    if (!tuples->keys || !tuples->slots) {
        pl_tuples_free(memory, tuples);
        return false;
    }
    memset(tuples->slots, -1, tuples->slot_count * sizeof *tuples->slots);
    return true;
}

void pl_tuples_free(pl_memory *memory, pl_tuples *tuples)
{
    pl_memory_free(memory, tuples->keys);
    pl_memory_free(memory, tuples->slots);
    *tuples = (pl_tuples){0};
}

int pl_tuples_add(pl_tuples *tuples, const int32_t *indices)
{
    int32_t key[PL_TUPLE_MAX];
    for (int i = 0; i < tuples->width; i++) {
        int at = i;
        for (; at > 0 && key[at - 1] > indices[i]; at--)
            key[at] = key[at - 1];
        key[at] = indices[i];
    }
    uint64_t hash = 0;
    for (int i = 0; i < tuples->width; i++)
        hash = pl_mix64(hash + (uint32_t)key[i] + PL_RNG_STEP);
    size_t bytes = (size_t)tuples->width * sizeof *key;
    for (size_t slot = hash & (tuples->slot_count - 1);;
         slot = (slot + 1) & (tuples->slot_count - 1)) {
        int32_t number = tuples->slots[slot];
        if (number < 0) {
            tuples->slots[slot] = tuples->count;
            memcpy(&tuples->keys[(size_t)tuples->count * (size_t)tuples->width], key, bytes);
            return tuples->count++;
        }
        if (memcmp(&tuples->keys[(size_t)number * (size_t)tuples->width], key, bytes) == 0)
            return number;
    }
}
