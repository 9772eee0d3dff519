/* What no solver may change: free fall, linear momentum, a state of rest, the scale of lengths,
   company. At the origin and a kilometre away, turned and not, for k h² / rho from 1 to 10⁵; and
   what implicit Euler does change: a spinning body loses angular momentum at a rate proportional to
   the step. Label: slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/oriented_cases.h"

static const pl_solver solvers[] = {PL_SOLVER_FAST, PL_SOLVER_STIFF, PL_SOLVER_PLAIN};
static const char *const names[] = {
    [PL_SOLVER_FAST] = "fast", [PL_SOLVER_STIFF] = "stiff", [PL_SOLVER_PLAIN] = "plain"};
static const double kappas[] = {1, 1e2, 1e3, 1e5};

enum { KINDS = 4 };

/* A bar, a box, a sheet or a random graph; at the origin or far away, turned or not. */
static oriented_case make_case(pl_rng *rng, int kind, double kappa, bool far, bool turned)
{
    oriented_graph g;
    if (kind == 0)
        g = oriented_shape_graph(PL_SHAPE_BAR, 20, 0, 0);
    else if (kind == 1)
        g = oriented_shape_graph(PL_SHAPE_BOX, 3, 3, 3);
    else if (kind == 2)
        g = oriented_shape_graph(PL_SHAPE_SHEET, 5, 0, 5);
    else
        g = oriented_random_graph(rng, (oriented_kind)pl_random_below(rng, ORIENTED_KINDS), 0, 20);
    oriented_case c = oriented_plain_case(g, 1.0 / 30, kappa);
    if (far)
        c.position[0] = 1000, c.position[1] = -700, c.position[2] = 300;
    if (turned)
        oriented_random_quat(rng, c.rotation);
    if (kind == 3)
        oriented_paint(rng, &c);
    return c;
}

static double *positions_of(const oriented_scene *scene, int body)
{
    int n = scene->of->graph.n;
    double *x = malloc(sizeof(double) * 3 * (size_t)n);
    assert_int_equal(
        pl_body_read(scene->world, scene->bodies[body], PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)),
        PL_OK);
    return x;
}

static double *rotations_of(const oriented_scene *scene, int body)
{
    int n = scene->of->graph.n;
    double *q = malloc(sizeof(double) * 4 * (size_t)n);
    assert_int_equal(
        pl_body_read(scene->world, scene->bodies[body], PL_ROTATIONS, 0, n, 1, pl_doubles(q, 0)),
        PL_OK);
    return q;
}

static pl_body_state state_of(const oriented_scene *scene, int body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(scene->world, scene->bodies[body], &state), PL_OK);
    return state;
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* What undamped bodies may be off by after 300 steps, spacings. As the model is, nothing is
   rounded, and nothing happens. Turned, every float of the state is off by some 10⁻⁷: these errors
   are strains, and give velocities that nothing brakes; the same with pins, whose points lie
   between the particles. */
#define EXACT 1e-5
#define ADRIFT 5e-3

/* ---- Free fall ------------------------------------------------------------------------------- */

typedef struct fall {
    double centre; /* how far off, of the distance fallen */
    double shape;  /* spacings */
} fall;

static void check_fall(const oriented_case *c, pl_solver solver, int steps, fall *worst)
{
    oriented_scene scene = oriented_make_scene(c, solver, 1, NULL);
    double *before = positions_of(&scene, 0), h = c->h;
    pl_body_state start = state_of(&scene, 0);
    for (int n = 1; n <= steps; n++)
        oriented_step(&scene);
    double *after = positions_of(&scene, 0), fallen = h * h * steps * (steps + 1) / 2;
    pl_body_state now = state_of(&scene, 0);
    for (int i = 0; i < 3 * c->graph.n; i++) {
        int k = i % 3;
        double expected = c->gravity[k] * fallen, distance = length3(c->gravity) * fallen;
        worst->centre =
            fmax(worst->centre, fabs(now.centre[k] - start.centre[k] - expected) / distance);
        worst->shape = fmax(worst->shape, fabs(after[i] - before[i] - expected) / c->graph.spacing);
    }
    free(after);
    free(before);
    oriented_free_scene(&scene);
}

