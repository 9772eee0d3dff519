/* Clustered shape matching with plasticity, reclustering and fracture (Falkenstein 2017, METHODS
   §2): particles in overlapping clusters, each of which remembers where its members were at rest,
   but nobody where everybody was.

   Order of a sub-step, as in METHODS: fit → flow (computed, held back) → goals → integrate →
   constraints → strain limiting (pl_clustered_solve) → contacts → velocities (the world) → commit
   Fᵖ → fracture → add clusters → mark and fade → recentre (pl_clustered_change).

   Lengths are in the model's unit, positions floats from the body's origin, as for all matter. Sums
   over the members of a cluster run in sixteen columns (member k in column k mod 16) that are added
   up in a fixed order: every vector width gives the same bits. Work is cut into blocks of constant
   size; nothing is allocated but by a change of topology. */
#ifndef PL_MATTER_CLUSTERED_H
#define PL_MATTER_CLUSTERED_H

#include "base/memory.h"
#include "base/tasks.h"
#include "matter/examples.h"
#include "pliant/clustered.h"

enum { PL_COLUMNS = 16, PL_MOST_PLANES = 16, PL_KEPT = 31, PL_FIXED = 21 };

/* A half-space n · p <= offset in the rest space of a cluster. */
typedef struct pl_cut {
    float normal[3], offset;
    float middle[3], reach; /* a crack is the disc of that plane around this point */
    bool crack;             /* made by fracture, not by the shape of a thin body */
} pl_cut;

/* Where a cluster is in its life. */
typedef enum pl_phase {
    PL_PHASE_WHOLE,
    PL_PHASE_COMING, /* weights fade in */
    PL_PHASE_GOING,  /* marked: weights fade out, then it goes */
} pl_phase;

typedef struct pl_cluster {
    /* Members: places first … first + count − 1 of the member arrays; `room` of them (a multiple of
       16) are its own, those behind `count` have weight 0 and repeat the first particle. */
    int32_t first, count, room;

    /* Rest; the kernels take the floats from `inverse` to `plastic` as one row. */
    float inverse[6]; /* pseudo-inverse of A_pp: xx, xy, xz, yy, yz, zz */
    float lean[3];    /* weighted mean of the offsets: what rounding left of it */
    float mass;       /* Σ w m */
    float width;      /* largest ‖p‖ */
    float radius;     /* of the collision proxy; that of the clustering where it was made */
    float plastic[9]; /* Fᵖ, row major, det 1 */
    int rank;         /* of A_pp: 3, or 2 (flat), 1, 0 */
    float seen[6];    /* A_pp A_pp⁺: the projection on what the members span; I for rank 3 */
    float carried
        [9]; /* deformation from the model's rest to this cluster's rest: I but for later ones */
    float worked;    /* a: accumulated h ‖Fᵉ − I‖ */
    float toughness; /* present one, boost included */
    float calm;      /* seconds for which it does not split (after a cut) */

    pl_phase phase;
    float fade;  /* 0 … 1: what its raw weights are multiplied by */
    uint32_t id; /* never used again: for tests, colours and snapshots */

    /* Which element of the examples it is: the cluster of the model it was, or was split from; -1 =
       a later one, which has none. Of those with the same element one speaks for it; derived by
       pl_clustered_index. */
    int32_t element;
    bool speaks;

    /* The collision proxy, in rest space: a ball with `radius` around `middle`, cut by planes. */
    float middle[3];
    int cut_count;
    pl_cut cuts[PL_MOST_PLANES];

    /* Fitted in this sub-step; `centre` to `rotation` are one row. */
    float centre[3];
    float gradient[9]; /* F */
    float turn[4];     /* R as a quaternion x, y, z, w: where the next fit starts */
    float rotation[9]; /* R: of Fᵉ, or the least-squares one */
    float flow[9];     /* Fᵖ as it will be after the commit */
    float stretch;     /* largest singular value of Fᵉ */
    float pull[3];     /* its direction in the world: first column of U */
    bool flows;
} pl_cluster;

/* How the kernels see the particles: as rows of four floats in an order that keeps neighbours
   together, and the clusters in a sequence that follows it, sixteen to a group. Derived by
   pl_clustered_index. The sequence is cut into runs, each of which adds what it has for its
   particles to rows of its own; particles then add up the runs. Rows go in blocks of PL_ROW_BLOCK:
   what a run has nothing for, and what did not move, is skipped by blocks. Most blocks are one
   run's alone: it moves them itself, as soon as none of its clusters will look at them again, while
   they are in the cache. */
enum { PL_ROW_BLOCK = 64, PL_MOST_RUNS = 8 };

