/* Attachments of a scene as attachments of a world, and the motion of the places they hold to. */
#include <string.h>

#include "io/play_parts.h"

static pl_status find_point(const pl_builder *builder, const pl_scene_attachment *source,
                            const pl_scene_point *point, int number, pl_pin_def *def)
{
    const pl_play_body *body = &builder->play->bodies[number];
    int32_t *indices = NULL;
    int count = 0, index = -1;
    if (!point->on_point) {
        PL_TRY(pl_resolve_picks(builder, body->model, point->on_vertex, point->pick, 1, &indices,
                                &count));
        index = count == 1 ? indices[0] : -1;
        pl_memory_free(builder->memory, indices);
        if (count != 1)
            return PL_BUILD_FAIL(builder, point->pick->place.node,
                                 "must be one, not %d: an attachment holds one point", count);
    }
    const pl_world *world = builder->play->world;
    pl_status status = point->on_point    ? pl_pin_at_point(world, body->handle, point->point, def)
                       : point->on_vertex ? pl_pin_at_vertex(world, body->handle, index, def)
                                          : pl_pin_at_particle(world, body->handle, index, def);
    if (status != PL_OK)
        return PL_BUILD_FAIL(builder, source->place.node, "cannot be attached: %s",
                             pl_status_text(status));
    return PL_OK;
}

static pl_status make(const pl_builder *builder, const pl_scene_attachment *source,
                      pl_attachment *out, double start[3])
{
    static const pl_attachment_kind kinds[] = {PL_ATTACH_TO_PLACE, PL_ATTACH_TO_BODY,
                                               PL_ATTACH_TO_COLLIDER};
    pl_play *play = builder->play;
    pl_attachment_def def = pl_default_attachment_def(kinds[source->kind]);
    pl_error error = {0};
    def.body = play->bodies[source->body].handle;
    def.break_force = source->break_force;
    PL_TRY(find_point(builder, source, &source->point, source->body, &def.point));
    if (source->kind == PL_HOLD_BODY) {
        def.other = play->bodies[source->other].handle;
        PL_TRY(find_point(builder, source, &source->other_point, source->other, &def.other_point));
    }
    if (source->kind == PL_HOLD_COLLIDER)
        def.collider = play->colliders[source->collider];
    pl_status status = pl_attachment_aim(play->world, &def);
    memcpy(start, def.target, sizeof def.target);
    if (source->has_target)
        memcpy(def.target, source->target, sizeof def.target);
    else if (source->kind == PL_HOLD_PLACE)
        pl_motion_position(&source->motion, 0, start, def.target);
    if (status == PL_OK)
        status = pl_attachment_create(play->world, &def, out, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, source->place.node, status, &error);
}

pl_status pl_build_attachments(const pl_builder *builder)
{
    int count = builder->scene->attachment_count;
    pl_play *play = builder->play;
    play->attachments = PL_NEW(builder->memory, pl_attachment, count);
    play->attachment_starts =
        pl_memory_alloc(builder->memory, (size_t)count, sizeof *play->attachment_starts);
    if (!play->attachments || !play->attachment_starts)
        return pl_build_no_memory(builder);
    for (int i = 0; i < count; i++)
        PL_TRY(make(builder, &builder->scene->attachments[i], &play->attachments[i],
                    play->attachment_starts[i]));
    return PL_OK;
}

pl_status pl_play_attachments(pl_play *play, double time)
{
    for (int i = 0; i < play->scene->attachment_count; i++) {
        const pl_scene_attachment *source = &play->scene->attachments[i];
        double target[3];
        if (source->kind != PL_HOLD_PLACE || source->has_target ||
            pl_motion_is_still(&source->motion) ||
            !pl_attachment_is_valid(play->world, play->attachments[i]))
            continue;
        pl_motion_position(&source->motion, time, play->attachment_starts[i], target);
        PL_TRY(pl_attachment_set_target(play->world, play->attachments[i], target));
    }
    return PL_OK;
}
