/* Accessors of a glTF document: typed arrays inside buffer views, packed or interleaved, with or
   without sparse replacements. Reading an accessor's description checks every byte it may touch,
   so that getting its values cannot fail. */
#include "io/mesh_gltf.h"

#include <math.h>
#include <string.h>

#include "io/mesh_bytes.h"

enum { BYTE = 5120, UBYTE = 5121, SHORT = 5122, USHORT = 5123, UINT = 5125, FLOAT = 5126 };

static size_t component_size(int type)
{
    switch (type) {
    case BYTE:
    case UBYTE:
        return 1;
    case SHORT:
    case USHORT:
        return 2;
    case UINT:
    case FLOAT:
        return 4;
    }
    return 0;
}

static int component_count(const char *type)
{
    static const char *const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"};
    static const int counts[] = {1, 2, 3, 4, 4, 9, 16};
    for (int i = 0; i < 7; i++)
        if (strcmp(type, names[i]) == 0)
            return counts[i];
    return 0;
}

/* `count` elements of `size` bytes, `stride` apart, from `offset` of a view: the first of them. */
static pl_status find_elements(const pl_gltf *gltf, uint32_t json, int view, size_t count,
                               size_t size, size_t stride, const uint8_t **data)
{
    const pl_gltf_bytes *bytes = &gltf->views[view].bytes;
    size_t offset = 0;
    PL_TRY(pl_gltf_size(gltf, json, "byteOffset", &offset));
    bool fits = count == 0 || (offset <= bytes->size && size <= bytes->size - offset &&
                               count - 1 <= (bytes->size - offset - size) / stride);
    if (!fits)
        return pl_gltf_fail(gltf, json,
                            "%zu elements, %zu bytes apart, from byte %zu on do not fit the "
                            "buffer view, which has %zu",
                            count, stride, offset, bytes->size);
    *data = count ? bytes->data + offset : NULL;
    return PL_OK;
}

static double get_component(const uint8_t *p, int type, bool normalised)
{
    double value, largest;
    switch (type) {
    case BYTE:
        value = (int8_t)*p, largest = 127;
        break;
    case UBYTE:
        value = *p, largest = 255;
        break;
    case SHORT:
        value = (int16_t)pl_bytes_at_u16(p, false), largest = 32767;
        break;
    case USHORT:
        value = pl_bytes_at_u16(p, false), largest = 65535;
        break;
    case UINT:
        value = pl_bytes_at_u32(p, false), largest = 4294967295.0;
        break;
    default:
        return (double)pl_bytes_at_f32(p, false);
    }
    return normalised ? fmax(value / largest, -1) : value;
}

/* Only for indices, whose types have no sign. */
static uint32_t get_index(const uint8_t *p, int type)
{
    return type == UBYTE    ? *p
           : type == USHORT ? pl_bytes_at_u16(p, false)
                            : pl_bytes_at_u32(p, false);
}

static bool is_index_type(int type)
{
    return type == UBYTE || type == USHORT || type == UINT;
}

static pl_status check_sparse_order(const pl_gltf *gltf, uint32_t json,
                                    const pl_gltf_accessor *accessor)
{
    size_t size = component_size(accessor->sparse_index_type), least = 0;
    for (size_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t index =
            get_index(accessor->sparse_indices + i * size, accessor->sparse_index_type);
        if (index < least || index >= accessor->count)
            return pl_gltf_fail(gltf, json, "index %zu is %u: they must ascend and stay below %zu",
                                i, (unsigned)index, accessor->count);
        least = (size_t)index + 1;
    }
    return PL_OK;
}

/* Many accessors may share one long list of replacements: the sum of them is limited as well. */
static pl_status read_sparse(pl_gltf *gltf, uint32_t json, pl_gltf_accessor *accessor)
{
    uint32_t indices, values;
    int index_view, value_view;
    size_t count = 0;
    PL_TRY(pl_gltf_member(gltf, json, "indices", PL_JSON_OBJECT, &indices));
    PL_TRY(pl_gltf_member(gltf, json, "values", PL_JSON_OBJECT, &values));
    PL_TRY(pl_gltf_size(gltf, json, "count", &count));
    if (!indices || !values)
        return pl_gltf_fail(gltf, json, "indices or values are missing");
    PL_TRY(pl_gltf_index(gltf, indices, "bufferView", PL_GLTF_VIEWS, &index_view));
    PL_TRY(pl_gltf_index(gltf, values, "bufferView", PL_GLTF_VIEWS, &value_view));
    PL_TRY(pl_gltf_integer(gltf, indices, "componentType", &accessor->sparse_index_type));
    if (index_view < 0 || value_view < 0)
        return pl_gltf_fail(gltf, json, "bufferView is missing");
    if (!is_index_type(accessor->sparse_index_type))
        return pl_gltf_fail(gltf, indices, "componentType must be 5121, 5123 or 5125, not %d",
                            accessor->sparse_index_type);
    size_t index_size = component_size(accessor->sparse_index_type);
    size_t value_size = component_size(accessor->component_type) * (size_t)accessor->components;
    PL_TRY(find_elements(gltf, indices, index_view, count, index_size, index_size,
                         &accessor->sparse_indices));
    PL_TRY(find_elements(gltf, values, value_view, count, value_size, value_size,
                         &accessor->sparse_values));
    accessor->sparse_count = count;
    gltf->sparse_total += count;
    if (gltf->sparse_total / PL_GLTF_SPARSE > gltf->read_bytes)
        return pl_gltf_fail(gltf, json, "more than %d sparse values for every byte of the file",
                            PL_GLTF_SPARSE);
    return check_sparse_order(gltf, indices, accessor);
}

