/* Example poses: memory for them, and what makes one no pose. */
#ifndef PL_SHAPE_POSE_H
#define PL_SHAPE_POSE_H

#include "pliant/examples.h"
#include "math/mat3.h"
#include "shape/model.h"

/* Of definitions made by pl_default_examples_def. */
enum { PL_EXAMPLES_COOKIE = 0x706c6578 };

/* Room for a model's particles, and where to write them; false without memory. */
typedef struct pl_pose_room {
    double *positions, *rotations;
} pl_pose_room;
bool pl_pose_make(const pl_model *model, pl_pose *pose, pl_pose_room *room);

/* The number of particles, finite numbers, rotations that are some. `name` is for messages. */
pl_status pl_pose_check(const pl_model *model, const pl_pose *pose, const char *name,
                        pl_error *error);

/* What describes the pose of a body: its tetrahedra, its clusters, or each particle with its
   neighbours. */
typedef enum pl_pose_regions { PL_POSE_RINGS, PL_POSE_CLUSTERS, PL_POSE_TETS } pl_pose_regions;

/* Whether a region would be turned inside out or flattened to nothing, where it is not flat to
   begin with. */
pl_status pl_pose_check_regions(const pl_model *model, pl_pose_regions regions, const pl_pose *pose,
                                const char *name, pl_error *error);

/* The affine map nearest to what takes the rest offsets of `count` points to those of the pose;
   points may lie in a plane or on a line, which is completed by a rotation. False where there is
   nothing to fit. */
typedef struct pl_fit_sums {
    double weight;
    pl_vec3 rest, pose;    /* weighted sums */
    pl_mat3 moment, cross; /* Σ w p pᵀ, Σ w q pᵀ: p in the rest, q in the pose */
} pl_fit_sums;
void pl_fit_add(pl_fit_sums *sums, double weight, pl_vec3 rest, pl_vec3 pose);
typedef struct pl_fit {
    pl_vec3 rest, pose; /* means */
    pl_mat3 gradient;
    double rotation[4];
    int rank;     /* of the rest offsets */
    double ratio; /* volume in the pose over that at rest, signed; meaningful for rank 3 */
} pl_fit;
pl_fit pl_fit_solve(const pl_fit_sums *sums);

#endif
