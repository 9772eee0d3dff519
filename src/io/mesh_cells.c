/* Dividing cells into tetrahedra so that neighbours agree without knowing each other: every
   quadrilateral is cut from its vertex of the smallest number, and every cell is a fan of
   tetrahedra from its own smallest vertex to the faces that do not contain it (Dompierre, Labbé,
   Vallet and Camarero 1999, "How to subdivide pyramids, prisms and hexahedra into tetrahedra").
   Prisms and the like that come out with a negative volume are turned over, since formats do not
   agree on which way round they are; tetrahedra of the file are left as they are. */
#include "io/mesh_cells.h"

#include "math/vec3.h"

/* Faces, outwards; a last corner of -1 makes a triangle. */
typedef struct cell_shape {
    int corners, faces;
    int8_t face[6][4];
} cell_shape;

static const cell_shape shapes[PL_CELL_KINDS] = {
    [PL_CELL_LINE] = {2, 0, {{0}}},
    [PL_CELL_TRIANGLE] = {3, 0, {{0}}},
    [PL_CELL_QUAD] = {4, 1, {{0, 1, 2, 3}}},
    [PL_CELL_TET] = {4, 0, {{0}}},
    [PL_CELL_PYRAMID] =
        {5, 5, {{0, 3, 2, 1}, {0, 1, 4, -1}, {1, 2, 4, -1}, {2, 3, 4, -1}, {3, 0, 4, -1}}},
    [PL_CELL_PRISM] = {6,
                       5,
                       {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}},
    [PL_CELL_HEX] =
        {8,
         6,
         {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}},
};

int pl_cell_corners(pl_cell_kind kind)
{
    return shapes[kind].corners;
}

/* One or two triangles of a face, fanned from its smallest vertex; how many. */
static int cut_face(const int8_t face[4], const int32_t *vertices, int32_t out[2][3])
{
    int count = face[3] < 0 ? 3 : 4, smallest = 0;
    for (int i = 1; i < count; i++)
        if (vertices[face[i]] < vertices[face[smallest]])
            smallest = i;
    for (int k = 0; k < count - 2; k++) {
        out[k][0] = vertices[face[smallest]];
        out[k][1] = vertices[face[(smallest + k + 1) % count]];
        out[k][2] = vertices[face[(smallest + k + 2) % count]];
    }
    return count - 2;
}

/* Six times the volume of a tetrahedron. */
static double volume(const pl_mesh_build *build, const int32_t v[4])
{
    pl_vec3 p[4];
    for (int i = 0; i < 4; i++) {
        const double *at = (const double *)build->positions.data + (size_t)v[i] * 3;
        p[i] = pl_v3(at[0], at[1], at[2]);
    }
    return pl_v3_dot(pl_v3_cross(pl_v3_sub(p[1], p[0]), pl_v3_sub(p[2], p[0])),
                     pl_v3_sub(p[3], p[0]));
}

static bool is_in(int32_t vertex, const int32_t triangle[3])
{
    return vertex == triangle[0] || vertex == triangle[1] || vertex == triangle[2];
}

/* At most six tetrahedra; those that collapsed corners leave flat are not made. */
static int divide(const cell_shape *shape, const int32_t *vertices, int32_t tets[6][4])
{
    int32_t apex = vertices[0], triangles[2][3];
    int count = 0;
    for (int i = 1; i < shape->corners; i++)
        apex = vertices[i] < apex ? vertices[i] : apex;
    for (int f = 0; f < shape->faces; f++) {
        int n = cut_face(shape->face[f], vertices, triangles);
        for (int k = 0; k < n && count < 6; k++) {
            const int32_t *t = triangles[k];
            /* A face that contains the apex is fanned from it, so each of its triangles has it. */
            if (is_in(apex, t) || t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
                continue;
            tets[count][0] = apex;
            for (int j = 0; j < 3; j++)
                tets[count][j + 1] = t[j];
            count++;
        }
    }
    return count;
}

static bool add_solid(pl_mesh_build *build, const cell_shape *shape, const int32_t *vertices)
{
    int32_t tets[6][4];
    double sum = 0;
    int count = divide(shape, vertices, tets);
    for (int i = 0; i < count; i++)
        sum += volume(build, tets[i]);
    for (int i = 0; i < count; i++) {
        int32_t turned[4] = {tets[i][0], tets[i][2], tets[i][1], tets[i][3]};
        if (!pl_mesh_build_tet(build, sum < 0 ? turned : tets[i]))
            return false;
    }
    return true;
}

bool pl_cell_add(pl_mesh_build *build, pl_cell_kind kind, const int32_t *vertices)
{
    int32_t triangles[2][3];
    switch (kind) {
    case PL_CELL_LINE:
        return pl_mesh_build_line(build, vertices[0], vertices[1]);
    case PL_CELL_TRIANGLE:
        return pl_mesh_build_triangle(build, vertices[0], vertices[1], vertices[2]);
    case PL_CELL_QUAD:
        cut_face(shapes[kind].face[0], vertices, triangles);
        return pl_mesh_build_triangle(build, triangles[0][0], triangles[0][1], triangles[0][2]) &&
               pl_mesh_build_triangle(build, triangles[1][0], triangles[1][1], triangles[1][2]);
    case PL_CELL_TET:
        return pl_mesh_build_tet(build, vertices);
    case PL_CELL_PYRAMID:
    case PL_CELL_PRISM:
    case PL_CELL_HEX:
        return add_solid(build, &shapes[kind], vertices);
    default:
        return true;
    }
}

void pl_cells_finish(pl_mesh_build *build)
{
    if (build->triangles.count > 0 || build->tets.count > 0)
        build->lines.count = 0;
}
