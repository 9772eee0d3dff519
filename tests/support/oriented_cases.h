/* Bodies of oriented particles for tests: random graphs in one, two and three dimensions, random
   materials, fixed sets, pins and poses, and worlds made from them through the public interface. */
#ifndef PLIANT_TESTS_ORIENTED_CASES_H
#define PLIANT_TESTS_ORIENTED_CASES_H

#include "base/rng.h"
#include "matter/oriented.h"
#include "pliant/pliant.h"

/* Sanitizers and builds without optimisation run fewer cases: `full` is the number of the release
   build. */
int oriented_cases(int full);

/* ---- Random numbers -------------------------------------------------------------------------- */

double oriented_uniform(pl_rng *rng, double low, double high);
double oriented_decades(pl_rng *rng, double low, double high); /* 10^uniform(low, high) */
double oriented_normal(pl_rng *rng);
bool oriented_chance(pl_rng *rng, double probability);
void oriented_random_quat(pl_rng *rng, double q[4]);
void oriented_random_direction(pl_rng *rng, double v[3]);

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef enum oriented_kind {
    ORIENTED_CHAIN,
    ORIENTED_RING,
    ORIENTED_TREE,
    ORIENTED_GRID,
    ORIENTED_CLOUD, /* random points, near ones joined */
    ORIENTED_KINDS
} oriented_kind;

/* Everything in SI, as a caller would give it. */
typedef struct oriented_graph {
    int n, m, dimension;
    double *rest, *orientation, *radii; /* [n][3], [n][4], [n][3] */
    int32_t *edges;                     /* [m][2] */
    double volume;                      /* 0 = the ellipsoids' */
    double size;    /* largest distance of two particles, or the radius of a single one */
    double spacing; /* mean edge length */
} oriented_graph;

/* From 1 to `most` particles; `dimension` 1, 2, 3 or 0 = any. */
oriented_graph oriented_random_graph(pl_rng *rng, oriented_kind kind, int dimension, int most);

/* A ready-made shape; counts of 0 are its defaults. */
oriented_graph oriented_shape_graph(pl_shape_kind kind, int nx, int ny, int nz);

/* All lengths times `factor`. */
oriented_graph oriented_scaled_graph(const oriented_graph *graph, double factor);
void oriented_free_graph(oriented_graph *graph);
pl_model *oriented_model(const oriented_graph *graph);

/* ---- What is done to a graph ----------------------------------------------------------------- */

typedef struct oriented_case {
    oriented_graph graph;
    pl_model *model;
    double h, gravity[3];
    pl_material material;
    float *edge_stiffness, *particle_density; /* or NULL */
    int fixed_count, pin_count;
    int32_t *fixed;
    pl_pin_def *pins;
    double *forces; /* [n][3] newtons in every step, or NULL */
    double position[3], rotation[4];
    int iterations, stiff_iterations;
} oriented_case;

/* Takes the graph. Unpainted, free, at the origin, without gravity; kappa = k h² / density. */
oriented_case oriented_plain_case(oriented_graph graph, double h, double kappa);
void oriented_free_case(oriented_case *c);

void oriented_paint(pl_rng *rng,
                    oriented_case *c); /* random stiffness per edge and density per particle */
void oriented_fix_some(pl_rng *rng, oriented_case *c, int most);
void oriented_push_some(pl_rng *rng, oriented_case *c);

/* A pin on 1 to 8 particles that lie near each other (most of the time), target near the rest or
   anywhere. */
pl_pin_def oriented_random_pin(pl_rng *rng, const oriented_case *c, pl_pin_kind kind);
void oriented_add_pin(oriented_case *c, const pl_pin_def *pin);

/* A pin too weak to matter on a body without any: free bodies are turned as a whole at the end of a
   sub-step, pinned ones are left as the last iteration made them. */
void oriented_hold_lightly(oriented_case *c);
void oriented_drop_pin(oriented_case *c, int index);

/* Everything at random; kappa log-uniform in [low, high]; direction pins only where asked for. */
oriented_case oriented_random_case(pl_rng *rng, int most, double low, double high, bool directions);

/* ---- Poses ----------------------------------------------------------------------------------- */

typedef enum oriented_pose_kind {
    ORIENTED_REST,
    ORIENTED_NEAR,      /* 10⁻⁵ to 10⁻¹ of the spacing and of a radian off */
    ORIENTED_STRETCHED, /* a random linear map, rotations left behind */
    ORIENTED_BENT,      /* each particle turned and moved along a smooth field */
    ORIENTED_SCRAMBLED, /* random positions in the body's bounds, random rotations */
    ORIENTED_COLLAPSED, /* all on one point; rotations of rest or random */
    ORIENTED_MIRRORED,  /* x → −x; rotations of rest or random */
    ORIENTED_MOVING,    /* rest, but fast and spinning */
    ORIENTED_POSE_KINDS
} oriented_pose_kind;

typedef struct oriented_pose {
    int n;
    double *x, *q, *u, *w; /* [n][3], [n][4], [n][3], [n][3], SI */
} oriented_pose;

oriented_pose oriented_make_pose(pl_rng *rng, const oriented_case *c, oriented_pose_kind kind);
void oriented_free_pose(oriented_pose *pose);

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct oriented_scene {
    const oriented_case *of;
    pl_world *world;
    int count;
    pl_body *bodies;
    pl_pin (*pins)[64]; /* [count] handles in the order of the case's pins */
    void *scratch;
    size_t scratch_size;
} oriented_scene;

/* `count` bodies of the case; `pinned` (may be NULL = all) says which get its pins. */
oriented_scene oriented_make_scene(const oriented_case *c, pl_solver solver, int count,
                                   const bool *pinned);
void oriented_free_scene(oriented_scene *scene);
pl_oriented *oriented_matter(const oriented_scene *scene, int body);
void oriented_set_pose(const oriented_scene *scene, int body, const oriented_pose *pose);

/* One step of the world, the case's forces applied. */
pl_report oriented_step(const oriented_scene *scene);

/* ---- Solving without a world ----------------------------------------------------------------- */

/* Afterwards oriented_solve may be called any number of times: always from the state that the
   bodies had before. */
void oriented_begin(oriented_scene *scene);

/* Bodies first … first + count − 1 side by side, or one alone. The result is in `now` and c. */
pl_work oriented_solve(oriented_scene *scene, pl_solver solver, int first, int count, bool lone,
                       int iterations);

/* After oriented_solve: positions [n][3] and rotations [n][9] in units from the origin of `old`. */
void oriented_result(const pl_oriented *body, double *x, double *r);

/* q need not be of unit length. */
void oriented_matrix(const double q[4], double r[9]);

#endif
