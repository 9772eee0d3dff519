/* From a definition to the rest state of METHODS §1: picks the unit of length and the centre,
   converts particles and surface to them. Lengths are divided by a power of two: a definition
   scaled by 2^n gives the same bits in everything but `unit` and `centre`. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/buffer.h"
#include "shape/model_parts.h"
#include "shape/skin.h"

/* ---- Scale ----------------------------------------------------------------------------------- */

static double edge_length(const pl_model_def *def, size_t edge)
{
    double a[3], b[3];
    pl_buffer_get(def->positions, (size_t)def->edges[2 * edge], 3, a);
    pl_buffer_get(def->positions, (size_t)def->edges[2 * edge + 1], 3, b);
    double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    return sqrt(x * x + y * y + z * z);
}

/* Metres; for a single particle its mean radius, which then plays the part of the spacing. */
static double mean_length(const pl_model_def *def)
{
    double sum = 0;
    if (def->edge_count == 0) {
        double r[3];
        pl_buffer_get(def->radii, 0, 3, r);
        return (r[0] + r[1] + r[2]) / 3;
    }
    for (int e = 0; e < def->edge_count; e++)
        sum += edge_length(def, (size_t)e);
    return sum / def->edge_count;
}

/* 2^round(log2(length)), exactly. */
static double power_of_two_near(double length)
{
    int exponent;
    double mantissa = frexp(length, &exponent); /* in [1/2, 1) */
    return ldexp(1, mantissa < 0.70710678118654752 ? exponent - 1 : exponent);
}

static pl_status check_edge_lengths(const pl_model_def *def, double mean, pl_error *error)
{
    for (int e = 0; e < def->edge_count; e++) {
        double length = edge_length(def, (size_t)e);
        int a = def->edges[2 * (size_t)e], b = def->edges[2 * (size_t)e + 1];
        PL_CHECK(length > 0, PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
                 "particles %d and %d are at the same place; neighbours must be apart", a, b);
        PL_CHECK(length >= PL_LEAST_EDGE * mean, PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
                 "particles %d and %d are nearly at the same place: %g m apart, where edges are %g "
                 "m long on average",
                 a, b, length, mean);
    }
    return PL_OK;
}

static pl_status measure(pl_model *model, const pl_model_def *def, pl_error *error)
{
    double mean = mean_length(def);
    PL_TRY(check_edge_lengths(def, mean, error));
    PL_CHECK(mean >= PL_MIN_SPACING && mean <= PL_MAX_SPACING, PL_ERROR_ARGUMENT, error,
             def->edge_count ? "positions" : "radii",
             "are %g m in size; the mean edge must be from %g to %g m long", mean, PL_MIN_SPACING,
             PL_MAX_SPACING);
    model->unit = power_of_two_near(mean);
    model->spacing = def->edge_count ? mean / model->unit : 0;
    for (int i = 0; i < def->particle_count; i++) {
        double p[3];
        pl_buffer_get(def->positions, (size_t)i, 3, p);
        for (int k = 0; k < 3; k++)
            model->centre[k] += p[k];
    }
    for (int k = 0; k < 3; k++)
        model->centre[k] /= def->particle_count;
    return PL_OK;
}

/* ---- Particles ------------------------------------------------------------------------------- */

pl_status pl_model_convert_points(const pl_model *model, pl_buffer points, int count,
                                  const char *name, float *out, pl_error *error)
{
    for (int i = 0; i < count; i++) {
        double p[3];
        pl_buffer_get(points, (size_t)i, 3, p);
        for (int k = 0; k < 3; k++) {
            double offset = (p[k] - model->centre[k]) / model->unit;
            PL_CHECK(fabs(offset) <= PL_MAX_EXTENT, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("%s[%d]", name, i),
                     "is %g m from the centre; at most a million times the mean edge length (about "
                     "%g m) can be told apart",
                     fabs(offset) * model->unit, model->unit);
            out[3 * (size_t)i + (size_t)k] = (float)offset;
        }
    }
    return PL_OK;
}

/* Quaternions that are unit to float precision stay as they are, so that what was read back gives
 * the same model. */
