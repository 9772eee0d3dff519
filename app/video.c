#define _GNU_SOURCE /* pipe2 */
#include "video.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"
#include "sink.h"

extern char **environ;

enum { GIF_WIDTH = 640 };

#define SEGMENT ".pliant-segment"

struct app_video {
    pl_memory *memory;
    app_film film;
    bool gif;
    pl_output *output; /* its temporary is what ffmpeg writes */
    int pipe;          /* -1 = ffmpeg is not running */
    pid_t process;
    int segments;        /* on the disk */
    uint64_t pictures;   /* given to this ffmpeg */
    char stem[PATH_MAX]; /* of the segments' names */
};

static int fail(const app_video *video, const char *what, int error)
{
    fprintf(stderr, "pliant: %s: %s%s%s\n", video->film.path, what, error ? ": " : "",
            error ? strerror(error) : "");
    return APP_FAILED;
}

/* ---- ffmpeg's words -------------------------------------------------------------------------- */

typedef struct words {
    char size[32], rate[32], filter[256], file[PATH_MAX + 8];
    const char *list[48];
    int count;
} words;

static void say(words *w, const char *const *more)
{
    for (; *more; more++)
        w->list[w->count++] = *more;
}

static void begin_words(words *w, const app_video *video)
{
    snprintf(w->file, sizeof w->file, "file:%s", pl_output_part(video->output));
    say(w, (const char *const[]){"ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin",
                                 "-xerror", "-y", NULL});
}

/* Pictures to a film, with colours as high definition has them, said so in the file; or to a
   segment without loss, where the film is a .gif, whose pictures cannot be joined as they are. */
static void make_words(words *w, const app_video *video)
{
    begin_words(w, video);
    snprintf(w->size, sizeof w->size, "%dx%d", video->film.width, video->film.height);
    snprintf(w->rate, sizeof w->rate, "%.6f", video->film.rate);
    say(w, (const char *const[]){"-f", "rawvideo", "-pix_fmt", "rgba", "-s", w->size, "-r", w->rate,
                                 "-i", "pipe:0", "-an", NULL});
    if (video->gif) {
        say(w, (const char *const[]){"-c:v", "ffv1", "-pix_fmt", "bgr0", "-f", "matroska", w->file,
                                     NULL});
        return;
    }
    say(w, (const char *const[]){"-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
                                 "-c:v", "libx264", "-preset", "medium", "-crf", "17", NULL});
    say(w, (const char *const[]){"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc",
                                 "bt709", "-color_range", "tv", NULL});
    say(w, (const char *const[]){"-movflags", "+faststart", "-f", "mp4", w->file, NULL});
}

/* A list of segments to the film; a .gif has a palette of its own for each picture. */
static void make_joining_words(words *w, const app_video *video)
{
    begin_words(w, video);
    say(w, (const char *const[]){"-protocol_whitelist", "file,pipe", "-f", "concat", "-safe", "0",
                                 "-i", "pipe:0", NULL});
    if (!video->gif) {
        say(w, (const char *const[]){"-c", "copy", "-movflags", "+faststart", "-f", "mp4", w->file,
                                     NULL});
        return;
    }
    int width = video->film.width;
    snprintf(w->filter, sizeof w->filter,
             "scale=%d:-1:flags=lanczos,split[a][b];[a]palettegen=stats_mode=single[p];"
             "[b][p]paletteuse=new=1:dither=sierra2_4a",
             video->film.shrink && width > GIF_WIDTH ? GIF_WIDTH : width);
    say(w, (const char *const[]){"-vf", w->filter, "-f", "gif", w->file, NULL});
}

/* ---- The process ----------------------------------------------------------------------------- */

