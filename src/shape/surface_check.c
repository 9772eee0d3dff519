/* What makes a mesh unreadable, said with the place. */
#include <math.h>

#include "base/error.h"
#include "shape/check.h"
#include "shape/surface_parts.h"

/* Cubes of lengths stay within the range of numbers. */
#define LARGEST_COORDINATE 1e90

static pl_status check_indices(const char *what, int count, int corners, const int32_t *indices,
                               int vertices, pl_error *error)
{
    PL_CHECK(count >= 0 && count <= PL_MAX_MODEL_COUNT, PL_ERROR_ARGUMENT, error, what,
             "there must be 0 to %d of them, not %d", PL_MAX_MODEL_COUNT, count);
    PL_CHECK(count == 0 || indices, PL_ERROR_ARGUMENT, error, what,
             "there are %d of them, but the array is missing", count);
    for (size_t i = 0; i < (size_t)count * (size_t)corners; i++)
        PL_CHECK(indices[i] >= 0 && indices[i] < vertices, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("%s[%zu]", what, i / (size_t)corners),
                 "vertex %d is out of range: the mesh has %d", (int)indices[i], vertices);
    return PL_OK;
}

pl_status pl_surface_check(const pl_mesh *mesh, double weld, pl_error *error)
{
    PL_CHECK(mesh, PL_ERROR_ARGUMENT, error, "mesh", "there is none");
    PL_CHECK(weld >= 0 && weld <= 0.1, PL_ERROR_ARGUMENT, error, "weld",
             "must be from 0 to 0.1 of the mesh's size, not %g", weld);
    int vertices = mesh->vertex_count;
    PL_CHECK(vertices >= 0 && vertices <= PL_MAX_MODEL_COUNT, PL_ERROR_ARGUMENT, error, "positions",
             "there must be 0 to %d vertices, not %d", PL_MAX_MODEL_COUNT, vertices);
    PL_CHECK(vertices == 0 || mesh->positions, PL_ERROR_ARGUMENT, error, "positions",
             "there are %d vertices, but the array is missing", vertices);
    PL_TRY(check_indices("triangles", mesh->triangle_count, 3, mesh->triangles, vertices, error));
    PL_TRY(check_indices("lines", mesh->line_count, 2, mesh->lines, vertices, error));
    PL_TRY(check_indices("tets", mesh->tet_count, 4, mesh->tets, vertices, error));
    PL_CHECK(mesh->triangle_count || mesh->line_count || mesh->tet_count, PL_ERROR_ARGUMENT, error,
             "mesh", "it has no triangles, lines or tetrahedra");
    for (int i = 0; i < vertices; i++)
        for (int k = 0; k < 3; k++) {
            double value = mesh->positions[3 * (size_t)i + (size_t)k];
            PL_CHECK(isfinite(value), PL_ERROR_ARGUMENT, error, PL_WHERE("positions[%d]", i),
                     "coordinate %d of vertex %d is not a number", k, i);
            PL_CHECK(fabs(value) <= LARGEST_COORDINATE, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("positions[%d]", i), "coordinate %d of vertex %d is too large: %g", k,
                     i, value);
        }
    return PL_OK;
}
