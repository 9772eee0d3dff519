/* Records a play as .glb: bodies are actors whose joints are their particles, colliders rigid
   actors. */
#include <string.h>

#include "io/output_glb.h"
#include "io/output_glb_shapes.h"
#include "io/output_surface.h"
#include "shape/model.h"
#include "world/world.h"

struct pl_glb_record {
    pl_memory *memory;
    pl_glb *glb;
    char path[256]; /* for messages */
    int body_count, collider_count;
    int *surfaces;                       /* by model of the scene; -1 = none yet */
    int *torn;                           /* surface of a body that can break; -1 = it cannot */
    uint64_t *topologies;                /* for which its weights were set; 0 = never */
    int *bodies, *colliders;             /* their actors; -1 = none */
    bool *body_leaves, *collider_leaves; /* some event removes it */
    double *values;                      /* of the largest body */
};

static pl_status no_memory(const pl_glb_record *record, pl_trouble *trouble)
{
    return pl_trouble_set(trouble, PL_ERROR_MEMORY, record->path,
                          "not enough memory to write this file");
}

static pl_status report(const pl_glb_record *record, pl_status status, pl_trouble *trouble)
{
    if (status == PL_OK)
        return PL_OK;
    return pl_trouble_set(trouble, status, record->path, "cannot be written: %s",
                          pl_status_text(status));
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* Arrays of a surface in metres, in one block. */
typedef struct shape_arrays {
    float *joints, *positions, *normals, *weights;
    int32_t *triangles, *influences;
} shape_arrays;

static bool make_arrays(pl_memory *memory, size_t joints, size_t vertices, size_t triangles,
                        shape_arrays *arrays)
{
    float *block = PL_NEW(memory, float, 3 * joints + 7 * vertices);
    int32_t *indices = PL_NEW(memory, int32_t, vertices + 3 * triangles);
    arrays->joints = block;
    if (block) {
        arrays->positions = block + 3 * joints;
        arrays->normals = arrays->positions + 3 * vertices;
        arrays->weights = arrays->normals + 3 * vertices;
    }
    arrays->influences = indices;
    arrays->triangles = indices ? indices + vertices : NULL;
    return block && indices;
}

static void free_arrays(pl_memory *memory, shape_arrays *arrays)
{
    pl_memory_free(memory, arrays->joints);
    pl_memory_free(memory, arrays->influences);
}

static void scale(const float *from, double unit, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)((double)from[i] * unit);
}

/* The tips of the ellipsoids' axes, each carried by its particle alone. */
static void make_octahedra(const pl_play_body *body, shape_arrays *arrays)
{
    const pl_model *model = body->model;
    for (size_t v = 0; v < 6 * (size_t)model->particle_count; v++) {
        size_t i = v / 6, axis = v % 6 / 2;
        const float *turn = model->orientation + 4 * i;
        double q[4] = {(double)turn[0], (double)turn[1], (double)turn[2], (double)turn[3]};
        double tip[3] = {0, 0, 0}, arm[3];
        tip[axis] = v % 2 ? -1 : 1;
        pl_quaternion_rotate(q, tip, arm);
        double radius = (double)model->radii[3 * i + axis];
        for (size_t k = 0; k < 3; k++) {
            arrays->normals[3 * v + k] = (float)arm[k];
            arrays->positions[3 * v + k] =
                (float)(((double)model->rest[3 * i + k] + radius * arm[k]) * model->unit);
        }
        arrays->influences[v] = (int32_t)i;
        arrays->weights[v] = 1;
    }
    for (int64_t t = 0; t < pl_surface_triangles(body); t++)
        pl_surface_triangle(body, t, arrays->triangles + 3 * t);
}

/* Where images lie that a model only names: beside the file it is from. */
static const char *find_directory(const pl_play *play, const pl_scene_model *source, char *path,
                                  size_t size)
{
    if (!source->file ||
        pl_scene_path(play->scene, source->place.node, source->file, path, size) != PL_OK)
        return NULL;
    char *slash = strrchr(path, '/');
    path[slash ? slash + 1 - path : 0] = 0;
    return path;
}

