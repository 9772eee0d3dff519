/* The part of the scene reader that is alike for all objects: tables of keys with kinds and ranges,
   and the reading of numbers, vectors and arrays with messages that say what would be right. */
#ifndef PL_IO_SCENE_FIELDS_H
#define PL_IO_SCENE_FIELDS_H

#include "io/scene.h"

typedef enum pl_field_kind {
    PL_FIELD_TEXT,    /* const char * */
    PL_FIELD_NAME,    /* const char *, not empty */
    PL_FIELD_NUMBER,  /* double */
    PL_FIELD_INTEGER, /* int */
    PL_FIELD_BITS,    /* uint32_t */
    PL_FIELD_BOOL,    /* bool */
    PL_FIELD_VECTOR,  /* double[3] */
    PL_FIELD_NODE     /* uint32_t: has several forms or an inside of its own; read by its owner */
} pl_field_kind;

/* Numbers that may be written as texts with a unit. */
typedef struct pl_unit {
    const char *name;
    double factor;
} pl_unit;

/* A number must be >= low (> low when `above`) and <= high. */
typedef struct pl_field {
    const char *key;
    pl_field_kind kind;
    size_t offset;
    bool required, above;
    double low, high;
    const pl_unit *units; /* the last has no name; NULL = only plain numbers */
    const char *example;  /* what to write where it is required and missing; NULL = plain enough */
} pl_field;

struct pl_scene_object {
    const char *name; /* "body": in messages, and in the schema's $defs */
    const pl_field *fields;
    int field_count;
};

/* ---- What the tables fill in before it is turned into what the scene holds ------------------- */

typedef struct pl_raw_model {
    pl_scene_place place;
    const char *shape;
    bool braced;
    int dimension;
    double volume;
    const char *file, *builtin;
    bool grid, tetrahedra;
    int tets, seed;
    double detail, spacing, thickness, weld;
    uint32_t kind, scale, count, size, particles, positions, orientations, radii, radius, edges,
        vertices, influences, weights, triangles, clusters;
} pl_raw_model;

typedef struct pl_raw_array {
    pl_scene_place place;
    double scatter, tumble, spacing;
    int seed, limit;
    uint32_t count, pitch, box;
} pl_raw_array;

typedef struct pl_raw_warp_object {
    pl_scene_place place;
    pl_raw_warp warp;
} pl_raw_warp_object;

typedef struct pl_raw_particle {
    pl_scene_place place;
    double position[3], radius;
    uint32_t orientation, radii;
} pl_raw_particle;

typedef struct pl_raw_rotation {
    pl_scene_place place;
    double degrees;
    uint32_t axis;
} pl_raw_rotation;

typedef struct pl_raw_key {
    pl_scene_place place;
    double time, position[3];
    uint32_t direction, rotation;
} pl_raw_key;

typedef struct pl_raw_turn {
    pl_scene_place place;
    double centre[3], speed, from, to;
    const char *ease;
    uint32_t axis, keys;
} pl_raw_turn;

typedef struct pl_raw_turn_key {
    pl_scene_place place;
    double time, degrees;
} pl_raw_turn_key;

typedef struct pl_raw_change {
    pl_scene_place place;
    const char *body_name;
    double vector[3], spin[3], number;
    uint32_t material;
} pl_raw_change;

typedef struct pl_raw_aim {
    pl_scene_place place;
    const char *body_name;
} pl_raw_aim;

/* The tables, in scene_tables.c. */
extern const pl_scene_object pl_object_scene, pl_object_world, pl_object_model, pl_object_particle,
    pl_object_material, pl_object_body, pl_object_state, pl_object_pick, pl_object_rotation,
    pl_object_pin, pl_object_drive, pl_object_force, pl_object_key, pl_object_turn,
    pl_object_turn_key, pl_object_run, pl_object_collider, pl_object_attachment, pl_object_array,
    pl_object_event, pl_object_velocity, pl_object_impulse, pl_object_new_material,
    pl_object_pressure, pl_object_camera, pl_object_aim, pl_object_light, pl_object_output,
    pl_object_clusters, pl_object_clustered, pl_object_tetrahedral, pl_object_plasticity,
    pl_object_examples, pl_object_pose, pl_object_warp;

