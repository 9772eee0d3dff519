/* Normals, tangents and look of a model's surface. Normals and tangents that are unit stay as they
   are, bit for bit; missing ones are computed from the triangles around a vertex. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/look.h"
#include "shape/model_parts.h"
#include "shape/skin.h"

/* How far a length may be from one and still count as unit: artists' files are rounded. */
#define UNIT_TOLERANCE 1e-3

/* False when there is no direction in it. */
static bool make_unit(double v[3])
{
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0) || !isfinite(largest))
        return false;
    double x = v[0] / largest, y = v[1] / largest, z = v[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    v[0] = x / length;
    v[1] = y / length;
    v[2] = z / length;
    return true;
}

static bool convert_direction(const float in[3], float out[3])
{
    double v[3] = {in[0], in[1], in[2]};
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    bool finite = isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
    if (finite && fabs(length - 1) <= UNIT_TOLERANCE) {
        memcpy(out, in, 3 * sizeof *out);
        return true;
    }
    if (!finite || !make_unit(v))
        return false;
    for (int k = 0; k < 3; k++)
        out[k] = (float)v[k];
    return true;
}

static pl_status convert_normals(pl_model *model, const float *given, pl_error *error)
{
    size_t count = (size_t)model->vertex_count;
    bool whole = given != NULL;
    for (size_t v = 0; v < count && whole; v++)
        whole = convert_direction(given + 3 * v, model->normals + 3 * v);
    if (whole)
        return PL_OK;
    PL_TRY(pl_skin_normals(&model->memory, model->vertex_count, model->vertices,
                           model->triangle_count, model->triangles, model->normals, error));
    for (size_t v = 0; v < count && given; v++)
        convert_direction(given + 3 * v, model->normals + 3 * v);
    return PL_OK;
}

static pl_status convert_tangents(pl_model *model, const float *given, pl_error *error)
{
    size_t count = (size_t)model->vertex_count;
    model->tangents = PL_NEW(&model->memory, float, 4 * count);
    PL_CHECK(model->tangents, PL_ERROR_MEMORY, error, NULL,
             "no memory for the tangents of %d vertices", model->vertex_count);
    for (size_t v = 0; v < count; v++) {
        float *out = model->tangents + 4 * v;
        if (!convert_direction(given + 4 * v, out))
            memcpy(out, (float[3]){1, 0, 0}, 3 * sizeof *out);
        out[3] = given[4 * v + 3] < 0 ? -1.0f : 1.0f;
    }
    return PL_OK;
}

pl_status pl_model_convert_look(pl_model *model, const pl_look *look, pl_error *error)
{
    bool has_vertices = model->vertex_count > 0;
    if (has_vertices)
        PL_TRY(convert_normals(model, look ? look->normals : NULL, error));
    if (!look)
        return PL_OK;
    if (has_vertices && look->tangents)
        PL_TRY(convert_tangents(model, look->tangents, error));
    PL_TRY(pl_look_copy(&model->memory, look, model->vertex_count, model->triangle_count,
                        &model->look, &model->look_block, error));
    model->look.normals = has_vertices && look->normals ? model->normals : NULL;
    model->look.tangents = model->tangents;
    return PL_OK;
}
