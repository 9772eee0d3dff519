/* How a body of oriented particles stays bent. */
#include "io/scene_parts.h"

pl_status pl_read_plasticity(pl_scene_reader *reader, uint32_t node,
                             pl_scene_plasticity *plasticity)
{
    plasticity->def = pl_default_plasticity_def();
    plasticity->wanted = true;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_TRUE)
        return PL_OK;
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "true, or an object"));
    return pl_read_object(reader, node, &pl_object_plasticity, plasticity);
}
