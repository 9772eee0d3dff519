/* Particles against colliders with a mass. Found in parallel, one per particle and collider;
   resolved in order, each seeing what those before it have moved (Gauss–Seidel): along n the two
   part by `depth` in proportion to what they yield, the collider with

       1/M + (r × n)ᵀ I⁻¹ (r × n)

   and friction likewise, up to μ times the impulse along n. Everything is equal and opposite in
   momentum. A particle that is a body of its own is pushed and rubbed where it touches, and turns
   by its inertia in the same way; others at their centres. */
#include <math.h>
#include <string.h>

#include "contact/firm_parts.h"
#include "contact/three.h"

/* I⁻¹ v = R I̅⁻¹ Rᵀ v. */
static void ease(const pl_contact_collider *c, const double v[3], double out[3])
{
    double own[3];
    const double(*r)[3] = c->turn_to;
    for (int k = 0; k < 3; k++)
        own[k] = c->inertia[k] * (r[0][k] * v[0] + r[1][k] * v[1] + r[2][k] * v[2]);
    pl_out_of3(r, own, out);
}

/* ---- Finding --------------------------------------------------------------------------------- */

bool pl_contact_bars(const pl_contact_collider *c, const pl_sight *sight, pl_barrier *barrier)
{
    bool through;
    if (c->kind != PL_COLLIDER_MESH)
        return pl_contact_meets(c, &sight->ball, barrier);
    return pl_ball_on_solid(&sight->ball, c->solid, c->two_sided, true, sight->still, barrier,
                            &through);
}

static bool was_in(const pl_sight *sight, const pl_barrier *barrier, const pl_answer *answer)
{
    return barrier->overlap - answer->approach >
           PL_SLOP * pl_ball_half_width(&sight->ball, barrier->normal);
}

bool pl_contact_find_shove(const pl_contact *contact, const pl_near *near, int particle,
                           pl_shove *shove)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    pl_sight sight;
    pl_barrier barrier;
    pl_answer answer;
    if (!pl_contact_see(contact, c, particle, &sight) || !pl_contact_bars(c, &sight, &barrier))
        return false;
    if (near->shoves < 0)
        sight.turns = pl_contact_oneness(body);
    pl_contact_answer(contact, c, &sight, &barrier, fmaxf(c->restitution, body->restitution),
                      &answer);
    double at[3];
    for (int k = 0; k < 3; k++)
        at[k] = sight.ball.at[k] + answer.arm[k];
    *shove = (pl_shove){.depth = answer.depth,
                        .recover = answer.recover,
                        .kick = answer.kick,
                        .approach = answer.approach,
                        .part = answer.part,
                        .was_in = pl_contact_is_surface(c) && was_in(&sight, &barrier, &answer),
                        .friction = sqrt((double)c->friction * (double)body->friction)};
    /* Below 0: still apart along n at the start; then it may give way that much before it counts.
       */
    if (!(answer.depth > 0)) {
        double gone = 0;
        for (int k = 0; k < 3; k++)
            gone += barrier.normal[k] * (sight.ball.at[k] - sight.ball.from[k]);
        shove->depth = -fmax(gone, 0);
    }
    pl_out_of3(c->turn_to, barrier.normal, shove->n);
    pl_out_of3(c->turn_to, at, shove->arm);
    pl_out_of3(c->turn_to, sight.ball.at, shove->lever);
    pl_out_of3(c->turn_to, answer.slide, shove->slide);
    return true;
}

static void find_task(void *context, int begin, int end, int worker)
{
    pl_contact *contact = context;
    pl_contact_colliders *all = &contact->against;
    (void)worker;
    for (int i = begin; i < end; i++) {
        pl_near *near = all->near + i;
        near->mask = 0;
        for (int k = 0; k < 3; k++)
            near->impulse[k] = near->torque[k] = 0;
        if (near->shoves < 0)
            continue;
        for (uint32_t used = contact->used[near->clump]; used; used &= used - 1) {
            int place = __builtin_ctz(used);
            pl_shove *shove = all->shoves[near->shoves] + place;
            if (!pl_contact_find_shove(contact, near, near->clump * PL_CLUMP + place, shove))
                continue;
            shove->depth += shove->kick;
            near->mask |= 1u << place;
        }
        if (near->mask)
            memset(all->hits + near->block, 0, sizeof *all->hits);
    }
}

void pl_contact_find_shoves(pl_contact *contact, pl_tasks *tasks)
{
    pl_tasks_run(tasks, find_task, contact, contact->against.near_count, 64);
}

/* ---- Resolving ------------------------------------------------------------------------------- */

typedef struct pair {
    pl_contact *contact;
    pl_contact_collider *collider;
    pl_near *near;
    pl_near_hits *hits;
    int particle, place;
    double yield;          /* of the particle */
    pl_contact_body *ball; /* it is a body of its own, which turns; NULL = it is not */
    double lever[3],
        grip[3]; /* where they act on each other: from the collider's centre; from that of the ball */
} pair;

