/* Tetrahedral bodies in a world: they fall as everything falls, meet bodies of other kinds, stand
   still bit by bit, hang on what holds them, and come back from a state that overflows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tet_cases.h"

/* ---- Motion ---------------------------------------------------------------------------------- */

static void test_free_fall(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(4, 3, 3);
    for (int rotations = PL_TET_EXACT; rotations <= PL_TET_FOLDED; rotations++) {
        pl_world *world = tet_world(1, 9.81);
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        def.rotations = (pl_tet_rotations)rotations;
        def.poisson = 0;
        pl_body body = tet_put(world, model, &def, 0, 100, 0);
        double start = tet_state(world, body).centre[1], h = 1.0 / 120, n = 120;
        world_step(world, 60);
        double fallen = start - tet_state(world, body).centre[1];
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
    double before[3] = {0}, after[3] = {0}, size = 0, came = tet_state(world, b).momentum[0];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            before[k] += tet_state(world, i ? b : a).momentum[k];
            size += fabs(tet_state(world, i ? b : a).momentum[k]);
        }
    world_step(world, 60);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            after[k] += tet_state(world, i ? b : a).momentum[k];
    assert_true(fabs(tet_state(world, b).momentum[0] - came) > 0.2 * size);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(after[k] - before[k]) < 2e-6 * size);
}

static void test_momentum_between_kinds(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *tets = tet_block(4, 4, 4);
    pl_model *solid = world_sized_model(PL_SHAPE_BOX, 4, 4, 4, 0.4, 0.4, 0.4, true), *clusters;
    pl_clusters_def clusters_def = pl_default_clusters_def();
    clusters_def.count = 6;
    assert_int_equal(pl_model_cluster(solid, &clusters_def, &clusters, NULL), PL_OK);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_clustered_def clustered = pl_default_clustered_def();
    for (int kind = 0; kind < 3; kind++) {
        pl_world *world = tet_world(1, 0);
        pl_body_def def = tet_body_def(kind == 0   ? solid
                                       : kind == 1 ? clusters
                                                   : tets,
                                       kind == 2 ? &tetrahedral : NULL, -0.5, 0.03, 0);
        def.clustered = kind == 1 ? &clustered : NULL;
        meet(world, tet_make(world, &def), tet_put(world, tets, &tetrahedral, 0.5, 0, 0));
        pl_world_destroy(world);
    }
    pl_model_release(tets);
    pl_model_release(solid);
    pl_model_release(clusters);
}