/* After n steps implicit Euler's g h² n (n + 1) / 2. */
static void test_free_fall(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(51);
    int bad = 0;
    for (int s = 0; s < 3; s++)
        for (int turned = 0; turned < 2; turned++) {
            fall all[4] = {{0}};
            for (int n = 0; n < 4 * KINDS; n++) {
                oriented_case c =
                    make_case(&rng, n / 4, kappas[n % 4], oriented_chance(&rng, 0.5), turned);
                double g = 98.1 * c.graph.spacing; /* 9.81 m/s² for spacings of 10 cm */
                c.gravity[0] = 0.1 * g, c.gravity[1] = -g, c.gravity[2] = 0.05 * g;
                check_fall(&c, solvers[s], oriented_cases(300), all + n % 4);
                oriented_free_case(&c);
            }
            print_message("%-5s %-6s free fall, kappa 1, 1e2, 1e3, 1e5: centre", names[solvers[s]],
                          turned ? "turned" : "");
            for (int k = 0; k < 4; k++)
                print_message(" %.0e", all[k].centre);
            print_message(" of the distance, shape");
            for (int k = 0; k < 4; k++)
                print_message(" %.0e", all[k].shape);
            print_message(" spacings\n");
            for (int k = 0; k < 4; k++)
                bad += !(all[k].centre < 1e-6) + !(all[k].shape < (turned ? ADRIFT : EXACT));
        }
    assert_int_equal(bad, 0);
}

/* ---- Linear momentum ------------------------------------------------------------------------- */

/* The largest change of the momentum, of the sum of the particles' own and of what a change of all
   positions by 2⁻²² of the size in one step would give. */
static double momentum_change(const oriented_case *c, pl_solver solver, pl_rng *rng)
{
    static const oriented_pose_kind poses[] = {ORIENTED_NEAR,      ORIENTED_STRETCHED,
                                               ORIENTED_BENT,      ORIENTED_SCRAMBLED,
                                               ORIENTED_COLLAPSED, ORIENTED_MOVING};
    oriented_scene scene = oriented_make_scene(c, solver, 1, NULL);
    oriented_pose pose = oriented_make_pose(rng, c, poses[pl_random_below(rng, 6)]);
    for (int i = 0; i < 3 * pose.n; i++)
        pose.u[i] += c->graph.spacing * (1 + i % 3 + 0.5 * oriented_normal(rng));
    oriented_set_pose(&scene, 0, &pose);
    pl_body_state start = state_of(&scene, 0);
    double worst = 0, most = length3(start.momentum),
           least = start.mass * 0x1p-22 * c->graph.size / c->h;
    for (int n = 0; n < 30; n++) {
        oriented_step(&scene);
        pl_body_state now = state_of(&scene, 0);
        pl_energy e;
        pl_body_get_energy(scene.world, scene.bodies[0], &e);
        most = fmax(most, sqrt(2 * e.kinetic * now.mass)); /* Σ m |u| is at most this */
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(now.momentum[k] - start.momentum[k]));
    }
    oriented_free_pose(&pose);
    oriented_free_scene(&scene);
    return worst / (most + least * 1e6);
}

static void test_linear_momentum(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(52);
    int bad = 0;
    for (int s = 0; s < 3; s++) {
        double worst[4] = {0};
        for (int n = 0; n < oriented_cases(160); n++) {
            oriented_case c = make_case(&rng, n / 4 % KINDS, kappas[n % 4], n / 16 & 1, n / 32 & 1);
            worst[n % 4] = fmax(worst[n % 4], momentum_change(&c, solvers[s], &rng));
            oriented_free_case(&c);
        }
        print_message("%-5s momentum changes by %.1e, %.1e, %.1e, %.1e of all motion (kappa 1, "
                      "1e2, 1e3, 1e5)\n",
                      names[solvers[s]], worst[0], worst[1], worst[2], worst[3]);
        for (int k = 0; k < 4; k++)
            bad += !(worst[k] < 2e-6);
    }
    assert_int_equal(bad, 0);
}

