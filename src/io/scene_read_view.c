/* What is seen of a scene and what is written about it: cameras, lights, outputs. */
#include <math.h>
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

/* ---- Cameras --------------------------------------------------------------------------------- */

static pl_status read_target(pl_scene_reader *reader, pl_scene_camera *camera)
{
    pl_json_kind kind = pl_json_kind_of(reader->json, camera->target_node);
    if (kind == PL_JSON_ARRAY) {
        camera->has_target = true;
        return pl_read_vector(reader, camera->target_node, camera->target);
    }
    if (kind != PL_JSON_OBJECT)
        return PL_SCENE_FAIL(reader, camera->target_node,
                             "must be a point [x, y, z] or {\"body\": NAME}, not %s",
                             pl_json_kind_name(kind));
    pl_raw_aim raw = {0};
    PL_TRY(pl_read_object(reader, camera->target_node, &pl_object_aim, &raw));
    return pl_find_body(reader, camera->target_node, raw.body_name, &camera->body);
}

static pl_status read_path(pl_scene_reader *reader, pl_scene_camera *camera)
{
    PL_TRY(pl_read_ease(reader, &camera->place, camera->ease, &camera->motion.smooth));
    camera->motion.relative = camera->target_motion.relative = camera->relative;
    camera->target_motion.smooth = camera->motion.smooth;
    if (camera->keys_node)
        PL_TRY(pl_read_position_keys(reader, camera->keys_node, &camera->motion));
    if (camera->turn_node)
        PL_TRY(pl_read_turns(reader, camera->turn_node, &camera->motion));
    return camera->target_keys_node
               ? pl_read_position_keys(reader, camera->target_keys_node, &camera->target_motion)
               : PL_OK;
}

static pl_status check_camera(pl_scene_reader *reader, const pl_scene_camera *camera)
{
    const pl_json *json = reader->json;
    uint32_t node = camera->place.node;
    bool position = pl_was_given(&pl_object_camera, &camera->place, "position");
    if (!position && camera->turn_node && !camera->keys_node)
        return PL_SCENE_FAIL(reader, camera->turn_node,
                             "turns a place: give \"position\" or \"keys\" too");
    if (camera->relative && !position)
        return PL_SCENE_FAIL(reader, pl_json_member(json, node, "relative"),
                             "needs \"position\", which the keys are offsets from");
    if (camera->target_keys_node && camera->body >= 0)
        return PL_SCENE_FAIL(reader, camera->target_keys_node,
                             "and a body as \"target\" exclude each other; keep one of them");
    if (camera->relative && camera->target_keys_node && !camera->has_target)
        return PL_SCENE_FAIL(reader, camera->target_keys_node,
                             "are offsets with \"relative\": give the \"target\" they start from");
    if ((camera->has_target || camera->target_keys_node) && !camera->has_position)
        return PL_SCENE_FAIL(reader, node,
                             "give \"position\" too: without it the framing is automatic, and "
                             "only a body can be its \"target\"");
    return PL_OK;
}

pl_status pl_read_camera(pl_scene_reader *reader, uint32_t node, pl_scene_camera *camera)
{
    static const char *const words[] = {"auto"};
    camera->body = -1;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_STRING) {
        int word;
        PL_TRY(pl_read_word(reader, node, words, 1, &word));
        camera->place.node = node;
        camera->name = words[0];
        return PL_OK;
    }
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "a camera {…} or \"auto\""));
    PL_TRY(pl_read_object(reader, node, &pl_object_camera, camera));
    camera->has_position =
        pl_was_given(&pl_object_camera, &camera->place, "position") || camera->keys_node;
    if (camera->name && strcmp(camera->name, words[0]) == 0)
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "name"),
                             "\"auto\" is the automatic camera; choose another name");
    if (camera->target_node)
        PL_TRY(read_target(reader, camera));
    PL_TRY(check_camera(reader, camera));
    camera->has_target = camera->has_target || camera->target_keys_node;
    return read_path(reader, camera);
}