typedef struct pl_clustered_rows {
    int block_count;   /* of rows: enough for n of them and sixteen that are nobody's */
    int32_t *order;    /* [n] row → particle */
    int32_t *rank;     /* [n] particle → row */
    int32_t *row;      /* [members] four times the row of each member: where its floats are */
    int32_t *sequence; /* [clusters] */
    int run_count;
    int run_start[PL_MOST_RUNS + 1]; /* in the sequence, multiples of sixteen but the last */
    int32_t *touch_start;            /* [clusters + 1] in the sequence, and */
    int32_t *touch;                  /* the blocks of rows each cluster has members in */
    int32_t *reach_start;            /* [groups + 1], and */
    int32_t *reach;                  /* those that any cluster of a group has */
    uint8_t *alone;      /* [blocks] whether only clusters of one run have members in it */
    int32_t *last_start; /* [groups + 1], and */
    int32_t *last; /* such blocks, by the last group that has any: when it is done, they can move */
    int32_t *first_start;    /* [groups + 1], and */
    int32_t *first;          /* blocks by the first group of each run that has any in them */
    float *mass, *lightness; /* [n] by rows: m, 1 / m */
    float *x, *old, *u,
        *push;      /* [rows][4]: x y z 1/m (m while proxies meet), x y z 1/m, u 0, a 0 */
    float *sum;     /* [runs][rows][4] times m, zero but where `added` says otherwise */
    uint8_t *added; /* [runs][blocks] */
    uint8_t *moved; /* [blocks] in the last round of strain limiting */
    float *group;   /* [groups][PL_GROUP_FIELDS][16] of the clusters, between the phases */
    float *kept; /* [groups][PL_KEPT][16] sums and more, while examples stand between the passes */
    /* [groups][16] where in the manifold's arrays the stretch of a cluster goes, and where S̃
       is. */
    int32_t *spoken, *heard;
    float *columns; /* [runs][3][column_room] of a group, between its passes */
    int column_room;
    float *rest; /* [slots][4][16] p and w m of the members, sixteen to a slot */

    /* Narrow bodies, of many small clusters, have one cluster per lane also while their members are
       gone through: member k of sixteen clusters in slot lane_start[group] + k. Short ones are
       filled up with rows that are nobody's, weight 0. lane_fixed is the row of rest of each
       cluster, for bodies that do not flow. */
    bool narrow;
    int32_t *lane_start; /* [groups + 1] */
    int32_t *lane_row;   /* [slots][16] as `row` */
    float *lane_fixed;   /* [groups][PL_FIXED][16] */

    void *sort;       /* for index and weigh */
    int32_t *spare;   /* [members] for index */
    int row_capacity; /* rows there is room for */
} pl_clustered_rows;

/* Elastic bodies of many small clusters, one in every lane all the time (rings.h). Member k of
   sixteen clusters that follow each other in the sequence is in slot start[group] + k. Derived by
   pl_clustered_index and pl_clustered_weigh. */
enum { PL_RING_MOST = 48 }; /* members */

typedef struct pl_rings {
    bool used;
    int32_t *start;    /* [groups + 1] */
    int32_t *row;      /* [slots][16] eight times the row of each member */
    float *rest;       /* [slots][4][16] p, w m */
    float *fixed;      /* [groups][PL_RING_FIXED][16] */
    float *state;      /* [groups][PL_RING_STATE][16] */
    float *kept;       /* [groups][PL_RING_KEPT][16] */
    uint8_t *flat;     /* [groups] some have no rank 3 */
    float *rows;       /* [clusters][PL_RING_ROW] what each wants of its members */
    int32_t *of_start; /* [rows + 1], and */
    int32_t *of;       /* where the rows of the clusters of each particle are, */
    float *share;      /* and w */
    float *x;          /* [rows][8] x 0 u 0 */
    float *home;       /* [rows][4] q 0 */
} pl_rings;

typedef struct pl_clustered_proxies pl_clustered_proxies;

/* Examples of a body, and room for the descriptors of all its elements, [blocks + 1][6][16]: the
   last block is for those that have nothing to say or to hear. */
typedef struct pl_clustered_manifold {
    pl_examples *examples;
    float *present, *blend;
    int32_t *speaker; /* [elements] cluster, -1 = there is none left; for index */
} pl_clustered_manifold;

