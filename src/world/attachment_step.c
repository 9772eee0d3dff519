/* Attachments in a step: where their ends are, from the bodies' particles and the colliders' poses,
   becomes joints for the contact stage; what those pulled is summed, and held against the force
   they break at. */
#include <math.h>
#include <string.h>

#include "contact/share.h"
#include "math/quat.h"
#include "world/world.h"

/* ---- Where ends are -------------------------------------------------------------------------- */

/* Σ w_j (x_j + R_j r̄_j), metres. */
static pl_vec3 point_of(const pl_hold *hold, const pl_state *state, const double origin[3],
                        double unit)
{
    pl_vec3 sum = {0, 0, 0};
    for (int j = 0; j < hold->count; j++) {
        const float *x = state->x + 3 * (size_t)hold->particle[j];
        const float *q = state->q + 4 * (size_t)hold->particle[j];
        const double *arm = hold->arm[j];
        pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        pl_vec3 at = pl_quat_rotate(turn, (pl_vec3){arm[0], arm[1], arm[2]});
        at = pl_v3_add(at, (pl_vec3){(double)x[0], (double)x[1], (double)x[2]});
        sum = pl_v3_add_scaled(sum, hold->weight[j], at);
    }
    return (pl_vec3){(sum.x + origin[0]) * unit, (sum.y + origin[1]) * unit,
                     (sum.z + origin[2]) * unit};
}

static pl_vec3 vector(const double v[3])
{
    return (pl_vec3){v[0], v[1], v[2]};
}

