/* Messages, the end of standard output, signals, and scenes by name. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "io/file.h"
#include "io/suggest.h"

enum { LARGEST_SCENE = 1 << 30 };

/* ---- Messages -------------------------------------------------------------------------------- */

int app_fail(const pl_trouble *trouble)
{
    char text[1200];
    fprintf(stderr, "pliant: %s\n", pl_trouble_format(trouble, text, sizeof text));
    return trouble->status == PL_ERROR_FORMAT || trouble->status == PL_ERROR_ARGUMENT
               ? APP_BAD_INPUT
               : APP_FAILED;
}

bool app_stdout_is_good(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

int app_finish(int status)
{
    errno = 0;
    if (app_stdout_is_good())
        return status;
    fprintf(stderr, "pliant: cannot write to standard output: %s\n",
            errno ? strerror(errno) : "it is closed or full");
    return status ? status : APP_FAILED;
}

void app_print_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", (unsigned)c);
        else
            putchar(c);
    }
    putchar('"');
}

/* ---- Signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    if (caught) {
        pl_output_remove_all();
        _exit(128 + number);
    }
    caught = number;
}

void app_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* What the parent made us ignore (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

void app_release_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == on_signal)
            signal(numbers[i], SIG_DFL);
}

int app_signal(void)
{
    return caught;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static const app_builtin *find_builtin(const char *name)
{
    for (int i = 0; i < app_builtin_count; i++)
        if (strcmp(app_builtins[i].name, name) == 0)
            return &app_builtins[i];
    return NULL;
}

static int no_such_scene(const char *name)
{
    const char *best = NULL;
    for (int i = 0; i < app_builtin_count; i++)
        pl_suggest(name, app_builtins[i].name, &best);
    char hint[96];
    fprintf(stderr, "pliant: %s: there is no such file and no built-in scene of this name%s\n",
            name, best ? pl_suggest_text(best, hint, sizeof hint) : "; 'pliant scenes' lists them");
    return APP_BAD_INPUT;
}

/* The file to read for a name, or NULL when it must be a built-in scene. */
static const char *scene_path(const char *name, char *buffer, size_t size)
{
    if (strcmp(name, "-") == 0)
        return "/dev/stdin";
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return name;
    const char *directory = getenv("PLIANT_SCENES");
    if (directory && *directory &&
        snprintf(buffer, size, "%s/%s.json", directory, name) < (int)size &&
        access(buffer, F_OK) == 0)
        return buffer;
    return NULL;
}

int app_load_scene(pl_memory *memory, const char *name, pl_scene **scene)
{
    char buffer[4096], *bytes = NULL;
    const char *path = scene_path(name, buffer, sizeof buffer);
    pl_trouble trouble;
    pl_status status;
    if (path) {
        size_t size;
        status = pl_file_read(memory, path, LARGEST_SCENE, &bytes, &size, &trouble);
        if (status == PL_OK)
            status = pl_scene_read(memory, path, bytes, size, scene, &trouble);
        pl_memory_free(memory, bytes);
    } else {
        const app_builtin *builtin = find_builtin(name);
        if (!builtin)
            return no_such_scene(name);
        status = pl_scene_read(memory, name, builtin->text, builtin->size, scene, &trouble);
    }
    if (status == PL_OK)
        return -1;
    /* A scene that cannot be read is bad input, whatever the reason; only memory is our own
       trouble. */
    int exit_status = app_fail(&trouble);
    return status == PL_ERROR_MEMORY ? exit_status : APP_BAD_INPUT;
}
