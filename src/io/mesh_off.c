/* Geomview's OFF in text: [ST][C][N]OFF, or no keyword at all. A vertex stands on a line of its
   own: coordinates, normal (N), colour (C; 3 or 4 numbers, from 0 to 255 where any is above 1, else
   from 0 to 1; taken as sRGB), texture coordinates (ST; turned over). Colours of faces are passed
   over. */
#include <math.h>
#include <string.h>

#include "io/mesh_readers.h"
#include "io/mesh_text.h"

typedef struct off {
    pl_mesh_build *build;
    pl_text text;
    pl_error *error;
    bool normals, colours, uvs;
    int64_t vertices, faces;
    float *normal_table, *colour_table, *uv_table;
    pl_array face; /* int32_t */
} off;

static pl_status no_memory(const off *o)
{
    return pl_mesh_build_no_memory(o->build, o->text.name, o->error);
}

/* ---- The header ------------------------------------------------------------------------------ */

static bool take_prefix(pl_word *word, const char *prefix)
{
    size_t length = strlen(prefix);
    if (word->length < length || memcmp(word->text, prefix, length) != 0)
        return false;
    word->text += length;
    word->length -= length;
    return true;
}

static pl_status read_keyword(off *o)
{
    pl_text before = o->text;
    pl_word word = pl_text_word(&o->text), keyword = word;
    int64_t number;
    if (pl_word_int(word, &number)) {
        o->text = before;
        return PL_OK;
    }
    o->uvs = take_prefix(&word, "ST");
    o->colours = take_prefix(&word, "C");
    o->normals = take_prefix(&word, "N");
    bool four = take_prefix(&word, "4"), many = take_prefix(&word, "n");
    if (!pl_word_is(word, "OFF"))
        return pl_text_fail(&o->text, o->error,
                            "an OFF file begins with OFF, COFF, NOFF, CNOFF or "
                            "STOFF, not '%s'",
                            PL_SHOW(keyword));
    if (four || many)
        return pl_text_fail(&o->text, o->error,
                            "'%s' has coordinates in another dimension than 3; save it as OFF",
                            PL_SHOW(keyword));
    if (pl_word_is(pl_text_peek(&o->text), "BINARY"))
        return pl_text_fail(&o->text, o->error,
                            "binary OFF cannot be read; save it as text, or as PLY");
    return PL_OK;
}

/* Vertices, faces and, where it stands on the same line, the number of edges, which nobody
   needs. */
