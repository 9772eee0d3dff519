/* Bodies so stiff that a blow is felt by all of them within a sub-step. Particles that contact
   pushes back one by one after the solve would strain their springs by ½ κ m δ²/h² each, κ = L_ii
   h²/m − 1 (METHODS §1), and from κ = 1 on that is more than the blow brought along. What is right
   is the least of the step's own energy that keeps everybody apart, and two ways to get there are
   enough to find it nearly:

       d_j = V + ω × r_j        all of the body, which strains nothing,
             + l_i  (j = i)     and the particle that was pushed, against its springs.

   An impulse p (times h) at particle i is then shared so that ½ m |d|²/h² + ½ κ m l²/h² is least:
   with w = 1/M + (r × n)ᵀ I⁻¹ (r × n), what the body yields there, and q = 1 − m w,

       s = q / (κ + q) of it stays with the particle,   l = s p / m,   and 1 − s moves the body,

   so that the particle yields w (1 − s) + s/m to it: that of a free particle at κ = 0, of a rigid
   body for large κ. Touches of such bodies, with others and with colliders, are gone through again
   and again, and may take back of what they gave (sequential impulses: Catto 2005): whoever holds a
   body up together shares its weight. They begin with what they gave in the last sub-step. Momentum
   is exact whatever the shares are.

   A body of one particle is as rigid as can be, κ = ∞, whatever its material: all of an impulse
   moves and turns it, with the particle's own inertia, by which it rolls.

   Here: which bodies those are, and what comes of it in the end. firm_touch.c: their touches;
   firm_fill_lanes.c: what these are made of; firm_sweep.c: going through them; firm_turns.c:
   several sweeps at once; firm_bounce.c: bounces; firm_keep.c: what is kept for the next sub-step;
   stand_off.c: what colliders have to say in the end. */
#include <math.h>

#include "contact/firm_parts.h"
#include "contact/share.h"
#include "math/elementary.h"
#include "math/mat3.h"

/* ---- Bodies ---------------------------------------------------------------------------------- */

typedef struct moments {
    double mass, x[3], xx[6]; /* Σ m, Σ m x, Σ m x xᵀ: xx, xy, xz, yy, yz, zz */
} moments;

/* Sums over sixteen, four at a time. */
static void add_clump(const pl_clump_places *at, const float *mass, moments *sum)
{
    pl_quad total[10] = {{0}};
    for (int k = 0; k < PL_CLUMP; k += 4) {
        pl_quad m = pl_quad_load(mass + k), x = pl_quad_load(at->x + k),
                y = pl_quad_load(at->y + k), z = pl_quad_load(at->z + k);
        pl_quad mx = m * x, my = m * y, mz = m * z;
        pl_quad more[10] = {m, mx, my, mz, mx * x, mx * y, mx * z, my * y, my * z, mz * z};
        for (int i = 0; i < 10; i++)
            total[i] += more[i];
    }
    double *out = &sum->mass;
    for (int i = 0; i < 10; i++)
        out[i] += (double)((total[i][0] + total[i][1]) + (total[i][2] + total[i][3]));
}

/* C = L⁻¹ of I = L Lᵀ. False when that is not to be had. */
static bool ease_of(const double i[6], pl_quad columns[3])
{
    double a = sqrt(i[0]), b = i[1] / a, c = i[2] / a;
    double d = sqrt(i[3] - b * b), e = (i[4] - b * c) / d, f = sqrt(i[5] - c * c - e * e);
    double x = 1 / a, y = 1 / d, z = 1 / f, m = -b * x * y;
    double low[3] = {x, m, -(c * x + e * m) * z};
    columns[0] = (pl_quad){(float)low[0], (float)low[1], (float)low[2], 0};
    columns[1] = (pl_quad){0, (float)y, (float)(-e * y * z), 0};
    columns[2] = (pl_quad){0, 0, (float)z, 0};
    return isfinite(pl_quad_sum(columns[0]) + pl_quad_sum(columns[1]) + pl_quad_sum(columns[2]));
}

