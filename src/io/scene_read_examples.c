/* Example poses of a body: drawn by warps, read from files, or given particle by particle; and the
   groups that choose among them. Poses themselves are made once the model is there
   (play_examples.c). */
#include "io/scene_parts.h"

static const double radian = 3.14159265358979323846 / 180;

static const char *const warp_words[] = {"twist", "bend", "S", "squash", "coil", "fold"};
enum { WARP_WORDS = sizeof warp_words / sizeof *warp_words };

/* `object` is the table the keys came from: a pose has those of a warp, too. */
static pl_status take_warp(pl_scene_reader *reader, const pl_scene_object *object,
                           const pl_scene_place *place, const pl_raw_warp *raw, pl_warp *warp)
{
    int kind;
    PL_TRY(pl_read_word(reader, raw->kind, warp_words, WARP_WORDS, &kind));
    *warp = pl_default_warp((pl_warp_kind)kind);
    const struct {
        const char *key;
        double given, *value;
    } numbers[] = {{"degrees", raw->degrees * radian, &warp->amount},
                   {"shorten", raw->shorten, &warp->shorten},
                   {"bulge", raw->bulge, &warp->bulge},
                   {"from", raw->from, &warp->from},
                   {"to", raw->to, &warp->to}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (pl_was_given(object, place, numbers[i].key))
            *numbers[i].value = numbers[i].given;
    if (pl_was_given(object, place, "folds"))
        warp->folds = raw->folds;
    for (int k = 0; k < 3; k++) {
        warp->axis[k] = raw->axis[k];
        warp->side[k] = raw->side[k];
    }
    return PL_OK;
}

static pl_status read_warps(pl_scene_reader *reader, uint32_t node, pl_scene_pose *pose)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of warps"));
    pose->warp_count = (int)pl_node_count(reader, node);
    if (pose->warp_count < 1)
        return PL_SCENE_FAIL(reader, node, "must not be empty");
    pose->warps = PL_SCENE_NEW(reader, pl_warp, pose->warp_count);
    if (!pose->warps)
        return pl_scene_no_memory(reader);
    uint32_t element = node + 1;
    for (int i = 0; i < pose->warp_count; i++, element = pl_json_next(reader->json, element)) {
        pl_raw_warp_object raw = {0};
        PL_TRY(pl_read_object(reader, element, &pl_object_warp, &raw));
        if (!raw.warp.kind)
            return PL_SCENE_FAIL(reader, element, "the key \"warp\" is missing: twist, bend, …");
        PL_TRY(take_warp(reader, &pl_object_warp, &raw.place, &raw.warp, &pose->warps[i]));
    }
    return PL_OK;
}

/* Without "warp" the keys of one have nothing to say. */
static pl_status check_alone(pl_scene_reader *reader, const pl_scene_pose *pose)
{
    static const char *const keys[] = {"degrees", "shorten", "bulge", "axis",
                                       "side",    "from",    "to",    "folds"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !pose->raw.kind; i++)
        if (pl_was_given(&pl_object_pose, &pose->place, keys[i]))
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, pose->place.node, keys[i]),
                                 "goes with \"warp\"");
    if (pose->rotations_node && !pose->positions_node)
        return PL_SCENE_FAIL(reader, pose->rotations_node, "goes with \"positions\"");
    if ((pose->frame_given || pose->body_name) && !pose->dump)
        return PL_SCENE_FAIL(reader, pose->place.node,
                             "\"frame\" and \"body\" go with \"dump\", a state written as .jsonl");
    return PL_OK;
}

static pl_status read_pose(pl_scene_reader *reader, uint32_t node, pl_scene_pose *pose)
{
    PL_TRY(pl_read_object(reader, node, &pl_object_pose, pose));
    pose->frame_given = pl_was_given(&pl_object_pose, &pose->place, "frame");
    int ways = (pose->raw.kind != 0) + (pose->warps_node != 0) + (pose->file != NULL) +
               (pose->dump != NULL) + (pose->positions_node != 0);
    if (ways != 1)
        return PL_SCENE_FAIL(
            reader, node,
            "give one of \"warp\" (twist, bend, S, squash, coil, fold), \"warps\", "
            "\"file\" (a deformed copy of the mesh), \"dump\" (a state of a run) "
            "and \"positions\"");
    PL_TRY(check_alone(reader, pose));
    if (pose->raw.kind) {
        pose->warp_count = 1;
        pose->warps = PL_SCENE_NEW(reader, pl_warp, 1);
        if (!pose->warps)
            return pl_scene_no_memory(reader);
        return take_warp(reader, &pl_object_pose, &pose->place, &pose->raw, pose->warps);
    }
    if (pose->warps_node)
        return read_warps(reader, pose->warps_node, pose);
    if (!pose->positions_node)
        return PL_OK;
    PL_TRY(pl_read_rows(reader, pose->positions_node, 3, &pose->position_count, &pose->positions));
    if (!pose->rotations_node)
        return PL_OK;
    PL_TRY(pl_read_rows(reader, pose->rotations_node, 4, &pose->rotation_count, &pose->rotations));
    uint32_t row = pose->rotations_node + 1;
    for (int i = 0; i < pose->rotation_count; i++, row = pl_json_next(reader->json, row))
        PL_TRY(pl_read_rotation(reader, row, pose->rotations + 4 * (size_t)i));
    if (pose->rotation_count != pose->position_count)
        return PL_SCENE_FAIL(reader, pose->rotations_node,
                             "has %d rotations for %d positions; one each", pose->rotation_count,
                             pose->position_count);
    return PL_OK;
}

