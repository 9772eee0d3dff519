/* The first stage of a sub-step: forces from outside, where driven particles and pins are to be at
   its end, and the inertial target of the mean motion. */
#include <math.h>
#include <string.h>

#include "world/world.h"

/* ---- Forces ---------------------------------------------------------------------------------- */

static void show_body(pl_world *world, const pl_record *record)
{
    const pl_oriented *matter = &record->matter;
    double unit = record->model->unit, mass_unit = matter->system->mass_unit;
    for (int i = 0; i < matter->n; i++) {
        for (int k = 0; k < 3; k++) {
            double x = matter->now.origin[k] + (double)matter->now.x[3 * i + k];
            double u = matter->now.velocity[k] + (double)matter->now.u[3 * i + k];
            world->field_positions[3 * i + k] = x * unit;
            world->field_velocities[3 * i + k] = (float)(u * unit);
        }
        world->field_masses[i] = (float)(matter->system->mass[i] * mass_unit);
    }
}

/* Newtons, into `push`. All bodies are asked before the first of them moves. */
static void ask_field(pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    memset(matter->push, 0, sizeof(float) * 3 * (size_t)matter->n);
    show_body(world, record);
    pl_field_query query = {.time = world->time,
                            .body_index = record->slot,
                            .body_user = record->user,
                            .count = matter->n,
                            .positions = world->field_positions,
                            .velocities = world->field_velocities,
                            .masses = world->field_masses,
                            .forces = matter->push};
    world->field(world->field_user, &query);
}

/* Forces become accelerations. Their mean joins gravity in the mean motion of a free body; what is
   no number, or would be none as a float, is left out. Returns how many were. */
static int push(const pl_world *world, pl_record *record, double mean[3])
{
    pl_oriented *matter = &record->matter;
    const pl_system *system = matter->system;
    double scale = 1 / (system->mass_unit * record->model->unit);
    int left_out = 0;
    mean[0] = mean[1] = mean[2] = 0;
    bool gas = record->gas.pressure > 0;
    matter->pushed = record->forced || world->field || gas;
    if (!matter->pushed)
        return 0;
    if (gas)
        pl_gas_push(record, world->h);
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++) {
            double force = world->field ? (double)matter->push[3 * i + k] : 0;
            if (gas)
                force += record->gas.now * (double)record->gas.present[3 * i + k];
            force = (force + record->force[3 * i + k]) * scale;
            bool good = fabs(force / system->mass[i]) <= 1e30;
            left_out += !good;
            matter->push[3 * i + k] = good ? (float)(force / system->mass[i]) : 0;
            mean[k] += good ? force / system->total_mass : 0;
        }
    for (int k = 0; k < 3 && !system->grounded; k++)
        for (int i = 0; i < matter->n; i++)
            matter->push[3 * i + k] = (float)((double)matter->push[3 * i + k] - mean[k]);
    return left_out;
}

/* ---- Targets --------------------------------------------------------------------------------- */

/* Where a fixed particle is at the part t of the step, relative to the body's origin. */
static void aim_drive(const pl_oriented *matter, int f, double t)
{
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
    for (int k = 3; k < 7; k++)
        now[k] /= sqrt(length);
}

static void aim_hold(const pl_oriented *matter, pl_hold *hold, double t)
{
    double length = 0;
    for (int k = 0; k < 3; k++) {
        hold->now[k] = hold->from[k] + t * (hold->to[k] - hold->from[k]);
        length += hold->now[k] * hold->now[k];
    }
    for (int k = 0; k < 3; k++)
        if (hold->kind == PL_PIN_POSITION)
            hold->now[k] -= matter->now.origin[k];
        else /* half-way between opposite directions there is none */
            hold->now[k] = length > 1e-12 ? hold->now[k] / sqrt(length) : hold->to[k];
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

static int predict_body(const pl_world *world, pl_record *record, double t)
{
    pl_oriented *matter = &record->matter;
    double h = world->h, mean[3], unit = record->model->unit;
    int left_out = push(world, record, mean);
    for (int f = 0; f < matter->fixed_count; f++)
        aim_drive(matter, f, t);
    for (int p = 0; p < matter->hold_count; p++)
        aim_hold(matter, matter->holds + p, t);
    turn_over(matter);
    bool grounded = matter->system->grounded;
    for (int k = 0; k < 3; k++) {
        double pull = world->gravity[k] * matter->gravity_scale / unit + (grounded ? 0 : mean[k]);
        double carry = h * matter->old.velocity[k];
        matter->drift[k] = carry + h * h * pull;
        /* Where the iteration starts: with gravity in the start, a pinned body's rest would be no
           fixed point. A free body's mean is known beforehand. */
        matter->c[k] = grounded || matter->hold_count ? carry : matter->drift[k];
    }
    return left_out;
}

/* ---- All bodies ------------------------------------------------------------------------------ */

typedef struct prediction {
    pl_world *world;
    double t;
} prediction;

static void predict_bodies(void *context, int begin, int end, int number)
{
    const prediction *p = context;
    pl_worker *worker = p->world->workers + number;
    uint64_t clock = pl_ticks();
    for (int i = begin; i < end; i++)
        worker->left_out += (uint64_t)predict_body(p->world, p->world->live[i], p->t);
    worker->work.ticks[PL_STAGE_PREDICT] += pl_ticks() - clock;
}

void pl_world_predict(pl_world *world, double t)
{
    uint64_t clock = pl_ticks();
    for (int i = 0; world->field && i < world->live_count; i++)
        if (!world->entered[i]->asleep)
            ask_field(world, world->entered[i]);
    world->workers[0].work.ticks[PL_STAGE_PREDICT] += pl_ticks() - clock;
    prediction p = {world, t};
    pl_tasks_run(world->tasks, predict_bodies, &p, world->awake_count, PL_BODIES_PER_TASK);
}
