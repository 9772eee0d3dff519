/* The closest point of a surface: nearer boxes first, boxes further than the best so far not at
   all. The four triangles of a packet are measured together, without branches: the plane where the
   foot of the perpendicular lies inside, else the nearest of the three edges. */
#include <string.h>

#include "shape/inside_parts.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The closest point of the segment a–b; returns the squared distance. */
static double segment_closest(const double a[3], const double b[3], const double p[3],
                              double closest[3])
{
    double ab[3], ap[3], sum = 0;
    for (int k = 0; k < 3; k++)
        ab[k] = b[k] - a[k], ap[k] = p[k] - a[k];
    double length2 = dot(ab, ab), t = length2 > 0 ? dot(ap, ab) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int k = 0; k < 3; k++) {
        closest[k] = t == 1 ? b[k] : a[k] + t * ab[k];
        sum += (p[k] - closest[k]) * (p[k] - closest[k]);
    }
    return sum;
}

double pl_inside_triangle_closest(const double v[3][3], const double p[3], double closest[3])
{
    double best = INFINITY, edge[3][3], normal[3];
    for (int e = 0; e < 3; e++) {
        double candidate[3];
        double d2 = segment_closest(v[e], v[(e + 1) % 3], p, candidate);
        for (int k = 0; k < 3; k++)
            edge[e][k] = v[(e + 1) % 3][k] - v[e][k];
        if (d2 < best) {
            best = d2;
            memcpy(closest, candidate, sizeof candidate);
        }
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = edge[0][i] * -edge[2][j] - edge[0][j] * -edge[2][i];
    }
    double length2 = dot(normal, normal);
    for (int e = 0; e < 3; e++) {
        double side = 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            side += normal[k] * (edge[e][i] * (p[j] - v[e][j]) - edge[e][j] * (p[i] - v[e][i]));
        }
        if (!(side > 0))
            return best;
    }
    double ap[3] = {p[0] - v[0][0], p[1] - v[0][1], p[2] - v[0][2]};
    double height = dot(ap, normal) / length2, d2 = height * height * length2;
    if (!(d2 < best))
        return best;
    for (int k = 0; k < 3; k++)
        closest[k] = p[k] - height * normal[k];
    return d2;
}

static inline vd dots(const vd a[3], const vd b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Squared distance to the segment at whose beginning the point lies `to_point` away. */
static inline vd segment_distance2(const vd edge[3], const vd to_point[3])
{
    const vd zero = pl_splat_d(0), one = pl_splat_d(1);
    vd length2 = dots(edge, edge);
    vd t = dots(edge, to_point) / pl_select_d(length2 > zero, length2, one);
    t = pl_select_d(t > zero, t, zero);
    t = pl_select_d(t < one, t, one);
    vd rest[3];
    for (int k = 0; k < 3; k++)
        rest[k] = to_point[k] - t * edge[k];
    return dots(rest, rest);
}

/* Of the two triangles from lane `first` on. */
static inline vd pair_distance2(const pl_inside_packet *packet, int first, const double q[3])
{
    vd corner[3][3], to[3][3], edge[3][3], normal[3];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            corner[c][k] = pl_load_d(&packet->corner[c][k][first]);
            to[c][k] = pl_splat_d(q[k]) - corner[c][k];
        }
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            edge[c][k] = corner[(c + 1) % 3][k] - corner[c][k];
    vd best = segment_distance2(edge[0], to[0]);
    for (int e = 1; e < 3; e++) {
        vd d2 = segment_distance2(edge[e], to[e]);
        best = pl_select_d(d2 < best, d2, best);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = edge[2][i] * edge[0][j] - edge[2][j] * edge[0][i];
    }
    /* Inside all three edges: normal · (edge × to) > 0; never where there is no area. */
    vd side[3];
    for (int e = 0; e < 3; e++)
        side[e] = normal[0] * (edge[e][1] * to[e][2] - edge[e][2] * to[e][1]) +
                  normal[1] * (edge[e][2] * to[e][0] - edge[e][0] * to[e][2]) +
                  normal[2] * (edge[e][0] * to[e][1] - edge[e][1] * to[e][0]);
    const vd zero = pl_splat_d(0);
    vd length2 = dots(normal, normal), height = dots(to[0], normal);
    vd plane = height * height / pl_select_d(length2 > zero, length2, pl_splat_d(1));
    return pl_select_d((side[0] > zero) & (side[1] > zero) & (side[2] > zero) & (plane < best),
                       plane, best);
}

