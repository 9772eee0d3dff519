/* Pairs to touches, a part of narrow_lanes.c: where, how deep and along which line two ellipsoids
   meet, at the end of the sub-step or on their way through it, and what that asks of the two. */

typedef struct vgrain {
    vf x[3], moved[3], turned[3];
    vshape shape;
    vf yield;
} vgrain;

/* What their groups have in common. */
typedef struct vbetween {
    vf offset[3], friction, bounce, others[3];
} vbetween;

/* Both particles of PL_W pairs, and what is between them. */
static void load_pairs(const search *s, const uint32_t *which, vgrain *a, vgrain *b, vbetween *out)
{
    const float *mine[PL_W], *others[PL_W], *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        mine[lane] = two->mine[mine_of(which[lane])].x;
        others[lane] = two->others[other_of(which[lane])].x;
        rows[lane] = two->offset;
    }
    pl_lanes_gather(mine, 16, (float *)a);
    pl_lanes_gather(others, 16, (float *)b);
    pl_lanes_gather(rows, 8, (float *)out);
}

PL_LANES_INLINE vf dot(const vf a[3], const vf b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PL_LANES_INLINE void normalise(const vf a[3], vf out[3], vf *length)
{
    vf square = dot(a, a);
    vi none = square < 1e-36f;
    *length = pl_sqrt_f(square);
    vf inverse = 1.0f / pl_select_f(none, pl_splat_f(1), *length);
    /* Centres at one place: any direction will do. */
    out[0] = pl_select_f(none, pl_splat_f(0), a[0] * inverse);
    out[1] = pl_select_f(none, pl_splat_f(1), a[1] * inverse);
    out[2] = pl_select_f(none, pl_splat_f(0), a[2] * inverse);
}

/* 2^-e for 2^e ≤ value < 2^(e + 1): shapes are scaled by it, so that nothing over- or
   underflows. */
PL_LANES_INLINE vf inverse_power(vf value)
{
    return (vf)(0x7f000000 - ((vi)value & 0x7f800000));
}

PL_LANES_INLINE void scale_shape(vshape *b, vf by)
{
    b->xx *= by, b->xy *= by, b->xz *= by, b->yy *= by, b->yz *= by, b->zz *= by;
}

/* Both by the same power of two; returns it. */
PL_LANES_INLINE vf scale_both(vshape *a, vshape *b)
{
    vf scale = inverse_power(pl_max_f(a->xx + a->yy + a->zz, b->xx + b->yy + b->zz));
    scale_shape(a, scale);
    scale_shape(b, scale);
    return scale;
}

PL_LANES_INLINE void shape_times(const vshape *b, const vf v[3], vf out[3])
{
    out[0] = b->xx * v[0] + b->xy * v[1] + b->xz * v[2];
    out[1] = b->xy * v[0] + b->yy * v[1] + b->yz * v[2];
    out[2] = b->xz * v[0] + b->yz * v[1] + b->zz * v[2];
}

PL_LANES_INLINE void cross(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The closest approach of PL_W pairs while it is looked for: in units in which nothing over- or
   underflows; distances from `beyond` on touch nobody. */
typedef struct chase {
    vshape a, b;
    vf n[3], scale, beyond; /* `beyond`: its square */
    vapproach approach;
} chase;

PL_LANES_INLINE void begin_chase(const vshape *a, const vshape *b, const vf n[3], vf beyond,
                                 chase *c)
{
    c->a = *a;
    c->b = *b;
    for (int k = 0; k < 3; k++)
        c->n[k] = n[k];
    c->scale = scale_both(&c->a, &c->b);
    c->beyond = beyond * beyond * c->scale;
    approach_begin(&c->approach);
}

/* Of some in turns: in each of them one step waits for the other, so that two together take little
   longer than one. Left early when all are apart. */
PL_LANES_INLINE void give_chase(chase *all, int count)
{
    for (int i = 0; i < PL_APPROACH_EVALUATIONS; i++) {
        bool any = i == 0;
        for (int k = 0; k < count && i; k++)
            any |= pl_any_f(all[k].approach.square > all[k].beyond);
        if (!any)
            break;
        for (int k = 0; k < count; k++) {
            chase *c = all + k;
            vf y[3];
            if (i < PL_APPROACH_EVALUATIONS - 1)
                approach_evaluate(&c->approach, &c->a, &c->b, c->n, i == 0);
            else
                approach_try(&c->approach, &c->a, &c->b, c->n, y);
        }
    }
}

/* Distance of closest approach along n, and y. No estimate is below the true distance, and they
   only fall: whoever is apart by the last of them is so however many evaluations its neighbours in
   the lanes asked for. */
PL_LANES_INLINE vf end_chase(const chase *c, vf normal[3])
{
    vi apart = ~(c->approach.square > c->beyond);
    for (int k = 0; k < 3; k++)
        normal[k] = c->approach.normal[k];
    return pl_select_f(apart, pl_splat_f(0), pl_sqrt_f(c->approach.square * (1.0f / c->scale)));
}

static vf closest_approach(const vshape *a, const vshape *b, const vf n[3], vf normal[3])
{
    chase c;
    begin_chase(a, b, n, pl_splat_f(0), &c);
    give_chase(&c, 1);
    return end_chase(&c, normal);
}

/* Of ways that are more than so many times as long as the reach, squares have no digits left for
   it: they are looked at from where the two are nearest. */
#define LONG_WAY 100.0f

/* Where along its way (from `start`, by `way`) b first comes as near to a as `reach`; 2 = never. */
PL_LANES_INLINE vf first_meeting(const vf start[3], const vf way[3], vf reach)
{
    vf square = dot(way, way), along = dot(start, way), before = dot(start, start) - reach * reach;
    vf divisor = pl_max_f(square, pl_splat_f(1e-37f)), from[3];
    vf nearest = pl_select_f(square > (LONG_WAY * LONG_WAY) * reach * reach, -along / divisor,
                             pl_splat_f(0));
    for (int k = 0; k < 3; k++)
        from[k] = start[k] + nearest * way[k];
    vf half = dot(from, way), gap = dot(from, from) - reach * reach;
    vf under = half * half - square * gap;
    vf t = nearest + (-half - pl_sqrt_f(pl_max_f(under, pl_splat_f(0)))) / divisor;
    vi never = (under < 0.0f) | (t > 1.0f) | (along > 0.0f);
    t = pl_select_f(never, pl_splat_f(2), pl_max_f(t, pl_splat_f(0)));
    return pl_select_f(before <= 0.0f, pl_splat_f(0), t);
}

typedef struct meeting {
    vf n[3], normal[3], distance,
        along; /* direction, surface normal, closest approach, n · (x_b − x_a) */
} meeting;

/* PL_W pairs face to face. */
typedef struct facing {
    vgrain a, b;
    vbetween two;
    vf r[3], moved[3]; /* from a to b, and by how much that changed in the sub-step */
    meeting m;
} facing;

static void face(const search *s, const uint32_t *which, facing *f)
{
    load_pairs(s, which, &f->a, &f->b, &f->two);
    for (int k = 0; k < 3; k++) {
        f->r[k] = f->b.x[k] + f->two.offset[k] - f->a.x[k];
        f->moved[k] = f->b.moved[k] - f->a.moved[k];
    }
}

PL_LANES_INLINE void meet_at_end(facing *all, int count)
{
    chase c[2];
    for (int k = 0; k < count; k++) {
        meeting *m = &all[k].m;
        normalise(all[k].r, m->n, &m->along);
        begin_chase(&all[k].a.shape, &all[k].b.shape, m->n, m->along, &c[k]);
    }
    give_chase(c, count);
    for (int k = 0; k < count; k++)
        all[k].m.distance = end_chase(&c[k], all[k].m.normal);
}

/* Two rounds: the direction from spheres, then from the approach along that direction. Returns who
   has met. */
static vi meet_on_the_way(facing *f, vf reach)
{
    meeting *m = &f->m;
    const vf *way = f->moved;
    vf start[3], n[3], normal[3], length;
    vi take = pl_splat_bits_f(0);
    for (int k = 0; k < 3; k++)
        start[k] = f->r[k] - way[k];
    for (int round = 0; round < 3; round++) {
        vf t = first_meeting(start, way, reach), at[3];
        vi never = t > 1.0f;
        for (int k = 0; k < 3; k++)
            at[k] = start[k] + pl_min_f(t, pl_splat_f(1)) * way[k];
        normalise(at, n, &length);
        vf distance = closest_approach(&f->a.shape, &f->b.shape, n, normal);
        reach = pl_select_f(never, reach, distance);
        take = ~never;
        if (round == 2) {
            m->distance = pl_select_f(take, distance, m->distance);
            m->along = pl_select_f(take, dot(n, f->r), m->along);
            for (int k = 0; k < 3; k++) {
                m->n[k] = pl_select_f(take, n[k], m->n[k]);
                m->normal[k] = pl_select_f(take, normal[k], m->normal[k]);
            }
        }
    }
    return take;
}

/* Of two that were looked at along their way: they overlapped when it began, and are apart by now.
   Their touch is kept, with the room they have as a depth below zero: it does nothing unless others
   push them back. Springs pull a small tip out of where it is caught and contact pushes it back, in
   every sub-step: whoever is only met where it is pushed to would never be looked at, and they stay
   as deep in each other as they are. */
PL_LANES_INLINE vi have_parted(const meeting *m, const vf moved[3])
{
    vf before = m->along - dot(m->n, moved);
    return (m->distance > 0.0f) & (m->distance > before) & ~(m->distance > m->along);
}

/* From the centre to the point of the surface whose normal is n. */
PL_LANES_INLINE void surface_point(const vshape *b, const vf n[3], vf sign, vf out[3])
{
    shape_times(b, n, out);
    vf scale = sign / pl_sqrt_f(pl_max_f(dot(n, out), pl_splat_f(1e-37f)));
    for (int k = 0; k < 3; k++)
        out[k] *= scale;
}

/* Displacement of b's surface against a's. */
static void slide_of(const vgrain *a, const vgrain *b, const vf normal[3], vf out[3])
{
    vf arm_a[3], arm_b[3], turn_a[3], turn_b[3];
    surface_point(&a->shape, normal, pl_splat_f(1), arm_a);
    surface_point(&b->shape, normal, pl_splat_f(-1), arm_b);
    cross(a->turned, arm_a, turn_a);
    cross(b->turned, arm_b, turn_b);
    for (int k = 0; k < 3; k++)
        out[k] = (b->moved[k] + turn_b[k]) - (a->moved[k] + turn_a[k]);
}

/* What is computed of a touch, in the order in which it lies in memory. */
typedef struct vtouch {
    vf n[3], depth, slide[3], friction, normal[3], recover, give_a, give_b, mass, kick;
} vtouch;

enum { TOUCH_VALUES = sizeof(vtouch) / sizeof(vf) };
_Static_assert(offsetof(pl_touch, kick) == (TOUCH_VALUES - 1) * sizeof(float),
               "one vector for each value of a touch");

static int store_touches(const search *s, const pairs *p, int at, uint32_t swept, uint32_t deep,
                         uint32_t met, uint32_t which, const vtouch *touch, pl_touch *out)
{
    pl_touch nowhere;
    float *rows[PL_W];
    int count = 0;
    for (int lane = 0; lane < PL_W; lane++) {
        bool wanted = which >> lane & 1;
        uint32_t pair = p->of[at + lane];
        const between *two = two_of(s->two, pair);
        pl_touch *t = wanted ? out + count : &nowhere;
        t->a = two->clump * PL_CLUMP + mine_of(pair);
        t->b = two->other * PL_CLUMP + other_of(pair);
        t->pushed = t->rubbed = 0;
        t->swept = (swept >> lane & 1 ? PL_SWEPT : 0) | (deep >> lane & 1 ? PL_DEEP : 0) |
                   (met >> lane & 1 ? PL_MET : 0);
        rows[lane] = t->n;
        count += wanted;
    }
    pl_lanes_scatter((const float *)touch, TOUCH_VALUES, rows);
    return count;
}

/* Two bodies deep in each other are parted along the line between the middles of the two clumps,
   which is where the one came into the other, whatever the rest of the bodies looks like: the lines
   of their particles' centres point every way, and would lock them together. Where the two lines
   point against each other, as of links of a chain, only what is very deep is. They are apart when
   a plane across that line fits between them: by the closest approach along it, flat particles that
   lie askew are apart while they are deep in each other. */
#define DEEP 0.12f
#define VERY_DEEP 0.3f
#define SUNK 0.25f       /* so deep nobody gets by contact: see PL_DEEP */
#define SAME_LINE 0.999f /* cosine: then they are parted as all others */

/* Where the middle of a clump is, from the base of its body. */
static void middle_of(const pl_contact *contact, int32_t clump, float out[3])
{
    const pl_clump_places *at = contact->places + clump;
    float sum[3] = {0, 0, 0};
    for (int i = 0; i < PL_CLUMP; i++)
        sum[0] += at->x[i], sum[1] += at->y[i], sum[2] += at->z[i];
    for (int k = 0; k < 3; k++)
        out[k] = sum[k] * (1.0f / PL_CLUMP);
}

/* From the middle of my clump to the other's, unit; zero inside one body. */
static void way_out(const search *s, const uint32_t *which, uint32_t lanes, vf out[3])
{
    float columns[3][PL_W] __attribute__((aligned(64))) = {{0}};
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        const between *two = two_of(s->two, which[lane]);
        float from[3], to[3], length = 0;
        if (two->body == two->other_body)
            continue;
        middle_of(s->contact, two->clump, from);
        middle_of(s->contact, two->other, to);
        for (int k = 0; k < 3; k++) {
            to[k] = (to[k] + two->offset[k]) - from[k];
            length += to[k] * to[k];
        }
        float scale = length > 0 ? 1 / __builtin_sqrtf(length) : 0;
        for (int k = 0; k < 3; k++)
            columns[k][lane] = to[k] * scale;
    }
    for (int k = 0; k < 3; k++)
        out[k] = pl_load_f(columns[k]);
}

/* √(nᵀ B n) */
PL_LANES_INLINE vf half_width(const vshape *b, const vf n[3])
{
    vf bn[3];
    shape_times(b, n, bn);
    return pl_sqrt_f(pl_max_f(dot(n, bn), pl_splat_f(0)));
}

static void leave_deep(const search *s, const uint32_t *which, const vgrain *a, const vgrain *b,
                       const vf r[3], const vf moved[3], meeting *m)
{
    vf out[3];
    vf before = m->distance - m->along + dot(m->n, moved);
    vi deep = (m->distance > m->along) & (before > DEEP * m->distance);
    if (!pl_any_f(deep))
        return;
    way_out(s, which, pl_bits_f(deep), out);
    vf along = dot(out, r);
    vf distance = half_width(&a->shape, out) + half_width(&b->shape, out);
    deep &= (dot(out, out) > 0.5f) & (dot(out, m->n) < SAME_LINE) & (distance > along) &
            ((along > 0.0f) | (before > VERY_DEEP * m->distance));
    m->distance = pl_select_f(deep, distance, m->distance);
    m->along = pl_select_f(deep, along, m->along);
    for (int k = 0; k < 3; k++) {
        m->n[k] = pl_select_f(deep, out[k], m->n[k]);
        m->normal[k] = pl_select_f(deep, out[k], m->normal[k]);
    }
}

/* Of those that are deep in each other from before: not those whose bodies still come nearer, by
   this part of the distance at which they touch and by what gravity adds in some sub-steps, nor
   those of which one is held. They are pushed as everybody else, or would pass. */
#define STILL_COMES 0.01f

static uint32_t leave_pushed(const search *s, const uint32_t *which, uint32_t lanes,
                             const meeting *m)
{
    const pl_contact *contact = s->contact;
    float least = (float)(PL_BOUNCE_FLOOR * contact->gravity * contact->h * contact->h);
    uint32_t kept = 0;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        const between *two = two_of(s->two, which[lane]);
        const pl_contact_body *a = contact->bodies + two->body;
        const pl_contact_body *b = contact->bodies + two->other_body;
        float come = 0;
        for (int k = 0; k < 3; k++)
            come += m->n[k][lane] * (float)((a->velocity[k] - b->velocity[k]) * contact->h);
        bool held = !(two->mine[mine_of(which[lane])].yield > 0) ||
                    !(two->others[other_of(which[lane])].yield > 0);
        kept |= (uint32_t)(!held && come < least + STILL_COMES * m->distance[lane]) << lane;
    }
    return kept;
}

