/* Tetrahedra: wrongly wound ones are turned, flat and double ones dropped; and the surface of those
   that are left. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/surface_parts.h"
#include "shape/surface_tuples.h"
#include "shape/tet_flat.h"

/* Six times the volume against the longest edge cubed: below this a tetrahedron is flat. */
#define FLAT 1e-12

/* Six times the volume over the longest edge cubed; 0 for what is flat. */
static double relative_volume(const pl_surface *surface, const int32_t tet[4])
{
    double p[4][3], e[3][3], longest2 = 0;
    for (int c = 0; c < 4; c++)
        pl_surface_local(surface, tet[c], p[c]);
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            double x = p[a][0] - p[b][0], y = p[a][1] - p[b][1], z = p[a][2] - p[b][2];
            longest2 = fmax(longest2, x * x + y * y + z * z);
        }
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            e[c][k] = p[c + 1][k] - p[0][k];
    double volume = e[2][0] * (e[0][1] * e[1][2] - e[0][2] * e[1][1]) +
                    e[2][1] * (e[0][2] * e[1][0] - e[0][0] * e[1][2]) +
                    e[2][2] * (e[0][0] * e[1][1] - e[0][1] * e[1][0]);
    double cube = longest2 * sqrt(longest2);
    return cube > 0 && fabs(volume) > FLAT * cube ? volume / cube : 0;
}

pl_status pl_surface_take_tets(pl_surface *surface, const pl_mesh *mesh, pl_error *error)
{
    pl_memory *memory = surface->memory;
    pl_tuples seen;
    if (mesh->tet_count == 0)
        return PL_OK;
    surface->tets = PL_NEW(memory, int32_t, 4 * (size_t)mesh->tet_count);
    PL_CHECK(surface->tets && pl_tuples_make(memory, 4, (size_t)mesh->tet_count, &seen),
             PL_ERROR_MEMORY, error, NULL, "no memory for %d tetrahedra", mesh->tet_count);
    for (int i = 0; i < mesh->tet_count; i++) {
        int32_t tet[4];
        for (int c = 0; c < 4; c++)
            tet[c] = surface->point_of_vertex[mesh->tets[4 * (size_t)i + (size_t)c]];
        double volume = relative_volume(surface, tet);
        int known = seen.count;
        if (volume == 0) {
            surface->report.flat_tets++;
            continue;
        }
        if (pl_tuples_add(&seen, tet) < known) {
            surface->report.duplicate_tets++;
            continue;
        }
        if (volume < 0) {
            int32_t third = tet[2];
            tet[2] = tet[3], tet[3] = third;
            surface->report.turned_tets++;
        }
        memcpy(&surface->tets[4 * (size_t)surface->tet_count++], tet, sizeof tet);
    }
    pl_tuples_free(memory, &seen);
    return PL_OK;
}

void pl_surface_drop_flat_tets(pl_surface *surface)
{
    int kept = 0;
    for (size_t t = 0; t < (size_t)surface->tet_count; t++) {
        const int32_t *tet = &surface->tets[4 * t];
        double p[4][3], volume6, longest2;
        for (int c = 0; c < 4; c++)
            pl_surface_local(surface, tet[c], p[c]);
        pl_tet_measure((const double *[]){p[0], p[1], p[2], p[3]}, &volume6, &longest2);
        if (pl_tet_is_flat(volume6, longest2, 1))
            surface->report.flat_tets++;
        else
            memmove(&surface->tets[4 * (size_t)kept++], tet, 4 * sizeof *tet);
    }
    surface->tet_count = kept;
}

pl_status pl_surface_tet_boundary(const pl_surface *surface, int32_t **faces, int *count,
                                  pl_error *error)
{
    /* outward faces of (a, b, c, d) with (b − a) × (c − a) · (d − a) > 0 */
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    pl_memory *memory = surface->memory;
    size_t most = 4 * (size_t)surface->tet_count;
    pl_tuples seen;
    *faces = NULL;
    *count = 0;
    PL_CHECK(pl_tuples_make(memory, 3, most, &seen), PL_ERROR_MEMORY, error, NULL,
             "no memory for the faces of %d tetrahedra", surface->tet_count);
    int32_t *first = PL_NEW(memory, int32_t, most); /* 4 tet + face; -1 = had by several */
    *faces = PL_NEW(memory, int32_t, 3 * most);
    for (size_t i = 0; first && *faces && i < most; i++) {
        int32_t corners[3];
        for (int c = 0; c < 3; c++)
            corners[c] = surface->tets[4 * (i / 4) + (size_t)face[i % 4][c]];
        int known = seen.count, number = pl_tuples_add(&seen, corners);
        first[number] = number == known ? (int32_t)i : -1;
    }
    for (int f = 0; first && *faces && f < seen.count; f++) {
        if (first[f] < 0)
            continue;
        for (int c = 0; c < 3; c++)
            (*faces)[3 * (size_t)*count + (size_t)c] =
                surface->tets[4 * (size_t)(first[f] / 4) + (size_t)face[first[f] % 4][c]];
        ++*count;
    }
    bool fine = first && *faces;
    pl_memory_free(memory, first);
    pl_tuples_free(memory, &seen);
    if (fine)
        return PL_OK;
    pl_memory_free(memory, *faces);
    *faces = NULL;
    return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the faces of %d tetrahedra",
                   surface->tet_count);
}
