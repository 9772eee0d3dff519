/* Polygons into triangles: fans where they are convex, else ear clipping in the coordinate plane
   they face most (Meisters 1975), with the reflex corners in a grid so that an ear is tested
   against those near it only. Bounded: when a file has used up its work, and where a polygon has no
   more ears because it crosses itself, what is left becomes a fan. */
#include "io/mesh_build.h"

#include <math.h>

/* Steps a file may spend on ears: so many, and so many more per triangle. */
enum { WORK = 200000000, WORK_PER_TRIANGLE = 100 };

typedef struct cutter {
    size_t count;
    double (*points)[2]; /* in the plane, counter-clockwise */
    uint32_t *previous, *next;
    uint32_t *in_cell; /* the next reflex corner in the same cell of the grid, + 1 */
    bool *reflex;      /* or straight */
    uint32_t *cells;   /* side × side: the first reflex corner, + 1 */
    uint32_t side;
    double lower[2], inverse[2]; /* of the grid: origin and cells per length */
    size_t work, work_limit;
    uint32_t *out; /* 3 corners per triangle */
    size_t triangles;
} cutter;

/* Twice the signed area. */
static inline double area(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static inline double length2(const double a[2], const double b[2])
{
    return (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]);
}

/* How far the polygon turns left at a corner: twice the area of the triangle there over the squares
   of its two edges. Where it is within rounding of straight this is below STRAIGHT. */
#define STRAIGHT 1e-10

static inline double turn_at(const cutter *c, uint32_t corner)
{
    const double *a = c->points[c->previous[corner]], *b = c->points[corner],
                 *d = c->points[c->next[corner]];
    double size = length2(a, b) + length2(b, d);
    return size > 0 ? area(a, b, d) / size : 0;
}

/* ---- The grid -------------------------------------------------------------------------------- */

static inline uint32_t cell_of(const cutter *c, double x, int axis)
{
    double cell = (x - c->lower[axis]) * c->inverse[axis];
    return cell > 0 ? cell < c->side ? (uint32_t)cell : c->side - 1 : 0;
}

static void fill_grid(cutter *c)
{
    double upper[2];
    for (int k = 0; k < 2; k++) {
        c->lower[k] = upper[k] = c->points[0][k];
        for (size_t i = 1; i < c->count; i++) {
            c->lower[k] = fmin(c->lower[k], c->points[i][k]);
            upper[k] = fmax(upper[k], c->points[i][k]);
        }
        double width = upper[k] - c->lower[k], inverse = c->side / width;
        c->inverse[k] = width > 0 && isfinite(inverse) ? inverse : 0;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->reflex[i])
            continue;
        uint32_t *cell =
            &c->cells[cell_of(c, c->points[i][1], 1) * c->side + cell_of(c, c->points[i][0], 0)];
        c->in_cell[i] = *cell;
        *cell = i + 1;
    }
}

/* ---- Ears ------------------------------------------------------------------------------------ */

