/* Oriented particles with a modified rest shape (METHODS, "Rest-shape modifiers"): every directed
   edge i → j has a target offset d̃_ij and a target turn Q̃_ij = exp(φ̃_ij) in the axes of its
   first particle, and a sub-step minimises

       E = inertia + pins + 1/2 Σ_{i → j} κ ( ‖(R_i Q̃_ij − R_j) Ā_j^½‖² + v_j ‖R_i d̃_ij − (x_j − x_i)‖² ).

   With d̃ = x̄_j − x̄_i and Q̃ = I that is the energy of oriented.h. The matrix, its factor and the
   pins are those of the body's system: targets change nothing but the right-hand sides. They are

       (d̃, φ̃) = (x̄_j − x̄_i, 0) + what flowed (plastic) + what the examples want (blend).

   Elements of the examples are the directed edges: edge e of the model from its end a to its end b
   is element e, the other direction is element pl_posed_backward(m) + e; elements between these are
   fill and count for nothing. A descriptor has six numbers: d_ij − (x̄_j − x̄_i) and log Q_ij, the
   present ones or a pose's. */
#ifndef PL_MATTER_POSED_H
#define PL_MATTER_POSED_H

#include "matter/examples.h"
#include "matter/oriented.h"

enum { PL_POSED_WIDTH = 6, PL_POSED_METRIC = 21, PL_POSED_LANES = 16 };
/* Bytes the kernels need for every directed edge and for every edge. */
enum { PL_POSED_STAR_SIZE = 128, PL_POSED_SPRING_SIZE = 64 };

typedef struct pl_posed {
    pl_memory *memory;
    const pl_model *model; /* the body's, which keeps it */
    int edge_count;
    int blocks;                /* of sixteen edges; directed ones have twice as many */
    pl_plasticity_def plastic; /* yield infinite = nothing flows */
    pl_examples *examples;     /* NULL = none */
    double beta;               /* of the examples */

    /* State, and what follows from it: [2 blocks][6][16] of the directed edges. */
    float *flowed;  /* the plastic part of the targets */
    float *blend;   /* the examples' part; all zeros without examples */
    float *present; /* what the examples were shown last */
    float *worked;  /* [16 blocks] of the edges: for hardening */
    float *strain;  /* [16 blocks] of the edges, when they were last measured */

    /* For the kernels: */
    int32_t *ends; /* [blocks][2][16] particles a and b; fill has particle 0 twice */
    float *rest;   /* [blocks][3][16] x̄_b − x̄_a */
    float *target; /* [2 blocks][7][16] d̃ and Q̃ as a quaternion */
    float *shape; /* [blocks][17][16] as constant, with 1 / ((v_a + v_b) ‖x̄_b − x̄_a‖²) for κ */
    int32_t *places; /* [blocks][2][16] where a → b and b → a stand among the particles' edges */
    void *constant; /* [blocks][17][16] κ, κ v_b, κ v_a, Ā_a, Ā_b, roots in the precision in use */
    void *around;      /* [2m] of the particles' edges, as the model's start[] says */
    void *spring;      /* [m] */
    void *measured;    /* [blocks][10][16] d_ab, d_ba and q_a⁻¹ q_b */
    uint64_t made_for; /* the system these numbers belong to, and their precision; 0 = none */
    bool stale;        /* targets have changed since */
} pl_posed;

/* A body at rest, without examples. `plastic` NULL = nothing flows. */
pl_status pl_posed_create(pl_memory *memory, const pl_model *model,
                          const pl_plasticity_def *plastic, pl_posed **posed, pl_error *error);
void pl_posed_destroy(pl_posed *posed); /* NULL is allowed; with its examples */

/* ---- Examples -------------------------------------------------------------------------------- */

/* Where the elements b → a begin, and how many elements there are in all. */
static inline int pl_posed_backward(int edge_count)
{
    return (edge_count + PL_POSED_LANES - 1) / PL_POSED_LANES * PL_POSED_LANES;
}

static inline int pl_posed_element_count(const pl_model *model)
{
    return 2 * pl_posed_backward(model->edge_count);
}

