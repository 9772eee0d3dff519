/* Cosine and sine of a fraction of a full turn, the same on every machine: the nearest quarter turn
   is taken out exactly, the rest is a Taylor polynomial (what is cut off is below 1e-16). Quarter
   turns come out exact, so that what is built on circles is symmetric. */
#ifndef PL_SHAPE_TURN_H
#define PL_SHAPE_TURN_H

#include <math.h>

static inline void pl_turn(double turns, double *cosine, double *sine)
{
    double quarters = floor(4 * turns + 0.5);
    double x = (4 * turns - quarters) * 1.57079632679489661923, u = x * x, s = 0, c = 0;
    for (int k = 17; k >= 3; k -= 2) { /* 1/k! by nested division */
        s = (1 + s) * -u / (k * (k - 1));
        c = (1 + c) * -u / ((k - 1) * (k - 2));
    }
    s = x + x * s;
    c = 1 + c;
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
