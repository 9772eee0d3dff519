/* Bodies: made, destroyed, read, written and pushed. State is kept in the model's unit; everything a caller sees is SI. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "math/vec3.h"
#include "shape/buffer.h"
#include "world/world.h"

static const uint32_t body_cookie = 0x706c6264;

pl_body_def pl_default_body_def(pl_model *model)
{
    return (pl_body_def){.model = model,
                         .material = pl_default_material(),
                         .gravity_scale = 1,
                         .rotation = {0, 0, 0, 1},
                         .cookie = body_cookie};
}

pl_record *pl_world_record(const pl_world *world, pl_body body)
{
    if (!world || body.index >= (uint32_t)world->body_slots)
        return NULL;
    const pl_body_slot *slot = world->bodies + body.index;
    return slot->generation == body.generation ? slot->record : NULL;
}

bool pl_body_is_valid(const pl_world *world, pl_body body)
{
    return pl_world_record(world, body) != NULL;
}

pl_model *pl_body_model(const pl_world *world, pl_body body)
{
    pl_record *record = pl_world_record(world, body);
    return record ? record->model : NULL;
}

void *pl_body_user(const pl_world *world, pl_body body)
{
    pl_record *record = pl_world_record(world, body);
    return record ? record->user : NULL;
}

/* For calls that change something: the world unlocked, the handle fresh. */
static pl_status open_record(pl_world *world, pl_body body, pl_record **record)
{
    PL_TRY(pl_world_check_unlocked(world));
    *record = pl_world_record(world, body);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    return PL_OK;
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

static bool make_state(pl_memory *memory, pl_state *state, size_t n, bool moving)
{
    state->x = PL_NEW(memory, float, 3 * n);
    state->q = PL_NEW(memory, float, 4 * n);
    state->u = moving ? PL_NEW(memory, float, 3 * n) : NULL;
    state->w = moving ? PL_NEW(memory, float, 3 * n) : NULL;
    return state->x && state->q && (!moving || (state->u && state->w));
}

static void free_state(pl_memory *memory, pl_state *state)
{
    pl_memory_free(memory, state->x);
    pl_memory_free(memory, state->q);
    pl_memory_free(memory, state->u);
    pl_memory_free(memory, state->w);
}

pl_record *pl_record_create(pl_world *world, pl_model *model)
{
    pl_memory *memory = world->memory;
    pl_record *record = PL_NEW(memory, pl_record, 1);
    if (!record)
        return NULL;
    size_t n = (size_t)model->particle_count;
    pl_oriented *matter = &record->matter;
    record->model = model;
    pl_model_retain(model);
    matter->n = model->particle_count;
    matter->push = PL_NEW(memory, float, 3 * n);
    record->force = PL_NEW(memory, float, 3 * n);
    if (make_state(memory, &matter->now, n, true) && make_state(memory, &matter->old, n, true) &&
        make_state(memory, &matter->shown, n, false) && matter->push && record->force)
        return record;
    pl_record_destroy(world, record);
    return NULL;
}

void pl_record_destroy(pl_world *world, pl_record *record)
{
    pl_memory *memory = world->memory;
    pl_oriented *matter = &record->matter;
    pl_world_discard(world, &(pl_outfit){matter->system, matter->correction, matter->grips, matter->grip_count});
    free_state(memory, &matter->now);
    free_state(memory, &matter->old);
    free_state(memory, &matter->shown);
    void *blocks[] = {matter->push,       matter->fixed, matter->drive_from,     matter->drive_to,
                      matter->drive_now,  matter->holds, record->edge_stiffness, record->particle_density,
                      record->hold_slots, record->force};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    pl_model_release(record->model);
    pl_memory_free(memory, record);
}

/* Mass-weighted mean of the particles' own velocities. */
static void mean_velocity(const pl_oriented *matter, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += matter->system->mass[i] * (double)matter->now.u[3 * i + k];
    for (int k = 0; k < 3; k++)
        mean[k] /= matter->system->total_mass;
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
    double shift[3];
    if (matter->system->grounded) {
        memcpy(shift, matter->now.velocity, sizeof shift);
        memset(matter->now.velocity, 0, sizeof matter->now.velocity);
        if (shift[0] != 0 || shift[1] != 0 || shift[2] != 0)
            shift_velocities(matter, shift);
        return;
    }
    mean_velocity(matter, shift);
    if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0)
        return;
    for (int k = 0; k < 3; k++) {
        matter->now.velocity[k] += shift[k];
        shift[k] = -shift[k];
    }
    shift_velocities(matter, shift);
}

