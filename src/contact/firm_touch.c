/* The touches of stiff bodies: what each side gets of an impulse along and across the normal (firm.c has the formulas), once per sub-step. */
#include <math.h>

#include "contact/firm_parts.h"

/* ---- Both sides of a touch ----------------------------------------------------------------------------- */

typedef struct side {
    const pl_whole *whole;
    int32_t place;
    pl_quad r, grip; /* from the centre of the whole: where it is pushed, and where it is rubbed */
    float yield, mass, kappa;
} side;

static pl_quad place_of(const pl_contact *contact, int32_t place)
{
    return pl_quad_of(contact->primitives[place].x);
}

static side side_of(const pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    side s = {.whole = contact->firm.wholes + body->whole, .place = place};
    s.yield = contact->primitives[place].yield;
    s.mass = contact->mass[place];
    if (body->whole) {
        int32_t i = body->clumps->particle[place - body->first_clump * PL_CLUMP];
        s.r = s.grip = place_of(contact, place) - s.whole->centre;
        s.kappa = (float)fmax(body->diagonal[i] / body->mass[i] - 1, 0);
    }
    return s;
}

/* A collider that does not give way. */
static side side_of_nobody(const pl_contact *contact)
{
    return (side){.whole = contact->firm.wholes, .place = pl_firm_nobody(contact)};
}

/* What it gets of an impulse along n, a unit vector, at r. Returns how far it yields there. */
static float respond(const side *s, pl_quad r, pl_quad n, float lever[3], float *spin, float *give)
{
    const pl_whole *whole = s->whole;
    if (!(whole->yield > 0)) {
        memset(lever, 0, 3 * sizeof *lever);
        *spin = 0;
        return *give = s->yield;
    }
    pl_quad l = pl_quad_cross(r, n);
    l = whole->columns[0] * l[0] + whole->columns[1] * l[1] + whole->columns[2] * l[2];
    memcpy(lever, &l, 3 * sizeof *lever);
    float w = whole->yield + pl_quad_sum(l * l), q = 1 - s->mass * w;
    q = q > 0 ? q : 0;
    float stays = q / (s->kappa + q + 1e-30f);
    *spin = 1 - stays;
    *give = stays * s->yield;
    return w * *spin + *give;
}

static pl_firm_row row_of(const side *a, const side *b, pl_quad from, pl_quad to, pl_quad n,
                          float missing)
{
    pl_firm_row row = {.n = {n[0], n[1], n[2]}, .missing = missing};
    float yield = respond(a, from, n, row.lever_a, &row.spin_a, &row.give_a) +
                  respond(b, to, n, row.lever_b, &row.spin_b, &row.give_b);
    row.per = yield > 0 ? 1 / yield : 0;
    return row;
}

/* Two directions across a unit vector. */
static void across(pl_quad n, pl_quad out[2])
{
    float x = fabsf(n[0]), y = fabsf(n[1]), z = fabsf(n[2]);
    pl_quad least = x <= y && x <= z ? (pl_quad){1, 0, 0, 0}
                    : y <= z         ? (pl_quad){0, 1, 0, 0}
                                     : (pl_quad){0, 0, 1, 0};
    pl_quad t = pl_quad_cross(n, least);
    float square = pl_quad_sum(t * t);
    out[0] = square > 0 ? t * (1 / sqrtf(square)) : least;
    out[1] = pl_quad_cross(n, out[0]);
}

/* ---- Touches ------------------------------------------------------------------------------------------- */

static void free_touches(pl_memory *memory, const pl_contact_firm *firm)
{
    pl_memory_free(memory, firm->touches);
    pl_memory_free(memory, firm->rows);
    pl_memory_free(memory, firm->origins);
    pl_memory_free(memory, firm->table);
    pl_memory_free(memory, firm->chain);
    pl_memory_free(memory, firm->sections);
}

