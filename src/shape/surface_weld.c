/* From vertices to points: a vertex becomes part of the first point nearer than the weld distance,
   or a point of its own. So every vertex lies within that distance of its point, points keep it
   from one another, equal vertices always share a point, and chains of close vertices do not
   collapse. Points are found by hashing the cells of a grid. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "shape/surface_parts.h"

/* Cells this many weld distances wide: a vertex looks into few cells, and a cell holds few points,
   as they keep their distance. */
#define CELL 4.0

/* Below this, cells have no exact numbers; only equal vertices are welded. */
#define LEAST_WELD 1e-13

/* With extents smaller than this, volumes are no numbers any more. */
#define LEAST_SIZE 1e-90

typedef struct surface_grid {
    double distance, cell; /* cell 0 = by coordinates */
    double lower[3];
    size_t slot_count;
    int32_t *slots, *next; /* first point of a slot; the next of the same one */
} surface_grid;

static void mark_used(const int32_t *indices, size_t count, int32_t *marks)
{
    for (size_t i = 0; i < count; i++)
        marks[indices[i]] = 0;
}

static pl_status measure(pl_surface *surface, const pl_mesh *mesh, pl_error *error)
{
    pl_mesh_report *report = &surface->report;
    for (int i = 0; i < mesh->vertex_count; i++) {
        if (surface->point_of_vertex[i] < 0)
            continue;
        bool first = report->used_vertices++ == 0;
        for (int k = 0; k < 3; k++) {
            double x = mesh->positions[3 * (size_t)i + (size_t)k];
            report->lower[k] = first || x < report->lower[k] ? x : report->lower[k];
            report->upper[k] = first || x > report->upper[k] ? x : report->upper[k];
        }
    }
    double extent[3], largest = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        extent[k] = report->upper[k] - report->lower[k];
        largest = fmax(largest, extent[k]);
    }
    PL_CHECK(largest > LEAST_SIZE, PL_ERROR_ARGUMENT, error, "mesh",
             "it has no extent: all its vertices are at one place");
    for (int k = 0; k < 3; k++)
        sum += extent[k] / largest * (extent[k] / largest);
    surface->size = largest * sqrt(sum);
    return PL_OK;
}

static uint64_t hash_cell(const double cell[3])
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        double value = cell[k] + 0.0; /* −0 and 0 are one place */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = pl_mix64(hash + bits + PL_RNG_STEP);
    }
    return hash;
}

/* The lowest point near p in one cell, or `best` if none is lower. */
static int search_cell(const surface_grid *grid, const pl_surface *surface, const double p[3],
                       const double cell[3], int best)
{
    size_t slot = hash_cell(cell) & (grid->slot_count - 1);
    for (int i = grid->slots[slot]; i >= 0; i = grid->next[i]) {
        const double *q = &surface->points[3 * (size_t)i];
        double x = fabs(p[0] - q[0]), y = fabs(p[1] - q[1]), z = fabs(p[2] - q[2]), d;
        bool near = (x == 0 && y == 0 && z == 0);
        if (!near && x < grid->distance && y < grid->distance && z < grid->distance) {
            d = (x / grid->distance) * (x / grid->distance) +
                (y / grid->distance) * (y / grid->distance) +
                (z / grid->distance) * (z / grid->distance);
            near = d < 1;
        }
        if (near && (best < 0 || i < best))
            best = i;
    }
    return best;
}

static void cell_of(const surface_grid *grid, const double p[3], double shift, double cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = grid->cell > 0 ? floor((p[k] - grid->lower[k] + shift) / grid->cell) : p[k];
}

/* The point a place belongs to, or -1. */
static int find_point(const surface_grid *grid, const pl_surface *surface, const double p[3])
{
    double low[3], high[3], cell[3];
    int best = -1;
    cell_of(grid, p, -1.0001 * grid->distance, low);
    cell_of(grid, p, 1.0001 * grid->distance, high);
    if (grid->cell == 0)
        return search_cell(grid, surface, p, low, best);
    for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
                best = search_cell(grid, surface, p, cell, best);
    return best;
}

static int add_point(surface_grid *grid, pl_surface *surface, const double p[3])
{
    int point = surface->point_count++;
    memcpy(&surface->points[3 * (size_t)point], p, 3 * sizeof *p);
    double cell[3];
    cell_of(grid, p, 0, cell);
    size_t slot = hash_cell(cell) & (grid->slot_count - 1);
    grid->next[point] = grid->slots[slot];
    grid->slots[slot] = point;
    return point;
}

static bool grid_make(pl_memory *memory, const pl_surface *surface, double weld, surface_grid *grid)
{
    size_t used = (size_t)surface->report.used_vertices;
    *grid = (surface_grid){.slot_count = 16};
    while (grid->slot_count < 2 * used)
        grid->slot_count *= 2;
    if (weld >= LEAST_WELD) {
        grid->distance = weld * surface->size;
        grid->cell = CELL * grid->distance;
    }
    memcpy(grid->lower, surface->report.lower, sizeof grid->lower);
    grid->slots = PL_NEW(memory, int32_t, grid->slot_count);
    grid->next = PL_NEW(memory, int32_t, used);
    if (grid->slots)
        memset(grid->slots, -1, grid->slot_count * sizeof *grid->slots);
    return grid->slots && grid->next;
}

pl_status pl_surface_weld(pl_surface *surface, const pl_mesh *mesh, double weld, pl_error *error)
{
    pl_memory *memory = surface->memory;
    size_t vertices = (size_t)mesh->vertex_count;
    surface->point_of_vertex = PL_NEW(memory, int32_t, vertices);
    PL_CHECK(surface->point_of_vertex, PL_ERROR_MEMORY, error, NULL, "no memory for the repair");
    memset(surface->point_of_vertex, -1, vertices * sizeof(int32_t));
    mark_used(mesh->triangles, 3 * (size_t)mesh->triangle_count, surface->point_of_vertex);
    mark_used(mesh->lines, 2 * (size_t)mesh->line_count, surface->point_of_vertex);
    mark_used(mesh->tets, 4 * (size_t)mesh->tet_count, surface->point_of_vertex);
    PL_TRY(measure(surface, mesh, error));

    surface_grid grid;
    bool fine = grid_make(memory, surface, weld, &grid);
    surface->points = PL_NEW(memory, double, 3 * (size_t)surface->report.used_vertices);
    fine = fine && surface->points;
    for (size_t i = 0; fine && i < vertices; i++) {
        const double *p = &mesh->positions[3 * i];
        if (surface->point_of_vertex[i] < 0)
            continue;
        int point = find_point(&grid, surface, p);
        surface->point_of_vertex[i] = point >= 0 ? point : add_point(&grid, surface, p);
    }
    pl_memory_free(memory, grid.slots);
    pl_memory_free(memory, grid.next);
    PL_CHECK(fine, PL_ERROR_MEMORY, error, NULL, "no memory for the repair");
    surface->report.points = surface->point_count;
    surface->report.welded = surface->report.used_vertices - surface->point_count;
    return PL_OK;
}
