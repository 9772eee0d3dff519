/* Clustered matter from its definition, and one sub-step of its motion; kernels do the work. */
#include "matter/clustered.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sort.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "matter/clustered_lanes.h"
#include "matter/examples_lanes.h"
#include "matter/rings.h"

#define COOKIE 0x706c636c

/* ---- Definitions ----------------------------------------------------------------------------- */

pl_clustered_def pl_default_clustered_def(void)
{
    return (pl_clustered_def){.frequency = 20,
                              .raw_alpha = -1,
                              .damping = 5,
                              .raw_damping = -1,
                              .strain_limit = 0.2,
                              .strain_part = 0.2,
                              .strain_iterations = 4,
                              .strain_balanced = true,
                              .yield = INFINITY,
                              .flow = 10,
                              .raw_flow = -1,
                              .recluster = PL_RECLUSTER_EMBEDDED,
                              .condition = 6,
                              .fade_in = 5.0 / 60,
                              .fade_out = 10.0 / 60,
                              .toughness = INFINITY,
                              .toughness_boost = 1,
                              .boost_decay = 0.5,
                              .calm = 1.0 / 30,
                              .least_members = 4,
                              .self_contact = true,
                              .cookie = COOKIE};
}

#define CHECK(condition, field, ...)                                                               \
    PL_CHECK(condition, PL_ERROR_ARGUMENT, error, field, __VA_ARGS__)

static pl_status check_motion(const pl_clustered_def *d, pl_error *error)
{
    CHECK(d->rotation >= PL_ROTATION_AUTO && d->rotation <= PL_ROTATION_LEAST_SQUARES, "rotation",
          "is %d; use one of pl_cluster_rotation", (int)d->rotation);
    CHECK(d->raw_alpha > 0 || (d->frequency > 0 && d->frequency <= 1e9), "frequency",
          "is %g Hz; use a positive frequency (20 is usual)", d->frequency);
    CHECK(d->raw_alpha < 0 || (d->raw_alpha > 0 && d->raw_alpha <= 1), "raw_alpha",
          "is %g; use a number above 0 and at most 1, or -1 to go by the frequency", d->raw_alpha);
    CHECK(d->damping >= 0 && d->damping <= 1e9, "damping",
          "is %g; use a rate of 0 or more per second", d->damping);
    CHECK(d->raw_damping <= 1, "raw_damping",
          "is %g; use a number from 0 to 1, or -1 to go by the rate", d->raw_damping);
    CHECK(d->strain_limit >= 0 && d->strain_limit <= 1e9, "strain_limit",
          "is %g; use a part of a cluster's width, or 0 for no strain limiting", d->strain_limit);
    CHECK(d->strain_part > 0 && d->strain_part <= 1, "strain_part",
          "is %g; use a number above 0 and at most 1", d->strain_part);
    CHECK(d->strain_iterations >= 0 && d->strain_iterations <= 100000, "strain_iterations",
          "is %d; use 0 or more (4 is usual, at most 100000)", d->strain_iterations);
    return PL_OK;
}

static pl_status check_plasticity(const pl_clustered_def *d, pl_error *error)
{
    CHECK(d->yield >= 0, "yield", "is %g; use 0 or more, or infinity for no plastic flow",
          d->yield);
    CHECK(d->flow >= 0 && d->flow <= 1e9, "flow", "is %g; use a rate of 0 or more per second",
          d->flow);
    CHECK(d->raw_flow <= 1, "raw_flow", "is %g; use a number from 0 to 1, or -1 to go by the rate",
          d->raw_flow);
    CHECK(fabs(d->hardening) <= 1e9, "hardening",
          "is %g; use a rate per second, negative where it softens", d->hardening);
    CHECK(d->recluster == PL_RECLUSTER_NONE || d->recluster == PL_RECLUSTER_EMBEDDED ||
              d->recluster == PL_RECLUSTER_WORLD,
          "recluster", "is %d; use one of pl_recluster_mode", (int)d->recluster);
    CHECK(d->kernel == PL_KERNEL_FUZZY || d->kernel == PL_KERNEL_INVERSE ||
              d->kernel == PL_KERNEL_CONSTANT,
          "kernel", "is %d; use one of pl_cluster_kernel", (int)d->kernel);
    CHECK(d->condition > 1, "condition", "is %g; use a number above 1 (6 is usual)", d->condition);
    CHECK(d->fade_in >= 0 && d->fade_in <= 1e9, "fade_in", "is %g s; use 0 or more", d->fade_in);
    CHECK(d->fade_out >= 0 && d->fade_out <= 1e9, "fade_out", "is %g s; use 0 or more",
          d->fade_out);
    CHECK(d->wanted >= 0 && d->wanted <= 1000000, "wanted", "is %d; use 0 or more clusters",
          d->wanted);
    return PL_OK;
}

