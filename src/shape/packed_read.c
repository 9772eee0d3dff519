/* A model from packed bytes (packed.h), which may be anything: header, hash, table, then every
   count, index and number. Arrays stay where they are in the block; what can be derived in linear
   time is derived. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "shape/check.h"
#include "shape/graph.h"
#include "shape/look.h"
#include "shape/model_parts.h"
#include "shape/packed.h"
#include "shape/packed_check.h"

#define FAIL_UNLESS(condition, error, where, ...)                                                  \
    PL_CHECK(condition, PL_ERROR_FORMAT, error, where, __VA_ARGS__)

/* ---- Header and table ------------------------------------------------------------------------ */

typedef struct reading {
    char *bytes;
    size_t size;
    char *parts[PL_PACKED_KINDS]; /* NULL = not there */
    size_t counts[PL_PACKED_KINDS];
    pl_packed_facts facts;
    pl_model *model;
} reading;

static pl_status read_header(const reading *r, pl_packed_header *header, pl_error *error)
{
    FAIL_UNLESS(r->size >= PL_PACKED_HEADER &&
                    memcmp(r->bytes, PL_PACKED_MAGIC, sizeof header->magic) == 0,
                error, "byte 0", "is not the beginning of a model; 'pliant cook' makes them");
    memcpy(header, r->bytes, sizeof *header);
    pl_packed_turn((char *)header + 8, sizeof *header - 8, 8);
    FAIL_UNLESS(header->version == PL_PACKED_VERSION, error, "byte 8",
                "the model has format version %llu, this program reads version %d; cook it again",
                (unsigned long long)header->version, PL_PACKED_VERSION);
    FAIL_UNLESS(header->size == r->size, error, "byte 24",
                "the model should be %llu bytes long and has %zu; it was cut short or damaged",
                (unsigned long long)header->size, r->size);
    FAIL_UNLESS(header->hash == pl_packed_hash(r->bytes, r->size), error, "byte 32",
                "the content does not fit its hash; the model was damaged");
    FAIL_UNLESS(header->section_count < PL_PACKED_KINDS, error, "byte 16",
                "the model claims %llu sections; there are %d kinds",
                (unsigned long long)header->section_count, PL_PACKED_KINDS - 1);
    return PL_OK;
}

static pl_status read_entry(reading *r, size_t index, size_t *at, pl_error *error)
{
    pl_packed_entry entry;
    size_t place = PL_PACKED_HEADER + index * sizeof entry;
    memcpy(&entry, r->bytes + place, sizeof entry);
    pl_packed_turn(&entry, sizeof entry, 8);
    pl_packed_element element = pl_packed_element_of(entry.kind);
    FAIL_UNLESS(element.size > 0, error, PL_WHERE("byte %zu", place),
                "the section has the unknown kind %llu", (unsigned long long)entry.kind);
    FAIL_UNLESS(!r->parts[entry.kind], error, PL_WHERE("byte %zu", place), "a second section of %s",
                element.name);
    FAIL_UNLESS(entry.offset % PL_PACKED_ALIGNMENT == 0 && entry.offset >= *at &&
                    entry.offset <= r->size && entry.size <= r->size - entry.offset,
                error, PL_WHERE("byte %zu", place), "the section of %s does not lie in the model",
                element.name);
    FAIL_UNLESS(entry.size / element.size == entry.count && entry.size % element.size == 0, error,
                PL_WHERE("byte %zu", place), "the section of %s has %llu bytes for %llu elements",
                element.name, (unsigned long long)entry.size, (unsigned long long)entry.count);
    r->parts[entry.kind] = r->bytes + entry.offset;
    r->counts[entry.kind] = (size_t)entry.count;
    pl_packed_turn(r->bytes + entry.offset, (size_t)entry.size, element.word);
    *at = (size_t)(entry.offset + entry.size);
    return PL_OK;
}

