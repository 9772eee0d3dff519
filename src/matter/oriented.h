/* Bodies of oriented particles (Choi & Lee 2017, METHODS §1): one implicit Euler step minimises

       E = 1/2 Σ_i ( f_i ‖(R_i − R*_i) Ē_i A_i^½‖² + m_i ‖x_i − x*_i‖² )
         + 1/2 Σ_edges κ ( ‖(R_a − R_b)(Ā_a + Ā_b)^½‖² + v_b ‖R_a d̄ − d‖² + v_a ‖R_b d̄ − d‖² )
         + 1/2 Σ_pins w ‖…‖²                         with d = x_b − x_a, m_i = f_i v_i

   in units that leave no dimension: lengths in the model's power-of-two unit, densities relative to
   the material's, energies in density · unit⁵ / h². The stiffness is then κ = k h² / ρ, and scaling
   a scene by 2^n changes no bit.

   Positions are kept as origin (double) + c (double, the mean motion of the current sub-step) + x_i
   (float): a free body's mean motion never meets a float. Bodies that are held by fixed particles
   ("grounded") keep c = 0. */
#ifndef PL_MATTER_ORIENTED_H
#define PL_MATTER_ORIENTED_H

#include "base/clock.h"
#include "shape/clumps.h"
#include "shape/model.h"
#include "sparse/pins.h"

/* ---- The numbers of a system: everything that depends on (model, step, materials, fixed set) - */

/* One neighbour j of a particle i, for C_i: M = κ (Ā_i + Ā_j), √(κ v_j), and √(κ v_j) (x̄_j −
   x̄_i), multiplied as the kernels multiply the present offset: at rest their outer product is
   symmetric to the last bit, and nothing turns. */
typedef struct pl_star_f {
    int32_t j;
    float moment[6], root, arm[3];
} pl_star_f;

typedef struct pl_star_d {
    int32_t j;
    double moment[6], root, arm[3];
} pl_star_d;

/* One edge for b − L x and the energy: κ v_b, κ v_a, d̄ = x̄_b − x̄_a, M = κ (Ā_a + Ā_b), and the
   quadratic form 4 (tr(M) I − M) with entries off the diagonal counted twice. Edges are sorted by
   their ends, so that neighbours in memory are used together. */
typedef struct pl_spring_f {
    int32_t a, b;
    float claim_a, claim_b, rest[3], turning[6]; /* M is for the stiff solver, which is in double */
} pl_spring_f;

typedef struct pl_spring_d {
    int32_t a, b;
    double claim_a, claim_b, rest[3], moment[6], turning[6];
} pl_spring_d;

/* One particle: mass f v, density f, moment Ā, and its scale in Anderson's metric, (2√2 · mean
   radius)². */
typedef struct pl_grain_f {
    float mass, density, moment[6], doubled[3], scale;
} pl_grain_f;

typedef struct pl_grain_d {
    double mass, density, moment[6], doubled[3], scale;
} pl_grain_d;

/* ---- Pins ------------------------------------------------------------------------------------ */

/* One pin as the kernels want it. Position: draws Σ w_j (R_j arm_j + x_j) to the target; direction:
   turns Σ w_j R_j axis / ‖…‖ to it. */
typedef struct pl_hold {
    pl_pin_kind kind;
    int count;
    int32_t particle[PL_MAX_INFLUENCES];
    double weight[PL_MAX_INFLUENCES];
    double arm[PL_MAX_INFLUENCES]
              [3]; /* position: v̄ − x̄_j, units; direction: the rest vector, the same for all */
    double strength;  /* the caller's s */
    double stiffness; /* w of the energy, dimensionless */
    double from[3],
        to[3]; /* target at the start and at the end of the step: units in the world, or a direction */
    double now[3];  /* target of this sub-step: relative to the body's origin, or the direction */
    int32_t column; /* in the body's Woodbury correction, -1 = none */
} pl_hold;

/* The part of a material that shapes the matrix, with the maps multiplied out by the caller's
   choice. */
