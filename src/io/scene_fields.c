#include "io/scene_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"
#include "io/suggest.h"

#define LARGEST_COORDINATE 1e9

struct pl_scene_block {
    struct pl_scene_block *next;
    _Alignas(64) char bytes[];
};

void *pl_scene_alloc(pl_scene *scene, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 4) / size)
        return NULL;
    struct pl_scene_block *block =
        (struct pl_scene_block *)pl_memory_alloc(scene->memory, 1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = scene->blocks;
    scene->blocks = block;
    return block->bytes;
}

void pl_scene_free(pl_scene *scene)
{
    if (!scene)
        return;
    while (scene->blocks) {
        struct pl_scene_block *next = scene->blocks->next;
        pl_memory_free(scene->memory, scene->blocks);
        scene->blocks = next;
    }
    pl_json_free(scene->json);
    pl_memory_free(scene->memory, scene);
}

pl_status pl_scene_no_memory(const pl_scene_reader *reader)
{
    return pl_trouble_set(reader->trouble, PL_ERROR_MEMORY, reader->json->file,
                          "not enough memory to read this scene");
}

/* ---- Single values --------------------------------------------------------------------------- */

pl_status pl_expect(pl_scene_reader *reader, uint32_t node, pl_json_kind kind, const char *expected)
{
    pl_json_kind found = pl_json_kind_of(reader->json, node);
    if (found == kind)
        return PL_OK;
    return PL_SCENE_FAIL(reader, node, "must be %s, not %s", expected, pl_json_kind_name(found));
}

uint32_t pl_node_count(const pl_scene_reader *reader, uint32_t node)
{
    return reader->json->nodes[node].as.container.count;
}

static pl_status fail_range(pl_scene_reader *reader, uint32_t node, const pl_field *range,
                            double value)
{
    char low[PL_NUMBER_TEXT], high[PL_NUMBER_TEXT], shown[PL_NUMBER_TEXT];
    pl_number_format(range->low, low);
    pl_number_format(range->high, high);
    pl_number_format(value, shown);
    bool below = value < range->low || (range->above && value <= range->low);
    if (range->kind == PL_FIELD_INTEGER && range->low == range->high)
        return PL_SCENE_FAIL(reader, node, "must be %s, not %s", low, shown);
    if (below && range->above)
        return PL_SCENE_FAIL(reader, node, "must be greater than %s, not %s", low, shown);
    if (below)
        return PL_SCENE_FAIL(reader, node, "must be at least %s, not %s", low, shown);
    return PL_SCENE_FAIL(reader, node, "must be at most %s, not %s", high, shown);
}

/* Length of the number at the start of a text, in JSON's grammar; 0 = there is none. */
static size_t number_length(const char *text)
{
    static const char digits[] = "0123456789";
    size_t n = text[0] == '-', whole = strspn(text + n, digits);
    if (whole == 0 || (whole > 1 && text[n] == '0'))
        return 0;
    n += whole;
    if (text[n] == '.' && strspn(text + n + 1, digits) > 0)
        n += 1 + strspn(text + n + 1, digits);
    size_t sign = text[n] == 'e' || text[n] == 'E' ? text[n + 1] == '-' || text[n + 1] == '+' : 0;
    if ((text[n] == 'e' || text[n] == 'E') && strspn(text + n + 1 + sign, digits) > 0)
        n += 1 + sign + strspn(text + n + 1 + sign, digits);
    return n;
}

static pl_status read_with_unit(pl_scene_reader *reader, uint32_t node, const pl_unit *units,
                                double *value)
{
    const char *text = pl_json_string(reader->json, node);
    char list[128] = "", number[64], shown[64];
    size_t length = number_length(text);
    const char *unit = text + length + strspn(text + length, " ");
    for (const pl_unit *u = units; u->name; u++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", u->name);
        if (length == 0 || length >= sizeof number || strcmp(unit, u->name) != 0)
            continue;
        memcpy(number, text, length);
        number[length] = 0;
        *value = pl_number_parse(number, length) * u->factor;
        return PL_OK;
    }
    pl_copy_text(shown, sizeof shown, text, strlen(text));
    return PL_SCENE_FAIL(reader, node,
                         "must be a number, or a text of a number and a unit like \"20 %s\" "
                         "(units: %s), not \"%s\"",
                         units[1].name, list, shown);
}

