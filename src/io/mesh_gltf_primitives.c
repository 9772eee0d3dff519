/* Meshes of a glTF document: reads which accessors each primitive is made of, and adds primitives,
   moved to where a node or a skin puts them, to the mesh being built. With the map M of a vertex,
   positions become M p, normals M⁻ᵀ n, tangents M t; where M mirrors, triangles and the handedness
   of tangents turn round. */
#include "io/mesh_gltf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN, MODES };

/* ---- Reading --------------------------------------------------------------------------------- */

/* An attribute has as many elements as the positions and a fixed number of components. */
static pl_status read_attribute(const pl_gltf *gltf, uint32_t json, const char *key, int least,
                                int most, size_t count, int *index)
{
    PL_TRY(pl_gltf_index(gltf, json, key, PL_GLTF_ACCESSORS, index));
    if (*index < 0)
        return PL_OK;
    const pl_gltf_accessor *accessor = &gltf->accessors[*index];
    if (accessor->components < least || accessor->components > most)
        return pl_gltf_fail(gltf, json, "%s must have %d components, not %d", key, least,
                            accessor->components);
    if (accessor->count != count)
        return pl_gltf_fail(gltf, json, "%s has %zu elements, POSITION %zu", key, accessor->count,
                            count);
    return PL_OK;
}

/* "TEXCOORD_" and a digit. */
static pl_status read_numbered(const pl_gltf *gltf, uint32_t json, const char *prefix, int number,
                               int components, size_t count, int *index)
{
    char key[24];
    snprintf(key, sizeof key, "%s%d", prefix, number);
    return read_attribute(gltf, json, key, components, components, count, index);
}

static pl_status read_attributes(const pl_gltf *gltf, uint32_t json, pl_gltf_attributes *out)
{
    PL_TRY(pl_gltf_index(gltf, json, "POSITION", PL_GLTF_ACCESSORS, &out->position));
    if (out->position < 0)
        return PL_OK;
    size_t count = gltf->accessors[out->position].count;
    PL_TRY(read_attribute(gltf, json, "POSITION", 3, 3, count, &out->position));
    PL_TRY(read_attribute(gltf, json, "NORMAL", 3, 3, count, &out->normal));
    PL_TRY(read_attribute(gltf, json, "TANGENT", 4, 4, count, &out->tangent));
    PL_TRY(read_attribute(gltf, json, "COLOR_0", 3, 4, count, &out->colour));
    for (int i = 0; i < PL_MAX_UV_SETS; i++)
        PL_TRY(read_numbered(gltf, json, "TEXCOORD_", i, 2, count, &out->uvs[i]));
    for (int i = 0; i < PL_GLTF_SKIN_SETS; i++) {
        PL_TRY(read_numbered(gltf, json, "JOINTS_", i, 4, count, &out->joints[i]));
        PL_TRY(read_numbered(gltf, json, "WEIGHTS_", i, 4, count, &out->weights[i]));
    }
    return PL_OK;
}

static bool is_compressed(const pl_gltf *gltf, const pl_gltf_primitive *primitive)
{
    uint32_t extensions = pl_json_member(gltf->json, primitive->json, "extensions");
    return extensions && pl_json_member(gltf->json, extensions, "KHR_draco_mesh_compression") &&
           primitive->attributes.position >= 0 &&
           !gltf->accessors[primitive->attributes.position].data;
}

static pl_status read_primitive(const pl_gltf *gltf, uint32_t json, pl_gltf_primitive *out)
{
    uint32_t attributes;
    out->json = json;
    out->mode = TRIANGLES;
    PL_TRY(pl_gltf_member(gltf, json, "attributes", PL_JSON_OBJECT, &attributes));
    PL_TRY(pl_gltf_integer(gltf, json, "mode", &out->mode));
    PL_TRY(pl_gltf_index(gltf, json, "indices", PL_GLTF_ACCESSORS, &out->indices));
    PL_TRY(pl_gltf_index(gltf, json, "material", PL_GLTF_MATERIALS, &out->material));
    if (!attributes)
        return pl_gltf_fail(gltf, json, "attributes are missing");
    if (out->mode >= MODES)
        return pl_gltf_fail(gltf, json, "mode must be 0 to 6, not %d", out->mode);
    if (out->indices >= 0 && !pl_gltf_is_index_accessor(&gltf->accessors[out->indices]))
        return pl_gltf_fail(gltf, json, "indices must be scalars of type 5121, 5123 or 5125");
    PL_TRY(read_attributes(gltf, attributes, &out->attributes));
    if (is_compressed(gltf, out))
        return pl_gltf_fail(gltf, json,
                            "the mesh is compressed (Draco), which is not supported: export it "
                            "without compression");
    return PL_OK;
}

