/* Pliant: real-time simulation of deformable things.

   A model is the rest state of something deformable: immutable, shared by any number of bodies. A
   world holds bodies (their state) and advances them in steps of constant length. Everything is
   made from a definition that a default function fills in, so that new fields never break a caller.

       pl_shape *shape;
       pl_model *model;
       pl_world *world;
       pl_body body;
       pl_shape_def shape_def = pl_default_shape_def(PL_SHAPE_BAR);
       pl_shape_create(&shape_def, &shape, NULL);
       pl_model_def model_def = pl_shape_model_def(shape);
       pl_model_create(&model_def, &model, NULL);
       pl_world_def world_def = pl_default_world_def();
       pl_world_create(&world_def, &world, NULL);
       pl_body_def body_def = pl_default_body_def(model);
       pl_body_create(world, &body_def, &body, NULL);
       pl_world_step(world, NULL);

   Units are SI: metres, kilograms, seconds, newtons, pascals. Vectors are x, y, z; quaternions x,
   y, z, w and unit; rotations take rest axes to world axes. y is up where a default needs an up.

   Deterministic: the same calls give the same bits, whatever the number of threads, the vector
   width, the compiler or the optimisation level.

   Threads: a world and everything in it belongs to one thread at a time. Reading functions (those
   that take a const world) may run at the same time as each other, not during a step or a change.
   Different worlds are independent. Models are immutable and may be shared between worlds of
   different threads; their reference count is atomic. Callbacks run on the thread that called the
   step. Calls that change a world from inside its own step return PL_ERROR_STATE.

   Calls that fail change nothing. */
#ifndef PLIANT_PLIANT_H
#define PLIANT_PLIANT_H

#include "pliant/base.h"
#include "pliant/clustered.h"
#include "pliant/contact.h"
#include "pliant/examples.h"
#include "pliant/mesh.h"
#include "pliant/shape.h"
#include "pliant/tetrahedral.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rises whenever a struct or a function here changes in a way that needs recompiling. */
#define PL_ABI_VERSION 5

/* The version the library was compiled as: compare with PL_ABI_VERSION after loading it
   dynamically. */
PL_API uint32_t pl_abi_version(void);

/* "0.1.0" */
PL_API const char *pl_version(void);

/* The number of floats in a vector of the kernels in use: 4, 8 or 16 (environment: PLIANT_SIMD
   forces one). */
PL_API int pl_simd_width(void);

/* ---- Models ---------------------------------------------------------------------------------- */

typedef struct pl_model pl_model;

enum { PL_MAX_INFLUENCES = 8 };

/* A graph of oriented particles (ellipsoids) and, optionally, a surface skinned to it. All arrays
   are copied. */
typedef struct pl_model_def {
    int particle_count;
    pl_buffer positions;    /* rest position of each particle, metres */
    pl_buffer orientations; /* rest orientation (quaternion) of its axes; data NULL = not turned */
    pl_buffer radii;        /* the ellipsoid's three radii along these axes, metres, > 0 */

    int edge_count;
    const int32_t *edges; /* two particles each; no loops, no duplicates */
    bool
        several_pieces; /* whether the graph may have unconnected parts, which then move independently;
                            default false: one is an error, being a mistake most of the time */

    int dimension; /* 1 rod, 2 sheet, 3 solid: how Young's modulus becomes stiffness. Default 3 */
    double volume; /* of the whole body, cubic metres; 0 (default) = sum of the ellipsoids' */

    int vertex_count;   /* of the render surface; may be 0 */
    pl_buffer vertices; /* rest position of each */
    int influence_count; /* particles per vertex, 1 to PL_MAX_INFLUENCES; 0 (default) = 4, computed */
    const int32_t
        *influences;      /* influence_count particles per vertex, -1 = none; NULL = computed */
    const float *weights; /* as many weights, >= 0; made to sum to one */
    int triangle_count;
    const int32_t *triangles; /* three vertices each */
    const pl_look *
        look; /* of the surface: normals, UVs, materials, …; NULL (default) = none. Numbers in it that are
                            none become 0; without normals they are computed */

    /* Tetrahedra that fill the volume, and where the vertices lie in them; may be absent. */
    int tet_point_count;
    pl_buffer tet_points; /* rest position of each corner */
    int tet_count;
    const int32_t *tets;        /* four corners each; (b − a) × (c − a) · (d − a) > 0 */
    const int32_t *vertex_tets; /* one per vertex; NULL = found */
    const float *vertex_barycentric; /* four per vertex, together with vertex_tets */

    /* Overlapping clusters of particles, for clustered bodies (pliant/clustered.h); may be
       absent. */
    int cluster_count;
    const int32_t *cluster_start;   /* [cluster_count + 1] into the next two */
    const int32_t *cluster_members; /* particles; every particle is in some cluster */
    const float *cluster_weights;   /* raw ones, > 0; NULL = 1 */
    const double *cluster_radii; /* metres, of the collision proxies; NULL = around the members */

    const pl_allocator *allocator; /* NULL = malloc and free */
    size_t memory_limit;           /* bytes; 0 (default) = none */
    uint32_t cookie;               /* set by pl_default_model_def */
} pl_model_def;

