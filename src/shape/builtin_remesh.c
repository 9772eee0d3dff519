/* Isotropic remeshing on a figure's surface, after Botsch and Kobbelt (2004): split edges longer
   than 4/3 of the wanted length, collapse those shorter than 4/5, flip to larger smallest angles,
   move vertices to the middle of their neighbours within the tangent plane and back onto the zero
   set. */
#include "shape/builtin_mesh.h"

enum { MAX_COLLAPSE_ROUNDS = 24, POLISH_ROUNDS = 6, UNFOLD_ROUNDS = 6 };

static double edge_length(const pl_web *web, int32_t h)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    return pl_v3_distance(vertices[pl_web_from(web, h)].at, vertices[pl_web_to(web, h)].at);
}

static double wanted_length(const pl_web *web, int32_t h)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    return 0.5 * (vertices[pl_web_from(web, h)].edge + vertices[pl_web_to(web, h)].edge);
}

static bool alive(const pl_web *web, int32_t h)
{
    return pl_web_corners(web)[h - h % 3] >= 0;
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static bool collapse_makes_long(const pl_web *web, int32_t h)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t a = pl_web_from(web, h), b = pl_web_to(web, h), first = vertices[a].first, e = first;
    do {
        const pl_web_vertex *other = &vertices[pl_web_to(web, e)];
        double limit = 4.0 / 3.0 * 0.5 * (vertices[b].edge + other->edge);
        if (pl_v3_distance(other->at, vertices[b].at) > limit)
            return true;
        e = pl_web_around(web, e);
    } while (e != first);
    return false;
}

/* Onto one of the ends, which lie on the surface already. */
static int collapse_short(pl_web *web)
{
    int collapsed = 0;
    for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++) {
        if (!alive(web, h) || edge_length(web, h) >= 0.8 * wanted_length(web, h))
            continue;
        pl_vec3 at = pl_web_vertices(web)[pl_web_to(web, h)].at;
        if (collapse_makes_long(web, h) || !pl_web_may_collapse(web, h, at))
            continue;
        pl_web_collapse(web, h, at);
        collapsed++;
    }
    return collapsed;
}

static pl_status split_long(pl_web *web, const pl_figure *figure)
{
    int32_t count = (int32_t)web->corner_array.count;
    for (int32_t h = 0; h < count; h++) {
        double length = edge_length(web, h);
        if (h > pl_web_twins(web)[h] || length <= 4.0 / 3.0 * wanted_length(web, h))
            continue;
        const pl_web_vertex *vertices = pl_web_vertices(web);
        pl_web_vertex middle = {.first = -1};
        middle.at = pl_v3_scale(
            pl_v3_add(vertices[pl_web_from(web, h)].at, vertices[pl_web_to(web, h)].at), 0.5);
        middle.at = pl_figure_project(figure, middle.at, 0.3 * length);
        middle.edge = wanted_length(web, h);
        if (pl_web_split(web, h, middle) < 0)
            return PL_ERROR_MEMORY;
    }
    return PL_OK;
}

/* ---- Angles ---------------------------------------------------------------------------------- */

/* Cosine and sine, times one length, of the angle at c over the edge ab. */
static void opposite_angle(pl_vec3 a, pl_vec3 b, pl_vec3 c, double *cosine, double *sine)
{
    pl_vec3 u = pl_v3_sub(a, c), v = pl_v3_sub(b, c);
    *cosine = pl_v3_dot(u, v);
    *sine = pl_v3_length(pl_v3_cross(u, v));
}

static pl_vec3 normal_of(pl_vec3 a, pl_vec3 b, pl_vec3 c)
{
    return pl_v3_normalise(pl_v3_cross(pl_v3_sub(b, a), pl_v3_sub(c, a)));
}

static bool flip_is_better(const pl_web *web, int32_t h)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t k = pl_web_twins(web)[h];
    const pl_web_vertex *from = &vertices[pl_web_from(web, h)], *to = &vertices[pl_web_to(web, h)];
    if (from->border && to->border)
        return false;
    pl_vec3 a = from->at, b = to->at, c = vertices[pl_web_from(web, pl_web_previous(h))].at;
    pl_vec3 d = vertices[pl_web_from(web, pl_web_previous(k))].at;
    /* Delaunay: the angles opposite the edge exceed a half turn in sum. */
    double cos_c, sin_c, cos_d, sin_d;
    opposite_angle(a, b, c, &cos_c, &sin_c);
    opposite_angle(a, b, d, &cos_d, &sin_d);
    if (cos_c * sin_d + cos_d * sin_c >= -1e-9 * (fabs(cos_c * sin_d) + fabs(cos_d * sin_c)))
        return false;
    /* Neither a fold nor a bridge over a valley: the four normals must about agree. */
    pl_vec3 before = pl_v3_add(normal_of(a, b, c), normal_of(b, a, d));
    pl_vec3 first = normal_of(c, d, b), second = normal_of(d, c, a);
    double size = pl_v3_length(before);
    return pl_v3_dot(first, before) > 0.7 * size && pl_v3_dot(second, before) > 0.7 * size;
}

static void flip_edges(pl_web *web)
{
    int flipped = 1;
    for (int pass = 0; pass < 4 && flipped; pass++) {
        flipped = 0;
        for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++)
            if (h < pl_web_twins(web)[h] && flip_is_better(web, h) && pl_web_may_flip(web, h)) {
                pl_web_flip(web, h);
                flipped++;
            }
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

static pl_vec3 middle_of_neighbours(const pl_web *web, int32_t v)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t first = vertices[v].first, h = first;
    pl_vec3 sum = {0, 0, 0};
    double weights = 0;
    do {
        const pl_web_vertex *other = &vertices[pl_web_to(web, h)];
        double weight = 1 / other->edge;
        sum = pl_v3_add_scaled(sum, weight, other->at);
        weights += weight;
        h = pl_web_around(web, h);
    } while (h != first);
    return pl_v3_scale(sum, 1 / weights);
}

