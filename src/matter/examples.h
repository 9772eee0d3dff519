/* Example manifolds (Koyama et al. 2012, METHODS §4): one projection for all matter.

   Elements (clusters, tetrahedra, directed edges) have descriptors of `width` numbers: a stretch S
   (xx, yy, zz, √2 yz, √2 xz, √2 xy) or an edge's offset and turn. All are differences from rest, so
   that rest is zero. Given the present ones, every group of elements gets weights w_k >= 0, Σ w_k
   <= 1 (what is left is w₀, of the rest shape), and the blend Σ_k w_k D_k is what the examples
   would have instead.

   Elements go sixteen to a block: descriptors are [blocks][width][16], the last block filled up
   with zeros, and aligned as pl_memory_alloc does it. Sums run in sixteen columns in one order:
   every vector width and any number of threads gives the same bits. Nothing is allocated after
   creation. */
#ifndef PL_MATTER_EXAMPLES_H
#define PL_MATTER_EXAMPLES_H

#include "base/memory.h"
#include "base/tasks.h"
#include "pliant/examples.h"

enum { PL_EXAMPLES_BLOCK = 16, PL_EXAMPLES_WIDEST = 12 };
/* The most that can be: places of their numbers are counted in 32 bits. */
enum { PL_EXAMPLES_MOST_ELEMENTS = INT32_MAX / 64 };
/* The largest beta: nearer to 1 nothing would draw a body back to rest, and a float has no room for
   it. */
#define PL_EXAMPLES_MOST_BETA 0.999999

typedef struct pl_examples pl_examples;

typedef struct pl_examples_source {
    int element_count, width; /* width: 1 to PL_EXAMPLES_WIDEST */
    int pose_count;           /* 1 to PL_MAX_POSES */
    const float *poses;       /* [pose_count][element_count][width] D_k, differences from rest */
    /* [element_count][width (width + 1) / 2] lower triangle, row by row, of the symmetric positive
       semidefinite form in which differences are compared; NULL = I. It is multiplied by
       `weight`. */
    const float *metric;
    const float *weight; /* [element_count] >= 0, or NULL = 1 */
    int group_count;
    const int32_t *group; /* [element_count], -1 = none; NULL = all are in group 0 */
    double beta;          /* 0 to PL_EXAMPLES_MOST_BETA */
    pl_example_rule rule;
} pl_examples_source;

/* PL_ERROR_ARGUMENT names what is wrong: a pose that is not finite, a group that does not exist, …
   Poses equal to rest, to each other, or dependent are allowed: one that is within 10⁻⁵ (root mean
   square over a group, in the metric) of rest has the weight 0 there, with any bias, and of equal
   ones the first gets all. PL_EXAMPLES_AUTO is the nearest point: with it (and equal elements) what
   pulls towards the blend is the gradient of an energy. The simplex rule has none: where every
   element chooses for itself it gains energy, and it needs independent poses for its weights to
   mean anything. */
pl_status pl_examples_create(pl_memory *memory, const pl_examples_source *source,
                             pl_examples **examples, pl_error *error);
void pl_examples_destroy(pl_examples *examples); /* NULL is allowed */

/* Weights of all groups from the present descriptors; then the bias, then β. A group with a
   descriptor that is not finite gets weights 0. */
void pl_examples_project(pl_examples *examples, const float *descriptors, pl_tasks *tasks);

/* The blend of every element, [blocks][width][16]; zero for those in no group. */
void pl_examples_blend(const pl_examples *examples, float *blend, pl_tasks *tasks);

int pl_examples_element_count(const pl_examples *examples);
int pl_examples_width(const pl_examples *examples);
double pl_examples_beta(const pl_examples *examples);
int pl_examples_pose_count(const pl_examples *examples);
int pl_examples_group_count(const pl_examples *examples);
int pl_examples_group_of(const pl_examples *examples, int element); /* -1 = none */
pl_example_rule pl_examples_rule(
    const pl_examples *examples); /* SIMPLEX or NEAREST: what AUTO came to */

/* [group_count][pose_count], after β; saved with a body. */
const float *pl_examples_weights(const pl_examples *examples);

/* Added to the weights of a group, which are then made admissible again (the nearest that are >= 0
   with a sum <= 1): draws the body towards a pose, or away from it. [pose_count], finite, else
   nothing is changed; group -1 = all. */
void pl_examples_set_bias(pl_examples *examples, int group, const float *bias);
const float *pl_examples_bias(const pl_examples *examples); /* [group_count][pose_count] */

/* Weights, bias, and what the next projection starts from. The poses are not among it: they are
   what the body was made of. Any bytes may be loaded: what does not fit is PL_ERROR_FORMAT, and
   nothing is changed then. */
size_t pl_examples_save_size(const pl_examples *examples);
void pl_examples_save(const pl_examples *examples, void *bytes);
pl_status pl_examples_load(pl_examples *examples, const void *bytes, size_t size, pl_error *error);

#endif