/* What is shown between two steps starts from here: after a jump nothing is smeared. */
static void show_now(pl_oriented *matter)
{
    size_t n = (size_t)matter->n;
    memcpy(matter->shown.x, matter->now.x, sizeof(float) * 3 * n);
    memcpy(matter->shown.q, matter->now.q, sizeof(float) * 4 * n);
    memcpy(matter->shown.origin, matter->now.origin, sizeof matter->now.origin);
}

/* `old` describes the last sub-step; after a change from outside there was none. */
static void forget_old(pl_oriented *matter)
{
    size_t n = (size_t)matter->n;
    memcpy(matter->old.x, matter->now.x, sizeof(float) * 3 * n);
    memcpy(matter->old.q, matter->now.q, sizeof(float) * 4 * n);
    memcpy(matter->old.u, matter->now.u, sizeof(float) * 3 * n);
    memcpy(matter->old.w, matter->now.w, sizeof(float) * 3 * n);
    memcpy(matter->old.origin, matter->now.origin, sizeof matter->now.origin);
    memcpy(matter->old.velocity, matter->now.velocity, sizeof matter->now.velocity);
}

/* ---- Room in the world -------------------------------------------------------------------------------------------- */

static bool grow_blocks(pl_world *world, int capacity)
{
    pl_memory *memory = world->memory;
    pl_block *blocks = PL_NEW(memory, pl_block, capacity);
    pl_oriented **members = PL_NEW(memory, pl_oriented *, capacity);
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * (size_t)capacity);
    if (!blocks || !members || !items) {
        pl_memory_free(memory, blocks);
        pl_memory_free(memory, members);
        pl_memory_free(memory, items);
        return false;
    }
    pl_memory_free(memory, world->blocks);
    pl_memory_free(memory, world->members);
    pl_memory_free(memory, world->sort_items);
    world->blocks = blocks;
    world->members = members;
    world->sort_items = items;
    world->block_count = 0;
    world->regroup = true;
    return true;
}

static bool grow_field(pl_world *world, int particles)
{
    if (particles <= world->field_capacity)
        return true;
    pl_memory *memory = world->memory;
    double *positions = PL_NEW(memory, double, 3 * (size_t)particles);
    float *velocities = PL_NEW(memory, float, 3 * (size_t)particles);
    float *masses = PL_NEW(memory, float, particles);
    if (!positions || !velocities || !masses) {
        pl_memory_free(memory, positions);
        pl_memory_free(memory, velocities);
        pl_memory_free(memory, masses);
        return false;
    }
    pl_memory_free(memory, world->field_positions);
    pl_memory_free(memory, world->field_velocities);
    pl_memory_free(memory, world->field_masses);
    world->field_positions = positions;
    world->field_velocities = velocities;
    world->field_masses = masses;
    world->field_capacity = particles;
    return true;
}

pl_status pl_world_reserve_body(pl_world *world, int particles)
{
    int before = world->live_capacity;
    bool good = pl_world_grow(world->memory, &world->bodies, world->body_slots, &world->body_slot_capacity,
                              sizeof *world->bodies) &&
                pl_world_grow(world->memory, &world->live, world->live_count, &world->live_capacity,
                              sizeof *world->live);
    if (good && (world->live_capacity != before || !world->blocks))
        good = grow_blocks(world, world->live_capacity);
    if (!good)
        world->live_capacity = before; /* the other arrays did not grow along */
    return good && grow_field(world, particles) ? PL_OK : PL_ERROR_MEMORY;
}

void pl_world_enter(pl_world *world, pl_record *record, uint32_t slot)
{
    if (slot >= (uint32_t)world->body_slots) {
        world->body_slots = (int)slot + 1;
        world->bodies[slot].generation = 1;
    }
    world->bodies[slot].record = record;
    record->slot = slot;
    world->live[world->live_count++] = record;
    world->regroup = true;
}

static uint32_t free_slot(const pl_world *world)
{
    uint32_t slot = 0;
    while (slot < (uint32_t)world->body_slots && world->bodies[slot].record)
        slot++;
    return slot;
}

/* ---- Creation ----------------------------------------------------------------------------------------------------- */

static pl_status check_map(const float *map, int count, const char *name, pl_error *error)
{
    for (int i = 0; map && i < count; i++)
        PL_CHECK(map[i] >= 1e-12f && map[i] <= 1e12f, PL_ERROR_ARGUMENT, error, PL_WHERE("%s[%d]", name, i),
                 "is %g; use a factor above 0", (double)map[i]);
    return PL_OK;
}

static pl_status check_maps(const pl_model *model, const float *stiffness, const float *density, pl_error *error)
{
    PL_TRY(check_map(stiffness, model->edge_count, "edge_stiffness", error));
    return check_map(density, model->particle_count, "particle_density", error);
}

static double length4(const double q[4])
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

static bool is_rotation(const double q[4])
{
    return pl_is_finite4(q) && length4(q) > 1e-12 && length4(q) < 1e12;
}

