/* Point Cache 2: a header of 32 bytes, then x, y, z of every vertex as floats, sample after sample.
   Little-endian. The vertices are those of the .obj of the same run, in its order. */
#include "io/output_bytes.h"
#include "io/output_surface.h"
#include "io/outputs.h"

enum { HEADER = 32, SAMPLES_AT = 28 };

pl_status pl_write_pc2_header(pl_output *output, const pl_play *play, int every, int samples)
{
    char header[HEADER] = "POINTCACHE2", *to = header + 12;
    int32_t vertices, triangles;
    PL_TRY(pl_surface_totals(play, &vertices, &triangles));
    to = pl_put_u32(to, 1);
    to = pl_put_u32(to, (uint32_t)vertices);
    to = pl_put_f32(to, 0);
    to = pl_put_f32(to, (float)every);
    pl_put_u32(to, (uint32_t)samples);
    pl_output_write(output, header, sizeof header);
    return PL_OK;
}

pl_status pl_write_pc2_sample(pl_output *output, const pl_play *play)
{
    pl_status status = PL_OK;
    for (int i = 0; i < play->body_count && status == PL_OK; i++) {
        const pl_play_body *body = &play->bodies[i];
        size_t count = (size_t)pl_surface_vertices(body);
        double *positions = PL_NEW(play->memory, double, 3 * count);
        status = positions ? pl_surface_read(play, body, positions, NULL) : PL_ERROR_MEMORY;
        for (size_t v = 0; v < count && status == PL_OK; v++) {
            char bytes[12];
            for (size_t k = 0; k < 3; k++)
                pl_put_f32(bytes + 4 * k, (float)positions[3 * v + k]);
            pl_output_write(output, bytes, sizeof bytes);
        }
        pl_memory_free(play->memory, positions);
    }
    return status;
}

void pl_pc2_set_samples(pl_output *output, int samples)
{
    char bytes[4];
    pl_put_u32(bytes, (uint32_t)samples);
    pl_output_patch(output, SAMPLES_AT, bytes, sizeof bytes);
}
