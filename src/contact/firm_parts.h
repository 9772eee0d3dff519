/* Between the files of stiff bodies: firm.c, firm_touch.c, firm_sweep.c, firm_bounce.c, firm_keep.c. */
#ifndef PL_CONTACT_FIRM_PARTS_H
#define PL_CONTACT_FIRM_PARTS_H

#include <string.h>

#include "contact/contact.h"
#include "contact/quad.h"

/* How a body moves as one: metres, and rotation vectors in coordinates in which its inertia is 1. */
typedef struct pl_whole_motion {
    pl_quad moved, spun;
} pl_whole_motion;

/* One that moves as a whole. Inertia I = C⁻¹ C⁻ᵀ with C lower triangular, so that a lever l counts as C l and a turn is Cᵀ times what was spun. */
typedef struct pl_whole {
    pl_whole_motion by, still; /* by contacts of this sub-step: with velocity, and without */
    pl_whole_motion kick;      /* velocity without moving, per sub-step */
    pl_quad columns[3];        /* of C */
    pl_quad centre;            /* of mass, from the body's base */
    float yield;               /* 1/M; 0 = nobody */
    int body;
    int touches; /* that push it */
    bool hit;    /* in the end some of them did */
    double moved[3], turned[3], shifted[3], tilted[3], kicked[3], spun[3]; /* what came of it */
} pl_whole;

/* One direction in which two are pushed: what each of them gets of an impulse (times h) along it, positive for b. Of a particle that belongs to a whole it gets a part itself. */
typedef struct pl_firm_row {
    pl_quad n, lever_a, lever_b;
    float move_a, spin_a,
        give_a; /* metres of the whole, spun along its lever, metres of the particle */
    float move_b, spin_b, give_b;
    float per;     /* impulse per metre apart */
    float missing; /* metres apart that are asked for */
} pl_firm_row;

/* b must stay ahead of a along n, as in pl_touch; a may be a collider. Rows: along n, and across it, where they rub. */
typedef struct pl_firm_touch {
    pl_firm_row rows[3];
    float by[3]; /* impulses (times h) so far */
    float friction, recover;
    float kick,
        bounced;  /* what bouncing asks for, metres per sub-step, and its impulse (times h) */
    int32_t a, b; /* wholes */
    int32_t place_a,
        place_b;     /* particles; the one that is not there = a collider that does not give way */
    pl_touch *touch; /* between bodies, or... */
    pl_near *near;   /* ...with a collider: */
    double point[3]; /* where it touches, from the body's base */
} pl_firm_touch;

/* What the two sides of a touch do: as wholes, and their particles on top of that. */
typedef struct pl_firm_sides {
    pl_whole_motion *a, *b;
    float *particle_a, *particle_b;
} pl_firm_sides;

static inline pl_firm_sides pl_firm_sides_of(pl_contact *contact, const pl_firm_touch *t)
{
    pl_whole *wholes = contact->firm.wholes;
    return (pl_firm_sides){&wholes[t->a].by, &wholes[t->b].by, contact->change[t->place_a],
                           contact->change[t->place_b]};
}

/* How far they have come apart along a row. */
static inline float pl_firm_apart(const pl_firm_sides *s, const pl_firm_row *row)
{
    pl_quad by =
        (s->b->moved - s->a->moved) + (pl_quad_load(s->particle_b) - pl_quad_load(s->particle_a));
    return pl_quad_sum(row->n * by + row->lever_b * s->b->spun - row->lever_a * s->a->spun);
}

/* An impulse along the row: to b forwards, to a backwards. */
static inline void pl_firm_exchange(const pl_firm_sides *s, const pl_firm_row *row, float by)
{
    pl_quad n = row->n * by;
    s->a->moved -= n * row->move_a;
    s->a->spun -= row->lever_a * (by * row->spin_a);
    pl_quad_store(s->particle_a, pl_quad_load(s->particle_a) - n * row->give_a);
    s->b->moved += n * row->move_b;
    s->b->spun += row->lever_b * (by * row->spin_b);
    pl_quad_store(s->particle_b, pl_quad_load(s->particle_b) + n * row->give_b);
}

/* A particle that is not there. */
static inline int32_t pl_firm_nobody(const pl_contact *contact)
{
    return contact->nothing.a;
}

/* firm_touch.c */
void pl_firm_find_touches(pl_contact *contact);
bool pl_firm_make_room(pl_contact *contact, int count);

/* firm_sweep.c */
void pl_firm_sweep_stops(pl_contact *contact);

/* firm_bounce.c */
void pl_firm_bounce(pl_contact *contact);

/* firm_keep.c */
void pl_firm_recall(pl_contact *contact);
void pl_firm_keep(pl_contact *contact);

#endif
