/* Reading and writing through the caller's buffers: any stride and type, interpolation between the
   last two states, the skin. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/quat.h"
#include "support/world_kit.h"

/* A moving, turning, deformed body; the step before is known. */
typedef struct scene {
    pl_world *world;
    pl_model *model;
    pl_body body;
    pl_model_info info;
    double *before, *before_q; /* positions and rotations a step earlier */
} scene;

static void scene_create(scene *s)
{
    s->model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    s->info = pl_model_get_info(s->model);
    s->world = world_empty();
    s->body = world_body_at(s->world, s->model, 1, 2, 3);
    const double velocity[3] = {1, 0, -2}, spin[3] = {5, 30, 1}, kick[3] = {5, 5, 0};
    assert_int_equal(pl_body_set_velocity(s->world, s->body, velocity, spin), PL_OK);
    assert_int_equal(pl_body_apply_impulse(s->world, s->body, 7, kick), PL_OK);
    world_step(s->world, 4);
    size_t n = (size_t)s->info.particle_count;
    s->before = malloc(sizeof(double) * 3 * n);
    s->before_q = malloc(sizeof(double) * 4 * n);
    world_read(s->world, s->body, PL_POSITIONS, s->before);
    world_read(s->world, s->body, PL_ROTATIONS, s->before_q);
    world_step(s->world, 1);
}

static void scene_destroy(scene *s)
{
    free(s->before);
    free(s->before_q);
    pl_world_destroy(s->world);
    pl_model_release(s->model);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static const int scalars_of[] = {3, 4, 3, 3, 1, 3};

/* Every field, type and stride gives the packed numbers, and nothing is written beside them. */
static void check_reading(const scene *s, pl_body_field field, pl_scalar type, size_t gap)
{
    int n = field == PL_VERTICES ? s->info.vertex_count : s->info.particle_count;
    int scalars = scalars_of[field], first = 3, count = n - 5;
    size_t size = type == PL_F64 ? 8 : 4, stride = gap ? (size_t)scalars * size + gap : 0;
    size_t pitch = stride ? stride : (size_t)scalars * size;
    double *packed = malloc(sizeof(double) * 4 * (size_t)n);
    unsigned char *bytes = malloc(pitch * (size_t)count + 1);
    memset(bytes, 0xAB, pitch * (size_t)count + 1);
    world_read(s->world, s->body, field, packed);
    pl_buffer buffer = {bytes + 1, stride, type}; /* not aligned */
    assert_int_equal(pl_body_read(s->world, s->body, field, first, count, 1, buffer), PL_OK);
    assert_int_equal(bytes[0], 0xAB);
    for (int i = 0; i < count; i++)
        for (size_t b = 0; b < pitch - (i + 1 == count ? gap : 0); b++) {
            const unsigned char *at = bytes + 1 + (size_t)i * pitch;
            if (b >= (size_t)scalars * size) {
                assert_int_equal(at[b], 0xAB);
                continue;
            }
            double want = packed[(first + i) * scalars + (int)(b / size)], wide;
            float narrow, rounded = (float)want;
            memcpy(&narrow, at + b / size * size, sizeof narrow);
            memcpy(&wide, at + b / size * size, type == PL_F64 ? sizeof wide : 0);
            if (type == PL_F64)
                assert_memory_equal(&wide, &want, sizeof want);
            else
                assert_memory_equal(&narrow, &rounded, sizeof narrow);
        }
    free(packed);
    free(bytes);
}

static void buffers_of_any_stride_are_filled(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    static const size_t gaps[] = {0, 1, 3, 4, 12, 61};
    for (int field = PL_POSITIONS; field <= PL_VERTICES; field++)
        for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
            check_reading(&s, (pl_body_field)field, PL_F32, gaps[i]);
            check_reading(&s, (pl_body_field)field, PL_F64, gaps[i]);
        }
    scene_destroy(&s);
}

/* Something of a size that the field can hold. */
static double sample(pl_body_field field, int i)
{
    return field == PL_ROTATIONS ? sin(1 + i) : 3 * sin(0.7 * i);
}

