/* The inside of the glTF 2.0 reader. A document is taken apart once, table by table, into plain
   arrays whose every index is in range; only then are the nodes of the scene walked and their
   primitives turned into vertices and triangles.

   Memory is bounded by what was read: every table by the JSON that describes it, and the mesh,
   which grows when one mesh is shown by many nodes, by PL_GLTF_GROWTH. What moves (animations,
   morph targets) is left out; skinned meshes come in the pose their joints are in. */
#ifndef PL_IO_MESH_GLTF_H
#define PL_IO_MESH_GLTF_H

#include "io/json.h"
#include "io/mesh_readers.h"

enum {
    PL_GLTF_GROWTH = 256,   /* bytes of mesh for every byte read, at most … */
    PL_GLTF_BASE = 1 << 20, /* … and these */
    PL_GLTF_SPARSE = 8,     /* values of sparse accessors for every byte read, at most */
    PL_GLTF_SKIN_SETS = 2   /* joints and weights in fours */
};

/* The arrays at the top of a document. */
typedef enum pl_gltf_table {
    PL_GLTF_BUFFERS,
    PL_GLTF_VIEWS,
    PL_GLTF_ACCESSORS,
    PL_GLTF_MESHES,
    PL_GLTF_NODES,
    PL_GLTF_SCENES,
    PL_GLTF_SKINS,
    PL_GLTF_MATERIALS,
    PL_GLTF_TEXTURES,
    PL_GLTF_IMAGES,
    PL_GLTF_TABLES
} pl_gltf_table;

typedef struct pl_gltf_list {
    uint32_t *nodes; /* the JSON node of each element */
    int count;
} pl_gltf_list;

/* Bytes of a buffer, and what was decoded or opened for it. */
typedef struct pl_gltf_bytes {
    const uint8_t *data;
    size_t size;
    void *decoded;
    pl_mesh_source *file;
} pl_gltf_bytes;

typedef struct pl_gltf_view {
    pl_gltf_bytes bytes;
    size_t stride; /* 0 = packed */
} pl_gltf_view;

typedef struct pl_gltf_accessor {
    const uint8_t *data; /* NULL = zeros */
    size_t count, stride;
    int component_type, components;
    bool normalised;
    size_t sparse_count; /* values that replace those above, at ascending indices */
    const uint8_t *sparse_indices, *sparse_values;
    int sparse_index_type;
    uint32_t json;
} pl_gltf_accessor;

/* Rows of an affine map: x ↦ m[·][0…2] x + m[·][3]. */
typedef struct pl_gltf_affine {
    double m[3][4];
} pl_gltf_affine;

typedef struct pl_gltf_node {
    int parent, mesh, skin;
    bool is_placed, is_listed;
    pl_gltf_affine to_world; /* while it is not placed yet: to its parent */
} pl_gltf_node;

/* Vertex attributes, each an accessor or -1. */
typedef struct pl_gltf_attributes {
    int position, normal, tangent, colour, uvs[PL_MAX_UV_SETS];
    int joints[PL_GLTF_SKIN_SETS], weights[PL_GLTF_SKIN_SETS];
} pl_gltf_attributes;

typedef struct pl_gltf_primitive {
    pl_gltf_attributes attributes;
    int indices, mode, material;
    uint32_t json;
} pl_gltf_primitive;

typedef struct pl_gltf_mesh {
    int first, count; /* of the primitives */
} pl_gltf_mesh;

/* Where each joint takes a vertex of the skin: its node's place times its inverse bind matrix. */
typedef struct pl_gltf_skin {
    pl_gltf_affine *joints; /* NULL until the skin is first needed */
    int joint_count;
} pl_gltf_skin;

typedef struct pl_gltf {
    pl_memory *memory;
    pl_mesh_build *build;
    const pl_mesh_source *source;
    pl_error *error;
    pl_json *json;
    size_t json_start; /* of the JSON in a .glb */
    bool is_binary;
    pl_gltf_bytes chunk; /* a .glb's own buffer */
    pl_gltf_list tables[PL_GLTF_TABLES];
    pl_gltf_bytes *buffers;
    pl_gltf_view *views;
    pl_gltf_accessor *accessors;
    pl_gltf_primitive *primitives;
    pl_gltf_mesh *meshes;
    pl_gltf_node *nodes;
    pl_gltf_skin *skins;
    size_t read_bytes; /* the file and all its buffers */
    size_t sparse_total;
} pl_gltf;

/* ---- JSON (mesh_gltf_json.c) ----------------------------------------------------------------- */

