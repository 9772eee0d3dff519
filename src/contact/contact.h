/* Contacts between bodies and inside one: all particles of the world as ellipsoids in clumps of
   sixteen.

   Once in a while (broad phase) clumps that might meet are paired: groups. They stay good as long
   as nobody moves further from its clump's straight path than the slack it was given; then results
   do not depend on when groups were made, because groups that find nothing leave no trace. In every
   sub-step (narrow phase) the rows of a group, one particle of a clump against the sixteen of the
   other, become pairs whose spheres overlap, pairs become contacts where the ellipsoids do (closest
   approach along the line of centres, Perram & Wertheim 1985), and contacts are resolved one after
   the other in a fixed order (Gauss–Seidel).

   Positions are floats from a base in double per body; bases are subtracted first. */
#ifndef PL_CONTACT_CONTACT_H
#define PL_CONTACT_CONTACT_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "contact/collider.h"
#include "contact/firm.h"
#include "contact/joint.h"
#include "contact/share.h"
#include "shape/clumps.h"

/* ---- What contact is shown ------------------------------------------------------------------- */

typedef struct pl_contact_body {
    /* What every group asks for: a cache line. */
    _Alignas(64) double base[3]; /* metres: what its particles' places are measured from, now */
    float friction, restitution;
    float grip;              /* √friction */
    float largest;           /* radius of its largest particle */
    uint32_t category, mask; /* two bodies meet where each one's category is in the other's mask */
    const pl_clumps *clumps;
    int first_clump;
    uint32_t slot; /* what its owner calls it */

    double centre[3];   /* of its particles */
    double velocity[3]; /* m/s, mean */
    double unit;        /* metres per model unit */
    bool self;          /* touches itself */
    bool flat;          /* a sheet: see share.h */
    bool lone;          /* one free particle: primitives tell all of its turn, by whatever angle */
    bool asleep;        /* stands still: does not look for others, is found by them */
    bool woken;         /* was pushed while asleep */
    bool shown;         /* all of it, in this sub-step: see pl_contact.show */
    bool swept, torn, halted; /* scratch of pl_contact_halt, with the next two */
    int32_t zone;
    double box[6];
    bool touching, grounded; /* touched a body, a collider: set here, cleared by whoever reads it */
    bool borne;              /* touched a collider that gives way: likewise */
    bool
        kicked; /* colliders that do not have left something in `kick`: until that is brought back */
    double weight; /* mass of its particles, kg; 0 where some are fixed */

    /* Stiffness, see firm.c: L_ii and m_i of its particles in one unit, and the mean of L_ii/m_i −
       1; 0 = moved particle by particle; infinite = rigid. */
    const double *diagonal, *mass;
    double firm;
    double
        round; /* inertia of its particles about their own centres, on average: that of balls, kg m² */
    float
        slack; /* how far it may be left in a collider, in half widths of particles: what is left then is parted as a whole later */
    int32_t whole;               /* its number among those moved as a whole; 0 = it is not */
    bool sunk;                   /* in a collider from before: see way_out.c */
    bool leaves;                 /* it is on its way out: does not fall asleep */
    bool turns;                  /* it was: all its particles turn with it... */
    double turned[3], tilted[3]; /* ...by so much, rotation vectors; with velocity and without */
    double spun[3];              /* velocity without turning, per sub-step */

    /* When groups were last made. */
    double mark_base[3];
} pl_contact_body;

/* Of a particle about its centre, m/5 (tr B − B): xx, xy, xz, yy, yz, zz. */
static inline void pl_contact_own_inertia(const pl_primitive *p, double mass, double out[6])
{
    const float *b = p->shape;
    double trace = (double)b[0] + (double)b[3] + (double)b[5];
    for (int k = 0; k < 6; k++)
        out[k] = 0.2 * mass * ((k == 0 || k == 3 || k == 5 ? trace : 0) - (double)b[k]);
}

/* How much its particles turn with it: not at all where each is moved on its own, altogether where
   it is rigid. */
static inline double pl_contact_oneness(const pl_contact_body *body)
{
    double square = body->firm * body->firm;
    if (!(body->whole > 0))
        return 0;
    return body->firm < 1e6 ? square / (1 + square) : 1;
}

