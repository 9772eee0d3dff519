/* No step of any solver raises the energy (METHODS §1): local, global, accelerated and Gauss–Newton
   steps over thousands of random graphs and states, each result evaluated in double; side by side
   and alone, in float and in double. The accelerated and the Gauss–Newton step are also compared
   with the local/global step from the same state, computed independently. Direction constraints are
   left out of the first (their local step is an approximation). Free bodies, which a sub-step may
   turn as a whole in the end, are looked at twice: with a pin without weight, which leaves them as
   the last iteration made them, and without. Label: slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oriented_reference.h"

/* What the issue allows, of the sum of the energy's terms. */
#define TOLERANCE 1e-6
/* Of the rounding, where the energy is so small that its floor is rounding. */
#define NOISE 4
/* Fits whose C has (s2 + s3) / s1 below this are not worth comparing: rounding decides them. */
#define WORTH 0.01

enum { MOST = 32 };

/* How far energies rose: relative to the sum of the terms, and, where rounding is all there is, to
   that. */
typedef struct tally {
    const char *name;
    long steps;
    long bad;
    double rise, noise;
} tally;

enum { LOCAL, GLOBAL, ACCELERATED, NEWTON, AGAINST_PLAIN_FAST, AGAINST_PLAIN_STIFF, TALLIES };

typedef struct results {
    tally of[2][TALLIES]; /* [0] float, [1] double */
    long graphs, states, refused, iterations, skipped;
} results;

static void clear(results *all)
{
    static const char *const names[TALLIES] = {"local step",           "global step",
                                               "accelerated step",     "Gauss-Newton step",
                                               "fast against a plain", "stiff against a plain"};
    memset(all, 0, sizeof *all);
    for (int k = 0; k < 2 * TALLIES; k++)
        all->of[k / TALLIES][k % TALLIES].name = names[k % TALLIES];
}

/* The energy of errors of rounding: every difference the energy squares, off by 2⁻²² of its
   operands. What lies below is not visible in states that are kept as floats. */
static double rounding(const pl_oriented *body, const double *x)
{
    const double epsilon = 0x1p-22;
    double sum = 0;
    for (int e = 0; e < body->system->edge_count; e++) {
        const pl_spring_d *s = body->system->spring_d + e;
        double size = 0, turn = s->moment[0] + s->moment[3] + s->moment[5];
        for (int k = 0; k < 3; k++)
            size += fabs(x[3 * s->a + k]) + fabs(x[3 * s->b + k]) + fabs(s->rest[k]);
        sum += (s->claim_a + s->claim_b) * size * size + 4 * turn;
    }
    for (int i = 0; i < body->n; i++) {
        const pl_grain_d *g = body->system->grain_d + i;
        sum += 4 * g->density * (g->moment[0] + g->moment[3] + g->moment[5]);
        for (int k = 0; k < 3; k++)
            sum += g->mass * x[3 * i + k] * x[3 * i + k];
    }
    for (int p = 0; p < body->hold_count; p++) {
        const pl_hold *hold = body->holds + p;
        double size = 0;
        for (int k = 0; k < 3; k++) {
            size += fabs(hold->now[k]);
            for (int j = 0; j < hold->count; j++)
                size +=
                    hold->weight[j] * (fabs(hold->arm[j][k]) + fabs(x[3 * hold->particle[j] + k]));
        }
        sum += hold->stiffness * size * size;
    }
    return 0.5 * epsilon * epsilon * sum;
}

/* To first order: how much rounding every number of the state to float can change the energy, if
   the errors are independent. Zero where the energy is least; it counts where a result is compared
   with another of the same state. */
static double slope_of_rounding(const pl_oriented *body, double h, const double *x, const double *r)
{
    double *g = malloc(sizeof(double) * 6 * (size_t)body->n), sum = 0;
    pl_oriented_evaluate(body, h, x, r, g);
    for (int i = 0; i < body->n; i++)
        for (int k = 0; k < 3 && !body->system->is_fixed[i]; k++) {
            double by_x = g[6 * i + k] * x[3 * i + k], by_turn = g[6 * i + 3 + k];
            sum += by_x * by_x + by_turn * by_turn;
        }
    free(g);
    return 0x1p-24 * sqrt(sum);
}

