/* The energy of a sub-step and its gradient (METHODS §1): pl_oriented_evaluate against the same
   energy written once more in the tests, against central differences term by term, and under rigid
   motions of everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oriented_reference.h"

/* Positions and rotations of a body that have nothing to do with its targets. */
typedef struct trial {
    int n;
    double *x, *r; /* units */
} trial;

static trial make_trial(pl_rng *rng, const oriented_case *c)
{
    trial t = {.n = c->graph.n};
    t.x = malloc(sizeof(double) * 3 * (size_t)t.n);
    t.r = malloc(sizeof(double) * 9 * (size_t)t.n);
    double spread = oriented_chance(rng, 0.5) ? 0.1 : 2, all[4], unit = c->model->unit;
    oriented_random_quat(rng, all);
    bool turned = oriented_chance(rng, 0.5);
    for (int i = 0; i < t.n; i++) {
        double q[4];
        oriented_random_quat(rng, q);
        for (int k = 0; k < 4; k++)
            q[k] = (turned ? all[k] : k == 3) + spread * q[k];
        oriented_matrix(q, t.r + 9 * i);
        for (int k = 0; k < 3; k++)
            t.x[3 * i + k] = (c->graph.rest[3 * i + k] - c->model->centre[k]) / unit +
                             spread * oriented_normal(rng);
    }
    return t;
}

static void free_trial(trial *t)
{
    free(t->x);
    free(t->r);
}

/* One coordinate of one particle moved: 0–2 by position, 3–5 by a turn from the left. */
static void nudge(trial *t, int i, int coordinate, double by)
{
    if (coordinate < 3) {
        t->x[3 * i + coordinate] += by;
        return;
    }
    double c = cos(by), s = sin(by), *r = t->r + 9 * i;
    int a = (coordinate - 3 + 1) % 3, b = (coordinate - 3 + 2) % 3;
    for (int k = 0; k < 3; k++) {
        double ra = r[3 * a + k], rb = r[3 * b + k];
        r[3 * a + k] = c * ra - s * rb;
        r[3 * b + k] = s * ra + c * rb;
    }
}

/* A term alone: the others' share of the gradient is taken out by the reference's freedom to leave
   them out. */
static double term_of(pl_oriented_energy e, int term)
{
    return term == 0   ? e.inertia
           : term == 1 ? e.elastic
           : term == 2 ? e.pins
                       : e.inertia + e.elastic + e.pins;
}

/* dE/dy by Richardson's extrapolation of central differences: fourth order. */
static double slope(const pl_oriented *body, double h, trial *t, int i, int coordinate, int term)
{
    double values[4];
    static const double at[4] = {2e-3, 1e-3, -1e-3, -2e-3};
    for (int k = 0; k < 4; k++) {
        trial moved = {t->n, malloc(sizeof(double) * 3 * (size_t)t->n),
                       malloc(sizeof(double) * 9 * (size_t)t->n)};
        memcpy(moved.x, t->x, sizeof(double) * 3 * (size_t)t->n);
        memcpy(moved.r, t->r, sizeof(double) * 9 * (size_t)t->n);
        nudge(&moved, i, coordinate, at[k]);
        values[k] = term_of(pl_oriented_evaluate(body, h, moved.x, moved.r, NULL), term);
        free_trial(&moved);
    }
    return (8 * (values[1] - values[2]) - (values[0] - values[3])) / (12 * 1e-3);
}

/* The gradient of one term, found by switching the others off in a copy of the body. */
static void gradient_of(const pl_oriented *body, double h, const trial *t, int term, double *g)
{
    pl_oriented copy = *body;
    pl_system system = *body->system;
    pl_grain_d *grains = malloc(sizeof *grains * (size_t)body->n);
    memcpy(grains, system.grain_d, sizeof *grains * (size_t)body->n);
    copy.system = &system;
    system.grain_d = grains;
    if (term == 1 || term == 2)
        for (int i = 0; i < body->n; i++)
            grains[i].mass = grains[i].density = 0;
    if (term == 0 || term == 2)
        system.edge_count = 0;
    if (term == 0 || term == 1)
        copy.hold_count = 0;
    pl_oriented_evaluate(&copy, h, t->x, t->r, g);
    free(grains);
}

static void check_differences(pl_rng *rng, const pl_oriented *body, double h, trial *t,
                              double *worst)
{
    double *g = malloc(sizeof(double) * 6 * (size_t)body->n);
    for (int term = 0; term < 4; term++) {
        gradient_of(body, h, t, term, g);
        double scale = term_of(pl_oriented_evaluate(body, h, t->x, t->r, NULL), term) * 1e-3;
        for (int i = 0; i < 6 * body->n; i++)
            scale = fmax(scale, fabs(g[i]));
        for (int k = 0; k < 8; k++) {
            int i = (int)pl_random_below(rng, (uint32_t)body->n),
                coordinate = (int)pl_random_below(rng, 6);
            double error = fabs(slope(body, h, t, i, coordinate, term) - g[6 * i + coordinate]);
            if (error > 0)
                worst[term] = fmax(worst[term], error / scale);
        }
    }
    free(g);
}

