/* Example manifolds: the nearest point against all faces of the simplex gone through one by one,
   the simplex rule against projection by sorting; dependent, equal, zero and bad poses; the same
   bits at every width and number of threads. */
#include "support/check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/tasks.h"
#include "math/simd.h"
#include "matter/examples_lanes.h"

enum { MOST = 64 };

/* A problem with everything in plain arrays. */
typedef struct problem {
    int elements, width, poses, groups;
    float *pose, *metric, *weight, *delta; /* [poses][elements][width], …, [elements][width] */
    int32_t *group;
} problem;

static float normal(pl_rng *rng)
{
    return (float)(pl_random_double(rng) + pl_random_double(rng) + pl_random_double(rng) - 1.5);
}

static float *random_floats(pl_rng *rng, size_t count, float size)
{
    float *a = malloc(count * sizeof *a);
    for (size_t i = 0; i < count; i++)
        a[i] = size * normal(rng);
    return a;
}

static problem make(pl_rng *rng, int elements, int width, int poses, int groups)
{
    problem p = {.elements = elements, .width = width, .poses = poses, .groups = groups};
    p.pose = random_floats(rng, (size_t)(poses * elements * width), 0.3f);
    p.delta = random_floats(rng, (size_t)(elements * width), 0.3f);
    p.group = malloc((size_t)elements * sizeof *p.group);
    for (int e = 0; e < elements; e++)
        p.group[e] = groups == elements ? e : (int)(pl_random_double(rng) * groups);
    return p;
}

static void free_problem(problem *p)
{
    free(p->pose), free(p->metric), free(p->weight), free(p->delta), free(p->group);
}

static float *pose_of(const problem *p, int k, int element)
{
    return p->pose + (k * p->elements + element) * p->width;
}

static void copy_pose(problem *p, int to, int from, float factor)
{
    for (int i = 0; i < p->elements * p->width; i++)
        pose_of(p, to, 0)[i] = factor * pose_of(p, from, 0)[i];
}

/* Makes some of the poses zero, equal, multiples or sums of others. */
static void degrade(problem *p, pl_rng *rng)
{
    for (int k = 1; k < p->poses; k++) {
        int other = (int)(pl_random_double(rng) * k);
        double what = pl_random_double(rng);
        if (what < 0.15)
            copy_pose(p, k, other, 0);
        else if (what < 0.3)
            copy_pose(p, k, other, 1);
        else if (what < 0.45)
            copy_pose(p, k, other, normal(rng));
        else if (what < 0.6)
            for (int i = 0; i < p->elements * p->width; i++)
                pose_of(p, k, 0)[i] = 0.6f * pose_of(p, other, 0)[i] + 0.7f * pose_of(p, 0, 0)[i];
    }
}

/* A positive definite form per element: A Aᵀ + I / 10. */
static void add_metric(problem *p, pl_rng *rng)
{
    int w = p->width, size = w * (w + 1) / 2;
    float a[12][12];
    p->metric = malloc((size_t)(p->elements * size) * sizeof *p->metric);
    p->weight = malloc((size_t)p->elements * sizeof *p->weight);
    for (int e = 0; e < p->elements; e++) {
        p->weight[e] = 1e-3f * (float)pl_random_double(rng);
        for (int i = 0; i < w; i++)
            for (int j = 0; j < w; j++)
                a[i][j] = normal(rng);
        for (int i = 0, at = 0; i < w; i++)
            for (int j = 0; j <= i; j++, at++) {
                float sum = i == j ? 0.1f : 0;
                for (int k = 0; k < w; k++)
                    sum += a[i][k] * a[j][k];
                p->metric[e * size + at] = sum;
            }
    }
}

static double form(const problem *p, int e, const double *a, const double *b)
{
    int w = p->width;
    double sum = 0, weight = p->weight ? (double)p->weight[e] : 1;
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) {
            int low = i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
            double m = p->metric ? (double)p->metric[e * w * (w + 1) / 2 + low] : i == j;
            sum += weight * m * a[i] * b[j];
        }
    return sum;
}

