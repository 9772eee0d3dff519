/* Wavefront OBJ: polygons with positions, texture coordinates and normals chosen separately,
   groups, materials, lines. Free-form curves and surfaces, points and smoothing groups are passed
   over. The file is gone through twice, first for the vertex data: faces may so name vertices that
   follow them. Colours behind the coordinates of a vertex are taken as sRGB; texture coordinates
   are turned over (OBJ's v runs up the image). */
#include <string.h>

#include "io/mesh_mtl.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

/* A library may be named again and again: these many are read. */
enum { LIBRARIES = 64 };

typedef struct obj {
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_text text;
    pl_error *error;
    int64_t seen[3];  /* positions, UVs, normals so far */
    int64_t total[3]; /* in the file */
    pl_array corners; /* pl_mesh_corner, of the face being read */
    int libraries;
} obj;

static pl_status no_memory(const obj *o)
{
    return pl_mesh_build_no_memory(o->build, o->source->name, o->error);
}

/* ---- Vertex data ----------------------------------------------------------------------------- */

/* x y z, or x y z w (w serves curves only), or x y z r g b. */
static pl_status read_position(obj *o)
{
    double values[7], *position = pl_mesh_build_vertices(o->build, 1);
    if (!position)
        return no_memory(o);
    PL_TRY(pl_text_doubles(&o->text, "a coordinate", 3, position, o->error));
    int count = 0;
    for (; count < 3 && pl_text_peek(&o->text).length; count++)
        PL_TRY(pl_text_double(&o->text, "a vertex colour", &values[count], o->error));
    if (count < 3)
        return PL_OK;
    float *colour =
        pl_mesh_build_attribute(o->build, PL_ATTRIBUTE_COLOUR, o->build->positions.count - 1);
    if (!colour)
        return no_memory(o);
    for (int k = 0; k < 3; k++)
        colour[k] = pl_mesh_linear(values[k]);
    return PL_OK;
}

static pl_status read_uv(obj *o)
{
    double u, v = 0;
    PL_TRY(pl_text_double(&o->text, "a texture coordinate", &u, o->error));
    if (pl_text_peek(&o->text).length)
        PL_TRY(pl_text_double(&o->text, "a texture coordinate", &v, o->error));
    float *row = pl_array_add(&o->build->pool_uvs, 1);
    if (!row)
        return no_memory(o);
    row[0] = (float)u;
    row[1] = (float)(1 - v);
    return PL_OK;
}

static pl_status read_normal(obj *o)
{
    double normal[3];
    PL_TRY(pl_text_doubles(&o->text, "a normal", 3, normal, o->error));
    float *row = pl_array_add(&o->build->pool_normals, 1);
    if (!row)
        return no_memory(o);
    for (int k = 0; k < 3; k++)
        row[k] = (float)normal[k];
    return PL_OK;
}

/* 0, 1, 2 for v, vt, vn; -1 for everything else. */
static int vertex_kind(pl_word word)
{
    if (!word.length || word.text[0] != 'v' || word.length > 2)
        return -1;
    return word.length == 1 ? 0 : word.text[1] == 't' ? 1 : word.text[1] == 'n' ? 2 : -1;
}

static pl_status read_vertex_data(obj *o)
{
    do {
        switch (vertex_kind(pl_text_word_in_line(&o->text))) {
        case 0:
            PL_TRY(read_position(o));
            break;
        case 1:
            PL_TRY(read_uv(o));
            break;
        case 2:
            PL_TRY(read_normal(o));
            break;
        default:
            break;
        }
    } while (pl_text_next_line(&o->text));
    o->total[0] = (int64_t)o->build->positions.count;
    o->total[1] = (int64_t)o->build->pool_uvs.count;
    o->total[2] = (int64_t)o->build->pool_normals.count;
    /* Beyond this no index of 32 bits reaches. */
    return o->total[1] > INT32_MAX || o->total[2] > INT32_MAX ? no_memory(o) : PL_OK;
}

/* ---- Faces ----------------------------------------------------------------------------------- */

static pl_status fail_index(obj *o, pl_word word, int kind)
{
    static const char *const names[] = {"vertex", "texture coordinate", "normal"};
    static const char *const many[] = {"vertices", "texture coordinates", "normals"};
    return pl_text_fail(&o->text, o->error,
                        "the corner '%s' names a %s that is not there: the file has %lld %s",
                        PL_SHOW(word), names[kind], (long long)o->total[kind], many[kind]);
}

/* A whole number that ends at a slash or with the word; the characters are few, so this is most of
   the time spent. */
static bool read_number(const char **at, const char *end, int64_t *number)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative || (p < end && *p == '+');
    const char *first = p;
    int64_t value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        value = value < INT64_MAX / 100 ? value * 10 + (*p - '0') : value;
    *at = p;
    *number = negative ? -value : value;
    return p > first && (p == end || *p == '/');
}

