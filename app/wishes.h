/* What a scene wants written, as outputs of a run. */
#ifndef PL_APP_WISHES_H
#define PL_APP_WISHES_H

#include "player.h"

/* Whether the names of the scene's outputs are good; `trouble` says where one is not. */
pl_status app_check_wishes(const pl_scene *scene, pl_trouble *trouble);

/* Adds the scene's outputs to the player's. `look` and `every` are of the command line and count
   more than what the scene says, where they are given (`every` 1 = is not). Returns -1, or the exit
   status after a message. */
int app_take_wishes(app_player *player, pl_scene *scene, const app_look *look, int every);

#endif
