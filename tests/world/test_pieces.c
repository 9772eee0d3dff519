/* A model whose graph has several pieces: one body, whose pieces move independently. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/world_kit.h"

enum { SIDE = 3, BLOCK = SIDE * SIDE * SIDE, PARTICLES = 2 * BLOCK + 1, MAX_EDGES = 12 * BLOCK };

typedef struct pieces {
    pl_model_def def;
    double positions[3 * PARTICLES], radii[3 * PARTICLES];
    int32_t edges[2 * MAX_EDGES];
} pieces;

static void add_block(pieces *p, int first, double x)
{
    for (int i = 0; i < BLOCK; i++) {
        int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) {
            p->positions[3 * (first + i) + k] = 0.1 * at[k] + (k == 0 ? x : 0);
            p->radii[3 * (first + i) + k] = 0.05;
        }
        for (int j = 0; j < i; j++) {
            int dx = abs(j % SIDE - at[0]), dy = abs(j / SIDE % SIDE - at[1]),
                dz = abs(j / SIDE / SIDE - at[2]);
            if (dx + dy + dz == 1 || (dx + dy + dz == 2 && dx < 2 && dy < 2 && dz < 2)) {
                int32_t *edge = p->edges + 2 * p->def.edge_count++;
                edge[0] = first + j;
                edge[1] = first + i;
            }
        }
    }
}

/* Two blocks a metre apart, and a single particle between them. */
static pl_model *make_pieces(pieces *p)
{
    p->def = pl_default_model_def();
    add_block(p, 0, 0);
    add_block(p, BLOCK, 1);
    for (int k = 0; k < 3; k++) {
        p->positions[3 * 2 * BLOCK + k] = k == 0 ? 0.6 : 0.1;
        p->radii[3 * 2 * BLOCK + k] = 0.05;
    }
    p->def.particle_count = PARTICLES;
    p->def.positions = pl_doubles(p->positions, 0);
    p->def.radii = pl_doubles(p->radii, 0);
    p->def.edges = p->edges;
    p->def.several_pieces = true;
    pl_model *model = NULL;
    assert_int_equal(pl_model_create(&p->def, &model, NULL), PL_OK);
    assert_int_equal(pl_model_get_info(model).piece_count, 3);
    return model;
}

static void centre_of(const double *x, int first, int count, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int i = 0; i < count; i++)
            out[k] += x[3 * (first + i) + k] / count;
    }
}

/* How far the distances within a piece are from those at rest. */
static double strain_of(const pieces *p, const double *x)
{
    double worst = 0;
    for (int e = 0; e < p->def.edge_count; e++) {
        double now = 0, rest = 0;
        for (int k = 0; k < 3; k++) {
            int a = 3 * p->edges[2 * e] + k, b = 3 * p->edges[2 * e + 1] + k;
            now += (x[b] - x[a]) * (x[b] - x[a]);
            rest += (p->positions[b] - p->positions[a]) * (p->positions[b] - p->positions[a]);
        }
        worst = fmax(worst, fabs(sqrt(now / rest) - 1));
    }
    return worst;
}

/* Opposite velocities, and opposite spins of the two blocks. */
static void throw_apart(pl_world *world, pl_body body, const double *positions)
{
    double velocities[3 * PARTICLES] = {0}, spins[3 * PARTICLES] = {0}, centre[3];
    for (int block = 0; block < 2; block++) {
        double sign = block ? -1 : 1;
        centre_of(positions, block * BLOCK, BLOCK, centre);
        for (int i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
            double dx = positions[3 * i] - centre[0], dy = positions[3 * i + 1] - centre[1];
            velocities[3 * i] = sign * -2 * dy;
            velocities[3 * i + 1] = sign * (2 * dx + 0.5);
            spins[3 * i + 2] = sign * 2;
        }
    }
    assert_int_equal(
        pl_body_write(world, body, PL_VELOCITIES, 0, PARTICLES, pl_doubles(velocities, 0)), PL_OK);
    assert_int_equal(pl_body_write(world, body, PL_SPINS, 0, PARTICLES, pl_doubles(spins, 0)),
                     PL_OK);
}