/* Names of the things in one of the scene's lists (scene_names.c). */
typedef struct pl_names {
    int count;
    size_t capacity;
    int *slots;         /* hash table of numbers + 1 */
    int *next;          /* of each thing: the next of the same name, -1 = none */
    int *stamps;        /* for the user: marks that it has met a thing */
    const char **names; /* NULL = has none */
} pl_names;

typedef struct pl_scene_reader {
    pl_scene *scene;
    const pl_json *json;
    pl_trouble *trouble;
    pl_names models, materials, bodies, entries, copies, pins, drives, attachments, colliders,
        cameras;
    int stamp; /* the last one used */
} pl_scene_reader;

/* Memory that lives as long as the scene, zeroed. */
void *pl_scene_alloc(pl_scene *scene, size_t count, size_t size);
#define PL_SCENE_NEW(reader, type, count)                                                          \
    ((type *)pl_scene_alloc((reader)->scene, (size_t)(count), sizeof(type)))
pl_status pl_scene_no_memory(const pl_scene_reader *reader);

#define PL_SCENE_FAIL(reader, node, ...)                                                           \
    pl_json_fail((reader)->json, (node), (reader)->trouble, PL_ERROR_FORMAT, __VA_ARGS__)

/* Reads all members of an object into the struct at `out`, whose first member is its
   pl_scene_place. */
pl_status pl_read_object(pl_scene_reader *reader, uint32_t node, const pl_scene_object *object,
                         void *out);

/* Whether the key was given in an object that has been read. */
bool pl_was_given(const pl_scene_object *object, const pl_scene_place *place, const char *key);

pl_status pl_expect(pl_scene_reader *reader, uint32_t node, pl_json_kind kind,
                    const char *expected);
uint32_t pl_node_count(const pl_scene_reader *reader, uint32_t node); /* elements or members */

pl_status pl_read_number(pl_scene_reader *reader, uint32_t node, const pl_field *range,
                         double *out);
pl_status pl_read_integer(pl_scene_reader *reader, uint32_t node, int low, int high, int *out);
pl_status pl_read_vector(pl_scene_reader *reader, uint32_t node, double out[3]);
/* One number, or up to three, all greater than 0: along x, y, z. Those not given stay as they
   are. */
pl_status pl_read_measures(pl_scene_reader *reader, uint32_t node, bool whole, double out[3]);
pl_status pl_read_unit_vector(pl_scene_reader *reader, uint32_t node, double out[3]);

/* [x, y, z, w], normalised, or {"axis": …, "degrees": …}. */
pl_status pl_read_rotation(pl_scene_reader *reader, uint32_t node, double out[4]);

/* [[…], …] with `width` numbers each: as many doubles as there are. */
pl_status pl_read_rows(pl_scene_reader *reader, uint32_t node, int width, int *count, double **out);
/* The same with indices from 0 to limit − 1 (`thing` names what they are numbers of). */
pl_status pl_read_index_rows(pl_scene_reader *reader, uint32_t node, int width, int limit,
                             const char *thing, int *count, int32_t **out);
/* A factor > 0 for all (*count = -1) or an array of them. */
pl_status pl_read_factors(pl_scene_reader *reader, uint32_t node, int *count, float **out);

/* A text that is not empty and has no control characters. */
pl_status pl_read_name(pl_scene_reader *reader, uint32_t node, const char **out);

/* One of a list of words; *out is its number. */
pl_status pl_read_word(pl_scene_reader *reader, uint32_t node, const char *const *words, int count,
                       int *out);

#endif
