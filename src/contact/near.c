/* Which clumps may reach which colliders until groups are made again: boxes of colliders against
   the tree of clumps. */
#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "math/quat.h"

/* ---- Room ------------------------------------------------------------------------------------ */

void pl_contact_free_colliders(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    void *arrays[] = {all->colliders, all->near,  all->hits,
                      all->shoves,    all->items, all->near_start};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_memory_free(contact->memory, arrays[i]);
}

/* A larger array with what was in the old one. */
static bool enlarge(pl_memory *memory, void *array, int count, int capacity, size_t size)
{
    void *old, *fresh = pl_memory_alloc(memory, (size_t)capacity, size);
    if (!fresh)
        return false;
    memcpy(&old, array, sizeof old);
    if (count)
        memcpy(fresh, old, (size_t)count * size);
    pl_memory_free(memory, old);
    memcpy(array, &fresh, sizeof fresh);
    return true;
}

/* Room for one more pair in the list that is sorted; the rest follows when the number is known. */
static bool grow_items(pl_contact *contact, int count)
{
    pl_contact_colliders *all = &contact->against;
    if (count < all->near_capacity)
        return true;
    int capacity = count + count / 2 + 64, held = all->near_capacity;
    if (!enlarge(contact->memory, &all->items, held, 2 * capacity, sizeof *all->items))
        return false;
    /* Arrays of different sizes until the last one is there: the smaller capacity counts. */
    if (!enlarge(contact->memory, &all->near, held, capacity, sizeof *all->near))
        return false;
    all->near_capacity = capacity;
    return true;
}

static bool grow_blocks(pl_contact *contact, int near, int shoves)
{
    pl_contact_colliders *all = &contact->against;
    pl_memory *memory = contact->memory;
    if (near > all->hit_capacity) {
        int capacity = near + near / 2 + 64;
        if (!enlarge(memory, &all->hits, all->hit_capacity, capacity, sizeof *all->hits))
            return false;
        all->hit_capacity = capacity;
    }
    if (shoves > all->shove_capacity) {
        if (!enlarge(memory, &all->shoves, all->shove_capacity, shoves + shoves / 2 + 8,
                     sizeof *all->shoves))
            return false;
        all->shove_capacity = shoves + shoves / 2 + 8;
    }
    return true;
}

static bool grow_starts(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    int capacity = contact->body_capacity + 1;
    if (capacity <= all->start_capacity)
        return true;
    if (!enlarge(contact->memory, &all->near_start, 0, capacity, sizeof *all->near_start))
        return false;
    all->start_capacity = capacity;
    return true;
}