typedef struct pl_clustered {
    pl_memory *memory;
    pl_clustered_def def; /* as given, checked */

    int n, n_capacity; /* particles; fracture makes more of them */
    float *mass;       /* [n] relative to the body's unit of mass */
    float *radius;     /* [n] units */
    int32_t *origin;   /* [n] the particle of the model it was, or was divided from */
    float tiny;        /* offsets below this are nothing */
    int model_n;       /* particles of the model */
    uint32_t *key;     /* [model_n] where they were, so that neighbours have like numbers */

    int count, capacity;
    pl_cluster *clusters;
    uint32_t next_id;

    /* Members, cluster by cluster, in blocks of sixteen. */
    int32_t member_count, member_capacity;
    int32_t *particle; /* [members] */
    float *p[3];       /* [members] rest offsets from the cluster's centre */
    float *raw;        /* [members] weight before fading and normalising */
    float *weight;     /* [members] w: Σ over a particle's memberships is 1 */

    /* The same from the particles' side, in ascending order of clusters: places of member
       arrays. */
    int32_t *start; /* [n + 1] */
    int32_t *place; /* [memberships] */
    int32_t *owner; /* [members] cluster of each member place */

    float *frame; /* [n][9], by pl_clustered_frames */

    pl_clustered_rows rows;          /* of the kernels, nobody else's business */
    pl_rings rings;                  /* likewise */
    pl_clustered_manifold *manifold; /* of the examples; NULL = none */

    /* Time spent in pl_clustered_solve, ever, in pl_ticks: fit and goals; rows in and out and
       integration; strain limiting; contact with itself; projection on the examples. */
    uint64_t ticks[5];
    uint64_t rounds;      /* of strain limiting, ever */
    uint64_t corrections; /* clusters that had members beyond the limit in them, ever */

    bool
        content; /* no cluster has to be added: none was marked or split since that was found. Not saved */
    bool
        settled; /* by pl_clustered_commit: nothing flows, breaks or fades, nor will it: it need not be called again. Not saved */
    pl_clustered_proxies *proxies; /* of pl_clustered_collide, derived; not saved */

    uint64_t topology; /* rises with every change of particles or clusters */
    uint64_t added, removed, split,
        divided;        /* counters: clusters added, removed, split; particles divided */
    uint64_t unchanged; /* changes that did not happen for want of memory */
} pl_clustered;

/* Made from explicit clusters. Positions are those of the model's rest, units. */
typedef struct pl_clustered_source {
    int n;
    const float *rest;   /* [n][3] */
    const float *mass;   /* [n] */
    const float *radius; /* [n] */
    int cluster_count;
    const int32_t *start;  /* [cluster_count + 1] */
    const int32_t *member; /* particles */
    const float *raw;      /* raw weights */
    const float *radii;    /* [cluster_count] units */
} pl_clustered_source;

/* Checks a definition; errors name the field. */
pl_status pl_clustered_check(const pl_clustered_def *def, pl_error *error);

pl_status pl_clustered_create(pl_memory *memory, const pl_clustered_source *source,
                              const pl_clustered_def *def, pl_clustered **clustered,
                              pl_error *error);
void pl_clustered_destroy(pl_clustered *clustered); /* NULL is allowed */

/* One sub-step's motion, all in units and relative to the moving origin: `x` becomes where
   particles want to be. */
typedef struct pl_clustered_motion {
    double h;
    const float *from; /* [n][3] positions at the start */
    const float *u;    /* [n][3] velocities then, against the body's mean */
    const float *push; /* [n][3] accelerations beyond the mean one; NULL = none */
    double fall[3];  /* acceleration of every particle (a held body's gravity); 0 for a free one */
    double friction; /* Coulomb's, where the body touches itself: for pl_clustered_collide */
    int fixed_count;
    const int32_t *fixed;
    const double *targets; /* [fixed_count][7]: the first three are used */
    float *x;              /* [n][3] out */
    bool
        inner; /* another sub-step follows before anybody looks at the clusters: they may stay behind */
} pl_clustered_motion;

/* `tasks` may be NULL: then everything runs on the caller's thread, with the same result. */
void pl_clustered_solve(pl_clustered *clustered, const pl_clustered_motion *motion,
                        pl_tasks *tasks);

/* frame[i] = Σ_c w F carried of the last fit: how the surface around each particle is deformed; I
   for a particle without clusters. Only pictures need it, so it is worked out when it is asked
   for. */
void pl_clustered_frames(pl_clustered *clustered, pl_tasks *tasks);

/* Whether every fit finds `stretch` and `pull` and counts what was `worked`: not those of elastic
   bodies with nearly as many clusters as particles, for which it would take as long as all the
   rest. */
bool pl_clustered_measures_strain(const pl_clustered *clustered);

/* Largest singular value of Fᵉ in the last fit, of any body. */
float pl_cluster_stretch(const pl_clustered *clustered, const pl_cluster *cluster);

/* ---- Examples (METHODS §4, clustered_examples.c)
   ---------------------------------------------------------------------

   Each cluster of the model is an element of width 6: the stretch S of its elastic gradient. With
   examples the rest shape of a cluster is S̃ Fᵖ in place of Fᵖ, and its rotation the least-squares
   one. */
enum { PL_CLUSTERED_DESCRIPTOR = 6 };

/* What poses are compared by: S − I of the clusters of the model in a pose ([n][3] units; any place
   and rotation), and the mass of each, by which they are weighed. A region that is turned inside
   out has one negative eigenvalue, a flattened one a zero: they are stretches like others. Clusters
   whose rest is flat, a line or a point have no stretch, and zeros. Of a body that has not been
   changed yet. */
