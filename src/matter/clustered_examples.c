/* Clustered matter with examples (METHODS §4): poses as stretches of the clusters, and the examples
   of a body. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation_lanes.h"
#include "matter/clustered.h"

enum { WIDTH = PL_CLUSTERED_DESCRIPTOR, BLOCK = PL_EXAMPLES_BLOCK };

/* ---- Poses ----------------------------------------------------------------------------------- */

/* F = A_xp A_pp⁺ of a cluster at these positions. */
static void gradient_of(const pl_clustered *c, const pl_cluster *cluster, const float *x,
                        double out[9])
{
    const float *s = cluster->inverse;
    double inverse[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]};
    double centre[3] = {0}, moment[9] = {0}, mass = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
            const float *at = x + 3 * (size_t)c->particle[m];
            double w = (double)c->weight[m] * (double)c->mass[c->particle[m]];
            mass += pass ? 0 : w;
            for (int k = 0; k < 3; k++)
                if (!pass)
                    centre[k] += w * (double)at[k];
                else
                    for (int l = 0; l < 3; l++)
                        moment[3 * k + l] +=
                            w * ((double)at[k] - centre[k] / mass) * (double)c->p[l][m];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                out[3 * i + j] += moment[3 * i + k] * inverse[3 * k + j];
        }
}

/* S − I of F = R S, off-diagonals by √2. */
static void stretch_of(const double f[9], float out[WIDTH])
{
    static const int row[WIDTH] = {0, 1, 2, 1, 0, 0}, column[WIDTH] = {0, 1, 2, 2, 2, 1};
    double u[9], s[3], v[9];
    pl_svd3_double(1, f, u, s, v);
    for (int c = 0; c < WIDTH; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += v[3 * row[c] + k] * (s[k] - 1) * v[3 * column[c] + k];
        out[c] = (float)(c < 3 ? sum : sqrt(2) * sum);
    }
}

void pl_clustered_describe(const pl_clustered *c, const float *pose_x, float *descriptors,
                           float *weights)
{
    memset(descriptors, 0, WIDTH * (size_t)c->count * sizeof *descriptors);
    for (int i = 0; i < c->count; i++) {
        double f[9];
        weights[i] = 0;
        if (c->clusters[i].rank < 3)
            continue;
        gradient_of(c, c->clusters + i, pose_x, f);
        stretch_of(f, descriptors + WIDTH * (ptrdiff_t)i);
        weights[i] = c->clusters[i].mass;
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void free_manifold(pl_memory *memory, pl_clustered_manifold *m)
{
    if (!m)
        return;
    pl_memory_free(memory, m->present);
    pl_memory_free(memory, m->blend);
    pl_memory_free(memory, m->speaker);
    pl_examples_destroy(m->examples);
    pl_memory_free(memory, m);
}

void pl_clustered_free_examples(pl_clustered *c)
{
    free_manifold(c->memory, c->manifold);
    c->manifold = NULL;
}

pl_status pl_clustered_set_examples(pl_clustered *c, pl_examples *examples, pl_error *error)
{
    if (!examples) {
        pl_clustered_free_examples(c);
        return PL_OK;
    }
    int elements = pl_examples_element_count(examples);
    PL_REQUIRE(pl_examples_width(examples) == WIDTH, PL_ERROR_ARGUMENT, error, "examples",
               "are not of clusters");
    for (int i = 0; i < c->count; i++)
        PL_CHECK(c->clusters[i].element < elements, PL_ERROR_ARGUMENT, error, "examples",
                 "belong to another model: they have %d clusters", elements);
    size_t numbers = ((size_t)(elements + BLOCK - 1) / BLOCK + 1) * BLOCK * WIDTH;
    pl_clustered_manifold *m = PL_NEW(c->memory, pl_clustered_manifold, 1);
    if (m) {
        m->present = PL_NEW(c->memory, float, numbers);
        m->blend = PL_NEW(c->memory, float, numbers);
        m->speaker = PL_NEW(c->memory, int32_t, elements);
    }
    if (!m || !m->present || !m->blend || !m->speaker) {
        free_manifold(c->memory, m);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
    }
    m->examples = examples;
    pl_clustered_free_examples(c);
    c->manifold = m;
    pl_clustered_choose_speakers(c);
    pl_clustered_renew_examples(c);
    return PL_OK;
}

void pl_clustered_renew_examples(pl_clustered *c)
{
    if (c->manifold)
        pl_examples_blend(c->manifold->examples, c->manifold->blend, NULL);
}

pl_examples *pl_clustered_examples(const pl_clustered *c)
{
    return c->manifold ? c->manifold->examples : NULL;
}

/* Where the kernels find the elements of the clusters in their sequence. */
static void place_elements(pl_clustered *c, int elements)
{
    pl_clustered_rows *r = &c->rows;
    int nowhere = (elements + BLOCK - 1) / BLOCK * WIDTH * BLOCK;
    for (int i = 0; i < (c->count + PL_COLUMNS - 1) / PL_COLUMNS * PL_COLUMNS; i++) {
        const pl_cluster *cluster = i < c->count ? c->clusters + r->sequence[i] : NULL;
        int e = cluster ? cluster->element : -1;
        r->heard[i] = e < 0 ? nowhere + 1 : e / BLOCK * WIDTH * BLOCK + e % BLOCK;
        r->spoken[i] = e < 0 || !cluster->speaks ? nowhere : r->heard[i];
    }
}

/* The first cluster of each element speaks for it; elements of which nothing is left are at
   rest. */
void pl_clustered_choose_speakers(pl_clustered *c)
{
    pl_clustered_manifold *m = c->manifold;
    if (!m)
        return;
    int elements = pl_examples_element_count(m->examples);
    for (int e = 0; e < elements; e++)
        m->speaker[e] = -1;
    for (int i = 0; i < c->count; i++) {
        int e = c->clusters[i].element;
        c->clusters[i].speaks = e >= 0 && m->speaker[e] < 0;
        if (c->clusters[i].speaks)
            m->speaker[e] = i;
    }
    for (int e = 0; e < elements; e++)
        for (int k = 0; m->speaker[e] < 0 && k < WIDTH; k++)
            m->present[((size_t)(e / BLOCK) * WIDTH + (size_t)k) * BLOCK + (size_t)(e % BLOCK)] = 0;
    place_elements(c, elements);
}

void pl_clustered_stretch(const pl_clustered *c, const pl_cluster *cluster, float out[9])
{
    static const int place[WIDTH][2] = {{0, 0}, {4, 4}, {8, 8}, {5, 7}, {2, 6}, {1, 3}};
    int e = cluster->element;
    for (int k = 0; k < 9; k++)
        out[k] = k % 4 == 0;
    if (!c->manifold || e < 0)
        return;
    for (int k = 0; k < WIDTH; k++) {
        float d =
            c->manifold
                ->blend[((size_t)(e / BLOCK) * WIDTH + (size_t)k) * BLOCK + (size_t)(e % BLOCK)];
        if (k < 3)
            out[place[k][0]] += d;
        else
            out[place[k][0]] = out[place[k][1]] = 0.70710678f * d;
    }
}
