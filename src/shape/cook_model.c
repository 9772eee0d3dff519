/* The last step of cooking: graph, render mesh and tetrahedra become a model. The render mesh has
   every vertex and every triangle of the mesh in their order; vertices that were welded hang on the
   same particles with the same weights. */
#include <string.h>

#include "base/error.h"
#include "shape/cook_parts.h"

/* Arrays of the definition, in metres. */
typedef struct plate {
    pl_memory *memory;
    double *positions, *radii, *vertices, *tet_points;
    pl_look look;
    int32_t *triangles; /* the boundary of the tetrahedra, where the mesh has none of its own */
} plate;

static double *scaled(pl_memory *memory, const double *values, size_t count, double scale)
{
    double *out = PL_NEW(memory, double, count);
    for (size_t i = 0; out && i < count; i++)
        out[i] = values[i] * scale;
    return out;
}

/* Vertices of no triangle, line or tetrahedron may be anywhere; far away they would only cost
   precision. */
static void gather_strays(const pl_kitchen *kitchen, double *vertices)
{
    const pl_mesh_report *report = &kitchen->report.mesh;
    double size = kitchen->surface->size, scale = kitchen->def->scale;
    for (size_t v = 0; v < (size_t)kitchen->def->mesh->vertex_count; v++) {
        if (kitchen->surface->point_of_vertex[v] >= 0)
            continue;
        for (size_t k = 0; k < 3; k++) {
            double low = (report->lower[k] - size) * scale,
                   high = (report->upper[k] + size) * scale;
            double *x = &vertices[3 * v + k];
            *x = *x < low ? low : *x > high ? high : *x;
        }
    }
}

/* Whether some vertex lies beside the point it was welded to. */
static bool is_welded_apart(const pl_kitchen *kitchen)
{
    const pl_mesh *mesh = kitchen->def->mesh;
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        int32_t point = kitchen->surface->point_of_vertex[v];
        const double *x = mesh->positions + 3 * v;
        const double *y = point >= 0 ? kitchen->surface->points + 3 * (size_t)point : x;
        if (x[0] != y[0] || x[1] != y[1] || x[2] != y[2])
            return true;
    }
    return false;
}

/* Boundary triangles name points; any vertex on a point will do to draw it. */
static pl_status draw_boundary(const pl_kitchen *kitchen, plate *p, pl_model_def *def,
                               pl_error *error)
{
    const pl_surface *surface = kitchen->surface;
    size_t corners = 3 * (size_t)surface->triangle_count;
    int32_t *vertex_of = PL_NEW(p->memory, int32_t, surface->point_count);
    p->triangles = PL_NEW(p->memory, int32_t, corners);
    bool ok = vertex_of && p->triangles;
    for (int v = kitchen->def->mesh->vertex_count - 1; ok && v >= 0; v--)
        if (surface->point_of_vertex[v] >= 0)
            vertex_of[surface->point_of_vertex[v]] = v;
    for (size_t i = 0; ok && i < corners; i++)
        p->triangles[i] = vertex_of[surface->triangles[i]];
    pl_memory_free(p->memory, vertex_of);
    PL_CHECK(ok, PL_ERROR_MEMORY, error, NULL, "no memory for %d triangles",
             surface->triangle_count);
    def->triangles = p->triangles;
    def->triangle_count = surface->triangle_count;
    p->look.triangle_materials = p->look.triangle_groups = NULL;
    return PL_OK;
}

