/* How a body moves from outside: forces, impulses, velocities, teleport. */
#include <string.h>

#include "math/quat.h"
#include "world/world.h"

/* ---- Means ----------------------------------------------------------------------------------- */

/* Σ m_i v_i / Σ m_i of an array of [n][3]. */
static void weighted_mean(const pl_oriented *matter, const float *values, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += matter->system->mass[i] * (double)values[3 * i + k];
    for (int k = 0; k < 3; k++)
        mean[k] /= matter->system->total_mass;
}

void pl_record_mean_velocity(const pl_oriented *matter, double mean[3])
{
    weighted_mean(matter, matter->now.u, mean);
}

void pl_record_centre(const pl_oriented *matter, double centre[3])
{
    weighted_mean(matter, matter->now.x, centre);
}

static void shift_velocities(pl_oriented *matter, const double shift[3])
{
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            matter->now.u[3 * i + k] = (float)((double)matter->now.u[3 * i + k] + shift[k]);
}

void pl_record_settle_mean(pl_record *record)
{
    pl_oriented *matter = &record->matter;
    double *velocity = matter->now.velocity, shift[3];
    if (matter->system->grounded) {
        memcpy(shift, velocity, sizeof shift);
        memset(velocity, 0, sizeof shift);
    } else {
        double mean[3];
        pl_record_mean_velocity(matter, mean);
        for (int k = 0; k < 3; k++) {
            velocity[k] += mean[k];
            shift[k] = -mean[k];
        }
    }
    if (shift[0] != 0 || shift[1] != 0 || shift[2] != 0)
        shift_velocities(matter, shift);
}

/* ---- After a jump ---------------------------------------------------------------------------- */

void pl_record_show_now(pl_oriented *matter)
{
    size_t n = (size_t)matter->n;
    memcpy(matter->shown.x, matter->now.x, sizeof(float) * 3 * n);
    memcpy(matter->shown.q, matter->now.q, sizeof(float) * 4 * n);
    memcpy(matter->shown.origin, matter->now.origin, sizeof matter->now.origin);
}

/* The body is exactly where inertia would have it. */
void pl_record_forget_old(pl_oriented *matter)
{
    size_t n = (size_t)matter->n;
    memcpy(matter->old.x, matter->now.x, sizeof(float) * 3 * n);
    memcpy(matter->old.q, matter->now.q, sizeof(float) * 4 * n);
    memset(matter->old.u, 0, sizeof(float) * 3 * n);
    memset(matter->old.w, 0, sizeof(float) * 3 * n);
    memcpy(matter->old.origin, matter->now.origin, sizeof matter->old.origin);
    memset(matter->old.velocity, 0, sizeof matter->old.velocity);
    memset(matter->c, 0, sizeof matter->c);
    memset(matter->drift, 0, sizeof matter->drift);
    matter->pushed = false;
    for (int p = 0; p < matter->hold_count; p++)
        for (int k = 0; k < 3 && matter->holds[p].kind == PL_PIN_POSITION; k++)
            matter->holds[p].now[k] = matter->holds[p].from[k] - matter->old.origin[k];
}

/* ---- Forces and impulses --------------------------------------------------------------------- */

/* The particles that a call means: one, or all with -1. */
static pl_status open_particles(pl_world *world, pl_body body, int particle, const double vector[3],
                                pl_record **record, int *begin, int *end)
{
    PL_TRY(pl_world_open(world, body, record, NULL));
    int n = (*record)->matter.n;
    PL_REQUIRE(particle >= -1 && particle < n, PL_ERROR_ARGUMENT, NULL, NULL,
               "there is no particle %d", particle);
    PL_REQUIRE(pl_is_finite3(vector), PL_ERROR_ARGUMENT, NULL, NULL, "the vector is not finite");
    *begin = particle < 0 ? 0 : particle;
    *end = particle < 0 ? n : particle + 1;
    return PL_OK;
}

