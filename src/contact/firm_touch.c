/* The touches of stiff bodies (firm.c), found once per sub-step: between bodies and with colliders,
   in the order in which they were found. firm_fill_lanes.c computes what they are made of. */
#include <math.h>

#include "contact/firm_parts.h"

/* ---- Touches --------------------------------------------------------------------------------- */

static void free_touches(pl_memory *memory, const pl_contact_firm *firm)
{
    void *arrays[] = {firm->touches, firm->rows,  firm->yields, firm->origins,
                      firm->stops,   firm->table, firm->chain,  firm->sections};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(memory, arrays[k]);
}

bool pl_firm_make_room(pl_contact *contact, int count)
{
    pl_contact_firm *firm = &contact->firm;
    if (count <= firm->touch_capacity)
        return true;
    int capacity = count + count / 2 + 16, size = 32;
    size_t had = (size_t)firm->touch_count;
    while (size < 2 * capacity)
        size *= 2;
    pl_contact_firm fresh = *firm;
    fresh.touches = PL_NEW(contact->memory, pl_firm_touch, capacity);
    fresh.rows = PL_NEW(contact->memory, pl_firm_row, (size_t)PL_FIRM_ROWS * (size_t)capacity);
    fresh.yields = PL_NEW(contact->memory, pl_firm_yields, capacity);
    fresh.origins = PL_NEW(contact->memory, pl_firm_origin, capacity);
    fresh.stops = PL_NEW(contact->memory, pl_firm_stop, capacity);
    fresh.table = PL_NEW(contact->memory, int32_t, size);
    fresh.chain = PL_NEW(contact->memory, int32_t, size / 2);
    fresh.section_capacity = pl_firm_section_room(capacity);
    fresh.sections = PL_NEW(contact->memory, pl_firm_section, fresh.section_capacity);
    fresh.touch_capacity = capacity;
    fresh.table_size = size;
    bool good = fresh.touches && fresh.rows && fresh.yields && fresh.origins && fresh.stops &&
                fresh.table && fresh.chain && fresh.sections;
    if (good && had) {
        memcpy(fresh.touches, firm->touches, sizeof *fresh.touches * had);
        memcpy(fresh.origins, firm->origins, sizeof *fresh.origins * had);
        memcpy(fresh.stops, firm->stops, sizeof *fresh.stops * had);
    }
    free_touches(contact->memory, good ? firm : &fresh);
    if (!good)
        return false;
    *firm = fresh;
    pl_firm_list_kept(contact);
    return true;
}

/* One that touches itself does it with particles: as a whole it cannot. */
bool pl_contact_is_firm(const pl_contact *contact, const pl_touch *t)
{
    if (contact->firm.whole_count < 2)
        return false;
    int32_t a = contact->body_of[t->a / PL_CLUMP], b = contact->body_of[t->b / PL_CLUMP];
    return a != b && (contact->bodies[a].whole || contact->bodies[b].whole);
}

/* All touches found in a block of clumps. */
bool pl_contact_all_are_firm(const pl_contact *contact, int block)
{
    return contact->firm.whole_count > 1 &&
           contact->firm.blocks[block].count == contact->touch_segments[block].count;
}

/* The whole that a particle belongs to; 0 = it moves on its own. */
static int32_t whole_of(const pl_contact *contact, int32_t place)
{
    return contact->bodies[contact->body_of[place / PL_CLUMP]].whole;
}

static void count_touches(pl_contact *contact, int begin, int end, int worker)
{
    (void)worker;
    for (int number = begin; number < end; number++) {
        const pl_segment *s = contact->touch_segments + number;
        const pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        pl_firm_block block = {.low = INT32_MAX, .high = -1};
        for (int i = 0; i < s->count; i++) {
            if (!pl_contact_is_firm(contact, touches + i))
                continue;
            int32_t a = contact->body_of[touches[i].a / PL_CLUMP];
            int32_t b = contact->body_of[touches[i].b / PL_CLUMP];
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            block.low = low < block.low ? low : block.low;
            block.high = high > block.high ? high : block.high;
            block.mixed |= !contact->bodies[a].whole || !contact->bodies[b].whole;
            block.count++;
        }
        contact->firm.blocks[number] = block;
    }
}

/* Metres that two may come nearer to each other before anybody minds. */
#define NOT_AT_ALL (-1e18f)

/* Particles deep in each other are on both sides of each other: what springs do to them between two
   sub-steps looks like a blow to some of their touches, whichever way they move. Answered as blows,
   over and over, and begun with what they gave before, those made energy without bound. So such a
   touch only parts the two, as wholes. */
