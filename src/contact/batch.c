/* Touches in batches of sixteen that share no particle. A touch goes into the first batch with room
   behind those in which its particles were last moved: whatever depends on each other keeps its
   order, and a sweep over the batches is one over the touches, to the last bit.

   Where nothing but touches between particles is to be resolved, the first sweep follows the search
   at its heels: whenever worker 0 has searched a block, it plans batches as far as all touches
   before are known and sweeps those that are full, while others search on. It is always the same
   worker because lines of the caches that two cores write would take back what is gained. */
#include "contact/batch.h"

#include <string.h>

#include "contact/share.h"

/* False when there are too many. */
static inline bool add_to_batch(pl_contact *contact, pl_touch *t)
{
    pl_plan *plan = &contact->plan;
    int32_t *last = contact->last, a = last[t->a], b = last[t->b];
    int at = (a > b ? a : b) - contact->stamp;
    at = at > plan->open ? at : plan->open;
    uint8_t *full = contact->batch_full;
    while (at < contact->batch_count && full[at] == PL_BATCH)
        at++;
    if (at == contact->batch_count) {
        if (at == contact->batch_capacity)
            return false;
        full[contact->batch_count++] = 0;
    }
    contact->order[at * PL_BATCH + full[at]++] = t;
    while (plan->open < contact->batch_count && full[plan->open] == PL_BATCH)
        plan->open++;
    last[t->a] = last[t->b] = contact->stamp + at + 1;
    return true;
}

/* From now on no particle was moved by any batch. */
static void begin_batches(pl_contact *contact)
{
    if (contact->stamp > INT32_MAX - contact->batch_count - contact->batch_capacity - 1) {
        memset(contact->last, 0,
               sizeof *contact->last * (size_t)contact->clump_capacity * PL_CLUMP);
        contact->stamp = 0;
    }
    contact->stamp += contact->batch_count;
    contact->batch_count = 0;
    double part = PL_RECOVERY_RATE * contact->h;
    contact->far = 2 * (float)(part < 1 ? part : 1);
    contact->plan.open = contact->plan.swept = 0;
    contact->plan.beyond = (pl_touch_place){contact->block_count, 0};
}

static bool fits(const pl_contact *contact)
{
    return contact->plan.beyond.block == contact->block_count;
}

/* Of one block: all touches, or again those of marked bodies. When there is no room for more, all
   that belong to it are marked all the same. */
static void plan_block(pl_contact *contact, int block, bool again)
{
    const pl_segment *s = contact->touch_segments + block;
    pl_touch *touches = contact->buffers[s->worker].touches + s->first;
    const uint8_t *marked = contact->marked;
    bool some_firm = contact->firm.whole_count > 1;
    if (!again && pl_contact_all_are_firm(contact, block))
        return;
    for (int i = 0; i < s->count; i++) {
        pl_touch *t = touches + i;
        if (again && !(marked[t->a / PL_CLUMP] | marked[t->b / PL_CLUMP]))
            continue;
        if (again)
            t->swept |= PL_AGAIN;
        if (fits(contact) && !(some_firm && pl_contact_is_firm(contact, t)) &&
            !add_to_batch(contact, t))
            contact->plan.beyond = (pl_touch_place){block, i};
    }
}

bool pl_contact_plan_batches(pl_contact *contact, bool again)
{
    if (!again && contact->plan.early)
        return fits(contact);
    begin_batches(contact);
    for (int block = 0; block < contact->block_count; block++)
        plan_block(contact, block, again);
    return fits(contact);
}

/* What the sweeps have done, back to the touches. */
void pl_contact_empty_batches(pl_contact *contact)
{
    for (int i = 0; i < contact->batch_count; i++) {
        const pl_batch *batch = contact->batches + i;
        for (int k = 0; k < contact->batch_full[i]; k++) {
            pl_touch *t = contact->order[i * PL_BATCH + k];
            uint32_t acted = batch->acted[k] & 1;
            t->pushed = batch->pushed[k];
            t->rubbed = batch->rubbed[k];
            pl_contact_note_touched(contact, t->a, acted);
            pl_contact_note_touched(contact, t->b, acted);
        }
    }
}

/* ---- While touches are looked for ------------------------------------------------------------ */

void pl_contact_begin_search(pl_contact *contact)
{
    pl_plan *plan = &contact->plan;
    plan->some_firm = pl_contact_some_are_firm(contact);
    plan->early = !contact->joints.count && !plan->some_firm;
    atomic_store(&plan->searched, 0);
    atomic_store(&plan->next, plan->early ? 0 : contact->block_count);
    for (int block = 0; block < contact->block_count; block++)
        atomic_store_explicit(plan->found + block, false, memory_order_relaxed);
    contact->firm.whole_count = 0;
    if (plan->early)
        begin_batches(contact);
}

int pl_contact_next_search(pl_contact *contact)
{
    return atomic_fetch_add(&contact->plan.searched, 1);
}

static bool is_next_found(const pl_contact *contact)
{
    int next = atomic_load(&contact->plan.next);
    return next < contact->block_count && atomic_load(contact->plan.found + next);
}

/* Nobody waits: who is busy looks once more when that is over. (The caller comes here as well, and
   need not be worker 0 where tasks are the host's.) */
void pl_contact_go_on(pl_contact *contact)
{
    pl_plan *plan = &contact->plan;
    while (is_next_found(contact) && !atomic_exchange(&plan->busy, true)) {
        for (; is_next_found(contact); atomic_fetch_add(&plan->next, 1))
            plan_block(contact, atomic_load(&plan->next), false);
        pl_contact_sweep(contact, plan->swept, plan->open, true);
        plan->swept = plan->open;
        atomic_store(&plan->busy, false);
    }
}

void pl_contact_end_search(pl_contact *contact, int block, int worker)
{
    atomic_store(contact->plan.found + block, true);
    if (worker == 0)
        pl_contact_go_on(contact);
}

void pl_contact_move_touches(pl_contact *contact, pl_touch *from, int count, pl_touch *to)
{
    for (int i = 0; contact->plan.early && i < contact->batch_count; i++)
        for (int k = 0; k < contact->batch_full[i]; k++) {
            pl_touch **t = contact->order + i * PL_BATCH + k;
            if (*t >= from && *t < from + count)
                *t = to + (*t - from);
        }
}
