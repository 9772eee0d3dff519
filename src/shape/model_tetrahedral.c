/* A model once more, with the corners of its tetrahedra as particles: what tetrahedral bodies are
   made of.

   Tetrahedra that are too flat, and those that are there twice, are dropped, and corners of none:
   nothing would hold them but their weight, and with every side there twice there is no surface.
   Vertices that lay in them go to the nearest that is left. Edges are those of the tetrahedra.
   Particles are spheres: on the surface of 0.35 of the mean length of the edges that meet in them,
   which is how far contact stands off it, inside of 0.6, which comes about as far. With less,
   corners of one body slip between those of another and the bodies stay locked in each other: in a
   heap of teddies of 2,000 tetrahedra, 22 % of the corners end up inside other teddies at 0.3 and
   0.3, 7 % at 0.35 and 0.35, 2 % at 0.3 and 0.6, 0.7 % at 0.35 and 0.6.

   The surface follows the four corners of its tetrahedron by its coordinates there. A vertex
   outside has negative ones: these are left out, so that it hangs on the nearest side and turns
   with it, instead of being drawn out of shape by corners beyond. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "base/sort.h"
#include "shape/model.h"
#include "shape/surface_tuples.h"
#include "shape/tet_flat.h"
#include "shape/tetrahedra.h"

#define RADIUS_OUTSIDE 0.35
#define RADIUS_INSIDE 0.6

/* As parts of a model definition. */
typedef struct parts {
    pl_memory *memory;
    int n, edge_count, tet_count;
    int32_t *tet_of;           /* [model's tets] where it is now, -1 = dropped */
    int32_t *new_of;           /* [tet_point_count] particle of a corner, -1 = none */
    double *positions, *radii; /* [n][3] metres */
    int32_t *edges;            /* [edge_count][2] */
    int32_t *tets;             /* [tet_count][4] */
    double volume;             /* m³ */
    double *vertices;          /* [vertex_count][3] metres */
    int32_t *influences;       /* [vertex_count][4] */
    float *weights;            /* [vertex_count][4] */
    int32_t *vertex_tet;       /* [vertex_count] */
    float *barycentric;        /* [vertex_count][4] */
} parts;

/* ---- Tetrahedra ------------------------------------------------------------------------------ */

