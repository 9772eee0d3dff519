/* Tetrahedral matter: definitions, bodies, and one sub-step of their motion; kernels do the work.

   Local and global step: r = −h² × gradient at the rotations of the elements, A Δ = r, x += Δ.
   Accelerated: quasi-Newton with A as the first guess of the Hessian (Liu, Bouaziz, Kavan 2017),
   from the last steps S and the changes −Y of r over them:
       p = H r,   H = (1 − S B⁻¹ Yᵀ) A⁻¹ (1 − Y B⁻¹ Sᵀ) + S B⁻¹ Sᵀ,   B = SᵀY.
   That is L-BFGS with all pairs taken together instead of one after the other: without a search
   along p, steps are not conjugate, and taken singly they forget each other (a cantilever takes
   twice the iterations). B, Sᵀr and Yᵀz are all the inner products there are, and B follows from
   those of the step before. A step that raised the energy is taken back, and a plain one made
   instead, which cannot. Interpolated rotations have no energy; what bounds their steps instead is
   said at is_bounded and FLAT_BLENDED. */
#include "matter/tetrahedral.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "matter/tetrahedral_lanes.h"

#define COOKIE 0x706c7465
#define LANES PL_TET_LANES

/* ---- Definitions ----------------------------------------------------------------------------- */

pl_tetrahedral_def pl_default_tetrahedral_def(void)
{
    return (pl_tetrahedral_def){.poisson = 0.3,
                                .volume = PL_TET_TRACE,
                                .rotations = PL_TET_EXACT,
                                .sampled = 0.1,
                                .weight_cap = 4,
                                .threshold = 0.01,
                                .accelerated = true,
                                .window = 12,
                                .yield = INFINITY,
                                .flow = 10,
                                .condition = 6,
                                .cookie = COOKIE};
}

#define CHECK(condition, field, ...)                                                               \
    PL_CHECK(condition, PL_ERROR_ARGUMENT, error, field, __VA_ARGS__)

static pl_status check_flow(const pl_tetrahedral_def *d, pl_error *error)
{
    CHECK(d->yield >= 0, "yield", "is %g; use 0 or more, or infinity for no plastic flow",
          d->yield);
    CHECK(d->flow >= 0 && d->flow <= 1e9, "flow", "is %g; use a rate of 0 to 1e9 per second",
          d->flow);
    CHECK(fabs(d->hardening) <= 1e9, "hardening",
          "is %g; use a rate of at most 1e9 per second, negative where it softens", d->hardening);
    CHECK(d->condition > 1, "condition", "is %g; use a number above 1 (6 is usual)", d->condition);
    CHECK(d->rotations == PL_TET_EXACT || d->yield == (double)INFINITY, "yield",
          "plastic flow needs exact rotations: interpolated ones know nothing of it");
    return PL_OK;
}

