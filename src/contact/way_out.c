/* The way out of a collider for a body that is in it from before: one for all of its particles.
   Each by the side nearest to it, some would leave on one side and some on the other, and what that
   strains, sub-step by sub-step and without any velocity, stiff springs give back at once when the
   last of them slips off.

   Of some directions (the sides of a box; away from the axis of what is round, and along the axes
   of its frame) the one is taken along which the body has the least way to go until all of it is
   out, and of those before all others one that leads into no other collider. Nothing is remembered:
   who goes that way has less of it to go, so it stays the least. Particles count as spheres
   here. */
#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/three.h"

/* A particle that was in by more than this part of its half width at the start of the sub-step did
   not come in by contact, which leaves nobody there. */
#define SUNK 0.25

/* Another collider is in the way where a particle would be in it by more than this part of its
   radius, and by more than it is now. */
#define IN_THE_WAY 0.5

enum { MOST_WAYS = 7 };

/* ---- Who is in ------------------------------------------------------------------------------- */

static bool has_inside(const pl_contact_collider *c)
{
    return c->kind == PL_COLLIDER_BOX || c->kind == PL_COLLIDER_SPHERE ||
           c->kind == PL_COLLIDER_CAPSULE;
}

/* Most are not even near. Of those who move one by one only a centre counts: they are pressed. */
static bool is_sunk(const pl_contact *contact, const pl_contact_collider *c, int particle)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[particle / PL_CLUMP];
    const pl_primitive *p = contact->primitives + particle;
    double start[3], from[3], reach = 0;
    if (body->whole > 0)
        reach = (1 - SUNK) * (double)contact->radius[particle];
    pl_sight sight;
    pl_barrier barrier;
    for (int k = 0; k < 3; k++)
        start[k] = body->base[k] + (double)p->x[k] - (double)p->moved[k] - c->from.position[k];
    pl_into3(c->turn_from, start, from);
    for (int k = 0; k < 3; k++)
        if (from[k] > c->outline[3 + k] + reach || from[k] < c->outline[k] - reach)
            return false;
    if (!(p->yield > 0))
        return false;
    if (!(body->whole > 0))
        return pl_contact_is_inside(c, from);
    if (!pl_contact_see(contact, c, particle, &sight))
        return false;
    memcpy(sight.ball.at, sight.ball.from, sizeof sight.ball.at);
    return pl_contact_meets(c, &sight.ball, &barrier) &&
           barrier.overlap > SUNK * pl_ball_half_width(&sight.ball, barrier.normal);
}

/* Moves by more than half of its size in this sub-step: blows are stopped particle by particle,
   also those of what is in. */
static bool is_fast(const pl_contact *contact, int clump)
{
    for (uint32_t used = contact->used[clump]; used; used &= used - 1) {
        int particle = clump * PL_CLUMP + __builtin_ctz(used);
        const float *way = contact->primitives[particle].moved;
        float most = PL_SWEPT_PART * contact->least[particle];
        if (way[0] * way[0] + way[1] * way[1] + way[2] * way[2] > most * most)
            return true;
    }
    return false;
}

static bool some_are_sunk(const pl_contact *contact, const pl_near *near)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    if (near->shoves >= 0 || !has_inside(c) || !pl_contact_stands(c))
        return false;
    for (uint32_t used = contact->used[near->clump]; used; used &= used - 1)
        if (is_sunk(contact, c, near->clump * PL_CLUMP + __builtin_ctz(used)))
            return true;
    return false;
}

void pl_contact_find_sunk(pl_contact *contact, int number)
{
    pl_contact_colliders *all = &contact->against;
    pl_contact_body *body = contact->bodies + number;
    body->sunk = false;
    if (!all->near_count || body->asleep)
        return;
    int begin = all->near_start[number], end = all->near_start[number + 1];
    for (int i = begin; i < end; i++) {
        all->near[i].sunk = some_are_sunk(contact, all->near + i);
        body->sunk |= all->near[i].sunk;
    }
    for (int i = begin; body->sunk && i < end; i++)
        body->sunk = !is_fast(contact, all->near[i].clump);
}

