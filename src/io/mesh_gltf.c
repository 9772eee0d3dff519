/* glTF 2.0, as JSON (.gltf) and in its binary container (.glb): opens the container, refuses what
   needs extensions that change geometry, and adds what the scene shows to the mesh being built. */
#include "io/mesh_gltf.h"

#include <stdio.h>
#include <string.h>

#include "io/mesh_bytes.h"
#include "io/mesh_text.h"

enum { HEADER = 12, CHUNK_HEADER = 8, CHUNK_JSON = 0x4E4F534A, CHUNK_BINARY = 0x004E4942 };

static pl_status fail_at(const pl_gltf *gltf, size_t byte, const char *text)
{
    return pl_fail(gltf->error, PL_ERROR_FORMAT, pl_mesh_where_byte(gltf->source->name, byte).text,
                   "%s", text);
}

static pl_status parse_json(pl_gltf *gltf, const uint8_t *text, size_t size)
{
    pl_trouble trouble;
    pl_status status = pl_json_parse(gltf->memory, gltf->source->name, (const char *)text, size,
                                     &gltf->json, &trouble);
    if (status == PL_OK)
        return PL_OK;
    if (status == PL_ERROR_MEMORY)
        return pl_gltf_no_memory(gltf);
    pl_where where = gltf->is_binary ? pl_mesh_where_byte(gltf->source->name, gltf->json_start)
                                     : pl_mesh_where_line(gltf->source->name, (size_t)trouble.line);
    return pl_fail(gltf->error, PL_ERROR_FORMAT, where.text, "%s%.200s",
                   gltf->is_binary ? "in the JSON chunk: " : "", trouble.text);
}

