/* From a document to a scene: world, materials, runs, and the order in which everything is read, so
   that names are known before they are used. */
#include <stdio.h>
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

static const char *const solver_words[] = {"fast", "stiff", "plain"};

/* ---- World ----------------------------------------------------------------------------------- */

static void default_world(pl_scene_world *world)
{
    pl_world_def def = pl_default_world_def();
    *world = (pl_scene_world){.step = 1.0 / 30,
                              .substeps = def.substeps,
                              .iterations = def.iterations,
                              .stiff_iterations = def.stiff_iterations,
                              .solver = PL_SOLVER_FAST,
                              .sleeping = def.sleeping,
                              .stiff_contact = def.stiff_contact,
                              .frames = 120};
    memcpy(world->gravity, def.gravity, sizeof def.gravity);
}

pl_status pl_read_solver(pl_scene_reader *reader, uint32_t node, pl_solver *solver)
{
    int word;
    PL_TRY(pl_read_word(reader, node, solver_words, 3, &word));
    *solver = (pl_solver)word;
    return PL_OK;
}

/* What is not given stays as it is in *world: the defaults, or the scene's own settings in a
   run. */
static pl_status read_world(pl_scene_reader *reader, uint32_t node, pl_scene_world *world)
{
    world->solver_node = 0;
    PL_TRY(pl_read_object(reader, node, &pl_object_world, world));
    return world->solver_node ? pl_read_solver(reader, world->solver_node, &world->solver) : PL_OK;
}

/* ---- Materials ------------------------------------------------------------------------------- */

/* A name that is neither the scene's nor built in. */
static pl_status fail_material(pl_scene_reader *reader, uint32_t node, const char *name, bool own)
{
    const char *best = NULL;
    char list[160] = "", hint[96], shown[64];
    if (own)
        pl_names_suggest(&reader->materials, name, &best);
    for (int i = 0; i < pl_material_count(); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", pl_material_name(i));
        pl_suggest(name, pl_material_name(i), &best);
    }
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no material \"%s\"%s built in are %s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint) : ";", list);
}

/* Values that were given in an object that has the keys of a material. */
static pl_status take_given(pl_scene_reader *reader, const pl_scene_object *object,
                            const pl_scene_place *place, const pl_material *given,
                            pl_material *value)
{
    bool young = pl_was_given(object, place, "young");
    bool stiffness = pl_was_given(object, place, "stiffness");
    if (young && stiffness)
        return PL_SCENE_FAIL(
            reader, place->node,
            "give either \"young\" (Young's modulus) or \"stiffness\" (the raw k)");
    if (young) {
        value->young = given->young;
        value->stiffness = 0;
    }
    if (stiffness)
        value->stiffness = given->stiffness;
    if (pl_was_given(object, place, "density"))
        value->density = given->density;
    if (pl_was_given(object, place, "damping"))
        value->damping = given->damping;
    if (pl_was_given(object, place, "friction"))
        value->friction = given->friction;
    if (pl_was_given(object, place, "restitution"))
        value->restitution = given->restitution;
    return PL_OK;
}

pl_status pl_take_own_material(pl_scene_reader *reader, const pl_scene_body *body,
                               pl_material *material)
{
    return take_given(reader, &pl_object_body, &body->place, &body->own, material);
}

static pl_status read_material(pl_scene_reader *reader, uint32_t node, const char *name,
                               pl_scene_material *material)
{
    PL_TRY(pl_read_object(reader, node, &pl_object_material, material));
    material->name = name;
    material->value = pl_default_material();
    if (material->like && !pl_find_material(material->like, &material->value))
        return fail_material(reader, pl_json_member(reader->json, node, "like"), material->like,
                             false);
    const pl_material given = {.young = material->young,
                               .stiffness = material->stiffness,
                               .density = material->density,
                               .damping = material->damping,
                               .friction = material->friction,
                               .restitution = material->restitution};
    return take_given(reader, &pl_object_material, &material->place, &given, &material->value);
}

pl_status pl_read_body_material(pl_scene_reader *reader, uint32_t node, pl_material *material,
                                uint32_t *place)
{
    const pl_scene *scene = reader->scene;
    *material = pl_default_material();
    *place = node;
    if (!node)
        return PL_OK;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_OBJECT) {
        pl_scene_material own = {0};
        PL_TRY(read_material(reader, node, NULL, &own));
        *material = own.value;
        return PL_OK;
    }
    PL_TRY(pl_expect(reader, node, PL_JSON_STRING, "the name of a material, or an object"));
    const char *name = pl_json_string(reader->json, node);
    int own = pl_names_first(&reader->materials, name);
    if (own >= 0) {
        *material = scene->materials[own].value;
        *place = scene->materials[own].place.node;
        return PL_OK;
    }
    return pl_find_material(name, material) ? PL_OK : fail_material(reader, node, name, true);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Members of an object of named things, or elements of an array: makes room and calls for each. */
