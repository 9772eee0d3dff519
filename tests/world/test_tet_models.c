/* Models of tetrahedral bodies: what is derived from a model with tetrahedra, flat and doubled
   ones, radii, the surface that follows; and what is refused when a body is made of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tet_cases.h"

/* ---- Models ---------------------------------------------------------------------------------- */

static void test_block(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(19, 5, 5);
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(info.tet_count, 2375);
    assert_int_equal(info.particle_count, 20 * 6 * 6);
    assert_int_equal(info.tet_point_count, info.particle_count);
    assert_int_equal(info.piece_count, 1);
    assert_true(fabs(info.volume - 19 * 5 * 5 * 1e-3) < 1e-6);
    /* Euler: V − E + F − T = 1 of a ball, with 4 T = 2 F − (outer faces) */
    int outer = 4 * (19 * 5 * 2 + 5 * 5), faces = (4 * info.tet_count + outer) / 2;
    assert_int_equal(info.particle_count - info.edge_count + faces - info.tet_count, 1);
    pl_model_release(model);
}

/* A corner of no tetrahedron is dropped, and a vertex outside is bound by weights that are not
   negative and still rests where it was. */
static void test_derived_model(void **unused)
{
    (void)unused;
    double points[6][3] = {{0, 0, 0}, {9, 9, 9}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const int32_t tets[8] = {0, 2, 3, 4, 5, 3, 2, 4};
    double vertices[3][3] = {{0.25, 0.25, 0.25}, {-0.2, 0.1, 0.1}, {1, 1, 1}};
    double radii[3] = {1, 1, 1};
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(points[0], 0);
    def.radii = pl_doubles(radii, 0);
    def.vertex_count = 3;
    def.vertices = pl_doubles(vertices[0], 0);
    def.tet_point_count = 6;
    def.tet_points = pl_doubles(points[0], 0);
    def.tet_count = 2;
    def.tets = tets;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    model = tet_model(model);
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(info.particle_count, 5);
    assert_int_equal(info.edge_count, 9);
    assert_true(fabs(info.volume - (1.0 / 6 + 2.0 / 6)) < 1e-6);
    const int32_t expected[8] = {0, 1, 2, 3, 4, 2, 1, 3};
    assert_memory_equal(pl_model_tets(model), expected, sizeof expected);
    const float *weights = pl_model_weights(model);
    for (int v = 0; v < 3; v++) {
        double sum = 0;
        for (int k = 0; k < info.influence_count; k++) {
            assert_true(weights[info.influence_count * v + k] >= 0);
            sum += (double)weights[info.influence_count * v + k];
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    pl_world *world = tet_world(1, 0);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &tetrahedral, 0, 0, 0);
    double at[9];
    world_step(world, 3);
    world_read(world, body, PL_VERTICES, at);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(at[i] - vertices[i / 3][i % 3]) < 1e-6);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A cube of five, and on top of it two so flat that a point above the middle is `height` high;
   `again` of them all are there twice. `shift` puts it elsewhere, `scale` makes it larger. The
   surface is its corners and that point. */
static pl_model *capped_cube(double height, double shift, double scale, int again)
{
    const int32_t tets[7][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2},
                                {1, 2, 4, 7}, {2, 7, 3, 8}, {2, 6, 7, 8}};
    int32_t all[14][4];
    double points[9][3] = {[8] = {0.5, 1 + height, 0.5}}, radii[3] = {1, 1, 1};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++)
            points[i][k] = scale * (shift + (i < 8 ? (double)(i >> k & 1) : points[i][k]));
    for (int t = 0; t < 14; t++)
        memcpy(all[t], tets[t % 7], sizeof all[t]);
    if (height == 0) /* without the flat ones */
        memmove(all[5], all[7], sizeof all[0] * 5);
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(points[0], 0);
    def.radii = pl_doubles(radii, 0);
    def.vertex_count = 9;
    def.vertices = pl_doubles(points[0], 0);
    def.tet_point_count = 9;
    def.tet_points = pl_doubles(points[0], 0);
    def.tet_count = (height == 0 ? 5 : 7) + again;
    def.tets = all[0];
    pl_model *model;
    return pl_model_create(&def, &model, NULL) == PL_OK ? model : NULL;
}

