/* A set of index tuples (edges, faces, tetrahedra, whatever their winding): each gets a number, in
   the order of first appearance. */
#ifndef PL_SHAPE_SURFACE_TUPLES_H
#define PL_SHAPE_SURFACE_TUPLES_H

#include "base/memory.h"

enum { PL_TUPLE_MAX = 4 };

typedef struct pl_tuples {
    int width;     /* indices per tuple, 2 to 4 */
    int count;     /* tuples so far */
    int32_t *keys; /* [count][width], each ascending */
    int32_t *slots;
    size_t slot_count; /* a power of two */
} pl_tuples;

/* Room for `most` tuples. False without memory, and then nothing is left allocated. */
bool pl_tuples_make(pl_memory *memory, int width, size_t most, pl_tuples *tuples);
void pl_tuples_free(pl_memory *memory, pl_tuples *tuples);

/* The number of a tuple, its indices in any order; it equals the old count when the tuple is
   new. */
int pl_tuples_add(pl_tuples *tuples, const int32_t *indices);

#endif
