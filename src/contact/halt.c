/* The last resort against what is so fast that touches do not stop it. They are resolved along the
   lines on which pairs first meet if all go straight on; whoever is thrown aside by one of them may
   meet others, whom nobody has asked. So when all touches are resolved, the ways of bodies in fast,
   head-on ones are looked at once more: from where each particle started to where it would end.
   Bodies that would pass through each other, or that the blow would turn inside out, collide
   without bouncing instead, as a whole (rigid impact zones: Provot 1997; Bridson et al. 2002):

       all go their ways until the first two of them meet, at the part t of the sub-step;
       from there on they go on as one, by V and a turn about their centre c

   with the momentum and, but for large turns, the angular momentum that they have together. Such a
   motion changes no distance, and strains nobody. */
#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"
#include "math/quat.h"

/* Lengths below are parts of the distance at which a pair touches. A pair passes that has come
   nearer than CLOSE and ends on the other side (in a wall of touching spheres the widest gap leaves
   0.71), or nearer than HALF_WAY. Pairs nearer than NO_SIDE have no side to be on; those that move
   less than FAST are seen in the next sub-step. */
#define CLOSE 0.75
#define HALF_WAY 0.5
#define NO_SIDE 0.3
#define FAST 0.5

/* They turn no further than this in a sub-step, radians: the chord of a turn is shorter than its
   arc, so that some of the angular momentum is lost (4 % at this one). */
#define MOST_TURN 0.5

/* Of the distance at rest; and of that at the start of the sub-step. */
#define STRETCHED 2.5
#define MORE 2.0

/* ---- Zones ----------------------------------------------------------------------------------- */

/* Bodies that go on as one, named after the first of them. */
static int zone_of(const pl_contact *contact, int body)
{
    pl_contact_body *all = contact->bodies;
    while (all[body].zone != body)
        body = all[body].zone = all[all[body].zone].zone;
    return body;
}

static bool is_halted(const pl_contact *contact, int body)
{
    return contact->bodies[zone_of(contact, body)].halted;
}

/* What is known of a body without asking is only what its groups need. */
static void show(pl_contact *contact, int number)
{
    pl_contact_body *body = contact->bodies + number;
    if (contact->show && !body->shown)
        contact->show(contact->host, number);
    body->shown = true;
}

/* ---- Ways of particles ----------------------------------------------------------------------- */

typedef struct way {
    double from[3], by[3]; /* metres; from a base in common */
} way;

static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Straight on, or as it was corrected. */
static inline way way_of(const pl_contact *contact, int32_t place, const double base[3],
                         bool corrected)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    const float *x = contact->places[place / PL_CLUMP].x + place % PL_CLUMP;
    const float *moved = contact->ways[place / PL_CLUMP].x + place % PL_CLUMP;
    const float *change = contact->change[place], *shift = contact->shift[place];
    way w;
    for (int k = 0; k < 3; k++) {
        double by = (double)moved[k * PL_CLUMP];
        w.from[k] = body->base[k] - base[k] + (double)x[k * PL_CLUMP] - by;
        w.by[k] = corrected ? by + (double)change[k] + (double)shift[k] : by;
    }
    return w;
}

static bool is_used(const pl_contact *contact, int32_t place)
{
    return contact->used[place / PL_CLUMP] >> place % PL_CLUMP & 1;
}

static int32_t first_of(const pl_contact_body *body)
{
    return body->first_clump * PL_CLUMP;
}

static int32_t last_of(const pl_contact_body *body)
{
    return first_of(body) + body->clumps->count * PL_CLUMP;
}

/* Low and high corners of nothing, and of ways with the spheres that go them. */
static void empty_box(double box[6])
{
    for (int k = 0; k < 3; k++)
        box[k] = INFINITY, box[3 + k] = -INFINITY;
}

static inline void extend_box(double box[6], const way *w, double radius)
{
    for (int k = 0; k < 3; k++) {
        double to = w->from[k] + w->by[k];
        box[k] = lesser(lesser(to, w->from[k]) - radius, box[k]);
        box[3 + k] = greater(greater(to, w->from[k]) + radius, box[3 + k]);
    }
}