PL_API pl_model_def pl_default_model_def(void);

/* On success *model has one reference, the caller's. */
PL_API pl_status pl_model_create(const pl_model_def *def, pl_model **model, pl_error *error);
PL_API void pl_model_retain(pl_model *model);
PL_API void pl_model_release(pl_model *model); /* NULL is allowed */

/* The same model with its particles as spheres in overlapping clusters, and no edges: what
   clustered bodies are made of. How many clusters there are and how large they are decides how
   stiff it is. */
typedef struct pl_clusters_def {
    int count; /* wanted; 0 (default) = one for fifty particles. More where some particle was out of reach */
    double radius;  /* metres; 0 (default) = as `overlap` wants it */
    double overlap; /* clusters per particle in the mean; default 4 */
    pl_cluster_kernel kernel;
    uint64_t seed;
    bool
        shards; /* the surface can break: cut along the borders between particles, with walls inside where the model
                    has tetrahedra. Default false: where something breaks, the surface is drawn out between the pieces */
    bool
        rings; /* instead of all but `shards`: one cluster for every particle, of it and its neighbours along edges, weights
                   alike: the regions of example-based materials. Default false */
    uint32_t cookie; /* set by pl_default_clusters_def */
} pl_clusters_def;
PL_API pl_clusters_def pl_default_clusters_def(void);
PL_API pl_status pl_model_cluster(const pl_model *model, const pl_clusters_def *def,
                                  pl_model **clustered, pl_error *error);

/* The same model with the corners of its tetrahedra as particles (those in use, in their order; its
   tetrahedra then name particles), their edges as edges, and its surface bound to them by the
   coordinates of the vertices: what tetrahedral bodies are made of. Tetrahedra that are there twice
   or too flat to be simulated are left out. The particles are spheres, on the surface of 0.35 of
   the mean length of their edges. PL_ERROR_ARGUMENT where no tetrahedra are left. */
PL_API pl_status pl_model_tetrahedral(const pl_model *model, pl_model **tetrahedral,
                                      pl_error *error);

typedef struct pl_model_info {
    int particle_count, edge_count, vertex_count, triangle_count;
    int piece_count;     /* connected parts of the graph */
    int influence_count; /* particles per vertex; 0 without vertices */
    int tet_point_count, tet_count;
    int cluster_count, membership_count;
    int dimension;
    int colour_count; /* of the local step's order: particles of one colour are not neighbours */
    int64_t factor_count; /* entries of the triangular factor below its diagonal */
    double volume;        /* as defined, cubic metres */
    double spacing;       /* mean length of the edges, metres */
    double unit;          /* the power of two near the spacing in which the solver works, metres */
    double lower[3], upper[3]; /* bounds of the rest positions */
    uint64_t hash;             /* of the content; snapshots name models by it */
} pl_model_info;

PL_API pl_model_info pl_model_get_info(const pl_model *model);

