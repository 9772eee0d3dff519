/* The table of output kinds, what they share, and all outputs of a run together. */
#include "sink.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/outputs.h"

static const app_sink_kind *const kinds[] = {
    &app_sink_mp4, &app_sink_gif, &app_sink_png, &app_sink_glb, &app_sink_obj,
    &app_sink_ply, &app_sink_pc2, &app_sink_csv, &app_sink_svg, &app_sink_jsonl};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- What kinds share ------------------------------------------------------------------------ */

int app_open_output(app_sink *sink, pl_output **output)
{
    pl_trouble trouble;
    return pl_output_open(sink->memory, sink->name, output, &trouble) == PL_OK ? -1
                                                                               : app_fail(&trouble);
}

int app_close_output(const app_sink *sink, pl_output *output, bool publish)
{
    pl_trouble trouble;
    if (!output)
        return -1;
    /* One that failed is published in vain, or marked, for the sake of the message. */
    if (publish || (!pl_output_is_good(output) && !sink->keep))
        return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
    pl_output_mark mark;
    int result = -1;
    if (!pl_output_is_good(output) && pl_output_set_mark(output, &mark, &trouble) != PL_OK)
        result = app_fail(&trouble);
    (sink->keep ? pl_output_leave : pl_output_drop)(output);
    return result;
}

int app_save_output(pl_output *output, app_bytes *bytes)
{
    pl_trouble trouble;
    pl_output_mark mark;
    if (pl_output_set_mark(output, &mark, &trouble) !=
        PL_OK) /* the message comes from closing it */
        return pl_output_is_good(output) ? app_fail(&trouble) : APP_FAILED;
    app_bytes_put_u64(bytes, mark.offset);
    app_bytes_put_u64(bytes, mark.file);
    return -1;
}

int app_resume_output(app_sink *sink, app_bytes *bytes, pl_output **output)
{
    pl_trouble trouble;
    pl_output_mark mark = {.offset = app_bytes_get_u64(bytes)};
    mark.file = app_bytes_get_u64(bytes);
    pl_status status = pl_output_resume(sink->memory, sink->name, &mark, output, &trouble);
    if (status == PL_OK)
        return -1;
    int result = app_fail(&trouble);
    return status == PL_ERROR_FORMAT ? APP_START_AGAIN : result;
}

int app_write_failed(const char *name, pl_status status)
{
    pl_trouble trouble;
    pl_trouble_set(&trouble, status, name, "cannot be written: %s", pl_status_text(status));
    app_fail(&trouble);
    return APP_FAILED;
}

int app_sink_file(const app_sink *sink, uint64_t frame, char *name, size_t size)
{
    pl_status status = PL_OK;
    if (sink->kind->pattern) /* %% is one % then, with a frame number or without */
        status = pl_pattern_name(sink->name, frame, name, size);
    else if (snprintf(name, size, "%s", sink->name) >= (int)size)
        status = PL_ERROR_ARGUMENT;
    if (status == PL_OK)
        return -1;
    fprintf(stderr, "pliant: %s: the name is too long\n", sink->name);
    return APP_BAD_INPUT;
}

int app_sink_paint(app_sink *sink, const app_stage *stage)
{
    app_easel *easel = sink->easel;
    uint64_t now = stage->play->frame + 1;
    int result = easel->painted == now ? -1 : app_painter_paint(easel->painter, stage->play);
    if (result < 0)
        easel->painted = now;
    return result;
}

/* ---- Kinds by ending ------------------------------------------------------------------------- */

/* Devices have no ending: they get lines. */
static const app_sink_kind *find_kind(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (app_ends_with(name, kinds[i]->ending))
            return kinds[i];
    return strncmp(name, "/dev/", 5) == 0 ? &app_sink_jsonl : NULL;
}

bool app_is_picture(const char *name)
{
    const app_sink_kind *kind = find_kind(name);
    return kind && kind->pictures;
}