/* v, v/t, v//n or v/t/n; numbers count from 1, negative ones back from the latest. */
static pl_status read_corner(obj *o, pl_word word, pl_mesh_corner *corner)
{
    int32_t parts[3] = {-1, -1, -1};
    const char *at = word.text, *end = word.text + word.length;
    for (int kind = 0; kind < 3; kind++) {
        int64_t number;
        if (kind && (at == end || *at == '/')) {
            at += at < end;
            continue;
        }
        if (!read_number(&at, end, &number))
            return pl_text_fail(&o->text, o->error,
                                "'%s' is not a corner; those are v, v/t, v//n or v/t/n",
                                PL_SHOW(word));
        number = number < 0 ? o->seen[kind] + number : number - 1;
        if (number < 0 || number >= o->total[kind])
            return fail_index(o, word, kind);
        parts[kind] = (int32_t)number;
        at += at < end;
    }
    if (at < end)
        return pl_text_fail(&o->text, o->error,
                            "'%s' is not a corner; those are v, v/t, v//n or v/t/n", PL_SHOW(word));
    *corner = (pl_mesh_corner){parts[0], parts[1], parts[2]};
    return PL_OK;
}

static pl_status read_corners(obj *o)
{
    o->corners.count = 0;
    for (pl_word word; (word = pl_text_word_in_line(&o->text)).length;) {
        pl_mesh_corner *corner = pl_array_add(&o->corners, 1);
        if (!corner)
            return no_memory(o);
        PL_TRY(read_corner(o, word, corner));
    }
    return PL_OK;
}

static pl_status read_face(obj *o)
{
    PL_TRY(read_corners(o));
    return pl_mesh_build_corners(o->build, o->corners.data, o->corners.count) ? PL_OK
                                                                              : no_memory(o);
}

static pl_status read_line(obj *o)
{
    PL_TRY(read_corners(o));
    const pl_mesh_corner *corners = o->corners.data;
    for (size_t i = 1; i < o->corners.count; i++)
        if (!pl_mesh_build_line(o->build, corners[i - 1].position, corners[i].position))
            return no_memory(o);
    return PL_OK;
}

/* ---- Groups and materials -------------------------------------------------------------------- */

static pl_status read_group(obj *o)
{
    pl_word name = pl_text_rest(&o->text);
    if (!name.length)
        name = (pl_word){"default", 7};
    return pl_mesh_build_group(o->build, name.text, name.length) ? PL_OK : no_memory(o);
}

static pl_status use_material(obj *o)
{
    pl_word name = pl_text_rest(&o->text);
    int32_t material = pl_mesh_build_find_material(o->build, name.text, name.length);
    if (material < 0)
        material = pl_mesh_build_material(o->build, name.text, name.length);
    return material >= 0 && pl_mesh_build_use_material(o->build, material) ? PL_OK : no_memory(o);
}

/* A library that cannot be opened is no reason to refuse the mesh; want of memory is. */
static pl_status read_library(obj *o, pl_word name, bool *found)
{
    pl_mesh_source library;
    pl_status status = pl_mesh_beside(o->build, o->source, name.text, name.length, &library, NULL);
    *found = status == PL_OK;
    if (!*found)
        return status == PL_ERROR_MEMORY ? no_memory(o) : PL_OK;
    bool good = pl_mtl_read(o->build, &library);
    pl_mesh_beside_close(o->build, &library);
    return good ? PL_OK : no_memory(o);
}

/* One name, which may contain blanks, or several names. */
static pl_status read_libraries(obj *o)
{
    if (!o->source->may_open || o->libraries >= LIBRARIES)
        return PL_OK;
    pl_text words = o->text;
    pl_word name = pl_text_rest(&o->text);
    bool found = false;
    o->libraries++;
    PL_TRY(read_library(o, name, &found));
    while (!found && o->libraries < LIBRARIES && (name = pl_text_word_in_line(&words)).length) {
        bool one = false;
        o->libraries++;
        PL_TRY(read_library(o, name, &one));
    }
    return PL_OK;
}

/* ---- The file -------------------------------------------------------------------------------- */

static pl_status read_statement(obj *o, pl_word word)
{
    int kind = vertex_kind(word);
    if (kind >= 0) {
        o->seen[kind]++;
        return PL_OK;
    }
    if (pl_word_is(word, "f") || pl_word_is(word, "fo"))
        return read_face(o);
    if (pl_word_is(word, "l"))
        return read_line(o);
    if (pl_word_is(word, "g") || pl_word_is(word, "o"))
        return read_group(o);
    if (pl_word_is(word, "usemtl"))
        return use_material(o);
    if (pl_word_is(word, "mtllib"))
        return read_libraries(o);
    return PL_OK;
}

static pl_text begin(const pl_mesh_source *source)
{
    pl_text text = pl_text_make(source->name, source->bytes, source->size);
    text.comment = '#';
    text.continued = text.by_line = true;
    return text;
}

static pl_status read_shapes(obj *o)
{
    o->text = begin(o->source);
    do
        PL_TRY(read_statement(o, pl_text_word_in_line(&o->text)));
    while (pl_text_next_line(&o->text));
    return PL_OK;
}

pl_status pl_read_obj(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    obj o = {.build = build, .source = source, .error = error, .text = begin(source)};
    o.corners = pl_array_make(build->memory, sizeof(pl_mesh_corner));
    pl_status status = read_vertex_data(&o);
    if (status == PL_OK)
        status = read_shapes(&o);
    pl_array_free(&o.corners);
    return status;
}
