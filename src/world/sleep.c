/* Stacks sleep: bodies that touch each other form islands, and an island in which nothing has moved
   for a while stands still until something touches it or changes it. A body that touches nothing
   does not fall asleep by itself; a call puts to sleep whatever the host wants. */
#include <math.h>
#include <string.h>

#include "world/world.h"

/* Quiet: nothing gets further than this part of the spacing, from where it was... */
#define QUIET_PART 0.05
/* ...for so many seconds; what trembles on the spot may do so at this many spacings per second. */
#define QUIET_TIME 0.5
#define QUIET_SPEED 1.0
/* In a large pile somebody always slips a little: so many of an island need not be quiet, only
   slow. */
#define RESTLESS_PART 0.125

/* ---- Islands: union and find over the numbers contact has given the bodies ------------------- */

static int find(pl_world *world, int i)
{
    while (world->parents[i] != i)
        i = world->parents[i] = world->parents[world->parents[i]];
    return i;
}

/* The older one leads. */
static void unite(pl_world *world, int a, int b)
{
    a = find(world, a);
    b = find(world, b);
    if (a < b)
        world->parents[b] = a;
    else
        world->parents[a] = b;
}

static void find_islands(pl_world *world)
{
    const pl_contact *contact = world->contact;
    for (int i = 0; i < contact->body_count; i++)
        world->parents[i] = i;
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        const pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; i < s->count; i++) {
            int a = contact->body_of[touches[i].a / PL_CLUMP];
            int b = contact->body_of[touches[i].b / PL_CLUMP];
            contact->bodies[a].touching = contact->bodies[b].touching = true;
            if (a != b)
                unite(world, a, b);
        }
    }
}

/* Bodies that are attached to each other are one island; what hangs on something rests as well as
   what lies on something. */
static void join_attached(pl_world *world)
{
    const pl_attachments *all = &world->attachments;
    pl_contact *contact = world->contact;
    for (int i = 0; i < all->slot_count; i++) {
        const pl_attachment_slot *slot = all->slots + i;
        if (!slot->used || slot->broken)
            continue;
        int a = pl_world_record(world, slot->body)->contact;
        if (slot->kind == PL_ATTACH_TO_BODY)
            unite(world, a, pl_world_record(world, slot->other)->contact);
        else if (slot->kind == PL_ATTACH_TO_COLLIDER)
            contact->bodies[a].borne |= pl_collider_find(world, slot->collider)->mass > 0;
        contact->bodies[a].touching |= slot->kind != PL_ATTACH_TO_BODY;
        contact->bodies[a].leaves = false; /* it may be held where it cannot leave */
    }
    for (int i = 0; all->count && i < contact->body_count; i++)
        world->islands[i].held = false;
    for (int i = 0; all->count && i < contact->body_count; i++)
        world->islands[find(world, i)].held |= contact->bodies[i].touching;
    for (int i = 0; i < all->slot_count; i++) {
        const pl_attachment_slot *slot = all->slots + i;
        if (!slot->used || slot->broken || slot->kind != PL_ATTACH_TO_BODY)
            continue;
        int a = pl_world_record(world, slot->body)->contact;
        int b = pl_world_record(world, slot->other)->contact;
        bool held = world->islands[find(world, a)].held;
        contact->bodies[a].touching |= held;
        contact->bodies[b].touching |= held;
    }
}

/* ---- Falling asleep -------------------------------------------------------------------------- */

