/* A hierarchy of boxes over anything that has bounds, four children to a node so that one vector
   operation tests all of them. Built by binned surface-area heuristic (Wald 2007); its depth is
   bounded whatever the input, so traversals keep their stack in an array. */
#ifndef PL_SHAPE_BVH_H
#define PL_SHAPE_BVH_H

#include "base/memory.h"

enum {
    PL_BVH_WIDTH = 4,
    PL_BVH_MAX_DEPTH = 48,
    PL_BVH_STACK = 3 * PL_BVH_MAX_DEPTH + 4 /* what a traversal, depth first, may have waiting */
};

/* count: items of a leaf from `child` on; 0 = an inner node, `child` its number, larger than the
   parent's; -1 = no child, its box is empty (∞ to −∞). */
typedef struct pl_bvh_node {
    float lower[3][PL_BVH_WIDTH], upper[3][PL_BVH_WIDTH];
    int32_t child[PL_BVH_WIDTH], count[PL_BVH_WIDTH];
} pl_bvh_node;

typedef struct pl_bvh_box {
    float lower[3], upper[3];
} pl_bvh_box;

typedef struct pl_bvh {
    int node_count, leaf_count;
    pl_bvh_node *nodes; /* the root first; without items, one node without children */
    int32_t *order;     /* [count] the items, leaf by leaf */
} pl_bvh;

/* Leaves of up to leaf_size items. The boxes are finite. False without memory, and then nothing is
   left allocated. */
bool pl_bvh_build(pl_memory *memory, const pl_bvh_box *boxes, int count, int leaf_size,
                  pl_bvh *bvh);
void pl_bvh_free(pl_memory *memory, pl_bvh *bvh);

#endif
