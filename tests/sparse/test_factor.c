/* The numeric factor: residuals, a dense reference in long double, CHOLMOD, refused matrices,
   reproducible bits. */
#include "sparse_cases.h"

typedef struct solver {
    pl_memory memory;
    pl_symbolic *symbolic;
    pl_factor *factor;
} solver;

static void solver_make(solver *s, const test_graph *g, const test_matrix *m)
{
    int bad = -2;
    pl_memory_init(&s->memory, NULL, 0);
    assert_int_equal(
        pl_symbolic_create(&s->memory, g->n, g->start, g->neighbour, NULL, &s->symbolic), PL_OK);
    assert_int_equal(
        pl_factor_create(&s->memory, s->symbolic, m->diagonal, m->value, &s->factor, &bad), PL_OK);
    assert_int_equal(bad, -1);
}

static void solver_free(solver *s)
{
    pl_factor_destroy(&s->memory, s->factor);
    pl_symbolic_destroy(&s->memory, s->symbolic);
    assert_int_equal(s->memory.used, 0);
}

/* The lane solvers' recipe from factor.h, in float or double, gives the documented solution. */
static void solve_as_documented(const pl_factor *f, double *x, double *y)
{
    const pl_symbolic *s = f->symbolic;
    for (int i = 0; i < s->n; i++)
        y[s->inverse[i]] = x[i];
    for (int k = 0; k < s->n; k++)
        for (int64_t p = s->row_start[k]; p < s->row_start[k + 1]; p++)
            y[k] -= f->row_values[p] * y[s->row_index[p]];
    for (int k = 0; k < s->n; k++)
        y[k] *= f->inverse_d[k];
    for (int k = s->n - 1; k >= 0; k--)
        for (int64_t p = s->col_start[k]; p < s->col_start[k + 1]; p++)
            y[k] -= f->col_values[p] * y[s->col_index[p]];
    for (int i = 0; i < s->n; i++)
        x[i] = y[s->inverse[i]];
}

static void assert_rounded_copies(const pl_factor *f)
{
    for (int64_t p = 0; p < f->symbolic->nnz; p++) {
        assert_true(f->row_values[p] == f->col_values[f->symbolic->row_to_col[p]]);
        assert_true(f->row_values_f[p] == (float)f->row_values[p]);
        assert_true(f->col_values_f[p] == (float)f->col_values[p]);
    }
    for (int k = 0; k < f->symbolic->n; k++)
        assert_true(f->inverse_d[k] > 0.0 && f->inverse_d_f[k] == (float)f->inverse_d[k]);
}

static void assert_solves(const test_graph *g, const test_matrix *m, const pl_factor *f,
                          random_state *r)
{
    enum { COUNT = 7 };
    size_t n = (size_t)g->n, stride = COUNT + 2;
    double *x = malloc((n * stride + 1) * sizeof *x), *b = malloc((n * stride + 1) * sizeof *b);
    double *work = malloc((n * COUNT + 1) * sizeof *work), *one = malloc((n + 1) * sizeof *one);
    double *right = malloc((n + 1) * sizeof *right);
    for (size_t i = 0; i < n * stride; i++)
        x[i] = b[i] = random_unit(r) - 0.5;
    pl_factor_solve(f, x, COUNT, (ptrdiff_t)stride, work);
    for (size_t c = 0; c < stride; c++) {
        for (size_t i = 0; i < n; i++)
            one[i] = right[i] = b[i * stride + c];
        if (c >= COUNT) { /* beyond the right-hand sides nothing is touched */
            for (size_t i = 0; i < n; i++)
                assert_true(x[i * stride + c] == one[i]);
            continue;
        }
        pl_factor_solve(f, one, 1, 1, work);
        for (size_t i = 0; i < n; i++)
            assert_true(x[i * stride + c] == one[i]); /* the same bits, alone or with others */
        assert_true(residual(g, m, one, right) < 1e-13);
        pl_factor_multiply(f, one, one, work);
        for (size_t i = 0; i < n; i++)
            one[i] -= right[i];
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(one[i]) < 1e-7);
        memcpy(one, right, n * sizeof *one);
        solve_as_documented(f, one, work);
        assert_true(residual(g, m, one, right) < 1e-13);
    }
    free(x);
    free(b);
    free(work);
    free(one);
    free(right);
}

