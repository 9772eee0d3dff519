/* Playing a scene from beginning to end with outputs, progress and a closing table: what `run` and
   `demo` share. */
#ifndef PL_APP_PLAYER_H
#define PL_APP_PLAYER_H

#include "app.h"
#include "sink.h"

typedef struct app_player {
    pl_memory *memory;
    const pl_scene *scene;
    const char *title;
    pl_play_options options;
    int frames;          /* -1 = as the scene says */
    const char *run;     /* NULL = all runs */
    const char *command; /* named in messages: "run" */
    app_output outputs[APP_OUTPUT_MAX];
    int output_count;
    int snapshot_at; /* save there, build anew, restore, go on; -1 = never */
    int checkpoint;  /* every so many frames; 0 = never, -1 = now and then */
    bool resume;     /* go on from the last one */
    bool hash, quiet, json, no_progress;
} app_player;

/* Returns the exit status. */
int app_play(app_player *player);

/* Sums over a run. */
typedef struct app_totals {
    uint64_t frames;
    double wall_ms; /* of the steps */
    pl_report sum;  /* counts of the last step, times and events summed */
} app_totals;

void app_totals_add(app_totals *totals, const pl_report *report);
void app_print_totals(const app_totals *totals, const pl_play *play, const char *title);
void app_print_totals_json(const app_totals *totals);

#endif
