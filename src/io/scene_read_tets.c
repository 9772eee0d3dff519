/* How a tetrahedral body behaves. */
#include "io/scene_parts.h"

pl_status pl_read_tetrahedral(pl_scene_reader *reader, uint32_t node,
                              pl_scene_tetrahedral *tetrahedral)
{
    static const char *const rotations[] = {"exact", "quaternion", "folded"};
    static const char *const blended[] = {"sampled", "weight_cap", "threshold"};
    static const char *const volumes[] = {"trace", "determinant"};
    pl_tetrahedral_def *def = &tetrahedral->def;
    int rotation = PL_TET_EXACT, volume = PL_TET_TRACE;
    *def = pl_default_tetrahedral_def();
    tetrahedral->wanted = true;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_TRUE)
        return PL_OK;
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "true, or an object"));
    PL_TRY(pl_read_object(reader, node, &pl_object_tetrahedral, tetrahedral));
    if (tetrahedral->rotations_node)
        PL_TRY(pl_read_word(reader, tetrahedral->rotations_node, rotations, 3, &rotation));
    if (tetrahedral->volume_node)
        PL_TRY(pl_read_word(reader, tetrahedral->volume_node, volumes, 2, &volume));
    def->rotations = (pl_tet_rotations)rotation;
    def->volume = (pl_tet_volume)volume;
    bool chosen = pl_was_given(&pl_object_tetrahedral, &tetrahedral->place, "poisson");
    if (rotation == PL_TET_FOLDED && !chosen)
        def->poisson = 0; /* the only one it can have */
    for (size_t i = 0; rotation == PL_TET_EXACT && i < sizeof blended / sizeof *blended; i++)
        if (pl_was_given(&pl_object_tetrahedral, &tetrahedral->place, blended[i]))
            return PL_SCENE_FAIL(reader, node,
                                 "\"%s\" goes with \"rotations\" that are interpolated: "
                                 "\"quaternion\" or \"folded\"",
                                 blended[i]);
    return PL_OK;
}
