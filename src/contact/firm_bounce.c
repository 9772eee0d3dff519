/* Bounces of stiff bodies (firm.c): velocity without moving, of the whole body, so that what met
   goes apart at the speed that is asked for.

   An impulse does as much work as itself times the mean of the speeds before and after it. Where
   all that bounces goes apart no faster than it came, no energy is made; but sweeps end before that
   is so, and friction has its part. Hence, for those that hang together by touches, what the
   bounces would bring is held against what the pushes took, and they are made smaller where it is
   more. Work is linear in levers that a large turn bends: so the energy of motion itself, with
   turns as they will be, is held against that before the pushes as well. */
#include <math.h>

#include "contact/firm_parts.h"

enum { SWEEPS_OF_BOUNCES = 10 };

/* Turns are not linear: what is held back is counted once more. */
enum { ROUNDS = 3 };

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

/* Less where others have pushed them apart already. To begin with, as many times what stopped them
   as they are to be faster. */
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

/* The blow of a bounce rubs as the push does: up to μ times what it bounces, and no more than stops
   the slide that pushes and bounces have left. Likewise what was met on the way. */
static void slow_down(pl_contact *contact, const pl_firm_touch *t, pl_firm_pair *p)
{
    pl_firm_origin *origin = pl_firm_origin_of(contact, t);
    const pl_firm_row *rows = pl_firm_rows_of(contact, t) + 1;
    float wanted[2], limit = t->friction * t->bounced;
    if (!origin->slows || !(t->friction > 0))
        return;
    for (int k = 0; k < 2; k++)
        wanted[k] = origin->slowed[k] + (rows[k].missing - pushed_apart(contact, t, 1 + k) -
                                         pl_firm_apart(p, rows + k)) *
                                            rows[k].per;
    float square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
    float part = square > limit * limit ? limit / sqrtf(square) : 1;
    for (int k = 0; k < 2; k++) {
        pl_firm_exchange(p, rows + k, wanted[k] * part - origin->slowed[k]);
        origin->slowed[k] = wanted[k] * part;
    }
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
        t->bounced = after;
        slow_down(contact, t, &p);
        pl_firm_store(&p);
    }
}

/* ---- What hangs together --------------------------------------------------------------------- */

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
        pl_quad arm = pl_quad_of(pl_firm_stop_of(contact, t)->point);
        float turns = (float)pl_contact_oneness(contact->bodies + body_b(contact, t));
        b += pl_quad_cross(pl_quad_of(p->turned), arm - pl_quad_of(p->x)) * turns;
        a = (pl_quad){(float)by[0], (float)by[1], (float)by[2], 0};
    }
    return pl_quad_sum(pl_quad_three(pl_firm_rows_of(contact, t)->n) * (a - b));
}

/* Times h². */
static void count_work(pl_contact *contact, const pl_firm_touch *t)
{
    const float *slowed = pl_firm_origin_of(contact, t)->slowed;
    pl_firm_island *island = contact->firm.islands + leader_of(contact, body_b(contact, t));
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    pl_firm_pair p = load_kicked(contact, t);
    float came = approach_of(contact, t), apart = pushed_apart(contact, t, 0);
    island->taken += (double)(rows->by * (came - 0.5f * apart));
    island->given += (double)(t->bounced * (apart - came + 0.5f * pl_firm_apart(&p, rows)));
    for (int k = 1; k < PL_FIRM_ROWS; k++) {
        float left = rows[k].missing - pushed_apart(contact, t, k);
        island->taken +=
            (double)(rows[k].by * (rows[k].missing - 0.5f * pushed_apart(contact, t, k)));
        island->taken += (double)(slowed[k - 1] * (left - 0.5f * pl_firm_apart(&p, rows + k)));
    }
}

/* Twice the bounce is at least twice the work. */
static float part_of(const pl_firm_island *island)
{
    if (!(island->given > island->taken))
        return 1;
    return island->taken > 0 ? (float)(island->taken / island->given) : 0;
}