pl_status pl_read_number(pl_scene_reader *reader, uint32_t node, const pl_field *range, double *out)
{
    double value = 0;
    if (range->units && pl_json_kind_of(reader->json, node) == PL_JSON_STRING) {
        PL_TRY(read_with_unit(reader, node, range->units, &value));
    } else {
        PL_TRY(pl_expect(reader, node, PL_JSON_NUMBER, "a number"));
        value = reader->json->nodes[node].as.number;
    }
    if (value < range->low || (range->above && value <= range->low) || value > range->high)
        return fail_range(reader, node, range, value);
    *out = value;
    return PL_OK;
}

pl_status pl_read_integer(pl_scene_reader *reader, uint32_t node, int low, int high, int *out)
{
    const pl_field range = {.kind = PL_FIELD_INTEGER, .low = low, .high = high};
    PL_TRY(pl_expect(reader, node, PL_JSON_NUMBER, "a whole number"));
    double value = reader->json->nodes[node].as.number;
    if (value != floor(value))
        return PL_SCENE_FAIL(reader, node, "must be a whole number");
    if (value < low || value > high)
        return fail_range(reader, node, &range, value);
    *out = (int)value;
    return PL_OK;
}

static pl_status read_bits(pl_scene_reader *reader, uint32_t node, uint32_t *out)
{
    static const pl_field range = {.low = 0, .high = UINT32_MAX};
    double value;
    PL_TRY(pl_read_number(reader, node, &range, &value));
    if (value != floor(value))
        return PL_SCENE_FAIL(reader, node,
                             "must be a whole number: the sum of 1, 2, 4, 8 and so on for the "
                             "categories that are meant");
    *out = (uint32_t)value;
    return PL_OK;
}

static pl_status read_numbers(pl_scene_reader *reader, uint32_t node, int count,
                              const char *expected, double *out)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, expected));
    if (pl_node_count(reader, node) != (uint32_t)count)
        return PL_SCENE_FAIL(reader, node, "must be %s, not %u element%s", expected,
                             (unsigned)pl_node_count(reader, node),
                             pl_node_count(reader, node) == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        uint32_t element = node + 1 + (uint32_t)i;
        PL_TRY(pl_expect(reader, element, PL_JSON_NUMBER, "a number"));
        out[i] = reader->json->nodes[element].as.number;
        if (fabs(out[i]) > LARGEST_COORDINATE)
            return PL_SCENE_FAIL(reader, element, "must lie between -1e9 and 1e9");
    }
    return PL_OK;
}

pl_status pl_read_vector(pl_scene_reader *reader, uint32_t node, double out[3])
{
    return read_numbers(reader, node, 3, "three numbers [x, y, z]", out);
}

pl_status pl_read_measures(pl_scene_reader *reader, uint32_t node, bool whole, double out[3])
{
    static const pl_field positive = {.low = 0, .above = true, .high = 1e6};
    bool single = pl_json_kind_of(reader->json, node) == PL_JSON_NUMBER;
    if (!single)
        PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "a number or an array of up to three"));
    uint32_t count = single ? 1 : pl_node_count(reader, node);
    if (count < 1 || count > 3)
        return PL_SCENE_FAIL(reader, node, "must have one to three numbers, not %u",
                             (unsigned)count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t element = single ? node : node + 1 + i;
        int number = 0;
        if (whole) {
            PL_TRY(pl_read_integer(reader, element, 1, 10000000, &number));
            out[i] = number;
        } else {
            PL_TRY(pl_read_number(reader, element, &positive, &out[i]));
        }
    }
    return PL_OK;
}

/* The largest component is divided out first, so that neither tiny nor huge vectors lose their
   length. */
static bool normalise(double *v, int n)
{
    double largest = 0, square = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    if (!(largest > 1e-100))
        return false;
    for (int i = 0; i < n; i++) {
        v[i] /= largest;
        square += v[i] * v[i];
    }
    /* What is unit already to the precision of the text stays as it was written. */
    double length = sqrt(square) * largest;
    for (int i = 0; i < n; i++)
        v[i] = fabs(length - 1) < 1e-14 ? v[i] * largest : v[i] / sqrt(square);
    return true;
}

pl_status pl_read_unit_vector(pl_scene_reader *reader, uint32_t node, double out[3])
{
    PL_TRY(pl_read_vector(reader, node, out));
    if (!normalise(out, 3))
        return PL_SCENE_FAIL(reader, node, "must not be zero: a direction needs a length");
    return PL_OK;
}

