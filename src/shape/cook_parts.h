/* What cooking does besides calling the steps: which kind a mesh is, the centre line of a slender
   surface, the tetrahedra, and the model put together from the parts. */
#ifndef PL_SHAPE_COOK_PARTS_H
#define PL_SHAPE_COOK_PARTS_H

#include "pliant/cook.h"
#include "shape/connect.h"
#include "shape/model.h"
#include "shape/tetrahedra.h"

#define PL_COOK_COOKIE 0x504C434Bu

/* Everything made on the way; freed at the end. */
typedef struct pl_kitchen {
    const pl_cook_def *def;
    pl_memory memory;
    pl_surface *surface;
    pl_surface *curve; /* of a rod: its lines; the surface itself where that has some */
    pl_inside *inside; /* NULL without triangles */
    pl_samples samples;
    pl_graph_parts parts;
    pl_tets tets;
    double thickness;
    pl_cook_report report;
} pl_kitchen;

/* cook_kind.c: whether the surface encloses a volume: mostly closed, and not flat. */
bool pl_cook_is_solid(const pl_kitchen *kitchen);

/* cook_rod.c: fills kitchen->curve and the thickness that goes with it. */
pl_status pl_cook_find_curve(pl_kitchen *kitchen, pl_error *error);

/* cook_tets.c: tetrahedra as asked for, else those of the mesh, else none. */
pl_status pl_cook_find_tets(pl_kitchen *kitchen, pl_error *error);

/* cook_model.c */
pl_status pl_cook_make_model(pl_kitchen *kitchen, pl_model **model, pl_error *error);

#endif