/* Copies of what the model was made from (positions recentred by nothing: as given, to float
   precision). */
typedef enum pl_model_field {
    PL_REST_POSITIONS,    /* 3 per particle */
    PL_REST_ORIENTATIONS, /* 4 per particle */
    PL_REST_RADII,        /* 3 per particle */
    PL_REST_VERTICES,     /* 3 per vertex */
    PL_REST_NORMALS,      /* 3 per vertex, unit: the look's, or computed */
    PL_REST_TET_POINTS    /* 3 per corner of the tetrahedra */
} pl_model_field;
PL_API pl_status pl_model_read(const pl_model *model, pl_model_field field, int first, int count,
                               pl_buffer out);
PL_API const int32_t *pl_model_edges(const pl_model *model);      /* two per edge */
PL_API const int32_t *pl_model_triangles(const pl_model *model);  /* three per triangle */
PL_API const int32_t *pl_model_influences(const pl_model *model); /* influence_count per vertex */
PL_API const float *pl_model_weights(const pl_model *model);      /* as many */
PL_API const pl_look *pl_model_look(const pl_model *model);       /* never NULL; may be empty */
PL_API const int32_t *pl_model_tets(const pl_model *model);       /* four corners each */
/* Which tetrahedron each vertex lies in, and its four coordinates there; NULL without
   tetrahedra. */
PL_API const int32_t *pl_model_vertex_tets(const pl_model *model);
PL_API const float *pl_model_vertex_barycentric(const pl_model *model);
/* Clusters: where the members of each begin ([cluster_count + 1]), and particles and raw weights
   there; NULL without. */
PL_API const int32_t *pl_model_cluster_start(const pl_model *model);
PL_API const int32_t *pl_model_cluster_members(const pl_model *model);
PL_API const float *pl_model_cluster_weights(const pl_model *model);

/* A model as bytes, for hosts with asset systems of their own (files: pliant/files.h). The layout
   is that of .pliant files: little-endian, sections aligned to 64 bytes, checked by a hash, the
   same on every machine. */
PL_API size_t pl_model_pack_size(const pl_model *model);
/* Writes pl_model_pack_size(model) bytes; PL_ERROR_ARGUMENT when `capacity` is less. */
PL_API pl_status pl_model_pack(const pl_model *model, void *bytes, size_t capacity,
                               pl_error *error);
/* Any bytes will do: what is not a model is PL_ERROR_FORMAT. The model is the same to the last bit,
   hash included. `bytes` are copied and may lie at any address. */
PL_API pl_status pl_model_unpack(const void *bytes, size_t size, const pl_allocator *allocator,
                                 pl_model **model, pl_error *error);

/* ---- Materials ------------------------------------------------------------------------------- */

typedef struct pl_material {
    double young;     /* Young's modulus, Pa, > 0: the stiffness means the same at any sampling */
    double stiffness; /* the paper's raw k, kg m^-3 s^-2; where > 0 it is used instead of `young` */
    double density;   /* kg m^-3, > 0 */
    double damping;   /* rate at which velocities decay, 1/s, >= 0 */
    double friction;  /* Coulomb's, >= 0; of two that touch the geometric mean counts */
    double
        restitution; /* the part of their speed with which what touches parts again, 0 to 1; of two that touch the larger counts. Bodies
                        that contact moves as a whole (pl_world_def.stiff_contact) bounce with all of it; of soft ones the particles that
                        touch do, and springs keep some, so that the body rises less high */
} pl_material;

PL_API pl_material pl_default_material(void); /* "rubber" */

/* Named materials: false (and *material untouched) for a name that is not in the table. */
PL_API bool pl_find_material(const char *name, pl_material *material);
PL_API int pl_material_count(void);
PL_API const char *pl_material_name(int index); /* NULL out of range */

/* ---- World ----------------------------------------------------------------------------------- */

typedef struct pl_world pl_world;

/* Accelerations or forces from outside (wind, magnets, buoyancy): called once per sub-step and
   body, in the order the bodies were created. `forces` holds zeros; what is written there, in
   newtons, acts during the sub-step. */
