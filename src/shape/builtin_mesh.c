/* The way from a figure to a mesh, and what a mesh needs beyond places: normals from the distance's
   gradient, colours from tints and crevices, materials. */
#include "shape/builtin_mesh.h"

#include "shape/mesh.h"

/* The first surface is taken on this grid (metres), whatever the detail: it decides which features
   there are. */
#define FIRST_CELL 0.0115

/* Metres. */
#define LONGEST_EDGE 0.2

/* Area of the triangle with sides of 1. */
#define EQUILATERAL 0.43301270189221935

/* Detail above which a coarser mesh is subdivided instead. */
#define REMESH_DETAIL 2.0

/* Sets the vertices' edge lengths; returns how many triangles there would be. */
static double count_with(pl_web *web, const pl_figure *figure, const double *bend, double edge)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web);
    for (size_t v = 0; v < web->vertex_array.count; v++)
        vertices[v].edge = pl_figure_edge(figure, vertices[v].at, bend[v], edge);
    double count = 0;
    for (size_t h = 0; h < web->corner_array.count; h += 3) {
        const pl_web_vertex *a = &vertices[corners[h]];
        pl_vec3 twice = pl_web_normal_with(web, (int32_t)(h / 3), -1, a->at);
        count += 0.5 * pl_v3_length(twice) / (EQUILATERAL * a->edge * a->edge);
    }
    return count;
}

/* The edge length that gives so many triangles, where there can be so few. */
static pl_status find_edge(pl_web *web, const pl_figure *figure, double triangles, double *edge)
{
    double *bend = PL_NEW(web->memory, double, web->vertex_array.count);
    if (!bend)
        return PL_ERROR_MEMORY;
    for (size_t v = 0; v < web->vertex_array.count; v++)
        bend[v] = pl_figure_bend(figure, pl_web_vertices(web)[v].at);
    *edge = 0.03;
    for (int i = 0; i < 6; i++) {
        double count = count_with(web, figure, bend, *edge);
        *edge = fmin(*edge * sqrt(count / triangles), LONGEST_EDGE);
    }
    count_with(web, figure, bend, *edge);
    pl_memory_free(web->memory, bend);
    return PL_OK;
}

static pl_status make_surface(pl_web *web, const pl_figure *figure, double detail)
{
    int doublings = 0;
    for (; detail > REMESH_DETAIL; detail *= 0.5)
        doublings++;
    PL_TRY(pl_figure_surface(figure, FIRST_CELL, web));
    PL_TRY(pl_web_thin(web, fmin(FIRST_CELL, FIRST_CELL / detail)));
    double edge;
    PL_TRY(find_edge(web, figure, PL_BUILTIN_TRIANGLES * detail * detail, &edge));
    PL_TRY(pl_web_remesh(web, figure, edge));
    PL_TRY(pl_web_trace_materials(web, figure));
    for (int i = 0; i < doublings; i++)
        PL_TRY(pl_web_subdivide(web, figure));
    return PL_OK;
}

typedef struct arrays {
    double *positions;
    int32_t *triangles, *triangle_materials;
    float *normals, *colours;
    pl_look_material *materials;
} arrays;

/* The figure's normal, unless the triangles around the vertex speak against it: coarse meshes
   cannot follow everything. */
static pl_vec3 vertex_normal(const pl_web *web, const pl_figure *figure, int32_t v)
{
    pl_vec3 at = pl_web_vertices(web)[v].at, sum = {0, 0, 0};
    int32_t first = pl_web_vertices(web)[v].first, h = first;
    do {
        sum = pl_v3_add(sum, pl_web_normal_with(web, h / 3, -1, at));
        h = pl_web_around(web, h);
    } while (h != first);
    pl_vec3 normal = pl_v3_normalise(pl_figure_gradient(figure, at));
    sum = pl_v3_normalise(sum);
    return pl_v3_dot(normal, sum) > 0.5 || pl_v3_length2(sum) == 0 ? normal : sum;
}

