/* Messages, the end of standard output, signals, and scenes by name. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/clock.h"
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

/* timeout(1) sends its signal to the process and to its group: two at once are one. */
#define SAME_SIGNAL_NS 100000000

static volatile sig_atomic_t caught, parts_are_kept, nothing_to_finish;
static uint64_t caught_at;

static void on_signal(int number)
{
    static const char words[] = "pliant: interrupted; nothing was written\n";
    if (nothing_to_finish) {
        ssize_t ignored = write(STDERR_FILENO, words, sizeof words - 1);
        (void)ignored;
        _exit(128 + number);
    }
    if (caught && pl_clock_ns() - caught_at < SAME_SIGNAL_NS)
        return;
    if (caught) {
        if (!parts_are_kept)
            pl_output_remove_all();
        _exit(128 + number);
    }
    caught_at = pl_clock_ns();
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
    signal(SIGXFSZ, SIG_IGN);
}

void app_nothing_to_finish(bool nothing)
{
    nothing_to_finish = nothing;
}

void app_keep_parts(bool keep)
{
    parts_are_kept = keep;
}

int app_signal(void)
{
    return caught;
}

bool app_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static const app_builtin *find_builtin(const char *name)
{
    for (int i = 0; i < app_builtin_count; i++)
        if (strcmp(app_builtins[i].name, name) == 0)
            return &app_builtins[i];
    return NULL;
}

static pl_status no_such_scene(const char *name, pl_trouble *trouble)
{
    const char *best = NULL;
    for (int i = 0; i < app_builtin_count; i++)
        pl_suggest(name, app_builtins[i].name, &best);
    char hint[96];
    return pl_trouble_set(trouble, PL_ERROR_FORMAT, name,
                          "there is no such file and no built-in scene of this name%s",
                          best ? pl_suggest_text(best, hint, sizeof hint)
                               : "; 'pliant scenes' lists them");
}

/* Meshes and models are no scenes: better said than found out by reading them as JSON. */
static pl_status check_ending(const char *path, pl_trouble *trouble)
{
    static const char *const meshes[] = {".obj",  ".ply", ".stl", ".off",  ".gltf",  ".glb",
                                         ".node", ".ele", ".msh", ".mesh", ".meshb", ".vtk"};
    if (access(path, R_OK) != 0)
        return PL_OK; /* that is said on reading */
    if (app_ends_with(path, ".pliant"))
        return pl_trouble_set(trouble, PL_ERROR_FORMAT, path,
                              "this is a model, not a scene; name it in a scene as "
                              "\"models\": {\"a\": {\"file\": \"…\"}}");
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        if (app_ends_with(path, meshes[i]))
            return pl_trouble_set(
                trouble, PL_ERROR_FORMAT, path,
                "this is a mesh, not a scene; name it in a scene as \"models\": "
                "{\"a\": {\"file\": \"…\"}}, or look at it with 'pliant picture'");
    return PL_OK;
}

bool app_is_builtin_scene(const char *name)
{
    return find_builtin(name) != NULL;
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

static pl_status read_file(pl_memory *memory, const char *path, pl_scene_source *source,
                           pl_scene **scene, pl_trouble *trouble)
{
    char *bytes = NULL;
    bool standard_input = strcmp(path, "/dev/stdin") == 0; /* files beside it are in no directory */
    pl_status status = pl_file_read(memory, path, LARGEST_SCENE, &bytes, &source->size, trouble);
    source->file = standard_input ? "standard input" : path;
    source->text = bytes;
    if (status == PL_OK)
        status = pl_scene_read_source(memory, source, scene, trouble);
    pl_memory_free(memory, bytes);
    return status;
}

pl_status app_read_scene(pl_memory *memory, const char *name, const app_list *sets,
                         pl_scene **scene, pl_trouble *trouble)
{
    char buffer[4096];
    const char *path = scene_path(name, buffer, sizeof buffer);
    pl_scene_source source = {.file = name};
    *scene = NULL;
    if (sets) {
        source.set_count = sets->count;
        source.sets = sets->items;
    }
    if (path) {
        PL_TRY(check_ending(path, trouble));
        return read_file(memory, path, &source, scene, trouble);
    }
    const app_builtin *builtin = find_builtin(name);
    if (!builtin)
        return no_such_scene(name, trouble);
    source.text = builtin->text;
    source.size = builtin->size;
    return pl_scene_read_source(memory, &source, scene, trouble);
}

/* A scene that cannot be read or built is bad input, whatever the reason, be it a file it names
   that is missing; only memory is our own trouble. */
int app_fail_scene(const pl_trouble *trouble)
{
    int exit_status = app_fail(trouble);
    return trouble->status == PL_ERROR_MEMORY ? exit_status : APP_BAD_INPUT;
}

int app_load_scene(pl_memory *memory, const char *name, pl_scene **scene)
{
    return app_load_changed_scene(memory, name, NULL, scene);
}

int app_load_changed_scene(pl_memory *memory, const char *name, const app_list *sets,
                           pl_scene **scene)
{
    pl_trouble trouble;
    return app_read_scene(memory, name, sets, scene, &trouble) == PL_OK ? -1
                                                                        : app_fail_scene(&trouble);
}
