/* The steps of repair, in the order in which pl_surface_create takes them. Each fills in its part
   of the surface and of its report. */
#ifndef PL_SHAPE_SURFACE_PARTS_H
#define PL_SHAPE_SURFACE_PARTS_H

#include "shape/surface.h"
#include "shape/surface_tuples.h"

/* Which triangles share which edges. Side k of triangle t, from corner k to the next, has the
   number 3 t + k. */
typedef struct pl_surface_edges {
    int edge_count;
    int32_t *edge_of; /* [3 t] the edge of each side */
    int32_t *start;   /* [edge_count + 1] into `sides` */
    int32_t *sides;   /* [3 t] the sides on each edge, ascending */
} pl_surface_edges;

/* Whether the mesh can be read at all: pointers, indices, numbers. */
pl_status pl_surface_check(const pl_mesh *mesh, double weld, pl_error *error);

/* points, point_of_vertex, size, bounds. */
pl_status pl_surface_weld(pl_surface *surface, const pl_mesh *mesh, double weld, pl_error *error);

/* tets, without those that have no volume and the double ones, all of positive volume. */
pl_status pl_surface_take_tets(pl_surface *surface, const pl_mesh *mesh, pl_error *error);

/* Those too flat to be simulated go when the boundary of all is known. */
void pl_surface_drop_flat_tets(pl_surface *surface);

/* The faces that only one tetrahedron has, outward, as [*count][3] points in *faces, which the
   caller frees. */
pl_status pl_surface_tet_boundary(const pl_surface *surface, int32_t **faces, int *count,
                                  pl_error *error);

/* From the triangles as they are. Freed with pl_surface_edges_free also after a failure. */
bool pl_surface_edges_make(const pl_surface *surface, pl_surface_edges *edges);
void pl_surface_edges_free(pl_memory *memory, pl_surface_edges *edges);

/* Turns triangles so that neighbours and the outside agree. */
pl_status pl_surface_orient(pl_surface *surface, const pl_surface_edges *edges, pl_error *error);

/* Components, and what the report says of edges and points. Components of nothing but flat
   triangles do not count. */
pl_status pl_surface_find_components(pl_surface *surface, const pl_surface_edges *edges,
                                     const bool *flat, pl_error *error);

/* (point − middle of the bounds) / size: numbers about one, whatever the mesh's unit. */
static inline void pl_surface_local(const pl_surface *surface, int point, double local[3])
{
    for (int k = 0; k < 3; k++) {
        double middle = 0.5 * surface->report.lower[k] + 0.5 * surface->report.upper[k];
        local[k] = (surface->points[3 * (size_t)point + (size_t)k] - middle) / surface->size;
    }
}

#endif
