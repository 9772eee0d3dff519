/* Which triangles share edges, and what follows from that alone: components, whether they are
   closed, edges and points that are not those of a surface. */
#include <string.h>

#include "base/error.h"
#include "shape/surface_parts.h"

bool pl_surface_edges_make(const pl_surface *surface, pl_surface_edges *edges)
{
    pl_memory *memory = surface->memory;
    size_t sides = 3 * (size_t)surface->triangle_count;
    pl_tuples seen;
    memset(edges, 0, sizeof *edges);
    edges->edge_of = PL_NEW(memory, int32_t, sides);
    edges->sides = PL_NEW(memory, int32_t, sides);
    if (!edges->edge_of || !edges->sides || !pl_tuples_make(memory, 2, sides, &seen))
        return false;
    for (size_t s = 0; s < sides; s++) {
        size_t next = s % 3 == 2 ? s - 2 : s + 1;
        int32_t ends[2] = {surface->triangles[s], surface->triangles[next]};
        edges->edge_of[s] = pl_tuples_add(&seen, ends);
    }
    edges->edge_count = seen.count;
    pl_tuples_free(memory, &seen);
    edges->start = PL_NEW(memory, int32_t, (size_t)edges->edge_count + 2);
    if (!edges->start)
        return false;
    for (size_t s = 0; s < sides; s++)
        edges->start[edges->edge_of[s] + 2]++;
    for (int e = 0; e < edges->edge_count; e++)
        edges->start[e + 2] += edges->start[e + 1];
    for (size_t s = 0; s < sides; s++)
        edges->sides[edges->start[edges->edge_of[s] + 1]++] = (int32_t)s;
    return true;
}

void pl_surface_edges_free(pl_memory *memory, pl_surface_edges *edges)
{
    pl_memory_free(memory, edges->edge_of);
    pl_memory_free(memory, edges->start);
    pl_memory_free(memory, edges->sides);
    memset(edges, 0, sizeof *edges);
}

/* Sets that are joined; a set is called by its lowest member. */
static int32_t set_of(int32_t *parent, int32_t member)
{
    while (parent[member] != member) {
        parent[member] = parent[parent[member]];
        member = parent[member];
    }
    return member;
}

static void sets_join(int32_t *parent, int32_t a, int32_t b)
{
    a = set_of(parent, a), b = set_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void sets_clear(int32_t *parent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parent[i] = (int32_t)i;
}

/* Components get numbers in the order of their first triangle that is not flat. */
static void number_components(pl_surface *surface, const pl_surface_edges *edges, const bool *flat,
                              int32_t *parent, int32_t *number)
{
    sets_clear(parent, (size_t)surface->triangle_count);
    for (int e = 0; e < edges->edge_count; e++)
        for (int i = edges->start[e] + 1; i < edges->start[e + 1]; i++)
            sets_join(parent, edges->sides[i] / 3, edges->sides[i - 1] / 3);
    memset(number, -1, (size_t)surface->triangle_count * sizeof *number);
    for (int t = 0; t < surface->triangle_count; t++) {
        int set = set_of(parent, t);
        if (number[set] < 0 && !flat[t])
            number[set] = surface->component_count++;
    }
    for (int t = 0; t < surface->triangle_count; t++)
        surface->triangle_component[t] = number[set_of(parent, t)];
}

static void count_edges(pl_surface *surface, const pl_surface_edges *edges)
{
    pl_mesh_report *report = &surface->report;
    for (int c = 0; c < surface->component_count; c++)
        surface->component_closed[c] = true;
    for (int e = 0; e < edges->edge_count; e++) {
        int sides = edges->start[e + 1] - edges->start[e];
        int component = surface->triangle_component[edges->sides[edges->start[e]] / 3];
        if (component < 0 || sides == 2)
            continue;
        surface->component_closed[component] = false;
        report->boundary_edges += sides == 1;
        report->nonmanifold_edges += sides > 2;
    }
    report->components = surface->component_count;
    for (int c = 0; c < surface->component_count; c++)
        report->closed_components += surface->component_closed[c];
}

/* The corner of a side's triangle that lies on `point`: one of the side's two ends. */
static int32_t corner_at(const pl_surface *surface, int32_t side, int32_t point)
{
    int32_t next = side % 3 == 2 ? side - 2 : side + 1;
    return surface->triangles[side] == point ? side : next;
}

/* A point of a surface has one fan of triangles, held together by edges of at most two. `parent`
   has a set per corner, `fan` an entry per point: its set so far, -2 = not seen, -3 = no
   surface. */
static void count_points(pl_surface *surface, const pl_surface_edges *edges, int32_t *parent,
                         int32_t *fan)
{
    sets_clear(parent, 3 * (size_t)surface->triangle_count);
    for (int p = 0; p < surface->point_count; p++)
        fan[p] = -2;
    for (int e = 0; e < edges->edge_count; e++) {
        int32_t first = edges->sides[edges->start[e]];
        int32_t ends[2] = {surface->triangles[first],
                           surface->triangles[first % 3 == 2 ? first - 2 : first + 1]};
        for (int k = 0; k < 2; k++) {
            if (edges->start[e + 1] - edges->start[e] > 2)
                fan[ends[k]] = -3;
            for (int i = edges->start[e] + 1; i < edges->start[e + 1]; i++)
                sets_join(parent, corner_at(surface, first, ends[k]),
                          corner_at(surface, edges->sides[i], ends[k]));
        }
    }
    for (int32_t s = 0; s < 3 * surface->triangle_count; s++) {
        int32_t point = surface->triangles[s], set = set_of(parent, s);
        if (surface->triangle_component[s / 3] < 0 || fan[point] == -3)
            continue;
        fan[point] = fan[point] == -2 || fan[point] == set ? set : -3;
    }
    for (int p = 0; p < surface->point_count; p++)
        surface->report.nonmanifold_points += fan[p] == -3;
}

pl_status pl_surface_find_components(pl_surface *surface, const pl_surface_edges *edges,
                                     const bool *flat, pl_error *error)
{
    pl_memory *memory = surface->memory;
    size_t triangles = (size_t)surface->triangle_count;
    size_t points = (size_t)surface->point_count;
    int32_t *parent = PL_NEW(memory, int32_t, 3 * triangles);
    int32_t *scratch = PL_NEW(memory, int32_t, triangles > points ? triangles : points);
    surface->triangle_component = PL_NEW(memory, int32_t, triangles);
    surface->point_component = PL_NEW(memory, int32_t, points);
    bool fine = parent && scratch && surface->triangle_component && surface->point_component;
    if (fine) {
        number_components(surface, edges, flat, parent, scratch);
        surface->component_closed = PL_NEW(memory, bool, surface->component_count);
        fine = surface->component_closed != NULL;
    }
    if (fine) {
        count_edges(surface, edges);
        count_points(surface, edges, parent, scratch);
        memset(surface->point_component, -1, points * sizeof(int32_t));
        for (size_t s = 3 * triangles; s-- > 0;)
            if (surface->triangle_component[s / 3] >= 0)
                surface->point_component[surface->triangles[s]] =
                    surface->triangle_component[s / 3];
    }
    pl_memory_free(memory, parent);
    pl_memory_free(memory, scratch);
    PL_CHECK(fine, PL_ERROR_MEMORY, error, NULL, "no memory for the repair");
    return PL_OK;
}
