/* Pins: solutions corrected with float columns against dense and CHOLMOD solutions of the changed
   matrix, in any order of additions and removals, with duplicates, with extreme strengths, with
   fixed particles. */
#include "sparse_cases.h"

typedef struct body {
    pl_memory memory;
    test_graph graph;
    test_matrix matrix;
    pl_symbolic *symbolic;
    pl_factor *factor;
    pl_pins *pins;
} body;

static void body_finish(body *b, bool mean)
{
    const test_graph *g = &b->graph;
    pl_memory_init(&b->memory, NULL, 0);
    assert_int_equal(
        pl_symbolic_create(&b->memory, g->n, g->start, g->neighbour, NULL, &b->symbolic), PL_OK);
    assert_int_equal(pl_factor_create(&b->memory, b->symbolic, b->matrix.diagonal, b->matrix.value,
                                      &b->factor, NULL),
                     PL_OK);
    b->pins = pl_pins_create(&b->memory, b->factor, mean ? b->matrix.row_sum : NULL, 2);
    assert_non_null(b->pins);
}

static void body_free(body *b)
{
    pl_pins_destroy(b->pins);
    pl_factor_destroy(&b->memory, b->factor);
    pl_symbolic_destroy(&b->memory, b->symbolic);
    assert_int_equal(b->memory.used, 0);
    matrix_free(&b->matrix);
    graph_free(&b->graph);
}

/* Skin weights on up to 8 particles, positive and of sum one; strength relative to the diagonal. */
static pl_rank_one random_pin(const body *b, double strength, random_state *r)
{
    pl_rank_one pin = {.count = 1 + random_below(r, PL_PIN_TERMS)};
    pin.count = pin.count > b->graph.n ? b->graph.n : pin.count;
    double sum = 0.0;
    for (int k = 0; k < pin.count; k++) {
        for (bool fresh = false; !fresh;) {
            fresh = true;
            pin.node[k] = random_below(r, b->graph.n);
            for (int j = 0; j < k; j++)
                fresh = fresh && pin.node[j] != pin.node[k];
        }
        sum += pin.weight[k] = 0.05 + random_unit(r);
    }
    for (int k = 0; k < pin.count; k++) {
        pin.weight[k] /= sum;
        pin.strength += strength * pin.weight[k] * b->matrix.diagonal[pin.node[k]];
    }
    return pin;
}

static double dot(const pl_rank_one *pin, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < pin->count; k++)
        sum += pin->weight[k] * x[pin->node[k]];
    return sum;
}

/* x = L'⁻¹ (right + Σ w a error) as pins.h describes it, the columns in float. */
static void solve_pinned(const body *b, const double *right, const double *error, double *x)
{
    const pl_pins *p = b->pins;
    size_t n = (size_t)b->graph.n;
    double *work = malloc((n + 1) * sizeof *work), s[64], mean = 0.0;
    memcpy(x, right, n * sizeof *x);
    pl_factor_solve(b->factor, x, 1, 1, work);
    for (int c = 0; c < p->count; c++)
        s[c] = error[c] - dot(&p->pins[c], x);
    pl_pins_solve(p, s, 1, 1);
    for (int c = 0; c < p->count; c++)
        mean += s[c] * p->mean[c];
    for (size_t i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int c = 0; c < p->count; c++)
            sum += (float)s[c] * p->columns[(size_t)c * n + i];
        x[i] += mean + (double)sum;
    }
    free(work);
}

/* Largest distance from the dense solution of the changed matrix; `limit` bounds the strengths it
   sees. */
static double distance_to_dense(const body *b, random_state *r, double limit)
{
    const pl_pins *p = b->pins;
    size_t n = (size_t)b->graph.n;
    double *a = make_dense(&b->graph, &b->matrix), worst = 0.0;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y),
           *right = malloc(n * sizeof *right), error[64] = {0};
    for (size_t i = 0; i < n; i++)
        y[i] = right[i] = b->matrix.row_sum[i] * (random_unit(r) - 0.5);
    for (int c = 0; c < p->count; c++) {
        const pl_rank_one *pin = &p->pins[c];
        double w = pin->strength < limit ? pin->strength : limit;
        error[c] = random_unit(r) - 0.5;
        for (int i = 0; i < pin->count; i++) {
            y[pin->node[i]] += w * pin->weight[i] * error[c];
            for (int j = 0; j < pin->count; j++)
                a[(size_t)pin->node[i] * n + (size_t)pin->node[j]] +=
                    w * pin->weight[i] * pin->weight[j];
        }
    }
    dense_solve(n, a, y, 1);
    solve_pinned(b, right, error, x);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(x[i] - y[i]));
    free(a);
    free(x);
    free(y);
    free(right);
    return worst;
}

