/* The cubes of a body, by an octree over its bounds. A block further from the surface than half its
   diagonal is all inside or all outside. That is not so across the holes of open surfaces, where
   the inside ends without a surface: there blocks are small and the winding number must be
   clear. */
#include "shape/sample_cells.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"

/* Half the diagonal of a unit cube, a little enlarged; cubes along an axis; the largest block (in
   cubes) of an open surface that shares one test. */
#define HALF_DIAGONAL 0.8661
#define MOST_CUBES 1048576.0
enum { OPEN_BLOCK = 8 };

typedef struct cell {
    double point[3];
    float part;
    int32_t triangle;
} cell;

typedef struct cutting {
    const pl_surface *surface;
    const pl_inside *inside;
    double origin[3], pitch;
    double lower[3], upper[3]; /* of the surface, with a margin */
    bool closed, failed;
    pl_array bricks, points, parts, triangles;
    pl_brick brick; /* the one being filled */
    cell cells[64];
} cutting;

static void centre_of(const cutting *c, const int32_t cube[3], int size, double centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = c->origin[k] + ((double)cube[k] + 0.5 * size) * c->pitch;
}

static void begin_brick(cutting *c, const int32_t cube[3])
{
    c->brick = (pl_brick){.place = {cube[0] / 4, cube[1] / 4, cube[2] / 4},
                          .start = (int32_t)c->parts.count};
}

static void end_brick(cutting *c)
{
    if (!(c->brick.filled | c->brick.border))
        return;
    size_t count = (size_t)__builtin_popcountll(c->brick.filled);
    c->failed = c->failed || c->parts.count > INT32_MAX / 8 || !pl_array_reserve(&c->bricks, 1) ||
                !pl_array_reserve(&c->points, count) || !pl_array_reserve(&c->parts, count) ||
                !pl_array_reserve(&c->triangles, count);
    if (c->failed)
        return;
    *(pl_brick *)pl_array_add(&c->bricks, 1) = c->brick;
    if (!count)
        return;
    double *point = pl_array_add(&c->points, count);
    float *part = pl_array_add(&c->parts, count);
    int32_t *triangle = pl_array_add(&c->triangles, count);
    for (int bit = 0; bit < 64; bit++) {
        if (!(c->brick.filled >> bit & 1))
            continue;
        memcpy(point, c->cells[bit].point, sizeof c->cells[bit].point);
        *part++ = c->cells[bit].part;
        *triangle++ = c->cells[bit].triangle;
        point += 3;
    }
}

static int bit_of(const int32_t cube[3])
{
    return (cube[0] & 3) + 4 * (cube[1] & 3) + 16 * (cube[2] & 3);
}

static void set_cell(cutting *c, const int32_t cube[3], const double point[3], double part,
                     int triangle, bool deep)
{
    int bit = bit_of(cube);
    c->cells[bit] = (cell){{point[0], point[1], point[2]}, (float)part, triangle};
    c->brick.filled |= UINT64_C(1) << bit;
    if (deep)
        c->brick.deep |= UINT64_C(1) << bit;
}

/* A point of a cube, anywhere in it: a lattice of candidates would show in the samples. */
static void scattered(const cutting *c, const int32_t cube[3], double point[3])
{
    uint64_t bits = pl_mix64((uint64_t)cube[2] << 42 ^ (uint64_t)cube[1] << 21 ^ (uint64_t)cube[0]);
    for (int k = 0; k < 3; k++) {
        double offset = (double)(bits >> (21 * k) & 2097151) * 0x1p-21;
        point[k] = c->origin[k] + ((double)cube[k] + offset) * c->pitch;
    }
}

/* Blocks without a surface. */
static void fill_block(cutting *c, const int32_t cube[3], int size)
{
    int32_t at[3];
    if (size > 4) {
        for (at[2] = cube[2]; at[2] < cube[2] + size; at[2] += 4)
            for (at[1] = cube[1]; at[1] < cube[1] + size; at[1] += 4)
                for (at[0] = cube[0]; at[0] < cube[0] + size && !c->failed; at[0] += 4) {
                    begin_brick(c, at);
                    fill_block(c, at, 4);
                    end_brick(c);
                }
        return;
    }
    for (at[2] = cube[2]; at[2] < cube[2] + size; at[2]++)
        for (at[1] = cube[1]; at[1] < cube[1] + size; at[1]++)
            for (at[0] = cube[0]; at[0] < cube[0] + size; at[0]++) {
                double point[3];
                scattered(c, at, point);
                set_cell(c, at, point, 1, -1, true);
            }
}

