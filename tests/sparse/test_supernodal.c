/* The supernodal factor: residuals and solutions against the plain factor, a dense reference and
   CHOLMOD; the dissection's fill; equal bits for any lane width, any number of threads, alone or
   side by side; refused matrices; failing memory. */
#include "sparse_cases.h"

#include "base/hash.h"
#include "base/tasks.h"
#include "sparse/supernodal_parts.h"

/* CHOLMOD's own threads are nothing for the thread sanitizer, which looks at this test. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define WITHOUT_CHOLMOD
#endif
#endif
#if defined(PLIANT_HAVE_CHOLMOD) && !defined(WITHOUT_CHOLMOD) && !defined(__SANITIZE_THREAD__)
#define JUDGED_BY_CHOLMOD
#endif

typedef struct mesh {
    test_graph graph;
    test_matrix matrix;
    double (*points)[3];
} mesh;

/* Of bits_are_the_known_ones. */
#define GOLDEN_SOLUTION UINT64_C(0xc3ac063b3f8453ec)

/* ---- Meshes ---- */

/* A box of cubes of six tetrahedra each. */
static mesh make_mesh(int x, int y, int z, double stiffness, random_state *r)
{
    int size[3] = {x, y, z}, n = x * y * z;
    mesh m = {.points = malloc((size_t)n * sizeof *m.points)};
    edge_list list = {0};
    for (int i = 0; i < n; i++) {
        int p[3] = {i % x, i / x % y, i / x / y};
        for (int k = 0; k < 3; k++)
            m.points[i][k] = p[k];
        for (int corner = 1; corner < 8; corner++) {
            int q[3], inside = 1;
            for (int k = 0; k < 3; k++) {
                q[k] = p[k] + (corner >> k & 1);
                inside = inside && q[k] < size[k];
            }
            if (inside)
                add_edge(&list, i, q[0] + x * (q[1] + y * q[2]));
        }
    }
    m.graph = graph_from_edges(n, &list);
    m.matrix = make_matrix(&m.graph, stiffness, r);
    return m;
}

static void mesh_free(mesh *m)
{
    graph_free(&m->graph);
    matrix_free(&m->matrix);
    free(m->points);
}

static pl_supernodal *make_factor(pl_memory *memory, const test_graph *g, const test_matrix *m,
                                  const double (*points)[3], pl_tasks *tasks)
{
    pl_supernodal *f;
    int bad = -2;
    assert_int_equal(pl_supernodal_create(memory, g->n, g->start, g->neighbour, m->diagonal,
                                          m->value, points, tasks, &f, &bad),
                     PL_OK);
    assert_int_equal(bad, -1);
    return f;
}

/* ---- Solving with guards ---- */

enum { GUARD = 32 };

static float *random_right(int n, int count, random_state *r)
{
    size_t numbers = (size_t)n * 3 * (size_t)count;
    float *x = malloc((numbers + 1) * sizeof *x);
    for (size_t i = 0; i < numbers; i++)
        x[i] = (float)(random_unit(r) - 0.5);
    return x;
}

/* Solves; nothing beyond x and the work memory may change. */
static void solve(pl_memory *memory, const pl_supernodal *f, float *x, int count, pl_tasks *tasks)
{
    size_t numbers = (size_t)pl_supernodal_get_sizes(f).n * 3 * (size_t)count;
    size_t room = pl_supernodal_work(f, count);
    float *work = PL_NEW(memory, float, room + GUARD);
    float *guarded = malloc((numbers + GUARD) * sizeof *guarded);
    memset(work, 0xFF, (room + GUARD) * sizeof *work); /* not a number anywhere */
    memcpy(guarded, x, numbers * sizeof *x);
    memset(guarded + numbers, 0xFF, GUARD * sizeof *x);
    uint64_t allocations = memory->allocations;
    pl_supernodal_solve(f, guarded, count, work, tasks);
    assert_int_equal(memory->allocations, allocations);
    for (int k = 0; k < GUARD; k++) {
        uint32_t behind[2];
        memcpy(&behind[0], &work[room + (size_t)k], sizeof(float));
        memcpy(&behind[1], &guarded[numbers + (size_t)k], sizeof(float));
        assert_true(behind[0] == UINT32_MAX && behind[1] == UINT32_MAX);
    }
    memcpy(x, guarded, numbers * sizeof *x);
    free(guarded);
    pl_memory_free(memory, work);
}