pl_status pl_tetrahedral_check(const pl_tetrahedral_def *d, pl_error *error)
{
    PL_REQUIRE(d->cookie == COOKIE, PL_ERROR_ARGUMENT, error, NULL,
               "make definitions with pl_default_tetrahedral_def");
    CHECK(d->poisson >= 0 && d->poisson <= 0.4999, "poisson",
          "is %g; use a ratio from 0 to 0.4999 (0.3 is usual)", d->poisson);
    CHECK(d->volume == PL_TET_TRACE || d->volume == PL_TET_DETERMINANT, "volume",
          "is %d; use one of pl_tet_volume", (int)d->volume);
    CHECK(d->rotations >= PL_TET_EXACT && d->rotations <= PL_TET_FOLDED, "rotations",
          "is %d; use one of pl_tet_rotations", (int)d->rotations);
    CHECK(d->sampled > 0 && d->sampled <= 1, "sampled",
          "is %g; use a part of the elements above 0 and at most 1 (0.1 is usual)", d->sampled);
    CHECK(d->weight_cap >= 1 && d->weight_cap <= 16, "weight_cap",
          "is %d; use 1 to 16 (4 is usual)", d->weight_cap);
    CHECK(d->threshold >= 0 && d->threshold <= 0.5, "threshold",
          "is %g; use 0 to 0.5 (0.01 is usual)", d->threshold);
    CHECK(d->window >= 1 && d->window <= PL_TET_MOST_WINDOW, "window",
          "is %d; use 1 to %d (12 is usual)", d->window, PL_TET_MOST_WINDOW);
    CHECK(d->rotations != PL_TET_FOLDED || d->poisson == 0, "poisson",
          "is %g; the folded blend has no volume term: use 0, or other rotations", d->poisson);
    return check_flow(d, error);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static bool has_turns(const pl_tet_system *s)
{
    return s->def.rotations == PL_TET_EXACT;
}

/* State under one system; what was taken so far is freed with the body. */
static bool body_alloc(pl_tetrahedral *b)
{
    const pl_tet_system *s = b->system;
    pl_memory *m = b->memory;
    size_t groups = has_turns(s) ? (size_t)s->group_count : 0;
    bool flows = s->def.yield < (double)INFINITY;
    b->turn = PL_NEW(m, float, 4 * LANES * groups);
    b->sample_turn = PL_NEW(m, float, 4 * LANES * (size_t)s->sample_groups);
    b->plastic = flows ? PL_NEW(m, float, 9 * LANES * groups) : NULL;
    b->worked = flows ? PL_NEW(m, float, LANES *groups) : NULL;
    return b->turn && b->sample_turn && (!flows || (b->plastic && b->worked));
}

static void body_free(pl_tetrahedral *b)
{
    pl_memory_free(b->memory, b->turn);
    pl_memory_free(b->memory, b->sample_turn);
    pl_memory_free(b->memory, b->plastic);
    pl_memory_free(b->memory, b->worked);
}

static void reset_state(pl_tetrahedral *b)
{
    const pl_tet_system *s = b->system;
    for (int g = 0; g < s->group_count && has_turns(s); g++)
        for (int lane = 0; lane < LANES; lane++) {
            b->turn[(g * 4 + 3) * (ptrdiff_t)LANES + lane] = 1;
            for (int k = 0; k < 9 && b->plastic; k += 4)
                b->plastic[(g * 9 + k) * (ptrdiff_t)LANES + lane] = 1;
        }
    for (int g = 0; g < s->sample_groups; g++)
        for (int lane = 0; lane < LANES; lane++)
            b->sample_turn[(g * 4 + 3) * (ptrdiff_t)LANES + lane] = 1;
}

pl_status pl_tetrahedral_create(pl_memory *memory, pl_tet_system *system, pl_tetrahedral **body,
                                pl_error *error)
{
    *body = NULL;
    pl_tetrahedral *b = PL_NEW(memory, pl_tetrahedral, 1);
    PL_CHECK(b, PL_ERROR_MEMORY, error, NULL, "out of memory");
    b->memory = memory;
    b->system = system;
    if (!body_alloc(b)) {
        body_free(b);
        pl_memory_free(memory, b);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    }
    pl_tet_system_keep(system);
    reset_state(b);
    *body = b;
    return PL_OK;
}

void pl_tetrahedral_destroy(pl_tetrahedral *b)
{
    if (!b)
        return;
    body_free(b);
    pl_tet_free_examples(b);
    pl_tet_system_drop(b->system);
    pl_memory_free(b->memory, b);
}

const pl_tet_system *pl_tetrahedral_system(const pl_tetrahedral *body)
{
    return body->system;
}

/* Lanes, samples and blocks depend on the mesh alone, so that the state is copied as it is. */
static void copy_state(pl_tetrahedral *to, const pl_tetrahedral *from)
{
    const pl_tet_system *s = to->system;
    size_t groups = has_turns(s) ? (size_t)s->group_count : 0;
    memcpy(to->turn, from->turn, 4 * LANES * groups * sizeof(float));
    memcpy(to->sample_turn, from->sample_turn,
           4 * LANES * (size_t)s->sample_groups * sizeof(float));
    if (to->plastic) {
        memcpy(to->plastic, from->plastic, 9 * LANES * groups * sizeof(float));
        memcpy(to->worked, from->worked, LANES * groups * sizeof(float));
    }
    to->examples = from->examples;
    to->descriptor = from->descriptor;
    to->blend = from->blend;
    to->modified = from->modified;
    to->modified_before = from->modified_before;
    to->example_energy = from->example_energy;
}

pl_status pl_tetrahedral_move(pl_tetrahedral *body, pl_tet_system *system, pl_error *error)
{
    PL_REQUIRE(system->hash == body->system->hash, PL_ERROR_ARGUMENT, error, "system",
               "another mesh or another definition");
    pl_tetrahedral next = {.memory = body->memory, .system = system, .report = body->report};
    if (!body_alloc(&next)) {
        body_free(&next);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    }
    copy_state(&next, body);
    pl_tet_system_keep(system);
    body_free(body);
    pl_tet_system_drop(body->system);
    *body = next;
    return PL_OK;
}

pl_tet_report pl_tetrahedral_get_report(const pl_tetrahedral *body)
{
    return body->report;
}

/* ---- The start of a sub-step ----------------------------------------------------------------- */

/* Finite, or the other one. */
static float mend(pl_tetrahedral *b, float value, float instead)
{
    if (fabsf(value) <= 1e18f)
        return value;
    b->report.mended++;
    return instead;
}

static void load_row(pl_tetrahedral *b, const pl_tet_motion *m, ptrdiff_t row, float decay)
{
    const pl_tet_system *s = b->system;
    ptrdiff_t at = 3 * (ptrdiff_t)s->node_of[row];
    float h = (float)s->h;
    for (int k = 0; k < 3; k++) {
        float u = m->u ? mend(b, m->u[at + k], 0) : 0;
        float push = m->push ? mend(b, m->push[at + k], 0) : 0;
        float d = mend(b, m->from[at + k], s->rest[4 * row + k]) - s->rest[4 * row + k];
        float start = d + h * (decay * u);
        b->room.d[4 * row + k] = start;
        b->room.y[4 * row + k] = start + h * h * (push + (float)m->fall[k]);
    }
    b->room.d[4 * row + 3] = b->room.y[4 * row + 3] = 0;
}

/* Where the targets are; also for nodes of no element, which go where they are drawn to. Nothing of
   what another body left in the room is kept. */
static void load(pl_tetrahedral *b, const pl_tet_motion *m)
{
    const pl_tet_system *s = b->system;
    float decay = (float)pl_exp(-m->damping * s->h);
    for (ptrdiff_t row = 0; row < s->rows; row++) {
        if (s->node_of[row] >= 0) {
            load_row(b, m, row, decay);
        } else {
            memset(b->room.d + 4 * row, 0, 4 * sizeof(float));
            memset(b->room.y + 4 * row, 0, 4 * sizeof(float));
        }
        if (row >= s->padded)
            memcpy(b->room.d + 4 * row, b->room.y + 4 * row, 3 * sizeof(float));
    }
    for (int k = 0; k < s->fixed_count; k++)
        for (int c = 0; c < 3; c++) {
            float *d = b->room.d + 4 * (ptrdiff_t)s->fixed[k] + c;
            const float *rest = s->rest + 4 * (ptrdiff_t)s->fixed[k] + c;
            double target = m->targets ? m->targets[7 * k + c] : (double)*rest;
            *d = mend(b, (float)(target - (double)*rest), 0);
        }
}

/* ---- Pieces without a fixed node
   ------------------------------------------------------------------

   They move as a whole as if they were points: their mean is set in doubles, and taken out of every
   system, whose constant vectors are far softer than the rest. */

typedef enum what {
    MEAN_TARGET,  /* d moves to the mean of y */
    MEAN_FORCE,   /* z: a right-hand side */
    MEAN_SOLUTION /* z: a solution */
} what;

enum { PIECES_AT_ONCE = 64 };

typedef float v4 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));