static void random_systems_are_solved(void **state)
{
    (void)state;
    random_state r = {21};
    const double kappas[] = {1e-6, 1.0, 333.0, 1e5};
    for (int round = 0; round < 4400; round++) {
        test_graph g = make_graph(round % GRAPH_KINDS,
                                  round < 330 ? round / GRAPH_KINDS : random_below(&r, 70), &r);
        test_matrix m = make_matrix(&g, kappas[round / GRAPH_KINDS % 4], &r);
        solver s;
        solver_make(&s, &g, &m);
        assert_rounded_copies(s.factor);
        assert_solves(&g, &m, s.factor, &r);
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
}

static void solutions_match_the_dense_reference(void **state)
{
    (void)state;
    random_state r = {22};
    for (int round = 0; round < 660; round++) {
        test_graph g = make_graph(round % GRAPH_KINDS, 1 + random_below(&r, 40), &r);
        double kappa = round % 2 ? 1.0 : 1e4, worst = 0.0;
        test_matrix m = make_matrix(&g, kappa, &r);
        solver s;
        solver_make(&s, &g, &m);
        double x[64], y[64], work[64], *a = make_dense(&g, &m);
        for (int i = 0; i < g.n; i++)
            x[i] = y[i] = random_unit(&r) - 0.5;
        pl_factor_solve(s.factor, x, 1, 1, work);
        dense_solve((size_t)g.n, a, y, 1);
        for (int i = 0; i < g.n; i++)
            worst = fmax(worst, fabs(x[i] - y[i]));
        assert_true(worst < 1e-15 * (1.0 + 100.0 * kappa));
        free(a);
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
}

static void larger_systems_match_the_judge(void **state)
{
    (void)state;
#ifdef PLIANT_HAVE_CHOLMOD
    random_state r = {23};
    for (int k = 0; k < 5; k++) {
        test_graph g = k == 0   ? make_geometric(100, 6.0, 1)
                       : k == 1 ? make_grid(16, 16, 1, true)
                       : k == 2 ? make_grid(100, 100, 1, true)
                       : k == 3 ? make_grid(12, 12, 12, false)
                                : make_geometric(3000, 10.0, 2);
        test_matrix m = make_matrix(&g, 1000.0, &r);
        solver s;
        solver_make(&s, &g, &m);
        size_t n = (size_t)g.n;
        double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y),
               worst = 0.0;
        double *work = malloc(n * sizeof *work);
        for (size_t i = 0; i < n; i++)
            x[i] = y[i] = b[i] = random_unit(&r) - 0.5;
        pl_factor_solve(s.factor, x, 1, 1, work);
        cholmod_judge(&g, &m, y);
        for (size_t i = 0; i < n; i++)
            worst = fmax(worst, fabs(x[i] - y[i]));
        double ours = residual(&g, &m, x, b), theirs = residual(&g, &m, y, b);
        print_message("n %5d  difference %.1e  residual %.1e, CHOLMOD's %.1e\n", g.n, worst, ours,
                      theirs);
        assert_true(worst < 1e-11);
        assert_true(ours < 1e-12);
        free(b);
        free(x);
        free(y);
        free(work);
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
#else
    skip();
#endif
}

/* Fixed particles are unit rows whose entries are zero; the pattern stays. */
static void fixed_rows_keep_their_value(void **state)
{
    (void)state;
    random_state r = {24};
    test_graph g = make_grid(8, 8, 1, true);
    test_matrix m = make_matrix(&g, 1e5, &r);
    for (int i = 0; i < g.n; i += 9) {
        m.diagonal[i] = 1.0;
        for (int p = g.start[i]; p < g.start[i + 1]; p++) {
            int j = g.neighbour[p];
            m.value[p] = 0.0;
            for (int q = g.start[j]; q < g.start[j + 1]; q++)
                m.value[q] = g.neighbour[q] == i ? 0.0 : m.value[q];
        }
    }
    solver s;
    solver_make(&s, &g, &m);
    double x[64], work[64];
    for (int i = 0; i < g.n; i++)
        x[i] = i + 0.25;
    pl_factor_solve(s.factor, x, 1, 1, work);
    for (int i = 0; i < g.n; i += 9)
        assert_true(x[i] == i + 0.25);
    solver_free(&s);
    matrix_free(&m);
    graph_free(&g);
}

static void assert_refused(const test_graph *g, const test_matrix *m, int node)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    pl_factor *f;
    int bad = -2;
    assert_int_equal(pl_symbolic_create(&memory, g->n, g->start, g->neighbour, NULL, &s), PL_OK);
    assert_int_equal(pl_factor_create(&memory, s, m->diagonal, m->value, &f, &bad),
                     PL_ERROR_ARGUMENT);
    assert_int_equal(pl_factor_create(&memory, s, m->diagonal, m->value, &f, NULL),
                     PL_ERROR_ARGUMENT);
    assert_null(f);
    assert_in_range(bad, 0, g->n - 1);
    if (node >= 0)
        assert_int_equal(bad, node);
    pl_symbolic_destroy(&memory, s);
    assert_int_equal(memory.used, 0);
}

static void matrices_that_are_not_positive_are_refused(void **state)
{
    (void)state;
    random_state r = {25};
    const double wrong[] = {0.0, -1.0, NAN, INFINITY, -INFINITY, 1e-320};
    for (int k = 0; k < GRAPH_KINDS; k++) {
        test_graph g = make_graph(k, 30, &r);
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            test_matrix m = make_matrix(&g, 10.0, &r);
            int node = random_below(&r, g.n);
            m.diagonal[node] = wrong[w];
            assert_refused(&g, &m, g.start[node] == g.start[node + 1] ? node : -1);
            matrix_free(&m);
        }
        test_matrix m = make_matrix(&g, 10.0, &r);
        for (int i = 0; i < g.n; i++)
            m.diagonal[i] -= m.row_sum[i]; /* without mass the constant vector is in the kernel */
        assert_refused(&g, &m, -1);
        matrix_free(&m);
        m = make_matrix(&g, 10.0, &r);
        if (g.start[g.n] > 0) {
            for (int p = 0; p < g.start[g.n]; p++)
                m.value[p] = NAN;
            assert_refused(&g, &m, -1);
        }
        matrix_free(&m);
        graph_free(&g);
    }
}

