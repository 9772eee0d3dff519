/* Legacy VTK files, ASCII and binary (big-endian), versions 1 to 5: unstructured grids and
   polygonal data. Points and cells are collected first, since sections may come in any order, and
   cells made of them at the end. Data on points and cells is not read. */
#include "io/mesh_vtk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pl_status no_memory(const pl_vtk *file)
{
    return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
}

/* In a binary file a byte is easier found than a line. */
static pl_status fail_at(const pl_vtk *file, size_t byte, const char *text)
{
    if (!file->is_binary)
        return pl_text_fail(&file->text, file->error, "%s", text);
    return pl_fail(file->error, PL_ERROR_FORMAT, pl_mesh_where_byte(file->source->name, byte).text,
                   "%s", text);
}

static pl_status fail_word(const pl_vtk *file, const char *text)
{
    return fail_at(file, (size_t)((const uint8_t *)file->text.at - file->source->bytes), text);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef enum number_type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    NUMBER_TYPES
} number_type;

/* NUMBER_TYPES if it is none. vtkIdType is written as int whatever it is in memory. */
static number_type find_number_type(pl_word word)
{
    static const struct {
        const char *name;
        number_type type;
    } names[] = {
        {"char", I8},           {"unsigned_char", U8},
        {"short", I16},         {"unsigned_short", U16},
        {"int", I32},           {"unsigned_int", U32},
        {"long", I64},          {"unsigned_long", U64},
        {"float", F32},         {"double", F64},
        {"vtkIdType", I32},     {"vtktypeint64", I64},
        {"vtktypeint32", I32},  {"vtktypeuint64", U64},
        {"vtktypeuint32", U32},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_word_is_like(word, names[i].name))
            return names[i].type;
    return NUMBER_TYPES;
}

