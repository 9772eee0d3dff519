/* Materials and images of a glTF document. Embedded images are kept as they are, encoded; those in
   other files are only named. Extensions of the material model and of textures are left out. */
#include "io/mesh_gltf.h"

#include <stdio.h>
#include <string.h>

/* ---- Images ---------------------------------------------------------------------------------- */

static pl_status add_image(pl_gltf *gltf, const char *name, const char *mime,
                           const pl_gltf_bytes *bytes)
{
    int32_t number =
        pl_mesh_build_image_add(gltf->build, name, strlen(name), mime, bytes->data, bytes->size);
    return number >= 0 ? PL_OK : pl_gltf_no_memory(gltf);
}

/* An image in a file of its own: the name is its path. */
static pl_status add_named_image(pl_gltf *gltf, const char *uri, const char *mime)
{
    const pl_gltf_bytes nothing = {0};
    char *path = PL_NEW(gltf->memory, char, strlen(uri) + 1);
    if (!path)
        return pl_gltf_no_memory(gltf);
    pl_status status =
        add_image(gltf, pl_gltf_decode_percent(uri, path) ? path : uri, mime, &nothing);
    pl_memory_free(gltf->memory, path);
    return status;
}

static pl_status add_data_image(pl_gltf *gltf, uint32_t uri, const char *name, const char *mime)
{
    const char *text = pl_json_string(gltf->json, uri);
    char type[64] = "";
    pl_gltf_bytes bytes;
    size_t length = strcspn(text + 5, ";,");
    if (length < sizeof type)
        memcpy(type, text + 5, length);
    PL_TRY(pl_gltf_decode_uri(gltf, uri, text, gltf->json->nodes[uri].as.string.length, &bytes));
    pl_status status = add_image(gltf, name, *mime ? mime : type, &bytes);
    pl_memory_free(gltf->memory, bytes.decoded);
    return status;
}

static pl_status read_image(pl_gltf *gltf, int index)
{
    uint32_t json = gltf->tables[PL_GLTF_IMAGES].nodes[index], uri;
    const char *name = "", *mime = "";
    char numbered[32];
    int view;
    PL_TRY(pl_gltf_string(gltf, json, "name", &name));
    PL_TRY(pl_gltf_string(gltf, json, "mimeType", &mime));
    PL_TRY(pl_gltf_member(gltf, json, "uri", PL_JSON_STRING, &uri));
    PL_TRY(pl_gltf_index(gltf, json, "bufferView", PL_GLTF_VIEWS, &view));
    snprintf(numbered, sizeof numbered, "image %d", index);
    if (!*name)
        name = numbered;
    if (view >= 0)
        return add_image(gltf, name, mime, &gltf->views[view].bytes);
    if (!uri)
        return pl_gltf_fail(gltf, json, "the image has neither uri nor bufferView");
    if (pl_gltf_is_data_uri(pl_json_string(gltf->json, uri)))
        return add_data_image(gltf, uri, name, mime);
    return add_named_image(gltf, pl_json_string(gltf->json, uri), mime);
}

pl_status pl_gltf_read_images(pl_gltf *gltf)
{
    for (int i = 0; i < gltf->tables[PL_GLTF_IMAGES].count; i++)
        PL_TRY(read_image(gltf, i));
    return PL_OK;
}

/* ---- Materials ------------------------------------------------------------------------------- */

/* The image of a texture, or of the first extension that offers it in another encoding; -1 =
   none. */
static pl_status find_image(const pl_gltf *gltf, int texture, int *image)
{
    uint32_t json = gltf->tables[PL_GLTF_TEXTURES].nodes[texture], extensions;
    PL_TRY(pl_gltf_index(gltf, json, "source", PL_GLTF_IMAGES, image));
    PL_TRY(pl_gltf_member(gltf, json, "extensions", PL_JSON_OBJECT, &extensions));
    if (*image >= 0 || !extensions)
        return PL_OK;
    uint32_t end = gltf->json->nodes[extensions].as.container.end;
    for (uint32_t key = extensions + 1; key < end && *image < 0;
         key = pl_json_next(gltf->json, key + 1))
        if (pl_json_kind_of(gltf->json, key + 1) == PL_JSON_OBJECT)
            PL_TRY(pl_gltf_index(gltf, key + 1, "source", PL_GLTF_IMAGES, image));
    return PL_OK;
}

