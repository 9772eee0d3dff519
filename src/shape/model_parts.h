/* The parts a model is made of, shared by the two ways to make one: from a definition (model.c) and
   from packed bytes (packed_read.c). */
#ifndef PL_SHAPE_MODEL_PARTS_H
#define PL_SHAPE_MODEL_PARTS_H

#include "shape/model.h"

/* What float can tell apart: an edge against the mean edge, an extent or a radius against the
   spacing. */
#define PL_LEAST_EDGE 1e-6
#define PL_MAX_EXTENT 1e6
#define PL_MAX_RADII_RATIO 1e6

/* Metres. Masses in kilograms and the like, which go as the cube, still fit a float. */
#define PL_MIN_SPACING 1e-9
#define PL_MAX_SPACING 1e9

/* A volume given may differ from that of the ellipsoids by this factor: beyond it is a mistake of
   unit. */
#define PL_MAX_VOLUME_RATIO 1e12

/* Coordinates of a vertex in its tetrahedron; far outside they mean nothing. */
#define PL_MAX_BARYCENTRIC 1e6f

/* model_convert.c: unit, centre, rest, orientation, radii, spacing. Arrays are allocated. */
pl_status pl_model_convert_particles(pl_model *model, const pl_model_def *def, pl_error *error);
/* model_convert.c: vertices, weights, triangles; after the graph is there. */
pl_status pl_model_convert_skin(pl_model *model, const pl_model_def *def, pl_error *error);
pl_status pl_model_convert_points(const pl_model *model, pl_buffer points, int count,
                                  const char *name, float *out, pl_error *error);

/* model_surface.c: normals, tangents and the rest of the look. */
pl_status pl_model_convert_look(pl_model *model, const pl_look *look, pl_error *error);

/* model_tets.c: tetrahedra, and the vertices in them; nothing where the definition has none. */
pl_status pl_model_convert_tets(pl_model *model, const pl_model_def *def, pl_error *error);
/* Corners in range, volumes positive; vertices in range of the tetrahedra, coordinates that sum to
   one. */
pl_status pl_model_check_tets(const pl_model *model, pl_error *error);

/* model_clusters.c: clusters; nothing where the definition has none. */
pl_status pl_model_convert_clusters(pl_model *model, const pl_model_def *def, pl_error *error);
/* Members in range, ascending, everybody in some cluster; weights and radii that are some. */
pl_status pl_model_check_clusters(const pl_model *model, pl_error *error);

/* model_derive.c: what follows from rest, orientation, radii and edges: volumes, moments, reach,
   edge offsets. `volume` 0 becomes the sum of the ellipsoids. */
bool pl_model_allocate_derived(pl_model *model);
pl_status pl_model_derive(pl_model *model, pl_error *error);
/* The elimination order: `order` of particles, or NULL to have one made. */
pl_status pl_model_analyse(pl_model *model, const int32_t *order, pl_error *error);
uint64_t pl_model_hash_content(const pl_model *model);

/* model.c */
pl_model *pl_model_allocate(const pl_memory *memory);
void pl_model_free(pl_model *model);

#endif
