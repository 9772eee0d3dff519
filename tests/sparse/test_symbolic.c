/* The symbolic analysis: the pattern of L against a dense elimination, the two forms against each
   other, bad input. */
#include "sparse_cases.h"

/* The pattern of L by brute force: eliminating a pivot connects all of its later neighbours. */
static char *dense_pattern(const test_graph *g, const pl_symbolic *s)
{
    size_t n = (size_t)g->n;
    char *a = calloc(n * n + 1, 1);
    for (int i = 0; i < g->n; i++)
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            a[(size_t)s->inverse[i] * n + (size_t)s->inverse[g->neighbour[p]]] = 1;
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = k + 1; j < n && a[i * n + k]; j++)
                a[i * n + j] |= i != j && a[j * n + k];
    return a;
}

static void assert_forms_agree(const pl_symbolic *s)
{
    assert_int_equal(s->row_start[s->n], s->nnz);
    assert_int_equal(s->col_start[s->n], s->nnz);
    for (int k = 0; k < s->n; k++) {
        for (int64_t p = s->row_start[k]; p < s->row_start[k + 1]; p++) {
            int c = s->row_index[p];
            int64_t q = s->row_to_col[p];
            assert_true(c < k && (p == s->row_start[k] || s->row_index[p - 1] < c));
            assert_true(q >= s->col_start[c] && q < s->col_start[c + 1]);
            assert_int_equal(s->col_index[q], k);
        }
        for (int64_t p = s->col_start[k] + 1; p < s->col_start[k + 1]; p++)
            assert_true(s->col_index[p - 1] < s->col_index[p]);
        bool root = s->col_start[k] == s->col_start[k + 1];
        assert_int_equal(s->parent[k], root ? -1 : s->col_index[s->col_start[k]]);
    }
}

static void assert_edges_are_mapped(const test_graph *g, const pl_symbolic *s)
{
    for (int i = 0; i < g->n; i++) {
        assert_int_equal(s->perm[s->inverse[i]], i);
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            int row = s->inverse[i], column = s->inverse[g->neighbour[p]];
            if (row < column) {
                assert_int_equal(s->entry[p], -1);
                continue;
            }
            assert_true(s->entry[p] >= s->col_start[column] &&
                        s->entry[p] < s->col_start[column + 1]);
            assert_int_equal(s->col_index[s->entry[p]], row);
        }
    }
}

/* Inside a run each column has its own later pivots and then the rows of the last one. */
static void assert_runs(const pl_symbolic *s)
{
    assert_int_equal(s->super_start[s->super_count], s->n);
    for (int r = 0; r < s->super_count; r++) {
        int end = s->super_start[r + 1];
        assert_true(s->super_start[r] < end);
        for (int k = s->super_start[r]; k < end; k++) {
            int64_t own = end - 1 - k, tail = s->col_start[end] - s->col_start[end - 1];
            assert_int_equal(s->super_of[k], r);
            assert_int_equal(s->col_start[k + 1] - s->col_start[k], own + tail);
            for (int64_t i = 0; i < own; i++)
                assert_int_equal(s->col_index[s->col_start[k] + i], k + 1 + i);
            for (int64_t i = 0; i < tail; i++)
                assert_int_equal(s->col_index[s->col_start[k] + own + i],
                                 s->col_index[s->col_start[end - 1] + i]);
        }
    }
}

static void patterns_match_a_dense_elimination(void **state)
{
    (void)state;
    random_state r = {11};
    for (int round = 0; round < 2200; round++) {
        test_graph g = make_graph(round % GRAPH_KINDS,
                                  round < 220 ? round / GRAPH_KINDS : random_below(&r, 40), &r);
        int natural[64];
        for (int i = 0; i < g.n; i++)
            natural[i] = i;
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_symbolic *s;
        const int *order = round % 3 ? NULL : natural;
        assert_int_equal(pl_symbolic_create(&memory, g.n, g.start, g.neighbour, order, &s), PL_OK);
        assert_int_equal(s->edge_count, g.start[g.n] / 2);
        char *a = dense_pattern(&g, s);
        int64_t entries = 0;
        for (int i = 0; i < g.n; i++)
            for (int j = 0; j < i; j++)
                entries += a[i * g.n + j];
        assert_int_equal(entries, s->nnz);
        for (int k = 0; k < g.n; k++)
            for (int64_t p = s->row_start[k]; p < s->row_start[k + 1]; p++)
                assert_true(a[k * g.n + s->row_index[p]]);
        assert_forms_agree(s);
        assert_edges_are_mapped(&g, s);
        assert_runs(s);
        free(a);
        pl_symbolic_destroy(&memory, s);
        assert_int_equal(memory.used, 0);
        graph_free(&g);
    }
}