typedef pl_status read_item(pl_scene_reader *reader, uint32_t node, const char *name, int index);

static pl_status check_list(pl_scene_reader *reader, uint32_t node, bool named, size_t *count)
{
    *count = 0;
    if (!node)
        return PL_OK;
    PL_TRY(pl_expect(reader, node, named ? PL_JSON_OBJECT : PL_JSON_ARRAY,
                     named ? "an object with one member per name" : "an array"));
    *count = pl_node_count(reader, node);
    return PL_OK;
}

/* *count grows along, so that what is read can already see what came before it. */
static pl_status fill_list(pl_scene_reader *reader, uint32_t node, bool named, size_t n, int *count,
                           read_item *read)
{
    const pl_json *json = reader->json;
    uint32_t at = node + 1;
    for (size_t i = 0; i < n; i++) {
        const char *name = named ? pl_json_string(json, at) : NULL;
        if (named && !*name)
            return PL_SCENE_FAIL(reader, at, "a name must not be empty");
        *count = (int)i + 1;
        PL_TRY(read(reader, named ? at + 1 : at, name, (int)i));
        at = pl_json_next(json, named ? at + 1 : at);
    }
    return PL_OK;
}

#define READ_LIST(items, count, node, named, extra, read)                                          \
    do {                                                                                           \
        size_t list_length;                                                                        \
        PL_TRY(check_list(reader, (node), (named), &list_length));                                 \
        (items) = pl_scene_alloc(reader->scene, list_length + (size_t)(extra), sizeof *(items));   \
        if (!(items))                                                                              \
            return pl_scene_no_memory(reader);                                                     \
        PL_TRY(fill_list(reader, (node), (named), list_length, &(count), (read)));                 \
    } while (0)

static pl_status read_model_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                 int index)
{
    return pl_read_model(reader, node, name, &reader->scene->models[index]);
}

static pl_status read_material_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                    int index)
{
    return read_material(reader, node, name, &reader->scene->materials[index]);
}

static pl_status read_pin_item(pl_scene_reader *reader, uint32_t node, const char *name, int index)
{
    (void)name;
    return pl_read_pin(reader, node, &reader->scene->pins[index]);
}

static pl_status read_drive_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                 int index)
{
    (void)name;
    return pl_read_drive(reader, node, &reader->scene->drives[index]);
}

static pl_status read_force_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                 int index)
{
    (void)name;
    return pl_read_force(reader, node, &reader->scene->forces[index]);
}

static pl_status read_collider_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                    int index)
{
    (void)name;
    return pl_read_collider(reader, node, &reader->scene->colliders[index]);
}

static pl_status read_attachment_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                      int index)
{
    (void)name;
    return pl_read_attachment(reader, node, &reader->scene->attachments[index]);
}

static pl_status read_event_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                 int index)
{
    (void)name;
    return pl_read_event(reader, node, &reader->scene->events[index]);
}

static pl_status read_camera_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                  int index)
{
    (void)name;
    return pl_read_camera(reader, node, &reader->scene->cameras[index]);
}

static pl_status read_light_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                 int index)
{
    (void)name;
    return pl_read_light(reader, node, &reader->scene->lights[index]);
}

static pl_status read_output_item(pl_scene_reader *reader, uint32_t node, const char *name,
                                  int index)
{
    (void)name;
    return pl_read_output(reader, node, &reader->scene->outputs[index]);
}

