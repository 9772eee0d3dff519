/* A world from bytes. Everything is read and rebuilt beside the world, which is replaced only when
   nothing can fail any more. */
#include <string.h>

#include "matter/posed.h"
#include "world/snapshot.h"

/* ---- Models ---------------------------------------------------------------------------------- */

/* The caller's models, and then those in use, by hash. */
typedef struct library {
    pl_model **models; /* [count] */
    pl_sort_item *items;
    int count;
} library;

static bool collect(const pl_world *world, pl_model *const *models, int model_count, library *out)
{
    size_t most = (size_t)model_count + (size_t)world->live_count;
    out->models = PL_NEW(world->memory, pl_model *, most);
    out->items = PL_NEW(world->memory, pl_sort_item, 2 * most);
    if (!out->models || !out->items)
        return false;
    for (int i = 0; i < model_count; i++)
        if (models[i])
            out->models[out->count++] = models[i];
    for (pl_record *record = world->first; record; record = record->next)
        out->models[out->count++] = record->model;
    for (int i = 0; i < out->count; i++)
        out->items[i] = (pl_sort_item){out->models[i]->hash, (uint32_t)i};
    pl_sort(out->items, out->items + out->count, (size_t)out->count);
    return true;
}

/* The first with this hash, NULL = there is none. */
static pl_model *find_model(const library *l, uint64_t hash)
{
    int low = 0, high = l->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (l->items[middle].key < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && l->items[low].key == hash ? l->models[l->items[low].index] : NULL;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static pl_status explain(const pl_stream *s, pl_error *error)
{
    PL_CHECK(!s->starved, PL_ERROR_MEMORY, error, "", "no memory to restore the snapshot");
    return pl_fail(error, PL_ERROR_FORMAT, PL_WHERE("byte %zu", s->at),
                   "is not what a snapshot holds there: it is damaged or ends too early");
}

/* The slots that a body and its pins claim exist, and nobody else does. */
static bool claims_are_free(pl_world *next, pl_record *record)
{
    if (record->slot >= (uint32_t)next->body_slots || next->bodies[record->slot].record)
        return false;
    for (int k = 0; k < record->matter.hold_count; k++) {
        uint32_t slot = record->hold_slots[k];
        if (slot >= (uint32_t)next->pin_slots || next->pins[slot].record)
            return false;
        pl_world_enter_pin(next, slot, record, k);
    }
    return true;
}

/* A material or a pin that nothing can be built from was never saved. */
static pl_status rebuild(pl_world *next, pl_record *record, pl_error *error)
{
    pl_outfit outfit;
    pl_setup setup = pl_world_setup_of(next, record);
    pl_status status = pl_world_equip(next, record->model, &setup, &outfit, error);
    if (status == PL_ERROR_ARGUMENT) {
        status = PL_ERROR_FORMAT;
        if (error)
            error->status = status;
    }
    PL_TRY(status);
    pl_world_adopt(next, record, &outfit);
    PL_TRY(pl_examples_restore(next, record, error));
    if (record->saved && record->matter.posed)
        PL_TRY(pl_posed_load(record->matter.posed, record->saved, record->saved_size, error));
    else if (record->saved)
        PL_TRY(pl_tetrahedral_load(record->matter.tetrahedral, record->saved, record->saved_size,
                                   error));
    record->saved = NULL;
    const double *v = record->matter.now.velocity;
    PL_CHECK(!record->matter.system->grounded || (v[0] == 0 && v[1] == 0 && v[2] == 0),
             PL_ERROR_FORMAT, error, "bodies", "a body that is held fast moves as a whole");
    PL_CHECK(pl_world_reserve_body(next, record) == PL_OK, PL_ERROR_MEMORY, error, "",
             "no memory for another body");
    return PL_OK;
}

static pl_status fill_body(pl_stream *s, pl_world *next, pl_record *record, pl_error *error)
{
    pl_snapshot_body(s, next, record);
    if (pl_stream_stopped(s))
        return explain(s, error);
    PL_CHECK(claims_are_free(next, record), PL_ERROR_FORMAT, error, "slots",
             "two bodies or two pins claim one place");
    return rebuild(next, record, error);
}

static pl_status read_body(pl_stream *s, pl_world *next, const library *models, pl_error *error)
{
    uint64_t hash = 0;
    pl_stream_u64(s, &hash);
    if (pl_stream_stopped(s))
        return explain(s, error);
    pl_model *model = find_model(models, hash);
    PL_CHECK(model, PL_ERROR_FORMAT, error, "models",
             "the model with hash %016llx is missing; pass it along", (unsigned long long)hash);
    pl_stream_expect(s, (size_t)model->particle_count <= (s->size - s->at) / PL_SNAPSHOT_PARTICLE);
    if (pl_stream_stopped(s))
        return explain(s, error);
    pl_record *record = pl_record_create(next, model);
    PL_CHECK(record, PL_ERROR_MEMORY, error, "", "no memory for a body");
    pl_status status = fill_body(s, next, record, error);
    if (status == PL_OK)
        pl_world_enter(next, record, record->slot);
    else
        pl_record_destroy(next, record);
    return status;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

static pl_status read_world(pl_stream *s, pl_world *next, const library *models, pl_error *error)
{
    int count = 0;
    pl_snapshot_settings(s, next);
    if (pl_stream_stopped(s) || !pl_stream_count(s, &count, PL_SNAPSHOT_BODY))
        return explain(s, error);
    next->h = next->step / next->substeps;
    for (int i = 0; i < count; i++)
        PL_TRY(read_body(s, next, models, error));
    pl_snapshot_colliders(s, next);
    if (!pl_stream_stopped(s))
        pl_snapshot_attachments(s, next);
    if (!pl_stream_stopped(s))
        pl_snapshot_events(s, next);
    if (!pl_stream_stopped(s))
        pl_snapshot_kept(s, next);
    if (pl_stream_stopped(s))
        return explain(s, error);
    PL_CHECK(s->at == s->size, PL_ERROR_FORMAT, error, PL_WHERE("byte %zu", s->at),
             "should be the end of the snapshot");
    return PL_OK;
}

/* A world with the host's side of another (memory, tasks, workers, callbacks) and no bodies. */
static pl_world empty_like(const pl_world *world)
{
    return (pl_world){.memory = world->memory,
                      .tasks = world->tasks,
                      .logger = world->logger,
                      .field = world->field,
                      .field_user = world->field_user,
                      .systems_made = world->systems_made,
                      .regroup = true,
                      .reenter = true,
                      .worker_count = world->worker_count,
                      .contact = world->contact,
                      .before = world,
                      .workers = world->workers};
}

/* Bodies that live on keep the host's pointer. */
static void keep_users(const pl_world *world, const pl_world *next)
{
    for (pl_record *record = next->first; record; record = record->next) {
        pl_body body = {record->slot, next->bodies[record->slot].generation};
        pl_record *before = pl_world_record(world, body);
        record->user = before ? before->user : NULL;
    }
    for (int i = 0; i < next->colliders.slot_count; i++) {
        pl_collider_slot *slot = next->colliders.slots + i;
        if (slot->record)
            slot->record->user =
                pl_collider_user(world, (pl_collider){(uint32_t)i, slot->generation});
    }
}

static pl_status open_snapshot(const void *bytes, size_t size, pl_stream *s, pl_error *error)
{
    uint64_t magic = 0, hash = 0;
    uint32_t version = 0;
    PL_CHECK(size >= sizeof magic + sizeof version + sizeof hash, PL_ERROR_FORMAT, error, "byte 0",
             "is no snapshot: %zu bytes are too few", size);
    memcpy(&hash, (const char *)bytes + size - sizeof hash, sizeof hash);
    *s = (pl_stream){.in = bytes, .size = size - sizeof hash};
    pl_stream_u64(s, &magic);
    pl_stream_u32(s, &version, 1);
    PL_CHECK(magic == PL_SNAPSHOT_MAGIC, PL_ERROR_FORMAT, error, "byte 0",
             "is no snapshot of a world");
    PL_CHECK(version == PL_SNAPSHOT_VERSION, PL_ERROR_FORMAT, error, "byte 8",
             "is a snapshot of version %u; this library reads %d", version, PL_SNAPSHOT_VERSION);
    PL_CHECK(hash == pl_hash_of(bytes, s->size, 0), PL_ERROR_FORMAT, error, "end",
             "the snapshot is damaged or ends too early");
    return PL_OK;
}

static PL_APART pl_status restore(pl_world *world, const void *bytes, size_t size,
                                  pl_model *const *models, int model_count, pl_error *error)
{
    PL_TRY(pl_world_check_unlocked(world, error));
    PL_REQUIRE(bytes, PL_ERROR_ARGUMENT, error, "bytes", "are missing");
    PL_REQUIRE(model_count >= 0 && (models || !model_count), PL_ERROR_ARGUMENT, error, "models",
               "have a count but are missing");
    pl_stream s;
    PL_TRY(open_snapshot(bytes, size, &s, error));
    library known = {0};
    world->regroup = world->reenter =
        true; /* contact makes room for the new bodies and forgets the old ones */
    pl_world next = empty_like(world);
    pl_status status = collect(world, models, model_count, &known)
                           ? read_world(&s, &next, &known, error)
                           : pl_fail(error, PL_ERROR_MEMORY, "", "no memory to look for models");
    pl_memory_free(world->memory, known.models);
    pl_memory_free(world->memory, known.items);
    if (status != PL_OK) {
        pl_world_clear(&next);
        return status;
    }
    keep_users(world, &next);
    pl_world_clear(world);
    next.before = NULL;
    *world = next;
    return PL_OK;
}

pl_status pl_world_restore(pl_world *world, const void *bytes, size_t size, pl_model *const *models,
                           int model_count, pl_error *error)
{
    PL_COMPUTE(restore(world, bytes, size, models, model_count, error));
}
