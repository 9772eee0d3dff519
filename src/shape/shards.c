#include "shape/shards.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sort.h"

/* ---- Whose share ----------------------------------------------------------------------------- */

/* A corner in a share: a vertex of the model, or a corner of its tetrahedra behind those; and how
   it is bound. */
typedef struct corner {
    int32_t vertex, home;
} corner;

typedef struct making {
    pl_memory *memory;
    const pl_model *model;
    const pl_model *walls; /* the tetrahedra's corners as a surface; NULL = no walls */
    pl_array corners;      /* corner: one per corner of a triangle, in order */
    float *inward;         /* [tet points][3] how far walls keep behind the surface, units */
    int outer;             /* triangles of the surface */
} making;

static const int32_t *influences_of(const making *m, int32_t vertex, const float **weights)
{
    const pl_model *model = vertex < m->model->vertex_count ? m->model : m->walls;
    size_t at =
        (size_t)(vertex < m->model->vertex_count ? vertex : vertex - m->model->vertex_count);
    at *= (size_t)model->influence_count;
    *weights = model->weights + at;
    return model->influences + at;
}

static int influence_count(const making *m)
{
    return m->model->influence_count;
}

/* The particle that carries most of some vertices together; the lowest of equals. */
static int32_t heaviest(const making *m, const int32_t *vertices, int count)
{
    int32_t best = -1;
    float most = -1;
    for (int a = 0; a < count; a++) {
        const float *weights;
        const int32_t *own = influences_of(m, vertices[a], &weights);
        for (int k = 0; k < influence_count(m); k++) {
            float sum = 0;
            for (int b = 0; own[k] >= 0 && b < count; b++) {
                const float *w;
                const int32_t *other = influences_of(m, vertices[b], &w);
                for (int j = 0; j < influence_count(m); j++)
                    sum += other[j] == own[k] ? w[j] : 0;
            }
            if (own[k] >= 0 && (sum > most || (sum == most && own[k] < best))) {
                most = sum;
                best = own[k];
            }
        }
    }
    return best;
}

static bool add_triangle(making *m, const int32_t vertices[3], int32_t home)
{
    corner *c = pl_array_add(&m->corners, 3);
    for (int k = 0; c && k < 3; k++)
        c[k] = (corner){vertices[k], home};
    return c != NULL;
}

static bool share_surface(making *m)
{
    bool good = true;
    for (int t = 0; good && t < m->model->triangle_count; t++) {
        const int32_t *vertices = m->model->triangles + 3 * (size_t)t;
        good = add_triangle(m, vertices, heaviest(m, vertices, 3));
    }
    m->outer = m->model->triangle_count;
    return good;
}

/* ---- Walls ----------------------------------------------------------------------------------- */

/* A face of a tetrahedron, its corners ascending. */
typedef struct face {
    int32_t corner[3], tet, side;
} face;

static face face_of(const pl_model *model, int tet, int side)
{
    face f = {.tet = tet, .side = side};
    int at = 0;
    for (int k = 0; k < 4; k++)
        if (k != side)
            f.corner[at++] = model->tets[4 * (size_t)tet + (size_t)k];
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && f.corner[k] < f.corner[k - 1]; k--) {
            int32_t swap = f.corner[k];
            f.corner[k] = f.corner[k - 1];
            f.corner[k - 1] = swap;
        }
    return f;
}

static bool same_face(const face *a, const face *b)
{
    return memcmp(a->corner, b->corner, sizeof a->corner) == 0;
}

/* Outward winding of the side opposite to each corner. */
static void wound(const pl_model *model, const face *f, int32_t out[3])
{
    static const int order[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int k = 0; k < 3; k++)
        out[k] = model->tets[4 * (size_t)f->tet + (size_t)order[f->side][k]];
}

static bool add_wall(making *m, const face *f, int32_t home)
{
    int32_t vertices[3];
    wound(m->model, f, vertices);
    for (int k = 0; k < 3; k++)
        vertices[k] += m->model->vertex_count;
    return add_triangle(m, vertices, home);
}

/* No other tetrahedron has this face. */
static bool is_outer(const pl_model *model, const pl_sort_item *items, size_t count, size_t i,
                     const face *f)
{
    for (size_t k = i; k-- > 0 && items[k].key == items[i].key;) {
        face other = face_of(model, (int)(items[k].index / 4), (int)(items[k].index % 4));
        if (same_face(f, &other))
            return false;
    }
    for (size_t k = i + 1; k < count && items[k].key == items[i].key; k++) {
        face other = face_of(model, (int)(items[k].index / 4), (int)(items[k].index % 4));
        if (same_face(f, &other))
            return false;
    }
    return true;
}

/* The tetrahedra follow the surface only roughly: walls that reached all the way to their outside
   would peep out of it. Their rims keep back by this part of an edge. */
