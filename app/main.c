/* The command `pliant`: finds the sub-command and hands over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "picture.h"
#include "io/suggest.h"
#include "pliant/pliant.h"

static const app_command *const commands[] = {
    &app_run_command,  &app_check_command,   &app_demo_command,    &app_scenes_command,
    &app_cook_command, &app_picture_command, &app_inspect_command, &app_bench_command};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const app_command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int print_help(void)
{
    printf("pliant %s: real-time simulation of deformable things\n\nUsage: pliant COMMAND "
           "[OPTIONS]\n\nCommands:\n",
           pl_version());
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("  %-10s %s\n  %-10s %s\n", "help",
           "this text, or the help of a command: pliant help run", "version",
           "the version and the vector width in use");
    printf(
        "\nExit status: 0 done, 1 failed, 2 bad input or usage, 130 interrupted.\n"
        "Environment: PLIANT_SIMD=4|8|16 forces a vector width, PLIANT_SCENES is a directory of\n"
        "scenes found by name, NO_COLOR switches colours off.\n");
    return app_finish(APP_DONE);
}

static int print_version_help(void)
{
    printf("pliant version: the version and the vector width in use\n\nUsage: pliant version\n");
    return app_finish(APP_DONE);
}

static int print_version(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return print_version_help();
    if (argc > 1)
        return app_usage_error(NULL, "one word too many: \"%s\"", argv[1]);
    printf("pliant %s (abi %u, vectors of %d floats)\n", pl_version(), (unsigned)pl_abi_version(),
           pl_simd_width());
    return app_finish(APP_DONE);
}

static int unknown_command(const char *name)
{
    const char *best = NULL;
    for (int i = 0; i < COMMANDS; i++)
        pl_suggest(name, commands[i]->name, &best);
    pl_suggest(name, "help", &best);
    pl_suggest(name, "version", &best);
    if (name[0] == '-')
        return app_usage_error(NULL, "there is no option %s; options follow the command", name);
    return app_usage_error(NULL,
                           best ? "there is no command \"%s\"; did you mean \"%s\"?"
                                : "there is no command \"%s\"",
                           name, best);
}

static int help(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return print_help();
    if (argc > 2)
        return app_usage_error(NULL, "one word too many: \"%s\"", argv[2]);
    if (strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "version") == 0)
        return print_version_help();
    const app_command *command = find_command(argv[1]);
    char *words[] = {argv[1], "--help", NULL};
    return command ? command->run(2, words) : unknown_command(argv[1]);
}

/* A width the machine lacks becomes one that it has; anything else was meant differently. */
static int check_environment(void)
{
    const char *simd = getenv("PLIANT_SIMD");
    if (!simd || !*simd || !strcmp(simd, "4") || !strcmp(simd, "8") || !strcmp(simd, "16"))
        return -1;
    fprintf(stderr, "pliant: the environment variable PLIANT_SIMD must be 4, 8 or 16, not \"%s\"\n",
            simd);
    return APP_BAD_INPUT;
}

int main(int argc, char **argv)
{
    app_catch_signals();
    if (check_environment() >= 0)
        return APP_BAD_INPUT;
    if (argc < 2) {
        print_help();
        return APP_BAD_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print_version(argc - 1, argv + 1);
    const app_command *command = find_command(name);
    return command ? command->run(argc - 1, argv + 1) : unknown_command(name);
}