static pl_status check_fracture(const pl_clustered_def *d, pl_error *error)
{
    CHECK(d->toughness > 0, "toughness",
          "is %g; use a positive stretch beyond which a cluster splits, or infinity", d->toughness);
    CHECK(d->toughness_boost >= 0 && d->toughness_boost <= 1e9, "toughness_boost",
          "is %g; use 0 or more", d->toughness_boost);
    CHECK(d->boost_decay >= 0 && d->boost_decay <= 1e9, "boost_decay",
          "is %g; use a rate of 0 or more per second", d->boost_decay);
    CHECK(d->calm >= 0 && d->calm <= 1e9, "calm", "is %g s; use 0 or more", d->calm);
    CHECK(d->least_members >= 1 && d->least_members <= 1000000, "least_members",
          "is %d; use 1 or more (4 is usual)", d->least_members);
    return PL_OK;
}

pl_status pl_clustered_check(const pl_clustered_def *def, pl_error *error)
{
    CHECK(def && def->cookie == COOKIE, "cookie",
          "the definition was not made by pl_default_clustered_def");
    PL_TRY(check_motion(def, error));
    PL_TRY(check_plasticity(def, error));
    return check_fracture(def, error);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Beyond this, squares of squares leave a float. */
#define FARTHEST 1e9f

static pl_status check_particles(const pl_clustered_source *s, pl_error *error)
{
    CHECK(s->n >= 1 && s->n <= INT32_MAX / 64, "particles", "are %d; at least one is needed", s->n);
    CHECK(s->cluster_count >= 1, "clusters", "are %d; at least one is needed", s->cluster_count);
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < 3; k++)
            CHECK(fabsf(s->rest[3 * i + k]) <= FARTHEST, PL_WHERE("particles[%d].position", i),
                  "is %g; use a finite place", (double)s->rest[3 * i + k]);
        CHECK(s->mass[i] > 1e-12f && s->mass[i] < 1e12f, PL_WHERE("particles[%d].mass", i),
              "is %g; use a positive mass", (double)s->mass[i]);
        CHECK(s->radius[i] >= 0 && s->radius[i] <= FARTHEST, PL_WHERE("particles[%d].radius", i),
              "is %g; use 0 or more", (double)s->radius[i]);
    }
    return PL_OK;
}