/* `slope` is what slope_of_rounding says, or 0. */
static void judge(tally *t, const pl_oriented *body, const double *x, double before, double after,
                  double slope)
{
    double rise = after - before;
    t->steps++;
    if (rise <= TOLERANCE * before) {
        t->rise = fmax(t->rise, before > 0 ? rise / before : 0);
        return;
    }
    double noise = rise / (rounding(body, x) + 16 * slope);
    t->noise = fmax(t->noise, noise);
    if (!(noise <= NOISE) && t->bad++ < 5)
        print_message("%s, %s: %.3e raised by %.1e of itself and %.1f of the rounding; %d "
                      "particles, kappa %.1e, %d "
                      "fixed, %d pins\n",
                      t->name, body->system->twice ? "double" : "float", before, rise / before,
                      noise, body->n, body->system->edge_count ? body->system->kappa[0] : 0,
                      body->fixed_count, body->hold_count);
}

static double energy_of(const pl_oriented *body, double h, const double *x, const double *r)
{
    pl_oriented_energy e = pl_oriented_evaluate(body, h, x, r, NULL);
    return e.inertia + e.elastic + e.pins;
}

/* ---- One case -------------------------------------------------------------------------------- */

typedef struct run {
    int n, count, steps;
    double *x, *r; /* [steps + 1][count][n] */
} run;

static run make_run(int n, int count, int steps)
{
    size_t size = (size_t)n * (size_t)count * (size_t)(steps + 1);
    return (run){n, count, steps, malloc(sizeof(double) * 3 * size),
                 malloc(sizeof(double) * 9 * size)};
}

static void free_run(run *all)
{
    free(all->x);
    free(all->r);
}

static double *x_of(const run *all, int step, int body)
{
    return all->x + 3 * (size_t)all->n * (size_t)(step * all->count + body);
}

static double *r_of(const run *all, int step, int body)
{
    return all->r + 9 * (size_t)all->n * (size_t)(step * all->count + body);
}

/* States after 0, 1, 2, … iterations of all bodies side by side; alone they must give the same
   bits. */
static run iterate(oriented_scene *scene, pl_solver solver, int steps, results *all)
{
    int n = scene->of->graph.n;
    run out = make_run(n, scene->count, steps);
    double *x = malloc(sizeof(double) * 3 * (size_t)n), *r = malloc(sizeof(double) * 9 * (size_t)n);
    for (int k = 0; k <= steps; k++) {
        pl_work work = oriented_solve(scene, solver, 0, scene->count, false, k);
        for (int b = 0; b < scene->count; b++)
            oriented_result(oriented_matter(scene, b), x_of(&out, k, b), r_of(&out, k, b));
        all->refused += k == steps ? (long)work.refused : 0;
        all->iterations += k == steps ? (long)work.iterations : 0;
    }
    for (int b = 0; b < scene->count; b++) {
        oriented_solve(scene, solver, b, 1, true, steps);
        oriented_result(oriented_matter(scene, b), x, r);
        assert_memory_equal(x, x_of(&out, steps, b), sizeof(double) * 3 * (size_t)n);
        assert_memory_equal(r, r_of(&out, steps, b), sizeof(double) * 9 * (size_t)n);
    }
    free(x);
    free(r);
    return out;
}

static void check_plain(const oriented_scene *scene, const run *all, tally *tallies)
{
    for (int b = 0; b < all->count; b++)
        for (int k = 0; k < all->steps; k++) {
            const pl_oriented *body = oriented_matter(scene, b);
            const double *x0 = x_of(all, k, b), *r0 = r_of(all, k, b), *x1 = x_of(all, k + 1, b),
                         *r1 = r_of(all, k + 1, b);
            double start = energy_of(body, scene->of->h, x0, r0),
                   middle = energy_of(body, scene->of->h, x0, r1),
                   end = energy_of(body, scene->of->h, x1, r1);
            judge(tallies + LOCAL, body, x0, start, middle, 0);
            judge(tallies + GLOBAL, body, x1, middle, end, 0);
        }
}

