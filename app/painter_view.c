/* Where pictures are taken from: a camera of the scene, a place given by hand, or one that sees
   everything. */
#ifdef PLIANT_HAVE_DRAW

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/suggest.h"
#include "painter_parts.h"

/* How far from the bodies colliders may be that are to be seen with them: parts of the bodies'
   diagonal. */
#define NEARBY 2.0

/* A film's automatic camera moves where it can come this much nearer. */
#define WORTH_MOVING 0.7

/* Half the time over which it looks before and behind, seconds. */
#define SMOOTHLY 0.6

#define DEGREE 0.017453292519943295

double app_diagonal(const double lower[3], const double upper[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    return sqrt(square);
}

void app_viewpoint_begin(app_viewpoint *v, double aspect)
{
    v->framing = pl_framing_begin(v->view, aspect);
    for (int k = 0; k < 3; k++)
        v->lower[k] = INFINITY, v->upper[k] = -INFINITY;
}

/* ---- Cameras of the scene -------------------------------------------------------------------- */

int app_viewpoint_choose(app_painter *painter, const pl_scene *scene)
{
    app_viewpoint *v = &painter->viewpoint;
    const char *best = NULL;
    char hint[96] = "";
    int count = scene ? scene->camera_count : 0;
    if (v->has_view || v->has_camera || (v->name && strcmp(v->name, "auto") == 0))
        return -1;
    if (!v->name) {
        v->chosen = count ? &scene->cameras[0] : NULL;
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const char *name = scene->cameras[i].name;
        if (name && strcmp(name, v->name) == 0) {
            v->chosen = &scene->cameras[i];
            return -1;
        }
        if (name)
            pl_suggest(v->name, name, &best);
    }
    if (best)
        pl_suggest_text(best, hint, sizeof hint);
    return app_usage_error(painter->command,
                           count ? "--camera: the scene has no camera \"%s\"%s"
                                 : "--camera: there is no camera \"%s\", for the scene has none; "
                                   "six numbers place one, as in 2,1,3,0,0.5,0%s",
                           v->name, hint);
}

/* The middle of a body and half its size; false where there is no such body. */
static bool find_body(const app_painter *painter, int body, double middle[3], double *radius)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (body < 0 || body >= painter->subject_count)
        return false;
    const app_subject *s = &painter->subjects[body];
    bool by_surface = app_shows_surface(painter, s);
    const double *points = by_surface ? s->vertices : s->positions;
    size_t count = (size_t)(by_surface ? s->vertex_count : s->particle_count);
    for (size_t i = 0; i < 3 * count; i++) {
        lower[i % 3] = fmin(lower[i % 3], points[i]);
        upper[i % 3] = fmax(upper[i % 3], points[i]);
    }
    for (int k = 0; k < 3; k++)
        middle[k] = lower[k] / 2 + upper[k] / 2;
    *radius = app_diagonal(lower, upper) / 2;
    return count > 0;
}

/* `camera` is the automatic one at first, which is kept where the scene leaves something open. */
static void place_camera(const app_painter *painter, const pl_play *play, pl_camera *camera)
{
    const pl_scene_camera *from = painter->viewpoint.chosen;
    double eye[3], target[3], middle[3], radius;
    memcpy(eye, camera->eye, sizeof eye);
    memcpy(target, camera->target, sizeof target);
    pl_scene_camera_at(from, pl_world_time(play->world), eye, target);
    bool follows = find_body(painter, from->body, middle, &radius);
    if (follows)
        memcpy(target, middle, sizeof target);
    /* Along with a body, in the direction and at the distance from which it fills a good part of
       the picture. */
    if (follows && !from->has_position) {
        double away = 1.3 * fmax(radius, 1e-9) / (camera->angle / 2);
        for (int k = 0; k < 3; k++)
            eye[k] = middle[k] + away * painter->viewpoint.framing.back[k];
    }
    if (!from->has_position && !follows)
        return;
    memcpy(camera->eye, eye, sizeof eye);
    memcpy(camera->target, target, sizeof target);
    const double up[3] = {0, 1, 0};
    memcpy(camera->up, up, sizeof up);
    if (from->degrees > 0 || from->has_position)
        camera->angle = from->degrees > 0 ? from->degrees * DEGREE : 0.6;
}

static void place_lights(const pl_scene *scene, pl_draw_view *view)
{
    for (int i = 0; i < scene->light_count && i < PL_DRAW_LIGHTS; i++) {
        const pl_scene_light *from = &scene->lights[i];
        pl_draw_light *to = &view->lights[view->light_count++];
        memcpy(to->direction, from->direction, sizeof to->direction);
        for (int k = 0; k < 3; k++)
            to->colour[k] = (float)(from->colour[k] * from->strength);
        to->shadows = from->shadows;
    }
}

