/* Ellipsoids of a solid's particles. A part of the body with volume V and second moments C (about
   its centre) has the ellipsoid B = 5 C, scaled to the volume V; x is inside when xᵀ H x < 1, H =
   B⁻¹. A point y of the surface nearby, with normal n, should lie on it, and not inside: H ← H + κ
   n nᵀ with κ = (wanted − yᵀ H y) / (n·y)² makes it so, and changes nothing conjugate to n. The
   volume lost is given back to the other directions. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/elementary.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "shape/connect_parts.h"
#include "shape/sample_refine.h"

#define PI 3.14159265358979323846

/* How far the ellipsoid may stick out of the surface and stay below it, in its distance from the
   particle; how much more, where it would have less than this part of the volume it stands for; the
   largest aspect; rounds of giving volume back. */
#define STICK_OUT 1.10
#define STAY_BELOW 0.97
#define MORE_STICK_OUT 1.15
#define ENOUGH_VOLUME 0.75
#define MOST_ASPECT 3.0
enum { ROUNDS = 4, NARROWINGS = 12 };

/* A bit of surface, from the particle. */
typedef struct spot {
    double point[3], normal[3];
} spot;

static double square(const double b[6], const double v[3])
{
    return b[0] * v[0] * v[0] + b[3] * v[1] * v[1] + b[5] * v[2] * v[2] +
           2 * (b[1] * v[0] * v[1] + b[2] * v[0] * v[2] + b[4] * v[1] * v[2]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* b += s v vᵀ */
static void add_outer(double b[6], double s, const double v[3])
{
    for (int i = 0, n = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            b[n++] += s * v[i] * v[j];
}

static double determinant(const double b[6])
{
    return b[0] * (b[3] * b[5] - b[4] * b[4]) - b[1] * (b[1] * b[5] - b[4] * b[2]) +
           b[2] * (b[1] * b[4] - b[3] * b[2]);
}

static void invert(const double b[6], double inverse[6])
{
    double scale = 1 / fmax(determinant(b), 1e-300);
    inverse[0] = scale * (b[3] * b[5] - b[4] * b[4]);
    inverse[1] = scale * (b[2] * b[4] - b[1] * b[5]);
    inverse[2] = scale * (b[1] * b[4] - b[2] * b[3]);
    inverse[3] = scale * (b[0] * b[5] - b[2] * b[2]);
    inverse[4] = scale * (b[1] * b[2] - b[0] * b[4]);
    inverse[5] = scale * (b[0] * b[3] - b[1] * b[1]);
}

static double volume_of(const double b[6])
{
    return 4 * PI / 3 * sqrt(fmax(determinant(b), 1e-300));
}

/* Multiplies all half-widths by one factor, within limits. */
static void scale_to(double b[6], double volume, double least, double most)
{
    double factor = pl_pow(fmin(fmax(volume / volume_of(b), 1e-9), 1e9), 1.0 / 3);
    factor = fmin(fmax(factor, least), most);
    for (int k = 0; k < 6; k++)
        b[k] *= factor * factor;
}

/* `h` is H. Surface that faces away, or whose plane passes nearer to the particle than any surface
   is, is moved off in its own direction instead of its normal's. */
static void narrow(double h[6], const spot *spots, int count, double nearest)
{
    const double wanted = 1 / (STICK_OUT * STICK_OUT);
    for (int pass = 0; pass < NARROWINGS; pass++) {
        double worst = wanted * (1 - 1e-6);
        const spot *deepest = NULL;
        for (int i = 0; i < count; i++) {
            double at = square(h, spots[i].point);
            if (at < worst)
                worst = at, deepest = &spots[i];
        }
        if (!deepest)
            return;
        double height = dot(deepest->point, deepest->normal);
        double length2 = dot(deepest->point, deepest->point);
        if (height < 0.5 * nearest)
            add_outer(h, (wanted - worst) / (length2 * length2), deepest->point);
        else
            add_outer(h, (wanted - worst) / (height * height), deepest->normal);
    }
}

/* The nearest bit of surface is reached: with q = yᵀ B⁻¹ y, B + γ y yᵀ has 1 / (γ + 1/q)
   instead. */
static void widen(double b[6], const spot *nearest)
{
    double h[6];
    invert(b, h);
    double at = square(h, nearest->point), wanted = STAY_BELOW * STAY_BELOW;
    if (at > 1 / wanted && at < 16)
        add_outer(b, wanted - 1 / at, nearest->point);
}

static void fit(double b[6], const spot *spots, int count, double volume)
{
    double h[6], least = INFINITY;
    const spot *nearest = NULL;
    for (int i = 0; i < count; i++)
        if (dot(spots[i].point, spots[i].point) < least)
            least = dot(spots[i].point, spots[i].point), nearest = &spots[i];
    for (int round = 0; round < ROUNDS && nearest; round++) {
        invert(b, h);
        narrow(h, spots, count, sqrt(least));
        invert(h, b);
        if (round + 1 < ROUNDS)
            scale_to(b, volume, 0.85, 1.3);
    }
    if (nearest)
        widen(b, nearest);
    else
        scale_to(b, volume, 0.5, 2);
    if (volume_of(b) < ENOUGH_VOLUME * volume) /* parts of a shape that is not convex */
        scale_to(b, ENOUGH_VOLUME * volume, 1, MORE_STICK_OUT);
}

/* B = 5 C and the volume; a ball where there is nothing to go by. */
static double begin(const pl_moments *m, double volume_per_weight, double least, double b[6])
{
    double w = m->weight, trace = 0;
    if (!(w > 0)) {
        const double ball[6] = {least * least, 0, 0, least * least, 0, least * least};
        memcpy(b, ball, sizeof ball);
        return 4 * PI / 3 * least * least * least;
    }
    for (int i = 0, n = 0; i < 3; i++)
        for (int j = i; j < 3; j++, n++) {
            b[n] = 5 * (m->second[n] / w - m->first[i] / w * (m->first[j] / w));
            trace += i == j ? b[n] : 0;
        }
    for (int i = 0, n = 0; i < 3; n += 3 - i, i++)
        b[n] += 1e-3 * trace + 1e-6;
    return w * volume_per_weight;
}

/* Where the surface is, straight over a cell's point; not nearer than `least`. */
static spot spot_of(const pl_surface *surface, const pl_cells *cells, int cell,
                    const double centre[3], double least)
{
    const int32_t *c = surface->triangles + 3 * (size_t)cells->triangles[cell];
    const double *p = surface->points + 3 * (size_t)c[0], *x = cells->points + 3 * (size_t)cell;
    double height = 0, length = 0;
    spot s;
    pl_twice_area(surface->points, c, s.normal);
    length = sqrt(dot(s.normal, s.normal));
    for (int k = 0; k < 3; k++) {
        s.normal[k] /= fmax(length, 1e-300);
        height += s.normal[k] * (p[k] - x[k]) / cells->pitch;
    }
    for (int k = 0; k < 3; k++)
        s.point[k] = (x[k] - centre[k]) / cells->pitch + height * s.normal[k];
    length = sqrt(dot(s.point, s.point));
    for (int k = 0; k < 3 && length < least; k++)
        s.point[k] = length > 0 ? s.point[k] * (least / length) : least * s.normal[k];
    return s;
}

/* Facings sorted by particle. */
static bool group(pl_memory *memory, const pl_array *facings, int count, int32_t **start,
                  int32_t **grouped)
{
    const pl_facing *f = facings->data;
    *start = PL_NEW(memory, int32_t, (size_t)count + 2);
    *grouped = PL_NEW(memory, int32_t, facings->count);
    if (!*start || !*grouped)
        return false;
    for (size_t i = 0; i < facings->count; i++)
        (*start)[f[i].particle + 2]++;
    for (int i = 2; i < count + 2; i++)
        (*start)[i] += (*start)[i - 1];
    for (size_t i = 0; i < facings->count; i++)
        (*grouped)[(*start)[f[i].particle + 1]++] = f[i].cell;
    return true;
}

/* Too long and too short axes meet halfway. */
static void limit_aspect(double radii[3], double aspect)
{
    double excess = radii[0] / (aspect * fmax(radii[2], 1e-30 * radii[0]));
    if (excess <= 1)
        return;
    double longest = radii[0] / sqrt(excess), shortest = longest / aspect;
    for (int k = 0; k < 3; k++)
        radii[k] = fmin(fmax(radii[k], shortest), longest);
}

/* The quaternion of axes given by columns; of a ball, none. */
static void write_one(const double u[9], const double s[3], double unit, double aspect,
                      double radii[3], double orientation[4])
{
    pl_mat3 axes = {{{u[0], u[1], u[2]}, {u[3], u[4], u[5]}, {u[6], u[7], u[8]}}};
    pl_quat q = s[2] >= s[0] * (1 - 1e-9) ? pl_quat_identity() : pl_quat_from_m3(axes);
    for (int k = 0; k < 3; k++)
        radii[k] = unit * sqrt(fmax(s[k], 0));
    limit_aspect(radii, aspect);
    orientation[0] = q.x, orientation[1] = q.y, orientation[2] = q.z, orientation[3] = q.w;
}

pl_status pl_write_ellipsoids(pl_memory *memory, int count, const double *shapes, double unit,
                              double aspect, pl_graph_parts *parts, pl_error *error)
{
    size_t n = (size_t)count;
    double *c = PL_NEW(memory, double, 9 * n), *u = PL_NEW(memory, double, 9 * n);
    double *s = PL_NEW(memory, double, 3 * n), *v = PL_NEW(memory, double, 9 * n);
    bool enough = c && u && s && v;
    for (size_t i = 0; enough && i < n; i++) {
        const double *b = shapes + 6 * i;
        const double full[9] = {b[0], b[1], b[2], b[1], b[3], b[4], b[2], b[4], b[5]};
        memcpy(c + 9 * i, full, sizeof full);
    }
    if (enough)
        pl_svd3_double(n, c, u, s, v);
    for (size_t i = 0; enough && i < n; i++)
        write_one(u + 9 * i, s + 3 * i, unit, aspect, parts->radii + 3 * i,
                  parts->orientations + 4 * i);
    pl_memory_free(memory, c);
    pl_memory_free(memory, u);
    pl_memory_free(memory, s);
    pl_memory_free(memory, v);
    PL_CHECK(enough, PL_ERROR_MEMORY, error, NULL, "no memory for %d ellipsoids", count);
    return PL_OK;
}

typedef struct fitting {
    const pl_surface *surface;
    const pl_cells *cells;
    const pl_moments *moments;
    int32_t *start, *grouped; /* cells at the surface, of each particle */
    spot *spots;
    double *shapes;
} fitting;

static void fit_all(const fitting *f, double distance, pl_graph_parts *parts)
{
    double weight = 0, unit = f->cells->pitch;
    for (int i = 0; i < parts->particle_count; i++)
        weight += f->moments[i].weight;
    double per_weight = weight > 0 ? parts->volume / (unit * unit * unit) / weight : 0;
    per_weight = fmin(fmax(per_weight, 0.2), 2);
    for (int i = 0; i < parts->particle_count; i++) {
        double *b = f->shapes + 6 * (size_t)i;
        double volume = begin(&f->moments[i], per_weight, 0.3 * distance / unit, b);
        double radius = pl_pow(3 * volume / (4 * PI), 1.0 / 3);
        int count = f->start[i + 1] - f->start[i];
        for (int k = 0; k < count; k++)
            f->spots[k] = spot_of(f->surface, f->cells, f->grouped[f->start[i] + k],
                                  parts->positions + 3 * (size_t)i, 0.1 * radius);
        fit(b, f->spots, count, volume);
    }
}

pl_status pl_fit_solid(pl_memory *memory, const pl_surface *surface, const pl_cells *cells,
                       const pl_moments *moments, double distance, const pl_array *facings,
                       pl_graph_parts *parts, pl_error *error)
{
    fitting f = {.surface = surface, .cells = cells, .moments = moments};
    int n = parts->particle_count, most = 1;
    bool enough = group(memory, facings, n, &f.start, &f.grouped);
    for (int i = 0; enough && i < n; i++)
        most = f.start[i + 1] - f.start[i] > most ? f.start[i + 1] - f.start[i] : most;
    f.spots = PL_NEW(memory, spot, most);
    f.shapes = PL_NEW(memory, double, 6 * (size_t)n);
    pl_status status = PL_ERROR_MEMORY;
    if (enough && f.spots && f.shapes) {
        fit_all(&f, distance, parts);
        status = pl_write_ellipsoids(memory, n, f.shapes, cells->pitch, MOST_ASPECT, parts, error);
    } else {
        pl_fail(error, status, NULL, "no memory for ellipsoids");
    }
    pl_memory_free(memory, f.start);
    pl_memory_free(memory, f.grouped);
    pl_memory_free(memory, f.spots);
    pl_memory_free(memory, f.shapes);
    return status;
}