static void normal_of(const pl_surface *surface, int triangle, double normal[3])
{
    const int32_t *corner = surface->triangles + 3 * (size_t)triangle;
    const double *p = surface->points + 3 * (size_t)corner[0],
                 *q = surface->points + 3 * (size_t)corner[1],
                 *r = surface->points + 3 * (size_t)corner[2];
    double a[3], b[3], length = 0;
    for (int k = 0; k < 3; k++)
        a[k] = q[k] - p[k], b[k] = r[k] - p[k];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = a[i] * b[j] - a[j] * b[i];
        length += normal[k] * normal[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        normal[k] = length > 0 ? normal[k] / length : k == 0;
}

/* From a point of the surface along a unit direction to halfway through, or to `depth`. Returns the
   thickness met (in pitches, 1 at most) where that leads inside, else 0. */
static double step_inward(const cutting *c, const double from[3], const double direction[3],
                          double depth, double point[3])
{
    double start[3], end[3];
    for (int k = 0; k < 3; k++) {
        start[k] = from[k] + 1e-6 * c->pitch * direction[k];
        end[k] = from[k] + c->pitch * direction[k];
    }
    double hit = fmin(1, pl_inside_hit(c->inside, start, end, NULL));
    double step = fmin(depth, 0.5 * hit) * c->pitch;
    for (int k = 0; k < 3; k++)
        point[k] = from[k] + step * direction[k];
    return pl_inside_test(c->inside, point) ? fmax(hit, 1e-3) : 0;
}

/* The centre of a cube is outside, and the surface near: is there a part of it inside? */
static void reach_inside(cutting *c, const int32_t cube[3], const double centre[3],
                         const double closest[3], double distance, int triangle)
{
    double toward[3], inward[3], point[3], s = distance / c->pitch;
    normal_of(c->surface, triangle, inward);
    for (int k = 0; k < 3; k++) {
        if (fabs(closest[k] - centre[k]) > 0.75 * c->pitch)
            return;
        inward[k] = -inward[k];
        toward[k] = s > 1e-6 ? (closest[k] - centre[k]) / distance : inward[k];
    }
    double depth = s < 0.4 ? 0.5 * (0.5 - s) : 0.05;
    double thickness = step_inward(c, closest, toward, depth, point);
    if (thickness == 0)
        thickness = step_inward(c, closest, inward, depth, point);
    if (thickness > 0)
        set_cell(c, cube, point, fmax(0, 0.5 - s) * fmin(1, thickness), triangle, false);
}

static void cut_cube(cutting *c, const int32_t cube[3], const double centre[3])
{
    double closest[3];
    int triangle = -1;
    double distance =
        pl_inside_closest(c->inside, centre, HALF_DIAGONAL * c->pitch, closest, &triangle);
    bool in = pl_inside_test(c->inside, centre);
    if (!(distance < INFINITY)) {
        double point[3];
        scattered(c, cube, point);
        if (in)
            set_cell(c, cube, c->closed ? point : centre, 1, -1, c->closed);
        if (!c->closed)
            c->brick.border |= UINT64_C(1) << bit_of(cube);
        return;
    }
    c->brick.border |= UINT64_C(1) << bit_of(cube);
    if (in)
        set_cell(c, cube, centre, fmin(1, 0.5 + distance / c->pitch), triangle, false);
    else
        reach_inside(c, cube, centre, closest, distance, triangle);
}

/* Whether a block is known to be all alike, and then what it is. */
static bool is_uniform(const cutting *c, const double centre[3], int size, bool *in)
{
    double radius = HALF_DIAGONAL * size * c->pitch;
    if (!c->closed && size > OPEN_BLOCK)
        return false;
    if (pl_inside_closest(c->inside, centre, radius, NULL, NULL) < INFINITY)
        return false;
    double winding = fabs(pl_inside_winding(c->inside, centre));
    *in = winding > 0.5;
    return c->closed || fabs(winding - floor(winding + 0.5)) < 0.15;
}

static bool in_bounds(const cutting *c, const double centre[3], int size)
{
    for (int k = 0; k < 3; k++)
        if (centre[k] + 0.5 * size * c->pitch < c->lower[k] ||
            centre[k] - 0.5 * size * c->pitch > c->upper[k])
            return false;
    return true;
}

static void cut_block(cutting *c, const int32_t cube[3], int size)
{
    double centre[3];
    bool in = false;
    centre_of(c, cube, size, centre);
    if (c->failed || !in_bounds(c, centre, size))
        return;
    if (size == 4)
        begin_brick(c, cube);
    if (size == 1) {
        cut_cube(c, cube, centre);
    } else if (is_uniform(c, centre, size, &in)) {
        if (in)
            fill_block(c, cube, size);
    } else {
        int half = size / 2;
        for (int octant = 0; octant < 8; octant++) {
            const int32_t child[3] = {cube[0] + half * (octant & 1),
                                      cube[1] + half * (octant >> 1 & 1),
                                      cube[2] + half * (octant >> 2)};
            cut_block(c, child, half);
        }
    }
    if (size == 4)
        end_brick(c);
}

static uint64_t key_of(const int32_t place[3])
{
    return (uint64_t)(uint32_t)place[2] << 42 ^ (uint64_t)(uint32_t)place[1] << 21 ^
           (uint64_t)(uint32_t)place[0];
}

static bool same_place(const int32_t a[3], const int32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool make_slots(pl_memory *memory, pl_cells *cells)
{
    cells->mask = 15;
    while (cells->mask + 1 < 2 * (size_t)cells->brick_count)
        cells->mask = 2 * cells->mask + 1;
    cells->slots = PL_NEW(memory, int32_t, (size_t)cells->mask + 1);
    if (!cells->slots)
        return false;
    for (uint32_t slot = 0; slot <= cells->mask; slot++)
        cells->slots[slot] = -1;
    for (int b = 0; b < cells->brick_count; b++) {
        uint32_t slot = (uint32_t)pl_mix64(key_of(cells->bricks[b].place)) & cells->mask;
        while (cells->slots[slot] >= 0)
            slot = (slot + 1) & cells->mask;
        cells->slots[slot] = b;
    }
    return true;
}

/* Bounds, pitch and the side of the root block. */
static int frame(cutting *c, const pl_surface *surface, double pitch)
{
    double extent = 0;
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int t = 0; t < 3 * surface->triangle_count; t++) {
            double x = surface->points[3 * (size_t)surface->triangles[t] + k];
            lower = fmin(lower, x);
            upper = fmax(upper, x);
        }
        c->lower[k] = lower, c->upper[k] = upper;
        extent = fmax(extent, upper - lower);
    }
    c->pitch = fmax(pitch, extent / (MOST_CUBES / 4));
    int size = 4;
    while (size * c->pitch < extent + 2 * c->pitch)
        size *= 2;
    for (int k = 0; k < 3; k++) {
        c->origin[k] = 0.5 * (c->lower[k] + c->upper[k]) - 0.5 * size * c->pitch;
        c->lower[k] -= 0.5 * c->pitch, c->upper[k] += 0.5 * c->pitch;
    }
    return size;
}

