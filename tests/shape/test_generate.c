/* Ready-made shapes.
   Label: slow. */
#include "pliant/pliant.h"

#include <math.h>

#include "model_cases.h"
#include "shape/turn.h"
#include "support/check.h"

enum { KINDS = PL_SHAPE_BLOCK + 1 };

static pl_shape *must_create(const pl_shape_def *def)
{
    pl_shape *shape = NULL;
    pl_error error = {0};
    if (pl_shape_create(def, &shape, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return shape;
}

static pl_model_info model_info(const pl_shape *shape)
{
    pl_model_def def = pl_shape_model_def(shape);
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_model_create(&def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_info info = pl_model_get_info(model);
    pl_model_release(model);
    return info;
}

static pl_model_info default_info(pl_shape_kind kind)
{
    pl_shape_def def = pl_default_shape_def(kind);
    pl_shape *shape = must_create(&def);
    pl_model_info info = model_info(shape);
    pl_shape_destroy(shape);
    return info;
}

static void turns_are_sines_and_cosines(void **state)
{
    (void)state;
    double c, s;
    for (int k = -5000; k <= 5000; k++) {
        double turns = k / 1111.0;
        pl_turn(turns, &c, &s);
        assert_true(fabs(c - cos(2 * acos(-1) * turns)) < 1e-14);
        assert_true(fabs(s - sin(2 * acos(-1) * turns)) < 1e-14);
    }
    pl_turn(0.25, &c, &s);
    assert_true(c == 0 && s == 1);
    pl_turn(-0.5, &c, &s);
    assert_true(c == -1 && s == 0);
}

static void default_shapes_have_the_papers_counts(void **state)
{
    (void)state;
    pl_model_info bar = default_info(PL_SHAPE_BAR);
    assert_int_equal(bar.particle_count, 20);
    assert_int_equal(bar.edge_count, 19);
    assert_int_equal(bar.vertex_count, 674);
    assert_int_equal(bar.triangle_count, 2 * 672);
    assert_int_equal(bar.dimension, 1);
    assert_true(fabs(bar.volume - 2 * 0.2 * 0.2) < 1e-15);
    pl_model_info sheet = default_info(PL_SHAPE_SHEET);
    assert_int_equal(sheet.particle_count, 256);
    assert_int_equal(sheet.edge_count, 480);
    assert_int_equal(sheet.dimension, 2);
    pl_model_info creature = default_info(PL_SHAPE_CREATURE);
    assert_int_equal(creature.particle_count, 100);
    assert_int_equal(creature.edge_count, 261);
    assert_int_equal(creature.dimension, 3);
    pl_model_info chain = default_info(PL_SHAPE_CHAIN);
    assert_int_equal(chain.particle_count, 50);
    assert_int_equal(chain.edge_count, 49);
    pl_model_info box = default_info(PL_SHAPE_BOX);
    assert_int_equal(box.particle_count, 80);
    assert_int_equal(box.dimension, 3);
    assert_int_equal(default_info(PL_SHAPE_KNOT).particle_count, 96);
    assert_int_equal(default_info(PL_SHAPE_KNOT).edge_count, 96);
    assert_int_equal(default_info(PL_SHAPE_COIL).particle_count, 80);
    assert_int_equal(default_info(PL_SHAPE_COIL).edge_count, 79);
    pl_model_info block = default_info(PL_SHAPE_BLOCK);
    assert_int_equal(block.particle_count, 20 * 6 * 6);
    assert_int_equal(block.tet_count, 5 * 19 * 5 * 5);
}

static void bracing_adds_diagonals(void **state)
{
    (void)state;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_SHEET);
    assert_false(def.braced);
    def.braced = true;
    pl_shape *shape = must_create(&def);
    assert_int_equal(model_info(shape).edge_count, 480 + 2 * 15 * 15);
    pl_shape_destroy(shape);
    def = pl_default_shape_def(PL_SHAPE_BOX);
    assert_true(def.braced);
    def.braced = false;
    shape = must_create(&def);
    assert_int_equal(model_info(shape).edge_count, 4 * 16 + 2 * 5 * 3 * 4);
    pl_shape_destroy(shape);
}

static void shapes_fill_their_outer_measures(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int given = 0; given < 2; given++) {
            pl_shape_def def = pl_default_shape_def((pl_shape_kind)kind);
            const double size[3] = {3, 1.5, 1};
            if (given)
                memcpy(def.size, size, sizeof size);
            pl_shape *shape = must_create(&def);
            pl_model_def model = pl_shape_model_def(shape);
            const double *v = model.vertices.data;
            for (int k = 0; k < 3 && given; k++) {
                double lower = INFINITY, upper = -INFINITY;
                for (int i = 0; i < model.vertex_count; i++) {
                    lower = fmin(lower, v[3 * i + k]);
                    upper = fmax(upper, v[3 * i + k]);
                }
                assert_true(upper - lower < size[k] * 1.001 && upper - lower > size[k] * 0.95);
            }
            pl_shape_destroy(shape);
        }
    }
}

