/* A figure's first surface: the zero set of its distance on a cubic grid whose cells are cut into
   six tetrahedra each (the Kuhn triangulation), which always gives a closed manifold. Its triangles
   are poor; builtin_mesh.c improves them. */
#include "shape/builtin_mesh.h"

/* BLOCK: corners along the side of a block that is skipped as one when the surface cannot be in
   it. */
enum { BLOCK = 4 };

typedef struct grid {
    const pl_figure *figure;
    int size[3];
    double cell;
    pl_vec3 lower;
    double *distance; /* per corner */
    int32_t *
        crossing; /* [corner][8]: vertex + 1 on the edge towards the corner at +x (1), +y (2), +z (4), and sums */
} grid;

static size_t corner_index(const grid *g, int x, int y, int z)
{
    return ((size_t)z * (size_t)g->size[1] + (size_t)y) * (size_t)g->size[0] + (size_t)x;
}

static pl_vec3 corner_place(const grid *g, double x, double y, double z)
{
    return pl_v3_add(g->lower, pl_v3(x * g->cell, y * g->cell, z * g->cell));
}

static void fill_block(grid *g, const int from[3])
{
    int to[3];
    for (int i = 0; i < 3; i++)
        to[i] = from[i] + BLOCK < g->size[i] ? from[i] + BLOCK : g->size[i];
    double half = 0.5 * (BLOCK - 1);
    pl_vec3 middle = corner_place(g, from[0] + half, from[1] + half, from[2] + half);
    double d = pl_figure_distance(g->figure, middle);
    bool far = fabs(d) > PL_FIGURE_LIPSCHITZ * 1.7320508075688772 * half * g->cell;
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++)
                g->distance[corner_index(g, x, y, z)] =
                    far ? d : pl_figure_distance(g->figure, corner_place(g, x, y, z));
}

static void fill(grid *g)
{
    int at[3];
    for (at[2] = 0; at[2] < g->size[2]; at[2] += BLOCK)
        for (at[1] = 0; at[1] < g->size[1]; at[1] += BLOCK)
            for (at[0] = 0; at[0] < g->size[0]; at[0] += BLOCK)
                fill_block(g, at);
}

/* The vertex on the edge between two corners of a cell, where the bits of a are among those of b;
   -1 without memory. */
static int32_t vertex_on(grid *g, pl_web *web, const int cell[3], int a, int b)
{
    int x = cell[0] + (a & 1), y = cell[1] + (a >> 1 & 1), z = cell[2] + (a >> 2), way = b ^ a;
    int32_t *crossing = &g->crossing[8 * corner_index(g, x, y, z) + (size_t)way];
    if (*crossing)
        return *crossing - 1;
    double from = g->distance[corner_index(g, x, y, z)];
    double to = g->distance[corner_index(g, x + (way & 1), y + (way >> 1 & 1), z + (way >> 2))];
    double t = fmin(fmax(from / (from - to), 0.02), 0.98);
    pl_web_vertex *vertex = pl_array_add(&web->vertex_array, 1);
    if (!vertex)
        return -1;
    memset(vertex, 0, sizeof *vertex);
    vertex->at = corner_place(g, x + t * (way & 1), y + t * (way >> 1 & 1), z + t * (way >> 2));
    *crossing = (int32_t)web->vertex_array.count;
    return *crossing - 1;
}

/* Whether the triangle of the middles of the edges (a0, b0), (a1, b1), (a2, b2), each from an inner
   to an outer corner, looks outward. Whole numbers: no rounding. */
static bool looks_outward(const int inner[3], const int outer[3])
{
    int p[3][3], out[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) {
            p[i][c] = (inner[i] >> c & 1) + (outer[i] >> c & 1);
            out[c] += (outer[i] >> c & 1) - (inner[i] >> c & 1);
        }
    int u[3], v[3];
    for (int c = 0; c < 3; c++) {
        u[c] = p[1][c] - p[0][c];
        v[c] = p[2][c] - p[0][c];
    }
    return (u[1] * v[2] - u[2] * v[1]) * out[0] + (u[2] * v[0] - u[0] * v[2]) * out[1] +
               (u[0] * v[1] - u[1] * v[0]) * out[2] >
           0;
}

