/* Attachments of a world, and their part in a step. */
#ifndef PL_WORLD_ATTACHMENT_H
#define PL_WORLD_ATTACHMENT_H

#include "matter/oriented.h"
#include "world/stream.h"

enum { PL_ATTACHMENT_COOKIE = 0x706c6174 };

typedef struct pl_attachment_slot {
    uint32_t generation; /* rises whenever one leaves; never 0 */
    bool used;
    bool broken;
    pl_attachment_kind kind;
    pl_body body, other;
    pl_collider collider;
    pl_hold point, other_point; /* what carries them: particles, weights, arms */
    double from[3],
        to[3]; /* place: target at the start and the end of the step, metres; collider: `to` is in its frame */
    double break_force; /* N; 0 = never */
    double force[3];    /* N on the body, in the last step */
    bool active;        /* in this step: not all of it sleeps */
} pl_attachment_slot;

/* Slots are taken from the lowest free one up, and their order is that of everything. */
typedef struct pl_attachments {
    int slot_count, slot_capacity, lowest, count;
    pl_attachment_slot *slots;
} pl_attachments;

void pl_attachments_clear(pl_world *world);

/* Those that leave take their attachments along; what these held wakes up. */
void pl_attachments_forget_body(pl_world *world, pl_body body);
void pl_attachments_forget_collider(pl_world *world, pl_collider collider);

/* ---- The step (attachment_step.c) ------------------------------------------------------------ */

/* The end points now, metres; false where there is none any more. */
bool pl_attachment_ends(const pl_world *world, const pl_attachment_slot *slot, double a[3],
                        double b[3]);

/* Before a step: sleepers that are pulled wake up. */
void pl_attachments_wake(pl_world *world);
void pl_attachments_begin(pl_world *world);
/* After the bodies and the colliders have been moved: the gaps of this sub-step. */
void pl_attachments_aim(pl_world *world, int substep);
void pl_attachments_land(pl_world *world);
void pl_attachments_end(pl_world *world);

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* Behind bodies and colliders. */
void pl_snapshot_attachments(pl_stream *s, pl_world *world);

#endif
