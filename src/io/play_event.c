/* Events of a scene while it plays. An event belongs to a frame, and what the play itself remembers
   of it is a function of the frame, so that a play can go on from any snapshot. Everything else is
   in the world. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "io/play_parts.h"

/* ---- What happens ---------------------------------------------------------------------------- */

static pl_status refix(pl_play *play, int body)
{
    pl_builder builder = {.play = play, .scene = play->scene, .memory = play->memory};
    int32_t *fixed;
    int count;
    pl_status status = pl_fixed_particles(&builder, body, &fixed, &count);
    if (status == PL_OK)
        status = pl_body_set_fixed(play->world, play->bodies[body].handle, fixed, count, NULL);
    pl_memory_free(play->memory, fixed);
    return status;
}

static pl_status set_material(pl_play *play, int body, const pl_material *material, pl_error *error)
{
    pl_builder builder = {.play = play, .scene = play->scene, .memory = play->memory};
    float *stiffness = NULL, *density = NULL;
    pl_status status = pl_body_maps(&builder, body, &stiffness, &density);
    if (status == PL_OK)
        status = pl_body_set_material(play->world, play->bodies[body].handle, material, stiffness,
                                      density, error);
    pl_memory_free(play->memory, stiffness);
    pl_memory_free(play->memory, density);
    return status;
}

/* Things may be gone already, with a body or by another event. */
static pl_status let_go(pl_play *play, const pl_scene_event *event)
{
    for (int i = 0; i < event->pins.count; i++) {
        int pin = event->pins.items[i];
        for (int k = play->pin_first[pin]; k < play->pin_first[pin + 1]; k++)
            if (pl_pin_is_valid(play->world, play->pins[k]))
                PL_TRY(pl_pin_destroy(play->world, play->pins[k]));
    }
    for (int i = 0; i < event->attachments.count; i++) {
        pl_attachment attachment = play->attachments[event->attachments.items[i]];
        if (pl_attachment_is_valid(play->world, attachment))
            PL_TRY(pl_attachment_destroy(play->world, attachment));
    }
    for (int i = 0; i < event->drives.count; i++) {
        int body = play->scene->drives[event->drives.items[i]].body;
        if (!play->bodies[body].removed)
            PL_TRY(refix(play, body));
    }
    for (int i = 0; i < event->released.count; i++)
        PL_TRY(refix(play, event->released.items[i]));
    return PL_OK;
}

static pl_status take_away(pl_play *play, const pl_scene_event *event)
{
    for (int i = 0; i < event->removed.count; i++)
        PL_TRY(pl_body_destroy(play->world, play->bodies[event->removed.items[i]].handle));
    for (int i = 0; i < event->removed_colliders.count; i++) {
        pl_collider collider = play->colliders[event->removed_colliders.items[i]];
        if (pl_collider_is_valid(play->world, collider))
            PL_TRY(pl_collider_destroy(play->world, collider));
    }
    return PL_OK;
}

static pl_status change(pl_play *play, const pl_scene_event *event)
{
    pl_world *world = play->world;
    for (int i = 0; i < event->moved.count; i++)
        PL_TRY(pl_body_set_velocity(world, play->bodies[event->moved.items[i]].handle,
                                    event->velocity, event->spin));
    for (int i = 0; i < event->pushed.count; i++)
        PL_TRY(pl_body_apply_impulse(world, play->bodies[event->pushed.items[i]].handle, -1,
                                     event->impulse));
    for (int i = 0; i < event->changed.count; i++)
        PL_TRY(set_material(play, event->changed.items[i], &event->material, NULL));
    for (int i = 0; i < event->inflated.count; i++)
        PL_TRY(pl_body_set_pressure(world, play->bodies[event->inflated.items[i]].handle,
                                    event->pressure, NULL));
    return event->has_gravity ? pl_world_set_gravity(world, event->gravity) : PL_OK;
}

/* What the play remembers. */
static void note(pl_play *play, const pl_scene_event *event)
{
    for (int i = 0; i < event->drives.count; i++)
        play->dropped_drives[event->drives.items[i]] = true;
    for (int i = 0; i < event->released.count; i++)
        play->bodies[event->released.items[i]].released = true;
    for (int i = 0; i < event->removed.count; i++)
        play->bodies[event->removed.items[i]].removed = true;
    for (int i = 0; i < event->changed.count; i++)
        play->bodies[event->changed.items[i]].material = event->material;
}

pl_status pl_play_events(pl_play *play)
{
    while (play->next_event < play->event_count &&
           play->events[play->next_event].frame <= play->frame) {
        const pl_scene_event *event = play->events[play->next_event++].source;
        note(play, event);
        PL_TRY(let_go(play, event));
        PL_TRY(change(play, event));
        PL_TRY(take_away(play, event));
    }
    return PL_OK;
}

