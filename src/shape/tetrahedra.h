/* Tetrahedra for any surface with an inside: a body-centred cubic lattice fitted to the boundary
   (isosurface stuffing, Labelle & Shewchuk 2007), and the embedding of other points in a
   tetrahedral mesh. */
#ifndef PL_SHAPE_TETRAHEDRA_H
#define PL_SHAPE_TETRAHEDRA_H

#include "shape/inside.h"

typedef struct pl_tets {
    int point_count, tet_count;
    double *points; /* [p][3] */
    int32_t *tets;  /* [k][4], positive volumes */
} pl_tets;

/* About `count` tetrahedra (within some 10 % from a few hundred on, where the body is not thinner
   than its cells), no dihedral angle below 10°. Parts thinner than a cell may be missing; bodies
   that do not touch share no points. PL_ERROR_ARGUMENT where there is no volume, or the body is too
   thin for so few. */
pl_status pl_tetrahedralise(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                            int count, pl_tets *tets, pl_error *error);
void pl_tets_free(pl_memory *memory, pl_tets *tets);

/* For each of `count` points the tetrahedron it lies in, or the nearest one, and its barycentric
   coordinates there (which sum to one; outside some are negative). Coordinates stay within
   ±PL_EMBED_LIMIT: a point too far away for that is taken to be nearer. Flat tetrahedra are
   allowed. PL_ERROR_ARGUMENT for no tetrahedra, corners out of range, and coordinates that are no
   numbers. */
#define PL_EMBED_LIMIT 100.0
pl_status pl_embed(pl_memory *memory, int point_count, const double *points, int tet_count,
                   const int32_t *tets, int count, const double *query, int32_t *tet,
                   float *barycentric, pl_error *error);

#endif
