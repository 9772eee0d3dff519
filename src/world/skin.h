/* Skinned surfaces: room for the particles' matrices, and reading one body without any. */
#ifndef PL_WORLD_SKIN_H
#define PL_WORLD_SKIN_H

#include "pliant/pliant.h"

struct pl_record;
typedef struct pl_skin_job pl_skin_job;

/* What pl_world_skin works in. It takes as many requests at a time as fit: one always does. */
typedef struct pl_skin_room {
    float *poses;      /* [pose_capacity][PL_POSE] */
    int pose_capacity; /* at least the largest body's particles + 1 */
    pl_skin_job *jobs; /* [job_capacity] */
    int job_capacity;
    int wanted_poses, wanted_jobs; /* for all bodies there ever were, up to a limit */
} pl_skin_room;

/* Room for one more body of this model, so that skinning it allocates nothing. False without
   memory. */
bool pl_skin_reserve(pl_world *world, const pl_model *model);
void pl_skin_free(pl_world *world);

/* PL_VERTICES, PL_NORMALS or PL_TANGENTS of some vertices: the bits pl_world_skin gives. Everything
   has been checked. */
void pl_skin_read(const struct pl_record *record, pl_body_field field, int first, int count,
                  double fraction, pl_buffer out);

#endif
