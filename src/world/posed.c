/* Oriented bodies with a rest shape of their own in a world: those that have examples, and those
   that stay bent. Each is solved alone, one task each. What flows does so before the contacts of
   the sub-step: these move particles one by one, and the kinks they leave are gone when the next
   sub-step has spread them. */
#include "matter/posed.h"

#include "base/clock.h"
#include "world/world.h"

pl_status pl_posed_fill(pl_world *world, pl_record *record, const pl_plasticity_def *plastic,
                        pl_error *error)
{
    PL_CHECK(!record->matter.clustered && !record->tetrahedral, PL_ERROR_ARGUMENT, error,
             "plasticity",
             "is for bodies of oriented particles; clustered and tetrahedral ones have their own");
    return pl_posed_create(world->memory, record->model, plastic, &record->matter.posed, error);
}

/* ---- The step -------------------------------------------------------------------------------- */

static void solve(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    for (int i = begin; i < end; i++) {
        pl_oriented *matter = &world->live[i]->matter;
        pl_work *work = &world->workers[worker].work;
        if (!matter->posed)
            continue;
        pl_oriented_lead(matter, world->h);
        pl_posed_solve(matter->posed, matter, world->h, world->iterations, world->backward, work);
        uint64_t clock = pl_ticks();
        pl_posed_flow(matter->posed, matter, world->h);
        work->ticks[PL_STAGE_CHANGE] += pl_ticks() - clock;
    }
}

void pl_world_solve_posed(pl_world *world)
{
    if (world->posed_count)
        pl_tasks_run(world->tasks, solve, world, world->awake_count, 1);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* What yields, and the state as one block of bytes, which waits for the examples to be made. */
void pl_snapshot_posed(pl_stream *s, pl_world *world, pl_record *record, size_t size)
{
    pl_posed *posed = record->matter.posed;
    pl_plasticity_def def = pl_default_plasticity_def();
    if (!s->in)
        def = posed->plastic;
    double numbers[] = {def.yield, def.flow, def.hardening, def.limit};
    pl_stream_bytes(s, numbers, sizeof numbers); /* the yield may be infinite */
    pl_stream_expect(s, size <= s->size - s->at);
    if (pl_stream_stopped(s))
        return;
    if (s->in) {
        def.yield = numbers[0], def.flow = numbers[1];
        def.hardening = numbers[2], def.limit = numbers[3];
        pl_status status = pl_posed_fill(world, record, &def, NULL);
        s->starved |= status == PL_ERROR_MEMORY;
        pl_stream_expect(s, status == PL_OK || s->starved);
        record->saved = s->in + s->at;
        record->saved_size = size;
    } else if (s->out) {
        pl_posed_save(posed, s->out + s->at);
    } else if (s->hash) {
        pl_hash_u64(s->hash, pl_posed_digest(posed));
    }
    s->at += size;
}
