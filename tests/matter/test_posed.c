/* Oriented particles with targets (METHODS, "Rest-shape modifiers"): the energy against central
   differences, the kernels against it, the minimum against the unmodified solver's and against
   analytic coils. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/simd.h"
#include "matter/posed_kit.h"
#include "matter/posed_lanes.h"
#include "support/check.h"
#include "support/oriented_reference.h"

/* ---- Energy ---------------------------------------------------------------------------------- */

static void nudge(double *x, double *r, int i, int coordinate, double by)
{
    if (coordinate < 3) {
        x[3 * i + coordinate] += by;
        return;
    }
    double c = cos(by), s = sin(by);
    int a = (coordinate - 3 + 1) % 3, b = (coordinate - 3 + 2) % 3;
    for (int k = 0; k < 3; k++) {
        double ra = r[9 * i + 3 * a + k], rb = r[9 * i + 3 * b + k];
        r[9 * i + 3 * a + k] = c * ra - s * rb;
        r[9 * i + 3 * b + k] = s * ra + c * rb;
    }
}

static double slope(const pl_posed *posed, const pl_oriented *body, double h, double *x, double *r,
                    int i, int coordinate)
{
    static const double at[4] = {2e-3, 1e-3, -1e-3, -2e-3};
    double values[4];
    for (int k = 0; k < 4; k++) {
        nudge(x, r, i, coordinate, at[k]);
        values[k] = total(pl_posed_evaluate(posed, body, h, x, r, NULL));
        nudge(x, r, i, coordinate, -at[k]);
    }
    return (8 * (values[1] - values[2]) - (values[0] - values[3])) / (12 * 1e-3);
}

