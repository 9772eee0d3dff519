/* Pins: points or directions of a body that are drawn to a target. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "shape/skin.h"
#include "world/world.h"

static const uint32_t pin_cookie = 0x706c706e;

pl_pin_def pl_default_pin_def(pl_pin_kind kind)
{
    return (pl_pin_def){.kind = kind, .rest = {0, kind == PL_PIN_DIRECTION, 0}, .strength = 100, .cookie = pin_cookie};
}

/* ---- Where on the body -------------------------------------------------------------------------------------------- */

/* The target of a position pin starts where its point is now. */
static void aim(const pl_record *record, pl_pin_def *def)
{
    const pl_model *model = record->model;
    const pl_state *now = &record->matter.now;
    if (def->kind != PL_PIN_POSITION)
        return;
    def->target[0] = def->target[1] = def->target[2] = 0;
    for (int j = 0; j < def->count; j++) {
        size_t i = (size_t)def->particles[j];
        const float *q = now->q + 4 * i, *x = now->x + 3 * i, *rest = model->rest + 3 * i;
        double arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = (def->rest[k] - model->centre[k]) / model->unit - (double)rest[k];
        pl_vec3 turned = pl_quat_rotate((pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]},
                                        (pl_vec3){arm[0], arm[1], arm[2]});
        double w = (double)def->weights[j] * model->unit;
        def->target[0] += w * (now->origin[0] + (double)x[0] + turned.x);
        def->target[1] += w * (now->origin[1] + (double)x[1] + turned.y);
        def->target[2] += w * (now->origin[2] + (double)x[2] + turned.z);
    }
}

static pl_status find(const pl_world *world, pl_body body, const pl_pin_def *def, const pl_record **record)
{
    *record = pl_world_record(world, body);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_REQUIRE(def && def->cookie == pin_cookie, PL_ERROR_ARGUMENT, NULL, NULL,
               "the definition was not made by pl_default_pin_def");
    return PL_OK;
}

static void set_rest(const pl_model *model, pl_pin_def *def, const float *point)
{
    for (int k = 0; k < 3 && def->kind == PL_PIN_POSITION; k++)
        def->rest[k] = model->centre[k] + (double)point[k] * model->unit;
}

pl_status pl_pin_at_particle(const pl_world *world, pl_body body, int particle, pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(find(world, body, def, &record));
    PL_REQUIRE(particle >= 0 && particle < record->matter.n, PL_ERROR_ARGUMENT, NULL, NULL, "there is no particle %d",
               particle);
    def->count = 1;
    def->particles[0] = particle;
    def->weights[0] = 1;
    set_rest(record->model, def, record->model->rest + 3 * (size_t)particle);
    aim(record, def);
    return PL_OK;
}

pl_status pl_pin_at_vertex(const pl_world *world, pl_body body, int vertex, pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(find(world, body, def, &record));
    const pl_model *model = record->model;
    PL_REQUIRE(vertex >= 0 && vertex < model->vertex_count, PL_ERROR_ARGUMENT, NULL, NULL, "there is no vertex %d",
               vertex);
    size_t first = (size_t)vertex * (size_t)model->influence_count;
    for (def->count = 0; def->count < model->influence_count && model->influences[first + (size_t)def->count] >= 0;
         def->count++) {
        def->particles[def->count] = model->influences[first + (size_t)def->count];
        def->weights[def->count] = model->weights[first + (size_t)def->count];
    }
    set_rest(model, def, model->vertices + 3 * (size_t)vertex);
    aim(record, def);
    return PL_OK;
}

pl_status pl_pin_at_point(const pl_world *world, pl_body body, const double rest_point[3], pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(find(world, body, def, &record));
    PL_REQUIRE(rest_point && pl_is_finite3(rest_point), PL_ERROR_ARGUMENT, NULL, NULL, "the point is not finite");
    const pl_model *model = record->model;
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = (rest_point[k] - model->centre[k]) / model->unit;
    PL_REQUIRE(fabs(point[0]) < 1e9 && fabs(point[1]) < 1e9 && fabs(point[2]) < 1e9, PL_ERROR_ARGUMENT, NULL, NULL,
               "the point is too far from the body");
    def->count = pl_skin_point(model, point, 4, def->particles, def->weights);
    for (int k = 0; k < 3 && def->kind == PL_PIN_POSITION; k++)
        def->rest[k] = rest_point[k];
    aim(record, def);
    return PL_OK;
}

/* ---- Making ------------------------------------------------------------------------------------------------------- */

