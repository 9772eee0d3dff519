/* Colliders as the host sees them: made, moved, changed, read, and left. How they move in a step is
   in collider_motion.c, what they do to bodies in the contact layer. */
#include <math.h>
#include <string.h>

#include "world/world.h"

/* Farthest and largest, metres; fastest, m/s and rad/s. */
#define FARTHEST 1e15
#define FASTEST 1e12

pl_collider_def pl_default_collider_def(pl_collider_kind kind)
{
    return (pl_collider_def){.kind = kind,
                             .rotation = {0, 0, 0, 1},
                             .size = {0.5, 0.5, 0.5},
                             .scale = 1,
                             .two_sided = true,
                             .friction = 0.5,
                             .category = 1,
                             .mask = UINT32_MAX,
                             .cookie = PL_COLLIDER_COOKIE};
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_within(const double v[3], double limit)
{
    return v && fabs(v[0]) <= limit && fabs(v[1]) <= limit && fabs(v[2]) <= limit;
}

static bool is_positive(const double v[3])
{
    return v[0] >= 0 && v[1] >= 0 && v[2] >= 0;
}

static bool are_sizes(const double v[3])
{
    return is_within(v, FARTHEST) && is_positive(v);
}

static bool is_mass(double mass)
{
    return mass == 0 || (mass >= 1e-30 && mass <= 1e30);
}

static bool is_friction(double friction)
{
    return friction >= 0 && friction <= 1e6;
}

static bool is_restitution(double restitution)
{
    return restitution >= 0 && restitution <= 1;
}

static bool is_inertia(const double v[3])
{
    return is_within(v, 1e60) && v[0] >= 0 && v[1] >= 0 && v[2] >= 0;
}

static pl_status check_mesh(const pl_collider_def *def, pl_error *error)
{
    const pl_mesh *mesh = def->mesh;
    PL_CHECK(mesh, PL_ERROR_ARGUMENT, error, "mesh", "is missing");
    PL_CHECK(mesh->vertex_count >= 0 && mesh->triangle_count >= 0 &&
                 (mesh->positions || !mesh->vertex_count) &&
                 (mesh->triangles || !mesh->triangle_count) && mesh->triangle_count <= 1 << 28,
             PL_ERROR_ARGUMENT, error, "mesh", "has counts without arrays");
    PL_CHECK(def->scale >= 1e-12 && def->scale <= 1e12, PL_ERROR_ARGUMENT, error, "scale",
             "is %g; use metres per unit, from 1e-12 to 1e12", def->scale);
    for (int i = 0; i < 3 * mesh->triangle_count; i++) {
        int32_t v = mesh->triangles[i];
        PL_CHECK(v >= 0 && v < mesh->vertex_count, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("mesh.triangles[%d]", i / 3), "names vertex %d of %d", (int)v,
                 mesh->vertex_count);
        PL_CHECK(is_within(mesh->positions + 3 * (size_t)v, FARTHEST / def->scale),
                 PL_ERROR_ARGUMENT, error, PL_WHERE("mesh.positions[%d]", (int)v),
                 "is not finite, or farther than %g m from the collider's position", FARTHEST);
    }
    return PL_OK;
}

static pl_status check_body(const pl_collider_def *def, pl_error *error)
{
    PL_CHECK(is_mass(def->mass), PL_ERROR_ARGUMENT, error, "mass",
             "is %g; use kilograms, from 1e-30 to 1e30, or 0 for what does not give way",
             def->mass);
    PL_CHECK(is_inertia(def->inertia), PL_ERROR_ARGUMENT, error, "inertia",
             "must be three numbers from 0 (does not turn) to 1e60");
    PL_CHECK(is_within(def->velocity, FASTEST), PL_ERROR_ARGUMENT, error, "velocity",
             "is not finite, or faster than %g m/s", FASTEST);
    PL_CHECK(is_within(def->spin, FASTEST), PL_ERROR_ARGUMENT, error, "spin",
             "is not finite, or faster than %g rad/s", FASTEST);
    return PL_OK;
}

static pl_status check_def(const pl_collider_def *def, pl_error *error)
{
    PL_REQUIRE(def && def->cookie == PL_COLLIDER_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
               "the definition was not made by pl_default_collider_def");
    PL_CHECK((int)def->kind >= PL_COLLIDER_PLANE && (int)def->kind <= PL_COLLIDER_MESH,
             PL_ERROR_ARGUMENT, error, "kind", "is %d; there is no such kind", (int)def->kind);
    PL_CHECK(is_within(def->position, FARTHEST), PL_ERROR_ARGUMENT, error, "position",
             "is not finite, or farther than %g m from the world's origin", FARTHEST);
    PL_CHECK(pl_is_rotation(def->rotation), PL_ERROR_ARGUMENT, error, "rotation",
             "is no quaternion");
    PL_CHECK(is_positive(def->size), PL_ERROR_ARGUMENT, error, "size",
             "must be three lengths of 0 or more");
    PL_CHECK(are_sizes(def->size), PL_ERROR_ARGUMENT, error, "size",
             "is more than %g m, the most there is; use a plane for what has no end", FARTHEST);
    PL_CHECK(is_friction(def->friction), PL_ERROR_ARGUMENT, error, "friction",
             "is %g; use a coefficient from 0 to 1e6", def->friction);
    PL_CHECK(is_restitution(def->restitution), PL_ERROR_ARGUMENT, error, "restitution",
             "is %g; use 0 (does not bounce) to 1 (elastic)", def->restitution);
    PL_CHECK(is_within(def->surface_velocity, FASTEST), PL_ERROR_ARGUMENT, error,
             "surface_velocity", "is not finite, or faster than %g m/s", FASTEST);
    PL_TRY(check_body(def, error));
    return def->kind == PL_COLLIDER_MESH ? check_mesh(def, error) : PL_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void set_outline(pl_collider_record *record)
{
    pl_contact_collider *c = &record->shape;
    const double *size = c->size;
    double high[3] = {INFINITY, INFINITY, INFINITY};
    if (c->kind == PL_COLLIDER_BOX)
        memcpy(high, size, sizeof high);
    if (c->kind == PL_COLLIDER_SPHERE || c->kind == PL_COLLIDER_CAPSULE)
        high[0] = high[1] = high[2] = size[0];
    if (c->kind == PL_COLLIDER_CAPSULE)
        high[1] += size[1];
    for (int k = 0; k < 3; k++) {
        c->outline[k] = -high[k];
        c->outline[3 + k] = high[k];
    }
    if (c->kind == PL_COLLIDER_MESH && record->solid->node_count)
        memcpy(c->outline, record->solid->boxes[record->solid->node_count - 1], sizeof c->outline);
}

bool pl_collider_prepare(pl_collider_record *record)
{
    pl_contact_collider *c = &record->shape;
    if (!are_sizes(c->size) || !is_mass(record->mass) || !is_inertia(record->inertia) ||
        !pl_is_finite3(record->velocity) ||
        !pl_is_finite3(record->spin) || /* contacts may hasten it */
        !is_within(c->belt, FASTEST) || !is_friction((double)c->friction) ||
        !is_restitution((double)c->restitution))
        return false;
    c->solid = record->solid;
    c->yield = record->mass > 0 ? 1 / record->mass : 0;
    for (int k = 0; k < 3; k++)
        c->inertia[k] = record->mass > 0 && record->inertia[k] > 0 ? 1 / record->inertia[k] : 0;
    set_outline(record);
    return true;
}

static void set_pose(pl_placement *pose, const double position[3], const double rotation[4])
{
    double length = 0;
    for (int k = 0; k < 4; k++)
        length += rotation[k] * rotation[k];
    memcpy(pose->position, position, sizeof pose->position);
    for (int k = 0; k < 4; k++)
        pose->rotation[k] = rotation[k] / sqrt(length);
}

static pl_solid *make_solid(pl_world *world, const pl_collider_def *def)
{
    const pl_mesh *mesh = def->mesh;
    double(*corners)[3][3] =
        pl_memory_alloc(world->memory, (size_t)mesh->triangle_count, sizeof *corners);
    if (!corners)
        return NULL;
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            corners[i / 3][i % 3][k] =
                mesh->positions[3 * (size_t)mesh->triangles[i] + (size_t)k] * def->scale;
    pl_solid *solid =
        pl_solid_create(world->memory, mesh->triangle_count, (const double(*)[3][3])corners);
    pl_memory_free(world->memory, corners);
    return solid;
}

static void destroy_record(pl_world *world, pl_collider_record *record)
{
    if (!record)
        return;
    pl_solid_destroy(world->memory, record->solid);
    pl_memory_free(world->memory, record);
}

static pl_collider_record *make_record(pl_world *world, const pl_collider_def *def)
{
    pl_collider_record *record = PL_NEW(world->memory, pl_collider_record, 1);
    if (!record)
        return NULL;
    pl_contact_collider *c = &record->shape;
    *c = (pl_contact_collider){.kind = def->kind,
                               .two_sided = def->two_sided,
                               .friction = (float)def->friction,
                               .restitution = (float)def->restitution,
                               .category = def->category,
                               .mask = def->mask};
    memcpy(c->size, def->size, sizeof c->size);
    memcpy(c->belt, def->surface_velocity, sizeof c->belt);
    set_pose(&record->from, def->position, def->rotation);
    record->to = record->from;
    record->user = def->user;
    record->mass = def->mass;
    memcpy(record->inertia, def->inertia, sizeof record->inertia);
    for (int k = 0; k < 3 && def->mass > 0; k++) {
        record->velocity[k] = def->velocity[k];
        record->spin[k] = def->spin[k];
    }
    if (def->kind == PL_COLLIDER_MESH) {
        record->solid = make_solid(world, def);
        if (!record->solid) {
            destroy_record(world, record);
            return NULL;
        }
    }
    pl_collider_prepare(record);
    return record;
}

/* The lowest free slot, with room for it everywhere; -1 without memory. */
static int reserve(pl_world *world)
{
    pl_colliders *all = &world->colliders;
    while (all->lowest < all->slot_count && all->slots[all->lowest].record)
        all->lowest++;
    bool good = pl_contact_reserve_colliders(world->contact, all->count + 1) == PL_OK &&
                pl_world_grow(world->memory, &all->slots, all->slot_count, &all->slot_capacity,
                              sizeof *all->slots);
    return good ? all->lowest : -1;
}

static PL_APART pl_status create(pl_world *world, const pl_collider_def *def, pl_collider *collider,
                                 pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world, error));
    PL_REQUIRE(collider, PL_ERROR_ARGUMENT, error, "collider",
               "there is nowhere to put the handle");
    *collider = (pl_collider){0, 0};
    PL_TRY(check_def(def, error));
    pl_colliders *all = &world->colliders;
    int slot = reserve(world);
    pl_collider_record *record = slot >= 0 ? make_record(world, def) : NULL;
    PL_CHECK(record, PL_ERROR_MEMORY, error, "", "no memory for another collider");
    if (slot == all->slot_count) {
        all->slot_count++;
        all->slots[slot].generation = 1;
    }
    all->slots[slot].record = record;
    all->count++;
    record->shape.slot = (uint32_t)slot;
    *collider = (pl_collider){(uint32_t)slot, all->slots[slot].generation};
    pl_collider_wake_near(world, record, &record->from, &record->to);
    world->contact->stale = true;
    return PL_OK;
}

