/* What the built-in creatures are made with: parts, figures, and the surface that can be changed.
   Label: slow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "builtin_cases.h"
#include "model_cases.h"
#include "shape/builtin_mesh.h"
#include "support/check.h"

static double between(pl_rng *rng, double from, double to)
{
    return from + (to - from) * pl_random_double(rng);
}

static pl_vec3 anywhere(pl_rng *rng, double reach)
{
    double x = between(rng, -reach, reach), y = between(rng, -reach, reach);
    return pl_v3(x, y, between(rng, -reach, reach));
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A limb is the union of the balls along its axis. */
static void limbs_are_swept_balls(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(1);
    for (int i = 0; i < 2000; i++) {
        pl_vec3 a = anywhere(&rng, 1), b = anywhere(&rng, 1), at = anywhere(&rng, 2);
        double ra = between(&rng, 0.02, 0.6), rb = between(&rng, 0.02, 0.6), least = 1e9;
        pl_part limb = pl_part_limb(a, ra, b, rb);
        for (int k = 0; k <= 4000; k++) {
            double t = k / 4000.0;
            pl_vec3 c = pl_v3_add_scaled(pl_v3_scale(a, 1 - t), t, b);
            least = fmin(least, pl_v3_distance(at, c) - (ra + t * (rb - ra)));
        }
        assert_true(fabs(pl_part_distance(&limb, at) - least) < 2e-4);
    }
}

static pl_part random_part(pl_rng *rng, int kind)
{
    pl_vec3 c = anywhere(rng, 0.5);
    double a = between(rng, 0.1, 0.4), b = between(rng, 0.1, 0.4), d = between(rng, 0.1, 0.4);
    pl_part part = kind == 0   ? pl_part_ball(c.x, c.y, c.z, a)
                   : kind == 1 ? pl_part_limb(c, a, anywhere(rng, 0.5), b)
                   : kind == 2 ? pl_part_block(c.x, c.y, c.z, a, b, d, 0.05)
                   : kind == 3 ? pl_part_ring(c.x, c.y, c.z, a, 0.3 * b)
                   : kind == 4 ? pl_part_disc(c.x, c.y, c.z, a, b, 0.04)
                   : kind == 5 ? pl_part_egg(c.x, c.y, c.z, a, b, d)
                               : pl_part_armour(c.x, c.y, c.z, a, b, d, 5, 0.01);
    part = pl_part_turned(part, between(rng, -180, 180), between(rng, -90, 90),
                          between(rng, -180, 180));
    return pl_random_double(rng) < 0.3 ? pl_part_pair(part) : part;
}

/* Exact distances change by no more than the way gone; and nothing of a part is outside its
   bounding ball. */
static void parts_are_distances_within_their_bounds(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(2);
    for (int i = 0; i < 20000; i++) {
        int kind = i % 7;
        pl_part part = random_part(&rng, kind);
        pl_vec3 a = anywhere(&rng, 1.2), b = pl_v3_add(a, anywhere(&rng, 0.1));
        double da = pl_part_distance(&part, a), db = pl_part_distance(&part, b);
        if (kind < 5 && !part.mirrored)
            assert_true(fabs(da - db) <= pl_v3_distance(a, b) * 1.000001);
        pl_vec3 image = a;
        if (part.mirrored && a.x * part.middle.x < 0)
            image.x = -a.x;
        if (da < 0)
            assert_true(pl_v3_distance(image, part.middle) <= part.reach + 1e-9);
        if (part.mirrored)
            assert_true(pl_part_distance(&part, pl_v3(-a.x, a.y, a.z)) == da);
    }
}

/* ---- Figures --------------------------------------------------------------------------------- */

static pl_figure *random_figure(pl_rng *rng, int parts)
{
    pl_figure *figure = calloc(1, sizeof *figure);
    pl_figure_init(figure);
    pl_figure_material(figure, "one", 0x808080, 0.5);
    pl_figure_material(figure, "two", 0xFF8000, 0.5);
    for (int i = 0; i < parts; i++) {
        pl_figure_use(figure, i % 2);
        pl_part part = random_part(rng, (int)(between(rng, 0, 7)));
        double blend = between(rng, 0, 0.1);
        if (i > 0 && pl_random_double(rng) < 0.2)
            pl_figure_cut(figure, part, blend);
        else
            pl_figure_add(figure, part, blend);
    }
    return figure;
}

