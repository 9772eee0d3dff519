/* Events of a scene: what happens when, with everything they name looked up. */
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

/* ---- Names ----------------------------------------------------------------------------------- */

/* Things that an event may name, and where their numbers go. */
typedef struct nameable {
    const pl_names *names;
    pl_scene_indices *out;
} nameable;

static pl_status fail_name(pl_scene_reader *reader, uint32_t node, const char *name,
                           const nameable *things, int kinds, const char *thing, const char *remedy)
{
    char hint[96], shown[64];
    const char *best = NULL;
    for (int k = 0; k < kinds; k++)
        pl_names_suggest(things[k].names, name, &best);
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no %s \"%s\"%s", thing, shown,
                         best ? pl_suggest_text(best, hint, sizeof hint) : remedy);
}

/* All things of this name: counted, or taken too. False when one of them is there already. */
static bool take(const nameable *things, int kinds, const char *name, int stamp, int *count)
{
    for (int k = 0; k < kinds; k++) {
        const pl_names *names = things[k].names;
        for (int i = pl_names_first(names, name); i >= 0; i = names->next[i], ++*count) {
            if (names->stamps[i] == stamp)
                return false;
            names->stamps[i] = stamp;
            things[k].out->count++;
            if (things[k].out->items)
                things[k].out->items[things[k].out->count - 1] = i;
        }
    }
    return true;
}

static pl_status take_list(pl_scene_reader *reader, uint32_t node, uint32_t count,
                           const nameable *things, int kinds, const char *thing, const char *remedy)
{
    reader->stamp++;
    for (uint32_t i = node + 1; i <= node + count; i++) {
        const char *name;
        int found = 0;
        PL_TRY(pl_read_name(reader, i, &name));
        if (!take(things, kinds, name, reader->stamp, &found))
            return PL_SCENE_FAIL(reader, i, "is named here for the second time; once is enough");
        if (!found)
            return fail_name(reader, i, name, things, kinds, thing, remedy);
    }
    return PL_OK;
}

/* A list of names: first counted, then taken. */
static pl_status read_names(pl_scene_reader *reader, uint32_t node, const nameable *things,
                            int kinds, const char *expected, const char *thing, const char *remedy)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, expected));
    uint32_t count = pl_node_count(reader, node);
    if (count == 0)
        return PL_SCENE_FAIL(reader, node, "must name at least one");
    PL_TRY(take_list(reader, node, count, things, kinds, thing, remedy));
    for (int k = 0; k < kinds; k++) {
        pl_scene_indices *out = things[k].out;
        out->items = PL_SCENE_NEW(reader, int, out->count);
        if (!out->items)
            return pl_scene_no_memory(reader);
        out->count = 0;
    }
    return take_list(reader, node, count, things, kinds, thing, remedy);
}

