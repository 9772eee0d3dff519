/* The curve a rod follows: the lines of the mesh, or the centre line of a slender surface, which is
   cut across its longest axis into sections whose outlines have their centres on it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/cook_parts.h"

#define PI 3.14159265358979323846

enum { SECTIONS = 96, POWER_STEPS = 60 };

typedef struct sections {
    double axis[3], low, high; /* the surface lies between `low` and `high` along the axis */
    double centre[SECTIONS][3], weight[SECTIONS];
} sections;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The direction in which the points are spread most: power iteration on their covariance. */
static void find_axis(const pl_surface *surface, double axis[3])
{
    double mean[3] = {0}, cov[3][3] = {{0}};
    size_t count = (size_t)surface->point_count;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += surface->points[3 * i + (size_t)k] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = (surface->points[3 * i + (size_t)k] - mean[k]) / surface->size;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                cov[r][c] += d[r] * d[c];
    }
    for (int k = 0; k < 3; k++) /* not across any coordinate axis */
        axis[k] = cov[k][k] + 0.01 * (k + 1) * (cov[0][0] + cov[1][1] + cov[2][2]);
    for (int step = 0; step < POWER_STEPS; step++) {
        double next[3] = {dot(cov[0], axis), dot(cov[1], axis), dot(cov[2], axis)};
        double length = sqrt(dot(next, next));
        if (!(length > 0))
            break;
        for (int k = 0; k < 3; k++)
            axis[k] = next[k] / length;
    }
}

static double section_at(const sections *s, int index)
{
    return s->low + (index + 0.5) / SECTIONS * (s->high - s->low);
}

/* What a plane across the axis cuts out of a triangle counts by its length. */
static void cut_triangle(sections *s, const double *corner[3], int index)
{
    double at = section_at(s, index), cut[3][3];
    int cuts = 0;
    for (int c = 0; c < 3; c++) {
        const double *a = corner[c], *b = corner[(c + 1) % 3];
        double ta = dot(a, s->axis) - at, tb = dot(b, s->axis) - at;
        if ((ta < 0) == (tb < 0))
            continue;
        for (int k = 0; k < 3; k++)
            cut[cuts][k] = a[k] + ta / (ta - tb) * (b[k] - a[k]);
        cuts++;
    }
    if (cuts != 2)
        return;
    double d[3] = {cut[1][0] - cut[0][0], cut[1][1] - cut[0][1], cut[1][2] - cut[0][2]};
    double length = sqrt(dot(d, d));
    s->weight[index] += length;
    for (int k = 0; k < 3; k++)
        s->centre[index][k] += length * (cut[0][k] + cut[1][k]) / 2;
}

static void cut_surface(const pl_surface *surface, sections *s)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (size_t i = 0; i < (size_t)surface->point_count; i++) {
        double t = dot(surface->points + 3 * i, s->axis);
        s->low = fmin(s->low, t);
        s->high = fmax(s->high, t);
    }
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
        const double *corner[3];
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < 3; c++) {
            corner[c] = surface->points + 3 * (size_t)surface->triangles[3 * t + (size_t)c];
            low = fmin(low, dot(corner[c], s->axis));
            high = fmax(high, dot(corner[c], s->axis));
        }
        double pitch = (s->high - s->low) / SECTIONS;
        int first = (int)fmax(0, floor((low - s->low) / pitch - 0.5));
        int last = (int)fmin(SECTIONS - 1, ceil((high - s->low) / pitch - 0.5));
        for (int index = first; index <= last; index++)
            cut_triangle(s, corner, index);
    }
}

/* The centres, and before the first and behind the last the ends of the surface. Returns how many
   points. */
static int collect_points(const sections *s, double (*points)[3])
{
    int count = 1;
    double last_at = 0, first_at = 0;
    for (int i = 0; i < SECTIONS; i++) {
        if (!(s->weight[i] > 0))
            continue;
        for (int k = 0; k < 3; k++)
            points[count][k] = s->centre[i][k] / s->weight[i];
        first_at = count == 1 ? section_at(s, i) : first_at;
        last_at = section_at(s, i);
        count++;
    }
    if (count == 1)
        return 0;
    for (int k = 0; k < 3; k++) {
        points[0][k] = points[1][k] + (s->low - first_at) * s->axis[k];
        points[count][k] = points[count - 1][k] + (s->high - last_at) * s->axis[k];
    }
    return count + 1;
}

static double curve_length(double (*points)[3], int count)
{
    double length = 0;
    for (int i = 1; i < count; i++) {
        double d[3] = {points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1],
                       points[i][2] - points[i - 1][2]};
        length += sqrt(dot(d, d));
    }
    return length;
}

pl_status pl_cook_find_curve(pl_kitchen *kitchen, pl_error *error)
{
    if (kitchen->surface->line_count > 0) {
        kitchen->curve = kitchen->surface;
        return PL_OK;
    }
    sections s;
    double points[SECTIONS + 2][3];
    int32_t lines[2 * (SECTIONS + 1)];
    memset(&s, 0, sizeof s);
    find_axis(kitchen->surface, s.axis);
    cut_surface(kitchen->surface, &s);
    int count = collect_points(&s, points);
    PL_CHECK(count > 1, PL_ERROR_ARGUMENT, error, "kind",
             "the surface has no length that a rod could follow; cook it as a shell");
    for (int i = 0; i + 1 < count; i++) {
        lines[2 * i] = i;
        lines[2 * i + 1] = i + 1;
    }
    pl_mesh mesh = {
        .vertex_count = count, .positions = points[0], .line_count = count - 1, .lines = lines};
    double volume = kitchen->report.mesh.volume;
    if (kitchen->thickness == 0 && volume > 0)
        kitchen->thickness = 2 * sqrt(volume / (PI * curve_length(points, count)));
    return pl_surface_create(&kitchen->memory, &mesh, 0, &kitchen->curve, error);
}
