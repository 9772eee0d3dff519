/* Groups leave nothing out: touches found through groups that are kept for as long as they are
   good, against those of all clumps with all others and all their particles. Every bit of every
   touch is the same, however bodies wobble, fly, jump, sleep, are nudged or measured from somewhere
   else, and however long a sub-step takes. */
#include "contact/contact.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { KINDS = 4, BODIES = 12, MOST = 40, SUBSTEPS = 6 };

static const int sizes[KINDS] = {1, 5, 24, MOST};

typedef struct kind {
    int n;
    float rest[3 * MOST], turn[4 * MOST], radii[3 * MOST];
    pl_clumps *clumps;
} kind;

typedef struct thing {
    const kind *kind;
    double centre[3], velocity[3], base[3];
    double amplitude[3 * MOST], rate[MOST], phase[MOST], nudge[3 * MOST];
    bool self, asleep;
} thing;

typedef struct kit {
    pl_memory memory;
    kind kinds[KINDS];
    thing things[BODIES];
    pl_contact *kept, *all; /* with groups that are kept, with groups of everything */
    double clock, speed;    /* of wobbling, seconds; metres per second */
} kit;

static double between(pl_rng *rng, double low, double high)
{
    return low + (high - low) * pl_random_double(rng);
}

/* A chain that is wound up, so that it has something to touch of its own; of flat and of round
   particles, in metres. */
static void make_kind(pl_memory *memory, kind *k, int n, pl_rng *rng)
{
    int32_t start[MOST + 1], neighbour[2 * MOST], count = 0;
    k->n = n;
    for (int i = 0; i < n; i++) {
        float angle = (float)i * 0.7f;
        start[i] = count;
        if (i > 0)
            neighbour[count++] = i - 1;
        if (i + 1 < n)
            neighbour[count++] = i + 1;
        k->rest[3 * i] = 0.3f * cosf(angle);
        k->rest[3 * i + 1] = 0.03f * (float)i;
        k->rest[3 * i + 2] = 0.3f * sinf(angle);
        for (int a = 0; a < 4; a++)
            k->turn[4 * i + a] = a == 3;
        for (int a = 0; a < 3; a++)
            k->radii[3 * i + a] = (float)between(rng, 0.02, 0.1);
    }
    start[n] = count;
    k->clumps = pl_clumps_create(memory, n, k->rest, k->turn, k->radii, start, neighbour);
    assert_non_null(k->clumps);
}

static void enter_all(kit *k, pl_contact *contact)
{
    double masses[MOST];
    uint8_t is_fixed[MOST] = {0};
    for (int i = 0; i < MOST; i++)
        masses[i] = 1;
    pl_contact_clear(contact);
    for (int b = 0; b < BODIES; b++) {
        const thing *t = k->things + b;
        pl_contact_body body = {.clumps = t->kind->clumps,
                                .unit = 1,
                                .category = 1,
                                .mask = 1,
                                .friction = 0.5f,
                                .self = t->self};
        pl_contact_enter(contact, &body, t->kind->radii, masses, 1, is_fixed);
    }
}

static void make_thing(thing *t, const kind *of, double speed, pl_rng *rng)
{
    double wobble = pow(10, between(rng, -3, -0.5)), fastest = pow(10, between(rng, 0.5, 2.5));
    *t = (thing){.kind = of, .self = pl_random_below(rng, 2)};
    for (int a = 0; a < 3; a++) {
        t->base[a] = t->centre[a] = between(rng, -1, 1);
        t->velocity[a] = speed * between(rng, -1, 1);
    }
    for (int i = 0; i < of->n; i++) {
        t->rate[i] = between(rng, 0, fastest);
        t->phase[i] = between(rng, 0, 6.28);
        for (int a = 0; a < 3; a++)
            t->amplitude[3 * i + a] = wobble * between(rng, -1, 1);
    }
}

static void make_kit(kit *k, pl_rng *rng)
{
    *k = (kit){.speed = pow(10, between(rng, -1, 2))};
    pl_memory_init(&k->memory, NULL, 0);
    for (int i = 0; i < KINDS; i++)
        make_kind(&k->memory, k->kinds + i, sizes[i], rng);
    pl_contact **contacts[2] = {&k->kept, &k->all};
    for (int b = 0; b < BODIES; b++)
        make_thing(k->things + b, k->kinds + pl_random_below(rng, KINDS), k->speed, rng);
    for (int c = 0; c < 2; c++) {
        *contacts[c] = pl_contact_create(&k->memory, 1);
        assert_non_null(*contacts[c]);
        assert_int_equal(pl_contact_reserve(*contacts[c], BODIES, BODIES * (MOST / 16 + 1)), PL_OK);
        enter_all(k, *contacts[c]);
    }
}

