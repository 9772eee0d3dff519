/* The step, as a list of stages. Bodies that share a system are solved side by side in blocks; blocks and bodies are
   cut into tasks of constant size; nothing is allocated. */
#include <math.h>
#include <string.h>

#include "base/float_env.h"
#include "world/world.h"

enum { BODIES_PER_TASK = 16 };

/* ---- Who is solved with whom -------------------------------------------------------------------------------------- */

static uint64_t group_of(const pl_world *world, const pl_oriented *matter)
{
    int i = 0;
    while (world->systems[i] != matter->system)
        i++;
    return (uint64_t)i * 4 + (uint64_t)matter->solver;
}

static void add_block(pl_world *world, pl_oriented **bodies, int count, bool lone)
{
    world->blocks[world->block_count++] =
        (pl_block){.system = bodies[0]->system, .solver = bodies[0]->solver, .bodies = bodies, .count = count,
                   .lone = lone};
}

/* Full blocks of as many bodies as there are lanes, and the rest alone or side by side, whichever is faster. */
static void cut_group(pl_world *world, pl_oriented **bodies, int count)
{
    int lanes = pl_oriented_lanes(bodies[0]->system, bodies[0]->solver);
    while (count > 0) {
        int part = count < lanes ? count : lanes;
        bool lone = pl_oriented_prefers_lone(bodies[0]->system, bodies[0]->solver, part);
        if (lone)
            for (int i = 0; i < part; i++)
                add_block(world, bodies + i, 1, true);
        else
            add_block(world, bodies, part, false);
        bodies += part;
        count -= part;
    }
}

static void regroup(pl_world *world)
{
    int count = world->live_count;
    for (int i = 0; i < count; i++)
        world->sort_items[i] = (pl_sort_item){group_of(world, &world->live[i]->matter), (uint32_t)i};
    pl_sort(world->sort_items, world->sort_items + count, (size_t)count);
    world->block_count = 0;
    for (int i = 0; i < count; i++)
        world->members[i] = &world->live[world->sort_items[i].index]->matter;
    for (int first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && world->sort_items[next].key == world->sort_items[first].key)
            next++;
        cut_group(world, world->members + first, next - first);
    }
    world->regroup = false;
}

/* ---- Predict ------------------------------------------------------------------------------------------------------ */

static void ask_field(pl_world *world, pl_record *record, float *forces)
{
    const pl_oriented *matter = &record->matter;
    double unit = record->model->unit;
    for (int i = 0; i < matter->n; i++) {
        for (int k = 0; k < 3; k++) {
            world->field_positions[3 * i + k] = (matter->now.origin[k] + (double)matter->now.x[3 * i + k]) * unit;
            world->field_velocities[3 * i + k] =
                (float)((matter->now.velocity[k] + (double)matter->now.u[3 * i + k]) * unit);
        }
        world->field_masses[i] = (float)(matter->system->mass[i] * matter->system->mass_unit);
    }
    pl_field_query query = {.time = world->time,
                            .body_index = record->slot,
                            .body_user = record->user,
                            .count = matter->n,
                            .positions = world->field_positions,
                            .velocities = world->field_velocities,
                            .masses = world->field_masses,
                            .forces = forces};
    world->field(world->field_user, &query);
}

/* Forces become accelerations; their mean joins gravity in the mean motion of a free body. */
static void push(pl_world *world, pl_record *record, double mean[3])
{
    pl_oriented *matter = &record->matter;
    const pl_system *system = matter->system;
    mean[0] = mean[1] = mean[2] = 0;
    matter->pushed = record->forced || world->field;
    if (!matter->pushed)
        return;
    memset(matter->push, 0, sizeof(float) * 3 * (size_t)matter->n);
    if (world->field)
        ask_field(world, record, matter->push);
    double scale = 1 / (system->mass_unit * record->model->unit);
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++) {
            double force = (double)matter->push[3 * i + k] + (double)record->force[3 * i + k];
            force = isfinite(force) ? force * scale : 0;
            matter->push[3 * i + k] = (float)(force / system->mass[i]);
            mean[k] += force / system->total_mass;
        }
    for (int k = 0; k < 3 && !system->grounded; k++)
        for (int i = 0; i < matter->n; i++)
            matter->push[3 * i + k] = (float)((double)matter->push[3 * i + k] - mean[k]);
}

