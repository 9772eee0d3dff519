/* What a body needs for a setup: a system, and for its pins either low-rank corrections on it or,
   where they are many, a system that has them inside. Everything is made before anything is
   changed, so that a call that fails leaves the world as it was. */
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
                      .hold_count = matter->hold_count,
                      .removed = -1,
                      .loose_count = matter->n,
                      .loose_room = matter->capacity,
                      .masses = matter->clustered ? matter->clustered->mass : NULL,
                      .tets = record->tetrahedral ? &record->tets : NULL,
                      .present = matter->tetrahedral,
                      .tet_stiffness = record->tet_stiffness,
                      .examples = record->examples,
                      .posed = matter->posed != NULL};
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Many position pins are cheaper inside the matrix than beside it. The stiff solver puts all pins
   into its own matrix and needs room there for the pairs of particles that a pin couples. */
static bool is_in_matrix(const pl_hold *hold, pl_solver solver, bool many)
{
    return (many && hold->kind == PL_PIN_POSITION) ||
           (solver == PL_SOLVER_STIFF && hold->count > 1);
}

/* The key of a setup; fills in how stiff the holds are. `absorbed` has room for all of them. */
static pl_system_key key_of(pl_model *model, const pl_setup *setup, const pl_outfit *outfit,
                            pl_hold *absorbed)
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
    for (int i = 0; i < outfit->hold_count; i++) {
        outfit->holds[i].stiffness = pl_hold_stiffness(&key, outfit->holds + i);
        positions += outfit->holds[i].kind == PL_PIN_POSITION;
    }
    bool many = positions > pl_most_corrections(model->particle_count);
    for (int i = 0; i < outfit->hold_count; i++)
        if (is_in_matrix(outfit->holds + i, setup->solver, many))
            absorbed[key.absorbed_count++] = outfit->holds[i];
    key.pattern_only = key.absorbed_count > 0 && !many;
    return key;
}

/* Matter without a matrix: pins draw as hard as they say. */
static pl_status make_loose(pl_world *world, pl_model *model, const pl_setup *setup,
                            pl_outfit *outfit, pl_error *error)
{
    pl_system_key key = {.model = model,
                         .h = setup->h,
                         .material = setup->material,
                         .fixed = setup->fixed,
                         .fixed_count = setup->fixed_count};
    for (int i = 0; i < outfit->hold_count; i++)
        outfit->holds[i].stiffness = outfit->holds[i].strength;
    return pl_system_create_loose(world->memory, &key, setup->loose_count, setup->loose_room,
                                  setup->masses, &outfit->shared.system, error);
}