void pl_clustered_describe(const pl_clustered *clustered, const float *pose_x,
                           float *descriptors /* [clusters][6] */, float *weights /* [clusters] */);

/* Takes the examples over (not on failure); NULL = none again. Their elements are the clusters of
   the model. */
pl_status pl_clustered_set_examples(pl_clustered *clustered, pl_examples *examples,
                                    pl_error *error);
pl_examples *pl_clustered_examples(const pl_clustered *clustered); /* NULL = none */

/* S̃ of the weights as they are, where these were loaded. */
void pl_clustered_renew_examples(pl_clustered *clustered);

/* S̃ of a cluster in the last sub-step, row major; I without examples. */
void pl_clustered_stretch(const pl_clustered *clustered, const pl_cluster *cluster, float out[9]);

void pl_clustered_choose_speakers(pl_clustered *clustered); /* of pl_clustered_index */
void pl_clustered_free_examples(pl_clustered *clustered);   /* of pl_clustered_destroy */

/* ---- Changing the clusters
   -------------------------------------------------------------------------------------------

   Room first (the only thing that can fail), then any changes of the arrays, then index, then
   weigh:
   - new particles go behind the others: n, mass, radius, origin;
   - a new cluster goes behind the others, its members from member_count on: particle, p, raw of `count` of them, `room`
     = count rounded up to PL_COLUMNS, member_count += room, id = next_id++, turn and rotation and Fᵖ and the rest set
     (pl_cluster_blank gives all of it but the members);
   - a cluster is removed by moving those behind it forward; members it leaves behind go with the next index;
   - members of a cluster are removed by moving others into their places and lowering `count`. */

/* Room for so many in all, if there is not: contents are kept; false without memory, and nothing is
   changed then. */
bool pl_clustered_reserve(pl_clustered *clustered, int clusters, int members, int particles);

/* A cluster without members at rest: whole, not faded, everything as of a new body. Its centre
   should be set to about where it is: the fit counts positions from there. */
pl_cluster pl_cluster_blank(const pl_clustered_def *def);

/* Closes gaps between the members of clusters, fills up their last blocks of sixteen, and derives
   start, place, owner and rows. Places of members change; clusters and particles keep their
   numbers. */
void pl_clustered_index(pl_clustered *clustered);

/* w = raw · fade, normalised per particle (0 where a particle has nothing). Of every cluster the
   offsets are shifted so that their weighted mean is zero, and mass, A_pp⁺, rank, width follow. */
void pl_clustered_weigh(pl_clustered *clustered);

/* The proxy stays with the members when their offsets are lowered by `shift` (pl_clustered_weigh
   does that). */
void pl_cluster_shift_proxy(pl_cluster *cluster, const double shift[3]);

/* Gives the proxy of a new cluster the planes of the members' principal-axis box that pass nearer
   than half a radius to the centre: those of thin bodies. */
void pl_clustered_thin_planes(pl_clustered *clustered, int index);

/* After contacts and velocities, positions and velocities (units, units/s) as they came out; what
   is divided gets places behind the others in all arrays, which the caller has room for
   (pl_clustered_most_particles) or learns of before. */
typedef struct pl_clustered_change {
    double h;
    int n;        /* in: before; out: after */
    int capacity; /* rows of x and u */
    float *x, *u; /* [capacity][3] */
    bool changed; /* out: topology */
} pl_clustered_change;
void pl_clustered_commit(pl_clustered *clustered, pl_clustered_change *change, pl_tasks *tasks);

/* Contact between clusters of the body that share no particle (proxy.c): particles of one that are
   inside the proxy of another are moved out, with friction; linear momentum is kept. The last thing
   pl_clustered_solve does, if def.self_contact. `x` are the positions so far, `from` those at the
   start of the sub-step. */
void pl_clustered_collide(pl_clustered *clustered, float *x, const float *from, double h,
                          double friction, pl_tasks *tasks);

/* α/(2 h²) Σ_c Σ_i w m ‖x − goal in c‖² at these positions ([n][3]), in units of mass · length² /
   h² (clustered_energy.c). */
double pl_clustered_elastic(const pl_clustered *clustered, const float *x, double h);

void pl_clustered_proxies_free(pl_clustered *clustered); /* of pl_clustered_destroy */

/* Everything a snapshot holds, as bytes; a body restored from them goes on with the same bits. */
size_t pl_clustered_save_size(const pl_clustered *clustered);
void pl_clustered_save(const pl_clustered *clustered, void *bytes);
/* Any bytes will do: what is none of ours is PL_ERROR_FORMAT. */
pl_status pl_clustered_load(pl_memory *memory, const void *bytes, size_t size,
                            pl_clustered **clustered, pl_error *error);

#endif
