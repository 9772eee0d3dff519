/* Between the files of stiff bodies: firm.c, firm_touch.c, firm_fill_lanes.c, firm_sweep.c,
   firm_bounce.c, firm_keep.c, firm_turns.c, stand_off.c. */
#ifndef PL_CONTACT_FIRM_PARTS_H
#define PL_CONTACT_FIRM_PARTS_H

#include <stddef.h>
#include <string.h>

#include "contact/contact.h"
#include "math/quad.h"

/* How a body moves as one: metres, and rotation vectors in coordinates in which its inertia is
   1. */
typedef struct pl_whole_motion {
    pl_quad moved, spun;
} pl_whole_motion;

/* One that moves as a whole. Inertia I = C⁻¹ C⁻ᵀ with C lower triangular, so that a lever l counts
   as C l and a turn is Cᵀ times what was spun. What every sweep looks at is a cache line, what
   touches are made from is another. */
typedef struct pl_whole {
    _Alignas(64) pl_whole_motion by; /* by contacts of this sub-step */
    float yield;                     /* 1/M; 0 = nobody */
    int body;
    int touches;                     /* that push it */
    bool hit;                        /* in the end some of them did */
    _Alignas(64) pl_quad columns[3]; /* of C */
    pl_quad centre;                  /* of mass, from the body's base */
    pl_whole_motion still;           /* as `by`, without velocity */
    pl_whole_motion kick;            /* velocity without moving, per sub-step */
    double moved[3], turned[3], shifted[3], tilted[3], kicked[3], spun[3]; /* what came of it */
} pl_whole;

/* One direction in which two are pushed: what each of them gets of an impulse (times h) along it,
   positive for b. Of a particle that belongs to a whole it gets a part itself. A cache line: sweeps
   are as fast as rows come from memory. */
typedef struct pl_firm_row {
    _Alignas(64) float n[3];
    float per; /* impulse per metre apart */
    float lever_a[3];
    float missing; /* metres apart that are asked for */
    float lever_b[3];
    /* Parts of an impulse: metres of the particle, to the whole. */
    float give_b, spin_a, give_a, spin_b;
    float
        by; /* impulse (times h) so far: apart from what is loaded as four, which would wait for it */
} pl_firm_row;

_Static_assert(sizeof(pl_firm_row) == 64, "a cache line");

/* How far each side gives way to an impulse along the rows, where it acts; and how far both are
   moved across by one along the first, along the other two. */
typedef struct pl_firm_yields {
    float a[3], b[3], across[2];
} pl_firm_yields;

/* b must stay ahead of a along n, as in pl_touch; a may be a collider. It has three rows: along n,
   and across it, where they rub. */
enum { PL_FIRM_ROWS = 3 };

typedef struct pl_firm_touch {
    int32_t a, b; /* wholes */
    int32_t place_a,
        place_b; /* particles; the one that is not there = a collider that does not give way */
    bool deep;   /* in each other from before: parted, and nothing else */
    bool
        passing; /* met after a part of the way: where they end says nothing of where they touched */
    float friction, recover;
    float kick,
        bounced; /* what bouncing asks for, metres per sub-step, and its impulse (times h) */
} pl_firm_touch;

/* Where it is from: between bodies, or with a collider. Seldom looked at. */
typedef struct pl_firm_origin {
    pl_touch *touch;
    pl_near *near;
    bool
        slows; /* it bounces, or met after a part of the way: friction slows velocities down, too */
    float slowed[2]; /* impulses (times h) of that friction, across */
} pl_firm_origin;

/* Of one with a collider: in the order of pl_touch, with the point where it touches, from the
   body's base, in place of what only two bodies have. */
typedef struct pl_firm_stop {
    float n[3], depth, slide[3], friction, normal[3], recover, point[3], kick;
} pl_firm_stop;

