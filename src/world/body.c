/* Bodies: made and destroyed, and what they touch. State is kept in the model's unit; everything a
   caller sees is SI. */
#include <string.h>

#include "math/quat.h"
#include "matter/posed.h"
#include "world/world.h"

static const uint32_t body_cookie = 0x706c6264;

pl_body_def pl_default_body_def(pl_model *model)
{
    return (pl_body_def){.model = model,
                         .material = pl_default_material(),
                         .gravity_scale = 1,
                         .category = 1,
                         .mask = UINT32_MAX,
                         .self_contact = model && model->dimension < 3,
                         .rotation = {0, 0, 0, 1},
                         .cookie = body_cookie};
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

pl_body pl_body_at(const pl_world *world, uint32_t index)
{
    if (!world || index >= (uint32_t)world->body_slots || !world->bodies[index].record)
        return (pl_body){0, 0};
    return (pl_body){index, world->bodies[index].generation};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool make_state(pl_memory *memory, pl_state *state, size_t n, bool moving)
{
    state->x = PL_NEW(memory, float, 3 * n + 1); /* rows are read four wide */
    state->q = PL_NEW(memory, float, 4 * n);
    state->u = moving ? PL_NEW(memory, float, 3 * n) : NULL;
    state->w = moving ? PL_NEW(memory, float, 3 * n) : NULL;
    return state->x && state->q && (!moving || (state->u && state->w));
}

/* The first n rows. */
static void copy_state(pl_state *to, const pl_state *from, size_t n)
{
    memcpy(to->x, from->x, sizeof(float) * 3 * n);
    memcpy(to->q, from->q, sizeof(float) * 4 * n);
    if (to->u) {
        memcpy(to->u, from->u, sizeof(float) * 3 * n);
        memcpy(to->w, from->w, sizeof(float) * 3 * n);
    }
    memcpy(to->origin, from->origin, sizeof to->origin);
    memcpy(to->velocity, from->velocity, sizeof to->velocity);
}

static void free_state(pl_memory *memory, pl_state *state)
{
    pl_memory_free(memory, state->x);
    pl_memory_free(memory, state->q);
    pl_memory_free(memory, state->u);
    pl_memory_free(memory, state->w);
}

bool pl_record_grow(pl_world *world, pl_record *record, int capacity)
{
    pl_memory *memory = world->memory;
    pl_oriented *matter = &record->matter;
    size_t rows = (size_t)capacity, n = (size_t)matter->n;
    if (capacity <= matter->capacity)
        return true;
    pl_state states[3] = {{0}, {0}, {0}}, *old[3] = {&matter->now, &matter->old, &matter->shown};
    float *push = PL_NEW(memory, float, 3 * rows);
    double *force = PL_NEW(memory, double, 3 * rows);
    bool good = push && force;
    for (int i = 0; i < 3; i++)
        good = make_state(memory, states + i, rows, i < 2) && good;
    for (int i = 0; i < 3; i++) {
        pl_state spent = good ? *old[i] : states[i];
        if (good && matter->capacity)
            copy_state(states + i, old[i], n);
        if (good)
            *old[i] = states[i];
        free_state(memory, &spent);
    }
    if (good && matter->capacity) {
        memcpy(push, matter->push, sizeof(float) * 3 * n);
        memcpy(force, record->force, sizeof(double) * 3 * n);
    }
    pl_memory_free(memory, good ? matter->push : push);
    pl_memory_free(memory, good ? record->force : force);
    if (!good)
        return false;
    matter->push = push;
    record->force = force;
    matter->capacity = capacity;
    return true;
}

pl_record *pl_record_create(pl_world *world, pl_model *model)
{
    pl_record *record = PL_NEW(world->memory, pl_record, 1);
    if (!record)
        return NULL;
    record->model = model;
    record->clumps = model->clumps;
    record->radii = model->radii;
    pl_model_retain(model);
    record->matter.n = model->particle_count;
    if (pl_record_grow(world, record, model->particle_count) && pl_skin_reserve(world, model))
        return record;
    pl_record_destroy(world, record);
    return NULL;
}

void pl_record_destroy(pl_world *world, pl_record *record)
{
    pl_memory *memory = world->memory;
    pl_oriented *matter = &record->matter;
    pl_world_discard(world, &(pl_outfit){.shared.system = matter->system,
                                         .correction = matter->correction,
                                         .holds = matter->holds,
                                         .grips = matter->grips,
                                         .tetrahedral = matter->tetrahedral});
    free_state(memory, &matter->now);
    free_state(memory, &matter->old);
    free_state(memory, &matter->shown);
    void *blocks[] = {
        matter->push,       matter->fixed,  matter->drive_from,     matter->drive_to,
        matter->drive_now,  record->force,  record->edge_stiffness, record->particle_density,
        record->hold_slots, record->frames, record->tet_stiffness};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    pl_clustered_empty(world, record);
    pl_posed_destroy(matter->posed);
    pl_examples_empty(world, record);
    pl_gas_empty(world, record);
    pl_model_release(record->model);
    pl_memory_free(memory, record);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static pl_status check_motion(const pl_body_def *def, double unit, pl_error *error)
{
    PL_CHECK(pl_is_place(def->position, unit), PL_ERROR_ARGUMENT, error, "position",
             "is not finite, or too far away for a double to tell the particles apart");
    PL_CHECK(pl_is_rotation(def->rotation), PL_ERROR_ARGUMENT, error, "rotation",
             "is no rotation; use a quaternion x, y, z, w (0, 0, 0, 1 does not turn)");
    PL_CHECK(pl_is_rate(def->velocity, unit), PL_ERROR_ARGUMENT, error, "velocity",
             "is not finite, or far too fast");
    PL_CHECK(pl_is_rate(def->spin, 1), PL_ERROR_ARGUMENT, error, "spin",
             "is not finite, or far too fast");
    return PL_OK;
}

static pl_status check_def(const pl_body_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == body_cookie, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_body_def");
    PL_CHECK(def->model, PL_ERROR_ARGUMENT, error, "model", "is missing");
    PL_TRY(pl_check_material(&def->material, error));
    PL_TRY(pl_record_check_maps(def->model, def->edge_stiffness, def->particle_density, error));
    PL_CHECK(def->tetrahedral || !def->tet_stiffness, PL_ERROR_ARGUMENT, error, "tet_stiffness",
             "is for tetrahedral bodies; others have edge_stiffness");
    PL_TRY(pl_record_check_map(def->tet_stiffness, def->model->tet_count, "tet_stiffness", error));
    PL_CHECK(pl_is_solver((int)def->solver), PL_ERROR_ARGUMENT, error, "solver",
             "is %d; use fast, stiff or plain", (int)def->solver);
    PL_CHECK(pl_is_gravity_scale(def->gravity_scale), PL_ERROR_ARGUMENT, error, "gravity_scale",
             "is %g; use a finite number (1 is usual)", def->gravity_scale);
    PL_CHECK(!def->clustered || !(def->pressure > 0), PL_ERROR_ARGUMENT, error, "pressure",
             "is for shells of oriented particles, not for clustered bodies");
    PL_CHECK(!def->clustered || !def->tetrahedral, PL_ERROR_ARGUMENT, error, "tetrahedral",
             "is given beside clustered; a body is made of one of them");
    if (def->examples)
        PL_TRY(pl_examples_check(def, error));
    PL_CHECK(def->fixed_count >= 0 && (def->fixed || !def->fixed_count), PL_ERROR_ARGUMENT, error,
             "fixed", "has a count but no particles");
    return check_motion(def, def->model->unit, error);
}

/* The rest shape, turned and put in place. A body that is not turned keeps the rest positions bit
   by bit. */
static void place(pl_record *record, const pl_body_def *def)
{
    pl_oriented *matter = &record->matter;
    const pl_model *model = record->model;
    const double *r = def->rotation;
    pl_quat turn = pl_quat_normalise((pl_quat){r[0], r[1], r[2], r[3]});
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
    pl_vec3 centre = {model->centre[0], model->centre[1], model->centre[2]};
    if (turned)
        centre = pl_quat_rotate(turn, centre);
    matter->now.origin[0] = (def->position[0] + centre.x) / model->unit;
    matter->now.origin[1] = (def->position[1] + centre.y) / model->unit;
    matter->now.origin[2] = (def->position[2] + centre.z) / model->unit;
}

static pl_status fix(pl_world *world, pl_record *record, const pl_body_def *def, pl_error *error)
{
    pl_oriented *matter = &record->matter;
    double *drives[3];
    PL_TRY(pl_record_copy_fixed(world, record->model, def->fixed, def->fixed_count, &matter->fixed,
                                &matter->fixed_count, error));
    PL_CHECK(pl_record_make_drives(world->memory, matter->fixed_count, drives), PL_ERROR_MEMORY,
             error, "", "no memory for the fixed particles");
    matter->drive_from = drives[0], matter->drive_to = drives[1], matter->drive_now = drives[2];
    for (int f = 0; f < matter->fixed_count; f++)
        pl_record_aim_drive(matter, f);
    return PL_OK;
}

static pl_status fill(pl_world *world, pl_record *record, const pl_body_def *def, pl_error *error)
{
    const pl_model *model = record->model;
    record->matter.solver = def->solver;
    record->matter.damping = def->material.damping;
    record->matter.gravity_scale = def->gravity_scale;
    record->material = def->material;
    record->user = def->user;
    record->category = def->category;
    record->mask = def->mask;
    record->self_contact = def->self_contact;
    PL_CHECK(
        pl_record_copy_map(world, def->edge_stiffness, model->edge_count,
                           &record->edge_stiffness) &&
            pl_record_copy_map(world, def->particle_density, model->particle_count,
                               &record->particle_density) &&
            pl_record_copy_map(world, def->tet_stiffness, model->tet_count, &record->tet_stiffness),
        PL_ERROR_MEMORY, error, "", "no memory for the maps");
    PL_TRY(pl_gas_fill(world, record, def->pressure, error));
    place(record, def);
    if (def->clustered)
        PL_TRY(pl_clustered_fill(world, record, def->clustered, error));
    if (def->tetrahedral)
        PL_TRY(pl_tetrahedral_fill(world, record, def->tetrahedral, error));
    if (def->plasticity || (def->examples && !def->clustered && !def->tetrahedral))
        PL_TRY(pl_posed_fill(world, record, def->plasticity, error));
    PL_TRY(fix(world, record, def, error));
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    pl_world_adopt(world, record, &outfit);
    if (def->examples)
        PL_TRY(pl_examples_fill(world, record, def->examples, error));
    PL_CHECK(pl_world_reserve_body(world, record) == PL_OK, PL_ERROR_MEMORY, error, "",
             "no memory for another body");
    return PL_OK;
}

static PL_APART pl_status create(pl_world *world, const pl_body_def *def, pl_body *body,
                                 pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world, error));
    PL_REQUIRE(body, PL_ERROR_ARGUMENT, error, "body", "there is nowhere to put the handle");
    *body = (pl_body){0, 0};
    PL_TRY(check_def(def, error));
    pl_record *record = pl_record_create(world, def->model);
    PL_CHECK(record, PL_ERROR_MEMORY, error, "", "no memory for a body of %d particles",
             def->model->particle_count);
    pl_status status = fill(world, record, def, error);
    if (status != PL_OK) {
        pl_record_destroy(world, record);
        return status;
    }
    pl_record_set_motion(record, def->velocity, def->spin);
    pl_record_forget_old(&record->matter);
    pl_record_show_now(&record->matter);
    uint32_t slot = pl_world_free_body_slot(world);
    pl_world_enter(world, record, slot);
    *body = (pl_body){slot, world->bodies[slot].generation};
    return PL_OK;
}

pl_status pl_body_create(pl_world *world, const pl_body_def *def, pl_body *body, pl_error *error)
{
    PL_COMPUTE(create(world, def, body, error));
}

pl_status pl_body_destroy(pl_world *world, pl_body body)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    pl_world_wake(world, record);
    pl_attachments_forget_body(world, body);
    pl_events_forget_body(world, body.index);
    for (int i = 0; i < record->matter.hold_count; i++)
        pl_world_leave_pin(world, record->hold_slots[i]);
    pl_world_leave(world, record);
    pl_record_destroy(world, record);
    return PL_OK;
}

/* ---- What it touches ------------------------------------------------------------------------- */

/* Contact is shown it anew; what it lay on, or lies in from now on, is found awake. */
static void touch_anew(pl_world *world, pl_record *record)
{
    pl_world_wake(world, record);
    world->regroup = world->reenter = true;
}

pl_status pl_body_set_filter(pl_world *world, pl_body body, uint32_t category, uint32_t mask)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    if (record->category == category && record->mask == mask)
        return PL_OK;
    record->category = category;
    record->mask = mask;
    touch_anew(world, record);
    return PL_OK;
}

pl_status pl_body_set_self_contact(pl_world *world, pl_body body, bool self_contact)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    PL_REQUIRE(!record->matter.clustered, PL_ERROR_STATE, NULL, NULL,
               "whether the clusters of a body touch each other is said when it is made");
    if (record->self_contact == self_contact)
        return PL_OK;
    record->self_contact = self_contact;
    touch_anew(world, record);
    return PL_OK;
}
