/* Isosurface stuffing (Labelle & Shewchuk 2007): where an edge of the lattice leaves the body it is
   cut; ends too near to a cut move onto it; what is inside is filled by stencils
   (tetrahedra_stencil.c). Each body gets points of its own. */
#include "shape/tetrahedra_stencil.h"

#include <math.h>
#include <string.h>

enum { MOST_CROSSINGS = 8, BISECTIONS = 10 };

typedef struct stuffing_cut {
    int32_t inner, outer; /* points */
    double part;          /* of the way from the inner to the outer one */
    int32_t vertex;       /* number in the result, or -1 */
} stuffing_cut;

typedef struct stuffing_point {
    int32_t place[3];
    double at[3]; /* in places; moved onto a cut where side is 0 */
    int8_t side;
    int32_t vertex;
} stuffing_point;

typedef struct stuffing {
    const pl_lattice *lattice;
    const pl_lattice_point *inner; /* of this body */
    int inner_count, body;
    pl_lattice_map map;
    pl_array points; /* stuffing_point: the inner ones, then their neighbours */
    pl_array cuts;   /* stuffing_cut */
    int32_t (*neighbours)[PL_LATTICE_NEIGHBOURS]; /* [inner_count] points */
    int32_t (*cut_of)[PL_LATTICE_NEIGHBOURS];     /* [inner_count] cuts, or -1 */
    int32_t *cut_begin, *cut_list;                /* the cuts at each point */
} stuffing;