#define KEPT_BACK 0.15f

static void note_outer(making *m, const face *f)
{
    int32_t v[3];
    float a[3], b[3], n[3], length = 0, edge = 0;
    wound(m->model, f, v);
    for (int k = 0; k < 3; k++) {
        a[k] = m->model->tet_points[3 * v[1] + k] - m->model->tet_points[3 * v[0] + k];
        b[k] = m->model->tet_points[3 * v[2] + k] - m->model->tet_points[3 * v[0] + k];
        edge += a[k] * a[k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        length += n[k] * n[k];
    }
    for (int c = 0; c < 3 && length > 0; c++)
        for (int k = 0; k < 3; k++)
            m->inward[3 * v[c] + k] -= n[k] * (sqrtf(edge) / sqrtf(length));
}

/* Sums over the faces around a corner become one step of the right length: a mean edge among
   them. */
static void finish_inward(making *m)
{
    double sum = 0;
    for (int t = 0; t < m->model->tet_count; t++) {
        const int32_t *v = m->model->tets + 4 * (size_t)t;
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)m->model->tet_points[3 * v[1] + k] -
                       (double)m->model->tet_points[3 * v[0] + k];
            square += d * d;
        }
        sum += sqrt(square) / m->model->tet_count;
    }
    for (int i = 0; i < m->model->tet_point_count; i++) {
        float *n = m->inward + 3 * (size_t)i;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++)
            n[k] = length > 0 ? n[k] / length * KEPT_BACK * (float)sum : 0;
    }
}

/* Faces by their lowest corner, then found in pairs among the few that have it in common. */
static bool share_volume(making *m)
{
    const pl_model *model = m->model;
    size_t count = 4 * (size_t)model->tet_count;
    int32_t *home = PL_NEW(m->memory, int32_t, model->tet_count);
    pl_sort_item *items = PL_NEW(m->memory, pl_sort_item, 2 * count);
    m->inward = PL_NEW(m->memory, float, 3 * (size_t)model->tet_point_count);
    bool good = home && items && m->inward;
    for (int t = 0; good && t < model->tet_count; t++) {
        int32_t vertices[4];
        for (int k = 0; k < 4; k++)
            vertices[k] = model->tets[4 * (size_t)t + (size_t)k] + model->vertex_count;
        home[t] = heaviest(m, vertices, 4);
        for (int side = 0; side < 4; side++) {
            face f = face_of(model, t, side);
            items[4 * (size_t)t + (size_t)side] =
                (pl_sort_item){(uint64_t)(uint32_t)f.corner[0] << 32 | (uint32_t)f.corner[1],
                               (uint32_t)(4 * t + side)};
        }
    }
    if (good)
        pl_sort(items, items + count, count);
    for (size_t i = 0; good && i < count; i++) {
        face a = face_of(model, (int)(items[i].index / 4), (int)(items[i].index % 4));
        if (is_outer(model, items, count, i, &a))
            note_outer(m, &a);
        for (size_t k = i + 1; good && k < count && items[k].key == items[i].key; k++) {
            face b = face_of(model, (int)(items[k].index / 4), (int)(items[k].index % 4));
            if (same_face(&a, &b) && home[a.tet] != home[b.tet])
                good = add_wall(m, &a, home[a.tet]) && add_wall(m, &b, home[b.tet]);
        }
    }
    if (good)
        finish_inward(m);
    pl_memory_free(m->memory, home);
    pl_memory_free(m->memory, items);
    return good;
}

/* The tetrahedra's corners as a surface of the same particles: that computes their weights. */
static pl_status skin_walls(const pl_model *model, pl_model **out, pl_error *error)
{
    pl_memory memory = model->memory;
    size_t n = (size_t)model->particle_count, v = (size_t)model->tet_point_count;
    double *x = PL_NEW(&memory, double, 3 * n), *r = PL_NEW(&memory, double, 3 * n);
    double *points = PL_NEW(&memory, double, 3 * v);
    pl_status status = PL_ERROR_MEMORY;
    if (x && r && points) {
        for (size_t i = 0; i < 3 * n; i++) {
            x[i] = model->centre[i % 3] + model->unit * (double)model->rest[i];
            r[i] = model->unit * (double)model->radii[i];
        }
        for (size_t i = 0; i < 3 * v; i++)
            points[i] = model->centre[i % 3] + model->unit * (double)model->tet_points[i];
        pl_model_def def = pl_default_model_def();
        def.particle_count = model->particle_count;
        def.positions = pl_doubles(x, 0);
        def.radii = pl_doubles(r, 0);
        def.edge_count = model->edge_count;
        def.edges = model->edges;
        def.several_pieces = true;
        def.dimension = model->dimension;
        def.vertex_count = model->tet_point_count;
        def.vertices = pl_doubles(points, 0);
        def.influence_count = model->influence_count;
        status = pl_model_create(&def, out, error);
    } else {
        pl_fail(error, status, NULL, "no memory for the walls of %d tetrahedra", model->tet_count);
    }
    pl_memory_free(&memory, x);
    pl_memory_free(&memory, r);
    pl_memory_free(&memory, points);
    return status;
}

