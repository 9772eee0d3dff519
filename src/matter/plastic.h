/* The rules by which matter flows and tears, for one 3 × 3 gradient, in doubles: shared by all kinds of matter that have
   one (clusters now; tetrahedra and oriented particles). Splitting a cluster by what the second rule says is the cluster's
   business. */
#ifndef PL_MATTER_PLASTIC_H
#define PL_MATTER_PLASTIC_H

#include "math/mat3.h"
#include "math/rotation_lanes.h"

/* s1 / |s3| of a matrix; infinite for a singular one or one that is not finite. */
static inline double pl_condition(pl_mat3 a)
{
    double u[9], s[3], v[9];
    pl_svd3_double(1, &a.m[0][0], u, s, v);
    double least = fabs(s[2]);
    return least > 0 && s[0] < (double)INFINITY ? s[0] / least : (double)INFINITY;
}

/* The largest stretch of an elastic gradient, and its direction in the world: the first column of U. */
static inline double pl_largest_stretch(pl_mat3 elastic, pl_vec3 *direction)
{
    double u[9], s[3], v[9];
    pl_svd3_double(1, &elastic.m[0][0], u, s, v);
    *direction = pl_v3(u[0], u[3], u[6]);
    return s[0];
}

/* A plane with the normal n in the world has this unit normal in the rest space of the gradient F. */
static inline pl_vec3 pl_rest_normal(pl_mat3 gradient, pl_vec3 n)
{
    return pl_v3_normalise(pl_m3_mul_v3(pl_m3_transpose(gradient), n));
}

#endif
