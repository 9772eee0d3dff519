/* Points in a tetrahedral mesh: the tetrahedron around each, found in a hierarchy of boxes; outside
   the mesh the nearest one, whose barycentric coordinates are carried on beyond it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/inside_parts.h"
#include "shape/tetrahedra.h"

enum { LEAF_SIZE = 2 };

#define SAME 1e-9      /* relative difference of squared distances that counts as none */
#define FLAT 1e-12     /* of the longest edge's cube: six times a volume that says nothing */
#define TOUCHING 1e-12 /* a barycentric coordinate not less than minus this is inside */
#define BOX_SLACK 1e-6 /* in the frame: rounding of boxes and queries to float */

typedef struct embedding {
    const double *points;
    const int32_t *tets;
    double centre[3], per_unit; /* frame: the mesh is within ±1 */
    pl_bvh bvh;
} embedding;

typedef struct embedded {
    double q[3]; /* the query in the frame */
    double best; /* squared distance */
    double
        reach; /* largest coordinate: of tetrahedra as near, the one that stretches least is taken */
    int32_t tet;
    double coordinates[4];
} embedded;

/* ---- One tetrahedron ------------------------------------------------------------------------- */

static void corners_of(const embedding *e, int32_t tet, double corner[4][3])
{
    for (int c = 0; c < 4; c++) {
        const double *p = &e->points[3 * (size_t)e->tets[4 * (size_t)tet + (size_t)c]];
        for (int k = 0; k < 3; k++)
            corner[c][k] = (p[k] - e->centre[k]) * e->per_unit;
    }
}

static double triple(const double a[3], const double b[3], const double c[3])
{
    return (a[1] * b[2] - a[2] * b[1]) * c[0] + (a[2] * b[0] - a[0] * b[2]) * c[1] +
           (a[0] * b[1] - a[1] * b[0]) * c[2];
}

/* False for a flat tetrahedron. */
static bool find_coordinates(double corner[4][3], const double q[3], double b[4])
{
    double u[3][3], w[3], longest2 = 0;
    for (int c = 0; c < 3; c++) {
        double length2 = 0;
        for (int k = 0; k < 3; k++) {
            u[c][k] = corner[c + 1][k] - corner[0][k];
            length2 += u[c][k] * u[c][k];
        }
        longest2 = fmax(longest2, length2);
    }
    for (int k = 0; k < 3; k++)
        w[k] = q[k] - corner[0][k];
    double volume = triple(u[0], u[1], u[2]);
    if (!(fabs(volume) > FLAT * longest2 * sqrt(longest2)))
        return false;
    b[1] = triple(w, u[1], u[2]) / volume;
    b[2] = triple(u[0], w, u[2]) / volume;
    b[3] = triple(u[0], u[1], w) / volume;
    b[0] = 1 - b[1] - b[2] - b[3];
    return true;
}

static void copy_face(double corner[4][3], int without, double face[3][3])
{
    for (int c = 0; c < 3; c++)
        memcpy(face[c], corner[c + (c >= without)], sizeof face[c]);
}

/* Outside, the closest point lies on a face whose coordinate is negative; b NULL = on any. */
static double closest_on_faces(double corner[4][3], const double *b, const double q[3],
                               double closest[3], int *without)
{
    double best = INFINITY;
    for (int f = 0; f < 4; f++) {
        double face[3][3], candidate[3];
        if (b && b[f] >= 0)
            continue;
        copy_face(corner, f, face);
        double d2 = pl_inside_triangle_closest((const double(*)[3])face, q, candidate);
        if (d2 < best) {
            best = d2;
            *without = f;
            memcpy(closest, candidate, sizeof candidate);
        }
    }
    return best;
}

/* Barycentric coordinates of a point of a triangle, by areas; where it has none, the nearest
   corner's. */
static void face_weights(double face[3][3], const double p[3], double weight[3])
{
    double u[3], v[3], w[3], uu = 0, uv = 0, vv = 0, uw = 0, vw = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = face[1][k] - face[0][k], v[k] = face[2][k] - face[0][k], w[k] = p[k] - face[0][k];
        uu += u[k] * u[k], uv += u[k] * v[k], vv += v[k] * v[k];
        uw += u[k] * w[k], vw += v[k] * w[k];
    }
    double area = uu * vv - uv * uv;
    if (area > FLAT * uu * vv) {
        weight[1] = fmin(fmax((vv * uw - uv * vw) / area, 0), 1);
        weight[2] = fmin(fmax((uu * vw - uv * uw) / area, 0), 1 - weight[1]);
    } else {
        weight[1] = uw > 0.5 * uu && uu > 0 ? 1 : 0;
        weight[2] = weight[1] == 0 && vw > 0.5 * vv && vv > 0 ? 1 : 0;
    }
    weight[0] = 1 - weight[1] - weight[2];
}

