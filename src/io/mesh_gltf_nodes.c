/* Nodes of a glTF document: their hierarchy, made sure to be a forest, and where each puts what it
   shows: to_world = parent's to_world · matrix, or · translation · rotation · scale. */
#include "io/mesh_gltf.h"

#include <math.h>

pl_gltf_affine pl_gltf_identity(void)
{
    return (pl_gltf_affine){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

pl_gltf_affine pl_gltf_multiply(const pl_gltf_affine *a, const pl_gltf_affine *b)
{
    pl_gltf_affine out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] +
                          a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
    return out;
}

double pl_gltf_determinant(const pl_gltf_affine *a)
{
    const double(*m)[4] = a->m;
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

bool pl_gltf_is_finite(const pl_gltf_affine *a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            if (!(fabs(a->m[i][j]) <= 1e30))
                return false;
    return true;
}

/* R(q) diag(s), and t: q = (x, y, z, w), not necessarily of unit length. */
static bool compose(const double t[3], const double q[4], const double s[3], pl_gltf_affine *out)
{
    double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(length2 > 1e-20 && length2 < 1e20))
        return false;
    double k = 2 / length2, x = q[0], y = q[1], z = q[2], w = q[3];
    double r[3][3] = {
        {1 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w)},
        {k * (x * y + z * w), 1 - k * (x * x + z * z), k * (y * z - x * w)},
        {k * (x * z - y * w), k * (y * z + x * w), 1 - k * (x * x + y * y)},
    };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out->m[i][j] = r[i][j] * s[j];
        out->m[i][3] = t[i];
    }
    return true;
}

static pl_status read_place(const pl_gltf *gltf, uint32_t json, pl_gltf_affine *out)
{
    double matrix[16], t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool has_matrix, found;
    PL_TRY(pl_gltf_numbers(gltf, json, "matrix", 16, matrix, &has_matrix));
    PL_TRY(pl_gltf_numbers(gltf, json, "translation", 3, t, &found));
    PL_TRY(pl_gltf_numbers(gltf, json, "rotation", 4, q, &found));
    PL_TRY(pl_gltf_numbers(gltf, json, "scale", 3, s, &found));
    if (has_matrix) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                out->m[i][j] = matrix[j * 4 + i];
    } else if (!compose(t, q, s, out)) {
        return pl_gltf_fail(gltf, json, "rotation must be a unit quaternion");
    }
    return PL_OK;
}

static pl_status read_children(pl_gltf *gltf, uint32_t json, int parent)
{
    uint32_t array;
    PL_TRY(pl_gltf_member(gltf, json, "children", PL_JSON_ARRAY, &array));
    if (!array)
        return PL_OK;
    uint32_t end = gltf->json->nodes[array].as.container.end;
    for (uint32_t at = array + 1; at < end; at = pl_json_next(gltf->json, at)) {
        int child;
        PL_TRY(pl_gltf_index_of(gltf, at, PL_GLTF_NODES, &child));
        if (gltf->nodes[child].parent >= 0)
            return pl_gltf_fail(gltf, at, "node %d already is a child of node %d", child,
                                gltf->nodes[child].parent);
        gltf->nodes[child].parent = parent;
    }
    return PL_OK;
}

/* Places a node and, before it, its ancestors that are not placed yet. `path` has room for all
   nodes. */
static pl_status place(pl_gltf *gltf, int node, int *path)
{
    int count = gltf->tables[PL_GLTF_NODES].count, length = 0;
    for (int at = node; at >= 0 && !gltf->nodes[at].is_placed; at = gltf->nodes[at].parent) {
        if (length == count)
            return pl_gltf_fail(gltf, gltf->tables[PL_GLTF_NODES].nodes[node],
                                "the node is its own ancestor");
        path[length++] = at;
    }
    while (length > 0) {
        pl_gltf_node *at = &gltf->nodes[path[--length]];
        if (at->parent >= 0)
            at->to_world = pl_gltf_multiply(&gltf->nodes[at->parent].to_world, &at->to_world);
        if (!pl_gltf_is_finite(&at->to_world))
            return pl_gltf_fail(gltf, gltf->tables[PL_GLTF_NODES].nodes[path[length]],
                                "the node's place is out of range");
        at->is_placed = true;
    }
    return PL_OK;
}

