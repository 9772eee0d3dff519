/* Bodies so stiff that contact moves all of them at once, and their touches. */
#ifndef PL_CONTACT_FIRM_H
#define PL_CONTACT_FIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"

struct pl_contact;
struct pl_touch;

/* What counts as stiff at the least: below that, particles that are pushed one by one strain
   springs by little. (Solids below 1 say 0: pl_record_firmness.) */
#define PL_FIRM 0.2

/* The impulses of one touch in the last sub-step, where the next one begins. Named by what stays
   the same when bodies come and go. */
typedef struct pl_kept_touch {
    uint32_t a,
        a_particle; /* the slot of a body and one of its particles, or of a collider and −1 */
    uint32_t b, b_particle;
    float pushed, rubbed[3]; /* times h: along n, and by friction, on b */
} pl_kept_touch;

/* They are part of the world's state: who owns it keeps them from sub-step to sub-step. */
typedef struct pl_kept_touches {
    pl_kept_touch *list;
    int count, capacity;
} pl_kept_touches;

/* Bodies that hang together by touches. */
typedef struct pl_firm_island {
    int32_t parent;
    bool driven;         /* something that moves and does not give way does work on them */
    double taken, given; /* work: by pushes, by bounces */
    double before,
        after
            [3]; /* twice the energy of motion: when they met, and with the part t of the bounces, by powers of t */
} pl_firm_island;

enum { PL_FIRM_STAGES = 20 };

/* Sections that a stage is at work on. */
typedef struct pl_firm_turn {
    int stage, begin, end;
} pl_firm_turn;

/* Sweeps through all touches, and how far each of them is: see firm_turns.c. */
typedef struct pl_firm_turns {
    int opening; /* stages before the first sweep */
    int fewest, most,
        parting; /* sweeps: at least, until nobody is stirred, that part old overlap */
    int done[PL_FIRM_STAGES];
    bool stirred[PL_FIRM_STAGES];
    pl_firm_turn now[PL_FIRM_STAGES];
    int count;
} pl_firm_turns;

typedef struct pl_contact_firm {
    pl_tasks *tasks; /* of this sub-step */
    struct pl_whole *
        wholes; /* [bodies] the first is nobody, then one for each body; of those that move as a whole it is filled */
    int whole_count, whole_capacity; /* 0 = nobody does */
    int32_t *busy;  /* [wholes] the last sweep in which touches moved it by more than a little... */
    float *stirred; /* [wholes] ...and how far since then, metres */
    pl_firm_island *islands; /* [bodies] */
    struct pl_firm_touch *touches;
    struct pl_firm_row *rows;       /* [touches][3] */
    struct pl_firm_yields *yields;  /* [touches] */
    struct pl_firm_origin *origins; /* [touches] */
    struct pl_firm_stop *stops;     /* [touches] of those with colliders */
    int touch_count, touch_capacity;
    int first_stop;               /* from here on they are with colliders */
    int sweeps;                   /* so far in this sub-step */
    struct pl_firm_block *blocks; /* [blocks of clumps] */
    int block_capacity;
    struct pl_firm_section *sections;
    int section_count, section_capacity;
    bool mixed; /* some touches are with those who move by particles */
    bool loose; /* in the last sub-step nobody could move as a whole or be sunk in anything */
    pl_firm_turns turns;
    bool one_by_one; /* a sweep begins when the one before has ended: for tests, which compare */
    int32_t *
        table; /* [table_size] the first of the kept touches whose name falls there; −1 = none... */
    int32_t *chain; /* [kept] ...and the next one */
    int table_size;
    pl_kept_touches *kept; /* of whoever calls; NULL = nothing is kept */
} pl_contact_firm;

bool pl_kept_reserve(pl_kept_touches *kept, pl_memory *memory, int count);

/* For as many bodies as there is room for, and the touches of those with so many clumps; more of
   them are made room for in the step. */
pl_status pl_contact_reserve_firm(struct pl_contact *contact, int clumps);
int pl_contact_firm_room(int clumps);

void pl_contact_free_firm(struct pl_contact *contact);

/* Whether any body is stiff enough to be moved as a whole. */
bool pl_contact_some_are_firm(const struct pl_contact *contact);

/* Which bodies move as a whole, and their touches. */
void pl_contact_find_firm(struct pl_contact *contact, pl_tasks *tasks);
bool pl_contact_is_firm(const struct pl_contact *contact, const struct pl_touch *touch);
bool pl_contact_all_are_firm(const struct pl_contact *contact, int block);

/* In turn with the sweeps of all others; old overlap is parted in round 0. */
void pl_contact_sweep_firm(struct pl_contact *contact, int round);

/* Into change, shift and touches; how far bodies turned is left with them. */
void pl_contact_finish_firm(struct pl_contact *contact);

#endif
