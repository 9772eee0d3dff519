/* How much a body is strained around each of its particles, from where they are and how they are
   turned. */
#ifndef PL_DRAW_STRAIN_H
#define PL_DRAW_STRAIN_H

#include <stdint.h>

/* A graph of oriented particles at rest. */
typedef struct pl_strain_graph {
    int particle_count, edge_count;
    int dimension;           /* 1 rod, 2 sheet, 3 solid */
    const double *positions; /* 3 each */
    const double *axes;      /* 4 each: the quaternion of the ellipsoid's axes */
    const double *radii;     /* 3 each */
    const int32_t *edges;    /* two particles each */
} pl_strain_graph;

/* The strain whose energy density, by the body's elastic energy (METHODS §1, Ee), is that of the
   particle's edges:

       e_i² = D Σ_j v_j ( ‖(R_i − R_j) Ē_j A_j^½‖² / v_j + ‖R_i(x̄_j − x̄_i) − (x_j − x_i)‖² ) / ‖x̄_j − x̄_i‖² / Σ_j v_j

   It is 0.1 in a bar drawn out by a tenth, and for all rigid motions 0. Times Young's modulus it is
   a stress. `positions` (3 each) and `rotations` (4 each) are those of now; `strains` gets one
   number per particle, `weights` (as many) is scratch. */
void pl_strain_find(const pl_strain_graph *graph, const double *positions, const double *rotations,
                    double *strains, double *weights);

/* Of a material given by the paper's raw stiffness k (kg m⁻³ s⁻²): the modulus that means the same
   on this graph. `volume` is that of the body. */
double pl_strain_young(const pl_strain_graph *graph, double stiffness, double volume);

#endif
