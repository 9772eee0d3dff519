/* Colliders in the contact stage: solid shapes that bodies must stay out of.

   When groups are made, every clump is paired with the colliders it might reach (pl_near). In a
   sub-step the particles of a pair are looked at on their way, seen from the collider, so that its
   own motion is part of it. Colliders that do not give way have the last word, body by body, in
   parallel; what those with a mass receive is resolved in order, with the touches between bodies.
   What a collider receives is noted in its pair and summed in the order of pairs. */
#ifndef PL_CONTACT_COLLIDER_H
#define PL_CONTACT_COLLIDER_H

#include "base/memory.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "contact/mesh.h"
#include "pliant/contact.h"
#include "shape/clumps.h"

struct pl_contact;
struct pl_contact_body;

/* Where a collider is: position and unit quaternion. */
typedef struct pl_placement {
    double position[3], rotation[4];
} pl_placement;

typedef struct pl_contact_collider {
    pl_collider_kind kind;
    double size[3];
    const pl_solid *solid; /* of meshes */
    bool two_sided;
    float friction, restitution;
    uint32_t category, mask;
    double belt[3];    /* m/s, in its frame */
    double yield;      /* 1/mass; 0 = does not give way */
    double inertia[3]; /* inverse, about its axes */
    double outline[6]; /* the box around it in its own frame; planes have none */
    uint32_t slot;

    /* In this sub-step: at its start, at its end, and for the rest of the step from here. */
    pl_placement from, to, ahead;
    double turn_from[3][3], turn_to[3][3]; /* rotations as matrices */
    double moved[3], turned[3];            /* displacement of its position, rotation vector */
    double reach[6];                       /* box it stays in until groups are made again, metres */

    /* What it has received in this sub-step. */
    double impulse[3], torque[3]; /* N s, N m s about its position */
    int touches;
    double given[3], spun[3]; /* with a mass: metres and radians that contacts have moved it... */
    double shifted[3];        /* ...and metres without velocity */
} pl_contact_collider;

/* What moves goes through bodies by itself, and they are pushed by the side that comes. */
static inline bool pl_contact_stands(const pl_contact_collider *c)
{
    return c->moved[0] == 0 && c->moved[1] == 0 && c->moved[2] == 0 && c->turned[0] == 0 &&
           c->turned[1] == 0 && c->turned[2] == 0;
}

/* A mesh with two sides: nothing is inside of it. */
static inline bool pl_contact_is_surface(const pl_contact_collider *c)
{
    return c->kind == PL_COLLIDER_MESH && c->two_sided;
}

/* A clump that may reach a collider. */
typedef struct pl_near {
    int32_t clump, collider;
    int32_t block;  /* its pl_near_hits */
    int32_t shoves; /* its pl_near_shoves; -1 = the collider does not give way */
    bool sunk;     /* some particle of the clump was deep in it already: see pl_contact_find_sunk */
    bool astride;  /* its body is on both sides of a surface of it: see firm_touch.c */
    uint32_t mask; /* bit k: particle k of the clump touched it in this sub-step */
    double impulse[3], torque[3]; /* what the collider received through this pair */
} pl_near;

/* The particles of a pair that touched, where `mask` says so: what they gave to the collider. */
typedef struct pl_near_hits {
    float impulse[3][PL_CLUMP]; /* N s */
    float normal[3][PL_CLUMP];  /* away from the collider */
    float point[3][PL_CLUMP];   /* metres from the body's base */
} pl_near_hits;

/* One particle against a collider that gives way: the particle must stay ahead of it along n. */
typedef struct pl_shove {
    double n[3], arm[3];   /* arm: from the collider's position to where they touch */
    double lever[3];       /* ...and to the particle's centre, where it is pushed */
    double depth, recover; /* as in pl_touch */
    double slide[3];       /* of the particle's surface over the collider's */
    double friction;
    double kick;          /* what bouncing gives, metres per sub-step */
    double approach;      /* along n, in this sub-step */
    double part;          /* of it, and of the slide: since they met */
    double given, rubbed; /* impulses (times h) so far, along n and by friction */
    bool was_in;          /* a mesh with two sides already, deeper than anybody is left there */
    bool pushed;
} pl_shove;

typedef struct pl_contact_colliders {
    int count, capacity;
    pl_contact_collider *colliders;
    bool shapes, yielding; /* some are no planes; some give way */

    int near_count, near_capacity, hit_capacity, shove_count, shove_capacity;
    pl_near *near; /* by clump, then by collider */
    pl_near_hits *hits;
    pl_shove (*shoves)[PL_CLUMP];
    pl_sort_item *items; /* [2 near_capacity] */
    int32_t *near_start; /* [bodies + 1] */
    int start_capacity;  /* bodies */
    double margin; /* metres that contacts may move a particle before pairs are looked for again */
} pl_contact_colliders;