static pl_status add_surface(pl_glb_record *record, const pl_play *play, int body, int *surface,
                             pl_trouble *trouble)
{
    const pl_play_body *from = &play->bodies[body];
    const pl_scene_model *source = &play->scene->models[play->scene->bodies[body].model];
    const pl_model *model = from->model;
    bool skinned = model->triangle_count > 0;
    int64_t vertices = pl_surface_vertices(from), triangles = pl_surface_triangles(from);
    char directory[4096];
    shape_arrays arrays = {0};
    bool good = make_arrays(record->memory, (size_t)model->particle_count, (size_t)vertices,
                            skinned ? 0 : (size_t)triangles, &arrays);
    pl_status status = good ? PL_OK : no_memory(record, trouble);
    if (good) {
        scale(model->rest, model->unit, 3 * (size_t)model->particle_count, arrays.joints);
        if (skinned)
            scale(model->vertices, model->unit, 3 * (size_t)vertices, arrays.positions);
        else
            make_octahedra(from, &arrays);
        const pl_glb_surface shape = {.name = source->name ? source->name : from->name,
                                      .vertex_count = (int)vertices,
                                      .triangle_count = (int)triangles,
                                      .positions = arrays.positions,
                                      .normals = skinned ? model->normals : arrays.normals,
                                      .tangents = skinned ? model->tangents : NULL,
                                      .triangles = skinned ? model->triangles : arrays.triangles,
                                      .look = skinned ? &model->look : NULL,
                                      .directory =
                                          find_directory(play, source, directory, sizeof directory),
                                      .joint_count = model->particle_count,
                                      .joints = arrays.joints,
                                      .influence_count = skinned ? model->influence_count : 1,
                                      .influences = skinned ? model->influences : arrays.influences,
                                      .weights = skinned ? model->weights : arrays.weights};
        status = pl_glb_add_surface(record->glb, &shape, surface, trouble);
    }
    free_arrays(record->memory, &arrays);
    return status;
}

/* ---- Actors ---------------------------------------------------------------------------------- */

enum {
    MOVES_AND_TURNS = 1 << PL_GLB_TRANSLATION | 1 << PL_GLB_ROTATION,
    LEAVES = 1 << PL_GLB_SCALE
};

static pl_status add_body(pl_glb_record *record, const pl_play *play, int body,
                          pl_glb_colour *colour, pl_trouble *trouble)
{
    const pl_play_body *from = &play->bodies[body];
    const pl_scene_body *source = &play->scene->bodies[body];
    bool breaks = pl_scene_breaks(&source->clustered) && from->model->triangle_count > 0;
    int *surface = breaks ? &record->torn[body] : &record->surfaces[source->model];
    if (*surface < 0)
        PL_TRY(add_surface(record, play, body, surface, trouble));
    pl_glb_actor actor = {.name = from->name,
                          .surface = *surface,
                          .paths = MOVES_AND_TURNS | (record->body_leaves[body] ? LEAVES : 0),
                          .colour = {1, 1, 1, 1},
                          .roughness = 0.5f,
                          .two_sided = from->info.dimension < 3};
    /* Colours of the vertices are multiplied by it. */
    if (!from->model->look.colours || from->model->triangle_count == 0) {
        for (int k = 0; k < 3 && !colour; k++)
            actor.colour[k] = 0.5f;
        if (colour)
            colour(body, actor.colour);
    }
    return pl_glb_add_actor(record->glb, &actor, &record->bodies[body], trouble);
}

static pl_status add_collider(pl_glb_record *record, const pl_play *play, int collider,
                              pl_trouble *trouble)
{
    const pl_scene_collider *source = &play->scene->colliders[collider];
    const char *name = source->name ? source->name : "collider";
    int surface = PL_GLB_PLANE;
    pl_glb_solid solid;
    pl_status status =
        report(record,
               pl_glb_solid_of(record->memory, source,
                               pl_collider_find(play->world, play->colliders[collider]), &solid),
               trouble);
    if (status == PL_OK && solid.triangle_count > 0) {
        const pl_glb_surface shape = {.name = name,
                                      .vertex_count = solid.vertex_count,
                                      .triangle_count = solid.triangle_count,
                                      .positions = solid.positions,
                                      .normals = solid.normals,
                                      .triangles = solid.triangles};
        status = pl_glb_add_surface(record->glb, &shape, &surface, trouble);
    }
    pl_glb_solid_free(record->memory, &solid);
    bool nothing = surface == PL_GLB_PLANE && source->kind != PL_COLLIDER_PLANE;
    if (status != PL_OK || nothing)
        return status;
    const pl_glb_actor actor = {.name = name,
                                .surface = surface,
                                .paths = MOVES_AND_TURNS |
                                         (record->collider_leaves[collider] ? LEAVES : 0),
                                .colour = {0.456f, 0.440f, 0.407f, 1},
                                .roughness = 0.8f,
                                .two_sided = source->kind == PL_COLLIDER_MESH && source->two_sided};
    return pl_glb_add_actor(record->glb, &actor, &record->colliders[collider], trouble);
}