/* Displacement in the last step of the particle that moved most, units. */
static double largest_step(const pl_oriented *matter)
{
    double most = 0, shift[3];
    for (int k = 0; k < 3; k++)
        shift[k] = matter->now.origin[k] - matter->shown.origin[k];
    for (int i = 0; i < matter->n; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d =
                (double)matter->now.x[3 * i + k] - (double)matter->shown.x[3 * i + k] + shift[k];
            square += d * d;
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

/* Some particles, evenly through the body, against where they were; they stay there if they are now
   too far away. */
static bool rests(pl_record *record, double far)
{
    const pl_oriented *matter = &record->matter;
    double now[PL_RESTING][3], most = 0;
    for (int j = 0; j < PL_RESTING; j++) {
        int i = (int)((int64_t)j * matter->n / PL_RESTING);
        double square = 0;
        for (int k = 0; k < 3; k++) {
            now[j][k] = matter->now.origin[k] + (double)matter->now.x[3 * i + k];
            double d = now[j][k] - record->resting[j][k];
            square += d * d;
        }
        most = square > most ? square : most;
    }
    if (most <= far * far)
        return true;
    memcpy(record->resting, now, sizeof now);
    return false;
}

static void count_quiet(pl_world *world)
{
    pl_contact *contact = world->contact;
    for (int i = 0; i < contact->body_count; i++)
        world->islands[i] = (pl_island){0};
    for (int i = 0; i < world->awake_count; i++) {
        pl_record *record = world->live[i];
        const pl_contact_body *body = contact->bodies + record->contact;
        double spacing = record->model->spacing > 0 ? record->model->spacing : 1;
        bool slow = largest_step(&record->matter) <= QUIET_SPEED * spacing * world->step;
        bool leaves = body->leaves && !record->matter.hold_count && body->weight > 0;
        bool quiet = rests(record, QUIET_PART * spacing) && slow && body->touching &&
                     !body->borne && !leaves;
        record->quiet = quiet ? record->quiet + world->step : 0;
        pl_island *island = world->islands + find(world, record->contact);
        island->bodies++;
        island->restless += record->quiet < QUIET_TIME;
        island->fast |= !slow || !body->touching || body->borne || leaves;
    }
}

static void stand_still(pl_record *record)
{
    pl_oriented *matter = &record->matter;
    memset(matter->now.u, 0, sizeof(float) * 3 * (size_t)matter->n);
    memset(matter->now.w, 0, sizeof(float) * 3 * (size_t)matter->n);
    memset(matter->now.velocity, 0, sizeof matter->now.velocity);
    pl_record_forget_old(matter);
    pl_record_show_now(matter);
    record->boxed = false;
}

static bool may_sleep(const pl_island *island)
{
    return !island->restless ||
           (!island->fast && island->restless <= RESTLESS_PART * island->bodies);
}

/* An island sleeps when all of its bodies are quiet, or in a large one most of them and the others
   slow. Fixed order; nothing is allocated. */
void pl_world_fall_asleep(pl_world *world)
{
    pl_contact *contact = world->contact;
    bool changed = false;
    for (int i = 0; i < world->awake_count; i++)
        contact->bodies[world->live[i]->contact].touching |=
            contact->bodies[world->live[i]->contact].grounded;
    find_islands(world);
    join_attached(world);
    count_quiet(world);
    for (int i = 0; i < world->awake_count; i++) {
        pl_record *record = world->live[i];
        int leader = find(world, record->contact);
        if (!may_sleep(world->islands + leader))
            continue;
        record->asleep = true;
        record->island = world->entered[leader]->slot;
        stand_still(record);
        changed = true;
    }
    for (int i = 0; i < contact->body_count; i++)
        contact->bodies[i].touching = contact->bodies[i].grounded = contact->bodies[i].borne =
            contact->bodies[i].leaves = false;
    if (changed)
        world->regroup = true;
}

/* ---- Waking ---------------------------------------------------------------------------------- */

static void wake(pl_world *world, pl_record *record)
{
    record->asleep = false;
    record->quiet = 0;
    if (world->stepping)
        record->woken_in = world->steps + 1;
    world->regroup = true;
}

void pl_world_wake_island(pl_world *world, uint32_t island)
{
    for (pl_record *record = world->first; record; record = record->next)
        if (record->asleep && record->island == island)
            wake(world, record);
}

void pl_world_wake(pl_world *world, pl_record *record)
{
    if (record->asleep)
        pl_world_wake_island(world, record->island);
    record->quiet = 0;
    record->bounded = false; /* perhaps it was moved */
}

void pl_world_wake_all(pl_world *world)
{
    for (pl_record *record = world->first; record; record = record->next)
        if (record->asleep)
            wake(world, record);
}

/* Within a sub-step: those that were touched, with their islands. They have not been solved in it:
   they start from where they stand. */
bool pl_world_wake_touched(pl_world *world)
{
    pl_contact *contact = world->contact;
    bool any = false;
    for (int i = 0; i < contact->body_count; i++)
        if (contact->bodies[i].woken) {
            contact->bodies[i].woken = false;
            any = true;
            pl_world_wake(world, world->entered[i]);
        }
    for (int i = 0; any && i < contact->body_count; i++) {
        pl_record *record = world->entered[i];
        if (!contact->bodies[i].asleep || record->asleep)
            continue;
        pl_record_forget_old(&record->matter);
        pl_oriented_stand(&record->matter);
    }
    return any;
}

/* ---- By hand --------------------------------------------------------------------------------- */

static void note_box(pl_record *record)
{
    const pl_oriented *matter = &record->matter;
    double unit = record->model->unit;
    for (int k = 0; k < 3; k++) {
        record->sleep_box[k] = INFINITY;
        record->sleep_box[3 + k] = -INFINITY;
    }
    for (int i = 0; i < matter->n; i++) {
        const float *radii = record->radii + 3 * (size_t)i;
        double r = (double)fmaxf(radii[0], fmaxf(radii[1], radii[2]));
        for (int k = 0; k < 3; k++) {
            double x = matter->now.origin[k] + (double)matter->now.x[3 * i + k];
            record->sleep_box[k] = fmin(record->sleep_box[k], (x - r) * unit);
            record->sleep_box[3 + k] = fmax(record->sleep_box[3 + k], (x + r) * unit);
        }
    }
    record->boxed = true;
}

const double *pl_record_sleep_box(pl_record *record)
{
    if (!record->boxed)
        note_box(record);
    return record->sleep_box;
}

/* What was meant for the next step does not happen. */
static void drop_orders(pl_record *record)
{
    pl_oriented *matter = &record->matter;
    if (record->forced)
        memset(record->force, 0, sizeof(double) * 3 * (size_t)matter->n);
    record->forced = false;
    for (int f = 0; f < matter->fixed_count; f++)
        if (memcmp(matter->drive_from + 7 * f, matter->drive_to + 7 * f, sizeof(double) * 7) != 0)
            pl_record_aim_drive(matter, f);
}

/* Whether their boxes, a little wider, overlap, and they would touch each other. */
static bool lie_together(pl_record *a, pl_record *b)
{
    if (!(a->category & b->mask) || !(b->category & a->mask))
        return false;
    const double *p = pl_record_sleep_box(a), *q = pl_record_sleep_box(b);
    for (int k = 0; k < 3; k++) {
        double pad = 0.02 * (p[3 + k] - p[k] + q[3 + k] - q[k]);
        if (p[k] > q[3 + k] + pad || q[k] > p[3 + k] + pad)
            return false;
    }
    return true;
}

/* Two that sleep become one island. */
static void join(pl_world *world, const pl_record *record, const pl_record *other)
{
    uint32_t from = record->island, to = other->island;
    if (from == to)
        return;
    for (pl_record *each = world->first; each; each = each->next)
        if (each->asleep && each->island == from)
            each->island = to;
}

/* Who wakes when it does: what has not been in a step together has no touches, but boxes. */
static void join_sleepers(pl_world *world, pl_record *record)
{
    const pl_attachments *all = &world->attachments;
    for (pl_record *other = world->first; other; other = other->next)
        if (other->asleep && other != record && lie_together(record, other))
            join(world, record, other);
    for (int i = 0; i < all->slot_count; i++) {
        const pl_attachment_slot *slot = all->slots + i;
        if (!slot->used || slot->broken || slot->kind != PL_ATTACH_TO_BODY)
            continue;
        const pl_record *a = pl_world_record(world, slot->body);
        const pl_record *b = pl_world_record(world, slot->other);
        if ((a == record || b == record) && a->asleep && b->asleep)
            join(world, a, b);
    }
}

static PL_APART pl_status put_to_sleep(pl_world *world, pl_body body)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    if (record->asleep)
        return PL_OK;
    drop_orders(record);
    stand_still(record);
    record->asleep = true;
    record->island = record->slot;
    join_sleepers(world, record);
    world->regroup = true;
    return PL_OK;
}

pl_status pl_body_sleep(pl_world *world, pl_body body)
{
    PL_COMPUTE(put_to_sleep(world, body));
}

pl_status pl_body_wake(pl_world *world, pl_body body)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, NULL));
    pl_world_wake(world, record);
    return PL_OK;
}

bool pl_body_is_asleep(const pl_world *world, pl_body body)
{
    const pl_record *record = pl_world_record(world, body);
    return record && record->asleep;
}