/* ---- What is seen ---------------------------------------------------------------------------- */

static void add_subject(const app_painter *painter, const app_subject *s, pl_framing *framing)
{
    if (app_shows_surface(painter, s) || s->lines_only)
        for (size_t i = 0; i < (size_t)s->vertex_count; i++)
            pl_framing_add(framing, s->vertices + 3 * i, 0);
    if (app_shows_particles(painter, s))
        for (size_t i = 0; i < (size_t)s->particle_count; i++) {
            const double *radii = s->radii + 3 * i;
            double radius = fmax(fmax(radii[0], radii[1]), radii[2]);
            pl_framing_add(framing, s->positions + 3 * i,
                           painter->show.graph ? radius * 0.5 : radius);
        }
    for (size_t i = 0; painter->show.tets && i < (size_t)s->tet_point_count; i++)
        pl_framing_add(framing, s->tet_points + 3 * i, 0);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, int count, double part)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(int)(part * (count - 1))];
}

/* How far a body may be from the others to be looked at with them: one that flew off would make all
   of them small. Of a few bodies none is left out. `middles` (3 each) and `scratch` have room for
   all. */
static double farthest(const double *middles, int count, double *scratch, double centre[3])
{
    enum { FEW = 5 };
    if (count < FEW)
        return INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < count; i++)
            scratch[i] = middles[3 * i + k];
        centre[k] = quantile(scratch, count, 0.5);
    }
    for (int i = 0; i < count; i++)
        scratch[i] = pl_v3_distance(pl_v3(middles[3 * i], middles[3 * i + 1], middles[3 * i + 2]),
                                    pl_v3(centre[0], centre[1], centre[2]));
    return 4 * quantile(scratch, count, 0.9);
}

static double distance(const double *a, const double *b)
{
    return pl_v3_distance(pl_v3(a[0], a[1], a[2]), pl_v3(b[0], b[1], b[2]));
}

static pl_status see_subjects(app_painter *painter, pl_framing *now)
{
    app_viewpoint *v = &painter->viewpoint;
    int count = painter->subject_count;
    pl_framing *own = PL_NEW(painter->memory, pl_framing, count);
    double *middles = PL_NEW(painter->memory, double, 4 * (size_t)count), centre[3] = {0, 0, 0};
    bool good = own && middles;
    for (int i = 0; good && i < count; i++) {
        own[i] = pl_framing_begin(v->view, (double)painter->width / painter->height);
        add_subject(painter, &painter->subjects[i], &own[i]);
        for (int k = 0; k < 3; k++)
            middles[3 * i + k] = own[i].lower[k] / 2 + own[i].upper[k] / 2;
    }
    double limit = good ? farthest(middles, count, middles + 3 * (size_t)count, centre) : 0;
    for (int i = 0; good && i < count; i++) {
        double size = app_diagonal(own[i].lower, own[i].upper);
        if (isfinite(limit) && distance(middles + 3 * (size_t)i, centre) > limit + 2 * size)
            continue;
        pl_framing_merge(now, &own[i]);
    }
    for (int k = 0; now->any && k < 3; k++) {
        v->lower[k] = fmin(v->lower[k], now->lower[k]);
        v->upper[k] = fmax(v->upper[k], now->upper[k]);
    }
    pl_memory_free(painter->memory, own);
    pl_memory_free(painter->memory, middles);
    return good ? PL_OK : PL_ERROR_MEMORY;
}

/* Colliders are seen in whole where they are near the bodies; what is far away or large would make
   these small. */
static void see_solid(const app_viewpoint *v, const app_obstacle *obstacle, pl_framing *now)
{
    double far = NEARBY * app_diagonal(v->lower, v->upper);
    for (size_t i = 0; i < 3 * (size_t)obstacle->vertex_count; i++)
        if (!(obstacle->vertices[i] >= v->lower[i % 3] - far &&
              obstacle->vertices[i] <= v->upper[i % 3] + far))
            return;
    for (size_t i = 0; i < (size_t)obstacle->vertex_count; i++)
        pl_framing_add(now, obstacle->vertices + 3 * i, 0);
}

/* The part of a plane that is opposite to the bodies: the floor under them, so that one sees how
   high they are. */
