/* Gmsh's .msh, versions 2.2 and 4.1, as text and binary: nodes and elements; all other sections are
   skipped. Elements of higher order give their corners. Both versions and both encodings are read
   by the same functions, which ask for the next number and do not know how it is written. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "io/mesh_bytes.h"
#include "io/mesh_cells.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

typedef struct gmsh {
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_error *error;
    pl_text text;           /* where we are, between sections and in text files */
    pl_bytes bytes;         /* where we are inside a section of a binary file */
    bool is_binary, is_new; /* new: version 4.1 */
    int size_width;         /* bytes of a count in version 4.1 */
    pl_array tags;          /* int64_t: the number the file gives to each vertex */
    pl_sort_item *sorted;   /* vertices by tag */
    size_t sorted_count;
} gmsh;

/* Nodes of an element type, and what its corners make; 0 nodes = not known. */
typedef struct element_type {
    int nodes;
    pl_cell_kind kind;
} element_type;

static element_type find_type(int64_t type)
{
    static const element_type types[] = {
        {0, PL_CELL_NONE},      {2, PL_CELL_LINE},      {3, PL_CELL_TRIANGLE},
        {4, PL_CELL_QUAD},      {4, PL_CELL_TET},       {8, PL_CELL_HEX},
        {6, PL_CELL_PRISM},     {5, PL_CELL_PYRAMID},   {3, PL_CELL_LINE},
        {6, PL_CELL_TRIANGLE},  {9, PL_CELL_QUAD},      {10, PL_CELL_TET},
        {27, PL_CELL_HEX},      {18, PL_CELL_PRISM},    {14, PL_CELL_PYRAMID},
        {1, PL_CELL_NONE},      {8, PL_CELL_QUAD},      {20, PL_CELL_HEX},
        {15, PL_CELL_PRISM},    {13, PL_CELL_PYRAMID},  {9, PL_CELL_TRIANGLE},
        {10, PL_CELL_TRIANGLE}, {12, PL_CELL_TRIANGLE}, {15, PL_CELL_TRIANGLE},
        {15, PL_CELL_TRIANGLE}, {21, PL_CELL_TRIANGLE}, {4, PL_CELL_LINE},
        {5, PL_CELL_LINE},      {6, PL_CELL_LINE},      {20, PL_CELL_TET},
        {35, PL_CELL_TET},      {56, PL_CELL_TET},
    };
    static const struct {
        int number;
        element_type type;
    } others[] = {
        {36, {16, PL_CELL_QUAD}},  {37, {25, PL_CELL_QUAD}},     {38, {36, PL_CELL_QUAD}},
        {90, {40, PL_CELL_PRISM}}, {91, {75, PL_CELL_PRISM}},    {92, {64, PL_CELL_HEX}},
        {93, {125, PL_CELL_HEX}},  {118, {30, PL_CELL_PYRAMID}}, {119, {55, PL_CELL_PYRAMID}},
    };
    if (type >= 0 && type < (int64_t)(sizeof types / sizeof *types))
        return types[type];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].number == type)
            return others[i].type;
    return types[0];
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static pl_status fail_here(const gmsh *file, const char *text)
{
    if (!file->is_binary)
        return pl_text_fail(&file->text, file->error, "%s", text);
    return pl_fail(file->error, PL_ERROR_FORMAT,
                   pl_mesh_where_byte(file->source->name, file->bytes.at).text, "%s", text);
}

static pl_status take_whole(gmsh *file, const char *what, int width, int64_t low, int64_t high,
                            int64_t *value)
{
    if (!file->is_binary)
        return pl_text_int(&file->text, what, low, high, value, file->error);
    *value = width == 8 ? (int64_t)pl_bytes_u64(&file->bytes)
                        : (int64_t)(int32_t)pl_bytes_u32(&file->bytes);
    if (file->bytes.short_of)
        return fail_here(file, "the file ends inside a section");
    if (*value < low || *value > high) {
        char text[128];
        snprintf(text, sizeof text, "%s must be a whole number from %lld to %lld, not %lld", what,
                 (long long)low, (long long)high, (long long)*value);
        return fail_here(file, text);
    }
    return PL_OK;
}

static pl_status take_int(gmsh *file, const char *what, int64_t low, int64_t high, int64_t *value)
{
    return take_whole(file, what, 4, low, high, value);
}

