/* Materials: the table, changes on the way, and what Young's modulus means: a bar and a lattice
   pulled at one end become longer by F L / (A Y). */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/world_kit.h"

/* ---- The table ------------------------------------------------------------------------------- */

static void materials_are_found_by_name(void **state)
{
    (void)state;
    assert_true(pl_material_count() >= 10);
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world_def world_def = pl_default_world_def();
    pl_world *world;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    const int32_t fixed = 0;
    for (int i = 0; i < pl_material_count(); i++) {
        const char *name = pl_material_name(i);
        pl_material material = {0};
        assert_non_null(name);
        assert_true(pl_find_material(name, &material));
        assert_true(material.young > 0 && material.density > 0 && material.damping >= 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(name, pl_material_name(k));
        pl_body_def def = pl_default_body_def(model); /* every one of them can be simulated */
        pl_body body;
        def.material = material;
        def.fixed = &fixed;
        def.fixed_count = 1;
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
        world_step(world, 30);
        assert_true(world_is_finite(world, body));
    }
    assert_null(pl_material_name(-1));
    assert_null(pl_material_name(pl_material_count()));
    pl_material untouched = {.young = 1, .damping = 4};
    assert_false(pl_find_material("unobtainium", &untouched));
    assert_false(pl_find_material("", &untouched));
    assert_false(pl_find_material(NULL, &untouched));
    assert_false(pl_find_material("rubber", NULL));
    assert_true(untouched.young == 1 && untouched.damping == 4);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static double tip_height(const pl_world *world, pl_body body)
{
    double x[3];
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 19, 1, 1, pl_doubles(x, 0)), PL_OK);
    return x[1];
}

