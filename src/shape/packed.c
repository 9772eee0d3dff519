/* Writes a model as bytes (packed.h): first the list of its arrays, then header, table and sections
   from it. */
#include "shape/packed.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

pl_packed_element pl_packed_element_of(uint64_t kind)
{
    static const pl_packed_element elements[PL_PACKED_KINDS] = {
        [PL_PACKED_FACTS] = {sizeof(pl_packed_facts), 8, "facts"},
        [PL_PACKED_REST] = {12, 4, "rest positions"},
        [PL_PACKED_ORIENTATION] = {16, 4, "orientations"},
        [PL_PACKED_RADII] = {12, 4, "radii"},
        [PL_PACKED_EDGES] = {8, 4, "edges"},
        [PL_PACKED_ORDER] = {4, 4, "order of colours"},
        [PL_PACKED_COLOUR_START] = {4, 4, "colours"},
        [PL_PACKED_ELIMINATION] = {4, 4, "elimination order"},
        [PL_PACKED_VERTICES] = {12, 4, "vertices"},
        [PL_PACKED_INFLUENCES] = {4, 4, "influences"},
        [PL_PACKED_WEIGHTS] = {4, 4, "weights"},
        [PL_PACKED_TRIANGLES] = {12, 4, "triangles"},
        [PL_PACKED_NORMALS] = {12, 4, "normals"},
        [PL_PACKED_TANGENTS] = {16, 4, "tangents"},
        [PL_PACKED_COLOURS] = {16, 4, "vertex colours"},
        [PL_PACKED_TRIANGLE_MATERIALS] = {4, 4, "materials of triangles"},
        [PL_PACKED_TRIANGLE_GROUPS] = {4, 4, "groups of triangles"},
        [PL_PACKED_MATERIALS] = {sizeof(pl_packed_material), 4, "materials"},
        [PL_PACKED_IMAGES] = {sizeof(pl_packed_image), 8, "images"},
        [PL_PACKED_GROUPS] = {sizeof(pl_packed_text), 4, "groups"},
        [PL_PACKED_STRINGS] = {1, 1, "strings"},
        [PL_PACKED_PICTURES] = {1, 1, "pictures"},
        [PL_PACKED_TET_POINTS] = {12, 4, "corners of tetrahedra"},
        [PL_PACKED_TETS] = {16, 4, "tetrahedra"},
        [PL_PACKED_VERTEX_TETS] = {4, 4, "tetrahedra of vertices"},
        [PL_PACKED_VERTEX_BARYCENTRIC] = {16, 4, "coordinates in tetrahedra"},
        [PL_PACKED_CLUSTER_START] = {4, 4, "clusters"},
        [PL_PACKED_CLUSTER_MEMBERS] = {4, 4, "members of clusters"},
        [PL_PACKED_CLUSTER_WEIGHTS] = {4, 4, "weights of members"},
        [PL_PACKED_CLUSTER_RADII] = {4, 4, "radii of clusters"},
    };
    if (kind >= PL_PACKED_UVS && kind < PL_PACKED_UVS + PL_MAX_UV_SETS)
        return (pl_packed_element){8, 4, "UVs"};
    return kind < PL_PACKED_KINDS ? elements[kind] : (pl_packed_element){0, 0, NULL};
}

void pl_packed_turn(void *bytes, size_t size, size_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    unsigned char *b = bytes;
    for (size_t at = 0; word > 1 && at + word <= size; at += word)
        for (size_t i = 0; i < word / 2; i++) {
            unsigned char swap = b[at + i];
            b[at + i] = b[at + word - 1 - i];
            b[at + word - 1 - i] = swap;
        }
#else
    (void)bytes;
    (void)size;
    (void)word;
#endif
}

uint64_t pl_packed_hash(const void *bytes, size_t size)
{
    static const char zeros[8] = {0};
    size_t at = offsetof(pl_packed_header, hash);
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_update(&hash, bytes, at);
    pl_hash_update(&hash, zeros, sizeof zeros);
    pl_hash_update(&hash, (const char *)bytes + at + sizeof zeros, size - at - sizeof zeros);
    return pl_hash_final(&hash);
}