bool pl_firm_make_room(pl_contact *contact, int count)
{
    pl_contact_firm *firm = &contact->firm;
    if (count <= firm->touch_capacity)
        return true;
    int capacity = count + count / 2 + 16, size = 32;
    size_t had = (size_t)firm->touch_count;
    while (size < 2 * capacity)
        size *= 2;
    pl_contact_firm fresh = *firm;
    fresh.touches = PL_NEW(contact->memory, pl_firm_touch, capacity);
    fresh.rows = PL_NEW(contact->memory, pl_firm_row, (size_t)PL_FIRM_ROWS * (size_t)capacity);
    fresh.origins = PL_NEW(contact->memory, pl_firm_origin, capacity);
    fresh.table = PL_NEW(contact->memory, int32_t, size);
    fresh.chain = PL_NEW(contact->memory, int32_t, size / 2);
    fresh.section_capacity = pl_firm_section_room(capacity);
    fresh.sections = PL_NEW(contact->memory, pl_firm_section, fresh.section_capacity);
    fresh.touch_capacity = capacity;
    fresh.table_size = size;
    bool good = fresh.touches && fresh.rows && fresh.origins && fresh.table && fresh.chain &&
                fresh.sections;
    if (good && had) {
        memcpy(fresh.touches, firm->touches, sizeof *fresh.touches * had);
        memcpy(fresh.rows, firm->rows, sizeof *fresh.rows * PL_FIRM_ROWS * had);
        memcpy(fresh.origins, firm->origins, sizeof *fresh.origins * had);
    }
    free_touches(contact->memory, good ? firm : &fresh);
    if (!good)
        return false;
    *firm = fresh;
    pl_firm_list_kept(contact);
    return true;
}

/* One that touches itself does it with particles: as a whole it cannot. */
bool pl_contact_is_firm(const pl_contact *contact, const pl_touch *t)
{
    if (contact->firm.whole_count < 2)
        return false;
    int32_t a = contact->body_of[t->a / PL_CLUMP], b = contact->body_of[t->b / PL_CLUMP];
    return a != b && (contact->bodies[a].whole || contact->bodies[b].whole);
}

/* All touches found in a block of clumps. */
bool pl_contact_all_are_firm(const pl_contact *contact, int block)
{
    return contact->firm.whole_count > 1 &&
           contact->firm.blocks[block].count == contact->touch_segments[block].count;
}

/* From the centre of a particle to the point of its surface whose normal is n. */
static pl_quad surface_arm(const pl_contact *contact, int32_t place, pl_quad n)
{
    const float *b = contact->primitives[place].shape;
    pl_quad bn = (pl_quad){b[0], b[1], b[2], 0} * n[0] + (pl_quad){b[1], b[3], b[4], 0} * n[1] +
                 (pl_quad){b[2], b[4], b[5], 0} * n[2];
    float square = pl_quad_sum(n * bn);
    return square > 0 ? bn * (1 / sqrtf(square)) : (pl_quad){0};
}

/* The square of the sine from which on n is not the line of centres. */
#define ASKEW 1e-4f

/* Both are rubbed in the middle between their surfaces. */
static void find_grip(const pl_contact *contact, side *a, side *b, pl_quad normal)
{
    const double *from = contact->bodies[contact->body_of[a->place / PL_CLUMP]].base;
    const double *to = contact->bodies[contact->body_of[b->place / PL_CLUMP]].base;
    pl_quad base = {(float)(to[0] - from[0]), (float)(to[1] - from[1]), (float)(to[2] - from[2]),
                    0};
    pl_quad at = place_of(contact, a->place) + surface_arm(contact, a->place, normal);
    pl_quad other = place_of(contact, b->place) - surface_arm(contact, b->place, normal);
    pl_quad middle = (at + (other + base)) * 0.5f;
    a->grip = middle - a->whole->centre;
    b->grip = middle - base - b->whole->centre;
}

static bool is_whole(const side *s)
{
    return s->whole->yield > 0;
}

/* What is fixed does not begin to turn, whatever is done to it. */
static bool is_fixed(const pl_contact *contact, const side *s)
{
    return !is_whole(s) && !(contact->primitives[s->place].yield > 0);
}

/* Who moves by particles is pushed and rubbed at the centre of one: the other there as well, or together they would begin to turn. Pairs deep in each other are parted along a line that is not that of
   their centres: then both are pushed in the middle between these. */
