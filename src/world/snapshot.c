#include "world/snapshot.h"

#include <math.h>
#include <string.h>

#include "matter/posed.h"
#include "matter/tet_numbers.h"

/* ---- State ----------------------------------------------------------------------------------- */

/* Directions and quaternions; of floats that were multiplied and normalised, hence the margin. */
static bool is_unit(const double *v, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += v[k] * v[k];
    return fabs(sum - 1) <= 1e-3;
}

static void state_part(pl_stream *s, pl_state *state, size_t n)
{
    pl_stream_floats(s, state->x, 3 * n);
    pl_stream_floats(s, state->q, 4 * n);
    if (state->u) {
        pl_stream_floats(s, state->u, 3 * n);
        pl_stream_floats(s, state->w, 3 * n);
    }
    pl_stream_doubles(s, state->origin, 3);
    pl_stream_doubles(s, state->velocity, 3);
    for (size_t i = 0; s->in && !pl_stream_stopped(s) && i < n; i++) {
        const float *q = state->q + 4 * i;
        const double turn[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        pl_stream_expect(s, is_unit(turn, 4));
    }
}

static void contact_part(pl_stream *s, pl_record *record)
{
    pl_stream_u32(s, &record->category, 1);
    pl_stream_u32(s, &record->mask, 1);
    pl_stream_bool(s, &record->self_contact);
    pl_stream_bool(s, &record->asleep);
    pl_stream_doubles(s, &record->quiet, 1);
    pl_stream_doubles(s, record->resting[0], 3 * PL_RESTING);
    pl_stream_u32(s, &record->island, 1);
    pl_stream_expect(s, record->quiet >= 0);
}

/* What else a gas is follows from the model. */
static void gas_part(pl_stream *s, pl_world *world, pl_record *record)
{
    double pressure = record->gas.pressure, now = record->gas.now;
    pl_stream_doubles(s, &pressure, 1);
    pl_stream_doubles(s, &now, 1);
    if (!s->in || pl_stream_stopped(s) || pressure == 0)
        return;
    pl_status status = pl_gas_fill(world, record, pressure, NULL);
    s->starved |= status == PL_ERROR_MEMORY;
    pl_stream_expect(s, status == PL_OK || s->starved);
    record->gas.now = now;
}

static void motion_part(pl_stream *s, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    size_t n = (size_t)matter->n;
    state_part(s, &matter->now, n);
    state_part(s, &matter->old, n);
    state_part(s, &matter->shown, n);
    pl_stream_doubles(s, matter->c, 3);
    pl_stream_doubles(s, matter->drift, 3);
    pl_stream_bool(s, &matter->pushed);
    pl_stream_floats(s, matter->push, 3 * n);
    pl_stream_bool(s, &record->forced);
    pl_stream_doubles(s, record->force, 3 * n);
}

/* ---- What it is made of ---------------------------------------------------------------------- */

static void map_part(pl_stream *s, pl_world *world, float **map, int count)
{
    bool present = *map != NULL;
    pl_stream_bool(s, &present);
    if (!present)
        return;
    pl_stream_expect(s, (size_t)count <= (s->size - s->at) / sizeof **map);
    if (!pl_stream_array(s, world->memory, map, (size_t)count, sizeof **map))
        return;
    pl_stream_floats(s, *map, (size_t)count);
    for (int i = 0; s->in && !pl_stream_stopped(s) && i < count; i++)
        pl_stream_expect(s, pl_is_map_factor((*map)[i]));
}

static void makeup_part(pl_stream *s, pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    pl_material *material = &record->material;
    int solver = (int)matter->solver;
    pl_stream_int(s, &solver);
    pl_stream_expect(s, pl_is_solver(solver));
    pl_stream_doubles(s, &material->young, 1);
    pl_stream_doubles(s, &material->stiffness, 1);
    pl_stream_doubles(s, &material->density, 1);
    pl_stream_doubles(s, &material->damping, 1);
    pl_stream_doubles(s, &material->friction, 1);
    pl_stream_doubles(s, &material->restitution, 1);
    pl_stream_doubles(s, &matter->gravity_scale, 1);
    pl_stream_expect(s, pl_is_gravity_scale(matter->gravity_scale));
    pl_stream_expect(s, pl_check_material(material, NULL) == PL_OK);
    if (s->in) {
        matter->solver = (pl_solver)solver;
        matter->damping = matter->clustered ? 0 : material->damping;
    }
    map_part(s, world, &record->edge_stiffness, record->model->edge_count);
    map_part(s, world, &record->particle_density, record->model->particle_count);
}

/* ---- What holds it --------------------------------------------------------------------------- */

static void fixed_part(pl_stream *s, pl_world *world, pl_oriented *matter)
{
    int count = matter->fixed_count;
    if (!pl_stream_count(s, &count, sizeof(int32_t) + 21 * sizeof(double)))
        return;
    size_t size = (size_t)count;
    if (!pl_stream_array(s, world->memory, &matter->fixed, size, sizeof *matter->fixed) ||
        !pl_stream_array(s, world->memory, &matter->drive_from, 7 * size, sizeof(double)) ||
        !pl_stream_array(s, world->memory, &matter->drive_to, 7 * size, sizeof(double)) ||
        !pl_stream_array(s, world->memory, &matter->drive_now, 7 * size, sizeof(double)))
        return;
    if (s->in)
        matter->fixed_count = count;
    pl_stream_u32(s, (uint32_t *)matter->fixed, size);
    pl_stream_doubles(s, matter->drive_from, 7 * size);
    pl_stream_doubles(s, matter->drive_to, 7 * size);
    pl_stream_doubles(s, matter->drive_now, 7 * size);
    for (int f = 0; s->in && !pl_stream_stopped(s) && f < count; f++) {
        int before = f ? matter->fixed[f - 1] : -1;
        pl_stream_expect(s, matter->fixed[f] > before && matter->fixed[f] < matter->n);
        pl_stream_expect(s, is_unit(matter->drive_from + 7 * f + 3, 4));
        pl_stream_expect(s, is_unit(matter->drive_to + 7 * f + 3, 4));
    }
}

static void carrier_part(pl_stream *s, pl_hold *hold, int i, int n)
{
    int particle = hold->particle[i];
    pl_stream_int(s, &particle);
    pl_stream_doubles(s, &hold->weight[i], 1);
    pl_stream_doubles(s, hold->arm[i], 3);
    pl_stream_expect(s, particle >= 0 && particle < n && hold->weight[i] > 0);
    for (int j = 0; j < i; j++)
        pl_stream_expect(s, hold->particle[j] != particle);
    for (int k = 0; k < 3; k++)
        pl_stream_expect(s, fabs(hold->arm[i][k]) <= 2e9);
    if (s->in)
        hold->particle[i] = particle;
}

void pl_snapshot_hold(pl_stream *s, pl_hold *hold, int n)
{
    int kind = (int)hold->kind, count = hold->count;
    pl_stream_int(s, &kind);
    pl_stream_int(s, &count);
    pl_stream_expect(s, kind == PL_PIN_POSITION || kind == PL_PIN_DIRECTION);
    pl_stream_expect(s, count >= 1 && count <= PL_MAX_INFLUENCES);
    if (pl_stream_stopped(s))
        return;
    if (s->in) {
        hold->kind = (pl_pin_kind)kind;
        hold->count = count;
    }
    double sum = 0;
    for (int i = 0; i < count && !pl_stream_stopped(s); i++) {
        carrier_part(s, hold, i, n);
        sum += hold->weight[i];
        pl_stream_expect(s, kind == PL_PIN_POSITION || is_unit(hold->arm[i], 3));
    }
    pl_stream_doubles(s, &hold->strength, 1);
    pl_stream_doubles(s, hold->from, 3);
    pl_stream_doubles(s, hold->to, 3);
    pl_stream_doubles(s, hold->now, 3);
    pl_stream_expect(s, fabs(sum - 1) <= 1e-6 && pl_is_pin_strength(hold->strength));
    pl_stream_expect(s,
                     kind == PL_PIN_POSITION || (is_unit(hold->from, 3) && is_unit(hold->to, 3)));
}

static void holds_part(pl_stream *s, pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    int count = matter->hold_count;
    if (!pl_stream_count(s, &count, 16 * sizeof(double)))
        return;
    if (s->in && !count)
        return;
    if (!pl_stream_array(s, world->memory, &matter->holds, (size_t)count, sizeof(pl_hold)) ||
        !pl_stream_array(s, world->memory, &record->hold_slots, (size_t)count, sizeof(uint32_t)))
        return;
    if (s->in) {
        matter->hold_count = count;
        record->hold_capacity = count;
    }
    pl_stream_u32(s, record->hold_slots, (size_t)count);
    for (int i = 0; i < count && !pl_stream_stopped(s); i++)
        pl_snapshot_hold(s, matter->holds + i, matter->n);
}

/* ---- Tetrahedra ------------------------------------------------------------------------------ */

/* Marks a size as that of tetrahedra: other bodies are saved as they always were. */
#define TETRAHEDRAL (UINT64_C(1) << 63)

/* Beside it: there is a factor per tetrahedron. */
#define PAINTED (UINT64_C(1) << 61)

/* The definition, and the state as one block of bytes, which waits for the system to be made. */
static void tetrahedral_part(pl_stream *s, pl_world *world, pl_record *record, size_t size)
{
    double numbers[PL_TET_NUMBERS] = {0};
    pl_tetrahedral_def def;
    if (!s->in)
        pl_tet_numbers_of(&record->tets, numbers);
    pl_stream_bytes(s, numbers, sizeof numbers); /* some may be infinite */
    pl_stream_expect(s, size <= s->size - s->at && pl_tet_from_numbers(numbers, &def));
    if (pl_stream_stopped(s))
        return;
    if (s->in) {
        pl_status status = pl_tetrahedral_fill(world, record, &def, NULL);
        s->starved |= status == PL_ERROR_MEMORY;
        pl_stream_expect(s, status == PL_OK || s->starved);
        record->saved = s->in + s->at;
        record->saved_size = size;
    } else if (s->out) {
        pl_tetrahedral_save(record->matter.tetrahedral, s->out + s->at);
    } else if (s->hash) {
        pl_hash_u64(s->hash, pl_tetrahedral_digest(record->matter.tetrahedral));
    }
    s->at += size;
}

/* Likewise, of oriented particles with a rest shape of their own. */
#define POSED (UINT64_C(1) << 62)

/* ---- Clusters -------------------------------------------------------------------------------- */

static uint64_t size_of(const pl_record *record)
{
    if (record->matter.posed)
        return pl_posed_save_size(record->matter.posed) | POSED;
    if (record->tetrahedral && record->matter.tetrahedral)
        return pl_tetrahedral_save_size(record->matter.tetrahedral) | TETRAHEDRAL |
               (record->tet_stiffness ? PAINTED : 0);
    return record->matter.clustered ? pl_clustered_save_size(record->matter.clustered) : 0;
}

/* As one block of bytes: its own business. */
static void clustered_part(pl_stream *s, pl_world *world, pl_record *record)
{
    pl_clustered *clustered = record->matter.clustered;
    uint64_t size = size_of(record);
    pl_stream_u64(s, &size);
    if (!pl_stream_stopped(s) && size & TETRAHEDRAL) {
        if (size & PAINTED)
            map_part(s, world, &record->tet_stiffness, record->model->tet_count);
        tetrahedral_part(s, world, record, (size_t)(size & ~(TETRAHEDRAL | PAINTED)));
        return;
    }
    if (!pl_stream_stopped(s) && size & POSED) {
        pl_snapshot_posed(s, world, record, (size_t)(size & ~POSED));
        return;
    }
    pl_stream_expect(s, size <= s->size - s->at);
    if (pl_stream_stopped(s) || size == 0)
        return;
    if (s->in) {
        pl_status status = pl_clustered_restore(world, record, s->in + s->at, (size_t)size, NULL);
        s->starved |= status == PL_ERROR_MEMORY;
        pl_stream_expect(s, status == PL_OK || s->starved);
        s->at += (size_t)size;
    } else if (s->out) {
        pl_clustered_save(clustered, s->out + s->at);
        s->at += (size_t)size;
    } else if (s->hash) {
        uint64_t digest = pl_clustered_digest(clustered);
        pl_hash_u64(s->hash, digest);
        s->at += (size_t)size;
    } else {
        s->at += (size_t)size;
    }
}

/* ---- Bodies and worlds ----------------------------------------------------------------------- */

void pl_snapshot_body(pl_stream *s, pl_world *world, pl_record *record)
{
    pl_stream_u32(s, &record->slot, 1);
    clustered_part(s, world, record);
    makeup_part(s, world, record);
    fixed_part(s, world, &record->matter);
    holds_part(s, world, record);
    contact_part(s, record);
    gas_part(s, world, record);
    motion_part(s, record);
    if (!pl_stream_stopped(s))
        pl_snapshot_examples(s, world, record);
}

static void generations_part(pl_stream *s, pl_world *world)
{
    if (pl_stream_count(s, &world->body_slots, sizeof(uint32_t)) &&
        pl_stream_array(s, world->memory, &world->bodies, (size_t)world->body_slots,
                        sizeof *world->bodies))
        for (int i = 0; i < world->body_slots; i++) {
            pl_stream_u32(s, &world->bodies[i].generation, 1);
            pl_stream_expect(s, world->bodies[i].generation != 0);
        }
    if (!pl_stream_stopped(s) && pl_stream_count(s, &world->pin_slots, sizeof(uint32_t)) &&
        pl_stream_array(s, world->memory, &world->pins, (size_t)world->pin_slots,
                        sizeof *world->pins))
        for (int i = 0; i < world->pin_slots; i++) {
            pl_stream_u32(s, &world->pins[i].generation, 1);
            pl_stream_expect(s, world->pins[i].generation != 0);
        }
    if (s->in) {
        world->body_slot_capacity = world->body_slots;
        world->pin_slot_capacity = world->pin_slots;
    }
}

void pl_snapshot_settings(pl_stream *s, pl_world *world)
{
    pl_stream_doubles(s, &world->step, 1);
    pl_stream_int(s, &world->substeps);
    pl_stream_int(s, &world->iterations);
    pl_stream_int(s, &world->stiff_iterations);
    pl_stream_int(s, &world->max_steps);
    pl_stream_bool(s, &world->sleeping);
    pl_stream_bool(s, &world->stiff_contact);
    pl_stream_doubles(s, world->gravity, 3);
    pl_stream_doubles(s, &world->time, 1);
    pl_stream_doubles(s, &world->owed, 1);
    pl_stream_u64(s, &world->steps);
    pl_stream_expect(s, pl_check_step(world->step, world->substeps, NULL) == PL_OK);
    pl_stream_expect(s, pl_check_iterations(world->iterations, world->stiff_iterations, NULL) ==
                            PL_OK);
    pl_stream_expect(s, world->max_steps >= 1 && pl_is_gravity(world->gravity));
    pl_stream_expect(s, world->time >= 0 && world->owed >= 0);
    generations_part(s, world);
}

static void kept_part(pl_stream *s, pl_kept_touch *kept)
{
    uint32_t name[4] = {kept->a, kept->a_particle, kept->b, kept->b_particle};
    float by[4] = {kept->pushed, kept->rubbed[0], kept->rubbed[1], kept->rubbed[2]};
    pl_stream_u32(s, name, 4);
    pl_stream_floats(s, by, 4);
    pl_stream_expect(s, by[0] >= 0);
    if (s->in)
        *kept = (pl_kept_touch){name[0], name[1], name[2], name[3], by[0], {by[1], by[2], by[3]}};
}

void pl_snapshot_kept(pl_stream *s, pl_world *world)
{
    pl_kept_touches *kept = &world->kept;
    int count = kept->count;
    if (!pl_stream_count(s, &count, sizeof(pl_kept_touch)))
        return;
    if (s->in && !pl_kept_reserve(kept, world->memory, count)) {
        s->starved = true;
        return;
    }
    for (int i = 0; i < count && !pl_stream_stopped(s); i++)
        kept_part(s, kept->list + i);
    if (s->in && !pl_stream_stopped(s))
        kept->count = count;
}

/* ---- Saving and hashing ---------------------------------------------------------------------- */

/* Everything but the closing hash. */
static void world_part(pl_stream *s, const pl_world *source)
{
    pl_world *world = (pl_world *)(uintptr_t)source; /* only reading stores */
    uint64_t magic = PL_SNAPSHOT_MAGIC;
    uint32_t version = PL_SNAPSHOT_VERSION;
    int count = world->live_count;
    pl_stream_u64(s, &magic);
    pl_stream_u32(s, &version, 1);
    pl_snapshot_settings(s, world);
    pl_stream_int(s, &count);
    for (pl_record *record = world->first; record; record = record->next) {
        uint64_t hash = record->model->hash;
        pl_stream_u64(s, &hash);
        pl_snapshot_body(s, world, record);
    }
    pl_snapshot_colliders(s, world);
    pl_snapshot_attachments(s, world);
    pl_snapshot_events(s, world);
    pl_snapshot_kept(s, world);
}

pl_status pl_world_save(const pl_world *world, void *bytes, size_t capacity, size_t *size)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_REQUIRE(size, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the size");
    pl_stream counted = {.size = SIZE_MAX};
    world_part(&counted, world);
    *size = counted.at + sizeof(uint64_t);
    if (!bytes)
        return PL_OK;
    PL_CHECK(capacity >= *size, PL_ERROR_ARGUMENT, NULL, NULL, "the buffer is too small");
    pl_stream s = {.out = bytes, .size = *size};
    world_part(&s, world);
    uint64_t hash = pl_hash_of(bytes, s.at, 0);
    pl_stream_u64(&s, &hash);
    return PL_OK;
}

/* The same as the hash that closes a snapshot, but for clustered and tetrahedral bodies, of which a
   digest is taken. */
uint64_t pl_world_hash(const pl_world *world)
{
    if (!world)
        return 0;
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_stream s = {.hash = &hash, .size = SIZE_MAX};
    world_part(&s, world);
    return pl_hash_final(&hash);
}
