/* Meshes put together from grids of quads. Every vertex belongs to a point: vertices at one place
   that differ in their texture coordinates (along seams) have the same point, and so the same
   normal and bit for bit the same position. */
#ifndef PL_SHAPE_BUILTIN_PATCH_H
#define PL_SHAPE_BUILTIN_PATCH_H

#include "math/vec3.h"
#include "shape/mesh.h"

typedef struct pl_patches {
    pl_mesh_owner *owner;
    int vertex_count, triangle_count, point_count; /* put in so far; points: as many as announced */
    int vertex_room, triangle_room;
    double *positions;
    float *normals, *colours, *uvs;
    int32_t *triangles, *triangle_materials, *points;
    pl_look_material *materials;
    int material_count;
} pl_patches;

/* `quads` and `vertices` are upper bounds. */
pl_status pl_patches_init(pl_patches *patches, const pl_allocator *allocator, int vertices,
                          int quads, int points);
int pl_patches_material(pl_patches *patches, const char *name, uint32_t colour, double roughness);
int32_t pl_patches_vertex(pl_patches *patches, pl_vec3 at, double u, double v, double shade,
                          int point);
/* Counter-clockwise from outside; cut along its shorter diagonal. */
void pl_patches_quad(pl_patches *patches, int32_t a, int32_t b, int32_t c, int32_t d, int material);
/* Normals, and everything into the mesh, which stands on y = 0. Gives all back when it fails. */
pl_status pl_patches_finish(pl_patches *patches, pl_mesh *mesh);

/* A closed tube of `rows` sections of 8 · half points each, with a square grid mapped onto each
   end. */
typedef struct pl_tube {
    int half, rows;
    const void *user;
    pl_vec3 (*place)(const void *user, int row, double turn); /* turn 0 to 1 around */
    pl_vec3 (*centre)(const void *user, int row);
    double (*shade)(const void *user, int row, double turn);
    int (*material)(const void *user, int row, double turn); /* of a quad, by its middle */
} pl_tube;

int pl_tube_vertices(const pl_tube *tube);
int pl_tube_quads(const pl_tube *tube);
void pl_patches_tube(pl_patches *patches, const pl_tube *tube);

#endif
