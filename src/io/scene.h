/* A scene: the document as plain data (pl_scene, checked as far as that is possible without
   building anything), and a world made from it that plays (pl_play). docs/scene-format.md describes
   the document. */
#ifndef PL_IO_SCENE_H
#define PL_IO_SCENE_H

#include "io/json.h"
#include "io/motion.h"
#include "pliant/cook.h"
#include "pliant/pliant.h"

/* Where an object stands in the document, and which of its keys were given (bit i: field i of its
   table). */
typedef struct pl_scene_place {
    uint32_t node;
    uint32_t given;
} pl_scene_place;

/* Numbers of things in one of the scene's lists. */
typedef struct pl_scene_indices {
    int count;
    int *items;
} pl_scene_indices;

typedef struct pl_scene_world {
    pl_scene_place place;
    double step;
    int substeps, iterations, stiff_iterations;
    double gravity[3];
    pl_solver solver;
    int frames;
    bool sleeping;
    bool stiff_contact;
    uint32_t solver_node;
} pl_scene_world;

/* How a mesh is cooked; 0 = as cooking decides (pliant/cook.h), with what was given noted apart. */
typedef struct pl_scene_cooking {
    double detail, spacing, scale[3], thickness, weld;
    int particles, edges, tets, influences, seed;
    pl_cook_kind kind;
    bool has_kind, has_weld, grid;
} pl_scene_cooking;

/* Clusters of a model: to be found, or given one by one. */
typedef struct pl_scene_clusters {
    pl_scene_place place;
    bool wanted, shards, rings;
    uint32_t node; /* where they stand */
    int count, seed;
    double radius, overlap;
    pl_cluster_kernel kernel;
    int explicit_count;
    int32_t *member_start, *members;
    float *weights;
    uint32_t kernel_node, members_node, weights_node;
} pl_scene_clusters;

/* How a clustered body behaves. */
typedef struct pl_scene_clustered {
    pl_scene_place place;
    bool wanted;
    pl_clustered_def def;
    uint32_t rotation_node, recluster_node;
} pl_scene_clustered;

/* How a tetrahedral body behaves. */
typedef struct pl_scene_tetrahedral {
    pl_scene_place place;
    bool wanted;
    pl_tetrahedral_def def;
    uint32_t rotations_node, volume_node;
} pl_scene_tetrahedral;

/* How a body of oriented particles stays bent. */
typedef struct pl_scene_plasticity {
    pl_scene_place place;
    bool wanted;
    pl_plasticity_def def;
} pl_scene_plasticity;

/* Whether a body made so can break into pieces. */
bool pl_scene_breaks(const pl_scene_clustered *clustered);

/* A warp as it is written: pl_default_warp fills in the rest. */
typedef struct pl_raw_warp {
    double axis[3], side[3], degrees, shorten, bulge, from, to;
    int folds;
    uint32_t kind;
} pl_raw_warp;

/* A pose that a body prefers: drawn by warps, or a deformed copy of the mesh, or a state of another
   run, or given. */
typedef struct pl_scene_pose {
    pl_scene_place place;
    pl_raw_warp raw; /* of a single one */
    int warp_count;
    pl_warp *warps;
    const char *file; /* a mesh; NULL = none */
    const char *dump; /* states as .jsonl; NULL = none */
    const char *body_name;
    int frame;
    bool frame_given;
    int position_count, rotation_count;
    double *positions, *rotations;
    uint32_t warps_node, positions_node, rotations_node;
} pl_scene_pose;

/* Particles that choose their poses together. */
typedef struct pl_scene_group {
    uint32_t node;
    struct pl_pick *picks;
    int pick_count;
} pl_scene_group;

typedef struct pl_scene_examples {
    pl_scene_place place;
    int pose_count; /* 0 = no examples */
    pl_scene_pose *poses;
    pl_example_scope scope;
    int group_count;
    pl_scene_group *groups;
    double beta;
    pl_example_rule rule;
    float *bias; /* [pose_count], or NULL */
    uint32_t poses_node, scope_node, groups_node, rule_node, bias_node;
} pl_scene_examples;

