/* Corotated tetrahedra with exact or interpolated rotations (METHODS §3): variational implicit
   Euler, minimised by alternating rotations of the elements (local step) with one linear system for
   the positions (global step), plain or as the preconditioner of a quasi-Newton method.

       1/(2h²) ‖x − y‖²_M + Σ_e V_e (μ_e ‖F_e − R_e Fᵖ_e‖² + W_e ‖F_e − P_e‖²),   y = x₀ + h α u + h² a,   W = 3λ/2

   A pl_tet_system is everything that depends on mesh, material, step and fixed nodes; bodies share
   it. A pl_tetrahedral is the state of one body. Lengths are in the model's unit, positions floats
   from the body's origin, as for all matter. The solver works with displacements from rest and
   solves for increments, so that a body at rest stays there bit by bit.

   Elements go in groups of sixteen, groups in blocks of constant size, rows of nodes too; sums run
   within a block in one order and over the blocks in one order: every vector width and every number
   of threads gives the same bits, and so do bodies solved alone or side by side. Nothing is
   allocated while solving. */
#ifndef PL_MATTER_TETRAHEDRAL_H
#define PL_MATTER_TETRAHEDRAL_H

#include "base/memory.h"
#include "base/tasks.h"
#include "matter/examples.h"
#include "pliant/tetrahedral.h"

typedef struct pl_tet_system pl_tet_system;
typedef struct pl_tetrahedral pl_tetrahedral;

/* Mesh and material. Only the ratio of Young's modulus to density matters: any unit of mass will
   do, with the model's unit as the length (pascals times unit over kilograms). */
typedef struct pl_tet_source {
    int n;
    const float *rest; /* [n][3] units */
    int tet_count;
    const int32_t
        *tets; /* [tet_count][4]; wrong winding is turned, flat and duplicate ones are dropped */
    const float *stiffness;    /* [tet_count] factor on Young's modulus, or NULL */
    const float *node_density; /* [n] factor on the mass of each node, or NULL */
    double young;              /* E, mass / (unit s²) */
    double density;            /* ρ, mass / unit³ */
    double h;                  /* sub-step, seconds */
    int fixed_count;
    const int32_t *fixed; /* nodes */
    int side_by_side;     /* bodies that are solved together at most; 0 = as many as is worth it */
    int workers;          /* of the tasks it is solved with; 0 = 1 */
} pl_tet_source;

/* What became of the mesh. */
typedef struct pl_tet_counts {
    int nodes, unused, fixed, unknowns; /* unused: nodes of no element; they move as if alone */
    int tets, turned, flat, duplicate;  /* tets: those left */
    int pieces, samples;
    double volume; /* units³ */
    double mass;
} pl_tet_counts;

/* Checks a definition; errors name the field. */
pl_status pl_tetrahedral_check(const pl_tetrahedral_def *def, pl_error *error);

/* `tasks` may be NULL; the factorisation uses them. */
pl_status pl_tet_system_create(pl_memory *memory, const pl_tet_source *source,
                               const pl_tetrahedral_def *def, pl_tasks *tasks,
                               pl_tet_system **system, pl_error *error);
void pl_tet_system_keep(pl_tet_system *system); /* one more owner */
void pl_tet_system_drop(pl_tet_system *system); /* one less; NULL is allowed */
pl_tet_counts pl_tet_system_counts(const pl_tet_system *system);
double pl_tet_system_mass(const pl_tet_system *system, int node);

pl_status pl_tetrahedral_create(pl_memory *memory, pl_tet_system *system, pl_tetrahedral **body,
                                pl_error *error);
void pl_tetrahedral_destroy(pl_tetrahedral *body); /* NULL is allowed */
const pl_tet_system *pl_tetrahedral_system(const pl_tetrahedral *body);

/* The same state under another system of the same mesh and definition, for a changed material, step
   or fixed set. On failure the body stays as it is. */
pl_status pl_tetrahedral_move(pl_tetrahedral *body, pl_tet_system *system, pl_error *error);

