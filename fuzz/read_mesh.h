/* What the fuzzers of mesh readers do with their bytes: read, finish, and trap where the result
   breaks the contract of pl_mesh. */
#ifndef PLIANT_FUZZ_READ_MESH_H
#define PLIANT_FUZZ_READ_MESH_H

#include <math.h>

#include "io/mesh_readers.h"

static inline void trap_unless(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static inline void check_indices(const int32_t *indices, size_t count, int limit)
{
    for (size_t i = 0; indices && i < count; i++)
        trap_unless(indices[i] >= 0 && indices[i] < limit);
}

static inline void check_floats(const float *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        trap_unless(isfinite(values[i]));
}

static inline void check_mesh(const pl_mesh *mesh)
{
    const pl_look *look = &mesh->look;
    size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    for (size_t i = 0; i < 3 * vertices; i++)
        trap_unless(isfinite(mesh->positions[i]));
    check_indices(mesh->triangles, 3 * triangles, mesh->vertex_count);
    check_indices(mesh->lines, 2 * (size_t)mesh->line_count, mesh->vertex_count);
    check_indices(mesh->tets, 4 * (size_t)mesh->tet_count, mesh->vertex_count);
    check_indices(look->triangle_materials, triangles, look->material_count);
    check_indices(look->triangle_groups, triangles, look->group_count);
    check_floats(look->normals, 3 * vertices);
    check_floats(look->tangents, 4 * vertices);
    check_floats(look->colours, 4 * vertices);
    for (int set = 0; set < look->uv_set_count; set++)
        check_floats(look->uvs[set], 2 * vertices);
}

static inline void read_mesh(pl_status (*read)(pl_mesh_build *, const pl_mesh_source *, pl_error *),
                             const char *name, const uint8_t *data, size_t size)
{
    pl_mesh_build build;
    pl_mesh mesh = {0};
    pl_error error;
    pl_mesh_source source = {data, size, name, false};
    if (pl_mesh_build_init(&build, NULL, size, &error) != PL_OK)
        return;
    if (read(&build, &source, &error) == PL_OK &&
        pl_mesh_build_finish(&build, source.name, &mesh, &error) == PL_OK)
        check_mesh(&mesh);
    pl_mesh_build_free(&build);
    pl_mesh_free(&mesh);
}

#endif