static void find_common(const pl_contact *contact, side *a, side *b, pl_quad n)
{
    const double *from = contact->bodies[contact->body_of[a->place / PL_CLUMP]].base;
    const double *to = contact->bodies[contact->body_of[b->place / PL_CLUMP]].base;
    pl_quad base = {(float)(to[0] - from[0]), (float)(to[1] - from[1]), (float)(to[2] - from[2]),
                    0};
    pl_quad at = place_of(contact, a->place), other = place_of(contact, b->place) + base;
    pl_quad across = pl_quad_cross(other - at, n);
    bool mixed = !is_whole(a) || !is_whole(b);
    if (is_fixed(contact, a) || is_fixed(contact, b))
        return;
    pl_quad common = mixed ? (a->whole->yield > 0 ? other : at) : (at + other) * 0.5f;
    if (mixed || pl_quad_sum(across * across) > ASKEW * pl_quad_sum((other - at) * (other - at))) {
        a->r = common - a->whole->centre;
        b->r = common - base - b->whole->centre;
    }
    if (mixed) {
        a->grip = a->r;
        b->grip = b->r;
    }
}

/* What is the same for touches and stops. */
typedef struct meeting {
    pl_quad n, normal, slide;
    float depth;
} meeting;

static void fill(pl_contact *contact, pl_firm_touch *t, const side *a, const side *b,
                 const meeting *m, const pl_firm_touch *like, const pl_firm_origin *origin)
{
    pl_firm_row *rows = pl_firm_rows_of(contact, t);
    *t = *like;
    *pl_firm_origin_of(contact, t) = *origin;
    t->a = (int32_t)(a->whole - contact->firm.wholes);
    t->b = (int32_t)(b->whole - contact->firm.wholes);
    t->place_a = a->place;
    t->place_b = b->place;
    rows[0] = row_of(a, b, a->r, b->r, m->n, m->depth);
    rows[1] = rows[2] = (pl_firm_row){.by = 0};
    if (t->friction > 0) {
        pl_quad side_ways[2];
        across(m->normal, side_ways);
        for (int k = 0; k < 2; k++)
            rows[1 + k] =
                row_of(a, b, a->grip, b->grip, side_ways[k], -pl_quad_sum(m->slide * side_ways[k]));
    }
    pl_firm_recall(contact, t);
}

static void fill_touch(pl_contact *contact, pl_firm_touch *t, pl_touch *touch)
{
    side a = side_of(contact, touch->a), b = side_of(contact, touch->b);
    meeting m = {pl_quad_of(touch->n), pl_quad_of(touch->normal), pl_quad_of(touch->slide),
                 touch->depth};
    if (touch->friction > 0)
        find_grip(contact, &a, &b, m.normal);
    find_common(contact, &a, &b, m.n);
    const pl_firm_touch like = {
        .friction = touch->friction, .recover = touch->recover, .kick = touch->kick};
    const pl_firm_origin origin = {.touch = touch};
    fill(contact, t, &a, &b, &m, &like, &origin);
    touch->kick = 0; /* it is answered here */
}

static void count_touches(pl_contact *contact, int begin, int end, int worker)
{
    (void)worker;
    for (int number = begin; number < end; number++) {
        const pl_segment *s = contact->touch_segments + number;
        const pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        pl_firm_block block = {.low = INT32_MAX, .high = -1};
        for (int i = 0; i < s->count; i++) {
            if (!pl_contact_is_firm(contact, touches + i))
                continue;
            int32_t a = contact->body_of[touches[i].a / PL_CLUMP];
            int32_t b = contact->body_of[touches[i].b / PL_CLUMP];
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            block.low = low < block.low ? low : block.low;
            block.high = high > block.high ? high : block.high;
            block.mixed |= !contact->bodies[a].whole || !contact->bodies[b].whole;
            block.count++;
        }
        contact->firm.blocks[number] = block;
    }
}

/* What the next ones need is asked for ahead: bodies are not neighbours in memory because they touch. */
enum { AHEAD = 6 };

static void fill_touches(pl_contact *contact, int begin, int end, int worker)
{
    (void)worker;
    for (int number = begin; number < end; number++) {
        const pl_segment *s = contact->touch_segments + number;
        const pl_firm_block *block = contact->firm.blocks + number;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        pl_firm_touch *t = contact->firm.touches + block->first;
        const pl_firm_touch *behind = t + block->count;
        for (int i = 0; i < s->count && t < behind; i++) {
            if (i + AHEAD < s->count)
                __builtin_prefetch(contact->primitives + touches[i + AHEAD].b);
            if (block->count == s->count || pl_contact_is_firm(contact, touches + i))
                fill_touch(contact, t++, touches + i);
        }
    }
}

