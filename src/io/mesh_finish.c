/* The last step of reading: from the growing arrays of a build to a pl_mesh that owns its own. */
#include <math.h>

#include "io/mesh_parts.h"
#include "io/mesh_text.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool indices_are_good(const pl_array *table, size_t vertex_count)
{
    const int32_t *indices = table->data;
    size_t count = table->count * (table->size / sizeof(int32_t));
    for (size_t i = 0; i < count; i++)
        if (indices[i] < 0 || (size_t)indices[i] >= vertex_count)
            return false;
    return true;
}

static bool choices_are_good(const pl_array *table, const pl_array *pool)
{
    const int32_t *choices = table->data;
    for (size_t i = 0; i < 3 * table->count; i++)
        if (choices[i] < -1 || choices[i] >= (int64_t)pool->count)
            return false;
    return true;
}

static pl_status check(const pl_mesh_build *build, const char *name, pl_error *error)
{
    pl_where place = pl_mesh_where_file(name);
    const char *where = place.text;
    size_t count = build->positions.count;
    PL_CHECK(count > 0, PL_ERROR_FORMAT, error, where, "there are no vertices in this file");
    const double *positions = build->positions.data;
    for (size_t i = 0; i < 3 * count; i++)
        PL_CHECK(isfinite(positions[i]), PL_ERROR_FORMAT, error, where,
                 "vertex %zu (from 0) has a coordinate that is not a finite number", i / 3);
    PL_CHECK(indices_are_good(&build->triangles, count) && indices_are_good(&build->lines, count) &&
                 indices_are_good(&build->tets, count),
             PL_ERROR_FORMAT, error, where, "an index is out of range: there are %zu vertices",
             count);
    PL_CHECK(choices_are_good(&build->triangle_uvs, &build->pool_uvs) &&
                 choices_are_good(&build->triangle_normals, &build->pool_normals),
             PL_ERROR_FORMAT, error, where,
             "an index of a texture coordinate or normal is out of "
             "range");
    return PL_OK;
}

/* ---- Handing over ---------------------------------------------------------------------------- */

/* The array's data, kept by the owner; *data is NULL for an empty array. Much room at its end is
   given back. */
static bool hand_over(pl_mesh_build *build, pl_array *array, void *data)
{
    void *kept = array->data;
    if (!array->count) {
        kept = NULL;
    } else if (array->capacity > array->count + array->count / 8) {
        kept = pl_mesh_owner_alloc(build->owner, array->count, array->size);
        if (!kept)
            return false;
        memcpy(kept, array->data, array->count * array->size);
    } else if (pl_mesh_owner_keep(build->owner, kept)) {
        array->data = NULL;
    } else {
        return false;
    }
    pl_array_free(array);
    memcpy(data, &kept, sizeof kept);
    return true;
}

static bool hand_over_shapes(pl_mesh_build *build, pl_mesh *mesh)
{
    mesh->vertex_count = (int)build->positions.count;
    mesh->triangle_count = (int)build->triangles.count;
    mesh->line_count = (int)build->lines.count;
    mesh->tet_count = (int)build->tets.count;
    return hand_over(build, &build->positions, &mesh->positions) &&
           hand_over(build, &build->triangles, &mesh->triangles) &&
           hand_over(build, &build->lines, &mesh->lines) &&
           hand_over(build, &build->tets, &mesh->tets);
}

static bool hand_over_attributes(pl_mesh_build *build, pl_look *look)
{
    pl_array *attributes = build->attributes;
    if (!hand_over(build, &attributes[PL_ATTRIBUTE_NORMAL], &look->normals) ||
        !hand_over(build, &attributes[PL_ATTRIBUTE_TANGENT], &look->tangents) ||
        !hand_over(build, &attributes[PL_ATTRIBUTE_COLOUR], &look->colours))
        return false;
    for (int set = 0; set < PL_MAX_UV_SETS; set++) {
        if (attributes[PL_ATTRIBUTE_UV + set].count)
            look->uv_set_count = set + 1;
        if (!hand_over(build, &attributes[PL_ATTRIBUTE_UV + set], &look->uvs[set]))
            return false;
    }
    return true;
}

/* UV sets are counted from 0 without gaps: one that a file leaves out is there with zeros. */
static bool fill_uv_gaps(pl_mesh_build *build)
{
    bool later = false;
    for (int set = PL_MAX_UV_SETS - 1; set >= 0; set--) {
        later = later || build->attributes[PL_ATTRIBUTE_UV + set].count;
        if (later && !pl_mesh_attribute_widen(build, PL_ATTRIBUTE_UV + set))
            return false;
    }
    return true;
}

/* ---- Groups and materials -------------------------------------------------------------------- */

static size_t run_end(const pl_mesh_build *build, size_t run)
{
    const pl_mesh_run *runs = build->runs.data;
    return run + 1 < build->runs.count ? runs[run + 1].first_triangle : build->triangles.count;
}

/* The first run begins with the first triangle. */
static bool add_first_run(pl_mesh_build *build)
{
    pl_mesh_run *runs = build->runs.data;
    if (build->runs.count && runs[0].first_triangle == 0)
        return true;
    if (!pl_array_add(&build->runs, 1))
        return false;
    runs = build->runs.data;
    memmove(runs + 1, runs, (build->runs.count - 1) * sizeof *runs);
    runs[0] = (pl_mesh_run){0, -1, -1};
    return true;
}

/* Triangles without a group among others that have one share a group without a name; and the same
   for materials. */