pl_status pl_play_seek(pl_play *play, uint64_t frame)
{
    for (int i = 0; i < play->body_count; i++) {
        play->bodies[i].removed = play->bodies[i].released = false;
        play->bodies[i].material = play->scene->bodies[i].material;
    }
    for (int i = 0; i < play->scene->drive_count; i++)
        play->dropped_drives[i] = false;
    play->next_event = 0;
    while (play->next_event < play->event_count && play->events[play->next_event].frame < frame)
        note(play, play->events[play->next_event++].source);
    play->frame = frame;
    return PL_OK;
}

/* ---- Before it begins ------------------------------------------------------------------------ */

/* The first frame that is not earlier; the slack keeps rounding out of the question. */
static uint64_t frame_of(double time, double step)
{
    double frame = ceil(time / step - 1e-6);
    return frame > 0 ? frame < 1e18 ? (uint64_t)frame : UINT64_MAX : 0;
}

static pl_status sort_events(const pl_builder *builder)
{
    const pl_scene *scene = builder->scene;
    pl_play *play = builder->play;
    size_t count = (size_t)scene->event_count;
    pl_sort_item *items = PL_NEW(builder->memory, pl_sort_item, 2 * count);
    play->events = PL_NEW(builder->memory, pl_play_event, count);
    bool good = items && play->events;
    for (size_t i = 0; good && i < count; i++)
        items[i] =
            (pl_sort_item){frame_of(scene->events[i].time, play->settings.step), (uint32_t)i};
    if (good)
        pl_sort(items, items + count, count);
    for (size_t i = 0; good && i < count; i++)
        play->events[i] = (pl_play_event){items[i].key, &scene->events[items[i].index]};
    play->event_count = good ? (int)count : 0;
    pl_memory_free(builder->memory, items);
    return good ? PL_OK : pl_build_no_memory(builder);
}

/* Nothing happens to a body that is not there any more. `gone` holds the number of the event that
   removes it, + 1. */
static pl_status check_bodies(const pl_builder *builder, const pl_scene_event *event,
                              const pl_scene_indices *bodies, const int *gone)
{
    for (int i = 0; i < bodies->count; i++) {
        int body = bodies->items[i];
        if (gone[body])
            return PL_BUILD_FAIL(builder, event->place.node,
                                 "the body \"%.64s\" is not there any more: events[%d] removes it",
                                 builder->scene->bodies[body].name, gone[body] - 1);
    }
    return PL_OK;
}

static pl_status check_order(const pl_builder *builder, int *gone)
{
    for (int e = 0; e < builder->play->event_count; e++) {
        const pl_scene_event *event = builder->play->events[e].source;
        const pl_scene_indices *lists[] = {&event->released, &event->removed, &event->moved,
                                           &event->pushed,   &event->changed, &event->inflated};
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            PL_TRY(check_bodies(builder, event, lists[k], gone));
        for (int i = 0; i < event->removed.count; i++)
            gone[event->removed.items[i]] = (int)(event - builder->scene->events) + 1;
    }
    return PL_OK;
}

/* What the library may refuse is tried out and put back, so that a run does not end in the
   middle. */
static pl_status try_out(const pl_builder *builder, const pl_scene_event *event)
{
    pl_play *play = builder->play;
    for (int i = 0; i < event->changed.count; i++) {
        int body = event->changed.items[i];
        pl_error error = {0};
        pl_status status = set_material(play, body, &event->material, &error);
        if (status == PL_OK)
            status = set_material(play, body, &play->scene->bodies[body].material, &error);
        if (status != PL_OK)
            return pl_build_fail(builder, event->material_node, status, &error);
    }
    for (int i = 0; i < event->inflated.count; i++) {
        int body = event->inflated.items[i];
        pl_error error = {0};
        pl_body handle = play->bodies[body].handle;
        pl_status status = pl_body_set_pressure(play->world, handle, event->pressure, &error);
        if (status == PL_OK)
            status = pl_body_set_pressure(play->world, handle, play->scene->bodies[body].pressure,
                                          &error);
        if (status != PL_OK)
            return pl_build_fail(builder, event->pressure_node, status, &error);
    }
    return PL_OK;
}

pl_status pl_build_events(const pl_builder *builder)
{
    if (builder->scene->event_count == 0)
        return PL_OK;
    PL_TRY(sort_events(builder));
    int *gone = PL_NEW(builder->memory, int, builder->scene->body_count);
    pl_status status = gone ? check_order(builder, gone) : pl_build_no_memory(builder);
    pl_memory_free(builder->memory, gone);
    for (int e = 0; e < builder->scene->event_count && status == PL_OK; e++)
        status = try_out(builder, &builder->scene->events[e]);
    return status;
}
