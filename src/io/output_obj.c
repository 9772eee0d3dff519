/* Surfaces as Wavefront .obj, and the names of numbered files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"
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

static pl_status write_surface(pl_output *output, const pl_play *play, const pl_play_body *body,
                               int64_t *next)
{
    int count = body->info.vertex_count;
    double *vertices = PL_NEW(play->memory, double, 3 * (size_t)count);
    if (!vertices)
        return PL_ERROR_MEMORY;
    pl_status status =
        pl_body_read(play->world, body->handle, PL_VERTICES, 0, count, 1, pl_doubles(vertices, 0));
    for (int i = 0; i < count && status == PL_OK; i++)
        write_vertex(output, vertices + 3 * (size_t)i);
    const int32_t *triangles = pl_model_triangles(body->model);
    for (int i = 0; i < body->info.triangle_count; i++)
        write_face(output, *next + triangles[3 * i], *next + triangles[3 * i + 1],
                   *next + triangles[3 * i + 2]);
    *next += count;
    pl_memory_free(play->memory, vertices);
    return status;
}

/* The six tips of the ellipsoid's axes: x + R Ē (±a, 0, 0) and so on. */
static void write_octahedron(pl_output *output, const double *x, const double *rotation,
                             const double *orientation, const double *radii, int64_t first)
{
    static const int faces[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    double q[4];
    pl_quaternion_multiply(rotation, orientation, q);
    for (int tip = 0; tip < 6; tip++) {
        double arm[3] = {0, 0, 0}, p[3];
        arm[tip / 2] = tip % 2 ? -radii[tip / 2] : radii[tip / 2];
        pl_quaternion_rotate(q, arm, arm);
        for (int k = 0; k < 3; k++)
            p[k] = x[k] + arm[k];
        write_vertex(output, p);
    }
    for (int i = 0; i < 8; i++)
        write_face(output, first + faces[i][0], first + faces[i][1], first + faces[i][2]);
}

static pl_status write_particles(pl_output *output, const pl_play *play, const pl_play_body *body,
                                 int64_t *next)
{
    size_t n = (size_t)body->info.particle_count;
    double *all = PL_NEW(play->memory, double, 14 * n);
    if (!all)
        return PL_ERROR_MEMORY;
    double *x = all, *radii = all + 3 * n, *rotations = all + 6 * n, *orientations = all + 10 * n;
    pl_status status =
        pl_body_read(play->world, body->handle, PL_POSITIONS, 0, (int)n, 1, pl_doubles(x, 0));
    if (status == PL_OK)
        status = pl_body_read(play->world, body->handle, PL_ROTATIONS, 0, (int)n, 1,
                              pl_doubles(rotations, 0));
    if (status == PL_OK)
        status = pl_model_read(body->model, PL_REST_RADII, 0, (int)n, pl_doubles(radii, 0));
    if (status == PL_OK)
        status = pl_model_read(body->model, PL_REST_ORIENTATIONS, 0, (int)n,
                               pl_doubles(orientations, 0));
    for (size_t i = 0; i < n && status == PL_OK; i++, *next += 6)
        write_octahedron(output, x + 3 * i, rotations + 4 * i, orientations + 4 * i, radii + 3 * i,
                         *next);
    pl_memory_free(play->memory, all);
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
        PL_TRY(body->info.triangle_count > 0 ? write_surface(output, play, body, &next)
                                             : write_particles(output, play, body, &next));
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