static inline vf dots_f(const vf a[3], const vf b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline vf segment_distance2_f(const vf edge[3], const vf to_point[3])
{
    const vf zero = pl_splat_f(0), one = pl_splat_f(1);
    vf length2 = dots_f(edge, edge);
    vf t = dots_f(edge, to_point) / pl_select_f(length2 > zero, length2, one);
    t = pl_min_f(pl_max_f(t, zero), one);
    vf rest[3];
    for (int k = 0; k < 3; k++)
        rest[k] = to_point[k] - t * edge[k];
    return dots_f(rest, rest);
}

/* The same in float, for four triangles. */
static inline vf sketch_distance2(const pl_inside_sketch *sketch, const vf q[3])
{
    vf to[3][3], edge[3][3], normal[3], side[3];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            to[c][k] = q[k] - sketch->corner[c][k];
            edge[c][k] = sketch->corner[(c + 1) % 3][k] - sketch->corner[c][k];
        }
    vf best = segment_distance2_f(edge[0], to[0]);
    best = pl_min_f(best, segment_distance2_f(edge[1], to[1]));
    best = pl_min_f(best, segment_distance2_f(edge[2], to[2]));
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = edge[2][i] * edge[0][j] - edge[2][j] * edge[0][i];
    }
    for (int e = 0; e < 3; e++)
        side[e] = normal[0] * (edge[e][1] * to[e][2] - edge[e][2] * to[e][1]) +
                  normal[1] * (edge[e][2] * to[e][0] - edge[e][0] * to[e][2]) +
                  normal[2] * (edge[e][0] * to[e][1] - edge[e][1] * to[e][0]);
    const vf zero = pl_splat_f(0);
    vf length2 = dots_f(normal, normal), height = dots_f(to[0], normal);
    vf plane = height * height / pl_select_f(length2 > zero, length2, pl_splat_f(1));
    return pl_select_f((side[0] > zero) & (side[1] > zero) & (side[2] > zero) & (plane < best),
                       plane, best);
}

typedef struct inside_nearest {
    const pl_inside *inside;
    double q[3];
    vf single[3], low[3], high[3]; /* the point in float, also moved by the slack either way */
    double slack;
    double best;  /* squared, in the frame */
    float beyond; /* squared distance in float from which on nothing can be nearer */
    int packet, lane;
} inside_nearest;

static inline vf box_distance2(const inside_nearest *nearest, const pl_bvh_node *node)
{
    vf sum = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        vf below = pl_loadu_f(node->lower[k]) - nearest->high[k];
        vf above = nearest->low[k] - pl_loadu_f(node->upper[k]);
        vf away = pl_max_f(pl_max_f(below, above), pl_splat_f(0));
        sum += away * away;
    }
    return sum;
}

static void set_best(inside_nearest *nearest, double best)
{
    double reach = sqrt(best) * 1.00001 + 10 * nearest->slack;
    nearest->best = best;
    nearest->beyond = reach < 1e18 ? (float)(reach * reach) : INFINITY;
}

static void try_packet(inside_nearest *nearest, int number)
{
    for (int pair = 0; pair < PL_INSIDE_WIDTH; pair += PL_WD) {
        vd d2 = pair_distance2(&nearest->inside->packets[number], pair, nearest->q);
        for (int lane = 0; lane < PL_WD; lane++)
            if (d2[lane] < nearest->best) {
                set_best(nearest, d2[lane]);
                nearest->packet = number;
                nearest->lane = pair + lane;
            }
    }
}

