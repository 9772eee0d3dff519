/* Ellipsoids against planes that do not give way, sixteen at a time. The deepest point is x − B
   n/√(nᵀBn): exact (METHODS §1). The last word of a sub-step: what the touches between bodies have
   moved is taken into account. Other shapes: collider.c. */
#include "contact/contact_lanes.h"
#include "contact/share.inl"

#include <string.h>

/* Lanes whose bit is set. */
PL_LANES_INLINE vi used_lanes(int bits)
{
    vi lanes;
    for (int i = 0; i < PL_W; i++)
        lanes[i] = bits >> i & 1 ? -1 : 0;
    return lanes;
}

typedef struct grains {
    vf x[3], moved[3], turned[3], shape[6], yield;
} grains;

static void load_grains(const pl_primitive *primitives, grains *out)
{
    float columns[16 * PL_W] __attribute__((aligned(64)));
    const float *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = primitives[lane].x;
    pl_lanes_gather(rows, 16, columns);
    vf *to = (vf *)out;
    for (int k = 0; k < 16; k++)
        to[k] = pl_load_f(columns + k * PL_W);
}

static void load_change(float (*from)[4], vf out[4])
{
    float columns[4 * PL_W] __attribute__((aligned(64)));
    const float *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = from[lane];
    pl_lanes_gather(rows, 4, columns);
    for (int k = 0; k < 4; k++)
        out[k] = pl_load_f(columns + k * PL_W);
}

static void store_change(float (*to)[4], const vf in[4])
{
    float columns[4 * PL_W] __attribute__((aligned(64)));
    float *rows[PL_W];
    for (int k = 0; k < 4; k++)
        pl_store_f(columns + k * PL_W, in[k]);
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = to[lane];
    pl_lanes_scatter(columns, 4, rows);
}

PL_LANES_INLINE vf along(const float n[3], const vf v[3])
{
    return n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
}

typedef struct plane {
    float n[3], moved[3], turned[3]; /* in this sub-step */
    float offset[3];                 /* of the body's base from its position */
    float belt[3];                   /* displacement of its surface on top of that */
    float height;                    /* of the body's base above it */
    float friction, bounce;
    float slack; /* see pl_contact_body */
    bool turns, flat;
} plane;

/* Whether any particle of a clump may be below the plane: by their spheres. All of it is asked at
   every width, as touches with other bodies may have pressed a particle further than its own sphere
   tells. */
static bool is_near(const pl_clump_places *places, const float *radius, float swing, const plane *p)
{
    bool near = false;
    for (int k = 0; k < PL_CLUMP && !near; k += PL_W) {
        vf height =
            p->height + (p->n[0] * pl_load_f(places->x + k) + p->n[1] * pl_load_f(places->y + k) +
                         p->n[2] * pl_load_f(places->z + k));
        near = pl_any_f(height < 2.0f * pl_load_f(radius + k) + swing);
    }
    return near;
}