static double *column_of(const float *x, int n, int count, int c)
{
    double *y = malloc(((size_t)n + 1) * sizeof *y);
    for (int i = 0; i < n; i++)
        y[i] = (double)x[(size_t)i * 3 * (size_t)count + (size_t)c];
    return y;
}

/* Float solves of some counts, each column's residual; the first also against `truth`. */
static void assert_solves(pl_memory *memory, const test_graph *g, const test_matrix *m,
                          const pl_supernodal *f, int count, double allowed, random_state *r)
{
    float *b = random_right(g->n, count, r),
          *x = malloc(((size_t)g->n * 3 * (size_t)count + 1) * 4);
    memcpy(x, b, (size_t)g->n * 3 * (size_t)count * sizeof *x);
    solve(memory, f, x, count, NULL);
    for (int c = 0; c < 3 * count; c += c < 4 || c > 3 * count - 4 ? 1 : 5) {
        double *y = column_of(x, g->n, count, c), *right = column_of(b, g->n, count, c);
        assert_true(residual(g, m, y, right) < allowed);
        free(y);
        free(right);
    }
    free(b);
    free(x);
}

static void assert_solves_in_double(pl_memory *memory, const test_graph *g, const test_matrix *m,
                                    const pl_supernodal *f, random_state *r)
{
    enum { COUNT = 2 };
    size_t n = (size_t)g->n, numbers = n * 3 * COUNT, room = pl_supernodal_work_double(f, COUNT);
    double *x = malloc((numbers + 1) * sizeof *x), *b = malloc((n + 1) * sizeof *b),
           *y = malloc((n + 1) * sizeof *y), *work = PL_NEW(memory, double, room + 1);
    for (size_t i = 0; i < numbers; i++)
        x[i] = 1e60 * (random_unit(r) - 0.5); /* beyond floats */
    for (size_t i = 0; i < n; i++)
        b[i] = x[i * 3 * COUNT + 4];
    memset(work + room, 0xFF, sizeof *work);
    pl_supernodal_solve_double(f, x, COUNT, work, NULL);
    uint64_t behind;
    memcpy(&behind, work + room, sizeof behind);
    assert_true(behind == UINT64_MAX);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i * 3 * COUNT + 4];
    assert_true(residual(g, m, y, b) < 1e-14);
    free(x);
    free(b);
    free(y);
    pl_memory_free(memory, work);
}

/* ---- Tests ---- */

static void graphs_of_all_kinds_are_solved(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    random_state r = {21};
    for (int round = 0; round < 660; round++) {
        int size = round < 110 ? round / GRAPH_KINDS : random_below(&r, round % 20 ? 90 : 400);
        test_graph g = make_graph(round % GRAPH_KINDS, size, &r);
        test_matrix m = make_matrix(&g, round % 2 ? 1.0 : 100.0, &r);
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_supernodal *f = make_factor(&memory, &g, &m, NULL, NULL);
        static const int counts[] = {1, 2, 5, 16, 19, 22};
        assert_solves(&memory, &g, &m, f, counts[round % 6], 2e-6, &r);
        if (round % 7 == 0)
            assert_solves_in_double(&memory, &g, &m, f, &r);
        pl_supernodal_destroy(&memory, f);
        assert_int_equal(memory.used, 0);
        graph_free(&g);
        matrix_free(&m);
    }
}