static void pieces_fly_apart_and_keep_momentum(void **state)
{
    (void)state;
    for (int solver = PL_SOLVER_FAST; solver <= PL_SOLVER_PLAIN; solver++) {
        pieces p = {0};
        pl_model *model = make_pieces(&p);
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        double x[3 * PARTICLES], first[3], second[3], third[3];
        pl_body_state before, after;
        assert_int_equal(pl_body_set_solver(world, body, (pl_solver)solver), PL_OK);
        throw_apart(world, body, p.positions);
        assert_int_equal(pl_body_get_state(world, body, &before), PL_OK);
        world_step(world, 120);
        assert_true(world_is_finite(world, body));
        assert_int_equal(pl_body_get_state(world, body, &after), PL_OK);
        double scale = before.mass * 1.0;
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(after.momentum[k] - before.momentum[k]) < 1e-5 * scale);
            assert_true(fabs(after.angular_momentum[k] - before.angular_momentum[k]) <
                        0.02 * scale);
        }
        world_read(world, body, PL_POSITIONS, x);
        centre_of(x, 0, BLOCK, first);
        centre_of(x, BLOCK, BLOCK, second);
        centre_of(x, 2 * BLOCK, 1, third);
        assert_true(fabs(first[1] - 1.1) < 0.02 && fabs(second[1] + 0.9) < 0.02);
        assert_true(fabs(first[0] - 0.1) < 0.02 && fabs(second[0] - 1.1) < 0.02);
        assert_true(fabs(third[0] - 0.6) < 1e-3 && fabs(third[1] - 0.1) < 1e-3);
        assert_true(strain_of(&p, x) < 0.1);
        pl_world_destroy(world);
        pl_model_release(model);
    }
}

static void pieces_fall_alike(void **state)
{
    (void)state;
    pieces p = {0};
    pl_model *model = make_pieces(&p);
    pl_world *world = world_empty();
    const double gravity[3] = {0, -9.81, 0};
    assert_int_equal(pl_world_set_gravity(world, gravity), PL_OK);
    pl_body body = world_body(world, model);
    double x[3 * PARTICLES];
    world_step(world, 60);
    world_read(world, body, PL_POSITIONS, x);
    double fallen = x[1] - p.positions[1];
    assert_true(fallen < -4.9 && fallen > -5.1);
    for (int i = 0; i < PARTICLES; i++) {
        assert_true(fabs(x[3 * i + 1] - p.positions[3 * i + 1] - fallen) < 1e-5);
        assert_true(fabs(x[3 * i] - p.positions[3 * i]) < 1e-5);
    }
    pl_world_destroy(world);
    pl_model_release(model);
}

/* Held at one particle, the first block hangs; the others fall out of reach, and nothing breaks. */
static void a_held_piece_lets_the_others_go(void **state)
{
    (void)state;
    pieces p = {0};
    pl_model *model = make_pieces(&p);
    pl_world *world = world_empty();
    const double gravity[3] = {0, -9.81, 0};
    assert_int_equal(pl_world_set_gravity(world, gravity), PL_OK);
    pl_body body = world_body(world, model);
    const int32_t held = 0;
    assert_int_equal(pl_body_set_fixed(world, body, &held, 1, NULL), PL_OK);
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    pl_pin pin;
    assert_int_equal(pl_pin_at_particle(world, body, BLOCK - 1, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, NULL), PL_OK);
    double x[3 * PARTICLES];
    world_step(world, 300);
    assert_true(world_is_finite(world, body));
    world_read(world, body, PL_POSITIONS, x);
    assert_true(fabs(x[0] - p.positions[0]) < 1e-5 && fabs(x[1] - p.positions[1]) < 1e-5);
    double centre[3];
    centre_of(x, BLOCK, BLOCK, centre);
    assert_true(fabs(centre[1] - (0.1 - 9.81 / 2 * 25)) < 1.5);
    assert_true(strain_of(&p, x) < 0.6);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void pieces_are_refused_where_they_are_not_asked_for(void **state)
{
    (void)state;
    pieces p = {0};
    pl_model *model = make_pieces(&p);
    pl_model_release(model);
    model = NULL;
    p.def.several_pieces = false;
    pl_error error;
    assert_int_equal(pl_model_create(&p.def, &model, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "edges");
    assert_non_null(strstr(error.text, "27 of 55"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_fly_apart_and_keep_momentum),
        cmocka_unit_test(pieces_fall_alike),
        cmocka_unit_test(a_held_piece_lets_the_others_go),
        cmocka_unit_test(pieces_are_refused_where_they_are_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
