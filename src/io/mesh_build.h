/* How every reader puts a mesh together: vertices with their attributes, polygons (made into
   triangles here), lines, tetrahedra, groups, materials and images; pl_mesh_build_finish makes a
   pl_mesh of it.

   Two kinds of files are served. Where a vertex has everything (PLY, STL, OFF, glTF), readers add
   vertices, fill in attribute tables and add polygons of vertex numbers. Where corners choose
   position, texture coordinate and normal separately (OBJ), readers also add UVs and normals to the
   two pools and polygons of corners: finishing gives each combination a vertex of its own. Vertex i
   of the result is position i of the file, used or not, with the first combination a face gives it;
   further combinations follow behind, in the order of first use. Pool entries that are equal count
   as one; a corner without UV or normal keeps those of the vertex itself, if it has any.

   Functions fail only for want of memory (false, NULL or -1, nothing changed): return
   pl_mesh_build_no_memory then. Indices are the reader's to check, since it knows the line;
   finishing refuses what slipped through. */
#ifndef PL_IO_MESH_BUILD_H
#define PL_IO_MESH_BUILD_H

#include "base/array.h"
#include "base/error.h"
#include "shape/mesh.h"

typedef enum pl_mesh_attribute {
    PL_ATTRIBUTE_NORMAL,  /* 3 floats; default 0 0 0: made from the faces when finishing */
    PL_ATTRIBUTE_TANGENT, /* 4; default 0 0 0 0: some unit vector across the normal */
    PL_ATTRIBUTE_COLOUR,  /* 4, linear; default white */
    PL_ATTRIBUTE_UV,      /* 2; default 0 0; the second set is PL_ATTRIBUTE_UV + 1 … */
    PL_ATTRIBUTE_COUNT = PL_ATTRIBUTE_UV + PL_MAX_UV_SETS
} pl_mesh_attribute;

/* Corner of a polygon in a file with separate indices; uv and normal are numbers in the pools, or
   -1. */
typedef struct pl_mesh_corner {
    int32_t position, uv, normal;
} pl_mesh_corner;

/* A name or other text; offsets because the text moves while it grows. */
typedef struct pl_mesh_text {
    size_t start, length; /* in `texts`; a 0 follows */
} pl_mesh_text;

/* From this triangle on, this group and material. */
typedef struct pl_mesh_run {
    size_t first_triangle;
    int32_t group, material; /* -1 = none */
} pl_mesh_run;

typedef struct pl_mesh_build_image {
    pl_mesh_text name, mime;
    const uint8_t *bytes;
    size_t size;
} pl_mesh_build_image;

/* Names with their numbers; open addressing. */
typedef struct pl_mesh_names {
    pl_array texts;  /* pl_mesh_text, by number */
    uint32_t *slots; /* number + 1, 0 = free */
    size_t slot_count;
} pl_mesh_names;

typedef struct pl_mesh_build {
    pl_mesh_owner *owner;
    pl_memory *memory;                       /* the owner's */
    pl_array positions;                      /* double, 3 per vertex: elements are vertices */
    pl_array attributes[PL_ATTRIBUTE_COUNT]; /* rows of floats, 0 or one per vertex */
    pl_array triangles;                      /* int32_t × 3 */
    pl_array triangle_uvs, triangle_normals; /* int32_t × 3, 0 or one per triangle: pool numbers */
    pl_array lines;                          /* int32_t × 2 */
    pl_array tets;                           /* int32_t × 4 */
    pl_array pool_uvs, pool_normals;         /* float × 2, float × 3 */
    pl_array texts;                          /* char */
    pl_array runs;                           /* pl_mesh_run */
    pl_mesh_names groups, material_names;
    pl_array materials; /* pl_look_material; their names are set when finishing */
    pl_array images;    /* pl_mesh_build_image */
    pl_array polygon;   /* scratch of the polygon being cut */
    size_t work;        /* steps spent on cutting concave polygons */
    int32_t group, material;
} pl_mesh_build;

/* `size`: bytes of the file; memory is limited to PL_MESH_MEMORY times that and
   PL_MESH_MEMORY_BASE. */
enum { PL_MESH_MEMORY = 64, PL_MESH_MEMORY_BASE = 1 << 20 };
pl_status pl_mesh_build_init(pl_mesh_build *build, const pl_allocator *host, size_t size,
                             pl_error *error);

