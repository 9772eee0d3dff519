/* Collecting a mesh: growing arrays of vertices, shapes, names. Cutting polygons is in
   mesh_polygon.c, making the pl_mesh in mesh_finish.c. */
#include "io/mesh_build.h"

#include <string.h>

#include "base/rng.h"
#include "io/mesh_parts.h"
#include "io/mesh_text.h"
#include "io/trouble.h"
#include "math/elementary.h"

/* ---- The build ------------------------------------------------------------------------------- */

static size_t memory_for(size_t size)
{
    return size > SIZE_MAX / (2 * PL_MESH_MEMORY) ? SIZE_MAX / 2 : size * PL_MESH_MEMORY;
}

static void make_arrays(pl_mesh_build *build)
{
    pl_memory *memory = build->memory;
    build->positions = pl_array_make(memory, 3 * sizeof(double));
    for (int a = 0; a < PL_ATTRIBUTE_COUNT; a++)
        build->attributes[a] =
            pl_array_make(memory, (size_t)pl_mesh_attribute_width(a) * sizeof(float));
    build->triangles = pl_array_make(memory, 3 * sizeof(int32_t));
    build->triangle_uvs = pl_array_make(memory, 3 * sizeof(int32_t));
    build->triangle_normals = pl_array_make(memory, 3 * sizeof(int32_t));
    build->lines = pl_array_make(memory, 2 * sizeof(int32_t));
    build->tets = pl_array_make(memory, 4 * sizeof(int32_t));
    build->pool_uvs = pl_array_make(memory, 2 * sizeof(float));
    build->pool_normals = pl_array_make(memory, 3 * sizeof(float));
    build->texts = pl_array_make(memory, 1);
    build->runs = pl_array_make(memory, sizeof(pl_mesh_run));
    build->groups.texts = pl_array_make(memory, sizeof(pl_mesh_text));
    build->material_names.texts = pl_array_make(memory, sizeof(pl_mesh_text));
    build->materials = pl_array_make(memory, sizeof(pl_look_material));
    build->images = pl_array_make(memory, sizeof(pl_mesh_build_image));
    build->polygon = pl_array_make(memory, 1);
}

pl_status pl_mesh_build_init(pl_mesh_build *build, const pl_allocator *host, size_t size,
                             pl_error *error)
{
    *build = (pl_mesh_build){.group = -1, .material = -1};
    build->owner = pl_mesh_owner_create(host, memory_for(size) + PL_MESH_MEMORY_BASE);
    PL_CHECK(build->owner, PL_ERROR_MEMORY, error, NULL, "not enough memory to read a mesh");
    build->memory = pl_mesh_owner_memory(build->owner);
    make_arrays(build);
    return PL_OK;
}

void pl_mesh_build_allow(pl_mesh_build *build, size_t size)
{
    size_t more = memory_for(size);
    if (more <= SIZE_MAX - build->memory->limit)
        build->memory->limit += more;
}

void pl_mesh_build_free(pl_mesh_build *build)
{
    pl_array *arrays[] = {
        &build->positions, &build->triangles, &build->triangle_uvs, &build->triangle_normals,
        &build->lines,     &build->tets,      &build->pool_uvs,     &build->pool_normals,
        &build->texts,     &build->runs,      &build->groups.texts, &build->material_names.texts,
        &build->materials, &build->images,    &build->polygon};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_array_free(arrays[i]);
    for (int a = 0; a < PL_ATTRIBUTE_COUNT; a++)
        pl_array_free(&build->attributes[a]);
    if (build->memory) {
        pl_memory_free(build->memory, build->groups.slots);
        pl_memory_free(build->memory, build->material_names.slots);
    }
    pl_mesh_owner_destroy(build->owner);
    *build = (pl_mesh_build){0};
}

pl_status pl_mesh_build_no_memory(const pl_mesh_build *build, const char *name, pl_error *error)
{
    (void)build;
    return pl_fail(error, PL_ERROR_MEMORY, pl_mesh_where_file(name).text,
                   "not enough memory for this mesh (reading takes at most %d times the file's "
                   "size, and a mesh has at most %d vertices)",
                   PL_MESH_MEMORY, INT32_MAX);
}

/* ---- Vertices -------------------------------------------------------------------------------- */

double *pl_mesh_build_vertices(pl_mesh_build *build, size_t count)
{
    if (count > INT32_MAX - build->positions.count)
        return NULL;
    return pl_array_add(&build->positions, count);
}

