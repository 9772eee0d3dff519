/* What a body is made of: material, painted maps, solver, and the particles that are fixed. Each
   change makes the new system first and then exchanges it for the old one. */
#include <string.h>

#include "math/quat.h"
#include "world/world.h"

/* ---- Maps and material ----------------------------------------------------------------------- */

pl_status pl_record_check_map(const float *map, int count, const char *name, pl_error *error)
{
    for (int i = 0; map && i < count; i++)
        PL_CHECK(pl_is_map_factor(map[i]), PL_ERROR_ARGUMENT, error, PL_WHERE("%s[%d]", name, i),
                 "is %g; use a factor above 0 (1e-12 to 1e12)", (double)map[i]);
    return PL_OK;
}

pl_status pl_record_check_maps(const pl_model *model, const float *stiffness, const float *density,
                               pl_error *error)
{
    PL_TRY(pl_record_check_map(stiffness, model->edge_count, "edge_stiffness", error));
    return pl_record_check_map(density, model->particle_count, "particle_density", error);
}

bool pl_record_copy_map(pl_world *world, const float *map, int count, float **out)
{
    *out = NULL;
    if (!map)
        return true;
    *out = PL_NEW(world->memory, float, count);
    if (*out)
        memcpy(*out, map, sizeof *map * (size_t)count);
    return *out != NULL;
}

static pl_status equip_material(pl_world *world, pl_record *record, const pl_material *material,
                                float *stiffness, float *density, pl_error *error)
{
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    setup.material = *material;
    setup.edge_stiffness = stiffness;
    setup.particle_density = density;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    pl_memory_free(world->memory, record->edge_stiffness);
    pl_memory_free(world->memory, record->particle_density);
    record->edge_stiffness = stiffness;
    record->particle_density = density;
    record->material = *material;
    record->matter.damping = record->matter.clustered ? 0 : material->damping;
    pl_world_adopt(world, record, &outfit);
    pl_world_wake(world, record);
    return PL_OK;
}

static PL_APART pl_status set_material(pl_world *world, pl_body body, const pl_material *material,
                                       const float *edge_stiffness, const float *particle_density,
                                       pl_error *error)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, error));
    PL_REQUIRE(material, PL_ERROR_ARGUMENT, error, "material", "is missing");
    PL_TRY(pl_check_material(material, error));
    PL_TRY(pl_record_check_maps(record->model, edge_stiffness, particle_density, error));
    const pl_model *model = record->model;
    float *stiffness, *density = NULL;
    bool copied = pl_record_copy_map(world, edge_stiffness, model->edge_count, &stiffness) &&
                  pl_record_copy_map(world, particle_density, model->particle_count, &density);
    pl_status status = copied ? equip_material(world, record, material, stiffness, density, error)
                              : pl_fail(error, PL_ERROR_MEMORY, "", "no memory for the maps");
    if (status != PL_OK) {
        pl_memory_free(world->memory, stiffness);
        pl_memory_free(world->memory, density);
    }
    return status;
}

pl_status pl_body_set_material(pl_world *world, pl_body body, const pl_material *material,
                               const float *edge_stiffness, const float *particle_density,
                               pl_error *error)
{
    PL_COMPUTE(set_material(world, body, material, edge_stiffness, particle_density, error));
}

/* ---- Solver ---------------------------------------------------------------------------------- */

static PL_APART pl_status set_solver(pl_world *world, pl_body body, pl_solver solver)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    PL_REQUIRE(pl_is_solver((int)solver), PL_ERROR_ARGUMENT, NULL, NULL, "there is no solver %d",
               (int)solver);
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    setup.solver = solver;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, NULL));
    record->matter.solver = solver;
    pl_world_adopt(world, record, &outfit);
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_set_solver(pl_world *world, pl_body body, pl_solver solver)
{
    PL_COMPUTE(set_solver(world, body, solver));
}

/* ---- Fixed particles ------------------------------------------------------------------------- */

static pl_status mark(const int32_t *particles, int count, int n, uint8_t *marks, pl_error *error)
{
    for (int i = 0; i < count; i++) {
        PL_CHECK(particles[i] >= 0 && particles[i] < n, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("fixed[%d]", i), "is particle %d; the model has particles 0 to %d",
                 (int)particles[i], n - 1);
        marks[particles[i]] = 1;
    }
    return PL_OK;
}

pl_status pl_record_copy_fixed(pl_world *world, const pl_model *model, const int32_t *particles,
                               int count, int32_t **out, int *out_count, pl_error *error)
{
    int n = model->particle_count;
    uint8_t *marks = PL_NEW(world->memory, uint8_t, n);
    *out = PL_NEW(world->memory, int32_t, count < n ? count : n);
    *out_count = 0;
    pl_status status = marks && *out
                           ? mark(particles, count, n, marks, error)
                           : pl_fail(error, PL_ERROR_MEMORY, "fixed", "no memory for %d", count);
    for (int i = 0; status == PL_OK && i < n; i++)
        if (marks[i])
            (*out)[(*out_count)++] = i;
    pl_memory_free(world->memory, marks);
    if (status != PL_OK) {
        pl_memory_free(world->memory, *out);
        *out = NULL;
    }
    return status;
}

bool pl_record_make_drives(pl_memory *memory, int count, double *drives[3])
{
    for (int i = 0; i < 3; i++)
        drives[i] = PL_NEW(memory, double, 7 * (size_t)count);
    if (drives[0] && drives[1] && drives[2])
        return true;
    for (int i = 0; i < 3; i++)
        pl_memory_free(memory, drives[i]);
    return false;
}

