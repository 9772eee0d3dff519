/* The changeable surface: linking, and the operations on edges with the conditions under which they
   keep it a closed manifold (for a collapse the link condition: the ends have just the two opposite
   vertices in common). */
#include "shape/builtin_web.h"

#include "base/sort.h"

void pl_web_init(pl_web *web, pl_memory *memory)
{
    web->memory = memory;
    web->vertex_array = pl_array_make(memory, sizeof(pl_web_vertex));
    web->corner_array = pl_array_make(memory, sizeof(int32_t));
    web->twin_array = pl_array_make(memory, sizeof(int32_t));
    web->material_array = pl_array_make(memory, sizeof(int32_t));
}

void pl_web_free(pl_web *web)
{
    pl_array_free(&web->vertex_array);
    pl_array_free(&web->corner_array);
    pl_array_free(&web->twin_array);
    pl_array_free(&web->material_array);
}

/* ---- Linking --------------------------------------------------------------------------------- */

static pl_status match_twins(pl_web *web, pl_sort_item *items, pl_sort_item *scratch)
{
    const int32_t *corners = pl_web_corners(web);
    int32_t *twins = pl_web_twins(web);
    size_t count = web->corner_array.count;
    for (size_t h = 0; h < count; h++) {
        uint32_t a = (uint32_t)corners[h], b = (uint32_t)corners[pl_web_next((int32_t)h)];
        items[h].key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        items[h].index = (uint32_t)h;
    }
    pl_sort(items, scratch, count);
    for (size_t i = 0; i < count; i += 2) {
        bool pair = i + 1 < count && items[i].key == items[i + 1].key &&
                    (i + 2 == count || items[i + 2].key != items[i].key);
        if (!pair || corners[items[i].index] == corners[items[i + 1].index])
            return PL_ERROR_STATE;
        twins[items[i].index] = (int32_t)items[i + 1].index;
        twins[items[i + 1].index] = (int32_t)items[i].index;
    }
    return PL_OK;
}

/* Gives every triangle connected with `seed` the number `component`; returns how many they are. */
static int flood(const pl_web *web, int32_t seed, int32_t component, int32_t *of, int32_t *stack)
{
    const int32_t *twins = pl_web_twins(web);
    int reached = 0, open = 0;
    of[seed] = component;
    stack[open++] = seed;
    while (open > 0) {
        int32_t t = stack[--open];
        reached++;
        for (int c = 0; c < 3; c++) {
            int32_t other = twins[3 * t + c] / 3;
            if (of[other] < 0) {
                of[other] = component;
                stack[open++] = other;
            }
        }
    }
    return reached;
}

static void drop_islands(pl_web *web, int32_t *of, int32_t *stack)
{
    int32_t *corners = pl_web_corners(web);
    int32_t triangles = (int32_t)(web->corner_array.count / 3), largest = 0;
    int most = 0;
    memset(of, 0xff, (size_t)triangles * sizeof *of);
    for (int32_t t = 0; t < triangles; t++) {
        int reached = of[t] < 0 ? flood(web, t, t, of, stack) : 0;
        if (reached > most) {
            most = reached;
            largest = t;
        }
    }
    for (int32_t t = 0; t < triangles; t++)
        if (of[t] != largest)
            corners[3 * t] = -1;
}

static void note_firsts(pl_web *web)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web);
    for (size_t v = 0; v < web->vertex_array.count; v++)
        vertices[v].first = -1;
    for (size_t h = 0; h < web->corner_array.count; h++)
        if (corners[h - h % 3] >= 0)
            vertices[corners[h]].first = (int32_t)h;
}

pl_status pl_web_link(pl_web *web)
{
    size_t count = web->corner_array.count;
    pl_sort_item *items = PL_NEW(web->memory, pl_sort_item, 2 * count);
    int32_t *of = PL_NEW(web->memory, int32_t, 2 * (count / 3));
    web->twin_array.count = 0;
    pl_status status = PL_ERROR_MEMORY;
    if (items && of && pl_array_add(&web->twin_array, count))
        status = match_twins(web, items, items + count);
    if (status == PL_OK)
        drop_islands(web, of, of + count / 3);
    pl_memory_free(web->memory, items);
    pl_memory_free(web->memory, of);
    if (status != PL_OK)
        return status;
    note_firsts(web);
    return pl_web_compact(web);
}

static void move_vertices(pl_web *web, int32_t *new_vertex)
{
    pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t kept = 0;
    for (size_t v = 0; v < web->vertex_array.count; v++)
        if (vertices[v].first >= 0) {
            new_vertex[v] = kept;
            vertices[kept++] = vertices[v];
        }
    web->vertex_array.count = (size_t)kept;
}

