#include "shape/skin.h"

#include <math.h>

#include "model_cases.h"
#include "support/check.h"

static pl_model *make_shape_model(pl_shape_kind kind, pl_shape **shape)
{
    pl_shape_def def = pl_default_shape_def(kind);
    assert_int_equal(pl_shape_create(&def, shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(*shape);
    pl_model *model;
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    return model;
}

/* Eq. 2, v = Σ w (R (v̄ - x̄) + x), with every particle moved by the same shift and none turned. */
static void skin_vertex(const pl_model *model, int vertex, const double shift[3], double out[3])
{
    int k = model->influence_count;
    out[0] = out[1] = out[2] = 0;
    for (int j = 0; j < k && model->influences[vertex * k + j] >= 0; j++) {
        const float *x = model->rest + 3 * model->influences[vertex * k + j];
        const float *v = model->vertices + 3 * vertex;
        for (int c = 0; c < 3; c++)
            out[c] += model->weights[vertex * k + j] * ((double)v[c] - x[c] + (x[c] + shift[c]));
    }
}

static void weights_are_a_partition_of_unity(void **state)
{
    (void)state;
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_shape *shape;
        pl_model *model = make_shape_model((pl_shape_kind)kind, &shape);
        assert_int_equal(model->influence_count, 4);
        for (int v = 0; v < model->vertex_count; v++) {
            double sum = 0;
            for (int j = 0; j < 4; j++) {
                int32_t i = model->influences[4 * v + j];
                float w = model->weights[4 * v + j];
                assert_true(i >= 0 && i < model->particle_count);
                assert_true(w > 0 && w <= 1);
                assert_true(j == 0 || w <= model->weights[4 * v + j - 1]);
                for (int other = 0; other < j; other++)
                    assert_true(model->influences[4 * v + other] != i);
                sum += w;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
        pl_model_release(model);
        pl_shape_destroy(shape);
    }
}

static void the_rest_pose_is_reproduced(void **state)
{
    (void)state;
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_shape *shape;
        pl_model *model = make_shape_model((pl_shape_kind)kind, &shape);
        const double shift[3] = {0.5, -2, 1};
        for (int v = 0; v < model->vertex_count; v++) {
            double out[3];
            skin_vertex(model, v, shift, out);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(out[c] - model->vertices[3 * v + c] - shift[c]) < 1e-5);
        }
        pl_model_release(model);
        pl_shape_destroy(shape);
    }
}

static double distance_to(const pl_model *model, int particle, const double point[3])
{
    const float *x = model->rest + 3 * particle;
    return sqrt((x[0] - point[0]) * (x[0] - point[0]) + (x[1] - point[1]) * (x[1] - point[1]) +
                (x[2] - point[2]) * (x[2] - point[2]));
}

static void the_nearest_particle_comes_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_graph g = make_random_graph(seed, 3 + (int)seed * 5, 40);
        enum { VERTICES = 60 };
        double vertices[3 * VERTICES];
        pl_rng rng = pl_rng_make(seed + 1000);
        for (int i = 0; i < 3 * VERTICES; i++)
            vertices[i] = 20 * pl_random_double(&rng) - 5;
        pl_model_def def = random_graph_def(&g);
        def.vertex_count = VERTICES;
        def.vertices = pl_doubles(vertices, 0);
        pl_model *model;
        assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
        int k = model->influence_count;
        for (int v = 0; v < VERTICES; v++) {
            const float *vertex = model->vertices + 3 * v;
            double point[3] = {vertex[0], vertex[1], vertex[2]};
            double first = distance_to(model, model->influences[v * k], point);
            for (int i = 0; i < g.n; i++)
                assert_true(first <= distance_to(model, i, point));
            /* The search without a tree gives the same. */
            int32_t particles[PL_MAX_INFLUENCES];
            float weights[PL_MAX_INFLUENCES];
            int count = pl_skin_point(model, point, k, particles, weights);
            assert_memory_equal(particles, model->influences + v * k,
                                (size_t)count * sizeof *particles);
            assert_memory_equal(weights, model->weights + v * k, (size_t)count * sizeof *weights);
        }
        pl_model_release(model);
        free_random_graph(&g);
    }
}