static pl_status read_drop(pl_scene_reader *reader, pl_scene_event *event)
{
    const nameable things[] = {{&reader->pins, &event->pins},
                               {&reader->drives, &event->drives},
                               {&reader->attachments, &event->attachments}};
    return read_names(reader, event->drop_node, things, 3,
                      "an array of names of pins, drives and attachments",
                      "pin, drive or attachment", "; give it a \"name\" where it is defined");
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* By the name of an entry (all its copies), else of one copy. */
static const pl_names *names_of_bodies(const pl_scene_reader *reader, const char *name)
{
    return pl_names_first(&reader->entries, name) >= 0 ? &reader->entries : &reader->bodies;
}

static pl_status find_bodies(pl_scene_reader *reader, uint32_t object, pl_scene_indices *out)
{
    uint32_t node = pl_json_member(reader->json, object, "body");
    int only, count = 0;
    if (!node) {
        PL_TRY(pl_find_body(reader, object, NULL, &only));
        out->items = PL_SCENE_NEW(reader, int, 1);
        out->count = 1;
        return out->items ? PL_OK : pl_scene_no_memory(reader);
    }
    const char *name = pl_json_string(reader->json, node);
    const nameable bodies = {names_of_bodies(reader, name), out};
    take(&bodies, 1, name, ++reader->stamp, &count);
    if (count == 0)
        return pl_find_body(reader, object, name, &only);
    out->items = PL_SCENE_NEW(reader, int, count);
    out->count = 0;
    if (!out->items)
        return pl_scene_no_memory(reader);
    take(&bodies, 1, name, ++reader->stamp, &count);
    return PL_OK;
}

/* Entries and single copies are looked up apart, so they stand in two lists that are joined. */
static pl_status read_bodies(pl_scene_reader *reader, uint32_t node, bool colliders,
                             pl_scene_indices *bodies, pl_scene_indices *others)
{
    pl_scene_indices entries = {0}, copies = {0};
    const nameable things[] = {
        {&reader->entries, &entries}, {&reader->copies, &copies}, {&reader->colliders, others}};
    PL_TRY(read_names(reader, node, things, colliders ? 3 : 2,
                      colliders ? "an array of names of bodies and colliders"
                                : "an array of names of bodies",
                      colliders ? "body or collider" : "body",
                      colliders ? "; give it a \"name\" where it is defined"
                                : "; bodies get a \"name\" under \"bodies\""));
    bodies->count = entries.count + copies.count;
    bodies->items = PL_SCENE_NEW(reader, int, bodies->count);
    if (!bodies->items)
        return pl_scene_no_memory(reader);
    memcpy(bodies->items, entries.items, sizeof(int) * (size_t)entries.count);
    memcpy(bodies->items + entries.count, copies.items, sizeof(int) * (size_t)copies.count);
    return PL_OK;
}

static pl_status read_release(pl_scene_reader *reader, pl_scene_event *event)
{
    PL_TRY(read_bodies(reader, event->release_node, false, &event->released, NULL));
    for (int i = 0; i < event->released.count; i++) {
        const pl_scene_body *body = &reader->scene->bodies[event->released.items[i]];
        if (!body->fixed_node)
            return PL_SCENE_FAIL(reader, event->release_node,
                                 "\"%.64s\" has no \"fixed\" particles; pins, drives and "
                                 "attachments are let go by \"drop\"",
                                 body->name);
    }
    return PL_OK;
}

static pl_status read_remove(pl_scene_reader *reader, pl_scene_event *event)
{
    return read_bodies(reader, event->remove_node, true, &event->removed,
                       &event->removed_colliders);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static pl_status read_change(pl_scene_reader *reader, uint32_t node, const pl_scene_object *object,
                             pl_raw_change *raw, pl_scene_indices *bodies)
{
    PL_TRY(pl_read_object(reader, node, object, raw));
    return find_bodies(reader, node, bodies);
}

static pl_status read_velocity(pl_scene_reader *reader, pl_scene_event *event)
{
    pl_raw_change raw = {0};
    PL_TRY(read_change(reader, event->velocity_node, &pl_object_velocity, &raw, &event->moved));
    memcpy(event->velocity, raw.vector, sizeof raw.vector);
    memcpy(event->spin, raw.spin, sizeof raw.spin);
    return PL_OK;
}

static pl_status read_impulse(pl_scene_reader *reader, pl_scene_event *event)
{
    pl_raw_change raw = {0};
    PL_TRY(read_change(reader, event->impulse_node, &pl_object_impulse, &raw, &event->pushed));
    memcpy(event->impulse, raw.vector, sizeof raw.vector);
    return PL_OK;
}

static pl_status read_material(pl_scene_reader *reader, pl_scene_event *event)
{
    pl_raw_change raw = {0};
    uint32_t place;
    PL_TRY(
        read_change(reader, event->material_node, &pl_object_new_material, &raw, &event->changed));
    return pl_read_body_material(reader, raw.material, &event->material, &place);
}

static pl_status read_pressure(pl_scene_reader *reader, pl_scene_event *event)
{
    pl_raw_change raw = {0};
    PL_TRY(read_change(reader, event->pressure_node, &pl_object_pressure, &raw, &event->inflated));
    event->pressure = raw.number;
    return PL_OK;
}

pl_status pl_read_event(pl_scene_reader *reader, uint32_t node, pl_scene_event *event)
{
    PL_TRY(pl_read_object(reader, node, &pl_object_event, event));
    event->has_gravity = pl_was_given(&pl_object_event, &event->place, "gravity");
    const struct {
        uint32_t node;
        pl_status (*read)(pl_scene_reader *, pl_scene_event *);
    } parts[] = {{event->drop_node, read_drop},        {event->release_node, read_release},
                 {event->remove_node, read_remove},    {event->velocity_node, read_velocity},
                 {event->impulse_node, read_impulse},  {event->material_node, read_material},
                 {event->pressure_node, read_pressure}};
    bool any = event->has_gravity;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].node)
            PL_TRY(parts[i].read(reader, event));
        any = any || parts[i].node;
    }
    if (!any)
        return PL_SCENE_FAIL(reader, node,
                             "nothing happens here; give \"drop\", \"release\", \"remove\", "
                             "\"velocity\", \"impulse\", \"material\", \"pressure\" or "
                             "\"gravity\"");
    return PL_OK;
}
