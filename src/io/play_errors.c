/* Errors of the library, led back to the place in the document that caused them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/play_parts.h"

pl_status pl_build_no_memory(const pl_builder *builder)
{
    return pl_trouble_set(builder->trouble, PL_ERROR_MEMORY, builder->scene->json->file,
                          "not enough memory for this scene");
}

/* The library speaks of arrays; the document may hold the same as a list of particles. */
static const struct {
    const char *array, *member;
} particle_arrays[] = {
    {"positions", "position"}, {"radii", "radii"}, {"orientations", "orientation"}};

/* One step of the path at *where: a key or an index; 0 when the document has no such thing. */
static uint32_t follow(const pl_json *json, uint32_t node, const char **where)
{
    const char *s = *where;
    if (*s == '[') {
        char *end;
        unsigned long index = strtoul(s + 1, &end, 10);
        *where = *end == ']' ? end + 1 : end;
        return index <= UINT32_MAX ? pl_json_element(json, node, (uint32_t)index) : 0;
    }
    s += *s == '.';
    size_t length = strcspn(s, ".[");
    char key[64];
    *where = s + length;
    snprintf(key, sizeof key, "%.*s", (int)(length < 63 ? length : 63), s);
    uint32_t member = pl_json_member(json, node, key);
    uint32_t particles = pl_json_member(json, node, "particles");
    for (size_t i = 0; !member && particles && i < sizeof particle_arrays / sizeof *particle_arrays;
         i++)
        if (strcmp(key, particle_arrays[i].array) == 0) {
            uint32_t element = **where == '[' ? follow(json, particles, where) : 0;
            uint32_t inner = element ? pl_json_member(json, element, particle_arrays[i].member) : 0;
            return inner ? inner : element ? element : particles;
        }
    if (!member && strcmp(key, "radii") == 0)
        member = pl_json_member(json, node, "radius");
    return member;
}

pl_status pl_build_fail(const pl_builder *builder, uint32_t node, pl_status status,
                        const pl_error *error)
{
    const pl_json *json = builder->scene->json;
    if (status == PL_ERROR_MEMORY)
        return pl_build_no_memory(builder);
    const char *where = error->where, *rest = where;
    uint32_t at = node;
    while (*where) {
        uint32_t next = follow(json, at, &where);
        if (!next)
            break;
        at = next;
        rest = where;
    }
    rest += *rest == '.';
    pl_status mapped = status == PL_ERROR_ARGUMENT ? PL_ERROR_FORMAT : status;
    const char *text = error->text[0] ? error->text : pl_status_text(status);
    return pl_json_fail(json, at, builder->trouble, mapped, "%s%s%s", rest, *rest ? " " : "", text);
}