/* A ball where nobody looks: then it touches nobody. */
static bool weigh_lone(const pl_contact *contact, const pl_contact_body *body, pl_whole *whole)
{
    int clump = body->first_clump, at = clump * PL_CLUMP;
    const pl_clump_places *x = contact->places + clump;
    double inertia[6] = {body->round, 0, 0, body->round, 0, body->round};
    if (contact->wanted[clump])
        pl_contact_own_inertia(contact->primitives + at, (double)contact->mass[at], inertia);
    whole->yield = contact->primitives[at].yield;
    whole->centre = (pl_quad){x->x[0], x->y[0], x->z[0], 0};
    return ease_of(inertia, whole->columns) && isfinite(whole->yield);
}

static bool weigh(const pl_contact *contact, const pl_contact_body *body, pl_whole *whole)
{
    moments sum = {0};
    double inertia[6], c[3], *s = sum.xx;
    if (body->lone)
        return weigh_lone(contact, body, whole);
    for (int k = body->first_clump; k < body->first_clump + body->clumps->count; k++)
        add_clump(contact->places + k, contact->mass + (size_t)k * PL_CLUMP, &sum);
    for (int k = 0; k < 3; k++)
        c[k] = sum.x[k] / sum.mass;
    double xx = s[0] - sum.x[0] * c[0], yy = s[3] - sum.x[1] * c[1], zz = s[5] - sum.x[2] * c[2];
    inertia[0] = yy + zz + body->round;
    inertia[1] = sum.x[0] * c[1] - s[1];
    inertia[2] = sum.x[0] * c[2] - s[2];
    inertia[3] = xx + zz + body->round;
    inertia[4] = sum.x[1] * c[2] - s[4];
    inertia[5] = xx + yy + body->round;
    whole->yield = (float)(1 / sum.mass);
    whole->centre = (pl_quad){(float)c[0], (float)c[1], (float)c[2], 0};
    return ease_of(inertia, whole->columns) && isfinite(whole->yield);
}

enum { JOINED = -1 };

/* What hangs on something else is moved by particles. */
static void leave_joined(pl_contact *contact)
{
    for (int i = 0; i < contact->joints.count; i++) {
        const pl_joint *joint = contact->joints.joints + i;
        const pl_joint_end *ends[2] = {&joint->a, &joint->b};
        for (int e = 0; e < 2; e++)
            for (int j = 0; j < ends[e]->count; j++)
                contact->bodies[contact->body_of[ends[e]->place[j] / PL_CLUMP]].whole = JOINED;
    }
}

static bool find_whole(pl_contact *contact, int number)
{
    pl_contact_body *body = contact->bodies + number;
    pl_whole *whole = contact->firm.wholes + number + 1;
    bool joined = body->whole == JOINED;
    body->whole = 0;
    body->slack = 0;
    contact->firm.busy[number + 1] = 0;
    contact->firm.stirred[number + 1] = 0;
    if (!(body->firm >= PL_FIRM) || joined)
        return false;
    *whole = (pl_whole){.body = number};
    if (!weigh(contact, body, whole))
        return false;
    body->whole = number + 1;
    for (int k = 0; k < 3; k++)
        body->centre[k] = body->base[k] + (double)whole->centre[k];
    body->slack = (float)PL_SLOP;
    return true;
}

static void find_wholes(pl_contact *contact, int begin, int end, int worker)
{
    for (int b = begin; b < end; b++) {
        contact->buffers[worker].firm |= find_whole(contact, b);
        pl_contact_find_sunk(contact, b);
    }
}

bool pl_contact_some_are_firm(const pl_contact *contact)
{
    for (int b = 0; b < contact->body_count; b++)
        if (contact->bodies[b].firm >= PL_FIRM)
            return true;
    return false;
}

enum { BODIES_PER_TASK = 32 };

