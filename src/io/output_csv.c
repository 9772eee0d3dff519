/* A table of numbers, a row per frame: RFC 4180 (commas, CRLF, quotes doubled), digits that read
   back as the same bits, a dot in every locale. A value that is not there or no number is an empty
   cell. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/outputs.h"

static void write_text(pl_output *output, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != 0;
    if (!quoted) {
        pl_output_text(output, text);
        return;
    }
    pl_output_text(output, "\"");
    for (; *text; text++) {
        if (*text == '"')
            pl_output_text(output, "\"");
        pl_output_write(output, text, 1);
    }
    pl_output_text(output, "\"");
}

static void write_cell(pl_output *output, double value)
{
    pl_output_text(output, ",");
    if (isfinite(value))
        pl_output_number(output, value);
}

void pl_write_csv_header(pl_output *output, bool runs)
{
    pl_output_text(output, runs ? "run,frame" : "frame");
    pl_output_text(output, ",time_s,kinetic_J,potential_J,elastic_J,pins_J,mechanical_J,inertia_J,"
                           "momentum_x_kg_m_per_s,momentum_y_kg_m_per_s,momentum_z_kg_m_per_s,"
                           "contacts,touches,awake_bodies");
    for (int k = 0; k < PL_STAGES; k++)
        pl_output_printf(output, ",%s_ms", pl_stage_names[k]);
    pl_output_text(output, ",total_ms\r\n");
}

void pl_write_csv_row(pl_output *output, const pl_frame_numbers *n, const char *run)
{
    if (run) {
        write_text(output, run);
        pl_output_text(output, ",");
    }
    const double cells[] = {n->time,           n->energy.kinetic, n->energy.potential,
                            n->energy.elastic, n->energy.pins,    pl_mechanical_energy(&n->energy),
                            n->energy.inertia, n->momentum[0],    n->momentum[1],
                            n->momentum[2],    n->contacts,       n->touches,
                            n->awake};
    pl_output_printf(output, "%" PRIu64, n->frame);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
        write_cell(output, cells[k]);
    for (int k = 0; k < PL_STAGES; k++)
        write_cell(output, n->timed ? n->ms[k] : NAN);
    write_cell(output, n->timed ? n->ms_total : NAN);
    pl_output_text(output, "\r\n");
}