/* The JSON of a mesh's primitives; 0 and a count of 0 if it has none. */
static pl_status find_primitives(const pl_gltf *gltf, int mesh, uint32_t *array, int *count)
{
    PL_TRY(pl_gltf_member(gltf, gltf->tables[PL_GLTF_MESHES].nodes[mesh], "primitives",
                          PL_JSON_ARRAY, array));
    *count = *array ? (int)gltf->json->nodes[*array].as.container.count : 0;
    return PL_OK;
}

pl_status pl_gltf_read_meshes(pl_gltf *gltf)
{
    int mesh_count = gltf->tables[PL_GLTF_MESHES].count, total = 0;
    gltf->meshes = PL_NEW(gltf->memory, pl_gltf_mesh, mesh_count);
    if (!gltf->meshes)
        return pl_gltf_no_memory(gltf);
    for (int i = 0; i < mesh_count; i++) {
        uint32_t array;
        PL_TRY(find_primitives(gltf, i, &array, &gltf->meshes[i].count));
        gltf->meshes[i].first = total;
        total += gltf->meshes[i].count;
    }
    gltf->primitives = PL_NEW(gltf->memory, pl_gltf_primitive, total);
    if (!gltf->primitives)
        return pl_gltf_no_memory(gltf);
    for (int i = 0; i < mesh_count; i++) {
        uint32_t array;
        int count;
        PL_TRY(find_primitives(gltf, i, &array, &count));
        uint32_t at = array + 1;
        for (int k = 0; k < count; k++, at = pl_json_next(gltf->json, at))
            PL_TRY(read_primitive(gltf, at, &gltf->primitives[gltf->meshes[i].first + k]));
    }
    return PL_OK;
}

/* Primitives that follow each other and differ only in their indices share their vertices. */
static bool shares_vertices(const pl_gltf_primitive *previous, const pl_gltf_primitive *primitive)
{
    return previous &&
           memcmp(&previous->attributes, &primitive->attributes, sizeof primitive->attributes) == 0;
}

/* Points are left out, and what has no positions. */
static bool is_visible(const pl_gltf *gltf, const pl_gltf_primitive *primitive)
{
    int position = primitive->attributes.position;
    return position >= 0 && primitive->mode != POINTS && gltf->accessors[position].count > 0;
}

/* A vertex's position and attributes, and what is needed for it while it is made. */
static size_t vertex_bytes(const pl_gltf_attributes *of)
{
    enum { VALUES = 4 * sizeof(double), JOINTS = sizeof(pl_gltf_affine) + 2 * VALUES + 8 };
    size_t size = 3 * sizeof(double) + VALUES;
    size += (of->normal >= 0 ? 12 : 0) + (of->tangent >= 0 ? 16 : 0) + (of->colour >= 0 ? 16 : 0);
    for (int i = 0; i < PL_MAX_UV_SETS; i++)
        size += of->uvs[i] >= 0 ? 8 : 0;
    return size + (of->joints[0] >= 0 ? JOINTS : 0);
}

size_t pl_gltf_mesh_bytes(const pl_gltf *gltf, int mesh)
{
    enum { PRIMITIVE = 64, INDEX = 12 }; /* the index, and a third of a triangle and its tables */
    const pl_gltf_primitive *previous = NULL;
    size_t size = (size_t)gltf->meshes[mesh].count * PRIMITIVE;
    for (int i = 0; i < gltf->meshes[mesh].count; i++) {
        const pl_gltf_primitive *primitive = &gltf->primitives[gltf->meshes[mesh].first + i];
        if (!is_visible(gltf, primitive))
            continue;
        size_t vertices = gltf->accessors[primitive->attributes.position].count;
        size_t indices =
            primitive->indices >= 0 ? gltf->accessors[primitive->indices].count : vertices;
        if (!shares_vertices(previous, primitive))
            size += vertices * vertex_bytes(&primitive->attributes);
        size += indices * INDEX * (primitive->mode == TRIANGLES ? 1 : 3);
        previous = primitive;
    }
    return size;
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* The map of vertex i is maps[i · step]. */
typedef struct movement {
    const pl_gltf_affine *maps;
    size_t step;
    pl_gltf_affine *blended; /* to be freed: the maps of a skin's vertices */
} movement;

static void move_point(const pl_gltf_affine *map, double p[3])
{
    double x = p[0], y = p[1], z = p[2];
    for (int i = 0; i < 3; i++)
        p[i] = map->m[i][0] * x + map->m[i][1] * y + map->m[i][2] * z + map->m[i][3];
}

/* False when the vector has no direction. */
static bool make_unit(double v[3])
{
    double size = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(size > 0 && size < 1e300))
        return false;
    for (int i = 0; i < 3; i++)
        v[i] /= size;
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
    return true;
}

