/* Between the files tetrahedral*.c and the kernels in tetrahedral_lanes.c. */
#ifndef PL_MATTER_TETRAHEDRAL_LANES_H
#define PL_MATTER_TETRAHEDRAL_LANES_H

#include "math/mat3.h"
#include "matter/tetrahedral.h"
#include "sparse/supernodal.h"

enum {
    PL_TET_LANES = 16,         /* elements in a group */
    PL_TET_BLOCK_GROUPS = 32,  /* groups in a block */
    PL_TET_BLOCK_NODES = 2048, /* nodes a block can have: four for each element */
    PL_TET_ROW_BLOCK = 256,    /* rows of nodes in a block */
    PL_TET_MOST_WINDOW = 12,
    PL_TET_MOST_SIDE = 16,
    PL_TET_PATCH = 8,       /* nodes of a sample and the elements beyond its faces */
    PL_TET_REST_FIELDS = 11 /* of an element: three gradients, weights of shape and volume */
};

/* A block of elements and the nodes they have, each once. */
typedef struct pl_tet_block {
    int32_t group, group_count; /* of sixteen elements */
    int32_t place, place_count; /* of nodes */
} pl_tet_block;

/* A term of the folded product: the row gets Σ (R_j − I) c_j. */
typedef struct pl_tet_fold {
    float factor[3]; /* c */
    int32_t sample;  /* sixteen times its number */
} pl_tet_fold;

/* Of four rows a neighbour each. */
typedef struct pl_tet_near {
    float value[4]; /* −A_ij */
    int32_t row[4]; /* four times its number */
} pl_tet_near;

/* What a node around another adds to the frame there: (d − d of that node) cᵀ. */
typedef struct pl_tet_lean {
    float factor[3]; /* c */
    int32_t row;     /* four times its number */
} pl_tet_lean;

/* Where one body is solved: rows of four floats. It is the system's, not the body's: bodies that
   are solved one after the other find it in the cache, and hold only what lasts. */
typedef struct pl_tet_room {
    float *d, *y;          /* [rows] displacements from rest; their inertial targets */
    float *start, *before; /* [rows] displacements where the sub-step began, and one step ago */
    float *r,
        *r_before; /* [padded] −h² times the gradient over the unit of mass, here and one step ago */
    float *z;      /* [padded] solution, then step */
    float *s[PL_TET_MOST_WINDOW + 1], *dr[PL_TET_MOST_WINDOW + 1]; /* history */
    float *partial;       /* [places][4] forces by blocks */
    float *sample_row;    /* [samples][16] R − I by columns, or [samples][4] quaternions */
    double *block_energy; /* [blocks] */
    double *row_sums;     /* [row blocks][PL_TET_MOST_WINDOW + 2] */
} pl_tet_room;

/* One worker's room for solving. */
typedef struct pl_tet_scratch {
    pl_tet_room *rooms; /* [together] */
    float *x;           /* [unknowns][together][3], or [rows][4] for frames */
    float *work;        /* of the factor */
} pl_tet_scratch;

struct pl_tet_system {
    pl_memory *memory;
    int references;
    pl_tetrahedral_def def;
    pl_tet_counts counts;
    uint64_t hash; /* of mesh and definition */
    double h;

    /* Nodes as rows of four floats: unknowns first, filled up to a multiple of four, then fixed and
       unused ones. */
    int n, rows, unknowns, padded;
    int32_t *row_of;  /* [n] */
    int32_t *node_of; /* [rows], −1 for filling */
    int fixed_count;
    int32_t *fixed; /* [fixed_count] rows, in the order of the source */
    float *rest;    /* [rows][4] */
    float *mass; /* [rows] in units of the mean mass of a node; 0 for filling, fixed and unused */
    double unit_mass;                /* that mean mass */
    double *node_mass, *node_volume; /* [n] */
    int free_count;                  /* pieces without a fixed node */
    int32_t *piece;                  /* [padded] number of the free piece, −1 */
    double *piece_mass;              /* [free_count] in units of mass */

    /* Elements as given, those that are left. */
    int tet_count;
    int32_t *tets;              /* [tets][4] nodes, positive volumes */
    double *gradient;           /* [tets][9] g_1, g_2, g_3, of corners 0, 1, 2 */
    double *volume, *mu, *bulk; /* [tets]; bulk = W */
    int32_t *slot;              /* [tets] where it is among the lanes */
    int source_count;           /* elements of the source */
    int32_t *source_of;         /* [tets] its number there */

    /* Elements in lanes. */
    int block_count, group_count;
    pl_tet_block *blocks;
    uint16_t *corner; /* [groups][4][16] four times the place within the block */
    int32_t *
        example_at; /* [groups][16] where its numbers begin in the blocks of examples.h, −1 for filling */
    float *lanes; /* [groups][PL_TET_REST_FIELDS][16] */
    int place_count;
    int32_t *place_row;             /* [places] four times the row */
    int32_t *sum_start, *sum_place; /* [padded + 1] four times the places of each row, ascending */

    /* Samples. */
    int sample_count, sample_groups;
    int32_t *sample_corner; /* [groups][PL_TET_PATCH][16] four times the row */
    float *sample_gradient; /* [groups][PL_TET_PATCH][3][16] */
    int slots;              /* most samples of an element */
    uint8_t *blend_count;   /* [groups] slots used */
    int32_t *blend_sample;  /* [groups][slots][16] four times the sample */
    float *blend_weight;    /* [groups][slots][16] */
    int32_t *fold_start;    /* [padded / 4 + 1] */
    pl_tet_fold *fold;      /* [][4] of four places in fold_order side by side */
    int32_t *fold_order;    /* [padded] rows, within their block by the lengths of their lists */
    int32_t *near_start;    /* [padded / 4 + 1] neighbours in the matrix */
    pl_tet_near *near;      /* of four places in near_order each */
    int32_t *near_order;    /* [padded] */

