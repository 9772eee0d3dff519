/* Pliant: attachments hold a point of a body to a place, to a point of another body or to a point
   of a collider, and may break. Included by pliant/pliant.h.

   They are resolved where bodies meet, in the contact stage: what holds gives way in proportion to
   mass, and momentum is exchanged, never made; a collider's share is in its impulse and torque, and
   one with a mass moves. A pin (pl_pin) draws a body to a target inside its own solver, is softer,
   and never breaks. Bodies that are attached to each other fall asleep and wake together. Particles
   that one attachment holds together do not push each other apart. */
#ifndef PLIANT_ATTACHMENT_H
#define PLIANT_ATTACHMENT_H

#ifndef PLIANT_PLIANT_H
#include "pliant/pliant.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A value, as bodies are: {0, 0} is none. Stale, too, when a body or a collider it holds is
   destroyed. */
typedef struct pl_attachment {
    uint32_t index, generation;
} pl_attachment;

typedef enum pl_attachment_kind {
    PL_ATTACH_TO_PLACE,   /* `target`: in the world; moved by pl_attachment_set_target */
    PL_ATTACH_TO_BODY,    /* `other_point` of `other`, which may be the same body */
    PL_ATTACH_TO_COLLIDER /* `target`: in the frame of `collider`, which it follows */
} pl_attachment_kind;

typedef struct pl_attachment_def {
    pl_attachment_kind kind;
    pl_body body;
    pl_pin_def
        point; /* of the body: filled in by pl_pin_at_particle, _vertex or _point; its target and strength are not used */
    pl_body other;
    pl_pin_def other_point;
    pl_collider collider;
    double target[3];   /* metres, at most 1e15 from the origin */
    double break_force; /* newtons, mean of a step, beyond which it breaks; 0 (default) = never */
    uint32_t cookie;    /* set by pl_default_attachment_def */
} pl_attachment_def;

PL_API pl_attachment_def pl_default_attachment_def(pl_attachment_kind kind);

/* Sets `target` to where the point of the body is now. */
PL_API pl_status pl_attachment_aim(const pl_world *world, pl_attachment_def *def);

/* Points that are apart are drawn together without gaining speed, in some tenths of a second. */
PL_API pl_status pl_attachment_create(pl_world *world, const pl_attachment_def *def,
                                      pl_attachment *attachment, pl_error *error);
PL_API pl_status pl_attachment_destroy(pl_world *world, pl_attachment attachment);
PL_API bool pl_attachment_is_valid(const pl_world *world, pl_attachment attachment);

/* Of attachments to a place: where it is at the end of the next step; within the step it moves
   evenly. Of attachments to a collider: the point in its frame from the next step on. */
PL_API pl_status pl_attachment_set_target(pl_world *world, pl_attachment attachment,
                                          const double target[3]);

typedef struct pl_attachment_state {
    bool broken; /* holds nothing any more; the handle stays good until it is destroyed */
    double force
        [3]; /* newtons on `body`, mean of the last step it was awake in (of the one it broke in): while it sleeps, unlike the impulses of contacts, it stays */
    double gap[3]; /* metres, from the body's point to the other */
} pl_attachment_state;
PL_API pl_status pl_attachment_get_state(const pl_world *world, pl_attachment attachment,
                                         pl_attachment_state *state);

#ifdef __cplusplus
}
#endif

#endif
