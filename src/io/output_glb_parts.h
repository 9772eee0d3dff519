/* Between the files of the .glb writer. */
#ifndef PL_IO_OUTPUT_GLB_PARTS_H
#define PL_IO_OUTPUT_GLB_PARTS_H

#include "base/array.h"
#include "io/file.h"
#include "io/output_glb.h"

/* ---- JSON (output_glb_text.c) ---------------------------------------------------------------- */

/* Text that goes into memory, into a file, or nowhere: then it is only counted. */
typedef struct pl_glb_text {
    pl_array *memory;
    pl_output *output;
    uint64_t size;
    bool failed; /* no memory */
} pl_glb_text;

void pl_glb_put(pl_glb_text *text, const char *what);
void pl_glb_put_text(pl_glb_text *text, const char *what, size_t size);
void pl_glb_print(pl_glb_text *text, const char *format, ...) PL_PRINTF(2, 3);
/* "name":"…", of two parts. */
void pl_glb_put_name(pl_glb_text *text, const char *name, const char *after);
void pl_glb_put_number(pl_glb_text *text, float value, bool exact); /* else seven digits */
/* [1,2,3] */
void pl_glb_put_numbers(pl_glb_text *text, const float *values, int count, bool exact);

/* A list that grows: its elements, with commas between them. */
typedef struct pl_glb_list {
    pl_array text;
    int count;
} pl_glb_list;

/* Where the next element of a list is put. */
pl_glb_text pl_glb_next(pl_glb_list *list);

/* ---- Parts ----------------------------------------------------------------------------------- */

typedef struct pl_glb_primitive {
    int indices;  /* accessor */
    int material; /* -1 = the actor's own */
} pl_glb_primitive;

typedef struct pl_glb_shape {
    char *attributes; /* JSON of the primitives' attributes */
    char *name;
    int primitive_count;
    pl_glb_primitive *primitives;
    int vertex_count;
    int joint_count;   /* 0 = rigid */
    size_t held[2][2]; /* where joints and weights of each set are in the buffer */
    int inverse_binds; /* accessor */
    float *levers; /* how far a vertex is from the joint that carries it, at most; one per joint,
                          or one for all of a rigid shape */
    float size;    /* diagonal of its box */
} pl_glb_shape;

typedef struct pl_glb_cast {
    char *name;
    int shape, mesh; /* shape PL_GLB_PLANE until the end, where it is one */
    bool skinned;
    int material; /* of primitives without one */
    unsigned paths;
    int joint_count; /* 1 where it is rigid */
    size_t first;    /* of its numbers in a frame */
    float origin[3]; /* joints are relative to it; 0 where it is rigid */
} pl_glb_cast;

/* A shape in the colours of an actor. */
typedef struct pl_glb_worn {
    int shape, material;
} pl_glb_worn;

/* A material without a look. */
typedef struct pl_glb_paint {
    float colour[4], roughness;
    bool two_sided;
    int material;
} pl_glb_paint;

struct pl_glb {
    pl_memory *memory;
    pl_output *output;
    char *path, *title;
    double rate;
    pl_output *keys; /* temporary: origins of the actors, then frames, each behind its time */
    int descriptor;  /* the same, for reading; -1 = not open */

    pl_array bytes; /* of the geometry */
    pl_glb_list views, accessors, images, textures, materials;
    pl_array shapes, casts, worn, paints;

    size_t frame_size;         /* numbers of a frame, its time not counted */
    float *first, *frame;      /* the first, and the last so far; a time, then the numbers */
    pl_array times;            /* floats */
    double lower[3], upper[3]; /* around all joints in all frames */
};

static inline pl_glb_shape *pl_glb_shape_at(const pl_glb *glb, int number)
{
    return (pl_glb_shape *)glb->shapes.data + number;
}

static inline pl_glb_cast *pl_glb_cast_at(const pl_glb *glb, int number)
{
    return (pl_glb_cast *)glb->casts.data + number;
}

