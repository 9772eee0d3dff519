/* Example poses of a body, once its model is there: warped, read from a deformed copy of the mesh
   or from the state of another run, or taken as they are; and the group of every particle. */
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/play_parts.h"

static pl_status warp_pose(const pl_builder *builder, const pl_scene_pose *source,
                           const pl_model *model, pl_pose *pose)
{
    pl_error error = {0};
    pl_status status = pl_pose_warp(model, source->warps, source->warp_count, pose, &error);
    if (status == PL_OK)
        return PL_OK;
    const char *dot =
        strchr(error.where, '.'); /* "warps[0].shorten": a single warp stands in the pose itself */
    if (source->raw.kind && dot)
        memmove(error.where, dot + 1, strlen(dot));
    return pl_build_fail(builder, source->place.node, status, &error);
}

/* ---- Deformed copies of the mesh ------------------------------------------------------------- */

/* A polygon's triangles come one after the other; how it is cut depends on where its corners are,
   so that a copy may be cut otherwise. More corners than these must be cut alike. */
enum { MOST_CORNERS = 64 };

/* So that a directed edge and its opposite add up to 0: over the triangles of a polygon what is
   left is its outline. */
static uint64_t edge_sum(int32_t a, int32_t b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    uint64_t x = (low << 32 | high) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return a < b ? x : 0 - x;
}

static uint64_t outline(const int32_t *triangles, int count)
{
    uint64_t sum = 0;
    for (const int32_t *t = triangles; t < triangles + 3 * (size_t)count; t += 3)
        sum += edge_sum(t[0], t[1]) + edge_sum(t[1], t[2]) + edge_sum(t[2], t[0]);
    return sum;
}

static int count_corners(const int32_t *triangles, int count)
{
    int corners = 0;
    for (int i = 0; i < 3 * count; i++) {
        bool known = false;
        for (int k = 0; k < i && !known; k++)
            known = triangles[k] == triangles[i];
        corners += !known;
    }
    return corners;
}

/* Triangles from the first on that are the same polygon in both, which has no corner inside; 0 =
   there is none. */
static int same_polygon(const int32_t *a, const int32_t *b, int left)
{
    for (int n = 1; n <= left && n <= MOST_CORNERS - 2; n++)
        if (outline(a, n) == outline(b, n) && count_corners(a, n) == n + 2 &&
            count_corners(b, n) == n + 2)
            return n;
    return 0;
}

static bool is_turned_over(const int32_t a[3], const int32_t b[3])
{
    return outline(a, 1) + outline(b, 1) == 0;
}

/* Vertices in another order would make a pose of something else. A file without faces has nothing
   to compare. */
static pl_status check_faces(const pl_builder *builder, uint32_t node, const pl_mesh *mesh,
                             const pl_model *model)
{
    int count = pl_model_get_info(model).triangle_count;
    const int32_t *wanted = pl_model_triangles(model), *given = mesh->triangles;
    if (!mesh->triangle_count || !count)
        return PL_OK;
    if (mesh->triangle_count != count)
        return PL_BUILD_FAIL(builder, node,
                             "there are %d triangles; the model has %d. Save a copy without "
                             "changing its faces",
                             mesh->triangle_count, count);
    for (int t = 0, same; t < count; t += same) {
        const int32_t *a = given + 3 * (size_t)t, *b = wanted + 3 * (size_t)t;
        same = same_polygon(a, b, count - t);
        if (!same && outline(a, 1) == outline(b, 1))
            same = 1; /* without area: twice the same corner */
        if (!same)
            return PL_BUILD_FAIL(
                builder, node, "triangle %d is %d %d %d and in the model %d %d %d: %s", t, a[0],
                a[1], a[2], b[0], b[1], b[2],
                is_turned_over(a, b) ? "another winding" : "vertices or faces in another order");
    }
    return PL_OK;
}

static pl_status load_pose(const pl_builder *builder, const pl_scene_pose *source,
                           const pl_model *model, pl_pose *pose)
{
    pl_mesh mesh;
    pl_error error = {0};
    uint32_t node = pl_json_member(builder->scene->json, source->place.node, "file");
    PL_TRY(pl_build_file_mesh(builder, node, source->file, &mesh));
    pl_status faces = mesh.vertex_count == pl_model_get_info(model).vertex_count
                          ? check_faces(builder, node, &mesh, model)
                          : PL_OK;
    pl_status status = faces;
    if (faces == PL_OK)
        status = pl_pose_from_vertices(model, mesh.positions, mesh.vertex_count, pose, &error);
    pl_mesh_free(&mesh);
    if (faces != PL_OK || status == PL_OK)
        return status;
    error.where[0] = '\0';
    return pl_build_fail(builder, node, status, &error);
}

