/* Shared by the files that turn a scene into a world: messages that lead back into the document,
   and picks. */
#ifndef PL_IO_PLAY_PARTS_H
#define PL_IO_PLAY_PARTS_H

#include "io/scene.h"

typedef struct pl_builder {
    pl_play *play;
    const pl_scene *scene;
    pl_memory *memory;
    pl_trouble *trouble;
    const pl_play_options *options;
} pl_builder;

#define PL_BUILD_FAIL(builder, node, ...)                                                          \
    pl_json_fail((builder)->scene->json, (node), (builder)->trouble, PL_ERROR_FORMAT, __VA_ARGS__)

pl_status pl_build_no_memory(const pl_builder *builder);

/* Turns an error of the library about a definition made from the object `node` into one about the
   document: its `where` ("edges[7]") is followed from the object as far as it leads. */
pl_status pl_build_fail(const pl_builder *builder, uint32_t node, pl_status status,
                        const pl_error *error);

/* The particles or vertices that picks mean, in their order; a duplicate stays one. Freed by
   pl_memory_free. */
pl_status pl_resolve_picks(const pl_builder *builder, const pl_model *model, bool vertices,
                           const pl_pick *picks, int pick_count, int32_t **out, int *count);

/* play_model.c: the models, in the order of the scene. */
pl_status pl_build_models(const pl_builder *builder);
/* Meshes, freed by pl_mesh_free; `node` is what a message is about. */
pl_status pl_build_builtin_mesh(const pl_builder *builder, uint32_t node, const char *name,
                                double detail, pl_mesh *mesh);
pl_status pl_build_file_mesh(const pl_builder *builder, uint32_t node, const char *name,
                             pl_mesh *mesh);

/* play_examples.c: what a body's examples need while it is made. Freed whatever happened. */
typedef struct pl_owned_pose {
    pl_pose pose;
    double *numbers; /* of its own, or NULL */
} pl_owned_pose;
typedef struct pl_play_examples {
    pl_examples_def def;
    pl_owned_pose *owned;
    pl_pose *poses; /* the same without what belongs to them */
    int32_t *groups;
} pl_play_examples;
pl_status pl_build_examples(const pl_builder *builder, const pl_scene_examples *source,
                            const pl_model *model, pl_play_examples *out);
void pl_free_examples(const pl_builder *builder, pl_play_examples *examples);

/* play_hold.c: after all bodies are there. */
pl_status pl_build_holds(const pl_builder *builder);

/* play_squeeze.c */
pl_status pl_play_squeeze(pl_play *play, const pl_play_force *force);

/* play_collider.c */
pl_status pl_build_colliders(const pl_builder *builder);
pl_status pl_play_colliders(pl_play *play, double time); /* to where they are then */

/* play_attachment.c: after bodies and colliders. */
pl_status pl_build_attachments(const pl_builder *builder);
pl_status pl_play_attachments(pl_play *play, double time);

/* play_event.c: after everything else. */
pl_status pl_build_events(const pl_builder *builder);
pl_status pl_play_events(pl_play *play); /* those of the current frame */

/* play_build.c: the particles of a body whose motion is prescribed now; freed by pl_memory_free. */
pl_status pl_fixed_particles(const pl_builder *builder, int body, int32_t **fixed, int *count);
/* The painted maps of a body, NULL where there is none. */
pl_status pl_body_maps(const pl_builder *builder, int body, float **stiffness, float **density);

/* The particles a body's drives move, added behind `fixed` (with room for `particle_count`) where
   they are missing. */
pl_status pl_add_driven(const pl_builder *builder, int body, const pl_model *model, int32_t *fixed,
                        int *count);

#endif
