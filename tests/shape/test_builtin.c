/* The built-in meshes: closed, in proportion, the same at any detail. Label: slow. */
#include "pliant/cook.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "builtin_cases.h"
#include "model_cases.h"
#include "support/check.h"

static pl_mesh must_make(const char *name, double detail)
{
    pl_mesh mesh = {0};
    pl_error error = {0};
    if (pl_builtin_mesh(name, detail, NULL, &mesh, &error) != PL_OK)
        fail_msg("%s at %g: %s: %s", name, detail, error.where, error.text);
    return mesh;
}

/* Meshes many tests look at, made once. */
static double details[] = {0.1, 0.5, 1, 2.1};
enum { DETAILS = sizeof details / sizeof *details, BUILTINS = 11 };
static pl_mesh made[BUILTINS][DETAILS];

static int make_all(void **state)
{
    (void)state;
    details[DETAILS - 1] = check_is_thorough() ? 2.1 : 0.7;
    for (int i = 0; i < BUILTINS; i++)
        for (int d = 0; d < DETAILS; d++)
            made[i][d] = must_make(pl_builtin_name(i), details[d]);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (int i = 0; i < BUILTINS; i++)
        for (int d = 0; d < DETAILS; d++)
            pl_mesh_free(&made[i][d]);
    return 0;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void the_table_is_complete(void **state)
{
    (void)state;
    static const char *expected[] = {"dinosaur", "rabbit", "armadillo", "teddy",
                                     "torus",    "column", "car",       "cylinder",
                                     "cuboid",   "sheet",  "rope"};
    assert_int_equal(pl_builtin_count(), 11);
    for (int i = 0; i < 11; i++) {
        assert_string_equal(pl_builtin_name(i), expected[i]);
        assert_true(strlen(pl_builtin_about(i)) > 10);
    }
    assert_null(pl_builtin_name(-1));
    assert_null(pl_builtin_name(11));
    assert_null(pl_builtin_about(-1));
    assert_null(pl_builtin_about(11));
}

static void unknown_names_are_told_the_known_ones(void **state)
{
    (void)state;
    static const char *names[] = {
        "dino",      "",   "Dinosaur",
        "dinosaur ", NULL, "a name that is a good deal longer than any place for it is long"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pl_mesh mesh = {.vertex_count = 77};
        pl_error error = {0};
        pl_cook_def def;
        assert_int_equal(pl_builtin_mesh(names[i], 1, NULL, &mesh, &error), PL_ERROR_ARGUMENT);
        assert_int_equal(mesh.vertex_count, 77);
        assert_string_equal(error.where, "name");
        for (int k = 0; k < pl_builtin_count(); k++)
            assert_non_null(strstr(error.text, pl_builtin_name(k)));
        assert_int_equal(pl_builtin_mesh(names[i], 1, NULL, &mesh, NULL), PL_ERROR_ARGUMENT);
        assert_int_equal(pl_builtin_cook_def(names[i], &mesh, &def), PL_ERROR_ARGUMENT);
    }
}

static void details_out_of_range_are_refused(void **state)
{
    (void)state;
    const double wrong[] = {0, -1, 0.0999, 16.001, 1e300, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pl_mesh mesh = {.vertex_count = 77};
        pl_error error = {0};
        assert_int_equal(pl_builtin_mesh("torus", wrong[i], NULL, &mesh, &error),
                         PL_ERROR_ARGUMENT);
        assert_string_equal(error.where, "detail");
        assert_int_equal(mesh.vertex_count, 77);
    }
}

static void cooking_follows_the_papers(void **state)
{
    (void)state;
    for (int i = 0; i < pl_builtin_count(); i++) {
        const char *name = pl_builtin_name(i);
        pl_mesh mesh = {0};
        pl_cook_def def;
        assert_int_equal(pl_builtin_cook_def(name, &mesh, &def), PL_OK);
        assert_ptr_equal(def.mesh, &mesh);
        assert_in_range(def.particle_count, 12, 400);
        assert_int_equal(def.kind, is(name, "sheet")  ? PL_COOK_SHELL
                                   : is(name, "rope") ? PL_COOK_ROD
                                                      : PL_COOK_SOLID);
        if (is(name, "dinosaur")) {
            assert_int_equal(def.particle_count, 100);
            assert_int_equal(def.edge_count, 261);
        }
    }
}

/* ---- The surfaces ---------------------------------------------------------------------------- */

static void check_look(const char *name, const pl_mesh *mesh)
{
    const pl_look *look = &mesh->look;
    bool simple = look->uv_set_count == 1;
    assert_non_null(look->normals);
    assert_non_null(look->colours);
    assert_non_null(look->triangle_materials);
    assert_true(look->material_count > 0);
    for (int i = 0; i < look->material_count; i++) {
        const pl_look_material *m = &look->materials[i];
        assert_non_null(m->name);
        assert_true(m->roughness > 0 && m->roughness <= 1 && m->colour[3] == 1);
        for (int c = 0; c < 3; c++)
            assert_true(m->colour[c] >= 0 && m->colour[c] <= 1);
        for (int k = 0; k < PL_TEXTURE_KINDS; k++)
            assert_int_equal(m->textures[k], -1);
    }
    for (int t = 0; t < mesh->triangle_count; t++)
        assert_in_range(look->triangle_materials[t], 0, look->material_count - 1);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const float *n = look->normals + 3 * v, *c = look->colours + 4 * v;
        double length = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
        if (!(fabs(length - 1) < 1e-5))
            fail_msg("%s: normal %d has length² %g", name, v, length);
        for (int k = 0; k < 4; k++)
            assert_true(c[k] > 0.2f && c[k] <= 1);
        if (simple)
            assert_true(look->uvs[0][2 * v] >= 0 && look->uvs[0][2 * v] <= 1 &&
                        look->uvs[0][2 * v + 1] >= 0 && look->uvs[0][2 * v + 1] <= 1);
    }
}

