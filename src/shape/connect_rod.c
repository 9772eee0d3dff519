/* The graph of rods: samples joined along their chains, ellipsoids along the curve, as long as the
   steps and as thick as the rod, or as the slender surface it stands for. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/quat.h"
#include "shape/connect_parts.h"
#include "shape/sample_chains.h"

#define PI 3.14159265358979323846

typedef struct rod {
    pl_memory *memory;
    const pl_samples *samples;
    pl_array touches, pairs;
    double *radii; /* across, of each particle */
} rod;

static bool join(rod *r, int a, int b)
{
    pl_touch *touch = a == b ? NULL : pl_array_add(&r->touches, 1);
    if (touch)
        *touch = pl_touch_make(a, b, 1);
    return touch || a == b;
}

/* Joints come first among the samples, then each chain's inner ones in order. */
static bool join_chains(rod *r, const pl_chains *chains)
{
    int next = chains->joint_count;
    for (int c = 0; c < chains->count; c++) {
        int first = chains->joint[chains->points[chains->start[c]]];
        int last = chains->joint[chains->points[chains->start[c + 1] - 1]];
        int at = first, begin = next;
        for (; next < r->samples->count && r->samples->component[next] == c; next++) {
            if (at >= 0 && !join(r, at, next))
                return false;
            at = next;
        }
        int end = chains->closed[c] ? begin : last;
        if (at >= 0 && end < r->samples->count && !join(r, at, end))
            return false;
    }
    return true;
}

static pl_vec3 point_of(const pl_samples *samples, int i)
{
    const double *p = samples->points + 3 * (size_t)i;
    return pl_v3(p[0], p[1], p[2]);
}

/* Direction and mean length of the edges at each particle: directions are added up with the sign
   that agrees with the sum so far. */
static void gather_directions(const rod *r, const pl_graph_parts *parts, pl_vec3 *direction,
                              double *length)
{
    const pl_pair *pair = r->pairs.data;
    for (int i = 0; i < parts->particle_count; i++)
        direction[i] = pl_v3(0, 0, 0);
    for (size_t e = 0; e < r->pairs.count; e++) {
        pl_vec3 along = pl_v3_sub(point_of(r->samples, pair[e].b), point_of(r->samples, pair[e].a));
        along = pl_v3_scale(along, 1 / fmax(pair[e].length, 1e-300));
        for (int end = 0; end < 2; end++) {
            int i = end ? pair[e].b : pair[e].a;
            double sign = pl_v3_dot(direction[i], along) < 0 ? -1 : 1;
            direction[i] = pl_v3_add_scaled(direction[i], sign, along);
            length[2 * (size_t)i] += pair[e].length;
            length[2 * (size_t)i + 1] += 1;
        }
    }
}

/* The shortest turn from the x axis to a direction. */
static pl_quat turn_to(pl_vec3 direction)
{
    pl_vec3 d = pl_v3_normalise(direction);
    if (d.x < 0)
        d = pl_v3_neg(d);
    return pl_quat_normalise((pl_quat){0, -d.z, d.y, 1 + d.x});
}

static pl_status write(rod *r, pl_graph_parts *parts, pl_error *error)
{
    size_t n = (size_t)parts->particle_count;
    pl_vec3 *direction = PL_NEW(r->memory, pl_vec3, n);
    double *length = PL_NEW(r->memory, double, 2 * n);
    bool enough = direction && length;
    if (enough)
        gather_directions(r, parts, direction, length);
    for (size_t i = 0; enough && i < n; i++) {
        pl_quat q = turn_to(direction[i]);
        double edges = length[2 * i + 1];
        double step = edges > 0 ? length[2 * i] / edges : r->samples->distance;
        double across = r->radii[i], half = fmax(0.5 * step, across);
        const double orientation[4] = {q.x, q.y, q.z, q.w}, radii[3] = {half, across, across};
        memcpy(parts->orientations + 4 * i, orientation, sizeof orientation);
        memcpy(parts->radii + 3 * i, radii, sizeof radii);
    }
    pl_memory_free(r->memory, direction);
    pl_memory_free(r->memory, length);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for a rod");
    return PL_OK;
}

