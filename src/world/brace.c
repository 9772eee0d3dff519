/* What springs do while a collider holds a particle up. Contact moves particles after the solve, in
   which those that touch had nothing to stand on: there the spring between such a particle i and a
   neighbour j gives way, by δ_i, and pushes j by less than it would if i had stood: by w_ij δ_i,
   with L_ij = −w_ij (METHODS §1: h² times the stiffness between the two). So while a body is
   pressed against a wall its springs are strained by all of the force, and the rest of it is slowed
   down by 1/(1 + κ) of that, κ = Σ_j w_ij/m_i: the wall does work on it for which nobody pays, and
   bodies with κ from 0.3 on had up to a tenth more energy at the height of the blow than before it.
   What is missing is given to the neighbours here, as velocity,

       m_j Δu_j = w_ij δ_i n / h        as long as j comes nearer to the collider by more than gravity makes it in a sub-step,

   so that it never brings energy; what is left over when j no longer does, to the body as a whole
   as long as its middle does. What friction undoes of a slide strains springs just the same, so
   across n the neighbours are held back likewise, as long as they slide. The collider gets the
   opposite impulse, where it is touched. Stiff bodies are moved as a whole, which is this and more:
   contact/firm.c. */
#include <math.h>
#include <string.h>

#include "contact/three.h"
#include "world/world.h"

/* Mean of κ: softer bodies gain nothing to speak of. */
#define LEAST_FIRMNESS 0.1

/* Pushes below this many times what gravity does in a sub-step strain next to nothing. */
#define LIGHT 8.0

/* A particle that was pushed back along n. Lengths in the model's unit. */
typedef struct prop {
    int particle;
    double n[3], depth;
    double nearest; /* who comes further along n in this sub-step is left alone */
    double origin;  /* how far the body's origin comes */
    double over;    /* momentum that neighbours did not take */
} prop;

/* Velocity, in units per sub-step, to one neighbour, which was to get so much momentum. Returns
   what it got. */
static double hold_back(pl_oriented *matter, prop *p, int j, double momentum)
{
    double way = 0, mass = matter->system->mass[j];
    for (int k = 0; k < 3; k++)
        way += p->n[k] * ((double)matter->now.x[3 * j + k] - (double)matter->old.x[3 * j + k]);
    double room = (p->nearest - p->origin - way) * mass;
    if (!(room > 0) || matter->system->is_fixed[j])
        return 0;
    p->over += momentum > room ? momentum - room : 0;
    momentum = momentum < room ? momentum : room;
    double by = momentum / mass;
    for (int k = 0; k < 3; k++)
        matter->old.x[3 * j + k] -= (float)(by * p->n[k]);
    return momentum;
}

/* All of the body at once. `sum`: momentum that neighbours got, which its path does not show
   yet. */
static double hold_body_back(pl_oriented *matter, const prop *p, const double sum[3])
{
    double mass = matter->system->total_mass, by = p->over / mass, room = p->nearest;
    for (int k = 0; k < 3; k++)
        room -= p->n[k] * (matter->path[k] + sum[k] / mass);
    by = by < room ? by : room;
    if (!(by > 0) || matter->system->grounded)
        return 0;
    for (int k = 0; k < 3; k++) {
        matter->path[k] += by * p->n[k];
        matter->old.origin[k] -= by * p->n[k];
    }
    return by * mass;
}

/* w_ij = κ (v_i + v_j) = κ v_j (1 + v_i/v_j). */
static double hold_neighbours_back(const pl_record *record, pl_oriented *matter, prop *p)
{
    const pl_system *system = matter->system;
    const pl_star_f *star = system->star_f + record->model->start[p->particle],
                    *end = system->star_f + record->model->start[p->particle + 1];
    const pl_grain_f *grain = system->grain_f + p->particle;
    double momentum = 0, depth = p->depth;
    float volume = grain->mass / grain->density;
    for (int k = 0; k < 3; k++)
        p->origin += p->n[k] * (matter->place[k] - matter->old.origin[k]);
    for (; star < end; star++) {
        const pl_grain_f *other = system->grain_f + star->j;
        float part = volume * other->density / other->mass;
        momentum +=
            hold_back(matter, p, star->j, (double)(star->root * star->root * (1 + part)) * depth);
    }
    return momentum;
}

