/* The reader's parts, one file each: models; what holds and moves bodies; the rest. */
#ifndef PL_IO_SCENE_PARTS_H
#define PL_IO_SCENE_PARTS_H

#include "io/scene_fields.h"

/* scene_read_model.c */
pl_status pl_read_model(pl_scene_reader *reader, uint32_t node, const char *name,
                        pl_scene_model *model);

/* scene_read_hold.c. `body` is found by name among the scene's bodies. */
pl_status pl_read_picks(pl_scene_reader *reader, uint32_t node, bool many, pl_pick **picks,
                        int *count);
pl_status pl_read_pin(pl_scene_reader *reader, uint32_t node, pl_scene_pin *pin);
pl_status pl_read_drive(pl_scene_reader *reader, uint32_t node, pl_scene_drive *drive);
pl_status pl_read_force(pl_scene_reader *reader, uint32_t node, pl_scene_force *force);

/* Keys of positions and rotations, and turns; either may be absent (node 0). */
pl_status pl_read_motion(pl_scene_reader *reader, const pl_scene_place *place, const char *ease,
                         uint32_t keys, uint32_t turn, pl_motion *motion);

/* scene_read_collider.c */
pl_status pl_read_collider(pl_scene_reader *reader, uint32_t node, pl_scene_collider *collider);

/* scene_read_attachment.c: after bodies and colliders. */
pl_status pl_read_attachment(pl_scene_reader *reader, uint32_t node,
                             pl_scene_attachment *attachment);

/* scene_read.c: the number of a body. Without a name it is the only one there is; `node` is the
   object that should name it. */
pl_status pl_find_body(pl_scene_reader *reader, uint32_t node, const char *name, int *body);

#endif