void pl_contact_find_firm(pl_contact *contact, pl_tasks *tasks)
{
    pl_contact_firm *firm = &contact->firm;
    bool any = false;
    firm->tasks = tasks;
    firm->touch_count = firm->whole_count = firm->first_stop = 0;
    if (!contact->body_count)
        return;
    bool some = contact->plan.some_firm;
    bool loose = !some && !contact->joints.count && !contact->against.shapes;
    if (loose && firm->loose)
        return;
    firm->loose = loose;
    firm->wholes[0] = (pl_whole){.body = -1};
    leave_joined(contact);
    for (int w = 0; w < contact->worker_count; w++)
        contact->buffers[w].firm = false;
    pl_contact_run_stage(contact, some ? tasks : NULL, find_wholes, contact->body_count,
                         BODIES_PER_TASK);
    for (int w = 0; w < contact->worker_count; w++)
        any |= contact->buffers[w].firm;
    if (!any)
        return;
    firm->whole_count = contact->body_count + 1;
    pl_firm_find_touches(contact);
}

/* ---- What came of it ------------------------------------------------------------------------- */

static void store(pl_quad v, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)v[k];
}

void pl_firm_unfold(const pl_whole *whole, pl_quad spun, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)pl_quad_sum(whole->columns[k] * spun);
}

void pl_firm_ease(const pl_whole *whole, const double v[3], double out[3])
{
    const pl_quad *c = whole->columns;
    pl_firm_unfold(whole, c[0] * (float)v[0] + c[1] * (float)v[1] + c[2] * (float)v[2], out);
}

/* What the sweeps have added up is right to a few roundings; momentum should be to one: summed
   again from the impulses. */
static void add_to_a(const pl_firm_touch *t, const pl_firm_origin *origin, const pl_firm_row *rows,
                     pl_whole *a)
{
    for (int r = 0; r < PL_FIRM_ROWS; r++)
        for (int k = 0; k < 3; k++)
            a->moved[k] -= (double)rows[r].by * (double)rows[r].spin_a * (double)rows[r].n[k];
    for (int k = 0; k < 3; k++)
        a->kicked[k] -= (double)t->bounced * (double)rows->n[k] * (double)rows->spin_a;
    for (int r = 1; origin->slows && r < PL_FIRM_ROWS; r++)
        for (int k = 0; k < 3; k++)
            a->kicked[k] -=
                (double)origin->slowed[r - 1] * (double)rows[r].spin_a * (double)rows[r].n[k];
}

static void add_to_b(const pl_firm_touch *t, const pl_firm_origin *origin, const pl_firm_row *rows,
                     pl_whole *b)
{
    for (int r = 0; r < PL_FIRM_ROWS; r++)
        for (int k = 0; k < 3; k++)
            b->moved[k] += (double)rows[r].by * (double)rows[r].spin_b * (double)rows[r].n[k];
    for (int k = 0; k < 3; k++)
        b->kicked[k] += (double)t->bounced * (double)rows->n[k] * (double)rows->spin_b;
    for (int r = 1; origin->slows && r < PL_FIRM_ROWS; r++)
        for (int k = 0; k < 3; k++)
            b->kicked[k] +=
                (double)origin->slowed[r - 1] * (double)rows[r].spin_b * (double)rows[r].n[k];
}

static void sum_up(pl_whole *whole)
{
    for (int k = 0; k < 3; k++) {
        whole->moved[k] *= (double)whole->yield;
        whole->kicked[k] *= (double)whole->yield;
    }
    pl_firm_unfold(whole, whole->kick.spun, whole->spun);
    pl_firm_unfold(whole, whole->by.spun, whole->turned);
    store(whole->still.moved, whole->shifted);
    pl_firm_unfold(whole, whole->still.spun, whole->tilted);
}