static void check_place(const char *name, const pl_mesh *mesh)
{
    double lower[3] = {9, 9, 9}, upper[3] = {-9, -9, -9}, largest = 0;
    for (int i = 0; i < 3 * mesh->vertex_count; i++) {
        assert_true(isfinite(mesh->positions[i]));
        lower[i % 3] = fmin(lower[i % 3], mesh->positions[i]);
        upper[i % 3] = fmax(upper[i % 3], mesh->positions[i]);
    }
    for (int c = 0; c < 3; c++)
        largest = fmax(largest, upper[c] - lower[c]);
    if (lower[1] != 0 || fabs(lower[0] + upper[0]) > 1e-12 || fabs(lower[2] + upper[2]) > 1e-12)
        fail_msg("%s does not stand in the middle", name);
    if (largest < 0.75 || largest > 1.25)
        fail_msg("%s is %g m large", name, largest);
}

/* Triangles look where their vertices' normals do. */
static void check_outward(const char *name, const pl_mesh *mesh)
{
    int wrong = 0;
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int32_t *c = mesh->triangles + 3 * t;
        pl_vec3 p[3], normal = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            const double *x = mesh->positions + 3 * c[i];
            const float *n = mesh->look.normals + 3 * c[i];
            p[i] = pl_v3(x[0], x[1], x[2]);
            normal = pl_v3_add(normal, pl_v3((double)n[0], (double)n[1], (double)n[2]));
        }
        pl_vec3 face = pl_v3_cross(pl_v3_sub(p[1], p[0]), pl_v3_sub(p[2], p[0]));
        wrong += pl_v3_dot(face, normal) <= 0;
    }
    /* Where a coarse mesh cannot follow, it smooths over, and there the normals are those of what
       it leaves out. */
    if (wrong > mesh->triangle_count / (mesh->triangle_count < 3000 ? 100 : 250))
        fail_msg("%s: %d of %d triangles against their normals", name, wrong, mesh->triangle_count);
}