pl_status pl_cells_make(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                        double pitch, pl_cells *cells, pl_error *error)
{
    cutting c = {.surface = surface, .inside = inside, .closed = true};
    *cells = (pl_cells){0};
    c.bricks = pl_array_make(memory, sizeof(pl_brick));
    c.points = pl_array_make(memory, 3 * sizeof(double));
    c.parts = pl_array_make(memory, sizeof(float));
    c.triangles = pl_array_make(memory, sizeof(int32_t));
    for (int k = 0; k < surface->component_count; k++)
        c.closed = c.closed && surface->component_closed[k];
    if (surface->triangle_count) {
        int size = frame(&c, surface, pitch);
        cut_block(&c, (const int32_t[3]){0, 0, 0}, size);
    }
    memcpy(cells->origin, c.origin, sizeof c.origin);
    cells->pitch = c.pitch;
    cells->brick_count = (int)c.bricks.count;
    cells->bricks = c.bricks.data;
    cells->count = (int)c.parts.count;
    cells->points = c.points.data;
    cells->parts = c.parts.data;
    cells->triangles = c.triangles.data;
    if (c.failed || !make_slots(memory, cells)) {
        pl_cells_free(memory, cells);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the cells of the body");
    }
    return PL_OK;
}

void pl_cells_free(pl_memory *memory, pl_cells *cells)
{
    pl_memory_free(memory, cells->bricks);
    pl_memory_free(memory, cells->slots);
    pl_memory_free(memory, cells->points);
    pl_memory_free(memory, cells->parts);
    pl_memory_free(memory, cells->triangles);
    *cells = (pl_cells){0};
}

const pl_brick *pl_cells_brick(const pl_cells *cells, const int32_t place[3])
{
    for (uint32_t slot = (uint32_t)pl_mix64(key_of(place)) & cells->mask;;
         slot = (slot + 1) & cells->mask) {
        int b = cells->slots[slot];
        if (b < 0)
            return NULL;
        if (same_place(cells->bricks[b].place, place))
            return &cells->bricks[b];
    }
}

static const pl_brick *locate(const pl_cells *cells, const double point[3], int *bit)
{
    int32_t cube[3];
    for (int k = 0; k < 3; k++) {
        double at = floor((point[k] - cells->origin[k]) / cells->pitch);
        if (!(at >= 0 && at < 2 * MOST_CUBES))
            return NULL;
        cube[k] = (int32_t)at;
    }
    *bit = bit_of(cube);
    const int32_t place[3] = {cube[0] / 4, cube[1] / 4, cube[2] / 4};
    return pl_cells_brick(cells, place);
}

int pl_cells_at(const pl_cells *cells, const double point[3])
{
    int bit;
    const pl_brick *brick = locate(cells, point, &bit);
    return brick && brick->filled >> bit & 1 ? pl_brick_cell(brick, bit) : -1;
}

bool pl_cells_inside(const pl_cells *cells, const pl_inside *inside, const double point[3])
{
    int bit;
    const pl_brick *brick = locate(cells, point, &bit);
    if (!brick)
        return false;
    if (brick->deep >> bit & 1)
        return true;
    return brick->border >> bit & 1 && pl_inside_test(inside, point);
}
