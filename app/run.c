/* pliant run: a scene without a window. */
#include <string.h>

#include "io/suggest.h"
#include "player.h"

static int find_solver(const char *name, int *solver)
{
    static const char *const names[] = {"fast", "stiff", "plain"};
    const char *best = NULL;
    if (!name)
        return -1;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *solver = i;
            return -1;
        }
        pl_suggest(name, names[i], &best);
    }
    return app_usage_error(
        "run",
        best ? "--solver must be fast, stiff or plain, not \"%s\"; did you mean \"%s\"?"
             : "--solver must be fast, stiff or plain, not \"%s\"",
        name, best);
}

static int play_file(app_player *player, const char *name)
{
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    int result = app_load_scene(&memory, name, &scene);
    if (result >= 0)
        return result;
    player->memory = &memory;
    player->scene = scene;
    player->title = scene->name ? scene->name : name;
    result = app_play(player);
    pl_scene_free(scene);
    return result;
}

static int run(int argc, char **argv)
{
    app_player player = {.options = pl_default_play_options(), .frames = -1, .snapshot_at = -1};
    app_list words = {0};
    const char *solver = NULL, *dump = NULL;
    const app_option options[] = {
        {"out", 'o', APP_LIST, &player.outputs, 0, 0, "OUT",
         "state.jsonl, frame_%04d.obj or .png, last.obj or .png, film.mp4 or .gif; repeatable"},
        {"dump", 0, APP_TEXT, &dump, 0, 0, "FILE.jsonl", "the complete state, one line per frame"},
        {"frames", 'n', APP_INTEGER, &player.frames, 0, 1e7, "N", "how many frames to simulate"},
        {"step", 0, APP_NUMBER, &player.options.step, 0, 10, "S", "seconds per frame"},
        {"substeps", 0, APP_INTEGER, &player.options.substeps, 1, 1e4, "N", "sub-steps per frame"},
        {"iterations", 0, APP_INTEGER, &player.options.iterations, 1, 1e6, "N",
         "iterations per sub-step, solvers fast and plain"},
        {"stiff-iterations", 0, APP_INTEGER, &player.options.stiff_iterations, 1, 1e6, "N",
         "iterations per sub-step, solver stiff"},
        {"solver", 0, APP_TEXT, &solver, 0, 0, "NAME", "fast, stiff or plain, for all bodies"},
        {"threads", 't', APP_INTEGER, &player.options.threads, 1, 1024, "N",
         "threads (the result is the same)"},
        {"run", 0, APP_TEXT, &player.run, 0, 0, "NAME", "only this one of the scene's runs"},
        APP_LOOK_OPTIONS(player.look),
        {"hash", 0, APP_FLAG, &player.hash, 0, 0, NULL,
         "print frame number and state hash of every frame"},
        {"snapshot-at", 0, APP_INTEGER, &player.snapshot_at, 0, 1e7, "N",
         "at frame N save, restore into a new world, go on"},
        {"json", 0, APP_FLAG, &player.json, 0, 0, NULL, "print the summary as JSON"},
        {"quiet", 'q', APP_FLAG, &player.quiet, 0, 0, NULL, "no progress and no summary"},
        {"no-progress", 0, APP_FLAG, &player.no_progress, 0, 0, NULL, "no progress"},
        {0},
    };
    int result = app_parse(&app_run_command, options, argc, argv, &words, 1);
    if (result < 0)
        result = find_solver(solver, &player.options.solver);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("run", "which scene? Name a file or a built-in scene");
    if (dump) {
        size_t length = strlen(dump);
        bool lines = (length > 6 && strcmp(dump + length - 6, ".jsonl") == 0) ||
                     strncmp(dump, "/dev/", 5) == 0;
        if (!lines || player.outputs.count == APP_LIST_MAX)
            return app_usage_error(
                "run", lines ? "too many outputs" : "--dump writes a .jsonl file, not \"%s\"",
                dump);
        player.outputs.items[player.outputs.count++] = dump;
    }
    return play_file(&player, words.items[0]);
}

const app_command app_run_command = {
    .name = "run",
    .usage = "SCENE [-o OUT]... [OPTIONS]",
    .summary = "simulate a scene and write what came out",
    .details = "SCENE is a file, '-' for standard input, or the name of a built-in scene ('pliant "
               "scenes').\n"
               "Frame 0 is the start state. Outputs appear whole or not at all. Ctrl-C finishes "
               "the frame,\n"
               "publishes what there is and exits with status 130.",
    .run = run,
};
