/* Worlds: made, destroyed, and their settings. The step itself is in step.c. */
#include "world/world.h"

#include <math.h>
#include <string.h>

static const uint32_t world_cookie = 0x706c7764;

uint32_t pl_abi_version(void)
{
    return PL_ABI_VERSION;
}

const char *pl_version(void)
{
    return PLIANT_VERSION;
}

bool pl_is_finite3(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

bool pl_is_finite4(const double v[4])
{
    return pl_is_finite3(v) && isfinite(v[3]);
}

bool pl_world_grow(pl_memory *memory, void *array, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return true;
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

pl_world_def pl_default_world_def(void)
{
    return (pl_world_def){.step = 1.0 / 60,
                          .substeps = 1,
                          .iterations = 10,
                          .stiff_iterations = 1,
                          .gravity = {0, -9.81, 0},
                          .max_steps = 8,
                          .cookie = world_cookie};
}

/* ---- Checks ------------------------------------------------------------------------------------------------------- */

static pl_status check_step(double step, int substeps, pl_error *error)
{
    PL_CHECK(step >= 1e-9 && step <= 1e3, PL_ERROR_ARGUMENT, error, "step",
             "is %g s; use a positive length of time (1/60 s is usual)", step);
    PL_CHECK(substeps >= 1 && substeps <= 100000, PL_ERROR_ARGUMENT, error, "substeps",
             "is %d; use 1 or more (at most 100000)", substeps);
    return PL_OK;
}

static pl_status check_iterations(int iterations, int stiff_iterations, pl_error *error)
{
    PL_CHECK(iterations >= 1 && iterations <= 1000000, PL_ERROR_ARGUMENT, error, "iterations",
             "is %d; use 1 or more (10 is usual)", iterations);
    PL_CHECK(stiff_iterations >= 1 && stiff_iterations <= 1000000, PL_ERROR_ARGUMENT, error, "stiff_iterations",
             "is %d; use 1 or more (1 is usual)", stiff_iterations);
    return PL_OK;
}

static bool is_acceleration(const double gravity[3])
{
    return pl_is_finite3(gravity) && fabs(gravity[0]) < 1e12 && fabs(gravity[1]) < 1e12 && fabs(gravity[2]) < 1e12;
}

static pl_status check_def(const pl_world_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == world_cookie, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_world_def");
    PL_TRY(check_step(def->step, def->substeps, error));
    PL_TRY(check_iterations(def->iterations, def->stiff_iterations, error));
    PL_CHECK(is_acceleration(def->gravity), PL_ERROR_ARGUMENT, error, "gravity", "is not a finite vector in m/s²");
    PL_CHECK(def->max_steps >= 1, PL_ERROR_ARGUMENT, error, "max_steps", "is %d; use 1 or more", def->max_steps);
    PL_CHECK(def->threads >= 0 && def->threads <= 1024, PL_ERROR_ARGUMENT, error, "threads",
             "is %d; use 0 to 1024", def->threads);
    return pl_task_system_check(def->tasks, error);
}

pl_status pl_world_check_unlocked(const pl_world *world)
{
    PL_REQUIRE(world && !world->stepping, PL_ERROR_STATE, NULL, NULL, "the world is inside its own step");
    return PL_OK;
}

/* ---- Life --------------------------------------------------------------------------------------------------------- */

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
    world->step = def->step;
    world->substeps = def->substeps;
    world->h = def->step / def->substeps;
    world->iterations = def->iterations;
    world->stiff_iterations = def->stiff_iterations;
    world->max_steps = def->max_steps;
    memcpy(world->gravity, def->gravity, sizeof world->gravity);
    world->field = def->field;
    world->field_user = def->field_user;
    world->logger = (pl_logger){def->log, def->log_user};
    world->tasks = pl_tasks_create(def->tasks, def->threads, world->memory);
    world->worker_count = world->tasks ? pl_tasks_worker_count(world->tasks) : 0;
    world->workers = PL_NEW(world->memory, pl_worker, world->worker_count);
    if (!world->tasks || !world->workers) {
        pl_world_destroy(world);
        return NULL;
    }
    return world;
}

pl_status pl_world_create(const pl_world_def *def, pl_world **world, pl_error *error)
{
    PL_REQUIRE(world, PL_ERROR_ARGUMENT, error, "world", "there is nowhere to put the world");
    *world = NULL;
    PL_TRY(check_def(def, error));
    *world = make(def);
    PL_CHECK(*world, PL_ERROR_MEMORY, error, "", "no memory for a world");
    return PL_OK;
}

void pl_world_clear(pl_world *world)
{
    for (int i = 0; i < world->live_count; i++)
        pl_record_destroy(world, world->live[i]);
    void *blocks[] = {world->bodies,     world->pins,           world->live,           world->systems,
                      world->blocks,     world->members,        world->sort_items,     world->field_positions,
                      world->field_velocities, world->field_masses};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(world->memory, blocks[i]);
}

void pl_world_destroy(pl_world *world)
{
    if (!world || pl_world_check_unlocked(world) != PL_OK)
        return;
    pl_world_clear(world);
    for (int i = 0; i < world->worker_count && world->workers; i++)
        pl_memory_free(world->memory, world->workers[i].work.scratch);
    pl_memory_free(world->memory, world->workers);
    pl_tasks_destroy(world->tasks);
    pl_memory *memory = world->memory;
    pl_memory_free(memory, world);
    free_memory(memory);
}

/* ---- Settings ----------------------------------------------------------------------------------------------------- */

double pl_world_time(const pl_world *world)
{
    return world->time;
}

uint64_t pl_world_allocations(const pl_world *world)
{
    return world->memory->allocations;
}

pl_status pl_world_set_gravity(pl_world *world, const double gravity[3])
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_REQUIRE(is_acceleration(gravity), PL_ERROR_ARGUMENT, NULL, NULL, "gravity is not a finite vector");
    memcpy(world->gravity, gravity, sizeof world->gravity);
    return PL_OK;
}

