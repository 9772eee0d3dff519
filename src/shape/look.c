/* Checks, copies and hashes the look of a surface. The copy is laid out twice by the same code:
   once without memory, to measure it, and once into the block that was measured. */
#include "shape/look.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- Checking -------------------------------------------------------------------------------- */

static pl_status check_count(int count, int most, const char *name, pl_error *error)
{
    PL_CHECK(count >= 0 && count <= most, PL_ERROR_ARGUMENT, error, name,
             "is %d; it must be from 0 to %d", count, most);
    return PL_OK;
}

static pl_status check_table(const void *table, int count, const char *name, pl_error *error)
{
    PL_CHECK(table || count == 0, PL_ERROR_ARGUMENT, error, name,
             "is NULL; it must hold %d elements", count);
    return PL_OK;
}

/* -1 means none; without a table of them, 0 means the one that is not there. */
static pl_status check_indices(const int32_t *indices, int count, int limit, const char *name,
                               const char *thing, pl_error *error)
{
    for (int t = 0; indices && t < count; t++)
        PL_CHECK(indices[t] >= -1 && indices[t] < (limit > 1 ? limit : 1), PL_ERROR_ARGUMENT, error,
                 PL_WHERE("look.%s[%d]", name, t), "names %s %d; there are %d, counted from 0",
                 thing, (int)indices[t], limit);
    return PL_OK;
}

static pl_status check_material(const pl_look *look, int index, pl_error *error)
{
    const pl_look_material *material = &look->materials[index];
    PL_CHECK(material->name, PL_ERROR_ARGUMENT, error, PL_WHERE("look.materials[%d].name", index),
             "is NULL; a material without a name has the empty one");
    PL_CHECK(material->alpha >= 0 && material->alpha <= 2, PL_ERROR_ARGUMENT, error,
             PL_WHERE("look.materials[%d].alpha", index),
             "is %d; it must be 0 (opaque), 1 (mask) or 2 (blend)", material->alpha);
    for (int k = 0; k < PL_TEXTURE_KINDS; k++) {
        PL_CHECK(material->textures[k] >= -1 && material->textures[k] < look->image_count,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("look.materials[%d].textures[%d]", index, k),
                 "names image %d; there are %d, counted from 0", material->textures[k],
                 look->image_count);
        PL_CHECK(material->texture_uvs[k] >= 0 && material->texture_uvs[k] < PL_MAX_UV_SETS,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("look.materials[%d].texture_uvs[%d]", index, k),
                 "names UV set %d; there may be %d, counted from 0", material->texture_uvs[k],
                 PL_MAX_UV_SETS);
    }
    return PL_OK;
}

static pl_status check_names(const pl_look *look, pl_error *error)
{
    for (int i = 0; i < look->image_count; i++) {
        const pl_image *image = &look->images[i];
        PL_CHECK(image->name && image->mime, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("look.images[%d]", i),
                 "lacks a name or a type; both may be empty, not NULL");
        PL_CHECK(image->bytes || image->size == 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("look.images[%d].bytes", i), "is NULL; it must hold %zu bytes",
                 image->size);
    }
    for (int i = 0; i < look->group_count; i++)
        PL_CHECK(look->group_names[i], PL_ERROR_ARGUMENT, error,
                 PL_WHERE("look.group_names[%d]", i), "is NULL; it may be empty");
    return PL_OK;
}

pl_status pl_look_check(const pl_look *look, int vertex_count, int triangle_count, pl_error *error)
{
    PL_TRY(check_count(look->uv_set_count, PL_MAX_UV_SETS, "look.uv_set_count", error));
    PL_TRY(check_count(look->material_count, PL_MAX_LOOK_COUNT, "look.material_count", error));
    PL_TRY(check_count(look->image_count, PL_MAX_LOOK_COUNT, "look.image_count", error));
    PL_TRY(check_count(look->group_count, PL_MAX_LOOK_COUNT, "look.group_count", error));
    for (int k = 0; k < look->uv_set_count; k++)
        PL_TRY(check_table(look->uvs[k], vertex_count, "look.uvs", error));
    PL_TRY(check_table(look->materials, look->material_count, "look.materials", error));
    PL_TRY(check_table(look->images, look->image_count, "look.images", error));
    PL_TRY(check_table(look->group_names, look->group_count, "look.group_names", error));
    for (int i = 0; i < look->material_count; i++)
        PL_TRY(check_material(look, i, error));
    PL_TRY(check_names(look, error));
    PL_TRY(check_indices(look->triangle_materials, triangle_count, look->material_count,
                         "triangle_materials", "material", error));
    return check_indices(look->triangle_groups, triangle_count, look->group_count,
                         "triangle_groups", "group", error);
}

