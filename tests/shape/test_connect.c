/* Oriented graphs: no edge through the air, every component in one piece, ellipsoids that fill the
   body. Label: slow. */
#include "shape/connect.h"

#include "math/quat.h"
#include "sample_cases.h"

/* Every third body is looked at, every fifth in slow builds, all when there is time. */
#define SHAPE_STEP (check_is_thorough() ? 1 : check_is_slow_build() ? 5 : 3)

typedef struct graph_case {
    body_case *body;
    pl_samples samples;
    pl_graph_parts parts;
} graph_case;

static void sample(graph_case *graph, pl_cook_kind kind, const pl_sample_def *def)
{
    body_case *body = graph->body;
    pl_error error = {0};
    pl_status status =
        kind == PL_COOK_SOLID ? pl_sample_volume(&body->memory, body->surface, body->inside, def,
                                                 &graph->samples, &error)
        : kind == PL_COOK_SHELL
            ? pl_sample_surface(&body->memory, body->surface, def, &graph->samples, &error)
            : pl_sample_curves(&body->memory, body->surface, def, &graph->samples, &error);
    if (status != PL_OK)
        fail_msg("%s: %s", body->name, error.text);
}

static graph_case must_connect(body_case *body, pl_cook_kind kind, int count, int edges, int seed)
{
    graph_case graph = {.body = body};
    pl_sample_def def = {.count = count, .seed = (uint64_t)seed};
    pl_connect_def connect = {.kind = kind, .edge_count = edges};
    pl_error error = {0};
    if (pl_sample_and_connect(&body->memory, body->surface, body->inside, &def, &connect,
                              &graph.samples, &graph.parts, &error) != PL_OK)
        fail_msg("%s: %s", body->name, error.text);
    return graph;
}

static void graph_free(graph_case *graph)
{
    pl_samples_free(&graph->body->memory, &graph->samples);
    pl_graph_parts_free(&graph->body->memory, &graph->parts);
}

static double length_of(const pl_graph_parts *parts, int edge)
{
    const double *p = parts->positions + 3 * parts->edges[2 * edge],
                 *q = parts->positions + 3 * parts->edges[2 * edge + 1];
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

static int find(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins what edges join; returns the number of pieces. */
static int find_pieces(const pl_graph_parts *parts, int *parent)
{
    int pieces = parts->particle_count;
    for (int i = 0; i < parts->particle_count; i++)
        parent[i] = i;
    for (int e = 0; e < parts->edge_count; e++) {
        int a = find(parent, parts->edges[2 * e]), b = find(parent, parts->edges[2 * e + 1]);
        pieces -= a != b;
        parent[a] = b;
    }
    return pieces;
}

/* What holds of every graph. */
static void check_graph(const graph_case *graph)
{
    const pl_graph_parts *parts = &graph->parts;
    int n = parts->particle_count, *parent = malloc(sizeof(int) * (size_t)n);
    double mean = 0;
    assert_int_equal(n, graph->samples.count);
    assert_int_equal(find_pieces(parts, parent), parts->piece_count);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (graph->samples.component[i] == graph->samples.component[j])
                assert_int_equal(find(parent, i), find(parent, j));
    for (int e = 0; e < parts->edge_count; e++) {
        const int32_t *edge = parts->edges + 2 * e;
        assert_true(edge[0] >= 0 && edge[0] < edge[1] && edge[1] < n);
        if (e > 0)
            assert_true(edge[-2] < edge[0] || (edge[-2] == edge[0] && edge[-1] < edge[1]));
        mean += length_of(parts, e) / parts->edge_count;
    }
    for (int e = 0; e < parts->edge_count; e++)
        assert_true(length_of(parts, e) > 1e-6 * mean);
    for (int i = 0; i < n; i++) {
        const double *q = parts->orientations + 4 * i, *r = parts->radii + 3 * i;
        assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-9);
        for (int k = 0; k < 3; k++)
            assert_true(r[k] > 0 && r[k] < INFINITY && r[k] < 1e6 * r[(k + 1) % 3]);
    }
    assert_true(parts->volume > 0 && parts->volume < INFINITY);
    free(parent);
}

/* No way through air longer than the distance. */
static void check_air(const graph_case *graph)
{
    const pl_graph_parts *parts = &graph->parts;
    for (int e = 0; e < parts->edge_count; e++) {
        assert_true(parts->air <= graph->samples.distance);
        double outside = length_of(parts, e) *
                         pl_inside_segment_outside(graph->body->inside,
                                                   parts->positions + 3 * parts->edges[2 * e],
                                                   parts->positions + 3 * parts->edges[2 * e + 1]);
        if (!(outside <= graph->samples.distance))
            fail_msg("%s, %d: %g distances of air", graph->body->name, parts->particle_count,
                     outside / graph->samples.distance);
    }
}

static void solids_are_connected_inside(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 12, 30, 100, 500};
    const int some[] = {3, 4, 1, 2, 3, 5}; /* not every shape with every count */
    const int few[] = {5, 7, 1, 2, 5, 10};
    const int *steps = check_is_thorough() ? some : few;
    static const int pieces[BODY_CASES] = {1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1};
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        body_make(&body, shape, 1, NULL);
        for (int k = 0; k < 6; k++) {
            if ((shape + 1) % steps[k])
                continue;
            graph_case graph = must_connect(&body, PL_COOK_SOLID, counts[k], 0, k);
            check_graph(&graph);
            if (k >= 2)
                check_air(&graph);
            if (k >= 2)
                assert_int_equal(graph.parts.piece_count, pieces[shape]);
            graph_free(&graph);
        }
        body_free(&body);
    }
}