void pl_packed_seal(void *bytes, size_t size)
{
    uint64_t hash = pl_packed_hash(bytes, size);
    pl_packed_turn(&hash, sizeof hash, sizeof hash);
    memcpy((char *)bytes + offsetof(pl_packed_header, hash), &hash, sizeof hash);
}

static size_t aligned(size_t size)
{
    return (size + PL_PACKED_ALIGNMENT - 1) / PL_PACKED_ALIGNMENT * PL_PACKED_ALIGNMENT;
}

/* ---- The list of arrays ---------------------------------------------------------------------- */

/* Tables of the look have no array in the model that could be copied: `data` is NULL. */
typedef struct part {
    pl_packed_kind kind;
    size_t count;
    const void *data;
} part;

typedef struct list {
    int count;
    part parts[PL_PACKED_KINDS];
} list;

static void add(list *l, int kind, size_t count, const void *data)
{
    if (count > 0)
        l->parts[l->count++] = (part){(pl_packed_kind)kind, count, data};
}

static size_t string_bytes(const pl_look *look)
{
    size_t sum = 0;
    for (int i = 0; i < look->material_count; i++)
        sum += strlen(look->materials[i].name) + 1;
    for (int i = 0; i < look->image_count; i++)
        sum += strlen(look->images[i].name) + strlen(look->images[i].mime) + 2;
    for (int i = 0; i < look->group_count; i++)
        sum += strlen(look->group_names[i]) + 1;
    return sum;
}

static size_t picture_bytes(const pl_look *look)
{
    size_t sum = 0;
    for (int i = 0; i < look->image_count; i++)
        sum += look->images[i].bytes ? look->images[i].size : 0;
    return sum;
}

static void list_look(list *l, const pl_model *model)
{
    const pl_look *look = &model->look;
    size_t v = (size_t)model->vertex_count, t = (size_t)model->triangle_count;
    add(l, PL_PACKED_TANGENTS, model->tangents ? v : 0, model->tangents);
    add(l, PL_PACKED_COLOURS, look->colours ? v : 0, look->colours);
    for (int k = 0; k < look->uv_set_count; k++)
        add(l, PL_PACKED_UVS + k, v, look->uvs[k]);
    add(l, PL_PACKED_TRIANGLE_MATERIALS, look->triangle_materials ? t : 0,
        look->triangle_materials);
    add(l, PL_PACKED_TRIANGLE_GROUPS, look->triangle_groups ? t : 0, look->triangle_groups);
    add(l, PL_PACKED_MATERIALS, (size_t)look->material_count, NULL);
    add(l, PL_PACKED_IMAGES, (size_t)look->image_count, NULL);
    add(l, PL_PACKED_GROUPS, (size_t)look->group_count, NULL);
    add(l, PL_PACKED_STRINGS, string_bytes(look), NULL);
    add(l, PL_PACKED_PICTURES, picture_bytes(look), NULL);
}

static list list_parts(const pl_model *model)
{
    list l = {0};
    size_t n = (size_t)model->particle_count, v = (size_t)model->vertex_count;
    size_t tet_vertices = model->tet_count ? v : 0;
    add(&l, PL_PACKED_FACTS, 1, NULL);
    add(&l, PL_PACKED_REST, n, model->rest);
    add(&l, PL_PACKED_ORIENTATION, n, model->orientation);
    add(&l, PL_PACKED_RADII, n, model->radii);
    add(&l, PL_PACKED_EDGES, (size_t)model->edge_count, model->edges);
    add(&l, PL_PACKED_ORDER, n, model->order);
    add(&l, PL_PACKED_COLOUR_START, (size_t)model->colour_count + 1, model->colour_start);
    add(&l, PL_PACKED_ELIMINATION, n, model->symbolic->perm);
    add(&l, PL_PACKED_VERTICES, v, model->vertices);
    add(&l, PL_PACKED_INFLUENCES, v * (size_t)model->influence_count, model->influences);
    add(&l, PL_PACKED_WEIGHTS, v * (size_t)model->influence_count, model->weights);
    add(&l, PL_PACKED_TRIANGLES, (size_t)model->triangle_count, model->triangles);
    add(&l, PL_PACKED_NORMALS, v, model->normals);
    list_look(&l, model);
    add(&l, PL_PACKED_TET_POINTS, (size_t)model->tet_point_count, model->tet_points);
    add(&l, PL_PACKED_TETS, (size_t)model->tet_count, model->tets);
    add(&l, PL_PACKED_VERTEX_TETS, tet_vertices, model->vertex_tet);
    add(&l, PL_PACKED_VERTEX_BARYCENTRIC, tet_vertices, model->vertex_barycentric);
    if (model->cluster_count) {
        size_t count = (size_t)model->cluster_count, members = (size_t)model->cluster_start[count];
        add(&l, PL_PACKED_CLUSTER_START, count + 1, model->cluster_start);
        add(&l, PL_PACKED_CLUSTER_MEMBERS, members, model->cluster_members);
        add(&l, PL_PACKED_CLUSTER_WEIGHTS, members, model->cluster_weights);
        add(&l, PL_PACKED_CLUSTER_RADII, count, model->cluster_radii);
    }
    return l;
}

