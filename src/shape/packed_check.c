/* Checks the arrays of an unpacked model, one element after the other, against the limits that hold
   for models made from definitions (model_parts.h), with a little room for the rounding to
   float. */
#include "shape/packed_check.h"

#include <math.h>

#include "base/error.h"
#include "shape/model_parts.h"

#define FAIL_UNLESS(condition, error, where, ...)                                                  \
    PL_CHECK(condition, PL_ERROR_FORMAT, error, where, __VA_ARGS__)

#define ROUNDING 1.001
#define MAX_CENTRE 1e30

/* A factor with more entries per particle and edge than this came from a bad order:
   three-dimensional bodies of a million particles have about two hundred. */
enum { MAX_FILL = 512 };

bool pl_packed_are_finite(const float *values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++)
        finite &= isfinite(values[i]) != 0;
    return finite;
}

static bool are_within(const float *values, size_t count, float low, float high)
{
    bool within = true;
    for (size_t i = 0; i < count; i++)
        within &= values[i] >= low && values[i] <= high;
    return within;
}

static bool are_indices(const int32_t *values, size_t count, int limit)
{
    bool within = true;
    for (size_t i = 0; i < count; i++)
        within &= values[i] >= 0 && values[i] < limit;
    return within;
}

/* `stride` numbers each, of which the first `width` have this length. */
static bool are_unit(const float *values, size_t count, size_t stride, size_t width,
                     double tolerance)
{
    bool unit = true;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = 0; k < width; k++)
            sum += (double)values[stride * i + k] * values[stride * i + k];
        unit &= fabs(sum - 1) <= tolerance;
    }
    return unit;
}

pl_status pl_packed_check_scale(const pl_model *model, pl_error *error)
{
    int exponent;
    FAIL_UNLESS(model->unit >= PL_MIN_SPACING / 2 && model->unit <= PL_MAX_SPACING * 2 &&
                    frexp(model->unit, &exponent) == 0.5,
                error, "unit", "is %g m; it must be a power of two from %g to %g m", model->unit,
                PL_MIN_SPACING, PL_MAX_SPACING);
    bool fits =
        model->edge_count > 0 ? model->spacing > 0.7 && model->spacing < 1.42 : model->spacing == 0;
    FAIL_UNLESS(fits, error, "spacing", "is %g units; it must be about one", model->spacing);
    FAIL_UNLESS(model->volume > 0 && isfinite(model->volume), error, "volume",
                "is %g; it must be greater than 0", model->volume);
    for (int k = 0; k < 3; k++)
        FAIL_UNLESS(fabs(model->centre[k]) <= MAX_CENTRE, error, "centre", "is out of range: %g",
                    model->centre[k]);
    return PL_OK;
}

pl_status pl_packed_check_particles(const pl_model *model, pl_error *error)
{
    size_t n = (size_t)model->particle_count;
    const float extent = (float)PL_MAX_EXTENT, large = (float)(PL_MAX_RADII_RATIO * ROUNDING);
    FAIL_UNLESS(are_within(model->rest, 3 * n, -extent, extent), error, "rest positions",
                "are not all within %g units", PL_MAX_EXTENT);
    FAIL_UNLESS(are_within(model->radii, 3 * n, 1 / large, large), error, "radii",
                "are not all from %g to %g units", 1 / PL_MAX_RADII_RATIO, PL_MAX_RADII_RATIO);
    FAIL_UNLESS(are_unit(model->orientation, n, 4, 4, 1e-5), error, "orientations",
                "are not all unit quaternions");
    FAIL_UNLESS(are_indices(model->edges, 2 * (size_t)model->edge_count, model->particle_count),
                error, "edges", "join particles that are not there");
    return PL_OK;
}

/* Used ones first, none twice, weights that sum to one. */
static bool is_vertex_carried(const int32_t *influences, const float *weights, int count,
                              int particles)
{
    double sum = 0;
    int used = 0;
    for (int k = 0; k < count; k++) {
        if (influences[k] < -1 || influences[k] >= particles || !(weights[k] >= 0))
            return false;
        if (influences[k] < 0) {
            if (weights[k] != 0)
                return false;
            continue;
        }
        if (used != k)
            return false;
        for (int j = 0; j < k; j++)
            if (influences[j] == influences[k])
                return false;
        used++;
        sum += weights[k];
    }
    return used > 0 && fabs(sum - 1) <= 1e-4;
}