/* Every triangle around the vertex still looks the way the figure's surface does. */
static bool stays_outward(const pl_web *web, int32_t v, pl_vec3 at, pl_vec3 normal)
{
    int32_t first = pl_web_vertices(web)[v].first, h = first;
    do {
        pl_vec3 n = pl_web_normal_with(web, h / 3, v, at);
        if (pl_v3_dot(n, normal) <= 0.3 * pl_v3_length(n))
            return false;
        h = pl_web_around(web, h);
    } while (h != first);
    return true;
}

static void relax(pl_web *web, const pl_figure *figure)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    for (int32_t v = 0; v < (int32_t)web->vertex_array.count; v++) {
        if (vertices[v].border)
            continue;
        pl_vec3 normal = pl_v3_normalise(pl_figure_gradient(figure, vertices[v].at));
        pl_vec3 way = pl_v3_sub(middle_of_neighbours(web, v), vertices[v].at);
        way = pl_v3_add_scaled(way, -pl_v3_dot(way, normal), normal);
        pl_vec3 at = pl_v3_add_scaled(vertices[v].at, 0.6, way);
        at = pl_figure_project(figure, at, vertices[v].edge);
        if (stays_outward(web, v, at, normal))
            vertices[v].at = at;
    }
}

/* From fine to coarse edges lengths grow no faster than by a third of the way. */
static void grade(pl_web *web)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    for (int pass = 0; pass < 4; pass++)
        for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++) {
            pl_web_vertex *from = &vertices[pl_web_from(web, h)];
            double most = vertices[pl_web_to(web, h)].edge + 0.35 * edge_length(web, h);
            from->edge = fmin(from->edge, most);
        }
}

static void set_lengths(pl_web *web, const pl_figure *figure, double edge)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    for (size_t v = 0; v < web->vertex_array.count; v++) {
        double bend = pl_figure_bend(figure, vertices[v].at);
        vertices[v].edge = pl_figure_edge(figure, vertices[v].at, bend, edge);
    }
    grade(web);
}

/* Whether the triangle looks against the figure's surface: a fold, where edges are too long for
   what they should follow. */
static bool is_folded(const pl_web *web, const pl_figure *figure, int32_t t)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web) + 3 * t;
    pl_vec3 sum = {0, 0, 0}, face = pl_web_normal_with(web, t, -1, sum);
    for (int c = 0; c < 3; c++) {
        pl_vec3 gradient = pl_figure_gradient(figure, vertices[corners[c]].at);
        sum = pl_v3_add(sum, pl_v3_normalise(gradient));
    }
    return pl_v3_dot(face, sum) <= 0.15 * pl_v3_length(face) * pl_v3_length(sum);
}

void pl_web_unfold(pl_web *web, const pl_figure *figure)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    int folded = 1;
    for (int round = 0; round < UNFOLD_ROUNDS && folded; round++) {
        folded = 0;
        for (int32_t t = 0; t < (int32_t)(web->corner_array.count / 3); t++) {
            if (!is_folded(web, figure, t))
                continue;
            folded++;
            for (int c = 0; c < 3; c++) {
                int32_t v = pl_web_corners(web)[3 * t + c];
                vertices[v].at =
                    pl_v3_scale(pl_v3_add(vertices[v].at, middle_of_neighbours(web, v)), 0.5);
            }
        }
    }
}

static void project_all(pl_web *web, const pl_figure *figure)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    for (size_t v = 0; v < web->vertex_array.count; v++)
        vertices[v].at = pl_figure_project(figure, vertices[v].at, 0.5 * vertices[v].edge);
}

/* Edges left too short by laying vertices on borders: those not on a border shrink onto the other
   end. */
pl_status pl_web_tidy(pl_web *web, const pl_figure *figure)
{
    for (int32_t h = 0; h < (int32_t)web->corner_array.count; h++) {
        if (!alive(web, h) || edge_length(web, h) >= 0.5 * wanted_length(web, h))
            continue;
        pl_web_vertex from = pl_web_vertices(web)[pl_web_from(web, h)];
        pl_web_vertex to = pl_web_vertices(web)[pl_web_to(web, h)];
        if (from.border && !(to.border && pl_web_on_border(web, figure, h)))
            continue;
        if (pl_web_may_collapse(web, h, to.at))
            pl_web_collapse(web, h, to.at);
    }
    return pl_web_compact(web);
}

void pl_web_polish(pl_web *web, const pl_figure *figure, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        flip_edges(web);
        relax(web, figure);
    }
    flip_edges(web);
}

pl_status pl_web_thin(pl_web *web, double edge)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    for (size_t v = 0; v < web->vertex_array.count; v++)
        vertices[v].edge = edge;
    collapse_short(web);
    return pl_web_compact(web);
}

pl_status pl_web_remesh(pl_web *web, const pl_figure *figure, double edge)
{
    grade(web);
    for (int round = 0; round < MAX_COLLAPSE_ROUNDS; round++) {
        int collapsed = collapse_short(web);
        PL_TRY(pl_web_compact(web));
        flip_edges(web);
        if (collapsed < (int)(web->vertex_array.count / 20))
            break;
    }
    project_all(web, figure);
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        set_lengths(web, figure, edge);
        PL_TRY(split_long(web, figure));
        collapse_short(web);
        PL_TRY(pl_web_compact(web));
        pl_web_polish(web, figure, 1);
    }
    pl_web_polish(web, figure, 2);
    return PL_OK;
}
