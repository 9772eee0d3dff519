/* Example poses: memory, checks, and the affine fit that poses given by a surface, and the checks,
   are based on. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "shape/pose.h"

pl_examples_def pl_default_examples_def(void)
{
    return (pl_examples_def){.beta = 0.995, .cookie = PL_EXAMPLES_COOKIE};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What pl_pose.owner points to: the numbers follow. */
typedef struct owner {
    pl_memory memory;
    double numbers[];
} owner;

bool pl_pose_make(const pl_model *model, pl_pose *pose, pl_pose_room *room)
{
    pl_memory memory = model->memory;
    size_t n = (size_t)model->particle_count;
    *pose = (pl_pose){0};
    owner *block = pl_memory_alloc(&memory, 1, sizeof *block + 7 * n * sizeof(double));
    if (!block)
        return false;
    block->memory = memory;
    room->positions = block->numbers;
    room->rotations = block->numbers + 3 * n;
    *pose = (pl_pose){.particle_count = model->particle_count,
                      .positions = room->positions,
                      .rotations = room->rotations,
                      .owner = block};
    return true;
}

void pl_pose_free(pl_pose *pose)
{
    if (!pose || !pose->owner)
        return;
    pl_memory memory = ((owner *)pose->owner)->memory;
    pl_memory_free(&memory, pose->owner);
    *pose = (pl_pose){0};
}

/* ---- Affine fits ----------------------------------------------------------------------------- */

void pl_fit_add(pl_fit_sums *sums, double weight, pl_vec3 rest, pl_vec3 pose)
{
    sums->weight += weight;
    sums->rest = pl_v3_add_scaled(sums->rest, weight, rest);
    sums->pose = pl_v3_add_scaled(sums->pose, weight, pose);
    sums->moment = pl_m3_add_scaled(sums->moment, weight, pl_m3_outer(rest, rest));
    sums->cross = pl_m3_add_scaled(sums->cross, weight, pl_m3_outer(pose, rest));
}

static void rows_of(pl_mat3 a, double rows[9])
{
    for (int i = 0; i < 9; i++)
        rows[i] = a.m[i / 3][i % 3];
}

/* Where the rest is flat: F is what the points say within their plane, and the rotation nearest to
   that beside it. */
static pl_mat3 complete(pl_mat3 seen, pl_mat3 flat, const double q[4])
{
    pl_mat3 turn = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    return pl_m3_add(seen, pl_m3_mul(turn, pl_m3_sub(pl_m3_identity(), flat)));
}

pl_fit pl_fit_solve(const pl_fit_sums *sums)
{
    pl_fit fit = {.gradient = pl_m3_identity(), .rotation = {0, 0, 0, 1}};
    if (!(sums->weight > 0))
        return fit;
    fit.rest = pl_v3_scale(sums->rest, 1 / sums->weight);
    fit.pose = pl_v3_scale(sums->pose, 1 / sums->weight);
    pl_mat3 moment = pl_m3_add_scaled(sums->moment, -sums->weight, pl_m3_outer(fit.rest, fit.rest));
    pl_mat3 cross = pl_m3_add_scaled(sums->cross, -sums->weight, pl_m3_outer(fit.pose, fit.rest));
    double m[9], u[9], s[3], v[9];
    rows_of(moment, m);
    pl_svd3_double(1, m, u, s, v);
    pl_mat3 inverse = pl_m3_zero(), flat = pl_m3_zero();
    for (int k = 0; k < 3 && s[k] > 1e-9 * s[0]; k++) {
        pl_vec3 e = pl_v3(v[k], v[3 + k], v[6 + k]);
        inverse = pl_m3_add_scaled(inverse, 1 / s[k], pl_m3_outer(e, e));
        flat = pl_m3_add(flat, pl_m3_outer(e, e));
        fit.rank++;
    }
    if (fit.rank == 0)
        return fit;
    pl_mat3 seen = pl_m3_mul(cross, inverse);
    double c[9];
    rows_of(seen, c);
    pl_rotations_fit_double(1, c, fit.rotation);
    fit.gradient = fit.rank == 3 ? seen : complete(seen, flat, fit.rotation);
    fit.ratio = pl_m3_det(fit.gradient);
    return fit;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

pl_status pl_pose_check(const pl_model *model, const pl_pose *pose, const char *name,
                        pl_error *error)
{
    PL_CHECK(pose->positions, PL_ERROR_ARGUMENT, error, name, "has no positions");
    PL_CHECK(pose->particle_count == model->particle_count, PL_ERROR_ARGUMENT, error, name,
             "has %d particles; the model has %d", pose->particle_count, model->particle_count);
    double most = 1e6 * (1 + model->reach) * model->unit;
    for (int i = 0; i < pose->particle_count; i++) {
        const double *x = pose->positions + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            PL_CHECK(fabs(x[k] - pose->positions[k]) <= most, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("%s.positions[%d]", name, i),
                     "is %g, %g, %g; it must be finite, and not a million times as far from the "
                     "others as the model is large",
                     x[0], x[1], x[2]);
        const double *q = pose->rotations ? pose->rotations + 4 * (size_t)i : NULL;
        double square = q ? q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] : 1;
        PL_CHECK(square > 1e-12 && square < 1e12, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("%s.rotations[%d]", name, i),
                 "is no rotation; use a quaternion x, y, z, w");
    }
    return PL_OK;
}

