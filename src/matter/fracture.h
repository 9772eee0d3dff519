/* Between the parts of fracture: fracture.c (where cracks run, what they split) and
   fracture_crumbs.c (what becomes of the small ones). */
#ifndef PL_MATTER_FRACTURE_H
#define PL_MATTER_FRACTURE_H

#include "matter/clustered_change.h"

/* The plane of a crack, in the world; of each cluster it splits the disc around its own middle. */
typedef struct pl_crack_plane {
    pl_vec3 centre, normal;
    double radius;
} pl_crack_plane;

/* Where a cluster is from the present plane: 1 or −1, or split by it; 0 = not known. */
enum { PL_SIDE_SPLIT = 2 };

typedef struct pl_tear {
    pl_clustered *c;
    pl_clustered_change *change;
    bool *touched_cluster;  /* [clusters before] split, or a neighbour of one that was */
    bool *touched_particle; /* [particles there is room for] */
    float *smallest;        /* [particles of the model] the least mass a part of each may have */
    int8_t *side;           /* [clusters before] of the present plane */
    int32_t *front;         /* [clusters before] those that it splits, the first one first, and */
    pl_crack_plane *disc;   /* where it goes through each of them */
    int front_count;
    int32_t *beside; /* [clusters before] others that share particles with these, and */
    int32_t *by;     /* with which one, as a number of the front */
    int beside_count;
    int32_t *parent; /* [particles there is room for] which of them hang together, and */
    int32_t *size;   /* how many */
    int before;      /* clusters */
    int piece;       /* particles of the smallest one: members that clusters have in the mean */
    int least; /* members of the smallest half: a quarter of that, if not more are asked for. A few particles beside a crack
                   make no cluster by which one can tell strain from noise */
} pl_tear;

/* Which particles hang together, and how many they are. */
void pl_tear_find_pieces(pl_tear *tear);
int pl_tear_piece_of(const pl_tear *tear, int index); /* of a cluster that has members */

/* Half of cluster `index` has too few members: it goes, if all of them that have no other cluster
   on the same side can join one. There must be room for them. */
void pl_tear_dissolve(pl_tear *tear, int index, int half, int side);

/* A piece that came off with fewer particles than a cluster should have members goes into the
   nearest cluster there is. */
void pl_tear_absorb_splinters(pl_tear *tear);

static inline void pl_clustered_copy_member(pl_clustered *c, int to, int from)
{
    c->particle[to] = c->particle[from];
    for (int k = 0; k < 3; k++)
        c->p[k][to] = c->p[k][from];
    c->raw[to] = c->raw[from];
    c->weight[to] = c->weight[from];
}

#endif