_Static_assert(sizeof(pl_firm_stop) == PL_TOUCH_VALUES * sizeof(float) &&
                   offsetof(pl_firm_stop, depth) == offsetof(pl_touch, depth) &&
                   offsetof(pl_firm_stop, slide) == offsetof(pl_touch, slide) &&
                   offsetof(pl_firm_stop, friction) == offsetof(pl_touch, friction) &&
                   offsetof(pl_firm_stop, normal) == offsetof(pl_touch, normal) &&
                   offsetof(pl_firm_stop, recover) == offsetof(pl_touch, recover) &&
                   offsetof(pl_firm_stop, point) == offsetof(pl_touch, give_a) &&
                   offsetof(pl_firm_stop, kick) == offsetof(pl_touch, kick),
               "both become lanes in the same way");

/* Those found in one block of clumps. */
typedef struct pl_firm_block {
    int32_t first, count;
    int32_t low, high; /* the first and the last body in them */
    bool mixed;        /* in some of them, one of the two is moved by particles */
} pl_firm_block;

/* So many touches that follow each other, and stops of bodies that are in none of the touches
   behind them. */
typedef struct pl_firm_section {
    int32_t first, end;           /* touches */
    int32_t first_stop, end_stop; /* also in the list of touches */
    int32_t low, high;            /* the first and the last body in them */
    int32_t least, most; /* of this section and those behind it, of it and those before it */
    int32_t from, reach; /* only those from `from` on and before `reach` may share a body with it */
    int32_t stirred;     /* the last sweep in which a touch of it stirred somebody */
} pl_firm_section;

static inline pl_firm_row *pl_firm_rows_of(const pl_contact *contact, const pl_firm_touch *t)
{
    return contact->firm.rows + PL_FIRM_ROWS * (t - contact->firm.touches);
}

static inline pl_firm_origin *pl_firm_origin_of(const pl_contact *contact, const pl_firm_touch *t)
{
    return contact->firm.origins + (t - contact->firm.touches);
}

/* Of one with a collider. */
static inline const pl_firm_stop *pl_firm_stop_of(const pl_contact *contact, const pl_firm_touch *t)
{
    return contact->firm.stops + (t - contact->firm.touches - contact->firm.first_stop);
}

/* What the two sides of a touch do: as wholes, and their particles on top of that; and where that
   is kept. */
typedef struct pl_firm_pair {
    pl_whole_motion a, b;
    pl_quad particle_a, particle_b;
    float yield_a, yield_b;       /* of the wholes */
    pl_whole_motion *of_a, *of_b; /* NULL = nobody, who is the same for all and not written */
    float *of_particle_a, *of_particle_b;
} pl_firm_pair;

/* A particle that is not there. */
static inline int32_t pl_firm_nobody(const pl_contact *contact)
{
    return contact->nothing.a;
}

static inline pl_firm_pair pl_firm_load(pl_contact *contact, const pl_firm_touch *t,
                                        pl_whole_motion *a, pl_whole_motion *b, float (*by)[4])
{
    const pl_whole *wholes = contact->firm.wholes;
    float *at_a = by[t->place_a], *at_b = by[t->place_b];
    return (pl_firm_pair){.a = *a,
                          .b = *b,
                          .particle_a = pl_quad_load(at_a),
                          .particle_b = pl_quad_load(at_b),
                          .yield_a = wholes[t->a].yield,
                          .yield_b = wholes[t->b].yield,
                          .of_a = t->a ? a : NULL,
                          .of_b = t->b ? b : NULL,
                          .of_particle_a = t->place_a != pl_firm_nobody(contact) ? at_a : NULL,
                          .of_particle_b = at_b};
}

/* By contacts of this sub-step. */
static inline pl_firm_pair pl_firm_load_pushed(pl_contact *contact, const pl_firm_touch *t)
{
    pl_whole *wholes = contact->firm.wholes;
    return pl_firm_load(contact, t, &wholes[t->a].by, &wholes[t->b].by, contact->change);
}

static inline void pl_firm_store(const pl_firm_pair *p)
{
    if (p->of_a)
        *p->of_a = p->a;
    if (p->of_b)
        *p->of_b = p->b;
    if (p->of_particle_a)
        pl_quad_store(p->of_particle_a, p->particle_a);
    pl_quad_store(p->of_particle_b, p->particle_b);
}