/* How far the particle has moved against the collider, by contacts of this sub-step. */
static void moved_apart(const pair *p, double out[3])
{
    double turn[3], own[3] = {0, 0, 0};
    pl_cross3(p->collider->spun, p->lever, turn);
    if (p->ball && p->ball->turns)
        pl_cross3(p->ball->turned, p->grip, own);
    for (int k = 0; k < 3; k++)
        out[k] =
            (double)p->contact->change[p->particle][k] + own[k] - p->collider->given[k] - turn[k];
}

/* An impulse along n, and how it turns the two. */
typedef struct push {
    double n[3], turn[3], own[3], yield;
} push;

/* What moves one of many particles acts at its centre, and is taken from the collider there: the
   moment of both is then the same, and angular momentum goes over without loss, though no particle
   is turned by what happens at its surface. */
static push push_along(const pair *p, const double n[3])
{
    push out = {.yield = p->yield + p->collider->yield};
    double moment[3];
    memcpy(out.n, n, sizeof out.n);
    pl_cross3(p->lever, n, moment);
    ease(p->collider, moment, out.turn);
    out.yield += pl_dot3(moment, out.turn);
    if (p->ball) {
        pl_cross3(p->grip, n, moment);
        pl_firm_ease(p->contact->firm.wholes + p->ball->whole, moment, out.own);
        out.yield += pl_dot3(moment, out.own);
    }
    return out;
}

static void turn_ball(pl_contact_body *ball, const double own[3], double by)
{
    for (int k = 0; k < 3 && !ball->turns; k++)
        ball->turned[k] = ball->tilted[k] = ball->spun[k] = 0;
    ball->turns = true;
    for (int k = 0; k < 3; k++)
        ball->turned[k] += by * own[k];
}

/* So much of it (times h): to the particle forwards, to the collider backwards. */
static void exchange(const pair *p, const push *along, double by)
{
    const double *n = along->n;
    pl_contact_collider *c = p->collider;
    double impulse[3], torque[3];
    for (int k = 0; k < 3; k++) {
        p->contact->change[p->particle][k] += (float)(by * p->yield * n[k]);
        c->given[k] -= by * c->yield * n[k];
        c->spun[k] -= by * along->turn[k];
        impulse[k] = -by / p->contact->h * n[k];
        p->hits->impulse[k][p->place] += (float)impulse[k];
        p->near->impulse[k] += impulse[k];
    }
    pl_cross3(p->lever, impulse, torque);
    for (int k = 0; k < 3; k++)
        p->near->torque[k] += torque[k];
    if (p->ball)
        turn_ball(p->ball, along->own, by);
}

static void rub(const pair *p, pl_shove *s, double pushed)
{
    double slide[3], apart[3];
    moved_apart(p, apart);
    for (int k = 0; k < 3; k++)
        slide[k] = s->part * s->slide[k] + apart[k];
    double straight = pl_dot3(slide, s->n);
    for (int k = 0; k < 3; k++)
        slide[k] -= straight * s->n[k];
    double length = sqrt(pl_dot3(slide, slide));
    if (!(length > 0))
        return;
    for (int k = 0; k < 3; k++)
        slide[k] /= length;
    push back = push_along(p, slide);
    double by = fmin(length / back.yield, s->friction * pushed);
    exchange(p, &back, -by);
    s->rubbed += by;
}

/* Parted without velocity; the collider only moves along. */
static void recover(const pair *p, const pl_shove *s)
{
    float *shift = p->contact->shift[p->particle];
    double apart = 0, all = p->yield + p->collider->yield;
    for (int k = 0; k < 3; k++)
        apart += s->n[k] * ((double)shift[k] - p->collider->shifted[k]);
    double by = (s->recover - apart) / all;
    if (!(by > 0))
        return;
    for (int k = 0; k < 3; k++) {
        shift[k] += (float)(by * p->yield * s->n[k]);
        p->collider->shifted[k] -= by * p->collider->yield * s->n[k];
    }
}

static void resolve(const pair *p, pl_shove *s)
{
    double apart[3];
    pl_contact_body *body = p->contact->bodies + p->contact->body_of[p->near->clump];
    push out = push_along(p, s->n);
    moved_apart(p, apart);
    double by = (s->depth - pl_dot3(s->n, apart)) / out.yield;
    if (by > 0) {
        exchange(p, &out, by);
        s->given += by;
        rub(p, s, by);
        s->pushed = true;
        body->woken |= body->asleep;
    }
    if (s->recover > 0)
        recover(p, s);
    for (int k = 0; k < 3; k++) {
        p->hits->normal[k][p->place] = (float)s->n[k];
        p->hits->point[k][p->place] =
            (float)(s->arm[k] + p->collider->to.position[k] - body->base[k]);
    }
    pl_contact_note_touched(p->contact, p->near->clump * PL_CLUMP + p->place, 1);
    body->grounded = body->borne = true;
}

