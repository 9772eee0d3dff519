/* Broken scenes: each must give exactly this message, exit status 2, and leave nothing behind. The
   message is what a person sees first of this program when something went wrong: read it as one. */
#ifndef PL_TESTS_APP_BROKEN_KIT_H
#define PL_TESTS_APP_BROKEN_KIT_H

#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct broken_scene {
    const char *what, *text;
    const char *message; /* behind "pliant: scene.json", or "pliant: " if it is not about that */
} broken_scene;

static char directory[] = "/tmp/pliant-broken-XXXXXX";

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline void read_file(const char *name, char *out, size_t size)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t length = fread(out, 1, size - 1, file);
    out[length] = 0;
    fclose(file);
}

/* The scene and the two redirections are all there is. */
static inline int count_files(void)
{
    DIR *listing = opendir(".");
    int count = 0;
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

#define RUN                                                                                        \
    PLIANT_COMMAND                                                                                 \
    " run scene.json --frames 2 --no-progress -o out.jsonl -o frame_%%04d.obj%s%s%s "              \
    ">stdout 2>stderr"

/* Whether the command says exactly this, fails with status 2 and leaves nothing. */
static inline bool says(const char *what, const char *assignment, const char *message, int files)
{
    char command[1024], expected[2048], got[2048], printed[64];
    snprintf(command, sizeof command, RUN, assignment ? " --set '" : "",
             assignment ? assignment : "", assignment ? "'" : "");
    int status = system(command);
    read_file("stderr", got, sizeof got);
    read_file("stdout", printed, sizeof printed);
    snprintf(expected, sizeof expected, "pliant: %s%s\n", message[0] == ':' ? "scene.json" : "",
             message);
    if (strcmp(got, expected) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2 &&
        !printed[0] && count_files() == files)
        return true;
    print_error("%s: exit status %d, %d files\n  expected %s  got      %s", what,
                WEXITSTATUS(status), count_files(), expected, got);
    return false;
}
static inline void all_are_explained(const broken_scene *scenes, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        write_file("scene.json", scenes[i].text);
        wrong += !says(scenes[i].what, NULL, scenes[i].message, 3);
    }
    assert_int_equal(wrong, 0);
}

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.json", "stdout", "stderr"};
    for (int i = 0; i < 3; i++)
        unlink(names[i]);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}
#endif