/* Two legs, less than a sampling distance apart: the graph goes around through the seat. */
static void legs_are_not_joined(void **state)
{
    (void)state;
    static const int counts[] = {30, 100, 1000};
    body_case body;
    body_make(&body, 3, 1, NULL);
    for (int k = 0; k < 3; k++)
        for (int seed = 0; seed < (check_is_thorough() ? 2 : k < 2); seed++) {
            graph_case graph = must_connect(&body, PL_COOK_SOLID, counts[k], 0, seed);
            const double *x = graph.parts.positions;
            for (int e = 0; e < graph.parts.edge_count; e++) {
                const int32_t *edge = graph.parts.edges + 2 * e;
                const double *p = x + 3 * edge[0], *q = x + 3 * edge[1];
                if (p[2] < 1.9 && q[2] < 1.9)
                    assert_true((p[0] < 0.5) == (q[0] < 0.5));
            }
            graph_free(&graph);
        }
    body_free(&body);
}

static void wanted_edges_are_met(void **state)
{
    (void)state;
    body_case body;
    for (int shape = 0; shape < 4; shape += 3) {
        body_make(&body, shape, 1, NULL);
        for (int edges = 99; edges <= (check_is_thorough() ? 600 : 300); edges += 167) {
            graph_case graph = must_connect(&body, PL_COOK_SOLID, 100, edges, 1);
            check_graph(&graph);
            check_air(&graph);
            assert_int_equal(graph.parts.edge_count, edges);
            graph_free(&graph);
        }
        graph_case graph = must_connect(&body, PL_COOK_SOLID, 100, 261, 1);
        assert_int_equal(graph.parts.edge_count, 261);
        graph_free(&graph);
        graph = must_connect(&body, PL_COOK_SOLID, 12, 1, 1); /* connected comes first */
        assert_int_equal(graph.parts.edge_count, 11);
        graph_free(&graph);
        graph = must_connect(&body, PL_COOK_SOLID, 12, 1000000, 1);
        assert_true(graph.parts.edge_count <= 66);
        check_graph(&graph);
        graph_free(&graph);
        body_free(&body);
    }
}

static double ellipsoids_volume(const pl_graph_parts *parts)
{
    double sum = 0;
    for (int i = 0; i < parts->particle_count; i++)
        sum += 4 * CASE_PI / 3 * parts->radii[3 * i] * parts->radii[3 * i + 1] *
               parts->radii[3 * i + 2];
    return sum;
}

