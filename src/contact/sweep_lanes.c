/* A sweep over the touches, sixteen at a time. Batches hold touches that share no particle, in an
   order in which those that do share one come as they would one after the other: so every bit is as
   if they did. See respond.c for the formulas, which this repeats in lanes. */
#include "contact/contact_lanes.h"
#include "math/lanes.h"

/* What is read of a touch, in the order in which it lies in memory. */
typedef struct vtouch {
    vf n[3], depth, slide[3], friction, normal[3], recover, give_a, give_b, mass, kick;
} vtouch;

_Static_assert(sizeof(vtouch) == PL_TOUCH_VALUES * sizeof(vf), "one vector for each value");

PL_LANES_INLINE vf dot(const vf a[3], const vf b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Where the changes of these particles are. */
PL_LANES_INLINE void find(float (*values)[4], const int32_t *which, float *rows[PL_W])
{
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = values[which[lane]];
}

PL_LANES_INLINE void load(float *const *rows, vf out[4])
{
    pl_lanes_gather((const float *const *)rows, 4, (float *)out);
}

PL_LANES_INLINE void store(float *const *rows, const vf in[4])
{
    pl_lanes_scatter((const float *)in, 4, rows);
}

/* v, or as much of it as is not longer than `most`, where the mask says so. */
PL_LANES_INLINE void move_within(vi which, const vf v[3], vf most, vf out[4])
{
    vf square = dot(v, v);
    vi beyond = square > most * most;
    vf scale = most / pl_sqrt_f(pl_select_f(beyond, square, pl_splat_f(1)));
    for (int k = 0; k < 3; k++)
        out[k] = pl_select_f(which, pl_select_f(beyond, v[k] * scale, v[k]), out[k]);
}

PL_LANES_INLINE vf radii_of(const float *radius, const int32_t *which)
{
    float lanes[PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++)
        lanes[lane] = radius[which[lane]];
    return pl_load_f(lanes);
}

/* What overlapped before is parted, in equal parts. Returns where something was. */
static vi part(pl_contact *contact, const vtouch *t, const int32_t *which_a, const int32_t *which_b)
{
    vf a[4], b[4], apart[3], to_a[3], to_b[3];
    float *at_a[PL_W], *at_b[PL_W];
    find(contact->shift, which_a, at_a);
    find(contact->shift, which_b, at_b);
    load(at_a, a);
    load(at_b, b);
    for (int k = 0; k < 3; k++)
        apart[k] = b[k] - a[k];
    vf part = t->recover - dot(t->n, apart);
    vi which = (t->recover > 0.0f) & (part > 0.0f);
    if (!pl_any_f(which))
        return which;
    vi both = (t->give_a > 0.0f) & (t->give_b > 0.0f);
    vf by = pl_select_f(both, 0.5f * part, part), zero = pl_splat_f(0);
    vf by_a = pl_select_f(t->give_a > 0.0f, by, zero);
    vf by_b = pl_select_f(t->give_b > 0.0f, by, zero);
    for (int k = 0; k < 3; k++) {
        to_a[k] = a[k] - t->n[k] * by_a;
        to_b[k] = b[k] + t->n[k] * by_b;
    }
    move_within(which, to_a, radii_of(contact->radius, which_a) * contact->far, a);
    move_within(which, to_b, radii_of(contact->radius, which_b) * contact->far, b);
    store(at_a, a);
    store(at_b, b);
    return which;
}

typedef struct push {
    vf by, rubbed;
} push;

/* Apart by `depth` along n; then friction. Returns where something was. */
static vi press(pl_contact *contact, const vtouch *t, const int32_t *which_a,
                const int32_t *which_b, push *done)
{
    vf a[4], b[4], new_a[3], new_b[3], apart[3], slide[3], zero = pl_splat_f(0);
    float *at_a[PL_W], *at_b[PL_W];
    find(contact->change, which_a, at_a);
    find(contact->change, which_b, at_b);
    load(at_a, a);
    load(at_b, b);
    for (int k = 0; k < 3; k++)
        apart[k] = b[k] - a[k];
    vf by = t->depth - dot(t->n, apart);
    vi which = by > 0.0f;
    done->by = done->rubbed = zero;
    if (!pl_any_f(which))
        return which;
    done->by = pl_select_f(which, by, zero);
    for (int k = 0; k < 3; k++) {
        vf move = t->n[k] * by;
        new_a[k] = a[k] - move * t->give_a;
        new_b[k] = b[k] + move * t->give_b;
        slide[k] = t->slide[k] + (new_b[k] - new_a[k]);
    }
    vf along = dot(slide, t->normal);
    for (int k = 0; k < 3; k++)
        slide[k] -= t->normal[k] * along;
    vf limit = t->friction * by, square = dot(slide, slide);
    vi rubs = which & (limit > 0.0f) & (square > 0.0f);
    vf length = pl_sqrt_f(pl_select_f(rubs, square, pl_splat_f(1)));
    vi slips = length > limit;
    vf scale = limit / length;
    done->rubbed = pl_select_f(rubs, pl_select_f(slips, limit, length), zero);
    for (int k = 0; k < 3; k++) {
        vf back = pl_select_f(slips, slide[k] * scale, slide[k]);
        vf last_a = pl_select_f(rubs, new_a[k] + back * t->give_a, new_a[k]);
        vf last_b = pl_select_f(rubs, new_b[k] - back * t->give_b, new_b[k]);
        a[k] = pl_select_f(which, last_a, a[k]);
        b[k] = pl_select_f(which, last_b, b[k]);
    }
    store(at_a, a);
    store(at_b, b);
    return which;
}

/* Returns whether one that was swept was moved by more than a little of what it took in all. */
static bool resolve(pl_contact *contact, pl_batch *batch, int first)
{
    const int32_t *a = batch->a + first, *b = batch->b + first;
    float *acted = (float *)batch->acted + first;
    vtouch t;
    push done;
    for (int k = 0; k < PL_TOUCH_VALUES; k++)
        ((vf *)&t)[k] = pl_load_f(batch->values[k] + first);
    vi which = press(contact, &t, a, b, &done);
    if (pl_any_f(t.recover > 0.0f))
        which |= part(contact, &t, a, b);
    vf pushed = pl_load_f(batch->pushed + first) + done.by;
    pl_store_f(batch->pushed + first, pushed);
    pl_store_f(batch->rubbed + first, pl_load_f(batch->rubbed + first) + done.rubbed);
    pl_store_f(acted, (vf)((vi)pl_load_f(acted) | which));
    vi swept = (vi)pl_load_f((const float *)batch->swept + first);
    return pl_any_f(swept & (done.by > PL_LITTLE * pushed));
}

/* Some touches of a batch, side by side; `nothing` behind the last. */
static void pack(const pl_contact *contact, int number, int first)
{
    pl_batch *batch = contact->batches + number;
    pl_touch *const *order = contact->order + (size_t)number * PL_BATCH;
    const float *rows[PL_W];
    for (int lane = first; lane < first + PL_W; lane++) {
        const pl_touch *t = lane < contact->batch_full[number] ? order[lane] : &contact->nothing;
        rows[lane - first] = t->n;
        batch->a[lane] = t->a;
        batch->b[lane] = t->b;
        batch->pushed[lane] = t->pushed;
        batch->rubbed[lane] = t->rubbed;
        batch->swept[lane] = t->swept & PL_SWEPT ? -1 : 0;
        batch->acted[lane] = 0;
    }
    float columns[PL_TOUCH_VALUES * PL_W] __attribute__((aligned(64)));
    pl_lanes_gather(rows, PL_TOUCH_VALUES, columns);
    for (int k = 0; k < PL_TOUCH_VALUES; k++)
        pl_store_f(batch->values[k] + first, pl_load_f(columns + k * PL_W));
}

bool PL_LANES(pl_contact_sweep)(pl_contact *contact, int from, int to, bool fresh)
{
    bool moved = false;
    for (int i = from; i < to; i++)
        for (int k = 0; k < contact->batch_full[i]; k += PL_W) {
            if (fresh)
                pack(contact, i, k);
            moved |= resolve(contact, contact->batches + i, k);
        }
    PL_LANES_LEAVE();
    return moved;
}