/* ---- Corners become vertices ----------------------------------------------------------------- */

/* One vertex for all corners alike; the first of them is the sample. Returns their number, -1
   without memory. */
static int join_corners(const making *m, int32_t *vertex_of, int32_t *sample)
{
    size_t count = m->corners.count;
    const corner *corners = m->corners.data;
    pl_sort_item *items = PL_NEW(m->memory, pl_sort_item, 2 * count);
    if (!items)
        return -1;
    for (size_t i = 0; i < count; i++)
        items[i] = (pl_sort_item){
            (uint64_t)(uint32_t)corners[i].vertex << 32 | (uint32_t)corners[i].home, (uint32_t)i};
    pl_sort(items, items + count, count);
    int made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || items[i].key != items[i - 1].key)
            sample[made++] = (int32_t)items[i].index;
        vertex_of[items[i].index] = made - 1;
    }
    pl_memory_free(m->memory, items);
    return made;
}

/* Models leave out influences of no weight at all; this moves nothing by an amount that could be
   seen. */
#define HARDLY 1e-6f

/* The share's own particle first; it takes the place of the lightest where the vertex does not hang
   on it. */
static void bind(const making *m, const corner *c, int count, int32_t *influences, float *weights)
{
    const float *w;
    const int32_t *own = influences_of(m, c->vertex, &w);
    int found = -1;
    for (int k = 0; k < count; k++)
        if (own[k] == c->home)
            found = k;
    influences[0] = c->home;
    weights[0] = found >= 0 ? w[found] : HARDLY;
    int at = 1,
        last = found >= 0 ? count : count - 1; /* weights descend: the last one is the lightest */
    for (int k = 0; k < last && at < count; k++)
        if (k != found) {
            influences[at] = own[k];
            weights[at++] = own[k] >= 0 ? w[k] : 0;
        }
    for (; at < count; at++)
        influences[at] = -1, weights[at] = 0;
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += weights[k];
    if (!(sum > 0))
        weights[0] = 1;
}

static bool allocate(pl_memory *memory, const pl_model *model, pl_shards *s)
{
    size_t v = (size_t)s->vertex_count, t = (size_t)s->triangle_count;
    size_t w = v * (size_t)s->influence_count;
    const pl_look *look = &model->look;
    bool good = (s->vertices = PL_NEW(memory, double, 3 * v)) &&
                (s->triangles = PL_NEW(memory, int32_t, 3 * t)) &&
                (s->influences = PL_NEW(memory, int32_t, w)) &&
                (s->weights = PL_NEW(memory, float, w)) &&
                (s->normals = PL_NEW(memory, float, 3 * v)) &&
                (!look->tangents || (s->tangents = PL_NEW(memory, float, 4 * v))) &&
                (!look->colours || (s->colours = PL_NEW(memory, float, 4 * v))) &&
                (!look->triangle_materials || (s->materials = PL_NEW(memory, int32_t, t))) &&
                (!look->triangle_groups || (s->groups = PL_NEW(memory, int32_t, t)));
    for (int k = 0; good && k < look->uv_set_count; k++)
        good = (s->uvs[k] = PL_NEW(memory, float, 2 * v)) != NULL;
    return good;
}

static void copy_row(float *to, const float *from, size_t at, size_t source, int width)
{
    if (to && from)
        memcpy(to + at * (size_t)width, from + source * (size_t)width,
               sizeof(float) * (size_t)width);
}

static void fill_vertex(const making *m, const corner *c, int at, pl_shards *s)
{
    const pl_model *model = m->model;
    size_t v = (size_t)at, from = (size_t)c->vertex, influences = (size_t)s->influence_count;
    bool wall = c->vertex >= model->vertex_count;
    const float *point = wall ? model->tet_points + 3 * (from - (size_t)model->vertex_count)
                              : model->vertices + 3 * from;
    for (size_t k = 0; k < 3; k++) {
        size_t row = 3 * (from - (size_t)model->vertex_count) + k;
        double back = wall ? (double)m->inward[row] : 0;
        s->vertices[3 * v + k] = model->centre[k] + model->unit * ((double)point[k] + back);
    }
    bind(m, c, s->influence_count, s->influences + v * influences, s->weights + v * influences);
    if (wall)
        return;
    copy_row(s->normals, model->normals, v, from, 3);
    copy_row(s->tangents, model->tangents, v, from, 4);
    copy_row(s->colours, model->look.colours, v, from, 4);
    for (int k = 0; k < model->look.uv_set_count; k++)
        copy_row(s->uvs[k], model->look.uvs[k], v, from, 2);
}

