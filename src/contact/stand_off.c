/* The last word of colliders to bodies that move as a whole (firm.c). Where other bodies pushed one
   into a collider that it had not met, or a blow turned it by so much that straight levers are
   wrong, some of its particles are still in there; pushed out one by one, they would strain stiff
   springs by many times the energy of the blow. So all of the body is moved out, without velocity,
   as far as its deepest particle asks for; what is left then is little, and taken particle by
   particle. */
#include <math.h>

#include "contact/firm_parts.h"
#include "contact/share.h"
#include "contact/three.h"

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
    double pressed = pl_smaller(pl_larger(-pl_dot3(barrier.normal, sight.still), 0),
                                pl_larger(barrier.overlap, 0));
    return answer.depth + pressed;
}

/* Those of a clump whose spheres reach into a plane, with room for rounding: most do not. Of other
   colliders, all. */
uint32_t pl_firm_may_reach(const pl_contact *contact, const pl_near *near)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    const pl_clump_places *at = contact->places + near->clump;
    size_t first = (size_t)near->clump * PL_CLUMP;
    double offset = 0;
    float n[3], height[PL_CLUMP];
    uint32_t bits = 0;
    if (c->kind != PL_COLLIDER_PLANE)
        return contact->used[near->clump];
    for (int k = 0; k < 3; k++) {
        offset += c->turn_to[k][1] * (body->base[k] - c->to.position[k]);
        n[k] = (float)c->turn_to[k][1];
    }
    for (int k = 0; k < PL_CLUMP; k++) {
        const float *by = contact->change[first + k], *still = contact->shift[first + k];
        height[k] = n[0] * (at->x[k] + (by[0] + still[0])) +
                    n[1] * (at->y[k] + (by[1] + still[1])) + n[2] * (at->z[k] + (by[2] + still[2]));
    }
    for (int k = 0; k < PL_CLUMP; k++)
        bits |= (uint32_t) !((float)offset + height[k] > 1.01f * contact->radius[first + k]) << k;
    return bits & contact->used[near->clump];
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

/* The deepest particle of a pair, if it is deeper than `most`. */
static void find_deepest(const pl_contact *contact, const pl_near *near, double *most,
                         double way[3])
{
    for (uint32_t left = pl_firm_may_reach(contact, near); left; left &= left - 1) {
        int place = __builtin_ctz(left);
        double n[3] = {0, 0, 0},
               by = may_meet(contact, near, place) ? wanted_by(contact, near, place, n) : 0;
        if (by > *most) {
            *most = by;
            for (int k = 0; k < 3; k++)
                way[k] = by * n[k];
        }
    }
}

/* Out of what it is deepest in: of all its pairs at once, so that pairs in which nobody meets leave
   no trace, wherever they come in the order. */
static bool move_out(pl_contact *contact, int number)
{
    static const double none[3] = {0, 0, 0};
    const pl_contact_colliders *all = &contact->against;
    const pl_contact_body *body = contact->bodies + number;
    double most = 0, way[3] = {0, 0, 0};
    for (int i = all->near_start[number]; i < all->near_start[number + 1]; i++) {
        const pl_near *near = all->near + i;
        if (near->shoves < 0 && !near->astride &&
            !pl_contact_is_leaving(contact, number, near->collider))
            find_deepest(contact, near, &most, way);
    }
    if (most > 0)
        move_all(contact, body, none, way);
    return most > 0;
}

/* How far its particles move in this sub-step with their velocity, as contacts have left it: on
   average, by mass. */
static void mean_way(const pl_contact *contact, const pl_contact_body *body, double out[3])
{
    double mass = 0;
    out[0] = out[1] = out[2] = 0;
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++)
        for (uint32_t used = contact->used[c]; used; used &= used - 1) {
            int at = __builtin_ctz(used), place = c * PL_CLUMP + at;
            const float *way = contact->ways[c].x + at;
            mass += (double)contact->mass[place];
            for (int k = 0; k < 3; k++)
                out[k] += (double)contact->mass[place] *
                          (double)(way[k * PL_CLUMP] + contact->change[place][k]);
        }
    for (int k = 0; k < 3; k++)
        out[k] = mass > 0 ? out[k] / mass : 0;
}

