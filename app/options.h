/* Command-line options, described once: parsed, checked and explained from the same table. */
#ifndef PL_APP_OPTIONS_H
#define PL_APP_OPTIONS_H

#include <stdbool.h>

typedef enum app_option_kind {
    APP_FLAG,    /* bool */
    APP_INTEGER, /* int */
    APP_NUMBER,  /* double, above `low` */
    APP_TEXT,    /* const char * */
    APP_LIST     /* app_list: may be given several times */
} app_option_kind;

enum { APP_LIST_MAX = 256 };

typedef struct app_list {
    int count;
    const char *items[APP_LIST_MAX];
} app_list;

typedef struct app_option {
    const char *name; /* without the dashes */
    char letter;      /* 0 = none */
    app_option_kind kind;
    void *value;
    double low, high;     /* of numbers */
    const char *argument; /* "N": how the help names the value */
    const char *help;
} app_option;

/* One sub-command. Tables end with a name of NULL. */
typedef struct app_command {
    const char *name;
    const char *usage;   /* behind "pliant NAME " */
    const char *summary; /* one line */
    const char *details; /* more for its --help; may be NULL */
    int (*run)(int argc, char **argv);
} app_command;

/* Parses argv[1 …]. Words that are no options go to `words` (at most `word_limit`). Returns -1 to
   go on, else the exit status: after --help, or with a message for a mistake. */
int app_parse(const app_command *command, const app_option *options, int argc, char **argv,
              app_list *words, int word_limit);

/* A mistake in how the program was called: message, a hint at --help, exit status 2. */
int app_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
