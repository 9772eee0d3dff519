/* Poses made by bending space: a line along the axis becomes a curve, cross-sections are carried
   along with its frame and turned about it. Positions and rotations are exact, so that rods and
   sheets get the poses meant. */
#include <math.h>

#include "base/error.h"
#include "base/float_env.h"
#include "math/quat.h"
#include "shape/pose.h"

static const double pi = 3.14159265358979323846;

enum { WARP_COOKIE = 0x706c7772, MOST_WARPS = 64, MOST_FOLDS = 1000 };

pl_warp pl_default_warp(pl_warp_kind kind)
{
    pl_warp warp = {.kind = kind, .shorten = 1, .to = 1, .folds = 1, .cookie = WARP_COOKIE};
    warp.amount = pi / 2;
    switch (kind) {
    case PL_WARP_TWIST:
        warp.shorten = 0.8;
        break;
    case PL_WARP_S:
        warp.shorten = 0.8;
        break;
    case PL_WARP_SQUASH:
        warp.shorten = 0.6;
        warp.bulge = 1;
        break;
    case PL_WARP_COIL:
        warp.amount = 8 * pi;
        warp.shorten = 0.25;
        break;
    case PL_WARP_BEND:
    case PL_WARP_FOLD:
        break;
    }
    return warp;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_vector(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static pl_status check(const pl_warp *warp, int index, pl_error *error)
{
    PL_CHECK(warp->cookie == WARP_COOKIE, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].cookie", index), "the warp was not made by pl_default_warp");
    PL_CHECK((int)warp->kind >= PL_WARP_TWIST && (int)warp->kind <= PL_WARP_FOLD, PL_ERROR_ARGUMENT,
             error, PL_WHERE("warps[%d].kind", index), "is %d; there is no such kind",
             (int)warp->kind);
    PL_CHECK(is_vector(warp->axis) && is_vector(warp->side), PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].axis", index), "axis and side must be finite");
    PL_CHECK(fabs(warp->amount) <= 1000, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].amount", index), "is %g; use radians from -1000 to 1000",
             warp->amount);
    PL_CHECK(warp->shorten >= 0.01 && warp->shorten <= 100, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].shorten", index), "is %g; use a factor from 0.01 to 100",
             warp->shorten);
    PL_CHECK(fabs(warp->bulge) <= 10, PL_ERROR_ARGUMENT, error, PL_WHERE("warps[%d].bulge", index),
             "is %g; 1 keeps the volume, 0 the width", warp->bulge);
    PL_CHECK(warp->from >= 0 && warp->from < warp->to && warp->to <= 1, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].from", index),
             "goes from %g to %g; use parts of the length, 0 <= from < to <= 1", warp->from,
             warp->to);
    PL_CHECK(warp->folds >= 1 && warp->folds <= MOST_FOLDS, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].folds", index), "is %d; use 1 to %d", warp->folds, MOST_FOLDS);
    PL_CHECK(warp->kind != PL_WARP_COIL || (warp->shorten < 1 && warp->amount != 0),
             PL_ERROR_ARGUMENT, error, PL_WHERE("warps[%d].shorten", index),
             "is %g; a coil is lower than its length (shorten < 1) and has an amount other than 0",
             warp->shorten);
    return PL_OK;
}

/* ---- The frame of a warp --------------------------------------------------------------------- */

/* Axis, side and their cross product; the axis from `low`, `length` long; what happens does so from
   `begin` to `end`. */
typedef struct course {
    const pl_warp *warp;
    pl_vec3 middle, axis, side, across;
    double begin, end; /* along the axis, from the middle */
    double width;      /* sideways factor between them */
} course;

static pl_vec3 unit_vector(int k)
{
    return pl_v3(k == 0, k == 1, k == 2);
}

/* The coordinate axis of largest extent, or of the smallest across `axis`. */
static pl_vec3 longest(pl_vec3 extent)
{
    return unit_vector(extent.x >= extent.y && extent.x >= extent.z ? 0
                       : extent.y >= extent.z                       ? 1
                                                                    : 2);
}

static pl_vec3 shortest_across(pl_vec3 extent, pl_vec3 axis)
{
    const double e[3] = {extent.x, extent.y, extent.z}, a[3] = {axis.x, axis.y, axis.z};
    int best = -1;
    for (int k = 0; k < 3; k++)
        if (fabs(a[k]) < 0.9 && (best < 0 || e[k] < e[best]))
            best = k;
    return unit_vector(best);
}

