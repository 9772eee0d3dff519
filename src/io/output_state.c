/* The complete state of a frame as one line of JSON, in digits that read back as the same bits. */
#include <inttypes.h>
#include <stdio.h>

#include "io/outputs.h"

static void write_energy(pl_output *output, const pl_energy *energy)
{
    const struct {
        const char *name;
        double value;
    } terms[] = {{"{\"kinetic\":", energy->kinetic},
                 {",\"potential\":", energy->potential},
                 {",\"elastic\":", energy->elastic},
                 {",\"pins\":", energy->pins},
                 {",\"inertia\":", energy->inertia}};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        pl_output_text(output, terms[i].name);
        pl_output_number(output, terms[i].value);
    }
    pl_output_text(output, "}");
}

static void write_rows(pl_output *output, const char *name, const double *values, int count,
                       int width)
{
    pl_output_printf(output, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        pl_output_text(output, i ? ",[" : "[");
        for (int k = 0; k < width; k++) {
            if (k)
                pl_output_text(output, ",");
            pl_output_number(output, values[(size_t)i * (size_t)width + (size_t)k]);
        }
        pl_output_text(output, "]");
    }
    pl_output_text(output, "]");
}

static void write_matrix(pl_output *output, const char *name, const float m[9])
{
    pl_output_printf(output, ",\"%s\":[", name);
    for (int k = 0; k < 9; k++) {
        pl_output_text(output, k ? "," : "");
        pl_output_number(output, (double)m[k]);
    }
    pl_output_text(output, "]");
}

static pl_status write_cluster(pl_output *output, const pl_play *play, const pl_play_body *body,
                               int number, int count)
{
    pl_cluster_state c;
    PL_TRY(pl_body_read_clusters(play->world, body->handle, number, 1, &c));
    pl_output_printf(output, "%s{\"id\":%u,\"members\":%d,\"going\":%s,\"fade\":",
                     number ? "," : ",\"clusters\":[", c.id, c.member_count,
                     c.going ? "true" : "false");
    pl_output_number(output, (double)c.fade);
    pl_output_text(output, ",\"centre\":[");
    for (int k = 0; k < 3; k++) {
        pl_output_text(output, k ? "," : "");
        pl_output_number(output, c.centre[k]);
    }
    pl_output_text(output, "]");
    write_matrix(output, "gradient", c.gradient);
    write_matrix(output, "rotation", c.rotation);
    write_matrix(output, "plastic", c.plastic);
    pl_output_text(output, ",\"worked\":");
    pl_output_number(output, (double)c.worked);
    pl_output_text(output, ",\"stretch\":");
    pl_output_number(output, (double)c.stretch);
    pl_output_text(output, number + 1 == count ? "}]" : "}");
    return PL_OK;
}

/* How much of each pose every group has. */
static pl_status write_examples(pl_output *output, const pl_play *play, const pl_play_body *body,
                                const pl_body_info *info)
{
    for (int g = 0; g < info->example_group_count; g++) {
        float weights[PL_MAX_POSES];
        PL_TRY(pl_body_get_example_weights(play->world, body->handle, g, 1, weights));
        pl_output_text(output, g ? ",[" : ",\"examples\":[[");
        for (int k = 0; k < info->example_pose_count; k++) {
            pl_output_text(output, k ? "," : "");
            pl_output_number(output, (double)weights[k]);
        }
        pl_output_text(output, g + 1 == info->example_group_count ? "]]" : "]");
    }
    return PL_OK;
}

static pl_status write_body(pl_output *output, const pl_play *play, const pl_play_body *body,
                            double *scratch)
{
    static const struct {
        const char *name;
        pl_body_field field;
        int width;
    } fields[] = {{"positions", PL_POSITIONS, 3},
                  {"rotations", PL_ROTATIONS, 4},
                  {"velocities", PL_VELOCITIES, 3},
                  {"spins", PL_SPINS, 3}};
    pl_energy energy;
    PL_TRY(pl_body_get_energy(play->world, body->handle, &energy));
    pl_output_text(output, "{\"name\":");
    pl_output_json_string(output, body->name);
    pl_output_text(output, ",\"energy\":");
    write_energy(output, &energy);
    pl_body_info info;
    PL_TRY(pl_body_get_info(play->world, body->handle, &info));
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        int count = info.particle_count;
        PL_TRY(pl_body_read(play->world, body->handle, fields[f].field, 0, count, 1,
                            pl_doubles(scratch, 0)));
        write_rows(output, fields[f].name, scratch, count, fields[f].width);
    }
    for (int c = 0; c < info.cluster_count; c++)
        PL_TRY(write_cluster(output, play, body, c, info.cluster_count));
    PL_TRY(write_examples(output, play, body, &info));
    pl_output_text(output, "}");
    return PL_OK;
}

pl_status pl_write_state_line(pl_output *output, const pl_play *play, const char *run)
{
    int largest = 0;
    for (int i = 0; i < play->body_count; i++) {
        pl_body_info info = {0};
        if (!play->bodies[i].removed)
            PL_TRY(pl_body_get_info(play->world, play->bodies[i].handle, &info));
        largest = info.particle_count > largest ? info.particle_count : largest;
    }
    pl_energy sum;
    PL_TRY(pl_play_energy(play, &sum));
    double *scratch = PL_NEW(play->memory, double, 4 * (size_t)largest);
    if (!scratch)
        return PL_ERROR_MEMORY;
    pl_output_text(output, "{");
    if (run) {
        pl_output_text(output, "\"run\":");
        pl_output_json_string(output, run);
        pl_output_text(output, ",");
    }
    pl_output_printf(output, "\"frame\":%" PRIu64 ",\"time\":", play->frame);
    pl_output_number(output, pl_world_time(play->world));
    pl_output_printf(output,
                     ",\"hash\":\"%016" PRIx64 "\",\"energy\":", pl_world_hash(play->world));
    write_energy(output, &sum);
    pl_output_text(output, ",\"bodies\":[");
    pl_status status = PL_OK;
    const char *comma = "";
    for (int i = 0; i < play->body_count && status == PL_OK; i++) {
        if (play->bodies[i].removed)
            continue;
        pl_output_text(output, comma);
        status = write_body(output, play, &play->bodies[i], scratch);
        comma = ",";
    }
    pl_output_text(output, "]}\n");
    pl_memory_free(play->memory, scratch);
    return status;
}