static void box_of(const pl_contact *contact, int32_t first, int32_t last, const double base[3],
                   bool corrected, double box[6])
{
    empty_box(box);
    for (int32_t i = first; i < last; i++)
        if (is_used(contact, i)) {
            way w = way_of(contact, i, base, corrected);
            extend_box(box, &w, (double)contact->radius[i]);
        }
}

static bool boxes_meet(const double a[6], const double b[6])
{
    for (int k = 0; k < 3; k++)
        if (!(a[k] < b[3 + k]) || !(b[k] < a[3 + k]))
            return false;
    return true;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static void shape_of(const pl_contact *contact, int32_t place, double shape[6])
{
    for (int k = 0; k < 6; k++)
        shape[k] = (double)contact->primitives[place].shape[k];
}

/* F with rᵀ F r = 1 where the two touch: s (1 − s) ((1 − s) B₁ + s B₂)⁻¹, exact for spheres with s
   = R₁/(R₁ + R₂). */
static bool form_of(const pl_contact *contact, int32_t a, int32_t b, pl_mat3 *form)
{
    double p[6], q[6], m[6];
    shape_of(contact, a, p);
    shape_of(contact, b, q);
    double ra = sqrt(p[0] + p[3] + p[5]), rb = sqrt(q[0] + q[3] + q[5]), s = ra / (ra + rb);
    for (int k = 0; k < 6; k++)
        m[k] = ((1 - s) * p[k] + s * q[k]) / (s * (1 - s));
    pl_mat3 sum = {{{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}}};
    return ra > 0 && rb > 0 && pl_m3_inverse(sum, form);
}

typedef struct course {
    double start, half, square; /* r₀ᵀ F r₀, r₀ᵀ F w, wᵀ F w */
    bool thrown;
} course;

/* What its speed alone would move it by: the solver's pull on what is bent is no throw. Those that
   are halted have a new one. */
static pl_vec3 new_speed(const pl_contact *contact, int32_t place, const way *w)
{
    if (is_halted(contact, contact->body_of[place / PL_CLUMP]))
        return (pl_vec3){w->by[0] - (double)contact->shift[place][0],
                         w->by[1] - (double)contact->shift[place][1],
                         w->by[2] - (double)contact->shift[place][2]};
    return pl_v3_from_floats(contact->came[place]);
}

static bool is_fast(const pl_mat3 *form, pl_vec3 fr, pl_vec3 u)
{
    return pl_v3_dot(u, fr) < 0 && pl_v3_dot(u, pl_m3_mul_v3(*form, u)) > FAST * FAST;
}

static bool course_of(const pl_contact *contact, int32_t a, int32_t b, const way *mine,
                      const way *other, course *c)
{
    pl_mat3 form;
    pl_vec3 r = {other->from[0] - mine->from[0], other->from[1] - mine->from[1],
                 other->from[2] - mine->from[2]};
    pl_vec3 w = {other->by[0] - mine->by[0], other->by[1] - mine->by[1],
                 other->by[2] - mine->by[2]};
    /* Spheres first. */
    double reach = (double)contact->radius[a] + (double)contact->radius[b];
    double t = -pl_v3_dot(r, w) / greater(pl_v3_dot(w, w), 1e-300);
    if (!(pl_v3_length2(pl_v3_add_scaled(r, lesser(greater(t, 0), 1), w)) < reach * reach) ||
        !form_of(contact, a, b, &form))
        return false;
    pl_vec3 fr = pl_m3_mul_v3(form, r), fw = pl_m3_mul_v3(form, w);
    *c = (course){.start = pl_v3_dot(r, fr), .half = pl_v3_dot(r, fw), .square = pl_v3_dot(w, fw)};
    pl_vec3 came =
        pl_v3_sub(pl_v3_from_floats(contact->came[b]), pl_v3_from_floats(contact->came[a]));
    pl_vec3 now = pl_v3_sub(new_speed(contact, b, other), new_speed(contact, a, mine));
    c->thrown = is_fast(&form, fr, came) || is_fast(&form, fr, now);
    return true;
}

/* Ends on the other side of it, or came so close that it might as well. */
static bool passes(const course *c)
{
    if (!c->thrown || !(c->square > FAST * FAST) || !(c->half < 0) ||
        !(c->start > NO_SIDE * NO_SIDE))
        return false;
    if (!(c->start > CLOSE * CLOSE))
        return c->start + c->half < 0;
    double t = lesser(-c->half / c->square, 1);
    double least = c->start + t * (2 * c->half + t * c->square);
    return least < (c->start + c->half < 0 ? CLOSE * CLOSE : HALF_WAY * HALF_WAY);
}

/* The part of the sub-step after which the two touch; what overlaps already, is a tenth nearer. */
static double meets_at(const course *c)
{
    double limit = c->start < 1 ? 0.81 * c->start : 1;
    double under = c->half * c->half - c->square * (c->start - limit);
    if (!(c->half < 0) || !(under > 0))
        return 1;
    return lesser(greater((-c->half - sqrt(under)) / c->square, 0), 1);
}

/* ---- Pairs of bodies ------------------------------------------------------------------------- */

static bool may_meet(const pl_contact_body *a, const pl_contact_body *b)
{
    return (a->category & b->mask) && (b->category & a->mask) && boxes_meet(a->box, b->box);
}

/* The same of two clumps, from `base`; the second is in a box. */
static double look_at_clumps(const pl_contact *contact, int32_t a, int32_t b, const double base[3],
                             const double box[6], bool corrected)
{
    double first = 1;
    way its[PL_CLUMP];
    for (int j = 0; j < PL_CLUMP; j++)
        its[j] = way_of(contact, b + j, base, corrected);
    for (int32_t i = a; i < a + PL_CLUMP; i++) {
        double small[6];
        way mine = way_of(contact, i, base, corrected);
        empty_box(small);
        extend_box(small, &mine, (double)contact->radius[i]);
        if (!is_used(contact, i) || !boxes_meet(small, box))
            continue;
        for (int j = 0; j < PL_CLUMP; j++) {
            course c;
            if (!is_used(contact, b + j) || !course_of(contact, i, b + j, &mine, its + j, &c))
                continue;
            if (corrected && passes(&c))
                return 0;
            if (!corrected)
                first = lesser(meets_at(&c), first);
        }
    }
    return first;
}

static void join_boxes(double box[6], const double other[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = lesser(other[k], box[k]);
        box[3 + k] = greater(other[3 + k], box[3 + k]);
    }
}

/* When the first of their particles meet (1 = never), or, as they were corrected, 0 if any pass.
   The boxes of my clumps are held against those of all the other's: as many as there is room for
   are kept. */
static double look(const pl_contact *contact, const pl_contact_body *a, const pl_contact_body *b,
                   bool corrected)
{
    enum { KEPT = 32 };
    double first = 1, all[6], others[6], mine[KEPT + 1][6];
    empty_box(all);
    for (int c = 0; c < a->clumps->count; c++) {
        double *box = mine[c < KEPT ? c : KEPT];
        int32_t own = first_of(a) + c * PL_CLUMP;
        box_of(contact, own, own + PL_CLUMP, a->base, corrected, box);
        join_boxes(all, box);
    }
    for (int32_t other = first_of(b); other < last_of(b); other += PL_CLUMP) {
        box_of(contact, other, other + PL_CLUMP, a->base, corrected, others);
        for (int c = 0, end = boxes_meet(all, others) ? a->clumps->count : 0; c < end; c++) {
            double *box = mine[c < KEPT ? c : KEPT];
            int32_t own = first_of(a) + c * PL_CLUMP;
            if (c >= KEPT)
                box_of(contact, own, own + PL_CLUMP, a->base, corrected, box);
            if (boxes_meet(box, others))
                first =
                    lesser(look_at_clumps(contact, own, other, a->base, others, corrected), first);
            if (corrected && !(first > 0))
                return 0;
        }
    }
    return first;
}

/* ---- Zones: bodies that go on as one --------------------------------------------------------- */

/* Returns whether they were two. */
static bool unite(pl_contact *contact, int a, int b)
{
    a = zone_of(contact, a), b = zone_of(contact, b);
    contact->bodies[a > b ? a : b].zone = a > b ? b : a;
    contact->bodies[a].halted = contact->bodies[b].halted = true;
    return a != b;
}

/* What hangs together stays together. */
static void unite_joined(pl_contact *contact)
{
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < contact->joints.count; i++) {
            const pl_joint *joint = contact->joints.joints + i;
            if (!joint->a.count || !joint->b.count)
                continue;
            int a = contact->body_of[joint->a.place[0] / PL_CLUMP];
            int b = contact->body_of[joint->b.place[0] / PL_CLUMP];
            if (is_halted(contact, a) || is_halted(contact, b))
                more |= unite(contact, a, b);
        }
    }
}

