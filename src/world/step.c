/* The step, as a list of stages. Bodies that share a system are solved side by side in blocks;
   blocks and bodies are cut into tasks of constant size; nothing is allocated. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "world/world.h"

/* ---- Solve ------------------------------------------------------------------ */

static void solve_blocks(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    for (int i = begin; i < end; i++) {
        pl_block block = world->blocks[i];
        bool stiff = block.solver == PL_SOLVER_STIFF;
        block.backward = world->backward;
        for (int k = 0; k < block.count; k++)
            pl_oriented_lead(block.bodies[k], world->h);
        pl_oriented_solve(&block, world->h, stiff ? world->stiff_iterations : world->iterations,
                          &world->workers[worker].work);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void begin_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        pl_record_show_now(&world->live[i]->matter);
}

/* Forces are spent; what was driven has arrived. */
static void end_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        pl_record *record = world->live[i];
        pl_oriented *matter = &record->matter;
        if (record->forced)
            memset(record->force, 0, sizeof(double) * 3 * (size_t)matter->n);
        record->forced = false;
        if (matter->fixed_count)
            memcpy(matter->drive_from, matter->drive_to,
                   sizeof(double) * 7 * (size_t)matter->fixed_count);
        for (int p = 0; p < matter->hold_count; p++)
            memcpy(matter->holds[p].from, matter->holds[p].to, sizeof matter->holds[p].from);
    }
}

static void take_step(pl_world *world)
{
    double start = world->time;
    int s = 0;
    pl_tasks_run(world->tasks, begin_bodies, world, world->awake_count, PL_BODIES_PER_TASK);
    pl_colliders_begin(world);
    pl_attachments_begin(world);
    for (; s < world->substeps && world->awake_count; s++) {
        world->time = start + s * world->h;
        world->backward = (world->steps * (uint64_t)world->substeps + (uint64_t)s) % 2 == 1;
        pl_world_predict(world, (double)(s + 1) / world->substeps);
        pl_tasks_run(world->tasks, solve_blocks, world, world->block_count, 1);
        world->inner = s + 1 < world->substeps;
        pl_world_solve_others(world);
        pl_world_solve_tets(world);
        pl_world_solve_posed(world);
        pl_colliders_aim(world, s);
        pl_attachments_aim(world, s);
        pl_world_touch(world, (world->substeps - s) * world->h);
        pl_world_change_tets(world);
        pl_world_change_others(world);
    }
    pl_colliders_end(world, s);
    pl_attachments_end(world);
    pl_tasks_run(world->tasks, end_bodies, world, world->awake_count, PL_BODIES_PER_TASK);
    pl_world_finish_others(world);
    pl_world_finish_tets(world);
    pl_events_close(world, s);
    pl_world_bound_bodies(world);
    if (world->sleeping && !world->field && world->awake_count)
        pl_world_fall_asleep(world);
    world->time = start + world->step;
    world->steps++;
}

static void run(pl_world *world, uint64_t count, pl_report *report)
{
    uint64_t ns = pl_clock_ns(), ticks = pl_ticks();
    *report = (pl_report){.steps = count};
    pl_report_begin(world);
    world->stepping = true;
    for (uint64_t i = 0; i < count; i++) {
        pl_colliders_wake(world);
        pl_attachments_wake(world);
        if (world->regroup)
            pl_world_regroup(world);
        take_step(world);
    }
    double ms = (double)(pl_clock_ns() - ns) * 1e-6, elapsed = (double)(pl_ticks() - ticks);
    pl_report_fill(world, ms, elapsed > 0 ? ms / elapsed : 0, report);
    world->stepping = false;
}

/* ---- Interface ------------------------------------------------------------------------------- */

static PL_APART pl_status step(pl_world *world, pl_report *report)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    pl_report own;
    run(world, 1, report ? report : &own);
    return PL_OK;
}

pl_status pl_world_step(pl_world *world, pl_report *report)
{
    PL_COMPUTE(step(world, report));
}

/* What is left of the time owed when the whole steps are taken out of it. So much time that the
   difference has no digits left is mostly dropped anyway. */
static double remainder_of(double total, double whole, double step)
{
    double rest = total - whole * step;
    if (!(rest >= 0))
        return 0;
    return rest < step ? rest : fmod(rest, step);
}

static PL_APART pl_status advance(pl_world *world, double seconds, double *fraction,
                                  pl_report *report)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_REQUIRE(seconds >= 0 && isfinite(seconds), PL_ERROR_ARGUMENT, NULL, NULL,
               "time does not go backwards");
    double total = world->owed + seconds, whole = floor(total / world->step);
    uint64_t steps = whole < world->max_steps ? (uint64_t)whole : (uint64_t)world->max_steps;
    double dropped = whole - (double)steps, rest = remainder_of(total, whole, world->step);
    pl_report own;
    report = report ? report : &own;
    run(world, steps, report);
    report->dropped = dropped < 1e18 ? (uint64_t)dropped : (uint64_t)1e18;
    world->owed = rest;
    if (fraction) {
        double part = rest / world->step;
        *fraction = part < 1 ? part : 1 - 0x1p-53;
    }
    return PL_OK;
}

pl_status pl_world_advance(pl_world *world, double seconds, double *fraction, pl_report *report)
{
    PL_COMPUTE(advance(world, seconds, fraction, report));
}
