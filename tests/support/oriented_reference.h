/* The energy of METHODS §1 once more, written from its text alone, in SI and double, with the steps
   that minimise it: what the kernels and pl_oriented_evaluate are judged by. Slow and simple:
   matrices are full, sums run as printed. */
#ifndef PLIANT_TESTS_ORIENTED_REFERENCE_H
#define PLIANT_TESTS_ORIENTED_REFERENCE_H

#include "support/oriented_cases.h"

/* A pin: kind, carriers, weights that sum to one, v̄ or n̄, target, w_p or w_d. */
typedef struct oriented_pull {
    pl_pin_kind kind;
    int count;
    int32_t particle[PL_MAX_INFLUENCES];
    double weight[PL_MAX_INFLUENCES], rest[3], target[3], w;
} oriented_pull;

/* Positions are relative to where the origin of the body was at the start of the step, metres. */
typedef struct oriented_problem {
    int n, m, pin_count;
    const int32_t *edges;
    const int32_t *order; /* of the local step */
    double h;
    double *rest;                    /* [n][3] x̄ */
    double *volume, *density, *mass; /* [n] */
    double *half;                    /* [n][9] Ē A^½ */
    double *moment;                  /* [n][9] Ā */
    double *stiffness;               /* [m] k_ij */
    double *target_x, *target_r;     /* [n][3], [n][9]: x*, R* */
    bool *fixed;
    oriented_pull pins[64];
    double *matrix,
        *factor; /* [n][n] L with unit rows for fixed particles; its Cholesky factor, or NULL */
} oriented_problem;

typedef struct oriented_terms {
    double inertia, elastic, pins;
} oriented_terms;

/* The step that starts from `old` of a body of the case; pinned: whether this body has the case's
   pins. */
oriented_problem oriented_make_problem(const oriented_case *c, const pl_oriented *body,
                                       bool pinned);
void oriented_free_problem(oriented_problem *p);

/* Positions and rotations [n][9] of oriented_result in metres. */
void oriented_to_metres(const pl_oriented *body, double *x);

oriented_terms oriented_energy(const oriented_problem *p, const double *x, const double *r);
double oriented_total(const oriented_problem *p, const double *x, const double *r);

/* [n][6] by x_i and θ_i (R_i ← exp([θ_i]) R_i); of fixed particles too. */
void oriented_gradient(const oriented_problem *p, const double *x, const double *r, double *g);

/* R_i = polar(C_i), one after the other. Returns the smallest (s2 + s3) / s1 of the C_i: what the
   fits are worth. */
double oriented_local(const oriented_problem *p, const double *x, double *r);

/* b of the global step, [n][3], with the prescribed positions of fixed particles taken from x. */
void oriented_right_side(const oriented_problem *p, const double *x, const double *r, double *b);
void oriented_make_matrix(oriented_problem *p);

/* L x = b by a dense Cholesky factor. */
void oriented_global(oriented_problem *p, double *x, const double *r);

/* Newton's method with a Levenberg–Marquardt guard on all unknowns, from x, r; the Hessian by
   differences of the gradient. Returns the largest step (metres, radians times spacing) of the last
   iteration; *is_minimum (may be NULL): whether no direction from there goes down, as far as a
   Cholesky factorisation of the Hessian can tell. */
double oriented_newton(const oriented_problem *p, int iterations, double spacing, double *x,
                       double *r, bool *is_minimum);

/* The largest distance between points of a and b [n][3] when b is laid over a as well as a rigid
   motion can. */
double oriented_misfit(int n, const double *a, const double *b);

/* Solves A X = B (n × n, `columns` right-hand sides, row major) in place with its Cholesky factor;
   false if A is not positive definite. `factor` holds A before and L after. */
bool oriented_cholesky(int n, double *factor);
void oriented_cholesky_solve(int n, const double *factor, int columns, double *b);

#endif
