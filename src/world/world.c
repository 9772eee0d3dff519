/* Worlds: made, destroyed, and their settings. The step itself is in step.c. */
#include "world/world.h"

#include <string.h>

static const uint32_t world_cookie = 0x706c7764;

/* Of the host's workers as of the pool's threads: each has scratch memory of its own. */
enum { MOST_WORKERS = 1024 };

uint32_t pl_abi_version(void)
{
    return PL_ABI_VERSION;
}

const char *pl_version(void)
{
    return PLIANT_VERSION;
}

pl_world_def pl_default_world_def(void)
{
    return (pl_world_def){.step = 1.0 / 60,
                          .substeps = 1,
                          .iterations = 10,
                          .stiff_iterations = 1,
                          .gravity = {0, -9.81, 0},
                          .max_steps = 8,
                          .sleeping = true,
                          .stiff_contact = true,
                          .cookie = world_cookie};
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static pl_status check_host(const pl_world_def *def, pl_error *error)
{
    PL_CHECK(def->threads >= 0 && def->threads <= MOST_WORKERS, PL_ERROR_ARGUMENT, error, "threads",
             "is %d; use 0 to %d", def->threads, MOST_WORKERS);
    PL_TRY(pl_task_system_check(def->tasks, error));
    PL_CHECK(!def->tasks || def->tasks->worker_count <= MOST_WORKERS, PL_ERROR_ARGUMENT, error,
             "tasks.worker_count", "is %d; use 1 to %d", def->tasks->worker_count, MOST_WORKERS);
    PL_CHECK(!def->allocator || (def->allocator->alloc && def->allocator->free), PL_ERROR_ARGUMENT,
             error, "allocator", "lacks a function; it needs both alloc and free");
    return PL_OK;
}

static pl_status check_def(const pl_world_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == world_cookie, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_world_def");
    PL_TRY(pl_check_step(def->step, def->substeps, error));
    PL_TRY(pl_check_iterations(def->iterations, def->stiff_iterations, error));
    PL_CHECK(pl_is_gravity(def->gravity), PL_ERROR_ARGUMENT, error, "gravity",
             "is not a finite vector in m/s²");
    PL_CHECK(def->max_steps >= 1, PL_ERROR_ARGUMENT, error, "max_steps", "is %d; use 1 or more",
             def->max_steps);
    return check_host(def, error);
}

pl_status pl_world_check_unlocked(const pl_world *world, pl_error *error)
{
    PL_REQUIRE(world, PL_ERROR_ARGUMENT, error, "world", "there is no world");
    PL_REQUIRE(!world->stepping, PL_ERROR_STATE, error, "world",
               "the world is inside its own step");
    return PL_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_memory(pl_memory *memory)
{
    pl_memory last = *memory;
    pl_memory_free(&last, memory);
}

/* The counters live in the memory they count. */
static pl_memory *make_memory(const pl_world_def *def)
{
    pl_memory first;
    pl_memory_init(&first, def->allocator, def->memory_limit);
    pl_memory *memory = PL_NEW(&first, pl_memory, 1);
    if (memory)
        *memory = first;
    return memory;
}

static void copy_settings(pl_world *world, const pl_world_def *def)
{
    world->step = def->step;
    world->substeps = def->substeps;
    world->h = def->step / def->substeps;
    world->iterations = def->iterations;
    world->stiff_iterations = def->stiff_iterations;
    world->max_steps = def->max_steps;
    world->sleeping = def->sleeping;
    world->stiff_contact = def->stiff_contact;
    memcpy(world->gravity, def->gravity, sizeof world->gravity);
    world->field = def->field;
    world->field_user = def->field_user;
    world->logger = (pl_logger){def->log, def->log_user};
}

static pl_world *make(const pl_world_def *def)
{
    pl_memory *memory = make_memory(def);
    if (!memory)
        return NULL;
    pl_world *world = PL_NEW(memory, pl_world, 1);
    if (!world) {
        free_memory(memory);
        return NULL;
    }
    world->memory = memory;
    copy_settings(world, def);
    world->tasks = pl_tasks_create(def->tasks, def->threads, memory);
    if (world->tasks) {
        world->worker_count = pl_tasks_worker_count(world->tasks);
        world->workers = PL_NEW(memory, pl_worker, world->worker_count);
        world->contact = pl_contact_create(memory, world->worker_count);
    }
    if (!world->workers || !world->contact) {
        pl_world_destroy(world);
        return NULL;
    }
    return world;
}

static PL_APART pl_status create(const pl_world_def *def, pl_world **world, pl_error *error)
{
    PL_REQUIRE(world, PL_ERROR_ARGUMENT, error, "world", "there is nowhere to put the world");
    *world = NULL;
    PL_TRY(check_def(def, error));
    *world = make(def);
    PL_CHECK(*world, PL_ERROR_MEMORY, error, "", "no memory for a world");
    return PL_OK;
}

pl_status pl_world_create(const pl_world_def *def, pl_world **world, pl_error *error)
{
    PL_COMPUTE(create(def, world, error));
}

void pl_world_clear(pl_world *world)
{
    pl_colliders_clear(world);
    pl_attachments_clear(world);
    pl_events_clear(&world->events, world->memory);
    for (pl_record *record = world->first, *next; record; record = next) {
        next = record->next;
        pl_record_destroy(world, record);
    }
    void *blocks[] = {
        world->bodies,           world->pins,         world->systems,    world->live,
        world->members,          world->blocks,       world->sort_items, world->field_positions,
        world->field_velocities, world->field_masses, world->entered,    world->parents,
        world->islands,          world->others,       world->tets,       world->tet_groups,
        world->tet_bodies,       world->tet_motions,  world->kept.list};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(world->memory, blocks[i]);
    pl_skin_free(world);
}

void pl_world_destroy(pl_world *world)
{
    if (!world || pl_world_check_unlocked(world, NULL) != PL_OK)
        return;
    pl_memory *memory = world->memory;
    pl_world_clear(world);
    for (int i = 0; i < world->worker_count && world->workers; i++)
        pl_memory_free(memory, world->workers[i].work.scratch);
    pl_memory_free(memory, world->workers);
    pl_contact_destroy(world->contact);
    pl_tasks_destroy(world->tasks);
    pl_memory_free(memory, world);
    free_memory(memory);
}

/* ---- Settings -------------------------------------------------------------------------------- */

double pl_world_time(const pl_world *world)
{
    return world ? world->time : 0;
}

uint64_t pl_world_allocations(const pl_world *world)
{
    return world ? world->memory->allocations : 0;
}

pl_status pl_world_set_gravity(pl_world *world, const double gravity[3])
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_REQUIRE(pl_is_gravity(gravity), PL_ERROR_ARGUMENT, NULL, NULL,
               "gravity is not a finite vector");
    memcpy(world->gravity, gravity, sizeof world->gravity);
    pl_world_wake_all(world);
    return PL_OK;
}

pl_status pl_world_set_iterations(pl_world *world, int iterations, int stiff_iterations)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_TRY(pl_check_iterations(iterations, stiff_iterations, NULL));
    world->iterations = iterations;
    world->stiff_iterations = stiff_iterations;
    world->regroup = true; /* many iterations are done in double, on half as many lanes */
    return PL_OK;
}

