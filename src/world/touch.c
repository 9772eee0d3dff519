/* Joins matter and contact: bodies' particles are shown to the contact stage, and what it moves is
   brought back. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/prefetch.h"
#include "world/world.h"

/* ---- Entering -------------------------------------------------------------------------------- */

static pl_contact_body entry_of(const pl_record *record)
{
    const pl_model *model = record->model;
    return (pl_contact_body){.clumps = record->clumps,
                             .slot = record->slot,
                             .unit = model->unit,
                             .friction = (float)record->material.friction,
                             .restitution = (float)record->material.restitution,
                             .category = record->category,
                             .mask = record->mask,
                             .flat = model->dimension == 2,
                             .self = record->self_contact && !record->matter.clustered};
}

static const uint8_t *wanted_of(const pl_world *world, const pl_record *record)
{
    return world->contact->wanted + world->contact->bodies[record->contact].first_clump;
}

static void gather_body(pl_world *world, const pl_record *record)
{
    pl_contact *contact = world->contact;
    pl_contact_body *body = contact->bodies + record->contact;
    const pl_oriented *matter = &record->matter;
    pl_gathered gathered;
    pl_oriented_gather(matter, body->clumps, wanted_of(world, record),
                       contact->places + body->first_clump, contact->ways + body->first_clump,
                       contact->primitives + (size_t)body->first_clump * PL_CLUMP, &gathered);
    for (int k = 0; k < 3; k++) {
        body->base[k] = matter->place[k] * body->unit;
        body->centre[k] = body->base[k] + (double)gathered.centre[k];
        body->velocity[k] = matter->path[k] * body->unit / world->h;
    }
    body->firm = pl_record_firmness(world, record);
    body->lone = pl_oriented_is_lone(matter);
    body->diagonal = matter->system->diagonal;
    body->mass = matter->system->mass;
}

/* Sleeping bodies are shown once, standing. */
static void lay_down(pl_world *world, pl_record *record)
{
    pl_contact_body *body = world->contact->bodies + record->contact;
    memset(world->contact->wanted + body->first_clump, 1, (size_t)body->clumps->count);
    memset(world->contact->came + (size_t)body->first_clump * PL_CLUMP, 0,
           sizeof *world->contact->came * (size_t)body->clumps->count * PL_CLUMP);
    pl_oriented_stand(&record->matter);
    gather_body(world, record);
    body->asleep = true;
}

void pl_world_enter_contacts(pl_world *world)
{
    pl_contact *contact = world->contact;
    bool anew = world->reenter || contact->body_count != world->live_count;
    if (anew)
        pl_contact_clear(contact);
    contact->some_sleep = false;
    for (int i = 0; i < world->live_count; i++) {
        pl_record *record = world->entered[i];
        contact->some_sleep |= record->asleep;
        const pl_system *system = record->matter.system;
        pl_contact_body entry = entry_of(record);
        if (anew)
            pl_contact_enter(contact, &entry, record->radii, system->mass, system->mass_unit,
                             system->is_fixed);
        bool was = contact->bodies[i].asleep;
        contact->bodies[i].asleep = record->asleep;
        if (record->asleep && !was)
            lay_down(world, record);
    }
    world->reenter = false;
    contact->stale = true;
}

/* ---- A sub-step ------------------------------------------------------------------------------ */

static void gather_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    uint64_t clock = pl_ticks();
    for (int i = begin; i < end; i++) {
        pl_record *record = world->live[i];
        if (record->gas.pressure > 0)
            pl_gas_settle(record, world->h);
        gather_body(world, record);
        pl_contact_follow(world->contact, record->contact, worker);
    }
    world->workers[worker].work.ticks[PL_STAGE_CONTACT] += pl_ticks() - clock;
}

/* The places are there already; the primitives of clumps that are wanted from now on are not. */
static void gather_rest(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    pl_contact *contact = world->contact;
    uint64_t clock = pl_ticks();
    for (int i = begin; i < end; i++) {
        const pl_record *record = world->live[i];
        const pl_contact_body *body = contact->bodies + record->contact;
        pl_oriented_gather_more(&record->matter, body->clumps, wanted_of(world, record),
                                PL_WANTED_ANEW,
                                contact->primitives + (size_t)body->first_clump * PL_CLUMP);
    }
    world->workers[worker].work.ticks[PL_STAGE_CONTACT] += pl_ticks() - clock;
}

static void gather_velocities(pl_world *world)
{
    pl_contact *contact = world->contact;
    for (int i = 0; i < world->awake_count; i++) {
        const pl_record *record = world->live[i];
        const pl_contact_body *body = contact->bodies + record->contact;
        pl_oriented_gather_velocities(&record->matter, body->clumps, wanted_of(world, record),
                                      world->h,
                                      contact->came + (size_t)body->first_clump * PL_CLUMP);
    }
}

/* What contact asks for when something is fast. */
static void show_body(void *context, int number)
{
    pl_world *world = context;
    pl_contact *contact = world->contact;
    const pl_record *record = world->entered[number];
    const pl_contact_body *body = contact->bodies + number;
    size_t first = (size_t)body->first_clump * PL_CLUMP;
    if (body->asleep) {
        memset(contact->came + first, 0,
               sizeof *contact->came * (size_t)body->clumps->count * PL_CLUMP);
        return;
    }
    pl_oriented_gather_more(&record->matter, body->clumps, wanted_of(world, record), PL_NOT_WANTED,
                            contact->primitives + first);
    pl_oriented_gather_velocities(&record->matter, body->clumps, NULL, world->h,
                                  contact->came + first);
}