/* Gram matrix, t and δ² of a group, in double: index `poses` is δ. */
typedef struct gram {
    int n;
    double g[MOST + 1][MOST + 1];
} gram;

static gram gram_of(const problem *p, int group)
{
    gram m = {.n = p->poses};
    for (int e = 0; e < p->elements; e++) {
        double d[MOST + 1][12];
        if (p->group[e] != group)
            continue;
        for (int k = 0; k <= m.n; k++)
            for (int c = 0; c < p->width; c++)
                d[k][c] = (double)(k < m.n ? pose_of(p, k, e)[c] : p->delta[e * p->width + c]);
        for (int i = 0; i <= m.n; i++)
            for (int j = 0; j <= i; j++)
                m.g[i][j] += form(p, e, d[i], d[j]);
    }
    for (int i = 0; i <= m.n; i++)
        for (int j = 0; j < i; j++)
            m.g[j][i] = m.g[i][j];
    return m;
}

/* ‖Σ w D − δ‖² */
static double distance(const gram *m, const double *w)
{
    double sum = m->g[m->n][m->n];
    for (int i = 0; i < m->n; i++) {
        sum -= 2 * w[i] * m->g[i][m->n];
        for (int j = 0; j < m->n; j++)
            sum += w[i] * w[j] * m->g[i][j];
    }
    return sum;
}

static double largest(const gram *m)
{
    double most = 0;
    for (int i = 0; i < m->n; i++)
        most = fmax(most, m->g[i][i]);
    return most;
}

/* Gauss with full pivoting; false if singular. */
static bool solve(double a[MOST + 2][MOST + 3], int n)
{
    int order[MOST + 2];
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int p = 0; p < n; p++) {
        int row = p, column = p;
        for (int i = p; i < n; i++)
            for (int j = p; j < n; j++)
                if (fabs(a[i][j]) > fabs(a[row][column]))
                    row = i, column = j;
        if (fabs(a[row][column]) < 1e-11)
            return false;
        for (int j = 0; j <= n; j++) {
            double t = a[p][j];
            a[p][j] = a[row][j], a[row][j] = t;
        }
        for (int i = 0; i < n; i++) {
            double t = a[i][p];
            a[i][p] = a[i][column], a[i][column] = t;
        }
        int t = order[p];
        order[p] = order[column], order[column] = t;
        for (int i = 0; i < n; i++) {
            double f = a[i][p] / a[p][p];
            for (int j = p; i != p && j <= n; j++)
                a[i][j] -= f * a[p][j];
        }
    }
    double x[MOST + 2];
    for (int i = 0; i < n; i++)
        x[order[i]] = a[i][n] / a[i][i];
    for (int i = 0; i < n; i++)
        a[i][n] = x[i];
    return true;
}

/* The smallest distance over all faces: corners of rest and poses, Σ w = 1 by a multiplier. Of
   dependent corners a smaller face does as well, so singular ones need not be looked at. */
static double brute_force(const gram *m)
{
    double scale = 1 / fmax(largest(m), 1e-300), best = INFINITY;
    static double a[MOST + 2][MOST + 3];
    for (unsigned face = 1; face < 2u << m->n; face++) {
        int corner[MOST + 1], n = 0;
        double w[MOST + 1] = {0};
        for (int i = 0; i <= m->n; i++)
            if (face >> i & 1)
                corner[n++] = i - 1; /* -1 = rest */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                a[i][j] = corner[i] < 0 || corner[j] < 0 ? 0 : scale * m->g[corner[i]][corner[j]];
            a[i][n] = a[n][i] = 1;
            a[i][n + 1] = corner[i] < 0 ? 0 : scale * m->g[corner[i]][m->n];
        }
        a[n][n] = 0, a[n][n + 1] = 1;
        if (!solve(a, n + 1))
            continue;
        bool admissible = true;
        for (int i = 0; i < n; i++) {
            admissible = admissible && a[i][n + 1] > -1e-12;
            if (corner[i] >= 0)
                w[corner[i]] = fmax(a[i][n + 1], 0);
        }
        if (admissible)
            best = fmin(best, distance(m, w));
    }
    return best;
}