static void find_leaving(pl_glb_record *record, const pl_scene *scene)
{
    for (int e = 0; e < scene->event_count; e++) {
        const pl_scene_event *event = &scene->events[e];
        for (int i = 0; i < event->removed.count; i++)
            record->body_leaves[event->removed.items[i]] = true;
        for (int i = 0; i < event->removed_colliders.count; i++)
            record->collider_leaves[event->removed_colliders.items[i]] = true;
    }
}

/* ---- The record ------------------------------------------------------------------------------ */

static pl_status make_room(pl_glb_record *record, const pl_play *play, pl_trouble *trouble)
{
    pl_memory *memory = record->memory;
    int largest = 1, models = play->scene->model_count;
    record->body_count = play->body_count;
    record->collider_count = play->scene->collider_count;
    for (int i = 0; i < play->body_count; i++)
        if (play->bodies[i].info.particle_count > largest)
            largest = play->bodies[i].info.particle_count;
    record->surfaces = PL_NEW(memory, int, models);
    record->torn = PL_NEW(memory, int, record->body_count);
    record->topologies = PL_NEW(memory, uint64_t, record->body_count);
    record->bodies = PL_NEW(memory, int, record->body_count);
    record->colliders = PL_NEW(memory, int, record->collider_count);
    record->body_leaves = PL_NEW(memory, bool, record->body_count);
    record->collider_leaves = PL_NEW(memory, bool, record->collider_count);
    record->values = PL_NEW(memory, double, 4 * (size_t)largest);
    if (!record->surfaces || !record->torn || !record->topologies || !record->bodies ||
        !record->colliders || !record->body_leaves || !record->collider_leaves || !record->values)
        return no_memory(record, trouble);
    for (int i = 0; i < models; i++)
        record->surfaces[i] = -1;
    for (int i = 0; i < record->body_count; i++)
        record->torn[i] = -1;
    for (int i = 0; i < record->collider_count; i++)
        record->colliders[i] = -1;
    return PL_OK;
}

/* The skin of what has broken since. */
static void tear_skin(pl_glb_record *record, const pl_play *play, int body)
{
    const pl_record *from = pl_world_record(play->world, play->bodies[body].handle);
    const pl_model *model = from->model;
    uint64_t topology = from->matter.clustered->topology;
    if (!from->own_weights || topology == record->topologies[body])
        return;
    pl_glb_set_weights(record->glb, record->torn[body], model->influence_count, model->influences,
                       from->own_weights);
    record->topologies[body] = topology;
}

/* What broke before the mark has its skin again. Of a body that has left the world since it is not
   known any more. */
static pl_status tear_skins(pl_glb_record *record, const pl_play *play, pl_trouble *trouble)
{
    for (int i = 0; i < record->body_count; i++) {
        if (record->torn[i] < 0)
            continue;
        if (play->bodies[i].removed)
            return pl_trouble_set(trouble, PL_ERROR_STATE, record->path,
                                  "how the body \"%s\" broke is gone with it",
                                  play->bodies[i].name);
        tear_skin(record, play, i);
    }
    return PL_OK;
}

static pl_status open_record(pl_glb_record *record, const pl_glb_def *def, const pl_play *play,
                             pl_glb_colour *colour, const pl_output_mark *mark, pl_trouble *trouble)
{
    PL_TRY(make_room(record, play, trouble));
    PL_TRY(pl_glb_open(record->memory, def, &record->glb, trouble));
    find_leaving(record, play->scene);
    for (int i = 0; i < record->body_count; i++)
        PL_TRY(add_body(record, play, i, colour, trouble));
    for (int i = 0; i < record->collider_count; i++)
        PL_TRY(add_collider(record, play, i, trouble));
    if (!mark)
        return PL_OK;
    PL_TRY(tear_skins(record, play, trouble));
    return pl_glb_go_on(record->glb, mark, trouble);
}