static pl_status check_def(const pl_body_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == body_cookie, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_body_def");
    PL_CHECK(def->model, PL_ERROR_ARGUMENT, error, "model", "is missing");
    PL_TRY(pl_material_check(&def->material, error));
    PL_TRY(check_maps(def->model, def->edge_stiffness, def->particle_density, error));
    PL_CHECK(def->solver == PL_SOLVER_FAST || def->solver == PL_SOLVER_STIFF || def->solver == PL_SOLVER_PLAIN,
             PL_ERROR_ARGUMENT, error, "solver", "is %d; use fast, stiff or plain", (int)def->solver);
    PL_CHECK(isfinite(def->gravity_scale) && fabs(def->gravity_scale) <= 1e6, PL_ERROR_ARGUMENT, error,
             "gravity_scale", "is %g; use a finite number (1 is usual)", def->gravity_scale);
    PL_CHECK(pl_is_finite3(def->position), PL_ERROR_ARGUMENT, error, "position", "is not finite");
    PL_CHECK(is_rotation(def->rotation), PL_ERROR_ARGUMENT, error, "rotation",
             "is no rotation; use a quaternion x, y, z, w (0, 0, 0, 1 does not turn)");
    PL_CHECK(pl_is_finite3(def->velocity), PL_ERROR_ARGUMENT, error, "velocity", "is not finite");
    PL_CHECK(pl_is_finite3(def->spin), PL_ERROR_ARGUMENT, error, "spin", "is not finite");
    PL_CHECK(def->fixed_count >= 0 && (def->fixed || !def->fixed_count), PL_ERROR_ARGUMENT, error, "fixed",
             "has a count but no particles");
    return PL_OK;
}

