/* JSON as text: into memory while parts are added, and from there, with what is known only at the
   end, twice through the same code: once to count it, once to write it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"
#include "io/output_glb_parts.h"

void pl_glb_put_text(pl_glb_text *text, const char *what, size_t size)
{
    text->size += size;
    if (text->output)
        pl_output_write(text->output, what, size);
    if (!text->memory || text->failed)
        return;
    char *to = pl_array_add(text->memory, size);
    if (to)
        memcpy(to, what, size);
    text->failed = !to;
}

void pl_glb_put(pl_glb_text *text, const char *what)
{
    pl_glb_put_text(text, what, strlen(what));
}

void pl_glb_print(pl_glb_text *text, const char *format, ...)
{
    char out[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out, sizeof out, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof out)
        pl_glb_put_text(text, out, (size_t)length);
}

/* Bytes of the character at `s`, 0 if it is none in UTF-8: names out of mesh files may be
   anything. */
static size_t character_length(const unsigned char *s)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (s[0] > 0xF4 || (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

static void put_escaped(pl_glb_text *text, const char *what)
{
    while (*what) {
        unsigned char c = (unsigned char)*what;
        size_t length = character_length((const unsigned char *)what);
        if (c == '"' || c == '\\')
            pl_glb_put(text, "\\");
        if (c < 0x20 || c == 0x7F)
            pl_glb_print(text, "\\u%04x", (unsigned)c);
        else
            pl_glb_put_text(text, length ? what : "?", length ? length : 1);
        what += length ? length : 1;
    }
}

void pl_glb_put_name(pl_glb_text *text, const char *name, const char *after)
{
    pl_glb_put(text, "\"name\":\"");
    put_escaped(text, name);
    put_escaped(text, after);
    pl_glb_put(text, "\"");
}

void pl_glb_put_number(pl_glb_text *text, float value, bool exact)
{
    char out[PL_NUMBER_TEXT];
    int length =
        exact ? pl_number_format((double)value, out) : pl_number_format_short((double)value, out);
    pl_glb_put_text(text, out, (size_t)length);
}

void pl_glb_put_numbers(pl_glb_text *text, const float *values, int count, bool exact)
{
    for (int i = 0; i < count; i++) {
        pl_glb_put(text, i ? "," : "[");
        pl_glb_put_number(text, values[i], exact);
    }
    pl_glb_put(text, "]");
}

pl_glb_text pl_glb_next(pl_glb_list *list)
{
    pl_glb_text text = {.memory = &list->text};
    if (list->count++)
        pl_glb_put(&text, ",");
    return text;
}