/* Values, not only residuals: the plain factor in double, and CHOLMOD. */
static void solutions_are_those_of_other_solvers(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    random_state r = {22};
    for (int round = 0; round < 4; round++) {
        mesh m = make_mesh(9 + round, 12, 14 + 9 * round, 5.0, &r);
        int n = m.graph.n;
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_supernodal *f = make_factor(&memory, &m.graph, &m.matrix,
                                       round % 2 ? (const double(*)[3])m.points : NULL, NULL);
        pl_symbolic *symbolic;
        pl_factor *plain;
        assert_int_equal(
            pl_symbolic_create(&memory, n, m.graph.start, m.graph.neighbour, NULL, &symbolic),
            PL_OK);
        assert_int_equal(
            pl_factor_create(&memory, symbolic, m.matrix.diagonal, m.matrix.value, &plain, NULL),
            PL_OK);
        float *x = random_right(n, 1, &r);
        double *truth = column_of(x, n, 1, 1), *work = malloc((size_t)n * sizeof *work);
#ifdef JUDGED_BY_CHOLMOD
        double *judged = column_of(x, n, 1, 2);
        cholmod_judge(&m.graph, &m.matrix, judged);
#endif
        pl_factor_solve(plain, truth, 1, 1, work);
        solve(&memory, f, x, 1, NULL);
        double largest = 0.0;
        for (int i = 0; i < n; i++)
            largest = fmax(largest, fabs(truth[i]));
        for (int i = 0; i < n; i++) {
            assert_true(fabs((double)x[3 * i + 1] - truth[i]) < 2e-5 * largest);
#ifdef JUDGED_BY_CHOLMOD
            assert_true(fabs((double)x[3 * i + 2] - judged[i]) < 2e-5 * largest);
#endif
        }
#ifdef JUDGED_BY_CHOLMOD
        free(judged);
#endif
        free(truth);
        free(work);
        free(x);
        pl_factor_destroy(&memory, plain);
        pl_symbolic_destroy(&memory, symbolic);
        pl_supernodal_destroy(&memory, f);
        assert_int_equal(memory.used, 0);
        mesh_free(&m);
    }
}

static void large_meshes_are_solved(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    random_state r = {23};
    mesh m = make_mesh(16, 18, 20, 50.0, &r);
    test_graph random = make_geometric(5000, 14.0, 77);
    test_matrix random_matrix = make_matrix(&random, 50.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int round = 0; round < 2; round++) {
        const test_graph *g = round ? &random : &m.graph;
        const test_matrix *a = round ? &random_matrix : &m.matrix;
        pl_supernodal *f =
            make_factor(&memory, g, a, round ? NULL : (const double(*)[3])m.points, NULL);
        assert_true(pl_supernodal_get_sizes(f).part_count > 4);
        assert_solves(&memory, g, a, f, 1, 1e-5, &r);
        assert_solves(&memory, g, a, f, 21, 1e-5, &r);
        assert_solves_in_double(&memory, g, a, f, &r);
        pl_supernodal_destroy(&memory, f);
    }
    mesh_free(&m);
    graph_free(&random);
    matrix_free(&random_matrix);
    assert_int_equal(memory.used, 0);
}

/* Nested dissection must be worth its name: far less fill than minimum degree on a cube, with and
   without coordinates. */
