#include "player.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/outputs.h"
#include "video.h"

/* ---- Outputs --------------------------------------------------------------------------------- */

typedef enum sink_kind {
    SINK_LINES,   /* .jsonl: the state, a line per frame */
    SINK_SURFACE, /* .obj */
    SINK_PICTURE, /* .png */
    SINK_FILM     /* .mp4, .gif */
} sink_kind;

typedef struct sink {
    const char *name;
    sink_kind kind;
    bool sequence;     /* one file per frame */
    pl_output *output; /* lines: open for the whole run */
    app_video *video;  /* films: the same */
    int stride;        /* films: every how many frames a picture is taken */
} sink;

typedef struct session {
    app_player *player;
    pl_play *play;
    const char *run_name; /* NULL = the only one */
    app_totals totals;
    sink sinks[APP_LIST_MAX];
    int sink_count;
    app_painter *painter; /* NULL = no pictures are wanted */
    uint64_t painted;     /* the frame after the one whose picture the painter has; 0 = none */
} session;

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool find_kind(const char *name, sink_kind *kind)
{
    static const struct {
        const char *ending;
        sink_kind kind;
    } known[] = {{".jsonl", SINK_LINES},
                 {".obj", SINK_SURFACE},
                 {".png", SINK_PICTURE},
                 {".mp4", SINK_FILM},
                 {".gif", SINK_FILM}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(name, known[i].ending)) {
            *kind = known[i].kind;
            return true;
        }
    *kind = SINK_LINES;
    return strncmp(name, "/dev/", 5) == 0;
}

static int sort_outputs(session *s)
{
    const app_list *outputs = &s->player->outputs;
    pl_trouble trouble;
    for (int i = 0; i < outputs->count; i++) {
        const char *name = outputs->items[i];
        sink *made = &s->sinks[s->sink_count++];
        *made = (sink){.name = name};
        for (int k = 0; k < i; k++)
            if (strcmp(outputs->items[k], name) == 0)
                return app_usage_error("run", "%s is named twice as an output", name);
        if (!find_kind(name, &made->kind))
            return app_usage_error("run",
                                   "%s: the ending says what to write; known are .jsonl and .obj, "
                                   ".png, .mp4 and .gif (frame_%%04d.obj or .png for a sequence)",
                                   name);
        if ((made->kind == SINK_SURFACE || made->kind == SINK_PICTURE) &&
            pl_pattern_check(name, &made->sequence, &trouble) != PL_OK)
            return app_fail(&trouble);
    }
    return -1;
}

static bool wants_pictures(const session *s)
{
    for (int i = 0; i < s->sink_count; i++)
        if (s->sinks[i].kind == SINK_PICTURE || s->sinks[i].kind == SINK_FILM)
            return true;
    return false;
}

/* A film runs at the speed of life: where the steps are shorter than a screen's pictures, some are left out. */
static int open_film(session *s, sink *to)
{
    int width, height;
    app_painter_pixels(s->painter, &width, &height);
    double rate = 1 / s->play->settings.step, most = ends_with(to->name, ".gif") ? 34 : 61;
    to->stride = rate > most ? (int)fmin(ceil(rate / most), 1e6) : 1;
    return app_video_open(s->player->memory, to->name, width, height, fmax(rate / to->stride, 0.01),
                          !s->player->look.size, &to->video);
}

/* Lines are written as they come; a line's file is opened before the first frame, so that a
   directory that cannot be written ends the run before it has begun. */