static inline d4 wide(const float *row)
{
    v4 v;
    memcpy(&v, __builtin_assume_aligned(row, 16), sizeof v);
    return __builtin_convertvector(v, d4);
}

static void centre_pieces(pl_tetrahedral *b, what kind, int first, int count)
{
    const pl_tet_system *s = b->system;
    d4 sum[PIECES_AT_ONCE] = {{0}};
    for (ptrdiff_t row = 0; row < s->unknowns; row++) {
        int piece = s->piece[row] - first;
        if (piece < 0 || piece >= count)
            continue;
        double mass = (double)s->mass[row];
        if (kind == MEAN_TARGET)
            sum[piece] += mass * (wide(b->room.d + 4 * row) - wide(b->room.y + 4 * row));
        else if (kind == MEAN_FORCE)
            sum[piece] += wide(b->room.z + 4 * row);
        else
            sum[piece] += mass * wide(b->room.z + 4 * row);
    }
    for (int piece = 0; piece < count; piece++)
        sum[piece] /= s->piece_mass[first + piece];
    for (ptrdiff_t row = 0; row < s->unknowns; row++) {
        int piece = s->piece[row] - first;
        if (piece < 0 || piece >= count)
            continue;
        float *at = (kind == MEAN_TARGET ? b->room.d : b->room.z) + 4 * row;
        d4 by = kind == MEAN_FORCE ? (double)s->mass[row] * sum[piece] : sum[piece];
        v4 moved = __builtin_convertvector(wide(at) - by, v4);
        memcpy(__builtin_assume_aligned(at, 16), &moved, sizeof moved);
    }
}

