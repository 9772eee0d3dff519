/* Contact events: the touches of every sub-step, summed by pair. Touches of one pair mostly follow
   each other, so that only runs of them are looked up (open addressing); at the end of the step
   pairs are sorted by the order of creation and held against those of the step before. Two that
   sleep go on touching. */
#include "world/events.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "world/world.h"

/* ---- Room ------------------------------------------------------------------------------------ */

void pl_events_clear(pl_events *events, pl_memory *memory)
{
    void *arrays[] = {events->list, events->before, events->tallies, events->table, events->items};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(memory, arrays[k]);
    *events = (pl_events){0};
}

bool pl_events_reserve(pl_events *events, pl_memory *memory, int count)
{
    int capacity = events->capacity ? events->capacity : 64;
    if (count <= events->capacity)
        return true;
    if (count > 1 << 28)
        return false;
    while (capacity < count)
        capacity *= 2;
    pl_events next = *events;
    next.capacity = capacity;
    next.list = PL_NEW(memory, pl_contact_event, 2 * (size_t)capacity);
    next.before = PL_NEW(memory, pl_contact_event, 2 * (size_t)capacity);
    next.tallies = PL_NEW(memory, pl_tally, capacity);
    next.table = PL_NEW(memory, int32_t, 2 * (size_t)capacity);
    next.items = PL_NEW(memory, pl_sort_item, 2 * (size_t)capacity);
    if (!next.list || !next.before || !next.tallies || !next.table || !next.items) {
        pl_events_clear(&next, memory);
        return false;
    }
    if (events->count)
        memcpy(next.list, events->list, sizeof *next.list * (size_t)events->count);
    if (events->tally_count)
        memcpy(next.tallies, events->tallies, sizeof *next.tallies * (size_t)events->tally_count);
    pl_events_clear(events, memory);
    *events = next;
    return true;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static const uint64_t collider_bit = UINT64_C(1) << 31;

static size_t place_of(const pl_events *events, uint64_t key)
{
    size_t mask = 2 * (size_t)events->capacity - 1;
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (events->table[at] && events->tallies[events->table[at] - 1].key != key)
        at = (at + 1) & mask;
    return at;
}

static bool make_room(pl_world *world)
{
    pl_events *events = &world->events;
    if (events->tally_count < events->capacity)
        return true;
    if (!pl_events_reserve(events, world->memory, events->capacity + 1)) {
        events->lost++;
        return false;
    }
    for (int i = 0; i < events->tally_count; i++)
        events->table[place_of(events, events->tallies[i].key)] = i + 1;
    return true;
}

/* NULL = there is no memory. */
static pl_tally *tally_of(pl_world *world, uint64_t key)
{
    pl_events *events = &world->events;
    if (events->capacity) {
        size_t at = place_of(events, key);
        if (events->table[at])
            return events->tallies + events->table[at] - 1;
    }
    if (!make_room(world))
        return NULL;
    pl_tally *tally = events->tallies + events->tally_count++;
    events->table[place_of(events, key)] = events->tally_count;
    bool collider = key & collider_bit;
    uint32_t b = (uint32_t)(key & (collider_bit - 1));
    *tally = (pl_tally){.key = key, .hardest = -1};
    tally->event = (pl_contact_event){.body_a = world->entered[key >> 32]->slot,
                                      .body_b = collider ? UINT32_MAX : world->entered[b]->slot,
                                      .collider = collider ? b : UINT32_MAX,
                                      .particle_b = -1};
    return tally;
}

/* ---- Bodies and bodies ----------------------------------------------------------------------- */

static int32_t particle_of(const pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    return body->clumps->particle[place - body->first_clump * PL_CLUMP];
}

/* The point of a particle's surface whose normal is `sign` n, in the world. */
static void surface_point(const pl_contact *contact, int32_t place, const float n[3], double sign,
                          double out[3])
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    const pl_primitive *p = contact->primitives + place;
    const float *b = p->shape;
    float bn[3] = {b[0] * n[0] + b[1] * n[1] + b[2] * n[2], b[1] * n[0] + b[3] * n[1] + b[4] * n[2],
                   b[2] * n[0] + b[4] * n[1] + b[5] * n[2]};
    double square = (double)(n[0] * bn[0] + n[1] * bn[1] + n[2] * bn[2]);
    for (int k = 0; k < 3; k++)
        out[k] = body->base[k] + (double)p->x[k] +
                 (square > 0 ? sign * (double)bn[k] / sqrt(square) : 0);
}

