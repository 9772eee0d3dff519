/* What the touches of stiff bodies gave in the last sub-step is where the next one begins: weights
   that take many sweeps to get through a stack are there already (warm start: Catto 2005). That is
   state, and in snapshots. Touches are named by the slots of bodies and colliders and by particles,
   so that it does not matter in which order they are entered, or that others come and go; of one
   that is gone, what was kept is forgotten. */
#include "contact/firm_parts.h"

bool pl_kept_reserve(pl_kept_touches *kept, pl_memory *memory, int count)
{
    if (count <= kept->capacity)
        return true;
    int capacity = count + count / 2;
    pl_kept_touch *fresh = PL_NEW(memory, pl_kept_touch, capacity);
    if (!fresh)
        return false;
    if (kept->count)
        memcpy(fresh, kept->list, sizeof *fresh * (size_t)kept->count);
    pl_memory_free(memory, kept->list);
    kept->list = fresh;
    kept->capacity = capacity;
    return true;
}

static pl_kept_touch name_of(const pl_contact *contact, const pl_firm_touch *t)
{
    pl_kept_touch name = {.a = 0};
    const pl_near *near = pl_firm_origin_of(contact, t)->near;
    const pl_contact_body *b = contact->bodies + contact->body_of[t->place_b / PL_CLUMP];
    name.b = b->slot;
    name.b_particle = (uint32_t)b->clumps->particle[t->place_b - b->first_clump * PL_CLUMP];
    if (near) {
        name.a = contact->against.colliders[near->collider].slot;
        name.a_particle = UINT32_MAX;
    } else {
        const pl_contact_body *a = contact->bodies + contact->body_of[t->place_a / PL_CLUMP];
        name.a = a->slot;
        name.a_particle = (uint32_t)a->clumps->particle[t->place_a - a->first_clump * PL_CLUMP];
    }
    return name;
}

static bool is_same(const pl_kept_touch *x, const pl_kept_touch *y)
{
    return x->a == y->a && x->b == y->b && x->a_particle == y->a_particle &&
           x->b_particle == y->b_particle;
}

/* Where its chain begins: by one of its particles. Those of a body lie side by side, as its touches
   follow each other. */
static int32_t *chain_of(const pl_contact_firm *firm, const pl_kept_touch *t)
{
    bool stop = t->a_particle == UINT32_MAX;
    uint32_t body = stop ? t->b : t->a, particle = stop ? t->b_particle : t->a_particle;
    uint32_t begin = (uint32_t)((body * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    return firm->table + ((begin + particle) & ((uint32_t)firm->table_size - 1));
}

/* As far as the table has room: the rest begins anew. */
void pl_firm_list_kept(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    if (!firm->kept || !firm->kept->count)
        return;
    memset(firm->table, 0xff, sizeof *firm->table * (size_t)firm->table_size);
    for (int i = 0; i < firm->kept->count && 2 * i < firm->table_size; i++) {
        int32_t *first = chain_of(firm, firm->kept->list + i);
        firm->chain[i] = *first;
        *first = i;
    }
}

const pl_kept_touch *pl_firm_recall(const pl_contact *contact, const pl_firm_touch *t)
{
    const pl_contact_firm *firm = &contact->firm;
    if (!firm->kept || !firm->kept->count || t->deep)
        return NULL;
    pl_kept_touch name = name_of(contact, t);
    int32_t at = *chain_of(firm, &name);
    while (at >= 0 && !is_same(firm->kept->list + at, &name))
        at = firm->chain[at];
    return at >= 0 ? firm->kept->list + at : NULL;
}

void pl_firm_begin_keeping(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    if (!firm->kept)
        return;
    firm->kept->count = 0;
    if (firm->touch_count > firm->kept->capacity)
        pl_kept_reserve(firm->kept, contact->memory, firm->touch_capacity);
}

/* In the place of the touch. As far as there is room: without it the next sub-step begins anew. */
void pl_firm_keep(pl_contact *contact, int number)
{
    const pl_kept_touches *kept = contact->firm.kept;
    const pl_firm_touch *t = contact->firm.touches + number;
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    if (!kept || number >= kept->capacity)
        return;
    pl_kept_touch *k = kept->list + number;
    k->pushed = 0;
    if (!(rows->by > 0 && rows->by < 1e30f))
        return;
    *k = name_of(contact, t);
    pl_quad rubbed = pl_quad_three(rows[1].n) * rows[1].by + pl_quad_three(rows[2].n) * rows[2].by;
    k->pushed = rows->by;
    memcpy(k->rubbed, &rubbed, sizeof k->rubbed);
}

void pl_firm_end_keeping(pl_contact *contact)
{
    pl_kept_touches *kept = contact->firm.kept;
    for (int i = 0; kept && i < contact->firm.touch_count && i < kept->capacity; i++)
        if (kept->list[i].pushed > 0)
            kept->list[kept->count++] = kept->list[i];
}
