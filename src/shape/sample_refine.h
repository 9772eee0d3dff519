/* A surface with all edges short: edges are halved until they are, the longest of a triangle first.
   Both triangles at an edge see the same edge, so the result has no cracks, and slivers are cut
   along their length only. */
#ifndef PL_SHAPE_SAMPLE_REFINE_H
#define PL_SHAPE_SAMPLE_REFINE_H

#include "shape/surface.h"

typedef struct pl_fine {
    int point_count, triangle_count;
    double *points;     /* [p][3]: the surface's first */
    int32_t *triangles; /* [t][3], in the order of the surface's */
    int32_t *source;    /* [t] the surface's triangle it is part of */
} pl_fine;

/* On failure nothing is left to free. */
pl_status pl_refine(pl_memory *memory, const pl_surface *surface, double longest, pl_fine *fine,
                    pl_error *error);
void pl_fine_free(pl_memory *memory, pl_fine *fine);

/* Twice the area vector of a triangle, counter-clockwise; its length is twice the area. */
void pl_twice_area(const double *points, const int32_t *triangle, double vector[3]);

#endif
