/* Narrow phase: rows of one particle against sixteen become pairs whose spheres meet, pairs become touches where their ellipsoids
   do. What is fast against its size is looked at along its way through the sub-step: the line of centres is then the
   one at which the two first meet, and nothing passes through anything. */
#include "contact/contact_lanes.h"
#include "contact/ellipsoid.inl"
#include "contact/share.inl"

PL_LANES_INLINE uint32_t bits_of(vi mask)
{
#if PL_LANES_NATIVE
    return PL_MOVEMASK_F(mask);
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_W; i++)
        bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

/* A pair is swept when it moved further than this part of its smallest half axes. */
#define SWEPT_PART 0.5f

/* ---- Rows to pairs --------------------------------------------------------------------------------- */

/* What all rows of a group have in common. */
typedef struct between {
    float stray;     /* of both bodies together */
    float fastest;   /* bound on the displacement of any particle of one against any of the other */
    float offset[3]; /* base of the other's body − base of mine */
    float out
        [3]; /* from my body's centre to the other's, unit: the way apart when they are deep in each other */
    float friction, bounce;
} between;

static between look_between(const pl_contact *contact, const pl_contact_body *a,
                            const pl_contact_body *b)
{
    between two = {.stray = a->stray + b->stray,
                   .friction = a->grip * b->grip,
                   .bounce = a->restitution > b->restitution ? a->restitution : b->restitution};
    float square = 0, length = 0;
    for (int k = 0; k < 3; k++) {
        float apart = (float)(b->velocity[k] - a->velocity[k]);
        square += apart * apart;
        two.offset[k] = (float)(b->base[k] - a->base[k]);
        two.out[k] = (float)(b->centre[k] - a->centre[k]);
        length += two.out[k] * two.out[k];
    }
    two.fastest = (__builtin_sqrtf(square) + (float)(a->swing + b->swing)) * (float)contact->h;
    two.fastest *= 1.0001f;
    float scale = length > 0 ? 1 / __builtin_sqrtf(length) : 0;
    for (int k = 0; k < 3; k++)
        two.out[k] *= scale;
    return two;
}

/* Pairs that wait until the lanes are full, field by field. Those that are looked at along the way cost four times as much, and wait apart. */
enum { QUEUE = 4 * PL_CLUMP + 2 * PL_W, FULL = 3 * PL_CLUMP };

typedef struct queue {
    int32_t a[QUEUE], b[QUEUE];
    float offset[3][QUEUE], out[3][QUEUE], friction[QUEUE], bounce[QUEUE];
    int count;
} queue;

/* The other clump of a group, loaded once for all its rows: places, displacements, largest and smallest half axes. */
enum { PARTS = PL_CLUMP / PL_W };

typedef struct others {
    vf x[PARTS], y[PARTS], z[PARTS], u[PARTS], v[PARTS], w[PARTS], radius[PARTS], least[PARTS];
} others;

PL_LANES_INLINE void load_others(const pl_contact *contact, int clump, others *o)
{
    const pl_clump_places *at = contact->places + clump, *way = contact->ways + clump;
    const float *radius = contact->radius + (size_t)clump * PL_CLUMP;
    const float *least = contact->least + (size_t)clump * PL_CLUMP;
    for (int p = 0; p < PARTS; p++) {
        int k = p * PL_W;
        o->x[p] = pl_load_f(at->x + k), o->u[p] = pl_load_f(way->x + k);
        o->y[p] = pl_load_f(at->y + k), o->v[p] = pl_load_f(way->y + k);
        o->z[p] = pl_load_f(at->z + k), o->w[p] = pl_load_f(way->z + k);
        o->radius[p] = pl_load_f(radius + k), o->least[p] = pl_load_f(least + k);
    }
}

/* Whose spheres overlap. */
PL_LANES_INLINE uint32_t spheres_meet(const pl_contact *contact, int32_t particle,
                                      const float offset[3], const others *o)
{
    const pl_clump_places *mine = contact->places + particle / PL_CLUMP;
    int at = particle % PL_CLUMP;
    float px = mine->x[at] - offset[0], py = mine->y[at] - offset[1], pz = mine->z[at] - offset[2],
          reach = contact->radius[particle];
    uint32_t result = 0;
    for (int p = 0; p < PARTS; p++) {
        vf x = o->x[p] - px, y = o->y[p] - py, z = o->z[p] - pz, r = o->radius[p] + reach;
        result |= bits_of(x * x + y * y + z * z < r * r) << p * PL_W;
    }
    return result;
}

