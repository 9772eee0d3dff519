/* The terms of a body's energy in joules, evaluated in double from its state. */
#include "math/quat.h"
#include "world/world.h"

static double kinetic(const pl_oriented *matter)
{
    const pl_state *now = &matter->now;
    double sum = 0;
    for (int i = 0; i < matter->n; i++) {
        const pl_grain_d *grain = matter->system->grain_d + i;
        const float *q = now->q + 4 * i, *w = now->w + 3 * i;
        const double *s = grain->moment;
        /* The spin in the particle's own rest axes. */
        pl_vec3 v = pl_quat_rotate((pl_quat){-(double)q[0], -(double)q[1], -(double)q[2], (double)q[3]},
                                   (pl_vec3){(double)w[0], (double)w[1], (double)w[2]});
        double square = v.x * v.x + v.y * v.y + v.z * v.z;
        double along = s[0] * v.x * v.x + s[3] * v.y * v.y + s[5] * v.z * v.z +
                       2 * (s[1] * v.x * v.y + s[2] * v.x * v.z + s[4] * v.y * v.z);
        sum += 0.5 * grain->density * ((s[0] + s[3] + s[5]) * square - along);
        for (int k = 0; k < 3; k++) {
            double u = now->velocity[k] + (double)now->u[3 * i + k];
            sum += 0.5 * grain->mass * u * u;
        }
    }
    return sum;
}

static double potential(const pl_world *world, const pl_record *record)
{
    const pl_oriented *matter = &record->matter;
    double sum = 0;
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            sum -= matter->system->mass[i] * world->gravity[k] * matter->gravity_scale *
                   (matter->now.origin[k] + (double)matter->now.x[3 * i + k]);
    return sum;
}

pl_status pl_body_get_energy(const pl_world *world, pl_body body, pl_energy *energy)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    const pl_system *system = record->matter.system;
    double unit = record->model->unit;
    pl_oriented_energy terms = pl_oriented_evaluate(&record->matter, world->h, NULL, NULL, NULL);
    energy->kinetic = kinetic(&record->matter) * system->mass_unit * unit * unit;
    energy->potential = potential(world, record) * system->mass_unit * unit;
    energy->elastic = terms.elastic * system->energy_unit;
    energy->pins = terms.pins * system->energy_unit;
    energy->inertia = terms.inertia * system->energy_unit;
    return PL_OK;
}