/* ---- Rest ------------------------------------------------------------------------------------ */

typedef struct drift {
    double distance, angle; /* spacings, radians */
    bool bits;              /* equal so far */
} drift;

static void check_rest(const oriented_case *c, pl_solver solver, int steps, drift *worst)
{
    oriented_scene scene = oriented_make_scene(c, solver, 1, NULL);
    int n = c->graph.n;
    double *x0 = positions_of(&scene, 0), *q0 = rotations_of(&scene, 0);
    for (int k = 0; k < steps; k++)
        oriented_step(&scene);
    double *x1 = positions_of(&scene, 0), *q1 = rotations_of(&scene, 0);
    worst->bits = worst->bits && memcmp(x0, x1, sizeof(double) * 3 * (size_t)n) == 0 &&
                  memcmp(q0, q1, sizeof(double) * 4 * (size_t)n) == 0;
    for (int i = 0; i < 3 * n; i++)
        worst->distance = fmax(worst->distance, fabs(x1[i] - x0[i]) / c->graph.spacing);
    for (int i = 0; i < n; i++) {
        double a = 0, b = 0;
        for (int k = 0; k < 4; k++) {
            double minus = q0[4 * i + k] - q1[4 * i + k], plus = q0[4 * i + k] + q1[4 * i + k];
            a += minus * minus, b += plus * plus;
        }
        worst->angle = fmax(worst->angle, 2 * sqrt(fmin(a, b)));
    }
    free(x0), free(q0), free(x1), free(q1);
    oriented_free_scene(&scene);
}

/* Pins that pull nowhere: on vertices of the rest shape, turned and moved along. */
static void pin_where_it_is(pl_rng *rng, oriented_case *c, int count)
{
    for (int p = 0; p < count; p++) {
        pl_pin_def pin = oriented_random_pin(rng, c, PL_PIN_POSITION);
        double r[9];
        oriented_matrix(c->rotation, r);
        for (int k = 0; k < 3; k++)
            pin.target[k] = c->position[k] + r[3 * k] * pin.rest[0] + r[3 * k + 1] * pin.rest[1] +
                            r[3 * k + 2] * pin.rest[2];
        pin.strength = 100;
        oriented_add_pin(c, &pin);
    }
}