pl_status pl_web_compact(pl_web *web)
{
    size_t vertex_count = web->vertex_array.count, half_edges = web->corner_array.count;
    int32_t *new_vertex = PL_NEW(web->memory, int32_t, vertex_count + half_edges);
    if (!new_vertex)
        return PL_ERROR_MEMORY;
    int32_t *new_edge = new_vertex + vertex_count, *corners = pl_web_corners(web);
    int32_t *twins = pl_web_twins(web), kept = 0;
    move_vertices(web, new_vertex);
    for (size_t h = 0; h < half_edges; h++)
        if (corners[h - h % 3] >= 0)
            new_edge[h] = kept++;
    kept = 0;
    for (size_t h = 0; h < half_edges; h += 3) {
        if (corners[h] < 0)
            continue;
        for (size_t c = 0; c < 3; c++, kept++) {
            corners[kept] = new_vertex[corners[h + c]];
            twins[kept] = new_edge[twins[h + c]];
        }
    }
    web->corner_array.count = web->twin_array.count = (size_t)kept;
    note_firsts(web);
    pl_memory_free(web->memory, new_vertex);
    return PL_OK;
}

/* ---- Looking --------------------------------------------------------------------------------- */

int pl_web_valence(const pl_web *web, int32_t vertex)
{
    int32_t first = pl_web_vertices(web)[vertex].first, h = first;
    int valence = 0;
    do {
        valence++;
        h = pl_web_around(web, h);
    } while (h != first);
    return valence;
}

bool pl_web_joined(const pl_web *web, int32_t a, int32_t b)
{
    int32_t first = pl_web_vertices(web)[a].first, h = first;
    do {
        if (pl_web_to(web, h) == b)
            return true;
        h = pl_web_around(web, h);
    } while (h != first);
    return false;
}

pl_vec3 pl_web_normal_with(const pl_web *web, int32_t triangle, int32_t v, pl_vec3 at)
{
    const pl_web_vertex *vertices = pl_web_vertices(web);
    const int32_t *corners = pl_web_corners(web) + 3 * triangle;
    pl_vec3 p[3];
    for (int c = 0; c < 3; c++)
        p[c] = corners[c] == v ? at : vertices[corners[c]].at;
    return pl_v3_cross(pl_v3_sub(p[1], p[0]), pl_v3_sub(p[2], p[0]));
}

/* ---- Changing -------------------------------------------------------------------------------- */

static void join(pl_web *web, int32_t h, int32_t other)
{
    pl_web_twins(web)[h] = other;
    pl_web_twins(web)[other] = h;
}

static void set_triangle(pl_web *web, int32_t t, int32_t a, int32_t b, int32_t c)
{
    int32_t *corners = pl_web_corners(web) + 3 * t;
    pl_web_vertex *vertices = pl_web_vertices(web);
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
    vertices[a].first = 3 * t;
    vertices[b].first = 3 * t + 1;
    vertices[c].first = 3 * t + 2;
}

/* (a, b, c) and (b, a, d) become (a, m, c), (m, b, c), (b, m, d), (m, a, d). */
int32_t pl_web_split(pl_web *web, int32_t h, pl_web_vertex middle)
{
    if (!pl_array_reserve(&web->vertex_array, 1) || !pl_array_reserve(&web->corner_array, 6) ||
        !pl_array_reserve(&web->twin_array, 6))
        return -1;
    int32_t k = pl_web_twins(web)[h], t = h / 3, u = k / 3;
    int32_t a = pl_web_from(web, h), b = pl_web_to(web, h);
    int32_t c = pl_web_from(web, pl_web_previous(h)), d = pl_web_from(web, pl_web_previous(k));
    const int32_t *twins = pl_web_twins(web);
    int32_t bc = twins[pl_web_next(h)], ca = twins[pl_web_previous(h)];
    int32_t ad = twins[pl_web_next(k)], db = twins[pl_web_previous(k)];
    int32_t m = (int32_t)web->vertex_array.count, x = (int32_t)(web->corner_array.count / 3);
    *(pl_web_vertex *)pl_array_add(&web->vertex_array, 1) = middle;
    pl_array_add(&web->corner_array, 6);
    pl_array_add(&web->twin_array, 6);
    set_triangle(web, t, a, m, c);
    set_triangle(web, x, m, b, c);
    set_triangle(web, u, b, m, d);
    set_triangle(web, x + 1, m, a, d);
    join(web, 3 * t + 2, ca);
    join(web, 3 * x + 1, bc);
    join(web, 3 * u + 2, db);
    join(web, 3 * (x + 1) + 1, ad);
    join(web, 3 * t, 3 * (x + 1));
    join(web, 3 * x, 3 * u);
    join(web, 3 * t + 1, 3 * x + 2);
    join(web, 3 * u + 1, 3 * (x + 1) + 2);
    return m;
}