static void centre(pl_tetrahedral *b, what kind)
{
    for (int first = 0; first < b->system->free_count; first += PIECES_AT_ONCE) {
        int left = b->system->free_count - first;
        centre_pieces(b, kind, first, left < PIECES_AT_ONCE ? left : PIECES_AT_ONCE);
    }
}

/* ---- Passes ---------------------------------------------------------------------------------- */

typedef struct job {
    pl_tetrahedral *body;
    void (*kernel)(pl_tetrahedral *body, int begin, int end);
} job;

static void run_job(void *context, int begin, int end, int worker)
{
    (void)worker;
    const job *j = context;
    j->kernel(j->body, begin, end);
}

static void pass(pl_tetrahedral *b, void (*kernel)(pl_tetrahedral *, int, int), int count,
                 int grain, pl_tasks *tasks)
{
    job j = {b, kernel};
    if (count <= grain)
        kernel(b, 0, count);
    else
        pl_tasks_run(tasks, run_job, &j, count, grain);
}

enum { BLOCKS_LEAST = 2, ROW_BLOCKS_LEAST = 4, SAMPLES_LEAST = 16 };

static int row_blocks(const pl_tetrahedral *b)
{
    return (b->system->padded + PL_TET_ROW_BLOCK - 1) / PL_TET_ROW_BLOCK;
}

static void pass_rows(pl_tetrahedral *b, void (*kernel)(pl_tetrahedral *, int, int),
                      pl_tasks *tasks)
{
    pass(b, kernel, row_blocks(b), ROW_BLOCKS_LEAST, tasks);
}

static double row_sum(const pl_tetrahedral *b, int k)
{
    double sum = 0;
    for (int block = 0; block < row_blocks(b); block++)
        sum += b->room.row_sums[(ptrdiff_t)block * (PL_TET_MOST_WINDOW + 2) + k];
    return sum;
}

/* Rotations, residual, energy, and products with the history, at d. */
static void look(pl_tetrahedral *b, const pl_tet_table *table, pl_tasks *tasks)
{
    const pl_tet_system *s = b->system;
    pl_tet_run *run = &b->run;
    int pairs = run->history + run->measured;
    bool folded = s->def.rotations == PL_TET_FOLDED;
    double elastic = b->examples ? pl_tet_follow_examples(b, table, tasks) : 0;
    if (s->sample_groups)
        pass(b, table->sample, s->sample_groups, SAMPLES_LEAST, tasks);
    if (!folded)
        pass(b, table->local, s->block_count, BLOCKS_LEAST, tasks);
    pass_rows(b, table->combine, tasks);
    double inertia = row_sum(b, PL_TET_MOST_WINDOW + 1);
    for (int k = 0; k < s->block_count && !folded; k++)
        elastic += b->room.block_energy[k];
    run->energy = inertia + elastic;
    run->scale = fabs(inertia) + elastic;
    for (int k = 0; k < pairs; k++)
        run->sr[k] = row_sum(b, k);
    b->report.energy = run->energy;
}

/* ---- The quasi-Newton method ----------------------------------------------------------------- */