/* As part_of, by the energy of motion: the largest t of (0, 1] with c + b t + a t² ≤ before. */
static float part_by_motion(const pl_firm_island *island)
{
    double a = island->after[2], b = island->after[1], c = island->after[0] - island->before;
    if (island->driven || !(a + b + c > 0))
        return 1;
    double under = b * b - 4 * a * c;
    if (!(a > 0) || !(under > 0))
        return 0;
    double t = (sqrt(under) - b) / (2 * a);
    return t > 0 ? (float)(t < 1 ? t : 1) : 0;
}

/* Of a flat or a long ellipsoid, about the axis where its inertia is largest, in parts of its
   mean. */
#define LARGEST 1.5

typedef struct motion {
    pl_firm_lead by;
    pl_firm_kick kick;
    double ease; /* inertia of its particles about themselves */
    double spin[3], turned[3], spun[3];
} motion;

static void store(pl_quad v, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)v[k];
}

static motion motion_of(const pl_contact *contact, const pl_contact_body *body,
                        const pl_whole *whole)
{
    double moved[3], kicked[3];
    int first = body->first_clump * PL_CLUMP;
    bool ball = body->lone && contact->least[first] == contact->radius[first];
    motion m = {.ease = ball ? body->round : LARGEST * body->round};
    store(whole->by.moved, moved);
    store(whole->kick.moved, kicked);
    pl_firm_unfold(whole, whole->by.spun, m.turned);
    pl_firm_unfold(whole, whole->kick.spun, m.spun);
    m.by = pl_firm_lead_of(moved, m.turned);
    m.kick = pl_firm_kick_of(contact, whole, kicked, m.spun);
    return m;
}

/* Σ m v² before the pushes; after them and with bounces. */
static void add_energies(const double before[3], const double after[3], const double kick[3],
                         double mass, pl_firm_island *island)
{
    for (int k = 0; k < 3; k++) {
        island->before += mass * before[k] * before[k];
        island->after[0] += mass * after[k] * after[k];
        island->after[1] += 2 * mass * after[k] * kick[k];
        island->after[2] += mass * kick[k] * kick[k];
    }
}

/* That of its turning particles is the same for all: they turn as its way says that it does. One
   alone tells itself. */
static void add_turning(const pl_contact *contact, const motion *m, const pl_whole *whole,
                        pl_quad spin, pl_firm_island *island)
{
    const pl_contact_body *body = contact->bodies + whole->body;
    double before[3], after[3];
    pl_quad folded =
        whole->columns[0] * spin[0] + whole->columns[1] * spin[1] + whole->columns[2] * spin[2];
    pl_firm_unfold(whole, folded, before);
    if (body->lone)
        store(pl_quad_of(contact->primitives[body->first_clump * PL_CLUMP].turned), before);
    for (int k = 0; k < 3; k++)
        after[k] = before[k] + m->turned[k];
    add_energies(before, after, m->spun, m->ease, island);
}

static void count_motion(pl_contact *contact, int number)
{
    const pl_contact_body *body = contact->bodies + number;
    const pl_whole *whole = contact->firm.wholes + body->whole;
    pl_firm_island *island = contact->firm.islands + leader_of(contact, number);
    if (!(island->given > 0) || island->driven)
        return;
    motion m = {.ease = 0};
    if (body->whole > 0)
        m = motion_of(contact, body, whole);
    pl_quad spin = {0, 0, 0, 0};
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++)
        for (uint32_t used = contact->used[c]; used; used &= used - 1) {
            int k = __builtin_ctz(used), place = c * PL_CLUMP + k;
            const pl_clump_places *at = contact->places + c, *way = contact->ways + c;
            pl_quad r = (pl_quad){at->x[k], at->y[k], at->z[k], 0} - whole->centre;
            pl_quad went = {way->x[k], way->y[k], way->z[k], 0};
            pl_quad by = pl_quad_load(contact->change[place]) + m.by.by + pl_firm_turned(&m.by, r);
            pl_quad kick = pl_quad_load(contact->kick[place]) + pl_firm_kicked(&m.kick, r, went);
            double before[3], after[3], more[3];
            store(went, before);
            store(went + by, after);
            store(kick, more);
            add_energies(before, after, more, (double)contact->mass[place], island);
            spin += pl_quad_cross(r, went) * contact->mass[place];
        }
    if (body->whole > 0)
        add_turning(contact, &m, whole, spin, island);
}

