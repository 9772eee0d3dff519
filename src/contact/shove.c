/* Particles against colliders with a mass. Found in parallel, one per particle and collider;
   resolved in order, each seeing what those before it have moved (Gauss–Seidel): along n the two
   part by `depth` in proportion to what they yield, the collider with

       1/M + (r × n)ᵀ I⁻¹ (r × n)

   and friction likewise, up to μ times the impulse along n. Everything is equal and opposite in
   momentum. */
#include <math.h>
#include <string.h>

#include "contact/contact.h"
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
    double yield; /* of the particle */
} pair;

/* How far the particle has moved against the collider, by contacts of this sub-step. */
static void moved_apart(const pair *p, const double lever[3], double out[3])
{
    double turn[3];
    pl_cross3(p->collider->spun, lever, turn);
    for (int k = 0; k < 3; k++)
        out[k] = (double)p->contact->change[p->particle][k] - p->collider->given[k] - turn[k];
}

/* What moves the particle acts at its centre, and is taken from the collider there: the moment of both is then the same, and angular momentum
   goes over without loss, though no particle is turned by what happens at its surface. */
static double effective(const pair *p, const double lever[3], const double n[3], double turn[3])
{
    double moment[3];
    pl_cross3(lever, n, moment);
    ease(p->collider, moment, turn);
    return p->yield + p->collider->yield + pl_dot3(moment, turn);
}

/* An impulse (times h) along n: to the particle forwards, to the collider backwards. */
static void exchange(const pair *p, const double lever[3], const double n[3], const double turn[3],
                     double by)
{
    pl_contact_collider *c = p->collider;
    double impulse[3], torque[3];
    for (int k = 0; k < 3; k++) {
        p->contact->change[p->particle][k] += (float)(by * p->yield * n[k]);
        c->given[k] -= by * c->yield * n[k];
        c->spun[k] -= by * turn[k];
        impulse[k] = -by / p->contact->h * n[k];
        p->hits->impulse[k][p->place] += (float)impulse[k];
        p->near->impulse[k] += impulse[k];
    }
    pl_cross3(lever, impulse, torque);
    for (int k = 0; k < 3; k++)
        p->near->torque[k] += torque[k];
}

static void rub(const pair *p, const pl_shove *s, double push)
{
    double slide[3], turn[3], apart[3];
    moved_apart(p, s->lever, apart);
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
    double by = fmin(length / effective(p, s->lever, slide, turn), s->friction * push);
    exchange(p, s->lever, slide, turn, -by);
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
    double apart[3], turn[3];
    pl_contact_body *body = p->contact->bodies + p->contact->body_of[p->near->clump];
    moved_apart(p, s->lever, apart);
    double push = (s->depth - pl_dot3(s->n, apart)) / effective(p, s->lever, s->n, turn);
    if (push > 0) {
        exchange(p, s->lever, s->n, turn, push);
        rub(p, s, push);
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

typedef void visit_shove(const pair *p, pl_shove *s);

static void visit(pl_contact *contact, visit_shove *call)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 0; i < all->near_count; i++) {
        pl_near *near = all->near + i;
        if (near->shoves < 0)
            continue;
        for (uint32_t mask = near->mask; mask; mask &= mask - 1) {
            int place = __builtin_ctz(mask), particle = near->clump * PL_CLUMP + place;
            pair p = {contact,
                      all->colliders + near->collider,
                      near,
                      all->hits + near->block,
                      particle,
                      place,
                      (double)contact->primitives[particle].yield};
            call(&p, all->shoves[near->shoves] + place);
        }
    }
}

void pl_contact_resolve_shoves(pl_contact *contact)
{
    visit(contact, resolve);
}

/* As an impulse, but nobody is moved by it (the collider's turn is). */
static void exchange_velocity(const pair *p, const double lever[3], const double n[3],
                              const double turn[3], double by)
{
    exchange(p, lever, n, turn, by);
    for (int k = 0; k < 3; k++) {
        p->contact->shift[p->particle][k] -= (float)(by * p->yield * n[k]);
        p->collider->shifted[k] += by * p->collider->yield * n[k];
    }
}

/* See `stop` in collider.c. */
static void stop(const pair *p, pl_shove *s)
{
    double apart[3], turn[3], slide[3];
    moved_apart(p, s->lever, apart);
    double closing = s->approach - pl_dot3(s->n, apart);
    if (!(s->part < 1) || !s->pushed || !(closing > 0))
        return;
    double by = closing / effective(p, s->lever, s->n, turn);
    exchange_velocity(p, s->lever, s->n, turn, by);
    moved_apart(p, s->lever, apart);
    for (int k = 0; k < 3; k++)
        slide[k] = s->slide[k] + apart[k];
    double straight = pl_dot3(slide, s->n);
    for (int k = 0; k < 3; k++)
        slide[k] -= straight * s->n[k];
    if (!pl_normalise3(slide))
        return;
    double length = pl_dot3(slide, s->slide) + pl_dot3(slide, apart);
    double most = s->friction * by;
    double all = length / effective(p, s->lever, slide, turn);
    exchange_velocity(p, s->lever, slide, turn, -fmin(all, most));
}

void pl_contact_stop_shoves(pl_contact *contact)
{
    visit(contact, stop);
}