/* exp([θ]) − 1, column by column. */
static void turn_of(const double theta[3], pl_quad columns[3])
{
    double angle = sqrt(theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]);
    double scale = angle > 0 ? 1 / angle : 0, sine = pl_sin(angle), half = pl_sin(0.5 * angle);
    double x = scale * theta[0], y = scale * theta[1], z = scale * theta[2], c = 2 * half * half;
    columns[0] = (pl_quad){(float)(c * (x * x - 1)), (float)(c * x * y + sine * z),
                           (float)(c * x * z - sine * y), 0};
    columns[1] = (pl_quad){(float)(c * x * y - sine * z), (float)(c * (y * y - 1)),
                           (float)(c * y * z + sine * x), 0};
    columns[2] = (pl_quad){(float)(c * x * z + sine * y), (float)(c * y * z - sine * x),
                           (float)(c * (z * z - 1)), 0};
}

pl_firm_lead pl_firm_lead_of(const double by[3], const double turned[3])
{
    pl_firm_lead l = {.by = {(float)by[0], (float)by[1], (float)by[2], 0}};
    for (int k = 0; k < 3; k++)
        l.any |= by[k] != 0 || turned[k] != 0;
    if (l.any)
        turn_of(turned, l.turn);
    return l;
}

static pl_quad way_at(const pl_contact *contact, int clump, int k)
{
    const pl_clump_places *way = contact->ways + clump;
    return (pl_quad){way->x[k], way->y[k], way->z[k], 0};
}

pl_firm_kick pl_firm_kick_of(const pl_contact *contact, const pl_whole *whole,
                             const double kicked[3], const double spun[3])
{
    const pl_contact_body *body = contact->bodies + whole->body;
    const double back[3] = {-spun[0], -spun[1], -spun[2]};
    pl_firm_kick kick = {.back = pl_firm_lead_of(kicked, back)};
    if (!kick.back.any)
        return kick;
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++)
        for (uint32_t used = contact->used[c]; used; used &= used - 1) {
            int k = __builtin_ctz(used);
            kick.way += way_at(contact, c, k) * (contact->mass[c * PL_CLUMP + k] * whole->yield);
        }
    return kick;
}

static void add(pl_quad by, float out[4])
{
    pl_quad_store(out, pl_quad_load(out) + by);
}

static void follow(const pl_firm_lead *l, pl_quad r, float out[4])
{
    add(l->by + pl_firm_turned(l, r), out);
}

/* Who goes on sleeping stays where it is. */
static void move_whole(pl_contact *contact, pl_whole *whole)
{
    pl_contact_body *body = contact->bodies + whole->body;
    double check = 0;
    for (int k = 0; k < 3; k++)
        check += whole->moved[k] + whole->turned[k] + whole->shifted[k] + whole->tilted[k] +
                 whole->kicked[k] + whole->spun[k];
    pl_firm_lead by = pl_firm_lead_of(whole->moved, whole->turned);
    pl_firm_lead still = pl_firm_lead_of(whole->shifted, whole->tilted);
    pl_firm_kick kick = pl_firm_kick_of(contact, whole, whole->kicked, whole->spun);
    if ((!by.any && !still.any) || (body->asleep && !whole->hit) || !isfinite(check))
        return;
    for (int c = body->first_clump; c < body->first_clump + body->clumps->count; c++) {
        const pl_clump_places *at = contact->places + c;
        for (uint32_t used = contact->used[c]; used; used &= used - 1) {
            int k = __builtin_ctz(used);
            pl_quad r = (pl_quad){at->x[k], at->y[k], at->z[k], 0} - whole->centre;
            /* First without velocity, then with it, as its particles turn: two turns added up would
               strain it by their product. */
            if (by.any)
                follow(&by, still.any ? r + pl_firm_turned(&still, r) : r,
                       contact->change[c * PL_CLUMP + k]);
            if (still.any)
                follow(&still, r, contact->shift[c * PL_CLUMP + k]);
            if (kick.back.any)
                add(pl_firm_kicked(&kick, r, way_at(contact, c, k)),
                    contact->kick[c * PL_CLUMP + k]);
        }
        contact->touched[c] |= contact->used[c];
    }
    memcpy(body->turned, whole->turned, sizeof body->turned);
    memcpy(body->tilted, whole->tilted, sizeof body->tilted);
    memcpy(body->spun, whole->spun, sizeof body->spun);
    body->turns = true;
}