/* By the parts of their islands. */
static void scale(pl_contact *contact, float (*part)(const pl_firm_island *))
{
    pl_firm_touch *touches = contact->firm.touches;
    int count = contact->firm.touch_count;
    for (int i = 0; i < contact->firm.whole_count; i++)
        contact->firm.wholes[i].kick = (pl_whole_motion){{0}, {0}};
    for (int i = 0; i < count; i++) {
        memset(contact->kick[touches[i].place_a], 0, sizeof *contact->kick);
        memset(contact->kick[touches[i].place_b], 0, sizeof *contact->kick);
    }
    for (int i = 0; i < count; i++) {
        pl_firm_touch *t = touches + i;
        pl_firm_pair p = load_kicked(contact, t);
        float less = part(contact->firm.islands + leader_of(contact, body_b(contact, t)));
        float *slowed = pl_firm_origin_of(contact, t)->slowed;
        const pl_firm_row *rows = pl_firm_rows_of(contact, t);
        t->bounced *= less;
        pl_firm_exchange(&p, rows, t->bounced);
        for (int k = 0; k < 2 && pl_firm_origin_of(contact, t)->slows; k++)
            pl_firm_exchange(&p, rows + 1 + k, slowed[k] *= less);
        pl_firm_store(&p);
    }
}

static void forget_motion(pl_firm_island *island)
{
    island->before = island->after[0] = island->after[1] = island->after[2] = 0;
}

/* Whether somebody has to bounce less. */
static bool too_fast(const pl_contact *contact)
{
    for (int b = 0; b < contact->body_count; b++)
        if (part_by_motion(contact->firm.islands + b) < 1)
            return true;
    return false;
}

static bool moves(const pl_contact_collider *c)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += fabs(c->moved[k]) + fabs(c->turned[k]) + fabs(c->belt[k]);
    return sum > 0;
}

/* A particle that does not give way, and moves. */
static bool is_driven(const pl_contact *contact, int32_t place)
{
    const pl_primitive *p = contact->primitives + place;
    return !(p->yield > 0) && (p->moved[0] != 0 || p->moved[1] != 0 || p->moved[2] != 0);
}

/* Whether work is done on them by what has no energy of its own here. */
static bool drives(const pl_contact *contact, const pl_firm_touch *t)
{
    const pl_firm_origin *origin = pl_firm_origin_of(contact, t);
    if (!origin->touch)
        return moves(contact->against.colliders + origin->near->collider);
    return is_driven(contact, t->place_a) || is_driven(contact, t->place_b);
}

static void shrink(pl_contact *contact)
{
    const pl_firm_touch *touches = contact->firm.touches;
    find_islands(contact);
    for (int i = 0; i < contact->firm.touch_count; i++) {
        if (drives(contact, touches + i))
            contact->firm.islands[leader_of(contact, body_b(contact, touches + i))].driven = true;
        count_work(contact, touches + i);
    }
    scale(contact, part_of);
    for (int round = 0; round < ROUNDS && (round == 0 || too_fast(contact)); round++) {
        for (int b = 0; b < contact->body_count; b++)
            forget_motion(contact->firm.islands + b);
        for (int b = 0; b < contact->body_count; b++)
            count_motion(contact, b);
        if (too_fast(contact))
            scale(contact, part_by_motion);
    }
}

void pl_firm_bounce(pl_contact *contact)
{
    bool any = false;
    for (int i = 0; i < contact->firm.touch_count; i++)
        if (bounces(contact, contact->firm.touches + i)) {
            begin(contact, contact->firm.touches + i);
            any = true;
        }
    for (int i = 0; any && i < SWEEPS_OF_BOUNCES; i++)
        sweep(contact);
    if (any)
        shrink(contact);
    contact->kicks |= any;
}