static const int connected_kinds[] = {0, 1, 2, 3, 4, 5, 6, 10};

static void random_body(body *b, int round, int n, double kappa, random_state *r)
{
    b->graph = make_graph(connected_kinds[round % 8], n, r);
    b->matrix = make_matrix(&b->graph, kappa, r);
    body_finish(b, true);
}

static void pinned_bodies_match_the_dense_solution(void **state)
{
    (void)state;
    random_state r = {31};
    const double kappas[] = {1e-2, 1.0, 1e3, 1e5}, strengths[] = {1e-6, 0.01, 1.0, 100.0, 1e4};
    double worst = 0.0;
    for (int round = 0; round < 960; round++) {
        body b;
        random_body(&b, round, 1 + random_below(&r, 40), kappas[round / 8 % 4], &r);
        for (int c = random_below(&r, 7); c >= 0; c--) {
            pl_rank_one pin = random_pin(&b, strengths[random_below(&r, 5)], &r);
            assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        }
        worst = fmax(worst, distance_to_dense(&b, &r, INFINITY));
        assert_true(worst < 1e-4);
        body_free(&b);
    }
    print_message("largest distance %.1e spacings\n", worst);
}

/* Everything that follows from the list, and nothing else, in comparable form. */
static void assert_same_pins(const pl_pins *a, const pl_pins *b)
{
    size_t n = (size_t)a->factor->symbolic->n;
    assert_int_equal(a->count, b->count);
    for (int c = 0; c < a->count; c++) {
        assert_memory_equal(a->columns + (size_t)c * n, b->columns + (size_t)c * n,
                            n * sizeof(float));
        assert_memory_equal(&a->mean[c], &b->mean[c], sizeof(double));
        assert_memory_equal(&a->share[c], &b->share[c], sizeof(double));
        assert_int_equal(a->twin[c], b->twin[c]);
        size_t bytes = ((size_t)c + 1) * sizeof(double);
        assert_memory_equal(a->gram + c * a->capacity, b->gram + c * b->capacity, bytes);
        assert_memory_equal(a->small + c * a->capacity, b->small + c * b->capacity, bytes);
    }
}

static void history_leaves_no_trace(void **state)
{
    (void)state;
    random_state r = {32};
    for (int round = 0; round < 80; round++) {
        body b;
        random_body(&b, round, 2 + random_below(&r, 40), 1e5, &r);
        for (int change = 0; change < 30; change++) {
            int kind = random_below(&r, 10), count = b.pins->count;
            if (kind < 5 || !count) {
                pl_rank_one pin = random_pin(&b, 1.0, &r);
                if (kind == 0 && count) { /* a duplicate, perhaps of another strength */
                    double strength = pin.strength;
                    pin = b.pins->pins[random_below(&r, count)];
                    pin.strength = random_below(&r, 2) ? strength : pin.strength;
                }
                assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
            } else if (kind < 9) {
                pl_pins_remove(b.pins, random_below(&r, count));
            } else {
                assert_true(
                    pl_pins_set_strength(b.pins, random_below(&r, count), 1.0 + random_unit(&r)));
            }
            pl_pins *fresh = pl_pins_create(&b.memory, b.factor, b.matrix.row_sum, 32);
            for (int c = 0; c < b.pins->count; c++)
                assert_int_equal(pl_pins_add(fresh, &b.pins->pins[c]), PL_OK);
            assert_same_pins(b.pins, fresh);
            pl_pins_destroy(fresh);
        }
        assert_true(distance_to_dense(&b, &r, INFINITY) < 1e-4);
        pl_pins_clear(b.pins);
        assert_true(distance_to_dense(&b, &r, INFINITY) < 1e-10);
        body_free(&b);
    }
}

