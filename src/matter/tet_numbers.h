/* A definition of tetrahedral matter as numbers: to compare, to hash and to save it. */
#ifndef PL_MATTER_TET_NUMBERS_H
#define PL_MATTER_TET_NUMBERS_H

#include "pliant/tetrahedral.h"

enum { PL_TET_NUMBERS = 12 };

static inline void pl_tet_numbers_of(const pl_tetrahedral_def *def, double out[PL_TET_NUMBERS])
{
    out[0] = def->poisson;
    out[1] = (double)def->volume;
    out[2] = (double)def->rotations;
    out[3] = def->sampled;
    out[4] = def->weight_cap;
    out[5] = def->threshold;
    out[6] = def->accelerated;
    out[7] = def->window;
    out[8] = def->yield;
    out[9] = def->flow;
    out[10] = def->hardening;
    out[11] = def->condition;
}

/* False where one is no number of its kind; others are for pl_tetrahedral_check. */
static inline bool pl_tet_from_numbers(const double in[PL_TET_NUMBERS], pl_tetrahedral_def *def)
{
    for (int i = 0; i < PL_TET_NUMBERS; i++)
        if ((i == 1 || i == 2 || i == 4 || i == 6 || i == 7) &&
            !(in[i] >= 0 && in[i] <= 1000 && in[i] == (double)(int)in[i]))
            return false;
    *def = pl_default_tetrahedral_def();
    def->poisson = in[0];
    def->volume = (pl_tet_volume)(int)in[1];
    def->rotations = (pl_tet_rotations)(int)in[2];
    def->sampled = in[3];
    def->weight_cap = (int)in[4];
    def->threshold = in[5];
    def->accelerated = in[6] != 0;
    def->window = (int)in[7];
    def->yield = in[8];
    def->flow = in[9];
    def->hardening = in[10];
    def->condition = in[11];
    return true;
}

#endif