/* How far they have come apart along a row. */
static inline float pl_firm_apart(const pl_firm_pair *p, const pl_firm_row *row)
{
    pl_quad by = (p->b.moved - p->a.moved) + (p->particle_b - p->particle_a);
    /* What stands behind the third numbers is not summed. */
    return pl_quad_sum(pl_quad_load(row->n) * by + pl_quad_load(row->lever_b) * p->b.spun -
                       pl_quad_load(row->lever_a) * p->a.spun);
}

/* An impulse along the row: to b forwards, to a backwards. */
static inline void pl_firm_exchange(pl_firm_pair *p, const pl_firm_row *row, float by)
{
    pl_quad n = pl_quad_three(row->n) * by;
    p->a.moved -= n * (row->spin_a * p->yield_a);
    p->a.spun -= pl_quad_three(row->lever_a) * (by * row->spin_a);
    p->particle_a -= n * row->give_a;
    p->b.moved += n * (row->spin_b * p->yield_b);
    p->b.spun += pl_quad_three(row->lever_b) * (by * row->spin_b);
    p->particle_b += n * row->give_b;
}

/* How a whole moves: by V, and by (exp([θ]) − 1) r, column by column. */
typedef struct pl_firm_lead {
    pl_quad by, turn[3];
    bool any;
} pl_firm_lead;

static inline pl_quad pl_firm_turned(const pl_firm_lead *l, pl_quad r)
{
    return l->turn[0] * r[0] + l->turn[1] * r[1] + l->turn[2] * r[2];
}

/* What bouncing gives, metres per sub-step. Velocity is the way from where everything was, so that
   is turned further back: where it is turned on from where it is, what spins by a radian in a
   sub-step would shrink. */
typedef struct pl_firm_kick {
    pl_firm_lead back;
    pl_quad way; /* of the centre of mass in this sub-step */
} pl_firm_kick;

/* To a particle that is at r from the centre of mass and went so far. */
static inline pl_quad pl_firm_kicked(const pl_firm_kick *kick, pl_quad r, pl_quad went)
{
    return kick->back.by - pl_firm_turned(&kick->back, r - (went - kick->way));
}

/* firm.c */
pl_firm_lead pl_firm_lead_of(const double by[3], const double turned[3]);
pl_firm_kick pl_firm_kick_of(const pl_contact *contact, const pl_whole *whole,
                             const double kicked[3], const double spun[3]);
/* Cᵀ spun: a rotation vector. */
void pl_firm_unfold(const pl_whole *whole, pl_quad spun, double out[3]);
/* I⁻¹ v = Cᵀ C v. */
void pl_firm_ease(const pl_whole *whole, const double v[3], double out[3]);

/* firm_touch.c */
void pl_firm_find_touches(pl_contact *contact);
bool pl_firm_make_room(pl_contact *contact, int count);

/* firm_fill_lanes.c: the rows of some of them. */
void pl_firm_fill(pl_contact *contact, int begin, int end);

/* firm_sweep.c */
void pl_firm_sweep_stops(pl_contact *contact);

/* firm_turns.c: touches are cut into sections; and all of them are gone through in the stages that
   firm.turns speaks of. */
void pl_firm_cut(pl_contact *contact);
int pl_firm_section_room(int touches);
void pl_firm_take_turns(pl_contact *contact);
bool pl_firm_run_stage(pl_contact *contact, pl_firm_section *section, int stage);

/* firm_bounce.c */
void pl_firm_bounce(pl_contact *contact);

/* firm_keep.c: what was kept by its name; then of each touch, when it is found and when it is
   done. */
void pl_firm_list_kept(pl_contact *contact);
const pl_kept_touch *pl_firm_recall(const pl_contact *contact, const pl_firm_touch *touch);
void pl_firm_begin_keeping(pl_contact *contact);
void pl_firm_keep(pl_contact *contact, int number);
void pl_firm_end_keeping(pl_contact *contact);

/* stand_off.c: which particles of a pair a collider may meet. */
uint32_t pl_firm_may_reach(const pl_contact *contact, const pl_near *near);

#endif