/* Of a region, in parts of what it has at rest. */
static const double least_volume = 1e-3;

static pl_vec3 rest_of(const pl_model *model, int i)
{
    return pl_v3_from_floats(model->rest + 3 * (size_t)i);
}

static pl_vec3 posed(const pl_model *model, const pl_pose *pose, int i)
{
    const double *x = pose->positions + 3 * (size_t)i, *x0 = pose->positions;
    return pl_v3_scale(pl_v3(x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]), 1 / model->unit);
}

static pl_fit fit_members(const pl_model *model, const pl_pose *pose, const int32_t *members,
                          int count, int more)
{
    pl_fit_sums sums = {0};
    if (more >= 0)
        pl_fit_add(&sums, 1, rest_of(model, more), posed(model, pose, more));
    for (int k = 0; k < count; k++)
        pl_fit_add(&sums, 1, rest_of(model, members[k]), posed(model, pose, members[k]));
    return pl_fit_solve(&sums);
}

/* Of a body's matter: where the model has no such regions it is refused elsewhere. */
static int region_count(const pl_model *model, pl_pose_regions regions)
{
    return regions == PL_POSE_TETS
               ? model->tet_point_count == model->particle_count ? model->tet_count : 0
           : regions == PL_POSE_CLUSTERS ? model->cluster_count
                                         : model->particle_count;
}

static pl_fit fit_region(const pl_model *model, pl_pose_regions regions, const pl_pose *pose,
                         int index)
{
    if (regions == PL_POSE_TETS)
        return fit_members(model, pose, model->tets + 4 * (size_t)index, 4, -1);
    const int32_t *start = regions == PL_POSE_CLUSTERS ? model->cluster_start : model->start;
    const int32_t *members =
        regions == PL_POSE_CLUSTERS ? model->cluster_members : model->neighbour;
    return fit_members(model, pose, members + start[index], start[index + 1] - start[index],
                       regions == PL_POSE_CLUSTERS ? -1 : index);
}

/* Then every region is inside out; a warp that goes too far leaves some as they were. */
static bool is_mirrored(const pl_model *model, pl_pose_regions regions, const pl_pose *pose)
{
    int count = region_count(model, regions);
    for (int i = 0; i < count; i++) {
        pl_fit fit = fit_region(model, regions, pose, i);
        if (fit.rank == 3 && fit.ratio > 0)
            return false;
    }
    return true;
}

pl_status pl_pose_check_regions(const pl_model *model, pl_pose_regions regions, const pl_pose *pose,
                                const char *name, pl_error *error)
{
    const char *what = regions == PL_POSE_TETS       ? "tetrahedron"
                       : regions == PL_POSE_CLUSTERS ? "cluster"
                                                     : "the region of particle";
    int count = region_count(model, regions);
    for (int i = 0; i < count; i++) {
        pl_fit fit = fit_region(model, regions, pose, i);
        if (fit.rank < 3 || fit.ratio >= least_volume)
            continue;
        PL_CHECK(fit.ratio > -least_volume, PL_ERROR_ARGUMENT, error, name,
                 "turns %s %d inside out; %s", what, i,
                 is_mirrored(model, regions, pose) ? "it is a mirrored copy"
                                                   : "bend or shorten less");
        return pl_fail(error, PL_ERROR_ARGUMENT, name,
                       "leaves %s %d no volume (%.3g of its own); leave it a thousandth at least",
                       what, i, fmax(fit.ratio, 0));
    }
    return PL_OK;
}
