/* Bodies of a scene. An entry with an "array" becomes many bodies, each a copy of what the entry
   says, with models and materials taken in turn where it gives lists. */
#include <stdio.h>
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

enum { MOST_BODIES = 1000000 };

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
    const char *name = pl_json_string(reader->json, node), *best = NULL;
    *model = pl_names_first(&reader->models, name);
    if (*model >= 0)
        return PL_OK;
    pl_names_suggest(&reader->models, name, &best);
    char hint[96], shown[64];
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no model \"%s\"%s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint)
                              : "; define it under \"models\"");
}

/* ---- Models and materials, one or a list ----------------------------------------------------- */

/* What the bodies of one entry take in turn. */
typedef struct choices {
    int model_count, material_count;
    int *models;
    pl_material *materials;
    uint32_t *places; /* of the materials */
} choices;

/* The elements of a list, or the single value (`node` 0: a default) as a list of one. */
static pl_status open_choices(pl_scene_reader *reader, uint32_t node, bool repeated,
                              const char *things, int *count, uint32_t *first)
{
    *count = 1;
    *first = node;
    if (!node || pl_json_kind_of(reader->json, node) != PL_JSON_ARRAY)
        return PL_OK;
    if (!repeated)
        return PL_SCENE_FAIL(reader, node, "a list of %s goes with \"array\"; give one", things);
    *count = (int)pl_node_count(reader, node);
    *first = node + 1;
    if (*count == 0)
        return PL_SCENE_FAIL(reader, node, "must not be empty");
    return PL_OK;
}

/* A model written inside a body joins the list without a name; pl_count_bodies has made room. */
static pl_status read_body_model(pl_scene_reader *reader, uint32_t node, int *model)
{
    pl_scene *scene = reader->scene;
    pl_json_kind kind = pl_json_kind_of(reader->json, node);
    if (kind == PL_JSON_STRING)
        return find_model(reader, node, model);
    if (kind != PL_JSON_OBJECT)
        return PL_SCENE_FAIL(reader, node, "must be the name of a model, or an object, not %s",
                             pl_json_kind_name(kind));
    *model = scene->model_count++;
    return pl_read_model(reader, node, NULL, &scene->models[*model]);
}

static pl_status read_models(pl_scene_reader *reader, const pl_scene_body *body, choices *c)
{
    uint32_t node;
    PL_TRY(open_choices(reader, body->model_node, body->array_node != 0, "models", &c->model_count,
                        &node));
    c->models = PL_SCENE_NEW(reader, int, c->model_count);
    if (!c->models)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < c->model_count; i++, node = pl_json_next(reader->json, node))
        PL_TRY(read_body_model(reader, node, &c->models[i]));
    return PL_OK;
}

static pl_status read_materials(pl_scene_reader *reader, const pl_scene_body *body, choices *c)
{
    uint32_t node;
    PL_TRY(open_choices(reader, body->material_node, body->array_node != 0, "materials",
                        &c->material_count, &node));
    c->materials = PL_SCENE_NEW(reader, pl_material, c->material_count);
    c->places = PL_SCENE_NEW(reader, uint32_t, c->material_count);
    if (!c->materials || !c->places)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < c->material_count; i++) {
        PL_TRY(pl_read_body_material(reader, node, &c->materials[i], &c->places[i]));
        PL_TRY(pl_take_own_material(reader, body, &c->materials[i]));
        node = pl_json_next(reader->json, node);
    }
    return PL_OK;
}

/* ---- One entry ------------------------------------------------------------------------------- */

static pl_status name_body(pl_scene_reader *reader, pl_scene_body *body)
{
    char *name = body->name ? NULL : PL_SCENE_NEW(reader, char, 32);
    if (!body->name && !name)
        return pl_scene_no_memory(reader);
    if (name)
        snprintf(name, 32, "bodies[%d]", body->entry);
    body->entry_name = body->name = name ? name : body->name;
    return PL_OK;
}

