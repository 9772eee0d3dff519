/* Attributes as the contract wants them: unit normals and tangents, all numbers finite. What a file
   gives is left to the bit where it is good; missing normals are the area-weighted mean of the
   faces around, missing tangents any direction across the normal. */
#include <math.h>

#include "io/mesh_parts.h"

/* Lengths this near to 1 are the file's rounding. */
#define UNIT_TOLERANCE 1e-3

/* Scaled to length 1 if it is not nearly so; false if it has no direction. */
static bool make_unit(float v[3])
{
    double square = (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
    double length = sqrt(square);
    if (!isfinite(length) || !(length > 0))
        return false;
    if (fabs(length - 1) > UNIT_TOLERANCE)
        for (int k = 0; k < 3; k++)
            v[k] = (float)(v[k] / length);
    return true;
}

static void face_normal(const double *positions, const int32_t *triangle, double normal[3])
{
    const double *a = positions + 3 * (size_t)triangle[0], *b = positions + 3 * (size_t)triangle[1],
                 *c = positions + 3 * (size_t)triangle[2];
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3;
        normal[k] = (b[m] - a[m]) * (c[n] - a[n]) - (b[n] - a[n]) * (c[m] - a[m]);
    }
}

/* Sums may overflow or vanish: then any normal will do. Scaled in double first, since float reaches
   less far. */
static void set_normal(float normal[3], const double sum[3])
{
    double largest = fmax(fabs(sum[0]), fmax(fabs(sum[1]), fabs(sum[2])));
    for (int k = 0; k < 3; k++)
        normal[k] = (float)(sum[k] / largest);
    if (make_unit(normal))
        return;
    normal[0] = normal[1] = 0;
    normal[2] = 1;
}

static bool find_normals(pl_mesh_build *build, const bool *missing)
{
    size_t count = build->positions.count;
    double(*sums)[3] = pl_memory_alloc(build->memory, count, sizeof *sums);
    if (!sums)
        return false;
    const int32_t *triangles = build->triangles.data;
    for (size_t t = 0; t < build->triangles.count; t++) {
        double normal[3];
        face_normal(build->positions.data, triangles + 3 * t, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int k = 0; k < 3; k++)
                sums[triangles[3 * t + (size_t)corner]][k] += normal[k];
    }
    float *normals = build->attributes[PL_ATTRIBUTE_NORMAL].data;
    for (size_t i = 0; i < count; i++)
        if (missing[i])
            set_normal(normals + 3 * i, sums[i]);
    pl_memory_free(build->memory, sums);
    return true;
}

static bool mend_normals(pl_mesh_build *build)
{
    size_t count = build->positions.count;
    float *normals = build->attributes[PL_ATTRIBUTE_NORMAL].data;
    bool *missing = PL_NEW(build->memory, bool, count), any = false;
    if (!missing)
        return false;
    for (size_t i = 0; i < count; i++) {
        missing[i] = !make_unit(normals + 3 * i);
        any = any || missing[i];
    }
    bool good = !any || find_normals(build, missing);
    pl_memory_free(build->memory, missing);
    return good;
}

/* A unit vector across the normal: the axis it has least of, made orthogonal. */
static void set_tangent(float tangent[4], const float normal[3])
{
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabsf(normal[k]) < fabsf(normal[axis]))
            axis = k;
    for (int k = 0; k < 3; k++)
        tangent[k] = (k == axis ? 1.0f : 0.0f) - normal[axis] * normal[k];
    make_unit(tangent);
    tangent[3] = 1;
}

static void mend_tangents(pl_mesh_build *build)
{
    static const float up[3] = {0, 0, 1};
    float *tangents = build->attributes[PL_ATTRIBUTE_TANGENT].data;
    const float *normals = build->attributes[PL_ATTRIBUTE_NORMAL].data;
    for (size_t i = 0; i < build->positions.count; i++) {
        float *tangent = tangents + 4 * i;
        if (!make_unit(tangent))
            set_tangent(tangent, normals ? normals + 3 * i : up);
        else if (!(tangent[3] == 1 || tangent[3] == -1))
            tangent[3] = tangent[3] < 0 ? -1 : 1;
    }
}

static void mend_values(pl_array *table, float value)
{
    float *values = table->data;
    for (size_t i = 0; i < table->count * (table->size / sizeof(float)); i++)
        if (!isfinite(values[i]))
            values[i] = value;
}

bool pl_mesh_mend_attributes(pl_mesh_build *build)
{
    for (int a = 0; a < PL_ATTRIBUTE_COUNT; a++)
        if (build->attributes[a].data && !pl_mesh_attribute_widen(build, a))
            return false;
    if (build->attributes[PL_ATTRIBUTE_NORMAL].count && !mend_normals(build))
        return false;
    if (build->attributes[PL_ATTRIBUTE_TANGENT].count)
        mend_tangents(build);
    mend_values(&build->attributes[PL_ATTRIBUTE_COLOUR], 1);
    for (int set = 0; set < PL_MAX_UV_SETS; set++)
        mend_values(&build->attributes[PL_ATTRIBUTE_UV + set], 0);
    return true;
}
