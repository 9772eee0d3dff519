#include "shape/model.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "model_cases.h"
#include "support/check.h"

static pl_model *must_create(const pl_model_def *def)
{
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_model_create(def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

/* The creation fails with this place and a text that contains this; and changes nothing. */
static void refuses(const pl_model_def *def, const char *where, const char *text)
{
    pl_model *const untouched = (pl_model *)(uintptr_t)64;
    pl_model *model = untouched;
    pl_error error = {0};
    failing_host host = {.fail_at = -1};
    pl_allocator allocator = failing_allocator(&host);
    pl_model_def copy = *def;
    copy.allocator = def->allocator ? def->allocator : &allocator;
    assert_int_equal(pl_model_create(&copy, &model, &error), PL_ERROR_ARGUMENT);
    assert_int_equal(error.status, PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, where);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, text);
    assert_ptr_equal(model, untouched);
    assert_int_equal(host.blocks, 0);
    assert_int_equal(pl_model_create(&copy, &model, NULL), PL_ERROR_ARGUMENT);
}

#define REFUSES(change, where, text)                                                               \
    do {                                                                                           \
        model_case c;                                                                              \
        make_case(&c);                                                                             \
        change;                                                                                    \
        refuses(&c.def, where, text);                                                              \
    } while (0)

/* ---- What is refused ----------------------------------------------------------------------- */

static void definitions_not_made_by_the_default_function_are_refused(void **state)
{
    (void)state;
    pl_error error;
    pl_model *model;
    assert_int_equal(pl_model_create(NULL, &model, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "def");
    model_case whole;
    make_case(&whole);
    assert_int_equal(pl_model_create(&whole.def, NULL, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "model");
    REFUSES(c.def.cookie = 0, "cookie", "definition was not made by pl_default_model_def");
}

static void counts_and_pointers_are_checked(void **state)
{
    (void)state;
    REFUSES(c.def.particle_count = 0, "particle_count", "from 1");
    REFUSES(c.def.particle_count = -3, "particle_count", "-3");
    REFUSES(c.def.particle_count = 100000001, "particle_count", "100000000");
    REFUSES(c.def.edge_count = -1, "edge_count", "-1");
    REFUSES(c.def.edge_count = INT32_MAX, "edge_count", "100000000");
    REFUSES(c.def.vertex_count = INT32_MAX, "vertex_count", "100000000");
    REFUSES(c.def.triangle_count = -1, "triangle_count", "-1");
    REFUSES(c.def.positions.data = NULL, "positions", "NULL");
    REFUSES(c.def.radii.data = NULL, "radii", "NULL");
    REFUSES(c.def.edges = NULL, "edges", "NULL");
    REFUSES(c.def.vertices.data = NULL, "vertices", "NULL");
    REFUSES(c.def.influences = NULL, "influences", "NULL");
    REFUSES(c.def.weights = NULL, "weights", "NULL");
    REFUSES(c.def.triangles = NULL, "triangles", "NULL");
    REFUSES(c.def.positions.stride = 8, "positions", "24");
    REFUSES(c.def.orientations.stride = 24, "orientations", "32");
    REFUSES(c.def.radii.type = (pl_scalar)7, "radii", "PL_F32");
    REFUSES(c.def.influence_count = 9, "influence_count", "8");
    REFUSES(c.def.influence_count = -1, "influence_count", "-1");
    REFUSES(c.def.dimension = 0, "dimension", "1 for a rod");
    REFUSES(c.def.dimension = 4, "dimension", "3 for a solid");
    REFUSES(c.def.volume = -1, "volume", "-1");
    REFUSES(c.def.volume = NAN, "volume", "nan");
    REFUSES(c.def.volume = INFINITY, "volume", "inf");
    REFUSES(c.def.volume = 1e30, "volume", "unit");
    REFUSES(c.def.allocator = &(pl_allocator){0}, "allocator", "alloc and free");
}

static void numbers_are_checked(void **state)
{
    (void)state;
    REFUSES(c.positions[3 * 4 + 1] = NAN, "positions[4]", "finite");
    REFUSES(c.positions[2] = INFINITY, "positions[0]", "finite");
    REFUSES(c.positions[2] = -1e31, "positions[0]", "1e+30");
    REFUSES(c.radii[3 * 3] = 0, "radii[3]", "greater than 0");
    REFUSES(c.radii[3 * 5 + 2] = -0.1, "radii[5]", "greater than 0");
    REFUSES(c.radii[3 * 5 + 2] = NAN, "radii[5]", "finite");
    REFUSES(c.radii[3 * 5 + 2] = INFINITY, "radii[5]", "finite");
    REFUSES(memset(c.orientations + 16, 0, 32), "orientations[4]", "zero length");
    REFUSES(c.orientations[4] = NAN, "orientations[1]", "finite");
    REFUSES(c.vertices[3 * 9] = NAN, "vertices[9]", "finite");
    REFUSES(c.vertices[3 * 9] = -INFINITY, "vertices[9]", "finite");
    REFUSES(c.influences[2 * 5] = CASE_PARTICLES, "influences[5]", "from 0 to 5");
    REFUSES(c.influences[2 * 5 + 1] = -2, "influences[5]", "-1 for none");
    REFUSES(c.weights[2 * 5] = -0.5f, "weights[5]", "not negative");
    REFUSES(c.weights[2 * 5 + 1] = NAN, "weights[5]", "nan");
    REFUSES(c.weights[10] = c.weights[11] = 0, "weights[5]", "all zero");
    REFUSES(c.influences[10] = c.influences[11] = -1, "weights[5]", "all zero");
    REFUSES(c.triangles[3 * 2 + 1] = CASE_VERTICES, "triangles[2]", "there are 10");
    REFUSES(c.triangles[3 * 2 + 1] = -1, "triangles[2]", "vertex -1");
}

static void edges_are_checked(void **state)
{
    (void)state;
    REFUSES(c.edges[2 * 6] = CASE_PARTICLES, "edges[6]", "from 0 to 5");
    REFUSES(c.edges[2 * 6 + 1] = -1, "edges[6]", "from 0 to 5");
    REFUSES(c.edges[2 * 6 + 1] = 1, "edges[6]", "joins particle 1 to itself");
    REFUSES((c.edges[12] = 1, c.edges[13] = 2), "edges[6]", "edges[1] already does");
    REFUSES((c.edges[12] = 2, c.edges[13] = 1), "edges[6]", "edges[1] already does");
    REFUSES(c.def.edge_count = 4, "edges", "particle 5 cannot be reached from particle 0");
    REFUSES(c.def.edge_count = 0, "edges", "particle 1 cannot be reached from particle 0 (1 of 6");
    REFUSES(c.def.edge_count = 4, "edges", "add an edge, or make two models");
}

static void particles_on_one_spot_are_refused(void **state)
{
    (void)state;
    REFUSES(memcpy(c.positions + 15, c.positions + 12, 24), "edges[4]",
            "particles 4 and 5 are at the same place");
    REFUSES(for (int i = 0; i < 18; i++) c.positions[i] = 3, "edges[0]",
            "particles 0 and 1 are at the same place");
    REFUSES((memcpy(c.positions + 15, c.positions + 12, 24), c.positions[15] += 1e-9), "edges[4]",
            "nearly at the same place");
}

static void extremes_of_scale_are_refused(void **state)
{
    (void)state;
    /* The mean edge grows along with one far particle, so that takes a long rope. */
    enum { N = 100 };
    static double positions[3 * N], radii[3 * N];
    static int32_t edges[2 * N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = k == 0 ? i : 0;
            radii[3 * i + k] = 0.5;
        }
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = N;
    def.edge_count = N - 1;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edges = edges;
    def.vertex_count = 1;
    def.vertices = pl_doubles((double[]){0, 2e6, 0}, 0);
    refuses(&def, "vertices[0]", "a million times the mean edge");
    def.vertex_count = 0;
    radii[3 * 8] = 1e-7;
    refuses(&def, "radii[8]", "factor of a million");
    radii[3 * 8] = 1e7;
    refuses(&def, "radii[8]", "factor of a million");
    radii[3 * 8] = 1e3;
    radii[3 * 9] = 1e-4;
    refuses(&def, "radii[9]", "radii[8] has 1000 m");
    radii[3 * 8] = radii[3 * 9] = 0.5;
    for (int scale = 0; scale < 2; scale++) {
        double factor = scale ? 1e-12 : 1e12;
        for (int i = 0; i < 3 * N; i++)
            positions[i] *= factor, radii[i] *= factor;
        refuses(&def, "positions", "mean edge");
        for (int i = 0; i < 3 * N; i++)
            positions[i] /= factor, radii[i] /= factor;
    }
    pl_model_release(must_create(&def));
}

static void positions_too_far_from_the_centre_are_refused(void **state)
{
    (void)state;
    enum { N = 2000003 };
    double *positions = calloc(3 * N, sizeof(double)), *radii = malloc(3 * N * sizeof(double));
    int32_t *edges = malloc(2 * N * sizeof(int32_t));
    for (int i = 0; i < N; i++) {
        positions[3 * i] = 1.4 * i;
        radii[3 * i] = radii[3 * i + 1] = radii[3 * i + 2] = 0.5;
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = N;
    def.edge_count = N - 1;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edges = edges;
    refuses(&def, "positions[0]", "from the centre");
    free(positions);
    free(radii);
    free(edges);
}

/* ---- What comes out ------------------------------------------------------------------------ */

static void a_single_particle_is_a_model(void **state)
{
    (void)state;
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_floats((float[]){1, 2, 3}, 0);
    def.radii = pl_floats((float[]){0.9f, 1.1f, 1.2f}, 0);
    def.vertex_count = 2;
    def.vertices = pl_floats((float[]){1, 2, 3, 2, 2, 3}, 0);
    pl_model *model = must_create(&def);
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(info.particle_count, 1);
    assert_int_equal(info.edge_count, 0);
    assert_int_equal(info.colour_count, 1);
    assert_true(info.unit == 1);
    assert_true(info.spacing == 0);
    assert_true(model->rest[0] == 0 && model->rest[1] == 0 && model->rest[2] == 0);
    assert_int_equal(model->influence_count, 1);
    for (int v = 0; v < 2; v++) {
        assert_int_equal(model->influences[v], 0);
        assert_true(model->weights[v] == 1);
    }
    pl_model_release(model);
}

static void the_rest_state_is_that_of_the_definition(void **state)
{
    (void)state;
    model_case c;
    make_case(&c);
    c.def.volume = 0.123;
    pl_model *model = must_create(&c.def);
    pl_model_info info = pl_model_get_info(model);
    double out[3 * CASE_VERTICES], lower = INFINITY;
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, 6, pl_doubles(out, 0)), PL_OK);
    for (int i = 0; i < 18; i++)
        assert_true(fabs(out[i] - c.positions[i]) < 1e-7);
    for (int i = 0; i < 6; i++)
        lower = fmin(lower, out[3 * i]);
    assert_true(info.lower[0] == lower);
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, 6, pl_doubles(out, 0)), PL_OK);
    for (int i = 0; i < 18; i++)
        assert_true(fabs(out[i] - c.radii[i]) < 1e-8);
    assert_int_equal(pl_model_read(model, PL_REST_VERTICES, 0, 10, pl_doubles(out, 0)), PL_OK);
    for (int i = 0; i < 30; i++)
        assert_true(fabs(out[i] - c.vertices[i]) < 1e-7);
    assert_int_equal(pl_model_read(model, PL_REST_ORIENTATIONS, 2, 3, pl_doubles(out, 0)), PL_OK);
    for (int i = 0; i < 3; i++) {
        const double *q = c.orientations + 4 * (i + 2);
        double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++)
            assert_true(fabs(out[4 * i + k] - q[k] / norm) < 1e-7);
    }
    double reach = 0;
    for (int i = 0; i < 6; i++) {
        const float *x = model->rest + 3 * i;
        reach = fmax(reach, sqrt((double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2]));
    }
    assert_true(model->reach == reach);
    assert_true(fabs(info.volume - 0.123) < 1e-16);
    assert_true(info.unit == exp2(round(log2(info.spacing))));
    assert_memory_equal(pl_model_edges(model), c.edges, sizeof c.edges);
    assert_memory_equal(pl_model_triangles(model), c.triangles, sizeof c.triangles);
    pl_model_release(model);
}