static void check_writing(const scene *s, pl_body_field field, pl_scalar type, size_t gap)
{
    int scalars = scalars_of[field], first = 2, count = s->info.particle_count - 7;
    size_t size = type == PL_F64 ? 8 : 4, pitch = (size_t)scalars * size + gap;
    double *before = malloc(sizeof(double) * 4 * (size_t)s->info.particle_count);
    double *after = malloc(sizeof(double) * 4 * (size_t)s->info.particle_count);
    unsigned char *bytes = malloc(pitch * (size_t)count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < scalars; k++) {
            double wide = sample(field, scalars * i + k);
            float narrow = (float)wide;
            memcpy(bytes + (size_t)i * pitch + (size_t)k * size,
                   type == PL_F64 ? (void *)&wide : &narrow, size);
        }
    world_read(s->world, s->body, field, before);
    pl_buffer buffer = {bytes, pitch, type};
    assert_int_equal(pl_body_write(s->world, s->body, field, first, count, buffer), PL_OK);
    world_read(s->world, s->body, field, after);
    for (int i = 0; i < s->info.particle_count; i++) {
        bool written = i >= first && i < first + count;
        double length = 0;
        for (int k = 0; k < scalars && field == PL_ROTATIONS; k++)
            length +=
                sample(field, scalars * (i - first) + k) * sample(field, scalars * (i - first) + k);
        for (int k = 0; k < scalars; k++) {
            double want =
                written ? sample(field, scalars * (i - first) + k) : before[scalars * i + k];
            if (written && field == PL_ROTATIONS)
                want /= sqrt(length);
            assert_true(fabs(after[scalars * i + k] - want) < 5e-6);
        }
    }
    free(before);
    free(after);
    free(bytes);
}

static void buffers_of_any_stride_are_taken(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    static const size_t gaps[] = {0, 1, 7, 20};
    for (int field = PL_POSITIONS; field <= PL_SPINS; field++)
        for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
            check_writing(&s, (pl_body_field)field, PL_F32, gaps[i]);
            check_writing(&s, (pl_body_field)field, PL_F64, gaps[i]);
        }
    scene_destroy(&s);
}

/* Points on one another, mirrored, on a line: it simulates, and stays finite. */
static void any_arrangement_can_be_written(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_PLAIN; solver++)
        for (int kind = 0; kind < 4; kind++) {
            pl_world *world = world_empty();
            pl_body body = world_body(world, model);
            assert_int_equal(pl_body_set_solver(world, body, (pl_solver)solver), PL_OK);
            double x[81];
            world_read(world, body, PL_POSITIONS, x);
            for (int i = 0; i < 27; i++) {
                if (kind == 0)
                    x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = 0.25;
                else if (kind == 1)
                    x[3 * i] = -x[3 * i];
                else if (kind == 2)
                    x[3 * i + 1] = x[3 * i + 2] = 0;
                else
                    x[3 * i + 2] = 1e-30 * i;
            }
            assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, 27, pl_doubles(x, 0)),
                             PL_OK);
            for (int i = 0; i < 30; i++) {
                world_step(world, 1);
                assert_true(world_is_finite(world, body));
            }
            pl_world_destroy(world);
        }
    pl_model_release(model);
}

/* ---- Interpolation --------------------------------------------------------------------------- */

static void states_are_interpolated(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    int n = s.info.particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n), *q = malloc(sizeof(double) * 4 * (size_t)n);
    double *xt = malloc(sizeof(double) * 3 * (size_t)n),
           *qt = malloc(sizeof(double) * 4 * (size_t)n);
    world_read(s.world, s.body, PL_POSITIONS, x);
    world_read(s.world, s.body, PL_ROTATIONS, q);
    static const double fractions[] = {0, 0.25, 0.5, 0.999, 1};
    for (int f = 0; f < 5; f++) {
        double t = fractions[f];
        assert_int_equal(pl_body_read(s.world, s.body, PL_POSITIONS, 0, n, t, pl_doubles(xt, 0)),
                         PL_OK);
        assert_int_equal(pl_body_read(s.world, s.body, PL_ROTATIONS, 0, n, t, pl_doubles(qt, 0)),
                         PL_OK);
        for (int i = 0; i < 3 * n; i++)
            assert_true(fabs(xt[i] - (s.before[i] * (1 - t) + x[i] * t)) < 1e-12);
        for (int i = 0; i < n; i++) {
            const double *a = s.before_q + 4 * i, *b = q + 4 * i, *c = qt + 4 * i;
            double side = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            double length = 0, dot_a = 0, dot_b = 0;
            for (int k = 0; k < 4; k++) {
                length += c[k] * c[k];
                dot_a += a[k] * c[k];
                dot_b += b[k] * c[k];
            }
            assert_true(fabs(length - 1) < 1e-6);
            assert_true(side < 0.9999); /* there is something to interpolate */
            assert_true(fabs(dot_a) >= fabs(side) - 1e-6 && fabs(dot_b) >= fabs(side) - 1e-6);
            if (t == 0.5)
                assert_true(fabs(fabs(dot_a) - fabs(dot_b)) < 1e-6);
        }
    }
    free(x), free(q), free(xt), free(qt);
    scene_destroy(&s);
}

