/* Bodies so stiff that a blow is felt by all of them within a sub-step. Particles that contact pushes back one by one after the solve would strain
   their springs by ½ κ m δ²/h² each, κ = L_ii h²/m − 1 (METHODS §1), and from κ = 1 on that is more than the blow brought along. What is right is the
   least of the step's own energy that keeps everybody apart, and two ways to get there are enough to find it nearly:

       d_j = V + ω × r_j        all of the body, which strains nothing,
             + l_i  (j = i)     and the particle that was pushed, against its springs.

   An impulse p (times h) at particle i is then shared so that ½ m |d|²/h² + ½ κ m l²/h² is least: with w = 1/M + (r × n)ᵀ I⁻¹ (r × n), what the body
   yields there, and q = 1 − m w,

       s = q / (κ + q) of it stays with the particle,   l = s p / m,   and 1 − s moves the body,

   so that the particle yields w (1 − s) + s/m to it: that of a free particle at κ = 0, of a rigid body for large κ. Touches of such bodies, with others and
   with colliders, are gone through again and again, and may take back of what they gave (sequential impulses: Catto 2005): whoever
   holds a body up together shares its weight. Momentum is exact whatever the shares are. */
#include "contact/firm.h"

#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/three.h"
#include "math/elementary.h"
#include "math/mat3.h"

enum { SWEEPS = 10, PARTING_SWEEPS = 2 };

/* ---- Bodies ------------------------------------------------------------------------------------------ */

/* One that moves as a whole. */
typedef struct pl_whole {
    int body;
    double yield;            /* 1/M */
    pl_vec3 centre;          /* of mass, from the body's base */
    pl_mat3 ease;            /* I⁻¹ */
    int touches;             /* that push it */
    bool hit;                /* in the end some of them did */
    pl_vec3 moved, turned;   /* with velocity */
    pl_vec3 shifted, tilted; /* without */
} pl_whole;

typedef struct side {
    pl_whole *whole; /* NULL = the particle alone */
    int32_t place;   /* −1 = a collider that does not give way */
    pl_vec3 r, grip; /* from the centre of the whole: where it is pushed, and where it is rubbed */
    double yield, mass, kappa;
} side;

typedef struct response {
    double stays; /* the share of an impulse that the particle keeps */
    double yield; /* metres per impulse (times h) */
    pl_vec3 turn; /* of the whole, per impulse it gets */
} response;

/* b must stay ahead of a along n, as in pl_touch; a may be a collider. */
typedef struct pl_firm_touch {
    side a, b;
    pl_vec3 n, normal, slide;
    double depth, recover, friction;
    response from, to; /* of a and b to a push along n */
    double pushed;     /* impulses (times h) so far: along n... */
    pl_vec3 rubbed;    /* ...and by friction, on b */
    pl_touch *touch;   /* between bodies, or... */
    pl_near *near;     /* ...with a collider: */
    double point[3];   /* where it touches, from the body's base */
    double kick;       /* what bouncing gives */
} pl_firm_touch;

static pl_vec3 place_of(const pl_contact *contact, int32_t place)
{
    const pl_clump_places *at = contact->places + place / PL_CLUMP;
    int k = place % PL_CLUMP;
    return (pl_vec3){(double)at->x[k], (double)at->y[k], (double)at->z[k]};
}

static double mass_of(const pl_contact *contact, int32_t place)
{
    return 1 / (double)contact->primitives[place].yield;
}

typedef void visit_place(pl_contact *contact, pl_whole *whole, int32_t place);

static void visit(pl_contact *contact, pl_whole *whole, visit_place *call)
{
    const pl_contact_body *body = contact->bodies + whole->body;
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++)
        for (uint32_t used = contact->used[c]; used; used &= used - 1)
            call(contact, whole, c * PL_CLUMP + __builtin_ctz(used));
}

static void add_mass(pl_contact *contact, pl_whole *whole, int32_t place)
{
    double mass = mass_of(contact, place);
    whole->yield += mass;
    whole->centre = pl_v3_add_scaled(whole->centre, mass, place_of(contact, place));
}