/* A given order keeps its fill: the postorder only rearranges it. */
static void a_chain_in_natural_order_stays(void **state)
{
    (void)state;
    random_state r = {1};
    test_graph g = make_graph(0, 50, &r);
    int order[50];
    for (int i = 0; i < 50; i++)
        order[i] = i;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    assert_int_equal(pl_symbolic_create(&memory, 50, g.start, g.neighbour, order, &s), PL_OK);
    for (int i = 0; i < 50; i++)
        assert_int_equal(s->perm[i], i);
    assert_int_equal(s->nnz, 49);
    pl_symbolic_destroy(&memory, s);
    graph_free(&g);
}

static void assert_refused(int n, const int *start, const int *neighbour, const int *order)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    assert_int_equal(pl_symbolic_create(&memory, n, start, neighbour, order, &s),
                     PL_ERROR_ARGUMENT);
    assert_null(s);
    assert_int_equal(memory.used, 0);
}

static void bad_graphs_are_refused(void **state)
{
    (void)state;
    const int start[] = {0, 1, 3, 4}, good[] = {1, 0, 2, 1};
    const int out_of_range[] = {1, 0, 3, 1}, negative[] = {-1, 0, 2, 1}, loop[] = {1, 1, 2, 1};
    const int twice[] = {1, 0, 0, 1}, one_way[] = {1, 0, 2, 0}, wrong_pairs[] = {2, 0, 2, 1};
    const int decreasing[] = {0, 3, 1, 4}, late[] = {1, 1, 3, 4};
    const int not_permutation[] = {0, 1, 1}, order_out[] = {0, 1, 3};
    assert_refused(3, start, out_of_range, NULL);
    assert_refused(3, start, negative, NULL);
    assert_refused(3, start, loop, NULL);
    assert_refused(3, start, twice, NULL);
    assert_refused(3, start, one_way, NULL);
    assert_refused(3, start, wrong_pairs, NULL);
    assert_refused(3, decreasing, good, NULL);
    assert_refused(3, late, good, NULL);
    assert_refused(3, start, good, not_permutation);
    assert_refused(3, start, good, order_out);
    assert_refused(-1, start, good, NULL);
}

/* Any list of numbers is either refused or analysed: random bytes must not lead out of the arrays.
 */
static void random_lists_are_refused_or_analysed(void **state)
{
    (void)state;
    random_state r = {12};
    for (int round = 0; round < 20000; round++) {
        int n = 1 + random_below(&r, 5), start[7] = {0}, neighbour[32];
        for (int i = 0; i < n; i++)
            start[i + 1] = start[i] + random_below(&r, n);
        for (int p = 0; p < start[n]; p++)
            neighbour[p] = random_below(&r, n);
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_symbolic *s;
        if (pl_symbolic_create(&memory, n, start, neighbour, NULL, &s) == PL_OK)
            assert_forms_agree(s);
        pl_symbolic_destroy(&memory, s);
        assert_int_equal(memory.used, 0);
    }
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    test_graph g = make_grid(5, 4, 2, true);
    pl_status status = PL_ERROR_MEMORY;
    for (int fail = 0; status != PL_OK; fail++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_symbolic *s;
        status = pl_symbolic_create(&memory, g.n, g.start, g.neighbour, NULL, &s);
        assert_true(status == PL_OK ? fail > 20 : status == PL_ERROR_MEMORY && !s && fail < 200);
        pl_symbolic_destroy(&memory, s);
        assert_int_equal(memory.used, 0);
    }
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_a_dense_elimination),
        cmocka_unit_test(a_chain_in_natural_order_stays),
        cmocka_unit_test(bad_graphs_are_refused),
        cmocka_unit_test(random_lists_are_refused_or_analysed),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
