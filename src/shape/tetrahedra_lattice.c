/* Which points of a body-centred cubic lattice lie inside a surface: cubes of the lattice are
   halved until no triangle comes near, where one inside test speaks for all their points. And which
   points belong to one body: those joined by edges of the lattice that stay inside, so that bodies
   closer to each other than a cell do not grow together. */
#include "shape/tetrahedra_parts.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

const int8_t pl_lattice_offset[PL_LATTICE_NEIGHBOURS][3] = {
    {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1},
    {1, 1, 1},    {-2, 0, 0},  {2, 0, 0},   {0, -2, 0}, {0, 2, 0},   {0, 0, -2}, {0, 0, 2}};

/* ---- Numbers of places ----------------------------------------------------------------------- */

static uint64_t key_of(const int32_t place[3])
{
    uint64_t key = 1;
    for (int k = 0; k < 3; k++)
        key = key << 21 | (uint64_t)(place[k] + 2 * PL_LATTICE_REACH - 8);
    return key;
}

static size_t slot_of(const pl_lattice_map *map, uint64_t key)
{
    size_t slot = (size_t)pl_mix64(key) & (map->capacity - 1);
    while (map->keys[slot] != 0 && map->keys[slot] != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static bool grow(pl_lattice_map *map)
{
    pl_lattice_map larger = {.memory = map->memory, .count = map->count};
    larger.capacity = map->capacity ? 4 * map->capacity : 1024;
    larger.keys = PL_NEW(map->memory, uint64_t, larger.capacity);
    larger.numbers = PL_NEW(map->memory, int32_t, larger.capacity);
    if (!larger.keys || !larger.numbers) {
        pl_lattice_map_free(&larger);
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->keys[i] == 0)
            continue;
        size_t slot = slot_of(&larger, map->keys[i]);
        larger.keys[slot] = map->keys[i];
        larger.numbers[slot] = map->numbers[i];
    }
    pl_lattice_map_free(map);
    *map = larger;
    return true;
}

int pl_lattice_number(pl_lattice_map *map, const int32_t place[3], int fresh)
{
    if (2 * map->count >= map->capacity && !grow(map))
        return -2;
    uint64_t key = key_of(place);
    size_t slot = slot_of(map, key);
    if (map->keys[slot] == key)
        return map->numbers[slot];
    if (fresh >= 0) {
        map->keys[slot] = key;
        map->numbers[slot] = fresh;
        map->count++;
    }
    return fresh;
}

void pl_lattice_map_free(pl_lattice_map *map)
{
    pl_memory_free(map->memory, map->keys);
    pl_memory_free(map->memory, map->numbers);
    map->keys = NULL;
    map->numbers = NULL;
    map->capacity = map->count = 0;
}

/* ---- Points inside --------------------------------------------------------------------------- */

void pl_lattice_lay(pl_lattice *lattice, double cell, const double phase[3])
{
    lattice->half = 0.5 * cell;
    for (int k = 0; k < 3; k++)
        lattice->origin[k] = 0.5 * lattice->lower[k] + 0.5 * lattice->upper[k] + cell * phase[k];
}

void pl_lattice_free(pl_lattice *lattice)
{
    pl_array_free(&lattice->points);
    pl_memory_free(lattice->memory, lattice->body_of);
    lattice->body_of = NULL;
}

/* A cube of cells, a power of two on each side; a cell has the lattice points at its first corner
   and in its middle. */
typedef struct lattice_cube {
    int32_t first[3], cells;
} lattice_cube;

static bool add_point(pl_lattice *lattice, const int32_t place[3])
{
    if (lattice->points.count >= lattice->most_points) {
        lattice->overflow = true;
        return true;
    }
    pl_lattice_point *point = pl_array_add(&lattice->points, 1);
    if (!point)
        return false;
    memcpy(point->place, place, sizeof point->place);
    point->body = 0;
    return true;
}

static bool inside_bounds(const pl_lattice *lattice, const double position[3])
{
    for (int k = 0; k < 3; k++)
        if (position[k] < lattice->lower[k] || position[k] > lattice->upper[k])
            return false;
    return true;
}

/* Each of a cube's points; `known`: they are inside. */
static bool add_cube(pl_lattice *lattice, const lattice_cube *cube, bool known)
{
    int32_t n = cube->cells;
    for (int64_t i = 0; i < 2 * (int64_t)n * n * n && !lattice->overflow; i++) {
        int64_t cell = i / 2, at[3] = {cell % n, cell / n % n, cell / n / n};
        int32_t place[3];
        double position[3];
        for (int k = 0; k < 3; k++) {
            place[k] = 2 * (cube->first[k] + (int32_t)at[k]) + (int32_t)(i % 2);
            position[k] = lattice->origin[k] + lattice->half * place[k];
        }
        if (!known && !inside_bounds(lattice, position))
            continue;
        lattice->tests_left -= !known;
        if ((known || pl_inside_test(lattice->inside, position)) && !add_point(lattice, place))
            return false;
    }
    return true;
}

static bool outside_bounds(const pl_lattice *lattice, const lattice_cube *cube)
{
    for (int k = 0; k < 3; k++) {
        double first = lattice->origin[k] + lattice->half * (2 * cube->first[k]);
        double last = first + lattice->half * (2 * cube->cells - 1);
        if (first > lattice->upper[k] || last < lattice->lower[k])
            return true;
    }
    return false;
}

/* 1 = all of the cube's points are inside, 0 = none is, -1 = cannot be said. Away from triangles
   the winding number is constant where the surface is closed; elsewhere it is harmonic, and over a
   distance r changes by at most some 1.5 r / d where the next triangle is d away. */
static int one_side(pl_lattice *lattice, const lattice_cube *cube)
{
    double centre[3], radius = sqrt(0.75) * lattice->half * (2 * cube->cells - 1);
    for (int k = 0; k < 3; k++)
        centre[k] =
            lattice->origin[k] + lattice->half * (2 * cube->first[k] + 0.5 * (2 * cube->cells - 1));
    double limit = (lattice->closed ? 1.001 : 16) * radius;
    double distance = pl_inside_closest(lattice->inside, centre, limit, NULL, NULL);
    lattice->tests_left--;
    if (lattice->closed)
        return distance <= limit ? -1 : pl_inside_test(lattice->inside, centre);
    if (distance <= 1.001 * radius)
        return -1;
    double winding = fabs(pl_inside_winding(lattice->inside, centre));
    if (fabs(winding - 0.5) < 1.5 * radius / (fmin(distance, limit) - radius))
        return -1;
    return winding > 0.5;
}

static bool fill_cube(pl_lattice *lattice, const lattice_cube *cube)
{
    lattice->overflow = lattice->overflow || lattice->tests_left < 0;
    if (lattice->overflow || outside_bounds(lattice, cube))
        return true;
    int side = one_side(lattice, cube);
    if (side == 0)
        return true;
    if (side == 1 || cube->cells <= 2)
        return add_cube(lattice, cube, side == 1);
    int32_t half = cube->cells / 2;
    for (int corner = 0; corner < 8; corner++) {
        lattice_cube part = {.cells = half};
        for (int k = 0; k < 3; k++)
            part.first[k] = cube->first[k] + (corner >> k & 1) * half;
        if (!fill_cube(lattice, &part))
            return false;
    }
    return true;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static int32_t nearest_component(const pl_lattice *lattice, const int32_t place[3])
{
    double position[3];
    int triangle;
    pl_lattice_position(lattice, (double[3]){place[0], place[1], place[2]}, position);
    pl_inside_closest(lattice->inside, position, INFINITY, NULL, &triangle);
    return triangle < 0 ? 0 : lattice->surface->triangle_component[triangle];
}

/* Components between whose points an edge runs inside are one body. */
static void join_along_edge(const pl_lattice *lattice, const pl_lattice_point *a,
                            const pl_lattice_point *b, int32_t *parent)
{
    int32_t first = root_of(parent, a->body), second = root_of(parent, b->body);
    if (first == second)
        return;
    double from[3], to[3];
    pl_lattice_position(lattice, (double[3]){a->place[0], a->place[1], a->place[2]}, from);
    pl_lattice_position(lattice, (double[3]){b->place[0], b->place[1], b->place[2]}, to);
    if (pl_inside_segment_outside(lattice->inside, from, to) <= 0)
        parent[first > second ? first : second] = first > second ? second : first;
}

static bool join_components(const pl_lattice *lattice, pl_lattice_map *map, int32_t *parent)
{
    const pl_lattice_point *points = lattice->points.data;
    int count = (int)lattice->points.count;
    for (int i = 0; i < count; i++)
        if (pl_lattice_number(map, points[i].place, i) < 0)
            return false;
    for (int i = 0; i < count; i++)
        for (int n = 0; n < PL_LATTICE_NEIGHBOURS; n++) {
            int32_t place[3];
            for (int k = 0; k < 3; k++)
                place[k] = points[i].place[k] + pl_lattice_offset[n][k];
            int other = pl_lattice_number(map, place, -1);
            if (other == -2)
                return false;
            if (other > i)
                join_along_edge(lattice, &points[i], &points[other], parent);
        }
    return true;
}

/* Numbers the bodies that have points, and sorts the points by them. */
static void sort_by_body(pl_lattice *lattice, int32_t *parent, pl_lattice_point *scratch,
                         size_t *begin)
{
    pl_lattice_point *points = lattice->points.data;
    size_t count = lattice->points.count;
    int components = lattice->surface->component_count, bodies = 0;
    for (int c = 0; c < components; c++)
        lattice->body_of[c] = -1;
    for (size_t i = 0; i < count; i++) {
        int32_t *body = &lattice->body_of[root_of(parent, points[i].body)];
        *body = *body < 0 ? bodies++ : *body;
        points[i].body = *body;
        begin[*body + 1]++;
    }
    for (int c = 0; c < components; c++)
        lattice->body_of[c] = lattice->body_of[root_of(parent, c)];
    for (int b = 0; b < bodies; b++)
        begin[b + 1] += begin[b];
    memcpy(scratch, points, count * sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[begin[scratch[i].body]++] = scratch[i];
    lattice->body_count = bodies > 1 ? bodies : 1;
}

static bool find_bodies(pl_lattice *lattice)
{
    pl_memory *memory = lattice->memory;
    size_t components = (size_t)lattice->surface->component_count;
    pl_lattice_point *points = lattice->points.data;
    pl_lattice_map map = {.memory = memory};
    int32_t *parent = PL_NEW(memory, int32_t, components);
    size_t *begin = PL_NEW(memory, size_t, components + 1);
    pl_lattice_point *scratch = PL_NEW(memory, pl_lattice_point, lattice->points.count);
    lattice->body_of = PL_NEW(memory, int32_t, components);
    bool fine = parent && begin && scratch && lattice->body_of;
    for (size_t c = 0; fine && c < components; c++)
        parent[c] = (int32_t)c;
    for (size_t i = 0; fine && i < lattice->points.count; i++)
        points[i].body = nearest_component(lattice, points[i].place);
    fine = fine && join_components(lattice, &map, parent);
    if (fine)
        sort_by_body(lattice, parent, scratch, begin);
    pl_lattice_map_free(&map);
    pl_memory_free(memory, parent);
    pl_memory_free(memory, begin);
    pl_memory_free(memory, scratch);
    return fine;
}

bool pl_lattice_fill(pl_lattice *lattice)
{
    double reach = 0;
    for (int k = 0; k < 3; k++) {
        reach = fmax(reach, lattice->upper[k] - lattice->origin[k]);
        reach = fmax(reach, lattice->origin[k] - lattice->lower[k]);
    }
    reach = reach / (2 * lattice->half) + 2;
    lattice->overflow = !(reach < PL_LATTICE_REACH / 2);
    lattice->points.count = 0;
    lattice->body_count = 1;
    pl_memory_free(lattice->memory, lattice->body_of);
    lattice->body_of = NULL;
    lattice_cube cube = {.cells = 2};
    while (!lattice->overflow && cube.cells / 2 < reach)
        cube.cells *= 2;
    for (int k = 0; k < 3; k++)
        cube.first[k] = -cube.cells / 2;
    if (!fill_cube(lattice, &cube))
        return false;
    return lattice->overflow || lattice->surface->component_count < 2 ||
           lattice->points.count == 0 || find_bodies(lattice);
}
