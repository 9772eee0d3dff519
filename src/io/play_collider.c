/* Colliders of a scene as colliders of a world, and their motion from frame to frame. */
#include <string.h>

#include "io/play_parts.h"

static void collider_def(const pl_scene_collider *source, const pl_mesh *mesh, pl_collider_def *def)
{
    *def = pl_default_collider_def(source->kind);
    def->friction = source->friction;
    def->restitution = source->restitution;
    def->two_sided = source->two_sided;
    def->category = source->category;
    def->mask = source->mask;
    memcpy(def->surface_velocity, source->surface_velocity, sizeof def->surface_velocity);
    if (source->kind == PL_COLLIDER_BOX) {
        memcpy(def->size, source->half, sizeof def->size);
    } else {
        def->size[0] = source->radius;
        def->size[1] = source->length / 2;
    }
    def->mesh = mesh;
    def->scale = source->scale;
    pl_motion_position(&source->motion, 0, source->position, def->position);
    pl_motion_rotation(&source->motion, 0, source->rotation, def->rotation);
}

static pl_status make(const pl_builder *builder, const pl_scene_collider *source,
                      const pl_mesh *mesh, pl_collider *collider)
{
    pl_collider_def def;
    pl_error error = {0};
    collider_def(source, mesh, &def);
    pl_status status = pl_collider_create(builder->play->world, &def, collider, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, source->place.node, status, &error);
}

static pl_status make_from_mesh(const pl_builder *builder, const pl_scene_collider *source,
                                pl_collider *collider)
{
    const pl_json *json = builder->scene->json;
    uint32_t node = source->place.node;
    pl_mesh mesh;
    if (source->builtin)
        PL_TRY(pl_build_builtin_mesh(builder, node, source->builtin, source->detail, &mesh));
    else
        PL_TRY(
            pl_build_file_mesh(builder, pl_json_member(json, node, "file"), source->file, &mesh));
    pl_status status = make(builder, source, &mesh, collider);
    pl_mesh_free(&mesh);
    return status;
}

static pl_status make_collider(const pl_builder *builder, const pl_scene_collider *source,
                               pl_collider *collider)
{
    const pl_mesh mesh = {.vertex_count = source->vertex_count,
                          .positions = source->vertices,
                          .triangle_count = source->triangle_count,
                          .triangles = source->triangles};
    return source->file || source->builtin ? make_from_mesh(builder, source, collider)
                                           : make(builder, source, &mesh, collider);
}

pl_status pl_build_colliders(const pl_builder *builder)
{
    const pl_scene *scene = builder->scene;
    pl_play *play = builder->play;
    play->colliders = PL_NEW(builder->memory, pl_collider, scene->collider_count);
    if (!play->colliders)
        return pl_build_no_memory(builder);
    for (int i = 0; i < scene->collider_count; i++)
        PL_TRY(make_collider(builder, &scene->colliders[i], &play->colliders[i]));
    return PL_OK;
}

pl_status pl_play_colliders(pl_play *play, double time)
{
    for (int i = 0; i < play->scene->collider_count; i++) {
        const pl_scene_collider *source = &play->scene->colliders[i];
        double position[3], rotation[4];
        if (pl_motion_is_still(&source->motion) ||
            !pl_collider_is_valid(play->world, play->colliders[i]))
            continue;
        pl_motion_position(&source->motion, time, source->position, position);
        pl_motion_rotation(&source->motion, time, source->rotation, rotation);
        PL_TRY(pl_collider_move(play->world, play->colliders[i], position, rotation));
    }
    return PL_OK;
}
