/* Elastic rings (rings.h): which bodies they are, what the kernels want to know of them, and a
   sub-step. */
#include "matter/rings.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "math/simd.h"
#include "matter/examples_lanes.h"

enum { GROUP = PL_COLUMNS };

/* ---- Rest positions -------------------------------------------------------------------------- */

/* What a body must be made of: at least so many regions, none with more members than PL_RING_MOST,
   no fewer than particles by half; nothing that flows, breaks, fades or is limited. */
enum { REGIONS_LEAST = 32 };

bool pl_rings_are_possible(const pl_clustered_def *def)
{
    return isinf(def->yield) && isinf(def->toughness) && !(def->strain_limit > 0);
}

static bool is_identity(const float m[9])
{
    for (int k = 0; k < 9; k++)
        if (m[k] != (k % 4 == 0 ? 1.0f : 0.0f))
            return false;
    return true;
}

static bool is_elastic(const pl_clustered *c)
{
    bool suits =
        c->count >= REGIONS_LEAST && 2 * c->count >= c->n && pl_rings_are_possible(&c->def);
    for (int i = 0; suits && i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        suits = cluster->count <= PL_RING_MOST && cluster->phase == PL_PHASE_WHOLE &&
                is_identity(cluster->plastic) && is_identity(cluster->carried);
    }
    return suits;
}

/* Rest positions, three doubles for each particle: those of one region follow from any of its
   members. */
typedef struct rest {
    double (*q)[3];
    int32_t *seen;  /* [clusters] the rest centre is known: by this member */
    int32_t *queue; /* [clusters] */
    int waiting;
} rest;

static void enqueue_regions(const pl_clustered *c, int particle, rest *r)
{
    for (int k = c->start[particle]; k < c->start[particle + 1]; k++) {
        int cluster = c->owner[c->place[k]];
        if (r->seen[cluster] >= 0)
            continue;
        r->seen[cluster] = c->place[k];
        r->queue[r->waiting++] = cluster;
    }
}

static void rest_centre(const pl_clustered *c, const rest *r, int cluster, double out[3])
{
    int m = r->seen[cluster];
    for (int k = 0; k < 3; k++)
        out[k] = r->q[c->particle[m]][k] - (double)c->p[k][m];
}

/* From one particle of each connected part on. */
static rest find_rest(pl_clustered *c)
{
    rest r = {.q = c->rows.sort, .seen = c->rows.spare, .queue = c->rows.spare + c->count};
    int done = 0;
    for (int i = 0; i < c->count; i++)
        r.seen[i] = -1;
    for (int i = 0; i < c->n; i++)
        r.q[i][0] = NAN;
    for (int i = 0; i < c->n; i++) {
        if (!isnan(r.q[i][0]))
            continue;
        memset(r.q[i], 0, sizeof r.q[i]);
        for (enqueue_regions(c, i, &r); done < r.waiting; done++) {
            const pl_cluster *cluster = c->clusters + r.queue[done];
            double centre[3];
            rest_centre(c, &r, r.queue[done], centre);
            for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
                int particle = c->particle[m];
                if (!isnan(r.q[particle][0]))
                    continue;
                for (int k = 0; k < 3; k++)
                    r.q[particle][k] = centre[k] + (double)c->p[k][m];
                enqueue_regions(c, particle, &r);
            }
        }
    }
    return r;
}

/* Whether all regions agree on where their members are at rest. */
bool pl_rings_suit(pl_clustered *c)
{
    if (!is_elastic(c))
        return false;
    rest r = find_rest(c);
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *cluster = c->clusters + i;
        double centre[3], off = 0, size = 0;
        rest_centre(c, &r, i, centre);
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            for (int k = 0; k < 3; k++) {
                double p = (double)c->p[k][m];
                off = fmax(off, fabs(r.q[c->particle[m]][k] - centre[k] - p));
                size = fmax(size, fabs(p));
            }
        if (!(off <= 1e-4 * size))
            return false;
    }
    return true;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static int groups_of(const pl_clustered *c)
{
    return (c->count + GROUP - 1) / GROUP;
}