/* Ascending, without duplicates, into own memory. */
static pl_status copy_fixed(pl_world *world, const pl_model *model, const int32_t *particles, int count,
                            int32_t **out, int *out_count, pl_error *error)
{
    int n = model->particle_count;
    uint8_t *marks = PL_NEW(world->memory, uint8_t, n);
    *out = PL_NEW(world->memory, int32_t, count < n ? count : n);
    pl_status status = marks && *out ? PL_OK : pl_fail(error, PL_ERROR_MEMORY, "fixed", "no memory");
    for (int i = 0; status == PL_OK && i < count; i++) {
        if (particles[i] < 0 || particles[i] >= n)
            status = pl_fail(error, PL_ERROR_ARGUMENT, PL_WHERE("fixed[%d]", i),
                             "is particle %d; the model has particles 0 to %d", (int)particles[i], n - 1);
        else
            marks[particles[i]] = 1;
    }
    *out_count = 0;
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

static bool copy_map(pl_world *world, const float *map, int count, float **out)
{
    *out = NULL;
    if (!map)
        return true;
    *out = PL_NEW(world->memory, float, count);
    if (*out)
        memcpy(*out, map, sizeof *map * (size_t)count);
    return *out != NULL;
}

static pl_quat quat_of(const double q[4])
{
    double scale = 1 / length4(q);
    return (pl_quat){q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale};
}

/* The rest shape, turned and put in place. A body that is not turned keeps the rest positions bit by bit. */
static void place(pl_record *record, const pl_body_def *def)
{
    pl_oriented *matter = &record->matter;
    const pl_model *model = record->model;
    pl_quat turn = quat_of(def->rotation);
    bool turned = turn.x != 0 || turn.y != 0 || turn.z != 0;
    for (int i = 0; i < matter->n; i++) {
        const float *rest = model->rest + 3 * i;
        pl_vec3 at = {(double)rest[0], (double)rest[1], (double)rest[2]};
        if (turned)
            at = pl_quat_rotate(turn, at);
        float *x = matter->now.x + 3 * i, *q = matter->now.q + 4 * i;
        x[0] = (float)at.x, x[1] = (float)at.y, x[2] = (float)at.z;
        q[0] = (float)turn.x, q[1] = (float)turn.y, q[2] = (float)turn.z, q[3] = (float)turn.w;
    }
    pl_vec3 centre = pl_quat_rotate(turn, (pl_vec3){model->centre[0], model->centre[1], model->centre[2]});
    if (!turned)
        centre = (pl_vec3){model->centre[0], model->centre[1], model->centre[2]};
    matter->now.origin[0] = (def->position[0] + centre.x) / model->unit;
    matter->now.origin[1] = (def->position[1] + centre.y) / model->unit;
    matter->now.origin[2] = (def->position[2] + centre.z) / model->unit;
}

/* Driven particles start from where they are. */
static void aim_drive(pl_oriented *matter, int f)
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

static bool make_drives(pl_memory *memory, int count, double *drives[3])
{
    for (int i = 0; i < 3; i++)
        drives[i] = PL_NEW(memory, double, 7 * (size_t)count);
    if (drives[0] && drives[1] && drives[2])
        return true;
    for (int i = 0; i < 3; i++)
        pl_memory_free(memory, drives[i]);
    return false;
}

static pl_status fill_record(pl_world *world, pl_record *record, const pl_body_def *def, pl_error *error)
{
    pl_oriented *matter = &record->matter;
    double *drives[3];
    matter->solver = def->solver;
    matter->damping = def->material.damping;
    matter->gravity_scale = def->gravity_scale;
    record->material = def->material;
    record->user = def->user;
    PL_CHECK(copy_map(world, def->edge_stiffness, record->model->edge_count, &record->edge_stiffness) &&
                 copy_map(world, def->particle_density, record->model->particle_count, &record->particle_density),
             PL_ERROR_MEMORY, error, "", "no memory for a body");
    PL_TRY(copy_fixed(world, record->model, def->fixed, def->fixed_count, &matter->fixed, &matter->fixed_count, error));
    PL_CHECK(make_drives(world->memory, matter->fixed_count, drives), PL_ERROR_MEMORY, error, "",
             "no memory for a body");
    matter->drive_from = drives[0], matter->drive_to = drives[1], matter->drive_now = drives[2];
    place(record, def);
    for (int f = 0; f < matter->fixed_count; f++)
        aim_drive(matter, f);
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    pl_world_adopt(world, record, &outfit);
    return PL_OK;
}

static void set_motion(pl_record *record, const double velocity[3], const double spin[3]);

pl_status pl_body_create(pl_world *world, const pl_body_def *def, pl_body *body, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_REQUIRE(body, PL_ERROR_ARGUMENT, error, "body", "there is nowhere to put the handle");
    *body = (pl_body){0, 0};
    PL_TRY(check_def(def, error));
    pl_record *record = pl_record_create(world, def->model);
    PL_CHECK(record, PL_ERROR_MEMORY, error, "", "no memory for a body of %d particles", def->model->particle_count);
    pl_status status = fill_record(world, record, def, error);
    if (status == PL_OK && pl_world_reserve_body(world, def->model->particle_count) != PL_OK)
        status = pl_fail(error, PL_ERROR_MEMORY, "", "no memory for another body");
    if (status != PL_OK) {
        pl_record_destroy(world, record);
        return status;
    }
    set_motion(record, def->velocity, def->spin);
    forget_old(&record->matter);
    show_now(&record->matter);
    uint32_t slot = free_slot(world);
    pl_world_enter(world, record, slot);
    *body = (pl_body){slot, world->bodies[slot].generation};
    return PL_OK;
}

static void free_pins_of(pl_world *world, const pl_record *record)
{
    for (int i = 0; i < record->matter.hold_count; i++) {
        pl_pin_slot *slot = world->pins + record->hold_slots[i];
        slot->used = false;
        slot->generation++;
    }
}

pl_status pl_body_destroy(pl_world *world, pl_body body)
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    free_pins_of(world, record);
    int i = 0;
    while (world->live[i] != record)
        i++;
    memmove(world->live + i, world->live + i + 1, sizeof *world->live * (size_t)(world->live_count - i - 1));
    world->live_count--;
    world->bodies[body.index].record = NULL;
    world->bodies[body.index].generation++;
    world->regroup = true;
    pl_record_destroy(world, record);
    return PL_OK;
}

/* ---- Changing what it is made of ---------------------------------------------------------------------------------- */

pl_status pl_body_set_material(pl_world *world, pl_body body, const pl_material *material,
                               const float *edge_stiffness, const float *particle_density, pl_error *error)
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(material, PL_ERROR_ARGUMENT, error, "material", "is missing");
    PL_TRY(pl_material_check(material, error));
    PL_TRY(check_maps(record->model, edge_stiffness, particle_density, error));
    float *stiffness, *density = NULL;
    pl_outfit outfit;
    pl_status status = PL_ERROR_MEMORY;
    if (copy_map(world, edge_stiffness, record->model->edge_count, &stiffness) &&
        copy_map(world, particle_density, record->model->particle_count, &density)) {
        pl_setup setup = pl_world_setup_of(world, record);
        setup.material = *material;
        setup.edge_stiffness = stiffness;
        setup.particle_density = density;
        status = pl_world_equip(world, record->model, &setup, &outfit, error);
    } else {
        pl_fail(error, status, "", "no memory for the maps");
    }
    if (status != PL_OK) {
        pl_memory_free(world->memory, stiffness);
        pl_memory_free(world->memory, density);
        return status;
    }
    pl_memory_free(world->memory, record->edge_stiffness);
    pl_memory_free(world->memory, record->particle_density);
    record->edge_stiffness = stiffness;
    record->particle_density = density;
    record->material = *material;
    record->matter.damping = material->damping;
    pl_world_adopt(world, record, &outfit);
    return PL_OK;
}