typedef struct pl_scene_model {
    pl_scene_place place;
    const char *name; /* NULL = written inside a body */

    bool is_shape; /* a ready-made one: kind, count, size, braced; else the arrays below */
    pl_shape_kind kind;
    int count[3];
    double size[3];
    bool braced, has_braced;

    const char *file;    /* a mesh or a model file, found from where the scene is; NULL = none */
    const char *builtin; /* a mesh that is built in */
    pl_scene_cooking cooking;
    bool tetrahedra; /* the corners of its tetrahedra are its particles */
    pl_scene_clusters clusters;

    int particle_count;
    double *positions, *orientations, *radii; /* 3, 4 (or NULL), 3 per particle */
    int edge_count;
    int32_t *edges;
    int dimension;
    double volume;
    int vertex_count, influence_count, triangle_count;
    double *vertices;
    int32_t *influences, *triangles;
    float *weights;
} pl_scene_model;

typedef struct pl_scene_material {
    pl_scene_place place;
    const char *name;
    double young, stiffness, density, damping, friction, restitution;
    const char *like;
    pl_material value;
} pl_scene_material;

/* Some particles or vertices of a body: which ones is known once its model exists. */
typedef enum pl_pick_kind {
    PL_PICK_INDEX,
    PL_PICK_FIRST,
    PL_PICK_LAST,
    PL_PICK_NEAR,
    PL_PICK_BOX,
    PL_PICK_ALL
} pl_pick_kind;

typedef struct pl_pick {
    pl_scene_place place;
    pl_pick_kind kind;
    int index;
    double near_point[3], lower[3], upper[3]; /* in the model's rest space */
    uint32_t near_node, box_node;
} pl_pick;

typedef enum pl_start_kind {
    PL_START_REST,
    PL_START_COLLAPSE,
    PL_START_MIRROR,
    PL_START_RANDOM
} pl_start_kind;

typedef struct pl_scene_state {
    pl_scene_place place;
    pl_start_kind kind;
    bool has_point;
    double point[3]; /* collapse: where to */
    int axis;        /* mirror: 0, 1, 2 */
    int seed;
    double extent;
    int counts
        [4]; /* of the arrays, by pl_body_field from PL_POSITIONS to PL_SPINS; 0 = not given */
    double *arrays[4];
    uint32_t nodes[4], collapse_node, mirror_node;
} pl_scene_state;

/* One body; an entry with an "array" has become many, alike but for what the array changes. */
typedef struct pl_scene_body {
    pl_scene_place place;
    int entry;              /* its number in the document */
    const char *name;       /* its own */
    const char *entry_name; /* shared by all copies of an array */
    const char *copy_name;  /* name[0], name[1], … in an array; NULL = is no copy */
    int model;
    pl_material material;
    pl_material own;        /* what the body itself says about it, where it was given */
    uint32_t material_node; /* where its numbers stand; 0 = a built-in one */
    double position[3], rotation[4], velocity[3], spin[3];
    double tumble[4]; /* about the middle of the model, after the rotation */
    bool has_solver;
    pl_solver solver;
    double gravity_scale, pressure;
    uint32_t category, mask;
    bool has_self_contact, self_contact;
    int stiffness_count, density_count, tet_factor_count; /* 0 = none, -1 = one factor for all */
    float *stiffness, *density, *tet_factors;
    int fixed_count;
    pl_pick *fixed;
    pl_scene_state state;
    pl_scene_clustered clustered;
    pl_scene_tetrahedral tetrahedral;
    uint32_t tetrahedral_node, tet_factor_node;
    pl_scene_plasticity plasticity;
    uint32_t plasticity_node;
    pl_scene_examples examples;
    uint32_t model_node, rotation_node, solver_node, stiffness_node, density_node, fixed_node,
        state_node, array_node, examples_node, clustered_node;
} pl_scene_body;