/* How fast the two came nearer along n before the solver had its say, metres per sub-step. */
static vf coming(const search *s, const uint32_t *which, const vf n[3])
{
    float apart[3][PL_W] __attribute__((aligned(64)));
    vf sum = pl_splat_f(0);
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        const float *a = s->contact->came[two->clump * PL_CLUMP + mine_of(which[lane])];
        const float *b = s->contact->came[two->other * PL_CLUMP + other_of(which[lane])];
        for (int k = 0; k < 3; k++)
            apart[k][lane] = a[k] - b[k];
    }
    for (int k = 0; k < 3; k++)
        sum += n[k] * pl_load_f(apart[k]);
    return sum;
}

static vf reach_of(const search *s, const uint32_t *which)
{
    const float *radius = s->contact->radius;
    float sum[PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        sum[lane] = radius[two->clump * PL_CLUMP + mine_of(which[lane])] +
                    radius[two->other * PL_CLUMP + other_of(which[lane])];
    }
    return pl_load_f(sum);
}

/* Lanes behind the last pair repeat it. */
static void fill_up(pairs *p)
{
    for (int i = p->count; i < p->count + PL_W - 1; i++)
        p->of[i] = p->of[p->count - 1];
}

PL_LANES_INLINE uint32_t lanes_left(const pairs *p, int at)
{
    return lanes_up_to(p->count - at);
}

