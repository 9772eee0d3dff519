/* Broad phase: who might meet whom until the rows are made again. Boxes of clumps against the tree, then one particle against
   sixteen, moving on straight lines for the horizon, with the slack of both. */
#include <string.h>

#include "contact/contact_lanes.h"
#include "math/lanes.h"

/* Bit k: lane k of the sixteen starting at `first` of a mask vector. */
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

/* Bits of a < b: compilers make a vector of a comparison before they make bits of it. */
PL_LANES_INLINE uint32_t bits_less(vf a, vf b)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
    return bits_of(a < b);
#endif
}

/* ---- Who has left its path ------------------------------------------------------------------------ */

/* The length of the longest of sixteen vectors plus one that is the same for all. */
PL_LANES_INLINE float longest(const pl_clump_places *v, const pl_clump_places *minus,
                              const float plus[3])
{
    vf most = pl_splat_f(0);
    float lanes[PL_W] __attribute__((aligned(64))), square = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(v->x + k), y = pl_load_f(v->y + k), z = pl_load_f(v->z + k);
        if (minus)
            x -= pl_load_f(minus->x + k), y -= pl_load_f(minus->y + k),
                z -= pl_load_f(minus->z + k);
        x += plus[0], y += plus[1], z += plus[2];
        vf length = x * x + y * y + z * z;
        /* Not "greater": what is no number has strayed for good. */
        most = pl_select_f(length <= most, most, length);
    }
    pl_store_f(lanes, most);
    for (int lane = 0; lane < PL_W; lane++)
        square = lanes[lane] <= square ? square : lanes[lane];
    return __builtin_sqrtf(square);
}

void PL_LANES(pl_contact_stray)(pl_contact *contact, int first, int last, int worker)
{
    for (int b = first; b < last; b++) {
        const pl_contact_body *body = contact->bodies + b;
        float error[3], mean[3], square = 0;
        double since = contact->time - body->mark_time;
        if (body->asleep)
            continue;
        for (int k = 0; k < 3; k++) {
            float off = (float)(body->velocity[k] - body->mark_velocity[k]);
            square += off * off;
            mean[k] = -(float)(body->velocity[k] * contact->h);
            error[k] = (float)(body->base[k] - body->mark_base[k] - since * body->mark_velocity[k]);
        }
        float turned_off = __builtin_sqrtf(square) * (float)contact->h;
        for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++) {
            contact->swing[c] = longest(contact->ways + c, NULL, mean);
            if (contact->stale)
                continue;
            contact->stray[c] = longest(contact->places + c, contact->marks + c, error);
            contact->loose[c] = contact->stray[c] + (contact->swing[c] + turned_off) * 1.0001f;
            contact->buffers[worker].strayed |= !(contact->loose[c] <= body->slack);
        }
    }
    PL_LANES_LEAVE();
}

/* ---- Boxes against the tree ------------------------------------------------------------------------ */