/* Below this part of the energy, rounding hides what a step did to it; its slopes at both ends
   tell. */
#define ENERGY_NOISE 1e-5

static bool is_blended(const pl_tetrahedral *b)
{
    return b->system->def.rotations != PL_TET_EXACT;
}

/* Interpolated rotations belong to no energy, and along some directions the residual knows no way
   back: a step that is far longer (in A) than the first, or at whose end it pulls along as hard as
   before, may have left for good. */
#define FARTHEST 100 /* the square of the ratio */
#define LEFT 0.8     /* of the pull, at most */

static bool is_bounded(const pl_tet_run *run, double after)
{
    int slot = run->slot[run->history];
    return after >= -run->slope && after <= LEFT * run->slope &&
           run->gram[slot][slot] <= FARTHEST * run->first_slope;
}

/* Whether the step that led here may stand. p·r is the slope downwards, before (`slope`) and after
   it. Without an energy (interpolated rotations, examples with a bias or a volume term) the slopes
   count, and a plain step has to stand whatever it did. */
static bool is_good(const pl_tetrahedral *b)
{
    const pl_tet_run *run = &b->run;
    double after = run->sr[run->history];
    bool downhill = run->slope + after >= 0;
    if (!(fabs(after) < (double)INFINITY) || !(fabs(run->energy) < (double)INFINITY))
        return false;
    if (b->examples)
        return downhill || run->history == 0;
    if (is_blended(b))
        return run->history == 0 || is_bounded(run, after);
    double rise = run->energy - run->before;
    return rise <= 0 || (rise <= ENERGY_NOISE * run->scale && downhill);
}

static void swap(float **a, float **b)
{
    float *c = *a;
    *a = *b;
    *b = c;
}

/* Back to where the last step began; the history is of no use there. */
static void take_back(pl_tetrahedral *b)
{
    pl_tet_run *run = &b->run;
    memcpy(b->room.d, b->room.before, 4 * (size_t)b->system->padded * sizeof(float));
    swap(&b->room.r, &b->room.r_before);
    swap(&b->modified, &b->modified_before);
    run->energy = run->before;
    run->history = 0;
    run->measured = false;
    b->report.refused++;
}

/* Below this part of what the last Hessian says, the curvature along a step is rounding, or
   negative. */
#define FLAT 1e-6
/* Below this part of what A says, that of interpolated rotations is not to be trusted: their
   Jacobian is not symmetric, and the steps that it asks for create energy in small bodies that
   spin. */
#define FLAT_BLENDED 0.1

/* The last step and the change of the gradient over it become the newest pair. */
static void remember(pl_tetrahedral *b)
{
    pl_tet_run *run = &b->run;
    int n = run->history, slot = run->slot[n];
    double curvature = run->slope - run->sr[n];
    bool flat = !(curvature > FLAT * run->slope);
    if (flat || (is_blended(b) && !(curvature > FLAT_BLENDED * run->gram[slot][slot]))) {
        run->measured = false;
        return;
    }
    for (int k = 0; k < n; k++) {
        run->sy[run->slot[k]][slot] = run->sr_before[k] - run->sr[k];
        run->sy[slot][run->slot[k]] = run->yz[k];
    }
    run->sy[slot][slot] = curvature;
    run->history++;
}

/* The oldest pair goes, to make room for the one that the next step makes. */
static void forget(pl_tetrahedral *b)
{
    pl_tet_run *run = &b->run;
    int oldest = run->slot[0];
    run->history--;
    for (int k = 0; k < run->history; k++) {
        run->slot[k] = run->slot[k + 1];
        run->sr[k] = run->sr[k + 1];
    }
    run->slot[run->history] = oldest;
}

/* Number k from the newest. */
static int newest(const pl_tet_run *run, int k)
{
    return run->slot[run->history - 1 - k];
}

/* Below this part of its square, what a step adds to those after it is rounding. */
#define DEPENDENT 1e-5

/* The Cholesky root of the symmetric part of SᵀY at unit diagonal. Steps that depend on newer ones
   get no part: a zero in the diagonal. */