static pl_status given_pose(const pl_builder *builder, const pl_scene_pose *source,
                            const pl_model *model, pl_pose *pose)
{
    int wanted = pl_model_get_info(model).particle_count;
    if (source->position_count != wanted)
        return PL_BUILD_FAIL(builder, source->positions_node, "has %d particles; the model has %d",
                             source->position_count, wanted);
    *pose = (pl_pose){.particle_count = source->position_count,
                      .positions = source->positions,
                      .rotations = source->rotations};
    return PL_OK;
}

/* ---- States of other runs -------------------------------------------------------------------- */

/* Of a file with states. */
static const size_t most_bytes = (size_t)1 << 31;

static uint32_t count_of(const pl_json *json, uint32_t node)
{
    return json->nodes[node].as.container.count;
}

typedef struct dump {
    const pl_builder *builder;
    const pl_scene_pose *source;
    uint32_t node;
    const pl_json *json; /* one line */
} dump;

static pl_status say(const dump *d, const char *what)
{
    return PL_BUILD_FAIL(d->builder, d->node, "%s", what);
}

static uint32_t find_body(const dump *d)
{
    uint32_t bodies = pl_json_member(d->json, 0, "bodies");
    if (!bodies || pl_json_kind_of(d->json, bodies) != PL_JSON_ARRAY)
        return 0;
    uint32_t body = bodies + 1;
    for (uint32_t i = 0; i < count_of(d->json, bodies); i++) {
        uint32_t name = pl_json_member(d->json, body, "name");
        if (!d->source->body_name || (name && pl_json_kind_of(d->json, name) == PL_JSON_STRING &&
                                      !strcmp(pl_json_string(d->json, name), d->source->body_name)))
            return body;
        body = pl_json_next(d->json, body);
    }
    return 0;
}

/* [[…], …] of so many rows into `out`. */
static bool copy_rows(const pl_json *json, uint32_t node, int count, int width, double *out)
{
    if (!node || pl_json_kind_of(json, node) != PL_JSON_ARRAY ||
        count_of(json, node) != (uint32_t)count)
        return false;
    uint32_t row = node + 1;
    for (int i = 0; i < count; i++, row = pl_json_next(json, row)) {
        if (pl_json_kind_of(json, row) != PL_JSON_ARRAY || count_of(json, row) != (uint32_t)width)
            return false;
        for (int k = 0; k < width; k++) {
            uint32_t number = row + 1 + (uint32_t)k;
            if (pl_json_kind_of(json, number) != PL_JSON_NUMBER)
                return false;
            out[(size_t)i * (size_t)width + (size_t)k] = json->nodes[number].as.number;
        }
    }
    return true;
}

static pl_status take_state(const dump *d, int count, pl_owned_pose *owned)
{
    uint32_t body = find_body(d);
    if (!body)
        return say(d, "has no such body in that frame");
    owned->numbers = PL_NEW(d->builder->memory, double, 7 * (size_t)count);
    if (!owned->numbers)
        return pl_build_no_memory(d->builder);
    uint32_t positions = pl_json_member(d->json, body, "positions");
    if (!copy_rows(d->json, positions, count, 3, owned->numbers) ||
        !copy_rows(d->json, pl_json_member(d->json, body, "rotations"), count, 4,
                   owned->numbers + 3 * (size_t)count))
        return PL_BUILD_FAIL(d->builder, d->node, "has %d particles in that body; the model has %d",
                             positions && pl_json_kind_of(d->json, positions) == PL_JSON_ARRAY
                                 ? (int)count_of(d->json, positions)
                                 : 0,
                             count);
    owned->pose = (pl_pose){.particle_count = count,
                            .positions = owned->numbers,
                            .rotations = owned->numbers + 3 * (size_t)count};
    return PL_OK;
}

/* Whether the frame's number is what a line says near its beginning. */
static bool is_of_frame(const char *line, size_t length, int frame)
{
    char wanted[32];
    size_t size = (size_t)snprintf(wanted, sizeof wanted, "\"frame\":%d,", frame);
    for (size_t at = 0; at < 512 && at + size <= length; at++)
        if (!memcmp(line + at, wanted, size))
            return true;
    return false;
}

/* The line of the frame asked for, else the last one. */
static bool find_line(const char *bytes, size_t size, const pl_scene_pose *source,
                      const char **line, size_t *length)
{
    *line = NULL;
    for (size_t at = 0, stop; at < size; at = stop + 1) {
        const char *end = memchr(bytes + at, '\n', size - at);
        stop = end ? (size_t)(end - bytes) : size;
        if (stop == at ||
            (source->frame_given && !is_of_frame(bytes + at, stop - at, source->frame)))
            continue;
        *line = bytes + at;
        *length = stop - at;
    }
    return *line != NULL;
}

