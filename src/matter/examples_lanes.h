/* Between examples.c and the kernels in examples_lanes.c. */
#ifndef PL_MATTER_EXAMPLES_LANES_H
#define PL_MATTER_EXAMPLES_LANES_H

#include "matter/examples.h"

/* With more poses than this the nearest point is found group by group (pl_examples_nearest). */
enum { PL_EXAMPLES_LANES = 8 };

/* Squared distances, relative to the largest example of a group, below which a pose is one of those
   that others span; and how far (relative to it) the residual may still point towards a pose. */
#define PL_EXAMPLES_DEPENDENT 1e-11
#define PL_EXAMPLES_TOLERANCE 1e-5

/* Numbers of the factors of sixteen groups: which points they are of, 1/d, L. */
#define PL_EXAMPLES_FACTOR(poses)                                                                  \
    ((size_t)(1 + (poses) + (poses) * ((poses) + 1) / 2) * PL_EXAMPLES_BLOCK)

/* Element blocks in which all elements are of one group have its number here. */
enum { PL_EXAMPLES_NO_GROUP = -1, PL_EXAMPLES_MIXED = -2 };

/* The elements of one group in one block. */
typedef struct pl_examples_part {
    int32_t block;
    uint32_t lanes; /* a bit each */
} pl_examples_part;

typedef struct pl_examples_table {
    int width;
    void (*measure)(pl_examples *examples, const float *descriptors, int begin, int end);
    void (*weigh)(pl_examples *examples, int begin, int end);
    void (*blend)(const pl_examples *examples, float *blend, int begin, int end);
} pl_examples_table;

/* Groups go sixteen to a block, as elements do. The metric of each is scaled so that its largest
   example has length 1. */
struct pl_examples {
    pl_memory *memory;
    int element_count, width, pose_count, group_count;
    int blocks, group_blocks;
    pl_example_rule rule; /* SIMPLEX or NEAREST */
    float beta;
    bool own;    /* element e is alone in group e */
    bool biased; /* some bias is not 0 */

    float *poses; /* [blocks][poses][width][16] D_k */
    float *
        duals; /* [blocks][poses][width][16] M D_k; for the simplex rule times the pseudo-inverse of the Gram matrix */
    double
        *gram; /* [group_blocks][poses (poses + 1) / 2][16] lower triangle, for the nearest point */

    double *factors; /* [group_blocks][PL_EXAMPLES_FACTOR] of the last search: derived, not saved */

    int32_t *group;          /* [blocks * 16] of each element */
    int32_t *block_group;    /* [blocks] */
    int32_t *part_start;     /* [group_count + 1] */
    pl_examples_part *parts; /* of the groups, ascending */

    float *measured; /* [blocks][poses][16] dual · descriptor; the same array as `sums` if `own` */
    float *sums;     /* [group_blocks][poses][16] over each group */
    float
        *start; /* [group_blocks][poses][16] the nearest point last time: where the search starts */
    float *weight;     /* [group_blocks][poses][16] */
    float *weights;    /* [groups][poses] the same */
    float *bias;       /* [groups][poses] */
    float *bias_lanes; /* [group_blocks][poses][16], 0 where the pose is rest */
    float *present;    /* [group_blocks][poses][16] 1, or 0 where the pose is rest */
};

/* The nearest point of one group, poses <= PL_MAX_POSES: `gram` strides by 16. `w` is where to
   start (admissible), and the result. */
void pl_examples_nearest(int poses, const double *gram, const double *t, double *w);

#define PL_EXAMPLES_KERNELS(width)                                                                 \
    void pl_examples_measure_w##width(pl_examples *examples, const float *descriptors, int begin,  \
                                      int end);                                                    \
    void pl_examples_weigh_w##width(pl_examples *examples, int begin, int end);                    \
    void pl_examples_blend_w##width(const pl_examples *examples, float *blend, int begin, int end);

PL_EXAMPLES_KERNELS(4)
PL_EXAMPLES_KERNELS(8)
PL_EXAMPLES_KERNELS(16)

/* At a width that this machine has: for tests. */
void pl_examples_project_at(pl_examples *examples, const float *descriptors, pl_tasks *tasks,
                            int width);
void pl_examples_blend_at(const pl_examples *examples, float *blend, pl_tasks *tasks, int width);

#endif
