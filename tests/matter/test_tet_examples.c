/* Tetrahedral matter with examples: poses and weights in the source's order, the energy, its
   minima, rest, groups, equal bits, saving and loading, and what is refused. Speaks of threads and
   tasks. */
#include "support/check.h"

#include "base/rng.h"
#include "tet_bar.h"

#define PI 3.14159265358979323846

typedef struct poses {
    int count;
    float *x, *descriptors, *weights; /* of all poses; of all poses; once */
    int32_t *group;
} poses;

static pl_tetrahedral_def material(int kind)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = kind == 0 ? 0 : 0.3;
    if (kind == 2)
        def.volume = PL_TET_DETERMINANT;
    if (kind == 3)
        def.yield = 0.02;
    return def;
}

/* Twisted about x by `twist`, bent by `bend`, and everything shorter along x. */
static void pose_bar(const tet_bar *bar, double twist, double bend, double length, float *x)
{
    double middle[2] = {0.5 * (double)bar->rest[3 * bar->n - 2],
                        0.5 * (double)bar->rest[3 * bar->n - 1]};
    double all = (double)bar->rest[3 * bar->n - 3];
    for (int i = 0; i < bar->n; i++) {
        const float *p = bar->rest + 3 * i;
        double t = (double)p[0] / all, a = twist * t, b = bend * t;
        double y = (double)p[1] - middle[0], z = (double)p[2] - middle[1];
        double yy = cos(a) * y - sin(a) * z, zz = sin(a) * y + cos(a) * z;
        double radius = bend > 0 ? length * all / bend : 0;
        x[3 * i] = (float)(bend > 0 ? sin(b) * (radius - yy) : length * (double)p[0]);
        x[3 * i + 1] = (float)(bend > 0 ? radius - cos(b) * (radius - yy) : yy);
        x[3 * i + 2] = (float)zz;
    }
}

static poses make_poses(const tet_case *c)
{
    int tets = c->source.tet_count;
    poses p = {.count = 2};
    p.x = tet_room(6 * (size_t)c->bar.n, sizeof(float));
    p.descriptors = tet_room(12 * (size_t)tets, sizeof(float));
    p.weights = tet_room((size_t)tets, sizeof(float));
    p.group = tet_room((size_t)tets, sizeof(int32_t));
    pose_bar(&c->bar, 60 * PI / 180, 0, 0.8, p.x);
    pose_bar(&c->bar, 0, 70 * PI / 180, 0.9, p.x + 3 * c->bar.n);
    for (int k = 0; k < p.count; k++)
        pl_tetrahedral_describe(c->system, p.x + 3 * c->bar.n * k, p.descriptors + 6 * tets * k,
                                p.weights);
    return p;
}

static void free_poses(poses *p)
{
    free(p->x), free(p->descriptors), free(p->weights), free(p->group);
}

static void give(tet_case *c, const poses *p, int groups, double beta, pl_example_rule rule)
{
    pl_examples_source source = {.element_count = c->source.tet_count,
                                 .width = PL_TET_DESCRIPTOR,
                                 .pose_count = p->count,
                                 .poses = p->descriptors,
                                 .weight = p->weights,
                                 .group_count = groups,
                                 .group = p->group,
                                 .beta = beta,
                                 .rule = rule};
    pl_examples *examples;
    assert_int_equal(pl_examples_create(&c->memory, &source, &examples, NULL), PL_OK);
    assert_int_equal(pl_tetrahedral_set_examples(c->body, examples, NULL), PL_OK);
}

/* Whatever the whole does. */
static void turn_all(tet_case *c, const float *from)
{
    double a = 2.1, s = sin(a), k = cos(a);
    for (int i = 0; i < c->bar.n; i++) {
        const float *p = from + 3 * i;
        c->x[3 * i] = (float)(k * (double)p[0] + s * (double)p[2]);
        c->x[3 * i + 1] = p[1];
        c->x[3 * i + 2] = (float)(-s * (double)p[0] + k * (double)p[2]);
    }
}

