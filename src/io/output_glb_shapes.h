/* Surfaces for the .glb of things that have none in the scene. */
#ifndef PL_IO_OUTPUT_GLB_SHAPES_H
#define PL_IO_OUTPUT_GLB_SHAPES_H

#include "io/scene.h"
#include "world/collider.h"

typedef struct pl_glb_solid {
    int vertex_count, triangle_count;
    float *positions, *normals;
    int32_t *triangles; /* counter-clockwise from outside */
} pl_glb_solid;

/* A collider in its own frame; planes have no triangles. `record` NULL = it is not in the world any
   more: PL_ERROR_STATE where it would be needed, for meshes. Freed in any case. */
pl_status pl_glb_solid_of(pl_memory *memory, const pl_scene_collider *collider,
                          const pl_collider_record *record, pl_glb_solid *solid);
void pl_glb_solid_free(pl_memory *memory, pl_glb_solid *solid);

#endif