/* Its own inertia is about that of a ball: m/5 (tr B I − B), on average. */
static void add_inertia(pl_contact *contact, pl_whole *whole, int32_t place)
{
    const pl_contact_body *body = contact->bodies + whole->body;
    int own = place - body->first_clump * PL_CLUMP;
    const float *shape =
        body->clumps->shape + (size_t)(own / PL_CLUMP) * 6 * PL_CLUMP + own % PL_CLUMP;
    double mass = mass_of(contact, place), unit = body->unit;
    double trace = (double)(shape[0] + shape[3 * PL_CLUMP] + shape[5 * PL_CLUMP]) * unit * unit;
    pl_vec3 r = pl_v3_sub(place_of(contact, place), whole->centre);
    double round = mass * (pl_v3_length2(r) + trace * (2.0 / 15));
    whole->ease = pl_m3_add(whole->ease, pl_m3_diagonal(round, round, round));
    whole->ease = pl_m3_add_scaled(whole->ease, -mass, pl_m3_outer(r, r));
}

static bool weigh(pl_contact *contact, pl_whole *whole)
{
    pl_mat3 inertia;
    visit(contact, whole, add_mass);
    whole->yield = 1 / whole->yield;
    whole->centre = pl_v3_scale(whole->centre, whole->yield);
    visit(contact, whole, add_inertia);
    inertia = whole->ease;
    return pl_m3_inverse(inertia, &whole->ease) && isfinite(pl_m3_trace(whole->ease)) &&
           isfinite(whole->yield);
}

static pl_whole *whole_of(const pl_contact *contact, int32_t place)
{
    int number = contact->bodies[contact->body_of[place / PL_CLUMP]].whole;
    return number < 0 ? NULL : contact->firm.wholes + number;
}

enum { NOT_WHOLE = -1, JOINED = -2 };

/* What hangs on something else is moved by particles. */
static void leave_joined(pl_contact *contact)
{
    for (int i = 0; i < contact->joints.count; i++) {
        const pl_joint *joint = contact->joints.joints + i;
        const pl_joint_end *ends[2] = {&joint->a, &joint->b};
        for (int e = 0; e < 2; e++)
            for (int j = 0; j < ends[e]->count; j++)
                contact->bodies[contact->body_of[ends[e]->place[j] / PL_CLUMP]].whole = JOINED;
    }
}

static void find_wholes(pl_contact *contact)
{
    contact->firm.whole_count = 0;
    for (int b = 0; b < contact->body_count; b++)
        contact->bodies[b].whole = NOT_WHOLE;
    leave_joined(contact);
    for (int b = 0; b < contact->body_count; b++) {
        pl_whole *whole = contact->firm.wholes + contact->firm.whole_count;
        if (!(contact->bodies[b].firm >= PL_FIRM) || contact->bodies[b].whole == JOINED)
            continue;
        *whole = (pl_whole){.body = b};
        if (weigh(contact, whole))
            contact->bodies[b].whole = contact->firm.whole_count++;
    }
}

/* ---- Both sides of a touch ----------------------------------------------------------------------------- */

static side side_of(const pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    side s = {.whole = whole_of(contact, place), .place = place};
    s.yield = (double)contact->primitives[place].yield;
    s.mass = s.yield > 0 ? 1 / s.yield : 0;
    if (s.whole) {
        int32_t i = body->clumps->particle[place - body->first_clump * PL_CLUMP];
        s.r = s.grip = pl_v3_sub(place_of(contact, place), s.whole->centre);
        s.kappa = fmax(body->diagonal[i] / body->mass[i] - 1, 0);
    }
    return s;
}

/* To impulses along n, a unit vector, at r. */
static response respond(const side *s, pl_vec3 r, pl_vec3 n)
{
    if (!s->whole)
        return (response){1, s->yield, {0, 0, 0}};
    pl_vec3 lever = pl_v3_cross(r, n), turn = pl_m3_mul_v3(s->whole->ease, lever);
    double w = s->whole->yield + pl_v3_dot(lever, turn), q = fmax(1 - s->mass * w, 0);
    double stays = q / (s->kappa + q + 1e-300);
    return (response){stays, w * (1 - stays) + stays * s->yield, turn};
}

static void add_floats(float out[4], pl_vec3 by)
{
    out[0] += (float)by.x, out[1] += (float)by.y, out[2] += (float)by.z;
}

/* By contacts of this sub-step, at r. */
static pl_vec3 displacement(const pl_contact *contact, const side *s, pl_vec3 r)
{
    if (s->place < 0)
        return (pl_vec3){0, 0, 0};
    pl_vec3 d = pl_v3_from_floats(contact->change[s->place]);
    if (s->whole)
        d = pl_v3_add(d, pl_v3_add(s->whole->moved, pl_v3_cross(s->whole->turned, r)));
    return d;
}