/* What only edges have would be without effect. */
static pl_status check_clustered(pl_scene_reader *reader, const pl_scene_body *body)
{
    static const char *const foreign[] = {"young", "stiffness", "damping", "solver",
                                          "edge_stiffness"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (pl_was_given(&pl_object_body, &body->place, foreign[i]))
            return PL_SCENE_FAIL(reader, body->place.node,
                                 "\"%s\" is for bodies with edges; a clustered body has "
                                 "\"frequency\" and \"damping\" in \"clustered\"",
                                 foreign[i]);
    return PL_OK;
}

static pl_status check_tetrahedral(pl_scene_reader *reader, const pl_scene_body *body)
{
    static const char *const foreign[][2] = {
        {"clustered", "a body is made of one of them"},
        {"stiffness", "tetrahedra have Young's modulus, \"young\""},
        {"solver", "tetrahedra have a solver of their own"}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (pl_was_given(&pl_object_body, &body->place, foreign[i][0]))
            return PL_SCENE_FAIL(reader, body->place.node,
                                 "\"%s\" does not go with \"tetrahedral\": %s", foreign[i][0],
                                 foreign[i][1]);
    return PL_OK;
}

static pl_status read_body(pl_scene_reader *reader, uint32_t node, pl_scene_body *body, choices *c)
{
    pl_body_def def = pl_default_body_def(NULL);
    body->gravity_scale = def.gravity_scale;
    body->category = def.category;
    body->mask = def.mask;
    body->rotation[3] = body->tumble[3] = 1;
    PL_TRY(pl_read_object(reader, node, &pl_object_body, body));
    PL_TRY(name_body(reader, body));
    PL_TRY(read_models(reader, body, c));
    PL_TRY(read_materials(reader, body, c));
    body->has_self_contact = pl_was_given(&pl_object_body, &body->place, "self_contact");
    if (body->rotation_node)
        PL_TRY(pl_read_rotation(reader, body->rotation_node, body->rotation));
    body->has_solver = body->solver_node != 0;
    if (body->has_solver)
        PL_TRY(pl_read_solver(reader, body->solver_node, &body->solver));
    if (body->stiffness_node)
        PL_TRY(pl_read_factors(reader, body->stiffness_node, &body->stiffness_count,
                               &body->stiffness));
    if (body->density_node)
        PL_TRY(pl_read_factors(reader, body->density_node, &body->density_count, &body->density));
    if (body->tet_factor_node)
        PL_TRY(pl_read_factors(reader, body->tet_factor_node, &body->tet_factor_count,
                               &body->tet_factors));
    if (body->tet_factor_node && !body->tetrahedral_node)
        return PL_SCENE_FAIL(reader, body->tet_factor_node,
                             "is for bodies with \"tetrahedral\"; others have \"edge_stiffness\"");
    if (body->clustered_node) {
        PL_TRY(pl_read_clustered(reader, body->clustered_node, &body->clustered));
        PL_TRY(check_clustered(reader, body));
    }
    if (body->tetrahedral_node) {
        PL_TRY(pl_read_tetrahedral(reader, body->tetrahedral_node, &body->tetrahedral));
        PL_TRY(check_tetrahedral(reader, body));
    }
    if (body->plasticity_node)
        PL_TRY(pl_read_plasticity(reader, body->plasticity_node, &body->plasticity));
    if (body->plasticity_node && (body->clustered_node || body->tetrahedral_node))
        return PL_SCENE_FAIL(reader, body->plasticity_node,
                             "is for bodies of oriented particles; \"clustered\" and "
                             "\"tetrahedral\" have a \"yield\" of their own");
    if (body->examples_node)
        PL_TRY(pl_read_examples(reader, body->examples_node, &body->examples));
    if (body->fixed_node)
        PL_TRY(pl_read_picks(reader, body->fixed_node, true, &body->fixed, &body->fixed_count));
    return body->state_node ? read_state(reader, body->state_node, &body->state) : PL_OK;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Places in the world are one body's: copies would all lie there. */
static pl_status check_repeated_state(pl_scene_reader *reader, const pl_scene_state *state)
{
    uint32_t node = state->nodes[PL_POSITIONS] ? state->nodes[PL_POSITIONS]
                    : state->has_point         ? state->collapse_node
                                               : 0;
    if (node)
        return PL_SCENE_FAIL(reader, node,
                             "is a place in the world, so all bodies of the \"array\" would start "
                             "there; write such a body as an entry of its own");
    return PL_OK;
}

/* name[0], name[1], … */
static pl_status name_copies(pl_scene_reader *reader, const char *name, int count,
                             pl_scene_body *bodies)
{
    size_t size = strlen(name) + 16;
    char *names = PL_SCENE_NEW(reader, char, size *(size_t)count);
    if (!names)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < count; i++) {
        char *copy = names + size * (size_t)i;
        snprintf(copy, size, "%s[%d]", name, i);
        bodies[i].name = bodies[i].copy_name = copy;
    }
    return PL_OK;
}

/* `bodies` has room for all of the entry; the first is read already. */
static pl_status repeat_body(pl_scene_reader *reader, pl_scene_body *bodies, int *count)
{
    pl_lattice lattice;
    *count = 1;
    if (!bodies->array_node)
        return PL_OK;
    PL_TRY(pl_read_lattice(reader, bodies->array_node, &lattice));
    PL_TRY(check_repeated_state(reader, &bodies->state));
    *count = lattice.total;
    for (int i = 1; i < *count; i++)
        bodies[i] = bodies[0];
    PL_TRY(name_copies(reader, bodies->name, *count, bodies));
    return pl_place_on_lattice(reader, &lattice, bodies);
}

static void share_out(const choices *c, int count, pl_scene_body *bodies)
{
    for (int i = 0; i < count; i++) {
        bodies[i].model = c->models[i % c->model_count];
        bodies[i].material = c->materials[i % c->material_count];
        bodies[i].material_node = c->places[i % c->material_count];
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static size_t count_inner_models(const pl_scene_reader *reader, uint32_t entry)
{
    uint32_t node = pl_json_member(reader->json, entry, "model");
    bool list = node && pl_json_kind_of(reader->json, node) == PL_JSON_ARRAY;
    return list ? pl_node_count(reader, node) : 1;
}

pl_status pl_count_bodies(pl_scene_reader *reader, size_t *bodies, size_t *models)
{
    uint32_t list = reader->scene->bodies_node, entry = list + 1;
    *bodies = *models = 0;
    PL_TRY(pl_expect(reader, list, PL_JSON_ARRAY, "an array of bodies"));
    size_t entries = pl_node_count(reader, list);
    if (entries == 0)
        return PL_SCENE_FAIL(reader, list, "must not be empty: there is nothing to simulate");
    for (size_t i = 0; i < entries; i++, entry = pl_json_next(reader->json, entry)) {
        uint32_t array = pl_json_member(reader->json, entry, "array");
        pl_lattice lattice = {.total = 1};
        if (array)
            PL_TRY(pl_read_lattice(reader, array, &lattice));
        *bodies += (size_t)lattice.total;
        *models += count_inner_models(reader, entry);
        if (array && *bodies > MOST_BODIES)
            return PL_SCENE_FAIL(reader, array,
                                 "there would be %zu bodies by here; the most a scene may have is "
                                 "%d",
                                 *bodies, MOST_BODIES);
    }
    return PL_OK;
}

static pl_status check_body_names(pl_scene_reader *reader)
{
    const pl_scene *scene = reader->scene;
    PL_TRY(PL_NAMES_MAKE(reader, scene->bodies, scene->body_count, name, &reader->bodies));
    PL_TRY(PL_NAMES_MAKE(reader, scene->bodies, scene->body_count, entry_name, &reader->entries));
    PL_TRY(PL_NAMES_MAKE(reader, scene->bodies, scene->body_count, copy_name, &reader->copies));
    reader->copies.stamps = reader->entries.stamps; /* a body met under either name is met */
    for (int i = 0; i < scene->body_count; i++) {
        const pl_scene_body *body = &scene->bodies[i];
        int first = pl_names_first(&reader->bodies, body->name);
        if (first != i)
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, body->place.node, "name"),
                                 "bodies[%d] has this name already; give each body its own",
                                 scene->bodies[first].entry);
    }
    return PL_OK;
}

pl_status pl_read_bodies(pl_scene_reader *reader, size_t room)
{
    pl_scene *scene = reader->scene;
    uint32_t node = scene->bodies_node + 1;
    int entries = (int)pl_node_count(reader, scene->bodies_node);
    scene->bodies = PL_SCENE_NEW(reader, pl_scene_body, room);
    if (!scene->bodies)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < entries; i++, node = pl_json_next(reader->json, node)) {
        pl_scene_body *body = &scene->bodies[scene->body_count];
        choices c = {0};
        int count;
        body->entry = i;
        PL_TRY(read_body(reader, node, body, &c));
        PL_TRY(repeat_body(reader, body, &count));
        share_out(&c, count, body);
        scene->body_count += count;
    }
    return check_body_names(reader);
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
    int found = pl_names_first(&reader->bodies, name);
    if (found >= 0) {
        *body = found;
        return PL_OK;
    }
    pl_names_suggest(&reader->bodies, name, &best);
    char hint[96], shown[64];
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "body"),
                         "there is no body \"%s\"%s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint)
                              : "; bodies get a \"name\" under \"bodies\"");
}