typedef struct pl_field_query {
    double time;             /* simulated seconds at the start of the sub-step */
    uint32_t body_index;     /* pl_body.index */
    void *body_user;         /* pl_body_def.user */
    int count;               /* particles */
    const double *positions; /* 3 per particle */
    const float *velocities; /* 3 per particle, m/s */
    const float *masses;     /* kg */
    float *forces;           /* 3 per particle: the answer */
} pl_field_query;
typedef void pl_field_function(void *user, const pl_field_query *query);

typedef struct pl_world_def {
    double step;          /* seconds, > 0; default 1/60 */
    int substeps;         /* >= 1; default 1. The solver's h is step / substeps */
    int iterations;       /* of the fast and plain solvers per sub-step, >= 1; default 10 */
    int stiff_iterations; /* of the stiff solver per sub-step, >= 1; default 1 */
    double gravity[3];    /* m/s²; default 0, -9.81, 0 */
    int max_steps; /* that one pl_world_advance may take: time beyond is dropped; default 8 */

    bool sleeping; /* islands of touching bodies that stand still are not computed; default true */
    bool
        stiff_contact; /* bodies so stiff that a blow is felt by all of them within a sub-step are moved as a whole by contacts, not particle by
                           particle: then contact adds hardly any energy, they are as stiff as with many sub-steps, stacks stand and bounces
                           are as high as they should be; touches of such bodies cost some three times as much. Bodies of one particle, which are rigid, roll. Default true */

    int threads; /* of the built-in pool, the caller included; 0 and 1 (default) = none is made */
    const pl_task_system *tasks; /* the host's job system instead; NULL (default) = none */

    const pl_allocator *allocator; /* NULL = malloc and free */
    size_t memory_limit;           /* bytes; 0 (default) = none */

    pl_field_function *field; /* NULL = none */
    void *field_user;
    pl_log_function *log; /* NULL = silent */
    void *log_user;
    uint32_t cookie; /* set by pl_default_world_def */
} pl_world_def;

PL_API pl_world_def pl_default_world_def(void);
PL_API pl_status pl_world_create(const pl_world_def *def, pl_world **world, pl_error *error);
PL_API void pl_world_destroy(pl_world *world); /* NULL is allowed */

/* What one call did. Times of the solver's stages are summed over all workers. */
typedef struct pl_report {
    uint64_t steps; /* taken by this call */
    int bodies, particles, edges, pins, fixed;
    int awake;           /* bodies that do not sleep, at its end */
    int lane_blocks;     /* groups of bodies solved side by side, one per lane */
    int lone_blocks;     /* bodies solved alone */
    uint64_t iterations; /* of one body, summed over bodies */
    uint64_t
        refused; /* accelerated or Gauss–Newton states thrown away because the plain one had less energy */
    uint64_t rescued; /* bodies whose numbers overflowed: put back to where they were, at rest */
    uint64_t dropped; /* steps that pl_world_advance did not take because of max_steps */
    double ms_total;  /* wall time */
    double ms_predict, ms_local, ms_global, ms_accelerate, ms_stiff, ms_contact, ms_finish;
    double ms_change; /* flow, new clusters, fracture */
    double
        ms_examples; /* of ms_local: how near clustered bodies are to their examples; other kinds find
                           that within ms_local, and it is not counted apart */
} pl_report;

/* One step of the world's length. `report` may be NULL. */
PL_API pl_status pl_world_step(pl_world *world, pl_report *report);

/* Adds `seconds` (>= 0) to the time owed and takes as many whole steps as fit. *fraction (may be
   NULL) is in [0, 1): how far the time owed lies between the last two states; pass it to
   pl_body_read for smooth motion. */
PL_API pl_status pl_world_advance(pl_world *world, double seconds, double *fraction,
                                  pl_report *report);

