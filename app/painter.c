#include "painter.h"

#include <stdio.h>

#ifdef PLIANT_HAVE_DRAW

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "draw/draw.h"
#include "draw/png.h"
#include "io/file.h"
#include "io/suggest.h"
#include "obstacle.h"
#include "subject.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, SAMPLES = 4 };

/* How opaque a surface is when there is something to see inside. */
#define SEEN_THROUGH 0.16f

/* Planes steeper than this (height of the normal) are walls: one can see through them, and they throw no shadow on what
   they enclose. */
#define WALL 0.25
#define WALL_OPACITY 0.3f

/* How far planes reach beyond what is seen, and colliders that are to be seen beyond the bodies: parts of the diagonal. */
#define PLANE_MARGIN 0.15
#define NEARBY 2.0

struct app_painter {
    pl_memory *memory;
    int width, height;
    pl_camera_view view;
    bool surface, particles, graph, has_camera;
    pl_camera camera;
    pl_framing framing;
    pl_draw *draw;
    uint8_t *pixels;
    app_subject *subjects;
    int subject_count;
    app_obstacle *obstacles;
    int obstacle_count;
    double lower[3], upper[3]; /* around all bodies, as far as they were seen */
};

/* ---- Options ----------------------------------------------------------------------------------- */

static int read_size(const char *command, const char *text, app_painter *painter)
{
    int used = 0;
    painter->width = DEFAULT_WIDTH;
    painter->height = DEFAULT_HEIGHT;
    if (!text)
        return -1;
    if (sscanf(text, "%5dx%5d%n", &painter->width, &painter->height, &used) != 2 || text[used])
        return app_usage_error(command, "--size needs width and height, as in 1280x720, not \"%s\"",
                               text);
    if (painter->width < 1 || painter->height < 1 || painter->width > PL_DRAW_LARGEST ||
        painter->height > PL_DRAW_LARGEST)
        return app_usage_error(command, "--size must be from 1x1 to %dx%d, not %s", PL_DRAW_LARGEST,
                               PL_DRAW_LARGEST, text);
    return -1;
}

static int read_view(const char *command, const char *text, app_painter *painter)
{
    const char *best = NULL;
    char hint[96] = "";
    if (!text || pl_find_camera_view(text, &painter->view))
        return -1;
    for (int i = 0; i < PL_VIEW_COUNT; i++)
        pl_suggest(text, pl_camera_view_name((pl_camera_view)i), &best);
    if (best)
        pl_suggest_text(best, hint, sizeof hint);
    return app_usage_error(command,
                           "--view must be corner, front, back, left, right or top, not \"%s\"%s",
                           text, hint);
}

static int read_camera(const char *command, const char *text, app_painter *painter)
{
    double numbers[6];
    const char *s = text;
    if (!text)
        return -1;
    for (int i = 0; i < 6; i++) {
        char *end;
        numbers[i] = strtod(s, &end);
        bool good = end != s && isfinite(numbers[i]) && *end == (i < 5 ? ',' : 0);
        if (!good)
            return app_usage_error(command,
                                   "--camera needs six numbers, as in 2,1,3,0,0.5,0: where it is "
                                   "and what it looks at; not \"%s\"",
                                   text);
        s = end + 1;
    }
    pl_camera camera = {.up = {0, 1, 0}, .angle = 0.6};
    memcpy(camera.eye, numbers, sizeof camera.eye);
    memcpy(camera.target, numbers + 3, sizeof camera.target);
    if (memcmp(camera.eye, camera.target, sizeof camera.eye) == 0)
        return app_usage_error(command, "--camera looks at the place where it is");
    painter->camera = camera;
    painter->has_camera = true;
    return -1;
}

static int read_show(const char *command, const char *text, app_painter *painter)
{
    const struct {
        const char *name;
        bool *flag;
    } layers[] = {{"surface", &painter->surface},
                  {"particles", &painter->particles},
                  {"graph", &painter->graph}};
    painter->surface = !text;
    for (const char *s = text; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        int length = (int)strcspn(s, ","), found = -1;
        for (int i = 0; i < 3; i++)
            if ((int)strlen(layers[i].name) == length &&
                strncmp(s, layers[i].name, (size_t)length) == 0)
                found = i;
        if (found < 0)
            return app_usage_error(
                command, "--show can have surface, particles and graph, with commas, not \"%.*s\"",
                length < 40 ? length : 40, s);
        *layers[found].flag = true;
    }
    return -1;
}