pl_status pl_collider_create(pl_world *world, const pl_collider_def *def, pl_collider *collider,
                             pl_error *error)
{
    PL_COMPUTE(create(world, def, collider, error));
}

/* ---- Handles --------------------------------------------------------------------------------- */

pl_collider_record *pl_collider_find(const pl_world *world, pl_collider collider)
{
    if (!world || collider.index >= (uint32_t)world->colliders.slot_count)
        return NULL;
    const pl_collider_slot *slot = world->colliders.slots + collider.index;
    return slot->generation == collider.generation ? slot->record : NULL;
}

static pl_status open_collider(pl_world *world, pl_collider collider, pl_collider_record **record)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    *record = pl_collider_find(world, collider);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, NULL, NULL,
               "the collider's handle is stale or of another world");
    return PL_OK;
}

bool pl_collider_is_valid(const pl_world *world, pl_collider collider)
{
    return pl_collider_find(world, collider) != NULL;
}

void *pl_collider_user(const pl_world *world, pl_collider collider)
{
    const pl_collider_record *record = pl_collider_find(world, collider);
    return record ? record->user : NULL;
}

pl_collider pl_collider_at(const pl_world *world, uint32_t index)
{
    if (!world || index >= (uint32_t)world->colliders.slot_count ||
        !world->colliders.slots[index].record)
        return (pl_collider){0, 0};
    return (pl_collider){index, world->colliders.slots[index].generation};
}

