/* A world as bytes and back. What is written is state; whatever follows from it (systems, corrections, groups) is made
   anew. Little-endian, versioned, closed by a hash; reading trusts nothing: counts are held against the bytes that are
   left, numbers must be finite, and the world is replaced only after everything has been rebuilt. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "world/world.h"

static const uint64_t snapshot_magic = UINT64_C(0x31706e536e61696c); /* "lianSnp1" */

/* ---- Bytes -------------------------------------------------------------------------------------------------------- */

/* Reads or writes, so that the two directions cannot drift apart. With bytes NULL it only counts. */
typedef struct stream {
    unsigned char *out;
    const unsigned char *in;
    size_t at, size;
    bool bad;
} stream;

static void raw(stream *s, void *data, size_t size)
{
    if (s->bad || size > s->size - s->at) {
        s->bad = true;
        return;
    }
    if (s->in)
        memcpy(data, s->in + s->at, size);
    else if (s->out)
        memcpy(s->out + s->at, data, size);
    s->at += size;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "snapshots are little-endian; this machine needs byte swapping in words()"
#endif

/* `count` numbers of 4 or 8 bytes. */
static void words(stream *s, void *data, size_t count, size_t size)
{
    if (count > (s->size - s->at) / size) {
        s->bad = true;
        return;
    }
    raw(s, data, count * size);
}

static void int_field(stream *s, int *value)
{
    int32_t word = *value;
    words(s, &word, 1, sizeof word);
    *value = word;
}

static void bool_field(stream *s, bool *value)
{
    uint8_t byte = *value;
    raw(s, &byte, 1);
    *value = byte != 0;
    s->bad = s->bad || byte > 1;
}

static void doubles(stream *s, double *values, size_t count)
{
    words(s, values, count, sizeof *values);
    for (size_t i = 0; s->in && !s->bad && i < count; i++)
        s->bad = !isfinite(values[i]);
}

static void floats(stream *s, float *values, size_t count)
{
    words(s, values, count, sizeof *values);
    for (size_t i = 0; s->in && !s->bad && i < count; i++)
        s->bad = !isfinite(values[i]);
}

/* A count that what is left of the input can hold. */
static bool count_field(stream *s, int *count, size_t least_bytes)
{
    int_field(s, count);
    if (s->in && (*count < 0 || (size_t)*count > (s->size - s->at) / least_bytes))
        s->bad = true;
    return !s->bad;
}

/* ---- Parts -------------------------------------------------------------------------------------------------------- */

static void state_part(stream *s, pl_state *state, size_t n)
{
    floats(s, state->x, 3 * n);
    floats(s, state->q, 4 * n);
    if (state->u) {
        floats(s, state->u, 3 * n);
        floats(s, state->w, 3 * n);
    }
    doubles(s, state->origin, 3);
    doubles(s, state->velocity, 3);
}

static void hold_part(stream *s, pl_hold *hold, int n)
{
    int kind = (int)hold->kind;
    int_field(s, &kind);
    int_field(s, &hold->count);
    if (s->in) {
        hold->kind = (pl_pin_kind)kind;
        s->bad = s->bad || kind < 0 || kind > 1 || hold->count < 1 || hold->count > PL_MAX_INFLUENCES;
    }
    for (int i = 0; !s->bad && i < hold->count; i++) {
        int particle = hold->particle[i];
        int_field(s, &particle);
        hold->particle[i] = particle;
        s->bad = s->bad || particle < 0 || particle >= n;
        for (int j = 0; j < i; j++)
            s->bad = s->bad || hold->particle[j] == particle;
        doubles(s, &hold->weight[i], 1);
        doubles(s, hold->arm[i], 3);
        s->bad = s->bad || !(hold->weight[i] > 0 && hold->weight[i] <= 1);
    }
    doubles(s, &hold->strength, 1);
    s->bad = s->bad || !(hold->strength >= 1e-12 && hold->strength <= 1e12);
    doubles(s, hold->from, 3);
    doubles(s, hold->to, 3);
    doubles(s, hold->now, 3);
}

static void map_part(stream *s, pl_world *world, float **map, int count)
{
    bool present = *map != NULL;
    bool_field(s, &present);
    if (s->bad || !present)
        return;
    if (s->in && (size_t)count <= (s->size - s->at) / sizeof(float))
        *map = PL_NEW(world->memory, float, count);
    if (!*map) {
        s->bad = true;
        return;
    }
    floats(s, *map, (size_t)count);
    for (int i = 0; !s->bad && i < count; i++)
        s->bad = !((*map)[i] >= 1e-12f && (*map)[i] <= 1e12f);
}

static void fixed_part(stream *s, pl_world *world, pl_oriented *matter)
{
    if (!count_field(s, &matter->fixed_count, sizeof(int32_t) + 21 * sizeof(double)))
        return;
    size_t count = (size_t)matter->fixed_count;
    if (s->in) {
        matter->fixed = PL_NEW(world->memory, int32_t, count);
        matter->drive_from = PL_NEW(world->memory, double, 7 * count);
        matter->drive_to = PL_NEW(world->memory, double, 7 * count);
        matter->drive_now = PL_NEW(world->memory, double, 7 * count);
        s->bad = !matter->fixed || !matter->drive_from || !matter->drive_to || !matter->drive_now;
    }
    if (s->bad)
        return;
    words(s, matter->fixed, count, sizeof *matter->fixed);
    for (size_t i = 0; !s->bad && i < count; i++)
        s->bad = matter->fixed[i] < 0 || matter->fixed[i] >= matter->n || (i && matter->fixed[i] <= matter->fixed[i - 1]);
    doubles(s, matter->drive_from, 7 * count);
    doubles(s, matter->drive_to, 7 * count);
    doubles(s, matter->drive_now, 7 * count);
}

static void holds_part(stream *s, pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    if (!count_field(s, &matter->hold_count, 20 * sizeof(double)))
        return;
    if (s->in) {
        matter->holds = PL_NEW(world->memory, pl_hold, matter->hold_count);
        record->hold_slots = PL_NEW(world->memory, uint32_t, matter->hold_count);
        record->hold_capacity = matter->hold_count;
        s->bad = !matter->holds || !record->hold_slots;
    }
    for (int i = 0; !s->bad && i < matter->hold_count; i++) {
        words(s, record->hold_slots + i, 1, sizeof *record->hold_slots);
        hold_part(s, matter->holds + i, matter->n);
    }
}

static void body_part(stream *s, pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    size_t n = (size_t)matter->n;
    int solver = (int)matter->solver;
    words(s, &record->slot, 1, sizeof record->slot);
    int_field(s, &solver);
    matter->solver = (pl_solver)solver;
    s->bad = s->bad || solver < 0 || solver > PL_SOLVER_PLAIN;
    doubles(s, &record->material.young, 1);
    doubles(s, &record->material.stiffness, 1);
    doubles(s, &record->material.density, 1);
    doubles(s, &record->material.damping, 1);
    s->bad = s->bad || pl_material_check(&record->material, NULL) != PL_OK;
    matter->damping = record->material.damping;
    doubles(s, &matter->gravity_scale, 1);
    map_part(s, world, &record->edge_stiffness, record->model->edge_count);
    map_part(s, world, &record->particle_density, record->model->particle_count);
    fixed_part(s, world, matter);
    holds_part(s, world, record);
    if (s->bad)
        return;
    state_part(s, &matter->now, n);
    state_part(s, &matter->old, n);
    state_part(s, &matter->shown, n);
    doubles(s, matter->c, 3);
    doubles(s, matter->drift, 3);
    bool_field(s, &matter->pushed);
    bool_field(s, &record->forced);
    floats(s, matter->push, 3 * n);
    floats(s, record->force, 3 * n);
}

/* Settings and the two tables of slots. */
static void settings_part(stream *s, pl_world *world)
{
    doubles(s, &world->step, 1);
    int_field(s, &world->substeps);
    int_field(s, &world->iterations);
    int_field(s, &world->stiff_iterations);
    int_field(s, &world->max_steps);
    doubles(s, world->gravity, 3);
    doubles(s, &world->time, 1);
    doubles(s, &world->owed, 1);
    words(s, &world->steps, 1, sizeof world->steps);
    if (s->in)
        s->bad = s->bad || !(world->step >= 1e-9 && world->step <= 1e3) || world->substeps < 1 ||
                 world->substeps > 100000 || world->iterations < 1 || world->iterations > 1000000 ||
                 world->stiff_iterations < 1 || world->stiff_iterations > 1000000 || world->max_steps < 1 ||
                 world->owed < 0;
    world->h = world->step / world->substeps;
}

static void slots_part(stream *s, pl_world *world)
{
    if (count_field(s, &world->body_slots, sizeof(uint32_t)) && s->in) {
        world->bodies = PL_NEW(world->memory, pl_body_slot, world->body_slots);
        world->body_slot_capacity = world->body_slots;
        s->bad = !world->bodies;
    }
    for (int i = 0; !s->bad && i < world->body_slots; i++)
        words(s, &world->bodies[i].generation, 1, sizeof(uint32_t));
    if (!s->bad && count_field(s, &world->pin_slots, 2 * sizeof(uint32_t) + 1) && s->in) {
        world->pins = PL_NEW(world->memory, pl_pin_slot, world->pin_slots);
        world->pin_slot_capacity = world->pin_slots;
        s->bad = !world->pins;
    }
    for (int i = 0; !s->bad && i < world->pin_slots; i++) {
        words(s, &world->pins[i].generation, 1, sizeof(uint32_t));
        words(s, &world->pins[i].body, 1, sizeof(uint32_t));
        bool_field(s, &world->pins[i].used);
    }
}

/* ---- Writing and hashing ------------------------------------------------------------------------------------------ */

static void write_world(stream *s, pl_world *world)
{
    uint64_t magic = snapshot_magic;
    uint32_t version = 1;
    words(s, &magic, 1, sizeof magic);
    words(s, &version, 1, sizeof version);
    settings_part(s, world);
    slots_part(s, world);
    int_field(s, &world->live_count);
    for (int i = 0; i < world->live_count; i++) {
        uint64_t hash = world->live[i]->model->hash;
        words(s, &hash, 1, sizeof hash);
        body_part(s, world, world->live[i]);
    }
}

pl_status pl_world_save(const pl_world *world, void *bytes, size_t capacity, size_t *size)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_REQUIRE(size, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the size");
    pl_world *source = (pl_world *)(uintptr_t)world; /* a stream that writes changes nothing */
    stream count = {.size = SIZE_MAX};
    write_world(&count, source);
    *size = count.at + sizeof(uint64_t);
    if (!bytes)
        return PL_OK;
    PL_CHECK(capacity >= *size, PL_ERROR_ARGUMENT, NULL, NULL, "the buffer is too small");
    stream s = {.out = bytes, .size = *size};
    write_world(&s, source);
    uint64_t hash = pl_hash_of(bytes, s.at, 0);
    words(&s, &hash, 1, sizeof hash);
    return PL_OK;
}

static void hash_state(pl_hash *hash, const pl_state *state, size_t n)
{
    pl_hash_f32_array(hash, state->x, 3 * n);
    pl_hash_f32_array(hash, state->q, 4 * n);
    pl_hash_f32_array(hash, state->u, 3 * n);
    pl_hash_f32_array(hash, state->w, 3 * n);
    pl_hash_f64_array(hash, state->origin, 3);
    pl_hash_f64_array(hash, state->velocity, 3);
}

uint64_t pl_world_hash(const pl_world *world)
{
    pl_hash hash;
    pl_hash_init(&hash, world->steps);
    pl_hash_f64(&hash, world->time);
    for (int i = 0; i < world->live_count; i++) {
        const pl_record *record = world->live[i];
        pl_hash_u32(&hash, record->slot);
        pl_hash_u64(&hash, record->model->hash);
        hash_state(&hash, &record->matter.now, (size_t)record->matter.n);
    }
    return pl_hash_final(&hash);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static pl_model *find_model(const pl_world *world, uint64_t hash, pl_model *const *models, int count)
{
    for (int i = 0; i < count; i++)
        if (models[i] && models[i]->hash == hash)
            return models[i];
    for (int i = 0; i < world->live_count; i++)
        if (world->live[i]->model->hash == hash)
            return world->live[i]->model;
    return NULL;
}

/* What connects bodies and pins to their slots must be consistent in both directions. */
static bool slots_agree(const pl_world *world)
{
    int held = 0, used = 0;
    for (int i = 0; i < world->pin_slots; i++)
        used += world->pins[i].used;
    for (int i = 0; i < world->live_count; i++) {
        const pl_record *record = world->live[i];
        for (int k = 0; k < record->matter.hold_count; k++, held++) {
            uint32_t slot = record->hold_slots[k];
            if (slot >= (uint32_t)world->pin_slots || !world->pins[slot].used || world->pins[slot].body != record->slot)
                return false;
            for (int j = 0; j < k; j++)
                if (record->hold_slots[j] == slot)
                    return false;
        }
    }
    return held == used;
}

static pl_status read_body(stream *s, pl_world *next, const pl_world *world, pl_model *const *models, int model_count,
                           pl_error *error)
{
    uint64_t hash = 0;
    words(s, &hash, 1, sizeof hash);
    PL_CHECK(!s->bad, PL_ERROR_FORMAT, error, PL_WHERE("byte %zu", s->at), "the snapshot ends too early");
    pl_model *model = find_model(world, hash, models, model_count);
    PL_CHECK(model, PL_ERROR_FORMAT, error, "models", "the model with hash %016llx is missing; pass it along",
             (unsigned long long)hash);
    PL_CHECK((size_t)model->particle_count <= (s->size - s->at) / 64, PL_ERROR_FORMAT, error,
             PL_WHERE("byte %zu", s->at), "the snapshot ends too early");
    pl_record *record = pl_record_create(next, model);
    PL_CHECK(record, PL_ERROR_MEMORY, error, "", "no memory for a body");
    body_part(s, next, record);
    pl_status status = s->bad ? pl_fail(error, PL_ERROR_FORMAT, PL_WHERE("byte %zu", s->at), "is not a valid body")
                              : PL_OK;
    if (status == PL_OK && (record->slot >= (uint32_t)next->body_slots || next->bodies[record->slot].record))
        status = pl_fail(error, PL_ERROR_FORMAT, "slots", "two bodies claim one place");
    if (status == PL_OK) {
        pl_outfit outfit;
        pl_setup setup = pl_world_setup_of(next, record);
        status = pl_world_equip(next, model, &setup, &outfit, error);
        if (status == PL_OK)
            pl_world_adopt(next, record, &outfit);
    }
    if (status == PL_OK)
        status = pl_world_reserve_body(next, model->particle_count);
    if (status != PL_OK) {
        pl_record_destroy(next, record);
        return status;
    }
    pl_world_enter(next, record, record->slot);
    return PL_OK;
}

static pl_status read_world(stream *s, pl_world *next, const pl_world *world, pl_model *const *models,
                            int model_count, pl_error *error)
{
    int count = 0;
    settings_part(s, next);
    slots_part(s, next);
    PL_CHECK(!s->bad && count_field(s, &count, 64), PL_ERROR_FORMAT, error, PL_WHERE("byte %zu", s->at),
             "is not a valid snapshot");
    for (int i = 0; i < count; i++)
        PL_TRY(read_body(s, next, world, models, model_count, error));
    PL_CHECK(s->at == s->size && slots_agree(next), PL_ERROR_FORMAT, error, PL_WHERE("byte %zu", s->at),
             "is not a valid snapshot");
    return PL_OK;
}

/* A world with the host's side of another (memory, tasks, workers, callbacks) and no bodies. */
static pl_world empty_like(const pl_world *world)
{
    pl_world next = *world;
    next.body_slots = next.body_slot_capacity = next.pin_slots = next.pin_slot_capacity = 0;
    next.live_count = next.live_capacity = next.system_count = next.system_capacity = 0;
    next.block_count = next.field_capacity = 0;
    next.bodies = NULL, next.pins = NULL, next.live = NULL, next.systems = NULL, next.blocks = NULL;
    next.members = NULL, next.sort_items = NULL;
    next.field_positions = NULL, next.field_velocities = NULL, next.field_masses = NULL;
    next.regroup = true;
    return next;
}

/* Bodies that live on keep the host's pointer. */
static void keep_users(const pl_world *world, const pl_world *next)
{
    for (int i = 0; i < next->live_count; i++) {
        pl_record *record = next->live[i];
        pl_body body = {record->slot, next->bodies[record->slot].generation};
        pl_record *before = pl_world_record(world, body);
        record->user = before ? before->user : NULL;
    }
}

static pl_status open_snapshot(const void *bytes, size_t size, stream *s, pl_error *error)
{
    uint64_t magic = 0, hash = 0;
    uint32_t version = 0;
    PL_CHECK(size >= 28, PL_ERROR_FORMAT, error, "byte 0", "is no snapshot: %zu bytes are too few", size);
    memcpy(&hash, (const char *)bytes + size - sizeof hash, sizeof hash);
    *s = (stream){.in = bytes, .size = size - sizeof hash};
    words(s, &magic, 1, sizeof magic);
    words(s, &version, 1, sizeof version);
    PL_CHECK(magic == snapshot_magic, PL_ERROR_FORMAT, error, "byte 0", "is no snapshot of a world");
    PL_CHECK(version == 1, PL_ERROR_FORMAT, error, "byte 8", "is a snapshot of version %u; this library reads 1",
             version);
    PL_CHECK(hash == pl_hash_of(bytes, s->size, 0), PL_ERROR_FORMAT, error, "end", "the snapshot is damaged");
    return PL_OK;
}

pl_status pl_world_restore(pl_world *world, const void *bytes, size_t size, pl_model *const *models,
                           int model_count, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world));
    PL_REQUIRE(bytes && model_count >= 0 && (models || !model_count), PL_ERROR_ARGUMENT, error, "bytes", "are missing");
    stream s;
    PL_TRY(open_snapshot(bytes, size, &s, error));
    pl_world next = empty_like(world);
    pl_status status = read_world(&s, &next, world, models, model_count, error);
    if (status != PL_OK) {
        pl_world_clear(&next);
        return status;
    }
    keep_users(world, &next);
    pl_world_clear(world);
    *world = next;
    return PL_OK;
}