/* A ball is held where it touches, others at their centres. */
static pair pair_of(pl_contact *contact, pl_near *near, int place, const pl_shove *s)
{
    pl_contact_colliders *all = &contact->against;
    pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    int particle = near->clump * PL_CLUMP + place;
    pair p = {.contact = contact,
              .collider = all->colliders + near->collider,
              .near = near,
              .hits = all->hits + near->block,
              .particle = particle,
              .place = place,
              .yield = (double)contact->primitives[particle].yield,
              .ball = body->lone && body->whole > 0 ? body : NULL};
    for (int k = 0; k < 3; k++) {
        p.lever[k] = p.ball ? s->arm[k] : s->lever[k];
        p.grip[k] = s->arm[k] - s->lever[k];
    }
    return p;
}

typedef void visit_shove(const pair *p, pl_shove *s);

static void visit(pl_contact *contact, visit_shove *call)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 0; i < all->near_count; i++) {
        pl_near *near = all->near + i;
        if (near->shoves < 0)
            continue;
        for (uint32_t mask = near->mask; mask; mask &= mask - 1) {
            int place = __builtin_ctz(mask);
            pl_shove *shove = all->shoves[near->shoves] + place;
            pair p = pair_of(contact, near, place, shove);
            call(&p, shove);
        }
    }
}

void pl_contact_resolve_shoves(pl_contact *contact)
{
    visit(contact, resolve);
}

/* As an impulse, but nobody is moved by it (the collider's turn is). */
static void exchange_velocity(const pair *p, const push *along, double by)
{
    exchange(p, along, by);
    for (int k = 0; k < 3; k++) {
        p->contact->shift[p->particle][k] -= (float)(by * p->yield * along->n[k]);
        p->collider->shifted[k] += by * p->collider->yield * along->n[k];
        if (p->ball)
            p->ball->tilted[k] -= by * along->own[k];
    }
}

/* See `stop` in collider.c. */
static void stop(const pair *p, pl_shove *s)
{
    double apart[3], slide[3];
    moved_apart(p, apart);
    double closing = s->approach - pl_dot3(s->n, apart);
    if (!(s->part < 1) || !s->pushed || !(closing > 0))
        return;
    push out = push_along(p, s->n);
    double by = closing / out.yield;
    exchange_velocity(p, &out, by);
    moved_apart(p, apart);
    for (int k = 0; k < 3; k++)
        slide[k] = s->slide[k] + apart[k];
    double straight = pl_dot3(slide, s->n);
    for (int k = 0; k < 3; k++)
        slide[k] -= straight * s->n[k];
    if (!pl_normalise3(slide))
        return;
    double length = pl_dot3(slide, s->slide) + pl_dot3(slide, apart);
    push back = push_along(p, slide);
    exchange_velocity(p, &back, -fmin(length / back.yield, s->friction * by));
}

/* By how much friction may slow down the slide along a unit vector, metres per sub-step: of a ball,
   which turns, all of it; others no more than slows their centres. */
static double slide_along(const pair *p, const double slide[3], const double along[3])
{
    const pl_primitive *particle = p->contact->primitives + p->particle;
    double turned[3], turn[3], all = pl_dot3(along, slide);
    if (p->ball)
        return all;
    for (int k = 0; k < 3; k++)
        turned[k] = (double)particle->turned[k] - p->collider->turned[k];
    pl_cross3(turned, p->grip, turn);
    return fmin(all, all - pl_dot3(along, turn));
}

/* What bounces was rubbed by what it slid since they met; the rest of the slide is taken out of
   velocities, as far as μ times all of the push goes. */
static void slow_down(const pair *p, pl_shove *s)
{
    double apart[3], slide[3], along[3], limit = s->friction * s->given - s->rubbed;
    if (!(s->part < 1) || !(s->kick > 0) || !(limit > 0))
        return;
    moved_apart(p, apart);
    for (int k = 0; k < 3; k++)
        slide[k] = s->slide[k] + apart[k];
    double straight = pl_dot3(slide, s->n);
    for (int k = 0; k < 3; k++)
        along[k] = slide[k] = slide[k] - straight * s->n[k];
    if (!pl_normalise3(along))
        return;
    push back = push_along(p, along);
    double length = slide_along(p, slide, along);
    if (length > 0)
        exchange_velocity(p, &back, -fmin(length / back.yield, limit));
}

static void stop_and_slow(const pair *p, pl_shove *s)
{
    stop(p, s);
    slow_down(p, s);
}

void pl_contact_stop_shoves(pl_contact *contact)
{
    visit(contact, stop_and_slow);
}
