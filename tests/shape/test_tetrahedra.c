/* Tetrahedra for surfaces made in code: quality, volume, count, conformity, bodies apart, scale,
   bad input, memory. Label: slow. */
#include "tetrahedra_cases.h"

#include "base/clock.h"
#include "base/hash.h"
#include "shape/tetrahedra_stencil.h"
#include "surface_cases.h"

static const double origin[3] = {0, 0, 0};

static pl_status make(case_body *body, int count, pl_tets *tets, pl_error *error)
{
    return pl_tetrahedralise(&body->memory, body->surface, body->inside, count, tets, error);
}

static void must_make(case_body *body, int count, pl_tets *tets)
{
    pl_error error = {0};
    if (make(body, count, tets, &error) != PL_OK)
        fail_msg("%d tetrahedra: %s: %s", count, error.where, error.text);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void make_ball(case_mesh *mesh)
{
    case_ball(mesh, origin, 1, 40, 60);
}

static void make_torus(case_mesh *mesh)
{
    case_torus(mesh, 1, 0.4, 60, 30);
}

static void make_box(case_mesh *mesh)
{
    case_box(mesh, origin, (double[3]){1, 0.8, 1.3});
}

static void make_plate(case_mesh *mesh)
{
    case_box(mesh, origin, (double[3]){1, 0.12, 1});
}

static void make_turned_plate(case_mesh *mesh)
{
    make_plate(mesh);
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *p = &mesh->positions[3 * i], q[3] = {p[0], p[1], p[2]};
        p[0] = 0.36 * q[0] + 0.48 * q[1] - 0.8 * q[2];
        p[1] = -0.8 * q[0] + 0.6 * q[1];
        p[2] = 0.48 * q[0] + 0.64 * q[1] + 0.6 * q[2];
    }
}

/* A hollow ball: the inner surface faces the hollow. */
static void make_hollow(case_mesh *mesh)
{
    make_ball(mesh);
    int outer = mesh->triangle_count;
    case_ball(mesh, origin, 0.5, 30, 40);
    case_invert(mesh, outer, mesh->triangle_count - outer);
}

static void make_overlapping(case_mesh *mesh)
{
    case_ball(mesh, origin, 1, 30, 40);
    case_ball(mesh, (double[3]){1.2, 0.3, 0.1}, 0.8, 30, 40);
}

/* A trunk, a head, four legs, a tail, all pushed into each other. */
static void make_creature(case_mesh *mesh)
{
    static const double part[8][6] = {
        {0, 0, 0, 1, 0.6, 0.55},          {1.1, 0.5, 0, 0.45, 0.4, 0.35},
        {0.6, -0.7, 0.3, 0.2, 0.6, 0.2},  {0.6, -0.7, -0.3, 0.2, 0.6, 0.2},
        {-0.6, -0.7, 0.3, 0.2, 0.6, 0.2}, {-0.6, -0.7, -0.3, 0.2, 0.6, 0.2},
        {-1.2, 0.2, 0, 0.6, 0.17, 0.17},  {1.5, 0.4, 0, 0.25, 0.2, 0.2}};
    for (int i = 0; i < 8; i++) {
        int first = mesh->vertex_count;
        case_ball(mesh, origin, 1, 20, 30);
        for (int v = first; v < mesh->vertex_count; v++)
            for (int k = 0; k < 3; k++)
                mesh->positions[3 * v + k] =
                    mesh->positions[3 * v + k] * part[i][3 + k] + part[i][k];
    }
}

static void make_open(case_mesh *mesh)
{
    pl_rng rng = pl_rng_make(5);
    make_ball(mesh);
    case_cut(mesh, 12, &rng);
}

static void make_cup(case_mesh *mesh) /* a box without its lid */
{
    make_box(mesh);
    mesh->triangle_count -= 2;
}