/* A first look in float tells most triangles to be too far. */
static inline void try_leaf(inside_nearest *nearest, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        vf d2 = sketch_distance2(&nearest->inside->sketches[i], nearest->single);
        if (pl_any_f(d2 < pl_splat_f(nearest->beyond)))
            try_packet(nearest, i);
    }
}

typedef struct inside_waiting {
    float distance2;
    int32_t child, count;
} inside_waiting;

/* Puts a node's children on the stack, the nearest on top. */
static inline int push_children(const inside_nearest *nearest, const pl_bvh_node *node,
                                inside_waiting *stack, int waiting)
{
    vf d2 = box_distance2(nearest, node);
    int bottom = waiting;
    for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
        float distance2 = d2[lane] * 0.999999f;
        if (node->count[lane] < 0 || !((double)distance2 < nearest->best))
            continue;
        int at = waiting++;
        for (; at > bottom && stack[at - 1].distance2 < distance2; at--)
            stack[at] = stack[at - 1];
        stack[at] = (inside_waiting){distance2, node->child[lane], node->count[lane]};
    }
    return waiting;
}

static void find_nearest(inside_nearest *nearest)
{
    inside_waiting stack[PL_BVH_STACK];
    int waiting = push_children(nearest, &nearest->inside->bvh.nodes[0], stack, 0);
    while (waiting > 0) {
        inside_waiting next = stack[--waiting];
        if (!((double)next.distance2 < nearest->best))
            continue;
        if (next.count > 0)
            try_leaf(nearest, next.child, next.count);
        else
            waiting =
                push_children(nearest, &nearest->inside->bvh.nodes[next.child], stack, waiting);
    }
}

/* From very far, a point on the way there has the same closest point to all the figures there are,
   and its squares stay within the floats. */
static void bring_near(double q[3])
{
    double largest = fmax(fabs(q[0]), fmax(fabs(q[1]), fabs(q[2])));
    for (int k = 0; k < 3 && largest > 1e15; k++)
        q[k] *= 1e15 / largest;
}

/* Once more, in double throughout and seen from a corner of the triangle: what lies on the corner
   or far from the origin loses nothing. */
static double exact_closest(const pl_inside *inside, int triangle, const double point[3],
                            double closest[3])
{
    const pl_surface *surface = inside->surface;
    const double *corner[3];
    double v[3][3], p[3], found[3];
    for (int c = 0; c < 3; c++)
        corner[c] =
            &surface->points[3 * (size_t)surface->triangles[3 * (size_t)triangle + (size_t)c]];
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            v[c][k] = (corner[c][k] - corner[0][k]) * inside->per_unit;
        p[k] = (point[k] - corner[0][k]) * inside->per_unit;
    }
    double distance = sqrt(pl_inside_triangle_closest(v, p, found)) * inside->unit;
    for (int k = 0; k < 3 && closest; k++)
        closest[k] = corner[0][k] + found[k] * inside->unit;
    return distance;
}

double pl_inside_closest(const pl_inside *inside, const double point[3], double limit,
                         double closest[3], int *triangle)
{
    inside_nearest nearest = {.inside = inside, .packet = -1};
    if (triangle)
        *triangle = -1;
    if (!pl_inside_enter(inside, point, nearest.q) || !(limit >= 0))
        return INFINITY;
    bring_near(nearest.q);
    double reach = limit * inside->per_unit;
    nearest.slack = pl_inside_slack(nearest.q);
    set_best(&nearest, reach < 1e150 ? reach * reach * (1 + 1e-12) : INFINITY);
    for (int k = 0; k < 3; k++) {
        nearest.high[k] = pl_splat_f((float)(nearest.q[k] + nearest.slack));
        nearest.low[k] = pl_splat_f((float)(nearest.q[k] - nearest.slack));
        nearest.single[k] = pl_splat_f((float)nearest.q[k]);
    }
    find_nearest(&nearest);
    if (nearest.packet < 0)
        return INFINITY;

    int number = inside->packets[nearest.packet].triangle[nearest.lane];
    number = number >= 0 ? number : inside->packets[nearest.packet].triangle[0];
    if (triangle)
        *triangle = number;
    return exact_closest(inside, number, point, closest);
}