/* The descriptors of a pose, [elements][6], and with `metric` (which may be NULL) the form in which
   they are compared, [elements][21]: k_ij (v_j ‖δd‖² + φᵀ (tr Ā_j I − Ā_j) φ), the lower triangle
   row by row. `x` is [n][3] in the model's units, anywhere; `q` is [n][4], from rest axes to the
   pose's, or NULL: then fitted to the positions. `edge_stiffness` is the body's map or NULL. Fails
   only without memory. */
pl_status pl_posed_describe(pl_memory *memory, const pl_model *model, const pl_material *material,
                            const float *edge_stiffness, const float *x, const float *q,
                            float *descriptors, float *metric, pl_error *error);

/* The rotations that go with positions: those of the least elastic energy, all edges equally stiff.
   Where offsets leave a turn open (the twist of a rod), neighbours turn as little as possible
   against each other. */
pl_status pl_posed_fit_rotations(pl_memory *memory, const pl_model *model, const float *x, float *q,
                                 pl_error *error);

/* The group of every element from the groups of the particles ([n], -1 = none; NULL = all in group
   0): a directed edge goes with the particle it starts from, so that an edge between two groups has
   one direction in each. With `local` every particle is a group of its own unless its group is -1.
   Returns the number of groups. */
int pl_posed_groups(const pl_model *model, const int32_t *particle_groups, int group_count,
                    bool local, int32_t *groups);

/* Takes the examples over (NULL = none), which must have pl_posed_element_count elements and width
   6. `beta` is theirs. */
void pl_posed_set_examples(pl_posed *posed, pl_examples *examples, double beta);

/* ---- Solving --------------------------------------------------------------------------------- */

/* Scratch memory of a worker. */
size_t pl_posed_scratch(const pl_system *system);

/* As pl_oriented_solve, for a body alone. The weights of the examples are part of the minimisation:
   they are renewed after every iteration, and the guard on the energy sees
       E + 1/2 (1/β − 1) Σ κ (v_j ‖blend_d‖² + blend_φᵀ (tr Ā_j I − Ā_j) blend_φ).
   The solver of the body is plain or fast; stiff is solved as fast. */
void pl_posed_solve(pl_posed *posed, pl_oriented *body, double h, int iterations, bool backward,
                    pl_work *work);

/* After solving: plastic flow. The strain of an edge is
       e² = ( v_b ‖δd_ab‖² + v_a ‖δd_ba‖² + δφᵀ (tr(Ā_a + Ā_b) I − Ā_a − Ā_b) δφ ) / ( (v_a + v_b) ‖x̄_b − x̄_a‖² ),
   δ against the targets; where it passes λ + K a both directions' targets go the part γ = min(1, (1
   − exp(−r h)) (e − λ − K a) / e) of the way, a grows by h e, and what has flowed is cut at the
   limit, in the same measure. */
void pl_posed_flow(pl_posed *posed, const pl_oriented *body, double h);

/* The present strains of all edges, into posed->strain. */
void pl_posed_measure(pl_posed *posed, const pl_oriented *body);

/* The energy of oriented.h with the present targets in plain doubles; see pl_oriented_evaluate. */
pl_oriented_energy pl_posed_evaluate(const pl_posed *posed, const pl_oriented *body, double h,
                                     const double *x, const double *r, double *gradient);

/* What the blend of the examples costs, as pl_posed_solve prints it; 0 without examples. */
double pl_posed_example_energy(const pl_posed *posed, const pl_oriented *body);

/* Targets of the directed edges from flowed and blend: after these were changed by hand. */
void pl_posed_renew(pl_posed *posed);

/* ---- Saving ---------------------------------------------------------------------------------- */

/* What flowed, the work done, the blend and the state of the examples (which must be there before
   loading). */
size_t pl_posed_save_size(const pl_posed *posed);
void pl_posed_save(const pl_posed *posed, void *bytes);
pl_status pl_posed_load(pl_posed *posed, const void *bytes, size_t size, pl_error *error);
uint64_t pl_posed_digest(const pl_posed *posed);

#endif
