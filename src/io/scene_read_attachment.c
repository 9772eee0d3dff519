/* Attachments of a scene: a point of a body, and the place, the point of another body or the
   collider that it is held to. */
#include <string.h>

#include "io/scene_parts.h"

/* "particle", "vertex" or "point": exactly one; `other` is before their names where it is the other
   body. */
static pl_status read_point(pl_scene_reader *reader, uint32_t node, const char *other,
                            const uint32_t nodes[3], pl_scene_point *point)
{
    int given = 0, which = 0, count;
    for (int i = 0; i < 3; i++)
        if (nodes[i]) {
            given++;
            which = i;
        }
    if (given != 1)
        return PL_SCENE_FAIL(reader, node,
                             "give one of \"%sparticle\", \"%svertex\" or \"%spoint\", not %s",
                             other, other, other, given ? "several" : "none");
    point->on_vertex = which == 1;
    point->on_point = which == 2;
    if (point->on_point)
        return pl_read_vector(reader, nodes[2], point->point);
    return pl_read_picks(reader, nodes[which], false, &point->pick, &count);
}

static pl_status find_other(pl_scene_reader *reader, const pl_scene_attachment *a, int *out)
{
    *out = pl_names_first(&reader->bodies, a->other_name);
    return *out >= 0 ? PL_OK
                     : PL_SCENE_FAIL(reader, pl_json_member(reader->json, a->place.node, "other"),
                                     "there is no body of this name; bodies get a \"name\" under "
                                     "\"bodies\"");
}

static pl_status find_collider(pl_scene_reader *reader, const pl_scene_attachment *a, int *out)
{
    *out = pl_names_first(&reader->colliders, a->collider_name);
    return *out >= 0
               ? PL_OK
               : PL_SCENE_FAIL(reader, pl_json_member(reader->json, a->place.node, "collider"),
                               "there is no collider of this name; give one a \"name\"");
}

/* Keys that only one kind has. */
static pl_status check_keys(pl_scene_reader *reader, const pl_scene_attachment *a)
{
    static const struct {
        const char *key;
        bool of[3];
    } rules[] = {{"other_particle", {false, true, false}}, {"other_vertex", {false, true, false}},
                 {"other_point", {false, true, false}},    {"target", {true, false, true}},
                 {"keys", {true, false, false}},           {"relative", {true, false, false}},
                 {"ease", {true, false, false}},           {"turn", {true, false, false}}};
    static const char *const kinds[] = {"a place", "another body", "a collider"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (pl_was_given(&pl_object_attachment, &a->place, rules[i].key) && !rules[i].of[a->kind])
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, a->place.node, rules[i].key),
                                 "does not belong to an attachment to %s", kinds[a->kind]);
    if (a->has_target && (a->keys_node || a->turn_node))
        return PL_SCENE_FAIL(reader, a->place.node,
                             "give either \"target\" or \"keys\" and \"turn\"");
    return PL_OK;
}

static pl_status read_place(pl_scene_reader *reader, pl_scene_attachment *a)
{
    a->motion.relative = a->relative;
    PL_TRY(pl_read_motion(reader, &a->place, a->ease, a->keys_node, a->turn_node, &a->motion));
    if (a->motion.has_rotations)
        return PL_SCENE_FAIL(reader, a->keys_node,
                             "a key of an attachment has \"time\" and \"position\"");
    return PL_OK;
}

pl_status pl_read_attachment(pl_scene_reader *reader, uint32_t node, pl_scene_attachment *a)
{
    PL_TRY(pl_read_object(reader, node, &pl_object_attachment, a));
    PL_TRY(pl_find_body(reader, node, a->body_name, &a->body));
    if (a->other_name && a->collider_name)
        return PL_SCENE_FAIL(reader, node, "give either \"other\" (a body) or \"collider\"");
    a->kind = a->other_name ? PL_HOLD_BODY : a->collider_name ? PL_HOLD_COLLIDER : PL_HOLD_PLACE;
    a->has_target = pl_was_given(&pl_object_attachment, &a->place, "target");
    PL_TRY(check_keys(reader, a));
    const uint32_t own[3] = {a->particle_node, a->vertex_node, a->point_node};
    PL_TRY(read_point(reader, node, "", own, &a->point));
    if (a->kind == PL_HOLD_PLACE)
        return read_place(reader, a);
    if (a->kind == PL_HOLD_COLLIDER)
        return find_collider(reader, a, &a->collider);
    const uint32_t others[3] = {a->other_particle_node, a->other_vertex_node, a->other_point_node};
    PL_TRY(find_other(reader, a, &a->other));
    return read_point(reader, node, "other_", others, &a->other_point);
}