/* A body in one of the poses gets its weight alone, whatever rotation the whole has, and S̃ is that
   pose's S, drawn back by β. Elements of the source are shuffled, one is flat and one there
   twice. */
static void test_exact_pose(void **state)
{
    (void)state;
    tet_bar bar = tet_bar_make(6, 2, 2, 1);
    int count = bar.tet_count;
    pl_rng rng = pl_rng_make(3);
    bar.tets = realloc(bar.tets, 4 * (size_t)(count + 2) * sizeof *bar.tets);
    assert_non_null(bar.tets);
    memcpy(bar.tets + 4 * count, bar.tets, 4 * sizeof *bar.tets);
    for (int a = 0; a < 4; a++)
        bar.tets[4 * count + 4 + a] = a % 3;
    bar.tet_count = count += 2;
    for (int e = count - 1; e > 0; e--) {
        int other = (int)(pl_random_double(&rng) * (e + 1));
        for (int a = 0; a < 4; a++) {
            int32_t swap = bar.tets[4 * e + a];
            bar.tets[4 * e + a] = bar.tets[4 * other + a];
            bar.tets[4 * other + a] = swap;
        }
    }
    tet_case c;
    tet_case_make(&c, bar, material(0), 1e4, 1.0 / 60, -1);
    assert_int_equal(c.system->counts.tets, count - 2);
    poses p = make_poses(&c);
    int empty = 0;
    for (int e = 0; e < count; e++)
        empty += p.weights[e] == 0 && p.descriptors[6 * e] == 0;
    assert_int_equal(empty, 2);
    for (int k = 0; k < 2; k++) {
        give(&c, &p, 1, 0.9, PL_EXAMPLES_NEAREST);
        turn_all(&c, p.x + 3 * c.bar.n * k);
        pl_tetrahedral_solve(&c.body, &c.motion, 1, 1, NULL);
        const float *w = pl_examples_weights(pl_tetrahedral_examples(c.body));
        assert_true(fabsf(w[k] - 0.9f) < 1e-4f && fabsf(w[1 - k]) < 1e-4f);
        for (int e = 0; e < c.system->tet_count; e++) {
            static const int row[] = {0, 1, 2, 1, 0, 0}, column[] = {0, 1, 2, 2, 2, 1};
            pl_mat3 stretch = pl_tet_stretch_of(c.body, e);
            const float *all = p.descriptors + 6 * ((ptrdiff_t)count * k + c.system->source_of[e]);
            for (int i = 0; i < PL_TET_DESCRIPTOR; i++) {
                double expected = i < 3 ? 1 + 0.9 * (double)all[i] : 0.9 * (double)all[i] / sqrt(2);
                assert_true(fabs(stretch.m[row[i]][column[i]] - expected) < 1e-4);
                assert_true(stretch.m[column[i]][row[i]] == stretch.m[row[i]][column[i]]);
            }
        }
    }
    free_poses(&p);
    tet_case_free(&c);
}

