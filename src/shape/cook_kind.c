/* Solid or shell? A surface encloses a volume when the inside test finds one that is not flat, and
   when it is mostly closed: its closed components have the larger part of the area, or its holes
   are small as seen from inside. */
#include <math.h>

#include "shape/cook_parts.h"

/* Volume against area^(3/2): 0.094 for a ball, 0.0015 for a sheet a hundred times as wide as
   thick. */
#define LEAST_VOLUME 1e-4

/* Of the winding number just inside: 0.8 for a box without a bottom, 0.97 for the Stanford bunny
   with its holes. */
#define LEAST_CLOSEDNESS 0.9

/* How deep below the surface, in parts of its size. */
#define PROBE_DEPTH 1e-4

enum { PROBES = 400 };

static double triangle_normal(const pl_surface *surface, int triangle, double normal[3])
{
    const int32_t *t = surface->triangles + 3 * (size_t)triangle;
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        double origin = surface->points[3 * (size_t)t[0] + (size_t)k];
        u[k] = surface->points[3 * (size_t)t[1] + (size_t)k] - origin;
        v[k] = surface->points[3 * (size_t)t[2] + (size_t)k] - origin;
    }
    normal[0] = u[1] * v[2] - u[2] * v[1];
    normal[1] = u[2] * v[0] - u[0] * v[2];
    normal[2] = u[0] * v[1] - u[1] * v[0];
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int k = 0; k < 3 && length > 0; k++)
        normal[k] /= length;
    return length / 2;
}

static double triangle_area(const pl_surface *surface, int triangle)
{
    double normal[3];
    return triangle_normal(surface, triangle, normal);
}

/* The larger winding number of the two sides of a triangle, near its middle. */
static double probe_triangle(const pl_kitchen *kitchen, int triangle)
{
    const pl_surface *surface = kitchen->surface;
    const int32_t *t = surface->triangles + 3 * (size_t)triangle;
    double normal[3], front[3], back[3];
    triangle_normal(surface, triangle, normal);
    for (int k = 0; k < 3; k++) {
        double middle = (surface->points[3 * (size_t)t[0] + (size_t)k] +
                         surface->points[3 * (size_t)t[1] + (size_t)k] +
                         surface->points[3 * (size_t)t[2] + (size_t)k]) /
                        3;
        front[k] = middle + PROBE_DEPTH * surface->size * normal[k];
        back[k] = middle - PROBE_DEPTH * surface->size * normal[k];
    }
    double winding = fmax(fabs(pl_inside_winding(kitchen->inside, front)),
                          fabs(pl_inside_winding(kitchen->inside, back)));
    return fmin(1, winding);
}

/* How well the surface closes around its inside, from 1/2 for an open sheet to 1: the winding
   number just inside of it, averaged over its area. Holes show in it by the solid angle they leave
   open. */
static double closedness(const pl_kitchen *kitchen, double area)
{
    const pl_surface *surface = kitchen->surface;
    double passed = 0, sum = 0;
    int probes = 0;
    for (int t = 0; t < surface->triangle_count && probes < PROBES; t++) {
        passed += triangle_area(surface, t);
        if (passed < (probes + 0.5) / PROBES * area)
            continue;
        double weight = 0;
        for (; probes < PROBES && passed >= (probes + 0.5) / PROBES * area; probes++)
            weight++;
        sum += weight * probe_triangle(kitchen, t);
    }
    return probes ? sum / probes : 0;
}

bool pl_cook_is_solid(const pl_kitchen *kitchen)
{
    const pl_surface *surface = kitchen->surface;
    double area = 0, closed = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        double part = triangle_area(surface, t);
        area += part;
        closed += surface->component_closed[surface->triangle_component[t]] ? part : 0;
    }
    if (!(kitchen->report.mesh.volume > LEAST_VOLUME * area * sqrt(area)))
        return false;
    return closed >= area / 2 || closedness(kitchen, area) >= LEAST_CLOSEDNESS;
}