static bool put_triangle(grid *g, pl_web *web, const int cell[3], const int inner[3],
                         const int outer[3])
{
    int32_t v[3];
    for (int i = 0; i < 3; i++) {
        bool up = (inner[i] & outer[i]) == inner[i];
        v[i] = vertex_on(g, web, cell, up ? inner[i] : outer[i], up ? outer[i] : inner[i]);
        if (v[i] < 0)
            return false;
    }
    bool good = looks_outward(inner, outer);
    int32_t *corners = pl_array_add(&web->corner_array, 3);
    if (!corners)
        return false;
    corners[0] = v[0];
    corners[1] = v[good ? 1 : 2];
    corners[2] = v[good ? 2 : 1];
    return true;
}

static bool put_tetrahedron(grid *g, pl_web *web, const int cell[3], const int corner[4],
                            const bool inside[8])
{
    int in[4], out[4], ins = 0, outs = 0;
    for (int i = 0; i < 4; i++)
        if (inside[corner[i]])
            in[ins++] = corner[i];
        else
            out[outs++] = corner[i];
    if (ins == 1)
        return put_triangle(g, web, cell, (int[]){in[0], in[0], in[0]}, out);
    if (ins == 3)
        return put_triangle(g, web, cell, in, (int[]){out[0], out[0], out[0]});
    if (ins != 2)
        return true;
    return put_triangle(g, web, cell, (int[]){in[0], in[0], in[1]},
                        (int[]){out[0], out[1], out[1]}) &&
           put_triangle(g, web, cell, (int[]){in[0], in[1], in[1]},
                        (int[]){out[0], out[1], out[0]});
}

static bool put_cell(grid *g, pl_web *web, const int cell[3])
{
    static const int order[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    bool inside[8];
    int ins = 0;
    for (int c = 0; c < 8; c++) {
        inside[c] = g->distance[corner_index(g, cell[0] + (c & 1), cell[1] + (c >> 1 & 1),
                                             cell[2] + (c >> 2))] < 0;
        ins += inside[c];
    }
    if (ins == 0 || ins == 8)
        return true;
    for (int i = 0; i < 6; i++)
        if (!put_tetrahedron(g, web, cell, (int[]){0, order[i][0], order[i][1], 7}, inside))
            return false;
    return true;
}

static bool put_cells(grid *g, pl_web *web)
{
    int at[3];
    for (at[2] = 0; at[2] + 1 < g->size[2]; at[2]++)
        for (at[1] = 0; at[1] + 1 < g->size[1]; at[1]++)
            for (at[0] = 0; at[0] + 1 < g->size[0]; at[0]++)
                if (!put_cell(g, web, at))
                    return false;
    return true;
}

pl_status pl_figure_surface(const pl_figure *figure, double cell, pl_web *web)
{
    grid g = {.figure = figure, .cell = cell};
    double lower[3] = {figure->lower.x, figure->lower.y, figure->lower.z};
    double upper[3] = {figure->upper.x, figure->upper.y, figure->upper.z};
    for (int i = 0; i < 3; i++)
        g.size[i] = (int)((upper[i] - lower[i]) / cell) + 5;
    /* An odd shift keeps symmetry planes off the corners, where distances would be exactly zero. */
    g.lower = pl_v3(lower[0] - 1.63 * cell, lower[1] - 1.57 * cell, lower[2] - 1.61 * cell);
    size_t corners = (size_t)g.size[0] * (size_t)g.size[1] * (size_t)g.size[2];
    g.distance = PL_NEW(web->memory, double, corners);
    g.crossing = PL_NEW(web->memory, int32_t, 8 * corners);
    bool done = g.distance && g.crossing;
    if (done) {
        fill(&g);
        done = put_cells(&g, web);
    }
    pl_memory_free(web->memory, g.distance);
    pl_memory_free(web->memory, g.crossing);
    return done ? pl_web_link(web) : PL_ERROR_MEMORY;
}
