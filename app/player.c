#include "player.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "checkpoint.h"

#define CHECKPOINT_NS (UINT64_C(30) * 1000 * 1000 * 1000)

typedef struct session {
    app_player *player;
    pl_play *play;
    const char *run_name; /* NULL = the only one */
    int frames;           /* of this run */
    uint64_t played;      /* so many of them */
    app_totals totals;
    app_sinks sinks;
    bool any_hash; /* printed in this run */

    bool begun;       /* the outputs were opened, or were about to be */
    bool checkpoints; /* are made now and then */
    app_checkpoint checkpoint;
    uint64_t checked;    /* when the last one was made, or the run began; nanoseconds */
    bool kept;           /* one of this run is on the disk */
    uint64_t kept_frame; /* and is of this frame */
    app_bytes saved;     /* what --resume found; empty = nothing */
} session;

static app_stage stage_of(const session *s, const pl_report *report)
{
    return (app_stage){.memory = s->player->memory,
                       .play = s->play,
                       .run_name = s->run_name,
                       .report = report,
                       .frames = s->frames};
}

static int build(session *s, int run)
{
    pl_trouble trouble;
    if (pl_play_create(s->player->scene, run, &s->player->options, &s->play, &trouble) == PL_OK)
        return -1;
    return app_fail_scene(&trouble);
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
    pl_play *old = s->play;
    app_bytes bytes = {.memory = s->player->memory};
    int result = app_put_play(&bytes, old);
    if (result < 0)
        result = build(s, run);
    if (result < 0)
        result = app_get_play(&bytes, s->play);
    if (s->play != old)
        pl_play_destroy(old);
    app_bytes_free(&bytes);
    return result;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static int plan_checkpoints(session *s, int only)
{
    const app_player *player = s->player;
    bool asked = player->resume || player->checkpoint > 0;
    const char *option = player->resume ? "--resume" : "--checkpoint";
    if (player->output_count == 0)
        return asked ? app_usage_error(player->command, "%s is for runs with outputs (-o)", option)
                     : -1;
    const char *stubborn = app_sinks_stubborn(&s->sinks);
    if (stubborn)
        return asked ? app_usage_error(player->command,
                                       "%s: only files can be added to later, so %s cannot be used",
                                       stubborn, option)
                     : -1;
    s->checkpoints = player->checkpoint != 0;
    s->saved.memory = player->memory;
    return app_checkpoint_init(&s->checkpoint, player, only);
}

static int find_saved(session *s)
{
    bool found = false;
    int result = s->player->resume ? app_checkpoint_read(&s->checkpoint, &s->saved, &found) : -1;
    if (result < 0 && s->player->resume && !found && !s->player->quiet)
        fprintf(stderr, "pliant: there is no checkpoint (%s): starting from the beginning\n",
                s->checkpoint.path);
    s->kept = s->saved.data != NULL;
    app_keep_parts(s->kept);
    return result;
}

/* No checkpoint of an earlier run may be taken for one of this. */
static void forget_saved(session *s)
{
    app_bytes_free(&s->saved);
    s->saved.failed = false;
    s->kept = false;
    app_keep_parts(false);
    if (s->checkpoint.path[0])
        app_checkpoint_remove(&s->checkpoint);
}

static bool checkpoint_is_due(const session *s)
{
    if (!s->checkpoints || s->play->frame >= (uint64_t)s->frames || app_signal())
        return false;
    return s->player->checkpoint > 0 ? s->play->frame % (uint64_t)s->player->checkpoint == 0
                                     : pl_clock_ns() - s->checked >= CHECKPOINT_NS;
}

/* A checkpoint that cannot be written is no reason to end a run: the one before is still good. */
static int save_checkpoint(session *s, int run)
{
    app_bytes bytes = {.memory = s->player->memory};
    app_bytes_put_u64(&bytes, (uint64_t)run);
    app_bytes_put(&bytes, &s->totals, sizeof s->totals);
    int result = app_put_play(&bytes, s->play);
    if (result < 0)
        result = app_sinks_save(&s->sinks, &bytes);
    if (result < 0) {
        s->checkpoints = app_checkpoint_write(&s->checkpoint, &bytes) < 0;
        if (s->checkpoints) {
            s->kept = true;
            s->kept_frame = s->play->frame;
            app_keep_parts(true);
        } else {
            fprintf(stderr, "pliant: the run goes on without further checkpoints\n");
        }
    }
    app_bytes_free(&bytes);
    s->checked = pl_clock_ns();
    return result;
}

/* The first run of this process: from its beginning, or from where the one before was killed. */
static int begin(session *s)
{
    app_stage stage = stage_of(s, NULL);
    s->begun = true;
    if (!s->saved.data) {
        forget_saved(s);
        return app_sinks_open(&s->sinks, &stage, NULL);
    }
    app_bytes_get(&s->saved, &s->totals, sizeof s->totals);
    int result = app_get_play(&s->saved, s->play);
    s->kept_frame = result < 0 ? s->play->frame : 0;
    if (result < 0)
        result = app_sinks_open(&s->sinks, &stage, &s->saved);
    if (result < 0 && !s->player->quiet)
        fprintf(stderr, "pliant: going on from frame %" PRIu64 "\n", s->play->frame);
    app_bytes_free(&s->saved);
    return result;
}

/* ---- One run --------------------------------------------------------------------------------- */

static void print_hash(session *s)
{
    if (s->player->json)
        printf("%s\"%016" PRIx64 "\"", s->any_hash ? "," : "", pl_world_hash(s->play->world));
    else
        printf("%" PRIu64 " %016" PRIx64 "\n", s->play->frame, pl_world_hash(s->play->world));
    s->any_hash = true;
}

/* Everything that happens with a frame once it is there. */
static int finish_frame(session *s, const pl_report *report)
{
    app_stage stage = stage_of(s, report);
    if (s->player->hash)
        print_hash(s);
    int result = app_sinks_frame(&s->sinks, &stage);
    if (result < 0 && s->player->hash && !app_stdout_is_good())
        result = APP_FAILED;
    return result;
}

static int see_frames(session *s)
{
    app_progress progress;
    app_progress_begin(&progress, "looking ahead", 0, (uint64_t)s->frames,
                       !s->player->quiet && !s->player->no_progress);
    int result = app_sinks_see(&s->sinks, s->play);
    while (result < 0 && s->play->frame < (uint64_t)s->frames && !app_signal()) {
        pl_status status = pl_play_step(s->play, NULL);
        result = status == PL_OK ? app_sinks_see(&s->sinks, s->play)
                                 : fail_status(status, "the step failed");
        app_progress_frame(&progress, s->play->frame);
    }
    app_progress_end(&progress);
    return result;
}

/* Where a camera must stand to see the whole run is known once it is over; so it is played twice,
   which costs little beside the pictures, and gives the same. */
static int look_ahead(session *s)
{
    app_bytes start = {.memory = s->player->memory};
    if (!app_sinks_look_ahead(&s->sinks))
        return -1;
    int result = app_put_play(&start, s->play);
    if (result < 0)
        result = see_frames(s);
    if (result < 0)
        result = app_get_play(&start, s->play);
    app_bytes_free(&start);
    return result;
}

static int play_frame(session *s, int run)
{
    pl_report report = {0};
    int result = -1;
    if (s->play->frame == (uint64_t)s->player->snapshot_at)
        result = pass_through_snapshot(s, run);
    pl_status status = result < 0 ? pl_play_step(s->play, &report) : PL_OK;
    if (status != PL_OK)
        result = fail_status(status, "the step failed");
    if (result >= 0)
        return result;
    app_totals_add(&s->totals, &report);
    result = finish_frame(s, &report);
    return result < 0 && checkpoint_is_due(s) ? save_checkpoint(s, run) : result;
}

static int play_frames(session *s, int run, bool resumed)
{
    int result = resumed ? -1 : look_ahead(s);
    if (result >= 0)
        return result;
    app_progress progress;
    app_progress_begin(&progress, s->player->title, s->play->frame, (uint64_t)s->frames,
                       !s->player->quiet && !s->player->no_progress);
    if (!resumed)
        result = finish_frame(s, NULL);
    while (result < 0 && s->play->frame < (uint64_t)s->frames && !app_signal()) {
        result = play_frame(s, run);
        app_progress_frame(&progress, s->play->frame);
    }
    app_progress_end(&progress);
    app_stage stage = stage_of(s, NULL);
    return result < 0 ? app_sinks_last(&s->sinks, &stage) : result;
}

static void print_run_json(const session *s)
{
    app_print_totals_json(&s->totals);
    printf(",\"time\":%.17g,\"hash\":\"%016" PRIx64 "\"", pl_world_time(s->play->world),
           pl_world_hash(s->play->world));
}

static void print_summary(session *s)
{
    char title[256];
    if (s->totals.frames == 0) /* no report has counted the bodies */
        pl_world_advance(s->play->world, 0, NULL, &s->totals.sum);
    snprintf(title, sizeof title, "%s%s%s", s->player->title, s->run_name ? ", " : "",
             s->run_name ? s->run_name : "");
    if (s->player->json)
        print_run_json(s);
    else if (!s->player->quiet)
        app_print_totals(&s->totals, s->play, title);
}

static void print_run_head(const session *s, bool first, bool resumed)
{
    printf("%s{", first ? "" : ",");
    if (s->run_name) {
        printf("\"name\":");
        app_print_json_string(s->run_name);
        putchar(',');
    }
    if (resumed)
        printf("\"resumed_at\":%" PRIu64 ",", s->play->frame);
    if (s->player->hash)
        printf("\"hashes\":[");
}

/* A snapshot nobody would make is no test that was passed. */
static int check_snapshot(const session *s, int first, int last)
{
    int most = s->player->frames;
    for (int i = first; s->player->frames < 0 && i <= last; i++) {
        int frames = s->player->scene->runs[i].world.frames;
        most = frames > most ? frames : most;
    }
    if (s->player->snapshot_at < 0 || s->player->snapshot_at < most)
        return -1;
    return app_usage_error(s->player->command,
                           "--snapshot-at %d: the run must go on behind it, and has %d frame%s",
                           s->player->snapshot_at, most, most == 1 ? "" : "s");
}

/* Builds, plays, reports. The outputs are opened by the first run, once everything could be
   built. */
static int play_run(session *s, int run, bool first)
{
    const pl_scene *scene = s->player->scene;
    bool resumed = first && s->saved.data;
    s->totals = (app_totals){0};
    s->run_name = scene->run_count > 1 ? scene->runs[run].name : NULL;
    s->any_hash = false;
    app_nothing_to_finish(!s->begun);
    int result = build(s, run);
    app_nothing_to_finish(false);
    if (result < 0)
        s->frames = s->player->frames >= 0 ? s->player->frames : s->play->settings.frames;
    if (result < 0 && first)
        result = begin(s);
    if (result < 0) {
        if (s->player->json)
            print_run_head(s, first, resumed);
        result = play_frames(s, run, resumed);
        if (s->player->json && s->player->hash)
            printf("],");
        if (result < 0)
            print_summary(s);
        if (s->player->json)
            putchar('}');
    }
    s->played = s->play ? s->play->frame : 0;
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
    if (scene->run_count == 1 && !scene->runs[0].name) {
        fprintf(stderr, "pliant: the scene has no \"runs\", so --run cannot choose one\n");
        return APP_BAD_INPUT;
    }
    fprintf(stderr, "pliant: the scene has no run \"%s\"; it has", player->run);
    for (int i = 0; i < scene->run_count; i++)
        fprintf(stderr, "%s \"%s\"", i ? "," : "",
                scene->runs[i].name ? scene->runs[i].name : "(one without a name)");
    fputc('\n', stderr);
    return APP_BAD_INPUT;
}

static int play_runs(session *s, int first, int last)
{
    int result = check_snapshot(s, first, last);
    if (result < 0 && s->saved.data)
        first = (int)app_bytes_get_u64(&s->saved);
    for (int run = first; run <= last && result < 0 && !app_signal(); run++)
        result = play_run(s, run, run == first);
    return result;
}

/* Everything that was wanted is published, be it shorter; after a failure only what --resume needs
   stays, if there is something to resume. */
static int close_outputs(session *s, int result)
{
    bool keep = result >= 0 && s->kept;
    int closed = app_sinks_close(&s->sinks, keep ? APP_KEEP : result >= 0 ? APP_DROP : APP_PUBLISH);
    app_bytes_free(&s->saved);
    if (!keep && s->begun)
        forget_saved(s);
    if (keep && s->kept_frame > 0)
        fprintf(stderr,
                "pliant: what there was at frame %" PRIu64
                " is kept; the same command with --resume goes on from there\n",
                s->kept_frame);
    return result >= 0 ? result : closed;
}

static int say_interrupted(const session *s)
{
    fprintf(stderr, "pliant: interrupted at frame %" PRIu64 " of %d%s\n", s->played, s->frames,
            s->sinks.count ? "; what was finished is written" : "");
    return 128 + app_signal();
}

static void print_head(const app_player *player)
{
    printf("{\"scene\":");
    app_print_json_string(player->title);
    printf(",\"simd\":%d,\"threads\":%d,\"runs\":[", pl_simd_width(),
           player->options.threads > 1 ? player->options.threads : 1);
}

static void print_outputs(const session *s, bool good)
{
    if (s->player->json) {
        printf("],\"outputs\":[");
        if (good)
            app_sinks_print_json(&s->sinks);
        printf("]}\n");
    } else if (good && !s->player->quiet) {
        app_sinks_print(&s->sinks);
    }
}

int app_play(app_player *player)
{
    session s = {.player = player, .checked = pl_clock_ns()};
    int only, result = find_run(player, &only);
    if (result < 0)
        result = app_sinks_sort(&s.sinks, player->command, player->outputs, player->output_count,
                                only < 0 ? player->scene->run_count : 1);
    if (result < 0)
        result = plan_checkpoints(&s, only);
    if (result < 0)
        result = find_saved(&s);
    if (result >= 0) {
        app_bytes_free(&s.saved);
        return result;
    }
    int first = only >= 0 ? only : 0, last = only >= 0 ? only : player->scene->run_count - 1;
    if (player->json)
        print_head(player);
    result = play_runs(&s, first, last);
    if (result == APP_START_AGAIN) {
        fprintf(stderr, "pliant: starting from the beginning\n");
        app_sinks_close(&s.sinks, APP_DROP);
        forget_saved(&s);
        result = play_runs(&s, first, last);
    }
    result = close_outputs(&s, result);
    print_outputs(&s, result < 0);
    if (result < 0 && app_signal())
        result = say_interrupted(&s);
    return app_finish(result < 0 ? APP_DONE : result);
}