static const struct shape {
    const char *name;
    void (*make)(case_mesh *mesh);
    double errors[3]; /* of the volume, at 500, 5,000, 50,000 */
} shapes[] = {
    {"ball", make_ball, {0.02, 0.01, 0.005}},
    {"torus", make_torus, {0.05, 0.01, 0.005}},
    {"box", make_box, {0.10, 0.03, 0.01}},
    {"plate", make_plate, {0.15, 0.05, 0.02}},
    {"turned plate", make_turned_plate, {0.8, 0.05, 0.02}}, /* at 500 thinner than a cell */
    {"hollow ball", make_hollow, {0.15, 0.03, 0.01}},
    {"two balls", make_overlapping, {0.05, 0.02, 0.01}},
    {"creature", make_creature, {0.15, 0.05, 0.02}},
    {"ball with holes", make_open, {0.15, 0.05, 0.02}},
    {"box without lid", make_cup, {0.15, 0.05, 0.02}},
};

static void count_volume_and_angles(void **state)
{
    (void)state;
    static const int counts[] = {500, 5000, 50000};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        case_mesh mesh = {0};
        case_body body;
        shapes[s].make(&mesh);
        pl_mesh view = case_view(&mesh);
        body_make(&body, &view);
        for (int c = 0; c < (s % 3 == 0 || check_is_thorough() ? 3 : 2); c++) {
            pl_tets tets;
            uint64_t start = pl_clock_ns();
            must_make(&body, counts[c], &tets);
            double seconds = 1e-9 * (double)(pl_clock_ns() - start);
            tets_figures figures = check_tets(&tets);
            double error = figures.volume / body.volume - 1;
            print_message(
                "%-16s %6d: %6d tetrahedra, volume %+6.2f %%, angles %.1f to %.1f, %.2f s\n",
                shapes[s].name, counts[c], tets.tet_count, 100 * error, figures.sharpest,
                figures.bluntest, seconds);
            assert_true(fabs(error) <= shapes[s].errors[c]);
            /* A plate is all layers: it has one, or two. */
            bool layers = counts[c] == 500 && shapes[s].make == make_plate;
            assert_true(abs(tets.tet_count - counts[c]) <= counts[c] / (layers ? 2 : 10));
            pl_tets_free(&body.memory, &tets);
        }
        body_free(&body);
        case_free(&mesh);
    }
}

/* Whatever the surface, whatever the count: a valid mesh or a refusal. */
static void anything_goes(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(11);
    int made = 0, refused = 0;
    for (int i = 0; i < check_rounds(25, 15); i++) {
        case_mesh mesh = {0};
        case_body body;
        pl_tets tets;
        pl_error error = {0};
        shapes[pl_random_below(&rng, sizeof shapes / sizeof *shapes)].make(&mesh);
        case_bend(&mesh, 0.3 * pl_random_double(&rng), 0.05 * pl_random_double(&rng), &rng);
        if (pl_random_below(&rng, 3) == 0)
            case_cut(&mesh, 2 + pl_random_below(&rng, 10), &rng);
        for (int k = 0; k < 3 * mesh.vertex_count && i % 5 == 0; k++)
            mesh.positions[k] = ldexp(round(ldexp(mesh.positions[k], 3)), -3);
        pl_mesh view = case_view(&mesh);
        body_make(&body, &view);
        int count = 1 + (int)pl_random_below(&rng, i % 2 ? 60 : 2000);
        pl_status status = make(&body, count, &tets, &error);
        if (status == PL_OK) {
            made++;
            check_tets(&tets);
        } else {
            refused++;
            assert_int_equal(status, PL_ERROR_ARGUMENT);
            assert_true(strlen(error.text) > 10);
            assert_null(tets.points);
        }
        pl_tets_free(&body.memory, &tets);
        body_free(&body);
        case_free(&mesh);
    }
    print_message("%d made, %d refused\n", made, refused);
    assert_true(4 * made > 3 * check_rounds(25, 15));
}