static PL_APART pl_status destroy(pl_world *world, pl_collider collider)
{
    pl_collider_record *record = NULL;
    PL_TRY(open_collider(world, collider, &record));
    pl_collider_slot *slot = world->colliders.slots + collider.index;
    pl_collider_wake_near(world, record, &record->from, &record->from);
    pl_attachments_forget_collider(world, collider);
    pl_events_forget_collider(world, collider.index);
    destroy_record(world, record);
    slot->record = NULL;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    world->colliders.count--;
    world->contact->stale = true;
    if ((int)collider.index < world->colliders.lowest)
        world->colliders.lowest = (int)collider.index;
    return PL_OK;
}

pl_status pl_collider_destroy(pl_world *world, pl_collider collider)
{
    PL_COMPUTE(destroy(world, collider));
}

void pl_colliders_clear(pl_world *world)
{
    for (int i = 0; i < world->colliders.slot_count && world->colliders.slots; i++)
        destroy_record(world, world->colliders.slots[i].record);
    pl_memory_free(world->memory, world->colliders.slots);
    world->colliders = (pl_colliders){0};
}

/* ---- Moving ---------------------------------------------------------------------------------- */

static pl_status check_pose(const double position[3], const double rotation[4])
{
    PL_REQUIRE(is_within(position, FARTHEST), PL_ERROR_ARGUMENT, NULL, NULL,
               "the position is not finite, or farther than %g m from the world's origin",
               FARTHEST);
    PL_REQUIRE(pl_is_rotation(rotation), PL_ERROR_ARGUMENT, NULL, NULL,
               "the rotation is no quaternion");
    return PL_OK;
}

