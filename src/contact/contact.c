/* The arrays of contact, and its stages cut into tasks. */
#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/float_env.h"
#include "base/sort.h"
#include "contact/batch.h"
#include "contact/contact_lanes.h"
#include "contact/firm_parts.h"
#include "contact/share.h"
#include "contact/tree.h"
#include "math/simd.h"

typedef struct kernels {
    void (*follow)(pl_contact *, int, int);
    void (*groups)(pl_contact *, int, int);
    void (*touches)(pl_contact *, int, int);
    bool (*sweep)(pl_contact *, int, int, bool);
    void (*on_plane)(pl_contact *, pl_near *, bool);
    void (*fill_firm)(pl_contact *, int, int);
} kernels;

#define KERNELS(width)                                                                             \
    [PL_SIMD_PLACE(width)] = {pl_contact_follow_w##width,   pl_contact_groups_w##width,            \
                              pl_contact_touches_w##width,  pl_contact_sweep_w##width,             \
                              pl_contact_on_plane_w##width, pl_firm_fill_w##width},

static const kernels *in_use(void)
{
    static const kernels table[] = {PL_SIMD_EACH(KERNELS)};
    return table + PL_SIMD_PLACE(pl_simd_width());
}

/* ---- Room ------------------------------------------------------------------------------------ */

pl_contact *pl_contact_create(pl_memory *memory, int workers)
{
    pl_contact *contact = PL_NEW(memory, pl_contact, 1);
    pl_contact_buffer *buffers = PL_NEW(memory, pl_contact_buffer, workers);
    if (!contact || !buffers) {
        pl_memory_free(memory, contact);
        pl_memory_free(memory, buffers);
        return NULL;
    }
    contact->memory = memory;
    contact->worker_count = workers;
    contact->buffers = buffers;
    return contact;
}

void pl_contact_destroy(pl_contact *contact)
{
    if (!contact)
        return;
    pl_memory *memory = contact->memory;
    void *arrays[] = {
        contact->bodies,  contact->places,     contact->marks,          contact->primitives,
        contact->radius,  contact->least,      contact->used,           contact->body_of,
        contact->boxes,   contact->spheres,    contact->wanted,         contact->change,
        contact->shift,   contact->ways,       contact->kick,           contact->came,
        contact->nodes,   contact->items,      contact->group_segments, contact->touch_segments,
        contact->touched, contact->marked,     contact->motion,         contact->path,
        contact->thick,   contact->batches,    contact->last,           contact->mass,
        contact->order,   contact->batch_full, contact->plan.found};
    pl_contact_free_joints(contact);
    pl_contact_free_firm(contact);
    pl_contact_free_colliders(contact);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(memory, arrays[k]);
    for (int w = 0; w < contact->worker_count; w++) {
        pl_memory_free(memory, contact->buffers[w].groups);
        pl_memory_free(memory, contact->buffers[w].gaps);
        pl_memory_free(memory, contact->buffers[w].touches);
        pl_memory_free(memory, contact->buffers[w].found);
    }
    pl_memory_free(memory, contact->buffers);
    pl_memory_free(memory, contact);
}

/* Exchanges an array for a larger one whose contents start anew. */
static bool renew(pl_memory *memory, void *array, size_t count, size_t size)
{
    void *fresh = pl_memory_alloc(memory, count, size), *old;
    if (!fresh)
        return false;
    memcpy(&old, array, sizeof old);
    pl_memory_free(memory, old);
    memcpy(array, &fresh, sizeof fresh);
    return true;
}

/* Typical numbers per clump; more are made room for when they appear. */
enum { GROUPS_PER_CLUMP = 32, TOUCHES_PER_CLUMP = 32 };

static bool reserve_buffers(pl_contact *contact, size_t clumps)
{
    pl_memory *memory = contact->memory;
    int32_t groups = GROUPS_PER_CLUMP * (int32_t)clumps;
    for (int w = 0; w < contact->worker_count; w++) {
        pl_contact_buffer *buffer = contact->buffers + w;
        /* They may have grown to more than that: when memory ends in between, the smaller one
           counts. */
        buffer->group_capacity = buffer->group_capacity < groups ? buffer->group_capacity : groups;
        if (!renew(memory, &buffer->found, clumps, sizeof *buffer->found) ||
            !renew(memory, &buffer->groups, GROUPS_PER_CLUMP * clumps, sizeof *buffer->groups) ||
            !renew(memory, &buffer->gaps, GROUPS_PER_CLUMP * clumps, sizeof *buffer->gaps))
            return false;
        buffer->group_capacity = groups;
        if (!renew(memory, &buffer->touches, TOUCHES_PER_CLUMP * clumps, sizeof *buffer->touches))
            return false;
        buffer->touch_capacity = TOUCHES_PER_CLUMP * (int32_t)clumps;
    }
    return true;
}

/* More are resolved one after the other. */
enum { BATCHES_PER_CLUMP = 2 };

/* One clump more than asked for, for a particle that is not there. */
static bool reserve_clumps(pl_contact *contact, size_t capacity)
{
    size_t clumps = capacity + 1;
    pl_memory *memory = contact->memory;
    size_t places = clumps * PL_CLUMP, blocks = clumps / PL_CLUMPS_PER_BLOCK + 1;
    size_t nodes = clumps / (PL_BRANCHES - 1) + 10, batches = BATCHES_PER_CLUMP * clumps;
    if (!renew(memory, &contact->batches, batches, sizeof *contact->batches) ||
        !renew(memory, &contact->order, batches * PL_BATCH, sizeof *contact->order) ||
        !renew(memory, &contact->batch_full, batches, sizeof *contact->batch_full))
        return false;
    contact->batch_capacity = (int)batches;
    return renew(memory, &contact->last, places, sizeof *contact->last) &&
           renew(memory, &contact->places, clumps, sizeof *contact->places) &&
           renew(memory, &contact->ways, clumps, sizeof *contact->ways) &&
           renew(memory, &contact->marks, clumps, sizeof *contact->marks) &&
           renew(memory, &contact->primitives, places, sizeof *contact->primitives) &&
           renew(memory, &contact->radius, places, sizeof *contact->radius) &&
           renew(memory, &contact->least, places, sizeof *contact->least) &&
           renew(memory, &contact->mass, places, sizeof *contact->mass) &&
           renew(memory, &contact->used, clumps, sizeof *contact->used) &&
           renew(memory, &contact->body_of, clumps, sizeof *contact->body_of) &&
           renew(memory, &contact->thick, clumps, sizeof *contact->thick) &&
           renew(memory, &contact->path, clumps, sizeof *contact->path) &&
           renew(memory, &contact->motion, clumps, sizeof *contact->motion) &&
           renew(memory, &contact->boxes, 6 * clumps, sizeof *contact->boxes) &&
           renew(memory, &contact->spheres, clumps, sizeof *contact->spheres) &&
           renew(memory, &contact->wanted, clumps, sizeof *contact->wanted) &&
           renew(memory, &contact->change, places, sizeof *contact->change) &&
           renew(memory, &contact->shift, places, sizeof *contact->shift) &&
           renew(memory, &contact->kick, places, sizeof *contact->kick) &&
           renew(memory, &contact->came, places, sizeof *contact->came) &&
           renew(memory, &contact->touched, clumps, sizeof *contact->touched) &&
           renew(memory, &contact->marked, clumps, sizeof *contact->marked) &&
           renew(memory, &contact->items, 2 * clumps, sizeof *contact->items) &&
           renew(memory, &contact->nodes, nodes, sizeof *contact->nodes) &&
           renew(memory, &contact->group_segments, blocks, sizeof *contact->group_segments) &&
           renew(memory, &contact->touch_segments, blocks, sizeof *contact->touch_segments) &&
           renew(memory, &contact->plan.found, blocks, sizeof *contact->plan.found) &&
           reserve_buffers(contact, clumps);
}

/* What was there is entered anew before it is used. */
pl_status pl_contact_reserve(pl_contact *contact, int bodies, int clumps)
{
    if (bodies > contact->body_capacity) {
        int capacity = bodies + bodies / 2 + 16;
        contact->body_count = contact->clump_count = 0;
        if (!renew(contact->memory, &contact->bodies, (size_t)capacity, sizeof *contact->bodies))
            return PL_ERROR_MEMORY;
        contact->body_capacity = capacity;
    }
    if (clumps > contact->clump_capacity) {
        int capacity = clumps + clumps / 2 + 16;
        contact->body_count = contact->clump_count = 0;
        /* When memory ends half-way, every array still has room for as many as before. */
        if (!reserve_clumps(contact, (size_t)capacity))
            return PL_ERROR_MEMORY;
        contact->clump_capacity = capacity;
        contact->nothing.a = contact->nothing.b = capacity * PL_CLUMP;
    }
    PL_TRY(pl_contact_reserve_firm(contact, 0));
    return pl_contact_reserve_near(contact);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

void pl_contact_clear(pl_contact *contact)
{
    contact->body_count = contact->clump_count = 0;
    contact->stale = true;
}

/* Of a particle, per kg: that of a ball, m/5 (tr B I − B) on average. */
static double own_inertia(const pl_contact_body *body, int clump, int place)
{
    const float *shape = body->clumps->shape + (size_t)clump * 6 * PL_CLUMP + place;
    double trace = (double)(shape[0] + shape[3 * PL_CLUMP] + shape[5 * PL_CLUMP]);
    return trace * body->unit * body->unit * (2.0 / 15);
}

int pl_contact_enter(pl_contact *contact, const pl_contact_body *body, const float *radii,
                     const double *masses, double mass_unit, const uint8_t *is_fixed)
{
    int number = contact->body_count++, first = contact->clump_count;
    pl_contact_body *entry = contact->bodies + number;
    *entry = *body;
    entry->first_clump = first;
    entry->grip = sqrtf(entry->friction);
    entry->largest = 0;
    entry->round = entry->weight = 0;
    bool held = false;
    contact->clump_count += body->clumps->count;
    for (int c = 0; c < body->clumps->count; c++) {
        contact->used[first + c] = body->clumps->used[c];
        contact->touched[first + c] = 0;
        contact->body_of[first + c] = number;
        contact->thick[first + c] = 0;
        for (int p = 0; p < PL_CLUMP; p++) {
            size_t at = (size_t)(first + c) * PL_CLUMP + (size_t)p;
            int32_t i = body->clumps->particle[c * PL_CLUMP + p];
            const float *r = radii + 3 * (size_t)i;
            float most = r[0] > r[1] ? r[0] : r[1], least = r[0] < r[1] ? r[0] : r[1];
            bool real = body->clumps->used[c] >> p & 1;
            most = (float)((double)(most > r[2] ? most : r[2]) * body->unit);
            contact->radius[at] = real ? most : 0;
            contact->least[at] = (float)((double)(least < r[2] ? least : r[2]) * body->unit);
            contact->thick[first + c] = fmaxf(contact->thick[first + c], contact->radius[at]);
            double mass = is_fixed[i] ? 0 : masses[i] * mass_unit;
            contact->primitives[at].yield = is_fixed[i] ? 0 : (float)(1 / mass);
            contact->mass[at] = real ? (float)mass : 0;
            entry->round += real ? mass * own_inertia(body, c, p) : 0;
            entry->weight += real ? mass : 0;
            held |= real && is_fixed[i];
            entry->largest = most > entry->largest ? most : entry->largest;
            memset(contact->change[at], 0, sizeof contact->change[at]);
            memset(contact->shift[at], 0, sizeof contact->shift[at]);
            memset(contact->kick[at], 0, sizeof contact->kick[at]);
            memset(contact->came[at], 0, sizeof contact->came[at]);
        }
    }
    entry->weight = held ? 0 : entry->weight;
    return number;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

enum { BLOCKS_PER_TASK = 1, MOST_STEPS_AHEAD = 8 };

typedef struct stage {
    pl_contact *contact;
    void (*run)(pl_contact *, int, int, int);
} stage;

static void stage_task(void *context, int begin, int end, int worker)
{
    const stage *s = context;
    uint64_t clock = pl_ticks();
    s->run(s->contact, begin, end, worker);
    s->contact->buffers[worker].ticks += pl_ticks() - clock;
}

void pl_contact_run_stage(pl_contact *contact, pl_tasks *tasks,
                          void (*run)(pl_contact *, int, int, int), int count, int grain)
{
    stage s = {contact, run};
    uint64_t clock = pl_ticks();
    pl_tasks_run(tasks, stage_task, &s, count, grain);
    contact->apart += pl_ticks() - clock;
}

void pl_contact_follow(pl_contact *contact, int body, int worker)
{
    in_use()->follow(contact, body, worker);
}

bool pl_contact_groups_are_stale(pl_contact *contact)
{
    if (contact->stale || contact->time > contact->until || pl_contact_colliders_strayed(contact))
        return true;
    for (int w = 0; w < contact->worker_count; w++)
        if (contact->buffers[w].strayed)
            return true;
    return false;
}

static void make_some_groups(pl_contact *contact, int begin, int end, int worker)
{
    for (int block = begin; block < end; block++)
        in_use()->groups(contact, block, worker);
}

static int32_t enlarged(int32_t capacity)
{
    return capacity / 2 * 3 + 4096;
}

static bool enlarge(pl_memory *memory, void *array, int32_t capacity, size_t size)
{
    int32_t more = enlarged(capacity) + PL_CLUMP;
    void *fresh = pl_memory_alloc(memory, (size_t)more, size), *old;
    if (!fresh)
        return false;
    memcpy(&old, array, sizeof old);
    memcpy(fresh, old, size * (size_t)capacity);
    pl_memory_free(memory, old);
    memcpy(array, &fresh, sizeof fresh);
    return true;
}

/* Blocks that did not fit are done again by the caller's thread, with more room. Without memory
   their groups are lost, and counted. */
static void mend_groups(pl_contact *contact)
{
    pl_contact_buffer *buffer = contact->buffers;
    for (int block = 0; block < contact->block_count; block++)
        while (contact->group_segments[block].full) {
            in_use()->groups(contact, block, 0);
            if (!contact->group_segments[block].full)
                break;
            if (enlarge(contact->memory, &buffer->groups, buffer->group_capacity,
                        sizeof *buffer->groups) &&
                enlarge(contact->memory, &buffer->gaps, buffer->group_capacity,
                        sizeof *buffer->gaps)) {
                buffer->group_capacity = enlarged(buffer->group_capacity);
            } else {
                contact->group_segments[block] = (pl_segment){0};
                contact->lost++;
            }
        }
}

/* Groups are good for some steps where bodies move much alike, and at least for the rest of this
   one: about as long as it takes them to get a radius away from where the others go. */
static void look_ahead(pl_contact *contact, double rest_of_step)
{
    double sum[3] = {0, 0, 0}, squares = 0, radii = 0, count = 0;
    for (int b = 0; b < contact->body_count; b++) {
        const pl_contact_body *body = contact->bodies + b;
        if (body->asleep)
            continue;
        for (int k = 0; k < 3; k++) {
            sum[k] += body->velocity[k];
            squares += body->velocity[k] * body->velocity[k];
        }
        radii += (double)body->largest;
        count++;
    }
    count = fmax(count, 1);
    for (int k = 0; k < 3; k++)
        squares -= sum[k] * sum[k] / count;
    double spread = sqrt(fmax(squares, 0) / count), seconds = radii / count / fmax(spread, 1e-300);
    contact->horizon = fmax(fmin(seconds, MOST_STEPS_AHEAD * contact->step), rest_of_step);
    contact->until = contact->time + contact->horizon * (1 + 1e-9);
}

/* Those who sleep stand still. */
static void lay_clump(pl_contact *contact, int clump)
{
    pl_clump_motion *motion = contact->motion + clump;
    motion->swing = 0;
    motion->excess = -INFINITY;
    for (int i = clump * PL_CLUMP; i < (clump + 1) * PL_CLUMP; i++)
        motion->excess = fmaxf(motion->excess, -PL_SLOW_PART * contact->least[i]);
    memset(motion->mean, 0, sizeof motion->mean);
}

/* Where its clumps are bound for. The solver moves particles that are pressed against something
   towards it in every sub-step, and contact moves them back: how far they have moved by now is not
   how far they get, but their velocities tell. */
static void set_paths(pl_contact *contact, int number)
{
    const pl_contact_body *body = contact->bodies + number;
    int first = body->first_clump, end = first + body->clumps->count;
    if (!body->asleep && contact->pace) {
        contact->pace(contact->host, number, contact->path + first);
        return;
    }
    for (int c = first; c < end; c++) {
        if (body->asleep)
            lay_clump(contact, c);
        for (int k = 0; k < 3; k++)
            contact->path[c][k] = contact->motion[c].mean[k] / (float)contact->h;
    }
}

static void mark_clump(pl_contact *contact, const pl_contact_body *body, int clump)
{
    pl_clump_motion *motion = contact->motion + clump;
    float rounding = body->largest, square = 0;
    for (int k = 0; k < 3; k++) {
        float off = motion->mean[k] - contact->path[clump][k] * (float)contact->h;
        square += off * off;
        rounding += fabsf(motion->mean[k]);
    }
    float off = sqrtf(square);
    /* Whoever has strayed is likely to do it again. */
    float slack = 0.5f * body->largest + 4 * (motion->swing + off);
    float before = contact->stale ? 0 : 1.5f * motion->loose;
    motion->slack = body->asleep ? 0 : before > slack ? before : slack;
    motion->stray = 0;
    motion->loose = (motion->swing + off) * 1.0001f + 1e-6f * rounding;
}

static void mark_bodies(pl_contact *contact)
{
    contact->made = contact->time;
    for (int b = 0; b < contact->body_count; b++) {
        pl_contact_body *body = contact->bodies + b;
        memcpy(body->mark_base, body->base, sizeof body->base);
        set_paths(contact, b);
        for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++)
            mark_clump(contact, body, c);
    }
    memcpy(contact->marks, contact->places, sizeof *contact->marks * (size_t)contact->clump_count);
}

static void note_wanted(pl_contact *contact)
{
    enum { HAD = 4 };
    uint8_t *wanted = contact->wanted;
    for (int c = 0; c < contact->clump_count; c++)
        wanted[c] = wanted[c] ? HAD : 0;
    pl_contact_note_near(contact);
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->group_segments + block;
        const pl_group *groups = contact->buffers[s->worker].groups + s->first;
        for (int i = 0; i < s->count; i++)
            wanted[groups[i].clump] |= PL_WANTED, wanted[groups[i].other] |= PL_WANTED;
    }
    for (int c = 0; c < contact->clump_count; c++)
        wanted[c] = !(wanted[c] & PL_WANTED) ? PL_NOT_WANTED
                    : wanted[c] & HAD        ? PL_WANTED
                                             : PL_WANTED_ANEW;
}

void pl_contact_make_groups(pl_contact *contact, double rest_of_step, pl_tasks *tasks)
{
    uint64_t lost = contact->lost;
    look_ahead(contact, rest_of_step);
    contact->block_count = (contact->clump_count + PL_CLUMPS_PER_BLOCK - 1) / PL_CLUMPS_PER_BLOCK;
    mark_bodies(contact);
    pl_contact_grow_tree(contact);
    for (int w = 0; w < contact->worker_count; w++)
        contact->buffers[w].group_count = 0;
    pl_contact_run_stage(contact, tasks, make_some_groups, contact->block_count, BLOCKS_PER_TASK);
    mend_groups(contact);
    note_wanted(contact);
    for (int w = 0; w < contact->worker_count; w++)
        contact->buffers[w].strayed = false;
    contact->stale = contact->lost != lost; /* then the next sub-step tries again */
    contact->builds++;
}

bool pl_contact_sweep(pl_contact *contact, int from, int to, bool fresh)
{
    return in_use()->sweep(contact, from, to, fresh);
}

void pl_contact_on_plane(pl_contact *contact, pl_near *near, bool first)
{
    in_use()->on_plane(contact, near, first);
}

void pl_firm_fill(pl_contact *contact, int begin, int end)
{
    in_use()->fill_firm(contact, begin, end);
}

/* ---- Touches --------------------------------------------------------------------------------- */

/* Overlap with sheets comes about as their wide particles turn, again and again: see share.h. Those
   that move as a whole are parted without strain, but lifted for nothing; from other sheets no
   slower, since what stays deep in them is pushed where it should not be. Those that are fixed do
   not turn. */
static float ease_of(const pl_contact *contact, const pl_touch *t)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[t->a / PL_CLUMP];
    const pl_contact_body *b = contact->bodies + contact->body_of[t->b / PL_CLUMP];
    bool flat_a = a->flat && t->give_a > 0, flat_b = b->flat && t->give_b > 0;
    bool firm_a = a->firm >= PL_FIRM, firm_b = b->firm >= PL_FIRM;
    return (flat_a && firm_a) || (flat_b && firm_b)     ? (float)PL_FIRM_FLAT_PART
           : (flat_a && !firm_a) || (flat_b && !firm_b) ? (float)PL_LOOSE_FLAT_PART
                                                        : 1;
}

