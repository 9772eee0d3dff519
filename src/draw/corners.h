/* Which corners of a triangle mesh share a normal. A normal belongs to a group of corners around
   one point whose triangles hang together by edges that are not creases; a drawn vertex to a group,
   a vertex of the mesh and a material. */
#ifndef PL_DRAW_CORNERS_H
#define PL_DRAW_CORNERS_H

#include "base/memory.h"

typedef struct pl_corners {
    int group_count, vertex_count;
    bool closed;        /* every edge has two triangles, and the outside is outside */
    int32_t *groups;    /* of each corner, 3 per triangle */
    uint32_t *indices;  /* of each corner: its drawn vertex */
    int32_t *sources;   /* of each drawn vertex: the vertex of the mesh */
    int32_t *normals;   /* of each drawn vertex: its group */
    int32_t *materials; /* of each drawn vertex; NULL = all 0 */
} pl_corners;

/* `materials` (1 per triangle) may be NULL. Indices must be in range. */
pl_status pl_corners_make(pl_memory *memory, int vertex_count, const double *positions,
                          int triangle_count, const int32_t *triangles, const int32_t *materials,
                          pl_corners *corners);
void pl_corners_free(pl_memory *memory, pl_corners *corners);

#endif
