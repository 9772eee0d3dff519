/* Whether the numbers of an unpacked model are such as a definition could have given. */
#ifndef PL_SHAPE_PACKED_CHECK_H
#define PL_SHAPE_PACKED_CHECK_H

#include "shape/model.h"

bool pl_packed_are_finite(const float *values, size_t count);

/* unit, spacing, volume, centre */
pl_status pl_packed_check_scale(const pl_model *model, pl_error *error);
/* rest, orientation, radii; edges in range */
pl_status pl_packed_check_particles(const pl_model *model, pl_error *error);
/* vertices, normals, tangents, influences, weights, triangles, corners of tetrahedra */
pl_status pl_packed_check_surface(const pl_model *model, pl_error *error);
/* Whether a factor in this order has a bearable size; the graph is there. */
pl_status pl_packed_check_fill(pl_model *model, const int32_t *elimination, pl_error *error);

#endif