/* One with a mass gets the velocity that takes it there, unless something is in its way. */
static void throw_to(const pl_world *world, pl_collider_record *record, const pl_placement *pose)
{
    pl_contact_collider probe = {.from = record->from, .to = *pose};
    pl_contact_aim_collider(&probe);
    for (int k = 0; k < 3; k++) {
        record->velocity[k] = probe.moved[k] / world->step;
        record->spin[k] = probe.turned[k] / world->step;
    }
}

static PL_APART pl_status move(pl_world *world, pl_collider collider, const double position[3],
                               const double rotation[4])
{
    pl_collider_record *record = NULL;
    pl_placement pose;
    PL_TRY(open_collider(world, collider, &record));
    PL_TRY(check_pose(position, rotation));
    set_pose(&pose, position, rotation);
    if (record->mass > 0)
        throw_to(world, record, &pose);
    else
        record->to = pose;
    return PL_OK;
}

pl_status pl_collider_move(pl_world *world, pl_collider collider, const double position[3],
                           const double rotation[4])
{
    PL_COMPUTE(move(world, collider, position, rotation));
}

/* As it was told, or as it was read. */
static bool is_pose(const pl_placement *pose, const double position[3], const double rotation[4])
{
    return memcmp(pose->position, position, sizeof pose->position) == 0 &&
           memcmp(pose->rotation, rotation, sizeof pose->rotation) == 0;
}

static PL_APART pl_status place(pl_world *world, pl_collider collider, const double position[3],
                                const double rotation[4])
{
    pl_collider_record *record = NULL;
    PL_TRY(open_collider(world, collider, &record));
    PL_TRY(check_pose(position, rotation));
    pl_placement pose;
    set_pose(&pose, position, rotation);
    if (is_pose(&record->from, position, rotation) ||
        is_pose(&record->from, pose.position, pose.rotation)) {
        record->to = record->from;
        return PL_OK;
    }
    pl_collider_wake_near(world, record, &record->from, &record->from);
    record->from = record->to = pose;
    world->contact->stale = true;
    pl_collider_wake_near(world, record, &record->from, &record->from);
    return PL_OK;
}

