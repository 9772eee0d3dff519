/* Ellipsoids against colliders that do not give way, sixteen at a time. Against a plane the deepest point is x − B n/√(nᵀBn): exact
   (METHODS §1). The last word of a sub-step: what the touches between bodies have moved is taken into account. */
#include "contact/contact_lanes.h"
#include "contact/share.inl"

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
    float n[3], moved[3];
    float height; /* of the body's base above it */
    float friction, bounce;
} plane;

/* Whether any of these particles may be below the plane: by their spheres. */
static bool is_near(const pl_clump_places *places, const float *radius, const plane *p, int k)
{
    vf height = p->height + (p->n[0] * pl_load_f(places->x + k) + p->n[1] * pl_load_f(places->y + k) +
                             p->n[2] * pl_load_f(places->z + k));
    return pl_any_f(height < 2.0f * pl_load_f(radius + k));
}

static vi meet_plane(const grains *g, const plane *p, vf floor, vf part, vf change[4], vf shift[4])
{
    vf bn[3], at[3], gone[3], arm[3], turn[3], slide[3], depth, recover;
    for (int k = 0; k < 3; k++) {
        at[k] = g->x[k] + change[k] + shift[k];
        gone[k] = g->moved[k] + change[k] - p->moved[k];
    }
    const vf *b = g->shape;
    bn[0] = b[0] * p->n[0] + b[1] * p->n[1] + b[2] * p->n[2];
    bn[1] = b[1] * p->n[0] + b[3] * p->n[1] + b[4] * p->n[2];
    bn[2] = b[2] * p->n[0] + b[4] * p->n[1] + b[5] * p->n[2];
    vf half = pl_sqrt_f(pl_max_f(along(p->n, bn), pl_splat_f(1e-37f)));
    vf overlap = half - (p->height + along(p->n, at));
    vi below = (overlap > 0.0f) & (g->yield > 0.0f);
    if (!pl_any_f(below))
        return below;
    share_overlap(overlap, -along(p->n, gone), pl_splat_f(p->bounce), floor, part, &depth, &recover);
    for (int k = 0; k < 3; k++)
        arm[k] = -bn[k] / half;
    turn[0] = g->turned[1] * arm[2] - g->turned[2] * arm[1];
    turn[1] = g->turned[2] * arm[0] - g->turned[0] * arm[2];
    turn[2] = g->turned[0] * arm[1] - g->turned[1] * arm[0];
    for (int k = 0; k < 3; k++)
        slide[k] = gone[k] + turn[k];
    vf straight = along(p->n, slide);
    for (int k = 0; k < 3; k++)
        slide[k] -= straight * p->n[k];
    vf length = pl_sqrt_f(slide[0] * slide[0] + slide[1] * slide[1] + slide[2] * slide[2]);
    vf limit = p->friction * depth;
    vf back = pl_select_f(length > limit, limit / pl_max_f(length, pl_splat_f(1e-37f)), pl_splat_f(1));
    for (int k = 0; k < 3; k++) {
        vf by = depth * p->n[k] - back * slide[k];
        change[k] = pl_select_f(below, change[k] + by, change[k]);
        shift[k] = pl_select_f(below, shift[k] + recover * p->n[k], shift[k]);
    }
    return below;
}

static bool clump_on_plane(pl_contact *contact, int clump, const plane *p, vf floor, vf part)
{
    bool met = false;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        size_t at = (size_t)clump * PL_CLUMP + (size_t)k;
        if (!is_near(contact->places + clump, contact->radius + (size_t)clump * PL_CLUMP, p, k))
            continue;
        grains g;
        vf change[4], shift[4];
        load_grains(contact->primitives + at, &g);
        load_change(contact->change + at, change);
        load_change(contact->shift + at, shift);
        if (!pl_any_f(meet_plane(&g, p, floor, part, change, shift)))
            continue;
        store_change(contact->change + at, change);
        store_change(contact->shift + at, shift);
        contact->touched[clump] = 1;
        met = true;
    }
    return met;
}

void PL_LANES(pl_contact_collide)(pl_contact *contact, int number)
{
    pl_contact_body *body = contact->bodies + number;
    vf floor = bounce_floor(contact->h, contact->gravity), part = recovery_part(contact->h);
    for (int i = 0; i < contact->plane_count; i++) {
        const pl_contact_plane *source = contact->planes + i;
        if (!(source->category & body->mask) || !(body->category & source->mask))
            continue;
        plane p = {.friction = __builtin_sqrtf(source->friction * body->friction),
                   .bounce = source->restitution > body->restitution ? source->restitution
                                                                     : body->restitution};
        double height = 0;
        for (int k = 0; k < 3; k++) {
            p.n[k] = (float)source->normal[k];
            p.moved[k] = (float)source->moved[k];
            height += source->normal[k] * (body->base[k] - source->point[k]);
        }
        p.height = (float)height;
        for (int c = 0; c < body->clumps->count; c++)
            body->grounded |= clump_on_plane(contact, body->first_clump + c, &p, floor, part);
    }
}