/* Where the slots of each group start: as many as its largest region has members. */
static void count_slots(pl_clustered *c)
{
    pl_rings *rings = &c->rings;
    rings->start[0] = 0;
    for (int group = 0; group < groups_of(c); group++) {
        int most = 0;
        rings->flat[group] = 0;
        for (int i = group * GROUP; i < (group + 1) * GROUP && i < c->count; i++) {
            int count = c->clusters[c->rows.sequence[i]].count;
            most = count > most ? count : most;
        }
        rings->start[group + 1] = rings->start[group] + most;
    }
}

/* The member in a lane of a slot, -1 = none. */
static int member_in(const pl_clustered *c, int group, int slot, int lane)
{
    int k = slot - c->rings.start[group], at = group * GROUP + lane;
    if (at >= c->count)
        return -1;
    const pl_cluster *cluster = c->clusters + c->rows.sequence[at];
    return k < cluster->count ? cluster->first + k : -1;
}

/* Short regions are filled up with their first member, absent ones with the first row. */
static int row_in(const pl_clustered *c, int group, int slot, int lane)
{
    int m = member_in(c, group, slot, lane), at = group * GROUP + lane;
    if (m < 0 && at < c->count)
        m = c->clusters[c->rows.sequence[at]].first;
    return m < 0 ? 0 : c->rows.rank[c->particle[m]];
}

/* The particles' side, in ascending order of clusters; the rows behind the last have no regions. */
static void list_regions(pl_clustered *c)
{
    pl_rings *rings = &c->rings;
    int32_t *position = c->rows.sort, at = 0;
    for (int i = 0; i < c->count; i++)
        position[c->rows.sequence[i]] = i;
    for (int row = 0; row < c->rows.row_capacity; row++) {
        int i = row < c->n ? c->rows.order[row] : -1;
        rings->of_start[row] = at;
        for (int k = i < 0 ? 0 : c->start[i]; i >= 0 && k < c->start[i + 1]; k++)
            rings->of[at++] = PL_RING_ROW * position[c->owner[c->place[k]]];
    }
    rings->of_start[c->rows.row_capacity] = at;
}

void pl_rings_lay_out(pl_clustered *c)
{
    pl_rings *rings = &c->rings;
    count_slots(c);
    for (int group = 0; group < groups_of(c); group++)
        for (int slot = rings->start[group]; slot < rings->start[group + 1]; slot++)
            for (int lane = 0; lane < GROUP; lane++)
                rings->row[slot * GROUP + lane] = 8 * row_in(c, group, slot, lane);
    list_regions(c);
}

static void fill_members(pl_clustered *c)
{
    pl_rings *rings = &c->rings;
    for (int group = 0; group < groups_of(c); group++)
        for (int slot = rings->start[group]; slot < rings->start[group + 1]; slot++)
            for (int lane = 0; lane < GROUP; lane++) {
                int m = member_in(c, group, slot, lane);
                float *out = rings->rest + (size_t)slot * 4 * GROUP + lane;
                for (int k = 0; k < 3; k++)
                    out[k * GROUP] = m < 0 ? 0 : c->p[k][m];
                out[3 * GROUP] = m < 0 ? 0 : c->weight[m] * c->mass[c->particle[m]];
            }
    for (int row = 0, at = 0; row < c->n; row++)
        for (int k = c->start[c->rows.order[row]]; k < c->start[c->rows.order[row] + 1]; k++)
            rings->share[at++] = c->weight[c->place[k]];
}

