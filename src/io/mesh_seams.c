/* From corners that choose position, UV and normal separately to vertices that have all three, as
   renderers want them. Position i stays vertex i, with the first combination a face gives it;
   corners that want another one share a new vertex with those that want the same. Many programs
   write the same normal again for every corner: equal pool entries are made one first. Found by
   sorting: no table that hostile numbers could clog. */
#include "base/sort.h"
#include "io/mesh_parts.h"

enum { UNSET = -2 };

/* Which pool entries a vertex has. */
typedef struct choice {
    int32_t uv, normal;
} choice;

typedef struct seams {
    pl_mesh_build *build;
    size_t corner_count;
    int32_t *corners;             /* vertices of the triangles, one after the other */
    const int32_t *uvs, *normals; /* of the corners, NULL = none */
    choice *choices;              /* of the positions */
    pl_array extra;               /* uint32_t: corners that need another vertex */
    pl_sort_item *items, *scratch;
    uint32_t *leader; /* of an extra corner: the first one with the same combination */
} seams;

static inline choice choice_of(const seams *s, size_t corner)
{
    choice made = {s->uvs ? s->uvs[corner] : -1, s->normals ? s->normals[corner] : -1};
    return made;
}

static bool same(choice a, choice b)
{
    return a.uv == b.uv && a.normal == b.normal;
}

/* The first combination of each position; the corners that want another. */
static bool find_extra(seams *s)
{
    size_t positions = s->build->positions.count;
    for (size_t i = 0; i < positions; i++)
        s->choices[i] = (choice){UNSET, UNSET};
    for (size_t i = 0; i < s->corner_count; i++) {
        choice *first = &s->choices[s->corners[i]], wanted = choice_of(s, i);
        if (first->uv == UNSET)
            *first = wanted;
        if (same(*first, wanted))
            continue;
        uint32_t *extra = i <= UINT32_MAX ? pl_array_add(&s->extra, 1) : NULL;
        if (!extra)
            return false;
        *extra = (uint32_t)i;
    }
    return true;
}

/* Sorts the extra corners by (position, uv, normal), those that came first in front; neighbours
   that are equal get the first of them as leader. */
static bool find_leaders(seams *s)
{
    size_t count = s->extra.count;
    const uint32_t *extra = s->extra.data;
    s->items = PL_NEW(s->build->memory, pl_sort_item, count);
    s->scratch = PL_NEW(s->build->memory, pl_sort_item, count);
    s->leader = PL_NEW(s->build->memory, uint32_t, count);
    if (!s->items || !s->scratch || !s->leader)
        return false;
    for (size_t i = 0; i < count; i++)
        s->items[i] = (pl_sort_item){(uint32_t)choice_of(s, extra[i]).normal, (uint32_t)i};
    pl_sort(s->items, s->scratch, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t corner = extra[s->items[i].index];
        s->items[i].key =
            (uint64_t)(uint32_t)s->corners[corner] << 32 | (uint32_t)choice_of(s, corner).uv;
    }
    pl_sort(s->items, s->scratch, count);
    for (size_t i = 0, first = 0; i < count; i++) {
        uint32_t a = extra[s->items[i].index], b = extra[s->items[first].index];
        if (s->items[i].key != s->items[first].key || !same(choice_of(s, a), choice_of(s, b)))
            first = i;
        s->leader[s->items[i].index] = s->items[first].index;
    }
    return true;
}

/* A copy of a vertex with all its attributes behind the others; -1 without memory. */
static int32_t copy_vertex(pl_mesh_build *build, int32_t vertex)
{
    double *copy = pl_mesh_build_vertices(build, 1);
    if (!copy)
        return -1;
    memcpy(copy, (double *)build->positions.data + 3 * (size_t)vertex, 3 * sizeof *copy);
    for (int a = 0; a < PL_ATTRIBUTE_COUNT; a++) {
        pl_array *table = &build->attributes[a];
        if (!table->count)
            continue;
        char *row = pl_array_add(table, 1);
        if (!row)
            return -1;
        memcpy(row, (char *)table->data + (size_t)vertex * table->size, table->size);
    }
    return (int32_t)build->positions.count - 1;
}

static void put_choice(pl_mesh_build *build, size_t vertex, choice chosen)
{
    float *uvs = build->attributes[PL_ATTRIBUTE_UV].data;
    float *normals = build->attributes[PL_ATTRIBUTE_NORMAL].data;
    const float *pool_uvs = build->pool_uvs.data, *pool_normals = build->pool_normals.data;
    if (chosen.uv >= 0)
        memcpy(uvs + 2 * vertex, pool_uvs + 2 * (size_t)chosen.uv, 2 * sizeof *uvs);
    if (chosen.normal >= 0)
        memcpy(normals + 3 * vertex, pool_normals + 3 * (size_t)chosen.normal, 3 * sizeof *normals);
}

