/* Pins: points or directions of a body that are drawn to a target. */
#include "world/pin.h"

#include <math.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

bool pl_pin_is_near(const pl_model *model, const double point[3])
{
    bool near = point != NULL;
    for (int k = 0; near && k < 3; k++)
        near = fabs(point[k] - model->centre[k]) <= 1e9 * model->unit;
    return near;
}

static bool is_target(const pl_model *model, pl_pin_kind kind, const double target[3])
{
    return kind == PL_PIN_POSITION ? pl_is_place(target, model->unit) : pl_is_direction(target);
}

pl_status pl_pin_check_carriers(const pl_record *record, const pl_pin_def *def, pl_error *error)
{
    int n = record->matter.n;
    PL_CHECK(def->count >= 1 && def->count <= PL_MAX_INFLUENCES, PL_ERROR_ARGUMENT, error, "count",
             "is %d; a pin hangs on 1 to %d particles", def->count, PL_MAX_INFLUENCES);
    for (int i = 0; i < def->count; i++) {
        PL_CHECK(def->particles[i] >= 0 && def->particles[i] < n, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("particles[%d]", i), "is %d; the body has particles 0 to %d",
                 (int)def->particles[i], n - 1);
        PL_CHECK(def->weights[i] > 0 && def->weights[i] <= 1e6f, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("weights[%d]", i), "is %g; use a weight above 0 (at most 1e6)",
                 (double)def->weights[i]);
        for (int j = 0; j < i; j++)
            PL_CHECK(def->particles[j] != def->particles[i], PL_ERROR_ARGUMENT, error,
                     PL_WHERE("particles[%d]", i), "names particle %d twice",
                     (int)def->particles[i]);
    }
    return PL_OK;
}

static pl_status check_def(const pl_record *record, const pl_pin_def *def, pl_error *error)
{
    const pl_model *model = record->model;
    PL_REQUIRE(def && def->cookie == PL_PIN_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_pin_def");
    bool position = def->kind == PL_PIN_POSITION;
    PL_CHECK(position || def->kind == PL_PIN_DIRECTION, PL_ERROR_ARGUMENT, error, "kind",
             "is %d, neither position nor direction", (int)def->kind);
    PL_CHECK(position || !(record->matter.clustered || record->tetrahedral), PL_ERROR_ARGUMENT,
             error, "kind",
             "is a direction; the particles of clustered and tetrahedral bodies have none of their "
             "own");
    PL_TRY(pl_pin_check_carriers(record, def, error));
    PL_CHECK(position ? pl_pin_is_near(model, def->rest) : pl_is_direction(def->rest),
             PL_ERROR_ARGUMENT, error, "rest",
             position ? "is not finite, or too far from the body" : "is no direction");
    PL_CHECK(is_target(model, def->kind, def->target), PL_ERROR_ARGUMENT, error, "target",
             position ? "is not finite, or too far away" : "is no direction");
    PL_CHECK(pl_is_pin_strength(def->strength), PL_ERROR_ARGUMENT, error, "strength",
             "is %g; use a number above 0 (100 holds firmly)", def->strength);
    return PL_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Positions in units, directions at length one. */
static void convert(const pl_model *model, pl_pin_kind kind, const double in[3], double out[3])
{
    double length = model->unit;
    if (kind == PL_PIN_DIRECTION)
        length = sqrt(in[0] * in[0] + in[1] * in[1] + in[2] * in[2]);
    for (int k = 0; k < 3; k++)
        out[k] = in[k] / length;
}

pl_hold pl_pin_make_hold(const pl_record *record, const pl_pin_def *def)
{
    const pl_model *model = record->model;
    pl_hold hold = {
        .kind = def->kind, .count = def->count, .strength = def->strength, .column = -1};
    bool position = def->kind == PL_PIN_POSITION;
    double sum = 0, axis[3];
    convert(model, def->kind, def->rest, axis);
    convert(model, def->kind, def->target, hold.to);
    memcpy(hold.from, hold.to, sizeof hold.from);
    for (int k = 0; k < 3; k++)
        hold.now[k] = hold.to[k] - (position ? record->matter.old.origin[k] : 0);
    for (int j = 0; j < def->count; j++)
        sum += (double)def->weights[j];
    for (int j = 0; j < def->count; j++) {
        const float *rest = model->rest + 3 * (size_t)pl_record_origin(record, def->particles[j]);
        hold.particle[j] = def->particles[j];
        hold.weight[j] = (double)def->weights[j] / sum;
        for (int k = 0; k < 3; k++)
            hold.arm[j][k] = position
                                 ? (def->rest[k] - model->centre[k]) / model->unit - (double)rest[k]
                                 : axis[k];
    }
    return hold;
}

/* Room for everything a pin needs in the world; its slot, -1 without memory. */
static int reserve(pl_world *world, pl_record *record)
{
    bool good = pl_world_grow(world->memory, &record->hold_slots, record->matter.hold_count,
                              &record->hold_capacity, sizeof *record->hold_slots);
    return good ? pl_world_free_pin_slot(world) : -1;
}

static PL_APART pl_status create(pl_world *world, pl_body body, const pl_pin_def *def, pl_pin *pin,
                                 pl_error *error)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, error));
    PL_REQUIRE(pin, PL_ERROR_ARGUMENT, error, "pin", "there is nowhere to put the handle");
    *pin = (pl_pin){0, 0};
    PL_TRY(check_def(record, def, error));
    int slot = reserve(world, record), number = record->matter.hold_count;
    PL_CHECK(slot >= 0, PL_ERROR_MEMORY, error, "", "no memory for another pin");
    pl_outfit outfit;
    pl_hold hold = pl_pin_make_hold(record, def);
    pl_setup setup = pl_world_setup_of(world, record);
    setup.added = &hold;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, error));
    pl_world_adopt(world, record, &outfit);
    pl_world_wake(world, record);
    record->hold_slots[number] = (uint32_t)slot;
    pl_world_enter_pin(world, (uint32_t)slot, record, number);
    *pin = (pl_pin){(uint32_t)slot, world->pins[slot].generation};
    return PL_OK;
}