/* The same along the way: which pairs are fast, and where those are nearest. */
PL_LANES_INLINE uint32_t paths_meet(const pl_contact *contact, int32_t particle,
                                    const float offset[3], const others *o, uint32_t *swept)
{
    const pl_clump_places *mine = contact->places + particle / PL_CLUMP;
    const pl_clump_places *way = contact->ways + particle / PL_CLUMP;
    int at = particle % PL_CLUMP;
    float px = mine->x[at] - offset[0], py = mine->y[at] - offset[1], pz = mine->z[at] - offset[2],
          reach = contact->radius[particle], thin = contact->least[particle];
    uint32_t result = 0;
    for (int p = 0; p < PARTS; p++) {
        vf x = o->x[p] - px, y = o->y[p] - py, z = o->z[p] - pz, r = o->radius[p] + reach;
        vf u = o->u[p] - way->x[at], v = o->v[p] - way->y[at], w = o->w[p] - way->z[at];
        vf small = SWEPT_PART * (o->least[p] + thin), square = u * u + v * v + w * w;
        vi fast = square > small * small;
        uint32_t bits = bits_of(fast);
        if (bits) {
            vf back = (u * x + v * y + w * z) / pl_max_f(square, pl_splat_f(1e-37f));
            back = pl_min_f(pl_max_f(back, pl_splat_f(0)), pl_splat_f(1));
            back = pl_select_f(fast, back, pl_splat_f(0));
            x -= back * u;
            y -= back * v;
            z -= back * w;
        }
        result |= bits_of(x * x + y * y + z * z < r * r) << p * PL_W;
        *swept |= bits << p * PL_W;
    }
    return result;
}

/* At most sixteen are added, with what they have in common. */
static void add_pairs(queue *q, const pl_row *row, const between *two, uint32_t mask)
{
    int first = q->count;
    for (; mask; mask &= mask - 1) {
        int place = __builtin_ctz(mask), at = q->count++;
        q->a[at] = row->particle;
        q->b[at] = row->clump * PL_CLUMP + place;
    }
    for (int at = first; at < q->count; at += PL_W) {
        for (int k = 0; k < 3; k++) {
            pl_storeu_f(q->offset[k] + at, pl_splat_f(two->offset[k]));
            pl_storeu_f(q->out[k] + at, pl_splat_f(two->out[k]));
        }
        pl_storeu_f(q->friction + at, pl_splat_f(two->friction));
        pl_storeu_f(q->bounce + at, pl_splat_f(two->bounce));
    }
}

PL_LANES_INLINE void row_pairs(const pl_contact *contact, const pl_row *row, const between *two,
                               const others *o, queue *slow, queue *swift)
{
    bool fast = two->fastest > SWEPT_PART * contact->least[row->particle];
    if (!fast && row->gap > two->stray)
        return;
    uint32_t swept = 0;
    uint32_t mask = fast ? paths_meet(contact, row->particle, two->offset, o, &swept)
                         : spheres_meet(contact, row->particle, two->offset, o);
    mask &= row->mask;
    if (mask & ~swept)
        add_pairs(slow, row, two, mask & ~swept);
    if (mask & swept)
        add_pairs(swift, row, two, mask & swept);
}

/* Takes the first ones out. */
static void shorten(queue *q, int count)
{
    q->count -= count;
    for (int at = 0; at < q->count; at++) {
        q->a[at] = q->a[at + count];
        q->b[at] = q->b[at + count];
    }
    for (int at = 0; at < q->count; at += PL_W) {
        for (int k = 0; k < 3; k++) {
            pl_storeu_f(q->offset[k] + at, pl_loadu_f(q->offset[k] + at + count));
            pl_storeu_f(q->out[k] + at, pl_loadu_f(q->out[k] + at + count));
        }
        pl_storeu_f(q->friction + at, pl_loadu_f(q->friction + at + count));
        pl_storeu_f(q->bounce + at, pl_loadu_f(q->bounce + at + count));
    }
}