typedef struct pl_system_key {
    pl_model *model;
    double h;
    pl_material material;                           /* damping is not part of the key */
    const float *edge_stiffness, *particle_density; /* NULL = 1 everywhere */
    const int32_t *fixed;                           /* ascending */
    int fixed_count;
    const pl_hold
        *absorbed; /* pins that are part of the matrix: their couplings extend its pattern */
    int absorbed_count;
    bool
        pattern_only; /* absorbed pins lend their pattern, not their values (the stiff solver adds those itself) */
    const pl_tetrahedral_def *tetrahedral; /* NULL = not tetrahedral matter; and of that… */
    const float *tet_stiffness;            /* …a factor per tetrahedron; NULL = 1 everywhere */
} pl_system_key;

typedef struct pl_system {
    int references;
    bool
        loose; /* of matter that has no matrix here: masses only, and of one body alone unless there are… */
    struct pl_tet_system *tets; /* …tetrahedra; NULL = none */
    uint64_t hash;              /* of the key's content */
    pl_system_key key;          /* maps, fixed set and absorbed pins are own copies */
    int n, edge_count;
    bool grounded; /* the constant vector is no free mode: fixed particles or absorbed pins */
    bool twice;    /* the fast solver works in double: the condition number asks for it */
    double condition;
    double
        firmness; /* the mean of L_ii/m_i − 1 over the mass: how much stiffer than inert a particle is; 0 = not known */
    double density;              /* ρ, kg m⁻³: the unit of density */
    double mass_unit;            /* kg per unit of mass here */
    double energy_unit;          /* joules per unit of energy here */
    double total_mass;           /* Σ m_i */
    double own_moment;           /* Σ f_i tr Ā_i */
    double *kappa;               /* [m] */
    double *mass;                /* [n] */
    double *weights;             /* [n][3] masses, once for every component */
    double *diagonal;            /* [n] L_ii as if nothing were fixed */
    double *turning;             /* [n] Σ_l κ tr Ā_i: the scale of direction constraints */
    uint8_t *is_fixed;           /* [n] */
    const pl_symbolic *symbolic; /* the model's, or own_symbolic */
    pl_symbolic *own_symbolic;
    pl_factor *factor;
    int32_t *edge_order; /* [m] spring -> edge of the model */
    int64_t *edge_entry; /* [m] where a spring stands in the column form of the factor */
    pl_star_f *star_f;   /* [2m], where the model's start[] says */
    pl_star_d *star_d;
    pl_spring_f *spring_f; /* [m] */
    pl_spring_d *spring_d;
    pl_grain_f *grain_f; /* [n] */
    pl_grain_d *grain_d;
} pl_system;

pl_status pl_system_create(pl_memory *memory, const pl_system_key *key, pl_system **system,
                           pl_error *error);
/* For matter without a matrix: n particles with these masses, in the key's unit of mass, and room
   for more; then with other particles. */
pl_status pl_system_create_loose(pl_memory *memory, const pl_system_key *key, int n, int capacity,
                                 const float *mass, pl_system **system, pl_error *error);
void pl_system_reload(pl_system *system, int n, const float *mass);
void pl_system_destroy(pl_memory *memory, pl_system *system);
uint64_t pl_system_key_hash(const pl_system_key *key);
bool pl_system_key_equal(const pl_system_key *a, const pl_system_key *b);

/* w of a pin's energy from its strength s: s Σ_j w_j L_jj for positions, s Σ_j w_j Σ_l κ_jl tr Ā_j
   for directions. */
double pl_hold_stiffness(const pl_system_key *key, const pl_hold *hold);

/* The stiffness k of each edge (kg m⁻³ s⁻²) that a material gives a model. */
double pl_edge_stiffness(const pl_model *model, const pl_material *material, int edge);

/* ---- A body's state -------------------------------------------------------------------------- */

/* More position pins than this become part of a body's own factor instead of a correction on the
   shared one. On a small body they soon depend on each other, which a correction does not like, and
   its factor costs a few microseconds. */
enum { PL_MOST_CORRECTIONS = 16 };

static inline int pl_most_corrections(int particles)
{
    return particles < 4 * PL_MOST_CORRECTIONS ? (particles + 3) / 4 : PL_MOST_CORRECTIONS;
}

/* One particle of one pin, in the order in which the local step meets the particles. */
typedef struct pl_grip {
    int32_t particle, hold, slot;
} pl_grip;

typedef struct pl_state {
    float *x, *q, *u,
        *w; /* [n][3], [n][4], [n][3], [n][3]: units from the origin; units/s above `velocity`; rad/s */
    double origin[3];   /* units */
    double velocity[3]; /* units/s, of the whole body; 0 where grounded */
} pl_state;

