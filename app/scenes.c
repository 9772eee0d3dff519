/* pliant scenes: what is built in. */
#include <stdio.h>

#include "app.h"

static const char *about(pl_scene *scene)
{
    return scene && scene->about ? scene->about : "";
}

static int scenes(int argc, char **argv)
{
    bool json = false;
    app_list words = {0};
    const app_option options[] = {
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "print the list as JSON"}, {0}};
    int result = app_parse(&app_scenes_command, options, argc, argv, &words, 0);
    if (result >= 0)
        return result;
    for (int i = 0; i < app_builtin_count; i++) {
        pl_memory memory;
        pl_scene *scene = NULL;
        pl_trouble trouble;
        const app_builtin *builtin = &app_builtins[i];
        pl_memory_init(&memory, NULL, 0);
        if (pl_scene_read(&memory, builtin->name, builtin->text, builtin->size, &scene, &trouble) !=
            PL_OK)
            return app_fail(&trouble);
        if (json) {
            printf("%s{\"name\":", i ? "," : "[");
            app_print_json_string(builtin->name);
            printf(",\"about\":");
            app_print_json_string(about(scene));
            printf("}");
        } else {
            printf("%-20s %s\n", builtin->name, about(scene));
        }
        pl_scene_free(scene);
    }
    if (json)
        printf("%s]\n", app_builtin_count ? "" : "[");
    return app_finish(APP_DONE);
}

const app_command app_scenes_command = {
    .name = "scenes",
    .usage = "[OPTIONS]",
    .summary = "list the built-in scenes",
    .run = scenes,
};
