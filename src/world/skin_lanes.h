/* The skinning kernel, compiled once per vector width. Every vertex is computed by itself, in the
   same order of operations at every width: the bits do not depend on it, nor on how vertices are
   cut into spans. */
#ifndef PL_WORLD_SKIN_LANES_H
#define PL_WORLD_SKIN_LANES_H

#include "pliant/base.h"

/* Floats of one particle's matrix: three rows of [R | x − R x̄], times the metres per unit of the
   model's lengths, a power of two; and a row of zeros. */
enum { PL_POSE = 16 };

/* A run of vertices of one body. All arrays begin with its first vertex. */
typedef struct pl_skin_span {
    int count;
    const float *poses; /* [particle][PL_POSE], aligned to 64 bytes; particle -1 is all zeros */
    int influence_count;
    const int32_t *influences; /* [count][influence_count], -1 = none, with weight 0 */
    const float *weights;      /* [count][influence_count] */
    const float *vertices;     /* [count][3] */
    const float *normals;      /* [count][3] */
    const float *tangents;     /* [count][4]; may be NULL when none are wanted */
    double origin[3];          /* metres: what the matrices are relative to */
    pl_buffer positions_out, normals_out, tangents_out; /* data NULL = not wanted */
} pl_skin_span;

typedef void pl_skin_function(const pl_skin_span *span);

/* NULL when this machine does not run that width. */
pl_skin_function *pl_skin_function_of(int width);

#endif
