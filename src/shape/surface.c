/* Repair from beginning to end: check, weld, take over what has an extent, orient, find components.
   The steps stand in surface_check.c, surface_weld.c, surface_tets.c, surface_orient.c and
   surface_edges.c. */
#include "shape/surface.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/surface_parts.h"

/* Height over longest edge: a triangle flatter than this has no direction worth computing. */
#define FLAT 1e-12

static const char NO_MEMORY[] = "no memory for the repair";

static pl_status take_lines(pl_surface *surface, const pl_mesh *mesh, pl_error *error)
{
    surface->lines = PL_NEW(surface->memory, int32_t, 2 * (size_t)mesh->line_count);
    PL_CHECK(surface->lines, PL_ERROR_MEMORY, error, NULL, NO_MEMORY);
    for (size_t i = 0; i < (size_t)mesh->line_count; i++) {
        int32_t a = surface->point_of_vertex[mesh->lines[2 * i]];
        int32_t b = surface->point_of_vertex[mesh->lines[2 * i + 1]];
        if (a == b)
            continue;
        surface->lines[2 * (size_t)surface->line_count] = a;
        surface->lines[2 * (size_t)surface->line_count + 1] = b;
        surface->line_count++;
    }
    return PL_OK;
}

/* Takes triangles of points over, without those that have no three points or were there before. */
static pl_status take_triangles(pl_surface *surface, const int32_t *triangles,
                                const int32_t *point_of, int count, pl_error *error)
{
    pl_memory *memory = surface->memory;
    pl_tuples seen;
    surface->triangles = PL_NEW(memory, int32_t, 3 * (size_t)count);
    surface->source = PL_NEW(memory, int32_t, count);
    PL_CHECK(surface->triangles && surface->source &&
                 pl_tuples_make(memory, 3, (size_t)count, &seen),
             PL_ERROR_MEMORY, error, NULL, NO_MEMORY);
    for (int t = 0; t < count; t++) {
        int32_t corners[3];
        for (int c = 0; c < 3; c++) {
            int32_t corner = triangles[3 * (size_t)t + (size_t)c];
            corners[c] = point_of ? point_of[corner] : corner;
        }
        int known = seen.count;
        if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) {
            surface->report.degenerate++;
        } else if (pl_tuples_add(&seen, corners) < known) {
            surface->report.duplicate++;
        } else {
            memcpy(&surface->triangles[3 * (size_t)surface->triangle_count], corners,
                   sizeof corners);
            surface->source[surface->triangle_count++] = point_of ? t : -1;
        }
    }
    pl_tuples_free(memory, &seen);
    return PL_OK;
}

/* Area in parts of size², 0 for what is flat. */
static double triangle_area(const pl_surface *surface, int triangle)
{
    double p[3][3], n2 = 0, longest2 = 0;
    for (int c = 0; c < 3; c++)
        pl_surface_local(surface, surface->triangles[3 * (size_t)triangle + (size_t)c], p[c]);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double n =
            (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
        double x = p[k][0] - p[i][0], y = p[k][1] - p[i][1], z = p[k][2] - p[i][2];
        n2 += n * n;
        longest2 = fmax(longest2, x * x + y * y + z * z);
    }
    double twice = sqrt(n2);
    return twice > FLAT * longest2 ? 0.5 * twice : 0;
}

static int mark_flat(pl_surface *surface, bool *flat)
{
    int count = 0;
    double area = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        double part = triangle_area(surface, t);
        area += part;
        flat[t] = part == 0;
        count += flat[t];
    }
    surface->report.area = area * surface->size * surface->size;
    return count;
}

static void drop_flat(pl_surface *surface, const bool *flat)
{
    int kept = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        if (flat[t])
            continue;
        memmove(&surface->triangles[3 * (size_t)kept], &surface->triangles[3 * (size_t)t],
                3 * sizeof(int32_t));
        surface->source[kept] = surface->source[t];
        surface->triangle_component[kept] = surface->triangle_component[t];
        kept++;
    }
    surface->report.degenerate += surface->triangle_count - kept;
    surface->triangle_count = kept;
}

