/* The rest state of something deformable, as the solvers want it: lengths in a power-of-two unit
   near the mean edge length, about a centre, so that kernels are dimensionless and scaling a model
   by 2^n changes no bit. Immutable after creation and shared; everything that depends on step,
   material or fixed particles lives elsewhere. */
#ifndef PL_SHAPE_MODEL_H
#define PL_SHAPE_MODEL_H

#include <stdatomic.h>

#include "base/memory.h"
#include "pliant/pliant.h"
#include "sparse/symbolic.h"

struct pl_model {
    atomic_int references;
    pl_memory memory;
    uint64_t hash;

    int particle_count, edge_count, vertex_count, triangle_count, influence_count;
    int piece_count; /* connected parts of the graph */
    int tet_point_count, tet_count;
    int dimension;
    double unit;        /* metres per unit of length here: a power of two */
    double spacing;     /* mean edge length, units (0 for a single particle) */
    double volume;      /* of the body, units³ */
    double reach;       /* largest distance of a particle from the centre, units */
    double edge_volume; /* Σ_edges (v_a + v_b), units³: what Young's modulus is divided by */
    double centre[3];   /* of the particles, in the caller's model space, metres */

    /* Particles: x̄, Ē, radii; v and Ā (xx, xy, xz, yy, yz, zz) of METHODS §1. */
    float *rest;        /* [n][3], from the centre */
    float *orientation; /* [n][4] */
    float *radii;       /* [n][3] */
    double *volumes;    /* [n] */
    double *moments;    /* [n][6] */

    /* Edges in the caller's order; offset = rest[b] - rest[a], subtracted in float, as the solver
       will do. */
    int32_t *edges;     /* [m][2] = a, b */
    float *edge_offset; /* [m][3] */

    /* The same graph from each particle's side, its edges in ascending edge number. */
    int32_t *start;     /* [n + 1] */
    int32_t *neighbour; /* [2m] */
    int32_t *edge_of;   /* [2m] */

    /* Gauss–Seidel order: greedy colours; no two particles of one colour are neighbours. */
    int colour_count;
    int32_t *order;        /* [n] particles, colour by colour, ascending within a colour */
    int32_t *colour_start; /* [colour_count + 1] into order */

    struct pl_clumps *clumps; /* how contact sees the particles */
    pl_symbolic *symbolic;    /* elimination order and pattern of the factor */

    /* Skinned surface (Eq. 2). */
    float *vertices;     /* [vertex_count][3], from the centre */
    int32_t *influences; /* [vertex_count][influence_count], -1 = none; the used ones come first */
    float *weights;      /* [vertex_count][influence_count] */
    int32_t *triangles;  /* [triangle_count][3] */
    float *normals;      /* [vertex_count][3], unit: the look's, or computed */
    float *tangents;     /* [vertex_count][4]: unit and ±1; NULL = the look has none */
    pl_look look;        /* its arrays belong to the model; normals and tangents are those above */

    /* Tetrahedra and the surface in them; all NULL where tet_count is 0. */
    float *tet_points;         /* [tet_point_count][3], from the centre */
    int32_t *tets;             /* [tet_count][4], positive volumes */
    int32_t *vertex_tet;       /* [vertex_count] */
    float *vertex_barycentric; /* [vertex_count][4], sums are one */

    /* Clusters of particles; all NULL where cluster_count is 0. */
    int cluster_count;
    int32_t *cluster_start;   /* [cluster_count + 1] */
    int32_t *cluster_members; /* ascending within a cluster */
    float *cluster_weights;   /* raw */
    float *cluster_radii;     /* [cluster_count] units */

    /* Memory that the arrays above may lie in instead of blocks of their own. */
    char *packed; /* the bytes a model was unpacked from, or NULL */
    size_t packed_size;
    void *look_block; /* tables and arrays of the look, or NULL */
};

#endif