void pl_contact_free_colliders(struct pl_contact *contact);

/* Room for so many, and for the pairs of as many bodies as there is room for. */
pl_status pl_contact_reserve_colliders(struct pl_contact *contact, int count);

pl_status pl_contact_reserve_near(struct pl_contact *contact);

/* After their poses `from`, `to` and `ahead` have been set: what follows from those; received is
   zero again. */
void pl_contact_aim_collider(pl_contact_collider *collider);

/* The box of a collider in one pose, or on the way from one to another. */
void pl_contact_collider_box(const pl_contact_collider *collider, const pl_placement *a,
                             const pl_placement *b, double box[6]);

/* With the groups: who is near whom; marks what is wanted. */
void pl_contact_note_near(struct pl_contact *contact);
bool pl_contact_colliders_strayed(const struct pl_contact *contact);

/* Those that give way: found in parallel, resolved in order (again and again, as one of the
   sweeps). */
void pl_contact_find_shoves(struct pl_contact *contact, pl_tasks *tasks);
void pl_contact_resolve_shoves(struct pl_contact *contact);
/* Then: those that met on the way close in no more; what bounces has all of its friction. */
void pl_contact_stop_shoves(struct pl_contact *contact);

/* After all touches: pairs of those that were moved further than anybody had foreseen. */
void pl_contact_note_late(struct pl_contact *contact);

/* Then bodies that move as a whole are brought out of colliders that do not give way, all of
   each. */
void pl_contact_stand_off(struct pl_contact *contact, pl_tasks *tasks);

/* One body against colliders that do not give way. Bodies may be done at the same time. */
void pl_contact_collide(struct pl_contact *contact, int body);

/* After that: what each has received, summed over the pairs. */
void pl_contact_sum_received(struct pl_contact *contact);

/* ---- Between the files of colliders ---------------------------------------------------------- */

/* A clump against a plane, in lanes. What overlapped before is parted in the first round only. */
void pl_contact_on_plane(struct pl_contact *contact, pl_near *near, bool first);

/* One particle as seen from a collider. */
typedef struct pl_sight {
    pl_ball ball;
    double still[3];  /* moved without velocity so far */
    double turned[3]; /* its rotation vector against the collider's */
    double came[3];   /* its velocity at the start, metres per sub-step */
    double flat;      /* the part of the rate at which it is parted; 1 = no sheet: see share.h */
    double turns;     /* the part of its turning that counts as approach of where it touches */
} pl_sight;

bool pl_contact_see(const struct pl_contact *contact, const pl_contact_collider *collider,
                    int particle, pl_sight *sight);
/* Barriers of shapes that are no meshes. */
bool pl_contact_meets(const pl_contact_collider *collider, const pl_ball *ball,
                      pl_barrier *barrier);

/* Centres in boxes, spheres and capsules, in their frames. */
bool pl_contact_is_inside(const pl_contact_collider *collider, const double p[3]);

/* Which of these a body was deep in when the sub-step began, with any of its particles. */
void pl_contact_find_sunk(struct pl_contact *contact, int body);
bool pl_contact_is_leaving(const struct pl_contact *contact, int body, int collider);

/* The way out of one for all of a body, in the collider's frame, and how far it is. */
double pl_contact_way_out(const struct pl_contact *contact, const pl_contact_collider *collider,
                          const struct pl_contact_body *body, pl_barrier *out);

/* What a particle meets of a collider of any kind. */
bool pl_contact_bars(const pl_contact_collider *collider, const pl_sight *sight,
                     pl_barrier *barrier);

/* How one particle meets a collider, if it does. */
bool pl_contact_find_shove(const struct pl_contact *contact, const pl_near *near, int particle,
                           pl_shove *shove);

/* How a barrier is answered: how far along its normal with velocity and without, and how far the
   surfaces slid. */
typedef struct pl_answer {
    double depth, recover, kick; /* kick: velocity that bouncing gives, metres per sub-step */
    double approach;             /* along the normal, in this sub-step */
    double
        part; /* of the approach and the slide: since they met, below 1 where they met on the way */
    double arm[3];   /* from the particle's centre to where it touches */
    double slide[3]; /* at right angles to the normal */
} pl_answer;

void pl_contact_answer(const struct pl_contact *contact, const pl_contact_collider *collider,
                       const pl_sight *sight, const pl_barrier *barrier, float bounce,
                       pl_answer *answer);

#endif