static void reading_is_strided_and_in_bounds(void **state)
{
    (void)state;
    model_case c;
    make_case(&c);
    pl_model *model = must_create(&c.def);
    struct {
        char odd;
        char bytes[13];
    } rows[2] = {0};
    pl_buffer out = {rows[0].bytes, sizeof rows[0], PL_F32};
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 4, 2, out), PL_OK);
    float x;
    memcpy(&x, rows[1].bytes, sizeof x);
    assert_true(fabs(x - c.positions[15]) < 1e-6);
    assert_int_equal(rows[1].bytes[12], 0);
    pl_model_release(model);
}

static int broken_promises;

static void count_broken_promise(const char *condition, const char *file, int line,
                                 const char *message)
{
    (void)condition, (void)file, (void)line, (void)message;
    broken_promises++;
}

static void reading_out_of_bounds_is_an_error(void **state)
{
    (void)state;
    model_case c;
    make_case(&c);
    pl_model *model = must_create(&c.def);
    double out[64];
    pl_set_assert_function(count_broken_promise);
    broken_promises = 0;
    pl_buffer buffer = pl_doubles(out, 0), nowhere = pl_doubles(NULL, 0);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, 7, buffer), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, -1, 1, buffer), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, -1, buffer), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, INT32_MAX, INT32_MAX, buffer),
                     PL_ERROR_ARGUMENT);
    assert_int_equal(pl_model_read(model, (pl_model_field)9, 0, 1, buffer), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, 1, nowhere), PL_ERROR_ARGUMENT);
    assert_int_equal(broken_promises, 6);
    pl_set_assert_function(NULL);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 6, 0, nowhere), PL_OK);
    pl_model_release(model);
}