static pl_status take_count(gmsh *file, const char *what, int64_t *value)
{
    return take_whole(file, what, file->size_width, 0, INT64_MAX, value);
}

/* Numbers of nodes: counts in version 4.1, plain integers before. */
static pl_status take_tag(gmsh *file, const char *what, int64_t *value)
{
    return take_whole(file, what, file->is_new ? file->size_width : 4, INT64_MIN, INT64_MAX, value);
}

static pl_status take_doubles(gmsh *file, int count, double *values)
{
    if (!file->is_binary)
        return pl_text_doubles(&file->text, "a coordinate", count, values, file->error);
    for (int i = 0; i < count; i++) {
        values[i] = pl_bytes_f64(&file->bytes);
        if (file->bytes.short_of)
            return fail_here(file, "the file ends inside a section");
        if (!isfinite(values[i]))
            return fail_here(file, "a coordinate must be a finite number");
    }
    return PL_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static pl_status add_tag(gmsh *file, int64_t tag)
{
    int64_t *place = pl_array_add(&file->tags, 1);
    if (!place)
        return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
    *place = tag;
    return PL_OK;
}

static pl_status add_node(gmsh *file, int parameters)
{
    double ignored[3], *position = pl_mesh_build_vertices(file->build, 1);
    if (!position)
        return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
    PL_TRY(take_doubles(file, 3, position));
    return take_doubles(file, parameters, ignored);
}

static pl_status read_old_nodes(gmsh *file, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        PL_TRY(take_tag(file, "the number of a node", &tag));
        PL_TRY(add_tag(file, tag));
        PL_TRY(add_node(file, 0));
    }
    return PL_OK;
}

/* Blocks: all numbers first, then all coordinates, with parameters on curves and surfaces. */
static pl_status read_new_nodes(gmsh *file)
{
    int64_t blocks, total, unused, dimension, has_parameters, count, tag;
    PL_TRY(take_count(file, "the number of blocks", &blocks));
    PL_TRY(take_count(file, "the number of nodes", &total));
    PL_TRY(take_count(file, "the smallest number", &unused));
    PL_TRY(take_count(file, "the largest number", &unused));
    for (int64_t b = 0; b < blocks; b++) {
        PL_TRY(take_int(file, "the dimension", 0, 3, &dimension));
        PL_TRY(take_int(file, "the entity", INT32_MIN, INT32_MAX, &unused));
        PL_TRY(take_int(file, "whether there are parameters", 0, 1, &has_parameters));
        PL_TRY(take_count(file, "the number of nodes in the block", &count));
        for (int64_t i = 0; i < count; i++) {
            PL_TRY(take_tag(file, "the number of a node", &tag));
            PL_TRY(add_tag(file, tag));
        }
        for (int64_t i = 0; i < count; i++)
            PL_TRY(add_node(file, has_parameters ? (int)dimension : 0));
    }
    return PL_OK;
}

static pl_status sort_tags(gmsh *file)
{
    pl_memory *memory = file->build->memory;
    size_t count = file->tags.count;
    if (file->sorted_count == count)
        return PL_OK;
    pl_memory_free(memory, file->sorted);
    file->sorted_count = 0;
    file->sorted = PL_NEW(memory, pl_sort_item, count);
    pl_sort_item *scratch = PL_NEW(memory, pl_sort_item, count);
    for (size_t i = 0; file->sorted && i < count; i++)
        file->sorted[i] =
            (pl_sort_item){(uint64_t)((const int64_t *)file->tags.data)[i], (uint32_t)i};
    bool made = file->sorted && scratch;
    if (made)
        pl_sort(file->sorted, scratch, count);
    pl_memory_free(memory, scratch);
    if (!made)
        return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
    file->sorted_count = count;
    for (size_t i = 1; i < count; i++)
        if (file->sorted[i].key == file->sorted[i - 1].key)
            return fail_here(file, "two nodes have the same number");
    return PL_OK;
}