static void drop_kit(kit *k)
{
    pl_contact_destroy(k->kept);
    pl_contact_destroy(k->all);
    for (int i = 0; i < KINDS; i++)
        pl_clumps_destroy(&k->memory, k->kinds[i].clumps);
    assert_int_equal(k->memory.used, 0);
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* Between sub-steps anything may happen; most of the time little does. */
static void disturb(kit *k, thing *t, pl_rng *rng)
{
    uint32_t what = pl_random_below(rng, 500);
    if (what == 0 || (t->asleep && what < 20)) {
        t->asleep = !t->asleep;
        k->kept->stale = true;
    }
    if (t->asleep)
        return;
    for (int a = 0; a < 3; a++) {
        if (fabs(t->centre[a]) > 1) /* back into the box */
            t->velocity[a] = -copysign(k->speed * between(rng, 0, 1), t->centre[a]);
        if (what >= 490)
            t->velocity[a] = k->speed * between(rng, -1, 1);
        if (what == 2)
            t->centre[a] = between(rng, -1, 1);
        if (what == 3)
            t->base[a] = t->centre[a] + between(rng, -3, 3);
    }
    if (what == 4)
        memcpy(t->velocity, k->things[0].velocity, sizeof t->velocity);
    if (what < 100)
        for (int i = 0; i < 3 * t->kind->n; i++)
            t->nudge[i] = 0.5 * t->nudge[i] + between(rng, -0.005, 0.005);
}

static double wobble_of(const thing *t, int i, int axis, double clock)
{
    return t->amplitude[3 * i + axis] * sin(t->phase[i] + t->rate[i] * clock);
}

static void set_place(const thing *t, int place, int axis, double before, double after,
                      double moved, pl_contact *contact, const pl_contact_body *body)
{
    int clump = body->first_clump + place / PL_CLUMP, at = place % PL_CLUMP;
    int i = t->kind->clumps->particle[place];
    pl_primitive *primitive = contact->primitives + clump * PL_CLUMP + at;
    float *places[3] = {contact->places[clump].x, contact->places[clump].y,
                        contact->places[clump].z};
    float *ways[3] = {contact->ways[clump].x, contact->ways[clump].y, contact->ways[clump].z};
    double rest = (double)t->kind->rest[3 * i + axis] + t->nudge[3 * i + axis];
    double x = t->centre[axis] - t->base[axis] + rest + wobble_of(t, i, axis, after);
    double way = moved + wobble_of(t, i, axis, after) - wobble_of(t, i, axis, before);
    places[axis][at] = primitive->x[axis] = (float)x;
    ways[axis][at] = primitive->moved[axis] = (float)(t->asleep ? 0 : way);
    for (int s = 0; s < 6; s++)
        primitive->shape[s] = t->kind->clumps->shape[(place / PL_CLUMP * 6 + s) * PL_CLUMP + at];
}

/* What sleeps stays where it was. */
static void move(kit *k, double h)
{
    pl_contact *contacts[2] = {k->kept, k->all};
    for (int b = 0; b < BODIES; b++) {
        thing *t = k->things + b;
        for (int a = 0; a < 3 && !t->asleep; a++)
            t->centre[a] += t->velocity[a] * h;
        for (int c = 0; c < 2; c++) {
            pl_contact_body *body = contacts[c]->bodies + b;
            if (t->asleep && body->asleep)
                continue;
            memcpy(body->base, t->base, sizeof t->base);
            memcpy(body->velocity, t->velocity, sizeof t->velocity);
            memcpy(body->centre, t->centre, sizeof t->centre);
            body->asleep = t->asleep;
            for (int place = 0; place < t->kind->clumps->count * PL_CLUMP; place++)
                for (int a = 0; a < 3; a++)
                    set_place(t, place, a, k->clock, k->clock + h, t->velocity[a] * h, contacts[c],
                              body);
        }
    }
    k->clock += h;
}

/* ---- Both ways ------------------------------------------------------------------------------- */

static void begin(const kit *k, pl_contact *contact, double time, double h)
{
    contact->h = h;
    contact->step = SUBSTEPS * h;
    contact->time = time;
    contact->some_sleep = false;
    for (int b = 0; b < BODIES; b++) {
        contact->some_sleep |= k->things[b].asleep;
        if (!k->things[b].asleep)
            pl_contact_follow(contact, b, 0);
    }
}

/* Velocities that are only about right: paths are a guess. */
static void guess_pace(void *host, int body, float (*out)[3])
{
    const kit *k = host;
    const thing *t = k->things + body;
    for (int c = 0; c < t->kind->clumps->count; c++)
        for (int a = 0; a < 3; a++)
            out[c][a] = (float)(t->velocity[a] + 0.3 * k->speed * sin(body + 7 * c + 3 * a));
}

/* Then every pair is asked whether it is swept. */
static void suspect_everybody(pl_contact *contact)
{
    for (int c = 0; c < contact->clump_count; c++)
        contact->motion[c].excess = INFINITY;
}

static bool may_meet(const pl_contact *contact, int clump, int other)
{
    const pl_contact_body *a = contact->bodies + contact->body_of[clump];
    const pl_contact_body *b = contact->bodies + contact->body_of[other];
    return !a->asleep && (a == b ? a->self : true) && (other >= clump || b->asleep);
}

/* Every clump with every other, every row of them for good. */
static void group_everything(pl_contact *contact)
{
    pl_contact_buffer *buffer = contact->buffers;
    buffer->group_count = 0;
    for (int block = 0; block < contact->block_count; block++) {
        pl_segment *segment = contact->group_segments + block;
        *segment = (pl_segment){.first = buffer->group_count};
        for (int c = block * PL_CLUMPS_PER_BLOCK;
             c < (block + 1) * PL_CLUMPS_PER_BLOCK && c < contact->clump_count; c++)
            for (int other = 0; other < contact->clump_count; other++)
                if (may_meet(contact, c, other)) {
                    assert_true(buffer->group_count < buffer->group_capacity);
                    buffer->gaps[buffer->group_count] = (pl_row_gaps){{0}};
                    buffer->groups[buffer->group_count++] =
                        (pl_group){c, other, 0, -INFINITY, INFINITY, 1};
                }
        segment->count = buffer->group_count - segment->first;
    }
}

typedef struct tally {
    int substeps, builds, touches, swept, own;
} tally;

static void compare(const kit *k, tally *sum, int round, int substep)
{
    const pl_contact *a = k->kept, *b = k->all;
    assert_int_equal(a->block_count, b->block_count);
    for (int block = 0; block < a->block_count; block++) {
        const pl_segment *p = a->touch_segments + block, *q = b->touch_segments + block;
        const pl_touch *found = a->buffers->touches + p->first,
                       *right = b->buffers->touches + q->first;
        if (p->count != q->count)
            fail_msg("round %d, sub-step %d: %d touches instead of %d", round, substep, p->count,
                     q->count);
        assert_int_equal(memcmp(found, right, sizeof *found * (size_t)p->count), 0);
        sum->touches += p->count;
        for (int i = 0; i < p->count; i++) {
            sum->swept += found[i].swept != 0;
            sum->own += a->body_of[found[i].a / PL_CLUMP] == a->body_of[found[i].b / PL_CLUMP];
        }
    }
}

static void run_round(int round, tally *sum)
{
    pl_rng rng = pl_rng_make((uint64_t)round);
    kit k;
    make_kit(&k, &rng);
    double time = 0, h = 1.0 / 180;
    k.kept->host = &k;
    k.kept->pace = round % 2 ? guess_pace : NULL;
    for (int s = 0; s < 20 * SUBSTEPS; s++) {
        if (s % SUBSTEPS == 0 && pl_random_below(&rng, 10) == 0)
            h = between(&rng, 0.001, 0.01);
        for (int b = 0; b < BODIES; b++)
            disturb(&k, k.things + b, &rng);
        move(&k, h);
        double rest = (SUBSTEPS - s % SUBSTEPS) * h;
        begin(&k, k.kept, time, h);
        if (pl_contact_groups_are_stale(k.kept))
            pl_contact_make_groups(k.kept, rest, NULL);
        pl_contact_find(k.kept, NULL);
        k.all->stale = true;
        begin(&k, k.all, time, h);
        pl_contact_make_groups(k.all, rest, NULL);
        group_everything(k.all);
        suspect_everybody(k.all);
        pl_contact_find(k.all, NULL);
        compare(&k, sum, round, s);
        time += h;
        sum->substeps++;
    }
    sum->builds += (int)k.kept->builds;
    drop_kit(&k);
}

static void groups_leave_nothing_out(void **state)
{
    (void)state;
    tally sum = {0};
    for (int round = 0; round < check_rounds(2000, 60); round++)
        run_round(round, &sum);
    print_message("%d sub-steps, groups made in %d: %d touches, %d swept, %d of one body\n",
                  sum.substeps, sum.builds, sum.touches, sum.swept, sum.own);
    assert_true(sum.builds < sum.substeps * 3 / 4);
    assert_true(sum.touches > sum.substeps);
    assert_true(sum.swept > sum.substeps / 10);
    assert_true(sum.own > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_leave_nothing_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
