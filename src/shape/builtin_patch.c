/* Grids of quads to a mesh; and tubes with ends. */
#include "shape/builtin_patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#include "shape/builtin_figure.h"

enum { MATERIALS = 4 };

pl_status pl_patches_init(pl_patches *patches, const pl_allocator *allocator, int vertices,
                          int quads, int points)
{
    memset(patches, 0, sizeof *patches);
    pl_mesh_owner *owner = patches->owner = pl_mesh_owner_create(allocator, 0);
    if (!owner)
        return PL_ERROR_MEMORY;
    size_t n = (size_t)vertices, t = 2 * (size_t)quads;
    patches->vertex_room = vertices;
    patches->triangle_room = 2 * quads;
    patches->point_count = points;
    patches->positions = pl_mesh_owner_alloc(owner, 3 * n, sizeof(double));
    patches->normals = pl_mesh_owner_alloc(owner, 3 * n, sizeof(float));
    patches->colours = pl_mesh_owner_alloc(owner, 4 * n, sizeof(float));
    patches->uvs = pl_mesh_owner_alloc(owner, 2 * n, sizeof(float));
    patches->triangles = pl_mesh_owner_alloc(owner, 3 * t, sizeof(int32_t));
    patches->triangle_materials = pl_mesh_owner_alloc(owner, t, sizeof(int32_t));
    patches->materials = pl_mesh_owner_alloc(owner, MATERIALS, sizeof(pl_look_material));
    patches->points = PL_NEW(pl_mesh_owner_memory(owner), int32_t, n);
    if (patches->positions && patches->normals && patches->colours && patches->uvs &&
        patches->triangles && patches->triangle_materials && patches->materials && patches->points)
        return PL_OK;
    pl_memory_free(pl_mesh_owner_memory(owner), patches->points);
    pl_mesh_owner_destroy(owner);
    return PL_ERROR_MEMORY;
}

int pl_patches_material(pl_patches *patches, const char *name, uint32_t colour, double roughness)
{
    patches->materials[patches->material_count] = pl_plain_material(name, colour, roughness);
    return patches->material_count++;
}

int32_t pl_patches_vertex(pl_patches *patches, pl_vec3 at, double u, double v, double shade,
                          int point)
{
    int32_t i = patches->vertex_count++;
    PL_ASSERT(i < patches->vertex_room && point < patches->point_count);
    double position[3] = {at.x, at.y, at.z};
    float colour[4] = {(float)shade, (float)shade, (float)shade, 1}, uv[2] = {(float)u, (float)v};
    memcpy(patches->positions + 3 * i, position, sizeof position);
    memcpy(patches->colours + 4 * i, colour, sizeof colour);
    memcpy(patches->uvs + 2 * i, uv, sizeof uv);
    patches->points[i] = point;
    return i;
}

static pl_vec3 position_of(const pl_patches *patches, int32_t vertex)
{
    const double *p = patches->positions + 3 * vertex;
    return pl_v3(p[0], p[1], p[2]);
}

static void put_triangle(pl_patches *patches, int32_t a, int32_t b, int32_t c, int material)
{
    int t = patches->triangle_count++;
    PL_ASSERT(t < patches->triangle_room);
    patches->triangles[3 * t] = a;
    patches->triangles[3 * t + 1] = b;
    patches->triangles[3 * t + 2] = c;
    patches->triangle_materials[t] = material;
}

void pl_patches_quad(pl_patches *patches, int32_t a, int32_t b, int32_t c, int32_t d, int material)
{
    double ac = pl_v3_distance(position_of(patches, a), position_of(patches, c));
    double bd = pl_v3_distance(position_of(patches, b), position_of(patches, d));
    if (ac <= bd * 1.000001) {
        put_triangle(patches, a, b, c, material);
        put_triangle(patches, a, c, d, material);
    } else {
        put_triangle(patches, a, b, d, material);
        put_triangle(patches, b, c, d, material);
    }
}

/* The mean of the triangles' normals by area, over all vertices of a point. */
static void set_normals(pl_patches *patches, double *sums)
{
    for (int t = 0; t < patches->triangle_count; t++) {
        const int32_t *corner = patches->triangles + 3 * t;
        pl_vec3 a = position_of(patches, corner[0]), b = position_of(patches, corner[1]);
        pl_vec3 c = position_of(patches, corner[2]);
        pl_vec3 n = pl_v3_cross(pl_v3_sub(b, a), pl_v3_sub(c, a));
        for (int i = 0; i < 3; i++) {
            double *sum = sums + 3 * patches->points[corner[i]];
            sum[0] += n.x;
            sum[1] += n.y;
            sum[2] += n.z;
        }
    }
    for (int v = 0; v < patches->vertex_count; v++) {
        const double *sum = sums + 3 * patches->points[v];
        pl_vec3 n = pl_v3_normalise(pl_v3(sum[0], sum[1], sum[2]));
        float normal[3] = {(float)n.x, (float)n.y, (float)n.z};
        memcpy(patches->normals + 3 * v, normal, sizeof normal);
    }
}

