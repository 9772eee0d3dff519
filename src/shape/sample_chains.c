/* Curves cut into chains at ends and branching points; the middle of a slender surface. */
#include "shape/sample_chains.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation_lanes.h"
#include "math/vec3.h"

typedef struct walking {
    const pl_surface *surface;
    int32_t *start, *at; /* lines at each point */
    bool *used;          /* [line] */
    pl_chains *chains;
    int filled;
} walking;

static pl_vec3 point_of(const pl_surface *surface, int p)
{
    const double *x = surface->points + 3 * (size_t)p;
    return pl_v3(x[0], x[1], x[2]);
}

static int degree(const walking *w, int p)
{
    return w->start[p + 1] - w->start[p];
}

static int unused_line(const walking *w, int p)
{
    for (int k = w->start[p]; k < w->start[p + 1]; k++)
        if (!w->used[w->at[k]])
            return w->at[k];
    return -1;
}

static void add(walking *w, int point, int line)
{
    w->chains->points[w->filled] = point;
    w->chains->lines[w->filled++] = line;
}

/* Along unused lines until a joint, or back to the start. */
static void follow(walking *w, int from, int line)
{
    pl_chains *c = w->chains;
    double length = 0;
    int p = from;
    do {
        const int32_t *ends = w->surface->lines + 2 * (size_t)line;
        int next = ends[0] == p ? ends[1] : ends[0];
        add(w, p, line);
        w->used[line] = true;
        length += pl_v3_distance(point_of(w->surface, p), point_of(w->surface, next));
        p = next;
        line = c->joint[p] >= 0 || p == from ? -1 : unused_line(w, p);
    } while (line >= 0);
    add(w, p, -1);
    c->closed[c->count] = c->joint[from] < 0;
    c->length[c->count++] = length;
    c->start[c->count] = w->filled;
}

static bool prepare(pl_memory *memory, walking *w)
{
    const pl_surface *s = w->surface;
    pl_chains *c = w->chains;
    size_t n = (size_t)s->point_count, m = (size_t)s->line_count;
    w->start = PL_NEW(memory, int32_t, n + 2);
    w->at = PL_NEW(memory, int32_t, 2 * m);
    w->used = PL_NEW(memory, bool, m);
    c->start = PL_NEW(memory, int32_t, m + 1);
    c->points = PL_NEW(memory, int32_t, 2 * m);
    c->lines = PL_NEW(memory, int32_t, 2 * m);
    c->closed = PL_NEW(memory, bool, m);
    c->length = PL_NEW(memory, double, m);
    c->joint = PL_NEW(memory, int32_t, n);
    if (!w->start || !w->at || !w->used || !c->start || !c->points || !c->lines || !c->closed ||
        !c->length || !c->joint)
        return false;
    for (size_t i = 0; i < 2 * m; i++)
        w->start[s->lines[i] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        w->start[i] += w->start[i - 1];
    for (size_t i = 0; i < 2 * m; i++)
        w->at[w->start[s->lines[i] + 1]++] = (int32_t)(i / 2);
    return true;
}

static void walk(walking *w)
{
    pl_chains *c = w->chains;
    int n = w->surface->point_count, line;
    for (int p = 0; p < n; p++)
        c->joint[p] = degree(w, p) > 0 && degree(w, p) != 2 ? c->joint_count++ : -1;
    for (int p = 0; p < n; p++)
        while (c->joint[p] >= 0 && (line = unused_line(w, p)) >= 0)
            follow(w, p, line);
    for (int p = 0; p < n; p++)
        if ((line = unused_line(w, p)) >= 0)
            follow(w, p, line);
}

pl_status pl_chains_make(pl_memory *memory, const pl_surface *surface, pl_chains *chains,
                         pl_error *error)
{
    walking w = {.surface = surface, .chains = chains};
    *chains = (pl_chains){0};
    bool enough = prepare(memory, &w);
    if (enough)
        walk(&w);
    else
        pl_chains_free(memory, chains);
    pl_memory_free(memory, w.start);
    pl_memory_free(memory, w.at);
    pl_memory_free(memory, w.used);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for %d lines", surface->line_count);
    return PL_OK;
}

void pl_chains_free(pl_memory *memory, pl_chains *chains)
{
    pl_memory_free(memory, chains->start);
    pl_memory_free(memory, chains->points);
    pl_memory_free(memory, chains->lines);
    pl_memory_free(memory, chains->closed);
    pl_memory_free(memory, chains->length);
    pl_memory_free(memory, chains->joint);
    *chains = (pl_chains){0};
}

/* ---- The middle of a slender surface ---- */

/* The direction in which the corners of the triangles, weighted by area, spread most. */
static pl_vec3 longest_axis(const pl_surface *surface, pl_vec3 *centre)
{
    double moments[9] = {0}, u[9], s[3], v[9], sum = 0, size = fmax(surface->size, 1e-300);
    pl_vec3 origin = point_of(surface, surface->triangles[0]), mean = pl_v3(0, 0, 0);
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < surface->triangle_count; t++) {
            pl_vec3 corner[3];
            for (int k = 0; k < 3; k++)
                corner[k] = pl_v3_scale(
                    pl_v3_sub(point_of(surface, surface->triangles[3 * (size_t)t + k]), origin),
                    1 / size);
            double area = pl_v3_length(
                pl_v3_cross(pl_v3_sub(corner[1], corner[0]), pl_v3_sub(corner[2], corner[0])));
            for (int k = 0; k < 3; k++) {
                pl_vec3 x = pl_v3_sub(corner[k], mean);
                double c[3] = {x.x, x.y, x.z};
                for (int i = 0; pass == 1 && i < 9; i++)
                    moments[i] += area * c[i / 3] * c[i % 3];
            }
            if (pass == 0) {
                pl_vec3 three = pl_v3_add(pl_v3_add(corner[0], corner[1]), corner[2]);
                sum += area;
                mean = pl_v3_add_scaled(mean, sum > 0 ? area / sum : 0,
                                        pl_v3_sub(pl_v3_scale(three, 1.0 / 3), mean));
            }
        }
    pl_svd3_double(1, moments, u, s, v);
    *centre = pl_v3_add_scaled(origin, size, mean);
    return pl_v3(u[0], u[3], u[6]);
}