/* Every edge of a closed surface is passed once in each direction; outward: positive volume. */
static void skins_are_closed_and_face_outwards(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        pl_shape_def shape_def = pl_default_shape_def((pl_shape_kind)kind);
        if (kind != PL_SHAPE_SHEET && kind != PL_SHAPE_BOX)
            shape_def.count[0] = kind == PL_SHAPE_CREATURE ? 100 : 24;
        pl_shape *shape = must_create(&shape_def);
        pl_model_def def = pl_shape_model_def(shape);
        size_t n = (size_t)def.vertex_count;
        signed char *passed = calloc(n * n, 1);
        const double *v = def.vertices.data;
        double volume = 0;
        for (int t = 0; t < def.triangle_count; t++) {
            const int32_t *q = def.triangles + 3 * t;
            const double *a = v + 3 * q[0], *b = v + 3 * q[1], *c = v + 3 * q[2];
            for (int k = 0; k < 3; k++)
                assert_int_equal(++passed[(size_t)q[k] * n + (size_t)q[(k + 1) % 3]], 1);
            volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0])) /
                      6;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                assert_int_equal(passed[i * n + j], passed[j * n + i]);
        /* Parts of the creature overlap, twelve-sided tubes are slimmer than round ones. */
        assert_true(volume > 0.8 * def.volume && volume < 1.2 * def.volume);
        free(passed);
        pl_shape_destroy(shape);
    }
}

static void rotate(const double q[4], int axis, double out[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int k = 0; k < 3; k++)
        out[k] = m[k][axis];
}

static void rods_are_even_and_their_frames_follow_the_curve(void **state)
{
    (void)state;
    const pl_shape_kind rods[] = {PL_SHAPE_CHAIN, PL_SHAPE_KNOT, PL_SHAPE_COIL};
    for (int r = 0; r < 3; r++) {
        pl_shape_def shape_def = pl_default_shape_def(rods[r]);
        shape_def.count[0] = 200;
        pl_shape *shape = must_create(&shape_def);
        pl_model_def def = pl_shape_model_def(shape);
        const double *p = def.positions.data, *q = def.orientations.data, *radii = def.radii.data;
        for (int i = 1; i + 1 < def.particle_count; i++) {
            double chord[3], length = 0, axis[3], along = 0, before[3], side[3], turn = 0;
            for (int k = 0; k < 3; k++) {
                chord[k] = p[3 * i + 3 + k] - p[3 * i - 3 + k];
                length += chord[k] * chord[k];
            }
            length = sqrt(length);
            assert_true(fabs(length - 4 * radii[3 * i]) < 0.02 * length);
            rotate(q + 4 * i, 0, axis);
            rotate(q + 4 * i, 1, side);
            rotate(q + 4 * i - 4, 1, before);
            for (int k = 0; k < 3; k++) {
                along += axis[k] * chord[k] / length;
                turn += side[k] * before[k];
            }
            assert_true(along > 0.995);
            assert_true(turn > 0.95);
        }
        pl_shape_destroy(shape);
    }
}

static void other_counts_are_possible(void **state)
{
    (void)state;
    const int counts[] = {1, 2, 3, 5, 12, 13, 37, 250, 1003};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            pl_shape_def def = pl_default_shape_def((pl_shape_kind)kind);
            def.count[0] = counts[k];
            if (counts[k] < 12 && kind >= PL_SHAPE_CREATURE)
                continue;
            pl_shape *shape = must_create(&def);
            int particles = model_info(shape).particle_count;
            if (kind == PL_SHAPE_CREATURE)
                assert_true(abs(particles - counts[k]) <= 1 + counts[k] / 3);
            else
                assert_int_equal(particles % counts[k], 0);
            pl_shape_destroy(shape);
        }
    }
}

static void a_sheet_takes_its_second_count_in_either_place(void **state)
{
    (void)state;
    const int counts[2][3] = {{8, 6, 0}, {8, 1, 6}};
    for (int k = 0; k < 2; k++) {
        pl_shape_def def = pl_default_shape_def(PL_SHAPE_SHEET);
        memcpy(def.count, counts[k], sizeof def.count);
        pl_shape *shape = must_create(&def);
        pl_model_info info = model_info(shape);
        assert_int_equal(info.particle_count, 48);
        assert_true(info.upper[1] == info.lower[1]);
        pl_shape_destroy(shape);
    }
}

