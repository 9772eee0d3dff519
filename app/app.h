/* What the sub-commands of `pliant` share: exit statuses, messages, scenes by name, signals,
   progress, tables. */
#ifndef PL_APP_APP_H
#define PL_APP_APP_H

#include "base/memory.h"
#include "io/scene.h"
#include "io/trouble.h"
#include "options.h"

enum { APP_DONE = 0, APP_FAILED = 1, APP_BAD_INPUT = 2 }; /* or 128 and the signal */

extern const app_command app_run_command, app_inspect_command, app_scenes_command, app_demo_command,
    app_bench_command, app_cook_command, app_check_command;

/* Prints "pliant: file:line:column: …" and returns the exit status that fits. */
int app_fail(const pl_trouble *trouble);
/* The same about a scene that could not be read or built. */
int app_fail_scene(const pl_trouble *trouble);

/* At the very end: what was printed must have arrived. Returns `status`, or APP_FAILED when
   standard output is full or closed. */
int app_finish(int status);

/* False as soon as something printed could not be delivered. */
bool app_stdout_is_good(void);

void app_print_json_string(const char *text);

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* A scene compiled into the program (generated from scenes/ at build time). */
typedef struct app_builtin {
    const char *name;
    const char *text;
    size_t size;
} app_builtin;

extern const app_builtin app_builtins[];
extern const int app_builtin_count;

/* The scene in a file, "-" for standard input, or the built-in one of this name; files in the
   directory $PLIANT_SCENES come before built-in ones. `sets` are values of --set, NULL = none. */
pl_status app_read_scene(pl_memory *memory, const char *name, const app_list *sets,
                         pl_scene **scene, pl_trouble *trouble);

/* The same, with a message. Returns -1, or the exit status after it. */
int app_load_scene(pl_memory *memory, const char *name, pl_scene **scene);
int app_load_changed_scene(pl_memory *memory, const char *name, const app_list *sets,
                           pl_scene **scene);

bool app_is_builtin_scene(const char *name);

bool app_ends_with(const char *text, const char *end);

/* The row of --set in a command's table of options. */
/* clang-format off */
#define APP_SET_OPTION(sets)                                                                       \
    {"set", 0, APP_LIST, &(sets), 0, 0, "PATH=VALUE",                                              \
     "change the scene: bodies.bar.young=2e4; repeatable"}
/* clang-format on */

/* ---- Signals --------------------------------------------------------------------------------- */

/* From here on Ctrl-C and friends only set a flag; a second one ends the program at once, without
   leaving temporaries. A closed pipe and a file that grows too large are errors of the write, not
   signals. */
void app_catch_signals(void);

/* From here on (or not any more) the first signal ends the program: for long work that has nothing
   to finish or clean up, such as building a scene. */
void app_nothing_to_finish(bool nothing);

/* From here on (or not any more) the program leaves its temporaries when a second signal ends it: a
   run can be resumed. */
void app_keep_parts(bool keep);

/* The signal that came, 0 if none. */
int app_signal(void);

/* ---- Progress -------------------------------------------------------------------------------- */

typedef struct app_progress {
    bool shown, terminal, colour, drawn;
    const char *title;
    uint64_t first, total;           /* frames */
    uint64_t started, last, printed; /* nanoseconds */
    double best_guess;               /* nanoseconds per frame, smoothed */
} app_progress;

/* From frame `first` to `total`. `wanted` false = says nothing at all. */
void app_progress_begin(app_progress *progress, const char *title, uint64_t first, uint64_t total,
                        bool wanted);
void app_progress_frame(app_progress *progress, uint64_t done);
void app_progress_end(app_progress *progress);

#endif
