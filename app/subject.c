#ifdef PLIANT_HAVE_DRAW

#include "subject.h"

#include <string.h>

#include "base/sort.h"
#include "draw/strain.h"

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
    s->rest = PL_NEW(memory, double, 3 * n);
    s->turns = PL_NEW(memory, double, 4 * n);
    return s->vertices && s->positions && s->rotations && s->turned && s->radii && s->colours &&
                   s->edges && s->ends && s->rest && s->turns
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
                       .model = model,
                       .dimension = info.dimension,
                       .influence_count = info.influence_count,
                       .volume = info.volume,
                       .look = pl_model_look(model)};
    int n = info.particle_count;
    PL_TRY(allocate(memory, s));
    PL_TRY(
        pl_model_read(model, PL_REST_VERTICES, 0, info.vertex_count, pl_doubles(s->vertices, 0)));
    PL_TRY(pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(s->positions, 0)));
    PL_TRY(pl_model_read(model, PL_REST_ORIENTATIONS, 0, n, pl_doubles(s->rotations, 0)));
    PL_TRY(pl_model_read(model, PL_REST_RADII, 0, n, pl_doubles(s->radii, 0)));
    memcpy(s->turned, s->rotations, 4 * (size_t)n * sizeof *s->turned);
    memcpy(s->rest, s->positions, 3 * (size_t)n * sizeof *s->rest);
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
    pl_memory_free(memory, s->rest);
    pl_memory_free(memory, s->turns);
    pl_memory_free(memory, s->stresses);
    pl_memory_free(memory, s->weights);
    pl_memory_free(memory, s->vertex_colours);
    pl_memory_free(memory, s->owners);
    pl_memory_free(memory, s->tet_rest);
    pl_memory_free(memory, s->tet_points);
    pl_memory_free(memory, s->tet_edges);
    pl_memory_free(memory, s->tet_holds);
    *s = (app_subject){0};
}

/* ---- Tetrahedra ------------------------------------------------------------------------------ */

/* Each edge once: the pairs of all tetrahedra, sorted. */
static pl_status find_tet_edges(pl_memory *memory, app_subject *s, int tet_count)
{
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const int32_t *tets = pl_model_tets(s->model);
    size_t count = 0, most = 6 * (size_t)tet_count;
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * most);
    s->tet_edges = PL_NEW(memory, int32_t, 2 * most);
    if (!items || !s->tet_edges) {
        pl_memory_free(memory, items);
        return PL_ERROR_MEMORY;
    }
    for (size_t i = 0; i < most; i++) {
        uint32_t a = (uint32_t)tets[i / 6 * 4 + (size_t)pairs[i % 6][0]];
        uint32_t b = (uint32_t)tets[i / 6 * 4 + (size_t)pairs[i % 6][1]];
        items[i].key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    }
    pl_sort(items, items + most, most);
    for (size_t i = 0; i < most; i++)
        if (!i || items[i].key != items[i - 1].key) {
            s->tet_edges[2 * count] = (int32_t)(items[i].key >> 32);
            s->tet_edges[2 * count++ + 1] = (int32_t)(items[i].key & UINT32_MAX);
        }
    s->tet_edge_count = (int)count;
    pl_memory_free(memory, items);
    return PL_OK;
}

pl_status app_subject_take_tets(pl_memory *memory, app_subject *s, const pl_play *play, int body)
{
    if (!s->model)
        return PL_OK;
    pl_model_info info = pl_model_get_info(s->model);
    size_t n = (size_t)info.tet_point_count;
    if (!info.tet_count)
        return PL_OK;
    s->tet_rest = PL_NEW(memory, double, 3 * n);
    s->tet_points = PL_NEW(memory, double, 3 * n);
    s->tet_holds = play ? PL_NEW(memory, pl_pin_def, n) : NULL;
    if (!s->tet_rest || !s->tet_points || (play && !s->tet_holds))
        return PL_ERROR_MEMORY;
    PL_TRY(pl_model_read(s->model, PL_REST_TET_POINTS, 0, (int)n, pl_doubles(s->tet_rest, 0)));
    memcpy(s->tet_points, s->tet_rest, 3 * n * sizeof *s->tet_points);
    for (size_t i = 0; play && i < n; i++) {
        s->tet_holds[i] = pl_default_pin_def(PL_PIN_POSITION);
        PL_TRY(pl_pin_at_point(play->world, play->bodies[body].handle, s->tet_rest + 3 * i,
                               &s->tet_holds[i]));
    }
    s->tet_point_count = (int)n;
    return find_tet_edges(memory, s, info.tet_count);
}

/* p = Σ w_i (R_i (p̄ − x̄_i) + x_i), as vertices are skinned. */
static void follow_tets(app_subject *s)
{
    for (size_t i = 0; s->tet_holds && i < (size_t)s->tet_point_count; i++) {
        const pl_pin_def *hold = &s->tet_holds[i];
        double *to = s->tet_points + 3 * i;
        memset(to, 0, 3 * sizeof *to);
        for (int j = 0; j < hold->count; j++) {
            size_t p = (size_t)hold->particles[j];
            double arm[3], turned[3];
            for (size_t k = 0; k < 3; k++)
                arm[k] = s->tet_rest[3 * i + k] - s->rest[3 * p + k];
            pl_quaternion_rotate(s->turns + 4 * p, arm, turned);
            for (size_t k = 0; k < 3; k++)
                to[k] += (double)hold->weights[j] * (turned[k] + s->positions[3 * p + k]);
        }
    }
}