static void volumes_and_moments_follow_the_ellipsoids(void **state)
{
    (void)state;
    /* A quarter turn about z swaps a and b. */
    double h = sqrt(0.5);
    pl_model_def def = pl_default_model_def();
    def.particle_count = 2;
    def.positions = pl_doubles((double[]){0, 0, 0, 1, 0, 0}, 0);
    def.orientations = pl_doubles((double[]){0, 0, 0, 2, 0, 0, 10 * h, 10 * h}, 0);
    def.radii = pl_doubles((double[]){0.5, 0.25, 0.125, 0.5, 0.25, 0.125}, 0);
    def.edge_count = 1;
    def.edges = (int32_t[]){0, 1};
    pl_model *model = must_create(&def);
    double v = 4.0 / 3 * acos(-1) * 0.5 * 0.25 * 0.125, small = 1e-8;
    assert_true(fabs(model->volumes[0] - v) < 1e-16);
    assert_true(fabs(model->volume - 2 * v) < 1e-16);
    assert_true(fabs(model->edge_volume - 2 * v) < 1e-16);
    const double expected[2][6] = {{v / 20, 0, 0, v / 80, 0, v / 320},
                                   {v / 80, 0, 0, v / 20, 0, v / 320}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 6; k++)
            assert_true(fabs(model->moments[6 * i + k] - expected[i][k]) < small);
    pl_model_release(model);
}

