#include "draw/corners.h"

#include <string.h>

#include "base/error.h"
#include "math/vec3.h"

/* Triangles whose normals differ by more than this (its cosine, 62 degrees) meet in a crease: a
   pipe of six sides is round, a box is not. */
#define CREASE 0.47

/* Around points with more corners than this all are one group: nobody sees a crease there, and
   comparing all with all would take long. */
enum { MANY_CORNERS = 96 };

typedef struct work {
    int vertex_count, triangle_count;
    const double *positions;
    const int32_t *triangles, *materials;
    int32_t *points;  /* of each vertex: the first one at the same place */
    int32_t *first;   /* of each point: where its corners begin in `around`; one more at the end */
    int32_t *around;  /* corners by point */
    pl_vec3 *normals; /* of each triangle, unit or zero */
} work;

/* ---- Points ---------------------------------------------------------------------------------- */

static uint64_t hash_place(const double *p)
{
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (int k = 0; k < 3; k++) {
        double value = p[k] + 0.0; /* −0 is 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_place(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static pl_status weld(pl_memory *memory, work *w)
{
    size_t room = 16;
    while (room < 2 * (size_t)w->vertex_count)
        room *= 2;
    int32_t *table = PL_NEW(memory, int32_t, room); /* vertex + 1; 0 = free */
    if (!table)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < w->vertex_count; i++) {
        const double *p = w->positions + 3 * (size_t)i;
        size_t slot = hash_place(p) & (room - 1);
        while (table[slot] && !same_place(w->positions + 3 * (size_t)(table[slot] - 1), p))
            slot = (slot + 1) & (room - 1);
        if (!table[slot])
            table[slot] = i + 1;
        w->points[i] = table[slot] - 1;
    }
    pl_memory_free(memory, table);
    return PL_OK;
}

static void list_corners(work *w)
{
    size_t corners = 3 * (size_t)w->triangle_count;
    for (size_t c = 0; c < corners; c++)
        w->first[w->points[w->triangles[c]] + 1]++;
    for (int i = 0; i < w->vertex_count; i++)
        w->first[i + 1] += w->first[i];
    /* Filled from the back, so that `first` ends as it began and corners stand in their order. */
    for (size_t c = corners; c-- > 0;)
        w->around[--w->first[w->points[w->triangles[c]] + 1]] = (int32_t)c;
    for (int i = 0; i < w->vertex_count; i++)
        w->first[i] = w->first[i + 1];
    w->first[w->vertex_count] = (int32_t)corners;
}

static pl_vec3 place(const work *w, int32_t vertex)
{
    const double *p = w->positions + 3 * (size_t)vertex;
    return pl_v3(p[0], p[1], p[2]);
}