/* How far random points of the ellipsoids' surfaces are outside, at most. */
static double stick_out(const graph_case *graph)
{
    const pl_graph_parts *parts = &graph->parts;
    pl_rng rng = pl_rng_make(8);
    double worst = 0;
    for (int n = 0; n < 2000; n++) {
        uint32_t i = pl_random_below(&rng, (uint32_t)parts->particle_count);
        const double *r = parts->radii + 3 * i, *q = parts->orientations + 4 * i,
                     *x = parts->positions + 3 * i;
        pl_vec3 v =
            pl_v3_normalise(pl_v3(pl_random_double(&rng) - 0.5, pl_random_double(&rng) - 0.5,
                                  pl_random_double(&rng) - 0.5));
        pl_vec3 w = pl_quat_rotate((pl_quat){q[0], q[1], q[2], q[3]},
                                   pl_v3(v.x * r[0], v.y * r[1], v.z * r[2]));
        const double point[3] = {x[0] + w.x, x[1] + w.y, x[2] + w.z};
        worst = fmax(worst, pl_inside_signed_distance(graph->body->inside, point));
    }
    return worst;
}

static void ellipsoids_fill_the_body(void **state)
{
    (void)state;
    static const int shapes[] = {0, 1, 2, 3, 12};
    for (int s = 0; s < 5; s++) {
        body_case body;
        body_make(&body, shapes[s], 1, NULL);
        for (int count = 100; count <= (check_is_thorough() ? 1000 : 100); count += 600) {
            graph_case graph = must_connect(&body, PL_COOK_SOLID, count, 0, s);
            double part = ellipsoids_volume(&graph.parts) / graph.parts.volume;
            if (!(fabs(part - 1) < 0.15))
                fail_msg("%s, %d: %g of the volume", body.name, count, part);
            for (int i = 0; i < graph.parts.particle_count; i++)
                assert_true(graph.parts.radii[3 * i] <= 3.001 * graph.parts.radii[3 * i + 2]);
            if (shapes[s] < 2 && stick_out(&graph) > 0.25 * graph.samples.distance)
                fail_msg("%s, %d: %g distances out", body.name, count,
                         stick_out(&graph) / graph.samples.distance);
            graph_free(&graph);
        }
        body_free(&body);
    }
}

/* One particle in a ball is the ball. */
static void a_single_particle_is_the_body(void **state)
{
    (void)state;
    body_case body;
    body_make(&body, 0, 1, NULL);
    graph_case graph = must_connect(&body, PL_COOK_SOLID, 1, 0, 0);
    assert_int_equal(graph.parts.edge_count, 0);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(graph.parts.positions[k]) < 0.02);
        assert_true(fabs(graph.parts.radii[k] - 1) < 0.02);
    }
    graph_free(&graph);
    body_free(&body);
}

static void shells_are_flat_and_connected(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 12, 100, 600};
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        body_make(&body, shape, 1, NULL);
        for (int k = shape % 2; k < (check_is_thorough() ? 5 : 4); k += 2) {
            graph_case graph = must_connect(&body, PL_COOK_SHELL, counts[k], 0, k);
            pl_graph_parts *parts = &graph.parts;
            check_graph(&graph);
            double area = 0;
            for (int i = 0; i < parts->particle_count; i++)
                area += CASE_PI * parts->radii[3 * i] * parts->radii[3 * i + 1];
            double half = graph.samples.distance / 6;
            if (k >= 3)
                assert_true(fabs(area * 2 * half / parts->volume - 1) < 0.1);
            graph_free(&graph);
        }
        body_free(&body);
    }
}