/* The bound on angles holds for the stencils, wherever cuts and moved corners are. */
static void stencils_have_no_sharp_angles(void **state)
{
    (void)state;
    static const int32_t lattice[4][3] = {{0, 0, 0}, {2, 0, 0}, {1, 1, 1}, {1, 1, -1}};
    pl_rng rng = pl_rng_make(3);
    tets_figures figures = {.sharpest = 180};
    for (int i = 0; i < check_rounds(400000, 200000); i++) {
        pl_stencil s = {0};
        pl_pieces pieces;
        int towards[4] = {-1, -1, -1, -1};
        for (int c = 0; c < 4; c++) {
            s.side[c] = (int8_t)((int)pl_random_below(&rng, 3) - 1);
            memcpy(s.place[c], lattice[c], sizeof s.place[c]);
            int n = (int)pl_random_below(&rng, PL_LATTICE_NEIGHBOURS);
            double most = n < PL_LATTICE_SHORT ? PL_ALPHA_SHORT : PL_ALPHA_LONG;
            double part = s.side[c] != 0                  ? 0
                          : pl_random_below(&rng, 2) == 0 ? most
                                                          : most * pl_random_double(&rng);
            for (int k = 0; k < 3; k++)
                s.corner[c][k] = lattice[c][k] + part * pl_lattice_offset[n][k];
            for (int other = 0; other < 4 && part > 0; other++)
                if (lattice[c][0] + pl_lattice_offset[n][0] == lattice[other][0] &&
                    lattice[c][1] + pl_lattice_offset[n][1] == lattice[other][1] &&
                    lattice[c][2] + pl_lattice_offset[n][2] == lattice[other][2])
                    towards[c] = other;
        }
        /* An edge has one cut only: its ends do not both move onto it. */
        bool possible = true;
        for (int c = 0; c < 4; c++)
            possible = possible && !(towards[c] >= 0 && towards[towards[c]] == c);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                double least = a / 2 == b / 2 ? PL_ALPHA_LONG : PL_ALPHA_SHORT;
                uint32_t where = pl_random_below(&rng, 3);
                double part = where == 0   ? least
                              : where == 1 ? 1 - least
                                           : least + (1 - 2 * least) * pl_random_double(&rng);
                for (int k = 0; k < 3 && s.side[a] > 0 && s.side[b] < 0; k++)
                    s.cut[a][b][k] = s.cut[b][a][k] =
                        lattice[a][k] + part * (lattice[b][k] - lattice[a][k]);
            }
        pl_stencil_apply(&s, &pieces);
        for (int p = 0; p < pieces.count && possible; p++) {
            const double *corner[4];
            for (int c = 0; c < 4; c++) {
                int number = pieces.corner[p][c];
                corner[c] = number < 4 ? s.corner[number] : s.cut[(number - 4) / 4][number % 4];
            }
            assert_true(tet_volume(corner[0], corner[1], corner[2], corner[3]) > 0);
            add_angles(corner, &figures);
            double sharpest =
                180 / M_PI * acos(pl_tet_sharpest(corner[0], corner[1], corner[2], corner[3]));
            tets_figures own = {.sharpest = 180};
            add_angles(corner, &own);
            assert_true(fabs(sharpest - own.sharpest) < 1e-6);
        }
    }
    print_message("stencils: angles from %.2f to %.2f\n", figures.sharpest, figures.bluntest);
    assert_true(figures.sharpest > 10.7);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static int find_root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int count_bodies(const pl_tets *tets)
{
    int *parent = malloc((size_t)tets->point_count * sizeof *parent), bodies = 0;
    for (int i = 0; i < tets->point_count; i++)
        parent[i] = i;
    for (int t = 0; t < tets->tet_count; t++)
        for (int c = 1; c < 4; c++)
            parent[find_root(parent, tets->tets[4 * t + c])] = find_root(parent, tets->tets[4 * t]);
    for (int i = 0; i < tets->point_count; i++)
        bodies += find_root(parent, i) == i;
    free(parent);
    return bodies;
}

