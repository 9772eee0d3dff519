/* Clustered matter: bodies that dent, flow and break (Falkenstein 2017; Jones et al. 2016), whose
   letters stand beside the names. */
#ifndef PLIANT_CLUSTERED_H
#define PLIANT_CLUSTERED_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_cluster_rotation {
    PL_ROTATION_AUTO, /* of the gradient, or least squares where the body can break: torn clusters have all kinds of
                         shapes, and gain energy by the former. The default */
    PL_ROTATION_OF_GRADIENT,  /* polar(Fᵉ): of the deformation, whatever the sampling */
    PL_ROTATION_LEAST_SQUARES /* polar(A_xp Fᵖᵀ): exerts no torque */
} pl_cluster_rotation;

typedef enum pl_recluster_mode {
    PL_RECLUSTER_NONE,
    PL_RECLUSTER_EMBEDDED, /* new clusters from a local embedding; the default */
    PL_RECLUSTER_WORLD     /* from world positions: forgets elastic deformation; to compare with */
} pl_recluster_mode;

/* How the raw weight of a member falls with its distance d from the middle of a cluster of radius
   r. */
typedef enum pl_cluster_kernel {
    PL_KERNEL_FUZZY,   /* fuzzy c-means (Eq. 2.9 with m = 2): (r / d)²; the default */
    PL_KERNEL_INVERSE, /* 1 / (d² / r² + 1/16): flatter near the middle */
    PL_KERNEL_CONSTANT
} pl_cluster_kernel;

/* Rates are per second; where a raw value per sub-step is >= 0 it is used instead, as the papers'
   scenes need. */
typedef struct pl_clustered_def {
    pl_cluster_rotation rotation;
    double frequency;   /* f, Hz: α = min(1, (2πfh)²). Default 20 */
    double raw_alpha;   /* α in (0, 1]; default -1 */
    double damping;     /* c, 1/s: d = 1 − exp(−c h). Default 5 */
    double raw_damping; /* d in [0, 1]; default -1 */

    double strain_limit;   /* ℓ: of a cluster's width; 0 = no strain limiting. Default 0.2 */
    double strain_part;    /* θ in (0, 1]; default 0.2 */
    int strain_iterations; /* default 4 */
    bool strain_balanced;  /* momenta exact; default true */

    double yield;     /* λ >= 0; infinity (default) = no plastic flow */
    double flow;      /* r, 1/s: ν = 1 − exp(−r h). Default 10 */
    double raw_flow;  /* ν in [0, 1]; default -1 */
    double hardening; /* K, 1/s of `worked`; negative softens. Default 0 */

    pl_recluster_mode recluster;
    pl_cluster_kernel kernel; /* of clusters made while running; as those of the model were made */
    double condition;         /* of Fᵖ, beyond which a cluster is replaced; > 1. Default 6 */
    double fade_in, fade_out; /* seconds; defaults 5/60 and 10/60 */
    int wanted;               /* unmarked clusters a particle should have; 0 (default) = one */

    double toughness; /* stretch − 1 beyond which a cluster splits; infinity (default) = never */
    double toughness_boost; /* right after a cut toughness is multiplied by 1 + this… default 1 */
    double boost_decay;     /* …decaying at this rate, 1/s. Default 0.5 */
    double calm;            /* seconds a new half does not split. Default 1/30 */
    int least_members; /* smaller halves, and those with less than a quarter of the members that
                               clusters have in the mean, are dissolved into neighbours; default 4 */

    bool self_contact; /* between clusters that are not neighbours; default true */
    uint32_t cookie;   /* set by pl_default_clustered_def */
} pl_clustered_def;

PL_API pl_clustered_def pl_default_clustered_def(void);

#ifdef __cplusplus
}
#endif

#endif