bool pl_mesh_attribute_widen(pl_mesh_build *build, int attribute)
{
    pl_array *table = &build->attributes[attribute];
    size_t width = (size_t)pl_mesh_attribute_width(attribute);
    size_t old = table->count, missing = build->positions.count - old;
    /* One row too many, so that a table without rows is a table too. */
    if (!pl_array_reserve(table, missing + 1))
        return false;
    float *rows = pl_array_add(table, missing);
    float value = attribute == PL_ATTRIBUTE_COLOUR ? 1 : 0;
    for (size_t i = 0; i < missing * width; i++)
        rows[i] = value;
    return true;
}

float *pl_mesh_build_attribute(pl_mesh_build *build, int attribute, size_t first)
{
    if (!pl_mesh_attribute_widen(build, attribute))
        return NULL;
    return (float *)build->attributes[attribute].data +
           first * (size_t)pl_mesh_attribute_width(attribute);
}

/* IEC 61966-2-1. */
float pl_mesh_linear(double srgb)
{
    double value = srgb > 0 ? srgb < 1 ? srgb : 1 : 0;
    return (float)(value <= 0.04045 ? value / 12.92 : pl_pow((value + 0.055) / 1.055, 2.4));
}

void pl_mesh_linear_table(float table[256])
{
    for (int i = 0; i < 256; i++)
        table[i] = pl_mesh_linear(i / 255.0);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

int32_t *pl_mesh_build_triangles(pl_mesh_build *build, size_t count)
{
    if (count > INT32_MAX - build->triangles.count)
        return NULL;
    return pl_array_add(&build->triangles, count);
}

bool pl_mesh_build_triangle(pl_mesh_build *build, int32_t a, int32_t b, int32_t c)
{
    int32_t *row = pl_mesh_build_triangles(build, 1);
    if (!row)
        return false;
    row[0] = a;
    row[1] = b;
    row[2] = c;
    return true;
}

bool pl_mesh_build_line(pl_mesh_build *build, int32_t a, int32_t b)
{
    int32_t *row = build->lines.count < INT32_MAX ? pl_array_add(&build->lines, 1) : NULL;
    if (!row)
        return false;
    row[0] = a;
    row[1] = b;
    return true;
}

bool pl_mesh_build_tet(pl_mesh_build *build, const int32_t vertices[4])
{
    int32_t *row = build->tets.count < INT32_MAX ? pl_array_add(&build->tets, 1) : NULL;
    if (!row)
        return false;
    memcpy(row, vertices, 4 * sizeof *row);
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Names that fall into one place of the table are compared one by one, but no more than this: a
   file made so that all names collide gets some of them twice instead of taking forever. */
enum { PROBES = 64 };

static unsigned char shown(char c)
{
    unsigned char u = (unsigned char)c;
    return u < 0x20 || u == 0x7F ? '?' : u;
}

static uint64_t hash_name(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ shown(name[i])) * UINT64_C(0x100000001B3);
    return pl_mix64(hash);
}

static bool same_name(const pl_mesh_build *build, pl_mesh_text text, const char *name,
                      size_t length)
{
    if (text.length != length)
        return false;
    const char *known = (const char *)build->texts.data + text.start;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)known[i] != shown(name[i]))
            return false;
    return true;
}

static int32_t find_name(const pl_mesh_build *build, const pl_mesh_names *names, const char *name,
                         size_t length)
{
    if (!names->slot_count)
        return -1;
    const pl_mesh_text *texts = names->texts.data;
    uint64_t hash = hash_name(name, length);
    for (size_t probe = 0; probe < PROBES; probe++) {
        uint32_t slot = names->slots[(hash + probe) & (names->slot_count - 1)];
        if (!slot)
            return -1;
        if (same_name(build, texts[slot - 1], name, length))
            return (int32_t)(slot - 1);
    }
    return -1;
}

static void enter_name(const pl_mesh_build *build, pl_mesh_names *names, uint32_t number)
{
    const pl_mesh_text *texts = names->texts.data;
    const char *name = (const char *)build->texts.data + texts[number].start;
    uint64_t hash = hash_name(name, texts[number].length);
    for (size_t probe = 0; probe < PROBES; probe++) {
        uint32_t *slot = &names->slots[(hash + probe) & (names->slot_count - 1)];
        if (!*slot) {
            *slot = number + 1;
            return;
        }
    }
}

