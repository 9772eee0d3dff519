/* Tetrahedral matter with examples (METHODS §4, the implicit form): poses as stretches of the
   elements, and the weights as part of the local step.

       min over x, R, w of  Σ V μ (‖F − R S̃ Fᵖ‖² + (1/β − 1) ‖S̃ − I‖²),   S̃ = I + Σ_k w_k (Sᵏ − I)

   One after the other: R = polar(F (S̃ Fᵖ)ᵀ) with S̃ so far, w nearest to the symmetric part of Rᵀ
   F Fᵖ⁻¹ and made smaller by β (which is what minimises the sum over w), R again, x. No step raises
   the energy, as long as there is no volume term: that one follows S̃, but has no say in the choice
   of it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation_lanes.h"
#include "matter/tetrahedral_lanes.h"

#define LANES PL_TET_LANES

/* ---- Poses ----------------------------------------------------------------------------------- */

/* S − I of F = R S, off-diagonals by √2. */
static void stretch_of(const double f[9], float out[PL_TET_DESCRIPTOR])
{
    static const int row[PL_TET_DESCRIPTOR] = {0, 1, 2, 1, 0, 0}, column[] = {0, 1, 2, 2, 2, 1};
    double u[9], s[3], v[9];
    pl_svd3_double(1, f, u, s, v);
    for (int c = 0; c < PL_TET_DESCRIPTOR; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += v[3 * row[c] + k] * (s[k] - 1) * v[3 * column[c] + k];
        out[c] = (float)(c < 3 ? sum : sqrt(2) * sum);
    }
}

void pl_tetrahedral_describe(const pl_tet_system *s, const float *pose, float *descriptors,
                             float *weights)
{
    memset(descriptors, 0, PL_TET_DESCRIPTOR * (size_t)s->source_count * sizeof *descriptors);
    memset(weights, 0, (size_t)s->source_count * sizeof *weights);
    for (int e = 0; e < s->tet_count; e++) {
        const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
        const double *g = s->gradient + 9 * (ptrdiff_t)e;
        double f[9] = {0};
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 9; k++)
                f[k] += ((double)pose[3 * (ptrdiff_t)tet[a] + k / 3] -
                         (double)pose[3 * (ptrdiff_t)tet[3] + k / 3]) *
                        g[3 * a + k % 3];
        stretch_of(f, descriptors + PL_TET_DESCRIPTOR * (ptrdiff_t)s->source_of[e]);
        weights[s->source_of[e]] = (float)(s->volume[e] * s->mu[e]);
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

void pl_tet_free_examples(pl_tetrahedral *b)
{
    void *blocks[] = {b->descriptor, b->blend, b->modified, b->modified_before, b->example_energy};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(b->memory, blocks[i]);
    pl_examples_destroy(b->examples);
    b->examples = NULL;
    b->descriptor = b->blend = b->modified = b->modified_before = NULL;
    b->example_energy = NULL;
}

static void start_modified(pl_tetrahedral *b)
{
    ptrdiff_t count = 9 * LANES * (ptrdiff_t)b->system->group_count;
    for (ptrdiff_t k = 0; k < count; k++)
        b->modified[k] = b->plastic ? b->plastic[k] : (float)(k / LANES % 9 % 4 == 0);
    memcpy(b->modified_before, b->modified, (size_t)count * sizeof(float));
}

pl_status pl_tetrahedral_set_examples(pl_tetrahedral *b, pl_examples *examples, pl_error *error)
{
    const pl_tet_system *s = b->system;
    if (!examples) {
        pl_tet_free_examples(b);
        return PL_OK;
    }
    PL_CHECK(s->def.rotations == PL_TET_EXACT, PL_ERROR_ARGUMENT, error, "tetrahedral.rotations",
             "examples need exact rotations: interpolated ones know nothing of them");
    PL_REQUIRE(pl_examples_element_count(examples) == s->source_count &&
                   pl_examples_width(examples) == PL_TET_DESCRIPTOR,
               PL_ERROR_ARGUMENT, error, "examples", "belong to another mesh");
    size_t blocks = (size_t)(s->source_count + LANES - 1) / LANES;
    pl_tetrahedral next = {.memory = b->memory, .system = b->system, .plastic = b->plastic};
    next.descriptor = PL_NEW(b->memory, float, PL_TET_DESCRIPTOR *LANES *blocks);
    next.blend = PL_NEW(b->memory, float, PL_TET_DESCRIPTOR *LANES *blocks);
    next.modified = PL_NEW(b->memory, float, 9 * LANES * (size_t)s->group_count);
    next.modified_before = PL_NEW(b->memory, float, 9 * LANES * (size_t)s->group_count);
    next.example_energy = PL_NEW(b->memory, double, s->block_count);
    if (!next.descriptor || !next.blend || !next.modified || !next.modified_before ||
        !next.example_energy) {
        pl_tet_free_examples(&next);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    }
    start_modified(&next);
    pl_tet_free_examples(b);
    b->examples = examples;
    b->descriptor = next.descriptor;
    b->blend = next.blend;
    b->modified = next.modified;
    b->modified_before = next.modified_before;
    b->example_energy = next.example_energy;
    return PL_OK;
}

pl_examples *pl_tetrahedral_examples(const pl_tetrahedral *body)
{
    return body->examples;
}

double pl_tet_example_hold(const pl_tetrahedral *b)
{
    double beta = pl_examples_beta(b->examples);
    return beta > 0 ? 1 / beta - 1 : 0;
}

pl_mat3 pl_tet_stretch_of(const pl_tetrahedral *b, int e)
{
    const float *at = b->blend + b->system->example_at[b->system->slot[e]];
    double d[PL_TET_DESCRIPTOR];
    for (ptrdiff_t k = 0; k < PL_TET_DESCRIPTOR; k++)
        d[k] = (double)at[k * LANES] * (k < 3 ? 1 : sqrt(0.5));
    return (pl_mat3){{{1 + d[0], d[5], d[4]}, {d[5], 1 + d[1], d[3]}, {d[4], d[3], 1 + d[2]}}};
}

/* ---- While solving --------------------------------------------------------------------------- */

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

/* S̃ Fᵖ from the weights alone, so that a body that was saved goes on alike. */
void pl_tet_begin_examples(pl_tetrahedral *b, const pl_tet_table *table, pl_tasks *tasks)
{
    job j = {b, table->modify};
    pl_examples_blend(b->examples, b->blend, tasks);
    pl_tasks_run(tasks, run_job, &j, b->system->block_count, 2);
}

double pl_tet_follow_examples(pl_tetrahedral *b, const pl_tet_table *table, pl_tasks *tasks)
{
    job j = {b, table->describe};
    double sum = 0;
    pl_tasks_run(tasks, run_job, &j, b->system->block_count, 2);
    pl_examples_project(b->examples, b->descriptor, tasks);
    float *seen = b->modified; /* stays, should the step that led here be taken back */
    b->modified = b->modified_before;
    b->modified_before = seen;
    pl_tet_begin_examples(b, table, tasks);
    for (int k = 0; k < b->system->block_count; k++)
        sum += b->example_energy[k];
    return pl_tet_example_hold(b) * sum;
}