static void test_rest_stays(void **unused)
{
    (void)unused;
    static const char *const holds[] = {"free", "fixed", "pinned"};
    pl_rng rng = pl_rng_make(53);
    int bad = 0;
    for (int s = 0; s < 3; s++)
        for (int way = 0; way < 6; way++) {
            int held = way / 2, turned = way % 2;
            drift all[4] = {{.bits = true}, {.bits = true}, {.bits = true}, {.bits = true}};
            for (int n = 0; n < 4 * KINDS; n++) {
                oriented_case c =
                    make_case(&rng, n / 4, kappas[n % 4], oriented_chance(&rng, 0.5), turned);
                if (held == 1)
                    oriented_fix_some(&rng, &c, 3);
                if (held == 2)
                    pin_where_it_is(&rng, &c, 3);
                check_rest(&c, solvers[s], oriented_cases(300), all + n % 4);
                oriented_free_case(&c);
            }
            print_message("%-5s %-6s %-6s at rest, kappa 1, 1e2, 1e3, 1e5:", names[solvers[s]],
                          holds[held], turned ? "turned" : "");
            for (int k = 0; k < 4; k++) {
                if (all[k].bits)
                    print_message(" equal bits");
                else
                    print_message(" %.0e (%.0e rad)", all[k].distance, all[k].angle);
                bad += !(all[k].distance < (turned || held == 2 ? ADRIFT : EXACT));
                bad += !(all[k].angle < (turned || held == 2 ? ADRIFT : EXACT));
            }
            print_message(" spacings\n");
        }
    assert_int_equal(bad, 0);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

/* A slowly moving body that nothing drives and nothing brakes, free or with pins that pull nowhere:
   how much its energy grows in 600 steps. It must not: sweeps of the particles in one direction
   only make it grow by e every 50 steps, because the iteration then turns errors about instead of
   only shrinking them (complex eigenvalues), and x + h u feeds on that. */
static double growth(pl_rng *rng, pl_solver solver, double kappa, int iterations, bool pinned)
{
    oriented_case c =
        oriented_plain_case(oriented_shape_graph(PL_SHAPE_BAR, 20, 0, 0), 1.0 / 30, kappa);
    c.iterations = c.stiff_iterations = iterations;
    if (pinned)
        pin_where_it_is(rng, &c, 3);
    oriented_scene scene = oriented_make_scene(&c, solver, 1, NULL);
    oriented_pose pose = oriented_make_pose(rng, &c, ORIENTED_REST);
    for (int i = 0; i < 3 * pose.n; i++)
        pose.u[i] = 1e-3 * c.graph.spacing * oriented_normal(rng);
    oriented_set_pose(&scene, 0, &pose);
    double first = 0, last = 0;
    for (int n = 0; n < oriented_cases(600); n++) {
        pl_energy e;
        oriented_step(&scene);
        pl_body_get_energy(scene.world, scene.bodies[0], &e);
        last = e.kinetic + e.elastic + e.pins;
        first = n == 0 ? last : first;
    }
    oriented_free_pose(&pose);
    oriented_free_scene(&scene);
    oriented_free_case(&c);
    return last / first;
}

static void test_nothing_comes_from_nothing(void **unused)
{
    (void)unused;
    static const double stiffnesses[] = {1, 300};
    static const int counts[] = {2, 3, 10};
    pl_rng rng = pl_rng_make(54);
    double most = 0;
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 6; i++) {
                double worst = 0;
                bool pinned = i < 3;
                for (int n = 0; n < 3; n++)
                    worst = fmax(worst,
                                 growth(&rng, solvers[s], stiffnesses[k], counts[i % 3], pinned));
                print_message("%-5s kappa %-3g %2d iterations: energy of a %s bar times %.1e "
                              "after 600 steps\n",
                              names[solvers[s]], stiffnesses[k], counts[i % 3],
                              pinned ? "pinned" : "free", worst);
                most = fmax(most, worst);
            }
    assert_true(most < 100);
}

/* ---- Angular momentum ------------------------------------------------------------------------ */

/* The share of its angular momentum that a steadily spinning body loses in half a second. */
static double spin_loss(pl_shape_kind kind, pl_solver solver, double h)
{
    oriented_case c =
        oriented_plain_case(oriented_shape_graph(kind, 0, 0, 0), h, 1000 * (h * 60) * (h * 60));
    c.iterations = 40;
    c.stiff_iterations = 3;
    oriented_scene scene = oriented_make_scene(&c, solver, 1, NULL);
    pl_body_set_velocity(scene.world, scene.bodies[0], (double[3]){0, 0, 0}, (double[3]){0, 3, 0});
    int steps = (int)(0.5 / h + 0.5);
    for (int n = 0; n < steps / 5; n++) /* the stretching at the beginning settles */
        oriented_step(&scene);
    double before = state_of(&scene, 0).angular_momentum[1];
    for (int n = 0; n < steps; n++)
        oriented_step(&scene);
    double after = state_of(&scene, 0).angular_momentum[1];
    oriented_free_scene(&scene);
    oriented_free_case(&c);
    return 1 - after / before;
}

static void test_spin_loss_is_proportional_to_the_step(void **unused)
{
    (void)unused;
    static const pl_shape_kind kinds[] = {PL_SHAPE_BOX, PL_SHAPE_BAR};
    for (int b = 0; b < 2; b++)
        for (int s = 0; s < 2; s++) {
            double loss[3];
            for (int k = 0; k < 3; k++)
                loss[k] = spin_loss(kinds[b], solvers[s], 1.0 / 60 / (1 << k));
            print_message("%-4s %-5s spinning at 3 rad/s loses %.3e, %.3e, %.3e of its angular "
                          "momentum in 0.5 s at h = "
                          "1/60, 1/120, 1/240: ratios %.3f, %.3f\n",
                          pl_shape_kind_name(kinds[b]), names[solvers[s]], loss[0], loss[1],
                          loss[2], loss[0] / loss[1], loss[1] / loss[2]);
            for (int k = 0; k < 2; k++)
                assert_true(loss[k] / loss[k + 1] > (solvers[s] == PL_SOLVER_STIFF ? 1.8 : 1.7) &&
                            loss[k] / loss[k + 1] < 2.2); /* fast is not quite converged */
        }
}

