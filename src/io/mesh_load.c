/* Reading a mesh whatever its format: content tells it where formats have a mark, the name tells
   the rest. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/mesh_bytes.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"
#include "pliant/files.h"

typedef pl_status reader(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error);

/* ---- Which format ---------------------------------------------------------------------------- */

static const struct {
    const char *extension;
    reader *read;
} by_name[] = {{".obj", pl_read_obj},     {".ply", pl_read_ply},  {".stl", pl_read_stl},
               {".off", pl_read_off},     {".coff", pl_read_off}, {".noff", pl_read_off},
               {".gltf", pl_read_gltf},   {".glb", pl_read_gltf}, {".node", pl_read_tetgen},
               {".ele", pl_read_tetgen},  {".msh", pl_read_gmsh}, {".mesh", pl_read_medit},
               {".meshb", pl_read_medit}, {".vtk", pl_read_vtk}};

static const char formats[] =
    "OBJ, PLY, STL, OFF, glTF/GLB, TetGen .node/.ele, Gmsh .msh, Medit .mesh and legacy VTK";

bool pl_mesh_has_extension(const char *name, const char *extension)
{
    size_t length = strlen(name), tail = strlen(extension);
    pl_word end = {name + length - tail, tail};
    return length >= tail && pl_word_is_like(end, extension);
}

static bool starts_with(const pl_mesh_source *source, const char *text)
{
    size_t length = strlen(text);
    return source->size >= length && memcmp(source->bytes, text, length) == 0;
}

/* "OFF" with any of Geomview's prefixes: [ST][C][N][4][n]OFF. */
static bool is_off_keyword(pl_word word)
{
    static const char *const prefixes[] = {"ST", "C", "N", "4", "n"};
    for (int i = 0; i < 5; i++) {
        size_t length = strlen(prefixes[i]);
        if (word.length > length && memcmp(word.text, prefixes[i], length) == 0) {
            word.text += length;
            word.length -= length;
        }
    }
    return pl_word_is(word, "OFF");
}

static bool is_binary_stl(const pl_mesh_source *source)
{
    return source->size >= 84 &&
           source->size == 84 + (uint64_t)50 * pl_bytes_at_u32(source->bytes + 80, false);
}

static bool contains(const pl_mesh_source *source, const char *text)
{
    size_t length = strlen(text);
    const uint8_t *at = source->bytes, *end = source->bytes + source->size;
    while (at && (size_t)(end - at) >= length) {
        if (memcmp(at, text, length) == 0)
            return true;
        at = memchr(at + 1, text[0], (size_t)(end - at) - 1);
    }
    return false;
}

/* OBJ has no mark: a line "v number" among the first ones has to do. */
static bool looks_like_obj(const pl_mesh_source *source)
{
    pl_text text = pl_text_make(source->name, source->bytes, source->size);
    text.comment = '#';
    double value;
    do {
        if (pl_word_is(pl_text_word_in_line(&text), "v"))
            return pl_word_double(pl_text_word_in_line(&text), &value) == PL_NUMBER_GOOD;
    } while (text.line < 200 && pl_text_next_line(&text));
    return false;
}

static reader *reader_by_content(const pl_mesh_source *source)
{
    if (starts_with(source, "glTF"))
        return pl_read_gltf;
    if (starts_with(source, "ply\n") || starts_with(source, "ply\r"))
        return pl_read_ply;
    if (starts_with(source, "# vtk DataFile"))
        return pl_read_vtk;
    if (is_binary_stl(source))
        return pl_read_stl;
    pl_text text = pl_text_make(source->name, source->bytes, source->size);
    text.comment = '#';
    pl_word word = pl_text_word(&text);
    if (is_off_keyword(word))
        return pl_read_off;
    if (pl_word_is(word, "$MeshFormat") || pl_word_is(word, "$Comments"))
        return pl_read_gmsh;
    if (word.length >= 20 && memcmp(word.text, "MeshVersionFormatted", 20) == 0)
        return pl_read_medit;
    if (pl_word_is_like(word, "solid"))
        return pl_read_stl;
    if (word.length && word.text[0] == '{' && contains(source, "\"asset\""))
        return pl_read_gltf;
    return NULL;
}

