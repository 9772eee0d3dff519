/* Attachments as the host sees them: made, aimed, read, and left. What they do in a step is in
   attachment_step.c. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "world/pin.h"
#include "world/snapshot.h"

pl_attachment_def pl_default_attachment_def(pl_attachment_kind kind)
{
    return (pl_attachment_def){.kind = kind,
                               .point = pl_default_pin_def(PL_PIN_POSITION),
                               .other_point = pl_default_pin_def(PL_PIN_POSITION),
                               .cookie = PL_ATTACHMENT_COOKIE};
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Farthest from the origin, metres. */
#define FARTHEST 1e15

static bool is_target(const double target[3])
{
    return target && fabs(target[0]) <= FARTHEST && fabs(target[1]) <= FARTHEST &&
           fabs(target[2]) <= FARTHEST;
}

static bool is_break_force(double force)
{
    return force >= 0 && force <= 1e30;
}

static pl_status check_point(const pl_world *world, pl_body body, const pl_pin_def *point,
                             const char *where, pl_error *error)
{
    const pl_record *record = pl_world_record(world, body);
    PL_CHECK(record, PL_ERROR_HANDLE, error, where, "is no body of this world");
    PL_CHECK(point->kind == PL_PIN_POSITION, PL_ERROR_ARGUMENT, error, "point.kind",
             "must be a position: only points are attached");
    PL_TRY(pl_pin_check_carriers(record, point, error));
    PL_CHECK(pl_pin_is_near(record->model, point->rest), PL_ERROR_ARGUMENT, error, "point.rest",
             "is not finite, or too far from the body");
    return PL_OK;
}

static pl_status check_def(const pl_world *world, const pl_attachment_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == PL_ATTACHMENT_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_attachment_def");
    PL_CHECK((int)def->kind >= PL_ATTACH_TO_PLACE && (int)def->kind <= PL_ATTACH_TO_COLLIDER,
             PL_ERROR_ARGUMENT, error, "kind", "is %d; there is no such kind", (int)def->kind);
    PL_TRY(check_point(world, def->body, &def->point, "body", error));
    if (def->kind == PL_ATTACH_TO_BODY)
        PL_TRY(check_point(world, def->other, &def->other_point, "other", error));
    PL_CHECK(def->kind != PL_ATTACH_TO_COLLIDER || pl_collider_find(world, def->collider),
             PL_ERROR_HANDLE, error, "collider", "is no collider of this world");
    PL_CHECK(is_target(def->target), PL_ERROR_ARGUMENT, error, "target",
             "is not finite, or farther than %g m from the origin", FARTHEST);
    PL_CHECK(is_break_force(def->break_force), PL_ERROR_ARGUMENT, error, "break_force",
             "is %g; use newtons, or 0 for never", def->break_force);
    return PL_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* The lowest free slot, with room for it everywhere; -1 without memory. */
static int reserve(pl_world *world)
{
    pl_attachments *all = &world->attachments;
    while (all->lowest < all->slot_count && all->slots[all->lowest].used)
        all->lowest++;
    bool good = pl_contact_reserve_joints(world->contact, all->count + 1) == PL_OK &&
                pl_world_grow(world->memory, &all->slots, all->slot_count, &all->slot_capacity,
                              sizeof *all->slots);
    return good ? all->lowest : -1;
}

static void wake_held(pl_world *world, const pl_attachment_slot *slot)
{
    pl_record *held[2] = {pl_world_record(world, slot->body), NULL};
    if (slot->kind == PL_ATTACH_TO_BODY)
        held[1] = pl_world_record(world, slot->other);
    for (int i = 0; i < 2; i++)
        if (held[i])
            pl_world_wake(world, held[i]);
}

static void fill(const pl_world *world, const pl_attachment_def *def, pl_attachment_slot *slot)
{
    *slot = (pl_attachment_slot){.generation = slot->generation,
                                 .used = true,
                                 .kind = def->kind,
                                 .body = def->body,
                                 .break_force = def->break_force};
    pl_pin_def point = def->point;
    memcpy(point.target, (double[3]){0, 0, 0}, sizeof point.target);
    slot->point = pl_pin_make_hold(pl_world_record(world, def->body), &point);
    if (def->kind == PL_ATTACH_TO_BODY) {
        point = def->other_point;
        memcpy(point.target, (double[3]){0, 0, 0}, sizeof point.target);
        slot->other = def->other;
        slot->other_point = pl_pin_make_hold(pl_world_record(world, def->other), &point);
    }
    if (def->kind == PL_ATTACH_TO_COLLIDER)
        slot->collider = def->collider;
    memcpy(slot->from, def->target, sizeof slot->from);
    memcpy(slot->to, def->target, sizeof slot->to);
}

static PL_APART pl_status create(pl_world *world, const pl_attachment_def *def,
                                 pl_attachment *attachment, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world, error));
    PL_REQUIRE(attachment, PL_ERROR_ARGUMENT, error, "attachment",
               "there is nowhere to put the handle");
    *attachment = (pl_attachment){0, 0};
    PL_TRY(check_def(world, def, error));
    pl_attachments *all = &world->attachments;
    int number = reserve(world);
    PL_CHECK(number >= 0, PL_ERROR_MEMORY, error, "", "no memory for another attachment");
    pl_attachment_slot *slot = all->slots + number;
    if (number == all->slot_count) {
        all->slot_count++;
        slot->generation = 1;
    }
    fill(world, def, slot);
    all->count++;
    wake_held(world, slot);
    *attachment = (pl_attachment){(uint32_t)number, slot->generation};
    return PL_OK;
}

