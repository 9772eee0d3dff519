/* Touches are resolved one after the other, each seeing what those before it have moved:
   Gauss–Seidel on

       n · (x_b − x_a) ≥ d        along the line of centres, in inverse proportion to mass

   and Coulomb friction by displacement (METHODS §1): the slide of one surface over the other in
   this sub-step is undone, up to μ times the normal correction. Every correction is equal and
   opposite in momentum. */
#include "contact/batch.h"
#include "contact/share.h"
#include "math/quad.h"

#include <string.h>

static inline float dot(pl_quad a, pl_quad b)
{
    return pl_quad_sum(a * b);
}

/* v, or as much of it as is not longer than `most`. */
static inline pl_quad within(pl_quad v, float most)
{
    float square = dot(v, v);
    return square > most * most ? v * (most / __builtin_sqrtf(square)) : v;
}

static inline void note_sleepers(pl_contact *contact, const pl_touch *t)
{
    pl_contact_body *a = contact->bodies + contact->body_of[t->a / PL_CLUMP];
    pl_contact_body *b = contact->bodies + contact->body_of[t->b / PL_CLUMP];
    a->woken |= a->asleep;
    b->woken |= b->asleep;
}

static inline void note_touched(pl_contact *contact, const pl_touch *t, uint32_t acted)
{
    pl_contact_note_touched(contact, t->a, acted);
    pl_contact_note_touched(contact, t->b, acted);
}

/* Apart by `depth` along n; then friction. Returns whether that was more than a little of what it
   took in all. */
static inline bool resolve(pl_contact *contact, pl_touch *t)
{
    float *at_a = contact->change[t->a], *at_b = contact->change[t->b];
    pl_quad a = pl_quad_load(at_a), b = pl_quad_load(at_b), n = {t->n[0], t->n[1], t->n[2], 0};
    float push = t->depth - dot(n, b - a);
    if (push > 0) {
        pl_quad by = n * push;
        t->pushed += push;
        a -= by * t->give_a;
        b += by * t->give_b;
        pl_quad normal = {t->normal[0], t->normal[1], t->normal[2], 0};
        pl_quad slide = (pl_quad){t->slide[0], t->slide[1], t->slide[2], 0} + (b - a);
        slide -= normal * dot(slide, normal);
        float limit = t->friction * push, square = dot(slide, slide);
        if (limit > 0 && square > 0) {
            float length = __builtin_sqrtf(square);
            pl_quad back = length > limit ? slide * (limit / length) : slide;
            a += back * t->give_a;
            b -= back * t->give_b;
            t->rubbed += length > limit ? limit : length;
        }
        pl_quad_store(at_a, a);
        pl_quad_store(at_b, b);
        note_touched(contact, t, 1);
    }
    /* In equal parts, where velocities are not changed: else what is light stays wedged between the
       floor and what is heavy. */
    if (t->recover > 0) {
        float *shift_a = contact->shift[t->a], *shift_b = contact->shift[t->b];
        pl_quad sa = pl_quad_load(shift_a), sb = pl_quad_load(shift_b);
        float part = t->recover - dot(n, sb - sa);
        if (part > 0) {
            part = t->give_a > 0 && t->give_b > 0 ? 0.5f * part : part;
            pl_quad by_a = n * (t->give_a > 0 ? part : 0), by_b = n * (t->give_b > 0 ? part : 0);
            pl_quad_store(shift_a, within(sa - by_a, contact->radius[t->a] * contact->far));
            pl_quad_store(shift_b, within(sb + by_b, contact->radius[t->b] * contact->far));
            note_touched(contact, t, 1);
        }
    }
    return push > PL_LITTLE * t->pushed;
}

/* Two sweeps are enough where nobody is thrown at anybody: what is left over is small, and the next
   sub-step sees it. The bodies of those who are are gone through again, with all their touches,
   until little changes. */
enum { SWEEPS_WHEN_SWEPT = 16 };

static inline pl_contact_body *body_at(pl_contact *contact, int32_t place)
{
    return contact->bodies + contact->body_of[place / PL_CLUMP];
}

/* Without batches: one after the other, from somewhere on. */
static bool sweep_in_order(pl_contact *contact, pl_touch_place from, bool marked)
{
    bool moved = false;
    for (int block = from.block; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = block == from.block ? from.touch : 0; i < s->count; i++)
            if ((!marked || touches[i].swept & (PL_SWEPT | PL_AGAIN)) &&
                !pl_contact_is_firm(contact, touches + i) && resolve(contact, touches + i))
                moved |= touches[i].swept & PL_SWEPT;
    }
    return moved;
}

/* One who goes on sleeping stays where it is. */
static void leave_sleeping(pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = body_at(contact, place);
    if (!body->asleep || body->woken)
        return;
    memset(contact->change[place], 0, sizeof contact->change[place]);
    memset(contact->shift[place], 0, sizeof contact->shift[place]);
    contact->touched[place / PL_CLUMP] = 0;
}