static int read_look(const char *command, const app_look *look, app_painter *painter)
{
    int result = read_size(command, look->size, painter);
    if (result < 0)
        result = read_view(command, look->view, painter);
    if (result < 0 && look->view && look->camera)
        result = app_usage_error(command, "--view and --camera contradict each other");
    if (result < 0)
        result = read_camera(command, look->camera, painter);
    if (result < 0)
        result = read_show(command, look->show, painter);
    return result;
}

/* ---- Life -------------------------------------------------------------------------------------- */

static int fail(pl_status status, const pl_error *error)
{
    fprintf(stderr, "pliant: %s%s%s\n", error->where, error->where[0] ? ": " : "",
            error->text[0] ? error->text : pl_status_text(status));
    return APP_FAILED;
}

static int open_draw(app_painter *painter)
{
    pl_error error = {0};
    pl_status status = pl_draw_create(painter->memory, painter->width, painter->height, SAMPLES,
                                      &painter->draw, &error);
    if (status != PL_OK)
        return fail(status, &error);
    painter->pixels =
        PL_NEW(painter->memory, uint8_t, 4 * (size_t)painter->width * (size_t)painter->height);
    return painter->pixels ? -1 : fail(PL_ERROR_MEMORY, &error);
}

int app_painter_open(pl_memory *memory, const char *command, const app_look *look,
                     app_painter **painter)
{
    *painter = NULL;
    app_painter *made = PL_NEW(memory, app_painter, 1);
    if (!made)
        return fail(PL_ERROR_MEMORY, &(pl_error){0});
    made->memory = memory;
    int result = read_look(command, look, made);
    if (result < 0)
        result = open_draw(made);
    if (result >= 0) {
        app_painter_close(made);
        return result;
    }
    made->framing = pl_framing_begin(made->view, (double)made->width / made->height);
    for (int k = 0; k < 3; k++)
        made->lower[k] = INFINITY, made->upper[k] = -INFINITY;
    *painter = made;
    return -1;
}

void app_painter_close(app_painter *painter)
{
    if (!painter)
        return;
    for (int i = 0; i < painter->subject_count; i++)
        app_subject_free(painter->memory, &painter->subjects[i]);
    for (int i = 0; i < painter->obstacle_count; i++)
        app_obstacle_free(painter->memory, &painter->obstacles[i]);
    pl_memory_free(painter->memory, painter->subjects);
    pl_memory_free(painter->memory, painter->obstacles);
    pl_draw_destroy(painter->draw);
    pl_memory_free(painter->memory, painter->pixels);
    pl_memory_free(painter->memory, painter);
}

/* ---- Subjects ---------------------------------------------------------------------------------- */

static bool shows_surface(const app_painter *painter, const app_subject *subject)
{
    return painter->surface && subject->triangle_count > 0;
}

/* A body without a surface shows its particles, whatever was asked for. */
static bool shows_particles(const app_painter *painter, const app_subject *subject)
{
    return subject->particle_count > 0 && (painter->particles || painter->graph ||
                                           (painter->surface && subject->triangle_count == 0));
}

static bool shows_edges(const app_painter *painter, const app_subject *subject)
{
    return subject->edge_count > 0 && (painter->graph || subject->lines_only);
}

/* Neighbours are easier to tell apart when they are not all of one shade. */
static void shade_particles(app_subject *subject)
{
    pl_rng rng = pl_rng_make(7);
    for (size_t i = 0; i < (size_t)subject->particle_count; i++) {
        float shade = pl_random_between(&rng, 0.72f, 1.28f);
        for (size_t k = 0; k < 3; k++)
            subject->colours[4 * i + k] = fminf(subject->paint.colour[k] * shade, 1);
        subject->colours[4 * i + 3] = 1;
    }
}

/* A look that says nothing, as most readers make it up, leaves the palette its say. */
static bool look_is_plain(const pl_look *look)
{
    return !look || (!look->colours && look->material_count == 0);
}

static int dress(app_painter *painter, app_subject *subject, int index)
{
    pl_error error = {0};
    subject->paint = pl_palette(index);
    shade_particles(subject);
    if (!shows_surface(painter, subject))
        return -1;
    const pl_draw_surface_def def = {.vertex_count = subject->vertex_count,
                                     .triangle_count = subject->triangle_count,
                                     .rest = subject->vertices,
                                     .triangles = subject->triangles,
                                     .paint = subject->paint,
                                     .look = look_is_plain(subject->look) ? NULL : subject->look};
    pl_status status = pl_draw_surface_create(painter->draw, &def, &subject->surface, &error);
    return status == PL_OK ? -1 : fail(status, &error);
}

