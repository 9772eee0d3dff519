/* The scene's measure, the camera's matrix, and those of the two depth maps. */
#include <string.h>

#include "draw/draw_parts.h"
#include "math/elementary.h"

/* ---- Matrices, by columns -------------------------------------------------------------------- */

static void multiply(const double a[16], const double b[16], double out[16])
{
    double made[16];
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[4 * k + row] * b[4 * column + k];
            made[4 * column + row] = sum;
        }
    memcpy(out, made, sizeof made);
}

static void to_floats(const double from[16], float to[16])
{
    for (int i = 0; i < 16; i++)
        to[i] = (float)from[i];
}

/* Takes a place to its coordinates along three axes from an origin. */
static void axes_matrix(pl_vec3 x, pl_vec3 y, pl_vec3 z, pl_vec3 origin, double m[16])
{
    const double made[16] = {x.x,
                             y.x,
                             z.x,
                             0,
                             x.y,
                             y.y,
                             z.y,
                             0,
                             x.z,
                             y.z,
                             z.z,
                             0,
                             -pl_v3_dot(x, origin),
                             -pl_v3_dot(y, origin),
                             -pl_v3_dot(z, origin),
                             1};
    memcpy(m, made, sizeof made);
}

static void perspective(double angle, double aspect, double near, double far, double m[16])
{
    double f = pl_cos(angle / 2) / pl_sin(angle / 2);
    const double made[16] = {f / aspect,
                             0,
                             0,
                             0,
                             0,
                             f,
                             0,
                             0,
                             0,
                             0,
                             (far + near) / (near - far),
                             -1,
                             0,
                             0,
                             2 * far * near / (near - far),
                             0};
    memcpy(m, made, sizeof made);
}

/* The box of x, y, z in [low, high] to [0, 1]. */
static void unit_box(const double low[3], const double high[3], double m[16])
{
    memset(m, 0, 16 * sizeof *m);
    for (int k = 0; k < 3; k++) {
        double size = high[k] - low[k];
        m[5 * k] = 1 / size;
        m[12 + k] = -low[k] / size;
    }
    m[15] = 1;
}

/* ---- The scene's measure --------------------------------------------------------------------- */

static pl_vec3 to_scene(const pl_draw *draw, const double p[3])
{
    return pl_v3((p[0] - draw->centre[0]) * draw->scale, (p[1] - draw->centre[1]) * draw->scale,
                 (p[2] - draw->centre[2]) * draw->scale);
}

static pl_status measure(pl_draw *draw, const pl_draw_view *view, pl_error *error)
{
    double radius = 0;
    for (int k = 0; k < 3; k++) {
        PL_CHECK(isfinite(view->lower[k]) && isfinite(view->upper[k]) &&
                     view->lower[k] <= view->upper[k],
                 PL_ERROR_ARGUMENT, error, "lower", "the box around the scene is not one");
        draw->centre[k] = view->lower[k] / 2 + view->upper[k] / 2;
        double half = view->upper[k] / 2 - view->lower[k] / 2;
        radius = fmax(radius, half);
    }
    /* The half diagonal, without overflow for large boxes. */
    double sum = 0;
    for (int k = 0; k < 3 && radius > 0; k++) {
        double half = (view->upper[k] / 2 - view->lower[k] / 2) / radius;
        sum += half * half;
    }
    radius *= sqrt(sum);
    if (!(radius > 0))
        radius = fmax(1e-3, 1e-6 * (fabs(draw->centre[0]) + fabs(draw->centre[1])));
    draw->scale = 1 / radius;
    PL_CHECK(draw->scale > 0 && isfinite(draw->scale), PL_ERROR_ARGUMENT, error, "lower",
             "the scene is too large or too small to be drawn");
    return PL_OK;
}

/* ---- Camera ---------------------------------------------------------------------------------- */

typedef struct camera_axes {
    pl_vec3 right, up, back, eye;
} camera_axes;

