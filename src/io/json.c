/* Looking things up in a document, and saying where they stand. */
#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/json_place.h"

void pl_json_free(pl_json *json)
{
    if (!json)
        return;
    pl_memory *memory = json->memory;
    for (int i = 0; i < json->source_count; i++) {
        pl_memory_free(memory, json->sources[i].file);
        pl_memory_free(memory, json->sources[i].text);
    }
    pl_memory_free(memory, json->sources);
    pl_memory_free(memory, json->file);
    pl_memory_free(memory, json->text);
    pl_memory_free(memory, json->nodes);
    pl_memory_free(memory, json->strings);
    pl_memory_free(memory, json);
}

uint32_t pl_json_member(const pl_json *json, uint32_t object, const char *key)
{
    if (pl_json_kind_of(json, object) != PL_JSON_OBJECT)
        return 0;
    size_t length = strlen(key);
    uint32_t end = json->nodes[object].as.container.end;
    for (uint32_t k = object + 1; k < end; k = pl_json_next(json, k + 1))
        if (json->nodes[k].as.string.length == length &&
            memcmp(pl_json_string(json, k), key, length) == 0)
            return k + 1;
    return 0;
}

uint32_t pl_json_element(const pl_json *json, uint32_t array, uint32_t index)
{
    if (pl_json_kind_of(json, array) != PL_JSON_ARRAY ||
        index >= json->nodes[array].as.container.count)
        return 0;
    uint32_t node = array + 1;
    while (index-- > 0)
        node = pl_json_next(json, node);
    return node;
}

const char *pl_json_kind_name(pl_json_kind kind)
{
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[kind];
}

void pl_json_place(const char *text, size_t offset, int *line, int *column)
{
    *line = *column = 1;
    if (offset >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        offset -= 3;
    }
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

static bool is_plain_key(const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = key[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return length > 0;
}

void pl_json_path_key(char *path, size_t size, const char *key, size_t length)
{
    size_t used = strlen(path);
    char shown[96];
    pl_copy_text(shown, sizeof shown, key, length);
    if (is_plain_key(key, length))
        snprintf(path + used, size - used, "%s%s", used ? "." : "", shown);
    else
        snprintf(path + used, size - used, "[\"%s\"]", shown);
}

void pl_json_path_index(char *path, size_t size, uint32_t index)
{
    size_t used = strlen(path);
    snprintf(path + used, size - used, "[%u]", (unsigned)index);
}

/* One level down towards `target`: appends the step to the path and returns the child that is or
   holds it. */
static uint32_t descend(const pl_json *json, uint32_t container, uint32_t target, char *path,
                        size_t size)
{
    uint32_t child = container + 1, index = 0;
    if (pl_json_kind_of(json, container) == PL_JSON_ARRAY) {
        for (uint32_t next; (next = pl_json_next(json, child)) <= target; child = next)
            index++;
        pl_json_path_index(path, size, index);
        return child;
    }
    for (uint32_t next; (next = pl_json_next(json, child + 1)) <= target; child = next)
        ;
    pl_json_path_key(path, size, pl_json_string(json, child), json->nodes[child].as.string.length);
    return target == child ? child : child + 1;
}

/* NULL = the text itself. */
static const pl_json_source *source_of(const pl_json *json, uint32_t node)
{
    const pl_json_source *found = NULL;
    for (int i = 0; i < json->source_count; i++)
        if (json->nodes[node].offset >= json->sources[i].base)
            found = &json->sources[i];
    return found;
}

const char *pl_json_file_of(const pl_json *json, uint32_t node)
{
    const pl_json_source *source = source_of(json, node);
    return source && !source->is_option ? source->file : json->file;
}

static void write_place(const pl_json *json, uint32_t node, pl_trouble *trouble)
{
    const pl_json_source *source = source_of(json, node);
    uint32_t offset = json->nodes[node].offset;
    if (!source)
        pl_json_place(json->text, offset, &trouble->line, &trouble->column);
    else if (!source->is_option)
        pl_json_place(source->text, offset - source->base, &trouble->line, &trouble->column);
    if (source)
        pl_copy_text(trouble->file, sizeof trouble->file, source->file, strlen(source->file));
}

pl_status pl_json_fail(const pl_json *json, uint32_t node, pl_trouble *trouble, pl_status status,
                       const char *format, ...)
{
    if (!trouble)
        return status;
    char text[sizeof trouble->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_trouble_set(trouble, status, json->file, "%s", text);
    for (uint32_t at = 0; at != node;)
        at = descend(json, at, node, trouble->path, sizeof trouble->path);
    write_place(json, node, trouble);
    return status;
}