/* Half as stiff, it hangs lower; stiff again, it comes back. Density changes the mass at once. */
static void materials_may_change_on_the_way(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world_def world_def = pl_default_world_def();
    pl_world *world;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    const int32_t fixed = 0;
    pl_body_def def = pl_default_body_def(model);
    def.fixed = &fixed;
    def.fixed_count = 1;
    def.material.young = 4e7;
    def.material.damping = 5;
    def.solver = PL_SOLVER_STIFF;
    pl_body body;
    pl_body_state before, after;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    world_step(world, 600);
    double hard = tip_height(world, body);
    pl_material soft = def.material;
    soft.young = 2e7;
    assert_int_equal(pl_body_set_material(world, body, &soft, NULL, NULL, NULL), PL_OK);
    assert_true(tip_height(world, body) == hard); /* nothing jumps */
    world_step(world, 600);
    double low = tip_height(world, body);
    assert_true(hard < 0 && fabs(low / hard - 2) < 0.1);
    float stiffer[19];
    for (int e = 0; e < 19; e++)
        stiffer[e] = 2;
    assert_int_equal(pl_body_set_material(world, body, &soft, stiffer, NULL, NULL), PL_OK);
    world_step(world, 600);
    assert_true(fabs(tip_height(world, body) / hard - 1) < 0.01);
    assert_int_equal(pl_body_get_state(world, body, &before), PL_OK);
    soft.density *= 3;
    assert_int_equal(pl_body_set_material(world, body, &soft, stiffer, NULL, NULL), PL_OK);
    assert_int_equal(pl_body_get_state(world, body, &after), PL_OK);
    assert_true(fabs(after.mass / before.mass - 3) < 1e-9);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* The stiffness itself, and a map of densities. */
static void raw_stiffness_and_painted_density(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body_def def = pl_default_body_def(model);
    float heavy[20];
    for (int i = 0; i < 20; i++)
        heavy[i] = i < 10 ? 1 : 4;
    def.particle_density = heavy;
    def.material.stiffness = 1e9;
    def.material.young = 0; /* not used */
    pl_body body;
    double m[20];
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    world_read(world, body, PL_MASSES, m);
    pl_body_state sums;
    assert_int_equal(pl_body_get_state(world, body, &sums), PL_OK);
    assert_true(fabs(m[19] / m[0] - 4) < 1e-6);
    double total = 0, moment = 0, x[60];
    world_read(world, body, PL_POSITIONS, x);
    for (int i = 0; i < 20; i++)
        total += m[i], moment += m[i] * x[3 * i];
    assert_true(fabs(sums.mass / total - 1) < 1e-9);
    assert_true(fabs(sums.centre[0] - moment / total) < 1e-6);
    world_step(world, 10);
    assert_true(world_is_finite(world, body));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Young's modulus ------------------------------------------------------------------------- */

/* A model whose particles stand in layers along x: `layers` of `per_layer` each, in this order. */
typedef struct specimen {
    const char *name;
    pl_model *model;
    int layers, per_layer;
    bool braced;
    double length, area, height; /* between the outermost layers; of the whole cross-section */
} specimen;

static specimen make_specimen(const char *name, pl_shape_kind kind, int nx, int ny, int nz,
                              double sx, double sy, double sz, bool braced)
{
    specimen s = {.name = name,
                  .layers = nx,
                  .per_layer = ny * nz,
                  .braced = braced,
                  .area = sy * sz,
                  .height = sy};
    bool flat = kind == PL_SHAPE_BOX || kind == PL_SHAPE_SHEET;
    s.model = world_sized_model(kind, nx, flat ? ny : 0, flat ? nz : 0, sx, sy, sz, braced);
    pl_model_info info = pl_model_get_info(s.model);
    assert_int_equal(info.particle_count, s.layers * s.per_layer);
    s.length = info.upper[0] - info.lower[0];
    return s;
}

/* By how much the last layer moves along `axis` under a force, the first being fixed. */
static double pull(const specimen *s, double young, double total, int axis)
{
    pl_world *world = world_empty();
    assert_int_equal(pl_world_set_step(world, 0.05, 1), PL_OK);
    assert_int_equal(pl_world_set_iterations(world, 10, 2), PL_OK);
    int n = s->layers * s->per_layer, last = n - s->per_layer;
    int32_t *fixed = malloc(sizeof *fixed * (size_t)s->per_layer);
    for (int i = 0; i < s->per_layer; i++)
        fixed[i] = i;
    pl_body_def def = pl_default_body_def(s->model);
    def.material.young = young;
    def.material.damping = 2;
    def.solver = PL_SOLVER_STIFF;
    def.fixed = fixed;
    def.fixed_count = s->per_layer;
    pl_body body;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    double *start = malloc(sizeof(double) * 3 * (size_t)n),
           *end = malloc(sizeof(double) * 3 * (size_t)n);
    world_read(world, body, PL_POSITIONS, start);
    double force[3] = {0, 0, 0}, moved = 0, before = 1;
    force[axis] = total / s->per_layer;
    for (int step = 0; step < 2000 && !(step > 20 && fabs(moved - before) < 1e-9 * s->length);
         step++) {
        for (int i = last; i < n; i++)
            assert_int_equal(pl_body_apply_force(world, body, i, force), PL_OK);
        world_step(world, 1);
        world_read(world, body, PL_POSITIONS, end);
        before = moved;
        moved = 0;
        for (int i = last; i < n; i++)
            moved += (end[3 * i + axis] - start[3 * i + axis]) / s->per_layer;
    }
    free(fixed), free(start), free(end);
    pl_world_destroy(world);
    return moved;
}

/* In an endless regular graph each of the D directions has one edge per particle, and tension is
   exact; at the ends and surfaces edges are missing, and the others were made stiffer for it:
   F L / (A Y) times m / (D n). Diagonals share the load unevenly: measured, not predicted. Bending
   is stiffer than a beam's, F L³ / (3 Y I), where few particles stand across, because their own
   orientations resist it; most so in sheets whose spacing is many times their thickness. */
static void youngs_modulus_is_what_it_says(void **state)
{
    (void)state;
    const double young = 1e6, strain = 0.01;
    specimen all[] = {
        make_specimen("bar of 20", PL_SHAPE_BAR, 20, 1, 1, 2, 0.2, 0.2, false),
        make_specimen("bar of 80", PL_SHAPE_BAR, 80, 1, 1, 8, 0.2, 0.2, false),
        make_specimen("sheet 16 x 16", PL_SHAPE_SHEET, 16, 1, 16, 1.6, 0.02, 1.6, false),
        make_specimen("box 12 x 4 x 4", PL_SHAPE_BOX, 12, 4, 4, 1.2, 0.4, 0.4, false),
        make_specimen("box 12 x 6 x 6", PL_SHAPE_BOX, 12, 6, 6, 1.2, 0.6, 0.6, false),
        make_specimen("box 12 x 4 x 4, braced", PL_SHAPE_BOX, 12, 4, 4, 1.2, 0.4, 0.4, true),
    };
    for (size_t i = 0; i < (world_is_slow_build() ? 3 : sizeof all / sizeof *all); i++) {
        const specimen *s = all + i;
        pl_model_info info = pl_model_get_info(s->model);
        double inside = info.edge_count / (double)(info.dimension * info.particle_count);
        double force = strain * young * s->area;
        double stretch = pull(s, young, force, 0) / (force * s->length / (s->area * young));
        double inertia = s->area * s->height * s->height / 12;
        double load = 0.02 * young * inertia / (s->length * s->length);
        double bend = pull(s, young, load, 1) / (load * pow(s->length, 3) / (3 * young * inertia));
        printf("%-22s tension %.4f of F L / (A Y); bending %.3f of F L^3 / (3 Y I)\n", s->name,
               stretch, bend);
        if (!s->braced)
            assert_true(fabs(stretch / inside - 1) < 0.01);
        assert_true(stretch > 0.5 && stretch < 1.05);
        assert_true(bend > 0.001 && bend < 1.05);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_model_release(all[i].model);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials_are_found_by_name),
        cmocka_unit_test(materials_may_change_on_the_way),
        cmocka_unit_test(raw_stiffness_and_painted_density),
        cmocka_unit_test(youngs_modulus_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
