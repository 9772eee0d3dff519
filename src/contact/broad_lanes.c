/* Broad phase: which clumps might meet until the groups are made again. Boxes of clumps against the
   tree, then spheres around them, moving on straight lines for the horizon, with the slack of
   both. */
#include <string.h>

#include "contact/contact_lanes.h"
#include "math/lanes.h"

/* ---- Who has left its path ------------------------------------------------------------------- */

typedef float eight __attribute__((vector_size(32)));
typedef float four __attribute__((vector_size(16)));

/* The mean of sixteen numbers: halves against each other. */
PL_LANES_INLINE float mean_of(const float *v)
{
    eight low, high, sums;
    four left, right;
    memcpy(&low, v, sizeof low);
    memcpy(&high, v + 8, sizeof high);
    sums = low + high;
    memcpy(&left, &sums, sizeof left);
    memcpy(&right, (const float *)&sums + 4, sizeof right);
    left += right;
    return ((left[0] + left[2]) + (left[1] + left[3])) * (1.0f / PL_CLUMP);
}

/* The length of the longest of sixteen vectors plus one that is the same for all; no number when
   one of them is none. */
PL_LANES_INLINE float longest(const pl_clump_places *v, const pl_clump_places *minus,
                              const float plus[3])
{
    vf most = pl_splat_f(0);
    vi numbers = pl_splat_bits_f(-1);
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(v->x + k), y = pl_load_f(v->y + k), z = pl_load_f(v->z + k);
        if (minus)
            x -= pl_load_f(minus->x + k), y -= pl_load_f(minus->y + k),
                z -= pl_load_f(minus->z + k);
        x += plus[0], y += plus[1], z += plus[2];
        vf square = x * x + y * y + z * z;
        numbers &= square >= 0.0f;
        most = pl_max_f(square, most);
    }
    return pl_all_f(numbers) ? __builtin_sqrtf(pl_greatest_f(most)) : __builtin_nanf("");
}

/* The same of each less a part of its smallest half axis. */
PL_LANES_INLINE float excess_of(const pl_clump_places *v, const float plus[3], const float *least)
{
    vf most = pl_splat_f(-1e30f);
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(v->x + k) + plus[0], y = pl_load_f(v->y + k) + plus[1],
           z = pl_load_f(v->z + k) + plus[2];
        most = pl_max_f(
            1.0001f * pl_sqrt_f(x * x + y * y + z * z) - PL_SLOW_PART * pl_load_f(least + k), most);
    }
    return pl_greatest_f(most);
}

/* How a clump has moved, and how far it is from its path. Returns whether that is too far. */
PL_LANES_INLINE bool follow(pl_contact *contact, const pl_contact_body *body, int clump)
{
    const pl_clump_places *ways = contact->ways + clump;
    const float *path = contact->path[clump];
    pl_clump_motion *motion = contact->motion + clump;
    float *mean = motion->mean, error[3], back[3], square = 0;
    mean[0] = mean_of(ways->x), mean[1] = mean_of(ways->y), mean[2] = mean_of(ways->z);
    for (int k = 0; k < 3; k++) {
        float off = mean[k] - path[k] * (float)contact->h;
        square += off * off;
        back[k] = -mean[k];
        error[k] = (float)(body->base[k] - body->mark_base[k] -
                           (contact->time - contact->made) * (double)path[k]);
    }
    motion->swing = longest(ways, NULL, back);
    motion->excess = excess_of(ways, back, contact->least + (size_t)clump * PL_CLUMP);
    if (contact->stale)
        return true;
    motion->stray = longest(contact->places + clump, contact->marks + clump, error);
    motion->loose = motion->stray + (motion->swing + __builtin_sqrtf(square)) * 1.0001f;
    return !(motion->loose <= motion->slack);
}

void PL_LANES(pl_contact_follow)(pl_contact *contact, int body, int worker)
{
    const pl_contact_body *b = contact->bodies + body;
    bool strayed = false;
    for (int c = b->first_clump; c < b->first_clump + b->clumps->count; c++)
        strayed |= follow(contact, b, c);
    contact->buffers[worker].strayed |= strayed;
    PL_LANES_LEAVE();
}

/* ---- Boxes against the tree ------------------------------------------------------------------ */

static uint32_t hits(const pl_box_node *node, const float box[6])
{
    uint32_t result = 0;
    for (int k = 0; k < PL_BRANCHES; k += PL_W) {
        vi apart =
            (pl_load_f(node->low[0] + k) > box[3]) | (pl_load_f(node->high[0] + k) < box[0]) |
            (pl_load_f(node->low[1] + k) > box[4]) | (pl_load_f(node->high[1] + k) < box[1]) |
            (pl_load_f(node->low[2] + k) > box[5]) | (pl_load_f(node->high[2] + k) < box[2]);
        result |= (~pl_bits_f(apart) & (uint32_t)((UINT64_C(1) << PL_W) - 1)) << k;
    }
    return result;
}