/* Coordinates of the closest point, and from there as far towards b (NULL for a flat tetrahedron)
   as the limit lets. */
static double limit_coordinates(double corner[4][3], int without, const double closest[3],
                                const double *b, double result[4])
{
    double face[3][3], weight[3], reach = 0;
    if (b) {
        for (int c = 0; c < 4; c++)
            reach = fmax(reach, fabs(b[c]));
        memcpy(result, b, 4 * sizeof *b);
        if (reach <= PL_EMBED_LIMIT)
            return reach;
    }
    copy_face(corner, without, face);
    face_weights(face, closest, weight);
    for (int c = 0; c < 4; c++)
        result[c] = c == without ? 0 : weight[c - (c > without)];
    if (!b)
        return INFINITY;
    double part = (PL_EMBED_LIMIT - 1) / (reach + 1);
    for (int c = 0; c < 4; c++)
        result[c] += part * (b[c] - result[c]);
    return reach;
}

static void try_tet(const embedding *e, int32_t tet, embedded *found)
{
    double corner[4][3], b[4], closest[3] = {0}, coordinates[4];
    int without = 0;
    corners_of(e, tet, corner);
    bool solid = find_coordinates(corner, found->q, b);
    double least = solid ? fmin(fmin(b[0], b[1]), fmin(b[2], b[3])) : -1;
    if (least >= -TOUCHING) {
        *found = (embedded){.best = -1, .tet = tet, .coordinates = {b[0], b[1], b[2], b[3]}};
        return;
    }
    double d2 = closest_on_faces(corner, solid ? b : NULL, found->q, closest, &without);
    if (found->tet >= 0 && !(d2 <= found->best * (1 + SAME)))
        return;
    double reach = limit_coordinates(corner, without, closest, solid ? b : NULL, coordinates);
    if (found->tet >= 0 && !(d2 < found->best * (1 - SAME)) && reach >= found->reach)
        return;
    found->best = d2;
    found->reach = reach;
    found->tet = tet;
    memcpy(found->coordinates, coordinates, sizeof coordinates);
}

/* ---- The hierarchy --------------------------------------------------------------------------- */

typedef struct embed_waiting {
    double distance2;
    int32_t child, count;
} embed_waiting;

static double box_distance2(const pl_bvh_node *node, int lane, const double q[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double below = (double)node->lower[k][lane] - BOX_SLACK - q[k];
        double above = q[k] - (double)node->upper[k][lane] - BOX_SLACK;
        double away = fmax(fmax(below, above), 0);
        sum += away * away;
    }
    return sum;
}

/* The nearest child on top. */
static int push_children(const pl_bvh_node *node, const embedded *found, embed_waiting *stack,
                         int waiting)
{
    int bottom = waiting;
    for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
        if (node->count[lane] < 0)
            continue;
        double d2 = box_distance2(node, lane, found->q);
        if (d2 > found->best * (1 + SAME))
            continue;
        int at = waiting++;
        for (; at > bottom && stack[at - 1].distance2 < d2; at--)
            stack[at] = stack[at - 1];
        stack[at] = (embed_waiting){d2, node->child[lane], node->count[lane]};
    }
    return waiting;
}

/* Around the point: a negative distance, which nothing can beat. */
static void embed_point(const embedding *e, embedded *found)
{
    embed_waiting stack[PL_BVH_STACK];
    int waiting = push_children(&e->bvh.nodes[0], found, stack, 0);
    while (waiting > 0 && found->best >= 0) {
        embed_waiting next = stack[--waiting];
        if (next.distance2 > found->best * (1 + SAME))
            continue;
        if (next.count == 0)
            waiting = push_children(&e->bvh.nodes[next.child], found, stack, waiting);
        for (int i = 0; i < next.count && found->best >= 0; i++)
            try_tet(e, e->bvh.order[next.child + i], found);
    }
}

