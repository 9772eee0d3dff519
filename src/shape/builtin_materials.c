/* Materials on a figure's surface: vertices near the border of two are moved onto it, or put there,
   until no edge crosses a border; so that every triangle has one material and borders are as smooth
   as the surface. And the subdivision that keeps them so. */
#include "shape/builtin_mesh.h"

enum { BISECTIONS = 16, TRACE_ROUNDS = 4, POLISH_ROUNDS = 3 };

/* Part of an edge. */
#define NEAR_ENOUGH 0.2

static pl_vec3 between(pl_vec3 a, pl_vec3 b, double t)
{
    return pl_v3_add_scaled(pl_v3_scale(a, 1 - t), t, b);
}

/* Where from a to b the material of a ends. */
static double border_between(const pl_figure *figure, pl_vec3 a, pl_vec3 b, int material)
{
    double inside = 0, outside = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double t = 0.5 * (inside + outside);
        if (pl_figure_material_at(figure, between(a, b, t)) == material)
            inside = t;
        else
            outside = t;
    }
    return 0.5 * (inside + outside);
}

/* Moves a vertex onto the border unless a triangle would turn over or shrink to a sliver. */
static bool snap(pl_web *web, int32_t v, pl_vec3 at)
{
    pl_web_vertex *vertex = &pl_web_vertices(web)[v];
    int32_t h = vertex->first;
    do {
        pl_vec3 before = pl_web_normal_with(web, h / 3, v, vertex->at);
        pl_vec3 after = pl_web_normal_with(web, h / 3, v, at);
        double size = pl_v3_length(before);
        if (pl_v3_dot(before, after) < 0.25 * size * size)
            return false;
        h = pl_web_around(web, h);
    } while (h != vertex->first);
    vertex->at = at;
    vertex->border = true;
    return true;
}

static pl_status trace_edge(pl_web *web, const pl_figure *figure, int32_t h, int *changes)
{
    int32_t a = pl_web_from(web, h), b = pl_web_to(web, h);
    pl_web_vertex from = pl_web_vertices(web)[a], to = pl_web_vertices(web)[b];
    if (from.border || to.border)
        return PL_OK;
    int material = pl_figure_material_at(figure, from.at);
    if (material == pl_figure_material_at(figure, to.at))
        return PL_OK;
    double t = border_between(figure, from.at, to.at, material);
    pl_web_vertex middle = {.edge = 0.5 * (from.edge + to.edge), .first = -1, .border = true};
    middle.at = pl_figure_project(figure, between(from.at, to.at, t), 0.2 * middle.edge);
    ++*changes;
    if (t < 0.45 && snap(web, a, middle.at))
        return PL_OK;
    if (t > 0.55 && snap(web, b, middle.at))
        return PL_OK;
    /* What cannot move and is near enough counts as on the border. */
    if (t < NEAR_ENOUGH || t > 1 - NEAR_ENOUGH) {
        pl_web_vertices(web)[t < 0.5 ? a : b].border = true;
        return PL_OK;
    }
    return pl_web_split(web, h, middle) < 0 ? PL_ERROR_MEMORY : PL_OK;
}

static pl_vec3 triangle_middle(const pl_web *web, size_t t)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web) + 3 * t;
    pl_vec3 sum = pl_v3_add(vertices[corners[0]].at, vertices[corners[1]].at);
    return pl_v3_scale(pl_v3_add(sum, vertices[corners[2]].at), 1.0 / 3.0);
}

/* A corner off the border knows the material; where all are on it, the middle does. */
static int triangle_material(const pl_web *web, const pl_figure *figure, size_t t)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web) + 3 * t;
    for (int c = 0; c < 3; c++)
        if (!vertices[corners[c]].border)
            return pl_figure_material_at(figure, vertices[corners[c]].at);
    pl_vec3 middle = triangle_middle(web, t);
    return pl_figure_material_at(figure, pl_figure_project(figure, middle, 0.01));
}

bool pl_web_on_border(const pl_web *web, const pl_figure *figure, int32_t h)
{
    return triangle_material(web, figure, (size_t)(h / 3)) !=
           triangle_material(web, figure, (size_t)(pl_web_twins(web)[h] / 3));
}

static bool all_on_border(const pl_web *web, size_t t)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web) + 3 * t;
    return vertices[corners[0]].border && vertices[corners[1]].border &&
           vertices[corners[2]].border;
}

/* A triangle with all corners on the border that juts out between two of another material joins
   them. */
