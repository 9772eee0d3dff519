/* Points in tetrahedra: against looking at every tetrahedron, on faces and corners, far away, in
   flat ones, bad input. Label: slow. */
#include "tetrahedra_cases.h"

#include "base/clock.h"
#include "shape/inside_parts.h"
#include "surface_cases.h"

static void make_torus_tets(case_body *body, int count, pl_tets *tets)
{
    case_mesh mesh = {0};
    pl_error error = {0};
    case_torus(&mesh, 1, 0.4, 40, 20);
    pl_mesh view = case_view(&mesh);
    body_make(body, &view);
    if (pl_tetrahedralise(&body->memory, body->surface, body->inside, count, tets, &error) != PL_OK)
        fail_msg("%s", error.text);
    case_free(&mesh);
}

static void embed(pl_memory *memory, const pl_tets *tets, int count, const double *query,
                  int32_t *tet, float *b)
{
    pl_error error = {0};
    if (pl_embed(memory, tets->point_count, tets->points, tets->tet_count, tets->tets, count, query,
                 tet, b, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        assert_in_range(tet[i], 0, tets->tet_count - 1);
        for (int c = 0; c < 4; c++) {
            sum += (double)b[4 * i + c];
            assert_true(fabs((double)b[4 * i + c]) <= PL_EMBED_LIMIT);
        }
        assert_true(fabs(sum - 1) < 2e-5);
    }
}

/* How far the point made from the coordinates is from the query. */
static double miss(const pl_tets *tets, int32_t tet, const float b[4], const double q[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double x = -q[k];
        for (int c = 0; c < 4; c++)
            x += (double)b[c] * tets->points[3 * tets->tets[4 * tet + c] + k];
        sum += x * x;
    }
    return sqrt(sum);
}

/* From a tetrahedron; 0 inside. */
static double distance_from(const pl_tets *tets, int32_t tet, const double q[3])
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double best = INFINITY;
    bool in = true;
    for (int f = 0; f < 4; f++) {
        double corner[3][3], closest[3];
        for (int c = 0; c < 3; c++)
            memcpy(corner[c], &tets->points[3 * tets->tets[4 * tet + faces[f][c]]],
                   sizeof corner[c]);
        in = in && tet_volume(corner[0], corner[1], corner[2], q) <= 0;
        best = fmin(best, pl_inside_triangle_closest((const double(*)[3])corner, q, closest));
    }
    return in ? 0 : sqrt(best);
}

static void check_against_all(const pl_tets *tets, int count, const double *query,
                              const int32_t *tet, const float *b, double *inside_part)
{
    int inside = 0;
    for (int i = 0; i < count; i++) {
        const double *q = &query[3 * i];
        double nearest = INFINITY;
        for (int t = 0; t < tets->tet_count; t++)
            nearest = fmin(nearest, distance_from(tets, t, q));
        assert_true(distance_from(tets, tet[i], q) <= nearest + 1e-9);
        float least = 1;
        for (int c = 0; c < 4; c++)
            least = fminf(least, b[4 * i + c]);
        if (nearest == 0)
            assert_true(least > -1e-6f);
        if (nearest < 0.3)
            assert_true(miss(tets, tet[i], &b[4 * i], q) < 3e-5);
        inside += nearest == 0;
    }
    *inside_part = (double)inside / count;
}

static void agrees_with_looking_at_all(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    case_body body;
    pl_tets tets;
    pl_rng rng = pl_rng_make(1);
    static double query[3 * COUNT];
    static int32_t tet[COUNT];
    static float b[4 * COUNT];
    double part;
    make_torus_tets(&body, 2000, &tets);
    for (int i = 0; i < 3 * COUNT; i++)
        query[i] = (i % 3 == 2 ? 0.6 : 1.6) * (2 * pl_random_double(&rng) - 1);
    embed(&body.memory, &tets, COUNT, query, tet, b);
    check_against_all(&tets, COUNT, query, tet, b, &part);
    assert_true(part > 0.2 && part < 0.8);
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
}

/* Corners, middles of edges and of faces: where rounding could say that nobody has them. */
static void nothing_falls_between(void **state)
{
    (void)state;
    case_body body;
    pl_tets tets;
    make_torus_tets(&body, 3000, &tets);
    int count = 15 * tets.tet_count;
    double *query = malloc((size_t)count * 3 * sizeof *query);
    int32_t *tet = malloc((size_t)count * sizeof *tet);
    float *b = malloc((size_t)count * 4 * sizeof *b);
    for (int i = 0; i < count; i++) /* each set of corners of each tetrahedron: their middle */
        for (int k = 0; k < 3; k++) {
            double sum = 0, corners = 0;
            for (int c = 0; c < 4; c++)
                if ((i % 15 + 1) >> c & 1) {
                    sum += tets.points[3 * tets.tets[i / 15 * 4 + c] + k];
                    corners += 1;
                }
            query[3 * i + k] = sum / corners;
        }
    embed(&body.memory, &tets, count, query, tet, b);
    for (int i = 0; i < count; i++) {
        assert_true(miss(&tets, tet[i], &b[4 * i], &query[3 * i]) < 1e-6);
        for (int c = 0; c < 4; c++)
            assert_true(b[4 * i + c] > -1e-6f);
        assert_true(i % 15 != 14 || tet[i] == i / 15);
    }
    free(query);
    free(tet);
    free(b);
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
}