/* ---- Scale ----------------------------------------------------------------------------------- */

static oriented_case scaled_case(const oriented_case *c, double s)
{
    oriented_case big = *c;
    size_t n = (size_t)c->graph.n, m = (size_t)c->graph.m;
    big.graph = oriented_scaled_graph(&c->graph, s);
    big.model = oriented_model(&big.graph);
    big.material.young *= s * s;
    big.fixed = malloc(sizeof(int32_t) * n);
    big.pins = calloc(64, sizeof *big.pins);
    memcpy(big.fixed, c->fixed, sizeof(int32_t) * (size_t)c->fixed_count);
    memcpy(big.pins, c->pins, sizeof *big.pins * (size_t)c->pin_count);
    if (c->edge_stiffness) {
        big.edge_stiffness = malloc(sizeof(float) * (m ? m : 1));
        big.particle_density = malloc(sizeof(float) * n);
        memcpy(big.edge_stiffness, c->edge_stiffness, sizeof(float) * m);
        memcpy(big.particle_density, c->particle_density, sizeof(float) * n);
    }
    if (c->forces) {
        big.forces = malloc(sizeof(double) * 3 * n);
        for (size_t i = 0; i < 3 * n; i++)
            big.forces[i] = c->forces[i] * s * s * s * s;
    }
    for (int k = 0; k < 3; k++) {
        big.gravity[k] *= s;
        big.position[k] *= s;
    }
    for (int p = 0; p < c->pin_count; p++)
        for (int k = 0; k < 3 && big.pins[p].kind == PL_PIN_POSITION; k++) {
            big.pins[p].rest[k] *= s;
            big.pins[p].target[k] *= s;
        }
    return big;
}

static void scale_pose(oriented_pose *pose, double s)
{
    for (int i = 0; i < 3 * pose->n; i++) {
        pose->x[i] *= s;
        pose->u[i] *= s;
    }
}

/* Positions times `s` and rotations, as bits. */
static void compare_scaled(const oriented_scene *a, const oriented_scene *b, double s)
{
    int n = a->of->graph.n;
    double *xa = positions_of(a, 0), *xb = positions_of(b, 0), *qa = rotations_of(a, 0),
           *qb = rotations_of(b, 0);
    for (int i = 0; i < 3 * n; i++)
        xa[i] *= s;
    assert_memory_equal(xa, xb, sizeof(double) * 3 * (size_t)n);
    assert_memory_equal(qa, qb, sizeof(double) * 4 * (size_t)n);
    free(xa), free(xb), free(qa), free(qb);
}

static void test_scaling_changes_no_bit(void **unused)
{
    (void)unused;
    pl_rng rng = pl_rng_make(55);
    int cases = oriented_cases(200), pins = 0, fixed = 0;
    for (int n = 0; n < cases; n++) {
        oriented_case c = oriented_random_case(&rng, 24, 1, 1e5, true);
        if (oriented_chance(&rng, 0.5)) {
            c.material.stiffness = 0;
            c.material.young = oriented_decades(&rng, 2, 7);
        }
        c.material.damping = oriented_chance(&rng, 0.5) ? 1.7 : 0;
        pins += c.pin_count;
        fixed += c.fixed_count;
        oriented_pose_kind kind = (oriented_pose_kind)pl_random_below(&rng, ORIENTED_POSE_KINDS);
        pl_solver solver = solvers[n % 3];
        for (int up = 0; up < 2; up++) {
            double s = up ? 0x1p7 : 0x1p-7;
            oriented_case big = scaled_case(&c, s);
            oriented_scene a = oriented_make_scene(&c, solver, 1, NULL),
                           b = oriented_make_scene(&big, solver, 1, NULL);
            oriented_pose pose = oriented_make_pose(&rng, &c, kind);
            oriented_set_pose(&a, 0, &pose);
            scale_pose(&pose, s);
            oriented_set_pose(&b, 0, &pose);
            for (int k = 0; k < 8; k++) {
                oriented_step(&a);
                oriented_step(&b);
                compare_scaled(&a, &b, s);
            }
            oriented_free_pose(&pose);
            oriented_free_scene(&a);
            oriented_free_scene(&b);
            oriented_free_case(&big);
        }
        oriented_free_case(&c);
    }
    print_message(
        "%d bodies with %d pins and %d fixed particles scaled by 2^7 and 2^-7: equal bits\n", cases,
        pins, fixed);
}

