/* Colliders in a snapshot, with the triangles of meshes; what follows from those is made anew. */
#include <math.h>

#include "world/snapshot.h"

static void pose_part(pl_stream *s, pl_placement *pose)
{
    double square = 0;
    pl_stream_doubles(s, pose->position, 3);
    pl_stream_doubles(s, pose->rotation, 4);
    for (int k = 0; k < 4; k++)
        square += pose->rotation[k] * pose->rotation[k];
    pl_stream_expect(s, fabs(square - 1) <= 1e-6);
    for (int k = 0; k < 3; k++)
        pl_stream_expect(s, fabs(pose->position[k]) <= 1e18);
}

static void solid_part(pl_stream *s, pl_world *world, pl_collider_record *record)
{
    int count = record->solid ? record->solid->count : 0;
    double(*corners)[3][3] = record->solid ? record->solid->corners : NULL;
    if (!pl_stream_count(s, &count, sizeof *corners) ||
        !pl_stream_array(s, world->memory, &corners, (size_t)count, sizeof *corners))
        return;
    if (count)
        pl_stream_doubles(s, corners[0][0], 9 * (size_t)count);
    if (!s->in)
        return;
    if (!pl_stream_stopped(s)) {
        record->solid = pl_solid_create(world->memory, count, (const double(*)[3][3])corners);
        s->starved = !record->solid;
        pl_stream_expect(s, !record->solid || record->solid->count == count);
    }
    pl_memory_free(world->memory, corners);
}

static void record_part(pl_stream *s, pl_world *world, pl_collider_record *record)
{
    pl_contact_collider *c = &record->shape;
    int kind = (int)c->kind;
    pl_stream_int(s, &kind);
    pl_stream_expect(s, kind >= PL_COLLIDER_PLANE && kind <= PL_COLLIDER_MESH);
    if (pl_stream_stopped(s))
        return;
    if (s->in)
        c->kind = (pl_collider_kind)kind;
    pl_stream_doubles(s, c->size, 3);
    pl_stream_bool(s, &c->two_sided);
    pl_stream_floats(s, &c->friction, 1);
    pl_stream_floats(s, &c->restitution, 1);
    pl_stream_u32(s, &c->category, 1);
    pl_stream_u32(s, &c->mask, 1);
    pl_stream_doubles(s, c->belt, 3);
    pl_stream_doubles(s, &record->mass, 1);
    pl_stream_doubles(s, record->inertia, 3);
    pl_stream_doubles(s, record->velocity, 3);
    pl_stream_doubles(s, record->spin, 3);
    pl_stream_doubles(s, record->impulse, 3);
    pl_stream_doubles(s, record->torque, 3);
    pl_stream_int(s, &record->touches);
    pose_part(s, &record->from);
    pose_part(s, &record->to);
    if (c->kind == PL_COLLIDER_MESH)
        solid_part(s, world, record);
    if (s->in && !pl_stream_stopped(s))
        pl_stream_expect(s, pl_collider_prepare(record));
}

static void slot_part(pl_stream *s, pl_world *world, int i)
{
    pl_collider_slot *slot = world->colliders.slots + i;
    bool present = slot->record != NULL;
    pl_stream_u32(s, &slot->generation, 1);
    pl_stream_expect(s, slot->generation != 0);
    pl_stream_bool(s, &present);
    if (!present || pl_stream_stopped(s))
        return;
    if (s->in) {
        slot->record = PL_NEW(world->memory, pl_collider_record, 1);
        s->starved = !slot->record;
        if (s->starved)
            return;
        slot->record->shape.slot = (uint32_t)i;
        world->colliders.count++;
    }
    record_part(s, world, slot->record);
}

void pl_snapshot_colliders(pl_stream *s, pl_world *world)
{
    pl_colliders *all = &world->colliders;
    int count = all->slot_count;
    if (!pl_stream_count(s, &count, sizeof(uint32_t) + 1) ||
        !pl_stream_array(s, world->memory, &all->slots, (size_t)count, sizeof *all->slots))
        return;
    if (s->in)
        all->slot_count = all->slot_capacity = count;
    for (int i = 0; i < count && !pl_stream_stopped(s); i++)
        slot_part(s, world, i);
    if (s->in && !pl_stream_stopped(s))
        s->starved = pl_contact_reserve_colliders(world->contact, all->count) != PL_OK;
}
