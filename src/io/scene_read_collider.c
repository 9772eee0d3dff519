/* Colliders of a scene: their shapes, surfaces and motions. */
#include <string.h>

#include "io/scene_parts.h"

static const char *const shapes[] = {"plane", "box", "sphere", "capsule", "mesh"};

/* Which keys a shape needs; the others have no business there. */
static pl_status check_keys(pl_scene_reader *reader, const pl_scene_collider *c)
{
    static const struct {
        const char *key;
        bool of[5];
    } rules[] = {{"half", {false, true, false, false, false}},
                 {"radius", {false, false, true, true, false}},
                 {"length", {false, false, false, true, false}},
                 {"vertices", {false, false, false, false, true}},
                 {"triangles", {false, false, false, false, true}},
                 {"file", {false, false, false, false, true}},
                 {"builtin", {false, false, false, false, true}},
                 {"detail", {false, false, false, false, true}},
                 {"scale", {false, false, false, false, true}}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool given = pl_was_given(&pl_object_collider, &c->place, rules[i].key);
        if (given && !rules[i].of[c->kind])
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, c->place.node, rules[i].key),
                                 "does not belong to a %s", shapes[c->kind]);
        if (!given && rules[i].of[c->kind] && c->kind != PL_COLLIDER_MESH)
            return PL_SCENE_FAIL(reader, c->place.node, "a %s needs the key \"%s\"",
                                 shapes[c->kind], rules[i].key);
    }
    return PL_OK;
}

/* A mesh by its vertices and triangles, from a file, or built in: one of the three. */
static pl_status check_mesh_keys(pl_scene_reader *reader, const pl_scene_collider *c)
{
    bool own = c->vertices_node || c->triangles_node;
    if (own + (c->file != NULL) + (c->builtin != NULL) != 1)
        return PL_SCENE_FAIL(reader, c->place.node,
                             "a mesh needs either \"vertices\" and \"triangles\", or \"file\", or "
                             "\"builtin\"");
    if (own && !(c->vertices_node && c->triangles_node))
        return PL_SCENE_FAIL(reader, c->place.node, "\"%s\" is missing",
                             c->vertices_node ? "triangles" : "vertices");
    if (!c->builtin && pl_was_given(&pl_object_collider, &c->place, "detail"))
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, c->place.node, "detail"),
                             "goes with \"builtin\" only");
    return PL_OK;
}

static pl_status read_mesh(pl_scene_reader *reader, pl_scene_collider *c)
{
    PL_TRY(check_mesh_keys(reader, c));
    if (c->builtin)
        return pl_check_builtin(reader, pl_json_member(reader->json, c->place.node, "builtin"),
                                c->builtin);
    if (c->file && pl_names_model_file(c->file))
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, c->place.node, "file"),
                             "is a model, of particles; a collider needs a mesh, of triangles");
    if (c->file)
        return PL_OK;
    PL_TRY(pl_read_rows(reader, c->vertices_node, 3, &c->vertex_count, &c->vertices));
    return pl_read_index_rows(reader, c->triangles_node, 3, c->vertex_count, "vertices",
                              &c->triangle_count, &c->triangles);
}

pl_status pl_read_collider(pl_scene_reader *reader, uint32_t node, pl_scene_collider *c)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    c->friction = def.friction;
    c->two_sided = def.two_sided;
    c->category = def.category;
    c->mask = def.mask;
    c->detail = c->scale = 1;
    memcpy(c->rotation, def.rotation, sizeof c->rotation);
    PL_TRY(pl_read_object(reader, node, &pl_object_collider, c));
    int word;
    PL_TRY(pl_read_word(reader, c->shape_node, shapes, 5, &word));
    c->kind = (pl_collider_kind)word;
    PL_TRY(check_keys(reader, c));
    for (int k = 0; k < 3 && c->kind == PL_COLLIDER_BOX; k++)
        if (c->half[k] < 0)
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "half"),
                                 "must be three lengths of 0 or more");
    if (c->rotation_node)
        PL_TRY(pl_read_rotation(reader, c->rotation_node, c->rotation));
    if (c->kind == PL_COLLIDER_MESH)
        PL_TRY(read_mesh(reader, c));
    c->motion.relative = c->relative;
    return pl_read_motion(reader, &c->place, c->ease, c->keys_node, c->turn_node, &c->motion);
}
