/* Slots behind the handles, and room in the arrays a step uses: reserved when a body or a pin is
   made, so that everything after that cannot fail. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "world/world.h"

bool pl_world_grow(pl_memory *memory, void *array, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    if (*capacity > INT_MAX / 2)
        return false;
    int larger = *capacity ? 2 * *capacity : 8;
    void *old, *grown = pl_memory_alloc(memory, (size_t)larger, size);
    if (!grown)
        return false;
    memcpy(&old, array, sizeof old);
    if (count)
        memcpy(grown, old, (size_t)count * size);
    pl_memory_free(memory, old);
    memcpy(array, &grown, sizeof grown);
    *capacity = larger;
    return true;
}

/* ---- Handles --------------------------------------------------------------------------------- */

pl_record *pl_world_record(const pl_world *world, pl_body body)
{
    if (!world || body.index >= (uint32_t)world->body_slots)
        return NULL;
    const pl_body_slot *slot = world->bodies + body.index;
    return slot->generation == body.generation ? slot->record : NULL;
}

pl_status pl_world_open(pl_world *world, pl_body body, pl_record **record, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world, error));
    *record = pl_world_record(world, body);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, error, "body", "the handle is stale or of another world");
    return PL_OK;
}

static void next_generation(uint32_t *generation)
{
    ++*generation;
    if (*generation == 0)
        *generation = 1; /* {0, 0} is nobody */
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

uint32_t pl_world_free_body_slot(pl_world *world)
{
    while (world->lowest_body < world->body_slots && world->bodies[world->lowest_body].record)
        world->lowest_body++;
    return (uint32_t)world->lowest_body;
}

/* Nothing is copied: the next step fills them anew. */
static bool grow_groups(pl_world *world)
{
    pl_memory *memory = world->memory;
    if (world->live_count < world->group_capacity)
        return true;
    if (world->group_capacity > INT_MAX / 2)
        return false;
    int capacity = world->group_capacity ? 2 * world->group_capacity : 8;
    pl_record **live = PL_NEW(memory, pl_record *, capacity);
    pl_oriented **members = PL_NEW(memory, pl_oriented *, capacity);
    pl_block *blocks = PL_NEW(memory, pl_block, 2 * (size_t)capacity);
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * (size_t)capacity);
    pl_record **entered = PL_NEW(memory, pl_record *, capacity);
    int32_t *parents = PL_NEW(memory, int32_t, capacity);
    pl_island *islands = PL_NEW(memory, pl_island, capacity);
    pl_record **others = PL_NEW(memory, pl_record *, capacity);
    pl_record **tets = PL_NEW(memory, pl_record *, capacity);
    int32_t *tet_groups = PL_NEW(memory, int32_t, (size_t)capacity + 1);
    pl_tetrahedral **tet_bodies = PL_NEW(memory, pl_tetrahedral *, capacity);
    pl_tet_motion *tet_motions = PL_NEW(memory, pl_tet_motion, capacity);
    bool good = live && members && blocks && items && entered && parents && islands && others &&
                tets && tet_groups && tet_bodies && tet_motions;
    void *spent[] = {good ? (void *)world->live : live,
                     good ? (void *)world->members : members,
                     good ? world->blocks : blocks,
                     good ? world->sort_items : items,
                     good ? (void *)world->entered : entered,
                     good ? world->parents : parents,
                     good ? world->islands : islands,
                     good ? (void *)world->others : others,
                     good ? (void *)world->tets : tets,
                     good ? world->tet_groups : tet_groups,
                     good ? (void *)world->tet_bodies : tet_bodies,
                     good ? world->tet_motions : tet_motions};
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
        pl_memory_free(memory, spent[i]);
    if (!good)
        return false;
    world->live = live;
    world->members = members;
    world->blocks = blocks;
    world->sort_items = items;
    world->entered = entered;
    world->parents = parents;
    world->islands = islands;
    world->others = others;
    world->tets = tets;
    world->tet_groups = tet_groups;
    world->tet_bodies = tet_bodies;
    world->tet_motions = tet_motions;
    world->group_capacity = capacity;
    world->block_count = 0;
    world->regroup = true;
    return true;
}

bool pl_world_reserve_field(pl_world *world, int particles)
{
    pl_memory *memory = world->memory;
    if (particles <= world->field_capacity)
        return true;
    double *positions = PL_NEW(memory, double, 3 * (size_t)particles);
    float *velocities = PL_NEW(memory, float, 3 * (size_t)particles);
    float *masses = PL_NEW(memory, float, particles);
    bool good = positions && velocities && masses;
    void *spent[] = {good ? world->field_positions : positions,
                     good ? world->field_velocities : velocities,
                     good ? world->field_masses : masses};
    for (int i = 0; i < 3; i++)
        pl_memory_free(memory, spent[i]);
    if (!good)
        return false;
    world->field_positions = positions;
    world->field_velocities = velocities;
    world->field_masses = masses;
    world->field_capacity = particles;
    return true;
}