static int make_room(app_painter *painter, int count)
{
    painter->subjects = PL_NEW(painter->memory, app_subject, count);
    return painter->subjects ? -1 : fail(PL_ERROR_MEMORY, &(pl_error){0});
}

static int take_colliders(app_painter *painter, const pl_play *play)
{
    int count = play->scene->collider_count;
    pl_error error = {0};
    painter->obstacles = PL_NEW(painter->memory, app_obstacle, count);
    if (!painter->obstacles)
        return fail(PL_ERROR_MEMORY, &error);
    for (int i = 0; i < count; i++) {
        app_obstacle *obstacle = &painter->obstacles[painter->obstacle_count++];
        pl_status status = app_obstacle_of_collider(painter->memory, play, i, obstacle);
        if (status == PL_OK)
            status = app_obstacle_dress(obstacle, painter->draw, &error);
        if (status != PL_OK)
            return fail(status, &error);
    }
    return -1;
}

int app_painter_take_play(app_painter *painter, const pl_play *play)
{
    int result = make_room(painter, play->body_count);
    for (int i = 0; i < play->body_count && result < 0; i++) {
        app_subject *subject = &painter->subjects[painter->subject_count++];
        pl_status status = app_subject_of_model(painter->memory, play->bodies[i].model, subject);
        result = status == PL_OK ? dress(painter, subject, i) : fail(status, &(pl_error){0});
    }
    return result < 0 ? take_colliders(painter, play) : result;
}

int app_painter_take_model(app_painter *painter, const struct pl_model *model)
{
    int result = make_room(painter, 1);
    if (result >= 0)
        return result;
    painter->subject_count = 1;
    pl_status status = app_subject_of_model(painter->memory, model, painter->subjects);
    return status == PL_OK ? dress(painter, painter->subjects, 0) : fail(status, &(pl_error){0});
}

int app_painter_take_mesh(app_painter *painter, const pl_mesh *mesh)
{
    int result = make_room(painter, 1);
    if (result >= 0)
        return result;
    painter->subject_count = 1;
    pl_status status = app_subject_of_mesh(painter->memory, mesh, painter->subjects);
    return status == PL_OK ? dress(painter, painter->subjects, 0) : fail(status, &(pl_error){0});
}

static int follow(app_painter *painter, const pl_play *play)
{
    for (int i = 0; play && i < painter->subject_count; i++) {
        app_subject *subject = &painter->subjects[i];
        pl_status status =
            app_subject_follow(subject, play, i, shows_surface(painter, subject),
                               shows_particles(painter, subject) || shows_edges(painter, subject));
        if (status != PL_OK)
            return fail(status, &(pl_error){0});
    }
    for (int i = 0; play && i < painter->obstacle_count; i++) {
        pl_status status = app_obstacle_follow(&painter->obstacles[i], play, i);
        if (status != PL_OK)
            return fail(status, &(pl_error){0});
    }
    return -1;
}

/* ---- Looking ----------------------------------------------------------------------------------- */

static void add_point(app_painter *painter, const double point[3], double radius)
{
    pl_framing_add(&painter->framing, point, radius);
    for (int k = 0; k < 3; k++) {
        painter->lower[k] = fmin(painter->lower[k], point[k] - radius);
        painter->upper[k] = fmax(painter->upper[k], point[k] + radius);
    }
}

static void add_subject(app_painter *painter, const app_subject *subject)
{
    if (shows_surface(painter, subject) || subject->lines_only)
        for (size_t i = 0; i < (size_t)subject->vertex_count; i++)
            add_point(painter, subject->vertices + 3 * i, 0);
    if (shows_particles(painter, subject))
        for (size_t i = 0; i < (size_t)subject->particle_count; i++) {
            const double *radii = subject->radii + 3 * i;
            double radius = fmax(fmax(radii[0], radii[1]), radii[2]);
            add_point(painter, subject->positions + 3 * i, painter->graph ? radius * 0.5 : radius);
        }
}

