/* Repair: what is welded, dropped and turned, on meshes spoilt in known ways; refusals; and that no
   allocation failure hurts. Label: slow. */
#include "support/check.h"

#include <stdio.h>

#include "pliant/pliant.h"
#include "shape/inside.h"
#include "shape/surface.h"
#include "surface_cases.h"

static const double ORIGIN[3] = {0, 0, 0};

static pl_surface *repair(pl_memory *memory, const case_mesh *mesh, double weld)
{
    pl_surface *surface;
    pl_error error = {0};
    pl_mesh view = case_view(mesh);
    pl_status status = pl_surface_create(memory, &view, weld, &surface, &error);
    if (status != PL_OK)
        print_error("refused: %s\n", error.text);
    assert_int_equal(status, PL_OK);
    return surface;
}

/* Neighbours over edges of two run in opposite directions; checked by brute force over a table. */
static void check_consistent(const pl_surface *surface)
{
    for (int i = 0; i < 3 * surface->triangle_count; i++) {
        int a = surface->triangles[i], b = surface->triangles[i % 3 == 2 ? i - 2 : i + 1];
        int same = 0, opposite = 0;
        for (int j = 0; j < 3 * surface->triangle_count; j++) {
            int c = surface->triangles[j], d = surface->triangles[j % 3 == 2 ? j - 2 : j + 1];
            same += a == c && b == d;
            opposite += a == d && b == c;
        }
        if (same + opposite == 2)
            assert_int_equal(opposite, 1);
    }
}

static void a_clean_ball_is_left_alone(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_ball(&mesh, ORIGIN, 2, 12, 17);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_surface *surface = repair(&memory, &mesh, 1e-6);
    const pl_mesh_report *report = &surface->report;
    assert_int_equal(report->points, mesh.vertex_count);
    assert_int_equal(surface->triangle_count, mesh.triangle_count);
    assert_memory_equal(surface->triangles, mesh.triangles,
                        3 * sizeof(int32_t) * (size_t)mesh.triangle_count);
    assert_memory_equal(surface->points, mesh.positions,
                        3 * sizeof(double) * (size_t)mesh.vertex_count);
    assert_int_equal(report->welded + report->degenerate + report->duplicate + report->flipped, 0);
    assert_int_equal(report->components, 1);
    assert_int_equal(report->closed_components, 1);
    assert_int_equal(report->boundary_edges + report->nonmanifold_edges, 0);
    assert_int_equal(report->nonmanifold_points, 0);
    assert_true(report->orientable && surface->component_closed[0]);
    for (int t = 0; t < surface->triangle_count; t++) {
        assert_int_equal(surface->source[t], t);
        assert_int_equal(surface->triangle_component[t], 0);
    }
    assert_true(report->area < 16 * M_PI && report->area > 0.95 * 16 * M_PI);
    pl_surface_destroy(surface);
    assert_int_equal(memory.used, 0);
    case_free(&mesh);
}

/* Triangles loose, shuffled, wound at random, some degenerate, some twice, corners off by less than
   the weld distance: the ball comes back. */
