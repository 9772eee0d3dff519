#include "io/frame_numbers.h"

#include "world/world.h"

const char *const pl_stage_names[PL_STAGES] = {"predict", "local",   "global", "accelerate",
                                               "stiff",   "contact", "finish", "change"};

double pl_mechanical_energy(const pl_energy *energy)
{
    return energy->kinetic + energy->potential + energy->elastic + energy->pins;
}

pl_status pl_play_energy(const pl_play *play, pl_energy *sum)
{
    *sum = (pl_energy){0};
    for (int i = 0; i < play->body_count; i++) {
        pl_energy energy;
        if (play->bodies[i].removed)
            continue;
        PL_TRY(pl_body_get_energy(play->world, play->bodies[i].handle, &energy));
        sum->kinetic += energy.kinetic;
        sum->potential += energy.potential;
        sum->elastic += energy.elastic;
        sum->pins += energy.pins;
        sum->inertia += energy.inertia;
    }
    return PL_OK;
}

static void count_contacts(const pl_world *world, pl_frame_numbers *numbers)
{
    int count;
    const pl_contact_event *events = pl_world_contacts(world, &count);
    for (int i = 0; i < count; i++)
        if (events[i].phase != PL_CONTACT_ENDED) {
            numbers->contacts++;
            numbers->touches += events[i].touches;
        }
}

pl_status pl_frame_numbers_read(const pl_play *play, const pl_report *report,
                                pl_frame_numbers *numbers)
{
    *numbers = (pl_frame_numbers){.frame = play->frame, .time = pl_world_time(play->world)};
    PL_TRY(pl_play_energy(play, &numbers->energy));
    for (int i = 0; i < play->body_count; i++) {
        pl_body_state state;
        pl_body handle = play->bodies[i].handle;
        if (play->bodies[i].removed)
            continue;
        PL_TRY(pl_body_get_state(play->world, handle, &state));
        for (int k = 0; k < 3; k++)
            numbers->momentum[k] += state.momentum[k];
        numbers->awake += !play->world->bodies[handle.index].record->asleep;
    }
    count_contacts(play->world, numbers);
    if (!report)
        return PL_OK;
    const double ms[PL_STAGES] = {report->ms_predict,    report->ms_local, report->ms_global,
                                  report->ms_accelerate, report->ms_stiff, report->ms_contact,
                                  report->ms_finish,     report->ms_change};
    memcpy(numbers->ms, ms, sizeof ms);
    numbers->ms_total = report->ms_total;
    numbers->timed = true;
    return PL_OK;
}
