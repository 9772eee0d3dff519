/* Things of a scene found by their names, in constant time: a scene may have very many of them. */
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

static size_t slot_of(const pl_names *names, const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    size_t slot = (hash ^ hash >> 32) & (names->capacity - 1);
    while (names->slots[slot] && strcmp(names->names[names->slots[slot] - 1], name) != 0)
        slot = (slot + 1) & (names->capacity - 1);
    return slot;
}

pl_status pl_names_make(pl_scene_reader *reader, int count, const void *things, size_t size,
                        size_t offset, pl_names *names)
{
    size_t capacity = 16;
    while (capacity < 2 * (size_t)count)
        capacity *= 2;
    names->count = count;
    names->capacity = capacity;
    names->slots = PL_SCENE_NEW(reader, int, capacity);
    names->next = PL_SCENE_NEW(reader, int, count);
    names->stamps = PL_SCENE_NEW(reader, int, count);
    names->names = PL_SCENE_NEW(reader, const char *, count);
    if (!names->slots || !names->next || !names->stamps || !names->names)
        return pl_scene_no_memory(reader);
    /* From the last to the first, each put in front: a chain has them in order. */
    for (int i = count - 1; i >= 0; i--) {
        memcpy(&names->names[i], (const char *)things + size * (size_t)i + offset,
               sizeof *names->names);
        names->next[i] = -1;
        if (!names->names[i])
            continue;
        size_t slot = slot_of(names, names->names[i]);
        names->next[i] = names->slots[slot] - 1;
        names->slots[slot] = i + 1;
    }
    return PL_OK;
}

int pl_names_first(const pl_names *names, const char *name)
{
    return names->capacity ? names->slots[slot_of(names, name)] - 1 : -1;
}

void pl_names_suggest(const pl_names *names, const char *name, const char **best)
{
    for (int i = 0; i < names->count; i++)
        if (names->names[i])
            pl_suggest(name, names->names[i], best);
}