/* One that was found asleep may be the older of the two: `turned`. */
static void describe_touch(const pl_contact *contact, const pl_touch *t, bool turned,
                           pl_contact_event *event)
{
    double a[3], b[3];
    surface_point(contact, t->a, t->normal, 1, a);
    surface_point(contact, t->b, t->normal, -1, b);
    event->particle_a = particle_of(contact, turned ? t->b : t->a);
    event->particle_b = particle_of(contact, turned ? t->a : t->b);
    for (int k = 0; k < 3; k++) {
        event->position[k] = 0.5 * (a[k] + b[k]);
        event->normal[k] = turned ? -t->normal[k] : t->normal[k];
    }
}

/* A run of touches of one pair. */
static void add_run(pl_world *world, uint32_t a, uint32_t b, const pl_touch *touches, int count)
{
    bool turned = a > b;
    pl_tally *tally = tally_of(world, turned ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b);
    if (!tally)
        return;
    double impulse = 0, friction = 0, hardest = -1;
    int which = 0;
    for (int i = 0; i < count; i++) {
        double pressed = (double)(touches[i].pushed * touches[i].mass);
        impulse += pressed;
        friction += (double)(touches[i].rubbed * touches[i].mass);
        if (pressed > hardest) {
            hardest = pressed;
            which = i;
        }
    }
    tally->impulse += impulse / world->h;
    tally->friction += friction / world->h;
    tally->event.touches += count;
    if (hardest > tally->hardest) {
        tally->hardest = hardest;
        describe_touch(world->contact, touches + which, turned, &tally->event);
    }
}

void pl_events_begin_touches(pl_world *world)
{
    world->events.block = world->events.touch = 0;
}

void pl_events_add_touches(pl_world *world, bool by_caller)
{
    const pl_contact *contact = world->contact;
    const int32_t *body_of = contact->body_of;
    pl_events *events = &world->events;
    for (; events->block < contact->block_count; events->block++, events->touch = 0) {
        const pl_segment *s = contact->touch_segments + events->block;
        const pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int next; events->touch < s->count; events->touch = next) {
            const pl_touch *first = touches + events->touch;
            int32_t a = body_of[first->a / PL_CLUMP], b = body_of[first->b / PL_CLUMP];
            if (!by_caller && events->tally_count == events->capacity)
                return;
            for (next = events->touch + 1; next < s->count &&
                                           body_of[touches[next].a / PL_CLUMP] == a &&
                                           body_of[touches[next].b / PL_CLUMP] == b;)
                next++;
            add_run(world, (uint32_t)a, (uint32_t)b, first, next - events->touch);
        }
    }
}

/* ---- Bodies and colliders -------------------------------------------------------------------- */

static void describe_hit(const pl_contact *contact, const pl_near *near, int place,
                         pl_contact_event *event)
{
    const pl_near_hits *hits = contact->against.hits + near->block;
    const double *base = contact->bodies[contact->body_of[near->clump]].base;
    event->particle_a = particle_of(contact, near->clump * PL_CLUMP + place);
    for (int k = 0; k < 3; k++) {
        event->position[k] = base[k] + (double)hits->point[k][place];
        event->normal[k] = -hits->normal[k][place];
    }
}