bool pl_contact_is_leaving(const pl_contact *contact, int number, int collider)
{
    const pl_contact_colliders *all = &contact->against;
    if (!contact->bodies[number].sunk)
        return false;
    for (int i = all->near_start[number]; i < all->near_start[number + 1]; i++)
        if (all->near[i].collider == collider && all->near[i].sunk)
            return true;
    return false;
}

/* ---- How far it is --------------------------------------------------------------------------- */

static void place_of(const pl_contact *contact, const pl_contact_body *body, int particle,
                     double out[3])
{
    const pl_clump_places *at = contact->places + particle / PL_CLUMP;
    const float *by = contact->change[particle], *still = contact->shift[particle];
    int k = particle % PL_CLUMP;
    const float x[3] = {at->x[k], at->y[k], at->z[k]};
    for (int m = 0; m < 3; m++)
        out[m] = body->base[m] + ((double)x[m] + (double)by[m] + (double)still[m]);
}

/* Until a sphere about p is out of a box along its axis. */
static double out_of_box(const double half[3], const double p[3], double radius, const double n[3])
{
    int axis = n[0] != 0 ? 0 : n[1] != 0 ? 1 : 2;
    for (int k = 0; k < 3; k++)
        if (k != axis && !(fabs(p[k]) < half[k] + radius))
            return 0;
    return half[axis] + radius - n[axis] * p[axis];
}

/* The same of a capsule (a sphere where half is 0): of that of its spheres which is left last. */
static double out_of_capsule(double size, double half, const double p[3], double radius,
                             const double n[3])
{
    double along = pl_larger(-half, pl_smaller(half, p[1])), both = size + radius;
    double d[3] = {p[0], p[1] - (n[1] > 0.5 ? half : n[1] < -0.5 ? -half : along), p[2]};
    double straight = pl_dot3(d, n), aside = pl_dot3(d, d) - straight * straight;
    return aside < both * both ? sqrt(both * both - pl_larger(aside, 0)) - straight : 0;
}

static double way_of(const pl_contact_collider *c, const double p[3], double radius,
                     const double n[3])
{
    if (c->kind == PL_COLLIDER_BOX)
        return out_of_box(c->size, p, radius, n);
    return out_of_capsule(c->size[0], c->kind == PL_COLLIDER_CAPSULE ? c->size[1] : 0, p, radius,
                          n);
}

static double way_of_body(const pl_contact *contact, const pl_contact_collider *c,
                          const pl_contact_body *body, const double n[3])
{
    double most = 0;
    for (int clump = body->first_clump; clump < body->first_clump + body->clumps->count; clump++)
        for (uint32_t used = contact->used[clump]; used; used &= used - 1) {
            int particle = clump * PL_CLUMP + __builtin_ctz(used);
            double at[3], p[3];
            place_of(contact, body, particle, at);
            for (int k = 0; k < 3; k++)
                at[k] -= c->to.position[k];
            pl_into3(c->turn_to, at, p);
            most = pl_larger(most, way_of(c, p, (double)contact->radius[particle], n));
        }
    return most;
}

/* ---- What is in the way ---------------------------------------------------------------------- */

/* How deep a sphere's centre is below a surface, at the most; meshes are not asked. */
static double depth_in(const pl_contact_collider *c, const double at[3])
{
    double d[3], p[3], least = INFINITY;
    for (int k = 0; k < 3; k++)
        d[k] = at[k] - c->to.position[k];
    pl_into3(c->turn_to, d, p);
    if (c->kind == PL_COLLIDER_PLANE)
        return -p[1];
    if (c->kind == PL_COLLIDER_MESH)
        return -INFINITY;
    if (c->kind == PL_COLLIDER_BOX) {
        for (int k = 0; k < 3; k++)
            least = pl_smaller(least, c->size[k] - fabs(p[k]));
        return least;
    }
    double half = c->kind == PL_COLLIDER_CAPSULE ? c->size[1] : 0;
    p[1] -= pl_larger(-half, pl_smaller(half, p[1]));
    return c->size[0] - sqrt(pl_dot3(p, p));
}