/* On a sphere a shell's thin axis is the normal. */
static void shells_face_outward(void **state)
{
    (void)state;
    body_case body;
    body_make(&body, 0, 1, NULL);
    graph_case graph = must_connect(&body, PL_COOK_SHELL, 200, 0, 1);
    for (int i = 0; i < 200; i++) {
        const double *q = graph.parts.orientations + 4 * i, *x = graph.parts.positions + 3 * i;
        pl_vec3 normal = pl_quat_rotate((pl_quat){q[0], q[1], q[2], q[3]}, pl_v3(0, 0, 1));
        assert_true(fabs(normal.x * x[0] + normal.y * x[1] + normal.z * x[2]) > 0.9);
    }
    graph_free(&graph);
    body_free(&body);
}

static void rods_are_chains(void **state)
{
    (void)state;
    body_case body;
    raw_mesh raw = {0};
    for (int k = 0; k < 100; k++)
        raw_vertex(&raw, cos(0.1 * k), sin(0.1 * k), 0.05 * k);
    for (int k = 0; k + 1 < 100; k++)
        raw_line(&raw, k, k + 1);
    int far = raw_vertex(&raw, 0, 0, -4); /* a branch */
    raw_line(&raw, 0, far);
    raw_line(&raw, 50, far);
    body_from_raw(&body, "coil", raw);
    for (int count = 10; count < 300; count += 41) {
        graph_case graph = must_connect(&body, PL_COOK_ROD, count, 0, 0);
        check_graph(&graph);
        assert_int_equal(graph.parts.piece_count, 1);
        assert_int_equal(graph.parts.edge_count, count); /* one ring */
        for (int e = 0; e < graph.parts.edge_count; e++)
            assert_true(length_of(&graph.parts, e) < 1.6 * graph.samples.distance);
        for (int i = 0; i < count; i++)
            assert_true(graph.parts.radii[3 * i] >= graph.parts.radii[3 * i + 1]);
        graph_free(&graph);
    }
    body_free(&body);
    body_make(&body, 8, 1, NULL);
    graph_case graph = must_connect(&body, PL_COOK_ROD, 40, 0, 0);
    check_graph(&graph);
    assert_int_equal(graph.parts.edge_count, 39);
    assert_true(fabs(graph.parts.volume - 0.1) < 1e-6);
    for (int i = 0; i < 40; i++)
        assert_true(graph.parts.radii[3 * i + 1] > 0.04 && graph.parts.radii[3 * i + 1] < 0.07);
    graph_free(&graph);
    body_free(&body);
}

static void scale_and_place_do_not_matter(void **state)
{
    (void)state;
    static const double scales[] = {1e-9, 1e9};
    for (int shape = 0; shape < BODY_CASES; shape += check_is_thorough() ? 3 : 6)
        for (int s = 0; s < 2; s++)
            for (int kind = PL_COOK_SOLID; kind <= PL_COOK_SHELL; kind++) {
                body_case body;
                const double offset[3] = {100 * scales[s], -3000 * scales[s], 0};
                body_make(&body, shape, scales[s], offset);
                graph_case graph = must_connect(&body, (pl_cook_kind)kind, 40, 0, 1);
                check_graph(&graph);
                graph_free(&graph);
                body_free(&body);
            }
}