/* Simulated seconds since the world was made. */
PL_API double pl_world_time(const pl_world *world);
PL_API pl_status pl_world_set_gravity(pl_world *world, const double gravity[3]);
/* Changing the step or the sub-steps renews all factors in this call. */
PL_API pl_status pl_world_set_step(pl_world *world, double step, int substeps);
PL_API pl_status pl_world_set_iterations(pl_world *world, int iterations, int stiff_iterations);
PL_API pl_status pl_world_set_field(pl_world *world, pl_field_function *field, void *user);

/* A hash of the complete state: equal hashes mean equal bits. */
PL_API uint64_t pl_world_hash(const pl_world *world);

/* Heap allocations the world has made so far; a step makes none. */
PL_API uint64_t pl_world_allocations(const pl_world *world);

/* The whole state as bytes. With `bytes` NULL only *size is set; PL_ERROR_ARGUMENT when `capacity`
   is too small. Models are not in it, only their hashes. */
PL_API pl_status pl_world_save(const pl_world *world, void *bytes, size_t capacity, size_t *size);

/* Replaces all bodies and settings of a world by saved ones. Models are found by hash among
   `models` and those in use in this world. Handles of the saved world are valid in the restored
   one; a run continued from here gives the same bits as one that was never interrupted. */
PL_API pl_status pl_world_restore(pl_world *world, const void *bytes, size_t size,
                                  pl_model *const *models, int model_count, pl_error *error);

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* A value: copy it freely. A handle of a destroyed body is detected. {0, 0} is no body. */
typedef struct pl_body {
    uint32_t index, generation;
} pl_body;

/* Two solvers for one energy, and the paper's own for comparison. */
typedef enum pl_solver {
    PL_SOLVER_FAST, /* local/global, accelerated: the default */
    PL_SOLVER_STIFF, /* Gauss–Newton in positions and rotations: for very stiff or long, thin things */
    PL_SOLVER_PLAIN /* local/global as published */
} pl_solver;

/* Bodies of oriented particles that stay bent: rods, sheets and solids whose edges keep a part of
   what is done to them. The strain of an edge measures how far its ends are from where its rest
   shape wants them, turns included, in the body's own energy, against the edge's length: 0.1 is a
   stretch by a tenth, or a bend by about 0.2 rad from one particle to the next. */
typedef struct pl_plasticity_def {
    double yield; /* the strain from which on an edge flows; >= 0. Default 0.05 */
    double flow;  /* how fast, 1/s; > 0. Default 50 */
    double
        hardening; /* added to the yield for every second at a strain of 1; negative softens. Default 0 */
    double limit;    /* what has flowed stays below this strain; > 0. Default 2 */
    uint32_t cookie; /* set by pl_default_plasticity_def */
} pl_plasticity_def;

PL_API pl_plasticity_def pl_default_plasticity_def(void);

typedef struct pl_body_def {
    pl_model *model; /* the body keeps a reference */
    pl_material material;
    const float *edge_stiffness; /* painted map: a factor > 0 per edge on the stiffness; NULL = 1 */
    const float *particle_density; /* a factor > 0 per particle on the density; NULL = 1 */
    const float *
        tet_stiffness; /* of tetrahedral bodies: a factor > 0 per tetrahedron; NULL = 1. pl_body_set_material leaves it as it is */
    pl_solver solver;
    double gravity_scale; /* default 1 */
    double position[3];   /* where the model's origin is put */
    double rotation[4];   /* how the model is turned about it */
    double velocity[3];   /* m/s, of the whole body */
    double spin[3];       /* rad/s, about its centre of mass */
    const int32_t *fixed; /* particles whose motion is prescribed from the start */
    int fixed_count;
    uint32_t category,
        mask; /* two touch where each one's category is in the other's mask; default 1, all */
    bool self_contact; /* touches itself; default true for rods and sheets, false for solids */
    const pl_clustered_def *
        clustered; /* the body is made of the model's clusters, which may flow and break; NULL (default) = of
                      oriented particles */
    const pl_tetrahedral_def
        *tetrahedral; /* the body is made of the model's tetrahedra, whose corners its particles are
                        (pl_model_tetrahedral). Young's modulus, density and damping are the material's; edge_stiffness
                        counts as the mean over the edges of each; `solver` does not matter. NULL (default) = is not */
    const pl_plasticity_def *plasticity; /* oriented particles only; NULL (default) = elastic */
    double
        pressure; /* of the gas in a closed shell, Pa above the outside at its rest volume; it obeys p V = constant. Default 0 = none */
    const pl_examples_def
        *examples; /* poses the body prefers to deform through; NULL (default) = none */
    void *user;
    uint32_t cookie; /* set by pl_default_body_def */
} pl_body_def;

