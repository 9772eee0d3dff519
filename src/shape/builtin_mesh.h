/* From a figure to a mesh: a first surface on a grid, remeshed to even triangles of the wanted
   size, its edges laid along the borders of materials, subdivided, given normals and colours. */
#ifndef PL_SHAPE_BUILTIN_MESH_H
#define PL_SHAPE_BUILTIN_MESH_H

#include "shape/builtin_figure.h"
#include "shape/builtin_web.h"

/* Triangles of a built-in mesh at detail 1, about; creatures have a tenth more, and never much
   fewer than 1,000: it takes as many to show their limbs. */
#define PL_BUILTIN_TRIANGLES 6000.0

/* The figure's zero set on a grid: a closed manifold of one component, badly shaped. */
pl_status pl_figure_surface(const pl_figure *figure, double cell, pl_web *web);

/* Collapses edges much shorter than `edge`. */
pl_status pl_web_thin(pl_web *web, double edge);

/* Moves triangles towards equilateral ones with edges as long as pl_figure_edge says. The vertices'
   `edge` is set when it begins. */
pl_status pl_web_remesh(pl_web *web, const pl_figure *figure, double edge);
/* Evens out the triangles between borders, which stay. */
void pl_web_polish(pl_web *web, const pl_figure *figure, int rounds);

/* Smooths out folds, where the surface is finer than the mesh can be: there it leaves the surface a
   little. */
void pl_web_unfold(pl_web *web, const pl_figure *figure);
/* Removes edges much shorter than they should be, without moving borders. */
pl_status pl_web_tidy(pl_web *web, const pl_figure *figure);

/* Whether the triangles on both sides of the edge have different materials. */
bool pl_web_on_border(const pl_web *web, const pl_figure *figure, int32_t h);
/* Lays edges along the borders of the figure's materials, and says which triangle has which. */
pl_status pl_web_trace_materials(pl_web *web, const pl_figure *figure);
/* Four triangles of each. */
pl_status pl_web_subdivide(pl_web *web, const pl_figure *figure);

/* PL_ERROR_MEMORY, and the mesh untouched, when it fails. */
pl_status pl_figure_mesh(const pl_figure *figure, double detail, const pl_allocator *allocator,
                         pl_mesh *mesh);

#endif
