/* STL in text and binary: three vertices per triangle as they are stored, the facet's normal at
   each of them (found from the triangle where the file has none). Each solid of a text file is a
   group. */
#include <math.h>
#include <string.h>

#include "io/mesh_bytes.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

enum { HEADER = 84, FACET = 50 };

/* ---- Binary ---------------------------------------------------------------------------------- */

static bool is_text_start(const pl_mesh_source *source)
{
    pl_text text = pl_text_make(source->name, source->bytes, source->size);
    return pl_word_is_like(pl_text_word(&text), "solid");
}

/* Binary files may begin with "solid" too. Then their size or a byte that is no text gives them
   away. */
static bool is_binary(const pl_mesh_source *source)
{
    if (source->size < HEADER)
        return !is_text_start(source) && !memchr(source->bytes, '\n', source->size);
    uint64_t count = pl_bytes_at_u32(source->bytes + 80, false);
    return source->size == HEADER + FACET * count || !is_text_start(source) ||
           memchr(source->bytes, 0, source->size < 512 ? source->size : 512);
}

static pl_status read_binary(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    PL_CHECK(source->size >= HEADER, PL_ERROR_FORMAT, error,
             pl_mesh_where_byte(source->name, source->size).text,
             "the file ends within its header of %d bytes", HEADER);
    uint32_t count = pl_bytes_at_u32(source->bytes + 80, false);
    size_t room = (source->size - HEADER) / FACET;
    PL_CHECK(count <= room, PL_ERROR_FORMAT, error, pl_mesh_where_byte(source->name, 80).text,
             "the header promises %u triangles, but only %zu follow", (unsigned)count, room);
    double *positions = count ? pl_mesh_build_vertices(build, 3 * (size_t)count) : NULL;
    float *normals = count ? pl_mesh_build_attribute(build, PL_ATTRIBUTE_NORMAL, 0) : NULL;
    int32_t *triangles = count ? pl_mesh_build_triangles(build, count) : NULL;
    if (count && (!positions || !normals || !triangles))
        return pl_mesh_build_no_memory(build, source->name, error);
    for (size_t t = 0; t < count; t++) {
        const uint8_t *facet = source->bytes + HEADER + t * FACET;
        for (size_t i = 0; i < 9; i++) {
            double value = pl_bytes_at_f32(facet + 12 + 4 * i, false);
            PL_CHECK(isfinite(value), PL_ERROR_FORMAT, error,
                     pl_mesh_where_byte(source->name, HEADER + t * FACET + 12 + 4 * i).text,
                     "a coordinate of triangle %zu (from 0) is not a finite number", t);
            positions[9 * t + i] = value;
            normals[9 * t + i] = pl_bytes_at_f32(facet + 4 * (i % 3), false);
        }
        for (size_t i = 0; i < 3; i++)
            triangles[3 * t + i] = (int32_t)(3 * t + i);
    }
    return PL_OK;
}

/* ---- Text ------------------------------------------------------------------------------------ */

typedef struct stl {
    pl_mesh_build *build;
    pl_text text;
    pl_error *error;
    pl_array facet; /* int32_t: the vertices of the facet being read */
    float normal[3];
} stl;

static pl_status no_memory(const stl *s)
{
    return pl_mesh_build_no_memory(s->build, s->text.name, s->error);
}

static pl_status expect(stl *s, const char *wanted)
{
    pl_word word = pl_text_word(&s->text);
    if (pl_word_is_like(word, wanted))
        return PL_OK;
    if (!word.length)
        return pl_text_fail(&s->text, s->error, "the file ends where '%s' should stand", wanted);
    return pl_text_fail(&s->text, s->error, "'%s' stands where '%s' should", PL_SHOW(word), wanted);
}

/* Some programs write "nan" for facets without area: normals are not insisted on. */
static pl_status read_normal(stl *s)
{
    PL_TRY(expect(s, "normal"));
    for (int k = 0; k < 3; k++) {
        double value = 0;
        pl_word word = pl_text_word(&s->text);
        if (pl_word_double(word, &value) == PL_NUMBER_BAD)
            return pl_text_fail(&s->text, s->error, "a normal has three numbers; '%s' is none",
                                PL_SHOW(word));
        s->normal[k] = isfinite(value) ? (float)value : 0;
    }
    return PL_OK;
}

static pl_status read_vertex(stl *s)
{
    double *position = pl_mesh_build_vertices(s->build, 1);
    if (!position)
        return no_memory(s);
    PL_TRY(pl_text_doubles(&s->text, "a coordinate", 3, position, s->error));
    size_t vertex = s->build->positions.count - 1;
    int32_t *index = pl_array_add(&s->facet, 1);
    float *normal = pl_mesh_build_attribute(s->build, PL_ATTRIBUTE_NORMAL, vertex);
    if (!index || !normal)
        return no_memory(s);
    memcpy(normal, s->normal, sizeof s->normal);
    *index = (int32_t)vertex;
    return PL_OK;
}

static pl_status read_facet(stl *s)
{
    s->facet.count = 0;
    PL_TRY(read_normal(s));
    PL_TRY(expect(s, "outer"));
    PL_TRY(expect(s, "loop"));
    pl_word word;
    while (pl_word_is_like(word = pl_text_word(&s->text), "vertex"))
        PL_TRY(read_vertex(s));
    if (!pl_word_is_like(word, "endloop"))
        return pl_text_fail(&s->text, s->error, "'%s' stands where 'vertex' or 'endloop' should",
                            PL_SHOW(word));
    PL_TRY(expect(s, "endfacet"));
    return pl_mesh_build_polygon(s->build, s->facet.data, s->facet.count) ? PL_OK : no_memory(s);
}

/* A solid's name is the rest of its first line; the line may also go on with the first facet. */
static pl_status begin_solid(stl *s)
{
    pl_text line = s->text;
    pl_word name = pl_text_rest(&line);
    if (!pl_word_is_like(pl_text_peek(&s->text), "facet"))
        s->text = line;
    else
        name.length = 0;
    return pl_mesh_build_new_group(s->build, name.text, name.length) ? PL_OK : no_memory(s);
}

static pl_status read_solids(stl *s)
{
    for (pl_word word; (word = pl_text_word(&s->text)).length;) {
        if (pl_word_is_like(word, "solid")) {
            PL_TRY(begin_solid(s));
        } else if (pl_word_is_like(word, "facet")) {
            PL_TRY(read_facet(s));
        } else if (pl_word_is_like(word, "endsolid")) {
            pl_text_rest(&s->text);
        } else {
            return pl_text_fail(&s->text, s->error,
                                "'%s' stands where 'facet', 'solid' or "
                                "'endsolid' should",
                                PL_SHOW(word));
        }
    }
    return PL_OK;
}

pl_status pl_read_stl(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    if (is_binary(source))
        return read_binary(build, source, error);
    stl s = {.build = build, .error = error};
    s.text = pl_text_make(source->name, source->bytes, source->size);
    s.facet = pl_array_make(build->memory, sizeof(int32_t));
    pl_status status = read_solids(&s);
    pl_array_free(&s.facet);
    return status;
}