/* Header, then chunks: JSON, perhaps a buffer, perhaps others that are not ours to know. */
static pl_status open_container(pl_gltf *gltf)
{
    pl_bytes bytes = pl_bytes_make(gltf->source->bytes, gltf->source->size, false);
    pl_bytes_u32(&bytes); /* "glTF", already seen */
    uint32_t version = pl_bytes_u32(&bytes), length = pl_bytes_u32(&bytes);
    if (bytes.short_of || length < HEADER)
        return fail_at(gltf, 0, "the file ends inside its header");
    if (version != 2)
        return fail_at(gltf, 4, "only version 2 of the binary container is known");
    if (length > gltf->source->size)
        return pl_fail(gltf->error, PL_ERROR_FORMAT, pl_mesh_where_byte(gltf->source->name, 8).text,
                       "the file should have %u bytes, but has %zu: it was cut off",
                       (unsigned)length, gltf->source->size);
    bytes.size = length;
    for (int chunk = 0; chunk < 2 && pl_bytes_left(&bytes) > 0; chunk++) {
        size_t start = bytes.at;
        uint32_t size = pl_bytes_u32(&bytes), type = pl_bytes_u32(&bytes);
        const uint8_t *data = pl_bytes_take(&bytes, size);
        if (!data)
            return fail_at(gltf, start, "a chunk is longer than what is left of the file");
        if (chunk == 0) {
            if (type != CHUNK_JSON)
                return fail_at(gltf, start, "the first chunk must be JSON");
            gltf->json_start = start + CHUNK_HEADER;
            PL_TRY(parse_json(gltf, data, size));
        } else if (type == CHUNK_BINARY) {
            gltf->chunk = (pl_gltf_bytes){data, size, NULL, NULL};
        }
    }
    return gltf->json ? PL_OK : fail_at(gltf, HEADER, "the JSON chunk is missing");
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Extensions that only say more about appearance, light and the like, or (quantisation) only allow
   other types for attributes. */
static bool is_harmless(const char *extension)
{
    static const char *const known[] = {
        "KHR_mesh_quantization", "KHR_materials_",        "EXT_materials_",
        "MSFT_texture_",         "KHR_texture_",          "EXT_texture_",
        "KHR_lights_",           "EXT_lights_",           "KHR_xmp",
        "KHR_animation_",        "KHR_node_selectability"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts_with(extension, known[i]))
            return true;
    return false;
}

static pl_status check_extensions(const pl_gltf *gltf)
{
    uint32_t array;
    PL_TRY(pl_gltf_member(gltf, 0, "extensionsRequired", PL_JSON_ARRAY, &array));
    uint32_t end = array ? gltf->json->nodes[array].as.container.end : 0;
    for (uint32_t at = array + 1; at < end; at = pl_json_next(gltf->json, at)) {
        if (pl_json_kind_of(gltf->json, at) != PL_JSON_STRING)
            return pl_gltf_fail(gltf, at, "must be a string");
        const char *name = pl_json_string(gltf->json, at);
        if (strstr(name, "draco") || strstr(name, "meshopt"))
            return pl_gltf_fail(gltf, at,
                                "the mesh is compressed (%.60s), which is not supported: export "
                                "it without compression",
                                name);
        if (!is_harmless(name))
            return pl_gltf_fail(gltf, at, "the file needs the extension %.60s, not supported here",
                                name);
    }
    return PL_OK;
}

static pl_status check_version(const pl_gltf *gltf)
{
    uint32_t asset;
    const char *version = "";
    PL_TRY(pl_gltf_member(gltf, 0, "asset", PL_JSON_OBJECT, &asset));
    if (asset)
        PL_TRY(pl_gltf_string(gltf, asset, "version", &version));
    if (!starts_with(version, "2."))
        return pl_gltf_fail(gltf, asset, "asset.version must be 2.0, not \"%.20s\"", version);
    return PL_OK;
}

/* ---- The scene ------------------------------------------------------------------------------- */

/* Refuses scenes that show their meshes too often, and lets those that do so moderately have the
   memory for it. */
static pl_status check_size(const pl_gltf *gltf, size_t total)
{
    enum { WHILE_GROWING = 3 };
    size_t most = gltf->read_bytes < SIZE_MAX / (4 * PL_GLTF_GROWTH)
                      ? gltf->read_bytes * PL_GLTF_GROWTH + PL_GLTF_BASE
                      : SIZE_MAX / 4;
    if (total > most)
        return pl_fail(gltf->error, PL_ERROR_FORMAT, pl_mesh_where_file(gltf->source->name).text,
                       "what the scene shows takes %zu bytes, more than %d for every byte of the "
                       "file",
                       total, PL_GLTF_GROWTH);
    pl_mesh_build_allow(gltf->build, total * WHILE_GROWING / PL_MESH_MEMORY);
    return PL_OK;
}

static pl_status begin_group(pl_gltf *gltf, int node)
{
    const char *name = "";
    char numbered[32];
    PL_TRY(pl_gltf_string(gltf, gltf->tables[PL_GLTF_NODES].nodes[node], "name", &name));
    if (!*name)
        PL_TRY(pl_gltf_string(gltf, gltf->tables[PL_GLTF_MESHES].nodes[gltf->nodes[node].mesh],
                              "name", &name));
    snprintf(numbered, sizeof numbered, "node %d", node);
    return pl_mesh_build_new_group(gltf->build, *name ? name : numbered, SIZE_MAX)
               ? PL_OK
               : pl_gltf_no_memory(gltf);
}

static pl_status show_nodes(pl_gltf *gltf, const int *shown, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        if (gltf->nodes[shown[i]].mesh >= 0)
            total += pl_gltf_mesh_bytes(gltf, gltf->nodes[shown[i]].mesh);
    PL_TRY(check_size(gltf, total));
    for (int i = 0; i < count; i++) {
        if (gltf->nodes[shown[i]].mesh < 0)
            continue;
        PL_TRY(begin_group(gltf, shown[i]));
        PL_TRY(pl_gltf_add_mesh(gltf, gltf->nodes[shown[i]].mesh, shown[i]));
    }
    return PL_OK;
}

/* A document without nodes is a collection of meshes. */
static pl_status show_meshes(pl_gltf *gltf)
{
    size_t total = 0;
    for (int i = 0; i < gltf->tables[PL_GLTF_MESHES].count; i++)
        total += pl_gltf_mesh_bytes(gltf, i);
    PL_TRY(check_size(gltf, total));
    for (int i = 0; i < gltf->tables[PL_GLTF_MESHES].count; i++)
        PL_TRY(pl_gltf_add_mesh(gltf, i, -1));
    return PL_OK;
}

static pl_status show(pl_gltf *gltf)
{
    int *shown = NULL, count;
    if (gltf->tables[PL_GLTF_NODES].count == 0)
        return show_meshes(gltf);
    pl_status status = pl_gltf_list_scene(gltf, &shown, &count);
    if (status == PL_OK)
        status = show_nodes(gltf, shown, count);
    pl_memory_free(gltf->memory, shown);
    return status;
}

static pl_status read_all(pl_gltf *gltf)
{
    if (gltf->is_binary)
        PL_TRY(open_container(gltf));
    else
        PL_TRY(parse_json(gltf, gltf->source->bytes, gltf->source->size));
    PL_TRY(check_version(gltf));
    PL_TRY(check_extensions(gltf));
    PL_TRY(pl_gltf_read_tables(gltf));
    PL_TRY(pl_gltf_read_buffers(gltf));
    PL_TRY(pl_gltf_read_views(gltf));
    PL_TRY(pl_gltf_read_accessors(gltf));
    PL_TRY(pl_gltf_read_meshes(gltf));
    PL_TRY(pl_gltf_read_nodes(gltf));
    PL_TRY(pl_gltf_read_images(gltf));
    PL_TRY(pl_gltf_read_materials(gltf));
    gltf->skins = PL_NEW(gltf->memory, pl_gltf_skin, gltf->tables[PL_GLTF_SKINS].count);
    return gltf->skins ? show(gltf) : pl_gltf_no_memory(gltf);
}

static void free_all(pl_gltf *gltf)
{
    for (int i = 0; gltf->buffers && i < gltf->tables[PL_GLTF_BUFFERS].count; i++)
        pl_gltf_free_bytes(gltf, &gltf->buffers[i]);
    for (int i = 0; gltf->skins && i < gltf->tables[PL_GLTF_SKINS].count; i++)
        pl_memory_free(gltf->memory, gltf->skins[i].joints);
    for (int i = 0; i < PL_GLTF_TABLES; i++)
        pl_memory_free(gltf->memory, gltf->tables[i].nodes);
    pl_memory_free(gltf->memory, gltf->buffers);
    pl_memory_free(gltf->memory, gltf->views);
    pl_memory_free(gltf->memory, gltf->accessors);
    pl_memory_free(gltf->memory, gltf->primitives);
    pl_memory_free(gltf->memory, gltf->meshes);
    pl_memory_free(gltf->memory, gltf->nodes);
    pl_memory_free(gltf->memory, gltf->skins);
    pl_json_free(gltf->json);
}

pl_status pl_read_gltf(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    pl_gltf gltf = {.memory = build->memory,
                    .build = build,
                    .source = source,
                    .error = error,
                    .read_bytes = source->size};
    gltf.is_binary = source->size >= 4 && memcmp(source->bytes, "glTF", 4) == 0;
    /* JSON under the name of a .glb is read; anything else there is no glTF of either kind. */
    bool text = source->size && memchr(" \t\r\n{\xEF", source->bytes[0], 6);
    PL_CHECK(gltf.is_binary || text || !pl_mesh_has_extension(source->name, ".glb"),
             PL_ERROR_FORMAT, error, pl_mesh_where_byte(source->name, 0).text,
             "this is no .glb file: it does not begin with \"glTF\"");
    pl_status status = read_all(&gltf);
    free_all(&gltf);
    return status;
}