static bool may_meet(const pl_contact *contact, int clump, int other)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[other];
    if (a == b)
        return a->self;
    return (a->category & b->mask) && (b->category & a->mask);
}

/* Those at or behind the clump itself in the order of clumps; an awake one also finds the sleeping
   before it, which do not look. */
static int query(const pl_contact *contact, int clump, int32_t *found)
{
    int32_t stack[PL_QUERY_NODES];
    int depth[PL_QUERY_NODES], top = 0, count = 0;
    const float *box = contact->boxes + 6 * (size_t)clump;
    int first = contact->depth == 0 && !contact->some_sleep ? clump / PL_BRANCHES : 0;
    for (int i = contact->root_count - 1; i >= first; i--) {
        stack[top] = contact->root + i;
        depth[top++] = contact->depth;
    }
    while (top > 0) {
        const pl_box_node *node = contact->nodes + stack[--top];
        int level = depth[top];
        for (uint32_t mask = hits(node, box); mask; mask &= mask - 1) {
            int32_t child = node->child[__builtin_ctz(mask)];
            if (child < 0) /* a box without bounds meets even nothing */
                continue;
            if (level > 0) {
                stack[top] = child;
                depth[top++] = level - 1;
            } else {
                bool mine = child >= clump || contact->bodies[contact->body_of[child]].asleep;
                if (mine && may_meet(contact, clump, child))
                    found[count++] = child;
            }
        }
    }
    return count;
}

/* Shell sort: short lists mostly, and never a bad case. */
static void sort_found(int32_t *found, int count)
{
    static const int gaps[] = {8929, 3905, 2161, 929, 505, 209, 109, 41, 19, 5, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int i = gaps[g]; i < count; i++) {
            int32_t value = found[i];
            int k = i;
            for (; k >= gaps[g] && found[k - gaps[g]] > value; k -= gaps[g])
                found[k] = found[k - gaps[g]];
            found[k] = value;
        }
}

/* ---- Two clumps ------------------------------------------------------------------------------ */

/* The clumps keep to their paths, one seen from the other: spheres `gap` apart now, nearer by at
   most `closing`. False when they do not come near enough to touch while groups are good, whatever
   becomes of their slack. The sub-step that has just been solved counts: groups serve it, too. */
static bool may_touch(const pl_contact *contact, int clump, int other, float *gap, float *closing)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[other];
    const float *from = contact->spheres[clump], *to = contact->spheres[other];
    float d[3], v[3], square = 0, along = 0, speed = 0, rounding = a->largest + b->largest;
    for (int k = 0; k < 3; k++) {
        float offset = (float)(a->base[k] - b->base[k]);
        d[k] = offset + from[k] - to[k];
        v[k] = contact->path[clump][k] - contact->path[other][k];
        rounding += __builtin_fabsf(offset) + __builtin_fabsf(from[k]) + __builtin_fabsf(to[k]);
        square += d[k] * d[k];
        along += d[k] * v[k];
        speed += v[k] * v[k];
    }
    float reach = from[3] + to[3] + 1e-6f * rounding;
    float t = speed > 1e-30f ? -along / speed : 0, before = (float)-contact->h;
    float after = (float)contact->horizon;
    *gap = __builtin_sqrtf(square) - reach;
    *closing = __builtin_sqrtf(speed) * 1.0001f;
    t = t < before ? before : t > after ? after : t;
    reach += contact->motion[clump].slack + contact->motion[other].slack;
    square = 0;
    for (int k = 0; k < 3; k++) {
        d[k] += t * v[k];
        square += d[k] * d[k];
    }
    return square < reach * reach;
}

/* False when there is no room. */
static bool add_group(const pl_contact *contact, pl_contact_buffer *buffer, int clump, int other)
{
    float gap, closing;
    if (!may_touch(contact, clump, other, &gap, &closing))
        return true;
    if (buffer->group_count == buffer->group_capacity)
        return false;
    /* Nobody has looked closely yet. */
    buffer->groups[buffer->group_count++] =
        (pl_group){clump, other, closing, gap, -__builtin_inff(), 0};
    return true;
}

void PL_LANES(pl_contact_groups)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    pl_segment *segment = contact->group_segments + block;
    int begin = block * PL_CLUMPS_PER_BLOCK, end = begin + PL_CLUMPS_PER_BLOCK;
    *segment = (pl_segment){.worker = worker, .first = buffer->group_count};
    for (int clump = begin; clump < end && clump < contact->clump_count; clump++) {
        if (contact->bodies[contact->body_of[clump]].asleep)
            continue;
        int count = query(contact, clump, buffer->found);
        if (contact->depth)
            sort_found(buffer->found, count);
        for (int i = 0; i < count && !segment->full; i++)
            segment->full = !add_group(contact, buffer, clump, buffer->found[i]);
    }
    if (segment->full)
        buffer->group_count = segment->first;
    segment->count = buffer->group_count - segment->first;
    PL_LANES_LEAVE();
}