/* What comes of the pairs from the `at`th on that face each other. */
static int touch_lanes(const search *s, const pairs *p, int at, bool swept, facing *f,
                       pl_touch *out)
{
    const pl_contact *contact = s->contact;
    const uint32_t *pair = p->of + at;
    const vgrain *a = &f->a, *b = &f->b;
    const vf *moved = f->moved;
    meeting *m = &f->m;
    vf length;
    vi parted = pl_splat_bits_f(0), met = parted;
    if (swept) {
        met = meet_on_the_way(f, reach_of(s, pair));
        parted = have_parted(m, moved);
    }
    leave_deep(s, pair, a, b, f->r, moved, m);
    vf overlap = m->distance - m->along, yield = a->yield + b->yield;
    uint32_t which = pl_bits_f(((overlap > 0.0f) | parted) & (yield > 0.0f)) & lanes_left(p, at);
    if (!which)
        return 0;
    vtouch t;
    vf approach = -dot(m->n, moved);
    normalise(m->normal, t.normal, &length);
    slide_of(a, b, t.normal, t.slide);
    share_overlap(overlap, approach, m->distance, recovery_part(contact->h), &t.depth, &t.recover);
    t.depth = pl_select_f(parted, overlap, t.depth);
    /* They were apart before they met: that part of their slide is no friction's. */
    met &= ~parted & (t.depth > 0.0f) & (approach > t.depth);
    vf part = t.depth / pl_select_f(met, approach, pl_splat_f(1));
    for (int k = 0; swept && k < 3; k++)
        t.slide[k] = pl_select_f(met, t.slide[k] * part, t.slide[k]);
    t.kick = pl_splat_f(0);
    if (contact->bouncy)
        t.kick = bounce_of(coming(s, pair, m->n), approach, t.depth, f->two.bounce,
                           bounce_floor(contact->h, contact->gravity));
    for (int k = 0; k < 3; k++)
        t.n[k] = m->n[k];
    t.friction = f->two.friction;
    t.mass = 1.0f / pl_max_f(yield, pl_splat_f(1e-37f));
    t.give_a = a->yield * t.mass;
    t.give_b = b->yield * t.mass;
    /* What only slides past is resolved like anything slow. */
    uint32_t head_on = swept ? pl_bits_f(approach > PL_SWEPT_PART * m->distance) : 0;
    uint32_t met_bits = swept ? pl_bits_f(met) : 0;
    uint32_t sunk = swept ? 0 : pl_bits_f(overlap - approach > pl_splat_f(SUNK) * m->distance);
    if (sunk & which)
        sunk = leave_pushed(s, pair, sunk & which, m);
    s->segment->swept |= (head_on & which) != 0;
    s->segment->met |= (met_bits & which) != 0;
    return store_touches(s, p, at, head_on, sunk, met_bits, which, &t, out);
}