typedef struct pl_scene_pin {
    pl_scene_place place;
    const char *name;
    const char *body_name;
    int body;
    bool on_vertices, on_point;
    int pick_count;
    pl_pick *picks;
    double point[3];
    bool has_direction, frame; /* a direction pin; a position pin and three direction pins */
    double direction[3];
    double strength;
    pl_motion motion;
    bool relative;
    const char *ease;
    uint32_t particle_node, particles_node, vertex_node, vertices_node, point_node, keys_node,
        turn_node, direction_node;
    uint32_t target_node;
} pl_scene_pin;

typedef struct pl_scene_drive {
    pl_scene_place place;
    const char *name;
    const char *body_name;
    int body;
    int pick_count;
    pl_pick *picks;
    pl_motion motion;
    bool relative;
    const char *ease;
    uint32_t particle_node, particles_node, keys_node, turn_node;
} pl_scene_drive;

typedef struct pl_scene_force {
    pl_scene_place place;
    const char *body_name;
    int body;
    int pick_count; /* 0 = the whole body, by mass */
    pl_pick *picks;
    double force[3];
    bool squeezes; /* instead: `squeeze` per metre from the body's centre, 1/s² */
    double squeeze[3];
    double from, to;
    uint32_t particle_node, particles_node;
} pl_scene_force;

typedef struct pl_scene_collider {
    pl_scene_place place;
    const char *name;
    pl_collider_kind kind;
    double position[3], rotation[4];
    double half[3], radius, length; /* metres; of boxes, of spheres and capsules */
    int vertex_count, triangle_count;
    double *vertices;
    int32_t *triangles;
    const char *file;    /* of a mesh: found from where the scene is; NULL = none */
    const char *builtin; /* a mesh that is built in */
    double detail, scale;
    bool two_sided;
    double friction, restitution, surface_velocity[3];
    uint32_t category, mask;
    pl_motion motion;
    bool relative;
    const char *ease;
    uint32_t shape_node, rotation_node, vertices_node, triangles_node, keys_node, turn_node;
} pl_scene_collider;

/* A point of a body. */
typedef struct pl_scene_point {
    bool on_vertex, on_point;
    pl_pick *pick;
    double point[3]; /* in the model's rest space */
} pl_scene_point;

typedef enum pl_scene_hold { PL_HOLD_PLACE, PL_HOLD_BODY, PL_HOLD_COLLIDER } pl_scene_hold;

typedef struct pl_scene_attachment {
    pl_scene_place place;
    const char *name, *body_name, *other_name, *collider_name;
    pl_scene_hold kind;
    int body, other, collider;
    pl_scene_point point, other_point;
    double target[3]; /* place: in the world; collider: in its frame */
    bool has_target;
    double break_force;
    pl_motion motion;
    bool relative;
    const char *ease;
    uint32_t particle_node, vertex_node, point_node, other_particle_node, other_vertex_node,
        other_point_node, keys_node, turn_node;
} pl_scene_attachment;

/* Something that happens once, before the first step that begins at `time` or later. */
typedef struct pl_scene_event {
    pl_scene_place place;
    double time;                                /* s */
    pl_scene_indices pins, drives, attachments; /* let go, in this order */
    pl_scene_indices released;                  /* bodies whose "fixed" particles are let go */
    pl_scene_indices removed, removed_colliders;
    pl_scene_indices moved; /* get this velocity and spin */
    double velocity[3], spin[3];
    pl_scene_indices pushed; /* get this impulse, N s each */
    double impulse[3];
    pl_scene_indices changed; /* get this material */
    pl_material material;
    pl_scene_indices inflated; /* get this pressure, Pa */
    double pressure;
    bool has_gravity;
    double gravity[3];
    uint32_t drop_node, release_node, remove_node, velocity_node, impulse_node, material_node,
        pressure_node;
} pl_scene_event;

