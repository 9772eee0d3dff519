/* pliant demo: a built-in scene with everything it can show so far: a time table, an .obj sequence
   and a dump. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "player.h"

#define DEFAULT_DEMO "creature-collapse"

static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return -1;
    fprintf(stderr, "pliant: %s: the directory cannot be made: %s\n", path, strerror(errno));
    return APP_FAILED;
}

static int play_demo(app_player *player, const char *name, const char *directory)
{
    char dump[4096], surfaces[4096];
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    int result = app_load_scene(&memory, name, &scene);
    if (result >= 0)
        return result;
    const char *slash = strrchr(name, '/'), *stem = slash ? slash + 1 : name;
    int length = (int)strcspn(stem, ".%");
    bool fits =
        snprintf(dump, sizeof dump, "%s/%.*s.jsonl", directory, length, stem) < (int)sizeof dump &&
        snprintf(surfaces, sizeof surfaces, "%s/%.*s_%%04d.obj", directory, length, stem) <
            (int)sizeof surfaces;
    result = fits ? make_directory(directory)
                  : app_usage_error("demo", "the name of the directory is too long");
    if (result < 0) {
        player->memory = &memory;
        player->scene = scene;
        player->title = scene->name ? scene->name : name;
        player->outputs = (app_list){1, {dump}};
        if (scene->run_count == 1)
            player->outputs.items[player->outputs.count++] = surfaces;
        result = app_play(player);
        if (result == APP_DONE && !player->quiet && !player->json) {
            printf("wrote %s%s%s\n", dump, scene->run_count == 1 ? " and " : "",
                   scene->run_count == 1 ? surfaces : "");
            result = app_finish(result);
        }
    }
    pl_scene_free(scene);
    return result;
}

static int demo(int argc, char **argv)
{
    app_player player = {.options = pl_default_play_options(), .frames = -1, .snapshot_at = -1};
    app_list words = {0};
    const char *directory = "out";
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &directory, 0, 0, "DIR", "where to write (default: out)"},
        {"frames", 'n', APP_INTEGER, &player.frames, 0, 1e7, "N", "how many frames to simulate"},
        {"threads", 't', APP_INTEGER, &player.options.threads, 1, 1024, "N",
         "threads (the result is the same)"},
        {"json", 0, APP_FLAG, &player.json, 0, 0, NULL, "print the summary as JSON"},
        {"quiet", 'q', APP_FLAG, &player.quiet, 0, 0, NULL, "no progress and no summary"},
        {"no-progress", 0, APP_FLAG, &player.no_progress, 0, 0, NULL, "no progress"},
        {0},
    };
    int result = app_parse(&app_demo_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (strchr(directory, '%'))
        return app_usage_error(
            "demo", "%s: a directory with a percent sign in its name cannot be used", directory);
    return play_demo(&player, words.count ? words.items[0] : DEFAULT_DEMO, directory);
}

const app_command app_demo_command = {
    .name = "demo",
    .usage = "[NAME] [OPTIONS]",
    .summary = "play a built-in scene: time table, .obj sequence, dump",
    .details =
        "Without a name it plays " DEFAULT_DEMO ": a creature all of whose particles were placed\n"
        "on one point finds its shape again. 'pliant scenes' lists the others.",
    .run = demo,
};