/* What the matter would drop is not in the model: the corner nothing else holds neither, and the
   vertex there hangs on what is left. */
static void test_slivers(void **unused)
{
    (void)unused;
    pl_model *model = tet_model(capped_cube(1e-5, 0, 1, 0));
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(info.tet_count, 5);
    assert_int_equal(info.particle_count, 8);
    assert_true(fabs(info.volume - 1) < 1e-6);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0, 0);
    const int32_t bottom[4] = {0, 1, 4, 5};
    def.material.young = 1e8;
    def.fixed = bottom, def.fixed_count = 4;
    pl_body body = tet_make(world, &def);
    double at[27];
    world_step(world, 60);
    world_read(world, body, PL_VERTICES, at);
    assert_true(fabs(at[3 * 8 + 1] - 1) < 1e-3 && fabs(at[3 * 8] - 0.5) < 1e-3);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Whatever is in a model its body has, too: also where the one is rounded otherwise than the
   other. */
static void test_all_are_used(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    int kept = 0, dropped = 0;
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_world *world = tet_world(1, 0);
    for (int i = 0; i < 400; i++) {
        double height = 1e-7 * pow(10, i / 100.0), shift = i % 7, scale = 0.3 + 0.37 * (i % 11);
        pl_model *thin = capped_cube(height, shift, scale, 0);
        if (!thin) /* without a volume in floats */
            continue;
        pl_model *model = tet_model(thin);
        int count = pl_model_get_info(model).tet_count;
        pl_body body = tet_put(world, model, &tetrahedral, 0, 0, 0);
        pl_body_info info;
        assert_int_equal(pl_body_get_info(world, body, &info), PL_OK);
        assert_int_equal(info.tet_count, count);
        assert_true(count == 5 || pl_model_get_info(model).particle_count == 9);
        kept += count == 7, dropped += count == 5;
        assert_int_equal(pl_body_destroy(world, body), PL_OK);
        pl_model_release(model);
    }
    assert_true(kept > 50 && dropped > 50);
    pl_world_destroy(world);
}

/* The same tetrahedra twice are the same model, and nothing but flat ones none. */
static void test_duplicates(void **unused)
{
    (void)unused;
    pl_model *once = tet_model(capped_cube(0, 0, 1, 0)),
             *twice = tet_model(capped_cube(0, 0, 1, 5));
    assert_true(pl_model_get_info(once).hash == pl_model_get_info(twice).hash);
    pl_model_release(once);
    pl_model_release(twice);
    double points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 1e-6}}, radii[3] = {1, 1, 1};
    const int32_t tet[4] = {0, 1, 2, 3};
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(points[0], 0);
    def.radii = pl_doubles(radii, 0);
    def.tet_point_count = 4;
    def.tet_points = pl_doubles(points[0], 0);
    def.tet_count = 1;
    def.tets = tet;
    pl_model *flat, *none;
    pl_error error = {0};
    assert_int_equal(pl_model_create(&def, &flat, NULL), PL_OK);
    assert_int_equal(pl_model_tetrahedral(flat, &none, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "flat"));
    pl_model_release(flat);
}

/* Spheres on the surface and inside, by the mean length of their edges. */
static void test_radii(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(4, 3, 2);
    pl_model_info info = pl_model_get_info(model);
    double x[60][3], radius[60][3], length[60] = {0}, count[60] = {0};
    const int32_t *edges = pl_model_edges(model);
    assert_int_equal(info.particle_count, 60);
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, 60, pl_doubles(x[0], 0)), PL_OK);
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, 60, pl_doubles(radius[0], 0)), PL_OK);
    for (int e = 0; e < 2 * info.edge_count; e++) {
        const double *a = x[edges[e]], *b = x[edges[e ^ 1]];
        double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        length[edges[e]] += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        count[edges[e]]++;
    }
    for (int i = 0; i < 60; i++) {
        bool inside = fabs(x[i][0]) < 0.19 && fabs(x[i][1]) < 0.14 && fabs(x[i][2]) < 0.09;
        double expected = (inside ? 0.6 : 0.35) * length[i] / count[i];
        assert_true(fabs(radius[i][0] - expected) < 1e-6);
    }
    pl_model_release(model);
}