/* S of a pure stretch along the axes, element by element, in a frame that is turned. */
static void test_descriptors(void **state)
{
    (void)state;
    static const double by[3] = {1.3, 0.8, 0.9};
    tet_case c;
    tet_case_make(&c, tet_bar_make(3, 2, 2, 0.5), material(1), 1e4, 1.0 / 60, -1);
    float *pose = tet_room(3 * (size_t)c.bar.n, sizeof(float));
    float *d = tet_room(6 * (size_t)c.bar.tet_count, sizeof(float));
    float *weight = tet_room((size_t)c.bar.tet_count, sizeof(float));
    for (int i = 0; i < 3 * c.bar.n; i++)
        pose[i] = (float)(by[i % 3] * (double)c.bar.rest[i]);
    turn_all(&c, pose);
    pl_tetrahedral_describe(c.system, c.x, d, weight);
    for (int e = 0; e < c.bar.tet_count; e++) {
        for (int k = 0; k < 6; k++)
            assert_true(fabs((double)d[6 * e + k] - (k < 3 ? by[k] - 1 : 0)) < 1e-5);
        assert_true(fabs((double)weight[e] / (c.system->volume[e] * 1e4 / 2.6) - 1) < 1e-6);
    }
    /* A shear in x and y alone: only those two turn up. */
    for (int i = 0; i < c.bar.n; i++) {
        memcpy(c.x + 3 * i, c.bar.rest + 3 * i, 3 * sizeof(float));
        c.x[3 * i] += 0.2f * c.bar.rest[3 * i + 1];
    }
    pl_tetrahedral_describe(c.system, c.x, d, weight);
    for (int e = 0; e < c.bar.tet_count; e++) {
        double s = 1 + (double)d[6 * e], t = 1 + (double)d[6 * e + 1],
               o = (double)d[6 * e + 5] / sqrt(2);
        assert_true(fabs(s * s + o * o - 1) < 1e-5 && fabs(o * o + t * t - 1.04) < 1e-5 &&
                    fabs(o * (s + t) - 0.2) < 1e-5); /* S² = FᵀF */
        assert_true(fabs((double)d[6 * e + 3]) < 1e-5 && fabs((double)d[6 * e + 4]) < 1e-5);
    }
    free(pose), free(d), free(weight);
    tet_case_free(&c);
}

static void test_rest(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(6, 3, 2, 0.5), material(kind), 1e4, 1.0 / 60, -1);
        poses p = make_poses(&c);
        give(&c, &p, 1, 0.995, PL_EXAMPLES_AUTO);
        for (int k = 0; k < 5; k++)
            tet_case_step(&c, 8);
        assert_memory_equal(c.x, c.bar.rest, 3 * (size_t)c.bar.n * sizeof(float));
        for (int k = 0; k < 2; k++)
            assert_true(pl_examples_weights(pl_tetrahedral_examples(c.body))[k] == 0);
        free_poses(&p);
        tet_case_free(&c);
    }
}

/* From a pose a free body goes back to rest. */
static void test_return(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(6, 2, 2, 1), material(kind), 1e4, 100, -1);
        poses p = make_poses(&c);
        give(&c, &p, 1, 0.9, PL_EXAMPLES_NEAREST);
        turn_all(&c, p.x);
        tet_case_settle(&c, 200);
        const float *w = pl_examples_weights(pl_tetrahedral_examples(c.body));
        double energy = tet_case_energy(&c, NULL, NULL) / (c.system->mu[0] * 24);
        print_message("material %d: energy %.1e, weights %.1e %.1e, %d refused\n", kind, energy,
                      (double)w[0], (double)w[1], (int)c.body->report.refused);
        assert_true(energy < 1e-5 && w[0] < 1e-2f && w[1] < 1e-2f);
        free_poses(&p);
        tet_case_free(&c);
    }
}

/* For β near 1 it stays there. */
static void test_stay(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tet_case c;
        pl_tetrahedral_def def = material(kind);
        def.accelerated = false;
        tet_case_make(&c, tet_bar_make(6, 2, 2, 1), def, 1e4, 100, -1);
        poses p = make_poses(&c);
        give(&c, &p, 1, 0.99999, PL_EXAMPLES_NEAREST);
        turn_all(&c, p.x);
        tet_case_settle(&c, 10);
        const float *w = pl_examples_weights(pl_tetrahedral_examples(c.body));
        print_message("material %d: weights %.5f %.5f\n", kind, (double)w[0], (double)w[1]);
        assert_true(w[0] > 0.999f && w[1] < 1e-3f);
        free_poses(&p);
        tet_case_free(&c);
    }
}