static pl_status lay_out(const pl_kitchen *kitchen, plate *p, pl_model_def *def, pl_error *error)
{
    const pl_mesh *mesh = kitchen->def->mesh;
    const pl_graph_parts *parts = &kitchen->parts;
    double scale = kitchen->def->scale;
    size_t n = 3 * (size_t)parts->particle_count, v = 3 * (size_t)mesh->vertex_count;
    size_t t = 3 * (size_t)kitchen->tets.point_count;
    p->positions = scaled(p->memory, parts->positions, n, scale);
    p->radii = scaled(p->memory, parts->radii, n, scale);
    p->vertices = scaled(p->memory, mesh->positions, v, scale);
    p->tet_points = scaled(p->memory, kitchen->tets.points, t, scale);
    PL_CHECK(p->positions && p->radii && p->vertices && p->tet_points, PL_ERROR_MEMORY, error, NULL,
             "no memory for %d particles and %d vertices", parts->particle_count,
             mesh->vertex_count);
    gather_strays(kitchen, p->vertices);
    def->particle_count = parts->particle_count;
    def->positions = pl_doubles(p->positions, 0);
    def->orientations = pl_doubles(parts->orientations, 0);
    def->radii = pl_doubles(p->radii, 0);
    def->edge_count = parts->edge_count;
    def->edges = parts->edges;
    def->several_pieces = true;
    def->dimension = kitchen->report.kind == PL_COOK_SOLID   ? 3
                     : kitchen->report.kind == PL_COOK_SHELL ? 2
                                                             : 1;
    def->volume = parts->volume * scale * scale * scale;
    def->vertex_count = mesh->vertex_count;
    def->vertices = pl_doubles(p->vertices, 0);
    def->influence_count = kitchen->def->influence_count;
    def->triangle_count = mesh->triangle_count;
    def->triangles = mesh->triangles;
    p->look = mesh->look;
    def->look = &p->look;
    def->tet_point_count = kitchen->tets.point_count;
    def->tet_points = pl_doubles(p->tet_points, 0);
    def->tet_count = kitchen->tets.tet_count;
    def->tets = kitchen->tets.tets;
    def->allocator = kitchen->def->allocator;
    def->memory_limit = kitchen->def->memory_limit;
    bool bare = mesh->triangle_count == 0 && kitchen->surface->triangle_count > 0;
    return bare ? draw_boundary(kitchen, p, def, error) : PL_OK;
}

/* Weights of the points instead of those of the vertices: a model without look and tetrahedra whose
   vertices lie on their points computes them. */
static pl_status create_welded(const pl_kitchen *kitchen, const plate *p, pl_model_def *def,
                               pl_model **model, pl_error *error)
{
    const pl_mesh *mesh = kitchen->def->mesh;
    size_t count = 3 * (size_t)mesh->vertex_count;
    double *on_points = PL_NEW(p->memory, double, count);
    pl_model *weights = NULL;
    PL_CHECK(on_points, PL_ERROR_MEMORY, error, NULL, "no memory for %d vertices",
             mesh->vertex_count);
    for (size_t i = 0; i < count; i++) {
        int32_t point = kitchen->surface->point_of_vertex[i / 3];
        on_points[i] =
            point < 0 ? p->vertices[i]
                      : kitchen->surface->points[3 * (size_t)point + i % 3] * kitchen->def->scale;
    }
    pl_model_def plain = *def;
    plain.vertices = pl_doubles(on_points, 0);
    plain.look = NULL;
    plain.tet_count = 0;
    pl_status status = pl_model_create(&plain, &weights, error);
    if (status == PL_OK) {
        def->influence_count = weights->influence_count;
        def->influences = weights->influences;
        def->weights = weights->weights;
        status = pl_model_create(def, model, error);
        pl_model_release(weights);
    }
    pl_memory_free(p->memory, on_points);
    return status;
}

pl_status pl_cook_make_model(pl_kitchen *kitchen, pl_model **model, pl_error *error)
{
    plate p = {.memory = &kitchen->memory};
    pl_model_def def = pl_default_model_def();
    pl_status status = lay_out(kitchen, &p, &def, error);
    if (status == PL_OK)
        status = is_welded_apart(kitchen) ? create_welded(kitchen, &p, &def, model, error)
                                          : pl_model_create(&def, model, error);
    void *arrays[] = {p.positions, p.radii, p.vertices, p.tet_points, p.triangles};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_memory_free(&kitchen->memory, arrays[i]);
    return status;
}
