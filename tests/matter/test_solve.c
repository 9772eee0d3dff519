/* Every global solve: after one local and global step the positions are those that the linear
   system of METHODS §1 has for the rotations of the result, as CHOLMOD (or, where it is missing, a
   dense Cholesky factor) finds them; k h² / rho from 1 to 10⁵, chains to sheets, at the origin and
   a kilometre away, with pins that come and go in any order, as corrections of the shared factor
   and as part of the body's own. Free bodies, which a sub-step may turn as a whole in the end, get
   a pin without weight; without it they must have the same shape. Label: slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oriented_reference.h"

#ifdef PLIANT_HAVE_CHOLMOD
#include <cholmod.h>
#endif

enum { MOST_PINS = 40 };

/* ---- The judge ------------------------------------------------------------------------------- */

#ifdef PLIANT_HAVE_CHOLMOD
static cholmod_dense *dense_of(int rows, int columns, const double *row_major,
                               cholmod_common *common)
{
    cholmod_dense *d =
        cholmod_allocate_dense((size_t)rows, (size_t)columns, (size_t)rows, CHOLMOD_REAL, common);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            ((double *)d->x)[j * rows + i] = row_major[i * columns + j];
    return d;
}

/* L x = b, three columns. */
static void judge_solve(int n, const double *matrix, double *b)
{
    cholmod_common common;
    cholmod_start(&common);
    cholmod_dense *full = dense_of(n, n, matrix, &common), *side = dense_of(n, 3, b, &common);
    cholmod_sparse *sparse = cholmod_dense_to_sparse(full, 1, &common);
    sparse->stype = -1;
    cholmod_factor *factor = cholmod_analyze(sparse, &common);
    cholmod_factorize(sparse, factor, &common);
    assert_int_equal(common.status, CHOLMOD_OK);
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, factor, side, &common);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            b[3 * i + k] = ((const double *)x->x)[k * n + i];
    cholmod_free_dense(&full, &common);
    cholmod_free_dense(&side, &common);
    cholmod_free_dense(&x, &common);
    cholmod_free_sparse(&sparse, &common);
    cholmod_free_factor(&factor, &common);
    cholmod_finish(&common);
}
#else
static void judge_solve(int n, const double *matrix, double *b)
{
    double *factor = malloc(sizeof(double) * (size_t)n * (size_t)n);
    memcpy(factor, matrix, sizeof(double) * (size_t)n * (size_t)n);
    assert_true(oriented_cholesky(n, factor));
    oriented_cholesky_solve(n, factor, 3, b);
    free(factor);
}
#endif

/* ---- One solve ------------------------------------------------------------------------------- */

typedef struct worst {
    double
        residual; /* ‖b − L x‖ / (‖L‖ ‖x‖ + ‖b‖), largest norms; x before or after, whichever is larger */
    double distance; /* to the judge's positions, spacings */
    int solves, doubles, most_pins;
} worst;