/* Members and raw weights; *total is how many places they take in blocks of sixteen. */
static pl_status check_members(const pl_clustered_source *s, double *sum, int32_t *last,
                               int64_t *total, pl_error *error)
{
    CHECK(s->start[0] == 0, "clusters[0].start", "is %d; the first cluster starts at 0",
          (int)s->start[0]);
    *total = 0;
    for (int c = 0; c < s->cluster_count; c++) {
        CHECK(s->start[c + 1] > s->start[c], PL_WHERE("clusters[%d].members", c),
              "there are none; a cluster needs at least one member");
        CHECK(s->radii[c] >= 0 && s->radii[c] <= FARTHEST, PL_WHERE("clusters[%d].radius", c),
              "is %g; use 0 or more", (double)s->radii[c]);
        for (int k = s->start[c]; k < s->start[c + 1]; k++) {
            int32_t i = s->member[k];
            CHECK(i >= 0 && i < s->n, PL_WHERE("clusters[%d].members[%d]", c, k - s->start[c]),
                  "is %d; particles are numbered from 0 to %d", (int)i, s->n - 1);
            CHECK(last[i] != c + 1, PL_WHERE("clusters[%d].members[%d]", c, k - s->start[c]),
                  "particle %d is a member twice", (int)i);
            CHECK(s->raw[k] >= 0 && s->raw[k] <= 1e12f,
                  PL_WHERE("clusters[%d].weights[%d]", c, k - s->start[c]), "is %g; use 0 or more",
                  (double)s->raw[k]);
            last[i] = c + 1;
            sum[i] += s->raw[k];
        }
        *total += (s->start[c + 1] - s->start[c] + PL_COLUMNS - 1) / PL_COLUMNS * PL_COLUMNS;
    }
    CHECK(*total <= INT32_MAX / 8, "clusters", "have %lld members together; that is too many",
          (long long)*total);
    for (int i = 0; i < s->n; i++)
        CHECK(sum[i] > 1e-30, PL_WHERE("particles[%d].clusters", i),
              last[i] ? "its weights in them are all 0; at least one must be positive"
                      : "there are none; a particle needs at least one cluster");
    return PL_OK;
}

typedef struct halving {
    const float *rest;
    pl_sort_item *items, *spare;
} halving;

/* Along which axis particles are spread the most. */
static int longest_axis(const halving *h, int begin, int end)
{
    int longest = 0;
    float most = -1;
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = begin; i < end; i++) {
            float at = h->rest[3 * (size_t)h->items[i].index + (size_t)k];
            low = fminf(low, at);
            high = fmaxf(high, at);
        }
        if (high - low > most)
            most = high - low, longest = k;
    }
    return longest;
}

/* Halves of halves, each across its longest side, in whole blocks of rows while there are several:
   whatever follows each other is as near to a cube as can be. */
static void halve(const halving *h, int begin, int end)
{
    enum { FEW = 8 };
    int count = end - begin, half = count / 2;
    if (count <= FEW)
        return;
    if (count > PL_ROW_BLOCK)
        half = (half + PL_ROW_BLOCK - 1) / PL_ROW_BLOCK * PL_ROW_BLOCK;
    int k = longest_axis(h, begin, end);
    for (int i = begin; i < end; i++)
        h->items[i].key = pl_sort_float_key(h->rest[3 * (size_t)h->items[i].index + (size_t)k]);
    pl_sort(h->items + begin, h->spare, (size_t)count);
    halve(h, begin, begin + half);
    halve(h, begin + half, end);
}

/* Places in an order that keeps neighbours together, and the length that is nothing beside the
   body. */
static void place_particles(pl_clustered *c, const float *rest)
{
    halving h = {rest, c->rows.sort, (pl_sort_item *)c->rows.sort + c->n};
    float size = 0;
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < c->n; i++) {
            low = fminf(low, rest[3 * i + k]);
            high = fmaxf(high, rest[3 * i + k]);
        }
        size = fmaxf(size, high - low);
    }
    for (int i = 0; i < c->n; i++)
        h.items[i].index = (uint32_t)i;
    halve(&h, 0, c->n);
    for (int i = 0; i < c->n; i++)
        c->key[h.items[i].index] = (uint32_t)i;
    c->tiny = 1e-6f * size;
}

pl_cluster pl_cluster_blank(const pl_clustered_def *def)
{
    pl_cluster c = {
        .rank = 0, .toughness = (float)def->toughness, .fade = 1, .element = -1, .stretch = 1};
    c.turn[3] = 1;
    c.pull[0] = 1;
    for (int k = 0; k < 9; k += 4)
        c.plastic[k] = c.carried[k] = c.gradient[k] = c.rotation[k] = c.flow[k] = 1;
    return c;
}