static void note_stop(pl_contact *contact, const pl_firm_touch *t)
{
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    pl_near *near = pl_firm_origin_of(contact, t)->near;
    pl_near_hits *hits = contact->against.hits + near->block;
    int k = t->place_b % PL_CLUMP;
    float scale = (float)(-1 / contact->h);
    pl_quad n = pl_quad_three(rows->n), impulse = n * rows->by;
    for (int r = 1; r < PL_FIRM_ROWS; r++)
        impulse +=
            pl_quad_three(rows[r].n) * (rows[r].by + pl_firm_origin_of(contact, t)->slowed[r - 1]);
    impulse = (impulse + n * t->bounced) * scale;
    if (!near->mask)
        memset(hits, 0, sizeof *hits);
    near->mask |= 1u << k;
    for (int m = 0; m < 3; m++) {
        hits->impulse[m][k] += impulse[m];
        hits->normal[m][k] = n[m];
        hits->point[m][k] = pl_firm_stop_of(contact, t)->point[m];
    }
}

static void note_touch(pl_contact *contact, const pl_firm_touch *t)
{
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    pl_touch *touch = pl_firm_origin_of(contact, t)->touch;
    const float *slowed = pl_firm_origin_of(contact, t)->slowed;
    float by[2] = {rows[1].by + slowed[0], rows[2].by + slowed[1]};
    float rubbed = sqrtf(by[0] * by[0] + by[1] * by[1]);
    /* In metres of what the two particles alone would have given way. */
    touch->pushed = (rows->by + t->bounced) / touch->mass;
    touch->rubbed = rubbed / touch->mass;
}

/* Bodies that follow each other. */
typedef struct some {
    int32_t first, end;
} some;

static bool has(const some *bodies, int32_t body)
{
    return body >= bodies->first && body < bodies->end;
}

/* What was taken back leaves rounding errors behind: they wake nobody. */
static void note_end(pl_contact *contact, int number, const some *bodies)
{
    pl_contact_firm *firm = &contact->firm;
    const pl_firm_touch *t = firm->touches + number;
    const pl_firm_row *rows = pl_firm_rows_of(contact, t);
    bool stop = number >= firm->first_stop;
    int32_t b = contact->body_of[t->place_b / PL_CLUMP];
    int32_t a = stop ? b : contact->body_of[t->place_a / PL_CLUMP];
    if (has(bodies, a)) {
        if (!stop)
            note_touch(contact, t);
        else if (rows->by > 0)
            note_stop(contact, t);
        pl_firm_keep(contact, number);
    }
    if (!stop && has(bodies, a)) {
        pl_contact_note_touched(contact, t->place_a, 1);
        if (t->a) {
            firm->wholes[t->a].hit |= rows->by > 0;
            add_to_a(t, pl_firm_origin_of(contact, t), rows, firm->wholes + t->a);
        }
    }
    if (has(bodies, b)) {
        pl_contact_note_touched(contact, t->place_b, 1);
        if (t->b) {
            firm->wholes[t->b].hit |= !stop && rows->by > 0;
            add_to_b(t, pl_firm_origin_of(contact, t), rows, firm->wholes + t->b);
        }
    }
}

/* Everybody goes through what has to do with some of the bodies, in the order of touches. */
static void note_ends(pl_contact *contact, int begin, int end, int worker)
{
    const pl_contact_firm *firm = &contact->firm;
    int64_t count = contact->body_count, parts = contact->worker_count;
    some bodies = {(int32_t)(begin * count / parts), (int32_t)(end * count / parts)};
    (void)worker;
    for (int i = 0; i < firm->section_count; i++) {
        const pl_firm_section *s = firm->sections + i;
        if (s->low >= bodies.end || s->high < bodies.first)
            continue;
        for (int k = s->first; k < s->end; k++)
            note_end(contact, k, &bodies);
        for (int k = s->first_stop; k < s->end_stop; k++)
            note_end(contact, k, &bodies);
    }
}