/* How far the collider comes along n, where it is touched, at `arm` from its position; less what
   gravity does. */
static double wall_comes(const pl_world *world, const pl_record *record,
                         const pl_contact_collider *c, const double n[3], const double arm[3])
{
    double wall = -world->contact->gravity * world->h * world->h, turned[3];
    pl_cross3(c->turned, arm, turned);
    for (int k = 0; k < 3; k++)
        wall += n[k] * (c->moved[k] + turned[k]);
    return wall / record->model->unit;
}

/* The middle of the body must be held back, too: whoever rests is left as it is. */
static bool falls_behind(const pl_record *record, const double n[3], const double sum[3],
                         double nearest)
{
    double middle = 0;
    for (int k = 0; k < 3; k++)
        middle += n[k] * (record->matter.path[k] + sum[k] / record->matter.system->total_mass);
    return middle < nearest;
}

/* Where a particle was pushed, by what, and where the collider is touched. */
typedef struct blow {
    const pl_contact_collider *collider;
    int at;
    double n[3], impulse[3], arm[3];
} blow;

static blow look(const pl_contact *contact, const pl_near *near, int place)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    const pl_near_hits *hits = contact->against.hits + near->block;
    blow t = {.collider = contact->against.colliders + near->collider,
              .at = near->clump * PL_CLUMP + place};
    for (int k = 0; k < 3; k++) {
        t.n[k] = (double)hits->normal[k][place];
        t.impulse[k] = -(double)hits->impulse[k][place];
        t.arm[k] = (double)hits->point[k][place] + body->base[k] - t.collider->to.position[k];
    }
    return t;
}

static bool is_light(const pl_contact *contact, double metres)
{
    return !(metres > LIGHT * contact->gravity * contact->h * contact->h);
}

/* What it got of velocity alone, along n; metres per sub-step. */
static double kick_along(const pl_contact *contact, const pl_record *record, const blow *t,
                         const double n[3])
{
    double sum = 0;
    bool kicked = contact->kicks || contact->bodies[record->contact].kicked;
    for (int k = 0; kicked && k < 3; k++)
        sum += n[k] * (double)contact->came[t->at][k];
    return sum;
}

static bool find_prop(const pl_world *world, const pl_record *record, const blow *t,
                      const double sum[3], prop *p)
{
    const pl_contact *contact = world->contact;
    double given = pl_dot3(t->n, t->impulse);
    memcpy(p->n, t->n, sizeof p->n);
    p->nearest = wall_comes(world, record, t->collider, t->n, t->arm);
    if (!(given > 0) || !falls_behind(record, t->n, sum, p->nearest))
        return false;
    double metres = given * world->h / (double)contact->mass[t->at];
    metres -= kick_along(contact, record, t, t->n);
    p->depth = metres / record->model->unit;
    return !is_light(contact, metres);
}

/* Across n, along the way that friction pushed; what it only slowed down strains nothing. */
static bool find_rub(const pl_world *world, const pl_record *record, const blow *t,
                     const double sum[3], prop *p)
{
    const pl_contact *contact = world->contact;
    double straight = pl_dot3(t->n, t->impulse), belt[3];
    for (int k = 0; k < 3; k++)
        p->n[k] = t->impulse[k] - straight * t->n[k];
    double metres = sqrt(pl_dot3(p->n, p->n)) * world->h / (double)contact->mass[t->at];
    if (!pl_normalise3(p->n))
        return false;
    metres -= kick_along(contact, record, t, p->n);
    if (is_light(contact, metres))
        return false;
    pl_out_of3(t->collider->turn_to, t->collider->belt, belt);
    p->nearest = wall_comes(world, record, t->collider, p->n, t->arm) +
                 pl_dot3(p->n, belt) * world->h / record->model->unit;
    p->depth = metres / record->model->unit;
    return falls_behind(record, p->n, sum, p->nearest);
}

