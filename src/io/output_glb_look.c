/* Materials, textures and images: those of a look as it has them, and plain ones for what has none.
   Images are kept encoded, as they are, where they are PNG or JPEG: glTF knows no others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/output_glb_parts.h"

enum { IMAGE_LIMIT = 1 << 28 };

/* ---- Images ---------------------------------------------------------------------------------- */

static const char *mime_of(const uint8_t *bytes, size_t size)
{
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF};
    if (size > sizeof png && memcmp(bytes, png, sizeof png) == 0)
        return "image/png";
    return size > sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0 ? "image/jpeg" : NULL;
}

/* The number of the texture that shows the image, -1 where it cannot be shown. */
static pl_status add_bytes(pl_glb *glb, const char *name, const uint8_t *bytes, size_t size,
                           int *texture, pl_trouble *trouble)
{
    const char *mime = mime_of(bytes, size);
    if (!mime)
        return PL_OK;
    int view = pl_glb_add_view(glb, bytes, size, PL_GLB_NO_TARGET);
    pl_glb_text image = pl_glb_next(&glb->images), text = pl_glb_next(&glb->textures);
    pl_glb_put(&image, "{");
    pl_glb_put_name(&image, name, "");
    pl_glb_print(&image, ",\"mimeType\":\"%s\",\"bufferView\":%d}", mime, view);
    pl_glb_print(&text, "{\"source\":%d}", glb->images.count - 1);
    *texture = glb->textures.count - 1;
    return view < 0 || image.failed || text.failed ? pl_glb_no_memory(glb, trouble) : PL_OK;
}

/* One in a file of its own. What is not there is left out: the surface is none the worse
   without. */
static pl_status add_file(pl_glb *glb, const char *directory, const char *name, int *texture,
                          pl_trouble *trouble)
{
    char path[4096], *bytes;
    size_t size;
    int length = snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return PL_OK;
    pl_status status = pl_file_read(glb->memory, path, IMAGE_LIMIT, &bytes, &size, trouble);
    if (status != PL_OK)
        return status == PL_ERROR_MEMORY ? status : PL_OK;
    status = add_bytes(glb, name, (const uint8_t *)bytes, size, texture, trouble);
    pl_memory_free(glb->memory, bytes);
    return status;
}

/* ---- Materials ------------------------------------------------------------------------------- */

/* What the textures of a look have become: number + 1, -1 = cannot be shown, 0 = not looked at. */
typedef struct look_work {
    pl_glb *glb;
    const pl_glb_surface *surface;
    int32_t *textures;
} look_work;

static pl_status find_texture(look_work *w, const pl_look_material *material, pl_texture_kind kind,
                              int *texture, pl_trouble *trouble)
{
    const pl_look *look = w->surface->look;
    int image = material->textures[kind];
    *texture = -1;
    if (image < 0 || material->texture_uvs[kind] >= look->uv_set_count)
        return PL_OK;
    if (w->textures[image] == 0) {
        const pl_image *from = &look->images[image];
        if (from->bytes)
            PL_TRY(add_bytes(w->glb, from->name, from->bytes, from->size, texture, trouble));
        else if (w->surface->directory)
            PL_TRY(add_file(w->glb, w->surface->directory, from->name, texture, trouble));
        w->textures[image] = *texture < 0 ? -1 : *texture + 1;
    }
    *texture = w->textures[image] < 0 ? -1 : w->textures[image] - 1;
    return PL_OK;
}

static void put_texture(pl_glb_text *text, const char *key, int texture, int uv)
{
    if (texture < 0)
        return;
    pl_glb_print(text, ",\"%s\":{\"index\":%d", key, texture);
    if (uv)
        pl_glb_print(text, ",\"texCoord\":%d", uv);
    pl_glb_put(text, "}");
}

static void put_colour(pl_glb_text *text, const float *colour, int count)
{
    float parts[4];
    for (int k = 0; k < count; k++)
        parts[k] = fminf(fmaxf(colour[k], 0), 1);
    pl_glb_put_numbers(text, parts, count, false);
}

/* Begins a material, up to the end of its base. */
static void put_base(pl_glb_text *text, const float colour[4], float metal, float roughness)
{
    pl_glb_put(text, "\"pbrMetallicRoughness\":{\"baseColorFactor\":");
    put_colour(text, colour, 4);
    pl_glb_put(text, ",\"metallicFactor\":");
    pl_glb_put_number(text, fminf(fmaxf(metal, 0), 1), false);
    pl_glb_put(text, ",\"roughnessFactor\":");
    pl_glb_put_number(text, fminf(fmaxf(roughness, 0), 1), false);
}

