/* What there is to see of a body, for all outputs of meshes: its surface, or where it has none an
   octahedron per particle, whose corners are the tips of the ellipsoid's axes. Bodies follow each
   other in the order of the scene, so that vertex i is the same one in every file of a run. */
#ifndef PL_IO_OUTPUT_SURFACE_H
#define PL_IO_OUTPUT_SURFACE_H

#include "io/scene.h"

int64_t pl_surface_vertices(const pl_play_body *body);
int64_t pl_surface_triangles(const pl_play_body *body);

/* Sums over all bodies; PL_ERROR_ARGUMENT when there are more vertices or triangles than an int32
   can count, which no format of ours could hold. */
pl_status pl_surface_totals(const pl_play *play, int32_t *vertices, int32_t *triangles);

/* Three doubles per vertex; `normals` may be NULL. */
pl_status pl_surface_read(const pl_play *play, const pl_play_body *body, double *positions,
                          double *normals);

/* The corners of triangle i, counted within the body. */
void pl_surface_triangle(const pl_play_body *body, int64_t i, int32_t corners[3]);

#endif