PL_API pl_body_def pl_default_body_def(pl_model *model);
PL_API pl_status pl_body_create(pl_world *world, const pl_body_def *def, pl_body *body,
                                pl_error *error);
PL_API pl_status pl_body_destroy(pl_world *world, pl_body body);
PL_API bool pl_body_is_valid(const pl_world *world, pl_body body);
PL_API pl_model *pl_body_model(const pl_world *world, pl_body body); /* NULL for a stale handle */
/* pl_body_def.user, NULL for a stale handle. */
PL_API void *pl_body_user(const pl_world *world, pl_body body);
/* The handle of the body that has this index now, as events, rays and fields name them; {0, 0}
   where there is none. */
PL_API pl_body pl_body_at(const pl_world *world, uint32_t index);

typedef enum pl_body_field {
    PL_POSITIONS,  /* 3 per particle, m */
    PL_ROTATIONS,  /* 4 per particle: rest axes to world axes */
    PL_VELOCITIES, /* 3 per particle, m/s */
    PL_SPINS,      /* 3 per particle, rad/s */
    PL_MASSES,     /* 1 per particle, kg; read only */
    PL_VERTICES,   /* 3 per vertex of the skinned surface, m; read only */
    PL_NORMALS,    /* 3 per vertex, unit; read only */
    PL_TANGENTS /* 4 per vertex: unit, and the handedness; read only; none where the model has none */
} pl_body_field;

/* Copies `count` elements from `first` on. fraction 1 reads the current state, 0 the one a step
   earlier, between them an interpolation (of positions, rotations and what belongs to the
   surface). */
PL_API pl_status pl_body_read(const pl_world *world, pl_body body, pl_body_field field, int first,
                              int count, double fraction, pl_buffer out);

/* The surface of a body, all of its vertices. */
typedef struct pl_skin_request {
    pl_body body;
    double fraction;                        /* as for pl_body_read */
    pl_buffer positions, normals, tangents; /* data NULL = not wanted, but not all three */
} pl_skin_request;

/* Fills the buffers of all requests, in parallel on the world's tasks: the same bits as
   pl_body_read gives, and the way to get every surface for every frame. Buffers may not overlap,
   but may be strided views of one array of vertices; floats without gaps are fastest. A body may be
   asked for several times. Nothing is written unless every request can be served. Allocates
   nothing. */
PL_API pl_status pl_world_skin(pl_world *world, const pl_skin_request *requests, int count);

/* Any arrangement will do, coincident and inverted ones included; quaternions are normalised. */
PL_API pl_status pl_body_write(pl_world *world, pl_body body, pl_body_field field, int first,
                               int count, pl_buffer in);

/* Acts during the next step, newtons; particle -1 = spread over all particles by mass. Forces add
   up until then. */
PL_API pl_status pl_body_apply_force(pl_world *world, pl_body body, int particle,
                                     const double force[3]);
/* Changes velocities now, newton seconds. */
PL_API pl_status pl_body_apply_impulse(pl_world *world, pl_body body, int particle,
                                       const double impulse[3]);
/* One velocity for the whole body, and a spin about its centre of mass. */
PL_API pl_status pl_body_set_velocity(pl_world *world, pl_body body, const double velocity[3],
                                      const double spin[3]);
/* Turns the body about its centre of mass, then puts the centre at `position`. Deformation is kept,
   velocities turn along; nothing in between is simulated or interpolated. */
PL_API pl_status pl_body_teleport(pl_world *world, pl_body body, const double position[3],
                                  const double rotation[4]);
/* Replaces the material and both maps: NULL = all factors 1, not as they were. Renews the body's
   factor in this call. */