/* The vertex of this number, -1 = none. Nearly always numbers run from 1 without a gap. */
static int32_t find_node(const gmsh *file, int64_t tag)
{
    uint64_t key = (uint64_t)tag, least = file->sorted_count ? file->sorted[0].key : 0;
    if (key >= least && key - least < file->sorted_count && file->sorted[key - least].key == key)
        return (int32_t)file->sorted[key - least].index;
    size_t low = 0, high = file->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->sorted[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < file->sorted_count && file->sorted[low].key == key
               ? (int32_t)file->sorted[low].index
               : -1;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The nodes of one element, of which the first are its corners. */
static pl_status read_cell(gmsh *file, element_type type)
{
    int32_t vertices[PL_CELL_MOST_CORNERS] = {0};
    int corners = pl_cell_corners(type.kind);
    for (int i = 0; i < type.nodes; i++) {
        int64_t tag;
        PL_TRY(take_tag(file, "a node of an element", &tag));
        if (i >= corners)
            continue;
        vertices[i] = find_node(file, tag);
        if (vertices[i] < 0) {
            char text[80];
            snprintf(text, sizeof text, "the element's node %lld does not exist", (long long)tag);
            return fail_here(file, text);
        }
    }
    if (!pl_cell_add(file->build, type.kind, vertices))
        return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
    return PL_OK;
}

static pl_status check_type(const gmsh *file, int64_t number, element_type *type)
{
    char text[80];
    *type = find_type(number);
    if (type->nodes > 0)
        return PL_OK;
    snprintf(text, sizeof text, "elements of type %lld are not known", (long long)number);
    return fail_here(file, text);
}

/* Text of version 2.2: a line for each element with its type, tags and nodes. */
static pl_status read_old_lines(gmsh *file, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t unused, number, tags;
        element_type type;
        PL_TRY(take_int(file, "the number of an element", 0, INT64_MAX, &unused));
        PL_TRY(take_int(file, "the type of an element", 0, INT32_MAX, &number));
        PL_TRY(take_int(file, "the number of tags", 0, 1000, &tags));
        PL_TRY(check_type(file, number, &type));
        for (int64_t k = 0; k < tags; k++)
            PL_TRY(take_int(file, "a tag", INT64_MIN, INT64_MAX, &unused));
        PL_TRY(read_cell(file, type));
    }
    return PL_OK;
}

/* Binary of version 2.2: runs of elements with the same type and number of tags. */
static pl_status read_old_runs(gmsh *file, int64_t count)
{
    while (count > 0) {
        int64_t number, run, tags, unused;
        element_type type;
        PL_TRY(take_int(file, "the type of elements", 0, INT32_MAX, &number));
        PL_TRY(take_int(file, "the number of elements of a type", 1, count, &run));
        PL_TRY(take_int(file, "the number of tags", 0, 1000, &tags));
        PL_TRY(check_type(file, number, &type));
        for (int64_t i = 0; i < run; i++) {
            for (int64_t k = 0; k < tags + 1; k++)
                PL_TRY(take_int(file, "a tag", INT32_MIN, INT32_MAX, &unused));
            PL_TRY(read_cell(file, type));
        }
        count -= run;
    }
    return PL_OK;
}

static pl_status read_new_elements(gmsh *file)
{
    int64_t blocks, unused, number, count;
    element_type type;
    PL_TRY(take_count(file, "the number of blocks", &blocks));
    for (int i = 0; i < 3; i++)
        PL_TRY(take_count(file, "the number of elements", &unused));
    for (int64_t b = 0; b < blocks; b++) {
        PL_TRY(take_int(file, "the dimension", 0, 3, &unused));
        PL_TRY(take_int(file, "the entity", INT32_MIN, INT32_MAX, &unused));
        PL_TRY(take_int(file, "the type of elements", 0, INT32_MAX, &number));
        PL_TRY(take_count(file, "the number of elements in the block", &count));
        PL_TRY(check_type(file, number, &type));
        for (int64_t i = 0; i < count; i++) {
            PL_TRY(take_tag(file, "the number of an element", &unused));
            PL_TRY(read_cell(file, type));
        }
    }
    return PL_OK;
}

/* ---- Sections -------------------------------------------------------------------------------- */

static void leave_text(gmsh *file)
{
    file->bytes.at = (size_t)((const uint8_t *)file->text.at - file->source->bytes);
}

/* What follows starts with the next line. */
static void enter_binary(gmsh *file)
{
    if (!file->is_binary)
        return;
    pl_text_next_line(&file->text);
    leave_text(file);
}

static void leave_binary(gmsh *file)
{
    if (file->is_binary)
        file->text.at = (const char *)file->source->bytes + file->bytes.at;
}

static pl_status read_nodes(gmsh *file)
{
    int64_t count = 0;
    if (!file->is_new)
        PL_TRY(pl_text_int(&file->text, "the number of nodes", 0, INT32_MAX, &count, file->error));
    enter_binary(file);
    PL_TRY(file->is_new ? read_new_nodes(file) : read_old_nodes(file, count));
    leave_binary(file);
    return PL_OK;
}

static pl_status read_elements(gmsh *file)
{
    int64_t count = 0;
    PL_TRY(sort_tags(file));
    if (!file->is_new)
        PL_TRY(
            pl_text_int(&file->text, "the number of elements", 0, INT32_MAX, &count, file->error));
    enter_binary(file);
    PL_TRY(file->is_new      ? read_new_elements(file)
           : file->is_binary ? read_old_runs(file, count)
                             : read_old_lines(file, count));
    leave_binary(file);
    return PL_OK;
}

/* Behind the section's "$End…"; in a binary file that is looked for byte by byte. */
static pl_status skip_section(gmsh *file, pl_word name)
{
    char end[64];
    size_t length = name.length + 3;
    if (length >= sizeof end)
        return fail_here(file, "a section's name is too long");
    memcpy(end, "$End", 4);
    memcpy(end + 4, name.text + 1, name.length - 1);
    for (const char *at = file->text.at; at && (size_t)(file->text.end - at) >= length;) {
        at = memchr(at, '$', (size_t)(file->text.end - at) - length + 1);
        if (at && memcmp(at, end, length) == 0) {
            while (file->text.at < at && pl_text_next_line(&file->text))
                ;
            file->text.at = at + length;
            return PL_OK;
        }
        at = at ? at + 1 : NULL;
    }
    char text[96];
    snprintf(text, sizeof text, "the section %s has no end", PL_SHOW(name));
    leave_text(file);
    return fail_here(file, text);
}

static pl_status read_format(gmsh *file)
{
    double version;
    int64_t encoding, width;
    pl_word word = pl_text_word(&file->text);
    while (pl_word_is(word, "$Comments")) {
        PL_TRY(skip_section(file, word));
        word = pl_text_word(&file->text);
    }
    if (pl_word_is(word, "$NOD"))
        return fail_here(file, "this is version 1 of the format: save it as version 2.2 or 4.1");
    if (!pl_word_is(word, "$MeshFormat"))
        return fail_here(file, "a Gmsh file must begin with $MeshFormat");
    PL_TRY(pl_text_double(&file->text, "the version", &version, file->error));
    PL_TRY(pl_text_int(&file->text, "the encoding", 0, 1, &encoding, file->error));
    PL_TRY(pl_text_int(&file->text, "the size of a number", 4, 8, &width, file->error));
    if (!(version >= 2 && version < 3) && version != 4.1)
        return fail_here(file, "only versions 2.2 and 4.1 are read: save it as one of these");
    file->is_new = version > 4;
    file->size_width = (int)width;
    if ((width != 4 && width != 8) || (encoding == 1 && !file->is_new && width != 8))
        return fail_here(file, "numbers must have 8 bytes");
    file->is_binary = encoding == 1;
    if (!file->is_binary)
        return skip_section(file, word);
    enter_binary(file);
    uint32_t one = pl_bytes_u32(&file->bytes);
    if (one != 1 && one != 0x01000000u)
        return fail_here(file, "the 1 that shows the byte order is missing");
    file->bytes.big_endian = one != 1;
    leave_binary(file);
    return skip_section(file, word);
}

static pl_status read_sections(gmsh *file)
{
    PL_TRY(read_format(file));
    for (;;) {
        pl_word word = pl_text_word(&file->text);
        if (!word.length)
            return PL_OK;
        if (word.text[0] != '$' || word.length < 2) {
            leave_text(file);
            return fail_here(file, "a section, $Name, must begin here");
        }
        if (pl_word_is(word, "$Nodes"))
            PL_TRY(read_nodes(file));
        else if (pl_word_is(word, "$Elements"))
            PL_TRY(read_elements(file));
        PL_TRY(skip_section(file, word));
    }
}

pl_status pl_read_gmsh(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    gmsh file = {.build = build, .source = source, .error = error};
    file.text = pl_text_make(source->name, source->bytes, source->size);
    file.bytes = pl_bytes_make(source->bytes, source->size, false);
    file.tags = pl_array_make(build->memory, sizeof(int64_t));
    pl_status status = read_sections(&file);
    pl_array_free(&file.tags);
    pl_memory_free(build->memory, file.sorted);
    pl_cells_finish(build);
    return status;
}
