/* Colliders in a step. Those without a mass go evenly from where they are to where they are to be
   (rotations by normalised interpolation); those with one go by their velocity and by what they
   receive. Sleepers in their way are woken before it. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "world/world.h"

/* ---- Poses ----------------------------------------------------------------------------------- */

static void pose_between(const pl_placement *from, const pl_placement *to, double t,
                         pl_placement *out)
{
    double side = 0, length = 0;
    if (t >= 1) {
        *out = *to;
        return;
    }
    for (int k = 0; k < 3; k++)
        out->position[k] = from->position[k] + t * (to->position[k] - from->position[k]);
    for (int k = 0; k < 4; k++)
        side += from->rotation[k] * to->rotation[k];
    for (int k = 0; k < 4; k++) {
        out->rotation[k] = from->rotation[k] * (side < 0 ? t - 1 : 1 - t) + t * to->rotation[k];
        length += out->rotation[k] * out->rotation[k];
    }
    if (memcmp(from->rotation, to->rotation, sizeof from->rotation) == 0)
        memcpy(out->rotation, to->rotation, sizeof out->rotation); /* does not turn at all */
    else
        for (int k = 0; k < 4; k++)
            out->rotation[k] /= sqrt(length);
}

/* Displaced by `by` and turned by the rotation vector `turn`. */
static void displace(pl_placement *pose, const double by[3], const double turn[3])
{
    pl_vec3 axis = {turn[0], turn[1], turn[2]};
    double angle = pl_v3_length(axis), *q = pose->rotation;
    for (int k = 0; k < 3; k++)
        pose->position[k] += by[k];
    if (!(angle > 0))
        return;
    pl_quat next = pl_quat_normalise(
        pl_quat_mul(pl_quat_axis_angle(axis, angle), (pl_quat){q[0], q[1], q[2], q[3]}));
    q[0] = next.x, q[1] = next.y, q[2] = next.z, q[3] = next.w;
}

static pl_placement thrown(const pl_collider_record *record, double seconds)
{
    pl_placement pose = record->from;
    double by[3], turn[3];
    for (int k = 0; k < 3; k++) {
        by[k] = seconds * record->velocity[k];
        turn[k] = seconds * record->spin[k];
    }
    displace(&pose, by, turn);
    return pose;
}

/* ---- Sleepers -------------------------------------------------------------------------------- */

/* Planes: whether the box reaches below. */
static bool reaches(const pl_contact_collider *c, const pl_placement *pose, const double box[6])
{
    const double *q = pose->rotation;
    pl_mat3 r = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    double lowest = 0, size = 0;
    (void)c;
    for (int k = 0; k < 3; k++) {
        double n = r.m[k][1];
        lowest += n * (box[n > 0 ? k : 3 + k] - pose->position[k]);
        size += box[3 + k] - box[k];
    }
    return lowest < 0.02 * size;
}

static bool is_in_way(const pl_collider_record *record, const pl_placement *a,
                      const pl_placement *b, const double reach[6], const double box[6])
{
    if (record->shape.kind == PL_COLLIDER_PLANE)
        return reaches(&record->shape, a, box) || reaches(&record->shape, b, box);
    for (int k = 0; k < 3; k++) {
        double pad = 0.02 * (box[3 + k] - box[k]);
        if (reach[k] > box[3 + k] + pad || reach[3 + k] < box[k] - pad)
            return false;
    }
    return true;
}

void pl_collider_wake_near(pl_world *world, const pl_collider_record *record, const pl_placement *a,
                           const pl_placement *b)
{
    double reach[6];
    pl_contact_collider_box(&record->shape, a, b, reach);
    for (pl_record *body = world->first; body; body = body->next) {
        if (body->asleep && is_in_way(record, a, b, reach, pl_record_sleep_box(body)))
            pl_world_wake(world, body);
    }
}

static bool differs(const pl_placement *a, const pl_placement *b)
{
    return memcmp(a, b, sizeof *a) != 0;
}

void pl_colliders_wake(pl_world *world)
{
    for (int i = 0; i < world->colliders.slot_count; i++) {
        const pl_collider_record *record = world->colliders.slots[i].record;
        if (!record)
            continue;
        pl_placement to = record->mass > 0 ? thrown(record, world->step) : record->to;
        if (differs(&record->from, &to))
            pl_collider_wake_near(world, record, &record->from, &to);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

void pl_colliders_begin(pl_world *world)
{
    for (int i = 0; i < world->colliders.slot_count; i++) {
        pl_collider_record *record = world->colliders.slots[i].record;
        if (!record)
            continue;
        memset(record->impulse, 0, sizeof record->impulse);
        memset(record->torque, 0, sizeof record->torque);
        record->touches = 0;
        /* Where it goes is known for one step only. */
        if (record->mass > 0 || differs(&record->from, &record->to))
            world->contact->stale = true;
    }
}

static void aim(const pl_world *world, const pl_collider_record *record, int substep,
                pl_contact_collider *c)
{
    double n = world->substeps;
    *c = record->shape;
    if (record->mass > 0) {
        c->from = record->from;
        c->to = thrown(record, world->h);
        c->ahead = thrown(record, world->h * (world->substeps - substep));
    } else {
        pose_between(&record->from, &record->to, substep / n, &c->from);
        pose_between(&record->from, &record->to, (substep + 1) / n, &c->to);
        c->ahead = record->to;
    }
}

void pl_colliders_aim(pl_world *world, int substep)
{
    pl_contact_colliders *all = &world->contact->against;
    all->count = 0;
    all->shapes = all->yielding = false;
    for (int i = 0; i < world->colliders.slot_count; i++) {
        const pl_collider_record *record = world->colliders.slots[i].record;
        if (!record)
            continue;
        pl_contact_collider *c = all->colliders + all->count++;
        double reach[6];
        memcpy(reach, c->reach, sizeof reach); /* of the rows that are in use */
        aim(world, record, substep, c);
        memcpy(c->reach, reach, sizeof reach);
        pl_contact_aim_collider(c);
        all->shapes |= c->kind != PL_COLLIDER_PLANE;
        all->yielding |= c->yield > 0;
    }
}

static void land(const pl_world *world, const pl_contact_collider *c, pl_collider_record *record)
{
    for (int k = 0; k < 3; k++) {
        record->impulse[k] += c->impulse[k];
        record->torque[k] += c->torque[k];
    }
    record->touches = c->touches;
    if (!(record->mass > 0))
        return;
    double by[3];
    for (int k = 0; k < 3; k++) {
        by[k] = c->given[k] + c->shifted[k];
        record->velocity[k] += c->given[k] / world->h;
        record->spin[k] += c->spun[k] / world->h;
    }
    record->from = c->to;
    displace(&record->from, by, c->spun);
    record->to = record->from;
}

void pl_colliders_land(pl_world *world)
{
    const pl_contact_colliders *all = &world->contact->against;
    pl_contact_sum_received(world->contact);
    for (int i = 0; i < all->count; i++)
        land(world, all->colliders + i, world->colliders.slots[all->colliders[i].slot].record);
}

void pl_colliders_end(pl_world *world, int done)
{
    for (int i = 0; i < world->colliders.slot_count; i++) {
        pl_collider_record *record = world->colliders.slots[i].record;
        if (!record)
            continue;
        if (record->mass > 0 && done < world->substeps)
            record->to = thrown(record, world->h * (world->substeps - done));
        record->from = record->to;
    }
}
