/* While a pl_tet_system is made: what the files that make it share. */
#ifndef PL_MATTER_TETRAHEDRAL_BUILD_H
#define PL_MATTER_TETRAHEDRAL_BUILD_H

#include "matter/tetrahedral_lanes.h"
#include "shape/tet_weights.h"

typedef struct pl_tet_draft {
    pl_tet_system *s;
    const pl_tet_source *source;
    pl_error *error;
    uint8_t *is_fixed, *is_used;  /* [n] */
    int32_t *order;               /* [tets] element in each place of the sequence */
    int32_t *tet_piece;           /* [tets] */
    int32_t *touch_start, *touch; /* elements around nodes: four times its number, and the corner */
    int32_t *sample;              /* elements */
    pl_tet_weights weights;
} pl_tet_draft;

static inline void *pl_tet_take(pl_memory *memory, size_t count, size_t size, bool *fine)
{
    void *block = *fine ? pl_memory_alloc(memory, count, size) : NULL;
    *fine = *fine && block;
    return block;
}

#define PL_TET_TAKE(memory, type, count, fine)                                                     \
    ((type *)pl_tet_take((memory), (size_t)(count), sizeof(type), &(fine)))

pl_status pl_tet_no_memory(pl_error *error);

/* In this order. Where they return bool: false without memory. */
pl_status pl_tet_make_elements(pl_tet_draft *d);
bool pl_tet_make_rows(pl_tet_draft *d);
bool pl_tet_find_pieces(pl_tet_draft *d);
bool pl_tet_make_blocks(pl_tet_draft *d);
pl_status pl_tet_make_matrix(pl_tet_draft *d, pl_tasks *tasks);
bool pl_tet_make_frames(pl_tet_draft *d);
bool pl_tet_make_samples(pl_tet_draft *d);

/* Box around the nodes that are used, and numbers along a curve through it. */
void pl_tet_bounds(const pl_tet_draft *d, double low[3], double *size);
uint64_t pl_tet_morton(const double at[3], const double low[3], double size);

/* Lists of the rows side by side, four at a time: `order` gets the rows of each block in the order
   of the lengths of their lists, and `quad_start` [padded / 4 + 1] adds up the longest of four. A
   loop whose length changes from row to row costs more in branches guessed wrongly than in what it
   adds up. */
void pl_tet_quads(int padded, const int32_t *start, int32_t *order, int32_t *quad_start);

static inline const float *pl_tet_rest_of(const pl_tet_draft *d, int node)
{
    return d->source->rest + 3 * (ptrdiff_t)node;
}

static inline void pl_tet_centroid_of(const pl_tet_draft *d, int e, double c[3])
{
    for (int k = 0; k < 3; k++) {
        c[k] = 0;
        for (int a = 0; a < 4; a++)
            c[k] += 0.25 * (double)pl_tet_rest_of(d, d->s->tets[4 * (ptrdiff_t)e + a])[k];
    }
}

/* Weights relative to the unit of mass: A and the forces of the kernels are those of the energy
   times h² over it. */
static inline double pl_tet_weight_of(const pl_tet_system *s, int e, double stiffness)
{
    return 2 * s->h * s->h * s->volume[e] * stiffness / s->unit_mass;
}

/* Gradient of corner a. */
static inline void pl_tet_gradient_of(const pl_tet_system *s, int e, int a, double g[3])
{
    const double *all = s->gradient + 9 * (ptrdiff_t)e;
    for (int k = 0; k < 3; k++)
        g[k] = a < 3 ? all[3 * a + k] : -(all[k] + all[3 + k] + all[6 + k]);
}

static inline double pl_tet_product_of(const pl_tet_system *s, int e, int a, int b)
{
    double p[3], q[3];
    pl_tet_gradient_of(s, e, a, p);
    pl_tet_gradient_of(s, e, b, q);
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

#endif