static void refuses(const pl_shape_def *def, const char *where)
{
    pl_shape *shape = NULL;
    pl_error error = {0};
    assert_int_equal(pl_shape_create(def, &shape, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, where);
    assert_true(error.text[0] != 0);
    assert_null(shape);
}

#define REFUSES(kind, change, where)                                                               \
    do {                                                                                           \
        pl_shape_def def = pl_default_shape_def(kind);                                             \
        change;                                                                                    \
        refuses(&def, where);                                                                      \
    } while (0)

static void bad_definitions_are_refused(void **state)
{
    (void)state;
    refuses(NULL, "def");
    REFUSES(PL_SHAPE_BAR, def.cookie = 0, "cookie");
    REFUSES(PL_SHAPE_BAR, def.kind = (pl_shape_kind)99, "kind");
    REFUSES(PL_SHAPE_BAR, def.kind = (pl_shape_kind)-1, "kind");
    REFUSES(PL_SHAPE_BAR, def.count[0] = -1, "count");
    REFUSES(PL_SHAPE_BAR, def.count[1] = 4, "count");
    REFUSES(PL_SHAPE_CHAIN, def.count[0] = 10000001, "count");
    REFUSES(PL_SHAPE_BOX, def.count[0] = def.count[1] = def.count[2] = INT32_MAX, "count");
    REFUSES(PL_SHAPE_BOX, def.count[0] = def.count[1] = 4000, "count");
    REFUSES(PL_SHAPE_SHEET, def.count[1] = def.count[2] = 4, "count");
    REFUSES(PL_SHAPE_KNOT, def.count[0] = 3, "count");
    REFUSES(PL_SHAPE_CREATURE, def.count[0] = 3, "count");
    REFUSES(PL_SHAPE_CREATURE, def.count[0] = 1000000, "count");
    REFUSES(PL_SHAPE_BAR, def.size[1] = -1, "size");
    REFUSES(PL_SHAPE_BAR, def.size[2] = NAN, "size");
    REFUSES(PL_SHAPE_COIL, def.size[0] = INFINITY, "size");
    REFUSES(PL_SHAPE_COIL, def.size[0] = 1e-300, "size");
    REFUSES(PL_SHAPE_BAR, def.allocator = &(pl_allocator){0}, "allocator");
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BAR);
    assert_int_equal(pl_shape_create(&def, NULL, NULL), PL_ERROR_ARGUMENT);
}

static void kinds_have_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        pl_shape_kind found = (pl_shape_kind)-1;
        assert_true(pl_find_shape_kind(pl_shape_kind_name((pl_shape_kind)kind), &found));
        assert_int_equal(found, kind);
    }
    pl_shape_kind kind = PL_SHAPE_BOX;
    assert_null(pl_shape_kind_name((pl_shape_kind)KINDS));
    assert_null(pl_shape_kind_name((pl_shape_kind)-1));
    assert_false(pl_find_shape_kind("boxes", &kind));
    assert_false(pl_find_shape_kind("", &kind));
    assert_false(pl_find_shape_kind(NULL, &kind));
    assert_int_equal(kind, PL_SHAPE_BOX);
    assert_true(pl_find_shape_kind("creature", &kind) && kind == PL_SHAPE_CREATURE);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        failing_host host = {.fail_at = 0};
        pl_allocator allocator = failing_allocator(&host);
        pl_shape_def def = pl_default_shape_def((pl_shape_kind)kind);
        def.allocator = &allocator;
        pl_shape *shape = NULL;
        for (;; host.fail_at++) {
            pl_error error = {0};
            host.calls = 0;
            if (pl_shape_create(&def, &shape, &error) == PL_OK)
                break;
            assert_int_equal(error.status, PL_ERROR_MEMORY);
            assert_null(shape);
            assert_int_equal(host.blocks, 0);
            assert_true(host.fail_at < 1000);
        }
        pl_shape_destroy(shape);
        assert_int_equal(host.blocks, 0);
        assert_int_equal(host.bytes, 0);
    }
    pl_shape_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_sines_and_cosines),
        cmocka_unit_test(default_shapes_have_the_papers_counts),
        cmocka_unit_test(bracing_adds_diagonals),
        cmocka_unit_test(shapes_fill_their_outer_measures),
        cmocka_unit_test(skins_are_closed_and_face_outwards),
        cmocka_unit_test(rods_are_even_and_their_frames_follow_the_curve),
        cmocka_unit_test(other_counts_are_possible),
        cmocka_unit_test(a_sheet_takes_its_second_count_in_either_place),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("shape/generate", tests, NULL, NULL);
}
