#ifdef PLIANT_HAVE_DRAW

#include "subject.h"

#include <string.h>

static pl_status allocate(pl_memory *memory, app_subject *s)
{
    size_t n = (size_t)s->particle_count;
    s->vertices = PL_NEW(memory, double, 3 * (size_t)s->vertex_count);
    s->positions = PL_NEW(memory, double, 3 * n);
    s->rotations = PL_NEW(memory, double, 4 * n);
    s->turned = PL_NEW(memory, double, 4 * n);
    s->radii = PL_NEW(memory, double, 3 * n);
    s->colours = PL_NEW(memory, float, 4 * n);
    s->edges = PL_NEW(memory, int32_t, 2 * (size_t)s->edge_count);
    s->ends = PL_NEW(memory, double, 6 * (size_t)s->edge_count);
    return s->vertices && s->positions && s->rotations && s->turned && s->radii && s->colours &&
                   s->edges && s->ends
               ? PL_OK
               : PL_ERROR_MEMORY;
}

static double mean_edge(app_subject *s)
{
    int count = app_subject_edges(s);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double *p = s->ends + 6 * (size_t)i;
        sum += pl_v3_distance(pl_v3(p[0], p[1], p[2]), pl_v3(p[3], p[4], p[5]));
    }
    return count ? sum / count : 0;
}

pl_status app_subject_of_model(pl_memory *memory, const pl_model *model, app_subject *s)
{
    pl_model_info info = pl_model_get_info(model);
    *s = (app_subject){.vertex_count = info.vertex_count,
                       .triangle_count = info.triangle_count,
                       .particle_count = info.particle_count,
                       .edge_count = info.edge_count,
                       .triangles = pl_model_triangles(model),
                       .look = pl_model_look(model)};
    int n = info.particle_count;
    PL_TRY(allocate(memory, s));
    PL_TRY(
        pl_model_read(model, PL_REST_VERTICES, 0, info.vertex_count, pl_doubles(s->vertices, 0)));
    PL_TRY(pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(s->positions, 0)));
    PL_TRY(pl_model_read(model, PL_REST_ORIENTATIONS, 0, n, pl_doubles(s->rotations, 0)));
    PL_TRY(pl_model_read(model, PL_REST_RADII, 0, n, pl_doubles(s->radii, 0)));
    memcpy(s->turned, s->rotations, 4 * (size_t)n * sizeof *s->turned);
    if (info.edge_count)
        memcpy(s->edges, pl_model_edges(model), 2 * (size_t)info.edge_count * sizeof *s->edges);
    s->spacing = mean_edge(s);
    return PL_OK;
}

pl_status app_subject_of_mesh(pl_memory *memory, const pl_mesh *mesh, app_subject *s)
{
    *s = (app_subject){.vertex_count = mesh->vertex_count,
                       .triangle_count = mesh->triangle_count,
                       .edge_count = mesh->line_count,
                       .triangles = mesh->triangles,
                       .look = &mesh->look,
                       .lines_only = true};
    PL_TRY(allocate(memory, s));
    if (mesh->vertex_count)
        memcpy(s->vertices, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *s->vertices);
    if (mesh->line_count)
        memcpy(s->edges, mesh->lines, 2 * (size_t)mesh->line_count * sizeof *s->edges);
    s->spacing = mean_edge(s);
    return PL_OK;
}

void app_subject_free(pl_memory *memory, app_subject *s)
{
    pl_draw_surface_destroy(s->surface);
    pl_memory_free(memory, s->vertices);
    pl_memory_free(memory, s->positions);
    pl_memory_free(memory, s->rotations);
    pl_memory_free(memory, s->turned);
    pl_memory_free(memory, s->radii);
    pl_memory_free(memory, s->colours);
    pl_memory_free(memory, s->edges);
    pl_memory_free(memory, s->ends);
    *s = (app_subject){0};
}

pl_status app_subject_follow(app_subject *s, const pl_play *play, int body, bool vertices,
                             bool particles)
{
    pl_body handle = play->bodies[body].handle;
    int n = s->particle_count;
    if (vertices && s->vertex_count)
        PL_TRY(pl_body_read(play->world, handle, PL_VERTICES, 0, s->vertex_count, 1,
                            pl_doubles(s->vertices, 0)));
    if (!particles)
        return PL_OK;
    PL_TRY(pl_body_read(play->world, handle, PL_POSITIONS, 0, n, 1, pl_doubles(s->positions, 0)));
    PL_TRY(pl_body_read(play->world, handle, PL_ROTATIONS, 0, n, 1, pl_doubles(s->turned, 0)));
    for (size_t i = 0; i < (size_t)n; i++) {
        double q[4];
        pl_quaternion_multiply(s->turned + 4 * i, s->rotations + 4 * i, q);
        memcpy(s->turned + 4 * i, q, sizeof q);
    }
    return PL_OK;
}

int app_subject_edges(app_subject *s)
{
    const double *places = s->lines_only ? s->vertices : s->positions;
    int limit = s->lines_only ? s->vertex_count : s->particle_count, count = 0;
    for (int i = 0; i < s->edge_count; i++) {
        int32_t a = s->edges[2 * (size_t)i], b = s->edges[2 * (size_t)i + 1];
        if (a < 0 || b < 0 || a >= limit || b >= limit)
            continue;
        double *to = s->ends + 6 * (size_t)count++;
        memcpy(to, places + 3 * (size_t)a, 3 * sizeof *to);
        memcpy(to + 3, places + 3 * (size_t)b, 3 * sizeof *to);
    }
    return count;
}

#endif