static void check_topology(const char *name, double detail, const welded *w)
{
    int edges, bad = bad_edges(w, &edges), genus = is(name, "torus") ? 1 : 0;
    if (bad)
        fail_msg("%s at %g: %d edges are not between two triangles", name, detail, bad);
    if (component_count(w) != 1)
        fail_msg("%s at %g has %d components", name, detail, component_count(w));
    int characteristic = w->point_count - edges + w->triangle_count;
    if (characteristic != 2 - 2 * genus)
        fail_msg("%s at %g: Euler characteristic %d", name, detail, characteristic);
    if (!(signed_volume(w) > 0.001))
        fail_msg("%s at %g: volume %g", name, detail, signed_volume(w));
}

static void check_mesh(const char *name, double detail, const pl_mesh *mesh)
{
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        assert_in_range(mesh->triangles[i], 0, mesh->vertex_count - 1);
    check_look(name, mesh);
    check_place(name, mesh);
    if (detail >= 0.5)
        check_outward(name, mesh);
    if (is(name, "sheet"))
        return;
    welded w = weld(mesh);
    check_topology(name, detail, &w);
    free_welded(&w);
}

static void surfaces_are_closed_at_every_detail(void **state)
{
    (void)state;
    for (int i = 0; i < BUILTINS; i++)
        for (int d = 0; d < DETAILS; d++)
            check_mesh(pl_builtin_name(i), details[d], &made[i][d]);
}

static void the_finest_detail_is_reached(void **state)
{
    (void)state;
    pl_mesh finest = must_make("torus", 16);
    assert_in_range(finest.triangle_count, 1400000, 1600000);
    check_place("torus", &finest);
    pl_mesh_free(&finest);
    assert_null(finest.positions);
    static const char *names[] = {"column", "cylinder", "cuboid", "sheet", "rope", "rabbit"};
    for (int i = 0; i < 6; i++) {
        pl_mesh mesh = must_make(names[i], 4.1);
        check_mesh(names[i], 4.1, &mesh);
        pl_mesh_free(&mesh);
    }
}

static void detail_scales_the_triangle_count(void **state)
{
    (void)state;
    for (int i = 0; i < BUILTINS; i++)
        for (int d = 1; d < DETAILS; d++) {
            double ratio = made[i][d].triangle_count / (6000 * details[d] * details[d]);
            if (ratio < 0.7 || ratio > 1.5)
                fail_msg("%s at %g: %d triangles", pl_builtin_name(i), details[d],
                         made[i][d].triangle_count);
        }
}

static void surfaces_do_not_cut_themselves(void **state)
{
    (void)state;
    for (int i = 0; i < BUILTINS; i++)
        for (int d = 1; d <= 2; d++) {
            welded w = weld(&made[i][d]);
            int found = self_intersections(&w);
            if (found)
                fail_msg("%s at %g: %d pairs of triangles cut each other", pl_builtin_name(i),
                         details[d], found);
            free_welded(&w);
        }
}

/* The judge itself: a surface pushed through itself is found out. */
static void a_surface_that_cuts_itself_is_noticed(void **state)
{
    (void)state;
    pl_mesh mesh = must_make("torus", 1);
    welded w = weld(&mesh);
    for (int i = 0; i < w.point_count; i++)
        if (w.points[i].x > 0)
            w.points[i].x -= 0.6;
    assert_true(self_intersections(&w) > 50);
    free_welded(&w);
    pl_mesh_free(&mesh);
}

static void triangles_are_well_shaped(void **state)
{
    (void)state;
    for (int i = 0; i < pl_builtin_count(); i++) {
        welded w = weld(&made[i][2]);
        int below_15 = 0, below_10 = 0;
        double least = 180;
        for (int t = 0; t < w.triangle_count; t++) {
            double angle = least_angle(&w, t);
            below_15 += angle < 15;
            below_10 += angle < 10;
            least = fmin(least, angle);
        }
        if (below_15 > 0.04 * w.triangle_count || below_10 > 0.005 * w.triangle_count ||
            least < 0.5)
            fail_msg("%s: %d triangles below 15°, %d below 10°, least %.2f°", pl_builtin_name(i),
                     below_15, below_10, least);
        free_welded(&w);
    }
}