/* Offsets from the weighted mean of the places. */
static void fill_cluster(pl_clustered *c, const pl_clustered_source *s, int index)
{
    pl_cluster *cluster = c->clusters + index;
    double mean[3] = {0}, mass = 0;
    *cluster = pl_cluster_blank(&c->def);
    cluster->first = c->member_count;
    cluster->count = s->start[index + 1] - s->start[index];
    cluster->room = (cluster->count + PL_COLUMNS - 1) / PL_COLUMNS * PL_COLUMNS;
    cluster->radius = s->radii[index];
    cluster->id = c->next_id++;
    cluster->element = index;
    for (int k = 0; k < cluster->count; k++) {
        int from = s->start[index] + k, i = s->member[from];
        double w = (double)s->raw[from] * s->mass[i];
        c->particle[cluster->first + k] = i;
        c->raw[cluster->first + k] = s->raw[from];
        mass += w;
        for (int j = 0; j < 3; j++)
            mean[j] += w * s->rest[3 * i + j];
    }
    for (int j = 0; j < 3; j++) {
        mean[j] = mass > 0 ? mean[j] / mass : s->rest[3 * c->particle[cluster->first] + j];
        cluster->centre[j] = (float)mean[j];
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            c->p[j][m] = (float)(s->rest[3 * c->particle[m] + j] - mean[j]);
    }
    c->member_count += cluster->room;
}

static void fill(pl_clustered *c, const pl_clustered_source *s)
{
    c->n = c->model_n = s->n;
    c->count = s->cluster_count;
    memcpy(c->mass, s->mass, (size_t)c->n * sizeof *c->mass);
    memcpy(c->radius, s->radius, (size_t)c->n * sizeof *c->radius);
    for (int i = 0; i < c->n; i++)
        c->origin[i] = i;
    place_particles(c, s->rest);
    for (int i = 0; i < c->count; i++)
        fill_cluster(c, s, i);
    pl_clustered_index(c);
    pl_clustered_weigh(c);
    for (int i = 0; i < c->count; i++)
        pl_clustered_thin_planes(c, i);
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 9; k++)
            c->frame[9 * (size_t)i + (size_t)k] = k % 4 == 0;
}

static pl_status check_source(pl_memory *memory, const pl_clustered_source *source,
                              int64_t *members, pl_error *error)
{
    PL_TRY(check_particles(source, error));
    double *sum = PL_NEW(memory, double, source->n);
    int32_t *last = PL_NEW(memory, int32_t, source->n);
    pl_status status = sum && last ? check_members(source, sum, last, members, error)
                                   : pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    pl_memory_free(memory, last);
    pl_memory_free(memory, sum);
    return status;
}

/* What flows gets new clusters: room for some of them now, so that the first ones need not move
   everything. */
static bool reserve_at_start(pl_clustered *c, const pl_clustered_source *source, int members)
{
    bool flows = isfinite(c->def.yield) && c->def.recluster != PL_RECLUSTER_NONE;
    int part = flows ? 4 : INT32_MAX;
    return pl_clustered_reserve(c, source->cluster_count + source->cluster_count / part,
                                members + members / part, source->n);
}

pl_status pl_clustered_create(pl_memory *memory, const pl_clustered_source *source,
                              const pl_clustered_def *def, pl_clustered **clustered,
                              pl_error *error)
{
    int64_t members;
    PL_TRY(pl_clustered_check(def, error));
    PL_TRY(check_source(memory, source, &members, error));
    pl_clustered *c = PL_NEW(memory, pl_clustered, 1);
    if (c) {
        c->memory = memory;
        c->def = *def;
        c->key = PL_NEW(memory, uint32_t, source->n);
    }
    if (!c || !c->key || !reserve_at_start(c, source, (int)members)) {
        pl_clustered_destroy(c);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    }
    fill(c, source);
    *clustered = c;
    return PL_OK;
}

/* ---- A sub-step ------------------------------------------------------------------------------ */

typedef float v4 __attribute__((vector_size(16)));

static void store4(float *p, v4 v)
{
    memcpy(__builtin_assume_aligned(p, 16), &v, sizeof v);
}

typedef struct rows {
    int begin, end;
} rows;

/* Those of particles in a range of blocks. */
static rows rows_of(const pl_clustered *c, int begin, int end)
{
    begin *= PL_ROW_BLOCK, end *= PL_ROW_BLOCK;
    return (rows){begin < c->n ? begin : c->n, end < c->n ? end : c->n};
}