PL_LANES_INLINE void cross(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* How far the plane itself has moved where they touch. */
PL_LANES_INLINE void plane_moved(const plane *p, const vf at[3], const vf arm[3], vf out[3])
{
    vf from[3], turned[3];
    for (int k = 0; k < 3; k++) {
        out[k] = pl_splat_f(p->moved[k]);
        from[k] = at[k] + arm[k] + p->offset[k];
        turned[k] = pl_splat_f(p->turned[k]);
    }
    if (!p->turns)
        return;
    vf by[3];
    cross(turned, from, by);
    for (int k = 0; k < 3; k++)
        out[k] += by[k];
}

typedef struct push {
    vi below;
    vf by[3], still[3], point[3];
    vf gone, depth;      /* approach in the sub-step, and how much of it was undone */
    vf slide[3], way[3]; /* of the surfaces and of the centre, after that, across n */
} push;

/* False where none is below. */
static bool meet_plane(const grains *g, const plane *p, vf part, vf rate, const vf change[4],
                       const vf shift[4], push *out)
{
    vf bn[3], at[3], gone[3], arm[3], turn[3], slide[3], surface[3], depth, recover;
    for (int k = 0; k < 3; k++)
        at[k] = g->x[k] + change[k] + shift[k];
    const vf *b = g->shape;
    bn[0] = b[0] * p->n[0] + b[1] * p->n[1] + b[2] * p->n[2];
    bn[1] = b[1] * p->n[0] + b[3] * p->n[1] + b[4] * p->n[2];
    bn[2] = b[2] * p->n[0] + b[4] * p->n[1] + b[5] * p->n[2];
    vf half = pl_sqrt_f(pl_max_f(along(p->n, bn), pl_splat_f(1e-37f)));
    vf overlap = half * (1 - p->slack) - (p->height + along(p->n, at));
    out->below = (overlap > 0.0f) & (g->yield > 0.0f);
    if (!pl_any_f(out->below))
        return false;
    for (int k = 0; k < 3; k++)
        arm[k] = -bn[k] / half;
    plane_moved(p, at, arm, surface);
    for (int k = 0; k < 3; k++)
        gone[k] = g->moved[k] + change[k] - surface[k];
    /* What other bodies have pressed it in by as they were parted is no old overlap: it goes back
       at once. */
    vf zero = pl_splat_f(0),
       pressed = pl_min_f(pl_max_f(-along(p->n, shift), zero), pl_max_f(overlap, zero));
    cross(g->turned, arm, turn);
    vf most = part * half, turned_in = pl_max_f(-along(p->n, turn), zero);
    if (!p->flat)
        most += pl_select_f(part > 0.0f, turned_in, zero);
    share_depth(overlap - pressed, -along(p->n, gone), half, most, rate, &depth, &recover);
    recover += pressed; /* see share.h */
    out->gone = -along(p->n, gone);
    out->depth = depth;
    for (int k = 0; k < 3; k++)
        slide[k] = gone[k] + turn[k] - p->belt[k];
    vf straight = along(p->n, slide);
    for (int k = 0; k < 3; k++)
        slide[k] -= straight * p->n[k];
    vf length = pl_sqrt_f(slide[0] * slide[0] + slide[1] * slide[1] + slide[2] * slide[2]);
    vf limit = p->friction * depth;
    vf back =
        pl_select_f(length > limit, limit / pl_max_f(length, pl_splat_f(1e-37f)), pl_splat_f(1));
    if (p->flat) { /* see share.h */
        vf speeds_up = zero;
        for (int k = 0; k < 3; k++)
            speeds_up -= slide[k] * (gone[k] - p->belt[k]);
        back = pl_select_f(speeds_up > 0.0f, zero, back);
    }
    for (int k = 0; k < 3; k++) {
        out->by[k] = depth * p->n[k] - back * slide[k];
        out->still[k] = recover * p->n[k];
        out->point[k] = at[k] + arm[k];
    }
    for (int k = 0; k < 3; k++) {
        out->way[k] = gone[k] + out->by[k] - p->belt[k];
        out->slide[k] = slide[k] - back * slide[k];
    }
    return true;
}

static void note_hits(pl_contact *contact, pl_near *near, const plane *p, const grains *g,
                      const push *by, int k)
{
    pl_near_hits *hits = contact->against.hits + near->block;
    if (!near->mask)
        memset(hits, 0, sizeof *hits);
    vf scale = (float)(-1 / contact->h) / pl_select_f(by->below, g->yield, pl_splat_f(1));
    for (int m = 0; m < 3; m++) {
        vf before = pl_load_f(hits->impulse[m] + k);
        pl_store_f(hits->impulse[m] + k,
                   pl_select_f(by->below, before + by->by[m] * scale, before));
        pl_store_f(hits->normal[m] + k,
                   pl_select_f(by->below, pl_splat_f(p->n[m]), pl_load_f(hits->normal[m] + k)));
        pl_store_f(hits->point[m] + k,
                   pl_select_f(by->below, by->point[m], pl_load_f(hits->point[m] + k)));
    }
    near->mask |= pl_bits_f(by->below) << k;
}

/* See pl_slowing. The slide is across n: so is what counts of the way. */
static vf slowing(const plane *p, const push *by, vf kick)
{
    const vf *s = by->slide, *v = by->way;
    vf slows = s[0] * v[0] + s[1] * v[1] + s[2] * v[2];
    vf square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    vi some = (slows > 0.0f) & (square > 0.0f);
    square = pl_select_f(some, square, pl_splat_f(1));
    vf part = pl_min_f(p->friction * kick / pl_sqrt_f(square), slows / square);
    return pl_select_f(some, pl_min_f(part, pl_splat_f(1)), pl_splat_f(0));
}

/* Bouncing gives velocity along n to those that have not bounced yet, and friction up to μ times
   that against their slide, no more than slows the centre. What it gave goes into `given`. */
static void throw_back(pl_contact *contact, size_t at, const plane *p, const push *by, vf floor,
                       vf given[3])
{
    vf came[4], kick[4];
    load_change(contact->came + at, came);
    load_change(contact->kick + at, kick);
    for (int k = 0; k < 3; k++)
        came[k] = p->moved[k] - came[k];
    vf target = bounce_of(along(p->n, came), by->gone, by->depth, pl_splat_f(p->bounce), floor);
    vi first = kick[0] * kick[0] + kick[1] * kick[1] + kick[2] * kick[2] == 0.0f;
    vf more = pl_select_f(by->below & first, target, pl_splat_f(0));
    vf back = slowing(p, by, more);
    for (int k = 0; k < 3; k++) {
        given[k] = more * p->n[k] - back * by->slide[k];
        kick[k] += given[k];
    }
    store_change(contact->kick + at, kick);
}

static void clump_on_plane(pl_contact *contact, pl_near *near, const plane *p, vf floor, vf part,
                           vf rate)
{
    int clump = near->clump;
    if (!is_near(contact->places + clump, contact->radius + (size_t)clump * PL_CLUMP,
                 contact->motion[clump].swing, p))
        return;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        size_t at = (size_t)clump * PL_CLUMP + (size_t)k;
        grains g;
        vf change[4], shift[4];
        push by;
        load_grains(contact->primitives + at, &g);
        load_change(contact->change + at, change);
        load_change(contact->shift + at, shift);
        if (!meet_plane(&g, p, part, rate, change, shift, &by))
            continue;
        if (contact->used[clump] != 0xffff)
            by.below &= used_lanes(contact->used[clump] >> k);
        if (!pl_any_f(by.below))
            continue;
        for (int m = 0; m < 3; m++) {
            change[m] = pl_select_f(by.below, change[m] + by.by[m], change[m]);
            shift[m] = pl_select_f(by.below, shift[m] + by.still[m], shift[m]);
        }
        store_change(contact->change + at, change);
        store_change(contact->shift + at, shift);
        if (p->bounce > 0) {
            vf given[3];
            throw_back(contact, at, p, &by, floor, given);
            for (int m = 0; m < 3; m++)
                by.by[m] += given[m];
        }
        note_hits(contact, near, p, &g, &by, k);
        contact->touched[clump] |= (uint16_t)(pl_bits_f(by.below) << k);
    }
}