pl_status pl_gltf_read_nodes(pl_gltf *gltf)
{
    const pl_gltf_list *list = &gltf->tables[PL_GLTF_NODES];
    gltf->nodes = PL_NEW(gltf->memory, pl_gltf_node, list->count);
    if (!gltf->nodes)
        return pl_gltf_no_memory(gltf);
    for (int i = 0; i < list->count; i++)
        gltf->nodes[i].parent = -1;
    for (int i = 0; i < list->count; i++) {
        pl_gltf_node *node = &gltf->nodes[i];
        PL_TRY(pl_gltf_index(gltf, list->nodes[i], "mesh", PL_GLTF_MESHES, &node->mesh));
        PL_TRY(pl_gltf_index(gltf, list->nodes[i], "skin", PL_GLTF_SKINS, &node->skin));
        PL_TRY(read_place(gltf, list->nodes[i], &node->to_world));
        PL_TRY(read_children(gltf, list->nodes[i], i));
    }
    int *path = PL_NEW(gltf->memory, int, list->count);
    pl_status status = path ? PL_OK : pl_gltf_no_memory(gltf);
    for (int i = 0; i < list->count && status == PL_OK; i++)
        status = place(gltf, i, path);
    pl_memory_free(gltf->memory, path);
    return status;
}

/* ---- The scene ------------------------------------------------------------------------------- */

static pl_status list_node(pl_gltf *gltf, int node, int *shown, int *count)
{
    if (!gltf->nodes[node].is_listed)
        shown[(*count)++] = node;
    gltf->nodes[node].is_listed = true;
    return PL_OK;
}

/* The nodes an array of JSON names. */
static pl_status list_array(pl_gltf *gltf, uint32_t object, const char *key, int *shown, int *count)
{
    uint32_t array;
    PL_TRY(pl_gltf_member(gltf, object, key, PL_JSON_ARRAY, &array));
    uint32_t end = array ? gltf->json->nodes[array].as.container.end : 0;
    for (uint32_t at = array + 1; at < end; at = pl_json_next(gltf->json, at)) {
        int node;
        PL_TRY(pl_gltf_index_of(gltf, at, PL_GLTF_NODES, &node));
        PL_TRY(list_node(gltf, node, shown, count));
    }
    return PL_OK;
}

/* The document's scene, or its first; without scenes all nodes are shown. */
static pl_status list_roots(pl_gltf *gltf, int *shown, int *count)
{
    int scene;
    PL_TRY(pl_gltf_index(gltf, 0, "scene", PL_GLTF_SCENES, &scene));
    if (scene < 0 && gltf->tables[PL_GLTF_SCENES].count > 0)
        scene = 0;
    if (scene >= 0)
        return list_array(gltf, gltf->tables[PL_GLTF_SCENES].nodes[scene], "nodes", shown, count);
    for (int i = 0; i < gltf->tables[PL_GLTF_NODES].count; i++)
        if (gltf->nodes[i].parent < 0)
            list_node(gltf, i, shown, count);
    return PL_OK;
}

pl_status pl_gltf_list_scene(pl_gltf *gltf, int **shown, int *count)
{
    *count = 0;
    *shown = PL_NEW(gltf->memory, int, gltf->tables[PL_GLTF_NODES].count);
    if (!*shown)
        return pl_gltf_no_memory(gltf);
    PL_TRY(list_roots(gltf, *shown, count));
    for (int i = 0; i < *count; i++)
        PL_TRY(list_array(gltf, gltf->tables[PL_GLTF_NODES].nodes[(*shown)[i]], "children", *shown,
                          count));
    return PL_OK;
}
