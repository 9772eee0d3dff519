/* Which system a body uses. Systems are found by (model, step, materials, fixed set) and shared; pins are low-rank
   corrections on a shared system, or, where they are many, part of a system of their own. Everything a setup needs is
   made before anything is changed, so that a call that fails leaves the world as it was. */
#include <string.h>

#include "world/world.h"

pl_setup pl_world_setup_of(const pl_world *world, const pl_record *record)
{
    const pl_oriented *matter = &record->matter;
    return (pl_setup){.h = world->h,
                      .solver = matter->solver,
                      .material = record->material,
                      .edge_stiffness = record->edge_stiffness,
                      .particle_density = record->particle_density,
                      .fixed = matter->fixed,
                      .fixed_count = matter->fixed_count,
                      .holds = matter->holds,
                      .hold_count = matter->hold_count};
}

/* ---- Finding and making ------------------------------------------------------------------------------------------- */

static pl_status get_system(pl_world *world, const pl_system_key *key, pl_system **out, pl_error *error)
{
    uint64_t hash = pl_system_key_hash(key);
    for (int i = 0; i < world->system_count; i++)
        if (world->systems[i]->hash == hash && pl_system_key_equal(&world->systems[i]->key, key)) {
            world->systems[i]->references++;
            *out = world->systems[i];
            return PL_OK;
        }
    if (!pl_world_grow(world->memory, &world->systems, world->system_count, &world->system_capacity,
                       sizeof *world->systems))
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another system");
    PL_TRY(pl_system_create(world->memory, key, out, error));
    world->systems[world->system_count++] = *out;
    return PL_OK;
}

void pl_world_release_system(pl_world *world, pl_system *system)
{
    if (!system || --system->references > 0)
        return;
    int i = 0;
    while (world->systems[i] != system)
        i++;
    memmove(world->systems + i, world->systems + i + 1,
            sizeof *world->systems * (size_t)(world->system_count - i - 1));
    world->system_count--;
    pl_system_destroy(world->memory, system);
}

/* Many position pins are cheaper inside the matrix than beside it. The stiff solver puts all pins into its own matrix and
   needs room there for the pairs of particles that a pin couples. */
static bool is_in_matrix(const pl_hold *hold, pl_solver solver, bool many)
{
    return (many && hold->kind == PL_PIN_POSITION) || (solver == PL_SOLVER_STIFF && hold->count > 1);
}

/* The key of a setup. `absorbed` has room for all holds. */
static pl_system_key key_of(pl_model *model, const pl_setup *setup, pl_hold *absorbed)
{
    pl_system_key key = {.model = model,
                         .h = setup->h,
                         .material = setup->material,
                         .edge_stiffness = setup->edge_stiffness,
                         .particle_density = setup->particle_density,
                         .fixed = setup->fixed,
                         .fixed_count = setup->fixed_count,
                         .absorbed = absorbed};
    int positions = 0;
    for (int i = 0; i < setup->hold_count; i++) {
        setup->holds[i].stiffness = pl_hold_stiffness(&key, setup->holds + i);
        positions += setup->holds[i].kind == PL_PIN_POSITION;
    }
    bool many = positions > PL_MOST_CORRECTIONS;
    for (int i = 0; i < setup->hold_count; i++)
        if (is_in_matrix(setup->holds + i, setup->solver, many))
            absorbed[key.absorbed_count++] = setup->holds[i];
    key.pattern_only = key.absorbed_count > 0 && !many;
    return key;
}

/* ---- Pins --------------------------------------------------------------------------------------------------------- */

/* The rank-one change of a position pin; false when all that carries it is fixed. */
static bool change_of(const pl_system *system, const pl_hold *hold, pl_rank_one *change)
{
    *change = (pl_rank_one){.strength = hold->stiffness};
    for (int k = 0; k < hold->count; k++)
        if (!system->is_fixed[hold->particle[k]]) {
            change->node[change->count] = hold->particle[k];
            change->weight[change->count++] = hold->weight[k];
        }
    return change->count > 0;
}

