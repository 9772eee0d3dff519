#include "painter.h"

#include <stdio.h>

#ifdef PLIANT_HAVE_DRAW

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "draw/legend.h"
#include "draw/png.h"
#include "io/file.h"
#include "painter_parts.h"

enum { SAMPLES = 4 };

/* Planes steeper than this (height of the normal) are walls: one can see through them, and they
   throw no shadow on what they enclose. */
#define WALL 0.25
#define WALL_OPACITY 0.3f

/* How far planes reach beyond what is seen: part of the diagonal. */
#define PLANE_MARGIN 0.15

/* ---- Life ------------------------------------------------------------------------------------ */

int app_painter_fail(pl_status status, const pl_error *error)
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
        return app_painter_fail(status, &error);
    painter->pixels =
        PL_NEW(painter->memory, uint8_t, 4 * (size_t)painter->width * (size_t)painter->height);
    return painter->pixels ? -1 : app_painter_fail(PL_ERROR_MEMORY, &error);
}

int app_painter_open(pl_memory *memory, const char *command, const app_look *look,
                     app_painter **painter)
{
    *painter = NULL;
    app_painter *made = PL_NEW(memory, app_painter, 1);
    if (!made)
        return app_painter_fail(PL_ERROR_MEMORY, &(pl_error){0});
    made->memory = memory;
    made->command = command;
    made->viewpoint.frames = pl_array_make(memory, sizeof(pl_framing));
    int result = app_painter_read_look(command, look, made);
    if (result < 0)
        result = open_draw(made);
    if (result >= 0) {
        app_painter_close(made);
        return result;
    }
    app_viewpoint_begin(&made->viewpoint, (double)made->width / made->height);
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
    pl_array_free(&painter->viewpoint.frames);
    pl_draw_destroy(painter->draw);
    pl_memory_free(painter->memory, painter->pixels);
    pl_memory_free(painter->memory, painter);
}

/* ---- Subjects -------------------------------------------------------------------------------- */

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

/* What the overlays need beyond the usual. */
static pl_status take_overlays(app_painter *painter, app_subject *subject, const pl_play *play,
                               int body)
{
    if (painter->show.tets)
        PL_TRY(app_subject_take_tets(painter->memory, subject, play, body));
    if (painter->show.stress && subject->model)
        PL_TRY(app_subject_take_stress(painter->memory, subject, play, body));
    return PL_OK;
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
    if (!app_shows_surface(painter, subject))
        return -1;
    const pl_draw_surface_def def = {.vertex_count = subject->vertex_count,
                                     .triangle_count = subject->triangle_count,
                                     .rest = subject->vertices,
                                     .triangles = subject->triangles,
                                     .paint = subject->paint,
                                     .look = look_is_plain(subject->look) ? NULL : subject->look};
    pl_status status = pl_draw_surface_create(painter->draw, &def, &subject->surface, &error);
    return status == PL_OK ? -1 : app_painter_fail(status, &error);
}

static int make_room(app_painter *painter, int count)
{
    painter->subjects = PL_NEW(painter->memory, app_subject, count);
    return painter->subjects ? -1 : app_painter_fail(PL_ERROR_MEMORY, &(pl_error){0});
}

static int take_colliders(app_painter *painter, const pl_play *play)
{
    int count = play->scene->collider_count;
    pl_error error = {0};
    painter->obstacles = PL_NEW(painter->memory, app_obstacle, count);
    if (!painter->obstacles)
        return app_painter_fail(PL_ERROR_MEMORY, &error);
    for (int i = 0; i < count; i++) {
        app_obstacle *obstacle = &painter->obstacles[painter->obstacle_count++];
        pl_status status = app_obstacle_of_collider(painter->memory, play, i, obstacle);
        if (status == PL_OK)
            status = app_obstacle_dress(obstacle, painter->draw, &error);
        if (status != PL_OK)
            return app_painter_fail(status, &error);
    }
    return -1;
}

int app_painter_take_play(app_painter *painter, const pl_play *play)
{
    int result = app_viewpoint_choose(painter, play->scene);
    if (result < 0)
        result = make_room(painter, play->body_count);
    for (int i = 0; i < play->body_count && result < 0; i++) {
        app_subject *subject = &painter->subjects[painter->subject_count++];
        pl_status status = app_subject_of_model(painter->memory, play->bodies[i].model, subject);
        if (status == PL_OK)
            status = take_overlays(painter, subject, play, i);
        result =
            status == PL_OK ? dress(painter, subject, i) : app_painter_fail(status, &(pl_error){0});
    }
    return result < 0 ? take_colliders(painter, play) : result;
}

/* One thing at rest: what there is of it, then its looks. */
static int take_one(app_painter *painter, const struct pl_model *model, const pl_mesh *mesh)
{
    int result = app_viewpoint_choose(painter, NULL);
    if (result < 0)
        result = make_room(painter, 1);
    if (result >= 0)
        return result;
    app_subject *subject = painter->subjects;
    painter->subject_count = 1;
    pl_status status = model ? app_subject_of_model(painter->memory, model, subject)
                             : app_subject_of_mesh(painter->memory, mesh, subject);
    if (status == PL_OK)
        status = take_overlays(painter, subject, NULL, 0);
    return status == PL_OK ? dress(painter, subject, 0) : app_painter_fail(status, &(pl_error){0});
}

int app_painter_take_model(app_painter *painter, const struct pl_model *model)
{
    return take_one(painter, model, NULL);
}

int app_painter_take_mesh(app_painter *painter, const pl_mesh *mesh)
{
    return take_one(painter, NULL, mesh);
}