static void spoilt_balls_come_back(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(1);
    for (int round = 0; round < 60; round++) {
        double scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e-9 : 1e9;
        const double offset[3] = {round % 2 ? 1e6 * scale : 0, 0, round % 5 ? 0 : -3e5 * scale};
        case_mesh mesh = {0};
        case_ball(&mesh, ORIGIN, 1, 6 + round % 7, 5 + round % 9);
        if (round % 4 == 3)
            case_torus(&mesh, 4, 1, 9, 7);
        int points = mesh.vertex_count, triangles = mesh.triangle_count;
        case_unweld(&mesh, &rng);
        int duplicates = 0, degenerate = 0, turned = 0;
        for (int t = 0; t < triangles; t++) {
            const int32_t *c = &mesh.triangles[3 * t];
            int32_t corner[3] = {c[0], c[1], c[2]};
            if (pl_random_below(&rng, 9) == 0) {
                int turn = (int)pl_random_below(&rng, 3);
                case_triangle(&mesh, corner[turn], corner[(turn + 2) % 3], corner[(turn + 1) % 3]);
                duplicates++;
            }
            if (pl_random_below(&rng, 9) == 0) {
                case_triangle(&mesh, corner[0], corner[1], corner[0]);
                degenerate++;
            }
            if (pl_random_below(&rng, 2)) {
                case_invert(&mesh, t, 1);
                turned++;
            }
        }
        for (int i = 0; i < 3 * mesh.vertex_count; i++)
            mesh.positions[i] += 2e-7 * (2 * pl_random_double(&rng) - 1);
        case_place(&mesh, scale, offset);
        int unused = case_vertex(&mesh, 1e3 * scale, 0, 0);

        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_surface *surface = repair(&memory, &mesh, 1e-6);
        const pl_mesh_report *report = &surface->report;
        assert_int_equal(report->points, points);
        assert_int_equal(report->used_vertices, mesh.vertex_count - 1);
        assert_int_equal(report->welded, mesh.vertex_count - 1 - points);
        assert_int_equal(surface->point_of_vertex[unused], -1);
        assert_int_equal(surface->triangle_count, triangles);
        assert_int_equal(report->duplicate, duplicates);
        assert_int_equal(report->degenerate, degenerate);
        assert_int_equal(report->flipped, turned);
        assert_int_equal(report->components, round % 4 == 3 ? 2 : 1);
        assert_int_equal(report->closed_components, report->components);
        assert_true(report->orientable);
        double cube = scale * scale * scale;
        assert_true(case_signed_volume(surface) > 2 * cube);
        if (round < 12)
            check_consistent(surface);
        for (int i = 0; i < mesh.vertex_count - 1; i++) {
            const double *p = &mesh.positions[3 * i];
            const double *q = &surface->points[3 * surface->point_of_vertex[i]];
            for (int k = 0; k < 3; k++)
                assert_true(fabs(p[k] - q[k]) <= 1e-6 * surface->size);
        }
        pl_surface_destroy(surface);
        assert_int_equal(memory.used, 0);
        case_free(&mesh);
    }
}

/* No two points nearer than the distance, every vertex within it of its point; compared over all
   pairs, on clouds dense enough to chain. */
static void welding_keeps_its_promise(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(2);
    for (int round = 0; round < 40; round++) {
        case_mesh mesh = {0};
        double weld = round % 8 == 0 ? 0 : pow(10, -1 - round % 6);
        for (int i = 0; i < 300; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = floor(pl_random_double(&rng) * 40) / 40 +
                       (round % 8 ? weld * 2 * pl_random_double(&rng) : 0);
            case_vertex(&mesh, p[0], p[1], round % 4 ? p[2] : 0);
        }
        for (int t = 0; t < 300; t++)
            case_triangle(&mesh, t, (t + 7) % 300, (t + 101) % 300);
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_surface *surface = repair(&memory, &mesh, weld);
        double distance = weld * surface->size;
        for (int i = 0; i < surface->point_count; i++)
            for (int j = 0; j < i; j++) {
                const double *a = &surface->points[3 * i], *b = &surface->points[3 * j];
                double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
                assert_true(d > 0 && d >= distance * (1 - 1e-9));
            }
        for (int i = 0; i < 300; i++) {
            const double *a = &mesh.positions[3 * i];
            const double *b = &surface->points[3 * surface->point_of_vertex[i]];
            double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
            assert_true(d <= distance * (1 + 1e-9));
        }
        pl_surface_destroy(surface);
        case_free(&mesh);
    }
}

static void inverted_files_are_turned(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int inverted = 0; inverted < 2; inverted++)
        for (int open = 0; open < 2; open++) {
            pl_rng rng = pl_rng_make(3);
            case_mesh mesh = {0};
            case_torus(&mesh, 3, 1, 20, 12);
            if (open)
                case_cut(&mesh, 30, &rng);
            if (inverted)
                case_invert(&mesh, 0, mesh.triangle_count);
            pl_surface *surface = repair(&memory, &mesh, 1e-6);
            assert_true(case_signed_volume(surface) > 0);
            assert_int_equal(surface->report.flipped, inverted ? mesh.triangle_count : 0);
            assert_int_equal(surface->component_closed[0], !open);
            assert_int_equal(surface->report.boundary_edges > 0, open);
            pl_surface_destroy(surface);
            case_free(&mesh);
        }
    assert_int_equal(memory.used, 0);
}