/* The rest of a region, and what a cluster has of its last fit. */
static void fill_region(pl_clustered *c, const rest *r, int at)
{
    int number = c->rows.sequence[at], group = at / GROUP, lane = at % GROUP;
    const pl_cluster *cluster = c->clusters + number;
    const float *s = cluster->inverse, *state = cluster->centre;
    float *fixed = c->rings.fixed + (size_t)group * PL_RING_FIXED * GROUP + lane;
    double centre[3];
    rest_centre(c, r, number, centre);
    for (int k = 0; k < 6; k++)
        fixed[(PL_RING_INVERSE + k) * GROUP] = s[k];
    for (int k = 0; k < 3; k++) {
        fixed[(PL_RING_LEAN + k) * GROUP] = cluster->lean[k];
        fixed[(PL_RING_HOME + k) * GROUP] = (float)centre[k];
    }
    fixed[PL_RING_MASS * GROUP] = cluster->mass;
    fixed[PL_RING_SHARE * GROUP] = cluster->mass > 0 ? 1.0f / cluster->mass : 0;
    fixed[PL_RING_THIN * GROUP] =
        (s[0] + s[3] + s[5]) * (cluster->mass * cluster->width * cluster->width);
    for (int k = 0; k < PL_RING_STATE; k++)
        c->rings.state[((size_t)group * PL_RING_STATE + (size_t)k) * GROUP + (size_t)lane] =
            state[k];
    if (cluster->rank < 3)
        c->rings.flat[group] = 1;
}

/* Lanes without a region: at rest where nothing is. */
static void fill_absent(pl_clustered *c, int at)
{
    size_t group = (size_t)(at / GROUP), lane = (size_t)(at % GROUP);
    for (size_t k = 0; k < PL_RING_FIXED; k++)
        c->rings.fixed[(group * PL_RING_FIXED + k) * GROUP + lane] = 0;
    for (size_t k = 0; k < PL_RING_STATE; k++)
        c->rings.state[(group * PL_RING_STATE + k) * GROUP + lane] = k == PL_RING_TURN + 3;
}

/* Rest positions are counted from their mean: the smaller they are, the less is rounded. */
static void centre_rest(const pl_clustered *c, rest *r)
{
    double mean[3] = {0};
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += r->q[i][k] / c->n;
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++)
            r->q[i][k] -= mean[k];
}

void pl_rings_fill(pl_clustered *c)
{
    fill_members(c);
    rest r = find_rest(c);
    centre_rest(c, &r);
    for (int row = 0; row < c->n; row++)
        for (int k = 0; k < 3; k++)
            c->rings.home[4 * (size_t)row + (size_t)k] = (float)r.q[c->rows.order[row]][k];
    for (int at = 0; at < groups_of(c) * GROUP; at++)
        if (at < c->count)
            fill_region(c, &r, at);
        else
            fill_absent(c, at);
}

/* ---- A sub-step ------------------------------------------------------------------------------ */

typedef struct kernels {
    int width;
    void (*measure)(const pl_clustered_step *step, int begin, int end);
    void (*fit)(const pl_clustered_step *step, int begin, int end);
    void (*move)(const pl_clustered_step *step, int begin, int end);
    void (*show)(const pl_clustered *clustered, int begin, int end);
    void (*average)(const pl_clustered *clustered, int begin, int end);
} kernels;

