/* What holds and moves the bodies of a scene: picks of particles and vertices, keyframes, turns,
   pins, driven particles, forces. */
#include <math.h>
#include <string.h>

#include "io/scene_parts.h"

/* ---- Picks ----------------------------------------------------------------------------------- */

pl_status pl_read_box(pl_scene_reader *reader, uint32_t node, double lower[3], double upper[3])
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "two corners [[x, y, z], [x, y, z]]"));
    if (pl_node_count(reader, node) != 2)
        return PL_SCENE_FAIL(reader, node, "must be two corners [[x, y, z], [x, y, z]]");
    uint32_t second = pl_json_next(reader->json, node + 1);
    PL_TRY(pl_read_vector(reader, node + 1, lower));
    PL_TRY(pl_read_vector(reader, second, upper));
    for (int i = 0; i < 3; i++)
        if (lower[i] > upper[i])
            return PL_SCENE_FAIL(reader, second,
                                 "the second corner must not lie below the first, along no axis");
    return PL_OK;
}

static pl_status read_pick(pl_scene_reader *reader, uint32_t node, pl_pick *pick)
{
    static const char *const words[] = {"first", "last", "all"};
    static const pl_pick_kind kinds[] = {PL_PICK_FIRST, PL_PICK_LAST, PL_PICK_ALL};
    pl_json_kind kind = pl_json_kind_of(reader->json, node);
    pick->place.node = node;
    if (kind == PL_JSON_NUMBER) {
        pick->kind = PL_PICK_INDEX;
        return pl_read_integer(reader, node, 0, INT32_MAX, &pick->index);
    }
    if (kind == PL_JSON_STRING) {
        int word;
        PL_TRY(pl_read_word(reader, node, words, 3, &word));
        pick->kind = kinds[word];
        return PL_OK;
    }
    if (kind != PL_JSON_OBJECT)
        return PL_SCENE_FAIL(
            reader, node,
            "must be a number, \"first\", \"last\", \"all\", {\"near\": [x, y, z]} or "
            "{\"box\": [[x, y, z], [x, y, z]]}, not %s",
            pl_json_kind_name(kind));
    PL_TRY(pl_read_object(reader, node, &pl_object_pick, pick));
    if ((pick->near_node != 0) == (pick->box_node != 0))
        return PL_SCENE_FAIL(reader, node, "give either \"near\" or \"box\"");
    pick->kind = pick->near_node ? PL_PICK_NEAR : PL_PICK_BOX;
    return pick->near_node ? pl_read_vector(reader, pick->near_node, pick->near_point)
                           : pl_read_box(reader, pick->box_node, pick->lower, pick->upper);
}

pl_status pl_read_picks(pl_scene_reader *reader, uint32_t node, bool many, pl_pick **picks,
                        int *count)
{
    if (many)
        PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array"));
    *count = many ? (int)pl_node_count(reader, node) : 1;
    *picks = PL_SCENE_NEW(reader, pl_pick, *count);
    if (!*picks)
        return pl_scene_no_memory(reader);
    uint32_t element = many ? node + 1 : node;
    for (int i = 0; i < *count; i++, element = pl_json_next(reader->json, element))
        PL_TRY(read_pick(reader, element, &(*picks)[i]));
    return PL_OK;
}

/* ---- Motions --------------------------------------------------------------------------------- */

pl_status pl_read_ease(pl_scene_reader *reader, const pl_scene_place *place, const char *ease,
                       bool *smooth)
{
    static const char *const words[] = {"linear", "smooth"};
    int word = 0;
    if (ease)
        PL_TRY(pl_read_word(reader, pl_json_member(reader->json, place->node, "ease"), words, 2,
                            &word));
    *smooth = word == 1;
    return PL_OK;
}