static pl_status read_counts(off *o)
{
    o->text.by_line = false;
    PL_TRY(pl_text_int(&o->text, "the number of vertices", 0, INT32_MAX, &o->vertices, o->error));
    PL_TRY(pl_text_int(&o->text, "the number of faces", 0, INT32_MAX, &o->faces, o->error));
    o->text.by_line = true;
    /* "0 0 0" and "0", each with the end of its line, which the last line need not have. */
    uint64_t left = (uint64_t)(o->text.end - o->text.at) + 1;
    if ((uint64_t)o->vertices * 6 + (uint64_t)o->faces * 2 > left)
        return pl_text_fail(&o->text, o->error,
                            "%lld vertices and %lld faces are promised, but only %llu bytes follow",
                            (long long)o->vertices, (long long)o->faces,
                            (unsigned long long)left - 1);
    return PL_OK;
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* To the next line that says something. */
static pl_status next_line(off *o, const char *what, int64_t number)
{
    while (pl_text_next_line(&o->text))
        if (pl_text_peek(&o->text).length)
            return PL_OK;
    return pl_text_fail(&o->text, o->error, "the file ends before %s %lld (from 0)", what,
                        (long long)number);
}

static bool make_tables(off *o)
{
    size_t count = (size_t)o->vertices;
    double *positions = pl_mesh_build_vertices(o->build, count);
    if (!positions)
        return false;
    memset(positions, 0, 3 * count * sizeof *positions);
    if (o->normals)
        o->normal_table = pl_mesh_build_attribute(o->build, PL_ATTRIBUTE_NORMAL, 0);
    if (o->colours)
        o->colour_table = pl_mesh_build_attribute(o->build, PL_ATTRIBUTE_COLOUR, 0);
    if (o->uvs)
        o->uv_table = pl_mesh_build_attribute(o->build, PL_ATTRIBUTE_UV, 0);
    return !o->normals == !o->normal_table && !o->colours == !o->colour_table &&
           !o->uvs == !o->uv_table;
}

/* How many numbers the rest of the line has, up to `most`. */
static int count_words(const off *o, int most)
{
    pl_text text = o->text;
    int count = 0;
    while (count < most && pl_text_word_in_line(&text).length)
        count++;
    return count;
}

/* Kept as written until the scale is known; an opacity of −1 is one that was not given. */
static pl_status read_colour(off *o, float colour[4])
{
    int behind = o->uvs ? 2 : 0;
    int count = count_words(o, 4 + behind) - behind;
    double value;
    colour[3] = -1;
    for (int k = 0; k < (count < 4 ? 3 : 4); k++) {
        PL_TRY(pl_text_double(&o->text, "a colour", &value, o->error));
        colour[k] = (float)(value > 0 ? value < 1e6 ? value : 1e6 : 0);
    }
    return PL_OK;
}

static pl_status read_vertex(off *o, size_t vertex)
{
    double *position = (double *)o->build->positions.data + 3 * vertex, values[3];
    PL_TRY(pl_text_doubles(&o->text, "a coordinate", 3, position, o->error));
    if (o->normals) {
        PL_TRY(pl_text_doubles(&o->text, "a normal", 3, values, o->error));
        for (size_t k = 0; k < 3; k++)
            o->normal_table[3 * vertex + k] = (float)values[k];
    }
    if (o->colours)
        PL_TRY(read_colour(o, o->colour_table + 4 * vertex));
    if (o->uvs) {
        PL_TRY(pl_text_doubles(&o->text, "a texture coordinate", 2, values, o->error));
        o->uv_table[2 * vertex] = (float)values[0];
        o->uv_table[2 * vertex + 1] = (float)(1 - values[1]);
    }
    return PL_OK;
}

static void convert_colours(off *o)
{
    size_t count = o->colours ? (size_t)o->vertices : 0;
    float largest = 0;
    for (size_t i = 0; i < 4 * count; i++)
        largest = fmaxf(largest, o->colour_table[i]);
    double scale = largest > 1 ? 255 : 1;
    for (size_t i = 0; i < count; i++) {
        float *colour = o->colour_table + 4 * i;
        for (int k = 0; k < 3; k++)
            colour[k] = pl_mesh_linear(colour[k] / scale);
        colour[3] = colour[3] < 0 ? 1 : fminf((float)(colour[3] / scale), 1);
    }
}

/* ---- Faces ----------------------------------------------------------------------------------- */

static pl_status read_face(off *o)
{
    int64_t corners, index;
    int64_t most = (o->text.end - o->text.at + 1) / 2;
    PL_TRY(pl_text_int(&o->text, "the number of corners", 0, most, &corners, o->error));
    o->face.count = 0;
    int32_t *vertices = pl_array_reserve(&o->face, (size_t)corners + 1)
                            ? pl_array_add(&o->face, (size_t)corners)
                            : NULL;
    if (!vertices)
        return no_memory(o);
    for (int64_t i = 0; i < corners; i++) {
        PL_TRY(pl_text_int(&o->text, "a vertex number", 0, o->vertices - 1, &index, o->error));
        vertices[i] = (int32_t)index;
    }
    return pl_mesh_build_polygon(o->build, vertices, (size_t)corners) ? PL_OK : no_memory(o);
}

static pl_status read_off(off *o)
{
    PL_TRY(read_keyword(o));
    PL_TRY(read_counts(o));
    if (o->vertices && !make_tables(o))
        return no_memory(o);
    for (int64_t i = 0; i < o->vertices; i++) {
        PL_TRY(next_line(o, "vertex", i));
        PL_TRY(read_vertex(o, (size_t)i));
    }
    convert_colours(o);
    for (int64_t i = 0; i < o->faces; i++) {
        PL_TRY(next_line(o, "face", i));
        PL_TRY(read_face(o));
    }
    return PL_OK;
}

pl_status pl_read_off(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    off o = {.build = build, .error = error};
    o.text = pl_text_make(source->name, source->bytes, source->size);
    o.text.comment = '#';
    o.face = pl_array_make(build->memory, sizeof(int32_t));
    pl_status status = read_off(&o);
    pl_array_free(&o.face);
    return status;
}