static bool bars_particle(const pl_contact *contact, const pl_contact_body *body,
                          const pl_contact_collider *other, int particle, const double by[3])
{
    double at[3], radius = (double)contact->radius[particle];
    place_of(contact, body, particle, at);
    double now = depth_in(other, at);
    for (int k = 0; k < 3; k++)
        at[k] += by[k];
    double then = depth_in(other, at);
    return then > now && then + radius > IN_THE_WAY * radius;
}

static bool bars_body(const pl_contact *contact, const pl_contact_body *body,
                      const pl_contact_collider *other, const double by[3])
{
    if (other->yield > 0 || !(other->category & body->mask) || !(body->category & other->mask))
        return false;
    for (int clump = body->first_clump; clump < body->first_clump + body->clumps->count; clump++)
        for (uint32_t used = contact->used[clump]; used; used &= used - 1)
            if (bars_particle(contact, body, other, clump * PL_CLUMP + __builtin_ctz(used), by))
                return true;
    return false;
}

static bool is_barred(const pl_contact *contact, const pl_contact_collider *c,
                      const pl_contact_body *body, const double n[3], double far)
{
    const pl_contact_colliders *all = &contact->against;
    double by[3];
    pl_out_of3(c->turn_to, n, by);
    for (int k = 0; k < 3; k++)
        by[k] *= far;
    for (int i = 0; i < all->count; i++)
        if (all->colliders + i != c && bars_body(contact, body, all->colliders + i, by))
            return true;
    return false;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* In the collider's frame. */
static int list_ways(const pl_contact_collider *c, const pl_contact_body *body,
                     double out[MOST_WAYS][3])
{
    int count = 0;
    for (int k = 0; k < 3; k++)
        for (int sign = -1; sign <= 1; sign += 2, count++) {
            memset(out[count], 0, sizeof out[count]);
            out[count][k] = sign;
        }
    if (c->kind == PL_COLLIDER_BOX)
        return count;
    double offset[3], half = c->kind == PL_COLLIDER_CAPSULE ? c->size[1] : 0;
    for (int k = 0; k < 3; k++)
        offset[k] = body->centre[k] - c->to.position[k];
    pl_into3(c->turn_to, offset, out[count]);
    out[count][1] -= pl_larger(-half, pl_smaller(half, out[count][1]));
    return pl_normalise3(out[count]) ? count + 1 : count;
}

/* Where the shape ends along n. */
static void end_of(const pl_contact_collider *c, pl_barrier *out)
{
    const double *n = out->normal;
    for (int k = 0; k < 3; k++)
        out->point[k] = (c->kind == PL_COLLIDER_BOX ? c->size[k] : c->size[0]) * n[k];
    if (c->kind == PL_COLLIDER_CAPSULE && n[1] != 0)
        out->point[1] += n[1] > 0 ? c->size[1] : -c->size[1];
}

double pl_contact_way_out(const pl_contact *contact, const pl_contact_collider *c,
                          const pl_contact_body *body, pl_barrier *out)
{
    double ways[MOST_WAYS][3], least = INFINITY;
    int count = list_ways(c, body, ways);
    bool free = false;
    for (int i = 0; i < count; i++) {
        double far = way_of_body(contact, c, body, ways[i]);
        bool barred = (free && !(far < least)) || is_barred(contact, c, body, ways[i], far);
        if ((barred && free) || (barred == !free && !(far < least)))
            continue;
        free = !barred;
        least = far;
        memcpy(out->normal, ways[i], sizeof out->normal);
    }
    out->overlap = 0;
    end_of(c, out);
    return least;
}