static void test_rest_keeps_bits(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(5, 2, 3);
    pl_world *world = tet_world(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &def, 1, 2, 3);
    int n;
    double *before = tet_positions(world, body, &n);
    world_step(world, 50);
    double *after = tet_positions(world, body, &n);
    assert_memory_equal(before, after, sizeof(double) * 3 * (size_t)n);
    free(before), free(after);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Stretched by a hundredth along x, with no Poisson's ratio, it stores E/2 ε² V. */
static void test_energy(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(6, 2, 2);
    pl_world *world = tet_world(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    pl_body body = tet_put(world, model, &def, 0, 0, 0);
    int n;
    double *x = tet_positions(world, body, &n);
    assert_true(tet_elastic(world, body) < 1e-9);
    for (int i = 0; i < n; i++)
        x[3 * i] *= 1.01;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    double expected = 0.5 * 1e5 * 1e-4 * 6 * 2 * 2 * 1e-3;
    assert_true(fabs(tet_elastic(world, body) - expected) < 1e-3 * expected);
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* On a floor it comes to rest, with its lowest particles on it. */
static void test_rest_on_floor(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(3, 3, 3);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0.3, 0);
    def.material.damping = 2;
    pl_body body = tet_make(world, &def);
    tet_floor(world);
    world_step(world, 240);
    int n;
    double *x = tet_positions(world, body, &n), least = 1, radius[3];
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, 1, pl_doubles(radius, 0)), PL_OK);
    for (int i = 0; i < n; i++)
        least = fmin(least, x[3 * i + 1]);
    assert_true(least > 0.5 * radius[0] && least < 1.6 * radius[0]);
    assert_true(fabs(tet_state(world, body).velocity[1]) < 1e-3);
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
    pl_model *model = tet_block(4, 2, 2);
    double length[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        pl_world *world = tet_world(1, 0);
        pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
        tetrahedral.yield = plastic ? 0.05 : INFINITY;
        tetrahedral.flow = 50;
        pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0, 0);
        def.material.damping = 5;
        pl_body body = tet_make(world, &def);
        const int cells[3] = {4, 2, 2};
        int32_t ends[18];
        int half = tet_end(cells, false, ends), n;
        tet_end(cells, true, ends + half);
        assert_int_equal(pl_body_set_fixed(world, body, ends, 2 * half, NULL), PL_OK);
        double *x = tet_positions(world, body, &n);
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

/* ---- What holds it --------------------------------------------------------------------------- */

static void test_held(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_model *model = tet_block(6, 2, 2);
    const int cells[3] = {6, 2, 2};
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    int32_t all[63];
    for (int i = 0; i < 63; i++)
        all[i] = i;
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 1, 0);
    def.fixed = all, def.fixed_count = 63;
    pl_body stone = tet_make(world, &def);
    def.fixed_count = tet_end(cells, false, all);
    def.position[1] = 2;
    def.material.damping = 5;
    pl_body beam = tet_make(world, &def);
    double stone_y = tet_state(world, stone).centre[1], beam_y = tet_state(world, beam).centre[1];
    world_step(world, 200);
    assert_true(tet_state(world, stone).centre[1] == stone_y);
    double soft = beam_y - tet_state(world, beam).centre[1];
    assert_true(soft > 1e-3 && soft < 0.3);
    /* a stiffer one sags less, in proportion */
    def.material.young = 1e6;
    assert_int_equal(pl_body_set_material(world, beam, &def.material, NULL, NULL, NULL), PL_OK);
    world_step(world, 200);
    double stiff = beam_y - tet_state(world, beam).centre[1];
    assert_true(stiff < 0.2 * soft && stiff > 0.05 * soft);
    /* released it falls, and so does what was fixed everywhere */
    assert_int_equal(pl_body_set_fixed(world, beam, NULL, 0, NULL), PL_OK);
    assert_int_equal(pl_body_set_fixed(world, stone, NULL, 0, NULL), PL_OK);
    world_step(world, 10);
    assert_true(tet_state(world, beam).velocity[1] < -0.5);
    assert_true(tet_state(world, stone).velocity[1] < -0.5);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Denser at one end, the centre of mass lies there; a stiffness map bends it less. */
static void test_maps(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(6, 2, 2);
    pl_model_info info = pl_model_get_info(model);
    float *density = malloc(sizeof(float) * (size_t)info.particle_count);
    float *stiffness = malloc(sizeof(float) * (size_t)info.edge_count);
    for (int i = 0; i < info.particle_count; i++)
        density[i] = i >= info.particle_count / 2 ? 3 : 1;
    for (int i = 0; i < info.edge_count; i++)
        stiffness[i] = 4;
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_world *world = tet_world(1, 0);
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0, 0);
    double plain = tet_state(world, tet_make(world, &def)).mass;
    def.particle_density = density;
    pl_body heavy = tet_make(world, &def);
    assert_true(tet_state(world, heavy).mass > 1.9 * plain);
    assert_true(tet_state(world, heavy).centre[0] > 0.05);
    def.particle_density = NULL;
    def.edge_stiffness = stiffness;
    pl_body stiff = tet_make(world, &def);
    def.edge_stiffness = NULL;
    def.material.young *= 4;
    pl_body young = tet_make(world, &def);
    int n;
    double *x = tet_positions(world, stiff, &n);
    for (int i = 0; i < n; i++)
        x[3 * i] *= 1.02;
    assert_int_equal(pl_body_write(world, stiff, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    assert_int_equal(pl_body_write(world, young, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    double a = tet_elastic(world, stiff), b = tet_elastic(world, young);
    assert_true(a > 0 && fabs(a - b) < 1e-6 * a);
    free(x), free(density), free(stiffness);
    pl_world_destroy(world);
    pl_model_release(model);
}

static double middle_of(const pl_world *world, pl_body body)
{
    int n;
    double *x = tet_positions(world, body, &n), sum = 0;
    for (int i = 4 * 9; i < 5 * 9; i++)
        sum += x[3 * i] / 9;
    free(x);
    return sum;
}

/* A bar of two halves, one four times as stiff, is drawn out: the soft half takes four fifths. So
   it is after a snapshot. */
static void test_halves(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    const int cells[3] = {8, 2, 2};
    pl_model *model = tet_block(8, 2, 2);
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
    tet_end(cells, false, ends);
    tet_end(cells, true, ends + 9);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    tetrahedral.poisson = 0;
    pl_world *world = tet_world(1, 0), *other = tet_world(1, 0);
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 0, 0);
    def.tet_stiffness = stiffness;
    def.fixed = ends, def.fixed_count = 18;
    def.material.damping = 20;
    pl_body body = tet_make(world, &def);
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
    pl_model *model = tet_block(4, 2, 2);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def def = tet_body_def(model, &tetrahedral, 0, 1, 0);
    def.material.damping = 3;
    pl_body body = tet_make(world, &def);
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    assert_int_equal(pl_pin_at_particle(world, body, 4, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, NULL), PL_OK);
    world_step(world, 300);
    double x[3];
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 4, 1, 1, pl_doubles(x, 0)), PL_OK);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(x[k] - pin_def.target[k]) < 0.02);
    assert_true(tet_state(world, body).centre[1] < pin_def.target[1] - 0.1); /* it hangs */
    assert_int_equal(pl_pin_destroy(world, pin), PL_OK);
    world_step(world, 20);
    assert_true(tet_state(world, body).velocity[1] < -2);
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
    pl_model *model = tet_block(3, 2, 2);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def body_def = tet_body_def(model, &tetrahedral, 0, 1, 0);
    body_def.material.young = 1e6;
    body_def.material.damping = 3;
    pl_body body = tet_make(world, &body_def);
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
    double weight = 9.81 * tet_state(world, body).mass;
    assert_true(fabs(state.gap[0]) + fabs(state.gap[1]) + fabs(state.gap[2]) < 1e-3);
    assert_true(fabs(state.force[1] - weight) < 0.02 * weight);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A force on one particle is momentum of the whole; what a field gives every particle is motion
   without deformation. */
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
    pl_model *model = tet_block(3, 2, 2);
    pl_world *world = tet_world(1, 0);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &def, 0, 0, 0);
    const double force[3] = {3, -2, 1};
    assert_int_equal(pl_body_apply_force(world, body, 5, force), PL_OK);
    world_step(world, 1);
    pl_body_state state = tet_state(world, body);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(state.momentum[k] - force[k] / 60) < 1e-6 * 3 / 60);
    assert_true(tet_elastic(world, body) > 0);
    world_step(world, 30);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(tet_state(world, body).momentum[k] - force[k] / 60) < 1e-6 * 3 / 60);
    double wind[3] = {0, 6, 0};
    pl_body other = tet_put(world, model, &def, 5, 0, 0);
    assert_int_equal(pl_world_set_field(world, blow, wind), PL_OK);
    world_step(world, 60);
    assert_true(fabs(tet_state(world, other).velocity[1] - 6) < 1e-5);
    assert_true(tet_elastic(world, other) < 1e-6);
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
    model = tet_model(model);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def tetrahedral = pl_default_tetrahedral_def();
    pl_body_def body_def = tet_body_def(model, &tetrahedral, 0, 0, 0);
    body_def.fixed = fixed, body_def.fixed_count = 1;
    pl_body body = tet_make(world, &body_def);
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

/* ---- Trouble --------------------------------------------------------------------------------- */

/* A state that overflows is put back, and nothing that is no number is left. */
static void test_rescue(void **unused)
{
    (void)unused;
    pl_model *model = tet_block(2, 2, 2);
    pl_world *world = tet_world(1, 9.81);
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    pl_body body = tet_put(world, model, &def, 0, 0, 0);
    int n;
    double *x = tet_positions(world, body, &n);
    for (int i = 0; i < 3 * n; i++)
        x[i] = i % 7 == 0 ? 1e14 : 0;
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    world_step(world, 20);
    assert_true(world_is_finite(world, body));
    free(x);
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(test_rescue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