/* Stiff and soft parts in one body, down to loose nodes. */
static void widely_scaled_systems_are_solved(void **state)
{
    (void)state;
    random_state r = {26};
    for (int round = 0; round < 220; round++) {
        test_graph g = make_graph(round % GRAPH_KINDS, 50, &r);
        test_matrix m = make_matrix(&g, 1.0, &r);
        for (int i = 0; i < g.n; i++) {
            m.diagonal[i] = 1e-3;
            for (int p = g.start[i]; p < g.start[i + 1]; p++) {
                int a = i < g.neighbour[p] ? i : g.neighbour[p];
                m.value[p] = -pow(10.0, a % 11 - 5);
                m.diagonal[i] -= m.value[p];
            }
        }
        solver s;
        solver_make(&s, &g, &m);
        double x[64], b[64], work[64];
        for (int i = 0; i < g.n; i++)
            x[i] = b[i] = random_unit(&r) - 0.5;
        pl_factor_solve(s.factor, x, 1, 1, work);
        assert_true(residual(&g, &m, x, b) < 1e-13);
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
}

/* A chain of n equal masses: eigenvalues m + 4 kappa sin²(k π / 2n). */
static void the_condition_is_estimated(void **state)
{
    (void)state;
    for (int n = 2; n <= 40; n += 19) {
        random_state r = {1};
        test_graph g = make_graph(0, n, &r);
        test_matrix m = make_matrix(&g, 0.0, &r);
        double kappa = 1e4, work[80], pi = acos(-1.0);
        for (int i = 0; i < n; i++)
            m.diagonal[i] = 1.0 + kappa * (g.start[i + 1] - g.start[i]);
        for (int p = 0; p < g.start[n]; p++)
            m.value[p] = -kappa;
        solver s;
        solver_make(&s, &g, &m);
        double largest = 1.0 + 4.0 * kappa * pow(sin((n - 1) * pi / (2 * n)), 2.0);
        double second = 1.0 + 4.0 * kappa * pow(sin(pi / (2 * n)), 2.0);
        double full = pl_factor_condition(s.factor, false, work),
               inner = pl_factor_condition(s.factor, true, work);
        assert_true(full > 0.5 * largest && full < 1.001 * largest);
        assert_true(inner > 0.5 * largest / second && inner < 1.001 * largest / second);
        assert_true(full == pl_factor_condition(s.factor, false, work));
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
}

static void one_or_no_node_has_condition_one(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        random_state r = {1};
        test_graph g = make_graph(0, n, &r);
        test_matrix m = make_matrix(&g, 1.0, &r);
        solver s;
        double work[4];
        solver_make(&s, &g, &m);
        assert_true(fabs(pl_factor_condition(s.factor, false, work) - 1.0) < 1e-15);
        assert_true(pl_factor_condition(s.factor, true, work) == 1.0);
        solver_free(&s);
        matrix_free(&m);
        graph_free(&g);
    }
}

/* A hash of every bit of a factor and a solution, the same for all compilers and levels of
   optimisation. */
static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    test_graph g = make_grid(12, 10, 3, true);
    random_state r = {27};
    test_matrix m = make_matrix(&g, 333.0, &r);
    solver s;
    solver_make(&s, &g, &m);
    double x[360], work[720];
    for (int i = 0; i < g.n; i++)
        x[i] = i % 13 - 6.0;
    pl_factor_solve(s.factor, x, 1, 1, work);
    x[0] += pl_factor_condition(s.factor, true, work);
    uint64_t hash = 1469598103934665603u;
    const double *parts[] = {s.factor->col_values, s.factor->inverse_d, x};
    const size_t sizes[] = {(size_t)s.symbolic->nnz, (size_t)g.n, (size_t)g.n};
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizes[k]; i++) {
            uint64_t bits;
            memcpy(&bits, &parts[k][i], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    }
    print_message("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == 0xd6944ee5c6023dfeu);
    solver_free(&s);
    matrix_free(&m);
    graph_free(&g);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    random_state r = {28};
    test_graph g = make_grid(5, 4, 2, true);
    test_matrix m = make_matrix(&g, 10.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    assert_int_equal(pl_symbolic_create(&memory, g.n, g.start, g.neighbour, NULL, &s), PL_OK);
    pl_status status = PL_ERROR_MEMORY;
    size_t before = memory.used;
    for (int fail = 0; status != PL_OK; fail++) {
        int bad = -2;
        pl_factor *f;
        memory.fail_at = (int64_t)memory.allocations + fail;
        status = pl_factor_create(&memory, s, m.diagonal, m.value, &f, &bad);
        assert_true(status == PL_OK ? fail > 7
                                    : status == PL_ERROR_MEMORY && !f && bad == -1 && fail < 100);
        pl_factor_destroy(&memory, f);
        assert_int_equal(memory.used, before);
    }
    pl_symbolic_destroy(&memory, s);
    assert_int_equal(memory.used, 0);
    matrix_free(&m);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_solved),
        cmocka_unit_test(solutions_match_the_dense_reference),
        cmocka_unit_test(larger_systems_match_the_judge),
        cmocka_unit_test(fixed_rows_keep_their_value),
        cmocka_unit_test(matrices_that_are_not_positive_are_refused),
        cmocka_unit_test(widely_scaled_systems_are_solved),
        cmocka_unit_test(the_condition_is_estimated),
        cmocka_unit_test(one_or_no_node_has_condition_one),
        cmocka_unit_test(bits_are_the_same_everywhere),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
