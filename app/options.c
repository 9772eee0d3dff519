#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "io/suggest.h"

int app_usage_error(const char *command, const char *format, ...)
{
    va_list arguments;
    fputs("pliant: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'pliant %s%s--help'.\n", command ? command : "", command ? " " : "");
    return APP_BAD_INPUT;
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_option(const app_option *option)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
             option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
             option->argument ? " " : "", option->argument ? option->argument : "");
    printf("  %-28s %s\n", left, option->help);
}

static void print_help(const app_command *command, const app_option *options)
{
    printf("pliant %s: %s\n\nUsage: pliant %s %s\n", command->name, command->summary, command->name,
           command->usage);
    if (command->details)
        printf("\n%s\n", command->details);
    printf("\nOptions:\n");
    for (; options->name; options++)
        print_option(options);
    printf("  %-28s %s\n", "-h, --help", "this text");
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int set_integer(const app_command *command, const app_option *option, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end)
        return app_usage_error(command->name, "--%s needs a whole number, not \"%s\"", option->name,
                               text);
    if (errno || value < option->low || value > option->high)
        return app_usage_error(command->name, "--%s must be from %.0f to %.0f, not %s",
                               option->name, option->low, option->high, text);
    *(int *)option->value = (int)value;
    return -1;
}

static int set_number(const app_command *command, const app_option *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return app_usage_error(command->name, "--%s needs a number, not \"%s\"", option->name,
                               text);
    bool fits = value > option->low && value <= option->high;
    if (!fits && option->low < 0) /* a trifle below zero lets zero in */
        return app_usage_error(command->name, "--%s must be from 0 to %g, not %s", option->name,
                               option->high, text);
    if (!fits)
        return app_usage_error(command->name, "--%s must be greater than %g and at most %g, not %s",
                               option->name, option->low, option->high, text);
    *(double *)option->value = value;
    return -1;
}

static int set_value(const app_command *command, const app_option *option, const char *text)
{
    if (!*text) /* a shell's variable that was not set, most likely */
        return app_usage_error(command->name, "--%s needs a value, and has an empty one: --%s %s",
                               option->name, option->name, option->argument);
    switch (option->kind) {
    case APP_INTEGER:
        return set_integer(command, option, text);
    case APP_NUMBER:
        return set_number(command, option, text);
    case APP_LIST: {
        app_list *list = option->value;
        if (list->count == APP_LIST_MAX)
            return app_usage_error(command->name, "--%s can be given %d times at most",
                                   option->name, APP_LIST_MAX);
        list->items[list->count++] = text;
        return -1;
    }
    default:
        *(const char **)option->value = text;
        return -1;
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

static int unknown_option(const app_command *command, const app_option *options, const char *name,
                          int length)
{
    char word[64], hint[96];
    const char *best = NULL;
    snprintf(word, sizeof word, "%.*s", length < 63 ? length : 63, name);
    for (const app_option *option = options; option->name; option++)
        pl_suggest(word, option->name, &best);
    pl_suggest(word, "help", &best);
    if (!best)
        return app_usage_error(command->name, "there is no option --%s", word);
    snprintf(hint, sizeof hint, "did you mean --%s?", best);
    return app_usage_error(command->name, "there is no option --%s; %s", word, hint);
}

static const app_option *find_long(const app_option *options, const char *name, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static const app_option *find_letter(const app_option *options, char letter)
{
    for (; options->name; options++)
        if (options->letter == letter)
            return options;
    return NULL;
}

/* At an option; *index moves on when its value is the next word. */
static int parse_option(const app_command *command, const app_option *options, int argc,
                        char **argv, int *index)
{
    const char *word = argv[*index], *value = NULL;
    const app_option *option;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find_long(options, word + 2, length);
        if (!option)
            return unknown_option(command, options, word + 2, (int)length);
        value = word[2 + length] == '=' ? word + 3 + length : NULL;
        if (value && option->kind == APP_FLAG)
            return app_usage_error(command->name, "--%s takes no value", option->name);
    } else {
        option = find_letter(options, word[1]);
        if (!option)
            return app_usage_error(command->name, "there is no option -%c", word[1]);
        value = word[2] ? word + 2 : NULL;
        if (value && option->kind == APP_FLAG)
            return app_usage_error(command->name, "-%c takes no value", word[1]);
    }
    if (option->kind == APP_FLAG) {
        *(bool *)option->value = true;
        return -1;
    }
    if (!value && *index + 1 >= argc)
        return app_usage_error(command->name, "--%s needs a value: --%s %s", option->name,
                               option->name, option->argument);
    if (!value)
        value = argv[++*index];
    return set_value(command, option, value);
}

int app_parse(const app_command *command, const app_option *options, int argc, char **argv,
              app_list *words, int word_limit)
{
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(command, options);
            return app_finish(APP_DONE);
        } else if (!only_words && word[0] == '-' && word[1]) {
            int status = parse_option(command, options, argc, argv, &i);
            if (status >= 0)
                return status;
        } else if (!*word) {
            return app_usage_error(command->name, "an empty word (\"\") is no name");
        } else if (words->count >= word_limit) {
            return app_usage_error(command->name,
                                   word_limit ? "one word too many: \"%s\""
                                              : "no word is expected here: \"%s\"",
                                   word);
        } else {
            words->items[words->count++] = word;
        }
    }
    return -1;
}