/* The energy as the solver saw it last; in `left` that of where it ended, in doubles. */
static double energy_after(int iterations, bool accelerated, double *left)
{
    tet_case c;
    pl_tetrahedral_def def = material(0);
    def.accelerated = accelerated;
    tet_case_make(&c, tet_bar_make(6, 2, 2, 1), def, 1e4, 1, 0);
    poses p = make_poses(&c);
    give(&c, &p, 1, 0.95, PL_EXAMPLES_NEAREST);
    pose_bar(&c.bar, 40 * PI / 180, 40 * PI / 180, 1.1, c.x);
    double *y = tet_room(3 * (size_t)c.bar.n, sizeof(double));
    for (int i = 0; i < 3 * c.bar.n; i++)
        y[i] = (double)c.x[i] + (i % 3 == 1 ? 10 : 0);
    c.motion.fall[1] = 10;
    tet_case_settle(&c, iterations);
    *left = tet_case_energy(&c, y, NULL);
    free(y);
    free_poses(&p);
    double energy = pl_tetrahedral_get_report(c.body).energy;
    tet_case_free(&c);
    return energy;
}

/* Plain iterations never raise the energy; accelerated ones get farther. */
static void test_descent(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    double before = INFINITY, scale = 0, plain, accelerated;
    for (int iterations = 1; iterations <= 50; iterations++) {
        double energy = energy_after(iterations, false, &plain);
        scale = fmax(scale, fabs(energy));
        if (!(energy <= before + 1e-6 * scale))
            fail_msg("iteration %d: energy %.9g after %.9g", iterations, energy, before);
        before = energy;
    }
    energy_after(50, true, &accelerated);
    print_message("after 50 iterations: plain %.3f, accelerated %.3f\n", plain, accelerated);
    assert_true(accelerated < plain);
}

/* Bent by its own weight, to the end: no force is left, in doubles. */
static void test_minimum(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(6, 2, 2, 1), material(kind), 1e4, 1, 0);
        poses p = make_poses(&c);
        give(&c, &p, 1, 0.95, PL_EXAMPLES_NEAREST);
        c.motion.fall[1] = 10;
        double *y = tet_room(3 * (size_t)c.bar.n, sizeof(double));
        double *g = tet_room(3 * (size_t)c.bar.n, sizeof(double)), most = 0, weight = 0;
        for (int i = 0; i < 3 * c.bar.n; i++)
            y[i] = (double)c.x[i] + (i % 3 == 1 ? 10 : 0);
        tet_case_settle(&c, 200);
        tet_case_energy(&c, y, g);
        for (int i = 0; i < c.bar.n; i++) {
            double size = sqrt(g[3 * i] * g[3 * i] + g[3 * i + 1] * g[3 * i + 1] +
                               g[3 * i + 2] * g[3 * i + 2]);
            weight = fmax(weight, 10 * c.system->node_mass[i]);
            if (c.bar.rest[3 * i] > 0)
                most = fmax(most, size);
        }
        const float *w = pl_examples_weights(pl_tetrahedral_examples(c.body));
        print_message("material %d: largest force %.1e of a node's weight, weights %.3f %.3f\n",
                      kind, most / weight, (double)w[0], (double)w[1]);
        assert_true(most < 0.02 * weight && w[1] > 0.05f);
        free(y), free(g);
        free_poses(&p);
        tet_case_free(&c);
    }
}

/* One half in one pose, the other at rest: every group has weights of its own. */
static void test_groups(void **state)
{
    (void)state;
    tet_case c;
    tet_case_make(&c, tet_bar_make(8, 2, 2, 1), material(0), 1e4, 1.0 / 60, -1);
    poses p = make_poses(&c);
    int tets = c.bar.tet_count;
    p.count = 1;
    for (int e = 0; e < tets; e++) {
        double middle = 0;
        for (int a = 0; a < 4; a++)
            middle += 0.25 * (double)c.bar.rest[3 * c.bar.tets[4 * e + a]];
        p.group[e] = middle < 3 ? 0 : middle < 5 ? -1 : 1;
    }
    for (int i = 0; i < c.bar.n; i++) {
        double t = fmin((double)c.bar.rest[3 * i], 4) / 4;
        c.x[3 * i] = (float)(0.9 * 4 * t + fmax((double)c.bar.rest[3 * i] - 4, 0));
    }
    pl_tetrahedral_describe(c.system, c.x, p.descriptors, p.weights);
    give(&c, &p, 2, 0.9, PL_EXAMPLES_AUTO);
    pl_tetrahedral_solve(&c.body, &c.motion, 1, 1, NULL);
    const float *w = pl_examples_weights(pl_tetrahedral_examples(c.body));
    assert_true(fabsf(w[0] - 0.9f) < 1e-4f && w[1] < 1e-4f);
    for (int e = 0; e < tets; e++) {
        double expected = p.group[e] == 0 ? 0.91 : 1;
        assert_true(fabs(pl_tet_stretch_of(c.body, e).m[0][0] - expected) < 1e-4);
    }
    free_poses(&p);
    tet_case_free(&c);
}

