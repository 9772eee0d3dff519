/* .csv: energies, momentum, contacts and times, a row per frame. */
#include "io/outputs.h"
#include "sink.h"

static int open_table(app_sink *sink, const app_stage *stage)
{
    int result = app_open_output(sink, (pl_output **)&sink->own);
    if (result < 0)
        pl_write_csv_header(sink->own, stage->run_name != NULL);
    return result;
}

static int write_row(app_sink *sink, const app_stage *stage)
{
    pl_output *output = sink->own;
    pl_frame_numbers numbers;
    pl_status status = pl_frame_numbers_read(stage->play, stage->report, &numbers);
    if (status != PL_OK)
        return app_write_failed(sink->name, status);
    pl_write_csv_row(output, &numbers, stage->run_name);
    return pl_output_is_good(output) ? -1 : APP_FAILED;
}

static int close_table(app_sink *sink, bool publish)
{
    return app_close_output(sink, sink->own, publish);
}

static int save_table(app_sink *sink, app_bytes *bytes)
{
    return app_save_output(sink->own, bytes);
}

static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    (void)stage;
    return app_resume_output(sink, bytes, (pl_output **)&sink->own);
}

const app_sink_kind app_sink_csv = {
    .ending = ".csv",
    .about = "energies, momentum, contacts and times, a row per frame",
    .many_runs = true,
    .open = open_table,
    .frame = write_row,
    .close = close_table,
    .save = save_table,
    .go_on = go_on,
};
