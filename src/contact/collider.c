/* Particles against boxes, spheres, capsules and meshes, one by one, each as seen from the
   collider: its way in the collider's frame, which has moved and turned itself. The answer is that
   of planes (collide_lanes.c): what came about in the sub-step is undone with its velocity, what
   was there before is parted slowly, and the slide of the surfaces is undone up to μ times the
   former (METHODS §1). */
#include "contact/collider.h"

#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/mesh.h"
#include "contact/three.h"
#include "contact/share.h"
#include "math/quat.h"

/* ---- Frames ---------------------------------------------------------------------------------- */

static void turn_of(const double q[4], double out[3][3])
{
    pl_mat3 r = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    memcpy(out, r.m, sizeof r.m);
}

/* The rotation vector from one pose to the other: 2 atan2(|v|, w) v/|v|. */
static void turned_between(const pl_placement *a, const pl_placement *b, double out[3])
{
    const double *p = a->rotation, *q = b->rotation;
    pl_quat d = pl_quat_mul((pl_quat){q[0], q[1], q[2], q[3]},
                            pl_quat_conjugate((pl_quat){p[0], p[1], p[2], p[3]}));
    double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    double scale = sine > 0 ? 2 * pl_atan2(d.w < 0 ? -sine : sine, fabs(d.w)) / sine : 0;
    out[0] = scale * d.x, out[1] = scale * d.y, out[2] = scale * d.z;
}

void pl_contact_aim_collider(pl_contact_collider *c)
{
    turn_of(c->from.rotation, c->turn_from);
    turn_of(c->to.rotation, c->turn_to);
    for (int k = 0; k < 3; k++) {
        c->moved[k] = c->to.position[k] - c->from.position[k];
        c->impulse[k] = c->torque[k] = c->given[k] = c->spun[k] = c->shifted[k] = 0;
    }
    turned_between(&c->from, &c->to, c->turned);
    c->touches = 0;
}

/* ---- Seeing ---------------------------------------------------------------------------------- */

/* The ellipsoid's matrix in the collider's frame: Rᵀ B R. */
static void turn_shape(const double r[3][3], const float b[6], double out[6])
{
    double m[3][3] = {{(double)b[0], (double)b[1], (double)b[2]},
                      {(double)b[1], (double)b[3], (double)b[4]},
                      {(double)b[2], (double)b[4], (double)b[5]}};
    double columns[3][3];
    int at = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            columns[k][i] = m[i][0] * r[0][k] + m[i][1] * r[1][k] + m[i][2] * r[2][k];
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            out[at++] = r[0][i] * columns[k][0] + r[1][i] * columns[k][1] + r[2][i] * columns[k][2];
}

static bool is_near_outline(const double outline[6], const double from[3], const double at[3],
                            double radius)
{
    for (int k = 0; k < 3; k++)
        if (fmin(from[k], at[k]) - radius > outline[3 + k] ||
            fmax(from[k], at[k]) + radius < outline[k])
            return false;
    return true;
}

/* Ellipsoids so flat that rounding has turned them inside out are made a little thicker. */
static bool make_ball(pl_ball *ball, const double from[3], const double at[3], double shape[6])
{
    if (pl_ball_make(ball, from, at, shape))
        return true;
    double thicker = 1e-6 * (shape[0] + shape[3] + shape[5]);
    shape[0] += thicker, shape[3] += thicker, shape[5] += thicker;
    return pl_ball_make(ball, from, at, shape);
}

/* Planes ask for nothing but where it is and how wide: of shapes that are ellipsoids beyond doubt,
   no map is needed. */
static bool place_ball(pl_ball *ball, const double from[3], const double at[3], const double b[6])
{
    const double doubt = 1e-9;
    double d = b[0] * b[3] - b[1] * b[1];
    double e = d * b[5] + 2 * b[1] * b[2] * b[4] - b[0] * b[4] * b[4] - b[3] * b[2] * b[2];
    if (!(b[0] > 0) || !(d > doubt * b[0] * b[3]) || !(e > doubt * b[0] * b[3] * b[5]) ||
        !isfinite(e))
        return false;
    *ball = (pl_ball){.radius = sqrt(b[0] + b[3] + b[5])};
    memcpy(ball->from, from, sizeof ball->from);
    memcpy(ball->at, at, sizeof ball->at);
    memcpy(ball->shape, b, sizeof ball->shape);
    return true;
}