static pl_status find_reader(const pl_mesh_source *source, reader **read, pl_error *error)
{
    PL_CHECK(source->size > 0, PL_ERROR_FORMAT, error, pl_mesh_where_file(source->name).text,
             "the file is empty");
    *read = reader_by_content(source);
    for (size_t i = 0; !*read && i < sizeof by_name / sizeof *by_name; i++)
        if (pl_mesh_has_extension(source->name, by_name[i].extension))
            *read = by_name[i].read;
    if (!*read && looks_like_obj(source))
        *read = pl_read_obj;
    PL_CHECK(*read, PL_ERROR_FORMAT, error, pl_mesh_where_file(source->name).text,
             "neither its content nor its name tells which kind of mesh this is; what can be read: "
             "%s",
             formats);
    return PL_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static pl_status read_source(const pl_mesh_source *source, const pl_allocator *allocator,
                             pl_mesh *mesh, pl_error *error)
{
    reader *read;
    pl_mesh_build build;
    PL_TRY(find_reader(source, &read, error));
    PL_TRY(pl_mesh_build_init(&build, allocator, source->size, error));
    pl_status status = read(&build, source, error);
    if (status == PL_OK)
        status = pl_mesh_build_finish(&build, source->name, mesh, error);
    pl_mesh_build_free(&build);
    return status;
}

pl_status pl_mesh_parse(const void *bytes, size_t size, const char *name,
                        const pl_allocator *allocator, pl_mesh *mesh, pl_error *error)
{
    PL_REQUIRE(mesh, PL_ERROR_ARGUMENT, error, "mesh", "must not be NULL");
    *mesh = (pl_mesh){0};
    PL_REQUIRE(bytes || !size, PL_ERROR_ARGUMENT, error, "bytes", "must not be NULL");
    pl_mesh_source source = {bytes, size, name ? name : "mesh", false};
    return read_source(&source, allocator, mesh, error);
}

static pl_status read_bytes(pl_memory *memory, const char *path, pl_mesh_source *source,
                            pl_error *error)
{
    char *bytes;
    size_t size;
    pl_trouble trouble = {0};
    pl_status status = pl_file_read(memory, path, SIZE_MAX / 4, &bytes, &size, &trouble);
    if (status != PL_OK)
        return pl_fail(error, status, pl_mesh_where_file(path).text, "%.250s", trouble.text);
    source->bytes = (const uint8_t *)bytes;
    source->size = size;
    return PL_OK;
}

pl_status pl_mesh_load(const char *path, const pl_allocator *allocator, pl_mesh *mesh,
                       pl_error *error)
{
    PL_REQUIRE(mesh, PL_ERROR_ARGUMENT, error, "mesh", "must not be NULL");
    *mesh = (pl_mesh){0};
    PL_REQUIRE(path, PL_ERROR_ARGUMENT, error, "path", "must not be NULL");
    pl_memory memory;
    pl_memory_init(&memory, allocator, 0);
    pl_mesh_source source = {.name = path, .may_open = true};
    PL_TRY(read_bytes(&memory, path, &source, error));
    pl_status status = read_source(&source, allocator, mesh, error);
    pl_memory_free(&memory, (void *)(uintptr_t)source.bytes);
    return status;
}

/* ---- Files beside ---------------------------------------------------------------------------- */

/* The file's own directory and the name. False when it does not fit, or is no name that may be
   followed. */
static bool name_beside(const char *own, const char *name, size_t length, char path[PATH_MAX])
{
    const char *slash = strrchr(own, '/');
    size_t directory = slash ? (size_t)(slash + 1 - own) : 0;
    if (length == 0 || name[0] == '/' || memchr(name, 0, length) || directory >= PATH_MAX ||
        length >= PATH_MAX - directory)
        return false;
    memcpy(path, own, directory);
    memcpy(path + directory, name, length);
    path[directory + length] = 0;
    return true;
}

pl_status pl_mesh_beside(pl_mesh_build *build, const pl_mesh_source *source, const char *name,
                         size_t length, pl_mesh_source *other, pl_error *error)
{
    char path[PATH_MAX];
    pl_word word = {name, length};
    struct stat info;
    *other = (pl_mesh_source){0};
    const char *where = source->name;
    PL_CHECK(source->may_open, PL_ERROR_IO, error, pl_mesh_where_file(where).text,
             "names the file '%s', which is not looked for when a mesh is read from memory",
             PL_SHOW(word));
    PL_CHECK(name_beside(where, name, length, path), PL_ERROR_IO, error,
             pl_mesh_where_file(where).text,
             "names the file '%s'; only names relative to this file's directory are followed",
             PL_SHOW(word));
    PL_CHECK(stat(path, &info) == 0 && S_ISREG(info.st_mode), PL_ERROR_IO, error,
             pl_mesh_where_file(where).text, "needs the file '%s', which is not there",
             PL_SHOW(word));
    if (info.st_size > 0)
        pl_mesh_build_allow(build, (size_t)info.st_size);
    char *copy = PL_NEW(build->memory, char, strlen(path) + 1);
    if (!copy)
        return pl_mesh_build_no_memory(build, source->name, error);
    strcpy(copy, path);
    pl_status status = read_bytes(build->memory, path, other, error);
    if (status != PL_OK) {
        pl_memory_free(build->memory, copy);
        return status;
    }
    other->name = copy;
    other->may_open = true;
    return PL_OK;
}

void pl_mesh_beside_close(pl_mesh_build *build, pl_mesh_source *other)
{
    pl_memory_free(build->memory, (void *)(uintptr_t)other->bytes);
    pl_memory_free(build->memory, (void *)(uintptr_t)other->name);
    *other = (pl_mesh_source){0};
}
