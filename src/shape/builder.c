/* Growing arrays of a shape, frames and quaternions, and pieces of skin: boxes, rings and tubes. */
#include "shape/builder.h"

#include <math.h>
#include <string.h>

#include "shape/turn.h"

/* ---- Arrays -------------------------------------------------------------------------------- */

static void push(pl_shape *shape, pl_list *list, const void *element, size_t size)
{
    if (shape->failed)
        return;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        void *data = pl_memory_alloc(&shape->memory, capacity, size);
        if (!data) {
            shape->failed = true;
            return;
        }
        if (list->count)
            memcpy(data, list->data, list->count * size);
        pl_memory_free(&shape->memory, list->data);
        list->data = data;
        list->capacity = capacity;
    }
    memcpy((char *)list->data + list->count++ * size, element, size);
}

/* The quaternion of a rotation by its largest component (Shepperd 1978). */
static void quaternion_of(const double frame[3][3], double q[4])
{
    /* m[r][c] = component r of axis c */
    double m[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m[r][c] = frame[c][r];
    double trace = m[0][0] + m[1][1] + m[2][2];
    int i = m[1][1] > m[0][0] ? 1 : 0;
    i = m[2][2] > m[i][i] ? 2 : i;
    if (trace > m[i][i]) {
        double s = 2 * sqrt(1 + trace);
        q[0] = (m[2][1] - m[1][2]) / s;
        q[1] = (m[0][2] - m[2][0]) / s;
        q[2] = (m[1][0] - m[0][1]) / s;
        q[3] = s / 4;
        return;
    }
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double s = 2 * sqrt(1 + m[i][i] - m[j][j] - m[k][k]);
    q[i] = s / 4;
    q[j] = (m[i][j] + m[j][i]) / s;
    q[k] = (m[i][k] + m[k][i]) / s;
    q[3] = (m[k][j] - m[j][k]) / s;
}

void pl_shape_add_particle(pl_shape *shape, const double position[3], const double frame[3][3],
                           const double radii[3])
{
    double q[4] = {0, 0, 0, 1};
    if (frame)
        quaternion_of(frame, q);
    push(shape, &shape->positions, position, 3 * sizeof(double));
    push(shape, &shape->orientations, q, sizeof q);
    push(shape, &shape->radii, radii, 3 * sizeof(double));
}

void pl_shape_add_edge(pl_shape *shape, int a, int b)
{
    int32_t edge[2] = {a, b};
    push(shape, &shape->edges, edge, sizeof edge);
}

int pl_shape_particle_count(const pl_shape *shape)
{
    return (int)shape->positions.count;
}

int pl_shape_add_vertex(pl_shape *shape, const double point[3])
{
    push(shape, &shape->vertices, point, 3 * sizeof(double));
    return (int)shape->vertices.count - 1;
}

void pl_shape_add_triangle(pl_shape *shape, int a, int b, int c)
{
    int32_t triangle[3] = {a, b, c};
    push(shape, &shape->triangles, triangle, sizeof triangle);
}

void pl_shape_add_tet(pl_shape *shape, int a, int b, int c, int d)
{
    int32_t tet[4] = {a, b, c, d};
    push(shape, &shape->tets, tet, sizeof tet);
}

static void add_quad(pl_shape *shape, int a, int b, int c, int d)
{
    pl_shape_add_triangle(shape, a, b, c);
    pl_shape_add_triangle(shape, a, c, d);
}

/* ---- Frames -------------------------------------------------------------------------------- */

static void normalise(double v[3])
{
    double length = sqrt(pl_dot3(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

void pl_frame_from(const double tangent[3], const double side[3], double frame[3][3])
{
    memcpy(frame[0], tangent, 3 * sizeof(double));
    normalise(frame[0]);
    double along = pl_dot3(side, frame[0]);
    for (int k = 0; k < 3; k++)
        frame[1][k] = side[k] - along * frame[0][k];
    normalise(frame[1]);
    pl_cross3(frame[0], frame[1], frame[2]);
}

/* ---- Boxes --------------------------------------------------------------------------------- */

/* Vertices slice by slice along x: the two outermost slices are full grids, the others only the
   rim, numbered around. */
typedef struct box_grid {
    int nx, ny, nz;
    int first;
} box_grid;

static int rim_of(const box_grid *grid, int j, int k)
{
    int ny = grid->ny, nz = grid->nz;
    if (k == 0)
        return j;
    if (j == ny)
        return ny + k;
    if (k == nz)
        return ny + nz + (ny - j);
    return 2 * ny + nz + (nz - k);
}

static void rim_point(const box_grid *grid, int s, int *j, int *k)
{
    int ny = grid->ny, nz = grid->nz;
    s %= 2 * (ny + nz);
    *j = s <= ny ? s : s <= ny + nz ? ny : s <= 2 * ny + nz ? 2 * ny + nz - s : 0;
    *k = s <= ny ? 0 : s <= ny + nz ? s - ny : s <= 2 * ny + nz ? nz : 2 * (ny + nz) - s;
}

static int box_vertex(const box_grid *grid, int i, int j, int k)
{
    int full = (grid->ny + 1) * (grid->nz + 1), rim = 2 * (grid->ny + grid->nz);
    if (i == 0)
        return grid->first + j * (grid->nz + 1) + k;
    int slice = grid->first + full + (i - 1) * rim;
    return slice + (i == grid->nx ? j * (grid->nz + 1) + k : rim_of(grid, j, k));
}

static void add_box_vertex(pl_shape *shape, const box_grid *grid, const double size[3], int i,
                           int j, int k)
{
    double point[3] = {size[0] * (2 * i - grid->nx) / (2 * grid->nx),
                       size[1] * (2 * j - grid->ny) / (2 * grid->ny),
                       size[2] * (2 * k - grid->nz) / (2 * grid->nz)};
    pl_shape_add_vertex(shape, point);
}

static void add_box_vertices(pl_shape *shape, const box_grid *grid, const double size[3])
{
    for (int i = 0; i <= grid->nx; i++) {
        if (i == 0 || i == grid->nx) {
            for (int j = 0; j <= grid->ny; j++)
                for (int k = 0; k <= grid->nz; k++)
                    add_box_vertex(shape, grid, size, i, j, k);
            continue;
        }
        for (int s = 0; s < 2 * (grid->ny + grid->nz); s++) {
            int j, k;
            rim_point(grid, s, &j, &k);
            add_box_vertex(shape, grid, size, i, j, k);
        }
    }
}

void pl_shape_add_box_skin(pl_shape *shape, const double size[3], int nx, int ny, int nz)
{
    box_grid grid = {nx, ny, nz, (int)shape->vertices.count};
    add_box_vertices(shape, &grid, size);
    for (int j = 0; j < ny; j++) {
        for (int k = 0; k < nz; k++) {
            add_quad(shape, box_vertex(&grid, 0, j, k), box_vertex(&grid, 0, j, k + 1),
                     box_vertex(&grid, 0, j + 1, k + 1), box_vertex(&grid, 0, j + 1, k));
            add_quad(shape, box_vertex(&grid, nx, j, k), box_vertex(&grid, nx, j + 1, k),
                     box_vertex(&grid, nx, j + 1, k + 1), box_vertex(&grid, nx, j, k + 1));
        }
    }
    for (int i = 0; i < nx; i++) {
        for (int s = 0; s < 2 * (ny + nz); s++) {
            int j0, k0, j1, k1;
            rim_point(&grid, s, &j0, &k0);
            rim_point(&grid, s + 1, &j1, &k1);
            add_quad(shape, box_vertex(&grid, i, j0, k0), box_vertex(&grid, i, j1, k1),
                     box_vertex(&grid, i + 1, j1, k1), box_vertex(&grid, i + 1, j0, k0));
        }
    }
}

/* ---- Tubes --------------------------------------------------------------------------------- */

int pl_shape_add_ring(pl_shape *shape, const double centre[3], const double frame[3][3],
                      const double half[2], int sides)
{
    int first = (int)shape->vertices.count;
    for (int s = 0; s < sides; s++) {
        double c, d, point[3];
        pl_turn((double)s / sides, &c, &d);
        for (int k = 0; k < 3; k++)
            point[k] = centre[k] + (half[0] * c * frame[1][k] + half[1] * d * frame[2][k]);
        pl_shape_add_vertex(shape, point);
    }
    return first;
}

void pl_shape_join_rings(pl_shape *shape, int first, int second, int sides, int turn)
{
    for (int s = 0; s < sides; s++) {
        int next = (s + 1) % sides;
        add_quad(shape, first + s, first + next, second + (next + turn) % sides,
                 second + (s + turn) % sides);
    }
}

void pl_shape_close_ring(pl_shape *shape, int ring, int sides, const double point[3], bool ahead)
{
    int centre = pl_shape_add_vertex(shape, point);
    for (int s = 0; s < sides; s++) {
        int a = ring + s, b = ring + (s + 1) % sides;
        pl_shape_add_triangle(shape, centre, ahead ? a : b, ahead ? b : a);
    }
}
