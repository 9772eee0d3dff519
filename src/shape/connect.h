/* From sampled points to an oriented graph: neighbours joined by proximity inside the body (never
   across the air between two legs), every component in one piece; an ellipsoid for each particle,
   fitted to the volume or surface nearest to it. */
#ifndef PL_SHAPE_CONNECT_H
#define PL_SHAPE_CONNECT_H

#include "shape/sample.h"

typedef struct pl_connect_def {
    pl_cook_kind kind; /* SOLID, SHELL or ROD */
    int edge_count;    /* wanted; 0 = as the neighbourhoods suggest */
    double thickness;  /* of shells, diameter of rods */
    uint64_t seed;
} pl_connect_def;

typedef struct pl_graph_parts {
    int particle_count, edge_count, piece_count;
    double *
        positions; /* [n][3]: the samples, moved to the centres of their cells where that is better */
    double *orientations; /* [n][4] */
    double *radii;        /* [n][3] */
    int32_t *edges;       /* [m][2], a < b, ascending */
    double volume;        /* of the body */
    double
        air; /* the longest way an edge runs outside of it: above the samples' distance only where nothing else holds a component
                   together; other samples (another seed) usually do better */
} pl_graph_parts;

/* `inside` may be NULL for shells and rods. */
pl_status pl_connect(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                     const pl_samples *samples, const pl_connect_def *def, pl_graph_parts *parts,
                     pl_error *error);
/* Samples and connects. A solid of few particles with an edge through more air than the sampling
   distance (a chord of a bent thin limb) is sampled anew from further seeds, and the best kept. A
   thickness of 0 becomes a third of the distance between samples. Free both results. */
pl_status pl_sample_and_connect(pl_memory *memory, const pl_surface *surface,
                                const pl_inside *inside, const pl_sample_def *sampling,
                                const pl_connect_def *def, pl_samples *samples,
                                pl_graph_parts *parts, pl_error *error);
void pl_graph_parts_free(pl_memory *memory, pl_graph_parts *parts);

#endif