static pl_status find_system(pl_world *world, pl_model *model, const pl_setup *setup,
                             pl_outfit *outfit, pl_error *error)
{
    pl_hold *absorbed = NULL;
    if (outfit->hold_count && !(absorbed = PL_NEW(world->memory, pl_hold, outfit->hold_count)))
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another pin");
    pl_system_key key = key_of(model, setup, outfit, absorbed);
    pl_status status = pl_world_get_system(world, &key, &outfit->shared, error);
    pl_memory_free(world->memory, absorbed);
    return status;
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static pl_status copy_holds(pl_world *world, const pl_setup *setup, pl_outfit *outfit,
                            pl_error *error)
{
    int count = setup->hold_count + (setup->added != NULL) - (setup->removed >= 0);
    if (!count)
        return PL_OK;
    outfit->holds = PL_NEW(world->memory, pl_hold, count);
    PL_CHECK(outfit->holds, PL_ERROR_MEMORY, error, "", "no memory for another pin");
    for (int i = 0; i < setup->hold_count; i++)
        if (i != setup->removed)
            outfit->holds[outfit->hold_count++] = setup->holds[i];
    if (setup->added)
        outfit->holds[outfit->hold_count++] = *setup->added;
    for (int i = 0; i < count; i++)
        outfit->holds[i].column = -1;
    return PL_OK;
}

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

static pl_status correct(pl_world *world, pl_outfit *outfit, pl_error *error)
{
    const pl_system *system = outfit->shared.system;
    if (system->key.absorbed_count && !system->key.pattern_only)
        return PL_OK;
    for (int i = 0; i < outfit->hold_count; i++) {
        pl_rank_one change;
        pl_hold *hold = outfit->holds + i;
        if (hold->kind != PL_PIN_POSITION || !change_of(system, hold, &change))
            continue;
        if (!outfit->correction)
            outfit->correction =
                pl_pins_create(world->memory, system->factor,
                               system->grounded ? NULL : system->mass, PL_MOST_CORRECTIONS);
        pl_status status =
            outfit->correction ? pl_pins_add(outfit->correction, &change) : PL_ERROR_MEMORY;
        PL_CHECK(status == PL_OK, status, error, "pins", "the pin cannot be added: %s",
                 pl_status_text(status));
        hold->column = outfit->correction->count - 1;
    }
    return PL_OK;
}

/* Grips in the order in which the local step meets their particles; those of fixed ones do nothing
   and are left out. `rank` has room for all particles, `items` for twice all grips. */
static void sort_grips(const pl_model *model, pl_outfit *outfit, int32_t *rank, pl_sort_item *items)
{
    int count = 0;
    for (int k = 0; k < model->particle_count; k++)
        rank[model->order[k]] = k;
    for (int i = 0; i < outfit->hold_count; i++)
        for (int j = 0; j < outfit->holds[i].count; j++) {
            int32_t particle = outfit->holds[i].particle[j];
            if (!outfit->shared.system->is_fixed[particle])
                items[count++] =
                    (pl_sort_item){(uint64_t)rank[particle], (uint32_t)(i * PL_MAX_INFLUENCES + j)};
        }
    pl_sort(items, items + count, (size_t)count);
    for (int g = 0; g < count; g++) {
        int hold = (int)items[g].index / PL_MAX_INFLUENCES;
        int slot = (int)items[g].index % PL_MAX_INFLUENCES;
        outfit->grips[g] = (pl_grip){outfit->holds[hold].particle[slot], hold, slot};
    }
    outfit->grip_count = count;
}

static pl_status make_grips(pl_world *world, const pl_model *model, pl_outfit *outfit,
                            pl_error *error)
{
    size_t count = 0;
    for (int i = 0; i < outfit->hold_count; i++)
        count += (size_t)outfit->holds[i].count;
    if (!count)
        return PL_OK;
    outfit->grips = PL_NEW(world->memory, pl_grip, count);
    int32_t *rank = PL_NEW(world->memory, int32_t, model->particle_count);
    pl_sort_item *items = PL_NEW(world->memory, pl_sort_item, 2 * count);
    bool good = outfit->grips && rank && items;
    if (good)
        sort_grips(model, outfit, rank, items);
    pl_memory_free(world->memory, rank);
    pl_memory_free(world->memory, items);
    PL_CHECK(good, PL_ERROR_MEMORY, error, "", "no memory for another pin");
    return PL_OK;
}

/* ---- Scratch memory -------------------------------------------------------------------------- */

/* Lanes are only filled by bodies that share the system, and not where that would be too much. */
static size_t scratch_size(const pl_system *system, pl_solver solver)
{
    size_t lone = pl_oriented_scratch(system, solver, true);
    int most = pl_oriented_lanes(system, solver, 1);
    if (system->references < 2 || pl_oriented_prefers_lone(system, solver, 1, most))
        return lone;
    size_t wide = pl_oriented_scratch(system, solver, false);
    return wide > lone ? wide : lone;
}

static pl_status reserve_scratch(pl_world *world, const pl_system *system, pl_solver solver,
                                 pl_error *error)
{
    size_t size = scratch_size(system, solver);
    for (int i = 0; i < world->worker_count; i++) {
        pl_worker *worker = world->workers + i;
        if (worker->scratch_size >= size)
            continue;
        void *scratch = pl_memory_alloc(world->memory, size, 1);
        PL_CHECK(scratch, PL_ERROR_MEMORY, error, "", "no memory to solve %d particles", system->n);
        pl_memory_free(world->memory, worker->work.scratch);
        worker->work.scratch = scratch;
        worker->scratch_size = size;
    }
    return PL_OK;
}

/* ---- Outfits --------------------------------------------------------------------------------- */

static pl_status assemble(pl_world *world, pl_model *model, const pl_setup *setup,
                          pl_outfit *outfit, pl_error *error)
{
    PL_TRY(copy_holds(world, setup, outfit, error));
    if (setup->masses)
        return make_loose(world, model, setup, outfit, error);
    if (setup->tets)
        return pl_tetrahedral_equip(world, model, setup, outfit, error);
    PL_TRY(find_system(world, model, setup, outfit, error));
    PL_TRY(correct(world, outfit, error));
    PL_TRY(make_grips(world, model, outfit, error));
    return reserve_scratch(world, outfit->shared.system, setup->solver, error);
}

pl_status pl_world_equip(pl_world *world, pl_model *model, const pl_setup *setup, pl_outfit *outfit,
                         pl_error *error)
{
    *outfit = (pl_outfit){0};
    pl_setup own = *setup;
    if (own.posed && own.solver == PL_SOLVER_STIFF)
        own.solver = PL_SOLVER_FAST;
    pl_status status = assemble(world, model, &own, outfit, error);
    if (status != PL_OK)
        pl_world_discard(world, outfit);
    return status;
}

void pl_world_adopt(pl_world *world, pl_record *record, const pl_outfit *outfit)
{
    pl_oriented *matter = &record->matter;
    pl_outfit old = {.shared.system = matter->system,
                     .correction = matter->correction,
                     .holds = matter->holds,
                     .grips = matter->grips};
    bool moved = matter->system && matter->system->grounded != outfit->shared.system->grounded;
    record->system_ordinal = outfit->shared.ordinal;
    matter->system = outfit->shared.system;
    matter->correction = outfit->correction;
    matter->holds = outfit->holds;
    matter->hold_count = outfit->hold_count;
    matter->grips = outfit->grips;
    matter->grip_count = outfit->grip_count;
    if (outfit->tetrahedral) {
        old.tetrahedral = matter->tetrahedral;
        matter->tetrahedral = outfit->tetrahedral;
        record->solved = (pl_tet_report){0};
    }
    pl_world_discard(world, &old);
    if (moved)
        pl_record_settle_mean(record);
    world->regroup = world->reenter = true;
}

void pl_world_discard(pl_world *world, pl_outfit *outfit)
{
    pl_pins_destroy(outfit->correction);
    pl_memory_free(world->memory, outfit->holds);
    pl_memory_free(world->memory, outfit->grips);
    pl_tetrahedral_destroy(outfit->tetrahedral);
    pl_world_release_system(world, outfit->shared.system);
    *outfit = (pl_outfit){0};
}