static void duplicates_may_disagree(void **state)
{
    (void)state;
    random_state r = {33};
    for (int round = 0; round < 240; round++) {
        body b;
        random_body(&b, round, 10, 1e5, &r);
        for (int c = 0; c < 3; c++) {
            pl_rank_one pin = random_pin(&b, round % 3 ? 1.0 : 1e4, &r);
            for (int twin = 0; twin <= c; twin++) {
                assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
                pin.strength *= 3.0;
            }
        }
        assert_int_equal(b.pins->twin[5], 3);
        assert_true(distance_to_dense(&b, &r, INFINITY) < 1e-4);
        body_free(&b);
    }
}

/* More pins than particles depend on each other without being equal. */
static void more_pins_than_particles(void **state)
{
    (void)state;
    random_state r = {34};
    for (int round = 0; round < 160; round++) {
        body b;
        random_body(&b, round, 1 + random_below(&r, 5), 1e3, &r);
        for (int c = 0; c < 9; c++) {
            pl_rank_one pin = random_pin(&b, 10.0, &r);
            assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        }
        assert_true(distance_to_dense(&b, &r, INFINITY) < 1e-4);
        body_free(&b);
    }
}

static void any_strength_works(void **state)
{
    (void)state;
    random_state r = {35};
    const double soft[] = {1e-300, 1e-30, 1e-9}, stiff[] = {1e9, 1e30, 1e290};
    for (int round = 0; round < 480; round++) {
        body b;
        random_body(&b, round, 30, 1e3, &r);
        for (int c = 0; c < 3; c++) {
            pl_rank_one pin =
                random_pin(&b, random_below(&r, 2) ? soft[round % 3] : stiff[round / 3 % 3], &r);
            assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        }
        /* Beyond this the reference loses its digits; the solution no longer changes. */
        assert_true(distance_to_dense(&b, &r, 1e12) < 1e-4);
        body_free(&b);
    }
}

/* Columns solve L Z = a, and their remainders have no weighted mean. */
static void columns_are_what_they_say(void **state)
{
    (void)state;
    random_state r = {36};
    for (int round = 0; round < 80; round++) {
        body b;
        random_body(&b, round, 2 + random_below(&r, 40), 1e5, &r);
        pl_rank_one pin = random_pin(&b, 1.0, &r);
        assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        double z[64] = {0}, work[64], mean = 0.0, size = 0.0, total = 0.0, largest = 0.0;
        for (int k = 0; k < pin.count; k++)
            z[pin.node[k]] = pin.weight[k];
        pl_factor_solve(b.factor, z, 1, 1, work);
        for (int i = 0; i < b.graph.n; i++) {
            mean += b.matrix.row_sum[i] * (double)b.pins->columns[i];
            size += b.matrix.row_sum[i] * fabs((double)b.pins->columns[i]);
            total += b.matrix.row_sum[i];
            largest = fmax(largest, fabs(z[i]));
        }
        assert_true(fabs(mean) <= 1e-6 * size);
        assert_true(fabs(b.pins->mean[0] * total - 1.0) < 1e-14);
        for (int i = 0; i < b.graph.n; i++)
            assert_true(fabs(b.pins->mean[0] + (double)b.pins->columns[i] - z[i]) < 1e-7 * largest);
        body_free(&b);
    }
}

/* Fixed particles are unit rows; there is no mean to take out, and they do not move. */
static void bodies_with_fixed_particles(void **state)
{
    (void)state;
    random_state r = {37};
    for (int round = 0; round < 160; round++) {
        body b = {.graph = make_grid(6, 5, 1, true)};
        b.matrix = make_matrix(&b.graph, 1e4, &r);
        const test_graph *g = &b.graph;
        for (int i = 0; i < g->n; i++) {
            for (int p = g->start[i]; p < g->start[i + 1]; p++)
                if (i < 3 || g->neighbour[p] < 3)
                    b.matrix.value[p] = 0.0;
            b.matrix.diagonal[i] = i < 3 ? 1.0 : b.matrix.diagonal[i];
        }
        body_finish(&b, false);
        for (int c = 0; c < 4; c++) {
            pl_rank_one pin = random_pin(&b, 1.0, &r);
            for (int k = 0; k < pin.count; k++)
                pin.weight[k] *= pin.node[k] >= 3;
            if (pin.strength > 100.0 && dot(&pin, b.matrix.row_sum) > 0.0)
                assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        }
        assert_true(distance_to_dense(&b, &r, INFINITY) < 1e-4);
        for (int c = 0; c < b.pins->count; c++) {
            assert_true(b.pins->mean[c] == 0.0);
            for (int i = 0; i < 3; i++)
                assert_true(b.pins->columns[c * g->n + i] == 0.0f);
        }
        body_free(&b);
    }
}