/* ---- Copying --------------------------------------------------------------------------------- */

/* A place in the block; with `base` NULL only the size is counted. */
typedef struct carver {
    char *base;
    size_t used;
} carver;

static void *carve(carver *block, const void *source, size_t size, size_t alignment)
{
    block->used = (block->used + alignment - 1) / alignment * alignment;
    void *place = block->base ? block->base + block->used : NULL;
    block->used += size;
    if (place && source && size)
        memcpy(place, source, size);
    return place;
}

static void make_finite(float *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        values[i] = isfinite(values[i]) ? values[i] : 0;
}

static float *carve_floats(carver *block, const float *source, size_t count)
{
    if (!source)
        return NULL;
    float *place = carve(block, source, count * sizeof *source, PL_ALIGNMENT);
    make_finite(place, count);
    return place;
}

static char *carve_string(carver *block, const char *text)
{
    return carve(block, text, strlen(text) + 1, 1);
}

static void carve_materials(carver *block, const pl_look *look, pl_look *copy)
{
    size_t size = (size_t)look->material_count * sizeof *look->materials;
    pl_look_material *materials = carve(block, look->materials, size, PL_ALIGNMENT);
    for (int i = 0; i < look->material_count; i++) {
        char *name = carve_string(block, look->materials[i].name);
        if (!materials)
            continue;
        materials[i].name = name;
        make_finite(materials[i].colour, 4);
        make_finite(materials[i].emission, 3);
        make_finite(&materials[i].metal, 1);
        make_finite(&materials[i].roughness, 1);
        make_finite(&materials[i].cutoff, 1);
    }
    copy->materials = look->material_count ? materials : NULL;
}

static void carve_images(carver *block, const pl_look *look, pl_look *copy)
{
    size_t size = (size_t)look->image_count * sizeof *look->images;
    pl_image *images = carve(block, look->images, size, PL_ALIGNMENT);
    for (int i = 0; i < look->image_count; i++) {
        const pl_image *image = &look->images[i];
        char *name = carve_string(block, image->name), *mime = carve_string(block, image->mime);
        uint8_t *bytes =
            image->bytes ? carve(block, image->bytes, image->size, PL_ALIGNMENT) : NULL;
        if (images)
            images[i] = (pl_image){name, mime, bytes, image->size};
    }
    copy->images = look->image_count ? images : NULL;
}

static void carve_groups(carver *block, const pl_look *look, pl_look *copy)
{
    const char **names =
        carve(block, NULL, (size_t)look->group_count * sizeof *names, PL_ALIGNMENT);
    for (int i = 0; i < look->group_count; i++) {
        char *name = carve_string(block, look->group_names[i]);
        if (names)
            names[i] = name;
    }
    copy->group_names = look->group_count ? names : NULL;
}

static void carve_look(carver *block, const pl_look *look, size_t vertices, size_t triangles,
                       pl_look *copy)
{
    size_t indices = triangles * sizeof(int32_t);
    *copy = (pl_look){.uv_set_count = vertices ? look->uv_set_count : 0,
                      .material_count = look->material_count,
                      .image_count = look->image_count,
                      .group_count = look->group_count};
    copy->colours = carve_floats(block, vertices ? look->colours : NULL, 4 * vertices);
    for (int k = 0; k < copy->uv_set_count; k++)
        copy->uvs[k] = carve_floats(block, look->uvs[k], 2 * vertices);
    if (look->triangle_materials && triangles)
        copy->triangle_materials = carve(block, look->triangle_materials, indices, PL_ALIGNMENT);
    if (look->triangle_groups && triangles)
        copy->triangle_groups = carve(block, look->triangle_groups, indices, PL_ALIGNMENT);
    carve_materials(block, look, copy);
    carve_images(block, look, copy);
    carve_groups(block, look, copy);
}