void PL_LANES(pl_contact_on_plane)(pl_contact *contact, pl_near *near, bool first)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    vf floor = bounce_floor(contact->h, contact->gravity);
    vf part = first ? recovery_part(contact->h) : pl_splat_f(0);
    plane p = {.friction = __builtin_sqrtf(c->friction * body->friction),
               .bounce = c->restitution > body->restitution ? c->restitution : body->restitution,
               .slack = body->slack,
               .flat = body->flat,
               .turns = c->turned[0] != 0 || c->turned[1] != 0 || c->turned[2] != 0};
    if (body->whole)
        p.bounce = 0; /* it was answered as a whole: firm_bounce.c */
    double height = 0;
    for (int k = 0; k < 3; k++) {
        double n = c->turn_to[k][1], offset = body->base[k] - c->to.position[k], belt = 0;
        for (int m = 0; m < 3; m++)
            belt += c->turn_to[k][m] * c->belt[m];
        p.n[k] = (float)n;
        p.moved[k] = (float)c->moved[k];
        p.turned[k] = (float)c->turned[k];
        p.offset[k] = (float)offset;
        p.belt[k] = (float)(belt * contact->h);
        height += n * offset;
    }
    p.height = (float)height;
    clump_on_plane(contact, near, &p, floor, part,
                   body->flat ? part * (float)pl_contact_flat_part(body) : pl_splat_f(1));
    PL_LANES_LEAVE();
}
