/* Animated scenes as binary glTF 2.0 (.glb), for the tools people already use.

   A writer of surfaces, of actors that wear them, and of poses frame by frame (output_glb*.c), and
   on top of it the recording of a play (output_glb_play.c). An actor is either rigid, a node with a
   mesh, or skinned: joints that move one by one and a mesh that hangs on them,

       v = Σ_j w_j (R_j (v̄ − x̄_j) + x_j),

   so that the joint's matrix times its inverse bind matrix, a translation by −x̄_j, is what carries
   the vertex. Surfaces are shared: actors of one surface have the same vertices, indices, weights
   and inverse bind matrices in the file. Poses wait in a temporary beside the output
   (NAME.glb.keys) until it is known which of them are needed; memory holds a frame or two, and the
   geometry. */
#ifndef PL_IO_OUTPUT_GLB_H
#define PL_IO_OUTPUT_GLB_H

#include "io/file.h"
#include "io/scene.h"

/* Joints of one actor: glTF counts them in 16 bits. */
enum { PL_GLB_MOST_JOINTS = 65535 };

/* ---- Writer ---------------------------------------------------------------------------------- */

typedef struct pl_glb pl_glb;

typedef struct pl_glb_def {
    const char *path;
    const char *title; /* of scene and animation; NULL = none */
    double rate;       /* frames per second, noted for those who ask; 0 = not known */
} pl_glb_def;

/* What changes about an actor; each is a bit of pl_glb_actor.paths. A rigid one has one joint. */
typedef enum pl_glb_path {
    PL_GLB_TRANSLATION, /* 3 per joint, in the world */
    PL_GLB_ROTATION,    /* 4 per joint, quaternions; without it joints only move */
    PL_GLB_SCALE, /* 3 of the whole actor, which changes from frame to frame at once: 0 hides it */
    PL_GLB_PATHS
} pl_glb_path;

/* Geometry, in the actor's own frame. Arrays are copied. */
typedef struct pl_glb_surface {
    const char *name;
    int vertex_count, triangle_count; /* > 0 */
    const float *positions;           /* 3 per vertex */
    const float *normals;             /* 3 per vertex; NULL = none */
    const float *tangents;            /* 4 per vertex; NULL = none */
    const int32_t *triangles;
    const pl_look *look;   /* UVs, colours, materials, images; NULL = none */
    const char *directory; /* where images lie that are only named, "" or with a slash at the end;
                              NULL = they are left out */
    int joint_count;       /* 0 = for rigid actors */
    const float *joints;   /* x̄, 3 per joint */
    int influence_count;   /* 1 to PL_MAX_INFLUENCES */
    const int32_t *influences; /* joints of each vertex, -1 = none */
    const float *weights;
} pl_glb_surface;

/* Instead of a surface: the plane y = 0 of the actor's frame, as far as the bodies ever go. */
enum { PL_GLB_PLANE = -1 };

typedef struct pl_glb_actor {
    const char *name;
    int surface;     /* or PL_GLB_PLANE */
    unsigned paths;  /* which of its poses are given */
    float colour[4]; /* linear; where the look has no material */
    float roughness;
    bool two_sided; /* the same */
} pl_glb_actor;

/* Nothing changes on disk before pl_glb_publish. On failure *glb is NULL. */
pl_status pl_glb_open(pl_memory *memory, const pl_glb_def *def, pl_glb **glb, pl_trouble *trouble);

/* Surfaces and actors, before the first frame; both are counted from 0. */
pl_status pl_glb_add_surface(pl_glb *glb, const pl_glb_surface *surface, int *number,
                             pl_trouble *trouble);
pl_status pl_glb_add_actor(pl_glb *glb, const pl_glb_actor *actor, int *number,
                           pl_trouble *trouble);

/* Other weights of a surface, at any time before it is published: there is only one skin in the
   file. */
void pl_glb_set_weights(pl_glb *glb, int surface, int influence_count, const int32_t *influences,
                        const float *weights);

/* Sets one path of an actor, after the last actor was added; what is not set again stays. */
pl_status pl_glb_pose(pl_glb *glb, int actor, pl_glb_path path, const double *values,
                      pl_trouble *trouble);

/* Takes the poses as they are for a frame; `time` in seconds. A frame that is not later than the
   last one, to the precision of a float, is left out. */
pl_status pl_glb_frame(pl_glb *glb, double time, pl_trouble *trouble);

/* For another process that goes on when this one was killed: the frames so far are on the disk. It
   adds the same surfaces and actors and goes on instead of making a first frame; PL_ERROR_FORMAT
   when the frames are not there any more. */
pl_status pl_glb_set_mark(pl_glb *glb, pl_output_mark *mark, pl_trouble *trouble);
pl_status pl_glb_go_on(pl_glb *glb, const pl_output_mark *mark, pl_trouble *trouble);

/* Writes the file with the frames there are and puts it in its place. Frees the writer in any
   case. */
pl_status pl_glb_publish(pl_glb *glb, pl_trouble *trouble);

/* Frees the writer; `leave` the frames for pl_glb_go_on, or drop them. NULL is allowed. */
void pl_glb_drop(pl_glb *glb, bool leave);

/* ---- Recording a play ------------------------------------------------------------------------ */

typedef struct pl_glb_record pl_glb_record;

/* Colour, linear, of a body whose look has no materials. */
typedef void pl_glb_colour(int body, float colour[3]);

/* Bodies with a surface as they are skinned; those without one as an octahedron per particle;
   colliders. What breaks has the skin of its pieces, as they are in the last frame, from the first
   one on. Bodies and colliders that events remove are hidden from then on. `colour` NULL = grey.
   With a `mark`, of an earlier record of the same play, it goes on where that one was. */
pl_status pl_glb_record_open(pl_memory *memory, const char *path, const pl_play *play,
                             pl_glb_colour *colour, const pl_output_mark *mark,
                             pl_glb_record **record, pl_trouble *trouble);
pl_status pl_glb_record_frame(pl_glb_record *record, const pl_play *play, pl_trouble *trouble);
pl_status pl_glb_record_set_mark(pl_glb_record *record, pl_output_mark *mark, pl_trouble *trouble);
pl_status pl_glb_record_publish(pl_glb_record *record, pl_trouble *trouble); /* frees it */
void pl_glb_record_drop(pl_glb_record *record, bool leave); /* frees it; NULL is allowed */

#endif