pl_status pl_glb_record_open(pl_memory *memory, const char *path, const pl_play *play,
                             pl_glb_colour *colour, const pl_output_mark *mark,
                             pl_glb_record **record, pl_trouble *trouble)
{
    const pl_glb_def def = {.path = path,
                            .title = play->scene->name,
                            .rate = play->settings.step > 0 ? 1 / play->settings.step : 0};
    *record = NULL;
    pl_glb_record *made = PL_NEW(memory, pl_glb_record, 1);
    if (!made)
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, path,
                              "not enough memory to write this file");
    made->memory = memory;
    pl_copy_text(made->path, sizeof made->path, path, strlen(path));
    pl_status status = open_record(made, &def, play, colour, mark, trouble);
    if (status == PL_OK)
        *record = made;
    else
        pl_glb_record_drop(made, false);
    return status;
}

/* Something is as large as it is, or not there. */
static pl_status show(pl_glb_record *record, int actor, bool there, pl_trouble *trouble)
{
    const double size[3] = {there, there, there};
    return pl_glb_pose(record->glb, actor, PL_GLB_SCALE, size, trouble);
}

static pl_status pose_body(pl_glb_record *record, const pl_play *play, int body,
                           pl_trouble *trouble)
{
    static const struct {
        pl_body_field field;
        pl_glb_path path;
    } parts[] = {{PL_POSITIONS, PL_GLB_TRANSLATION}, {PL_ROTATIONS, PL_GLB_ROTATION}};
    const pl_play_body *from = &play->bodies[body];
    int actor = record->bodies[body];
    if (record->body_leaves[body])
        PL_TRY(show(record, actor, !from->removed, trouble));
    if (record->torn[body] >= 0 && !from->removed)
        tear_skin(record, play, body);
    for (int i = 0; i < 2 && !from->removed; i++) {
        pl_status status =
            pl_body_read(play->world, from->handle, parts[i].field, 0, from->info.particle_count, 1,
                         pl_doubles(record->values, 0));
        PL_TRY(report(record, status, trouble));
        PL_TRY(pl_glb_pose(record->glb, actor, parts[i].path, record->values, trouble));
    }
    return PL_OK;
}

static pl_status pose_collider(pl_glb_record *record, const pl_play *play, int collider,
                               pl_trouble *trouble)
{
    pl_collider handle = play->colliders[collider];
    bool there = pl_collider_is_valid(play->world, handle);
    int actor = record->colliders[collider];
    pl_collider_state state;
    if (actor < 0)
        return PL_OK;
    if (record->collider_leaves[collider])
        PL_TRY(show(record, actor, there, trouble));
    if (!there)
        return PL_OK;
    PL_TRY(report(record, pl_collider_get_state(play->world, handle, &state), trouble));
    PL_TRY(pl_glb_pose(record->glb, actor, PL_GLB_TRANSLATION, state.position, trouble));
    return pl_glb_pose(record->glb, actor, PL_GLB_ROTATION, state.rotation, trouble);
}

pl_status pl_glb_record_frame(pl_glb_record *record, const pl_play *play, pl_trouble *trouble)
{
    for (int i = 0; i < record->body_count; i++)
        PL_TRY(pose_body(record, play, i, trouble));
    for (int i = 0; i < record->collider_count; i++)
        PL_TRY(pose_collider(record, play, i, trouble));
    return pl_glb_frame(record->glb, pl_world_time(play->world), trouble);
}

pl_status pl_glb_record_set_mark(pl_glb_record *record, pl_output_mark *mark, pl_trouble *trouble)
{
    return pl_glb_set_mark(record->glb, mark, trouble);
}

pl_status pl_glb_record_publish(pl_glb_record *record, pl_trouble *trouble)
{
    pl_status status = pl_glb_publish(record->glb, trouble);
    record->glb = NULL;
    pl_glb_record_drop(record, false);
    return status;
}

void pl_glb_record_drop(pl_glb_record *record, bool leave)
{
    if (!record)
        return;
    pl_glb_drop(record->glb, leave);
    pl_memory_free(record->memory, record->surfaces);
    pl_memory_free(record->memory, record->torn);
    pl_memory_free(record->memory, record->topologies);
    pl_memory_free(record->memory, record->bodies);
    pl_memory_free(record->memory, record->colliders);
    pl_memory_free(record->memory, record->body_leaves);
    pl_memory_free(record->memory, record->collider_leaves);
    pl_memory_free(record->memory, record->values);
    pl_memory_free(record->memory, record);
}