typedef struct slices {
    pl_vec3 axis, centre;
    double low, step;
    int count;
    double *points, *radii; /* sums until the end */
} slices;

/* The piece of a triangle in the plane of slice k: its middle, weighted by its length. */
static void cut_triangle(slices *s, const pl_vec3 corner[3], const double height[3], int k)
{
    double at = s->low + ((double)k + 0.5) * s->step;
    pl_vec3 end[2];
    int found = 0;
    for (int i = 0; i < 3 && found < 2; i++) {
        int j = (i + 1) % 3;
        if ((height[i] < at) == (height[j] < at))
            continue;
        double t = (at - height[i]) / (height[j] - height[i]);
        end[found++] = pl_v3_add_scaled(corner[i], t, pl_v3_sub(corner[j], corner[i]));
    }
    if (found < 2)
        return;
    double length = pl_v3_distance(end[0], end[1]);
    pl_vec3 middle = pl_v3_scale(pl_v3_add(end[0], end[1]), 0.5 * length);
    s->points[3 * (size_t)k] += middle.x;
    s->points[3 * (size_t)k + 1] += middle.y;
    s->points[3 * (size_t)k + 2] += middle.z;
    s->radii[k] += length;
}

static void cut_all(slices *s, const pl_surface *surface)
{
    for (int t = 0; t < surface->triangle_count; t++) {
        pl_vec3 corner[3];
        double height[3], low = INFINITY, high = -INFINITY;
        for (int k = 0; k < 3; k++) {
            corner[k] =
                pl_v3_sub(point_of(surface, surface->triangles[3 * (size_t)t + k]), s->centre);
            height[k] = pl_v3_dot(corner[k], s->axis);
            low = fmin(low, height[k]);
            high = fmax(high, height[k]);
        }
        int first = (int)fmax(floor((low - s->low) / s->step - 0.5), 0);
        int last = (int)fmin(ceil((high - s->low) / s->step - 0.5), s->count - 1);
        for (int k = first; k <= last; k++)
            cut_triangle(s, corner, height, k);
    }
}

/* Sums to means; a slice that met nothing lies on the axis. The perimeter of a circle is 2 π r. */
static void finish(slices *s)
{
    for (int k = 0; k < s->count; k++) {
        double *p = s->points + 3 * (size_t)k;
        double at = s->low + ((double)k + 0.5) * s->step, length = s->radii[k];
        pl_vec3 x = pl_v3_scale(s->axis, at);
        if (length > 0)
            x = pl_v3(p[0] / length, p[1] / length, p[2] / length);
        x = pl_v3_add(x, s->centre);
        p[0] = x.x, p[1] = x.y, p[2] = x.z;
        s->radii[k] = length / 6.28318530717958647692;
    }
}

double pl_centreline(const pl_surface *surface, int count, double *points, double *radii)
{
    slices s = {.count = count, .points = points, .radii = radii};
    double low = INFINITY, high = -INFINITY;
    s.axis = longest_axis(surface, &s.centre);
    for (int i = 0; i < 3 * surface->triangle_count; i++) {
        double h = pl_v3_dot(pl_v3_sub(point_of(surface, surface->triangles[i]), s.centre), s.axis);
        low = fmin(low, h);
        high = fmax(high, h);
    }
    s.low = low;
    s.step = (high - low) / count;
    memset(points, 0, 3 * (size_t)count * sizeof(double));
    memset(radii, 0, (size_t)count * sizeof(double));
    if (s.step > 0)
        cut_all(&s, surface);
    finish(&s);
    return high - low;
}
