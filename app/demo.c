/* pliant demo: a built-in scene to look at: a film where films can be made, an animated .glb, and
   the time table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "player.h"
#include "video.h"

#define DEFAULT_DEMO "dinosaur-collapse"

/* Small enough for a minute in all on two cores without a graphics card. */
#define FILM_SIZE "960x540"
enum { FILM_WIDTH = 960, FILM_HEIGHT = 540 };

static int make_directory(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) == 0)
        return -1;
    if (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return -1;
    fprintf(stderr, "pliant: %s: the directory cannot be made: %s\n", path, strerror(errno));
    return APP_FAILED;
}

/* Whether OpenGL and ffmpeg are there: tried before the scene is played, because a film that cannot
   be made is no reason to do without the rest. What is missing is said on the way. */
static bool can_film(pl_memory *memory, const app_look *look, const char *path)
{
    const app_film film = {.path = path, .width = FILM_WIDTH, .height = FILM_HEIGHT, .rate = 30};
    app_painter *painter = NULL;
    app_video *video = NULL;
    bool can = app_painter_open(memory, "demo", look, &painter) < 0 &&
               app_video_open(memory, &film, -1, &video) < 0;
    app_video_close(video, APP_VIDEO_DROP);
    app_painter_close(painter);
    if (!can)
        fprintf(stderr, "pliant: no film then; everything else is written\n");
    return can;
}

typedef struct demo_names {
    char film[4096], model[4096], lines[4096];
} demo_names;

static bool make_name(const char *scene, const char *directory, const char *ending, char name[4096])
{
    const char *slash = strrchr(scene, '/'), *stem = slash ? slash + 1 : scene;
    return snprintf(name, 4096, "%s/%.*s%s", directory, (int)strcspn(stem, ".%"), stem, ending) <
           4096;
}

static bool make_names(const char *scene, const char *directory, demo_names *names)
{
    return make_name(scene, directory, ".mp4", names->film) &&
           make_name(scene, directory, ".glb", names->model) &&
           make_name(scene, directory, ".jsonl", names->lines);
}

static void want(app_player *player, const char *name, const app_look *look)
{
    player->outputs[player->output_count++] = (app_output){.name = name, .look = *look};
}

/* Of several runs, which would be the one to look at? They get numbers. */
static void choose_outputs(app_player *player, const demo_names *names)
{
    const app_look look = {.size = FILM_SIZE};
    if (player->scene->run_count != 1) {
        want(player, names->lines, &look);
        return;
    }
    if (can_film(player->memory, &look, names->film))
        want(player, names->film, &look);
    want(player, names->model, &look);
}

static int play_demo(app_player *player, const char *name, const char *directory)
{
    demo_names names;
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    int result = app_load_scene(&memory, name, &scene);
    if (result >= 0)
        return result;
    result = make_names(name, directory, &names)
                 ? make_directory(directory)
                 : app_usage_error("demo", "the name of the directory is too long");
    if (result < 0) {
        player->memory = &memory;
        player->scene = scene;
        player->title = scene->name ? scene->name : name;
        choose_outputs(player, &names);
        result = app_play(player);
    }
    pl_scene_free(scene);
    return result;
}

static int list_scenes(bool json)
{
    char *words[] = {"scenes", json ? "--json" : NULL, NULL};
    return app_scenes_command.run(json ? 2 : 1, words);
}

static int demo(int argc, char **argv)
{
    app_player player = {
        .command = "demo", .options = pl_default_play_options(), .frames = -1, .snapshot_at = -1};
    app_list words = {0};
    const char *directory = "out";
    bool list = false;
    const app_option options[] = {
        {"list", 'l', APP_FLAG, &list, 0, 0, NULL, "list the built-in scenes, a line each"},
        {"out", 'o', APP_TEXT, &directory, 0, 0, "DIR", "where to write (default: out)"},
        {"frames", 'n', APP_INTEGER, &player.frames, 0, 1e7, "N",
         "how many frames to simulate (default: as the scene says)"},
        {"threads", 't', APP_INTEGER, &player.options.threads, 1, 1024, "N",
         "threads (default 1; the result is the same)"},
        {"json", 0, APP_FLAG, &player.json, 0, 0, NULL, "print the summary as JSON"},
        {"quiet", 'q', APP_FLAG, &player.quiet, 0, 0, NULL, "no progress and no summary"},
        {"no-progress", 0, APP_FLAG, &player.no_progress, 0, 0, NULL, "no progress"},
        {0},
    };
    int result = app_parse(&app_demo_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (list)
        return list_scenes(player.json);
    if (strchr(directory, '%'))
        return app_usage_error(
            "demo", "%s: a directory with a percent sign in its name cannot be used", directory);
    return play_demo(&player, words.count ? words.items[0] : DEFAULT_DEMO, directory);
}

const app_command app_demo_command = {
    .name = "demo",
    .usage = "[NAME] [OPTIONS]",
    .summary = "play a built-in scene: film, animated .glb, time table",
    .details =
        "Without a name it plays " DEFAULT_DEMO ": a dinosaur all of whose particles were placed\n"
        "on one point finds its shape again. --list lists the others. The film needs OpenGL\n"
        "and the program ffmpeg; without them it is left out. Scenes with several runs leave\n"
        "their numbers (.jsonl) instead.",
    .run = demo,
};
