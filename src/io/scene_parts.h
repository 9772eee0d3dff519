/* The reader's parts, one file each: models; bodies; what holds and moves them; what happens; what
   is seen; the rest. */
#ifndef PL_IO_SCENE_PARTS_H
#define PL_IO_SCENE_PARTS_H

#include "io/scene_fields.h"

/* scene_names.c: the names of `count` things, `size` bytes each, whose names are at `offset`. */
pl_status pl_names_make(pl_scene_reader *reader, int count, const void *things, size_t size,
                        size_t offset, pl_names *names);
#define PL_NAMES_MAKE(reader, things, thing_count, member, names)                                  \
    pl_names_make((reader), (thing_count), (things), sizeof *(things),                             \
                  (size_t)((const char *)&(things)->member - (const char *)(things)), (names))
int pl_names_first(const pl_names *names, const char *name); /* -1 = there is none */
void pl_names_suggest(const pl_names *names, const char *name, const char **best);

/* scene_include.c: the document with everything it includes, as one. */
pl_status pl_scene_load(pl_memory *memory, const pl_scene_source *source, pl_json **json,
                        pl_trouble *trouble);

/* scene_read_model.c */
pl_status pl_read_model(pl_scene_reader *reader, uint32_t node, const char *name,
                        pl_scene_model *model);
/* Fails where there is no built-in mesh of this name. */
pl_status pl_check_builtin(pl_scene_reader *reader, uint32_t node, const char *name);
bool pl_names_model_file(const char *file); /* a model, not a mesh: by its ending */

/* scene_read.c */
pl_status pl_read_solver(pl_scene_reader *reader, uint32_t node, pl_solver *solver);
/* A name or an object; 0 = the default. *place is where its numbers stand. */
pl_status pl_read_body_material(pl_scene_reader *reader, uint32_t node, pl_material *material,
                                uint32_t *place);

/* What the body's own keys say in place of its material. */
pl_status pl_take_own_material(pl_scene_reader *reader, const pl_scene_body *body,
                               pl_material *material);

/* scene_read_body.c. First how many bodies and models written inside them there will be (an upper
   bound), so that there is room for all; then, after models and materials, the bodies. */
pl_status pl_count_bodies(pl_scene_reader *reader, size_t *bodies, size_t *models);
pl_status pl_read_bodies(pl_scene_reader *reader, size_t room);
/* The number of a body. Without a name it is the only one there is; `node` is the object that
   should name it. */
pl_status pl_find_body(pl_scene_reader *reader, uint32_t node, const char *name, int *body);

/* scene_read_array.c: how often an entry with this "array" stands in the world, and where. */
typedef struct pl_lattice {
    int count[3], total;
    double pitch[3], scatter, tumble;
    bool in_box; /* anywhere in a box instead, `spacing` apart */
    double lower[3], upper[3], spacing;
    int seed;
    uint32_t node;
} pl_lattice;
pl_status pl_read_lattice(pl_scene_reader *reader, uint32_t node, pl_lattice *lattice);
/* Places `bodies`, all copies of the entry, one after the other: by x, then z, then layer by
   layer. */
pl_status pl_place_on_lattice(pl_scene_reader *reader, const pl_lattice *lattice,
                              pl_scene_body *bodies);

/* scene_read_clusters.c */
pl_status pl_read_clusters(pl_scene_reader *reader, uint32_t node, bool explicit_particles,
                           pl_scene_clusters *clusters);
pl_status pl_check_members(pl_scene_reader *reader, const pl_scene_clusters *clusters,
                           int particle_count);
pl_status pl_read_clustered(pl_scene_reader *reader, uint32_t node, pl_scene_clustered *clustered);

/* scene_read_tets.c */
pl_status pl_read_tetrahedral(pl_scene_reader *reader, uint32_t node,
                              pl_scene_tetrahedral *tetrahedral);

/* scene_read_plasticity.c */
pl_status pl_read_plasticity(pl_scene_reader *reader, uint32_t node,
                             pl_scene_plasticity *plasticity);

/* scene_read_examples.c */
pl_status pl_read_examples(pl_scene_reader *reader, uint32_t node, pl_scene_examples *examples);

/* scene_read_hold.c. `body` is found by name among the scene's bodies. */
pl_status pl_read_box(pl_scene_reader *reader, uint32_t node, double lower[3], double upper[3]);
pl_status pl_read_picks(pl_scene_reader *reader, uint32_t node, bool many, pl_pick **picks,
                        int *count);
pl_status pl_read_pin(pl_scene_reader *reader, uint32_t node, pl_scene_pin *pin);
pl_status pl_read_drive(pl_scene_reader *reader, uint32_t node, pl_scene_drive *drive);
pl_status pl_read_force(pl_scene_reader *reader, uint32_t node, pl_scene_force *force);

/* Keys of positions alone. */
pl_status pl_read_position_keys(pl_scene_reader *reader, uint32_t node, pl_motion *motion);
pl_status pl_read_ease(pl_scene_reader *reader, const pl_scene_place *place, const char *ease,
                       bool *smooth);
pl_status pl_read_turns(pl_scene_reader *reader, uint32_t node, pl_motion *motion);

/* Keys of positions and rotations, and turns; either may be absent (node 0). */
pl_status pl_read_motion(pl_scene_reader *reader, const pl_scene_place *place, const char *ease,
                         uint32_t keys, uint32_t turn, pl_motion *motion);

/* scene_read_collider.c */
pl_status pl_read_collider(pl_scene_reader *reader, uint32_t node, pl_scene_collider *collider);

/* scene_read_attachment.c: after bodies and colliders. */
pl_status pl_read_attachment(pl_scene_reader *reader, uint32_t node,
                             pl_scene_attachment *attachment);

/* scene_read_event.c: after everything that can be named. */
pl_status pl_read_event(pl_scene_reader *reader, uint32_t node, pl_scene_event *event);

/* scene_read_view.c: cameras after bodies, outputs after cameras. */
pl_status pl_read_camera(pl_scene_reader *reader, uint32_t node, pl_scene_camera *camera);
pl_status pl_check_camera_names(pl_scene_reader *reader);
pl_status pl_read_light(pl_scene_reader *reader, uint32_t node, pl_scene_light *light);
pl_status pl_read_output(pl_scene_reader *reader, uint32_t node, pl_scene_output *output);

#endif