static pl_status find_axes(const pl_draw *draw, const pl_camera *camera, camera_axes *axes,
                           pl_error *error)
{
    axes->eye = to_scene(draw, camera->eye);
    pl_vec3 up = pl_v3_normalise(pl_v3(camera->up[0], camera->up[1], camera->up[2]));
    axes->back = pl_v3_normalise(pl_v3_sub(axes->eye, to_scene(draw, camera->target)));
    axes->right = pl_v3_cross(up, axes->back);
    /* Straight up or down: any direction may be up in the picture. */
    if (pl_v3_length(axes->right) < 1e-6)
        axes->right = pl_v3_cross(pl_v3(0, 0, -1), axes->back);
    if (pl_v3_length(axes->right) < 1e-6)
        axes->right = pl_v3(1, 0, 0);
    axes->right = pl_v3_normalise(axes->right);
    axes->up = pl_v3_cross(axes->back, axes->right);
    double size = pl_v3_length(axes->eye);
    PL_CHECK(isfinite(size) && size < 1e9 && pl_v3_length(axes->back) > 0.5 &&
                 pl_v3_length(axes->up) > 0.5 && camera->angle > 1e-4 && camera->angle < 3.1,
             PL_ERROR_ARGUMENT, error, "camera",
             "the camera must be apart from what it looks at, and not a billion times as far away "
             "as the "
             "scene is large");
    return PL_OK;
}

/* The inverse of the camera's matrix: that of the perspective, then the axes. */
static void unproject(const double p[16], const camera_axes *a, double out[16])
{
    const double back[16] = {1 / p[0], 0, 0, 0,         0, 1 / p[5], 0,  0,
                             0,        0, 0, 1 / p[14], 0, 0,        -1, p[10] / p[14]};
    const double place[16] = {a->right.x, a->right.y, a->right.z, 0,         a->up.x,   a->up.y,
                              a->up.z,    0,          a->back.x,  a->back.y, a->back.z, 0,
                              a->eye.x,   a->eye.y,   a->eye.z,   1};
    multiply(place, back, out);
}

enum { GROUND_FADES = 2, GROUND_ENDS = 8 };

static void set_camera(pl_draw *draw, const pl_camera *camera, const camera_axes *axes)
{
    double view[16], away = pl_v3_length(axes->eye);
    axes_matrix(axes->right, axes->up, axes->back, axes->eye, view);
    double near = fmax(away * 0.04, 1e-3);
    perspective(camera->angle, (double)draw->width / draw->height, near, away + 1.5 * GROUND_ENDS,
                draw->projection);
    unproject(draw->projection, axes, draw->unprojection);
    multiply(draw->projection, view, draw->projection);
    pl_v3_to_floats(axes->eye, draw->numbers.eye);
}

/* ---- Light and ground ------------------------------------------------------------------------ */

/* From above and from behind the camera's left shoulder. */
static pl_vec3 light_direction(const double direction[3], const camera_axes *axes)
{
    pl_vec3 given = pl_v3_normalise(pl_v3(direction[0], direction[1], direction[2]));
    if (pl_v3_length(given) > 0.5)
        return given;
    pl_vec3 ahead = pl_v3_normalise(pl_v3(axes->back.x, 0, axes->back.z));
    pl_vec3 light = pl_v3_add(pl_v3_scale(axes->right, -0.52), pl_v3_scale(ahead, 0.58));
    return pl_v3_normalise(pl_v3(light.x, 1.0, light.z));
}

static void set_shadow(pl_draw *draw, pl_vec3 light)
{
    pl_vec3 side = pl_v3_cross(fabs(light.y) < 0.9 ? pl_v3(0, 1, 0) : pl_v3(0, 0, -1), light);
    side = pl_v3_normalise(side);
    double axes[16], box[16], low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
    /* Depth grows away from the light. */
    axes_matrix(side, pl_v3_cross(light, side), pl_v3_neg(light), pl_v3(0, 0, 0), axes);
    for (int corner = 0; corner < 8; corner++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = corner >> k & 1 ? draw->view.upper[k] : draw->view.lower[k];
        pl_vec3 q = to_scene(draw, p);
        for (int row = 0; row < 3; row++) {
            double at = axes[row] * q.x + axes[4 + row] * q.y + axes[8 + row] * q.z;
            low[row] = fmin(low[row], at);
            high[row] = fmax(high[row], at);
        }
    }
    /* A square with room for the filter's width. */
    double half = fmax(high[0] - low[0], high[1] - low[1]) * 0.5 * 1.03;
    half = fmax(half, 1e-3);
    for (int k = 0; k < 2; k++) {
        double middle = (low[k] + high[k]) / 2;
        low[k] = middle - half, high[k] = middle + half;
    }
    low[2] -= 0.02, high[2] += 0.02;
    unit_box(low, high, box);
    multiply(box, axes, box);
    to_floats(box, draw->numbers.shadow);
    pl_v3_to_floats(light, draw->numbers.light);
    draw->numbers.light[3] = (float)(2 * half / PL_SHADOW_MAP);
}