static pl_status read_groups(pl_scene_reader *reader, uint32_t node, pl_scene_examples *examples)
{
    PL_TRY(
        pl_expect(reader, node, PL_JSON_ARRAY, "an array of groups, each an array of particles"));
    examples->group_count = (int)pl_node_count(reader, node);
    if (examples->group_count < 1)
        return PL_SCENE_FAIL(reader, node, "must not be empty");
    examples->groups = PL_SCENE_NEW(reader, pl_scene_group, examples->group_count);
    if (!examples->groups)
        return pl_scene_no_memory(reader);
    uint32_t element = node + 1;
    for (int i = 0; i < examples->group_count; i++) {
        pl_scene_group *group = &examples->groups[i];
        group->node = element;
        PL_TRY(pl_read_picks(reader, element, true, &group->picks, &group->pick_count));
        element = pl_json_next(reader->json, element);
    }
    return PL_OK;
}

static pl_status read_scope(pl_scene_reader *reader, pl_scene_examples *examples)
{
    static const char *const scopes[] = {"global", "groups", "local"};
    static const char *const rules[] = {"auto", "simplex", "nearest"};
    int scope = examples->groups_node ? PL_EXAMPLES_GROUPS : PL_EXAMPLES_GLOBAL, rule = 0;
    if (examples->scope_node)
        PL_TRY(pl_read_word(reader, examples->scope_node, scopes, 3, &scope));
    if (examples->rule_node)
        PL_TRY(pl_read_word(reader, examples->rule_node, rules, 3, &rule));
    if ((scope == PL_EXAMPLES_GROUPS) != (examples->groups_node != 0))
        return PL_SCENE_FAIL(reader,
                             examples->groups_node ? examples->groups_node : examples->scope_node,
                             "the scope \"groups\" and a list \"groups\" go together");
    examples->scope = (pl_example_scope)scope;
    examples->rule = (pl_example_rule)rule;
    return PL_OK;
}

static pl_status read_bias(pl_scene_reader *reader, uint32_t node, pl_scene_examples *examples)
{
    static const pl_field range = {.low = -1e6, .high = 1e6};
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array, a number for each pose"));
    if ((int)pl_node_count(reader, node) != examples->pose_count)
        return PL_SCENE_FAIL(reader, node, "has %d numbers for %d poses; one each",
                             (int)pl_node_count(reader, node), examples->pose_count);
    examples->bias = PL_SCENE_NEW(reader, float, examples->pose_count);
    if (!examples->bias)
        return pl_scene_no_memory(reader);
    uint32_t element = node + 1;
    for (int i = 0; i < examples->pose_count; i++, element = pl_json_next(reader->json, element)) {
        double bias;
        PL_TRY(pl_read_number(reader, element, &range, &bias));
        examples->bias[i] = (float)bias;
    }
    return PL_OK;
}

pl_status pl_read_examples(pl_scene_reader *reader, uint32_t node, pl_scene_examples *examples)
{
    examples->beta = pl_default_examples_def().beta;
    PL_TRY(pl_read_object(reader, node, &pl_object_examples, examples));
    PL_TRY(pl_expect(reader, examples->poses_node, PL_JSON_ARRAY, "an array of poses"));
    examples->pose_count = (int)pl_node_count(reader, examples->poses_node);
    if (examples->pose_count < 1 || examples->pose_count > PL_MAX_POSES)
        return PL_SCENE_FAIL(reader, examples->poses_node, "has %d poses; use 1 to %d",
                             examples->pose_count, PL_MAX_POSES);
    examples->poses = PL_SCENE_NEW(reader, pl_scene_pose, examples->pose_count);
    if (!examples->poses)
        return pl_scene_no_memory(reader);
    uint32_t element = examples->poses_node + 1;
    for (int i = 0; i < examples->pose_count; i++, element = pl_json_next(reader->json, element))
        PL_TRY(read_pose(reader, element, &examples->poses[i]));
    PL_TRY(read_scope(reader, examples));
    if (examples->bias_node)
        PL_TRY(read_bias(reader, examples->bias_node, examples));
    return examples->groups_node ? read_groups(reader, examples->groups_node, examples) : PL_OK;
}
