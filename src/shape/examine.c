/* What repair and the inside test find in a mesh, for whoever wants to know before cooking it. */
#include "base/error.h"
#include "base/float_env.h"
#include "pliant/cook.h"
#include "shape/inside.h"

static pl_status examine(pl_memory *memory, const pl_surface *surface, pl_mesh_report *report,
                         pl_error *error)
{
    pl_inside *inside;
    PL_TRY(pl_inside_create(memory, surface, &inside, error));
    *report = surface->report;
    report->volume = pl_inside_volume(inside);
    pl_inside_destroy(inside);
    return PL_OK;
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status examine_whole(const pl_mesh *mesh, double weld,
                                                         const pl_allocator *allocator,
                                                         pl_mesh_report *report, pl_error *error)
{
    pl_memory memory;
    pl_surface *surface;
    PL_REQUIRE(mesh && report, PL_ERROR_ARGUMENT, error, NULL, "a mesh and a report are needed");
    *report = (pl_mesh_report){0};
    pl_memory_init(&memory, allocator, 0);
    PL_TRY(pl_surface_create(&memory, mesh, weld, &surface, error));
    pl_status status = examine(&memory, surface, report, error);
    pl_surface_destroy(surface);
    return status;
}

pl_status pl_mesh_examine(const pl_mesh *mesh, double weld, const pl_allocator *allocator,
                          pl_mesh_report *report, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = examine_whole(mesh, weld, allocator, report, error);
    pl_float_env_leave(host);
    return status;
}