static void several_right_hand_sides_are_solved_as_one(void **state)
{
    (void)state;
    random_state r = {38};
    body b;
    random_body(&b, 6, 30, 1e3, &r);
    double t[6][4], one[6];
    for (int c = 0; c < 6; c++) {
        pl_rank_one pin = random_pin(&b, 1.0, &r);
        assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
        for (int k = 0; k < 4; k++)
            t[c][k] = c + 10.0 * k;
    }
    pl_pins_solve(b.pins, &t[0][0], 3, 4);
    for (int k = 0; k < 4; k++) {
        for (int c = 0; c < 6; c++)
            one[c] = c + 10.0 * k;
        if (k < 3)
            pl_pins_solve(b.pins, one, 1, 1);
        for (int c = 0; c < 6; c++)
            assert_true(t[c][k] == one[c]);
    }
    body_free(&b);
}

#ifdef PLIANT_HAVE_CHOLMOD
/* The body's matrix with all pins in it, as another sparse system. */
static void pinned_matrix(const body *b, test_graph *graph, test_matrix *matrix)
{
    const test_graph *g = &b->graph;
    edge_list list = {0};
    for (int i = 0; i < g->n; i++)
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            add_edge(&list, i, g->neighbour[p]);
    for (int c = 0; c < b->pins->count; c++) {
        const pl_rank_one *pin = &b->pins->pins[c];
        for (int i = 0; i < pin->count; i++)
            for (int j = 0; j < i; j++)
                add_edge(&list, pin->node[i], pin->node[j]);
    }
    random_state unused = {0};
    *graph = graph_from_edges(g->n, &list);
    *matrix = make_matrix(graph, 0.0, &unused);
    for (int i = 0; i < g->n; i++) {
        matrix->diagonal[i] = b->matrix.diagonal[i];
        for (int q = graph->start[i]; q < graph->start[i + 1]; q++) {
            matrix->value[q] = 0.0;
            for (int p = g->start[i]; p < g->start[i + 1]; p++)
                matrix->value[q] +=
                    g->neighbour[p] == graph->neighbour[q] ? b->matrix.value[p] : 0.0;
        }
    }
    for (int c = 0; c < b->pins->count; c++) {
        const pl_rank_one *pin = &b->pins->pins[c];
        for (int k = 0; k < pin->count; k++) {
            int i = pin->node[k];
            matrix->diagonal[i] += pin->strength * pin->weight[k] * pin->weight[k];
            for (int q = graph->start[i]; q < graph->start[i + 1]; q++)
                for (int j = 0; j < pin->count; j++)
                    if (j != k && pin->node[j] == graph->neighbour[q])
                        matrix->value[q] += pin->strength * pin->weight[k] * pin->weight[j];
        }
    }
}

static double distance_to_judge(const body *b, random_state *r)
{
    size_t n = (size_t)b->graph.n;
    test_graph graph;
    test_matrix matrix;
    pinned_matrix(b, &graph, &matrix);
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y),
           *right = malloc(n * sizeof *right), error[64] = {0};
    double worst = 0.0;
    for (size_t i = 0; i < n; i++)
        y[i] = right[i] = b->matrix.row_sum[i] * (random_unit(r) - 0.5);
    for (int c = 0; c < b->pins->count; c++) {
        const pl_rank_one *pin = &b->pins->pins[c];
        error[c] = random_unit(r) - 0.5;
        for (int k = 0; k < pin->count; k++)
            y[pin->node[k]] += pin->strength * pin->weight[k] * error[c];
    }
    cholmod_judge(&graph, &matrix, y);
    solve_pinned(b, right, error, x);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(x[i] - y[i]));
    free(x);
    free(y);
    free(right);
    matrix_free(&matrix);
    graph_free(&graph);
    return worst;
}
#endif