static pl_status correct(pl_world *world, const pl_setup *setup, pl_outfit *outfit, pl_error *error)
{
    pl_system *system = outfit->system;
    for (int i = 0; i < setup->hold_count; i++)
        setup->holds[i].column = -1;
    if (system->key.absorbed_count && !system->key.pattern_only)
        return PL_OK;
    for (int i = 0; i < setup->hold_count; i++) {
        pl_rank_one change;
        if (setup->holds[i].kind != PL_PIN_POSITION || !change_of(system, setup->holds + i, &change))
            continue;
        if (!outfit->correction)
            outfit->correction = pl_pins_create(world->memory, system->factor,
                                                system->grounded ? NULL : system->mass, PL_MOST_CORRECTIONS);
        if (!outfit->correction || pl_pins_add(outfit->correction, &change) != PL_OK)
            return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another pin");
        setup->holds[i].column = outfit->correction->count - 1;
    }
    return PL_OK;
}

/* Grips in the order in which the local step meets their particles. */
static pl_status make_grips(pl_world *world, const pl_model *model, const pl_setup *setup, pl_outfit *outfit,
                            pl_error *error)
{
    int count = 0, at = 0;
    for (int i = 0; i < setup->hold_count; i++)
        count += setup->holds[i].count;
    outfit->grips = PL_NEW(world->memory, pl_grip, count);
    if (!outfit->grips)
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another pin");
    for (int k = 0; k < model->particle_count && at < count; k++)
        for (int i = 0; i < setup->hold_count; i++)
            for (int j = 0; j < setup->holds[i].count; j++)
                if (setup->holds[i].particle[j] == model->order[k] && !outfit->system->is_fixed[model->order[k]])
                    outfit->grips[at++] = (pl_grip){model->order[k], i, j};
    outfit->grip_count = at;
    return PL_OK;
}

/* ---- Scratch memory ----------------------------------------------------------------------------------------------- */

static pl_status reserve_scratch(pl_world *world, const pl_system *system, pl_solver solver, pl_error *error)
{
    size_t lone = pl_oriented_scratch(system, solver, true), wide = pl_oriented_scratch(system, solver, false);
    size_t size = lone > wide ? lone : wide;
    for (int i = 0; i < world->worker_count; i++) {
        pl_worker *worker = world->workers + i;
        if (worker->scratch_size >= size)
            continue;
        void *scratch = pl_memory_alloc(world->memory, size, 1);
        if (!scratch)
            return pl_fail(error, PL_ERROR_MEMORY, "", "no memory to solve %d particles", system->n);
        pl_memory_free(world->memory, worker->work.scratch);
        worker->work.scratch = scratch;
        worker->scratch_size = size;
    }
    return PL_OK;
}

/* ---- Outfits ------------------------------------------------------------------------------------------------------ */

pl_status pl_world_equip(pl_world *world, pl_model *model, const pl_setup *setup, pl_outfit *outfit, pl_error *error)
{
    *outfit = (pl_outfit){0};
    pl_hold *absorbed = PL_NEW(world->memory, pl_hold, setup->hold_count);
    if (!absorbed)
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another pin");
    pl_system_key key = key_of(model, setup, absorbed);
    pl_status status = get_system(world, &key, &outfit->system, error);
    pl_memory_free(world->memory, absorbed);
    if (status == PL_OK)
        status = correct(world, setup, outfit, error);
    if (status == PL_OK)
        status = make_grips(world, model, setup, outfit, error);
    if (status == PL_OK)
        status = reserve_scratch(world, outfit->system, setup->solver, error);
    if (status != PL_OK)
        pl_world_discard(world, outfit);
    return status;
}

void pl_world_adopt(pl_world *world, pl_record *record, const pl_outfit *outfit)
{
    pl_oriented *matter = &record->matter;
    pl_outfit old = {matter->system, matter->correction, matter->grips, matter->grip_count};
    matter->system = outfit->system;
    matter->correction = outfit->correction;
    matter->grips = outfit->grips;
    matter->grip_count = outfit->grip_count;
    pl_world_discard(world, &old);
    pl_record_settle_mean(record);
    world->regroup = true;
}

void pl_world_discard(pl_world *world, pl_outfit *outfit)
{
    pl_pins_destroy(outfit->correction);
    pl_memory_free(world->memory, outfit->grips);
    pl_world_release_system(world, outfit->system);
    *outfit = (pl_outfit){0};
}
