/* pliant run: a scene without a window. */
#include <stdio.h>
#include <string.h>

#include "io/suggest.h"
#include "player.h"
#include "wishes.h"

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

/* No mistake, for somebody may have the same options in all calls; but a newcomer waits for a
   picture. */
static void note_unused_look(const app_player *player, const app_look *look)
{
    const char *option = look->size           ? "size"
                         : look->view         ? "view"
                         : look->camera       ? "camera"
                         : look->show         ? "show"
                         : look->stress_scale ? "stress-scale"
                                              : NULL;
    bool unused = option && !player->quiet;
    for (int i = 0; i < player->output_count; i++)
        unused = unused && !app_is_picture(player->outputs[i].name);
    if (unused)
        fprintf(stderr, "pliant: --%s is for pictures, and no output is one (-o name.png)\n",
                option);
}

static int play_file(app_player *player, const char *name, const app_list *sets,
                     const app_look *look, int every)
{
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    int result = app_load_changed_scene(&memory, name, sets, &scene);
    if (result >= 0)
        return result;
    player->memory = &memory;
    player->scene = scene;
    player->title = scene->name ? scene->name : name;
    if (player->output_count == 0)
        result = app_take_wishes(player, scene, look, every);
    note_unused_look(player, look);
    if (result < 0)
        result = app_play(player);
    pl_scene_free(scene);
    return result;
}

static const char *make_details(char *text, size_t size)
{
    char kinds[2048];
    app_sinks_help(kinds, sizeof kinds);
    snprintf(
        text, size,
        "SCENE is a file, '-' for standard input, or the name of a built-in scene ('pliant "
        "scenes').\n"
        "Frame 0 is the start state. Outputs appear whole or not at all; without -o those that "
        "the\n"
        "scene names. Ctrl-C finishes the frame, publishes what there is and exits with status "
        "130;\n"
        "a killed run can be resumed.\n\n"
        "Outputs:\n%s\n"
        "frame_%%04d.png writes a file per frame, last.png the last one; so do meshes.",
        kinds);
    return text;
}

static int run(int argc, char **argv)
{
    app_player player = {.command = "run",
                         .options = pl_default_play_options(),
                         .frames = -1,
                         .snapshot_at = -1,
                         .checkpoint = -1};
    app_list words = {0}, outputs = {0}, sets = {0};
    app_look look = {0};
    const char *solver = NULL, *dump = NULL;
    int every = 1;
    char details[4096];
    app_command command = app_run_command;
    command.details = make_details(details, sizeof details);
    const app_option options[] = {
        {"out", 'o', APP_LIST, &outputs, 0, 0, "OUT", "what to write, by its ending; repeatable"},
        {"every", 0, APP_INTEGER, &every, 1, 1e6, "N", "write every Nth frame only"},
        {"dump", 0, APP_TEXT, &dump, 0, 0, "FILE.jsonl", "the complete state, one line per frame"},
        APP_SET_OPTION(sets),
        {"frames", 'n', APP_INTEGER, &player.frames, 0, 1e7, "N",
         "how many frames to simulate (default: as the scene says)"},
        {"step", 0, APP_NUMBER, &player.options.step, 0, 10, "S", "seconds per frame"},
        {"substeps", 0, APP_INTEGER, &player.options.substeps, 1, 1e4, "N", "sub-steps per frame"},
        {"iterations", 0, APP_INTEGER, &player.options.iterations, 1, 1e6, "N",
         "iterations per sub-step, solvers fast and plain"},
        {"stiff-iterations", 0, APP_INTEGER, &player.options.stiff_iterations, 1, 1e6, "N",
         "iterations per sub-step, solver stiff"},
        {"solver", 0, APP_TEXT, &solver, 0, 0, "NAME", "fast, stiff or plain, for all bodies"},
        {"threads", 't', APP_INTEGER, &player.options.threads, 1, 1024, "N",
         "threads (default 1; the result is the same)"},
        {"run", 0, APP_TEXT, &player.run, 0, 0, "NAME", "only this one of the scene's runs"},
        APP_LOOK_OPTIONS(look),
        {"hash", 0, APP_FLAG, &player.hash, 0, 0, NULL,
         "print frame number and state hash of every frame"},
        {"snapshot-at", 0, APP_INTEGER, &player.snapshot_at, 0, 1e7, "N",
         "at frame N save, restore into a new world, go on"},
        {"resume", 0, APP_FLAG, &player.resume, 0, 0, NULL,
         "go on from the last checkpoint of the same run, killed before its end"},
        {"checkpoint", 0, APP_INTEGER, &player.checkpoint, 0, 1e7, "N",
         "make one every N frames; 0 = never (default: every 30 s)"},
        {"json", 0, APP_FLAG, &player.json, 0, 0, NULL, "print the summary as JSON"},
        {"quiet", 'q', APP_FLAG, &player.quiet, 0, 0, NULL, "no progress and no summary"},
        {"no-progress", 0, APP_FLAG, &player.no_progress, 0, 0, NULL, "no progress"},
        {0},
    };
    int result = app_parse(&command, options, argc, argv, &words, 1);
    if (result < 0)
        result = find_solver(solver, &player.options.solver);
    if (result >= 0)
        return result;
    result = app_check_look("run", &look);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("run", "which scene? Name a file or a built-in scene");
    if (dump) {
        size_t length = strlen(dump);
        bool lines = (length > 6 && strcmp(dump + length - 6, ".jsonl") == 0) ||
                     strncmp(dump, "/dev/", 5) == 0;
        if (!lines || outputs.count == APP_LIST_MAX)
            return app_usage_error(
                "run", lines ? "too many outputs" : "--dump writes a .jsonl file, not \"%s\"",
                dump);
        outputs.items[outputs.count++] = dump;
    }
    for (int i = 0; i < outputs.count; i++)
        player.outputs[player.output_count++] =
            (app_output){.name = outputs.items[i], .every = every, .look = look};
    return play_file(&player, words.items[0], &sets, &look, every);
}

const app_command app_run_command = {
    .name = "run",
    .usage = "SCENE [-o OUT]... [OPTIONS]",
    .summary = "simulate a scene and write what came out",
    .run = run,
};
