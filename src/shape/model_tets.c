/* The tetrahedra of a model and the vertices of its surface in them. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/model_parts.h"
#include "shape/tetrahedra.h"

static bool allocate(pl_model *model)
{
    pl_memory *memory = &model->memory;
    size_t v = (size_t)model->vertex_count;
    return (model->tet_points = PL_NEW(memory, float, 3 * (size_t)model->tet_point_count)) &&
           (model->tets = PL_NEW(memory, int32_t, 4 * (size_t)model->tet_count)) &&
           (model->vertex_tet = PL_NEW(memory, int32_t, v)) &&
           (model->vertex_barycentric = PL_NEW(memory, float, 4 * v));
}

/* Six times the volume, of the corners as floats hold them. */
static double tet_volume6(const float *points, const int32_t tet[4])
{
    double e[3][3];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            e[c][k] = (double)points[3 * (size_t)tet[c + 1] + (size_t)k] -
                      points[3 * (size_t)tet[0] + (size_t)k];
    return (e[0][1] * e[1][2] - e[0][2] * e[1][1]) * e[2][0] +
           (e[0][2] * e[1][0] - e[0][0] * e[1][2]) * e[2][1] +
           (e[0][0] * e[1][1] - e[0][1] * e[1][0]) * e[2][2];
}

static pl_status check_corners(const pl_model *model, pl_error *error)
{
    for (size_t t = 0; t < (size_t)model->tet_count; t++) {
        const int32_t *tet = model->tets + 4 * t;
        for (int c = 0; c < 4; c++)
            PL_CHECK(tet[c] >= 0 && tet[c] < model->tet_point_count, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("tets[%zu]", t), "names corner %d; there are %d, counted from 0",
                     (int)tet[c], model->tet_point_count);
        PL_CHECK(tet_volume6(model->tet_points, tet) > 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("tets[%zu]", t),
                 "has no volume or a negative one; swap two corners to turn it");
    }
    return PL_OK;
}

pl_status pl_model_check_tets(const pl_model *model, pl_error *error)
{
    PL_TRY(check_corners(model, error));
    for (size_t v = 0; v < (size_t)model->vertex_count; v++) {
        const float *b = model->vertex_barycentric + 4 * v;
        PL_CHECK(model->vertex_tet[v] >= 0 && model->vertex_tet[v] < model->tet_count,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("vertex_tets[%zu]", v),
                 "names tetrahedron %d; there are %d, counted from 0", (int)model->vertex_tet[v],
                 model->tet_count);
        double sum = (double)b[0] + b[1] + b[2] + b[3], size = 0;
        for (int k = 0; k < 4; k++)
            size = fmax(size, isfinite(b[k]) ? fabs((double)b[k]) : INFINITY);
        PL_CHECK(size <= PL_MAX_BARYCENTRIC && fabs(sum - 1) <= 1e-5 * (1 + size),
                 PL_ERROR_ARGUMENT, error, PL_WHERE("vertex_barycentric[%zu]", v),
                 "is (%g, %g, %g, %g); four finite numbers must sum to one", b[0], b[1], b[2],
                 b[3]);
    }
    return PL_OK;
}

static double *to_doubles(pl_memory *memory, const float *values, size_t count)
{
    double *out = PL_NEW(memory, double, count);
    for (size_t i = 0; out && i < count; i++)
        out[i] = values[i];
    return out;
}

static pl_status embed(pl_model *model, pl_error *error)
{
    pl_memory *memory = &model->memory;
    double *points = to_doubles(memory, model->tet_points, 3 * (size_t)model->tet_point_count);
    double *query = to_doubles(memory, model->vertices, 3 * (size_t)model->vertex_count);
    pl_status status = points && query
                           ? pl_embed(memory, model->tet_point_count, points, model->tet_count,
                                      model->tets, model->vertex_count, query, model->vertex_tet,
                                      model->vertex_barycentric, error)
                           : pl_fail(error, PL_ERROR_MEMORY, NULL,
                                     "no memory to find %d vertices in %d tetrahedra",
                                     model->vertex_count, model->tet_count);
    pl_memory_free(memory, points);
    pl_memory_free(memory, query);
    return status;
}

pl_status pl_model_convert_tets(pl_model *model, const pl_model_def *def, pl_error *error)
{
    size_t v = (size_t)model->vertex_count;
    if (model->tet_count == 0)
        return PL_OK;
    PL_CHECK(allocate(model), PL_ERROR_MEMORY, error, NULL, "no memory for %d tetrahedra",
             model->tet_count);
    PL_TRY(pl_model_convert_points(model, def->tet_points, model->tet_point_count, "tet_points",
                                   model->tet_points, error));
    memcpy(model->tets, def->tets, 4 * (size_t)model->tet_count * sizeof *model->tets);
    PL_TRY(check_corners(model, error));
    if (v > 0 && def->vertex_tets) {
        memcpy(model->vertex_tet, def->vertex_tets, v * sizeof *model->vertex_tet);
        memcpy(model->vertex_barycentric, def->vertex_barycentric,
               4 * v * sizeof *model->vertex_barycentric);
    } else if (v > 0) {
        PL_TRY(embed(model, error));
    }
    return pl_model_check_tets(model, error);
}