/* A ball in a cavity in a ball, also as an inverted file; and an inner shell that faces outward in
   the file, or whose winding is no intention. */
static void cavities_stay_cavities(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int inverted = 0; inverted < 2; inverted++)
        for (int kind = 0; kind < 3; kind++) {
            case_mesh mesh = {0};
            case_ball(&mesh, ORIGIN, 3, 12, 12);
            int shell = mesh.triangle_count;
            case_ball(&mesh, ORIGIN, 2, 10, 10);
            int ball = mesh.triangle_count;
            case_ball(&mesh, ORIGIN, 1, 8, 8);
            const double away[3] = {9, 0, 0};
            int lonely = mesh.triangle_count;
            case_ball(&mesh, away, 1, 8, 8);
            if (kind != 1)
                case_invert(&mesh, shell, ball - shell);
            if (kind == 2)
                case_invert(&mesh, shell, 7);
            case_invert(&mesh, lonely, mesh.triangle_count - lonely); /* wrong: must be turned */
            if (inverted)
                case_invert(&mesh, 0, mesh.triangle_count);
            pl_surface *surface = repair(&memory, &mesh, 1e-6);
            pl_inside *inside;
            assert_int_equal(pl_inside_create(&memory, surface, &inside, NULL), PL_OK);
            const double in_wall[3] = {2.5, 0, 0}, in_hole[3] = {1.5, 0, 0};
            assert_true(fabs(pl_inside_winding(inside, in_wall) - 1) < 1e-2);
            /* only a shell wound against the rest, all of it, is a cavity */
            assert_true(fabs(pl_inside_winding(inside, in_hole) - (kind == 0 ? 0 : 2)) < 1e-2);
            assert_true(fabs(pl_inside_winding(inside, ORIGIN) - (kind == 0 ? 1 : 3)) < 1e-2);
            assert_true(fabs(pl_inside_winding(inside, away) - 1) < 1e-2);
            assert_int_equal(surface->report.closed_components, 4);
            pl_inside_destroy(inside);
            pl_surface_destroy(surface);
            case_free(&mesh);
        }
    assert_int_equal(memory.used, 0);
}

static void moebius_is_not_orientable(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int twists = 0; twists < 4; twists++) {
        case_mesh mesh = {0};
        int n = 24;
        for (int i = 0; i < n; i++)
            for (int side = -1; side <= 1; side += 2) {
                double a = 2 * M_PI * i / n, b = 0.5 * twists * a, r = 2 + 0.5 * side * cos(b);
                case_vertex(&mesh, r * cos(a), r * sin(a), 0.5 * side * sin(b));
            }
        for (int i = 0; i < n; i++) {
            int a = 2 * i, b = 2 * ((i + 1) % n), swap = i == n - 1 && twists % 2;
            case_triangle(&mesh, a, b + swap, a + 1);
            case_triangle(&mesh, a + 1, b + swap, b + !swap);
        }
        pl_surface *surface = repair(&memory, &mesh, 1e-6);
        assert_int_equal(surface->report.orientable, twists % 2 == 0);
        assert_int_equal(surface->report.components, 1);
        assert_int_equal(surface->report.closed_components, 0);
        assert_int_equal(surface->report.boundary_edges, 2 * n);
        pl_surface_destroy(surface);
        case_free(&mesh);
    }
    assert_int_equal(memory.used, 0);
}

