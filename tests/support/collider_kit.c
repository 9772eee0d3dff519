#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/collider_kit.h"

/* Spheres of radius spacing/2 on a lattice: as wide as they look. */
pl_model *collider_lattice(int nx, int ny, int nz, double spacing)
{
    int n = nx * ny * nz, m = 0;
    double *p = malloc(sizeof *p * 3 * (size_t)n), *r = malloc(sizeof *r * 3 * (size_t)n);
    int32_t *e = malloc(sizeof *e * 6 * (size_t)n);
    for (int i = 0; i < n; i++) {
        int at[3] = {i / (ny * nz), i / nz % ny, i % nz}, count[3] = {nx, ny, nz};
        int next[3] = {i + ny * nz, i + nz, i + 1};
        for (int k = 0; k < 3; k++) {
            p[3 * i + k] = (at[k] - (count[k] - 1) / 2.0) * spacing;
            r[3 * i + k] = spacing / 2;
            if (at[k] + 1 < count[k]) {
                e[2 * m] = i;
                e[2 * m++ + 1] = next[k];
            }
        }
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = n;
    def.positions = pl_doubles(p, 0);
    def.radii = pl_doubles(r, 0);
    def.edge_count = m;
    def.edges = e;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    free(p);
    free(r);
    free(e);
    return model;
}

pl_world *collider_world(int substeps, int iterations, double gravity)
{
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 30;
    def.substeps = substeps;
    def.iterations = iterations;
    def.gravity[1] = -gravity;
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

pl_body_def collider_body_def(pl_model *model, double young, double x, double y, double z)
{
    pl_body_def def = pl_default_body_def(model);
    def.material.young = young;
    def.material.density = 500;
    def.material.damping = 0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

pl_body collider_add_body(pl_world *world, const pl_body_def *def)
{
    pl_body body;
    assert_int_equal(pl_body_create(world, def, &body, NULL), PL_OK);
    return body;
}

pl_collider collider_add(pl_world *world, const pl_collider_def *def)
{
    pl_collider collider;
    pl_error error = {0};
    if (pl_collider_create(world, def, &collider, &error) != PL_OK)
        fail_msg("%s %s", error.where, error.text);
    return collider;
}

void collider_turn(double q[4], const double axis[3], double angle)
{
    for (int k = 0; k < 3; k++)
        q[k] = axis[k] * sin(angle / 2);
    q[3] = cos(angle / 2);
}

collider_sheet collider_make_sheet(int n, double half)
{
    collider_sheet s = {.positions = malloc(sizeof(double) * 3 * (size_t)((n + 1) * (n + 1))),
                        .triangles = malloc(sizeof(int32_t) * 6 * (size_t)(n * n))};
    for (int i = 0; i <= n; i++)
        for (int k = 0; k <= n; k++) {
            double *p = s.positions + 3 * (i * (n + 1) + k);
            p[0] = (2.0 * i / n - 1) * half, p[1] = 0, p[2] = (2.0 * k / n - 1) * half;
        }
    for (int i = 0; i < n * n; i++) {
        int32_t a = i / n * (n + 1) + i % n, b = a + n + 1, *t = s.triangles + 6 * i;
        t[0] = a, t[1] = a + 1, t[2] = b + 1;
        t[3] = a, t[4] = b + 1, t[5] = b;
    }
    s.mesh = (pl_mesh){.vertex_count = (n + 1) * (n + 1),
                       .positions = s.positions,
                       .triangle_count = 2 * n * n,
                       .triangles = s.triangles};
    return s;
}

void collider_free_sheet(collider_sheet *s)
{
    free(s->positions);
    free(s->triangles);
}