/* What is rigid in a stiff body's motion, so that the iteration starts without strain from it: see
   oriented_lead.c. All zero = nothing. */
typedef struct pl_lead {
    float bend[9], centre[3]; /* Q − A row by row, c */
    float turn[3], spun[3];   /* Q as axis times tan of half its angle; h ω */
} pl_lead;

typedef struct pl_oriented {
    pl_system *system;
    struct pl_clustered *clustered;     /* what it is made of; both NULL = oriented particles */
    struct pl_posed *posed;             /* NULL = the rest shape is the model's */
    struct pl_tetrahedral *tetrahedral; /* of the system's tetrahedra */
    int n, capacity;                    /* particles, and rows of the arrays below */
    pl_solver solver;
    double damping, gravity_scale;
    double decay_rate,
        decay; /* of velocities in a sub-step: damping × h and exp(−…); decay 0 = not known yet */
    pl_state now;
    pl_state old; /* at the start of the last sub-step */
    pl_state
        shown; /* positions and rotations at the start of the last step, for interpolation; u, w NULL */
    double c[3];     /* mean motion in this sub-step so far, units */
    double drift[3]; /* inertial target of c: h V + h² g */
    pl_lead lead;    /* of this sub-step */
    double place[3]; /* where the origin will be at the end of the sub-step */
    double path[3];  /* how far the centre of mass of a free body gets in it */
    double spin[3];  /* a lone particle: how far it turns in it, a rotation vector of any length */
    float *push;     /* [n][3] accelerations in this sub-step beyond the mean one, units/s² */
    bool pushed;     /* push holds something other than zeros */

    int fixed_count;
    int32_t *fixed; /* [fixed_count] ascending */
    double *
        drive_from; /* [fixed_count][7] position (units, world) and quaternion at the start of the step */
    double *drive_to;  /* at its end */
    double *drive_now; /* in this sub-step: position relative to the origin */

    int hold_count, grip_count;
    pl_hold *holds;
    pl_grip *grips;
    pl_pins *correction; /* NULL when there are no position pins outside the matrix */
} pl_oriented;

/* ---- Solving --------------------------------------------------------------------------------- */

typedef enum pl_stage {
    PL_STAGE_PREDICT,
    PL_STAGE_LOCAL,
    PL_STAGE_GLOBAL,
    PL_STAGE_ACCELERATE,
    PL_STAGE_STIFF,
    PL_STAGE_CONTACT,
    PL_STAGE_FINISH,
    PL_STAGE_CHANGE,
    PL_STAGE_COUNT
} pl_stage;

/* Bodies of one system and one solver, solved side by side; a single body may be solved alone. */
typedef struct pl_block {
    pl_system *system;
    pl_solver solver;
    pl_oriented **bodies;
    int count;
    bool lone;
    bool
        backward; /* the local step goes through the model's order from its end: alternating from sub-step to sub-step, so
                      that an iteration cut short turns no errors about (its matrix would not be symmetric) */
} pl_block;

typedef struct pl_work {
    void *scratch; /* of the worker, pl_oriented_scratch bytes, aligned */
    uint64_t ticks[PL_STAGE_COUNT];
    uint64_t iterations, refused;
    double *
        trace; /* [iterations + 1] energies after each iteration of the first body, for tests; NULL = none */
} pl_work;

/* From this many iterations on everything is computed in double: the rounding errors of float are
   what is left after fewer. */
enum { PL_MANY_ITERATIONS = 64 };

/* How a body is solved. Few iterations leave acceleration nothing to extrapolate from (measured: at
   two it changes nothing, up to four an iteration more is worth more than it): a fast body is then
   solved as a plain one, unless something holds it, where the guard on the energy keeps iterations
   that were cut short from gaining any. */
pl_solver pl_oriented_way(const pl_oriented *body, int iterations);

/* How many bodies a block of this system holds, and the scratch memory it needs at any number of
   iterations, with the instruction set in use. */
int pl_oriented_lanes(const pl_system *system, pl_solver solver, int iterations);
size_t pl_oriented_scratch(const pl_system *system, pl_solver solver, bool lone);

/* Whether so many bodies are better solved one by one: the bits are the same either way. */
bool pl_oriented_prefers_lone(const pl_system *system, pl_solver solver, int iterations, int count);