static const char *list_endings(bool patterns_only, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < KINDS; i++)
        if (used < size && (kinds[i]->pattern || !patterns_only))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
                                     kinds[i]->ending);
    return text;
}

void app_sinks_help(char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < KINDS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s  %-7s %s", i ? "\n" : "",
                                 kinds[i]->ending, kinds[i]->about);
}

bool app_sink_name_is_good(const char *name, char *text, size_t size)
{
    char all[256], patterns[256];
    const app_sink_kind *kind = find_kind(name);
    bool sequence = false;
    if (!kind)
        snprintf(text, size,
                 "the ending says what to write; known are %s (and frame_%%04d for a file per "
                 "frame with %s)",
                 list_endings(false, all, sizeof all),
                 list_endings(true, patterns, sizeof patterns));
    else if (!kind->pattern && pl_pattern_check(name, &sequence, NULL) == PL_OK && sequence)
        snprintf(text, size, "a %s file has all frames; leave the frame number out of its name",
                 kind->ending);
    return kind && !sequence;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_look(const app_look *a, const app_look *b)
{
    return same_text(a->size, b->size) && same_text(a->view, b->view) &&
           same_text(a->stress_scale, b->stress_scale) && same_text(a->camera, b->camera) &&
           same_text(a->show, b->show);
}

static app_easel *find_easel(app_sinks *sinks, const app_look *look)
{
    for (int i = 0; i < sinks->easel_count; i++)
        if (same_look(sinks->easels[i].look, look))
            return &sinks->easels[i];
    app_easel *easel = &sinks->easels[sinks->easel_count++];
    *easel = (app_easel){.look = look};
    return easel;
}

/* Where a name leads to, whether or not there is something yet: links and dots resolved. */
static bool find_place(const char *name, char place[PATH_MAX])
{
    char directory[PATH_MAX], resolved[PATH_MAX];
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (realpath(name, place))
        return true;
    if (snprintf(directory, sizeof directory, "%.*s", (int)(base - name), name) >= PATH_MAX ||
        !realpath(directory[0] ? directory : ".", resolved))
        return false;
    return snprintf(place, PATH_MAX, "%s/%s", resolved, base) < PATH_MAX;
}

static bool same_place(const char *a, const char *b)
{
    char there[PATH_MAX], here[PATH_MAX];
    return strcmp(a, b) == 0 ||
           (find_place(a, there) && find_place(b, here) && strcmp(there, here) == 0);
}

static int sort_one(app_sinks *sinks, const app_output *output, int runs)
{
    char complaint[512];
    pl_trouble trouble;
    app_sink *sink = &sinks->items[sinks->count];
    *sink = (app_sink){.name = output->name,
                       .kind = find_kind(output->name),
                       .look = &output->look,
                       .asked_every = output->every > 0 ? output->every : 1};
    for (int i = 0; i < sinks->count; i++)
        if (same_place(sinks->items[i].name, sink->name))
            return app_usage_error(sinks->command, "%s is named twice as an output", sink->name);
    if (!app_sink_name_is_good(sink->name, complaint, sizeof complaint))
        return app_usage_error(sinks->command, "%s: %s", sink->name, complaint);
    if (sink->kind->pattern && pl_pattern_check(sink->name, &sink->sequence, &trouble) != PL_OK)
        return app_fail(&trouble);
    if (runs > 1 && !sink->kind->many_runs)
        return app_usage_error(sinks->command,
                               "%s: the scene has %d runs; choose the one to write with --run NAME",
                               sink->name, runs);
    if (sink->kind->pictures)
        sink->easel = find_easel(sinks, sink->look);
    sinks->count++;
    return -1;
}

int app_sinks_sort(app_sinks *sinks, const char *command, const app_output *outputs, int count,
                   int runs)
{
    int result = -1;
    *sinks = (app_sinks){.command = command};
    for (int i = 0; i < count && result < 0; i++)
        result = sort_one(sinks, &outputs[i], runs);
    return result;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool is_device(const app_sink *sink)
{
    return strncmp(sink->name, "/dev/", 5) == 0;
}

static bool is_resumable(const app_sink *sink)
{
    struct stat info;
    return (sink->kind->pattern || sink->kind->save) && !is_device(sink) &&
           (stat(sink->name, &info) != 0 || S_ISREG(info.st_mode));
}

const char *app_sinks_stubborn(const app_sinks *sinks)
{
    for (int i = 0; i < sinks->count; i++)
        if (!is_resumable(&sinks->items[i]))
            return sinks->items[i].name;
    return NULL;
}

static int open_easels(app_sinks *sinks, const app_stage *stage, app_bytes *bytes)
{
    int result = -1;
    for (int i = 0; i < sinks->easel_count && result < 0; i++) {
        app_easel *easel = &sinks->easels[i];
        result = app_painter_open(stage->memory, sinks->command, easel->look, &easel->painter);
        if (result < 0)
            result = app_painter_take_play(easel->painter, stage->play);
        if (result < 0 && bytes)
            app_painter_restore(easel->painter, bytes);
    }
    return result;
}

/* What is written only at the end must not fail only then. */
static int try_name(app_sink *sink, const app_stage *stage)
{
    char name[PATH_MAX];
    pl_output *output;
    pl_trouble trouble;
    int result = app_sink_file(sink, stage->play->frame, name, sizeof name);
    if (result >= 0)
        return result;
    if (pl_output_open(stage->memory, name, &output, &trouble) != PL_OK)
        return app_fail(&trouble);
    pl_output_drop(output);
    return -1;
}

static int open_one(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    if (bytes)
        sink->written = app_bytes_get_u64(bytes);
    if (bytes && sink->kind->go_on)
        return sink->kind->go_on(sink, stage, bytes);
    return (sink->kind->open ? sink->kind->open : try_name)(sink, stage);
}

int app_sinks_open(app_sinks *sinks, const app_stage *stage, app_bytes *bytes)
{
    int result = open_easels(sinks, stage, bytes);
    for (int i = 0; i < sinks->count && result < 0; i++) {
        app_sink *sink = &sinks->items[i];
        sink->memory = stage->memory;
        sink->own = NULL;
        sink->written = 0;
        sink->every = sink->asked_every;
        result = open_one(sink, stage, bytes);
        sink->opened = result < 0;
    }
    if (result < 0 && bytes && bytes->failed) {
        fprintf(stderr, "pliant: the checkpoint is damaged\n");
        result = APP_START_AGAIN;
    }
    return result;
}

/* A single file of a kind that has a file per frame shows the last one. */
static bool shows_last(const app_sink *sink)
{
    return sink->kind->pattern && !sink->sequence;
}

static int write_one(app_sink *sink, const app_stage *stage)
{
    int result = sink->kind->frame(sink, stage);
    sink->written += result < 0;
    return result;
}

int app_sinks_frame(app_sinks *sinks, const app_stage *stage)
{
    int result = -1;
    for (int i = 0; i < sinks->count && result < 0; i++) {
        app_sink *sink = &sinks->items[i];
        if (!shows_last(sink) && stage->play->frame % (uint64_t)sink->every == 0)
            result = write_one(sink, stage);
    }
    return result;
}

int app_sinks_last(app_sinks *sinks, const app_stage *stage)
{
    int result = -1;
    for (int i = 0; i < sinks->count && result < 0; i++)
        if (shows_last(&sinks->items[i]))
            result = write_one(&sinks->items[i], stage);
    return result;
}

int app_sinks_save(app_sinks *sinks, app_bytes *bytes)
{
    int result = -1;
    for (int i = 0; i < sinks->easel_count; i++)
        app_painter_save(sinks->easels[i].painter, bytes);
    for (int i = 0; i < sinks->count && result < 0; i++) {
        app_bytes_put_u64(bytes, sinks->items[i].written);
        if (sinks->items[i].kind->save)
            result = sinks->items[i].kind->save(&sinks->items[i], bytes);
    }
    return result;
}

int app_sinks_close(app_sinks *sinks, app_ending ending)
{
    int result = -1;
    for (int i = 0; i < sinks->count; i++) {
        app_sink *sink = &sinks->items[i];
        sink->keep = ending == APP_KEEP;
        int closed =
            sink->opened && sink->kind->close ? sink->kind->close(sink, ending == APP_PUBLISH) : -1;
        result = closed >= 0 ? closed : result;
        sink->opened = false;
    }
    for (int i = 0; i < sinks->easel_count; i++) {
        app_painter_close(sinks->easels[i].painter);
        sinks->easels[i].painter = NULL;
        sinks->easels[i].painted = 0;
    }
    return result;
}

/* ---- Looking ahead --------------------------------------------------------------------------- */

bool app_sinks_look_ahead(const app_sinks *sinks)
{
    for (int i = 0; i < sinks->count; i++) {
        const app_sink *sink = &sinks->items[i];
        if (sink->kind->pictures && !shows_last(sink))
            return true;
    }
    return false;
}

int app_sinks_see(app_sinks *sinks, const pl_play *play)
{
    int result = -1;
    for (int i = 0; i < sinks->easel_count && result < 0; i++)
        result = app_painter_see(sinks->easels[i].painter, play);
    return result;
}

/* ---- What was written ------------------------------------------------------------------------ */

typedef struct tally {
    uint64_t files, bytes, last; /* `last`: the number of the last file of a sequence */
} tally;

static tally count_files(const app_sink *sink)
{
    tally found = {0};
    char name[PATH_MAX];
    struct stat info;
    uint64_t count = sink->sequence ? sink->written : 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t frame = i * (uint64_t)sink->every;
        if (app_sink_file(sink, frame, name, sizeof name) >= 0 || stat(name, &info) != 0)
            continue;
        found.files++;
        found.bytes += S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
        found.last = frame;
    }
    return found;
}

static const char *size_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    int unit = 0;
    for (; amount >= 999.5 && unit < 4; unit++)
        amount /= 1000;
    snprintf(text, size, "%.3g %s", amount, units[unit]);
    return text;
}