/* A plane that lies level, its outside up, is the ground of the picture. */
static bool is_floor(const app_obstacle *obstacle)
{
    double normal[3];
    if (!obstacle->is_plane)
        return false;
    app_obstacle_normal(obstacle, normal);
    return normal[1] > 0.9999;
}

/* The highest floor; false where there is none. */
static bool find_floor(const app_painter *painter, double *height)
{
    bool any = false;
    for (int i = 0; i < painter->obstacle_count; i++) {
        const app_obstacle *obstacle = &painter->obstacles[i];
        if (!is_floor(obstacle) || (any && obstacle->position[1] <= *height))
            continue;
        *height = obstacle->position[1];
        any = true;
    }
    return any;
}

static double diagonal(const double lower[3], const double upper[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    return sqrt(square);
}

/* Colliders are seen in whole where they are near the bodies; what is far away or large would make these small. */
static void add_solid(app_painter *painter, const app_obstacle *obstacle)
{
    double far = NEARBY * diagonal(painter->lower, painter->upper);
    for (size_t i = 0; i < 3 * (size_t)obstacle->vertex_count; i++)
        if (!(obstacle->vertices[i] >= painter->lower[i % 3] - far &&
              obstacle->vertices[i] <= painter->upper[i % 3] + far))
            return;
    for (size_t i = 0; i < (size_t)obstacle->vertex_count; i++)
        pl_framing_add(&painter->framing, obstacle->vertices + 3 * i, 0);
}

/* The part of a plane that is opposite to the bodies: the floor under them, so that one sees how high they are. */
static void add_plane(app_painter *painter, const app_obstacle *plane)
{
    double normal[3], points[8][3], nearest = INFINITY;
    app_obstacle_normal(plane, normal);
    for (int i = 0; i < 8; i++) {
        double before = 0;
        for (int k = 0; k < 3; k++) {
            points[i][k] = i >> k & 1 ? painter->upper[k] : painter->lower[k];
            before += normal[k] * (points[i][k] - plane->position[k]);
        }
        for (int k = 0; k < 3; k++)
            points[i][k] -= before * normal[k];
        nearest = fmin(nearest, before);
    }
    if (nearest > 0 && nearest < NEARBY * diagonal(painter->lower, painter->upper))
        for (int i = 0; i < 8; i++)
            pl_framing_add(&painter->framing, points[i], 0);
}

int app_painter_see(app_painter *painter, const pl_play *play)
{
    int result = follow(painter, play);
    if (result >= 0)
        return result;
    for (int i = 0; i < painter->subject_count; i++)
        add_subject(painter, &painter->subjects[i]);
    for (int i = 0; i < painter->obstacle_count; i++)
        (painter->obstacles[i].is_plane ? add_plane : add_solid)(painter, &painter->obstacles[i]);
    return -1;
}

/* ---- Painting ---------------------------------------------------------------------------------- */

/* Beside a graph particles are drawn smaller, or they would hide it. */
static pl_status paint_particles(app_painter *painter, app_subject *subject)
{
    double part = painter->graph ? 0.45 : 1, least = painter->graph ? 0.07 * subject->spacing : 0;
    size_t count = 3 * (size_t)subject->particle_count;
    double *radii = PL_NEW(painter->memory, double, count);
    if (!radii)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        radii[i] = fmax(part * subject->radii[i], least);
    pl_status status =
        pl_draw_ellipsoids(painter->draw, subject->particle_count, subject->positions,
                           subject->turned, radii, subject->colours, &subject->paint);
    pl_memory_free(painter->memory, radii);
    return status;
}

static pl_status paint_subject(app_painter *painter, app_subject *subject)
{
    bool inside = shows_particles(painter, subject) || shows_edges(painter, subject);
    if (shows_particles(painter, subject))
        PL_TRY(paint_particles(painter, subject));
    if (shows_edges(painter, subject)) {
        pl_paint dark = pl_paint_from_srgb(0x44525F, 0.5f);
        int count = app_subject_edges(subject);
        PL_TRY(pl_draw_segments(painter->draw, count, subject->ends, 0.03 * subject->spacing, NULL,
                                &dark));
    }
    if (subject->surface)
        PL_TRY(pl_draw_mesh(painter->draw, subject->surface, subject->vertices,
                            inside ? SEEN_THROUGH : 1));
    return PL_OK;
}

/* A plane is drawn as far as there is something to see, and not from behind, where it would hide it. */
static pl_status paint_plane(app_painter *painter, app_obstacle *plane, const pl_draw_view *view)
{
    double lower[3], upper[3], normal[3], before = 0;
    double margin = PLANE_MARGIN * diagonal(view->lower, view->upper);
    app_obstacle_normal(plane, normal);
    for (int k = 0; k < 3; k++) {
        lower[k] = view->lower[k] - margin;
        upper[k] = view->upper[k] + margin;
        before += normal[k] * (view->camera.eye[k] - plane->position[k]);
    }
    if (is_floor(plane) || before <= 0 || !app_obstacle_cut(plane, lower, upper))
        return PL_OK;
    return pl_draw_mesh(painter->draw, plane->surface, plane->vertices,
                        normal[1] > WALL ? 1 : WALL_OPACITY);
}

static pl_status paint_obstacle(app_painter *painter, app_obstacle *obstacle,
                                const pl_draw_view *view)
{
    if (obstacle->is_plane)
        return paint_plane(painter, obstacle, view);
    return obstacle->surface ? pl_draw_mesh(painter->draw, obstacle->surface, obstacle->vertices, 1)
                             : PL_OK;
}

int app_painter_paint(app_painter *painter, const pl_play *play)
{
    pl_error error = {0};
    pl_draw_view view;
    int result = painter->framing.any ? follow(painter, play) : app_painter_see(painter, play);
    if (result >= 0)
        return result;
    pl_status status = pl_draw_view_of(&painter->framing, &view, &error);
    if (status == PL_OK && painter->has_camera)
        view.camera = painter->camera;
    if (status == PL_OK) {
        find_floor(painter, &view.ground_height);
        status = pl_draw_begin(painter->draw, &view, &error);
    }
    for (int i = 0; i < painter->obstacle_count && status == PL_OK; i++)
        status = paint_obstacle(painter, &painter->obstacles[i], &view);
    for (int i = 0; i < painter->subject_count && status == PL_OK; i++)
        status = paint_subject(painter, &painter->subjects[i]);
    if (status == PL_OK)
        status = pl_draw_finish(painter->draw, painter->pixels, &error);
    return status == PL_OK ? -1 : fail(status, &error);
}

const uint8_t *app_painter_pixels(const app_painter *painter, int *width, int *height)
{
    *width = painter->width;
    *height = painter->height;
    return painter->pixels;
}

static void write_bytes(void *user, const char *bytes, size_t size)
{
    pl_output_write(user, bytes, size);
}

int app_painter_write_png(app_painter *painter, const char *path)
{
    pl_output *output;
    pl_trouble trouble;
    pl_error error = {0};
    if (pl_output_open(painter->memory, path, &output, &trouble) != PL_OK)
        return app_fail(&trouble);
    pl_status status = pl_png_encode(painter->memory, painter->width, painter->height,
                                     painter->pixels, write_bytes, output, &error);
    if (status != PL_OK) {
        pl_output_drop(output);
        return fail(status, &error);
    }
    return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

#else

int app_painter_open(pl_memory *memory, const char *command, const app_look *look,
                     app_painter **painter)
{
    (void)memory, (void)command, (void)look;
    *painter = NULL;
    fputs("pliant: pictures need libepoxy, EGL and libpng, and this program was built without them "
          "(Debian: libepoxy-dev libegl-dev libpng-dev)\n",
          stderr);
    return APP_FAILED;
}

void app_painter_close(app_painter *painter)
{
    (void)painter;
}

int app_painter_take_play(app_painter *painter, const pl_play *play)
{
    (void)painter, (void)play;
    return APP_FAILED;
}

int app_painter_take_model(app_painter *painter, const struct pl_model *model)
{
    (void)painter, (void)model;
    return APP_FAILED;
}

int app_painter_take_mesh(app_painter *painter, const pl_mesh *mesh)
{
    (void)painter, (void)mesh;
    return APP_FAILED;
}

int app_painter_see(app_painter *painter, const pl_play *play)
{
    (void)painter, (void)play;
    return APP_FAILED;
}

int app_painter_paint(app_painter *painter, const pl_play *play)
{
    (void)painter, (void)play;
    return APP_FAILED;
}

const uint8_t *app_painter_pixels(const app_painter *painter, int *width, int *height)
{
    (void)painter;
    *width = *height = 0;
    return NULL;
}

int app_painter_write_png(app_painter *painter, const char *path)
{
    (void)painter, (void)path;
    return APP_FAILED;
}

#endif
