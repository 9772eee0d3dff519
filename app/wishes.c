/* What a scene wants written, as outputs of a run. */
#include "wishes.h"

#include <stdio.h>
#include <string.h>

#include "io/scene_fields.h"

/* Texts live as long as the scene. */
static const char *keep(pl_scene *scene, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = pl_scene_alloc(scene, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static int fail(const pl_scene *scene, const pl_scene_output *wish, pl_status status,
                const char *text)
{
    pl_trouble trouble;
    pl_json_fail(scene->json, wish->file_node, &trouble, status, "%s", text);
    return app_fail(&trouble);
}

static int take(pl_scene *scene, const pl_scene_output *wish, const app_look *look, int every,
                app_output *output)
{
    char path[4096], size[32];
    if (pl_scene_path(scene, wish->file_node, wish->file, path, sizeof path) != PL_OK)
        return fail(scene, wish, PL_ERROR_FORMAT, "the name is too long");
    snprintf(size, sizeof size, "%dx%d", wish->size[0], wish->size[1]);
    *output = (app_output){.name = keep(scene, path),
                           .every = every > 1 || !wish->every ? every : wish->every,
                           .look = *look};
    if (wish->size[0] && !look->size)
        output->look.size = keep(scene, size);
    if (!look->show)
        output->look.show = wish->show;
    if (!look->camera && !look->view)
        output->look.camera = wish->camera;
    if (!output->name || (wish->size[0] && !output->look.size))
        return fail(scene, wish, PL_ERROR_MEMORY, "not enough memory");
    return -1;
}

pl_status app_check_wishes(const pl_scene *scene, pl_trouble *trouble)
{
    char text[512];
    for (int i = 0; i < scene->output_count; i++) {
        const pl_scene_output *wish = &scene->outputs[i];
        if (!app_sink_name_is_good(wish->file, text, sizeof text))
            return pl_json_fail(scene->json, wish->file_node, trouble, PL_ERROR_FORMAT, "%s", text);
        for (int j = 0; j < i; j++)
            if (strcmp(wish->file, scene->outputs[j].file) == 0)
                return pl_json_fail(scene->json, wish->file_node, trouble, PL_ERROR_FORMAT,
                                    "this output is there already: outputs[%d]", j);
    }
    return PL_OK;
}

int app_take_wishes(app_player *player, pl_scene *scene, const app_look *look, int every)
{
    int result = -1;
    pl_trouble trouble;
    if (app_check_wishes(scene, &trouble) != PL_OK)
        return app_fail(&trouble);
    if (scene->output_count > APP_OUTPUT_MAX)
        return app_usage_error(player->command, "the scene asks for %d outputs; the most is %d",
                               scene->output_count, APP_OUTPUT_MAX);
    for (int i = 0; i < scene->output_count && result < 0; i++)
        result =
            take(scene, &scene->outputs[i], look, every, &player->outputs[player->output_count++]);
    return result;
}