/* Changing velocities does not disturb what is shown; moving the body does. */
static void pushing_does_not_break_the_interpolation(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    double before[3], after[3], v[3] = {0.5, 0, 0};
    pl_buffer out = pl_doubles(before, 0);
    assert_int_equal(pl_body_read(s.world, s.body, PL_POSITIONS, 9, 1, 0.5, out), PL_OK);
    assert_int_equal(pl_body_write(s.world, s.body, PL_VELOCITIES, 4, 1, pl_doubles(v, 0)), PL_OK);
    assert_int_equal(pl_body_write(s.world, s.body, PL_SPINS, 4, 1, pl_doubles(v, 0)), PL_OK);
    assert_int_equal(pl_body_apply_impulse(s.world, s.body, -1, v), PL_OK);
    assert_int_equal(pl_body_set_velocity(s.world, s.body, v, v), PL_OK);
    pl_material soft = pl_default_material();
    soft.young = 1e4;
    assert_int_equal(pl_body_set_material(s.world, s.body, &soft, NULL, NULL, NULL), PL_OK);
    out.data = after;
    assert_int_equal(pl_body_read(s.world, s.body, PL_POSITIONS, 9, 1, 0.5, out), PL_OK);
    assert_memory_equal(before, after, sizeof before);
    scene_destroy(&s);
}

/* ---- Skin ------------------------------------------------------------------------------------ */

/* A body that is only turned and moved carries its skin rigidly. */
static void skins_follow_their_particles(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    int count = pl_model_get_info(model).vertex_count;
    assert_true(count > 100);
    double *rest = malloc(sizeof(double) * 3 * (size_t)count);
    double *now = malloc(sizeof(double) * 3 * (size_t)count);
    pl_world *world = world_empty();
    pl_body_def def = pl_default_body_def(model);
    def.position[0] = 30, def.position[1] = -4, def.position[2] = 2;
    def.rotation[0] = 1, def.rotation[1] = -2, def.rotation[2] = 0.5, def.rotation[3] = 2;
    pl_body body;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    assert_int_equal(pl_model_read(model, PL_REST_VERTICES, 0, count, pl_doubles(rest, 0)), PL_OK);
    world_read(world, body, PL_VERTICES, now);
    const double *r = def.rotation;
    pl_quat turn = pl_quat_normalise((pl_quat){r[0], r[1], r[2], r[3]});
    for (int v = 0; v < count; v++) {
        pl_vec3 at = pl_quat_rotate(turn, (pl_vec3){rest[3 * v], rest[3 * v + 1], rest[3 * v + 2]});
        assert_true(fabs(now[3 * v] - at.x - 30) < 2e-6);
        assert_true(fabs(now[3 * v + 1] - at.y + 4) < 2e-6);
        assert_true(fabs(now[3 * v + 2] - at.z - 2) < 2e-6);
    }
    free(rest), free(now);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A pin at a vertex starts where the vertex is shown. */
static void pins_at_vertices_start_where_they_are_shown(void **state)
{
    (void)state;
    scene s;
    scene_create(&s);
    for (int v = 0; v < s.info.vertex_count; v += 37) {
        double shown[3];
        pl_pin_def def = pl_default_pin_def(PL_PIN_POSITION);
        assert_int_equal(pl_body_read(s.world, s.body, PL_VERTICES, v, 1, 1, pl_doubles(shown, 0)),
                         PL_OK);
        assert_int_equal(pl_pin_at_vertex(s.world, s.body, v, &def), PL_OK);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(def.target[k] - shown[k]) < 1e-6);
    }
    scene_destroy(&s);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_of_any_stride_are_filled),
        cmocka_unit_test(buffers_of_any_stride_are_taken),
        cmocka_unit_test(any_arrangement_can_be_written),
        cmocka_unit_test(states_are_interpolated),
        cmocka_unit_test(pushing_does_not_break_the_interpolation),
        cmocka_unit_test(skins_follow_their_particles),
        cmocka_unit_test(pins_at_vertices_start_where_they_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