static inline bool same_point(const double a[2], const double b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

static bool blocks(const double *a, const double *b, const double *d, const double *p, bool lenient)
{
    double first = area(a, b, p), second = area(b, d, p), third = area(d, a, p);
    if (lenient)
        return first > 0 && second > 0 && third > 0;
    return first >= 0 && second >= 0 && third >= 0 && !same_point(p, a) && !same_point(p, b) &&
           !same_point(p, d);
}

static bool cell_blocks(cutter *c, uint32_t cell, const uint32_t corners[3], bool lenient)
{
    for (uint32_t i = c->cells[cell]; i; i = c->in_cell[i - 1]) {
        uint32_t other = i - 1;
        c->work++;
        if (c->reflex[other] && other != corners[0] && other != corners[1] && other != corners[2] &&
            blocks(c->points[corners[0]], c->points[corners[1]], c->points[corners[2]],
                   c->points[other], lenient))
            return true;
    }
    return false;
}

/* Whether the triangle at this corner lies inside the polygon. A lenient look also takes triangles
   without area, and corners on the border do not disturb it. */
static bool is_ear(cutter *c, uint32_t corner, bool lenient)
{
    uint32_t corners[3] = {c->previous[corner], corner, c->next[corner]};
    uint32_t low[2], high[2];
    double turn = turn_at(c, corner);
    c->work++;
    if (!(turn > (lenient ? -STRAIGHT : STRAIGHT)))
        return false;
    for (int k = 0; k < 2; k++) {
        double x = c->points[corners[0]][k], y = c->points[corners[1]][k],
               z = c->points[corners[2]][k];
        low[k] = cell_of(c, fmin(x, fmin(y, z)), k);
        high[k] = cell_of(c, fmax(x, fmax(y, z)), k);
    }
    for (uint32_t row = low[1]; row <= high[1]; row++) {
        c->work += high[0] - low[0] + 1;
        for (uint32_t column = low[0]; column <= high[0]; column++)
            if (cell_blocks(c, row * c->side + column, corners, lenient))
                return false;
    }
    return true;
}

static void emit(cutter *c, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t *row = &c->out[3 * c->triangles++];
    row[0] = x;
    row[1] = y;
    row[2] = z;
}

static void clip(cutter *c, uint32_t corner)
{
    uint32_t before = c->previous[corner], after = c->next[corner];
    emit(c, before, corner, after);
    c->next[before] = after;
    c->previous[after] = before;
    c->reflex[corner] = false;
    c->reflex[before] = c->reflex[before] && !(turn_at(c, before) > STRAIGHT);
    c->reflex[after] = c->reflex[after] && !(turn_at(c, after) > STRAIGHT);
}

/* Takes every second ear in passing, which makes fewer slivers than taking each next one. */
static void clip_ears(cutter *c)
{
    size_t left = c->count, unsuccessful = 0;
    uint32_t corner = 1;
    bool lenient = false;
    while (left > 3 && c->work < c->work_limit) {
        if (is_ear(c, corner, lenient)) {
            uint32_t after = c->next[corner];
            clip(c, corner);
            corner = c->next[after];
            left--;
            unsuccessful = 0;
            lenient = false;
            continue;
        }
        corner = c->next[corner];
        if (++unsuccessful < left)
            continue;
        if (lenient)
            break;
        lenient = true;
        unsuccessful = 0;
    }
    for (uint32_t b = c->next[corner]; left-- > 2; b = c->next[b])
        emit(c, corner, b, c->next[b]);
}

/* ---- The plane ------------------------------------------------------------------------------- */

static inline const double *position(const pl_mesh_build *build, int32_t vertex)
{
    return (const double *)build->positions.data + 3 * (size_t)vertex;
}

/* Newell's normal, relative to the first corner. */
static void polygon_normal(const pl_mesh_build *build, const int32_t *vertices, size_t stride,
                           size_t count, double normal[3])
{
    const double *origin = position(build, vertices[0]);
    normal[0] = normal[1] = normal[2] = 0;
    double a[3] = {0, 0, 0};
    for (size_t i = 1; i < count; i++) {
        const double *p = position(build, vertices[i * stride]);
        double b[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
        for (int k = 0; k < 3; k++) {
            int m = (k + 1) % 3, n = (k + 2) % 3;
            normal[k] += a[m] * b[n] - a[n] * b[m];
        }
        a[0] = b[0];
        a[1] = b[1];
        a[2] = b[2];
    }
}

/* False when the polygon has no plane. */
static bool flatten(const pl_mesh_build *build, const int32_t *vertices, size_t stride, cutter *c)
{
    double normal[3];
    polygon_normal(build, vertices, stride, c->count, normal);
    int facing = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[facing]))
            facing = k;
    if (!(fabs(normal[facing]) > 0) || !isfinite(normal[0] + normal[1] + normal[2]))
        return false;
    int first = (facing + 1) % 3, second = (facing + 2) % 3;
    if (normal[facing] < 0) {
        int other = first;
        first = second;
        second = other;
    }
    for (size_t i = 0; i < c->count; i++) {
        const double *p = position(build, vertices[i * stride]);
        c->points[i][0] = p[first];
        c->points[i][1] = p[second];
    }
    return true;
}

/* ---- Cutting --------------------------------------------------------------------------------- */

static void fan(cutter *c)
{
    for (uint32_t i = 1; i + 1 < c->count; i++)
        emit(c, 0, i, i + 1);
}

/* Takes the next so many bytes of the scratch, in steps that keep doubles aligned. */
static void *carve(char **scratch, size_t bytes)
{
    void *piece = *scratch;
    *scratch += (bytes + 7) / 8 * 8;
    return piece;
}

/* The reflex corners known, finding out whether there are any. */
static bool link_corners(cutter *c)
{
    bool convex = true;
    for (uint32_t i = 0; i < c->count; i++) {
        c->previous[i] = i ? i - 1 : (uint32_t)c->count - 1;
        c->next[i] = i + 1 < c->count ? i + 1 : 0;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        c->reflex[i] = !(turn_at(c, i) > STRAIGHT);
        convex = convex && !c->reflex[i];
    }
    return convex;
}

/* Triangles of a polygon with 5 or more corners as numbers of corners; valid until the next
   polygon. */
