/* pliant check: whether scenes are good, without running them. */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "wishes.h"

typedef struct verdict {
    const char *name;
    pl_trouble trouble; /* status PL_OK = the scene is good */
    int bodies, particles, models, colliders, pins, attachments, events, frames, runs;
} verdict;

/* Every run is built: its settings may be what is wrong. */
static pl_status build(const pl_scene *scene, verdict *v)
{
    pl_play_options options = pl_default_play_options();
    for (int run = 0; run < scene->run_count; run++) {
        pl_play *play;
        PL_TRY(pl_play_create(scene, run, &options, &play, &v->trouble));
        for (int i = 0; i < play->body_count && run == 0; i++)
            v->particles += play->bodies[i].info.particle_count;
        pl_play_destroy(play);
    }
    return PL_OK;
}

static void check_one(const char *name, const app_list *sets, bool fast, verdict *v)
{
    pl_memory memory;
    pl_scene *scene;
    *v = (verdict){.name = name};
    pl_memory_init(&memory, NULL, 0);
    if (app_read_scene(&memory, name, sets, &scene, &v->trouble) != PL_OK)
        return;
    v->trouble.status = app_check_wishes(scene, &v->trouble);
    if (v->trouble.status == PL_OK && !fast)
        v->trouble.status = build(scene, v);
    v->bodies = scene->body_count;
    v->models = scene->model_count;
    v->colliders = scene->collider_count;
    v->pins = scene->pin_count + scene->drive_count;
    v->attachments = scene->attachment_count;
    v->events = scene->event_count;
    v->frames = scene->world.frames;
    v->runs = scene->run_count;
    pl_scene_free(scene);
}

static void print_count(int count, const char *one, const char *many)
{
    if (count > 0)
        printf(", %d %s", count, count == 1 ? one : many);
}

static void print_text(const verdict *v)
{
    if (v->trouble.status != PL_OK) {
        app_fail(&v->trouble);
        return;
    }
    printf("%s: ok: %d bod%s", v->name, v->bodies, v->bodies == 1 ? "y" : "ies");
    print_count(v->particles, "particle", "particles");
    print_count(v->models, "model", "models");
    print_count(v->colliders, "collider", "colliders");
    print_count(v->pins, "pin", "pins");
    print_count(v->attachments, "attachment", "attachments");
    print_count(v->events, "event", "events");
    print_count(v->frames, "frame", "frames");
    print_count(v->runs > 1 ? v->runs : 0, "run", "runs");
    putchar('\n');
}

static void print_json(const verdict *v, bool first)
{
    bool good = v->trouble.status == PL_OK;
    printf("%s{\"name\":", first ? "[" : ",\n");
    app_print_json_string(v->name);
    printf(",\"ok\":%s", good ? "true" : "false");
    if (good) {
        printf(",\"bodies\":%d,\"particles\":%d,\"models\":%d,\"colliders\":%d,\"pins\":%d,"
               "\"attachments\":%d,\"events\":%d,\"frames\":%d,\"runs\":%d}",
               v->bodies, v->particles, v->models, v->colliders, v->pins, v->attachments, v->events,
               v->frames, v->runs);
        return;
    }
    printf(",\"file\":");
    app_print_json_string(v->trouble.file);
    printf(",\"line\":%d,\"column\":%d,\"path\":", v->trouble.line, v->trouble.column);
    app_print_json_string(v->trouble.path);
    printf(",\"message\":");
    app_print_json_string(v->trouble.text);
    putchar('}');
}

static int check(int argc, char **argv)
{
    bool json = false, fast = false, quiet = false;
    app_list words = {0}, sets = {0};
    const app_option options[] = {
        APP_SET_OPTION(sets),
        {"fast", 0, APP_FLAG, &fast, 0, 0, NULL, "only read; build no models and no world"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "print what was found as JSON"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "say nothing about good scenes"},
        {0}};
    int result = app_parse(&app_check_command, options, argc, argv, &words, APP_LIST_MAX);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("check", "which scene? Name files or built-in scenes");
    app_nothing_to_finish(true); /* nothing is written */
    result = APP_DONE;
    for (int i = 0; i < words.count; i++) {
        verdict v;
        check_one(words.items[i], &sets, fast, &v);
        if (json)
            print_json(&v, i == 0);
        else if (!quiet || v.trouble.status != PL_OK)
            print_text(&v);
        if (v.trouble.status == PL_ERROR_MEMORY && result == APP_DONE)
            result = APP_FAILED;
        else if (v.trouble.status != PL_OK && v.trouble.status != PL_ERROR_MEMORY)
            result = APP_BAD_INPUT;
        if (!app_stdout_is_good())
            break;
    }
    if (json)
        printf("]\n");
    return app_finish(result);
}

const app_command app_check_command = {
    .name = "check",
    .usage = "SCENE... [OPTIONS]",
    .summary = "say whether scenes are good, without running them",
    .details =
        "Reads each scene with everything it includes, loads its files, makes its models and "
        "builds its\nworld. One line for each: what is in it, or what is wrong and where. "
        "The exit status is 2 if any\nis bad.",
    .run = check,
};