/* Names are what --camera and outputs choose by. */
pl_status pl_check_camera_names(pl_scene_reader *reader)
{
    const pl_scene *scene = reader->scene;
    PL_TRY(PL_NAMES_MAKE(reader, scene->cameras, scene->camera_count, name, &reader->cameras));
    for (int i = 0; i < scene->camera_count; i++) {
        const pl_scene_camera *camera = &scene->cameras[i];
        int first = camera->name ? pl_names_first(&reader->cameras, camera->name) : i;
        uint32_t name = pl_json_member(reader->json, camera->place.node, "name");
        if (first != i)
            return PL_SCENE_FAIL(reader, name ? name : camera->place.node,
                                 "cameras[%d] has this name already; give each camera its own",
                                 first);
    }
    return PL_OK;
}

void pl_scene_camera_at(const pl_scene_camera *camera, double time, double position[3],
                        double target[3])
{
    pl_motion_position(&camera->motion, time, camera->position, position);
    if (camera->has_target)
        pl_motion_position(&camera->target_motion, time, camera->target, target);
}

/* ---- Lights ---------------------------------------------------------------------------------- */

pl_status pl_read_light(pl_scene_reader *reader, uint32_t node, pl_scene_light *light)
{
    static const pl_field part = {.low = 0, .high = 1};
    light->strength = 1;
    light->shadows = true;
    light->colour[0] = light->colour[1] = light->colour[2] = 1;
    PL_TRY(pl_read_object(reader, node, &pl_object_light, light));
    if (light - reader->scene->lights >= PL_SCENE_LIGHTS)
        return PL_SCENE_FAIL(reader, node, "is one light too many: there can be %d",
                             PL_SCENE_LIGHTS);
    PL_TRY(pl_read_unit_vector(reader, light->direction_node, light->direction));
    if (!light->colour_node)
        return PL_OK;
    PL_TRY(pl_expect(reader, light->colour_node, PL_JSON_ARRAY,
                     "three numbers [red, green, blue] from 0 to 1"));
    PL_TRY(pl_read_vector(reader, light->colour_node, light->colour));
    for (uint32_t k = 0; k < 3; k++)
        PL_TRY(pl_read_number(reader, light->colour_node + 1 + k, &part, &light->colour[k]));
    return PL_OK;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static pl_status read_size(pl_scene_reader *reader, uint32_t node, int size[2])
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "two numbers of pixels [width, height]"));
    if (pl_node_count(reader, node) != 2)
        return PL_SCENE_FAIL(reader, node, "must be two numbers of pixels [width, height], not %u",
                             (unsigned)pl_node_count(reader, node));
    for (uint32_t k = 0; k < 2; k++)
        PL_TRY(pl_read_integer(reader, node + 1 + k, 2, 16384, &size[k]));
    return PL_OK;
}

static pl_status check_output_camera(pl_scene_reader *reader, const pl_scene_output *output)
{
    const char *best = NULL;
    if (strcmp(output->camera, "auto") == 0 ||
        pl_names_first(&reader->cameras, output->camera) >= 0)
        return PL_OK;
    pl_names_suggest(&reader->cameras, output->camera, &best);
    char hint[96], shown[64];
    pl_copy_text(shown, sizeof shown, output->camera, strlen(output->camera));
    return PL_SCENE_FAIL(reader, output->camera_node, "there is no camera \"%s\"%s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint)
                              : "; define it under \"cameras\"");
}

pl_status pl_read_output(pl_scene_reader *reader, uint32_t node, pl_scene_output *output)
{
    pl_json_kind kind = pl_json_kind_of(reader->json, node);
    if (kind == PL_JSON_STRING) {
        output->place.node = output->file_node = node;
    } else if (kind == PL_JSON_OBJECT) {
        PL_TRY(pl_read_object(reader, node, &pl_object_output, output));
    } else {
        return PL_SCENE_FAIL(reader, node, "must be the name of a file or {\"file\": NAME}, not %s",
                             pl_json_kind_name(kind));
    }
    PL_TRY(pl_read_name(reader, output->file_node, &output->file));
    if (output->size_node)
        PL_TRY(read_size(reader, output->size_node, output->size));
    if (output->show_node)
        PL_TRY(pl_read_name(reader, output->show_node, &output->show));
    if (!output->camera_node)
        return PL_OK;
    PL_TRY(pl_read_name(reader, output->camera_node, &output->camera));
    return check_output_camera(reader, output);
}