static void see_plane(const app_viewpoint *v, const app_obstacle *plane, const pl_framing *bodies,
                      pl_framing *now)
{
    double normal[3], points[8][3], nearest = INFINITY;
    app_obstacle_normal(plane, normal);
    for (int i = 0; i < 8; i++) {
        double before = 0;
        for (int k = 0; k < 3; k++) {
            points[i][k] = i >> k & 1 ? bodies->upper[k] : bodies->lower[k];
            before += normal[k] * (points[i][k] - plane->position[k]);
        }
        for (int k = 0; k < 3; k++)
            points[i][k] -= before * normal[k];
        nearest = fmin(nearest, before);
    }
    if (nearest > 0 && nearest < NEARBY * app_diagonal(v->lower, v->upper))
        for (int i = 0; i < 8; i++)
            pl_framing_add(now, points[i], 0);
}

/* Frames that were left out are taken for like the one after them. */
static pl_status keep_frame(app_viewpoint *v, uint64_t frame, const pl_framing *now)
{
    enum { MOST = 1000000 };
    if (frame < v->frames.count || frame > MOST)
        return PL_OK;
    while (v->frames.count <= frame) {
        pl_framing *room = pl_array_add(&v->frames, 1);
        if (!room)
            return PL_ERROR_MEMORY;
        *room = *now;
    }
    return PL_OK;
}

int app_viewpoint_see(app_painter *painter, const pl_play *play)
{
    app_viewpoint *v = &painter->viewpoint;
    pl_framing now = pl_framing_begin(v->view, (double)painter->width / painter->height);
    pl_status status = see_subjects(painter, &now);
    if (status != PL_OK)
        return app_painter_fail(status, &(pl_error){0});
    const pl_framing bodies = now;
    for (int i = 0; i < painter->obstacle_count && bodies.any; i++) {
        const app_obstacle *obstacle = &painter->obstacles[i];
        if (obstacle->is_plane)
            see_plane(v, obstacle, &bodies, &now);
        else
            see_solid(v, obstacle, &now);
    }
    pl_framing_merge(&v->framing, &now);
    if (play)
        status = keep_frame(v, play->frame, &now);
    return status == PL_OK ? -1 : app_painter_fail(status, &(pl_error){0});
}

/* ---- The picture of now ---------------------------------------------------------------------- */

/* Makes a path of the frames that were seen ahead; where it would not come nearer to anything, the
   camera stays. */
static pl_status smooth_path(app_painter *painter, double step)
{
    app_viewpoint *v = &painter->viewpoint;
    pl_framing *frames = v->frames.data;
    int count = (int)v->frames.count;
    double least = INFINITY, whole = pl_framing_distance(&v->framing);
    if (v->smoothed)
        return PL_OK;
    v->smoothed = true;
    if (count > 1) {
        pl_framing *scratch = PL_NEW(painter->memory, pl_framing, count);
        if (!scratch)
            return PL_ERROR_MEMORY;
        int around = (int)fmax(1, fmin(SMOOTHLY / step, 600));
        pl_framing_smooth(frames, count, around, scratch);
        pl_memory_free(painter->memory, scratch);
    }
    for (int i = 0; i < count; i++)
        least = fmin(least, pl_framing_distance(&frames[i]));
    if (!(least < WORTH_MOVING * whole))
        v->frames.count = 0;
    return PL_OK;
}

pl_status app_viewpoint_find(app_painter *painter, const pl_play *play, pl_draw_view *view,
                             pl_error *error)
{
    app_viewpoint *v = &painter->viewpoint;
    const pl_framing *framing = &v->framing;
    if (play) {
        PL_TRY(smooth_path(painter, play->settings.step));
        if (play->frame < v->frames.count)
            framing = (const pl_framing *)v->frames.data + play->frame;
    }
    PL_TRY(pl_draw_view_of(framing, view, error));
    view->measure = app_diagonal(v->framing.lower, v->framing.upper);
    view->ground_height = v->framing.lower[1];
    if (v->has_camera)
        view->camera = v->camera;
    else if (v->chosen && play)
        place_camera(painter, play, &view->camera);
    if (play)
        place_lights(play->scene, view);
    bool any = false;
    for (int i = 0; i < painter->obstacle_count; i++) {
        const app_obstacle *obstacle = &painter->obstacles[i];
        if (obstacle->gone || !app_is_floor(obstacle) ||
            (any && obstacle->position[1] <= view->ground_height))
            continue;
        view->ground_height = obstacle->position[1];
        any = true;
    }
    return PL_OK;
}

bool app_is_floor(const app_obstacle *obstacle)
{
    double normal[3];
    if (!obstacle->is_plane)
        return false;
    app_obstacle_normal(obstacle, normal);
    return normal[1] > 0.9999;
}

#endif