static int common_neighbours(const pl_web *web, int32_t a, int32_t b)
{
    int32_t first = pl_web_vertices(web)[a].first, h = first;
    int common = 0;
    do {
        int32_t v = pl_web_to(web, h);
        common += v != b && pl_web_joined(web, v, b);
        h = pl_web_around(web, h);
    } while (h != first);
    return common;
}

/* No triangle around v, except those of the two edges' sides that vanish, turns by more than 60° as
   v moves. */
static bool may_move(const pl_web *web, int32_t v, pl_vec3 at, int32_t t, int32_t u)
{
    pl_web_vertex vertex = pl_web_vertices(web)[v];
    int32_t h = vertex.first;
    do {
        if (h / 3 != t && h / 3 != u) {
            pl_vec3 before = pl_web_normal_with(web, h / 3, v, vertex.at);
            pl_vec3 after = pl_web_normal_with(web, h / 3, v, at);
            double turn = pl_v3_dot(before, after), lengths = pl_v3_length2(before);
            lengths *= pl_v3_length2(after);
            if (!(turn > 0 && turn * turn > 0.25 * lengths))
                return false;
        }
        h = pl_web_around(web, h);
    } while (h != vertex.first);
    return true;
}

bool pl_web_may_collapse(const pl_web *web, int32_t h, pl_vec3 at)
{
    int32_t k = pl_web_twins(web)[h], a = pl_web_from(web, h), b = pl_web_to(web, h);
    int32_t c = pl_web_from(web, pl_web_previous(h)), d = pl_web_from(web, pl_web_previous(k));
    if (c == d || pl_web_valence(web, c) < 5 || pl_web_valence(web, d) < 5)
        return false;
    return common_neighbours(web, a, b) == 2 && may_move(web, a, at, h / 3, k / 3) &&
           may_move(web, b, at, h / 3, k / 3);
}

/* Removes a triangle by gluing the two edges besides h together. */
static void close_triangle(pl_web *web, int32_t h)
{
    int32_t *corners = pl_web_corners(web), *twins = pl_web_twins(web);
    pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t n = twins[pl_web_next(h)], p = twins[pl_web_previous(h)];
    corners[h / 3 * 3] = -1;
    join(web, n, p);
    vertices[corners[n]].first = n;
    vertices[corners[p]].first = p;
}

void pl_web_collapse(pl_web *web, int32_t h, pl_vec3 at)
{
    int32_t *corners = pl_web_corners(web);
    pl_web_vertex *vertices = pl_web_vertices(web);
    int32_t k = pl_web_twins(web)[h], a = pl_web_from(web, h), b = pl_web_to(web, h);
    int32_t first = vertices[a].first, e = first;
    do {
        corners[e] = b;
        e = pl_web_around(web, e);
    } while (e != first);
    close_triangle(web, h);
    close_triangle(web, k);
    vertices[a].first = -1;
    vertices[b].at = at;
}

bool pl_web_may_flip(const pl_web *web, int32_t h)
{
    int32_t k = pl_web_twins(web)[h], a = pl_web_from(web, h), b = pl_web_to(web, h);
    int32_t c = pl_web_from(web, pl_web_previous(h)), d = pl_web_from(web, pl_web_previous(k));
    return c != d && pl_web_valence(web, a) > 4 && pl_web_valence(web, b) > 4 &&
           !pl_web_joined(web, c, d);
}

/* (a, b, c) and (b, a, d) become (c, d, b) and (d, c, a). */
void pl_web_flip(pl_web *web, int32_t h)
{
    const int32_t *twins = pl_web_twins(web);
    int32_t k = twins[h], t = h / 3, u = k / 3, a = pl_web_from(web, h), b = pl_web_to(web, h);
    int32_t c = pl_web_from(web, pl_web_previous(h)), d = pl_web_from(web, pl_web_previous(k));
    int32_t bc = twins[pl_web_next(h)], ca = twins[pl_web_previous(h)];
    int32_t ad = twins[pl_web_next(k)], db = twins[pl_web_previous(k)];
    set_triangle(web, t, c, d, b);
    set_triangle(web, u, d, c, a);
    join(web, 3 * t, 3 * u);
    join(web, 3 * t + 1, db);
    join(web, 3 * t + 2, bc);
    join(web, 3 * u + 1, ca);
    join(web, 3 * u + 2, ad);
}