static pl_status check_def(const pl_record *record, const pl_pin_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == pin_cookie, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_pin_def");
    PL_CHECK(def->kind == PL_PIN_POSITION || def->kind == PL_PIN_DIRECTION, PL_ERROR_ARGUMENT, error, "kind",
             "is neither position nor direction");
    PL_CHECK(def->count >= 1 && def->count <= PL_MAX_INFLUENCES, PL_ERROR_ARGUMENT, error, "count",
             "is %d; a pin hangs on 1 to %d particles", def->count, PL_MAX_INFLUENCES);
    for (int i = 0; i < def->count; i++) {
        PL_CHECK(def->particles[i] >= 0 && def->particles[i] < record->matter.n, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("particles[%d]", i), "is %d; the body has particles 0 to %d", (int)def->particles[i],
                 record->matter.n - 1);
        PL_CHECK(def->weights[i] > 0 && def->weights[i] <= 1e6f, PL_ERROR_ARGUMENT, error, PL_WHERE("weights[%d]", i),
                 "is %g; use a weight above 0", (double)def->weights[i]);
        for (int j = 0; j < i; j++)
            PL_CHECK(def->particles[j] != def->particles[i], PL_ERROR_ARGUMENT, error, PL_WHERE("particles[%d]", i),
                     "names particle %d twice", (int)def->particles[i]);
    }
    PL_CHECK(pl_is_finite3(def->rest) && pl_is_finite3(def->target), PL_ERROR_ARGUMENT, error, "target",
             "or rest is not finite");
    PL_CHECK(def->strength >= 1e-12 && def->strength <= 1e12, PL_ERROR_ARGUMENT, error, "strength",
             "is %g; use a number above 0 (100 holds firmly)", def->strength);
    if (def->kind == PL_PIN_DIRECTION) {
        const double *a = def->rest, *b = def->target;
        PL_CHECK(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > 1e-24, PL_ERROR_ARGUMENT, error, "rest",
                 "is a direction without length");
        PL_CHECK(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] > 1e-24, PL_ERROR_ARGUMENT, error, "target",
                 "is a direction without length");
    }
    return PL_OK;
}

/* Positions in units, directions at length one. */
static void convert_target(const pl_model *model, pl_pin_kind kind, const double target[3], double out[3])
{
    double scale = 1 / model->unit;
    if (kind == PL_PIN_DIRECTION)
        scale = 1 / sqrt(target[0] * target[0] + target[1] * target[1] + target[2] * target[2]);
    for (int k = 0; k < 3; k++)
        out[k] = target[k] * scale;
}

static pl_hold hold_of(const pl_model *model, const pl_pin_def *def)
{
    pl_hold hold = {.kind = def->kind, .count = def->count, .strength = def->strength, .column = -1};
    double sum = 0, axis[3];
    convert_target(model, def->kind, def->target, hold.to);
    memcpy(hold.from, hold.to, sizeof hold.from);
    memcpy(hold.now, hold.to, sizeof hold.now);
    for (int j = 0; j < def->count; j++)
        sum += (double)def->weights[j];
    convert_target(model, def->kind, def->rest, axis);
    for (int j = 0; j < def->count; j++) {
        hold.particle[j] = def->particles[j];
        hold.weight[j] = (double)def->weights[j] / sum;
        for (int k = 0; k < 3; k++)
            hold.arm[j][k] = def->kind == PL_PIN_DIRECTION
                                 ? axis[k]
                                 : (def->rest[k] - model->centre[k]) / model->unit -
                                       (double)model->rest[3 * (size_t)def->particles[j] + (size_t)k];
    }
    return hold;
}

/* Room for one more hold; the arrays grow together. */
static bool reserve_hold(pl_world *world, pl_record *record)
{
    int count = record->matter.hold_count, capacity = record->hold_capacity;
    if (count < capacity)
        return true;
    int larger = capacity;
    pl_hold *holds = record->matter.holds;
    if (!pl_world_grow(world->memory, &record->matter.holds, count, &larger, sizeof *holds))
        return false;
    if (!pl_world_grow(world->memory, &record->hold_slots, count, &capacity, sizeof *record->hold_slots))
        return false; /* holds has more room than it admits */
    record->hold_capacity = capacity;
    return true;
}

static int free_pin_slot(pl_world *world)
{
    int slot = 0;
    while (slot < world->pin_slots && world->pins[slot].used)
        slot++;
    if (slot < world->pin_slots)
        return slot;
    if (!pl_world_grow(world->memory, &world->pins, world->pin_slots, &world->pin_slot_capacity, sizeof *world->pins))
        return -1;
    world->pins[world->pin_slots++] = (pl_pin_slot){.generation = 1};
    return slot;
}