/* Targets of fixed particles and pins at the end of this sub-step, relative to the body's origin. */
static void aim(pl_oriented *matter, double t)
{
    for (int f = 0; f < matter->fixed_count; f++) {
        const double *from = matter->drive_from + 7 * f, *to = matter->drive_to + 7 * f;
        double *now = matter->drive_now + 7 * f, side = 0, length = 0;
        for (int k = 0; k < 3; k++)
            now[k] = from[k] + t * (to[k] - from[k]) - matter->now.origin[k];
        for (int k = 3; k < 7; k++)
            side += from[k] * to[k];
        for (int k = 3; k < 7; k++) {
            now[k] = t == 1 ? to[k] : from[k] * (side < 0 ? t - 1 : 1 - t) + t * to[k];
            length += now[k] * now[k];
        }
        for (int k = 3; k < 7 && length > 0; k++)
            now[k] /= sqrt(length);
    }
    for (int p = 0; p < matter->hold_count; p++) {
        pl_hold *hold = matter->holds + p;
        double length = 0;
        for (int k = 0; k < 3; k++) {
            hold->now[k] = hold->from[k] + t * (hold->to[k] - hold->from[k]);
            length += hold->now[k] * hold->now[k];
        }
        for (int k = 0; k < 3; k++)
            if (hold->kind == PL_PIN_POSITION)
                hold->now[k] -= matter->now.origin[k];
            else
                hold->now[k] = length > 1e-12 ? hold->now[k] / sqrt(length) : hold->to[k];
    }
}

/* `now` becomes `old`; the solver writes a new `now`. */
static void turn_over(pl_oriented *matter)
{
    pl_state old = matter->old;
    matter->old = matter->now;
    matter->now = old;
    memcpy(matter->now.origin, matter->old.origin, sizeof matter->now.origin);
    memcpy(matter->now.velocity, matter->old.velocity, sizeof matter->now.velocity);
}

static void predict_body(pl_world *world, pl_record *record, double t)
{
    pl_oriented *matter = &record->matter;
    double h = world->h, mean[3], unit = record->model->unit;
    push(world, record, mean);
    aim(matter, t);
    turn_over(matter);
    bool grounded = matter->system->grounded;
    for (int k = 0; k < 3; k++) {
        double pull = world->gravity[k] * matter->gravity_scale / unit + (grounded ? 0 : mean[k]);
        double carry = h * matter->old.velocity[k];
        matter->drift[k] = carry + h * h * pull;
        /* Where the iteration starts: with gravity in the start, a pinned body's rest would be no fixed point. A free
           body's mean is known beforehand. */
        matter->c[k] = grounded || matter->hold_count ? carry : matter->drift[k];
    }
}

static void predict(pl_world *world, double t)
{
    for (int i = 0; i < world->live_count; i++)
        predict_body(world, world->live[i], t);
}

/* ---- Solve, contacts, finish -------------------------------------------------------------------------------------- */

static void solve_blocks(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    for (int i = begin; i < end; i++) {
        const pl_block *block = world->blocks + i;
        int iterations = block->solver == PL_SOLVER_STIFF ? world->stiff_iterations : world->iterations;
        pl_oriented_solve(block, world->h, iterations, &world->workers[worker].work);
    }
}

static void finish_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    for (int i = begin; i < end; i++)
        if (!pl_oriented_finish(&world->live[i]->matter, world->h, &world->workers[worker].work))
            world->workers[worker].rescued++;
}

/* ---- The step ----------------------------------------------------------------------------------------------------- */

static void begin_step(pl_world *world)
{
    if (world->regroup)
        regroup(world);
    for (int i = 0; i < world->live_count; i++) {
        pl_oriented *matter = &world->live[i]->matter;
        memcpy(matter->shown.x, matter->now.x, sizeof(float) * 3 * (size_t)matter->n);
        memcpy(matter->shown.q, matter->now.q, sizeof(float) * 4 * (size_t)matter->n);
        memcpy(matter->shown.origin, matter->now.origin, sizeof matter->shown.origin);
    }
}

static void end_step(pl_world *world)
{
    for (int i = 0; i < world->live_count; i++) {
        pl_record *record = world->live[i];
        pl_oriented *matter = &record->matter;
        if (record->forced)
            memset(record->force, 0, sizeof(float) * 3 * (size_t)matter->n);
        record->forced = false;
        if (matter->fixed_count)
            memcpy(matter->drive_from, matter->drive_to, sizeof(double) * 7 * (size_t)matter->fixed_count);
        for (int p = 0; p < matter->hold_count; p++)
            memcpy(matter->holds[p].from, matter->holds[p].to, sizeof matter->holds[p].from);
    }
}

