/* Buffers of a glTF document: the binary chunk of a .glb, base64 inside the JSON, or a file beside
   the document; and the views that cut pieces out of them. Every view is checked against its
   buffer here, so that what reads through a view need only look at the view. */
#include "io/mesh_gltf.h"

#include <string.h>

enum { MOST_FILES = 256 };

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    if (c == '/' || c == '_')
        return 63;
    return -1;
}

/* Returns the number of bytes, or SIZE_MAX if this is not base64. */
static size_t decode_base64(const char *text, size_t length, uint8_t *out)
{
    uint32_t bits = 0;
    size_t count = 0, used = 0;
    while (length > 0 && text[length - 1] == '=')
        length--;
    for (size_t i = 0; i < length; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            return SIZE_MAX;
        bits = (bits << 6 | (uint32_t)value) & 0xFFFFFF;
        used += 6;
        if (used >= 8) {
            used -= 8;
            out[count++] = (uint8_t)(bits >> used);
        }
    }
    return used == 6 ? SIZE_MAX : count;
}

bool pl_gltf_is_data_uri(const char *uri)
{
    return strncmp(uri, "data:", 5) == 0;
}

pl_status pl_gltf_decode_uri(const pl_gltf *gltf, uint32_t json, const char *uri, size_t length,
                             pl_gltf_bytes *bytes)
{
    const char *comma = memchr(uri, ',', length);
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return pl_gltf_fail(gltf, json, "a data: URI must say ;base64, before its data");
    size_t left = length - (size_t)(comma + 1 - uri);
    uint8_t *data = PL_NEW(gltf->memory, uint8_t, left / 4 * 3 + 3);
    if (!data)
        return pl_gltf_no_memory(gltf);
    size_t size = decode_base64(comma + 1, left, data);
    if (size == SIZE_MAX) {
        pl_memory_free(gltf->memory, data);
        return pl_gltf_fail(gltf, json, "the data after \";base64,\" is not base64");
    }
    *bytes = (pl_gltf_bytes){data, size, data, NULL};
    return PL_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool pl_gltf_decode_percent(const char *uri, char *out)
{
    for (; *uri; uri++) {
        char c = *uri;
        if (c == '%') {
            int high = hex_value(uri[1]), low = high < 0 ? -1 : hex_value(uri[2]);
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            uri += 2;
        }
        if (c == 0)
            return false;
        *out++ = c;
    }
    *out = 0;
    return true;
}

/* Only plain names, in the document's folder or below: nothing absolute, no way up, no scheme. */
static bool is_beside(const char *path)
{
    if (strchr(path, ':') || strchr(path, '\\'))
        return false;
    for (;;) {
        size_t length = strcspn(path, "/");
        bool dots =
            (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.');
        if (length == 0 || dots)
            return false;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

/* Files read so far; a file that several buffers name is read once. */
typedef struct read_files {
    char *names[MOST_FILES];
    int buffers[MOST_FILES];
    int count;
} read_files;

/* The plain name a URI stands for; freed by the caller. */
static pl_status name_of(const pl_gltf *gltf, uint32_t json, const char *uri, char **name)
{
    if (strncmp(uri, "./", 2) == 0)
        uri += 2;
    *name = PL_NEW(gltf->memory, char, strlen(uri) + 1);
    if (!*name)
        return pl_gltf_no_memory(gltf);
    if (pl_gltf_decode_percent(uri, *name) && is_beside(*name))
        return PL_OK;
    pl_memory_free(gltf->memory, *name);
    *name = NULL;
    return pl_gltf_fail(gltf, json, "must name a file in the document's folder or below");
}

static pl_status read_file(pl_gltf *gltf, const char *name, pl_gltf_bytes *bytes)
{
    pl_mesh_source *file = PL_NEW(gltf->memory, pl_mesh_source, 1);
    if (!file)
        return pl_gltf_no_memory(gltf);
    pl_status status =
        pl_mesh_beside(gltf->build, gltf->source, name, strlen(name), file, gltf->error);
    if (status != PL_OK) {
        pl_memory_free(gltf->memory, file);
        return status;
    }
    *bytes = (pl_gltf_bytes){file->bytes, file->size, NULL, file};
    gltf->read_bytes += file->size;
    return PL_OK;
}

static pl_status take_file(pl_gltf *gltf, read_files *files, int buffer, uint32_t json,
                           const char *uri)
{
    if (!gltf->source->may_open)
        return pl_gltf_fail(
            gltf, json, "the buffer is in another file, %.80s, and only this one was given", uri);
    if (files->count == MOST_FILES)
        return pl_gltf_fail(gltf, json, "more than %d files of buffers", MOST_FILES);
    char **name = &files->names[files->count];
    PL_TRY(name_of(gltf, json, uri, name));
    for (int i = 0; i < files->count; i++) {
        if (strcmp(files->names[i], *name) == 0) {
            gltf->buffers[buffer] = gltf->buffers[files->buffers[i]];
            gltf->buffers[buffer].file = NULL;
            gltf->buffers[buffer].size = gltf->buffers[files->buffers[i]].file->size;
            pl_memory_free(gltf->memory, *name);
            *name = NULL;
            return PL_OK;
        }
    }
    files->buffers[files->count++] = buffer;
    return read_file(gltf, *name, &gltf->buffers[buffer]);
}

void pl_gltf_free_bytes(pl_gltf *gltf, pl_gltf_bytes *bytes)
{
    if (bytes->file)
        pl_mesh_beside_close(gltf->build, bytes->file);
    pl_memory_free(gltf->memory, bytes->file);
    pl_memory_free(gltf->memory, bytes->decoded);
}

static pl_status read_buffer(pl_gltf *gltf, read_files *files, int buffer)
{
    uint32_t json = gltf->tables[PL_GLTF_BUFFERS].nodes[buffer], uri;
    pl_gltf_bytes *bytes = &gltf->buffers[buffer];
    size_t size = SIZE_MAX;
    PL_TRY(pl_gltf_size(gltf, json, "byteLength", &size));
    PL_TRY(pl_gltf_member(gltf, json, "uri", PL_JSON_STRING, &uri));
    if (size == SIZE_MAX)
        return pl_gltf_fail(gltf, json, "byteLength is missing");
    if (!uri && gltf->is_binary && buffer == 0)
        *bytes = gltf->chunk;
    else if (!uri)
        return pl_gltf_fail(gltf, json, "the buffer has no uri, and no binary chunk is its own");
    else if (pl_gltf_is_data_uri(pl_json_string(gltf->json, uri)))
        PL_TRY(pl_gltf_decode_uri(gltf, uri, pl_json_string(gltf->json, uri),
                                  gltf->json->nodes[uri].as.string.length, bytes));
    else
        PL_TRY(take_file(gltf, files, buffer, uri, pl_json_string(gltf->json, uri)));
    if (size > bytes->size)
        return pl_gltf_fail(gltf, json, "byteLength is %zu, but there are only %zu bytes", size,
                            bytes->size);
    bytes->size = size;
    return PL_OK;
}

pl_status pl_gltf_read_buffers(pl_gltf *gltf)
{
    int count = gltf->tables[PL_GLTF_BUFFERS].count;
    gltf->buffers = PL_NEW(gltf->memory, pl_gltf_bytes, count);
    read_files *files = PL_NEW(gltf->memory, read_files, 1);
    pl_status status = gltf->buffers && files ? PL_OK : pl_gltf_no_memory(gltf);
    for (int i = 0; i < count && status == PL_OK; i++)
        status = read_buffer(gltf, files, i);
    for (int i = 0; files && i < files->count; i++)
        pl_memory_free(gltf->memory, files->names[i]);
    pl_memory_free(gltf->memory, files);
    return status;
}

static pl_status read_view(pl_gltf *gltf, int view)
{
    uint32_t json = gltf->tables[PL_GLTF_VIEWS].nodes[view];
    pl_gltf_view *out = &gltf->views[view];
    size_t offset = 0, size = SIZE_MAX;
    int buffer;
    PL_TRY(pl_gltf_index(gltf, json, "buffer", PL_GLTF_BUFFERS, &buffer));
    PL_TRY(pl_gltf_size(gltf, json, "byteOffset", &offset));
    PL_TRY(pl_gltf_size(gltf, json, "byteLength", &size));
    PL_TRY(pl_gltf_size(gltf, json, "byteStride", &out->stride));
    if (buffer < 0 || size == SIZE_MAX)
        return pl_gltf_fail(gltf, json, "buffer or byteLength is missing");
    const pl_gltf_bytes *bytes = &gltf->buffers[buffer];
    if (offset > bytes->size || size > bytes->size - offset)
        return pl_gltf_fail(gltf, json, "ends at byte %zu, the buffer at byte %zu", offset + size,
                            bytes->size);
    if (out->stride > 252)
        return pl_gltf_fail(gltf, json, "byteStride must be at most 252, not %zu", out->stride);
    out->bytes.data = bytes->data ? bytes->data + offset : NULL;
    out->bytes.size = size;
    return PL_OK;
}

pl_status pl_gltf_read_views(pl_gltf *gltf)
{
    int count = gltf->tables[PL_GLTF_VIEWS].count;
    gltf->views = PL_NEW(gltf->memory, pl_gltf_view, count);
    if (!gltf->views)
        return pl_gltf_no_memory(gltf);
    for (int i = 0; i < count; i++)
        PL_TRY(read_view(gltf, i));
    return PL_OK;
}
