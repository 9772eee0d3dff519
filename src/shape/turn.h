/* Cosine and sine of a fraction of a full turn. The nearest quarter turn is taken out exactly, so
   that what is built on circles comes out symmetric. */
#ifndef PL_SHAPE_TURN_H
#define PL_SHAPE_TURN_H

#include <math.h>

#include "math/elementary.h"

static inline void pl_turn(double turns, double *cosine, double *sine)
{
    double quarters = floor(4 * turns + 0.5);
    double angle = (4 * turns - quarters) * 1.57079632679489661923;
    double c = pl_cos(angle), s = pl_sin(angle);
    switch ((int)(quarters - 4 * floor(quarters / 4))) {
    case 0:
        *cosine = c, *sine = s;
        break;
    case 1:
        *cosine = -s, *sine = c;
        break;
    case 2:
        *cosine = -c, *sine = -s;
        break;
    default:
        *cosine = s, *sine = -c;
        break;
    }
}

#endif
