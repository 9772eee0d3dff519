/* The bytes of a packed model (.pliant files). All numbers are little-endian; floats are IEEE 754.

       header    64 bytes: pl_packed_header, the rest 0
       table     32 bytes per section: pl_packed_entry, ascending by offset
       sections  each at a multiple of 64 bytes, in the order of the table, padded with zeros

   A section is an array of one kind (pl_packed_kind); those of no elements are left out. The arrays
   are laid out as the solver wants them, so that bytes mapped or read into aligned memory are used
   where they lie. Stored is what cannot be derived in linear time: particles, edges, the order of
   colours, the order of elimination, the skin, the look, tetrahedra, clusters. The hash covers
   every byte but itself. */
#ifndef PL_SHAPE_PACKED_H
#define PL_SHAPE_PACKED_H

#include "shape/model.h"

#define PL_PACKED_MAGIC "PLIANT\x1a\n"
enum { PL_PACKED_VERSION = 1, PL_PACKED_ALIGNMENT = 64, PL_PACKED_HEADER = 64 };

typedef enum pl_packed_kind {
    PL_PACKED_FACTS = 1, /* pl_packed_facts */
    PL_PACKED_REST,
    PL_PACKED_ORIENTATION,
    PL_PACKED_RADII,
    PL_PACKED_EDGES,
    PL_PACKED_ORDER,
    PL_PACKED_COLOUR_START,
    PL_PACKED_ELIMINATION, /* particles in the order of pivots */
    PL_PACKED_VERTICES,
    PL_PACKED_INFLUENCES,
    PL_PACKED_WEIGHTS,
    PL_PACKED_TRIANGLES,
    PL_PACKED_NORMALS,
    PL_PACKED_TANGENTS,
    PL_PACKED_COLOURS,
    PL_PACKED_UVS, /* and the seven after it */
    PL_PACKED_TRIANGLE_MATERIALS = PL_PACKED_UVS + PL_MAX_UV_SETS,
    PL_PACKED_TRIANGLE_GROUPS,
    PL_PACKED_MATERIALS, /* pl_packed_material */
    PL_PACKED_IMAGES,    /* pl_packed_image */
    PL_PACKED_GROUPS,    /* pl_packed_text */
    PL_PACKED_STRINGS,   /* bytes: texts, each followed by a zero */
    PL_PACKED_PICTURES,  /* bytes: the image files */
    PL_PACKED_TET_POINTS,
    PL_PACKED_TETS,
    PL_PACKED_VERTEX_TETS,
    PL_PACKED_VERTEX_BARYCENTRIC,
    PL_PACKED_CLUSTER_START, /* one more than there are clusters */
    PL_PACKED_CLUSTER_MEMBERS,
    PL_PACKED_CLUSTER_WEIGHTS,
    PL_PACKED_CLUSTER_RADII,
    PL_PACKED_KINDS
} pl_packed_kind;

typedef struct pl_packed_header {
    char magic[8];
    uint64_t version, section_count;
    uint64_t size; /* of everything, header included */
    uint64_t hash;
} pl_packed_header;

typedef struct pl_packed_entry {
    uint64_t kind, offset, size; /* bytes */
    uint64_t count;              /* elements */
} pl_packed_entry;

/* Every member 8 bytes. */
typedef struct pl_packed_facts {
    uint64_t particle_count, edge_count, vertex_count, triangle_count, influence_count,
        colour_count;
    uint64_t dimension, tet_point_count, tet_count;
    uint64_t uv_set_count, material_count, image_count, group_count;
    uint64_t has_normals; /* the look's own; 0 = they were computed */
    double unit, spacing, volume;
    double centre[3];
} pl_packed_facts;

/* Every member 4 bytes in these two, so that they turn as a whole on big-endian machines. */
typedef struct pl_packed_text {
    uint32_t offset, length; /* in the strings, without the zero */
} pl_packed_text;

typedef struct pl_packed_material {
    pl_packed_text name;
    float colour[4], metal, roughness, emission[3], cutoff;
    int32_t two_sided, alpha;
    int32_t textures[PL_TEXTURE_KINDS], texture_uvs[PL_TEXTURE_KINDS];
} pl_packed_material;

typedef struct pl_packed_image {
    uint64_t name, name_length, mime, mime_length; /* in the strings */
    uint64_t embedded, offset, size;               /* in the pictures */
} pl_packed_image;

/* What an array of this kind is made of; 0 bytes for a kind that is not known. */
typedef struct pl_packed_element {
    size_t size, word; /* bytes of an element, and of the numbers in it */
    const char *name;
} pl_packed_element;
pl_packed_element pl_packed_element_of(uint64_t kind);

/* Turns the numbers between this machine's order and the file's; nothing on little-endian ones. */
void pl_packed_turn(void *bytes, size_t size, size_t word);

/* The hash of packed bytes, and the same put in its place. `size` is at least that of the
   header. */
uint64_t pl_packed_hash(const void *bytes, size_t size);
void pl_packed_seal(void *bytes, size_t size);

/* A model that takes over `block`, which came from `memory` (64-byte aligned) and is freed with the
   model, or by this call when it fails. */
pl_status pl_model_adopt(const pl_memory *memory, char *block, size_t size, pl_model **model,
                         pl_error *error);

#endif