static pl_status read_run_item(pl_scene_reader *reader, uint32_t node, const char *name, int index)
{
    (void)name;
    pl_scene_run *run = &reader->scene->runs[index];
    PL_TRY(pl_read_object(reader, node, &pl_object_run, run));
    run->world = reader->scene->world;
    return run->world_node ? read_world(reader, run->world_node, &run->world) : PL_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static pl_status read_runs(pl_scene_reader *reader)
{
    pl_scene *scene = reader->scene;
    pl_names names;
    READ_LIST(scene->runs, scene->run_count, scene->runs_node, false, 1, read_run_item);
    PL_TRY(PL_NAMES_MAKE(reader, scene->runs, scene->run_count, name, &names));
    for (int i = 0; i < scene->run_count; i++) {
        int first = pl_names_first(&names, scene->runs[i].name);
        if (first != i)
            return PL_SCENE_FAIL(reader,
                                 pl_json_member(reader->json, scene->runs[i].place.node, "name"),
                                 "runs[%d] has this name already; give each run its own", first);
    }
    if (scene->run_count == 0) {
        scene->runs[0].world = scene->world;
        scene->run_count = 1;
    }
    return PL_OK;
}

/* What bodies touch, and what holds and moves them. */
static pl_status read_holds(pl_scene_reader *reader)
{
    pl_scene *scene = reader->scene;
    READ_LIST(scene->colliders, scene->collider_count, scene->colliders_node, false, 0,
              read_collider_item);
    PL_TRY(
        PL_NAMES_MAKE(reader, scene->colliders, scene->collider_count, name, &reader->colliders));
    READ_LIST(scene->attachments, scene->attachment_count, scene->attachments_node, false, 0,
              read_attachment_item);
    PL_TRY(PL_NAMES_MAKE(reader, scene->attachments, scene->attachment_count, name,
                         &reader->attachments));
    READ_LIST(scene->pins, scene->pin_count, scene->pins_node, false, 0, read_pin_item);
    PL_TRY(PL_NAMES_MAKE(reader, scene->pins, scene->pin_count, name, &reader->pins));
    READ_LIST(scene->drives, scene->drive_count, scene->drive_node, false, 0, read_drive_item);
    PL_TRY(PL_NAMES_MAKE(reader, scene->drives, scene->drive_count, name, &reader->drives));
    READ_LIST(scene->forces, scene->force_count, scene->forces_node, false, 0, read_force_item);
    return PL_OK;
}

static pl_status read_parts(pl_scene_reader *reader)
{
    pl_scene *scene = reader->scene;
    PL_TRY(pl_read_object(reader, 0, &pl_object_scene, scene));
    if (scene->include_node) /* what the files have is gone by now */
        return PL_SCENE_FAIL(reader, scene->include_node, "must be written in the file itself");
    default_world(&scene->world);
    if (scene->world_node)
        PL_TRY(read_world(reader, scene->world_node, &scene->world));
    size_t bodies, own_models;
    PL_TRY(pl_count_bodies(reader, &bodies, &own_models));
    READ_LIST(scene->models, scene->model_count, scene->models_node, true, own_models,
              read_model_item);
    PL_TRY(PL_NAMES_MAKE(reader, scene->models, scene->model_count, name, &reader->models));
    READ_LIST(scene->materials, scene->material_count, scene->materials_node, true, 0,
              read_material_item);
    PL_TRY(
        PL_NAMES_MAKE(reader, scene->materials, scene->material_count, name, &reader->materials));
    PL_TRY(pl_read_bodies(reader, bodies));
    PL_TRY(read_holds(reader));
    READ_LIST(scene->events, scene->event_count, scene->events_node, false, 0, read_event_item);
    READ_LIST(scene->cameras, scene->camera_count, scene->cameras_node, false, 0, read_camera_item);
    PL_TRY(pl_check_camera_names(reader));
    READ_LIST(scene->lights, scene->light_count, scene->lights_node, false, 0, read_light_item);
    READ_LIST(scene->outputs, scene->output_count, scene->outputs_node, false, 0, read_output_item);
    return read_runs(reader);
}

pl_status pl_scene_path(const pl_scene *scene, uint32_t node, const char *name, char *path,
                        size_t size)
{
    const char *file = pl_json_file_of(scene->json, node), *slash = strrchr(file, '/');
    int directory = slash && name[0] != '/' ? (int)(slash + 1 - file) : 0;
    return snprintf(path, size, "%.*s%s", directory, file, name) < (int)size ? PL_OK
                                                                             : PL_ERROR_FORMAT;
}

static pl_status set_values(const pl_scene_source *source, pl_json *json, pl_trouble *trouble)
{
    for (int i = 0; i < source->set_count && pl_json_kind_of(json, 0) == PL_JSON_OBJECT; i++)
        PL_TRY(pl_json_set(json, "--set", source->sets[i], trouble));
    return PL_OK;
}

pl_status pl_scene_read_source(pl_memory *memory, const pl_scene_source *source, pl_scene **scene,
                               pl_trouble *trouble)
{
    *scene = NULL;
    pl_json *json;
    PL_TRY(pl_scene_load(memory, source, &json, trouble));
    pl_scene *made = PL_NEW(memory, pl_scene, 1);
    if (!made) {
        pl_json_free(json);
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, source->file,
                              "not enough memory to read this scene");
    }
    made->memory = memory;
    made->json = json;
    pl_scene_reader reader = {.scene = made, .json = json, .trouble = trouble};
    pl_status status = set_values(source, json, trouble);
    if (status == PL_OK)
        status = read_parts(&reader);
    if (status != PL_OK) {
        pl_scene_free(made);
        return status;
    }
    *scene = made;
    return PL_OK;
}

pl_status pl_scene_read(pl_memory *memory, const char *file, const char *text, size_t size,
                        pl_scene **scene, pl_trouble *trouble)
{
    const pl_scene_source source = {.file = file, .text = text, .size = size};
    return pl_scene_read_source(memory, &source, scene, trouble);
}