/* Walls have the normals of their faces, the mean of them where several meet; colours and tangents
   of anything will do. */
static void finish_walls(const making *m, const int32_t *sample, pl_shards *s)
{
    const corner *corners = m->corners.data;
    for (int t = s->outer_triangles; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        double a[3], b[3], n[3];
        for (int k = 0; k < 3; k++) {
            a[k] = s->vertices[3 * v[1] + k] - s->vertices[3 * v[0] + k];
            b[k] = s->vertices[3 * v[2] + k] - s->vertices[3 * v[0] + k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int c = 0; c < 3 && length > 0; c++)
            for (int k = 0; k < 3; k++)
                s->normals[3 * v[c] + k] += (float)(n[k] / length);
    }
    for (int v = 0; v < s->vertex_count; v++) {
        if (corners[sample[v]].vertex < m->model->vertex_count)
            continue;
        float *n = s->normals + 3 * (size_t)v;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++)
            n[k] = length > 1e-6f ? n[k] / length : k == 1;
        if (s->tangents) {
            static const float any[4] = {1, 0, 0, 1};
            memcpy(s->tangents + 4 * (size_t)v, any, sizeof any);
        }
        for (int k = 0; s->colours && k < 4; k++)
            s->colours[4 * (size_t)v + (size_t)k] = 1;
    }
}

static void finish_look(const making *m, pl_shards *s)
{
    const pl_look *look = &m->model->look;
    s->look = *look;
    s->look.normals = s->normals;
    s->look.tangents = s->tangents;
    s->look.colours = s->colours;
    for (int k = 0; k < look->uv_set_count; k++)
        s->look.uvs[k] = s->uvs[k];
    for (int t = 0; t < s->triangle_count; t++) {
        bool outer = t < s->outer_triangles;
        if (s->materials)
            s->materials[t] = outer ? look->triangle_materials[t] : look->triangle_materials[0];
        if (s->groups)
            s->groups[t] = outer ? look->triangle_groups[t] : look->triangle_groups[0];
    }
    s->look.triangle_materials = s->materials;
    s->look.triangle_groups = s->groups;
}

static bool fill(const making *m, pl_shards *s)
{
    size_t count = m->corners.count;
    int32_t *vertex_of = PL_NEW(m->memory, int32_t, count);
    int32_t *sample = PL_NEW(m->memory, int32_t, count);
    bool good = vertex_of && sample;
    s->triangle_count = (int)(count / 3);
    s->outer_triangles = m->outer;
    s->influence_count = m->model->influence_count;
    if (good)
        good = (s->vertex_count = join_corners(m, vertex_of, sample)) >= 0 &&
               allocate(m->memory, m->model, s);
    if (good) {
        memcpy(s->triangles, vertex_of, count * sizeof *vertex_of);
        for (int v = 0; v < s->vertex_count; v++)
            fill_vertex(m, (const corner *)m->corners.data + sample[v], v, s);
        finish_walls(m, sample, s);
        finish_look(m, s);
    }
    pl_memory_free(m->memory, vertex_of);
    pl_memory_free(m->memory, sample);
    return good;
}

/* ---- Interface ------------------------------------------------------------------------------- */

pl_status pl_shards_make(pl_memory *memory, const pl_model *model, pl_shards *shards,
                         pl_error *error)
{
    *shards = (pl_shards){0};
    pl_model *walls = NULL;
    making m = {.memory = memory, .model = model, .corners = pl_array_make(memory, sizeof(corner))};
    if (model->tet_count && model->edge_count) {
        PL_TRY(skin_walls(model, &walls, error));
        m.walls = walls;
        if (walls->influence_count != model->influence_count)
            m.walls = NULL;
    }
    bool good = share_surface(&m) && (!m.walls || share_volume(&m)) && fill(&m, shards);
    pl_array_free(&m.corners);
    pl_memory_free(memory, m.inward);
    pl_model_release(walls);
    if (good)
        return PL_OK;
    pl_shards_free(memory, shards);
    return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for a surface that can break");
}

void pl_shards_free(pl_memory *memory, pl_shards *s)
{
    void *arrays[] = {s->vertices, s->triangles, s->influences, s->weights, s->normals,
                      s->tangents, s->colours,   s->materials,  s->groups};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_memory_free(memory, arrays[i]);
    for (int k = 0; k < PL_MAX_UV_SETS; k++)
        pl_memory_free(memory, s->uvs[k]);
    *s = (pl_shards){0};
}
