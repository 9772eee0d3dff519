/* What a call of step or advance did: counts and times, gathered from the workers. */
#include <string.h>

#include "world/world.h"

static uint64_t sum_examples(const pl_world *world)
{
    uint64_t sum = 0;
    for (const pl_record *record = world->first; record; record = record->next)
        sum += record->matter.clustered ? record->matter.clustered->ticks[4] : 0;
    return sum;
}

void pl_report_begin(pl_world *world)
{
    world->examples_ticks = sum_examples(world);
    for (int i = 0; i < world->worker_count; i++) {
        pl_worker *worker = world->workers + i;
        memset(worker->work.ticks, 0, sizeof worker->work.ticks);
        worker->work.iterations = worker->work.refused = 0;
        worker->rescued = worker->left_out = 0;
        world->contact->buffers[i].ticks = 0;
    }
    world->contact_ticks = world->contact->apart = 0;
}

static void count_bodies(const pl_world *world, pl_report *report)
{
    for (const pl_record *record = world->first; record; record = record->next) {
        report->bodies++;
        report->awake += !record->asleep;
        report->particles += record->matter.n;
        report->edges += record->model->edge_count;
        report->pins += record->matter.hold_count;
        report->fixed += record->matter.fixed_count;
    }
    for (int i = 0; i < world->block_count; i++) {
        report->lane_blocks += !world->blocks[i].lone;
        report->lone_blocks += world->blocks[i].lone;
    }
}

static void sum_work(const pl_world *world, double ms_per_tick, pl_report *report)
{
    for (int i = 0; i < world->worker_count; i++) {
        const pl_worker *worker = world->workers + i;
        const uint64_t *ticks = worker->work.ticks;
        report->iterations += worker->work.iterations;
        report->refused += worker->work.refused;
        report->rescued += worker->rescued;
        report->ms_predict += (double)ticks[PL_STAGE_PREDICT] * ms_per_tick;
        report->ms_local += (double)ticks[PL_STAGE_LOCAL] * ms_per_tick;
        report->ms_global += (double)ticks[PL_STAGE_GLOBAL] * ms_per_tick;
        report->ms_accelerate += (double)ticks[PL_STAGE_ACCELERATE] * ms_per_tick;
        report->ms_stiff += (double)ticks[PL_STAGE_STIFF] * ms_per_tick;
        report->ms_contact += (double)ticks[PL_STAGE_CONTACT] * ms_per_tick;
        report->ms_finish += (double)ticks[PL_STAGE_FINISH] * ms_per_tick;
        report->ms_change += (double)ticks[PL_STAGE_CHANGE] * ms_per_tick;
        report->ms_contact += (double)world->contact->buffers[i].ticks * ms_per_tick;
    }
    report->ms_contact += (double)(world->contact_ticks - world->contact->apart) * ms_per_tick;
    report->ms_examples += (double)(sum_examples(world) - world->examples_ticks) * ms_per_tick;
}

static void say_what_was_wrong(const pl_world *world, const pl_report *report)
{
    uint64_t left_out = 0;
    for (int i = 0; i < world->worker_count; i++)
        left_out += world->workers[i].left_out;
    if (left_out)
        pl_logger_say(&world->logger, PL_LOG_WARNING,
                      "%llu forces of the field function were no usable numbers and left out",
                      (unsigned long long)left_out);
    if (report->rescued)
        pl_logger_say(&world->logger, PL_LOG_WARNING,
                      "%llu times a body overflowed and was put back, at rest",
                      (unsigned long long)report->rescued);
}

void pl_report_fill(const pl_world *world, double ms, double ms_per_tick, pl_report *report)
{
    report->ms_total = ms;
    count_bodies(world, report);
    sum_work(world, ms_per_tick, report);
    say_what_was_wrong(world, report);
}