/* ---- Pairs to touches ------------------------------------------------------------------------------ */

typedef struct vgrain {
    vf x[3], moved[3], turned[3];
    vshape shape;
    vf yield;
} vgrain;

static void load_grains(const pl_primitive *primitives, const int32_t *which, vgrain *out)
{
    float columns[16 * PL_W] __attribute__((aligned(64)));
    const float *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = primitives[which[lane]].x;
    pl_lanes_gather(rows, 16, columns);
    vf *to = (vf *)out;
    for (int k = 0; k < 16; k++)
        to[k] = pl_load_f(columns + k * PL_W);
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

/* 2^-e for 2^e ≤ value < 2^(e + 1): shapes are scaled by it, so that nothing over- or underflows. */
PL_LANES_INLINE vf inverse_power(vf value)
{
    return (vf)(0x7f000000 - ((vi)value & 0x7f800000));
}

PL_LANES_INLINE void scale_shape(vshape *b, vf by)
{
    b->xx *= by, b->xy *= by, b->xz *= by, b->yy *= by, b->yz *= by, b->zz *= by;
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

/* Distance of closest approach along n, and y; `beyond` = distances from which on nothing touches, to leave early. */
static vf closest_approach(const vshape *a, const vshape *b, const vf n[3], vf beyond, vf normal[3])
{
    vf one = pl_splat_f(1);
    vf largest = pl_max_f(a->xx + a->yy + a->zz, b->xx + b->yy + b->zz);
    vf scale = inverse_power(largest);
    vshape p = *a, q = *b;
    vapproach approach;
    scale_shape(&p, scale);
    scale_shape(&q, scale);
    approach_begin(&approach);
    approach_evaluate(&approach, &p, &q, n, true);
    for (int i = 1; i < PL_APPROACH_EVALUATIONS; i++) {
        if (!pl_any_f(approach.square > beyond * beyond * scale))
            break;
        approach_evaluate(&approach, &p, &q, n, false);
    }
    /* No estimate is below the true distance, and they only fall: these are apart, however many evaluations their
       neighbours in the lanes asked for. */
    vi apart = ~(approach.square > beyond * beyond * scale);
    for (int k = 0; k < 3; k++)
        normal[k] = approach.normal[k];
    return pl_select_f(apart, pl_splat_f(0), pl_sqrt_f(approach.square * (one / scale)));
}

/* Where along its way (from `start`, by `way`) b first comes as near to a as `reach`; 2 = never. */
PL_LANES_INLINE vf first_meeting(const vf start[3], const vf way[3], vf reach)
{
    vf square = dot(way, way), half = dot(start, way), gap = dot(start, start) - reach * reach;
    vf under = half * half - square * gap;
    vf t =
        (-half - pl_sqrt_f(pl_max_f(under, pl_splat_f(0)))) / pl_max_f(square, pl_splat_f(1e-37f));
    vi never = (under < 0.0f) | (t > 1.0f) | (half > 0.0f);
    t = pl_select_f(never, pl_splat_f(2), pl_max_f(t, pl_splat_f(0)));
    return pl_select_f(gap <= 0.0f, pl_splat_f(0), t);
}

typedef struct meeting {
    vf n[3], normal[3], distance,
        along; /* direction, surface normal, closest approach, n · (x_b − x_a) */
} meeting;

static void meet_at_end(const vgrain *a, const vgrain *b, const vf r[3], meeting *m)
{
    normalise(r, m->n, &m->along);
    m->distance = closest_approach(&a->shape, &b->shape, m->n, m->along, m->normal);
}

/* Two rounds: the direction from spheres, then from the approach along that direction. */
static void meet_on_the_way(const vgrain *a, const vgrain *b, const vf r[3], vf reach, meeting *m)
{
    vf way[3], start[3], n[3], normal[3], length, zero = pl_splat_f(0);
    for (int k = 0; k < 3; k++) {
        way[k] = b->moved[k] - a->moved[k];
        start[k] = r[k] - way[k];
    }
    for (int round = 0; round < 3; round++) {
        vf t = first_meeting(start, way, reach), at[3];
        vi never = t > 1.0f;
        for (int k = 0; k < 3; k++)
            at[k] = start[k] + pl_min_f(t, pl_splat_f(1)) * way[k];
        normalise(at, n, &length);
        vf distance = closest_approach(&a->shape, &b->shape, n, zero, normal);
        reach = pl_select_f(never, reach, distance);
        vi take = ~never;
        if (round == 2) {
            m->distance = pl_select_f(take, distance, m->distance);
            m->along = pl_select_f(take, dot(n, r), m->along);
            for (int k = 0; k < 3; k++) {
                m->n[k] = pl_select_f(take, n[k], m->n[k]);
                m->normal[k] = pl_select_f(take, normal[k], m->normal[k]);
            }
        }
    }
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

enum { VALUES = 15 };

static int store_touches(const queue *l, bool swept, uint32_t which, const vf values[VALUES],
                         pl_touch *out)
{
    float columns[VALUES][PL_W] __attribute__((aligned(64)));
    int count = 0;
    for (int k = 0; k < VALUES; k++)
        pl_store_f(columns[k], values[k]);
    for (; which; which &= which - 1) {
        int lane = __builtin_ctz(which);
        pl_touch *t = out + count++;
        t->a = l->a[lane];
        t->b = l->b[lane];
        for (int k = 0; k < 3; k++) {
            t->n[k] = columns[k][lane];
            t->slide[k] = columns[4 + k][lane];
            t->normal[k] = columns[7 + k][lane];
        }
        t->depth = columns[3][lane];
        t->give_a = columns[10][lane];
        t->give_b = columns[11][lane];
        t->recover = columns[12][lane];
        t->mass = columns[13][lane];
        t->kick = columns[14][lane];
        t->pushed = t->rubbed = 0;
        t->friction = l->friction[lane];
        t->swept = swept;
    }
    return count;
}

/* Two bodies deep in each other are parted along the line of their own centres: the lines of their particles' centres point
   every way, and would lock them together. */
#define DEEP 0.6f

static void leave_deep(const queue *l, const vgrain *a, const vgrain *b, const vf r[3],
                       const vf moved[3], meeting *m)
{
    vf out[3], normal[3];
    for (int k = 0; k < 3; k++)
        out[k] = pl_loadu_f(l->out[k]);
    vi deep = (m->distance > m->along) &
              (m->distance - m->along + dot(m->n, moved) > DEEP * m->distance) &
              (dot(out, out) > 0.5f);
    if (!pl_any_f(deep))
        return;
    vf distance = closest_approach(&a->shape, &b->shape, out, pl_splat_f(0), normal);
    m->distance = pl_select_f(deep, distance, m->distance);
    m->along = pl_select_f(deep, dot(out, r), m->along);
    for (int k = 0; k < 3; k++) {
        m->n[k] = pl_select_f(deep, out[k], m->n[k]);
        m->normal[k] = pl_select_f(deep, normal[k], m->normal[k]);
    }
}

/* How fast the two came nearer along n before the solver had its say, metres per sub-step. */
static vf coming(const pl_contact *contact, const queue *l, const vf n[3])
{
    vf sum = pl_splat_f(0);
    for (int k = 0; k < 3; k++) {
        float apart[PL_W] __attribute__((aligned(64)));
        for (int lane = 0; lane < PL_W; lane++)
            apart[lane] = contact->came[l->a[lane]][k] - contact->came[l->b[lane]][k];
        sum += n[k] * pl_load_f(apart);
    }
    return sum;
}

static vf reach_of(const pl_contact *contact, const queue *q)
{
    float sum[PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++)
        sum[lane] = contact->radius[q->a[lane]] + contact->radius[q->b[lane]];
    return pl_load_f(sum);
}

/* The first pairs of the queue. */
static int touch_lanes(const pl_contact *contact, queue *q, bool swept, int count, pl_touch *out)
{
    vgrain a, b;
    vf r[3], length;
    meeting m;
    for (int at = count; at < PL_W; at++) { /* the others repeat the first */
        q->a[at] = q->a[0];
        q->b[at] = q->b[0];
    }
    load_grains(contact->primitives, q->a, &a);
    load_grains(contact->primitives, q->b, &b);
    for (int k = 0; k < 3; k++)
        r[k] = b.x[k] + pl_loadu_f(q->offset[k]) - a.x[k];
    meet_at_end(&a, &b, r, &m);
    if (swept)
        meet_on_the_way(&a, &b, r, reach_of(contact, q), &m);
    vf moved[3];
    for (int k = 0; k < 3; k++)
        moved[k] = b.moved[k] - a.moved[k];
    leave_deep(q, &a, &b, r, moved, &m);
    vf overlap = m.distance - m.along, yield = a.yield + b.yield;
    uint32_t which =
        bits_of((overlap > 0.0f) & (yield > 0.0f)) & (uint32_t)((UINT64_C(1) << count) - 1);
    if (!which)
        return 0;
    vf values[VALUES], normal[3], slide[3], approach = -dot(m.n, moved);
    normalise(m.normal, normal, &length);
    slide_of(&a, &b, normal, slide);
    share_overlap(overlap, approach, m.distance, recovery_part(contact->h), values + 3,
                  values + 12);
    values[14] = pl_splat_f(0);
    if (contact->bouncy)
        values[14] = bounce_of(coming(contact, q, m.n), approach, values[3], pl_loadu_f(q->bounce),
                               bounce_floor(contact->h, contact->gravity));
    for (int k = 0; k < 3; k++) {
        values[k] = m.n[k];
        values[4 + k] = slide[k];
        values[7 + k] = normal[k];
    }
    vf inverse = 1.0f / pl_max_f(yield, pl_splat_f(1e-37f));
    values[10] = a.yield * inverse;
    values[11] = b.yield * inverse;
    values[13] = inverse;
    return store_touches(q, swept, which, values, out);
}

/* ---- A block of clumps ----------------------------------------------------------------------------- */

/* A block's queues and where its touches go. */
typedef struct search {
    queue slow, swift;
    pl_contact_buffer *buffer;
} search;

/* False when there is no room for what might be found. */
static bool take_pairs(const pl_contact *contact, queue *q, bool swept, pl_contact_buffer *buffer)
{
    int count = q->count < PL_W ? q->count : PL_W;
    if (buffer->touch_count + count > buffer->touch_capacity)
        return false;
    buffer->touch_count +=
        touch_lanes(contact, q, swept, count, buffer->touches + buffer->touch_count);
    shorten(q, count);
    return true;
}

/* All that waits; the order of touches does not depend on the width. */
static bool drain(const pl_contact *contact, search *s)
{
    while (s->slow.count)
        if (!take_pairs(contact, &s->slow, false, s->buffer))
            return false;
    while (s->swift.count)
        if (!take_pairs(contact, &s->swift, true, s->buffer))
            return false;
    return true;
}

static bool find_in_group(const pl_contact *contact, const pl_group *group, const pl_row *rows,
                          search *s)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[group->clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[group->other];
    float reach = a->stray + a->sway + (b->stray + b->sway);
    if (group->gap > reach)
        return true;
    between two = look_between(contact, a, b);
    others o;
    load_others(contact, group->other, &o);
    for (const pl_row *row = rows + group->first; row < rows + group->first + group->count; row++) {
        if (row->gap > reach)
            continue;
        row_pairs(contact, row, &two, &o, &s->slow, &s->swift);
        while (s->slow.count >= PL_W)
            if (!take_pairs(contact, &s->slow, false, s->buffer))
                return false;
        if (s->swift.count > FULL && !drain(contact, s))
            return false;
    }
    return true;
}

void PL_LANES(pl_contact_touches)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    const pl_segment *source = contact->group_segments + block;
    pl_segment *segment = contact->touch_segments + block;
    const pl_contact_buffer *from = contact->buffers + source->worker;
    search s;
    s.slow.count = s.swift.count = 0;
    s.buffer = buffer;
    *segment = (pl_segment){worker, buffer->touch_count, 0, false};
    for (int i = 0; i < source->count && !segment->full; i++)
        segment->full = !find_in_group(contact, from->groups + source->first + i, from->rows, &s);
    if (!segment->full)
        segment->full = !drain(contact, &s);
    if (segment->full)
        buffer->touch_count = segment->first;
    segment->count = buffer->touch_count - segment->first;
    PL_LANES_LEAVE();
}
