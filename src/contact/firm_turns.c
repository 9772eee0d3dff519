/* The order in which sweeps go through the touches of stiff bodies (firm.c). Each touch sees what
   those before it have moved, so one sweep after the other, each from the first touch to the last,
   is the order that counts; but only touches that share a body can tell. Touches follow the order
   of bodies, and where neighbours were made one after the other those that share a body are not far
   from each other. So touches are cut into sections, and a sweep may begin with a section when the
   sweep before is through with the last one that has a body in common with it: sweeps follow each
   other at a distance. They can be done at the same time, by as many threads, and what one has read
   is still in the caches for the next. Every bit is as if they had come one after the other. */
#include "contact/firm_parts.h"

/* Touches of a section. */
enum { SECTION = 64 };

/* A sweep goes through so many sections before the others get their turn: few where there are few,
   so that others can begin soon; not too many for the caches. */
enum { TURNS = 32, LEAST_SECTIONS = 4, MOST_SECTIONS = 32 };

/* Fewer touches are in the caches, and done before others could help. */
enum { FEW = 1024 };

/* ---- Sections -------------------------------------------------------------------------------- */

int pl_firm_section_room(int touches)
{
    return touches / SECTION + 2;
}

static int32_t body_of_stop(const pl_contact *contact, int stop)
{
    return contact->body_of[contact->firm.touches[stop].place_b / PL_CLUMP];
}

static pl_firm_section *add_section(pl_contact_firm *firm)
{
    pl_firm_section *section = firm->sections + firm->section_count++;
    *section = (pl_firm_section){.low = INT32_MAX, .high = -1};
    return section;
}

/* Whole blocks. */
static void cut_touches(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    pl_firm_section *last = add_section(firm);
    for (int i = 0; i < contact->block_count; i++) {
        const pl_firm_block *block = firm->blocks + i;
        if (!block->count)
            continue;
        if (last->end - last->first >= SECTION) {
            last = add_section(firm);
            last->first = last->end = block->first;
        }
        last->end += block->count;
        last->low = block->low < last->low ? block->low : last->low;
        last->high = block->high > last->high ? block->high : last->high;
        firm->mixed |= block->mixed;
    }
}

/* The stops of bodies before `limit`, as many as belong to a section; all of those of a body. */
static void take_stops(pl_contact *contact, pl_firm_section *section, int *next, int32_t limit)
{
    int32_t last = -1;
    section->first_stop = *next;
    for (; *next < contact->firm.touch_count; ++*next) {
        int32_t body = body_of_stop(contact, *next);
        if (body >= limit || (body != last && *next - section->first_stop >= SECTION))
            break;
        last = body;
        section->low = body < section->low ? body : section->low;
        section->high = body > section->high ? body : section->high;
    }
    section->end_stop = *next;
}

/* Behind the last touch of their bodies, in sections of their own where they are many. */
static void cut_stops(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    int cut = firm->section_count, next = firm->first_stop;
    pl_firm_section *from = firm->sections + firm->section_capacity - cut;
    for (int32_t i = cut - 1, least = INT32_MAX; i >= 0; i--) {
        firm->sections[i].least = least; /* of those behind it */
        least = firm->sections[i].low < least ? firm->sections[i].low : least;
    }
    memmove(from, firm->sections, sizeof *from * (size_t)cut);
    firm->section_count = 0;
    for (int i = 0; i < cut; i++) {
        int32_t limit = from[i].least, end = from[i].end;
        pl_firm_section *section = firm->sections + firm->section_count++;
        *section = from[i];
        take_stops(contact, section, &next, limit);
        while (next < firm->touch_count && body_of_stop(contact, next) < limit) {
            section = add_section(firm);
            section->first = section->end = end;
            take_stops(contact, section, &next, limit);
        }
    }
}