pl_status pl_body_set_solver(pl_world *world, pl_body body, pl_solver solver)
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(solver == PL_SOLVER_FAST || solver == PL_SOLVER_STIFF || solver == PL_SOLVER_PLAIN, PL_ERROR_ARGUMENT,
               NULL, NULL, "there is no such solver");
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    setup.solver = solver;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, NULL));
    record->matter.solver = solver;
    pl_world_adopt(world, record, &outfit);
    return PL_OK;
}

pl_status pl_body_set_fixed(pl_world *world, pl_body body, const int32_t *particles, int count, pl_error *error)
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(count >= 0 && (particles || !count), PL_ERROR_ARGUMENT, error, "fixed", "has a count but no particles");
    pl_oriented *matter = &record->matter;
    int32_t *fixed;
    double *drives[3];
    int fixed_count;
    pl_outfit outfit;
    PL_TRY(copy_fixed(world, record->model, particles, count, &fixed, &fixed_count, error));
    pl_setup setup = pl_world_setup_of(world, record);
    setup.fixed = fixed;
    setup.fixed_count = fixed_count;
    pl_status status = make_drives(world->memory, fixed_count, drives)
                           ? PL_OK
                           : pl_fail(error, PL_ERROR_MEMORY, "fixed", "no memory");
    if (status == PL_OK) {
        status = pl_world_equip(world, record->model, &setup, &outfit, error);
        for (int i = 0; i < 3 && status != PL_OK; i++)
            pl_memory_free(world->memory, drives[i]);
    }
    if (status != PL_OK) {
        pl_memory_free(world->memory, fixed);
        return status;
    }
    /* A particle that was fixed before goes on as it was driven. */
    pl_oriented before = *matter;
    matter->fixed = fixed;
    matter->fixed_count = fixed_count;
    matter->drive_from = drives[0], matter->drive_to = drives[1], matter->drive_now = drives[2];
    for (int f = 0, g = 0; f < fixed_count; f++) {
        while (g < before.fixed_count && before.fixed[g] < fixed[f])
            g++;
        aim_drive(matter, f);
        if (g < before.fixed_count && before.fixed[g] == fixed[f]) {
            memcpy(drives[0] + 7 * f, before.drive_from + 7 * g, sizeof(double) * 7);
            memcpy(drives[1] + 7 * f, before.drive_to + 7 * g, sizeof(double) * 7);
        }
    }
    void *old[] = {before.fixed, before.drive_from, before.drive_to, before.drive_now};
    for (int i = 0; i < 4; i++)
        pl_memory_free(world->memory, old[i]);
    pl_world_adopt(world, record, &outfit);
    return PL_OK;
}

pl_status pl_body_drive(pl_world *world, pl_body body, int particle, const double position[3],
                        const double rotation[4])
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(position && pl_is_finite3(position) && (!rotation || is_rotation(rotation)), PL_ERROR_ARGUMENT, NULL,
               NULL, "a driven particle needs a finite position and rotation");
    pl_oriented *matter = &record->matter;
    int f = 0;
    while (f < matter->fixed_count && matter->fixed[f] != particle)
        f++;
    PL_REQUIRE(f < matter->fixed_count, PL_ERROR_ARGUMENT, NULL, NULL, "particle %d is not fixed", particle);
    double *to = matter->drive_to + 7 * f;
    for (int k = 0; k < 3; k++)
        to[k] = position[k] / record->model->unit;
    if (rotation) {
        pl_quat q = quat_of(rotation);
        to[3] = q.x, to[4] = q.y, to[5] = q.z, to[6] = q.w;
    }
    return PL_OK;
}

/* ---- Pushing ------------------------------------------------------------------------------------------------------ */

static pl_status check_particle(const pl_record *record, int particle)
{
    PL_REQUIRE(particle >= -1 && particle < record->matter.n, PL_ERROR_ARGUMENT, NULL, NULL,
               "there is no particle %d", particle);
    return PL_OK;
}

static double mass_of(const pl_record *record, int i)
{
    return record->matter.system->mass[i] * record->matter.system->mass_unit;
}

pl_status pl_body_apply_force(pl_world *world, pl_body body, int particle, const double force[3])
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_TRY(check_particle(record, particle));
    PL_REQUIRE(pl_is_finite3(force), PL_ERROR_ARGUMENT, NULL, NULL, "the force is not finite");
    double total = record->matter.system->total_mass;
    for (int i = 0; i < record->matter.n; i++) {
        double share = particle < 0 ? record->matter.system->mass[i] / total : i == particle;
        for (int k = 0; k < 3 && share != 0; k++)
            record->force[3 * i + k] = (float)((double)record->force[3 * i + k] + share * force[k]);
    }
    record->forced = true;
    return PL_OK;
}