enum { BLOCKS_PER_TASK = 4 };

/* In the order of touches. Those for which there is no room are lost. */
static void add_touches(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    int count = 0;
    pl_contact_run_stage(contact, firm->tasks, count_touches, contact->block_count,
                         BLOCKS_PER_TASK);
    for (int i = 0; i < contact->block_count; i++)
        count += firm->blocks[i].count;
    int room = pl_firm_make_room(contact, count) ? count : firm->touch_capacity;
    for (int i = 0; i < contact->block_count; i++) {
        pl_firm_block *block = firm->blocks + i;
        int left = room - firm->touch_count;
        contact->lost += (uint64_t)(block->count > left ? block->count - left : 0);
        block->count = block->count < left ? block->count : left;
        block->first = firm->touch_count;
        firm->touch_count += block->count;
    }
    pl_contact_run_stage(contact, firm->tasks, fill_touches, contact->block_count, BLOCKS_PER_TASK);
}

static pl_quad from_doubles(const double v[3])
{
    return (pl_quad){(float)v[0], (float)v[1], (float)v[2], 0};
}

/* Pushed and rubbed where it touches. */
static void add_stop(pl_contact *contact, pl_near *near, int place, const pl_shove *stop)
{
    if (!pl_firm_make_room(contact, contact->firm.touch_count + 1)) {
        contact->lost++;
        return;
    }
    pl_firm_touch *t = contact->firm.touches + contact->firm.touch_count++;
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    side a = side_of_nobody(contact), b = side_of(contact, near->clump * PL_CLUMP + place);
    meeting m = {from_doubles(stop->n), from_doubles(stop->n), from_doubles(stop->slide),
                 (float)stop->depth};
    pl_firm_origin origin = {.near = near};
    for (int k = 0; k < 3; k++)
        origin.point[k] = stop->arm[k] + c->to.position[k] - body->base[k];
    b.r = b.grip = from_doubles(origin.point) - b.whole->centre;
    const pl_firm_touch like = {.friction = (float)stop->friction,
                                .recover = (float)stop->recover,
                                .kick = (float)stop->kick};
    fill(contact, t, &a, &b, &m, &like, &origin);
}

/* Those of a clump that may be below a plane, by their spheres. */
static uint32_t near_plane(const pl_contact *contact, const pl_near *near)
{
    const pl_contact_collider *c = contact->against.colliders + near->collider;
    const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
    const pl_clump_places *at = contact->places + near->clump;
    const float *radius = contact->radius + (size_t)near->clump * PL_CLUMP;
    double height = 0;
    uint32_t bits = 0;
    float n[3];
    for (int k = 0; k < 3; k++) {
        height += c->turn_to[k][1] * (body->base[k] - c->to.position[k]);
        n[k] = (float)c->turn_to[k][1];
    }
    for (int k = 0; k < PL_CLUMP; k++)
        bits |= (uint32_t)((float)height + (n[0] * at->x[k] + n[1] * at->y[k] + n[2] * at->z[k]) <
                           1.01f * radius[k])
                << k;
    return bits & contact->used[near->clump];
}

/* Colliders that do not give way, which have the last word later: whatever is left for it then strains springs. */
static void add_stops(pl_contact *contact)
{
    pl_contact_colliders *all = &contact->against;
    for (int i = 0; i < all->near_count; i++) {
        pl_near *near = all->near + i;
        const pl_contact_body *body = contact->bodies + contact->body_of[near->clump];
        const pl_contact_collider *c = all->colliders + near->collider;
        if (near->shoves >= 0 || !body->whole || body->asleep || pl_contact_is_deep(c, body))
            continue;
        uint32_t used =
            c->kind == PL_COLLIDER_PLANE ? near_plane(contact, near) : contact->used[near->clump];
        for (; used; used &= used - 1) {
            int place = __builtin_ctz(used);
            pl_shove stop;
            if (pl_contact_find_shove(contact, near, near->clump * PL_CLUMP + place, &stop))
                add_stop(contact, near, place, &stop);
        }
    }
}

void pl_firm_find_touches(pl_contact *contact)
{
    pl_firm_list_kept(contact);
    add_touches(contact);
    contact->firm.first_stop = contact->firm.touch_count;
    add_stops(contact);
    pl_firm_cut(contact);
}