static void push(pl_contact *contact, const side *s, const response *r, pl_vec3 n, double by)
{
    if (s->place < 0)
        return;
    add_floats(contact->change[s->place], pl_v3_scale(n, by * r->stays * s->yield));
    if (s->whole) {
        double rest = by * (1 - r->stays);
        s->whole->moved = pl_v3_add_scaled(s->whole->moved, rest * s->whole->yield, n);
        s->whole->turned = pl_v3_add_scaled(s->whole->turned, rest, r->turn);
    }
}

/* The same without velocity. */
static pl_vec3 parted_by(const pl_contact *contact, const side *s)
{
    if (s->place < 0)
        return (pl_vec3){0, 0, 0};
    pl_vec3 d = pl_v3_from_floats(contact->shift[s->place]);
    if (s->whole)
        d = pl_v3_add(d, pl_v3_add(s->whole->shifted, pl_v3_cross(s->whole->tilted, s->r)));
    return d;
}

/* By so many metres, as far as a particle may be parted in a sub-step. */
static void part(pl_contact *contact, const side *s, pl_vec3 n, double metres)
{
    response r = respond(s, s->r, n);
    if (s->place < 0 || !(r.yield > 0))
        return;
    double most =
        (double)(contact->far * contact->radius[s->place]) - pl_v3_length(parted_by(contact, s));
    double by = fmax(fmin(metres, most), 0) / r.yield;
    add_floats(contact->shift[s->place], pl_v3_scale(n, by * r.stays * s->yield));
    if (s->whole) {
        double rest = by * (1 - r.stays);
        s->whole->shifted = pl_v3_add_scaled(s->whole->shifted, rest * s->whole->yield, n);
        s->whole->tilted = pl_v3_add_scaled(s->whole->tilted, rest, r.turn);
    }
}

/* ---- Touches ------------------------------------------------------------------------------------------- */

static bool make_room(pl_contact *contact, int count)
{
    pl_contact_firm *firm = &contact->firm;
    if (count <= firm->touch_capacity)
        return true;
    int capacity = count + count / 2 + 16;
    pl_firm_touch *fresh = PL_NEW(contact->memory, pl_firm_touch, capacity);
    if (!fresh)
        return false;
    if (firm->touch_count)
        memcpy(fresh, firm->touches, sizeof *fresh * (size_t)firm->touch_count);
    pl_memory_free(contact->memory, firm->touches);
    firm->touches = fresh;
    firm->touch_capacity = capacity;
    return true;
}

/* One that touches itself does it with particles: as a whole it cannot. */
bool pl_contact_is_firm(const pl_contact *contact, const pl_touch *t)
{
    return contact->firm.whole_count &&
           contact->body_of[t->a / PL_CLUMP] != contact->body_of[t->b / PL_CLUMP] &&
           (whole_of(contact, t->a) || whole_of(contact, t->b));
}

/* From the centre of a particle to the point of its surface whose normal is n. */
static pl_vec3 surface_arm(const pl_contact *contact, int32_t place, pl_vec3 n)
{
    const float *b = contact->primitives[place].shape;
    pl_mat3 shape = {{{(double)b[0], (double)b[1], (double)b[2]},
                      {(double)b[1], (double)b[3], (double)b[4]},
                      {(double)b[2], (double)b[4], (double)b[5]}}};
    pl_vec3 bn = pl_m3_mul_v3(shape, n);
    double square = pl_v3_dot(n, bn);
    return square > 0 ? pl_v3_scale(bn, 1 / sqrt(square)) : (pl_vec3){0, 0, 0};
}

/* Both are rubbed in the middle between their surfaces. */
static void find_grip(const pl_contact *contact, pl_firm_touch *t)
{
    const double *from = contact->bodies[contact->body_of[t->a.place / PL_CLUMP]].base;
    const double *to = contact->bodies[contact->body_of[t->b.place / PL_CLUMP]].base;
    pl_vec3 base = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    pl_vec3 a =
        pl_v3_add(place_of(contact, t->a.place), surface_arm(contact, t->a.place, t->normal));
    pl_vec3 b =
        pl_v3_sub(place_of(contact, t->b.place), surface_arm(contact, t->b.place, t->normal));
    pl_vec3 middle = pl_v3_scale(pl_v3_add(a, pl_v3_add(b, base)), 0.5);
    if (t->a.whole)
        t->a.grip = pl_v3_sub(middle, t->a.whole->centre);
    if (t->b.whole)
        t->b.grip = pl_v3_sub(pl_v3_sub(middle, base), t->b.whole->centre);
}