static void march(tet_case *c, int width, int steps)
{
    for (int k = 0; k < steps; k++) {
        pl_tetrahedral_solve_at(&c->body, &c->motion, 1, 8, c->tasks, width);
        for (int i = 0; i < 3 * c->bar.n; i++) {
            c->u[i] = (c->next[i] - c->x[i]) * 60;
            c->x[i] = c->next[i];
        }
        pl_tetrahedral_flow(c->body, c->x, c->tasks);
    }
}

static void start(tet_case *c, int kind, poses *p)
{
    tet_case_make(c, tet_bar_make(12, 6, 5, 0.5), material(kind), 1e4, 1.0 / 60, 0);
    *p = make_poses(c);
    give(c, p, 1, 0.995, PL_EXAMPLES_AUTO);
    c->motion.fall[1] = -50;
    c->motion.fall[2] = -10;
}

static void test_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        float *first = NULL;
        for (int run = 0; run < 6; run++) { /* widths 4, 8, 16 on one thread, then on two */
            tet_case c;
            poses p;
            int width = 4 << run % 3;
            if (!pl_tet_table_of(width))
                continue;
            start(&c, kind, &p);
            if (run >= 3)
                c.tasks = pl_tasks_create(NULL, 2, &c.memory);
            march(&c, width, 4);
            size_t bytes = 3 * (size_t)c.bar.n * sizeof(float);
            if (!first) {
                first = tet_room(3 * (size_t)c.bar.n, sizeof(float));
                memcpy(first, c.x, bytes);
            }
            if (memcmp(first, c.x, bytes))
                fail_msg("material %d differs at width %d, run %d", kind, width, run);
            pl_tasks_destroy(c.tasks);
            free_poses(&p);
            tet_case_free(&c);
        }
        free(first);
    }
}

static void test_saved(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int kind = 0; kind < 4; kind++) {
        tet_case c, d;
        poses p, q;
        start(&c, kind, &p);
        start(&d, kind, &q);
        march(&c, 4, 3);
        size_t size = pl_tetrahedral_save_size(c.body), floats = 3 * (size_t)c.bar.n;
        char *bytes = tet_room(size, 1);
        pl_tetrahedral_save(c.body, bytes);
        memcpy(d.x, c.x, floats * sizeof(float));
        memcpy(d.u, c.u, floats * sizeof(float));
        bytes[size / 2] ^= 1;
        assert_int_equal(pl_tetrahedral_load(d.body, bytes, size, NULL), PL_ERROR_FORMAT);
        bytes[size / 2] ^= 1;
        assert_int_equal(pl_tetrahedral_load(d.body, bytes, size, NULL), PL_OK);
        assert_true(tet_case_energy(&c, NULL, NULL) == tet_case_energy(&d, NULL, NULL));
        march(&c, 4, 3);
        march(&d, 4, 3);
        assert_memory_equal(c.x, d.x, floats * sizeof(float));
        assert_int_equal(pl_tetrahedral_set_examples(d.body, NULL, NULL), PL_OK);
        assert_int_equal(pl_tetrahedral_load(d.body, bytes, size, NULL), PL_ERROR_FORMAT);
        free(bytes);
        free_poses(&p), free_poses(&q);
        tet_case_free(&c), tet_case_free(&d);
    }
}

/* Examples that were taken away again leave nothing behind, and a body keeps them under another
   system. */