/* Four floats of each pair from element k on: b + a, or with more, b + more − a. Added row by row
   they are turned into lanes only once. */
PL_LANES_INLINE void gather_pairs(const float *const *a, const float *const *b,
                                  const float *const *more, int k, vf out[4])
{
#if PL_LANES_NATIVE
    for (int i = 0; i < 4; i++) {
        vf one = pl_lanes_load_quarters(a + i, k), two = pl_lanes_load_quarters(b + i, k);
        out[i] = more ? two + pl_lanes_load_quarters(more + i, 0) - one : two + one;
    }
    pl_lanes_transpose4(out, out + 1, out + 2, out + 3);
#else
    for (int i = 0; i < 4; i++)
        for (int lane = 0; lane < PL_W; lane++)
            out[i][lane] = more ? b[lane][k + i] + more[lane][i] - a[lane][k + i]
                                : b[lane][k + i] + a[lane][k + i];
#endif
}

/* The same pairs: which of them are not found apart by the first evaluation already. That is d² = 4
   det G/(nᵀ adj(G) n) at s = 1/2, and d² > r² needs no root and no division: 4 det G > rᵀ adj(G) r,
   with something to spare for rounding. */
static __attribute__((noinline)) uint32_t look_once(const search *s, const pairs *p, int at)
{
    enum { SHAPE = offsetof(pl_primitive, shape) / sizeof(float) };
    const float *a[PL_W], *b[PL_W], *offset[PL_W];
    vf r[4], front[4], back[4]; /* the shape begins with the second of `front` */
    for (int lane = 0; lane < PL_W; lane++) {
        uint32_t pair = p->of[at + lane];
        const between *two = two_of(s->two, pair);
        a[lane] = two->mine[mine_of(pair)].x;
        b[lane] = two->others[other_of(pair)].x;
        offset[lane] = two->offset;
    }
    gather_pairs(a, b, offset, 0, r);
    gather_pairs(a, b, NULL, SHAPE - 1, front);
    gather_pairs(a, b, NULL, SHAPE + 3, back);
    vf scale = inverse_power(front[1] + back[0] + back[2]), square = pl_splat_f(0);
    vshape sum = {front[1] * scale, front[2] * scale, front[3] * scale,
                  back[0] * scale,  back[1] * scale,  back[2] * scale};
    vf y[3], det = shape_adjoint(&sum, r, y);
    for (int k = 0; k < 3; k++)
        square += r[k] * (y[k] * scale);
    /* B₁ + B₂ is twice G: its determinant eight times, its adjoint four times as large. */
    vi apart = square > 2.00002f * det;
    return ~pl_bits_f(apart) & lanes_left(p, at);
}