static void strange_edges_and_points_are_counted(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    case_mesh mesh = {0};
    /* a fan of five about one edge */
    case_vertex(&mesh, 0, 0, 0), case_vertex(&mesh, 0, 0, 1);
    for (int i = 0; i < 5; i++)
        case_triangle(&mesh, 0, 1, case_vertex(&mesh, cos(i), sin(i), 0.5));
    pl_surface *surface = repair(&memory, &mesh, 1e-6);
    assert_int_equal(surface->report.nonmanifold_edges, 1);
    assert_int_equal(surface->report.nonmanifold_points, 2);
    assert_int_equal(surface->report.boundary_edges, 10);
    assert_int_equal(surface->report.components, 1);
    pl_surface_destroy(surface);
    case_free(&mesh);

    /* two boxes that touch in a corner: components of their own, one point of two fans */
    const double one[3] = {1, 1, 1}, two[3] = {2, 2, 2};
    case_box(&mesh, ORIGIN, one);
    case_box(&mesh, one, two);
    surface = repair(&memory, &mesh, 1e-6);
    assert_int_equal(surface->report.components, 2);
    assert_int_equal(surface->report.closed_components, 2);
    assert_int_equal(surface->report.nonmanifold_points, 1);
    assert_int_equal(surface->report.points, 15);
    pl_surface_destroy(surface);
    case_free(&mesh);

    /* two boxes along one edge: one component, both outward */
    const double upper[3] = {2, 2, 1}, lower[3] = {1, 1, 0};
    case_box(&mesh, ORIGIN, one);
    case_box(&mesh, lower, upper);
    case_invert(&mesh, 12, 12);
    surface = repair(&memory, &mesh, 1e-6);
    assert_int_equal(surface->report.components, 1);
    assert_int_equal(surface->report.nonmanifold_edges, 1);
    assert_int_equal(surface->report.flipped, 12);
    assert_true(fabs(case_signed_volume(surface) - 2) < 1e-12);
    pl_surface_destroy(surface);
    case_free(&mesh);
    assert_int_equal(memory.used, 0);
}

/* A triangle of three points on a line closes the gap between a side and its two halves. */
static void flat_triangles_open_nothing(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    case_mesh mesh = {0};
    const double one[3] = {1, 1, 1};
    case_box(&mesh, ORIGIN, one);
    /* the edge from corner 0 to 1 is halved on the side y = 0 only */
    int middle = case_vertex(&mesh, 0.5, 0, 0);
    for (int t = 0; t < 12; t++)
        if (mesh.triangles[3 * t] == 0 && mesh.triangles[3 * t + 1] == 1) {
            mesh.triangles[3 * t + 1] = middle;
            case_triangle(&mesh, middle, 1, 5);
            break;
        }
    case_triangle(&mesh, 0, 1, middle);
    pl_surface *surface = repair(&memory, &mesh, 1e-6);
    assert_int_equal(surface->report.degenerate, 1);
    assert_int_equal(surface->triangle_count, 13);
    assert_int_equal(surface->report.closed_components, 1);
    assert_int_equal(surface->report.boundary_edges, 0);
    assert_true(fabs(case_signed_volume(surface) - 1) < 1e-12);
    pl_surface_destroy(surface);
    case_free(&mesh);
    assert_int_equal(memory.used, 0);
}

/* Too flat to be simulated, they still bound what there is, and are counted. */
static void flat_tetrahedra_are_dropped(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    case_mesh mesh = {0};
    for (int i = 0; i < 8; i++)
        case_vertex(&mesh, i & 1, i >> 1 & 1, i >> 2);
    case_vertex(&mesh, 0.5, 1.00001, 0.5);
    static const int32_t tets[7][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2},
                                       {1, 2, 4, 7}, {2, 7, 3, 8}, {2, 6, 7, 8}};
    pl_mesh view = {
        .vertex_count = 9, .positions = mesh.positions, .tet_count = 7, .tets = &tets[0][0]};
    pl_surface *surface;
    assert_int_equal(pl_surface_create(&memory, &view, 1e-6, &surface, NULL), PL_OK);
    assert_int_equal(surface->tet_count, 5);
    assert_int_equal(surface->report.flat_tets, 2);
    assert_int_equal(surface->report.duplicate_tets, 0);
    assert_int_equal(surface->triangle_count, 14);
    assert_int_equal(surface->report.closed_components, 1);
    pl_surface_destroy(surface);
    static const int32_t flat[4] = {0, 1, 2, 3};
    pl_error error = {0};
    view.tet_count = 1, view.tets = flat;
    assert_int_equal(pl_surface_create(&memory, &view, 1e-6, &surface, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "tetrahedra"));
    case_free(&mesh);
    assert_int_equal(memory.used, 0);
}