/* A pair for each clump, for a start: then most worlds need no more while they step. */
pl_status pl_contact_reserve_near(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    int clumps = contact->clump_capacity;
    if (!all->capacity)
        return PL_OK;
    bool good =
        grow_starts(contact) && grow_items(contact, clumps) && grow_blocks(contact, clumps, 0);
    return good ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_contact_reserve_colliders(pl_contact *contact, int count)
{
    pl_contact_colliders *all = &contact->against;
    if (count > all->capacity) {
        int capacity = count + count / 2 + 8;
        if (!enlarge(contact->memory, &all->colliders, all->count, capacity,
                     sizeof *all->colliders))
            return PL_ERROR_MEMORY;
        all->capacity = capacity;
    }
    return pl_contact_reserve_near(contact);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void add_pose(const pl_contact_collider *c, const pl_placement *pose, bool round,
                     double box[6])
{
    const double *q = pose->rotation, *o = c->outline;
    pl_mat3 r = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    double radius = 0;
    for (int k = 0; k < 3; k++) {
        double far = fmax(fabs(o[k]), fabs(o[3 + k]));
        radius += far * far;
    }
    radius = sqrt(radius);
    for (int k = 0; k < 3; k++) {
        double low = -radius, high = radius;
        if (!round) {
            low = high = 0;
            for (int i = 0; i < 3; i++) {
                double a = r.m[k][i] * o[i], b = r.m[k][i] * o[3 + i];
                low += fmin(a, b);
                high += fmax(a, b);
            }
        }
        box[k] = fmin(box[k], pose->position[k] + low);
        box[3 + k] = fmax(box[3 + k], pose->position[k] + high);
    }
}

/* On its way it turns: then the sphere around it counts. */
void pl_contact_collider_box(const pl_contact_collider *c, const pl_placement *a,
                             const pl_placement *b, double box[6])
{
    bool plane = c->kind == PL_COLLIDER_PLANE;
    bool turns = memcmp(a->rotation, b->rotation, sizeof a->rotation) != 0;
    for (int k = 0; k < 3; k++) {
        box[k] = plane ? -INFINITY : INFINITY;
        box[3 + k] = -box[k];
    }
    if (plane || (c->kind == PL_COLLIDER_MESH && !c->solid->count))
        return;
    add_pose(c, a, turns, box);
    add_pose(c, b, turns, box);
    for (int k = 0; k < 3; k++) {
        double pad = 1e-12 * (fabs(box[k]) + fabs(box[3 + k]));
        box[k] -= pad;
        box[3 + k] += pad;
    }
}

bool pl_contact_colliders_strayed(const pl_contact *contact)
{
    const pl_contact_colliders *all = &contact->against;
    for (int i = 0; all->yielding && i < all->count; i++) {
        const pl_contact_collider *c = all->colliders + i;
        double box[6];
        if (!(c->yield > 0) || c->kind == PL_COLLIDER_PLANE)
            continue;
        pl_contact_collider_box(c, &c->from, &c->to, box);
        for (int k = 0; k < 3; k++)
            if (box[k] < c->reach[k] || box[3 + k] > c->reach[3 + k])
                return true;
    }
    return false;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* Whether a part of the box may come to lie below the plane. */
static bool is_below(const pl_contact_collider *c, const pl_placement *pose, const double box[6])
{
    const double *q = pose->rotation;
    pl_mat3 r = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    double lowest = 0;
    (void)c;
    for (int k = 0; k < 3; k++) {
        double n = r.m[k][1];
        lowest += n * (box[n > 0 ? k : 3 + k] - pose->position[k]);
    }
    return lowest < 0;
}

static bool is_near_plane(const pl_contact_collider *c, const double box[6])
{
    bool turns = memcmp(c->from.rotation, c->ahead.rotation, sizeof c->from.rotation) != 0;
    return turns || c->yield > 0 || is_below(c, &c->from, box) || is_below(c, &c->ahead, box);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static bool may_reach(const pl_contact *contact, const pl_contact_collider *c, const double box[6])
{
    double margin = contact->against.margin, grown[6];
    for (int k = 0; k < 3; k++) {
        grown[k] = box[k] - margin;
        grown[3 + k] = box[3 + k] + margin;
    }
    if (c->kind == PL_COLLIDER_PLANE)
        return is_near_plane(c, grown);
    for (int k = 0; k < 3; k++)
        if (grown[k] > c->reach[3 + k] || grown[3 + k] < c->reach[k])
            return false;
    return true;
}

static void clump_box(const pl_contact *contact, const float *box, int stride, double out[6])
{
    for (int k = 0; k < 3; k++) {
        out[k] = contact->anchor[k] + (double)box[k * stride];
        out[3 + k] = contact->anchor[k] + (double)box[(3 + k) * stride];
    }
}

static bool may_meet(const pl_contact *contact, const pl_contact_collider *c, int clump)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[clump];
    return (c->category & body->mask) && (body->category & c->mask);
}

static bool add_item(pl_contact *contact, int *count, int clump, int collider)
{
    if (!grow_items(contact, *count)) {
        contact->lost++;
        return false;
    }
    contact->against.items[(*count)++] =
        (pl_sort_item){(uint64_t)(uint32_t)clump << 32 | (uint32_t)collider, 0};
    return true;
}

static void query(pl_contact *contact, int number, int *count)
{
    const pl_contact_collider *c = contact->against.colliders + number;
    int32_t stack[PL_QUERY_NODES];
    int depth[PL_QUERY_NODES], top = 0;
    for (int i = contact->root_count - 1; i >= 0; i--) {
        stack[top] = contact->root + i;
        depth[top++] = contact->depth;
    }
    while (top > 0) {
        const pl_box_node *node = contact->nodes + stack[--top];
        int level = depth[top];
        for (int k = 0; k < PL_BRANCHES; k++) {
            double box[6];
            if (node->child[k] < 0)
                continue;
            clump_box(contact, &node->low[0][k], PL_BRANCHES, box);
            if (!may_reach(contact, c, box))
                continue;
            if (level > 0) {
                stack[top] = node->child[k];
                depth[top++] = level - 1;
            } else if (may_meet(contact, c, node->child[k])) {
                add_item(contact, count, node->child[k], number);
            }
        }
    }
}

/* Pairs from the sorted list; those of before (`kept`) keep their blocks and what was found. */
static void fill_near(pl_contact *contact, int count, int kept)
{
    pl_contact_colliders *all = &contact->against;
    int shoves = all->shove_count, made = kept;
    for (int i = 0; i < count; i++) {
        int collider = (int)(uint32_t)all->items[i].key, clump = (int)(all->items[i].key >> 32);
        bool yields = all->colliders[collider].yield > 0;
        all->near[made] = (pl_near){
            .clump = clump, .collider = collider, .block = made, .shoves = yields ? shoves++ : -1};
        contact->wanted[clump] |= PL_WANTED;
        made++;
    }
    if (made && (!grow_starts(contact) || !grow_blocks(contact, made, shoves))) {
        contact->lost++;
        made = shoves = 0;
    }
    all->near_count = made;
    all->shove_count = shoves;
}

static void note_starts(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    for (int b = 0, i = 0; all->near_count && b <= contact->body_count; b++) {
        int first = b < contact->body_count ? contact->bodies[b].first_clump : contact->clump_count;
        while (i < all->near_count && all->near[i].clump < first)
            i++;
        all->near_start[b] = i;
    }
}

static void note_reach(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    float largest = 0;
    for (int b = 0; b < contact->body_count; b++)
        largest = fmaxf(largest, contact->bodies[b].largest);
    all->margin = 0.5 * (double)largest;
    for (int i = 0; i < all->count; i++) {
        pl_contact_collider *c = all->colliders + i;
        pl_contact_collider_box(c, &c->from, &c->ahead, c->reach);
        for (int k = 0; k < 3 && c->yield > 0; k++) {
            double slack = all->margin + 0.1 * (c->reach[3 + k] - c->reach[k]);
            c->reach[k] -= slack;
            c->reach[3 + k] += slack;
        }
    }
}

void pl_contact_note_near(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    int count = 0;
    all->near_count = all->shove_count = 0;
    note_reach(contact);
    for (int i = 0; i < all->count; i++)
        query(contact, i, &count);
    if (count)
        pl_sort(all->items, all->items + count, (size_t)count);
    fill_near(contact, count, 0);
    note_starts(contact);
}

/* ---- Late pairs ------------------------------------------------------------------------------ */

/* Whether contacts have moved a particle of the clump beyond the margin; its box then reaches to
   where it is now. */
static bool outgrew(pl_contact *contact, int clump)
{
    double limit = contact->against.margin;
    float most = 0;
    for (int p = clump * PL_CLUMP; p < (clump + 1) * PL_CLUMP; p++)
        for (int k = 0; k < 3; k++) {
            float by = fabsf(contact->change[p][k]) + fabsf(contact->shift[p][k]);
            most = by > most ? by : most;
        }
    if (!((double)most * 1.8 > limit))
        return false;
    const pl_contact_body *body = contact->bodies + contact->body_of[clump];
    float *box = contact->boxes + 6 * (size_t)clump;
    for (int i = 0; i < PL_CLUMP; i++)
        for (int k = 0; k < 3; k++) {
            size_t p = (size_t)clump * PL_CLUMP + (size_t)i;
            double x = body->base[k] - contact->anchor[k] + (double)contact->primitives[p].x[k] +
                       (double)contact->change[p][k] + (double)contact->shift[p][k];
            double r = (double)contact->radius[p] + 3e-7 * fabs(x);
            box[k] = fminf(box[k], (float)(x - r));
            box[3 + k] = fmaxf(box[3 + k], (float)(x + r));
        }
    return true;
}

static bool is_paired(const pl_contact_colliders *all, int first, int clump, int collider)
{
    for (int i = first; i < all->near_count && all->near[i].clump == clump; i++)
        if (all->near[i].collider == collider)
            return true;
    return false;
}

/* By clump and collider again, after pairs were added behind. Those before keep what they hold. */
static void sort_near(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 1; i < all->near_count; i++) {
        pl_near item = all->near[i];
        int k = i;
        for (; k > 0 &&
               (all->near[k - 1].clump > item.clump || (all->near[k - 1].clump == item.clump &&
                                                        all->near[k - 1].collider > item.collider));
             k--)
            all->near[k] = all->near[k - 1];
        all->near[k] = item;
    }
}

void pl_contact_note_late(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    int count = 0;
    for (int clump = 0, first = 0; all->shapes && clump < contact->clump_count; clump++) {
        double box[6];
        while (first < all->near_count && all->near[first].clump < clump)
            first++;
        if (!contact->touched[clump] || !outgrew(contact, clump))
            continue;
        contact->stale = true;
        clump_box(contact, contact->boxes + 6 * (size_t)clump, 1, box);
        for (int i = 0; i < all->count; i++)
            if (!(all->colliders[i].yield > 0) && may_meet(contact, all->colliders + i, clump) &&
                may_reach(contact, all->colliders + i, box) && !is_paired(all, first, clump, i) &&
                !add_item(contact, &count, clump, i))
                return;
    }
    if (!count)
        return;
    int kept = all->near_count;
    if (!grow_items(contact, kept + count)) {
        contact->lost++;
        return;
    }
    fill_near(contact, count, kept);
    sort_near(contact);
    note_starts(contact);
}
