/* Tetrahedral matter: gradients against finite differences and against the kernels, the projection
   on determinant one by brute force, rest, patches of affine deformation, momentum, minima. */
#include "support/check.h"

#include "base/rng.h"
#include "tet_bar.h"

static double noise(pl_rng *rng)
{
    return 2 * pl_random_double(rng) - 1;
}

/* The four materials and the three kinds of rotations. */
static pl_tetrahedral_def material(int kind)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = kind == 0 || kind == 5 ? 0 : 0.3;
    if (kind == 2)
        def.volume = PL_TET_DETERMINANT;
    if (kind == 3)
        def.yield = 0.01;
    if (kind == 4)
        def.rotations = PL_TET_QUATERNION;
    if (kind == 5)
        def.rotations = PL_TET_FOLDED;
    return def;
}

static void shake(tet_case *c, double by, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    for (int k = 0; k < 3 * c->bar.n; k++)
        c->x[k] += (float)(by * noise(&rng));
}

/* Some plastic strain, different everywhere. */
static void make_plastic(tet_case *c)
{
    shake(c, 0.3, 5);
    for (int k = 0; k < 5; k++)
        pl_tetrahedral_flow(c->body, c->x, NULL);
    memcpy(c->x, c->bar.rest, 3 * (size_t)c->bar.n * sizeof(float));
}

static void test_gradient(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(2, 2, 1, 1), material(kind), 100, 0.1, -1);
        if (kind == 3)
            make_plastic(&c);
        int count = 3 * c.bar.n;
        double *x = tet_room((size_t)count, sizeof(double)),
               *y = tet_room((size_t)count, sizeof(double));
        double *gradient = tet_room((size_t)count, sizeof(double));
        pl_rng rng = pl_rng_make(11);
        for (int k = 0; k < count; k++) {
            x[k] = (double)c.bar.rest[k] + 0.2 * noise(&rng);
            y[k] = (double)c.bar.rest[k] + 0.2 * noise(&rng);
        }
        pl_tet_energy(c.system, c.body, x, y, gradient);
        double largest = 0, wrong = 0;
        for (int k = 0; k < count; k++) {
            double at = x[k], step = 1e-5;
            x[k] = at + step;
            double more = pl_tet_energy(c.system, c.body, x, y, NULL);
            x[k] = at - step;
            double less = pl_tet_energy(c.system, c.body, x, y, NULL);
            x[k] = at;
            largest = fmax(largest, fabs(gradient[k]));
            wrong = fmax(wrong, fabs((more - less) / (2 * step) - gradient[k]));
        }
        if (!(wrong < 1e-6 * largest))
            fail_msg("material %d: gradient off by %g of %g", kind, wrong, largest);
        free(x), free(y), free(gradient);
        tet_case_free(&c);
    }
}

/* The residual of the kernels is −h² times the gradient, over the unit of mass; their energy is the
   reference's. */