static uint32_t hits(const pl_box_node *node, const float box[6])
{
    uint32_t result = 0;
    for (int k = 0; k < PL_BRANCHES; k += PL_W) {
        vi apart =
            (pl_load_f(node->low[0] + k) > box[3]) | (pl_load_f(node->high[0] + k) < box[0]) |
            (pl_load_f(node->low[1] + k) > box[4]) | (pl_load_f(node->high[1] + k) < box[1]) |
            (pl_load_f(node->low[2] + k) > box[5]) | (pl_load_f(node->high[2] + k) < box[2]);
        result |= (~bits_of(apart) & (uint32_t)((UINT64_C(1) << PL_W) - 1)) << k;
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

/* Those at or behind the clump itself in the order of clumps; an awake one also finds the sleeping before it, which do not look. */
static int query(const pl_contact *contact, int clump, int32_t *found)
{
    int32_t stack[PL_BRANCHES * 8];
    int depth[PL_BRANCHES * 8], top = 0, count = 0;
    const float *box = contact->boxes + 6 * (size_t)clump;
    if (contact->root < 0)
        return 0;
    stack[0] = contact->root;
    depth[top++] = contact->depth;
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

/* ---- One particle against sixteen ---------------------------------------------------------------- */

typedef struct course {
    float offset[3];   /* base of the particle's body − base of the clump's */
    float velocity[3]; /* its body's − the clump's body's */
    float room;        /* slack of both, and what rounding may have taken from the distance */
    float rounding;
    float inverse; /* of the square of the velocity; 0 where there is none */
    float since,
        horizon; /* seconds before and after now: rows serve the sub-step that has just been solved, too */
} course;

/* The lanes' least: halves against each other. */
PL_LANES_INLINE float least_of(vf v)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return _mm512_reduce_min_ps((__m512)v);
#else
    float lanes[PL_W] __attribute__((aligned(64)));
    pl_store_f(lanes, v);
    for (int half = PL_W / 2; half; half /= 2)
        for (int lane = 0; lane < half; lane++)
            lanes[lane] = lanes[lane + half] < lanes[lane] ? lanes[lane + half] : lanes[lane];
    return lanes[0];
#endif
}

/* Which particles of a clump a ball at x (from the clump's base, moving at v against it) may touch, leaving some room; `square` gets the
   least of (distance of the centres)² − (sum of the radii)² on the way. */
PL_LANES_INLINE uint32_t may_touch(const pl_contact *contact, const float x[3], float radius,
                                   const float v[3], int clump, const course *way, vf *square)
{
    const pl_clump_places *others = contact->places + clump;
    const float *radii = contact->radius + (size_t)clump * PL_CLUMP;
    uint32_t result = 0;
    vf room = pl_splat_f(way->room);
    *square = pl_splat_f(1e30f);
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf dx = x[0] - pl_load_f(others->x + k), dy = x[1] - pl_load_f(others->y + k),
           dz = x[2] - pl_load_f(others->z + k), r = radius + pl_load_f(radii + k);
        vf t = -(dx * v[0] + dy * v[1] + dz * v[2]) * way->inverse;
        t = pl_min_f(pl_max_f(t, pl_splat_f(way->since)), pl_splat_f(way->horizon));
        dx += t * v[0];
        dy += t * v[1];
        dz += t * v[2];
        vf apart = dx * dx + dy * dy + dz * dz, most = r + room;
        *square = pl_min_f(*square, apart - r * r);
        result |= bits_less(apart, most * most) << k;
    }
    return result;
}

/* Whom a particle of the same body never touches in this clump. */
static uint32_t apart_in(const pl_clumps *clumps, int32_t particle, int clump)
{
    for (int32_t k = clumps->apart_start[particle]; k < clumps->apart_start[particle + 1]; k++)
        if (clumps->apart_clump[k] == clump)
            return clumps->apart_mask[k];
    return 0;
}

static course course_between(const pl_contact *contact, const pl_contact_body *a,
                             const pl_contact_body *b)
{
    course way = {.room = a->slack + b->slack,
                  .since = (float)-contact->h,
                  .horizon = (float)contact->horizon};
    for (int k = 0; k < 3; k++) {
        way.offset[k] = (float)(a->base[k] - b->base[k]);
        way.velocity[k] = (float)(a->velocity[k] - b->velocity[k]);
    }
    way.rounding = 1e-6f * (__builtin_fabsf(way.offset[0]) + __builtin_fabsf(way.offset[1]) +
                            __builtin_fabsf(way.offset[2]) + a->largest + b->largest);
    way.room += way.rounding;
    float square = way.velocity[0] * way.velocity[0] + way.velocity[1] * way.velocity[1] +
                   way.velocity[2] * way.velocity[2];
    way.inverse = square > 1e-30f ? 1 / square : 0;
    return way;
}

/* The same for the spheres around two clumps. */
static bool clumps_may_touch(const pl_contact *contact, int clump, int other, const course *way)
{
    const float *a = contact->spheres[clump], *b = contact->spheres[other], *v = way->velocity;
    float d[3], square = 0, along = 0, reach = a[3] + b[3] + way->room;
    for (int k = 0; k < 3; k++) {
        d[k] = way->offset[k] + a[k] - b[k];
        along += d[k] * v[k];
    }
    float t = -along * way->inverse;
    t = t < way->since ? way->since : t > way->horizon ? way->horizon : t;
    for (int k = 0; k < 3; k++) {
        d[k] += t * v[k];
        square += d[k] * d[k];
    }
    return square < reach * reach;
}

/* Which particles of the clump come near the sphere around the other. */
static uint32_t near_clump(const pl_contact *contact, int clump, int other, const course *way)
{
    const float *sphere = contact->spheres[other];
    float x[3], v[3];
    vf square;
    for (int k = 0; k < 3; k++) {
        x[k] = sphere[k] - way->offset[k];
        v[k] = -way->velocity[k];
    }
    return may_touch(contact, x, sphere[3], v, clump, way, &square) & contact->used[clump];
}

/* Pairs of the same body that never touch, or come twice. */
static uint32_t excused(const pl_contact_body *body, int32_t particle, int other)
{
    int32_t own = body->clumps->particle[particle - body->first_clump * PL_CLUMP];
    uint32_t mask = apart_in(body->clumps, own, other - body->first_clump);
    if (particle / PL_CLUMP == other)
        mask |= (2u << particle % PL_CLUMP) - 1;
    return mask;
}

/* The rows of these particles of a clump; those that are empty are written as well, but not counted. */
static void write_rows(const pl_contact *contact, pl_contact_buffer *buffer, uint32_t mine,
                       const course *way, pl_group *group)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[group->clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[group->other];
    const pl_clump_places *places = contact->places + group->clump;
    float thick = contact->thick[group->other];
    uint32_t used = contact->used[group->other];
    int32_t count = buffer->row_count;
    for (; mine; mine &= mine - 1) {
        int place = __builtin_ctz(mine), particle = group->clump * PL_CLUMP + place;
        const float x[3] = {places->x[place] + way->offset[0], places->y[place] + way->offset[1],
                            places->z[place] + way->offset[2]};
        float radius = contact->radius[particle];
        vf square;
        uint32_t mask =
            may_touch(contact, x, radius, way->velocity, group->other, way, &square) & used;
        if (a == b)
            mask &= ~excused(a, particle, group->other);
        /* d² − r² = (d − r)(d + r): a bound on the gap d − r without a root, as d + r is no more than 2 r + room. */
        float gap = least_of(square) / (2 * (radius + thick) + way->room) - way->rounding;
        float least = gap < group->gap ? gap : group->gap;
        group->gap = mask ? least : group->gap;
        buffer->gaps[count] = gap;
        buffer->rows[count] = (uint32_t)place << 16 | mask;
        count += mask != 0;
    }
    group->count = count - group->first;
    buffer->row_count = count;
}

/* False when there is no room. */
static bool add_rows(const pl_contact *contact, pl_contact_buffer *buffer, int clump, int other)
{
    course way = course_between(contact, contact->bodies + contact->body_of[clump],
                                contact->bodies + contact->body_of[other]);
    if (!clumps_may_touch(contact, clump, other, &way))
        return true;
    if (buffer->row_count + PL_CLUMP > buffer->row_capacity ||
        buffer->group_count == buffer->group_capacity)
        return false;
    pl_group *group = buffer->groups + buffer->group_count;
    *group = (pl_group){clump, other, buffer->row_count, 0, way.room};
    write_rows(contact, buffer, near_clump(contact, clump, other, &way), &way, group);
    buffer->group_count += group->count > 0;
    return true;
}

void PL_LANES(pl_contact_rows)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    pl_segment *segment = contact->group_segments + block;
    int begin = block * PL_CLUMPS_PER_BLOCK, end = begin + PL_CLUMPS_PER_BLOCK;
    int32_t row_count = buffer->row_count;
    *segment = (pl_segment){worker, buffer->group_count, 0, false};
    for (int clump = begin; clump < end && clump < contact->clump_count; clump++) {
        if (contact->bodies[contact->body_of[clump]].asleep)
            continue;
        int count = query(contact, clump, buffer->found);
        sort_found(buffer->found, count);
        for (int i = 0; i < count && !segment->full; i++)
            segment->full = !add_rows(contact, buffer, clump, buffer->found[i]);
    }
    if (segment->full) {
        buffer->group_count = segment->first;
        buffer->row_count = row_count;
    }
    segment->count = buffer->group_count - segment->first;
    PL_LANES_LEAVE();
}