static void put_rest(pl_glb_text *text, const pl_look_material *material)
{
    const float *e = material->emission;
    if (e[0] > 0 || e[1] > 0 || e[2] > 0) {
        pl_glb_put(text, ",\"emissiveFactor\":");
        put_colour(text, e, 3);
    }
    if (material->two_sided)
        pl_glb_put(text, ",\"doubleSided\":true");
    if (material->alpha)
        pl_glb_print(text, ",\"alphaMode\":\"%s\"", material->alpha == 1 ? "MASK" : "BLEND");
    if (material->alpha == 1) {
        pl_glb_put(text, ",\"alphaCutoff\":");
        pl_glb_put_number(text, fmaxf(material->cutoff, 0), false);
    }
}

static pl_status add_material(look_work *w, const pl_look_material *material, pl_trouble *trouble)
{
    static const char *const keys[PL_TEXTURE_KINDS] = {"baseColorTexture",
                                                       "metallicRoughnessTexture", "normalTexture",
                                                       "occlusionTexture", "emissiveTexture"};
    int textures[PL_TEXTURE_KINDS];
    for (int k = 0; k < PL_TEXTURE_KINDS; k++)
        PL_TRY(find_texture(w, material, (pl_texture_kind)k, &textures[k], trouble));
    pl_glb_text text = pl_glb_next(&w->glb->materials);
    pl_glb_put(&text, "{");
    pl_glb_put_name(&text, material->name, "");
    pl_glb_put(&text, ",");
    put_base(&text, material->colour, material->metal, material->roughness);
    for (int k = 0; k < PL_TEXTURE_KINDS; k++) {
        if (k == PL_TEXTURE_NORMAL)
            pl_glb_put(&text, "}");
        put_texture(&text, keys[k], textures[k], material->texture_uvs[k]);
    }
    put_rest(&text, material);
    pl_glb_put(&text, "}");
    return text.failed ? pl_glb_no_memory(w->glb, trouble) : PL_OK;
}

static pl_status add_used(look_work *w, int32_t *map, pl_trouble *trouble)
{
    const pl_look *look = w->surface->look;
    for (int i = 0; i < look->material_count; i++)
        map[i] = -1;
    for (int t = 0; t < w->surface->triangle_count; t++) {
        int32_t material = look->triangle_materials ? look->triangle_materials[t] : 0;
        if (material < 0 || map[material] >= 0)
            continue;
        PL_TRY(add_material(w, &look->materials[material], trouble));
        map[material] = w->glb->materials.count - 1;
    }
    return PL_OK;
}

pl_status pl_glb_add_materials(pl_glb *glb, const pl_glb_surface *surface, int32_t *map,
                               pl_trouble *trouble)
{
    look_work w = {glb, surface, PL_NEW(glb->memory, int32_t, surface->look->image_count)};
    if (!w.textures)
        return pl_glb_no_memory(glb, trouble);
    pl_status status = add_used(&w, map, trouble);
    pl_memory_free(glb->memory, w.textures);
    return status;
}

/* ---- Plain ones ------------------------------------------------------------------------------ */

int pl_glb_add_paint(pl_glb *glb, const float colour[4], float roughness, bool two_sided)
{
    const pl_glb_paint *known = glb->paints.data;
    for (size_t i = 0; i < glb->paints.count; i++)
        if (memcmp(known[i].colour, colour, sizeof known->colour) == 0 &&
            known[i].roughness == roughness && known[i].two_sided == two_sided)
            return known[i].material;
    pl_glb_paint *made = pl_array_add(&glb->paints, 1);
    if (!made)
        return -1;
    pl_glb_text text = pl_glb_next(&glb->materials);
    pl_glb_put(&text, "{");
    put_base(&text, colour, 0, roughness);
    pl_glb_put(&text, two_sided ? "},\"doubleSided\":true}" : "}}");
    *made = (pl_glb_paint){.roughness = roughness,
                           .two_sided = two_sided,
                           .material = text.failed ? -1 : glb->materials.count - 1};
    memcpy(made->colour, colour, sizeof made->colour);
    return made->material;
}