static int follow(app_painter *painter, const pl_play *play)
{
    for (int i = 0; play && i < painter->subject_count; i++) {
        app_subject *subject = &painter->subjects[i];
        pl_status status = painter->show.clusters
                               ? app_subject_take_clusters(painter->memory, subject, play, i)
                               : PL_OK;
        bool particles = app_shows_particles(painter, subject) ||
                         app_shows_edges(painter, subject) || painter->show.tets ||
                         painter->show.stress;
        if (status == PL_OK)
            status = app_subject_follow(subject, play, i, app_shows_surface(painter, subject),
                                        particles);
        if (status != PL_OK)
            return app_painter_fail(status, &(pl_error){0});
    }
    for (int i = 0; play && i < painter->obstacle_count; i++) {
        pl_status status = app_obstacle_follow(&painter->obstacles[i], play, i);
        if (status != PL_OK)
            return app_painter_fail(status, &(pl_error){0});
    }
    return -1;
}

/* ---- Looking --------------------------------------------------------------------------------- */

int app_painter_see(app_painter *painter, const pl_play *play)
{
    int result = follow(painter, play);
    if (result >= 0)
        return result;
    app_stress_see(painter);
    return app_viewpoint_see(painter, play);
}

/* Frames as they were seen, or already the smooth path made of them. */
void app_painter_save(const app_painter *painter, app_bytes *bytes)
{
    const app_viewpoint *v = &painter->viewpoint;
    app_bytes_put(bytes, &v->framing, sizeof v->framing);
    app_bytes_put(bytes, v->lower, sizeof v->lower);
    app_bytes_put(bytes, v->upper, sizeof v->upper);
    app_bytes_put(bytes, painter->stress.boxes, sizeof painter->stress.boxes);
    app_bytes_put_u64(bytes, v->smoothed);
    app_bytes_put_u64(bytes, v->frames.count);
    if (v->frames.count)
        app_bytes_put(bytes, v->frames.data, v->frames.count * v->frames.size);
}

void app_painter_restore(app_painter *painter, app_bytes *bytes)
{
    app_viewpoint *v = &painter->viewpoint;
    app_bytes_get(bytes, &v->framing, sizeof v->framing);
    app_bytes_get(bytes, v->lower, sizeof v->lower);
    app_bytes_get(bytes, v->upper, sizeof v->upper);
    app_bytes_get(bytes, painter->stress.boxes, sizeof painter->stress.boxes);
    v->smoothed = app_bytes_get_u64(bytes) != 0;
    uint64_t count = app_bytes_get_u64(bytes);
    const char *data =
        count <= SIZE_MAX / v->frames.size ? app_bytes_take(bytes, count * v->frames.size) : NULL;
    v->frames.count = 0;
    void *room = data && count ? pl_array_add(&v->frames, count) : NULL;
    if (room)
        memcpy(room, data, count * v->frames.size);
    else if (count)
        bytes->failed = true;
}

/* ---- Painting -------------------------------------------------------------------------------- */

/* A plane is drawn as far as there is something to see, and not from behind, where it would hide
   it. */
static pl_status paint_plane(app_painter *painter, app_obstacle *plane, const pl_draw_view *view)
{
    const pl_framing *seen = &painter->viewpoint.framing;
    double lower[3], upper[3], normal[3], before = 0;
    double margin = PLANE_MARGIN * app_diagonal(seen->lower, seen->upper);
    app_obstacle_normal(plane, normal);
    for (int k = 0; k < 3; k++) {
        lower[k] = seen->lower[k] - margin;
        upper[k] = seen->upper[k] + margin;
        before += normal[k] * (view->camera.eye[k] - plane->position[k]);
    }
    if (app_is_floor(plane) || before <= 0 || !app_obstacle_cut(plane, lower, upper))
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

static pl_status paint_all(app_painter *painter, const pl_play *play, pl_error *error)
{
    pl_draw_view view;
    PL_TRY(app_viewpoint_find(painter, play, &view, error));
    PL_TRY(pl_draw_begin(painter->draw, &view, error));
    for (int i = 0; i < painter->obstacle_count; i++)
        if (!painter->obstacles[i].gone)
            PL_TRY(paint_obstacle(painter, &painter->obstacles[i], &view));
    for (int i = 0; i < painter->subject_count; i++)
        if (!painter->subjects[i].gone)
            PL_TRY(app_paint_subject(painter, &painter->subjects[i]));
    if (painter->show.contacts && play)
        PL_TRY(app_paint_contacts(painter, play, &view));
    PL_TRY(pl_draw_finish(painter->draw, painter->pixels, error));
    if (painter->show.stress)
        pl_legend_draw(painter->pixels, painter->width, painter->height, app_stress_scale(painter),
                       "Pa");
    return PL_OK;
}

int app_painter_paint(app_painter *painter, const pl_play *play)
{
    pl_error error = {0};
    bool seen = painter->viewpoint.framing.any;
    int result = seen ? follow(painter, play) : app_painter_see(painter, play);
    if (result >= 0)
        return result;
    pl_status status = paint_all(painter, play, &error);
    return status == PL_OK ? -1 : app_painter_fail(status, &error);
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
        return app_painter_fail(status, &error);
    }
    return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

#else

int app_check_look(const char *command, const app_look *look)
{
    (void)command, (void)look;
    return -1;
}

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

void app_painter_save(const app_painter *painter, app_bytes *bytes)
{
    (void)painter, (void)bytes;
}

void app_painter_restore(app_painter *painter, app_bytes *bytes)
{
    (void)painter, (void)bytes;
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