/* A second file of this size belongs to the mesh too. */
void pl_mesh_build_allow(pl_mesh_build *build, size_t size);

/* Frees whatever is left. Allowed after finishing and after a failed init. */
void pl_mesh_build_free(pl_mesh_build *build);

/* Hands everything over to *mesh. On failure the mesh is zeroed. The build is to be freed in both
   cases. */
pl_status pl_mesh_build_finish(pl_mesh_build *build, const char *name, pl_mesh *mesh,
                               pl_error *error);

/* Says so in the error and returns PL_ERROR_MEMORY. */
pl_status pl_mesh_build_no_memory(const pl_mesh_build *build, const char *name, pl_error *error);

/* ---- Vertices -------------------------------------------------------------------------------- */

static inline size_t pl_mesh_build_vertex_count(const pl_mesh_build *build)
{
    return build->positions.count;
}

/* Positions of `count` new vertices, 3 doubles each, to be filled in before the next call. */
double *pl_mesh_build_vertices(pl_mesh_build *build, size_t count);

/* Row `first` of an attribute's table, which then has a row for every vertex there is now, the new
   ones with the default value. Valid until the next call that adds vertices or attributes. Tables
   that fall behind are filled up with defaults when finishing. */
float *pl_mesh_build_attribute(pl_mesh_build *build, int attribute, size_t first);

static inline int pl_mesh_attribute_width(int attribute)
{
    return attribute == PL_ATTRIBUTE_NORMAL ? 3 : attribute < PL_ATTRIBUTE_UV ? 4 : 2;
}

/* A colour value as screens have it (sRGB, 0 to 1; beyond that is cut off) made linear, as looks
   have it; and those of all 256 bytes. */
float pl_mesh_linear(double srgb);
void pl_mesh_linear_table(float table[256]);

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A polygon of vertices: count − 2 triangles, counter-clockwise as the polygon. Convex ones become
   fans, concave ones are cut at ears in their plane, those that cross themselves get what ears
   there are and a fan of the rest. Fewer than 3 corners have no area and give nothing. */
bool pl_mesh_build_polygon(pl_mesh_build *build, const int32_t *vertices, size_t count);
bool pl_mesh_build_corners(pl_mesh_build *build, const pl_mesh_corner *corners, size_t count);
bool pl_mesh_build_triangle(pl_mesh_build *build, int32_t a, int32_t b, int32_t c);
/* `count` new triangles, 3 vertex numbers each, to be filled in before the next call. */
int32_t *pl_mesh_build_triangles(pl_mesh_build *build, size_t count);
bool pl_mesh_build_line(pl_mesh_build *build, int32_t a, int32_t b);
bool pl_mesh_build_tet(pl_mesh_build *build, const int32_t vertices[4]);

/* ---- Groups, materials, images --------------------------------------------------------------- */

/* Triangles added from now on belong to this group; equal names are one group. Groups without
   triangles are left out of the mesh. A length of SIZE_MAX takes strlen. Control characters become
   '?'. */
bool pl_mesh_build_group(pl_mesh_build *build, const char *name, size_t length);
/* The same for a new group each time, even when the name was there before. */
bool pl_mesh_build_new_group(pl_mesh_build *build, const char *name, size_t length);

/* Number of the material with this name, -1 = none. */
int32_t pl_mesh_build_find_material(const pl_mesh_build *build, const char *name, size_t length);
/* A new material: white, rough, no textures (glTF's defaults with metal 0). Names need not
   differ. */
int32_t pl_mesh_build_material(pl_mesh_build *build, const char *name, size_t length);
/* To fill in; valid until the next material. */
pl_look_material *pl_mesh_build_material_at(pl_mesh_build *build, int32_t material);
/* Triangles added from now on have it; -1 = none (they share a default one where others have
   materials). */
bool pl_mesh_build_use_material(pl_mesh_build *build, int32_t material);

/* An image by name; `bytes` (NULL = none) are copied. Its number, or -1. */
int32_t pl_mesh_build_image_add(pl_mesh_build *build, const char *name, size_t length,
                                const char *mime, const uint8_t *bytes, size_t size);

#endif