static void factor_history(pl_tet_run *run)
{
    for (int i = 0; i < run->history; i++)
        for (int j = 0; j <= i; j++) {
            int a = newest(run, i), c = newest(run, j);
            double sum =
                0.5 * (run->sy[a][c] + run->sy[c][a]) / sqrt(run->sy[a][a] * run->sy[c][c]);
            for (int k = 0; k < j; k++)
                sum -= run->root[i][k] * run->root[j][k];
            if (i == j)
                run->root[i][i] = sum > DEPENDENT ? sqrt(sum) : 0;
            else
                run->root[i][j] = run->root[j][j] > 0 ? sum / run->root[j][j] : 0;
        }
}

/* out = (SᵀY)⁻¹ in, both by age, oldest first. */
static void solve_history(const pl_tet_run *run, const double *in, double *out)
{
    double x[PL_TET_MOST_WINDOW];
    int n = run->history;
    for (int i = 0; i < n; i++) {
        int a = newest(run, i);
        x[i] = in[n - 1 - i] / sqrt(run->sy[a][a]);
        for (int k = 0; k < i; k++)
            x[i] -= run->root[i][k] * x[k];
        x[i] = run->root[i][i] > 0 ? x[i] / run->root[i][i] : 0;
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= run->root[k][i] * x[k];
        x[i] = run->root[i][i] > 0 ? x[i] / run->root[i][i] : 0;
    }
    for (int i = 0; i < n; i++) {
        int a = newest(run, i);
        out[n - 1 - i] = x[i] / sqrt(run->sy[a][a]);
    }
}

/* α = B⁻¹ Sᵀr: S α goes to the minimum in the span of the steps so far, were the energy
   quadratic. */
static void first_half(pl_tetrahedral *b)
{
    factor_history(&b->run);
    solve_history(&b->run, b->run.sr, b->run.alpha);
}

/* SᵀAp and pᵀAp of the step p = z + S c, from products there are: A z = r − Y α. `yz` is Yᵀz, zᵀAz
   = z·r − αᵀYᵀz. */
static void measure_step(pl_tet_run *run, const double *yz)
{
    int n = run->history, slot = run->slot[n];
    double length = run->slope;
    for (int j = 0; j < n; j++) {
        double *to_step = &run->gram[slot][run->slot[j]], to_z = run->sr[j];
        for (int k = 0; k < n; k++)
            to_z -= run->alpha[k] * run->sy[run->slot[j]][run->slot[k]];
        *to_step = to_z;
        for (int k = 0; k < n; k++)
            *to_step += run->step[k] * run->gram[run->slot[j]][run->slot[k]];
        run->gram[run->slot[j]][slot] = *to_step;
        length += run->step[j] * (to_z + *to_step - run->sr[j]) - run->alpha[j] * yz[j];
    }
    run->gram[slot][slot] = length;
}

/* p = z + S c, c = α − B⁻¹ Yᵀz; and Yᵀp. */
static void second_half(pl_tetrahedral *b)
{
    pl_tet_run *run = &b->run;
    double beta[PL_TET_MOST_WINDOW + 1];
    solve_history(run, run->yz, beta);
    for (int k = 0; k < run->history; k++)
        run->step[k] = run->alpha[k] - beta[k];
    for (int k = 0; k < run->history; k++)
        for (int j = 0; j < run->history; j++)
            run->yz[k] += run->step[j] * run->sy[run->slot[j]][run->slot[k]];
}

/* From d to a right-hand side in z. */
static void prepare(pl_tetrahedral *b, const pl_tet_table *table, pl_tasks *tasks)
{
    pl_tet_run *run = &b->run;
    look(b, table, tasks);
    if (run->measured) {
        if (is_good(b))
            remember(b);
        else
            take_back(b);
    }
    if (run->history > b->system->def.window)
        forget(b);
    first_half(b);
    pass_rows(b, table->direct, tasks);
    centre(b, MEAN_FORCE);
}

