/* The minimum-degree order: a permutation for every graph, little fill, fast, and the same each
   time. */
#include "sparse_cases.h"

#include <time.h>

static double fill_of(const test_graph *g, const int *order)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    assert_int_equal(pl_symbolic_create(&memory, g->n, g->start, g->neighbour, order, &s), PL_OK);
    double fill = (double)s->nnz;
    pl_symbolic_destroy(&memory, s);
    assert_int_equal(memory.used, 0);
    return fill;
}

static void assert_permutation(int n, const int *order)
{
    char *seen = calloc((size_t)n + 1, 1);
    for (int k = 0; k < n; k++) {
        assert_in_range(order[k], 0, n - 1);
        assert_false(seen[order[k]]);
        seen[order[k]] = 1;
    }
    free(seen);
}

static int *order_of(const test_graph *g)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    int *order = malloc(((size_t)g->n + 1) * sizeof *order);
    assert_true(pl_order_minimum_degree(&memory, g->n, g->start, g->neighbour, order));
    assert_int_equal(memory.used, 0);
    assert_permutation(g->n, order);
    return order;
}

static void every_graph_gets_a_permutation(void **state)
{
    (void)state;
    random_state r = {1};
    for (int round = 0; round < 3300; round++) {
        int n = round < 330 ? round / GRAPH_KINDS : random_below(&r, 60);
        test_graph g = make_graph(round % GRAPH_KINDS, n, &r);
        free(order_of(&g));
        graph_free(&g);
    }
}

static void forests_and_cliques_have_the_least_fill(void **state)
{
    (void)state;
    random_state r = {2};
    for (int kind = 0; kind < 5; kind++) {
        for (int n = 3; n < 700; n = n * 3 / 2 + 1) {
            test_graph g = make_graph(kind, n, &r);
            int *order = order_of(&g);
            double edges = g.start[n] / 2;
            double least =
                kind == 1 && n > 3 ? edges + n - 3 : edges; /* a ring needs a chord per node */
            assert_true(fill_of(&g, order) == least);
            free(order);
            graph_free(&g);
        }
    }
}

static void dense_nodes_come_last(void **state)
{
    (void)state;
    random_state r = {3};
    test_graph g = make_graph(10, 2000, &r);
    int *order = order_of(&g);
    for (int hub = 0; hub < 3; hub++)
        assert_int_equal(order[2000 - 3 + hub], hub * 2000 / 3);
    assert_true(fill_of(&g, order) <= 5 * 2000);
    free(order);
    graph_free(&g);
}

static void the_order_is_reproducible(void **state)
{
    (void)state;
    test_graph g = make_geometric(3000, 12.0, 7);
    int *a = order_of(&g), *b = order_of(&g);
    assert_memory_equal(a, b, 3000 * sizeof *a);
    free(a);
    free(b);
    graph_free(&g);
}

static void fill_is_near_the_judge(void **state)
{
    (void)state;
#ifdef PLIANT_HAVE_CHOLMOD
    for (int k = 0; k < 9; k++) {
        test_graph g = k == 0   ? make_grid(16, 16, 1, false)
                       : k == 1 ? make_grid(100, 100, 1, false)
                       : k == 2 ? make_grid(100, 100, 1, true)
                       : k == 3 ? make_grid(300, 200, 1, false)
                       : k == 4 ? make_grid(16, 16, 16, false)
                       : k == 5 ? make_grid(10, 10, 10, true)
                       : k == 6 ? make_geometric(1000, 8.0, 5)
                       : k == 7 ? make_geometric(5000, 12.0, 6)
                                : make_geometric(20000, 6.0, 7);
        int *order = order_of(&g);
        double ours = fill_of(&g, order), theirs = amd_fill(&g);
        print_message("n %6d  fill %9.0f  AMD %9.0f  ratio %.3f\n", g.n, ours, theirs,
                      ours / theirs);
        assert_true(ours <= 1.15 * theirs);
        free(order);
        graph_free(&g);
    }
#else
    skip();
#endif
}

static void large_graphs_take_seconds_at_most(void **state)
{
    (void)state;
    test_graph g = make_grid(500, 400, 1, true);
    clock_t begin = clock();
    free(order_of(&g));
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("200,000 nodes, 8 neighbours: %.2f s\n", seconds);
    assert_true(seconds < 20.0); /* generous: sanitizers and busy machines */
    graph_free(&g);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    test_graph g = make_grid(5, 5, 1, true);
    int order[25];
    bool ok = false;
    for (int fail = 0; !ok; fail++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        ok = pl_order_minimum_degree(&memory, g.n, g.start, g.neighbour, order);
        assert_int_equal(memory.used, 0);
        assert_true(ok || fail < 100);
        assert_true(!ok || fail > 5);
    }
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_graph_gets_a_permutation),
        cmocka_unit_test(forests_and_cliques_have_the_least_fill),
        cmocka_unit_test(dense_nodes_come_last),
        cmocka_unit_test(the_order_is_reproducible),
        cmocka_unit_test(fill_is_near_the_judge),
        cmocka_unit_test(large_graphs_take_seconds_at_most),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