pl_status pl_body_apply_impulse(pl_world *world, pl_body body, int particle, const double impulse[3])
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_TRY(check_particle(record, particle));
    PL_REQUIRE(pl_is_finite3(impulse), PL_ERROR_ARGUMENT, NULL, NULL, "the impulse is not finite");
    pl_oriented *matter = &record->matter;
    double mass = particle < 0 ? matter->system->total_mass * matter->system->mass_unit : mass_of(record, particle);
    for (int k = 0; k < 3; k++) {
        double change = impulse[k] / mass / record->model->unit;
        if (particle < 0 && !matter->system->grounded)
            matter->now.velocity[k] += change;
        for (int i = 0; i < matter->n; i++)
            if (i == particle || (particle < 0 && matter->system->grounded))
                matter->now.u[3 * i + k] = (float)((double)matter->now.u[3 * i + k] + change);
    }
    pl_record_settle_mean(record);
    return PL_OK;
}

static void centre_of(const pl_oriented *matter, double centre[3])
{
    centre[0] = centre[1] = centre[2] = 0;
    for (int i = 0; i < matter->n; i++)
        for (int k = 0; k < 3; k++)
            centre[k] += matter->system->mass[i] * (double)matter->now.x[3 * i + k];
    for (int k = 0; k < 3; k++)
        centre[k] /= matter->system->total_mass;
}

static void set_motion(pl_record *record, const double velocity[3], const double spin[3])
{
    pl_oriented *matter = &record->matter;
    double centre[3], scale = 1 / record->model->unit;
    centre_of(matter, centre);
    for (int k = 0; k < 3; k++)
        matter->now.velocity[k] = velocity[k] * scale;
    for (int i = 0; i < matter->n; i++) {
        const float *x = matter->now.x + 3 * i;
        double arm[3] = {(double)x[0] - centre[0], (double)x[1] - centre[1], (double)x[2] - centre[2]};
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            matter->now.u[3 * i + k] = (float)(spin[a] * arm[b] - spin[b] * arm[a]);
            matter->now.w[3 * i + k] = (float)spin[k];
        }
    }
    pl_record_settle_mean(record);
}

pl_status pl_body_set_velocity(pl_world *world, pl_body body, const double velocity[3], const double spin[3])
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(pl_is_finite3(velocity) && pl_is_finite3(spin), PL_ERROR_ARGUMENT, NULL, NULL,
               "the velocity is not finite");
    set_motion(record, velocity, spin);
    return PL_OK;
}

static void turn3(pl_quat turn, float *v)
{
    pl_vec3 turned = pl_quat_rotate(turn, (pl_vec3){(double)v[0], (double)v[1], (double)v[2]});
    v[0] = (float)turned.x, v[1] = (float)turned.y, v[2] = (float)turned.z;
}

pl_status pl_body_teleport(pl_world *world, pl_body body, const double position[3], const double rotation[4])
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_REQUIRE(pl_is_finite3(position) && is_rotation(rotation), PL_ERROR_ARGUMENT, NULL, NULL,
               "a teleport needs a finite position and a rotation");
    pl_oriented *matter = &record->matter;
    pl_quat turn = quat_of(rotation);
    double centre[3];
    centre_of(matter, centre);
    for (int i = 0; i < matter->n; i++) {
        float *x = matter->now.x + 3 * i, *q = matter->now.q + 4 * i;
        for (int k = 0; k < 3; k++)
            x[k] = (float)((double)x[k] - centre[k]);
        turn3(turn, x);
        turn3(turn, matter->now.u + 3 * i);
        turn3(turn, matter->now.w + 3 * i);
        pl_quat turned = pl_quat_mul(turn, (pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]});
        q[0] = (float)turned.x, q[1] = (float)turned.y, q[2] = (float)turned.z, q[3] = (float)turned.w;
    }
    double *v = matter->now.velocity;
    pl_vec3 velocity = pl_quat_rotate(turn, (pl_vec3){v[0], v[1], v[2]});
    v[0] = velocity.x, v[1] = velocity.y, v[2] = velocity.z;
    for (int k = 0; k < 3; k++)
        matter->now.origin[k] = position[k] / record->model->unit;
    for (int f = 0; f < matter->fixed_count; f++)
        aim_drive(matter, f);
    forget_old(matter);
    show_now(matter);
    return PL_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static int scalars_of(pl_body_field field)
{
    return field == PL_ROTATIONS ? 4 : field == PL_MASSES ? 1 : 3;
}

