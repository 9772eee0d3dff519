/* How contact sees the particles of a model: cut into clumps of at most sixteen that lie near each
   other, so that one particle is tested against sixteen at once and boxes are few; and which
   particles of one body never touch each other, because they are neighbours or overlap at rest.
   Also what one particle looks like to the contact stage. */
#ifndef PL_SHAPE_CLUMPS_H
#define PL_SHAPE_CLUMPS_H

#include "base/memory.h"
#include "pliant/base.h"

enum { PL_CLUMP = 16 };

typedef struct pl_clumps {
    int count;
    int32_t *particle; /* [count][16]; places that are not used repeat the first of the clump */
    uint16_t *used;    /* [count] bit k: place k holds a particle */
    float *shape; /* [count][6][16] Ē diag(a², b², c²) Ēᵀ: xx, xy, xz, yy, yz, zz; model units */
    float
        *radius; /* [count][16] of the sphere around the ellipsoid; 0 in places that are not used */
    int32_t *place;   /* [n] where a particle is: 16 clump + place */
    float *spacing;   /* [count][16] to the nearest of its clump at rest; 0 = none, or not known */
    uint16_t *beside; /* [count][16] those of its clump about as near as that */

    /* For each particle the places it never touches: those it is joined to, at most two edges away,
       or overlaps at rest; clump by clump, ascending, itself included. */
    int32_t *apart_start; /* [n + 1] */
    int32_t *apart_clump;
    uint16_t *apart_mask;
} pl_clumps;

/* How many others a particle overlaps at rest: the mean of some thirty particles, or of all where
   there are fewer. That many entries the lists have for each. */
double pl_clumps_crowding(int n, const float *rest, const float *orientation, const float *radii);

/* Rest positions, oriented moments over volume (the shape matrices) and the graph of a model. NULL
   without memory. */
pl_clumps *pl_clumps_create(pl_memory *memory, int n, const float *rest, const float *orientation,
                            const float *radii, const int32_t *start, const int32_t *neighbour);
void pl_clumps_destroy(pl_memory *memory, pl_clumps *clumps); /* NULL is allowed */

/* A copy with room for so many particles, without the lists of those that never touch each other or
   lie beside each other: for bodies whose particles are divided and that do not touch themselves
   here. */
pl_clumps *pl_clumps_copy(pl_memory *memory, const pl_clumps *source, int n, int capacity);
/* Particle number `particle`, a sphere, behind all others; there is room for it. `n` is how many
   the copy began with. */
void pl_clumps_add_sphere(pl_clumps *clumps, int n, int32_t particle, float radius);

/* One particle in a sub-step: a cache line. */
typedef struct pl_primitive {
    float x[3];      /* metres from its body's base */
    float moved[3];  /* metres, in this sub-step */
    float turned[3]; /* rotation vector, in this sub-step */
    float shape[6];  /* B = E diag(a², b², c²) Eᵀ, square metres: xx, xy, xz, yy, yz, zz */
    float yield;     /* 1 / mass; 0 = does not give way */
} pl_primitive;

/* Where sixteen of them are: what the coarse tests look at. */
typedef struct pl_clump_places {
    float x[PL_CLUMP], y[PL_CLUMP], z[PL_CLUMP]; /* metres from the body's base */
} pl_clump_places;

#endif
