/* A closed triangle surface that can be changed: half-edges over growing arrays, with the three
   operations of remeshing (split, collapse, flip). Half-edge h = 3 t + c runs from corner c of
   triangle t to the next corner. */
#ifndef PL_SHAPE_BUILTIN_WEB_H
#define PL_SHAPE_BUILTIN_WEB_H

#include "base/array.h"
#include "base/error.h"
#include "math/vec3.h"

typedef struct pl_web_vertex {
    pl_vec3 at;
    double edge;   /* how long edges shall be here */
    int32_t first; /* a half-edge that begins here; -1 = the vertex is gone */
    bool border;   /* lies on the border of two materials */
} pl_web_vertex;

typedef struct pl_web {
    pl_memory *memory;
    pl_array vertex_array;   /* pl_web_vertex */
    pl_array corner_array;   /* int32_t, 3 per triangle: vertices; -1 = the triangle is gone */
    pl_array twin_array;     /* int32_t, 3 per triangle: the half-edge the other way */
    pl_array material_array; /* int32_t, 1 per triangle, once there are materials */
} pl_web;

static inline pl_web_vertex *pl_web_vertices(const pl_web *web)
{
    return (pl_web_vertex *)web->vertex_array.data;
}

static inline int32_t *pl_web_corners(const pl_web *web)
{
    return (int32_t *)web->corner_array.data;
}

static inline int32_t *pl_web_twins(const pl_web *web)
{
    return (int32_t *)web->twin_array.data;
}

static inline int32_t *pl_web_materials(const pl_web *web)
{
    return (int32_t *)web->material_array.data;
}

static inline int32_t pl_web_next(int32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}

static inline int32_t pl_web_previous(int32_t h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}

/* The next half-edge that begins where h begins. */
static inline int32_t pl_web_around(const pl_web *web, int32_t h)
{
    return pl_web_twins(web)[pl_web_previous(h)];
}

static inline int32_t pl_web_from(const pl_web *web, int32_t h)
{
    return pl_web_corners(web)[h];
}

static inline int32_t pl_web_to(const pl_web *web, int32_t h)
{
    return pl_web_corners(web)[pl_web_next(h)];
}

void pl_web_init(pl_web *web, pl_memory *memory);
void pl_web_free(pl_web *web);

/* Finds the twins of triangles just put in, drops all components but the largest and all gaps in
   the numbering. PL_ERROR_STATE where an edge does not have two triangles. */
pl_status pl_web_link(pl_web *web);
/* Renumbers what is left after collapses. */
pl_status pl_web_compact(pl_web *web);

int pl_web_valence(const pl_web *web, int32_t vertex);
bool pl_web_joined(const pl_web *web, int32_t a, int32_t b);
/* Twice the area times the normal of the triangle, as it would be with vertex v at the place
   `at`. */
pl_vec3 pl_web_normal_with(const pl_web *web, int32_t triangle, int32_t v, pl_vec3 at);

/* Puts a new vertex on the edge; -1 without memory. */
int32_t pl_web_split(pl_web *web, int32_t h, pl_web_vertex middle);
/* Whether the surface stays one, and no triangle turns over, when the edge shrinks to the place
   `at`. */
bool pl_web_may_collapse(const pl_web *web, int32_t h, pl_vec3 at);
/* Leaves the vertex h ran to, moved to `at`. */
void pl_web_collapse(pl_web *web, int32_t h, pl_vec3 at);
bool pl_web_may_flip(const pl_web *web, int32_t h);
void pl_web_flip(pl_web *web, int32_t h);

#endif