static void tetrahedra_are_turned_and_bounded(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    case_mesh mesh = {0};
    const double one[3] = {1, 1, 1};
    case_box(&mesh, ORIGIN, one); /* for its corners */
    int far = case_vertex(&mesh, 2, 2, 2);
    /* a cube of six around its diagonal, some turned, one twice, one flat, one without volume */
    static const int32_t tets[9][4] = {{0, 1, 3, 7}, {0, 3, 1, 7}, {0, 3, 2, 7},
                                       {0, 6, 2, 7}, {0, 6, 4, 7}, {0, 4, 5, 7},
                                       {0, 1, 5, 7}, {0, 1, 3, 2}, {1, 1, 3, 7}};
    pl_mesh view = {
        .vertex_count = far, .positions = mesh.positions, .tet_count = 9, .tets = &tets[0][0]};
    pl_surface *surface;
    assert_int_equal(pl_surface_create(&memory, &view, 1e-6, &surface, NULL), PL_OK);
    assert_int_equal(surface->tet_count, 6);
    assert_int_equal(surface->report.flat_tets, 2);
    assert_int_equal(surface->report.duplicate_tets, 1);
    assert_int_equal(surface->report.turned_tets, 2);
    assert_int_equal(surface->triangle_count, 12);
    assert_int_equal(surface->report.flipped, 0);
    assert_int_equal(surface->source[0], -1);
    assert_int_equal(surface->report.closed_components, 1);
    assert_true(fabs(case_signed_volume(surface) - 1) < 1e-12);
    for (int i = 0; i < surface->tet_count; i++) {
        const double *p[4];
        for (int c = 0; c < 4; c++)
            p[c] = &surface->points[3 * surface->tets[4 * i + c]];
        double e[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                e[c][k] = p[c + 1][k] - p[0][k];
        double det = e[2][0] * (e[0][1] * e[1][2] - e[0][2] * e[1][1]) +
                     e[2][1] * (e[0][2] * e[1][0] - e[0][0] * e[1][2]) +
                     e[2][2] * (e[0][0] * e[1][1] - e[0][1] * e[1][0]);
        assert_true(fabs(det - 1) < 1e-12);
    }
    pl_surface_destroy(surface);
    /* triangles that are there are kept */
    view.triangle_count = 2;
    view.triangles = mesh.triangles;
    assert_int_equal(pl_surface_create(&memory, &view, 1e-6, &surface, NULL), PL_OK);
    assert_int_equal(surface->triangle_count, 2);
    assert_int_equal(surface->tet_count, 6);
    pl_surface_destroy(surface);
    case_free(&mesh);
    assert_int_equal(memory.used, 0);
}

static void lines_alone_are_taken(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    const double positions[12] = {0, 0, 0, 1, 0, 0, 1, 1e-9, 0, 2, 0, 0};
    const int32_t lines[6] = {0, 1, 1, 2, 2, 3};
    pl_mesh mesh = {.vertex_count = 4, .positions = positions, .line_count = 3, .lines = lines};
    pl_surface *surface;
    assert_int_equal(pl_surface_create(&memory, &mesh, 1e-6, &surface, NULL), PL_OK);
    assert_int_equal(surface->line_count, 2);
    assert_int_equal(surface->point_count, 3);
    assert_int_equal(surface->triangle_count, 0);
    pl_mesh_report report;
    assert_int_equal(pl_mesh_examine(&mesh, 1e-6, NULL, &report, NULL), PL_OK);
    assert_true(report.volume == 0 && report.lines == 3);
    pl_surface_destroy(surface);
    assert_int_equal(memory.used, 0);
}

static void check_refused(const pl_mesh *mesh, double weld, const char *where, const char *word)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_surface *surface = (pl_surface *)&memory;
    pl_error error = {0};
    pl_mesh_report report;
    assert_int_equal(pl_surface_create(&memory, mesh, weld, &surface, &error), PL_ERROR_ARGUMENT);
    assert_null(surface);
    assert_string_equal(error.where, where);
    if (!strstr(error.text, word))
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    assert_int_equal(memory.used, 0);
    assert_int_equal(pl_mesh_examine(mesh, weld, NULL, &report, NULL), PL_ERROR_ARGUMENT);
}