pl_status pl_patches_finish(pl_patches *patches, pl_mesh *mesh)
{
    pl_memory *memory = pl_mesh_owner_memory(patches->owner);
    double *sums = PL_NEW(memory, double, 3 * (size_t)patches->point_count);
    if (sums)
        set_normals(patches, sums);
    bool done = sums != NULL;
    pl_memory_free(memory, sums);
    pl_memory_free(memory, patches->points);
    if (!done) {
        pl_mesh_owner_destroy(patches->owner);
        return PL_ERROR_MEMORY;
    }
    pl_stand(patches->positions, (size_t)patches->vertex_count);
    *mesh = (pl_mesh){.vertex_count = patches->vertex_count,
                      .positions = patches->positions,
                      .triangle_count = patches->triangle_count,
                      .triangles = patches->triangles,
                      .owner = patches->owner};
    mesh->look.normals = patches->normals;
    mesh->look.colours = patches->colours;
    mesh->look.uv_set_count = 1;
    mesh->look.uvs[0] = patches->uvs;
    mesh->look.triangle_materials = patches->triangle_materials;
    mesh->look.material_count = patches->material_count;
    mesh->look.materials = patches->materials;
    return PL_OK;
}

/* ---- Tubes ----------------------------------------------------------------------------------- */

int pl_tube_vertices(const pl_tube *tube)
{
    int side = 2 * tube->half + 1;
    return (8 * tube->half + 1) * tube->rows + 2 * side * side;
}

int pl_tube_quads(const pl_tube *tube)
{
    return 8 * tube->half * (tube->rows - 1) + 8 * tube->half * tube->half;
}

/* Where a place (a, b) of the square grid, −half to half, lies on its ring: rings have 8 m places,
   and the outermost are those of the tube's section. Angles grow from +a towards +b. */
static int ring_place(int a, int b, int m)
{
    int k;
    if (a == m && b < m)
        k = b;
    else if (b == m && a > -m)
        k = 2 * m - a;
    else if (a == -m && b > -m)
        k = 4 * m - b;
    else
        k = 6 * m + a;
    return k < 0 ? k + 8 * m : k % (8 * m);
}

/* `row` is 0 or the last; ends look away from each other. */
static void put_end(pl_patches *patches, const pl_tube *tube, int row, int first_point)
{
    int h = tube->half, side = 2 * h + 1, inner = 0;
    int32_t first = patches->vertex_count;
    pl_vec3 centre = tube->centre(tube->user, row);
    for (int b = -h; b <= h; b++)
        for (int a = -h; a <= h; a++) {
            int m = abs(a) > abs(b) ? abs(a) : abs(b), k = m ? ring_place(a, b, m) : 0;
            double turn = m ? (double)k / (8 * m) : 0;
            pl_vec3 at = tube->place(tube->user, row, turn);
            if (m < h)
                at = pl_v3_add_scaled(centre, (double)m / h, pl_v3_sub(at, centre));
            int point = m == h ? row * 8 * h + k : first_point + inner++;
            double shade = tube->shade(tube->user, row, turn);
            pl_patches_vertex(patches, at, 0.5 + 0.5 * a / h, 0.5 + 0.5 * b / h, shade, point);
        }
    int material = tube->material(tube->user, row ? row - 1 : 0, 0);
    for (int32_t j = 0; j + 1 < side; j++)
        for (int32_t i = 0; i + 1 < side; i++) {
            int32_t p = first + j * side + i;
            if (row)
                pl_patches_quad(patches, p, p + 1, p + side + 1, p + side, material);
            else
                pl_patches_quad(patches, p, p + side, p + side + 1, p + 1, material);
        }
}

void pl_patches_tube(pl_patches *patches, const pl_tube *tube)
{
    int columns = 8 * tube->half, side = 2 * tube->half + 1;
    int32_t first = patches->vertex_count;
    for (int row = 0; row < tube->rows; row++)
        for (int k = 0; k <= columns; k++) {
            double turn = (double)(k % columns) / columns;
            pl_patches_vertex(patches, tube->place(tube->user, row, turn), (double)k / columns,
                              1 - (double)row / (tube->rows - 1),
                              tube->shade(tube->user, row, turn), row * columns + k % columns);
        }
    for (int row = 0; row + 1 < tube->rows; row++)
        for (int k = 0; k < columns; k++) {
            int32_t p = first + row * (columns + 1) + k, up = p + columns + 1;
            int material = tube->material(tube->user, row, (k + 0.5) / columns);
            pl_patches_quad(patches, p, p + 1, up + 1, up, material);
        }
    put_end(patches, tube, 0, columns * tube->rows);
    put_end(patches, tube, tube->rows - 1, columns * tube->rows + side * side);
}