typedef struct zone {
    double mass, until; /* they go their ways until this part of the sub-step */
    double held_count;  /* of those that do not give way */
    pl_vec3 held;       /* the sum of their ways */
    pl_vec3 v, centre, spin, turn;
    pl_quat all, rest; /* the turn: of all of the sub-step, and from when they met */
    pl_mat3 inertia;
    pl_vec3 middle;    /* of the body that is gone through: where it started... */
    pl_quat own, part; /* ...and how it turned: in all of the sub-step, and until they met */
} zone;

/* When the first of its bodies meet. */
static double meeting_of(pl_contact *contact, int number)
{
    double first = 1;
    for (int b = number; b < contact->body_count; b++)
        if (zone_of(contact, b) == number) {
            show(contact, b);
            box_of(contact, first_of(contact->bodies + b), last_of(contact->bodies + b),
                   contact->bodies[number].base, false, contact->bodies[b].box);
        }
    for (int a = number; a < contact->body_count; a++)
        for (int b = a + 1; zone_of(contact, a) == number && b < contact->body_count; b++)
            if (zone_of(contact, b) == number && may_meet(contact->bodies + a, contact->bodies + b))
                first =
                    lesser(look(contact, contact->bodies + a, contact->bodies + b, false), first);
    return first;
}

/* How far its particles have turned in this sub-step, on average, as a rotation vector; primitives
   tell 2 sin of half the angle. */
