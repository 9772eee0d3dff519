/* A mesh collider: triangles in the collider's frame, and a tree of boxes over them. */
#ifndef PL_CONTACT_MESH_H
#define PL_CONTACT_MESH_H

#include "base/memory.h"
#include "contact/shapes.h"
#include "pliant/base.h"

typedef struct pl_solid {
    int count;               /* triangles, all with an area */
    double (*corners)[3][3]; /* [count] in the order of the tree's leaves */
    int node_count,
        depth; /* nodes level by level, leaves first; a level has half as many as the one below */
    double (*boxes)[6]; /* [node_count] */
    int level_start[32];
} pl_solid;

/* From `count` triangles, some of them perhaps without area: those are left out. NULL without
   memory. Nothing left is fine. */
pl_solid *pl_solid_create(pl_memory *memory, int count, const double (*corners)[3][3]);
void pl_solid_destroy(pl_memory *memory, pl_solid *solid); /* NULL is allowed */

/* What an ellipsoid must stay out of, most pressing first: the triangle it goes through earliest;
   else the nearest one it has moved into; else, when `resting` counts, the one it is deepest in.
   `still` is what was already moved without velocity. *through: it was the first. False = nothing.
   */
bool pl_ball_on_solid(const pl_ball *ball, const pl_solid *solid, bool two_sided, bool resting,
                      const double still[3], pl_barrier *barrier, bool *through);

/* From a point inside of a solid, out by the nearest triangle. False = it is not inside. */
bool pl_way_out_of_solid(const double p[3], const pl_solid *solid, pl_barrier *out);

#endif