void app_sinks_print(const app_sinks *sinks)
{
    for (int i = 0; i < sinks->count; i++) {
        const app_sink *sink = &sinks->items[i];
        char name[PATH_MAX] = "", size[32];
        tally found = count_files(sink);
        size_text(found.bytes, size, sizeof size);
        if (found.files == 0 || is_device(sink))
            continue;
        if (sink->sequence) {
            app_sink_file(sink, 0, name, sizeof name);
            printf("wrote %s", name);
            app_sink_file(sink, found.last, name, sizeof name);
            printf(" to %s (%" PRIu64 " file%s, %s)\n", name, found.files,
                   found.files == 1 ? "" : "s", size);
        } else if (shows_last(sink)) {
            app_sink_file(sink, 0, name, sizeof name);
            printf("wrote %s (the last frame, %s)\n", name, size);
        } else {
            printf("wrote %s (%" PRIu64 " frame%s, %s)%s%s\n", sink->name, sink->written,
                   sink->written == 1 ? "" : "s", size, sink->kind->note ? "; " : "",
                   sink->kind->note ? sink->kind->note : "");
        }
    }
}

void app_sinks_print_json(const app_sinks *sinks)
{
    for (int i = 0; i < sinks->count; i++) {
        const app_sink *sink = &sinks->items[i];
        tally found = count_files(sink);
        printf("%s{\"file\":", i ? "," : "");
        app_print_json_string(sink->name);
        printf(",\"frames\":%" PRIu64 ",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
               sink->written, found.files, found.bytes);
    }
}