#define TABLE(width)                                                                               \
    [PL_SIMD_PLACE(width)] = {width,                                                               \
                              pl_rings_measure_w##width,                                           \
                              pl_rings_fit_w##width,                                               \
                              pl_rings_move_w##width,                                              \
                              pl_rings_show_w##width,                                              \
                              pl_rings_average_w##width},

static const kernels *kernels_of(int width)
{
    static const kernels tables[] = {PL_SIMD_EACH(TABLE)};
    return tables + PL_SIMD_PLACE(pl_simd_supports(width) ? width : 4);
}

typedef struct work {
    pl_clustered_step *step;
    const kernels *kernels;
    pl_clustered *clustered;
} work;

static void load(void *context, int begin, int end, int worker)
{
    const work *w = context;
    const pl_clustered_motion *motion = w->step->motion;
    const pl_clustered *c = w->clustered;
    int last = end * PL_ROW_BLOCK < c->n ? end * PL_ROW_BLOCK : c->n;
    (void)worker;
    for (int row = begin * PL_ROW_BLOCK; row < last; row++) {
        size_t i = 3 * (size_t)c->rows.order[row];
        float *x = c->rings.x + 8 * (size_t)row, *push = c->rows.push + 4 * (size_t)row;
        for (int k = 0; k < 3; k++)
            x[k] = motion->from[i + (size_t)k], x[4 + k] = motion->u[i + (size_t)k];
        for (int k = 0; motion->push && k < 3; k++)
            push[k] = motion->push[i + (size_t)k];
    }
}

static void run_measure(void *context, int begin, int end, int worker)
{
    const work *w = context;
    (void)worker;
    w->kernels->measure(w->step, begin, end);
}

static void run_fit(void *context, int begin, int end, int worker)
{
    const work *w = context;
    (void)worker;
    w->kernels->fit(w->step, begin, end);
}

static void run_move(void *context, int begin, int end, int worker)
{
    const work *w = context;
    (void)worker;
    w->kernels->move(w->step, begin, end);
}

static void run_show(void *context, int begin, int end, int worker)
{
    const work *w = context;
    (void)worker;
    w->kernels->show(w->clustered, begin, end);
}

static void run_average(void *context, int begin, int end, int worker)
{
    const work *w = context;
    (void)worker;
    w->kernels->average(w->clustered, begin, end);
}

/* Blocks of rows, and groups, that are worth handing to another thread. */
enum { BLOCKS_LEAST = 16, GROUPS_LEAST = 16 };

static void note(pl_clustered *c, int phase, uint64_t *clock)
{
    uint64_t now = pl_ticks();
    c->ticks[phase] += now - *clock;
    *clock = now;
}

void pl_rings_solve(pl_clustered_step *step, pl_tasks *tasks)
{
    pl_clustered *c = step->clustered;
    int width = step->kernels->width, groups = groups_of(c), blocks = c->rows.block_count;
    work w = {step, kernels_of(width), c};
    uint64_t clock = pl_ticks();
    pl_tasks_run(tasks, load, &w, blocks, BLOCKS_LEAST);
    note(c, 1, &clock);
    if (c->manifold) {
        pl_tasks_run(tasks, run_measure, &w, groups, GROUPS_LEAST);
        note(c, 0, &clock);
        pl_examples_project_at(c->manifold->examples, c->manifold->present, tasks, width);
        pl_examples_blend_at(c->manifold->examples, c->manifold->blend, tasks, width);
        note(c, 4, &clock);
    }
    pl_tasks_run(tasks, run_fit, &w, groups, GROUPS_LEAST);
    note(c, 0, &clock);
    pl_tasks_run(tasks, run_move, &w, blocks, BLOCKS_LEAST);
    note(c, 1, &clock);
    if (!step->motion->inner || c->def.self_contact)
        pl_tasks_run(tasks, run_show, &w, groups, GROUPS_LEAST);
    note(c, 0, &clock);
}

/* Rows of regions are free between the sub-steps: F takes the place of T. */
void pl_rings_frames(pl_clustered *c, pl_tasks *tasks)
{
    work w = {.kernels = kernels_of(pl_simd_width()), .clustered = c};
    for (int at = 0; at < c->count; at++) {
        const float *state = c->rings.state + (at / GROUP * PL_RING_STATE * GROUP + at % GROUP);
        float *row = c->rings.rows + (size_t)at * PL_RING_ROW;
        for (int k = 0; k < 9; k++)
            row[k] = state[(PL_RING_GRADIENT + k) * GROUP];
        row[PL_RING_ROW - 1] = 1;
    }
    pl_tasks_run(tasks, run_average, &w, (c->n + GROUP - 1) / GROUP, 4 * BLOCKS_LEAST);
}