static void stuffing_free(stuffing *s)
{
    pl_memory *memory = s->lattice->memory;
    pl_lattice_map_free(&s->map);
    pl_array_free(&s->points);
    pl_array_free(&s->cuts);
    pl_memory_free(memory, s->neighbours);
    pl_memory_free(memory, s->cut_of);
    pl_memory_free(memory, s->cut_begin);
    pl_memory_free(memory, s->cut_list);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The number of the point at a place, or -1 without memory. */
static int add_point(stuffing *s, const int32_t place[3], int8_t side)
{
    int fresh = (int)s->points.count, number = pl_lattice_number(&s->map, place, fresh);
    if (number != fresh)
        return number < 0 ? -1 : number;
    stuffing_point *point = pl_array_add(&s->points, 1);
    if (!point)
        return -1;
    memcpy(point->place, place, sizeof point->place);
    for (int k = 0; k < 3; k++)
        point->at[k] = place[k];
    point->side = side;
    point->vertex = -1;
    return number;
}

static bool add_points(stuffing *s)
{
    pl_memory *memory = s->lattice->memory;
    size_t count = (size_t)s->inner_count * PL_LATTICE_NEIGHBOURS;
    s->neighbours = pl_memory_alloc(memory, count, sizeof(int32_t));
    s->cut_of = pl_memory_alloc(memory, count, sizeof(int32_t));
    if (!s->neighbours || !s->cut_of)
        return false;
    for (int i = 0; i < s->inner_count; i++)
        if (add_point(s, s->inner[i].place, 1) < 0)
            return false;
    for (int i = 0; i < s->inner_count; i++)
        for (int n = 0; n < PL_LATTICE_NEIGHBOURS; n++) {
            int32_t place[3];
            for (int k = 0; k < 3; k++)
                place[k] = s->inner[i].place[k] + pl_lattice_offset[n][k];
            s->neighbours[i][n] = add_point(s, place, -1);
            if (s->neighbours[i][n] < 0)
                return false;
        }
    return true;
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

static void between(const double from[3], const double to[3], double part, double position[3])
{
    for (int k = 0; k < 3; k++)
        position[k] = from[k] + part * (to[k] - from[k]);
}

static bool in_body(const stuffing *s, const double position[3])
{
    const pl_lattice *lattice = s->lattice;
    if (!pl_inside_test(lattice->inside, position))
        return false;
    if (lattice->body_count == 1)
        return true;
    int triangle;
    pl_inside_closest(lattice->inside, position, INFINITY, NULL, &triangle);
    return triangle >= 0 &&
           lattice->body_of[lattice->surface->triangle_component[triangle]] == s->body;
}

/* Where the segment leaves the body: at a triangle behind which it is outside; where no triangle is
   (a hole), by bisection. */
static double find_cut(const stuffing *s, const double from[3], const double to[3])
{
    double inner = 0, outer = 1, position[3];
    for (int i = 0; i < MOST_CROSSINGS; i++) {
        double start[3];
        between(from, to, inner, start);
        double hit = pl_inside_hit(s->lattice->inside, start, to, NULL);
        if (!(hit <= 1))
            break;
        double part = inner + hit * (1 - inner), behind = part + 0.002;
        if (behind >= 1)
            return part;
        between(from, to, behind, position);
        if (!in_body(s, position))
            return part;
        inner = behind;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * inner + 0.5 * outer;
        between(from, to, middle, position);
        bool within = in_body(s, position);
        inner = within ? middle : inner;
        outer = within ? outer : middle;
    }
    return 0.5 * inner + 0.5 * outer;
}

static bool add_cuts(stuffing *s)
{
    const stuffing_point *points = s->points.data;
    for (int i = 0; i < s->inner_count; i++)
        for (int n = 0; n < PL_LATTICE_NEIGHBOURS; n++) {
            int32_t outer = s->neighbours[i][n];
            s->cut_of[i][n] = -1;
            if (outer < s->inner_count)
                continue;
            double from[3], to[3];
            pl_lattice_position(s->lattice, points[i].at, from);
            pl_lattice_position(s->lattice, points[outer].at, to);
            stuffing_cut *cut = pl_array_add(&s->cuts, 1);
            if (!cut)
                return false;
            *cut = (stuffing_cut){i, outer, find_cut(s, from, to), -1};
            s->cut_of[i][n] = (int32_t)s->cuts.count - 1;
        }
    return true;
}

static bool list_cuts(stuffing *s)
{
    const stuffing_cut *cuts = s->cuts.data;
    size_t count = s->cuts.count;
    s->cut_begin = PL_NEW(s->lattice->memory, int32_t, s->points.count + 2);
    s->cut_list = PL_NEW(s->lattice->memory, int32_t, 2 * count);
    if (!s->cut_begin || !s->cut_list)
        return false;
    for (size_t c = 0; c < count; c++) {
        s->cut_begin[cuts[c].inner + 2]++;
        s->cut_begin[cuts[c].outer + 2]++;
    }
    for (size_t i = 2; i < s->points.count + 2; i++)
        s->cut_begin[i] += s->cut_begin[i - 1];
    for (size_t c = 0; c < count; c++) {
        s->cut_list[s->cut_begin[cuts[c].inner + 1]++] = (int32_t)c;
        s->cut_list[s->cut_begin[cuts[c].outer + 1]++] = (int32_t)c;
    }
    return true;
}

/* ---- Warping --------------------------------------------------------------------------------- */

/* How near the cut is to this end of its edge, in parts of what is too near. */
static double nearness(const stuffing_point *points, const stuffing_cut *cut, int end)
{
    const int32_t *a = points[cut->inner].place, *b = points[cut->outer].place;
    double part = end == cut->inner ? cut->part : 1 - cut->part;
    bool is_short = ((a[0] ^ b[0]) & 1) != 0;
    return part / (is_short ? PL_ALPHA_SHORT : PL_ALPHA_LONG);
}

/* A moved point is on the surface: its edges are cut no more. */
static void warp(stuffing *s)
{
    stuffing_point *points = s->points.data;
    const stuffing_cut *cuts = s->cuts.data;
    for (int i = 0; i < (int)s->points.count; i++) {
        double nearest = 1;
        const stuffing_cut *target = NULL;
        for (int32_t c = s->cut_begin[i]; c < s->cut_begin[i + 1]; c++) {
            const stuffing_cut *cut = &cuts[s->cut_list[c]];
            int other = cut->inner == i ? cut->outer : cut->inner;
            double near = points[other].side == 0 ? 1 : nearness(points, cut, i);
            target = near < nearest ? cut : target;
            nearest = fmin(near, nearest);
        }
        if (!target)
            continue;
        points[i].side = 0;
        const int32_t *a = points[target->inner].place, *b = points[target->outer].place;
        for (int k = 0; k < 3; k++)
            points[i].at[k] = a[k] + target->part * (b[k] - a[k]);
    }
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* The tetrahedra around a point, by its neighbours: the far end of its long edge, and two next to
   each other of the four points around that. */
static void list_tets_around(int8_t around[PL_LATTICE_TETS_AROUND][3])
{
    int count = 0;
    for (int end = PL_LATTICE_SHORT; end < PL_LATTICE_NEIGHBOURS; end++)
        for (int a = 0; a < PL_LATTICE_SHORT; a++)
            for (int b = a + 1; b < PL_LATTICE_SHORT; b++) {
                const int8_t *e = pl_lattice_offset[end], *p = pl_lattice_offset[a];
                const int8_t *q = pl_lattice_offset[b];
                int apart = 0;
                for (int k = 0; k < 3; k++)
                    apart += p[k] != q[k];
                int along = (end - PL_LATTICE_SHORT) / 2;
                if (apart == 1 && p[along] == e[along] / 2 && q[along] == e[along] / 2) {
                    around[count][0] = (int8_t)end;
                    around[count][1] = (int8_t)a;
                    around[count++][2] = (int8_t)b;
                }
            }
}

static int32_t point_vertex(stuffing_point *point, pl_array *vertices)
{
    if (point->vertex < 0) {
        double(*at)[3] = pl_array_add(vertices, 1);
        if (!at)
            return -1;
        memcpy(at, point->at, sizeof *at);
        point->vertex = (int32_t)vertices->count - 1;
    }
    return point->vertex;
}

static void cut_at(const stuffing_point *points, const stuffing_cut *cut, double at[3])
{
    const int32_t *a = points[cut->inner].place, *b = points[cut->outer].place;
    for (int k = 0; k < 3; k++)
        at[k] = a[k] + cut->part * (b[k] - a[k]);
}

static int32_t cut_vertex(const stuffing_point *points, stuffing_cut *cut, pl_array *vertices)
{
    if (cut->vertex < 0) {
        double(*at)[3] = pl_array_add(vertices, 1);
        if (!at)
            return -1;
        cut_at(points, cut, *at);
        cut->vertex = (int32_t)vertices->count - 1;
    }
    return cut->vertex;
}

static int32_t cut_between(const stuffing *s, int inner, int outer)
{
    for (int n = 0; n < PL_LATTICE_NEIGHBOURS; n++)
        if (s->neighbours[inner][n] == outer)
            return s->cut_of[inner][n];
    return -1;
}

static bool fill_tet(stuffing *s, const int32_t corner[4], pl_array *vertices, pl_array *tets)
{
    stuffing_point *points = s->points.data;
    stuffing_cut *cuts = s->cuts.data;
    int32_t cut_number[4][4];
    pl_stencil stencil = {0};
    pl_pieces pieces;
    for (int i = 0; i < 4; i++) {
        const stuffing_point *point = &points[corner[i]];
        memcpy(stencil.corner[i], point->at, sizeof point->at);
        memcpy(stencil.place[i], point->place, sizeof point->place);
        stencil.side[i] = point->side;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (stencil.side[i] > 0 && stencil.side[j] < 0) {
                cut_number[i][j] = cut_between(s, corner[i], corner[j]);
                cut_at(points, &cuts[cut_number[i][j]], stencil.cut[i][j]);
                memcpy(stencil.cut[j][i], stencil.cut[i][j], sizeof stencil.cut[i][j]);
            }
    pl_stencil_apply(&stencil, &pieces);
    for (int p = 0; p < pieces.count; p++) {
        int32_t(*tet)[4] = pl_array_add(tets, 1);
        for (int c = 0; tet && c < 4; c++) {
            int number = pieces.corner[p][c], cut = number - 4;
            int32_t vertex =
                cut < 0 ? point_vertex(&points[corner[number]], vertices)
                        : cut_vertex(points, &cuts[cut_number[cut / 4][cut % 4]], vertices);
            if (vertex < 0)
                return false;
            (*tet)[c] = vertex;
        }
        if (!tet)
            return false;
    }
    return true;
}

/* Every tetrahedron is seen from each of its inner points; the first of them makes it. */
static bool fill(stuffing *s, pl_array *vertices, pl_array *tets)
{
    int8_t around[PL_LATTICE_TETS_AROUND][3];
    list_tets_around(around);
    for (int i = 0; i < s->inner_count; i++)
        for (int t = 0; t < PL_LATTICE_TETS_AROUND; t++) {
            int32_t corner[4] = {i, 0, 0, 0}, least = i;
            for (int c = 0; c < 3; c++) {
                corner[c + 1] = s->neighbours[i][around[t][c]];
                least = corner[c + 1] < least ? corner[c + 1] : least;
            }
            if (least == i && !fill_tet(s, corner, vertices, tets))
                return false;
        }
    return true;
}

bool pl_lattice_stuff(const pl_lattice *lattice, pl_array *points, pl_array *tets)
{
    const pl_lattice_point *inner = lattice->points.data;
    int count = (int)lattice->points.count;
    bool fine = true;
    for (int first = 0, last; fine && first < count; first = last) {
        for (last = first; last < count && inner[last].body == inner[first].body; last++)
            ;
        stuffing s = {.lattice = lattice,
                      .inner = &inner[first],
                      .inner_count = last - first,
                      .body = inner[first].body,
                      .map = {.memory = lattice->memory},
                      .points = pl_array_make(lattice->memory, sizeof(stuffing_point)),
                      .cuts = pl_array_make(lattice->memory, sizeof(stuffing_cut))};
        fine = add_points(&s) && add_cuts(&s) && list_cuts(&s);
        if (fine)
            warp(&s);
        fine = fine && fill(&s, points, tets);
        stuffing_free(&s);
    }
    return fine;
}