static pl_status read_accessor(pl_gltf *gltf, uint32_t json, pl_gltf_accessor *accessor)
{
    const char *type = "";
    uint32_t sparse;
    int view;
    accessor->json = json;
    PL_TRY(pl_gltf_index(gltf, json, "bufferView", PL_GLTF_VIEWS, &view));
    PL_TRY(pl_gltf_integer(gltf, json, "componentType", &accessor->component_type));
    PL_TRY(pl_gltf_flag(gltf, json, "normalized", &accessor->normalised));
    PL_TRY(pl_gltf_size(gltf, json, "count", &accessor->count));
    PL_TRY(pl_gltf_string(gltf, json, "type", &type));
    PL_TRY(pl_gltf_member(gltf, json, "sparse", PL_JSON_OBJECT, &sparse));
    accessor->components = component_count(type);
    size_t size = component_size(accessor->component_type) * (size_t)accessor->components;
    if (size == 0)
        return pl_gltf_fail(gltf, json, "componentType or type is missing or not known");
    if (accessor->count > INT32_MAX)
        return pl_gltf_fail(gltf, json, "a count of %zu is too large", accessor->count);
    if (view >= 0) {
        size_t stride = gltf->views[view].stride;
        accessor->stride = stride ? stride : size;
        if (accessor->stride < size)
            return pl_gltf_fail(gltf, json, "elements of %zu bytes overlap: they are %zu apart",
                                size, stride);
        PL_TRY(find_elements(gltf, json, view, accessor->count, size, accessor->stride,
                             &accessor->data));
    }
    return sparse ? read_sparse(gltf, sparse, accessor) : PL_OK;
}

pl_status pl_gltf_read_accessors(pl_gltf *gltf)
{
    const pl_gltf_list *list = &gltf->tables[PL_GLTF_ACCESSORS];
    gltf->accessors = PL_NEW(gltf->memory, pl_gltf_accessor, list->count);
    if (!gltf->accessors)
        return pl_gltf_no_memory(gltf);
    for (int i = 0; i < list->count; i++)
        PL_TRY(read_accessor(gltf, list->nodes[i], &gltf->accessors[i]));
    return PL_OK;
}

static void get_element(const uint8_t *p, const pl_gltf_accessor *accessor, int components,
                        bool normalised, double *values)
{
    size_t size = component_size(accessor->component_type);
    for (int k = 0; k < components; k++)
        values[k] = k < accessor->components
                        ? get_component(p + (size_t)k * size, accessor->component_type, normalised)
                        : 0;
}

void pl_gltf_get_values(const pl_gltf_accessor *accessor, int components, bool normalised,
                        double *values)
{
    normalised |= accessor->normalised;
    if (!accessor->data)
        memset(values, 0, accessor->count * (size_t)components * sizeof *values);
    for (size_t i = 0; accessor->data && i < accessor->count; i++)
        get_element(accessor->data + i * accessor->stride, accessor, components, normalised,
                    values + i * (size_t)components);
    size_t index_size = component_size(accessor->sparse_index_type);
    size_t size = component_size(accessor->component_type) * (size_t)accessor->components;
    for (size_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t at =
            get_index(accessor->sparse_indices + i * index_size, accessor->sparse_index_type);
        get_element(accessor->sparse_values + i * size, accessor, components, normalised,
                    values + at * (size_t)components);
    }
}

bool pl_gltf_is_index_accessor(const pl_gltf_accessor *accessor)
{
    return is_index_type(accessor->component_type) && accessor->components == 1;
}

void pl_gltf_get_indices(const pl_gltf_accessor *accessor, uint32_t *values)
{
    int type = accessor->component_type;
    for (size_t i = 0; i < accessor->count; i++)
        values[i] = accessor->data ? get_index(accessor->data + i * accessor->stride, type) : 0;
    size_t index_size = component_size(accessor->sparse_index_type), size = component_size(type);
    for (size_t i = 0; i < accessor->sparse_count; i++)
        values[get_index(accessor->sparse_indices + i * index_size, accessor->sparse_index_type)] =
            get_index(accessor->sparse_values + i * size, type);
}