pl_status pl_pin_create(pl_world *world, pl_body body, const pl_pin_def *def, pl_pin *pin,
                        pl_error *error)
{
    PL_COMPUTE(create(world, body, def, pin, error));
}

/* ---- Using ----------------------------------------------------------------------------------- */

static const pl_pin_slot *find(const pl_world *world, pl_pin pin)
{
    if (!world || pin.index >= (uint32_t)world->pin_slots)
        return NULL;
    const pl_pin_slot *slot = world->pins + pin.index;
    return slot->record && slot->generation == pin.generation ? slot : NULL;
}

static pl_status open_pin(pl_world *world, pl_pin pin, const pl_pin_slot **slot)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    *slot = find(world, pin);
    PL_REQUIRE(*slot, PL_ERROR_HANDLE, NULL, NULL, "the pin's handle is stale or of another world");
    return PL_OK;
}

bool pl_pin_is_valid(const pl_world *world, pl_pin pin)
{
    return find(world, pin) != NULL;
}

static PL_APART pl_status destroy(pl_world *world, pl_pin pin)
{
    const pl_pin_slot *slot = NULL;
    PL_TRY(open_pin(world, pin, &slot));
    pl_record *record = slot->record;
    int hold = slot->hold;
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(world, record);
    setup.removed = hold;
    PL_TRY(pl_world_equip(world, record->model, &setup, &outfit, NULL));
    pl_world_adopt(world, record, &outfit);
    pl_world_wake(world, record);
    /* Those behind it move up. */
    for (int i = hold; i < record->matter.hold_count; i++) {
        record->hold_slots[i] = record->hold_slots[i + 1];
        world->pins[record->hold_slots[i]].hold = i;
    }
    pl_world_leave_pin(world, pin.index);
    return PL_OK;
}

pl_status pl_pin_destroy(pl_world *world, pl_pin pin)
{
    PL_COMPUTE(destroy(world, pin));
}

static PL_APART pl_status set_target(pl_world *world, pl_pin pin, const double target[3])
{
    const pl_pin_slot *slot = NULL;
    PL_TRY(open_pin(world, pin, &slot));
    const pl_model *model = slot->record->model;
    pl_hold *hold = slot->record->matter.holds + slot->hold;
    PL_REQUIRE(is_target(model, hold->kind, target), PL_ERROR_ARGUMENT, NULL, NULL,
               "the target is not finite, too far away, or a direction without length");
    convert(model, hold->kind, target, hold->to);
    if (memcmp(hold->from, hold->to, sizeof hold->to) != 0)
        pl_world_wake(world, slot->record);
    return PL_OK;
}

pl_status pl_pin_set_target(pl_world *world, pl_pin pin, const double target[3])
{
    PL_COMPUTE(set_target(world, pin, target));
}