static void leave_to_parting(pl_touch *touch)
{
    touch->depth = NOT_AT_ALL;
    touch->friction = 0;
}

/* What is met on the way closes in no more: see `stop` in respond.c. As a whole it answers all of
   the slide. What is held stops it once more in the next sub-step: thrown at 2 km/s at a wall of
   held balls, a ball that was stopped by all of them at once was pressed between them. */
static float stopping(const pl_contact *contact, pl_touch *t)
{
    float approach = 0;
    if (!(t->swept & PL_MET))
        return t->kick;
    for (int k = 0; k < 3; k++)
        approach +=
            t->n[k] * (contact->primitives[t->a].moved[k] - contact->primitives[t->b].moved[k]);
    for (int k = 0; k < 3; k++)
        t->slide[k] *= approach / t->depth;
    t->swept &= ~PL_MET;
    if (!(t->give_a > 0 && t->give_b > 0))
        return t->kick;
    return fmaxf(t->kick, approach - t->depth);
}

/* Whether friction acts on velocities: of what met on the way not on what is held. (Thrown at 500
   m/s at a wall of held balls, 2 of 9,000 bodies got in by some millimetres.) */
static bool slows_down(const pl_touch *t)
{
    return t->kick > 0 || (t->swept & PL_MET && t->give_a > 0 && t->give_b > 0);
}

static void list_touches(pl_contact *contact, int begin, int end, int worker)
{
    (void)worker;
    for (int number = begin; number < end; number++) {
        const pl_segment *s = contact->touch_segments + number;
        const pl_firm_block *block = contact->firm.blocks + number;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        int32_t next = block->first, behind = next + block->count;
        for (int i = 0; i < s->count && next < behind; i++) {
            pl_touch *touch = touches + i;
            if (block->count != s->count && !pl_contact_is_firm(contact, touch))
                continue;
            if (touch->swept & PL_DEEP)
                leave_to_parting(touch);
            contact->firm.origins[next] =
                (pl_firm_origin){.touch = touch, .slows = slows_down(touch)};
            contact->firm.touches[next++] = (pl_firm_touch){.a = whole_of(contact, touch->a),
                                                            .b = whole_of(contact, touch->b),
                                                            .place_a = touch->a,
                                                            .place_b = touch->b,
                                                            .friction = touch->friction,
                                                            .deep = touch->swept & PL_DEEP,
                                                            .passing = touch->swept & PL_MET,
                                                            .recover = touch->recover,
                                                            .kick = stopping(contact, touch)};
            touch->kick = 0; /* it is answered here */
        }
    }
}

enum { BLOCKS_PER_TASK = 4 };

/* In the order of touches. Those for which there is no room are lost. */
static void add_touches(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    int count = 0;
    pl_contact_run_stage(contact, firm->tasks, count_touches, contact->block_count,
                         BLOCKS_PER_TASK);
    for (int i = 0; i < contact->block_count; i++)
        count += firm->blocks[i].count;
    int room = pl_firm_make_room(contact, count) ? count : firm->touch_capacity;
    for (int i = 0; i < contact->block_count; i++) {
        pl_firm_block *block = firm->blocks + i;
        int left = room - firm->touch_count;
        contact->lost += (uint64_t)(block->count > left ? block->count - left : 0);
        block->count = block->count < left ? block->count : left;
        block->first = firm->touch_count;
        firm->touch_count += block->count;
    }
    pl_contact_run_stage(contact, firm->tasks, list_touches, contact->block_count, BLOCKS_PER_TASK);
}

/* Pushed and rubbed where it touches. */
static void add_stop(pl_contact *contact, pl_near *near, int place, const pl_shove *shove)
{
    pl_contact_firm *firm = &contact->firm;
    if (!pl_firm_make_room(contact, firm->touch_count + 1)) {
        contact->lost++;
        return;
    }
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    pl_firm_stop *stop = firm->stops + (firm->touch_count - firm->first_stop);
    *stop = (pl_firm_stop){.depth = (float)shove->depth,
                           .friction = (float)shove->friction,
                           .recover = (float)shove->recover,
                           .kick = (float)shove->kick};
    if (shove->part < 1)
        stop->kick = fmaxf(stop->kick, (float)(shove->approach - shove->depth));
    for (int k = 0; k < 3; k++) {
        stop->n[k] = stop->normal[k] = (float)shove->n[k];
        stop->slide[k] = (float)shove->slide[k];
        stop->point[k] = (float)(shove->arm[k] + c->to.position[k] - body->base[k]);
    }
    firm->origins[firm->touch_count] =
        (pl_firm_origin){.near = near, .slows = shove->part < 1 || shove->kick > 0};
    firm->touches[firm->touch_count++] = (pl_firm_touch){.b = body->whole,
                                                         .place_a = pl_firm_nobody(contact),
                                                         .place_b = near->clump * PL_CLUMP + place,
                                                         .friction = stop->friction,
                                                         .recover = stop->recover,
                                                         .kick = stop->kick};
}

