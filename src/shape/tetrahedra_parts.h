/* What the files of the tetrahedral mesher share: a body-centred cubic lattice laid over a surface,
   and the points of it that lie inside. A place on the lattice is three integers, all even or all
   odd, in units of half a cell. A point has eight neighbours half a cell's diagonal away (short
   edges) and six a cell away (long edges); a tetrahedron of the lattice has two long edges,
   opposite each other, and four short ones. */
#ifndef PL_SHAPE_TETRAHEDRA_PARTS_H
#define PL_SHAPE_TETRAHEDRA_PARTS_H

#include "base/array.h"
#include "shape/tetrahedra.h"

enum {
    PL_LATTICE_NEIGHBOURS = 14,  /* the first eight along short edges */
    PL_LATTICE_SHORT = 8,        /* of them */
    PL_LATTICE_REACH = 1 << 19,  /* coordinates stay within 2 × this */
    PL_LATTICE_TETS_AROUND = 24, /* a point */
};

extern const int8_t pl_lattice_offset[PL_LATTICE_NEIGHBOURS][3];

/* Numbers of lattice places. Never walked through, so the order of what comes out does not depend
   on it. */
typedef struct pl_lattice_map {
    pl_memory *memory;
    uint64_t *keys; /* 0 = free */
    int32_t *numbers;
    size_t capacity, count;
} pl_lattice_map;

/* The number of a place; of a new one `fresh`, which is remembered unless it is -1. -2 without
   memory. */
int pl_lattice_number(pl_lattice_map *map, const int32_t place[3], int fresh);
void pl_lattice_map_free(pl_lattice_map *map);

typedef struct pl_lattice_point {
    int32_t place[3];
    int32_t body; /* parts of the surface that nothing solid joins are meshed apart */
} pl_lattice_point;

typedef struct pl_lattice {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_inside *inside;
    double lower[3], upper[3]; /* of the triangles */
    double origin[3], half;    /* a place is at origin + half · place */
    bool closed;               /* the inside changes at triangles only */
    long tests_left;           /* inside tests that may still be made */
    size_t most_points;
    bool overflow;    /* stopped at one of these limits; `points` is not complete */
    pl_array points;  /* pl_lattice_point: those inside, body by body */
    int body_count;   /* at least 1 */
    int32_t *body_of; /* [surface component]; only where body_count > 1 */
} pl_lattice;

/* Everything but the points; `cell` is the edge of a cube of the lattice, `phase` (in cells) shifts
   it. */
void pl_lattice_lay(pl_lattice *lattice, double cell, const double phase[3]);

/* Finds the points inside and their bodies. False without memory. */
bool pl_lattice_fill(pl_lattice *lattice);
void pl_lattice_free(pl_lattice *lattice);

static inline void pl_lattice_position(const pl_lattice *lattice, const double place[3],
                                       double position[3])
{
    for (int k = 0; k < 3; k++)
        position[k] = lattice->origin[k] + lattice->half * place[k];
}

/* Isosurface stuffing. Appends to `points` (double[3], in places) and `tets` (int32_t[4]). False
   without memory. */
bool pl_lattice_stuff(const pl_lattice *lattice, pl_array *points, pl_array *tets);

/* Moves points of the boundary so that it lies as much outside the surface as inside. False without
   memory. */
bool pl_lattice_fit(const pl_lattice *lattice, pl_array *points, pl_array *tets);

/* The cosine of the least dihedral angle of a tetrahedron; 2 when its volume is not positive. */
double pl_tet_sharpest(const double *a, const double *b, const double *c, const double *d);

#endif