/* ---- Ours ------------------------------------------------------------------------------------ */

static float *to_blocks(const problem *p, const float *plain)
{
    int blocks = (p->elements + 15) / 16;
    float *out = aligned_alloc(64, (size_t)(blocks * p->width * 16) * sizeof *out);
    memset(out, 0, (size_t)(blocks * p->width * 16) * sizeof *out);
    for (int e = 0; e < p->elements; e++)
        for (int c = 0; c < p->width; c++)
            out[(e / 16 * p->width + c) * 16 + e % 16] = plain[e * p->width + c];
    return out;
}

static pl_memory memory;

static pl_examples *create(const problem *p, pl_example_rule rule, double beta)
{
    pl_examples_source source = {.element_count = p->elements,
                                 .width = p->width,
                                 .pose_count = p->poses,
                                 .poses = p->pose,
                                 .metric = p->metric,
                                 .weight = p->weight,
                                 .group_count = p->groups,
                                 .group = p->group,
                                 .beta = beta,
                                 .rule = rule};
    pl_examples *e = NULL;
    pl_error error = {0};
    if (pl_examples_create(&memory, &source, &e, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return e;
}

/* β can be no 1: what comes out is divided by it. */
static const double beta = 0.5;

static void project(pl_examples *e, const problem *p, const float *plain)
{
    float *blocks = to_blocks(p, plain);
    pl_examples_project(e, blocks, NULL);
    free(blocks);
}

static void take(const pl_examples *e, int group, double *w)
{
    double sum = 0;
    for (int k = 0; k < pl_examples_pose_count(e); k++) {
        w[k] = (double)pl_examples_weights(e)[group * pl_examples_pose_count(e) + k] / beta;
        assert_true(w[k] >= 0);
        sum += w[k];
    }
    assert_true(sum <= 1 + 1e-6);
}

/* What poses nearer than 10⁻⁵ to rest, which count as rest, may cost. */
static double neglected(const problem *p, int group, const gram *m)
{
    double trace = 0;
    bool any = false;
    for (int e = 0; e < p->elements; e++)
        for (int c = 0; c < p->width && p->group[e] == group; c++) {
            double unit[12] = {0};
            unit[c] = 1;
            trace += form(p, e, unit, unit) / p->width;
        }
    for (int k = 0; k < m->n; k++)
        any = any || (m->g[k][k] > 0 && m->g[k][k] < 1.01e-10 * trace);
    return any ? 2.1e-5 * sqrt(trace * m->g[m->n][m->n]) : 0;
}

static void compare_nearest(const problem *p, const pl_examples *e)
{
    for (int group = 0; group < p->groups; group++) {
        gram m = gram_of(p, group);
        double w[MOST], best = brute_force(&m), ours;
        take(e, group, w);
        ours = distance(&m, w);
        /* Descriptors and duals are floats: what they cannot say is 10⁻⁷ of the products. */
        double least = 1e-6 * largest(&m) + 1e-6 * sqrt(largest(&m) * m.g[m.n][m.n]) + 1e-30;
        if (!(ours <= best + least) && !(ours <= best + least + neglected(p, group, &m)))
            fail_msg("distance² %.12g, best %.12g (allowed %.3g), %d poses, %d × %d", ours, best,
                     least, p->poses, p->elements, p->width);
    }
}

static void test_nearest_is_nearest(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(1);
    int rounds = check_rounds(20000, 1500);
    for (int round = 0; round < rounds; round++) {
        int poses = 1 + round % 6, width = 1 + (int)(pl_random_double(&rng) * 12);
        int elements = 1 + (int)(pl_random_double(&rng) * (round % 10 ? 6 : 60));
        int groups = round % 4 == 0 ? elements : round % 4 == 1 ? 3 : 1;
        problem p = make(&rng, elements, width, poses, groups);
        if (round % 2)
            degrade(&p, &rng);
        if (round % 3 == 0)
            add_metric(&p, &rng);
        pl_examples *e = create(&p, PL_EXAMPLES_NEAREST, beta);
        for (int again = 0; again < 3; again++) { /* started from the last one's result */
            project(e, &p, p.delta);
            compare_nearest(&p, e);
            for (int i = 0; i < elements * width; i++)
                p.delta[i] = (again ? 3 : 0.5f) * p.delta[i] + 0.1f * normal(&rng);
        }
        pl_examples_destroy(e);
        free_problem(&p);
    }
}

static void test_nearest_of_many_poses(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(2);
    int rounds = check_rounds(300, 24);
    for (int round = 0; round < rounds; round++) {
        problem p = make(&rng, round % 2 ? 1 : 100, 6, 7 + round % 6, 1);
        if (round % 3 == 0)
            degrade(&p, &rng);
        pl_examples *e = create(&p, PL_EXAMPLES_NEAREST, beta);
        project(e, &p, p.delta);
        compare_nearest(&p, e);
        pl_examples_destroy(e);
        free_problem(&p);
    }
}

/* Nearest admissible weights by sorting: with v sorted falling, the largest r for which v_r + (1 −
   Σ_{≤r} v)/r > 0. */
static int falling(const void *a, const void *b)
{
    double d = *(const double *)b - *(const double *)a;
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static void by_sorting(const double *v, int n, double *out)
{
    double sorted[MOST + 1], sum = 0, shift = 0;
    memcpy(sorted, v, (size_t)n * sizeof *v);
    qsort(sorted, (size_t)n, sizeof *sorted, falling);
    for (int r = 1; r <= n; r++) {
        sum += sorted[r - 1];
        if (sorted[r - 1] + (1 - sum) / r > 0)
            shift = (1 - sum) / r;
    }
    for (int i = 0; i < n; i++)
        out[i] = fmax(v[i] + shift, 0);
}

static void test_simplex_rule_is_least_squares_and_sorting(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(3);
    int rounds = check_rounds(5000, 500);
    for (int round = 0; round < rounds; round++) {
        int poses = 1 + round % 5, elements = 2 + round % 40;
        problem p = make(&rng, elements, 6, poses, round % 2 ? 1 : elements);
        if (round % 2 && round % 3 == 0)
            add_metric(&p, &rng);
        pl_examples *e = create(&p, PL_EXAMPLES_SIMPLEX, beta);
        project(e, &p, p.delta);
        for (int group = 0; group < p.groups; group++) {
            gram m = gram_of(&p, group);
            static double a[MOST + 2][MOST + 3];
            double v[MOST + 1], expected[MOST + 1], w[MOST];
            for (int i = 0; i < poses; i++)
                memcpy(a[i], m.g[i], (size_t)(poses + 1) * sizeof(double));
            if (!solve(a, poses))
                continue;
            v[poses] = 1;
            double most = 1;
            for (int i = 0; i < poses; i++) {
                v[i] = a[i][poses];
                v[poses] -= v[i];
                most = fmax(most, fabs(v[i]));
            }
            by_sorting(v, poses + 1, expected);
            take(e, group, w);
            for (int i = 0; i < poses; i++)
                assert_true(fabs(w[i] - expected[i]) < 2e-5 * most);
        }
        pl_examples_destroy(e);
        free_problem(&p);
    }
}

/* Least squares by the pseudo-inverse: of two equal poses each gets half. */
static void test_equal_poses_share_under_the_simplex_rule(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(4);
    problem p = make(&rng, 30, 6, 3, 1);
    copy_pose(&p, 1, 0, 1);
    copy_pose(&p, 2, 0, 0);
    pl_examples *e = create(&p, PL_EXAMPLES_SIMPLEX, beta);
    project(e, &p, pose_of(&p, 0, 0));
    double w[3];
    take(e, 0, w);
    assert_true(fabs(w[0] - 0.5) < 1e-5 && fabs(w[1] - 0.5) < 1e-5 && w[2] == 0);
    pl_examples_destroy(e);
    free_problem(&p);
}

static void test_a_pose_is_itself_and_a_blend_its_blend(void **state)
{
    (void)state;
    static const pl_example_rule rules[] = {PL_EXAMPLES_SIMPLEX, PL_EXAMPLES_NEAREST,
                                            PL_EXAMPLES_AUTO};
    pl_rng rng = pl_rng_make(5);
    for (int round = 0; round < 90; round++) {
        problem p = make(&rng, round % 2 ? 40 : 225, 6, 1 + round % 5, 1 + round % 2);
        pl_examples *e = create(&p, rules[round % 3], beta);
        double w[MOST];
        for (int k = 0; k < p.poses; k++) {
            project(e, &p, pose_of(&p, k, 0));
            for (int group = 0; group < p.groups; group++) {
                take(e, group, w);
                for (int i = 0; i < p.poses; i++)
                    assert_true(fabs(w[i] - (i == k)) < 1e-5);
            }
        }
        memset(p.delta, 0, (size_t)(p.elements * 6) * sizeof(float));
        for (int k = 0; k < p.poses; k++)
            for (int i = 0; i < p.elements * 6; i++)
                p.delta[i] += (float)(k + 1) / 20 * pose_of(&p, k, 0)[i];
        project(e, &p, p.delta);
        take(e, 0, w);
        for (int k = 0; k < p.poses; k++)
            assert_true(fabs(w[k] - (k + 1) / 20.0) < 1e-5);
        float *blend = to_blocks(&p, p.delta), *given = to_blocks(&p, p.delta);
        pl_examples_blend(e, blend, NULL);
        for (int i = 0; i < (p.elements + 15) / 16 * 96; i++)
            assert_true(fabs((double)blend[i] - beta * (double)given[i]) < 1e-5);
        free(blend), free(given);
        pl_examples_destroy(e);
        free_problem(&p);
    }
}

static void test_bias_draws_towards_a_pose(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(7);
    problem p = make(&rng, 50, 6, 3, 2);
    pl_examples *e = create(&p, PL_EXAMPLES_NEAREST, beta);
    float bias[3] = {0, 0.25f, 0}, none[3] = {0}, bad[3] = {0, NAN, 0};
    double w[3];
    memset(p.delta, 0, 300 * sizeof(float));
    pl_examples_set_bias(e, 1, bias);
    pl_examples_set_bias(e, -1, bad);
    project(e, &p, p.delta);
    take(e, 0, w);
    assert_true(w[0] == 0 && w[1] == 0 && w[2] == 0);
    take(e, 1,
         w); /* (¾, 0, ¼, 0) is nearest to (1, 0, ¼, 0) but for what is too much: ⅛ each of two */
    assert_true(w[0] == 0 && fabs(w[1] - 0.25) < 1e-6 && w[2] == 0);
    pl_examples_set_bias(e, -1, none);
    project(e, &p, p.delta);
    take(e, 1, w);
    assert_true(w[1] == 0);
    pl_examples_destroy(e);
    free_problem(&p);
}

/* A pose that is rest cannot be drawn to: what was given to it is rest's, exactly. */
static void test_bias_gives_nothing_to_rest(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(11);
    for (int rule = PL_EXAMPLES_SIMPLEX; rule <= PL_EXAMPLES_NEAREST; rule++)
        for (int poses = 1; poses <= 10; poses += 3) {
            problem p = make(&rng, 40, 6, poses, 20);
            double w[MOST];
            float bias[MOST];
            memset(p.pose, 0, 40 * 6 * sizeof(float)); /* the first one */
            pl_examples *e = create(&p, (pl_example_rule)rule, beta);
            for (int round = 0; round < 50; round++) {
                for (int k = 0; k < poses; k++)
                    bias[k] = pl_random_between(&rng, k ? -0.7f : 0.5f, 1);
                pl_examples_set_bias(e, -1, bias);
                project(e, &p, p.delta);
                for (int g = 0; g < 20; g++) {
                    take(e, g, w);
                    assert_true(w[0] == 0);
                }
                assert_true(pl_examples_bias(e)[0] == bias[0]);
            }
            pl_examples_destroy(e);
            free_problem(&p);
        }
}

static void test_bad_descriptors_are_rest(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e30f};
    pl_rng rng = pl_rng_make(8);
    for (int rule = PL_EXAMPLES_SIMPLEX; rule <= PL_EXAMPLES_NEAREST; rule++)
        for (int poses = 1; poses <= 10; poses += 3)
            for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                problem p = make(&rng, 40, 6, poses, 40);
                pl_examples *e = create(&p, (pl_example_rule)rule, beta);
                double w[MOST];
                p.delta[6 * 17 + 2] = bad[i];
                project(e, &p, p.delta);
                take(e, 17, w); /* asserts that they are numbers, and admissible */
                for (int k = 0; k < poses && !isfinite(bad[i]); k++)
                    assert_true(w[k] == 0);
                p.delta[6 * 17 + 2] = 0; /* and it goes on */
                project(e, &p, p.delta);
                take(e, 17, w);
                if (rule == PL_EXAMPLES_NEAREST && poses <= 4) {
                    gram m = gram_of(&p, 17);
                    assert_true(distance(&m, w) <= brute_force(&m) + 1e-6);
                }
                pl_examples_destroy(e);
                free_problem(&p);
            }
}

static void test_fifty_poses_end(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(9);
    for (int rule = PL_EXAMPLES_SIMPLEX; rule <= PL_EXAMPLES_NEAREST; rule++)
        for (int local = 0; local < 2; local++) {
            problem p = make(&rng, 60, 6, 50, local ? 60 : 1);
            pl_examples *e = create(&p, (pl_example_rule)rule, beta);
            double w[MOST];
            for (int again = 0; again < 5; again++) {
                project(e, &p, p.delta);
                for (int group = 0; group < p.groups; group++) {
                    take(e, group, w);
                    if (rule != PL_EXAMPLES_NEAREST)
                        continue;
                    /* Optimal: no corner lies in the direction of the residual. */
                    gram m = gram_of(&p, group);
                    double mean = 0, r[MOST + 1], most = largest(&m);
                    for (int i = 0; i < 50; i++) {
                        r[i] = m.g[i][50];
                        for (int j = 0; j < 50; j++)
                            r[i] -= m.g[i][j] * w[j];
                        mean += w[i] * r[i];
                    }
                    assert_true(-mean < 1e-5 * most);
                    for (int i = 0; i < 50; i++)
                        assert_true(r[i] - mean < 1e-5 * most);
                }
                for (int i = 0; i < p.elements * 6; i++)
                    p.delta[i] += 0.1f * normal(&rng);
            }
            pl_examples_destroy(e);
            free_problem(&p);
        }
}

static void test_every_width_and_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(10);
    pl_tasks *tasks = pl_tasks_create(NULL, 3, &memory);
    for (int round = 0; round < 24; round++) {
        int elements = 100 + 700 * (round % 4), poses = 1 + round % 11;
        problem p =
            make(&rng, elements, 1 + round % 12, poses, round % 3 == 0 ? elements : 1 + round % 5);
        if (round % 2)
            degrade(&p, &rng);
        size_t size = (size_t)((elements + 15) / 16 * p.width * 16) * sizeof(float);
        float *delta = to_blocks(&p, p.delta), *first = aligned_alloc(64, size),
              *blend = aligned_alloc(64, size);
        for (int width = 4; width <= 16; width *= 2)
            for (int threads = 0; threads < 2; threads++) {
                if (!pl_simd_supports(width))
                    continue;
                pl_examples *e =
                    create(&p, round % 2 ? PL_EXAMPLES_NEAREST : PL_EXAMPLES_SIMPLEX, 0.99);
                bool start = width == 4 && !threads;
                for (int again = 0; again < 2; again++)
                    pl_examples_project_at(e, delta, threads ? tasks : NULL, width);
                pl_examples_blend_at(e, start ? first : blend, threads ? tasks : NULL, width);
                assert_true(start || memcmp(first, blend, size) == 0);
                pl_examples_destroy(e);
            }
        free(delta), free(first), free(blend);
        free_problem(&p);
    }
    pl_tasks_destroy(tasks);
}

