/* What the files of the inside test share: the surface's triangles in packets of four, in a frame
   where the body is about the unit ball, under a hierarchy of boxes; and for each subtree what it
   looks like from afar. */
#ifndef PL_SHAPE_INSIDE_PARTS_H
#define PL_SHAPE_INSIDE_PARTS_H

#include <math.h>

#include "shape/bvh.h"
#include "shape/inside.h"

enum { PL_INSIDE_WIDTH = PL_BVH_WIDTH };

/* A node has four children on every machine, so the lanes are those of the least width (vf: four
   floats, vd: two doubles) everywhere. */
#define PL_W 4
#include "math/lanes.h"

/* Triangles side by side. Lanes left over repeat one corner of the first three times: no area, no
   solid angle, no point nearer than the first's; `triangle` is -1. */
typedef struct pl_inside_packet {
    double corner[3][3][PL_INSIDE_WIDTH]; /* [corner][axis][lane] */
    int32_t triangle[PL_INSIDE_WIDTH];
} pl_inside_packet;

/* The same corners in float, for a first look. */
typedef struct pl_inside_sketch {
    vf corner[3][3];
} pl_inside_sketch;

/* The children of a node as seen from afar: expansion of the winding number about `centre` (Barill
   et al. 2018) in Cartesian tensors, symmetric and without trace: to a harmonic function only that
   part matters.

       4π w(q) ≈ N·r / |r|³ − 3 M(r,r) / |r|⁵ + 15/2 T(r,r,r) / |r|⁷,   r = centre − q */
typedef struct pl_inside_far {
    vf centre[3], rest[3]; /* rest: what rounding to float took from the centre */
    vf radius2;            /* of a ball around everything; without a child no more than a point */
    vf dipole[3];          /* N */
    vf quadruple[6];       /* 3 M: xx yy zz, and twice xy yz zx */
    vf octuple[10];        /* 15/2 T: xxx yyy zzz, 3 × xxy xxz yyx yyz zzx zzy, 6 × xyz */
} pl_inside_far;

struct pl_inside {
    pl_memory *memory;
    const pl_surface *surface;
    double centre[3], unit; /* frame: (point − centre) / unit; the unit is a power of two */
    double per_unit;        /* 1 / unit */
    pl_bvh bvh;             /* a leaf's child and count: packets */
    bool closed;            /* all of the surface */
    double volume;          /* in the mesh's unit; -1 = must be counted */
    int packet_count;
    pl_inside_packet *packets;
    pl_inside_sketch *sketches;
    pl_inside_far *far; /* per node of the hierarchy */
};

/* Into the frame. False for what is no number. */
static inline bool pl_inside_enter(const pl_inside *inside, const double point[3], double local[3])
{
    for (int k = 0; k < 3; k++) {
        local[k] = (point[k] - inside->centre[k]) * inside->per_unit;
        if (!(fabs(local[k]) < 1e150))
            return false;
    }
    return true;
}

/* A point in float and how far the rounding of it and of the boxes' arithmetic may reach: boxes are
   taken that much larger. */
static inline double pl_inside_slack(const double local[3])
{
    double largest = fmax(fabs(local[0]), fmax(fabs(local[1]), fabs(local[2])));
    return 4e-7 * (1 + largest);
}

/* As pl_inside_segment_outside: the middle of two hits speaks for all between them; with `holes` it
   is also looked for where the segment leaves the body through a hole. Adds the hits to
   *intervals. */
double pl_inside_part_outside(const pl_inside *inside, const double from[3], const double to[3],
                              bool holes, long *intervals);

/* How many nodes and packets an inside test at this point looks at. */
double pl_inside_effort(const pl_inside *inside, const double point[3]);

/* Fills in inside->volume, if the volume can be had without counting. False without memory. */
bool pl_inside_measure(pl_inside *inside);

/* Fills inside->far. False without memory. */
bool pl_inside_expand(pl_inside *inside);

/* The closest point of a triangle (corners in a row) to a point: Ericson 2005, 5.1.5, with care for
   triangles that are nearly a line. Returns the squared distance. */
double pl_inside_triangle_closest(const double corners[3][3], const double point[3],
                                  double closest[3]);

#endif
