/* What the glTF reader asks of a JSON document: members of the right kind, whole numbers in range,
   indices into the document's tables; and errors that say where in the file and in the document. */
#include "io/mesh_gltf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "io/mesh_text.h"

#define LARGEST_WHOLE 9007199254740992.0 /* 2^53: beyond it a double cannot count */

static const char *const table_names[PL_GLTF_TABLES] = {
    "buffers", "bufferViews", "accessors", "meshes",   "nodes",
    "scenes",  "skins",       "materials", "textures", "images",
};

pl_status pl_gltf_fail(const pl_gltf *gltf, uint32_t json, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_trouble trouble;
    pl_json_fail(gltf->json, json, &trouble, PL_ERROR_FORMAT, "%s", text);
    size_t byte = gltf->json_start + gltf->json->nodes[json].offset;
    pl_where where = gltf->is_binary ? pl_mesh_where_byte(gltf->source->name, byte)
                                     : pl_mesh_where_line(gltf->source->name, (size_t)trouble.line);
    return pl_fail(gltf->error, PL_ERROR_FORMAT, where.text, "%s%s%s", trouble.path,
                   *trouble.path ? ": " : "", text);
}

pl_status pl_gltf_no_memory(const pl_gltf *gltf)
{
    return pl_mesh_build_no_memory(gltf->build, gltf->source->name, gltf->error);
}

pl_status pl_gltf_member(const pl_gltf *gltf, uint32_t object, const char *key, pl_json_kind kind,
                         uint32_t *value)
{
    *value = 0;
    if (pl_json_kind_of(gltf->json, object) != PL_JSON_OBJECT)
        return pl_gltf_fail(gltf, object, "must be an object, not %s",
                            pl_json_kind_name(pl_json_kind_of(gltf->json, object)));
    uint32_t found = pl_json_member(gltf->json, object, key);
    if (!found)
        return PL_OK;
    pl_json_kind is = pl_json_kind_of(gltf->json, found);
    if (is != kind)
        return pl_gltf_fail(gltf, found, "must be %s, not %s", pl_json_kind_name(kind),
                            pl_json_kind_name(is));
    *value = found;
    return PL_OK;
}

/* A number that counts something. */
static pl_status whole(const pl_gltf *gltf, uint32_t json, double largest, double *value)
{
    pl_json_kind kind = pl_json_kind_of(gltf->json, json);
    if (kind != PL_JSON_NUMBER)
        return pl_gltf_fail(gltf, json, "must be a number, not %s", pl_json_kind_name(kind));
    *value = gltf->json->nodes[json].as.number;
    if (!(*value >= 0 && *value <= largest && *value == floor(*value)))
        return pl_gltf_fail(gltf, json, "must be a whole number from 0 to %.0f, not %g", largest,
                            *value);
    return PL_OK;
}

pl_status pl_gltf_size(const pl_gltf *gltf, uint32_t object, const char *key, size_t *value)
{
    uint32_t json;
    double number;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_NUMBER, &json));
    if (!json)
        return PL_OK;
    PL_TRY(whole(gltf, json, LARGEST_WHOLE, &number));
    *value = (size_t)number;
    return PL_OK;
}

pl_status pl_gltf_integer(const pl_gltf *gltf, uint32_t object, const char *key, int *value)
{
    uint32_t json;
    double number;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_NUMBER, &json));
    if (!json)
        return PL_OK;
    PL_TRY(whole(gltf, json, INT32_MAX, &number));
    *value = (int)number;
    return PL_OK;
}

pl_status pl_gltf_flag(const pl_gltf *gltf, uint32_t object, const char *key, bool *value)
{
    uint32_t json = pl_json_member(gltf->json, object, key);
    if (!json)
        return PL_OK;
    pl_json_kind kind = pl_json_kind_of(gltf->json, json);
    if (kind != PL_JSON_TRUE && kind != PL_JSON_FALSE)
        return pl_gltf_fail(gltf, json, "must be true or false, not %s", pl_json_kind_name(kind));
    *value = kind == PL_JSON_TRUE;
    return PL_OK;
}

pl_status pl_gltf_numbers(const pl_gltf *gltf, uint32_t object, const char *key, int count,
                          double *values, bool *found)
{
    uint32_t json;
    *found = false;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_ARRAY, &json));
    if (!json)
        return PL_OK;
    if (gltf->json->nodes[json].as.container.count != (uint32_t)count)
        return pl_gltf_fail(gltf, json, "must have %d numbers, not %u", count,
                            (unsigned)gltf->json->nodes[json].as.container.count);
    uint32_t element = json + 1;
    for (int i = 0; i < count; i++, element = pl_json_next(gltf->json, element)) {
        if (pl_json_kind_of(gltf->json, element) != PL_JSON_NUMBER)
            return pl_gltf_fail(gltf, element, "must be a number");
        values[i] = gltf->json->nodes[element].as.number;
    }
    *found = true;
    return PL_OK;
}

pl_status pl_gltf_float(const pl_gltf *gltf, uint32_t object, const char *key, float *value)
{
    uint32_t json;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_NUMBER, &json));
    if (!json)
        return PL_OK;
    double number = gltf->json->nodes[json].as.number;
    if (!(fabs(number) <= 1e30))
        return pl_gltf_fail(gltf, json, "%g is out of range", number);
    *value = (float)number;
    return PL_OK;
}

pl_status pl_gltf_string(const pl_gltf *gltf, uint32_t object, const char *key, const char **text)
{
    uint32_t json;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_STRING, &json));
    if (json)
        *text = pl_json_string(gltf->json, json);
    return PL_OK;
}

pl_status pl_gltf_index_of(const pl_gltf *gltf, uint32_t json, pl_gltf_table table, int *index)
{
    double number = 0;
    PL_TRY(whole(gltf, json, INT32_MAX, &number));
    if (number >= gltf->tables[table].count)
        return pl_gltf_fail(gltf, json, "there is no %s[%.0f]: they are %d", table_names[table],
                            number, gltf->tables[table].count);
    *index = (int)number;
    return PL_OK;
}

pl_status pl_gltf_index(const pl_gltf *gltf, uint32_t object, const char *key, pl_gltf_table table,
                        int *index)
{
    uint32_t json;
    *index = -1;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_NUMBER, &json));
    return json ? pl_gltf_index_of(gltf, json, table, index) : PL_OK;
}

pl_status pl_gltf_read_tables(pl_gltf *gltf)
{
    for (int t = 0; t < PL_GLTF_TABLES; t++) {
        uint32_t array;
        PL_TRY(pl_gltf_member(gltf, 0, table_names[t], PL_JSON_ARRAY, &array));
        if (!array)
            continue;
        uint32_t count = gltf->json->nodes[array].as.container.count, element = array + 1;
        gltf->tables[t].nodes = PL_NEW(gltf->memory, uint32_t, count);
        if (!gltf->tables[t].nodes)
            return pl_gltf_no_memory(gltf);
        for (uint32_t i = 0; i < count; i++, element = pl_json_next(gltf->json, element)) {
            if (pl_json_kind_of(gltf->json, element) != PL_JSON_OBJECT)
                return pl_gltf_fail(gltf, element, "must be an object");
            gltf->tables[t].nodes[i] = element;
        }
        gltf->tables[t].count = (int)count;
    }
    return PL_OK;
}