/* What is skipped because it is far away would have changed nothing. */
static void finished_figures_answer_the_same(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(3);
    for (int i = 0; i < 40; i++) {
        pl_figure *figure = random_figure(&rng, 2 + i);
        pl_vec3 at[300];
        double before[300];
        for (int k = 0; k < 300; k++) {
            at[k] = anywhere(&rng, 1.3);
            before[k] = pl_figure_distance(figure, at[k]);
        }
        pl_figure_finish(figure);
        for (int k = 0; k < 300; k++)
            assert_true(fabs(pl_figure_distance(figure, at[k]) - before[k]) < 1e-12);
        free(figure);
    }
}

static void projection_reaches_the_surface(void **state)
{
    (void)state;
    void (*make[])(pl_figure *) = {pl_figure_dinosaur, pl_figure_rabbit, pl_figure_armadillo,
                                   pl_figure_teddy, pl_figure_car};
    pl_rng rng = pl_rng_make(4);
    for (int i = 0; i < 5; i++) {
        pl_figure *figure = calloc(1, sizeof *figure);
        pl_figure_init(figure);
        make[i](figure);
        pl_figure_finish(figure);
        int near = 0, reached = 0;
        for (int k = 0; k < 20000; k++) {
            pl_vec3 at = anywhere(&rng, 1);
            if (fabs(pl_figure_distance(figure, at)) > 0.02)
                continue;
            near++;
            reached += fabs(pl_figure_distance(figure, pl_figure_project(figure, at, 0.1))) < 1e-4;
        }
        assert_true(near > 50 && reached > 0.97 * near);
        free(figure);
    }
}

/* ---- The web --------------------------------------------------------------------------------- */

static pl_figure *small_figure(void)
{
    pl_figure *figure = calloc(1, sizeof *figure);
    pl_figure_init(figure);
    pl_figure_material(figure, "one", 0x808080, 0.5);
    int two = pl_figure_material(figure, "two", 0xFF8000, 0.5);
    pl_figure_use(figure, 0);
    pl_figure_add(figure, pl_part_ball(0, 0, 0, 0.05), 0);
    pl_figure_add(figure, pl_part_ball(0.04, 0.03, 0, 0.03), 0.01);
    pl_figure_paint(figure, two, pl_part_ball(0, 0.05, 0.02, 0.03));
    pl_figure_finish(figure);
    return figure;
}

static void must_be_sound(const pl_web *web)
{
    const int32_t *corners = pl_web_corners(web), *twins = pl_web_twins(web);
    int32_t count = (int32_t)web->corner_array.count;
    welded w = {.point_count = (int)web->vertex_array.count, .triangle_count = count / 3};
    w.triangles = malloc((size_t)count * sizeof *w.triangles);
    memcpy(w.triangles, corners, (size_t)count * sizeof *w.triangles);
    for (int32_t h = 0; h < count; h++) {
        assert_int_equal(twins[twins[h]], h);
        assert_int_equal(pl_web_from(web, twins[h]), pl_web_to(web, h));
        assert_int_equal(pl_web_to(web, twins[h]), pl_web_from(web, h));
    }
    for (int32_t v = 0; v < w.point_count; v++)
        assert_int_equal(pl_web_from(web, pl_web_vertices(web)[v].first), v);
    int edges;
    assert_int_equal(bad_edges(&w, &edges), 0);
    assert_int_equal(component_count(&w), 1);
    assert_int_equal(w.point_count - edges + w.triangle_count, 2);
    free(w.triangles);
}