/* M⁻ᵀ = cof M / det M: the cofactors with the sign of the determinant, since length is no
   matter. */
static bool move_normal(const pl_gltf_affine *map, double n[3])
{
    const double(*m)[4] = map->m;
    double out[3], sign = pl_gltf_determinant(map) < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[i] = 0;
        for (int j = 0; j < 3; j++) {
            int c = (j + 1) % 3, d = (j + 2) % 3;
            out[i] += sign * (m[a][c] * m[b][d] - m[a][d] * m[b][c]) * n[j];
        }
    }
    memcpy(n, out, sizeof out);
    return make_unit(n);
}

static bool move_tangent(const pl_gltf_affine *map, double t[4])
{
    double x = t[0], y = t[1], z = t[2];
    for (int i = 0; i < 3; i++)
        t[i] = map->m[i][0] * x + map->m[i][1] * y + map->m[i][2] * z;
    bool turns = pl_gltf_determinant(map) < 0;
    t[3] = (t[3] < 0) != turns ? -1 : 1;
    return make_unit(t);
}

/* Values of an attribute, freed by the caller; NULL without memory. */
static double *get_attribute(const pl_gltf *gltf, int accessor, int components, bool normalised)
{
    const pl_gltf_accessor *from = &gltf->accessors[accessor];
    double *values = PL_NEW(gltf->memory, double, from->count *(size_t)components);
    if (values)
        pl_gltf_get_values(from, components, normalised, values);
    return values;
}

/* Adds w · (map of joint) for four joints to a blend. False if there is no such joint. */
static bool blend_joints(const pl_gltf_skin *skin, const double *joints, const double *weights,
                         pl_gltf_affine *blend, double *sum)
{
    for (int k = 0; k < 4; k++) {
        double w = weights[k];
        if (!(w > 0 && w < 1e30))
            continue;
        if (!(joints[k] >= 0 && joints[k] < skin->joint_count))
            return false;
        const pl_gltf_affine *joint = &skin->joints[(int)joints[k]];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                blend->m[i][j] += w * joint->m[i][j];
        *sum += w;
    }
    return true;
}

static pl_status add_joint_set(const pl_gltf *gltf, const pl_gltf_primitive *primitive, int set,
                               const pl_gltf_skin *skin, pl_gltf_affine *blends, double *sums)
{
    size_t count = gltf->accessors[primitive->attributes.position].count;
    double *joints = get_attribute(gltf, primitive->attributes.joints[set], 4, false);
    double *weights = get_attribute(gltf, primitive->attributes.weights[set], 4, false);
    pl_status status = joints && weights ? PL_OK : pl_gltf_no_memory(gltf);
    for (size_t i = 0; i < count && status == PL_OK; i++)
        if (!blend_joints(skin, joints + i * 4, weights + i * 4, &blends[i], &sums[i]))
            status = pl_gltf_fail(gltf, primitive->json,
                                  "vertex %zu follows a joint that the skin does not have", i);
    pl_memory_free(gltf->memory, joints);
    pl_memory_free(gltf->memory, weights);
    return status;
}

/* Σ w M / Σ w for each vertex; vertices without weights stay where they are. */
static pl_status blend_skin(const pl_gltf *gltf, const pl_gltf_primitive *primitive,
                            const pl_gltf_skin *skin, pl_gltf_affine *blends)
{
    size_t count = gltf->accessors[primitive->attributes.position].count;
    double *sums = PL_NEW(gltf->memory, double, count);
    pl_status status = sums ? PL_OK : pl_gltf_no_memory(gltf);
    for (int set = 0; set < PL_GLTF_SKIN_SETS && status == PL_OK; set++)
        if (primitive->attributes.joints[set] >= 0 && primitive->attributes.weights[set] >= 0)
            status = add_joint_set(gltf, primitive, set, skin, blends, sums);
    for (size_t v = 0; v < count && status == PL_OK; v++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                blends[v].m[i][j] /= sums[v] > 0 ? sums[v] : 1;
        if (!(sums[v] > 0))
            blends[v] = pl_gltf_identity();
    }
    pl_memory_free(gltf->memory, sums);
    return status;
}