pl_status pl_attachment_create(pl_world *world, const pl_attachment_def *def,
                               pl_attachment *attachment, pl_error *error)
{
    PL_COMPUTE(create(world, def, attachment, error));
}

/* ---- Handles --------------------------------------------------------------------------------- */

static pl_attachment_slot *find(const pl_world *world, pl_attachment attachment)
{
    if (!world || attachment.index >= (uint32_t)world->attachments.slot_count)
        return NULL;
    pl_attachment_slot *slot = world->attachments.slots + attachment.index;
    return slot->used && slot->generation == attachment.generation ? slot : NULL;
}

bool pl_attachment_is_valid(const pl_world *world, pl_attachment attachment)
{
    return find(world, attachment) != NULL;
}

static pl_status open_slot(pl_world *world, pl_attachment attachment, pl_attachment_slot **slot)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    *slot = find(world, attachment);
    PL_REQUIRE(*slot, PL_ERROR_HANDLE, NULL, NULL,
               "the attachment's handle is stale or of another world");
    return PL_OK;
}

static void leave(pl_world *world, pl_attachment_slot *slot)
{
    int number = (int)(slot - world->attachments.slots);
    wake_held(world, slot);
    slot->used = false;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    world->attachments.count--;
    if (number < world->attachments.lowest)
        world->attachments.lowest = number;
}

pl_status pl_attachment_destroy(pl_world *world, pl_attachment attachment)
{
    pl_attachment_slot *slot = NULL;
    PL_TRY(open_slot(world, attachment, &slot));
    leave(world, slot);
    return PL_OK;
}

void pl_attachments_forget_body(pl_world *world, pl_body body)
{
    for (int i = 0; i < world->attachments.slot_count; i++) {
        pl_attachment_slot *slot = world->attachments.slots + i;
        bool other = slot->kind == PL_ATTACH_TO_BODY && slot->other.index == body.index;
        if (slot->used && (slot->body.index == body.index || other))
            leave(world, slot);
    }
}

void pl_attachments_forget_collider(pl_world *world, pl_collider collider)
{
    for (int i = 0; i < world->attachments.slot_count; i++) {
        pl_attachment_slot *slot = world->attachments.slots + i;
        if (slot->used && slot->kind == PL_ATTACH_TO_COLLIDER &&
            slot->collider.index == collider.index)
            leave(world, slot);
    }
}

void pl_attachments_clear(pl_world *world)
{
    pl_memory_free(world->memory, world->attachments.slots);
    world->attachments = (pl_attachments){0};
}

/* ---- Using ----------------------------------------------------------------------------------- */

static PL_APART pl_status aim(const pl_world *world, pl_attachment_def *def)
{
    PL_REQUIRE(world, PL_ERROR_ARGUMENT, NULL, NULL, "there is no world");
    PL_TRY(check_def(world, def, NULL));
    pl_attachment_slot slot = {.generation = 1};
    double a[3], b[3];
    fill(world, def, &slot);
    pl_attachment_ends(world, &slot, a, b);
    const pl_collider_record *collider = pl_collider_find(world, def->collider);
    if (def->kind == PL_ATTACH_TO_COLLIDER) {
        const double *q = collider->from.rotation, *p = collider->from.position;
        pl_quat turn = {q[0], q[1], q[2], q[3]};
        pl_vec3 own = pl_quat_rotate(pl_quat_conjugate(turn),
                                     (pl_vec3){a[0] - p[0], a[1] - p[1], a[2] - p[2]});
        a[0] = own.x, a[1] = own.y, a[2] = own.z;
    }
    memcpy(def->target, a, sizeof def->target);
    return PL_OK;
}

pl_status pl_attachment_aim(const pl_world *world, pl_attachment_def *def)
{
    PL_COMPUTE(aim(world, def));
}