/* What a particle gave to the collider along −normal is pressure, the rest friction. */
static void add_near(pl_world *world, const pl_near *near)
{
    const pl_contact *contact = world->contact;
    const pl_near_hits *hits = contact->against.hits + near->block;
    uint32_t slot = contact->against.colliders[near->collider].slot;
    pl_tally *tally =
        tally_of(world, (uint64_t)contact->body_of[near->clump] << 32 | collider_bit | slot);
    if (!tally)
        return;
    for (uint32_t mask = near->mask; mask; mask &= mask - 1) {
        int place = __builtin_ctz(mask);
        double along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            double by = (double)hits->impulse[k][place];
            along -= by * (double)hits->normal[k][place];
            square += by * by;
        }
        along = fmax(along, 0);
        tally->impulse += along;
        tally->friction += sqrt(fmax(square - along * along, 0));
        tally->event.touches++;
        if (along > tally->hardest) {
            tally->hardest = along;
            describe_hit(contact, near, place, &tally->event);
        }
    }
}

void pl_events_add_hits(pl_world *world)
{
    const pl_contact_colliders *against = &world->contact->against;
    for (int i = 0; i < against->near_count; i++)
        if (against->near[i].mask)
            add_near(world, against->near + i);
}

/* ---- The step's end -------------------------------------------------------------------------- */

/* The key that an event of the step before has now. Of those that have left there are none. */
static uint64_t key_of(const pl_world *world, const pl_contact_event *event)
{
    const pl_record *a = world->bodies[event->body_a].record;
    uint64_t key = (uint64_t)a->contact << 32;
    if (event->collider != UINT32_MAX)
        return key | collider_bit | event->collider;
    return key | (uint64_t)world->bodies[event->body_b].record->contact;
}

static bool slept(const pl_world *world, uint32_t slot)
{
    const pl_record *record = world->bodies[slot].record;
    return record->asleep || record->woken_in == world->steps + 1;
}

/* Two that were not looked at, because they slept, go on touching. */
static bool slept_on(const pl_world *world, const pl_contact_event *event)
{
    return slept(world, event->body_a) &&
           (event->body_b == UINT32_MAX || slept(world, event->body_b));
}

static void carry_over(pl_world *world, const pl_contact_event *old)
{
    pl_events *events = &world->events;
    pl_contact_event event = *old;
    if (events->count >= 2 * events->capacity) {
        events->lost++;
        return;
    }
    event.phase = slept_on(world, old) ? PL_CONTACT_GOES_ON : PL_CONTACT_ENDED;
    event.impulse = event.friction_impulse = 0;
    if (event.phase == PL_CONTACT_ENDED)
        event.touches = 0;
    events->list[events->count++] = event;
}

static void take_tally(pl_events *events, const pl_tally *tally, bool went_on)
{
    pl_contact_event event = tally->event;
    event.phase = went_on ? PL_CONTACT_GOES_ON : PL_CONTACT_BEGAN;
    event.impulse = (float)fmin(tally->impulse, (double)FLT_MAX);
    event.friction_impulse = (float)fmin(tally->friction, (double)FLT_MAX);
    events->list[events->count++] = event;
}

static void sort_tallies(pl_events *events)
{
    for (int i = 0; i < events->tally_count; i++)
        events->items[i] = (pl_sort_item){events->tallies[i].key, (uint32_t)i};
    if (events->tally_count)
        pl_sort(events->items, events->items + events->capacity, (size_t)events->tally_count);
}

/* Both are in order: the step before, without what had ended in it, and the tallies. */
static void merge(pl_world *world, int before_count)
{
    pl_events *events = &world->events;
    int old = 0;
    for (int i = 0; i < events->tally_count; i++) {
        uint64_t key = events->items[i].key;
        while (old < before_count && key_of(world, events->before + old) < key)
            carry_over(world, events->before + old++);
        bool went_on = old < before_count && key_of(world, events->before + old) == key;
        take_tally(events, events->tallies + events->items[i].index, went_on);
        old += went_on;
    }
    while (old < before_count)
        carry_over(world, events->before + old++);
}

static bool is_settled(const pl_events *events)
{
    for (int i = 0; i < events->count; i++)
        if (events->list[i].phase != PL_CONTACT_GOES_ON || events->list[i].impulse != 0)
            return false;
    return true;
}

