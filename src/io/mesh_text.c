/* Words, lines and numbers of mesh files. Numbers of few digits are converted here by one exact
   operation (Clinger 1990), which is nearly all there are; the rest is left to io/number.h. */
#include "io/mesh_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"
#include "io/trouble.h"

/* ---- Lines and words ------------------------------------------------------------------------- */

pl_text pl_text_make(const char *name, const void *bytes, size_t size)
{
    pl_text text = {.at = bytes, .name = name, .line = 1, .line_end = '\n'};
    text.end = size ? text.at + size : text.at;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        text.at += 3;
    if (size && !memchr(bytes, '\n', size))
        text.line_end = '\r';
    return text;
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* Length of a backslash and the end of the line behind it, 0 when there is none here. */
static size_t joint_length(const pl_text *text, const char *at)
{
    if (!text->continued || *at != '\\')
        return 0;
    size_t length = 1;
    if (at + length < text->end && at[length] == '\r' && text->line_end == '\n')
        length++;
    return at + length < text->end && at[length] == text->line_end ? length + 1 : 0;
}

static bool is_joined(const pl_text *text, const char *line_end)
{
    if (!text->continued)
        return false;
    const char *last = line_end;
    if (last > text->at && last[-1] == '\r')
        last--;
    return last > text->at && last[-1] == '\\' &&
           !memchr(text->at, text->comment, (size_t)(line_end - text->at));
}

bool pl_text_next_line(pl_text *text)
{
    for (bool joined = true; joined;) {
        if (text->at == text->end)
            return false;
        const char *line_end = memchr(text->at, text->line_end, (size_t)(text->end - text->at));
        if (!line_end) {
            text->at = text->end;
            return false;
        }
        joined = is_joined(text, line_end);
        text->at = line_end + 1;
        text->line++;
    }
    return text->at < text->end;
}

static inline void skip_blanks(pl_text *text)
{
    while (text->at < text->end) {
        char c = *text->at;
        if (c == text->line_end)
            return;
        if (is_blank(c)) {
            text->at++;
            continue;
        }
        size_t joint = joint_length(text, text->at);
        if (!joint)
            return;
        text->at += joint;
        text->line++;
    }
}

pl_word pl_text_word_in_line(pl_text *text)
{
    skip_blanks(text);
    pl_word word = {text->at, 0};
    if (text->at == text->end || (text->comment && *text->at == text->comment))
        return word;
    const char *at = text->at;
    while (at < text->end && !is_blank(*at) && !(*at == '\\' && joint_length(text, at)))
        at++;
    text->at = at;
    word.length = (size_t)(at - word.text);
    return word;
}

pl_word pl_text_word(pl_text *text)
{
    pl_word word = pl_text_word_in_line(text);
    while (!word.length && pl_text_next_line(text))
        word = pl_text_word_in_line(text);
    return word;
}

static pl_word next_word(pl_text *text)
{
    return text->by_line ? pl_text_word_in_line(text) : pl_text_word(text);
}

pl_word pl_text_peek(const pl_text *text)
{
    pl_text copy = *text;
    return next_word(&copy);
}

pl_word pl_text_rest(pl_text *text)
{
    skip_blanks(text);
    const char *line_end = text->at == text->end
                               ? NULL
                               : memchr(text->at, text->line_end, (size_t)(text->end - text->at));
    const char *last = line_end ? line_end : text->end;
    pl_word word = {text->at, 0};
    text->at = last;
    while (last > word.text && is_blank(last[-1]))
        last--;
    word.length = (size_t)(last - word.text);
    return word;
}

bool pl_word_is(pl_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool pl_word_is_like(pl_word word, const char *text)
{
    if (strlen(text) != word.length)
        return false;
    for (size_t i = 0; i < word.length; i++)
        if (lower(word.text[i]) != lower(text[i]))
            return false;
    return true;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { LONGEST_NUMBER = 1000 };

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [sign] digits [. digits] [e [sign] digits], the digits before or behind the point may be
   missing. */
typedef struct decimal {
    bool negative, exact; /* exact: mantissa and exponent are the number */
    uint64_t mantissa;
    int exponent;
} decimal;

static bool read_exponent(const char *at, const char *end, int *exponent)
{
    bool down = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    int written = 0;
    for (; at < end && is_digit(*at); at++)
        written = written < 100000 ? written * 10 + (*at - '0') : written;
    *exponent += down ? -written : written;
    return at == end;
}

static bool read_decimal(pl_word word, decimal *made)
{
    const char *at = word.text, *end = word.text + word.length;
    decimal number = {.negative = at < end && *at == '-'};
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *first = at;
    uint64_t mantissa = 0;
    for (; at < end && is_digit(*at); at++)
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    size_t digits = (size_t)(at - first);
    if (at < end && *at == '.') {
        const char *point = at++;
        for (; at < end && is_digit(*at); at++)
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        size_t behind = (size_t)(at - point) - 1;
        digits += behind;
        number.exponent = -(int)(behind < LONGEST_NUMBER ? behind : LONGEST_NUMBER);
    }
    number.exact = digits <= 18;
    number.mantissa = mantissa;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!read_exponent(at + 1, end, &number.exponent))
            return false;
        at = end;
    }
    *made = number;
    return at == end && digits > 0;
}

/* Puts the word into JSON's grammar, with a 0 behind it, and has it converted exactly. */
static double convert_slowly(pl_word word)
{
    char text[LONGEST_NUMBER + 4];
    size_t used = 0, at = word.text[0] == '-' || word.text[0] == '+';
    if (word.text[0] == '-')
        text[used++] = '-';
    if (word.text[at] == '.')
        text[used++] = '0';
    for (; at < word.length; at++)
        if (word.text[at] != '.' || (at + 1 < word.length && is_digit(word.text[at + 1])))
            text[used++] = word.text[at];
    text[used] = 0;
    return pl_number_parse(text, used);
}

static bool names_no_number(pl_word word)
{
    if (word.length && (word.text[0] == '-' || word.text[0] == '+'))
        word = (pl_word){word.text + 1, word.length - 1};
    return pl_word_is_like(word, "nan") || pl_word_is_like(word, "inf") ||
           pl_word_is_like(word, "infinity") || pl_word_is_like(word, "1.#inf") ||
           pl_word_is_like(word, "1.#ind") || pl_word_is_like(word, "1.#qnan") ||
           pl_word_is_like(word, "nan(ind)") || pl_word_is_like(word, "1.#ind00") ||
           pl_word_is_like(word, "1.#inf00") || pl_word_is_like(word, "1.#qnan0");
}

pl_number_kind pl_word_double(pl_word word, double *value)
{
    decimal number;
    if (word.length > LONGEST_NUMBER || !read_decimal(word, &number))
        return names_no_number(word) ? PL_NUMBER_NOT_FINITE : PL_NUMBER_BAD;
    if (number.exact && number.mantissa <= UINT64_C(1) << 53 && number.exponent >= -22 &&
        number.exponent <= 22) {
        double magnitude = number.exponent < 0
                               ? (double)number.mantissa / powers_of_ten[-number.exponent]
                               : (double)number.mantissa * powers_of_ten[number.exponent];
        *value = number.negative ? -magnitude : magnitude;
        return PL_NUMBER_GOOD;
    }
    *value = convert_slowly(word);
    return isfinite(*value) ? PL_NUMBER_GOOD : PL_NUMBER_NOT_FINITE;
}

bool pl_word_int(pl_word word, int64_t *value)
{
    bool negative = word.length && word.text[0] == '-';
    size_t at = word.length && (negative || word.text[0] == '+');
    if (at == word.length)
        return false;
    uint64_t magnitude = 0;
    for (; at < word.length; at++) {
        if (!is_digit(word.text[at]) || magnitude > (INT64_MAX - 9) / 10)
            return false;
        magnitude = magnitude * 10 + (uint64_t)(word.text[at] - '0');
    }
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static pl_status fail_number(const pl_text *text, pl_word word, const char *what,
                             pl_number_kind kind, pl_error *error)
{
    if (!word.length)
        return pl_text_fail(text, error, "%s is missing: the %s ends before it", what,
                            text->by_line && text->at < text->end ? "line" : "file");
    if (kind == PL_NUMBER_NOT_FINITE)
        return pl_text_fail(text, error, "%s must be a finite number, not '%s'", what,
                            PL_SHOW(word));
    return pl_text_fail(text, error, "%s must be a number, not '%s'", what, PL_SHOW(word));
}

pl_status pl_text_double(pl_text *text, const char *what, double *value, pl_error *error)
{
    pl_word word = next_word(text);
    pl_number_kind kind = pl_word_double(word, value);
    return kind == PL_NUMBER_GOOD ? PL_OK : fail_number(text, word, what, kind, error);
}

pl_status pl_text_doubles(pl_text *text, const char *what, int count, double *values,
                          pl_error *error)
{
    for (int i = 0; i < count; i++)
        PL_TRY(pl_text_double(text, what, &values[i], error));
    return PL_OK;
}

pl_status pl_text_int(pl_text *text, const char *what, int64_t low, int64_t high, int64_t *value,
                      pl_error *error)
{
    pl_word word = next_word(text);
    if (pl_word_int(word, value) && *value >= low && *value <= high)
        return PL_OK;
    if (!word.length)
        return fail_number(text, word, what, PL_NUMBER_BAD, error);
    if (high < low)
        return pl_text_fail(text, error, "%s is '%s', but there is nothing it could name", what,
                            PL_SHOW(word));
    return pl_text_fail(text, error, "%s must be a whole number from %lld to %lld, not '%s'", what,
                        (long long)low, (long long)high, PL_SHOW(word));
}

/* ---- Messages -------------------------------------------------------------------------------- */

enum { LONGEST_NAME = 96 };

pl_where pl_mesh_where_file(const char *name)
{
    pl_where where;
    size_t length = strlen(name);
    bool cut = length >= LONGEST_NAME;
    if (cut)
        name += length - (LONGEST_NAME - 4);
    while (((unsigned char)*name & 0xC0) == 0x80)
        name++;
    size_t dots = cut ? 3 : 0;
    memcpy(where.text, "...", dots);
    pl_copy_text(where.text + dots, LONGEST_NAME - dots, name, strlen(name));
    return where;
}

pl_where pl_mesh_where_line(const char *name, size_t line)
{
    return pl_where_format("%s:%zu", pl_mesh_where_file(name).text, line);
}

pl_where pl_mesh_where_byte(const char *name, size_t offset)
{
    return pl_where_format("%s:byte %zu", pl_mesh_where_file(name).text, offset);
}

pl_status pl_text_fail(const pl_text *text, pl_error *error, const char *format, ...)
{
    char message[sizeof(pl_error)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pl_fail(error, PL_ERROR_FORMAT, pl_mesh_where_line(text->name, text->line).text, "%s",
                   message);
}

pl_shown pl_show_word(pl_word word)
{
    pl_shown shown;
    bool cut = word.length > 40;
    pl_copy_text(shown.text, 41, word.text, word.length);
    if (cut)
        strcat(shown.text, "...");
    return shown;
}