void pl_record_aim_drive(pl_oriented *matter, int f)
{
    int i = matter->fixed[f];
    double *to = matter->drive_to + 7 * f;
    for (int k = 0; k < 3; k++)
        to[k] = matter->now.origin[k] + (double)matter->now.x[3 * i + k];
    for (int k = 0; k < 4; k++)
        to[3 + k] = (double)matter->now.q[4 * i + k];
    memcpy(matter->drive_from + 7 * f, to, sizeof(double) * 7);
    memcpy(matter->drive_now + 7 * f, to, sizeof(double) * 7);
}

/* A particle that was fixed before goes on as it was driven. */
static void keep_driving(pl_oriented *matter, const pl_oriented *before)
{
    for (int f = 0, g = 0; f < matter->fixed_count; f++) {
        while (g < before->fixed_count && before->fixed[g] < matter->fixed[f])
            g++;
        pl_record_aim_drive(matter, f);
        if (g == before->fixed_count || before->fixed[g] != matter->fixed[f])
            continue;
        memcpy(matter->drive_from + 7 * f, before->drive_from + 7 * g, sizeof(double) * 7);
        memcpy(matter->drive_to + 7 * f, before->drive_to + 7 * g, sizeof(double) * 7);
    }
}

/* Takes over `fixed` and `drives` unless it fails. */
static pl_status equip_fixed(pl_world *world, pl_record *record, int32_t *fixed, int count,
                             double *drives[3], pl_error *error)
{
    pl_oriented *matter = &record->matter, before = *matter;
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    setup.fixed = fixed;
    setup.fixed_count = count;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    matter->fixed = fixed;
    matter->fixed_count = count;
    matter->drive_from = drives[0], matter->drive_to = drives[1], matter->drive_now = drives[2];
    keep_driving(matter, &before);
    void *old[] = {before.fixed, before.drive_from, before.drive_to, before.drive_now};
    for (int i = 0; i < 4; i++)
        pl_memory_free(world->memory, old[i]);
    pl_world_adopt(world, record, &outfit);
    pl_world_wake(world, record);
    return PL_OK;
}

static PL_APART pl_status set_fixed(pl_world *world, pl_body body, const int32_t *particles,
                                    int count, pl_error *error)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, error));
    PL_REQUIRE(count >= 0 && (particles || !count), PL_ERROR_ARGUMENT, error, "fixed",
               "has a count but no particles");
    int32_t *fixed;
    int fixed_count;
    double *drives[3];
    PL_TRY(
        pl_record_copy_fixed(world, record->model, particles, count, &fixed, &fixed_count, error));
    if (!pl_record_make_drives(world->memory, fixed_count, drives)) {
        pl_memory_free(world->memory, fixed);
        return pl_fail(error, PL_ERROR_MEMORY, "fixed", "no memory for %d", fixed_count);
    }
    pl_status status = equip_fixed(world, record, fixed, fixed_count, drives, error);
    if (status != PL_OK) {
        pl_memory_free(world->memory, fixed);
        for (int i = 0; i < 3; i++)
            pl_memory_free(world->memory, drives[i]);
    }
    return status;
}

pl_status pl_body_set_fixed(pl_world *world, pl_body body, const int32_t *particles, int count,
                            pl_error *error)
{
    PL_COMPUTE(set_fixed(world, body, particles, count, error));
}

/* The number of a particle among the fixed ones, which ascend; -1 = it is not fixed. */
static int find_fixed(const pl_oriented *matter, int particle)
{
    int low = 0, high = matter->fixed_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (matter->fixed[middle] < particle)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matter->fixed_count && matter->fixed[low] == particle ? low : -1;
}

/* Whether it goes anywhere. A rotation that was read, rounded to floats and normalised is the same:
   1e-14 is the square of half an angle. */
static bool is_moved(const double from[7], const double to[7])
{
    double before = 0, after = 0, both = 0;
    for (int k = 3; k < 7; k++) {
        before += from[k] * from[k];
        after += to[k] * to[k];
        both += from[k] * to[k];
    }
    return from[0] != to[0] || from[1] != to[1] || from[2] != to[2] ||
           both * both < (1 - 1e-14) * before * after;
}

static PL_APART pl_status drive(pl_world *world, pl_body body, int particle,
                                const double position[3], const double rotation[4])
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    double unit = record->model->unit;
    PL_REQUIRE(pl_is_place(position, unit) && (!rotation || pl_is_rotation(rotation)),
               PL_ERROR_ARGUMENT, NULL, NULL,
               "a driven particle needs a rotation, and a position that is finite and not too far "
               "away");
    int f = find_fixed(&record->matter, particle);
    PL_REQUIRE(f >= 0, PL_ERROR_ARGUMENT, NULL, NULL, "particle %d is not fixed", particle);
    double *to = record->matter.drive_to + 7 * f;
    for (int k = 0; k < 3; k++)
        to[k] = position[k] / unit;
    if (rotation) {
        pl_quat q =
            pl_quat_normalise((pl_quat){rotation[0], rotation[1], rotation[2], rotation[3]});
        to[3] = q.x, to[4] = q.y, to[5] = q.z, to[6] = q.w;
    }
    if (is_moved(record->matter.drive_from + 7 * f, to))
        pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_drive(pl_world *world, pl_body body, int particle, const double position[3],
                        const double rotation[4])
{
    PL_COMPUTE(drive(world, body, particle, position, rotation));
}