static void move_wholes(pl_contact *contact, int begin, int end, int worker)
{
    (void)worker;
    for (int b = begin; b < end; b++)
        if (contact->bodies[b].whole) {
            sum_up(contact->firm.wholes + b + 1);
            move_whole(contact, contact->firm.wholes + b + 1);
        }
}

void pl_contact_finish_firm(pl_contact *contact)
{
    pl_contact_firm *firm = &contact->firm;
    pl_firm_begin_keeping(contact);
    if (!firm->touch_count)
        return;
    pl_firm_sweep_stops(contact);
    pl_firm_bounce(contact);
    pl_contact_run_stage(contact, firm->tasks, note_ends, contact->worker_count, 1);
    pl_firm_end_keeping(contact);
    pl_contact_run_stage(contact, firm->tasks, move_wholes, contact->body_count, BODIES_PER_TASK);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* More at once are rare. */
enum { TOUCHES_PER_CLUMP = PL_CLUMP / 2 };

int pl_contact_firm_room(int clumps)
{
    return TOUCHES_PER_CLUMP * clumps;
}

static void free_wholes(pl_memory *memory, const pl_contact_firm *firm)
{
    pl_memory_free(memory, firm->wholes);
    pl_memory_free(memory, firm->islands);
    pl_memory_free(memory, firm->busy);
    pl_memory_free(memory, firm->stirred);
}

pl_status pl_contact_reserve_firm(pl_contact *contact, int clumps)
{
    pl_contact_firm *firm = &contact->firm;
    if (!pl_firm_make_room(contact, pl_contact_firm_room(clumps)))
        return PL_ERROR_MEMORY;
    int blocks = contact->clump_capacity / PL_CLUMPS_PER_BLOCK + 1;
    if (firm->block_capacity < blocks) {
        pl_firm_block *fresh = PL_NEW(contact->memory, pl_firm_block, blocks);
        if (!fresh)
            return PL_ERROR_MEMORY;
        pl_memory_free(contact->memory, firm->blocks);
        firm->blocks = fresh;
        firm->block_capacity = blocks;
    }
    if (firm->whole_capacity > contact->body_capacity)
        return PL_OK;
    int count = contact->body_capacity + 1;
    pl_contact_firm fresh = {.wholes = PL_NEW(contact->memory, pl_whole, count),
                             .islands = PL_NEW(contact->memory, pl_firm_island, count),
                             .busy = PL_NEW(contact->memory, int32_t, count),
                             .stirred = PL_NEW(contact->memory, float, count)};
    bool good = fresh.wholes && fresh.islands && fresh.busy && fresh.stirred;
    free_wholes(contact->memory, good ? firm : &fresh);
    if (!good)
        return PL_ERROR_MEMORY;
    firm->wholes = fresh.wholes;
    firm->islands = fresh.islands;
    firm->busy = fresh.busy;
    firm->stirred = fresh.stirred;
    firm->whole_capacity = contact->body_capacity + 1;
    firm->whole_count = 0;
    return PL_OK;
}

void pl_contact_free_firm(pl_contact *contact)
{
    free_wholes(contact->memory, &contact->firm);
    pl_memory_free(contact->memory, contact->firm.touches);
    pl_memory_free(contact->memory, contact->firm.stops);
    pl_memory_free(contact->memory, contact->firm.rows);
    pl_memory_free(contact->memory, contact->firm.yields);
    pl_memory_free(contact->memory, contact->firm.origins);
    pl_memory_free(contact->memory, contact->firm.table);
    pl_memory_free(contact->memory, contact->firm.chain);
    pl_memory_free(contact->memory, contact->firm.blocks);
    pl_memory_free(contact->memory, contact->firm.sections);
    contact->firm = (pl_contact_firm){0};
}