static bool grow_slots(pl_mesh_build *build, pl_mesh_names *names)
{
    if (2 * (names->texts.count + 1) <= names->slot_count)
        return true;
    size_t count = names->slot_count ? 2 * names->slot_count : 16;
    uint32_t *slots = PL_NEW(build->memory, uint32_t, count);
    if (!slots)
        return false;
    pl_memory_free(build->memory, names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (size_t i = 0; i < names->texts.count; i++)
        enter_name(build, names, (uint32_t)i);
    return true;
}

bool pl_mesh_text_add(pl_mesh_build *build, const char *text, size_t length, pl_mesh_text *made)
{
    char *copy = length < SIZE_MAX ? pl_array_add(&build->texts, length + 1) : NULL;
    if (!copy)
        return false;
    pl_copy_text(copy, length + 1, text, length);
    *made = (pl_mesh_text){build->texts.count - length - 1, length};
    return true;
}

static int32_t add_name(pl_mesh_build *build, pl_mesh_names *names, const char *name, size_t length)
{
    pl_mesh_text text;
    if (names->texts.count >= INT32_MAX - 1 || !grow_slots(build, names) ||
        !pl_array_reserve(&names->texts, 1) || !pl_mesh_text_add(build, name, length, &text))
        return -1;
    *(pl_mesh_text *)pl_array_add(&names->texts, 1) = text;
    enter_name(build, names, (uint32_t)names->texts.count - 1);
    return (int32_t)names->texts.count - 1;
}

static size_t length_of(const char *name, size_t length)
{
    return length == SIZE_MAX ? strlen(name) : length;
}

/* ---- Groups, materials, images --------------------------------------------------------------- */

static bool note_run(pl_mesh_build *build, int32_t group, int32_t material)
{
    if (group == build->group && material == build->material)
        return true;
    pl_mesh_run *last = build->runs.data;
    if (build->runs.count)
        last += build->runs.count - 1;
    if (!build->runs.count || last->first_triangle != build->triangles.count)
        last = pl_array_add(&build->runs, 1);
    if (!last)
        return false;
    *last = (pl_mesh_run){build->triangles.count, group, material};
    build->group = group;
    build->material = material;
    return true;
}

bool pl_mesh_build_group(pl_mesh_build *build, const char *name, size_t length)
{
    length = length_of(name, length);
    int32_t group = find_name(build, &build->groups, name, length);
    if (group < 0)
        group = add_name(build, &build->groups, name, length);
    return group >= 0 && note_run(build, group, build->material);
}

bool pl_mesh_build_new_group(pl_mesh_build *build, const char *name, size_t length)
{
    int32_t group = add_name(build, &build->groups, name, length_of(name, length));
    return group >= 0 && note_run(build, group, build->material);
}

int32_t pl_mesh_build_find_material(const pl_mesh_build *build, const char *name, size_t length)
{
    return find_name(build, &build->material_names, name, length_of(name, length));
}

int32_t pl_mesh_build_material(pl_mesh_build *build, const char *name, size_t length)
{
    if (!pl_array_reserve(&build->materials, 1))
        return -1;
    int32_t number = add_name(build, &build->material_names, name, length_of(name, length));
    if (number < 0)
        return -1;
    pl_look_material *material = pl_array_add(&build->materials, 1);
    *material = (pl_look_material){.colour = {1, 1, 1, 1}, .roughness = 1, .cutoff = 0.5f};
    for (int i = 0; i < PL_TEXTURE_KINDS; i++)
        material->textures[i] = -1;
    return number;
}

pl_look_material *pl_mesh_build_material_at(pl_mesh_build *build, int32_t material)
{
    return (pl_look_material *)build->materials.data + material;
}

bool pl_mesh_build_use_material(pl_mesh_build *build, int32_t material)
{
    return note_run(build, build->group, material);
}

int32_t pl_mesh_build_image_add(pl_mesh_build *build, const char *name, size_t length,
                                const char *mime, const uint8_t *bytes, size_t size)
{
    pl_mesh_build_image image = {.size = bytes ? size : 0};
    if (build->images.count >= INT32_MAX || !pl_array_reserve(&build->images, 1) ||
        !pl_mesh_text_add(build, name, length_of(name, length), &image.name) ||
        !pl_mesh_text_add(build, mime, strlen(mime), &image.mime))
        return -1;
    if (bytes) {
        uint8_t *copy = pl_mesh_owner_alloc(build->owner, size, 1);
        if (!copy)
            return -1;
        if (size)
            memcpy(copy, bytes, size);
        image.bytes = copy;
    }
    *(pl_mesh_build_image *)pl_array_add(&build->images, 1) = image;
    return (int32_t)build->images.count - 1;
}