static void store(pl_vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

/* From the position of a pose to a point of its frame. */
static pl_vec3 arm_in(const pl_placement *pose, const double point[3])
{
    const double *q = pose->rotation;
    return pl_quat_rotate((pl_quat){q[0], q[1], q[2], q[3]}, vector(point));
}

static pl_vec3 now_of(const pl_record *record, const pl_hold *hold)
{
    const pl_state *now = &record->matter.now;
    return point_of(hold, now, now->origin, record->model->unit);
}

bool pl_attachment_ends(const pl_world *world, const pl_attachment_slot *slot, double a[3],
                        double b[3])
{
    const pl_record *body = pl_world_record(world, slot->body);
    const pl_record *other = pl_world_record(world, slot->other);
    const pl_collider_record *collider = pl_collider_find(world, slot->collider);
    memset(a, 0, 3 * sizeof *a);
    memcpy(b, slot->to, 3 * sizeof *b);
    if (!body || (slot->kind == PL_ATTACH_TO_BODY && !other) ||
        (slot->kind == PL_ATTACH_TO_COLLIDER && !collider))
        return false;
    store(now_of(body, &slot->point), a);
    if (slot->kind == PL_ATTACH_TO_BODY)
        store(now_of(other, &slot->other_point), b);
    if (slot->kind == PL_ATTACH_TO_COLLIDER)
        store(pl_v3_add(vector(collider->from.position), arm_in(&collider->from, slot->to)), b);
    return true;
}

/* ---- Sleepers -------------------------------------------------------------------------------- */

/* What a body is held to moves by itself. */
static bool is_drawn(const pl_world *world, const pl_attachment_slot *slot)
{
    if (slot->kind == PL_ATTACH_TO_PLACE)
        return memcmp(slot->from, slot->to, sizeof slot->to) != 0;
    if (slot->kind == PL_ATTACH_TO_BODY)
        return !pl_world_record(world, slot->other)->asleep;
    const pl_collider_record *collider = pl_collider_find(world, slot->collider);
    return collider->mass > 0 || memcmp(&collider->from, &collider->to, sizeof collider->to) != 0;
}

void pl_attachments_wake(pl_world *world)
{
    for (int i = 0; i < world->attachments.slot_count; i++) {
        const pl_attachment_slot *slot = world->attachments.slots + i;
        if (!slot->used || slot->broken)
            continue;
        pl_record *body = pl_world_record(world, slot->body);
        if (body->asleep && is_drawn(world, slot))
            pl_world_wake(world, body);
        pl_record *other = pl_world_record(world, slot->other);
        if (slot->kind == PL_ATTACH_TO_BODY && !body->asleep && other->asleep)
            pl_world_wake(world, other);
    }
}

/* ---- Sub-steps ------------------------------------------------------------------------------- */

void pl_attachments_begin(pl_world *world)
{
    for (int i = 0; i < world->attachments.slot_count; i++) {
        pl_attachment_slot *slot = world->attachments.slots + i;
        const pl_record *body = slot->used ? pl_world_record(world, slot->body) : NULL;
        slot->active = body && !slot->broken && !body->asleep;
        if (slot->active)
            memset(slot->force, 0, sizeof slot->force);
    }
}

static void set_end(const pl_contact *contact, const pl_record *record, const pl_hold *hold,
                    pl_joint_end *end)
{
    const pl_contact_body *body = contact->bodies + record->contact;
    end->count = hold->count;
    for (int j = 0; j < hold->count; j++) {
        end->place[j] = body->first_clump * PL_CLUMP + body->clumps->place[hold->particle[j]];
        end->weight[j] = hold->weight[j];
    }
}

/* Where a body's point was at the start of the sub-step, and is now. */
static void body_end(const pl_contact *contact, const pl_record *record, const pl_hold *hold,
                     pl_joint_end *end, pl_vec3 *start, pl_vec3 *now)
{
    const pl_oriented *matter = &record->matter;
    set_end(contact, record, hold, end);
    *start = point_of(hold, &matter->old, matter->old.origin, record->model->unit);
    *now = point_of(hold, &matter->now, matter->place, record->model->unit);
}

static void place_end(const pl_world *world, const pl_attachment_slot *slot, int substep,
                      pl_vec3 *start, pl_vec3 *now)
{
    double s = (double)substep / world->substeps, t = (double)(substep + 1) / world->substeps;
    pl_vec3 from = vector(slot->from), way = pl_v3_sub(vector(slot->to), from);
    *start = pl_v3_add_scaled(from, s, way);
    *now = substep + 1 == world->substeps ? vector(slot->to) : pl_v3_add_scaled(from, t, way);
}

/* Colliders are entered in the order of their slots. */
static int32_t collider_number(const pl_contact_colliders *all, uint32_t slot)
{
    int low = 0, high = all->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (all->colliders[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void collider_end(const pl_contact *contact, const pl_attachment_slot *slot, pl_joint *joint,
                         pl_vec3 *start, pl_vec3 *now)
{
    joint->collider = collider_number(&contact->against, slot->collider.index);
    const pl_contact_collider *c = contact->against.colliders + joint->collider;
    pl_vec3 arm = arm_in(&c->to, slot->to);
    store(arm, joint->arm);
    *start = pl_v3_add(vector(c->from.position), arm_in(&c->from, slot->to));
    *now = pl_v3_add(vector(c->to.position), arm);
}

/* A gap that was there before is closed at the rate of overlaps, and never faster than by the size
   of a particle in a sub-step. */
static pl_vec3 closed_part(const pl_world *world, const pl_record *body, pl_vec3 gap)
{
    double part = fmin(PL_RECOVERY_RATE * world->h, 1), length = pl_v3_length(gap);
    double most = (double)world->contact->bodies[body->contact].largest;
    if (length * part > most)
        part = most / length;
    return pl_v3_scale(gap, part);
}

static void aim(const pl_world *world, const pl_attachment_slot *slot, int substep, pl_joint *joint)
{
    const pl_contact *contact = world->contact;
    const pl_record *body = pl_world_record(world, slot->body);
    pl_vec3 a, b, old_a, old_b;
    body_end(contact, body, &slot->point, &joint->a, &old_a, &a);
    if (slot->kind == PL_ATTACH_TO_PLACE)
        place_end(world, slot, substep, &old_b, &b);
    else if (slot->kind == PL_ATTACH_TO_BODY)
        body_end(contact, pl_world_record(world, slot->other), &slot->other_point, &joint->b,
                 &old_b, &b);
    else
        collider_end(contact, slot, joint, &old_b, &b);
    pl_vec3 before = pl_v3_sub(old_b, old_a);
    store(pl_v3_sub(pl_v3_sub(b, a), before), joint->gap);
    store(closed_part(world, body, before), joint->recover);
}

void pl_attachments_aim(pl_world *world, int substep)
{
    pl_contact_joints *joints = &world->contact->joints;
    joints->count = 0;
    for (int i = 0; i < world->attachments.slot_count; i++) {
        const pl_attachment_slot *slot = world->attachments.slots + i;
        if (!slot->used || !slot->active)
            continue;
        pl_joint *joint = joints->joints + joints->count++;
        *joint = (pl_joint){.collider = -1, .owner = (uint32_t)i};
        aim(world, slot, substep, joint);
    }
}

/* kg m in a sub-step → N over the step. */
void pl_attachments_land(pl_world *world)
{
    const pl_contact_joints *joints = &world->contact->joints;
    for (int i = 0; i < joints->count; i++) {
        const pl_joint *joint = joints->joints + i;
        pl_attachment_slot *slot = world->attachments.slots + joint->owner;
        for (int k = 0; k < 3; k++)
            slot->force[k] += joint->pull[k] / (world->h * world->step);
    }
}

void pl_attachments_end(pl_world *world)
{
    for (int i = 0; i < world->attachments.slot_count; i++) {
        pl_attachment_slot *slot = world->attachments.slots + i;
        double force = pl_v3_length(vector(slot->force));
        if (slot->active && slot->break_force > 0 && !(force <= slot->break_force))
            slot->broken = true;
        for (int k = 0; k < 3; k++)
            slot->force[k] = isfinite(slot->force[k]) ? slot->force[k] : 0;
        memcpy(slot->from, slot->to, sizeof slot->from);
        slot->active = false;
    }
}