static void what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    double positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int32_t indices[6] = {0, 1, 2, 0, 1, 3};
    pl_mesh mesh = {
        .vertex_count = 4, .positions = positions, .triangle_count = 2, .triangles = indices};
    pl_mesh nothing = {0};
    check_refused(&nothing, 0, "mesh", "no triangles");
    check_refused(&mesh, NAN, "weld", "nan");
    check_refused(&mesh, -1, "weld", "-1");
    check_refused(&mesh, 1, "weld", "1");
    indices[4] = 4;
    check_refused(&mesh, 0, "triangles[1]", "4");
    indices[4] = -1;
    check_refused(&mesh, 0, "triangles[1]", "-1");
    indices[4] = 1;
    positions[7] = NAN;
    check_refused(&mesh, 0, "positions[2]", "vertex 2");
    positions[7] = -INFINITY;
    check_refused(&mesh, 0, "positions[2]", "vertex 2");
    positions[7] = 1e200;
    check_refused(&mesh, 0, "positions[2]", "large");
    positions[7] = 1;
    mesh.triangles = NULL;
    check_refused(&mesh, 0, "triangles", "missing");
    mesh.triangles = indices;
    mesh.positions = NULL;
    check_refused(&mesh, 0, "positions", "missing");
    mesh.positions = positions;
    mesh.vertex_count = -1;
    check_refused(&mesh, 0, "positions", "-1");
    mesh.vertex_count = 4;
    mesh.triangle_count = -5;
    check_refused(&mesh, 0, "triangles", "-5");
    mesh.triangle_count = 2;
    double same[12] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    mesh.positions = same;
    check_refused(&mesh, 1e-6, "mesh", "no extent");
    double row[12] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    mesh.positions = row;
    check_refused(&mesh, 1e-6, "mesh", "2 triangles");
    double tiny[12] = {0, 0, 0, 1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e-300};
    mesh.positions = tiny;
    check_refused(&mesh, 1e-6, "mesh", "no extent");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_ball(&mesh, ORIGIN, 2, 8, 8);
    int shell = mesh.triangle_count;
    case_ball(&mesh, ORIGIN, 1, 8, 8);
    case_invert(&mesh, shell, mesh.triangle_count - shell);
    pl_mesh with_triangles = case_view(&mesh);
    const int32_t tets[8] = {0, 1, 20, 40, 0, 1, 20, 60};
    pl_mesh with_tets = {.vertex_count = mesh.vertex_count,
                         .positions = mesh.positions,
                         .tet_count = 2,
                         .tets = tets};
    for (int kind = 0; kind < 2; kind++) {
        const pl_mesh *view = kind ? &with_tets : &with_triangles;
        bool done = false;
        for (int64_t at = 0; !done; at++) {
            pl_memory memory;
            pl_surface *surface;
            pl_inside *inside = NULL;
            pl_memory_init(&memory, NULL, 0);
            memory.fail_at = at;
            pl_status status = pl_surface_create(&memory, view, 1e-6, &surface, NULL);
            if (status == PL_OK) {
                status = pl_inside_create(&memory, surface, &inside, NULL);
                done = status == PL_OK;
            } else {
                assert_null(surface);
            }
            assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
            pl_inside_destroy(inside);
            pl_surface_destroy(surface);
            assert_int_equal(memory.used, 0);
            assert_true(at < 200);
        }
    }
    case_free(&mesh);
}