/* Seen from very far away, the mesh is the same from a point on the way. */
static void enter_frame(const embedding *e, const double point[3], double q[3])
{
    double largest = 0;
    for (int k = 0; k < 3; k++) {
        q[k] = (0.5 * point[k] - 0.5 * e->centre[k]) * e->per_unit * 2;
        largest = fmax(largest, fabs(q[k]));
    }
    for (int k = 0; k < 3 && largest > 1e6; k++)
        q[k] = largest < INFINITY ? q[k] / largest * 1e6 : fmin(fmax(q[k], -1e6), 1e6);
}

/* Float rounding must not spoil the sum: the largest takes the rest. */
static void round_coordinates(const double b[4], float rounded[4])
{
    int largest = 0;
    double rest = 1;
    for (int c = 1; c < 4; c++)
        largest = fabs(b[c]) > fabs(b[largest]) ? c : largest;
    for (int c = 0; c < 4; c++) {
        rounded[c] = (float)b[c];
        rest -= c == largest ? 0 : (double)rounded[c];
    }
    rounded[largest] = (float)rest;
}

static pl_status check_embedding(int point_count, const double *points, int tet_count,
                                 const int32_t *tets, int count, const double *query,
                                 pl_error *error)
{
    PL_CHECK(tet_count > 0, PL_ERROR_ARGUMENT, error, "tets", "at least one, not %d", tet_count);
    for (size_t i = 0; i < 4 * (size_t)tet_count; i++) {
        PL_CHECK(tets[i] >= 0 && tets[i] < point_count, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("tets[%zu]", i / 4), "point %d of %d", tets[i], point_count);
        const double *p = &points[3 * (size_t)tets[i]];
        PL_CHECK(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]), PL_ERROR_ARGUMENT, error,
                 PL_WHERE("points[%d]", tets[i]), "is no number");
    }
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        PL_CHECK(isfinite(query[i]), PL_ERROR_ARGUMENT, error, PL_WHERE("query[%zu]", i / 3),
                 "is no number");
    return PL_OK;
}

static void choose_frame(embedding *e, int tet_count)
{
    double lower[3], upper[3], largest = 0;
    for (size_t i = 0; i < 4 * (size_t)tet_count; i++)
        for (int k = 0; k < 3; k++) {
            double x = e->points[3 * (size_t)e->tets[i] + (size_t)k];
            lower[k] = i == 0 ? x : fmin(lower[k], x);
            upper[k] = i == 0 ? x : fmax(upper[k], x);
        }
    for (int k = 0; k < 3; k++) {
        e->centre[k] = 0.5 * lower[k] + 0.5 * upper[k];
        largest = fmax(largest, 0.5 * upper[k] - 0.5 * lower[k]);
    }
    int exponent = 0;
    if (largest > 0)
        frexp(largest, &exponent);
    e->per_unit = ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

static bool build_hierarchy(pl_memory *memory, embedding *e, int tet_count)
{
    pl_bvh_box *boxes = PL_NEW(memory, pl_bvh_box, tet_count);
    if (!boxes)
        return false;
    for (int32_t t = 0; t < tet_count; t++) {
        double c[4][3];
        corners_of(e, t, c);
        for (int k = 0; k < 3; k++) {
            boxes[t].lower[k] = (float)fmin(fmin(c[0][k], c[1][k]), fmin(c[2][k], c[3][k]));
            boxes[t].upper[k] = (float)fmax(fmax(c[0][k], c[1][k]), fmax(c[2][k], c[3][k]));
        }
    }
    bool built = pl_bvh_build(memory, boxes, tet_count, LEAF_SIZE, &e->bvh);
    pl_memory_free(memory, boxes);
    return built;
}

pl_status pl_embed(pl_memory *memory, int point_count, const double *points, int tet_count,
                   const int32_t *tets, int count, const double *query, int32_t *tet,
                   float *barycentric, pl_error *error)
{
    PL_TRY(check_embedding(point_count, points, tet_count, tets, count, query, error));
    embedding e = {.points = points, .tets = tets};
    choose_frame(&e, tet_count);
    PL_CHECK(build_hierarchy(memory, &e, tet_count), PL_ERROR_MEMORY, error, NULL,
             "no memory to embed points in %d tetrahedra", tet_count);
    for (size_t i = 0; i < (size_t)count; i++) {
        embedded found = {.best = INFINITY, .tet = -1};
        enter_frame(&e, &query[3 * i], found.q);
        embed_point(&e, &found);
        tet[i] = found.tet;
        round_coordinates(found.coordinates, &barycentric[4 * i]);
    }
    pl_bvh_free(memory, &e.bvh);
    return PL_OK;
}