static void add(pl_contact *contact, pl_firm_touch t)
{
    if (!make_room(contact, contact->firm.touch_count + 1)) {
        contact->lost++;
        return;
    }
    t.from = respond(&t.a, t.a.r, t.n);
    t.to = respond(&t.b, t.b.r, t.n);
    if (t.a.whole)
        t.a.whole->touches += t.depth > 0;
    if (t.b.whole)
        t.b.whole->touches += t.depth > 0;
    contact->firm.touches[contact->firm.touch_count++] = t;
}

static void add_touch(pl_contact *contact, pl_touch *touch)
{
    pl_firm_touch t = {.a = side_of(contact, touch->a),
                       .b = side_of(contact, touch->b),
                       .n = pl_v3_from_floats(touch->n),
                       .normal = pl_v3_from_floats(touch->normal),
                       .slide = pl_v3_from_floats(touch->slide),
                       .depth = (double)touch->depth,
                       .recover = (double)touch->recover,
                       .friction = (double)touch->friction,
                       .touch = touch};
    find_grip(contact, &t);
    add(contact, t);
}

static void add_touches(pl_contact *contact)
{
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; i < s->count; i++)
            if (pl_contact_is_firm(contact, touches + i))
                add_touch(contact, touches + i);
    }
}

static pl_vec3 from_doubles(const double v[3])
{
    return (pl_vec3){v[0], v[1], v[2]};
}

/* Pushed and rubbed where it touches. */
static void add_stop(pl_contact *contact, pl_near *near, int place, const pl_shove *stop)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    pl_firm_touch t = {.a = {.place = -1},
                       .b = side_of(contact, near->clump * PL_CLUMP + place),
                       .n = from_doubles(stop->n),
                       .normal = from_doubles(stop->n),
                       .slide = from_doubles(stop->slide),
                       .depth = stop->depth,
                       .recover = stop->recover,
                       .friction = stop->friction,
                       .near = near,
                       .kick = stop->kick};
    for (int k = 0; k < 3; k++)
        t.point[k] = stop->arm[k] + c->to.position[k] - body->base[k];
    t.b.r = t.b.grip = pl_v3_sub(from_doubles(t.point), t.b.whole->centre);
    add(contact, t);
}

/* Colliders that do not give way, which have the last word later: whatever is left for it then strains springs. */
static void add_stops(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 0; i < all->near_count; i++) {
        pl_near *near = all->near + i;
        const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
        if (near->shoves >= 0 || body->whole < 0 || body->asleep ||
            pl_contact_is_deep(all->colliders + near->collider, body))
            continue;
        for (uint32_t used = contact->used[near->clump]; used; used &= used - 1) {
            int place = __builtin_ctz(used);
            pl_shove stop;
            if (pl_contact_find_shove(contact, near, near->clump * PL_CLUMP + place, &stop))
                add_stop(contact, near, place, &stop);
        }
    }
}

void pl_contact_find_firm(pl_contact *contact)
{
    contact->firm.touch_count = 0;
    find_wholes(contact);
    if (!contact->firm.whole_count)
        return;
    add_touches(contact);
    add_stops(contact);
}

/* ---- Sweeps -------------------------------------------------------------------------------------------- */

static void exchange(pl_contact *contact, pl_firm_touch *t, const response *a, const response *b,
                     pl_vec3 n, double by)
{
    push(contact, &t->a, a, n, -by);
    push(contact, &t->b, b, n, by);
}

static void press(pl_contact *contact, pl_firm_touch *t)
{
    pl_vec3 apart =
        pl_v3_sub(displacement(contact, &t->b, t->b.r), displacement(contact, &t->a, t->a.r));
    double missing = t->depth - pl_v3_dot(t->n, apart), yield = t->from.yield + t->to.yield;
    if (!(yield > 0))
        return;
    double after = fmax(t->pushed + missing / yield, 0), by = after - t->pushed;
    t->pushed = after;
    if (by != 0)
        exchange(contact, t, &t->from, &t->to, t->n, by);
}

