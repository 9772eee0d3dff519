#include "draw/camera.h"

#include <string.h>

#include "math/elementary.h"

#define DEGREE 0.017453292519943295

/* Part of the picture that stays free at each side. */
#define MARGIN 0.09

static const double view_angle = 26 * DEGREE;

/* Which way the camera looks from, in degrees: around y from +z towards +x, and up. */
static const struct {
    const char *name;
    double around, above;
} views[PL_VIEW_COUNT] = {{"corner", 34, 17}, {"front", 0, 5},  {"back", 180, 5},
                          {"left", -90, 5},   {"right", 90, 5}, {"top", 0, 90}};

const char *pl_camera_view_name(pl_camera_view view)
{
    return (unsigned)view < PL_VIEW_COUNT ? views[view].name : NULL;
}

bool pl_find_camera_view(const char *name, pl_camera_view *view)
{
    for (int i = 0; i < PL_VIEW_COUNT; i++)
        if (strcmp(name, views[i].name) == 0) {
            *view = (pl_camera_view)i;
            return true;
        }
    return false;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

pl_framing pl_framing_begin(pl_camera_view view, double aspect)
{
    pl_framing framing = {0};
    double around = views[view].around * DEGREE, above = views[view].above * DEGREE;
    double ca = pl_cos(around), sa = pl_sin(around), ce = pl_cos(above), se = pl_sin(above);
    const double right[3] = {ca, 0, -sa}, up[3] = {-se * sa, ce, -se * ca},
                 back[3] = {ce * sa, se, ce * ca};
    memcpy(framing.right, right, sizeof right);
    memcpy(framing.up, up, sizeof up);
    memcpy(framing.back, back, sizeof back);
    double tangent = pl_sin(view_angle / 2) / pl_cos(view_angle / 2);
    framing.tangent[0] = tangent * aspect * (1 - 2 * MARGIN);
    framing.tangent[1] = tangent * (1 - 2 * MARGIN);
    return framing;
}

void pl_framing_add(pl_framing *framing, const double point[3], double radius)
{
    double across = dot(framing->right, point), high = dot(framing->up, point),
           near = dot(framing->back, point);
    double wide = framing->tangent[0], tall = framing->tangent[1];
    /* A ball is pushed outwards by its radius along each plane's normal, whose length is not
       one. */
    double ball_x = radius * sqrt(1 + wide * wide), ball_y = radius * sqrt(1 + tall * tall);
    const double reach[4] = {across + wide * near + ball_x, -across + wide * near + ball_x,
                             high + tall * near + ball_y, -high + tall * near + ball_y};
    for (int k = 0; k < 4; k++)
        framing->reach[k] = framing->any ? fmax(framing->reach[k], reach[k]) : reach[k];
    framing->nearest = framing->any ? fmax(framing->nearest, near + radius) : near + radius;
    for (int k = 0; k < 3; k++) {
        double low = point[k] - radius, top = point[k] + radius;
        framing->lower[k] = framing->any ? fmin(framing->lower[k], low) : low;
        framing->upper[k] = framing->any ? fmax(framing->upper[k], top) : top;
    }
    framing->any = true;
}

void pl_framing_merge(pl_framing *framing, const pl_framing *other)
{
    if (!other->any)
        return;
    if (!framing->any) {
        *framing = *other;
        return;
    }
    for (int k = 0; k < 4; k++)
        framing->reach[k] = fmax(framing->reach[k], other->reach[k]);
    for (int k = 0; k < 3; k++) {
        framing->lower[k] = fmin(framing->lower[k], other->lower[k]);
        framing->upper[k] = fmax(framing->upper[k], other->upper[k]);
    }
    framing->nearest = fmax(framing->nearest, other->nearest);
}

/* How far back the eye must be for all to fit across and upwards. */
static double depth_of(const pl_framing *framing)
{
    const double *reach = framing->reach;
    return fmax((reach[0] + reach[1]) / (2 * framing->tangent[0]),
                (reach[2] + reach[3]) / (2 * framing->tangent[1]));
}

double pl_framing_distance(const pl_framing *framing)
{
    return framing->any ? depth_of(framing) - framing->nearest : 0;
}

static void widen(const pl_framing *from, int count, int around, pl_framing *to)
{
    for (int i = 0; i < count; i++) {
        to[i] = from[i];
        for (int k = i - around; k <= i + around; k++)
            if (k >= 0 && k < count)
                pl_framing_merge(&to[i], &from[k]);
    }
}

static void add_part(pl_framing *sum, const pl_framing *from, double part)
{
    for (int k = 0; k < 4; k++)
        sum->reach[k] += part * from->reach[k];
    for (int k = 0; k < 3; k++) {
        sum->lower[k] += part * from->lower[k];
        sum->upper[k] += part * from->upper[k];
    }
    sum->nearest += part * from->nearest;
}

/* Before the first and after the last frame everything stays as it is there. */
static void average(const pl_framing *from, int count, int around, pl_framing *to)
{
    for (int i = 0; i < count; i++) {
        to[i] = from[i];
        memset(to[i].reach, 0, sizeof to[i].reach);
        memset(to[i].lower, 0, sizeof to[i].lower);
        memset(to[i].upper, 0, sizeof to[i].upper);
        to[i].nearest = 0;
        for (int k = i - around; k <= i + around; k++)
            add_part(&to[i], &from[k < 0 ? 0 : k < count ? k : count - 1], 1.0 / (2 * around + 1));
    }
}

void pl_framing_smooth(pl_framing *frames, int count, int around, pl_framing *scratch)
{
    widen(frames, count, 2 * around, scratch);
    average(scratch, count, around, frames);
    average(frames, count, around, scratch);
    if (count > 0)
        memcpy(frames, scratch, (size_t)count * sizeof *frames);
}

pl_status pl_framing_camera(const pl_framing *framing, pl_camera *camera, pl_error *error)
{
    PL_CHECK(framing->any, PL_ERROR_ARGUMENT, error, NULL, "there is nothing to look at");
    double middle[3], size = 0;
    for (int k = 0; k < 3; k++) {
        PL_CHECK(isfinite(framing->lower[k]) && isfinite(framing->upper[k]), PL_ERROR_ARGUMENT,
                 error, NULL, "what is to be drawn has positions that are not finite");
        middle[k] = framing->lower[k] / 2 + framing->upper[k] / 2;
        size = fmax(size, framing->upper[k] - framing->lower[k]);
    }
    const double *reach = framing->reach;
    double across = (reach[0] - reach[1]) / 2, high = (reach[2] - reach[3]) / 2;
    double depth = depth_of(framing);
    /* Points behind each other would have the eye in the first of them. A single one has no size:
       any distance does. */
    double least = size > 0 ? size * 0.4 : fmax(1e-3, 1e-6 * fabs(depth));
    depth = fmax(depth, framing->nearest + least);
    double forward = depth - dot(framing->back, middle);
    for (int k = 0; k < 3; k++) {
        camera->eye[k] =
            framing->right[k] * across + framing->up[k] * high + framing->back[k] * depth;
        camera->target[k] = camera->eye[k] - framing->back[k] * forward;
        camera->up[k] = framing->up[k];
    }
    camera->angle = view_angle;
    for (int k = 0; k < 3; k++)
        PL_CHECK(isfinite(camera->eye[k]) && isfinite(camera->target[k]), PL_ERROR_ARGUMENT, error,
                 NULL, "what is to be drawn is too large");
    return PL_OK;
}