static void test_kernels(void **state)
{
    (void)state;
    static const double amounts[] = {0.02, 0.3, 2};
    for (int kind = 0; kind < 4; kind++)
        for (int a = 0; a < 3; a++) {
            tet_case c;
            tet_case_make(&c, tet_bar_make(9, 5, 4, 1), material(kind), 1000, 0.1, 0);
            if (kind == 3)
                make_plastic(&c);
            const pl_tet_system *s = c.system;
            const pl_tet_table *table = pl_tet_table_of(4);
            shake(&c, amounts[a], 3);
            for (int k = 0; k < c.source.fixed_count; k++)
                memcpy(c.x + 3 * c.fixed[k], c.bar.rest + 3 * c.fixed[k], 3 * sizeof(float));
            c.motion.fall[1] = -3;
            pl_tetrahedral_solve(&c.body, &c.motion, 1, 0, NULL);
            table->local(c.body, 0, s->block_count);
            table->combine(c.body, 0, (s->padded + PL_TET_ROW_BLOCK - 1) / PL_TET_ROW_BLOCK);
            double *y = tet_room(3 * (size_t)c.bar.n, sizeof(double));
            double *gradient = tet_room(3 * (size_t)c.bar.n, sizeof(double));
            for (int k = 0; k < 3 * c.bar.n; k++)
                y[k] = (double)c.x[k] + (k % 3 == 1 ? -0.03 : 0);
            double energy = tet_case_energy(&c, y, gradient);
            double scale = s->h * s->h / s->unit_mass, largest = 0, wrong = 0, own = 0;
            /* The kernels' is of the elements alone here; that of the inertia where a step begins
               is left out. */
            for (int k = 0; k < s->block_count; k++)
                own += c.body->room.block_energy[k];
            double expected_energy = scale * tet_case_energy(&c, NULL, NULL);
            if (!(energy >= 0 && fabs(own - expected_energy) < 1e-5 * expected_energy))
                fail_msg("material %d, noise %g: energy %.9g, not %.9g", kind, amounts[a], own,
                         expected_energy);
            for (int row = 0; row < s->unknowns; row++)
                for (int k = 0; k < 3; k++) {
                    double expected = -scale * gradient[3 * s->node_of[row] + k];
                    largest = fmax(largest, fabs(expected));
                    wrong = fmax(wrong, fabs((double)c.body->room.r[4 * row + k] - expected));
                }
            if (!(wrong < 2e-5 * largest))
                fail_msg("material %d, noise %g: residual off by %g of %g", kind, amounts[a], wrong,
                         largest);
            free(y), free(gradient);
            tet_case_free(&c);
        }
}

/* The determinant is one, p (p − s) is the same for all three (stationary), and but for the
   blown-up cases at the end no point of a fine search is nearer. */
static void test_unit_determinant(void **state)
{
    (void)state;
    static const double cases[][3] = {{1, 1, 1},        {1.2, 1.1, 0.9}, {2, 1, 0.5}, {0.1, .1, .1},
                                      {1, 1, -0.5},     {2, 0.3, 0.1},   {10, 10, 1}, {0, 0, 0},
                                      {1.5, 0.2, -0.1}, {4, 0.5, 0.5},   {3, 3, 3},   {2, 2, 2}};
    enum { LAST_NEAREST = 9 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double *s = cases[k];
        double p[3], own = 0, best = INFINITY;
        pl_tet_unit_determinant(s, p);
        if (!(fabs(p[0] * p[1] * p[2] - 1) < 1e-9))
            fail_msg("case %zu: determinant %g", k, p[0] * p[1] * p[2]);
        for (int i = 1; i < 3; i++)
            if (!(fabs(p[i] * (p[i] - s[i]) - p[0] * (p[0] - s[0])) < 1e-6))
                fail_msg("case %zu: (%g, %g, %g) is not stationary", k, p[0], p[1], p[2]);
        if (k > LAST_NEAREST)
            continue;
        for (int i = 0; i < 3; i++)
            own += (p[i] - s[i]) * (p[i] - s[i]);
        for (double a = 0.02; a < 12; a *= 1.01)
            for (double b = 0.02; b < 12; b *= 1.01) {
                double c = 1 / (a * b), d = (a - s[0]) * (a - s[0]) + (b - s[1]) * (b - s[1]) +
                                            (c - s[2]) * (c - s[2]);
                best = fmin(best, d);
            }
        if (!(own <= best * 1.001 + 1e-6))
            fail_msg("case %zu: %g where %g is possible", k, own, best);
    }
}

/* A body at rest, free or held, stays where it is, bit by bit. */
static void test_rest(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++)
        for (int end = -1; end <= 0; end++) {
            tet_case c;
            tet_case_make(&c, tet_bar_make(7, 3, 3, 0.3), material(kind), 1e4, 1.0 / 60, end);
            for (int k = 0; k < 5; k++)
                tet_case_step(&c, 4);
            assert_memory_equal(c.x, c.bar.rest, 3 * (size_t)c.bar.n * sizeof(float));
            tet_case_free(&c);
        }
}

