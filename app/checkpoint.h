/* Checkpoints: the state of a long run, put down now and then beside its first output, so that
   --resume can go on when the process was killed. The file appears whole or not at all and goes
   when the run ends. It knows which program, scene, options and outputs it belongs to. */
#ifndef PL_APP_CHECKPOINT_H
#define PL_APP_CHECKPOINT_H

#include <limits.h>

#include "player.h"

enum { APP_KEYS = 4 };

typedef struct app_checkpoint {
    char path[PATH_MAX];
    uint64_t keys[APP_KEYS]; /* of program, scene, options and outputs */
} app_checkpoint;

/* The checkpoint of a run; `only` is the run chosen, -1 = all. */
int app_checkpoint_init(app_checkpoint *checkpoint, const app_player *player, int only);

/* Returns -1, or the exit status after a message. */
int app_checkpoint_write(const app_checkpoint *checkpoint, const app_bytes *bytes);

/* *found false: there is none. One of another scene, of other options or outputs is refused. */
int app_checkpoint_read(const app_checkpoint *checkpoint, app_bytes *bytes, bool *found);

void app_checkpoint_remove(const app_checkpoint *checkpoint);

/* The world and where it is in its scene. */
int app_put_play(app_bytes *bytes, const pl_play *play);
int app_get_play(app_bytes *bytes, pl_play *play);

#endif