static pl_status dump_pose(const pl_builder *builder, const pl_scene_pose *source,
                           const pl_model *model, pl_owned_pose *owned)
{
    dump d = {.builder = builder,
              .source = source,
              .node = pl_json_member(builder->scene->json, source->place.node, "dump")};
    char path[4096], *bytes = NULL;
    size_t size = 0, length = 0;
    const char *line;
    pl_json *json = NULL;
    pl_trouble trouble = {0};
    if (pl_scene_path(builder->scene, d.node, source->dump, path, sizeof path) != PL_OK)
        return say(&d, "the name is too long");
    pl_status status = pl_file_read(builder->memory, path, most_bytes, &bytes, &size, &trouble);
    if (status != PL_OK)
        return PL_BUILD_FAIL(builder, d.node, "%s", trouble.text);
    if (!find_line(bytes, size, source, &line, &length))
        status = say(&d, "has no such frame");
    if (status == PL_OK &&
        pl_json_parse(builder->memory, path, line, length, &json, &trouble) != PL_OK)
        status = say(&d, "is no state written by run -o NAME.jsonl");
    d.json = json;
    if (status == PL_OK)
        status = take_state(&d, pl_model_get_info(model).particle_count, owned);
    pl_json_free(json);
    pl_memory_free(builder->memory, bytes);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static pl_status make_pose(const pl_builder *builder, const pl_scene_pose *source,
                           const pl_model *model, pl_owned_pose *owned)
{
    if (source->warp_count)
        return warp_pose(builder, source, model, &owned->pose);
    if (source->file)
        return load_pose(builder, source, model, &owned->pose);
    if (source->dump)
        return dump_pose(builder, source, model, owned);
    return given_pose(builder, source, model, &owned->pose);
}

static pl_status make_groups(const pl_builder *builder, const pl_scene_examples *source,
                             const pl_model *model, pl_play_examples *out)
{
    int n = pl_model_get_info(model).particle_count;
    out->groups = PL_NEW(builder->memory, int32_t, n);
    if (!out->groups)
        return pl_build_no_memory(builder);
    for (int i = 0; i < n; i++)
        out->groups[i] = -1;
    for (int g = 0; g < source->group_count; g++) {
        const pl_scene_group *group = &source->groups[g];
        int32_t *picked = NULL;
        int count, other = -1;
        pl_status status = pl_resolve_picks(builder, model, false, group->picks, group->pick_count,
                                            &picked, &count);
        for (int k = 0; k < count && status == PL_OK; k++) {
            if (out->groups[picked[k]] >= 0 && other < 0)
                other = picked[k];
            out->groups[picked[k]] = g;
        }
        pl_memory_free(builder->memory, picked);
        PL_TRY(status);
        if (other >= 0)
            return PL_BUILD_FAIL(builder, group->node,
                                 "particle %d is in an earlier group already; groups must not "
                                 "overlap",
                                 other);
    }
    out->def.group_count = source->group_count;
    out->def.groups = out->groups;
    return PL_OK;
}

pl_status pl_build_examples(const pl_builder *builder, const pl_scene_examples *source,
                            const pl_model *model, pl_play_examples *out)
{
    pl_memory *memory = builder->memory;
    *out = (pl_play_examples){.def = pl_default_examples_def()};
    out->owned = PL_NEW(memory, pl_owned_pose, source->pose_count);
    out->poses = PL_NEW(memory, pl_pose, source->pose_count);
    if (!out->owned || !out->poses)
        return pl_build_no_memory(builder);
    out->def.poses = out->poses;
    out->def.scope = source->scope;
    out->def.beta = source->beta;
    out->def.rule = source->rule;
    for (int i = 0; i < source->pose_count; i++) {
        out->def.pose_count = i + 1;
        PL_TRY(make_pose(builder, &source->poses[i], model, &out->owned[i]));
        out->poses[i] = out->owned[i].pose;
    }
    return source->group_count ? make_groups(builder, source, model, out) : PL_OK;
}

void pl_free_examples(const pl_builder *builder, pl_play_examples *examples)
{
    for (int i = 0; i < examples->def.pose_count && examples->owned; i++) {
        pl_pose_free(&examples->owned[i].pose);
        pl_memory_free(builder->memory, examples->owned[i].numbers);
    }
    pl_memory_free(builder->memory, examples->owned);
    pl_memory_free(builder->memory, examples->poses);
    pl_memory_free(builder->memory, examples->groups);
}