/* Turned, it stays turned. */
static void test_turned(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(7, 3, 3, 1), material(kind), 1e4, 1.0 / 60, -1);
        for (int i = 0; i < c.bar.n; i++) {
            const float *p = c.bar.rest + 3 * (size_t)i;
            c.x[3 * i] = -p[1], c.x[3 * i + 1] = 0.6f * p[0] - 0.8f * p[2],
                    c.x[3 * i + 2] = -0.8f * p[0] - 0.6f * p[2];
        }
        /* det = +1: rows (0,−1,0), (.6,0,−.8), (−.8,0,−.6) have determinant −1 · …; mirrored ones
           are for another test. */
        for (int i = 0; i < c.bar.n; i++)
            c.x[3 * i] = -c.x[3 * i];
        float *before = tet_room(3 * (size_t)c.bar.n, sizeof(float));
        memcpy(before, c.x, 3 * (size_t)c.bar.n * sizeof(float));
        for (int k = 0; k < 10; k++)
            tet_case_step(&c, 4);
        double wrong = 0;
        for (int k = 0; k < 3 * c.bar.n; k++)
            wrong = fmax(wrong, fabs((double)c.x[k] - (double)before[k]));
        if (!(wrong < 1e-4))
            fail_msg("material %d moved by %g", kind, wrong);
        free(before);
        tet_case_free(&c);
    }
}

/* With a boundary that is deformed affinely the inside is too: for any material, as its stress is
   constant then. */
static void test_patch(void **state)
{
    (void)state;
    static const double map[3][3] = {{1.1, 0.15, -0.05}, {0.02, 0.95, 0.1}, {0.1, -0.05, 1.05}};
    for (int kind = 0; kind < 3; kind++) {
        tet_bar bar = tet_bar_make(5, 4, 4, 1);
        tet_case c;
        tet_case_make(&c, bar, material(kind), 1e4, 100, -1);
        pl_tetrahedral_destroy(c.body);
        pl_tet_system_drop(c.system);
        for (int i = 0; i <= 5; i++)
            for (int j = 0; j <= 4; j++)
                for (int k = 0; k <= 4; k++)
                    if (i % 5 == 0 || j % 4 == 0 || k % 4 == 0)
                        c.fixed[c.source.fixed_count++] = tet_bar_node(&bar, i, j, k);
        assert_int_equal(pl_tet_system_create(&c.memory, &c.source, &c.def, NULL, &c.system, NULL),
                         PL_OK);
        assert_int_equal(pl_tetrahedral_create(&c.memory, c.system, &c.body, NULL), PL_OK);
        double *goal = tet_room(3 * (size_t)bar.n, sizeof(double)), wrong = 0;
        for (int i = 0; i < bar.n; i++)
            for (int k = 0; k < 3; k++)
                for (int m = 0; m < 3; m++)
                    goal[3 * i + k] += map[k][m] * (double)bar.rest[3 * i + m];
        for (int k = 0; k < c.source.fixed_count; k++)
            memcpy(c.targets + 7 * k, goal + 3 * c.fixed[k], 3 * sizeof(double));
        tet_case_settle(&c, 40);
        for (int k = 0; k < 3 * bar.n; k++)
            wrong = fmax(wrong, fabs((double)c.x[k] - goal[k]));
        if (!(wrong < 2e-5))
            fail_msg("material %d: off by %g", kind, wrong);
        free(goal);
        tet_case_free(&c);
    }
}

/* Linear momentum of a free body, however few iterations; of two pieces, each its own. */
static void test_momentum(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        tet_case c;
        tet_case_make(&c, tet_bar_make(6, 3, 3, 1), material(kind), 1e6, 1.0 / 60, -1);
        double before[3] = {0}, after[3] = {0}, total = 0;
        pl_rng rng = pl_rng_make(2);
        for (int k = 0; k < 3 * c.bar.n; k++)
            c.u[k] = (float)(10 * noise(&rng));
        for (int k = 0; k < 3 * c.bar.n; k++)
            before[k % 3] += pl_tet_system_mass(c.system, k / 3) * (double)c.u[k];
        for (int k = 0; k < 20; k++)
            tet_case_step(&c, 2);
        for (int k = 0; k < 3 * c.bar.n; k++)
            after[k % 3] += pl_tet_system_mass(c.system, k / 3) * (double)c.u[k];
        for (int i = 0; i < c.bar.n; i++)
            total += pl_tet_system_mass(c.system, i);
        for (int k = 0; k < 3; k++)
            if (!(fabs(after[k] - before[k]) < 1e-4 * total))
                fail_msg("material %d: momentum %g became %g", kind, before[k], after[k]);
        tet_case_free(&c);
    }
}