PL_API pl_status pl_body_set_material(pl_world *world, pl_body body, const pl_material *material,
                                      const float *edge_stiffness, const float *particle_density,
                                      pl_error *error);
PL_API pl_status pl_body_set_solver(pl_world *world, pl_body body, pl_solver solver);

/* What it touches from now on: as pl_body_def.category and .mask. A change wakes it, and those it
   fell asleep with. */
PL_API pl_status pl_body_set_filter(pl_world *world, pl_body body, uint32_t category,
                                    uint32_t mask);
/* As pl_body_def.self_contact; likewise. PL_ERROR_STATE for clustered bodies: theirs is
   pl_clustered_def.self_contact. */
PL_API pl_status pl_body_set_self_contact(pl_world *world, pl_body body, bool self_contact);

/* Sleep (pl_world_def.sleeping): a body asleep is not computed and stands still until something
   awake pushes it, something that moves comes near or pulls at it, or a call changes it. */
PL_API bool pl_body_is_asleep(const pl_world *world, pl_body body); /* false for a stale handle */
/* Wakes it, and those that sleep with it. Half a second passes before it can fall asleep by itself
   again. */
PL_API pl_status pl_body_wake(pl_world *world, pl_body body);
/* Puts it to sleep at once, where it stands: also in the air, and where `sleeping` is off. Its
   velocity is lost, and so are forces and drives meant for the next step. From then on it wakes
   together with the sleepers next to it and those it is attached to. Others stay awake, and wake it
   as soon as they press against it or are attached to it: put all of a pile to sleep, in any order.
   Nothing holds it up: when something awake that it lies on goes away, it stays where it is. One
   that sleeps already is left as it is. */
PL_API pl_status pl_body_sleep(pl_world *world, pl_body body);

/* Lets gas in or out: as pl_body_def.pressure. */
PL_API pl_status pl_body_set_pressure(pl_world *world, pl_body body, double pressure,
                                      pl_error *error);

/* Sums over the body; momenta about the world's origin are of no use far away, so spin is about the
   centre. */
typedef struct pl_body_state {
    double mass;
    double centre[3], velocity[3]; /* of mass */
    double momentum[3];            /* kg m/s */
    double angular_momentum[3]; /* about the centre, the particles' own spin included, kg m²/s */
} pl_body_state;
PL_API pl_status pl_body_get_state(const pl_world *world, pl_body body, pl_body_state *state);

typedef enum pl_matter_kind {
    PL_MATTER_ORIENTED,
    PL_MATTER_CLUSTERED,
    PL_MATTER_TETRAHEDRAL
} pl_matter_kind;

/* What a body is made of now: one that breaks has more particles than its model, one that flows
   other clusters. */
typedef struct pl_body_info {
    pl_matter_kind kind;
    int particle_count, cluster_count;
    int tet_count,
        sample_count; /* tetrahedra, and those of them whose rotations are fitted where not all are */
    int piece_count;   /* parts that no cluster, or no edge, joins */
    uint64_t topology; /* rises with every change of particles or clusters */
    uint64_t clusters_added, clusters_removed, clusters_split, particles_divided; /* so far */
    uint64_t changes_lost;                       /* for want of memory */
    int example_pose_count, example_group_count; /* 0 without examples */
} pl_body_info;
PL_API pl_status pl_body_get_info(const pl_world *world, pl_body body, pl_body_info *info);

/* A cluster of a clustered body. Matrices are row major. */
typedef struct pl_cluster_state {
    uint32_t id; /* never used again in this body */
    int member_count;
    float fade;        /* 1 = all of its weight counts */
    bool going;        /* marked: it will be gone soon */
    double centre[3];  /* m */
    float gradient[9]; /* F */
    float rotation[9]; /* R */
    float plastic[9];  /* Fᵖ */
    float worked;      /* accumulated strain, s; not counted (0) in elastic bodies of rings */
    float stretch;     /* largest singular value of Fᵉ */
    float mass;        /* Σ w m, kg */
    int crack_count;   /* planes it was cut along */
} pl_cluster_state;
PL_API pl_status pl_body_read_clusters(const pl_world *world, pl_body body, int first, int count,
                                       pl_cluster_state *out);
