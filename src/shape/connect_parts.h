/* What the steps from samples to an oriented graph share. */
#ifndef PL_SHAPE_CONNECT_PARTS_H
#define PL_SHAPE_CONNECT_PARTS_H

#include "base/array.h"
#include "shape/connect.h"
#include "shape/sample_cells.h"

/* Two particles whose parts of the body touch. */
typedef struct pl_pair {
    int32_t a, b;   /* a < b */
    double contact; /* how much, in any unit */
    double length;
    double outside; /* of the segment between them, as a length */
} pl_pair;

/* Contacts as they are found, in any order and number. */
typedef struct pl_touch {
    uint64_t key; /* a << 32 | b */
    double contact;
} pl_touch;

static inline pl_touch pl_touch_make(int a, int b, double contact)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return (pl_touch){low << 32 | high, contact};
}

/* Touches to pairs in ascending order; `pairs` gets the lengths, nothing outside. */
pl_status pl_pairs_make(pl_memory *memory, const pl_array *touches, const double *points,
                        pl_array *pairs, pl_error *error);

typedef struct pl_edge_def {
    int particle_count;
    const double *points;
    const int32_t *component; /* particles of one are brought into one piece */
    double distance;          /* the longest way an edge may go outside */
    int wanted;               /* edges; 0 = as the contacts suggest */
    const pl_inside *inside;  /* for edges further than contacts give; NULL = there is no outside */
} pl_edge_def;

/* The edges of the graph, from the pairs: first a spanning forest of the best, then the best of the
   rest. Fills edges, edge_count and piece_count. */
pl_status pl_choose_edges(pl_memory *memory, const pl_edge_def *def, const pl_array *pairs,
                          pl_graph_parts *parts, pl_error *error);

/* Sets, joined. */
typedef struct pl_sets {
    int32_t *parent;
} pl_sets;

static inline int pl_sets_find(pl_sets sets, int i)
{
    while (sets.parent[i] != i) {
        sets.parent[i] = sets.parent[sets.parent[i]];
        i = sets.parent[i];
    }
    return i;
}

static inline bool pl_sets_join(pl_sets sets, int a, int b)
{
    a = pl_sets_find(sets, a), b = pl_sets_find(sets, b);
    if (a == b)
        return false;
    sets.parent[a > b ? a : b] = a > b ? b : a;
    return true;
}

/* A cell at the surface. */
typedef struct pl_facing {
    int32_t particle, cell;
} pl_facing;

typedef struct pl_moments {
    double weight;    /* of the part of the body, in units of the pitch */
    double first[3];  /* Σ w x from the particle */
    double second[6]; /* Σ w x xᵀ: xx, xy, xz, yy, yz, zz */
} pl_moments;

/* Ellipsoids of a solid: orientations and radii of parts. Lengths in moments are in the pitch of
   the cells. */
pl_status pl_fit_solid(pl_memory *memory, const pl_surface *surface, const pl_cells *cells,
                       const pl_moments *moments, double distance, const pl_array *facings,
                       pl_graph_parts *parts, pl_error *error);

/* Semi-axes and their directions from the matrices `shape` (xx, xy, xz, yy, yz, zz; nᵀ B n is the
   square of the half-width along n), in `unit`; no axis is longer than `aspect` times another. */
pl_status pl_write_ellipsoids(pl_memory *memory, int count, const double *shapes, double unit,
                              double aspect, pl_graph_parts *parts, pl_error *error);

pl_status pl_connect_solid(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                           const pl_samples *samples, const pl_connect_def *def,
                           pl_graph_parts *parts, pl_error *error);
pl_status pl_connect_shell(pl_memory *memory, const pl_surface *surface, const pl_samples *samples,
                           const pl_connect_def *def, pl_graph_parts *parts, pl_error *error);
pl_status pl_connect_rod(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                         const pl_samples *samples, const pl_connect_def *def,
                         pl_graph_parts *parts, pl_error *error);

#endif