pl_status pl_attachment_set_target(pl_world *world, pl_attachment attachment,
                                   const double target[3])
{
    pl_attachment_slot *slot = NULL;
    PL_TRY(open_slot(world, attachment, &slot));
    PL_REQUIRE(slot->kind != PL_ATTACH_TO_BODY, PL_ERROR_STATE, NULL, NULL,
               "an attachment to a body has no target");
    PL_REQUIRE(is_target(target), PL_ERROR_ARGUMENT, NULL, NULL,
               "the target is not finite, or farther than %g m from the origin", FARTHEST);
    if (memcmp(slot->to, target, sizeof slot->to) != 0 && !slot->broken)
        wake_held(world, slot);
    memcpy(slot->to, target, sizeof slot->to);
    return PL_OK;
}

static PL_APART pl_status get_state(const pl_world *world, pl_attachment attachment,
                                    pl_attachment_state *state)
{
    const pl_attachment_slot *slot = find(world, attachment);
    double a[3], b[3];
    PL_REQUIRE(slot, PL_ERROR_HANDLE, NULL, NULL,
               "the attachment's handle is stale or of another world");
    PL_REQUIRE(state, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the state");
    state->broken = slot->broken;
    memcpy(state->force, slot->force, sizeof state->force);
    pl_attachment_ends(world, slot, a, b);
    for (int k = 0; k < 3; k++)
        state->gap[k] = b[k] - a[k];
    return PL_OK;
}

pl_status pl_attachment_get_state(const pl_world *world, pl_attachment attachment,
                                  pl_attachment_state *state)
{
    PL_COMPUTE(get_state(world, attachment, state));
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static int particles_of(const pl_world *world, pl_body body)
{
    const pl_record *record = pl_world_record(world, body);
    return record ? record->matter.n : 0;
}

static void ends_part(pl_stream *s, pl_world *world, pl_attachment_slot *slot)
{
    pl_stream_u32(s, &slot->body.index, 1);
    pl_stream_u32(s, &slot->body.generation, 1);
    pl_stream_expect(s, pl_world_record(world, slot->body));
    if (!pl_stream_stopped(s))
        pl_snapshot_hold(s, &slot->point, particles_of(world, slot->body));
    pl_stream_expect(s, slot->point.kind == PL_PIN_POSITION);
    if (slot->kind == PL_ATTACH_TO_BODY && !pl_stream_stopped(s)) {
        pl_stream_u32(s, &slot->other.index, 1);
        pl_stream_u32(s, &slot->other.generation, 1);
        pl_stream_expect(s, pl_world_record(world, slot->other));
        if (!pl_stream_stopped(s))
            pl_snapshot_hold(s, &slot->other_point, particles_of(world, slot->other));
        pl_stream_expect(s, slot->other_point.kind == PL_PIN_POSITION);
    }
    if (slot->kind == PL_ATTACH_TO_COLLIDER && !pl_stream_stopped(s)) {
        pl_stream_u32(s, &slot->collider.index, 1);
        pl_stream_u32(s, &slot->collider.generation, 1);
        pl_stream_expect(s, pl_collider_find(world, slot->collider));
    }
}

static void slot_part(pl_stream *s, pl_world *world, pl_attachment_slot *slot)
{
    int kind = (int)slot->kind;
    pl_stream_u32(s, &slot->generation, 1);
    pl_stream_expect(s, slot->generation != 0);
    pl_stream_bool(s, &slot->used);
    if (!slot->used || pl_stream_stopped(s))
        return;
    pl_stream_int(s, &kind);
    pl_stream_expect(s, kind >= PL_ATTACH_TO_PLACE && kind <= PL_ATTACH_TO_COLLIDER);
    if (pl_stream_stopped(s))
        return;
    if (s->in)
        slot->kind = (pl_attachment_kind)kind;
    pl_stream_bool(s, &slot->broken);
    ends_part(s, world, slot);
    pl_stream_doubles(s, slot->from, 3);
    pl_stream_doubles(s, slot->to, 3);
    pl_stream_doubles(s, &slot->break_force, 1);
    pl_stream_doubles(s, slot->force, 3);
    if (s->in && !pl_stream_stopped(s))
        pl_stream_expect(s, is_target(slot->from) && is_target(slot->to) &&
                                is_break_force(slot->break_force));
}

void pl_snapshot_attachments(pl_stream *s, pl_world *world)
{
    pl_attachments *all = &world->attachments;
    if (!pl_stream_count(s, &all->slot_count, sizeof(uint32_t) + 1) ||
        !pl_stream_array(s, world->memory, &all->slots, (size_t)all->slot_count,
                         sizeof *all->slots))
        return;
    if (s->in)
        all->slot_capacity = all->slot_count;
    for (int i = 0; i < all->slot_count && !pl_stream_stopped(s); i++) {
        slot_part(s, world, all->slots + i);
        if (s->in)
            all->count += all->slots[i].used;
    }
    if (s->in && !pl_stream_stopped(s) &&
        pl_contact_reserve_joints(world->contact, all->count) != PL_OK)
        s->starved = true;
}
