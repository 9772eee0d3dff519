/* A pose from a deformed copy of the surface: every particle follows the vertices around it by a
   weighted affine fit (moving least squares), which reproduces whatever is affine there, and whose
   rotation is the particle's. */
#include <math.h>

#include "base/error.h"
#include "base/float_env.h"
#include "shape/pose.h"

typedef struct copy {
    const pl_model *model;
    const double *vertices;
    double *
        area; /* [vertex_count] of the triangles around each: how much of the surface it stands for */
} copy;

static pl_vec3 original(const copy *c, int vertex)
{
    return pl_v3_from_floats(c->model->vertices + 3 * (size_t)vertex);
}

/* In units, from the first vertex. */
static pl_vec3 copied(const copy *c, int vertex)
{
    const double *x = c->vertices + 3 * (size_t)vertex, *o = c->vertices;
    return pl_v3_scale(pl_v3(x[0] - o[0], x[1] - o[1], x[2] - o[2]), 1 / c->model->unit);
}

static bool measure(copy *c, pl_memory *memory)
{
    const pl_model *model = c->model;
    c->area = PL_NEW(memory, double, model->vertex_count);
    if (!c->area)
        return false;
    for (int t = 0; t < model->triangle_count; t++) {
        const int32_t *v = model->triangles + 3 * (size_t)t;
        pl_vec3 a = original(c, v[0]), b = original(c, v[1]), d = original(c, v[2]);
        double area = pl_v3_length(pl_v3_cross(pl_v3_sub(b, a), pl_v3_sub(d, a))) / 6;
        for (int k = 0; k < 3; k++)
            c->area[v[k]] += area;
    }
    for (int v = 0; v < model->vertex_count && !model->triangle_count; v++)
        c->area[v] = 1;
    return true;
}

/* Weights fall with the fourth power of the distance: over a surface, what counts is then as large
   as it is far away, so that a particle deep inside is surrounded by it, however fine the mesh. */
static pl_fit fit_around(const copy *c, int particle)
{
    const pl_model *model = c->model;
    pl_vec3 middle = pl_v3_from_floats(model->rest + 3 * (size_t)particle);
    double spacing = model->spacing > 0 ? model->spacing : 1, near = 0.0025 * spacing * spacing;
    pl_fit_sums sums = {0};
    for (int v = 0; v < model->vertex_count; v++) {
        pl_vec3 rest = pl_v3_sub(original(c, v), middle);
        double square = pl_v3_length2(rest) + near;
        pl_fit_add(&sums, c->area[v] / (square * square), rest, copied(c, v));
    }
    return pl_fit_solve(&sums);
}

static void follow(const copy *c, int particle, double position[3], double rotation[4])
{
    const pl_model *model = c->model;
    pl_fit fit = fit_around(c, particle);
    pl_vec3 at = pl_v3_sub(fit.pose, pl_m3_mul_v3(fit.gradient, fit.rest));
    position[0] = c->vertices[0] + model->unit * at.x;
    position[1] = c->vertices[1] + model->unit * at.y;
    position[2] = c->vertices[2] + model->unit * at.z;
    for (int k = 0; k < 4; k++)
        rotation[k] = fit.rotation[k];
}

/* The whole: a mirrored copy has every region inside out, and is said so. */
static pl_status check_whole(const copy *c, pl_error *error)
{
    pl_fit_sums sums = {0};
    for (int v = 0; v < c->model->vertex_count; v++)
        pl_fit_add(&sums, c->area[v], original(c, v), copied(c, v));
    pl_fit fit = pl_fit_solve(&sums);
    PL_CHECK(fit.rank < 3 || fit.ratio > -1e-3, PL_ERROR_ARGUMENT, error, "vertices",
             "they are a mirrored copy, inside out; use the same winding as the model");
    return PL_OK;
}

static pl_status check(const pl_model *model, const double *vertices, int count, pl_error *error)
{
    PL_CHECK(model->vertex_count > 0, PL_ERROR_ARGUMENT, error, "model",
             "has no surface; give the pose of its particles");
    PL_CHECK(count == model->vertex_count, PL_ERROR_ARGUMENT, error, "vertices",
             "there are %d vertices; the model has %d", count, model->vertex_count);
    double most = 1e6 * (1 + model->reach) * model->unit;
    for (int v = 0; v < count; v++)
        for (int k = 0; k < 3; k++)
            PL_CHECK(fabs(vertices[3 * (size_t)v + (size_t)k] - vertices[k]) <= most,
                     PL_ERROR_ARGUMENT, error, PL_WHERE("vertices[%d]", v),
                     "must be finite, and not a million times as far from the others as the model "
                     "is large");
    return PL_OK;
}

__attribute__((noinline)) static pl_status make(const pl_model *model, const double *vertices,
                                                int count, pl_pose *pose, pl_error *error)
{
    PL_REQUIRE(model && vertices && pose, PL_ERROR_ARGUMENT, error, "model",
               "model, vertices or pose is NULL");
    *pose = (pl_pose){0};
    PL_TRY(check(model, vertices, count, error));
    pl_memory memory = model->memory;
    copy c = {model, vertices, NULL};
    pl_pose_room room;
    pl_status status = PL_OK;
    if (!measure(&c, &memory) || !pl_pose_make(model, pose, &room))
        status = pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for a pose of %d particles",
                         model->particle_count);
    if (status == PL_OK)
        status = check_whole(&c, error);
    for (size_t i = 0; i < (size_t)model->particle_count && status == PL_OK; i++)
        follow(&c, (int)i, room.positions + 3 * i, room.rotations + 4 * i);
    if (status == PL_OK)
        status =
            pl_pose_check_regions(model, model->cluster_count ? PL_POSE_CLUSTERS : PL_POSE_RINGS,
                                  pose, "vertices", error);
    if (status != PL_OK)
        pl_pose_free(pose);
    pl_memory_free(&memory, c.area);
    return status;
}

pl_status pl_pose_from_vertices(const pl_model *model, const double *vertices, int count,
                                pl_pose *pose, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = make(model, vertices, count, pose, error);
    pl_float_env_leave(host);
    return status;
}