static size_t part_size(const part *p)
{
    return p->count * pl_packed_element_of(p->kind).size;
}

static size_t total_size(const list *l)
{
    size_t size = aligned(PL_PACKED_HEADER + (size_t)l->count * sizeof(pl_packed_entry));
    for (int i = 0; i < l->count; i++)
        size += aligned(part_size(&l->parts[i]));
    return size;
}

/* ---- Sections that are made, not copied ------------------------------------------------------ */

static void write_facts(const pl_model *model, char *out)
{
    pl_packed_facts facts = {.particle_count = (uint64_t)model->particle_count,
                             .edge_count = (uint64_t)model->edge_count,
                             .vertex_count = (uint64_t)model->vertex_count,
                             .triangle_count = (uint64_t)model->triangle_count,
                             .influence_count = (uint64_t)model->influence_count,
                             .colour_count = (uint64_t)model->colour_count,
                             .dimension = (uint64_t)model->dimension,
                             .tet_point_count = (uint64_t)model->tet_point_count,
                             .tet_count = (uint64_t)model->tet_count,
                             .uv_set_count = (uint64_t)model->look.uv_set_count,
                             .material_count = (uint64_t)model->look.material_count,
                             .image_count = (uint64_t)model->look.image_count,
                             .group_count = (uint64_t)model->look.group_count,
                             .has_normals = model->look.normals != NULL,
                             .unit = model->unit,
                             .spacing = model->spacing,
                             .volume = model->volume};
    memcpy(facts.centre, model->centre, sizeof facts.centre);
    memcpy(out, &facts, sizeof facts);
}

/* Texts go into the strings in the order materials, images, groups; `at` is where the next one
   starts. */
static pl_packed_text next_text(const char *text, size_t *at)
{
    pl_packed_text place = {(uint32_t)*at, (uint32_t)strlen(text)};
    *at += (size_t)place.length + 1;
    return place;
}

static void write_materials(const pl_look *look, char *out, size_t *text_at)
{
    for (int i = 0; i < look->material_count; i++) {
        const pl_look_material *m = &look->materials[i];
        pl_packed_material record = {.name = next_text(m->name, text_at),
                                     .metal = m->metal,
                                     .roughness = m->roughness,
                                     .cutoff = m->cutoff,
                                     .two_sided = m->two_sided,
                                     .alpha = m->alpha};
        memcpy(record.colour, m->colour, sizeof record.colour);
        memcpy(record.emission, m->emission, sizeof record.emission);
        for (int k = 0; k < PL_TEXTURE_KINDS; k++) {
            record.textures[k] = m->textures[k];
            record.texture_uvs[k] = m->texture_uvs[k];
        }
        memcpy(out + (size_t)i * sizeof record, &record, sizeof record);
    }
}

static void write_images(const pl_look *look, char *out, size_t *text_at)
{
    size_t picture_at = 0;
    for (int i = 0; i < look->image_count; i++) {
        const pl_image *image = &look->images[i];
        pl_packed_text name = next_text(image->name, text_at);
        pl_packed_text mime = next_text(image->mime, text_at);
        pl_packed_image record = {.name = name.offset,
                                  .name_length = name.length,
                                  .mime = mime.offset,
                                  .mime_length = mime.length,
                                  .embedded = image->bytes != NULL,
                                  .offset = picture_at,
                                  .size = image->bytes ? image->size : 0};
        picture_at += record.size;
        memcpy(out + (size_t)i * sizeof record, &record, sizeof record);
    }
}

