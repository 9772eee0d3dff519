/* Segments against triangles, watertight (Woop, Benthin & Wald 2013): space is sheared so that the
   segment runs along one axis, and a triangle is hit when the origin lies inside its shadow. Both
   triangles of an edge compute the same numbers for it, so nothing slips between them. */
#include "shape/inside_parts.h"

enum { MAX_HITS = 32 };

typedef struct inside_ray {
    const pl_inside *inside;
    double from[3], direction[3];
    int axis[3]; /* the largest component of the direction last */
    double shear[3];
    vf low[3], high[3], inverse[3];
} inside_ray;

/* False where the segment has no length or is no number. */
static bool ray_make(const pl_inside *inside, const double from[3], const double to[3],
                     inside_ray *ray)
{
    double end[3];
    ray->inside = inside;
    if (!pl_inside_enter(inside, from, ray->from) || !pl_inside_enter(inside, to, end))
        return false;
    int z = 0;
    for (int k = 0; k < 3; k++) {
        ray->direction[k] = (to[k] - from[k]) * inside->per_unit;
        z = fabs(ray->direction[k]) > fabs(ray->direction[z]) ? k : z;
    }
    if (!(fabs(ray->direction[z]) > 1e-30 && fabs(ray->direction[z]) < 1e15))
        return false;
    ray->axis[0] = (z + 1) % 3, ray->axis[1] = (z + 2) % 3, ray->axis[2] = z;
    ray->shear[0] = ray->direction[ray->axis[0]] / ray->direction[z];
    ray->shear[1] = ray->direction[ray->axis[1]] / ray->direction[z];
    ray->shear[2] = 1 / ray->direction[z];
    double slack = pl_inside_slack(ray->from);
    for (int k = 0; k < 3; k++) {
        float along = (float)ray->direction[k];
        along = fabsf(along) > 1e-20f ? along : along < 0 ? -1e-20f : 1e-20f;
        ray->inverse[k] = pl_splat_f(1 / along);
        ray->low[k] = pl_splat_f((float)(ray->from[k] - slack));
        ray->high[k] = pl_splat_f((float)(ray->from[k] + slack));
    }
    return true;
}

/* Which children the segment may enter between the parameters 0 and `end`. */
static inline vi ray_boxes(const inside_ray *ray, const pl_bvh_node *node, float end)
{
    vf near = pl_splat_f(0), far = pl_splat_f(end);
    for (int k = 0; k < 3; k++) {
        vf a = (pl_loadu_f(node->lower[k]) - ray->high[k]) * ray->inverse[k];
        vf b = (pl_loadu_f(node->upper[k]) - ray->low[k]) * ray->inverse[k];
        near = pl_max_f(near, pl_min_f(a, b));
        far = pl_min_f(far, pl_max_f(a, b));
    }
    return near * pl_splat_f(0.999999f) <= far * pl_splat_f(1.000001f);
}

/* The parameter at which a lane's triangle is met, or 2. */
static inline double hit_lane(const inside_ray *ray, const pl_inside_packet *packet, int lane)
{
    double x[3], y[3], z[3];
    for (int c = 0; c < 3; c++) {
        double px = packet->corner[c][ray->axis[0]][lane] - ray->from[ray->axis[0]];
        double py = packet->corner[c][ray->axis[1]][lane] - ray->from[ray->axis[1]];
        double pz = packet->corner[c][ray->axis[2]][lane] - ray->from[ray->axis[2]];
        x[c] = px - ray->shear[0] * pz;
        y[c] = py - ray->shear[1] * pz;
        z[c] = pz * ray->shear[2];
    }
    double u = x[2] * y[1] - y[2] * x[1], v = x[0] * y[2] - y[0] * x[2],
           w = x[1] * y[0] - y[1] * x[0];
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0))
        return 2;
    double sum = u + v + w;
    if (sum == 0)
        return 2; /* along the triangle: its neighbours are met */
    double t = (u * z[0] + v * z[1] + w * z[2]) / sum;
    return t >= 0 && t <= 1 ? t : 2;
}

/* Hits behind `after`, in ascending order, at most MAX_HITS: the first ones. Hits at one place, as
   on a shared edge, count once. */
typedef struct inside_hits {
    double after;
    int count, most;
    double at[MAX_HITS];
    int32_t triangle[MAX_HITS];
} inside_hits;