/* A body stretched as a whole carries its surface along, exactly. */
static void test_surface_follows(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(4, 2, 2);
    pl_world *world = tet_world(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &def, 0, 0, 0);
    int n, vertex_count = pl_model_get_info(model).vertex_count;
    double *x = tet_positions(world, body, &n);
    double *before = malloc(sizeof(double) * 3 * (size_t)vertex_count);
    double *after = malloc(sizeof(double) * 3 * (size_t)vertex_count);
    world_read(world, body, PL_VERTICES, before);
    for (int i = 0; i < n; i++)
        x[3 * i] *= 1.5;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    world_read(world, body, PL_VERTICES, after);
    for (int v = 0; v < vertex_count; v++) {
        assert_true(fabs(after[3 * v] - 1.5 * before[3 * v]) < 1e-6);
        assert_true(fabs(after[3 * v + 1] - before[3 * v + 1]) < 1e-6);
    }
    free(x), free(before), free(after);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void refuses(pl_world *world, const pl_body_def *def, const char *where, const char *text)
{
    pl_body body;
    pl_error error = {0};
    uint64_t hash = pl_world_hash(world);
    assert_int_equal(pl_body_create(world, def, &body, &error), PL_ERROR_ARGUMENT);
    if (strcmp(error.where, where) != 0 || !strstr(error.text, text))
        fail_msg("%s: %s", error.where, error.text);
    assert_true(pl_world_hash(world) == hash);
}

#define REFUSES(change, where, text)                                                               \
    do {                                                                                           \
        pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();                             \
        pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0, 0);                              \
        change;                                                                                    \
        refuses(world, &def, where, text);                                                         \
    } while (0)

static void test_mistakes(void **unused)
{
    (void)unused;
    world_hush();
    pl_model *model = tet_block(2, 2, 2), *box = world_model(PL_SHAPE_BOX, 3, 3, 3), *none;
    pl_world *world = tet_world(1, 0);
    pl_clustered_def clustered = pl_default_clustered_def();
    REFUSES(tetrahedral.poisson = 0.5, "tetrahedral.poisson", "0.5");
    REFUSES(tetrahedral.poisson = -0.1, "tetrahedral.poisson", "0 to 0.4999");
    REFUSES(tetrahedral.poisson = NAN, "tetrahedral.poisson", "0 to 0.4999");
    REFUSES(tetrahedral.sampled = 0, "tetrahedral.sampled", "above 0");
    REFUSES(tetrahedral.sampled = 1.5, "tetrahedral.sampled", "at most 1");
    REFUSES(tetrahedral.yield = -1, "tetrahedral.yield", "0 or more");
    REFUSES(tetrahedral.flow = 1e10, "tetrahedral.flow", "1e9");
    REFUSES((tetrahedral.rotations = PL_TET_QUATERNION, tetrahedral.yield = 1), "tetrahedral.yield",
            "exact");
    float factors[40] = {[7] = -1};
    for (int i = 0; i < 7; i++)
        factors[i] = 1;
    REFUSES(def.tet_stiffness = factors, "tet_stiffness[7]", "above 0");
    REFUSES((def.tet_stiffness = factors, def.tetrahedral = NULL), "tet_stiffness", "tetrahedral");
    REFUSES(def.material.young = 1e30, "material.young", "too large for the step");
    REFUSES(def.material.young = 0, "material.young", "");
    REFUSES(def.material.young = -1, "material.young", "");
    REFUSES(def.material.density = 0, "material.density", "");
    REFUSES(def.material.stiffness = 1e6, "stiffness", "young");
    REFUSES(def.model = box, "model", "pl_model_tetrahedral");
    REFUSES(def.clustered = &clustered, "tetrahedral", "clustered");
    pl_error error = {0};
    assert_int_equal(pl_model_tetrahedral(box, &none, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "no tetrahedra"));
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),           cmocka_unit_test(test_derived_model),
        cmocka_unit_test(test_slivers),         cmocka_unit_test(test_all_are_used),
        cmocka_unit_test(test_duplicates),      cmocka_unit_test(test_radii),
        cmocka_unit_test(test_surface_follows), cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