static void random_changes_keep_it_a_sphere(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_figure *figure = small_figure();
    pl_rng rng = pl_rng_make(5);
    pl_web web;
    pl_web_init(&web, &memory);
    assert_int_equal(pl_figure_surface(figure, 0.02, &web), PL_OK);
    must_be_sound(&web);
    int splits = 0, collapses = 0, flips = 0;
    for (int i = 0; i < 20000; i++) {
        int32_t h = (int32_t)between(&rng, 0, (double)web.corner_array.count - 0.5);
        int what = (int)between(&rng, 0, 3);
        if (pl_web_corners(&web)[h - h % 3] < 0)
            continue;
        const pl_web_vertex *vertices = pl_web_vertices(&web);
        pl_vec3 a = vertices[pl_web_from(&web, h)].at, b = vertices[pl_web_to(&web, h)].at;
        pl_web_vertex middle = {.at = pl_v3_scale(pl_v3_add(a, b), 0.5), .first = -1};
        if (what == 0 && web.vertex_array.count < 3000) {
            assert_true(pl_web_split(&web, h, middle) >= 0);
            splits++;
        } else if (what == 1 && pl_web_may_collapse(&web, h, middle.at)) {
            pl_web_collapse(&web, h, middle.at);
            collapses++;
        } else if (what == 2 && pl_web_may_flip(&web, h)) {
            pl_web_flip(&web, h);
            flips++;
        }
        if (i % 500 == 0) {
            assert_int_equal(pl_web_compact(&web), PL_OK);
            must_be_sound(&web);
        }
    }
    assert_true(splits > 500 && collapses > 300 && flips > 500);
    pl_web_free(&web);
    free(figure);
    assert_int_equal(memory.used, 0);
}

/* Every triangle lies in its material: borders run along edges. */
static void materials_end_at_edges(void **state)
{
    (void)state;
    pl_figure *figure = small_figure();
    pl_mesh mesh;
    assert_int_equal(pl_figure_mesh(figure, 0.3, NULL, &mesh), PL_OK);
    pl_mesh_free(&mesh);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_web web;
    pl_web_init(&web, &memory);
    assert_int_equal(pl_figure_surface(figure, 0.004, &web), PL_OK);
    for (size_t v = 0; v < web.vertex_array.count; v++)
        pl_web_vertices(&web)[v].edge = 0.006;
    assert_int_equal(pl_web_remesh(&web, figure, 0.006), PL_OK);
    assert_int_equal(pl_web_trace_materials(&web, figure), PL_OK);
    assert_int_equal(pl_web_subdivide(&web, figure), PL_OK);
    must_be_sound(&web);
    int wrong = 0, second = 0, triangles = (int)(web.corner_array.count / 3);
    for (int t = 0; t < triangles; t++) {
        const int32_t *c = pl_web_corners(&web) + 3 * t;
        const pl_web_vertex *v = pl_web_vertices(&web);
        pl_vec3 middle = pl_v3_add(pl_v3_add(v[c[0]].at, v[c[1]].at), v[c[2]].at);
        int material = pl_figure_material_at(figure, pl_v3_scale(middle, 1.0 / 3));
        wrong += material != pl_web_materials(&web)[t];
        second += material == 1;
    }
    assert_true(second > 200 && triangles - second > 200);
    assert_true(wrong <= triangles / 200);
    pl_web_free(&web);
    free(figure);
    assert_int_equal(memory.used, 0);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    pl_figure *figure = small_figure();
    pl_status status = PL_ERROR_MEMORY;
    int fail_at = 0;
    for (; status == PL_ERROR_MEMORY; fail_at++) {
        failing_host host = {.fail_at = fail_at};
        pl_allocator allocator = failing_allocator(&host);
        pl_mesh mesh = {.vertex_count = 77};
        status = pl_figure_mesh(figure, 2.2, &allocator, &mesh);
        if (status == PL_OK)
            pl_mesh_free(&mesh);
        else
            assert_int_equal(mesh.vertex_count, 77);
        assert_int_equal(host.blocks, 0);
        assert_int_equal(host.bytes, 0);
    }
    assert_int_equal(status, PL_OK);
    assert_true(fail_at > 30);
    free(figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limbs_are_swept_balls),
        cmocka_unit_test(parts_are_distances_within_their_bounds),
        cmocka_unit_test(finished_figures_answer_the_same),
        cmocka_unit_test(projection_reaches_the_surface),
        cmocka_unit_test(random_changes_keep_it_a_sphere),
        cmocka_unit_test(materials_end_at_edges),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
