#include "bytes.h"

#include <string.h>

static bool make_room(app_bytes *bytes, size_t more)
{
    if (bytes->failed || more > SIZE_MAX / 4 - bytes->size)
        return false;
    if (bytes->room - bytes->size >= more)
        return true;
    size_t room = (bytes->size + more) * 2;
    char *larger = PL_NEW(bytes->memory, char, room);
    if (!larger)
        return false;
    if (bytes->size)
        memcpy(larger, bytes->data, bytes->size);
    pl_memory_free(bytes->memory, bytes->data);
    bytes->data = larger;
    bytes->room = room;
    return true;
}

char *app_bytes_grow(app_bytes *bytes, size_t size)
{
    if (!make_room(bytes, size)) {
        bytes->failed = true;
        return NULL;
    }
    bytes->size += size;
    return bytes->data + bytes->size - size;
}

void app_bytes_put(app_bytes *bytes, const void *data, size_t size)
{
    char *room = size ? app_bytes_grow(bytes, size) : NULL;
    if (room)
        memcpy(room, data, size);
}

void app_bytes_put_u64(app_bytes *bytes, uint64_t value)
{
    app_bytes_put(bytes, &value, sizeof value);
}

const char *app_bytes_take(app_bytes *bytes, size_t size)
{
    if (bytes->failed || bytes->size - bytes->at < size) {
        bytes->failed = true;
        return NULL;
    }
    bytes->at += size;
    return bytes->data + bytes->at - size;
}

bool app_bytes_get(app_bytes *bytes, void *data, size_t size)
{
    const char *taken = app_bytes_take(bytes, size);
    if (taken && size)
        memcpy(data, taken, size);
    else
        memset(data, 0, size);
    return taken != NULL;
}

uint64_t app_bytes_get_u64(app_bytes *bytes)
{
    uint64_t value;
    app_bytes_get(bytes, &value, sizeof value);
    return value;
}

void app_bytes_free(app_bytes *bytes)
{
    pl_memory_free(bytes->memory, bytes->data);
    bytes->data = NULL;
    bytes->size = bytes->room = bytes->at = 0;
}