/* Particles of a body that were in meshes with two sides before: two that are pushed apart by the same one are on
   both sides of a surface of it. All of the body cannot go both ways, and would be torn to and fro;
   one by one, particles would strain springs that give it back at once when the last of them slips
   off. So it stays across the surface, and only its particles are kept from going further in. */
enum { OLD_STOPS = 8 };

typedef struct old_stops {
    int count;
    bool astride; /* of some mesh */
    struct {
        pl_near *near;
        double n[3], at[3];
    } stops[OLD_STOPS];
} old_stops;

static void note_old(old_stops *all, pl_near *near, const pl_shove *shove)
{
    for (int i = 0; i < all->count; i++) {
        const double *n = all->stops[i].n, *at = all->stops[i].at;
        double along = 0, apart = 0;
        for (int k = 0; k < 3; k++) {
            along += n[k] * shove->n[k];
            apart += (shove->n[k] - n[k]) * (shove->lever[k] - at[k]);
        }
        if (all->stops[i].near->collider == near->collider && along < -0.5 && apart > 0)
            near->astride = all->astride = true;
    }
    if (all->count == OLD_STOPS)
        return;
    all->stops[all->count].near = near;
    memcpy(all->stops[all->count].n, shove->n, sizeof shove->n);
    memcpy(all->stops[all->count++].at, shove->lever, sizeof shove->lever);
}

/* Of the body's pairs, [begin, end), all with a mesh that one of them is astride of; their stops,
   which are among those from the `first`th on, are none any more. */
static void leave_astride(pl_contact *contact, pl_near *begin, pl_near *end, int first)
{
    pl_contact_firm *firm = &contact->firm;
    int kept = first;
    for (pl_near *near = begin; near < end; near++)
        for (pl_near *other = begin; near->astride && other < end; other++)
            other->astride |= other->collider == near->collider;
    for (int i = first; i < firm->touch_count; i++) {
        if (firm->origins[i].near->astride)
            continue;
        firm->touches[kept] = firm->touches[i];
        firm->origins[kept] = firm->origins[i];
        firm->stops[kept - firm->first_stop] = firm->stops[i - firm->first_stop];
        kept++;
    }
    firm->touch_count = kept;
}

static void add_stops_of(pl_contact *contact, int number)
{
    pl_contact_colliders *all = &contact->against;
    pl_near *begin = all->near + all->near_start[number],
            *end = all->near + all->near_start[number + 1];
    int first = contact->firm.touch_count;
    old_stops old;
    old.count = 0;
    old.astride = false;
    for (pl_near *near = begin; near < end; near++) {
        near->astride = false;
        if (near->shoves >= 0 || pl_contact_is_leaving(contact, number, near->collider))
            continue;
        for (uint32_t left = pl_firm_may_reach(contact, near); left; left &= left - 1) {
            int place = __builtin_ctz(left);
            pl_shove shove;
            if (!pl_contact_find_shove(contact, near, near->clump * PL_CLUMP + place, &shove))
                continue;
            add_stop(contact, near, place, &shove);
            if (shove.was_in)
                note_old(&old, near, &shove);
        }
    }
    if (old.astride)
        leave_astride(contact, begin, end, first);
}

/* Colliders that do not give way, which have the last word later: whatever is left for it then
   strains springs. */
static void add_stops(pl_contact *contact)
{
    for (int b = 0; contact->against.near_count && b < contact->body_count; b++)
        if (contact->bodies[b].whole > 0 && !contact->bodies[b].asleep)
            add_stops_of(contact, b);
}

enum { TOUCHES_PER_TASK = 64 };

static void fill_some(pl_contact *contact, int begin, int end, int worker)
{
    int count = contact->firm.touch_count, last = TOUCHES_PER_TASK * end;
    (void)worker;
    pl_firm_fill(contact, TOUCHES_PER_TASK * begin, last < count ? last : count);
}

void pl_firm_find_touches(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    pl_firm_list_kept(contact);
    add_touches(contact);
    firm->first_stop = firm->touch_count;
    add_stops(contact);
    pl_contact_run_stage(contact, firm->tasks, fill_some,
                         (firm->touch_count + TOUCHES_PER_TASK - 1) / TOUCHES_PER_TASK, 1);
    pl_firm_cut(contact);
}
