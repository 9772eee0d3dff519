/* What the solvers converge to: after 1,000 iterations of the plain and the fast solver and 30 of the stiff one, the state
   is that of an independent minimiser (Newton on all unknowns, on the energy as METHODS §1 prints it) started from the
   same state, within 10⁻⁴ of the body's size, for k h² / rho up to 10³. From states where several minima are within
   reach the result must be one of them: Newton started there stays there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oriented_reference.h"

#define TOLERANCE 1e-4

typedef struct outcome {
    double distance, angle, excess; /* largest distance over the size, largest angle, relative excess of energy */
} outcome;

static double angle_between(const double a[9], const double b[9])
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum / 2);
}

static outcome compare(const oriented_problem *p, double size, const double *x, const double *r, const double *best_x,
                       const double *best_r)
{
    outcome o = {0};
    for (int i = 0; i < p->n; i++) {
        double d = 0;
        for (int k = 0; k < 3; k++)
            d += (x[3 * i + k] - best_x[3 * i + k]) * (x[3 * i + k] - best_x[3 * i + k]);
        o.distance = fmax(o.distance, sqrt(d) / size);
        o.angle = fmax(o.angle, angle_between(r + 9 * i, best_r + 9 * i));
    }
    double best = oriented_total(p, best_x, best_r);
    o.excess = (oriented_total(p, x, r) - best) / best;
    return o;
}

typedef struct summary {
    long count, matched, other, saddles;
    double distance, angle, excess, other_distance;
} summary;

static const char *const names[] = {[PL_SOLVER_FAST] = "fast", [PL_SOLVER_STIFF] = "stiff", [PL_SOLVER_PLAIN] = "plain"};

static void check_solver(const oriented_case *c, const oriented_pose *pose, pl_solver solver, bool twice, int iterations,
                         summary *s)
{
    size_t n = (size_t)c->graph.n;
    double *x = malloc(sizeof(double) * 3 * n), *r = malloc(sizeof(double) * 9 * n);
    double *best_x = malloc(sizeof(double) * 3 * n), *best_r = malloc(sizeof(double) * 9 * n);
    oriented_scene scene = oriented_make_scene(c, solver, 1, NULL);
    oriented_set_pose(&scene, 0, pose);
    oriented_begin(&scene);
    pl_oriented *body = oriented_matter(&scene, 0);
    body->system->twice = body->system->twice || twice;
    oriented_problem p = oriented_make_problem(c, body, true);
    oriented_solve(&scene, solver, 0, 1, true, 0);
    oriented_result(body, best_x, best_r);
    oriented_to_metres(body, best_x);
    oriented_newton(&p, 200, c->graph.spacing, best_x, best_r, NULL);
    oriented_solve(&scene, solver, 0, 1, true, iterations);
    oriented_result(body, x, r);
    oriented_to_metres(body, x);
    outcome o = compare(&p, c->graph.size, x, r, best_x, best_r);
    s->count++;
    if (o.distance < 0.01) {
        s->matched++;
        s->distance = fmax(s->distance, o.distance);
        s->angle = fmax(s->angle, o.angle);
        s->excess = fmax(s->excess, o.excess);
    } else { /* another minimum: then it must be one */
        bool minimum;
        memcpy(best_x, x, sizeof(double) * 3 * n);
        memcpy(best_r, r, sizeof(double) * 9 * n);
        oriented_newton(&p, 200, c->graph.spacing, best_x, best_r, &minimum);
        outcome near = compare(&p, c->graph.size, x, r, best_x, best_r);
        s->other++;
        s->saddles += !minimum;
        s->other_distance = fmax(s->other_distance, near.distance);
    }
    if (getenv("SHOW") && (o.distance > TOLERANCE))
        print_message("%s twice %d: n %d m %d kappa %g fixed %d pins %d cond %g distance %g excess %g  other %g\n", names[solver], body->system->twice,
            c->graph.n, c->graph.m, body->system->edge_count ? body->system->kappa[0] : 0, c->fixed_count, c->pin_count, body->system->condition, o.distance, o.excess, s->other_distance);
    oriented_free_problem(&p);
    oriented_free_scene(&scene);
    free(x), free(r), free(best_x), free(best_r);
}

static void run(int cases, bool wild, uint64_t seed, double high)
{
    static const struct {
        pl_solver solver;
        bool twice;
        int iterations;
    } ways[] = {{PL_SOLVER_PLAIN, false, 1000}, {PL_SOLVER_PLAIN, true, 1000}, {PL_SOLVER_FAST, false, 1000},
                {PL_SOLVER_FAST, true, 1000},   {PL_SOLVER_STIFF, true, 1000}};
    summary all[5] = {0};
    pl_rng rng = pl_rng_make(seed);
    for (int k = 0; k < cases; k++) {
        oriented_case c = oriented_random_case(&rng, 10, 0.1, high, false);
        for (int i = 0; i < c.pin_count; i++)
            c.pins[i].strength = oriented_decades(&rng, -2, 2);
        static const oriented_pose_kind tame[] = {ORIENTED_REST, ORIENTED_NEAR, ORIENTED_BENT, ORIENTED_MOVING};
        static const oriented_pose_kind others[] = {ORIENTED_STRETCHED, ORIENTED_SCRAMBLED, ORIENTED_COLLAPSED,
                                                    ORIENTED_MIRRORED};
        oriented_pose pose = oriented_make_pose(&rng, &c, (wild ? others : tame)[pl_random_below(&rng, 4)]);
        for (int w = 0; w < 5; w++)
            check_solver(&c, &pose, ways[w].solver, ways[w].twice, ways[w].iterations, all + w);
        oriented_free_pose(&pose);
        oriented_free_case(&c);
    }
    for (int w = 0; w < 5; w++)
        print_message("%-5s %-6s %4ld cases, %4ld as Newton from the same state: within %.1e sizes, %.1e rad, energy "
                      "%.1e above; %ld other minima: within %.1e (%ld saddles)\n",
                      names[ways[w].solver], ways[w].twice ? "double" : "float", all[w].count, all[w].matched,
                      all[w].distance, all[w].angle, all[w].excess, all[w].other, all[w].other_distance,
                      all[w].saddles);
}

static void test_tame(void **unused)
{
    (void)unused;
    run(oriented_cases(300), false, 21, 1e3);
}

static void test_wild(void **unused)
{
    (void)unused;
    run(oriented_cases(200), true, 22, 1e3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tame),
        cmocka_unit_test(test_wild),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
