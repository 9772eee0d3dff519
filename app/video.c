#define _GNU_SOURCE /* pipe2 */
#include "video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"

extern char **environ;

enum { GIF_WIDTH = 640 };

struct app_video {
    pl_memory *memory;
    pl_output *output;
    const char *path;
    int width, height;
    int pipe;
    pid_t process;
};

static int fail(const app_video *video, const char *what, int error)
{
    fprintf(stderr, "pliant: %s: %s%s%s\n", video->path, what, error ? ": " : "",
            error ? strerror(error) : "");
    return APP_FAILED;
}

/* ---- ffmpeg's words ----------------------------------------------------------------------------- */

typedef struct words {
    char size[32], rate[32], filter[256], file[4200];
    const char *list[48];
    int count;
} words;

static void say(words *w, const char *const *more)
{
    for (; *more; more++)
        w->list[w->count++] = *more;
}

/* Colours as high definition has them, said so in the file; a palette of its own for each picture of a .gif. */
static void make_words(words *w, const app_video *video, double rate, bool shrink)
{
    size_t length = strlen(video->path);
    bool gif = length > 4 && strcmp(video->path + length - 4, ".gif") == 0;
    snprintf(w->size, sizeof w->size, "%dx%d", video->width, video->height);
    snprintf(w->rate, sizeof w->rate, "%.6f", rate);
    snprintf(w->file, sizeof w->file, "file:%s", pl_output_part(video->output));
    say(w, (const char *const[]){"ffmpeg", "-hide_banner", "-loglevel", "error",    "-nostdin",
                                 "-y",     "-f",           "rawvideo",  "-pix_fmt", "rgba",
                                 "-s",     w->size,        "-r",        w->rate,    "-i",
                                 "pipe:0", "-an",          "-vf",       w->filter,  NULL});
    if (gif) {
        int wide = shrink && video->width > GIF_WIDTH ? GIF_WIDTH : video->width;
        snprintf(w->filter, sizeof w->filter,
                 "scale=%d:-1:flags=lanczos,split[a][b];[a]palettegen=stats_mode=single[p];"
                 "[b][p]paletteuse=new=1:dither=sierra2_4a",
                 wide);
        say(w, (const char *const[]){"-f", "gif", w->file, NULL});
    } else {
        snprintf(w->filter, sizeof w->filter,
                 "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p");
        say(w,
            (const char *const[]){
                "-c:v",         "libx264", "-preset",          "medium",     "-crf",       "17",
                "-colorspace",  "bt709",   "-color_primaries", "bt709",      "-color_trc", "bt709",
                "-color_range", "tv",      "-movflags",        "+faststart", "-f",         "mp4",
                w->file,        NULL});
    }
}

/* ---- The process -------------------------------------------------------------------------------- */

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

static int start(app_video *video, double rate, bool shrink)
{
    words w = {.count = 0};
    int ends[2];
    make_words(&w, video, rate, shrink);
    w.list[w.count] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(video, "the film cannot be made", errno);
    int error = spawn(&video->process, ends[0], (char *const *)w.list);
    close(ends[0]);
    video->pipe = ends[1];
    if (error == ENOENT || error == EACCES)
        return fail(
            video,
            "films are made by the program ffmpeg, which was not found: install it (Debian: "
            "ffmpeg), or write pictures (frame_%04d.png)",
            0);
    return error ? fail(video, "ffmpeg cannot be started", error) : -1;
}

/* ---- Life --------------------------------------------------------------------------------------- */

static int check_shape(const app_video *video)
{
    size_t length = strlen(video->path);
    bool mp4 = length > 4 && strcmp(video->path + length - 4, ".mp4") == 0;
    if (!pl_output_part(video->output))
        return fail(video, "a film can be written to a file only", 0);
    if (mp4 && (video->width % 2 || video->height % 2)) {
        fprintf(stderr, "pliant: %s: width and height of a film must be even, not %dx%d\n",
                video->path, video->width, video->height);
        return APP_BAD_INPUT;
    }
    return -1;
}

int app_video_open(pl_memory *memory, const char *path, int width, int height, double rate,
                   bool shrink, app_video **video)
{
    pl_trouble trouble;
    *video = NULL;
    app_video *made = PL_NEW(memory, app_video, 1);
    if (!made) {
        pl_trouble_set(&trouble, PL_ERROR_MEMORY, path, "not enough memory");
        return app_fail(&trouble);
    }
    *made = (app_video){memory, NULL, path, width, height, -1, 0};
    int result =
        pl_output_open(memory, path, &made->output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
    if (result < 0)
        result = check_shape(made);
    if (result < 0)
        result = start(made, rate, shrink);
    if (result >= 0) {
        app_video_close(made, false);
        return result;
    }
    *video = made;
    return -1;
}

int app_video_frame(app_video *video, const uint8_t *rgba)
{
    size_t left = 4 * (size_t)video->width * (size_t)video->height;
    while (left > 0) {
        ssize_t wrote = write(video->pipe, rgba, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail(video, "ffmpeg takes no more pictures", errno == EPIPE ? 0 : errno);
        rgba += wrote;
        left -= (size_t)wrote;
    }
    return -1;
}

/* A process that is not to publish anything need not finish it either. */
static bool finish(app_video *video, bool publish)
{
    int status = 0;
    if (video->pipe >= 0)
        close(video->pipe);
    if (video->process <= 0)
        return false;
    if (!publish)
        kill(video->process, SIGKILL);
    while (waitpid(video->process, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int app_video_close(app_video *video, bool publish)
{
    if (!video)
        return -1;
    int result = -1;
    pl_trouble trouble;
    bool good = finish(video, publish);
    if (publish && !good)
        result = fail(video, "ffmpeg could not make the film", 0);
    if (video->output && publish && good) {
        if (pl_output_publish(video->output, &trouble) != PL_OK)
            result = app_fail(&trouble);
    } else {
        pl_output_drop(video->output);
    }
    pl_memory_free(video->memory, video);
    return result;
}