pl_status pl_collider_place(pl_world *world, pl_collider collider, const double position[3],
                            const double rotation[4])
{
    PL_COMPUTE(place(world, collider, position, rotation));
}

pl_status pl_collider_set_velocity(pl_world *world, pl_collider collider, const double velocity[3],
                                   const double spin[3])
{
    pl_collider_record *record = NULL;
    PL_TRY(open_collider(world, collider, &record));
    PL_REQUIRE(is_within(velocity, FASTEST) && is_within(spin, FASTEST), PL_ERROR_ARGUMENT, NULL,
               NULL, "the velocity is not finite, or faster than %g m/s or rad/s", FASTEST);
    PL_REQUIRE(record->mass > 0, PL_ERROR_STATE, NULL, NULL,
               "only colliders with a mass have a velocity of their own; move this one");
    memcpy(record->velocity, velocity, sizeof record->velocity);
    memcpy(record->spin, spin, sizeof record->spin);
    return PL_OK;
}

/* ---- Changing -------------------------------------------------------------------------------- */

static PL_APART pl_status set_surface(pl_world *world, pl_collider collider, double friction,
                                      double restitution, const double velocity[3])
{
    pl_collider_record *record = NULL;
    PL_TRY(open_collider(world, collider, &record));
    PL_REQUIRE(is_friction(friction), PL_ERROR_ARGUMENT, NULL, NULL,
               "the friction is %g; use a coefficient from 0 to 1e6", friction);
    PL_REQUIRE(is_restitution(restitution), PL_ERROR_ARGUMENT, NULL, NULL,
               "the restitution is %g; use 0 (does not bounce) to 1 (elastic)", restitution);
    PL_REQUIRE(is_within(velocity, FASTEST), PL_ERROR_ARGUMENT, NULL, NULL,
               "the velocity of the surface is not finite, or faster than %g m/s", FASTEST);
    pl_contact_collider *c = &record->shape;
    if (c->friction == (float)friction && c->restitution == (float)restitution &&
        memcmp(c->belt, velocity, sizeof c->belt) == 0)
        return PL_OK;
    c->friction = (float)friction;
    c->restitution = (float)restitution;
    memcpy(c->belt, velocity, sizeof c->belt);
    pl_collider_wake_near(world, record, &record->from, &record->from);
    return PL_OK;
}

pl_status pl_collider_set_surface(pl_world *world, pl_collider collider, double friction,
                                  double restitution, const double velocity[3])
{
    PL_COMPUTE(set_surface(world, collider, friction, restitution, velocity));
}

static PL_APART pl_status set_filter(pl_world *world, pl_collider collider, uint32_t category,
                                     uint32_t mask)
{
    pl_collider_record *record = NULL;
    PL_TRY(open_collider(world, collider, &record));
    pl_contact_collider *c = &record->shape;
    if (c->category == category && c->mask == mask)
        return PL_OK;
    c->category = category;
    c->mask = mask;
    pl_collider_wake_near(world, record, &record->from, &record->from);
    world->contact->stale = true;
    return PL_OK;
}

pl_status pl_collider_set_filter(pl_world *world, pl_collider collider, uint32_t category,
                                 uint32_t mask)
{
    PL_COMPUTE(set_filter(world, collider, category, mask));
}

/* ---- Reading --------------------------------------------------------------------------------- */

pl_status pl_collider_get_state(const pl_world *world, pl_collider collider,
                                pl_collider_state *state)
{
    const pl_collider_record *record = pl_collider_find(world, collider);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL,
               "the collider's handle is stale or of another world");
    PL_REQUIRE(state, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the state");
    memcpy(state->position, record->from.position, sizeof state->position);
    memcpy(state->rotation, record->from.rotation, sizeof state->rotation);
    memcpy(state->impulse, record->impulse, sizeof state->impulse);
    memcpy(state->torque, record->torque, sizeof state->torque);
    state->touches = record->touches;
    return PL_OK;
}
