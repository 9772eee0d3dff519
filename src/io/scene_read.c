/* From a document to a scene: world, materials, bodies, runs, and the order in which everything is
   read, so that names are known before they are used. */
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
                              .frames = 120};
    memcpy(world->gravity, def.gravity, sizeof def.gravity);
}

static pl_status read_solver(pl_scene_reader *reader, uint32_t node, pl_solver *solver)
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
    return world->solver_node ? read_solver(reader, world->solver_node, &world->solver) : PL_OK;
}

/* ---- Materials ------------------------------------------------------------------------------- */

/* A name that is neither the scene's nor built in. */
static pl_status fail_material(pl_scene_reader *reader, uint32_t node, const char *name, bool own)
{
    const pl_scene *scene = reader->scene;
    const char *best = NULL;
    char list[160] = "", hint[96], shown[64];
    for (int i = 0; own && i < scene->material_count; i++)
        pl_suggest(name, scene->materials[i].name, &best);
    for (int i = 0; i < pl_material_count(); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", pl_material_name(i));
        pl_suggest(name, pl_material_name(i), &best);
    }
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no material \"%s\"%s built in are %s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint) : ";", list);
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
    const pl_scene_place *place = &material->place;
    bool young = pl_was_given(&pl_object_material, place, "young");
    bool stiffness = pl_was_given(&pl_object_material, place, "stiffness");
    if (young && stiffness)
        return PL_SCENE_FAIL(
            reader, node, "give either \"young\" (Young's modulus) or \"stiffness\" (the raw k)");
    if (young) {
        material->value.young = material->young;
        material->value.stiffness = 0;
    }
    if (stiffness)
        material->value.stiffness = material->stiffness;
    if (pl_was_given(&pl_object_material, place, "density"))
        material->value.density = material->density;
    if (pl_was_given(&pl_object_material, place, "damping"))
        material->value.damping = material->damping;
    return PL_OK;
}

static pl_status read_body_material(pl_scene_reader *reader, pl_scene_body *body)
{
    const pl_scene *scene = reader->scene;
    uint32_t node = body->material_node;
    body->material = pl_default_material();
    if (!node)
        return PL_OK;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_OBJECT) {
        pl_scene_material own = {0};
        PL_TRY(read_material(reader, node, NULL, &own));
        body->material = own.value;
        return PL_OK;
    }
    PL_TRY(pl_expect(reader, node, PL_JSON_STRING, "the name of a material, or an object"));
    const char *name = pl_json_string(reader->json, node);
    for (int i = 0; i < scene->material_count; i++)
        if (strcmp(scene->materials[i].name, name) == 0) {
            body->material = scene->materials[i].value;
            body->material_node = scene->materials[i].place.node;
            return PL_OK;
        }
    return pl_find_material(name, &body->material) ? PL_OK
                                                   : fail_material(reader, node, name, true);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static pl_status read_state(pl_scene_reader *reader, uint32_t node, pl_scene_state *state)
{
    static const char *const axes[] = {"x", "y", "z"};
    static const int widths[] = {3, 4, 3, 3};
    PL_TRY(pl_read_object(reader, node, &pl_object_state, state));
    bool random = pl_was_given(&pl_object_state, &state->place, "random");
    int kinds = (state->collapse_node != 0) + (state->mirror_node != 0) + random +
                (state->nodes[PL_POSITIONS] != 0);
    if (kinds > 1)
        return PL_SCENE_FAIL(
            reader, node,
            "give only one of \"collapse\", \"mirror\", \"random\" and \"positions\"");
    if (!random && pl_was_given(&pl_object_state, &state->place, "extent"))
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "extent"),
                             "goes with \"random\" only");
    if (state->collapse_node) {
        pl_json_kind kind = pl_json_kind_of(reader->json, state->collapse_node);
        state->kind = kind == PL_JSON_FALSE ? PL_START_REST : PL_START_COLLAPSE;
        state->has_point = kind == PL_JSON_ARRAY;
        if (state->has_point)
            PL_TRY(pl_read_vector(reader, state->collapse_node, state->point));
        else if (kind != PL_JSON_TRUE && kind != PL_JSON_FALSE)
            return PL_SCENE_FAIL(reader, state->collapse_node,
                                 "must be true, false or a point [x, y, z]");
    }
    if (state->mirror_node) {
        state->kind = PL_START_MIRROR;
        PL_TRY(pl_read_word(reader, state->mirror_node, axes, 3, &state->axis));
    }
    if (random)
        state->kind = PL_START_RANDOM;
    for (int i = 0; i < 4; i++)
        if (state->nodes[i])
            PL_TRY(pl_read_rows(reader, state->nodes[i], widths[i], &state->counts[i],
                                &state->arrays[i]));
    uint32_t row = state->nodes[PL_ROTATIONS] + 1;
    for (int i = 0; i < state->counts[PL_ROTATIONS]; i++, row = pl_json_next(reader->json, row))
        PL_TRY(pl_read_rotation(reader, row, state->arrays[PL_ROTATIONS] + 4 * (size_t)i));
    return PL_OK;
}