static pl_status read_turn_keys(pl_scene_reader *reader, uint32_t node, pl_motion_turn *turn)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of {\"time\": s, \"degrees\": d}"));
    turn->key_count = (int)pl_node_count(reader, node);
    if (turn->key_count == 0)
        return PL_SCENE_FAIL(reader, node, "must have at least one key");
    turn->keys = pl_scene_alloc(reader->scene, (size_t)turn->key_count, sizeof *turn->keys);
    if (!turn->keys)
        return pl_scene_no_memory(reader);
    uint32_t element = node + 1;
    for (int i = 0; i < turn->key_count; i++, element = pl_json_next(reader->json, element)) {
        pl_raw_turn_key raw = {0};
        PL_TRY(pl_read_object(reader, element, &pl_object_turn_key, &raw));
        if (i > 0 && !(raw.time > turn->keys[i - 1][0]))
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, element, "time"),
                                 "must be later than the key before");
        turn->keys[i][0] = raw.time;
        turn->keys[i][1] = raw.degrees;
    }
    return PL_OK;
}

static pl_status read_turn(pl_scene_reader *reader, uint32_t node, pl_motion_turn *turn)
{
    pl_raw_turn raw = {.to = INFINITY};
    PL_TRY(pl_read_object(reader, node, &pl_object_turn, &raw));
    PL_TRY(pl_read_unit_vector(reader, raw.axis, turn->axis));
    PL_TRY(pl_read_ease(reader, &raw.place, raw.ease, &turn->smooth));
    memcpy(turn->centre, raw.centre, sizeof raw.centre);
    bool has_speed = pl_was_given(&pl_object_turn, &raw.place, "speed");
    if (has_speed == (raw.keys != 0))
        return PL_SCENE_FAIL(reader, node,
                             "give either \"speed\" (degrees per second) or \"keys\"");
    if (raw.keys && (pl_was_given(&pl_object_turn, &raw.place, "from") ||
                     pl_was_given(&pl_object_turn, &raw.place, "to")))
        return PL_SCENE_FAIL(reader, node,
                             "\"from\" and \"to\" go with \"speed\"; keys have their own times");
    if (raw.from > raw.to)
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "to"),
                             "must not be before \"from\"");
    turn->speed = raw.speed;
    turn->from = raw.from;
    turn->to = raw.to;
    return raw.keys ? read_turn_keys(reader, raw.keys, turn) : PL_OK;
}

pl_status pl_read_turns(pl_scene_reader *reader, uint32_t node, pl_motion *motion)
{
    bool many = pl_json_kind_of(reader->json, node) == PL_JSON_ARRAY;
    motion->turn_count = many ? (int)pl_node_count(reader, node) : 1;
    motion->turns = PL_SCENE_NEW(reader, pl_motion_turn, motion->turn_count);
    if (!motion->turns)
        return pl_scene_no_memory(reader);
    uint32_t element = many ? node + 1 : node;
    for (int i = 0; i < motion->turn_count; i++, element = pl_json_next(reader->json, element))
        PL_TRY(read_turn(reader, element, &motion->turns[i]));
    return PL_OK;
}

/* What the keys of this motion hold. */
typedef enum key_use { KEYS_OF_POSITIONS, KEYS_OF_DIRECTIONS, KEYS_OF_PARTICLES } key_use;

static pl_status check_key(pl_scene_reader *reader, const pl_raw_key *raw, key_use use)
{
    bool position = pl_was_given(&pl_object_key, &raw->place, "position");
    uint32_t node = raw->place.node;
    if (use == KEYS_OF_DIRECTIONS && (!raw->direction || position || raw->rotation))
        return PL_SCENE_FAIL(reader, node,
                             "a key of a direction pin has \"time\" and \"direction\"");
    if (use == KEYS_OF_POSITIONS && (!position || raw->direction || raw->rotation))
        return PL_SCENE_FAIL(reader, node, "a key of positions has \"time\" and \"position\"");
    if (use == KEYS_OF_PARTICLES && (raw->direction || (!position && !raw->rotation)))
        return PL_SCENE_FAIL(reader, node,
                             "a key of a driven particle or a collider has \"time\" and "
                             "\"position\", \"rotation\" or "
                             "both");
    return PL_OK;
}

