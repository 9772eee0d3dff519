/* Medit's .mesh (text) and .meshb (binary, versions 1 to 4): vertices, and all kinds of elements
   with straight edges; every other keyword is skipped. Vertices must come before what refers to
   them, as in all files these formats' own library writes. */
#include <math.h>
#include <string.h>

#include "io/mesh_bytes.h"
#include "io/mesh_cells.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

typedef struct medit {
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_error *error;
    pl_text text;
    pl_bytes bytes;
    int64_t dimension;
    uint32_t version; /* of a binary file: sizes of its numbers */
} medit;

/* Keywords we read, in text and as numbers of the binary format. */
static const struct keyword {
    const char *name;
    uint32_t code;
    pl_cell_kind kind;
} keywords[] = {
    {"Edges", 5, PL_CELL_LINE},          {"Triangles", 6, PL_CELL_TRIANGLE},
    {"Quadrilaterals", 7, PL_CELL_QUAD}, {"Tetrahedra", 8, PL_CELL_TET},
    {"Prisms", 9, PL_CELL_PRISM},        {"Hexahedra", 10, PL_CELL_HEX},
    {"Hexaedra", 10, PL_CELL_HEX},       {"Pyramids", 49, PL_CELL_PYRAMID},
};
enum { KEYWORDS = sizeof keywords / sizeof *keywords };
enum { CODE_DIMENSION = 3, CODE_VERTICES = 4, CODE_END = 54 };

static pl_status no_memory(const medit *file)
{
    return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static pl_status take_count(medit *file, int64_t *count)
{
    return pl_text_int(&file->text, "a number of elements", 0, INT32_MAX, count, file->error);
}

static pl_status read_vertices(medit *file)
{
    int64_t count;
    double reference;
    PL_TRY(take_count(file, &count));
    for (int64_t i = 0; i < count; i++) {
        double *position = pl_mesh_build_vertices(file->build, 1);
        if (!position)
            return no_memory(file);
        position[2] = 0;
        PL_TRY(pl_text_doubles(&file->text, "a coordinate", (int)file->dimension, position,
                               file->error));
        PL_TRY(pl_text_double(&file->text, "the reference", &reference, file->error));
    }
    return PL_OK;
}

static pl_status read_cells(medit *file, pl_cell_kind kind)
{
    int64_t count, vertex, last = (int64_t)pl_mesh_build_vertex_count(file->build);
    int32_t vertices[PL_CELL_MOST_CORNERS];
    double reference;
    PL_TRY(take_count(file, &count));
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < pl_cell_corners(kind); k++) {
            PL_TRY(pl_text_int(&file->text, "a vertex", 1, last, &vertex, file->error));
            vertices[k] = (int32_t)(vertex - 1);
        }
        PL_TRY(pl_text_double(&file->text, "the reference", &reference, file->error));
        if (!pl_cell_add(file->build, kind, vertices))
            return no_memory(file);
    }
    return PL_OK;
}

/* Passes over whatever does not begin like a keyword. */
static void skip_numbers(medit *file)
{
    for (;;) {
        pl_text before = file->text;
        pl_word word = pl_text_word(&file->text);
        char c = word.length ? word.text[0] : 'A';
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
            file->text = before;
            return;
        }
    }
}

static pl_status read_keyword(medit *file, pl_word word)
{
    for (int i = 0; i < KEYWORDS; i++)
        if (pl_word_is_like(word, keywords[i].name))
            return read_cells(file, keywords[i].kind);
    if (pl_word_is_like(word, "Vertices"))
        return read_vertices(file);
    if (pl_word_is_like(word, "Dimension"))
        return pl_text_int(&file->text, "the dimension", 2, 3, &file->dimension, file->error);
    skip_numbers(file);
    return PL_OK;
}