/* From the solution in z to the next d. */
static void proceed(pl_tetrahedral *b, const pl_tet_table *table, pl_tasks *tasks)
{
    pl_tet_run *run = &b->run;
    centre(b, MEAN_SOLUTION);
    if (run->history) {
        pass_rows(b, table->measure, tasks);
        for (int k = 0; k < run->history; k++)
            run->yz[k] = row_sum(b, k);
    }
    double yz[PL_TET_MOST_WINDOW + 1];
    memcpy(yz, run->yz, sizeof yz);
    second_half(b);
    pass_rows(b, table->advance, tasks);
    memcpy(run->sr_before, run->sr, sizeof run->sr);
    run->slope = row_sum(b, 0);
    if (is_blended(b))
        measure_step(run, yz);
    swap(&b->room.r, &b->room.r_before);
    run->before = run->energy;
    run->measured = b->system->def.accelerated;
    if (run->iteration++ == 0)
        run->first_slope = run->slope;
    b->report.iterations++;
    b->report.residual = run->first_slope > 0 ? sqrt(fabs(run->slope) / run->first_slope) : 0;
}

typedef struct crowd {
    pl_tetrahedral *const *bodies;
    const pl_tet_motion *motions;
    int count, at_once, iterations;
    const pl_tet_table *table;
    pl_tasks *tasks; /* within one body */
} crowd;

static void begin(pl_tetrahedral *b, const pl_tet_motion *m, const crowd *c)
{
    b->run = (pl_tet_run){0};
    for (int k = 0; k <= PL_TET_MOST_WINDOW; k++)
        b->run.slot[k] = k;
    load(b, m);
    centre(b, MEAN_TARGET);
    memcpy(b->room.start, b->room.d, 4 * (size_t)b->system->rows * sizeof(float));
    if (b->examples)
        pl_tet_begin_examples(b, c->table, c->tasks);
}

static void finish(pl_tetrahedral *b, const pl_tet_motion *m)
{
    const pl_tet_system *s = b->system;
    centre(b, MEAN_TARGET);
    for (ptrdiff_t row = 0; row < s->rows; row++) {
        ptrdiff_t at = 3 * (ptrdiff_t)s->node_of[row];
        for (int k = 0; k < 3 && at >= 0; k++) {
            float rest = s->rest[4 * row + k], from = m->from[at + k];
            if (!(fabsf(from) <= 1e18f))
                from = rest;
            /* What did not move keeps its bits. */
            float d = mend(b, b->room.d[4 * row + k], from - rest);
            m->x[at + k] = from + (d - (from - rest));
        }
    }
    for (int k = 0; k < s->fixed_count; k++)
        for (int c = 0; c < 3 && m->targets; c++) {
            ptrdiff_t node = s->node_of[s->fixed[k]];
            float target = (float)m->targets[7 * k + c];
            m->x[3 * node + c] =
                fabsf(target) <= 1e18f ? target : s->rest[4 * (ptrdiff_t)s->fixed[k] + c];
        }
}

/* ---- Several bodies -------------------------------------------------------------------------- */

/* A z = right-hand side, for all of them together. */
static void solve_systems(const crowd *c, int first, int count, pl_tet_scratch *scratch)
{
    const pl_tet_system *s = c->bodies[first]->system;
    ptrdiff_t stride = 3 * count;
    for (int k = 0; k < count; k++) {
        const float *z = c->bodies[first + k]->room.z;
        for (ptrdiff_t row = 0; row < s->unknowns; row++)
            memcpy(scratch->x + row * stride + 3 * k, z + 4 * row, 3 * sizeof(float));
    }
    pl_supernodal_solve(s->factor, scratch->x, count, scratch->work, c->tasks);
    for (int k = 0; k < count; k++) {
        float *z = c->bodies[first + k]->room.z;
        for (ptrdiff_t row = 0; row < s->unknowns; row++)
            memcpy(z + 4 * row, scratch->x + row * stride + 3 * k, 3 * sizeof(float));
    }
}

static void iterate(const crowd *c, int first, int count, pl_tet_scratch *scratch)
{
    pl_tet_report *report = &c->bodies[first]->report;
    uint64_t began = pl_ticks();
    for (int k = first; k < first + count; k++)
        prepare(c->bodies[k], c->table, c->tasks);
    uint64_t prepared = pl_ticks();
    solve_systems(c, first, count, scratch);
    uint64_t solved = pl_ticks();
    for (int k = first; k < first + count; k++)
        proceed(c->bodies[k], c->table, c->tasks);
    report->local += prepared - began;
    report->global += solved - prepared;
    report->accelerate += pl_ticks() - solved;
}