static void bodies_stay_apart(void **state)
{
    (void)state;
    static const double gaps[] = {1e-3, 0.02, 0.1, 1};
    for (int g = 0; g < 4; g++)
        for (int count = 300; count < 5000; count *= 4) {
            case_mesh mesh = {0};
            case_body body;
            pl_tets tets;
            case_box(&mesh, origin, (double[3]){1, 1, 1});
            case_box(&mesh, (double[3]){1 + gaps[g], 0.1, 0.2}, (double[3]){2 + gaps[g], 1.1, 1.2});
            case_ball(&mesh, (double[3]){0.5, 1.6 + gaps[g], 0.5}, 0.6, 20, 30);
            pl_mesh view = case_view(&mesh);
            body_make(&body, &view);
            must_make(&body, count, &tets);
            check_tets(&tets);
            assert_int_equal(count_bodies(&tets), 3);
            pl_tets_free(&body.memory, &tets);
            body_free(&body);
            case_free(&mesh);
        }
}

static void what_overlaps_is_one(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        case_mesh mesh = {0};
        case_body body;
        pl_tets tets;
        (i ? make_creature : make_overlapping)(&mesh);
        pl_mesh view = case_view(&mesh);
        body_make(&body, &view);
        must_make(&body, 4000, &tets);
        check_tets(&tets);
        assert_int_equal(count_bodies(&tets), 1);
        pl_tets_free(&body.memory, &tets);
        body_free(&body);
        case_free(&mesh);
    }
}

static void a_hollow_stays_hollow(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_body body;
    pl_tets tets;
    make_hollow(&mesh);
    pl_mesh view = case_view(&mesh);
    body_make(&body, &view);
    if (pl_inside_test(body.inside, origin))
        fail_msg("the inside test does not see the hollow");
    must_make(&body, 4000, &tets);
    tets_figures figures = check_tets(&tets);
    assert_true(fabs(figures.volume / (4 * M_PI / 3 * 0.875) - 1) < 0.05);
    for (int i = 0; i < tets.point_count; i++) {
        const double *p = &tets.points[3 * i];
        assert_true(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) > 0.4);
    }
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
    case_free(&mesh);
}

/* ---- Scale, sameness, bad input, memory ------------------------------------------------------ */

static void size_and_place_do_not_matter(void **state)
{
    (void)state;
    static const double scales[] = {1, 0x1p-100, 0x1p100, 0x1p-250, 0x1p250};
    uint64_t first = 0;
    for (int i = 0; i < 6; i++) {
        case_mesh mesh = {0};
        case_body body;
        pl_tets tets;
        make_creature(&mesh);
        case_place(&mesh, i < 5 ? scales[i] : 1, i < 5 ? origin : (double[3]){1e7, -1e7, 3e6});
        pl_mesh view = case_view(&mesh);
        body_make(&body, &view);
        must_make(&body, 2000, &tets);
        tets_figures figures = check_tets(&tets);
        assert_true(fabs(figures.volume / body.volume - 1) < 0.1);
        uint64_t hash = pl_hash_of(tets.tets, 16 * (size_t)tets.tet_count, 0);
        first = i == 0 ? hash : first;
        if (i < 5)
            assert_true(hash == first);
        pl_tets_free(&body.memory, &tets);
        body_free(&body);
        case_free(&mesh);
    }
}

static void the_same_again(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_body body;
    pl_tets tets[2];
    make_creature(&mesh);
    pl_mesh view = case_view(&mesh);
    body_make(&body, &view);
    for (int i = 0; i < 2; i++)
        must_make(&body, 3000, &tets[i]);
    assert_int_equal(tets[0].point_count, tets[1].point_count);
    assert_int_equal(tets[0].tet_count, tets[1].tet_count);
    assert_memory_equal(tets[0].points, tets[1].points, 24 * (size_t)tets[0].point_count);
    assert_memory_equal(tets[0].tets, tets[1].tets, 16 * (size_t)tets[0].tet_count);
    for (int i = 0; i < 2; i++)
        pl_tets_free(&body.memory, &tets[i]);
    body_free(&body);
    case_free(&mesh);
}