static int open_outputs(session *s)
{
    pl_trouble trouble;
    int result = -1;
    if (wants_pictures(s)) {
        result = app_painter_open(s->player->memory, "run", &s->player->look, &s->painter);
        if (result < 0)
            result = app_painter_take_play(s->painter, s->play);
    }
    for (int i = 0; i < s->sink_count && result < 0; i++) {
        sink *to = &s->sinks[i];
        if (to->kind == SINK_FILM)
            result = open_film(s, to);
        else if (to->kind == SINK_LINES &&
                 pl_output_open(s->player->memory, to->name, &to->output, &trouble))
            result = app_fail(&trouble);
    }
    return result;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static int paint(session *s)
{
    int result = s->painted == s->play->frame + 1 ? -1 : app_painter_paint(s->painter, s->play);
    if (result < 0)
        s->painted = s->play->frame + 1;
    return result;
}

static int write_picture(session *s, const sink *to)
{
    char name[PATH_MAX];
    if (to->sequence && pl_pattern_name(to->name, s->play->frame, name, sizeof name) != PL_OK)
        return app_usage_error("run", "%s: the name is too long", to->name);
    int result = paint(s);
    return result < 0 ? app_painter_write_png(s->painter, to->sequence ? name : to->name) : result;
}

static int write_film(session *s, const sink *to)
{
    int width, height;
    if (s->play->frame % (uint64_t)to->stride != 0)
        return -1;
    int result = paint(s);
    return result < 0 ? app_video_frame(to->video, app_painter_pixels(s->painter, &width, &height))
                      : result;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int write_surface(session *s, const sink *to)
{
    char name[PATH_MAX];
    pl_output *output;
    pl_trouble trouble;
    const char *path = to->name;
    if (to->sequence) {
        if (pl_pattern_name(to->name, s->play->frame, name, sizeof name) != PL_OK)
            return app_usage_error("run", "%s: the name is too long", to->name);
        path = name;
    }
    if (pl_output_open(s->player->memory, path, &output, &trouble) != PL_OK)
        return app_fail(&trouble);
    pl_status status = pl_write_obj(output, s->play);
    if (status != PL_OK) {
        pl_output_drop(output);
        pl_trouble_set(&trouble, status, path, "cannot be written: %s", pl_status_text(status));
        return app_fail(&trouble);
    }
    return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

static int write_line(session *s, const sink *to)
{
    pl_trouble trouble;
    pl_status status = pl_write_state_line(to->output, s->play, s->run_name);
    if (status != PL_OK) {
        pl_trouble_set(&trouble, status, to->name, "cannot be written: %s", pl_status_text(status));
        return app_fail(&trouble);
    }
    /* The message comes from closing it. */
    return pl_output_is_good(to->output) ? -1 : APP_FAILED;
}

static int write_frame(session *s)
{
    int result = -1;
    for (int i = 0; i < s->sink_count && result < 0; i++) {
        sink *to = &s->sinks[i];
        if (to->kind == SINK_LINES)
            result = write_line(s, to);
        else if (to->kind == SINK_FILM)
            result = write_film(s, to);
        else if (to->sequence)
            result = to->kind == SINK_PICTURE ? write_picture(s, to) : write_surface(s, to);
    }
    return result;
}

/* Single files show the last frame. */
static int write_last(session *s)
{
    int result = -1;
    for (int i = 0; i < s->sink_count && result < 0; i++) {
        const sink *to = &s->sinks[i];
        if (to->kind == SINK_SURFACE && !to->sequence)
            result = write_surface(s, to);
        if (to->kind == SINK_PICTURE && !to->sequence)
            result = write_picture(s, to);
    }
    return result;
}

/* Published when the run came to an end, even a shortened one; dropped when something failed. */
static int close_outputs(session *s, bool publish)
{
    int result = -1;
    for (int i = 0; i < s->sink_count; i++) {
        sink *to = &s->sinks[i];
        pl_trouble trouble;
        int closed = app_video_close(to->video, publish);
        result = closed >= 0 ? closed : result;
        to->video = NULL;
        if (!to->output)
            continue;
        if ((publish || !pl_output_is_good(to->output))) {
            if (pl_output_publish(to->output, &trouble) != PL_OK)
                result = app_fail(&trouble);
        } else {
            pl_output_drop(to->output);
        }
        to->output = NULL;
    }
    app_painter_close(s->painter);
    s->painter = NULL;
    return result;
}

/* ---- One run --------------------------------------------------------------------------------- */

static int build(session *s, int run)
{
    pl_trouble trouble;
    if (pl_play_create(s->player->scene, run, &s->player->options, &s->play, &trouble) == PL_OK)
        return -1;
    return app_fail(&trouble);
}

static int fail_status(pl_status status, const char *what)
{
    fprintf(stderr, "pliant: %s: %s\n", what, pl_status_text(status));
    return APP_FAILED;
}

/* The state through bytes into a world built anew: the run must go on as if nothing had
   happened. */
static int pass_through_snapshot(session *s, int run)
{
    pl_memory *memory = s->player->memory;
    pl_play *old = s->play;
    size_t size = 0;
    pl_status status = pl_world_save(old->world, NULL, 0, &size);
    void *bytes = status == PL_OK ? pl_memory_alloc(memory, size, 1) : NULL;
    if (status == PL_OK)
        status = bytes ? pl_world_save(old->world, bytes, size, &size) : PL_ERROR_MEMORY;
    int result =
        status == PL_OK ? build(s, run) : fail_status(status, "the snapshot could not be taken");
    if (result < 0) {
        pl_error error = {0};
        s->play->frame = old->frame;
        status = pl_world_restore(s->play->world, bytes, size, s->play->models,
                                  s->play->model_count, &error);
        if (status != PL_OK)
            result = fail_status(status,
                                 error.text[0] ? error.text : "the snapshot could not be restored");
    }
    if (s->play != old)
        pl_play_destroy(old);
    pl_memory_free(memory, bytes);
    return result;
}

static void print_hash(const session *s)
{
    if (s->player->json)
        printf("%s\"%016" PRIx64 "\"", s->play->frame ? "," : "", pl_world_hash(s->play->world));
    else
        printf("%" PRIu64 " %016" PRIx64 "\n", s->play->frame, pl_world_hash(s->play->world));
}

/* Everything that happens with a frame once it is there. */
static int finish_frame(session *s)
{
    if (s->player->hash)
        print_hash(s);
    int result = write_frame(s);
    if (result < 0 && s->player->hash && !app_stdout_is_good())
        result = APP_FAILED;
    return result;
}

/* Where a camera must stand to see the whole run is known once it is over; so it is played twice, which costs little
   beside the pictures, and gives the same. */
static int look_ahead(session *s, int run, int frames)
{
    bool wanted = false;
    for (int i = 0; i < s->sink_count; i++)
        wanted |= s->sinks[i].kind == SINK_FILM ||
                  (s->sinks[i].kind == SINK_PICTURE && s->sinks[i].sequence);
    if (!wanted)
        return -1;
    pl_trouble trouble;
    pl_play *play;
    if (pl_play_create(s->player->scene, run, &s->player->options, &play, &trouble) != PL_OK)
        return app_fail(&trouble);
    app_progress progress;
    app_progress_begin(&progress, "looking ahead", (uint64_t)frames,
                       !s->player->quiet && !s->player->no_progress);
    int result = app_painter_see(s->painter, play);
    while (result < 0 && play->frame < (uint64_t)frames && !app_signal()) {
        pl_status status = pl_play_step(play, NULL);
        result = status == PL_OK ? app_painter_see(s->painter, play)
                                 : fail_status(status, "the step failed");
        app_progress_frame(&progress, play->frame);
    }
    app_progress_end(&progress);
    pl_play_destroy(play);
    return result;
}

static int play_frames(session *s, int run, int frames)
{
    int seen = look_ahead(s, run, frames);
    if (seen >= 0)
        return seen;
    app_progress progress;
    app_progress_begin(&progress, s->player->title, (uint64_t)frames,
                       !s->player->quiet && !s->player->no_progress);
    int result = finish_frame(s);
    while (result < 0 && s->play->frame < (uint64_t)frames && !app_signal()) {
        if (s->play->frame == (uint64_t)s->player->snapshot_at &&
            (result = pass_through_snapshot(s, run)) >= 0)
            break;
        pl_report report = {0};
        pl_status status = pl_play_step(s->play, &report);
        if (status != PL_OK) {
            result = fail_status(status, "the step failed");
            break;
        }
        app_totals_add(&s->totals, &report);
        result = finish_frame(s);
        app_progress_frame(&progress, s->play->frame);
    }
    app_progress_end(&progress);
    return result < 0 ? write_last(s) : result;
}

static void print_run_json(const session *s)
{
    app_print_totals_json(&s->totals);
    printf(",\"time\":%.17g,\"hash\":\"%016" PRIx64 "\"", pl_world_time(s->play->world),
           pl_world_hash(s->play->world));
}

static void print_summary(const session *s)
{
    char title[256];
    snprintf(title, sizeof title, "%s%s%s", s->player->title, s->run_name ? ", " : "",
             s->run_name ? s->run_name : "");
    if (s->player->json)
        print_run_json(s);
    else if (!s->player->quiet)
        app_print_totals(&s->totals, s->play, title);
}

/* Builds, plays, reports. The outputs are opened by the first run, once everything could be
   built. */
static int play_run(session *s, int run, bool first)
{
    const pl_scene *scene = s->player->scene;
    s->totals = (app_totals){0};
    s->run_name = scene->run_count > 1 ? scene->runs[run].name : NULL;
    int result = build(s, run);
    if (result < 0 && first)
        result = open_outputs(s);
    if (result < 0) {
        if (s->player->json) {
            printf("%s{", first ? "" : ",");
            if (s->run_name) {
                printf("\"name\":");
                app_print_json_string(s->run_name);
                putchar(',');
            }
            if (s->player->hash)
                printf("\"hashes\":[");
        }
        int frames = s->player->frames >= 0 ? s->player->frames : s->play->settings.frames;
        result = play_frames(s, run, frames);
        if (s->player->json && s->player->hash)
            printf("],");
        if (result < 0)
            print_summary(s);
        if (s->player->json)
            putchar('}');
    }
    pl_play_destroy(s->play);
    s->play = NULL;
    return result;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int find_run(const app_player *player, int *run)
{
    const pl_scene *scene = player->scene;
    *run = -1;
    if (!player->run)
        return -1;
    for (int i = 0; i < scene->run_count; i++)
        if (scene->runs[i].name && strcmp(scene->runs[i].name, player->run) == 0)
            *run = i;
    if (*run >= 0)
        return -1;
    fprintf(stderr, "pliant: the scene has no run \"%s\"; it has", player->run);
    for (int i = 0; i < scene->run_count; i++)
        fprintf(stderr, "%s \"%s\"", i ? "," : "",
                scene->runs[i].name ? scene->runs[i].name : "(one without a name)");
    fputc('\n', stderr);
    return APP_BAD_INPUT;
}

static int check_outputs(const session *s, int only)
{
    for (int i = 0; i < s->sink_count; i++)
        if (s->sinks[i].kind != SINK_LINES && s->player->scene->run_count > 1 && only < 0)
            return app_usage_error(
                "run", "%s: the scene has %d runs; choose the one to write with --run NAME",
                s->sinks[i].name, s->player->scene->run_count);
    return -1;
}

int app_play(app_player *player)
{
    session s = {.player = player};
    int only, result = find_run(player, &only);
    if (result < 0)
        result = sort_outputs(&s);
    if (result < 0)
        result = check_outputs(&s, only);
    if (result >= 0)
        return result;
    int first = only >= 0 ? only : 0, last = only >= 0 ? only : player->scene->run_count - 1;
    if (player->json) {
        printf("{\"scene\":");
        app_print_json_string(player->title);
        printf(",\"simd\":%d,\"threads\":%d,\"runs\":[", pl_simd_width(),
               player->options.threads > 1 ? player->options.threads : 1);
    }
    for (int run = first; run <= last && result < 0 && !app_signal(); run++)
        result = play_run(&s, run, run == first);
    int closing = close_outputs(&s, result < 0);
    if (result < 0)
        result = closing;
    if (player->json)
        printf("]}\n");
    if (result < 0 && app_signal()) {
        fprintf(stderr, "pliant: interrupted; what was finished is written\n");
        result = app_signal() == 2 ? APP_INTERRUPTED : 128 + app_signal();
    }
    return app_finish(result < 0 ? APP_DONE : result);
}