/* For each particle of a clustered body the heaviest of its clusters (-1 = none), from 0 to
   cluster_count − 1. */
PL_API pl_status pl_body_read_owners(const pl_world *world, pl_body body, int first, int count,
                                     int32_t *out);

/* The terms of the step's energy (Choi & Lee 2017, Eqs. 1, 4, 10, 13, 15), evaluated in double,
   joules. */
typedef struct pl_energy {
    double kinetic;   /* 1/2 m u² and 1/2 w I w of the particles */
    double potential; /* of gravity: - m g x */
    double elastic;   /* Ee */
    double pins;      /* Ec, position and direction constraints */
    double inertia;   /* Ek of the last sub-step: distance from the inertial targets */
} pl_energy;
PL_API pl_status pl_body_get_energy(const pl_world *world, pl_body body, pl_energy *energy);

/* ---- Holding on to bodies -------------------------------------------------------------------- */

/* Fixed: position and rotation of a particle are prescribed; part of the factor, so changing the
   set refactors. Replaces the whole set; each particle newly fixed stays where it is until
   driven. */
PL_API pl_status pl_body_set_fixed(pl_world *world, pl_body body, const int32_t *particles,
                                   int count, pl_error *error);
/* Moves a fixed particle: it arrives at the end of the next step. rotation NULL = as it is. Who
   sleeps sleeps on where it is there already. */
PL_API pl_status pl_body_drive(pl_world *world, pl_body body, int particle,
                               const double position[3], const double rotation[4]);

/* Pinned: a point of the body is drawn to a target (position), or a direction of the body turned to
   one (direction). A low-rank correction: adding and removing pins while dragging does not
   refactor. */
typedef struct pl_pin {
    uint32_t index, generation;
} pl_pin;

typedef enum pl_pin_kind { PL_PIN_POSITION, PL_PIN_DIRECTION } pl_pin_kind;

typedef struct pl_pin_def {
    pl_pin_kind kind;
    int count; /* particles that carry the point, 1 to PL_MAX_INFLUENCES */
    int32_t particles[PL_MAX_INFLUENCES];
    float weights[PL_MAX_INFLUENCES]; /* > 0; made to sum to one */
    double rest
        [3]; /* position: the point in the model's rest space; direction: the unit vector there */
    double target[3]; /* in the world: where it should be, or which way it should point */
    double
        strength; /* without unit, > 0, relative to the body's own stiffness around it; default 100 */
    uint32_t cookie; /* set by pl_default_pin_def */
} pl_pin_def;

PL_API pl_pin_def pl_default_pin_def(pl_pin_kind kind);

/* Fill in what carries a point of the body (count, particles, weights, rest): one particle exactly,
   or the nearest few by weight; and `target`: where that point is now. The rest stays as the
   default function made it. `rest_point` is in metres in the model's rest space, as pl_ray_hit.rest
   is. */
PL_API pl_status pl_pin_at_particle(const pl_world *world, pl_body body, int particle,
                                    pl_pin_def *def);
PL_API pl_status pl_pin_at_vertex(const pl_world *world, pl_body body, int vertex, pl_pin_def *def);
PL_API pl_status pl_pin_at_point(const pl_world *world, pl_body body, const double rest_point[3],
                                 pl_pin_def *def);

PL_API pl_status pl_pin_create(pl_world *world, pl_body body, const pl_pin_def *def, pl_pin *pin,
                               pl_error *error);
PL_API pl_status pl_pin_destroy(pl_world *world, pl_pin pin);
PL_API bool pl_pin_is_valid(const pl_world *world, pl_pin pin);
/* Where the target is at the end of the next step; within the step it moves evenly. */
PL_API pl_status pl_pin_set_target(pl_world *world, pl_pin pin, const double target[3]);

#ifdef __cplusplus
}
#endif

#include "pliant/attachment.h"

#endif
