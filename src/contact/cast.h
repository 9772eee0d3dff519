/* Where a ray first meets a shape, in the shape's own frame. Exact up to rounding, in double. */
#ifndef PL_CONTACT_CAST_H
#define PL_CONTACT_CAST_H

#include "contact/mesh.h"
#include "pliant/contact.h"

/* origin + t direction, t in [0, length]; the direction is a unit vector. */
typedef struct pl_ray {
    double origin[3], direction[3], length;
} pl_ray;

/* All tell whether the shape is met, at which distance, and the unit normal there, against the ray.
   A ray that starts inside of something solid meets it at distance 0, with the normal straight
   against it. */
bool pl_cast_plane(const pl_ray *ray, double *distance, double normal[3]); /* solid below y = 0 */
bool pl_cast_box(const pl_ray *ray, const double half[3], double *distance, double normal[3]);
bool pl_cast_sphere(const pl_ray *ray, const double centre[3], double radius, double *distance,
                    double normal[3]);
bool pl_cast_capsule(const pl_ray *ray, double radius, double half, double *distance,
                     double normal[3]);
/* One-sided triangles are met from their front only, and what they enclose is solid. */
bool pl_cast_solid(const pl_ray *ray, const pl_solid *solid, bool two_sided, double *distance,
                   double normal[3]);
/* Axes: rows are the unit axes of the ellipsoid about the origin. */
bool pl_cast_ellipsoid(const pl_ray *ray, const double axes[3][3], const double radii[3],
                       double *distance, double normal[3]);

/* Whether the ray comes into a box (low, high) within its length. */
bool pl_ray_meets_box(const pl_ray *ray, const double box[6]);

#endif
