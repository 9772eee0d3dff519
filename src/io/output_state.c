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
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        int count = body->info.particle_count;
        PL_TRY(pl_body_read(play->world, body->handle, fields[f].field, 0, count, 1,
                            pl_doubles(scratch, 0)));
        write_rows(output, fields[f].name, scratch, count, fields[f].width);
    }
    pl_output_text(output, "}");
    return PL_OK;
}

pl_status pl_write_state_line(pl_output *output, const pl_play *play, const char *run)
{
    int largest = 0;
    for (int i = 0; i < play->body_count; i++)
        if (play->bodies[i].info.particle_count > largest)
            largest = play->bodies[i].info.particle_count;
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