static void quaternions_read_back_give_the_same_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        model_case c;
        make_case(&c);
        pl_rng rng = pl_rng_make(seed);
        for (int i = 0; i < 4 * CASE_PARTICLES; i++)
            c.orientations[i] = pl_random_double(&rng) - 0.5;
        pl_model *model = must_create(&c.def);
        float out[4 * CASE_PARTICLES];
        pl_model_read(model, PL_REST_ORIENTATIONS, 0, CASE_PARTICLES, pl_floats(out, 0));
        c.def.orientations = pl_floats(out, 0);
        pl_model *again = must_create(&c.def);
        assert_memory_equal(model->orientation, again->orientation, sizeof out);
        pl_model_release(again);
        pl_model_release(model);
    }
}

static void given_weights_are_packed_and_sum_to_one(void **state)
{
    (void)state;
    model_case c;
    make_case(&c);
    c.influences[0] = -1, c.influences[1] = 3;
    c.influences[2] = 4, c.influences[3] = 4;
    c.influences[4] = 2, c.weights[4] = 0;
    pl_model *model = must_create(&c.def);
    const int32_t expected[3] = {3, 4, c.influences[5]};
    for (int v = 0; v < 3; v++) {
        assert_int_equal(model->influences[2 * v], expected[v]);
        assert_int_equal(model->influences[2 * v + 1], -1);
        assert_true(model->weights[2 * v] == 1);
        assert_true(model->weights[2 * v + 1] == 0);
    }
    for (int v = 3; v < CASE_VERTICES; v++)
        assert_true(fabsf(model->weights[2 * v] + model->weights[2 * v + 1] - 1) < 1e-6f);
    pl_model_release(model);
}