static pl_status check_range(const pl_record *record, pl_body_field field, int first, int count, pl_buffer buffer)
{
    int size = field == PL_VERTICES ? record->model->vertex_count : record->matter.n;
    PL_REQUIRE((int)field >= PL_POSITIONS && field <= PL_VERTICES, PL_ERROR_ARGUMENT, NULL, NULL,
               "there is no such field");
    PL_REQUIRE(first >= 0 && count >= 0 && first <= size && count <= size - first, PL_ERROR_ARGUMENT, NULL, NULL,
               "elements %d to %d of %d", first, first + count, size);
    PL_REQUIRE((buffer.data || !count) && (buffer.type == PL_F32 || buffer.type == PL_F64), PL_ERROR_ARGUMENT, NULL,
               NULL, "the buffer has no data or no type");
    return PL_OK;
}

static void read_position(const pl_record *record, int i, double t, double out[3])
{
    const pl_state *a = &record->matter.shown, *b = &record->matter.now;
    for (int k = 0; k < 3; k++) {
        out[k] = b->origin[k] + (double)b->x[3 * i + k];
        if (t != 1)
            out[k] = (a->origin[k] + (double)a->x[3 * i + k]) * (1 - t) + out[k] * t;
        out[k] *= record->model->unit;
    }
}

static void read_rotation(const pl_record *record, int i, double t, double out[4])
{
    const float *a = record->matter.shown.q + 4 * i, *b = record->matter.now.q + 4 * i;
    double side = 0;
    for (int k = 0; k < 4; k++)
        side += (double)a[k] * (double)b[k];
    for (int k = 0; k < 4; k++)
        out[k] = t == 1 ? (double)b[k] : (double)a[k] * (side < 0 ? t - 1 : 1 - t) + (double)b[k] * t;
    double length = length4(out);
    for (int k = 0; k < 4 && t != 1 && length > 0; k++)
        out[k] /= length;
}

/* Eq. 2: each vertex blends its particles' rigid motions. */
static void read_vertex(const pl_record *record, int v, double t, double out[3])
{
    const pl_model *model = record->model;
    const int32_t *influences = model->influences + (size_t)v * (size_t)model->influence_count;
    const float *weights = model->weights + (size_t)v * (size_t)model->influence_count;
    const float *rest = model->vertices + 3 * (size_t)v;
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < model->influence_count && influences[k] >= 0; k++) {
        const float *from = model->rest + 3 * (size_t)influences[k];
        double at[3], q[4], w = (double)weights[k];
        read_position(record, influences[k], t, at);
        read_rotation(record, influences[k], t, q);
        pl_vec3 arm = pl_quat_rotate((pl_quat){q[0], q[1], q[2], q[3]},
                                     (pl_vec3){((double)rest[0] - (double)from[0]) * model->unit,
                                               ((double)rest[1] - (double)from[1]) * model->unit,
                                               ((double)rest[2] - (double)from[2]) * model->unit});
        out[0] += w * (at[0] + arm.x), out[1] += w * (at[1] + arm.y), out[2] += w * (at[2] + arm.z);
    }
}

static void read_one(const pl_record *record, pl_body_field field, int i, double t, double out[4])
{
    const pl_state *now = &record->matter.now;
    switch (field) {
    case PL_POSITIONS:
        read_position(record, i, t, out);
        break;
    case PL_ROTATIONS:
        read_rotation(record, i, t, out);
        break;
    case PL_VELOCITIES:
        for (int k = 0; k < 3; k++)
            out[k] = (now->velocity[k] + (double)now->u[3 * i + k]) * record->model->unit;
        break;
    case PL_SPINS:
        for (int k = 0; k < 3; k++)
            out[k] = (double)now->w[3 * i + k];
        break;
    case PL_MASSES:
        out[0] = mass_of(record, i);
        break;
    case PL_VERTICES:
        read_vertex(record, i, t, out);
        break;
    }
}

pl_status pl_body_read(const pl_world *world, pl_body body, pl_body_field field, int first, int count,
                       double fraction, pl_buffer out)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_TRY(check_range(record, field, first, count, out));
    PL_REQUIRE(fraction >= 0 && fraction <= 1, PL_ERROR_ARGUMENT, NULL, NULL, "the fraction is not in [0, 1]");
    for (int i = 0; i < count; i++) {
        double values[4];
        read_one(record, field, first + i, fraction, values);
        pl_buffer_set(out, (size_t)i, scalars_of(field), values);
    }
    return PL_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------------ */

static bool is_writable(pl_body_field field, const double v[4])
{
    return field == PL_ROTATIONS ? is_rotation(v) : pl_is_finite3(v);
}