static void own_turn(const pl_contact *contact, const pl_contact_body *body, double out[3])
{
    int count = 0;
    out[0] = out[1] = out[2] = 0;
    for (int32_t i = first_of(body); i < last_of(body); i++)
        if (is_used(contact, i)) {
            for (int k = 0; k < 3; k++)
                out[k] += (double)contact->primitives[i].turned[k];
            count++;
        }
    /* Whoever is no number is rescued by its body. */
    bool good = count > 0 && isfinite(out[0] + out[1] + out[2]);
    for (int k = 0; k < 3; k++)
        out[k] = good ? out[k] / count : 0;
    if (body->lone)
        return;
    double sine = 0.5 * sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    double longer = sine > 0 && sine < 1 ? pl_atan2(sine, sqrt(1 - sine * sine)) / sine : 1;
    for (int k = 0; k < 3; k++)
        out[k] *= longer;
}

/* Where it is when they meet, from the zone's base: a body goes straight on with its middle, and
   turns. Chords of a turn would make it smaller. */
static pl_vec3 place_at(const way *w, const zone *z)
{
    double t = z->until;
    pl_vec3 from = {w->from[0], w->from[1], w->from[2]}, by = {w->by[0], w->by[1], w->by[2]};
    pl_vec3 r = pl_v3_sub(from, z->middle);
    pl_vec3 all = pl_v3_sub(pl_quat_rotate(z->own, r), r);
    pl_vec3 turned = pl_v3_sub(pl_quat_rotate(z->part, r), r);
    return pl_v3_add(pl_v3_add_scaled(from, t, pl_v3_sub(by, all)), turned);
}

static pl_quat turn_by(const double turn[3], double part)
{
    pl_vec3 axis = {turn[0], turn[1], turn[2]};
    return pl_quat_axis_angle(axis, part * sqrt(pl_v3_length2(axis)));
}

static void note_middle(const pl_contact *contact, const pl_contact_body *body,
                        const double base[3], zone *z)
{
    double own[3], count = 0;
    pl_vec3 sum = {0, 0, 0};
    for (int32_t i = first_of(body); i < last_of(body); i++)
        if (is_used(contact, i)) {
            way w = way_of(contact, i, base, false);
            sum = pl_v3_add(sum, (pl_vec3){w.from[0], w.from[1], w.from[2]});
            count++;
        }
    own_turn(contact, body, own);
    z->middle = pl_v3_scale(sum, count > 0 ? 1 / count : 0);
    z->own = turn_by(own, 1);
    z->part = turn_by(own, z->until);
}

typedef void visit_particle(pl_contact *contact, int32_t place, const way *w, zone *z);

