/* Example poses of bodies (examples.c): what a body was given, as the descriptors its matter
   compares. The manifold made of it belongs to the matter; this is kept to make it again, for
   another system or from a snapshot. */
#ifndef PL_WORLD_EXAMPLES_H
#define PL_WORLD_EXAMPLES_H

#include "matter/examples.h"
#include "pliant/pliant.h"
#include "world/stream.h"

struct pl_record;
struct pl_tetrahedral;

typedef struct pl_record_examples {
    int element_count, width, pose_count, group_count;
    bool local;
    float *poses;   /* [pose_count][element_count][width] */
    float *metric;  /* [element_count][width (width + 1) / 2], or NULL */
    float *weight;  /* [element_count], or NULL */
    int32_t *group; /* [element_count] */
    double beta;
    pl_example_rule rule;
    const void *saved; /* weights and bias, while they are read from a snapshot */
    size_t saved_size;
} pl_record_examples;

/* The poses of a definition, checked and described; then the matter gets them. A body has its
   matter and its system by then. */
pl_status pl_examples_fill(struct pl_world *world, struct pl_record *record,
                           const pl_examples_def *def, pl_error *error);
void pl_examples_empty(struct pl_world *world, struct pl_record *record);

/* Whether the examples of a body are some, before anything is made. */
pl_status pl_examples_check(const pl_body_def *body, pl_error *error);

/* A manifold for a body's matter, which takes it over. */
pl_status pl_examples_make(struct pl_world *world, const pl_record_examples *source,
                           pl_examples **examples, pl_error *error);

/* New tetrahedra of a body, for another system, get a manifold of their own. */
pl_status pl_examples_equip_tets(struct pl_world *world, const pl_record_examples *source,
                                 struct pl_tetrahedral *tetrahedral, pl_error *error);

/* Poses and groups there are. */
void pl_examples_count(const struct pl_record *record, int *poses, int *groups);

/* The manifold of a body, NULL = none. */
pl_examples *pl_record_examples_of(const struct pl_record *record);

/* What a snapshot holds of it; nothing for bodies without, as before there were any. */
void pl_snapshot_examples(pl_stream *s, struct pl_world *world, struct pl_record *record);
/* After a body was read and its matter is there. */
pl_status pl_examples_restore(struct pl_world *world, struct pl_record *record, pl_error *error);

#endif