static void convert_orientation(pl_buffer orientations, size_t i, float out[4])
{
    double q[4] = {0, 0, 0, 1}, largest = 0, sum = 0;
    if (orientations.data)
        pl_buffer_get(orientations, i, 4, q);
    for (int k = 0; k < 4; k++)
        largest = fabs(q[k]) > largest ? fabs(q[k]) : largest;
    for (int k = 0; k < 4; k++)
        sum += q[k] / largest * (q[k] / largest);
    double norm = largest * sqrt(sum);
    bool is_unit = fabs(norm - 1) <= 0x1p-24;
    for (int k = 0; k < 4; k++)
        out[k] = (float)(is_unit ? q[k] : q[k] / largest / sqrt(sum));
}

static pl_status convert_radii(pl_model *model, const pl_model_def *def, pl_error *error)
{
    double least = INFINITY, most = 0;
    int smallest = 0, largest = 0;
    for (int i = 0; i < def->particle_count; i++) {
        double r[3];
        pl_buffer_get(def->radii, (size_t)i, 3, r);
        for (int k = 0; k < 3; k++) {
            double radius = r[k] / model->unit;
            if (radius < least)
                least = radius, smallest = i;
            if (radius > most)
                most = radius, largest = i;
            PL_CHECK(radius >= 1 / PL_MAX_RADII_RATIO && radius <= PL_MAX_RADII_RATIO,
                     PL_ERROR_ARGUMENT, error, PL_WHERE("radii[%d]", i),
                     "has the radius %g m among lengths of about %g m; they may differ by a factor "
                     "of a million",
                     r[k], model->unit);
            model->radii[3 * (size_t)i + (size_t)k] = (float)radius;
        }
    }
    PL_CHECK(most <= PL_MAX_RADII_RATIO * least, PL_ERROR_ARGUMENT, error,
             PL_WHERE("radii[%d]", smallest),
             "has the radius %g m, radii[%d] has %g m; within a model they may differ by a factor "
             "of a million",
             least * model->unit, largest, most * model->unit);
    return PL_OK;
}

pl_status pl_model_convert_particles(pl_model *model, const pl_model_def *def, pl_error *error)
{
    PL_TRY(measure(model, def, error));
    PL_TRY(pl_model_convert_points(model, def->positions, def->particle_count, "positions",
                                   model->rest, error));
    PL_TRY(convert_radii(model, def, error));
    for (size_t i = 0; i < (size_t)def->particle_count; i++)
        convert_orientation(def->orientations, i, model->orientation + 4 * i);
    model->volume = def->volume / (model->unit * model->unit * model->unit);
    return PL_OK;
}

/* ---- Skin ------------------------------------------------------------------------------------ */

/* Used entries to the front, a particle named twice only once, weights summing to one. */
static void convert_vertex_weights(const pl_model_def *def, size_t first, int32_t *influences,
                                   float *weights)
{
    double weight[PL_MAX_INFLUENCES], sum = 0;
    int used = 0;
    for (size_t k = 0; k < (size_t)def->influence_count; k++) {
        int32_t particle = def->influences[first + k];
        if (particle < 0 || def->weights[first + k] == 0)
            continue;
        int at = 0;
        while (at < used && influences[at] != particle)
            at++;
        if (at == used) {
            influences[used] = particle;
            weight[used++] = 0;
        }
        weight[at] += def->weights[first + k];
        sum += def->weights[first + k];
    }
    for (int k = 0; k < def->influence_count; k++) {
        influences[k] = k < used ? influences[k] : -1;
        weights[k] = k < used ? (float)(weight[k] / sum) : 0;
    }
}

pl_status pl_model_convert_skin(pl_model *model, const pl_model_def *def, pl_error *error)
{
    if (def->vertex_count == 0)
        return PL_OK;
    PL_TRY(pl_model_convert_points(model, def->vertices, def->vertex_count, "vertices",
                                   model->vertices, error));
    if (def->triangle_count > 0)
        memcpy(model->triangles, def->triangles,
               (size_t)def->triangle_count * 3 * sizeof *model->triangles);
    if (def->influence_count == 0 || !def->influences)
        return pl_skin_compute(model, error);
    for (size_t v = 0; v < (size_t)def->vertex_count; v++) {
        size_t first = v * (size_t)def->influence_count;
        convert_vertex_weights(def, first, model->influences + first, model->weights + first);
    }
    return PL_OK;
}
