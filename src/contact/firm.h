/* Bodies so stiff that contact moves all of them at once, and their touches. */
#ifndef PL_CONTACT_FIRM_H
#define PL_CONTACT_FIRM_H

#include <stdbool.h>

#include "base/error.h"

struct pl_contact;
struct pl_touch;

typedef struct pl_contact_firm {
    struct pl_whole *wholes; /* [bodies] of this sub-step */
    int whole_count, whole_capacity;
    struct pl_firm_touch *touches;
    int touch_count, touch_capacity;
} pl_contact_firm;

/* For as many bodies as there is room for, and the touches of those with so many clumps; more of them are made room for in the step. */
pl_status pl_contact_reserve_firm(struct pl_contact *contact, int clumps);
/* What counts as stiff. */
#define PL_FIRM 1.0

void pl_contact_free_firm(struct pl_contact *contact);

/* Which bodies move as a whole, and their touches. */
void pl_contact_find_firm(struct pl_contact *contact);
bool pl_contact_is_firm(const struct pl_contact *contact, const struct pl_touch *touch);

/* In turn with the sweeps of all others; old overlap is parted in round 0. */
void pl_contact_sweep_firm(struct pl_contact *contact, int round);

/* Into change, shift and touches; how far bodies turned is left with them. */
void pl_contact_finish_firm(struct pl_contact *contact);

#endif
