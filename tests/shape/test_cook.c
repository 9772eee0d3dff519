#include "pliant/cook.h"

#include <math.h>
#include <stdio.h>

#include "model_cases.h"
#include "pliant/pliant.h"
#include "shape/model.h"
#include "support/check.h"

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* A closed box whose faces share no vertex, as files with flat shading have them. */
typedef struct box {
    pl_mesh mesh;
    double positions[24 * 3];
    int32_t triangles[12 * 3];
    float uvs[24 * 2];
} box;

static void make_box(box *b, double x, double y, double z)
{
    const double size[3] = {x, y, z};
    memset(b, 0, sizeof *b);
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, side = face % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int corner = 0; corner < 4; corner++) {
            double *p = b->positions + 3 * (4 * face + corner);
            p[axis] = side * size[axis];
            p[u] = (corner == 1 || corner == 2) * size[u];
            p[v] = (corner >= 2) * size[v];
            b->uvs[2 * (4 * face + corner)] = (float)corner;
        }
        static const int32_t front[6] = {0, 1, 2, 0, 2, 3}, back[6] = {0, 2, 1, 0, 3, 2};
        for (int k = 0; k < 6; k++)
            b->triangles[6 * face + k] = 4 * face + (side ? front[k] : back[k]);
    }
    b->mesh = (pl_mesh){.vertex_count = 24,
                        .positions = b->positions,
                        .triangle_count = 12,
                        .triangles = b->triangles};
    b->mesh.look.uv_set_count = 1;
    b->mesh.look.uvs[0] = b->uvs;
}