static pl_status read_text(medit *file)
{
    file->text = pl_text_make(file->source->name, file->source->bytes, file->source->size);
    file->text.comment = '#';
    pl_word word = pl_text_word(&file->text);
    if (!pl_word_is_like(word, "MeshVersionFormatted"))
        return pl_text_fail(&file->text, file->error,
                            "a Medit file must begin with MeshVersionFormatted, not '%s'",
                            PL_SHOW(word));
    for (; word.length && !pl_word_is_like(word, "End"); word = pl_text_word(&file->text)) {
        char c = word.text[0];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
            return pl_text_fail(&file->text, file->error, "a keyword must stand here, not '%s'",
                                PL_SHOW(word));
        PL_TRY(read_keyword(file, word));
    }
    return PL_OK;
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static pl_status fail_at(const medit *file, size_t byte, const char *text)
{
    return pl_fail(file->error, PL_ERROR_FORMAT, pl_mesh_where_byte(file->source->name, byte).text,
                   "%s", text);
}

static int64_t binary_int(medit *file, uint32_t wide_from)
{
    return file->version >= wide_from ? (int64_t)pl_bytes_u64(&file->bytes)
                                      : (int64_t)(int32_t)pl_bytes_u32(&file->bytes);
}

static pl_status read_binary_vertices(medit *file, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        size_t start = file->bytes.at;
        double *position = pl_mesh_build_vertices(file->build, 1);
        if (!position)
            return no_memory(file);
        position[2] = 0;
        for (int k = 0; k < (int)file->dimension; k++)
            position[k] = file->version == 1 ? (double)pl_bytes_f32(&file->bytes)
                                             : pl_bytes_f64(&file->bytes);
        binary_int(file, 4);
        if (file->bytes.short_of)
            return fail_at(file, start, "the file ends inside its vertices");
        if (!isfinite(position[0]) || !isfinite(position[1]) || !isfinite(position[2]))
            return fail_at(file, start, "a coordinate must be a finite number");
    }
    return PL_OK;
}

static pl_status read_binary_cells(medit *file, int64_t count, pl_cell_kind kind)
{
    int64_t last = (int64_t)pl_mesh_build_vertex_count(file->build);
    int32_t vertices[PL_CELL_MOST_CORNERS];
    for (int64_t i = 0; i < count; i++) {
        size_t start = file->bytes.at;
        bool good = true;
        for (int k = 0; k < pl_cell_corners(kind); k++) {
            int64_t vertex = binary_int(file, 4);
            good = good && vertex >= 1 && vertex <= last;
            vertices[k] = good ? (int32_t)(vertex - 1) : 0;
        }
        binary_int(file, 4);
        if (file->bytes.short_of)
            return fail_at(file, start, "the file ends inside its elements");
        if (!good)
            return fail_at(file, start, "the element has a vertex that does not exist");
        if (!pl_cell_add(file->build, kind, vertices))
            return no_memory(file);
    }
    return PL_OK;
}

static pl_status read_binary_keyword(medit *file, uint32_t code)
{
    size_t start = file->bytes.at;
    if (code == CODE_DIMENSION) {
        file->dimension = pl_bytes_u32(&file->bytes);
        return file->dimension == 2 || file->dimension == 3
                   ? PL_OK
                   : fail_at(file, start, "the dimension must be 2 or 3");
    }
    for (int i = -1; i < KEYWORDS; i++) {
        if ((i < 0 ? (uint32_t)CODE_VERTICES : keywords[i].code) != code)
            continue;
        int64_t count = binary_int(file, 4);
        if (count < 0)
            return fail_at(file, start, "a number of elements must not be negative");
        return i < 0 ? read_binary_vertices(file, count)
                     : read_binary_cells(file, count, keywords[i].kind);
    }
    return PL_OK;
}

/* 1, the version; then keywords: code, where the next one is, contents. */
static pl_status read_binary(medit *file)
{
    file->bytes = pl_bytes_make(file->source->bytes, file->source->size, false);
    if (pl_bytes_u32(&file->bytes) != 1)
        file->bytes.big_endian = true;
    file->version = pl_bytes_u32(&file->bytes);
    if (file->version < 1 || file->version > 4)
        return fail_at(file, 4, "only versions 1 to 4 of the binary format are known");
    for (;;) {
        size_t start = file->bytes.at;
        uint32_t code = pl_bytes_u32(&file->bytes);
        int64_t next = binary_int(file, 3);
        if (file->bytes.short_of)
            return fail_at(file, start, "the file ends without its keyword End");
        if (code == CODE_END)
            return PL_OK;
        PL_TRY(read_binary_keyword(file, code));
        if (next == 0)
            return PL_OK;
        if (next < (int64_t)file->bytes.at || next > (int64_t)file->source->size)
            return fail_at(file, start + 4, "the next keyword cannot be there");
        file->bytes.at = (size_t)next;
    }
}

static bool is_binary(const pl_mesh_source *source)
{
    static const uint8_t little[4] = {1, 0, 0, 0}, big[4] = {0, 0, 0, 1};
    return source->size >= 4 &&
           (memcmp(source->bytes, little, 4) == 0 || memcmp(source->bytes, big, 4) == 0);
}

pl_status pl_read_medit(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    medit file = {.build = build, .source = source, .error = error, .dimension = 3};
    pl_status status = is_binary(source) ? read_binary(&file) : read_text(&file);
    pl_cells_finish(build);
    return status;
}