/* Whoever sleeps and was pushed wakes up. */
static void note_pushed(pl_contact *contact)
{
    for (int pass = 0; pass < 2; pass++)
        for (int block = 0; block < contact->block_count; block++) {
            const pl_segment *s = contact->touch_segments + block;
            const pl_touch *touches = contact->buffers[s->worker].touches + s->first;
            for (int i = 0; i < s->count; i++)
                if (pass) {
                    leave_sleeping(contact, touches[i].a);
                    leave_sleeping(contact, touches[i].b);
                } else if (touches[i].pushed > 0) {
                    note_sleepers(contact, touches + i);
                }
        }
}

/* All clumps of the body that the particle belongs to. */
static void mark_body(pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = body_at(contact, place);
    memset(contact->marked + body->first_clump, 1, (size_t)body->clumps->count);
}

/* Head-on by speed alone, by more than a part of both half axes. What only the solver pulls there,
   out of where it is caught, comes in every sub-step, and those who hold it never agree on where it
   belongs. */
static bool is_thrown(pl_contact *contact, const pl_touch *t)
{
    if (contact->tell) {
        contact->tell(contact->host, t->a);
        contact->tell(contact->host, t->b);
    }
    pl_quad from = pl_quad_load(contact->came[t->a]), to = pl_quad_load(contact->came[t->b]);
    pl_quad n = {t->n[0], t->n[1], t->n[2], 0};
    return dot(n, from - to) > PL_SWEPT_PART * (contact->least[t->a] + contact->least[t->b]);
}

/* Of the touches that were swept only those count from now on in which somebody was thrown; their
   bodies are marked. Returns whether there are any. */
static bool mark_thrown(pl_contact *contact)
{
    bool any = false;
    for (int block = 0; block < contact->block_count; block++) {
        pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        bool had = s->swept;
        s->swept = false;
        for (int i = 0; had && i < s->count; i++) {
            pl_touch *t = touches + i;
            if (!(t->swept & PL_SWEPT) || !is_thrown(contact, t)) {
                t->swept &= PL_DEEP | PL_MET;
                continue;
            }
            mark_body(contact, t->a);
            mark_body(contact, t->b);
            s->swept = any = true;
        }
    }
    return any;
}

static const pl_touch_place all = {0, 0};

/* What is not in batches comes behind all that are, and from then on everything goes in order. */
static void sweep_twice(pl_contact *contact)
{
    bool fits = pl_contact_plan_batches(contact, false);
    pl_contact_sweep(contact, contact->plan.swept, contact->batch_count, true);
    if (!fits) {
        pl_contact_empty_batches(contact);
        sweep_in_order(contact, contact->plan.beyond, false);
    }
    pl_contact_sweep_firm(contact, 0);
    fits ? pl_contact_sweep(contact, 0, contact->batch_count, false)
         : sweep_in_order(contact, all, false);
    pl_contact_sweep_firm(contact, 1);
    pl_contact_finish_firm(contact);
    if (fits)
        pl_contact_empty_batches(contact);
    contact->plan.early = false;
}

static void sweep_all(pl_contact *contact)
{
    sweep_twice(contact);
    if (!mark_thrown(contact))
        return;
    bool fits = pl_contact_plan_batches(contact, true);
    memset(contact->marked, 0, (size_t)contact->clump_count);
    for (int i = 2; i < SWEEPS_WHEN_SWEPT; i++) {
        pl_contact_resolve_joints(contact);
        if (!(fits ? pl_contact_sweep(contact, 0, contact->batch_count, i == 2)
                   : sweep_in_order(contact, all, true)))
            break;
    }
    if (fits)
        pl_contact_empty_batches(contact);
    pl_contact_halt(contact);
}

/* Its velocity by now, and that of its surface where its normal is n; metres per sub-step. */
typedef struct speed {
    pl_quad centre, surface;
} speed;

static inline pl_quad shape_times(const float b[6], pl_quad n)
{
    return (pl_quad){b[0], b[1], b[2], 0} * n[0] + (pl_quad){b[1], b[3], b[4], 0} * n[1] +
           (pl_quad){b[2], b[4], b[5], 0} * n[2];
}

static speed speed_of(const pl_contact *contact, int32_t place, pl_quad n)
{
    const pl_primitive *p = contact->primitives + place;
    pl_quad v = pl_quad_of(p->moved) + pl_quad_load(contact->change[place]) +
                pl_quad_load(contact->kick[place]);
    pl_quad arm = shape_times(p->shape, n);
    float square = dot(n, arm);
    arm *= 1 / __builtin_sqrtf(square > 1e-37f ? square : 1e-37f);
    return (speed){v, v + pl_quad_cross(pl_quad_of(p->turned), arm)};
}