/* Of the rate at which it is parted from a collider; 1 = no sheet. See share.h. */
static inline double pl_contact_flat_part(const pl_contact_body *body)
{
    if (!body->flat)
        return 1;
    return body->firm > 0 ? PL_FLAT_PART : PL_SLACK_FLAT_PART;
}

/* ---- Groups, touches ------------------------------------------------------------------------- */

/* Two clumps that may meet. The other is later in the order of clumps, or the same, or asleep. Gaps
   are between spheres and at the time groups were made: both keep to their paths, which come nearer
   to each other by no more than `closing`. */
typedef struct pl_group {
    int32_t clump, other;
    float closing; /* m/s */
    float gap;     /* the least of all */
    float beyond;  /* the least of what the last closer look did not see... */
    float keep;    /* ...the same, counted from that look on */
} pl_group;

/* What is between each particle of the first clump and the other: at least so many steps, of which
   PL_ROW_GAPS are `keep`. */
enum { PL_ROW_GAPS = 254 };

typedef struct pl_row_gaps {
    uint8_t of[PL_CLUMP];
} pl_row_gaps;

/* b must stay ahead of a along n. All lengths in metres. */
typedef struct pl_touch {
    float n[3];     /* from a to b: along the line of centres */
    float depth;    /* how much further apart they must be along n at the end of the sub-step */
    float slide[3]; /* displacement of b's surface against a's in this sub-step */
    float friction;
    float normal[3];      /* of the surfaces where they touch */
    float recover;        /* to be parted without gaining speed: what overlapped already before */
    float give_a, give_b; /* shares of a correction, summing to 1 */
    float mass;           /* both yields together: what one metre of correction is worth, kg */
    float kick;           /* what bouncing gives: metres per sub-step along n */
    float pushed, rubbed; /* corrections made so far along n and by friction */
    int32_t a, b;
    int32_t swept; /* bits, below */
} pl_touch;

/* Bits of `swept`: looked at along the way, and head-on; once all touches are resolved only where
   somebody was thrown by its speed. To be resolved again and again; deep in each other from before;
   met after a part of the way. And what is little of the correction made so far. */
enum { PL_SWEPT = 1, PL_AGAIN = 2, PL_DEEP = 4, PL_MET = 8 };
#define PL_LITTLE 0.02f

/* Touches that share no particle, value by value in the order in which they lie in a touch. */
enum { PL_BATCH = 16, PL_TOUCH_VALUES = 16 };

typedef struct pl_batch {
    _Alignas(64) float values[PL_TOUCH_VALUES][PL_BATCH];
    float pushed[PL_BATCH], rubbed[PL_BATCH];
    int32_t swept[PL_BATCH], acted[PL_BATCH]; /* masks: PL_SWEPT; something was moved */
    int32_t a[PL_BATCH], b[PL_BATCH];
} pl_batch;

/* The touch-th of a block. */
typedef struct pl_touch_place {
    int block, touch;
} pl_touch_place;

/* How far touches have become batches, and batches were swept for the first time: see batch.c. */
typedef struct pl_plan {
    bool some_firm; /* some bodies may move as a whole */
    bool early;     /* the first sweep has begun while touches were looked for */
    int open;       /* batches before it are full */
    int swept;      /* batches before it have been swept */
    pl_touch_place
        beyond; /* the first for which there was no room; that behind the last block = none */
    atomic_bool *found;               /* [blocks] all its touches are known */
    _Alignas(64) atomic_int searched; /* blocks that somebody has begun to search */
    _Alignas(64) atomic_int next;     /* the first block that is not in batches */
    atomic_bool busy;                 /* somebody goes on with it */
} pl_plan;

/* A pair is swept when it moved further than this part of its smallest half axes, and came head-on
   when that is by more than this part of the distance at which the two touch. */
#define PL_SWEPT_PART 0.5f
/* The same, less what rounding may add to sums of ways. */
#define PL_SLOW_PART 0.49999f

/* How the particles of a clump move together, metres: a row of eight numbers, which become lanes as
   they are. */