static void references_are_counted(void **state)
{
    (void)state;
    failing_host host = {.fail_at = -1};
    pl_allocator allocator = failing_allocator(&host);
    model_case c;
    make_case(&c);
    c.def.allocator = &allocator;
    pl_model *model = must_create(&c.def);
    pl_model_retain(model);
    pl_model_release(model);
    assert_true(host.blocks > 0);
    pl_model_release(model);
    assert_int_equal(host.blocks, 0);
    pl_model_release(NULL);
}

/* ---- The graph ----------------------------------------------------------------------------- */

static void check_adjacency(const pl_model *model)
{
    assert_int_equal(model->start[0], 0);
    assert_int_equal(model->start[model->particle_count], 2 * model->edge_count);
    for (int i = 0; i < model->particle_count; i++) {
        for (int32_t p = model->start[i]; p < model->start[i + 1]; p++) {
            int e = model->edge_of[p], a = model->edges[2 * e], b = model->edges[2 * e + 1];
            assert_true((a == i && b == model->neighbour[p]) ||
                        (b == i && a == model->neighbour[p]));
            assert_true(p == model->start[i] || model->edge_of[p - 1] < e);
        }
    }
}

/* Returns the number of particles in the smallest colour. */
static int check_colours(const pl_model *model)
{
    int n = model->particle_count, least = n;
    int *colour = malloc((size_t)n * sizeof *colour);
    for (int i = 0; i < n; i++)
        colour[i] = -1;
    assert_int_equal(model->colour_start[0], 0);
    assert_int_equal(model->colour_start[model->colour_count], n);
    for (int c = 0; c < model->colour_count; c++) {
        int size = model->colour_start[c + 1] - model->colour_start[c];
        assert_true(size > 0);
        least = size < least ? size : least;
        for (int k = model->colour_start[c]; k < model->colour_start[c + 1]; k++) {
            assert_int_equal(colour[model->order[k]], -1);
            colour[model->order[k]] = c;
            assert_true(k == model->colour_start[c] || model->order[k - 1] < model->order[k]);
        }
    }
    for (int e = 0; e < model->edge_count; e++)
        assert_true(colour[model->edges[2 * e]] != colour[model->edges[2 * e + 1]]);
    free(colour);
    return least;
}

static void colours_of_random_graphs_are_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        int n = 2 + (int)(seed % 90);
        random_graph g = make_random_graph(seed, n, (int)(seed * 7 % 900));
        pl_model_def def = random_graph_def(&g);
        pl_model *model = must_create(&def);
        check_adjacency(model);
        check_colours(model);
        for (int e = 0; e < model->edge_count; e++)
            for (int k = 0; k < 3; k++)
                assert_true(model->edge_offset[3 * e + k] ==
                            model->rest[3 * g.edges[2 * e + 1] + k] -
                                model->rest[3 * g.edges[2 * e] + k]);
        assert_int_equal(model->symbolic->n, n);
        pl_model_release(model);
        free_random_graph(&g);
    }
}

static void a_rope_has_two_even_colours(void **state)
{
    (void)state;
    pl_shape_def shape_def = pl_default_shape_def(PL_SHAPE_CHAIN);
    pl_shape *shape;
    assert_int_equal(pl_shape_create(&shape_def, &shape, NULL), PL_OK);
    pl_model_def def = pl_shape_model_def(shape);
    pl_model *model = must_create(&def);
    assert_int_equal(model->colour_count, 2);
    assert_int_equal(check_colours(model), 25);
    pl_model_release(model);
    pl_shape_destroy(shape);
}

