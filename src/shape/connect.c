/* The oriented graph of a body, by its kind. */
#include "shape/connect.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/connect_parts.h"

static pl_status allocate(pl_memory *memory, const pl_samples *samples, pl_graph_parts *parts,
                          pl_error *error)
{
    size_t n = (size_t)samples->count;
    parts->particle_count = samples->count;
    parts->positions = PL_NEW(memory, double, 3 * n);
    parts->orientations = PL_NEW(memory, double, 4 * n);
    parts->radii = PL_NEW(memory, double, 3 * n);
    PL_CHECK(parts->positions && parts->orientations && parts->radii, PL_ERROR_MEMORY, error, NULL,
             "no memory for %d particles", samples->count);
    memcpy(parts->positions, samples->points, 3 * n * sizeof(double));
    return PL_OK;
}

static pl_status connect_kind(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                              const pl_samples *samples, const pl_connect_def *def,
                              pl_graph_parts *parts, pl_error *error)
{
    PL_TRY(allocate(memory, samples, parts, error));
    switch (def->kind) {
    case PL_COOK_SOLID:
        return pl_connect_solid(memory, surface, inside, samples, def, parts, error);
    case PL_COOK_SHELL:
        return pl_connect_shell(memory, surface, samples, def, parts, error);
    default:
        return pl_connect_rod(memory, surface, inside, samples, def, parts, error);
    }
}

pl_status pl_connect(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                     const pl_samples *samples, const pl_connect_def *def, pl_graph_parts *parts,
                     pl_error *error)
{
    *parts = (pl_graph_parts){0};
    PL_CHECK(samples->count > 0, PL_ERROR_ARGUMENT, error, "samples", "there are none");
    PL_CHECK(samples->distance > 0 && samples->distance < INFINITY, PL_ERROR_ARGUMENT, error,
             "samples.distance", "positive, not %g", samples->distance);
    PL_CHECK(def->edge_count >= 0, PL_ERROR_ARGUMENT, error, "edge_count", "not %d",
             def->edge_count);
    PL_CHECK(def->thickness >= 0 && def->thickness < INFINITY, PL_ERROR_ARGUMENT, error,
             "thickness", "not %g", def->thickness);
    PL_CHECK(def->kind != PL_COOK_SOLID || inside, PL_ERROR_ARGUMENT, error, "inside",
             "a solid needs an inside test");
    PL_CHECK(def->kind >= PL_COOK_SOLID && def->kind <= PL_COOK_ROD, PL_ERROR_ARGUMENT, error,
             "kind", "solid, shell or rod, not %d", (int)def->kind);
    pl_status status = connect_kind(memory, surface, inside, samples, def, parts, error);
    if (status != PL_OK)
        pl_graph_parts_free(memory, parts);
    return status;
}

void pl_graph_parts_free(pl_memory *memory, pl_graph_parts *parts)
{
    pl_memory_free(memory, parts->positions);
    pl_memory_free(memory, parts->orientations);
    pl_memory_free(memory, parts->radii);
    pl_memory_free(memory, parts->edges);
    *parts = (pl_graph_parts){0};
}
