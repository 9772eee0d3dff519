/* PLY in text and both byte orders: vertices with normals, colours (taken as sRGB, made linear) and
   texture coordinates (turned over: their v runs up the image), faces, also with texture
   coordinates per corner, triangle strips, edges. Other elements and properties are passed over. */
#include "io/mesh_ply.h"

#include <math.h>
#include <string.h>

typedef struct ply {
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_error *error;
    pl_ply_header header;
    pl_text text;       /* where the file is text */
    pl_bytes bytes;     /* where it is not */
    pl_array list;      /* int32_t: the indices of the element being read */
    pl_array texcoords; /* float: the texture coordinates of its corners, where it has them */
    pl_array corners;   /* pl_mesh_corner */
    float *normals, *colours, *uvs; /* tables of the build, NULL = the file has none */
    float linear[256];
} ply;

static pl_status no_memory(const ply *p)
{
    return pl_mesh_build_no_memory(p->build, p->source->name, p->error);
}

static pl_where place(const ply *p)
{
    return p->header.format == PL_PLY_ASCII ? pl_mesh_where_line(p->source->name, p->text.line)
                                            : pl_mesh_where_byte(p->source->name, p->bytes.at);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static double value_at(const uint8_t *p, int type, bool big)
{
    switch (type) {
    case PL_PLY_I8:
        return (int8_t)*p;
    case PL_PLY_U8:
        return *p;
    case PL_PLY_I16:
        return (int16_t)pl_bytes_at_u16(p, big);
    case PL_PLY_U16:
        return pl_bytes_at_u16(p, big);
    case PL_PLY_I32:
        return (int32_t)pl_bytes_at_u32(p, big);
    case PL_PLY_U32:
        return pl_bytes_at_u32(p, big);
    case PL_PLY_F32:
        return pl_bytes_at_f32(p, big);
    default:
        return pl_bytes_at_f64(p, big);
    }
}

static pl_status fail_short(const ply *p)
{
    return pl_fail(p->error, PL_ERROR_FORMAT, place(p).text,
                   "the file ends before all elements of its header are there");
}

static pl_status read_value(ply *p, int type, double *value)
{
    if (p->header.format == PL_PLY_ASCII)
        return pl_text_double(&p->text, "a value", value, p->error);
    const uint8_t *at = pl_bytes_take(&p->bytes, pl_ply_type_size(type));
    if (!at)
        return fail_short(p);
    *value = value_at(at, type, p->bytes.big_endian);
    return PL_OK;
}

/* The length of a list, which the file has room for. */
static pl_status read_length(ply *p, const pl_ply_property *property, size_t *length)
{
    double value;
    PL_TRY(read_value(p, property->length, &value));
    size_t left = p->header.format == PL_PLY_ASCII
                      ? ((size_t)(p->text.end - p->text.at) + 1) / 2
                      : pl_bytes_left(&p->bytes) / pl_ply_type_size(property->type);
    PL_CHECK(value >= 0 && value == floor(value), PL_ERROR_FORMAT, p->error, place(p).text,
             "a list cannot have %g entries", value);
    PL_CHECK(value <= (double)left, PL_ERROR_FORMAT, p->error, place(p).text,
             "a list of %g entries does not fit into what is left of the file", value);
    *length = (size_t)value;
    return PL_OK;
}

static pl_status skip_property(ply *p, const pl_ply_property *property)
{
    size_t count = 1;
    if (property->length)
        PL_TRY(read_length(p, property, &count));
    if (p->header.format != PL_PLY_ASCII)
        return pl_bytes_take(&p->bytes, count * pl_ply_type_size(property->type)) ? PL_OK
                                                                                  : fail_short(p);
    for (size_t i = 0; i < count; i++)
        if (!pl_text_word(&p->text).length)
            return fail_short(p);
    return PL_OK;
}

/* A vertex number; −1 is allowed where `ends` says so. */
static pl_status read_index(ply *p, int type, bool ends, int32_t *index)
{
    double value;
    PL_TRY(read_value(p, type, &value));
    PL_CHECK(value >= (ends ? -1 : 0) && value < (double)p->header.vertex_count &&
                 value == floor(value),
             PL_ERROR_FORMAT, p->error, place(p).text,
             "a vertex number must be whole and from 0 to %lld, not %g",
             (long long)p->header.vertex_count - 1, value);
    *index = (int32_t)value;
    return PL_OK;
}

/* ---- Elements -------------------------------------------------------------------------------- */

static float colour_value(const ply *p, int type, double value, bool opacity)
{
    if (type == PL_PLY_U8 && !opacity && value >= 0 && value <= 255 && value == floor(value))
        return p->linear[(int)value];
    double part = type == PL_PLY_U8                          ? value / 255
                  : type == PL_PLY_U16                       ? value / 65535
                  : type == PL_PLY_F32 || type == PL_PLY_F64 ? value
                                                             : value / 255;
    return opacity ? (float)(part > 0 ? part < 1 ? part : 1 : 0) : pl_mesh_linear(part);
}

static pl_status put_value(ply *p, const pl_ply_property *property, size_t vertex, double value)
{
    double *positions = p->build->positions.data;
    int role = property->role;
    if (role <= PL_PLY_Z) {
        PL_CHECK(isfinite(value), PL_ERROR_FORMAT, p->error, place(p).text,
                 "a coordinate of vertex %zu (from 0) is not a finite number", vertex);
        positions[3 * vertex + (size_t)(role - PL_PLY_X)] = value;
    } else if (role <= PL_PLY_NZ) {
        if (p->normals)
            p->normals[3 * vertex + (size_t)(role - PL_PLY_NX)] = (float)value;
    } else if (role <= PL_PLY_ALPHA) {
        if (p->colours)
            p->colours[4 * vertex + (size_t)(role - PL_PLY_RED)] =
                colour_value(p, property->type, value, role == PL_PLY_ALPHA);
    } else if (p->uvs && role == PL_PLY_U) {
        p->uvs[2 * vertex] = (float)value;
    } else if (p->uvs && role == PL_PLY_V) {
        p->uvs[2 * vertex + 1] = (float)(1 - value);
    }
    return PL_OK;
}

static pl_status read_vertex(ply *p, const pl_ply_element *element, size_t vertex)
{
    const pl_ply_property *properties = pl_ply_properties(&p->header, element);
    for (size_t i = 0; i < element->property_count; i++) {
        double value;
        if (properties[i].role == PL_PLY_IGNORED) {
            PL_TRY(skip_property(p, &properties[i]));
            continue;
        }
        PL_TRY(read_value(p, properties[i].type, &value));
        PL_TRY(put_value(p, &properties[i], vertex, value));
    }
    return PL_OK;
}

static pl_status read_texcoords(ply *p, const pl_ply_property *property)
{
    size_t count;
    PL_TRY(read_length(p, property, &count));
    float *values =
        pl_array_reserve(&p->texcoords, count + 1) ? pl_array_add(&p->texcoords, count) : NULL;
    if (!values)
        return no_memory(p);
    for (size_t k = 0; k < count; k++) {
        double value;
        PL_TRY(read_value(p, property->type, &value));
        values[k] = (float)value;
    }
    return PL_OK;
}

/* The list of vertex numbers of a face, a strip or (two numbers) an edge. */
static pl_status read_indices(ply *p, const pl_ply_element *element)
{
    const pl_ply_property *properties = pl_ply_properties(&p->header, element);
    p->list.count = p->texcoords.count = 0;
    for (size_t i = 0; i < element->property_count; i++) {
        size_t length = 1;
        if (properties[i].role == PL_PLY_IGNORED) {
            PL_TRY(skip_property(p, &properties[i]));
            continue;
        }
        if (properties[i].role == PL_PLY_TEXCOORDS) {
            PL_TRY(read_texcoords(p, &properties[i]));
            continue;
        }
        if (properties[i].length)
            PL_TRY(read_length(p, &properties[i], &length));
        int32_t *indices =
            pl_array_reserve(&p->list, length + 1) ? pl_array_add(&p->list, length) : NULL;
        if (!indices)
            return no_memory(p);
        for (size_t k = 0; k < length; k++)
            PL_TRY(read_index(p, properties[i].type, element->kind == PL_PLY_STRIPS, &indices[k]));
    }
    return PL_OK;
}

/* Every further vertex makes a triangle with the two before it, turned every second time; −1 begins
   a new strip. */
static bool add_strips(ply *p)
{
    const int32_t *v = p->list.data;
    for (size_t i = 0, first = 0; i < p->list.count; i++) {
        if (v[i] < 0) {
            first = i + 1;
        } else if (i >= first + 2) {
            bool turned = (i - first) % 2 == 1;
            if (!pl_mesh_build_triangle(p->build, v[i - 2 + turned], v[i - 1 - turned], v[i]))
                return false;
        }
    }
    return true;
}

/* Each corner gets an entry of its own in the pool; equal ones are made one when the mesh is
   finished. */
static bool add_textured_face(ply *p)
{
    size_t count = p->list.count, first = p->build->pool_uvs.count;
    p->corners.count = 0;
    pl_mesh_corner *corners = pl_array_add(&p->corners, count);
    float *uvs = first <= INT32_MAX - count ? pl_array_add(&p->build->pool_uvs, count) : NULL;
    const int32_t *indices = p->list.data;
    const float *texcoords = p->texcoords.data;
    if (!corners || !uvs)
        return false;
    for (size_t i = 0; i < count; i++) {
        uvs[2 * i] = texcoords[2 * i];
        uvs[2 * i + 1] = 1 - texcoords[2 * i + 1];
        corners[i] = (pl_mesh_corner){indices[i], (int32_t)(first + i), -1};
    }
    return pl_mesh_build_corners(p->build, corners, count);
}

static bool add_shape(ply *p, const pl_ply_element *element)
{
    const int32_t *indices = p->list.data;
    if (element->kind == PL_PLY_FACES && p->list.count >= 3 &&
        p->texcoords.count == 2 * p->list.count)
        return add_textured_face(p);
    if (element->kind == PL_PLY_FACES)
        return pl_mesh_build_polygon(p->build, indices, p->list.count);
    if (element->kind == PL_PLY_STRIPS)
        return add_strips(p);
    return p->list.count != 2 || pl_mesh_build_line(p->build, indices[0], indices[1]);
}

static pl_status read_element(ply *p, const pl_ply_element *element)
{
    const pl_ply_property *properties = pl_ply_properties(&p->header, element);
    for (uint64_t i = 0; i < element->count && element->property_count; i++) {
        if (element->kind == PL_PLY_VERTICES) {
            PL_TRY(read_vertex(p, element, (size_t)i));
        } else if (element->kind == PL_PLY_OTHER) {
            for (size_t k = 0; k < element->property_count; k++)
                PL_TRY(skip_property(p, &properties[k]));
        } else {
            PL_TRY(read_indices(p, element));
            if (!add_shape(p, element))
                return no_memory(p);
        }
    }
    return PL_OK;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool has_roles(const pl_ply_element *element, int first, int last)
{
    for (int role = first; role <= last; role++)
        if (!(element->roles >> role & 1))
            return false;
    return true;
}

/* Vertices first, all zero: faces may stand in front of them. */
static pl_status make_vertices(ply *p)
{
    const pl_ply_element *element = p->header.elements.data;
    size_t count = p->header.vertex_count;
    double *positions = count ? pl_mesh_build_vertices(p->build, count) : NULL;
    if (!positions)
        return count ? no_memory(p) : PL_OK;
    memset(positions, 0, 3 * count * sizeof *positions);
    while (element->kind != PL_PLY_VERTICES)
        element++;
    bool normals = has_roles(element, PL_PLY_NX, PL_PLY_NZ);
    bool colours = has_roles(element, PL_PLY_RED, PL_PLY_BLUE);
    bool uvs = has_roles(element, PL_PLY_U, PL_PLY_V);
    if (normals)
        p->normals = pl_mesh_build_attribute(p->build, PL_ATTRIBUTE_NORMAL, 0);
    if (colours)
        p->colours = pl_mesh_build_attribute(p->build, PL_ATTRIBUTE_COLOUR, 0);
    if (uvs)
        p->uvs = pl_mesh_build_attribute(p->build, PL_ATTRIBUTE_UV, 0);
    return normals == !!p->normals && colours == !!p->colours && uvs == !!p->uvs ? PL_OK
                                                                                 : no_memory(p);
}

static pl_status read_body(ply *p)
{
    const char *body = (const char *)p->source->bytes + p->header.offset;
    p->text = pl_text_make(p->source->name, body, p->source->size - p->header.offset);
    p->text.line = p->header.line;
    p->bytes = pl_bytes_make(p->source->bytes, p->source->size, p->header.format == PL_PLY_BIG);
    p->bytes.at = p->header.offset;
    pl_mesh_linear_table(p->linear);
    PL_TRY(make_vertices(p));
    const pl_ply_element *elements = p->header.elements.data;
    for (size_t i = 0; i < p->header.elements.count; i++)
        PL_TRY(read_element(p, &elements[i]));
    return PL_OK;
}

pl_status pl_read_ply(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    ply p = {.build = build, .source = source, .error = error};
    p.list = pl_array_make(build->memory, sizeof(int32_t));
    p.texcoords = pl_array_make(build->memory, sizeof(float));
    p.corners = pl_array_make(build->memory, sizeof(pl_mesh_corner));
    pl_status status = pl_ply_read_header(build, source, &p.header, error);
    if (status == PL_OK)
        status = read_body(&p);
    pl_array_free(&p.list);
    pl_array_free(&p.texcoords);
    pl_array_free(&p.corners);
    pl_array_free(&p.header.elements);
    pl_array_free(&p.header.properties);
    return status;
}