pl_status pl_packed_check_surface(const pl_model *model, pl_error *error)
{
    size_t v = (size_t)model->vertex_count, width = (size_t)model->influence_count;
    const float extent = (float)PL_MAX_EXTENT;
    FAIL_UNLESS(are_within(model->vertices, 3 * v, -extent, extent), error, "vertices",
                "are not all within %g units", PL_MAX_EXTENT);
    FAIL_UNLESS(are_within(model->tet_points, 3 * (size_t)model->tet_point_count, -extent, extent),
                error, "corners of tetrahedra", "are not all within %g units", PL_MAX_EXTENT);
    FAIL_UNLESS(are_unit(model->normals, v, 3, 3, 3e-3), error, "normals", "are not all unit");
    FAIL_UNLESS(!model->tangents || are_unit(model->tangents, v, 4, 3, 3e-3), error, "tangents",
                "are not all unit");
    for (size_t i = 0; model->tangents && i < v; i++)
        FAIL_UNLESS(fabsf(model->tangents[4 * i + 3]) == 1, error, "tangents",
                    "have a handedness that is not 1 or -1");
    FAIL_UNLESS(
        are_indices(model->triangles, 3 * (size_t)model->triangle_count, model->vertex_count),
        error, "triangles", "name vertices that are not there");
    for (size_t i = 0; i < v; i++)
        FAIL_UNLESS(is_vertex_carried(model->influences + i * width, model->weights + i * width,
                                      model->influence_count, model->particle_count),
                    error, PL_WHERE("weights[%zu]", i),
                    "and its particles are not what they should be");
    return PL_OK;
}

/* ---- The size of the factor ------------------------------------------------------------------ */

/* Row k of the factor is the part of the elimination tree below k that is reached from the earlier
   neighbours of pivot k (Liu): the tree is found and walked at once, row by row, and given up at
   `limit`. `pivot` says where in the order a particle stands. */
static int64_t count_entries(const pl_model *model, const int32_t *order, const int32_t *pivot,
                             int32_t *parent, int32_t *mark, int64_t limit)
{
    int64_t entries = 0;
    for (int k = 0; k < model->particle_count && entries <= limit; k++) {
        int node = order[k];
        parent[k] = -1;
        mark[k] = k;
        for (int32_t p = model->start[node]; p < model->start[node + 1]; p++) {
            int c = pivot[model->neighbour[p]];
            while (c < k && mark[c] != k && entries <= limit) {
                mark[c] = k;
                entries++;
                if (parent[c] < 0)
                    parent[c] = k;
                c = parent[c];
            }
        }
    }
    return entries;
}

pl_status pl_packed_check_fill(pl_model *model, const int32_t *elimination, pl_error *error)
{
    size_t n = (size_t)model->particle_count;
    int32_t *scratch = PL_NEW(&model->memory, int32_t, 3 * n);
    PL_CHECK(scratch, PL_ERROR_MEMORY, error, NULL, "no memory for the order of %d particles",
             model->particle_count);
    int32_t *pivot = scratch;
    bool valid = true;
    for (size_t i = 0; i < n; i++)
        pivot[i] = -1;
    for (size_t k = 0; k < n && valid; k++) {
        int32_t node = elimination[k];
        valid = node >= 0 && node < model->particle_count && pivot[node] < 0;
        if (valid)
            pivot[node] = (int32_t)k;
    }
    int64_t limit = (int64_t)MAX_FILL * ((int64_t)n + model->edge_count), entries = 0;
    if (valid)
        entries = count_entries(model, elimination, pivot, scratch + n, scratch + 2 * n, limit);
    pl_memory_free(&model->memory, scratch);
    FAIL_UNLESS(valid, error, "elimination order", "does not name every particle once");
    FAIL_UNLESS(entries <= limit, error, "elimination order",
                "fills the factor with more than %lld entries; cook the model again",
                (long long)limit);
    return PL_OK;
}
