/* A surface that can break: the triangles of a model's surface fall to the particle they lie
   nearest to, corners at the borders between two particles' shares are there once for each, and,
   where the model has tetrahedra, the walls between the shares are part of it, from both sides. As
   long as nothing breaks, corners at one place hang on the same particles and move as one, and the
   walls lie inside; when something does, shares that are no longer joined go their ways with their
   walls for caps. The number of vertices and triangles never changes.

   The first influence of every vertex is the particle whose share it belongs to, perhaps with
   weight 0. */
#ifndef PL_SHAPE_SHARDS_H
#define PL_SHAPE_SHARDS_H

#include "shape/model.h"

typedef struct pl_shards {
    int vertex_count, triangle_count, influence_count;
    int outer_triangles; /* the surface's; walls come behind them */
    double *vertices;    /* [vertex_count][3] metres */
    int32_t *triangles;
    int32_t *influences;
    float *weights;
    pl_look look; /* the model's, with a row for every vertex and triangle here */
    float *normals, *tangents, *colours, *uvs[PL_MAX_UV_SETS];
    int32_t *materials, *groups;
} pl_shards;

pl_status pl_shards_make(pl_memory *memory, const pl_model *model, pl_shards *shards,
                         pl_error *error);
void pl_shards_free(pl_memory *memory, pl_shards *shards);

#endif