/* The error names the place in the file and the path in the document. */
pl_status pl_gltf_fail(const pl_gltf *gltf, uint32_t json, const char *format, ...) PL_PRINTF(3, 4);
pl_status pl_gltf_no_memory(const pl_gltf *gltf);

/* The value of a member of some kind, 0 when there is none; another kind is an error. */
pl_status pl_gltf_member(const pl_gltf *gltf, uint32_t object, const char *key, pl_json_kind kind,
                         uint32_t *value);
/* These leave *value alone when there is no such member. */
pl_status pl_gltf_size(const pl_gltf *gltf, uint32_t object, const char *key, size_t *value);
pl_status pl_gltf_integer(const pl_gltf *gltf, uint32_t object, const char *key, int *value);
pl_status pl_gltf_flag(const pl_gltf *gltf, uint32_t object, const char *key, bool *value);
pl_status pl_gltf_numbers(const pl_gltf *gltf, uint32_t object, const char *key, int count,
                          double *values, bool *found);
pl_status pl_gltf_float(const pl_gltf *gltf, uint32_t object, const char *key, float *value);
pl_status pl_gltf_string(const pl_gltf *gltf, uint32_t object, const char *key, const char **text);
/* An index into a table; -1 when there is none. */
pl_status pl_gltf_index(const pl_gltf *gltf, uint32_t object, const char *key, pl_gltf_table table,
                        int *index);
/* One that is already at hand, an element of an array. */
pl_status pl_gltf_index_of(const pl_gltf *gltf, uint32_t json, pl_gltf_table table, int *index);
pl_status pl_gltf_read_tables(pl_gltf *gltf);

/* ---- Bytes (mesh_gltf_buffers.c, mesh_gltf_accessors.c) -------------------------------------- */

pl_status pl_gltf_read_buffers(pl_gltf *gltf);
pl_status pl_gltf_read_views(pl_gltf *gltf);
void pl_gltf_free_bytes(pl_gltf *gltf, pl_gltf_bytes *bytes);
/* Decodes "data:…;base64,…". */
bool pl_gltf_is_data_uri(const char *uri);
/* Undoes %20 and the like; false when the text ends inside one, or a 0 would come out. `out` is as
   large as `uri`. */
bool pl_gltf_decode_percent(const char *uri, char *out);
pl_status pl_gltf_decode_uri(const pl_gltf *gltf, uint32_t json, const char *uri, size_t length,
                             pl_gltf_bytes *bytes);

pl_status pl_gltf_read_accessors(pl_gltf *gltf);
/* Elements as doubles, `components` each; those an accessor lacks are 0. `values` holds
   count · components. */
void pl_gltf_get_values(const pl_gltf_accessor *accessor, int components, bool normalised,
                        double *values);
/* Whether it can hold indices: scalars without a sign; and those as integers. */
bool pl_gltf_is_index_accessor(const pl_gltf_accessor *accessor);
void pl_gltf_get_indices(const pl_gltf_accessor *accessor, uint32_t *values);

/* ---- The scene (mesh_gltf_nodes.c, mesh_gltf_skins.c, mesh_gltf_primitives.c) ---------------- */

pl_gltf_affine pl_gltf_identity(void);
pl_gltf_affine pl_gltf_multiply(const pl_gltf_affine *a, const pl_gltf_affine *b);
double pl_gltf_determinant(const pl_gltf_affine *a);
bool pl_gltf_is_finite(const pl_gltf_affine *a);
/* Nodes, each with its place in the world; cycles are refused. */
pl_status pl_gltf_read_nodes(pl_gltf *gltf);
/* Makes sure that the joints of a skin are known. */
pl_status pl_gltf_prepare_skin(pl_gltf *gltf, int skin);
pl_status pl_gltf_read_meshes(pl_gltf *gltf);
/* The nodes of the scene in order, parents first; *shown is freed by the caller. */
pl_status pl_gltf_list_scene(pl_gltf *gltf, int **shown, int *count);
/* About how many bytes a mesh takes each time it is shown. */
size_t pl_gltf_mesh_bytes(const pl_gltf *gltf, int mesh);
/* Adds a mesh to the one being built, where a node (-1 = none) puts it. */
pl_status pl_gltf_add_mesh(pl_gltf *gltf, int mesh, int node);

/* Images and materials, numbered in the mesh as in the document. */
pl_status pl_gltf_read_images(pl_gltf *gltf);
pl_status pl_gltf_read_materials(pl_gltf *gltf);

#endif