/* In the order of the corners, so that new vertices are numbered by their first use; leaders come
   before their followers. Positions get their choice last: the copies are of what the file gave the
   vertex itself. */
static bool make_vertices(seams *s)
{
    const uint32_t *extra = s->extra.data;
    size_t positions = s->build->positions.count;
    for (size_t i = 0; i < s->extra.count; i++) {
        uint32_t corner = extra[i];
        if (s->leader[i] != i) {
            s->corners[corner] = s->corners[extra[s->leader[i]]];
            continue;
        }
        int32_t made = copy_vertex(s->build, s->corners[corner]);
        if (made < 0)
            return false;
        put_choice(s->build, (size_t)made, choice_of(s, corner));
        s->corners[corner] = made;
    }
    for (size_t i = 0; i < positions; i++)
        put_choice(s->build, i, s->choices[i]);
    return true;
}

/* ---- Equal pool entries ---------------------------------------------------------------------- */

static uint64_t key_of(const uint32_t *row, size_t width, int turn)
{
    return turn == 0 ? (width > 2 ? row[2] : 0) : (uint64_t)row[0] << 32 | row[1];
}

/* Sorted by all their bits, equal entries are neighbours, the first of the file in front. */
static void find_equal(const pl_array *pool, pl_sort_item *items, pl_sort_item *scratch,
                       int32_t *first_equal)
{
    const uint32_t *rows = pool->data;
    size_t width = pool->size / sizeof *rows;
    for (size_t i = 0; i < pool->count; i++)
        items[i].index = (uint32_t)i;
    for (int turn = width > 2 ? 0 : 1; turn < 2; turn++) {
        for (size_t i = 0; i < pool->count; i++)
            items[i].key = key_of(rows + width * items[i].index, width, turn);
        pl_sort(items, scratch, pool->count);
    }
    for (size_t i = 0, first = 0; i < pool->count; i++) {
        if (memcmp(rows + width * items[i].index, rows + width * items[first].index, pool->size))
            first = i;
        first_equal[items[i].index] = (int32_t)items[first].index;
    }
}

static bool merge_equal(pl_mesh_build *build, const pl_array *pool, pl_array *table)
{
    if (!table->count)
        return true;
    pl_sort_item *items = PL_NEW(build->memory, pl_sort_item, pool->count);
    pl_sort_item *scratch = PL_NEW(build->memory, pl_sort_item, pool->count);
    int32_t *first_equal = PL_NEW(build->memory, int32_t, pool->count), *choices = table->data;
    bool good = items && scratch && first_equal;
    if (good) {
        find_equal(pool, items, scratch, first_equal);
        for (size_t i = 0; i < 3 * table->count; i++)
            choices[i] = choices[i] < 0 ? -1 : first_equal[choices[i]];
    }
    pl_memory_free(build->memory, items);
    pl_memory_free(build->memory, scratch);
    pl_memory_free(build->memory, first_equal);
    return good;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Rows of −1 for the triangles behind those that have any. */
static bool complete(pl_mesh_build *build, pl_array *table, int attribute)
{
    if (!table->count)
        return true;
    size_t missing = build->triangles.count - table->count;
    void *rows = pl_array_reserve(table, missing + 1) ? pl_array_add(table, missing) : NULL;
    if (!rows)
        return false;
    memset(rows, 0xFF, missing * table->size);
    return pl_mesh_attribute_widen(build, attribute);
}

bool pl_mesh_split_seams(pl_mesh_build *build)
{
    if (!build->triangle_uvs.count && !build->triangle_normals.count)
        return true;
    if (!complete(build, &build->triangle_uvs, PL_ATTRIBUTE_UV) ||
        !complete(build, &build->triangle_normals, PL_ATTRIBUTE_NORMAL) ||
        !merge_equal(build, &build->pool_uvs, &build->triangle_uvs) ||
        !merge_equal(build, &build->pool_normals, &build->triangle_normals))
        return false;
    seams s = {.build = build,
               .corner_count = 3 * build->triangles.count,
               .corners = build->triangles.data,
               .uvs = build->triangle_uvs.data,
               .normals = build->triangle_normals.data,
               .extra = pl_array_make(build->memory, sizeof(uint32_t))};
    s.choices = PL_NEW(build->memory, choice, build->positions.count);
    bool good = s.choices && find_extra(&s) && find_leaders(&s) && make_vertices(&s);
    pl_memory_free(build->memory, s.choices);
    pl_memory_free(build->memory, s.items);
    pl_memory_free(build->memory, s.scratch);
    pl_memory_free(build->memory, s.leader);
    pl_array_free(&s.extra);
    return good;
}