static double largest(const double *v, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

/* `reach` is how large x was before: what is solved for is the increment. */
static double residual_of(int n, const double *matrix, const double *x, const double *b,
                          double reach)
{
    double error = 0, norm = 0;
    for (int i = 0; i < n; i++) {
        double sum[3] = {-b[3 * i], -b[3 * i + 1], -b[3 * i + 2]}, row = 0;
        for (int j = 0; j < n; j++) {
            row += fabs(matrix[i * n + j]);
            for (int k = 0; k < 3 && matrix[i * n + j] != 0; k++)
                sum[k] += matrix[i * n + j] * x[3 * j + k];
        }
        error = fmax(error, largest(sum, 3));
        norm = fmax(norm, row);
    }
    return error / (norm * fmax(reach, largest(x, 3 * n)) + largest(b, 3 * n));
}

static void check_solve(oriented_scene *scene, worst *w)
{
    const oriented_case *c = scene->of;
    pl_oriented *body = oriented_matter(scene, 0);
    int n = c->graph.n;
    double *x = malloc(sizeof(double) * 3 * (size_t)n), *r = malloc(sizeof(double) * 9 * (size_t)n);
    double *b = malloc(sizeof(double) * 3 * (size_t)n);
    oriented_solve(scene, PL_SOLVER_PLAIN, 0, 1, true, 0);
    oriented_result(body, x, r);
    double reach = largest(x, 3 * n) * c->model->unit;
    oriented_solve(scene, PL_SOLVER_PLAIN, 0, 1, true, 1);
    oriented_result(body, x, r);
    oriented_to_metres(body, x);
    oriented_problem p = oriented_make_problem(c, body, true);
    oriented_make_matrix(&p);
    oriented_right_side(&p, x, r, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (p.fixed[i] || p.fixed[j])
                p.matrix[i * n + j] = i == j;
    w->residual = fmax(w->residual, residual_of(n, p.matrix, x, b, reach));
    judge_solve(n, p.matrix, b);
    for (int i = 0; i < 3 * n; i++)
        w->distance = fmax(w->distance, fabs(x[i] - b[i]) / c->graph.spacing);
    w->solves++;
    w->doubles += body->system->twice;
    w->most_pins = c->pin_count > w->most_pins ? c->pin_count : w->most_pins;
    oriented_free_problem(&p);
    free(x), free(r), free(b);
}

static void check_both_precisions(oriented_scene *scene, worst *w)
{
    pl_system *system = oriented_matter(scene, 0)->system;
    bool own = system->twice;
    check_solve(scene, w);
    if (!own) {
        system->twice = true;
        check_solve(scene, w);
        system->twice = false;
    }
}

static void pose_at_random(pl_rng *rng, oriented_scene *scene)
{
    static const oriented_pose_kind kinds[] = {ORIENTED_NEAR, ORIENTED_BENT, ORIENTED_STRETCHED,
                                               ORIENTED_MOVING, ORIENTED_SCRAMBLED};
    oriented_pose pose = oriented_make_pose(rng, scene->of, kinds[pl_random_below(rng, 5)]);
    oriented_set_pose(scene, 0, &pose);
    oriented_begin(scene);
    oriented_free_pose(&pose);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

typedef struct shape {
    const char *name;
    pl_shape_kind kind;
    int count[3];
} shape;

static const shape shapes[] = {{"20-node bar", PL_SHAPE_BAR, {20, 0, 0}},
                               {"100-node creature", PL_SHAPE_CREATURE, {100, 0, 0}},
                               {"256-node sheet", PL_SHAPE_SHEET, {16, 0, 16}},
                               {"300-node rope", PL_SHAPE_CHAIN, {300, 0, 0}}};
static const double kappas[] = {1, 1e2, 1e3, 1e5};

static oriented_case make_case(const shape *s, double kappa, bool far)
{
    oriented_case c = oriented_plain_case(
        oriented_shape_graph(s->kind, s->count[0], s->count[1], s->count[2]), 1.0 / 30, kappa);
    c.gravity[1] = -9.81;
    if (far)
        c.position[0] = 1000, c.position[1] = -700, c.position[2] = 300;
    return c;
}

static void report(const char *name, double kappa, const worst *w)
{
    print_message("%-18s kappa %-6g %4d solves (%d in double), up to %2d pins: residual %.1e, "
                  "within %.1e spacings\n",
                  name, kappa, w->solves, w->doubles, w->most_pins, w->residual, w->distance);
}

static void check(const worst *w)
{
    assert_true(w->residual <= 1e-6);
    assert_true(w->distance <= 1e-4);
}

/* Free, with fixed particles, painted; no pins. */
static void test_solves_without_pins(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(31);
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 4; k++) {
            worst w = {0};
            for (int variant = 0; variant < 8; variant++) {
                oriented_case c = make_case(shapes + s, kappas[k], variant & 1);
                if (variant & 2)
                    oriented_fix_some(&rng, &c, 5);
                if (variant & 4)
                    oriented_paint(&rng, &c);
                oriented_hold_lightly(&c);
                oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
                for (int pose = 0; pose < oriented_cases(20) / 10; pose++) {
                    pose_at_random(&rng, &scene);
                    check_both_precisions(&scene, &w);
                }
                oriented_free_scene(&scene);
                oriented_free_case(&c);
            }
            report(shapes[s].name, kappas[k], &w);
            check(&w);
        }
}

static void add_pin(pl_rng *rng, oriented_case *c, oriented_scene *scene)
{
    pl_pin_def pin = oriented_random_pin(rng, c, PL_PIN_POSITION);
    pin.strength = oriented_decades(rng, -2, 2.3);
    pl_error error = {0};
    if (pl_pin_create(scene->world, scene->bodies[0], &pin, scene->pins[0] + c->pin_count,
                      &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    oriented_add_pin(c, &pin);
}

/* The first `kept` stay. */
static void drop_pin(pl_rng *rng, int kept, oriented_case *c, oriented_scene *scene)
{
    int index = kept + (int)pl_random_below(rng, (uint32_t)(c->pin_count - kept));
    assert_int_equal(pl_pin_destroy(scene->world, scene->pins[0][index]), PL_OK);
    oriented_drop_pin(c, index);
    memmove(scene->pins[0] + index, scene->pins[0] + index + 1,
            sizeof(pl_pin) * (size_t)(c->pin_count - index));
}

/* A random walk in the number of pins from 0 to 40 and back; a solve after every few changes. */
static void walk(pl_rng *rng, oriented_case *c, worst *w)
{
    oriented_hold_lightly(c);
    int kept = c->pin_count;
    oriented_scene scene = oriented_make_scene(c, PL_SOLVER_PLAIN, 1, NULL);
    bool rising = true;
    int until_solve = 1;
    for (int changes = 0; changes < 400 && (rising || c->pin_count > kept); changes++) {
        bool add = c->pin_count == kept ||
                   (c->pin_count < MOST_PINS && oriented_chance(rng, rising ? 0.8 : 0.2));
        if (add)
            add_pin(rng, c, &scene);
        else
            drop_pin(rng, kept, c, &scene);
        rising = rising && c->pin_count < MOST_PINS;
        if (--until_solve > 0)
            continue;
        until_solve = (c->pin_count < 4 ? 1 : 6) * (oriented_cases(20) < 20 ? 4 : 1);
        pose_at_random(rng, &scene);
        check_both_precisions(&scene, w);
    }
    while (c->pin_count > kept)
        drop_pin(rng, kept, c, &scene);
    pose_at_random(rng, &scene);
    check_both_precisions(&scene, w);
    oriented_free_scene(&scene);
}

static void test_solves_with_pins(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(32);
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 4; k++) {
            worst w = {0};
            for (int variant = 0; variant < 4; variant++) {
                oriented_case c = make_case(shapes + s, kappas[k], variant & 1);
                if (variant & 2)
                    oriented_fix_some(&rng, &c, 5);
                walk(&rng, &c, &w);
                oriented_free_case(&c);
            }
            report(shapes[s].name, kappas[k], &w);
            check(&w);
        }
}

/* Thousands of small random graphs with everything at once. */
static void test_solves_of_random_graphs(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(33);
    worst w = {0};
    for (int n = 0; n < oriented_cases(3000); n++) {
        oriented_case c = oriented_random_case(&rng, 40, 0.1, 1e5, false);
        oriented_hold_lightly(&c);
        oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
        pose_at_random(&rng, &scene);
        check_both_precisions(&scene, &w);
        oriented_free_scene(&scene);
        oriented_free_case(&c);
    }
    report("random graphs", 1e5, &w);
    check(&w);
}

/* Free, and all but free: the same shape after one step. */
static void test_free_bodies_get_the_same_shape(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(34);
    double misfit = 0;
    for (int n = 0; n < oriented_cases(1000); n++) {
        oriented_case c = oriented_random_case(&rng, 40, 0.1, 1e5, false);
        c.pin_count = c.fixed_count = 0;
        double *x[2], *r = malloc(sizeof(double) * 9 * (size_t)c.graph.n);
        uint64_t seed = rng.state;
        for (int held = 0; held < 2; held++) {
            rng.state = seed;
            if (held)
                oriented_hold_lightly(&c);
            oriented_scene scene = oriented_make_scene(&c, PL_SOLVER_PLAIN, 1, NULL);
            pose_at_random(&rng, &scene);
            oriented_solve(&scene, PL_SOLVER_PLAIN, 0, 1, true, 1);
            x[held] = malloc(sizeof(double) * 3 * (size_t)c.graph.n);
            oriented_result(oriented_matter(&scene, 0), x[held], r);
            oriented_free_scene(&scene);
        }
        misfit = fmax(misfit, oriented_misfit(c.graph.n, x[0], x[1]));
        free(x[0]), free(x[1]), free(r);
        oriented_free_case(&c);
    }
    print_message("free and all but free bodies: the same shape within %.1e units\n", misfit);
    assert_true(misfit < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves_without_pins),
        cmocka_unit_test(test_solves_with_pins),
        cmocka_unit_test(test_solves_of_random_graphs),
        cmocka_unit_test(test_free_bodies_get_the_same_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
