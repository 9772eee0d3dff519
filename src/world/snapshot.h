/* The layout of a snapshot. What is in it is state; whatever follows from that (systems,
   corrections, groups) is made anew. The parts work in both directions: see stream.h. Memory for
   what is read comes from the world; a body must have its model already. */
#ifndef PL_WORLD_SNAPSHOT_H
#define PL_WORLD_SNAPSHOT_H

#include "world/stream.h"
#include "world/world.h"

#define PL_SNAPSHOT_MAGIC UINT64_C(0x31706e536e61696c) /* "lianSnp1" */
enum { PL_SNAPSHOT_VERSION = 6 };

/* The fewest bytes that a body and one of its particles take. */
enum { PL_SNAPSHOT_BODY = 448, PL_SNAPSHOT_PARTICLE = 168 };

/* Step, gravity, time and the like, and the generations of all slots. */
void pl_snapshot_settings(pl_stream *s, pl_world *world);
void pl_snapshot_body(pl_stream *s, pl_world *world, pl_record *record);
void pl_snapshot_kept(pl_stream *s, pl_world *world);      /* impulses of stiff bodies */
void pl_snapshot_hold(pl_stream *s, pl_hold *hold, int n); /* of a body with n particles */

#endif
