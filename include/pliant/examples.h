/* Example-based materials (Koyama et al. 2012): poses an artist drew, through which a body prefers
   to deform. Works for every kind of body; a pose says where each particle is in it.

       pl_pose poses[1];
       pl_warp warp = pl_default_warp(PL_WARP_TWIST);
       pl_pose_warp(model, &warp, 1, &poses[0], NULL);
       pl_examples_def examples = pl_default_examples_def();
       examples.poses = poses, examples.pose_count = 1;
       body_def.examples = &examples;
       pl_body_create(world, &body_def, &body, NULL);
       pl_pose_free(&poses[0]); */
#ifndef PLIANT_EXAMPLES_H
#define PLIANT_EXAMPLES_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pl_model;

enum { PL_MAX_POSES = 64 };

/* A deformed copy of a model's rest state: any place and rotation of the whole will do. */
typedef struct pl_pose {
    int particle_count;
    const double *positions; /* 3 per particle, metres */
    const double *
        rotations; /* 4 per particle: rest axes to the pose's; NULL = fitted to the neighbours' positions */
    void *owner; /* set by whatever made the pose; leave NULL in your own */
} pl_pose;

/* ---- Drawing poses --------------------------------------------------------------------------- */

/* Ways to deform a model along an axis. Under a load a body takes up a pose only where that gives
   way to the load: a pure twist does nothing under gravity, one that is shorter as well makes the
   body twist. Hence `shorten`. */
typedef enum pl_warp_kind {
    PL_WARP_TWIST,  /* turned about the axis, by `amount` from one end to the other */
    PL_WARP_BEND,   /* the axis becomes an arc of `amount` towards `side` */
    PL_WARP_S,      /* two arcs of `amount` each, one to each side */
    PL_WARP_SQUASH, /* shortened, and wider by `bulge` */
    PL_WARP_COIL, /* the axis becomes a helix of `amount` about itself; its height is `shorten` of its length */
    PL_WARP_FOLD /* flat pieces, `folds` creases between them, each folded by `amount`, to and fro */
} pl_warp_kind;

typedef struct pl_warp {
    pl_warp_kind kind;
    double axis
        [3]; /* what is shortened and bent; any length. 0, 0, 0 (default) = the model's longest extent */
    double side
        [3]; /* to where it bends, folds or coils; 0, 0, 0 (default) = the shortest extent across the axis */
    double amount;  /* radians; negative = the other way */
    double shorten; /* > 0: what becomes of the length of the axis, as a part of it */
    double
        bulge; /* sideways everything grows by shorten^(−bulge/2): 1 keeps the volume, 0 the width */
    double from,
        to; /* parts of the extent along the axis between which this happens; default 0 to 1. What lies
                        beyond is carried along as it is */
    int folds;       /* >= 1; default 1 */
    uint32_t cookie; /* set by pl_default_warp */
} pl_warp;

PL_API pl_warp pl_default_warp(pl_warp_kind kind);

/* All of these give a pose that pl_pose_free gives back. */

/* The rest state, deformed by `count` warps, one after the other; rotations are exact. */
PL_API pl_status pl_pose_warp(const struct pl_model *model, const pl_warp *warps, int count,
                              pl_pose *pose, pl_error *error);

/* From a deformed copy of the model's surface: 3 numbers for each of its vertices, in the same
   order. Particles inside follow the nearest vertices by a weighted affine fit. PL_ERROR_ARGUMENT
   for another number of vertices, and for a copy that is mirrored or flattened. */
PL_API pl_status pl_pose_from_vertices(const struct pl_model *model, const double *vertices,
                                       int count, pl_pose *pose, pl_error *error);

/* From where the particles of a body are now: a frame of a simulation. */
struct pl_world;
struct pl_body;
PL_API pl_status pl_pose_from_body(const struct pl_world *world, struct pl_body body, pl_pose *pose,
                                   pl_error *error);

PL_API void pl_pose_free(pl_pose *pose); /* one that is empty or your own stays as it is */

/* ---- Examples of a body ---------------------------------------------------------------------- */

/* Which parts of a body choose their weights together. */
typedef enum pl_example_scope {
    PL_EXAMPLES_GLOBAL, /* the whole body; the default */
    PL_EXAMPLES_GROUPS, /* every group of particles by itself */
    PL_EXAMPLES_LOCAL   /* every region, tetrahedron or particle with its edges by itself */
} pl_example_scope;

/* How a deformation is compared with the examples. */
typedef enum pl_example_rule {
    PL_EXAMPLES_AUTO, /* the nearest; the default */
    PL_EXAMPLES_SIMPLEX, /* the paper's: least squares, then the nearest weights that are none negative */
    PL_EXAMPLES_NEAREST /* the nearest point of the manifold: a small quadratic programme */
} pl_example_rule;

typedef struct pl_examples_def {
    int pose_count; /* 1 to PL_MAX_POSES */
    const pl_pose *poses;
    pl_example_scope scope;
    int group_count; /* of PL_EXAMPLES_GROUPS: 1 to particle_count */
    const int32_t
        *groups; /* one per particle: its group, counted from 0, or -1 = none: no examples there */
    double
        beta; /* 0 to 0.999999: how far the examples hold; what is left draws back to rest. Default 0.995 */
    pl_example_rule rule;
    uint32_t cookie; /* set by pl_default_examples_def */
} pl_examples_def;

PL_API pl_examples_def pl_default_examples_def(void);

/* How much of each pose a body has now, after β: [group_count][pose_count] numbers from 0 to 1
   (pl_body_info says how many); what a group's add up to less than one is rest. Copies those of
   `count` groups from `first` on. With local examples every element is a group. */
PL_API pl_status pl_body_get_example_weights(const struct pl_world *world, struct pl_body body,
                                             int first, int count, float *weights);

/* Draws the body to its poses, or away from them: added to the weights of a group (-1 = of all),
   pose_count numbers, before they are made admissible. All zero is the usual. */
PL_API pl_status pl_body_set_example_bias(struct pl_world *world, struct pl_body body, int group,
                                          const float *bias, pl_error *error);

#ifdef __cplusplus
}
#endif

#endif
