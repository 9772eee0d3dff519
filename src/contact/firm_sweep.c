/* Going through the touches of stiff bodies (firm.c), one after the other, each seeing what those
   before it have moved. */
#include <math.h>

#include "contact/firm_parts.h"

/* At the most in each of two rounds; the first so many part old overlap; and of touches with
   colliders alone, in the end. */
enum { MOST_SWEEPS = 16, PARTING_SWEEPS = 2, SWEEPS_OF_STOPS = 4 };

/* The part of its way that friction goes in a sweep, from the third on, as long as there is a push;
   what is off is looked at in the same measure. Where several touches of one pair ask for what no
   body can do (four corners of a face, each a little different), what they push goes to and fro
   between them, for ever and to no effect, and friction follows because it may as far as they push:
   those were most of all late sweeps. */
#define PACE 0.4f

/* What is off by less, in parts of what gravity does in a sub-step, is good enough. */
#define ENOUGH 0.03

/* What a touch gives in a sweep. */
typedef struct pushes {
    float apart[PL_FIRM_ROWS]; /* along its rows, before that */
    float by[PL_FIRM_ROWS];    /* more than so far */
    bool off;                  /* by more than what is good enough */
} pushes;

static inline void press(pl_firm_row *row, float enough, pushes *p)
{
    float off = row->missing - p->apart[0], after = row->by + off * row->per;
    bool parted = !(after > 0);
    after = parted ? 0 : after;
    p->by[0] = after - row->by;
    row->by = after;
    p->off = !parted && fabsf(off) > enough;
}

/* What has slid is undone, as far as friction holds: `limit`; the part `pace` of the way there. How
   far the push moves them across it is known beforehand, so that nobody has to wait until it
   has. */
static inline void rub(pl_firm_row rows[2], const float across[2], float limit, float pace,
                       float enough, pushes *p)
{
    float wanted[2];
    for (int k = 0; k < 2; k++) {
        float apart = p->apart[1 + k] + across[k] * p->by[0];
        wanted[k] = rows[k].by + (rows[k].missing - apart) * rows[k].per;
    }
    float square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
    float part = square > limit * limit ? limit / sqrtf(square) : 1;
    for (int k = 0; k < 2; k++) {
        float by = pace * (wanted[k] * part - rows[k].by);
        p->by[1 + k] = by;
        rows[k].by += by;
        p->off |= fabsf(by) > enough * rows[k].per;
    }
}

/* ---- Old overlap ----------------------------------------------------------------------------- */

/* By so many metres, as far as a particle may be parted in a sub-step. Shares: metres of the whole,
   of what it spins, metres of the particle. */
static void part(pl_contact *contact, pl_whole_motion *still, int32_t place, pl_quad so_far,
                 const float shares[3], pl_quad lever, pl_quad n, float metres)
{
    float yield = shares[0] + shares[1] * pl_quad_sum(lever * lever) + shares[2];
    if (!(yield > 0))
        return;
    float most = contact->far * contact->radius[place] - sqrtf(pl_quad_sum(so_far * so_far));
    most = most > 0 ? most : 0;
    float by = (metres < most ? metres : most) / yield, *shift = contact->shift[place];
    if (shares[1] > 0) { /* else it is nobody's, or asks for nothing */
        still->moved += n * (by * shares[0]);
        still->spun += lever * (by * shares[1]);
    }
    pl_quad_store(shift, pl_quad_load(shift) + n * (by * shares[2]));
}

/* The part of the way apart that a goes, of two that give way: half of it. Between a whole and a
   single particle of another body, however, all of the one moves and hardly anything of the other:
   something heavy would be carried along by whatever light and soft thing it is in, and their
   common centre with it. So a whole that is heavier than the other body goes less, as they weigh.
   (One that is lighter no more: it may lie between the other and a wall.) */