typedef struct pl_clump_motion {
    float mean[3]; /* they moved in this sub-step, on average... */
    float swing;   /* ...and against that, at the most */
    float stray;   /* they have left their paths by at its end... */
    float loose;   /* ...and at any time of it */
    float
        excess; /* one of them against the mean on top of PL_SWEPT_PART of its smallest half axis, at the most */
    float slack; /* they should keep to their paths give or take this */
} pl_clump_motion;

/* A run of elements in the buffer of one worker. */
typedef struct pl_segment {
    int32_t worker, first, count;
    bool full;  /* did not fit: to be done again with more room */
    bool swept; /* some touch of it has PL_SWEPT */
    bool met;   /* ...PL_MET */
} pl_segment;

typedef struct pl_contact_buffer {
    pl_group *groups;
    pl_row_gaps *gaps; /* of each group */
    pl_touch *touches;
    int32_t group_count, group_capacity, touch_count, touch_capacity;
    int32_t *found; /* [clumps] what a query has found */
    bool strayed;   /* somebody has left its path */
    bool firm;      /* somebody moves as a whole */
    bool moved;     /* somebody was moved out of a collider: scratch of pl_contact_stand_off */
    uint64_t ticks; /* of work in parallel stages; whoever reads it clears it */
    char padding[64];
} pl_contact_buffer;

/* Whether a clump's primitives are needed: not, as before groups were made, or since. */
enum { PL_NOT_WANTED, PL_WANTED, PL_WANTED_ANEW };

enum { PL_CLUMPS_PER_BLOCK = 16, PL_BRANCHES = 16, PL_QUERY_NODES = 128 };

/* A tree over boxes: nodes of sixteen children side by side, level by level; the leaves are
   clumps. */
typedef struct pl_box_node {
    float low[3][PL_BRANCHES], high[3][PL_BRANCHES];
    int32_t child[PL_BRANCHES]; /* node of the level below, or clump; -1 = none */
} pl_box_node;

typedef struct pl_contact {
    pl_memory *memory;
    int worker_count;

    int body_count, body_capacity;
    pl_contact_body *bodies;

    int clump_count, clump_capacity;
    pl_clump_places *places, *marks; /* [clumps] now, and when groups were made */
    pl_clump_places *ways;           /* [clumps] displacements in this sub-step, metres */
    pl_primitive *primitives;        /* [clumps][16] */
    float *radius, *least;           /* [clumps][16] largest and smallest half axis, metres */
    float *mass;                     /* [clumps][16] kg; 0 = none, or does not give way */
    uint16_t *used;                  /* [clumps] */
    int32_t *body_of;                /* [clumps] */
    float *thick;                    /* [clumps] the largest of `radius` */
    float (*path)[3];        /* [clumps] m/s when groups were made: it should go on like that */
    pl_clump_motion *motion; /* [clumps] */
    float (*spheres)[4];     /* [clumps] around its particles: middle from the base, radius */
    float *boxes;            /* [clumps][6] from `anchor`: where its particles may get to */
    uint8_t *wanted;    /* [clumps] some group speaks of it: primitives are needed; PL_WANTED_… */
    float (*change)[4]; /* [clumps][16] what contacts have moved so far: x, y, z */
    float (*shift)[4];  /* [clumps][16] the same, without velocity */
    float (*kick)[4];   /* [clumps][16] velocity without moving, metres per sub-step */
    float (*came)
        [4]; /* [clumps][16] velocity at the start, likewise; only where something bounces or is shown */
    float
        far; /* in a sub-step nobody is moved further without velocity, in radii: what a single overlap asks for at the most */
    bool some_sleep;   /* some body is asleep */
    bool some_flat;    /* some body is a sheet */
    bool bouncy;       /* some body or collider bounces */
    bool kicks;        /* there may be something in `kick` of any body */
    uint16_t *touched; /* [clumps] bit k: something has changed of particle k */

    /* Called for bodies that are looked at more closely: brings the primitives of clumps that are
       not wanted, and `came`. NULL = both are there. */
    void (*show)(void *host, int body);
    /* Brings `came` of one particle. NULL = it is there. */
    void (*tell)(void *host, int32_t place);
    /* Brings the velocities of a body's clumps at the start of the sub-step, m/s, for their paths.
       NULL = they go on as in this sub-step. */
    void (*pace)(void *host, int body, float (*out)[3]);
    void *host;

    pl_contact_colliders against;
    pl_contact_joints joints;
    pl_contact_firm firm;
    uint8_t
        *marked; /* [clumps] scratch of whoever looks for some of them among the touches: zeros */

    /* Tree. */
    double anchor[3];
    pl_box_node *nodes;
    int node_count, node_capacity;
    int root, root_count; /* nodes nobody is above of; in the order of clumps where depth is 0 */
    int depth;            /* levels below them */
    pl_sort_item *items;  /* [2 clumps] */

    int block_count;
    pl_segment *group_segments, *touch_segments; /* [blocks of clumps] */
    pl_contact_buffer *buffers;                  /* [worker_count] */

    /* Touches of this sub-step in batches: those that share a particle in the order of touches. */
    pl_batch *batches;
    pl_touch **
        order; /* [batches][16] who is in them: apart, since planning should not have to reach for large batches */
    uint8_t *batch_full; /* [batches] how many of the sixteen */
    int batch_count, batch_capacity;
    pl_plan plan;
    pl_touch nothing; /* of a particle that is not there, with itself */
    int32_t *
        last; /* [clumps][16] the stamp behind the batch that last moved it; those of earlier batches are below `stamp` */
    int32_t stamp;

    bool stale;                     /* groups must be made anew whatever has moved */
    double horizon;                 /* seconds for which groups are made */
    double until;                   /* when that is over */
    double time, made;              /* now, and when groups were made */
    double h, step, gravity;        /* seconds; m/s² */
    uint64_t builds, touches, lost; /* counters */
    uint64_t
        apart; /* ticks for which the caller was in parallel stages; likewise cleared by the reader */
} pl_contact;