/* What friction takes out of the velocity of b against a, along a blow by so much. */
static pl_quad rub_of(const pl_contact *contact, const pl_touch *t, float blow)
{
    pl_quad n = {t->normal[0], t->normal[1], t->normal[2], 0};
    speed a = speed_of(contact, t->a, n), b = speed_of(contact, t->b, -n);
    pl_quad v = b.centre - a.centre, slide = b.surface - a.surface;
    slide -= n * dot(n, slide);
    return slide * (float)pl_slowing((double)dot(slide, v), (double)dot(slide, slide),
                                     (double)(t->friction * blow));
}

/* Bounces: velocity only, after everything is where it belongs; with friction, up to μ times that
   against the slide that is left, and no more than slows the centres. A particle bounces once in a
   sub-step: two blows at the same time, each answered as if it were the only one, would make
   energy. */
static void kick(pl_contact *contact)
{
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; i < s->count; i++) {
            pl_touch *t = touches + i;
            if (!(t->kick > 0) || !(t->pushed > 0))
                continue;
            pl_quad a = pl_quad_load(contact->kick[t->a]), b = pl_quad_load(contact->kick[t->b]);
            if (dot(a, a) > 0 || dot(b, b) > 0)
                continue;
            pl_quad back = rub_of(contact, t, t->kick);
            pl_quad by = (pl_quad){t->n[0], t->n[1], t->n[2], 0} * t->kick - back;
            pl_quad_store(contact->kick[t->a], by * -t->give_a);
            pl_quad_store(contact->kick[t->b], by * t->give_b);
            t->pushed += t->kick;
            t->rubbed += __builtin_sqrtf(dot(back, back));
        }
    }
}

/* Velocity without moving: the way is longer, and began further back. */
static inline void hasten(pl_contact *contact, int32_t place, pl_quad by)
{
    float *change = contact->change[place], *shift = contact->shift[place];
    pl_quad_store(change, pl_quad_load(change) + by);
    pl_quad_store(shift, pl_quad_load(shift) - by);
}

/* Two that met after a part of their way were moved apart by the rest of it, and would still close
   in at the speed of the part before. Once they have slid on, they are somewhere else to each
   other, or past each other: so the velocity that is left along the normal of their surfaces is
   taken out here, as in an inelastic blow, and up to μ times that of the slide; no more than slows
   the centres. Returns whether there was any. */
static bool stop(pl_contact *contact, pl_touch *t)
{
    pl_quad n = {t->normal[0], t->normal[1], t->normal[2], 0};
    speed a = speed_of(contact, t->a, n), b = speed_of(contact, t->b, -n);
    pl_quad v = b.centre - a.centre, slide = b.surface - a.surface;
    float closing = -dot(n, v);
    if (!(closing > PL_LITTLE * PL_LITTLE * t->pushed))
        return false;
    slide -= n * dot(n, slide);
    double back = pl_slowing((double)dot(slide, v), (double)dot(slide, slide),
                             (double)(t->friction * closing));
    pl_quad by = n * closing - slide * (float)back;
    hasten(contact, t->a, -by * t->give_a);
    hasten(contact, t->b, by * t->give_b);
    t->pushed += closing;
    t->rubbed += (float)back * __builtin_sqrtf(dot(slide, slide));
    return true;
}

enum { SWEEPS_OF_STOPS = 4 };

static bool stop_all(pl_contact *contact)
{
    bool any = false;
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; s->met && i < s->count; i++)
            if (touches[i].swept & PL_MET && touches[i].pushed > 0)
                any |= stop(contact, touches + i);
    }
    return any;
}

/* Many particles touch one collider that gives way: it is turned and moved by all of them. */
enum { SWEEPS_OF_SHOVES = 4, SWEEPS_OF_JOINTS = 4 };

void pl_contact_resolve(pl_contact *contact, pl_tasks *tasks)
{
    pl_contact_excuse_joined(contact);
    pl_contact_find_firm(contact, tasks);
    for (int i = 0; i < SWEEPS_OF_JOINTS; i++)
        pl_contact_resolve_joints(contact);
    sweep_all(contact);
    if (contact->some_sleep)
        note_pushed(contact);
    for (int i = 0; contact->against.shove_count && i < SWEEPS_OF_SHOVES; i++)
        pl_contact_resolve_shoves(contact);
    if (contact->against.shove_count)
        pl_contact_stop_shoves(contact);
    if (contact->bouncy)
        kick(contact);
    for (int i = 0; i < SWEEPS_OF_STOPS && stop_all(contact); i++)
        ;
    for (int block = 0; block < contact->block_count; block++)
        contact->touches += (uint64_t)contact->touch_segments[block].count;
}