static pl_status read_key(pl_scene_reader *reader, uint32_t node, key_use use, pl_motion *motion,
                          int i)
{
    pl_raw_key raw = {0};
    pl_motion_key *key = &motion->keys[i];
    PL_TRY(pl_read_object(reader, node, &pl_object_key, &raw));
    PL_TRY(check_key(reader, &raw, use));
    key->time = raw.time;
    if (i > 0 && !(key->time > key[-1].time))
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "time"),
                             "must be later than the key before");
    bool vector = use == KEYS_OF_DIRECTIONS || pl_was_given(&pl_object_key, &raw.place, "position");
    if (i > 0 && (vector != motion->has_vectors || (raw.rotation != 0) != motion->has_rotations))
        return PL_SCENE_FAIL(reader, node,
                             "must give the same as the first key: position, rotation or both");
    motion->has_vectors = vector;
    motion->has_rotations = raw.rotation != 0;
    memcpy(key->vector, raw.position, sizeof raw.position);
    if (raw.rotation)
        PL_TRY(pl_read_rotation(reader, raw.rotation, key->rotation));
    if (!raw.direction)
        return PL_OK;
    PL_TRY(pl_read_unit_vector(reader, raw.direction, key->vector));
    double dot = 0;
    for (int k = 0; k < 3 && i > 0; k++)
        dot += key->vector[k] * key[-1].vector[k];
    if (dot < -0.9999)
        return PL_SCENE_FAIL(reader, raw.direction,
                             "is opposite to the key before, so no way is the shorter; put a "
                             "key between them");
    return PL_OK;
}

static pl_status read_keys(pl_scene_reader *reader, uint32_t node, key_use use, pl_motion *motion)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of keys"));
    motion->key_count = (int)pl_node_count(reader, node);
    if (motion->key_count == 0)
        return PL_SCENE_FAIL(reader, node, "must have at least one key");
    motion->keys = PL_SCENE_NEW(reader, pl_motion_key, motion->key_count);
    if (!motion->keys)
        return pl_scene_no_memory(reader);
    uint32_t element = node + 1;
    for (int i = 0; i < motion->key_count; i++, element = pl_json_next(reader->json, element))
        PL_TRY(read_key(reader, element, use, motion, i));
    return PL_OK;
}

pl_status pl_read_position_keys(pl_scene_reader *reader, uint32_t node, pl_motion *motion)
{
    return read_keys(reader, node, KEYS_OF_POSITIONS, motion);
}

