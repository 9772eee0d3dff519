/* Going through the touches of stiff bodies (firm.c), one after the other, each seeing what those before it have moved. */
#include <math.h>

#include "contact/firm_parts.h"

/* At the most in each of two rounds; the first so many part old overlap; and of touches with colliders alone, in the end. */
enum { MOST_SWEEPS = 8, PARTING_SWEEPS = 2, SWEEPS_OF_STOPS = 4 };

/* What is off by less, in parts of what gravity does in a sub-step, is good enough. */
#define ENOUGH 0.05

/* Returns by how many metres it was off. */
static inline float press(const pl_firm_sides *s, pl_firm_touch *t)
{
    const pl_firm_row *row = t->rows;
    float off = row->missing - pl_firm_apart(s, row), after = t->by[0] + off * row->per;
    bool parted = !(after > 0);
    after = parted ? 0 : after;
    float by = after - t->by[0];
    t->by[0] = after;
    pl_firm_exchange(s, row, by);
    return parted ? 0 : fabsf(off);
}

/* What has slid is undone, as far as friction holds. */
static inline void rub(const pl_firm_sides *s, pl_firm_touch *t)
{
    float limit = t->friction * t->by[0], wanted[2];
    for (int k = 0; k < 2; k++) {
        const pl_firm_row *row = t->rows + 1 + k;
        wanted[k] = t->by[1 + k] + (row->missing - pl_firm_apart(s, row)) * row->per;
    }
    float square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
    float part = square > limit * limit ? limit / sqrtf(square) : 1;
    for (int k = 0; k < 2; k++) {
        float after = wanted[k] * part, by = after - t->by[1 + k];
        t->by[1 + k] = after;
        pl_firm_exchange(s, t->rows + 1 + k, by);
    }
}

/* ---- Old overlap ---------------------------------------------------------------------------------------- */

/* By so many metres, as far as a particle may be parted in a sub-step. */
static void part(pl_contact *contact, pl_whole_motion *still, int32_t place, pl_quad so_far,
                 const float shares[3], pl_quad lever, pl_quad n, float metres)
{
    float yield = shares[0] + shares[1] * pl_quad_sum(lever * lever) + shares[2];
    if (!(yield > 0))
        return;
    float most = contact->far * contact->radius[place] - sqrtf(pl_quad_sum(so_far * so_far));
    most = most > 0 ? most : 0;
    float by = (metres < most ? metres : most) / yield, *shift = contact->shift[place];
    still->moved += n * (by * shares[0]);
    still->spun += lever * (by * shares[1]);
    pl_quad_store(shift, pl_quad_load(shift) + n * (by * shares[2]));
}

/* Without velocity; in equal parts where both give way. */
static void recover(pl_contact *contact, const pl_firm_touch *t)
{
    const pl_firm_row *row = t->rows;
    pl_whole_motion *a = &contact->firm.wholes[t->a].still, *b = &contact->firm.wholes[t->b].still;
    float from[3] = {row->move_a, row->spin_a, row->give_a},
          to[3] = {row->move_b, row->spin_b, row->give_b};
    pl_quad at_a = a->moved + pl_quad_load(contact->shift[t->place_a]);
    pl_quad at_b = b->moved + pl_quad_load(contact->shift[t->place_b]);
    float missing = t->recover - pl_quad_sum(row->n * (at_b - at_a) + row->lever_b * b->spun -
                                             row->lever_a * a->spun);
    if (!(missing > 0) || (t->touch && !(t->recover > 0)))
        return;
    bool both = (from[0] > 0 || from[2] > 0) && (to[0] > 0 || to[2] > 0);
    missing *= both ? 0.5f : 1;
    part(contact, a, t->place_a, at_a, from, -row->lever_a, -row->n, missing);
    part(contact, b, t->place_b, at_b, to, row->lever_b, row->n, missing);
}

/* ---- Sweeps -------------------------------------------------------------------------------------------- */

/* New touches begin with an equal share in what holds a body. */
static void begin(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    for (int i = 0; i < firm->touch_count; i++) {
        pl_firm_touch *t = firm->touches + i;
        firm->wholes[t->a].touches += t->rows[0].missing > 0;
        firm->wholes[t->b].touches += t->rows[0].missing > 0;
        if (!(t->by[0] > 0))
            continue;
        pl_firm_sides s = pl_firm_sides_of(contact, t);
        for (int k = 0; k < 3; k++)
            pl_firm_exchange(&s, t->rows + k, t->by[k]);
    }
    for (int i = 0; i < firm->touch_count; i++) {
        pl_firm_touch *t = firm->touches + i;
        pl_firm_sides s = pl_firm_sides_of(contact, t);
        if (t->by[0] > 0)
            continue;
        int a = t->a ? firm->wholes[t->a].touches : 1, b = t->b ? firm->wholes[t->b].touches : 1;
        float missing =
            t->rows[0].missing - (firm->kept && firm->kept->count ? pl_firm_apart(&s, t->rows) : 0);
        if (!(missing > 0) || !(t->rows[0].missing > 0))
            continue;
        t->by[0] = missing * t->rows[0].per / (float)(a > b ? a : b);
        pl_firm_exchange(&s, t->rows, t->by[0]);
    }
}

/* Returns by how many metres one that is pushed was off at the most. */
static float sweep(pl_contact *contact, int first, bool parting)
{
    float most = 0;
    for (int i = first; i < contact->firm.touch_count; i++) {
        pl_firm_touch *t = contact->firm.touches + i;
        pl_firm_sides s = pl_firm_sides_of(contact, t);
        float off = press(&s, t);
        most = off > most ? off : most;
        if (t->friction > 0 && (t->by[0] > 0 || t->by[1] != 0 || t->by[2] != 0))
            rub(&s, t);
        if (parting)
            recover(contact, t);
    }
    return most;
}

static float enough(const pl_contact *contact)
{
    return (float)(ENOUGH * contact->gravity * contact->h * contact->h);
}

void pl_contact_sweep_firm(pl_contact *contact, int round)
{
    int fewest = round == 0 ? PARTING_SWEEPS : 1;
    float off = INFINITY;
    if (round == 0)
        begin(contact);
    for (int i = 0; i < MOST_SWEEPS && (i < fewest || off > enough(contact)); i++)
        off = sweep(contact, 0, round == 0 && i < PARTING_SWEEPS);
}

/* Colliders have the last word: what is light between them and something heavy is not left in them, where it would be pushed out particle by particle. */
void pl_firm_sweep_stops(pl_contact *contact)
{
    float off = INFINITY;
    for (int i = 0; i < SWEEPS_OF_STOPS && off > enough(contact); i++)
        off = sweep(contact, contact->firm.first_stop, true);
}
