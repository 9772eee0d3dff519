/* Batches of touches that share no particle, and the first sweep over them: see batch.c. */
#ifndef PL_CONTACT_BATCH_H
#define PL_CONTACT_BATCH_H

#include "contact/contact.h"

/* Before blocks are searched for touches. */
void pl_contact_begin_search(pl_contact *contact);
/* Blocks are searched in their order, whoever does it: the next one. */
int pl_contact_next_search(pl_contact *contact);
/* The touches of a block are known. */
void pl_contact_end_search(pl_contact *contact, int block, int worker);
void pl_contact_go_on(pl_contact *contact);
/* Touches have moved in memory. */
void pl_contact_move_touches(pl_contact *contact, pl_touch *from, int count, pl_touch *to);

/* All touches; or again those of marked bodies, which become PL_AGAIN. False when not all fit:
   those from plan.beyond on are in no batch. */
bool pl_contact_plan_batches(pl_contact *contact, bool again);
/* Goes through some batches, and fills them before when they are `fresh`. Returns whether a touch
   that was swept was moved by more than a little. */
bool pl_contact_sweep(pl_contact *contact, int from, int to, bool fresh);
/* What came of it, back to the touches. */
void pl_contact_empty_batches(pl_contact *contact);

#endif