static void ease_flat(pl_contact *contact, const pl_segment *segment)
{
    pl_touch *touches = contact->buffers[segment->worker].touches + segment->first;
    for (int i = 0; i < segment->count; i++)
        touches[i].recover *= ease_of(contact, touches + i);
}

static void search_block(pl_contact *contact, int block, int worker)
{
    in_use()->touches(contact, block, worker);
    if (contact->some_flat)
        ease_flat(contact, contact->touch_segments + block);
}

static void find_some_touches(pl_contact *contact, int begin, int end, int worker)
{
    for (int i = begin; i < end; i++) {
        int block = pl_contact_next_search(contact);
        search_block(contact, block, worker);
        if (!contact->touch_segments[block].full)
            pl_contact_end_search(contact, block, worker);
    }
}

/* False without memory. */
static bool enlarge_touches(pl_contact *contact, pl_contact_buffer *buffer)
{
    int32_t capacity = enlarged(buffer->touch_capacity);
    pl_touch *more =
        pl_memory_alloc(contact->memory, (size_t)capacity + PL_CLUMP, sizeof *buffer->touches);
    if (!more)
        return false;
    memcpy(more, buffer->touches, sizeof *more * (size_t)buffer->touch_capacity);
    pl_contact_move_touches(contact, buffer->touches, buffer->touch_capacity, more);
    pl_memory_free(contact->memory, buffer->touches);
    buffer->touches = more;
    buffer->touch_capacity = capacity;
    return true;
}

static void mend_touches(pl_contact *contact)
{
    for (int block = 0; block < contact->block_count; block++) {
        pl_segment *segment = contact->touch_segments + block;
        if (!segment->full)
            continue;
        for (search_block(contact, block, 0); segment->full; search_block(contact, block, 0))
            if (!enlarge_touches(contact, contact->buffers)) {
                *segment = (pl_segment){0};
                contact->lost++;
                break;
            }
        pl_contact_end_search(contact, block, 0);
    }
}

void pl_contact_find(pl_contact *contact, pl_tasks *tasks)
{
    for (int w = 0; w < contact->worker_count; w++)
        contact->buffers[w].touch_count = 0;
    contact->some_flat = false;
    for (int b = 0; b < contact->body_count; b++)
        contact->some_flat |= contact->bodies[b].flat;
    pl_contact_find_shoves(contact, tasks); /* where particles are before anybody is swept */
    pl_contact_begin_search(contact);
    pl_contact_run_stage(contact, tasks, find_some_touches, contact->block_count, BLOCKS_PER_TASK);
    mend_touches(contact);
    pl_contact_go_on(contact);
}