/* Of what nothing holds. A particle that is a body of its own is rigid. Rods and sheets bend before
   they move as one, unless sound, which gets √κ spacings far in a sub-step, gets through a part of
   their length, n or √n of them; but they gain energy where they do not, at a lower κ than solids.
   Solids below 1 are left to particles because touches of wholes cost twice as much. */
double pl_record_firmness(const pl_world *world, const pl_record *record)
{
    enum { PART = 12 };
    const pl_oriented *matter = &record->matter;
    double firmness = matter->system->firmness, n = matter->n;
    int dimension = record->model->dimension;
    if (!world->stiff_contact || matter->system->grounded || matter->hold_count)
        return 0;
    if (n < 2)
        return pl_oriented_is_lone(matter) ? INFINITY : 0;
    bool as_one = dimension == 3   ? firmness >= 1
                  : dimension == 2 ? PART * PART * firmness > n
                                   : PART * PART * firmness > n * n;
    return as_one ? firmness : 0;
}

static void count_clumps(pl_world *world, pl_record *record)
{
    record->clump_room = pl_record_clump_room(record);
    world->clump_room += record->clump_room;
}

/* Clumps of the bodies there are, which are counted anew where one may have grown, and of one
   more. */
bool pl_world_reserve_contacts(pl_world *world, const pl_record *more)
{
    if (!more) {
        world->clump_room = 0;
        for (pl_record *record = world->first; record; record = record->next)
            count_clumps(world, record);
    }
    int clumps = world->clump_room + (more ? pl_record_clump_room(more) : 0);
    /* Of all: whether a body is stiff changes with step, material and pins. */
    int firm = world->stiff_contact ? clumps : 0;
    bool good = pl_contact_reserve(world->contact, world->live_count + 1, clumps) == PL_OK &&
                pl_contact_reserve_firm(world->contact, firm) == PL_OK &&
                pl_kept_reserve(&world->kept, world->memory, pl_contact_firm_room(firm));
    world->regroup = world->reenter = true; /* whatever was entered is entered anew */
    return good;
}

pl_status pl_world_reserve_body(pl_world *world, const pl_record *record)
{
    int particles = record->matter.capacity;
    bool good = pl_world_grow(world->memory, &world->bodies, world->body_slots,
                              &world->body_slot_capacity, sizeof *world->bodies) &&
                grow_groups(world) && pl_world_reserve_field(world, particles) &&
                pl_world_reserve_contacts(world, record) &&
                pl_events_reserve(&world->events, world->memory, 8 * (world->live_count + 1));
    return good ? PL_OK : PL_ERROR_MEMORY;
}

void pl_world_enter(pl_world *world, pl_record *record, uint32_t slot)
{
    if (slot >= (uint32_t)world->body_slots) {
        world->body_slots = (int)slot + 1;
        world->bodies[slot].generation = 1;
    }
    world->bodies[slot].record = record;
    record->slot = slot;
    record->previous = world->last;
    record->next = NULL;
    *(world->last ? &world->last->next : &world->first) = record;
    world->last = record;
    world->live_count++;
    count_clumps(world, record);
    world->regroup = true;
}

void pl_world_leave(pl_world *world, pl_record *record)
{
    pl_body_slot *slot = world->bodies + record->slot;
    slot->record = NULL;
    next_generation(&slot->generation);
    if ((int)record->slot < world->lowest_body)
        world->lowest_body = (int)record->slot;
    *(record->previous ? &record->previous->next : &world->first) = record->next;
    *(record->next ? &record->next->previous : &world->last) = record->previous;
    world->live_count--;
    world->clump_room -= record->clump_room;
    world->regroup = world->reenter = true;
}

/* ---- Pins ------------------------------------------------------------------------------------ */

int pl_world_free_pin_slot(pl_world *world)
{
    while (world->lowest_pin < world->pin_slots && world->pins[world->lowest_pin].record)
        world->lowest_pin++;
    bool good = pl_world_grow(world->memory, &world->pins, world->pin_slots,
                              &world->pin_slot_capacity, sizeof *world->pins);
    return good ? world->lowest_pin : -1;
}

void pl_world_enter_pin(pl_world *world, uint32_t slot, pl_record *record, int hold)
{
    if (slot >= (uint32_t)world->pin_slots) {
        world->pin_slots = (int)slot + 1;
        world->pins[slot].generation = 1;
    }
    world->pins[slot].record = record;
    world->pins[slot].hold = hold;
}

void pl_world_leave_pin(pl_world *world, uint32_t slot)
{
    world->pins[slot].record = NULL;
    next_generation(&world->pins[slot].generation);
    if ((int)slot < world->lowest_pin)
        world->lowest_pin = (int)slot;
}
