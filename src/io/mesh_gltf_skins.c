/* Skins of a glTF document, in the pose the nodes are in: joint j takes a vertex by
   to_world(joint j) · inverse bind matrix j, and a vertex follows the mean of its joints' maps by
   its weights. As the format wants it, the place of the skinned mesh's own node plays no part. */
#include "io/mesh_gltf.h"

#include <math.h>

static pl_status read_inverse_binds(pl_gltf *gltf, uint32_t json, int accessor, pl_gltf_skin *skin)
{
    const pl_gltf_accessor *matrices = &gltf->accessors[accessor];
    if (matrices->components != 16 || matrices->count < (size_t)skin->joint_count)
        return pl_gltf_fail(gltf, json,
                            "inverseBindMatrices must be one MAT4 for each of %d joints",
                            skin->joint_count);
    if (matrices->count > gltf->read_bytes)
        return pl_gltf_fail(gltf, json, "more matrices than the file can hold");
    double *values = PL_NEW(gltf->memory, double, matrices->count * 16);
    if (!values)
        return pl_gltf_no_memory(gltf);
    pl_gltf_get_values(matrices, 16, false, values);
    for (int k = 0; k < skin->joint_count; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                skin->joints[k].m[i][j] = values[k * 16 + j * 4 + i];
    pl_memory_free(gltf->memory, values);
    return PL_OK;
}

static pl_status read_joints(pl_gltf *gltf, uint32_t array, pl_gltf_skin *skin)
{
    uint32_t at = array + 1;
    for (int k = 0; k < skin->joint_count; k++, at = pl_json_next(gltf->json, at)) {
        int node;
        PL_TRY(pl_gltf_index_of(gltf, at, PL_GLTF_NODES, &node));
        skin->joints[k] = pl_gltf_multiply(&gltf->nodes[node].to_world, &skin->joints[k]);
        if (!pl_gltf_is_finite(&skin->joints[k]))
            return pl_gltf_fail(gltf, at, "the joint's place is out of range");
    }
    return PL_OK;
}

pl_status pl_gltf_prepare_skin(pl_gltf *gltf, int index)
{
    pl_gltf_skin *skin = &gltf->skins[index];
    uint32_t json = gltf->tables[PL_GLTF_SKINS].nodes[index], array;
    int matrices;
    if (skin->joints)
        return PL_OK;
    PL_TRY(pl_gltf_member(gltf, json, "joints", PL_JSON_ARRAY, &array));
    PL_TRY(pl_gltf_index(gltf, json, "inverseBindMatrices", PL_GLTF_ACCESSORS, &matrices));
    skin->joint_count = array ? (int)gltf->json->nodes[array].as.container.count : 0;
    if (skin->joint_count == 0)
        return pl_gltf_fail(gltf, json, "a skin must have joints");
    skin->joints = PL_NEW(gltf->memory, pl_gltf_affine, skin->joint_count);
    if (!skin->joints)
        return pl_gltf_no_memory(gltf);
    for (int k = 0; k < skin->joint_count; k++)
        skin->joints[k] = pl_gltf_identity();
    if (matrices >= 0)
        PL_TRY(read_inverse_binds(gltf, json, matrices, skin));
    return read_joints(gltf, array, skin);
}
