/* The curves of a mesh as chains: polylines between ends and branching points, or closed. And, for
   a slender surface without curves, a line through its middle. */
#ifndef PL_SHAPE_SAMPLE_CHAINS_H
#define PL_SHAPE_SAMPLE_CHAINS_H

#include "shape/surface.h"

typedef struct pl_chains {
    int count;
    int32_t *start;  /* [count + 1] into points */
    int32_t *points; /* of each chain in order; a closed one ends with the point it begins with */
    int32_t *lines;  /* [as points] the line to the next; -1 at the end of a chain */
    bool *closed;    /* [count] no end and no branching on it */
    double *length;  /* [count] */
    int joint_count; /* ends and branching points, */
    int32_t *joint;  /* [point_count] numbered in the order of points; -1 = another */
} pl_chains;

/* On failure nothing is left to free. */
pl_status pl_chains_make(pl_memory *memory, const pl_surface *surface, pl_chains *chains,
                         pl_error *error);
void pl_chains_free(pl_memory *memory, pl_chains *chains);

/* `count` points in the middle of slices of equal thickness along the longest axis; the mean radius
   of each slice. Returns the length along the axis. */
double pl_centreline(const pl_surface *surface, int count, double *points, double *radii);

#endif