static pl_status find_model(pl_scene_reader *reader, uint32_t node, int *model)
{
    pl_scene *scene = reader->scene;
    const char *name = pl_json_string(reader->json, node), *best = NULL;
    for (int i = 0; i < scene->model_count; i++) {
        if (!scene->models[i].name)
            continue;
        if (strcmp(scene->models[i].name, name) == 0) {
            *model = i;
            return PL_OK;
        }
        pl_suggest(name, scene->models[i].name, &best);
    }
    char hint[96], shown[64];
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no model \"%s\"%s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint)
                              : "; define it under \"models\"");
}

/* A model written inside a body joins the list without a name; there is room for one per body. */
static pl_status read_body_model(pl_scene_reader *reader, pl_scene_body *body)
{
    pl_scene *scene = reader->scene;
    pl_json_kind kind = pl_json_kind_of(reader->json, body->model_node);
    if (kind == PL_JSON_STRING)
        return find_model(reader, body->model_node, &body->model);
    if (kind != PL_JSON_OBJECT)
        return PL_SCENE_FAIL(reader, body->model_node,
                             "must be the name of a model, or an object, not %s",
                             pl_json_kind_name(kind));
    body->model = scene->model_count++;
    return pl_read_model(reader, body->model_node, NULL, &scene->models[body->model]);
}

static pl_status read_body(pl_scene_reader *reader, uint32_t node, int index, pl_scene_body *body)
{
    body->gravity_scale = 1;
    body->rotation[3] = 1;
    PL_TRY(pl_read_object(reader, node, &pl_object_body, body));
    if (!body->name) {
        char *name = PL_SCENE_NEW(reader, char, 32);
        if (!name)
            return pl_scene_no_memory(reader);
        snprintf(name, 32, "bodies[%d]", index);
        body->name = name;
    }
    PL_TRY(read_body_model(reader, body));
    PL_TRY(read_body_material(reader, body));
    if (body->rotation_node)
        PL_TRY(pl_read_rotation(reader, body->rotation_node, body->rotation));
    body->has_solver = body->solver_node != 0;
    if (body->has_solver)
        PL_TRY(read_solver(reader, body->solver_node, &body->solver));
    if (body->stiffness_node)
        PL_TRY(pl_read_factors(reader, body->stiffness_node, &body->stiffness_count,
                               &body->stiffness));
    if (body->density_node)
        PL_TRY(pl_read_factors(reader, body->density_node, &body->density_count, &body->density));
    if (body->fixed_node)
        PL_TRY(pl_read_picks(reader, body->fixed_node, true, &body->fixed, &body->fixed_count));
    return body->state_node ? read_state(reader, body->state_node, &body->state) : PL_OK;
}

/* Finds equal names by hashing: scenes may have very many bodies. */
static pl_status check_body_names(pl_scene_reader *reader)
{
    const pl_scene *scene = reader->scene;
    size_t capacity = 16;
    while (capacity < 2 * (size_t)scene->body_count)
        capacity *= 2;
    int *table = PL_NEW(scene->memory, int, capacity);
    if (!table)
        return pl_scene_no_memory(reader);
    pl_status status = PL_OK;
    for (int i = 0; i < scene->body_count && status == PL_OK; i++) {
        const pl_scene_body *body = &scene->bodies[i];
        uint64_t hash = UINT64_C(0xCBF29CE484222325);
        for (const char *c = body->name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
        size_t slot = (hash ^ hash >> 32) & (capacity - 1);
        while (table[slot] && strcmp(scene->bodies[table[slot] - 1].name, body->name) != 0)
            slot = (slot + 1) & (capacity - 1);
        if (table[slot])
            status = PL_SCENE_FAIL(reader, pl_json_member(reader->json, body->place.node, "name"),
                                   "bodies[%d] has this name already; give each body its own",
                                   table[slot] - 1);
        table[slot] = i + 1;
    }
    pl_memory_free(scene->memory, table);
    return status;
}

pl_status pl_find_body(pl_scene_reader *reader, uint32_t node, const char *name, int *body)
{
    const pl_scene *scene = reader->scene;
    *body = 0;
    if (!name && scene->body_count == 1)
        return PL_OK;
    if (!name)
        return PL_SCENE_FAIL(reader, node,
                             "the key \"body\" is missing: with several bodies it must say which");
    const char *best = NULL;
    for (int i = 0; i < scene->body_count; i++) {
        if (strcmp(scene->bodies[i].name, name) == 0) {
            *body = i;
            return PL_OK;
        }
        pl_suggest(name, scene->bodies[i].name, &best);
    }
    char hint[96], shown[64];
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "body"),
                         "there is no body \"%s\"%s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint)
                              : "; bodies get a \"name\" under \"bodies\"");
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