/* ---- What is seen, and what is written ------------------------------------------------------- */

/* Where pictures are taken from. Without a position the framing is automatic. */
typedef struct pl_scene_camera {
    pl_scene_place place;
    const char *name; /* NULL = none */
    bool has_position, has_target;
    double position[3], target[3];
    int body;       /* the target is the middle of this one; -1 = none */
    double degrees; /* vertical opening; 0 = as the painter decides */
    pl_motion motion, target_motion;
    bool relative;
    const char *ease;
    uint32_t target_node, keys_node, turn_node, target_keys_node;
} pl_scene_camera;

/* Where it stands at a time, and what it looks at; *target is left alone where the camera has none
   or follows a body. */
void pl_scene_camera_at(const pl_scene_camera *camera, double time, double position[3],
                        double target[3]);

enum { PL_SCENE_LIGHTS = 4 };

typedef struct pl_scene_light {
    pl_scene_place place;
    double direction[3]; /* unit, towards the light */
    double colour[3];    /* 0 to 1 */
    double strength;     /* 1 = as the light there is without any */
    bool shadows;
    uint32_t direction_node, colour_node;
} pl_scene_light;

typedef struct pl_scene_output {
    pl_scene_place place;
    const char *file;          /* as written; pl_scene_path finds it */
    int every;                 /* frames; 0 = as the kind of file decides */
    int size[2];               /* pixels; 0 = not given */
    const char *show, *camera; /* NULL = not given */
    uint32_t file_node, size_node, show_node, camera_node;
} pl_scene_output;

/* The same scene once more with other settings of the world. */
typedef struct pl_scene_run {
    pl_scene_place place;
    const char *name;
    pl_scene_world world;
    uint32_t world_node;
} pl_scene_run;

typedef struct pl_scene {
    pl_scene_place place;
    pl_memory *memory;
    pl_json *json;
    struct pl_scene_block *blocks; /* memory of everything below */

    int version;
    const char *schema, *name, *about;
    pl_scene_world world;
    int model_count, material_count, body_count, pin_count, drive_count, force_count, run_count;
    int collider_count, attachment_count, event_count, camera_count, light_count, output_count;
    pl_scene_event *events;
    pl_scene_camera *cameras;
    pl_scene_light *lights;
    pl_scene_output *outputs;
    pl_scene_collider *colliders;
    pl_scene_attachment *attachments;
    pl_scene_model *models;
    pl_scene_material *materials;
    pl_scene_body *bodies;
    pl_scene_pin *pins;
    pl_scene_drive *drives;
    pl_scene_force *forces;
    pl_scene_run *runs; /* at least one */
    uint32_t world_node, models_node, materials_node, bodies_node, pins_node, drive_node,
        forces_node, runs_node, colliders_node, attachments_node, events_node, cameras_node,
        lights_node, outputs_node, include_node;
} pl_scene;

/* Reads and checks a document. `file` is a name for messages, and where included files are found
   from. On failure *scene is NULL. */
pl_status pl_scene_read(pl_memory *memory, const char *file, const char *text, size_t size,
                        pl_scene **scene, pl_trouble *trouble);

/* Reads a whole included file, as pl_file_read does; a trouble's text is what is wrong with it. */
typedef pl_status pl_scene_open(void *user, pl_memory *memory, const char *path, char **bytes,
                                size_t *size, pl_trouble *trouble);

/* The same with values set from outside, each "path=value" as behind the command's --set (see
   pl_json_set). */
typedef struct pl_scene_source {
    const char *file, *text;
    size_t size;
    int set_count;
    const char *const *sets;
    pl_scene_open *open; /* NULL = files on disk */
    void *user;
} pl_scene_source;

pl_status pl_scene_read_source(pl_memory *memory, const pl_scene_source *source, pl_scene **scene,
                               pl_trouble *trouble);
void pl_scene_free(pl_scene *scene); /* NULL is allowed */