static void test_given_and_taken(void **state)
{
    (void)state;
    tet_case c, d;
    poses p, q;
    pl_tet_system *other;
    start(&c, 1, &p);
    start(&d, 1, &q);
    assert_int_equal(pl_tetrahedral_set_examples(c.body, NULL, NULL), PL_OK);
    pl_tetrahedral_destroy(d.body);
    assert_int_equal(pl_tetrahedral_create(&d.memory, d.system, &d.body, NULL), PL_OK);
    march(&c, 4, 3);
    march(&d, 4, 3);
    assert_memory_equal(c.x, d.x, 3 * (size_t)c.bar.n * sizeof(float));
    give(&c, &p, 1, 0.995, PL_EXAMPLES_AUTO);
    give(&d, &q, 1, 0.995, PL_EXAMPLES_AUTO);
    assert_int_equal(pl_tet_system_create(&d.memory, &d.source, &d.def, NULL, &other, NULL), PL_OK);
    march(&c, 4, 2);
    march(&d, 4, 2);
    assert_int_equal(pl_tetrahedral_move(d.body, other, NULL), PL_OK);
    march(&c, 4, 2);
    march(&d, 4, 2);
    assert_memory_equal(c.x, d.x, 3 * (size_t)c.bar.n * sizeof(float));
    pl_tet_system_drop(other);
    free_poses(&p), free_poses(&q);
    tet_case_free(&c), tet_case_free(&d);
}

/* Thrown about with large steps and no damping: the energy does not grow. */
static void test_large_steps(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int kind = 0; kind < 3; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(8, 2, 2, 1), material(kind), 1e4, 1.0 / 30, 0);
        poses p = make_poses(&c);
        give(&c, &p, 1, 0.995, PL_EXAMPLES_AUTO);
        pose_bar(&c.bar, 60 * PI / 180, 0, 0.8, c.x);
        for (int i = 0; i < c.bar.n; i++)
            c.x[3 * i + 1] += 1, c.x[3 * i + 2] += 1;
        double start_energy = 0, energy = 0;
        for (int k = 0; k < 90; k++) {
            tet_case_step(&c, 5);
            energy = tet_case_energy(&c, NULL, NULL);
            for (int i = 0; i < 3 * c.bar.n; i++)
                energy += 0.5 * c.system->node_mass[i / 3] * (double)c.u[i] * (double)c.u[i];
            if (k == 0)
                start_energy = energy;
            assert_true(energy < 1.2 * start_energy);
        }
        print_message("material %d: energy %.3f of the start after 3 s\n", kind,
                      energy / start_energy);
        free_poses(&p);
        tet_case_free(&c);
    }
}

static void test_refused(void **state)
{
    (void)state;
    for (int kind = PL_TET_QUATERNION; kind <= PL_TET_FOLDED; kind++) {
        tet_case c;
        pl_tetrahedral_def def = material(0);
        def.rotations = (pl_tet_rotations)kind;
        tet_case_make(&c, tet_bar_make(6, 2, 2, 1), def, 1e4, 1.0 / 60, -1);
        poses p = make_poses(&c);
        pl_examples_source source = {.element_count = c.bar.tet_count,
                                     .width = PL_TET_DESCRIPTOR,
                                     .pose_count = 2,
                                     .poses = p.descriptors,
                                     .weight = p.weights,
                                     .group_count = 1,
                                     .beta = 0.9};
        pl_examples *examples;
        pl_error error = {0};
        assert_int_equal(pl_examples_create(&c.memory, &source, &examples, NULL), PL_OK);
        assert_int_equal(pl_tetrahedral_set_examples(c.body, examples, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, "exact rotations"));
        assert_null(pl_tetrahedral_examples(c.body));
        pl_examples_destroy(examples);
        free_poses(&p);
        tet_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_pose),
                                       cmocka_unit_test(test_descriptors),
                                       cmocka_unit_test(test_rest),
                                       cmocka_unit_test(test_return),
                                       cmocka_unit_test(test_stay),
                                       cmocka_unit_test(test_descent),
                                       cmocka_unit_test(test_minimum),
                                       cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_saved),
                                       cmocka_unit_test(test_given_and_taken),
                                       cmocka_unit_test(test_large_steps),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
