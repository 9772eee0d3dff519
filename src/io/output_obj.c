/* Surfaces as Wavefront .obj, and the names of numbered files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"
#include "io/output_surface.h"
#include "io/outputs.h"

static void write_vertex(pl_output *output, const double p[3])
{
    char text[PL_NUMBER_TEXT];
    pl_output_text(output, "v");
    for (int k = 0; k < 3; k++) {
        pl_output_text(output, " ");
        pl_output_write(output, text, (size_t)pl_number_format_short(p[k], text));
    }
    pl_output_text(output, "\n");
}

static void write_face(pl_output *output, int64_t a, int64_t b, int64_t c)
{
    pl_output_printf(output, "f %" PRId64 " %" PRId64 " %" PRId64 "\n", a, b, c);
}

static pl_status write_body(pl_output *output, const pl_play *play, const pl_play_body *body,
                            int64_t *next)
{
    int64_t count = pl_surface_vertices(body);
    double *positions = PL_NEW(play->memory, double, 3 * (size_t)count);
    if (!positions)
        return PL_ERROR_MEMORY;
    pl_status status = pl_surface_read(play, body, positions, NULL);
    for (int64_t i = 0; i < count && status == PL_OK; i++)
        write_vertex(output, positions + 3 * i);
    for (int64_t i = 0; i < pl_surface_triangles(body); i++) {
        int32_t corners[3];
        pl_surface_triangle(body, i, corners);
        write_face(output, *next + corners[0], *next + corners[1], *next + corners[2]);
    }
    *next += count;
    pl_memory_free(play->memory, positions);
    return status;
}

pl_status pl_write_obj(pl_output *output, const pl_play *play)
{
    int64_t next = 1;
    pl_output_printf(output, "# frame %" PRIu64 "\n", play->frame);
    for (int i = 0; i < play->body_count; i++) {
        const pl_play_body *body = &play->bodies[i];
        char name[256];
        pl_copy_text(name, sizeof name, body->name, strlen(body->name));
        for (char *c = name; *c; c++)
            *c = *c == ' ' ? '_' : *c;
        pl_output_printf(output, "o %s\n", name);
        PL_TRY(write_body(output, play, body, &next));
    }
    return PL_OK;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* Length of a %d or %0Nd at `s`, 0 if it is something else. */
static size_t conversion_length(const char *s, int *width)
{
    size_t n = 1;
    *width = 0;
    if (s[n] == '0') {
        for (n++; s[n] >= '0' && s[n] <= '9' && *width < 10; n++)
            *width = *width * 10 + (s[n] - '0');
    }
    return s[n] == 'd' && *width <= 18 ? n + 1 : 0;
}

pl_status pl_pattern_check(const char *pattern, bool *sequence, pl_trouble *trouble)
{
    int found = 0, width;
    for (const char *s = pattern; (s = strchr(s, '%'));) {
        size_t length = s[1] == '%' ? 2 : conversion_length(s, &width);
        if (length == 0)
            return pl_trouble_set(
                trouble, PL_ERROR_ARGUMENT, pattern,
                "only %%d or %%04d can stand for the frame number; write %%%% for a percent sign");
        found += s[1] != '%';
        s += length;
    }
    if (found > 1)
        return pl_trouble_set(trouble, PL_ERROR_ARGUMENT, pattern,
                              "the frame number can stand in one place only");
    *sequence = found == 1;
    return PL_OK;
}

pl_status pl_pattern_name(const char *pattern, uint64_t number, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (const char *s = pattern; *s;) {
        int width = 0, wrote;
        size_t length = 1;
        if (*s != '%') {
            wrote = snprintf(out + used, size - used, "%c", *s);
        } else if (s[1] == '%') {
            length = 2;
            wrote = snprintf(out + used, size - used, "%%");
        } else {
            length = conversion_length(s, &width);
            wrote = snprintf(out + used, size - used, "%0*" PRIu64, width, number);
        }
        if (length == 0 || wrote < 0 || (size_t)wrote >= size - used)
            return PL_ERROR_ARGUMENT;
        used += (size_t)wrote;
        s += length;
    }
    return PL_OK;
}
