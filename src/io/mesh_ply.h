/* The header of a PLY file: elements with counts, and their properties in order. */
#ifndef PL_IO_MESH_PLY_H
#define PL_IO_MESH_PLY_H

#include "io/mesh_bytes.h"
#include "io/mesh_readers.h"
#include "io/mesh_text.h"

typedef enum pl_ply_format { PL_PLY_ASCII, PL_PLY_LITTLE, PL_PLY_BIG } pl_ply_format;

typedef enum pl_ply_type {
    PL_PLY_NONE, /* of `length`: not a list */
    PL_PLY_I8,
    PL_PLY_U8,
    PL_PLY_I16,
    PL_PLY_U16,
    PL_PLY_I32,
    PL_PLY_U32,
    PL_PLY_F32,
    PL_PLY_F64
} pl_ply_type;

/* What a property is to us. */
typedef enum pl_ply_role {
    PL_PLY_IGNORED,
    PL_PLY_X,
    PL_PLY_Y,
    PL_PLY_Z,
    PL_PLY_NX,
    PL_PLY_NY,
    PL_PLY_NZ,
    PL_PLY_RED,
    PL_PLY_GREEN,
    PL_PLY_BLUE,
    PL_PLY_ALPHA,
    PL_PLY_U,
    PL_PLY_V,
    PL_PLY_INDICES,
    PL_PLY_TEXCOORDS, /* of a face: two per corner */
    PL_PLY_FIRST_END,
    PL_PLY_SECOND_END,
    PL_PLY_ROLES
} pl_ply_role;

typedef enum pl_ply_element_kind {
    PL_PLY_OTHER,
    PL_PLY_VERTICES,
    PL_PLY_FACES,
    PL_PLY_STRIPS,
    PL_PLY_EDGES
} pl_ply_element_kind;

typedef struct pl_ply_property {
    uint8_t type, length, role; /* pl_ply_type, pl_ply_type of a list's length, pl_ply_role */
} pl_ply_property;

typedef struct pl_ply_element {
    pl_ply_element_kind kind;
    uint64_t count;
    size_t first_property, property_count;
    uint32_t roles; /* bit per role that some property has */
} pl_ply_element;

typedef struct pl_ply_header {
    pl_ply_format format;
    pl_array elements;   /* pl_ply_element */
    pl_array properties; /* pl_ply_property */
    size_t line;         /* of the first line behind the header */
    size_t offset;       /* its byte */
    size_t vertex_count; /* 0 without vertices; no more than the file has room for */
} pl_ply_header;

static inline size_t pl_ply_type_size(int type)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[type];
}

/* An element's properties; NULL when it has none. */
static inline const pl_ply_property *pl_ply_properties(const pl_ply_header *header,
                                                       const pl_ply_element *element)
{
    const pl_ply_property *all = header->properties.data;
    return element->property_count ? all + element->first_property : NULL;
}

/* The two arrays are freed by the caller, also after a failure. */
pl_status pl_ply_read_header(pl_mesh_build *build, const pl_mesh_source *source,
                             pl_ply_header *header, pl_error *error);

/* The fewest bytes one of these takes in the file. */
size_t pl_ply_least_bytes(const pl_ply_header *header, const pl_ply_element *element);

#endif
