/* Bodies of the benchmarks: lattices of balls that touch, joined along the axes. */
#ifndef PL_BENCH_LATTICE_H
#define PL_BENCH_LATTICE_H

#include <stdio.h>
#include <stdlib.h>

#include "pliant/pliant.h"

enum { LATTICE_MOST = 128 };

static inline pl_model *bench_lattice(const int side[3], double spacing)
{
    double positions[LATTICE_MOST][3], radii[LATTICE_MOST][3];
    int32_t edges[3 * LATTICE_MOST][2];
    int count = 0, edge_count = 0, steps[3] = {side[1] * side[2], side[2], 1};
    for (int i = 0; i < side[0]; i++)
        for (int j = 0; j < side[1]; j++)
            for (int k = 0; k < side[2]; k++, count++) {
                int at[3] = {i, j, k};
                for (int m = 0; m < 3; m++) {
                    positions[count][m] = (at[m] - (side[m] - 1) / 2.0) * spacing;
                    radii[count][m] = spacing / 2;
                    if (at[m] + 1 < side[m]) {
                        edges[edge_count][0] = count;
                        edges[edge_count++][1] = count + steps[m];
                    }
                }
            }
    pl_model_def def = pl_default_model_def();
    def.particle_count = count;
    def.positions = pl_doubles(positions[0], 0);
    def.radii = pl_doubles(radii[0], 0);
    def.edge_count = edge_count;
    def.edges = edges[0];
    pl_model *model;
    if (pl_model_create(&def, &model, NULL) != PL_OK) {
        fprintf(stderr, "no model of a lattice\n");
        exit(1);
    }
    return model;
}

#endif
