/* A mesh made fit for simulation: vertices at one place welded to one point, triangles without area
   or twice there dropped, orientation made consistent and outward, components found. The mesh
   itself is not touched: point_of_vertex says which point a render vertex lies on. */
#ifndef PL_SHAPE_SURFACE_H
#define PL_SHAPE_SURFACE_H

#include "base/memory.h"
#include "pliant/cook.h"

typedef struct pl_surface {
    pl_memory *memory;
    int point_count;
    double *points; /* [p][3], the mesh's unit and origin */
    int32_t
        *point_of_vertex; /* [mesh vertex_count]; -1 = used by no triangle, line or tetrahedron */
    int triangle_count;
    int32_t *triangles; /* [t][3] points, counter-clockwise from outside */
    int32_t *source; /* [t] the mesh's triangle each came from (-1: boundary of the tetrahedra) */
    int component_count;
    int32_t *triangle_component; /* [t] */
    int32_t *point_component;    /* [p]; -1 = of no triangle */
    bool *component_closed;      /* [component_count] */
    int line_count;
    int32_t *lines; /* [l][2] points; those without length are dropped */
    int tet_count;
    int32_t *tets;         /* [k][4] points, all of positive volume */
    double size;           /* diagonal of the bounds */
    pl_mesh_report report; /* `volume` is filled in by whoever has an inside test */
} pl_surface;

/* `weld` (0 to 0.1): each vertex joins the first point nearer than weld · size, so every vertex
   lies within that of its point, points keep it from one another, and equal vertices always share
   one; below 1e-13 only equal ones do. Triangles whose height is below 1e-12 of their longest side
   have no area. Shells wound against the rest of the file and inside a body stay so: the walls of
   cavities. A mesh of tetrahedra without triangles gets the boundary of its tetrahedra as surface.
   PL_ERROR_ARGUMENT for indices out of range, coordinates that are no numbers or beyond 1e90,
   nothing there, no extent. */
pl_status pl_surface_create(pl_memory *memory, const pl_mesh *mesh, double weld,
                            pl_surface **surface, pl_error *error);
void pl_surface_destroy(pl_surface *surface); /* NULL is allowed */

#endif