static void write_one(pl_record *record, pl_body_field field, int i, const double v[4])
{
    pl_state *now = &record->matter.now;
    double unit = record->model->unit;
    pl_quat q = field == PL_ROTATIONS ? quat_of(v) : (pl_quat){0};
    const double turned[4] = {q.x, q.y, q.z, q.w};
    for (int k = 0; k < scalars_of(field); k++)
        switch (field) {
        case PL_POSITIONS:
            now->x[3 * i + k] = (float)(v[k] / unit - now->origin[k]);
            break;
        case PL_ROTATIONS:
            now->q[4 * i + k] = (float)turned[k];
            break;
        case PL_VELOCITIES:
            now->u[3 * i + k] = (float)(v[k] / unit - now->velocity[k]);
            break;
        case PL_SPINS:
            now->w[3 * i + k] = (float)v[k];
            break;
        case PL_MASSES:
        case PL_VERTICES:
            break;
        }
}

/* A body written somewhere else takes its origin along, or its floats would have no digits left. */
static void follow_written(pl_oriented *matter, const double mean[3])
{
    for (int k = 0; k < 3; k++) {
        double shift = mean[k] - matter->now.origin[k];
        matter->now.origin[k] = mean[k];
        for (int i = 0; i < matter->n; i++)
            matter->now.x[3 * i + k] = (float)((double)matter->now.x[3 * i + k] - shift);
    }
}

pl_status pl_body_write(pl_world *world, pl_body body, pl_body_field field, int first, int count, pl_buffer in)
{
    pl_record *record;
    PL_TRY(open_record(world, body, &record));
    PL_TRY(check_range(record, field, first, count, in));
    PL_REQUIRE(field <= PL_SPINS, PL_ERROR_ARGUMENT, NULL, NULL, "this field can only be read");
    pl_oriented *matter = &record->matter;
    double mean[3] = {0, 0, 0}, v[4] = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        pl_buffer_get(in, (size_t)i, scalars_of(field), v);
        PL_REQUIRE(is_writable(field, v), PL_ERROR_ARGUMENT, NULL, NULL, "element %d is not a usable number", i);
        for (int k = 0; k < 3; k++)
            mean[k] += v[k] / record->model->unit / count;
    }
    if (field == PL_POSITIONS && count == matter->n)
        follow_written(matter, mean);
    for (int i = 0; i < count; i++) {
        pl_buffer_get(in, (size_t)i, scalars_of(field), v);
        write_one(record, field, first + i, v);
    }
    if (field == PL_VELOCITIES)
        pl_record_settle_mean(record);
    forget_old(matter);
    show_now(matter);
    return PL_OK;
}

/* ---- Sums --------------------------------------------------------------------------------------------------------- */

/* I w of an ellipsoid in the world: (tr A I − A) w with A = R Ā Rᵀ. */
static void own_spin(const pl_oriented *matter, int i, double out[3])
{
    const float *q = matter->now.q + 4 * i, *w = matter->now.w + 3 * i;
    const pl_grain_d *grain = matter->system->grain_d + i;
    const double *s = grain->moment;
    pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    pl_quat back = {-turn.x, -turn.y, -turn.z, turn.w};
    pl_vec3 v = pl_quat_rotate(back, (pl_vec3){(double)w[0], (double)w[1], (double)w[2]});
    double trace = s[0] + s[3] + s[5];
    pl_vec3 spin = {trace * v.x - (s[0] * v.x + s[1] * v.y + s[2] * v.z),
                    trace * v.y - (s[1] * v.x + s[3] * v.y + s[4] * v.z),
                    trace * v.z - (s[2] * v.x + s[4] * v.y + s[5] * v.z)};
    spin = pl_quat_rotate(turn, spin);
    out[0] = grain->density * spin.x, out[1] = grain->density * spin.y, out[2] = grain->density * spin.z;
}

pl_status pl_body_get_state(const pl_world *world, pl_body body, pl_body_state *state)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    const pl_oriented *matter = &record->matter;
    const pl_system *system = matter->system;
    double centre[3], mean[3], turning[3] = {0, 0, 0}, unit = record->model->unit;
    centre_of(matter, centre);
    mean_velocity(matter, mean);
    for (int i = 0; i < matter->n; i++) {
        double arm[3], own[3];
        for (int k = 0; k < 3; k++)
            arm[k] = (double)matter->now.x[3 * i + k] - centre[k];
        own_spin(matter, i, own);
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            turning[k] += own[k] + system->mass[i] * (arm[a] * ((double)matter->now.u[3 * i + b] - mean[b]) -
                                                      arm[b] * ((double)matter->now.u[3 * i + a] - mean[a]));
        }
    }
    state->mass = system->total_mass * system->mass_unit;
    for (int k = 0; k < 3; k++) {
        state->centre[k] = (matter->now.origin[k] + centre[k]) * unit;
        state->velocity[k] = (matter->now.velocity[k] + mean[k]) * unit;
        state->momentum[k] = state->mass * state->velocity[k];
        state->angular_momentum[k] = turning[k] * system->mass_unit * unit * unit;
    }
    return PL_OK;
}