static void far_away_and_odd_scales(void **state)
{
    (void)state;
    static const double scales[] = {1, 1e-300, 1e-30, 1e30, 1e300};
    static const double far[] = {0, 1, 5, 1e3, 1e6, 1e30, 1e300, 1.7e308};
    case_body body;
    pl_tets tets;
    make_torus_tets(&body, 300, &tets);
    for (int s = 0; s < 5; s++) {
        pl_tets scaled = tets;
        scaled.points = malloc((size_t)tets.point_count * 3 * sizeof(double));
        for (int i = 0; i < 3 * tets.point_count; i++)
            scaled.points[i] = tets.points[i] * scales[s];
        for (int f = 0; f < 8; f++) {
            double query[6] = {far[f] * scales[s], 0.1 * scales[s], -far[f], far[f], -far[f], 0};
            for (int k = 0; k < 6; k++)
                query[k] = fmin(fmax(query[k], -1.7e308), 1.7e308);
            int32_t tet[2];
            float b[8];
            embed(&body.memory, &scaled, 2, query, tet, b);
        }
        free(scaled.points);
    }
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
}

static void flat_tetrahedra_do_no_harm(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(9);
    for (int i = 0; i < 20000; i++) {
        double points[24], query[9];
        int32_t corners[12], tet[3];
        float b[12];
        uint32_t grid = 1 + pl_random_below(&rng, 4); /* many coincide, many lie in a plane */
        for (int k = 0; k < 24; k++)
            points[k] = (double)pl_random_below(&rng, grid);
        for (int k = 0; k < 12; k++)
            corners[k] = (int32_t)pl_random_below(&rng, 8);
        for (int k = 0; k < 9; k++)
            query[k] = 4 * pl_random_double(&rng) - 1;
        pl_tets tets = {8, 3, points, corners};
        embed(&memory, &tets, 3, query, tet, b);
        for (int q = 0; q < 3; q++)
            for (int t = 0; t < 3; t++) {
                const int32_t *c = &corners[4 * t];
                double volume = tet_volume(&points[3 * c[0]], &points[3 * c[1]], &points[3 * c[2]],
                                           &points[3 * c[3]]);
                if (volume > 0)
                    assert_true(distance_from(&tets, t, &query[3 * q]) > 0 ||
                                miss(&tets, tet[q], &b[4 * q], &query[3 * q]) < 1e-5);
            }
    }
    assert_int_equal(memory.used, 0);
}

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    pl_memory memory;
    pl_error error = {0};
    pl_memory_init(&memory, NULL, 0);
    double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, query[3] = {0.1, 0.1, 0.1};
    int32_t tets[4] = {0, 1, 2, 3}, tet = 7;
    float b[4];
    assert_int_equal(pl_embed(&memory, 4, points, 1, tets, 1, query, &tet, b, &error), PL_OK);
    assert_int_equal(tet, 0);
    assert_int_equal(pl_embed(&memory, 4, points, 1, tets, 0, NULL, NULL, NULL, &error), PL_OK);
    assert_int_equal(pl_embed(&memory, 4, points, 0, tets, 1, query, &tet, b, &error),
                     PL_ERROR_ARGUMENT);
    assert_int_equal(pl_embed(&memory, 3, points, 1, tets, 1, query, &tet, b, &error),
                     PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "tets[0]");
    query[1] = NAN;
    assert_int_equal(pl_embed(&memory, 4, points, 1, tets, 1, query, &tet, b, &error),
                     PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "query[0]");
    query[1] = 0;
    points[5] = INFINITY;
    assert_int_equal(pl_embed(&memory, 4, points, 1, tets, 1, query, &tet, b, &error),
                     PL_ERROR_ARGUMENT);
    points[5] = 0;
    pl_status status = PL_ERROR_MEMORY;
    for (int i = 0; status != PL_OK && i < 100; i++) {
        memory.fail_at = (int64_t)memory.allocations + i;
        status = pl_embed(&memory, 4, points, 1, tets, 1, query, &tet, b, &error);
        assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
        assert_int_equal(memory.used, 0);
    }
    assert_int_equal(status, PL_OK);
}

static void takes_little_time(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    case_body body;
    pl_tets tets;
    pl_rng rng = pl_rng_make(4);
    double *query = malloc(3 * COUNT * sizeof *query);
    int32_t *tet = malloc(COUNT * sizeof *tet);
    float *b = malloc(4 * COUNT * sizeof *b);
    make_torus_tets(&body, 50000, &tets);
    /* On the surface and about it, as a skin is. */
    for (int i = 0; i < COUNT; i++) {
        double u = 2 * M_PI * pl_random_double(&rng), v = 2 * M_PI * pl_random_double(&rng);
        double r = 0.4 + 0.02 * (pl_random_double(&rng) - 0.5);
        query[3 * i] = (1 + r * cos(v)) * cos(u);
        query[3 * i + 1] = (1 + r * cos(v)) * sin(u);
        query[3 * i + 2] = r * sin(v);
    }
    uint64_t start = pl_clock_ns();
    embed(&body.memory, &tets, COUNT, query, tet, b);
    print_message("%d points in %d tetrahedra: %.2f s\n", COUNT, tets.tet_count,
                  1e-9 * (double)(pl_clock_ns() - start));
    for (int i = 0; i < COUNT; i++)
        assert_true(miss(&tets, tet[i], &b[4 * i], &query[3 * i]) < 1e-5);
    free(query);
    free(tet);
    free(b);
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_looking_at_all), cmocka_unit_test(nothing_falls_between),
        cmocka_unit_test(far_away_and_odd_scales),    cmocka_unit_test(flat_tetrahedra_do_no_harm),
        cmocka_unit_test(refuses_what_is_wrong),      cmocka_unit_test(takes_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