/* ---- Company --------------------------------------------------------------------------------- */

static void compare_bodies(const oriented_scene *a, int i, const oriented_scene *b, int j)
{
    const pl_oriented *m = oriented_matter(a, i), *k = oriented_matter(b, j);
    size_t n = (size_t)m->n;
    assert_memory_equal(m->now.x, k->now.x, sizeof(float) * 3 * n);
    assert_memory_equal(m->now.q, k->now.q, sizeof(float) * 4 * n);
    assert_memory_equal(m->now.u, k->now.u, sizeof(float) * 3 * n);
    assert_memory_equal(m->now.w, k->now.w, sizeof(float) * 3 * n);
    assert_memory_equal(m->now.origin, k->now.origin, sizeof m->now.origin);
    assert_memory_equal(m->now.velocity, k->now.velocity, sizeof m->now.velocity);
}

/* Some of `count` bodies pinned, each in a state of its own; each alone in a world gives the same
   bits. */
static void check_company(pl_rng *rng, const oriented_case *c, pl_solver solver, int count,
                          pl_report *report)
{
    bool pinned[40];
    oriented_pose poses[40];
    for (int b = 0; b < count; b++) {
        pinned[b] = oriented_chance(rng, 0.5);
        poses[b] = oriented_make_pose(
            rng, c, (oriented_pose_kind)pl_random_below(rng, ORIENTED_POSE_KINDS));
    }
    oriented_scene all = oriented_make_scene(c, solver, count, pinned);
    for (int b = 0; b < count; b++)
        oriented_set_pose(&all, b, poses + b);
    for (int k = 0; k < 4; k++)
        *report = oriented_step(&all);
    for (int b = 0; b < count; b++) {
        oriented_scene alone = oriented_make_scene(c, solver, 1, pinned + b);
        oriented_set_pose(&alone, 0, poses + b);
        for (int k = 0; k < 4; k++)
            oriented_step(&alone);
        compare_bodies(&all, b, &alone, 0);
        oriented_free_scene(&alone);
        oriented_free_pose(poses + b);
    }
    oriented_free_scene(&all);
}

static void test_company_changes_no_bit(void **unused)
{
    (void)unused;
    static const int counts[] = {2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 40};
    pl_rng rng = pl_rng_make(56);
    int blocks = 0, lone = 0, bodies = 0;
    for (int n = 0; n < oriented_cases(130); n++) {
        oriented_case c = oriented_random_case(&rng, 20, 1, 1e5, true);
        pl_report report;
        check_company(&rng, &c, solvers[n % 3], counts[n % 13], &report);
        blocks += report.lane_blocks;
        lone += report.lone_blocks;
        bodies += report.bodies;
        oriented_free_case(&c);
    }
    print_message("%d bodies in %d blocks and %d alone, some pinned: the bits of each alone\n",
                  bodies, blocks, lone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_linear_momentum),
        cmocka_unit_test(test_rest_stays),
        cmocka_unit_test(test_nothing_comes_from_nothing),
        cmocka_unit_test(test_spin_loss_is_proportional_to_the_step),
        cmocka_unit_test(test_scaling_changes_no_bit),
        cmocka_unit_test(test_company_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