static void hits_add(inside_hits *hits, double t, int triangle)
{
    if (!(t > hits->after) || t > 1)
        return;
    int at = hits->count;
    while (at > 0 && hits->at[at - 1] > t)
        at--;
    if (at > 0 && hits->at[at - 1] == t) {
        if (triangle < hits->triangle[at - 1])
            hits->triangle[at - 1] = triangle;
        return;
    }
    if (at == hits->most)
        return;
    hits->count += hits->count < hits->most;
    for (int i = hits->count - 1; i > at; i--) {
        hits->at[i] = hits->at[i - 1];
        hits->triangle[i] = hits->triangle[i - 1];
    }
    hits->at[at] = t;
    hits->triangle[at] = triangle;
}

static void hits_collect(const inside_ray *ray, inside_hits *hits)
{
    const pl_inside *inside = ray->inside;
    int32_t stack[PL_BVH_STACK];
    int waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
        const pl_bvh_node *node = &inside->bvh.nodes[stack[--waiting]];
        bool full = hits->count == hits->most;
        vi entered = ray_boxes(ray, node, full ? (float)hits->at[hits->count - 1] : 1.0f);
        for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
            if (!entered[lane])
                continue;
            if (node->count[lane] == 0)
                stack[waiting++] = node->child[lane];
            for (int i = 0; i < node->count[lane] * PL_INSIDE_WIDTH; i++) {
                const pl_inside_packet *packet =
                    &inside->packets[node->child[lane] + i / PL_INSIDE_WIDTH];
                int triangle = packet->triangle[i % PL_INSIDE_WIDTH];
                if (triangle >= 0)
                    hits_add(hits, hit_lane(ray, packet, i % PL_INSIDE_WIDTH), triangle);
            }
        }
    }
}

double pl_inside_hit(const pl_inside *inside, const double from[3], const double to[3],
                     int *triangle)
{
    inside_ray ray;
    inside_hits hits = {.after = -1, .most = 1};
    if (ray_make(inside, from, to, &ray))
        hits_collect(&ray, &hits);
    if (triangle)
        *triangle = hits.count ? hits.triangle[0] : -1;
    return hits.count ? hits.at[0] : 2;
}

static bool outside_at(const pl_inside *inside, const double from[3], const double to[3], double t)
{
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = from[k] + t * (to[k] - from[k]);
    return !pl_inside_test(inside, point);
}

/* Where between `in` and `out`, which differ, the surface would pass if it had no hole there. */
static double find_change(const pl_inside *inside, const double from[3], const double to[3],
                          double low, double high, bool low_outside)
{
    for (int i = 0; i < 8; i++) {
        double middle = 0.5 * (low + high);
        if (outside_at(inside, from, to, middle) == low_outside)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* How much of the parameters from a to b, between which no triangle is met, is outside. */
static double interval_outside(const pl_inside *inside, const double from[3], const double to[3],
                               double a, double b, bool holes)
{
    double middle = 0.5 * (a + b), outside = 0;
    bool at_middle = outside_at(inside, from, to, middle);
    if (!holes)
        return at_middle ? b - a : 0;
    for (int half = 0; half < 2; half++) {
        double end = half ? b : a, near_end = end + (middle - end) / 8;
        bool at_end = outside_at(inside, from, to, near_end);
        double change =
            at_end == at_middle ? middle : find_change(inside, from, to, near_end, middle, at_end);
        outside += at_end ? fabs(change - end) : 0;
        outside += at_middle ? fabs(middle - change) : 0;
    }
    return outside;
}

double pl_inside_part_outside(const pl_inside *inside, const double from[3], const double to[3],
                              bool holes, long *intervals)
{
    inside_ray ray;
    if (!ray_make(inside, from, to, &ray))
        return outside_at(inside, from, to, 0) ? 1 : 0;
    double outside = 0, done = 0;
    inside_hits hits = {.after = 0, .most = MAX_HITS};
    do {
        hits.count = 0;
        hits_collect(&ray, &hits);
        *intervals += hits.count;
        for (int i = 0; i < hits.count; i++) {
            outside += interval_outside(inside, from, to, done, hits.at[i], holes);
            done = hits.at[i];
        }
        hits.after = done;
    } while (hits.count == MAX_HITS);
    if (done < 1)
        outside += interval_outside(inside, from, to, done, 1, holes);
    return outside < 1 ? outside : 1;
}

double pl_inside_segment_outside(const pl_inside *inside, const double from[3], const double to[3])
{
    long intervals = 0;
    return pl_inside_part_outside(inside, from, to, false, &intervals);
}
