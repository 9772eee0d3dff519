/* Polygons into triangles: areas add up, nothing is folded, large and crossing ones end soon. */
#include "mesh_cases.h"

#include "base/clock.h"
#include "math/elementary.h"

/* A polygon in a turned plane: (x, y) to x · a + y · b + origin. */
static const double axis_a[3] = {0.36, 0.48, -0.8}, axis_b[3] = {-0.8, 0.6, 0},
                    axis_n[3] = {0.48, 0.64, 0.6}, origin[3] = {3, -2, 7};

typedef struct cut_report {
    double area,
        least; /* sum of the triangles' areas, and the smallest (signed, along the plane's normal) */
    int triangles;
    double seconds;
} cut_report;

static double signed_area(const pl_mesh *mesh, int triangle)
{
    const double *p[3];
    double sum = 0;
    for (int i = 0; i < 3; i++)
        p[i] = mesh->positions + 3 * mesh->triangles[3 * triangle + i];
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3;
        sum += axis_n[k] * ((p[1][m] - p[0][m]) * (p[2][n] - p[0][n]) -
                            (p[1][n] - p[0][n]) * (p[2][m] - p[0][m]));
    }
    return sum / 2;
}

static cut_report cut(const double (*points)[2], int count)
{
    pl_mesh_build build;
    pl_mesh mesh;
    assert_int_equal(pl_mesh_build_init(&build, NULL, 1 << 24, NULL), PL_OK);
    double *positions = pl_mesh_build_vertices(&build, (size_t)count);
    int32_t *indices = malloc((size_t)count * sizeof *indices);
    for (int i = 0; i < count; i++) {
        indices[i] = i;
        for (int k = 0; k < 3; k++)
            positions[3 * i + k] = origin[k] + points[i][0] * axis_a[k] + points[i][1] * axis_b[k];
    }
    uint64_t start = pl_clock_ns();
    assert_true(pl_mesh_build_polygon(&build, indices, (size_t)count));
    cut_report report = {.seconds = 1e-9 * (double)(pl_clock_ns() - start), .least = 1e300};
    free(indices);
    assert_int_equal(pl_mesh_build_finish(&build, "t", &mesh, NULL), PL_OK);
    check_mesh(&mesh);
    report.triangles = mesh.triangle_count;
    for (int t = 0; t < mesh.triangle_count; t++) {
        double area = signed_area(&mesh, t);
        report.area += area;
        report.least = area < report.least ? area : report.least;
    }
    pl_mesh_free(&mesh);
    return report;
}

static double shoelace(const double (*points)[2], int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double *a = points[i], *b = points[(i + 1) % count];
        sum += a[0] * b[1] - a[1] * b[0];
    }
    return sum / 2;
}

static void check_cut(const double (*points)[2], int count)
{
    cut_report report = cut(points, count);
    double area = shoelace(points, count);
    assert_int_equal(report.triangles, count - 2);
    if (!(fabs(report.area - area) <= 1e-9 * area) || report.least < -1e-12 * area)
        fail_msg("%d corners: area %g, not %g; smallest triangle %g", count, report.area, area,
                 report.least);
}

static void quads(void **state)
{
    (void)state;
    static const double convex[][2] = {{0, 0}, {2, 0}, {2, 1}, {0, 1}};
    static const double arrow[][2] = {{0, 0}, {2, 1}, {0, 2}, {0.5, 1}};
    static const double with_straight[][2] = {{0, 0}, {1, 0}, {2, 0}, {1, 1}};
    check_cut(convex, 4);
    for (int turn = 0; turn < 4; turn++) {
        double turned[4][2], straight[4][2];
        for (int i = 0; i < 4; i++) {
            memcpy(turned[i], arrow[(i + turn) % 4], sizeof turned[i]);
            memcpy(straight[i], with_straight[(i + turn) % 4], sizeof straight[i]);
        }
        check_cut((const double(*)[2])turned, 4);
        check_cut((const double(*)[2])straight, 4);
        cut_report report = cut((const double(*)[2])straight, 4);
        assert_true(report.least > 0.1);
    }
}