static bool add_defaults(pl_mesh_build *build)
{
    bool without_group = false, without_material = false;
    pl_mesh_run *runs = build->runs.data;
    for (size_t r = 0; r < build->runs.count; r++) {
        bool used = run_end(build, r) > runs[r].first_triangle;
        without_group = without_group || (used && runs[r].group < 0);
        without_material = without_material || (used && runs[r].material < 0);
    }
    int32_t group = -1, material = -1;
    if (without_group && build->groups.texts.count) {
        if (!pl_mesh_build_new_group(build, "", 0))
            return false;
        group = (int32_t)build->groups.texts.count - 1;
        runs = build->runs.data;
    }
    if (without_material && build->materials.count &&
        (material = pl_mesh_build_material(build, "default", SIZE_MAX)) < 0)
        return false;
    for (size_t r = 0; r < build->runs.count; r++) {
        runs[r].group = runs[r].group < 0 ? group : runs[r].group;
        runs[r].material = runs[r].material < 0 ? material : runs[r].material;
    }
    return true;
}

/* Numbers for the groups that have triangles, in their order; returns how many. */
static int number_groups(const pl_mesh_build *build, int32_t *numbers)
{
    const pl_mesh_run *runs = build->runs.data;
    for (size_t r = 0; r < build->runs.count; r++)
        if (runs[r].group >= 0 && run_end(build, r) > runs[r].first_triangle)
            numbers[runs[r].group] = 1;
    int count = 0;
    for (size_t g = 0; g < build->groups.texts.count; g++)
        numbers[g] = numbers[g] ? count++ : -1;
    return count;
}

static bool hand_over_groups(pl_mesh_build *build, const char *texts, pl_look *look)
{
    size_t all = build->groups.texts.count, triangles = build->triangles.count;
    int32_t *numbers = PL_NEW(build->memory, int32_t, all);
    if (!numbers)
        return false;
    int count = number_groups(build, numbers);
    const char **names = pl_mesh_owner_alloc(build->owner, (size_t)count, sizeof *names);
    int32_t *groups = pl_mesh_owner_alloc(build->owner, triangles, sizeof *groups);
    if (names && groups && count) {
        const pl_mesh_text *group_texts = build->groups.texts.data;
        for (size_t g = 0; g < all; g++)
            if (numbers[g] >= 0)
                names[numbers[g]] = texts + group_texts[g].start;
        const pl_mesh_run *runs = build->runs.data;
        for (size_t r = 0; r < build->runs.count; r++)
            for (size_t t = runs[r].first_triangle; t < run_end(build, r); t++)
                groups[t] = numbers[runs[r].group];
        look->group_count = count;
        look->group_names = names;
        look->triangle_groups = groups;
    }
    pl_memory_free(build->memory, numbers);
    return names && groups;
}

static bool hand_over_materials(pl_mesh_build *build, const char *texts, pl_look *look)
{
    pl_look_material *materials = build->materials.data;
    const pl_mesh_text *names = build->material_names.texts.data;
    for (size_t m = 0; m < build->materials.count; m++)
        materials[m].name = texts + names[m].start;
    look->material_count = (int)build->materials.count;
    if (!hand_over(build, &build->materials, &look->materials))
        return false;
    if (look->material_count < 2)
        return true;
    int32_t *of = pl_mesh_owner_alloc(build->owner, build->triangles.count, sizeof *of);
    const pl_mesh_run *runs = build->runs.data;
    for (size_t r = 0; of && r < build->runs.count; r++)
        for (size_t t = runs[r].first_triangle; t < run_end(build, r); t++)
            of[t] = runs[r].material;
    look->triangle_materials = of;
    return of != NULL;
}

static bool hand_over_images(pl_mesh_build *build, const char *texts, pl_look *look)
{
    size_t count = build->images.count;
    if (!count)
        return true;
    const pl_mesh_build_image *from = build->images.data;
    pl_image *images = pl_mesh_owner_alloc(build->owner, count, sizeof *images);
    if (!images)
        return false;
    for (size_t i = 0; i < count; i++)
        images[i] = (pl_image){texts + from[i].name.start, texts + from[i].mime.start,
                               from[i].bytes, from[i].size};
    look->image_count = (int)count;
    look->images = images;
    return true;
}

static bool hand_over_look(pl_mesh_build *build, pl_look *look)
{
    if (!add_first_run(build) || !add_defaults(build))
        return false;
    const char *texts = NULL;
    if (!hand_over(build, &build->texts, &texts))
        return false;
    return (!build->groups.texts.count || hand_over_groups(build, texts, look)) &&
           hand_over_materials(build, texts, look) && hand_over_images(build, texts, look) &&
           hand_over_attributes(build, look);
}

/* ---- The whole ------------------------------------------------------------------------------- */

pl_status pl_mesh_build_finish(pl_mesh_build *build, const char *name, pl_mesh *mesh,
                               pl_error *error)
{
    *mesh = (pl_mesh){0};
    PL_TRY(check(build, name, error));
    pl_mesh made = {0};
    if (!pl_mesh_split_seams(build) || !fill_uv_gaps(build) || !pl_mesh_mend_attributes(build) ||
        !hand_over_look(build, &made.look) || !hand_over_shapes(build, &made))
        return pl_mesh_build_no_memory(build, name, error);
    made.owner = build->owner;
    build->memory->limit = 0;
    /* The arrays' memory is the owner's, which is the mesh's from now on: free what is scratch
       first. */
    build->owner = NULL;
    *mesh = made;
    pl_mesh_build_free(build);
    return PL_OK;
}