bool pl_look_is_empty(const pl_look *look)
{
    return !look->normals && !look->tangents && !look->colours && look->uv_set_count == 0 &&
           !look->triangle_materials && look->material_count == 0 && look->image_count == 0 &&
           !look->triangle_groups && look->group_count == 0;
}

pl_status pl_look_copy(pl_memory *memory, const pl_look *look, int vertex_count, int triangle_count,
                       pl_look *copy, void **block, pl_error *error)
{
    carver place = {NULL, 0};
    carve_look(&place, look, (size_t)vertex_count, (size_t)triangle_count, copy);
    *block = NULL;
    *copy = (pl_look){0};
    if (place.used == 0)
        return PL_OK;
    place.base = pl_memory_alloc(memory, place.used, 1);
    PL_CHECK(place.base, PL_ERROR_MEMORY, error, "look",
             "no memory for %zu bytes of UVs, materials and the like", place.used);
    place.used = 0;
    carve_look(&place, look, (size_t)vertex_count, (size_t)triangle_count, copy);
    *block = place.base;
    return PL_OK;
}

/* ---- Hashing --------------------------------------------------------------------------------- */

static void hash_floats(pl_hash *hash, const float *values, size_t count)
{
    pl_hash_u32(hash, values != NULL);
    if (values)
        pl_hash_f32_array(hash, values, count);
}

static void hash_indices(pl_hash *hash, const int32_t *values, size_t count)
{
    pl_hash_u32(hash, values != NULL);
    if (values)
        pl_hash_u32_array(hash, (const uint32_t *)values, count);
}

static void hash_material(pl_hash *hash, const pl_look_material *material)
{
    pl_hash_string(hash, material->name);
    pl_hash_f32_array(hash, material->colour, 4);
    pl_hash_f32(hash, material->metal);
    pl_hash_f32(hash, material->roughness);
    pl_hash_f32_array(hash, material->emission, 3);
    pl_hash_u32(hash, material->two_sided);
    pl_hash_u32(hash, (uint32_t)material->alpha);
    pl_hash_f32(hash, material->cutoff);
    for (int k = 0; k < PL_TEXTURE_KINDS; k++) {
        pl_hash_u32(hash, (uint32_t)material->textures[k]);
        pl_hash_u32(hash, (uint32_t)material->texture_uvs[k]);
    }
}

static void hash_image(pl_hash *hash, const pl_image *image)
{
    pl_hash_string(hash, image->name);
    pl_hash_string(hash, image->mime);
    pl_hash_u32(hash, image->bytes != NULL);
    pl_hash_u64(hash, image->size);
    if (image->bytes)
        pl_hash_update(hash, image->bytes, image->size);
}

void pl_look_hash(pl_hash *hash, const pl_look *look, int vertex_count, int triangle_count)
{
    size_t vertices = (size_t)vertex_count, triangles = (size_t)triangle_count;
    hash_floats(hash, look->normals, 3 * vertices);
    hash_floats(hash, look->tangents, 4 * vertices);
    hash_floats(hash, look->colours, 4 * vertices);
    pl_hash_u32(hash, (uint32_t)look->uv_set_count);
    for (int k = 0; k < look->uv_set_count; k++)
        hash_floats(hash, look->uvs[k], 2 * vertices);
    hash_indices(hash, look->triangle_materials, triangles);
    pl_hash_u32(hash, (uint32_t)look->material_count);
    for (int i = 0; i < look->material_count; i++)
        hash_material(hash, &look->materials[i]);
    pl_hash_u32(hash, (uint32_t)look->image_count);
    for (int i = 0; i < look->image_count; i++)
        hash_image(hash, &look->images[i]);
    hash_indices(hash, look->triangle_groups, triangles);
    pl_hash_u32(hash, (uint32_t)look->group_count);
    for (int i = 0; i < look->group_count; i++)
        pl_hash_string(hash, look->group_names[i]);
}