/* All particles of all its bodies, with their ways as they were before touches, from its base. */
static void visit_zone(pl_contact *contact, int number, zone *z, visit_particle *call)
{
    for (int b = number; b < contact->body_count; b++) {
        const pl_contact_body *body = contact->bodies + b;
        if (zone_of(contact, b) != number)
            continue;
        note_middle(contact, body, contact->bodies[number].base, z);
        for (int32_t i = first_of(body); i < last_of(body); i++) {
            way w = way_of(contact, i, contact->bodies[number].base, false);
            if (is_used(contact, i))
                call(contact, i, &w, z);
        }
    }
}

static bool gives_way(const pl_contact *contact, int32_t place)
{
    return contact->primitives[place].yield > 0;
}

static double mass_of(const pl_contact *contact, int32_t place)
{
    return 1 / (double)contact->primitives[place].yield;
}

/* What touches have left of its speed, metres per sub-step. */
static pl_vec3 speed_of(const pl_contact *contact, int32_t place, const way *w)
{
    const float *change = contact->change[place], *kick = contact->kick[place];
    return (pl_vec3){w->by[0] + (double)change[0] + (double)kick[0],
                     w->by[1] + (double)change[1] + (double)kick[1],
                     w->by[2] + (double)change[2] + (double)kick[2]};
}

static void add_momentum(pl_contact *contact, int32_t place, const way *w, zone *z)
{
    if (!gives_way(contact, place)) {
        z->held_count++;
        z->held = pl_v3_add(z->held, (pl_vec3){w->by[0], w->by[1], w->by[2]});
        return;
    }
    double mass = mass_of(contact, place);
    z->mass += mass;
    z->v = pl_v3_add_scaled(z->v, mass, speed_of(contact, place, w));
    z->centre = pl_v3_add_scaled(z->centre, mass, place_at(w, z));
}

/* Σ m, Σ m v, Σ m x. Those that do not give way lead all the others. */
static void sum_up(pl_contact *contact, int number, zone *z)
{
    visit_zone(contact, number, z, add_momentum);
    double scale = z->mass > 0 ? 1 / z->mass : 0;
    z->centre = pl_v3_scale(z->centre, scale);
    z->v = z->held_count > 0 ? pl_v3_scale(z->held, 1 / z->held_count) : pl_v3_scale(z->v, scale);
}

static void add_spin(pl_contact *contact, int32_t place, const way *w, zone *z)
{
    double mass = mass_of(contact, place);
    pl_vec3 r = pl_v3_sub(place_at(w, z), z->centre);
    pl_mat3 cross = pl_m3_cross(r);
    z->spin = pl_v3_add_scaled(z->spin, mass, pl_v3_cross(r, speed_of(contact, place, w)));
    z->inertia = pl_m3_add_scaled(z->inertia, -mass, pl_m3_mul(cross, cross));
}

