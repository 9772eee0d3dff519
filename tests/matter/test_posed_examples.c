/* Examples and plastic bends of oriented particles: weights, blends, coils told apart, the way back
   to rest; what yields and what does not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matter/posed_kit.h"

/* ---- Examples -------------------------------------------------------------------------------- */

/* Poses in the model's units, [count][n]. */
typedef struct poses {
    int count;
    float *x, *q;
} poses;

static poses make_poses(int n, int count)
{
    return (poses){count, malloc(sizeof(float) * 3 * (size_t)(n * count)),
                   malloc(sizeof(float) * 4 * (size_t)(n * count))};
}

static void free_poses(poses *p)
{
    free(p->x);
    free(p->q);
}

static pl_examples *make_examples(const oriented_case *c, const poses *p, const int32_t *groups,
                                  int group_count, bool local, double beta, pl_example_rule rule)
{
    size_t elements = (size_t)pl_posed_element_count(c->model), n = (size_t)c->graph.n;
    float *d = malloc(sizeof(float) * 6 * elements * (size_t)p->count);
    float *metric = malloc(sizeof(float) * PL_POSED_METRIC * elements);
    int32_t *group = malloc(sizeof(int32_t) * elements);
    for (size_t k = 0; k < (size_t)p->count; k++)
        assert_int_equal(pl_posed_describe(kit_memory(), c->model, &c->material, c->edge_stiffness,
                                           p->x + 3 * n * k, p->q + 4 * n * k, d + 6 * elements * k,
                                           metric, NULL),
                         PL_OK);
    pl_examples_source source = {.element_count = (int)elements,
                                 .width = PL_POSED_WIDTH,
                                 .pose_count = p->count,
                                 .poses = d,
                                 .metric = metric,
                                 .group_count =
                                     pl_posed_groups(c->model, groups, group_count, local, group),
                                 .group = group,
                                 .beta = beta,
                                 .rule = rule};
    pl_examples *examples;
    pl_error error = {0};
    if (pl_examples_create(kit_memory(), &source, &examples, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    free(d), free(metric), free(group);
    return examples;
}

static void put_into(pl_oriented *body, const float *x, const float *q)
{
    memcpy(body->old.x, x, sizeof(float) * 3 * (size_t)body->n);
    memcpy(body->old.q, q, sizeof(float) * 4 * (size_t)body->n);
    memset(body->old.u, 0, sizeof(float) * 3 * (size_t)body->n);
    memset(body->old.w, 0, sizeof(float) * 3 * (size_t)body->n);
    body->pushed = false;
}

/* A rod wound to the left and one wound to the right. */
static poses two_coils(const oriented_case *c)
{
    int n = c->graph.n;
    poses p = make_poses(n, 2);
    double *x = malloc(sizeof(double) * 3 * (size_t)n), *q = malloc(sizeof(double) * 4 * (size_t)n);
    double t = 0.5, b = 0.3, a = 1, chord = sqrt(2 * a * a * (1 - cos(t)) + b * b * t * t);
    double scale = c->graph.spacing / chord;
    for (int side = 0; side < 2; side++) {
        helix(n, a * scale, b * scale, t, side ? -1 : 1, x, q);
        to_units(c, x, q, p.x + 3 * n * side, p.q + 4 * n * side);
    }
    free(x), free(q);
    return p;
}

/* In example k its weight is 1 and the targets are its own, whichever way the body is turned; β = 1
   − 10⁻⁶ is as good as 1. */
static void test_weights_in_poses(void **state)
{
    (void)state;
    enum { N = 30 };
    oriented_case c = make_rod(N, 100);
    poses p = two_coils(&c);
    pl_rng rng = pl_rng_make(90);
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_posed *posed = make_posed(&c, NULL);
    pl_examples *examples = make_examples(&c, &p, NULL, 1, false, 0.999999, PL_EXAMPLES_AUTO);
    pl_posed_set_examples(posed, examples, 0.999999);
    for (int k = 0; k < 2; k++) {
        double turn[4], r[9];
        float x[3 * N], q[4 * N];
        oriented_random_quat(&rng, turn);
        oriented_matrix(turn, r);
        pl_quat by = pl_quat_normalise((pl_quat){turn[0], turn[1], turn[2], turn[3]});
        for (int i = 0; i < N; i++) {
            const float *px = p.x + 3 * (N * k + i), *pq = p.q + 4 * (N * k + i);
            pl_vec3 at = pl_quat_rotate(by, pl_v3((double)px[0], (double)px[1], (double)px[2]));
            pl_quat to = pl_quat_mul(
                by, (pl_quat){(double)pq[0], (double)pq[1], (double)pq[2], (double)pq[3]});
            x[3 * i] = (float)at.x, x[3 * i + 1] = (float)at.y, x[3 * i + 2] = (float)at.z;
            q[4 * i] = (float)to.x, q[4 * i + 1] = (float)to.y, q[4 * i + 2] = (float)to.z,
                  q[4 * i + 3] = (float)to.w;
        }
        put_into(body, x, q);
        solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
        const float *w = pl_examples_weights(examples);
        print_message("in pose %d: weights %.6f %.6f\n", k, (double)w[0], (double)w[1]);
        assert_true(fabs((double)w[k] - 1) < 1e-4 && fabs((double)w[1 - k]) < 1e-4);
        pl_posed *own = make_posed(&c, NULL);
        take_pose(own, &c, x, q);
        double off = 0, moved = 0;
        for (int i = 0; i < 2 * posed->blocks * 7 * LANES; i++)
            off = fmax(off, fabs((double)posed->target[i] - (double)own->target[i]));
        for (int i = 0; i < 3 * N; i++)
            moved = fmax(moved, fabs((double)body->now.x[i] - (double)x[i]));
        assert_true(off < 2e-4 && moved < 1e-3);
        pl_posed_destroy(own);
    }
    pl_posed_destroy(posed);
    free_poses(&p);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
}

/* States whose descriptors are a blend of two poses get that blend's weights. */
static void test_blends(void **state)
{
    (void)state;
    enum { N = 30 };
    oriented_case c = make_rod(N, 100);
    poses p = two_coils(&c);
    pl_rng rng = pl_rng_make(91);
    pl_posed *posed = make_posed(&c, NULL);
    pl_examples *examples = make_examples(&c, &p, NULL, 1, false, 0.999999, PL_EXAMPLES_AUTO);
    pl_posed_set_examples(posed, examples, 0.999999);
    size_t elements = (size_t)pl_posed_element_count(c.model);
    float *d[2], *present = posed->present;
    for (size_t k = 0; k < 2; k++) {
        d[k] = malloc(sizeof(float) * 6 * elements);
        pl_posed_describe(kit_memory(), c.model, &c.material, NULL, p.x + 3 * N * k,
                          p.q + 4 * N * k, d[k], NULL, NULL);
    }
    for (int round = 0; round < 20; round++) {
        double a = oriented_uniform(&rng, 0, 1), b = oriented_uniform(&rng, 0, 1 - a);
        for (size_t i = 0; i < elements * 6; i++)
            present[(i / 6 / LANES * 6 + i % 6) * LANES + i / 6 % LANES] =
                (float)(a * (double)d[0][i] + b * (double)d[1][i]);
        pl_examples_project(examples, present, NULL);
        const float *w = pl_examples_weights(examples);
        assert_true(fabs((double)w[0] - a) < 1e-4 && fabs((double)w[1] - b) < 1e-4);
        pl_examples_blend(examples, posed->blend, NULL);
        for (size_t i = 0; i < elements * 6; i++)
            assert_true(fabsf(posed->blend[i] - present[i]) < 2e-4f);
    }
    free(d[0]), free(d[1]);
    pl_posed_destroy(posed);
    free_poses(&p);
    oriented_free_case(&c);
}

static double size_of(const float *v, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)v[i]));
    return most;
}