/* Free fall of a held-nowhere body and of one without stiffness to speak of: g h² n (n + 1) / 2. */
static void test_fall(void **state)
{
    (void)state;
    tet_case c;
    tet_case_make(&c, tet_bar_make(3, 3, 3, 1), material(1), 1e5, 0.01, -1);
    c.motion.fall[2] = -10;
    for (int k = 0; k < 10; k++)
        tet_case_step(&c, 1);
    for (int i = 0; i < c.bar.n; i++)
        assert_true(fabs((double)c.x[3 * i + 2] - (double)c.bar.rest[3 * i + 2] + 10 * 1e-4 * 55) <
                    1e-5);
    tet_case_free(&c);
}

/* At the end of a long solve the gradient is gone; more steps, plain or not, never mean more
   energy. */
static void test_minimum(void **state)
{
    (void)state;
    for (int run = 0; run < 8; run++) {
        tet_case c;
        int kind = run / 2;
        pl_tetrahedral_def def = material(kind);
        def.accelerated = run % 2 == 0;
        tet_case_make(&c, tet_bar_make(8, 3, 3, 1), def, 1e4, 1.0 / 30, 0);
        if (kind == 3)
            make_plastic(&c);
        shake(&c, 0.2, 8);
        int count = 3 * c.bar.n;
        double *y = tet_room((size_t)count, sizeof(double)),
               *g = tet_room((size_t)count, sizeof(double));
        float *start = tet_room((size_t)count, sizeof(float));
        c.motion.fall[1] = -10;
        for (int k = 0; k < c.source.fixed_count; k++)
            memcpy(c.x + 3 * c.fixed[k], c.bar.rest + 3 * c.fixed[k], 3 * sizeof(float));
        memcpy(start, c.x, (size_t)count * sizeof(float));
        for (int k = 0; k < count; k++)
            y[k] = (double)c.x[k] + (k % 3 == 1 ? -10.0 / 900 : 0);
        double first = 0, last = 0, before = INFINITY;
        for (int iterations = 0; iterations <= 64; iterations = iterations ? 2 * iterations : 1) {
            memcpy(c.x, start, (size_t)count * sizeof(float));
            tet_case_settle(&c, iterations);
            double energy = tet_case_energy(&c, y, g), size = 0;
            assert_true(energy <= before * (1 + 1e-6));
            before = energy;
            for (int row = 0; row < c.system->unknowns; row++)
                for (int k = 0; k < 3; k++)
                    size += g[3 * c.system->node_of[row] + k] * g[3 * c.system->node_of[row] + k];
            last = sqrt(size);
            first = iterations ? first : last;
        }
        if (!(last < (def.accelerated ? 1e-4 : 0.1) * first))
            fail_msg("material %d, %s: gradient %g of %g left", kind,
                     def.accelerated ? "accelerated" : "plain", last, first);
        free(y), free(g), free(start);
        tet_case_free(&c);
    }
}

/* Two halves in series, pulled apart by 1 %: the soft one takes E₂ / (E₁ + E₂) of it. Masses follow
   node_density. */