static void test_elements_in_no_group_have_no_blend(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(11);
    problem p = make(&rng, 40, 6, 2, 3);
    for (int i = 10; i < 35; i++)
        p.group[i] = -1;
    for (int i = 0; i < 40; i++)
        p.group[i] = p.group[i] == 2 ? 1 : p.group[i]; /* group 2 is empty */
    pl_examples *e = create(&p, PL_EXAMPLES_AUTO, beta);
    project(e, &p, pose_of(&p, 1, 0));
    float *blend = to_blocks(&p, p.delta);
    pl_examples_blend(e, blend, NULL);
    for (int i = 0; i < 40; i++)
        for (int c = 0; c < 6; c++) {
            double expected = p.group[i] < 0 ? 0 : beta * (double)pose_of(&p, 1, i)[c];
            assert_true(fabs((double)blend[(i / 16 * 6 + c) * 16 + i % 16] - expected) < 1e-5);
        }
    double w[2];
    take(e, 2, w);
    assert_true(w[0] == 0 && w[1] == 0);
    free(blend);
    pl_examples_destroy(e);
    free_problem(&p);
}

static void test_saved_and_loaded_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(12);
    problem p = make(&rng, 50, 6, 4, 50);
    pl_examples *a = create(&p, PL_EXAMPLES_NEAREST, 0.9),
                *b = create(&p, PL_EXAMPLES_NEAREST, 0.9);
    float bias[4] = {0.1f, 0, 0, -0.2f};
    pl_examples_set_bias(a, 3, bias);
    project(a, &p, p.delta);
    size_t size = pl_examples_save_size(a), weights = 200 * sizeof(float);
    char *bytes = malloc(size + 1);
    pl_examples_save(a, bytes);
    assert_int_equal(pl_examples_load(b, bytes, size, NULL), PL_OK);
    assert_memory_equal(pl_examples_weights(a), pl_examples_weights(b), weights);
    for (int i = 0; i < 300; i++)
        p.delta[i] += 0.1f * normal(&rng);
    project(a, &p, p.delta);
    project(b, &p, p.delta);
    assert_memory_equal(pl_examples_weights(a), pl_examples_weights(b), weights);
    assert_memory_equal(pl_examples_bias(a), pl_examples_bias(b), weights);

    float nan = NAN, two = 2;
    assert_int_equal(pl_examples_load(b, bytes, size - 1, NULL), PL_ERROR_FORMAT);
    memcpy(bytes, &two, sizeof two);
    assert_int_equal(pl_examples_load(b, bytes, size, NULL), PL_ERROR_FORMAT);
    pl_examples_save(a, bytes);
    memcpy(bytes + weights, &nan, sizeof nan);
    assert_int_equal(pl_examples_load(b, bytes, size, NULL), PL_ERROR_FORMAT);
    assert_memory_equal(pl_examples_weights(a), pl_examples_weights(b), weights);
    free(bytes);
    pl_examples_destroy(a);
    pl_examples_destroy(b);
    free_problem(&p);
}

