/* Pliant: meshes as files and artists have them: vertices with whatever belongs to their
   appearance, triangles, curves, tetrahedra. Plain arrays: fill one in from your own (pl_mesh mesh
   = {0};), or have it read from a file (pliant/files.h) or made (a built-in creature,
   pliant/cook.h). */
#ifndef PLIANT_MESH_H
#define PLIANT_MESH_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PL_MAX_UV_SETS = 8 };

/* What textures a material may have; each is an image of the look, or -1. */
typedef enum pl_texture_kind {
    PL_TEXTURE_COLOUR,
    PL_TEXTURE_METAL_ROUGH, /* glTF's packing: roughness in green, metalness in blue */
    PL_TEXTURE_NORMAL,
    PL_TEXTURE_OCCLUSION,
    PL_TEXTURE_EMISSION,
    PL_TEXTURE_KINDS
} pl_texture_kind;

/* A surface's appearance, in the terms of glTF's metallic-roughness model. */
typedef struct pl_look_material {
    const char *name; /* never NULL */
    float colour[4];  /* linear red, green, blue, opacity: 0 to 1 */
    float metal, roughness;
    float emission[3];
    bool two_sided;
    int alpha; /* 0 opaque, 1 mask (below `cutoff` is not there), 2 blend */
    float cutoff;
    int textures[PL_TEXTURE_KINDS];    /* image, or -1 */
    int texture_uvs[PL_TEXTURE_KINDS]; /* which UV set */
} pl_look_material;

typedef struct pl_image {
    const char *name;     /* or path of the file; never NULL */
    const char *mime;     /* "image/png", "image/jpeg", …; "" = not known */
    const uint8_t *bytes; /* the encoded file; NULL = it was named only, not embedded */
    size_t size;
} pl_image;

/* Everything about a surface that its motion does not touch but its users want back unchanged.
   Arrays that are NULL (and counts of 0) are absent. */
typedef struct pl_look {
    const float *normals;  /* 3 per vertex, unit */
    const float *tangents; /* 4 per vertex: unit, and the handedness ±1 */
    const float *colours;  /* 4 per vertex: linear red, green, blue, opacity */
    int uv_set_count;
    const float *uvs[PL_MAX_UV_SETS];  /* 2 per vertex; v runs down the image, as in glTF */
    const int32_t *triangle_materials; /* 1 per triangle; NULL = all have material 0 */
    int material_count;
    const pl_look_material *materials;
    int image_count;
    const pl_image *images;
    const int32_t
        *triangle_groups; /* 1 per triangle: OBJ's groups and objects, glTF's nodes, STL's solids */
    int group_count;
    const char *const *group_names;
} pl_look;

typedef struct pl_mesh {
    int vertex_count;
    const double *positions; /* 3 per vertex */
    int triangle_count;
    const int32_t *triangles; /* 3 vertices each, counter-clockwise seen from outside */
    int line_count;
    const int32_t *lines; /* 2 vertices each: curves, for rods */
    int tet_count;
    const int32_t *tets; /* 4 vertices each; (b − a) × (c − a) · (d − a) > 0 */
    pl_look look;
    void *owner; /* set by whatever made the mesh; leave NULL in your own */
} pl_mesh;

/* Frees what a reading or making call put into a mesh, and zeroes it. A mesh of your own arrays is
   only zeroed. */
PL_API void pl_mesh_free(pl_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
