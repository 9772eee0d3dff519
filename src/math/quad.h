/* Vectors of three floats in the room of four. */
#ifndef PL_MATH_QUAD_H
#define PL_MATH_QUAD_H

#include <string.h>

/* Three numbers; the last is 0. */
typedef float pl_quad __attribute__((vector_size(16)));

static inline pl_quad pl_quad_load(const float *p)
{
    pl_quad v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void pl_quad_store(float *p, pl_quad v)
{
    memcpy(p, &v, sizeof v);
}

/* Three numbers with something else behind them, which is left out. */
static inline pl_quad pl_quad_three(const float *p)
{
    typedef int bits __attribute__((vector_size(16)));
    const bits first = {-1, -1, -1, 0};
    return (pl_quad)((bits)pl_quad_load(p) & first);
}

static inline pl_quad pl_quad_of(const float *three)
{
    return (pl_quad){three[0], three[1], three[2], 0};
}

static inline float pl_quad_sum(pl_quad v)
{
    return v[0] + v[1] + v[2];
}

static inline pl_quad pl_quad_cross(pl_quad a, pl_quad b)
{
    return (pl_quad){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0], 0};
}

#endif
