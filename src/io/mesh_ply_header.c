/* Headers of PLY files. Counts are held against the bytes that follow before anything is made of
   them. */
#include "io/mesh_ply.h"

#include <string.h>

typedef struct header_reader {
    pl_mesh_build *build;
    pl_ply_header *header;
    pl_text text;
    pl_error *error;
} header_reader;

static int find_type(pl_word word)
{
    static const struct {
        const char *name;
        pl_ply_type type;
    } types[] = {{"char", PL_PLY_I8},    {"int8", PL_PLY_I8},     {"uchar", PL_PLY_U8},
                 {"uint8", PL_PLY_U8},   {"short", PL_PLY_I16},   {"int16", PL_PLY_I16},
                 {"ushort", PL_PLY_U16}, {"uint16", PL_PLY_U16},  {"int", PL_PLY_I32},
                 {"int32", PL_PLY_I32},  {"uint", PL_PLY_U32},    {"uint32", PL_PLY_U32},
                 {"float", PL_PLY_F32},  {"float32", PL_PLY_F32}, {"double", PL_PLY_F64},
                 {"float64", PL_PLY_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pl_word_is(word, types[i].name))
            return types[i].type;
    return PL_PLY_NONE;
}

static int find_list_role(pl_ply_element_kind kind, pl_word name)
{
    if (kind == PL_PLY_FACES && pl_word_is(name, "texcoord"))
        return PL_PLY_TEXCOORDS;
    bool indices = pl_word_is(name, "vertex_indices") || pl_word_is(name, "vertex_index");
    return indices && (kind == PL_PLY_FACES || kind == PL_PLY_STRIPS) ? PL_PLY_INDICES
                                                                      : PL_PLY_IGNORED;
}

static int find_role(pl_ply_element_kind kind, bool list, pl_word name)
{
    static const struct {
        const char *name;
        uint8_t kind, role;
    } known[] = {{"x", PL_PLY_VERTICES, PL_PLY_X},
                 {"y", PL_PLY_VERTICES, PL_PLY_Y},
                 {"z", PL_PLY_VERTICES, PL_PLY_Z},
                 {"nx", PL_PLY_VERTICES, PL_PLY_NX},
                 {"ny", PL_PLY_VERTICES, PL_PLY_NY},
                 {"nz", PL_PLY_VERTICES, PL_PLY_NZ},
                 {"red", PL_PLY_VERTICES, PL_PLY_RED},
                 {"green", PL_PLY_VERTICES, PL_PLY_GREEN},
                 {"blue", PL_PLY_VERTICES, PL_PLY_BLUE},
                 {"alpha", PL_PLY_VERTICES, PL_PLY_ALPHA},
                 {"r", PL_PLY_VERTICES, PL_PLY_RED},
                 {"g", PL_PLY_VERTICES, PL_PLY_GREEN},
                 {"b", PL_PLY_VERTICES, PL_PLY_BLUE},
                 {"a", PL_PLY_VERTICES, PL_PLY_ALPHA},
                 {"diffuse_red", PL_PLY_VERTICES, PL_PLY_RED},
                 {"diffuse_green", PL_PLY_VERTICES, PL_PLY_GREEN},
                 {"diffuse_blue", PL_PLY_VERTICES, PL_PLY_BLUE},
                 {"s", PL_PLY_VERTICES, PL_PLY_U},
                 {"t", PL_PLY_VERTICES, PL_PLY_V},
                 {"u", PL_PLY_VERTICES, PL_PLY_U},
                 {"v", PL_PLY_VERTICES, PL_PLY_V},
                 {"texture_u", PL_PLY_VERTICES, PL_PLY_U},
                 {"texture_v", PL_PLY_VERTICES, PL_PLY_V},
                 {"vertex1", PL_PLY_EDGES, PL_PLY_FIRST_END},
                 {"vertex2", PL_PLY_EDGES, PL_PLY_SECOND_END}};
    if (list)
        return find_list_role(kind, name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind && pl_word_is(name, known[i].name))
            return known[i].role;
    return PL_PLY_IGNORED;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static pl_status read_format(header_reader *r)
{
    pl_word word = pl_text_word_in_line(&r->text);
    if (pl_word_is(word, "ascii"))
        r->header->format = PL_PLY_ASCII;
    else if (pl_word_is(word, "binary_little_endian"))
        r->header->format = PL_PLY_LITTLE;
    else if (pl_word_is(word, "binary_big_endian"))
        r->header->format = PL_PLY_BIG;
    else
        return pl_text_fail(&r->text, r->error,
                            "the format must be ascii, binary_little_endian or binary_big_endian, "
                            "not '%s'",
                            PL_SHOW(word));
    return PL_OK;
}

static pl_status read_element(header_reader *r)
{
    pl_word name = pl_text_word_in_line(&r->text);
    int64_t count;
    PL_TRY(pl_text_int(&r->text, "the number of elements", 0, INT64_MAX, &count, r->error));
    pl_ply_element *element = pl_array_add(&r->header->elements, 1);
    if (!element)
        return pl_mesh_build_no_memory(r->build, r->text.name, r->error);
    *element = (pl_ply_element){.kind = pl_word_is(name, "vertex")      ? PL_PLY_VERTICES
                                        : pl_word_is(name, "face")      ? PL_PLY_FACES
                                        : pl_word_is(name, "tristrips") ? PL_PLY_STRIPS
                                        : pl_word_is(name, "edge")      ? PL_PLY_EDGES
                                                                        : PL_PLY_OTHER,
                                .count = (uint64_t)count,
                                .first_property = r->header->properties.count};
    return PL_OK;
}

static pl_status read_property(header_reader *r)
{
    if (!r->header->elements.count)
        return pl_text_fail(&r->text, r->error, "a property without an element before it");
    pl_ply_element *element =
        (pl_ply_element *)r->header->elements.data + r->header->elements.count - 1;
    pl_word word = pl_text_word_in_line(&r->text), length = {NULL, 0};
    bool list = pl_word_is(word, "list");
    if (list) {
        length = pl_text_word_in_line(&r->text);
        word = pl_text_word_in_line(&r->text);
    }
    pl_ply_property made = {.type = (uint8_t)find_type(word), .length = (uint8_t)find_type(length)};
    if (!made.type || (list && !made.length))
        return pl_text_fail(&r->text, r->error, "'%s' is not a type of PLY",
                            PL_SHOW(made.type ? length : word));
    made.role = (uint8_t)find_role(element->kind, list, pl_text_word_in_line(&r->text));
    if (element->roles >> made.role & 1)
        made.role = PL_PLY_IGNORED;
    pl_ply_property *property = pl_array_add(&r->header->properties, 1);
    if (!property)
        return pl_mesh_build_no_memory(r->build, r->text.name, r->error);
    *property = made;
    element->property_count++;
    element->roles |= made.role == PL_PLY_IGNORED ? 0 : 1u << made.role;
    return PL_OK;
}

/* "comment TextureFile wood.png" is how programs name the image; the first one is taken. */
static pl_status read_comment(header_reader *r)
{
    if (!pl_word_is(pl_text_word_in_line(&r->text), "TextureFile") || r->build->materials.count)
        return PL_OK;
    pl_word name = pl_text_rest(&r->text);
    int32_t image = pl_mesh_build_image_add(r->build, name.text, name.length, "", NULL, 0);
    int32_t material = pl_mesh_build_material(r->build, name.text, name.length);
    if (image < 0 || material < 0)
        return pl_mesh_build_no_memory(r->build, r->text.name, r->error);
    pl_mesh_build_material_at(r->build, material)->textures[PL_TEXTURE_COLOUR] = image;
    return pl_mesh_build_use_material(r->build, material)
               ? PL_OK
               : pl_mesh_build_no_memory(r->build, r->text.name, r->error);
}

static pl_status read_lines(header_reader *r)
{
    bool format = false;
    while (pl_text_next_line(&r->text)) {
        pl_word word = pl_text_word_in_line(&r->text);
        if (pl_word_is(word, "end_header")) {
            if (!format)
                return pl_text_fail(&r->text, r->error, "the header has no line 'format'");
            pl_text_next_line(&r->text);
            return PL_OK;
        }
        if (pl_word_is(word, "format")) {
            format = true;
            PL_TRY(read_format(r));
        } else if (pl_word_is(word, "element")) {
            PL_TRY(read_element(r));
        } else if (pl_word_is(word, "property")) {
            PL_TRY(read_property(r));
        } else if (pl_word_is(word, "comment")) {
            PL_TRY(read_comment(r));
        } else if (word.length && !pl_word_is(word, "obj_info")) {
            return pl_text_fail(&r->text, r->error, "'%s' is not a line of a PLY header",
                                PL_SHOW(word));
        }
    }
    return pl_text_fail(&r->text, r->error, "the file ends within its header");
}

/* ---- Checks ---------------------------------------------------------------------------------- */

size_t pl_ply_least_bytes(const pl_ply_header *header, const pl_ply_element *element)
{
    const pl_ply_property *properties = pl_ply_properties(header, element);
    size_t bytes = 0;
    for (size_t i = 0; i < element->property_count; i++)
        bytes += header->format == PL_PLY_ASCII
                     ? 2
                     : pl_ply_type_size(properties[i].length ? properties[i].length
                                                             : properties[i].type);
    return bytes;
}

static pl_status check_vertices(header_reader *r, pl_ply_element *element)
{
    const uint32_t xyz = 1u << PL_PLY_X | 1u << PL_PLY_Y | 1u << PL_PLY_Z;
    if (r->header->vertex_count || (element->roles & xyz) != xyz)
        return pl_text_fail(&r->text, r->error,
                            r->header->vertex_count ? "the header has two elements 'vertex'"
                                                    : "vertices need the properties x, y and z");
    if (element->count > INT32_MAX)
        return pl_text_fail(&r->text, r->error, "%llu vertices are too many; at most %d",
                            (unsigned long long)element->count, INT32_MAX);
    r->header->vertex_count = (size_t)element->count;
    return PL_OK;
}

/* The last number of a text file needs no blank behind it: one byte more is allowed. */
static pl_status check_elements(header_reader *r, size_t left)
{
    pl_ply_element *element = r->header->elements.data;
    for (size_t i = 0; i < r->header->elements.count; i++, element++) {
        size_t least = pl_ply_least_bytes(r->header, element);
        if (least && element->count > (left + 1) / least)
            return pl_text_fail(&r->text, r->error,
                                "the header promises %llu elements of %zu or more bytes, but only "
                                "%zu bytes follow it",
                                (unsigned long long)element->count, least, left);
        if (element->kind == PL_PLY_VERTICES)
            PL_TRY(check_vertices(r, element));
    }
    return PL_OK;
}

pl_status pl_ply_read_header(pl_mesh_build *build, const pl_mesh_source *source,
                             pl_ply_header *header, pl_error *error)
{
    header_reader r = {.build = build, .header = header, .error = error};
    *header = (pl_ply_header){0};
    header->elements = pl_array_make(build->memory, sizeof(pl_ply_element));
    header->properties = pl_array_make(build->memory, sizeof(pl_ply_property));
    r.text = pl_text_make(source->name, source->bytes, source->size);
    r.text.by_line = true;
    /* Binary data may contain line feeds where the header has none. */
    r.text.line_end =
        source->size > 4 && source->bytes[3] == '\r' && source->bytes[4] != '\n' ? '\r' : '\n';
    if (!pl_word_is(pl_text_word_in_line(&r.text), "ply"))
        return pl_text_fail(&r.text, error, "a PLY file begins with a line 'ply'");
    PL_TRY(read_lines(&r));
    header->line = r.text.line;
    header->offset = (size_t)(r.text.at - (const char *)source->bytes);
    return check_elements(&r, source->size - header->offset);
}