/* What has slid is undone, as far as friction holds. */
static void rub(pl_contact *contact, pl_firm_touch *t)
{
    double limit = t->friction * t->pushed;
    pl_vec3 apart =
        pl_v3_sub(displacement(contact, &t->b, t->b.grip), displacement(contact, &t->a, t->a.grip));
    pl_vec3 slide = pl_v3_add(t->slide, apart), wanted = t->rubbed;
    slide = pl_v3_add_scaled(slide, -pl_v3_dot(slide, t->normal), t->normal);
    double length = pl_v3_length(slide);
    if (length > 0) {
        pl_vec3 along = pl_v3_scale(slide, 1 / length);
        response a = respond(&t->a, t->a.grip, along), b = respond(&t->b, t->b.grip, along);
        double yield = a.yield + b.yield;
        if (yield > 0)
            wanted = pl_v3_add_scaled(wanted, -length / yield, along);
    }
    double force = pl_v3_length(wanted);
    if (force > limit)
        wanted = pl_v3_scale(wanted, limit / force);
    pl_vec3 by = pl_v3_sub(wanted, t->rubbed);
    double size = pl_v3_length(by);
    if (!(size > 0))
        return;
    pl_vec3 n = pl_v3_scale(by, 1 / size);
    response a = respond(&t->a, t->a.grip, n), b = respond(&t->b, t->b.grip, n);
    exchange(contact, t, &a, &b, n, size);
    t->rubbed = wanted;
}

/* Old overlap, without velocity; in equal parts where both give way. */
static void recover(pl_contact *contact, pl_firm_touch *t)
{
    pl_vec3 so_far = pl_v3_sub(parted_by(contact, &t->b), parted_by(contact, &t->a));
    double missing = t->recover - pl_v3_dot(t->n, so_far);
    bool both = t->a.yield > 0 && t->b.yield > 0;
    if (!(missing > 0))
        return;
    part(contact, &t->a, pl_v3_neg(t->n), t->a.yield > 0 ? both ? 0.5 * missing : missing : 0);
    part(contact, &t->b, t->n, t->b.yield > 0 ? both ? 0.5 * missing : missing : 0);
}

static void resolve(pl_contact *contact, pl_firm_touch *t, bool parting)
{
    press(contact, t);
    if (t->friction > 0 && (t->pushed > 0 || pl_v3_length2(t->rubbed) > 0))
        rub(contact, t);
    if (parting && t->recover > 0)
        recover(contact, t);
}

/* A first guess: all touches of a body have an equal share in what holds it. */
static void begin(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    for (int i = 0; i < firm->touch_count; i++) {
        pl_firm_touch *t = firm->touches + i;
        double share =
            1.0 / fmax(t->a.whole ? t->a.whole->touches : 1, t->b.whole ? t->b.whole->touches : 1);
        double yield = t->from.yield + t->to.yield;
        if (!(t->depth > 0) || !(yield > 0))
            continue;
        t->pushed = share * t->depth / yield;
        exchange(contact, t, &t->from, &t->to, t->n, t->pushed);
    }
}

void pl_contact_sweep_firm(pl_contact *contact, int round)
{
    pl_contact_firm *firm = &contact->firm;
    if (round == 0)
        begin(contact);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < firm->touch_count; i++)
            resolve(contact, firm->touches + i, round == 0 && sweep < PARTING_SWEEPS);
}

/* ---- What came of it ------------------------------------------------------------------------------------- */

/* exp([θ]) r − r */
static pl_vec3 turned_by(pl_vec3 theta, pl_vec3 r)
{
    double angle = pl_v3_length(theta);
    if (!(angle > 0))
        return (pl_vec3){0, 0, 0};
    pl_vec3 axis = pl_v3_scale(theta, 1 / angle), across = pl_v3_cross(axis, r);
    double half = pl_sin(0.5 * angle);
    return pl_v3_add_scaled(pl_v3_scale(across, pl_sin(angle)), 2 * half * half,
                            pl_v3_cross(axis, across));
}

static void lead(pl_contact *contact, pl_whole *whole, int32_t place)
{
    pl_vec3 r = pl_v3_sub(place_of(contact, place), whole->centre);
    add_floats(contact->change[place], pl_v3_add(whole->moved, turned_by(whole->turned, r)));
    add_floats(contact->shift[place], pl_v3_add(whole->shifted, turned_by(whole->tilted, r)));
    pl_contact_note_touched(contact, place, 1);
}

