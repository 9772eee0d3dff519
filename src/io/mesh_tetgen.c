/* TetGen's pair of files: .node with the points and .ele with the tetrahedra, the one found beside
   the other. Points are numbered from 0 or 1, as the first line tells; attributes and markers are
   passed over, and of tetrahedra with ten nodes the corners are taken. */
#include <string.h>

#include "io/mesh_readers.h"
#include "io/mesh_text.h"

static pl_text open_text(const pl_mesh_source *source)
{
    pl_text text = pl_text_make(source->name, source->bytes, source->size);
    text.comment = '#';
    text.by_line = true;
    return text;
}

/* Goes to the next line with something on it; false at the end of the file. */
static bool find_line(pl_text *text)
{
    while (pl_text_peek(text).length == 0)
        if (!pl_text_next_line(text))
            return false;
    return true;
}

static pl_status next_row(pl_text *text, const char *what, int64_t row, int64_t count,
                          pl_error *error)
{
    pl_text_next_line(text);
    if (find_line(text))
        return PL_OK;
    return pl_text_fail(text, error, "the file ends after %lld of %lld %s", (long long)row,
                        (long long)count, what);
}

static pl_status read_points(pl_mesh_build *build, const pl_mesh_source *source, int64_t *base,
                             pl_error *error)
{
    pl_text text = open_text(source);
    int64_t count, dimension, number;
    find_line(&text);
    PL_TRY(pl_text_int(&text, "the number of points", 1, INT32_MAX, &count, error));
    PL_TRY(pl_text_int(&text, "the dimension", 3, 3, &dimension, error));
    for (int64_t i = 0; i < count; i++) {
        PL_TRY(next_row(&text, "points", i, count, error));
        int64_t low = i == 0 ? 0 : *base + i, high = i == 0 ? 1 : low;
        PL_TRY(pl_text_int(&text, "the number of the point", low, high, &number, error));
        if (i == 0)
            *base = number;
        double *position = pl_mesh_build_vertices(build, 1);
        if (!position)
            return pl_mesh_build_no_memory(build, source->name, error);
        PL_TRY(pl_text_doubles(&text, "a coordinate", 3, position, error));
    }
    return PL_OK;
}

static pl_status read_tets(pl_mesh_build *build, const pl_mesh_source *source, int64_t base,
                           pl_error *error)
{
    pl_text text = open_text(source);
    int64_t count, nodes, number, last = base + (int64_t)pl_mesh_build_vertex_count(build) - 1;
    find_line(&text);
    PL_TRY(pl_text_int(&text, "the number of tetrahedra", 0, INT32_MAX, &count, error));
    PL_TRY(pl_text_int(&text, "the nodes of a tetrahedron", 4, 10, &nodes, error));
    if (nodes != 4 && nodes != 10)
        return pl_text_fail(&text, error, "tetrahedra have 4 or 10 nodes, not %lld",
                            (long long)nodes);
    for (int64_t i = 0; i < count; i++) {
        int32_t corners[4];
        PL_TRY(next_row(&text, "tetrahedra", i, count, error));
        PL_TRY(pl_text_int(&text, "the number of the tetrahedron", 0, INT64_MAX, &number, error));
        for (int k = 0; k < 4; k++) {
            PL_TRY(pl_text_int(&text, "a corner", base, last, &number, error));
            corners[k] = (int32_t)(number - base);
        }
        if (!pl_mesh_build_tet(build, corners))
            return pl_mesh_build_no_memory(build, source->name, error);
    }
    return PL_OK;
}

/* The file's own name, without its folder, with another extension; freed by the caller. */
static char *other_name(pl_mesh_build *build, const char *path, const char *extension)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t stem = dot ? (size_t)(dot - name) : strlen(name);
    bool capitals = dot && dot[1] >= 'A' && dot[1] <= 'Z';
    char *other = PL_NEW(build->memory, char, stem + strlen(extension) + 1);
    if (!other)
        return NULL;
    memcpy(other, name, stem);
    for (size_t i = 0; extension[i]; i++)
        other[stem + i] =
            capitals && extension[i] != '.' ? (char)(extension[i] - 'a' + 'A') : extension[i];
    return other;
}

static pl_status open_other(pl_mesh_build *build, const pl_mesh_source *source,
                            const char *extension, pl_mesh_source *other, pl_error *error)
{
    char *name = other_name(build, source->name, extension);
    if (!name)
        return pl_mesh_build_no_memory(build, source->name, error);
    pl_status status = pl_mesh_beside(build, source, name, strlen(name), other, error);
    pl_memory_free(build->memory, name);
    return status;
}

/* Given the tetrahedra: their points must be beside them. */
static pl_status read_from_tets(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    pl_mesh_source points;
    int64_t base = 0;
    if (!source->may_open)
        return pl_fail(error, PL_ERROR_FORMAT, pl_mesh_where_file(source->name).text,
                       "a TetGen .ele file has no points of its own, and its .node file was not "
                       "given");
    PL_TRY(open_other(build, source, ".node", &points, error));
    pl_status status = read_points(build, &points, &base, error);
    pl_mesh_beside_close(build, &points);
    return status == PL_OK ? read_tets(build, source, base, error) : status;
}

/* Given the points: without tetrahedra beside them they are a cloud. */
static pl_status read_from_points(pl_mesh_build *build, const pl_mesh_source *source,
                                  pl_error *error)
{
    pl_mesh_source tets;
    int64_t base = 0;
    PL_TRY(read_points(build, source, &base, error));
    if (!source->may_open)
        return PL_OK;
    pl_status status = open_other(build, source, ".ele", &tets, error);
    if (status == PL_ERROR_IO)
        return PL_OK;
    PL_TRY(status);
    status = read_tets(build, &tets, base, error);
    pl_mesh_beside_close(build, &tets);
    return status;
}

pl_status pl_read_tetgen(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    return pl_mesh_has_extension(source->name, ".ele") ? read_from_tets(build, source, error)
                                                       : read_from_points(build, source, error);
}
