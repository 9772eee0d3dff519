/* Tetrahedral matter: corotated finite elements, with rotations fitted in every element or
   interpolated from a few (Fukuhara et al.). */
#ifndef PLIANT_TETRAHEDRAL_H
#define PLIANT_TETRAHEDRAL_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the rotations of the elements come from. */
typedef enum pl_tet_rotations {
    PL_TET_EXACT,      /* fitted in every element: the minimum of the energy; the default */
    PL_TET_QUATERNION, /* fitted in some, blended as quaternions and normalised in the others */
    PL_TET_FOLDED /* fitted in some, blended as matrices, folded into one constant product: fastest, for rotations that
                          change by less than some 16° per cell; without volume term and plastic flow */
} pl_tet_rotations;

/* What the volume term (Poisson's ratio above 0) draws an element to. */
typedef enum pl_tet_volume {
    PL_TET_TRACE, /* the linear term: E and ν exact at small strain, fast; loses volume at large stretch. The default */
    PL_TET_DETERMINANT /* det F = 1: keeps volume at any stretch, given enough iterations; converges slower */
} pl_tet_volume;

typedef struct pl_tetrahedral_def {
    double
        poisson; /* ν in [0, 0.4999]. Linear elements lock near 0.5: far too stiff in bending; and above 0.49 it needs
                    20 to 60 iterations, with fewer it is too soft. Default 0.3 */
    pl_tet_volume volume;

    pl_tet_rotations rotations;
    double
        sampled; /* part of the elements that are fitted, in (0, 1], where not all are. A fit includes the elements
                    beyond the faces, so that 1 is not the same as exact. Default 0.1 */
    int weight_cap;   /* samples an element blends at most, 1 to 16. Default 4 */
    double threshold; /* weights below this part of one are dropped, in [0, 0.5]. Default 0.01 */

    bool accelerated; /* quasi-Newton steps (L-BFGS) instead of plain ones. Default true */
    int window;       /* steps it remembers, 1 to 12. Default 12 */

    double yield;     /* λ >= 0; infinity (default) = no plastic flow */
    double flow;      /* r, 1/s: ν = 1 − exp(−r h). Default 10 */
    double hardening; /* K, 1/s of the work done; negative softens. Default 0 */
    double condition; /* of Fᵖ, beyond which an element flows no further; > 1. Default 6 */
    uint32_t cookie;  /* set by pl_default_tetrahedral_def */
} pl_tetrahedral_def;

PL_API pl_tetrahedral_def pl_default_tetrahedral_def(void);

#ifdef __cplusplus
}
#endif

#endif
