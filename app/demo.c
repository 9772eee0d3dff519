/* pliant demo: a built-in scene with everything it can show so far: a film where films can be made, a
   time table, an .obj sequence and a dump. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "player.h"
#include "video.h"

#define DEFAULT_DEMO "dinosaur-collapse"

/* Small enough for a minute in all on two cores without a graphics card. */
#define FILM_SIZE "640x360"
enum { FILM_WIDTH = 640, FILM_HEIGHT = 360 };

static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return -1;
    fprintf(stderr, "pliant: %s: the directory cannot be made: %s\n", path, strerror(errno));
    return APP_FAILED;
}

/* Whether OpenGL and ffmpeg are there: tried before the scene is played, because a film that cannot be made is no reason
   to do without the rest. What is missing is said on the way. */
static bool can_film(pl_memory *memory, const app_look *look, const char *film)
{
    app_painter *painter = NULL;
    app_video *video = NULL;
    bool can = app_painter_open(memory, "demo", look, &painter) < 0 &&
               app_video_open(memory, film, FILM_WIDTH, FILM_HEIGHT, 30, false, &video) < 0;
    app_video_close(video, false);
    app_painter_close(painter);
    if (!can)
        fprintf(stderr, "pliant: no film then; everything else is written\n");
    return can;
}

typedef struct demo_names {
    char dump[4096], surfaces[4096], film[4096];
} demo_names;

static bool make_names(const char *scene, const char *directory, demo_names *names)
{
    const char *slash = strrchr(scene, '/'), *stem = slash ? slash + 1 : scene;
    int length = (int)strcspn(stem, ".%"), size = (int)sizeof names->dump;
    return snprintf(names->dump, sizeof names->dump, "%s/%.*s.jsonl", directory, length, stem) <
               size &&
           snprintf(names->surfaces, sizeof names->surfaces, "%s/%.*s_%%04d.obj", directory, length,
                    stem) < size &&
           snprintf(names->film, sizeof names->film, "%s/%.*s.mp4", directory, length, stem) < size;
}

static void choose_outputs(app_player *player, const demo_names *names)
{
    app_list *outputs = &player->outputs;
    *outputs = (app_list){1, {names->dump}};
    if (player->scene->run_count != 1) /* which of them? */
        return;
    outputs->items[outputs->count++] = names->surfaces;
    player->look.size = FILM_SIZE;
    if (can_film(player->memory, &player->look, names->film))
        outputs->items[outputs->count++] = names->film;
}

static void print_outputs(const app_list *outputs)
{
    printf("wrote");
    for (int i = 0; i < outputs->count; i++)
        printf("%s %s", !i ? "" : i + 1 < outputs->count ? "," : " and", outputs->items[i]);
    printf("\n");
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
        if (result == APP_DONE && !player->quiet && !player->json) {
            print_outputs(&player->outputs);
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
    .summary = "play a built-in scene: film, time table, .obj sequence, dump",
    .details =
        "Without a name it plays " DEFAULT_DEMO ": a dinosaur all of whose particles were placed\n"
        "on one point finds its shape again. 'pliant scenes' lists the others. The film needs\n"
        "OpenGL and the program ffmpeg; without them it is left out.",
    .run = demo,
};
