/* A block of tetrahedra: cells of a regular grid, each cut into five, mirrored from cell to cell.
   Particles are the nodes of the grid, from face to face; count is that of particles, one more than
   there are cells along each axis. */
#include "shape/builder.h"

static int node_at(const int *n, int i, int j, int k)
{
    return (i * n[1] + j) * n[2] + k;
}

static void add_nodes(pl_shape *shape, const pl_shape_plan *plan)
{
    const int *n = plan->count;
    double cell[3], least = 0;
    for (int k = 0; k < 3; k++) {
        cell[k] = plan->size[k] / (n[k] - 1);
        least = k == 0 || cell[k] < least ? cell[k] : least;
    }
    const double radius = 0.3 * least, radii[3] = {radius, radius, radius};
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++) {
                const double point[3] = {cell[0] * (i - 0.5 * (n[0] - 1)),
                                         cell[1] * (j - 0.5 * (n[1] - 1)),
                                         cell[2] * (k - 0.5 * (n[2] - 1))};
                pl_shape_add_particle(shape, point, NULL, radii);
            }
}

/* Along the axes from every node, and across the faces of cells between nodes of one colour of the
   chessboard. */
static void add_edges(pl_shape *shape, const int *n, int i, int j, int k)
{
    static const int directions[9][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                         {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
    for (int d = 0; d < ((i + j + k) % 2 ? 9 : 3); d++) {
        int a = i + directions[d][0], b = j + directions[d][1], c = k + directions[d][2];
        if (a < n[0] && b >= 0 && b < n[1] && c >= 0 && c < n[2])
            pl_shape_add_edge(shape, node_at(n, i, j, k), node_at(n, a, b, c));
    }
}

/* Corners are numbered by bits: x, y, z. */
static void add_cell(pl_shape *shape, const int *n, int i, int j, int k)
{
    static const int tets[5][4] = {
        {0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
    int mirror = (i + j + k) % 2;
    for (int t = 0; t < 5; t++) {
        int32_t corner[4];
        for (int v = 0; v < 4; v++) {
            int bits = tets[t][v] ^ mirror;
            corner[v] = node_at(n, i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2 & 1));
        }
        /* A mirrored one is wound the other way. */
        pl_shape_add_tet(shape, corner[0], corner[mirror ? 2 : 1], corner[mirror ? 1 : 2],
                         corner[3]);
    }
}

void pl_build_block(pl_shape *shape, const pl_shape_plan *plan)
{
    const int *n = plan->count;
    add_nodes(shape, plan);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++)
                add_edges(shape, n, i, j, k);
    for (int i = 0; i < n[0] - 1; i++)
        for (int j = 0; j < n[1] - 1; j++)
            for (int k = 0; k < n[2] - 1; k++)
                add_cell(shape, n, i, j, k);
    pl_shape_add_box_skin(shape, plan->size, n[0] - 1, n[1] - 1, n[2] - 1);
    shape->dimension = 3;
    shape->volume = plan->size[0] * plan->size[1] * plan->size[2];
}