/* Anything at all: no crash, no leak, counts that add up. */
static void noise_is_survived(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(7);
    for (int round = 0; round < 2000; round++) {
        case_mesh mesh = {0};
        int vertices = 1 + (int)pl_random_below(&rng, 12);
        for (int i = 0; i < vertices; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = round % 2 ? (double)pl_random_below(&rng, 3) : pl_random_double(&rng);
            case_vertex(&mesh, p[0], p[1], p[2]);
        }
        int triangles = (int)pl_random_below(&rng, 30);
        for (int t = 0; t < triangles; t++) {
            int corner[3];
            for (int c = 0; c < 3; c++)
                corner[c] = (int)pl_random_below(&rng, (uint32_t)vertices);
            case_triangle(&mesh, corner[0], corner[1], corner[2]);
        }
        int32_t tets[40];
        for (int i = 0; i < 40; i++)
            tets[i] = (int32_t)pl_random_below(&rng, (uint32_t)vertices);
        pl_mesh view = case_view(&mesh);
        view.tet_count = (int)pl_random_below(&rng, 11);
        view.tets = tets;
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_surface *surface;
        if (pl_surface_create(&memory, &view, round % 3 ? 1e-6 : 0.05, &surface, NULL) == PL_OK) {
            const pl_mesh_report *report = &surface->report;
            if (surface->triangle_count && surface->source[0] >= 0)
                assert_int_equal(surface->triangle_count + report->degenerate + report->duplicate,
                                 triangles);
            assert_int_equal(surface->tet_count + report->flat_tets + report->duplicate_tets,
                             view.tet_count);
            pl_inside *inside;
            assert_int_equal(pl_inside_create(&memory, surface, &inside, NULL), PL_OK);
            for (int i = 0; i < 10; i++) {
                double p[3], c[3];
                for (int k = 0; k < 3; k++)
                    p[k] = (double)pl_random_below(&rng, 5) / 2;
                assert_true(isfinite(pl_inside_winding(inside, p)));
                double d = pl_inside_closest(inside, p, INFINITY, c, NULL);
                assert_true(surface->triangle_count ? isfinite(d) : d == INFINITY);
                double out = pl_inside_segment_outside(inside, p, surface->points);
                assert_true(out >= 0 && out <= 1);
            }
            if (round % 50 == 0)
                assert_true(pl_inside_volume(inside) >= 0);
            pl_inside_destroy(inside);
        }
        pl_surface_destroy(surface);
        assert_int_equal(memory.used, 0);
        case_free(&mesh);
    }
}

/* A fan about one point, all vertices almost at one place, one far away: nothing takes long. */
static void crowded_meshes_take_no_time(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(9);
    int n = 60000;
    double *positions = malloc(3 * sizeof(double) * (size_t)n);
    int32_t *triangles = malloc(3 * sizeof(int32_t) * (size_t)n);
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < n; i++) {
            double spread = kind == 0 ? 1 : 1e-7;
            for (int k = 0; k < 3; k++)
                positions[3 * i + k] = spread * pl_random_double(&rng);
            triangles[3 * i] = kind == 2 ? (int32_t)pl_random_below(&rng, (uint32_t)n) : 0;
            triangles[3 * i + 1] = i;
            triangles[3 * i + 2] = (i + 1) % n;
        }
        positions[3 * n - 3] = 1; /* far from the crowd */
        pl_mesh mesh = {
            .vertex_count = n, .positions = positions, .triangle_count = n, .triangles = triangles};
        for (int w = 0; w < 3; w++) {
            pl_surface *surface;
            pl_status status = pl_surface_create(&memory, &mesh,
                                                 w == 0   ? 0
                                                 : w == 1 ? 1e-9
                                                          : 1e-6,
                                                 &surface, NULL);
            assert_true(status == PL_OK || status == PL_ERROR_ARGUMENT);
            pl_inside *inside = NULL;
            if (status == PL_OK)
                assert_int_equal(pl_inside_create(&memory, surface, &inside, NULL), PL_OK);
            pl_inside_destroy(inside);
            pl_surface_destroy(surface);
        }
    }
    free(positions);
    free(triangles);
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_ball_is_left_alone),
        cmocka_unit_test(spoilt_balls_come_back),
        cmocka_unit_test(welding_keeps_its_promise),
        cmocka_unit_test(inverted_files_are_turned),
        cmocka_unit_test(cavities_stay_cavities),
        cmocka_unit_test(moebius_is_not_orientable),
        cmocka_unit_test(strange_edges_and_points_are_counted),
        cmocka_unit_test(flat_triangles_open_nothing),
        cmocka_unit_test(tetrahedra_are_turned_and_bounded),
        cmocka_unit_test(flat_tetrahedra_are_dropped),
        cmocka_unit_test(lines_alone_are_taken),
        cmocka_unit_test(what_cannot_be_read_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(noise_is_survived),
        cmocka_unit_test(crowded_meshes_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