void pl_events_close(pl_world *world, int done)
{
    pl_events *events = &world->events;
    if (!done && events->settled)
        return;
    int count = 0;
    for (int i = 0; i < events->count; i++)
        count += events->list[i].phase != PL_CONTACT_ENDED;
    if (count >
        events->capacity) /* the list has room for twice that; without memory some are lost */
        pl_events_reserve(events, world->memory, count);
    count = 0;
    for (int i = 0; i < events->count; i++)
        if (events->list[i].phase != PL_CONTACT_ENDED)
            events->before[count++] = events->list[i];
    events->count = 0;
    sort_tallies(events);
    merge(world, count);
    if (events->tally_count)
        memset(events->table, 0, sizeof *events->table * 2 * (size_t)events->capacity);
    events->tally_count = 0;
    events->settled = !done && is_settled(events);
}

/* ---- Leaving --------------------------------------------------------------------------------- */

static void forget(pl_events *events, bool collider, uint32_t slot)
{
    int kept = 0;
    for (int i = 0; i < events->count; i++) {
        const pl_contact_event *e = events->list + i;
        bool gone = collider ? e->collider == slot : e->body_a == slot || e->body_b == slot;
        if (!gone)
            events->list[kept++] = *e;
    }
    events->count = kept;
}

void pl_events_forget_body(pl_world *world, uint32_t slot)
{
    forget(&world->events, false, slot);
}

void pl_events_forget_collider(pl_world *world, uint32_t slot)
{
    forget(&world->events, true, slot);
}

const pl_contact_event *pl_world_contacts(const pl_world *world, int *count)
{
    if (count)
        *count = world ? world->events.count : 0;
    return world && world->events.count ? world->events.list : NULL;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

enum { EVENT_BYTES = 4 * 6 + 8 * 3 + 4 * 5 + 4 };

static bool is_body(const pl_world *world, uint32_t slot, int32_t particle)
{
    return slot < (uint32_t)world->body_slots && world->bodies[slot].record && particle >= 0 &&
           particle < world->bodies[slot].record->matter.n;
}

static bool is_sound(const pl_world *world, const pl_contact_event *e)
{
    bool collider = e->collider != UINT32_MAX;
    if (!is_body(world, e->body_a, e->particle_a) || e->touches < 0)
        return false;
    if (!collider)
        return is_body(world, e->body_b, e->particle_b);
    return e->body_b == UINT32_MAX && e->collider < (uint32_t)world->colliders.slot_count &&
           world->colliders.slots[e->collider].record;
}

static void event_part(pl_stream *s, const pl_world *world, pl_contact_event *e)
{
    int phase = (int)e->phase;
    uint32_t numbers[5] = {e->body_a, e->body_b, e->collider, (uint32_t)e->particle_a,
                           (uint32_t)e->particle_b};
    pl_stream_int(s, &phase);
    pl_stream_u32(s, numbers, 5);
    pl_stream_doubles(s, e->position, 3);
    pl_stream_floats(s, e->normal, 3);
    pl_stream_floats(s, &e->impulse, 1);
    pl_stream_floats(s, &e->friction_impulse, 1);
    pl_stream_int(s, &e->touches);
    if (!s->in || pl_stream_stopped(s))
        return;
    e->phase = (pl_contact_phase)phase;
    e->body_a = numbers[0], e->body_b = numbers[1], e->collider = numbers[2];
    e->particle_a = (int32_t)numbers[3], e->particle_b = (int32_t)numbers[4];
    pl_stream_expect(s,
                     phase >= PL_CONTACT_BEGAN && phase <= PL_CONTACT_ENDED && is_sound(world, e));
}

/* Behind bodies and colliders, which they speak of. */
void pl_snapshot_events(pl_stream *s, pl_world *world)
{
    pl_events *events = &world->events;
    int count = events->count;
    if (!pl_stream_count(s, &count, EVENT_BYTES))
        return;
    if (s->in && !pl_events_reserve(events, world->memory, count)) {
        s->starved = true;
        return;
    }
    for (int i = 0; i < count && !pl_stream_stopped(s); i++)
        event_part(s, world, events->list + i);
    if (s->in && !pl_stream_stopped(s))
        events->count = count;
}