static void a_star_and_a_complete_graph_are_coloured(void **state)
{
    (void)state;
    enum { N = 40 };
    for (int complete = 0; complete < 2; complete++) {
        random_graph g = make_random_graph(3, N, N * N);
        g.m = 0;
        for (int a = 0; a < N; a++)
            for (int b = a + 1; b < (complete || a == 0 ? N : 0); b++)
                g.edges[2 * g.m] = a, g.edges[2 * g.m++ + 1] = b;
        pl_model_def def = random_graph_def(&g);
        pl_model *model = must_create(&def);
        assert_int_equal(model->colour_count, complete ? N : 2);
        check_colours(model);
        pl_model_release(model);
        free_random_graph(&g);
    }
}

/* ---- Bits ---------------------------------------------------------------------------------- */

#define SAME(member, count)                                                                        \
    assert_memory_equal(a->member, b->member, (size_t)(count) * sizeof *a->member)

static void assert_same_content(const pl_model *a, const pl_model *b)
{
    int n = a->particle_count, m = a->edge_count, v = a->vertex_count, w = v * a->influence_count;
    assert_int_equal(a->colour_count, b->colour_count);
    assert_true(a->spacing == b->spacing && a->volume == b->volume &&
                a->edge_volume == b->edge_volume);
    assert_true(a->reach == b->reach);
    SAME(rest, 3 * n);
    SAME(orientation, 4 * n);
    SAME(radii, 3 * n);
    SAME(volumes, n);
    SAME(moments, 6 * n);
    SAME(edge_offset, 3 * m);
    SAME(order, n);
    SAME(colour_start, a->colour_count + 1);
    SAME(vertices, 3 * v);
    SAME(influences, w);
    SAME(weights, w);
    SAME(symbolic->perm, n);
}

static void scaling_by_a_power_of_two_changes_no_bit(void **state)
{
    (void)state;
    for (int computed = 0; computed < 2; computed++) {
        for (int power = -7; power <= 7; power += 14) {
            model_case c, d;
            make_case(&c);
            make_case(&d);
            c.def.volume = d.def.volume = 0.3;
            d.def.volume = ldexp(0.3, 3 * power);
            for (int i = 0; i < 3 * CASE_PARTICLES; i++) {
                d.positions[i] = ldexp(c.positions[i], power);
                d.radii[i] = ldexp(c.radii[i], power);
            }
            for (int i = 0; i < 3 * CASE_VERTICES; i++)
                d.vertices[i] = ldexp(c.vertices[i], power);
            if (computed)
                c.def.influence_count = d.def.influence_count = 0;
            pl_model *a = must_create(&c.def), *b = must_create(&d.def);
            assert_same_content(a, b);
            assert_true(b->unit == ldexp(a->unit, power));
            assert_true(b->centre[1] == ldexp(a->centre[1], power));
            assert_true(a->hash != b->hash);
            pl_model_release(a);
            pl_model_release(b);
        }
    }
}

static void the_hash_depends_on_everything(void **state)
{
    (void)state;
    enum { CHANGES = 14 };
    uint64_t hashes[CHANGES + 1];
    for (int change = 0; change <= CHANGES; change++) {
        model_case c;
        make_case(&c);
        c.positions[4] += change == 1 ? 1e-3 : 0;
        c.radii[7] *= change == 2 ? 1.001 : 1;
        c.orientations[9] += change == 3 ? 0.01 : 0;
        c.edges[13] = change == 4 ? 5 : c.edges[13];
        c.def.dimension = change == 5 ? 2 : 3;
        c.def.volume = change == 6 ? 0.5 : 0;
        c.vertices[20] += change == 7 ? 1e-3 : 0;
        c.weights[6] += change == 8 ? 0.01f : 0;
        c.influences[6] = change == 9 ? 1 : c.influences[6];
        c.triangles[8] = change == 10 ? 1 : c.triangles[8];
        c.def.influence_count = change == 11 ? 0 : 2;
        for (int i = 0; i < 3 * CASE_PARTICLES && change == 12; i++)
            c.positions[i] += 1, c.vertices[i] += 1;
        c.def.edge_count -= change == 13;
        c.def.triangle_count -= change == 14;
        pl_model *model = must_create(&c.def), *again = must_create(&c.def);
        hashes[change] = pl_model_get_info(model).hash;
        assert_true(hashes[change] == again->hash);
        for (int other = 0; other < change; other++)
            assert_true(hashes[other] != hashes[change]);
        pl_model_release(model);
        pl_model_release(again);
    }
}