    int32_t *lean_start; /* [n + 1] nodes around each node */
    pl_tet_lean *lean;

    pl_supernodal *factor;
    int together; /* bodies solved side by side at most */
    int workers;
    pl_tet_scratch *scratch; /* [workers] */
};

/* Of one body, while it is solved. */
typedef struct pl_tet_run {
    int iteration;
    bool measured; /* the step that led here is to be judged */
    int history;   /* pairs there are */
    int slot[PL_TET_MOST_WINDOW +
             1]; /* of pair k, oldest first; the one behind them is being made */
    double sy[PL_TET_MOST_WINDOW + 1][PL_TET_MOST_WINDOW + 1]; /* s_i · y_j, by slots */
    double sr[PL_TET_MOST_WINDOW + 1],
        sr_before[PL_TET_MOST_WINDOW + 1]; /* s · r by age, here and one step ago */
    double yz[PL_TET_MOST_WINDOW + 1];     /* y · A⁻¹q, then y · p */
    double alpha[PL_TET_MOST_WINDOW + 1], step[PL_TET_MOST_WINDOW + 1];
    double root[PL_TET_MOST_WINDOW]
               [PL_TET_MOST_WINDOW]; /* of (sy + syᵀ)/2 at unit diagonal, newest first */
    double slope;                    /* p · r where the step began */
    double gram[PL_TET_MOST_WINDOW + 1]
               [PL_TET_MOST_WINDOW + 1]; /* s_i · A s_j by slots, for interpolated rotations */
    double energy,
        before; /* h² over the unit of mass times the energy at this iterate and the one before, less that of
                              the inertia where the sub-step began, which may be very much */
    double scale; /* of the terms it is made of */
    double first_slope;
} pl_tet_run;

struct pl_tetrahedral {
    pl_memory *memory;
    pl_tet_system *system;

    /* State. */
    float *turn;                       /* [groups][4][16] rotations of the elements, x y z w */
    float *sample_turn;                /* [sample groups][4][16] */
    float *plastic;                    /* [groups][9][16], NULL without plastic flow */
    float *worked;                     /* [groups][16] */
    pl_examples *examples;             /* NULL = none; then all of these are */
    float *descriptor, *blend;         /* [source's blocks][6][16] */
    float *modified, *modified_before; /* [groups][9][16] S̃ Fᵖ, here and one step ago */
    double *example_energy;            /* [blocks] */

    pl_tet_room room; /* lent while it is solved */
    pl_tet_run run;
    pl_tet_report report;
};

typedef struct pl_tet_table {
    int width;
    void (*describe)(pl_tetrahedral *body, int begin, int end); /* blocks: stretches at S̃ so far */
    void (*modify)(pl_tetrahedral *body, int begin, int end);   /* blocks: S̃ Fᵖ of the blend */
    void (*local)(pl_tetrahedral *body, int begin, int end);    /* blocks of elements */
    void (*sample)(pl_tetrahedral *body, int begin, int end);   /* groups of samples */
    void (*combine)(pl_tetrahedral *body, int begin,
                    int end); /* blocks of rows: r, energy, s · r */
    void (*direct)(pl_tetrahedral *body, int begin, int end);  /* z = q = r − Σ α y */
    void (*measure)(pl_tetrahedral *body, int begin, int end); /* y · z */
    void (*advance)(pl_tetrahedral *body, int begin, int end); /* p = z + Σ c s, d += p; p · r */
} pl_tet_table;

#define PL_TET_TABLE(width) extern const pl_tet_table pl_tet_table_w##width;
PL_TET_TABLE(4)
PL_TET_TABLE(8)
PL_TET_TABLE(16)

/* The table for a width of 4, 8 or 16; NULL when this build or this machine has none. */
const pl_tet_table *pl_tet_table_of(int width);

/* pl_tetrahedral_solve at a width that this machine has: for tests. */
void pl_tetrahedral_solve_at(pl_tetrahedral *const *bodies, const pl_tet_motion *motions, int count,
                             int iterations, pl_tasks *tasks, int width);

/* How many bodies are worth solving side by side with so many iterations. */
int pl_tet_together(const pl_tet_system *system, int iterations);

/* Examples: S̃ Fᵖ from the weights there are; from those nearest to d. The energy of their part is
   returned. */
void pl_tet_begin_examples(pl_tetrahedral *body, const pl_tet_table *table, pl_tasks *tasks);
double pl_tet_follow_examples(pl_tetrahedral *body, const pl_tet_table *table, pl_tasks *tasks);
void pl_tet_free_examples(pl_tetrahedral *body);

/* S̃ of element e, and 1/β − 1 (0 where β is: then S̃ = I, and nothing is to be weighed). */
pl_mat3 pl_tet_stretch_of(const pl_tetrahedral *body, int e);
double pl_tet_example_hold(const pl_tetrahedral *body);

/* p with p1 p2 p3 = 1 and a stationary distance from the singular values s (s1 ≥ s2 ≥ |s3|): the
   nearest but for large stretch in all directions, where the nearest would flatten the element. */
void pl_tet_unit_determinant(const double s[3], double p[3]);

#endif