/* Two ropes side by side, closer than their spacing, joined far away: a hairpin. */
static void skin_does_not_jump_across_air(void **state)
{
    (void)state;
    enum { N = 40 };
    double positions[3 * N], radii[3 * N], vertices[3 * N];
    int32_t edges[2 * N];
    for (int i = 0; i < N; i++) {
        bool back = i >= N / 2;
        const double p[3] = {back ? N - 1 - i : i, back ? 0.3 : 0, 0};
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = p[k];
            radii[3 * i + k] = 0.15;
            vertices[3 * i + k] = p[k] + (k == 1 ? (back ? -0.1 : 0.1) : 0);
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
    def.vertex_count = N;
    def.vertices = pl_doubles(vertices, 0);
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int v = 0; v < N; v++)
        for (int j = 0; j < 4; j++)
            assert_true(abs(model->influences[4 * v + j] - v) <= 4);
    pl_model_release(model);
}

static void weights_vary_smoothly_along_a_rope(void **state)
{
    (void)state;
    pl_shape *shape;
    pl_model *model = make_shape_model(PL_SHAPE_CHAIN, &shape);
    double blend = 0;
    for (int step = 0; step <= 4000; step++) {
        /* A function that is linear over the particles moves steadily along the rope. */
        double point[3] = {(step / 4000.0 - 0.5) * 30 * model->spacing, 0.2, 0.1}, sum = 0;
        int32_t particles[PL_MAX_INFLUENCES];
        float weights[PL_MAX_INFLUENCES];
        int count = pl_skin_point(model, point, 4, particles, weights);
        assert_int_equal(count, 4);
        for (int j = 0; j < count; j++)
            sum += weights[j] * (double)particles[j];
        assert_true(step == 0 || fabs(sum - blend) < 0.05);
        blend = sum;
    }
    pl_model_release(model);
    pl_shape_destroy(shape);
}

static void equidistant_and_coincident_particles_get_equal_weights(void **state)
{
    (void)state;
    /* The corners of a cube around the point, joined through a hub that is elsewhere. */
    enum { N = 9 };
    double positions[3 * N] = {50, 0, 0}, radii[3 * N];
    int32_t edges[2 * (N - 1)];
    for (int i = 1; i < N; i++) {
        for (int k = 0; k < 3; k++)
            positions[3 * i + k] = (i - 1) >> k & 1 ? 1 : -1;
        edges[2 * i - 2] = 0;
        edges[2 * i - 1] = i;
    }
    for (int i = 0; i < 3 * N; i++)
        radii[i] = 1;
    for (int coincident = 0; coincident < 2; coincident++) {
        for (int i = 3; i < 3 * N && coincident; i++)
            positions[i] = 0;
        pl_model_def def = pl_default_model_def();
        def.particle_count = N;
        def.edge_count = N - 1;
        def.positions = pl_doubles(positions, 0);
        def.radii = pl_doubles(radii, 0);
        def.edges = edges;
        pl_model *model;
        assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
        double point[3];
        for (int k = 0; k < 3; k++)
            point[k] = -model->centre[k] / model->unit;
        int32_t particles[4];
        float weights[4];
        assert_int_equal(pl_skin_point(model, point, 4, particles, weights), 4);
        for (int j = 0; j < 4; j++) {
            assert_true(particles[j] != 0);
            assert_true(fabsf(weights[j] - 0.25f) < 0.2f);
        }
        pl_model_release(model);
    }
}

static void the_number_of_particles_is_limited(void **state)
{
    (void)state;
    pl_shape *shape;
    pl_model *model = make_shape_model(PL_SHAPE_BOX, &shape);
    const double point[3] = {0.1, 0.2, 0.3};
    for (int max = -1; max < 12; max++) {
        int32_t particles[PL_MAX_INFLUENCES];
        float weights[PL_MAX_INFLUENCES];
        int expected = max < 1 ? 1 : max > PL_MAX_INFLUENCES ? PL_MAX_INFLUENCES : max;
        int count = pl_skin_point(model, point, max, particles, weights);
        assert_int_equal(count, expected);
        double sum = 0;
        for (int j = 0; j < count; j++)
            sum += weights[j];
        assert_true(fabs(sum - 1) < 1e-6);
    }
    pl_model_release(model);
    pl_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_a_partition_of_unity),
        cmocka_unit_test(the_rest_pose_is_reproduced),
        cmocka_unit_test(the_nearest_particle_comes_first),
        cmocka_unit_test(skin_does_not_jump_across_air),
        cmocka_unit_test(weights_vary_smoothly_along_a_rope),
        cmocka_unit_test(equidistant_and_coincident_particles_get_equal_weights),
        cmocka_unit_test(the_number_of_particles_is_limited),
    };
    return cmocka_run_group_tests_name("shape/skin", tests, NULL, NULL);
}