bool pl_contact_see(const pl_contact *contact, const pl_contact_collider *c, int particle,
                    pl_sight *sight)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[particle / PL_CLUMP];
    const pl_primitive *p = contact->primitives + particle;
    const float *change = contact->change[particle], *shift = contact->shift[particle];
    double end[3], start[3], still[3], turned[3], from[3], at[3], shape[6], came[3];
    for (int k = 0; k < 3; k++) {
        double x = body->base[k] + (double)p->x[k];
        still[k] = (double)shift[k];
        end[k] = x - c->to.position[k] + ((double)change[k] + still[k]);
        start[k] = x - (double)p->moved[k] - c->from.position[k];
        turned[k] = (double)p->turned[k] - c->turned[k];
    }
    pl_into3(c->turn_to, end, at);
    pl_into3(c->turn_from, start, from);
    if (c->kind != PL_COLLIDER_PLANE &&
        !is_near_outline(c->outline, from, at, (double)contact->radius[particle]))
        return false;
    pl_cross3(c->turned, end, came);
    for (int k = 0; k < 3; k++)
        came[k] = (double)contact->came[particle][k] - c->moved[k] - came[k];
    sight->flat = pl_contact_flat_part(body);
    sight->turns = 0;
    pl_into3(c->turn_to, came, sight->came);
    pl_into3(c->turn_to, still, sight->still);
    pl_into3(c->turn_to, turned, sight->turned);
    turn_shape(c->turn_to, p->shape, shape);
    if (c->kind == PL_COLLIDER_PLANE && place_ball(&sight->ball, from, at, shape))
        return true;
    return make_ball(&sight->ball, from, at, shape);
}