static void test_gradient_equals_differences(void **unused)
{
    (void)unused;
    int cases = oriented_cases(3000);
    double worst[4] = {0};
    pl_rng rng = pl_rng_make(1);
    for (int n = 0; n < cases; n++) {
        oriented_case c = oriented_random_case(&rng, 24, 0.1, 1e5, true);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
        oriented_pose pose = oriented_make_pose(
            &rng, &c, (oriented_pose_kind)pl_random_below(&rng, ORIENTED_POSE_KINDS));
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        trial t = make_trial(&rng, &c);
        check_differences(&rng, oriented_matter(&scene, 0), c.h, &t, worst);
        free_trial(&t);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("%d graphs, gradient against differences, worst of the largest component: "
                  "inertia %.1e, elastic "
                  "%.1e, pins %.1e, all %.1e\n",
                  cases, worst[0], worst[1], worst[2], worst[3]);
    for (int term = 0; term < 4; term++)
        assert_true(worst[term] < 1e-7);
}

/* Energies and gradients of both implementations, in joules, newtons and newton metres. */
static void compare(const oriented_problem *p, const pl_oriented *body, const trial *t,
                    double *worst)
{
    double *ours = malloc(sizeof(double) * 6 * (size_t)p->n),
           *theirs = malloc(sizeof(double) * 6 * (size_t)p->n);
    double *x = malloc(sizeof(double) * 3 * (size_t)p->n), unit = body->system->key.model->unit,
           scale = 0;
    double joule = body->system->energy_unit;
    memcpy(x, t->x, sizeof(double) * 3 * (size_t)p->n);
    oriented_to_metres(body, x);
    pl_oriented_energy a = pl_oriented_evaluate(body, p->h, t->x, t->r, ours);
    oriented_terms b = oriented_energy(p, x, t->r);
    oriented_gradient(p, x, t->r, theirs);
    double sum = b.inertia + b.elastic + b.pins;
    worst[0] = fmax(worst[0], fabs(a.inertia * joule - b.inertia) / sum);
    worst[1] = fmax(worst[1], fabs(a.elastic * joule - b.elastic) / sum);
    worst[2] = fmax(worst[2], fabs(a.pins * joule - b.pins) / sum);
    for (int i = 0; i < 6 * p->n; i++) {
        ours[i] *= i % 6 < 3 ? joule : joule / unit; /* both by a length */
        theirs[i] *= i % 6 < 3 ? unit : 1;
        ours[i] *= i % 6 < 3 ? 1 : unit;
        scale = fmax(scale, fabs(theirs[i]));
    }
    for (int i = 0; i < 6 * p->n; i++)
        worst[3] = fmax(worst[3], fabs(ours[i] - theirs[i]) / scale);
    free(ours), free(theirs), free(x);
}

static void test_energy_equals_the_text(void **unused)
{
    (void)unused;
    int cases = oriented_cases(3000);
    double worst[4] = {0};
    pl_rng rng = pl_rng_make(2);
    for (int n = 0; n < cases; n++) {
        oriented_case c = oriented_random_case(&rng, 24, 0.1, 1e5, true);
        if (oriented_chance(&rng, 0.5)) {
            c.material.stiffness = 0;
            c.material.young = oriented_decades(&rng, 2, 8);
        }
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
        oriented_pose pose = oriented_make_pose(
            &rng, &c, (oriented_pose_kind)pl_random_below(&rng, ORIENTED_POSE_KINDS));
        oriented_set_pose(&scene, 0, &pose);
        oriented_begin(&scene);
        trial t = make_trial(&rng, &c);
        oriented_problem p = oriented_make_problem(&c, oriented_matter(&scene, 0), true);
        compare(&p, oriented_matter(&scene, 0), &t, worst);
        oriented_free_problem(&p);
        free_trial(&t);
        oriented_free_pose(&pose);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("%d graphs, against the energy as printed: inertia %.1e, elastic %.1e, pins %.1e "
                  "of the sum, gradient "
                  "%.1e\n",
                  cases, worst[0], worst[1], worst[2], worst[3]);
    /* Forces reach the kernel as floats, and so do quaternions. */
    for (int k = 0; k < 4; k++)
        assert_true(worst[k] < 2e-6);
}

/* Everything turned and moved: the elastic energy stays, and no term is negative. */
static void test_rigid_motion_changes_nothing(void **unused)
{
    (void)unused;
    int cases = oriented_cases(2000);
    double worst = 0, at_rest = 0;
    pl_rng rng = pl_rng_make(3);
    for (int n = 0; n < cases; n++) {
        oriented_case c = oriented_random_case(&rng, 24, 0.1, 1e5, false);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
        oriented_begin(&scene);
        const pl_oriented *body = oriented_matter(&scene, 0);
        trial t = make_trial(&rng, &c), turned = make_trial(&rng, &c);
        for (int rest = 0; rest < 2; rest++) {
            double q[4], r[9], shift[3];
            oriented_random_quat(&rng, q);
            oriented_matrix(q, r);
            for (int k = 0; k < 3; k++)
                shift[k] = 10 * oriented_normal(&rng);
            for (int i = 0; i < c.graph.n && rest; i++)
                for (int k = 0; k < 9; k++) {
                    t.r[9 * i + k] = k % 4 == 0;
                    t.x[3 * i + k % 3] = (double)c.model->rest[3 * i + k % 3];
                }
            for (int i = 0; i < c.graph.n; i++) {
                for (int a = 0; a < 3; a++) {
                    turned.x[3 * i + a] = shift[a];
                    for (int k = 0; k < 3; k++)
                        turned.x[3 * i + a] += r[3 * a + k] * t.x[3 * i + k];
                    for (int b = 0; b < 3; b++) {
                        turned.r[9 * i + 3 * a + b] = 0;
                        for (int k = 0; k < 3; k++)
                            turned.r[9 * i + 3 * a + b] += r[3 * a + k] * t.r[9 * i + 3 * k + b];
                    }
                }
            }
            pl_oriented_energy before = pl_oriented_evaluate(body, c.h, t.x, t.r, NULL);
            pl_oriented_energy after = pl_oriented_evaluate(body, c.h, turned.x, turned.r, NULL);
            assert_true(before.inertia >= 0 && before.elastic >= 0 && before.pins >= 0);
            if (rest) {
                double stiffness = 0;
                for (int e = 0; e < c.graph.m; e++)
                    stiffness = fmax(stiffness, body->system->kappa[e]);
                /* Not zero: the kernels' rest offsets are differences rounded to float. */
                at_rest =
                    fmax(at_rest, c.graph.m ? fmax(before.elastic, after.elastic) / stiffness : 0);
            } else if (c.graph.m) {
                worst = fmax(worst, fabs(after.elastic - before.elastic) / before.elastic);
            }
        }
        free_trial(&t);
        free_trial(&turned);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("%d graphs turned and moved: elastic energy changes by %.1e of itself; at rest "
                  "it is %.1e of the "
                  "stiffness\n",
                  cases, worst, at_rest);
    assert_true(worst < 1e-10);
    assert_true(at_rest < 1e-11);
}

/* The reference's own gradient, so that what judges is judged. */
static void test_reference_gradient(void **unused)
{
    (void)unused;
    double worst = 0;
    pl_rng rng = pl_rng_make(4);
    for (int n = 0; n < oriented_cases(300); n++) {
        oriented_case c = oriented_random_case(&rng, 12, 0.1, 1e5, true);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
        oriented_begin(&scene);
        oriented_problem p = oriented_make_problem(&c, oriented_matter(&scene, 0), true);
        trial t = make_trial(&rng, &c);
        double *g = malloc(sizeof(double) * 6 * (size_t)t.n), scale = 0, unit = c.model->unit;
        oriented_to_metres(oriented_matter(&scene, 0), t.x);
        oriented_gradient(&p, t.x, t.r, g);
        for (int i = 0; i < 6 * t.n; i++)
            scale = fmax(scale, fabs(g[i]) * (i % 6 < 3 ? unit : 1));
        for (int k = 0; k < 6 * t.n; k++) {
            double length = k % 6 < 3 ? unit : 1, values[2];
            for (int side = 0; side < 2; side++) {
                double by = (side ? -1e-5 : 1e-5) * length;
                nudge(&t, k / 6, k % 6, by);
                values[side] = oriented_total(&p, t.x, t.r);
                nudge(&t, k / 6, k % 6, -by);
            }
            double error = fabs((values[0] - values[1]) / 2e-5 - g[k] * length);
            worst = fmax(worst, error / scale);
        }
        free(g);
        free_trial(&t);
        oriented_free_problem(&p);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    print_message("the reference's gradient against differences: %.1e\n", worst);
    assert_true(worst < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_gradient),
        cmocka_unit_test(test_gradient_equals_differences),
        cmocka_unit_test(test_energy_equals_the_text),
        cmocka_unit_test(test_rigid_motion_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