static void write_groups(const pl_look *look, char *out, size_t *text_at)
{
    for (int i = 0; i < look->group_count; i++) {
        pl_packed_text name = next_text(look->group_names[i], text_at);
        memcpy(out + (size_t)i * sizeof name, &name, sizeof name);
    }
}

static char *append(char *out, const void *bytes, size_t size)
{
    if (size)
        memcpy(out, bytes, size);
    return out + size;
}

static void write_strings(const pl_look *look, char *out)
{
    for (int i = 0; i < look->material_count; i++)
        out = append(out, look->materials[i].name, strlen(look->materials[i].name) + 1);
    for (int i = 0; i < look->image_count; i++) {
        out = append(out, look->images[i].name, strlen(look->images[i].name) + 1);
        out = append(out, look->images[i].mime, strlen(look->images[i].mime) + 1);
    }
    for (int i = 0; i < look->group_count; i++)
        out = append(out, look->group_names[i], strlen(look->group_names[i]) + 1);
}

static void write_pictures(const pl_look *look, char *out)
{
    for (int i = 0; i < look->image_count; i++)
        if (look->images[i].bytes)
            out = append(out, look->images[i].bytes, look->images[i].size);
}

static void write_part(const pl_model *model, const part *p, char *out, size_t *text_at)
{
    pl_packed_element element = pl_packed_element_of(p->kind);
    if (p->data)
        memcpy(out, p->data, p->count * element.size);
    else if (p->kind == PL_PACKED_FACTS)
        write_facts(model, out);
    else if (p->kind == PL_PACKED_MATERIALS)
        write_materials(&model->look, out, text_at);
    else if (p->kind == PL_PACKED_IMAGES)
        write_images(&model->look, out, text_at);
    else if (p->kind == PL_PACKED_GROUPS)
        write_groups(&model->look, out, text_at);
    else if (p->kind == PL_PACKED_STRINGS)
        write_strings(&model->look, out);
    else
        write_pictures(&model->look, out);
    pl_packed_turn(out, p->count * element.size, element.word);
}

/* ---- Interface ------------------------------------------------------------------------------- */

size_t pl_model_pack_size(const pl_model *model)
{
    list l = list_parts(model);
    return total_size(&l);
}

pl_status pl_model_pack(const pl_model *model, void *bytes, size_t capacity, pl_error *error)
{
    list l = list_parts(model);
    size_t size = total_size(&l), text_at = 0;
    PL_REQUIRE(bytes, PL_ERROR_ARGUMENT, error, "bytes", "is NULL; it must hold %zu bytes", size);
    PL_REQUIRE(capacity >= size, PL_ERROR_ARGUMENT, error, "capacity",
               "is %zu bytes; the model needs %zu", capacity, size);
    PL_CHECK(string_bytes(&model->look) < UINT32_MAX, PL_ERROR_ARGUMENT, error, "look",
             "has names of 4 GB or more; a packed model holds less");
    char *out = bytes;
    size_t at = aligned(PL_PACKED_HEADER + (size_t)l.count * sizeof(pl_packed_entry));
    memset(out, 0, size);
    for (int i = 0; i < l.count; i++) {
        pl_packed_entry entry = {l.parts[i].kind, at, part_size(&l.parts[i]), l.parts[i].count};
        write_part(model, &l.parts[i], out + at, &text_at);
        pl_packed_turn(&entry, sizeof entry, 8);
        memcpy(out + PL_PACKED_HEADER + (size_t)i * sizeof entry, &entry, sizeof entry);
        at += aligned(part_size(&l.parts[i]));
    }
    pl_packed_header header = {{0}, PL_PACKED_VERSION, (uint64_t)l.count, size, 0};
    pl_packed_turn((char *)&header + 8, sizeof header - 8, 8);
    memcpy(header.magic, PL_PACKED_MAGIC, sizeof header.magic);
    memcpy(out, &header, sizeof header);
    pl_packed_seal(out, size);
    return PL_OK;
}