/* Both are in order: of the sections, the last lowest and the first highest bodies from there. */
static void find_neighbours(pl_contact_firm *firm)
{
    pl_firm_section *s = firm->sections;
    int count = firm->section_count;
    for (int32_t i = count - 1, least = INT32_MAX; i >= 0; i--)
        s[i].least = least = s[i].low < least ? s[i].low : least;
    for (int32_t i = 0, most = -1; i < count; i++)
        s[i].most = most = s[i].high > most ? s[i].high : most;
    for (int i = 0; i < count; i++) {
        int low = i + 1, high = count;
        while (low < high) {
            int middle = (low + high) / 2;
            if (s[middle].least > s[i].high)
                high = middle;
            else
                low = middle + 1;
        }
        s[i].reach = low;
        for (low = 0, high = i; low < high;) {
            int middle = (low + high) / 2;
            if (s[middle].most >= s[i].low)
                high = middle;
            else
                low = middle + 1;
        }
        s[i].from = low;
    }
}

void pl_firm_cut(pl_contact *contact)
{
    contact->firm.section_count = 0;
    contact->firm.mixed = false;
    cut_touches(contact);
    cut_stops(contact);
    find_neighbours(&contact->firm);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Whether a stage may be begun. It is wanted when the sweep before has stirred somebody; when that
   is not yet known it does no harm, since everybody would be quiet, unless there are some who never
   are. */
static bool is_wanted(const pl_contact_firm *firm, int stage)
{
    const pl_firm_turns *t = &firm->turns;
    int sure = t->opening + (t->fewest > 1 ? t->fewest : 1);
    if (stage < sure)
        return true;
    return t->stirred[stage - 1] || (!firm->mixed && t->done[stage - 1] < firm->section_count);
}

/* As far as the stage before allows. */
static int end_of_turn(const pl_contact_firm *firm, int stage, int most)
{
    const pl_firm_turns *t = &firm->turns;
    int end = t->done[stage];
    while (end < firm->section_count && end - t->done[stage] < most &&
           (stage == 0 || firm->sections[end].reach <= t->done[stage - 1]))
        end++;
    return end;
}

static void plan_turns(pl_contact_firm *firm, int most)
{
    pl_firm_turns *t = &firm->turns;
    t->count = 0;
    for (int stage = 0; stage < t->opening + t->most && is_wanted(firm, stage); stage++) {
        int begin = t->done[stage], end = end_of_turn(firm, stage, most);
        if (end > begin)
            t->now[t->count++] = (pl_firm_turn){stage, begin, end};
        if (end == 0)
            break;
    }
}

static void take_turns(pl_contact *contact, int begin, int end, int worker)
{
    pl_firm_turns *t = &contact->firm.turns;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const pl_firm_turn *turn = t->now + i;
        bool stirred = false;
        for (int k = turn->begin; k < turn->end; k++)
            stirred |= pl_firm_run_stage(contact, contact->firm.sections + k, turn->stage);
        t->stirred[turn->stage] |= stirred;
    }
}

static int sections_at_once(const pl_contact_firm *firm)
{
    int part = firm->section_count / TURNS;
    if (firm->touch_count < FEW || firm->one_by_one)
        return firm->section_count;
    return part < LEAST_SECTIONS ? LEAST_SECTIONS : part > MOST_SECTIONS ? MOST_SECTIONS : part;
}

void pl_firm_take_turns(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    pl_firm_turns *t = &firm->turns;
    int most = sections_at_once(firm);
    memset(t->done, 0, sizeof t->done);
    memset(t->stirred, 0, sizeof t->stirred);
    for (plan_turns(firm, most); t->count; plan_turns(firm, most)) {
        if (t->count > 1)
            pl_contact_run_stage(contact, firm->tasks, take_turns, t->count, 1);
        else
            take_turns(contact, 0, 1, 0);
        for (int i = 0; i < t->count; i++)
            t->done[t->now[i].stage] = t->now[i].end;
    }
    int sweeps = t->fewest > 1 ? t->fewest : 1;
    while (sweeps < t->most && t->stirred[t->opening + sweeps - 1])
        sweeps++;
    firm->sweeps += sweeps;
}