/* ---- Memory and size ----------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int computed = 0; computed < 2; computed++) {
        failing_host host = {.fail_at = 0};
        pl_allocator allocator = failing_allocator(&host);
        model_case c;
        make_case(&c);
        c.def.allocator = &allocator;
        if (computed)
            c.def.influence_count = 0;
        pl_status status = PL_ERROR_MEMORY;
        pl_model *model = NULL;
        for (; status == PL_ERROR_MEMORY; host.fail_at++) {
            pl_error error = {0};
            host.calls = 0;
            status = pl_model_create(&c.def, &model, &error);
            if (status == PL_OK)
                break;
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_int_equal(error.status, PL_ERROR_MEMORY);
            assert_true(error.text[0] != 0);
            assert_null(model);
            assert_int_equal(host.blocks, 0);
        }
        assert_int_equal(status, PL_OK);
        assert_true(host.fail_at > 20);
        pl_model_release(model);
        assert_int_equal(host.blocks, 0);
        assert_int_equal(host.bytes, 0);
    }
}

static void the_memory_limit_holds(void **state)
{
    (void)state;
    model_case c;
    make_case(&c);
    pl_model *model = NULL;
    c.def.memory_limit = 4096;
    assert_int_equal(pl_model_create(&c.def, &model, NULL), PL_ERROR_MEMORY);
    c.def.memory_limit = 1 << 20;
    assert_int_equal(pl_model_create(&c.def, &model, NULL), PL_OK);
    pl_model_release(model);
}

static void a_million_particles_are_no_trouble(void **state)
{
    (void)state;
    int count = check_is_slow_build() ? 100000 : 1000000;
    pl_shape_def shape_def = pl_default_shape_def(PL_SHAPE_CHAIN);
    shape_def.count[0] = count;
    shape_def.size[0] = 1e5;
    pl_shape *shape;
    assert_int_equal(pl_shape_create(&shape_def, &shape, NULL), PL_OK);
    pl_model_def def = pl_shape_model_def(shape);
    def.vertex_count = def.triangle_count = 0;
    uint64_t before = pl_clock_ns();
    pl_model *model = must_create(&def);
    double seconds = (double)(pl_clock_ns() - before) * 1e-9;
    print_message("a rope of %d particles: %.2f s\n", count, seconds);
    assert_true(seconds < 30); /* quadratic would be hours */
    assert_int_equal(model->colour_count, 2);
    pl_model_release(model);
    pl_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_not_made_by_the_default_function_are_refused),
        cmocka_unit_test(counts_and_pointers_are_checked),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(edges_are_checked),
        cmocka_unit_test(particles_on_one_spot_are_refused),
        cmocka_unit_test(extremes_of_scale_are_refused),
        cmocka_unit_test(positions_too_far_from_the_centre_are_refused),
        cmocka_unit_test(a_single_particle_is_a_model),
        cmocka_unit_test(the_rest_state_is_that_of_the_definition),
        cmocka_unit_test(reading_is_strided_and_in_bounds),
        cmocka_unit_test(reading_out_of_bounds_is_an_error),
        cmocka_unit_test(volumes_and_moments_follow_the_ellipsoids),
        cmocka_unit_test(quaternions_read_back_give_the_same_bits),
        cmocka_unit_test(given_weights_are_packed_and_sum_to_one),
        cmocka_unit_test(references_are_counted),
        cmocka_unit_test(colours_of_random_graphs_are_valid),
        cmocka_unit_test(a_rope_has_two_even_colours),
        cmocka_unit_test(a_star_and_a_complete_graph_are_coloured),
        cmocka_unit_test(scaling_by_a_power_of_two_changes_no_bit),
        cmocka_unit_test(the_hash_depends_on_everything),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_memory_limit_holds),
        cmocka_unit_test(a_million_particles_are_no_trouble),
    };
    return cmocka_run_group_tests_name("shape/model", tests, NULL, NULL);
}