static void test_gradient(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(81);
    double worst = 0;
    for (int round = 0; round < oriented_cases(60); round++) {
        oriented_case c = oriented_random_case(&rng, 12, 1, 1e3, false);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        scatter_targets(&rng, posed, 0.4);
        size_t n = (size_t)body->n;
        double *x = malloc(sizeof(double) * 3 * n), *r = malloc(sizeof(double) * 9 * n);
        double *g = malloc(sizeof(double) * 6 * n), scale = 0;
        oriented_result(body, x, r);
        for (size_t i = 0; i < n; i++) {
            double q[4];
            oriented_random_quat(&rng, q);
            oriented_matrix(q, r + 9 * i);
            for (int k = 0; k < 3; k++)
                x[3 * i + (size_t)k] += 0.3 * oriented_normal(&rng);
        }
        pl_posed_evaluate(posed, body, c.h, x, r, g);
        for (size_t i = 0; i < 6 * n; i++)
            scale = fmax(scale, fabs(g[i]));
        for (int k = 0; k < 12; k++) {
            int i = (int)pl_random_below(&rng, (uint32_t)n);
            int coordinate = (int)pl_random_below(&rng, 6);
            double d = slope(posed, body, c.h, x, r, i, coordinate) - g[6 * i + coordinate];
            worst = fmax(worst, fabs(d) / scale);
        }
        free(x), free(r), free(g);
        pl_posed_destroy(posed);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("gradient against differences: %.1e\n", worst);
    assert_true(worst < 1e-8);
}

/* Without changes the energy and the minimiser are those of oriented.h. */
static void test_unmodified(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(82);
    double energy = 0, place = 0, turn = 0;
    for (int round = 0; round < oriented_cases(60); round++) {
        oriented_graph graph =
            oriented_random_graph(&rng, (oriented_kind)(round % ORIENTED_KINDS), 0, 24);
        oriented_case c = oriented_plain_case(graph, 0.01, oriented_decades(&rng, 0, 3));
        if (round % 3)
            oriented_fix_some(&rng, &c, 3);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_pose pose = oriented_make_pose(&rng, &c, ORIENTED_NEAR);
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        size_t n = (size_t)body->n;
        double *x[2], *r[2];
        for (int k = 0; k < 2; k++)
            x[k] = malloc(sizeof(double) * 3 * n), r[k] = malloc(sizeof(double) * 9 * n);
        int iterations =
            round % 2 ? 1000 : 1; /* between them, rounding decides what is accelerated */
        oriented_solve(&scene, PL_SOLVER_FAST, 0, 1, true, iterations);
        oriented_result(body, x[0], r[0]);
        solve(&scene, posed, PL_SOLVER_FAST, iterations, NULL);
        oriented_result(body, x[1], r[1]);
        double a = total(pl_oriented_evaluate(body, c.h, x[0], r[0], NULL)),
               b = total(pl_posed_evaluate(posed, body, c.h, x[0], r[0], NULL));
        energy = fmax(energy, fabs(a - b) / (a + 1e-12));
        for (size_t i = 0; i < 3 * n; i++)
            place = fmax(place, fabs(x[0][i] - x[1][i]));
        for (size_t i = 0; i < 9 * n; i++)
            turn = fmax(turn, fabs(r[0][i] - r[1][i]));
        for (int k = 0; k < 2; k++)
            free(x[k]), free(r[k]);
        pl_posed_destroy(posed);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("unmodified: energies %.1e, places %.1e units, rotations %.1e apart\n", energy,
                  place, turn);
    assert_true(energy < 1e-6);
    assert_true(place < 2e-4 && turn < 2e-4);
}

/* The kernel's energy is the reference's, it never rises, and where it ends the gradient
   vanishes. */
static void test_descent(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(83);
    double worst = 0, rise = 0, steep = 0;
    enum { STEPS = 40 };
    for (int round = 0; round < oriented_cases(100); round++) {
        oriented_case c = oriented_random_case(&rng, 24, 1, 1e3, false);
        oriented_hold_lightly(&c);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_pose pose =
            oriented_make_pose(&rng, &c, (oriented_pose_kind)(round % ORIENTED_POSE_KINDS));
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        scatter_targets(&rng, posed, 0.1);
        size_t n = (size_t)body->n;
        double trace[STEPS + 1], *x = malloc(sizeof(double) * 3 * n),
                                 *r = malloc(sizeof(double) * 9 * n),
                                 *g = malloc(sizeof(double) * 6 * n);
        solve(&scene, posed, PL_SOLVER_FAST, STEPS, trace);
        oriented_result(body, x, r);
        double e = total(pl_posed_evaluate(posed, body, c.h, x, r, NULL));
        for (int k = 0; k < STEPS; k++)
            rise = fmax(rise, (trace[k + 1] - trace[k]) / (trace[k] + 1e-9));
        worst = fmax(worst, fabs(e - trace[STEPS]) / (e + 1e-9));
        double start = 0, end = 0;
        solve(&scene, posed, PL_SOLVER_FAST, 0, NULL);
        oriented_result(body, x, r);
        pl_posed_evaluate(posed, body, c.h, x, r, g);
        for (size_t i = 0; i < 6 * n; i++)
            start = fmax(start, body->system->is_fixed[i / 6] ? 0 : fabs(g[i]));
        solve(&scene, posed, PL_SOLVER_FAST, 1500, NULL);
        oriented_result(body, x, r);
        pl_posed_evaluate(posed, body, c.h, x, r, g);
        for (size_t i = 0; i < 6 * n; i++)
            end = fmax(end, body->system->is_fixed[i / 6] ? 0 : fabs(g[i]));
        steep = fmax(steep, start > 0 ? end / (start + 1) : 0);
        free(x), free(r), free(g);
        pl_posed_destroy(posed);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("kernel against reference %.1e; largest rise %.1e; gradient left %.1e\n", worst,
                  rise, steep);
    assert_true(worst < 1e-4);
    assert_true(rise < 1e-6);
    assert_true(steep < 1e-3);
}

/* ---- Coils ----------------------------------------------------------------------------------- */

/* Radius, rise and turn of the helix through points i to i + 3, from products of its chords: with
   e_k the chords and A = 2 a² (1 − cos t), e_0·e_k = A cos(k t) + b² t². */
typedef struct coil {
    double curvature, torsion; /* the latter with the sign of the hand */
} coil;

static coil measure_coil(const float *x)
{
    double e[3][3], dot[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            e[k][m] = (double)x[3 * (k + 1) + m] - (double)x[3 * k + m];
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            dot[k] += e[0][m] * e[k][m];
    double cosine = ((dot[1] - dot[2]) / (dot[0] - dot[1]) - 1) / 2, t = acos(cosine);
    double part = (dot[0] - dot[1]) / (1 - cosine), a2 = part / (2 * (1 - cosine)),
           b2 = (dot[0] - part) / (t * t);
    double hand = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
                  e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                  e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    return (coil){sqrt(a2) / (a2 + b2), copysign(sqrt(fmax(b2, 0)) / (a2 + b2), hand)};
}

/* A straight rod whose edges want to be those of a coil becomes that coil, left or right. */
static void test_coil(void **state)
{
    (void)state;
    enum { N = 40 };
    for (int side = 0; side < 2; side++) {
        oriented_case c = make_rod(N, 1e3);
        double length = c.graph.spacing, sign = side ? -1 : 1, x[3 * N], q[4 * N];
        /* chord of one edge's length: 2 a² (1 − cos t) + b² t² */
        double t = 0.6, b = 0.4, a = 1, chord = sqrt(2 * a * a * (1 - cos(t)) + b * b * t * t);
        double scale = length / chord;
        a *= scale, b *= scale;
        helix(N, a, b, t, sign, x, q);
        float fx[3 * N], fq[4 * N];
        to_units(&c, x, q, fx, fq);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        take_pose(posed, &c, fx, fq);
        settle(&scene, posed, 60, 40);
        double curvature = a / (a * a + b * b), torsion = sign * b / (a * a + b * b), worst = 0,
               unit = c.model->unit;
        for (int i = 0; i + 3 < N; i++) {
            coil m = measure_coil(body->now.x + 3 * i);
            worst = fmax(worst, fabs(m.curvature / unit / curvature - 1));
            worst = fmax(worst, fabs(m.torsion / unit / torsion - 1));
        }
        print_message("coil %+g: curvature and torsion within %.1e\n", sign, worst);
        assert_true(worst < 0.01);
        pl_posed_destroy(posed);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
}

/* Rotations fitted to positions alone: of a rigidly turned body that turn; of a twisted solid its
   twist; of a coil, axes that follow its tangents and do not twist about them. */
static void test_fitted_rotations(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(84);
    for (int round = 0; round < 3; round++) {
        oriented_case c =
            oriented_plain_case(round == 0   ? oriented_shape_graph(PL_SHAPE_BOX, 3, 3, 3)
                                : round == 1 ? oriented_shape_graph(PL_SHAPE_SHEET, 5, 4, 0)
                                             : oriented_shape_graph(PL_SHAPE_CHAIN, 12, 0, 0),
                                0.01, 100);
        size_t n = (size_t)c.graph.n;
        double turn[4], r[9], worst = 0;
        oriented_random_quat(&rng, turn);
        oriented_matrix(turn, r);
        float *x = malloc(sizeof(float) * 3 * n), *q = malloc(sizeof(float) * 4 * n);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 3; k++) {
                const float *rest = c.model->rest + 3 * i;
                x[3 * i + k] = (float)(r[3 * k] * (double)rest[0] + r[3 * k + 1] * (double)rest[1] +
                                       r[3 * k + 2] * (double)rest[2] + 5);
            }
        assert_int_equal(pl_posed_fit_rotations(kit_memory(), c.model, x, q, NULL), PL_OK);
        float *d = malloc(sizeof(float) * 6 * (size_t)pl_posed_element_count(c.model));
        assert_int_equal(
            pl_posed_describe(kit_memory(), c.model, &c.material, NULL, x, NULL, d, NULL, NULL),
            PL_OK);
        for (int i = 0; i < 6 * pl_posed_element_count(c.model); i++)
            worst = fmax(worst, fabs((double)d[i]));
        print_message("rigidly turned: descriptors %.1e\n", worst);
        assert_true(worst < 2e-6);
        free(x), free(q), free(d);
        oriented_free_case(&c);
    }
    enum { N = 40 };
    oriented_case c = make_rod(N, 100);
    double x[3 * N], q[4 * N], length = c.graph.spacing, along = 0, twist = 0;
    helix(N, length, 0.4 * length, 0.5, 1, x, q);
    float fx[3 * N], fq[4 * N];
    to_units(&c, x, q, fx, fq);
    assert_int_equal(pl_posed_fit_rotations(kit_memory(), c.model, fx, fq, NULL), PL_OK);
    for (int i = 1; i + 1 < N; i++) {
        pl_quat a = {(double)fq[4 * i], (double)fq[4 * i + 1], (double)fq[4 * i + 2],
                     (double)fq[4 * i + 3]},
                b = {(double)fq[4 * i + 4], (double)fq[4 * i + 5], (double)fq[4 * i + 6],
                     (double)fq[4 * i + 7]};
        const float *rest = c.model->edge_offset;
        pl_vec3 axis = pl_v3_normalise(pl_v3((double)rest[0], (double)rest[1], (double)rest[2]));
        pl_vec3 tangent = pl_v3_normalise(pl_v3((double)fx[3 * i + 3] - (double)fx[3 * i - 3],
                                                (double)fx[3 * i + 4] - (double)fx[3 * i - 2],
                                                (double)fx[3 * i + 5] - (double)fx[3 * i - 1]));
        along = fmax(along, pl_v3_length(pl_v3_sub(pl_quat_rotate(a, axis), tangent)));
        pl_quat u = pl_quat_mul(pl_quat_conjugate(a), b);
        if (i + 2 < N)
            twist = fmax(twist, fabs(pl_v3_dot(pl_v3(u.x, u.y, u.z), axis)));
    }
    print_message("coil: axes off the tangents by %.1e, twisted by %.1e for each edge\n", along,
                  2 * twist);
    assert_true(along < 0.04 && 2 * twist < 0.02);
    oriented_free_case(&c);
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static void test_rest_is_exact(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(85);
    for (int round = 0; round < oriented_cases(40); round++) {
        oriented_graph g =
            oriented_random_graph(&rng, (oriented_kind)(round % ORIENTED_KINDS), 0, 40);
        oriented_case c = oriented_plain_case(g, 0.01, oriented_decades(&rng, 0, 3));
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
        assert_memory_equal(body->now.x, body->old.x, sizeof(float) * 3 * (size_t)body->n);
        assert_memory_equal(body->now.q, body->old.q, sizeof(float) * 4 * (size_t)body->n);
        pl_posed_destroy(posed);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
}

static void momentum(const pl_oriented *body, double p[3])
{
    for (int k = 0; k < 3; k++) {
        p[k] = body->system->total_mass * body->now.velocity[k];
        for (int i = 0; i < body->n; i++)
            p[k] += body->system->mass[i] * (double)body->now.u[3 * i + k];
    }
}

static void test_momentum(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(86);
    double worst = 0;
    for (int round = 0; round < oriented_cases(40); round++) {
        oriented_graph g =
            oriented_random_graph(&rng, (oriented_kind)(round % ORIENTED_KINDS), 0, 40);
        oriented_case c = oriented_plain_case(g, 0.01, oriented_decades(&rng, 0, 3));
        c.material.damping = 0;
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_pose pose = oriented_make_pose(&rng, &c, ORIENTED_MOVING);
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        body->damping = 0;
        pl_posed *posed = make_posed(&c, NULL);
        scatter_targets(&rng, posed, 0.2);
        double before[3], after[3], size = 0;
        pl_state now = body->now;
        body->now = body->old;
        momentum(body, before);
        body->now = now;
        pl_work work = solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
        assert_true(pl_oriented_finish(body, c.h, &work));
        momentum(body, after);
        for (int k = 0; k < 3; k++)
            size = fmax(size, fabs(before[k]));
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(after[k] - before[k]) / (size + 1e-9));
        pl_posed_destroy(posed);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("momentum: %.1e\n", worst);
    assert_true(worst < 1e-12);
}

/* Whatever is done to the state, the numbers stay numbers and the rotations of unit length. */
static void test_bad_states(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(87);
    static const oriented_pose_kind kinds[] = {ORIENTED_SCRAMBLED, ORIENTED_COLLAPSED,
                                               ORIENTED_MIRRORED};
    for (int round = 0; round < oriented_cases(60); round++) {
        oriented_case c = oriented_random_case(&rng, 20, 1, 1e4, false);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_pose pose = oriented_make_pose(&rng, &c, kinds[round % 3]);
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_plasticity_def plastic = pl_default_plasticity_def();
        pl_posed *posed = make_posed(&c, &plastic);
        scatter_targets(&rng, posed, 0.5);
        for (int step = 0; step < 5; step++) {
            solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
            pl_posed_flow(posed, body, c.h);
            memcpy(body->old.x, body->now.x, sizeof(float) * 3 * (size_t)body->n);
            memcpy(body->old.q, body->now.q, sizeof(float) * 4 * (size_t)body->n);
        }
        for (int i = 0; i < body->n; i++) {
            double length = 0;
            for (int k = 0; k < 4; k++)
                length += (double)body->now.q[4 * i + k] * (double)body->now.q[4 * i + k];
            assert_true(fabs(length - 1) < 1e-6);
            for (int k = 0; k < 3; k++)
                assert_true(fabsf(body->now.x[3 * i + k]) < 1e6f);
        }
        for (int e = 0; e < posed->edge_count; e++)
            for (int k = 0; k < 12; k++)
                assert_true(fabsf(*flowed_at(posed, e, k >= 6, k % 6)) < 1e3f);
        /* Not a number: nothing of it stays in the targets. */
        body->now.x[0] = NAN;
        pl_posed_flow(posed, body, c.h);
        for (int e = 0; e < posed->edge_count; e++)
            for (int k = 0; k < 12; k++)
                assert_true(fabsf(*flowed_at(posed, e, k >= 6, k % 6)) < 1e3f);
        pl_posed_destroy(posed);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
}

/* ---- Widths ---------------------------------------------------------------------------------- */

typedef struct kernel {
    int width;
    void (*solve)(const pl_block *, double, int, pl_work *);
    void (*retarget)(pl_posed *);
    void (*strains)(pl_posed *, const float *, const float *);
} kernel;

#define KERNEL(width)                                                                              \
    {width, pl_posed_solve_w##width, pl_posed_retarget_w##width, pl_posed_strains_w##width},

static const kernel kernels[] = {PL_SIMD_EACH(KERNEL)};

typedef struct outcome {
    size_t n, edges;
    float *x, *q, *strain, *target;
} outcome;

static outcome run_kernel(const kernel *k, oriented_scene *scene, pl_posed *posed)
{
    pl_oriented *body = oriented_matter(scene, 0);
    size_t size = (pl_posed_scratch(body->system) + 63) / 64 * 64;
    pl_work work = {.scratch = aligned_alloc(64, size)};
    pl_block block = {.system = body->system,
                      .solver = PL_SOLVER_FAST,
                      .bodies = &body,
                      .count = 1,
                      .lone = true};
    body->posed = posed;
    for (int i = 0; i < 3; i++)
        body->c[i] = body->drift[i];
    outcome o = {(size_t)body->n, (size_t)posed->blocks * LANES, NULL, NULL, NULL, NULL};
    pl_float_env host = pl_float_env_enter();
    posed->made_for = 0;
    k->retarget(posed);
    k->solve(&block, scene->world->h, 10, &work);
    k->strains(posed, body->now.x, body->now.q);
    pl_float_env_leave(host);
    body->posed = NULL;
    const float *from[] = {body->now.x, body->now.q, posed->strain, posed->target};
    float **to[] = {&o.x, &o.q, &o.strain, &o.target};
    const size_t count[] = {3 * o.n, 4 * o.n, o.edges, 14 * o.edges};
    for (int i = 0; i < 4; i++) {
        *to[i] = malloc(sizeof(float) * count[i]);
        memcpy(*to[i], from[i], sizeof(float) * count[i]);
    }
    free(work.scratch);
    return o;
}

static void free_outcome(outcome *o)
{
    free(o->x), free(o->q), free(o->strain), free(o->target);
}

/* All widths give the same bits, in float and in double. */
static void test_widths(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(88);
    for (int round = 0; round < oriented_cases(20); round++) {
        oriented_case c = oriented_random_case(&rng, 40, 1, round % 2 ? 1e6 : 1e2, false);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_pose pose = oriented_make_pose(&rng, &c, ORIENTED_BENT);
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        pl_posed *posed = make_posed(&c, NULL);
        scatter_targets(&rng, posed, 0.2);
        outcome first = run_kernel(kernels, &scene, posed);
        for (size_t k = 1; k < sizeof kernels / sizeof *kernels; k++) {
            if (!pl_simd_supports(kernels[k].width))
                continue;
            outcome other = run_kernel(kernels + k, &scene, posed);
            assert_memory_equal(first.x, other.x, sizeof(float) * 3 * first.n);
            assert_memory_equal(first.q, other.q, sizeof(float) * 4 * first.n);
            assert_memory_equal(first.strain, other.strain, sizeof(float) * first.edges);
            assert_memory_equal(first.target, other.target, sizeof(float) * 14 * first.edges);
            free_outcome(&other);
        }
        free_outcome(&first);
        pl_posed_destroy(posed);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),         cmocka_unit_test(test_unmodified),
        cmocka_unit_test(test_descent),          cmocka_unit_test(test_coil),
        cmocka_unit_test(test_fitted_rotations), cmocka_unit_test(test_rest_is_exact),
        cmocka_unit_test(test_momentum),         cmocka_unit_test(test_bad_states),
        cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