/* Flat triangles stay until neighbours are known: where one lies along a seam, it is what holds the
   two sides together, and dropping it opens nothing. */
static pl_status settle_triangles(pl_surface *surface, pl_error *error)
{
    pl_surface_edges edges = {0};
    bool *flat = PL_NEW(surface->memory, bool, surface->triangle_count);
    pl_status status = PL_OK;
    if (!flat || !pl_surface_edges_make(surface, &edges))
        status = pl_fail(error, PL_ERROR_MEMORY, NULL, NO_MEMORY);
    if (status == PL_OK) {
        mark_flat(surface, flat);
        status = pl_surface_orient(surface, &edges, error);
    }
    if (status == PL_OK)
        status = pl_surface_find_components(surface, &edges, flat, error);
    if (status == PL_OK)
        drop_flat(surface, flat);
    pl_surface_edges_free(surface->memory, &edges);
    pl_memory_free(surface->memory, flat);
    return status;
}

static pl_status settle_boundary(pl_surface *surface, pl_error *error)
{
    int32_t *faces;
    int count;
    pl_memory_free(surface->memory, surface->triangles);
    pl_memory_free(surface->memory, surface->source);
    surface->triangles = surface->source = NULL;
    PL_TRY(pl_surface_tet_boundary(surface, &faces, &count, error));
    pl_status status = take_triangles(surface, faces, NULL, count, error);
    pl_memory_free(surface->memory, faces);
    return status;
}

static pl_status repair(pl_surface *surface, const pl_mesh *mesh, double weld, pl_error *error)
{
    pl_mesh_report *report = &surface->report;
    report->vertices = mesh->vertex_count;
    report->triangles = mesh->triangle_count;
    report->lines = mesh->line_count;
    report->tets = mesh->tet_count;
    report->orientable = true;
    PL_TRY(pl_surface_weld(surface, mesh, weld, error));
    PL_TRY(take_lines(surface, mesh, error));
    PL_TRY(pl_surface_take_tets(surface, mesh, error));
    PL_TRY(take_triangles(surface, mesh->triangles, surface->point_of_vertex, mesh->triangle_count,
                          error));
    if (surface->triangle_count == 0 && surface->tet_count > 0)
        PL_TRY(settle_boundary(surface, error));
    pl_surface_drop_flat_tets(surface);
    PL_TRY(settle_triangles(surface, error));
    PL_CHECK(surface->triangle_count || surface->line_count || surface->tet_count || !report->tets,
             PL_ERROR_ARGUMENT, error, "mesh",
             "nothing of it has an extent: all of its tetrahedra, %d, are flat", report->tets);
    PL_CHECK(surface->triangle_count || surface->line_count || surface->tet_count,
             PL_ERROR_ARGUMENT, error, "mesh",
             "nothing of it has an extent: %d triangles have no area or are there twice",
             report->degenerate + report->duplicate);
    return PL_OK;
}

pl_status pl_surface_create(pl_memory *memory, const pl_mesh *mesh, double weld,
                            pl_surface **result, pl_error *error)
{
    *result = NULL;
    PL_TRY(pl_surface_check(mesh, weld, error));
    pl_surface *surface = PL_NEW(memory, pl_surface, 1);
    PL_CHECK(surface, PL_ERROR_MEMORY, error, NULL, NO_MEMORY);
    surface->memory = memory;
    pl_status status = repair(surface, mesh, weld, error);
    if (status != PL_OK) {
        pl_surface_destroy(surface);
        return status;
    }
    *result = surface;
    return PL_OK;
}

void pl_surface_destroy(pl_surface *surface)
{
    if (!surface)
        return;
    pl_memory *memory = surface->memory;
    pl_memory_free(memory, surface->points);
    pl_memory_free(memory, surface->point_of_vertex);
    pl_memory_free(memory, surface->triangles);
    pl_memory_free(memory, surface->source);
    pl_memory_free(memory, surface->triangle_component);
    pl_memory_free(memory, surface->point_component);
    pl_memory_free(memory, surface->component_closed);
    pl_memory_free(memory, surface->lines);
    pl_memory_free(memory, surface->tets);
    pl_memory_free(memory, surface);
}