static void drop_teeth(const pl_web *web, int32_t *materials, size_t triangles)
{
    for (size_t t = 0; t < triangles; t++) {
        if (!all_on_border(web, t))
            continue;
        const int32_t *twins = pl_web_twins(web) + 3 * t;
        int32_t side[3];
        for (int c = 0; c < 3; c++)
            side[c] = materials[twins[c] / 3];
        for (int c = 0; c < 3; c++)
            if (side[c] == side[(c + 1) % 3] && side[c] != materials[t])
                materials[t] = side[c];
    }
}

pl_status pl_web_trace_materials(pl_web *web, const pl_figure *figure)
{
    int changes = 1;
    for (int round = 0; round < TRACE_ROUNDS && changes; round++) {
        changes = 0;
        for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++)
            if (h < pl_web_twins(web)[h])
                PL_TRY(trace_edge(web, figure, h, &changes));
    }
    pl_web_polish(web, figure, 1);
    PL_TRY(pl_web_tidy(web, figure));
    pl_web_polish(web, figure, POLISH_ROUNDS);
    pl_web_unfold(web, figure);
    size_t triangles = web->corner_array.count / 3;
    web->material_array.count = 0;
    int32_t *materials = pl_array_add(&web->material_array, triangles);
    if (!materials)
        return PL_ERROR_MEMORY;
    for (size_t t = 0; t < triangles; t++)
        materials[t] = triangle_material(web, figure, t);
    drop_teeth(web, materials, triangles);
    return PL_OK;
}

/* ---- Subdivision ----------------------------------------------------------------------------- */

/* The middle of an edge, on the surface; on the border too, where the edge separates materials. */
static pl_web_vertex edge_middle(const pl_web *web, const pl_figure *figure, int32_t h)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *materials = pl_web_materials(web);
    const pl_web_vertex *a = &vertices[pl_web_from(web, h)], *b = &vertices[pl_web_to(web, h)];
    int32_t k = pl_web_twins(web)[h];
    double length = pl_v3_distance(a->at, b->at);
    pl_web_vertex middle = {.edge = 0.25 * (a->edge + b->edge), .first = -1};
    middle.at = between(a->at, b->at, 0.5);
    middle.border = materials[h / 3] != materials[k / 3];
    if (middle.border) {
        pl_vec3 left = between(middle.at, triangle_middle(web, (size_t)(h / 3)), 0.5);
        pl_vec3 right = between(middle.at, triangle_middle(web, (size_t)(k / 3)), 0.5);
        int material = pl_figure_material_at(figure, left);
        if (material != pl_figure_material_at(figure, right))
            middle.at = between(left, right, border_between(figure, left, right, material));
    }
    middle.at = pl_figure_project(figure, middle.at, 0.25 * length);
    return middle;
}

static void quarter(const pl_web *web, const int32_t *middle, int32_t t, int32_t *corners,
                    int32_t *materials)
{
    const int32_t *old = pl_web_corners(web) + 3 * t, *m = middle + 3 * t;
    int32_t quarters[12] = {old[0], m[0], m[2], old[1], m[1], m[0],
                            old[2], m[2], m[1], m[0],   m[1], m[2]};
    memcpy(corners, quarters, sizeof quarters);
    for (int i = 0; i < 4; i++)
        materials[i] = pl_web_materials(web)[t];
}

static pl_status put_middles(pl_web *web, const pl_figure *figure, int32_t *middle)
{
    const int32_t *twins = pl_web_twins(web);
    for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++) {
        if (h > twins[h])
            continue;
        pl_web_vertex vertex = edge_middle(web, figure, h);
        pl_web_vertex *place = pl_array_add(&web->vertex_array, 1);
        if (!place)
            return PL_ERROR_MEMORY;
        *place = vertex;
        middle[h] = middle[twins[h]] = (int32_t)web->vertex_array.count - 1;
    }
    return PL_OK;
}

pl_status pl_web_subdivide(pl_web *web, const pl_figure *figure)
{
    size_t half_edges = web->corner_array.count;
    pl_web finer;
    pl_web_init(&finer, web->memory);
    int32_t *middle = PL_NEW(web->memory, int32_t, half_edges);
    int32_t *corners = pl_array_add(&finer.corner_array, 4 * half_edges);
    int32_t *materials = pl_array_add(&finer.material_array, 4 * (half_edges / 3));
    pl_status status = PL_ERROR_MEMORY;
    if (middle && corners && materials)
        status = put_middles(web, figure, middle);
    if (status == PL_OK) {
        for (int32_t t = 0; t < (int32_t)(half_edges / 3); t++)
            quarter(web, middle, t, corners + 12 * t, materials + 4 * t);
        finer.vertex_array = web->vertex_array;
        web->vertex_array = pl_array_make(web->memory, sizeof(pl_web_vertex));
        status = pl_web_link(&finer);
    }
    pl_memory_free(web->memory, middle);
    pl_web_free(web);
    *web = finer;
    return status;
}