static void find_normals(work *w)
{
    for (int t = 0; t < w->triangle_count; t++) {
        const int32_t *v = w->triangles + 3 * (size_t)t;
        pl_vec3 a = place(w, v[0]);
        pl_vec3 u = pl_v3_normalise(pl_v3_sub(place(w, v[1]), a));
        pl_vec3 n = pl_v3_cross(u, pl_v3_normalise(pl_v3_sub(place(w, v[2]), a)));
        w->normals[t] = pl_v3_normalise(n);
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool share_edge(const work *w, int32_t a, int32_t b)
{
    const int32_t *s = w->triangles + a / 3 * 3, *t = w->triangles + b / 3 * 3;
    for (int i = 1; i < 3; i++)
        for (int k = 1; k < 3; k++)
            if (w->points[s[(a % 3 + i) % 3]] == w->points[t[(b % 3 + k) % 3]])
                return true;
    return false;
}

static bool is_smooth(const work *w, int32_t a, int32_t b)
{
    pl_vec3 m = w->normals[a / 3], n = w->normals[b / 3];
    /* A triangle without area has no normal, and goes with anybody. */
    return (pl_v3_dot(m, n) > CREASE || pl_v3_length2(m) == 0 || pl_v3_length2(n) == 0) &&
           share_edge(w, a, b);
}

/* Labels the corners of one point; returns how many groups there are. */
static int group_point(const work *w, const int32_t *around, int count, int32_t *groups, int base)
{
    int stack[MANY_CORNERS], groups_made = 0;
    if (count > MANY_CORNERS) {
        for (int i = 0; i < count; i++)
            groups[around[i]] = base;
        return 1;
    }
    for (int i = 0; i < count; i++) {
        if (groups[around[i]] >= 0)
            continue;
        int top = 0, group = base + groups_made++;
        groups[around[i]] = group;
        stack[top++] = i;
        while (top > 0) {
            int at = stack[--top];
            for (int k = 0; k < count; k++)
                if (groups[around[k]] < 0 && is_smooth(w, around[at], around[k])) {
                    groups[around[k]] = group;
                    stack[top++] = k;
                }
        }
    }
    return groups_made;
}

/* Corners of one point that agree in everything become one drawn vertex; only the last few made are
   looked at, which finds all but a few around crowded points. */
static void number_point(const work *w, const int32_t *around, int count, pl_corners *made)
{
    int begin = made->vertex_count;
    for (int i = 0; i < count; i++) {
        int32_t corner = around[i], source = w->triangles[corner];
        int32_t material = w->materials ? w->materials[corner / 3] : 0;
        int found = -1, lowest = made->vertex_count - MANY_CORNERS;
        for (int v = made->vertex_count - 1; v >= begin && v >= lowest && found < 0; v--)
            if (made->sources[v] == source && made->normals[v] == made->groups[corner] &&
                (!made->materials || made->materials[v] == material))
                found = v;
        if (found < 0) {
            found = made->vertex_count++;
            made->sources[found] = source;
            made->normals[found] = made->groups[corner];
            if (made->materials)
                made->materials[found] = material;
        }
        made->indices[corner] = (uint32_t)found;
    }
}

static void make_groups(const work *w, pl_corners *made)
{
    memset(made->groups, 0xFF, 3 * (size_t)w->triangle_count * sizeof *made->groups);
    for (int point = 0; point < w->vertex_count; point++) {
        const int32_t *around = w->around + w->first[point];
        int count = w->first[point + 1] - w->first[point];
        made->group_count += group_point(w, around, count, made->groups, made->group_count);
        number_point(w, around, count, made);
    }
}

/* ---- Inside and outside ---------------------------------------------------------------------- */

/* How many triangles have the edge from one point to another, in this direction. */
static int count_edge(const work *w, int32_t from, int32_t to)
{
    int found = 0;
    for (int i = w->first[from]; i < w->first[from + 1]; i++) {
        int32_t corner = w->around[i];
        found += w->points[w->triangles[corner / 3 * 3 + (corner + 1) % 3]] == to;
    }
    return found;
}

static double signed_volume(const work *w)
{
    double sum = 0;
    pl_vec3 origin = w->vertex_count ? place(w, 0) : pl_v3(0, 0, 0);
    for (int t = 0; t < w->triangle_count; t++) {
        const int32_t *v = w->triangles + 3 * (size_t)t;
        pl_vec3 a = pl_v3_sub(place(w, v[0]), origin), b = pl_v3_sub(place(w, v[1]), origin);
        sum += pl_v3_dot(a, pl_v3_cross(b, pl_v3_sub(place(w, v[2]), origin)));
    }
    return sum;
}

static bool is_closed(const work *w)
{
    for (int t = 0; t < w->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int32_t a = w->points[w->triangles[3 * t + k]];
            int32_t b = w->points[w->triangles[3 * t + (k + 1) % 3]];
            if (w->first[a + 1] - w->first[a] > MANY_CORNERS)
                return false; /* or it would take long to know */
            if (count_edge(w, a, b) != 1 || count_edge(w, b, a) != 1)
                return false;
        }
    return signed_volume(w) > 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool allocate(pl_memory *memory, work *w, pl_corners *made)
{
    size_t corners = 3 * (size_t)w->triangle_count;
    w->points = PL_NEW(memory, int32_t, w->vertex_count);
    w->first = PL_NEW(memory, int32_t, (size_t)w->vertex_count + 1);
    w->around = PL_NEW(memory, int32_t, corners);
    w->normals = PL_NEW(memory, pl_vec3, w->triangle_count);
    made->groups = PL_NEW(memory, int32_t, corners);
    made->indices = PL_NEW(memory, uint32_t, corners);
    made->sources = PL_NEW(memory, int32_t, corners);
    made->normals = PL_NEW(memory, int32_t, corners);
    if (w->materials)
        made->materials = PL_NEW(memory, int32_t, corners);
    return w->points && w->first && w->around && w->normals && made->groups && made->indices &&
           made->sources && made->normals && (!w->materials || made->materials);
}

pl_status pl_corners_make(pl_memory *memory, int vertex_count, const double *positions,
                          int triangle_count, const int32_t *triangles, const int32_t *materials,
                          pl_corners *corners)
{
    work w = {.vertex_count = vertex_count,
              .triangle_count = triangle_count,
              .positions = positions,
              .triangles = triangles,
              .materials = materials};
    *corners = (pl_corners){0};
    pl_status status = allocate(memory, &w, corners) ? weld(memory, &w) : PL_ERROR_MEMORY;
    if (status == PL_OK) {
        list_corners(&w);
        find_normals(&w);
        make_groups(&w, corners);
        corners->closed = is_closed(&w);
    } else {
        pl_corners_free(memory, corners);
    }
    pl_memory_free(memory, w.points);
    pl_memory_free(memory, w.first);
    pl_memory_free(memory, w.around);
    pl_memory_free(memory, w.normals);
    return status;
}

void pl_corners_free(pl_memory *memory, pl_corners *corners)
{
    pl_memory_free(memory, corners->groups);
    pl_memory_free(memory, corners->indices);
    pl_memory_free(memory, corners->sources);
    pl_memory_free(memory, corners->normals);
    pl_memory_free(memory, corners->materials);
    *corners = (pl_corners){0};
}