static void the_same_input_gives_the_same_graph(void **state)
{
    (void)state;
    for (int kind = PL_COOK_SOLID; kind <= PL_COOK_ROD; kind++) {
        body_case body;
        body_make(&body, 12, 1, NULL);
        graph_case a = must_connect(&body, (pl_cook_kind)kind, 100, 0, 5);
        graph_case b = must_connect(&body, (pl_cook_kind)kind, 100, 0, 5);
        assert_int_equal(a.parts.edge_count, b.parts.edge_count);
        assert_memory_equal(a.parts.edges, b.parts.edges, 8 * (size_t)a.parts.edge_count);
        assert_memory_equal(a.parts.radii, b.parts.radii, 2400);
        assert_memory_equal(a.parts.orientations, b.parts.orientations, 3200);
        graph_free(&a);
        graph_free(&b);
        body_free(&body);
    }
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    for (int kind = PL_COOK_SOLID; kind <= PL_COOK_ROD; kind++) {
        body_case body;
        graph_case graph = {.body = &body};
        pl_sample_def def = {.count = 20};
        pl_connect_def connect = {.kind = (pl_cook_kind)kind, .edge_count = 60};
        body_make(&body, 8, 1, NULL);
        sample(&graph, (pl_cook_kind)kind, &def);
        size_t used = body.memory.used;
        pl_status status = PL_ERROR_MEMORY;
        for (int64_t n = 0; status != PL_OK; n++) {
            body.memory.fail_at = (int64_t)body.memory.allocations + n;
            status = pl_connect(&body.memory, body.surface, body.inside, &graph.samples, &connect,
                                &graph.parts, NULL);
            body.memory.fail_at = -1;
            if (status != PL_OK)
                assert_int_equal(status, PL_ERROR_MEMORY);
            pl_graph_parts_free(&body.memory, &graph.parts);
            assert_int_equal(body.memory.used, used);
        }
        pl_samples_free(&body.memory, &graph.samples);
        body_free(&body);
    }
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    body_case body;
    pl_graph_parts parts;
    graph_case graph = {.body = &body};
    pl_sample_def def = {.count = 20};
    body_make(&body, 0, 1, NULL);
    sample(&graph, PL_COOK_SOLID, &def);
    const pl_connect_def bad[] = {{.kind = PL_COOK_AUTO},
                                  {.kind = (pl_cook_kind)17},
                                  {.kind = PL_COOK_SOLID, .edge_count = -1},
                                  {.kind = PL_COOK_SHELL, .thickness = NAN},
                                  {.kind = PL_COOK_SHELL, .thickness = -1}};
    for (int k = 0; k < 5; k++) {
        pl_error error = {0};
        assert_int_equal(pl_connect(&body.memory, body.surface, body.inside, &graph.samples,
                                    &bad[k], &parts, &error),
                         PL_ERROR_ARGUMENT);
        assert_true(error.text[0] != 0);
    }
    pl_samples none = {.distance = 1};
    pl_connect_def solid = {.kind = PL_COOK_SOLID};
    assert_int_equal(
        pl_connect(&body.memory, body.surface, body.inside, &none, &solid, &parts, NULL),
        PL_ERROR_ARGUMENT);
    pl_samples_free(&body.memory, &graph.samples);
    body_free(&body);
}

/* Meshes from elsewhere, where they are. */
static void shared_meshes_are_connected(void **state)
{
    (void)state;
    static const char *const files[] = {
        "surface/dino.off",     "surface/bunny_7k.off", "surface/elephant.off",
        "surface/cow.obj",      "surface/homer.obj",    "difficult/spheres_intersecting.off",
        "difficult/suzanne.obj"};
    for (int f = 0; f < (check_is_slow_build() ? 1 : 7); f += check_is_thorough() ? 1 : 6) {
        char path[512];
        raw_mesh raw = {0};
        snprintf(path, sizeof path, "%s/../shared/meshes/%s", PLIANT_SOURCE_DIR, files[f]);
        if (!raw_load(&raw, path)) {
            print_message("skipped: %s is not there\n", files[f]);
            raw_free(&raw);
            continue;
        }
        body_case body;
        body_from_raw(&body, files[f], raw);
        for (int count = 12; count <= 120; count *= 8) {
            graph_case graph = must_connect(&body, PL_COOK_SOLID, count, 0, 1);
            check_graph(&graph);
            check_air(&graph);
            if (f < 6)
                assert_int_equal(graph.parts.piece_count, 1);
            graph_free(&graph);
        }
        body_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_are_connected_inside),
        cmocka_unit_test(legs_are_not_joined),
        cmocka_unit_test(wanted_edges_are_met),
        cmocka_unit_test(ellipsoids_fill_the_body),
        cmocka_unit_test(a_single_particle_is_the_body),
        cmocka_unit_test(shells_are_flat_and_connected),
        cmocka_unit_test(shells_face_outward),
        cmocka_unit_test(rods_are_chains),
        cmocka_unit_test(scale_and_place_do_not_matter),
        cmocka_unit_test(the_same_input_gives_the_same_graph),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(shared_meshes_are_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