static bool is_still(pl_vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static void store(pl_vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

/* Who goes on sleeping stays where it is. */
static void move_whole(pl_contact *contact, pl_whole *whole)
{
    pl_contact_body *body = contact->bodies + whole->body;
    bool pushed = !is_still(whole->moved) || !is_still(whole->turned);
    bool parted = !is_still(whole->shifted) || !is_still(whole->tilted);
    double check = pl_v3_length2(whole->moved) + pl_v3_length2(whole->turned) +
                   pl_v3_length2(whole->shifted) + pl_v3_length2(whole->tilted);
    if ((!pushed && !parted) || (body->asleep && !whole->hit) || !isfinite(check))
        return;
    visit(contact, whole, lead);
    store(whole->turned, body->turned);
    store(whole->tilted, body->tilted);
    body->turns = true;
}

static void note_stop(pl_contact *contact, const pl_firm_touch *t)
{
    pl_near *near = t->near;
    pl_near_hits *hits = contact->against.hits + near->block;
    int k = t->b.place % PL_CLUMP;
    double scale = -1 / contact->h, impulse[3], n[3];
    if (!near->mask)
        memset(hits, 0, sizeof *hits);
    near->mask |= 1u << k;
    store(pl_v3_scale(pl_v3_add_scaled(t->rubbed, t->pushed, t->n), scale), impulse);
    store(t->n, n);
    for (int m = 0; m < 3; m++) {
        hits->impulse[m][k] += (float)impulse[m];
        hits->normal[m][k] = (float)n[m];
        hits->point[m][k] = (float)t->point[m];
    }
    /* A bounce is velocity of the particle alone; once in a sub-step. */
    float *kick = contact->kick[t->b.place];
    if (!(t->kick > 0) || kick[0] != 0 || kick[1] != 0 || kick[2] != 0)
        return;
    for (int m = 0; m < 3; m++) {
        kick[m] = (float)(t->kick * n[m]);
        hits->impulse[m][k] += (float)(scale * (double)kick[m] * t->b.mass);
    }
}

/* What was taken back leaves rounding errors behind: they wake nobody. */
static void note_hit(const pl_firm_touch *t)
{
    bool hit = t->touch->pushed > 0;
    if (t->a.whole)
        t->a.whole->hit |= hit;
    if (t->b.whole)
        t->b.whole->hit |= hit;
}

void pl_contact_finish_firm(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    for (int i = 0; i < firm->touch_count; i++) {
        const pl_firm_touch *t = firm->touches + i;
        if (t->touch) {
            /* In metres of what the two particles alone would have given way. */
            t->touch->pushed = (float)(t->pushed / (double)t->touch->mass);
            t->touch->rubbed = (float)(pl_v3_length(t->rubbed) / (double)t->touch->mass);
            pl_contact_note_touched(contact, t->a.place, 1);
            note_hit(t);
        } else if (t->pushed > 0) {
            note_stop(contact, t);
        }
        pl_contact_note_touched(contact, t->b.place, 1);
    }
    for (int i = 0; i < firm->whole_count; i++)
        move_whole(contact, firm->wholes + i);
}

/* ---- Room ------------------------------------------------------------------------------------------------ */

/* More at once are rare. */
enum { TOUCHES_PER_CLUMP = PL_CLUMP / 2 };

pl_status pl_contact_reserve_firm(pl_contact *contact, int clumps)
{
    pl_contact_firm *firm = &contact->firm;
    if (!make_room(contact, TOUCHES_PER_CLUMP * clumps))
        return PL_ERROR_MEMORY;
    if (firm->whole_capacity >= contact->body_capacity)
        return PL_OK;
    pl_whole *wholes = PL_NEW(contact->memory, pl_whole, contact->body_capacity);
    if (!wholes)
        return PL_ERROR_MEMORY;
    pl_memory_free(contact->memory, firm->wholes);
    firm->wholes = wholes;
    firm->whole_capacity = contact->body_capacity;
    firm->whole_count = 0;
    return PL_OK;
}

void pl_contact_free_firm(pl_contact *contact)
{
    pl_memory_free(contact->memory, contact->firm.wholes);
    pl_memory_free(contact->memory, contact->firm.touches);
    contact->firm = (pl_contact_firm){0};
}