pl_status pl_read_rotation(pl_scene_reader *reader, uint32_t node, double out[4])
{
    if (pl_json_kind_of(reader->json, node) == PL_JSON_OBJECT) {
        pl_raw_rotation raw = {0};
        double axis[3];
        PL_TRY(pl_read_object(reader, node, &pl_object_rotation, &raw));
        PL_TRY(pl_read_unit_vector(reader, raw.axis, axis));
        pl_quaternion_from_degrees(axis, raw.degrees, out);
        return PL_OK;
    }
    PL_TRY(read_numbers(reader, node, 4,
                        "a quaternion [x, y, z, w] or {\"axis\": [x, y, z], \"degrees\": d}", out));
    if (!normalise(out, 4))
        return PL_SCENE_FAIL(reader, node, "must not be zero; [0, 0, 0, 1] is \"not turned\"");
    return PL_OK;
}

pl_status pl_read_word(pl_scene_reader *reader, uint32_t node, const char *const *words, int count,
                       int *out)
{
    char list[256] = "", hint[96];
    for (int i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"",
                 i == 0           ? ""
                 : i == count - 1 ? " or "
                                  : ", ",
                 words[i]);
    }
    PL_TRY(pl_expect(reader, node, PL_JSON_STRING, list));
    const char *word = pl_json_string(reader->json, node), *best = NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return PL_OK;
        }
        pl_suggest(word, words[i], &best);
    }
    char shown[64];
    pl_copy_text(shown, sizeof shown, word, strlen(word));
    return PL_SCENE_FAIL(reader, node, "must be %s, not \"%s\"%s", list, shown,
                         pl_suggest_text(best, hint, sizeof hint));
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

pl_status pl_read_rows(pl_scene_reader *reader, uint32_t node, int width, int *count, double **out)
{
    const char *expected = width == 3 ? "three numbers [x, y, z]" : "four numbers [x, y, z, w]";
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of arrays of numbers"));
    *count = (int)pl_node_count(reader, node);
    *out = PL_SCENE_NEW(reader, double, (size_t)*count *(size_t)width);
    if (!*out)
        return pl_scene_no_memory(reader);
    uint32_t row = node + 1;
    for (int i = 0; i < *count; i++, row = pl_json_next(reader->json, row))
        PL_TRY(read_numbers(reader, row, width, expected, *out + (size_t)i * (size_t)width));
    return PL_OK;
}

static pl_status read_index_row(pl_scene_reader *reader, uint32_t node, int width, int limit,
                                const char *thing, int32_t *out)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of whole numbers"));
    if (pl_node_count(reader, node) != (uint32_t)width)
        return PL_SCENE_FAIL(reader, node, "must have %d numbers, one per %s, not %u", width, thing,
                             (unsigned)pl_node_count(reader, node));
    for (int i = 0; i < width; i++) {
        uint32_t element = node + 1 + (uint32_t)i;
        PL_TRY(pl_expect(reader, element, PL_JSON_NUMBER, "a whole number"));
        double value = reader->json->nodes[element].as.number;
        if (value != floor(value))
            return PL_SCENE_FAIL(reader, element, "must be a whole number");
        if (value < 0 || value >= limit)
            return PL_SCENE_FAIL(reader, element,
                                 "there is no %s %.0f; there are %d, numbered from 0 to %d", thing,
                                 value, limit, limit - 1);
        out[i] = (int32_t)value;
    }
    return PL_OK;
}

pl_status pl_read_index_rows(pl_scene_reader *reader, uint32_t node, int width, int limit,
                             const char *thing, int *count, int32_t **out)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of arrays of whole numbers"));
    *count = (int)pl_node_count(reader, node);
    *out = PL_SCENE_NEW(reader, int32_t, (size_t)*count * (size_t)width);
    if (!*out)
        return pl_scene_no_memory(reader);
    uint32_t row = node + 1;
    for (int i = 0; i < *count; i++, row = pl_json_next(reader->json, row))
        PL_TRY(read_index_row(reader, row, width, limit, thing, *out + (size_t)i * (size_t)width));
    return PL_OK;
}

pl_status pl_read_factors(pl_scene_reader *reader, uint32_t node, int *count, float **out)
{
    static const pl_field range = {.low = 0, .above = true, .high = 1e12};
    double value = 0;
    bool single = pl_json_kind_of(reader->json, node) == PL_JSON_NUMBER;
    if (!single)
        PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "a factor, or an array of them"));
    int n = single ? 1 : (int)pl_node_count(reader, node);
    *count = single ? -1 : n;
    *out = PL_SCENE_NEW(reader, float, n);
    if (!*out)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < n; i++) {
        uint32_t element = single ? node : node + 1 + (uint32_t)i;
        PL_TRY(pl_read_number(reader, element, &range, &value));
        (*out)[i] = (float)value;
    }
    return PL_OK;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static int find_field(const pl_scene_object *object, const char *key)
{
    for (int i = 0; i < object->field_count; i++)
        if (strcmp(object->fields[i].key, key) == 0)
            return i;
    return -1;
}