static pl_status read_texture(const pl_gltf *gltf, uint32_t object, const char *key,
                              pl_texture_kind kind, pl_look_material *out)
{
    uint32_t json;
    int texture, uv = 0;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_OBJECT, &json));
    if (!json)
        return PL_OK;
    PL_TRY(pl_gltf_index(gltf, json, "index", PL_GLTF_TEXTURES, &texture));
    PL_TRY(pl_gltf_integer(gltf, json, "texCoord", &uv));
    if (texture < 0)
        return pl_gltf_fail(gltf, json, "index is missing");
    if (uv >= PL_MAX_UV_SETS)
        return pl_gltf_fail(gltf, json, "texCoord must be below %d, not %d", PL_MAX_UV_SETS, uv);
    PL_TRY(find_image(gltf, texture, &out->textures[kind]));
    out->texture_uvs[kind] = uv;
    return PL_OK;
}

static pl_status read_colour(const pl_gltf *gltf, uint32_t object, const char *key, int count,
                             float *out)
{
    double values[4];
    bool found;
    PL_TRY(pl_gltf_numbers(gltf, object, key, count, values, &found));
    for (int i = 0; found && i < count; i++)
        out[i] = values[i] > 0 ? values[i] < 1 ? (float)values[i] : 1 : 0;
    return PL_OK;
}

static pl_status read_alpha(const pl_gltf *gltf, uint32_t json, pl_look_material *out)
{
    const char *mode = "OPAQUE";
    PL_TRY(pl_gltf_string(gltf, json, "alphaMode", &mode));
    out->alpha = strcmp(mode, "MASK") == 0 ? 1 : strcmp(mode, "BLEND") == 0 ? 2 : 0;
    out->cutoff = 0.5f;
    return pl_gltf_float(gltf, json, "alphaCutoff", &out->cutoff);
}

static pl_status read_material(const pl_gltf *gltf, uint32_t json, pl_look_material *out)
{
    uint32_t base;
    out->metal = out->roughness = 1;
    PL_TRY(pl_gltf_member(gltf, json, "pbrMetallicRoughness", PL_JSON_OBJECT, &base));
    if (base) {
        PL_TRY(read_colour(gltf, base, "baseColorFactor", 4, out->colour));
        PL_TRY(pl_gltf_float(gltf, base, "metallicFactor", &out->metal));
        PL_TRY(pl_gltf_float(gltf, base, "roughnessFactor", &out->roughness));
        PL_TRY(read_texture(gltf, base, "baseColorTexture", PL_TEXTURE_COLOUR, out));
        PL_TRY(read_texture(gltf, base, "metallicRoughnessTexture", PL_TEXTURE_METAL_ROUGH, out));
    }
    PL_TRY(read_texture(gltf, json, "normalTexture", PL_TEXTURE_NORMAL, out));
    PL_TRY(read_texture(gltf, json, "occlusionTexture", PL_TEXTURE_OCCLUSION, out));
    PL_TRY(read_texture(gltf, json, "emissiveTexture", PL_TEXTURE_EMISSION, out));
    PL_TRY(read_colour(gltf, json, "emissiveFactor", 3, out->emission));
    PL_TRY(pl_gltf_flag(gltf, json, "doubleSided", &out->two_sided));
    return read_alpha(gltf, json, out);
}

pl_status pl_gltf_read_materials(pl_gltf *gltf)
{
    const pl_gltf_list *list = &gltf->tables[PL_GLTF_MATERIALS];
    for (int i = 0; i < list->count; i++) {
        const char *name = "";
        char numbered[32];
        PL_TRY(pl_gltf_string(gltf, list->nodes[i], "name", &name));
        snprintf(numbered, sizeof numbered, "material %d", i);
        int32_t number = pl_mesh_build_material(gltf->build, *name ? name : numbered, SIZE_MAX);
        if (number < 0)
            return pl_gltf_no_memory(gltf);
        PL_TRY(read_material(gltf, list->nodes[i], pl_mesh_build_material_at(gltf->build, number)));
    }
    return PL_OK;
}