/* Balls also turn about themselves. */
static void add_own_spin(const pl_contact *contact, const pl_contact_body *body, zone *z)
{
    const pl_primitive *p = contact->primitives + first_of(body);
    double i[6], own[3];
    own_turn(contact, body, own);
    for (int k = 0; k < 3 && body->turns; k++)
        own[k] += body->turned[k] + body->spun[k];
    pl_contact_own_inertia(p, mass_of(contact, first_of(body)), i);
    pl_mat3 inertia = {{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
    z->inertia = pl_m3_add(z->inertia, inertia);
    z->spin = pl_v3_add(z->spin, pl_m3_mul_v3(inertia, pl_v3(own[0], own[1], own[2])));
}

/* I ω = Σ m x × v about the centre; all of them give way. */
static void spin_up(pl_contact *contact, int number, zone *z)
{
    pl_mat3 inverse;
    visit_zone(contact, number, z, add_spin);
    for (int b = number; b < contact->body_count; b++)
        if (contact->bodies[b].lone && zone_of(contact, b) == number)
            add_own_spin(contact, contact->bodies + b, z);
    /* Thin ones do not turn about themselves. */
    double least = 1e-6 * pl_m3_trace(z->inertia);
    if (!pl_m3_inverse(pl_m3_add(z->inertia, pl_m3_diagonal(least, least, least)), &inverse))
        return;
    z->turn = pl_m3_mul_v3(inverse, z->spin);
    double angle = sqrt(pl_v3_length2(z->turn));
    if (angle > MOST_TURN)
        z->turn = pl_v3_scale(z->turn, MOST_TURN / angle);
}

/* Velocity from `change`: all of the sub-step with the zone; then back to where that gets from
   where they met. */
static void lead(pl_contact *contact, int32_t place, const way *w, zone *z)
{
    if (!gives_way(contact, place))
        return;
    pl_vec3 met = place_at(w, z), r = pl_v3_sub(met, z->centre);
    pl_vec3 all = pl_v3_add(z->v, pl_v3_sub(pl_quat_rotate(z->all, r), r));
    pl_vec3 rest = pl_v3_sub(pl_quat_rotate(z->rest, r), r);
    rest = pl_v3_add_scaled(rest, 1 - z->until, z->v);
    double v[3] = {all.x, all.y, all.z};
    double to[3] = {met.x + rest.x, met.y + rest.y, met.z + rest.z};
    for (int k = 0; k < 3; k++) {
        contact->change[place][k] = (float)(v[k] - w->by[k]);
        contact->shift[place][k] = (float)(to[k] - w->from[k] - v[k]);
        contact->kick[place][k] = 0;
    }
    pl_contact_note_touched(contact, place, 1);
}

static void vector_of(pl_quat q, double out[3])
{
    double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = sine > 0 ? 2 * pl_atan2(q.w < 0 ? -sine : sine, fabs(q.w)) / sine : 0;
    out[0] = scale * q.x, out[1] = scale * q.y, out[2] = scale * q.z;
}

/* Whatever it did is replaced by the zone's turn, as the ways of its particles are: it ends as it
   was when they met, turned by the rest, D from where it would have ended; and began all of the
   turn before that. */
static void halt_one(const pl_contact *contact, pl_contact_body *body, const zone *z)
{
    double own[3];
    own_turn(contact, body, own);
    pl_quat before = turn_by(own, 1);
    pl_quat d =
        pl_quat_mul(pl_quat_mul(z->rest, turn_by(own, z->until)), pl_quat_conjugate(before));
    pl_quat still = pl_quat_mul(pl_quat_mul(pl_quat_conjugate(z->all), d), before);
    body->woken |= body->asleep;
    body->turns = true;
    vector_of(still, body->tilted);
    vector_of(pl_quat_mul(d, pl_quat_conjugate(still)), body->turned);
    body->spun[0] = body->spun[1] = body->spun[2] = 0;
    if (!body->lone)
        return;
    const double turn[3] = {z->turn.x, z->turn.y, z->turn.z};
    for (int k = 0; k < 3; k++) { /* more than half a turn, which rotations do not tell */
        body->turned[k] = turn[k] - own[k];
        body->tilted[k] = 0;
    }
}

static void settle(pl_contact *contact, int number)
{
    zone z = {.until = meeting_of(contact, number)};
    sum_up(contact, number, &z);
    if (!(z.held_count > 0))
        spin_up(contact, number, &z);
    /* Whoever is no number is rescued by its body, and takes nobody along. */
    if (!isfinite(pl_v3_length2(z.v) + pl_v3_length2(z.turn) + pl_v3_length2(z.centre)))
        return;
    double angle = sqrt(pl_v3_length2(z.turn));
    z.all = pl_quat_axis_angle(z.turn, angle);
    z.rest = pl_quat_axis_angle(z.turn, (1 - z.until) * angle);
    for (int b = number; b < contact->body_count; b++)
        if (zone_of(contact, b) == number)
            halt_one(contact, contact->bodies + b, &z);
    visit_zone(contact, number, &z, lead);
}

/* ---- Whether anybody must be halted ---------------------------------------------------------- */

static double square_between(const way *a, const way *b, double t)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = b->from[k] - a->from[k] + t * (b->by[k] - a->by[k]);
        square += d * d;
    }
    return square;
}

/* Whether particles that lie side by side at rest are driven so far apart that others fit between
   them. */
