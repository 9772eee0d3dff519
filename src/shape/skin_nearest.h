/* The particles nearest to a point of the rest state, with a k-d tree or without. */
#ifndef PL_SHAPE_SKIN_NEAREST_H
#define PL_SHAPE_SKIN_NEAREST_H

#include "shape/model.h"

enum { PL_MOST_NEAR = 9 };

typedef struct pl_near {
    int32_t particle;
    double distance2;
} pl_near;

/* The nearest of those shown to it, ascending by distance, then number: an order that does not
   depend on that of the search. */
typedef struct pl_near_list {
    int capacity, count; /* at most PL_MOST_NEAR */
    double
        reach2; /* nobody asks for what is this times farther than the nearest, squared; 0 = no limit */
    pl_near entry[PL_MOST_NEAR];
} pl_near_list;

void pl_near_list_show(pl_near_list *list, int32_t particle, double distance2);

/* Whether something at this distance would still be taken. */
static inline bool pl_near_list_takes(const pl_near_list *list, double distance2)
{
    if (list->count == list->capacity && distance2 > list->entry[list->count - 1].distance2)
        return false;
    return !list->reach2 || !list->count || distance2 <= list->reach2 * list->entry[0].distance2;
}

/* Units². */
double pl_near_distance2(const pl_model *model, int particle, const double point[3]);

/* A balanced k-d tree without pointers: the node of a range [low, high) of `particle` is the one in
   its middle, its two children are the halves beside it. */
typedef struct pl_space_tree {
    const pl_model *model;
    const int32_t *piece_of; /* [n], or NULL where there is only one piece */
    int32_t *particle;       /* [n] */
    float *place;  /* [n][3] of each of these: rest positions in the order of the search */
    uint8_t *axis; /* [n] that the node's range is split along */
} pl_space_tree;

/* False without memory; free it in either case. */
bool pl_space_tree_build(pl_space_tree *tree, pl_memory *memory, const pl_model *model);
void pl_space_tree_free(pl_space_tree *tree, pl_memory *memory);

/* Fills an empty list with what is nearest among the particles of a piece; -1 = of all. */
void pl_space_tree_search(const pl_space_tree *tree, const double point[3], int32_t piece,
                          pl_near_list *list);

#endif
