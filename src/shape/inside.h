/* Where a point is with regard to a surface: generalised winding number (Jacobson et al. 2013) over
   a hierarchy with far-field expansions (Barill et al. 2018), closest point, and segments against
   triangles. Works on open, self-intersecting and non-manifold surfaces. Read-only after creation:
   any number of threads may ask at once. */
#ifndef PL_SHAPE_INSIDE_H
#define PL_SHAPE_INSIDE_H

#include "shape/surface.h"

typedef struct pl_inside pl_inside;

/* Keeps pointers into the surface, which must outlive it. */
pl_status pl_inside_create(pl_memory *memory, const pl_surface *surface, pl_inside **inside,
                           pl_error *error);
void pl_inside_destroy(pl_inside *inside); /* NULL is allowed */

/* About 1 inside a closed surface, 0 outside, −1 inside an inverted one, fractions near holes;
   within 1e-3 of the exact sum of solid angles. Arbitrary on the surface itself. */
double pl_inside_winding(const pl_inside *inside, const double point[3]);

/* Whether |winding| is above one half: several times as fast as the number itself. */
bool pl_inside_test(const pl_inside *inside, const double point[3]);

/* The nearest point of the surface within `limit` (INFINITY = any): its distance, or INFINITY when
   there is none so near. `closest` and `triangle` may be NULL. */
double pl_inside_closest(const pl_inside *inside, const double point[3], double limit,
                         double closest[3], int *triangle);

/* Distance to the surface, negative inside. */
double pl_inside_signed_distance(const pl_inside *inside, const double point[3]);

/* The first triangle a segment meets: its parameter in [0, 1] along it, or 2 when it meets none. */
double pl_inside_hit(const pl_inside *inside, const double from[3], const double to[3],
                     int *triangle);

/* How long the part of a segment is that lies outside the body, in parts of its length: 0 … 1. What
   lies between two triangles it meets is in or out as a whole. */
double pl_inside_segment_outside(const pl_inside *inside, const double from[3], const double to[3]);

/* The volume enclosed (where |winding| > 1/2): exact where components are closed and have their
   bounds to themselves, else within some 0.1 % from a bundle of lines, in about 0.1 s; roughly
   where the surface is a soup that would take minutes. */
double pl_inside_volume(const pl_inside *inside);

/* The same, remembered, so that it is counted once; before anybody else asks. */
double pl_inside_settle_volume(pl_inside *inside);

#endif
