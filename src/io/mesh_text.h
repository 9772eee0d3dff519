/* Mesh files as text: words separated by blanks, lines counted, numbers exact in every locale.
   Works on bytes that need no 0 behind them; lines may be of any length and end with LF or CR LF,
   or, where a file has no LF, with CR.

   Two ways to go through a file. By lines: pl_text_next_line, then pl_text_word_in_line until an
   empty word. Or freely: pl_text_word passes over ends of lines. The number functions take the next
   word the one or the other way, as `by_line` says. */
#ifndef PL_IO_MESH_TEXT_H
#define PL_IO_MESH_TEXT_H

#include "base/error.h"

typedef struct pl_text {
    const char *at, *end;
    const char *name; /* of the file, for messages */
    size_t line;      /* from 1, of `at` */
    char
        comment; /* from this character to the end of the line is blank; 0 = there are no comments */
    bool continued; /* a backslash at the end of a line joins it to the next */
    bool by_line;   /* numbers are looked for in this line only */
    char line_end;  /* '\n', or '\r' in a file that has no other */
} pl_text;

/* Part of the file's bytes. */
typedef struct pl_word {
    const char *text;
    size_t length; /* 0 = none left */
} pl_word;

/* A byte order mark is skipped. At the first line, so that a loop reads: do … while
   (pl_text_next_line(&text)); */
pl_text pl_text_make(const char *name, const void *bytes, size_t size);

/* Skips what is left of the line; false when the file ends with it. */
bool pl_text_next_line(pl_text *text);

/* The next word; empty at the end of the line, or of the file. */
pl_word pl_text_word_in_line(pl_text *text);
pl_word pl_text_word(pl_text *text);

/* The word that would come next, without taking it. */
pl_word pl_text_peek(const pl_text *text);

/* What is left of the line, without blanks around it (comments are not cut off: names contain '#').
   Takes it. */
pl_word pl_text_rest(pl_text *text);

bool pl_word_is(pl_word word, const char *text);      /* exactly */
bool pl_word_is_like(pl_word word, const char *text); /* in any case of letters */

/* A finite number. `what` stands in messages: "a coordinate". */
pl_status pl_text_double(pl_text *text, const char *what, double *value, pl_error *error);
pl_status pl_text_doubles(pl_text *text, const char *what, int count, double *values,
                          pl_error *error);
/* A whole number from `low` to `high`. */
pl_status pl_text_int(pl_text *text, const char *what, int64_t low, int64_t high, int64_t *value,
                      pl_error *error);

/* The same of a word that was already taken. */
typedef enum pl_number_kind {
    PL_NUMBER_GOOD,
    PL_NUMBER_BAD,       /* not a number */
    PL_NUMBER_NOT_FINITE /* "nan", "inf", or too large */
} pl_number_kind;
pl_number_kind pl_word_double(pl_word word, double *value);
bool pl_word_int(pl_word word, int64_t *value); /* false: not one, or beyond 64 bits */

/* Fills in the error: `where` is the name with the line; returns PL_ERROR_FORMAT. */
pl_status pl_text_fail(const pl_text *text, pl_error *error, const char *format, ...)
    PL_PRINTF(3, 4);

/* The name with a place, long names shortened from the left: "dragon.obj:12", "dragon.glb:byte
   1044". */
pl_where pl_mesh_where_line(const char *name, size_t line);
pl_where pl_mesh_where_byte(const char *name, size_t offset);
pl_where pl_mesh_where_file(const char *name);

/* A word for a message: at most 40 bytes, control characters as '?'. */
typedef struct pl_shown {
    char text[48];
} pl_shown;
pl_shown pl_show_word(pl_word word);
#define PL_SHOW(word) (pl_show_word(word).text)

#endif