/* Not inlined: the compiler may not move arithmetic out of the floating-point environment set around it. */
static __attribute__((noinline)) void step(pl_world *world, double ticks[2])
{
    begin_step(world);
    double start = world->time;
    for (int s = 0; s < world->substeps; s++) {
        world->time = start + s * world->h;
        uint64_t clock = pl_ticks();
        predict(world, (double)(s + 1) / world->substeps);
        ticks[0] += (double)(pl_ticks() - clock);
        pl_tasks_run(world->tasks, solve_blocks, world, world->block_count, 1);
        /* Contacts between bodies and with colliders come here. */
        pl_tasks_run(world->tasks, finish_bodies, world, world->live_count, BODIES_PER_TASK);
    }
    end_step(world);
    world->time = start + world->step;
    world->steps++;
}

/* ---- Reports ------------------------------------------------------------------------------------------------------ */

static void clear_work(pl_world *world)
{
    for (int i = 0; i < world->worker_count; i++) {
        pl_worker *worker = world->workers + i;
        memset(worker->work.ticks, 0, sizeof worker->work.ticks);
        worker->work.iterations = worker->work.refused = worker->rescued = 0;
    }
}

static void count_bodies(const pl_world *world, pl_report *report)
{
    for (int i = 0; i < world->live_count; i++) {
        const pl_record *record = world->live[i];
        report->bodies++;
        report->particles += record->matter.n;
        report->edges += record->model->edge_count;
        report->pins += record->matter.hold_count;
        report->fixed += record->matter.fixed_count;
    }
    for (int i = 0; i < world->block_count; i++) {
        report->lane_blocks += !world->blocks[i].lone;
        report->lone_blocks += world->blocks[i].lone;
    }
}

static void sum_work(const pl_world *world, double ms_per_tick, pl_report *report)
{
    for (int i = 0; i < world->worker_count; i++) {
        const pl_worker *worker = world->workers + i;
        const uint64_t *ticks = worker->work.ticks;
        report->iterations += worker->work.iterations;
        report->refused += worker->work.refused;
        report->rescued += worker->rescued;
        report->ms_predict += (double)ticks[PL_STAGE_PREDICT] * ms_per_tick;
        report->ms_local += (double)ticks[PL_STAGE_LOCAL] * ms_per_tick;
        report->ms_global += (double)ticks[PL_STAGE_GLOBAL] * ms_per_tick;
        report->ms_accelerate += (double)ticks[PL_STAGE_ACCELERATE] * ms_per_tick;
        report->ms_stiff += (double)ticks[PL_STAGE_STIFF] * ms_per_tick;
        report->ms_finish += (double)ticks[PL_STAGE_FINISH] * ms_per_tick;
    }
}

/* Takes `count` steps. */
static pl_status run(pl_world *world, uint64_t count, pl_report *report)
{
    pl_report own = {0};
    double predict_ticks[2] = {0, 0};
    uint64_t ns = pl_clock_ns(), ticks = pl_ticks();
    world->stepping = true;
    clear_work(world);
    pl_float_env host = pl_float_env_enter();
    for (uint64_t i = 0; i < count; i++)
        step(world, predict_ticks);
    pl_float_env_leave(host);
    world->stepping = false;
    double ms = (double)(pl_clock_ns() - ns) * 1e-6, elapsed = (double)(pl_ticks() - ticks);
    own.steps = count;
    own.ms_total = ms;
    count_bodies(world, &own);
    sum_work(world, elapsed > 0 ? ms / elapsed : 0, &own);
    own.ms_predict += predict_ticks[0] * (elapsed > 0 ? ms / elapsed : 0);
    if (own.rescued)
        pl_logger_say(&world->logger, PL_LOG_WARNING, "%llu bodies overflowed and were put back, at rest",
               (unsigned long long)own.rescued);
    if (report)
        *report = own;
    return PL_OK;
}

pl_status pl_world_step(pl_world *world, pl_report *report)
{
    PL_TRY(pl_world_check_unlocked(world));
    return run(world, 1, report);
}

pl_status pl_world_advance(pl_world *world, double seconds, double *fraction, pl_report *report)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_REQUIRE(seconds >= 0 && isfinite(seconds), PL_ERROR_ARGUMENT, NULL, NULL, "time does not go backwards");
    double owed = floor((world->owed + seconds) / world->step);
    uint64_t steps = owed < world->max_steps ? (uint64_t)owed : (uint64_t)world->max_steps;
    double dropped = owed - (double)steps;
    PL_TRY(run(world, steps, report));
    world->owed = world->owed + seconds - owed * world->step;
    if (world->owed < 0)
        world->owed = 0;
    if (report)
        report->dropped = dropped < 1e18 ? (uint64_t)dropped : (uint64_t)1e18;
    if (fraction) {
        *fraction = world->owed / world->step;
        *fraction = *fraction < 1 ? *fraction : 1 - 1e-12;
    }
    return PL_OK;
}
