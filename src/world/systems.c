/* The cache of systems: found by (model, step, materials, fixed set) and shared by all bodies that
   have these in common. A hash table, so that ten thousand different bodies do not look at each
   other. */
#include <limits.h>

#include "world/world.h"

/* Where the search for a hash begins, and where it goes on. */
static int home_of(const pl_world *world, uint64_t hash)
{
    return (int)(hash & (uint64_t)(world->system_capacity - 1));
}

static int after(const pl_world *world, int place)
{
    return (place + 1) & (world->system_capacity - 1);
}

static void insert(pl_world *world, pl_shared_system shared)
{
    int place = home_of(world, shared.system->hash);
    while (world->systems[place].system)
        place = after(world, place);
    world->systems[place] = shared;
}

static pl_shared_system *find(const pl_world *world, const pl_system_key *key)
{
    if (!world->system_capacity)
        return NULL;
    uint64_t hash = pl_system_key_hash(key);
    int place = home_of(world, hash);
    for (; world->systems[place].system; place = after(world, place)) {
        const pl_system *system = world->systems[place].system;
        if (system->hash == hash && pl_system_key_equal(&system->key, key))
            return world->systems + place;
    }
    return NULL;
}

/* Room for one more, half of the places staying empty. */
static bool reserve(pl_world *world)
{
    if (2 * (world->system_count + 1) <= world->system_capacity)
        return true;
    if (world->system_capacity > INT_MAX / 4)
        return false;
    int before = world->system_capacity, capacity = before ? 2 * before : 16;
    pl_shared_system *old = world->systems;
    pl_shared_system *grown = PL_NEW(world->memory, pl_shared_system, capacity);
    if (!grown)
        return false;
    world->systems = grown;
    world->system_capacity = capacity;
    for (int i = 0; i < before; i++)
        if (old[i].system)
            insert(world, old[i]);
    pl_memory_free(world->memory, old);
    return true;
}

pl_status pl_world_get_system(pl_world *world, const pl_system_key *key, pl_shared_system *out,
                              pl_error *error)
{
    pl_shared_system *known = find(world, key);
    if (known) {
        known->system->references++;
        *out = *known;
        return PL_OK;
    }
    PL_CHECK(reserve(world), PL_ERROR_MEMORY, error, "", "no memory for another system");
    pl_system *made;
    PL_TRY(key->tetrahedral ? pl_tetrahedral_make_system(world, key, &made, error)
                            : pl_system_create(world->memory, key, &made, error));
    *out = (pl_shared_system){made, world->systems_made++};
    insert(world, *out);
    world->system_count++;
    return PL_OK;
}

/* Whoever stands behind the gap and does not reach his place without stepping over it moves up. */
static void close_gap(pl_world *world, int gap)
{
    int mask = world->system_capacity - 1;
    for (int place = after(world, gap); world->systems[place].system; place = after(world, place)) {
        int home = home_of(world, world->systems[place].system->hash);
        if (((place - home) & mask) < ((place - gap) & mask))
            continue;
        world->systems[gap] = world->systems[place];
        gap = place;
    }
    world->systems[gap] = (pl_shared_system){0};
}

void pl_world_release_system(pl_world *world, pl_system *system)
{
    if (!system || --system->references > 0)
        return;
    if (system->loose && !system->tets) { /* nobody else's, and not in the table */
        pl_system_destroy(world->memory, system);
        return;
    }
    int place = home_of(world, system->hash);
    while (world->systems[place].system != system)
        place = after(world, place);
    close_gap(world, place);
    world->system_count--;
    pl_system_destroy(world->memory, system);
}