/* Particles may lie anywhere in the caller's arrays: so many rows before they are wanted, they are
   asked for. */
enum { AHEAD = 16 };

static void load(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    pl_clustered *c = step->clustered;
    pl_clustered_rows *r = &c->rows;
    rows range = rows_of(c, begin, end);
    (void)worker;
    for (int row = range.end; row < end * PL_ROW_BLOCK; row++) {
        store4(r->old + 4 * (size_t)row, (v4){0});
        store4(r->u + 4 * (size_t)row, (v4){0});
        for (int run = 0; run < r->run_count; run++)
            store4(r->sum + 4 * ((size_t)run * (size_t)r->row_capacity + (size_t)row), (v4){0});
    }
    for (int row = range.begin; row < range.end; row++) {
        int i = r->order[row], ahead = r->order[row + AHEAD < c->n ? row + AHEAD : row];
        __builtin_prefetch(step->motion->from + 3 * (size_t)ahead);
        __builtin_prefetch(step->motion->u + 3 * (size_t)ahead);
        const float *x = step->motion->from + 3 * (size_t)i, *u = step->motion->u + 3 * (size_t)i;
        store4(r->old + 4 * (size_t)row, (v4){x[0], x[1], x[2], r->lightness[row]});
        store4(r->u + 4 * (size_t)row, (v4){u[0], u[1], u[2], 0});
        if (step->motion->push) {
            const float *a = step->motion->push + 3 * (size_t)i;
            store4(r->push + 4 * (size_t)row, (v4){a[0], a[1], a[2], 0});
        }
    }
}

static void run_measure(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    (void)worker;
    for (int run = begin; run < end; run++)
        step->kernels->measure(step, run);
}

static void run_fit(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    (void)worker;
    for (int run = begin; run < end; run++)
        step->kernels->fit(step, run);
}

static void run_limit(void *context, int begin, int end, int worker)
{
    pl_clustered_step *step = context;
    (void)worker;
    for (int run = begin; run < end; run++)
        step->kernels->limit(step, run);
}

static void run_balance(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    (void)worker;
    for (int run = begin; run < end; run++)
        step->kernels->balance(step, run);
}

static void run_integrate(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    (void)worker;
    step->kernels->integrate(step, begin, end);
}

static void run_settle(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    (void)worker;
    step->kernels->settle(step, begin, end);
}

static void store(void *context, int begin, int end, int worker)
{
    const pl_clustered_step *step = context;
    const pl_clustered_rows *r = &step->clustered->rows;
    rows range = rows_of(step->clustered, begin, end);
    (void)worker;
    for (int row = range.begin; row < range.end; row++) {
        int ahead = row + AHEAD < step->clustered->n ? row + AHEAD : row;
        float *x = step->motion->x + 3 * (size_t)r->order[row];
        __builtin_prefetch(step->motion->x + 3 * (size_t)r->order[ahead], 1);
        memcpy(x, r->x + 4 * (size_t)row, 3 * sizeof *x);
    }
}

static void hold_fixed(const pl_clustered_step *step)
{
    const pl_clustered_motion *m = step->motion;
    const pl_clustered_rows *r = &step->clustered->rows;
    for (int i = 0; i < m->fixed_count; i++)
        for (int k = 0; k < 3; k++)
            r->x[4 * (size_t)r->rank[m->fixed[i]] + (size_t)k] = (float)m->targets[7 * i + k];
}