static void test_halves(void **state)
{
    (void)state;
    tet_case c;
    tet_case_make(&c, tet_bar_make(8, 2, 2, 1), material(0), 1e4, 100, 2);
    pl_tetrahedral_destroy(c.body);
    pl_tet_system_drop(c.system);
    float *stiffness = tet_room((size_t)c.bar.tet_count, sizeof(float));
    float *density = tet_room((size_t)c.bar.n, sizeof(float));
    for (int e = 0; e < c.bar.tet_count; e++)
        stiffness[e] = e < c.bar.tet_count / 2 ? 1 : 3; /* cells along x come first */
    for (int i = 0; i < c.bar.n; i++)
        density[i] = c.bar.rest[3 * i] < 4 ? 1 : 5;
    c.source.stiffness = stiffness;
    c.source.node_density = density;
    assert_int_equal(pl_tet_system_create(&c.memory, &c.source, &c.def, NULL, &c.system, NULL),
                     PL_OK);
    assert_int_equal(pl_tetrahedral_create(&c.memory, c.system, &c.body, NULL), PL_OK);
    for (int k = 0; k < c.source.fixed_count; k++)
        c.targets[7 * k] *= 1.01;
    tet_case_settle(&c, 100);
    for (int i = 0; i <= 8; i++) {
        double at = (double)c.x[3 * tet_bar_node(&c.bar, i, 1, 1)] - i;
        double expected = 0.08 * (i < 4 ? i * 0.75 / 4 : 0.75 + (i - 4) * 0.25 / 4);
        if (!(fabs(at - expected) < 2e-5))
            fail_msg("section %d moved by %g, not %g", i, at, expected);
    }
    double left = pl_tet_system_mass(c.system, tet_bar_node(&c.bar, 2, 1, 1));
    double right = pl_tet_system_mass(c.system, tet_bar_node(&c.bar, 6, 1, 1));
    assert_true(fabs(right / left - 5) < 1e-6);
    /* Frames are means by volume: what a node weighs is nothing to them. */
    float *frame = tet_room(9 * (size_t)c.bar.n, sizeof(float));
    for (int i = 0; i < 3 * c.bar.n; i++)
        c.x[i] = (i % 3 == 0 ? 1.5f : 0.5f) * c.bar.rest[i];
    pl_tetrahedral_frames(c.body, c.x, 0, frame);
    for (int i = 0; i < 9 * c.bar.n; i++)
        assert_true(fabs((double)frame[i] - (i % 9 == 0 ? 1.5 : i % 9 % 4 == 0 ? 0.5 : 0)) < 1e-5);
    free(frame), free(stiffness), free(density);
    tet_case_free(&c);
}

/* F around a node is the mean of its elements' by volume, whether nodes are free, held or of no
   element; I, bit by bit, at rest. */
static void test_frames(void **state)
{
    (void)state;
    tet_case c;
    tet_case_make(&c, tet_bar_make(5, 3, 2, 0.5), material(0), 100, 0.1, 0);
    const pl_tet_system *s = c.system;
    float *frame = tet_room(9 * (size_t)c.bar.n, sizeof(float));
    double *mean = tet_room(9 * (size_t)c.bar.n, sizeof(double));
    pl_tetrahedral_frames(c.body, c.x, 0, frame);
    for (int k = 0; k < 9 * c.bar.n; k++)
        assert_true(frame[k] == (k % 9 % 4 == 0 ? 1 : 0));
    shake(&c, 0.2, 6);
    pl_tetrahedral_frames(c.body, c.x, 0, frame);
    for (int e = 0; e < s->tet_count; e++)
        for (int k = 0; k < 9; k++) {
            const int32_t *t = s->tets + 4 * (size_t)e;
            double f = 0;
            for (int a = 0; a < 3; a++)
                f += ((double)c.x[3 * t[a] + k / 3] - (double)c.x[3 * t[3] + k / 3]) *
                     s->gradient[9 * e + 3 * a + k % 3];
            for (int a = 0; a < 4; a++)
                mean[9 * t[a] + k] += s->volume[e] / 4 / s->node_volume[t[a]] * f;
        }
    for (int k = 0; k < 9 * c.bar.n; k++)
        if (!(fabs((double)frame[k] - mean[k]) < 1e-5))
            fail_msg("node %d: %g, not %g", k / 9, (double)frame[k], mean[k]);
    free(frame), free(mean);
    tet_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),           cmocka_unit_test(test_halves),
        cmocka_unit_test(test_gradient),         cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_unit_determinant), cmocka_unit_test(test_rest),
        cmocka_unit_test(test_turned),           cmocka_unit_test(test_patch),
        cmocka_unit_test(test_momentum),         cmocka_unit_test(test_fall),
        cmocka_unit_test(test_minimum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