/* ---- Stress ---------------------------------------------------------------------------------- */

static pl_strain_graph graph_of(const app_subject *s)
{
    pl_strain_graph graph = {.particle_count = s->particle_count,
                             .edge_count = s->edge_count,
                             .dimension = s->dimension,
                             .positions = s->rest,
                             .axes = s->rotations,
                             .radii = s->radii,
                             .edges = s->edges};
    return graph;
}

pl_status app_subject_take_stress(pl_memory *memory, app_subject *s, const pl_play *play, int body)
{
    size_t n = (size_t)s->particle_count;
    s->stresses = PL_NEW(memory, double, n);
    s->weights = PL_NEW(memory, double, n);
    s->vertex_colours = PL_NEW(memory, float, 4 * (size_t)s->vertex_count);
    if (!s->stresses || !s->weights || !s->vertex_colours)
        return PL_ERROR_MEMORY;
    if (!play)
        return PL_OK; /* at rest there is none */
    const pl_play_body *from = &play->bodies[body];
    const pl_strain_graph graph = graph_of(s);
    s->young = from->material.stiffness > 0
                   ? pl_strain_young(&graph, from->material.stiffness, s->volume)
                   : from->material.young;
    s->young *= from->stiffness_factor;
    return PL_OK;
}

static void find_stresses(app_subject *s)
{
    const pl_strain_graph graph = graph_of(s);
    pl_strain_find(&graph, s->positions, s->turns, s->stresses, s->weights);
    for (int i = 0; i < s->particle_count; i++)
        s->stresses[i] *= s->young;
}

double app_subject_vertex_stress(const app_subject *s, int vertex)
{
    int count = s->influence_count;
    const int32_t *particles = pl_model_influences(s->model) + (size_t)vertex * (size_t)count;
    const float *weights = pl_model_weights(s->model) + (size_t)vertex * (size_t)count;
    double sum = 0;
    for (int i = 0; i < count; i++)
        if (particles[i] >= 0)
            sum += (double)weights[i] * s->stresses[particles[i]];
    return sum;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Clusters near in number are far in colour; 3 and the size of the palette have no common divisor,
   so that all its colours occur. */
static pl_status colour_by_cluster(app_subject *s, const pl_play *play, pl_body body, int count)
{
    PL_TRY(pl_body_read_owners(play->world, body, 0, s->particle_count, s->owners));
    for (int i = 0; i < s->particle_count; i++) {
        pl_cluster_state state = {0};
        float *colour = s->colours + 4 * (size_t)i;
        bool owned = s->owners[i] >= 0 && s->owners[i] < count;
        if (owned)
            PL_TRY(pl_body_read_clusters(play->world, body, s->owners[i], 1, &state));
        pl_paint paint = pl_palette((int)(state.id * 3 % 1000));
        for (int k = 0; k < 3; k++)
            colour[k] = owned ? paint.colour[k] : 0.4f;
        colour[3] = 1;
    }
    return PL_OK;
}

pl_status app_subject_take_clusters(pl_memory *memory, app_subject *s, const pl_play *play,
                                    int body)
{
    pl_body_info info;
    if (play->bodies[body].removed)
        return PL_OK;
    PL_TRY(pl_body_get_info(play->world, play->bodies[body].handle, &info));
    if (info.kind != PL_MATTER_CLUSTERED)
        return PL_OK;
    if (!s->owners)
        s->owners = PL_NEW(memory, int32_t, s->particle_count);
    if (!s->owners)
        return PL_ERROR_MEMORY;
    return colour_by_cluster(s, play, play->bodies[body].handle, info.cluster_count);
}

/* ---- Now ------------------------------------------------------------------------------------- */

pl_status app_subject_follow(app_subject *s, const pl_play *play, int body, bool vertices,
                             bool particles)
{
    pl_body handle = play->bodies[body].handle;
    int n = s->particle_count;
    s->gone = play->bodies[body].removed;
    if (s->gone)
        return PL_OK;
    if (vertices && s->vertex_count)
        PL_TRY(pl_body_read(play->world, handle, PL_VERTICES, 0, s->vertex_count, 1,
                            pl_doubles(s->vertices, 0)));
    if (!particles)
        return PL_OK;
    PL_TRY(pl_body_read(play->world, handle, PL_POSITIONS, 0, n, 1, pl_doubles(s->positions, 0)));
    PL_TRY(pl_body_read(play->world, handle, PL_ROTATIONS, 0, n, 1, pl_doubles(s->turns, 0)));
    for (size_t i = 0; i < (size_t)n; i++)
        pl_quaternion_multiply(s->turns + 4 * i, s->rotations + 4 * i, s->turned + 4 * i);
    follow_tets(s);
    if (s->stresses)
        find_stresses(s);
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