/* The last step of each is judged too; where it raised the energy, a plain one takes its place. */
static void judge(const crowd *c, int first, int count, pl_tet_scratch *scratch)
{
    for (int k = first; k < first + count; k++) {
        pl_tetrahedral *b = c->bodies[k];
        if (b->run.history == 0) /* it was a plain one */
            continue;
        look(b, c->table, c->tasks);
        if (is_good(b))
            continue;
        take_back(b);
        pass_rows(b, c->table->direct, c->tasks);
        centre(b, MEAN_FORCE);
        solve_systems(c, k, 1, scratch);
        proceed(b, c->table, c->tasks);
    }
}

static void solve_some(const crowd *c, int first, int count, int worker)
{
    pl_tet_system *s = c->bodies[first]->system;
    pl_tet_scratch *scratch = s->scratch + (worker < s->workers ? worker : 0);
    for (int k = 0; k < count; k++) {
        c->bodies[first + k]->room = scratch->rooms[k];
        begin(c->bodies[first + k], c->motions + first + k, c);
    }
    for (int i = 0; i < c->iterations && s->unknowns; i++)
        iterate(c, first, count, scratch);
    if (s->def.accelerated && s->unknowns)
        judge(c, first, count, scratch);
    for (int k = first; k < first + count; k++)
        finish(c->bodies[k], c->motions + k);
}

static void solve_pieces(void *context, int begin_, int end, int worker)
{
    const crowd *c = context;
    for (int k = begin_; k < end; k++) {
        int first = k * c->at_once, left = c->count - first;
        solve_some(c, first, left < c->at_once ? left : c->at_once, worker);
    }
}

#define TABLE(width) [PL_SIMD_PLACE(width)] = &pl_tet_table_w##width,

const pl_tet_table *pl_tet_table_of(int width)
{
    static const pl_tet_table *const tables[] = {PL_SIMD_EACH(TABLE)};
    return pl_simd_supports(width) ? tables[PL_SIMD_PLACE(width)] : NULL;
}

/* Side by side, a body's share of the solve halves; but when what all of them are solved in does
   not stay in the cache from one iteration to the next, that costs more. */
int pl_tet_together(const pl_tet_system *s, int iterations)
{
    enum { CACHE = 1 << 20 };
    double pairs = iterations < s->def.window ? iterations : s->def.window;
    double bytes = 4.0 * LANES * sizeof(float) * (s->group_count + s->sample_groups) +
                   4.0 * sizeof(float) * (s->padded * (2 * pairs + 8) + s->place_count);
    int together = (int)(CACHE / bytes);
    return together < 1 ? 1 : together < PL_TET_MOST_SIDE ? together : PL_TET_MOST_SIDE;
}

void pl_tetrahedral_solve_at(pl_tetrahedral *const *bodies, const pl_tet_motion *motions, int count,
                             int iterations, pl_tasks *tasks, int width)
{
    if (count < 1)
        return;
    const pl_tet_system *s = bodies[0]->system;
    crowd c = {bodies, motions, count, 1, iterations, pl_tet_table_of(width), NULL};
    if (tasks && pl_tasks_worker_count(tasks) > s->workers)
        tasks = NULL; /* there is no room for so many */
    int workers = tasks ? pl_tasks_worker_count(tasks) : 1;
    if (count == 1 || (workers > 1 && !s->scratch[workers - 1].rooms)) {
        c.tasks = tasks;
        solve_pieces(&c, 0, count, 0);
        return;
    }
    c.at_once = (count + workers - 1) / workers;
    int most = pl_tet_together(s, iterations);
    most = most < s->together ? most : s->together;
    if (c.at_once > most)
        c.at_once = most;
    int pieces = (count + c.at_once - 1) / c.at_once;
    pl_tasks_run(tasks, solve_pieces, &c, pieces, 1);
}

void pl_tetrahedral_solve(pl_tetrahedral *const *bodies, const pl_tet_motion *motions, int count,
                          int iterations, pl_tasks *tasks)
{
    pl_tetrahedral_solve_at(bodies, motions, count, iterations, tasks, pl_simd_width());
}