static size_t number_size(number_type type)
{
    static const uint8_t sizes[NUMBER_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

static pl_status take_type(pl_vtk *file, number_type *type)
{
    *type = find_number_type(pl_text_word_in_line(&file->text));
    return *type < NUMBER_TYPES ? PL_OK
                                : fail_word(file, "float, double, int or the like must stand here");
}

static double binary_number(pl_bytes *bytes, number_type type)
{
    switch (type) {
    case I8:
        return (int8_t)pl_bytes_u8(bytes);
    case U8:
        return pl_bytes_u8(bytes);
    case I16:
        return (int16_t)pl_bytes_u16(bytes);
    case U16:
        return pl_bytes_u16(bytes);
    case I32:
        return (int32_t)pl_bytes_u32(bytes);
    case U32:
        return pl_bytes_u32(bytes);
    case I64:
        return (double)(int64_t)pl_bytes_u64(bytes);
    case U64:
        return (double)pl_bytes_u64(bytes);
    case F32:
        return (double)pl_bytes_f32(bytes);
    default:
        return pl_bytes_f64(bytes);
    }
}

static pl_status take_number(pl_vtk *file, number_type type, double *value)
{
    if (!file->is_binary)
        return pl_text_double(&file->text, "a coordinate", value, file->error);
    size_t start = file->bytes.at;
    *value = binary_number(&file->bytes, type);
    if (file->bytes.short_of)
        return fail_at(file, start, "the file ends inside a section");
    return isfinite(*value) ? PL_OK : fail_at(file, start, "a coordinate must be finite");
}

static pl_status take_index(pl_vtk *file, number_type type, int64_t *value)
{
    if (!file->is_binary)
        return pl_text_int(&file->text, "an index", 0, INT32_MAX, value, file->error);
    size_t start = file->bytes.at;
    double number = binary_number(&file->bytes, type);
    if (file->bytes.short_of)
        return fail_at(file, start, "the file ends inside a section");
    if (!(number >= 0 && number <= INT32_MAX))
        return fail_at(file, start, "an index must be a whole number from 0 to 2147483647");
    *value = (int64_t)number;
    return PL_OK;
}

/* Binary numbers begin behind the end of the line with the keyword, and text goes on behind
   them. */
static void enter_numbers(pl_vtk *file)
{
    pl_text_next_line(&file->text);
    file->bytes.at = (size_t)((const uint8_t *)file->text.at - file->source->bytes);
}

static void leave_numbers(pl_vtk *file)
{
    if (file->is_binary)
        file->text.at = (const char *)file->source->bytes + file->bytes.at;
}

/* A count behind a keyword; those in text are no more than the bytes of the file. */
static pl_status take_count(pl_vtk *file, int64_t *count)
{
    pl_word word = pl_text_word_in_line(&file->text);
    if (!pl_word_int(word, count) || *count < 0 || *count > INT32_MAX)
        return fail_word(file, "a number of things, from 0 to 2147483647, must stand here");
    return PL_OK;
}

/* ---- Sections -------------------------------------------------------------------------------- */

static pl_status read_points(pl_vtk *file)
{
    int64_t count;
    number_type type;
    PL_TRY(take_count(file, &count));
    PL_TRY(take_type(file, &type));
    if (pl_mesh_build_vertex_count(file->build) > 0)
        return fail_word(file, "there are points already");
    enter_numbers(file);
    for (int64_t i = 0; i < count; i++) {
        double *position = pl_mesh_build_vertices(file->build, 1);
        if (!position)
            return no_memory(file);
        for (int k = 0; k < 3; k++)
            PL_TRY(take_number(file, type, &position[k]));
    }
    leave_numbers(file);
    return PL_OK;
}

static pl_status add_member(pl_vtk *file, pl_vtk_lists *lists, number_type type)
{
    int64_t index;
    PL_TRY(take_index(file, type, &index));
    int32_t *member = pl_array_add(&lists->members, 1);
    if (!member)
        return no_memory(file);
    *member = (int32_t)index;
    return PL_OK;
}

static pl_status end_list(pl_vtk *file, pl_vtk_lists *lists, size_t at)
{
    size_t *end = pl_array_add(&lists->ends, 1);
    if (!end)
        return no_memory(file);
    *end = at;
    return PL_OK;
}

/* Up to version 4: each list with its length before it. */
static pl_status read_counted_lists(pl_vtk *file, pl_vtk_lists *lists, int64_t count, int64_t size)
{
    enter_numbers(file);
    for (int64_t i = 0; i < count; i++) {
        int64_t length;
        PL_TRY(take_index(file, I32, &length));
        for (int64_t k = 0; k < length; k++)
            PL_TRY(add_member(file, lists, I32));
        PL_TRY(end_list(file, lists, lists->members.count));
    }
    leave_numbers(file);
    if (lists->members.count + lists->ends.count != (size_t)size)
        return fail_word(file, "the lists of points have another size than announced");
    return PL_OK;
}

static pl_status expect(pl_vtk *file, const char *keyword, number_type *type)
{
    char text[64];
    if (pl_word_is_like(pl_text_word(&file->text), keyword))
        return take_type(file, type);
    snprintf(text, sizeof text, "%s must stand here", keyword);
    return fail_word(file, text);
}

/* Version 5: one array of where lists begin and end, one with all members. */
static pl_status read_offset_lists(pl_vtk *file, pl_vtk_lists *lists, int64_t offsets, int64_t size)
{
    number_type type = I32;
    int64_t last = 0;
    PL_TRY(expect(file, "OFFSETS", &type));
    enter_numbers(file);
    for (int64_t i = 0; i < offsets; i++) {
        int64_t at;
        PL_TRY(take_index(file, type, &at));
        if (at < last || at > size || (i == 0 && at != 0))
            return fail_word(file, "offsets must begin with 0 and not descend");
        if (i > 0)
            PL_TRY(end_list(file, lists, (size_t)at));
        last = at;
    }
    leave_numbers(file);
    PL_TRY(expect(file, "CONNECTIVITY", &type));
    enter_numbers(file);
    for (int64_t i = 0; i < size; i++)
        PL_TRY(add_member(file, lists, type));
    leave_numbers(file);
    return PL_OK;
}

static pl_status read_lists(pl_vtk *file, pl_vtk_lists *lists)
{
    int64_t count, size;
    PL_TRY(take_count(file, &count));
    PL_TRY(take_count(file, &size));
    if (lists->ends.count > 0)
        return fail_word(file, "the section is there twice");
    pl_text ahead = file->text;
    pl_text_next_line(&ahead);
    bool has_offsets = pl_word_is_like(pl_text_word_in_line(&ahead), "OFFSETS");
    return has_offsets ? read_offset_lists(file, lists, count, size)
                       : read_counted_lists(file, lists, count, size);
}

static pl_status read_types(pl_vtk *file)
{
    int64_t count;
    PL_TRY(take_count(file, &count));
    enter_numbers(file);
    for (int64_t i = 0; i < count; i++) {
        int64_t value;
        PL_TRY(take_index(file, I32, &value));
        int32_t *type = pl_array_add(&file->types, 1);
        if (!type)
            return no_memory(file);
        *type = (int32_t)value;
    }
    leave_numbers(file);
    return PL_OK;
}

/* FIELD name n, then n arrays: name, components, tuples, type, values. */
static pl_status skip_field(pl_vtk *file)
{
    int64_t arrays, components, tuples;
    pl_text_word_in_line(&file->text);
    PL_TRY(take_count(file, &arrays));
    for (int64_t i = 0; i < arrays; i++) {
        number_type type;
        pl_word name = pl_text_word(&file->text);
        if (!name.length)
            return fail_word(file, "the file ends inside a field");
        PL_TRY(take_count(file, &components));
        PL_TRY(take_count(file, &tuples));
        PL_TRY(take_type(file, &type));
        enter_numbers(file);
        size_t count = (size_t)components * (size_t)tuples;
        if (count > file->source->size ||
            (file->is_binary && !pl_bytes_take(&file->bytes, count * number_size(type))))
            return fail_word(file, "the file ends inside a field");
        for (size_t k = 0; !file->is_binary && k < count; k++)
            if (!pl_text_word(&file->text).length)
                return fail_word(file, "the file ends inside a field");
        leave_numbers(file);
    }
    return PL_OK;
}

/* Goes on until an empty line. */
static void skip_metadata(pl_vtk *file)
{
    while (pl_text_next_line(&file->text))
        if (!pl_text_word_in_line(&file->text).length)
            return;
}

/* One section; *done when the geometry is over. */
static pl_status read_section(pl_vtk *file, pl_word word, bool *done)
{
    *done = pl_word_is_like(word, "POINT_DATA") || pl_word_is_like(word, "CELL_DATA");
    if (*done)
        return PL_OK;
    if (pl_word_is_like(word, "POINTS"))
        return read_points(file);
    if (pl_word_is_like(word, "CELLS"))
        return read_lists(file, &file->cells);
    if (pl_word_is_like(word, "CELL_TYPES"))
        return read_types(file);
    if (pl_word_is_like(word, "POLYGONS"))
        return read_lists(file, &file->polygons);
    if (pl_word_is_like(word, "TRIANGLE_STRIPS"))
        return read_lists(file, &file->strips);
    if (pl_word_is_like(word, "LINES"))
        return read_lists(file, &file->lines);
    if (pl_word_is_like(word, "FIELD"))
        return skip_field(file);
    if (pl_word_is_like(word, "METADATA")) {
        skip_metadata(file);
        return PL_OK;
    }
    if (pl_word_is_like(word, "VERTICES")) {
        pl_vtk_lists points = {pl_array_make(file->build->memory, sizeof(size_t)),
                               pl_array_make(file->build->memory, sizeof(int32_t))};
        pl_status status = read_lists(file, &points);
        pl_array_free(&points.ends);
        pl_array_free(&points.members);
        return status;
    }
    char text[96];
    snprintf(text, sizeof text, "'%s' is not a section of this kind of file", PL_SHOW(word));
    return fail_word(file, text);
}

static pl_status read_header(pl_vtk *file)
{
    static const char start[] = "# vtk DataFile Version";
    pl_word first = pl_text_rest(&file->text);
    if (first.length < sizeof start - 1 || memcmp(first.text, start, sizeof start - 1) != 0)
        return fail_word(file, "a VTK file must begin with '# vtk DataFile Version'");
    pl_text_next_line(&file->text);
    pl_text_next_line(&file->text);
    pl_word encoding = pl_text_word(&file->text);
    if (!pl_word_is_like(encoding, "ASCII") && !pl_word_is_like(encoding, "BINARY"))
        return fail_word(file, "ASCII or BINARY must stand here");
    pl_text_next_line(&file->text);
    if (!pl_word_is_like(pl_text_word(&file->text), "DATASET"))
        return fail_word(file, "DATASET must stand here");
    pl_word kind = pl_text_word_in_line(&file->text);
    file->is_grid = pl_word_is_like(kind, "UNSTRUCTURED_GRID");
    if (!file->is_grid && !pl_word_is_like(kind, "POLYDATA"))
        return fail_word(file, "only UNSTRUCTURED_GRID and POLYDATA are read");
    file->is_binary = pl_word_is_like(encoding, "BINARY");
    return PL_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static pl_status read_all(pl_vtk *file)
{
    bool done = false;
    PL_TRY(read_header(file));
    while (!done) {
        pl_word word = pl_text_word(&file->text);
        if (!word.length)
            break;
        PL_TRY(read_section(file, word, &done));
    }
    return pl_vtk_add_cells(file);
}

pl_status pl_read_vtk(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    pl_vtk file = {.build = build, .source = source, .error = error};
    pl_vtk_lists *lists[] = {&file.cells, &file.polygons, &file.strips, &file.lines};
    file.text = pl_text_make(source->name, source->bytes, source->size);
    file.bytes = pl_bytes_make(source->bytes, source->size, true);
    file.types = pl_array_make(build->memory, sizeof(int32_t));
    for (int i = 0; i < 4; i++) {
        lists[i]->ends = pl_array_make(build->memory, sizeof(size_t));
        lists[i]->members = pl_array_make(build->memory, sizeof(int32_t));
    }
    pl_status status = read_all(&file);
    pl_array_free(&file.types);
    for (int i = 0; i < 4; i++) {
        pl_array_free(&lists[i]->ends);
        pl_array_free(&lists[i]->members);
    }
    return status;
}