/* Let go in a pose at β < 1 the body returns to rest; at rest it stays, bit by bit. The energy of
   every iteration, with what the blend costs, does not rise. */
static void test_back_to_rest(void **state)
{
    (void)state;
    enum { N = 16, STEPS = 10 };
    for (int local = 0; local < 2; local++) {
        oriented_case c = make_rod(N, 1e3);
        poses p = two_coils(&c);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
        oriented_begin(&scene);
        pl_oriented *body = oriented_matter(&scene, 0);
        pl_posed *posed = make_posed(&c, NULL);
        double beta = 0.9;
        pl_posed_set_examples(
            posed, make_examples(&c, &p, NULL, 1, local, beta, PL_EXAMPLES_NEAREST), beta);
        float q[4 * N];
        for (int i = 0; i < 4 * N; i++)
            q[i] = i % 4 == 3;
        put_into(body, c.model->rest, q);
        solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
        assert_memory_equal(body->now.x, c.model->rest, sizeof(float) * 3 * N);
        put_into(body, p.x, p.q);
        double rise = 0, first = 0, trace[STEPS + 1];
        for (int step = 0; step < 300; step++) {
            solve(&scene, posed, PL_SOLVER_FAST, STEPS, trace);
            first = fmax(first, trace[0]);
            for (int k = 0; k < STEPS; k++)
                rise = fmax(rise, (trace[k + 1] - trace[k]) / first);
            put_into(body, body->now.x, body->now.q);
        }
        double left = size_of(posed->present, 2 * (size_t)posed->blocks * 6 * LANES);
        print_message("%s: left of the pose %.1e, largest rise %.1e\n", local ? "local" : "global",
                      left, rise);
        assert_true(left < 0.01);
        assert_true(rise < 1e-6);
        pl_posed_destroy(posed);
        free_poses(&p);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
}

/* Bending a rod towards an arc meets less resistance where the arc is an example: the middle pushed
   one way, the ends the other. */
static double bent_by_push(bool with)
{
    enum { N = 21 };
    oriented_case c = make_rod(N, 1e3);
    double x[3 * N], q[4 * N], angle = 0.15;
    helix(N, c.graph.spacing / (2 * sin(angle / 2)), 0, angle, 1, x, q);
    poses p = make_poses(N, 1);
    to_units(&c, x, q, p.x, p.q);
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_posed *posed = make_posed(&c, NULL);
    if (with)
        pl_posed_set_examples(posed, make_examples(&c, &p, NULL, 1, false, 0.99, PL_EXAMPLES_AUTO),
                              0.99);
    float rest[4 * N];
    for (int i = 0; i < 4 * N; i++)
        rest[i] = i % 4 == 3;
    put_into(body, c.model->rest, rest);
    for (int step = 0; step < 300; step++) {
        body->pushed = true;
        for (int i = 0; i < N; i++) {
            float share = i == 0 || i == N - 1 ? 1.0f : i == N / 2 ? -2.0f : 0.0f;
            body->push[3 * i] = body->push[3 * i + 2] = 0;
            body->push[3 * i + 1] = share * (float)(0.5 / (c.h * c.h));
        }
        solve(&scene, posed, PL_SOLVER_FAST, 10, NULL);
        put_into(body, body->now.x, body->now.q);
    }
    double sag = (double)body->now.x[1] - (double)body->now.x[3 * (N / 2) + 1];
    if (with)
        print_message("weight of the arc %.3f\n", (double)pl_examples_weights(posed->examples)[0]);
    pl_posed_destroy(posed);
    free_poses(&p);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
    return sag;
}

static void test_examples_soften(void **state)
{
    (void)state;
    double stiff = bent_by_push(false), soft = bent_by_push(true);
    print_message("bent by %.3f without the example, %.3f with it\n", stiff, soft);
    assert_true(stiff > 0 && soft > 2 * stiff);
}

/* Deforming one half leaves the weights of the other at rest. */
static void test_groups(void **state)
{
    (void)state;
    enum { N = 30 };
    oriented_case c = make_rod(N, 100);
    poses p = two_coils(&c);
    int32_t groups[N], elements[1024];
    for (int i = 0; i < N; i++)
        groups[i] = i < N / 2 ? 0 : i < N - 2 ? 1 : -1;
    int backward = pl_posed_backward(c.model->edge_count);
    assert_int_equal(pl_posed_groups(c.model, groups, 2, false, elements), 2);
    for (int e = 0; e < c.model->edge_count; e++) {
        assert_int_equal(elements[e], groups[c.model->edges[2 * e]]);
        assert_int_equal(elements[backward + e], groups[c.model->edges[2 * e + 1]]);
    }
    assert_int_equal(pl_posed_groups(c.model, groups, 2, true, elements), N);
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_posed *posed = make_posed(&c, NULL);
    pl_examples *examples = make_examples(&c, &p, groups, 2, false, 0.999, PL_EXAMPLES_AUTO);
    pl_posed_set_examples(posed, examples, 0.999);
    /* The first half wound, the second straight on from there. */
    float x[3 * N], q[4 * N];
    memcpy(x, p.x, sizeof x);
    memcpy(q, p.q, sizeof q);
    for (int i = N / 2; i < N; i++) {
        int last = N / 2 - 1;
        pl_quat r = {(double)q[4 * last], (double)q[4 * last + 1], (double)q[4 * last + 2],
                     (double)q[4 * last + 3]};
        const float *rest = c.model->rest;
        pl_vec3 d = pl_quat_rotate(r, pl_v3((double)rest[3 * i] - (double)rest[3 * last],
                                            (double)rest[3 * i + 1] - (double)rest[3 * last + 1],
                                            (double)rest[3 * i + 2] - (double)rest[3 * last + 2]));
        x[3 * i] = (float)((double)x[3 * last] + d.x);
        x[3 * i + 1] = (float)((double)x[3 * last + 1] + d.y);
        x[3 * i + 2] = (float)((double)x[3 * last + 2] + d.z);
        memcpy(q + 4 * i, q + 4 * last, sizeof(float) * 4);
    }
    put_into(body, x, q);
    solve(&scene, posed, PL_SOLVER_FAST, 0, NULL);
    const float *w = pl_examples_weights(examples);
    print_message("first half %.4f %.4f, second half %.4f %.4f\n", (double)w[0], (double)w[1],
                  (double)w[2], (double)w[3]);
    assert_true(w[0] > 0.9f && w[1] < 0.02f && w[2] < 1e-4f && w[3] < 1e-4f);
    pl_posed_destroy(posed);
    free_poses(&p);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
}

/* ---- Plastic bends --------------------------------------------------------------------------- */

/* Bent to so many radians from edge to edge, held there for a second, let go: what is left of the
   bend in the end. */
static double bend_and_let_go(const pl_plasticity_def *plastic, double angle, double *first_strain)
{
    enum { N = 16 };
    oriented_case c = make_rod(N, 1e3);
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_posed *posed = make_posed(&c, plastic);
    double x[3 * N], q[4 * N], radius = c.graph.spacing / (2 * sin(angle / 2));
    float fx[3 * N], fq[4 * N];
    helix(N, radius, 0, angle, 1, x, q);
    to_units(&c, x, q, fx, fq);
    put_into(body, fx, fq);
    memcpy(body->now.x, fx, sizeof fx);
    memcpy(body->now.q, fq, sizeof fq);
    pl_posed_measure(posed, body);
    *first_strain = (double)posed->strain[N / 2];
    for (int step = 0; step < 100; step++)
        pl_posed_flow(posed, body, 0.01);
    for (int step = 0; step < 400; step++) {
        solve(&scene, posed, PL_SOLVER_FAST, 20, NULL);
        pl_posed_flow(posed, body, 0.01);
        put_into(body, body->now.x, body->now.q);
    }
    double e[2][3], dot = 0, square[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < 2; s++) {
            const float *at = body->now.x + 3 * (N / 2 + s) + k;
            e[s][k] = (double)at[0] - (double)at[-3];
            square[s] += e[s][k] * e[s][k];
        }
        dot += e[0][k] * e[1][k];
    }
    pl_posed_destroy(posed);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
    return acos(fmin(1, dot / sqrt(square[0] * square[1])));
}