/* In a process group of its own: Ctrl-C is for us, and we end the film properly. */
static int spawn(pid_t *process, int input, char *const *list)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t normal;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&normal);
    sigaddset(&normal, SIGPIPE);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &normal);
    error = posix_spawnp(process, list[0], &actions, &attributes, list, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int start(app_video *video, words *w)
{
    int ends[2];
    w->list[w->count] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(video, "the film cannot be made", errno);
    int error = spawn(&video->process, ends[0], (char *const *)w->list);
    close(ends[0]);
    if (!error) {
        video->pipe = ends[1];
        video->pictures = 0;
        return -1;
    }
    close(ends[1]);
    video->process = 0;
    if (error == ENOENT || error == EACCES)
        return fail(
            video,
            "films are made by the program ffmpeg, which was not found: install it (Debian: "
            "ffmpeg), or write pictures (frame_%04d.png)",
            0);
    return fail(video, "ffmpeg cannot be started", error);
}

/* A process whose work is not wanted need not finish it either. */
static bool finish(app_video *video, bool wanted)
{
    int status = 0;
    pid_t process = video->process;
    if (video->pipe >= 0)
        close(video->pipe);
    video->pipe = -1;
    video->process = 0;
    if (process <= 0)
        return false;
    if (!wanted)
        kill(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int give(const app_video *video, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t wrote = write(video->pipe, bytes, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail(video, "ffmpeg takes no more pictures", errno == EPIPE ? 0 : errno);
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return -1;
}

/* ---- Segments -------------------------------------------------------------------------------- */

static bool segment_name(const app_video *video, int number, char name[PATH_MAX])
{
    return snprintf(name, PATH_MAX, "%s.%04d" SEGMENT, video->stem, number) < PATH_MAX;
}

/* Beside the temporary, which lies where the film will be: its name without process id and
   suffix. */
static void find_stem(app_video *video)
{
    snprintf(video->stem, sizeof video->stem, "%s", pl_output_part(video->output));
    for (int dots = 0; dots < 2; dots++) {
        char *dot = strrchr(video->stem, '.');
        if (dot)
            *dot = 0;
    }
}

/* All of them from `first` on: also those of an earlier run, which may have had more. */
static void remove_segments(const app_video *video, long first)
{
    char directory[PATH_MAX], path[PATH_MAX];
    const char *slash = strrchr(video->stem, '/'), *stem = slash ? slash + 1 : video->stem;
    size_t length = strlen(stem);
    snprintf(directory, sizeof directory, "%.*s", (int)(stem - video->stem), video->stem);
    DIR *listing = opendir(directory[0] ? directory : ".");
    if (!listing)
        return;
    for (struct dirent *entry; (entry = readdir(listing));) {
        char *end;
        const char *name = entry->d_name;
        if (strncmp(name, stem, length) != 0 || name[length] != '.')
            continue;
        long number = strtol(name + length + 1, &end, 10);
        if (end != name + length + 1 && strcmp(end, SEGMENT) == 0 && number >= first &&
            snprintf(path, sizeof path, "%s%s", directory, name) < (int)sizeof path)
            unlink(path);
    }
    closedir(listing);
}

static int find_segments(app_video *video, int count)
{
    char name[PATH_MAX];
    for (int i = 0; i < count; i++)
        if (!segment_name(video, i, name) || access(name, R_OK) != 0) {
            fail(video, "what the earlier run had written is not there any more", 0);
            return APP_START_AGAIN;
        }
    video->segments = count;
    return -1;
}

static int reopen(app_video *video)
{
    pl_trouble trouble;
    pl_output_drop(video->output);
    return pl_output_open(video->memory, video->film.path, &video->output, &trouble) == PL_OK
               ? -1
               : app_fail(&trouble);
}

/* The temporary becomes a segment, whole and on the disk. */
static int keep_segment(app_video *video)
{
    char name[PATH_MAX];
    pl_output_mark mark;
    pl_trouble trouble;
    if (!finish(video, true))
        return fail(video, "ffmpeg could not make the film", 0);
    if (pl_output_set_mark(video->output, &mark, &trouble) != PL_OK)
        return app_fail(&trouble);
    if (!segment_name(video, video->segments, name))
        return fail(video, "cannot be written", ENAMETOOLONG);
    if (rename(pl_output_part(video->output), name) != 0)
        return fail(video, "cannot be written", errno);
    video->segments++;
    video->pictures = 0;
    return reopen(video);
}

int app_video_cut(app_video *video, int *segments)
{
    int result = video->pictures > 0 ? keep_segment(video) : -1;
    *segments = video->segments;
    return result;
}

/* A line of the list that ffmpeg joins: within quotes a quote is written '\''. */
static int list_segment(const app_video *video, int number)
{
    char name[PATH_MAX];
    if (!segment_name(video, number, name))
        return fail(video, "cannot be written", ENAMETOOLONG);
    int result = give(video, "file 'file:", 11);
    for (const char *c = name; *c && result < 0; c++)
        result = *c == '\'' ? give(video, "'\\''", 4) : give(video, c, 1);
    return result < 0 ? give(video, "'\n", 2) : result;
}

static int join(app_video *video)
{
    words w = {.count = 0};
    make_joining_words(&w, video);
    int result = start(video, &w);
    for (int i = 0; i < video->segments && result < 0; i++)
        result = list_segment(video, i);
    bool good = finish(video, result < 0);
    return result < 0 && !good ? fail(video, "ffmpeg could not make the film", 0) : result;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static int check_shape(const app_video *video)
{
    int width = video->film.width, height = video->film.height;
    if (!pl_output_part(video->output))
        return fail(video, "a film can be written to a file only", 0);
    if (!video->gif && (width % 2 || height % 2)) {
        fprintf(stderr, "pliant: %s: width and height of a film must be even, not %dx%d\n",
                video->film.path, width, height);
        return APP_BAD_INPUT;
    }
    return -1;
}

static int start_film(app_video *video)
{
    words w = {.count = 0};
    make_words(&w, video);
    return start(video, &w);
}

int app_video_open(pl_memory *memory, const app_film *film, int segments, app_video **video)
{
    pl_trouble trouble;
    *video = NULL;
    app_video *made = PL_NEW(memory, app_video, 1);
    if (!made) {
        pl_trouble_set(&trouble, PL_ERROR_MEMORY, film->path, "not enough memory");
        return app_fail(&trouble);
    }
    size_t length = strlen(film->path);
    *made = (app_video){.memory = memory, .film = *film, .pipe = -1};
    made->gif = length > 4 && strcmp(film->path + length - 4, ".gif") == 0;
    int result = reopen(made);
    if (result < 0)
        result = check_shape(made);
    if (result < 0) {
        find_stem(made);
        result = segments >= 0 ? find_segments(made, segments) : -1;
    }
    if (result < 0) {
        remove_segments(made, made->segments);
        result = start_film(made);
    }
    if (result >= 0) {
        app_video_close(made, segments >= 0 ? APP_VIDEO_KEEP : APP_VIDEO_DROP);
        return result;
    }
    *video = made;
    return -1;
}

int app_video_frame(app_video *video, const uint8_t *rgba)
{
    int result = video->process > 0 ? -1 : start_film(video);
    if (result < 0)
        result = give(video, rgba, 4 * (size_t)video->film.width * (size_t)video->film.height);
    video->pictures += result < 0;
    return result;
}

/* In one piece it is complete as it is; else all pieces are joined, whether or not the last one has
   something in it. */
static int complete(app_video *video)
{
    if (video->segments == 0 && !video->gif)
        return finish(video, true) ? -1 : fail(video, "ffmpeg could not make the film", 0);
    int segments, result = app_video_cut(video, &segments);
    finish(video, false);
    return result < 0 ? join(video) : result;
}

int app_video_close(app_video *video, app_video_end end)
{
    if (!video)
        return -1;
    pl_trouble trouble;
    int result = end == APP_VIDEO_PUBLISH ? complete(video) : -1;
    finish(video, false);
    if (end == APP_VIDEO_PUBLISH && result < 0) {
        if (pl_output_publish(video->output, &trouble) != PL_OK)
            result = app_fail(&trouble);
    } else {
        pl_output_drop(video->output);
    }
    if (video->stem[0] && end != APP_VIDEO_KEEP)
        remove_segments(video, 0);
    pl_memory_free(video->memory, video);
    return result;
}