static bool is_skinned(const pl_gltf *gltf, const pl_gltf_primitive *primitive, int node)
{
    return node >= 0 && gltf->nodes[node].skin >= 0 && primitive->attributes.joints[0] >= 0 &&
           primitive->attributes.weights[0] >= 0;
}

static pl_status make_movement(pl_gltf *gltf, const pl_gltf_primitive *primitive, int node,
                               const pl_gltf_affine *unmoved, movement *out)
{
    *out = (movement){node >= 0 ? &gltf->nodes[node].to_world : unmoved, 0, NULL};
    if (!is_skinned(gltf, primitive, node))
        return PL_OK;
    int skin = gltf->nodes[node].skin;
    PL_TRY(pl_gltf_prepare_skin(gltf, skin));
    size_t count = gltf->accessors[primitive->attributes.position].count;
    pl_gltf_affine *blends = PL_NEW(gltf->memory, pl_gltf_affine, count);
    if (!blends)
        return pl_gltf_no_memory(gltf);
    *out = (movement){blends, 1, blends};
    return blend_skin(gltf, primitive, &gltf->skins[skin], blends);
}

static pl_status add_positions(pl_gltf *gltf, const pl_gltf_primitive *primitive,
                               const movement *move)
{
    const pl_gltf_accessor *accessor = &gltf->accessors[primitive->attributes.position];
    double *positions = pl_mesh_build_vertices(gltf->build, accessor->count);
    if (!positions)
        return pl_gltf_no_memory(gltf);
    pl_gltf_get_values(accessor, 3, false, positions);
    for (size_t i = 0; i < accessor->count; i++) {
        double *p = positions + i * 3;
        move_point(&move->maps[i * move->step], p);
        if (!(fabs(p[0]) <= 1e30 && fabs(p[1]) <= 1e30 && fabs(p[2]) <= 1e30))
            return pl_gltf_fail(gltf, accessor->json, "position %zu is not a finite number", i);
    }
    return PL_OK;
}

/* One row of an attribute's table from the values of the file. Rows left alone get defaults. */
static void set_row(int attribute, const pl_gltf_affine *map, int components, double *value,
                    float *row)
{
    int width = pl_mesh_attribute_width(attribute);
    if (attribute == PL_ATTRIBUTE_NORMAL && !move_normal(map, value))
        return;
    if (attribute == PL_ATTRIBUTE_TANGENT && !move_tangent(map, value))
        return;
    if (attribute == PL_ATTRIBUTE_COLOUR) {
        for (int k = 0; k < 4; k++)
            value[k] = fmin(fmax(value[k], 0), 1);
        if (components == 3)
            value[3] = 1;
    }
    for (int k = 0; k < width; k++)
        row[k] = fabs(value[k]) <= 1e30 ? (float)value[k] : 0;
}

static pl_status add_attribute(pl_gltf *gltf, int attribute, int accessor, size_t first,
                               const movement *move)
{
    if (accessor < 0)
        return PL_OK;
    size_t width = (size_t)pl_mesh_attribute_width(attribute);
    float *rows = pl_mesh_build_attribute(gltf->build, attribute, first);
    double *values = get_attribute(gltf, accessor, (int)width, attribute == PL_ATTRIBUTE_COLOUR);
    if (!rows || !values) {
        pl_memory_free(gltf->memory, values);
        return pl_gltf_no_memory(gltf);
    }
    const pl_gltf_accessor *from = &gltf->accessors[accessor];
    for (size_t i = 0; i < from->count; i++)
        set_row(attribute, &move->maps[i * move->step], from->components, values + i * width,
                rows + i * width);
    pl_memory_free(gltf->memory, values);
    return PL_OK;
}

static pl_status add_vertices(pl_gltf *gltf, const pl_gltf_primitive *primitive,
                              const movement *move)
{
    const pl_gltf_attributes *from = &primitive->attributes;
    size_t first = pl_mesh_build_vertex_count(gltf->build);
    PL_TRY(add_positions(gltf, primitive, move));
    PL_TRY(add_attribute(gltf, PL_ATTRIBUTE_NORMAL, from->normal, first, move));
    PL_TRY(add_attribute(gltf, PL_ATTRIBUTE_TANGENT, from->tangent, first, move));
    PL_TRY(add_attribute(gltf, PL_ATTRIBUTE_COLOUR, from->colour, first, move));
    for (int i = 0; i < PL_MAX_UV_SETS; i++)
        PL_TRY(add_attribute(gltf, PL_ATTRIBUTE_UV + i, from->uvs[i], first, move));
    return PL_OK;
}