static void test_bends(void **state)
{
    (void)state;
    pl_plasticity_def plastic = pl_default_plasticity_def();
    double strain, kept;
    plastic.yield = 0.1;
    kept = bend_and_let_go(&plastic, 0.1, &strain);
    print_message("0.1 rad, strain %.3f: %.4f rad are kept\n", strain, kept);
    assert_true(strain < 0.1 && kept < 1e-3);
    /* All but the yield flows: kept / bent = 1 − yield / strain. */
    kept = bend_and_let_go(&plastic, 0.5, &strain);
    print_message("0.5 rad, strain %.3f: %.4f rad are kept\n", strain, kept);
    assert_true(strain > 0.2 && fabs(kept - 0.5 * (1 - 0.1 / strain)) < 0.01);
    /* Hardening keeps less, a limit no more than it says. */
    plastic.hardening = 1;
    double hard = bend_and_let_go(&plastic, 0.5, &strain);
    assert_true(hard < kept - 0.01 && hard > 0.05);
    plastic.hardening = 0;
    plastic.limit = 0.05;
    double little = bend_and_let_go(&plastic, 0.5, &strain);
    print_message("hardening: %.4f; limit 0.05: %.4f\n", hard, little);
    assert_true(fabs(little - 0.5 * 0.05 / strain) < 0.01);
}

