/* Bodies of many shapes and materials for the tests of contact, drawn at random. */
#ifndef PLIANT_TESTS_CONTACT_CASES_H
#define PLIANT_TESTS_CONTACT_CASES_H

#include "support/check.h"

#include <math.h>
#include <string.h>

#include "pliant/cook.h"
#include "support/collider_kit.h"

/* From one particle to an animal; all about half a metre to a metre and a half. */
enum { CONTACT_MODELS = 9, CONTACT_MOST_PARTICLES = 200 };

typedef struct contact_models {
    pl_model *model[CONTACT_MODELS];
    double reach[CONTACT_MODELS]; /* from the origin to the farthest point of any particle */
} contact_models;

static inline pl_model *contact_cook(const char *name, int particles, double scale)
{
    pl_mesh mesh;
    pl_model *model;
    assert_int_equal(pl_builtin_mesh(name, 0.3, NULL, &mesh, NULL), PL_OK);
    pl_cook_def def = pl_default_cook_def(&mesh);
    def.particle_count = particles;
    def.scale = scale;
    assert_int_equal(pl_cook(&def, &model, NULL, NULL), PL_OK);
    pl_mesh_free(&mesh);
    return model;
}

static inline double contact_reach(const pl_model *model)
{
    double x[3 * CONTACT_MOST_PARTICLES], r[3 * CONTACT_MOST_PARTICLES], reach = 0;
    int n = pl_model_get_info(model).particle_count;
    assert_true(n <= CONTACT_MOST_PARTICLES);
    pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(x, 0));
    pl_model_read(model, PL_REST_RADII, 0, n, pl_doubles(r, 0));
    for (int i = 0; i < n; i++)
        reach = fmax(reach, hypot(hypot(x[3 * i], x[3 * i + 1]), x[3 * i + 2]) +
                                fmax(r[3 * i], fmax(r[3 * i + 1], r[3 * i + 2])));
    return reach;
}

static inline contact_models contact_make_models(void)
{
    contact_models m = {{collider_lattice(1, 1, 1, 0.5), collider_lattice(2, 2, 2, 0.25),
                         collider_lattice(4, 3, 3, 0.25), collider_lattice(5, 4, 4, 0.25),
                         world_model(PL_SHAPE_BAR, 8, 0, 0), world_model(PL_SHAPE_CHAIN, 12, 0, 0),
                         world_sized_model(PL_SHAPE_SHEET, 6, 6, 0, 1, 1, 0, false),
                         world_model(PL_SHAPE_CREATURE, 0, 0, 0), contact_cook("rabbit", 60, 1)},
                        {0}};
    for (int i = 0; i < CONTACT_MODELS; i++)
        m.reach[i] = contact_reach(m.model[i]);
    return m;
}

/* For a whole group of tests: cooking takes its time. */
static inline int contact_open_models(void **state)
{
    static contact_models models;
    models = contact_make_models();
    *state = &models;
    return 0;
}

static inline int contact_close_models(void **state)
{
    contact_models *m = *state;
    for (int i = 0; i < CONTACT_MODELS; i++)
        pl_model_release(m->model[i]);
    return 0;
}

/* ---- Random things --------------------------------------------------------------------------- */

static inline double contact_between(pl_rng *rng, double low, double high)
{
    return low + (high - low) * pl_random_double(rng);
}

static inline double contact_decades(pl_rng *rng, double low, double high)
{
    return pow(10, contact_between(rng, low, high));
}

static inline int contact_below(pl_rng *rng, int bound)
{
    return (int)pl_random_below(rng, (uint32_t)bound);
}

static inline void contact_direction(pl_rng *rng, double v[3])
{
    double square;
    do {
        square = 0;
        for (int k = 0; k < 3; k++) {
            v[k] = contact_between(rng, -1, 1);
            square += v[k] * v[k];
        }
    } while (square > 1 || square < 0.01);
    for (int k = 0; k < 3; k++)
        v[k] /= sqrt(square);
}

static inline void contact_rotation(pl_rng *rng, double q[4])
{
    double axis[3];
    contact_direction(rng, axis);
    collider_turn(q, axis, contact_between(rng, 0, 6.28));
}

static inline void contact_turn_vector(const double q[4], const double v[3], double out[3])
{
    double t[3];
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        t[k] = 2 * (q[a] * v[b] - q[b] * v[a]);
    }
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = v[k] + q[3] * t[k] + q[a] * t[b] - q[b] * t[a];
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static inline double contact_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline void contact_add_cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline double contact_speed(const pl_world *world, pl_body body)
{
    pl_body_state s;
    pl_body_get_state(world, body, &s);
    return contact_length(s.velocity);
}

/* The speed of the fastest particle. */
static inline double contact_fastest(const pl_world *world, pl_body body)
{
    double u[3 * CONTACT_MOST_PARTICLES], most = 0;
    int n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    world_read(world, body, PL_VELOCITIES, u);
    for (int i = 0; i < n; i++)
        most = fmax(most, contact_length(u + 3 * i));
    return most;
}

#endif
