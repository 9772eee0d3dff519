/* Sums over a body in double: mass, centre, momenta, and the terms of its energy. */
#include "math/quat.h"
#include "matter/posed.h"
#include "world/world.h"

/* I ω of an ellipsoid in the world: I = f (tr Ā − Ā), turned along. */
static pl_vec3 own_spin(const pl_oriented *matter, int i)
{
    const float *q = matter->now.q + 4 * i, *w = matter->now.w + 3 * i;
    const pl_grain_d *grain = matter->system->grain_d + i;
    const double *s = grain->moment;
    pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    pl_vec3 v = pl_quat_rotate(pl_quat_conjugate(turn),
                               (pl_vec3){(double)w[0], (double)w[1], (double)w[2]});
    double trace = s[0] + s[3] + s[5];
    pl_vec3 spin = {trace * v.x - (s[0] * v.x + s[1] * v.y + s[2] * v.z),
                    trace * v.y - (s[1] * v.x + s[3] * v.y + s[4] * v.z),
                    trace * v.z - (s[2] * v.x + s[4] * v.y + s[5] * v.z)};
    return pl_v3_scale(pl_quat_rotate(turn, spin), grain->density);
}

/* About the centre, in units. */
static pl_vec3 angular_momentum(const pl_oriented *matter, const double centre[3],
                                const double mean[3])
{
    pl_vec3 sum = {0, 0, 0};
    for (int i = 0; i < matter->n; i++) {
        const float *x = matter->now.x + 3 * i, *u = matter->now.u + 3 * i;
        pl_vec3 arm = {(double)x[0] - centre[0], (double)x[1] - centre[1],
                       (double)x[2] - centre[2]};
        pl_vec3 way = {(double)u[0] - mean[0], (double)u[1] - mean[1], (double)u[2] - mean[2]};
        pl_vec3 orbit = pl_v3_scale(pl_v3_cross(arm, way), matter->system->mass[i]);
        sum = pl_v3_add(sum, pl_v3_add(own_spin(matter, i), orbit));
    }
    return sum;
}

static PL_APART pl_status get_state(const pl_world *world, pl_body body, pl_body_state *state)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_REQUIRE(state, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the sums");
    const pl_oriented *matter = &record->matter;
    const pl_system *system = matter->system;
    double centre[3], mean[3], unit = record->model->unit;
    pl_record_centre(matter, centre);
    pl_record_mean_velocity(matter, mean);
    pl_vec3 turning =
        pl_v3_scale(angular_momentum(matter, centre, mean), system->mass_unit * unit * unit);
    state->mass = system->total_mass * system->mass_unit;
    for (int k = 0; k < 3; k++) {
        state->centre[k] = (matter->now.origin[k] + centre[k]) * unit;
        state->velocity[k] = (matter->now.velocity[k] + mean[k]) * unit;
        state->momentum[k] = state->mass * state->velocity[k];
    }
    state->angular_momentum[0] = turning.x;
    state->angular_momentum[1] = turning.y;
    state->angular_momentum[2] = turning.z;
    return PL_OK;
}

pl_status pl_body_get_state(const pl_world *world, pl_body body, pl_body_state *state)
{
    PL_COMPUTE(get_state(world, body, state));
}

/* ---- Energy ---------------------------------------------------------------------------------- */

static double kinetic(const pl_oriented *matter)
{
    const pl_state *now = &matter->now;
    double sum = 0;
    for (int i = 0; i < matter->n; i++) {
        const float *w = now->w + 3 * i;
        pl_vec3 spin = {(double)w[0], (double)w[1], (double)w[2]};
        sum += 0.5 * pl_v3_dot(spin, own_spin(matter, i));
        for (int k = 0; k < 3; k++) {
            double u = now->velocity[k] + (double)now->u[3 * i + k];
            sum += 0.5 * matter->system->mass[i] * u * u;
        }
    }
    return sum;
}

static double potential(const pl_world *world, const pl_oriented *matter)
{
    double sum = 0;
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            sum -= matter->system->mass[i] * world->gravity[k] * matter->gravity_scale *
                   (matter->now.origin[k] + (double)matter->now.x[3 * i + k]);
    return sum;
}

static PL_APART pl_status get_energy(const pl_world *world, pl_body body, pl_energy *energy)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_REQUIRE(energy, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the energy");
    const pl_system *system = record->matter.system;
    double unit = record->model->unit;
    pl_oriented_energy terms = pl_oriented_evaluate(&record->matter, world->h, NULL, NULL, NULL);
    energy->kinetic = kinetic(&record->matter) * system->mass_unit * unit * unit;
    energy->potential = potential(world, &record->matter) * system->mass_unit * unit;
    if (record->matter.clustered)
        terms.elastic =
            pl_clustered_elastic(record->matter.clustered, record->matter.now.x, world->h);
    if (record->matter.posed) {
        terms =
            pl_posed_evaluate(record->matter.posed, &record->matter, world->h, NULL, NULL, NULL);
        terms.elastic += pl_posed_example_energy(record->matter.posed, &record->matter);
    }
    energy->elastic = terms.elastic * system->energy_unit;
    PL_CHECK(!record->tetrahedral || pl_tetrahedral_elastic(world, record, &energy->elastic),
             PL_ERROR_MEMORY, NULL, NULL, "no memory to sum up the elements");
    energy->pins = terms.pins * system->energy_unit;
    energy->inertia = terms.inertia * system->energy_unit;
    return PL_OK;
}

pl_status pl_body_get_energy(const pl_world *world, pl_body body, pl_energy *energy)
{
    PL_COMPUTE(get_energy(world, body, energy));
}