pl_status pl_pin_create(pl_world *world, pl_body body, const pl_pin_def *def, pl_pin *pin, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world));
    pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, error, NULL, "the body's handle is stale or of another world");
    PL_REQUIRE(pin, PL_ERROR_ARGUMENT, error, "pin", "there is nowhere to put the handle");
    *pin = (pl_pin){0, 0};
    PL_TRY(check_def(record, def, error));
    PL_CHECK(reserve_hold(world, record), PL_ERROR_MEMORY, error, "", "no memory for another pin");
    int slot = free_pin_slot(world);
    PL_CHECK(slot >= 0, PL_ERROR_MEMORY, error, "", "no memory for another pin");
    pl_oriented *matter = &record->matter;
    pl_outfit outfit;
    matter->holds[matter->hold_count] = hold_of(record->model, def);
    pl_setup setup = pl_world_setup_of(world, record);
    setup.hold_count++;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    record->hold_slots[matter->hold_count++] = (uint32_t)slot;
    world->pins[slot].used = true;
    world->pins[slot].body = record->slot;
    pl_world_adopt(world, record, &outfit);
    *pin = (pl_pin){(uint32_t)slot, world->pins[slot].generation};
    return PL_OK;
}

/* ---- Using -------------------------------------------------------------------------------------------------------- */

/* The body and the number of the hold behind a handle. */
static pl_record *locate(const pl_world *world, pl_pin pin, int *hold)
{
    if (!world || pin.index >= (uint32_t)world->pin_slots || !world->pins[pin.index].used ||
        world->pins[pin.index].generation != pin.generation)
        return NULL;
    pl_record *record = world->bodies[world->pins[pin.index].body].record;
    *hold = 0;
    while (record->hold_slots[*hold] != pin.index)
        ++*hold;
    return record;
}

bool pl_pin_is_valid(const pl_world *world, pl_pin pin)
{
    int hold;
    return locate(world, pin, &hold) != NULL;
}

/* Takes hold i out of the list, the others keep their order; or puts it back. */
static void take_out(pl_record *record, int i)
{
    int rest = record->matter.hold_count - i - 1;
    memmove(record->matter.holds + i, record->matter.holds + i + 1, sizeof(pl_hold) * (size_t)rest);
    memmove(record->hold_slots + i, record->hold_slots + i + 1, sizeof(uint32_t) * (size_t)rest);
    record->matter.hold_count--;
}

static void put_in(pl_record *record, int i, const pl_hold *hold, uint32_t slot)
{
    int rest = record->matter.hold_count - i;
    memmove(record->matter.holds + i + 1, record->matter.holds + i, sizeof(pl_hold) * (size_t)rest);
    memmove(record->hold_slots + i + 1, record->hold_slots + i, sizeof(uint32_t) * (size_t)rest);
    record->matter.holds[i] = *hold;
    record->hold_slots[i] = slot;
    record->matter.hold_count++;
}

pl_status pl_pin_destroy(pl_world *world, pl_pin pin)
{
    PL_TRY(pl_world_check_unlocked(world));
    int i;
    pl_record *record = locate(world, pin, &i);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the pin's handle is stale or of another world");
    pl_hold hold = record->matter.holds[i];
    pl_outfit outfit;
    take_out(record, i);
    pl_setup setup = pl_world_setup_of(world, record);
    pl_status status = pl_world_equip(world, record->model, &setup, &outfit, NULL);
    if (status != PL_OK) {
        put_in(record, i, &hold, pin.index);
        /* The columns of the others were counted without it. */
        for (int k = 0, column = 0; k < record->matter.hold_count && record->matter.correction; k++) {
            pl_hold *other = record->matter.holds + k;
            other->column = k == i ? hold.column : other->column;
            if (other->column >= 0)
                other->column = column++;
        }
        return status;
    }
    world->pins[pin.index].used = false;
    world->pins[pin.index].generation++;
    pl_world_adopt(world, record, &outfit);
    return PL_OK;
}

pl_status pl_pin_set_target(pl_world *world, pl_pin pin, const double target[3])
{
    PL_TRY(pl_world_check_unlocked(world));
    int i;
    pl_record *record = locate(world, pin, &i);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the pin's handle is stale or of another world");
    PL_REQUIRE(target && pl_is_finite3(target), PL_ERROR_ARGUMENT, NULL, NULL, "the target is not finite");
    pl_hold *hold = record->matter.holds + i;
    PL_REQUIRE(hold->kind == PL_PIN_POSITION ||
                   target[0] * target[0] + target[1] * target[1] + target[2] * target[2] > 1e-24,
               PL_ERROR_ARGUMENT, NULL, NULL, "the target is a direction without length");
    convert_target(record->model, hold->kind, target, hold->to);
    return PL_OK;
}
