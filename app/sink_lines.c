/* .jsonl: the complete state, a line per frame. Lines are written as they come; the file is opened
   before the first frame, so that a directory that cannot be written ends the run before it has
   begun. */
#include "io/outputs.h"
#include "sink.h"

static int open_lines(app_sink *sink, const app_stage *stage)
{
    (void)stage;
    return app_open_output(sink, (pl_output **)&sink->own);
}

static int write_line(app_sink *sink, const app_stage *stage)
{
    pl_output *output = sink->own;
    pl_status status = pl_write_state_line(output, stage->play, stage->run_name);
    if (status != PL_OK)
        return app_write_failed(sink->name, status);
    return pl_output_is_good(output) ? -1 : APP_FAILED;
}

static int close_lines(app_sink *sink, bool publish)
{
    return app_close_output(sink, sink->own, publish);
}

static int save_lines(app_sink *sink, app_bytes *bytes)
{
    return app_save_output(sink->own, bytes);
}

static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    (void)stage;
    return app_resume_output(sink, bytes, (pl_output **)&sink->own);
}

const app_sink_kind app_sink_jsonl = {
    .ending = ".jsonl",
    .about = "the complete state, a line of JSON per frame",
    .many_runs = true,
    .open = open_lines,
    .frame = write_line,
    .close = close_lines,
    .save = save_lines,
    .go_on = go_on,
};