/* Against the state before, and against a local/global step from it. */
static void check_guarded(const oriented_scene *scene, const run *all, tally *step, tally *plain,
                          bool directions, results *counts)
{
    size_t n = (size_t)all->n;
    double *x = malloc(sizeof(double) * 3 * n), *r = malloc(sizeof(double) * 9 * n),
           h = scene->of->h;
    for (int b = 0; b < all->count; b++) {
        const pl_oriented *body = oriented_matter(scene, b);
        double unit = scene->of->model->unit;
        oriented_problem p = oriented_make_problem(scene->of, body, true);
        for (int k = 0; k < all->steps; k++) {
            const double *x0 = x_of(all, k, b), *r0 = r_of(all, k, b);
            double start = energy_of(body, h, x0, r0),
                   end = energy_of(body, h, x_of(all, k + 1, b), r_of(all, k + 1, b));
            if (!directions)
                judge(step, body, x0, start, end, 0);
            if (b > 2)
                continue;
            for (size_t i = 0; i < 3 * n; i++)
                x[i] = x0[i] * unit;
            memcpy(r, r0, sizeof(double) * 9 * n);
            double worth = oriented_local(&p, x, r);
            oriented_global(&p, x, r);
            for (size_t i = 0; i < 3 * n; i++)
                x[i] /= unit;
            if (worth > WORTH)
                judge(plain, body, x0, energy_of(body, h, x, r), end,
                      slope_of_rounding(body, h, x, r));
            else
                counts->skipped++;
        }
        oriented_free_problem(&p);
    }
    free(x);
    free(r);
}

static void check_solver(oriented_scene *scene, pl_solver solver, bool directions, results *all)
{
    pl_system *system = oriented_matter(scene, 0)->system;
    for (int twice = system->twice || solver == PL_SOLVER_STIFF; twice < 2; twice++) {
        bool own = system->twice;
        system->twice = twice;
        int lanes = pl_oriented_lanes(system, solver, 1), count = scene->count;
        scene->count = count < lanes ? count : lanes;
        int steps = solver == PL_SOLVER_STIFF ? 4 : 7;
        run wide = iterate(scene, solver, steps, all);
        if (solver == PL_SOLVER_PLAIN && !directions)
            check_plain(scene, &wide, all->of[twice]);
        else if (solver == PL_SOLVER_FAST)
            check_guarded(scene, &wide, all->of[twice] + ACCELERATED,
                          all->of[twice] + AGAINST_PLAIN_FAST, directions, all);
        else if (solver == PL_SOLVER_STIFF)
            check_guarded(scene, &wide, all->of[1] + NEWTON, all->of[1] + AGAINST_PLAIN_STIFF,
                          directions, all);
        free_run(&wide);
        scene->count = count;
        system->twice = own;
    }
}

static void check_case(pl_rng *rng, const oriented_case *c, bool directions, results *all)
{
    int count = 1 + (int)pl_random_below(rng, oriented_chance(rng, 0.3) ? 16 : 3);
    oriented_pose poses[16];
    for (int b = 0; b < count; b++)
        poses[b] = oriented_make_pose(
            rng, c, (oriented_pose_kind)pl_random_below(rng, ORIENTED_POSE_KINDS));
    static const pl_solver solvers[] = {PL_SOLVER_PLAIN, PL_SOLVER_FAST, PL_SOLVER_STIFF};
    for (int s = 0; s < 3; s++) {
        oriented_scene scene = oriented_make_scene(c, solvers[s], count, NULL);
        for (int b = 0; b < count; b++)
            oriented_set_pose(&scene, b, poses + b);
        oriented_begin(&scene);
        check_solver(&scene, solvers[s], directions, all);
        oriented_free_scene(&scene);
    }
    for (int b = 0; b < count; b++)
        oriented_free_pose(poses + b);
    all->graphs++;
    all->states += count;
}

