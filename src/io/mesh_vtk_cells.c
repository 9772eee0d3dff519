/* Cells of a legacy VTK file: from numbers of points and numbers of types to what a mesh can
   hold. */
#include "io/mesh_vtk.h"

#include "io/mesh_cells.h"

static pl_status no_memory(const pl_vtk *file)
{
    return pl_mesh_build_no_memory(file->build, file->source->name, file->error);
}

typedef struct list {
    const int32_t *members;
    size_t count;
} list;

static list list_at(const pl_vtk_lists *lists, size_t index)
{
    const size_t *ends = lists->ends.data;
    size_t first = index ? ends[index - 1] : 0;
    return (list){(const int32_t *)lists->members.data + first, ends[index] - first};
}

static pl_status fail_cell(const pl_vtk *file, size_t cell, const char *text)
{
    return pl_fail(file->error, PL_ERROR_FORMAT, pl_mesh_where_file(file->source->name).text,
                   "cell %zu %s", cell, text);
}

static pl_status check_members(const pl_vtk *file, const pl_vtk_lists *lists)
{
    size_t points = pl_mesh_build_vertex_count(file->build);
    const int32_t *members = lists->members.data;
    for (size_t i = 0; i < lists->members.count; i++)
        if ((size_t)members[i] >= points)
            return pl_fail(file->error, PL_ERROR_FORMAT,
                           pl_mesh_where_file(file->source->name).text,
                           "a cell has point %d, but there are only %zu", members[i], points);
    return PL_OK;
}

static bool add_strip(pl_mesh_build *build, list cell)
{
    for (size_t i = 0; i + 2 < cell.count; i++) {
        const int32_t *v = cell.members + i;
        if (!pl_mesh_build_triangle(build, v[0], v[i % 2 ? 2 : 1], v[i % 2 ? 1 : 2]))
            return false;
    }
    return true;
}

static bool add_polyline(pl_mesh_build *build, list cell)
{
    for (size_t i = 0; i + 1 < cell.count; i++)
        if (!pl_mesh_build_line(build, cell.members[i], cell.members[i + 1]))
            return false;
    return true;
}

/* Linear cells, and those of higher order whose corners come first. */
static pl_cell_kind find_kind(int32_t type)
{
    static const struct {
        int32_t type;
        pl_cell_kind kind;
    } kinds[] = {
        {3, PL_CELL_LINE},      {5, PL_CELL_TRIANGLE},  {8, PL_CELL_QUAD},
        {9, PL_CELL_QUAD},      {10, PL_CELL_TET},      {11, PL_CELL_HEX},
        {12, PL_CELL_HEX},      {13, PL_CELL_PRISM},    {14, PL_CELL_PYRAMID},
        {21, PL_CELL_LINE},     {22, PL_CELL_TRIANGLE}, {23, PL_CELL_QUAD},
        {24, PL_CELL_TET},      {25, PL_CELL_HEX},      {26, PL_CELL_PRISM},
        {27, PL_CELL_PYRAMID},  {28, PL_CELL_QUAD},     {29, PL_CELL_HEX},
        {34, PL_CELL_TRIANGLE}, {68, PL_CELL_LINE},     {69, PL_CELL_TRIANGLE},
        {70, PL_CELL_QUAD},     {71, PL_CELL_TET},      {72, PL_CELL_HEX},
        {73, PL_CELL_PRISM},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type)
            return kinds[i].kind;
    return PL_CELL_NONE;
}

static pl_status add_cell(pl_vtk *file, size_t index, list cell, int32_t type)
{
    enum { POLYLINE = 4, STRIP = 6, POLYGON = 7, PIXEL = 8, VOXEL = 11 };
    pl_cell_kind kind = find_kind(type);
    size_t corners = (size_t)pl_cell_corners(kind);
    int32_t vertices[PL_CELL_MOST_CORNERS];
    if (cell.count < corners)
        return fail_cell(file, index, "has too few points for its type");
    bool made = true;
    if (type == POLYLINE) {
        made = add_polyline(file->build, cell);
    } else if (type == STRIP) {
        made = add_strip(file->build, cell);
    } else if (type == POLYGON) {
        made = pl_mesh_build_polygon(file->build, cell.members, cell.count);
    } else if (kind != PL_CELL_NONE) {
        memcpy(vertices, cell.members, corners * sizeof *vertices);
        for (size_t i = 2; (type == PIXEL || type == VOXEL) && i < corners; i += 4) {
            vertices[i] = cell.members[i + 1];
            vertices[i + 1] = cell.members[i];
        }
        made = pl_cell_add(file->build, kind, vertices);
    }
    return made ? PL_OK : no_memory(file);
}

static pl_status add_grid(pl_vtk *file)
{
    const int32_t *types = file->types.data;
    if (file->types.count != file->cells.ends.count)
        return pl_fail(file->error, PL_ERROR_FORMAT, pl_mesh_where_file(file->source->name).text,
                       "there are %zu cells, but types of %zu", file->cells.ends.count,
                       file->types.count);
    for (size_t i = 0; i < file->types.count; i++)
        PL_TRY(add_cell(file, i, list_at(&file->cells, i), types[i]));
    pl_cells_finish(file->build);
    return PL_OK;
}

static pl_status add_polygons(pl_vtk *file)
{
    for (size_t i = 0; i < file->polygons.ends.count; i++) {
        list cell = list_at(&file->polygons, i);
        if (!pl_mesh_build_polygon(file->build, cell.members, cell.count))
            return no_memory(file);
    }
    for (size_t i = 0; i < file->strips.ends.count; i++)
        if (!add_strip(file->build, list_at(&file->strips, i)))
            return no_memory(file);
    for (size_t i = 0; i < file->lines.ends.count; i++)
        if (!add_polyline(file->build, list_at(&file->lines, i)))
            return no_memory(file);
    return PL_OK;
}

pl_status pl_vtk_add_cells(pl_vtk *file)
{
    const pl_vtk_lists *lists[] = {&file->cells, &file->polygons, &file->strips, &file->lines};
    for (int i = 0; i < 4; i++)
        PL_TRY(check_members(file, lists[i]));
    return file->is_grid ? add_grid(file) : add_polygons(file);
}