/* ---- Triangles and lines --------------------------------------------------------------------- */

/* The corners of a primitive as numbers of vertices being built. */
typedef struct corners {
    uint32_t *indices; /* NULL = one after the other */
    size_t count, first;
} corners;

static int32_t corner(const corners *of, size_t i)
{
    return (int32_t)(of->first + (of->indices ? of->indices[i] : i));
}

static pl_status get_corners(const pl_gltf *gltf, const pl_gltf_primitive *primitive, size_t first,
                             corners *out)
{
    size_t vertices = gltf->accessors[primitive->attributes.position].count;
    *out = (corners){NULL, vertices, first};
    if (primitive->indices < 0)
        return PL_OK;
    const pl_gltf_accessor *accessor = &gltf->accessors[primitive->indices];
    out->count = accessor->count;
    out->indices = PL_NEW(gltf->memory, uint32_t, accessor->count);
    if (!out->indices)
        return pl_gltf_no_memory(gltf);
    pl_gltf_get_indices(accessor, out->indices);
    for (size_t i = 0; i < out->count; i++)
        if (out->indices[i] >= vertices)
            return pl_gltf_fail(gltf, primitive->json,
                                "index %zu names vertex %u, but there are %zu", i,
                                (unsigned)out->indices[i], vertices);
    return PL_OK;
}

static bool add_triangles(pl_mesh_build *build, int mode, const corners *of, bool mirrored)
{
    size_t n = mode == TRIANGLES ? of->count / 3 : of->count < 3 ? 0 : of->count - 2;
    int32_t *out = n ? pl_mesh_build_triangles(build, n) : NULL;
    for (size_t i = 0; out && i < n; i++) {
        size_t a = mode == TRIANGLES ? i * 3 : mode == TRIANGLE_FAN ? i + 1 : i;
        size_t b = a + 1, c = a + 2;
        if (mode == TRIANGLE_STRIP && i % 2 == 1)
            b = a + 2, c = a + 1;
        if (mode == TRIANGLE_FAN)
            c = a + 1, b = a, a = 0;
        out[i * 3] = corner(of, a);
        out[i * 3 + 1] = corner(of, mirrored ? c : b);
        out[i * 3 + 2] = corner(of, mirrored ? b : c);
    }
    return out || n == 0;
}

static bool add_lines(pl_mesh_build *build, int mode, const corners *of)
{
    size_t step = mode == LINES ? 2 : 1;
    for (size_t i = 0; i + 1 < of->count; i += step)
        if (!pl_mesh_build_line(build, corner(of, i), corner(of, i + 1)))
            return false;
    return mode != LINE_LOOP || of->count < 3 ||
           pl_mesh_build_line(build, corner(of, of->count - 1), corner(of, 0));
}

static pl_status add_shape(pl_gltf *gltf, const pl_gltf_primitive *primitive, size_t first,
                           bool mirrored)
{
    corners of;
    pl_status status = get_corners(gltf, primitive, first, &of);
    if (status == PL_OK) {
        bool added = pl_mesh_build_use_material(gltf->build, primitive->material) &&
                     (primitive->mode < TRIANGLES
                          ? add_lines(gltf->build, primitive->mode, &of)
                          : add_triangles(gltf->build, primitive->mode, &of, mirrored));
        status = added ? PL_OK : pl_gltf_no_memory(gltf);
    }
    pl_memory_free(gltf->memory, of.indices);
    return status;
}

pl_status pl_gltf_add_mesh(pl_gltf *gltf, int mesh, int node)
{
    const pl_gltf_affine unmoved = pl_gltf_identity();
    const pl_gltf_primitive *previous = NULL;
    size_t first = 0;
    bool mirrored = false;
    for (int i = 0; i < gltf->meshes[mesh].count; i++) {
        const pl_gltf_primitive *primitive = &gltf->primitives[gltf->meshes[mesh].first + i];
        if (!is_visible(gltf, primitive))
            continue;
        if (!shares_vertices(previous, primitive)) {
            movement move;
            first = pl_mesh_build_vertex_count(gltf->build);
            pl_status status = make_movement(gltf, primitive, node, &unmoved, &move);
            mirrored = pl_gltf_determinant(move.maps) < 0;
            if (status == PL_OK)
                status = add_vertices(gltf, primitive, &move);
            pl_memory_free(gltf->memory, move.blended);
            PL_TRY(status);
        }
        PL_TRY(add_shape(gltf, primitive, first, mirrored));
        previous = primitive;
    }
    return PL_OK;
}
