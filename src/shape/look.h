/* The look of a surface, kept by a model: a copy in one block of memory, with every index checked
   and every number finite. What it means is left to those who draw. */
#ifndef PL_SHAPE_LOOK_H
#define PL_SHAPE_LOOK_H

#include "base/hash.h"
#include "base/memory.h"
#include "pliant/mesh.h"

/* Materials, images, groups: more is a mistake. */
enum { PL_MAX_LOOK_COUNT = 100000000 };

/* Counts, pointers, indices; not the numbers. */
pl_status pl_look_check(const pl_look *look, int vertex_count, int triangle_count, pl_error *error);

/* A checked look without its normals and tangents, which models keep themselves. Numbers that are
   none become 0. *block is freed by pl_memory_free; NULL where the look is empty. */
pl_status pl_look_copy(pl_memory *memory, const pl_look *look, int vertex_count, int triangle_count,
                       pl_look *copy, void **block, pl_error *error);

bool pl_look_is_empty(const pl_look *look);

/* Everything in it, normals and tangents included. */
void pl_look_hash(pl_hash *hash, const pl_look *look, int vertex_count, int triangle_count);

#endif
