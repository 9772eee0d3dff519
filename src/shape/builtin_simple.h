/* Built-in things that are better laid out by hand than cut from a distance function: grids with
   texture coordinates. */
#ifndef PL_SHAPE_BUILTIN_SIMPLE_H
#define PL_SHAPE_BUILTIN_SIMPLE_H

#include "pliant/mesh.h"

pl_status pl_simple_torus(double detail, const pl_allocator *allocator, pl_mesh *mesh);
pl_status pl_simple_column(double detail, const pl_allocator *allocator, pl_mesh *mesh);
pl_status pl_simple_cylinder(double detail, const pl_allocator *allocator, pl_mesh *mesh);
pl_status pl_simple_cuboid(double detail, const pl_allocator *allocator, pl_mesh *mesh);
pl_status pl_simple_sheet(double detail, const pl_allocator *allocator, pl_mesh *mesh);
pl_status pl_simple_rope(double detail, const pl_allocator *allocator, pl_mesh *mesh);

#endif
