#include "io/trouble.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pl_copy_text(char *out, size_t size, const char *text, size_t length)
{
    size_t n = length < size - 1 ? length : size - 1;
    if (n < length)
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = c < 0x20 || c == 0x7F ? '?' : (char)c;
    }
    out[n] = 0;
}

pl_status pl_trouble_set(pl_trouble *trouble, pl_status status, const char *file,
                         const char *format, ...)
{
    if (!trouble)
        return status;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *trouble = (pl_trouble){.status = status};
    if (file)
        pl_copy_text(trouble->file, sizeof trouble->file, file, strlen(file));
    pl_copy_text(trouble->text, sizeof trouble->text, text, strlen(text));
    return status;
}

char *pl_trouble_format(const pl_trouble *trouble, char *out, size_t size)
{
    char place[48] = "";
    if (trouble->line > 0)
        snprintf(place, sizeof place, ":%d:%d", trouble->line, trouble->column);
    snprintf(out, size, "%s%s%s%s%s%s", trouble->file, place,
             trouble->file[0] || place[0] ? ": " : "", trouble->path, trouble->path[0] ? ": " : "",
             trouble->text);
    return out;
}
