/* Figures: the built-in creatures as signed-distance functions. A figure is a list of parts (eggs,
   tapered limbs, blocks, rings) joined and cut one after the other by smooth minima, with materials
   painted on and tints breathed over them. What becomes of it as a mesh is the business of
   builtin_mesh.c. */
#ifndef PL_SHAPE_BUILTIN_FIGURE_H
#define PL_SHAPE_BUILTIN_FIGURE_H

#include <stdbool.h>

#include "math/mat3.h"
#include "math/vec3.h"
#include "pliant/mesh.h"

/* How fast distances change at most: ellipsoids are estimates, armour has steps. */
#define PL_FIGURE_LIPSCHITZ 1.7

typedef enum pl_part_kind {
    PL_PART_LIMB,   /* a cone with round ends, from `centre` to `end`; a ball where they coincide */
    PL_PART_EGG,    /* ellipsoid */
    PL_PART_BLOCK,  /* box with rounded edges */
    PL_PART_RING,   /* torus around the local y axis */
    PL_PART_DISC,   /* cylinder along the local y axis, with rounded edges */
    PL_PART_ARMOUR, /* ellipsoid with overlapping bands along the local y axis */
    PL_PART_SLAB /* all points with |local z − 0| < size.z: for painting bands, and half-spaces */
} pl_part_kind;

typedef struct pl_part {
    pl_part_kind kind;
    bool mirrored; /* there is another one at −x */
    pl_vec3 centre, end, size;
    double round;     /* radius of edges; radius at `centre` of a limb; minor radius of a ring */
    double round_end; /* radius at `end` */
    double bands;     /* armour: how many over the whole length */
    double depth;     /* armour: how far a band stands above the next */
    pl_mat3 turn;     /* local to world */
    pl_vec3 middle;   /* of the bounding ball */
    double reach;     /* its radius */
    double blend;     /* width of the smooth join or cut */
    bool cut;         /* taken away instead of added */
    int material;     /* of the surface it makes */
    double tint[3];   /* of a tint: factors on the colour */
    double soft;      /* of a tint: over which distance it fades; of a focus: edge length factor */
} pl_part;

enum {
    PL_FIGURE_PARTS = 192,
    PL_FIGURE_PAINTS = 96,
    PL_FIGURE_FOCI = 48,
    PL_FIGURE_MATERIALS = 16,
    PL_FIGURE_SIDE = 20,
    PL_FIGURE_CELLS = PL_FIGURE_SIDE * PL_FIGURE_SIDE * PL_FIGURE_SIDE
};

typedef struct pl_figure {
    int part_count, paint_count, tint_count, focus_count, material_count;
    pl_part parts[PL_FIGURE_PARTS];
    pl_part paints[PL_FIGURE_PAINTS];
    pl_part tints[PL_FIGURE_FOCI];
    pl_part foci[PL_FIGURE_FOCI]; /* where edges are shorter, by the factor `soft` */
    pl_look_material materials[PL_FIGURE_MATERIALS];
    int material; /* of the parts added next */
    pl_vec3 lower, upper;
    bool ready; /* `near` is filled in */
    uint64_t near[PL_FIGURE_CELLS]
                 [(PL_FIGURE_PARTS + 63) / 64]; /* parts that matter there, as bits */
} pl_figure;

/* ---- Parts ----------------------------------------------------------------------------------- */

pl_part pl_part_ball(double x, double y, double z, double radius);
pl_part pl_part_limb(pl_vec3 from, double radius_from, pl_vec3 to, double radius_to);
pl_part pl_part_egg(double x, double y, double z, double rx, double ry, double rz);
pl_part pl_part_block(double x, double y, double z, double hx, double hy, double hz, double round);
pl_part pl_part_ring(double x, double y, double z, double major, double minor);
pl_part pl_part_disc(double x, double y, double z, double radius, double half_height, double round);
pl_part pl_part_armour(double x, double y, double z, double rx, double ry, double rz, double bands,
                       double depth);
pl_part pl_part_slab(double x, double y, double z, double half);

/* Turned about its centre by degrees: first about x, then y, then z. */
pl_part pl_part_turned(pl_part part, double about_x, double about_y, double about_z);
pl_part pl_part_pair(pl_part part); /* with its mirror image at −x */

/* ---- Building -------------------------------------------------------------------------------- */

void pl_figure_init(pl_figure *figure);

/* Without textures. The colour as painters write it: 0xRRGGBB in sRGB. */
pl_look_material pl_plain_material(const char *name, uint32_t colour, double roughness);

/* Returns the material's number and makes it current. */
int pl_figure_material(pl_figure *figure, const char *name, uint32_t colour, double roughness);
void pl_figure_use(pl_figure *figure, int material);

void pl_figure_add(pl_figure *figure, pl_part part, double blend);
void pl_figure_cut(pl_figure *figure, pl_part part, double blend);
/* A bent, tapered limb along the quadratic Bézier curve a, b, c. */
void pl_figure_tube(pl_figure *figure, const pl_vec3 curve[3], const double radii[3], int pieces,
                    bool pair, double blend);
/* A line pressed into the surface made so far, along the curve's projection onto it: mouths. */
void pl_figure_groove(pl_figure *figure, const pl_vec3 curve[3], double radius, int pieces,
                      bool pair);
/* Later paint covers earlier; the edge is sharp. */
void pl_figure_paint(pl_figure *figure, int material, pl_part part);
/* Multiplies colours by a factor, fading over `soft` around the part's surface. */
void pl_figure_tint(pl_figure *figure, pl_part part, double red, double green, double blue,
                    double soft);
/* Edges around the ball are shorter by the factor. */
void pl_figure_focus(pl_figure *figure, pl_part ball, double factor);

/* Says that nothing more will be added: from now on asking is faster. */
void pl_figure_finish(pl_figure *figure);

/* ---- Asking ---------------------------------------------------------------------------------- */

double pl_part_distance(const pl_part *part, pl_vec3 at);

/* Negative inside. */
double pl_figure_distance(const pl_figure *figure, pl_vec3 at);
pl_vec3 pl_figure_gradient(const pl_figure *figure, pl_vec3 at);
/* A few Newton steps to the surface, of at most `limit` in all. */
pl_vec3 pl_figure_project(const pl_figure *figure, pl_vec3 at, double limit);
int pl_figure_material_at(const pl_figure *figure, pl_vec3 at);
/* What the tints and the figure's own shadow (crevices are darker) make of white. */
pl_vec3 pl_figure_tint_at(const pl_figure *figure, pl_vec3 at, pl_vec3 normal);
/* How much the surface bends here, per metre. */
double pl_figure_bend(const pl_figure *figure, pl_vec3 at);
/* How long edges shall be here, when they are `edge` long where nothing is to be seen. */
double pl_figure_edge(const pl_figure *figure, pl_vec3 at, double bend, double edge);

/* Moves a mesh's lowest point to y = 0, the middle of its bounds to x = z = 0. */
void pl_stand(double *positions, size_t count);

/* ---- The figures ----------------------------------------------------------------------------- */

void pl_figure_dinosaur(pl_figure *figure);
void pl_figure_rabbit(pl_figure *figure);
void pl_figure_armadillo(pl_figure *figure);
void pl_figure_teddy(pl_figure *figure);
void pl_figure_car(pl_figure *figure);

#endif
