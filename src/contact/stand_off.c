/* The last word of colliders to bodies that move as a whole (firm.c). Where other bodies pushed one into a collider that it had not met, or a blow turned it by so much that
   straight levers are wrong, some of its particles are still in there; pushed out one by one, they would strain stiff springs by many times the energy of the blow. So all of the
   body is moved out, without velocity, as far as its deepest particle asks for; what is left then is little, and taken particle by particle. */
#include <math.h>

#include "contact/firm_parts.h"
#include "contact/share.h"
#include "contact/three.h"

enum { ROUNDS = 3 };

/* How far a particle asks to be moved along n, beyond what may be left. */
static double wanted_by(const pl_contact *contact, const pl_near *near, int place, double n[3])
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    pl_sight sight;
    pl_barrier barrier;
    pl_answer answer;
    if (!pl_contact_see(contact, c, near->clump * PL_CLUMP + place, &sight) ||
        !pl_contact_bars(c, &sight, &barrier))
        return 0;
    barrier.overlap -= (double)body->slack * pl_ball_half_width(&sight.ball, barrier.normal);
    pl_contact_answer(contact, c, &sight, &barrier, 0, &answer);
    pl_out_of3(c->turn_to, barrier.normal, n);
    double pressed = fmin(fmax(-pl_dot3(barrier.normal, sight.still), 0), fmax(barrier.overlap, 0));
    return answer.depth + pressed;
}

/* Whether the ellipsoid is in a plane: most are not. */
static bool may_meet(const pl_contact *contact, const pl_near *near, int place)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    int particle = near->clump * PL_CLUMP + place;
    const pl_primitive *p = contact->primitives + particle;
    if (c->kind != PL_COLLIDER_PLANE)
        return true;
    double height = 0, n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = c->turn_to[k][1];
        height +=
            n[k] * (body->base[k] - c->to.position[k] +
                    (double)(p->x[k] + contact->change[particle][k] + contact->shift[particle][k]));
    }
    const float *b = p->shape;
    double x = n[0], y = n[1], z = n[2];
    double square = (double)b[0] * x * x + (double)b[3] * y * y + (double)b[5] * z * z +
                    2 * ((double)b[1] * x * y + (double)b[2] * x * z + (double)b[4] * y * z);
    double least = height > 0 ? height / (1 - (double)body->slack) : 0;
    return square > least * least;
}

/* All particles of a body: with their velocity, and without. */
static void move_all(pl_contact *contact, const pl_contact_body *body, const double by[3],
                     const double still[3])
{
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++) {
        for (uint32_t used = contact->used[c]; used; used &= used - 1) {
            int place = c * PL_CLUMP + __builtin_ctz(used);
            for (int k = 0; k < 3; k++) {
                contact->change[place][k] += (float)by[k];
                contact->shift[place][k] += (float)still[k];
            }
        }
        contact->touched[c] |= contact->used[c];
    }
}

/* Out of the collider of one pair, as far as the deepest particle asks for. */
static bool move_out(pl_contact *contact, const pl_contact_body *body, const pl_near *near)
{
    static const double none[3] = {0, 0, 0};
    double most = 0, way[3] = {0, 0, 0};
    for (uint32_t used = contact->used[near->clump]; used; used &= used - 1) {
        int place = __builtin_ctz(used);
        double n[3] = {0, 0, 0},
               by = may_meet(contact, near, place) ? wanted_by(contact, near, place, n) : 0;
        if (by > most) {
            most = by;
            for (int k = 0; k < 3; k++)
                way[k] = by * n[k];
        }
    }
    if (most > 0)
        move_all(contact, body, none, way);
    return most > 0;
}

/* One that is inside with its middle leaves as fast as its largest particle would, and goes no further in. */
static void leave(pl_contact *contact, pl_contact_body *body, pl_near *near, const pl_barrier *out)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_whole *whole = contact->firm.wholes + body->whole;
    double part = PL_RECOVERY_RATE * contact->h < 1 ? PL_RECOVERY_RATE * contact->h : 1;
    double n[3], by[3], still[3], moved = 0;
    pl_out_of3(c->turn_to, out->normal, n);
    for (int k = 0; k < 3; k++)
        moved += n[k] * (body->velocity[k] * contact->h + whole->moved[k] - c->moved[k]);
    for (int k = 0; k < 3; k++) {
        by[k] = moved < 0 ? -moved * n[k] : 0;
        still[k] = part * (double)body->largest * n[k];
        near->impulse[k] -= by[k] / ((double)whole->yield * contact->h);
    }
    move_all(contact, body, by, still);
    body->grounded = true;
}

static bool is_first(const pl_contact_colliders *all, int number, int i)
{
    for (int j = all->near_start[number]; j < i; j++)
        if (all->near[j].collider == all->near[i].collider)
            return false;
    return true;
}

void pl_contact_stand_off(pl_contact *contact, int number)
{
    pl_contact_colliders *all = &contact->against;
    pl_contact_body *body = contact->bodies + number;
    bool any = body->whole > 0;
    pl_barrier out;
    for (int round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (int i = all->near_start[number]; i < all->near_start[number + 1]; i++) {
            pl_near *near = all->near + i;
            const pl_contact_collider *c = all->colliders + near->collider;
            if (near->shoves >= 0)
                continue;
            if (!pl_contact_is_deep(c, body))
                any |= move_out(contact, body, near);
            else if (round == 0 && pl_contact_was_deep(contact, c, body, &out) &&
                     is_first(all, number, i))
                leave(contact, body, near, &out);
        }
    }
}