static float share_of_a(const pl_contact *contact, const pl_firm_touch *t)
{
    if (t->a && t->b)
        return 0.5f;
    double a = contact->bodies[contact->body_of[t->place_a / PL_CLUMP]].weight;
    double b = contact->bodies[contact->body_of[t->place_b / PL_CLUMP]].weight;
    if (!t->b && b > 0 && b < a)
        return (float)(b / (a + b));
    if (!t->a && a > 0 && a < b)
        return (float)(b / (a + b));
    return 0.5f;
}

/* Without velocity. Nobody pays for what that strains, so of its share, s, a particle gets the part
   s once more; of sheets, whose wide particles overlap again and again as they turn, nothing. */
static void recover(pl_contact *contact, const pl_firm_touch *t)
{
    bool stop = t - contact->firm.touches >= contact->firm.first_stop;
    if (!stop && !(t->recover > 0))
        return;
    const pl_firm_row *row = pl_firm_rows_of(contact, t);
    pl_whole *whole_a = contact->firm.wholes + t->a, *whole_b = contact->firm.wholes + t->b;
    pl_whole_motion *a = &whole_a->still, *b = &whole_b->still;
    pl_quad n = pl_quad_three(row->n), lever_a = pl_quad_three(row->lever_a),
            lever_b = pl_quad_three(row->lever_b);
    pl_quad at_a = a->moved + pl_quad_load(contact->shift[t->place_a]);
    pl_quad at_b = b->moved + pl_quad_load(contact->shift[t->place_b]);
    float missing =
        t->recover - pl_quad_sum(n * (at_b - at_a) + lever_b * b->spun - lever_a * a->spun);
    if (!(missing > 0))
        return;
    float from[3] = {row->spin_a * whole_a->yield, row->spin_a, row->give_a * (1 - row->spin_a)},
          to[3] = {row->spin_b * whole_b->yield, row->spin_b, row->give_b * (1 - row->spin_b)};
    if (t->deep)
        from[2] *= !t->a, to[2] *= !t->b;
    from[2] *= t->a && contact->bodies[whole_a->body].flat ? 0 : 1;
    to[2] *= t->b && contact->bodies[whole_b->body].flat ? 0 : 1;
    bool both = (from[0] > 0 || from[2] > 0) && (to[0] > 0 || to[2] > 0);
    float share = both ? share_of_a(contact, t) : 1;
    part(contact, a, t->place_a, at_a, from, -lever_a, -n, missing * share);
    part(contact, b, t->place_b, at_b, to, lever_b, n, missing * (both ? 1 - share : 1));
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* Those that were there begin with what they gave. */
static void begin_kept(pl_contact *contact, const pl_firm_touch *t)
{
    pl_firm_row *rows = pl_firm_rows_of(contact, t);
    pl_whole *wholes = contact->firm.wholes;
    if (t->a)
        wholes[t->a].touches += rows->missing > 0;
    if (t->b)
        wholes[t->b].touches += rows->missing > 0;
    if (!(rows->by > 0))
        return;
    pl_firm_pair p = pl_firm_load_pushed(contact, t);
    for (int k = 0; k < PL_FIRM_ROWS; k++)
        pl_firm_exchange(&p, rows + k, rows[k].by);
    pl_firm_store(&p);
}

/* New ones with an equal share in what holds a body. */
static void begin_new(pl_contact *contact, const pl_firm_touch *t)
{
    const pl_contact_firm *firm = &contact->firm;
    pl_firm_row *row = pl_firm_rows_of(contact, t);
    if (row->by > 0 || !(row->missing > 0))
        return;
    pl_firm_pair p = pl_firm_load_pushed(contact, t);
    int a = t->a ? firm->wholes[t->a].touches : 1, b = t->b ? firm->wholes[t->b].touches : 1;
    float missing = row->missing - (firm->kept && firm->kept->count ? pl_firm_apart(&p, row) : 0);
    if (!(missing > 0))
        return;
    row->by = missing * row->per / (float)(a > b ? a : b);
    pl_firm_exchange(&p, row, row->by);
    pl_firm_store(&p);
}

typedef struct sweeps {
    int number;   /* the sweep that is under way, from 1 on */
    float enough; /* metres */
    float pace;   /* of friction */
    bool parting;
} sweeps;

static sweeps sweep_of(const pl_contact *contact, int number, bool parting)
{
    return (sweeps){.number = number,
                    .enough = (float)(ENOUGH * contact->gravity * contact->h * contact->h),
                    .pace = parting ? 1 : PACE,
                    .parting = parting};
}

/* Touches of bodies that were all as they should be, in this sweep and the one before, are passed
   over; not where old overlap is parted, which the others do not wait for. */
static bool is_quiet(const pl_contact *contact, const pl_firm_touch *t, const sweeps *w)
{
    const int32_t *busy = contact->firm.busy;
    if (w->parting || (!t->a && t->place_a != pl_firm_nobody(contact)) || !t->b)
        return false;
    return busy[t->a] < w->number - 1 && busy[t->b] < w->number - 1;
}

/* By how much a side was moved where an impulse acts, added up: others of its touches are looked at
   again when that is more than a little. What is heavy is not stirred by every light thing that
   touches it. */
static bool stir(pl_contact_firm *firm, int32_t whole, float far, const sweeps *w)
{
    if (!whole)
        return false;
    firm->stirred[whole] += far;
    if (!(firm->stirred[whole] > 0.5f * w->enough))
        return false;
    firm->stirred[whole] = 0;
    firm->busy[whole] = w->number;
    return true;
}

static bool stir_both(pl_contact *contact, const pl_firm_touch *t, const float by[PL_FIRM_ROWS],
                      const sweeps *w)
{
    pl_contact_firm *firm = &contact->firm;
    const pl_firm_yields *yields = firm->yields + (t - firm->touches);
    bool any = false;
    for (int k = 0; k < PL_FIRM_ROWS; k++) {
        any |= stir(firm, t->a, fabsf(by[k]) * yields->a[k], w);
        any |= stir(firm, t->b, fabsf(by[k]) * yields->b[k], w);
    }
    return any;
}

/* Some that follow each other. Returns whether anybody was stirred. */
static bool sweep(pl_contact *contact, int first, int end, const sweeps *w)
{
    bool any = false;
    for (int i = first; i < end; i++) {
        pl_firm_touch *t = contact->firm.touches + i;
        if (is_quiet(contact, t, w))
            continue;
        pl_firm_row *rows = pl_firm_rows_of(contact, t);
        pl_firm_pair p = pl_firm_load_pushed(contact, t);
        pushes gives = {.off = false};
        int count = t->friction > 0 ? PL_FIRM_ROWS : 1;
        for (int k = 0; k < count; k++)
            gives.apart[k] = pl_firm_apart(&p, rows + k);
        press(rows, w->enough, &gives);
        if (count > 1 && (rows->by > 0 || rows[1].by != 0 || rows[2].by != 0))
            rub(rows + 1, contact->firm.yields[i].across, t->friction * rows->by,
                rows->by > 0 ? w->pace : 1, w->enough, &gives);
        for (int k = 0; k < count; k++)
            pl_firm_exchange(&p, rows + k, gives.by[k]);
        pl_firm_store(&p);
        if (w->parting)
            recover(contact, t);
        any |= gives.off && stir_both(contact, t, gives.by, w);
    }
    return any;
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* Two ways to begin; then sweeps. */
enum { OPENING = 2 };

_Static_assert(OPENING + MOST_SWEEPS <= PL_FIRM_STAGES, "room for all stages");

/* More neighbours are not asked one by one. */
enum { FEW_NEIGHBOURS = 64 };

/* Whether all touches of a section are, because nobody was stirred near it in this sweep and the
   one before. */
static bool all_are_quiet(const pl_contact_firm *firm, const pl_firm_section *s, const sweeps *w)
{
    if (w->parting || firm->mixed || s->reach - s->from > FEW_NEIGHBOURS)
        return false;
    for (int i = s->from; i < s->reach; i++) {
        const pl_firm_section *other = firm->sections + i;
        bool apart = other->high < s->low || other->low > s->high;
        if (!apart && other->stirred >= w->number - 1)
            return false;
    }
    return true;
}

static bool sweep_section(pl_contact *contact, pl_firm_section *s, const sweeps *w)
{
    if (all_are_quiet(&contact->firm, s, w))
        return false;
    bool any = sweep(contact, s->first, s->end, w);
    any |= sweep(contact, s->first_stop, s->end_stop, w);
    if (any)
        s->stirred = w->number;
    return any;
}

static void begin(pl_contact *contact, int first, int end, int stage)
{
    for (int i = first; i < end; i++)
        (stage ? begin_new : begin_kept)(contact, contact->firm.touches + i);
}

bool pl_firm_run_stage(pl_contact *contact, pl_firm_section *s, int stage)
{
    const pl_firm_turns *turns = &contact->firm.turns;
    if (stage < turns->opening) {
        begin(contact, s->first, s->end, stage);
        begin(contact, s->first_stop, s->end_stop, stage);
        return false;
    }
    int i = stage - turns->opening;
    sweeps w = sweep_of(contact, contact->firm.sweeps + i + 1, i < turns->parting);
    return sweep_section(contact, s, &w);
}

/* Particles of those that touch themselves were moved one by one since the last round. Returns
   whether there are any. */
static bool wake_self_touching(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    bool any = false;
    for (int b = 0; firm->whole_count && b < contact->body_count; b++)
        if (contact->bodies[b].self && contact->bodies[b].whole) {
            firm->busy[b + 1] = firm->sweeps;
            any = true;
        }
    for (int i = 0; any && i < firm->section_count; i++)
        firm->sections[i].stirred = firm->sweeps;
    return any;
}

/* A few times at least, and up to MOST_SWEEPS until all are as they should be; the first of them
   part old overlap. In the second round, after touches of others, who was quiet before stays so; it
   is for those who could have been moved meanwhile: by touches with particles, or among their
   own. */
void pl_contact_sweep_firm(pl_contact *contact, int round)
{
    pl_contact_firm *firm = &contact->firm;
    if (!firm->touch_count)
        return;
    if (round == 0) {
        firm->sweeps = 0;
        firm->turns.opening = OPENING;
        firm->turns.fewest = firm->turns.parting = PARTING_SWEEPS;
    } else {
        bool self_touching = wake_self_touching(contact);
        if (!contact->batch_count || !(firm->mixed || self_touching))
            return;
        firm->turns.opening = firm->turns.fewest = firm->turns.parting = 0;
    }
    firm->turns.most = MOST_SWEEPS;
    pl_firm_take_turns(contact);
}

static void sweep_some_stops(pl_contact *contact, int begin, int end, int worker)
{
    sweeps w = sweep_of(contact, contact->firm.sweeps, true);
    (void)worker;
    for (int i = begin; i < end; i++) {
        pl_firm_section *s = contact->firm.sections + i;
        if (sweep(contact, s->first_stop, s->end_stop, &w))
            s->stirred = w.number;
    }
}

enum { SECTIONS_PER_TASK = 8 };

/* Colliders have the last word: what is light between them and something heavy is not left in them,
   where it would be pushed out particle by particle. */
void pl_firm_sweep_stops(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    bool off = firm->first_stop < firm->touch_count;
    for (int i = 0; i < SWEEPS_OF_STOPS && off; i++) {
        firm->sweeps++;
        pl_contact_run_stage(contact, firm->tasks, sweep_some_stops, firm->section_count,
                             SECTIONS_PER_TASK);
        off = false;
        for (int k = 0; k < firm->section_count; k++)
            off |= firm->sections[k].stirred == firm->sweeps;
    }
}
