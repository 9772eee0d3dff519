/* Broad phase: who might meet whom until the rows are made again. Boxes of clumps against the tree, then one particle against
   sixteen, moving on straight lines for the horizon, with the slack of both. */
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

/* ---- Who has left its path ------------------------------------------------------------------------ */

static bool clump_strayed(const pl_contact *contact, int clump, const float error[3], float square)
{
    const pl_clump_places *now = contact->places + clump, *mark = contact->marks + clump;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(now->x + k) - pl_load_f(mark->x + k) + error[0];
        vf y = pl_load_f(now->y + k) - pl_load_f(mark->y + k) + error[1];
        vf z = pl_load_f(now->z + k) - pl_load_f(mark->z + k) + error[2];
        /* Not "greater": what is no number has strayed. */
        if (!pl_all_f(x * x + y * y + z * z <= square))
            return true;
    }
    return false;
}

void PL_LANES(pl_contact_stray)(pl_contact *contact, int first, int last, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    for (int b = first; b < last && !buffer->strayed; b++) {
        const pl_contact_body *body = contact->bodies + b;
        double since = contact->time - body->mark_time;
        float error[3], square = body->slack * body->slack;
        if (body->asleep)
            continue;
        for (int k = 0; k < 3; k++)
            error[k] = (float)(body->base[k] - body->mark_base[k] - since * body->mark_velocity[k]);
        for (int c = 0; c < body->clumps->count && !buffer->strayed; c++)
            buffer->strayed = clump_strayed(contact, body->first_clump + c, error, square);
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
    float room;        /* slack of both */
    float since,
        horizon; /* seconds before and after now: rows serve the sub-step that has just been solved, too */
} course;

static uint32_t may_touch(const pl_contact *contact, int particle, int clump, const course *way)
{
    const pl_clump_places *mine = contact->places + particle / PL_CLUMP;
    const pl_clump_places *others = contact->places + clump;
    const float *radius = contact->radius + (size_t)clump * PL_CLUMP;
    int at = particle % PL_CLUMP;
    float px = way->offset[0] + mine->x[at], py = way->offset[1] + mine->y[at],
          pz = way->offset[2] + mine->z[at], reach = contact->radius[particle] + way->room;
    vf vx = pl_splat_f(way->velocity[0]), vy = pl_splat_f(way->velocity[1]),
       vz = pl_splat_f(way->velocity[2]);
    float square = way->velocity[0] * way->velocity[0] + way->velocity[1] * way->velocity[1] +
                   way->velocity[2] * way->velocity[2];
    float inverse = square > 1e-30f ? 1 / square : 0;
    uint32_t result = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = px - pl_load_f(others->x + k), y = py - pl_load_f(others->y + k),
           z = pz - pl_load_f(others->z + k), r = reach + pl_load_f(radius + k);
        vf t = -(x * vx + y * vy + z * vz) * inverse;
        t = pl_min_f(pl_max_f(t, pl_splat_f(way->since)), pl_splat_f(way->horizon));
        x += t * vx;
        y += t * vy;
        z += t * vz;
        result |= bits_of(x * x + y * y + z * z < r * r) << k;
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
    /* What rounding may have taken from the distance. */
    way.room += 1e-6f * (__builtin_fabsf(way.offset[0]) + __builtin_fabsf(way.offset[1]) +
                         __builtin_fabsf(way.offset[2]));
    return way;
}

static bool add_rows(const pl_contact *contact, pl_contact_buffer *buffer, int clump, int other)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[other];
    course way = course_between(contact, a, b);
    for (uint32_t mine = contact->used[clump]; mine; mine &= mine - 1) {
        int place = __builtin_ctz(mine), particle = clump * PL_CLUMP + place;
        uint32_t mask = may_touch(contact, particle, other, &way) & contact->used[other];
        if (mask && a == b) {
            int32_t own = a->clumps->particle[particle - a->first_clump * PL_CLUMP];
            mask &= ~apart_in(a->clumps, own, other - a->first_clump);
            if (clump == other) /* each pair once */
                mask &= ~((2u << place) - 1);
        }
        if (!mask)
            continue;
        if (buffer->row_count == buffer->row_capacity)
            return false;
        buffer->rows[buffer->row_count++] = (pl_row){particle, other, mask};
    }
    return true;
}

void PL_LANES(pl_contact_rows)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    pl_segment *segment = contact->row_segments + block;
    int begin = block * PL_CLUMPS_PER_BLOCK, end = begin + PL_CLUMPS_PER_BLOCK;
    *segment = (pl_segment){worker, buffer->row_count, 0, false};
    for (int clump = begin; clump < end && clump < contact->clump_count; clump++) {
        if (contact->bodies[contact->body_of[clump]].asleep)
            continue;
        int count = query(contact, clump, buffer->found);
        sort_found(buffer->found, count);
        for (int i = 0; i < count && !segment->full; i++)
            segment->full = !add_rows(contact, buffer, clump, buffer->found[i]);
    }
    if (segment->full)
        buffer->row_count = segment->first;
    segment->count = buffer->row_count - segment->first;
    PL_LANES_LEAVE();
}