static pl_status read_body_item(pl_scene_reader *reader, uint32_t node, const char *name, int index)
{
    (void)name;
    return read_body(reader, node, index, &reader->scene->bodies[index]);
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

static pl_status read_run_item(pl_scene_reader *reader, uint32_t node, const char *name, int index)
{
    (void)name;
    pl_scene_run *runs = reader->scene->runs, *run = &runs[index];
    PL_TRY(pl_read_object(reader, node, &pl_object_run, run));
    for (int i = 0; i < index; i++)
        if (strcmp(runs[i].name, run->name) == 0)
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "name"),
                                 "runs[%d] has this name already; give each run its own", i);
    run->world = reader->scene->world;
    return run->world_node ? read_world(reader, run->world_node, &run->world) : PL_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static pl_status read_runs(pl_scene_reader *reader)
{
    pl_scene *scene = reader->scene;
    READ_LIST(scene->runs, scene->run_count, scene->runs_node, false, 1, read_run_item);
    if (scene->run_count == 0) {
        scene->runs[0].world = scene->world;
        scene->run_count = 1;
    }
    return PL_OK;
}

static pl_status read_parts(pl_scene_reader *reader)
{
    pl_scene *scene = reader->scene;
    PL_TRY(pl_read_object(reader, 0, &pl_object_scene, scene));
    default_world(&scene->world);
    if (scene->world_node)
        PL_TRY(read_world(reader, scene->world_node, &scene->world));
    PL_TRY(pl_expect(reader, scene->bodies_node, PL_JSON_ARRAY, "an array of bodies"));
    int bodies = (int)pl_node_count(reader, scene->bodies_node);
    if (bodies == 0)
        return PL_SCENE_FAIL(reader, scene->bodies_node,
                             "must not be empty: there is nothing to simulate");
    READ_LIST(scene->models, scene->model_count, scene->models_node, true, bodies, read_model_item);
    READ_LIST(scene->materials, scene->material_count, scene->materials_node, true, 0,
              read_material_item);
    READ_LIST(scene->bodies, scene->body_count, scene->bodies_node, false, 0, read_body_item);
    PL_TRY(check_body_names(reader));
    READ_LIST(scene->colliders, scene->collider_count, scene->colliders_node, false, 0,
              read_collider_item);
    READ_LIST(scene->attachments, scene->attachment_count, scene->attachments_node, false, 0,
              read_attachment_item);
    READ_LIST(scene->pins, scene->pin_count, scene->pins_node, false, 0, read_pin_item);
    READ_LIST(scene->drives, scene->drive_count, scene->drive_node, false, 0, read_drive_item);
    READ_LIST(scene->forces, scene->force_count, scene->forces_node, false, 0, read_force_item);
    return read_runs(reader);
}

pl_status pl_scene_read(pl_memory *memory, const char *file, const char *text, size_t size,
                        pl_scene **scene, pl_trouble *trouble)
{
    *scene = NULL;
    pl_json *json;
    PL_TRY(pl_json_parse(memory, file, text, size, &json, trouble));
    pl_scene *made = PL_NEW(memory, pl_scene, 1);
    if (!made) {
        pl_json_free(json);
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, file,
                              "not enough memory to read this scene");
    }
    made->memory = memory;
    made->json = json;
    pl_scene_reader reader = {made, json, trouble};
    pl_status status = read_parts(&reader);
    if (status != PL_OK) {
        pl_scene_free(made);
        return status;
    }
    *scene = made;
    return PL_OK;
}