/* γ of one flow step is that of the formula. */
static void test_flow_rule(void **state)
{
    (void)state;
    enum { N = 8 };
    oriented_case c = make_rod(N, 100);
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_plasticity_def plastic = pl_default_plasticity_def();
    plastic.yield = 0.05, plastic.flow = 30, plastic.hardening = 2;
    pl_posed *posed = make_posed(&c, &plastic);
    for (int i = 0; i < N; i++) /* stretched by a fifth: e = 0.2 */
        for (int k = 0; k < 3; k++)
            body->now.x[3 * i + k] = 1.2f * c.model->rest[3 * i + k];
    double h = 0.02, worked = 0, strain = 0.2;
    for (int step = 0; step < 20; step++) {
        pl_posed_flow(posed, body, h);
        assert_true(fabs((double)posed->strain[0] - strain) < 1e-5);
        double limit = 0.05 + 2 * worked, gamma = (1 - exp(-30 * h)) * (strain - limit) / strain;
        worked += h * strain;
        strain *= 1 - fmax(gamma, 0);
        assert_true(fabs((double)posed->worked[0] - worked) < 1e-5);
    }
    assert_true(strain > 0.05 && strain < 0.15);
    pl_posed_destroy(posed);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void test_bytes(void **state)
{
    (void)state;
    enum { N = 30 };
    oriented_case c = make_rod(N, 100);
    poses p = two_coils(&c);
    pl_plasticity_def plastic = pl_default_plasticity_def();
    oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_FAST, 1, NULL);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    pl_posed *posed[2];
    for (int k = 0; k < 2; k++) {
        posed[k] = make_posed(&c, &plastic);
        pl_posed_set_examples(posed[k],
                              make_examples(&c, &p, NULL, 1, false, 0.99, PL_EXAMPLES_AUTO), 0.99);
    }
    put_into(body, p.x, p.q);
    uint64_t allocations = kit_memory()->allocations;
    for (int step = 0; step < 5; step++) {
        solve(&scene, posed[0], PL_SOLVER_FAST, 5, NULL);
        pl_posed_flow(posed[0], body, c.h);
        put_into(body, body->now.x, body->now.q);
    }
    assert_true(kit_memory()->allocations == allocations);
    size_t size = pl_posed_save_size(posed[0]);
    unsigned char *bytes = malloc(size);
    pl_posed_save(posed[0], bytes);
    assert_int_equal(pl_posed_load(posed[1], bytes, size, NULL), PL_OK);
    assert_true(pl_posed_digest(posed[0]) == pl_posed_digest(posed[1]));
    /* Both go on alike. */
    float x[3 * N];
    uint64_t digest = 0;
    for (int k = 0; k < 2; k++) {
        solve(&scene, posed[k], PL_SOLVER_FAST, 5, NULL);
        pl_posed_flow(posed[k], body, c.h);
        if (k)
            assert_memory_equal(x, body->now.x, sizeof x);
        memcpy(x, body->now.x, sizeof x);
        assert_true(!k || digest == pl_posed_digest(posed[k]));
        digest = pl_posed_digest(posed[k]);
    }
    /* Cut short, of another body, or no numbers: refused, and nothing changed. */
    digest = pl_posed_digest(posed[1]);
    assert_int_equal(pl_posed_load(posed[1], bytes, 20, NULL), PL_ERROR_FORMAT);
    bytes[8]++;
    assert_int_equal(pl_posed_load(posed[1], bytes, size, NULL), PL_ERROR_FORMAT);
    bytes[8]--;
    memset(bytes + 40, 0xff, 4);
    assert_int_equal(pl_posed_load(posed[1], bytes, size, NULL), PL_ERROR_FORMAT);
    assert_true(digest == pl_posed_digest(posed[1]));
    free(bytes);
    for (int k = 0; k < 2; k++)
        pl_posed_destroy(posed[k]);
    free_poses(&p);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_in_poses), cmocka_unit_test(test_blends),
        cmocka_unit_test(test_back_to_rest),     cmocka_unit_test(test_examples_soften),
        cmocka_unit_test(test_groups),           cmocka_unit_test(test_bends),
        cmocka_unit_test(test_flow_rule),        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
