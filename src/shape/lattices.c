/* Sheets and boxes: particles on a regular grid, each filling its cell, joined to the next along
   the axes and, when braced, along the diagonals of the faces of the cells. */
#include "shape/builder.h"

static void add_lattice(pl_shape *shape, const pl_shape_plan *plan)
{
    const int *n = plan->count;
    double radii[3];
    for (int k = 0; k < 3; k++)
        radii[k] = plan->size[k] / (2 * n[k]);
    for (int i = 0; i < n[0]; i++) {
        for (int j = 0; j < n[1]; j++) {
            for (int k = 0; k < n[2]; k++) {
                double point[3] = {radii[0] * (2 * i + 1 - n[0]), radii[1] * (2 * j + 1 - n[1]),
                                   radii[2] * (2 * k + 1 - n[2])};
                pl_shape_add_particle(shape, point, NULL, radii);
            }
        }
    }
}

/* Half of the directions, the other half being the same edges from the other side: axes first. */
static const int directions[9][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                     {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};

static void add_lattice_edges(pl_shape *shape, const pl_shape_plan *plan)
{
    const int *n = plan->count;
    int kinds = plan->braced ? 9 : 3;
    for (int i = 0; i < n[0]; i++) {
        for (int j = 0; j < n[1]; j++) {
            for (int k = 0; k < n[2]; k++) {
                for (int d = 0; d < kinds; d++) {
                    int a = i + directions[d][0], b = j + directions[d][1],
                        c = k + directions[d][2];
                    if (a < n[0] && b >= 0 && b < n[1] && c >= 0 && c < n[2])
                        pl_shape_add_edge(shape, (i * n[1] + j) * n[2] + k,
                                          (a * n[1] + b) * n[2] + c);
                }
            }
        }
    }
}

static void build_lattice(pl_shape *shape, const pl_shape_plan *plan, int dimension)
{
    add_lattice(shape, plan);
    add_lattice_edges(shape, plan);
    pl_shape_add_box_skin(shape, plan->size, 2 * plan->count[0],
                          plan->count[1] > 1 ? 2 * plan->count[1] : 1, 2 * plan->count[2]);
    shape->dimension = dimension;
    shape->volume = plan->size[0] * plan->size[1] * plan->size[2];
}

void pl_build_sheet(pl_shape *shape, const pl_shape_plan *plan)
{
    build_lattice(shape, plan, 2);
}

void pl_build_box(pl_shape *shape, const pl_shape_plan *plan)
{
    build_lattice(shape, plan, 3);
}