static PL_APART pl_status apply_force(pl_world *world, pl_body body, int particle,
                                      const double force[3])
{
    pl_record *record;
    int begin, end;
    PL_TRY(open_particles(world, body, particle, force, &record, &begin, &end));
    const pl_system *system = record->matter.system;
    /* First whether all of it can be carried, then the change. */
    for (int change = 0; change < 2; change++)
        for (int i = begin; i < end; i++) {
            double share = particle < 0 ? system->mass[i] / system->total_mass : 1, sum[3];
            for (int k = 0; k < 3; k++)
                sum[k] = record->force[3 * i + k] + share * force[k];
            PL_REQUIRE(pl_is_rate(sum, system->mass[i] * system->mass_unit * record->model->unit),
                       PL_ERROR_ARGUMENT, NULL, NULL, "the force on particle %d is too large", i);
            if (change)
                memcpy(record->force + 3 * i, sum, sizeof sum);
        }
    record->forced = true;
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_apply_force(pl_world *world, pl_body body, int particle, const double force[3])
{
    PL_COMPUTE(apply_force(world, body, particle, force));
}

/* Adds to the velocities of particles, or of the whole body; all or nothing. */
static bool hasten(pl_oriented *matter, bool whole, int begin, int end, const double change[3])
{
    double sum[3];
    for (int i = begin; i < end; i++) {
        for (int k = 0; k < 3; k++)
            sum[k] = matter->now.velocity[k] + (double)matter->now.u[3 * i + k] + change[k];
        if (!pl_is_rate(sum, 1))
            return false;
    }
    for (int k = 0; k < 3 && whole; k++)
        matter->now.velocity[k] += change[k];
    for (int i = begin; i < end && !whole; i++)
        for (int k = 0; k < 3; k++)
            matter->now.u[3 * i + k] = (float)((double)matter->now.u[3 * i + k] + change[k]);
    return true;
}

static PL_APART pl_status apply_impulse(pl_world *world, pl_body body, int particle,
                                        const double impulse[3])
{
    pl_record *record;
    int begin, end;
    PL_TRY(open_particles(world, body, particle, impulse, &record, &begin, &end));
    const pl_system *system = record->matter.system;
    double mass = (particle < 0 ? system->total_mass : system->mass[particle]) * system->mass_unit;
    double change[3];
    for (int k = 0; k < 3; k++)
        change[k] = impulse[k] / mass / record->model->unit;
    bool whole = particle < 0 && !system->grounded;
    PL_REQUIRE(hasten(&record->matter, whole, begin, end, change), PL_ERROR_ARGUMENT, NULL, NULL,
               "the impulse is too large");
    pl_record_settle_mean(record);
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_apply_impulse(pl_world *world, pl_body body, int particle,
                                const double impulse[3])
{
    PL_COMPUTE(apply_impulse(world, body, particle, impulse));
}

/* ---- Velocity -------------------------------------------------------------------------------- */

/* u_i = V + ω × (x_i − centre), ω_i = ω. */
void pl_record_set_motion(pl_record *record, const double velocity[3], const double spin[3])
{
    pl_oriented *matter = &record->matter;
    double centre[3];
    pl_record_centre(matter, centre);
    for (int k = 0; k < 3; k++)
        matter->now.velocity[k] = velocity[k] / record->model->unit;
    for (int i = 0; i < matter->n; i++) {
        const float *x = matter->now.x + 3 * i;
        double arm[3] = {(double)x[0] - centre[0], (double)x[1] - centre[1],
                         (double)x[2] - centre[2]};
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            matter->now.u[3 * i + k] = (float)(spin[a] * arm[b] - spin[b] * arm[a]);
            matter->now.w[3 * i + k] = (float)spin[k];
        }
    }
    pl_record_settle_mean(record);
}

static PL_APART pl_status set_velocity(pl_world *world, pl_body body, const double velocity[3],
                                       const double spin[3])
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    PL_REQUIRE(pl_is_rate(velocity, record->model->unit) && pl_is_rate(spin, 1), PL_ERROR_ARGUMENT,
               NULL, NULL, "the velocity or the spin is not finite, or far too fast");
    pl_record_set_motion(record, velocity, spin);
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_set_velocity(pl_world *world, pl_body body, const double velocity[3],
                               const double spin[3])
{
    PL_COMPUTE(set_velocity(world, body, velocity, spin));
}

/* ---- Teleport -------------------------------------------------------------------------------- */

static void turn_vector(pl_quat turn, float *v)
{
    pl_vec3 turned = pl_quat_rotate(turn, (pl_vec3){(double)v[0], (double)v[1], (double)v[2]});
    v[0] = (float)turned.x, v[1] = (float)turned.y, v[2] = (float)turned.z;
}

static void turn_rotation(pl_quat turn, float *q)
{
    pl_quat before = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    pl_quat turned = pl_quat_normalise(pl_quat_mul(turn, before));
    q[0] = (float)turned.x, q[1] = (float)turned.y, q[2] = (float)turned.z, q[3] = (float)turned.w;
}

static void turn_body(pl_oriented *matter, pl_quat turn)
{
    double centre[3], *v = matter->now.velocity;
    pl_record_centre(matter, centre);
    for (int i = 0; i < matter->n; i++) {
        float *x = matter->now.x + 3 * i;
        for (int k = 0; k < 3; k++)
            x[k] = (float)((double)x[k] - centre[k]);
        turn_vector(turn, x);
        turn_vector(turn, matter->now.u + 3 * i);
        turn_vector(turn, matter->now.w + 3 * i);
        turn_rotation(turn, matter->now.q + 4 * i);
    }
    pl_vec3 velocity = pl_quat_rotate(turn, (pl_vec3){v[0], v[1], v[2]});
    v[0] = velocity.x, v[1] = velocity.y, v[2] = velocity.z;
}

/* Fixed particles go along; targets of pins stay where they are. */
static PL_APART pl_status teleport(pl_world *world, pl_body body, const double position[3],
                                   const double rotation[4])
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    PL_REQUIRE(pl_is_place(position, record->model->unit) && pl_is_rotation(rotation),
               PL_ERROR_ARGUMENT, NULL, NULL,
               "a teleport needs a rotation, and a position that is finite and not too far away");
    pl_oriented *matter = &record->matter;
    const double *r = rotation;
    turn_body(matter, pl_quat_normalise((pl_quat){r[0], r[1], r[2], r[3]}));
    for (int k = 0; k < 3; k++)
        matter->now.origin[k] = position[k] / record->model->unit;
    for (int f = 0; f < matter->fixed_count; f++)
        pl_record_aim_drive(matter, f);
    pl_record_forget_old(matter);
    pl_record_show_now(matter);
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_teleport(pl_world *world, pl_body body, const double position[3],
                           const double rotation[4])
{
    PL_COMPUTE(teleport(world, body, position, rotation));
}
