/* Bounces of stiff bodies (firm.c): velocity without moving, of the whole body, so that what met goes apart at the speed that is asked for.

   An impulse does as much work as itself times the mean of the speeds before and after it. Where all that bounces goes apart no faster than it came, no energy is
   made; but sweeps end before that is so, and friction has its part. Hence, for those that hang together by touches, what the bounces would bring is held
   against what the pushes took, and they are made smaller where it is more. */
#include "contact/firm_parts.h"

enum { SWEEPS_OF_BOUNCES = 10 };

static pl_firm_pair load_kicked(pl_contact *contact, const pl_firm_touch *t)
{
    pl_whole *wholes = contact->firm.wholes;
    return pl_firm_load(contact, t, &wholes[t->a].kick, &wholes[t->b].kick, contact->kick);
}

static bool bounces(const pl_contact *contact, const pl_firm_touch *t)
{
    return t->kick > 0 && pl_firm_rows_of(contact, t)->by > 0;
}

/* How far they are apart by the pushes, along a row. */
static float pushed_apart(pl_contact *contact, const pl_firm_touch *t, int row)
{
    pl_firm_pair p = pl_firm_load_pushed(contact, t);
    return pl_firm_apart(&p, pl_firm_rows_of(contact, t) + row);
}

/* Less where others have pushed them apart already. To begin with, as many times what stopped them as they are to be faster. */
static void begin(pl_contact *contact, pl_firm_touch *t)
{
    const pl_firm_row *row = pl_firm_rows_of(contact, t);
    pl_firm_pair p = load_kicked(contact, t);
    float more = pushed_apart(contact, t, 0) - row->missing;
    t->kick -= more > 0 ? more : 0;
    if (!(t->kick > 0) || !(row->missing > 0))
        return;
    float most = t->kick * row->per, like = row->by * t->kick / row->missing;
    t->bounced = like < most ? like : most;
    pl_firm_exchange(&p, row, t->bounced);
    pl_firm_store(&p);
}

static void sweep(pl_contact *contact)
{
    for (int i = 0; i < contact->firm.touch_count; i++) {
        pl_firm_touch *t = contact->firm.touches + i;
        if (!bounces(contact, t))
            continue;
        const pl_firm_row *row = pl_firm_rows_of(contact, t);
        pl_firm_pair p = load_kicked(contact, t);
        float after = t->bounced + (t->kick - pl_firm_apart(&p, row)) * row->per;
        after = after > 0 ? after : 0;
        pl_firm_exchange(&p, row, after - t->bounced);
        pl_firm_store(&p);
        t->bounced = after;
    }
}

/* ---- What hangs together --------------------------------------------------------------------------------- */

static int32_t leader_of(pl_contact *contact, int32_t body)
{
    pl_firm_island *islands = contact->firm.islands;
    while (islands[body].parent != body)
        body = islands[body].parent = islands[islands[body].parent].parent;
    return body;
}

static int32_t body_b(const pl_contact *contact, const pl_firm_touch *t)
{
    return contact->body_of[t->place_b / PL_CLUMP];
}

static void find_islands(pl_contact *contact)
{
    for (int b = 0; b < contact->body_count; b++)
        contact->firm.islands[b] = (pl_firm_island){.parent = b};
    for (int i = 0; i < contact->firm.first_stop; i++) {
        const pl_firm_touch *t = contact->firm.touches + i;
        int32_t a = leader_of(contact, contact->body_of[t->place_a / PL_CLUMP]);
        int32_t b = leader_of(contact, body_b(contact, t));
        contact->firm.islands[a > b ? a : b].parent = a > b ? b : a;
    }
}

/* How fast they came at each other after the solve, metres per sub-step. */
static float approach_of(const pl_contact *contact, const pl_firm_touch *t)
{
    const pl_firm_origin *origin = pl_firm_origin_of(contact, t);
    pl_quad b = pl_quad_of(contact->primitives[t->place_b].moved), a;
    if (origin->touch) {
        a = pl_quad_of(contact->primitives[t->place_a].moved);
    } else {
        const double *by = contact->against.colliders[origin->near->collider].moved;
        const pl_primitive *p = contact->primitives + t->place_b;
        pl_quad arm = {(float)origin->point[0], (float)origin->point[1], (float)origin->point[2],
                       0};
        float turns = (float)pl_contact_oneness(contact->bodies + body_b(contact, t));
        b += pl_quad_cross(pl_quad_of(p->turned), arm - pl_quad_of(p->x)) * turns;
        a = (pl_quad){(float)by[0], (float)by[1], (float)by[2], 0};
    }
    return pl_quad_sum(pl_quad_three(pl_firm_rows_of(contact, t)->n) * (a - b));
}

/* Times h². */
static void count_work(pl_contact *contact, const pl_firm_touch *t)
{
    pl_firm_island *island = contact->firm.islands + leader_of(contact, body_b(contact, t));
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    pl_firm_pair p = load_kicked(contact, t);
    float came = approach_of(contact, t), apart = pushed_apart(contact, t, 0);
    island->taken += (double)(rows->by * (came - 0.5f * apart));
    island->given += (double)(t->bounced * (apart - came + 0.5f * pl_firm_apart(&p, rows)));
    for (int k = 1; k < PL_FIRM_ROWS; k++)
        island->taken +=
            (double)(rows[k].by * (rows[k].missing - 0.5f * pushed_apart(contact, t, k)));
}

/* Twice the bounce is at least twice the work. */
static float part_of(const pl_firm_island *island)
{
    if (!(island->given > island->taken))
        return 1;
    return island->taken > 0 ? (float)(island->taken / island->given) : 0;
}

static void shrink(pl_contact *contact)
{
    pl_firm_touch *touches = contact->firm.touches;
    int count = contact->firm.touch_count;
    find_islands(contact);
    for (int i = 0; i < count; i++)
        count_work(contact, touches + i);
    for (int i = 0; i < contact->firm.whole_count; i++)
        contact->firm.wholes[i].kick = (pl_whole_motion){{0}, {0}};
    for (int i = 0; i < count; i++) {
        memset(contact->kick[touches[i].place_a], 0, sizeof *contact->kick);
        memset(contact->kick[touches[i].place_b], 0, sizeof *contact->kick);
    }
    for (int i = 0; i < count; i++) {
        pl_firm_touch *t = touches + i;
        pl_firm_pair p = load_kicked(contact, t);
        t->bounced *= part_of(contact->firm.islands + leader_of(contact, body_b(contact, t)));
        pl_firm_exchange(&p, pl_firm_rows_of(contact, t), t->bounced);
        pl_firm_store(&p);
    }
}

void pl_firm_bounce(pl_contact *contact)
{
    bool any = false;
    for (int i = 0; contact->bouncy && i < contact->firm.touch_count; i++)
        if (bounces(contact, contact->firm.touches + i)) {
            begin(contact, contact->firm.touches + i);
            any = true;
        }
    for (int i = 0; any && i < SWEEPS_OF_BOUNCES; i++)
        sweep(contact);
    if (any)
        shrink(contact);
}
