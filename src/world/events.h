/* Who touched whom in the last step: what the contact stage resolved, summed by pairs of bodies and
   by bodies and colliders. */
#ifndef PL_WORLD_EVENTS_H
#define PL_WORLD_EVENTS_H

#include "base/memory.h"
#include "base/sort.h"
#include "pliant/pliant.h"
#include "world/stream.h"

/* One pair in the making. */
typedef struct pl_tally {
    uint64_t key; /* order of creation of a, then of b; colliders behind all bodies */
    pl_contact_event event;
    double impulse, friction, hardest; /* N s; `hardest`: of one particle in one sub-step */
} pl_tally;

/* Everything here has room for `capacity` pairs; the table for twice as many, a power of two. */
typedef struct pl_events {
    int capacity, count;
    pl_contact_event *list;   /* of the last step, in order */
    pl_contact_event *before; /* of the step before it, while a new list is made */
    int tally_count;
    pl_tally *tallies;
    int32_t *table; /* number of a tally + 1 by the hash of its key; 0 = empty */
    pl_sort_item *items;
    int block, touch; /* of this sub-step those before are told of */
    bool settled;     /* nothing began, ended or was pressed: stays as it is while all sleep */
    uint64_t lost;    /* pairs there was no memory for */
} pl_events;

/* Room for so many pairs; keeps what is there. */
bool pl_events_reserve(pl_events *events, pl_memory *memory, int count);
void pl_events_clear(pl_events *events, pl_memory *memory);

/* In every sub-step: those between bodies when they are resolved, those with colliders after that.
   A worker that runs out of room leaves the rest to the caller's thread, which may make some. */
void pl_events_begin_touches(pl_world *world);
void pl_events_add_touches(pl_world *world, bool by_caller);
void pl_events_add_hits(pl_world *world);

/* After the last one: `done` of them were computed. */
void pl_events_close(pl_world *world, int done);

/* Of those that leave nothing is told any more. */
void pl_events_forget_body(pl_world *world, uint32_t slot);
void pl_events_forget_collider(pl_world *world, uint32_t slot);

void pl_snapshot_events(pl_stream *s, pl_world *world);

#endif