pl_status pl_world_set_field(pl_world *world, pl_field_function *field, void *user)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    world->field = field;
    world->field_user = user;
    pl_world_wake_all(world);
    return PL_OK;
}

/* An outfit for every body at another sub-step, or for none. */
static pl_status equip_all(pl_world *world, double h, pl_outfit *outfits)
{
    int made = 0;
    for (pl_record *record = world->first; record; record = record->next) {
        pl_setup setup = pl_world_setup_of(world, record);
        setup.h = h;
        pl_status status = pl_world_equip(world, record->model, &setup, outfits + made, NULL);
        if (status != PL_OK) {
            while (made > 0)
                pl_world_discard(world, outfits + --made);
            return status;
        }
        made++;
    }
    return PL_OK;
}

static PL_APART pl_status set_step(pl_world *world, double step, int substeps)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_TRY(pl_check_step(step, substeps, NULL));
    pl_outfit *outfits = PL_NEW(world->memory, pl_outfit, world->live_count);
    if (!outfits)
        return PL_ERROR_MEMORY;
    pl_status status = equip_all(world, step / substeps, outfits);
    if (status == PL_OK) {
        int i = 0;
        for (pl_record *record = world->first; record; record = record->next) {
            pl_world_adopt(world, record, outfits + i++);
            pl_world_wake(world, record);
            pl_record_forget_old(&record->matter); /* it is measured in the old sub-step */
        }
        world->step = step;
        world->substeps = substeps;
        world->h = step / substeps;
    }
    pl_memory_free(world->memory, outfits);
    return status;
}

pl_status pl_world_set_step(pl_world *world, double step, int substeps)
{
    PL_COMPUTE(set_step(world, step, substeps));
}