static pl_status read_table(reading *r, pl_error *error)
{
    pl_packed_header header;
    PL_TRY(read_header(r, &header, error));
    size_t at = PL_PACKED_HEADER + (size_t)header.section_count * sizeof(pl_packed_entry);
    FAIL_UNLESS(at <= r->size, error, "byte 16", "the table of sections does not fit");
    for (size_t i = 0; i < (size_t)header.section_count; i++)
        PL_TRY(read_entry(r, i, &at, error));
    return PL_OK;
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* The array of a kind with as many elements as it must have; somewhere in the block where that is
   none. */
static pl_status take(const reading *r, int kind, size_t count, void *array, pl_error *error)
{
    FAIL_UNLESS(r->counts[kind] == count, error, pl_packed_element_of((uint64_t)kind).name,
                "there are %zu, and should be %zu", r->counts[kind], count);
    const char *place = count ? r->parts[kind] : r->bytes;
    memcpy(array, &place, sizeof place);
    return PL_OK;
}

/* The same for what may be absent. */
static pl_status take_if_there(const reading *r, int kind, size_t count, void *array,
                               pl_error *error)
{
    return r->parts[kind] && (count || r->counts[kind]) ? take(r, kind, count, array, error)
                                                        : PL_OK;
}

static pl_status to_count(uint64_t value, int least, const char *name, int *out, pl_error *error)
{
    FAIL_UNLESS(value >= (uint64_t)least && value <= PL_MAX_MODEL_COUNT, error, name,
                "is %llu; it must be from %d to %d", (unsigned long long)value, least,
                PL_MAX_MODEL_COUNT);
    *out = (int)value;
    return PL_OK;
}

static pl_status read_counts(const pl_packed_facts *facts, pl_model *model, pl_error *error)
{
    PL_TRY(to_count(facts->particle_count, 1, "particle_count", &model->particle_count, error));
    PL_TRY(to_count(facts->edge_count, 0, "edge_count", &model->edge_count, error));
    PL_TRY(to_count(facts->vertex_count, 0, "vertex_count", &model->vertex_count, error));
    PL_TRY(to_count(facts->triangle_count, 0, "triangle_count", &model->triangle_count, error));
    PL_TRY(to_count(facts->colour_count, 1, "colour_count", &model->colour_count, error));
    PL_TRY(to_count(facts->tet_point_count, 0, "tet_point_count", &model->tet_point_count, error));
    PL_TRY(to_count(facts->tet_count, 0, "tet_count", &model->tet_count, error));
    bool skinned = model->vertex_count > 0;
    FAIL_UNLESS(facts->influence_count <= PL_MAX_INFLUENCES &&
                    (facts->influence_count > 0) == skinned,
                error, "influence_count", "is %llu; it must be from 1 to %d, or 0 without vertices",
                (unsigned long long)facts->influence_count, PL_MAX_INFLUENCES);
    model->influence_count = (int)facts->influence_count;
    FAIL_UNLESS(facts->dimension >= 1 && facts->dimension <= 3, error, "dimension",
                "is %llu; it must be 1, 2 or 3", (unsigned long long)facts->dimension);
    model->dimension = (int)facts->dimension;
    FAIL_UNLESS((model->tet_point_count > 0) == (model->tet_count > 0), error, "tet_count",
                "is %d with %d corners", model->tet_count, model->tet_point_count);
    return PL_OK;
}

static pl_status read_facts(reading *r, pl_error *error)
{
    pl_model *model = r->model;
    const void *section = NULL;
    PL_TRY(take(r, PL_PACKED_FACTS, 1, &section, error));
    memcpy(&r->facts, section, sizeof r->facts);
    PL_TRY(read_counts(&r->facts, model, error));
    model->unit = r->facts.unit;
    model->spacing = r->facts.spacing;
    model->volume = r->facts.volume;
    memcpy(model->centre, r->facts.centre, sizeof model->centre);
    return pl_packed_check_scale(model, error);
}

static pl_status take_particles(const reading *r, const int32_t **elimination, pl_error *error)
{
    pl_model *model = r->model;
    size_t n = (size_t)model->particle_count;
    PL_TRY(take(r, PL_PACKED_REST, n, &model->rest, error));
    PL_TRY(take(r, PL_PACKED_ORIENTATION, n, &model->orientation, error));
    PL_TRY(take(r, PL_PACKED_RADII, n, &model->radii, error));
    PL_TRY(take(r, PL_PACKED_EDGES, (size_t)model->edge_count, &model->edges, error));
    PL_TRY(take(r, PL_PACKED_ORDER, n, &model->order, error));
    PL_TRY(take(r, PL_PACKED_COLOUR_START, (size_t)model->colour_count + 1, &model->colour_start,
                error));
    return take(r, PL_PACKED_ELIMINATION, n, elimination, error);
}

static pl_status take_surface(const reading *r, pl_error *error)
{
    pl_model *model = r->model;
    size_t v = (size_t)model->vertex_count, w = v * (size_t)model->influence_count;
    PL_TRY(take(r, PL_PACKED_VERTICES, v, &model->vertices, error));
    PL_TRY(take(r, PL_PACKED_INFLUENCES, w, &model->influences, error));
    PL_TRY(take(r, PL_PACKED_WEIGHTS, w, &model->weights, error));
    PL_TRY(take(r, PL_PACKED_TRIANGLES, (size_t)model->triangle_count, &model->triangles, error));
    PL_TRY(take(r, PL_PACKED_NORMALS, v, &model->normals, error));
    PL_TRY(take_if_there(r, PL_PACKED_TANGENTS, v, &model->tangents, error));
    size_t tet_vertices = model->tet_count ? v : 0;
    PL_TRY(
        take(r, PL_PACKED_TET_POINTS, (size_t)model->tet_point_count, &model->tet_points, error));
    PL_TRY(take(r, PL_PACKED_TETS, (size_t)model->tet_count, &model->tets, error));
    PL_TRY(take(r, PL_PACKED_VERTEX_TETS, tet_vertices, &model->vertex_tet, error));
    PL_TRY(take(r, PL_PACKED_VERTEX_BARYCENTRIC, tet_vertices, &model->vertex_barycentric, error));
    if (model->tet_count == 0) {
        model->tet_points = model->vertex_barycentric = NULL;
        model->tets = model->vertex_tet = NULL;
    }
    return PL_OK;
}

static pl_status take_clusters(const reading *r, pl_error *error)
{
    pl_model *model = r->model;
    size_t starts = r->counts[PL_PACKED_CLUSTER_START];
    if (starts == 0)
        return PL_OK;
    FAIL_UNLESS(starts > 1 && starts <= PL_MAX_MODEL_COUNT, error, "clusters",
                "there are %zu places where one begins; one more than clusters is right", starts);
    PL_TRY(take(r, PL_PACKED_CLUSTER_START, starts, &model->cluster_start, error));
    int32_t members = model->cluster_start[starts - 1];
    FAIL_UNLESS(members > 0, error, "clusters", "have %d members", (int)members);
    PL_TRY(take(r, PL_PACKED_CLUSTER_MEMBERS, (size_t)members, &model->cluster_members, error));
    PL_TRY(take(r, PL_PACKED_CLUSTER_WEIGHTS, (size_t)members, &model->cluster_weights, error));
    PL_TRY(take(r, PL_PACKED_CLUSTER_RADII, starts - 1, &model->cluster_radii, error));
    model->cluster_count = (int)starts - 1;
    return pl_model_check_clusters(model, error);
}

/* ---- The look -------------------------------------------------------------------------------- */

/* A text of the strings: in range, and ended by a zero. */
static pl_status find_text(const reading *r, uint64_t offset, uint64_t length, const char **text,
                           pl_error *error)
{
    size_t count = r->counts[PL_PACKED_STRINGS];
    const char *strings = r->parts[PL_PACKED_STRINGS];
    FAIL_UNLESS(strings && offset < count && length < count - offset, error, "strings",
                "a name lies outside of them");
    FAIL_UNLESS(!memchr(strings + offset, 0, (size_t)length) && strings[offset + length] == 0,
                error, "strings", "a name is not as long as it claims");
    *text = strings + offset;
    return PL_OK;
}

static pl_status read_material(const reading *r, int index, pl_look_material *out, pl_error *error)
{
    pl_packed_material record;
    memcpy(&record, r->parts[PL_PACKED_MATERIALS] + (size_t)index * sizeof record, sizeof record);
    PL_TRY(find_text(r, record.name.offset, record.name.length, &out->name, error));
    memcpy(out->colour, record.colour, sizeof out->colour);
    memcpy(out->emission, record.emission, sizeof out->emission);
    out->metal = record.metal;
    out->roughness = record.roughness;
    out->cutoff = record.cutoff;
    out->two_sided = record.two_sided != 0;
    out->alpha = record.alpha;
    for (int k = 0; k < PL_TEXTURE_KINDS; k++) {
        out->textures[k] = record.textures[k];
        out->texture_uvs[k] = record.texture_uvs[k];
    }
    const float *numbers[] = {out->colour, out->emission, &out->metal, &out->roughness,
                              &out->cutoff};
    static const size_t counts[] = {4, 3, 1, 1, 1};
    for (int k = 0; k < 5; k++)
        FAIL_UNLESS(pl_packed_are_finite(numbers[k], counts[k]), error,
                    PL_WHERE("materials[%d]", index), "has numbers that are not finite");
    return PL_OK;
}

static pl_status read_image(const reading *r, int index, pl_image *out, pl_error *error)
{
    pl_packed_image record;
    size_t count = r->counts[PL_PACKED_PICTURES];
    memcpy(&record, r->parts[PL_PACKED_IMAGES] + (size_t)index * sizeof record, sizeof record);
    PL_TRY(find_text(r, record.name, record.name_length, &out->name, error));
    PL_TRY(find_text(r, record.mime, record.mime_length, &out->mime, error));
    if (!record.embedded)
        return PL_OK;
    FAIL_UNLESS(record.offset <= count && record.size <= count - record.offset, error,
                PL_WHERE("images[%d]", index), "lies outside of the pictures");
    /* An image of no bytes is still there; the name's end is as good a place as any. */
    out->bytes = record.size ? (const uint8_t *)r->parts[PL_PACKED_PICTURES] + record.offset
                             : (const uint8_t *)out->name;
    out->size = (size_t)record.size;
    return PL_OK;
}

/* The tables hold pointers, so they are made anew: materials, images and names of groups in one
   block. */
static pl_status read_tables(const reading *r, pl_error *error)
{
    pl_model *model = r->model;
    pl_look *look = &model->look;
    size_t sizes[3] = {(size_t)look->material_count * sizeof *look->materials,
                       (size_t)look->image_count * sizeof *look->images,
                       (size_t)look->group_count * sizeof *look->group_names};
    if (sizes[0] + sizes[1] + sizes[2] == 0)
        return PL_OK;
    model->look_block = pl_memory_alloc(&model->memory, sizes[0] + sizes[1] + sizes[2], 1);
    PL_CHECK(model->look_block, PL_ERROR_MEMORY, error, NULL, "no memory for the look of a model");
    pl_look_material *materials = model->look_block;
    pl_image *images = (pl_image *)((char *)model->look_block + sizes[0]);
    const char **names = (const char **)((char *)images + sizes[1]);
    look->materials = look->material_count ? materials : NULL;
    look->images = look->image_count ? images : NULL;
    look->group_names = look->group_count ? names : NULL;
    for (int i = 0; i < look->material_count; i++)
        PL_TRY(read_material(r, i, &materials[i], error));
    for (int i = 0; i < look->image_count; i++)
        PL_TRY(read_image(r, i, &images[i], error));
    for (int i = 0; i < look->group_count; i++) {
        pl_packed_text text;
        memcpy(&text, r->parts[PL_PACKED_GROUPS] + (size_t)i * sizeof text, sizeof text);
        PL_TRY(find_text(r, text.offset, text.length, &names[i], error));
    }
    return PL_OK;
}

static pl_status read_look_counts(const reading *r, pl_look *look, pl_error *error)
{
    PL_TRY(to_count(r->facts.material_count, 0, "material_count", &look->material_count, error));
    PL_TRY(to_count(r->facts.image_count, 0, "image_count", &look->image_count, error));
    PL_TRY(to_count(r->facts.group_count, 0, "group_count", &look->group_count, error));
    FAIL_UNLESS(r->facts.uv_set_count <= PL_MAX_UV_SETS, error, "uv_set_count",
                "is %llu; there may be %d", (unsigned long long)r->facts.uv_set_count,
                PL_MAX_UV_SETS);
    look->uv_set_count = r->model->vertex_count ? (int)r->facts.uv_set_count : 0;
    const void *unused = NULL;
    PL_TRY(take(r, PL_PACKED_MATERIALS, (size_t)look->material_count, &unused, error));
    PL_TRY(take(r, PL_PACKED_IMAGES, (size_t)look->image_count, &unused, error));
    return take(r, PL_PACKED_GROUPS, (size_t)look->group_count, &unused, error);
}

static pl_status read_look(const reading *r, pl_error *error)
{
    pl_model *model = r->model;
    pl_look *look = &model->look;
    size_t v = (size_t)model->vertex_count, t = (size_t)model->triangle_count;
    PL_TRY(read_look_counts(r, look, error));
    PL_TRY(take_if_there(r, PL_PACKED_COLOURS, v, &look->colours, error));
    for (int k = 0; k < look->uv_set_count; k++)
        PL_TRY(take(r, PL_PACKED_UVS + k, v, &look->uvs[k], error));
    PL_TRY(take_if_there(r, PL_PACKED_TRIANGLE_MATERIALS, t, &look->triangle_materials, error));
    PL_TRY(take_if_there(r, PL_PACKED_TRIANGLE_GROUPS, t, &look->triangle_groups, error));
    PL_TRY(read_tables(r, error));
    look->normals = r->facts.has_normals && v > 0 ? model->normals : NULL;
    look->tangents = model->tangents;
    FAIL_UNLESS(!look->colours || pl_packed_are_finite(look->colours, 4 * v), error, "colours",
                "are not all finite");
    for (int k = 0; k < look->uv_set_count; k++)
        FAIL_UNLESS(v == 0 || pl_packed_are_finite(look->uvs[k], 2 * v), error, "uvs",
                    "are not all finite");
    return pl_look_check(look, model->vertex_count, model->triangle_count, error);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static pl_status unpack(reading *r, pl_error *error)
{
    pl_model *model = r->model;
    const int32_t *elimination = NULL;
    PL_TRY(read_table(r, error));
    PL_TRY(read_facts(r, error));
    PL_TRY(take_particles(r, &elimination, error));
    PL_TRY(take_surface(r, error));
    PL_TRY(take_clusters(r, error));
    PL_TRY(pl_packed_check_particles(model, error));
    PL_TRY(pl_packed_check_surface(model, error));
    PL_TRY(read_look(r, error));
    PL_CHECK(pl_model_allocate_derived(model), PL_ERROR_MEMORY, error, NULL,
             "no memory for a model of %d particles and %d edges", model->particle_count,
             model->edge_count);
    PL_TRY(pl_graph_connect(model, true, error));
    PL_TRY(pl_model_derive(model, error));
    PL_TRY(pl_graph_check_colours(model, error));
    if (model->tet_count > 0)
        PL_TRY(pl_model_check_tets(model, error));
    PL_TRY(pl_packed_check_fill(model, elimination, error));
    PL_TRY(pl_model_analyse(model, elimination, error));
    model->hash = pl_model_hash_content(model);
    return PL_OK;
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status adopt(const pl_memory *memory, char *block, size_t size,
                                                 pl_model **out, pl_error *error)
{
    pl_model *model = pl_model_allocate(memory);
    if (!model) {
        pl_memory counted = *memory;
        pl_memory_free(&counted, block);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for a model");
    }
    model->packed = block;
    model->packed_size = size;
    reading r = {.bytes = block, .size = size, .model = model};
    pl_status status = unpack(&r, error);
    if (status == PL_OK) {
        *out = model;
        return PL_OK;
    }
    pl_model_free(model);
    /* What a definition's checks call an argument is the content of the bytes here. */
    if (status == PL_ERROR_ARGUMENT)
        status = PL_ERROR_FORMAT;
    if (error)
        error->status = status;
    return status;
}

pl_status pl_model_adopt(const pl_memory *memory, char *block, size_t size, pl_model **model,
                         pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = adopt(memory, block, size, model, error);
    pl_float_env_leave(host);
    return status;
}

pl_status pl_model_unpack(const void *bytes, size_t size, const pl_allocator *allocator,
                          pl_model **model, pl_error *error)
{
    PL_REQUIRE(bytes || size == 0, PL_ERROR_ARGUMENT, error, "bytes", "is NULL");
    PL_REQUIRE(model, PL_ERROR_ARGUMENT, error, "model",
               "is NULL; it must be where the model is to be put");
    PL_CHECK(size >= PL_PACKED_HEADER, PL_ERROR_FORMAT, error, "byte 0",
             "%zu bytes are too few for a model", size);
    pl_memory memory;
    pl_memory_init(&memory, allocator, 0);
    char *block = pl_memory_alloc(&memory, size, 1);
    PL_CHECK(block, PL_ERROR_MEMORY, error, NULL, "no memory for the %zu bytes of a model", size);
    memcpy(block, bytes, size);
    return pl_model_adopt(&memory, block, size, model, error);
}