static const uint32_t *cut(pl_mesh_build *build, const int32_t *vertices, size_t stride,
                           size_t count)
{
    uint32_t side = 1;
    while ((size_t)side * side < count && side < 1024)
        side++;
    size_t cells = (size_t)side * side;
    if (count > UINT32_MAX / 64)
        return NULL;
    build->polygon.count = 0;
    char *scratch = pl_array_add(&build->polygon, count * 41 + cells * 4 + 64);
    if (!scratch)
        return NULL;
    cutter c = {.count = count, .side = side, .work = build->work};
    c.points = carve(&scratch, count * sizeof *c.points);
    c.previous = carve(&scratch, count * sizeof *c.previous);
    c.next = carve(&scratch, count * sizeof *c.next);
    c.in_cell = carve(&scratch, count * sizeof *c.in_cell);
    c.out = carve(&scratch, 3 * count * sizeof *c.out);
    c.reflex = carve(&scratch, count * sizeof *c.reflex);
    c.cells = carve(&scratch, cells * sizeof *c.cells);
    c.work_limit = WORK + WORK_PER_TRIANGLE * build->triangles.count;
    if (!flatten(build, vertices, stride, &c) || link_corners(&c)) {
        fan(&c);
        return c.out;
    }
    memset(c.cells, 0, cells * sizeof *c.cells);
    fill_grid(&c);
    clip_ears(&c);
    build->work = c.work;
    return c.out;
}

/* Cuts between corners 1 and 3 where only that gives two triangles with area. */
static const uint32_t *cut_quad(const pl_mesh_build *build, const int32_t *vertices, size_t stride)
{
    static const uint32_t straight[6] = {0, 1, 2, 0, 2, 3}, across[6] = {1, 2, 3, 1, 3, 0};
    const double *p[4];
    double normal[3], turn[4], largest = 0;
    for (size_t i = 0; i < 4; i++)
        p[i] = position(build, vertices[i * stride]);
    polygon_normal(build, vertices, stride, 4, normal);
    for (int i = 0; i < 4; i++) {
        const double *a = p[(i + 3) % 4], *b = p[i], *c = p[(i + 1) % 4];
        turn[i] = 0;
        for (int k = 0; k < 3; k++) {
            int m = (k + 1) % 3, n = (k + 2) % 3;
            turn[i] += normal[k] * ((b[m] - a[m]) * (c[n] - b[n]) - (b[n] - a[n]) * (c[m] - b[m]));
        }
    }
    for (int i = 0; i < 4; i++)
        largest = fmax(largest, turn[i]);
    double least = STRAIGHT * largest;
    bool bad = !(turn[1] > least && turn[3] > least), better = turn[0] > least && turn[2] > least;
    return bad && better ? across : straight;
}

static const uint32_t *cut_any(pl_mesh_build *build, const int32_t *vertices, size_t stride,
                               size_t count)
{
    static const uint32_t triangle[3] = {0, 1, 2};
    return count == 3   ? triangle
           : count == 4 ? cut_quad(build, vertices, stride)
                        : cut(build, vertices, stride, count);
}

bool pl_mesh_build_polygon(pl_mesh_build *build, const int32_t *vertices, size_t count)
{
    if (count < 3)
        return true;
    const uint32_t *corners = cut_any(build, vertices, 1, count);
    int32_t *rows = corners ? pl_mesh_build_triangles(build, count - 2) : NULL;
    if (!rows)
        return false;
    for (size_t i = 0; i < 3 * (count - 2); i++)
        rows[i] = vertices[corners[i]];
    return true;
}

/* Rows of −1 up to the triangles there are, and room for more. */
static bool prepare_rows(pl_array *table, size_t triangles, size_t more)
{
    size_t missing = triangles - table->count;
    if (!pl_array_reserve(table, missing + more))
        return false;
    memset(pl_array_add(table, missing), 0xFF, missing * table->size);
    return true;
}

static int32_t *new_rows(pl_array *table, size_t count)
{
    return pl_array_add(table, count);
}

bool pl_mesh_build_corners(pl_mesh_build *build, const pl_mesh_corner *corners, size_t count)
{
    if (count < 3)
        return true;
    bool uvs = false, normals = false;
    for (size_t i = 0; i < count; i++) {
        uvs = uvs || corners[i].uv >= 0;
        normals = normals || corners[i].normal >= 0;
    }
    const uint32_t *order = cut_any(build, &corners->position, 3, count);
    size_t triangles = build->triangles.count, more = count - 2;
    if (!order || (uvs && !prepare_rows(&build->triangle_uvs, triangles, more)) ||
        (normals && !prepare_rows(&build->triangle_normals, triangles, more)))
        return false;
    int32_t *rows = pl_mesh_build_triangles(build, more);
    if (!rows)
        return false;
    for (size_t i = 0; i < 3 * more; i++)
        rows[i] = corners[order[i]].position;
    int32_t *uv_rows = uvs ? new_rows(&build->triangle_uvs, more) : NULL;
    for (size_t i = 0; uv_rows && i < 3 * more; i++)
        uv_rows[i] = corners[order[i]].uv;
    int32_t *normal_rows = normals ? new_rows(&build->triangle_normals, more) : NULL;
    for (size_t i = 0; normal_rows && i < 3 * more; i++)
        normal_rows[i] = corners[order[i]].normal;
    return true;
}
