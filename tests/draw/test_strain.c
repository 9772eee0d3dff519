/* Strain: a bar drawn out by a tenth has 0.1, in a rod, a sheet's and a block's middle; rigid
   motion has none at any size; times Young's modulus it gives the elastic energy that the world
   itself finds. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "draw/strain.h"
#include "math/quat.h"
#include "pliant/pliant.h"

enum { SIDE = 5, MOST = SIDE * SIDE * SIDE };

typedef struct lattice {
    double rest[3 * MOST], axes[4 * MOST], radii[3 * MOST];
    int32_t edges[6 * MOST];
    pl_strain_graph graph;
} lattice;

static double now[3 * MOST], turns[4 * MOST], strains[MOST], weights[MOST];

static int number(const int sides[3], int x, int y, int z)
{
    return x + sides[0] * (y + sides[1] * z);
}

/* Particles at whole multiples of `spacing`, joined along the axes. */
static void make_lattice(lattice *l, int dimension, double spacing)
{
    const int sides[3] = {SIDE, dimension > 1 ? SIDE : 1, dimension > 2 ? SIDE : 1};
    int count = 0, edges = 0;
    for (int z = 0; z < sides[2]; z++)
        for (int y = 0; y < sides[1]; y++)
            for (int x = 0; x < sides[0]; x++, count++) {
                const int at[3] = {x, y, z};
                for (int k = 0; k < 3; k++) {
                    l->rest[3 * count + k] = spacing * at[k];
                    l->radii[3 * count + k] = spacing * (0.3 + 0.1 * k);
                    l->axes[4 * count + k] = 0;
                    int next[3] = {x, y, z};
                    if (++next[k] >= sides[k])
                        continue;
                    l->edges[edges++] = count;
                    l->edges[edges++] = number(sides, next[0], next[1], next[2]);
                }
                l->axes[4 * count + 3] = 1;
            }
    l->graph = (pl_strain_graph){count, edges / 2, dimension, l->rest, l->axes, l->radii, l->edges};
}

static void place(const lattice *l, pl_quat turn, double stretch, double away)
{
    for (int i = 0; i < l->graph.particle_count; i++) {
        pl_vec3 p = pl_v3(l->rest[3 * i] * stretch, l->rest[3 * i + 1], l->rest[3 * i + 2]);
        p = pl_quat_rotate(turn, p);
        const double place[3] = {p.x + away, p.y - away, p.z};
        const double q[4] = {turn.x, turn.y, turn.z, turn.w};
        memcpy(now + 3 * i, place, sizeof place);
        memcpy(turns + 4 * i, q, sizeof q);
    }
}

static void stretched_by_a_tenth(void **state)
{
    (void)state;
    static lattice l;
    static const double spacings[] = {1e-12, 0.1, 1e9};
    for (int dimension = 1; dimension <= 3; dimension++)
        for (int s = 0; s < 3; s++) {
            make_lattice(&l, dimension, spacings[s]);
            place(&l, pl_quat_axis_angle(pl_v3(0.6, 0, 0.8), 0.7), 1.1, 3 * spacings[s]);
            pl_strain_find(&l.graph, now, turns, strains, weights);
            const int sides[3] = {SIDE, dimension > 1 ? SIDE : 1, dimension > 2 ? SIDE : 1};
            double middle = strains[number(sides, 2, sides[1] / 2, sides[2] / 2)];
            assert_true(fabs(middle - 0.1) < 1e-9);
            for (int i = 0; i < l.graph.particle_count; i++)
                assert_true(strains[i] > 0.05 && strains[i] < 0.15);
        }
}

static void rigid_motion_has_none(void **state)
{
    (void)state;
    static lattice l;
    pl_rng rng = pl_rng_make(5);
    for (int round = 0; round < 20; round++) {
        make_lattice(&l, 1 + round % 3, 0.2);
        pl_vec3 axis = pl_v3_normalise(pl_v3((double)pl_random_between(&rng, -1, 1),
                                             (double)pl_random_between(&rng, -1, 1), 0.5));
        place(&l, pl_quat_axis_angle(axis, (double)pl_random_between(&rng, -3, 3)), 1, round);
        pl_strain_find(&l.graph, now, turns, strains, weights);
        for (int i = 0; i < l.graph.particle_count; i++)
            assert_true(strains[i] < 1e-12);
    }
}

/* Turned against each other where they stand: by the angle a, ‖(R_i − R_j) diag(r)‖² = 2 (1 − cos
   a) · 2 r² / 5. */
static void twist_counts(void **state)
{
    (void)state;
    static lattice l;
    make_lattice(&l, 1, 1);
    l.graph.particle_count = 2, l.graph.edge_count = 1;
    for (int i = 0; i < 6; i++)
        l.radii[i] = 0.4;
    place(&l, pl_quat_identity(), 1, 0);
    const double a = 0.3, q[4] = {sin(a / 2), 0, 0, cos(a / 2)};
    memcpy(turns + 4, q, sizeof q);
    pl_strain_find(&l.graph, now, turns, strains, weights);
    double expected = sqrt(2 * (1 - cos(a)) * 2 * 0.4 * 0.4 / 5);
    assert_true(fabs(strains[0] - expected) < 1e-12 && fabs(strains[1] - expected) < 1e-12);
}

/* A rod in a world: its elastic energy is Y e² V / 2, and the raw stiffness that means Y gives Y
   back. */
static void as_the_world_finds_it(void **state)
{
    (void)state;
    static lattice l;
    make_lattice(&l, 1, 0.1);
    for (int i = 0; i < 3 * SIDE; i++)
        l.radii[i] = 0.05;
    pl_model_def def = pl_default_model_def();
    def.particle_count = SIDE, def.edge_count = SIDE - 1, def.dimension = 1;
    def.positions = pl_doubles(l.rest, 0);
    def.radii = pl_doubles(l.radii, 0);
    def.edges = l.edges;
    pl_model *model;
    pl_world *world;
    pl_body body;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    pl_world_def world_def = pl_default_world_def();
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    pl_body_def body_def = pl_default_body_def(model);
    assert_int_equal(pl_body_create(world, &body_def, &body, NULL), PL_OK);
    place(&l, pl_quat_identity(), 1.1, 0);
    assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, SIDE, pl_doubles(now, 0)), PL_OK);
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    pl_strain_find(&l.graph, now, turns, strains, weights);
    double volume = pl_model_get_info(model).volume, young = pl_default_material().young;
    double expected = young * strains[2] * strains[2] * volume / 2;
    assert_true(fabs(energy.elastic / expected - 1) < 1e-4);
    double v = 4.1887902047863905 * 0.05 * 0.05 * 0.05;
    double raw = young * volume / ((SIDE - 1) * 2 * v) / (0.1 * 0.1);
    assert_true(fabs(pl_strain_young(&l.graph, raw, volume) / young - 1) < 1e-12);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void nonsense_is_no_strain(void **state)
{
    (void)state;
    static lattice l;
    make_lattice(&l, 3, 0.1);
    place(&l, pl_quat_identity(), 1, 0);
    now[7] = NAN, now[20] = INFINITY, now[30] = 1e300;
    memset(l.radii, 0, 9 * sizeof *l.radii);
    pl_strain_find(&l.graph, now, turns, strains, weights);
    for (int i = 0; i < l.graph.particle_count; i++)
        assert_true(strains[i] >= 0 && isfinite(strains[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretched_by_a_tenth),  cmocka_unit_test(rigid_motion_has_none),
        cmocka_unit_test(twist_counts),          cmocka_unit_test(as_the_world_finds_it),
        cmocka_unit_test(nonsense_is_no_strain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