static void report(const results *all)
{
    print_message("%ld graphs, %ld states, %ld of %ld accelerated or Gauss-Newton states refused, "
                  "%ld comparisons left out\n",
                  all->graphs, all->states, all->refused, all->iterations, all->skipped);
    for (int k = 0; k < 2 * TALLIES; k++) {
        const tally *t = &all->of[k / TALLIES][k % TALLIES];
        if (t->steps)
            print_message("  %-22s %-6s %8ld steps, worst rise %8.1e of the energy, or %.2f of the "
                          "rounding\n",
                          t->name, k / TALLIES ? "double" : "float", t->steps, t->rise, t->noise);
    }
}

static void check(const results *all)
{
    for (int k = 0; k < 2 * TALLIES; k++)
        assert_int_equal(all->of[k / TALLIES][k % TALLIES].bad, 0);
}

static void test_no_step_raises_the_energy(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(11);
    results all;
    clear(&all);
    for (int n = 0; n < oriented_cases(2000); n++) {
        oriented_case c = oriented_random_case(&rng, MOST, 0.1, 1e5, false);
        oriented_hold_lightly(&c);
        check_case(&rng, &c, false, &all);
        oriented_free_case(&c);
    }
    report(&all);
    check(&all);
}

/* The plain solver with and without the pin without weight: what is done to the free body in the
   end. */
static void test_no_turn_raises_the_energy(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(13);
    tally all[2] = {{.name = "turn of the whole"}, {.name = "turn of the whole"}};
    int lower = 0;
    for (int n = 0; n < oriented_cases(1000); n++) {
        oriented_case c = oriented_random_case(&rng, MOST, 0.1, 1e5, false);
        c.pin_count = c.fixed_count = 0;
        if (c.graph.n == 1) { /* is not solved for: oriented_spin.c */
            oriented_free_case(&c);
            continue;
        }
        size_t size = (size_t)c.graph.n;
        oriented_pose pose = oriented_make_pose(
            &rng, &c, (oriented_pose_kind)pl_random_below(&rng, ORIENTED_POSE_KINDS));
        double *x = malloc(sizeof(double) * 3 * size), *r = malloc(sizeof(double) * 9 * size),
               before[2][6], slope[2][6];
        for (int alone = 0; alone < 2; alone++) {
            if (!alone)
                oriented_hold_lightly(&c);
            else
                c.pin_count = 0;
            oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
            oriented_set_pose(&scene, 0, &pose);
            oriented_begin(&scene);
            pl_oriented *body = oriented_matter(&scene, 0);
            for (int twice = body->system->twice; twice < 2; twice++)
                for (int k = 1; k < 6; k++) {
                    body->system->twice = twice;
                    oriented_solve(&scene, PL_SOLVER_PLAIN, 0, 1, true, k);
                    oriented_result(body, x, r);
                    double energy = energy_of(body, c.h, x, r);
                    if (alone) {
                        judge(all + twice, body, x, before[twice][k], energy, slope[twice][k]);
                        lower += energy < 0.999 * before[twice][k];
                    } else {
                        before[twice][k] = energy;
                        slope[twice][k] = slope_of_rounding(body, c.h, x, r);
                    }
                }
            oriented_free_scene(&scene);
        }
        free(x), free(r);
        oriented_free_pose(&pose);
        oriented_free_case(&c);
    }
    for (int k = 0; k < 2; k++)
        print_message(
            "  %-22s %-6s %8ld steps, worst rise %8.1e of the energy, or %.2f of the rounding\n",
            all[k].name, k ? "double" : "float", all[k].steps, all[k].rise, all[k].noise);
    print_message("  %d of them lowered the energy by more than a thousandth\n", lower);
    assert_int_equal(all[0].bad + all[1].bad, 0);
}

static void test_guards_hold_with_directions(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(12);
    results all;
    clear(&all);
    for (int n = 0; n < oriented_cases(300); n++) {
        oriented_case c = oriented_random_case(&rng, MOST, 0.1, 1e5, true);
        oriented_hold_lightly(&c);
        check_case(&rng, &c, true, &all);
        oriented_free_case(&c);
    }
    report(&all);
    check(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_step_raises_the_energy),
        cmocka_unit_test(test_no_turn_raises_the_energy),
        cmocka_unit_test(test_guards_hold_with_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