static void dragged_bodies_match_the_judge(void **state)
{
    (void)state;
#ifdef PLIANT_HAVE_CHOLMOD
    random_state r = {39};
    const double kappas[] = {333.0, 1e4, 1e5};
    for (int k = 0; k < 9; k++) {
        body b = {.graph = k < 3   ? make_grid(30, 30, 1, true)
                           : k < 6 ? make_graph(0, 100, &r)
                                   : make_grid(8, 8, 8, false)};
        b.matrix = make_matrix(&b.graph, kappas[k % 3], &r);
        body_finish(&b, true);
        double worst = 0.0;
        for (int change = 0; change < 24; change++) {
            if (b.pins->count && random_below(&r, 3) == 0) {
                pl_pins_remove(b.pins, random_below(&r, b.pins->count));
            } else {
                pl_rank_one pin = random_pin(&b, random_below(&r, 2) ? 1.0 : 100.0, &r);
                assert_int_equal(pl_pins_add(b.pins, &pin), PL_OK);
            }
            worst = fmax(worst, distance_to_judge(&b, &r));
        }
        print_message("n %3d  k h2 / rho %6.0f: largest distance %.1e spacings\n", b.graph.n,
                      kappas[k % 3], worst);
        assert_true(worst < 1e-4);
        body_free(&b);
    }
#else
    skip();
#endif
}

static void bad_pins_are_refused(void **state)
{
    (void)state;
    random_state r = {40};
    body b;
    random_body(&b, 6, 30, 1.0, &r);
    pl_rank_one good = {.count = 2, .node = {3, 4}, .weight = {0.5, 0.5}, .strength = 1.0};
    pl_rank_one bad[10];
    for (int k = 0; k < 10; k++)
        bad[k] = good;
    bad[0].count = 0;
    bad[1].count = PL_PIN_TERMS + 1;
    bad[2].node[1] = b.graph.n;
    bad[3].node[1] = -1;
    bad[4].node[1] = 3;
    bad[5].weight[0] = NAN;
    bad[6].weight[0] = bad[6].weight[1] = 0.0;
    bad[7].strength = 0.0;
    bad[8].strength = INFINITY;
    bad[9].strength = NAN;
    for (int k = 0; k < 10; k++)
        assert_int_equal(pl_pins_add(b.pins, &bad[k]), PL_ERROR_ARGUMENT);
    assert_int_equal(b.pins->count, 0);
    assert_int_equal(pl_pins_add(b.pins, &good), PL_OK);
    assert_false(pl_pins_set_strength(b.pins, 0, -1.0));
    assert_false(pl_pins_set_strength(b.pins, 0, 1e-320));
    assert_true(b.pins->pins[0].strength == 1.0);
    body_free(&b);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    random_state r = {41};
    body b;
    random_body(&b, 6, 30, 1.0, &r);
    size_t before = b.memory.used;
    bool done = false;
    for (int fail = 0; !done; fail++) {
        b.memory.fail_at = (int64_t)b.memory.allocations + fail;
        pl_pins *pins = pl_pins_create(&b.memory, b.factor, b.matrix.row_sum, 0);
        assert_true(pins ? fail > 5 : fail < 50);
        for (int c = 0; c < 5 && pins; c++) {
            pl_rank_one pin = random_pin(&b, 1.0, &r);
            int count = pins->count;
            pl_status status = pl_pins_add(pins, &pin);
            assert_int_equal(pins->count, count + (status == PL_OK));
            assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
            done = c == 4 && status == PL_OK;
        }
        pl_pins_destroy(pins);
        assert_int_equal(b.memory.used, before);
    }
    b.memory.fail_at = -1;
    body_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_bodies_match_the_dense_solution),
        cmocka_unit_test(history_leaves_no_trace),
        cmocka_unit_test(duplicates_may_disagree),
        cmocka_unit_test(more_pins_than_particles),
        cmocka_unit_test(any_strength_works),
        cmocka_unit_test(columns_are_what_they_say),
        cmocka_unit_test(bodies_with_fixed_particles),
        cmocka_unit_test(several_right_hand_sides_are_solved_as_one),
        cmocka_unit_test(dragged_bodies_match_the_judge),
        cmocka_unit_test(bad_pins_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