/* One that was in it before leaves as fast as its largest particle would, and goes no further
   in. */
static void leave(pl_contact *contact, pl_contact_body *body, pl_near *near)
{
    pl_barrier out;
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_whole *whole = contact->firm.wholes + body->whole;
    double part = PL_RECOVERY_RATE * contact->h < 1 ? PL_RECOVERY_RATE * contact->h : 1;
    double n[3], by[3], still[3], way[3], arm[3], turn[3], impulse[3], torque[3], moved = 0;
    double far =
        pl_smaller(pl_contact_way_out(contact, c, body, &out), part * (double)body->largest);
    pl_out_of3(c->turn_to, out.normal, n);
    mean_way(contact, body, way);
    for (int k = 0; k < 3; k++)
        arm[k] = body->centre[k] - c->to.position[k];
    pl_cross3(c->turned, arm, turn);
    for (int k = 0; k < 3; k++)
        moved += n[k] * (way[k] - c->moved[k] - turn[k]);
    for (int k = 0; k < 3; k++) {
        by[k] = moved < 0 ? -moved * n[k] : 0;
        still[k] = far * n[k];
        impulse[k] = -by[k] / ((double)whole->yield * contact->h);
    }
    pl_cross3(arm, impulse, torque);
    for (int k = 0; k < 3; k++) {
        near->impulse[k] += impulse[k];
        near->torque[k] += torque[k];
    }
    move_all(contact, body, by, still);
    body->grounded = body->leaves = true;
}

static bool is_first(const pl_contact_colliders *all, int number, int i)
{
    for (int j = all->near_start[number]; j < i; j++)
        if (all->near[j].collider == all->near[i].collider)
            return false;
    return true;
}

/* Out of all colliders that it is inside of. */
static bool leave_all(pl_contact *contact, int number)
{
    pl_contact_colliders *all = &contact->against;
    pl_contact_body *body = contact->bodies + number;
    bool any = false;
    for (int i = all->near_start[number]; i < all->near_start[number + 1]; i++) {
        pl_near *near = all->near + i;
        if (near->shoves >= 0 || !is_first(all, number, i) ||
            !pl_contact_is_leaving(contact, number, near->collider))
            continue;
        leave(contact, body, near);
        any = true;
    }
    return any;
}

static bool is_whole(const pl_contact_body *body)
{
    return body->whole > 0 && !body->asleep;
}

static void leave_some(pl_contact *contact, int begin, int end, int worker)
{
    for (int b = begin; b < end; b++)
        if (is_whole(contact->bodies + b))
            contact->buffers[worker].moved |= leave_all(contact, b);
}

static void move_some_out(pl_contact *contact, int begin, int end, int worker)
{
    for (int b = begin; b < end; b++)
        if (is_whole(contact->bodies + b))
            contact->buffers[worker].moved |= move_out(contact, b);
}

enum { ROUNDS = 4, BODIES_PER_TASK = 32 };

/* Whoever is moved may come near what nobody had foreseen: pairs are complete when a round
   begins. */
void pl_contact_stand_off(pl_contact *contact, pl_tasks *tasks)
{
    bool any = contact->firm.whole_count > 1 && contact->against.near_count > 0;
    for (int round = 0; any && round < ROUNDS; round++) {
        for (int w = 0; w < contact->worker_count; w++)
            contact->buffers[w].moved = false;
        pl_contact_run_stage(contact, tasks, round ? move_some_out : leave_some,
                             contact->body_count, BODIES_PER_TASK);
        any = round == 0;
        for (int w = 0; w < contact->worker_count; w++)
            if (contact->buffers[w].moved) {
                any = true;
                pl_contact_note_late(contact);
                break;
            }
    }
}