/* Corners on a straight edge are no excuse for triangles without area. */
static void straight_corners(void **state)
{
    (void)state;
    double points[40][2];
    for (int i = 0; i < 40; i++) {
        int side = i / 10;
        double t = i % 10 / 10.0;
        points[i][0] = side == 0 ? t : side == 1 ? 1 : side == 2 ? 1 - t : 0;
        points[i][1] = side == 0 ? 0 : side == 1 ? t : side == 2 ? 1 : 1 - t;
    }
    check_cut((const double(*)[2])points, 40);
    assert_true(cut((const double(*)[2])points, 40).least > 1e-4);
}

/* Star-shaped polygons with random radii: simple, and often very concave. */
static void random_polygons(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(3);
    double points[200][2];
    for (int i = 0; i < 3000; i++) {
        int count = 4 + (int)(pl_random_u32(&rng) % (i % 10 ? 12 : 190));
        for (int k = 0; k < count; k++) {
            double angle = 6.283185307179586 * (k + 0.8 * pl_random_double(&rng)) / count;
            double radius = 0.05 + pl_random_double(&rng);
            points[k][0] = radius * pl_cos(angle);
            points[k][1] = radius * pl_sin(angle);
        }
        if (shoelace((const double(*)[2])points, count) > 0.05)
            check_cut((const double(*)[2])points, count);
    }
}

enum { LARGE = 10000 };

static void large(const char *name, const double (*points)[2], int count, bool simple)
{
    cut_report report = cut(points, count);
    assert_int_equal(report.triangles, count - 2);
    if (simple)
        check_cut(points, count);
    print_message("%s: %d corners in %.1f ms\n", name, count, 1e3 * report.seconds);
    assert_true(report.seconds < 60); /* sanitizers on a busy machine; a few ms without */
}

static void large_polygons(void **state)
{
    (void)state;
    static double points[LARGE][2];
    const double(*const p)[2] = (const double(*)[2])points;
    for (int i = 0; i < LARGE; i++) {
        points[i][0] = pl_cos(6.283185307179586 * i / LARGE);
        points[i][1] = pl_sin(6.283185307179586 * i / LARGE);
    }
    large("circle", p, LARGE, true);
    for (int i = 0; i < LARGE; i++)
        for (int k = 0; k < 2; k++)
            points[i][k] *= i % 2 ? 0.5 : 1;
    large("star", p, LARGE, true);
    for (int i = 0; i < LARGE; i++) { /* a comb along x, then back */
        points[i][0] = i < LARGE - 2 ? i : i == LARGE - 2 ? LARGE : 0;
        points[i][1] = i < LARGE - 2 ? (i % 2 ? 1 : 500) : 1000;
    }
    large("comb", p, LARGE, true);
    for (int i = 0; i < LARGE; i++) { /* a spiral of two walls */
        int k = i < LARGE / 2 ? i : LARGE - 1 - i;
        double angle = 0.02 * k, radius = 1 + 0.1 * k / 100.0 + (i < LARGE / 2 ? 0.02 : 0);
        points[i][0] = radius * pl_cos(angle);
        points[i][1] = radius * pl_sin(angle);
    }
    large("spiral", p, LARGE, true);
    pl_rng rng = pl_rng_make(4);
    for (int i = 0; i < LARGE; i++)
        for (int k = 0; k < 2; k++)
            points[i][k] = pl_random_double(&rng);
    large("crossing", p, LARGE, false);
    memset(points, 0, sizeof points);
    large("one point", p, LARGE, false);
}

/* Without a plane, or too large for one: a fan, and no NaN. */
static void senseless_polygons(void **state)
{
    (void)state;
    pl_mesh mesh = read_text("v 0 0 0\nv 1e308 -1e308 1e308\nv -1e308 1e308 1e308\nv 1e308 0 0\n"
                             "v 1e-310 0 0\nvn 0 0 1\nf 1 2 3 4 5\nf 1 2 3 4\nf 5 5 5 5 5 5\n"
                             "f 1//1 1 1\n",
                             "t.obj");
    assert_int_equal(mesh.triangle_count, 3 + 2 + 4 + 1);
    pl_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quads),
        cmocka_unit_test(straight_corners),
        cmocka_unit_test(random_polygons),
        cmocka_unit_test(large_polygons),
        cmocka_unit_test(senseless_polygons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