static void refuse(case_body *body, int count, const char *where, const char *text)
{
    pl_tets tets;
    pl_error error = {0};
    assert_int_equal(make(body, count, &tets, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, where);
    assert_non_null(strstr(error.text, text));
    assert_null(tets.points);
}

static void refuses_with_a_reason(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_body body;
    make_box(&mesh);
    pl_mesh view = case_view(&mesh);
    body_make(&body, &view);
    refuse(&body, 0, "tet_count", "from 1 to");
    refuse(&body, -5, "tet_count", "from 1 to");
    refuse(&body, 1 << 30, "tet_count", "from 1 to");
    body_free(&body);

    view.triangle_count = 2; /* a flat square */
    body_make(&body, &view);
    refuse(&body, 100, "tet_count", "no volume");
    body_free(&body);
    case_free(&mesh);

    case_box(&mesh, origin, (double[3]){1, 1e-4, 1});
    view = case_view(&mesh);
    body_make(&body, &view);
    refuse(&body, 300, "tet_count", "ask for more");
    body_free(&body);
    case_free(&mesh);
}

/* A needle across its bounds: cells in the bounds outnumber those inside a million times. */
static void slender_bodies_take_no_time(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_body body;
    pl_tets tets;
    case_ball(&mesh, origin, 1, 40, 20);
    for (int i = 0; i < mesh.vertex_count; i++) {
        double *p = &mesh.positions[3 * i], along = p[2];
        for (int k = 0; k < 3; k++)
            p[k] = along + 0.004 * (k == 0 ? p[0] : k == 1 ? p[1] - p[0] : -p[1]);
    }
    pl_mesh view = case_view(&mesh);
    body_make(&body, &view);
    uint64_t start = pl_clock_ns();
    must_make(&body, 20000, &tets);
    double seconds = 1e-9 * (double)(pl_clock_ns() - start);
    tets_figures figures = check_tets(&tets);
    print_message("needle: %d tetrahedra, volume %+.1f %%, %.2f s\n", tets.tet_count,
                  100 * (figures.volume / body.volume - 1), seconds);
    assert_true(fabs(figures.volume / body.volume - 1) < 0.15);
    pl_tets_free(&body.memory, &tets);
    body_free(&body);
    case_free(&mesh);
}

static void survives_without_memory(void **state)
{
    (void)state;
    case_mesh mesh = {0};
    case_body body;
    case_box(&mesh, origin, (double[3]){1, 1, 1});
    case_box(&mesh, (double[3]){1.01, 0, 0}, (double[3]){2, 1, 1});
    pl_mesh view = case_view(&mesh);
    body_make(&body, &view);
    size_t before = body.memory.used;
    pl_status status = PL_ERROR_MEMORY;
    int tries = 0;
    for (; status != PL_OK && tries < 20000; tries += 1 + tries / 30) {
        pl_tets tets;
        pl_error error = {0};
        body.memory.fail_at = (int64_t)body.memory.allocations + tries;
        status = make(&body, 60, &tets, &error);
        assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
        if (status == PL_OK)
            check_tets(&tets);
        pl_tets_free(&body.memory, &tets);
        assert_int_equal(body.memory.used, before);
    }
    assert_int_equal(status, PL_OK);
    print_message("about %d allocations\n", tries);
    body_free(&body);
    case_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stencils_have_no_sharp_angles),
        cmocka_unit_test(count_volume_and_angles),
        cmocka_unit_test(anything_goes),
        cmocka_unit_test(bodies_stay_apart),
        cmocka_unit_test(what_overlaps_is_one),
        cmocka_unit_test(a_hollow_stays_hollow),
        cmocka_unit_test(size_and_place_do_not_matter),
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(refuses_with_a_reason),
        cmocka_unit_test(slender_bodies_take_no_time),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