static void set_ground(pl_draw *draw)
{
    pl_scene_numbers *n = &draw->numbers;
    double height = (draw->view.ground_height - draw->centre[1]) * draw->scale;
    height = draw->view.ground && isfinite(height) ? fmax(-1e6, fmin(height, 1e6)) : -1e6;
    const double depth = 2.2, low[3] = {-1.02, -1.02, 0}, high[3] = {1.02, 1.02, depth};
    double axes[16], box[16];
    axes_matrix(pl_v3(1, 0, 0), pl_v3(0, 0, 1), pl_v3(0, 1, 0), pl_v3(0, height - 0.004, 0), axes);
    unit_box(low, high, box);
    multiply(box, axes, box);
    to_floats(box, n->below);
    const float ground[4] = {(float)height, (float)depth, GROUND_FADES, GROUND_ENDS};
    memcpy(n->ground, ground, sizeof ground);

    /* Coarse lines at a power of ten metres near the scene's size, ten fine ones between. */
    double radius = draw->view.measure > 0 ? draw->view.measure / 2 : 1 / draw->scale;
    double decade = floor(pl_log(1.2 * radius) / 2.302585092994046);
    double coarse = pl_pow(10, decade), fine = coarse / 10;
    if (coarse < 0.5 * radius)
        fine = coarse, coarse *= 10;
    if (fine < 0.1 * radius)
        fine *= 5;
    for (int k = 0; k < 2; k++) {
        double origin = draw->centre[2 * k];
        double past = origin - floor(origin / coarse) * coarse;
        n->grid[k] = (float)(-past * draw->scale);
    }
    n->grid[2] = (float)(fine * draw->scale);
    n->grid[3] = (float)(coarse * draw->scale);
}

static void set_lights(pl_draw *draw, const camera_axes *axes)
{
    static const float white[3] = {2.05f, 1.93f, 1.75f}, exposure = 0.44f;
    static const pl_draw_light usual = {.colour = {1, 1, 1}, .shadows = true};
    pl_scene_numbers *n = &draw->numbers;
    const pl_draw_light *lights = draw->view.light_count ? draw->view.lights : &usual;
    int count = draw->view.light_count ? draw->view.light_count : 1;
    set_shadow(draw, light_direction(lights[0].direction, axes));
    for (int i = 0; i < count; i++) {
        float *colour = i ? n->more_key[i - 1] : n->key;
        for (int k = 0; k < 3; k++)
            colour[k] = white[k] * lights[i].colour[k];
        if (i)
            pl_v3_to_floats(light_direction(lights[i].direction, axes), n->more_light[i - 1]);
    }
    n->key[3] = exposure;
    n->more[0] = (float)(count - 1);
    n->more[1] = lights[0].shadows;
}

static void set_colours(pl_scene_numbers *n)
{
    static const float sky[4] = {0.89f, 0.90f, 0.93f, 0}, bounce[4] = {0.56f, 0.50f, 0.44f, 0},
                       horizon[4] = {0.932f, 0.921f, 0.905f, 1},
                       zenith[4] = {0.985f, 0.983f, 0.978f, 1};
    memcpy(n->sky, sky, sizeof sky);
    memcpy(n->bounce, bounce, sizeof bounce);
    memcpy(n->horizon, horizon, sizeof horizon);
    memcpy(n->zenith, zenith, sizeof zenith);
}

pl_status pl_draw_set_view(pl_draw *draw, const pl_draw_view *view, pl_error *error)
{
    camera_axes axes;
    PL_CHECK(view->light_count >= 0 && view->light_count <= PL_DRAW_LIGHTS, PL_ERROR_ARGUMENT,
             error, "light_count", "must be from 0 to %d, not %d", PL_DRAW_LIGHTS,
             view->light_count);
    PL_TRY(measure(draw, view, error));
    PL_TRY(find_axes(draw, &view->camera, &axes, error));
    draw->view = *view;
    set_camera(draw, &view->camera, &axes);
    set_lights(draw, &axes);
    set_ground(draw);
    set_colours(&draw->numbers);
    return PL_OK;
}

pl_status pl_draw_view_of(const pl_framing *framing, pl_draw_view *view, pl_error *error)
{
    *view = (pl_draw_view){.ground = true, .ground_height = framing->lower[1]};
    PL_TRY(pl_framing_camera(framing, &view->camera, error));
    memcpy(view->lower, framing->lower, sizeof view->lower);
    memcpy(view->upper, framing->upper, sizeof view->upper);
    return PL_OK;
}