/* The same of one particle. */
static void tell_speed(void *context, int32_t place)
{
    pl_world *world = context;
    pl_contact *contact = world->contact;
    int number = contact->body_of[place / PL_CLUMP];
    const pl_contact_body *body = contact->bodies + number;
    const pl_oriented *matter = &world->entered[number]->matter;
    int i = body->clumps->particle[place - body->first_clump * PL_CLUMP];
    if (body->asleep)
        memset(contact->came[place], 0, sizeof *contact->came);
    else
        pl_oriented_came(matter, i, world->h, contact->came[place]);
}

/* For the paths of its clumps. */
static void pace_body(void *context, int number, float (*out)[3])
{
    const pl_world *world = context;
    const pl_record *record = world->entered[number];
    pl_oriented_pace(&record->matter, record->clumps, out);
}

/* Whether anything bounces. */
static bool is_bouncy(const pl_contact *contact)
{
    for (int i = 0; i < contact->against.count; i++)
        if (contact->against.colliders[i].restitution > 0)
            return true;
    for (int b = 0; b < contact->body_count; b++)
        if (contact->bodies[b].restitution > 0)
            return true;
    return false;
}

/* What is written of the next body at the end and was not read by contact: it went out of the cache
   while all were solved. Of a large one the rest is seen coming. */
static void look_ahead(const pl_world *world, int i)
{
    enum { MOST = 48 };
    if (i + 2 < world->awake_count) {
        pl_prefetch(&world->live[i + 2]->matter, sizeof world->live[i]->matter);
        pl_prefetch(&world->live[i + 2]->contact, sizeof world->live[i]->contact);
    }
    if (i + 1 >= world->awake_count)
        return;
    const pl_oriented *matter = &world->live[i + 1]->matter;
    size_t n = (size_t)(matter->n < MOST ? matter->n : MOST);
    pl_prefetch(matter->now.u, sizeof *matter->now.u * 3 * n);
    pl_prefetch(matter->now.w, sizeof *matter->now.w * 3 * n);
    pl_prefetch(matter->now.q, sizeof *matter->now.q * 4 * n);
    pl_prefetch(matter->old.q, sizeof *matter->old.q * 4 * n);
    pl_prefetch(matter->system->weights, sizeof *matter->system->weights * 3 * n);
}

/* Behind the last body: what happened between them is told, while others are at work. */
static void finish_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    pl_worker *self = world->workers + worker;
    pl_contact *contact = world->contact;
    for (int i = begin; i < end; i++) {
        if (i == world->awake_count) {
            uint64_t clock = pl_ticks();
            pl_events_add_touches(world, false);
            self->work.ticks[PL_STAGE_CONTACT] += pl_ticks() - clock;
            break;
        }
        look_ahead(world, i);
        pl_oriented *matter = &world->live[i]->matter;
        int number = world->live[i]->contact;
        pl_contact_body *body = contact->bodies + number;
        size_t first = (size_t)body->first_clump;
        uint64_t clock = pl_ticks();
        pl_contact_collide(contact, number);
        bool braces = pl_record_braces(world, world->live[i]);
        if (braces && (contact->kicks || body->kicked))
            pl_world_note_bounces(world, number);
        pl_oriented_scatter(matter, body->clumps, contact->touched + first,
                            contact->change + first * PL_CLUMP, contact->shift + first * PL_CLUMP,
                            contact->kicks || body->kicked ? contact->kick + first * PL_CLUMP
                                                           : NULL);
        if (braces)
            pl_world_brace(world, world->live[i]);
        if (body->turns)
            pl_oriented_turn(matter, body->turned, body->tilted, body->spun);
        body->turns = body->kicked = false;
        self->work.ticks[PL_STAGE_CONTACT] += pl_ticks() - clock;
        if (!pl_oriented_finish(matter, world->h, &self->work))
            self->rescued++;
    }
}

/* Stages of bodies that are awake; the workers count their own ticks. */
static void run_bodies(pl_world *world, pl_task *task, int count)
{
    uint64_t clock = pl_ticks();
    pl_tasks_run(world->tasks, task, world, count, PL_BODIES_PER_TASK / 4);
    world->contact->apart += pl_ticks() - clock;
}

void pl_world_touch(pl_world *world, double rest_of_step)
{
    pl_contact *contact = world->contact;
    uint64_t clock = pl_ticks();
    contact->h = world->h;
    contact->step = world->step;
    contact->time = world->time;
    contact->show = show_body;
    contact->tell = tell_speed;
    contact->pace = pace_body;
    contact->host = world;
    contact->firm.kept = world->stiff_contact ? &world->kept : NULL;
    contact->gravity =
        sqrt(world->gravity[0] * world->gravity[0] + world->gravity[1] * world->gravity[1] +
             world->gravity[2] * world->gravity[2]);
    run_bodies(world, gather_bodies, world->awake_count);
    if (pl_contact_groups_are_stale(contact)) {
        pl_contact_make_groups(contact, rest_of_step, world->tasks);
        run_bodies(world, gather_rest, world->awake_count);
    }
    contact->bouncy = is_bouncy(contact);
    if (contact->bouncy)
        gather_velocities(world);
    contact->kicks = contact->bouncy;
    pl_contact_find(contact, world->tasks);
    pl_contact_resolve(contact, world->tasks);
    if (pl_world_wake_touched(world))
        pl_world_regroup(world);
    pl_contact_note_late(contact);
    pl_contact_stand_off(contact, world->tasks);
    pl_events_begin_touches(world);
    run_bodies(world, finish_bodies, world->awake_count + 1);
    pl_colliders_land(world);
    pl_attachments_land(world);
    pl_events_add_touches(world, true);
    pl_events_add_hits(world);
    world->contact_ticks += pl_ticks() - clock;
}