pl_status pl_world_set_iterations(pl_world *world, int iterations, int stiff_iterations)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_TRY(check_iterations(iterations, stiff_iterations, NULL));
    world->iterations = iterations;
    world->stiff_iterations = stiff_iterations;
    return PL_OK;
}

pl_status pl_world_set_field(pl_world *world, pl_field_function *field, void *user)
{
    PL_TRY(pl_world_check_unlocked(world));
    world->field = field;
    world->field_user = user;
    return PL_OK;
}

/* All new outfits first, so that nothing has changed if one cannot be had. The pins' stiffness depends on h and is
   computed again by a failed call's undoing. */
pl_status pl_world_set_step(pl_world *world, double step, int substeps)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_TRY(check_step(step, substeps, NULL));
    pl_outfit *outfits = PL_NEW(world->memory, pl_outfit, world->live_count);
    if (!outfits)
        return PL_ERROR_MEMORY;
    pl_status status = PL_OK;
    int done = 0;
    for (; done < world->live_count && status == PL_OK; done++) {
        pl_setup setup = pl_world_setup_of(world, world->live[done]);
        setup.h = step / substeps;
        status = pl_world_equip(world, world->live[done]->model, &setup, outfits + done, NULL);
    }
    for (int i = 0; i < done; i++) {
        if (status == PL_OK) {
            pl_world_adopt(world, world->live[i], outfits + i);
            continue;
        }
        pl_world_discard(world, outfits + i);
        pl_oriented *matter = &world->live[i]->matter;
        for (int k = 0; k < matter->hold_count; k++)
            matter->holds[k].stiffness = pl_hold_stiffness(&matter->system->key, matter->holds + k);
    }
    pl_memory_free(world->memory, outfits);
    if (status != PL_OK)
        return status;
    world->step = step;
    world->substeps = substeps;
    world->h = step / substeps;
    return PL_OK;
}