/* Most bodies on a floor do not. */
static bool may_brace(const pl_world *world, const pl_record *record, const pl_near *near,
                      const double sum[3])
{
    const pl_contact_collider *c = world->contact->against.colliders + near->collider;
    const double n[3] = {c->turn_to[0][1], c->turn_to[1][1], c->turn_to[2][1]};
    const double nowhere[3] = {0, 0, 0};
    bool floor = c->kind == PL_COLLIDER_PLANE && !pl_dot3(c->turned, c->turned);
    return near->mask && near->shoves < 0 &&
           (!floor || falls_behind(record, n, sum, wall_comes(world, record, c, n, nowhere)));
}

/* What a collider gets of it. */
static void give_back(pl_near *near, const double impulse[3], const double point[3])
{
    double torque[3];
    pl_cross3(point, impulse, torque);
    for (int k = 0; k < 3; k++) {
        near->impulse[k] -= impulse[k];
        near->torque[k] -= torque[k];
    }
}

static void hold_up(pl_world *world, pl_record *record, pl_near *near, const blow *t, prop *p,
                    double sum[3])
{
    double scale = record->matter.system->mass_unit * record->model->unit / world->h, impulse[3];
    double momentum = hold_neighbours_back(record, &record->matter, p);
    for (int k = 0; k < 3; k++)
        sum[k] += momentum * p->n[k];
    momentum += p->over > 0 ? hold_body_back(&record->matter, p, sum) : 0;
    for (int k = 0; k < 3; k++)
        impulse[k] = momentum * p->n[k] * scale;
    give_back(near, impulse, t->arm);
}

static void brace_clump(pl_world *world, pl_record *record, pl_near *near, double sum[3])
{
    const pl_contact *contact = world->contact;
    const pl_contact_body *body = contact->bodies + record->contact;
    for (uint32_t mask = near->mask; mask; mask &= mask - 1) {
        blow t = look(contact, near, __builtin_ctz(mask));
        int particle = record->clumps->particle[t.at - body->first_clump * PL_CLUMP];
        prop push = {.particle = particle}, rub = {.particle = particle};
        if (!find_prop(world, record, &t, sum, &push))
            continue;
        hold_up(world, record, near, &t, &push, sum);
        if (find_rub(world, record, &t, sum, &rub))
            hold_up(world, record, near, &t, &rub, sum);
    }
}

void pl_world_note_bounces(pl_world *world, int number)
{
    pl_contact *contact = world->contact;
    const pl_contact_colliders *all = &contact->against;
    for (int i = all->near_start[number]; i < all->near_start[number + 1]; i++) {
        const pl_near *near = all->near + i;
        for (uint32_t mask = near->shoves < 0 ? near->mask : 0; mask; mask &= mask - 1) {
            int at = near->clump * PL_CLUMP + __builtin_ctz(mask);
            memcpy(contact->came[at], contact->kick[at], sizeof contact->came[at]);
        }
    }
}

bool pl_record_braces(const pl_world *world, const pl_record *record)
{
    const pl_contact *contact = world->contact;
    const pl_contact_colliders *all = &contact->against;
    const pl_system *system = record->matter.system;
    uint32_t touched = 0;
    for (int i = all->near_count ? all->near_start[record->contact] : 0;
         all->near_count && i < all->near_start[record->contact + 1]; i++)
        touched |= all->near[i].shoves < 0 ? all->near[i].mask : 0;
    return touched && !contact->bodies[record->contact].whole &&
           system->firmness >= LEAST_FIRMNESS && !system->loose;
}

void pl_world_brace(pl_world *world, pl_record *record)
{
    const pl_contact_colliders *all = &world->contact->against;
    double sum[3] = {0, 0, 0};
    for (int i = all->near_start[record->contact]; i < all->near_start[record->contact + 1]; i++)
        if (may_brace(world, record, all->near + i, sum))
            brace_clump(world, record, all->near + i, sum);
    if (sum[0] != 0 || sum[1] != 0 || sum[2] != 0)
        pl_oriented_add_kick(&record->matter, sum);
}
