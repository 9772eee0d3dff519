/* Makes the rest state of METHODS §1 from a definition: picks the unit of length and the centre,
   converts particles to them, and computes volumes v = 4/3 π abc and oriented moments Ā = Ē (v/5
   diag(a², b², c²)) Ēᵀ. Graph, elimination order and skin weights come from their own files.
   Lengths are divided by a power of two: a definition scaled by 2^n gives the same bits in
   everything but `unit` and `centre`. */
#include "shape/model.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "base/hash.h"
#include "shape/buffer.h"
#include "shape/check.h"
#include "shape/clumps.h"
#include "shape/graph.h"
#include "shape/skin.h"

#define PI 3.14159265358979323846

/* What float can tell apart: an edge against the mean edge, an extent or a radius against the
 * spacing. */
#define LEAST_EDGE 1e-6
#define MAX_EXTENT 1e6
#define MAX_RADII_RATIO 1e6

/* Metres. Masses in kilograms and the like, which go as the cube, still fit a float. */
#define MIN_SPACING 1e-9
#define MAX_SPACING 1e9

/* A volume given may differ from that of the ellipsoids by this factor: beyond it is a mistake of
 * unit. */
#define MAX_VOLUME_RATIO 1e12

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
        PL_CHECK(length >= LEAST_EDGE * mean, PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
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
    PL_CHECK(mean >= MIN_SPACING && mean <= MAX_SPACING, PL_ERROR_ARGUMENT, error,
             def->edge_count ? "positions" : "radii",
             "are %g m in size; the mean edge must be from %g to %g m long", mean, MIN_SPACING,
             MAX_SPACING);
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

static pl_status convert_points(const pl_model *model, pl_buffer points, int count,
                                const char *name, float *out, pl_error *error)
{
    for (int i = 0; i < count; i++) {
        double p[3];
        pl_buffer_get(points, (size_t)i, 3, p);
        for (int k = 0; k < 3; k++) {
            double offset = (p[k] - model->centre[k]) / model->unit;
            PL_CHECK(fabs(offset) <= MAX_EXTENT, PL_ERROR_ARGUMENT, error,
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
            PL_CHECK(radius >= 1 / MAX_RADII_RATIO && radius <= MAX_RADII_RATIO, PL_ERROR_ARGUMENT,
                     error, PL_WHERE("radii[%d]", i),
                     "has the radius %g m among lengths of about %g m; they may differ by a factor "
                     "of a million",
                     r[k], model->unit);
            model->radii[3 * (size_t)i + (size_t)k] = (float)radius;
        }
    }
    PL_CHECK(most <= MAX_RADII_RATIO * least, PL_ERROR_ARGUMENT, error,
             PL_WHERE("radii[%d]", smallest),
             "has the radius %g m, radii[%d] has %g m; within a model they may differ by a factor "
             "of a million",
             least * model->unit, largest, most * model->unit);
    return PL_OK;
}

/* Columns are the particle's axes. The float quaternion is unit only nearly: 2/|q|² makes the
 * matrix a rotation. */
static void rotation_matrix(const float q[4], double e[3][3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double s = 2 / (x * x + y * y + z * z + w * w);
    e[0][0] = 1 - s * (y * y + z * z);
    e[0][1] = s * (x * y - w * z);
    e[0][2] = s * (x * z + w * y);
    e[1][0] = s * (x * y + w * z);
    e[1][1] = 1 - s * (x * x + z * z);
    e[1][2] = s * (y * z - w * x);
    e[2][0] = s * (x * z - w * y);
    e[2][1] = s * (y * z + w * x);
    e[2][2] = 1 - s * (x * x + y * y);
}

static void compute_moment(const float orientation[4], const float radii[3], double volume,
                           double out[6])
{
    double e[3][3], a[3];
    rotation_matrix(orientation, e);
    for (int k = 0; k < 3; k++)
        a[k] = volume / 5 * ((double)radii[k] * radii[k]);
    int at = 0;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++)
            out[at++] =
                e[r][0] * a[0] * e[c][0] + e[r][1] * a[1] * e[c][1] + e[r][2] * a[2] * e[c][2];
}

static pl_status convert_particles(pl_model *model, const pl_model_def *def, pl_error *error)
{
    double sum = 0, farthest2 = 0;
    PL_TRY(convert_points(model, def->positions, def->particle_count, "positions", model->rest,
                          error));
    PL_TRY(convert_radii(model, def, error));
    for (size_t i = 0; i < (size_t)def->particle_count; i++) {
        const float *r = model->radii + 3 * i;
        convert_orientation(def->orientations, i, model->orientation + 4 * i);
        model->volumes[i] = 4.0 / 3 * PI * ((double)r[0] * r[1] * r[2]);
        compute_moment(model->orientation + 4 * i, r, model->volumes[i], model->moments + 6 * i);
        sum += model->volumes[i];
        double x = model->rest[3 * i], y = model->rest[3 * i + 1], z = model->rest[3 * i + 2];
        farthest2 = fmax(farthest2, x * x + y * y + z * z);
    }
    model->reach = sqrt(farthest2);
    double unit3 = model->unit * model->unit * model->unit;
    model->volume = def->volume > 0 ? def->volume / unit3 : sum;
    PL_CHECK(model->volume <= MAX_VOLUME_RATIO * sum && sum <= MAX_VOLUME_RATIO * model->volume,
             PL_ERROR_ARGUMENT, error, "volume",
             "is %g m³, but the ellipsoids have %g m³ in all; is the unit right?", def->volume,
             sum * unit3);
    return PL_OK;
}

/* The sum runs in edge order, as everywhere. */
static pl_status compute_edges(pl_model *model, pl_error *error)
{
    for (size_t e = 0; e < (size_t)model->edge_count; e++) {
        int a = model->edges[2 * e], b = model->edges[2 * e + 1];
        float *offset = model->edge_offset + 3 * e;
        for (int k = 0; k < 3; k++)
            offset[k] =
                model->rest[3 * (size_t)b + (size_t)k] - model->rest[3 * (size_t)a + (size_t)k];
        PL_CHECK(offset[0] != 0 || offset[1] != 0 || offset[2] != 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("edges[%d]", (int)e),
                 "particles %d and %d are at the same place to float precision: too near for a "
                 "model of this extent",
                 a, b);
        model->edge_volume += model->volumes[a] + model->volumes[b];
    }
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

static pl_status convert_skin(pl_model *model, const pl_model_def *def, pl_error *error)
{
    if (def->vertex_count == 0)
        return PL_OK;
    PL_TRY(convert_points(model, def->vertices, def->vertex_count, "vertices", model->vertices,
                          error));
    if (def->triangle_count > 0)
        memcpy(model->triangles, def->triangles,
               (size_t)def->triangle_count * 3 * sizeof *model->triangles);
    if (def->influence_count == 0)
        return pl_skin_compute(model, error);
    for (size_t v = 0; v < (size_t)def->vertex_count; v++) {
        size_t first = v * (size_t)def->influence_count;
        convert_vertex_weights(def, first, model->influences + first, model->weights + first);
    }
    return PL_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static void copy_counts(pl_model *model, const pl_model_def *def)
{
    int computed =
        def->particle_count < PL_SKIN_INFLUENCES ? def->particle_count : PL_SKIN_INFLUENCES;
    model->particle_count = def->particle_count;
    model->edge_count = def->edge_count;
    model->vertex_count = def->vertex_count;
    model->triangle_count = def->triangle_count;
    model->dimension = def->dimension;
    if (def->vertex_count > 0)
        model->influence_count = def->influence_count ? def->influence_count : computed;
}

static bool allocate_arrays(pl_model *model)
{
    pl_memory *memory = &model->memory;
    size_t n = (size_t)model->particle_count, m = (size_t)model->edge_count;
    size_t v = (size_t)model->vertex_count, w = v * (size_t)model->influence_count;
    return (model->rest = PL_NEW(memory, float, 3 * n)) &&
           (model->orientation = PL_NEW(memory, float, 4 * n)) &&
           (model->radii = PL_NEW(memory, float, 3 * n)) &&
           (model->volumes = PL_NEW(memory, double, n)) &&
           (model->moments = PL_NEW(memory, double, 6 * n)) &&
           (model->edges = PL_NEW(memory, int32_t, 2 * m)) &&
           (model->edge_offset = PL_NEW(memory, float, 3 * m)) &&
           (model->start = PL_NEW(memory, int32_t, n + 1)) &&
           (model->neighbour = PL_NEW(memory, int32_t, 2 * m)) &&
           (model->edge_of = PL_NEW(memory, int32_t, 2 * m)) &&
           (model->order = PL_NEW(memory, int32_t, n)) &&
           (model->vertices = PL_NEW(memory, float, 3 * v)) &&
           (model->influences = PL_NEW(memory, int32_t, w)) &&
           (model->weights = PL_NEW(memory, float, w)) &&
           (model->triangles = PL_NEW(memory, int32_t, 3 * (size_t)model->triangle_count));
}

static void free_model(pl_model *model)
{
    pl_memory memory = model->memory; /* outlives the model, which lies in it */
    void *arrays[] = {model->rest,      model->orientation, model->radii,       model->volumes,
                      model->moments,   model->edges,       model->edge_offset, model->start,
                      model->neighbour, model->edge_of,     model->order,       model->colour_start,
                      model->vertices,  model->influences,  model->weights,     model->triangles};
    pl_symbolic_destroy(&memory, model->symbolic);
    pl_clumps_destroy(&memory, model->clumps);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(&memory, arrays[k]);
    pl_memory_free(&memory, model);
}

static pl_status analyse(pl_model *model, pl_error *error)
{
    model->clumps = pl_clumps_create(&model->memory, model->particle_count, model->rest,
                                     model->orientation, model->radii, model->start,
                                     model->neighbour);
    PL_CHECK(model->clumps, PL_ERROR_MEMORY, error, NULL, "no memory for clumps");
    pl_status status = pl_symbolic_create(&model->memory, model->particle_count, model->start,
                                          model->neighbour, NULL, &model->symbolic);
    PL_CHECK(status == PL_OK, status, error, NULL,
             "no elimination order for %d particles and %d edges: %s", model->particle_count,
             model->edge_count, pl_status_text(status));
    return PL_OK;
}

/* Everything that results depend on: what was given, and the two orders that a later version might
 * choose otherwise. */
static uint64_t hash_model(const pl_model *model)
{
    size_t n = (size_t)model->particle_count, v = (size_t)model->vertex_count;
    size_t w = v * (size_t)model->influence_count;
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_string(&hash, "pliant model 1");
    pl_hash_u32(&hash, (uint32_t)model->particle_count);
    pl_hash_u32(&hash, (uint32_t)model->edge_count);
    pl_hash_u32(&hash, (uint32_t)model->vertex_count);
    pl_hash_u32(&hash, (uint32_t)model->triangle_count);
    pl_hash_u32(&hash, (uint32_t)model->influence_count);
    pl_hash_u32(&hash, (uint32_t)model->dimension);
    pl_hash_f64(&hash, model->unit);
    pl_hash_f64(&hash, model->volume);
    pl_hash_f64_array(&hash, model->centre, 3);
    pl_hash_f32_array(&hash, model->rest, 3 * n);
    pl_hash_f32_array(&hash, model->orientation, 4 * n);
    pl_hash_f32_array(&hash, model->radii, 3 * n);
    pl_hash_u32_array(&hash, (const uint32_t *)model->edges, 2 * (size_t)model->edge_count);
    pl_hash_u32_array(&hash, (const uint32_t *)model->order, n);
    pl_hash_u32_array(&hash, (const uint32_t *)model->colour_start,
                      (size_t)model->colour_count + 1);
    pl_hash_u32_array(&hash, (const uint32_t *)model->symbolic->perm, n);
    pl_hash_f32_array(&hash, model->vertices, 3 * v);
    pl_hash_u32_array(&hash, (const uint32_t *)model->influences, w);
    pl_hash_f32_array(&hash, model->weights, w);
    pl_hash_u32_array(&hash, (const uint32_t *)model->triangles, 3 * (size_t)model->triangle_count);
    return pl_hash_final(&hash);
}

static pl_status fill_model(pl_model *model, const pl_model_def *def, pl_error *error)
{
    copy_counts(model, def);
    PL_CHECK(allocate_arrays(model), PL_ERROR_MEMORY, error, NULL,
             "no memory for a model of %d particles, %d edges and %d vertices", def->particle_count,
             def->edge_count, def->vertex_count);
    if (def->edge_count > 0)
        memcpy(model->edges, def->edges, (size_t)def->edge_count * 2 * sizeof *model->edges);
    PL_TRY(pl_graph_connect(model, error));
    PL_TRY(measure(model, def, error));
    PL_TRY(convert_particles(model, def, error));
    PL_TRY(compute_edges(model, error));
    PL_TRY(convert_skin(model, def, error));
    PL_TRY(pl_graph_colour(model, error));
    PL_TRY(analyse(model, error));
    model->hash = hash_model(model);
    return PL_OK;
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status create(const pl_model_def *def, pl_model **out,
                                                  pl_error *error)
{
    PL_TRY(pl_model_def_check(def, error));
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "model",
             "is NULL; it must be where the model is to be put");
    pl_memory memory;
    pl_memory_init(&memory, def->allocator, def->memory_limit);
    pl_model *model = PL_NEW(&memory, pl_model, 1);
    PL_CHECK(model, PL_ERROR_MEMORY, error, NULL, "no memory for a model");
    model->memory = memory;
    atomic_init(&model->references, 1);
    pl_status status = fill_model(model, def, error);
    if (status == PL_OK)
        *out = model;
    else
        free_model(model);
    return status;
}

/* ---- Interface ------------------------------------------------------------------------------- */

pl_model_def pl_default_model_def(void)
{
    return (pl_model_def){.dimension = 3, .cookie = PL_MODEL_COOKIE};
}

pl_status pl_model_create(const pl_model_def *def, pl_model **model, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = create(def, model, error);
    pl_float_env_leave(host);
    return status;
}

void pl_model_retain(pl_model *model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void pl_model_release(pl_model *model)
{
    if (model && atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) == 1)
        free_model(model);
}

static double in_metres(const pl_model *model, const float *points, size_t index, int k)
{
    return model->centre[k] + model->unit * points[3 * index + (size_t)k];
}

static void find_bounds(const pl_model *model, double lower[3], double upper[3])
{
    for (int k = 0; k < 3; k++) {
        lower[k] = upper[k] = in_metres(model, model->rest, 0, k);
        for (size_t i = 1; i < (size_t)model->particle_count; i++) {
            double x = in_metres(model, model->rest, i, k);
            lower[k] = x < lower[k] ? x : lower[k];
            upper[k] = x > upper[k] ? x : upper[k];
        }
    }
}

pl_model_info pl_model_get_info(const pl_model *model)
{
    pl_model_info info = {.particle_count = model->particle_count,
                          .edge_count = model->edge_count,
                          .vertex_count = model->vertex_count,
                          .triangle_count = model->triangle_count,
                          .dimension = model->dimension,
                          .colour_count = model->colour_count,
                          .factor_count = model->symbolic->nnz,
                          .volume = model->volume * (model->unit * model->unit * model->unit),
                          .spacing = model->spacing * model->unit,
                          .unit = model->unit,
                          .hash = model->hash};
    find_bounds(model, info.lower, info.upper);
    return info;
}

static void read_element(const pl_model *model, pl_model_field field, size_t i, double values[4])
{
    for (int k = 0; k < 3; k++) {
        if (field == PL_REST_POSITIONS)
            values[k] = in_metres(model, model->rest, i, k);
        else if (field == PL_REST_VERTICES)
            values[k] = in_metres(model, model->vertices, i, k);
        else if (field == PL_REST_RADII)
            values[k] = model->unit * model->radii[3 * i + (size_t)k];
    }
    for (int k = 0; k < 4 && field == PL_REST_ORIENTATIONS; k++)
        values[k] = model->orientation[4 * i + (size_t)k];
}

pl_status pl_model_read(const pl_model *model, pl_model_field field, int first, int count,
                        pl_buffer out)
{
    PL_REQUIRE(field >= PL_REST_POSITIONS && field <= PL_REST_VERTICES, PL_ERROR_ARGUMENT, NULL,
               "field", "there is no model field %d", (int)field);
    int available = field == PL_REST_VERTICES ? model->vertex_count : model->particle_count;
    PL_REQUIRE(first >= 0 && count >= 0 && first <= available && count <= available - first,
               PL_ERROR_ARGUMENT, NULL, "first", "elements %d to %lld of %d were asked for", first,
               (long long)first + count - 1, available);
    PL_REQUIRE(out.data || count == 0, PL_ERROR_ARGUMENT, NULL, "out", "the buffer is NULL");
    PL_REQUIRE(out.type == PL_F32 || out.type == PL_F64, PL_ERROR_ARGUMENT, NULL, "out",
               "the buffer has the unknown type %d", (int)out.type);
    int scalars = field == PL_REST_ORIENTATIONS ? 4 : 3;
    for (int i = 0; i < count; i++) {
        double values[4] = {0};
        read_element(model, field, (size_t)first + (size_t)i, values);
        pl_buffer_set(out, (size_t)i, scalars, values);
    }
    return PL_OK;
}

const int32_t *pl_model_edges(const pl_model *model)
{
    return model->edges;
}

const int32_t *pl_model_triangles(const pl_model *model)
{
    return model->triangles;
}