static void dissection_beats_minimum_degree(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    random_state r = {24};
    mesh m = make_mesh(22, 22, 22, 1.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    int n = m.graph.n, *order = malloc((size_t)n * sizeof *order);
    assert_true(pl_order_minimum_degree(&memory, n, m.graph.start, m.graph.neighbour, order));
    pl_symbolic *s;
    assert_int_equal(pl_symbolic_create(&memory, n, m.graph.start, m.graph.neighbour, order, &s),
                     PL_OK);
    double by_degree = (double)s->nnz;
    pl_symbolic_destroy(&memory, s);
    for (int round = 0; round < 2; round++) {
        char *seen = calloc((size_t)n, 1);
        assert_true(pl_order_dissection(&memory, n, m.graph.start, m.graph.neighbour,
                                        round ? NULL : (const double(*)[3])m.points, order));
        for (int k = 0; k < n; k++) {
            assert_true(order[k] >= 0 && order[k] < n && !seen[order[k]]);
            seen[order[k]] = 1;
        }
        assert_int_equal(
            pl_symbolic_create(&memory, n, m.graph.start, m.graph.neighbour, order, &s), PL_OK);
        assert_true((double)s->nnz < (round ? 0.87 : 0.8) * by_degree);
        pl_symbolic_destroy(&memory, s);
        free(seen);
    }
    free(order);
    mesh_free(&m);
    assert_int_equal(memory.used, 0);
}

/* The kept entries are what the order gives: counted again by the plain analysis. */
static void entries_are_counted(void **state)
{
    (void)state;
    random_state r = {25};
    for (int kind = 0; kind < GRAPH_KINDS; kind++) {
        test_graph g = make_graph(kind, 150, &r);
        test_matrix m = make_matrix(&g, 1.0, &r);
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_supernodal *f = make_factor(&memory, &g, &m, NULL, NULL);
        pl_symbolic *s;
        assert_int_equal(pl_symbolic_create(&memory, g.n, g.start, g.neighbour, NULL, &s), PL_OK);
        assert_true(pl_supernodal_get_sizes(f).entries <= s->nnz + g.n);
        assert_true(pl_supernodal_get_sizes(f).stored >= 2 * pl_supernodal_get_sizes(f).entries);
        pl_symbolic_destroy(&memory, s);
        pl_supernodal_destroy(&memory, f);
        graph_free(&g);
        matrix_free(&m);
    }
}

/* ---- Equal bits ---- */

/* A factor made with the kernels of one width. */
static pl_supernodal *make_with_width(pl_memory *memory, const mesh *m, int width, pl_tasks *tasks)
{
    const pl_supernodal_table *table = pl_supernodal_table_of(width);
    if (!table || table->width != width)
        return NULL;
    pl_supernodal *f = PL_NEW(memory, pl_supernodal, 1);
    f->n = m->graph.n;
    f->table = table;
    assert_int_equal(pl_supernodal_analyse(memory, f, m->graph.start, m->graph.neighbour,
                                           (const double(*)[3])m->points),
                     PL_OK);
    assert_int_equal(pl_supernodal_factor(memory, f, m->graph.start, m->graph.neighbour,
                                          m->matrix.diagonal, m->matrix.value, tasks, NULL),
                     PL_OK);
    return f;
}

static void widths_and_threads_give_equal_bits(void **state)
{
    (void)state;
    random_state r = {26};
    mesh m = make_mesh(13, 15, 17, 20.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    static const int counts[] = {1, 3, 16, 23};
    float *right[4], *truth[4] = {NULL};
    for (int c = 0; c < 4; c++)
        right[c] = random_right(m.graph.n, counts[c], &r);
    pl_supernodal *first = make_with_width(&memory, &m, 4, NULL);
    assert_true(first->part_count > 4);
    for (int round = 0; round < 6; round++) {
        static const int widths[] = {4, 8, 16, 4, 8, 16}, threads[] = {1, 2, 3, 5, 1, 2};
        pl_tasks *tasks =
            threads[round] > 1 ? pl_tasks_create(NULL, threads[round], &memory) : NULL;
        pl_supernodal *f = make_with_width(&memory, &m, widths[round], tasks);
        if (f) {
            assert_int_equal(f->value_count, first->value_count);
            assert_memory_equal(f->values, first->values,
                                (size_t)f->value_count * sizeof *f->values);
        }
        for (int c = 0; f && c < 4; c++) {
            size_t bytes = (size_t)m.graph.n * 3 * (size_t)counts[c] * sizeof(float);
            float *x = malloc(bytes);
            memcpy(x, right[c], bytes);
            solve(&memory, f, x, counts[c], tasks);
            if (!truth[c]) {
                truth[c] = x;
                continue;
            }
            assert_memory_equal(x, truth[c], bytes);
            free(x);
        }
        pl_supernodal_destroy(&memory, f);
        pl_tasks_destroy(tasks);
    }
    for (int c = 0; c < 4; c++) {
        free(right[c]);
        free(truth[c]);
    }
    pl_supernodal_destroy(&memory, first);
    mesh_free(&m);
    assert_int_equal(memory.used, 0);
}

static void side_by_side_gives_the_bits_of_alone(void **state)
{
    (void)state;
    random_state r = {27};
    mesh m = make_mesh(9, 10, 11, 20.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_supernodal *f = make_factor(&memory, &m.graph, &m.matrix, NULL, NULL);
    int n = m.graph.n;
    for (int count = 2; count <= 40; count += count < 20 ? 1 : 7) {
        float *x = random_right(n, count, &r), *one = malloc((size_t)n * 3 * sizeof *one);
        float *before = malloc((size_t)n * 3 * (size_t)count * sizeof *before);
        memcpy(before, x, (size_t)n * 3 * (size_t)count * sizeof *before);
        solve(&memory, f, x, count, NULL);
        for (int k = 0; k < count; k += 3) {
            for (int i = 0; i < n; i++)
                memcpy(one + 3 * i, before + (i * count + k) * 3, 3 * sizeof *one);
            solve(&memory, f, one, 1, NULL);
            for (int i = 0; i < n; i++)
                assert_memory_equal(one + 3 * i, x + (i * count + k) * 3, 3 * sizeof *one);
        }
        free(before);
        free(one);
        free(x);
    }
    pl_supernodal_destroy(&memory, f);
    mesh_free(&m);
    assert_int_equal(memory.used, 0);
}

/* Golden: other compilers and machines must give this too. */
static void bits_are_the_known_ones(void **state)
{
    (void)state;
    random_state r = {28};
    mesh m = make_mesh(12, 13, 14, 8.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_supernodal *f =
        make_factor(&memory, &m.graph, &m.matrix, (const double(*)[3])m.points, NULL);
    float *x = random_right(m.graph.n, 1, &r);
    solve(&memory, f, x, 1, NULL);
    uint64_t hash = pl_hash_of(x, (size_t)m.graph.n * 3 * sizeof *x, 0);
    if (hash != GOLDEN_SOLUTION)
        print_message("the hash is 0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == GOLDEN_SOLUTION);
    free(x);
    pl_supernodal_destroy(&memory, f);
    mesh_free(&m);
}

/* ---- Odd shapes ---- */

static void odd_shapes_are_solved(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    random_state r = {29};
    for (int round = 0; round < 6; round++) {
        /* Nothing, one node, loose nodes, a star, a clique, two meshes apart. */
        static const int sizes[] = {0, 1, 30000, 3000, 300, 0};
        edge_list list = {0};
        int n = sizes[round];
        for (int i = 1; i < n && round == 3; i++)
            add_edge(&list, 0, i);
        for (int i = 1; i < n && round == 4; i++)
            for (int j = 0; j < i; j++)
                add_edge(&list, i, j);
        if (round == 5) {
            mesh m = make_mesh(9, 9, 9, 1.0, &r);
            n = 2 * m.graph.n;
            for (int i = 0; i < m.graph.n; i++)
                for (int p = m.graph.start[i]; p < m.graph.start[i + 1]; p++) {
                    add_edge(&list, 2 * i, 2 * m.graph.neighbour[p]);
                    add_edge(&list, 2 * i + 1, 2 * m.graph.neighbour[p] + 1);
                }
            mesh_free(&m);
        }
        test_graph g = graph_from_edges(n, &list);
        test_matrix m = make_matrix(&g, 3.0, &r);
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        /* All points in one place say nothing, and points that are no numbers do no harm. */
        double(*points)[3] = calloc((size_t)n + 1, sizeof *points);
        for (int i = 0; i < n && round == 5; i++)
            points[i][i % 3] = i % 5 ? NAN : INFINITY;
        pl_supernodal *f = make_factor(&memory, &g, &m, (const double(*)[3])points, NULL);
        assert_solves(&memory, &g, &m, f, 1, 1e-5, &r);
        assert_solves(&memory, &g, &m, f, 17, 1e-5, &r);
        assert_solves_in_double(&memory, &g, &m, f, &r);
        pl_supernodal_destroy(&memory, f);
        assert_int_equal(memory.used, 0);
        free(points);
        graph_free(&g);
        matrix_free(&m);
    }
}

/* ---- Bad input ---- */

static int bad_node_of(const test_graph *g, const test_matrix *m, pl_tasks *tasks)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_supernodal *f;
    int bad = -2;
    assert_int_equal(pl_supernodal_create(&memory, g->n, g->start, g->neighbour, m->diagonal,
                                          m->value, NULL, tasks, &f, &bad),
                     PL_ERROR_ARGUMENT);
    assert_null(f);
    assert_int_equal(memory.used, 0);
    return bad;
}

static void matrices_that_are_not_definite_are_refused(void **state)
{
    (void)state;
    random_state r = {30};
    mesh m = make_mesh(10, 11, 40, 10.0, &r);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_tasks *tasks = pl_tasks_create(NULL, 3, &memory);
    static const double wrong[] = {0.0, -1.0, NAN, INFINITY, 1e-300};
    for (int k = 0; k < 5; k++) {
        int node = random_below(&r, m.graph.n);
        double good = m.matrix.diagonal[node];
        m.matrix.diagonal[node] = wrong[k];
        int bad = bad_node_of(&m.graph, &m.matrix, NULL);
        assert_true(bad >= 0 && bad < m.graph.n);
        assert_int_equal(bad_node_of(&m.graph, &m.matrix, tasks), bad);
        m.matrix.diagonal[node] = good;
    }
    /* A body that nothing holds, and that has no mass: singular but for rounding. */
    for (int i = 0; i < m.graph.n; i++)
        m.matrix.diagonal[i] -= m.matrix.row_sum[i] * (1.0 - 1e-18);
    assert_true(bad_node_of(&m.graph, &m.matrix, NULL) >= 0);
    pl_tasks_destroy(tasks);
    mesh_free(&m);
    /* Entries that floats cannot hold. */
    test_graph lone = make_grid(1, 1, 1, false);
    test_matrix huge = make_matrix(&lone, 1.0, &r);
    huge.diagonal[0] = 1e-90;
    assert_int_equal(bad_node_of(&lone, &huge, NULL), 0);
    graph_free(&lone);
    matrix_free(&huge);
}

/* With little mass and no support the mean is badly determined, everything else is not. */
static void nearly_singular_matrices_are_solved(void **state)
{
    (void)state;
    random_state r = {31};
    mesh m = make_mesh(8, 8, 12, 1.0, &r);
    for (int i = 0; i < m.graph.n; i++)
        m.matrix.diagonal[i] -= m.matrix.row_sum[i] * (1.0 - 1e-5);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_supernodal *f = make_factor(&memory, &m.graph, &m.matrix, NULL, NULL);
    assert_solves(&memory, &m.graph, &m.matrix, f, 2, 1e-5, &r);
    pl_supernodal_destroy(&memory, f);
    mesh_free(&m);
}

static void assert_refused(int n, const int *start, const int *neighbour)
{
    static const double diagonal[4] = {9, 9, 9, 9}, value[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_supernodal *f;
    int bad = -2;
    assert_int_equal(
        pl_supernodal_create(&memory, n, start, neighbour, diagonal, value, NULL, NULL, &f, &bad),
        PL_ERROR_ARGUMENT);
    assert_int_equal(bad, -1);
    assert_null(f);
    assert_int_equal(memory.used, 0);
}

static void bad_graphs_are_refused(void **state)
{
    (void)state;
    const int start[] = {0, 1, 3, 4}, good[] = {1, 0, 2, 1};
    const int out_of_range[] = {1, 0, 3, 1}, negative[] = {-1, 0, 2, 1}, loop[] = {1, 1, 2, 1};
    const int twice[] = {1, 0, 0, 1}, one_way[] = {1, 0, 2, 0}, wrong_pairs[] = {2, 0, 2, 1};
    const int decreasing[] = {0, 3, 1, 4}, late[] = {1, 1, 3, 4};
    assert_refused(3, start, out_of_range);
    assert_refused(3, start, negative);
    assert_refused(3, start, loop);
    assert_refused(3, start, twice);
    assert_refused(3, start, one_way);
    assert_refused(3, start, wrong_pairs);
    assert_refused(3, decreasing, good);
    assert_refused(3, late, good);
    assert_refused(-1, start, good);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    random_state r = {32};
    mesh m = make_mesh(7, 8, 9, 1.0, &r);
    pl_memory others;
    pl_memory_init(&others, NULL, 0);
    pl_tasks *tasks = pl_tasks_create(NULL, 3, &others);
    for (int round = 0; round < 2; round++) {
        pl_status status = PL_ERROR_MEMORY;
        for (int fail = 0; status != PL_OK; fail++) {
            pl_memory memory;
            pl_memory_init(&memory, NULL, 0);
            memory.fail_at = fail;
            pl_supernodal *f;
            int bad = -2;
            status = pl_supernodal_create(
                &memory, m.graph.n, m.graph.start, m.graph.neighbour, m.matrix.diagonal,
                m.matrix.value, (const double(*)[3])m.points, round ? tasks : NULL, &f, &bad);
            assert_int_equal(bad, -1);
            assert_true(status == PL_OK ? fail > 30
                                        : status == PL_ERROR_MEMORY && !f && fail < 400);
            pl_supernodal_destroy(&memory, f);
            assert_int_equal(memory.used, 0);
        }
    }
    pl_tasks_destroy(tasks);
    mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_of_all_kinds_are_solved),
        cmocka_unit_test(solutions_are_those_of_other_solvers),
        cmocka_unit_test(large_meshes_are_solved),
        cmocka_unit_test(dissection_beats_minimum_degree),
        cmocka_unit_test(entries_are_counted),
        cmocka_unit_test(widths_and_threads_give_equal_bits),
        cmocka_unit_test(side_by_side_gives_the_bits_of_alone),
        cmocka_unit_test(bits_are_the_known_ones),
        cmocka_unit_test(odd_shapes_are_solved),
        cmocka_unit_test(matrices_that_are_not_definite_are_refused),
        cmocka_unit_test(nearly_singular_matrices_are_solved),
        cmocka_unit_test(bad_graphs_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
