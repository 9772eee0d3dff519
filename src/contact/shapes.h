/* One ellipsoid against one solid shape, in the shape's own frame: where they touch, and how deep.
   The ellipsoid is mapped to the unit ball (B = L Lᵀ, y = L⁻¹ (p − x)): the point of a convex shape
   nearest to the ball's centre is where the two would touch if the ellipsoid grew or shrank, and
   the plane there separates them. What crosses the surface on its way through a sub-step is stopped
   where it went in. */
#ifndef PL_CONTACT_SHAPES_H
#define PL_CONTACT_SHAPES_H

#include <stdbool.h>

/* An ellipsoid that comes from `from` and is at `at`; B = shape as in pl_primitive, in the same
   frame. */
typedef struct pl_ball {
    double from[3], at[3];
    double shape[6];
    double map[6]; /* L⁻¹, lower triangle by rows: 00, 10, 11, 20, 21, 22 */
    double radius; /* of the sphere around it */
} pl_ball;

/* False where the shape matrix is not that of an ellipsoid. */
bool pl_ball_make(pl_ball *ball, const double from[3], const double at[3], const double shape[6]);

/* A half-space that the ellipsoid must stay out of: normal unit, point on its boundary. */
typedef struct pl_barrier {
    double normal[3], point[3];
    double overlap; /* how deep the ellipsoid is in it; <= 0 = not at all */
    bool met;       /* it is where the ellipsoid went in on its way, not where that ends */
} pl_barrier;

/* The half-space below the plane with this normal through this point; returns whether the ellipsoid
   reaches into it. */
bool pl_set_barrier(const pl_ball *ball, const double normal[3], const double point[3],
                    pl_barrier *barrier);

/* Each returns whether the ellipsoid touches or has crossed the shape. */
bool pl_ball_on_box(const pl_ball *ball, const double half[3], pl_barrier *barrier);
bool pl_ball_on_sphere(const pl_ball *ball, double radius, pl_barrier *barrier); /* about 0 */
bool pl_ball_on_capsule(const pl_ball *ball, double radius, double half, pl_barrier *barrier);
bool pl_is_in_box(const double p[3], const double half[3]);
bool pl_is_in_capsule(const double p[3], double radius, double half); /* a sphere has half 0 */

/* Triangles, of which meshes are made (mesh.h). Touching: the ellipsoid reaches a triangle, from
   its front where it is one-sided. */
bool pl_ball_on_triangle(const pl_ball *ball, const double corners[3][3], bool two_sided,
                         pl_barrier *barrier);
/* The part of the centre's way at which it goes through a triangle (from its front where it is
   one-sided); 2 = it does not. */
double pl_ball_through_triangle(const pl_ball *ball, const double corners[3][3], bool two_sided,
                                pl_barrier *barrier);
/* False where it has no area. */
bool pl_triangle_normal(const double corners[3][3], double normal[3]);
/* Nearest in the ellipsoid's measure: the point, the normal of the ellipsoid there, towards its
   centre (0 where the centre is the point), and the squared measure: below 1 they overlap. */
double pl_nearest_on_triangle(const pl_ball *ball, const double corners[3][3], double point[3],
                              double normal[3]);
void pl_triangle_nearest(const double corners[3][3], const double p[3], double out[3]);

/* Half the width of the ellipsoid along a unit vector. */
double pl_ball_half_width(const pl_ball *ball, const double n[3]);

#endif
