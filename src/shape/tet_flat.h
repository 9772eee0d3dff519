/* Which tetrahedra are too flat to be simulated: one rule for cooking, for models of tetrahedra and
   for their matter, so that none is kept by one of them and dropped by the next. */
#ifndef PL_SHAPE_TET_FLAT_H
#define PL_SHAPE_TET_FLAT_H

#include <math.h>
#include <stdbool.h>

/* Six times the volume must be more than this part of the cube of the longest edge, else gradients
   are noise. */
#define PL_TET_FLATTEST 6e-6

/* Rounding to float moves a corner by 6e-8 of the extent; a tetrahedron must be higher than some
   ten times that. */
#define PL_TET_LEAST_HEIGHT 1e-6

/* `volume6` is six times the volume, `longest2` the square of the longest edge, `size` the extent
   of the mesh where the corners are yet to be rounded to float, else 0. What is not flat before
   rounding is not flat after it. */
static inline bool pl_tet_is_flat(double volume6, double longest2, double size)
{
    double least = PL_TET_FLATTEST * sqrt(longest2) + PL_TET_LEAST_HEIGHT * size;
    return !(fabs(volume6) > least * longest2);
}

/* Both of these. The volume is positive where (b − a) × (c − a) · (d − a) is. */
static inline void pl_tet_measure(const double *const p[4], double *volume6, double *longest2)
{
    double e[3][3];
    *longest2 = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            double x = p[a][0] - p[b][0], y = p[a][1] - p[b][1], z = p[a][2] - p[b][2];
            *longest2 = fmax(*longest2, x * x + y * y + z * z);
        }
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            e[c][k] = p[c + 1][k] - p[0][k];
    *volume6 = (e[0][1] * e[1][2] - e[0][2] * e[1][1]) * e[2][0] +
               (e[0][2] * e[1][0] - e[0][0] * e[1][2]) * e[2][1] +
               (e[0][0] * e[1][1] - e[0][1] * e[1][0]) * e[2][2];
}

#endif