/* ---- Same bits ------------------------------------------------------------------------------- */

static uint64_t mesh_hash(const pl_mesh *mesh)
{
    pl_hash hash;
    size_t n = (size_t)mesh->vertex_count, t = (size_t)mesh->triangle_count;
    pl_hash_init(&hash, 0);
    pl_hash_f64_array(&hash, mesh->positions, 3 * n);
    pl_hash_f32_array(&hash, mesh->look.normals, 3 * n);
    pl_hash_f32_array(&hash, mesh->look.colours, 4 * n);
    pl_hash_u32_array(&hash, (const uint32_t *)mesh->triangles, 3 * t);
    pl_hash_u32_array(&hash, (const uint32_t *)mesh->look.triangle_materials, t);
    for (int i = 0; i < mesh->look.material_count; i++)
        pl_hash_f32_array(&hash, mesh->look.materials[i].colour, 4);
    return pl_hash_final(&hash);
}

static void meshes_have_the_same_bits_everywhere(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        0xfe4bae85fc54d485, 0xc969e481bbaaa460, 0x18a596b629f87405, 0xc0abf829553cd3b0,
        0x8169aafd42145cad, 0x3097644470d0c9fd, 0x86dd6e9469a34f14, 0x3c2e1b9fe8e52d0c,
        0x3154852e427fcce9, 0x614db9db543aa059, 0xe9ece47af8b2e5c0,
    };
    int different = 0;
    for (int i = 0; i < pl_builtin_count(); i++) {
        uint64_t hash = mesh_hash(&made[i][1]);
        if (hash != expected[i]) {
            print_error("%s: 0x%016llx\n", pl_builtin_name(i), (unsigned long long)hash);
            different++;
        }
    }
    assert_int_equal(different, 0);
    pl_mesh again = must_make("teddy", 0.5);
    assert_int_equal(mesh_hash(&again), expected[3]);
    pl_mesh_free(&again);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool survives_failure_at(const char *name, int fail_at)
{
    failing_host host = {.fail_at = fail_at};
    pl_allocator allocator = failing_allocator(&host);
    pl_mesh mesh = {.vertex_count = 77};
    pl_error error = {0};
    pl_status status = pl_builtin_mesh(name, 0.1, &allocator, &mesh, &error);
    if (status == PL_OK) {
        pl_mesh_free(&mesh);
    } else {
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_int_equal(error.status, PL_ERROR_MEMORY);
        assert_int_equal(mesh.vertex_count, 77);
    }
    assert_int_equal(host.blocks, 0);
    assert_int_equal(host.bytes, 0);
    return status == PL_OK;
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    for (int i = 0; i < pl_builtin_count(); i++) {
        const char *name = pl_builtin_name(i);
        /* Creatures share their code, and test_builtin_web.c fails each allocation of it: one, now
           and then, is enough. */
        bool creature = !made[i][0].look.uv_set_count;
        if (creature && !is(name, "rabbit"))
            continue;
        int step = creature ? 31 : 1;
        int fail_at = 0;
        while (!survives_failure_at(name, fail_at))
            fail_at += step;
        assert_true(fail_at >= 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(unknown_names_are_told_the_known_ones),
        cmocka_unit_test(details_out_of_range_are_refused),
        cmocka_unit_test(cooking_follows_the_papers),
        cmocka_unit_test(surfaces_are_closed_at_every_detail),
        cmocka_unit_test(the_finest_detail_is_reached),
        cmocka_unit_test(detail_scales_the_triangle_count),
        cmocka_unit_test(surfaces_do_not_cut_themselves),
        cmocka_unit_test(a_surface_that_cuts_itself_is_noticed),
        cmocka_unit_test(triangles_are_well_shaped),
        cmocka_unit_test(meshes_have_the_same_bits_everywhere),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