/* One sub-step's motion, all in units and relative to the moving origin: `x` becomes where nodes
   want to be. */
typedef struct pl_tet_motion {
    const float *from; /* [n][3] positions at the start */
    const float *u;    /* [n][3] velocities then, against the body's mean */
    const float *push; /* [n][3] accelerations beyond the mean one; NULL = none */
    double fall[3];    /* acceleration of every node */
    double damping;    /* c, 1/s: α = exp(−c h) */
    const double
        *targets; /* [fixed_count][7] in the order of the source: the first three are used */
    float *x;     /* [n][3] out; may be `from` */
} pl_tet_motion;

/* Bodies of one system. `tasks` may be NULL: then everything runs on the caller's thread, with the
   same result. */
void pl_tetrahedral_solve(pl_tetrahedral *const *bodies, const pl_tet_motion *motions, int count,
                          int iterations, pl_tasks *tasks);

/* What solving did, ever. */
typedef struct pl_tet_report {
    uint64_t iterations, refused; /* quasi-Newton steps that would have raised the energy */
    uint64_t mended;              /* numbers that were not finite and were replaced */
    uint64_t local, global,
        accelerate; /* ticks; for bodies solved side by side in the first's report */
    double
        energy; /* h² times the energy at the last iterate that was measured, as the solver sees it */
    double
        residual; /* of the last system solved: √(rᵀ A⁻¹ r), relative to the first of that sub-step */
} pl_tet_report;
pl_tet_report pl_tetrahedral_get_report(const pl_tetrahedral *body);

/* What example poses are compared by (examples.h, width 6): the stretch S − I of every element at
   the positions `pose_x` ([n][3] units), and its weight V μ. Elements are those of the source, in
   its order; dropped ones have zeros. */
enum { PL_TET_DESCRIPTOR = 6 };
void pl_tetrahedral_describe(const pl_tet_system *system, const float *pose_x,
                             float *descriptors /* [source's tets][6] */,
                             float *weights /* [source's tets] */);

/* From here on the energy of an element is V μ (‖F − R S̃ Fᵖ‖² + (1/β − 1) ‖S̃ − I‖²), S̃ of the
   examples' manifold. The body takes the examples over (not on failure); NULL = none again.
   PL_ERROR_ARGUMENT for interpolated rotations. */
pl_status pl_tetrahedral_set_examples(pl_tetrahedral *body, pl_examples *examples, pl_error *error);
pl_examples *pl_tetrahedral_examples(const pl_tetrahedral *body); /* NULL = none */

/* Plastic flow of the elements by the positions x ([n][3]) at the end of a sub-step. */
void pl_tetrahedral_flow(pl_tetrahedral *body, const float *x, pl_tasks *tasks);

/* frame[9 i …] = F around each node (mean by volume) at the positions x: how the surface there is
   deformed; I for a node of no element. `worker` is who asks, below the source's number. */
void pl_tetrahedral_frames(const pl_tetrahedral *body, const float *x, int worker, float *frame);

/* The energy, in doubles and with exact rotations whatever the definition says; mass unit² / s².
   `body` gives Fᵖ and S̃, NULL = none. `y` [n][3] are the inertial targets, NULL = elastic energy
   alone. `gradient` [n][3] may be NULL; rows of fixed nodes are not zeroed. */
double pl_tet_energy(const pl_tet_system *system, const pl_tetrahedral *body, const double *x,
                     const double *y, double *gradient);

/* Everything a snapshot holds, as bytes; a body restored from them goes on with the same bits.
   Loading wants the same system (mesh and definition) and leaves the body alone on failure:
   PL_ERROR_FORMAT. */
uint64_t pl_tetrahedral_digest(const pl_tetrahedral *body); /* a hash of them */
size_t pl_tetrahedral_save_size(const pl_tetrahedral *body);
void pl_tetrahedral_save(const pl_tetrahedral *body, void *bytes);
pl_status pl_tetrahedral_load(pl_tetrahedral *body, const void *bytes, size_t size,
                              pl_error *error);

#endif