/* Whether what is rigid in the motion of a system's bodies is taken out of the start; and that, of
   a body whose `old` is there. */
static inline bool pl_system_leads(const pl_system *system)
{
    return system->firmness >= 1 && !system->grounded;
}

void pl_oriented_lead(pl_oriented *body, double h);

/* One free particle and nothing else: rigid, so that its turn is known without solving. */
static inline bool pl_oriented_is_lone(const pl_oriented *body)
{
    return body->n == 1 && !body->clustered && !body->tetrahedral && !body->hold_count &&
           !body->system->grounded;
}

/* How a lone particle turns, into `spin` and `now`: oriented_spin.c. */
void pl_oriented_spin(pl_oriented *body, double h);

/* Minimises E over one sub-step from `now` (which becomes `old`): positions and rotations of `now`,
   c, place and path are written: a particle is at place + x. */
void pl_oriented_solve(const pl_block *block, double h, int iterations, pl_work *work);

/* After whatever solved it: where the mean of a free body has got to. */
void pl_oriented_settle(pl_oriented *body, double h);

/* A body that was not solved stands where it is. */
void pl_oriented_stand(pl_oriented *body);

/* What contact wants to know, in metres from the place: positions and displacements of all
   particles, clump by clump, primitives (all but `yield`) of the clumps that are wanted. */
typedef struct pl_gathered {
    float centre[3]; /* about the middle of the particles, metres from the place */
} pl_gathered;

void pl_oriented_gather(const pl_oriented *body, const pl_clumps *clumps, const uint8_t *wanted,
                        pl_clump_places *places, pl_clump_places *ways, pl_primitive *primitives,
                        pl_gathered *out);

/* Only the primitives of the clumps marked `which`. */
void pl_oriented_gather_more(const pl_oriented *body, const pl_clumps *clumps,
                             const uint8_t *wanted, uint8_t which, pl_primitive *primitives);

/* How far a particle would have gone in h at the velocity it had at the start, metres; and those of
   the wanted clumps. */
void pl_oriented_came(const pl_oriented *body, int particle, double h, float out[3]);
void pl_oriented_gather_velocities(const pl_oriented *body, const pl_clumps *clumps,
                                   const uint8_t *wanted, double h, float (*came)[4]);

/* The mean velocity of each clump at the start, m/s. */
void pl_oriented_pace(const pl_oriented *body, const pl_clumps *clumps, float (*out)[3]);

/* Moves particles as contact says: `change` with velocity, `shift` without, `kick` (which may be
   NULL) is velocity without moving; x, y, z, – by place; all are set to zero. `touched` tells in
   bits which of a clump were changed, and is cleared. */
void pl_oriented_scatter(pl_oriented *body, const pl_clumps *clumps, uint16_t *touched,
                         float (*change)[4], float (*shift)[4], float (*kick)[4]);

/* After some particles were given velocity by moving `old.x`: so much momentum in all, mass × units
   per sub-step. */
void pl_oriented_add_kick(pl_oriented *body, const double momentum[3]);

/* All its particles turn, by rotation vectors: with velocity, and without; and get velocity without
   turning. */
void pl_oriented_turn(pl_oriented *body, const double turned[3], const double tilted[3],
                      const double spun[3]);

/* After the contacts: velocities from displacements, damping, c into the origin. False when a
   number was not finite: the body is then back at its old state, at rest. */
bool pl_oriented_finish(pl_oriented *body, double h, pl_work *work);

/* ---- Reference in double: energies and gradients --------------------------------------------- */

typedef struct pl_oriented_energy {
    double inertia, elastic, pins; /* none is negative */
} pl_oriented_energy;

/* At positions x [n][3] (relative to the origin of `old`) and rotation matrices r [n][9] (row
   major), or with NULL for both in the present state, against the targets that `old` gives.
   gradient (may be NULL) is [n][6]: by x_i and by a rotation vector θ_i with R_i ← exp([θ_i])
   R_i. */
pl_oriented_energy pl_oriented_evaluate(const pl_oriented *body, double h, const double *x,
                                        const double *r, double *gradient);

/* The inertial targets x*, R* of the last sub-step in the same coordinates. */
void pl_oriented_targets(const pl_oriented *body, double h, double *x, double *r);

#endif