static double extent_of(const pl_model *model)
{
    double extent = 0;
    for (size_t k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < (size_t)model->tet_point_count; i++) {
            low = fmin(low, (double)model->tet_points[3 * i + k]);
            high = fmax(high, (double)model->tet_points[3 * i + k]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

static bool is_flat(const pl_model *model, const int32_t tet[4], double size)
{
    double corner[4][3], volume6, longest2;
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 3; k++)
            corner[c][k] = (double)model->tet_points[3 * (size_t)tet[c] + (size_t)k];
    pl_tet_measure((const double *[]){corner[0], corner[1], corner[2], corner[3]}, &volume6,
                   &longest2);
    return pl_tet_is_flat(volume6, longest2, size);
}

/* Those worth keeping, by the model's corners. */
static bool choose_tets(const pl_model *model, parts *p)
{
    size_t count = (size_t)model->tet_count;
    double size = extent_of(model);
    pl_tuples seen;
    p->tet_of = PL_NEW(p->memory, int32_t, count);
    p->tets = PL_NEW(p->memory, int32_t, 4 * count);
    if (!p->tet_of || !p->tets || !pl_tuples_make(p->memory, 4, count, &seen))
        return false;
    for (size_t t = 0; t < count; t++) {
        const int32_t *tet = model->tets + 4 * t;
        int known = seen.count;
        p->tet_of[t] = -1;
        if (is_flat(model, tet, size) || pl_tuples_add(&seen, tet) < known)
            continue;
        p->tet_of[t] = p->tet_count;
        memcpy(p->tets + 4 * (size_t)p->tet_count++, tet, 4 * sizeof *tet);
    }
    pl_tuples_free(p->memory, &seen);
    return true;
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* The corners that are used, in their order. */
static bool choose_corners(const pl_model *model, parts *p)
{
    size_t corners = 4 * (size_t)p->tet_count, points = (size_t)model->tet_point_count;
    p->new_of = PL_NEW(p->memory, int32_t, points);
    if (!p->new_of)
        return false;
    for (size_t i = 0; i < corners; i++)
        p->new_of[p->tets[i]] = 1;
    for (size_t i = 0; i < points; i++)
        p->new_of[i] = p->new_of[i] ? p->n++ : -1;
    for (size_t i = 0; i < corners; i++)
        p->tets[i] = p->new_of[p->tets[i]];
    return true;
}

static bool place_corners(const pl_model *model, parts *p)
{
    p->positions = PL_NEW(p->memory, double, 3 * (size_t)p->n);
    if (!p->positions)
        return false;
    for (size_t i = 0; i < (size_t)model->tet_point_count; i++)
        for (size_t k = 0; k < 3 && p->new_of[i] >= 0; k++)
            p->positions[3 * (size_t)p->new_of[i] + k] =
                model->centre[k] + model->unit * (double)model->tet_points[3 * i + k];
    return true;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* Each edge of each tetrahedron as a number, the lower particle first. */
static void list_edges(const parts *p, size_t tet_count, pl_sort_item *items)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (size_t t = 0; t < tet_count; t++)
        for (size_t e = 0; e < 6; e++) {
            uint64_t a = (uint64_t)p->tets[4 * t + (size_t)ends[e][0]];
            uint64_t b = (uint64_t)p->tets[4 * t + (size_t)ends[e][1]];
            items[6 * t + e].key = a < b ? a << 32 | b : b << 32 | a;
            items[6 * t + e].index = 0;
        }
}

static bool find_edges(parts *p)
{
    size_t tet_count = (size_t)p->tet_count, count = 6 * tet_count;
    pl_sort_item *items = PL_NEW(p->memory, pl_sort_item, 2 * count);
    p->edges = PL_NEW(p->memory, int32_t, 2 * count);
    if (items && p->edges) {
        list_edges(p, tet_count, items);
        pl_sort(items, items + count, count);
        for (size_t i = 0; i < count; i++) {
            if (i > 0 && items[i].key == items[i - 1].key)
                continue;
            p->edges[2 * p->edge_count] = (int32_t)(items[i].key >> 32);
            p->edges[2 * p->edge_count + 1] = (int32_t)(items[i].key & 0xffffffffu);
            p->edge_count++;
        }
    }
    pl_memory_free(p->memory, items);
    return items && p->edges;
}

static double edge_length(const parts *p, int edge)
{
    const double *a = p->positions + 3 * (size_t)p->edges[2 * edge];
    const double *b = p->positions + 3 * (size_t)p->edges[2 * edge + 1];
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Corners of one side, ascending. */
static void side_of(const int32_t *tets, uint32_t side, uint64_t corner[3])
{
    for (uint32_t k = 0; k < 3; k++)
        corner[k] = (uint64_t)tets[4 * (size_t)(side / 4) + (side % 4 + 1 + k) % 4];
    for (int k = 0; k < 3; k++) {
        int a = k == 1, b = a + 1;
        uint64_t low = corner[a] < corner[b] ? corner[a] : corner[b];
        corner[b] = corner[a] < corner[b] ? corner[b] : corner[a];
        corner[a] = low;
    }
}

/* Sides that only one tetrahedron has are the surface; `outside` marks their corners. */
static bool mark_surface(const parts *p, size_t tet_count, uint8_t *outside)
{
    size_t count = 4 * tet_count;
    uint64_t corner[3], other[3];
    pl_sort_item *items = PL_NEW(p->memory, pl_sort_item, 2 * count);
    for (size_t i = 0; items && i < count; i++)
        items[i].index = (uint32_t)i;
    for (int pass = 0; items && pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            side_of(p->tets, items[i].index, corner);
            items[i].key = pass ? corner[0] << 32 | corner[1] : corner[2];
        }
        pl_sort(items, items + count, count);
    }
    for (size_t i = 0; items && i < count; i++) {
        bool alone = true;
        side_of(p->tets, items[i].index, corner);
        for (int next = -1; next <= 1; next += 2) {
            if ((i == 0 && next < 0) || (i + 1 == count && next > 0))
                continue;
            side_of(p->tets, items[next < 0 ? i - 1 : i + 1].index, other);
            alone = alone && memcmp(corner, other, sizeof corner) != 0;
        }
        for (int k = 0; k < 3 && alone; k++)
            outside[corner[k]] = 1;
    }
    pl_memory_free(p->memory, items);
    return items;
}

static bool size_particles(parts *p, size_t tet_count)
{
    double *length = PL_NEW(p->memory, double, 2 * (size_t)p->n); /* and their number */
    uint8_t *outside = PL_NEW(p->memory, uint8_t, p->n);
    p->radii = PL_NEW(p->memory, double, 3 * (size_t)p->n);
    bool good = length && p->radii && outside && mark_surface(p, tet_count, outside);
    for (int e = 0; good && e < p->edge_count; e++)
        for (int end = 0; end < 2; end++) {
            length[2 * p->edges[2 * e + end]] += edge_length(p, e);
            length[2 * p->edges[2 * e + end] + 1] += 1;
        }
    for (int i = 0; good && i < p->n; i++)
        for (int k = 0; k < 3; k++)
            p->radii[3 * i + k] =
                (outside[i] ? RADIUS_OUTSIDE : RADIUS_INSIDE) * length[2 * i] / length[2 * i + 1];
    pl_memory_free(p->memory, length);
    pl_memory_free(p->memory, outside);
    return good;
}

static double tet_volume(const double *points, const int32_t tet[4])
{
    const double *p[4];
    double volume6, longest2;
    for (int c = 0; c < 4; c++)
        p[c] = points + 3 * (size_t)tet[c];
    pl_tet_measure(p, &volume6, &longest2);
    return volume6 / 6;
}

/* ---- Surface --------------------------------------------------------------------------------- */

/* Vertices that lost their tetrahedron, in the nearest of those that are left. */
static bool embed_lost(parts *p, size_t count, size_t lost)
{
    double *query = PL_NEW(p->memory, double, 3 * lost);
    int32_t *tet = PL_NEW(p->memory, int32_t, lost);
    float *barycentric = PL_NEW(p->memory, float, 4 * lost);
    bool good = query && tet && barycentric;
    for (size_t v = 0, i = 0; good && v < count; v++)
        if (p->vertex_tet[v] < 0)
            memcpy(query + 3 * i++, p->vertices + 3 * v, 3 * sizeof *query);
    good = good && pl_embed(p->memory, p->n, p->positions, p->tet_count, p->tets, (int)lost, query,
                            tet, barycentric, NULL) == PL_OK;
    for (size_t v = 0, i = 0; good && v < count; v++) {
        if (p->vertex_tet[v] >= 0)
            continue;
        p->vertex_tet[v] = tet[i];
        memcpy(p->barycentric + 4 * v, barycentric + 4 * i++, 4 * sizeof *barycentric);
    }
    pl_memory_free(p->memory, query);
    pl_memory_free(p->memory, tet);
    pl_memory_free(p->memory, barycentric);
    return good;
}

static bool embed_surface(const pl_model *model, parts *p)
{
    size_t count = (size_t)model->vertex_count, lost = 0;
    p->vertex_tet = PL_NEW(p->memory, int32_t, count);
    p->barycentric = PL_NEW(p->memory, float, 4 * count);
    if (!p->vertex_tet || !p->barycentric)
        return false;
    for (size_t v = 0; v < count; v++) {
        p->vertex_tet[v] = p->tet_of[model->vertex_tet[v]];
        memcpy(p->barycentric + 4 * v, model->vertex_barycentric + 4 * v,
               4 * sizeof *p->barycentric);
        lost += p->vertex_tet[v] < 0;
    }
    return lost == 0 || embed_lost(p, count, lost);
}

/* Coordinates that are not negative; there is one, as they sum to one. */
static void bind_vertex(parts *p, size_t v)
{
    const int32_t *tet = p->tets + 4 * (size_t)p->vertex_tet[v];
    const float *coordinates = p->barycentric + 4 * v;
    for (size_t k = 0; k < 4; k++) {
        p->influences[4 * v + k] = coordinates[k] > 0 ? tet[k] : -1;
        p->weights[4 * v + k] = fmaxf(coordinates[k], 0);
    }
}

static bool bind_surface(const pl_model *model, parts *p)
{
    size_t count = (size_t)model->vertex_count;
    p->vertices = PL_NEW(p->memory, double, 3 * count);
    p->influences = PL_NEW(p->memory, int32_t, 4 * count);
    p->weights = PL_NEW(p->memory, float, 4 * count);
    if (!p->vertices || !p->influences || !p->weights)
        return false;
    for (size_t i = 0; i < 3 * count; i++)
        p->vertices[i] = model->centre[i % 3] + model->unit * (double)model->vertices[i];
    if (!embed_surface(model, p))
        return false;
    for (size_t v = 0; v < count; v++)
        bind_vertex(p, v);
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

static pl_status make(const pl_model *model, const parts *p, pl_model **out, pl_error *error)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = p->n;
    def.positions = pl_doubles(p->positions, 0);
    def.radii = pl_doubles(p->radii, 0);
    def.edge_count = p->edge_count;
    def.edges = p->edges;
    def.several_pieces = true;
    def.volume = p->volume;
    def.vertex_count = model->vertex_count;
    if (model->vertex_count) {
        def.vertices = pl_doubles(p->vertices, 0);
        def.influence_count = 4;
        def.influences = p->influences;
        def.weights = p->weights;
    }
    def.triangle_count = model->triangle_count;
    def.triangles = model->triangles;
    def.look = &model->look;
    def.tet_point_count = p->n;
    def.tet_points = pl_doubles(p->positions, 0);
    def.tet_count = p->tet_count;
    def.tets = p->tets;
    if (model->vertex_count) {
        def.vertex_tets = p->vertex_tet;
        def.vertex_barycentric = p->barycentric;
    }
    return pl_model_create(&def, out, error);
}

static bool find_parts(const pl_model *model, parts *p)
{
    if (!choose_corners(model, p) || !place_corners(model, p) || !find_edges(p) ||
        !size_particles(p, (size_t)p->tet_count) || !bind_surface(model, p))
        return false;
    for (size_t t = 0; t < (size_t)p->tet_count; t++)
        p->volume += tet_volume(p->positions, p->tets + 4 * t);
    return true;
}

__attribute__((noinline)) static pl_status derive(const pl_model *model, pl_model **out,
                                                  pl_error *error)
{
    PL_CHECK(model, PL_ERROR_ARGUMENT, error, "model", "is NULL");
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "tetrahedral",
             "is NULL; it must be where the model is to be put");
    PL_CHECK(model->tet_count > 0, PL_ERROR_ARGUMENT, error, "model",
             "has no tetrahedra; cook it with a number of them (tet_count), or define some");
    pl_memory memory = model->memory;
    parts p = {.memory = &memory};
    bool chosen = choose_tets(model, &p);
    pl_status status;
    if (chosen && p.tet_count == 0)
        status =
            pl_fail(error, PL_ERROR_ARGUMENT, "model",
                    "has tetrahedra, %d, but all are flat: there is no volume", model->tet_count);
    else if (chosen && find_parts(model, &p))
        status = make(model, &p, out, error);
    else
        status =
            pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d tetrahedra", model->tet_count);
    void *arrays[] = {p.new_of,   p.positions,  p.radii,   p.edges,      p.tets,       p.tet_of,
                      p.vertices, p.influences, p.weights, p.vertex_tet, p.barycentric};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_memory_free(&memory, arrays[i]);
    return status;
}

pl_status pl_model_tetrahedral(const pl_model *model, pl_model **out, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = derive(model, out, error);
    pl_float_env_leave(host);
    return status;
}