static pl_status connect_curves(rod *r, const pl_surface *surface, double radius,
                                pl_graph_parts *parts, pl_error *error)
{
    pl_chains chains;
    PL_TRY(pl_chains_make(r->memory, surface, &chains, error));
    bool fits = chains.joint_count <= r->samples->count;
    bool enough = fits && join_chains(r, &chains);
    for (int c = 0; c < chains.count; c++)
        parts->volume += chains.length[c] * PI * radius * radius;
    pl_chains_free(r->memory, &chains);
    for (int i = 0; i < r->samples->count; i++)
        r->radii[i] = radius;
    PL_CHECK(fits, PL_ERROR_ARGUMENT, error, "samples", "not those of the curves");
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for a rod");
    return PL_OK;
}

static pl_status connect_centreline(rod *r, const pl_surface *surface, const pl_inside *inside,
                                    double least, pl_graph_parts *parts, pl_error *error)
{
    int n = r->samples->count;
    double *points = PL_NEW(r->memory, double, 3 * (size_t)n), sum = 0;
    PL_CHECK(points, PL_ERROR_MEMORY, error, NULL, "no memory for a rod");
    double length = pl_centreline(surface, n, points, r->radii);
    pl_memory_free(r->memory, points);
    bool enough = true;
    for (int i = 0; i < n; i++) {
        sum += PI * r->radii[i] * r->radii[i] * length / n;
        r->radii[i] = fmax(r->radii[i], least);
        enough = enough && (i == 0 || join(r, i - 1, i));
    }
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for a rod");
    parts->volume = inside ? pl_inside_volume(inside) : 0;
    if (!(parts->volume > 0))
        parts->volume = sum;
    return PL_OK;
}

static pl_status connect(rod *r, const pl_surface *surface, const pl_inside *inside,
                         const pl_connect_def *def, pl_graph_parts *parts, pl_error *error)
{
    const pl_samples *samples = r->samples;
    double thickness = def->thickness > 0 ? def->thickness : samples->distance / 3;
    r->radii = PL_NEW(r->memory, double, samples->count);
    PL_CHECK(r->radii, PL_ERROR_MEMORY, error, NULL, "no memory for a rod");
    if (surface->line_count)
        PL_TRY(connect_curves(r, surface, 0.5 * thickness, parts, error));
    else
        PL_TRY(connect_centreline(r, surface, inside, 0.05 * samples->distance, parts, error));
    PL_TRY(pl_pairs_make(r->memory, &r->touches, samples->points, &r->pairs, error));
    int wanted = (int)r->pairs.count;
    pl_edge_def edges = {samples->count,
                         samples->points,
                         NULL,
                         samples->distance,
                         def->edge_count > wanted ? def->edge_count : wanted,
                         NULL};
    PL_TRY(pl_choose_edges(r->memory, &edges, &r->pairs, parts, error));
    return write(r, parts, error);
}

pl_status pl_connect_rod(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                         const pl_samples *samples, const pl_connect_def *def,
                         pl_graph_parts *parts, pl_error *error)
{
    rod r = {.memory = memory, .samples = samples};
    PL_CHECK(surface->line_count || surface->triangle_count, PL_ERROR_ARGUMENT, error, NULL,
             "a rod needs lines or a surface");
    r.touches = pl_array_make(memory, sizeof(pl_touch));
    r.pairs = pl_array_make(memory, sizeof(pl_pair));
    pl_status status = connect(&r, surface, inside, def, parts, error);
    pl_array_free(&r.touches);
    pl_array_free(&r.pairs);
    pl_memory_free(memory, r.radii);
    return status;
}