pl_status pl_read_motion(pl_scene_reader *reader, const pl_scene_place *place, const char *ease,
                         uint32_t keys, uint32_t turn, pl_motion *motion)
{
    PL_TRY(pl_read_ease(reader, place, ease, &motion->smooth));
    if (keys)
        PL_TRY(read_keys(reader, keys, KEYS_OF_PARTICLES, motion));
    return turn ? pl_read_turns(reader, turn, motion) : PL_OK;
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static pl_status read_pin_place(pl_scene_reader *reader, pl_scene_pin *pin)
{
    const uint32_t nodes[] = {pin->particle_node, pin->particles_node, pin->vertex_node,
                              pin->vertices_node, pin->point_node};
    int given = 0, which = 0;
    for (int i = 0; i < 5; i++)
        if (nodes[i]) {
            given++;
            which = i;
        }
    if (given != 1)
        return PL_SCENE_FAIL(reader, pin->place.node,
                             "give one of \"particle\", \"particles\", \"vertex\", "
                             "\"vertices\" or \"point\", not %s",
                             given ? "several" : "none");
    pin->on_vertices = which == 2 || which == 3;
    pin->on_point = which == 4;
    if (pin->on_point)
        return pl_read_vector(reader, pin->point_node, pin->point);
    return pl_read_picks(reader, nodes[which], which == 1 || which == 3, &pin->picks,
                         &pin->pick_count);
}

/* A target is one key at time 0. */
static pl_status read_target(pl_scene_reader *reader, pl_scene_pin *pin)
{
    pl_motion *motion = &pin->motion;
    if (pin->keys_node)
        return PL_SCENE_FAIL(reader, pin->target_node, "give either \"target\" or \"keys\"");
    motion->keys = PL_SCENE_NEW(reader, pl_motion_key, 1);
    if (!motion->keys)
        return pl_scene_no_memory(reader);
    motion->key_count = 1;
    motion->has_vectors = true;
    return pin->has_direction
               ? pl_read_unit_vector(reader, pin->target_node, motion->keys[0].vector)
               : pl_read_vector(reader, pin->target_node, motion->keys[0].vector);
}

pl_status pl_read_pin(pl_scene_reader *reader, uint32_t node, pl_scene_pin *pin)
{
    pin->strength = 0;
    PL_TRY(pl_read_object(reader, node, &pl_object_pin, pin));
    PL_TRY(pl_find_body(reader, node, pin->body_name, &pin->body));
    PL_TRY(read_pin_place(reader, pin));
    pin->has_direction = pin->direction_node != 0;
    if (pin->has_direction)
        PL_TRY(pl_read_unit_vector(reader, pin->direction_node, pin->direction));
    if (pin->has_direction && pin->frame)
        return PL_SCENE_FAIL(
            reader, node,
            "give either \"direction\" (one) or \"frame\" (a position and all three)");
    if (pin->has_direction && pin->relative)
        return PL_SCENE_FAIL(
            reader, node, "\"relative\" is for positions; a direction can be turned with \"turn\"");
    pin->motion.relative = pin->relative;
    PL_TRY(pl_read_ease(reader, &pin->place, pin->ease, &pin->motion.smooth));
    if (pin->target_node)
        PL_TRY(read_target(reader, pin));
    if (pin->keys_node)
        PL_TRY(read_keys(reader, pin->keys_node,
                         pin->has_direction ? KEYS_OF_DIRECTIONS : KEYS_OF_POSITIONS,
                         &pin->motion));
    if (pin->turn_node)
        PL_TRY(pl_read_turns(reader, pin->turn_node, &pin->motion));
    return PL_OK;
}

/* ---- Driven particles and forces ------------------------------------------------------------- */

/* "particle" or "particles"; neither is allowed where it means the whole body. */
static pl_status read_particles(pl_scene_reader *reader, const pl_scene_place *place, uint32_t one,
                                uint32_t many, bool optional, pl_pick **picks, int *count)
{
    if (one && many)
        return PL_SCENE_FAIL(reader, place->node, "give either \"particle\" or \"particles\"");
    if (!one && !many)
        return optional ? PL_OK
                        : PL_SCENE_FAIL(reader, place->node,
                                        "the key \"particle\" or \"particles\" is missing");
    return pl_read_picks(reader, one ? one : many, many != 0, picks, count);
}

pl_status pl_read_drive(pl_scene_reader *reader, uint32_t node, pl_scene_drive *drive)
{
    PL_TRY(pl_read_object(reader, node, &pl_object_drive, drive));
    PL_TRY(pl_find_body(reader, node, drive->body_name, &drive->body));
    PL_TRY(read_particles(reader, &drive->place, drive->particle_node, drive->particles_node, false,
                          &drive->picks, &drive->pick_count));
    if (!drive->keys_node && !drive->turn_node)
        return PL_SCENE_FAIL(
            reader, node,
            "give \"keys\", \"turn\" or both; what only stays put goes into the body's "
            "\"fixed\"");
    drive->motion.relative = drive->relative;
    return pl_read_motion(reader, &drive->place, drive->ease, drive->keys_node, drive->turn_node,
                          &drive->motion);
}

pl_status pl_read_force(pl_scene_reader *reader, uint32_t node, pl_scene_force *force)
{
    force->to = INFINITY;
    PL_TRY(pl_read_object(reader, node, &pl_object_force, force));
    PL_TRY(pl_find_body(reader, node, force->body_name, &force->body));
    force->squeezes = pl_was_given(&pl_object_force, &force->place, "squeeze");
    if (force->squeezes == pl_was_given(&pl_object_force, &force->place, "force"))
        return PL_SCENE_FAIL(reader, node, "give one of \"force\" (newtons) and \"squeeze\"");
    if (force->squeezes && (force->particle_node || force->particles_node))
        return PL_SCENE_FAIL(reader,
                             force->particle_node ? force->particle_node : force->particles_node,
                             "does not go with \"squeeze\", which acts on all particles");
    if (force->from > force->to)
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, node, "to"),
                             "must not be before \"from\"");
    return read_particles(reader, &force->place, force->particle_node, force->particles_node, true,
                          &force->picks, &force->pick_count);
}