/* `bit`: 1, or 0 for nothing. */
static inline void pl_contact_note_touched(pl_contact *contact, int32_t place, uint32_t bit)
{
    uint32_t at = (uint32_t)place;
    contact->touched[at / PL_CLUMP] |= (uint16_t)(bit << at % PL_CLUMP);
}

pl_contact *pl_contact_create(pl_memory *memory, int workers);
void pl_contact_destroy(pl_contact *contact);

/* Room for so many bodies and clumps; then entering them cannot fail. Keeps what is there. */
pl_status pl_contact_reserve(pl_contact *contact, int bodies, int clumps);

/* Forgets all bodies; then bodies are entered one after the other. Radii and masses are those of
   its particles, in units of the model and in `mass_unit`. Returns the body's number. */
void pl_contact_clear(pl_contact *contact);
int pl_contact_enter(pl_contact *contact, const pl_contact_body *body, const float *radii,
                     const double *masses, double mass_unit, const uint8_t *is_fixed);

/* After its places and ways are there: how far a body's clumps are from their paths. Bodies may be
   done at the same time. */
void pl_contact_follow(pl_contact *contact, int body, int worker);

/* Then: whether somebody has left the path groups were made for (or the horizon is over). */
bool pl_contact_groups_are_stale(pl_contact *contact);
/* For the rest of the step, and longer where nobody is fast. */
void pl_contact_make_groups(pl_contact *contact, double rest_of_step, pl_tasks *tasks);

/* Places → touches, in parallel; where it can, the first sweep over them is begun meanwhile. */
void pl_contact_find(pl_contact *contact, pl_tasks *tasks);

/* When touches that were swept have been resolved: nobody passes through anybody all the same. */
void pl_contact_halt(pl_contact *contact);

/* Touches → change and shift, in order. */
void pl_contact_resolve(pl_contact *contact, pl_tasks *tasks);

/* A stage cut into tasks, whose time is counted: items [begin, end), by this worker. */
void pl_contact_run_stage(pl_contact *contact, pl_tasks *tasks,
                          void (*run)(pl_contact *, int, int, int), int count, int grain);

#endif
