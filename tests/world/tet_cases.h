/* Blocks of tetrahedra and worlds for them, shared by the tests of tetrahedral bodies. */
#ifndef PLIANT_TESTS_TET_CASES_H
#define PLIANT_TESTS_TET_CASES_H

#include <stdlib.h>

#include "pliant/pliant.h"
#include "support/check.h"
#include "support/world_kit.h"

static inline pl_model *tet_model(pl_model *model)
{
    pl_model *tets;
    pl_error error = {0};
    if (pl_model_tetrahedral(model, &tets, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_release(model);
    return tets;
}

/* So many cells of a tenth of a metre. */
static inline pl_model *tet_block(int x, int y, int z)
{
    return tet_model(
        world_sized_model(PL_SHAPE_BLOCK, x + 1, y + 1, z + 1, 0.1 * x, 0.1 * y, 0.1 * z, false));
}

/* With threads of its own, or with the host's. */
static inline pl_world *tet_hosted_world(int threads, const pl_task_system *host, double gravity)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    def.iterations = 5;
    def.threads = threads;
    def.tasks = host;
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static inline pl_world *tet_world(int threads, double gravity)
{
    return tet_hosted_world(threads, NULL, gravity);
}

static inline pl_body_def tet_body_def(pl_model *model, const pl_tetrahedral_def *tetrahedral,
                                       double x, double y, double z)
{
    pl_body_def def = pl_default_body_def(model);
    def.tetrahedral = tetrahedral;
    def.material.young = 1e5;
    def.material.damping = 0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static inline pl_body tet_make(pl_world *world, const pl_body_def *def)
{
    pl_body body;
    pl_error error = {0};
    if (pl_body_create(world, def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return body;
}

static inline pl_body tet_put(pl_world *world, pl_model *model,
                              const pl_tetrahedral_def *tetrahedral, double x, double y, double z)
{
    pl_body_def def = tet_body_def(model, tetrahedral, x, y, z);
    return tet_make(world, &def);
}

static inline pl_body_state tet_state(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state;
}

static inline double tet_elastic(const pl_world *world, pl_body body)
{
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    return energy.elastic;
}

static inline void tet_floor(pl_world *world)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
}

static inline double *tet_positions(const pl_world *world, pl_body body, int *n)
{
    *n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)*n);
    world_read(world, body, PL_POSITIONS, x);
    return x;
}

/* Particles of a block at one end along x: all with i = 0, or i = cells. */
static inline int tet_end(const int cells[3], bool last, int32_t *out)
{
    int count = 0, face = (cells[1] + 1) * (cells[2] + 1);
    for (int i = 0; i < face; i++)
        out[count++] = (last ? cells[0] * face : 0) + i;
    return count;
}

#endif