static void fill_vertices(const pl_web *web, const pl_figure *figure, arrays *out)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    for (size_t v = 0; v < web->vertex_array.count; v++) {
        pl_vec3 at = vertices[v].at;
        pl_vec3 normal = vertex_normal(web, figure, (int32_t)v);
        pl_vec3 tint = pl_figure_tint_at(figure, at, normal);
        double position[3] = {at.x, at.y, at.z};
        float direction[3] = {(float)normal.x, (float)normal.y, (float)normal.z};
        float colour[4] = {(float)tint.x, (float)tint.y, (float)tint.z, 1};
        memcpy(out->positions + 3 * v, position, sizeof position);
        memcpy(out->normals + 3 * v, direction, sizeof direction);
        memcpy(out->colours + 4 * v, colour, sizeof colour);
    }
}

void pl_stand(double *positions, size_t count)
{
    double lower[3] = {1e9, 1e9, 1e9}, upper[3] = {-1e9, -1e9, -1e9};
    for (size_t i = 0; i < 3 * count; i++) {
        lower[i % 3] = fmin(lower[i % 3], positions[i]);
        upper[i % 3] = fmax(upper[i % 3], positions[i]);
    }
    double shift[3] = {0.5 * (lower[0] + upper[0]), lower[1], 0.5 * (lower[2] + upper[2])};
    for (size_t i = 0; i < 3 * count; i++)
        positions[i] -= shift[i % 3];
}

static pl_status fill_mesh(const pl_web *web, const pl_figure *figure, pl_mesh_owner *owner,
                           pl_mesh *mesh)
{
    size_t vertices = web->vertex_array.count, triangles = web->corner_array.count / 3;
    size_t materials = (size_t)figure->material_count;
    arrays out = {pl_mesh_owner_alloc(owner, 3 * vertices, sizeof(double)),
                  pl_mesh_owner_alloc(owner, 3 * triangles, sizeof(int32_t)),
                  pl_mesh_owner_alloc(owner, triangles, sizeof(int32_t)),
                  pl_mesh_owner_alloc(owner, 3 * vertices, sizeof(float)),
                  pl_mesh_owner_alloc(owner, 4 * vertices, sizeof(float)),
                  pl_mesh_owner_alloc(owner, materials, sizeof(pl_look_material))};
    if (!out.positions || !out.triangles || !out.triangle_materials || !out.normals ||
        !out.colours || !out.materials)
        return PL_ERROR_MEMORY;
    fill_vertices(web, figure, &out);
    pl_stand(out.positions, vertices);
    memcpy(out.triangles, pl_web_corners(web), 3 * triangles * sizeof(int32_t));
    memcpy(out.triangle_materials, pl_web_materials(web), triangles * sizeof(int32_t));
    memcpy(out.materials, figure->materials, materials * sizeof(pl_look_material));
    *mesh = (pl_mesh){.vertex_count = (int)vertices,
                      .positions = out.positions,
                      .triangle_count = (int)triangles,
                      .triangles = out.triangles,
                      .owner = owner};
    mesh->look.normals = out.normals;
    mesh->look.colours = out.colours;
    mesh->look.triangle_materials = out.triangle_materials;
    mesh->look.materials = out.materials;
    mesh->look.material_count = figure->material_count;
    return PL_OK;
}

pl_status pl_figure_mesh(const pl_figure *figure, double detail, const pl_allocator *allocator,
                         pl_mesh *mesh)
{
    pl_mesh_owner *owner = pl_mesh_owner_create(allocator, 0);
    if (!owner)
        return PL_ERROR_MEMORY;
    pl_web web;
    pl_web_init(&web, pl_mesh_owner_memory(owner));
    pl_status status = make_surface(&web, figure, detail);
    if (status == PL_OK)
        status = fill_mesh(&web, figure, owner, mesh);
    pl_web_free(&web);
    if (status != PL_OK)
        pl_mesh_owner_destroy(owner);
    return status;
}