pl_status pl_glb_no_memory(const pl_glb *glb, pl_trouble *trouble);
pl_status pl_glb_too_large(const pl_glb *glb, pl_trouble *trouble);
char *pl_glb_copy(pl_memory *memory, const char *text); /* NULL without memory */

int pl_glb_path_width(pl_glb_path path);
/* How many an actor has of a path, and where in a frame they begin. */
int pl_glb_path_count(const pl_glb_cast *cast, pl_glb_path path);
size_t pl_glb_path_first(const pl_glb_cast *cast, pl_glb_path path);

/* ---- Geometry (output_glb_mesh.c), materials (output_glb_look.c) ----------------------------- */

enum { PL_GLB_BYTE = 5121, PL_GLB_SHORT = 5123, PL_GLB_INT = 5125, PL_GLB_FLOAT = 5126 };
enum { PL_GLB_NO_TARGET = 0, PL_GLB_VERTICES = 34962, PL_GLB_INDICES = 34963 };

/* Bytes in a view of their own, which is -1 without memory. */
int pl_glb_add_view(pl_glb *glb, const void *bytes, size_t size, int target);

/* The material of an actor; -1 without memory. */
int pl_glb_add_paint(pl_glb *glb, const float colour[4], float roughness, bool two_sided);

/* The materials of a look that its triangles use: map[m] becomes the number in the file. */
pl_status pl_glb_add_materials(pl_glb *glb, const pl_glb_surface *surface, int32_t *map,
                               pl_trouble *trouble);

/* ---- Keys (output_glb_keys.c) ---------------------------------------------------------------- */

/* One path of one joint, or of the whole actor, over all frames. */
typedef struct pl_glb_track {
    int cast, joint; /* joint -1 = of the actor */
    pl_glb_path path;
    size_t first; /* in a frame */
    float tolerance;
} pl_glb_track;

/* What is kept of a track. */
typedef struct pl_glb_kept {
    uint32_t count;
    bool own_times; /* fewer keys than frames: the times stand before them */
} pl_glb_kept;

typedef struct pl_glb_keys {
    int track_count, frame_count;
    pl_glb_track *tracks;
    pl_glb_kept *kept;
    uint8_t *masks; /* a bit per frame, mask_size bytes per track */
    size_t mask_size;
    bool shared;   /* some have a key in every frame: their times stand at the beginning */
    uint64_t size; /* bytes of all keys and times */
    int used;      /* tracks that have keys */
} pl_glb_keys;

/* Which keys are needed. Frees nothing on failure: pl_glb_keys_free does in any case. */
pl_status pl_glb_keys_choose(pl_glb *glb, pl_glb_keys *keys, pl_trouble *trouble);
pl_status pl_glb_keys_write(pl_glb *glb, pl_glb_keys *keys, pl_trouble *trouble);
void pl_glb_keys_free(pl_glb *glb, pl_glb_keys *keys);

/* Bytes of a track in the file: times, where it has its own, then values. */
size_t pl_glb_track_size(const pl_glb_track *track, const pl_glb_kept *kept);

/* Marks the frames that linear interpolation between the others does not give within the tolerance;
   returns how many. `mask` is zero. */
int pl_glb_reduce(pl_glb_path path, const float *times, const float *values, int frames,
                  float tolerance, uint8_t *mask);

/* ---- The document (output_glb_document.c) ---------------------------------------------------- */

/* Everything but the bytes; the same text whenever it is asked for. */
void pl_glb_put_document(pl_glb *glb, const pl_glb_keys *keys, uint64_t bytes, pl_glb_text *text);

/* ---- Frames (output_glb_frames.c) ------------------------------------------------------------ */

/* Room for a frame, once all actors are known. */
pl_status pl_glb_make_room(pl_glb *glb, pl_trouble *trouble);

/* Opens the temporary for reading what was written so far. */
pl_status pl_glb_open_keys(pl_glb *glb, pl_trouble *trouble);

/* `count` numbers from `first` on of every frame, one frame behind the other. The temporary is open
   for reading. */
pl_status pl_glb_read_frames(const pl_glb *glb, size_t first, size_t count, float *out,
                             pl_trouble *trouble);

#endif
