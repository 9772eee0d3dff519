/* .pc2: a vertex cache (Point Cache 2) of all bodies, a sample per frame, vertex for vertex the
   .obj of the same run. The header says how many samples there are: as many as the run is meant to
   have, corrected at the end when fewer came. */
#include "io/outputs.h"
#include "sink.h"

static int open_cache(app_sink *sink, const app_stage *stage)
{
    pl_output *output;
    int result = app_open_output(sink, &output);
    if (result >= 0)
        return result;
    pl_status status =
        pl_write_pc2_header(output, stage->play, sink->every, stage->frames / sink->every + 1);
    if (status != PL_OK) {
        pl_output_drop(output);
        return app_write_failed(sink->name, status);
    }
    sink->own = output;
    return -1;
}

static int write_sample(app_sink *sink, const app_stage *stage)
{
    pl_output *output = sink->own;
    pl_status status = pl_write_pc2_sample(output, stage->play);
    if (status != PL_OK)
        return app_write_failed(sink->name, status);
    return pl_output_is_good(output) ? -1 : APP_FAILED;
}

static int close_cache(app_sink *sink, bool publish)
{
    if (publish && pl_output_part(sink->own)) /* a pipe has to believe what was meant */
        pl_pc2_set_samples(sink->own, (int)sink->written);
    return app_close_output(sink, sink->own, publish);
}

static int save_cache(app_sink *sink, app_bytes *bytes)
{
    return app_save_output(sink->own, bytes);
}

static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    (void)stage;
    return app_resume_output(sink, bytes, (pl_output **)&sink->own);
}

const app_sink_kind app_sink_pc2 = {
    .ending = ".pc2",
    .about = "every vertex in every frame: a cache for the .obj of the same run",
    .note = "it moves the vertices of the .obj of the same run",
    .open = open_cache,
    .frame = write_sample,
    .close = close_cache,
    .save = save_cache,
    .go_on = go_on,
};