#define TABLE(width)                                                                               \
    [PL_SIMD_PLACE(width)] = {width,                                                               \
                              pl_clustered_measure_w##width,                                       \
                              pl_clustered_fit_w##width,                                           \
                              pl_clustered_limit_w##width,                                         \
                              pl_clustered_balance_w##width,                                       \
                              pl_clustered_integrate_w##width,                                     \
                              pl_clustered_settle_w##width},

/* The same where the caller has them: contact may have moved them. */
static void keep_fixed(const pl_clustered_motion *m)
{
    for (int i = 0; i < m->fixed_count; i++)
        for (int k = 0; k < 3; k++)
            m->x[3 * (size_t)m->fixed[i] + (size_t)k] = (float)m->targets[7 * i + k];
}

static const pl_clustered_table *table_of(int width)
{
    static const pl_clustered_table tables[] = {PL_SIMD_EACH(TABLE)};
    return tables + PL_SIMD_PLACE(pl_simd_supports(width) ? width : 4);
}

#define PI 3.14159265358979323846

/* Corrections are ways, and the same way in half the time is a force four times as large: finer
   sub-steps than this share it out, so that the limit is no stiffer, and a dent no different. */
#define STRAIN_STEP (1.0 / 480)

static double strain_part(const pl_clustered_def *d, double h)
{
    double ratio = h / STRAIN_STEP;
    return ratio < 1 ? d->strain_part * ratio * ratio : d->strain_part;
}

static pl_clustered_step start(pl_clustered *c, const pl_clustered_motion *motion, int width)
{
    const pl_clustered_def *d = &c->def;
    double h = motion->h, turn = 2 * PI * d->frequency * h;
    double alpha = d->raw_alpha > 0 ? d->raw_alpha : turn < 1 ? turn * turn : 1;
    double damping = d->raw_damping >= 0 ? d->raw_damping : 1 - pl_exp(-d->damping * h);
    return (pl_clustered_step){.clustered = c,
                               .motion = motion,
                               .kernels = table_of(width),
                               .h = (float)h,
                               .pull = (float)(alpha / h),
                               .damping = (float)damping,
                               .limit = (float)d->strain_limit,
                               .part = (float)strain_part(d, h),
                               .flow = d->raw_flow >= 0 ? d->raw_flow : 1 - pl_exp(-d->flow * h),
                               .least_squares =
                                   d->rotation == PL_ROTATION_LEAST_SQUARES ||
                                   (d->rotation == PL_ROTATION_AUTO && isfinite(d->toughness))};
}

static int hits(const pl_clustered_step *step)
{
    int count = 0;
    for (int run = 0; run < step->clustered->rows.run_count; run++)
        count += step->hits[run];
    return count;
}

/* Blocks of rows that are worth handing to another thread; and memberships. */
enum { BLOCKS_LEAST = 16, MEMBERS_LEAST = 4096 };

static void note(pl_clustered *c, int phase, uint64_t *clock)
{
    uint64_t now = pl_ticks();
    c->ticks[phase] += now - *clock;
    *clock = now;
}

/* As many pieces as there are runs: rows and clusters lie in the same order of boxes, so that a
   thread that took its turn there finds what it left in its cache. */
static int grain_of(const pl_clustered *c)
{
    int runs = c->rows.run_count > 0 ? c->rows.run_count : 1; /* 0: all is debris */
    int grain = (c->rows.block_count + runs - 1) / runs;
    return grain > BLOCKS_LEAST ? grain : BLOCKS_LEAST;
}

/* Rounds of it, until nobody is beyond the limit, and what is then to be taken away: in the last
   round that there may be, while the members of a group are at hand. */
static void limit_strain(pl_clustered_step *step, pl_tasks *tasks)
{
    pl_clustered *c = step->clustered;
    int blocks = c->rows.block_count, runs = c->rows.run_count, grain = grain_of(c);
    bool any = false;
    for (int round = 0; round < c->def.strain_iterations && !step->balances; round++) {
        c->rounds++;
        step->balances = c->def.strain_balanced && round + 1 == c->def.strain_iterations;
        pl_tasks_run(tasks, run_limit, step, runs, 1);
        int count = hits(step);
        c->corrections += (uint64_t)count;
        any = any || count;
        if (!count && !(any && step->balances))
            break;
        pl_tasks_run(tasks, run_settle, step, blocks, grain);
        hold_fixed(step);
    }
    if (!any || !c->def.strain_balanced || step->balances)
        return;
    pl_tasks_run(tasks, run_balance, step, runs, 1);
    pl_tasks_run(tasks, run_settle, step, blocks, grain);
    hold_fixed(step);
}

/* Fit, goals, integration, strain limiting, cluster by cluster. */
static void solve_clusters(pl_clustered_step *step, pl_tasks *tasks)
{
    pl_clustered *c = step->clustered;
    int blocks = c->rows.block_count, runs = c->rows.run_count, grain = grain_of(c);
    uint64_t clock = pl_ticks();
    pl_tasks_run(tasks, load, step, blocks, grain);
    note(c, 1, &clock);
    if (c->manifold) {
        pl_tasks_run(tasks, run_measure, step, runs, 1);
        note(c, 0, &clock);
        pl_examples_project_at(c->manifold->examples, c->manifold->present, tasks,
                               step->kernels->width);
        pl_examples_blend_at(c->manifold->examples, c->manifold->blend, tasks,
                             step->kernels->width);
        note(c, 4, &clock);
    }
    pl_tasks_run(tasks, run_fit, step, runs, 1);
    note(c, 0, &clock);
    pl_tasks_run(tasks, run_integrate, step, blocks, grain);
    hold_fixed(step);
    note(c, 1, &clock);
    if (c->def.strain_limit > 0)
        limit_strain(step, tasks);
    note(c, 2, &clock);
    pl_tasks_run(tasks, store, step, blocks, grain);
    note(c, 1, &clock);
}

void pl_clustered_solve_at(pl_clustered *c, const pl_clustered_motion *motion, pl_tasks *tasks,
                           int width)
{
    pl_clustered_step step = start(c, motion, width);
    if (c->member_count < MEMBERS_LEAST)
        tasks = NULL;
    if (c->rings.used)
        pl_rings_solve(&step, tasks);
    else
        solve_clusters(&step, tasks);
    uint64_t clock = pl_ticks();
    if (c->def.self_contact)
        pl_clustered_collide(c, motion->x, motion->from, motion->h, motion->friction, tasks);
    if (c->def.self_contact || c->rings.used)
        keep_fixed(motion);
    note(c, 3, &clock);
}

void pl_clustered_solve(pl_clustered *c, const pl_clustered_motion *motion, pl_tasks *tasks)
{
    pl_clustered_solve_at(c, motion, tasks, pl_simd_width());
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* F carried of each cluster, in the room that is kept between passes of the kernels: nine numbers,
   filled up to three vectors. */
enum { FRAME = 12 };
_Static_assert((int)FRAME <= (int)PL_KEPT, "room for the frames of clusters");

static void cluster_frames(void *context, int begin, int end, int worker)
{
    const pl_clustered *c = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const float *f = c->clusters[i].gradient, *g = c->clusters[i].carried;
        float *out = c->rows.kept + FRAME * (size_t)i;
        for (int k = 0; k < FRAME; k++)
            out[k] = k < 9 ? f[k / 3 * 3] * g[k % 3] + f[k / 3 * 3 + 1] * g[3 + k % 3] +
                                 f[k / 3 * 3 + 2] * g[6 + k % 3]
                           : 0;
    }
}

static void frame_of(const pl_clustered *c, int i, float *out)
{
    v4 sum[FRAME / 4] = {{0}};
    float weight = 0, all[FRAME];
    for (int k = c->start[i]; k < c->start[i + 1]; k++) {
        const float *frame = c->rows.kept + FRAME * (size_t)c->owner[c->place[k]];
        float w = c->weight[c->place[k]];
        weight += w;
        for (int j = 0; j < FRAME / 4; j++) {
            v4 part;
            memcpy(&part, frame + 4 * j, sizeof part);
            sum[j] += w * part;
        }
    }
    memcpy(all, sum, sizeof all);
    for (int k = 0; k < 9; k++)
        out[k] = weight > 0 ? all[k] : k % 4 == 0;
}

static void frames(void *context, int begin, int end, int worker)
{
    const pl_clustered *c = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        frame_of(c, i, c->frame + 9 * (size_t)i);
}

void pl_clustered_frames(pl_clustered *c, pl_tasks *tasks)
{
    if (c->rings.used) {
        pl_rings_frames(c, tasks);
        return;
    }
    pl_tasks_run(tasks, cluster_frames, c, c->count, 1024);
    pl_tasks_run(tasks, frames, c, c->n, 1024);
}
