/* Surfaces as PLY, binary and little-endian: positions, normals, colours where a body has some, and
   triangles; all bodies in one mesh, in the order of the .obj. */
#include <inttypes.h>

#include "io/mesh_build.h"
#include "io/output_bytes.h"
#include "io/output_surface.h"
#include "io/outputs.h"

static bool has_colours(const pl_play *play)
{
    bool found = false;
    for (int i = 0; i < play->body_count; i++)
        found |= pl_model_look(play->bodies[i].model)->colours != NULL;
    return found;
}

static void write_header(pl_output *output, const pl_play *play, int32_t vertices,
                         int32_t triangles)
{
    static const char *const coordinates[] = {"x", "y", "z", "nx", "ny", "nz"};
    static const char *const channels[] = {"red", "green", "blue", "alpha"};
    pl_output_printf(output,
                     "ply\nformat binary_little_endian 1.0\ncomment frame %" PRIu64
                     "\nelement vertex %" PRId32 "\n",
                     play->frame, vertices);
    for (int k = 0; k < 6; k++)
        pl_output_printf(output, "property float %s\n", coordinates[k]);
    for (int k = 0; k < 4 && has_colours(play); k++)
        pl_output_printf(output, "property uchar %s\n", channels[k]);
    pl_output_printf(
        output, "element face %" PRId32 "\nproperty list uchar int vertex_indices\nend_header\n",
        triangles);
}

/* ---- Colours --------------------------------------------------------------------------------- */

/* The byte whose sRGB value is nearest: files have those, looks are linear. */
static uint8_t srgb_byte(const float linear[256], float value)
{
    int low = 0, high = 255;
    while (low < high) {
        int middle = (low + high) / 2;
        if (value > (linear[middle] + linear[middle + 1]) / 2)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)low;
}

static uint8_t opacity_byte(float value)
{
    return (uint8_t)((value > 0 ? value < 1 ? value : 1 : 0) * 255 + 0.5f);
}

/* A vertex of a body without colours has its material's, or is white. */
static const float *colour_of(const pl_look *look, size_t vertex)
{
    static const float white[4] = {1, 1, 1, 1};
    if (look->colours)
        return look->colours + 4 * vertex;
    return look->material_count ? look->materials[0].colour : white;
}

/* ---- Vertices and triangles ------------------------------------------------------------------ */

static pl_status write_vertices(pl_output *output, const pl_play *play, const pl_play_body *body,
                                const float *linear)
{
    size_t count = (size_t)pl_surface_vertices(body);
    const pl_look *look = pl_model_look(body->model);
    double *positions = PL_NEW(play->memory, double, 6 * count);
    if (!positions)
        return PL_ERROR_MEMORY;
    double *normals = positions + 3 * count;
    pl_status status = pl_surface_read(play, body, positions, normals);
    for (size_t i = 0; i < count && status == PL_OK; i++) {
        char bytes[28], *to = bytes;
        for (int k = 0; k < 3; k++)
            to = pl_put_f32(to, (float)positions[3 * i + (size_t)k]);
        for (int k = 0; k < 3; k++)
            to = pl_put_f32(to, (float)normals[3 * i + (size_t)k]);
        if (linear) {
            const float *colour = colour_of(look, i);
            for (int k = 0; k < 3; k++)
                *to++ = (char)srgb_byte(linear, colour[k]);
            *to++ = (char)opacity_byte(colour[3]);
        }
        pl_output_write(output, bytes, (size_t)(to - bytes));
    }
    pl_memory_free(play->memory, positions);
    return status;
}

static void write_triangles(pl_output *output, const pl_play_body *body, int32_t first)
{
    for (int64_t i = 0; i < pl_surface_triangles(body); i++) {
        int32_t corners[3];
        char bytes[13] = {3}, *to = bytes + 1;
        pl_surface_triangle(body, i, corners);
        for (int k = 0; k < 3; k++)
            to = pl_put_u32(to, (uint32_t)(first + corners[k]));
        pl_output_write(output, bytes, sizeof bytes);
    }
}

pl_status pl_write_ply(pl_output *output, const pl_play *play)
{
    int32_t vertices, triangles, first = 0;
    float linear[256];
    bool coloured = has_colours(play);
    PL_TRY(pl_surface_totals(play, &vertices, &triangles));
    pl_mesh_linear_table(linear);
    write_header(output, play, vertices, triangles);
    for (int i = 0; i < play->body_count; i++)
        PL_TRY(write_vertices(output, play, &play->bodies[i], coloured ? linear : NULL));
    for (int i = 0; i < play->body_count; i++) {
        write_triangles(output, &play->bodies[i], first);
        first += (int32_t)pl_surface_vertices(&play->bodies[i]);
    }
    return PL_OK;
}