static void expect_bad(const pl_examples_source *source, const char *text)
{
    pl_examples *e = NULL;
    pl_error error = {0};
    assert_int_equal(pl_examples_create(&memory, source, &e, &error), PL_ERROR_ARGUMENT);
    assert_null(e);
    if (!strstr(error.where, text) && !strstr(error.text, text))
        fail_msg("'%s: %s' does not say '%s'", error.where, error.text, text);
}

static void test_bad_sources_are_refused(void **state)
{
    (void)state;
    float poses[12] = {0}, weight[2] = {1, 1}, metric[42] = {0};
    int32_t group[2] = {0, 0};
    pl_examples_source good = {.element_count = 2,
                               .width = 6,
                               .pose_count = 1,
                               .poses = poses,
                               .weight = weight,
                               .metric = metric,
                               .group_count = 1,
                               .group = group,
                               .beta = 0.9},
                       bad;
    bad = good, bad.beta = 1, expect_bad(&bad, "beta");
    bad = good, bad.beta = NAN, expect_bad(&bad, "beta");
    bad = good, bad.pose_count = 0, expect_bad(&bad, "poses");
    bad = good, bad.pose_count = 65, expect_bad(&bad, "poses");
    bad = good, bad.width = 13, expect_bad(&bad, "13");
    bad = good, bad.element_count = 0, expect_bad(&bad, "elements");
    bad = good, bad.element_count = INT_MAX, expect_bad(&bad, "1 to 33554431 are possible");
    bad = good, bad.group_count = INT_MAX, expect_bad(&bad, "groups");
    bad = good, bad.beta = 0.99999999, expect_bad(&bad, "0 to 0.999999 are possible");
    bad = good, bad.group_count = 0, expect_bad(&bad, "groups");
    group[1] = 1, expect_bad(&good, "groups[1]"), group[1] = 0;
    poses[7] = NAN, expect_bad(&good, "poses[0]"), poses[7] = 0;
    weight[1] = -1, expect_bad(&good, "weight of element 1"), weight[1] = 1;
    metric[3] = INFINITY, expect_bad(&good, "metric of element 0"), metric[3] = 0;
    pl_examples *e = NULL;
    assert_int_equal(pl_examples_create(&memory, &good, &e, NULL), PL_OK);
    pl_examples_destroy(e);
    size_t before = memory.used;
    int64_t calls = (int64_t)memory.allocations;
    for (int i = 0; i < 40; i++) {
        memory.fail_at = calls + i;
        pl_status status = pl_examples_create(&memory, &good, &e, NULL);
        memory.fail_at = -1;
        if (status == PL_OK) {
            pl_examples_destroy(e);
            assert_true(i > 3);
            return;
        }
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_int_equal(memory.used, before);
        calls = (int64_t)memory.allocations;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_is_nearest),
        cmocka_unit_test(test_nearest_of_many_poses),
        cmocka_unit_test(test_simplex_rule_is_least_squares_and_sorting),
        cmocka_unit_test(test_equal_poses_share_under_the_simplex_rule),
        cmocka_unit_test(test_a_pose_is_itself_and_a_blend_its_blend),
        cmocka_unit_test(test_bias_draws_towards_a_pose),
        cmocka_unit_test(test_bias_gives_nothing_to_rest),
        cmocka_unit_test(test_bad_descriptors_are_rest),
        cmocka_unit_test(test_fifty_poses_end),
        cmocka_unit_test(test_every_width_and_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_elements_in_no_group_have_no_blend),
        cmocka_unit_test(test_saved_and_loaded_goes_on_with_the_same_bits),
        cmocka_unit_test(test_bad_sources_are_refused),
    };
    pl_memory_init(&memory, NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
