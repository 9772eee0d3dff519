/* Tetrahedral bodies in a world: derived from models with tetrahedra, they fall as everything falls, meet bodies of other
   kinds, stand still bit by bit, hang on what holds them, and give the same bits with any number of threads, at any vector
   width, and through snapshots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "math/simd.h"
#include "pliant/pliant.h"
#include "support/check.h"
#include "support/world_kit.h"

/* ---- Things ----------------------------------------------------------------------------------- */

static pl_model *tets_of(pl_model *model)
{
    pl_model *tets;
    pl_error error = {0};
    if (pl_model_tetrahedral(model, &tets, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_release(model);
    return tets;
}

/* So many cells of a tenth of a metre. */
static pl_model *block(int x, int y, int z)
{
    return tets_of(
        world_sized_model(PL_SHAPE_BLOCK, x + 1, y + 1, z + 1, 0.1 * x, 0.1 * y, 0.1 * z, false));
}

static const pl_task_system *host; /* NULL = threads of our own */

static pl_world *world_of(int threads, double gravity)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    def.iterations = 5;
    def.threads = threads;
    def.tasks = host;
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body_def def_of(pl_model *model, const pl_tetrahedral_def *tetrahedral, double x,
                          double y, double z)
{
    pl_body_def def = pl_default_body_def(model);
    def.tetrahedral = tetrahedral;
    def.material.young = 1e5;
    def.material.damping = 0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static pl_body make(pl_world *world, const pl_body_def *def)
{
    pl_body body;
    pl_error error = {0};
    if (pl_body_create(world, def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return body;
}

static pl_body put(pl_world *world, pl_model *model, const pl_tetrahedral_def *tetrahedral,
                   double x, double y, double z)
{
    pl_body_def def = def_of(model, tetrahedral, x, y, z);
    return make(world, &def);
}

static pl_body_state state_of(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state;
}

static double elastic_of(const pl_world *world, pl_body body)
{
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    return energy.elastic;
}

static void add_floor(pl_world *world)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
}

static double *positions_of(const pl_world *world, pl_body body, int *n)
{
    *n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)*n);
    world_read(world, body, PL_POSITIONS, x);
    return x;
}

/* Particles of a block at one end along x: all with i = 0, or i = cells. */
static int end_of(const int cells[3], bool last, int32_t *out)
{
    int count = 0, face = (cells[1] + 1) * (cells[2] + 1);
    for (int i = 0; i < face; i++)
        out[count++] = (last ? cells[0] * face : 0) + i;
    return count;
}

/* ---- Models ----------------------------------------------------------------------------------- */

static void test_block(void **unused)
{
    (void)unused;
    pl_model *model = block(19, 5, 5);
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

/* A corner of no tetrahedron is dropped, and a vertex outside is bound by weights that are not negative and still rests
   where it was. */
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
    model = tets_of(model);
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
    pl_world *world = world_of(1, 0);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &tetrahedral, 0, 0, 0);
    double at[9];
    world_step(world, 3);
    world_read(world, body, PL_VERTICES, at);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(at[i] - vertices[i / 3][i % 3]) < 1e-6);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A cube of five, and on top of it two so flat that a point above the middle is `height` high; `again` of them all are there
   twice. `shift` puts it elsewhere, `scale` makes it larger. The surface is its corners and that point. */
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

/* What the matter would drop is not in the model: the corner nothing else holds neither, and the vertex there hangs on what
   is left. */
static void test_slivers(void **unused)
{
    (void)unused;
    pl_model *model = tets_of(capped_cube(1e-5, 0, 1, 0));
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(info.tet_count, 5);
    assert_int_equal(info.particle_count, 8);
    assert_true(fabs(info.volume - 1) < 1e-6);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = def_of(model, &tetrahedral, 0, 0, 0);
    const int32_t bottom[4] = {0, 1, 4, 5};
    def.material.young = 1e8;
    def.fixed = bottom, def.fixed_count = 4;
    pl_body body = make(world, &def);
    double at[27];
    world_step(world, 60);
    world_read(world, body, PL_VERTICES, at);
    assert_true(fabs(at[3 * 8 + 1] - 1) < 1e-3 && fabs(at[3 * 8] - 0.5) < 1e-3);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Whatever is in a model its body has, too: also where the one is rounded otherwise than the other. */
static void test_all_are_used(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    int kept = 0, dropped = 0;
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_world *world = world_of(1, 0);
    for (int i = 0; i < 400; i++) {
        double height = 1e-7 * pow(10, i / 100.0), shift = i % 7, scale = 0.3 + 0.37 * (i % 11);
        pl_model *thin = capped_cube(height, shift, scale, 0);
        if (!thin) /* without a volume in floats */
            continue;
        pl_model *model = tets_of(thin);
        int count = pl_model_get_info(model).tet_count;
        pl_body body = put(world, model, &tetrahedral, 0, 0, 0);
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
    pl_model *once = tets_of(capped_cube(0, 0, 1, 0)), *twice = tets_of(capped_cube(0, 0, 1, 5));
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
    pl_model *model = block(4, 3, 2);
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
    pl_model *model = block(4, 2, 2);
    pl_world *world = world_of(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &def, 0, 0, 0);
    int n, vertex_count = pl_model_get_info(model).vertex_count;
    double *x = positions_of(world, body, &n);
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

/* ---- Motion ----------------------------------------------------------------------------------- */

static void test_free_fall(void **unused)
{
    (void)unused;
    pl_model *model = block(4, 3, 3);
    for (int rotations = PL_TET_EXACT; rotations <= PL_TET_FOLDED; rotations++) {
        pl_world *world = world_of(1, 9.81);
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        def.rotations = (pl_tet_rotations)rotations;
        def.poisson = 0;
        pl_body body = put(world, model, &def, 0, 100, 0);
        double start = state_of(world, body).centre[1], h = 1.0 / 120, n = 120;
        world_step(world, 60);
        double fallen = start - state_of(world, body).centre[1];
        assert_true(fabs(fallen - 9.81 * h * h * n * (n + 1) / 2) < 1e-9);
        pl_energy energy;
        assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
        assert_true(energy.elastic < 1e-9 * energy.kinetic);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* Momentum goes from one to the other and is not lost. */
static void meet(pl_world *world, pl_body a, pl_body b)
{
    const double right[3] = {2, 0, 0}, left[3] = {-1, 0, 0}, none[3] = {0, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, a, right, none), PL_OK);
    assert_int_equal(pl_body_set_velocity(world, b, left, none), PL_OK);
    double before[3] = {0}, after[3] = {0}, size = 0, came = state_of(world, b).momentum[0];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            before[k] += state_of(world, i ? b : a).momentum[k];
            size += fabs(state_of(world, i ? b : a).momentum[k]);
        }
    world_step(world, 60);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            after[k] += state_of(world, i ? b : a).momentum[k];
    assert_true(fabs(state_of(world, b).momentum[0] - came) > 0.2 * size);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(after[k] - before[k]) < 2e-6 * size);
}

static void test_momentum_between_kinds(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *tets = block(4, 4, 4);
    pl_model *solid = world_sized_model(PL_SHAPE_BOX, 4, 4, 4, 0.4, 0.4, 0.4, true), *clusters;
    pl_clusters_def clusters_def = pl_default_clusters_def();
    clusters_def.count = 6;
    assert_int_equal(pl_model_cluster(solid, &clusters_def, &clusters, NULL), PL_OK);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_clustered_def clustered = pl_default_clustered_def();
    for (int kind = 0; kind < 3; kind++) {
        pl_world *world = world_of(1, 0);
        pl_body_def def = def_of(kind == 0   ? solid
                                 : kind == 1 ? clusters
                                             : tets,
                                 kind == 2 ? &tetrahedral : NULL, -0.5, 0.03, 0);
        def.clustered = kind == 1 ? &clustered : NULL;
        meet(world, make(world, &def), put(world, tets, &tetrahedral, 0.5, 0, 0));
        pl_world_destroy(world);
    }
    pl_model_release(tets);
    pl_model_release(solid);
    pl_model_release(clusters);
}

static void test_rest_keeps_bits(void **unused)
{
    (void)unused;
    pl_model *model = block(5, 2, 3);
    pl_world *world = world_of(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &def, 1, 2, 3);
    int n;
    double *before = positions_of(world, body, &n);
    world_step(world, 50);
    double *after = positions_of(world, body, &n);
    assert_memory_equal(before, after, sizeof(double) * 3 * (size_t)n);
    free(before), free(after);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Stretched by a hundredth along x, with no Poisson's ratio, it stores E/2 ε² V. */
static void test_energy(void **unused)
{
    (void)unused;
    pl_model *model = block(6, 2, 2);
    pl_world *world = world_of(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    pl_body body = put(world, model, &def, 0, 0, 0);
    int n;
    double *x = positions_of(world, body, &n);
    assert_true(elastic_of(world, body) < 1e-9);
    for (int i = 0; i < n; i++)
        x[3 * i] *= 1.01;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    double expected = 0.5 * 1e5 * 1e-4 * 6 * 2 * 2 * 1e-3;
    assert_true(fabs(elastic_of(world, body) - expected) < 1e-3 * expected);
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* On a floor it comes to rest, with its lowest particles on it. */
static void test_rest_on_floor(void **unused)
{
    (void)unused;
    pl_model *model = block(3, 3, 3);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = def_of(model, &tetrahedral, 0, 0.3, 0);
    def.material.damping = 2;
    pl_body body = make(world, &def);
    add_floor(world);
    world_step(world, 240);
    int n;
    double *x = positions_of(world, body, &n), least = 1, radius[3];
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, 1, pl_doubles(radius, 0)), PL_OK);
    for (int i = 0; i < n; i++)
        least = fmin(least, x[3 * i + 1]);
    assert_true(least > 0.5 * radius[0] && least < 1.6 * radius[0]);
    assert_true(fabs(state_of(world, body).velocity[1]) < 1e-3);
    pl_report report;
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_int_equal(report.iterations, 0); /* it sleeps */
    const double up[3] = {0, 1, 0};
    assert_int_equal(pl_body_apply_impulse(world, body, -1, up), PL_OK);
    assert_int_equal(pl_world_step(world, &report), PL_OK);
    assert_true(report.iterations >= 10); /* and wakes */
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* What is stretched beyond its yield keeps a part of it; what is not does not. */
static void test_plastic(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = block(4, 2, 2);
    double length[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        pl_world *world = world_of(1, 0);
        pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
        tetrahedral.yield = plastic ? 0.05 : INFINITY;
        tetrahedral.flow = 50;
        pl_body_def def = def_of(model, &tetrahedral, 0, 0, 0);
        def.material.damping = 5;
        pl_body body = make(world, &def);
        const int cells[3] = {4, 2, 2};
        int32_t ends[18];
        int half = end_of(cells, false, ends), n;
        end_of(cells, true, ends + half);
        assert_int_equal(pl_body_set_fixed(world, body, ends, 2 * half, NULL), PL_OK);
        double *x = positions_of(world, body, &n);
        for (int i = 0; i < 2 * half; i++) {
            double *to = x + 3 * ends[i];
            to[0] *= 1.5;
            assert_int_equal(pl_body_drive(world, body, ends[i], to, NULL), PL_OK);
        }
        world_step(world, 30);
        assert_int_equal(pl_body_set_fixed(world, body, NULL, 0, NULL), PL_OK);
        world_step(world, 120);
        world_read(world, body, PL_POSITIONS, x);
        length[plastic] = x[3 * ends[half + 4]] - x[3 * ends[4]];
        free(x);
        pl_world_destroy(world);
    }
    assert_true(fabs(length[0] - 0.4) < 0.004);
    assert_true(length[1] > 0.48 && length[1] < 0.6);
    pl_model_release(model);
}

/* ---- What holds it ---------------------------------------------------------------------------- */

static void test_held(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = block(6, 2, 2);
    const int cells[3] = {6, 2, 2};
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    int32_t all[63];
    for (int i = 0; i < 63; i++)
        all[i] = i;
    pl_body_def def = def_of(model, &tetrahedral, 0, 1, 0);
    def.fixed = all, def.fixed_count = 63;
    pl_body stone = make(world, &def);
    def.fixed_count = end_of(cells, false, all);
    def.position[1] = 2;
    def.material.damping = 5;
    pl_body beam = make(world, &def);
    double stone_y = state_of(world, stone).centre[1], beam_y = state_of(world, beam).centre[1];
    world_step(world, 200);
    assert_true(state_of(world, stone).centre[1] == stone_y);
    double soft = beam_y - state_of(world, beam).centre[1];
    assert_true(soft > 1e-3 && soft < 0.3);
    /* a stiffer one sags less, in proportion */
    def.material.young = 1e6;
    assert_int_equal(pl_body_set_material(world, beam, &def.material, NULL, NULL, NULL), PL_OK);
    world_step(world, 200);
    double stiff = beam_y - state_of(world, beam).centre[1];
    assert_true(stiff < 0.2 * soft && stiff > 0.05 * soft);
    /* released it falls, and so does what was fixed everywhere */
    assert_int_equal(pl_body_set_fixed(world, beam, NULL, 0, NULL), PL_OK);
    assert_int_equal(pl_body_set_fixed(world, stone, NULL, 0, NULL), PL_OK);
    world_step(world, 10);
    assert_true(state_of(world, beam).velocity[1] < -0.5);
    assert_true(state_of(world, stone).velocity[1] < -0.5);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Denser at one end, the centre of mass lies there; a stiffness map bends it less. */
static void test_maps(void **unused)
{
    (void)unused;
    pl_model *model = block(6, 2, 2);
    pl_model_info info = pl_model_get_info(model);
    float *density = malloc(sizeof(float) * (size_t)info.particle_count);
    float *stiffness = malloc(sizeof(float) * (size_t)info.edge_count);
    for (int i = 0; i < info.particle_count; i++)
        density[i] = i >= info.particle_count / 2 ? 3 : 1;
    for (int i = 0; i < info.edge_count; i++)
        stiffness[i] = 4;
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_world *world = world_of(1, 0);
    pl_body_def def = def_of(model, &tetrahedral, 0, 0, 0);
    double plain = state_of(world, make(world, &def)).mass;
    def.particle_density = density;
    pl_body heavy = make(world, &def);
    assert_true(state_of(world, heavy).mass > 1.9 * plain);
    assert_true(state_of(world, heavy).centre[0] > 0.05);
    def.particle_density = NULL;
    def.edge_stiffness = stiffness;
    pl_body stiff = make(world, &def);
    def.edge_stiffness = NULL;
    def.material.young *= 4;
    pl_body young = make(world, &def);
    int n;
    double *x = positions_of(world, stiff, &n);
    for (int i = 0; i < n; i++)
        x[3 * i] *= 1.02;
    assert_int_equal(pl_body_write(world, stiff, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    assert_int_equal(pl_body_write(world, young, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    double a = elastic_of(world, stiff), b = elastic_of(world, young);
    assert_true(a > 0 && fabs(a - b) < 1e-6 * a);
    free(x), free(density), free(stiffness);
    pl_world_destroy(world);
    pl_model_release(model);
}

static double middle_of(const pl_world *world, pl_body body)
{
    int n;
    double *x = positions_of(world, body, &n), sum = 0;
    for (int i = 4 * 9; i < 5 * 9; i++)
        sum += x[3 * i] / 9;
    free(x);
    return sum;
}

/* A bar of two halves, one four times as stiff, is drawn out: the soft half takes four fifths. So it is after a snapshot. */
static void test_halves(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    const int cells[3] = {8, 2, 2};
    pl_model *model = block(8, 2, 2);
    pl_model_info info = pl_model_get_info(model);
    double(*corner)[3] = malloc(sizeof(double[3]) * (size_t)info.tet_point_count);
    float *stiffness = malloc(sizeof(float) * (size_t)info.tet_count);
    assert_int_equal(
        pl_model_read(model, PL_REST_TET_POINTS, 0, info.tet_point_count, pl_doubles(corner[0], 0)),
        PL_OK);
    for (int t = 0; t < info.tet_count; t++) {
        double x = 0;
        for (int c = 0; c < 4; c++)
            x += corner[pl_model_tets(model)[4 * t + c]][0];
        stiffness[t] = x < 0 ? 1 : 4;
    }
    int32_t ends[18];
    end_of(cells, false, ends);
    end_of(cells, true, ends + 9);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    tetrahedral.poisson = 0;
    pl_world *world = world_of(1, 0), *other = world_of(1, 0);
    pl_body_def def = def_of(model, &tetrahedral, 0, 0, 0);
    def.tet_stiffness = stiffness;
    def.fixed = ends, def.fixed_count = 18;
    def.material.damping = 20;
    pl_body body = make(world, &def);
    double before = middle_of(world, body), pull = 0.04;
    for (int i = 9; i < 18; i++) {
        double to[3] = {corner[ends[i]][0] + pull, corner[ends[i]][1], corner[ends[i]][2]};
        assert_int_equal(pl_body_drive(world, body, ends[i], to, NULL), PL_OK);
    }
    world_step(world, 3);
    size_t size;
    void *bytes = world_snapshot(world, &size);
    assert_int_equal(pl_world_restore(other, bytes, size, &model, 1, NULL), PL_OK);
    world_step(world, 300);
    world_step(other, 300);
    assert_true(pl_world_hash(world) == pl_world_hash(other));
    assert_true(fabs(middle_of(world, body) - before - 0.8 * pull) < 0.002 * pull);
    /* a new material leaves it as it is */
    def.material.young *= 3;
    assert_int_equal(pl_body_set_material(world, body, &def.material, NULL, NULL, NULL), PL_OK);
    world_step(world, 100);
    assert_true(fabs(middle_of(world, body) - before - 0.8 * pull) < 0.002 * pull);
    free(bytes), free(corner), free(stiffness);
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
}

static void test_pin(void **unused)
{
    (void)unused;
    pl_model *model = block(4, 2, 2);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = def_of(model, &tetrahedral, 0, 1, 0);
    def.material.damping = 3;
    pl_body body = make(world, &def);
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_particle(world, body, 4, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, NULL), PL_OK);
    world_step(world, 300);
    double x[3];
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 4, 1, 1, pl_doubles(x, 0)), PL_OK);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(x[k] - pin_def.target[k]) < 0.02);
    assert_true(state_of(world, body).centre[1] < pin_def.target[1] - 0.1); /* it hangs */
    assert_int_equal(pl_pin_destroy(world, pin), PL_OK);
    world_step(world, 20);
    assert_true(state_of(world, body).velocity[1] < -2);
    pl_pin_def turn = pl_default_pin_def(PL_PIN_DIRECTION);
    pl_error error = {0};
    assert_int_equal(pl_pin_at_particle(world, body, 0, &turn), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &turn, &pin, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "tetrahedral"));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Hung on a place by one particle it stays there, and the attachment carries its weight. */
static void test_attachment(void **unused)
{
    (void)unused;
    pl_model *model = block(3, 2, 2);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def body_def = def_of(model, &tetrahedral, 0, 1, 0);
    body_def.material.young = 1e6;
    body_def.material.damping = 3;
    pl_body body = make(world, &body_def);
    pl_attachment_def def = pl_default_attachment_def(PL_ATTACH_TO_PLACE);
    def.body = body;
    def.point = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_particle(world, body, 4, &def.point), PL_OK);
    assert_int_equal(pl_attachment_aim(world, &def), PL_OK);
    pl_attachment attachment;
    assert_int_equal(pl_attachment_create(world, &def, &attachment, NULL), PL_OK);
    world_step(world, 400);
    pl_attachment_state state;
    assert_int_equal(pl_attachment_get_state(world, attachment, &state), PL_OK);
    double weight = 9.81 * state_of(world, body).mass;
    assert_true(fabs(state.gap[0]) + fabs(state.gap[1]) + fabs(state.gap[2]) < 1e-3);
    assert_true(fabs(state.force[1] - weight) < 0.02 * weight);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A force on one particle is momentum of the whole; what a field gives every particle is motion without deformation. */
static void blow(void *user, const pl_field_query *query)
{
    const double *wind = user;
    for (int i = 0; i < query->count; i++)
        for (int k = 0; k < 3; k++)
            query->forces[3 * i + k] = (float)(wind[k] * (double)query->masses[i]);
}

static void test_forces(void **unused)
{
    (void)unused;
    pl_model *model = block(3, 2, 2);
    pl_world *world = world_of(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &def, 0, 0, 0);
    const double force[3] = {3, -2, 1};
    assert_int_equal(pl_body_apply_force(world, body, 5, force), PL_OK);
    world_step(world, 1);
    pl_body_state state = state_of(world, body);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(state.momentum[k] - force[k] / 60) < 1e-6 * 3 / 60);
    assert_true(elastic_of(world, body) > 0);
    world_step(world, 30);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(state_of(world, body).momentum[k] - force[k] / 60) < 1e-6 * 3 / 60);
    double wind[3] = {0, 6, 0};
    pl_body other = put(world, model, &def, 5, 0, 0);
    assert_int_equal(pl_world_set_field(world, blow, wind), PL_OK);
    world_step(world, 60);
    assert_true(fabs(state_of(world, other).velocity[1] - 6) < 1e-5);
    assert_true(elastic_of(world, other) < 1e-6);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Two pieces in one body move independently: one is held, the other falls. */
static void test_several_pieces(void **unused)
{
    (void)unused;
    double points[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            points[4 + i][k] = points[i][k] + (k == 0 ? 3 : 0);
    const int32_t tets[8] = {0, 1, 2, 3, 4, 5, 6, 7}, fixed[1] = {0};
    double radii[3] = {1, 1, 1};
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(points[0], 0);
    def.radii = pl_doubles(radii, 0);
    def.tet_point_count = 8;
    def.tet_points = pl_doubles(points[0], 0);
    def.tet_count = 2;
    def.tets = tets;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    model = tets_of(model);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def body_def = def_of(model, &tetrahedral, 0, 0, 0);
    body_def.fixed = fixed, body_def.fixed_count = 1;
    pl_body body = make(world, &body_def);
    pl_body_info info;
    assert_int_equal(pl_body_get_info(world, body, &info), PL_OK);
    assert_int_equal(info.kind, PL_MATTER_TETRAHEDRAL);
    assert_int_equal(info.piece_count, 2);
    assert_int_equal(info.tet_count, 2);
    world_step(world, 60);
    double x[24], h = 1.0 / 120, n = 120, fallen = 9.81 * h * h * n * (n + 1) / 2;
    world_read(world, body, PL_POSITIONS, x);
    assert_true(fabs(x[0]) < 1e-6 && fabs(x[1]) < 1e-6);
    for (int i = 4; i < 8; i++)
        assert_true(fabs(points[i][1] - x[3 * i + 1] - fallen) < 1e-3);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Same bits -------------------------------------------------------------------------------- */

/* Instances, a driven one, an interpolated one, a plastic one and an oriented one in a heap. */
typedef struct heap {
    pl_world *world;
    pl_model *models[3];
    pl_body driven;
    pl_pin pin;
} heap;

static void heap_make(heap *h, int threads)
{
    const int cells[3] = {5, 2, 2};
    int32_t fixed[9];
    h->world = world_of(threads, 9.81);
    h->models[0] = block(3, 2, 2);
    h->models[1] = block(5, 2, 2);
    h->models[2] = world_sized_model(PL_SHAPE_BOX, 3, 3, 3, 0.3, 0.3, 0.3, true);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    add_floor(h->world);
    for (int i = 0; i < 7; i++)
        put(h->world, h->models[0], &tetrahedral, 0.02 * i, 0.3 + 0.35 * i, 0.01 * i);
    pl_body_def def = def_of(h->models[2], NULL, 0.05, 3, 0);
    make(h->world, &def);
    def = def_of(h->models[1], &tetrahedral, 0.6, 0.5, 0);
    def.fixed = fixed, def.fixed_count = end_of(cells, true, fixed);
    h->driven = make(h->world, &def);
    tetrahedral.yield = 0.02;
    put(h->world, h->models[1], &tetrahedral, 0.1, 3.5, 0);
    tetrahedral.yield = INFINITY;
    tetrahedral.rotations = PL_TET_QUATERNION;
    tetrahedral.volume = PL_TET_DETERMINANT;
    pl_body blended = put(h->world, h->models[1], &tetrahedral, 0.1, 4, 0.1);
    pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_particle(h->world, blended, 3, &pin), PL_OK);
    assert_int_equal(pl_pin_create(h->world, blended, &pin, &h->pin, NULL), PL_OK);
}

static void heap_run(heap *h, int first, int end)
{
    for (int frame = first; frame < end; frame++) {
        const double to[3] = {0.85, 0.5 + 0.01 * (frame % 20), 0};
        assert_int_equal(pl_body_drive(h->world, h->driven, 49, to, NULL), PL_OK);
        world_step(h->world, 1);
    }
}

static void heap_free(heap *h)
{
    pl_world_destroy(h->world);
    for (int i = 0; i < 3; i++)
        pl_model_release(h->models[i]);
}

enum { FRAMES = 80, SLOW_FRAMES = 16 };

static int frames(void)
{
    return world_is_slow_build() ? SLOW_FRAMES : FRAMES;
}

static uint64_t heap_hash(int threads)
{
    heap h;
    heap_make(&h, threads);
    heap_run(&h, 0, frames());
    uint64_t hash = pl_world_hash(h.world);
    heap_free(&h);
    return hash;
}

static void test_threads(void **unused)
{
    (void)unused;
    uint64_t expected = heap_hash(1);
    assert_true(heap_hash(2) == expected);
    assert_true(heap_hash(7) == expected);
    const pl_task_system hosts[2] = {world_reverse_tasks(), world_thread_tasks()};
    for (int i = 0; i < 2; i++) {
        host = hosts + i;
        assert_true(heap_hash(1) == expected);
    }
    host = NULL;
}

static const char *self;

static void test_widths(void **unused)
{
    (void)unused;
    uint64_t expected = heap_hash(1);
    for (int width = 4; width <= 16; width *= 2) {
        if (!pl_simd_supports(width))
            continue;
        char command[1200];
        unsigned long long hash = 0;
        snprintf(command, sizeof command, "PLIANT_SIMD=%d '%s' hash", width, self);
        FILE *other = popen(command, "r");
        assert_non_null(other);
        assert_int_equal(fscanf(other, "%llx", &hash), 1);
        pclose(other);
        assert_true(hash == expected);
    }
}

static void test_snapshot(void **unused)
{
    (void)unused;
    heap h, other;
    heap_make(&h, 1);
    heap_make(&other, 2);
    heap_run(&h, 0, frames() / 2);
    size_t size;
    void *bytes = world_snapshot(h.world, &size);
    pl_error error = {0};
    if (pl_world_restore(other.world, bytes, size, h.models, 3, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    assert_true(pl_world_hash(other.world) == pl_world_hash(h.world));
    heap_run(&h, frames() / 2, frames());
    heap_run(&other, frames() / 2, frames());
    assert_true(pl_world_hash(other.world) == pl_world_hash(h.world));
    /* cut short or with a bit turned it is refused, and nothing changes */
    uint64_t hash = pl_world_hash(other.world);
    for (size_t cut = 7; cut < size; cut += size / 37) {
        assert_int_equal(pl_world_restore(other.world, bytes, cut, h.models, 3, NULL),
                         PL_ERROR_FORMAT);
        ((unsigned char *)bytes)[cut] ^= 16;
        assert_int_equal(pl_world_restore(other.world, bytes, size, h.models, 3, NULL),
                         PL_ERROR_FORMAT);
        ((unsigned char *)bytes)[cut] ^= 16;
    }
    assert_true(pl_world_hash(other.world) == hash);
    free(bytes);
    heap_free(&h);
    heap_free(&other);
}

/* Bytes that were changed with the closing hash put right: whatever is accepted runs. */
static void test_forged_snapshot(void **unused)
{
    (void)unused;
    pl_model *model = block(1, 1, 1);
    pl_world *world = world_of(1, 9.81), *other = world_of(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.yield = 0.1;
    put(world, model, &def, 0, 0, 0);
    world_step(world, 2);
    size_t size, end;
    unsigned char *bytes = world_snapshot(world, &size);
    end = size - sizeof(uint64_t);
    int refused = 0, stride = world_is_slow_build() ? 23 : 1;
    for (size_t at = 12; at < end; at += (size_t)stride) {
        unsigned char was = bytes[at];
        bytes[at] ^= (unsigned char)(1 << at % 8);
        uint64_t hash = pl_hash_of(bytes, end, 0);
        memcpy(bytes + end, &hash, sizeof hash);
        if (pl_world_restore(other, bytes, size, &model, 1, NULL) == PL_OK)
            pl_world_step(other, NULL);
        else
            refused++;
        bytes[at] = was;
    }
    assert_true(refused > 100 / stride);
    free(bytes);
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
}

/* Solved beside instances or alone: the same bits. */
static void test_instances(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = block(4, 2, 2);
    double *alone = NULL;
    int n = 0;
    for (int count = 1; count <= 20; count += 19) {
        pl_world *world = world_of(1, 9.81);
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        add_floor(world);
        pl_body first = put(world, model, &def, 0, 0.3, 0);
        const double spin[3] = {1, 2, 3}, still[3] = {0, 0, 0};
        assert_int_equal(pl_body_set_velocity(world, first, still, spin), PL_OK);
        for (int i = 1; i < count; i++)
            put(world, model, &def, 3.0 * i, 0.3, 0);
        world_step(world, 40);
        double *x = positions_of(world, first, &n);
        if (alone)
            assert_memory_equal(alone, x, sizeof(double) * 3 * (size_t)n);
        free(alone);
        alone = x;
        pl_world_destroy(world);
    }
    free(alone);
    pl_model_release(model);
}

/* Another step length and back: as if it had been created with it. */
static void test_set_step(void **unused)
{
    (void)unused;
    pl_model *model = block(4, 2, 2);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &def, 0, 0, 0);
    assert_int_equal(pl_world_set_step(world, 1.0 / 30, 1), PL_OK);
    world_step(world, 30);
    double h = 1.0 / 30, n = 30;
    assert_true(fabs(state_of(world, body).centre[1] + 9.81 * h * h * n * (n + 1) / 2) < 1e-8);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static void test_no_allocation(void **unused)
{
    (void)unused;
    heap h;
    heap_make(&h, 2);
    heap_run(&h, 0, 2);
    uint64_t before = pl_world_allocations(h.world);
    heap_run(&h, 2, 12);
    assert_true(pl_world_allocations(h.world) == before);
    heap_free(&h);
}

/* Everything a body needs memory for, once with each allocation failing: PL_ERROR_MEMORY, and nothing is lost. */
static pl_status attempt(pl_allocator *allocator, pl_model *model)
{
    pl_world *world = NULL;
    pl_world_def def = pl_default_world_def();
    def.allocator = allocator;
    pl_status status = pl_world_create(&def, &world, NULL);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    tetrahedral.yield = 0.1;
    pl_body_def body_def = def_of(model, &tetrahedral, 0, 0, 0);
    pl_body body = {0, 0};
    const int32_t fixed[2] = {0, 1};
    if (status == PL_OK)
        status = pl_body_create(world, &body_def, &body, NULL);
    if (status == PL_OK)
        status = pl_body_set_fixed(world, body, fixed, 2, NULL);
    if (status == PL_OK)
        status = pl_world_set_step(world, 0.01, 1);
    if (status == PL_OK)
        status = pl_world_step(world, NULL);
    pl_world_destroy(world);
    return status;
}

static void test_memory(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = block(1, 1, 1);
    world_heap memory;
    world_heap_init(&memory);
    assert_int_equal(attempt(&memory.allocator, model), PL_OK);
    int64_t calls = memory.calls;
    assert_true(calls > 50);
    for (int64_t fail = 0; fail < calls; fail++) {
        world_heap_init(&memory);
        memory.fail_from = fail;
        assert_int_equal(attempt(&memory.allocator, model), PL_ERROR_MEMORY);
        assert_int_equal(memory.blocks, 0);
    }
    pl_model_release(model);
}

/* ---- Mistakes --------------------------------------------------------------------------------- */

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
        pl_body_def def = def_of(model, &tetrahedral, 0, 0, 0);                                    \
        change;                                                                                    \
        refuses(world, &def, where, text);                                                         \
    } while (0)

static void test_mistakes(void **unused)
{
    (void)unused;
    world_hush();
    pl_model *model = block(2, 2, 2), *box = world_model(PL_SHAPE_BOX, 3, 3, 3), *none;
    pl_world *world = world_of(1, 0);
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

/* A state that overflows is put back, and nothing that is no number is left. */
static void test_rescue(void **unused)
{
    (void)unused;
    pl_model *model = block(2, 2, 2);
    pl_world *world = world_of(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = put(world, model, &def, 0, 0, 0);
    int n;
    double *x = positions_of(world, body, &n);
    for (int i = 0; i < 3 * n; i++)
        x[i] = i % 7 == 0 ? 1e17 : 0;
    pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0));
    world_step(world, 20);
    assert_true(world_is_finite(world, body));
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_derived_model),
        cmocka_unit_test(test_slivers),
        cmocka_unit_test(test_all_are_used),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_radii),
        cmocka_unit_test(test_surface_follows),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_momentum_between_kinds),
        cmocka_unit_test(test_rest_keeps_bits),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_rest_on_floor),
        cmocka_unit_test(test_plastic),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_several_pieces),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_forged_snapshot),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_set_step),
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_rescue),
    };
    if (argc == 2 && strcmp(argv[1], "hash") == 0) {
        printf("%llx\n", (unsigned long long)heap_hash(1));
        return 0;
    }
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