static pl_status fail_key(pl_scene_reader *reader, uint32_t key, const pl_scene_object *object)
{
    const char *word = pl_json_string(reader->json, key), *best = NULL;
    char shown[64], hint[240];
    for (int i = 0; i < object->field_count; i++)
        pl_suggest(word, object->fields[i].key, &best);
    pl_copy_text(shown, sizeof shown, word, strlen(word));
    if (best) {
        pl_suggest_text(best, hint, sizeof hint);
    } else {
        size_t used = (size_t)snprintf(hint, sizeof hint, "; known are ");
        for (int i = 0; i < object->field_count && used < sizeof hint - 1; i++)
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s%s", i ? ", " : "",
                                     object->fields[i].key);
        if (used >= sizeof hint)
            memcpy(hint + sizeof hint - 4, "...", 4);
    }
    const char *article = strchr("aeiou", object->name[0]) ? "an" : "a";
    return PL_SCENE_FAIL(reader, key, "%s %s has no key \"%s\"%s", article, object->name, shown,
                         hint);
}

static pl_status read_text(pl_scene_reader *reader, uint32_t node, bool name, const char **out)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_STRING, name ? "a name" : "a text"));
    *out = pl_json_string(reader->json, node);
    if (name && !**out)
        return PL_SCENE_FAIL(reader, node, "must not be empty");
    for (const char *c = *out; name && *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return PL_SCENE_FAIL(reader, node, "a name must not contain control characters");
    return PL_OK;
}

pl_status pl_read_name(pl_scene_reader *reader, uint32_t node, const char **out)
{
    return read_text(reader, node, true, out);
}

static pl_status read_field(pl_scene_reader *reader, uint32_t node, const pl_field *field,
                            char *out)
{
    out += field->offset;
    switch (field->kind) {
    case PL_FIELD_TEXT:
    case PL_FIELD_NAME:
        return read_text(reader, node, field->kind == PL_FIELD_NAME, (const char **)(void *)out);
    case PL_FIELD_NUMBER:
        return pl_read_number(reader, node, field, (double *)(void *)out);
    case PL_FIELD_INTEGER:
        return pl_read_integer(reader, node, (int)field->low, (int)field->high, (int *)(void *)out);
    case PL_FIELD_VECTOR:
        return pl_read_vector(reader, node, (double *)(void *)out);
    case PL_FIELD_BITS:
        return read_bits(reader, node, (uint32_t *)(void *)out);
    case PL_FIELD_BOOL: {
        pl_json_kind kind = pl_json_kind_of(reader->json, node);
        if (kind != PL_JSON_TRUE && kind != PL_JSON_FALSE)
            return PL_SCENE_FAIL(reader, node, "must be true or false, not %s",
                                 pl_json_kind_name(kind));
        *(bool *)out = kind == PL_JSON_TRUE;
        return PL_OK;
    }
    default:
        *(uint32_t *)(void *)out = node;
        return PL_OK;
    }
}

pl_status pl_read_object(pl_scene_reader *reader, uint32_t node, const pl_scene_object *object,
                         void *out)
{
    const pl_json *json = reader->json;
    pl_scene_place *place = (pl_scene_place *)out;
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "an object"));
    *place = (pl_scene_place){.node = node};
    uint32_t end = json->nodes[node].as.container.end;
    for (uint32_t key = node + 1; key < end; key = pl_json_next(json, key + 1)) {
        int field = find_field(object, pl_json_string(json, key));
        if (field < 0)
            return fail_key(reader, key, object);
        PL_TRY(read_field(reader, key + 1, &object->fields[field], (char *)out));
        place->given |= 1u << field;
    }
    for (int i = 0; i < object->field_count; i++)
        if (object->fields[i].required && !(place->given & 1u << i))
            return PL_SCENE_FAIL(reader, node, "the key \"%s\" is missing%s%s",
                                 object->fields[i].key, object->fields[i].example ? "; write " : "",
                                 object->fields[i].example ? object->fields[i].example : "");
    return PL_OK;
}

bool pl_was_given(const pl_scene_object *object, const pl_scene_place *place, const char *key)
{
    int field = find_field(object, key);
    return field >= 0 && (place->given & 1u << field);
}