bool pl_contact_meets(const pl_contact_collider *c, const pl_ball *ball, pl_barrier *barrier)
{
    static const double middle[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    switch (c->kind) {
    case PL_COLLIDER_PLANE:
        return pl_set_barrier(ball, up, middle, barrier);
    case PL_COLLIDER_BOX:
        return pl_ball_on_box(ball, c->size, barrier);
    case PL_COLLIDER_SPHERE:
        return pl_ball_on_sphere(ball, c->size[0], barrier);
    case PL_COLLIDER_CAPSULE:
        return pl_ball_on_capsule(ball, c->size[0], c->size[1], barrier);
    case PL_COLLIDER_MESH:
        break;
    }
    return false;
}

/* ---- Answering ------------------------------------------------------------------------------- */

void pl_contact_answer(const pl_contact *contact, const pl_contact_collider *c,
                       const pl_sight *sight, const pl_barrier *barrier, float bounce,
                       pl_answer *answer)
{
    const pl_ball *ball = &sight->ball;
    const double *n = barrier->normal, *b = ball->shape;
    double gone[3], turn[3], half = pl_larger(pl_ball_half_width(ball, n), 1e-150);
    double bn[3] = {b[0] * n[0] + b[1] * n[1] + b[2] * n[2],
                    b[1] * n[0] + b[3] * n[1] + b[4] * n[2],
                    b[2] * n[0] + b[4] * n[1] + b[5] * n[2]};
    for (int k = 0; k < 3; k++) {
        gone[k] = ball->at[k] - ball->from[k] - sight->still[k];
        answer->arm[k] = -bn[k] / half;
    }
    /* What other bodies have pressed it in by as they were parted is no old overlap: it goes back
       at once. */
    double pressed =
        pl_smaller(pl_larger(-pl_dot3(n, sight->still), 0), pl_larger(barrier->overlap, 0));
    pl_cross3(sight->turned, answer->arm, turn);
    double turning = sight->turns > 0 ? sight->turns * pl_dot3(n, turn) : 0;
    double approach = -pl_dot3(n, gone) - turning;
    /* What its turning counts as approach is undone already. */
    double turned_in = -pl_dot3(n, turn) + turning;
    pl_share_overlap(barrier->overlap - pressed, approach, half, turned_in, contact->h, sight->flat,
                     &answer->depth, &answer->recover);
    answer->recover += pressed;
    answer->approach = approach;
    answer->part = barrier->met && answer->depth > 0 ? answer->depth / approach : 1;
    answer->kick = pl_bounce(-pl_dot3(n, sight->came) - turning, approach, answer->depth,
                             (double)bounce, contact->h, contact->gravity);
    for (int k = 0; k < 3; k++)
        answer->slide[k] = gone[k] + turn[k] - c->belt[k] * contact->h;
    double straight = pl_dot3(n, answer->slide);
    for (int k = 0; k < 3; k++)
        answer->slide[k] -= straight * n[k];
}

/* The part of the slide that friction undoes. */
static double undone(const double slide[3], double limit)
{
    double length = sqrt(pl_dot3(slide, slide));
    return length > limit ? limit / length : 1;
}

/* Whether the middle of a body is inside a mesh, or inside of what else, and the way out: looked up
   when it is first asked for, and kept until another collider is. */
typedef struct depth {
    const pl_contact_collider *collider; /* NULL = nobody has asked */
    bool deep;
    pl_barrier way_out;
} depth;

typedef struct meeting {
    pl_contact *contact;
    const pl_contact_collider *collider;
    const pl_contact_body *body;
    pl_near *near;
    float friction, bounce;
    bool deep; /* some of the body was inside before: then all that is goes this way */
    pl_barrier way_out;
    depth *in_mesh;
} meeting;

static void note_hit(const meeting *m, int place, const double by[3], const double normal[3],
                     const double arm[3])
{
    pl_near_hits *hits = m->contact->against.hits + m->near->block;
    int particle = m->near->clump * PL_CLUMP + place;
    const pl_primitive *p = m->contact->primitives + particle;
    double scale = -1 / ((double)p->yield * m->contact->h);
    if (!m->near->mask)
        memset(hits, 0, sizeof *hits);
    m->near->mask |= 1u << place;
    for (int k = 0; k < 3; k++) {
        hits->impulse[k][place] += (float)(by[k] * scale);
        hits->normal[k][place] = (float)normal[k];
        hits->point[k][place] = p->x[k] + m->contact->change[particle][k] + (float)arm[k];
    }
}

/* Moves the particle by `by` with its velocity and by `still` without, both in the collider's
   frame. */
static void move(const meeting *m, int place, pl_sight *sight, const double by[3],
                 const double still[3], const double normal[3], const double arm[3])
{
    int particle = m->near->clump * PL_CLUMP + place;
    float *change = m->contact->change[particle], *shift = m->contact->shift[particle];
    double there[3], aside[3], n[3], a[3], exact[3];
    pl_out_of3(m->collider->turn_to, by, there);
    pl_out_of3(m->collider->turn_to, still, aside);
    pl_out_of3(m->collider->turn_to, normal, n);
    pl_out_of3(m->collider->turn_to, arm, a);
    for (int k = 0; k < 3; k++) {
        float before = change[k];
        change[k] += (float)there[k];
        shift[k] += (float)aside[k];
        exact[k] = (double)change[k] - (double)before;
        sight->ball.at[k] += by[k] + still[k];
        sight->still[k] += still[k];
    }
    pl_contact_note_touched(m->contact, m->near->clump * PL_CLUMP + place, 1);
    note_hit(m, place, exact, n, a);
}

/* Velocity without moving, in the world's frame. */
static void add_kick(const meeting *m, int place, const double by[3])
{
    int particle = m->near->clump * PL_CLUMP + place;
    float *kick = m->contact->kick[particle];
    for (int k = 0; k < 3; k++) {
        float before = kick[k];
        kick[k] += (float)by[k];
        m->contact->against.hits[m->near->block].impulse[k][place] -=
            (float)((double)(kick[k] - before) /
                    ((double)m->contact->primitives[particle].yield * m->contact->h));
    }
}

/* Along the normal, if it has not bounced yet; and up to μ times that against the slide that is
   left, no more than slows the centre: a blow rubs as long as it lasts, not only as far as the
   particle had got in. */
static void throw_back(const meeting *m, int place, const pl_sight *sight, const double n[3],
                       const double arm[3], double kick)
{
    const float *had = m->contact->kick[m->near->clump * PL_CLUMP + place];
    double v[3], slide[3], turn[3], by[3], there[3];
    if (had[0] != 0 || had[1] != 0 || had[2] != 0)
        return;
    pl_cross3(sight->turned, arm, turn);
    for (int k = 0; k < 3; k++) {
        v[k] = sight->ball.at[k] - sight->ball.from[k] - sight->still[k] -
               m->collider->belt[k] * m->contact->h;
        slide[k] = v[k] + turn[k];
    }
    double straight = pl_dot3(n, slide), off = pl_dot3(n, v);
    for (int k = 0; k < 3; k++) {
        slide[k] -= straight * n[k];
        v[k] -= off * n[k];
    }
    double back = pl_slowing(pl_dot3(slide, v), pl_dot3(slide, slide), (double)m->friction * kick);
    for (int k = 0; k < 3; k++)
        by[k] = kick * n[k] - back * slide[k];
    pl_out_of3(m->collider->turn_to, by, there);
    add_kick(m, place, there);
}

/* What met after a part of its way was moved back by the rest of it, and would still close in at
   the speed of the part before. Once it has slid on, the collider may have another normal there, or
   not be there any more: so the velocity that is left along this one is taken out here, as in an
   inelastic blow, and up to μ times that of the slide; no more than slows the centre. */
static void stop(const meeting *m, int place, const pl_sight *sight, const double n[3],
                 const double arm[3])
{
    const float *kick = m->contact->kick[m->near->clump * PL_CLUMP + place];
    double had[3] = {(double)kick[0], (double)kick[1], (double)kick[2]}, so_far[3], v[3], turn[3];
    double slide[3], by[3], there[3];
    pl_into3(m->collider->turn_to, had, so_far);
    pl_cross3(sight->turned, arm, turn);
    for (int k = 0; k < 3; k++) {
        v[k] = sight->ball.at[k] - sight->ball.from[k] - sight->still[k] + so_far[k];
        slide[k] = v[k] + turn[k] - m->collider->belt[k] * m->contact->h;
    }
    double closing = -pl_dot3(n, v), straight = pl_dot3(n, slide);
    if (!(closing > 0))
        return;
    for (int k = 0; k < 3; k++) {
        slide[k] -= straight * n[k];
        v[k] += closing * n[k] - m->collider->belt[k] * m->contact->h;
    }
    double back =
        pl_slowing(pl_dot3(slide, v), pl_dot3(slide, slide), (double)m->friction * closing);
    for (int k = 0; k < 3; k++)
        by[k] = closing * n[k] - back * slide[k];
    pl_out_of3(m->collider->turn_to, by, there);
    add_kick(m, place, there);
    m->contact->bodies[m->contact->body_of[m->near->clump]].kicked = true;
}

static bool is_solid_mesh(const pl_contact_collider *c)
{
    return c->kind == PL_COLLIDER_MESH && !c->two_sided;
}

/* What moves as a whole was parted so; where that leads nowhere, because others pull the other way,
   the particle is parted by no less than this. */
#define ONE_BY_ONE 0.1

/* Returns whether it did anything. */
static bool yield_to(const meeting *m, int place, pl_sight *sight, const pl_barrier *barrier,
                     bool first)
{
    pl_answer answer;
    double by[3], still[3];
    pl_barrier beyond = *barrier;
    beyond.overlap -= (double)m->body->slack * pl_ball_half_width(&sight->ball, barrier->normal);
    pl_contact_answer(m->contact, m->collider, sight, &beyond, m->bounce, &answer);
    double recover = first ? answer.recover : 0;
    if (m->body->whole > 0 && m->near->astride)
        recover = 0; /* it has no side to go to */
    else if (m->body->whole > 0 && !is_solid_mesh(m->collider) && pl_contact_stands(m->collider))
        recover *= fmax(1 / (1 + m->body->firm), ONE_BY_ONE);
    if (!(answer.depth > 0) && !(recover > 0))
        return false;
    double speeds_up = 0;
    for (int k = 0; k < 3; k++)
        answer.slide[k] *= answer.part;
    double back = undone(answer.slide, (double)m->friction * answer.depth);
    for (int k = 0; k < 3; k++)
        speeds_up -= answer.slide[k] * (sight->ball.at[k] - sight->ball.from[k] - sight->still[k] -
                                        m->collider->belt[k] * m->contact->h);
    if (sight->flat < 1 && speeds_up > 0)
        back = 0; /* see share.h */
    for (int k = 0; k < 3; k++) {
        by[k] = answer.depth * barrier->normal[k] - back * answer.slide[k];
        still[k] = recover * barrier->normal[k];
    }
    move(m, place, sight, by, still, barrier->normal, answer.arm);
    if (first && answer.kick > 0)
        throw_back(m, place, sight, barrier->normal, answer.arm, answer.kick);
    if (answer.part < 1)
        stop(m, place, sight, barrier->normal, answer.arm);
    return true;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

enum { MESH_ROUNDS = 8 };

static const depth *look_into_mesh(const meeting *m)
{
    depth *d = m->in_mesh;
    double offset[3], middle[3];
    if (d->collider == m->collider)
        return d;
    for (int k = 0; k < 3; k++)
        offset[k] = m->body->centre[k] - m->collider->to.position[k];
    pl_into3(m->collider->turn_to, offset, middle);
    d->collider = m->collider;
    d->deep = pl_way_out_of_solid(middle, m->collider->solid, &d->way_out);
    return d;
}

/* Where the middle of the body is in the mesh as well as this particle's, all of it leaves on one
   side: by the triangles nearest to each, particles would pull it apart. */
static void leave_as_one(const meeting *m, const pl_ball *ball, pl_barrier *barrier)
{
    pl_barrier other;
    if (m->collider->two_sided || !(barrier->overlap > pl_ball_half_width(ball, barrier->normal)))
        return;
    const depth *d = look_into_mesh(m);
    if (d->deep && pl_set_barrier(ball, d->way_out.normal, d->way_out.point, &other))
        *barrier = other;
}

/* Triangle by triangle. When there is no end to it (a corner too narrow), it stays where it was,
   seen from the mesh. */
static bool meet_solid(const meeting *m, int place, pl_sight *sight, bool first)
{
    pl_ball *ball = &sight->ball;
    bool any = false, through;
    pl_barrier barrier;
    for (int i = 0; i <= MESH_ROUNDS; i++) {
        bool resting = first && i == 0;
        if (!pl_ball_on_solid(ball, m->collider->solid, m->collider->two_sided, resting,
                              sight->still, &barrier, &through))
            return any;
        if (i == MESH_ROUNDS)
            break;
        if (!through)
            leave_as_one(m, ball, &barrier);
        if (!yield_to(m, place, sight, &barrier, resting))
            break;
        any = true;
    }
    if (through) {
        static const double none[3] = {0, 0, 0};
        double back[3];
        for (int k = 0; k < 3; k++)
            back[k] = ball->from[k] - ball->at[k];
        move(m, place, sight, back, none, barrier.normal, none);
    }
    return any;
}

/* ---- A body ---------------------------------------------------------------------------------- */

bool pl_contact_is_inside(const pl_contact_collider *c, const double p[3])
{
    if (c->kind == PL_COLLIDER_PLANE || c->kind == PL_COLLIDER_MESH)
        return false;
    if (c->kind == PL_COLLIDER_BOX)
        return pl_is_in_box(p, c->size);
    return pl_is_in_capsule(p, c->size[0], c->kind == PL_COLLIDER_CAPSULE ? c->size[1] : 0);
}

static void look_for_way(meeting *m)
{
    depth *d = m->in_mesh;
    if (d->collider != m->collider) {
        d->collider = m->collider;
        pl_contact_way_out(m->contact, m->collider, m->body, &d->way_out);
    }
    m->way_out = d->way_out;
    m->contact->bodies[m->body - m->contact->bodies].leaves = true;
}

static bool meet_shape(const meeting *m, const pl_ball *ball, pl_barrier *barrier)
{
    if (m->deep && pl_contact_is_inside(m->collider, ball->from))
        return pl_set_barrier(ball, m->way_out.normal, m->way_out.point, barrier);
    return pl_contact_meets(m->collider, ball, barrier);
}

static bool clump_on_shape(const meeting *m, bool first)
{
    bool any = false;
    for (uint32_t used = m->contact->used[m->near->clump]; used; used &= used - 1) {
        int place = __builtin_ctz(used), particle = m->near->clump * PL_CLUMP + place;
        pl_sight sight;
        pl_barrier barrier;
        if (!(m->contact->primitives[particle].yield > 0) ||
            !pl_contact_see(m->contact, m->collider, particle, &sight))
            continue;
        if (m->collider->kind == PL_COLLIDER_MESH)
            any |= meet_solid(m, place, &sight, first);
        else if (meet_shape(m, &sight.ball, &barrier))
            any |= yield_to(m, place, &sight, &barrier, first);
    }
    return any;
}

static bool pair_meets(pl_contact *contact, const pl_contact_body *body, pl_near *near,
                       depth *in_mesh, bool first)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    meeting m = {.contact = contact,
                 .collider = c,
                 .body = body,
                 .near = near,
                 .in_mesh = in_mesh,
                 .friction = sqrtf(c->friction * body->friction),
                 .bounce = body->whole ? 0 : fmaxf(c->restitution, body->restitution)};
    m.deep = pl_contact_is_leaving(contact, (int)(body - contact->bodies), near->collider);
    if (m.deep && body->whole > 0)
        return false; /* as a whole: stand_off.c */
    if (m.deep)
        look_for_way(&m);
    return clump_on_shape(&m, first);
}

/* In the order of places: what the collider has received through this pair. */
static void sum_pair(const pl_contact *contact, const pl_contact_body *body, pl_near *near)
{
    const pl_near_hits *hits = contact->against.hits + near->block;
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    for (uint32_t mask = near->mask; mask; mask &= mask - 1) {
        int place = __builtin_ctz(mask);
        double arm[3], by[3], turn[3];
        for (int k = 0; k < 3; k++) {
            by[k] = (double)hits->impulse[k][place];
            arm[k] = (double)hits->point[k][place] + body->base[k] - c->to.position[k];
            near->impulse[k] += by[k];
        }
        pl_cross3(arm, by, turn);
        for (int k = 0; k < 3; k++)
            near->torque[k] += turn[k];
    }
}

/* Once more where shapes were met: one may have pushed it into another. */
enum { ROUNDS = 2 };

void pl_contact_collide(pl_contact *contact, int number)
{
    pl_contact_colliders *all = &contact->against;
    pl_contact_body *body = contact->bodies + number;
    if (!all->near_count)
        return;
    pl_near *begin = all->near + all->near_start[number],
            *end = all->near + all->near_start[number + 1];
    bool shapes = true;
    depth in_mesh = {.collider = NULL};
    for (int round = 0; round < ROUNDS && shapes; round++) {
        shapes = false;
        for (pl_near *near = begin; near < end; near++) {
            const pl_contact_collider *c = all->colliders + near->collider;
            if (near->shoves >= 0)
                continue;
            if (c->kind == PL_COLLIDER_PLANE)
                pl_contact_on_plane(contact, near, round == 0);
            else
                shapes |= pair_meets(contact, body, near, &in_mesh, round == 0);
        }
    }
    for (pl_near *near = begin; near < end; near++)
        if (near->mask && near->shoves < 0) {
            body->grounded = true;
            sum_pair(contact, body, near);
        }
}

void pl_contact_sum_received(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 0; i < all->near_count; i++) {
        pl_near *near = all->near + i;
        pl_contact_collider *c = all->colliders + near->collider;
        c->touches += __builtin_popcount(near->mask);
        for (int k = 0; k < 3; k++) {
            c->impulse[k] += near->impulse[k];
            c->torque[k] += near->torque[k];
        }
    }
}