static pl_status lay_course(const pl_warp *warp, int index, int n, const double *positions,
                            course *c, pl_error *error)
{
    pl_vec3 lower = pl_v3(positions[0], positions[1], positions[2]), upper = lower;
    for (int i = 1; i < n; i++) {
        pl_vec3 x = pl_v3(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
        lower = pl_v3_min(lower, x);
        upper = pl_v3_max(upper, x);
    }
    pl_vec3 extent = pl_v3_sub(upper, lower);
    c->warp = warp;
    c->middle = pl_v3_scale(pl_v3_add(lower, upper), 0.5);
    c->axis = pl_v3_normalise(pl_v3(warp->axis[0], warp->axis[1], warp->axis[2]));
    if (pl_v3_length2(c->axis) == 0)
        c->axis = longest(extent);
    c->side = pl_v3(warp->side[0], warp->side[1], warp->side[2]);
    if (pl_v3_length2(c->side) == 0)
        c->side = shortest_across(extent, c->axis);
    double length = pl_v3_length(c->side);
    c->side = pl_v3_add_scaled(c->side, -pl_v3_dot(c->side, c->axis), c->axis);
    PL_CHECK(pl_v3_length(c->side) > 1e-6 * length, PL_ERROR_ARGUMENT, error,
             PL_WHERE("warps[%d].side", index), "lies along the axis; it must point away from it");
    c->side = pl_v3_normalise(c->side);
    c->across = pl_v3_cross(c->axis, c->side);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
        pl_vec3 x = pl_v3(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
        double s = pl_v3_dot(pl_v3_sub(x, c->middle), c->axis);
        low = fmin(low, s);
        high = fmax(high, s);
    }
    PL_CHECK(high > low, PL_ERROR_ARGUMENT, error, PL_WHERE("warps[%d].axis", index),
             "the model has no extent along it");
    c->begin = low + warp->from * (high - low);
    c->end = low + warp->to * (high - low);
    c->width = pl_pow(warp->shorten, -0.5 * warp->bulge);
    return PL_OK;
}

/* ---- Curves ---------------------------------------------------------------------------------- */

/* A point of the curve and its frame, both seen from the course's own axes: x along the axis, y to
   the side. */
typedef struct station {
    pl_vec3 at;
    pl_quat turn;
} station;

/* sin(a)/a and (1 − cos a)/a, also for small angles. */
static double sine_over(double a)
{
    return fabs(a) < 1e-6 ? 1 - a * a / 6 : pl_sin(a) / a;
}

static double versine_over(double a)
{
    return fabs(a) < 1e-6 ? a / 2 : (1 - pl_cos(a)) / a;
}

/* Along an arc of this length that turns by `angle` from the direction `start`. */
static pl_vec3 along_arc(pl_vec3 from, double start, double angle, double length)
{
    double forward = length * sine_over(angle), aside = length * versine_over(angle);
    double c = pl_cos(start), s = pl_sin(start);
    return pl_v3(from.x + c * forward - s * aside, from.y + s * forward + c * aside, from.z);
}

static pl_quat in_plane(double angle)
{
    return pl_quat_axis_angle(pl_v3(0, 0, 1), angle);
}

/* One arc, from −amount/2 to amount/2. */
static station bend(const pl_warp *warp, double t, double length)
{
    double start = -0.5 * warp->amount;
    return (station){along_arc(pl_v3(0, 0, 0), start, t * warp->amount, t * length),
                     in_plane(start + t * warp->amount)};
}

/* Two arcs: both ends and the middle look to opposite sides by half of the amount. */
static station double_bend(const pl_warp *warp, double t, double length)
{
    double start = -0.5 * warp->amount, first = fmin(t, 0.5), second = t - first;
    pl_vec3 at = along_arc(pl_v3(0, 0, 0), start, 2 * first * warp->amount, first * length);
    double middle = start + 2 * first * warp->amount;
    at = along_arc(at, middle, -2 * second * warp->amount, second * length);
    return (station){at, in_plane(middle - 2 * second * warp->amount)};
}

/* Straight pieces, alternately to one side and the other; what lies on a crease looks straight
   ahead. */
static station fold(const pl_warp *warp, double t, double length)
{
    int pieces = warp->folds + 1, piece = (int)floor(t * pieces);
    piece = piece < 0 ? 0 : piece >= pieces ? pieces - 1 : piece;
    double lean = 0.5 * warp->amount, angle = piece % 2 ? -lean : lean;
    double step = length / pieces, on = t * length - piece * step;
    double forward = (piece * step + on) * pl_cos(lean);
    double aside = ((piece % 2) * step * pl_sin(lean)) + on * pl_sin(angle);
    double nearest = floor(t * pieces + 0.5);
    bool crease = nearest > 0 && nearest < pieces && fabs(t * pieces - nearest) < 1e-6;
    return (station){pl_v3(forward, aside, 0), in_plane(crease ? 0 : angle)};
}

/* A helix about the axis, of the curve's own length; its frame does not turn about its tangent. */
static station coil(const pl_warp *warp, double t, double length)
{
    double rise = warp->shorten, round = sqrt(1 - rise * rise), angle = t * warp->amount;
    double radius = length * round / warp->amount; /* a left-handed one has a negative radius */
    pl_vec3 at = pl_v3(rise * t * length, radius * (1 - pl_cos(angle)), -radius * pl_sin(angle));
    pl_quat about = pl_quat_axis_angle(pl_v3(1, 0, 0), angle);
    pl_quat tilt = pl_quat_axis_angle(pl_v3(0, 1, 0), pl_acos(rise));
    pl_quat back = pl_quat_axis_angle(pl_v3(1, 0, 0), -angle * rise);
    return (station){at, pl_quat_mul(about, pl_quat_mul(tilt, back))};
}

/* `t` from 0 to 1 of the part that is warped, which was `length` long. */
static station on_curve(const pl_warp *warp, double t, double length)
{
    double now = length * warp->shorten;
    switch (warp->kind) {
    case PL_WARP_BEND:
        return bend(warp, t, now);
    case PL_WARP_S:
        return double_bend(warp, t, now);
    case PL_WARP_FOLD:
        return fold(warp, t, now);
    case PL_WARP_COIL:
        return coil(warp, t, length);
    case PL_WARP_TWIST:
        return (station){pl_v3(t * now, 0, 0),
                         pl_quat_axis_angle(pl_v3(1, 0, 0), (t - 0.5) * warp->amount)};
    case PL_WARP_SQUASH:
        break;
    }
    return (station){pl_v3(t * now, 0, 0), pl_quat_identity()};
}

/* ---- Particles ------------------------------------------------------------------------------- */

static void warp_particle(const course *c, double position[3], double rotation[4])
{
    pl_vec3 x = pl_v3_sub(pl_v3(position[0], position[1], position[2]), c->middle);
    double s = pl_v3_dot(x, c->axis), length = c->end - c->begin;
    double t = fmin(fmax((s - c->begin) / length, 0), 1);
    double beyond = s - c->begin - t * length;
    bool inside = s >= c->begin && s <= c->end && c->warp->kind != PL_WARP_COIL;
    double width = inside ? c->width : 1;
    station on = on_curve(c->warp, t, length), half = on_curve(c->warp, 0.5, length);
    pl_vec3 offset = pl_v3(beyond, width * pl_v3_dot(x, c->side), width * pl_v3_dot(x, c->across));
    pl_vec3 at = pl_v3_add(pl_v3_sub(on.at, half.at), pl_quat_rotate(on.turn, offset));
    at.x += 0.5 * (c->begin + c->end);
    pl_mat3 frame = pl_m3_from_columns(c->axis, c->side, c->across);
    pl_vec3 out = pl_v3_add(c->middle, pl_m3_mul_v3(frame, at));
    position[0] = out.x, position[1] = out.y, position[2] = out.z;
    pl_quat own = pl_quat_from_m3(frame);
    pl_quat turn = pl_quat_mul(own, pl_quat_mul(on.turn, pl_quat_conjugate(own)));
    pl_quat q = pl_quat_normalise(
        pl_quat_mul(turn, (pl_quat){rotation[0], rotation[1], rotation[2], rotation[3]}));
    rotation[0] = q.x, rotation[1] = q.y, rotation[2] = q.z, rotation[3] = q.w;
}

__attribute__((noinline)) static pl_status make(const pl_model *model, const pl_warp *warps,
                                                int count, pl_pose *pose, pl_error *error)
{
    PL_REQUIRE(model && pose, PL_ERROR_ARGUMENT, error, "model", "model or pose is NULL");
    *pose = (pl_pose){0};
    PL_CHECK(warps && count >= 1 && count <= MOST_WARPS, PL_ERROR_ARGUMENT, error, "warps",
             "there are %d; use 1 to %d", count, MOST_WARPS);
    for (int w = 0; w < count; w++)
        PL_TRY(check(warps + w, w, error));
    pl_pose_room room;
    PL_CHECK(pl_pose_make(model, pose, &room), PL_ERROR_MEMORY, error, NULL,
             "no memory for a pose of %d particles", model->particle_count);
    size_t n = (size_t)model->particle_count;
    for (size_t i = 0; i < 3 * n; i++)
        room.positions[i] = model->centre[i % 3] + model->unit * (double)model->rest[i];
    for (size_t i = 0; i < n; i++)
        room.rotations[4 * i + 3] = 1;
    for (int w = 0; w < count; w++) {
        course c = {0};
        pl_status status = lay_course(warps + w, w, (int)n, room.positions, &c, error);
        if (status != PL_OK) {
            pl_pose_free(pose);
            return status;
        }
        for (size_t i = 0; i < n; i++)
            warp_particle(&c, room.positions + 3 * i, room.rotations + 4 * i);
    }
    return PL_OK;
}

pl_status pl_pose_warp(const pl_model *model, const pl_warp *warps, int count, pl_pose *pose,
                       pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = make(model, warps, count, pose, error);
    pl_float_env_leave(host);
    return status;
}
