/* Colliders of a world: the records behind their handles, and their part in a step. */
#ifndef PL_WORLD_COLLIDER_H
#define PL_WORLD_COLLIDER_H

#include "contact/collider.h"
#include "world/stream.h"

enum { PL_COLLIDER_COOKIE = 0x706c636c };

typedef struct pl_collider_record {
    pl_contact_collider shape; /* what does not change in a step */
    pl_solid *solid;           /* owned */
    pl_placement from, to;     /* now, and at the end of the next step */
    double mass, inertia[3], velocity[3], spin[3];
    double impulse[3], torque[3]; /* received in the last step */
    int touches;
    void *user;
} pl_collider_record;

/* Generations rise whenever a collider leaves, and are never 0. */
typedef struct pl_collider_slot {
    uint32_t generation;
    pl_collider_record *record; /* NULL = free */
} pl_collider_slot;

/* Those of a world; slots are taken from the lowest free one up, and their order is that of
   everything. */
typedef struct pl_colliders {
    int slot_count, slot_capacity, lowest, count;
    pl_collider_slot *slots;
} pl_colliders;

void pl_colliders_clear(pl_world *world);

pl_collider_record *pl_collider_find(const pl_world *world,
                                     pl_collider collider); /* NULL = stale */

/* What follows from kind, sizes and mass; false where they are not usable. */
bool pl_collider_prepare(pl_collider_record *record);

/* ---- The step (collider_motion.c) ------------------------------------------------------------ */

/* Before a step: sleepers in the way wake up. */
void pl_colliders_wake(pl_world *world);
/* Those that a collider touches in a pose or between two. */
void pl_collider_wake_near(pl_world *world, const pl_collider_record *record, const pl_placement *a,
                           const pl_placement *b);

void pl_colliders_begin(pl_world *world);
void pl_colliders_aim(pl_world *world, int substep);
void pl_colliders_land(pl_world *world);
/* After so many sub-steps, which may be fewer than there are when nobody is awake. */
void pl_colliders_end(pl_world *world, int done);

/* ---- Snapshots ------------------------------------------------------------------------------- */

void pl_snapshot_colliders(pl_stream *s, pl_world *world);

#endif