static bool is_torn(const pl_contact *contact, const pl_contact_body *body)
{
    const pl_clumps *clumps = body->clumps;
    for (int c = 0; c < clumps->count; c++) {
        way ways[PL_CLUMP];
        for (int i = 0; i < PL_CLUMP; i++)
            ways[i] = way_of(contact, first_of(body) + c * PL_CLUMP + i, body->base, true);
        for (int i = 0; i < PL_CLUMP; i++) {
            double limit = STRETCHED * (double)clumps->spacing[c * PL_CLUMP + i] * body->unit;
            for (uint32_t mask = clumps->beside[c * PL_CLUMP + i]; mask; mask &= mask - 1) {
                const way *mine = ways + i, *its = ways + __builtin_ctz(mask);
                double end = square_between(mine, its, 1);
                if (end > limit * limit && end > MORE * MORE * square_between(mine, its, 0))
                    return true;
            }
        }
    }
    return false;
}

typedef void visit_touch(pl_contact *contact, pl_touch *t, int a, int b);

/* All, or those in whose blocks some were swept. */
static void visit(pl_contact *contact, bool all, visit_touch *call)
{
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; (all || s->swept) && i < s->count; i++)
            call(contact, touches + i, contact->body_of[touches[i].a / PL_CLUMP],
                 contact->body_of[touches[i].b / PL_CLUMP]);
    }
}

/* One was thrown at the other, and hit it. */
static bool is_hit(const pl_touch *t, int a, int b)
{
    return t->swept & PL_SWEPT && t->pushed > 0 && a != b;
}

static void mark_hit(pl_contact *contact, pl_touch *t, int a, int b)
{
    if (is_hit(t, a, b)) {
        show(contact, a);
        show(contact, b);
        contact->bodies[a].swept = contact->bodies[b].swept = true;
    }
}

static void unite_torn(pl_contact *contact, pl_touch *t, int a, int b)
{
    if ((contact->bodies[a].torn || contact->bodies[b].torn) && is_hit(t, a, b))
        unite(contact, a, b);
}

/* Nobody bounces or is stopped who was halted. */
static void calm(pl_contact *contact, pl_touch *t, int a, int b)
{
    if (is_halted(contact, a) || is_halted(contact, b))
        t->kick = 0, t->swept &= ~PL_MET;
}

/* Returns whether anybody is thrown. */
static bool begin(pl_contact *contact)
{
    bool any = false;
    for (int b = 0; b < contact->body_count; b++) {
        pl_contact_body *body = contact->bodies + b;
        body->zone = b;
        body->shown = body->swept = body->torn = body->halted = false;
    }
    visit(contact, false, mark_hit);
    for (int b = 0; b < contact->body_count; b++) {
        pl_contact_body *body = contact->bodies + b;
        body->torn = body->swept && is_torn(contact, body);
        any |= body->swept;
    }
    if (any)
        visit(contact, false, unite_torn);
    return any;
}

static bool is_moved(const pl_contact *contact, int body)
{
    return contact->bodies[body].swept || is_halted(contact, body);
}

/* Everybody that is fast or halted against everybody else, as they would end now; those that are
   not have not moved since the first time. Returns whether somebody was united. */
static bool unite_passing(pl_contact *contact, bool first_time)
{
    static const double world[3] = {0, 0, 0};
    pl_contact_body *bodies = contact->bodies;
    bool more = false;
    for (int b = 0; b < contact->body_count; b++)
        if (first_time || is_halted(contact, b))
            box_of(contact, first_of(bodies + b), last_of(bodies + b), world, true, bodies[b].box);
    for (int a = 0; a < contact->body_count; a++)
        for (int b = 0; is_moved(contact, a) && b < contact->body_count; b++)
            if (b != a && may_meet(bodies + a, bodies + b) && !(b < a && is_moved(contact, b)) &&
                zone_of(contact, a) != zone_of(contact, b)) {
                show(contact, a);
                show(contact, b);
                if (!(look(contact, bodies + a, bodies + b, true) > 0))
                    more |= unite(contact, a, b);
            }
    return more;
}

void pl_contact_halt(pl_contact *contact)
{
    bool any = false, first_time = true, more = true;
    if (!begin(contact))
        return;
    for (; more; first_time = false) {
        unite_joined(contact);
        for (int b = 0; b < contact->body_count; b++)
            if (zone_of(contact, b) == b && contact->bodies[b].halted) {
                settle(contact, b);
                any = true;
            }
        more = unite_passing(contact, first_time);
    }
    if (any)
        visit(contact, true, calm);
    for (int b = 0; b < contact->body_count; b++)
        contact->bodies[b].swept = false;
}