static pl_model *must_cook(const pl_cook_def *def, pl_cook_report *report)
{
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_cook(def, &model, report, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

static uint64_t cooked_hash(const pl_cook_def *def)
{
    pl_model *model = must_cook(def, NULL);
    uint64_t hash = pl_model_get_info(model).hash;
    pl_model_release(model);
    return hash;
}

/* ---- What comes out -------------------------------------------------------------------------- */

static void a_box_becomes_a_solid(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    def.scale = 0.5;
    pl_cook_report report;
    pl_model *model = must_cook(&def, &report);
    pl_model_info info = pl_model_get_info(model);
    assert_int_equal(report.kind, PL_COOK_SOLID);
    assert_int_equal(info.dimension, 3);
    assert_int_equal(report.mesh.welded, 16);
    assert_int_equal(report.pieces, 1);
    assert_true(abs(info.particle_count - 100) <= 10);
    assert_int_equal(info.particle_count, report.particles);
    assert_int_equal(info.vertex_count, 24);
    assert_int_equal(info.triangle_count, 12);
    assert_true(fabs(info.volume - 2 * 0.125) < 0.02);
    assert_memory_equal(pl_model_triangles(model), b.triangles, sizeof b.triangles);
    assert_memory_equal(pl_model_look(model)->uvs[0], b.uvs, sizeof b.uvs);
    for (int v = 0; v < 24; v++) {
        double p[3];
        assert_int_equal(pl_model_read(model, PL_REST_VERTICES, v, 1, pl_doubles(p, 0)), PL_OK);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(p[k] - 0.5 * b.positions[3 * v + k]) < 1e-6);
    }
    pl_model_release(model);
}

/* Vertices a little apart that were welded hang on the same particles with the same weights. */
static void welded_vertices_share_weights(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    pl_rng rng = pl_rng_make(4);
    for (int i = 0; i < 24 * 3; i++)
        b.positions[i] += 1e-4 * pl_random_double(&rng);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    def.weld = 1e-3;
    def.influence_count = 6;
    pl_cook_report report;
    pl_model *model = must_cook(&def, &report);
    assert_int_equal(report.mesh.points, 8);
    assert_int_equal(model->influence_count, 6);
    int shared = 0;
    for (int v = 0; v < 24; v++)
        for (int w = 0; w < v; w++) {
            double d = 0;
            for (int k = 0; k < 3; k++)
                d = fmax(d, fabs(b.positions[3 * v + k] - b.positions[3 * w + k]));
            if (d > 1e-3)
                continue;
            shared++;
            assert_memory_equal(model->influences + 6 * v, model->influences + 6 * w, 24);
            assert_memory_equal(model->weights + 6 * v, model->weights + 6 * w, 24);
        }
    assert_int_equal(shared, 24);
    pl_model_release(model);
}

static void kinds_are_chosen_and_forced(void **state)
{
    (void)state;
    static const struct {
        int triangles; /* of the box: without the last faces it is open */
        pl_cook_kind wanted, expected;
    } cases[] = {{12, PL_COOK_AUTO, PL_COOK_SOLID}, {10, PL_COOK_AUTO, PL_COOK_SHELL},
                 {2, PL_COOK_AUTO, PL_COOK_SHELL},  {12, PL_COOK_SHELL, PL_COOK_SHELL},
                 {12, PL_COOK_ROD, PL_COOK_ROD},    {10, PL_COOK_SOLID, PL_COOK_SOLID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        box b;
        make_box(&b, 5, 1, 1);
        b.mesh.triangle_count = cases[i].triangles;
        pl_cook_def def = pl_default_cook_def(&b.mesh);
        def.kind = cases[i].wanted;
        def.particle_count = 40;
        pl_cook_report report;
        pl_model *model = must_cook(&def, &report);
        assert_int_equal(report.kind, cases[i].expected);
        assert_int_equal(pl_model_get_info(model).dimension, report.kind == PL_COOK_SOLID   ? 3
                                                             : report.kind == PL_COOK_SHELL ? 2
                                                                                            : 1);
        assert_int_equal(model->vertex_count, 24);
        pl_model_release(model);
    }
}

static void lines_become_a_rod(void **state)
{
    (void)state;
    double positions[3 * 20];
    int32_t lines[2 * 19];
    for (int i = 0; i < 20; i++) {
        positions[3 * i] = 0.1 * i;
        positions[3 * i + 1] = 0.01 * i * i;
        positions[3 * i + 2] = 0;
        if (i < 19) {
            lines[2 * i] = i;
            lines[2 * i + 1] = i + 1;
        }
    }
    pl_mesh mesh = {.vertex_count = 20, .positions = positions, .line_count = 19, .lines = lines};
    pl_cook_def def = pl_default_cook_def(&mesh);
    def.particle_count = 30;
    pl_cook_report report;
    pl_model *model = must_cook(&def, &report);
    assert_int_equal(report.kind, PL_COOK_ROD);
    assert_int_equal(report.pieces, 1);
    assert_true(abs(report.particles - 30) <= 3);
    pl_model_release(model);
    pl_error error;
    def.kind = PL_COOK_SOLID;
    assert_int_equal(pl_cook(&def, &model, NULL, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "kind");
}

/* A rod of so many particles that each overlaps thousands of others would need gigabytes for the
   pairs that never touch. A straight line, 1 m long and 0.04 m thick. */
static void rods_of_too_many_particles_are_refused(void **state)
{
    (void)state;
    double positions[6] = {0, 0, 0, 1, 0, 0};
    int32_t lines[2] = {0, 1};
    pl_mesh mesh = {.vertex_count = 2, .positions = positions, .line_count = 1, .lines = lines};
    pl_cook_def def = pl_default_cook_def(&mesh);
    def.thickness = 0.04;
    def.particle_count = 50000;
    def.memory_limit = 1 << 30;
    pl_model *model = NULL;
    pl_error error = {0};
    assert_int_equal(pl_cook(&def, &model, NULL, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "radii");
    assert_non_null(strstr(error.text, "each of the 50000 particles overlaps some 4"));
    assert_non_null(strstr(error.text, "at most 1000: take fewer particles, or make them thinner"));
    if (!check_is_slow_build()) {
        def.particle_count = 1000001;
        assert_int_equal(pl_cook(&def, &model, NULL, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, "at most 100:"));
    }
    def.particle_count = 20000;
    def.thickness = 0.01;
    def.memory_limit = 1 << 28;
    model = must_cook(&def, NULL);
    assert_int_equal(pl_model_get_info(model).particle_count, 20000);
    pl_model_release(model);
}

static void tetrahedra_come_along(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    def.particle_count = 20;
    def.tet_count = 500;
    pl_cook_report report;
    pl_model *model = must_cook(&def, &report);
    assert_true(report.tets > 250 && report.tets < 1000);
    assert_int_equal(pl_model_get_info(model).tet_count, report.tets);
    for (int v = 0; v < 24; v++) { /* the embedding gives the vertices back */
        const int32_t *tet = model->tets + 4 * model->vertex_tet[v];
        for (int k = 0; k < 3; k++) {
            double x = 0;
            for (int c = 0; c < 4; c++)
                x += (double)model->vertex_barycentric[4 * v + c] *
                     model->tet_points[3 * tet[c] + k];
            assert_true(fabs(x - model->vertices[3 * v + k]) < 1e-4);
        }
    }
    pl_model_release(model);
}

static void the_same_mesh_gives_the_same_model(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    uint64_t first = cooked_hash(&def);
    assert_true(cooked_hash(&def) == first);
    def.seed = 1;
    assert_true(cooked_hash(&def) != first);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

#define REFUSES(change, place)                                                                     \
    do {                                                                                           \
        box b;                                                                                     \
        make_box(&b, 2, 1, 1);                                                                     \
        pl_cook_def def = pl_default_cook_def(&b.mesh);                                            \
        pl_model *model = NULL;                                                                    \
        pl_error error = {0};                                                                      \
        change;                                                                                    \
        assert_int_equal(pl_cook(&def, &model, NULL, &error), PL_ERROR_ARGUMENT);                  \
        assert_null(model);                                                                        \
        assert_true(error.text[0] != 0);                                                           \
        if (place)                                                                                 \
            assert_string_equal(error.where, place);                                               \
    } while (0)

static void what_cannot_be_cooked_is_refused(void **state)
{
    (void)state;
    REFUSES(def.cookie = 0, "cookie");
    REFUSES(def.mesh = NULL, "mesh");
    REFUSES(def.kind = (pl_cook_kind)9, "kind");
    REFUSES(def.sampling = (pl_cook_sampling)9, "sampling");
    REFUSES(def.particle_count = -1, "particle_count");
    REFUSES(def.particle_count = 0, "spacing");
    REFUSES((def.particle_count = 0, def.spacing = NAN), "spacing");
    REFUSES(def.edge_count = -1, "edge_count");
    REFUSES(def.tet_count = -1, "tet_count");
    REFUSES(def.influence_count = 0, "influence_count");
    REFUSES(def.influence_count = 9, "influence_count");
    REFUSES(def.scale = 0, "scale");
    REFUSES(def.scale = NAN, "scale");
    REFUSES(def.thickness = -1, "thickness");
    REFUSES(def.weld = 2, "weld");
    REFUSES(b.positions[5] = NAN, "positions[1]");
    REFUSES(b.triangles[5] = 24, "triangles[1]");
    REFUSES(b.mesh.triangle_count = 0, "mesh");
    REFUSES((b.mesh.triangle_count = 2, def.kind = PL_COOK_SOLID), "kind");
    REFUSES((b.mesh.triangle_count = 2, def.tet_count = 50), "tet_count");
    REFUSES(memset(b.positions, 0, sizeof b.positions), NULL);
}

/* Vertices of nothing may be far away. */
static void stray_vertices_do_no_harm(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    b.mesh.triangle_count = 10;
    b.positions[3 * 23] = 1e12;
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    pl_model *model = must_cook(&def, NULL);
    assert_int_equal(model->vertex_count, 24);
    pl_model_release(model);
}

/* ---- Progress and memory --------------------------------------------------------------------- */

typedef struct watch {
    int calls, stop_at;
    double last;
} watch;

static bool look_at(void *user, double part, const char *stage)
{
    watch *w = user;
    assert_true(part >= w->last && part <= 1 && stage[0] != 0);
    w->last = part;
    return w->calls++ != w->stop_at;
}

static void progress_rises_and_may_stop(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    watch w = {.stop_at = -1};
    def.progress = look_at;
    def.progress_user = &w;
    pl_model *model = must_cook(&def, NULL);
    pl_model_release(model);
    int calls = w.calls;
    assert_true(calls >= 5);
    for (int stop = 0; stop<calls; stop += calls> 40 ? calls / 40 : 1) {
        failing_host host = {.fail_at = -1};
        pl_allocator allocator = failing_allocator(&host);
        w = (watch){.stop_at = stop};
        def.allocator = &allocator;
        model = NULL;
        assert_int_equal(pl_cook(&def, &model, NULL, NULL), PL_ERROR_STATE);
        assert_null(model);
        assert_int_equal(host.blocks, 0);
    }
}

/* Not every single one: cooking makes hundreds, and its parts have tests of their own. */
static void allocations_may_fail(void **state)
{
    (void)state;
    box b;
    make_box(&b, 2, 1, 1);
    b.positions[0] += 1e-7; /* so that weights are computed apart */
    failing_host host = {.fail_at = 0};
    pl_allocator allocator = failing_allocator(&host);
    pl_cook_def def = pl_default_cook_def(&b.mesh);
    def.particle_count = 12;
    def.allocator = &allocator;
    pl_status status = PL_ERROR_MEMORY;
    pl_model *model = NULL;
    for (; status == PL_ERROR_MEMORY; host.fail_at += 1 + host.fail_at / 16) {
        pl_error error = {0};
        host.calls = 0;
        status = pl_cook(&def, &model, NULL, &error);
        if (status == PL_OK)
            break;
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_int_equal(host.blocks, 0);
    }
    printf("%d allocations\n", host.fail_at);
    assert_int_equal(status, PL_OK);
    assert_true(host.fail_at > 60);
    pl_model_release(model);
    assert_int_equal(host.blocks, 0);
    def.allocator = NULL;
    def.memory_limit = 20000;
    assert_int_equal(pl_cook(&def, &model, NULL, NULL), PL_ERROR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_becomes_a_solid),
        cmocka_unit_test(welded_vertices_share_weights),
        cmocka_unit_test(kinds_are_chosen_and_forced),
        cmocka_unit_test(lines_become_a_rod),
        cmocka_unit_test(rods_of_too_many_particles_are_refused),
        cmocka_unit_test(tetrahedra_come_along),
        cmocka_unit_test(the_same_mesh_gives_the_same_model),
        cmocka_unit_test(what_cannot_be_cooked_is_refused),
        cmocka_unit_test(stray_vertices_do_no_harm),
        cmocka_unit_test(progress_rises_and_may_stop),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