/* A file named in the document at `node`: relative names are meant from the directory of the file
   that names it. PL_ERROR_FORMAT when it is too long for `path`. */
pl_status pl_scene_path(const pl_scene *scene, uint32_t node, const char *name, char *path,
                        size_t size);

/* ---- The keys the reader knows --------------------------------------------------------------- */

typedef struct pl_scene_object pl_scene_object;
int pl_scene_object_count(void);
const char *pl_scene_object_name(int object); /* "world", "body", …: as in the schema's $defs */
int pl_scene_key_count(int object);
const char *pl_scene_key(int object, int key);

/* ---- Playing --------------------------------------------------------------------------------- */

/* What the command line may change about a run; 0, NULL, -1 (solver) = as the scene says. */
typedef struct pl_play_options {
    double step;
    int substeps, iterations, stiff_iterations, threads;
    int solver;
    size_t memory_limit; /* bytes for the world, and for each model; 0 = none */
} pl_play_options;

static inline pl_play_options pl_default_play_options(void)
{
    pl_play_options options = {.solver = -1};
    return options;
}

typedef struct pl_play_body {
    const char *name;
    pl_body handle;
    pl_model *model;
    pl_model_info info;
    pl_solver solver;
    pl_material material;
    double stiffness_factor;    /* mean of the painted map */
    int pin_count, fixed_count; /* at the start */
    bool removed;  /* by an event: the handle is stale, there is nothing to read or draw any more */
    bool released; /* its "fixed" particles are free */
} pl_play_body;

/* A pin or a driven particle that moves. */
typedef struct pl_play_handle {
    const pl_motion *motion;
    bool direction;
    bool turns_only; /* a direction of a frame, whose keys are positions */
    pl_body body;
    int particle; /* driven; -1 = a pin */
    int drive;    /* the scene's drive that moves it; -1 = a pin */
    pl_pin pin;
    double start[3], rotation[4];
} pl_play_handle;

typedef struct pl_play_force {
    const pl_scene_force *source;
    pl_body body;
    int count;
    int32_t *particles; /* -1 = all by mass */
} pl_play_force;

/* Events in the order in which they happen. */
typedef struct pl_play_event {
    uint64_t frame; /* before the step that leads away from it */
    const pl_scene_event *source;
} pl_play_event;

typedef struct pl_play {
    pl_memory *memory;
    const pl_scene *scene;
    pl_scene_world settings; /* with everything overridden */
    pl_world *world;
    uint64_t frame;
    int model_count, body_count, handle_count, force_count;
    pl_model **models;
    pl_play_body *bodies;
    pl_play_handle *handles;
    pl_play_force *forces;
    pl_collider *colliders;         /* [scene->collider_count] */
    pl_attachment *attachments;     /* [scene->attachment_count] */
    double (*attachment_starts)[3]; /* where the points were at the start */
    int pin_count;
    pl_pin *pins;         /* of the world, in the order of the scene's pins */
    int *pin_first;       /* [scene->pin_count + 1]: where those of a pin of the scene begin */
    bool *dropped_drives; /* [scene->drive_count] */
    int event_count, next_event;
    pl_play_event *events;
} pl_play;

/* Builds the models and the world of one run of a scene, which must outlive it. */
pl_status pl_play_create(const pl_scene *scene, int run, const pl_play_options *options,
                         pl_play **play, pl_trouble *trouble);
void pl_play_destroy(pl_play *play); /* NULL is allowed */

/* One frame: what happens at its beginning, targets and forces for it, then one step of the
   world. */
pl_status pl_play_step(pl_play *play, pl_report *report);

/* Goes on from another frame: for a play built anew whose world was restored from a snapshot taken
   at `frame`, before or after this call. From there on it is as if it had been played so far. */
pl_status pl_play_seek(pl_play *play, uint64_t frame);

/* kh²/ρ of a body: how stiff it is for the solver. h is the sub-step, k the mean over the edges. */
double pl_play_stiffness_ratio(const pl_play *play, int body);

#endif
