/* Worlds with colliders, for tests. */
#ifndef PLIANT_TESTS_COLLIDER_KIT_H
#define PLIANT_TESTS_COLLIDER_KIT_H

#include "support/world_kit.h"

/* Spheres of radius spacing/2 on a lattice: as wide as they look. */
pl_model *collider_lattice(int nx, int ny, int nz, double spacing);

/* Thirty frames a second. */
pl_world *collider_world(int substeps, int iterations, double gravity);

/* 500 kg/m³, without damping. */
pl_body_def collider_body_def(pl_model *model, double young, double x, double y, double z);
pl_body collider_add_body(pl_world *world, const pl_body_def *def);
pl_collider collider_add(pl_world *world, const pl_collider_def *def);
void collider_turn(double q[4], const double axis[3], double angle);

/* A square of two by n × n triangles in the plane y = 0, facing up. */
typedef struct collider_sheet {
    pl_mesh mesh;
    double *positions;
    int32_t *triangles;
} collider_sheet;

collider_sheet collider_make_sheet(int n, double half);
void collider_free_sheet(collider_sheet *sheet);

#endif
